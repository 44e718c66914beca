//! One question to somebody who can analyse: a model behind a protocol, or a command-line client.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::domain::budget::Usage;
use crate::domain::provider::ClientMode;

/// One source of answers.
#[async_trait]
pub trait Model: Send + Sync {
    /// Its name in the configuration, such as `gemini`.
    fn name(&self) -> &str;

    /// The model it asks for, such as `gemini-2.5-pro`; empty when the client decides.
    fn model(&self) -> &str;

    /// Whether it answers with text or edits a checkout itself.
    fn manner(&self) -> ClientMode;

    /// How many tokens question and answer may have together.
    fn context_tokens(&self) -> u32;

    /// What `usage` costs by this provider's price table, in millionths of a dollar; `None` when
    /// there is no price.
    fn price(&self, usage: Usage) -> Option<u64>;

    /// Asks once. Does not retry: who asks next, and when, is decided by the chain.
    /// What the provider said until it failed is in [`ModelError::said`], bounded and without
    /// secrets.
    async fn ask(&self, question: &Question) -> Result<Answer, ModelError>;
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Names it in records: session, iteration, role, slot and turn.
    pub id: String,
    /// What the model is told about its work and about foreign text.
    pub system: String,
    pub prompt: String,
    /// The form of the answer as a JSON Schema, with its name; used where the protocol has it.
    pub form: Option<(&'static str, Value)>,
    /// From 0 to 2; `None` leaves it to the model.
    pub temperature: Option<f32>,
    /// Longest answer, in tokens.
    pub max_output_tokens: u32,
    /// When to give up (trigger T7, 40 minutes by default).
    pub limit: Duration,
    /// A checkout that an agent edits and an answering client may read.
    pub checkout: Option<PathBuf>,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The text, at most [`ANSWER_LIMIT`] bytes.
    pub text: String,
    pub finish: Finish,
    /// What it took, as the provider counts it.
    pub usage: Usage,
    /// The model that answered, as it calls itself.
    pub model: String,
    /// The whole exchange as received, for the records; bounded, without secrets.
    pub raw: String,
}

/// Longest answer that is read, in bytes. More is garbage.
pub const ANSWER_LIMIT: usize = 4 << 20;

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    Done,
    /// At the longest answer allowed.
    Cut,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{provider}: {kind}{}", detail(.said))]
pub struct ModelError {
    pub provider: String,
    pub kind: ModelErrorKind,
    /// What the provider said, bounded, without secrets.
    pub said: String,
}

fn detail(said: &str) -> String {
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let short: String = line.chars().take(200).collect();
    if short.is_empty() { String::new() } else { format!(": {short}") }
}

/// What went wrong, by what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelErrorKind {
    /// 401, 403, or a client that is not logged in.
    #[error("the key was refused")]
    Unauthorised,
    /// 429 that passes with time (trigger T5).
    #[error("rate limited{}", wait(.retry_after.as_ref()))]
    RateLimited {
        /// As the provider asks, from `Retry-After` or its reset headers.
        retry_after: Option<Duration>,
    },
    /// 429 or 402 that time does not heal: no money, no quota.
    #[error("the account has no quota left")]
    OutOfQuota,
    /// 5xx and 529 (trigger T6).
    #[error("the server failed with {status}")]
    Server { status: u16 },
    /// 404: no such model or address (trigger T6).
    #[error("no such model or address")]
    NotFound,
    /// 400 and other refusals of the request itself.
    #[error("the request was refused with {status}")]
    BadRequest { status: u16 },
    /// Question and answer do not fit the model.
    #[error("the question is too long for the model")]
    TooLong,
    /// The model declined, or a filter stopped it.
    #[error("the model declined ({reason})")]
    Refused { reason: String },
    /// Longer than the limit (trigger T7).
    #[error("no answer within {limit:?}")]
    TimedOut { limit: Duration },
    /// No connection, or it broke (trigger T8).
    #[error("the connection failed")]
    Connection,
    /// The answer ended in the middle.
    #[error("the answer ended in the middle")]
    Truncated,
    /// Not what the protocol says, or larger than [`ANSWER_LIMIT`].
    #[error("the answer is not in the form of its protocol")]
    Garbage,
    /// The client program is missing, too old, or ended without an answer.
    #[error("the client failed ({reason})")]
    Client {
        /// Exit code, version, or what is missing.
        reason: String,
    },
    /// A replayed session asked something that was not recorded.
    #[error("the recording differs: {difference}")]
    Replay { difference: String },
}

fn wait(retry_after: Option<&Duration>) -> String {
    retry_after.map_or_else(String::new, |time| format!(", to be asked again in {time:?}"))
}

impl ModelErrorKind {
    /// One word for tables and records.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unauthorised => "unauthorised",
            Self::RateLimited { .. } => "rate-limited",
            Self::OutOfQuota => "out-of-quota",
            Self::Server { .. } => "server",
            Self::NotFound => "not-found",
            Self::BadRequest { .. } => "bad-request",
            Self::TooLong => "too-long",
            Self::Refused { .. } => "refused",
            Self::TimedOut { .. } => "timed-out",
            Self::Connection => "connection",
            Self::Truncated => "truncated",
            Self::Garbage => "garbage",
            Self::Client { .. } => "client",
            Self::Replay { .. } => "replay",
        }
    }

    /// What the reader can do next, in one imperative clause.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unauthorised => "check the key and what it may do",
            Self::RateLimited { .. } => "wait, or put another provider before it",
            Self::OutOfQuota => "check the plan and the balance of the account",
            Self::Server { .. } | Self::Connection | Self::Truncated => {
                "run again later, or add another provider"
            }
            Self::NotFound => "check `model` and `base-url` of the provider",
            Self::BadRequest { .. } | Self::Garbage => {
                "check `protocol` and `base-url` of the provider"
            }
            Self::TooLong => "raise `context` of the provider, or choose a larger model",
            Self::Refused { .. } => "look at the recorded answer, or add another provider",
            Self::TimedOut { .. } => "raise `timeout` of the provider",
            Self::Client { .. } => "install or update the client, or remove it from `engine`",
            Self::Replay { .. } => "replay with the same regreen and the same repository",
        }
    }
}
