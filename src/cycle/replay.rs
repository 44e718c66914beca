//! Replays a finished session from its stored transitions, and reports decisions that would differ.
//! Runs no test and asks no provider (specification.md 7.6: every decision can be replayed).

use serde::Serialize;
use serde_json::Value;

use super::machine::{Machine, Transition};

/// The result of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Replayed {
    pub transitions: usize,
    /// What would differ, in the order of the session; empty when nothing would.
    pub differences: Vec<String>,
}

impl Replayed {
    /// Adds the replay of another machine of the same session.
    pub fn extend(&mut self, other: Self) {
        self.transitions += other.transitions;
        self.differences.extend(other.differences);
    }
}

/// Replays the transitions that led to `last`.
pub fn replay<M: Machine>(transitions: &[Transition<M>], last: &M) -> Result<Replayed, String> {
    let first = match transitions.first() {
        Some(Transition::Command(command)) => M::begin(command, last),
        _ => None,
    };
    let mut state = first.ok_or_else(|| {
        "the stored transitions do not start with the start of the session".to_owned()
    })?;
    let mut replayed = Replayed::default();
    for (number, transition) in (1..).zip(transitions.get(1..).unwrap_or_default()) {
        state = match transition {
            Transition::Command(command) => state
                .apply_command(command)
                .ok_or_else(|| format!("the session begins twice, at line {}", number + 1))?,
            Transition::TooLong { step } => {
                return Err(format!("the outcome of {step:?} was too long to be kept"));
            }
            Transition::Step { step, took_ms, outcome } => {
                let next = state.step();
                if next != *step {
                    replayed.differences.push(format!(
                        "transition {number}: it was {step:?}, and would be {next:?} now"
                    ));
                    return Ok(replayed);
                }
                state.advance((**outcome).clone(), *took_ms).0
            }
        };
        replayed.transitions += 1;
    }
    // Counters of written lines are not decisions.
    state.set_logs(last.logs());
    replayed.differences.extend(M::differences(&state, last));
    replayed.differences.extend(differing_fields(&state, last));
    Ok(replayed)
}

/// Names the stored fields in which two states differ.
fn differing_fields<M: Machine>(now: &M, then: &M) -> Vec<String> {
    let (Ok(Value::Object(now)), Ok(Value::Object(then))) =
        (serde_json::to_value(now), serde_json::to_value(then))
    else {
        return Vec::new();
    };
    // Elapsed time is not a decision.
    let is_decision = |field: &str| field != "spent_ms";
    then.iter()
        .filter(|(field, value)| is_decision(field) && now.get(*field) != Some(value))
        .map(|(field, _)| format!("`{field}` would differ at the end"))
        .collect()
}
