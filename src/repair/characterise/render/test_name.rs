//! Names of tests, after what is called and what sets one call apart from the others.

use crate::code::language::Language;
use crate::code::signature::{Callable, Class};
use crate::domain::framework::Framework;
use crate::effect::CallOutcome;

use super::super::arguments::split_name;
use super::{Case, ObservedFunction};

/// Maximum length of the words for the arguments of one test.
const LONGEST: usize = 40;

/// Maximum length of the words for one argument, and of those for a result.
const ARGUMENT: usize = 24;

/// How much a name says. Where shorter names would be the same, the next longer ones are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What is given, in words.
    Words,
    /// Also the signs between the words: `a comma b`.
    Signs,
    /// The words, and what the call gives: `a b is 2`.
    Result,
    /// All of these.
    All,
}

impl Detail {
    /// From the shortest names to the longest.
    pub const LEVELS: [Self; 4] = [Self::Words, Self::Signs, Self::Result, Self::All];

    fn spells_signs(self) -> bool {
        matches!(self, Self::Signs | Self::All)
    }
}

/// The name of a test: `test_fee_gift_3` in Python, `fee with gift, 3` in JavaScript.
pub fn test_name(
    framework: Framework,
    function: &ObservedFunction,
    case: &Case,
    detail: Detail,
) -> String {
    let is_rust = framework.language() == Some(Language::Rust);
    let is_python = framework.is_python() || is_rust;
    let own = function.callable.name.as_str();
    let own = if own == "default" { &function.local } else { own };
    let class = function.callable.class.as_ref().filter(|_| function.callable.is_constructor());
    let own = match class {
        Some(class) if detail == Detail::Words => class.name.clone(),
        Some(class) => format!("{} init", class.name),
        None if is_rust => rust_subject(&function.callable),
        None => own.replace(".__", ".").trim_end_matches("__").to_owned(),
    };
    let mut words = detailed_words(framework, function, case, detail);
    if matches!(detail, Detail::Result | Detail::All)
        && let Some(result) = result_words(framework, case, detail)
    {
        words.push_str(&format!(" is {result}"));
    }
    if !is_python {
        let name = format!("{own} {words}");
        return name.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let words: Vec<&str> = words.split_whitespace().collect();
    let (mark, own) = if is_rust { ("", own) } else { ("test_", snake_case(&own)) };
    format!("{mark}{own} {}", words.join(" ")).trim_end().chars().map(plain).collect()
}

/// A name with an underscore before each word that a capital begins: `to_Roman`, `HTTP_Server`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut text = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| letters.get(before));
        let starts = before.is_some_and(|one| one.is_lowercase() || one.is_ascii_digit())
            || before.is_some_and(|one| one.is_uppercase())
                && letters.get(index + 1).is_some_and(|one| one.is_lowercase());
        if letter.is_uppercase() && starts {
            text.push('_');
        }
        text.push(*letter);
    }
    text
}

/// A short result in words.
fn result_words(framework: Framework, case: &Case, detail: Detail) -> Option<String> {
    let CallOutcome::Value { literal, .. } = case.expected_outcome() else { return None };
    let words = given_words(framework)(literal, detail);
    (words.len() <= ARGUMENT && case.seen.after.is_empty()).then_some(words)
}

/// What is called, in Rust: a method of a trait for other types goes by its own name.
fn rust_subject(callable: &Callable) -> String {
    let class = callable.class.as_ref();
    let is_made =
        |class: &&Class| class.construction.as_ref().is_none_or(|made| !made.function.is_empty());
    let mut name = String::new();
    for letter in class.filter(is_made).map_or("", |class| class.name.as_str()).chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter);
    }
    format!("{name} {}", callable.called_method()).trim_start().to_owned()
}

/// What sets a case apart from the others of its function: `with gift, 3`, `rejects minus 1`.
pub fn case_words(framework: Framework, function: &ObservedFunction, case: &Case) -> String {
    detailed_words(framework, function, case, Detail::Words)
}

/// The same in more or less detail.
pub fn detailed_words(
    framework: Framework,
    function: &ObservedFunction,
    case: &Case,
    detail: Detail,
) -> String {
    let is_script = framework.language().is_some_and(Language::is_script);
    let between = match framework.language() {
        Some(Language::Java) => " and ",
        _ if is_script || framework == Framework::GoTest => ", ",
        _ => " ",
    };
    let is_rejected = matches!(case.expected_outcome(), CallOutcome::Raised { .. });
    let changed = case.seen.after.first().filter(|_| !is_rejected);
    let parameter = changed.and_then(|(index, _)| {
        let keyword = split_name(case.call.arguments.get(*index)?).0;
        keyword.or(function.callable.parameters.get(*index).map(|one| one.name.as_str()))
    });
    let in_words = given_words(framework);
    let given = argument_words(case, between, &|value| in_words(value, detail));
    let words = match (parameter, given.is_empty(), is_rejected) {
        (Some(parameter), ..) if detail == Detail::Words => format!("changes {parameter}"),
        (Some(parameter), ..) => format!("changes {parameter} {given}"),
        (None, true, true) => "is rejected".into(),
        (None, true, false) if takes_arguments(function) => "without arguments".into(),
        (None, false, true) => format!("rejects {given}"),
        (None, false, false) if is_script => format!("with {given}"),
        (None, ..) => given,
    };
    let between = if framework.language() == Some(Language::Java) { " " } else { between };
    format!("{words} {}", setup_words(case, between))
}

/// Whether calls of a function of Python or JavaScript can have arguments.
fn takes_arguments(function: &ObservedFunction) -> bool {
    let parameters = &function.callable.parameters;
    !function.callable.is_property && parameters.iter().any(|one| one.declared_type.is_empty())
}

/// How values are put into words for a framework.
fn given_words(framework: Framework) -> fn(&str, Detail) -> String {
    match framework.language() {
        Some(Language::Java) => |value, _| java_words(value),
        Some(Language::Go | Language::Rust) => |value, _| typed_words(value),
        Some(language) if language.is_script() => script_words,
        _ => literal_words,
    }
}

/// The name of a further test that would have the same name.
pub fn number_name(framework: Framework, name: &str, number: usize) -> String {
    match framework.language() {
        Some(Language::Java) => format!("{name}Case{number}"),
        Some(language) if language.is_script() => format!("{name} ({number})"),
        _ => format!("{name}_{number}"),
    }
}

/// The arguments in words, those of the constructor first.
fn argument_words(case: &Case, between: &str, in_words: &dyn Fn(&str) -> String) -> String {
    let callee = &case.call.callee;
    let constructor =
        callee.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')).map(|(given, _)| given);
    let constructor = constructor.filter(|given| !given.is_empty());
    // A method of a text.
    let object = callee.rsplit_once('.').map(|(object, _)| object);
    let object = object.filter(|object| object.starts_with('"'));
    let constructor = object.or(constructor).map(str::to_owned);
    let mut text = String::new();
    for argument in constructor.iter().chain(&case.call.arguments) {
        let words = in_words(argument);
        if !text.is_empty() && text.len() + words.len() > LONGEST {
            break;
        }
        text.push_str(if text.is_empty() { "" } else { between });
        text.push_str(&words);
    }
    text
}

/// What comes before the call: `after add ada 250`, `after add and remove`, `after add twice`.
fn setup_words(case: &Case, between: &str) -> String {
    let setup = &case.call.setup;
    let parts = setup
        .iter()
        .map(|one| one.split_once(" = ").or_else(|| one.split_once('(')).unwrap_or((one, "")));
    let parts: Vec<(&str, &str)> = parts.collect();
    match parts.as_slice() {
        [] => String::new(),
        [(method, given)] => {
            let given = given.strip_suffix(')').unwrap_or(given).split(", ");
            let words: Vec<String> = given
                .filter(|one| !one.is_empty())
                .map(|one| literal_words(one, Detail::Words))
                .collect();
            format!("after {method} {}", words.join(between))
        }
        [one, two] if one == two => format!("after {} twice", one.0),
        parts => {
            let methods: Vec<&str> = parts.iter().map(|(method, _)| *method).collect();
            format!("after {}", methods.join(" and "))
        }
    }
}

/// A literal in words: `empty string`, `minus 1`, `hello world`, `quotation mark`.
fn literal_words(literal: &str, detail: Detail) -> String {
    let (name, value) = split_name(literal);
    let words = match value {
        "[]" => "empty list".into(),
        "()" => "empty tuple".into(),
        "{}" => "empty dict".into(),
        _ if value.starts_with("lambda") || value.contains("=>") => "function".into(),
        "b''" | "b\"\"" => "empty bytes".into(),
        _ if stream_content(value).is_some() => {
            literal_words(stream_content(value).unwrap_or_default(), detail)
        }
        _ => match (text_content(value), value.parse::<f64>()) {
            (Some(text), _) => text_words(&text, detail),
            (None, Ok(_)) => value.replace('-', "minus ").replace('.', " point "),
            (None, Err(_)) => list_words(value).unwrap_or_else(|| plain_words(value)),
        },
    };
    name.map_or(words.clone(), |name| format!("{name} {words}"))
}

/// What a stream of Python holds, and the text of bytes: `"a"` for `io.StringIO("a")` and `b"a"`.
fn stream_content(value: &str) -> Option<&str> {
    let made = ["io.StringIO(", "io.BytesIO("].iter().find_map(|one| value.strip_prefix(one));
    let of_bytes = value.strip_prefix('b').filter(|rest| rest.starts_with(['"', '\'']));
    made.and_then(|rest| rest.strip_suffix(')')).or(of_bytes)
}

/// What a title of JavaScript shows of a literal: short texts, numbers and lists as they are.
fn script_words(literal: &str, detail: Detail) -> String {
    let is_text = text_content(literal).is_some();
    let shown = text_content(literal).unwrap_or_else(|| literal.replace(['"', '\''], ""));
    let is_sign = |c: char| " ,.:;-_/+%=&@!'".contains(c) || !is_text && "[]".contains(c);
    let is_legible = shown.len() <= ARGUMENT
        && shown.chars().all(|c| c.is_alphanumeric() || is_sign(c))
        && shown.contains(char::is_alphanumeric)
        && !shown.contains("  ")
        && shown.trim() == shown;
    match literal {
        "[]" => "empty array".into(),
        "{}" => "empty object".into(),
        _ if is_legible && detail == Detail::Words => shown,
        _ if is_legible => literal.replace('\'', ""),
        _ => literal_words(literal, detail),
    }
}

/// The text that a literal stands for; `None` for what is no text.
fn text_content(literal: &str) -> Option<String> {
    let quote = literal.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut text = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.push(match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                code @ ('x' | 'u') => {
                    let count = if code == 'x' { 2 } else { 4 };
                    let digits: String = letters.by_ref().take(count).collect();
                    char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
                }
                other => other,
            }),
            // Several literals behind each other.
            _ if letter == quote => return None,
            _ => text.push(letter),
        }
    }
    Some(text)
}

/// A text in words: what it consists of where that is not words.
fn text_words(text: &str, detail: Detail) -> String {
    let names: Vec<&str> = text.chars().filter_map(name_of_sign).collect();
    let is_alike = text.chars().all(|one| text.starts_with(one));
    match (text.chars().count(), names.as_slice()) {
        (0, _) => "empty string".into(),
        (1, [name]) => (*name).to_owned(),
        _ if text.trim().is_empty() => "blank".into(),
        _ if text.trim() != text => format!("padded {}", text_words(text.trim(), detail)),
        (count, [name, ..]) if is_alike && names.len() == count => format!("{count} {name}s"),
        (count @ 2..=3, names) if names.len() == count => names.join(" and "),
        (count, names) if names.len() == count => "only punctuation".into(),
        _ if !text.contains(|c: char| c.is_ascii_alphanumeric()) => "non ascii".into(),
        _ if detail.spells_signs() => spelled_words(text),
        _ => plain_words(text),
    }
}

/// The words of a text with the signs between them, as many as fit.
fn spelled_words(text: &str) -> String {
    let mut spelled = String::new();
    for letter in text.chars() {
        match name_of_sign(letter).filter(|_| letter != ' ') {
            Some(name) => spelled.push_str(&format!(" {name} ")),
            None => spelled.push(letter),
        }
    }
    let mut words = String::new();
    for word in spelled.split_whitespace() {
        if !words.is_empty() && words.len() + word.len() > LONGEST {
            break;
        }
        words.push_str(&format!(" {word}"));
    }
    let letters = || text.chars().filter(|letter| letter.is_alphabetic());
    let capitals = letters().filter(|letter| letter.is_uppercase()).count();
    let mark = match capitals {
        0 => "",
        _ if capitals > 1 && capitals == letters().count() => "uppercase",
        _ if text.starts_with(char::is_uppercase) => "capitalized",
        _ => "",
    };
    format!("{mark}{words}").trim_start().to_owned()
}

/// Lists that their elements do not describe best: of one, of many, of equal ones.
fn list_words(value: &str) -> Option<String> {
    let inner = value.strip_prefix('[')?.strip_suffix(']')?;
    if inner.contains(['[', '(', '{', '"', '\'']) {
        return None;
    }
    let elements: Vec<&str> = inner.split(',').map(str::trim).collect();
    match elements.as_slice() {
        [_] => Some("one element".into()),
        [first, rest @ ..] if rest.iter().all(|one| one == first) => {
            Some(format!("repeated {}", literal_words(first, Detail::Words)))
        }
        all => {
            let words = all.iter().map(|one| literal_words(one, Detail::Words));
            let words = words.collect::<Vec<_>>().join(" ");
            Some(if words.len() > ARGUMENT { format!("{} elements", all.len()) } else { words })
        }
    }
}

/// What a sign or a blank is called.
fn name_of_sign(sign: char) -> Option<&'static str> {
    CHARACTERS.iter().find(|(known, _)| *known == sign).map(|(_, name)| *name)
}

/// An expression of a language with types, in words: texts and numbers say more than the types around
/// them.
pub fn typed_words(value: &str) -> String {
    let is_path = value.starts_with("std::");
    let value = value.rsplit("::").next().filter(|_| is_path).unwrap_or(value);
    let value = value.strip_prefix("vec!").unwrap_or(value);
    let is_composed = value.contains(['(', '{']);
    let inner = value.find(['(', '{']).and_then(|at| value.get(at..)).unwrap_or(value);
    match value {
        _ if value.ends_with("{}") => "empty".to_owned(),
        "UNIX_EPOCH" => "epoch".into(),
        _ if is_composed && value.contains("\"\"") => "empty string".into(),
        _ if is_composed && value.contains('"') => {
            plain_words(&value.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" "))
        }
        _ if is_composed && inner.contains(char::is_alphanumeric) => {
            plain_words(inner.trim_end_matches(", time.UTC)"))
        }
        _ => literal_words(value, Detail::Words),
    }
}

/// Names of characters that are no letters or digits.
const CHARACTERS: &[(char, &str)] = &[
    (' ', "space"),
    ('-', "hyphen"),
    ('_', "underscore"),
    ('.', "dot"),
    (',', "comma"),
    (';', "semicolon"),
    (':', "colon"),
    ('/', "slash"),
    ('#', "hash"),
    ('"', "quotation mark"),
    ('\'', "apostrophe"),
    ('\n', "newline"),
    ('\t', "tab"),
    ('\r', "return"),
    ('\\', "backslash"),
    ('&', "ampersand"),
    ('<', "less than sign"),
    ('>', "greater than sign"),
    ('=', "equals sign"),
    ('+', "plus sign"),
    ('*', "asterisk"),
    ('%', "percent sign"),
    ('$', "dollar sign"),
    ('@', "at sign"),
    ('!', "exclamation mark"),
    ('?', "question mark"),
    ('|', "pipe"),
    ('~', "tilde"),
    ('^', "caret"),
    ('`', "backtick"),
    ('(', "parenthesis"),
    (')', "closing parenthesis"),
    ('[', "bracket"),
    (']', "closing bracket"),
    ('{', "brace"),
    ('}', "closing brace"),
];

/// An expression of Java in words: a constant by its own name, a number without the mark of its type.
pub fn java_words(value: &str) -> String {
    let is_constant =
        value.contains('.') && value.split('.').all(|part| part.starts_with(char::is_uppercase));
    let number = value.trim_end_matches(['L', 'f']);
    let sign = text_content(value).filter(|_| value.starts_with('\'')).unwrap_or_default();
    let mut signs = sign.chars();
    if let (Some(word), None) = (signs.next().and_then(name_of_sign), signs.next()) {
        return word.to_owned();
    }
    match value {
        _ if value.ends_with("()") || value.ends_with("{}") => "empty".to_owned(),
        _ if value.len() == 3
            && value.chars().nth(1).is_some_and(|c| c.is_ascii_uppercase())
            && value.starts_with('\'') =>
        {
            format!("capital {}", value.trim_matches('\''))
        }
        _ if is_constant => {
            value.rsplit('.').next().unwrap_or(value).replace('_', " ").to_lowercase()
        }
        _ if number.parse::<f64>().is_ok() => literal_words(number, Detail::Words),
        _ => typed_words(value),
    }
}

/// The words and numbers of a value, as many as fit.
fn plain_words(value: &str) -> String {
    let value = value.replace("\\n", " ").replace("\\t", " ").replace('\'', "");
    let words = value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut text = String::new();
    for word in words {
        if text.is_empty() {
            text = word.chars().take(ARGUMENT).collect();
        } else if text.len() + word.len() < ARGUMENT {
            text.push_str(&format!(" {word}"));
        } else {
            break;
        }
    }
    if text.is_empty() { "punctuation".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_named_in_words() {
        let table = [
            ("-1.5", "minus 1 point 5"),
            ("\"\"", "empty string"),
            ("'Hello,  World!'", "Hello World"),
            ("[1, 2]", "1 2"),
            ("[]", "empty list"),
            ("b''", "empty bytes"),
            ("b'ab'", "ab"),
            ("io.StringIO('')", "empty string"),
            ("[5]", "one element"),
            ("[2, 2, 2]", "repeated 2"),
            ("None", "None"),
            ("sep='-'", "sep hyphen"),
            ("'\\''", "apostrophe"),
            ("\"'\"", "apostrophe"),
            ("\"\\\"\"", "quotation mark"),
            ("'\\\\'", "backslash"),
            ("'<>'", "less than sign and greater than sign"),
            ("'--'", "2 hyphens"),
            ("'?!.,'", "only punctuation"),
            ("kind='vip'", "kind vip"),
            ("'   '", "blank"),
            ("\"\\n\"", "newline"),
            ("'éß'", "non ascii"),
            ("\"one two three four five six seven\"", "one two three four five"),
        ];
        let typed = [
            ("[]string{\"a\", \"b\"}", "a b"),
            ("&Token{}", "empty"),
            ("big.NewInt(7)", "7"),
            ("NewParams()", "NewParams"),
            ("vec![3, 1]", "3 1"),
            ("std::time::Duration::ZERO", "ZERO"),
            ("time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)", "2024 2 29 0 0 0 0"),
            ("-1", "minus 1"),
        ];
        let java = [
            ("Integer.MAX_VALUE", "max value"),
            ("Shop.Kind.GIFT", "gift"),
            ("250L", "250"),
            ("-1.5f", "minus 1 point 5"),
            ("List.of()", "empty"),
            ("new int[] {}", "empty"),
            ("Arrays.asList(\"a\", \"b\")", "a b"),
            ("'A'", "capital A"),
            ("'\\n'", "newline"),
            ("null", "null"),
        ];
        for (value, expected) in java {
            assert_eq!(java_words(value), expected, "{value}");
        }
        for (value, expected) in typed {
            assert_eq!(typed_words(value), expected, "{value}");
        }
        for (literal, expected) in table {
            assert_eq!(literal_words(literal, Detail::Words), expected, "{literal}");
        }
    }

    #[test]
    fn signs_are_spelled_and_titles_show_short_values() {
        let signs = [
            ("'a,b'", "a comma b"),
            ("'a b'", "a b"),
            ("' a'", "padded a"),
            ("'Ab'", "capitalized Ab"),
            ("'AB'", "uppercase AB"),
            ("\"it's\"", "it apostrophe s"),
        ];
        for (literal, expected) in signs {
            assert_eq!(literal_words(literal, Detail::Signs), expected, "{literal}");
        }
        let titles = [
            ("\"01:30\"", "01:30"),
            ("-1.5", "-1.5"),
            ("[1, 2]", "[1, 2]"),
            ("[]", "empty array"),
            ("\"'\"", "apostrophe"),
            ("\"a<b\"", "a b"),
            ("\" a\"", "padded a"),
        ];
        for (literal, expected) in titles {
            assert_eq!(script_words(literal, Detail::Words), expected, "{literal}");
        }
        let names =
            [("toRoman", "to_Roman"), ("HTTPServer", "HTTP_Server"), ("Cart.sum", "Cart.sum")];
        for (name, expected) in names {
            assert_eq!(snake_case(name), expected, "{name}");
        }
    }
}
