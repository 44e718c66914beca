//! Implements `Machine` for the pipeline of a test session, and defines its commands.

use serde::{Deserialize, Serialize};

use crate::cycle::drive::Journal;
use crate::cycle::error::Failure;
use crate::cycle::machine::{LogLengths, Machine};
use crate::cycle::session_files::read;
use crate::domain::event::Event;
use crate::domain::session::files::PIPELINE;
use crate::domain::test_plan::pipeline::{Goal, Pipeline, PipelineStep, PipelineStepOutcome};
use crate::effect::Effects;

/// Changes of a pipeline that do not follow from a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PipelineCommand {
    /// The session begins, or continues in a way that no other command describes.
    Began { state: Box<Pipeline> },
    Resumed {
        /// Whether to stop after the plan or to write tests.
        goal: Goal,
        /// Whether a person approved the plan.
        confirmed: bool,
    },
}

impl Machine for Pipeline {
    const STATE_FILE: &'static str = PIPELINE;
    const TRANSITIONS: &'static str = ".process/test-fix-outcomes.jsonl";

    type Step = PipelineStep;
    type Outcome = PipelineStepOutcome;
    type Command = PipelineCommand;

    fn step(&self) -> PipelineStep {
        self.next.clone()
    }

    fn advance(self, outcome: PipelineStepOutcome, _took_ms: u64) -> (Self, Vec<Event>) {
        let events = match outcome {
            PipelineStepOutcome::InputMissing => {
                let text = "a file of an earlier phase cannot be read; that phase runs again";
                vec![Event::Notice { text: text.into() }]
            }
            _ => Vec::new(),
        };
        (Self::advance(self, outcome), events)
    }

    fn spent_reason(outcome: &PipelineStepOutcome) -> Option<&str> {
        match outcome {
            PipelineStepOutcome::OutOfBudget { reason }
            | PipelineStepOutcome::NotGreen { reason } => Some(reason),
            _ => None,
        }
    }

    fn begin(command: &PipelineCommand, _last: &Self) -> Option<Self> {
        match command {
            PipelineCommand::Began { state } => Some((**state).clone()),
            PipelineCommand::Resumed { .. } => None,
        }
    }

    fn apply_command(self, command: &PipelineCommand) -> Option<Self> {
        Some(match command {
            PipelineCommand::Began { state } => (**state).clone(),
            PipelineCommand::Resumed { goal, confirmed } => self.resume(*goal, *confirmed),
        })
    }

    fn differences(_now: &Self, _then: &Self) -> Vec<String> {
        Vec::new()
    }

    fn logs(&self) -> LogLengths {
        LogLengths { events: self.events, transitions: self.transitions }
    }

    fn set_logs(&mut self, logs: LogLengths) {
        (self.events, self.transitions) = (logs.events, logs.transitions);
    }
}

/// Records how `state` follows from the saved one: a beginning, another goal, an approval.
pub async fn enter(state: Pipeline, fx: &Effects<'_>) -> Result<Pipeline, Failure> {
    let saved = read::<Pipeline>(fx, PIPELINE).await?;
    let Some(command) = command(saved, &state) else { return Ok(state) };
    Journal::from(fx).record(&state, command, state.clone()).await
}

/// The command that leads from the saved state to this one; `None` when they are the same.
fn command(saved: Option<Pipeline>, state: &Pipeline) -> Option<PipelineCommand> {
    let began = || PipelineCommand::Began { state: Box::new(state.clone()) };
    let Some(saved) = saved.filter(|_| state.transitions > 0) else { return Some(began()) };
    if saved == *state {
        return None;
    }
    let goal = state.goal;
    let resumed = [false, true]
        .into_iter()
        .find(|confirmed| saved.clone().resume(goal, *confirmed) == *state)
        .map(|confirmed| PipelineCommand::Resumed { goal, confirmed });
    Some(resumed.unwrap_or_else(began))
}
