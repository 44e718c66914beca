//! `Explanation`: what a dry run finds out about the failures, and what a fix would try.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fix_plan::ModificationPoint;
use super::id::{CommitId, RepoPath, TestId};
use super::strategy::Strategy;

/// What is known of the failures before anything is changed. Texts are foreign unless stated
/// otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Explanation {
    /// Failures grouped by their most suspicious function, largest group first.
    pub clusters: Vec<ExplainedCluster>,
    /// What the first iteration of a fix would try.
    pub approach: Approach,
}

/// Failing tests that one cause may explain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ExplainedCluster {
    /// The failing tests, most specific first.
    pub tests: Vec<TestId>,
    /// The most suspicious line; absent when nothing points at one.
    pub place: Option<SuspiciousLine>,
    /// The functions that may hold the cause, most suspicious first; at most five.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<SuspectFunction>,
    /// The assertion of the most specific test, in one line.
    pub message: String,
    /// What a provider says about these tests, if one analysed them.
    pub analysis: Option<ProviderAnalysis>,
    /// Number of its tests that also fail on the merge base.
    pub preexisting: u32,
    /// Number of its tests that pass on the merge base.
    pub introduced: u32,
    pub origin: LineOrigin,
}

/// A line, and why it is suspected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SuspiciousLine {
    pub file: RepoPath,
    /// The function around it; `<module>` at top level.
    pub function: String,
    /// First line of the function, from 1.
    pub start: u32,
    /// Last line of the function, inclusive.
    pub end: u32,
    /// The line, from 1.
    pub line: u32,
    /// Number of lines of the function with the same rank, this one included.
    pub equals: u32,
    /// Which runs execute the line; absent where no coverage was measured.
    pub spectrum: Option<Spectrum>,
    /// Whether the stack trace of a failing test names the line.
    pub in_stack: bool,
    /// Whether the line differs from the merge base.
    pub is_changed: bool,
    /// Where the message itself comes from, as `file:line`, when that is neither this file nor a test's
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised_at: Option<String>,
}

/// A function, and the lines of it that are suspected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SuspectFunction {
    pub file: RepoPath,
    /// Its name; `<module>` for a line at top level.
    pub function: String,
    /// First line of the function, from 1.
    pub start: u32,
    /// Last line of the function, inclusive.
    pub end: u32,
    /// Its most suspicious lines, most suspicious first; those of a group are at most ten.
    pub lines: Vec<u32>,
}

impl SuspectFunction {
    /// The function as a place to change.
    pub fn point(&self) -> ModificationPoint {
        let Self { file, function, start, end, .. } = self.clone();
        ModificationPoint { file, function, start, end }
    }
}

/// A line that a search tried edits at, and which runs execute it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SearchedPlace {
    pub file: RepoPath,
    /// The function around it; `<module>` at top level.
    pub function: String,
    pub line: u32,
    /// Absent where no coverage is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spectrum: Option<Spectrum>,
}

/// An edit with which a failing test got further, or passed for a suspicious reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ClosestEdit {
    /// The edit in one line.
    pub summary: String,
    /// A test that failed later with it.
    pub test: TestId,
    /// Why it was not proposed although the test passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspicion: Option<String>,
}

/// What a search did that found no edit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SearchSummary {
    /// The most suspicious places, at most five.
    pub places: Vec<SearchedPlace>,
    /// Candidates that were tried.
    pub tried: u32,
    /// Candidates that there were.
    pub of: u32,
    /// Whether the session ended before the search did, so that an edit may have been found and not proposed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stopped: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest: Option<ClosestEdit>,
}

/// How many runs of tests execute a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Spectrum {
    /// Failing tests of the cluster that execute it.
    pub failing: u32,
    /// Failing tests of the cluster.
    pub failing_of: u32,
    /// Passing tests that execute it.
    pub passing: u32,
    /// Passing tests that were traced.
    pub passing_of: u32,
}

/// Ochiai coefficient, from 0 to 1: how much the tests that execute a line tend to fail.
#[must_use]
pub fn ochiai(failing: u32, failing_of: u32, passing: u32) -> f64 {
    let product = f64::from(failing_of) * f64::from(failing + passing);
    if product > 0.0 { f64::from(failing) / product.sqrt() } else { 0.0 }
}

/// The cause in the words of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ProviderAnalysis {
    /// Name of the provider.
    pub author: String,
    /// The cause in one sentence.
    pub cause: String,
    /// Where it sees the cause, as `file:function:start-end`.
    pub place: String,
}

/// When the suspicious function last changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", rename_all_fields = "kebab-case")]
pub enum LineOrigin {
    /// There is no merge base to compare with, or no place.
    #[default]
    Unknown,
    /// Its lines are the same on the merge base.
    BeforeBase,
    /// The newest commit since the merge base that changed it.
    Commit {
        id: CommitId,
        /// First line of its message.
        title: String,
    },
}

/// What an iteration would try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Approach {
    pub strategy: Strategy,
    /// Why this strategy, in text written by regreen.
    pub reason: String,
    /// Who would be asked, in order: providers by name, or `embedded`.
    pub chain: Vec<String>,
    /// Limits of a search of the embedded engine.
    pub search: SearchBudget,
    /// Iterations at most.
    pub max_iterations: u32,
}

/// Limits of one search of the embedded engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct SearchBudget {
    /// Number of kinds of edit it knows.
    pub kinds: u32,
    /// Candidates at most.
    pub candidates: u32,
    /// Wall time at most.
    pub seconds: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ochiai_ranks_what_only_failures_run_highest() {
        assert!((ochiai(2, 2, 0) - 1.0).abs() < 1e-9);
        assert!(ochiai(2, 2, 2) < ochiai(2, 2, 1));
        assert!(ochiai(1, 2, 0) < ochiai(2, 2, 0));
        assert!(ochiai(0, 2, 5).abs() < f64::EPSILON);
        assert!(ochiai(0, 0, 0).abs() < f64::EPSILON);
    }
}
