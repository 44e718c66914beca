//! Decides a finished session again from what its steps brought, and says what would differ. No
//! test is run and nobody is asked (product.md 7.6: every decision can be replayed).

use serde::{Deserialize, Serialize};

use crate::domain::budget::Spending;
use crate::domain::fix_loop::{Done, FixLoop, Step, Terms};
use crate::domain::id::CommitId;

/// Where the outcomes of steps lie inside a session's folder, one line each.
pub const OUTCOMES: &str = ".process/outcomes.jsonl";

/// Longest outcome that is kept, in bytes.
pub const LONGEST: usize = 16 << 20;

/// One thing that moved the loop.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moved {
    /// The session began.
    Began {
        /// On these terms.
        terms: Terms,
        /// The commit with the tests that were written before it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tip: Option<CommitId>,
        /// What providers took before it began.
        #[serde(default)]
        spending: Spending,
    },
    /// It was reopened with another limit.
    Reopened {
        /// The limit.
        max_iterations: u32,
    },
    /// It went on with a new baseline.
    Renewed,
    /// A step brought something.
    Step {
        /// The step.
        step: Step,
        /// Its wall time.
        took_ms: u64,
        /// What it brought.
        done: Box<Done>,
    },
    /// A step brought more than is kept.
    TooLong {
        /// The step.
        step: Step,
    },
}

/// What a replay found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Replayed {
    /// Transitions that were decided again.
    pub transitions: usize,
    /// What differs, in the order of the session; empty when nothing does.
    pub differences: Vec<String>,
}

/// Decides again what led to `last`.
///
/// # Errors
///
/// Why the outcomes cannot be replayed at all.
pub fn replay(moves: &[Moved], last: &FixLoop) -> Result<Replayed, String> {
    let (Some(Moved::Began { terms, tip, spending }), rest) =
        (moves.first(), moves.get(1..).unwrap_or_default())
    else {
        return Err("the outcomes do not begin with the beginning of the session".into());
    };
    let mut state = FixLoop::new(
        last.session_id.clone(),
        last.started_at.clone(),
        *terms,
        last.head.clone(),
        last.head_tree.clone(),
    );
    state.tip.clone_from(tip);
    state.spending = *spending;
    let mut found = Replayed::default();
    for (index, moved) in rest.iter().enumerate() {
        let number = index + 1;
        state = match moved {
            Moved::Began { .. } => {
                return Err(format!("the session begins twice, at line {}", number + 1));
            }
            Moved::Reopened { max_iterations } => state.reopen(*max_iterations).0,
            Moved::Renewed => state.renew(),
            Moved::TooLong { step } => {
                return Err(format!("the outcome of {step:?} was too long to be kept"));
            }
            Moved::Step { step, took_ms, done } => {
                if state.next != *step {
                    found.differences.push(format!(
                        "transition {number}: {step:?} came then, {:?} would come now",
                        state.next
                    ));
                    return Ok(found);
                }
                state.advance((**done).clone(), *took_ms).0
            }
        };
        found.transitions += 1;
    }
    found.differences.extend(differences(&state, last));
    Ok(found)
}

/// Fields in which two states differ, iteration by iteration.
fn differences(now: &FixLoop, then: &FixLoop) -> Vec<String> {
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
                "iteration {number}: it was judged {}, would be {}",
                then.result.word(),
                now.result.word()
            ));
        }
    }
    let values = (serde_json::to_value(now), serde_json::to_value(then));
    if let (Ok(serde_json::Value::Object(now)), Ok(serde_json::Value::Object(then))) = values {
        for (field, value) in &then {
            // Counters of what was written are no decisions.
            let counter = matches!(field.as_str(), "events" | "transitions" | "spent_ms");
            if !counter && now.get(field) != Some(value) {
                found.push(format!("`{field}` would differ at the end"));
            }
        }
    }
    found
}
