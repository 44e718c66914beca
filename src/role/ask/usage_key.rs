//! The work a question is charged to, and its call in the usage log (specification.md 13.7).

use std::collections::BTreeSet;

use crate::domain::budget::{Spending, Usage};
use crate::domain::chain::{FallbackTrigger, ProviderCall};
use crate::domain::fix_loop::FixLoop;
use crate::effect::Model;

use crate::role::prompt::Role;

/// The work a question belongs to: its name in the records, and what was spent before it. An
/// iteration of the fix loop and a task of the test pipeline are counted in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageKey {
    /// Names the work: the session, and its iteration or task.
    pub id: String,
    /// The work whose budget it counts against: a task, a phase, or an iteration.
    pub work: String,
    /// The iteration; 0 outside of the fix loop.
    pub iteration: u32,
    /// Path of its records inside the session folder, without role, slot and extension.
    pub raw: String,
    /// What the session had spent before.
    pub session: Spending,
    /// What the iteration, or the task, had spent before.
    pub here: Spending,
    /// Records of the questions that are counted already.
    pub counted: BTreeSet<String>,
    /// Questions of the session before this work began. After a roll-back the same question of work
    /// with the same name is another one.
    pub before: u64,
}

impl From<&FixLoop> for UsageKey {
    fn from(state: &FixLoop) -> Self {
        let number = state.current_iteration;
        let earlier = state.attempt.as_ref().map(|attempt| attempt.calls.as_slice());
        let here = sum(earlier.unwrap_or_default());
        Self {
            id: format!("{}/{number}", state.session_id),
            work: format!("iteration-{number}"),
            iteration: number,
            raw: format!(".process/iteration-{number}-cli-output"),
            session: state.spending,
            here,
            counted: earlier
                .unwrap_or_default()
                .iter()
                .filter(|call| call.trigger != Some(FallbackTrigger::Interrupted))
                .map(|call| call.raw.clone())
                .collect(),
            before: state.spending.calls.saturating_sub(here.calls),
        }
    }
}

/// A call that is about to be made.
#[must_use]
pub fn new_call(
    usage: &UsageKey,
    role: Role,
    slot: u32,
    turn: u32,
    model: &dyn Model,
) -> ProviderCall {
    let start = &usage.raw;
    let raw = match role {
        Role::Analyst => format!("{start}.{slot}.txt"),
        Role::Fixer => format!("{start}.fix.{slot}.{turn}.txt"),
        Role::Surveyor | Role::Adviser | Role::Generator | Role::Judge => {
            format!("{start}.{}.{slot}.{turn}.txt", role.word())
        }
    };
    ProviderCall {
        role: role.word().to_owned(),
        provider: model.name().to_owned(),
        model: model.model().to_owned(),
        slot,
        turn,
        used: false,
        trigger: None,
        reason: String::new(),
        confidence: None,
        usage: Usage::default(),
        micro_usd: None,
        duration_ms: 0,
        raw,
    }
}

/// The sum of what calls spent.
#[must_use]
pub fn sum(calls: &[ProviderCall]) -> Spending {
    let mut spent = Spending::default();
    for call in calls {
        spent.add(call.usage, call.micro_usd);
    }
    spent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::ask::tests::{ScriptedModel, usage};

    const ROLES: [Role; 6] =
        [Role::Analyst, Role::Fixer, Role::Surveyor, Role::Adviser, Role::Generator, Role::Judge];

    #[test]
    fn every_question_has_a_record_of_its_own() {
        let model = ScriptedModel::new("a", []);
        let mut records = BTreeSet::new();
        for role in ROLES {
            for (slot, turn) in [(1, 1), (1, 2), (2, 1)] {
                let call = new_call(&usage(), role, slot, turn, &model);
                assert_eq!((call.role.as_str(), call.provider.as_str()), (role.word(), "a"));
                assert!(call.raw.starts_with(".process/x."), "{}", call.raw);
                records.insert(call.raw);
            }
        }
        // An analysis is not sent back: its record has no turn.
        assert_eq!(records.len(), ROLES.len() * 3 - 1, "{records:?}");
    }

    #[test]
    fn an_iteration_counts_its_own_calls_and_asks_interrupted_ones_again() {
        let mut state = crate::domain::fix_loop::tests::new(95, 10);
        state.current_iteration = 2;
        state.spending = Spending { calls: 5, ..Spending::default() };
        let usage = UsageKey::from(&state);
        assert_eq!((usage.work.as_str(), usage.iteration, usage.before), ("iteration-2", 2, 5));
        assert_eq!(usage.raw, ".process/iteration-2-cli-output");
        assert!(usage.counted.is_empty(), "no attempt has begun");
    }

    proptest::proptest! {
        #[test]
        fn a_sum_loses_no_call_and_no_token(tokens in proptest::collection::vec((0u64..1_000, 0u64..1_000), 0..20)) {
            let model = ScriptedModel::new("a", []);
            let calls: Vec<ProviderCall> = tokens
                .iter()
                .map(|(input_tokens, output_tokens)| {
                    let used = Usage { input_tokens: *input_tokens, output_tokens: *output_tokens };
                    ProviderCall { usage: used, ..new_call(&usage(), Role::Judge, 1, 1, &model) }
                })
                .collect();
            let spent = sum(&calls);
            proptest::prop_assert_eq!(spent.calls, calls.len() as u64);
            let all: u64 = tokens.iter().map(|(input, output)| input + output).sum();
            proptest::prop_assert_eq!(spent.usage.tokens(), all);
        }
    }
}
