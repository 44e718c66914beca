//! `regreen plan` and `regreen test`: what is asked for becomes a session with a plan, and with
//! `test` its tests are written, judged, kept and run.

use std::path::Path;

use crate::adapter::host::clock::HostClock;
use crate::adapter::host::{environment, files, process};
use crate::adapter::planning::{PlanRequest, PlanSpace};
use crate::adapter::{MAX_ITERATIONS, repo};
use crate::cli::args::{ConfirmPlanArgument, PlanArguments};
use crate::cli::bundle::Both;
use crate::cli::failure::{Failure, exit};
use crate::cli::progress::Terminal;
use crate::config::{self, Override, Settings};
use crate::cycle::{self, PlanSetUp};
use crate::domain::event::Event;
use crate::domain::id::SessionId;
use crate::domain::test_plan::entry::{self, DESCRIPTION_LIMIT, Entry};
use crate::domain::test_plan::pipeline::{ConfirmPlan, Goal, Step, Verdict};
use crate::effect::{Clock, Screen};
use crate::report::planning;
use crate::report::terminal::harmless;

use super::fix::{self, Inherited, TEST_TIMEOUT, WITH_PARENT};
use super::settings::{configured, contain, coverage_target, flag, tool_commands};
use super::work;

/// Bytes of a coverage report that are read at most.
const REPORT_LIMIT: u64 = 256 << 20;

/// Runs the verb.
pub async fn run(arguments: &PlanArguments, goal: Goal) -> Result<u8, Failure> {
    let facts = repo::discover(&arguments.repository)?;
    let settings = configured(&facts.root, arguments.config.as_ref(), &overrides(arguments))?;
    contain(&settings)?;
    let request = request(arguments, &settings, goal, &facts.root)?;
    let report = arguments.coverage_report.as_deref().map(report).transpose()?;
    let flags = work::fixing(arguments, None);
    if environment::variable(WITH_PARENT).is_some() {
        process::end_with_parent();
    }
    let mut providers = super::providers::open(&flags, &settings)?;
    let terminal = Terminal::new(arguments.quiet, arguments.json);
    let clock = HostClock::start();
    let budget = fix::request(&flags, &settings)?.budget;
    let bundle = match &arguments.bundle {
        Some(folder) => Some(fix::bundle(folder, facts, None, false)?),
        None => None,
    };
    let screen = Both { first: &terminal, second: bundle.as_ref() };
    let space = PlanSpace::open(&request, &clock).await?;
    let models = providers.models(&space.scratch())?;
    screen.show(&space.opened());
    for text in space.notices.iter().chain(&providers.notices) {
        screen.show(&Event::Notice { text: text.clone() });
    }
    if space.resumed {
        let text = format!("going on with session {}", space.record.session_id);
        screen.show(&Event::Notice { text });
    }
    let set_up = PlanSetUp {
        tree: space.tree.clone(),
        source: space.source.clone(),
        report,
        measure: space.runnable && !arguments.no_coverage,
        max_iterations: space.record.max_iterations,
        coverage_target: coverage_target(&settings),
        chain: providers.chain.clone(),
        ask: providers.ask.clone(),
        budget,
    };
    let branch = space.record.git.branch.clone();
    let folder = space.folder();
    let state = space.pipeline.clone();
    let planned = {
        let fx = space.hands.effects(&models, &screen);
        cycle::plan(state, &set_up, &fx).await
    };
    let mut planned = match planned {
        Ok(planned) => planned,
        Err(failure) => {
            // A request that names nothing here leaves nothing here.
            if matches!(failure, cycle::Failure::Gather(_)) && !space.resumed {
                space.abandon().await?;
            }
            return Err(failure.into());
        }
    };
    space.finish(&planned.state).await?;
    let mut folder = folder.display().to_string();
    let mut produced = None;
    let (mut met, mut closed) = (true, false);
    if goal == Goal::Test && planned.state.works() && planned.halted.is_none() {
        let inherited = Inherited {
            providers: &providers,
            models: &models,
            budget: budget.map(|budget| budget.saturating_sub(clock.elapsed())),
        };
        let screens = work::Screens { terminal: &terminal, both: &screen };
        let worked = Box::pin(work::run(arguments, planned, inherited, screens)).await?;
        (planned, produced, met) = (worked.planned, worked.produced, worked.met);
        folder = worked.folder.unwrap_or(folder);
        closed = worked.closed;
    }
    if let Some(bundle) = bundle.as_ref().filter(|_| !closed) {
        let outcome = planning::outcome(
            &planned.state,
            planned.plan.as_ref(),
            planned.halted.as_deref(),
            planning::Rest { branch, folder: folder.clone(), took: clock.elapsed() },
        );
        bundle.show(&Event::Closed(Box::new(outcome)));
    }
    terminal.clear();
    if arguments.json {
        let document = planning::document(&planned.told(), produced.as_ref(), &folder);
        println!("{}", serde_json::to_string_pretty(&document).unwrap_or_default());
    } else {
        // Everything foreign in it is shortened and harmless already.
        print!(
            "{}",
            planning::summary(&planned.told(), produced.as_ref(), &harmless(&folder, 300))
        );
    }
    Ok(match &planned.state.next {
        _ if planned.halted.is_some() => exit::NOT_MET,
        Step::Finish { verdict: Verdict::Failed { .. } | Verdict::Held { .. } }
        | Step::Gather
        | Step::Analyse
        | Step::Plan { .. } => exit::NOT_MET,
        // The work was asked for and is not done, or not well enough.
        _ if goal == Goal::Test && (planned.state.works() || !met) => exit::NOT_MET,
        _ => exit::MET,
    })
}

/// Flags win over the file, the file over defaults.
fn request(
    arguments: &PlanArguments,
    settings: &Settings,
    goal: Goal,
    root: &Path,
) -> Result<PlanRequest, Failure> {
    let test = settings.test.clone().unwrap_or_default();
    let gate = settings.gate.clone().unwrap_or_default();
    let test_timeout = match arguments.test_timeout.as_ref().or(test.timeout.as_ref()) {
        None => TEST_TIMEOUT,
        Some(text) => config::duration(text).ok_or_else(|| {
            Failure::usage(format!("`{text}` is not a time"), "write it like 30s, 20m or 2h")
        })?,
    };
    let (entry, description) = if arguments.resume.is_some() {
        (None, String::new())
    } else {
        let entry = entry::detect(&arguments.what.join(" "))?;
        let description = description(&entry, root)?;
        (Some(entry), description)
    };
    let named = arguments.resume.as_ref().filter(|name| !name.is_empty());
    let named = named.or(arguments.session.as_ref()).map(SessionId::parse).transpose();
    let session = named.map_err(|error| {
        Failure::usage(error.to_string(), "`regreen session list` names the sessions")
    })?;
    Ok(PlanRequest {
        repository: arguments.repository.clone(),
        test_command: arguments.test_command.clone().or(test.command),
        report: test.report,
        test_timeout,
        layers: test.layers.unwrap_or_default(),
        setup: test.setup.unwrap_or_default(),
        entry,
        description,
        session,
        fresh: arguments.fresh,
        goal,
        confirm_plan: if settings.plan.clone().unwrap_or_default().waits() {
            ConfirmPlan::Always
        } else {
            ConfirmPlan::Never
        },
        confirmed: arguments.yes,
        max_iterations: arguments.max_iterations.or(gate.max_iterations).unwrap_or(MAX_ITERATIONS),
        tools: tool_commands(settings),
    })
}

/// Flags that stand for keys of the file.
pub fn overrides(arguments: &PlanArguments) -> Vec<Override> {
    let confirm = arguments.confirm_plan.map(|when| match when {
        ConfirmPlanArgument::Never => "never",
        ConfirmPlanArgument::Always => "always",
    });
    let score = arguments.min_mutation_score.map(|percent| percent.to_string());
    let minutes = arguments.engine_minutes.map(|minutes| minutes.to_string());
    let flags = [
        flag("engine-minutes", "budget.engine-minutes", minutes.as_deref()),
        flag("confirm-plan", "plan.confirm", confirm),
        flag("min-mutation-score", "gate.min-mutation-score", score.as_deref()),
        flag("coverage-command", "coverage.command", arguments.coverage_command.as_deref()),
    ];
    flags.into_iter().flatten().chain(arguments.set.iter().cloned()).collect()
}

/// What is asked for in full: the text itself, or that of the document, found from here or from
/// the root of the repository.
fn description(entry: &Entry, root: &Path) -> Result<String, Failure> {
    let name = match entry {
        Entry::Text(text) => return Ok(text.clone()),
        Entry::Session(_) => return Ok(String::new()),
        Entry::Document(name) => name,
    };
    let limit = DESCRIPTION_LIMIT as u64;
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("{name}: {error}"), "name a Markdown file that can be read")
    };
    let mut bytes = files::read(Path::new(name), limit).map_err(unreadable)?;
    if bytes.is_none() {
        bytes = files::read(&root.join(name), limit).map_err(unreadable)?;
    }
    let bytes = bytes.ok_or_else(|| {
        Failure::usage(
            format!("{name} is not there"),
            "name a Markdown file, or describe in words what is to be tested",
        )
    })?;
    Ok(entry::document(name, &bytes)?)
}

/// A coverage report that was named, with its name.
fn report(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    let bytes = files::read(path, REPORT_LIMIT)
        .map_err(|error| {
            Failure::usage(format!("{name}: {error}"), "name a report that can be read")
        })?
        .ok_or_else(|| Failure::usage(format!("{name} is not there"), "name a coverage report"))?;
    Ok((name, String::from_utf8_lossy(&bytes).into_owned()))
}
