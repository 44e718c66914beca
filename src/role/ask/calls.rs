//! One question to one model: from the disk if an earlier run asked it, else over the wire, with a
//! record on disk by which its cost is counted once even if the run is killed.

use async_trait::async_trait;

use crate::domain::budget::{Spending, Usage};
use crate::domain::chain::{FallbackTrigger, ProviderCall, spent_by};
use crate::domain::event::Event;
use crate::domain::provider::ClientMode;
use crate::domain::text::bounded;
use crate::effect::{Answer, EffectError, Model, ModelError, Question, Store, StoreError};

use super::budget::{Allowance, Budget};
use super::chain::{AskEffects, AskSettings};
use super::exchange_log::{self, AnswerReceipt, PendingQuestion};
use super::reader::Reader;
use super::retry::{BeforeRetry, Tries, ask_with_retries, sent, trigger_of};
use super::usage_key::UsageKey;

/// Maximum length of the reason stored with a call, in characters.
const REASON: usize = 1_000;

/// The outcome of one call.
pub(super) struct Exchange {
    pub result: Result<Answer, ModelError>,
    pub cost: Cost,
    pub entry: Entry,
}

/// Where the session counts a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Nowhere yet.
    New,
    /// Among the calls of the step, at this index.
    At(usize),
    /// In its state: an earlier step made the call.
    Counted,
}

/// What a call with all its requests cost.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    requests: u32,
    usage: Usage,
    micro_usd: Option<u64>,
    duration_ms: u64,
}

impl Cost {
    /// The cost in the record of a call.
    fn of(call: &ProviderCall) -> Self {
        let ProviderCall { requests, usage, micro_usd, duration_ms, .. } = *call;
        Self { requests, usage, micro_usd, duration_ms }
    }

    /// Enters the cost into the record of a call.
    pub(super) fn note(self, call: &mut ProviderCall) {
        let Self { requests, usage, micro_usd, duration_ms } = self;
        (call.requests, call.usage) = (requests, usage);
        (call.micro_usd, call.duration_ms) = (micro_usd, duration_ms);
    }
}

/// The outcome of a call, or which limit of the budget refused it.
pub(super) enum CallOutcome {
    Exchange(Box<Exchange>),
    /// The limit of the iteration or task is reached, which was announced.
    IterationLimit,
    SessionLimit(String),
}

/// Why a call failed, in our words and the provider's.
pub(super) fn reason_of(error: &ModelError) -> String {
    format!("{error}; {}", error.kind.hint())
}

/// Enters the name of the model that answered, where the provider reports it.
pub(super) fn note_model(answer: &Answer, call: &mut ProviderCall) {
    if !answer.model.is_empty() {
        call.model.clone_from(&answer.model);
    }
}

/// Everything that a call needs besides the question.
#[derive(Clone, Copy)]
pub(super) struct Caller<'a, T> {
    pub settings: &'a AskSettings,
    pub usage: &'a UsageKey,
    pub reader: &'a dyn Reader<T>,
    pub fx: AskEffects<'a>,
}

impl<T: Send + Sync> Caller<'_, T> {
    /// A reason as it is stored: bounded and without secrets.
    pub(super) fn stored_reason(&self, reason: &str) -> String {
        self.settings.redactor.redact(&bounded(reason, REASON)).into()
    }

    /// The answer that an interrupted run stored, if `is_first`, or else a new one if the budget
    /// permits it. `calls` are the earlier ones of the same step.
    pub(super) async fn obtain(
        &self,
        call: &ProviderCall,
        model: &dyn Model,
        question: &mut Question,
        is_first: bool,
        calls: &[ProviderCall],
    ) -> Result<CallOutcome, EffectError> {
        let Self { settings, usage, fx, .. } = *self;
        let digest = exchange_log::digest(question, &settings.fence, usage.before);
        if is_first && let Some(found) = self.find_earlier(call, &digest, calls).await? {
            return Ok(CallOutcome::Exchange(Box::new(found)));
        }
        let budget = Budget { settings, usage, spent: spent_by(calls) };
        match budget.allowance(model, question, Spending::default()) {
            Allowance::Granted(tokens) => {
                (question.max_output_tokens, question.left) = (tokens, budget.left());
            }
            Allowance::IterationLimit(why) => {
                fx.screen.show(&Event::Notice { text: why });
                return Ok(CallOutcome::IterationLimit);
            }
            Allowance::SessionLimit(why) => return Ok(CallOutcome::SessionLimit(why)),
        }
        let pending = PendingQuestion {
            work: usage.work.clone(),
            call: call.clone(),
            digest,
            asked_at: fx.clock.now(),
            counted: usage.session.calls,
            before: calls.to_vec(),
        };
        let exchange = self.call_model(&pending, model, question).await?;
        Ok(CallOutcome::Exchange(Box::new(exchange)))
    }

    /// The answer that an earlier run stored.
    async fn find_earlier(
        &self,
        call: &ProviderCall,
        digest: &str,
        calls: &[ProviderCall],
    ) -> Result<Option<Exchange>, EffectError> {
        let fx = self.fx;
        let found = exchange_log::find_answer(&call.raw, digest, fx.store).await?;
        let Some((answer, stored)) = found else { return Ok(None) };
        let text = format!(
            "the answer of `{}` ({}) is used as it arrived in the run before; it is not asked again",
            call.provider, call.role
        );
        fx.screen.show(&Event::Notice { text });
        let is_same = |one: &ProviderCall| {
            one.raw == call.raw && one.trigger != Some(FallbackTrigger::Interrupted)
        };
        let entry = calls.iter().rposition(is_same).map_or(Entry::Counted, Entry::At);
        Ok(Some(Exchange { result: Ok(answer), cost: Cost::of(&stored), entry }))
    }

    /// Calls the model. The question is stored before the call, its cost before every retry, and a
    /// receipt after it, so that the cost is known even if the run is killed. A failure of the model
    /// is a normal result.
    async fn call_model(
        &self,
        pending: &PendingQuestion,
        model: &dyn Model,
        question: &Question,
    ) -> Result<Exchange, EffectError> {
        let Self { settings, usage, fx, .. } = *self;
        let budget = Budget { settings, usage, spent: spent_by(&pending.before) };
        let before_retry = StoredRetry { budget, pending, model, store: fx.store };
        before_retry.under_way(Spending::default(), sent(question)).await?;
        let start = fx.clock.elapsed();
        let longest_wait = settings.rules.longest_wait;
        let tries =
            ask_with_retries(model, question, longest_wait, &before_retry, fx.clock).await?;
        let Tries { mut result, requests, usage, micro_usd } = tries;
        let duration = fx.clock.elapsed().saturating_sub(start);
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        // A failure without tokens has no price, not even that of nothing.
        let micro_usd = micro_usd.filter(|_| result.is_ok() || usage.tokens() > 0);
        let cost = Cost { requests, usage, micro_usd, duration_ms };
        let answers_in_text = model.mode() == ClientMode::Answer;
        self.note_end(pending, &result, cost, answers_in_text).await?;
        if let Ok(answer) = &mut result {
            answer.usage = usage;
            if let Some(text) = self.reader.collect_edits(model, answer).await? {
                answer.raw = std::mem::replace(&mut answer.text, text);
                self.note_end(pending, &result, cost, true).await?;
            }
        }
        let transcript = exchange_log::transcript(question, &result);
        fx.store.write_text(&pending.call.raw, &settings.redactor.redact(&transcript)).await?;
        Ok(Exchange { result, cost, entry: Entry::New })
    }

    /// Stores the receipt of a call. `whole` says whether the text is the complete answer.
    async fn note_end(
        &self,
        pending: &PendingQuestion,
        result: &Result<Answer, ModelError>,
        cost: Cost,
        whole: bool,
    ) -> Result<(), StoreError> {
        let (digest, earlier) = (pending.digest.clone(), pending.earlier());
        let mut call = pending.call.clone();
        cost.note(&mut call);
        let answer = match result {
            Ok(answer) => {
                note_model(answer, &mut call);
                Some(self.settings.redactor.redact(&answer.text).into())
            }
            Err(error) => {
                call.trigger = Some(trigger_of(&error.kind).0);
                call.reason = self.stored_reason(&reason_of(error));
                None
            }
        };
        let receipt = AnswerReceipt { digest, earlier, call, answer, whole };
        exchange_log::note_end(&receipt, self.fx.store).await
    }
}

/// Stores what the tries of a question have cost, and checks the budget before another one.
struct StoredRetry<'a> {
    budget: Budget<'a>,
    pending: &'a PendingQuestion,
    model: &'a dyn Model,
    store: &'a dyn Store,
}

#[async_trait]
impl BeforeRetry for StoredRetry<'_> {
    async fn permit(
        &self,
        question: &Question,
        spent: Spending,
    ) -> Result<Option<u32>, StoreError> {
        let Allowance::Granted(tokens) = self.budget.allowance(self.model, question, spent) else {
            return Ok(None);
        };
        self.store_cost(spent).await?;
        Ok(Some(tokens.min(self.model.context_tokens() / 2)))
    }

    async fn under_way(&self, spent: Spending, running: Usage) -> Result<(), StoreError> {
        let mut spent = spent;
        spent.add(1, running, self.model.price(running));
        self.store_cost(spent).await
    }
}

impl StoredRetry<'_> {
    async fn store_cost(&self, spent: Spending) -> Result<(), StoreError> {
        let mut pending = self.pending.clone();
        let requests = u32::try_from(spent.calls).unwrap_or(u32::MAX);
        let is_priced = spent.unpriced == 0 && spent.usage.tokens() > 0;
        let micro_usd = is_priced.then_some(spent.micro_usd);
        Cost { requests, usage: spent.usage, micro_usd, duration_ms: 0 }.note(&mut pending.call);
        exchange_log::note_question(&pending, self.store).await
    }
}
