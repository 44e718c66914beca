//! `regreen fix`: a request out of flags and file, one session, one end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use globset::{Glob, GlobSetBuilder};

use crate::adapter::host::clock::HostClock;
use crate::adapter::host::{self, environment, files, process};
use crate::adapter::store::STATE_FOLDER;
use crate::adapter::{MAX_ITERATIONS, Workspace, repo, state_root};
use crate::cli::args::FixArguments;
use crate::cli::bundle::{Both, BundleScreen};
use crate::cli::failure::{Failure, exit};
use crate::cli::page;
use crate::cli::progress::Terminal;
use crate::config::{self, Override, Settings};
use crate::cycle::{self, SetUp};
use crate::domain::event::{Ending, Event, Outcome};
use crate::domain::id::{CommitId, SessionId};
use crate::domain::request::{FixRequest, Mode, Resume};
use crate::effect::{Model, Screen};
use crate::report::document::Document;
use crate::report::lessons;

use super::providers::Providers;
use super::settings::{configured, contain, flag, patches_only, terms, tool_commands};

/// Limit of one test run when nothing else is said.
pub const TEST_TIMEOUT: Duration = Duration::from_mins(20);

/// What is said when a base is needed and there is none.
const WITHOUT_BASE: &str = "`ignore-preexisting` has nothing to compare with: every failing test counts; `--base REF` names what to compare with";

/// Set by the publishing phase for the working one that it starts.
pub(super) const WITH_PARENT: &str = "REGREEN_WITH_PARENT";

/// Runs the verb.
pub async fn run(arguments: &FixArguments) -> Result<u8, Failure> {
    if environment::variable(WITH_PARENT).is_some() {
        process::end_with_parent();
    }
    let screen = Terminal::new(arguments.quiet, arguments.json);
    let outcome = fix(arguments, &screen).await?;
    if arguments.json {
        let document = serde_json::to_string_pretty(&Document::from(&outcome)).unwrap_or_default();
        println!("{document}");
    }
    Ok(code(outcome.result))
}

/// The exit code of an ending.
fn code(ending: Ending) -> u8 {
    match ending {
        Ending::Success | Ending::PartialSuccess | Ending::Planned => exit::MET,
        Ending::Failure | Ending::Blocked => exit::NOT_MET,
    }
}

/// What the verb before this one in the same run hands on.
pub struct Inherited<'a> {
    /// Its chain.
    pub providers: &'a Providers,
    /// Its models: a recording, and what a provider said of itself, go on.
    pub models: &'a [Box<dyn Model>],
    /// What is left of the time budget.
    pub budget: Option<Duration>,
}

/// Runs one session.
pub async fn fix(arguments: &FixArguments, screen: &dyn Screen) -> Result<Outcome, Failure> {
    fix_with(arguments, None, screen).await
}

/// Runs one session, asking whom the verb before it asked.
pub async fn fix_with(
    arguments: &FixArguments,
    inherited: Option<Inherited<'_>>,
    screen: &dyn Screen,
) -> Result<Outcome, Failure> {
    if let Some(file) = &arguments.html {
        page::check(file)?;
    }
    let facts = repo::discover(&arguments.repository)?;
    let settings = configured(&facts.root, arguments.config.as_ref(), &overrides(arguments))?;
    contain(&settings)?;
    let mut request = request(arguments, &settings)?;
    let mut own = match &inherited {
        Some(_) => None,
        None => Some(super::providers::open(arguments, &settings)?),
    };
    if let Some(inherited) = &inherited {
        request.budget = inherited.budget;
    }
    let clock = HostClock::start();
    let mut workspace = Workspace::open(&request, &clock).await?;
    let opened = match &mut own {
        Some(providers) => providers.models(&workspace.scratch())?,
        None => Vec::new(),
    };
    let models = inherited.as_ref().map_or(opened.as_slice(), |inherited| inherited.models);
    let providers = inherited.as_ref().map(|inherited| inherited.providers).or(own.as_ref());
    let (chain, ask, said) = match providers {
        Some(known) => (known.chain.clone(), known.ask.clone(), known.notices.clone()),
        None => return Err(Failure::usage("nobody is asked", "name an `--engine`")),
    };
    let bundle = match &arguments.bundle {
        Some(folder) => {
            let base = workspace.base.as_ref().map(|(commit, _)| commit.clone());
            Some(bundle(folder, workspace.facts.clone(), base, arguments.bundle_goes_on)?)
        }
        None => None,
    };
    let watched = screen;
    let both = Both { first: screen, second: bundle.as_ref() };
    let screen: &dyn Screen = &both;
    // Whoever runs strangers' tests wants to know what keeps them in.
    let unprotected = match bundle {
        Some(_) => workspace.protection.missing.clone(),
        None => Vec::new(),
    };
    let fx = workspace.hands.effects(models, screen);
    let mut protect = GlobSetBuilder::new();
    for glob in &request.protect {
        let glob = Glob::new(glob).map_err(|error| {
            Failure::usage(format!("`protect`: {error}"), "write it like `migrations/**`")
        })?;
        protect.add(glob);
    }
    let protect = protect
        .build()
        .map_err(|error| Failure::usage(format!("`protect`: {error}"), "use fewer patterns"))?;
    let ignores = settings.ignore_preexisting == Some(true) && workspace.base.is_none();
    let without_base = ignores.then(|| WITHOUT_BASE.to_owned()).into_iter().collect();
    let set_up = SetUp {
        session: workspace.record.session_id.clone(),
        repository: workspace.facts.root.display().to_string(),
        head: workspace.record.git.head_sha.clone(),
        onto: workspace.record.git.onto.clone(),
        base: workspace.base.clone(),
        terms: terms(
            &request,
            &settings,
            workspace.record.max_iterations,
            workspace.base.is_some(),
            !arguments.no_minimise,
        ),
        raised_limit: request.max_iterations.filter(|_| request.resume != Resume::New),
        moved: workspace.moved,
        budget: request.budget,
        jobs: request.jobs,
        protect,
        state_root: STATE_FOLDER.to_owned(),
        state_prefix: workspace.state_prefix(),
        archive: workspace.archive_folder(),
        notices: [workspace.notices.clone(), without_base, unprotected, said].concat(),
        chain,
        ask,
    };
    let outcome = match Box::pin(cycle::run(set_up, &fx)).await {
        Ok(outcome) => outcome,
        Err(failure) => {
            if request.resume == Resume::New {
                workspace.abandon().await?;
            }
            return Err(failure.into());
        }
    };
    let places = [
        Some(fx.store.folder().join(page::PAGE)),
        arguments.bundle.as_ref().map(|folder| folder.join(page::BUNDLED)),
        arguments.html.clone(),
    ];
    if let Err(failure) = draw(fx.store.folder(), &places) {
        let text = format!("the result stands, but {}; {}", failure.message, failure.hint);
        watched.show(&Event::Notice { text });
    } else if let Some(file) = &arguments.html {
        watched.show(&Event::Notice { text: format!("the page is in {}", file.display()) });
    }
    workspace.conclude(&outcome).await?;
    if matches!(outcome.result, Ending::Success | Ending::PartialSuccess) {
        learn(&state_root(&facts), &outcome, screen);
    }
    // What happens to the session's folder never changes the result (product.md X37).
    if let Err(error) = workspace.finish().await {
        let text = format!("the result stands, but {error}; the next start tries again");
        screen.show(&Event::Notice { text });
    }
    Ok(outcome)
}

/// A screen that leaves a bundle.
pub(super) fn bundle(
    folder: &Path,
    facts: repo::RepositoryFacts,
    base: Option<CommitId>,
    goes_on: bool,
) -> Result<BundleScreen, Failure> {
    BundleScreen::open(folder, facts, base, goes_on).map_err(|error| {
        Failure::usage(
            format!("{}: {error}", folder.display()),
            "name a folder for `--bundle` that can be written",
        )
    })
}

/// Writes down what the session teaches (product.md 9.5); never changes the result.
fn learn(root: &Path, outcome: &Outcome, screen: &dyn Screen) {
    let read = |name: &str| {
        let bytes = files::read(&root.join(name), 4 << 20).ok()??;
        String::from_utf8(bytes).ok()
    };
    let now = host::clock::now();
    let date = now.get(..10).unwrap_or(&now);
    for (name, text) in lessons::files(outcome, date, read) {
        let path = root.join(name);
        let folder = path.parent().unwrap_or(root);
        let written =
            files::create_folder(folder).and_then(|()| files::write(&path, text.as_bytes()));
        if let Err(error) = written {
            let text = format!("{} was not updated: {error}", path.display());
            screen.show(&Event::Notice { text });
        }
    }
}

/// Draws the session's page wherever it is wanted.
fn draw(folder: &Path, places: &[Option<PathBuf>]) -> Result<(), Failure> {
    let page = page::draw(folder)?;
    places.iter().flatten().try_for_each(|file| page::write(file, &page))
}

/// Flags win over the file, the file over defaults.
pub(super) fn request(
    arguments: &FixArguments,
    settings: &Settings,
) -> Result<FixRequest, Failure> {
    let test = settings.test.clone().unwrap_or_default();
    let gate = settings.gate.clone().unwrap_or_default();
    let budget = settings.budget.clone().unwrap_or_default();
    let test_timeout = match arguments.test_timeout.as_ref().or(test.timeout.as_ref()) {
        None => TEST_TIMEOUT,
        Some(text) => config::duration(text).ok_or_else(|| {
            Failure::usage(format!("`{text}` is not a time"), "write it like 30s, 20m or 2h")
        })?,
    };
    let resume = match arguments.resume.as_deref() {
        None => Resume::New,
        Some("") => Resume::Newest,
        Some(text) => Resume::Session(SessionId::parse(text).map_err(|error| {
            Failure::usage(error.to_string(), "`regreen status` lists the sessions")
        })?),
    };
    let minutes = arguments.asking.budget_minutes.or(budget.minutes);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(FixRequest {
        repository: arguments.repository.clone(),
        test_command: arguments.test_command.clone().or(test.command),
        report: arguments.report.clone().or(test.report),
        setup: if arguments.setup.is_empty() {
            test.setup.unwrap_or_default()
        } else {
            arguments.setup.clone()
        },
        test_timeout,
        target: arguments.target.or(gate.target).unwrap_or(95),
        max_iterations: arguments.max_iterations.or_else(|| {
            // A resumed session keeps its own limit unless a flag raises it.
            (resume == Resume::New).then(|| gate.max_iterations.unwrap_or(MAX_ITERATIONS))
        }),
        session: arguments
            .session
            .as_ref()
            .map(SessionId::parse)
            .transpose()
            .map_err(|error| Failure::usage(error.to_string(), "use letters, digits, - and _"))?,
        branch: arguments.branch.clone(),
        base: arguments.base.clone(),
        resume,
        budget: minutes.map(|minutes| Duration::from_secs(minutes * 60)),
        jobs: arguments.jobs.map_or(cores, usize::from),
        mode: if arguments.dry_run {
            Mode::DryRun
        } else if arguments.suggest || patches_only(settings, arguments.bundle.is_some()) {
            Mode::Suggest
        } else {
            Mode::Apply
        },
        protect: settings.protect.clone().unwrap_or_default(),
        layers: test.layers.unwrap_or_default(),
        tools: tool_commands(settings),
    })
}

/// Flags that stand for keys of the file; `--set` itself goes before them, since it is more
/// explicit.
fn overrides(arguments: &FixArguments) -> Vec<Override> {
    let yes = arguments.ignore_preexisting.then_some("true");
    let flags = [
        flag("history", "history", arguments.history.as_deref()),
        flag("commit-state", "commit-state", arguments.commit_state.as_deref()),
        flag("ignore-preexisting", "ignore-preexisting", yes),
        flag("fix-scope", "loop.fix-scope", arguments.fix_scope.as_deref()),
        flag("image", "sandbox.image", arguments.image.as_deref()),
    ];
    flags.into_iter().flatten().chain(arguments.set.iter().cloned()).collect()
}
