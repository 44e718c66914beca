//! The mutation score: the share of small deliberate defects (mutants) that the tests detect.
//!
//! Source: specification.md 6.9.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{CommitId, RepoPath, TestId};
use super::rate::PerMille;

/// Default percentage of tried mutants that tests must detect (specification.md 6.9).
pub const MIN_MUTATION_SCORE: u32 = 60;

/// A mutant: one small deliberate defect in the code under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Mutant {
    pub file: RepoPath,
    /// The line, from 1.
    pub line: u32,
    /// The mutation operator that produced it.
    pub operator: String,
    /// The line before, without its indentation.
    pub before: String,
    /// The line after the change.
    pub after: String,
}

/// Whether it is known which lines the tests reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LineReach {
    /// Coverage per test is known; only lines that run are mutated.
    #[default]
    Known,
    /// The suite reports what ran in all; what no test is known to reach counts for each of them, such as
    /// lines that run while a file is loaded.
    Suite,
    /// The suite does not report lines; every line counts as covered.
    Unknown,
}

/// What comes before the first mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// The run of the whole suite.
    Suite,
    /// The runs that show which lines each test reaches.
    Traces,
}

/// Result of mutation testing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Score {
    pub schema_version: u32,
    /// Number of mutants of the selected files, including those on lines that no test reaches.
    pub mutants: u32,
    /// Mutants on lines that some test reaches.
    pub covered: u32,
    /// Covered mutants that compile and were tried; not all of them if a budget ended the run.
    pub tried: u32,
    /// Covered mutants that the compiler refused; they do not count as tried.
    #[serde(default)]
    pub unviable: u32,
    /// Whether TypeScript was mutated and no mutant was refused. Then probably nothing checks
    /// types, and mutants that a compiler would refuse are among those that were tried.
    #[serde(default)]
    pub types_unchecked: bool,
    /// Tried mutants that made a test fail, hang or crash.
    pub noticed: u32,
    /// Detected mutants that hung or crashed.
    pub hung: u32,
    pub reach: LineReach,
    pub tests: u32,
    /// Tests that did not take part, because they fail on the unchanged sources.
    pub left_out: Vec<TestId>,
    /// Number of mutable lines in the selected files that some test reaches.
    pub lines_covered: u32,
    /// Number of mutable lines in the selected files.
    pub lines: u32,
    /// Mutants that were tried and went unnoticed.
    pub survivors: Vec<Mutant>,
    /// Lines that some test reaches and of whose mutants none was tried, by file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub untried_lines: BTreeMap<RepoPath, BTreeSet<u32>>,
    /// Wall time of the run in seconds.
    pub seconds: f64,
    /// Percentage of the tried mutants that must be detected.
    pub threshold: u32,
    /// The commit that was measured; `None` where the score is part of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// Number of files with changes that the commit does not have.
    #[serde(default)]
    pub uncommitted: u32,
    /// Whether a person or the platform stopped the run before its end.
    #[serde(default)]
    pub stopped: bool,
    /// What the time limit ended, so that nothing was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<Preparation>,
}

/// Fewer tried mutants measure nothing, unless they are all.
const ENOUGH: u32 = 30;

impl Score {
    /// The score of a run that was stopped before it tried anything.
    pub fn of_stopped_run(threshold: u32) -> Self {
        Self { schema_version: 1, threshold, stopped: true, ..Self::default() }
    }

    /// The score of a run whose time ended before it tried anything.
    pub fn of_cut_run(threshold: u32, part: Preparation) -> Self {
        Self { schema_version: 1, threshold, cut_short: Some(part), ..Self::default() }
    }

    /// Detected share of the tried mutants; `None` if none was tried.
    pub fn per_mille(&self) -> Option<PerMille> {
        (self.tried > 0).then(|| PerMille::of(self.noticed, self.tried))
    }

    /// Whether the share means something: enough mutants were tried, or all that there are.
    pub fn is_measured(&self) -> bool {
        let is_complete = self.tried + self.unviable >= self.covered;
        self.cut_short.is_none() && (self.tried >= ENOUGH || is_complete)
    }

    /// That the threshold is not met, as a clause.
    pub fn describe_shortfall(&self) -> Option<String> {
        let Self { tried, covered, threshold, .. } = self;
        if !self.is_measured() {
            return Some(format!(
                "mutation score not measured: the time limit was reached after {tried} of {covered} mutants"
            ));
        }
        let share = self.per_mille().filter(|_| !self.is_met())?;
        Some(format!("mutation score {share} % of {threshold} %"))
    }

    /// Whether the threshold is met; exactly the threshold is enough. Without any mutant to try it
    /// is met, but not if a time limit ended the run before enough of them were tried, nor if
    /// somebody stopped it.
    pub fn is_met(&self) -> bool {
        self.is_measured()
            && !self.stopped
            && u64::from(self.noticed) * 100 >= u64::from(self.threshold) * u64::from(self.tried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_threshold_is_enough_and_shares_never_look_better() {
        let table = [
            (0, 0, 60, None, true),
            (6, 10, 60, Some(600), true),
            (5, 10, 60, Some(500), false),
            (599, 1000, 60, Some(599), false),
            (2, 3, 66, Some(667), true),
            (2, 3, 67, Some(667), false),
            (5998, 10_000, 60, Some(599), false),
            (10, 10, 100, Some(1000), true),
        ];
        for (noticed, tried, threshold, share, met) in table {
            let score = Score { tried, noticed, threshold, ..Score::default() };
            let shown = score.per_mille().map(PerMille::tenths);
            assert_eq!((shown, score.is_met()), (share, met), "{noticed}/{tried}");
        }
        let none =
            |covered, unviable| Score { covered, unviable, threshold: 60, ..Score::default() };
        assert!(!none(40, 3).is_met(), "the time ended before the first one");
        let some = |tried| Score { tried, noticed: tried, ..none(40, 3) };
        assert!(!some(29).is_met() && some(30).is_met(), "a small sample says nothing");
        assert!(Score { covered: 32, ..some(29) }.is_met(), "these are all");
        assert!(none(3, 3).is_met(), "the compiler refused all of them");
        assert!(!Score { stopped: true, ..some(30) }.is_met(), "nobody waited for the others");
        assert!(
            !Score::of_cut_run(60, Preparation::Suite).is_met(),
            "it is not known what there is"
        );
    }
}
