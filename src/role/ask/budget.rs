//! Whether the budget allows one more question (specification.md 13.7).

use crate::domain::budget::Usage;
use crate::domain::chain::ProviderCall;
use crate::effect::{Model, Question};
use crate::role::prompt::BYTES_PER_TOKEN;

use super::asker::AskSettings;
use super::usage_key::{UsageKey, sum};

/// Whether a question may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// All limits leave room for it.
    Granted,
    /// The limit of the iteration, or of the task, is reached.
    IterationLimit(String),
    /// A limit of the session is reached.
    SessionLimit(String),
}

/// Holds the next question against both limits. Its size is estimated from its length; what the
/// answer takes is unknown yet.
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
