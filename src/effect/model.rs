//! The `Model` trait: one question to a language model, over HTTP or through a command-line client.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::budget::{Price, SpendingLimits, Usage};
use crate::domain::provider::ClientMode;
use crate::domain::text::span;

#[async_trait]
pub trait Model: Send + Sync {
    /// The facts that are known before any question.
    fn facts(&self) -> &ModelFacts;

    /// The name in the configuration, such as `gemini`.
    fn name(&self) -> &str {
        &self.facts().name
    }

    /// The model it asks for, such as `gemini-3.8-flash`; empty when the client decides.
    fn model(&self) -> &str {
        &self.facts().model
    }

    /// Whether it answers with text or edits a checkout itself.
    fn mode(&self) -> ClientMode {
        self.facts().mode
    }

    /// Context window: maximum number of tokens of question and answer together.
    fn context_tokens(&self) -> u32 {
        self.facts().context
    }

    /// What a request costs in millionths of a dollar; `None` without a price.
    fn price(&self, usage: Usage) -> Option<u64> {
        self.facts().price.as_ref().map(|price| price.of(usage))
    }

    /// Asks once, with one request; every retry is for the chain to decide, which counts them.
    /// After [`ModelErrorKind::Unsupported`] the same question goes out in a simpler form.
    async fn ask(&self, question: &Question) -> Result<Answer, ModelError>;
}

/// The facts that are known about a source of answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFacts {
    /// The name in the configuration.
    pub name: String,
    /// The model to ask for; empty when the client decides.
    pub model: String,
    pub mode: ClientMode,
    /// Context window: maximum number of tokens of question and answer together.
    pub context: u32,
    pub price: Option<Price>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Id in recordings: session, iteration, role, slot and turn.
    pub id: String,
    /// Instructions about the work and about foreign text.
    pub system: String,
    pub prompt: String,
    /// Name and JSON Schema of the answer; used if the protocol supports it.
    pub form: Option<(&'static str, Value)>,
    /// Sampling temperature from 0 to 2; `None` for the model's default.
    pub temperature: Option<f32>,
    /// The longest answer, in tokens.
    pub max_output_tokens: u32,
    /// Time limit of the call (trigger T7, 5 minutes by default).
    pub limit: Duration,
    /// What the budget has left, for a client that sends several requests by itself.
    pub left: SpendingLimits,
    /// A checkout that an agent edits; `None` for models that answer with text.
    pub checkout: Option<PathBuf>,
    /// Where a client that sends several requests reports what they have used so far.
    pub meter: UsageMeter,
}

/// Receives what a question has used so far, as long as it is not answered.
#[derive(Clone, Debug, Default)]
pub struct UsageMeter(Option<UnboundedSender<Usage>>);

impl UsageMeter {
    /// A meter, and what it is given.
    pub fn channel() -> (Self, UnboundedReceiver<Usage>) {
        let (sender, receiver) = mpsc::unbounded();
        (Self(Some(sender)), receiver)
    }

    /// Reports the sum of all requests so far.
    pub fn report(&self, usage: Usage) {
        if let Some(sender) = &self.0 {
            // Nobody listens once the question was answered.
            drop(sender.unbounded_send(usage));
        }
    }
}

/// It is no part of what is asked.
impl PartialEq for UsageMeter {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Question {
    /// Bytes of what is sent: instructions, prompt, and the JSON Schema of the answer.
    pub fn bytes(&self) -> usize {
        let form = self.form.as_ref().map_or(0, |(_, schema)| schema.to_string().len());
        self.system.len() + self.prompt.len() + form
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The text, at most [`ANSWER_LIMIT`] bytes.
    pub text: String,
    pub finish: Finish,
    /// The tokens of the answer, as the provider counts them.
    pub usage: Usage,
    /// The model that answered, as it calls itself.
    pub model: String,
    /// The whole exchange as received, for the records; truncated and without secrets.
    pub raw: String,
}

/// Maximum size of an answer, in bytes; a larger one is rejected as [`ModelErrorKind::Garbage`].
pub const ANSWER_LIMIT: usize = 4 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    Done,
    /// The maximum length was reached.
    Cut,
}

/// Why a model gave no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{provider}: {kind}{}", detail(.message))]
pub struct ModelError {
    pub provider: Box<str>,
    pub kind: ModelErrorKind,
    /// The provider's own words for people, truncated and without secrets.
    pub message: Box<str>,
    /// What arrived before the failure, for the records; truncated and without secrets.
    pub raw: Box<str>,
    /// The tokens that the provider reports for the failed answer, which it may charge.
    pub usage: Box<Usage>,
}

impl ModelError {
    /// An error of which nothing is known besides its kind and the provider's words.
    pub fn new(provider: &str, kind: ModelErrorKind, message: String) -> Self {
        let (provider, usage) = (provider.into(), Box::default());
        Self { provider, kind, message: message.into(), raw: Box::default(), usage }
    }

    /// The error in one line, without the name of the provider.
    pub fn without_name(&self) -> String {
        format!("{}{}", self.kind, detail(&self.message))
    }
}

fn detail(message: &str) -> String {
    let line = message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let short: String = line.chars().take(200).collect();
    if short.is_empty() { String::new() } else { format!(": {short}") }
}

/// Kinds of failures, distinguished by what can be done about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// 401, 403, or a client that is not logged in.
    #[error("the key was refused")]
    Unauthorised,
    /// 429 that ends after a wait (trigger T5).
    #[error("rate limited{}", wait(.retry_after.as_ref()))]
    RateLimited {
        /// The wait that the provider requests in `Retry-After` or its reset headers.
        #[serde(rename = "retry_after_ms", with = "millis")]
        retry_after: Option<Duration>,
    },
    /// 429 or 402 that waiting does not resolve: no credit or no quota.
    #[error("the account has no quota left")]
    OutOfQuota,
    /// 5xx, 529, or an error object in a successful response (trigger T6).
    #[error("the server {}", server_failure(*.status))]
    Server { status: u16 },
    /// 404: no such model or address (trigger T6).
    #[error("no such model or address")]
    NotFound,
    /// 410: the model or the service was retired (trigger T6).
    #[error("the model or the service was retired")]
    Gone,
    /// 400 and other rejections of the request itself.
    #[error("the request was refused with {status}")]
    BadRequest { status: u16 },
    /// The server does not know an optional part of the request, which is left out from now on.
    #[error("the server does not know `{parameter}`")]
    Unsupported { parameter: String },
    #[error("the question is too long for the model")]
    TooLong,
    /// The model declined to answer, or a content filter stopped it.
    #[error("the model declined ({reason})")]
    Refused { reason: String },
    /// No complete answer within the time limit (trigger T7).
    #[error("no complete answer within {limit:?}")]
    TimedOut {
        #[serde(rename = "limit_ms", with = "millis")]
        limit: Duration,
    },
    /// No connection, or it was interrupted (trigger T8).
    #[error("the connection failed")]
    Connection,
    /// The answer reached the output limit: that of a client, or twice the usual length.
    #[error("the answer was cut off at the output limit")]
    Truncated,
    /// A client used up what the budget had left for the question.
    #[error("the budget of the question was used up")]
    OverBudget,
    /// A complete response without a text.
    #[error("the answer is empty")]
    Empty,
    /// The answer violates the protocol, or is larger than [`ANSWER_LIMIT`].
    #[error("the answer is not in the form of its protocol")]
    Garbage,
    /// The client program is missing, too old, or ended without an answer.
    #[error("the client failed ({reason})")]
    Client {
        /// Exit code, version, or what is missing.
        reason: String,
    },
    #[error("the recording differs: {difference}")]
    Replay { difference: String },
}

fn server_failure(status: u16) -> String {
    if status < 400 { "reported an error".to_owned() } else { format!("failed with {status}") }
}

fn wait(retry_after: Option<&Duration>) -> String {
    retry_after.map_or_else(String::new, |time| format!(", to be asked again in {}", span(*time)))
}

impl ModelErrorKind {
    /// The name of the kind in tables and records.
    pub fn word(&self) -> &'static str {
        self.word_and_hint().0
    }

    /// What the reader can do next, in one imperative clause.
    pub fn hint(&self) -> &'static str {
        self.word_and_hint().1
    }

    fn word_and_hint(&self) -> (&'static str, &'static str) {
        let again = "run again later, or add another provider";
        let address = "check `protocol` and `base-url` of the provider";
        match self {
            Self::Unauthorised => ("unauthorised", "check the key and what it may do"),
            Self::RateLimited { .. } => ("rate-limited", "wait, or put another provider before it"),
            Self::OutOfQuota => ("out-of-quota", "check the plan and the balance of the account"),
            Self::Server { .. } => ("server", again),
            Self::NotFound => ("not-found", "check `model` and `base-url` of the provider"),
            Self::Gone => ("gone", "choose another `model` or provider"),
            Self::Unsupported { .. } => ("unsupported", address),
            Self::BadRequest { .. } => ("bad-request", address),
            Self::TooLong => {
                ("too-long", "lower `context` of the provider, or choose a larger model")
            }
            Self::Refused { .. } => {
                ("refused", "look at the recorded answer, or add another provider")
            }
            Self::TimedOut { .. } => ("timed-out", "raise `timeout` of the provider"),
            Self::Connection => ("connection", again),
            Self::Truncated => (
                "truncated",
                "choose a model with longer answers, or put another provider before it",
            ),
            Self::OverBudget => (
                "over-budget",
                "raise `budget`, or put a provider that answers with text before it",
            ),
            Self::Empty => ("empty", "look at the recorded answer, or choose another model"),
            Self::Garbage => ("garbage", address),
            Self::Client { .. } => {
                ("client", "install or update the client, or remove it from `providers`")
            }
            Self::Replay { .. } => {
                ("replay", "replay with the same regreen and the same repository")
            }
        }
    }
}

/// Serialises a duration, which may be optional, as whole milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T, S>(time: &T, to: S) -> Result<S::Ok, S::Error>
    where
        T: Copy + Into<Option<Duration>>,
        S: Serializer,
    {
        let time: Option<Duration> = (*time).into();
        time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)).serialize(to)
    }

    pub fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
    where
        T: From<Duration> + Default,
        D: Deserializer<'de>,
    {
        let time = Option::<u64>::deserialize(from)?.map(Duration::from_millis);
        Ok(time.map_or_else(T::default, T::from))
    }
}
