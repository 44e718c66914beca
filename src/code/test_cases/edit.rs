//! Locates the tests in the source of a test file, deletes some of them, or reverses their order.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::code::language::Language;
use crate::code::syntax;
use crate::code::tree::{around, named_nodes};

use super::find::find_tests;

/// A test as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTest {
    /// The name, or the title.
    pub name: String,
    /// The class that contains it; empty if there is none.
    pub class: String,
    /// The first line, from 1.
    pub start: u32,
    pub end: u32,
    /// The range of the test, marks before it included.
    range: Range<usize>,
    /// Identifies the block around it.
    block: usize,
}

impl SourceTest {
    /// Whether this test may have produced a result with this id. A parametrised test has many ids.
    pub fn runs_as(&self, id: &str) -> bool {
        runs_as(&self.name, &self.class, id)
    }
}

/// Whether a test with this name, in this class or in none, may have produced a result with this id.
pub(super) fn runs_as(name: &str, class: &str, id: &str) -> bool {
    // Values of one of many runs follow the name in brackets.
    let plain = match id.split_once('[') {
        Some((before, _)) if id.ends_with(']') => before,
        _ => id,
    };
    let title = name.split(['%', '$']).next().unwrap_or_default();
    let named = if title.len() < name.len() {
        !title.is_empty() && plain.contains(title)
    } else {
        plain.strip_suffix(name).is_some_and(|before| {
            before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
    };
    named && (class.is_empty() || plain.contains(class))
}

/// The tests of a text in order; none if the text is nested too deeply.
pub fn source_tests(language: Language, text: &str) -> Vec<SourceTest> {
    let Some(tree) = language.parse(text) else { return Vec::new() };
    find_tests(language, &named_nodes(tree.root_node()), text)
        .into_iter()
        .map(|test| {
            let lines = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count();
            let number = |at: usize| u32::try_from(lines(at) + 1).unwrap_or(u32::MAX);
            SourceTest {
                class: test.class(text).to_owned(),
                start: number(test.range.start),
                end: number(test.range.end),
                block: test.block,
                name: test.name,
                range: test.range,
            }
        })
        .collect()
}

/// The text without some of its tests; `None` if no test would remain or the rest would not parse.
pub fn without(
    language: Language,
    text: &str,
    gone: &dyn Fn(&SourceTest) -> bool,
) -> Option<String> {
    let all = source_tests(language, text);
    let (out, left): (Vec<&SourceTest>, Vec<&SourceTest>) = all.iter().partition(|case| gone(case));
    if left.is_empty() {
        return None;
    }
    let classes: BTreeSet<&str> = left.iter().map(|case| case.class.as_str()).collect();
    let mut cuts: Vec<Range<usize>> = Vec::new();
    for case in out {
        let empty = !case.class.is_empty() && !classes.contains(case.class.as_str());
        let range = if empty { class_around(language, text, case) } else { case.range.clone() };
        if !cuts.contains(&range) {
            cuts.push(range);
        }
    }
    cuts.sort_by_key(|cut| std::cmp::Reverse(cut.start));
    let mut new = text.to_owned();
    for cut in cuts {
        let start = text.get(..cut.start)?.rfind('\n').map_or(0, |at| at + 1);
        let start = if text.get(start..cut.start)?.trim().is_empty() { start } else { cut.start };
        let end = text.get(cut.end..)?.find('\n').map_or(text.len(), |at| cut.end + at + 1);
        let end = if text.get(cut.end..end)?.trim().is_empty() { end } else { cut.end };
        new.replace_range(start..end, "");
    }
    syntax::first_error(language, &new).is_none().then_some(new)
}

/// The byte range of the class that contains a test, or of the test itself if there is none.
fn class_around(language: Language, text: &str, test: &SourceTest) -> Range<usize> {
    let found = || {
        let tree = language.parse(text)?;
        let inner = tree.root_node().descendant_for_byte_range(test.range.start, test.range.end)?;
        around(inner, &["class_definition", "class_declaration"]).map(|class| class.byte_range())
    };
    found().unwrap_or_else(|| test.range.clone())
}

/// The text with the tests of each block in reverse order.
pub fn with_tests_reversed(language: Language, text: &str) -> String {
    let all = source_tests(language, text);
    let mut new = text.to_owned();
    // Work from the end, so that earlier ranges stay valid.
    for case in all.iter().rev() {
        let block: Vec<&SourceTest> = all.iter().filter(|one| one.block == case.block).collect();
        let at = block.iter().position(|one| one.range == case.range).unwrap_or_default();
        let other = block.get(block.len() - 1 - at).map(|one| one.range.clone());
        if let Some(piece) = other.and_then(|range| text.get(range)) {
            new.replace_range(case.range.clone(), piece);
        }
    }
    if syntax::first_error(language, &new).is_none() { new } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: &str = "import pytest\n\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_a(n):\n    assert n\n\n\nclass TestB:\n    def test_c(self):\n        assert 1\n\n\ndef test_d():\n    def test_inner():\n        return 1\n    assert test_inner()\n";
    const SCRIPT: &str = "const test = require('node:test');\ndescribe('x', () => {\n  it('adds', () => { one(); });\n  it.each([1])('takes %s', (n) => { two(n); });\n});\ntest('ends', async () => { three(); });\n";

    #[test]
    fn tests_of_every_language_are_found() {
        let table = [
            (Language::Python, PYTHON, vec!["test_a", "test_c", "test_d"]),
            (Language::JavaScript, SCRIPT, vec!["adds", "takes %s", "ends"]),
            (
                Language::Rust,
                "#[test]\nfn a() {}\n#[tokio::test]\nasync fn b() {}\n#[inline]\nfn c() {}\n",
                vec!["a", "b"],
            ),
            (Language::Go, "package a\nfunc TestA(t *testing.T) {}\nfunc b() {}\n", vec!["TestA"]),
            (Language::Java, "class A { @Test void a() {} void b() {} }\n", vec!["a"]),
            (Language::Python, "def broken(:\n", vec![]),
        ];
        for (language, text, expected) in table {
            let names: Vec<String> =
                source_tests(language, text).into_iter().map(|case| case.name).collect();
            assert_eq!(names, expected, "{text}");
        }
    }

    #[test]
    fn a_piece_is_known_by_the_ids_it_runs_under() {
        let python = source_tests(Language::Python, PYTHON);
        let script = source_tests(Language::JavaScript, SCRIPT);
        let table = [
            (&python[0], "tests/test_x.py::test_a[1]", true),
            (&python[0], "tests/test_x.py::test_a", true),
            (&python[0], "tests/test_x.py::test_test_a", false),
            (&python[1], "tests.test_x.TestB.test_c", true),
            (&python[1], "tests.test_x.Other.test_c", false),
            (&script[0], "test/x.test.js::x > adds", true),
            (&script[1], "test/x.test.js::x > takes 1", true),
            (&script[2], "test/x.test.js::x > adds", false),
        ];
        for (case, id, expected) in table {
            assert_eq!(case.runs_as(id), expected, "{} {id}", case.name);
        }
    }

    #[test]
    fn tests_are_cut_out_and_reversed_and_the_rest_parses() {
        let left = without(Language::Python, PYTHON, &|case| case.name != "test_d").unwrap();
        assert_eq!(
            left,
            "import pytest\n\n\n\n\n\n\ndef test_d():\n    def test_inner():\n        return 1\n    assert test_inner()\n"
        );
        assert_eq!(without(Language::Python, PYTHON, &|_| true), None, "no test is left");
        let left = without(Language::JavaScript, SCRIPT, &|case| case.name == "adds").unwrap();
        assert!(!left.contains("one()") && left.contains("two(n)"), "{left}");
        let reversed = with_tests_reversed(Language::JavaScript, SCRIPT);
        let at = |text: &str| reversed.find(text).unwrap();
        assert!(at("two(n)") < at("one()") && at("one()") < at("three()"), "{reversed}");
        let reversed = with_tests_reversed(Language::Python, PYTHON);
        assert!(reversed.find("test_d").unwrap() < reversed.find("test_a").unwrap(), "{reversed}");
    }

    use proptest::prelude::*;

    #[test]
    fn names_with_values_run_under_many_ids() {
        let text = "test('adds $a to %d', () => { f(); });\ntest('adds', () => { f(); });\n";
        let tests = source_tests(Language::JavaScript, text);
        let table = [
            (0, "x.test.js::adds 1 to 2", true),
            (0, "x.test.js::subtracts 1", false),
            (1, "x.test.js::adds", true),
            (1, "x.test.js::radds", false),
            (1, "x.test.js::adds[1-2]", true),
            (1, "x.test.js::adds more", false),
        ];
        for (at, id, expected) in table {
            assert_eq!(tests[at].runs_as(id), expected, "{} {id}", tests[at].name);
        }
    }

    #[test]
    fn the_last_test_of_a_class_takes_the_class_with_it() {
        let text = "class TestA:\n    def test_one(self):\n        assert 1\n\n\nclass TestB:\n    def test_two(self):\n        assert 2\n\n    def test_three(self):\n        assert 3\n";
        let left = without(Language::Python, text, &|test| test.name == "test_one").unwrap();
        assert!(!left.contains("TestA") && left.contains("test_three"), "{left}");
        let left = without(Language::Python, text, &|test| test.name == "test_two").unwrap();
        assert!(left.contains("class TestB:") && !left.contains("test_two"), "{left}");
        let same = without(Language::Python, text, &|_| false);
        assert_eq!(same.as_deref(), Some(text));
    }

    /// A test file in a language, with one test per number.
    fn suite(language: Language, numbers: &[u8]) -> String {
        let test = |n: &u8| match language {
            Language::Python => format!("def test_{n}():\n    assert {n}\n\n\n"),
            Language::Go => format!("func Test{n}(t *testing.T) {{ f({n}) }}\n\n"),
            Language::Rust => format!("#[test]\nfn t{n}() {{ assert_eq!({n}, f()); }}\n\n"),
            Language::Java => format!("  @Test void t{n}() {{ f({n}); }}\n"),
            _ => format!("test('t{n}', () => {{ f({n}); }});\n"),
        };
        let body: String = numbers.iter().map(test).collect();
        match language {
            Language::Go => format!("package a\n\n{body}"),
            Language::Java => format!("class ATest {{\n{body}}}\n"),
            _ => body,
        }
    }

    const LANGUAGES: [Language; 5] =
        [Language::Python, Language::JavaScript, Language::Rust, Language::Go, Language::Java];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// The result has exactly the tests that were not deleted, in their order.
        #[test]
        fn exactly_the_tests_that_are_named_are_cut(
            numbers in prop::collection::btree_set(0u8..30, 2..7), gone in prop::collection::btree_set(0u8..30, 0..5),
        ) {
            let numbers: Vec<u8> = numbers.into_iter().collect();
            for language in LANGUAGES {
                let text = suite(language, &numbers);
                let names: Vec<String> = source_tests(language, &text).into_iter().map(|t| t.name).collect();
                prop_assert_eq!(names.len(), numbers.len(), "{}", text);
                let cut: BTreeSet<&String> =
                    names.iter().zip(&numbers).filter(|(_, n)| gone.contains(n)).map(|(name, _)| name).collect();
                let expected: Vec<&String> = names.iter().filter(|name| !cut.contains(name)).collect();
                let left = without(language, &text, &|test| cut.contains(&test.name));
                prop_assert_eq!(left.is_some(), !expected.is_empty());
                if let Some(left) = left {
                    let found = source_tests(language, &left);
                    prop_assert_eq!(found.iter().map(|t| &t.name).collect::<Vec<_>>(), expected, "{}", left);
                }
            }
        }

        /// Reversing once reverses the order of the tests, and reversing twice restores the text.
        #[test]
        fn reversed_tests_are_reversed_back(numbers in prop::collection::btree_set(0u8..99, 1..7)) {
            let numbers: Vec<u8> = numbers.into_iter().collect();
            for language in LANGUAGES {
                let text = suite(language, &numbers);
                let reversed = with_tests_reversed(language, &text);
                prop_assert_eq!(with_tests_reversed(language, &reversed), text.clone());
                let names = |text: &str| source_tests(language, text).into_iter().map(|t| t.name).collect::<Vec<_>>();
                let mut expected = names(&text);
                expected.reverse();
                prop_assert_eq!(names(&reversed), expected);
            }
        }

        #[test]
        fn pieces_lie_in_their_text(text in "(it\\('a', |\\(\\) => |def test_a\\(\\):|#\\[test\\]|fn a\\(\\) \\{\\}|[ -~]{0,10}|\\n){0,12}") {
            for language in LANGUAGES {
                for test in source_tests(language, &text) {
                    prop_assert!(1 <= test.start && test.start <= test.end);
                    prop_assert!(text.get(test.range.clone()).is_some());
                }
            }
        }
    }
}
