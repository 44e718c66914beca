//! Recognises test files and test data by their paths.

use crate::domain::id::RepoPath;

use super::language::{self, Language};

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

/// Words of a folder's name that has a project of tests for .NET.
const NET_WORDS: &[&str] =
    &["test", "tests", "unittests", "integrationtests", "functionaltests", "specs"];

/// Whether a file is a test or supports tests: fixtures, snapshots, golden files.
pub fn is_test(path: &RepoPath) -> bool {
    let stem = path.stem();
    let in_folder = path.parent().split('/').any(|part| {
        let part = part.to_ascii_lowercase();
        // Projects of .NET are named after what they test: `Shop.Tests`, `Shop.UnitTests`.
        FOLDERS.contains(&part.as_str())
            || part.split('.').skip(1).any(|word| NET_WORDS.contains(&word))
    });
    let is_helper = match Language::of(path) {
        Some(Language::Python) => matches!(stem, "conftest" | "test"),
        Some(Language::Java) => path.as_str().contains("src/test/"),
        None if language::name_of(path) == Some("Ruby") => {
            matches!(stem, "spec_helper" | "rails_helper" | "test_helper")
        }
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
        None => has_unparsed_test_name(path, stem),
    }
}

/// Whether a file of a language that is not parsed contains tests, judged by its name.
fn has_unparsed_test_name(path: &RepoPath, stem: &str) -> bool {
    let folded = stem.to_ascii_lowercase();
    match language::name_of(path) {
        Some("Ruby") => {
            let is_case = folded.ends_with("_spec") || folded.ends_with("_test");
            is_case || (folded.starts_with("test_") && folded != "test_helper")
        }
        Some("PHP") => {
            path.extension() == "phpt"
                || ["Test", "TestCase", "Cest"].iter().any(|end| stem.ends_with(end))
        }
        Some("C and C++") => {
            let words = ["_test", "-test", "_tests", "-tests", "_unittest", "_spec"];
            words.iter().any(|end| folded.ends_with(end))
                || ["Test", "Tests"].iter().any(|end| stem.ends_with(end))
                || ["test_", "test-"].iter().any(|start| folded.starts_with(start))
                || matches!(folded.as_str(), "test" | "tests")
        }
        Some(".NET") => ["Test", "Tests", "Spec", "Specs", "_test", "_tests"]
            .iter()
            .any(|end| stem.ends_with(end)),
        _ => false,
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
            "spec/support/shop.rb",
            "lib/spec_helper.rb",
            "Shop.UnitTests/Helpers/Clock.cs",
            "src/cart_test.cc",
            "src/CartTest.php",
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
            "lib/cart.rb",
            "src/Contest.cs",
            "Shop.Contest/Cart.cs",
            "Shop.Latest/Cart.cs",
            "src/attestation.cpp",
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
            ("spec/cart_spec.rb", true),
            ("test/test_cart.rb", true),
            ("test/test_helper.rb", false),
            ("lib/inspect.rb", false),
            ("src/CartTest.php", true),
            ("tests/bug.phpt", true),
            ("src/Latest.php", false),
            ("src/cart_test.cc", true),
            ("src/CartTests.hpp", true),
            ("src/test_cart.c", true),
            ("src/contest.cpp", false),
            ("Shop.Tests/CartTests.cs", true),
            ("Shop/Contest.cs", false),
        ];
        for (path, expected) in table {
            let path = RepoPath::parse(path).unwrap();
            assert_eq!(has_test_name(&path), expected, "{path}");
            assert!(!expected || is_test(&path), "{path}");
        }
    }
}
