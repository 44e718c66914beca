//! Retries of one question to one provider, and how long an error keeps a provider from being asked.

use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::future::{Either, select};

use crate::domain::budget::{Spending, Usage};
use crate::domain::chain::{FallbackTrigger, Outage};
use crate::domain::retry::back_off;
use crate::effect::{
    Answer, Clock, Finish, Model, ModelError, ModelErrorKind, Question, StoreError, UsageMeter,
};

/// Decides about a further request, and stores what those before it cost.
#[async_trait]
pub trait BeforeRetry: Sync {
    /// Tokens of a further answer after so much was spent; `None` if the budget permits none.
    async fn permit(&self, question: &Question, spent: Spending)
    -> Result<Option<u32>, StoreError>;

    /// Stores that one more request is under way, with the cost before it and its use so far.
    async fn under_way(&self, spent: Spending, running: Usage) -> Result<(), StoreError>;
}

/// The result of a question with all its retries, and what they cost together.
#[derive(Debug)]
pub struct Tries {
    pub result: Result<Answer, ModelError>,
    /// Number of requests that were sent.
    pub requests: u32,
    /// The tokens of all requests, including those whose answers are useless.
    pub usage: Usage,
    /// What they cost, each at the price of its length; `None` without a price.
    pub micro_usd: Option<u64>,
}

/// Asks a model. Waits once if the provider states a waiting time below `longest_wait`, retries a
/// few times with back-off after a temporary failure, at once in a simpler form when a part of the
/// request was refused, and once with room for twice the answer when it was cut.
pub async fn ask_with_retries(
    model: &dyn Model,
    question: &Question,
    longest_wait: Duration,
    before_retry: &dyn BeforeRetry,
    clock: &dyn Clock,
) -> Result<Tries, StoreError> {
    let mut question = question.clone();
    let mut retries =
        Retries::new(longest_wait, u64::try_from(question.bytes()).unwrap_or_default());
    let (mut requests, mut spent) = (0, Spending::default());
    let mut is_priced = true;
    loop {
        let asked = ask_metered(model, &mut question, spent, before_retry).await?;
        let usage = asked.as_ref().map_or_else(|error| *error.usage, |answer| answer.usage);
        let price = model.price(usage);
        requests += 1;
        let mut request = Spending::default();
        request.add(1, usage, price);
        spent.join(request);
        question.left = question.left.left(&request);
        is_priced &= price.is_some();
        let done = |result| Tries {
            result,
            requests,
            usage: spent.usage,
            micro_usd: is_priced.then_some(spent.micro_usd),
        };
        let Some(retry) = retries.after(&asked) else {
            return Ok(done(retries.verdict(asked, model.name())));
        };
        let before = question.max_output_tokens;
        if let Retry::Longer = retry {
            question.max_output_tokens = before.saturating_mul(2);
        }
        let granted = before_retry.permit(&question, spent).await?;
        // Where no longer answer can be paid for, it would be cut again.
        let granted = granted.filter(|tokens| retry != Retry::Longer || *tokens > before);
        let Some(tokens) = granted else {
            return Ok(done(retries.verdict(asked, model.name())));
        };
        question.max_output_tokens = question.max_output_tokens.min(tokens);
        if let Retry::After(pause) = retry {
            let kind = asked.as_ref().map_or_else(|error| error.kind.word(), |_| "cut");
            tracing::info!(provider = model.name(), kind, ?pause, "asked again");
            clock.wait(pause).await;
        }
        before_retry.under_way(spent, sent(&question)).await?;
    }
}

/// What a request has used when it is sent, if it is never answered.
pub fn sent(question: &Question) -> Usage {
    Usage::estimate(question.bytes(), 0)
}

/// Asks once, and stores what a client reports meanwhile; `spent` is the earlier cost.
async fn ask_metered(
    model: &dyn Model,
    question: &mut Question,
    spent: Spending,
    before_retry: &dyn BeforeRetry,
) -> Result<Result<Answer, ModelError>, StoreError> {
    let (meter, mut reported) = UsageMeter::channel();
    question.meter = meter;
    let mut known = Usage::default();
    let mut asking = model.ask(question);
    loop {
        let usage = match select(asking, reported.next()).await {
            Either::Left((asked, _)) => return Ok(asked),
            Either::Right((usage, rest)) => {
                asking = rest;
                usage.unwrap_or(known)
            }
        };
        if std::mem::replace(&mut known, usage) != usage {
            before_retry.under_way(spent, usage).await?;
        }
    }
}

/// How a question is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retry {
    After(Duration),
    /// With room for an answer of twice the length.
    Longer,
}

/// Maximum number of parts of a request that a server may refuse one by one.
const SIMPLER: u32 = 4;

/// Maximum number of pauses after temporary failures.
const PAUSES: u32 = 2;

/// The retries that one question still has.
struct Retries {
    longest_wait: Duration,
    /// Makes the pauses of different questions differ.
    seed: u64,
    pauses: u32,
    has_waited: bool,
    was_cut: bool,
    simpler: u32,
}

impl Retries {
    fn new(longest_wait: Duration, seed: u64) -> Self {
        Self { longest_wait, seed, pauses: 0, has_waited: false, was_cut: false, simpler: 0 }
    }

    /// How the question is asked again after this result; `None` if it is final.
    fn after(&mut self, asked: &Result<Answer, ModelError>) -> Option<Retry> {
        let kind = match asked {
            Ok(answer) if answer.finish == Finish::Done => return None,
            Ok(_) => {
                let again = !std::mem::replace(&mut self.was_cut, true);
                return again.then_some(Retry::Longer);
            }
            Err(error) => &error.kind,
        };
        match kind {
            ModelErrorKind::RateLimited { retry_after: Some(time) } => {
                let may_wait = *time < self.longest_wait && !self.has_waited;
                self.has_waited = true;
                may_wait.then_some(Retry::After(*time))
            }
            ModelErrorKind::RateLimited { retry_after: None }
            | ModelErrorKind::Server { .. }
            | ModelErrorKind::Connection => {
                self.pauses += 1;
                (self.pauses <= PAUSES).then(|| Retry::After(back_off(self.pauses, self.seed)))
            }
            ModelErrorKind::Unsupported { .. } => {
                self.simpler += 1;
                (self.simpler <= SIMPLER).then_some(Retry::After(Duration::ZERO))
            }
            ModelErrorKind::Unauthorised
            | ModelErrorKind::OutOfQuota
            | ModelErrorKind::NotFound
            | ModelErrorKind::Gone
            | ModelErrorKind::BadRequest { .. }
            | ModelErrorKind::TooLong
            | ModelErrorKind::Refused { .. }
            | ModelErrorKind::TimedOut { .. }
            | ModelErrorKind::Truncated
            | ModelErrorKind::OverBudget
            | ModelErrorKind::Empty
            | ModelErrorKind::Garbage
            | ModelErrorKind::Client { .. }
            | ModelErrorKind::Replay { .. } => None,
        }
    }

    /// The final result: an answer that was cut is none, and neither is the refusal of a longer one.
    fn verdict(
        &self,
        asked: Result<Answer, ModelError>,
        provider: &str,
    ) -> Result<Answer, ModelError> {
        let cut = |raw, usage| {
            let error = ModelError::new(provider, ModelErrorKind::Truncated, String::new());
            Err(ModelError { raw, usage, ..error })
        };
        match asked {
            Ok(answer) if answer.finish == Finish::Cut => {
                cut(answer.raw.into(), Box::new(answer.usage))
            }
            Err(error)
                if self.was_cut
                    && matches!(
                        error.kind,
                        ModelErrorKind::BadRequest { .. } | ModelErrorKind::TimedOut { .. }
                    ) =>
            {
                cut(error.raw, error.usage)
            }
            asked => asked,
        }
    }
}

/// The fallback trigger for an error, and how long the error keeps the provider from being asked.
pub fn trigger_of(kind: &ModelErrorKind) -> (FallbackTrigger, Outage) {
    match kind {
        ModelErrorKind::RateLimited { retry_after } => {
            (FallbackTrigger::RateLimited, retry_after.map_or(Outage::Once, Outage::For))
        }
        ModelErrorKind::Server { .. } => (FallbackTrigger::Server, Outage::Once),
        ModelErrorKind::NotFound | ModelErrorKind::Gone => {
            (FallbackTrigger::Server, Outage::Lasting)
        }
        // A service that hangs once hangs again, and each time costs the whole limit.
        ModelErrorKind::TimedOut { .. } => (FallbackTrigger::TimedOut, Outage::Lasting),
        ModelErrorKind::Connection => (FallbackTrigger::Connection, Outage::Once),
        ModelErrorKind::Garbage | ModelErrorKind::Empty => {
            (FallbackTrigger::Unparseable, Outage::Once)
        }
        ModelErrorKind::Truncated => (FallbackTrigger::Truncated, Outage::None),
        ModelErrorKind::TooLong | ModelErrorKind::Refused { .. } | ModelErrorKind::OverBudget => {
            (FallbackTrigger::Refused, Outage::None)
        }
        ModelErrorKind::BadRequest { .. } | ModelErrorKind::Unsupported { .. } => {
            (FallbackTrigger::Refused, Outage::Once)
        }
        ModelErrorKind::Unauthorised
        | ModelErrorKind::OutOfQuota
        | ModelErrorKind::Client { .. }
        | ModelErrorKind::Replay { .. } => (FallbackTrigger::Refused, Outage::Lasting),
    }
}
