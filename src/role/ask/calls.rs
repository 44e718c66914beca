//! One question to one model: from the disk if an earlier run asked it, else over the wire, with notes
//! on disk by which its cost is counted once even if the run is killed.

use crate::domain::budget::{Spending, Usage};
use crate::domain::chain::{FallbackTrigger, ProviderCall};
use crate::domain::event::Event;
use crate::domain::text::bounded;
use crate::effect::{Answer, EffectError, Model, ModelError, Question};

use super::budget::{Allowance, Budget};
use super::chain::{AskEffects, AskSettings};
use super::exchange_log::{self, EarlierAnswer, Ended, PendingQuestion, StoredAnswer};
use super::reader::Reader;
use super::retry::{Tries, ask_with_retries, trigger_of};
use super::usage_key::{UsageKey, sum};

/// Maximum length of the reason stored with a call, in characters.
const REASON: usize = 1_000;

/// The outcome of one call.
pub(super) struct Exchange {
    pub result: Result<Answer, ModelError>,
    pub cost: Cost,
    pub is_counted: bool,
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
    /// Enters the cost into the record of a call.
    pub(super) fn note(self, call: &mut ProviderCall) {
        let Self { requests, usage, micro_usd, duration_ms } = self;
        (call.requests, call.usage) = (requests, usage);
        (call.micro_usd, call.duration_ms) = (micro_usd, duration_ms);
    }
}

/// The outcome of a call, or which limit of the budget refused it.
pub(super) enum CallOutcome {
    Exchange(Exchange),
    /// The limit of the iteration or task is reached, which was announced.
    IterationLimit,
    SessionLimit(String),
}

/// Why a call failed, in our words and the provider's.
pub(super) fn reason_of(error: &ModelError) -> String {
    format!("{error}; {}", error.kind.hint())
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
    /// permits it. `calls` are those of the same step.
    pub(super) async fn obtain(
        &self,
        call: &ProviderCall,
        model: &dyn Model,
        question: &mut Question,
        is_first: bool,
        calls: &mut Vec<ProviderCall>,
    ) -> Result<CallOutcome, EffectError> {
        let Self { settings, usage, fx, .. } = *self;
        let digest = exchange_log::digest(question, &settings.fence, usage.before);
        if is_first && let Some(found) = self.find_earlier(call, &digest, model, calls).await? {
            return Ok(CallOutcome::Exchange(found));
        }
        let budget = Budget { settings, usage, spent: sum(calls) };
        match budget.allowance(model, question, Spending::default()) {
            Allowance::Granted(tokens) => question.max_output_tokens = tokens,
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
            before: exchange_log::interrupted(calls),
        };
        Ok(CallOutcome::Exchange(self.call_model(&pending, model, question, calls).await?))
    }

    /// The answer that an earlier run stored. Counts what that run paid for besides, unless the
    /// session has counted it.
    async fn find_earlier(
        &self,
        call: &ProviderCall,
        digest: &str,
        model: &dyn Model,
        calls: &mut Vec<ProviderCall>,
    ) -> Result<Option<Exchange>, EffectError> {
        let (fx, counted) = (self.fx, &self.usage.counted);
        let earlier = exchange_log::find_answer(&call.raw, digest, fx.store).await?;
        let mut known: Vec<&ProviderCall> = counted.iter().chain(calls.iter()).collect();
        let mut missing = Vec::new();
        for before in &earlier.calls {
            // Two failures may look the same.
            match known.iter().position(|one| *one == before) {
                Some(index) => {
                    known.swap_remove(index);
                }
                None => missing.push(before.clone()),
            }
        }
        for ProviderCall { provider, role, reason, .. } in &missing {
            let text = format!(
                "a question to `{provider}` ({role}) of the run before counts too: {reason}"
            );
            fx.screen.show(&Event::Notice { text });
        }
        calls.extend(missing);
        match earlier.answer {
            EarlierAnswer::None => Ok(None),
            EarlierAnswer::Lost(stored) => {
                let lost = exchange_log::lost_call(call, &stored);
                if !counted.iter().chain(calls.iter()).any(|one| *one == lost) {
                    calls.push(lost);
                }
                Ok(None)
            }
            EarlierAnswer::Stored { answer, requests, micro_usd } => {
                let text = format!(
                    "the answer of `{}` ({}) is used as it arrived in the run before; it is not asked again",
                    model.name(),
                    call.role
                );
                fx.screen.show(&Event::Notice { text });
                let is_same = |one: &&ProviderCall| {
                    one.raw == call.raw
                        && one.trigger != Some(FallbackTrigger::Interrupted)
                        && !earlier.calls.contains(one)
                };
                let is_counted = counted.iter().any(|one| is_same(&one));
                let usage = answer.usage;
                let micro_usd = micro_usd.or_else(|| model.price(usage));
                let cost = Cost { requests, usage, micro_usd, duration_ms: 0 };
                Ok(Some(Exchange { result: Ok(answer), cost, is_counted }))
            }
        }
    }

    /// Calls the model. A note is stored before the call and a receipt after it, so that the cost
    /// is known even if the run is killed. A failure of the model is a normal result.
    async fn call_model(
        &self,
        pending: &PendingQuestion,
        model: &dyn Model,
        question: &Question,
        calls: &[ProviderCall],
    ) -> Result<Exchange, EffectError> {
        let Self { settings, usage, fx, .. } = *self;
        exchange_log::note_question(pending, fx.store).await?;
        let start = fx.clock.elapsed();
        let budget = Budget { settings, usage, spent: sum(calls) };
        let permit = |question: &Question, spent| {
            let longest = model.context_tokens() / 2;
            match budget.allowance(model, question, spent) {
                Allowance::Granted(tokens) => Some(tokens.min(longest)),
                Allowance::IterationLimit(_) | Allowance::SessionLimit(_) => None,
            }
        };
        let longest_wait = settings.rules.longest_wait;
        let tries = ask_with_retries(model, question, longest_wait, &permit, fx.clock).await;
        let Tries { mut result, requests, usage, micro_usd } = tries;
        let mut is_collected = false;
        if let Ok(answer) = &mut result {
            answer.usage = usage;
            if let Some(text) = self.reader.collect_edits(model, answer).await? {
                is_collected = true;
                answer.raw = std::mem::replace(&mut answer.text, text);
            }
        }
        let duration = fx.clock.elapsed().saturating_sub(start);
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        // A failure without tokens has no price, not even that of nothing.
        let micro_usd = micro_usd.filter(|_| result.is_ok() || usage.tokens() > 0);
        let cost = Cost { requests, usage, micro_usd, duration_ms };
        let ended = match &result {
            Ok(answer) => Ended::Answered(StoredAnswer {
                text: settings.redactor.redact(&answer.text).into(),
                usage,
                requests,
                micro_usd,
                model: answer.model.clone(),
            }),
            Err(error) => {
                let mut failed = pending.call.clone();
                cost.note(&mut failed);
                failed.trigger = Some(trigger_of(&error.kind).0);
                failed.reason = self.stored_reason(&reason_of(error));
                Ended::Failed(failed)
            }
        };
        let is_whole = exchange_log::is_whole(model, is_collected);
        let before = exchange_log::uncounted(calls, &pending.call.raw);
        exchange_log::note_end(pending, ended, is_whole, before, fx.store).await?;
        let transcript = exchange_log::transcript(question, &result);
        fx.store.write_text(&pending.call.raw, &settings.redactor.redact(&transcript)).await?;
        Ok(Exchange { result, cost, is_counted: false })
    }
}
