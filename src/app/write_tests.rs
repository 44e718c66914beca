//! Phase 5: the planned tests are written and committed to the fix branch, then the fix loop runs there.

use std::time::Duration;

use crate::adapter::Session;
use crate::adapter::host::clock::HostClock;
use crate::config::Settings;
use crate::cycle::{self, Execution, WriteTestsInputs};
use crate::domain::event::Event;
use crate::domain::mutation::MIN_MUTATION_SCORE;
use crate::domain::request::FixSettings;
use crate::domain::session::SessionChoice;
use crate::domain::test_plan::generation::Generation;
use crate::domain::test_plan::pipeline::{PipelineStep, PipelineVerdict};
use crate::effect::{Clock, Screen};

use super::bundle_screen::BundleOpening;
use super::fix::{FixRun, OpenModels, resolve, run_loop};
use super::memory::RunMemory;
use super::settings::{engine_time, limits, state_is_committed, tool_commands};
use super::{AppError, FixRequest, RunOptions, TestOutcome, TestRequest};

/// What phase 5 needs besides the plan.
pub(super) struct WriteRun<'a> {
    pub request: &'a TestRequest,
    pub settings: &'a Settings,
    pub open: OpenModels<'a>,
    pub memory: &'a RunMemory,
    /// The rest of the time budget.
    pub budget: Option<Duration>,
    /// The screen without the bundle: the fix loop opens the bundle itself.
    pub screen: &'a dyn Screen,
    pub tee: &'a dyn Screen,
}

/// Carries a plan out. A session that a kill kept from closing behind its pipeline is closed.
pub(super) async fn run(
    run: &WriteRun<'_>,
    mut test: TestOutcome,
) -> Result<TestOutcome, AppError> {
    let session = test.planned.state.session_id.clone();
    let request = fix_request(run.request, SessionChoice::Resume { session });
    let mut fix = resolve(&request, run.settings)?;
    let clock = HostClock::start();
    if test.planned.state.is_writing_tests() {
        test = write(run, &fix, test).await?;
        if test.planned.state.next != PipelineStep::Execute {
            return Ok(test);
        }
    }
    fix.budget = run.budget.map(|budget| budget.saturating_sub(clock.elapsed()));
    let clock = HostClock::start();
    let session = Session::open(&fix, &clock).await?;
    let fix_run = FixRun {
        request: &request,
        settings: run.settings,
        memory: run.memory,
        fix,
        bundle: BundleOpening::Append,
    };
    let Execution { outcome, planned, generation, .. } =
        Box::pin(run_loop(fix_run, session, run.open, run.screen)).await?;
    let green = outcome.result.meets_gate();
    let met = green && !generation.as_ref().is_some_and(Generation::is_held);
    let planned = planned.unwrap_or(test.planned);
    Ok(TestOutcome { planned, generation, met, folder: outcome.folder, closed: true })
}

/// Writes the tests; the next step is [`PipelineStep::Execute`] when the suite can run with them.
async fn write(
    run: &WriteRun<'_>,
    fix: &FixSettings,
    test: TestOutcome,
) -> Result<TestOutcome, AppError> {
    let clock = HostClock::start();
    let mut session = Session::open(fix, &clock).await?;
    for text in &session.notices {
        run.tee.show(&Event::Notice { text: text.clone() });
    }
    let fx = session.effects(run.open.models, run.tee);
    let gate = run.settings.gate.as_ref().and_then(|gate| gate.min_mutation_score);
    let inputs = WriteTestsInputs {
        tree: fx.worktree.tree_of(&session.record.git.head_sha).await?,
        observer: session.observer(),
        threshold: gate.unwrap_or(MIN_MUTATION_SCORE),
        jobs: fix.jobs,
        time: engine_time(None, run.settings),
        state_prefix: session.state_prefix(),
        own: tool_commands(run.settings),
        state_is_committed: state_is_committed(run.settings),
        no_coverage: run.request.no_coverage,
        limits: limits(run.settings),
        chain: run.open.providers.chain.clone(),
        ask: run.open.providers.ask.clone(),
        budget: run.budget,
    };
    let planned = Box::pin(cycle::write_tests(test.planned.state, &inputs, &fx)).await?;
    let generation = cycle::generation(&fx).await?;
    let mut folder = test.folder;
    if matches!(planned.state.next, PipelineStep::Finish { verdict: PipelineVerdict::Held { .. } })
    {
        session.record_paused("blocked").await?;
        folder = session.archive().await?.display().to_string();
    }
    Ok(TestOutcome { planned, generation, met: false, folder, closed: false })
}

/// The request for the fix loop on the branch of a session.
pub(super) fn fix_request(request: &TestRequest, session: SessionChoice) -> FixRequest {
    FixRequest {
        repository: request.repository.clone(),
        run: RunOptions {
            session,
            // A new session has its limit already; a resumed one may be given a higher one.
            max_iterations: request.run.max_iterations.filter(|_| !request.run.session.is_new()),
            ..request.run.clone()
        },
        models: request.models.clone(),
        ..FixRequest::default()
    }
}
