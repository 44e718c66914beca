//! Obtains one vetted edit by trying the entries of the provider chain in order.

use crate::code::language::unread_name;
use crate::domain::event::Event;
use crate::domain::explanation::SearchSummary;
use crate::domain::fix_loop::{FixLoop, FixStepOutcome, ProviderCalls};
use crate::domain::fix_plan::FixPlan;
use crate::domain::guard::EditScope;
use crate::domain::proposal::Proposal;
use crate::domain::provider::ClientMode;
use crate::effect::{EffectError, Effects};
use crate::repair;
use crate::role::ask::{Answered, ChainEntry, Reading, Reply, Slot};
use crate::role::prompt_context::Context;
use crate::role::test_files::TestFiles;
use crate::role::vet::touches_tests;

use super::inputs::compare_inputs;
use super::reader::{EditsReader, VettedEdits};
use super::{Fixer, StepInput, reach};

/// What the chain has used so far: calls, tried candidates, and whether a search is exhausted.
struct Progress {
    asked: ProviderCalls,
    tried: u32,
    timed_out: u32,
    search: Option<SearchSummary>,
    exhausted: bool,
}

/// A proposal, with the edit operators that made it and the reasons why the guards refuse it.
struct VettedCandidate {
    proposal: Proposal,
    operators: Vec<String>,
    refusals: Vec<String>,
}

impl Progress {
    fn done(self, candidate: Option<VettedCandidate>) -> FixStepOutcome {
        let Self { asked, tried, timed_out, search, exhausted } = self;
        let (proposal, operators, refusals) = match candidate {
            Some(VettedCandidate { proposal, operators, refusals }) => {
                (Some(proposal), operators, refusals)
            }
            None => (None, Vec::new(), Vec::new()),
        };
        FixStepOutcome::Proposed {
            fingerprint: proposal
                .as_ref()
                .map_or_else(String::new, |one| repair::fingerprint(&one.edits)),
            exhausted: exhausted && proposal.is_none(),
            proposal,
            operators,
            refusals,
            tried,
            timed_out,
            search,
            asked,
        }
    }
}

impl Fixer {
    /// Obtains a vetted edit, and compares what it does to the tested inputs and to others.
    pub async fn propose_fix(&self, step: StepInput<'_>) -> Result<FixStepOutcome, EffectError> {
        let mut done = self.try_chain(step).await?;
        if let FixStepOutcome::Proposed { proposal: Some(proposal), refusals, .. } = &mut done
            && refusals.is_empty()
            && proposal.special_case.is_none()
        {
            proposal.special_case = compare_inputs(&proposal.edits, step.state, step.fx).await?;
        }
        Ok(done)
    }

    /// Tries the entries of the chain in order until one yields an edit, and vets it.
    async fn try_chain(&self, step: StepInput<'_>) -> Result<FixStepOutcome, EffectError> {
        let StepInput { state, impact, fx } = step;
        self.embedded.count_anew();
        let calls = self.asker.calls_before(state, fx.into()).await?;
        let asked = ProviderCalls { calls, degraded: false };
        let exhausted = !self.has_embedded();
        let mut progress = Progress { asked, tried: 0, timed_out: 0, search: None, exhausted };
        let plan = state.attempt.as_ref().and_then(|attempt| attempt.plan.as_ref());
        let mut models = self.models(fx, |_| true);
        let mut context: Option<Context> = None;
        let mut problems = Vec::new();
        for entry in &self.settings.chain {
            let name = match entry {
                // The search can only change product code.
                ChainEntry::Embedded if reach(state) == EditScope::Tests => {
                    progress.exhausted = true;
                    continue;
                }
                ChainEntry::Embedded => {
                    if let Some(found) = self.search(&mut progress, step).await? {
                        return Ok(progress.done(Some(found)));
                    }
                    continue;
                }
                ChainEntry::Provider(name) => name,
            };
            // Consecutive providers are asked as one group.
            let Some(plan) = plan else { continue };
            let group = take_group(&self.settings.chain, name, &mut models);
            let group = analyst_first(group, &plan.author);
            if group.is_empty() {
                continue;
            }
            if context.is_none() {
                let suspects = self.find_suspects(step).await?;
                context = Some(self.context(state, &suspects, fx).await?);
            }
            let Some(context) = &context else { continue };
            let known = std::mem::take(&mut problems);
            let tests = impact.lock().await.test_files(state, fx).await?;
            let mut reader =
                EditsReader { fixer: self, state, context, plan, tests, problems: known, fx };
            let planned = if offers_edits(plan, state, &group) && reader.problems.is_empty() {
                planned(&mut reader).await?
            } else {
                None
            };
            let calls = &mut progress.asked.calls;
            match self.ask_for_edits(&reader, &group, planned, impact, calls).await? {
                Reply::OutOfBudget(reason) => {
                    return Ok(FixStepOutcome::OutOfBudget { reason, asked: progress.asked });
                }
                Reply::Good(answer) | Reply::Degraded(answer) => {
                    let proposal = proposal(state, plan, &reader.tests, answer, fx).await?;
                    let (operators, refusals) = (Vec::new(), Vec::new());
                    return Ok(progress.done(Some(VettedCandidate {
                        proposal,
                        operators,
                        refusals,
                    })));
                }
                Reply::NoAnswer => progress.asked.degraded = true,
            }
            problems = reader.problems;
        }
        Ok(progress.done(None))
    }

    /// Searches with the embedded engine; `None` if it finds no edit.
    async fn search(
        &self,
        progress: &mut Progress,
        step: StepInput<'_>,
    ) -> Result<Option<VettedCandidate>, EffectError> {
        let StepInput { state, impact, fx } = step;
        let found = match self.embedded.propose_fix(step).await {
            Ok(found) => found,
            // If candidates cannot be run, a later provider may still find a fix.
            Err(EffectError::Run(error)) if self.has_models(fx) => {
                fx.screen.show(&Event::Notice { text: format!("no search: {error}") });
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        progress.tried += found.tried;
        progress.timed_out += found.timed_out;
        progress.exhausted = found.exhausted;
        progress.search = found.proposal.is_none().then_some(found.summary);
        let Some(proposal) = found.proposal else { return Ok(None) };
        let tests = impact.lock().await.test_files(state, fx).await?;
        let refusals = self.refusals(&proposal.edits, &tests, state, fx).await?;
        Ok(Some(VettedCandidate { proposal, operators: found.operators, refusals }))
    }
}

/// Whether the change that came with a plan is looked at: not when the iteration proposes a second
/// time, and not if an agent comes first in the group.
fn offers_edits(plan: &FixPlan, state: &FixLoop, group: &[Slot<'_>]) -> bool {
    let is_first = state.attempt.as_ref().is_some_and(|attempt| attempt.refusals.is_empty());
    let is_asked = group.first().is_some_and(|(_, model)| model.mode() == ClientMode::Answer);
    !plan.edits.is_empty() && is_first && is_asked
}

/// The change that came with the plan, if it can be applied and the guards accept it. Otherwise the
/// reader takes the reasons for the next question.
async fn planned(
    reader: &mut EditsReader<'_>,
) -> Result<Option<Answered<VettedEdits>>, EffectError> {
    match reader.planned().await? {
        Reading::Good(value, confidence) => {
            let provider = reader.plan.author.clone();
            return Ok(Some(Answered { value, provider, confidence }));
        }
        Reading::SendBack(problems) => reader.problems = problems,
        Reading::Weak(..) | Reading::Useless(..) => {}
    }
    Ok(None)
}

/// Turns the vetted answer of a provider into a proposal.
async fn proposal(
    state: &FixLoop,
    plan: &FixPlan,
    tests: &TestFiles,
    answer: Answered<VettedEdits>,
    fx: &Effects<'_>,
) -> Result<Proposal, EffectError> {
    let tree = &state.accepted_tree;
    let failing = &mut state.ledger.failing_cases();
    let literals = repair::test_literals(fx.worktree, tree, failing).await?;
    let VettedEdits { edits, summary } = answer.value;
    Ok(Proposal {
        author: answer.provider,
        summary,
        confidence: answer.confidence,
        repairs: plan.root_causes.iter().flat_map(|cause| cause.tests.clone()).collect(),
        tried: 0,
        suspicion: repair::suspicion(&edits, &[], &literals),
        special_case: repair::special_case(&edits, &literals),
        unread: edits.files.iter().find_map(|edit| unread_name(&edit.file)),
        edits_tests: edits.files.iter().any(|edit| touches_tests(edit, tests)),
        edits,
    })
}

/// The group in the order in which it is asked: the author of the plan goes before the models that
/// gave no analysis as good as its own. Agents keep their places, as they were not asked for one.
fn analyst_first<'m>(mut group: Vec<Slot<'m>>, author: &str) -> Vec<Slot<'m>> {
    let is_agent = |(_, model): &Slot<'_>| model.mode() == ClientMode::Agent;
    if let Some(at) = group.iter().position(|(_, model)| model.name() == author)
        && let Some(first) = group.iter().position(|slot| !is_agent(slot))
    {
        let slot = group.remove(at);
        group.insert(first.min(at), slot);
    }
    group
}

/// Removes the models from `name` up to the next embedded entry from `left` and returns them.
fn take_group<'m>(chain: &[ChainEntry], name: &str, left: &mut Vec<Slot<'m>>) -> Vec<Slot<'m>> {
    let Some(start) = left.iter().position(|(_, model)| model.name() == name) else {
        return Vec::new();
    };
    // Slots are numbered from 1, so the slot of an entry is the index of the next one.
    let index = |slot: u32| usize::try_from(slot).unwrap_or_default();
    let first = left.get(start).map_or(0, |(slot, _)| index(*slot));
    let rest = chain.get(first..).unwrap_or_default();
    let embedded = rest.iter().position(|entry| *entry == ChainEntry::Embedded);
    let end = embedded.map_or(chain.len(), |at| first + at);
    let is_inside = |(slot, _): &Slot<'_>| (first..=end).contains(&index(*slot));
    let group = left.iter().skip(start).copied().filter(is_inside).collect();
    left.retain(|slot| !is_inside(slot));
    group
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::ask::tests::ScriptedModel;

    #[test]
    fn providers_between_two_embedded_entries_are_one_group() {
        let provider = |name: &str| ChainEntry::Provider(name.to_owned());
        let chain =
            [provider("a"), provider("gone"), provider("b"), ChainEntry::Embedded, provider("c")];
        let models: Vec<ScriptedModel> =
            ["a", "b", "c"].into_iter().map(|name| ScriptedModel::new(name, [])).collect();
        let all: Vec<Slot<'_>> =
            [1, 3, 5].into_iter().zip(&models).map(|(slot, model)| (slot, model as _)).collect();
        let table = [
            ("a", vec![1, 3], vec![5]),
            ("b", vec![3], vec![1, 5]),
            ("c", vec![5], vec![1, 3]),
            ("gone", vec![], vec![1, 3, 5]),
        ];
        for (name, group, rest) in table {
            let mut left = all.clone();
            let slots = |list: &[Slot<'_>]| list.iter().map(|(slot, _)| *slot).collect::<Vec<_>>();
            assert_eq!(slots(&take_group(&chain, name, &mut left)), group, "{name}");
            assert_eq!(slots(&left), rest, "{name}");
        }
    }

    #[test]
    fn the_author_of_the_plan_is_asked_before_those_that_gave_none() {
        let agent = |name: &'static str| ScriptedModel::new(name, []).into_agent();
        let text = |name: &'static str| ScriptedModel::new(name, []);
        let models = [text("a"), agent("b"), text("c"), text("d")];
        let group = |order: &str| {
            let slots: Vec<Slot<'_>> =
                (1..).zip(&models).map(|(slot, model)| (slot, model as _)).collect();
            let asked = analyst_first(slots, order);
            asked.iter().map(|(_, model)| model.name().to_owned()).collect::<String>()
        };
        let table = [("a", "abcd"), ("c", "cabd"), ("d", "dabc"), ("embedded", "abcd")];
        for (author, expected) in table {
            assert_eq!(group(author), expected, "{author}");
        }
        let agents = [agent("a"), text("b"), text("c")];
        let slots = (1..).zip(&agents).map(|(slot, model)| (slot, model as _)).collect();
        let names: Vec<&str> =
            analyst_first(slots, "c").iter().map(|(_, model)| model.name()).collect();
        assert_eq!(names, ["a", "c", "b"], "an agent that comes first stays first");
    }
}
