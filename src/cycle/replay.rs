//! Decides a finished session again from its stored transitions, and reports what would differ. No
//! test is run and no provider is asked (specification.md 7.6: every decision can be replayed).

use serde::Serialize;
use serde_json::Value;

use super::machine::{Machine, Transition};

/// What a replay found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Replayed {
    /// Transitions that were decided again.
    pub transitions: usize,
    /// What differs, in the order of the session; empty when nothing does.
    pub differences: Vec<String>,
}

impl Replayed {
    /// Adds the replay of another machine of the same session.
    pub fn extend(&mut self, other: Self) {
        self.transitions += other.transitions;
        self.differences.extend(other.differences);
    }
}

/// Decides again what led to `last`.
pub fn replay<M: Machine>(transitions: &[Transition<M>], last: &M) -> Result<Replayed, String> {
    let first = match transitions.first() {
        Some(Transition::Command(command)) => M::begin(command, last),
        _ => None,
    };
    let mut state = first
        .ok_or_else(|| "the outcomes do not begin with the beginning of the session".to_owned())?;
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
    replayed.differences.extend(M::differences(&state, last));
    replayed.differences.extend(differing_fields(&state, last));
    Ok(replayed)
}

/// Stored fields in which two states differ.
fn differing_fields<M: Machine>(now: &M, then: &M) -> Vec<String> {
    let (Ok(Value::Object(now)), Ok(Value::Object(then))) =
        (serde_json::to_value(now), serde_json::to_value(then))
    else {
        return Vec::new();
    };
    // Counters of what was written are no decisions.
    let is_decision = |field: &str| !matches!(field, "events" | "transitions" | "spent_ms");
    then.iter()
        .filter(|(field, value)| is_decision(field) && now.get(*field) != Some(value))
        .map(|(field, _)| format!("`{field}` would differ at the end"))
        .collect()
}
