//! Names of tests by the behaviour that they hold: `should return 12 when total gets 2, 3`.

use crate::code::language::Language;
use crate::code::signature::type_of_literal;
use crate::domain::framework::Framework;
use crate::effect::{CallOutcome, ResultKind};

use super::super::arguments::split_name;
use super::test_name::{
    Detail, argument_words, given_words, result_words, setup_words, snake_case,
};
use super::{Case, ObservedFunction};

/// Maximum length of a name, and of a word of a result in it.
const LONGEST: usize = 76;
const LONGEST_WORD: usize = 16;

/// Words that need another behind them.
const OPENING: &[&str] = &["minus", "and", "after", "point", "twice", "a", "an"];

/// A test's name by behaviour: `test_should_return_12_when_total_gets_2_3` in Python. Objects go by the
/// names of their classes unless `detail` asks for more.
pub fn behaviour_name(
    framework: Framework,
    function: &ObservedFunction,
    case: &Case,
    detail: Detail,
) -> String {
    let language = framework.language();
    let own = match function.callable.name.as_str() {
        "default" => &function.local,
        own => own,
    };
    let own = own.trim_end_matches("__").replace(".__", ".");
    let is_spoken = language.is_some_and(Language::is_script);
    let between = if is_spoken { ", " } else { " " };
    let in_words = given_words(framework);
    let given = argument_words(function, case, between, &|value| match object_name(value) {
        Some(name) if detail == Detail::Words && is_spoken => in_words(name),
        Some(name) if detail == Detail::Words => in_words(&snake_case(name)),
        _ => in_words(value),
    });
    let setup = setup_words(case, between, given.is_empty());
    let behaviour =
        effect_words(function, case).unwrap_or_else(|| result_behaviour(framework, case));
    let (own, given) = match requested_route(case) {
        Some((route, true)) => (route, given),
        Some((route, false)) => (route, String::new()),
        None => (own, given),
    };
    let own = chained_name(function, case).unwrap_or(own);
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

/// What a call gives or does, as a verb with its object: `return 12`, `raise key_error`.
fn result_behaviour(framework: Framework, case: &Case) -> String {
    let language = framework.language();
    let is_spoken = language.is_some_and(Language::is_script);
    let is_legible = |words: &String| {
        !words.is_empty()
            && !words.ends_with("punctuation")
            && words.split(' ').all(|word| word.len() <= LONGEST_WORD)
    };
    let short = result_words(framework, case).filter(is_legible);
    match (case.expected_outcome(), case.seen.after.is_empty(), short) {
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

/// What is called on what a function gives: `Connection.send` for `Connection(1).send("x")`.
fn chained_name(function: &ObservedFunction, case: &Case) -> Option<String> {
    let (_, last) = case.call.callee.rsplit_once(").")?;
    let callable = &function.callable;
    let is_chained = callable.entry.is_none()
        && last.chars().all(|c| c.is_alphanumeric() || c == '_')
        && last != callable.short_name()
        && last != callable.called_name();
    let class = callable.class.as_ref().filter(|_| callable.is_constructor());
    let first = class.map_or(callable.name.as_str(), |class| &class.name);
    is_chained.then(|| format!("{first}.{last}"))
}

/// The class of an object that a value makes of more than one literal, or the constant that it is:
/// `Request` for `http.Request("GET", "/")`.
fn object_name(value: &str) -> Option<&str> {
    let value = split_name(value).1;
    let (path, given) = value.split_once('(').unwrap_or((value, ""));
    let path = path.strip_prefix("new ").unwrap_or(path);
    let name = path.rsplit('.').next().filter(|name| name.starts_with(char::is_uppercase))?;
    let is_path = path.chars().all(|c| c.is_alphanumeric() || "._".contains(c));
    let is_of_literal = type_of_literal(given).is_some() && !given.contains(',');
    let is_literal = type_of_literal(value).is_some();
    (is_path && !is_of_literal && !is_literal).then_some(name)
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

/// As many words of a name as fit, without those that say nothing without what followed them.
fn shorten_name(name: &str) -> String {
    let trim = |text: &str| text.trim_end_matches([' ', ',', ':', '-']).to_owned();
    let mut words = name.split_whitespace().peekable();
    let mut text = String::new();
    while let Some(word) =
        words.next_if(|word| text.is_empty() || text.len() + word.len() < LONGEST)
    {
        text.push_str(if text.is_empty() { "" } else { " " });
        text.push_str(word);
    }
    let mut is_open = words.peek() == Some(&"point");
    let is_cut = words.next().is_some();
    let mut text = trim(&text);
    while let Some((rest, word)) = text.rsplit_once(' ').filter(|_| is_cut) {
        if !is_open && !OPENING.contains(&word) {
            break;
        }
        is_open = word == "point";
        text = trim(rest);
    }
    // A list or a text whose end is cut off.
    for (open, close) in [('[', ']'), ('"', '"')] {
        let [opened, closed] = [open, close].map(|mark| text.matches(mark).count());
        let is_whole = if open == close { opened % 2 == 0 } else { opened <= closed };
        let at = text.rfind(open).filter(|_| is_cut && !is_whole);
        text.truncate(at.unwrap_or(text.len()));
        text = trim(&text);
    }
    if text.ends_with(" gets") { text.replace(" gets", " is called") } else { text }
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
        Some('b') if literal.starts_with("b'") || literal.starts_with("b\"") => "bytes",
        Some('0'..='9' | '-') => "a number",
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
            (
                "should raise local_protocol_error when connection.send gets server minus 2 point 25",
                "should raise local_protocol_error when connection.send gets server",
            ),
            (
                "should return es when Negotiator.language gets headers accept encoding, [es, en]",
                "should return es when Negotiator.language gets headers accept encoding",
            ),
            (
                "should raise unsupported_media_type_error when connection.send_all gets supercalifragilistic",
                "should raise unsupported_media_type_error when connection.send_all is called",
            ),
        ];
        for (name, expected) in table {
            assert_eq!(shorten_name(name), expected);
        }
    }

    #[test]
    fn objects_go_by_their_class_and_constants_by_their_name() {
        let table = [
            ("h11.SERVER", Some("SERVER")),
            ("our_role=h11.CLIENT", Some("CLIENT")),
            ("h11.Request(method=\"GET\", headers=[])", Some("Request")),
            ("new Cart()", Some("Cart")),
            ("Decimal(\"3\")", None),
            ("True", None),
            ("date(2020, 1, 2)", None),
            ("\"A(b)\"", None),
            ("X(1) + Y(2)", None),
        ];
        for (value, expected) in table {
            assert_eq!(object_name(value), expected, "{value}");
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
