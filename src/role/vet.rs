//! Checks every proposed edit against the guards: paths, links, tests, syntax, size, secrets.

use globset::GlobSet;

use crate::code::language::Language;
use crate::code::{doc_examples, syntax, test_cases, test_switches};
use crate::domain::guard::{self, EditScope, Violation};
use crate::domain::id::TreeId;
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::secret::Redactor;
use crate::domain::source_text;
use crate::effect::{FileDiff, GitError, Worktree};

use super::test_files::TestFiles;

/// The limits that a proposal is checked against.
pub struct VetContext<'a> {
    pub protect: &'a GlobSet,
    /// The folder for regreen's own files in commits.
    pub state_root: &'a str,
    pub redactor: &'a Redactor,
    pub reach: EditScope,
}

/// All rules that a proposal violates; `tests` says which files of the tree are tests.
pub async fn vet(
    edits: &EditSet,
    tests: &TestFiles,
    tree: &TreeId,
    worktree: &dyn Worktree,
    context: &VetContext<'_>,
) -> Result<Vec<Violation>, GitError> {
    let mut found = Vec::new();
    for edit in &edits.files {
        found.extend(check_file(edit, tests, context));
        let present = worktree.read(tree, &edit.file).await?;
        let before = edit.before.as_ref().map(|text| source_text::encode(&edit.file, text));
        let is_link = present.is_none() && before.is_some();
        if present.map(Some) != before {
            // Links are read as absent, which contradicts an edit that expects a text.
            let file = edit.file.clone();
            found.push(if is_link { Violation::Link(file) } else { Violation::Stale(file) });
        }
    }
    let of_tests = edits.files.iter().filter(|edit| touches_tests(edit, tests)).count();
    if context.reach == EditScope::Either && of_tests > 0 && of_tests < edits.files.len() {
        found.push(Violation::Mixed);
    }
    // Grafting refuses paths behind links, which is cheaper than checking every parent folder here.
    if found.is_empty()
        && let Err(GitError::Conflict { file, .. }) = worktree.graft(tree, edits).await
    {
        found.push(Violation::Link(file));
    }
    found.extend(guard::size(&edits.files));
    Ok(found)
}

/// Checks what commits of another process changed together. The rules on a single proposal do not
/// apply to them: a session may change more files, and fix code in one commit and tests in another.
/// What is a test, their names and texts say.
pub fn published(diff: &[FileDiff], context: &VetContext<'_>) -> Vec<Violation> {
    let texts = diff.iter().filter_map(|one| Some((one.file.clone(), one.before.clone()?)));
    let tests = TestFiles::of_texts(texts.collect());
    diff.iter()
        .flat_map(|change| {
            let (file, before, after) =
                (change.file.clone(), change.before.clone(), change.after.clone());
            check_file(&FileEdit { file, before, after }, &tests, context)
        })
        .collect()
}

/// Checks the rules on one file that need no worktree.
fn check_file(edit: &FileEdit, tests: &TestFiles, context: &VetContext<'_>) -> Vec<Violation> {
    let mut found: Vec<Violation> =
        guard::path(&edit.file, context.state_root).into_iter().collect();
    if context.protect.is_match(edit.file.as_str()) {
        found.push(Violation::Protected(edit.file.clone()));
    }
    let before = edit.before.as_deref().unwrap_or_default();
    let after = edit.after.as_deref().unwrap_or_default();
    if guard::holds_secret(edit) || context.redactor.is_added(before, after) {
        found.push(Violation::Secret(edit.file.clone()));
    }
    found.extend(content(edit, tests, context.reach));
    found
}

/// Whether an edit changes a test file, or tests inside product code.
pub fn touches_tests(edit: &FileEdit, tests: &TestFiles) -> bool {
    let before = edit.before.as_deref().unwrap_or_default();
    let after = edit.after.as_deref().unwrap_or_default();
    let changes_inner = |language| doc_examples::are_changed(language, before, after);
    tests.reason(&edit.file).is_some() || Language::of(&edit.file).is_some_and(changes_inner)
}

/// Checks the rules on the contents of a file before and after the edit.
pub fn content(edit: &FileEdit, tests: &TestFiles, reach: EditScope) -> Vec<Violation> {
    let mut found = Vec::new();
    let file = || edit.file.clone();
    let reason = tests.reason(&edit.file).map(|reason| reason.to_string());
    let is_test = reason.is_some();
    if reach == EditScope::Tests && !is_test {
        found.push(Violation::OutOfScope(file()));
    }
    let Some(after) = &edit.after else {
        found.push(if is_test {
            Violation::TestDeleted(file())
        } else {
            Violation::FileDeleted(file())
        });
        return found;
    };
    let before = edit.before.as_deref().unwrap_or_default();
    let Some(language) = Language::of(&edit.file) else {
        found.extend(reason.map(|reason| Violation::TestEdited { file: file(), reason }));
        if test_switches::are_added(&edit.file, is_test, before, after) {
            found.push(Violation::TestSkipped(file()));
        }
        return found;
    };
    let inner = || "has examples or tests inside, which would change".to_owned();
    let changes_inner = || doc_examples::are_changed(language, before, after).then(inner);
    if edit.before.is_some()
        && let Some(reason) = reason.or_else(changes_inner)
    {
        if reach == EditScope::Code {
            // A fix of product code must not edit tests at all.
            found.push(Violation::TestEdited { file: file(), reason });
        }
        found.extend(tampering(edit, language, before, after));
    }
    let parsed_before = edit.before.is_none() || syntax::first_error(language, before).is_none();
    if parsed_before && let Some(error) = syntax::first_error(language, after) {
        found.push(Violation::Syntax { file: file(), line: error.line });
    }
    found
}

/// How an edit of a test file weakens its tests.
fn tampering(edit: &FileEdit, language: Language, before: &str, after: &str) -> Vec<Violation> {
    let file = || edit.file.clone();
    let mut found = Vec::new();
    if after.trim().is_empty() {
        found.push(Violation::TestDeleted(file()));
        return found;
    }
    let (old, new) = (test_cases::facts(language, before), test_cases::facts(language, after));
    let mut left = new.tests.clone();
    for test in old.tests {
        match left.iter().position(|known| *known == test) {
            Some(index) => drop(left.swap_remove(index)),
            None => found.push(Violation::TestRemoved { file: file(), test }),
        }
    }
    if new.empty > old.empty {
        found.push(Violation::TestRemoved { file: file(), test: "the body of a test".into() });
    }
    if new.skips > old.skips {
        found.push(Violation::TestSkipped(file()));
    }
    if new.focused > old.focused {
        found.push(Violation::TestFocused(file()));
    }
    if new.assertions < old.assertions || new.comparisons < old.comparisons {
        found.push(Violation::AssertionsRemoved(file()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RepoPath;

    const TESTS: &str = "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)\n\n    def test_b(self):\n        self.assertTrue(g())\n";

    fn names(path: &str, before: Option<&str>, after: Option<&str>) -> Vec<&'static str> {
        let edit = FileEdit {
            file: RepoPath::parse(path).unwrap(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        content(&edit, &TestFiles::default(), EditScope::Code).iter().map(Violation::name).collect()
    }

    #[test]
    fn tests_may_change_where_the_scope_says_so_and_never_get_weaker() {
        let test = "tests/test_x.py";
        let same = TESTS.replace("f(), 1", "f(), 2");
        let less = TESTS.replace("self.assertTrue(g())", "g()");
        let vague = TESTS.replace("self.assertEqual(f(), 1)", "self.assertTrue(f())");
        let fewer = TESTS.replace("test_b", "check_b");
        let skipped = TESTS.replace("    def test_a", "    @unittest.skip('x')\n    def test_a");
        let product = ("shop/cart.py", "x = 1\n", "x = 2\n");
        let table = [
            (EditScope::Code, test, TESTS, same.as_str(), vec!["test-edited"]),
            (EditScope::Either, test, TESTS, &same, vec![]),
            (EditScope::Tests, test, TESTS, &same, vec![]),
            (EditScope::Tests, test, TESTS, &less, vec!["assertions-removed"]),
            (EditScope::Either, test, TESTS, &vague, vec!["assertions-removed"]),
            (EditScope::Either, test, TESTS, &fewer, vec!["test-removed"]),
            (EditScope::Tests, test, TESTS, &skipped, vec!["test-skipped"]),
            (EditScope::Tests, test, TESTS, "", vec!["test-deleted"]),
            (EditScope::Code, product.0, product.1, product.2, vec![]),
            (EditScope::Either, product.0, product.1, product.2, vec![]),
            (EditScope::Tests, product.0, product.1, product.2, vec!["out-of-scope"]),
            (EditScope::Either, "golden/out.txt", "1", "2", vec!["test-edited"]),
        ];
        for (reach, path, before, after, expected) in table {
            let edit = FileEdit {
                file: RepoPath::parse(path).unwrap(),
                before: Some(before.into()),
                after: Some(after.into()),
            };
            let found: Vec<_> =
                content(&edit, &TestFiles::default(), reach).iter().map(Violation::name).collect();
            assert_eq!(found, expected, "{reach:?} {path}: {after}");
        }
    }

    #[test]
    fn every_way_to_cheat_a_test_has_a_named_reason() {
        let path = "tests/test_x.py";
        let table: [(&str, Option<String>, &str); 8] = [
            ("deleted", None, "test-deleted"),
            ("emptied", Some(String::new()), "test-deleted"),
            ("renamed away", Some(TESTS.replace("test_a", "check_a")), "test-removed"),
            ("body gone", Some(TESTS.replace("self.assertTrue(g())", "pass")), "test-removed"),
            (
                "skipped",
                Some(
                    TESTS.replace("    def test_a", "    @unittest.skip('later')\n    def test_a"),
                ),
                "test-skipped",
            ),
            (
                "asserts less",
                Some(TESTS.replace("self.assertTrue(g())", "g()")),
                "assertions-removed",
            ),
            ("expects something else", Some(TESTS.replace("f(), 1", "f(), 2")), "test-edited"),
            (
                "does not parse",
                Some(TESTS.replace("def test_a(self):", "def test_a(self:")),
                "syntax",
            ),
        ];
        for (why, after, expected) in table {
            let found = names(path, Some(TESTS), after.as_deref());
            assert!(found.contains(&expected), "{why}: {found:?}");
        }
        let script = "test('a', () => { expect(f()).toBe(1); });\n";
        let focused = script.replace("test(", "test.only(");
        assert!(names("a.test.js", Some(script), Some(&focused)).contains(&"test-focused"));
        assert_eq!(names("golden/out.txt", Some("1"), Some("2")), ["test-edited"]);
    }

    #[test]
    fn tests_beside_rust_code_are_tests() {
        let before = "fn f() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() { assert_eq!(super::f(), 2); }\n}\n";
        let bent = before.replace("(), 2", "(), 1");
        assert!(names("src/lib.rs", Some(before), Some(&bent)).contains(&"test-edited"));
        let fixed = before.replace("{ 1 }", "{ 2 }");
        assert!(names("src/lib.rs", Some(before), Some(&fixed)).is_empty());
    }

    #[test]
    fn evidence_beyond_a_name_makes_an_edit_one_of_tests_and_says_why() {
        let checks = "from shop import price\n\ndef same(a, b):\n    assert a == b\n\nALL = [lambda: same(price.f(1), 6)]\n";
        let documented = "def f():\n    '''\n    >>> f()\n    6\n    '''\n    return 5\n";
        let sources = [
            ("checks/run.py", "import checks\n"),
            ("checks/checks.py", checks),
            ("shop/price.py", "def f(n):\n    return n\n"),
            ("shop/documented.py", documented),
        ];
        let path = |file: &str| RepoPath::parse(file).unwrap();
        let files = sources.map(|(file, text)| (path(file), text.to_owned())).into();
        let imports = crate::code::imports::Graph::build(&files);
        let run = globset::GlobSetBuilder::new()
            .add(globset::Glob::new("**/checks/run.py").unwrap())
            .build()
            .unwrap();
        let sources = crate::role::test_files::Sources { files, imports };
        let tests = TestFiles { sources: sources.into(), run, ..TestFiles::default() };
        let asserts = "test-edited: checks/checks.py asserts, and nothing but tests imports it";
        let inner =
            "test-edited: shop/documented.py has examples or tests inside, which would change";
        let run = "test-edited: checks/run.py is run by the test command";
        let removed = "assertions-removed: checks/checks.py would assert less than before";
        let table = [
            ("checks/checks.py", checks, "6)]", "5)]", EditScope::Code, vec![asserts]),
            ("checks/checks.py", checks, "6)]", "5)]", EditScope::Either, vec![]),
            ("checks/checks.py", checks, "assert a", "a", EditScope::Either, vec![removed]),
            ("checks/run.py", "import checks\n", "checks", "style", EditScope::Code, vec![run]),
            (
                "shop/price.py",
                "def f(n):\n    return n\n",
                "return n",
                "return 6",
                EditScope::Code,
                vec![],
            ),
            ("shop/documented.py", documented, "return 5", "return 6", EditScope::Code, vec![]),
            ("shop/documented.py", documented, "    6\n", "    5\n", EditScope::Code, vec![inner]),
        ];
        for (file, before, old, new, reach, expected) in table {
            let after = before.replacen(old, new, 1);
            let edit =
                FileEdit { file: path(file), before: Some(before.into()), after: Some(after) };
            let found = content(&edit, &tests, reach);
            let said: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(said, expected, "{file}: {new}");
            assert_eq!(
                touches_tests(&edit, &tests),
                file.starts_with("checks") || new == "    5\n"
            );
        }
    }

    #[test]
    fn product_code_may_change_and_must_parse() {
        assert!(names("shop/cart.py", Some("x = 1\n"), Some("x = 2\n")).is_empty());
        assert_eq!(names("shop/cart.py", Some("x = 1\n"), Some("x = (\n")), ["syntax"]);
        assert_eq!(names("shop/cart.py", Some("x = 1\n"), None), ["file-deleted"]);
        assert!(
            names("shop/cart.py", Some("x = (\n"), Some("x = [\n")).is_empty(),
            "broken before"
        );
    }

    #[test]
    fn commits_of_another_process_pass_the_same_rules() {
        let key = crate::domain::secret::SecretKey::new("canary-key-0123456789");
        let redactor = Redactor::new([&key]);
        let protect = globset::GlobSetBuilder::new()
            .add(globset::Glob::new("shop/locked/**").unwrap())
            .build()
            .unwrap();
        let context = VetContext {
            protect: &protect,
            state_root: ".workflow",
            redactor: &redactor,
            reach: EditScope::Code,
        };
        let table = [
            ("shop/cart.py", Some("x = 1\n"), Some("x = 2\n"), vec![]),
            (".github/workflows/ci.yml", None, Some("on: push\n"), vec!["ci-file"]),
            ("package-lock.json", Some("{}"), Some("{ }"), vec!["lock-file"]),
            ("shop/locked/a.py", Some("x = 1\n"), Some("x = 2\n"), vec!["protected-path"]),
            (
                "shop/cart.py",
                Some("x = 1\n"),
                Some("x = 'canary-key-0123456789'\n"),
                vec!["secret"],
            ),
            ("shop/cart.py", Some("x = 1\n"), None, vec!["file-deleted"]),
            ("tests/test_x.py", Some(TESTS), None, vec!["test-deleted"]),
            ("shop/cart.py", Some("x = 1\n"), Some("x = (\n"), vec!["syntax"]),
        ];
        for (path, before, after, expected) in table {
            let diff = FileDiff {
                file: RepoPath::parse(path).unwrap(),
                before: before.map(str::to_owned),
                after: after.map(str::to_owned),
                hunks: Vec::new(),
                patch: String::new(),
            };
            let found = published(&[diff], &context);
            let found: Vec<&str> = found.iter().map(Violation::name).collect();
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn edits_of_tests_are_told_from_edits_of_the_product() {
        let inner = "fn f() {}\n#[cfg(test)]\nmod tests {}\n";
        let table = [
            ("shop/cart.py", "x = 1\n", "x = 2\n", false),
            ("tests/test_cart.py", "x = 1\n", "x = 2\n", true),
            ("src/lib.rs", inner, "fn g() {}\n#[cfg(test)]\nmod tests {}\n", false),
            ("src/lib.rs", inner, "fn f() {}\n#[cfg(test)]\nmod tests { }\n", true),
            ("src/lib.rs", "fn f() {}\n", "fn g() {}\n", false),
        ];
        for (path, before, after, expected) in table {
            let edit = FileEdit {
                file: RepoPath::parse(path).unwrap(),
                before: Some(before.into()),
                after: Some(after.into()),
            };
            assert_eq!(touches_tests(&edit, &TestFiles::default()), expected, "{path}: {after}");
        }
    }
}
