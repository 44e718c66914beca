//! Use case: fix the tests of a repository in one session, from opening to archiving.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::adapter::host::clock::{self, HostClock};
use crate::adapter::host::files;
use crate::adapter::host::redaction;
use crate::adapter::store::{self, STATE_FOLDER};
use crate::adapter::{Session, protection, repo, state_root};
use crate::config::{self, Settings};
use crate::cycle::{self, Execution, FixInputs};
use crate::domain::budget::{fraction_of_minutes, minutes};
use crate::domain::event::{Event, Outcome};
use crate::domain::fix_loop::FixTerms;
use crate::domain::gate::TARGET;
use crate::domain::memory::Prior;
use crate::domain::request::{FixSettings, Mode};
use crate::domain::session::{MAX_ITERATIONS, SessionKind};
use crate::domain::shell;
use crate::domain::test_scripts::ReadFile;
use crate::effect::{Model, Screen};
use crate::report::lessons;

use super::bundle_screen::{BundleOpening, BundleScreen, TeeScreen};
use super::kept_options::{self, Continued};
use super::memory::{self, RunMemory};
use super::providers::{self, Providers};
use super::settings::{configured, contain, expired_failures, patches_only, terms, tool_commands};
use super::{AppError, FixRequest, page};

/// Time limit of one test run unless configured otherwise.
const TEST_TIMEOUT: Duration = Duration::from_mins(20);

const WITHOUT_BASE: &str = "`ignore-preexisting` has nothing to compare with: every failing test counts; `--base REF` names what to compare with";

/// The models of one run and all of its phases, with a recording and the providers' health.
#[derive(Clone, Copy)]
pub(super) struct OpenModels<'a> {
    /// The provider chain, and how it is asked.
    pub providers: &'a Providers,
    pub models: &'a [Box<dyn Model>],
}

/// A run of the fix loop, with its configuration loaded.
pub(super) struct FixRun<'a> {
    pub request: &'a FixRequest,
    pub settings: &'a Settings,
    /// What earlier sessions left.
    pub memory: &'a RunMemory,
    /// Request and configuration merged.
    pub fix: FixSettings,
    /// Whether the bundle holds earlier phases of this run.
    pub bundle: BundleOpening,
}

/// Runs one session to its verdict or next checkpoint; progress before an error is saved.
pub async fn fix(request: &FixRequest, screen: &dyn Screen) -> Result<Outcome, AppError> {
    if let Some(file) = &request.html {
        page::check_page(file)?;
    }
    let facts = repo::discover(&request.repository)?;
    let (choice, limit) = (&request.run.session, request.run.max_iterations);
    let kept = Session::kept_options(choice, SessionKind::Test, limit, &facts)?;
    let kept = kept.unwrap_or_default();
    let Continued { mut request, notice } = kept_options::complete(request, &kept)?;
    if let Some(folder) = kept_options::folder(&kept, &facts) {
        request.repository = folder;
    }
    let (request, notice) = (&request, &notice);
    let settings = configured(&facts.root, request.run.config.as_ref(), &request.run.set)?;
    contain(&settings)?;
    let fix = resolve(request, &settings)?;
    let memory = memory::recall(&request.run.memory, &settings, &facts);
    let mut providers = providers::open(&request.models, &settings)?;
    providers.ask_failed_last(&memory.memory);
    providers.notices.extend(memory.notice.clone());
    let clock = HostClock::start();
    let session = Session::open(&fix, &clock).await?;
    let kept = kept_options::keep(request, &session).await;
    let (mut session, ()) = or_undo(session, kept, Session::withdraw).await?;
    session.notices.extend(notice.clone());
    let models = providers.models(&session.client_folders());
    let (session, models) = or_undo(session, models, Session::withdraw).await?;
    let open = OpenModels { providers: &providers, models: &models };
    let bundle = BundleOpening::Create;
    let run = FixRun { request, settings: &settings, memory: &memory, fix, bundle };
    Ok(Box::pin(run_loop(run, session, open, screen)).await?.outcome)
}

/// Runs the fix loop in an open session, and closes it.
pub(super) async fn run_loop(
    run: FixRun<'_>,
    session: Session<'_>,
    open: OpenModels<'_>,
    screen: &dyn Screen,
) -> Result<Execution, AppError> {
    let bundle = open_bundle(&run, &session);
    let (session, bundle) = or_undo(session, bundle, Session::withdraw).await?;
    let tee = TeeScreen { screen, bundle: bundle.as_ref() };
    let ran = async {
        let inputs = inputs(&run, &session, open.providers)?;
        let fx = session.effects(open.models, &tee);
        Ok(Box::pin(cycle::run(inputs, &fx)).await?)
    }
    .await;
    let undone = Box::pin(or_undo(session, ran, Session::withdraw));
    let (mut session, execution) = undone.await?;
    let outcome = &execution.outcome;
    draw_pages(run.request, &session.folder(), screen);
    session.record_outcome(outcome).await?;
    if outcome.result.meets_gate() {
        record_lessons(&state_root(&session.facts), outcome, &tee);
    }
    if run.fix.mode != Mode::DryRun {
        initialise(&state_root(&session.facts), &session, &tee);
        let bundle = run.request.run.bundle.as_ref();
        let problem = memory::remember(&execution.learned, run.memory, bundle, &session.facts);
        if let Some(text) = problem {
            tee.show(&Event::Notice { text });
        }
    }
    // A failure to archive the session never changes the result (specification.md X37).
    if let Err(error) = session.archive().await {
        let text = format!("the result is valid, but {error}; the next run tries again");
        tee.show(&Event::Notice { text });
    }
    Ok(execution)
}

fn open_bundle(run: &FixRun<'_>, session: &Session<'_>) -> Result<Option<BundleScreen>, AppError> {
    let Some(folder) = &run.request.run.bundle else { return Ok(None) };
    let base = session.base.as_ref().map(|(commit, _)| commit.clone());
    Ok(Some(BundleScreen::open(folder, session.facts.clone(), base, run.bundle)?))
}

/// Returns the session with a value; an error undoes a new session.
pub(super) async fn or_undo<'a, T, F: Future<Output = ()>>(
    session: Session<'a>,
    result: Result<T, AppError>,
    undo: impl FnOnce(Session<'a>) -> F,
) -> Result<(Session<'a>, T), AppError> {
    match result {
        Ok(value) => Ok((session, value)),
        Err(error) => {
            if !session.resumed {
                undo(session).await;
            }
            Err(error)
        }
    }
}

fn inputs(
    run: &FixRun<'_>,
    session: &Session<'_>,
    providers: &Providers,
) -> Result<FixInputs, AppError> {
    let (request, settings, fix) = (run.request, run.settings, &run.fix);
    let mut notices = session.notices.clone();
    if settings.ignore_preexisting == Some(true) && session.base.is_none() {
        notices.push(WITHOUT_BASE.to_owned());
    }
    let protection = protection()?;
    // A bundle is published by a job that may not trust the code under test.
    if request.run.bundle.is_some() {
        notices.extend(protection.missing.iter().cloned());
        for text in &protection.by_choice {
            tracing::warn!("{text}");
        }
    }
    notices.extend(providers.notices.iter().cloned());
    let command = request.run.test_command.as_deref();
    let read: ReadFile<'_> = &|file| repo::committed_text(&session.facts, file);
    let today = clock::today();
    notices.extend(expired_failures(settings, today));
    Ok(FixInputs {
        session: session.record.session_id.clone(),
        repository: session.facts.root.display().to_string(),
        head: session.record.git.head_sha.clone(),
        onto: session.record.git.onto.clone(),
        base: session.base.clone(),
        protection: protection.in_force.clone(),
        terms: FixTerms {
            not_run: session.suite_facts().not_run.clone(),
            ..terms(
                fix,
                settings,
                session.record.max_iterations,
                session.base.is_some(),
                !request.no_minimise,
                today,
                Prior::of(&run.memory.memory),
            )
        },
        raised_limit: fix.max_iterations.filter(|_| !fix.session.is_new()),
        moved: session.moved(),
        budget: fix.budget,
        jobs: fix.jobs,
        protect: settings.protected(command, read),
        run_by_command: settings.run_by(command, read),
        state_root: STATE_FOLDER.to_owned(),
        state_prefix: session.state_prefix(),
        archive: session.archive_folder(),
        options: kept_options::words(request, &session.facts.subdirectory),
        notices,
        chain: providers.chain.clone(),
        ask: providers.ask.clone(),
    })
}

/// Writes the HTML page to session, bundle and requested file; a failure changes no result.
fn draw_pages(request: &FixRequest, folder: &Path, screen: &dyn Screen) {
    let files: [Option<PathBuf>; 3] = [
        Some(store::file_path(folder, page::PAGE)),
        request.run.bundle.as_ref().map(|folder| folder.join(page::BUNDLED)),
        request.html.clone(),
    ];
    let drawn = page::draw_page(folder)
        .and_then(|page| files.iter().flatten().try_for_each(|file| page::write_page(file, &page)));
    let text = match (drawn, &request.html) {
        (Err(error), _) => format!("the result is valid, but {}; {}", error.message, error.hint),
        (Ok(()), Some(file)) => format!("the page is in {}", file.display()),
        (Ok(()), None) => return,
    };
    screen.show(&Event::Notice { text });
}

/// Makes what a project has from its first session on; never changes the result.
fn initialise(root: &Path, session: &Session<'_>, screen: &dyn Screen) {
    let facts = session.suite_facts();
    let facts = [
        ("framework", facts.framework.to_string().into()),
        ("command", redaction::redact(&facts.command).to_string().into()),
        ("languages", facts.languages.clone().into()),
    ];
    for (name, text) in lessons::first_files(&facts, |name| root.join(name).exists()) {
        write_project_file(root, name, &text, screen);
    }
}

fn write_project_file(root: &Path, name: &str, text: &str, screen: &dyn Screen) {
    let path = root.join(name);
    let folder = path.parent().unwrap_or(root);
    let written = files::create_folder(folder)
        .and_then(|()| files::write_text(&path, &redaction::redact(text)));
    if let Err(error) = written {
        let text = format!("{} was not updated: {error}", path.display());
        screen.show(&Event::Notice { text });
    }
}

/// Records what the session teaches (specification.md 9.5); never changes the result.
fn record_lessons(root: &Path, outcome: &Outcome, screen: &dyn Screen) {
    let read = |name: &str| {
        let bytes = files::read(&root.join(name), 4 << 20).ok()??;
        String::from_utf8(bytes).ok()
    };
    let now = clock::now();
    let date = now.get(..10).unwrap_or(&now);
    for (name, text) in lessons::files(outcome, date, read) {
        write_project_file(root, name, &text, screen);
    }
}

/// Merges a request with the configuration: request before file before defaults.
pub(super) fn resolve(request: &FixRequest, settings: &Settings) -> Result<FixSettings, AppError> {
    let test = settings.test.clone().unwrap_or_default();
    let gate = settings.gate.clone().unwrap_or_default();
    let budget = settings.budget.clone().unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let setup = if request.setup.is_empty() { test.setup } else { Some(request.setup.clone()) };
    let command = request.run.test_command.clone().or(test.command);
    let budget = match request.models.budget_minutes {
        Some(minutes) => Some(fraction_of_minutes(minutes)),
        None => budget.minutes.map(minutes),
    };
    command.iter().chain(setup.iter().flatten()).for_each(|text| redaction::register_command(text));
    for one in &request.run.set {
        redaction::register_command(&format!("--{}={}", one.key, shell::word(&one.value)));
    }
    Ok(FixSettings {
        repository: request.repository.clone(),
        // Where a test hangs, a run to the end and one to confirm it have to fit in.
        test_timeout: test_timeout(request.run.test_timeout.as_ref(), settings)?
            .min(budget.map_or(Duration::MAX, |budget| budget / 2)),
        test_command: command,
        report: request.report.clone().or(test.report),
        setup: setup.unwrap_or_default(),
        target: request.target.or(gate.target).unwrap_or(TARGET),
        max_iterations: request.run.max_iterations.or_else(|| {
            // A resumed session keeps its own limit unless the request raises it.
            request.run.session.is_new().then(|| gate.max_iterations.unwrap_or(MAX_ITERATIONS))
        }),
        session: request.run.session.clone(),
        branch: request.branch.clone(),
        base: request.run.base.clone(),
        budget,
        jobs: request.jobs.map_or(cores, usize::from),
        kind: SessionKind::Test,
        module: None,
        mode: match request.mode {
            Mode::Apply if patches_only(settings, request.run.bundle.is_some()) => Mode::Suggest,
            mode => mode,
        },
        layers: test.layers.unwrap_or_default(),
        tools: tool_commands(settings),
    })
}

/// The time limit of one test run.
pub(super) fn test_timeout(
    requested: Option<&String>,
    settings: &Settings,
) -> Result<Duration, AppError> {
    let configured = settings.test.as_ref().and_then(|test| test.timeout.as_ref());
    match requested.or(configured) {
        None => Ok(TEST_TIMEOUT),
        Some(text) => config::duration(text).ok_or_else(|| {
            AppError::usage(format!("`{text}` is not a time"), "write it like 30s, 20m or 2h")
        }),
    }
}
