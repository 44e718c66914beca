//! The fix loop as a state machine: the state names the next step, and [`FixLoop::advance`] turns
//! the outcome of that step into the next state and the events to show.
//!
//! The state is saved before each step and is all that a resumed run needs (specification.md 7.4, 8.3).

mod advance;
mod baseline;
mod failed_change;
mod iterate;
mod outcome;
mod policy;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::budget::Spending;
use super::chain::ProviderCall;
use super::criticality::Criticality;
use super::event::{Ending, IterationRow, Minimised};
use super::explanation::{Explanation, SearchSummary};
use super::fix_plan::{FixPlan, RootCause};
use super::guard::EditScope;
use super::hindrance::Hindrance;
use super::id::{CommitId, RepoPath, SessionId, TestId, TreeId};
use super::latest_results::LatestResults;
use super::progress::Trend;
use super::proposal::Proposal;
use super::rate::PassRate;
use super::strategy::Strategy;
use super::test::{Layer, Objection, Results};

#[cfg(test)]
pub(crate) mod tests;

pub use advance::{FLAKY_RUNS, FixStepOutcome, ProviderCalls};
pub use failed_change::FailedChange;
pub use outcome::{SessionLocation, Stopped};
pub use policy::{FixTerms, RegressionTrace};

/// The next step, by name; its data are in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "step")]
pub enum FixStep {
    /// Run the whole suite on the head under test.
    Baseline,
    /// Run the failing tests alone, for the `round`th time, to find flaky ones.
    Recheck {
        /// Number of the run, from 1.
        round: u32,
    },
    /// Run the failing tests on the merge base.
    TestMergeBase,
    /// Find the causes and their places.
    Diagnose,
    Propose,
    /// Write the vetted edit into the private checkout.
    Apply,
    /// Run the tests that the edit may affect.
    TestAffected,
    TestFull,
    /// Commit the improved sources.
    Keep,
    /// Commit a regressed attempt, so that it stays visible in the history.
    ShowAttempt,
    Rollback,
    /// Put the accepted sources back on disk.
    Restore,
    /// Minimise the change: remove the parts that the suite does not need, and prove that the rest is.
    Minimise,
    KeepSmaller,
    /// Run the whole suite in a fresh checkout of the accepted sources.
    Confirm,
    /// Run the flaky tests that failed in it again, alone, for the `round`th time.
    ConfirmFlaky {
        /// Number of the run, from 1.
        round: u32,
    },
    /// Remove the session folder from the branch tip.
    RemoveState,
    /// Nothing more; the state holds the verdict.
    Finish,
}

/// The next step in the coarser terms of the specification (specification.md 8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextAction {
    ExecuteFixTask,
    Retest,
    Complete,
}

/// The whole state of one session's loop; stored as `.process/iteration-state.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixLoop {
    pub session_id: SessionId,
    /// When the loop began, RFC 3339.
    pub started_at: String,
    pub terms: FixTerms,
    pub head: CommitId,
    /// The tree of the commit under test.
    pub head_tree: TreeId,
    pub next: FixStep,
    /// The next step as readers of the specification's file expect it.
    pub next_action: NextAction,
    /// The current iteration; 0 is the baseline. Never decreases.
    pub current_iteration: u32,
    pub selected_strategy: Option<Strategy>,
    pub strategy_reason: String,
    pub baseline: Option<Baseline>,
    /// Rate before the first iteration, when flaky tests are known.
    pub initial_rate: Option<PassRate>,
    /// What the latest full run of the accepted sources says beside its tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objection>,
    /// Last known status per test, for the accepted sources.
    pub ledger: LatestResults,
    pub accepted_tree: TreeId,
    /// The sources at the branch tip; differs when a change is kept without a commit.
    pub committed_tree: TreeId,
    /// Intermediate results of the current iteration.
    pub attempt: Option<Attempt>,
    pub iterations: Vec<IterationRecord>,
    /// Number of iterations that had ended when the session was last continued after its end, or
    /// from a new baseline. The rules that end a run judge only those after them.
    #[serde(default)]
    pub iterations_before_reopening: usize,
    /// Stuck tests: they failed in as many recent results as the thresholds say.
    pub stuck_tests: Vec<TestId>,
    /// Whether the last iteration was a regression.
    pub regression_detected: bool,
    /// Direction of the last three rates.
    pub trend: Option<Trend>,
    /// Flaky tests, which failed and passed on the same sources.
    pub flaky: Vec<TestId>,
    /// Tests that also fail on the merge base; excluded from the rate if `terms` say so.
    pub preexisting: Vec<TestId>,
    /// Tests that fail on the head and pass on the merge base.
    pub introduced: Vec<TestId>,
    /// Failing tests of the baseline that no edit repairs, with the evidence: the environment denied
    /// them something, or the configuration knows them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub excused: BTreeMap<TestId, String>,
    /// Why no honest edit makes failing tests of the baseline pass.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hindrances: BTreeMap<TestId, Hindrance>,
    /// Files of the frames of assertions that failed in the baseline of the unchanged sources, innermost
    /// first and that of the test last: evidence of which files are tests.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub assertion_stacks: BTreeSet<Vec<RepoPath>>,
    /// Packages that tests of the baseline miss and the repository does not have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub not_installed: BTreeSet<String>,
    /// Fingerprints of edits that regressed, changed nothing or were refused.
    pub disproved: Vec<String>,
    /// Names of the edit operators whose edits were kept, latest first.
    pub patterns: Vec<String>,
    /// How earlier sessions led this one, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    pub verdict: Option<FixVerdict>,
    /// Number of lines of `events.jsonl` that belong to this state.
    pub events: u64,
    /// Number of lines of `outcomes.jsonl` that belong to this state.
    #[serde(default)]
    pub transitions: u64,
    /// Wall time of all runs so far.
    pub spent_ms: u64,
    /// Wall time of test runs so far.
    pub testing_ms: u64,
    /// Number of failed attempts to perform the current step.
    pub retries: u32,
    /// Tip of the branch after the last commit.
    pub tip: Option<CommitId>,
    /// What provider calls used and cost in all runs.
    #[serde(default)]
    pub spending: Spending,
    /// The result of making the change smaller, once that was tried.
    #[serde(default)]
    pub minimised: Option<Minimised>,
    /// What a dry run found out about the failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Whether an accepted change edits tests (specification.md 7.13).
    #[serde(default)]
    pub tests_edited: bool,
    /// Why accepted changes treat the tests specially (specification.md 7.16).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub special_cases: Vec<String>,
    /// A language of accepted changes that is not parsed (specification.md 7.16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// Whether something kept tests from running at the baseline, so that nothing is known of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_unloaded: bool,
}

/// The results of iteration 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The rate before the first edit: flaky tests count as they ended when they ran again, and those
    /// that were set aside as failing on the base too do not count.
    pub rate: PassRate,
    pub failing: Vec<TestId>,
    /// Wall time of the full run.
    pub duration_ms: u64,
    /// What the run said beside its tests; absent where that was not looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objections: Option<Vec<Objection>>,
}

/// Intermediate results of an iteration, until it is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The sources before the iteration.
    pub pre_tree: TreeId,
    /// `spent_ms` of the session when the iteration began.
    pub began_ms: u64,
    pub plan: Option<FixPlan>,
    pub proposal: Option<Proposal>,
    pub fingerprint: String,
    /// The operators that made the edit.
    pub operators: Vec<String>,
    /// Number of candidates tried in all searches.
    pub tried: u32,
    /// Whether the search found nothing, within its limits.
    pub exhausted: bool,
    /// What that search looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchSummary>,
    /// Reasons for which guards refused proposals, one entry per proposal.
    pub refusals: Vec<String>,
    pub tree: Option<TreeId>,
    /// Tests the proposal may affect, failing ones first.
    pub affected: Vec<TestId>,
    /// Ledger after the test runs of this iteration.
    pub ledger: Option<LatestResults>,
    /// Tests that broke in its full run, which is made again to tell those that fail by chance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubted: Vec<TestId>,
    /// What its full run says beside the tests, once there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objections: Option<Vec<Objection>>,
    pub tests_run: u32,
    /// Number of tests that full runs would have executed instead.
    pub tests_of: u32,
    /// The judgement, once the tests have run.
    pub judged: Option<AttemptResult>,
    /// Commit of the attempt, whether it is kept or will be reverted.
    pub commit: Option<CommitId>,
    #[serde(default)]
    pub calls: Vec<ProviderCall>,
    /// Whether providers were available, but none gave a good answer.
    #[serde(default)]
    pub degraded: bool,
    /// The tests that failed when the iteration began.
    #[serde(default)]
    pub failing: Vec<TestId>,
    /// What their failures looked like.
    #[serde(default)]
    pub error_signatures: Vec<String>,
}

/// Whether an iteration without an edit searched for one, rather than asked providers alone. An
/// outage of all of them leaves no calls either.
fn is_searched(tried: u32, calls: &[ProviderCall], degraded: bool) -> bool {
    tried > 0 || calls.is_empty() && !degraded
}

/// The result of an iteration (specification.md 8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IterationResult {
    Improved,
    /// The rate is neither better nor worse.
    Unchanged,
    /// Tests that passed before fail now; the change is undone.
    Regression,
    /// Every analysis was too weak to act on, so nothing was changed (specification.md 7.11).
    SkippedDegraded,
    /// There was no acceptable edit, or its test run gave no results.
    Error,
}

display_stored_name!(IterationResult);

/// The judgement of an attempt, with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptResult {
    pub result: IterationResult,
    /// Reason for the result, written by regreen.
    pub reason: String,
    /// Whether the sources stay although they are not committed (specification.md 7.10).
    pub keep_uncommitted: bool,
    pub reached: Option<PassRate>,
}

impl AttemptResult {
    /// The judgement of an attempt without results.
    pub(super) fn without_results(result: IterationResult, reason: String) -> Self {
        Self { result, reason, keep_uncommitted: false, reached: None }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IterationRecord {
    /// The row that people see.
    #[serde(flatten)]
    pub row: IterationRow,
    pub result: IterationResult,
    /// Tests that fail on the sources accepted after the iteration.
    pub failed_tests: Vec<TestId>,
    /// The places that its plan named.
    pub points: Vec<String>,
    /// Fingerprint of the edit, or the approach of the plan if there was no edit.
    pub cause: String,
    /// Confidence of the proposal or of the plan, from 0 to 1.
    pub confidence: f64,
    /// Whether the rate includes results carried over from earlier runs.
    pub estimated: bool,
    /// Whether the search found nothing under its strategy, within its limits.
    pub exhausted: bool,
    /// What that search looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchSummary>,
    /// The sources before the iteration.
    pub pre_tree: TreeId,
    /// Why proposals of the iteration were refused.
    #[serde(default)]
    pub refusals: Vec<String>,
    /// The causes that the plan named.
    #[serde(default)]
    pub root_causes: Vec<RootCause>,
    /// Identity of the first root cause that an analysis named (trigger T11); empty where the plan
    /// is that of fault localisation, which ranks places and claims no cause.
    #[serde(default)]
    pub cause_key: String,
    /// The change that did not help, for the next analysis; absent when it did, or there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_change: Option<FailedChange>,
    /// The operators that made the edit; empty for that of a provider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<String>,
    /// Some of the tests that failed before and pass with the edit, where it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<TestId>,
    /// Some of the tests that the edit may affect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub affected_tests: Vec<TestId>,
    /// What the failures before the iteration looked like, without what changes from run to run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_signatures: Vec<String>,
}

impl IterationRecord {
    /// What tells the iteration's cause from others: its root cause, or else the edit.
    pub fn cause_fingerprint(&self) -> &str {
        if self.cause_key.is_empty() { &self.cause } else { &self.cause_key }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixVerdict {
    pub ending: Ending,
    /// Reason for the ending, written by regreen.
    pub reason: String,
    /// Whether no edit of the code can honestly meet the gate (specification.md 7.18).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfixable: bool,
}

/// A failing test as the gate sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemainingFailure {
    pub test: TestId,
    pub criticality: Criticality,
    /// The evidence for the criticality.
    pub evidence: String,
}

impl FixLoop {
    /// The strategy of the current iteration; conservative before the first is selected.
    pub fn strategy(&self) -> Strategy {
        self.selected_strategy.unwrap_or(Strategy::Conservative)
    }

    /// What the current iteration may change.
    pub fn edit_scope(&self) -> EditScope {
        self.terms.scope.reach(self.selected_strategy)
    }

    /// A loop whose first step is the baseline.
    pub fn new(
        session_id: SessionId,
        started_at: String,
        terms: FixTerms,
        head: CommitId,
        head_tree: TreeId,
    ) -> Self {
        Self {
            session_id,
            started_at,
            terms,
            head,
            accepted_tree: head_tree.clone(),
            committed_tree: head_tree.clone(),
            head_tree,
            next: FixStep::Baseline,
            next_action: NextAction::Retest,
            current_iteration: 0,
            selected_strategy: None,
            strategy_reason: String::new(),
            baseline: None,
            initial_rate: None,
            objections: Vec::new(),
            ledger: LatestResults::default(),
            attempt: None,
            iterations: Vec::new(),
            iterations_before_reopening: 0,
            stuck_tests: Vec::new(),
            regression_detected: false,
            trend: None,
            flaky: Vec::new(),
            preexisting: Vec::new(),
            introduced: Vec::new(),
            excused: BTreeMap::new(),
            hindrances: BTreeMap::new(),
            assertion_stacks: BTreeSet::new(),
            not_installed: BTreeSet::new(),
            disproved: Vec::new(),
            patterns: Vec::new(),
            earlier: Vec::new(),
            verdict: None,
            events: 0,
            transitions: 0,
            spent_ms: 0,
            testing_ms: 0,
            retries: 0,
            tip: None,
            spending: Spending::default(),
            minimised: None,
            explanation: None,
            tests_edited: false,
            special_cases: Vec::new(),
            unread: None,
            was_unloaded: false,
        }
    }

    /// The tree that must be on disk for the next step.
    pub fn tree_on_disk(&self) -> &TreeId {
        let tested = matches!(self.next, FixStep::TestAffected | FixStep::TestFull);
        let attempt = self.attempt.as_ref().filter(|_| tested);
        attempt.and_then(|attempt| attempt.tree.as_ref()).unwrap_or(&self.accepted_tree)
    }

    /// The ended iterations since the session was last reopened, which decide whether it goes on.
    pub fn recent_iterations(&self) -> &[IterationRecord] {
        self.iterations.get(self.iterations_before_reopening..).unwrap_or_default()
    }

    /// Failing tests of the accepted sources that count, in order of their ids.
    pub fn failing(&self) -> Vec<TestId> {
        self.ledger.failing()
    }

    /// The layer of most failing tests (specification.md 4.9).
    pub fn main_layer(&self) -> Layer {
        let mut layers: BTreeMap<Layer, usize> = BTreeMap::new();
        for case in self.ledger.failing_cases() {
            *layers.entry(case.layer).or_default() += 1;
        }
        let most = layers.into_iter().max_by_key(|(_, count)| *count);
        most.map_or(Layer::Unit, |(layer, _)| layer)
    }

    /// Whether the loop is over: there is no step left to perform.
    pub fn is_finished(&self) -> bool {
        self.next == FixStep::Finish
    }
}

/// A run that gave results, or why it did not.
pub type TestRun = Result<Results, String>;
