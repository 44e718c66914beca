//! Use cases: plan tests (phases 1 to 4), and write them (phase 5).

use std::path::Path;

use crate::adapter::host::clock::HostClock;
use crate::adapter::host::files;
use crate::adapter::{PlanRequest, PlanStart, Session, abandon_session, repo};
use crate::config::Settings;
use crate::cycle::{self, PlanInputs};
use crate::domain::event::{Ending, Event};
use crate::domain::request::{FixSettings, Mode};
use crate::domain::test_plan::generation::Generation;
use crate::domain::test_plan::pipeline::{ConfirmPlan, Goal, Pipeline};
use crate::domain::test_plan::plan_input::{self, DESCRIPTION_LIMIT, PlanInput};
use crate::domain::test_plan::plan_run::PlanRun;
use crate::effect::{Clock, Model, Screen};
use crate::report::planning;

use super::bundle_screen::{BundleOpening, BundleScreen, TeeScreen};
use super::fix::{self, OpenModels};
use super::kept_options::{self, Continued};
use super::memory;
use super::providers::{self, Providers};
use super::settings::{configured, contain, coverage_target};
use super::write_tests::{self, WriteRun, fix_request};
use super::{AppError, ErrorClass, TestRequest};

/// Bytes of a coverage report that are read at most.
const REPORT_LIMIT: u64 = 256 << 20;

/// How a session that plans or writes tests ended.
pub struct TestOutcome {
    pub planned: PlanRun,
    pub generation: Option<Generation>,
    pub folder: String,
    /// Whether everything that was requested is done, and well enough.
    pub met: bool,
    /// Whether the fix loop has shown its end.
    pub(super) closed: bool,
}

/// Plans tests, and writes none; progress before an error is saved.
pub async fn plan(request: &TestRequest, screen: &dyn Screen) -> Result<TestOutcome, AppError> {
    Box::pin(run(request, Goal::Plan, screen)).await
}

/// Plans tests, writes them, and fixes what they break; progress before an error is saved.
pub async fn test(request: &TestRequest, screen: &dyn Screen) -> Result<TestOutcome, AppError> {
    Box::pin(run(request, Goal::Test, screen)).await
}

async fn run(
    request: &TestRequest,
    goal: Goal,
    screen: &dyn Screen,
) -> Result<TestOutcome, AppError> {
    let facts = repo::discover(&request.repository)?;
    let kept = Session::kept_plan_options(&request.run.session, &facts)?.unwrap_or_default();
    let Continued { mut request, notice } = kept_options::complete(request, &kept)?;
    if let Some(folder) = kept_options::folder(&kept, &facts) {
        request.repository = folder;
    }
    let (request, notice) = (&request, &notice);
    let settings = configured(&facts.root, request.run.config.as_ref(), &request.run.set)?;
    contain(&settings)?;
    let plan_request = resolve(request, &settings, goal, &facts.root)?;
    let report = request.coverage_report.as_deref().map(read_report).transpose()?;
    let memory = memory::recall(&request.run.memory, &settings, &facts);
    let mut providers = providers::open(&request.models, &settings)?;
    providers.ask_failed_last(&memory.memory);
    providers.notices.extend(memory.notice.clone());
    let clock = HostClock::start();
    let budget = plan_request.run.budget;
    let bundle = match &request.run.bundle {
        Some(folder) => {
            let opening = BundleOpening::CreateWithoutCommits;
            Some(BundleScreen::open(folder, facts.clone(), None, opening)?)
        }
        None => None,
    };
    let tee = TeeScreen { screen, bundle: bundle.as_ref() };
    let (session, start) = Session::open_plan(&plan_request, &clock).await?;
    let kept = kept_options::keep(request, &session).await;
    let (mut session, ()) = fix::or_undo(session, kept, Session::delete).await?;
    session.notices.extend(notice.clone());
    let models = providers.models(&session.client_folders());
    let (session, models) = fix::or_undo(session, models, Session::delete).await?;
    let branch = session.record.git.branch.clone();
    let folder = session.folder().display().to_string();
    announce(&session, &providers, request.run.session.is_new(), &tee);
    let PlanStart { pipeline, source, tree, missing } = start;
    let unmeasured = match missing {
        _ if request.no_coverage => Some("no coverage was asked for".to_owned()),
        missing => missing.map(|missing| format!("the suite cannot run here: {missing}")),
    };
    let inputs = PlanInputs {
        tree,
        source,
        report,
        unmeasured,
        max_iterations: session.record.max_iterations,
        coverage_target: coverage_target(&settings),
        chain: providers.chain.clone(),
        ask: providers.ask.clone(),
        budget,
    };
    let planned = Box::pin(plan_phases((session, pipeline), &inputs, &models, &tee)).await?;
    let mut test = TestOutcome { planned, generation: None, folder, met: true, closed: false };
    if goal == Goal::Test && is_open(&test.planned) {
        let run = WriteRun {
            request,
            settings: &settings,
            open: OpenModels { providers: &providers, models: &models },
            memory: &memory,
            budget: budget.map(|budget| budget.saturating_sub(clock.elapsed())),
            screen,
            tee: &tee,
        };
        let session = test.planned.state.session_id.clone();
        test = match Box::pin(write_tests::run(&run, test)).await {
            Err(error) if error.class != ErrorClass::Usage => {
                abandon_session(&facts, &session);
                return Err(error);
            }
            written => written?,
        };
    }
    if let Some(bundle) = bundle.as_ref().filter(|_| !test.closed) {
        let rest = planning::Rest { branch, folder: test.folder.clone(), took: clock.elapsed() };
        let outcome = planning::plan_outcome(&test.planned, rest);
        bundle.show(&Event::Closed(Box::new(outcome)));
    }
    test.met = is_met(&test.planned, goal, test.met);
    Ok(test)
}

/// Phases 1 to 4. A request that names nothing in the repository leaves no session behind.
async fn plan_phases(
    (session, pipeline): (Session<'_>, Pipeline),
    inputs: &PlanInputs,
    models: &[Box<dyn Model>],
    screen: &dyn Screen,
) -> Result<PlanRun, AppError> {
    let planned = {
        let fx = session.effects(models, screen);
        cycle::plan(pipeline, inputs, &fx).await
    };
    match planned {
        Ok(planned) => {
            session.pause(&planned.state).await?;
            Ok(planned)
        }
        Err(failure) => {
            if matches!(failure, cycle::Failure::Gather(_)) && !session.resumed {
                session.delete().await;
            }
            Err(failure.into())
        }
    }
}

/// Whether phase 5 has something to do: its next step, or to close the session behind the last one.
fn is_open(planned: &PlanRun) -> bool {
    let state = &planned.state;
    planned.halted.is_none() && (state.works() || state.has_run_the_suite())
}

fn announce(session: &Session<'_>, providers: &Providers, by_input: bool, screen: &dyn Screen) {
    screen.show(&session.opened());
    for text in session.notices.iter().chain(&providers.notices) {
        screen.show(&Event::Notice { text: text.clone() });
    }
    if session.resumed {
        let more = if by_input { "; `--fresh` begins anew" } else { "" };
        let text = format!("resuming session {}{more}", session.record.session_id);
        screen.show(&Event::Notice { text });
    }
}

/// Whether all that was requested is done; `tests_are_met` tells if written tests are good.
fn is_met(planned: &PlanRun, goal: Goal, tests_are_met: bool) -> bool {
    match planned.end().result.ending() {
        Ending::Planned => goal == Goal::Plan || tests_are_met,
        // The plan was requested, and its tests are being written.
        Ending::Blocked => goal == Goal::Plan && planned.halted.is_none() && planned.state.works(),
        Ending::Failure | Ending::Success | Ending::PartialSuccess => false,
    }
}

/// Merges a request with the configuration: request before file before defaults.
fn resolve(
    request: &TestRequest,
    settings: &Settings,
    goal: Goal,
    root: &Path,
) -> Result<PlanRequest, AppError> {
    let (entry, description) = if request.run.session.is_new() {
        let input = plan_input::detect(&request.input)?;
        let description = description(&input, root)?;
        (Some(input), description)
    } else {
        (None, String::new())
    };
    let mut fix = fix_request(request, request.run.session.clone());
    fix.run.max_iterations = request.run.max_iterations;
    let waits = settings.plan.clone().unwrap_or_default().waits();
    Ok(PlanRequest {
        // Planning changes nothing, whatever the session may change later.
        run: FixSettings { mode: Mode::Apply, ..fix::resolve(&fix, settings)? },
        entry,
        description,
        fresh: request.fresh,
        goal,
        confirm_plan: if waits { ConfirmPlan::Always } else { ConfirmPlan::Never },
        confirmed: request.approve,
        only_missing: request.only_missing,
    })
}

/// The text of an input, or of the document found from the current folder or the root.
fn description(input: &PlanInput, root: &Path) -> Result<String, AppError> {
    let name = match input {
        PlanInput::Text(text) => return Ok(text.clone()),
        PlanInput::Session(_) => return Ok(String::new()),
        PlanInput::Document(name) => name,
    };
    let limit = DESCRIPTION_LIMIT as u64;
    let unreadable = |error: std::io::Error| {
        AppError::usage(format!("{name}: {error}"), "name a Markdown file that can be read")
    };
    let mut bytes = files::read(Path::new(name), limit).map_err(unreadable)?;
    if bytes.is_none() {
        bytes = files::read(&root.join(name), limit).map_err(unreadable)?;
    }
    let bytes = bytes.ok_or_else(|| {
        AppError::usage(
            format!("{name} does not exist"),
            "name a Markdown file, or describe in words what is to be tested",
        )
    })?;
    Ok(plan_input::document(name, &bytes)?)
}

/// The name and the text of a coverage report.
fn read_report(path: &Path) -> Result<(String, String), AppError> {
    let name = path.display().to_string();
    let bytes = files::read(path, REPORT_LIMIT)
        .map_err(|error| {
            AppError::usage(format!("{name}: {error}"), "name a report that can be read")
        })?
        .ok_or_else(|| {
            AppError::usage(format!("{name} does not exist"), "name a coverage report")
        })?;
    Ok((name, String::from_utf8_lossy(&bytes).into_owned()))
}
