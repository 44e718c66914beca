//! What a role contributes to a question, and what it gets back.

use std::path::PathBuf;

use async_trait::async_trait;
use serde_json::Value;

use crate::domain::chain::FallbackTrigger;
use crate::effect::{Answer, EffectError, Model};
use crate::role::prompt::Prompt;

/// What a reader makes of one answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading<T> {
    Good(T, f64),
    /// It can be used if no provider gives a better one.
    Weak(T, f64, FallbackTrigger, String),
    Useless(FallbackTrigger, String),
    /// It cannot be used as it is: the same provider gets the problems and is asked again.
    SendBack(Vec<String>),
}

impl<T> Reading<T> {
    /// A usable answer, which is weak when its author is not sure enough.
    #[must_use]
    pub fn by_confidence(value: T, confidence: f64, least: f64) -> Self {
        if confidence < least {
            let why = format!("confidence {confidence:.2} is below {least:.2}");
            return Self::Weak(value, confidence, FallbackTrigger::LowConfidence, why);
        }
        Self::Good(value, confidence)
    }
}

/// Writes the question of a role and reads the answers to it.
#[async_trait]
pub trait Reader<T>: Sync {
    /// The form of the answer as a JSON Schema, with its name.
    fn form(&self) -> Option<(&'static str, Value)>;

    /// The question for a model.
    fn prompt(&self, model: &dyn Model) -> Prompt;

    /// What an answer is worth.
    async fn read(&self, model: &dyn Model, answer: &Answer) -> Result<Reading<T>, EffectError>;

    /// A fresh checkout for each question to a client that works in one. Other clients work from
    /// the prompt alone, so that the exchange can be replayed.
    async fn checkout(&self, _: &dyn Model) -> Result<Option<PathBuf>, EffectError> {
        Ok(None)
    }

    /// The edits a client made to its checkout, as the text that is stored and read as its answer.
    /// `None` where the text is the answer already, or where `read` looks at the checkout itself.
    async fn collect_edits(
        &self,
        _: &dyn Model,
        _: &Answer,
    ) -> Result<Option<String>, EffectError> {
        Ok(None)
    }
}

/// An answer that is used.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered<T> {
    pub value: T,
    pub provider: String,
    /// How sure the provider is, from 0 to 1.
    pub confidence: f64,
}

/// The result of one question down the chain.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply<T> {
    Good(Answered<T>),
    /// All answers are weak; this is the one with the highest confidence.
    Degraded(Answered<T>),
    NoAnswer,
    OutOfBudget(String),
}

/// The result of work that asks providers on its way.
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
                    proptest::prop_assert!(sure >= least);
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
