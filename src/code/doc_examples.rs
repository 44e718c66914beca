//! Tests that stand inside of product files: examples in the documentation, and the test module of a
//! Rust source. The code around them may change where they may not.

use std::ops::Range;

use super::language::Language;

/// The mark of a test module, which conventionally ends a Rust source.
const TEST_MODULE: &str = "#[cfg(test)]";

/// The ranges of the tests inside of a product file, in order.
pub fn inner_tests(language: Language, text: &str) -> Vec<Range<usize>> {
    match language {
        Language::Python => python_examples(text),
        Language::Rust => {
            let module = text.find(TEST_MODULE).unwrap_or(text.len());
            let product = text.get(..module).unwrap_or_default();
            let mut found = rust_examples(product);
            found.extend((module < text.len()).then_some(module..text.len()));
            found
        }
        _ => Vec::new(),
    }
}

/// Whether there are examples that run as tests.
pub fn has_any(language: Language, text: &str) -> bool {
    !inner_tests(language, text).is_empty()
}

/// Whether an edit changes or removes tests inside of a product file; others may be added.
pub fn are_changed(language: Language, before: &str, after: &str) -> bool {
    let texts = |text: &str| -> Vec<String> {
        let ranges = inner_tests(language, text).into_iter();
        ranges.filter_map(|range| Some(text.get(range)?.trim().to_owned())).collect()
    };
    let mut kept = texts(after).into_iter();
    !texts(before).iter().all(|one| kept.any(|other| other == *one))
}

/// Lines with their byte ranges.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start..*at, line.trim()))
    })
}

/// A prompt of the interpreter with what it prints, up to a blank line or the end of the text.
fn python_examples(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for (range, line) in lines(text) {
        if line.starts_with(">>>") {
            found.push(range);
            is_open = true;
        } else if line.is_empty() || line.starts_with("\"\"\"") || line.starts_with("'''") {
            is_open = false;
        } else if let Some(last) = found.last_mut().filter(|_| is_open) {
            last.end = range.end;
        }
    }
    found
}

/// The fenced blocks of documentation comments.
fn rust_examples(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for (range, line) in lines(text) {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(comment) = comment.map(str::trim) else {
            is_open = false;
            continue;
        };
        match (comment.starts_with("```"), found.last_mut().filter(|_| is_open)) {
            (true, None) => found.push(range),
            (_, Some(last)) => last.end = range.end,
            (false, None) => continue,
        }
        is_open = is_open != comment.starts_with("```");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_may_change_where_its_examples_may_not() {
        use Language::{Python, Rust};
        let python = "def total(prices):\n    \"\"\"The sum.\n\n    >>> total([1, 2])\n    3\n\n    All of it.\n    \"\"\"\n    return 3\n";
        let rust = "/// Doubles.\n///\n/// ```\n/// assert_eq!(shop::twice(3), 3);\n/// ```\npub fn twice(n: u32) -> u32 {\n    n * 3\n}\n\n#[cfg(test)]\nmod tests {\n    // 9\n}\n";
        let both = format!("{python}\n\ndef f():\n    '''\n    >>> f()\n    1\n    '''\n");
        let table = [
            (Python, python, "return 3", "return sum(prices)", false),
            (Python, python, "All of it", "Everything", false),
            (Python, python, "    3\n\n", "    4\n\n", true),
            (Python, python, "[1, 2]", "[1, 1]", true),
            (Python, python, ">>> total([1, 2])\n    3\n", "", true),
            (Python, &both, "    >>> f()\n    1\n", "", true),
            (Rust, rust, "n * 3", "n * 2", false),
            (Rust, rust, "Doubles.", "Doubles a number.", false),
            (Rust, rust, "(3), 3)", "(3), 9)", true),
            (Rust, rust, "// 9", "// 8", true),
            (Rust, rust, "/// ```\n/// assert", "/// ```ignore\n/// assert", true),
        ];
        for (language, before, old, new, expected) in table {
            let after = before.replacen(old, new, 1);
            assert_ne!(before, after, "{old}");
            assert_eq!(are_changed(language, before, &after), expected, "{old} {new}");
            assert!(!are_changed(language, "", &after), "added: {new}");
        }
        assert!(!are_changed(Python, python, &both), "an example more");
    }
}
