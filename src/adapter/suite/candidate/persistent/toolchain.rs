//! [`Toolchain`]: how a compiler builds the tests of a project into programs that can be started again and again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::adapter::suite::format::ReportedTest;
use crate::code::language::Language;
use crate::domain::id::{RepoPath, TestId};
use crate::effect::Lines;

/// A program that holds built tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestProgram {
    pub path: PathBuf,
    /// The folder in which it runs.
    pub directory: PathBuf,
    /// The start of the ids of its tests.
    pub target: String,
    pub environment: BTreeMap<String, String>,
}

/// An error of the compiler at a line of a file, whose path may lack the folders above the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    pub file: String,
    pub line: u32,
    pub message: String,
}

impl BuildError {
    /// Whether it is in a file of the repository.
    pub fn is_in(&self, file: &RepoPath) -> bool {
        let above = file.as_str().strip_suffix(&self.file);
        above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
    }
}

/// Builds the tests of one project, in the way of its own command.
pub trait Toolchain: Send + Sync {
    /// What has to be built for a test; `None` where no program would hold it.
    fn unit_of(&self, test: &TestId) -> Option<String>;

    /// The command that builds a unit, with a folder for what it writes.
    fn build(&self, unit: &str, folder: &Path) -> Vec<String>;

    /// The programs of a unit, from the output of the build.
    fn programs(&self, unit: &str, folder: &Path, output: &str) -> Vec<TestProgram>;

    /// The errors in the output of a failed build.
    fn errors(&self, output: &str) -> Vec<BuildError>;

    /// The command that runs those of the tests that a program holds; `None` if it holds none.
    fn run(&self, program: &TestProgram, tests: &[TestId]) -> Option<Vec<String>>;

    /// The command that builds a unit into programs that count the lines that run; `None` where the compiler
    /// needs more than an option for it.
    fn build_counting(&self, _unit: &str, _folder: &Path) -> Option<Vec<String>> {
        None
    }

    /// The option with which such a program writes a profile to a file.
    fn profile_option(&self, _file: &Path) -> Option<String> {
        None
    }

    /// The language whose sources get probes instead.
    fn probed_language(&self) -> Option<Language> {
        None
    }

    /// The lines of the project that ran, from a profile.
    fn executed_lines(&self, _profile: &str) -> Lines {
        Lines::new()
    }

    /// The results in the output of a program.
    fn read(&self, program: &TestProgram, output: &str) -> Vec<ReportedTest>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_belongs_to_the_file_that_its_path_ends_with() {
        let table = [
            ("price/price.go", true),
            ("price.go", true),
            ("internal/price/price.go", true),
            ("rice.go", false),
            ("other/price.go", false),
        ];
        let file = RepoPath::parse("internal/price/price.go").unwrap();
        for (path, expected) in table {
            let error = BuildError { file: path.to_owned(), line: 1, message: String::new() };
            assert_eq!(error.is_in(&file), expected, "{path}");
        }
    }
}
