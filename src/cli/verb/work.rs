//! Phase 5 of `regreen test`: tests are written and kept on the fix branch, then the fix loop runs
//! there.

use crate::adapter::host::clock::HostClock;
use crate::adapter::{Workspace, repo};
use crate::cli::args::{FixArguments, PlanArguments};
use crate::cli::failure::Failure;
use crate::cli::progress::Terminal;
use crate::cycle::{self, Planned, ProduceSetUp};
use crate::domain::event::{Ending, Event};
use crate::domain::mutation::MIN_MUTATION_SCORE;
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::generation::Generation;
use crate::domain::test_plan::pipeline::{Step, Verdict};
use crate::effect::{Clock, Screen};

use super::fix::{self, Inherited};
use super::plan::overrides;
use super::settings::{configured, contain, engine_time, limits, state_travels, tool_commands};

/// What phase 5 came to.
pub struct Worked {
    /// Where the session rests.
    pub planned: Planned,
    /// What was made.
    pub produced: Option<Generation>,
    /// Whether both gates and the suite are met.
    pub met: bool,
    /// Where the session's files are now, when they moved.
    pub folder: Option<String>,
    /// Whether the screens were told of the end.
    pub closed: bool,
}

/// Who watches.
#[derive(Clone, Copy)]
pub struct Screens<'a> {
    /// The terminal.
    pub terminal: &'a Terminal,
    /// The terminal, and the bundle where one is wanted.
    pub both: &'a dyn Screen,
}

/// Carries a plan out.
pub async fn run(
    arguments: &PlanArguments,
    mut planned: Planned,
    inherited: Inherited<'_>,
    screens: Screens<'_>,
) -> Result<Worked, Failure> {
    let again = fixing(arguments, Some(&planned));
    let facts = repo::discover(&arguments.repository)?;
    let settings = configured(&facts.root, arguments.config.as_ref(), &overrides(arguments))?;
    contain(&settings)?;
    let began = HostClock::start();
    let mut produced = None;
    if planned.state.next != Step::Execute {
        let request = fix::request(&again, &settings)?;
        let clock = HostClock::start();
        let mut workspace = Workspace::open(&request, &clock).await?;
        for text in &workspace.notices {
            screens.both.show(&Event::Notice { text: text.clone() });
        }
        let fx = workspace.hands.effects(inherited.models, screens.both);
        let gate = settings.gate.as_ref().and_then(|gate| gate.min_mutation_score);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let set_up = ProduceSetUp {
            tree: fx.worktree.tree_of(&workspace.record.git.head_sha).await?,
            observer: workspace.observer(),
            threshold: gate.unwrap_or(MIN_MUTATION_SCORE),
            jobs: cores,
            time: engine_time(None, &settings),
            state_prefix: workspace.state_prefix(),
            own: tool_commands(&settings),
            state_travels: state_travels(&settings),
            limits: limits(&settings),
            chain: inherited.providers.chain.clone(),
            ask: inherited.providers.ask.clone(),
            budget: inherited.budget,
        };
        planned = Box::pin(cycle::produce(planned.state, &set_up, &fx)).await?;
        produced = cycle::production(&fx).await?;
        if matches!(planned.state.next, Step::Finish { verdict: Verdict::Held { .. } }) {
            workspace.hold().await?;
            let folder = Some(workspace.finish().await?.display().to_string());
            return Ok(Worked { planned, produced, met: false, folder, closed: false });
        }
        if planned.state.next != Step::Execute {
            return Ok(Worked { planned, produced, met: false, folder: None, closed: false });
        }
    }
    let inherited = Inherited {
        budget: inherited.budget.map(|budget| budget.saturating_sub(began.elapsed())),
        ..inherited
    };
    let outcome = Box::pin(fix::fix_with(&again, Some(inherited), screens.terminal)).await?;
    let folder = std::path::Path::new(&outcome.folder);
    if produced.is_none() {
        produced = crate::adapter::store::read_file(
            folder,
            crate::domain::test_plan::generation::PRODUCTION,
        )?
        .and_then(|value| serde_json::from_value(value).ok());
    }
    let green = matches!(outcome.result, Ending::Success | Ending::PartialSuccess);
    planned.spending = outcome.spending;
    planned.halted = (outcome.result == Ending::Blocked).then(|| outcome.reason.clone());
    planned.state = cycle::advanced(planned.state, &outcome, produced.as_ref());
    let suite = planned.plan.iter_mut().flat_map(|plan| &mut plan.tasks);
    for task in suite.filter(|task| task.id == "IMPL-002") {
        task.status = match outcome.result {
            Ending::Success | Ending::PartialSuccess | Ending::Planned => TaskStatus::Completed,
            Ending::Failure => TaskStatus::Blocked,
            Ending::Blocked => TaskStatus::InProgress,
        };
    }
    let met = green && produced.as_ref().is_some_and(Generation::is_met);
    Ok(Worked { planned, produced, met, folder: Some(outcome.folder), closed: true })
}

/// The flags of the fix loop on the session's branch.
pub(super) fn fixing(arguments: &PlanArguments, planned: Option<&Planned>) -> FixArguments {
    FixArguments {
        asking: arguments.asking.clone(),
        repository: arguments.repository.clone(),
        test_command: arguments.test_command.clone(),
        test_timeout: arguments.test_timeout.clone(),
        // A new session has its limit already; a resumed one may be given a higher one.
        max_iterations: arguments.resume.as_ref().and(arguments.max_iterations),
        config: arguments.config.clone(),
        set: overrides(arguments),
        bundle: arguments.bundle.clone(),
        bundle_goes_on: true,
        base: arguments.base.clone(),
        resume: planned.map(|planned| planned.state.session_id.to_string()),
        json: arguments.json,
        quiet: arguments.quiet,
        ..FixArguments::default()
    }
}
