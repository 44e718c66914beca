//! What a file says about tests: is it one, what does it define, skip and assert.

use tree_sitter::Node;

use crate::domain::id::RepoPath;

use super::language::Language;

/// Folders that hold tests or what they need.
const FOLDERS: &[&str] = &[
    "tests",
    "test",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "testdata",
    "fixtures",
    "__fixtures__",
    "__snapshots__",
    "snapshots",
    "golden",
    "testing",
    "cypress",
    "playwright",
];

/// Whether a file is a test, or belongs to tests: fixtures, snapshots, golden files.
#[must_use]
pub fn is_test(path: &RepoPath) -> bool {
    let text = path.as_str();
    let name = path.file_name();
    let stem = name.split('.').next().unwrap_or(name);
    let in_folder =
        path.parent().split('/').any(|part| FOLDERS.contains(&part.to_ascii_lowercase().as_str()));
    let named = match Language::of(path) {
        Some(Language::Python) => {
            stem.starts_with("test_")
                || stem.ends_with("_test")
                || stem == "tests"
                || stem == "conftest"
                || stem == "test"
        }
        Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => {
            [".test.", ".spec.", "-test.", "_test."].iter().any(|mark| name.contains(mark))
                || stem == "test"
        }
        Some(Language::Go) => stem.ends_with("_test"),
        Some(Language::Java) => {
            text.contains("src/test/")
                || stem.ends_with("Test")
                || stem.ends_with("Tests")
                || stem.ends_with("IT")
        }
        Some(Language::Rust) => {
            stem == "tests" || text.starts_with("tests/") || text.contains("/tests/")
        }
        None => false,
    };
    let snapshot = matches!(path.extension(), "snap" | "golden" | "approved");
    named || in_folder || snapshot
}

/// What a test file holds; compared before and after an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestFacts {
    /// Names of tests, in order.
    pub tests: Vec<String>,
    /// Marks that keep a test from running.
    pub skips: usize,
    /// Marks that keep all others from running.
    pub focused: usize,
    /// Assertions.
    pub assertions: usize,
    /// Tests without a statement that does something.
    pub empty: usize,
}

/// Words that skip, by language.
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

/// Words that focus.
const FOCUSED: &[&str] = &["only", "fit", "fdescribe"];

/// Reads what a test file holds. Text that does not parse is read as far as it does.
#[must_use]
pub fn facts(language: Language, text: &str) -> TestFacts {
    let mut facts = TestFacts::default();
    if let Some(tree) = language.parse(text) {
        collect(tree.root_node(), language, text, &mut facts);
    }
    facts
}

fn collect(node: Node<'_>, language: Language, text: &str, facts: &mut TestFacts) {
    let source = text.get(node.byte_range()).unwrap_or_default();
    match node.kind() {
        "function_definition" | "function_declaration" | "function_item" | "method_declaration" => {
            let name = node.child_by_field_name("name");
            let name = name.and_then(|name| text.get(name.byte_range())).unwrap_or_default();
            let is_test = match language {
                Language::Python => name.starts_with("test"),
                Language::Go => name.starts_with("Test"),
                Language::Rust => marks_before(node, text).contains("test"),
                Language::Java => source.contains("@Test") || source.contains("@ParameterizedTest"),
                Language::JavaScript | Language::TypeScript | Language::Tsx => false,
            };
            if is_test {
                facts.tests.push(name.to_owned());
                facts.empty += usize::from(
                    node.child_by_field_name("body").is_some_and(|body| is_empty(body, text)),
                );
            }
        }
        "call_expression" | "call" | "method_invocation" | "macro_invocation" => {
            let callee = node
                .child_by_field_name("function")
                .or_else(|| node.child_by_field_name("name"))
                .or_else(|| node.child_by_field_name("macro"));
            let callee =
                callee.and_then(|callee| text.get(callee.byte_range())).unwrap_or_default();
            let script =
                matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx);
            if script
                && matches!(
                    callee,
                    "it" | "test" | "it.only" | "test.only" | "it.skip" | "test.skip"
                )
            {
                let first =
                    node.child_by_field_name("arguments").and_then(|list| list.named_child(0));
                let name = first.and_then(|first| text.get(first.byte_range())).unwrap_or_default();
                facts.tests.push(name.to_owned());
            }
            let last = callee.rsplit(['.', ':']).next().unwrap_or(callee);
            if is_assertion(callee, last) {
                facts.assertions += 1;
            }
            facts.skips += usize::from(SKIPS.contains(&last));
            facts.focused += usize::from(script && FOCUSED.contains(&last));
        }
        "assert_statement" => facts.assertions += 1,
        "decorator" | "attribute_item" | "marker_annotation" | "annotation" => {
            let called = source.contains('(');
            let words = source.split(|c: char| !c.is_alphanumeric() && c != '_');
            // A call inside a decorator is counted where the call is met.
            if !(called && node.kind() == "decorator")
                && words.into_iter().any(|word| SKIPS.contains(&word))
            {
                facts.skips += 1;
            }
        }
        _ => {}
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, language, text, facts);
    }
}

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

/// Attributes directly before an item.
fn marks_before(node: Node<'_>, text: &str) -> String {
    let mut marks = String::new();
    let mut before = node.prev_sibling();
    while let Some(sibling) = before.filter(|sibling| sibling.kind() == "attribute_item") {
        marks.push_str(text.get(sibling.byte_range()).unwrap_or_default());
        before = sibling.prev_sibling();
    }
    marks
}

fn is_empty(body: Node<'_>, text: &str) -> bool {
    let mut cursor = body.walk();
    body.named_children(&mut cursor).all(|child| {
        let source = text.get(child.byte_range()).unwrap_or_default();
        child.kind() == "comment"
            || child.kind() == "pass_statement"
            || source == "..."
            || source.starts_with("\"\"\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_by_path() {
        let tests = [
            "tests/helpers.py",
            "pkg/test_a.py",
            "a_test.go",
            "src/a.test.ts",
            "src/__tests__/a.js",
            "src/test/java/A.java",
            "conftest.py",
            "a/__snapshots__/b.snap",
            "tests/api.rs",
        ];
        for path in tests {
            assert!(is_test(&RepoPath::parse(path).unwrap()), "{path}");
        }
        for path in [
            "src/latest.py",
            "contest.py",
            "src/attest.js",
            "src/main/java/A.java",
            "shop/testing_tools.py",
        ] {
            assert!(!is_test(&RepoPath::parse(path).unwrap()), "{path}");
        }
    }

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
}
