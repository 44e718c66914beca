//! What pinning today's behaviour came to, function by function.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{RepoPath, TestId};
use super::mutation::Score;

/// Why something was dropped, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DropReason {
    /// In words; may hold names from the code.
    pub reason: String,
    /// Calls, or tests, it holds for.
    pub count: u32,
}

/// What a run found out about one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct CharacterisedFunction {
    pub file: RepoPath,
    /// The name, with its class before a dot.
    pub name: String,
    /// The first line, from 1.
    pub line: u32,
    pub tried: u32,
    /// Assertions that remain.
    #[serde(rename = "kept")]
    pub assertions: u32,
    /// Why calls were dropped, most frequent first.
    pub dropped: Vec<DropReason>,
}

/// A test file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct CharacterisationFile {
    pub file: RepoPath,
    /// The source that the tests describe.
    pub subject: RepoPath,
    pub tests: Vec<TestId>,
    pub assertions: u32,
}

/// Lines of the chosen files that tests reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct LineCounts {
    pub covered: u32,
    /// Lines that hold code which runs.
    pub lines: u32,
}

/// The report of `regreen pin`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct CharacterisationReport {
    pub schema_version: u32,
    pub framework: String,
    /// All functions of the chosen files.
    pub functions: Vec<CharacterisedFunction>,
    pub files: Vec<CharacterisationFile>,
    /// Tests that were written and dropped, with the reason.
    pub dropped: Vec<DropReason>,
    /// What the time limit left out, in words.
    #[serde(default)]
    pub unfinished: Vec<String>,
    /// Tests whose result changed between runs of the same sources.
    pub flaky: Vec<TestId>,
    /// Reach of the tests that were there before.
    pub before: LineCounts,
    /// Reach with the new tests.
    pub after: LineCounts,
    /// How well the new tests notice broken code; absent when there are none.
    pub score: Option<Score>,
    /// The branch that holds them.
    pub branch: Option<String>,
    pub seconds: f64,
}

impl CharacterisationReport {
    /// Functions with at least one kept assertion.
    pub fn pinned(&self) -> usize {
        self.functions.iter().filter(|one| one.assertions > 0).count()
    }

    /// Tests in all kept files.
    pub fn tests(&self) -> usize {
        self.files.iter().map(|file| file.tests.len()).sum()
    }
}
