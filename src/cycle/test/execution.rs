//! The last step of phase 5: the fix loop runs the suite, and its end is noted in the pipeline.

use crate::cycle::drive::Journal;
use crate::cycle::failure::Failure;
use crate::cycle::session_files::{PIPELINE_STATE, generation, read};
use crate::domain::event::{Ending, Outcome};
use crate::domain::test_plan::generation::Generation;
use crate::domain::test_plan::pipeline::{Pipeline, PipelineStepOutcome};
use crate::effect::Effects;
use crate::report::planning;

use super::write::show_progress;

/// The state after the fix loop: phase 5 is over when the gate is met.
#[must_use]
pub fn advanced(state: Pipeline, outcome: &Outcome, generation: Option<&Generation>) -> Pipeline {
    match executed(outcome, generation) {
        Some(executed) => state.advance(executed),
        None => state,
    }
}

/// What the pipeline is given of a fix loop that met its gate.
fn executed(outcome: &Outcome, generation: Option<&Generation>) -> Option<PipelineStepOutcome> {
    if !matches!(outcome.result, Ending::Success | Ending::PartialSuccess) {
        return None;
    }
    let rate = outcome.last.map_or_else(String::new, |rate| format!(", {rate} % pass"));
    let tests = generation.map_or_else(|| "no tests".to_owned(), planning::written);
    Some(PipelineStepOutcome::Executed { summary: format!("{tests}{rate}") })
}

/// Notes in a session that writes tests how its fix loop ended; does nothing in another session.
pub async fn note_execution(outcome: &Outcome, fx: &Effects<'_>) -> Result<(), Failure> {
    let Some(state) = read::<Pipeline>(fx, PIPELINE_STATE).await? else { return Ok(()) };
    let generation = generation(fx).await?;
    fx.store.write_text(".summaries/IMPL-002-summary.md", &planning::suite(outcome)).await?;
    let journal = Journal::from(fx);
    let state = match executed(outcome, generation.as_ref()) {
        Some(executed) => journal.apply(state, executed).await?,
        None => state,
    };
    journal.save(&state).await?;
    show_progress(&state, fx).await
}
