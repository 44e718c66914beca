//! Names of tests by the behaviour that they hold: `should return 12 when total gets 2, 3`.

use crate::code::language::Language;
use crate::domain::framework::Framework;
use crate::effect::{CallOutcome, ResultKind};

use super::test_name::{argument_words, given_words, result_words, setup_words, snake_case};
use super::{Case, ObservedFunction};

/// Maximum length of a name, and of a word of a result in it.
const LONGEST: usize = 76;
const LONGEST_WORD: usize = 16;

/// A test's name by behaviour: `test_should_return_12_when_total_gets_2_3` in Python.
pub fn behaviour_name(framework: Framework, function: &ObservedFunction, case: &Case) -> String {
    let language = framework.language();
    let own = match function.callable.name.as_str() {
        "default" => &function.local,
        own => own,
    };
    let own = own.trim_end_matches("__").replace(".__", ".");
    let is_spoken = language.is_some_and(Language::is_script);
    let between = if is_spoken { ", " } else { " " };
    let result = case.expected_outcome();
    let given = argument_words(function, case, between, given_words(framework));
    let setup = setup_words(case, between, given.is_empty());
    let is_legible = |words: &String| {
        !words.is_empty() && words.split(' ').all(|word| word.len() <= LONGEST_WORD)
    };
    let short = result_words(framework, case).filter(is_legible);
    let behaviour = match (result, case.seen.after.is_empty(), short) {
        (CallOutcome::Raised { class, .. }, ..) => {
            let class = class.rsplit('.').next().unwrap_or(class);
            let verb = if language == Some(Language::Python) { "raise" } else { "throw" };
            let class = if is_spoken { class.to_owned() } else { snake_case(class) };
            format!("{verb} {class}")
        }
        (_, false, _) => "change its argument".to_owned(),
        (CallOutcome::Value { way: ResultKind::Printed, .. }, _, Some(words)) => {
            format!("print {words}")
        }
        (CallOutcome::Value { way: ResultKind::Printed, .. }, ..) => "print a text".to_owned(),
        (_, true, Some(words)) => format!("return {words}"),
        (CallOutcome::Value { literal, .. }, ..) => format!("return {}", shape_words(literal)),
        _ => "return".to_owned(),
    };
    let behaviour = effect_words(function, case).unwrap_or(behaviour);
    let (own, given) = match requested_route(case) {
        Some((route, true)) => (route, given),
        Some((route, false)) => (route, String::new()),
        None => (own, given),
    };
    let subject = if is_spoken { own } else { snake_case(&own) };
    let condition = match (given.is_empty(), setup.is_empty()) {
        (true, true) => format!("{subject} is called"),
        (true, false) => format!("{subject} is called {setup}"),
        (false, _) => format!("{subject} gets {given} {setup}"),
    };
    let text = shorten_name(&format!("should {behaviour} when {condition}"));
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    match language {
        Some(Language::Python) => format!("test_{text}").chars().map(plain).collect(),
        Some(Language::Go) => format!("Test{}", joined_words(&text)),
        _ => text,
    }
}

/// The method and the path of a request of a script, and whether it sends something: `GET /orders/3`.
fn requested_route(case: &Case) -> Option<(String, bool)> {
    let callee = case.call.callee.strip_prefix("request(")?;
    let (_, asked) = callee.split_once(").")?;
    let sent = asked.strip_suffix(").send").and_then(|asked| asked.split_once('('));
    let (method, path) = match sent {
        Some(asked) => asked,
        None => (asked, case.call.arguments.first()?.as_str()),
    };
    let path = path.trim_matches('"');
    Some((format!("{} {path}", method.to_uppercase()), sent.is_some()))
}

/// What a call does beside its result: how a request is answered or a command ends, or that files change.
fn effect_words(function: &ObservedFunction, case: &Case) -> Option<String> {
    let CallOutcome::Value { literal, way } = case.expected_outcome() else { return None };
    if *way == ResultKind::Members && function.callable.entry.is_some() {
        let verb = if literal.contains("exit_code") { "exit with" } else { "answer" };
        let number = literal.split([':', ',', '}']).nth(1)?;
        return Some(format!("{verb} {}", number.trim()));
    }
    let is_silent = literal == "None" && case.seen.effects.shows_effect();
    is_silent.then(|| "change files".to_owned())
}

/// As many words of a name as fit.
fn shorten_name(name: &str) -> String {
    let mut text = String::new();
    for word in name.split_whitespace() {
        if !text.is_empty() && text.len() + word.len() >= LONGEST {
            break;
        }
        text.push_str(if text.is_empty() { "" } else { " " });
        text.push_str(word);
    }
    text.trim_end_matches([' ', ',', ':', '-']).to_owned()
}

/// The words of a text as one name, each with a capital.
fn joined_words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    };
    words.map(capital).collect()
}

/// What kind of value a literal is that is too long for a name.
fn shape_words(literal: &str) -> &'static str {
    match literal.chars().next() {
        Some('[') => "a list",
        Some('{') => "a mapping",
        Some('(') => "a tuple",
        Some('"' | '\'' | '`') => "a text",
        _ => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_ends_behind_a_whole_word() {
        let table = [
            ("should return 1 when total  gets 2, 3", "should return 1 when total gets 2, 3"),
            (
                "should raise invalid_key_error when py_jwt.encode gets options, enforce minimum key length",
                "should raise invalid_key_error when py_jwt.encode gets options, enforce",
            ),
        ];
        for (name, expected) in table {
            assert_eq!(shorten_name(name), expected);
        }
    }

    #[test]
    fn words_are_joined_for_languages_without_spaces_in_names() {
        assert_eq!(
            joined_words("should return 12 when total gets 2, 3"),
            "ShouldReturn12WhenTotalGets23"
        );
        assert_eq!(
            [shape_words("[1]"), shape_words("{}"), shape_words("X()")],
            ["a list", "a mapping", "an object"]
        );
    }
}
