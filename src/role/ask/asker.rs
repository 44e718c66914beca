//! [`Asker`]: asks the providers of a chain in order until one answer is good enough.

use std::collections::BTreeSet;

use futures::lock::Mutex;

use crate::domain::budget::{BYTES_PER_TOKEN, SpendingLimits};
use crate::domain::chain::{self, FallbackTrigger, ProviderCall, Rules, spent_by};
use crate::domain::event::Event;
use crate::domain::fix_loop::FixLoop;
use crate::domain::provider::ClientMode;
use crate::effect::{EffectError, Model, ModelErrorKind, Question, StoreError, UsageMeter};
use crate::role::prompt::{RefusedAnswer, Role};

use super::calls::{CallOutcome, Caller, Entry, Exchange, note_model, reason_of};
use super::chain::{AskEffects, AskSettings, Slot};
use super::conversation::{Conversation, Narrowed};
use super::exchange_log::{self, UncountedCalls};
use super::reader::{Answered, Reader, Reading, Reply};
use super::retry::trigger_of;
use super::usage_key::{UsageKey, new_call};

/// Maximum number of attempts per provider and question, including the first.
const TURNS: u32 = 3;

/// Length that an answer may have at first, in tokens; reasoning counts.
const ANSWER_TOKENS: u32 = 16_000;

/// What is asked: on behalf of which work, in which role, and which models may be asked.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The work whose budget pays for the question.
    pub usage: &'a UsageKey,
    pub role: Role,
    pub models: &'a [Slot<'a>],
    /// Whether to ask further models if the confidence is below [`Rules::careful_confidence`], and
    /// to use the most confident answer.
    pub careful: bool,
}

/// Asks providers, except those that are known to be unavailable.
pub struct Asker {
    settings: AskSettings,
    /// Whether the calls that an earlier run left uncounted were already returned.
    has_returned_uncounted: Mutex<bool>,
    /// Records of the questions asked in this run. Repeating one of them must not return the answer
    /// stored for its first time.
    visited: Mutex<BTreeSet<String>>,
}

impl Asker {
    /// Creates an asker that has asked nothing yet.
    #[must_use]
    pub fn new(settings: AskSettings) -> Self {
        Self {
            settings,
            has_returned_uncounted: Mutex::new(false),
            visited: Mutex::new(BTreeSet::new()),
        }
    }

    /// The random word that delimits untrusted text in prompts.
    pub fn fence(&self) -> &str {
        &self.settings.fence
    }

    /// The thresholds for accepting answers.
    pub fn rules(&self) -> &Rules {
        &self.settings.rules
    }

    /// The calls of an earlier run that was killed before the session counted them; returned only
    /// once. The fix loop and the phases before it count separately; `of_loop` selects which of them
    /// counts now, and `counted` is the number of requests that it has counted.
    pub async fn uncounted(
        &self,
        of_loop: bool,
        counted: u64,
        fx: AskEffects<'_>,
    ) -> Result<Option<UncountedCalls>, StoreError> {
        if std::mem::replace(&mut *self.has_returned_uncounted.lock().await, true) {
            return Ok(None);
        }
        let found = exchange_log::find_uncounted(counted, fx.store).await?;
        let found = found.filter(|found| found.work.starts_with("iteration-") == of_loop);
        for call in found.iter().flat_map(|found| &found.calls) {
            let (provider, role) = (&call.provider, &call.role);
            let question = format!("a question to `{provider}` ({role})");
            let text = match call.trigger {
                None => continue,
                Some(FallbackTrigger::Interrupted) => {
                    format!("{question}: {}; it counts as one", call.reason)
                }
                Some(_) => format!("{question} of the run before counts too: {}", call.reason),
            };
            fx.screen.show(&Event::Notice { text });
        }
        Ok(found)
    }

    /// The calls with which a step of the fix loop begins: those that an earlier run did not count.
    pub async fn calls_before(
        &self,
        state: &FixLoop,
        fx: AskEffects<'_>,
    ) -> Result<Vec<ProviderCall>, StoreError> {
        let found = self.uncounted(true, state.spending.calls, fx).await?;
        Ok(found.map(|found| found.calls).unwrap_or_default())
    }

    /// Asks the models in order until one answer is good enough. Adds every call to `calls`, those of
    /// the step so far, except the ones that the session has counted. A failing provider is not an
    /// error.
    pub async fn ask<T: Send + Sync>(
        &self,
        ask: &Ask<'_>,
        reader: &dyn Reader<T>,
        calls: &mut Vec<ProviderCall>,
        fx: AskEffects<'_>,
    ) -> Result<Reply<T>, EffectError> {
        let mut run = AskRun { asker: self, ask, reader, fx, calls, answers: Answers::default() };
        for (slot, model) in ask.models {
            let now = fx.clock.elapsed();
            let skipped = self.settings.outages.lock().await.skips(model.name(), now);
            if let Some((why, is_news)) = skipped {
                tracing::debug!(provider = model.name(), why, "not asked");
                if is_news {
                    let text = format!("`{}` is {why}", model.name());
                    fx.screen.show(&Event::Notice { text });
                }
                continue;
            }
            match run.ask_provider(*slot, *model).await? {
                Next::Provider => {}
                Next::Stop => break,
                // A good answer that was paid for is used, though a surer one cannot be asked for.
                Next::OutOfBudget(_) if !run.answers.good.is_empty() => break,
                Next::OutOfBudget(why) => return Ok(Reply::OutOfBudget(why)),
            }
        }
        let AskRun { answers, calls, .. } = run;
        Ok(answers.best(self.settings.rules.careful_confidence, calls))
    }
}

/// The progress of one question through the chain.
struct AskRun<'a, T> {
    asker: &'a Asker,
    ask: &'a Ask<'a>,
    reader: &'a dyn Reader<T>,
    fx: AskEffects<'a>,
    calls: &'a mut Vec<ProviderCall>,
    answers: Answers<T>,
}

/// What to do after asking a provider.
enum Next {
    Provider,
    Stop,
    OutOfBudget(String),
}

/// What to do after one answer of a provider.
enum AfterAnswer {
    /// Ask the same provider again and describe the problems of its answer.
    SendBack(RefusedAnswer),
    /// The same, unless an answer of this provider could not be parsed before.
    Unparsed(RefusedAnswer),
    /// Ask the same provider again with a shorter prompt.
    TooLong,
    Next(Next),
}

struct Assessment<T> {
    reading: Reading<T>,
    text: Option<String>,
    is_too_long: bool,
}

impl<T: Send + Sync> AskRun<'_, T> {
    /// Asks one provider, and repeats this while its answers are sent back with problems.
    async fn ask_provider(&mut self, slot: u32, model: &dyn Model) -> Result<Next, EffectError> {
        let mut conversation = Conversation::default();
        let mut narrowed: Option<Narrowed<'_>> = None;
        for turn in 1..=TURNS {
            let asked: &dyn Model = narrowed.as_ref().map_or(model, |model| model);
            let call = new_call(self.ask.usage, self.ask.role, slot, turn, model);
            let mut question = self.question(&call, asked, &conversation).await?;
            question.max_output_tokens = ANSWER_TOKENS.min(model.context_tokens() / 4);
            match self.ask_once(call, model, &mut question).await? {
                AfterAnswer::SendBack(refused) => conversation.add(refused),
                AfterAnswer::Unparsed(refused) => {
                    if !conversation.add_unparsed(refused) {
                        break;
                    }
                }
                AfterAnswer::TooLong if narrowed.is_some() => break,
                AfterAnswer::TooLong => narrowed = Some(Narrowed::after(&question, model)),
                AfterAnswer::Next(next) => return Ok(next),
            }
        }
        Ok(Next::Provider)
    }

    async fn ask_once(
        &mut self,
        mut call: ProviderCall,
        model: &dyn Model,
        question: &mut Question,
    ) -> Result<AfterAnswer, EffectError> {
        let caller = Caller {
            settings: &self.asker.settings,
            usage: self.ask.usage,
            reader: self.reader,
            fx: self.fx,
        };
        // The second time in a run, the answer that is stored is the first one.
        let is_first = self.asker.visited.lock().await.insert(call.raw.clone());
        let exchange = match caller.obtain(&call, model, question, is_first, self.calls).await? {
            CallOutcome::Exchange(exchange) => *exchange,
            CallOutcome::IterationLimit => return Ok(AfterAnswer::Next(Next::Stop)),
            CallOutcome::SessionLimit(why) => {
                return Ok(AfterAnswer::Next(Next::OutOfBudget(why)));
            }
        };
        let entry = exchange.entry;
        let index = match entry {
            Entry::New => Some(self.calls.len()),
            Entry::At(index) => Some(index),
            Entry::Counted => None,
        };
        let assessment = self.evaluate(exchange, &mut call, model).await?;
        let after = self.note_reading(assessment, &mut call, model, index);
        call.reason = caller.stored_reason(&call.reason);
        match entry {
            Entry::New => self.calls.push(call.clone()),
            Entry::At(index) => self.calls[index] = call.clone(),
            Entry::Counted => return Ok(after),
        }
        self.report(call);
        Ok(after)
    }

    async fn question(
        &self,
        call: &ProviderCall,
        model: &dyn Model,
        conversation: &Conversation,
    ) -> Result<Question, EffectError> {
        let settings = &self.asker.settings;
        let prompt = self.reader.prompt(model);
        // A prompt takes half of the window and an answer a quarter.
        let quarter = usize::try_from(model.context_tokens() / 4).unwrap_or(usize::MAX);
        let again = conversation.text(&settings.fence, quarter.saturating_mul(BYTES_PER_TOKEN));
        let text = format!("{}{again}", prompt.text);
        Ok(Question {
            id: format!("{}/{}/{}/{}", self.ask.usage.id, call.role, call.slot, call.turn),
            system: settings.redactor.redact(&prompt.system).into(),
            // Source files may contain secrets, which must not be sent to a provider either.
            prompt: settings.redactor.redact(&text).into(),
            form: self.reader.form(),
            temperature: None,
            max_output_tokens: ANSWER_TOKENS,
            limit: settings.limit,
            left: SpendingLimits::default(),
            checkout: self.reader.checkout(model).await?,
            meter: UsageMeter::default(),
        })
    }

    /// Has the reader assess a result; records its cost in `call` and in the circuit breaker.
    async fn evaluate(
        &self,
        exchange: Exchange,
        call: &mut ProviderCall,
        model: &dyn Model,
    ) -> Result<Assessment<T>, EffectError> {
        let Exchange { result, cost, .. } = exchange;
        let name = model.name();
        cost.note(call);
        let answer = match result {
            Err(error) => {
                let (trigger, outage) = trigger_of(&error.kind);
                let mut outages = self.asker.settings.outages.lock().await;
                let (why, now) = (error.kind.to_string(), self.fx.clock.elapsed());
                outages.breaker.failed(name, &why, outage, now);
                let reading = Reading::Useless(trigger, reason_of(&error));
                let is_too_long = error.kind == ModelErrorKind::TooLong;
                return Ok(Assessment { reading, text: None, is_too_long });
            }
            Ok(answer) => answer,
        };
        self.asker.settings.outages.lock().await.breaker.answered(name);
        note_model(&answer, call);
        let reading = self.reader.read(model, &answer).await?;
        let text = match reading {
            Reading::SendBack(_) => self.reader.refused_text(model, &answer).await?,
            Reading::Good(..) | Reading::Weak(..) | Reading::Useless(..) => answer.text,
        };
        Ok(Assessment { reading, text: Some(text), is_too_long: false })
    }

    /// Records an assessment in the call and among the answers. `index` is the position of the call
    /// in the list of calls.
    fn note_reading(
        &mut self,
        assessment: Assessment<T>,
        call: &mut ProviderCall,
        model: &dyn Model,
        index: Option<usize>,
    ) -> AfterAnswer {
        let Assessment { reading, text, is_too_long } = assessment;
        let provider = call.provider.clone();
        let answered = |value, confidence| (Answered { value, provider, confidence }, index);
        let answers_in_text = model.mode() == ClientMode::Answer;
        let refused =
            |problems| RefusedAnswer { answer: text.clone().unwrap_or_default(), problems };
        let mut next = Next::Provider;
        match reading {
            Reading::Good(value, confidence) => {
                call.confidence = confidence;
                let least = self.asker.settings.rules.careful_confidence;
                let unsure = confidence.filter(|sure| self.ask.careful && *sure < least);
                match unsure {
                    Some(sure) => {
                        call.reason = format!(
                            "confidence {sure:.2} is below {least:.2}; the next one is asked too"
                        );
                    }
                    None => next = Next::Stop,
                }
                self.answers.good.push(answered(value, confidence));
            }
            Reading::Weak(value, confidence, trigger, why) => {
                call.confidence = Some(confidence);
                call.trigger = Some(trigger);
                call.reason = why;
                self.answers.weak.push(answered(value, Some(confidence)));
            }
            Reading::Useless(trigger, why) => {
                call.trigger = Some(trigger);
                call.reason.clone_from(&why);
                if is_too_long && answers_in_text {
                    return AfterAnswer::TooLong;
                }
                if trigger == FallbackTrigger::Unparseable && answers_in_text && text.is_some() {
                    return AfterAnswer::Unparsed(refused(vec![why]));
                }
            }
            Reading::SendBack(problems) => {
                call.trigger = Some(FallbackTrigger::Vetoed);
                call.reason = problems.join("; ");
                return AfterAnswer::SendBack(refused(problems));
            }
        }
        AfterAnswer::Next(next)
    }

    /// Reports a call, which is in the list, to the screen, with the session's spending so far.
    fn report(&self, call: ProviderCall) {
        let mut spent = self.ask.usage.session;
        spent.join(spent_by(&*self.calls));
        let iteration = self.ask.usage.iteration;
        self.fx.screen.show(&Event::Asked { iteration, call, spent });
    }
}

/// Usable answers, each with the index of its call.
struct Answers<T> {
    good: Vec<(Answered<T>, Option<usize>)>,
    weak: Vec<(Answered<T>, Option<usize>)>,
}

impl<T> Default for Answers<T> {
    fn default() -> Self {
        Self { good: Vec::new(), weak: Vec::new() }
    }
}

impl<T> Answers<T> {
    /// The most confident good answer, or else the most confident weak one; marks its call as used.
    /// An answer that states no confidence ranks as one that is just sure enough.
    fn best(self, sure_enough: f64, calls: &mut [ProviderCall]) -> Reply<T> {
        let is_degraded = self.good.is_empty();
        let mut list = if is_degraded { self.weak } else { self.good };
        let confidence = |(answer, _): &(Answered<T>, _)| answer.confidence.unwrap_or(sure_enough);
        let confidences: Vec<f64> = list.iter().map(confidence).collect();
        let Some(best) = chain::surest(&confidences) else { return Reply::NoAnswer };
        let (answer, index) = list.swap_remove(best);
        if let Some(call) = index.and_then(|index| calls.get_mut(index)) {
            call.used = true;
        }
        if is_degraded { Reply::Degraded(answer) } else { Reply::Good(answer) }
    }
}
