//! Names of the cases of one function in Go: what sets the arguments of one apart from those of the
//! others, by kind where the text itself says nothing.

use crate::domain::framework::Framework;
use crate::effect::CallOutcome;

use super::super::test_name::{case_words, typed_words};
use super::{Case, ObservedFunction};

/// Maximum length of a name.
const LONGEST: usize = 60;

/// Maximum length of a text that is its own name.
const OWN: usize = 24;

/// Characters that a text may have one of, by name.
const MARKS: &[(char, &str)] = &[
    ('"', "quotes"),
    ('\'', "apostrophe"),
    ('-', "hyphen"),
    ('_', "underscore"),
    ('.', "dot"),
    (',', "comma"),
    (':', "colon"),
    ('/', "slash"),
    ('&', "ampersand"),
    ('\\', "backslash"),
];

/// `empty`, `two words, width 3`, `rejects digits`.
pub fn case_name(one: &ObservedFunction, case: &Case) -> String {
    let is_rejected = matches!(case.expected_outcome(), CallOutcome::Raised { .. });
    let is_plain = case.call.setup.is_empty() && case.seen.after.is_empty();
    let has_one_object = one.cases.iter().all(|other| other.call.callee == case.call.callee);
    let differs = |index: &usize| {
        let given = |case: &Case| case.call.arguments.get(*index).cloned();
        one.cases.iter().any(|other| given(other) != given(case))
    };
    let places: Vec<usize> = (0..case.call.arguments.len()).filter(differs).collect();
    if !is_plain || !has_one_object || places.is_empty() {
        return case_words(Framework::GoTest, one, case);
    }
    let mut name = if is_rejected { "rejects ".to_owned() } else { String::new() };
    for (nth, index) in places.iter().enumerate() {
        let given = case.call.arguments.get(*index).map_or("", String::as_str);
        let parameter = one.callable.parameters.get(*index).map_or("", |one| one.name.as_str());
        let named = if one.callable.parameters.len() > 1 { parameter } else { "" };
        let words = nth
            .checked_sub(1)
            .and_then(|before| case.call.arguments.get(*places.get(before)?))
            .and_then(|before| comparing_words(before, given));
        let words =
            words.unwrap_or_else(|| argument_words(given, named, case.documented.is_some()));
        if nth > 0 && name.len() + words.len() > LONGEST {
            break;
        }
        name.push_str(if nth > 0 { ", " } else { "" });
        name.push_str(&words);
    }
    name
}

/// What a text is to the one before it, if one contains the other.
fn comparing_words(before: &str, given: &str) -> Option<String> {
    let inner = |one: &'_ str| Some(one.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    let (before, given) = (inner(before)?, inner(given)?);
    let words = match (before.contains(&given), given.contains(&before)) {
        _ if before.is_empty() || given.is_empty() => return None,
        (true, true) => "the same",
        (true, false) => "a part of it",
        (false, true) => "more than it",
        (false, false) => return None,
    };
    Some(words.to_owned())
}

fn argument_words(value: &str, parameter: &str, is_documented: bool) -> String {
    let text = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match (text, value) {
        (Some(text), _) => text_words(text, is_documented),
        (None, "true") => format!("with {parameter}"),
        (None, "false") => format!("without {parameter}"),
        _ if value.parse::<f64>().is_ok() => {
            let words = value.replace('-', "minus ");
            format!("{parameter} {words}").trim().to_owned()
        }
        _ => typed_words(value),
    }
}

/// A text as it is, if it is documented and short, or else what kind of text it is.
fn text_words(literal: &str, is_documented: bool) -> String {
    let is_broken = literal.contains("\\x");
    let text = format!("\"{}\"", literal.replace("\\x", "\\u00"));
    let text: String = serde_json::from_str(&text).unwrap_or_else(|_| literal.to_owned());
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_own = |c: char| c.is_alphanumeric() || c == ' ' || c == '-' || c == '.';
    if text.is_empty() || words.is_empty() {
        let kind = if text.contains('\n') { "line break" } else { "only spaces" };
        return if text.is_empty() { "empty" } else { kind }.to_owned();
    }
    if is_broken {
        return "invalid UTF-8".to_owned();
    }
    if is_documented && text.len() <= OWN && text.chars().all(is_own) {
        return words.join(" ");
    }
    let shape = match words.as_slice() {
        _ if text.trim().contains('\n') => "several lines",
        _ if text.parse::<f64>().is_ok() => "number",
        _ if !text.contains(char::is_alphanumeric) => "no letters",
        [word] if word.chars().count() == 1 => "one letter",
        [_] => "one word",
        [_, _] => "two words",
        _ => "several words",
    };
    let mut traits = Vec::new();
    if !text.is_ascii() {
        traits.push("other letters");
    }
    let outer = (text.starts_with(char::is_whitespace), text.ends_with(char::is_whitespace));
    traits.extend(match outer {
        (true, true) => Some("surrounding spaces"),
        (true, false) => Some("leading space"),
        (false, true) => Some("trailing space"),
        (false, false) => text.contains("  ").then_some("more spaces"),
    });
    traits.extend(letter_traits(&text).filter(|_| shape != "number"));
    let mut marks = MARKS.iter().filter(|(mark, _)| text.contains(*mark) && shape != "number");
    traits.extend(
        marks.next().map(|(_, name)| *name).into_iter().chain(marks.next().map(|_| "other marks")),
    );
    traits.truncate(2);
    let with = if traits.is_empty() { "" } else { " with " };
    format!("{shape}{with}{}", traits.join(" and "))
}

/// Digits or capitals among the letters of a text.
fn letter_traits(text: &str) -> Option<&'static str> {
    let has = |is: fn(char) -> bool| text.contains(is);
    match (has(|c| c.is_ascii_digit()), has(char::is_uppercase), has(char::is_lowercase)) {
        (true, true, _) | (true, _, true) => Some("digits"),
        (false, true, false) => Some("capitals only"),
        (false, true, true) => Some("capitals"),
        (_, false, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_named_by_their_kind() {
        let table = [
            ("\"\"", "", "empty"),
            ("\"  \"", "", "only spaces"),
            ("\"hello\"", "", "one word"),
            ("\"GolangPacka GolangPacka\"", "", "two words with capitals"),
            ("\"  two  words \"", "", "two words with surrounding spaces"),
            ("\"hello1\"", "", "one word with digits"),
            ("\"123\"", "", "number"),
            ("\"fooBar_baz-qux\"", "", "one word with capitals and hyphen"),
            ("\"\\u5f71\\u5e2b\"", "", "one word with other letters"),
            ("\"a\\xe2\\xa1\"", "", "invalid UTF-8"),
            ("\"a\\nb\"", "", "several lines"),
            ("-3", "width", "width minus 3"),
            ("true", "strict", "with strict"),
            ("[]string{\"a\", \"b\"}", "parts", "a b"),
        ];
        for (value, parameter, expected) in table {
            assert_eq!(argument_words(value, parameter, false), expected, "{value}");
        }
        assert_eq!(argument_words("\"BöseÜberraschung\"", "src", true), "BöseÜberraschung");
        let words = |before, given| comparing_words(before, given).unwrap_or_default();
        assert_eq!(words("\"hello \"", "\"hello\""), "a part of it");
        assert_eq!(words("\"a\"", "\"a\""), "the same");
        assert_eq!(words("\"a\"", "\"\""), "");
    }
}
