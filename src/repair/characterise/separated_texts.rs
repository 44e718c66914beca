//! Texts that a function takes apart, put together with the separators that it looks for.

use super::literal_values::string_content;

/// The most separators in one text.
const SEPARATORS: usize = 5;

/// The longest separator, in characters.
const LONGEST: usize = 4;

/// Separators between a name and its value, and texts that are put behind such a name.
const ASSIGNING: &[&str] = &["=", ":"];
const NAMES: usize = 8;

/// Texts with the separators among some literals of a function, in the order of the code, between
/// numbers and between words: `1=2,3-4` and `a=b,c-d` for `'='`, `','` and `'-'`; and what matches its
/// regular expressions behind a name: `a[b]=c`.
pub fn separated_texts(literals: &[String], matching: &[String]) -> Vec<String> {
    let mut separators: Vec<&str> = Vec::new();
    for literal in literals.iter().filter_map(|literal| read_separator(literal)) {
        if !separators.contains(&literal) && separators.len() < SEPARATORS {
            separators.push(literal);
        }
    }
    if separators.is_empty() {
        return Vec::new();
    }
    let joined = |separators: &[&str], parts: &str| {
        let mut text = String::new();
        for (index, part) in parts.chars().take(separators.len() + 1).enumerate() {
            text.push(part);
            text.push_str(separators.get(index).copied().unwrap_or_default());
        }
        format!("\"{text}\"")
    };
    let mut found = vec![joined(&separators, "123456"), joined(&separators, "abcdef")];
    if separators.len() > 1 {
        separators.reverse();
        found.push(joined(&separators, "a1b2c3"));
    }
    if let Some(sign) = separators.iter().find(|one| ASSIGNING.contains(one)) {
        let behind = matching.iter().filter_map(|text| string_content(text)).take(NAMES);
        found.extend(behind.map(|text| format!("\"a{text}{sign}b\"")));
    }
    found
}

/// The content of a literal that may separate parts of a text.
pub fn read_separator(literal: &str) -> Option<&str> {
    let inner = string_content(literal)?;
    let is_sign =
        |c: char| !c.is_alphanumeric() && !c.is_control() && !matches!(c, '\\' | '"' | '\'');
    let is_short = (1..=LONGEST).contains(&inner.chars().count());
    (is_short && inner.chars().all(is_sign)).then_some(inner)
}

/// In JavaScript, values of the kinds of objects that a function names.
pub fn named_kinds(literals: &[String]) -> Vec<String> {
    let is_named = |kind: &str| {
        literals.iter().any(|one| one.trim_matches(['"', '\'']).eq_ignore_ascii_case(kind))
    };
    let named = KINDS.iter().filter(|(kind, _)| is_named(kind));
    let made = CONSTRUCTED.split_whitespace().filter(|kind| is_named(kind));
    let named = named.map(|(_, value)| (*value).to_owned());
    named.chain(made.map(|kind| format!("new {kind}()"))).collect()
}

/// Kinds whose constructors need no argument.
const CONSTRUCTED: &str = "Map Set WeakMap WeakSet Int8Array Uint8Array Uint8ClampedArray Int16Array \
    Uint16Array Int32Array Uint32Array Float32Array Float64Array";

/// Kinds of objects, by the names that `typeof` and constructors give, with a value of each.
const KINDS: &[(&str, &str)] = &[
    ("symbol", "Symbol(\"a\")"),
    ("bigint", "1n"),
    ("date", "new Date(0)"),
    ("regexp", "/a/"),
    ("error", "new Error(\"a\")"),
    ("promise", "Promise.resolve(1)"),
    ("buffer", "Buffer.from(\"a\")"),
    ("function", "() => 1"),
    ("generatorfunction", "function* () {}"),
    ("generator", "(function* () {})()"),
    ("arguments", "(function () { return arguments; })()"),
    ("arraybuffer", "new ArrayBuffer(1)"),
    ("mapiterator", "new Map().entries()"),
    ("setiterator", "new Set().values()"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(list: &[&str]) -> Vec<String> {
        list.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn separators_join_numbers_and_words() {
        let table: [(&[&str], &[&str]); 5] = [
            (&["'='", "','", "'-'", "'='"], &["\"1=2,3-4\"", "\"a=b,c-d\"", "\"a-1,b=2\""]),
            (&["\"://\""], &["\"1://2\"", "\"a://b\""]),
            (&["'abc'", "''", "1", "'-----'", "'\\n'"], &[]),
            (&["'<!--'", "'>'"], &["\"1<!--2>3\"", "\"a<!--b>c\"", "\"a>1<!--b\""]),
            (&["\" \"", "'.'"], &["\"1 2.3\"", "\"a b.c\"", "\"a.1 b\""]),
        ];
        for (literals, expected) in table {
            assert_eq!(separated_texts(&owned(literals), &[]), expected, "{literals:?}");
        }
        let found = separated_texts(&owned(&["'&'", "'='"]), &owned(&["\"[a]\"", "\"\\n\""]));
        assert_eq!(found.last().map(String::as_str), Some("\"a[a]=b\""));
    }

    #[test]
    fn kinds_that_are_named_have_values() {
        let found = named_kinds(&owned(&["'Map'", "'regexp'", "'x'"]));
        assert_eq!(found, ["/a/", "new Map()"]);
    }
}
