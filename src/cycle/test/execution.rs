//! The last step of phase 5: the fix loop runs the suite, and its end is noted in the pipeline.

use crate::cycle::failure::Failure;
use crate::cycle::session_files::{PIPELINE_STATE, generation, read};
use crate::domain::event::{Ending, Outcome};
use crate::domain::test_plan::generation::Generation;
use crate::domain::test_plan::pipeline::{Done, Pipeline};
use crate::effect::Effects;
use crate::report::planning;

use super::write::save;

/// The state after the fix loop: phase 5 is over when the gate is met.
#[must_use]
pub fn advanced(state: Pipeline, outcome: &Outcome, generation: Option<&Generation>) -> Pipeline {
    if !matches!(outcome.result, Ending::Success | Ending::PartialSuccess) {
        return state;
    }
    let rate = outcome.last.map_or_else(String::new, |rate| format!(", {rate} % pass"));
    let tests = generation.map_or_else(|| "no tests".to_owned(), planning::written);
    state.advance(Done::Executed { summary: format!("{tests}{rate}") })
}

/// Notes in a session that writes tests how its fix loop ended; does nothing in another session.
///
/// # Errors
///
/// When session files cannot be written.
pub async fn note_execution(outcome: &Outcome, fx: &Effects<'_>) -> Result<(), Failure> {
    let Some(state) = read::<Pipeline>(fx, PIPELINE_STATE).await? else { return Ok(()) };
    let generation = generation(fx).await?;
    fx.store.write_text(".summaries/IMPL-002-summary.md", &planning::suite(outcome)).await?;
    save(&advanced(state, outcome, generation.as_ref()), fx).await
}
