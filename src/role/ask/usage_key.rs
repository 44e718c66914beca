//! [`UsageKey`]: the work that pays for a question, and its usage record (specification.md 2.8).

use crate::domain::budget::{Spending, Usage};
use crate::domain::chain::{ProviderCall, spent_by};
use crate::domain::fix_loop::FixLoop;
use crate::effect::Model;

use crate::role::prompt::Role;

/// The work that asks a question: its name in the records, and what was spent before. Used both for
/// iterations of the fix loop and for tasks of a test session.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageKey {
    /// The id of the work: the session with its iteration or task.
    pub id: String,
    /// The task, phase or iteration whose budget pays for the question.
    pub work: String,
    /// The number of the iteration; 0 outside the fix loop.
    pub iteration: u32,
    /// The path of its records in the session folder, without role, slot and extension.
    pub raw: String,
    /// What the session had already spent.
    pub session: Spending,
    /// What the iteration or task had already spent.
    pub here: Spending,
    /// The number of questions in the session before this work. It tells apart equal questions of
    /// equally named work, as happens after a rollback.
    pub before: u64,
}

impl From<&FixLoop> for UsageKey {
    fn from(state: &FixLoop) -> Self {
        let number = state.current_iteration;
        let attempt = state.attempt.as_ref();
        let here = spent_by(attempt.map_or(&[][..], |attempt| &attempt.calls));
        // A second proposal is another question, which must not take the records of the first.
        let proposal = 1 + attempt.map_or(0, |attempt| attempt.refusals.len());
        let record = format!(".process/iteration-{number}-cli-output");
        Self {
            id: format!("{}/{number}", state.session_id),
            work: format!("iteration-{number}"),
            iteration: number,
            raw: if proposal == 1 { record } else { format!("{record}.proposal-{proposal}") },
            session: state.spending,
            here,
            before: state.spending.calls.saturating_sub(here.calls),
        }
    }
}

impl UsageKey {
    /// The same for asking the same question again, to get another answer.
    #[must_use]
    pub fn round(&self, number: usize) -> Self {
        let raw = format!("{}.round-{number}", self.raw);
        Self { raw: if number == 1 { self.raw.clone() } else { raw }, ..self.clone() }
    }
}

/// The usage record of a call that is about to be made.
pub fn new_call(
    usage: &UsageKey,
    role: Role,
    slot: u32,
    turn: u32,
    model: &dyn Model,
) -> ProviderCall {
    let start = &usage.raw;
    let raw = match role {
        Role::Analyst if turn == 1 => format!("{start}.{slot}.txt"),
        Role::Analyst => format!("{start}.{slot}.{turn}.txt"),
        Role::Fixer => format!("{start}.fix.{slot}.{turn}.txt"),
        Role::Surveyor | Role::Designer | Role::Generator | Role::Judge => {
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
        requests: 1,
        usage: Usage::default(),
        micro_usd: None,
        duration_ms: 0,
        raw,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::role::ask::tests::{ScriptedModel, usage};

    const ROLES: [Role; 6] =
        [Role::Analyst, Role::Fixer, Role::Surveyor, Role::Designer, Role::Generator, Role::Judge];

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
        assert_eq!(records.len(), ROLES.len() * 3, "{records:?}");
    }

    #[test]
    fn an_iteration_counts_its_own_calls_and_asks_interrupted_ones_again() {
        let mut state = crate::domain::fix_loop::tests::new(95, 10);
        state.current_iteration = 2;
        state.spending = Spending { calls: 5, ..Spending::default() };
        let usage = UsageKey::from(&state);
        assert_eq!((usage.work.as_str(), usage.iteration, usage.before), ("iteration-2", 2, 5));
        assert_eq!(usage.raw, ".process/iteration-2-cli-output");
        assert_eq!(usage.here, Spending::default(), "no attempt has begun");
        assert_eq!(usage.round(1), usage);
        assert_eq!(usage.round(2).raw, ".process/iteration-2-cli-output.round-2");
    }

    proptest::proptest! {
        #[test]
        fn a_sum_loses_no_call_and_no_token(tokens in proptest::collection::vec((0u64..1_000, 0u64..1_000), 0..20)) {
            let model = ScriptedModel::new("a", []);
            let calls: Vec<ProviderCall> = tokens
                .iter()
                .map(|(input_tokens, output_tokens)| {
                    let used = Usage::new(*input_tokens, *output_tokens);
                    ProviderCall { usage: used, ..new_call(&usage(), Role::Judge, 1, 1, &model) }
                })
                .collect();
            let spent = spent_by(&calls);
            proptest::prop_assert_eq!(spent.calls, calls.len() as u64);
            let all: u64 = tokens.iter().map(|(input, output)| input + output).sum();
            proptest::prop_assert_eq!(spent.usage.tokens(), all);
        }
    }
}
