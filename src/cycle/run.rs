//! A fix session from its first step to its verdict; where a pipeline waits for the fix loop, the loop
//! is a step of the pipeline.

use crate::domain::event::{Ending, Event, Outcome};
use crate::domain::fix_loop::Stopped;
use crate::domain::integration::Integration;
use crate::domain::memory::Memory;
use crate::domain::session::files::{INTEGRATION, PIPELINE};
use crate::domain::test_plan::generation::Generation;
use crate::domain::test_plan::pipeline::Pipeline;
use crate::domain::test_plan::plan_run::PlanRun;
use crate::effect::Effects;

use super::drive::Driven;
use super::error::Failure;
use super::fix::{self, FixInputs, LoopEnd};
use super::integration::drive_iterations;
use super::session_files::{generation, read};
use super::test_writing::{execute, plan_run};

/// How a run of the fix loop ended.
pub struct Execution {
    pub outcome: Outcome,
    /// What later sessions may begin with.
    pub learned: Memory,
    /// In a session that writes tests: where its pipeline rests.
    pub planned: Option<PlanRun>,
    /// The tests that were written.
    pub generation: Option<Generation>,
    /// The state of an integration session.
    pub integration: Option<Integration>,
}

/// Runs a session's fix loop until its verdict or next checkpoint; progress is saved.
pub async fn run(inputs: FixInputs, fx: &Effects<'_>) -> Result<Execution, Failure> {
    let mut integration = None;
    let (driven, end) = if let Some(state) = read::<Integration>(fx, INTEGRATION).await? {
        let (driven, end) = Box::pin(drive_iterations(state, &inputs, fx)).await?;
        integration = Some(driven.state);
        (None, end)
    } else if let Some(state) = read::<Pipeline>(fx, PIPELINE).await? {
        let (driven, end) = Box::pin(execute(state, &inputs, fx)).await?;
        (Some(driven), end)
    } else {
        (None, None)
    };
    let LoopEnd { outcome, learned, .. } = match end {
        Some(end) => end,
        None => Box::pin(fix::run(inputs, fx)).await?,
    };
    let planned = match driven {
        Some(Driven { state, stopped }) => {
            let stopped = stopped.filter(|_| outcome.result == Ending::Blocked).map(|stopped| {
                let (is_spent, options) = (outcome.limit_reached, outcome.options.clone());
                Stopped { is_spent, options, ..stopped }
            });
            let planned = plan_run(Driven { state, stopped }, fx).await?;
            // Where nothing came of the session, the same command begins anew.
            let wrote = outcome.written.as_ref().is_some_and(|work| !work.files.is_empty());
            let came = wrote || !outcome.iterations.is_empty();
            let reopening_limit = outcome.reopening_limit.filter(|_| came);
            Some(PlanRun { spending: outcome.spending, reopening_limit, ..planned })
        }
        None => None,
    };
    fx.screen.show(&Event::Closed(Box::new(outcome.clone())));
    let generation = generation(fx).await?;
    Ok(Execution { outcome, learned, planned, generation, integration })
}
