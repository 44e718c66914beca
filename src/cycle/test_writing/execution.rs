//! The last step of phase 5: the pipeline drives the fix loop, a machine of its own, to its end.

use crate::cycle::drive::{Driven, MachineEnd, Perform, Work, drive};
use crate::cycle::error::Failure;
use crate::cycle::fix::{self, FixInputs, LoopEnd};
use crate::cycle::session_files::generation;
use crate::domain::event::{Ending, Outcome};
use crate::domain::framework::Framework;
use crate::domain::test_plan::generation::Generation;
use crate::domain::test_plan::pipeline::{Pipeline, PipelineStep, PipelineStepOutcome};
use crate::domain::test_plan::task::SUITE_TASK;
use crate::effect::{EffectError, Effects, RunError};
use crate::report::planning;
use crate::role::has_test_files;

/// Drives the last step of phase 5; with the end of the fix loop, if it ran.
pub async fn execute(
    state: Pipeline,
    inputs: &FixInputs,
    fx: &Effects<'_>,
) -> Result<(Driven<Pipeline>, Option<LoopEnd>), Failure> {
    let mut performer = ExecutionPerformer { inputs, fx, end: None };
    let driven = drive(state, &mut performer, fx.into(), None).await?;
    Ok((driven, performer.end))
}

/// Performs the last step of phase 5.
struct ExecutionPerformer<'a> {
    inputs: &'a FixInputs,
    fx: &'a Effects<'a>,
    /// The end of the fix loop, once it ran.
    end: Option<LoopEnd>,
}

impl Perform<Pipeline> for ExecutionPerformer<'_> {
    fn perform<'s>(&'s mut self, state: &'s Pipeline) -> Work<'s, PipelineStepOutcome> {
        if state.next == PipelineStep::Execute {
            Work::Machine(Box::pin(self.execute()))
        } else {
            Work::Rest
        }
    }
}

impl ExecutionPerformer<'_> {
    async fn execute(&mut self) -> Result<MachineEnd<PipelineStepOutcome>, Failure> {
        let end = match Box::pin(fix::run(self.inputs.clone(), self.fx)).await {
            Err(failure) => return Err(self.explain_empty_suite(failure).await?),
            Ok(end) => end,
        };
        let summary = planning::render_suite(&end.outcome);
        self.fx.store.write_text(&format!(".summaries/{SUITE_TASK}-summary.md"), &summary).await?;
        let step_outcome = step_outcome(&end.outcome, generation(self.fx).await?.as_ref());
        let events = end.events;
        self.end = Some(end);
        Ok(MachineEnd { outcome: step_outcome, events })
    }
}

impl ExecutionPerformer<'_> {
    /// The failure, or why there is no test to run after an attempt to write some.
    async fn explain_empty_suite(&self, failure: Failure) -> Result<Failure, Failure> {
        let Failure::Effect(EffectError::Run(error)) = &failure else { return Ok(failure) };
        let known = generation(self.fx).await?;
        let is_empty = match (error, &known) {
            (RunError::NoReportFile { .. }, Some(known)) => {
                !has_test_files(&known.tree, self.fx).await
            }
            _ => matches!(error, RunError::NoTests { .. } | RunError::NoReport { .. }),
        };
        let known = known.filter(|_| is_empty);
        let known = known.filter(|known| known.passing.is_empty() && known.failing.is_empty());
        let known = known.filter(|known| known.files().is_empty());
        let Some((known, made)) = known.as_ref().and_then(|one| Some((one, one.made.as_ref()?)))
        else {
            return Ok(failure);
        };
        let findings: Vec<String> = made.report.findings.iter().map(ToString::to_string).collect();
        if !findings.is_empty() {
            return Ok(Failure::Contradicted { findings });
        }
        let reason = known.main_reason().unwrap_or("no function can be called from a test");
        let framework = Framework::from_name(&made.report.framework);
        Ok(Failure::NothingWritten { reason: reason.to_owned(), framework })
    }
}

/// What the pipeline learns of a fix loop: phase 5 is over when the gate is met.
fn step_outcome(outcome: &Outcome, generation: Option<&Generation>) -> PipelineStepOutcome {
    let reason = outcome.reason.clone();
    match outcome.result {
        Ending::Success | Ending::PartialSuccess => {
            let rate = outcome.last.map_or_else(String::new, |rate| format!(", {rate} % pass"));
            let tests = generation.map_or_else(|| "no tests written".to_owned(), planning::written);
            PipelineStepOutcome::Executed { summary: format!("{tests}{rate}") }
        }
        Ending::Failure | Ending::Planned => PipelineStepOutcome::NotGreen { reason },
        Ending::Blocked => PipelineStepOutcome::OutOfBudget { reason },
    }
}
