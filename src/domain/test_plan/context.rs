//! The context package, which describes a repository before tests are planned: coverage,
//! framework, conventions and relevant files (specification.md 6.8, 8.7).

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::framework::Framework;
use crate::domain::id::{RepoPath, SessionId};

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

/// Priority of a file by its path (specification.md 3.1 phase 2), raised by one step if at least
/// five error paths or branches are untested.
pub fn priority(file: &RepoPath, untested_decisions: usize) -> Priority {
    let path = format!("/{file}");
    let in_folder = |names: &[&str]| names.iter().any(|name| path.contains(&format!("/{name}/")));
    let by_path = if in_folder(&["core", "auth"]) {
        Priority::High
    } else if in_folder(&["utils", "helpers"]) {
        Priority::Medium
    } else {
        Priority::Low
    };
    match by_path {
        Priority::Low if untested_decisions >= 5 => Priority::Medium,
        Priority::Medium if untested_decisions >= 5 => Priority::High,
        Priority::Low | Priority::Medium | Priority::High => by_path,
    }
}

/// Source of the coverage numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum CoverageSource {
    /// The project's own coverage tool ran.
    Measured {
        /// The command as typed in a shell.
        command: String,
        format: String,
    },
    /// An existing coverage report that the user named.
    Report {
        /// The name of the report as the user gave it.
        file: String,
        format: String,
    },
    /// No line coverage: source files are matched to tests by names and imports.
    Mapping { reason: String },
}

/// A source file and how much of it the tests reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileCoverage {
    pub file: RepoPath,
    /// Tests that belong to it, by name or import.
    pub tests: Vec<RepoPath>,
    /// Number of lines that ran; absent without line coverage.
    pub lines_covered: Option<u32>,
    pub lines_total: Option<u32>,
    pub branches_covered: Option<u32>,
    pub branches_total: Option<u32>,
    /// Executable lines that did not run, as `9, 14-18`.
    pub uncovered_lines: String,
    /// Functions that no test calls; without line coverage, functions that no test names.
    pub untested_functions: Vec<String>,
}

/// A source file for which tests are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingTest {
    /// The source without tests.
    pub implementation_file: RepoPath,
    /// Where its tests belong by the conventions of this project.
    pub suggested_test_file: RepoPath,
    pub priority: Priority,
    /// The gap, with numbers.
    pub reason: String,
}

/// Numbers over the files that were examined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageStats {
    pub total_implementation_files: u32,
    pub total_test_files: u32,
    pub files_with_tests: u32,
    pub files_without_tests: u32,
    /// Percentage of source files with tests, with one decimal, rounded down.
    pub coverage_percentage: String,
    /// Percentage of lines that ran, with one decimal, rounded down; absent without line coverage.
    pub line_percentage: Option<String>,
    pub branch_percentage: Option<String>,
}

/// Coverage of the files that were examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestCoverage {
    /// Test files of the repository that belong to the examined files.
    pub existing_tests: Vec<RepoPath>,
    pub missing_tests: Vec<MissingTest>,
    pub coverage_stats: CoverageStats,
    pub source: CoverageSource,
    pub files: Vec<FileCoverage>,
}

/// How tests of this project are written, read from its own files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conventions {
    /// The names of test files, such as `test_*.py`.
    pub file_naming: String,
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
    /// A test file that is typical of these conventions.
    pub sample: Option<RepoPath>,
}

/// The test framework, its conventions and its commands (specification.md 6.8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestFramework {
    /// The name of the framework; `unknown` when none was detected.
    #[schemars(with = "String")]
    pub framework: Framework,
    /// The version as the framework prints it; empty when unknown.
    pub version: String,
    pub test_pattern: String,
    /// Folder of most tests; empty if they are beside the sources.
    pub test_directory: String,
    pub assertion_library: String,
    /// The tool that replaces other code; empty when none does.
    pub mocking_framework: String,
    pub conventions: Conventions,
    #[serde(flatten)]
    pub commands: TestCommands,
}

/// The commands of the tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TestCommands {
    /// The command for the whole suite.
    pub run_tests: String,
    /// Command that runs the suite with coverage; empty if no tool is known.
    pub run_coverage: String,
    /// Command that runs one test file, named by `{test_file}`.
    pub run_specific: String,
}

/// Contents of one task summary of the source session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImplementationSummary {
    pub task_id: String,
    /// Path of the summary, relative to the source session.
    pub summary_path: String,
    /// Files of the repository that it names.
    pub changed_files: Vec<RepoPath>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSession {
    pub id: SessionId,
    pub description: String,
    /// Summaries of its completed tasks; the files they name may no longer exist.
    pub summaries: Vec<ImplementationSummary>,
}

/// Context from the finished implementation session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceContext {
    /// The summaries of completed tasks.
    pub implementation_summaries: Vec<ImplementationSummary>,
}

/// What a description refers to, and the order in which it enters prompts and the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PrioritizedContext {
    /// What it names here: files, and functions as `file:function`.
    pub scope: Vec<String>,
    /// Couplings of these files that imports do not show.
    pub key_constraints: Vec<String>,
    /// The files that are worked on, each behind those that it needs.
    pub dependency_order: Vec<RepoPath>,
}

/// The head of a context package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Metadata {
    pub task_description: String,
    /// RFC 3339, in UTC.
    pub timestamp: String,
    /// The session it belongs to; no other session may reuse the package.
    pub session_id: SessionId,
    /// The finished session behind it, in session mode.
    pub source_session_id: Option<SessionId>,
}

/// `test-context-package.json` of session mode and `context-package.json` of prompt mode
/// (specification.md 8.7, C-25).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPackage {
    pub metadata: Metadata,
    #[serde(default)]
    pub source_context: SourceContext,
    /// Empty in session mode.
    #[serde(default)]
    pub prioritized_context: PrioritizedContext,
    pub test_coverage: TestCoverage,
    pub test_framework: TestFramework,
    /// Recommended starting points, in words.
    pub focus_areas: Vec<String>,
}

impl ContextPackage {
    /// Functions by file to which the request is limited; all other files are tested as a whole.
    pub fn only(&self) -> BTreeMap<RepoPath, BTreeSet<String>> {
        let mut only = BTreeMap::new();
        for place in &self.prioritized_context.scope {
            if let Some((file, function)) = place.split_once(':')
                && let Ok(file) = RepoPath::parse(file)
            {
                let names: &mut BTreeSet<String> = only.entry(file).or_default();
                names.insert(function.to_owned());
            }
        }
        only
    }

    /// The place of a file in prompts: behind the files that it needs.
    pub fn rank(&self, file: &RepoPath) -> usize {
        let order = &self.prioritized_context.dependency_order;
        order.iter().position(|other| other == file).unwrap_or(order.len())
    }

    /// The file of the package inside the session folder.
    pub fn file(&self) -> &'static str {
        if self.metadata.source_session_id.is_some() { TEST_CONTEXT } else { CONTEXT }
    }
}

/// Path of the package of session mode inside the session folder.
pub const TEST_CONTEXT: &str = ".process/test-context-package.json";

/// Path of the package of prompt mode inside the session folder.
pub const CONTEXT: &str = ".process/context-package.json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_enter_prompts_behind_what_they_need() {
        let text = include_str!("../../../tests/data/planning/v1/context-package.json");
        let mut package: ContextPackage = serde_json::from_str(text).unwrap();
        let file = |name: &str| RepoPath::parse(name).unwrap();
        package.prioritized_context.dependency_order = ["c.py", "a.py", "b.py"].map(file).to_vec();
        let mut files = ["other.py", "b.py", "c.py", "a.py"].map(file);
        files.sort_by_key(|one| package.rank(one));
        assert_eq!(files, ["c.py", "a.py", "b.py", "other.py"].map(file));
    }

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
            assert_eq!(priority(&file, decisions), expected, "{file}");
        }
    }
}
