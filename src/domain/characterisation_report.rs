//! `CharacterisationReport`: tests that pin today's behaviour, by function and file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{RepoPath, TestId};
use super::mutation::Score;
use super::test_plan::written_tests::BugFinding;

/// Why calls or tests were dropped, and how many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DropReason {
    /// The reason as text; may contain names from the code.
    pub reason: String,
    /// Number of calls or tests dropped for this reason.
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
    pub assertions: u32,
    /// Documented calls whose results they hold, such as `fee(3)`.
    #[serde(default)]
    pub documented: Vec<String>,
    /// The results that they hold, as literals or by the class of what is raised; empty where tests were
    /// not written by the embedded engine.
    #[serde(default)]
    pub results: Vec<String>,
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

/// Coverage of the lines of the selected files that mutants change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct LineCounts {
    pub covered: u32,
    /// Number of lines that some mutant changes.
    pub lines: u32,
}

/// The report of `regreen pin`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct CharacterisationReport {
    pub schema_version: u32,
    pub framework: String,
    /// All functions of the selected files.
    pub functions: Vec<CharacterisedFunction>,
    pub files: Vec<CharacterisationFile>,
    /// Why written tests were dropped.
    pub dropped: Vec<DropReason>,
    /// Examples in documentation that the code contradicts.
    #[serde(default)]
    pub findings: Vec<BugFinding>,
    /// Work that the time limit left undone, in words.
    #[serde(default)]
    pub unfinished: Vec<String>,
    /// Tests whose result changed between runs of the same sources.
    pub flaky: Vec<TestId>,
    /// Coverage by the tests that existed before.
    pub before: LineCounts,
    /// Coverage including the new tests.
    pub after: LineCounts,
    /// Mutation score of the new tests; absent if there are none.
    pub score: Option<Score>,
    /// Branch with the new tests.
    pub branch: Option<String>,
    pub seconds: f64,
}

impl CharacterisationReport {
    /// The reason for which most calls and tests were dropped.
    pub fn main_reason(&self) -> Option<&str> {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let of_functions = self.functions.iter().flat_map(|one| &one.dropped);
        for dropped in of_functions.chain(&self.dropped) {
            *counts.entry(&dropped.reason).or_default() += dropped.count;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(reason, _)| reason)
    }

    /// Functions with at least one kept assertion.
    pub fn pinned(&self) -> usize {
        self.functions.iter().filter(|one| one.assertions > 0).count()
    }

    /// Tests in all kept files.
    pub fn tests(&self) -> usize {
        self.files.iter().map(|file| file.tests.len()).sum()
    }
}
