//! The `Machine` trait, on which the driver and the replay work, and the form in which transitions
//! are stored.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::domain::event::Event;

/// Transitions that are longer than this many bytes are stored without their outcome.
pub const LONGEST_TRANSITION: usize = 16 << 20;

/// A session's state machine: one value, changed by recorded transitions alone.
pub trait Machine: Clone + Serialize + DeserializeOwned + Send + Sync {
    /// File of the saved state, inside the session folder.
    const STATE_FILE: &'static str;
    /// File of the stored transitions, one per line, inside the session folder.
    const TRANSITIONS: &'static str;

    /// A step of the machine, as it is named in the state.
    type Step: Clone + PartialEq + Debug + Serialize + DeserializeOwned + Send + Sync;
    /// The result of performing a step.
    type Outcome: Clone + Serialize + DeserializeOwned + Send + Sync;
    /// A change that does not follow from a step: a beginning, a raised limit, an approval.
    type Command: Serialize + DeserializeOwned + Send + Sync;

    /// The next step.
    fn step(&self) -> Self::Step;

    /// The state after the step, which took `took_ms`, and the events to show.
    fn advance(self, outcome: Self::Outcome, took_ms: u64) -> (Self, Vec<Event>);

    /// Why no step can follow this outcome in the same run; the same step comes again on resume.
    fn spent_reason(outcome: &Self::Outcome) -> Option<&str>;

    /// The state that a command begins with; `last` supplies what the command does not store.
    fn begin(command: &Self::Command, last: &Self) -> Option<Self>;

    /// The state after a command; `None` for a command that is valid only at the beginning.
    fn apply_command(self, command: &Self::Command) -> Option<Self>;

    /// Describes the decisions in which two states differ.
    fn differences(now: &Self, then: &Self) -> Vec<String>;

    /// Counts the time of a step that was stopped and will be repeated.
    fn add_time(&mut self, _took_ms: u64) {}

    /// How many lines of the logs belong to this state.
    fn logs(&self) -> LogLengths;

    /// Stores how many lines of the logs belong to this state.
    fn set_logs(&mut self, logs: LogLengths);
}

/// How many log lines belong to a state; later ones are from a crash and written again.
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
    /// A step was performed, with this outcome.
    Step {
        step: M::Step,
        /// Wall time of the step in milliseconds.
        took_ms: u64,
        /// The result of the step.
        outcome: Box<M::Outcome>,
    },
    /// A step was performed, and its outcome is too long to be stored.
    TooLong { step: M::Step },
    /// The machine was changed by a command instead of a step.
    #[serde(untagged)]
    Command(M::Command),
}
