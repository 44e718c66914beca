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
    /// Whether one of them gives it an empty text, list or object.
    #[serde(default)]
    pub takes_empty: bool,
    /// Its last line, if its package does not offer it to others or it has no result, so that tests go through others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internal_until: Option<u32>,
    /// Why its tests were dropped; then why calls were, most frequent first.
    pub dropped: Vec<DropReason>,
}

impl CharacterisedFunction {
    /// A function of which no test remains.
    #[must_use]
    pub fn without_tests(file: RepoPath, name: &str, line: u32, tried: u32) -> Self {
        Self {
            file,
            name: name.to_owned(),
            line,
            tried,
            assertions: 0,
            documented: Vec::new(),
            results: Vec::new(),
            takes_empty: false,
            internal_until: None,
            dropped: Vec::new(),
        }
    }
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
    /// The reason for which most tests were dropped, or the first one of most functions where none has a test.
    pub fn main_reason(&self) -> Option<&str> {
        if let Some(most) = self.dropped.iter().max_by_key(|one| one.count) {
            return Some(&most.reason);
        }
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for dropped in self.functions.iter().filter_map(|one| one.dropped.first()) {
            *counts.entry(&dropped.reason).or_default() += 1;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_reason_is_that_of_most_functions() {
        let function = |name: &str, reason: &str, count| CharacterisedFunction {
            dropped: vec![DropReason { reason: reason.into(), count }],
            ..CharacterisedFunction::without_tests(RepoPath::parse("a.py").unwrap(), name, 1, 90)
        };
        let functions = vec![
            function("load", "opens a file", 1),
            function("pick", "its arguments are of another shape", 40),
            function("save", "opens a file", 1),
        ];
        let report = CharacterisationReport { functions, ..CharacterisationReport::default() };
        assert_eq!(report.main_reason(), Some("opens a file"));
    }

    #[test]
    fn why_tests_were_dropped_says_more_than_why_calls_were() {
        let dropped = |reason: &str, count| DropReason { reason: reason.into(), count };
        let mut report = CharacterisationReport {
            functions: vec![CharacterisedFunction {
                dropped: vec![dropped("of another shape", 90)],
                ..CharacterisedFunction::without_tests(RepoPath::parse("a.py").unwrap(), "f", 1, 90)
            }],
            ..CharacterisationReport::default()
        };
        assert_eq!(report.main_reason(), Some("of another shape"));
        report.dropped = vec![dropped("rare", 1), dropped("its file cannot be loaded", 4)];
        assert_eq!(report.main_reason(), Some("its file cannot be loaded"));
    }
}
