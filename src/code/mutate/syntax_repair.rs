//! Edits that make a text parse again: one token more, less or another one near the first error.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::edit_site::Candidate;
use super::operator_id::OperatorId;
use crate::code::language::Language;
use crate::code::syntax;

/// Lines before the first error that are edited too: a parser notices an open bracket late.
const LINES_BEFORE: u32 = 3;

/// Edits that are checked at most.
const CHECKED: usize = 1500;

/// Words that begin a block in Python, whose line ends with a colon.
const PYTHON_BLOCKS: &[&str] = &[
    "def", "class", "if", "elif", "else", "for", "while", "try", "except", "finally", "with",
    "async",
];

/// Words whose misspelling makes a text unreadable.
fn keywords(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => &[
            "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "elif",
            "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
            "lambda", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
        ],
        Language::JavaScript | Language::TypeScript | Language::Tsx => &[
            "async",
            "await",
            "break",
            "case",
            "catch",
            "class",
            "const",
            "continue",
            "default",
            "else",
            "export",
            "extends",
            "finally",
            "for",
            "from",
            "function",
            "if",
            "import",
            "in",
            "instanceof",
            "interface",
            "let",
            "new",
            "of",
            "return",
            "static",
            "switch",
            "throw",
            "try",
            "type",
            "typeof",
            "var",
            "while",
        ],
        Language::Rust => &[
            "as", "break", "const", "continue", "else", "enum", "fn", "for", "if", "impl", "in",
            "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "static",
            "struct", "trait", "type", "use", "where", "while",
        ],
        Language::Go => &[
            "break",
            "case",
            "chan",
            "const",
            "continue",
            "default",
            "defer",
            "else",
            "for",
            "func",
            "go",
            "if",
            "import",
            "interface",
            "map",
            "package",
            "range",
            "return",
            "select",
            "struct",
            "switch",
            "type",
            "var",
        ],
        Language::Java => &[
            "break",
            "case",
            "catch",
            "class",
            "continue",
            "else",
            "extends",
            "final",
            "finally",
            "for",
            "if",
            "implements",
            "import",
            "interface",
            "new",
            "package",
            "private",
            "protected",
            "public",
            "return",
            "static",
            "switch",
            "throw",
            "throws",
            "try",
            "void",
            "while",
        ],
    }
}

/// Tokens that are typed in place of each other.
const CONFUSED: &[&[&str]] = &[
    &["=", "=="],
    &[":", "="],
    &[":", ";"],
    &[",", ".", ";"],
    &[")", "]", "}"],
    &["(", "[", "{"],
    &["=>", "->"],
];

static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#""[^"\n]*"|'[^'\n]*'|[\w$]+|=>|->|[=!<>]=|&&|\|\||[^\s\w]"#).ok()
});

/// Single edits near a syntax error after which the text parses, likeliest first.
pub fn syntax_repairs(language: Language, source: &str, named: &[u32]) -> Vec<Candidate> {
    let Some(error) = syntax::first_error(language, source) else { return Vec::new() };
    let mut edits = Vec::new();
    let mut start = 0;
    for (index, text) in source.split_inclusive('\n').enumerate() {
        let line = u32::try_from(index + 1).unwrap_or(u32::MAX);
        // Behind the last line, a parser misses what should have been there.
        let is_near = |of: u32| line <= of && line + LINES_BEFORE >= of;
        if is_near(error.line) || named.iter().any(|of| is_near(*of)) {
            of_line(language, start, text.trim_end_matches(['\n', '\r']), line, &mut edits);
        }
        start += text.len();
    }
    edits.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    edits.truncate(CHECKED);
    let mut seen = BTreeSet::new();
    edits.retain(|edit| {
        let after = edit.apply(source);
        syntax::first_error(language, &after).is_none() && seen.insert(after)
    });
    edits
}

/// The edits of one line that begins at the byte `start`.
fn of_line(language: Language, start: usize, text: &str, line: u32, edits: &mut Vec<Candidate>) {
    let mut put = |from: usize, to: usize, new: &str, weight: f64| {
        let (range, text) = (start + from..start + to, new.to_owned());
        edits.push(Candidate { range, text, operator: OperatorId::Syntax, line, weight });
    };
    let tokens: Vec<regex::Match<'_>> =
        TOKEN.iter().flat_map(|token| token.find_iter(text)).collect();
    let end = text.trim_end().len();
    if end == 0 {
        return;
    }
    let is_block = tokens.first().is_some_and(|first| PYTHON_BLOCKS.contains(&first.as_str()));
    let yields = OperatorId::Syntax.base_yield();
    if language == Language::Python && is_block && !text.trim_end().ends_with(':') {
        put(end, end, ":", 3.0 * yields);
    }
    let needs_end = matches!(language, Language::Java | Language::Rust);
    if needs_end && !text.trim_end().ends_with([';', '{', '}', ',']) {
        put(end, end, ";", 1.5 * yields);
    }
    let last = tokens.len();
    for boundary in 0..=last {
        let before = boundary.checked_sub(1).and_then(|index| tokens.get(index));
        let at =
            before.map_or_else(|| tokens.first().map_or(0, regex::Match::start), regex::Match::end);
        // What is missing is mostly missing near the end.
        let near = if boundary + 2 >= last { 1.0 } else { 0.5 };
        for (token, weight) in [
            (")", 1.0),
            ("]", 0.8),
            ("}", 0.8),
            (",", 0.7),
            ("(", 0.5),
            ("\"", 0.5),
            ("'", 0.5),
            (":", 0.4),
            ("[", 0.3),
            ("{", 0.3),
        ] {
            put(at, at, token, weight * near * yields);
        }
    }
    for token in &tokens {
        let word = token.as_str();
        let is_word = word.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        if is_word {
            for keyword in keywords(language).iter().filter(|keyword| is_misspelt(word, keyword)) {
                put(token.start(), token.end(), keyword, 2.5 * yields);
            }
        } else {
            put(token.start(), token.end(), "", 0.8 * yields);
            let groups = CONFUSED.iter().filter(|group| group.contains(&word));
            for other in groups.flat_map(|group| group.iter()).filter(|other| **other != word) {
                put(token.start(), token.end(), other, 0.7 * yields);
            }
        }
        if is_word {
            put(token.start(), token.end(), "", 0.2 * yields);
        }
    }
}

/// Whether a word is a keyword with one letter wrong, missing, extra or swapped.
fn is_misspelt(word: &str, keyword: &str) -> bool {
    if word == keyword || keyword.len() < 3 || word.len().abs_diff(keyword.len()) > 1 {
        return false;
    }
    let (word, keyword): (Vec<char>, Vec<char>) =
        (word.chars().collect(), keyword.chars().collect());
    let same = word.iter().zip(&keyword).take_while(|(a, b)| a == b).count();
    let (word, keyword) =
        (word.get(same..).unwrap_or_default(), keyword.get(same..).unwrap_or_default());
    match (word, keyword) {
        ([_, rest @ ..], [_, other @ ..]) if rest == other => true,
        ([_, rest @ ..], _) if rest == keyword => true,
        (_, [_, rest @ ..]) if rest == word => true,
        ([a, b, rest @ ..], [c, d, other @ ..]) => a == d && b == c && rest == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_token_more_less_or_another_makes_a_text_parse() {
        let table = [
            (
                Language::Python,
                "def f(xs)\n    return sum(xs)\n",
                "def f(xs):\n    return sum(xs)\n",
            ),
            (Language::Python, "def f(x):\n    retrun x\n", "def f(x):\n    return x\n"),
            (Language::Python, "def f(x):\n    return g(x\n", "def f(x):\n    return g(x)\n"),
            (Language::Python, "def f(x):\n    return (x))\n", "def f(x):\n    return (x)\n"),
            (Language::Python, "if x = 1:\n    y = 2\n", "if x == 1:\n    y = 2\n"),
            (Language::JavaScript, "const a = [1, 2;\n", "const a = [1, 2];\n"),
            (
                Language::JavaScript,
                "fucntion f(a) { return a; }\n",
                "function f(a) { return a; }\n",
            ),
            (Language::TypeScript, "const f = (a: number => a;\n", "const f = (a: number) => a;\n"),
            (
                Language::Rust,
                "fn f() -> i32 {\n    let x = 1\n    x\n}\n",
                "fn f() -> i32 {\n    let x = 1;\n    x\n}\n",
            ),
            (
                Language::Go,
                "package a\n\nfunc f() int {\n\treturn g(1\n}\n",
                "package a\n\nfunc f() int {\n\treturn g(1)\n}\n",
            ),
            (
                Language::Java,
                "class A {\n  int f() {\n    return 1\n  }\n}\n",
                "class A {\n  int f() {\n    return 1;\n  }\n}\n",
            ),
        ];
        for (language, broken, whole) in table {
            let repairs = syntax_repairs(language, broken, &[]);
            let at = repairs.iter().position(|edit| edit.apply(broken) == whole);
            assert!(at.is_some_and(|at| at < 5), "{broken}: {at:?} of {repairs:#?}");
        }
    }

    #[test]
    fn the_line_that_a_compiler_names_is_edited_where_the_parser_names_another() {
        let broken = "def price(x):\n    return x + 1\n\ndef total(xs)\n    return sum(xs)\n";
        let repairs = syntax_repairs(Language::Python, broken, &[4]);
        let whole = broken.replace("(xs)\n    ret", "(xs):\n    ret");
        assert_eq!(repairs.first().map(|edit| edit.apply(broken)), Some(whole));
    }

    #[test]
    fn a_text_that_parses_and_one_that_is_broken_twice_have_no_repair() {
        assert!(syntax_repairs(Language::Python, "x = 1\n", &[]).is_empty());
        let twice = "def f(\n    x = = 1\n\n\n\n\n\nclass A(\n    y = = 2\n";
        assert!(syntax_repairs(Language::Python, twice, &[]).is_empty());
    }

    #[test]
    fn misspelt_keywords_are_recognised() {
        let table = [
            ("retrun", "return", true),
            ("retun", "return", true),
            ("returnn", "return", true),
            ("returm", "return", true),
            ("return", "return", false),
            ("result", "return", false),
            ("of", "if", false),
            ("fo", "for", true),
        ];
        for (word, keyword, expected) in table {
            assert_eq!(is_misspelt(word, keyword), expected, "{word}");
        }
    }
}
