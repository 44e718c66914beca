//! Use case: write integration tests that cross the boundaries of a module, and fix what they show.

use std::time::Duration;

use serde_json::Value;

use crate::adapter::host::clock::HostClock;
use crate::adapter::repo::RepositoryFacts;
use crate::adapter::store::{self, STATE_FOLDER};
use crate::adapter::{Session, find_integration, repo, state_root};
use crate::config::Settings;
use crate::cycle::{self, Failure, IntegrationInputs};
use crate::domain::event::{Event, Outcome};
use crate::domain::fix_loop::Stopped;
use crate::domain::id::{SessionId, TreeId};
use crate::domain::integration::{
    Checkpoint, Integration, IntegrationGoal, IntegrationStep, adopt_session, session_name,
};
use crate::domain::request::{FixSettings, Mode};
use crate::domain::session::{SessionChoice, SessionKind};
use crate::effect::{Clock, Screen};
use crate::report::integration::rest_outcome;
use crate::report::planning::Rest;
use crate::report::reflection_log;

use super::bundle_screen::{BundleOpening, BundleScreen, TeeScreen};
use super::fix::{FixRun, OpenModels, or_undo, resolve, run_loop};
use super::kept_options::{self, Continued};
use super::memory;
use super::providers::{self, Providers};
use super::settings::{configured, contain, engine_time, state_is_committed, tool_commands};
use super::{AppError, FixRequest, IntegrationRequest, RunOptions};

/// How a session of integration tests ended, or where it rests.
pub struct IntegrationEnd {
    pub state: Integration,
    /// Where the session's files are now; empty when nothing is left of it.
    pub folder: String,
    /// The log of the session.
    pub log: String,
    /// The outcome of its iterations, once they ran.
    pub outcome: Option<Outcome>,
    /// Why the run stopped early.
    pub stopped: Option<Stopped>,
}

/// Explores a module, designs and develops integration tests, and iterates until they pass.
/// Progress made before an error is saved.
pub async fn write_integration_tests(
    request: &IntegrationRequest,
    screen: &dyn Screen,
) -> Result<IntegrationEnd, AppError> {
    let facts = repo::discover(&request.repository)?;
    let (request, stored) = take_reference(request.clone(), &facts)?;
    let Continued { request, notice } = continue_session(&request, &facts)?;
    let mut settings = configured(&facts.root, request.run.config.as_ref(), &request.run.set)?;
    // What failed before the new tests were written is not theirs (specification.md 3.2).
    settings.ignore_preexisting = Some(true);
    contain(&settings)?;
    let (kind, clock) = (SessionKind::Integration, HostClock::start());
    let fix_request = fix_request(&request, &clock.now());
    let module = Some(request.module.clone()).filter(|module| !module.is_empty());
    let fix = FixSettings { kind, module, ..resolve(&fix_request, &settings)? };
    let memory = memory::recall(&request.run.memory, &settings, &facts);
    let mut providers = providers::open(&request.models, &settings)?;
    providers.ask_failed_last(&memory.memory);
    let bundle = open_bundle(&request, &facts)?;
    let tee = TeeScreen { screen, bundle: bundle.as_ref() };
    let session = Session::open(&fix, &clock).await?;
    let kept = kept_options::keep(&request, &session).await;
    let (mut session, ()) = or_undo(session, kept, Session::delete).await?;
    session.notices.extend(notice);
    let models = providers.models(&session.client_folders());
    let (session, models) = or_undo(session, models, Session::delete).await?;
    show_opening(&session, &providers, &tee);
    let open = OpenModels { providers: &providers, models: &models };
    let (state, stopped) =
        match prepare((&request, &settings, &fix), (&session, stored), open, &tee).await {
            Ok(prepared) => prepared,
            Err(failure) => {
                // A request that names no module leaves nothing behind.
                if matches!(failure, Failure::Module(_)) && !session.resumed {
                    session.delete().await;
                }
                return Err(failure.into());
            }
        };
    // A kill may have kept a session from being closed behind its last step.
    if state.checkpoint.commit.is_none() || stopped.is_some() {
        return rest((session, state, stopped), clock.elapsed(), bundle.as_ref()).await;
    }
    let left = fix.budget.map(|budget| budget.saturating_sub(clock.elapsed()));
    let run = FixRun {
        request: &fix_request,
        settings: &settings,
        memory: &memory,
        fix: FixSettings { budget: left, ..fix },
        bundle: BundleOpening::Append,
    };
    let ended = Box::pin(run_loop(run, session, open, screen)).await?;
    let (state, outcome) = (ended.integration.unwrap_or(state), ended.outcome);
    let (log, folder) = (reflection_log::render(&state), outcome.folder.clone());
    Ok(IntegrationEnd { log, state, folder, outcome: Some(outcome), stopped: None })
}

/// The request with the options of the session that it continues: the one that it names, or a stopped
/// one about the same module.
fn continue_session(
    request: &IntegrationRequest,
    facts: &RepositoryFacts,
) -> Result<Continued<IntegrationRequest>, AppError> {
    let mut request = request.clone();
    if request.run.session.is_new() && request.mode != Mode::DryRun {
        let open = find_integration(facts, &request.module)?;
        if let Some(session) = open {
            request.run.session = SessionChoice::Resume { session };
        }
    }
    let (kind, limit) = (SessionKind::Integration, request.run.max_iterations);
    let kept = Session::kept_options(&request.run.session, kind, limit, facts)?;
    let kept = kept.unwrap_or_default();
    let mut continued = kept_options::complete(&request, &kept)?;
    if let Some(folder) = kept_options::folder(&kept, facts) {
        continued.request.repository = folder;
    }
    Ok(continued)
}

/// The request for a new session in the place of one of the reference project, with what that stored.
fn take_reference(
    mut request: IntegrationRequest,
    facts: &RepositoryFacts,
) -> Result<(IntegrationRequest, Option<Value>), AppError> {
    let Some((id, stored)) = find_reference(&request.run.session, facts)? else {
        return Ok((request, None));
    };
    stored["module"].as_str().unwrap_or_default().clone_into(&mut request.module);
    request.run.session = SessionChoice::New { name: Some(id) };
    Ok((request, Some(stored)))
}

/// The session of the reference project that is to be continued: one that regreen has not taken over.
fn find_reference(
    choice: &SessionChoice,
    facts: &RepositoryFacts,
) -> Result<Option<(SessionId, Value)>, AppError> {
    let id = match choice {
        SessionChoice::Resume { session } | SessionChoice::New { name: Some(session) } => session,
        SessionChoice::New { name: None } | SessionChoice::Newest => return Ok(None),
    };
    let root = state_root(facts);
    if store::session_folder(&root, id).is_dir() || store::archive_folder(&root, id).is_dir() {
        return Ok(None);
    }
    let found = store::read_integration(&facts.root.join(STATE_FOLDER), id)
        .map_err(|error| AppError::usage(error.to_string(), error.hint()))?;
    let Some((path, stored)) = found else { return Ok(None) };
    // Which sources it goes on with is known once its branch is open.
    let Ok(tree) = TreeId::parse("0".repeat(40)) else { return Ok(None) };
    match adopt_session(stored.clone(), new_checkpoint(tree)) {
        Ok(_) => Ok(Some((id.clone(), stored))),
        Err(reason) => Err(AppError::usage(
            format!("{} cannot be continued: {reason}", path.display()),
            "begin a new session: `regreen integration MODULE`",
        )),
    }
}

/// The place of a session that begins on these sources.
fn new_checkpoint(tree: TreeId) -> Checkpoint {
    Checkpoint {
        next: IntegrationStep::Explore,
        goal: IntegrationGoal::Test,
        confirm: false,
        tree,
        commit: None,
        events: 0,
        transitions: 0,
    }
}

/// Drives the phases before the iterations.
async fn prepare(
    (request, settings, fix): (&IntegrationRequest, &Settings, &FixSettings),
    (session, reference): (&Session<'_>, Option<Value>),
    open: OpenModels<'_>,
    screen: &dyn Screen,
) -> Result<(Integration, Option<Stopped>), Failure> {
    let fx = session.effects(open.models, screen);
    let head = &session.record.git.head_sha;
    let is_dry = fix.mode == Mode::DryRun;
    let waits = settings.plan.clone().unwrap_or_default().waits();
    let checkpoint = Checkpoint {
        goal: if is_dry { IntegrationGoal::Design } else { IntegrationGoal::Test },
        confirm: waits && !request.approve,
        ..new_checkpoint(fx.worktree.tree_of(head).await?)
    };
    let id = session.record.session_id.clone();
    let module = session.record.input.clone().unwrap_or_default();
    let subject = (module, fx.clock.now());
    let fresh = match reference.and_then(|stored| adopt_session(stored, checkpoint.clone()).ok()) {
        Some(adopted) => Integration { session_id: id, ..adopted },
        None => Integration::new(id, subject, session.record.max_iterations, checkpoint),
    };
    let limit = request.run.max_iterations.filter(|_| session.resumed);
    let confirmed = request.approve && request.adjustment.is_none();
    let before = cycle::enter_integration(fresh, (confirmed, limit), &fx).await?;
    let state = match &request.adjustment {
        Some(adjustment) => cycle::adjust_integration(before.clone(), adjustment, &fx).await?,
        None => before.clone(),
    };
    let inputs = IntegrationInputs {
        observer: session.observer(),
        jobs: fix.jobs,
        time: engine_time(None, settings),
        budget: fix.budget,
        state_prefix: session.state_prefix(),
        state_is_committed: state_is_committed(settings),
        own: tool_commands(settings),
        chain: open.providers.chain.clone(),
        ask: open.providers.ask.clone(),
    };
    let driven = Box::pin(cycle::prepare_integration(state, &inputs, &fx)).await;
    // The design stays as it was where its new scope names no module.
    if request.adjustment.is_some() && matches!(driven, Err(Failure::Module(_))) {
        cycle::restore_integration(&before, &fx).await?;
    }
    let driven = driven?;
    Ok((driven.state, driven.stopped))
}

/// The bundle of a run, for the phases whose commit follows with the fix loop.
fn open_bundle(
    request: &IntegrationRequest,
    facts: &RepositoryFacts,
) -> Result<Option<BundleScreen>, AppError> {
    let opening = BundleOpening::CreateWithoutCommits;
    let folder = request.run.bundle.as_ref();
    folder.map(|folder| BundleScreen::open(folder, facts.clone(), None, opening)).transpose()
}

fn show_opening(session: &Session<'_>, providers: &Providers, screen: &dyn Screen) {
    screen.show(&session.opened());
    for text in session.notices.iter().chain(&providers.notices) {
        screen.show(&Event::Notice { text: text.clone() });
    }
}

/// Ends a run before the iterations: a design that was asked for or waits, no test to iterate on, or a
/// limit that was reached.
async fn rest(
    (mut session, state, stopped): (Session<'_>, Integration, Option<Stopped>),
    took: Duration,
    bundle: Option<&BundleScreen>,
) -> Result<IntegrationEnd, AppError> {
    let mut folder = session.folder().display().to_string();
    let place = Rest { branch: session.record.git.branch.clone(), folder: folder.clone(), took };
    match state.checkpoint.next {
        IntegrationStep::Finish if state.checkpoint.goal == IntegrationGoal::Design => {
            folder.clear();
            session.delete().await;
        }
        IntegrationStep::Finish => session.withdraw().await,
        _ => {
            session.record.input = Some(state.module.clone());
            let result = if stopped.is_some() { "blocked" } else { "planned" };
            session.rest_paused(result).await?;
        }
    }
    if let Some(bundle) = bundle {
        let outcome = rest_outcome(&state, stopped.as_ref(), place);
        bundle.show(&Event::Closed(Box::new(outcome)));
    }
    let log = reflection_log::render(&state);
    Ok(IntegrationEnd { state, folder, log, outcome: None, stopped })
}

/// The request for the fix loop on the branch of a session.
fn fix_request(request: &IntegrationRequest, now: &str) -> FixRequest {
    let name = SessionId::parse(session_name(&request.module, now)).ok();
    let session = match &request.run.session {
        SessionChoice::New { name: None } => SessionChoice::New { name },
        chosen => chosen.clone(),
    };
    let base = request.run.base.clone().or_else(|| Some("HEAD".into()));
    FixRequest {
        repository: request.repository.clone(),
        mode: request.mode,
        jobs: request.jobs,
        run: RunOptions { session, base, ..request.run.clone() },
        models: request.models.clone(),
        ..FixRequest::default()
    }
}
