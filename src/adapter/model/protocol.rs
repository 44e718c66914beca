//! What all protocols share: the shape of a protocol, its requests and answers, and how JSON is read.

use std::time::Duration;

use serde_json::Value;

use crate::domain::budget::Usage;
use crate::domain::secret::{Redactor, SecretKey};
use crate::effect::{Answer, Finish, ModelError, ModelErrorKind, ModelFacts, Question};

/// How a protocol writes questions and parses answers.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolRow {
    /// The address where its vendor serves it.
    pub base_url: &'static str,
    /// Path, headers and body of the request for a question.
    pub request: fn(&ProviderSettings, &Question, RequestFeatures) -> ProtocolRequest,
    /// Parses the body of a successful response.
    pub parse: fn(&Value) -> Result<ParsedAnswer, ModelErrorKind>,
}

/// The optional parts of a request. A server that refuses one is asked again without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestFeatures {
    /// The JSON Schema of the answer.
    pub form: bool,
    pub temperature: bool,
    /// Whether the limit of the answer is called `max_tokens`, its older name in chat completions.
    pub max_tokens: bool,
}

impl RequestFeatures {
    /// The same without the part that a refusal names; `None` when it names none.
    pub fn without_refused(self, message: &str) -> Option<Self> {
        let message = message.to_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| message.contains(word));
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

/// The names that servers have for the schema of an answer.
const FORM: &[&str] = &[
    "response_format",
    "json_schema",
    "text.format",
    "responsejsonschema",
    "response_schema",
    "tool_choice",
];

/// A request in the form of a protocol.
#[derive(Clone, Debug)]
pub struct ProtocolRequest {
    /// The path after the base address.
    pub path: String,
    /// Headers, with the key in the one that the protocol uses.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

/// What the body of a response holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedAnswer {
    pub text: String,
    /// Whether it was cut at the longest answer allowed.
    pub cut: bool,
    pub usage: Usage,
    /// The model, as it calls itself.
    pub model: String,
}

/// The settings of one provider.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    pub facts: ModelFacts,
    pub key: Option<SecretKey>,
    /// The address, if it is not the one of the vendor.
    pub base_url: Option<String>,
    /// Headers besides the protocol's own.
    pub headers: Vec<(String, String)>,
    /// Limit of one call, besides the question's own.
    pub timeout: Duration,
    /// Removes keys from everything that is stored.
    pub redactor: Redactor,
}

/// Bytes of an exchange that are stored at most.
const RAW: usize = 256 << 10;

/// Characters of an error message that are stored at most.
const MESSAGE: usize = 2 << 10;

impl ProviderSettings {
    /// An error with what the provider said, bounded and without secrets.
    pub fn error(&self, kind: ModelErrorKind, message: &str) -> ModelError {
        let plain: String =
            message.chars().filter(|c| !c.is_control() || *c == '\n').take(MESSAGE).collect();
        let provider = self.facts.name.clone();
        ModelError { provider, kind, message: self.redactor.redact(&plain) }
    }

    /// An answer with the exchange it was read from.
    pub fn answer(&self, parsed: ParsedAnswer, raw: &str) -> Answer {
        let raw: String = raw.chars().take(RAW).collect();
        Answer {
            text: parsed.text,
            finish: if parsed.cut { Finish::Cut } else { Finish::Done },
            usage: parsed.usage,
            model: parsed.model,
            raw: self.redactor.redact(&raw),
        }
    }
}

/// The text at a JSON pointer; empty when there is none.
pub fn text_at<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// The count at a JSON pointer; 0 when there is none.
pub fn count_at(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}
