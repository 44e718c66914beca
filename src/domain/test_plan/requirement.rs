//! `Requirement`: a behaviour that a test must show; `PlannedFile`: the requirements of one source file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::RepoPath;

use super::layer::SubLayer;

/// The source of a requirement that was derived from the syntax of the code.
pub const CODE: &str = "code";

/// The source of a requirement that documentation states, with a call and its result.
pub const DOCUMENTATION: &str = "documentation";

/// The source of a requirement that the request states.
pub const REQUEST: &str = "request";

/// Priority of a file without enough tests.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    High,
    Medium,
    Low,
}

display_stored_name!(Priority);

impl Priority {
    /// Priority of a file by its path (specification.md 3.1 phase 2), raised by one step if at least
    /// five error paths or branches are untested.
    #[must_use]
    pub fn of_file(file: &RepoPath, untested_decisions: usize) -> Self {
        let path = format!("/{file}");
        let in_folder =
            |names: [&str; 2]| names.iter().any(|name| path.contains(&format!("/{name}/")));
        let raised = untested_decisions >= 5;
        match (in_folder(["core", "auth"]), in_folder(["utils", "helpers"])) {
            (true, _) => Self::High,
            (false, true) => {
                if raised {
                    Self::High
                } else {
                    Self::Medium
                }
            }
            (false, false) => {
                if raised {
                    Self::Medium
                } else {
                    Self::Low
                }
            }
        }
    }
}

/// A behaviour that a test must show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// Id such as `R-001`, unique in the plan.
    pub id: String,
    pub layer: SubLayer,
    /// Function under test; empty for the whole file.
    pub function: String,
    /// Line that implements the behaviour, from 1.
    pub line: u32,
    /// Description, such as "`parse_price` raises `E` for an empty text".
    pub text: String,
    /// Who says so: [`CODE`], [`DOCUMENTATION`], [`REQUEST`], or the provider that was asked.
    pub source: String,
    /// Whether its line gives another result under another condition: that it runs does not tell which.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_branch: bool,
}

impl Requirement {
    /// Whether it only says what the code does, as read from its syntax.
    #[must_use]
    pub fn is_derived(&self) -> bool {
        self.source == CODE
    }

    /// Whether documentation or the request states it.
    #[must_use]
    pub fn is_stated(&self) -> bool {
        [DOCUMENTATION, REQUEST].contains(&self.source.as_str())
    }
}

/// A source file with gaps, where its tests belong, and what they must show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFile {
    pub file: RepoPath,
    /// Tests that belong to it already, by name or import.
    pub tests: Vec<RepoPath>,
    /// Where new tests belong by the conventions of this project.
    pub test_file: RepoPath,
    pub priority: Priority,
    /// The gap, with numbers.
    pub reason: String,
    /// Functions of the file that tests can call and that are asked for.
    pub functions: Vec<String>,
    /// Requirements: what the request and the documentation state, then the others by their lines.
    pub requirements: Vec<Requirement>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priority_follows_the_path_and_rises_with_untested_decisions() {
        let table = [
            ("src/core/a.py", 0, Priority::High),
            ("auth/a.py", 9, Priority::High),
            ("src/utils/a.py", 4, Priority::Medium),
            ("src/helpers/a.py", 5, Priority::High),
            ("src/a.py", 4, Priority::Low),
            ("src/a.py", 5, Priority::Medium),
            ("src/author.py", 0, Priority::Low),
        ];
        for (file, decisions, expected) in table {
            let file = RepoPath::parse(file).unwrap();
            assert_eq!(Priority::of_file(&file, decisions), expected, "{file}");
        }
    }
}
