//! Names of tests, after what is called and what sets one call apart from the others.

use crate::code::language::Language;
use crate::code::signature::{Callable, Class};
use crate::domain::framework::Framework;
use crate::effect::CallOutcome;

use super::super::arguments::split_name;
use super::{Case, ObservedFunction};

/// Maximum length of the words for the arguments of one test.
const LONGEST: usize = 40;

/// Maximum length of the words for one argument.
const ARGUMENT: usize = 24;

/// The name of a test: `test_fee_gift_3` in Python, `fee with gift, 3` in JavaScript.
pub fn test_name(framework: Framework, function: &ObservedFunction, case: &Case) -> String {
    let is_rust = framework.language() == Some(Language::Rust);
    let is_python = framework.is_python() || is_rust;
    let own = function.callable.name.as_str();
    let own = if own == "default" { &function.local } else { own };
    let class = function.callable.class.as_ref().filter(|_| function.callable.is_constructor());
    let own = match class {
        Some(class) => class.name.clone(),
        None if is_rust => rust_subject(&function.callable),
        None => own.replace(".__", ".").trim_end_matches("__").to_owned(),
    };
    let words = case_words(framework, function, case);
    if !is_python {
        let name = format!("{own} {words}");
        return name.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let words: Vec<&str> = words.split_whitespace().collect();
    let mark = if is_rust { "" } else { "test_" };
    format!("{mark}{own} {}", words.join(" ")).trim_end().chars().map(plain).collect()
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
    let is_script = framework.language().is_some_and(Language::is_script);
    let between = if is_script || framework == Framework::GoTest { ", " } else { " " };
    let is_rejected = matches!(case.expected_outcome(), CallOutcome::Raised { .. });
    let changed = case.seen.after.first().filter(|_| !is_rejected);
    let parameter = changed.and_then(|(index, _)| {
        let keyword = split_name(case.call.arguments.get(*index)?).0;
        keyword.or(function.callable.parameters.get(*index).map(|one| one.name.as_str()))
    });
    let given = match framework.language() {
        Some(Language::Java) => argument_words(case, " and ", java_words),
        Some(Language::Go | Language::Rust) => argument_words(case, between, typed_words),
        _ => argument_words(case, between, literal_words),
    };
    let words = match (parameter, given.is_empty(), is_rejected) {
        (Some(parameter), ..) => format!("changes {parameter}"),
        (None, true, true) => "is rejected".into(),
        (None, false, true) => format!("rejects {given}"),
        (None, false, false) if is_script => format!("with {given}"),
        (None, ..) => given,
    };
    format!("{words} {}", setup_words(case, between))
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
fn argument_words(case: &Case, between: &str, in_words: fn(&str) -> String) -> String {
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
            let words: Vec<String> =
                given.filter(|one| !one.is_empty()).map(literal_words).collect();
            format!("after {method} {}", words.join(between))
        }
        [one, two] if one == two => format!("after {} twice", one.0),
        parts => {
            let methods: Vec<&str> = parts.iter().map(|(method, _)| *method).collect();
            format!("after {}", methods.join(" and "))
        }
    }
}

/// A literal in words: `empty string`, `minus 1`, `hello world`.
fn literal_words(literal: &str) -> String {
    let (name, value) = split_name(literal);
    let words = match value {
        "\"\"" | "''" => "empty string".to_owned(),
        "[]" => "empty list".into(),
        "()" => "empty tuple".into(),
        "{}" => "nothing in it".into(),
        _ if value.starts_with("lambda") || value.contains("=>") => "function".into(),
        _ => {
            let sign = if value.starts_with('-') && value.len() > 1 { "minus " } else { "" };
            format!("{sign}{}", plain_words(value))
        }
    };
    name.map_or(words.clone(), |name| format!("{name} {words}"))
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
        _ => literal_words(value),
    }
}

/// Names of characters that are no letters or digits.
const CHARACTERS: &[(&str, &str)] = &[
    ("' '", "space"),
    ("'-'", "hyphen"),
    ("'_'", "underscore"),
    ("'.'", "dot"),
    ("','", "comma"),
    ("';'", "semicolon"),
    ("':'", "colon"),
    ("'/'", "slash"),
    ("'#'", "hash"),
    ("'\"'", "quote"),
    ("'\\''", "apostrophe"),
    ("'\\n'", "newline"),
    ("'\\t'", "tab"),
    ("'\\r'", "return"),
];

/// An expression of Java in words: a constant by its own name, a number without the mark of its type.
pub fn java_words(value: &str) -> String {
    let is_constant =
        value.contains('.') && value.split('.').all(|part| part.starts_with(char::is_uppercase));
    let number = value.trim_end_matches(['L', 'f']);
    if let Some((_, word)) = CHARACTERS.iter().find(|(literal, _)| *literal == value) {
        return (*word).to_owned();
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
        _ if number.parse::<f64>().is_ok() => literal_words(number),
        _ => typed_words(value),
    }
}

/// The words and numbers of a literal, as many as fit.
fn plain_words(value: &str) -> String {
    let escaped = value.replace("\\n", " ").replace("\\t", " ").replace('\'', "");
    let words = escaped.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
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
    let inner = value.trim_matches(['"', '\'']);
    match text.as_str() {
        "" if inner.trim().is_empty() => "blank".into(),
        "" if inner.trim_matches(['\\', 'n']).is_empty() => "line break".into(),
        "" if inner.contains(char::is_alphabetic) => "other letters".into(),
        "" => "symbols".into(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_named_in_words() {
        let table = [
            ("-1.5", "minus 1 5"),
            ("\"\"", "empty string"),
            ("'Hello,  World!'", "Hello World"),
            ("[1, 2]", "1 2"),
            ("[]", "empty list"),
            ("None", "None"),
            ("sep='-'", "sep symbols"),
            ("kind='vip'", "kind vip"),
            ("'   '", "blank"),
            ("\"\\n\"", "line break"),
            ("'éß'", "other letters"),
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
            ("-1.5f", "minus 1 5"),
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
            assert_eq!(literal_words(literal), expected, "{literal}");
        }
    }
}
