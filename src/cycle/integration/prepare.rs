//! Performs the phases of an integration session that come before its fix loop: explore, design,
//! develop, and the commit of the new tests.

use std::time::Duration;

use crate::cycle::drive::{Driven, Perform, Work, drive};
use crate::cycle::error::Failure;
use crate::cycle::session_files::{committed_files, spent};
use crate::domain::commit;
use crate::domain::event::Event;
use crate::domain::integration::{
    Integration, IntegrationGoal, IntegrationOutcome, IntegrationStep,
};
use crate::domain::request::ToolCommands;
use crate::domain::session::files::REFLECTION_LOG;
use crate::effect::{CommitRequest, Effects, Observer};
use crate::report::reflection_log;
use crate::role::integration::{self, DevelopRequest, ExploreRequest};
use crate::role::{AskSettings, Budgeted, ChainEntry, ProviderChain};

/// Inputs of the phases before the fix loop, besides the state.
pub struct IntegrationInputs<'a> {
    /// Calls functions and observes what they do.
    pub observer: &'a dyn Observer,
    pub jobs: usize,
    /// Wall time limit of the development.
    pub time: Duration,
    /// Elapsed time, on the clock of the effects, after which the run stops at a checkpoint.
    pub budget: Option<Duration>,
    /// The session's folder inside commits.
    pub state_prefix: String,
    /// Whether the session's state is stored in its commits.
    pub state_is_committed: bool,
    /// The project's own tool commands.
    pub own: ToolCommands,
    /// Providers that write tests, in the order in which they are asked.
    pub chain: Vec<ChainEntry>,
    pub ask: AskSettings,
}

/// Drives the phases before the fix loop until the branch holds the new tests, or the run must stop.
pub async fn prepare_integration(
    state: Integration,
    inputs: &IntegrationInputs<'_>,
    fx: &Effects<'_>,
) -> Result<Driven<Integration>, Failure> {
    let (session, ask) = (state.session_id.clone(), inputs.ask.clone());
    let providers = ProviderChain::open(&session, inputs.chain.clone(), ask, fx).await?;
    let mut performer = PhasePerformer { inputs, providers, fx };
    let driven = drive(state, &mut performer, fx.into(), inputs.budget).await?;
    let spending = spent(&session, fx).await?;
    let stopped = driven.stopped.map(|stopped| stopped.raising(&inputs.ask.session, &spending));
    Ok(Driven { stopped, ..driven })
}

/// Performs the phases before the fix loop.
struct PhasePerformer<'a> {
    inputs: &'a IntegrationInputs<'a>,
    providers: ProviderChain,
    fx: &'a Effects<'a>,
}

impl Perform<Integration> for PhasePerformer<'_> {
    fn perform<'s>(&'s mut self, state: &'s Integration) -> Work<'s, IntegrationOutcome> {
        let this = &*self;
        match state.checkpoint.next {
            IntegrationStep::Explore => Work::Step(Box::pin(this.explore(state))),
            IntegrationStep::Design => Work::Step(Box::pin(this.design(state))),
            IntegrationStep::Develop => Work::Step(Box::pin(this.develop(state))),
            IntegrationStep::Validate => Work::Step(Box::pin(this.validate(state))),
            IntegrationStep::Commit => Work::Step(Box::pin(this.commit(state))),
            // Iterations that a kill ended before their conclusions are summed up by what drives them.
            IntegrationStep::Conclude if state.checkpoint.commit.is_none() => {
                Work::Step(Box::pin(async { Ok(this.conclude(state)) }))
            }
            IntegrationStep::Confirm
            | IntegrationStep::Iterate
            | IntegrationStep::Withdraw
            | IntegrationStep::Conclude
            | IntegrationStep::Finish => Work::Rest,
        }
    }

    async fn show(&self, state: &Integration) -> Result<(), Failure> {
        write_log(state, self.fx).await
    }
}

/// Writes the log of a session.
pub async fn write_log(state: &Integration, fx: &Effects<'_>) -> Result<(), Failure> {
    fx.store.write_text(REFLECTION_LOG, &reflection_log::render(state)).await?;
    Ok(())
}

/// Announces a phase, counted as the specification does.
fn announce(phase: u32, doing: &str, fx: &Effects<'_>) {
    fx.screen.show(&Event::Phase { phase, doing: doing.to_owned() });
}

/// A stop before the first iteration, because the budget is used up.
fn stop_for_budget(reason: String) -> IntegrationOutcome {
    IntegrationOutcome::OutOfBudget { reason, iterations: Box::default(), fix_history: Vec::new() }
}

impl PhasePerformer<'_> {
    async fn explore(&self, state: &Integration) -> Result<IntegrationOutcome, Failure> {
        announce(2, "exploring the module and its boundaries", self.fx);
        let request = ExploreRequest {
            module: &state.module,
            tree: &state.checkpoint.tree,
            jobs: self.inputs.jobs,
            only_designs: state.checkpoint.goal == IntegrationGoal::Design,
        };
        let explored = integration::explore_module(&request, self.fx).await?;
        Ok(IntegrationOutcome::Explored {
            exploration: Box::new(explored.exploration),
            assumptions: explored.assumptions,
            decisions: explored.decisions,
        })
    }

    async fn design(&self, state: &Integration) -> Result<IntegrationOutcome, Failure> {
        announce(3, "designing the scenarios", self.fx);
        let exploration = state.exploration.clone().unwrap_or_default();
        let tree = &state.checkpoint.tree;
        let (mut design, mut decisions) =
            integration::design_scenarios(&exploration, tree, self.fx).await?;
        let about = (&exploration, tree, state.module.as_str());
        let improved = integration::improve_design(&mut design, about, &self.providers, self.fx);
        match Box::pin(improved).await? {
            Budgeted::Done(decision) => decisions.extend(decision),
            Budgeted::OutOfBudget(reason) => return Ok(stop_for_budget(reason)),
        }
        Ok(IntegrationOutcome::Designed { design: Box::new(design), decisions })
    }

    async fn develop(&self, state: &Integration) -> Result<IntegrationOutcome, Failure> {
        announce(4, "writing the tests", self.fx);
        let request = DevelopRequest {
            state,
            jobs: self.inputs.jobs,
            until: self.fx.clock.elapsed() + self.inputs.time,
            providers: &self.providers,
        };
        let work = integration::develop_tests(&request, self.inputs.observer, self.fx);
        let developed = match Box::pin(work).await? {
            Budgeted::Done(developed) => developed,
            Budgeted::OutOfBudget(reason) => return Ok(stop_for_budget(reason)),
        };
        Ok(IntegrationOutcome::Developed {
            inventory: Box::new(developed.inventory),
            tree: developed.tree,
            assumptions: developed.assumptions,
        })
    }

    async fn validate(&self, state: &Integration) -> Result<IntegrationOutcome, Failure> {
        self.fx.step("code check: looking for typical mistakes of generated code");
        let (inventory, tree) =
            integration::check_new_files(state, &self.inputs.own, self.fx).await?;
        Ok(IntegrationOutcome::Validated { inventory: Box::new(inventory), tree })
    }

    async fn commit(&self, state: &Integration) -> Result<IntegrationOutcome, Failure> {
        self.fx.step("committing the new tests");
        let travels = self.inputs.state_is_committed;
        let request = CommitRequest {
            tree: state.checkpoint.tree.clone(),
            message: commit::integration_tests(state),
            state: committed_files(travels, &self.inputs.state_prefix, self.fx).await?,
            time: self.fx.clock.now(),
        };
        let commit = self.fx.worktree.commit(&request).await?;
        Ok(IntegrationOutcome::Committed { commit })
    }

    /// Concludes a session that has no test to iterate on.
    fn conclude(&self, state: &Integration) -> IntegrationOutcome {
        let summary = Box::new(state.summarise_session(None, self.fx.clock.now()));
        IntegrationOutcome::Concluded { summary }
    }
}
