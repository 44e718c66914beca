//! Recognises test files and test data by their paths.

use crate::domain::id::RepoPath;

use super::language::Language;

/// Folders with tests or test data.
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

/// Whether a file is a test or supports tests: fixtures, snapshots, golden files.
pub fn is_test(path: &RepoPath) -> bool {
    let stem = path.stem();
    let in_folder =
        path.parent().split('/').any(|part| FOLDERS.contains(&part.to_ascii_lowercase().as_str()));
    let is_helper = match Language::of(path) {
        Some(Language::Python) => matches!(stem, "conftest" | "test"),
        Some(Language::Java) => path.as_str().contains("src/test/"),
        _ => matches!(path.extension(), "snap" | "golden" | "approved"),
    };
    is_helper || in_folder || has_test_name(path)
}

/// Whether a file contains tests, judged by its name.
pub fn has_test_name(path: &RepoPath) -> bool {
    let name = path.file_name();
    let stem = name.split('.').next().unwrap_or(name);
    match Language::of(path) {
        Some(Language::Python) => {
            stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests"
        }
        Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => {
            [".test.", ".spec.", "-test.", "_test."].iter().any(|mark| name.contains(mark))
                || stem == "test"
        }
        Some(Language::Go) => stem.ends_with("_test"),
        Some(Language::Java) => ["Test", "Tests", "IT"].iter().any(|end| stem.ends_with(end)),
        Some(Language::Rust) => stem == "tests" || format!("/{path}").contains("/tests/"),
        None => false,
    }
}

/// Moves a planned file to the nearest existing folder. Python runners do not discover tests in a
/// new folder that is not a package; other runners search everywhere. `has_folder` queries the repository.
pub fn in_existing_folder(planned: RepoPath, has_folder: &dyn Fn(&str) -> bool) -> RepoPath {
    let mut folder = planned.parent();
    if planned.extension() != "py" {
        return planned;
    }
    while !folder.is_empty() {
        if has_folder(folder) {
            let path = format!("{folder}/{}", planned.file_name());
            return RepoPath::parse(path).unwrap_or(planned);
        }
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    }
    planned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_recognised_by_their_path() {
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
    fn names_of_tests_differ_by_language() {
        let table = [
            ("shop/test_a.py", true),
            ("shop/a_test.py", true),
            ("shop/tests.py", true),
            ("tests/conftest.py", false),
            ("tests/helpers.py", false),
            ("src/a.spec.tsx", true),
            ("src/a-test.js", true),
            ("test.js", true),
            ("src/tested.js", false),
            ("a_test.go", true),
            ("a_testing.go", false),
            ("src/PriceTest.java", true),
            ("src/PriceIT.java", true),
            ("src/Testimonial.java", false),
            ("tests/api.rs", true),
            ("src/a/tests.rs", true),
            ("src/contests/a.rs", false),
            ("tests/data.json", false),
        ];
        for (path, expected) in table {
            let path = RepoPath::parse(path).unwrap();
            assert_eq!(has_test_name(&path), expected, "{path}");
            assert!(!expected || is_test(&path), "{path}");
        }
    }
}
