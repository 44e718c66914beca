//! Describes test input that meets a condition in English: `not text` is "an empty `text`".

use super::Condition;

/// Describes the input for an outcome of a condition, quoted as written if not understood.
pub fn condition(one: &Condition) -> String {
    match one {
        Condition::Source { text, holds: true } => positive(text),
        Condition::Source { text, holds: false } => denied(unwrapped(text)),
        Condition::Past(line) => format!("input with which line {line} does not end the call"),
        Condition::LoopEntered(line) => format!("input with which the loop in line {line} begins"),
        Condition::Filled(over) if is_name(over) => format!("a filled `{over}`"),
        Condition::Filled(over) => format!("input for which `{over}` is not empty"),
        Condition::Case { subject, label } => format!("`{subject}` that matches `{label}`"),
        Condition::OtherCase(subject) if subject.is_empty() => {
            "input for which no case before holds".to_owned()
        }
        Condition::OtherCase(subject) => format!("another `{subject}` than in the cases"),
        Condition::Caught(class) if class.is_empty() => {
            "a failure inside that is caught".to_owned()
        }
        Condition::Caught(class) => format!("a failure inside that is caught as `{class}`"),
        Condition::Missing(value) => format!("input for which `{value}` gives no value"),
    }
}

fn denied(text: &str) -> String {
    match negated(text) {
        Some(opposite) => positive(&opposite),
        None if is_name(text) => format!("an empty `{text}`"),
        None => negative(text),
    }
}

/// A text without the parentheses that enclose all of it.
pub(super) fn unwrapped(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let mut depth = 0_i32;
        let balanced = inner.chars().all(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth >= 0
        });
        if !balanced || depth != 0 {
            break;
        }
        text = inner.trim();
    }
    text
}

/// Comparison operators, longest first, each with its negation.
const OPERATORS: &[(&str, &str)] = &[
    (" === ", " !== "),
    (" !== ", " === "),
    (" is not ", " is "),
    (" not in ", " in "),
    (" == ", " != "),
    (" != ", " == "),
    (" <= ", " > "),
    (" >= ", " < "),
    (" is ", " is not "),
    (" in ", " not in "),
    (" < ", " >= "),
    (" > ", " <= "),
];

/// Operators that join conditions; a text with one of them is not split.
const JOINED: &[&str] = &[" and ", " or ", "&&", "||"];

fn split(text: &str) -> Option<(&str, &'static str, &str)> {
    if JOINED.iter().any(|word| text.contains(word)) {
        return None;
    }
    OPERATORS.iter().find_map(|(operator, _)| {
        let (left, right) = text.split_once(operator)?;
        Some((left.trim(), operator.trim(), right.trim()))
    })
}

/// The negated condition, as a person would write it; `None` if only a leading `not` expresses it.
fn negated(text: &str) -> Option<String> {
    if JOINED.iter().any(|word| text.contains(word)) {
        return None;
    }
    if let Some(rest) = text.strip_prefix("not ").or_else(|| text.strip_prefix('!')) {
        return Some(unwrapped(rest).to_owned());
    }
    OPERATORS.iter().find_map(|(operator, opposite)| {
        let (left, right) = text.split_once(operator)?;
        Some(format!("{left}{opposite}{right}"))
    })
}

fn positive(text: &str) -> String {
    let text = unwrapped(text);
    if !JOINED.iter().any(|word| text.contains(word)) {
        let nothing = text
            .strip_prefix("not ")
            .or_else(|| text.strip_prefix('!').filter(|rest| !rest.starts_with('=')));
        if let Some(rest) = nothing {
            let rest = unwrapped(rest);
            return if is_name(rest) { format!("an empty `{rest}`") } else { negative(rest) };
        }
        if let Some(description) = emptiness(text) {
            return description;
        }
        if is_name(text) {
            return format!("a `{text}` that is not empty");
        }
    }
    match split(text) {
        Some((left, "is" | "==" | "===", "None" | "null" | "undefined" | "nil")) => {
            format!("no `{left}`")
        }
        Some((left, "is not" | "!=" | "!==", "None" | "null" | "undefined" | "nil")) => {
            format!("a `{left}`")
        }
        Some((left, "==" | "===", "\"\"" | "''" | "[]" | "{}")) => format!("an empty `{left}`"),
        Some((left, "<", right)) => format!("`{left}` below {right}"),
        Some((left, ">", right)) => format!("`{left}` above {right}"),
        Some((left, "<=", right)) => format!("`{left}` of at most {right}"),
        Some((left, ">=", right)) => format!("`{left}` of at least {right}"),
        Some((left, "==" | "===" | "is", right)) => format!("`{left}` equal to {right}"),
        Some((left, "!=" | "!==" | "is not", right)) => format!("`{left}` other than {right}"),
        Some((left, "in", right)) => format!("`{left}` that is in {right}"),
        Some((left, "not in", right)) => format!("`{left}` that is not in {right}"),
        _ => format!("input for which `{text}` holds"),
    }
}

fn negative(text: &str) -> String {
    match emptiness(text) {
        Some(description) => description.replacen("an empty", "a filled", 1),
        None => format!("input for which `{text}` does not hold"),
    }
}

/// Calls and properties that return a length.
const LENGTHS: &[&str] = &[".length", ".len()", ".size()", ".length()"];

/// Recognises tests for emptiness: `len(x) == 0`, `x.length === 0`, `x.is_empty()`, `x.length` ...
fn emptiness(text: &str) -> Option<String> {
    for call in [".is_empty()", ".isEmpty()", ".isBlank()"] {
        if let Some(name) = text.strip_suffix(call).filter(|name| is_name(name)) {
            return Some(format!("an empty `{name}`"));
        }
    }
    let (left, operator, right) = split(text)?;
    let name = left
        .strip_prefix("len(")
        .and_then(|rest| rest.strip_suffix(')'))
        .or_else(|| LENGTHS.iter().find_map(|length| left.strip_suffix(length)))
        .filter(|name| is_name(name))?;
    match (operator, right) {
        ("==" | "===" | "<=", "0") | ("<", "1") => Some(format!("an empty `{name}`")),
        (">" | "!=" | "!==", "0") => Some(format!("a filled `{name}`")),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'))
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn conditions_are_described_in_words() {
        let table = [
            ("not text", true, "an empty `text`"),
            ("!text", true, "an empty `text`"),
            ("(!text)", true, "an empty `text`"),
            ("text", true, "a `text` that is not empty"),
            ("text", false, "an empty `text`"),
            ("amount < 0", true, "`amount` below 0"),
            ("amount < 0", false, "`amount` of at least 0"),
            ("percent > 100", true, "`percent` above 100"),
            ("user is None", true, "no `user`"),
            ("user is None", false, "a `user`"),
            ("err != nil", true, "a `err`"),
            ("len(items) == 0", true, "an empty `items`"),
            ("items.length === 0", true, "an empty `items`"),
            ("items.is_empty()", true, "an empty `items`"),
            ("!items.is_empty()", true, "a filled `items`"),
            ("name == \"\"", true, "an empty `name`"),
            ("key not in known", true, "`key` that is not in known"),
            ("a and b", true, "input for which `a and b` holds"),
            ("a || b", false, "input for which `a || b` does not hold"),
            ("valid(x)", true, "input for which `valid(x)` holds"),
            ("round > 3", true, "`round` above 3"),
            ("past > 3", true, "`past` above 3"),
            ("some != 1", true, "`some` other than 1"),
            ("not valid(x)", true, "input for which `valid(x)` does not hold"),
        ];
        for (text, holds, expected) in table {
            let text = text.to_owned();
            assert_eq!(condition(&Condition::Source { text, holds }), expected);
        }
    }

    #[test]
    fn conditions_without_a_text_of_their_own_are_described_in_words() {
        let case = |subject: &str, label: &str| Condition::Case {
            subject: subject.into(),
            label: label.into(),
        };
        let table = [
            (Condition::Caught("OSError".into()), "a failure inside that is caught as `OSError`"),
            (Condition::Caught(String::new()), "a failure inside that is caught"),
            (Condition::Past(12), "input with which line 12 does not end the call"),
            (Condition::LoopEntered(3), "input with which the loop in line 3 begins"),
            (Condition::Filled("rows".into()), "a filled `rows`"),
            (Condition::Filled("rows.keys()".into()), "input for which `rows.keys()` is not empty"),
            (case("kind", "'a'"), "`kind` that matches `'a'`"),
            (Condition::OtherCase("kind".into()), "another `kind` than in the cases"),
            (Condition::OtherCase(String::new()), "input for which no case before holds"),
            (Condition::Missing("find(x)".into()), "input for which `find(x)` gives no value"),
        ];
        for (one, expected) in table {
            assert_eq!(condition(&one), expected, "{one:?}");
        }
    }

    proptest! {
        #[test]
        fn every_text_has_a_description(text in ".{0,60}", holds: bool) {
            let description = condition(&Condition::Source { text, holds });
            prop_assert!(!description.is_empty());
        }
    }
}
