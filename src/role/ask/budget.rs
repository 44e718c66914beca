//! Decides whether the budget permits another question (specification.md 2.8).

use crate::domain::budget::{BYTES_PER_TOKEN, Spending, SpendingLimits, Usage};
use crate::domain::provider::ClientMode;
use crate::effect::{Model, Question};

use super::chain::AskSettings;
use super::usage_key::UsageKey;

/// Whether another question is permitted, or which limit forbids it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// The answer may have so many tokens.
    Granted(u32),
    /// The limit of the iteration or task is reached.
    IterationLimit(String),
    SessionLimit(String),
}

/// The limits that a question must keep, and what was spent before it.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    pub settings: &'a AskSettings,
    pub usage: &'a UsageKey,
    /// What the earlier calls of the same step spent.
    pub spent: Spending,
}

impl Budget<'_> {
    /// What both limits leave for the next question.
    pub fn left(&self) -> SpendingLimits {
        let Self { settings, usage, spent } = self;
        let left = |limits: &SpendingLimits, used: Spending| {
            let mut used = used;
            used.join(*spent);
            limits.left(&used)
        };
        left(&settings.session, usage.session).tightest(&left(&settings.iteration, usage.here))
    }

    /// Checks the next request against both limits: prompt and answer are reserved, and the answer
    /// becomes shorter where the rest of the budget is small. `running` is what earlier requests of
    /// the same question spent.
    pub fn allowance(
        &self,
        model: &dyn Model,
        question: &Question,
        running: Spending,
    ) -> Allowance {
        let bytes = question.bytes();
        let prompt = (bytes / BYTES_PER_TOKEN) as u64;
        let longest_input = match model.mode() {
            // No tokenizer makes more tokens than bytes.
            ClientMode::Answer => bytes as u64,
            // It reads more files with every request.
            ClientMode::Agent => model.context_tokens().into(),
        };
        let price = |usage| model.price(Usage { longest_input, ..usage });
        let mut spent = self.spent;
        spent.join(running);
        let (mut session, mut here) = (self.usage.session, self.usage.here);
        session.join(spent);
        here.join(spent);
        let wanted = question.max_output_tokens;
        let granted = session.longest_answer(&self.settings.session, prompt, wanted, &price);
        let granted = match granted {
            Ok(tokens) => here.longest_answer(&self.settings.iteration, prompt, tokens, &price),
            Err(why) => return Allowance::SessionLimit(why),
        };
        let scope = if self.usage.iteration > 0 { "iteration" } else { "task" };
        match granted {
            Ok(tokens) => Allowance::Granted(tokens),
            Err(why) => Allowance::IterationLimit(format!("in this {scope}, {why}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::budget::{Price, Tier};
    use crate::role::ask::tests::{ScriptedModel, settings, usage};

    fn decide(session: SpendingLimits, iteration: SpendingLimits, spent: Spending) -> Allowance {
        let settings = &AskSettings { session, iteration, ..settings() };
        let usage = &UsageKey { session: spent, here: spent, ..usage() };
        let budget = Budget { settings, usage, spent: Spending::default() };
        let model = ScriptedModel::new("a", []);
        budget.allowance(&model, &question(300), Spending::default())
    }

    fn question(bytes: usize) -> Question {
        Question {
            id: "x".into(),
            system: String::new(),
            prompt: "x".repeat(bytes),
            form: None,
            temperature: None,
            max_output_tokens: 500,
            limit: std::time::Duration::ZERO,
            left: SpendingLimits::default(),
            checkout: None,
            meter: crate::effect::UsageMeter::default(),
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
            ("prompt and answer fit exactly", tokens(600), tokens(600), "granted"),
            ("one token too many", tokens(599), none, "session"),
            ("too dear for the task", none, money(599), "task"),
        ];
        for (why, session, iteration, expected) in table {
            let word = match decide(session, iteration, three) {
                Allowance::Granted(tokens) => {
                    assert_eq!(tokens, 500, "{why}");
                    "granted"
                }
                Allowance::SessionLimit(_) => "session",
                Allowance::IterationLimit(text) => {
                    assert!(text.starts_with("in this task, "), "{text}");
                    "task"
                }
            };
            assert_eq!(word, expected, "{why}");
        }
    }

    #[test]
    fn the_form_of_the_answer_and_the_dearest_tier_are_reserved() {
        let tier = Tier { tokens: 1_000, input: 10.0, output: 10.0, cached: None };
        let price = Price { input: 1.0, output: 1.0, above: vec![tier], ..Price::default() };
        let model = |context, is_agent| {
            let mut model = ScriptedModel::new("a", []);
            (model.facts.price, model.facts.context) = (Some(price.clone()), context);
            if is_agent { model.into_agent() } else { model }
        };
        let form = |bytes: usize| Some(("f", serde_json::Value::from("x".repeat(bytes - 2))));
        let table = [
            ("the prompt alone", 300, None, model(9_000, false), 600),
            ("with a form", 300, form(300), model(9_000, false), 700),
            ("as many tokens as bytes", 1_000, None, model(9_000, false), 833),
            ("one byte more", 1_001, None, model(9_000, false), 8_330),
            ("an agent reads more", 300, None, model(9_000, true), 6_000),
            ("an agent with little room", 300, None, model(1_000, true), 600),
        ];
        for (why, bytes, form, model, needed) in table {
            let granted = |micro_usd| {
                let micro_usd = Some(micro_usd);
                let session = SpendingLimits { micro_usd, ..SpendingLimits::default() };
                let settings = &AskSettings { session, ..settings() };
                let budget = Budget { settings, usage: &usage(), spent: Spending::default() };
                let question = Question { form: form.clone(), ..question(bytes) };
                let allowance = budget.allowance(&model, &question, Spending::default());
                matches!(allowance, Allowance::Granted(500))
            };
            assert!(granted(needed) && !granted(needed - 1), "{why}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_question_passes_a_limit_of_tokens(spent in 0u64..2_000, limit in 0u64..2_000, bytes in 0usize..4_000) {
            let limits = SpendingLimits { tokens: Some(limit), ..SpendingLimits::default() };
            let used = Usage::new(spent, 0);
            let before = Spending { usage: used, ..Spending::default() };
            let settings = &AskSettings { session: limits, ..settings() };
            let usage = &UsageKey { session: before, ..usage() };
            let budget = Budget { settings, usage, spent: Spending::default() };
            let none = Spending::default();
            let granted = budget.allowance(&ScriptedModel::new("a", []), &question(bytes), none);
            let needed = spent + (bytes / BYTES_PER_TOKEN) as u64 + 500;
            proptest::prop_assert_eq!(matches!(granted, Allowance::Granted(_)), needed <= limit);
        }
    }
}
