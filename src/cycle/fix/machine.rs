//! Implements `Machine` for the fix loop, and defines the commands that change it.

use serde::{Deserialize, Serialize};

use crate::cycle::machine::{LogLengths, Machine};
use crate::domain::budget::Spending;
use crate::domain::event::Event;
use crate::domain::fix_loop::{FixLoop, FixStep, FixStepOutcome, FixTerms};
use crate::domain::id::{CommitId, TreeId};
use crate::domain::known_failure::KnownFailure;
use crate::domain::session::files::LOOP;

/// Changes of a fix loop that do not follow from a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixCommand {
    /// The session begins on these terms.
    Began {
        /// Limits and mode of the session.
        terms: Box<FixTerms>,
        /// The commit with the tests that the session wrote before, if it wrote any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tip: Option<CommitId>,
        /// The sources with these tests.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<TreeId>,
        /// What providers used while those tests were written.
        #[serde(default)]
        spending: Spending,
    },
    /// The session continues with another iteration limit.
    Reopened {
        /// The new iteration limit.
        max_iterations: u32,
    },
    /// The session continues from a new baseline.
    Renewed,
    /// Tests that the session wrote were taken out again, and the loop begins anew without them.
    Withdrew {
        /// The sources before any change of the loop.
        sources: TreeId,
        /// The same with the accepted changes.
        accepted: TreeId,
        commit: CommitId,
    },
    /// The configuration knows other failures than before.
    KnownFailures { known: Vec<KnownFailure> },
}

impl Machine for FixLoop {
    const STATE_FILE: &'static str = LOOP;
    const TRANSITIONS: &'static str = ".process/outcomes.jsonl";

    type Step = FixStep;
    type Outcome = FixStepOutcome;
    type Command = FixCommand;

    fn step(&self) -> FixStep {
        self.next
    }

    fn advance(self, outcome: FixStepOutcome, took_ms: u64) -> (Self, Vec<Event>) {
        Self::advance(self, outcome, took_ms)
    }

    fn spent_reason(outcome: &FixStepOutcome) -> Option<&str> {
        match outcome {
            FixStepOutcome::OutOfBudget { reason, .. } => Some(reason),
            _ => None,
        }
    }

    fn begin(command: &FixCommand, last: &Self) -> Option<Self> {
        let FixCommand::Began { terms, tip, tree, spending } = command else { return None };
        let mut state = Self::new(
            last.session_id.clone(),
            last.started_at.clone(),
            (**terms).clone(),
            last.head.clone(),
            tree.as_ref().unwrap_or(&last.head_tree).clone(),
        );
        state.tip.clone_from(tip);
        state.spending = *spending;
        Some(state)
    }

    fn apply_command(self, command: &FixCommand) -> Option<Self> {
        match command {
            FixCommand::Began { .. } => None,
            FixCommand::Reopened { max_iterations } => Some(self.reopen(*max_iterations).0),
            FixCommand::Renewed => Some(self.renew()),
            FixCommand::Withdrew { sources, accepted, commit } => {
                Some(self.continue_from((sources, accepted), commit))
            }
            FixCommand::KnownFailures { known } => Some(self.with_known_failures(known)),
        }
    }

    fn differences(now: &Self, then: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for (now, then) in now.iterations.iter().zip(&then.iterations) {
            let number = then.row.iteration;
            if now.row.strategy != then.row.strategy {
                found.push(format!(
                    "iteration {number}: the strategy was {}, would be {}",
                    then.row.strategy, now.row.strategy
                ));
            }
            if now.result != then.result {
                found.push(format!(
                    "iteration {number}: the result was {}, would be {}",
                    then.result, now.result
                ));
            }
        }
        found
    }

    fn add_time(&mut self, took_ms: u64) {
        self.spent_ms = self.spent_ms.saturating_add(took_ms);
    }

    fn logs(&self) -> LogLengths {
        LogLengths { events: self.events, transitions: self.transitions }
    }

    fn set_logs(&mut self, logs: LogLengths) {
        (self.events, self.transitions) = (logs.events, logs.transitions);
    }
}
