//! Plans and edits, from whoever the chain names: models that answer, clients that edit a
//! checkout, the embedded engine. Every edit is held against the same guards.

mod reader;

use futures::lock::Mutex;
use globset::GlobSet;

use crate::domain::chain::ProviderCall;
use crate::domain::event::Event;
use crate::domain::fix_loop::{FixLoop, FixStepOutcome, ProviderCalls};
use crate::domain::guard::EditScope;
use crate::domain::id::TreeId;
use crate::domain::plan::FixPlan;
use crate::domain::proposal::{EditSet, Merit, Proposal, best_of};
use crate::domain::provider::ClientMode;
use crate::domain::strategy::Strategy;
use crate::effect::{EffectError, Effects, Model};
use crate::repair;

use super::Impact;
use super::analyst::Analyst;
use super::ask::{Answered, Ask, AskSettings, Asker, Reply, models_of};
use super::context::Context;
use super::embedded::{Embedded, Suspects};
use super::prompt::Role;
use super::usage_key::UsageKey;
use super::vet::{VetContext, touches_tests, vet};
use reader::{FixReader, Told};

/// One link of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainEntry {
    /// The embedded engine.
    Embedded,
    /// A provider, by its name among the models of the effects.
    Provider(String),
}

/// What a fixer is opened with.
#[derive(Clone, Debug)]
pub struct FixerSettings {
    /// Candidates tried at the same time.
    pub jobs: usize,
    /// Globs no edit may touch.
    pub protect: GlobSet,
    /// Folder of regreen's own files inside commits.
    pub state_root: String,
    /// The merge base's sources, to suspect what changed since.
    pub base_tree: Option<TreeId>,
    /// Who analyses and fixes, first to last.
    pub chain: Vec<ChainEntry>,
    /// How providers are asked.
    pub ask: AskSettings,
}

/// Proposals that a bold iteration compares.
const COMPARED: usize = 3;

/// Finds and vets edits.
pub struct Fixer {
    settings: FixerSettings,
    embedded: Embedded,
    asker: Asker,
}

impl Fixer {
    /// A fixer that has not begun.
    #[must_use]
    pub fn new(settings: FixerSettings) -> Self {
        let embedded = Embedded::new(settings.jobs, settings.base_tree.clone());
        let asker = Asker::new(settings.ask.clone());
        Self { settings, embedded, asker }
    }

    /// Says where the failures come from.
    ///
    /// # Errors
    ///
    /// When sources or tests cannot be read or run, or records not be written.
    pub async fn diagnose(
        &self,
        state: &FixLoop,
        impact: &Mutex<Impact>,
        fx: &Effects<'_>,
    ) -> Result<FixStepOutcome, EffectError> {
        let models = self.models(fx, |manner| manner == ClientMode::Answer);
        let embedded_first = self.settings.chain.first() == Some(&ChainEntry::Embedded);
        let suspects = self.suspects(state, impact, fx).await?;
        if embedded_first || models.is_empty() {
            // A chain of agents alone starts from what localisation says.
            return Ok(FixStepOutcome::Diagnosed {
                plan: suspects.plan,
                asked: ProviderCalls::default(),
            });
        }
        let context = self.context(state, &suspects, fx).await?;
        let analyst = Analyst {
            state,
            context: &context,
            rules: self.asker.rules(),
            fence: self.asker.fence(),
        };
        let careful = state.selected_strategy == Some(Strategy::Conservative);
        let mut calls = Vec::new();
        let reply = self
            .asker
            .ask(
                &Ask { account: &state.into(), role: Role::Analyst, models: &models, careful },
                &analyst,
                &mut calls,
                fx,
            )
            .await?;
        let number = state.current_iteration;
        if let Reply::Good(given) | Reply::Degraded(given) = &reply {
            let report = self.settings.ask.redactor.redact(&given.value.1);
            let file = format!(".process/iteration-{number}-report.md");
            fx.store.write_text(&file, &report).await?;
        }
        let degraded = !matches!(reply, Reply::Good(_));
        let asked = ProviderCalls { calls, degraded };
        Ok(match reply {
            Reply::OutOfBudget(reason) => FixStepOutcome::OutOfBudget {
                reason,
                asked: ProviderCalls { degraded: false, ..asked },
            },
            Reply::Good(given) | Reply::Degraded(given) => {
                FixStepOutcome::Diagnosed { plan: Some(given.value.0), asked }
            }
            Reply::Nobody => {
                let plan = suspects.plan.filter(|_| self.has_embedded());
                FixStepOutcome::Diagnosed { plan, asked }
            }
        })
    }

    /// Finds an edit and vets it, link by link.
    ///
    /// # Errors
    ///
    /// When sources or tests cannot be read or run, or records not be written.
    pub async fn propose(
        &self,
        state: &FixLoop,
        impact: &Mutex<Impact>,
        fx: &Effects<'_>,
    ) -> Result<FixStepOutcome, EffectError> {
        let mut asked = ProviderCalls::default();
        let (mut tried, mut exhausted) = (0, !self.has_embedded());
        let plan = state.attempt.as_ref().and_then(|attempt| attempt.plan.clone());
        let mut models = self.models(fx, |_| true);
        for link in &self.settings.chain {
            match link {
                // The search changes product code only.
                ChainEntry::Embedded if reach(state) == EditScope::Tests => exhausted = true,
                ChainEntry::Embedded => {
                    let found = match self.embedded.propose(state, impact, fx).await {
                        Ok(found) => found,
                        // Where candidates cannot be tried, others in the chain still can fix.
                        Err(EffectError::Run(error)) if self.has_models(fx) => {
                            fx.screen.show(&Event::Notice { text: format!("no search: {error}") });
                            continue;
                        }
                        Err(error) => return Err(error),
                    };
                    tried += found.tried;
                    exhausted = found.exhausted;
                    if let Some(proposal) = found.proposal {
                        let refusals = self.refusals(&proposal.edits, state, fx).await?;
                        return Ok(FixStepOutcome::Proposed {
                            fingerprint: repair::fingerprint(&proposal.edits),
                            proposal: Some(proposal),
                            operators: found.operators,
                            refusals,
                            tried,
                            exhausted: false,
                            asked,
                        });
                    }
                }
                ChainEntry::Provider(name) => {
                    // All providers that stand together are one question down the chain.
                    let Some(plan) = &plan else { continue };
                    let group = self.group(name, &mut models);
                    if group.is_empty() {
                        continue;
                    }
                    let suspects = self.suspects(state, impact, fx).await?;
                    let context = self.context(state, &suspects, fx).await?;
                    let reader = FixReader { fixer: self, state, context: &context, plan, fx };
                    let answer =
                        self.ask_for_edits(&reader, &group, impact, &mut asked.calls).await?;
                    match answer {
                        Reply::OutOfBudget(reason) => {
                            return Ok(FixStepOutcome::OutOfBudget { reason, asked });
                        }
                        Reply::Good(given) | Reply::Degraded(given) => {
                            let proposal = self.proposal(state, plan, given, fx).await?;
                            return Ok(FixStepOutcome::Proposed {
                                fingerprint: repair::fingerprint(&proposal.edits),
                                proposal: Some(proposal),
                                operators: Vec::new(),
                                refusals: Vec::new(),
                                tried,
                                exhausted: false,
                                asked,
                            });
                        }
                        Reply::Nobody => asked.degraded = true,
                    }
                }
            }
        }
        Ok(FixStepOutcome::Proposed {
            proposal: None,
            fingerprint: String::new(),
            operators: Vec::new(),
            refusals: Vec::new(),
            tried,
            exhausted,
            asked,
        })
    }

    /// One question, or several proposals that are tried beside each other where the strategy is
    /// bold.
    async fn ask_for_edits(
        &self,
        reader: &FixReader<'_>,
        group: &[(u32, &dyn Model)],
        impact: &Mutex<Impact>,
        calls: &mut Vec<ProviderCall>,
    ) -> Result<Reply<Told>, EffectError> {
        let (state, fx) = (reader.state, reader.fx);
        let bold =
            matches!(state.selected_strategy, Some(Strategy::Aggressive | Strategy::Reflective));
        let careful = state.selected_strategy == Some(Strategy::Conservative);
        let account = UsageKey::from(state);
        if !bold {
            let round = Ask { account: &account, role: Role::Fixer, models: group, careful };
            return self.asker.ask(&round, reader, calls, fx).await;
        }
        let mut told: Vec<Answered<Told>> = Vec::new();
        // Several providers each once; a single one twice.
        let rounds = if group.len() == 1 { 2 } else { 1 };
        for (slot, model) in group.iter().cycle().take(group.len() * rounds) {
            if told.len() >= COMPARED {
                break;
            }
            let one = [(*slot, *model)];
            let round = Ask { account: &account, role: Role::Fixer, models: &one, careful: false };
            match self.asker.ask(&round, reader, calls, fx).await? {
                Reply::OutOfBudget(reason) if told.is_empty() => {
                    return Ok(Reply::OutOfBudget(reason));
                }
                Reply::OutOfBudget(_) => break,
                Reply::Good(given) | Reply::Degraded(given) => {
                    if told.iter().all(|known| known.value.edits != given.value.edits) {
                        told.push(given);
                    }
                }
                Reply::Nobody => {}
            }
        }
        if told.len() < 2 {
            return Ok(told.pop().map_or(Reply::Nobody, Reply::Good));
        }
        let mut merits = Vec::new();
        for one in &told {
            let tried = self.embedded.try_edits(state, &one.value.edits, impact, fx).await?;
            let size = repair::size(&one.value.edits);
            merits.push(Merit {
                repairs: tried.repairs,
                breaks: tried.breaks,
                size,
                confidence: one.confidence,
            });
            let text = format!(
                "of {} proposals, the one by {} repairs {} and breaks {} ({size} lines)",
                told.len(),
                one.provider,
                tried.repairs,
                tried.breaks
            );
            fx.screen.show(&Event::Notice { text });
        }
        let best = best_of(&merits).unwrap_or_default();
        Ok(Reply::Good(told.swap_remove(best)))
    }

    /// A vetted answer as a proposal.
    async fn proposal(
        &self,
        state: &FixLoop,
        plan: &FixPlan,
        given: Answered<Told>,
        fx: &Effects<'_>,
    ) -> Result<Proposal, EffectError> {
        let literals = repair::test_literals(
            fx.worktree,
            &state.accepted_tree,
            &mut state.ledger.failing_cases(),
        )
        .await?;
        let suspicion = repair::suspicion(&given.value.edits, &[], &literals);
        Ok(Proposal {
            author: given.provider,
            summary: given.value.summary,
            confidence: given.confidence,
            repairs: plan.root_causes.iter().flat_map(|cause| cause.tests.clone()).collect(),
            tried: 0,
            suspicion,
            edits_tests: given.value.edits.files.iter().any(touches_tests),
            edits: given.value.edits,
        })
    }

    /// Why guards refuse edits; empty when they do not.
    async fn refusals(
        &self,
        edits: &EditSet,
        state: &FixLoop,
        fx: &Effects<'_>,
    ) -> Result<Vec<String>, crate::effect::GitError> {
        let context = VetContext {
            protect: &self.settings.protect,
            state_root: &self.settings.state_root,
            redactor: &self.settings.ask.redactor,
            reach: reach(state),
        };
        let violations = vet(edits, &state.accepted_tree, fx.worktree, &context).await?;
        Ok(violations.iter().map(ToString::to_string).collect())
    }

    /// Localisation, as far as tests can be tried; without it a model still has the failures.
    async fn suspects(
        &self,
        state: &FixLoop,
        impact: &Mutex<Impact>,
        fx: &Effects<'_>,
    ) -> Result<Suspects, EffectError> {
        match self.embedded.suspects(state, impact, fx).await {
            Ok(suspects) => Ok(suspects),
            Err(EffectError::Run(error)) if self.has_models(fx) => {
                fx.screen.show(&Event::Notice { text: format!("no localisation: {error}") });
                Ok(Suspects::default())
            }
            Err(error) => Err(error),
        }
    }

    async fn context(
        &self,
        state: &FixLoop,
        suspects: &Suspects,
        fx: &Effects<'_>,
    ) -> Result<Context, crate::effect::GitError> {
        let named = state.attempt.as_ref().and_then(|attempt| attempt.plan.as_ref());
        let mut points: Vec<_> =
            named.map(|plan| plan.modification_points.clone()).unwrap_or_default();
        points.extend(suspects.plan.iter().flat_map(|plan| plan.modification_points.clone()));
        let began = fx.clock.elapsed();
        let (related, diff) = (&suspects.related, &suspects.base_diff);
        let context = Context::gather(state, &points, related, diff, fx).await?;
        // `benches/models.py` reads this line.
        tracing::debug!(took = ?fx.clock.elapsed().saturating_sub(began), "context gathered");
        Ok(context)
    }

    fn has_embedded(&self) -> bool {
        self.settings.chain.contains(&ChainEntry::Embedded)
    }

    fn has_models(&self, fx: &Effects<'_>) -> bool {
        !self.models(fx, |_| true).is_empty()
    }

    /// Models of the chain with their place in it.
    fn models<'m>(
        &self,
        fx: &Effects<'m>,
        wanted: impl Fn(ClientMode) -> bool,
    ) -> Vec<(u32, &'m dyn Model)> {
        models_of(&self.settings.chain, fx, wanted)
    }

    /// Takes the models from `name` to the next embedded link out of `left`.
    fn group<'m>(
        &self,
        name: &str,
        left: &mut Vec<(u32, &'m dyn Model)>,
    ) -> Vec<(u32, &'m dyn Model)> {
        let Some(from) = left.iter().position(|(_, model)| model.name() == name) else {
            return Vec::new();
        };
        let mut group = Vec::new();
        let mut last = None;
        while let Some((slot, _)) = left.get(from).copied() {
            if last.is_some_and(|last: u32| slot != last + 1) && self.embedded_between(last, slot) {
                break;
            }
            last = Some(slot);
            group.push(left.remove(from));
        }
        group
    }

    fn embedded_between(&self, last: Option<u32>, slot: u32) -> bool {
        let at = |slot: u32| usize::try_from(slot).unwrap_or_default();
        self.settings
            .chain
            .get(at(last.unwrap_or_default())..at(slot).saturating_sub(1))
            .is_some_and(|between| between.contains(&ChainEntry::Embedded))
    }
}

/// What the current iteration may change.
fn reach(state: &FixLoop) -> EditScope {
    state.terms.scope.reach(state.selected_strategy)
}
