//! What the documentation of each function says: the docstring, or the comment above it.

use super::language::Language;
use super::outline;

const LINES: usize = 20;

/// The documented functions of a text, with their lines, what is said of them and examples.
pub fn documented(language: Language, text: &str) -> Vec<(outline::Function, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let functions = outline::functions(language, text).into_iter();
    functions
        .filter_map(|function| {
            let start = usize::try_from(function.start).ok()?.checked_sub(1)?;
            let end = usize::try_from(function.end).ok()?;
            let said = if language == Language::Python {
                docstring(lines.get(start..end.min(lines.len()))?)
            } else {
                comment_above(lines.get(..start)?)
            };
            (!said.is_empty()).then_some((function, said))
        })
        .collect()
}

/// The string that follows the head of a Python function.
fn docstring(lines: &[&str]) -> String {
    let head = lines.iter().position(|line| line.trim_end().ends_with(':'));
    let body = head.and_then(|head| lines.get(head + 1..)).unwrap_or_default();
    let mut body = body.iter().map(|line| line.trim()).skip_while(|line| line.is_empty());
    let Some(first) = body.next() else { return String::new() };
    let first = first.trim_start_matches(['r', 'R', 'u', 'U']);
    let Some(quotes) = ["\"\"\"", "'''"].into_iter().find(|quotes| first.starts_with(quotes))
    else {
        return String::new();
    };
    let first = first.trim_start_matches(quotes);
    let mut said = Vec::new();
    for line in std::iter::once(first).chain(body) {
        match line.split_once(quotes) {
            Some((last, _)) => {
                said.push(last);
                break;
            }
            None => said.push(line),
        }
    }
    joined(&said)
}

/// The comment that ends directly above a function, without its marks.
fn comment_above(lines: &[&str]) -> String {
    let is_comment = |line: &str| ["//", "*", "/*"].iter().any(|mark| line.starts_with(mark));
    // Attributes and annotations may stand between.
    let is_attribute = |line: &str| line.starts_with("#[") || line.starts_with('@');
    let above = lines.iter().rev().map(|line| line.trim());
    let mut said: Vec<&str> = above
        .skip_while(|line| is_attribute(line))
        .take_while(|line| is_comment(line))
        .map(|line| line.trim_end_matches("*/").trim_start_matches(['/', '*', '!']).trim())
        .collect();
    said.reverse();
    joined(&said)
}

fn joined(lines: &[&str]) -> String {
    let lines = lines.iter().filter(|line| !line.is_empty()).take(LINES);
    lines.copied().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_of_every_language_is_found() {
        let table = [
            (
                Language::Python,
                "def total(\n    prices,\n):\n    \"\"\"The sum.\n\n    >>> total([1])\n    1\n    \"\"\"\n    return 0\n",
                "The sum.\n>>> total([1])\n1",
            ),
            (Language::Python, "def f():\n    '''One line.'''\n", "One line."),
            (
                Language::JavaScript,
                "/**\n * The sum.\n * @example total([1]) // 1\n */\nfunction total(a) {\n  return a;\n}\n",
                "The sum.\n@example total([1]) // 1",
            ),
            (Language::Go, "package a\n\n// F adds.\nfunc F() int {\n\treturn 1\n}\n", "F adds."),
            (Language::Rust, "/// Adds.\n#[must_use]\nfn f() {}\n", "Adds."),
            (Language::Java, "class A {\n  /** Adds. */\n  int f() { return 1; }\n}\n", "Adds."),
        ];
        for (language, text, expected) in table {
            let found = documented(language, text);
            assert_eq!(found.len(), 1, "{language:?}");
            assert_eq!(found[0].1, expected, "{language:?}");
        }
    }

    #[test]
    fn what_is_no_documentation_is_not_taken_for_it() {
        let table = [
            (Language::Python, "def f():\n    x = \"\"\"no\"\"\"\n    return x\n"),
            (Language::JavaScript, "// of something else\n\nfunction f() {\n  return 1;\n}\n"),
            (Language::Go, "package a\n\nfunc F() int {\n\treturn 1\n}\n"),
        ];
        for (language, text) in table {
            assert_eq!(documented(language, text), [], "{language:?}");
        }
    }
}
