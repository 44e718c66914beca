//! The test framework of a project, how its tests are written, and its commands
//! (specification.md 6.8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::framework::Framework;
use crate::domain::id::RepoPath;

/// How tests of this project are written, read from its own files; the writer of tests is shown it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Conventions {
    /// The names of test files, such as `test_*.py`.
    pub file_naming: String,
    /// Folder of most tests; empty if they are beside the sources, `./tests` if it is beside them.
    pub directory: String,
    /// Whether tests lie in folders below it, as the sources do.
    #[serde(default)]
    pub is_mirrored: bool,
    /// What stands before the names of these folders: `test_` for `tests/test_shop` of `shop`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder_prefix: String,
    /// Structure of tests: `functions`, `classes`, `describe blocks`, ...
    pub test_structure: String,
    /// Names of the set-up and tear-down functions in use.
    pub setup_teardown: String,
    /// How tests assert, most frequent first.
    pub assertion_style: Vec<String>,
    /// How tests are parametrised; empty if none is.
    pub parametrisation: Vec<String>,
    /// Shared fixtures and where they are defined.
    pub fixtures: Vec<String>,
    /// The tool that replaces other code; empty when none does.
    pub mocking: String,
    /// A test file that is typical of these conventions.
    pub sample: Option<RepoPath>,
}

/// The test framework with its conventions and commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestFramework {
    /// The name of the framework.
    #[schemars(with = "String")]
    pub framework: Framework,
    /// The version as the framework prints it; empty when unknown.
    pub version: String,
    pub conventions: Conventions,
    /// The command for the whole suite.
    pub run_tests: String,
    /// Command that measured the coverage; empty if none did.
    pub run_coverage: String,
    /// Command that runs one test file, named by `{test_file}`.
    pub run_specific: String,
}

impl TestFramework {
    /// The command that runs one test file.
    #[must_use]
    pub fn run_file(&self, file: &RepoPath) -> String {
        self.run_specific
            .replace("{test_file}", file.as_str())
            .replace("{test_folder}", file.parent())
            .replace("{test_stem}", file.stem())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_one_file_has_its_path_folder_or_stem() {
        let table = [
            (Framework::Pytest, "tests/test_a.py", "python3 -m pytest tests/test_a.py"),
            (Framework::CargoTest, "tests/money.rs", "cargo test --test money"),
            (Framework::GoTest, "shop/price_test.go", "go test ./shop"),
            (Framework::Maven, "src/test/java/shop/PriceTest.java", "mvn -q test -Dtest=PriceTest"),
            (Framework::Jest, "a.spec.test.ts", "npx jest a.spec.test.ts"),
            (Framework::Command, "tests/a.sh", "make check"),
        ];
        for (framework, file, expected) in table {
            let run_specific = framework.run_file().unwrap_or("make check").to_owned();
            let own = TestFramework { framework, run_specific, ..TestFramework::default() };
            let file = RepoPath::parse(file).unwrap();
            assert_eq!(own.run_file(&file), expected, "{framework}");
        }
    }
}
