//! How well tests notice broken code: the mutation score and what it is judged by.
//!
//! Source: specification.md 13.6.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{RepoPath, TestId};

/// Share of covered mutants that tests must notice when nothing else is said, in percent
/// (specification.md 13.6).
pub const MIN_MUTATION_SCORE: u32 = 60;

/// A small break of the code under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Mutant {
    pub file: RepoPath,
    /// The line, from 1.
    pub line: u32,
    /// The operator that made it.
    pub operator: String,
    /// The line before, without its indentation.
    pub before: String,
    /// The line after the change.
    pub after: String,
}

/// Whether tests are known to reach a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LineReach {
    /// Lines are known per test; only those that run are broken.
    #[default]
    Known,
    /// The suite does not report lines; every line counts as covered.
    Unknown,
}

/// How many changes to the code the tests noticed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Score {
    pub schema_version: u32,
    /// Mutants of the chosen files, on lines that no test reaches included.
    pub mutants: u32,
    /// Mutants on lines that some test reaches.
    pub covered: u32,
    /// Covered ones that were tried and compile; fewer than covered when a budget ended the run.
    pub tried: u32,
    /// Covered ones that the compiler refused: no program, so nothing to notice, and not tried.
    #[serde(default)]
    pub unviable: u32,
    /// TypeScript was broken and nothing refused: where no test run checks types, versions that a
    /// compiler would refuse are among those that were tried.
    #[serde(default)]
    pub types_unchecked: bool,
    /// Tried ones that made a test fail, hang or crash.
    pub noticed: u32,
    /// Of those, ones that hung or crashed.
    pub hung: u32,
    pub reach: LineReach,
    pub tests: u32,
    /// Tests that do not pass on the unchanged sources in the runner used here, and were not asked.
    pub left_out: Vec<TestId>,
    /// Lines of code in the chosen files that some test reaches.
    pub lines_covered: u32,
    /// Lines of the chosen files that hold something a mutant could break.
    pub lines: u32,
    /// Mutants that were tried and went unnoticed.
    pub survivors: Vec<Mutant>,
    /// Wall time of the run.
    pub seconds: f64,
    /// Share of the tried mutants that must be noticed, in percent.
    pub threshold: u32,
}

impl Score {
    /// Noticed of tried, in thousandths, cut; `None` when nothing was tried.
    pub fn per_mille(&self) -> Option<u32> {
        (self.tried > 0).then(|| {
            let share = u64::from(self.noticed) * 1000 / u64::from(self.tried);
            u32::try_from(share).unwrap_or(1000)
        })
    }

    /// Whether enough was noticed. Exactly the threshold is enough; without a mutant there is
    /// nothing to notice, and nothing to hold against the tests. Where there are some and the time
    /// ended before the first one, nothing is known.
    pub fn is_met(&self) -> bool {
        let known = self.tried > 0 || self.covered <= self.unviable;
        known && u64::from(self.noticed) * 100 >= u64::from(self.threshold) * u64::from(self.tried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_threshold_is_enough_and_shares_are_cut() {
        let table = [
            (0, 0, 60, None, true),
            (6, 10, 60, Some(600), true),
            (5, 10, 60, Some(500), false),
            (599, 1000, 60, Some(599), false),
            (2, 3, 66, Some(666), true),
            (2, 3, 67, Some(666), false),
            (10, 10, 100, Some(1000), true),
        ];
        for (noticed, tried, threshold, share, met) in table {
            let score = Score { tried, noticed, threshold, ..Score::default() };
            assert_eq!((score.per_mille(), score.is_met()), (share, met), "{noticed}/{tried}");
        }
        let none =
            |covered, unviable| Score { covered, unviable, threshold: 60, ..Score::default() };
        assert!(!none(40, 3).is_met(), "the time ended before the first one");
        assert!(none(3, 3).is_met(), "the compiler refused all of them");
    }
}
