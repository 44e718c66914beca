//! A model behind a protocol.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::adapter::host::http::{Http, HttpError};
use crate::domain::budget::{Price, Usage};
use crate::domain::provider::{ClientMode, Protocol};
use crate::domain::secret::{Redactor, SecretKey};
use crate::effect::{ANSWER_LIMIT, Answer, Finish, Model, ModelError, ModelErrorKind, Question};

use super::{anthropic, chat, gemini, responses, status};

/// How a protocol writes questions and reads answers.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolRow {
    /// Where its makers serve it.
    pub base_url: &'static str,
    /// Path, headers and body of a question.
    pub request: fn(&ProviderSettings, &Question, RequestFeatures) -> Request,
    /// The answer in a body that came with success.
    pub read: fn(&Value) -> Result<Told, ModelErrorKind>,
}

impl ProtocolRow {
    /// The row of a protocol.
    pub const fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Gemini => Self {
                base_url: "https://generativelanguage.googleapis.com",
                request: gemini::request,
                read: gemini::read,
            },
            Protocol::Chat => Self {
                base_url: "https://api.openai.com/v1",
                request: chat::request,
                read: chat::read,
            },
            Protocol::Responses => Self {
                base_url: "https://api.openai.com/v1",
                request: responses::request,
                read: responses::read,
            },
            Protocol::Anthropic => Self {
                base_url: "https://api.anthropic.com",
                request: anthropic::request,
                read: anthropic::read,
            },
        }
    }
}

/// What a server is asked for; servers that refuse a part are asked again without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestFeatures {
    /// The form of the answer.
    pub form: bool,
    /// The temperature.
    pub temperature: bool,
    /// The older name of the longest answer, in chat completions.
    pub max_tokens: bool,
}

impl RequestFeatures {
    /// The same without what a refusal names; `None` when it names nothing of it.
    fn without(self, said: &str) -> Option<Self> {
        let said = said.to_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| said.contains(word));
        if self.max_tokens && names(&["max_completion_tokens"]) {
            return Some(Self { max_tokens: false, ..self });
        }
        if self.temperature && names(&["temperature"]) {
            return Some(Self { temperature: false, ..self });
        }
        if self.form && names(FORM) {
            return Some(Self { form: false, ..self });
        }
        None
    }
}

/// How servers call the form of an answer.
const FORM: &[&str] = &[
    "response_format",
    "json_schema",
    "text.format",
    "responsejsonschema",
    "response_schema",
    "tool_choice",
];

/// A request of a protocol.
#[derive(Clone, Debug)]
pub struct Request {
    /// Behind the base address.
    pub path: String,
    /// With the key in the header that the protocol wants.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
}

/// What a body says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// The text.
    pub text: String,
    /// Whether it stopped at the longest answer allowed.
    pub cut: bool,
    /// Tokens.
    pub usage: Usage,
    /// The model, as it calls itself.
    pub model: String,
}

/// One provider.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// Its name in the configuration.
    pub name: String,
    /// The model.
    pub model: String,
    /// The key.
    pub key: Option<SecretKey>,
    /// Where it is, instead of the protocol's own place.
    pub base_url: Option<String>,
    /// Headers besides the protocol's own.
    pub headers: Vec<(String, String)>,
    /// Tokens that question and answer may have together.
    pub context: u32,
    /// What it costs.
    pub price: Option<Price>,
    /// Limit of one call, besides the question's own.
    pub timeout: Duration,
    /// Removes keys from what is kept.
    pub redactor: Redactor,
}

/// Bytes of an exchange that are kept.
const RAW: usize = 256 << 10;

/// Bytes of an error that are kept.
const SAID: usize = 2 << 10;

/// A model behind a protocol.
pub struct HttpModel {
    settings: ProviderSettings,
    protocol: ProtocolRow,
    http: Http,
}

impl HttpModel {
    /// A model that is asked through `http`.
    #[must_use]
    pub fn new(settings: ProviderSettings, protocol: Protocol, http: Http) -> Self {
        Self { settings, protocol: ProtocolRow::of(protocol), http }
    }

    fn error(&self, kind: ModelErrorKind, said: &str) -> ModelError {
        let plain: String =
            said.chars().filter(|c| !c.is_control() || *c == '\n').take(SAID).collect();
        ModelError {
            provider: self.settings.name.clone(),
            kind,
            said: self.settings.redactor.redact(&plain),
        }
    }

    async fn once(
        &self,
        question: &Question,
        manners: RequestFeatures,
    ) -> Result<Answer, ModelError> {
        let request = (self.protocol.request)(&self.settings, question, manners);
        let base = self.settings.base_url.as_deref().unwrap_or(self.protocol.base_url);
        let url = format!("{}{}", base.trim_end_matches('/'), request.path);
        let mut headers = request.headers;
        headers.extend(self.settings.headers.iter().cloned());
        let limit = question.limit.min(self.settings.timeout);
        let received = self
            .http
            .post(&url, &headers, &request.body, limit, ANSWER_LIMIT)
            .await
            .map_err(|error| self.error(kind_of(&error, limit), &error.to_string()))?;
        let text = String::from_utf8_lossy(&received.body);
        if !(200..300).contains(&received.status) {
            return Err(self.error(status::kind(&received, &text), &message_in(&text)));
        }
        // A nest of brackets is refused by the parser's own limit of depth.
        let body: Value = serde_json::from_str(&text)
            .map_err(|_error| self.error(ModelErrorKind::Garbage, &text))?;
        let told = (self.protocol.read)(&body).map_err(|kind| self.error(kind, &text))?;
        if told.text.len() > ANSWER_LIMIT {
            return Err(self.error(ModelErrorKind::Garbage, "the answer is too large"));
        }
        // Written anew, so that no escape hides a key from the redactor.
        let raw: String = body.to_string().chars().take(RAW).collect();
        Ok(Answer {
            text: told.text,
            finish: if told.cut { Finish::Cut } else { Finish::Done },
            usage: told.usage,
            model: told.model,
            raw: self.settings.redactor.redact(&raw),
        })
    }
}

#[async_trait]
impl Model for HttpModel {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn model(&self) -> &str {
        &self.settings.model
    }

    fn manner(&self) -> ClientMode {
        ClientMode::Answer
    }

    fn context_tokens(&self) -> u32 {
        self.settings.context
    }

    fn price(&self, usage: Usage) -> Option<u64> {
        self.settings.price.map(|price| price.of(usage))
    }

    async fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        let mut manners = RequestFeatures {
            form: question.form.is_some(),
            temperature: question.temperature.is_some(),
            max_tokens: true,
        };
        loop {
            let error = match self.once(question, manners).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            // The prompt describes the form too, so an answer without it can still be read.
            let refused = matches!(error.kind, ModelErrorKind::BadRequest { .. });
            match manners.without(&error.said).filter(|_| refused) {
                Some(less) => manners = less,
                None => return Err(error),
            }
        }
    }
}

fn kind_of(error: &HttpError, limit: Duration) -> ModelErrorKind {
    match error {
        HttpError::Connection(_) => ModelErrorKind::Connection,
        HttpError::Truncated => ModelErrorKind::Truncated,
        HttpError::TimedOut => ModelErrorKind::TimedOut { limit },
        HttpError::TooLarge(_) => ModelErrorKind::Garbage,
        HttpError::Request(_) => ModelErrorKind::BadRequest { status: 0 },
    }
}

/// The message inside an error body, else the body.
fn message_in(text: &str) -> String {
    let value: Option<Value> = serde_json::from_str(text).ok();
    let message = value.as_ref().and_then(|value| {
        // Gemini answers an array when it was asked for a stream.
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error")?;
        let message = error.get("message").or(Some(error))?.as_str()?;
        let code = error.get("code").and_then(Value::as_str).unwrap_or_default();
        Some(format!("{message} {code}").trim().to_owned())
    });
    message.unwrap_or_else(|| text.to_owned())
}

/// A text at a path of names; empty when it is not there.
pub fn text_at<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// A count at a path of names; 0 when it is not there.
pub fn count_at(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}

/// A part of a path, with everything but plain characters encoded.
pub fn encoded(part: &str) -> String {
    part.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
