//! Models that are asked over HTTP with one of the supported protocols.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::adapter::host::http::{Http, HttpError};
use crate::domain::budget::Usage;
use crate::domain::provider::Protocol;
use crate::effect::{
    ANSWER_LIMIT, Answer, Model, ModelError, ModelErrorKind, ModelFacts, Question,
};

use super::protocol::{ParsedAnswer, ProtocolRow, ProviderSettings, RequestFeatures};
use super::status::{self, ErrorBody};

/// A model that is asked over HTTP.
pub struct HttpModel {
    settings: ProviderSettings,
    protocol: ProtocolRow,
    http: Http,
    /// What the server is known to accept.
    features: Mutex<RequestFeatures>,
}

impl HttpModel {
    /// A model that answers over HTTP.
    #[must_use]
    pub fn new(settings: ProviderSettings, protocol: Protocol, http: Http) -> Self {
        let features = Mutex::new(RequestFeatures::of(&settings.facts.model));
        Self { settings, protocol: ProtocolRow::of(protocol), http, features }
    }

    async fn send(
        &self,
        question: &Question,
        features: RequestFeatures,
    ) -> Result<Answer, ModelError> {
        let marked = self.settings.with_canary(question);
        let (path, headers, body) = self.protocol.request(&self.settings, &marked, features);
        let url = self.protocol.url(&self.settings, &path);
        let limit = question.limit.min(self.settings.timeout);
        let received =
            self.http.post(&url, &headers, &body, limit, ANSWER_LIMIT).await.map_err(|error| {
                let usage = usage_before(&error, question);
                let kind = error_kind(&error, limit);
                ModelError {
                    usage: Box::new(usage),
                    ..self.settings.error(kind, &error.to_string())
                }
            })?;
        let text = String::from_utf8_lossy(&received.body);
        // `serde_json` limits the depth of nesting.
        let body: Option<Value> = serde_json::from_str(&text).ok();
        let reported =
            body.as_ref().map_or_else(Usage::default, |body| self.protocol.usage_in(body));
        let error = ErrorBody::of(&received, body.as_ref(), &text);
        // An error object comes first: gateways send it with a status of success too.
        if let Some(error) = error {
            let kind = status::kind(&received, &error);
            return Err(self.settings.error_in((kind, &error.message), &text, reported));
        }
        // What the model has answered is paid for, whether or not the server counts it.
        let usage = match reported.tokens() {
            0 => estimate(question, text.len()),
            _ => reported,
        };
        let failed = |kind, message: &str| self.settings.error_in((kind, message), &text, usage);
        let Some(body) = body else {
            let empty = text.trim().is_empty();
            let kind = if empty { ModelErrorKind::Empty } else { ModelErrorKind::Garbage };
            return Err(failed(kind, &status::words_of(&text)));
        };
        let parsed = (self.protocol.parse)(&body).map_err(|kind| failed(kind, ""))?;
        if parsed.text.trim().is_empty() && !parsed.cut {
            return Err(failed(ModelErrorKind::Empty, ""));
        }
        if parsed.text.len() > ANSWER_LIMIT {
            return Err(failed(ModelErrorKind::Garbage, "the answer is too large"));
        }
        // Serialised again, so that JSON escapes cannot hide a key from the redactor.
        self.settings.answer(ParsedAnswer { usage, ..parsed }, &body.to_string())
    }
}

/// Time limit for the list of a provider's models.
const LIST: Duration = Duration::from_secs(10);

impl HttpModel {
    /// The names of the models that the provider offers.
    pub async fn list_models(&self) -> Result<Vec<String>, ModelError> {
        let url = self.protocol.url(&self.settings, self.protocol.models);
        let headers = self.protocol.headers(&self.settings);
        let received =
            self.http.exchange(&url, &headers, None, LIST, ANSWER_LIMIT).await.map_err(
                |error| self.settings.error(error_kind(&error, LIST), &error.to_string()),
            )?;
        let text = String::from_utf8_lossy(&received.body);
        let body: Option<Value> = serde_json::from_str(&text).ok();
        if let Some(error) = ErrorBody::of(&received, body.as_ref(), &text) {
            return Err(self.settings.error(status::kind(&received, &error), &error.message));
        }
        let list = body.as_ref().and_then(|body| body.get("data").or(body.get("models")));
        let Some(list) = list.and_then(Value::as_array) else {
            return Err(self.settings.error(ModelErrorKind::Garbage, &status::words_of(&text)));
        };
        let name = |one: &Value| one.get("id").or(one.get("name"))?.as_str().map(str::to_owned);
        let names = list.iter().filter_map(name);
        Ok(names.map(|name| name.trim_start_matches("models/").to_owned()).collect())
    }
}

#[async_trait]
impl Model for HttpModel {
    fn facts(&self) -> &ModelFacts {
        &self.settings.facts
    }

    async fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        let features = *self.features.lock().unwrap_or_else(PoisonError::into_inner);
        let error = match self.send(question, features).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        // The prompt describes the schema too, so an answer without it can still be parsed.
        let is_refused = matches!(error.kind, ModelErrorKind::BadRequest { .. });
        match features.without_refused(&error.message).filter(|_| is_refused) {
            Some((fewer, parameter)) => {
                *self.features.lock().unwrap_or_else(PoisonError::into_inner) = fewer;
                let kind = ModelErrorKind::Unsupported { parameter: parameter.to_owned() };
                Err(ModelError { kind, ..error })
            }
            None => Err(error),
        }
    }
}

/// The tokens of a question and of an answer of so many bytes, which the question limits.
fn estimate(question: &Question, answer: usize) -> Usage {
    let usage = Usage::estimate(question.bytes(), answer);
    Usage { output_tokens: usage.output_tokens.min(question.max_output_tokens.into()), ..usage }
}

/// The tokens of a request without a complete response, for the model may have worked on it.
fn usage_before(error: &HttpError, question: &Question) -> Usage {
    match error {
        HttpError::Truncated | HttpError::TimedOut => estimate(question, 0),
        HttpError::TooLarge(most) => estimate(question, *most),
        HttpError::Connection(_) | HttpError::Request(_) => Usage::default(),
    }
}

/// The kind of a request without a complete response.
pub fn error_kind(error: &HttpError, limit: Duration) -> ModelErrorKind {
    match error {
        HttpError::Connection(_) | HttpError::Truncated => ModelErrorKind::Connection,
        HttpError::TimedOut => ModelErrorKind::TimedOut { limit },
        HttpError::TooLarge(_) => ModelErrorKind::Garbage,
        HttpError::Request(_) => ModelErrorKind::BadRequest { status: 0 },
    }
}
