//! Names of tests, after what is called and what sets one call apart from the others.

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::signature::{Callable, Class};
use crate::domain::framework::Framework;
use crate::effect::CallOutcome;

use super::super::arguments::split_name;
use super::super::parameter_fit::SAME;
use super::{Case, ObservedFunction};

/// Maximum length of the words for the arguments of one test, their maximum number, and that of one
/// argument beside others where there are more.
const LONGEST: usize = 40;
const WORDS: usize = 6;
const FEW: usize = 4;

/// Maximum length of the words for one argument, and of those for a result.
const ARGUMENT: usize = 24;

/// Signs that texts may have between words where they are shown as they are.
const SCRIPT_SIGNS: &str = " ,.:-_/@!'";
const GO_SIGNS: &str = " -.";

/// How much a name says. Where shorter names would be the same, the longer ones are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What is given, in words.
    Words,
    /// Also what the call gives: `a b is 2`.
    Result,
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
    let words = case_words(framework, function, case, detail);
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
pub fn snake_case(name: &str) -> String {
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

/// A short result in words; what an object holds does not read as one.
pub(super) fn result_words(framework: Framework, case: &Case) -> Option<String> {
    let CallOutcome::Value { literal, .. } = case.expected_outcome() else { return None };
    let is_word = case.seen.after.is_empty() && !literal.contains(['(', '{']);
    Some(given_words(framework)(literal)).filter(|words| is_word && words.len() <= ARGUMENT)
}

/// What is called, in Rust: a method of a trait for other types goes by its own name.
fn rust_subject(callable: &Callable) -> String {
    let class = callable.class.as_ref();
    let is_made =
        |class: &&Class| class.construction.as_ref().is_none_or(|made| !made.function.is_empty());
    let name = class.filter(is_made).map_or_else(String::new, |class| snake_case(&class.name));
    format!("{name} {}", callable.called_method()).trim_start().to_owned()
}

/// What sets a case apart from the others of its function: `with gift, 3`, `raises value_error for minus 1`.
pub fn case_words(
    framework: Framework,
    function: &ObservedFunction,
    case: &Case,
    detail: Detail,
) -> String {
    let language = framework.language();
    let is_script = language.is_some_and(Language::is_script);
    let between = match language {
        Some(Language::Java) => " and ",
        Some(Language::Python | Language::Rust) => " ",
        _ => ", ",
    };
    let refusal = refusal_words(language, case);
    let changed = case.seen.after.first().filter(|_| refusal.is_none());
    let parameter = changed.and_then(|(index, _)| {
        let keyword = split_name(case.call.arguments.get(*index)?).0;
        keyword.or(function.callable.parameters.get(*index).map(|one| one.name.as_str()))
    });
    let given = argument_words(function, case, between, &given_words(framework));
    let limit = limit_words(function, case).filter(|_| detail == Detail::Words);
    let words = match (parameter, limit, refusal) {
        (Some(parameter), ..) if detail == Detail::Words => format!("changes {parameter}"),
        (Some(parameter), ..) => format!("changes {parameter} {given}"),
        (None, Some(limit), refusal) => format!("{} {limit}", refusal.unwrap_or_default()),
        (None, None, Some(refusal)) if given.is_empty() => refusal,
        (None, None, Some(refusal)) => format!("{refusal} for {given}"),
        (None, None, None) if given.is_empty() && takes_arguments(function) => {
            "without arguments".into()
        }
        (None, None, None) if is_script && !given.is_empty() => format!("with {given}"),
        (None, None, None) => given.clone(),
    };
    let is_java = language == Some(Language::Java);
    let setup = setup_words(case, if is_java { " " } else { between }, given.is_empty());
    let result = result_words(framework, case).filter(|_| is_java || detail == Detail::Result);
    let result = result.map_or_else(String::new, |result| format!("is {result}"));
    format!("{words} {setup} {result}")
}

/// Where an argument lies next to a number that the function compares: `at limit 5000`.
fn limit_words(function: &ObservedFunction, case: &Case) -> Option<String> {
    case.call.arguments.iter().enumerate().find_map(|(index, given)| {
        let number = given.parse::<i64>().ok()?;
        let sides = [("at", 0), ("above", -1), ("below", 1)];
        let (side, limit) = sides.iter().find_map(|(side, step)| {
            let limit = number.checked_add(*step)?;
            function.limits.contains(&(index, limit)).then_some((side, limit))
        })?;
        Some(format!("{side} limit {limit}"))
    })
}

/// How a call fails: `raises value_error`, `throws RangeError`.
fn refusal_words(language: Option<Language>, case: &Case) -> Option<String> {
    let CallOutcome::Raised { class, .. } = case.expected_outcome() else { return None };
    let class = class.rsplit('.').next().unwrap_or(class);
    Some(match language? {
        Language::Python => format!("raises {}", snake_case(class)),
        Language::Java => "throws".to_owned(),
        language if language.is_script() && class == "Error" => "throws".to_owned(),
        language if language.is_script() => format!("throws {class}"),
        _ => "fails".to_owned(),
    })
}

/// Whether calls of a function of Python or JavaScript can have arguments.
fn takes_arguments(function: &ObservedFunction) -> bool {
    let parameters = &function.callable.parameters;
    !function.callable.is_property && parameters.iter().any(|one| one.declared_type.is_empty())
}

/// How values are put into words for a framework.
pub(super) fn given_words(framework: Framework) -> fn(&str) -> String {
    match framework.language() {
        Some(Language::Java) => java_words,
        Some(Language::Go) => go_words,
        Some(Language::Rust) => typed_words,
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

/// The arguments in words, those of the constructor first. A truth value goes by the name of what it is
/// given for.
pub(super) fn argument_words(
    function: &ObservedFunction,
    case: &Case,
    between: &str,
    in_words: &dyn Fn(&str) -> String,
) -> String {
    let callee = &case.call.callee;
    // What the object is made of, or the text that it is.
    let made = callee.split_once('(').and_then(|(_, rest)| Some(rest.rsplit_once(')')?.0));
    let made = made.filter(|given| !given.is_empty() && function.callable.entry.is_none());
    let object = callee.rsplit_once('.').map(|(object, _)| object);
    let object = object.filter(|object| object.starts_with('"')).or(made);
    let parameters = function.callable.parameters.iter();
    // A letter would read as a value.
    let tells = |name: &&str| name.len() > 2 && case.call.arguments.len() > 1;
    let names = parameters.map(|one| Some(one.name.as_str()).filter(tells));
    let own =
        case.call.arguments.iter().map(String::as_str).zip(names.chain(std::iter::repeat(None)));
    let given = object.map(|one| (one, None)).into_iter().chain(own);
    let all: Vec<String> = given
        .map(|(argument, name)| match (argument, name) {
            ("true" | "True", Some(name)) => name.to_owned(),
            ("false" | "False", Some(name)) => format!("no {name}"),
            (same, _) if same.starts_with(SAME) => "itself".to_owned(),
            _ => in_words(argument),
        })
        .collect();
    let most = if all.join(" ").split(' ').count() > WORDS { FEW } else { WORDS };
    let mut text = String::new();
    for words in &all {
        let words = words.split(' ').take(most).collect::<Vec<_>>().join(" ");
        if !text.is_empty() && text.len() + words.len() > LONGEST {
            break;
        }
        text.push_str(if text.is_empty() { "" } else { between });
        text.push_str(&words);
    }
    text
}

/// What precedes the call: `after add ada 250`, `after add and remove`, `after add twice`.
pub(super) fn setup_words(case: &Case, between: &str, is_alone: bool) -> String {
    let parts = case.call.setup.iter();
    let parts = parts.map(|one| match one.strip_prefix('[') {
        Some(item) if item.contains("] = ") => ("set", ""),
        Some(_) => ("get", ""),
        None => one.split_once(" = ").or_else(|| one.split_once(['(', '['])).unwrap_or((one, "")),
    });
    let parts: Vec<(&str, &str)> = parts.map(|(method, given)| (method.trim(), given)).collect();
    let words = match parts.as_slice() {
        [] => return String::new(),
        [(method, given)] if is_alone => {
            let given = given.strip_suffix(')').unwrap_or(given).split(", ");
            let words: Vec<String> =
                given.filter(|one| !one.is_empty()).map(literal_words).collect();
            format!("{method} {}", words.join(between))
        }
        parts => {
            let times = parts.chunk_by(|one, other| one.0 == other.0).map(|calls| {
                let method = calls.first().map_or("", |one| one.0);
                match calls.len() {
                    1 => method.to_owned(),
                    2 => format!("{method} twice"),
                    count => format!("{method} {count} times"),
                }
            });
            times.collect::<Vec<_>>().join(" and ")
        }
    };
    format!("after {words}")
}

fn is_function(value: &str) -> bool {
    ["lambda", "function(", "function ("].iter().any(|start| value.starts_with(start))
        || value.contains("=>")
}

/// A literal in words: `empty string`, `minus 1`, `hello world`, `quotation mark`.
fn literal_words(literal: &str) -> String {
    let (name, value) = split_name(literal);
    let words = match value {
        "[]" => "empty list".into(),
        "()" => "empty tuple".into(),
        "{}" => "empty dict".into(),
        _ if is_function(value) => "function".into(),
        "b''" | "b\"\"" => "empty bytes".into(),
        _ if stream_content(value).is_some() => {
            literal_words(stream_content(value).unwrap_or_default())
        }
        _ => match (text_content(value), value.parse::<f64>()) {
            (Some(text), _) => text_words(&text),
            (None, Ok(_)) => {
                let number = value.trim_start_matches('+');
                number.replace('-', "minus ").replace('.', " point ")
            }
            (None, Err(_)) => plain_words(value),
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
fn script_words(literal: &str) -> String {
    let literal = literal.strip_prefix("new ").unwrap_or(literal);
    let shown = text_content(literal).map_or_else(
        || legible_text(literal.replace(['"', '\''], ""), &format!("{SCRIPT_SIGNS}[]")),
        |text| titled_text(&text),
    );
    match literal {
        "[]" => "empty array".into(),
        "{}" => "empty object".into(),
        _ => shown.unwrap_or_else(|| literal_words(literal)),
    }
}

/// A short text in a title: words as they are, all else in quotation marks.
fn titled_text(text: &str) -> Option<String> {
    let is_word = text.chars().count() > 1 && text.contains(char::is_alphabetic);
    let words = legible_text(text.to_owned(), SCRIPT_SIGNS).filter(|_| is_word);
    let is_short = text.len() <= LONGEST && text.split(' ').count() <= FEW;
    // Other parts of a title are told apart by `>`, and blanks are joined.
    let is_quotable = !text.contains(|one: char| one.is_control() || "\"'`\\>#".contains(one))
        && (text.chars().count() > 1 || text.contains(char::is_alphanumeric))
        && !text.contains("  ")
        && !text.trim().is_empty();
    words.or_else(|| (is_short && is_quotable).then(|| format!("\"{text}\"")))
}

/// What the name of a subtest in Go shows of an expression: short texts as they are.
fn go_words(value: &str) -> String {
    let shown = text_content(value).and_then(|text| legible_text(text, GO_SIGNS));
    let is_broken = value.contains("\\x");
    if is_broken { "invalid UTF-8".into() } else { shown.unwrap_or_else(|| typed_words(value)) }
}

/// A text that is short and consists of words with such signs between them.
fn legible_text(text: String, signs: &str) -> Option<String> {
    let is_legible = text.len() <= ARGUMENT
        && text.chars().all(|c| c.is_alphanumeric() || signs.contains(c))
        && text.contains(char::is_alphanumeric)
        && !text.contains("  ")
        && text.trim() == text;
    is_legible.then_some(text)
}

/// The text that a literal stands for; `None` for what is no text.
fn text_content(literal: &str) -> Option<String> {
    let literal = literal.strip_prefix('u').unwrap_or(literal);
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
fn text_words(text: &str) -> String {
    let names: Vec<&str> = text.chars().filter_map(name_of_sign).collect();
    let is_alike = text.chars().all(|one| text.starts_with(one));
    match (text.chars().count(), names.as_slice()) {
        (0, _) => "empty string".into(),
        (1, [name]) => (*name).to_owned(),
        _ if text.trim().is_empty() => "blank".into(),
        _ if text.trim() != text => format!("padded {}", text_words(text.trim())),
        (count, [name, ..]) if is_alike && names.len() == count => {
            format!("{count} {}s", name.trim_end_matches('s'))
        }
        (count @ 2..=3, names) if names.len() == count => names.join(" and "),
        (count, names) if names.len() == count => "only punctuation".into(),
        _ if !text.contains(|c: char| c.is_ascii_alphanumeric()) => "non ascii".into(),
        _ => plain_words(text),
    }
}

/// What a sign or a blank is called.
fn name_of_sign(sign: char) -> Option<&'static str> {
    match sign {
        ' ' => Some("space"),
        '\n' => Some("newline"),
        '\t' => Some("tab"),
        '\r' => Some("return"),
        _ => SIGNS.split(' ').find_map(|one| one.strip_prefix(sign)),
    }
}

/// Signs, each with its name behind it.
const SIGNS: &str = "-hyphen _underscore .dot ,comma ;semicolon :colon /slash #hash \"quotation-mark \
     'apostrophe \\backslash &ampersand <less-than >greater-than =equals +plus *asterisk %percent \
     $dollar @at-sign !exclamation-mark ?question-mark |pipe ~tilde ^caret `backtick (parenthesis \
     )closing-parenthesis [bracket ]closing-bracket {brace }closing-brace";

/// An expression of a language with types, in words: texts and numbers say more than the types around
/// them.
fn typed_words(value: &str) -> String {
    let is_path = value.starts_with("std::");
    let value = value.rsplit("::").next().filter(|_| is_path).unwrap_or(value);
    let value = value.strip_prefix("vec!").unwrap_or(value);
    let is_composed = value.contains(['(', '{']) && !value.starts_with('\'');
    let inner = value.find(['(', '{']).and_then(|at| value.get(at..)).unwrap_or(value);
    match value {
        _ if value.ends_with("{}") => "empty".to_owned(),
        "UNIX_EPOCH" => "epoch".into(),
        _ if is_composed && value.contains("\"\"") => "empty string".into(),
        _ if is_composed && value.contains('"') => {
            text_words(&value.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" "))
        }
        _ if is_composed && inner.contains(char::is_alphanumeric) => {
            plain_words(inner.trim_end_matches(", time.UTC)"))
        }
        _ => literal_words(value),
    }
}

/// An expression of Java in words: a constant by its own name, a number without the mark of its type.
fn java_words(value: &str) -> String {
    let is_constant =
        value.contains('.') && value.split('.').all(|part| part.starts_with(char::is_uppercase));
    let number = value.trim_end_matches(['L', 'f']);
    match value {
        _ if value.ends_with("()") || value.ends_with("{}") => "empty".to_owned(),
        _ if is_constant => {
            value.rsplit('.').next().unwrap_or(value).replace('_', " ").to_lowercase()
        }
        _ if number.parse::<f64>().is_ok() => literal_words(number),
        _ => typed_words(value),
    }
}

/// The sign of a negative number, and the mark between groups of digits.
static MINUS: Pattern = Pattern::new(r"(^|[^\w)\s.-]\s*)-(\d)");
static DIGIT_GROUPS: Pattern = Pattern::new(r"(\d)_(\d)");

/// The words and numbers of a value, as many as fit, each word once.
fn plain_words(value: &str) -> String {
    let value = value.replace("\\n", " ").replace("\\t", " ").replace('\'', "");
    let value = MINUS.replace_all(&DIGIT_GROUPS.replace_all(&value, "$1$2"), "$1 minus $2");
    // Parts of a word in another alphabet say nothing.
    let words = value.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && word.is_ascii());
    let mut found: Vec<String> = Vec::new();
    for word in words {
        let length: usize = found.iter().map(|one| one.len() + 1).sum();
        // Each part of a version counts: `1.2.2`.
        let is_dotted = value.contains(&format!("{word}.{word}"));
        let is_repeated = found.last().is_some_and(|one| one == word) && !is_dotted
            || word.contains(char::is_alphabetic) && found.iter().any(|one| one == word);
        if found.is_empty() {
            found.push(word.chars().take(ARGUMENT).collect());
        } else if length + word.len() > ARGUMENT {
            break;
        } else if !is_repeated {
            found.push(word.to_owned());
        }
    }
    match found.as_slice() {
        [] if value.contains(char::is_alphanumeric) => "non ascii".into(),
        [] => "punctuation".into(),
        _ => found.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_named_in_words() {
        let table = [
            ("-1.5", "minus 1 point 5"),
            ("+1", "1"),
            ("\"\"", "empty string"),
            ("'Hello,  World!'", "Hello World"),
            ("'__proto__& __proto__& __proto__'", "proto"),
            ("[1, 2]", "1 2"),
            ("[1, -2]", "1 minus 2"),
            ("'-0bB'", "minus 0bB"),
            ("1_000_000", "1000000"),
            ("'2024-01-02'", "2024 01 02"),
            ("'1.2.2'", "1 2 2"),
            ("[]", "empty list"),
            ("b''", "empty bytes"),
            ("b'ab'", "ab"),
            ("u'ab'", "ab"),
            ("io.StringIO('')", "empty string"),
            ("[5]", "5"),
            ("[2, 2, 2]", "2"),
            ("None", "None"),
            ("sep='-'", "sep hyphen"),
            ("'\\''", "apostrophe"),
            ("\"'\"", "apostrophe"),
            ("\"\\\"\"", "quotation-mark"),
            ("'\\\\'", "backslash"),
            ("'<>'", "less-than and greater-than"),
            ("'--'", "2 hyphens"),
            ("'=='", "2 equals"),
            ("'?!.,'", "only punctuation"),
            ("kind='vip'", "kind vip"),
            ("'   '", "blank"),
            ("\"\\n\"", "newline"),
            ("'éß'", "non ascii"),
            ("'añb'", "non ascii"),
            ("'Běžná cena 75'", "cena 75"),
            ("\"one two three four five six seven\"", "one two three four five"),
        ];
        let typed = [
            ("[]string{\"a\", \"b\"}", "a b"),
            ("[]rune(\"äöü\")", "non ascii"),
            ("&Token{}", "empty"),
            ("big.NewInt(7)", "7"),
            ("big.NewInt(-7)", "minus 7"),
            ("NewParams()", "NewParams"),
            ("vec![3, 1]", "3 1"),
            ("std::time::Duration::ZERO", "ZERO"),
            ("time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)", "2024 2 29 0"),
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
            ("'A'", "A"),
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
            assert_eq!(literal_words(literal), expected, "{literal}");
        }
    }

    #[test]
    fn titles_show_short_values() {
        let go = [
            ("\"hello world\"", "hello world"),
            ("\"a/b\"", "a b"),
            ("\"a\\xe2\\xa1\"", "invalid UTF-8"),
            ("\" a\"", "padded a"),
        ];
        for (literal, expected) in go {
            assert_eq!(go_words(literal), expected, "{literal}");
        }
        let titles = [
            ("\"01:30\"", "\"01:30\""),
            ("-1.5", "-1.5"),
            ("[1, 2]", "[1, 2]"),
            ("[]", "empty array"),
            ("\"'\"", "apostrophe"),
            ("\"a<b\"", "\"a<b\""),
            ("\"a;1=b\"", "\"a;1=b\""),
            ("\" a😀b\"", "\" a😀b\""),
            ("\" == \"", "\" == \""),
            ("\"7\"", "\"7\""),
            ("\"==\"", "\"==\""),
            ("\"a\\nb\"", "a b"),
            ("\"a  b\"", "a b"),
            ("\"-\"", "hyphen"),
        ];
        for (literal, expected) in titles {
            assert_eq!(script_words(literal), expected, "{literal}");
        }
        let names =
            [("toRoman", "to_Roman"), ("HTTPServer", "HTTP_Server"), ("Cart.sum", "Cart.sum")];
        for (name, expected) in names {
            assert_eq!(snake_case(name), expected, "{name}");
        }
    }
}
