//! Asks providers for edits. Bold strategies obtain several proposals and compare their effect on
//! the tests.

use futures::lock::Mutex;

use crate::domain::chain::{FallbackTrigger, ProviderCall};
use crate::domain::event::Event;
use crate::domain::proposal::{Merit, best_of};
use crate::domain::strategy::Strategy;
use crate::effect::EffectError;
use crate::repair;
use crate::role::Impact;
use crate::role::ask::{Answered, Ask, Reply, Slot, UsageKey};
use crate::role::prompt::Role;

use super::inputs::compare_inputs;
use super::reader::{EditsReader, VettedEdits};
use super::{Fixer, StepInput};

/// Maximum number of proposals to compare in a bold iteration.
const COMPARED: usize = 3;

impl Fixer {
    /// Asks a group of consecutive providers for edits. `planned` is the change that came with the
    /// plan, if the guards accept it: it is the answer, or one of those that are compared.
    pub(super) async fn ask_for_edits(
        &self,
        reader: &EditsReader<'_>,
        group: &[Slot<'_>],
        planned: Option<Answered<VettedEdits>>,
        impact: &Mutex<Impact>,
        calls: &mut Vec<ProviderCall>,
    ) -> Result<Reply<VettedEdits>, EffectError> {
        let (state, fx) = (reader.state, reader.fx);
        // Who found that the sources contradict the plan would be asked the very same again.
        let earlier = state.attempt.as_ref().map_or(&[][..], |attempt| &attempt.calls);
        let group: Vec<Slot<'_>> = group
            .iter()
            .copied()
            .filter(|(_, model)| !denies_plan(earlier, model.name()))
            .collect();
        let usage = UsageKey::from(state);
        if !matches!(state.selected_strategy, Some(Strategy::Aggressive | Strategy::Reflective)) {
            if let Some(answer) = planned {
                return Ok(Reply::Good(answer));
            }
            let careful = state.selected_strategy == Some(Strategy::Conservative);
            let ask = Ask { usage: &usage, role: Role::Fixer, models: &group, careful };
            return self.asker.ask(&ask, reader, calls, fx.into()).await;
        }
        // Several providers are asked once each, but a single one twice, if it has not answered yet.
        let rounds = if group.len() == 1 && planned.is_none() { 2 } else { 1 };
        let mut answers: Vec<Answered<VettedEdits>> = planned.into_iter().collect();
        let rounds = (1..=rounds).flat_map(|round| group.iter().map(move |slot| (round, slot)));
        for (round, slot) in rounds {
            if answers.len() >= COMPARED {
                break;
            }
            if denies_plan(calls, slot.1.name()) {
                continue;
            }
            let (usage, models) = (&usage.round(round), std::slice::from_ref(slot));
            let ask = Ask { usage, role: Role::Fixer, models, careful: false };
            match self.asker.ask(&ask, reader, calls, fx.into()).await? {
                Reply::OutOfBudget(reason) if answers.is_empty() => {
                    return Ok(Reply::OutOfBudget(reason));
                }
                Reply::OutOfBudget(_) => break,
                Reply::Good(answer) | Reply::Degraded(answer) => {
                    if answers.iter().all(|known| known.value.edits != answer.value.edits) {
                        answers.push(answer);
                    }
                }
                Reply::NoAnswer => {}
            }
        }
        if answers.len() < 2 {
            return Ok(answers.pop().map_or(Reply::NoAnswer, Reply::Good));
        }
        let best = self.best_answer(&answers, StepInput { state, impact, fx }).await?;
        Ok(Reply::Good(answers.swap_remove(best)))
    }

    /// Runs the tests with each proposal, and returns the index of the best one.
    async fn best_answer(
        &self,
        answers: &[Answered<VettedEdits>],
        step: StepInput<'_>,
    ) -> Result<usize, EffectError> {
        let StepInput { state, fx, .. } = step;
        let failing = &mut state.ledger.failing_cases();
        let literals = repair::test_literals(fx.worktree, &state.accepted_tree, failing).await?;
        let mut merits = Vec::new();
        for answer in answers {
            let tried = self.embedded.try_edits(&answer.value.edits, step).await?;
            let size = repair::size(&answer.value.edits);
            let text = format!(
                "of {} proposals, the one by {} repairs {} and breaks {} ({size} lines)",
                answers.len(),
                answer.provider,
                tried.repairs,
                tried.breaks
            );
            fx.screen.show(&Event::Notice { text });
            let special = match repair::special_case(&answer.value.edits, &literals) {
                None => compare_inputs(&answer.value.edits, state, fx).await?,
                known => known,
            };
            merits.push(Merit {
                repairs: tried.repairs,
                breaks: tried.breaks,
                is_special_case: special.is_some(),
                size,
                confidence: answer.confidence.unwrap_or(self.asker.rules().careful_confidence),
            });
        }
        Ok(best_of(&merits).unwrap_or_default())
    }
}

/// Whether a provider answered that the sources contradict the plan.
fn denies_plan(calls: &[ProviderCall], provider: &str) -> bool {
    let is_denial = |call: &ProviderCall| call.trigger == Some(FallbackTrigger::PlanIsWrong);
    calls.iter().any(|call| call.provider == provider && is_denial(call))
}
