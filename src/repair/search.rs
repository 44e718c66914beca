//! What is searched for, and what may be spent on it.

use std::time::Duration;

use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::strategy::Strategy;
use crate::domain::test::TestCase;
use crate::effect::{CandidateRunner, Clock, FileDiff, Worktree};

/// How much may be spent on one search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub candidates: u32,
    pub time: Duration,
}

/// What is searched for, and where.
pub struct Search<'a> {
    pub worktree: &'a dyn Worktree,
    pub tree: &'a TreeId,
    pub trial: &'a dyn CandidateRunner,
    pub clock: &'a dyn Clock,
    /// Failing tests, as the suite told them.
    pub failing: &'a [TestCase],
    pub passing: &'a [TestId],
    /// Whether a file is a test or belongs to tests; never edited.
    pub is_test: &'a (dyn Fn(&RepoPath) -> bool + Sync),
    /// Files that may be at fault where no coverage can be had.
    pub related: &'a [RepoPath],
    pub strategy: Strategy,
    /// Changes from the base to these sources; empty without a base.
    pub base_diff: &'a [FileDiff],
    /// Fingerprints of edits that are not tried again.
    pub disproved: &'a [String],
    pub patterns: &'a [String],
    /// Single edits were all tried on these sources; go on with pairs.
    pub singles_done: bool,
    pub limits: Limits,
    pub jobs: usize,
    /// Told how many were tried.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// What tests may take on a changed source: a multiple of the time they took before, and `grace`.
pub(super) fn time_limit(before: Duration, tests: usize, grace: Duration) -> Duration {
    /// A candidate is given up at this multiple of the time the tests took before.
    const FACTOR: u32 = 8;
    let each = Duration::from_millis(20);
    before * FACTOR + grace + each * u32::try_from(tests).unwrap_or(u32::MAX)
}
