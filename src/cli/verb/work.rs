//! Phase 5 of `regreen test`: tests are written and kept on the fix branch, then the fix loop runs
//! there.

use std::time::Duration;

use crate::adapter::host::clock::HostClock;
use crate::adapter::{Workspace, repo};
use crate::cli::args::{FixArguments, PlanArguments};
use crate::cli::failure::Failure;
use crate::cli::progress::Terminal;
use crate::cycle::{self, Planned, ProduceSetUp};
use crate::domain::event::{Ending, Event};
use crate::domain::generation::pipeline::Step;
use crate::domain::generation::production::Production;
use crate::domain::mutation::MIN_MUTATION_SCORE;
use crate::domain::task::TaskStatus;
use crate::effect::{Clock, Screen};

use super::fix;

/// Wall time of breaking code, for each task.
const BREAKING: Duration = Duration::from_mins(10);

/// What phase 5 came to.
pub struct Worked {
    /// Where the session rests.
    pub planned: Planned,
    /// What was made.
    pub produced: Option<Production>,
    /// Whether both gates and the suite are met.
    pub met: bool,
    /// Where the session's files are now, when they moved.
    pub folder: Option<String>,
    /// Whether the screens were told of the end.
    pub closed: bool,
}

/// What the phases before have begun.
pub struct Begun<'a> {
    /// Runs since the beginning.
    pub clock: &'a HostClock,
    /// Wall time on that clock.
    pub budget: Option<Duration>,
    /// The terminal.
    pub screen: &'a Terminal,
    /// The terminal, and the bundle where one is wanted.
    pub both: &'a dyn Screen,
}

/// Carries a plan out.
pub async fn run(
    arguments: &PlanArguments,
    mut planned: Planned,
    begun: &Begun<'_>,
) -> Result<Worked, Failure> {
    let mut again = fixing(arguments, &planned);
    let facts = repo::discover(&arguments.repository)?;
    let settings = match &arguments.config {
        Some(path) => fix::settings(path, &path.display().to_string())?,
        None => fix::settings(&facts.root.join(fix::CONFIGURATION), fix::CONFIGURATION)?,
    };
    let mut produced = None;
    if planned.state.next != Step::Execute {
        let request = fix::request(&again, &settings)?;
        let workspace = Workspace::open(&request, begun.clock).await?;
        for text in &workspace.notices {
            begun.both.show(&Event::Notice { text: text.clone() });
        }
        let fx = workspace.effects(&[], begun.both);
        let gate = settings.gate.as_ref().and_then(|gate| gate.min_mutation_score);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let set_up = ProduceSetUp {
            tree: fx.worktree.tree_of(&workspace.record.git.head_sha).await?,
            observer: workspace.observer(),
            threshold: gate.unwrap_or(MIN_MUTATION_SCORE),
            jobs: cores,
            time: BREAKING,
            budget: begun.budget,
            state_prefix: workspace.state_prefix(),
        };
        planned = Box::pin(cycle::produce(planned.state, &set_up, &fx)).await?;
        produced = cycle::production(&fx).await?;
        if planned.state.next != Step::Execute {
            return Ok(Worked { planned, produced, met: false, folder: None, closed: false });
        }
    }
    if let Some(budget) = begun.budget {
        let left = budget.saturating_sub(begun.clock.elapsed());
        again.budget_minutes = Some(left.as_secs().div_ceil(60).max(1));
    }
    let outcome = Box::pin(fix::fix(&again, begun.screen)).await?;
    let folder = std::path::Path::new(&outcome.folder);
    if produced.is_none() {
        produced = crate::adapter::store::read_file(
            folder,
            crate::domain::generation::production::PRODUCTION,
        )?
        .and_then(|value| serde_json::from_value(value).ok());
    }
    let green = matches!(outcome.result, Ending::Success | Ending::PartialSuccess);
    planned.state = cycle::advanced(planned.state, &outcome, produced.as_ref());
    let suite = planned.plan.iter_mut().flat_map(|plan| &mut plan.tasks);
    for task in suite.filter(|task| task.id == "IMPL-002") {
        task.status = match outcome.result {
            Ending::Success | Ending::PartialSuccess | Ending::Planned => TaskStatus::Completed,
            Ending::Failure => TaskStatus::Blocked,
            Ending::Blocked => TaskStatus::InProgress,
        };
    }
    let met = green && produced.as_ref().is_some_and(Production::is_met);
    Ok(Worked { planned, produced, met, folder: Some(outcome.folder), closed: true })
}

/// The flags of the fix loop on the session's branch.
fn fixing(arguments: &PlanArguments, planned: &Planned) -> FixArguments {
    FixArguments {
        repository: arguments.repository.clone(),
        test_command: arguments.test_command.clone(),
        test_timeout: arguments.test_timeout.clone(),
        // A new session has its limit already; a resumed one may be given a higher one.
        max_iterations: arguments.resume.as_ref().and(arguments.max_iterations),
        config: arguments.config.clone(),
        bundle: arguments.bundle.clone(),
        bundle_goes_on: true,
        base: arguments.base.clone(),
        budget_usd: arguments.budget_usd,
        budget_tokens: arguments.budget_tokens,
        budget_calls: arguments.budget_calls,
        resume: Some(planned.state.session_id.to_string()),
        json: arguments.json,
        quiet: arguments.quiet,
        ..FixArguments::default()
    }
}
