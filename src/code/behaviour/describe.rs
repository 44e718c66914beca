//! Describes test input that meets a condition in English: `not text` is "an empty `text`".

use super::Condition;

/// Describes the input for which a condition has the required outcome. Never fails: a condition
/// that is not understood is quoted as written.
pub fn condition(one: &Condition) -> String {
    let text = unwrapped(&one.text);
    if let Some(description) = marker(text) {
        return description;
    }
    if one.holds {
        return positive(text);
    }
    match negated(text) {
        Some(opposite) => positive(&opposite),
        None if is_name(text) => format!("an empty `{text}`"),
        None => negative(text),
    }
}

/// Whether a condition says only that the body of a loop was entered.
pub fn is_loop_entry(one: &Condition) -> bool {
    one.text.starts_with("some ") || one.text.starts_with("round ")
}

/// Describes a condition that the walk generated: `past 12`, `some rows`, `case 1 of kind`.
fn marker(text: &str) -> Option<String> {
    let (word, rest) = text.split_once(' ')?;
    Some(match word {
        "caught" => format!("a failure inside that is caught as `{rest}`"),
        "past" => format!("input with which line {rest} does not end the call"),
        "round" => format!("input with which the loop in line {rest} begins"),
        "nothing" => format!("input for which `{rest}` gives no value"),
        "some" if is_name(rest) => format!("a filled `{rest}`"),
        "some" => format!("input for which `{rest}` is not empty"),
        "another" if rest == "-" => "input for which no case before holds".to_owned(),
        "another" => format!("another `{rest}` than in the cases"),
        "case" => {
            let (label, subject) = rest.rsplit_once(" of ")?;
            format!("`{subject}` that matches `{label}`")
        }
        _ => return None,
    })
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
            ("caught OSError", true, "a failure inside that is caught as `OSError`"),
            ("past 12", true, "input with which line 12 does not end the call"),
            ("some rows", true, "a filled `rows`"),
            ("some rows.keys()", true, "input for which `rows.keys()` is not empty"),
            ("case 'a' of kind", true, "`kind` that matches `'a'`"),
            ("another kind", true, "another `kind` than in the cases"),
            ("another -", true, "input for which no case before holds"),
            ("not valid(x)", true, "input for which `valid(x)` does not hold"),
        ];
        for (text, holds, expected) in table {
            assert_eq!(condition(&Condition { text: text.into(), holds }), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_text_has_a_description(text in ".{0,60}", holds: bool) {
            let description = condition(&Condition { text, holds });
            prop_assert!(!description.is_empty());
        }
    }
}
