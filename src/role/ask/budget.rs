//! Decides whether the budget permits another question (specification.md 13.7).

use crate::domain::budget::Usage;
use crate::domain::chain::ProviderCall;
use crate::effect::{Model, Question};
use crate::role::prompt::BYTES_PER_TOKEN;

use super::chain::AskSettings;
use super::usage_key::{UsageKey, sum};

/// Whether another question is permitted, or which limit forbids it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowance {
    Granted,
    /// The limit of the iteration or task is reached.
    IterationLimit(String),
    SessionLimit(String),
}

/// Checks the next question against both limits. Its tokens are estimated from its length; the size
/// of the answer is not known yet.
pub fn allowance(
    settings: &AskSettings,
    usage: &UsageKey,
    calls: &[ProviderCall],
    model: &dyn Model,
    question: &Question,
) -> Allowance {
    let tokens = (question.system.len() + question.prompt.len()) / BYTES_PER_TOKEN;
    let next = Usage { input_tokens: tokens as u64, output_tokens: 0 };
    let price = model.price(next);
    let spent = sum(calls);
    let mut session = usage.session;
    session.join(spent);
    if let Some(why) = session.exceeds(&settings.session, next, price) {
        return Allowance::SessionLimit(why);
    }
    let mut here = usage.here;
    here.join(spent);
    let scope = if usage.iteration > 0 { "iteration" } else { "task" };
    match here.exceeds(&settings.iteration, next, price) {
        Some(why) => Allowance::IterationLimit(format!("in this {scope}, {why}")),
        None => Allowance::Granted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::budget::{Spending, SpendingLimits};
    use crate::role::ask::tests::{ScriptedModel, settings, usage};

    fn decide(session: SpendingLimits, iteration: SpendingLimits, spent: Spending) -> Allowance {
        let limits = AskSettings { session, iteration, ..settings() };
        let usage = UsageKey { session: spent, here: spent, ..usage() };
        let model = ScriptedModel::new("a", []);
        allowance(&limits, &usage, &[], &model, &question(300))
    }

    fn question(bytes: usize) -> Question {
        Question {
            id: "x".into(),
            system: String::new(),
            prompt: "x".repeat(bytes),
            form: None,
            temperature: None,
            max_output_tokens: 1,
            limit: std::time::Duration::ZERO,
            checkout: None,
        }
    }

    #[test]
    fn the_limit_of_the_session_goes_before_that_of_the_task() {
        let none = SpendingLimits::default();
        let calls = |calls| SpendingLimits { calls: Some(calls), ..none };
        let tokens = |tokens| SpendingLimits { tokens: Some(tokens), ..none };
        let money = |money| SpendingLimits { micro_usd: Some(money), ..none };
        let three = Spending { calls: 3, ..Spending::default() };
        let table = [
            ("no limit", none, none, "granted"),
            ("three of four calls", calls(4), none, "granted"),
            ("three of three calls", calls(3), calls(1), "session"),
            ("the task alone", calls(4), calls(3), "task"),
            ("100 tokens fit exactly", tokens(100), tokens(100), "granted"),
            ("one token too many", tokens(99), none, "session"),
            ("too dear for the task", none, money(99), "task"),
        ];
        for (why, session, iteration, expected) in table {
            let word = match decide(session, iteration, three) {
                Allowance::Granted => "granted",
                Allowance::SessionLimit(_) => "session",
                Allowance::IterationLimit(text) => {
                    assert!(text.starts_with("in this task, "), "{text}");
                    "task"
                }
            };
            assert_eq!(word, expected, "{why}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_question_passes_a_limit_of_tokens(spent in 0u64..2_000, limit in 0u64..2_000, bytes in 0usize..4_000) {
            let limits = SpendingLimits { tokens: Some(limit), ..SpendingLimits::default() };
            let used = Usage { input_tokens: spent, output_tokens: 0 };
            let before = Spending { usage: used, ..Spending::default() };
            let settings = AskSettings { session: limits, ..settings() };
            let usage = UsageKey { session: before, ..usage() };
            let granted = allowance(&settings, &usage, &[], &ScriptedModel::new("a", []), &question(bytes));
            let needed = spent + (bytes / BYTES_PER_TOKEN) as u64;
            proptest::prop_assert_eq!(granted == Allowance::Granted, needed <= limit);
        }
    }
}
