//! [`TestFacts`]: the number of tests, skips and assertions in a test file, compared before and
//! after an edit to notice weakened tests.

use crate::code::language::Language;
use crate::code::tree::{field_of, named_nodes, text_of};

use super::find::find_tests;

/// The contents of a test file, to be compared before and after an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestFacts {
    /// The names of the tests, in order.
    pub tests: Vec<String>,
    /// The number of marks that skip a test.
    pub skips: usize,
    /// The number of marks that restrict a run to certain tests, such as `it.only`.
    pub focused: usize,
    pub assertions: usize,
    /// The number of assertions that say what a value is, and not only that it is there or true.
    pub comparisons: usize,
    /// The number of tests without an effective statement.
    pub empty: usize,
}

/// Names of calls and marks that skip a test, in any language.
const SKIPS: &[&str] = &[
    "skip",
    "skipIf",
    "skipUnless",
    "skipTest",
    "SkipTest",
    "xfail",
    "expectedFailure",
    "xit",
    "xtest",
    "xdescribe",
    "todo",
    "ignore",
    "Disabled",
    "Ignore",
    "Skip",
    "SkipNow",
    "Skipf",
    "importorskip",
];

/// Words that run one test and skip the others.
const FOCUSED: &[&str] = &["only", "fit", "fdescribe"];

/// Names in lower case of assertions, and of matchers in scripts, that hold for nearly every value.
const VAGUE: &[&str] = &[
    "assert",
    "asserttrue",
    "assertfalse",
    "assertisnotnone",
    "assertnotnull",
    "ok",
    "true",
    "false",
    "notnil",
    "notnull",
];
const VAGUE_MATCHERS: &[&str] = &["tobetruthy", "tobefalsy", "tobedefined"];

/// What compares two values inside of an assertion with such a name.
const COMPARISONS: &[&str] = &[
    "==",
    "!=",
    "<=",
    ">=",
    " < ",
    " > ",
    " in ",
    " is ",
    " instanceof ",
    "isinstance(",
    ".equals(",
    "matches!(",
];

/// Counts the contents of a test file. Where the text has syntax errors, the rest is still counted.
pub fn facts(language: Language, text: &str) -> TestFacts {
    let Some(tree) = language.parse(text) else { return TestFacts::default() };
    let nodes = named_nodes(tree.root_node());
    let tests = find_tests(language, &nodes, text);
    let mut facts = TestFacts {
        empty: tests.iter().filter(|test| test.is_empty(text)).count(),
        tests: tests.into_iter().map(|test| test.name).collect(),
        ..TestFacts::default()
    };
    let mut vague = 0;
    let compares = |node| COMPARISONS.iter().any(|sign| text_of(node, text).contains(sign));
    for node in nodes {
        let callee = match node.kind() {
            "call_expression" | "call" => field_of(node, "function", text),
            "method_invocation" => field_of(node, "name", text),
            "macro_invocation" => field_of(node, "macro", text),
            "assert_statement" => {
                facts.assertions += 1;
                vague += usize::from(!compares(node));
                continue;
            }
            "decorator" | "attribute_item" | "marker_annotation" | "annotation" => {
                let mark = text_of(node, text);
                let mut words = mark.split(|c: char| !c.is_alphanumeric() && c != '_');
                // A call inside a decorator is counted when the traversal reaches it.
                let counted = node.kind() == "decorator" && mark.contains('(');
                facts.skips += usize::from(!counted && words.any(|word| SKIPS.contains(&word)));
                continue;
            }
            _ => continue,
        };
        let last = callee.rsplit(['.', ':']).next().unwrap_or(callee);
        let lower = last.to_ascii_lowercase();
        if is_assertion(callee, last) {
            facts.assertions += 1;
            vague += usize::from(VAGUE.contains(&lower.as_str()) && !compares(node));
        }
        let is_matcher = language.is_script() && callee.starts_with("expect");
        vague += usize::from(is_matcher && VAGUE_MATCHERS.contains(&lower.as_str()));
        // Rust marks skipped tests with attributes only; `skip` is a method of its iterators.
        facts.skips += usize::from(language != Language::Rust && SKIPS.contains(&last));
        facts.focused += usize::from(language.is_script() && FOCUSED.contains(&last));
    }
    facts.comparisons = facts.assertions.saturating_sub(vague);
    facts
}

/// Whether a call is an assertion, by its name; what merely might fail is none.
fn is_assertion(callee: &str, last: &str) -> bool {
    let lower = last.to_ascii_lowercase();
    lower.starts_with("assert")
        || lower.starts_with("expect")
        || callee.starts_with("assert.")
        || callee.starts_with("t.Error")
        || callee.starts_with("t.Fatal")
        || callee.starts_with("require.")
        || matches!(last, "raises" | "warns" | "verify" | "Fail" | "fail")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_every_language_are_counted() {
        let table = [
            (
                Language::Python,
                "import unittest\nclass A(unittest.TestCase):\n    @unittest.skip('x')\n    def test_a(self):\n        self.assertEqual(1, 1)\n    def test_b(self):\n        pass\n",
                2,
                1,
                0,
                1,
                1,
            ),
            (
                Language::Python,
                "import pytest\n@pytest.mark.skip\ndef test_a():\n    assert 1\n",
                1,
                1,
                0,
                1,
                0,
            ),
            (
                Language::JavaScript,
                "test.only('a', () => { expect(1).toBe(1); });\nit.skip('b', () => {});\n",
                2,
                1,
                1,
                1,
                0,
            ),
            (Language::Rust, "#[test]\n#[ignore]\nfn a() { assert_eq!(1, 1); }\n", 1, 1, 0, 1, 0),
            (
                Language::Rust,
                "#[test]\nfn a() { assert_eq!(list().iter().skip(1).count(), 1); }\n",
                1,
                0,
                0,
                1,
                0,
            ),
            (
                Language::Go,
                "package a\nfunc TestA(t *testing.T) { t.Skip(); t.Errorf(\"x\") }\n",
                1,
                1,
                0,
                1,
                0,
            ),
            (
                Language::Java,
                "class A { @Test @Disabled void a() { assertEquals(1, 1); } }\n",
                1,
                1,
                0,
                1,
                0,
            ),
        ];
        for (language, text, tests, skips, focused, assertions, empty) in table {
            let facts = facts(language, text);
            assert_eq!(facts.tests.len(), tests, "{text}");
            assert_eq!(
                (facts.skips, facts.focused, facts.assertions, facts.empty),
                (skips, focused, assertions, empty),
                "{text}"
            );
        }
    }

    #[test]
    fn assertions_of_every_framework_count_and_calls_that_might_fail_do_not() {
        let table = [
            (
                Language::Python,
                "def test_a():\n    assert 1\n    self.assertIn(1, [1])\n    check(1)\n",
                2,
            ),
            (
                Language::Python,
                "def test_a():\n    with pytest.raises(ValueError):\n        f()\n",
                1,
            ),
            (
                Language::JavaScript,
                "it('a', () => { expect(1).toBe(1); assert.equal(1, 1); f(); });\n",
                2,
            ),
            (
                Language::Rust,
                "#[test]\nfn a() { assert!(true); assert_ne!(1, 2); f().unwrap(); }\n",
                2,
            ),
            (
                Language::Go,
                "package a\nfunc TestA(t *testing.T) { t.Errorf(\"x\"); require.Equal(t, 1, 1); t.Log(1) }\n",
                2,
            ),
            (
                Language::Java,
                "class A { @Test void a() { assertThrows(null); verify(m); f(); } }\n",
                2,
            ),
        ];
        for (language, text, expected) in table {
            assert_eq!(facts(language, text).assertions, expected, "{text}");
        }
    }

    #[test]
    fn assertions_that_hold_for_nearly_every_value_are_no_comparisons() {
        let table = [
            (Language::Python, "def test_a():\n    assert f() == 1\n    assert f()\n", 1),
            (
                Language::Python,
                "class T:\n    def test_a(self):\n        self.assertEqual(f(), 1)\n        self.assertTrue(f())\n        self.assertTrue(f() > 1)\n        self.assertIsNotNone(f())\n",
                2,
            ),
            (
                Language::JavaScript,
                "it('a', () => { expect(f()).toBe(1); expect(f()).toBeTruthy(); assert.ok(f()); assert.equal(f(), 1); });\n",
                2,
            ),
            (
                Language::Rust,
                "#[test]\nfn a() { assert_eq!(f(), 1); assert!(f()); assert!(f() == 1); assert!(matches!(f(), None)); }\n",
                3,
            ),
            (
                Language::Go,
                "package a\nfunc TestA(t *testing.T) { require.Equal(t, 1, f()); assert.True(t, f()); t.Errorf(\"x\") }\n",
                2,
            ),
            (
                Language::Java,
                "class A { @Test void a() { assertEquals(1, f()); assertTrue(f()); assertTrue(f().equals(g())); } }\n",
                2,
            ),
        ];
        for (language, text, expected) in table {
            assert_eq!(facts(language, text).comparisons, expected, "{text}");
        }
    }

    #[test]
    fn marks_that_skip_or_focus_are_counted_once() {
        let table = [
            (
                Language::Python,
                "@pytest.mark.skipif(True, reason='x')\ndef test_a():\n    assert 1\n",
                0,
                0,
            ),
            (Language::Python, "@unittest.expectedFailure\ndef test_a():\n    assert 1\n", 1, 0),
            (Language::Python, "def test_a():\n    pytest.skip('x')\n", 1, 0),
            (
                Language::JavaScript,
                "fit('a', () => {});\nxit('b', () => {});\nit.todo('c');\n",
                2,
                1,
            ),
            (Language::JavaScript, "describe.only('a', () => { it('b', () => {}); });\n", 0, 1),
            (Language::Rust, "#[test]\n#[ignore = \"slow\"]\nfn a() {}\n", 1, 0),
            (Language::Go, "package a\nfunc TestA(t *testing.T) { t.SkipNow() }\n", 1, 0),
            (Language::Java, "class A { @Test @Ignore void a() {} }\n", 1, 0),
        ];
        for (language, text, skips, focused) in table {
            let found = facts(language, text);
            assert_eq!((found.skips, found.focused), (skips, focused), "{text}");
        }
    }
}
