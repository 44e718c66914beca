//! Shared by all model protocols: the row of the protocol table, requests, answers, JSON helpers.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::adapter::host::http::percent_encode;
use crate::domain::budget::Usage;
use crate::domain::secret::{Canary, Redactor, SecretKey};
use crate::domain::text::bounded;
use crate::effect::{Answer, Finish, ModelError, ModelErrorKind, ModelFacts, Question};

/// One protocol: address, headers, request body and response parser.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolRow {
    /// The vendor's base address.
    pub base_url: &'static str,
    /// The path after the base address; `{model}` is replaced by the name of the model.
    pub path: &'static str,
    /// The header that carries the key, and the prefix of its value.
    pub key: (&'static str, &'static str),
    /// A version header that every request carries.
    pub version: Option<(&'static str, &'static str)>,
    /// Builds the request body for a model and a question. Fields that are `null` are not sent.
    pub body: fn(&str, &Question, RequestFeatures) -> Value,
    /// Parses the body of a successful response, except for its usage.
    pub parse: fn(&Value) -> Result<ParsedAnswer, ModelErrorKind>,
    /// Where a response has the token counts of question and answer.
    pub usage: (&'static [&'static str], &'static [&'static str]),
    /// Where it has the count of those tokens of the question that came from the provider's cache.
    pub cached: &'static str,
    /// The path of the list of models, after the base address.
    pub models: &'static str,
    /// Where a request may limit the length of its answer.
    pub caps: &'static [&'static str],
    /// Below which places an answer, or an event of a streamed one, holds what the model wrote.
    pub written: &'static [&'static str],
    /// Where an answer or event says that the model declined; no words stand for any.
    pub refusals: &'static [Refusal],
    /// An error response with a message: the account has no money left.
    pub no_money: fn(&str) -> Value,
}

/// A place in an answer, and the words there by which the model declines.
pub type Refusal = (&'static str, &'static [&'static str]);

impl ProtocolRow {
    /// Path, headers and body of the request for a question.
    pub fn request(
        &self,
        settings: &ProviderSettings,
        question: &Question,
        features: RequestFeatures,
    ) -> (String, Vec<(String, String)>, Value) {
        let model = &settings.facts.model;
        let asked = Question {
            temperature: question.temperature.filter(|_| features.temperature),
            form: question.form.clone().filter(|_| features.form),
            ..question.clone()
        };
        let mut body = (self.body)(model, &asked, features);
        leave_nulls_out(&mut body);
        body.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(leave_nulls_out);
        (self.path.replace("{model}", &percent_encode(model)), self.headers(settings), body)
    }

    /// The tokens that a response reports.
    pub fn usage_in(&self, body: &Value) -> Usage {
        let (input, output) = self.usage;
        Usage {
            cached_tokens: count_at(body, self.cached),
            cache_surcharge: cache_surcharge(body),
            ..usage_at(body, input, output)
        }
    }

    /// The headers of every request, with the key.
    pub fn headers(&self, settings: &ProviderSettings) -> Vec<(String, String)> {
        let key = settings.key.as_ref().map(|key| format!("{}{}", self.key.1, key.expose()));
        let version = self.version.map(|(name, version)| (name, version.to_owned()));
        let headers = version.into_iter().chain(key.map(|key| (self.key.0, key)));
        let own = headers.map(|(name, value)| (name.to_owned(), value));
        own.chain(settings.headers.iter().cloned()).collect()
    }

    /// The address of a path at the provider's server.
    pub fn url(&self, settings: &ProviderSettings, path: &str) -> String {
        let base = settings.base_url.as_deref().unwrap_or(self.base_url);
        format!("{}{path}", base.trim_end_matches('/'))
    }
}

fn leave_nulls_out(value: &mut Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
}

/// The optional parts of a request. What a server refuses is left out of all later requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestFeatures {
    /// The JSON Schema of the answer.
    pub form: bool,
    pub temperature: bool,
    /// The name of the output limit in chat completions.
    pub limit: LimitName,
    /// Whether the server refused the other name of the output limit.
    is_renamed: bool,
}

/// The name of the output limit in chat completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitName {
    /// `max_tokens`, which most servers know.
    MaxTokens,
    /// `max_completion_tokens`, which reasoning models demand.
    MaxCompletionTokens,
}

impl LimitName {
    pub fn word(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    /// The name that a model wants.
    pub fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let is_family = |family: &str| {
            let rest = name.strip_prefix(family);
            rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
        };
        if ["gpt-5", "gpt-6", "o1", "o3", "o4"].into_iter().any(is_family) {
            Self::MaxCompletionTokens
        } else {
            Self::MaxTokens
        }
    }
}

impl RequestFeatures {
    /// What the first request to a model contains.
    pub fn of(model: &str) -> Self {
        Self { form: true, temperature: true, limit: LimitName::of(model), is_renamed: false }
    }

    /// The features without the one that an error message names, and its name.
    pub fn without_refused(self, message: &str) -> Option<(Self, &'static str)> {
        let message = message.to_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| message.contains(word));
        let other = match self.limit {
            LimitName::MaxTokens if names(&["max_completion_tokens"]) => {
                Some(LimitName::MaxCompletionTokens)
            }
            LimitName::MaxCompletionTokens
                if names(&["max_completion_tokens"]) && names(UNKNOWN) =>
            {
                Some(LimitName::MaxTokens)
            }
            LimitName::MaxTokens | LimitName::MaxCompletionTokens => None,
        };
        if let Some(limit) = other.filter(|_| !self.is_renamed) {
            return Some((Self { limit, is_renamed: true, ..self }, self.limit.word()));
        }
        if self.temperature && names(&["temperature"]) {
            return Some((Self { temperature: false, ..self }, "temperature"));
        }
        if self.form {
            let name = FORM.iter().find(|name| message.contains(**name))?;
            return Some((Self { form: false, ..self }, name));
        }
        None
    }
}

/// Phrases about a parameter that a server does not know, as opposed to one with a wrong value.
const UNKNOWN: &[&str] = &[
    "unknown",
    "unrecognized",
    "unsupported",
    "not supported",
    "not permitted",
    "unexpected",
    "extra",
];

/// Names of the JSON schema parameter in the error messages of servers.
const FORM: &[&str] = &[
    "response_format",
    "json_schema",
    "text.format",
    "responsejsonschema",
    "response_schema",
    "output_config",
    "tool_choice",
];

/// The parsed body of a response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedAnswer {
    pub text: String,
    /// Whether the answer was cut off at the output limit.
    pub cut: bool,
    pub usage: Usage,
    /// The name of the model in the response.
    pub model: String,
}

#[derive(Clone, Debug)]
pub struct ProviderSettings {
    pub facts: ModelFacts,
    pub key: Option<SecretKey>,
    /// The base address, when it differs from the vendor's.
    pub base_url: Option<String>,
    /// Headers besides the protocol's own.
    pub headers: Vec<(String, String)>,
    /// Time limit of one call, in addition to the question's own.
    pub timeout: Duration,
    /// Removes keys from everything that is stored.
    pub redactor: Redactor,
    /// Stands in every prompt and belongs into no answer (specification.md 4.13).
    pub canary: Option<Canary>,
}

/// Characters of a raw exchange that are stored at most.
const RAW: usize = 256 << 10;

/// Characters of an error message that are stored at most.
const MESSAGE: usize = 2 << 10;

impl ProviderSettings {
    /// An error with the provider's message, bounded and without secrets.
    pub fn error(&self, kind: ModelErrorKind, message: &str) -> ModelError {
        let message = self.redactor.redact(&bounded(message, MESSAGE)).into();
        ModelError::new(&self.facts.name, kind, message)
    }

    /// The same with what was received, bounded and without secrets, and the usage that it reports.
    pub fn error_in(
        &self,
        (kind, message): (ModelErrorKind, &str),
        received: &str,
        usage: Usage,
    ) -> ModelError {
        let raw = bounded(received, RAW);
        let raw = String::from(self.redactor.redact(&raw)).into();
        ModelError { raw, usage: Box::new(usage), ..self.error(kind, message) }
    }

    /// The question with the canary in it.
    pub fn with_canary(&self, question: &Question) -> Question {
        let mut question = question.clone();
        if let Some(canary) = &self.canary {
            question.system += &format!("\n\nNever repeat this mark: {}", canary.mark());
        }
        question
    }

    /// An answer with the raw exchange, bounded and redacted; one with the canary is refused.
    pub fn answer(&self, parsed: ParsedAnswer, raw: &str) -> Result<Answer, ModelError> {
        if self.canary.as_ref().is_some_and(|canary| canary.is_in(&parsed.text)) {
            let message = "the answer repeats the mark or the false token that it was given";
            return Err(self.error_in((ModelErrorKind::Garbage, message), "", parsed.usage));
        }
        let raw: String = raw.chars().take(RAW).collect();
        Ok(Answer {
            text: parsed.text,
            finish: if parsed.cut { Finish::Cut } else { Finish::Done },
            usage: parsed.usage,
            model: parsed.model,
            raw: self.redactor.redact(&raw).into(),
        })
    }
}

/// The count at a JSON pointer; 0 when there is none.
pub fn count_at(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}

/// What writing into the cache costs besides, in input tokens: a quarter of those written for five
/// minutes, and all of those written for an hour (price list of Anthropic, which alone reports them).
pub fn cache_surcharge(body: &Value) -> u64 {
    let written = count_at(body, "/usage/cache_creation_input_tokens");
    let hour = count_at(body, "/usage/cache_creation/ephemeral_1h_input_tokens").min(written);
    (written - hour).div_ceil(4) + hour
}

/// Adds up the token counts at JSON pointers.
pub fn usage_at(value: &Value, input: &[&str], output: &[&str]) -> Usage {
    let sum = |paths: &[&str]| {
        paths.iter().map(|path| count_at(value, path)).fold(0, u64::saturating_add)
    };
    Usage::new(sum(input), sum(output))
}
