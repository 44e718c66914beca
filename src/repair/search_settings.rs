//! `Search`: inputs and limits of a search for an edit that repairs failing tests.

use std::time::Duration;

use crate::domain::explanation::SearchSummary;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::memory::Prior;
use crate::domain::proposal::EditSet;
use crate::domain::strategy::Strategy;
use crate::domain::test::{Status, TestCase};
use crate::effect::{CandidateRunner, CaseResult, Clock, FileDiff, RunError, Speed, Worktree};

/// The factor by which a time limit grows on the second try: on a busy machine the first limit may
/// be too short, and an edit that is only slow has not been judged.
pub(super) const RETRY_LIMIT_FACTOR: u32 = 5;

/// Least time limit of a candidate run by the suite's command, whose start may take long.
const COLD_LIMIT: Duration = Duration::from_secs(30);

/// Limits of one search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub candidates: u32,
    pub time: Duration,
}

/// A tree on which edits are tried, what runs its tests, and what may be spent.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    pub worktree: &'a dyn Worktree,
    pub tree: &'a TreeId,
    pub runner: &'a dyn CandidateRunner,
    pub clock: &'a dyn Clock,
    pub limits: Limits,
    pub jobs: usize,
}

impl Trial<'_> {
    /// Runs tests on an edit, and says whether the time limit alone may have failed them.
    pub(super) async fn run(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop_at_failure: bool,
    ) -> Result<(Vec<CaseResult>, bool), RunError> {
        let limit = match self.runner.speed() {
            Speed::Warm => limit,
            Speed::Cold => limit.max(COLD_LIMIT),
        };
        let start = self.clock.elapsed();
        let results = self.runner.run(edits, tests, limit, stop_at_failure).await?;
        let is_late = ran_out(&results, self.clock.elapsed().saturating_sub(start), limit);
        Ok((results, is_late))
    }

    /// The limit of a second try where time alone may have failed the first, if it is longer.
    pub(super) fn longer_limit(&self, limit: Duration, most: Duration) -> Option<Duration> {
        let longer = (limit * RETRY_LIMIT_FACTOR).min(most);
        (self.runner.speed() == Speed::Warm || longer > COLD_LIMIT).then_some(longer)
    }

    /// How many edits are tried at the same time.
    pub(super) fn concurrency(&self) -> usize {
        self.runner.concurrency(self.jobs)
    }
}

/// The failures to repair, and the sources to search.
pub struct Search<'a> {
    pub trial: Trial<'a>,
    /// Failing tests as the suite reported them.
    pub failing: &'a [TestCase],
    /// Passing tests, which must go on passing, with the time that they took in the suite.
    pub passing: &'a [TestCase],
    /// Tests that pass although they are marked as expected failures, which must go on passing too.
    pub unexpected_passes: &'a [TestId],
    /// Whether a file is a test or belongs to tests; the search never edits one.
    pub is_test: &'a (dyn Fn(&RepoPath) -> bool + Sync),
    /// Files that may be at fault where no coverage is available.
    pub related: &'a [RepoPath],
    pub strategy: Strategy,
    /// Changes from the base to these sources; empty without a base.
    pub base_diff: &'a [FileDiff],
    /// What the session has changed so far.
    pub kept_diff: &'a [FileDiff],
    /// Fingerprints of edits that are not tried again.
    pub disproved: &'a [String],
    pub patterns: &'a [String],
    /// What earlier sessions suggest.
    pub prior: &'a Prior,
    /// Whether an earlier search tried all single edits of these sources, so that pairs are next.
    pub singles_done: bool,
    /// Receives what the search has done so far.
    pub progress: &'a (dyn Fn(SearchSummary) + Sync),
}

/// Time limit of tests on a changed source: a multiple of their earlier time, plus `grace`.
pub(super) fn time_limit(before: Duration, tests: usize, grace: Duration) -> Duration {
    /// An edit is given up at this multiple of the time that the tests took before.
    const FACTOR: u32 = 8;
    let each = Duration::from_millis(20);
    before * FACTOR + grace + each * u32::try_from(tests).unwrap_or(u32::MAX)
}

/// Whether only time may have failed the tests: no message, and the time was used up.
fn ran_out(results: &[CaseResult], duration: Duration, limit: Duration) -> bool {
    let mut failed = results.iter().filter(|result| result.status == Status::Failed).peekable();
    failed.peek().is_some() && failed.all(|result| result.failure.is_none()) && duration >= limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_limit_itself_is_doubted() {
        let case = |status, says: Option<&str>| CaseResult {
            frames: Vec::new(),
            failing_behind: 0,
            test: "t".into(),
            status,
            failure: says.map(|says| (says.to_owned(), String::new())),
        };
        let silent = case(Status::Failed, None);
        let explained = case(Status::Failed, Some("Error"));
        let passed = case(Status::Passed, None);
        let table = [
            ("ran out of time", vec![silent.clone()], 2, true),
            ("crashed at once", vec![silent.clone()], 0, false),
            ("one failed with a message", vec![silent.clone(), explained], 2, false),
            ("others passed before", vec![passed.clone(), silent], 2, true),
            ("slow, and nothing failed", vec![passed], 2, false),
            ("no result at all", vec![], 2, false),
        ];
        for (why, results, seconds, expected) in table {
            let limit = Duration::from_secs(1);
            let duration = Duration::from_secs(seconds);
            assert_eq!(ran_out(&results, duration, limit), expected, "{why}");
        }
    }
}
