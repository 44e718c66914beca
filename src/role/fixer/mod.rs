//! [`Fixer`]: obtains plans and edits from the provider chain, be it models, agents or the embedded
//! engine, and vets all edits with the same guards.

mod compare;
mod explain;
mod inputs;
mod propose;
mod reader;

use std::collections::BTreeSet;
use std::time::Duration;

use globset::GlobSet;

use crate::domain::chain::{self, DegradedCase, FallbackTrigger};
use crate::domain::event::Event;
use crate::domain::explanation::{SearchSummary, SearchedPlace};
use crate::domain::fix_loop::{FixLoop, FixStepOutcome, IterationResult, ProviderCalls};
use crate::domain::fix_plan::FixPlan;
use crate::domain::guard::EditScope;
use crate::domain::id::{CommitId, TreeId};
use crate::domain::proposal::EditSet;
use crate::domain::provider::ClientMode;
use crate::domain::strategy::Strategy;
use crate::effect::{EffectError, Effects, GitError};

use super::analyst::{Analyst, ReportedPlan};
use super::ask::{Answered, Ask, AskSettings, Asker, ChainEntry, Reply, Slot, models_of};
pub use super::embedded::StepInput;
use super::embedded::{Embedded, Suspects};
use super::prompt::Role;
use super::prompt_context::Context;
use super::test_files::TestFiles;
use super::vet::{VetContext, vet};

/// The settings of a fixer.
#[derive(Clone, Debug)]
pub struct FixerSettings {
    /// When the session ends, by its clock.
    pub budget: Option<Duration>,
    pub jobs: usize,
    pub protect: GlobSet,
    /// The folder for regreen's own files in commits.
    pub state_root: String,
    /// The merge base and its sources; code that changed since then is the most suspicious.
    pub base: Option<(CommitId, TreeId)>,
    /// The providers that analyse and fix, in order.
    pub chain: Vec<ChainEntry>,
    pub ask: AskSettings,
}

/// Diagnoses failures, and obtains and vets edits.
pub struct Fixer {
    settings: FixerSettings,
    embedded: Embedded,
    asker: Asker,
}

impl Fixer {
    /// Creates a fixer that has not started yet.
    #[must_use]
    pub fn new(settings: FixerSettings) -> Self {
        let base_tree = settings.base.as_ref().map(|(_, tree)| tree.clone());
        let embedded =
            Embedded::new(settings.jobs, settings.protect.clone(), base_tree, settings.budget);
        let asker = Asker::new(settings.ask.clone());
        Self { settings, embedded, asker }
    }

    /// Locates the causes of the failures and makes a plan; a dry run explains them too.
    pub async fn diagnose_failures(
        &self,
        step: StepInput<'_>,
    ) -> Result<FixStepOutcome, EffectError> {
        let mut done = self.plan(step).await?;
        if let FixStepOutcome::Diagnosed { plan, explanation, too_weak, .. } = &mut done
            && step.state.terms.dry_run
        {
            let plan = plan.as_ref().filter(|_| too_weak.is_none());
            *explanation = Some(self.explain(plan, step).await?);
        }
        Ok(done)
    }

    async fn plan(&self, step: StepInput<'_>) -> Result<FixStepOutcome, EffectError> {
        let StepInput { state, fx, .. } = step;
        let mut calls = self.asker.calls_before(state, fx.into()).await?;
        let models = self.models(fx, |mode| mode == ClientMode::Answer);
        let embedded_first = self.settings.chain.first() == Some(&ChainEntry::Embedded);
        let suspects = self.find_suspects(step).await?;
        if embedded_first || models.is_empty() {
            // Without models, agents start from the result of fault localisation.
            let asked = ProviderCalls { calls, degraded: false };
            return Ok(diagnosed(suspects.plan, asked, suspects.places));
        }
        let context = self.context(state, &suspects, fx).await?;
        let (rules, fence) = (self.asker.rules(), self.asker.fence());
        let analyst = Analyst { state, context: &context, rules, fence };
        let careful = state.selected_strategy == Some(Strategy::Conservative);
        let usage = state.into();
        let ask = Ask { usage: &usage, role: Role::Analyst, models: &models, careful };
        let reply = self.asker.ask(&ask, &analyst, &mut calls, fx.into()).await?;
        let degraded = !matches!(reply, Reply::Good(_));
        let mut weak = None;
        let reply = match reply {
            Reply::Degraded(answer) => match too_weak(state, &answer) {
                None => Reply::Degraded(answer),
                Some(reason) => {
                    fx.screen.show(&Event::Notice { text: reason.clone() });
                    weak = Some((answer, reason));
                    Reply::NoAnswer
                }
            },
            reply => reply,
        };
        Ok(match reply {
            Reply::OutOfBudget(reason) => FixStepOutcome::OutOfBudget {
                reason,
                asked: ProviderCalls { calls, degraded: false },
            },
            Reply::Good(answer) | Reply::Degraded(answer) => {
                let asked = ProviderCalls { calls, degraded };
                diagnosed(Some(answer.value.plan), asked, Vec::new())
            }
            Reply::NoAnswer => {
                let asked = ProviderCalls { calls, degraded };
                // The engine proves what it finds, and an agent finds places itself, so these go on
                // where they are part of the chain.
                let has_agents = !self.models(fx, |mode| mode == ClientMode::Agent).is_empty();
                let own = suspects.plan.filter(|_| has_agents || self.has_embedded());
                let (plan, too_weak) = match (own, weak) {
                    (None, Some((answer, reason))) => (Some(answer.value.plan), Some(reason)),
                    (own, _) => (own, None),
                };
                let places = suspects.places;
                FixStepOutcome::Diagnosed { plan, asked, explanation: None, too_weak, places }
            }
        })
    }

    /// Why the guards refuse some edits; empty if they accept them.
    async fn refusals(
        &self,
        edits: &EditSet,
        tests: &TestFiles,
        state: &FixLoop,
        fx: &Effects<'_>,
    ) -> Result<Vec<String>, GitError> {
        let context = VetContext {
            protect: &self.settings.protect,
            state_root: &self.settings.state_root,
            redactor: &self.settings.ask.redactor,
            reach: reach(state),
        };
        let violations = vet(edits, tests, &state.accepted_tree, fx.worktree, &context).await?;
        Ok(violations.iter().map(ToString::to_string).collect())
    }

    /// The result of fault localisation; if its tests cannot be run, models still see the failures.
    async fn find_suspects(&self, step: StepInput<'_>) -> Result<Suspects, EffectError> {
        match self.embedded.find_suspects(step).await {
            Ok(suspects) => Ok(suspects),
            Err(EffectError::Run(error)) if self.has_models(step.fx) => {
                step.fx.screen.show(&Event::Notice { text: format!("no localisation: {error}") });
                Ok(Suspects::default())
            }
            Err(error) => Err(error),
        }
    }

    /// The excerpts of the repository for a prompt.
    async fn context(
        &self,
        state: &FixLoop,
        suspects: &Suspects,
        fx: &Effects<'_>,
    ) -> Result<Context, GitError> {
        let plan = state.attempt.as_ref().and_then(|attempt| attempt.plan.as_ref());
        let plans = plan.into_iter().chain(&suspects.plan);
        let points: Vec<_> = plans.flat_map(|plan| plan.modification_points.clone()).collect();
        let start = fx.clock.elapsed();
        let (related, diff) = (&suspects.related, &suspects.base_diff);
        let context = Context::gather(state, &points, related, diff, fx).await?;
        // `benches/models.py` reads this line.
        tracing::debug!(took = ?fx.clock.elapsed().saturating_sub(start), "context gathered");
        Ok(context)
    }

    /// What the search of the latest proposal step has done so far.
    pub fn searched_so_far(&self) -> SearchSummary {
        self.embedded.so_far()
    }

    fn has_embedded(&self) -> bool {
        self.settings.chain.contains(&ChainEntry::Embedded)
    }

    fn has_models(&self, fx: &Effects<'_>) -> bool {
        !self.models(fx, |_| true).is_empty()
    }

    /// The models of the chain whose mode `accepts` accepts, in order.
    fn models<'m>(&self, fx: &Effects<'m>, accepts: impl Fn(ClientMode) -> bool) -> Vec<Slot<'m>> {
        models_of(&self.settings.chain, fx, accepts)
    }
}

fn diagnosed(
    plan: Option<FixPlan>,
    asked: ProviderCalls,
    places: Vec<SearchedPlace>,
) -> FixStepOutcome {
    FixStepOutcome::Diagnosed { plan, asked, explanation: None, too_weak: None, places }
}

/// Why the weak analysis of this iteration may not be used; `None` if it may (specification.md 7.11).
fn too_weak(state: &FixLoop, answer: &Answered<ReportedPlan>) -> Option<String> {
    let ReportedPlan { plan, fault } = &answer.value;
    // Misspelt names of tests, when nothing else is wrong, make no analysis weak.
    if *fault == Some(FallbackTrigger::NoTests) {
        return None;
    }
    let last = state.iterations.last();
    // A cause and its point often give other lines of one function.
    let points = plan.modification_points.iter();
    let places: BTreeSet<_> = points.map(|point| (&point.file, &point.function)).collect();
    let why = chain::too_weak(DegradedCase {
        iteration: state.current_iteration,
        has_improved: last.is_some_and(|last| last.result == IterationResult::Improved),
        places: places.len(),
    })?;
    let (provider, number) = (&answer.provider, state.current_iteration);
    Some(if *fault == Some(FallbackTrigger::SameCause) {
        format!(
            "the analysis by `{provider}` names the same root cause again, and iteration {number} \
             does not act on it: {why}"
        )
    } else {
        format!("the analysis by `{provider}` is too weak to act on in iteration {number}: {why}")
    })
}

/// Which files the current iteration may change.
fn reach(state: &FixLoop) -> EditScope {
    state.edit_scope()
}
