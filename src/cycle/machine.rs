//! What the driver and the replay know of a state machine, and the form in which its transitions
//! are stored.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::domain::event::Event;

/// Longest transition that is stored whole, in bytes.
pub const LONGEST_TRANSITION: usize = 16 << 20;

/// A state machine of a session: its whole state is one value, and every change of it follows from
/// a recorded transition.
pub trait Machine: Clone + Serialize + DeserializeOwned + Send + Sync {
    /// The saved state, inside the session folder.
    const STATE_FILE: &'static str;
    /// The stored transitions, inside the session folder; one line each.
    const TRANSITIONS: &'static str;

    /// The name of a step.
    type Step: Clone + PartialEq + Debug + Serialize + DeserializeOwned + Send + Sync;
    /// What performing a step finds out.
    type Outcome: Clone + Serialize + DeserializeOwned + Send + Sync;
    /// A change that comes from outside of the loop: a beginning, a raised limit, an approval.
    type Command: Serialize + DeserializeOwned + Send + Sync;

    /// The step that comes next.
    fn step(&self) -> Self::Step;

    /// The state after the step, which took `took_ms`, and the events to show.
    fn advance(self, outcome: Self::Outcome, took_ms: u64) -> (Self, Vec<Event>);

    /// Why no step can follow this outcome in the same run; the same step comes again on resume.
    fn stop_reason(outcome: &Self::Outcome) -> Option<&str>;

    /// The state that a command begins; `last` supplies what the command does not hold.
    fn begin(command: &Self::Command, last: &Self) -> Option<Self>;

    /// The state after a command; `None` when the command cannot come in the middle of a session.
    fn apply_command(self, command: &Self::Command) -> Option<Self>;

    /// Decisions in which two states differ, in words.
    fn differences(now: &Self, then: &Self) -> Vec<String>;

    /// How much of the logs belongs to this state.
    fn logs(&self) -> LogLengths;

    /// Notes how much of the logs belongs to this state.
    fn set_logs(&mut self, logs: LogLengths);
}

/// Lines of a session's logs that belong to a state; a line behind them was written before a crash
/// and is written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLengths {
    /// Lines of the event stream.
    pub events: u64,
    /// Lines of the stored transitions.
    pub transitions: u64,
}

impl LogLengths {
    /// The lengths after one more transition.
    #[must_use]
    pub fn with_transition(self) -> Self {
        Self { transitions: self.transitions + 1, ..self }
    }
}

/// One line of the stored transitions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", bound = "")]
pub enum Transition<M: Machine> {
    /// A step was performed.
    Step {
        step: M::Step,
        /// Its wall time.
        took_ms: u64,
        /// What it found out.
        #[serde(rename = "done")]
        outcome: Box<M::Outcome>,
    },
    /// A step was performed, and its outcome is too long to be stored.
    TooLong { step: M::Step },
    /// The machine was changed from outside of the loop.
    #[serde(untagged)]
    Command(M::Command),
}
