//! One question down the provider chain: who is asked, how often, what is kept, when it is enough
//! (product.md 7.11).

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use backon::{BackoffBuilder, ExponentialBuilder};
use futures::lock::Mutex;
use serde_json::Value;

use crate::domain::budget::{SpendingLimits, Usage};
use crate::domain::chain::{self, Breaker, FallbackTrigger, ProviderCall, Rules};
use crate::domain::event::Event;
use crate::domain::provider::ClientMode;
use crate::domain::secret::Redactor;
use crate::effect::{
    Answer, EffectError, Effects, Model, ModelError, ModelErrorKind, Question, StoreError,
};

use super::ChainEntry;
use super::exchange_log::{self, Known, UnderWay};
use super::prompt::{self, BYTES_PER_TOKEN, Prompt, Role};
use super::usage_key::{UsageKey, call, sum};

/// What the chain is opened with.
#[derive(Clone, Debug)]
pub struct AskSettings {
    /// Thresholds.
    pub rules: Rules,
    /// What the session may spend.
    pub session: SpendingLimits,
    /// What one iteration may spend.
    pub iteration: SpendingLimits,
    /// The random word of this run around foreign text.
    pub fence: String,
    /// Removes keys from what is kept.
    pub redactor: Redactor,
    /// Limit of one call.
    pub limit: Duration,
}

/// What a reader makes of one answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading<T> {
    /// It can be used.
    Good(T, f64),
    /// It can be used when nobody gives a better one.
    Weak(T, f64, FallbackTrigger, String),
    /// It cannot be used.
    Useless(FallbackTrigger, String),
    /// It cannot be used as it is; the same provider is told why and asked again.
    Again(Vec<String>),
}

/// Reads answers of one kind.
#[async_trait]
pub trait Reader<T>: Sync {
    /// The form of the answer as a JSON Schema.
    fn form(&self) -> Option<(&'static str, Value)>;

    /// The question for a model.
    fn prompt(&self, model: &dyn Model) -> Prompt;

    /// What an answer is worth.
    async fn read(&self, model: &dyn Model, answer: &Answer) -> Result<Reading<T>, EffectError>;

    /// A checkout for clients that work in one, made anew for each question. Without one they work
    /// from what they are shown, so that it can be replayed.
    async fn checkout(&self, _: &dyn Model) -> Result<Option<std::path::PathBuf>, EffectError> {
        Ok(None)
    }

    /// What a client did to its checkout, as the text that stands for its answer from now on, so
    /// that it is kept whole. `None` where the text is the answer, or the checkout is read later.
    async fn harvest(&self, _: &dyn Model, _: &Answer) -> Result<Option<String>, EffectError> {
        Ok(None)
    }
}

impl<T> Reading<T> {
    /// An answer that is useful in itself, and weak when who gave it is not sure enough.
    #[must_use]
    pub fn by_confidence(value: T, sure: f64, least: f64) -> Self {
        if sure < least {
            let why = format!("confidence {sure:.2} is below {least:.2}");
            return Self::Weak(value, sure, FallbackTrigger::LowConfidence, why);
        }
        Self::Good(value, sure)
    }
}

/// An answer that is used.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered<T> {
    /// The answer.
    pub value: T,
    /// Who gave it.
    pub provider: String,
    /// How sure they are.
    pub confidence: f64,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply<T> {
    /// Somebody gave a good answer.
    Good(Answered<T>),
    /// All answers were weak; this is the surest.
    Degraded(Answered<T>),
    /// Nobody gave an answer that can be used.
    Nobody,
    /// A limit of the session was reached.
    OutOfBudget(String),
}

/// Answers that are sent back to the same provider at most.
const TURNS: u32 = 3;

/// The place of a call that an earlier run made and counted.
const NOWHERE: usize = usize::MAX;

/// Longest answer that is asked for, in tokens.
const ANSWER_TOKENS: u32 = 16_000;

/// The models of a chain with their place in it, first to last.
#[must_use]
pub fn models_of<'m>(
    chain: &[ChainEntry],
    fx: &Effects<'m>,
    wanted: impl Fn(ClientMode) -> bool,
) -> Vec<(u32, &'m dyn Model)> {
    chain
        .iter()
        .zip(1..)
        .filter_map(|(link, slot)| match link {
            ChainEntry::Embedded => None,
            ChainEntry::Provider(name) => fx
                .models
                .iter()
                .find(|model| model.name() == name && wanted(model.manner()))
                .map(|model| (slot, model.as_ref())),
        })
        .collect()
}

/// One question: about what, to whom, how carefully.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The work it belongs to.
    pub account: &'a UsageKey,
    /// As whom they answer.
    pub role: Role,
    /// Who is asked in order, with their place in the chain.
    pub models: &'a [(u32, &'a dyn Model)],
    /// Whether to ask on below [`Rules::careful_confidence`] and take the surest.
    pub careful: bool,
}

/// Asks providers.
pub struct Asker {
    settings: AskSettings,
    breaker: Mutex<Breaker>,
    /// Whether it is known what an earlier run left open.
    looked_back: Mutex<bool>,
    /// Records of questions that this run has come to: one that it asks twice is meant to be.
    come_to: Mutex<BTreeSet<String>>,
}

impl Asker {
    /// An asker that has not met any provider.
    #[must_use]
    pub fn new(settings: AskSettings) -> Self {
        Self {
            settings,
            breaker: Mutex::new(Breaker::default()),
            looked_back: Mutex::new(false),
            come_to: Mutex::new(BTreeSet::new()),
        }
    }

    /// The random word around foreign text.
    #[must_use]
    pub fn fence(&self) -> &str {
        &self.settings.fence
    }

    /// Thresholds.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.settings.rules
    }

    /// Questions that an earlier run had asked when it ended, without an answer, with the work they
    /// belong to. They are given out once. Those of the fix loop and those before it are counted in
    /// different books: `looping` says whose are wanted.
    ///
    /// # Errors
    ///
    /// When session files cannot be read.
    pub async fn left_open(
        &self,
        looping: bool,
        fx: &Effects<'_>,
    ) -> Result<Option<(String, Vec<ProviderCall>)>, StoreError> {
        let mut looked_back = self.looked_back.lock().await;
        if std::mem::replace(&mut *looked_back, true) {
            return Ok(None);
        }
        let of_loop = |work: &str| work.starts_with("iteration-");
        let open = exchange_log::left_open(fx.store).await?;
        let open = open.filter(|(work, _)| of_loop(work) == looping);
        for call in open.iter().flat_map(|(_, calls)| calls) {
            let (provider, role, said) = (&call.provider, &call.role, &call.said);
            let text = format!("a question to `{provider}` ({role}): {said}; it counts as one");
            fx.screen.show(&Event::Notice { text });
        }
        Ok(open)
    }

    /// Asks providers in order until one answer is good enough. Every call goes into `calls`; one
    /// that an earlier run made and counted does not.
    ///
    /// # Errors
    ///
    /// When records cannot be written or sources not be read; never for a provider's fault.
    pub async fn ask<T: Clone + Send + Sync>(
        &self,
        round: &Ask<'_>,
        reader: &dyn Reader<T>,
        calls: &mut Vec<ProviderCall>,
        fx: &Effects<'_>,
    ) -> Result<Reply<T>, EffectError> {
        let Ask { account, role, models, careful } = *round;
        if account.iteration > 0 {
            let open = self.left_open(true, fx).await?;
            calls.extend(open.into_iter().flat_map(|(_, calls)| calls));
        }
        let mut good: Vec<(Answered<T>, usize)> = Vec::new();
        let mut weak: Vec<(Answered<T>, usize)> = Vec::new();
        for (slot, model) in models {
            let name = model.name();
            if let Some(why) = self.breaker.lock().await.open(name) {
                tracing::debug!(provider = name, why, "not asked");
                continue;
            }
            let mut extra = String::new();
            for turn in 1..=TURNS {
                let prompt = reader.prompt(*model);
                let question = self
                    .question(account, role, *slot, turn, *model, &prompt, &extra, reader)
                    .await?;
                let mut call = call(account, role, *slot, turn, *model);
                let digest = exchange_log::digest(&question, &self.settings.fence, account.before);
                let first = self.come_to.lock().await.insert(call.raw.clone());
                let known = if first {
                    exchange_log::known(&call.raw, &digest, fx.store).await?
                } else {
                    Known::Nothing
                };
                let counted = account.counted.contains(&call.raw);
                if let (Known::Gone(kept), false) = (&known, counted) {
                    calls.push(exchange_log::lost(&call, kept, model.price(kept.usage)));
                }
                let earlier = match known {
                    Known::Answered(answer) => Some(answer),
                    Known::Gone(_) | Known::Nothing => None,
                };
                let again = earlier.is_some();
                let asked = if let Some(answer) = earlier {
                    let text = format!(
                        "the answer of `{name}` ({}) is used as it arrived in the run before; it is not asked again",
                        call.role
                    );
                    fx.screen.show(&Event::Notice { text });
                    Ok(answer)
                } else {
                    match self.limits(account, calls, *model, &question) {
                        Allowed::Yes => {}
                        Allowed::NotInThisIteration(why) => {
                            fx.screen.show(&Event::Notice { text: why });
                            return Ok(settle(good, weak, calls));
                        }
                        Allowed::No(why) => return Ok(Reply::OutOfBudget(why)),
                    }
                    let way = UnderWay {
                        work: account.work.clone(),
                        call: call.clone(),
                        digest,
                        asked_at: fx.clock.now(),
                        before: exchange_log::unanswered(calls),
                    };
                    let began = fx.clock.elapsed();
                    let asked = self.under_way(&way, &question, *model, reader, fx).await?;
                    let took = fx.clock.elapsed().saturating_sub(began);
                    call.duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                    asked
                };
                let reading = match asked {
                    Err(error) => {
                        let (trigger, lasting) = trigger_of(&error.kind);
                        self.breaker.lock().await.failed(name, &error.kind.to_string(), lasting);
                        Reading::Useless(trigger, format!("{error}; {}", error.kind.hint()))
                    }
                    Ok(answer) => {
                        self.breaker.lock().await.answered(name);
                        call.usage = answer.usage;
                        call.micro_usd = model.price(answer.usage);
                        if !answer.model.is_empty() {
                            call.model.clone_from(&answer.model);
                        }
                        reader.read(*model, &answer).await?
                    }
                };
                let given = |value: T, confidence: f64| Answered {
                    value,
                    provider: name.to_owned(),
                    confidence,
                };
                let mut problems = None;
                let (mut done, mut next) = (false, true);
                let place = if again && counted { NOWHERE } else { calls.len() };
                match reading {
                    Reading::Good(value, confidence) => {
                        call.confidence = Some(confidence);
                        done = !careful || confidence >= self.settings.rules.careful_confidence;
                        if !done {
                            call.said = format!(
                                "confidence {confidence:.2} is below {:.2}; the next one is asked too",
                                self.settings.rules.careful_confidence
                            );
                        }
                        good.push((given(value, confidence), place));
                    }
                    Reading::Weak(value, confidence, trigger, why) => {
                        call.confidence = Some(confidence);
                        call.trigger = Some(trigger);
                        call.said = why;
                        weak.push((given(value, confidence), place));
                    }
                    Reading::Useless(trigger, why) => {
                        call.trigger = Some(trigger);
                        call.said = why;
                    }
                    Reading::Again(list) => {
                        call.trigger = Some(FallbackTrigger::Vetoed);
                        call.said = list.join("; ");
                        next = turn == TURNS;
                        problems = Some(list);
                    }
                }
                call.said = self.settings.redactor.redact(&short(&call.said));
                if place != NOWHERE {
                    Self::tell(account, &call, calls, fx);
                    calls.push(call);
                }
                if done {
                    return Ok(settle(good, weak, calls));
                }
                if next {
                    break;
                }
                extra = prompt::again(&problems.unwrap_or_default(), &self.settings.fence);
            }
        }
        Ok(settle(good, weak, calls))
    }

    #[expect(clippy::too_many_arguments, reason = "a question is made of exactly these")]
    async fn question<T>(
        &self,
        account: &UsageKey,
        role: Role,
        slot: u32,
        turn: u32,
        model: &dyn Model,
        prompt: &Prompt,
        extra: &str,
        reader: &dyn Reader<T>,
    ) -> Result<Question, EffectError> {
        Ok(Question {
            id: format!("{}/{}/{slot}/{turn}", account.id, role.word()),
            system: self.settings.redactor.redact(&prompt.system),
            // A key in the sources must not travel to a provider either.
            prompt: self.settings.redactor.redact(&format!("{}{extra}", prompt.text)),
            form: reader.form(),
            temperature: None,
            max_output_tokens: ANSWER_TOKENS.min(model.context_tokens() / 4),
            limit: self.settings.limit,
            checkout: reader.checkout(model).await?,
        })
    }

    /// Asks, with a note on disk before and another one behind, so that a run that is killed in
    /// between knows what it paid for.
    async fn under_way<T>(
        &self,
        way: &UnderWay,
        question: &Question,
        model: &dyn Model,
        reader: &dyn Reader<T>,
        fx: &Effects<'_>,
    ) -> Result<Result<Answer, ModelError>, EffectError> {
        exchange_log::asking(way, fx.store).await?;
        let mut asked = self.patiently(model, question, fx).await;
        let mut harvested = false;
        if let Ok(answer) = &mut asked
            && let Some(text) = reader.harvest(model, answer).await?
        {
            harvested = true;
            answer.raw = std::mem::replace(&mut answer.text, text);
        }
        let kept = asked.as_ref().ok();
        let kept = kept.map(|answer| (answer, self.settings.redactor.redact(&answer.text)));
        exchange_log::arrived(way, kept, (model, harvested), fx.store).await?;
        self.keep_raw(&way.call.raw, question, &asked, fx).await?;
        Ok(asked)
    }

    /// Asks, and waits once where the provider says how long, or a few times with back-off where
    /// it only failed.
    async fn patiently(
        &self,
        model: &dyn Model,
        question: &Question,
        fx: &Effects<'_>,
    ) -> Result<Answer, ModelError> {
        let mut pauses = ExponentialBuilder::default()
            .with_jitter()
            .with_min_delay(Duration::from_millis(500))
            .with_max_delay(Duration::from_secs(8))
            .with_max_times(2)
            .build();
        let mut honoured = false;
        loop {
            let error = match model.ask(question).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let pause = match &error.kind {
                ModelErrorKind::RateLimited { retry_after: Some(time) } => {
                    let short = *time < self.settings.rules.longest_wait && !honoured;
                    honoured = true;
                    short.then_some(*time)
                }
                ModelErrorKind::RateLimited { retry_after: None }
                | ModelErrorKind::Server { .. }
                | ModelErrorKind::Connection
                | ModelErrorKind::Truncated => pauses.next(),
                ModelErrorKind::Unauthorised
                | ModelErrorKind::OutOfQuota
                | ModelErrorKind::NotFound
                | ModelErrorKind::BadRequest { .. }
                | ModelErrorKind::TooLong
                | ModelErrorKind::Refused { .. }
                | ModelErrorKind::TimedOut { .. }
                | ModelErrorKind::Garbage
                | ModelErrorKind::Client { .. }
                | ModelErrorKind::Replay { .. } => None,
            };
            let Some(pause) = pause else { return Err(error) };
            tracing::info!(
                provider = model.name(),
                kind = error.kind.word(),
                ?pause,
                "asked again"
            );
            fx.clock.wait(pause).await;
        }
    }

    fn limits(
        &self,
        account: &UsageKey,
        calls: &[ProviderCall],
        model: &dyn Model,
        question: &Question,
    ) -> Allowed {
        let tokens = (question.system.len() + question.prompt.len()) / BYTES_PER_TOKEN;
        let next = Usage { input_tokens: tokens as u64, output_tokens: 0 };
        let price = model.price(next);
        let now = sum(calls);
        let mut session = account.session;
        session.join(now);
        if let Some(why) = session.exceeds(&self.settings.session, next, price) {
            return Allowed::No(why);
        }
        let mut here = account.here;
        here.join(now);
        let place = if account.iteration > 0 { "iteration" } else { "task" };
        match here.exceeds(&self.settings.iteration, next, price) {
            Some(why) => Allowed::NotInThisIteration(format!("in this {place}, {why}")),
            None => Allowed::Yes,
        }
    }

    /// Keeps an exchange whole; redacted, outside of commits.
    async fn keep_raw(
        &self,
        file: &str,
        question: &Question,
        asked: &Result<Answer, ModelError>,
        fx: &Effects<'_>,
    ) -> Result<(), StoreError> {
        let said = match asked {
            Ok(answer) => format!("{}\n\n--- as received ---\n{}", answer.text, answer.raw),
            Err(error) => format!("{error}\n{}\n", error.said),
        };
        let text = format!(
            "--- {} ---\n--- system ---\n{}\n--- prompt ---\n{}\n--- answer ---\n{said}\n",
            question.id, question.system, question.prompt
        );
        fx.store.write_text(file, &self.settings.redactor.redact(&text)).await
    }

    fn tell(account: &UsageKey, call: &ProviderCall, calls: &[ProviderCall], fx: &Effects<'_>) {
        let mut spent = account.session;
        spent.join(sum(calls));
        spent.add(call.usage, call.micro_usd);
        fx.screen.show(&Event::Asked { iteration: account.iteration, call: call.clone(), spent });
    }
}

enum Allowed {
    Yes,
    NotInThisIteration(String),
    No(String),
}

fn short(text: &str) -> String {
    let plain = |c: &char| !c.is_control() || *c == '\n';
    text.chars().filter(plain).take(1_000).collect()
}

/// The surest good answer, else the surest weak one.
fn settle<T>(
    good: Vec<(Answered<T>, usize)>,
    weak: Vec<(Answered<T>, usize)>,
    calls: &mut [ProviderCall],
) -> Reply<T> {
    let degraded = good.is_empty();
    let mut list = if degraded { weak } else { good };
    let confidences: Vec<f64> = list.iter().map(|(given, _)| given.confidence).collect();
    let Some(best) = chain::surest(&confidences) else { return Reply::Nobody };
    let (given, call) = list.swap_remove(best);
    if let Some(call) = calls.get_mut(call) {
        call.used = true;
    }
    if degraded { Reply::Degraded(given) } else { Reply::Good(given) }
}

/// The trigger behind a provider's error, and whether it will be there again next time.
#[must_use]
pub fn trigger_of(kind: &ModelErrorKind) -> (FallbackTrigger, bool) {
    match kind {
        ModelErrorKind::RateLimited { .. } => (FallbackTrigger::RateLimited, false),
        ModelErrorKind::Server { .. } => (FallbackTrigger::Server, false),
        ModelErrorKind::NotFound => (FallbackTrigger::Server, true),
        ModelErrorKind::TimedOut { .. } => (FallbackTrigger::TimedOut, false),
        ModelErrorKind::Connection | ModelErrorKind::Truncated => {
            (FallbackTrigger::Connection, false)
        }
        ModelErrorKind::Garbage => (FallbackTrigger::Unparseable, false),
        ModelErrorKind::TooLong | ModelErrorKind::Refused { .. } => {
            (FallbackTrigger::Refused, false)
        }
        ModelErrorKind::Unauthorised
        | ModelErrorKind::OutOfQuota
        | ModelErrorKind::BadRequest { .. }
        | ModelErrorKind::Client { .. }
        | ModelErrorKind::Replay { .. } => (FallbackTrigger::Refused, true),
    }
}
