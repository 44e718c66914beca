//! Implements `Machine` for an integration session, and defines its commands.

use serde::{Deserialize, Serialize};

use crate::cycle::drive::Journal;
use crate::cycle::error::Failure;
use crate::cycle::machine::{LogLengths, Machine};
use crate::cycle::session_files::{read, write};
use crate::domain::event::Event;
use crate::domain::integration::records::Adjustment;
use crate::domain::integration::{Integration, IntegrationOutcome, IntegrationStep};
use crate::domain::session::files::INTEGRATION;
use crate::effect::Effects;

/// Changes of an integration session that do not follow from a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationCommand {
    Began {
        /// The resulting state.
        state: Box<Integration>,
    },
    Resumed {
        /// Whether a person confirmed the design.
        confirmed: bool,
        /// A new iteration limit.
        max_iterations: Option<u32>,
    },
    Adjusted(Adjustment),
}

impl Machine for Integration {
    const STATE_FILE: &'static str = INTEGRATION;
    const TRANSITIONS: &'static str = ".process/integration-outcomes.jsonl";

    type Step = IntegrationStep;
    type Outcome = IntegrationOutcome;
    type Command = IntegrationCommand;

    fn step(&self) -> IntegrationStep {
        self.checkpoint.next
    }

    fn advance(self, outcome: IntegrationOutcome, _took_ms: u64) -> (Self, Vec<Event>) {
        (self.take_outcome(outcome), Vec::new())
    }

    fn spent_reason(outcome: &IntegrationOutcome) -> Option<&str> {
        match outcome {
            IntegrationOutcome::OutOfBudget { reason, .. } => Some(reason),
            _ => None,
        }
    }

    fn begin(command: &IntegrationCommand, _last: &Self) -> Option<Self> {
        match command {
            IntegrationCommand::Began { state } => Some((**state).clone()),
            IntegrationCommand::Resumed { .. } | IntegrationCommand::Adjusted(_) => None,
        }
    }

    fn apply_command(self, command: &IntegrationCommand) -> Option<Self> {
        Some(match command {
            IntegrationCommand::Began { state } => (**state).clone(),
            IntegrationCommand::Resumed { confirmed, max_iterations } => {
                self.continue_with(*confirmed, *max_iterations)
            }
            IntegrationCommand::Adjusted(adjustment) => self.adjust_design(adjustment),
        })
    }

    fn differences(now: &Self, then: &Self) -> Vec<String> {
        let step = |state: &Self| state.checkpoint.next.to_string();
        let result = |state: &Self| match &state.summary {
            Some(summary) => summary.result.to_string(),
            None => "open".to_owned(),
        };
        let (now_phases, then_phases) = (now.list_phases(), then.list_phases());
        let phases = now_phases.iter().zip(&then_phases);
        let mut found: Vec<String> = phases
            .filter(|(now, then)| now.summary != then.summary)
            .map(|(now, then)| {
                format!("{}: it was {}, would be {}", then.name, then.summary, now.summary)
            })
            .collect();
        for (what, now, then) in
            [("the next step", step(now), step(then)), ("the result", result(now), result(then))]
        {
            if now != then {
                found.push(format!("{what} was {then}, would be {now}"));
            }
        }
        found
    }

    fn logs(&self) -> LogLengths {
        LogLengths { events: self.checkpoint.events, transitions: self.checkpoint.transitions }
    }

    fn set_logs(&mut self, logs: LogLengths) {
        (self.checkpoint.events, self.checkpoint.transitions) = (logs.events, logs.transitions);
    }
}

/// The saved state of a session, resumed as the request says; `fresh` where there is none.
pub async fn enter_integration(
    fresh: Integration,
    (confirmed, max_iterations): (bool, Option<u32>),
    fx: &Effects<'_>,
) -> Result<Integration, Failure> {
    let journal = Journal::from(fx);
    let Some(saved) = read::<Integration>(fx, INTEGRATION).await? else {
        let command = IntegrationCommand::Began { state: Box::new(fresh.clone()) };
        return journal.record(&fresh, command, fresh.clone()).await;
    };
    let resumed = saved.clone().continue_with(confirmed, max_iterations);
    if resumed == saved {
        return Ok(saved);
    }
    let command = IntegrationCommand::Resumed { confirmed, max_iterations };
    journal.record(&saved, command, resumed).await
}

/// The state with an adjustment that a person asks for.
pub async fn adjust_integration(
    state: Integration,
    adjustment: &Adjustment,
    fx: &Effects<'_>,
) -> Result<Integration, Failure> {
    let adjusted = state.clone().adjust_design(adjustment);
    let command = IntegrationCommand::Adjusted(adjustment.clone());
    Journal::from(fx).record(&state, command, adjusted).await
}

/// Puts a session back to the state before an adjustment that cannot be carried out.
pub async fn restore_integration(before: &Integration, fx: &Effects<'_>) -> Result<(), Failure> {
    let Some(now) = read::<Integration>(fx, INTEGRATION).await? else { return Ok(()) };
    let command = IntegrationCommand::Began { state: Box::new(before.clone()) };
    let restored = Journal::from(fx).record(&now, command, before.clone()).await?;
    write(fx, INTEGRATION, &restored).await
}
