//! The last step of phase 5: the pipeline drives the fix loop, a machine of its own, to its end.

use crate::cycle::drive::{Driven, MachineEnd, Perform, Work, drive};
use crate::cycle::error::Failure;
use crate::cycle::fix::{self, LoopEnd, SetUp};
use crate::cycle::session_files::{PIPELINE_STATE, generation, read};
use crate::domain::event::{Ending, Event, Outcome};
use crate::domain::test_plan::generation::Generation;
use crate::domain::test_plan::pipeline::{Pipeline, PipelineStep, PipelineStepOutcome};
use crate::effect::Effects;
use crate::report::planning::{self, PlanRun};

use super::write::{plan_run, show_progress};

/// How a run of the fix loop ended.
pub struct Execution {
    pub outcome: Outcome,
    /// In a session that writes tests: where its pipeline rests.
    pub planned: Option<PlanRun>,
    /// The tests that were written.
    pub produced: Option<Generation>,
}

/// Runs the fix loop of a session until its verdict or its next checkpoint. In a session whose
/// pipeline waits for that, the loop is a step of the pipeline.
/// What was done before a failed effect is saved.
pub async fn run(set_up: SetUp, fx: &Effects<'_>) -> Result<Execution, Failure> {
    let mut performer = ExecutionPerformer { set_up: &set_up, fx, outcome: None };
    let driven = match read::<Pipeline>(fx, PIPELINE_STATE).await? {
        Some(state) => Some(Box::pin(drive(state, &mut performer, fx.into(), None)).await?),
        None => None,
    };
    let outcome = match performer.outcome {
        Some(outcome) => outcome,
        None => Box::pin(fix::run(set_up, fx)).await?.outcome,
    };
    let planned = match driven {
        Some(Driven { state, stop_reason }) => {
            let stop_reason = stop_reason.filter(|_| outcome.result == Ending::Blocked);
            let planned = plan_run(Driven { state, stop_reason }, fx).await?;
            Some(PlanRun { spending: outcome.spending, ..planned })
        }
        None => None,
    };
    fx.screen.show(&Event::Closed(Box::new(outcome.clone())));
    Ok(Execution { outcome, planned, produced: generation(fx).await? })
}

/// Performs the last step of phase 5.
struct ExecutionPerformer<'a> {
    set_up: &'a SetUp,
    fx: &'a Effects<'a>,
    /// The end of the fix loop, once it ran.
    outcome: Option<Outcome>,
}

impl Perform<Pipeline> for ExecutionPerformer<'_> {
    fn perform<'s>(&'s mut self, state: &'s Pipeline) -> Work<'s, PipelineStepOutcome> {
        if state.next == PipelineStep::Execute {
            Work::Machine(Box::pin(self.execute()))
        } else {
            Work::Rest
        }
    }

    async fn show(&self, state: &Pipeline) -> Result<(), Failure> {
        show_progress(state, self.fx).await
    }
}

impl ExecutionPerformer<'_> {
    async fn execute(&mut self) -> Result<MachineEnd<PipelineStepOutcome>, Failure> {
        let LoopEnd { outcome, events } = fix::run(self.set_up.clone(), self.fx).await?;
        let summary = planning::suite(&outcome);
        self.fx.store.write_text(".summaries/IMPL-002-summary.md", &summary).await?;
        let step_outcome = step_outcome(&outcome, generation(self.fx).await?.as_ref());
        self.outcome = Some(outcome);
        Ok(MachineEnd { outcome: step_outcome, events })
    }
}

/// What the pipeline learns of a fix loop: phase 5 is over when the gate is met.
fn step_outcome(outcome: &Outcome, generation: Option<&Generation>) -> PipelineStepOutcome {
    let reason = outcome.reason.clone();
    match outcome.result {
        Ending::Success | Ending::PartialSuccess => {
            let rate = outcome.last.map_or_else(String::new, |rate| format!(", {rate} % pass"));
            let tests = generation.map_or_else(|| "no tests".to_owned(), planning::written);
            PipelineStepOutcome::Executed { summary: format!("{tests}{rate}") }
        }
        Ending::Failure | Ending::Planned => PipelineStepOutcome::NotGreen { reason },
        Ending::Blocked => PipelineStepOutcome::OutOfBudget { reason },
    }
}
