//! Examples in docstrings, comments, pages of documentation and requests: in blocks of code, and in running
//! text as calls in backticks with their results beside them.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::tree::{text_of, visit};
use crate::domain::id::RepoPath;

use super::compiled_examples::rust_documentation;
use super::example_statements::{blocks_of_kind, code_blocks, prompt_statements};
use super::example_variables::{inline_variables, is_whole_repr, own_maker};
use super::examples::{DocumentedResult, Example, class_name, read_example, read_examples};
use super::java_examples::java_page_examples;

/// Words between a call and its result.
const GIVES: &[&str] = &[
    "returns", "return", "gives", "give", "is", "be", "yields", "equals", "->", "=>", "→", "==",
    "=",
];

/// Words between a call and the exception that it raises.
const RAISES: &[&str] = &["raises", "raise", "throws", "throw"];

/// Words that may stand between beside one of the others.
const FILLERS: &[&str] = &["must", "should", "shall", "will", "a", "an", "the", "to"];

/// The examples in a page of documentation that call one of `names`: those in its blocks of code and
/// in backticks, and prompts of the interpreter anywhere.
pub fn page_examples(language: Language, page: &str, names: &BTreeSet<String>) -> Vec<Example> {
    let mut found = match language {
        Language::Python | Language::Rust => read_examples(language, page),
        Language::Java => java_page_examples(&blocks_of_kind(page, "java")),
        _ => read_examples(language, &code_blocks(page)),
    };
    if !matches!(language, Language::Rust | Language::Go | Language::Java) {
        found.extend(inline_examples(language, page));
    }
    let makes_own = |made: &str| own_maker(made).split('.').any(|part| names.contains(part));
    found.retain(|one| {
        let object = one.receiver.as_deref().filter(|made| one.is_read || made.contains('('));
        names.contains(&one.name) || object.is_some_and(makes_own)
    });
    found
}

/// The calls of functions in `names` at prompts of the interpreter whose shown result no test can hold.
pub fn unread_examples(
    language: Language,
    text: &str,
    names: &BTreeSet<String>,
) -> BTreeSet<String> {
    if language != Language::Python {
        return BTreeSet::new();
    }
    let text = text.replace("\"\"\"", "\n").replace("'''", "\n");
    let statements = inline_variables(language, prompt_statements(&text)).into_iter();
    let unread = statements.filter(|one| {
        let read = read_example(language, &one.code, &one.shown);
        let is_held = |one: Example| {
            (one.receiver.is_some() || names.contains(&one.name))
                && (one.result.is_some() || one.printed.is_some_and(|shown| is_whole_repr(&shown)))
        };
        let is_call = names.iter().any(|name| one.code.contains(&format!("{name}(")));
        let is_unread = !one.shown.is_empty() && !read.is_some_and(is_held);
        is_call && (is_unread || one.is_uncertain)
    });
    unread.map(|one| one.code).collect()
}

/// Whether pages of documentation that name a function mean the one in this file, though others have one of
/// its name: what a package is imported by.
pub fn is_entry_point(file: &RepoPath) -> bool {
    matches!(file.stem(), "index" | "__init__")
}

/// Whether a file is a page of documentation that may show examples.
pub fn is_page(file: &RepoPath) -> bool {
    matches!(file.extension(), "md" | "markdown" | "rst")
}

/// The examples in the docstrings or comments of a source.
pub fn source_examples(language: Language, root: Node<'_>, text: &str) -> Vec<Example> {
    let mut found = Vec::new();
    if language == Language::Rust {
        let comments = rust_documentation(text);
        return comments.iter().flat_map(|one| read_examples(language, one)).collect();
    }
    visit(root, |node| {
        let is_said = match language {
            Language::Python => node.kind() == "string",
            _ => node.kind() == "comment",
        };
        if is_said {
            let said = text_of(node, text);
            let is_literal = language == Language::Python;
            let quoted = said.trim_start_matches(['r', 'R', 'u', 'U']);
            let is_long = quoted.starts_with("\"\"\"") || quoted.starts_with("'''");
            let said = if is_literal { docstring_text(said) } else { said.to_owned() };
            found.extend(read_examples(language, &said));
            if language != Language::Go && (!is_literal || is_long) {
                found.extend(inline_examples(language, &said));
            }
        }
        !is_said
    });
    found
}

/// The content of a docstring as the program has it: an escaped backslash is one, unless the literal
/// is raw.
fn docstring_text(text: &str) -> String {
    let is_raw = text.starts_with(['r', 'R']);
    let text = text.trim_start_matches(['r', 'R', 'u', 'U']);
    let quotes = ["\"\"\"", "'''"];
    let inner = |quotes: &&str| text.strip_prefix(*quotes)?.strip_suffix(*quotes);
    let inner = quotes.iter().find_map(inner).unwrap_or(text);
    if is_raw {
        return inner.to_owned();
    }
    let mut found = String::new();
    let mut characters = inner.chars();
    while let Some(c) = characters.next() {
        match if c == '\\' { characters.next() } else { None } {
            None => found.push(c),
            Some('n') => found.push('\n'),
            Some('t') => found.push('\t'),
            Some('\n') => {}
            Some(escaped @ ('\\' | '"' | '\'')) => found.push(escaped),
            Some(other) => found.extend(['\\', other]),
        }
    }
    found
}

/// The examples of a text, such as `` `fee(3)` returns `4` `` and `` `fee(3) == 4` ``.
fn inline_examples(language: Language, text: &str) -> Vec<Example> {
    text.lines().flat_map(|line| examples_of_line(language, line)).collect()
}

fn examples_of_line(language: Language, line: &str) -> Vec<Example> {
    let parts: Vec<&str> = line.split('`').collect();
    let mut found = Vec::new();
    if parts.len() == 1 && language == Language::Python {
        found.extend(example_of_plain_line(line));
    }
    for (at, code) in parts.iter().enumerate().skip(1).step_by(2) {
        let mut compared = [" === ", " == ", " => ", " -> ", " → "].iter();
        if let Some((call, result)) = compared.find_map(|mark| code.split_once(mark)) {
            found.extend(read_example(language, call.trim(), result.trim()));
            continue;
        }
        let Some(plain) = read_example(language, code.trim(), "") else { continue };
        let next = parts.get(at + 2).filter(|_| parts.len() > at + 3).copied();
        let words = parts.get(at + 1).copied().unwrap_or_default();
        let result = joined(language, code, words, next);
        found.push(Example { result, ..plain });
    }
    found
}

/// The example that a line without backticks is as a whole: `fee(3)  # => 4`, `fee(3) -> 4` and
/// `assert fee(3) == 4`.
fn example_of_plain_line(line: &str) -> Option<Example> {
    let line = line.trim();
    let (call, result) = match line.strip_prefix("assert ") {
        Some(asserted) => asserted.split_once(" == ")?,
        None => ["# => ", "#=> ", "# -> ", " -> ", " => "]
            .iter()
            .find_map(|mark| line.split_once(mark))?,
    };
    let found = read_example(Language::Python, call.trim(), result.trim())?;
    found.result.is_some().then_some(found)
}

/// The result that the words behind a call state, in themselves or in the `next` backticks.
fn joined(
    language: Language,
    call: &str,
    words: &str,
    next: Option<&str>,
) -> Option<DocumentedResult> {
    let parts: Vec<&str> = words.split_whitespace().collect();
    let is_verb = |word: &&str| GIVES.contains(word) || RAISES.contains(word);
    let verb = parts.iter().position(is_verb)?;
    let is_filler = |word: &&str| FILLERS.contains(word);
    let (before, behind) = (parts.get(..verb)?, parts.get(verb + 1..)?);
    let behind: Vec<&str> = behind.iter().skip_while(|word| is_filler(word)).copied().collect();
    if !before.iter().all(is_filler) {
        return None;
    }
    let said = if behind.is_empty() { next?.to_owned() } else { statement_end(&behind.join(" ")) };
    if parts.get(verb).is_some_and(|word| RAISES.contains(word)) {
        return class_name(&said).map(DocumentedResult::Raised);
    }
    read_example(language, call.trim(), &said)?.result
}

/// A text up to where its clause ends.
fn statement_end(text: &str) -> String {
    let ends = [", ", "; ", " for ", " when ", " if ", " because ", " and ", ". "];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    text.get(..end).unwrap_or(text).trim_end_matches(['.', ',', ';', ':', '!']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_in_a_docstring_are_those_of_its_literal() {
        let table = [
            (r#""""a\\nb""""#, r"a\nb"),
            (r#"r"""a\nb""""#, r"a\nb"),
            (r"'''a\tb \d'''", "a\tb \\d"),
        ];
        for (literal, expected) in table {
            assert_eq!(docstring_text(literal), expected, "{literal}");
        }
    }

    #[test]
    fn calls_in_running_text_have_their_results_beside_them() {
        let value = |text: &str| Some(DocumentedResult::Value(text.to_owned()));
        let raised = |text: &str| Some(DocumentedResult::Raised(text.to_owned()));
        let table = [
            (Language::Python, "- `fee(3)` returns `4` at once", value("4")),
            (Language::Python, "`shop.fee(3, kind='a') == 'x'`", value("'x'")),
            (Language::Python, "`fee(3)` must be `[1, 2]`, not `[1]`", value("[1, 2]")),
            (Language::Python, "`fee(3)` should not be `4`", None),
            (Language::Python, "`fee(-1)` raises a `ValueError`", raised("ValueError")),
            (Language::Python, "`fee(3)` calls `gift`", None),
            (Language::Python, "- `fee(3)` returns 480", value("480")),
            (Language::Python, "`fee(3)` must be 'a b', always.", value("'a b'")),
            (Language::Python, "`fee(-1)` raises ValueError for less", raised("ValueError")),
            (Language::Python, "`fee(3)` returns 4 items", None),
            (Language::Python, "`fee(3)` returns what `gift` says", None),
            (Language::Python, "    fee(3)   # => 4", value("4")),
            (Language::Python, "    assert fee(3) == 'a'", value("'a'")),
            (Language::Python, "fee(3) -> [1]", value("[1]")),
            (Language::JavaScript, "`fee(3)` gives `{ a: 1 }`", value("{ a: 1 }")),
            (Language::JavaScript, "`fee(null)` throws `TypeError`", raised("TypeError")),
            (Language::JavaScript, "`fee(3) === 4`", value("4")),
        ];
        for (language, text, expected) in table {
            let found = inline_examples(language, text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].result, expected, "{text}");
        }
        for text in ["`fee`", "fee(3) returns 4", "`fee(x)` returns `4`", "`fee(3"] {
            assert_eq!(inline_examples(Language::Python, text), [], "{text}");
        }
    }

    #[test]
    fn pages_give_the_examples_of_known_names() {
        let names = BTreeSet::from(["add".to_owned()]);
        let page = "# Add\n\nadd(9) // => 9\n\n```js\nimport { add } from 'add';\nadd(1, 2) // => 3\nother(1) // => 1\n```\n\nadd(8) // => 8\n";
        let found = page_examples(Language::JavaScript, page, &names);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].result, Some(DocumentedResult::Value("3".into())));
        let page = "Use it::\n\n    >>> add(1, 2)\n    3\n    >>> other(1)\n    1\n";
        let found = page_examples(Language::Python, page, &names);
        assert_eq!(found.len(), 1, "{found:?}");
        let page = ">>> import shop as s\n>>> s.add(1).half(2)\n1\n>>> s.other(1).half(2)\n1\n";
        let found = page_examples(Language::Python, page, &names);
        assert_eq!(found.len(), 1, "a method of what is known: {found:?}");
        let page = "Use it::\n\n    >>> add(1, 2)\n    3\n    >>> other(1)\n    1\n";
        let rows: String = (0..40).map(|n| format!(">>> other({n})\n1\n")).collect();
        let found = page_examples(Language::Python, &format!("{rows}{page}"), &names);
        assert_eq!(found.len(), 1, "however many are shown of others: {found:?}");
    }
}
