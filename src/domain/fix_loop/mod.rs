//! The fix loop as a state machine: the state says which step comes next, [`FixLoop::advance`]
//! takes what the step brought and answers with the next state and the events to show.
//!
//! The state is saved before each step and is all that a resumed run needs (specification.md 7.4, 8.3).

mod advance;
mod baseline;
mod iterate;
mod outcome;
mod terms;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::budget::Spending;
use super::chain::ProviderCall;
use super::criticality::Criticality;
use super::event::{Ending, IterationRow, Minimised};
use super::history::Trend;
use super::id::{CommitId, SessionId, TestId, TreeId};
use super::ledger::Ledger;
use super::plan::{FixPlan, RootCause};
use super::proposal::Proposal;
use super::rate::PassRate;
use super::strategy::Strategy;
use super::test::Results;

#[cfg(test)]
pub(crate) mod tests;

pub use advance::{FixStepOutcome, ProviderCalls};
pub use outcome::SessionLocation;
pub use terms::{FixTerms, RegressionTrace};

/// The next step, by name; its data are in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "step")]
pub enum FixStep {
    /// Run the whole suite on the head under test.
    Baseline,
    /// Run the failing tests alone, for the `round`th time, to find flaky ones.
    Recheck {
        /// The number of the proposal, from 1.
        round: u32,
    },
    /// Run the failing tests on the merge base.
    Blame,
    /// Find the causes and their places.
    Diagnose,
    Propose,
    /// Write the vetted edit into the private checkout.
    Apply,
    /// Run the tests that the edit may affect.
    TestAffected,
    TestFull,
    /// Commit the sources that the judgement keeps.
    Keep,
    /// Commit a regressed attempt, so that it can be seen.
    ShowAttempt,
    Rollback,
    /// Put the accepted sources back on disk.
    Restore,
    /// Drop what the suite does not need from the change.
    Minimise,
    KeepSmaller,
    /// Run the whole suite in a fresh checkout of the accepted sources.
    Confirm,
    /// Take the session's folder off the branch tip.
    Seal,
    /// Nothing more; the state holds the verdict.
    Finish,
}

/// The three words of the specification for what comes next (specification.md 8.3).
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
    /// The step to perform next.
    pub next: FixStep,
    /// The next step as readers of the specification's file expect it.
    pub next_action: NextAction,
    /// The iteration at work; 0 is the baseline. Never goes back.
    pub current_iteration: u32,
    pub selected_strategy: Option<Strategy>,
    pub strategy_reason: String,
    pub baseline: Option<Baseline>,
    /// Rate before the first iteration, without the flaky tests.
    pub rate_to_climb: Option<PassRate>,
    /// Last known status per test, for the accepted sources.
    pub ledger: Ledger,
    pub accepted_tree: TreeId,
    /// The sources at the branch tip; differs when a change is kept without a commit.
    pub committed_tree: TreeId,
    /// What the current iteration has so far.
    pub attempt: Option<Attempt>,
    pub iterations: Vec<IterationRecord>,
    /// Tests that failed in their most recent results, as many as the terms say.
    pub stuck_tests: Vec<TestId>,
    /// Whether the last transition was a regression.
    pub regression_detected: bool,
    /// Direction of the last three rates.
    pub trend: Option<Trend>,
    /// Failed and passed unchanged; kept out of the gate.
    pub flaky: Vec<TestId>,
    /// Failing on the merge base too; kept out of the rate when the terms say so.
    pub preexisting: Vec<TestId>,
    /// Failing here and passing on the merge base.
    pub introduced: Vec<TestId>,
    /// Fingerprints of edits that regressed, changed nothing or were refused.
    pub disproved: Vec<String>,
    /// Operators whose edits were kept, latest first.
    pub patterns: Vec<String>,
    /// The verdict, once there is one.
    pub verdict: Option<FixVerdict>,
    /// Lines of `events.jsonl` that belong to this state.
    pub events: u64,
    /// Lines of `outcomes.jsonl` that belong to this state.
    #[serde(default)]
    pub transitions: u64,
    /// Wall time of all runs so far.
    pub spent_ms: u64,
    /// Wall time of test runs so far.
    pub testing_ms: u64,
    /// Failed attempts to perform the current step.
    pub retries: u32,
    /// Tip of the branch after the last commit.
    pub tip: Option<CommitId>,
    /// What providers took, all runs together.
    #[serde(default)]
    pub spending: Spending,
    /// The result of making the change smaller, once that was tried.
    #[serde(default)]
    pub minimised: Option<Minimised>,
    /// Whether an accepted change edits tests (specification.md 13.4).
    #[serde(default)]
    pub tests_edited: bool,
}

/// The results of iteration 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The rate of the baseline, flaky tests counted as they ran.
    pub rate: PassRate,
    pub failing: Vec<TestId>,
    /// Wall time of the full run.
    pub duration_ms: u64,
}

/// What one iteration has gathered until it is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The sources before the iteration.
    pub pre_tree: TreeId,
    /// Clock of the session when it began.
    pub began_ms: u64,
    pub plan: Option<FixPlan>,
    pub proposal: Option<Proposal>,
    pub fingerprint: String,
    /// The operators that made the edit.
    pub operators: Vec<String>,
    /// Candidates tried, all searches together.
    pub tried: u32,
    /// Whether the search ended because nothing is left to try.
    pub exhausted: bool,
    /// Reasons of refused proposals, one entry per proposal.
    pub refusals: Vec<String>,
    pub tree: Option<TreeId>,
    /// Tests the proposal may affect, failing ones first.
    pub affected: Vec<TestId>,
    /// Ledger after the runs of this iteration.
    pub ledger: Option<Ledger>,
    /// Whether the last run covered the whole suite.
    pub full_run: bool,
    /// Tests run, all runs together.
    pub tests_run: u32,
    /// Tests that full runs in their place would have run.
    pub tests_of: u32,
    /// The judgement, once the tests have run.
    pub judged: Option<AttemptResult>,
    /// The commit that keeps or shows it.
    pub commit: Option<CommitId>,
    /// Questions to providers, in order.
    #[serde(default)]
    pub calls: Vec<ProviderCall>,
    /// Whether providers were there and none gave a good answer.
    #[serde(default)]
    pub degraded: bool,
}

/// The result of an iteration (specification.md 8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IterationResult {
    Improved,
    /// The rate is neither better nor worse.
    Unchanged,
    /// Tests that passed fail now; taken back.
    Regression,
    /// Only a degraded answer was there and it was not accepted.
    SkippedDegraded,
    /// No acceptable edit, or its run gave no results.
    Error,
}

impl fmt::Display for IterationResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A judgement with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptResult {
    pub result: IterationResult,
    /// Why, in our own words.
    pub reason: String,
    /// Whether the sources stay although they are not committed (specification.md 7.10).
    pub keep_uncommitted: bool,
    pub reached: Option<PassRate>,
    /// Whether the fall was over the limit, so that the attempt is shown as commit and revert.
    pub hard: bool,
}

impl AttemptResult {
    /// The judgement of an attempt without results.
    pub(super) fn without_results(result: IterationResult, reason: String) -> Self {
        Self { result, reason, keep_uncommitted: false, reached: None, hard: false }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IterationRecord {
    /// The row that people see.
    #[serde(flatten)]
    pub row: IterationRow,
    pub result: IterationResult,
    pub reason: String,
    /// Tests failing after it, as accepted.
    pub failed_tests: Vec<TestId>,
    /// The places that its plan named.
    pub points: Vec<String>,
    /// Fingerprint of the root causes.
    pub cause: String,
    /// How sure its proposal was, from 0 to 1.
    pub confidence: f64,
    /// Whether the rate has carried-over entries.
    pub estimated: bool,
    /// Whether the search had nothing left to try.
    pub exhausted: bool,
    /// The sources before the iteration.
    pub pre_tree: TreeId,
    /// Why proposals of the iteration were refused.
    #[serde(default)]
    pub refusals: Vec<String>,
    /// The causes that the plan named.
    #[serde(default)]
    pub root_causes: Vec<RootCause>,
    /// Identity of the first of them (trigger T11).
    #[serde(default)]
    pub cause_key: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixVerdict {
    pub ending: Ending,
    /// Why, in our own words.
    pub reason: String,
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
    /// A loop that has not begun.
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
            rate_to_climb: None,
            ledger: Ledger::default(),
            attempt: None,
            iterations: Vec::new(),
            stuck_tests: Vec::new(),
            regression_detected: false,
            trend: None,
            flaky: Vec::new(),
            preexisting: Vec::new(),
            introduced: Vec::new(),
            disproved: Vec::new(),
            patterns: Vec::new(),
            verdict: None,
            events: 0,
            transitions: 0,
            spent_ms: 0,
            testing_ms: 0,
            retries: 0,
            tip: None,
            spending: Spending::default(),
            minimised: None,
            tests_edited: false,
        }
    }

    /// The tree that must be on disk for the next step.
    pub fn tree_on_disk(&self) -> &TreeId {
        let tested = matches!(self.next, FixStep::TestAffected | FixStep::TestFull);
        let attempt = self.attempt.as_ref().filter(|_| tested);
        attempt.and_then(|attempt| attempt.tree.as_ref()).unwrap_or(&self.accepted_tree)
    }

    /// Failing tests of the accepted sources that count, in order of their ids.
    pub fn failing(&self) -> Vec<TestId> {
        self.ledger.failing()
    }

    /// Results of the run that `next` asks for, seen by a reader of the state.
    pub fn is_finished(&self) -> bool {
        self.next == FixStep::Finish
    }
}

/// A run that gave results, or why it did not.
pub type TestRun = Result<Results, String>;
