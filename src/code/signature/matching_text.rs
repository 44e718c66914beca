//! Texts that match the regular expressions of a source, as inputs for the functions that use them.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::code::language::Language;
use crate::code::tree::{named_children, text_of};

/// Longest text.
const LONGEST: usize = 60;

/// The most signs of a list.
const SIGNS: usize = 8;

/// Which text of all that match is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// What may be left out is left out; the first of several alternatives.
    Shortest,
    /// Everything is there; the last of several alternatives.
    Fullest,
}

/// Texts that match a regular expression, as literals; none where it uses what only its language has.
/// The expression is written as in JavaScript, `/^a+$/i`, or as a call in Python, `re.compile(r"^a+$")`.
pub fn matching_texts(expression: &str) -> Vec<String> {
    if let Some(pattern) = python_pattern(expression) {
        let is_verbose = ["re.VERBOSE", "re.X"].iter().any(|flag| expression.contains(flag));
        return texts_of_pattern(&pattern, is_verbose);
    }
    let Some((pattern, flags)) =
        expression.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'))
    else {
        return Vec::new();
    };
    if flags.contains('x') {
        return Vec::new();
    }
    // A group with a name, an escaped slash and a code point are written in another way there.
    let pattern = pattern.replace("\\/", "/").replace("(?<", "(?P<").replace("\\d", "[0-9]");
    texts_of_pattern(&rewrite_code_points(&pattern), false)
}

/// The first argument of a call of `re`, if it is one string or several behind each other.
fn python_pattern(call: &str) -> Option<String> {
    let tree = Language::Python.parse(call).filter(|_| call.starts_with("re."))?;
    let call_node = tree.root_node().named_child(0)?.named_child(0)?;
    let first = call_node.child_by_field_name("arguments")?.named_child(0)?;
    let strings = match first.kind() {
        "string" => vec![first],
        "concatenated_string" => named_children(first),
        _ => return None,
    };
    let mut pattern = String::new();
    for string in strings {
        let text = text_of(string, call);
        let is_raw = text.starts_with(['r', 'R']);
        let text = text.trim_start_matches(['r', 'R']);
        let quote =
            ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| text.starts_with(quote))?;
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        if !is_raw && inner.contains('\\') {
            return None;
        }
        pattern.push_str(inner);
    }
    Some(pattern.replace("\\d", "[0-9]").replace("\\Z", "$"))
}

fn texts_of_pattern(pattern: &str, is_verbose: bool) -> Vec<String> {
    let mut parser = ParserBuilder::new().ignore_whitespace(is_verbose).build();
    let Ok(expression) = parser.parse(pattern) else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    for choice in [Choice::Fullest, Choice::Shortest] {
        let mut text = String::new();
        let is_whole = append(&expression, choice, 0, &mut text) && text.len() <= LONGEST;
        if is_whole && !text.is_empty() {
            let literal = serde_json::Value::from(text).to_string();
            if !found.contains(&literal) {
                found.push(literal);
            }
        }
    }
    for sign in listed_signs(&expression) {
        if !found.contains(&sign) {
            found.push(sign);
        }
    }
    found
}

/// The signs that an expression lists, such as those that `["&<>]` looks for, one a text.
fn listed_signs(expression: &Hir) -> Vec<String> {
    let inner = match expression.kind() {
        HirKind::Capture(group) => &group.sub,
        HirKind::Repetition(repeated) => &repeated.sub,
        _ => expression,
    };
    let HirKind::Class(Class::Unicode(class)) = inner.kind() else { return Vec::new() };
    let signs = class.ranges().iter().flat_map(|range| range.start()..=range.end());
    let signs: Vec<char> = signs.take(SIGNS + 1).collect();
    let is_list = signs.len() <= SIGNS && signs.iter().all(char::is_ascii_punctuation);
    let signs = signs.into_iter().filter(|_| is_list);
    signs.map(|sign| serde_json::Value::from(sign.to_string()).to_string()).collect()
}

/// `\u{…}` for `\uXXXX`.
fn rewrite_code_points(pattern: &str) -> String {
    let mut parts = pattern.split("\\u");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_at_checked(4) {
            Some((digits, rest)) if digits.chars().all(|c| c.is_ascii_hexdigit()) => {
                text.push_str(&format!("\\u{{{digits}}}{rest}"));
            }
            _ => text.push_str(&format!("\\u{part}")),
        }
    }
    text
}

/// Appends a text that an expression matches; whether there is one. `index` counts repetitions.
fn append(expression: &Hir, choice: Choice, index: usize, text: &mut String) -> bool {
    if text.len() > LONGEST {
        return false;
    }
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => {
            text.push_str(&String::from_utf8_lossy(&literal.0));
            true
        }
        HirKind::Class(class) => match member(class, index) {
            Some(character) => {
                text.push(character);
                true
            }
            None => false,
        },
        HirKind::Repetition(repeated) => {
            let least = repeated.min;
            let wanted = if choice == Choice::Fullest {
                least.max(if least == 0 { 1 } else { 2 })
            } else {
                least
            };
            let count = repeated.max.map_or(wanted, |most| wanted.min(most));
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            (0..count).all(|index| append(&repeated.sub, choice, index, text))
        }
        HirKind::Capture(group) => append(&group.sub, choice, index, text),
        HirKind::Concat(parts) => parts.iter().all(|part| append(part, choice, index, text)),
        HirKind::Alternation(parts) => {
            let one = if choice == Choice::Fullest { parts.last() } else { parts.first() };
            one.is_some_and(|one| append(one, choice, index, text))
        }
    }
}

/// A readable character of a class: letters and digits in their order, before all else.
fn member(class: &Class, index: usize) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => {
            class.ranges().iter().map(|one| (one.start(), one.end())).collect()
        }
        Class::Bytes(class) => class
            .ranges()
            .iter()
            .map(|one| (char::from(one.start()), char::from(one.end())))
            .collect(),
    };
    let holds = |wanted: char| ranges.iter().any(|(start, end)| *start <= wanted && wanted <= *end);
    let readable = ["abc", "ABC", "123", " ", "-"];
    let list = readable.iter().find(|list| list.chars().all(holds));
    match list {
        Some(list) => list.chars().nth(index % list.len()),
        None => ranges.first().map(|range| range.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match_the_expression_they_are_made_of() {
        let table: [(&str, &[&str]); 14] = [
            (r#"/["&<]/"#, &["\"\\\"\"", "\"&\"", "\"<\""]),
            (r"/^a+$/", &["\"aa\"", "\"a\""]),
            (r"/^(\d{1,3})(?:\.(\d+))?$/", &["\"12.12\"", "\"1\""]),
            (r"/^(-?\d+) *(ms|s)?$/i", &["\"-12 s\"", "\"1\""]),
            (r"/^[\u0021-\u003A]+\/x$/", &["\"12/x\"", "\"1/x\""]),
            (r"/; *([!#$%&'*+.^_`|~0-9A-Za-z-]+) *= *(.+) */g", &["\"; ab = ab \"", "\";a=a\""]),
            (r"/(?<year>\d{4})-x/", &["\"1231-x\""]),
            (r"/(?=a)b/", &[]),
            (r"/(a)\1/", &[]),
            (r#"re.compile(r"^(?P<year>\d{4})-x$")"#, &["\"1231-x\""]),
            ("re.match('a+' r'b', text)", &["\"aab\"", "\"ab\""]),
            ("re.compile(r'a b  # c', re.VERBOSE)", &["\"ab\""]),
            ("re.compile(pattern)", &[]),
            ("not one", &[]),
        ];
        for (literal, expected) in table {
            assert_eq!(matching_texts(literal), expected, "{literal}");
        }
    }
}
