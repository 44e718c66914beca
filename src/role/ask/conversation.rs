//! [`Conversation`]: what a provider answered so far and why that was refused; [`Narrowed`]: a
//! provider whose context window is smaller than configured.

use async_trait::async_trait;

use crate::domain::budget::BYTES_PER_TOKEN;
use crate::effect::{Answer, Model, ModelError, ModelFacts, Question};
use crate::role::prompt::{self, RefusedAnswer};

/// The refused answers of one provider to one question, oldest first.
#[derive(Default)]
pub struct Conversation {
    refused: Vec<RefusedAnswer>,
    has_form_error: bool,
}

impl Conversation {
    /// Adds a refused answer.
    pub fn add(&mut self, refused: RefusedAnswer) {
        self.refused.push(refused);
    }

    /// Adds an unparsed answer; returns whether it is the first, as the second is not sent back.
    pub fn add_unparsed(&mut self, refused: RefusedAnswer) -> bool {
        self.add(refused);
        !std::mem::replace(&mut self.has_form_error, true)
    }

    /// The text that follows the question, in so many bytes; empty before the first refusal.
    pub fn text(&self, fence: &str, room: usize) -> String {
        if self.refused.is_empty() {
            return String::new();
        }
        prompt::again(&self.refused, fence, room)
    }
}

/// A model that said that a question was too long for it: its window is taken to be so small that
/// the next prompt has at most half the size.
pub struct Narrowed<'a> {
    model: &'a dyn Model,
    facts: ModelFacts,
}

impl<'a> Narrowed<'a> {
    /// The model after it refused this question for its length.
    pub fn after(question: &Question, model: &'a dyn Model) -> Self {
        let bytes = question.system.len() + question.prompt.len();
        let half = u32::try_from(bytes / BYTES_PER_TOKEN / 2).unwrap_or(u32::MAX);
        let mut narrowed = Self { model, facts: model.facts().clone() };
        // A prompt takes at most half of the window.
        narrowed.facts.context = narrowed.facts.context.min(half.saturating_mul(2));
        narrowed
    }
}

#[async_trait]
impl Model for Narrowed<'_> {
    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn price(&self, usage: crate::domain::budget::Usage) -> Option<u64> {
        self.model.price(usage)
    }

    async fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        self.model.ask(question).await
    }
}
