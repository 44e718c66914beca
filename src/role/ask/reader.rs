//! [`Reader`]: how a role phrases its question and assesses an answer; [`Reply`]: the result.

use std::path::PathBuf;

use async_trait::async_trait;
use serde_json::Value;

use crate::domain::chain::FallbackTrigger;
use crate::effect::{Answer, EffectError, Model};
use crate::role::prompt::Prompt;

/// The assessment of one answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading<T> {
    /// Usable, with the confidence that it states; without one, the tests alone judge it.
    Good(T, Option<f64>),
    /// Usable if no provider gives a better answer.
    Weak(T, f64, FallbackTrigger, String),
    Useless(FallbackTrigger, String),
    /// Unusable as it is: the same provider is asked again, with these problems.
    SendBack(Vec<String>),
}

impl<T> Reading<T> {
    /// The assessment of a usable answer: weak if its confidence is below `least`.
    #[must_use]
    pub fn by_confidence(value: T, confidence: f64, least: f64) -> Self {
        if confidence < least {
            let why = format!("confidence {confidence:.2} is below {least:.2}");
            return Self::Weak(value, confidence, FallbackTrigger::LowConfidence, why);
        }
        Self::Good(value, Some(confidence))
    }
}

/// Writes the question of a role and assesses the answers to it.
#[async_trait]
pub trait Reader<T>: Sync {
    /// The name and JSON Schema of the expected answer.
    fn form(&self) -> Option<(&'static str, Value)>;

    /// The prompt for a model.
    fn prompt(&self, model: &dyn Model) -> Prompt;

    /// Assesses an answer.
    async fn read(&self, model: &dyn Model, answer: &Answer) -> Result<Reading<T>, EffectError>;

    /// A clean checkout for a question to an agent, which works in one. Other models see only the
    /// prompt, so that their answers can be replayed.
    async fn checkout(&self, _: &dyn Model) -> Result<Option<PathBuf>, EffectError> {
        Ok(None)
    }

    /// The edits an agent made in its checkout, as a text that is stored and read as its answer.
    /// `None` if its text already is the answer, or if `read` inspects the checkout.
    async fn collect_edits(
        &self,
        _: &dyn Model,
        _: &Answer,
    ) -> Result<Option<String>, EffectError> {
        Ok(None)
    }

    /// A refused answer as the next turn shows it to the model.
    async fn refused_text(&self, _: &dyn Model, answer: &Answer) -> Result<String, EffectError> {
        Ok(answer.text.clone())
    }
}

/// An answer that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered<T> {
    pub value: T,
    pub provider: String,
    /// The confidence that the provider states, from 0 to 1.
    pub confidence: Option<f64>,
}

/// The result of asking one question along the chain.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply<T> {
    Good(Answered<T>),
    /// All answers were weak; this is the most confident one.
    Degraded(Answered<T>),
    NoAnswer,
    OutOfBudget(String),
}

/// The result of work that may be stopped by the budget.
#[derive(Clone, Debug, PartialEq)]
pub enum Budgeted<T> {
    Done(T),
    OutOfBudget(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn an_answer_is_good_from_the_least_confidence_on(confidence in 0.0f64..=1.0, least in 0.0f64..=1.0) {
            match Reading::by_confidence("x", confidence, least) {
                Reading::Good(_, sure) => {
                    proptest::prop_assert!(sure.is_some_and(|sure| sure >= least));
                }
                Reading::Weak(_, sure, trigger, why) => {
                    proptest::prop_assert!(sure < least && trigger == FallbackTrigger::LowConfidence);
                    proptest::prop_assert!(why.contains("is below"));
                }
                other => proptest::prop_assert!(false, "{other:?}"),
            }
        }
    }
}
