//! Models that are asked over HTTP with one of the supported protocols.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::adapter::host::http::{Http, HttpError};
use crate::domain::provider::Protocol;
use crate::effect::{
    ANSWER_LIMIT, Answer, Model, ModelError, ModelErrorKind, ModelFacts, Question,
};

use super::protocol::{ProtocolRow, ProviderSettings, RequestFeatures};
use super::status;

/// A model that is asked over HTTP.
pub struct HttpModel {
    settings: ProviderSettings,
    protocol: ProtocolRow,
    http: Http,
}

impl HttpModel {
    /// A model that answers over HTTP.
    #[must_use]
    pub fn new(settings: ProviderSettings, protocol: Protocol, http: Http) -> Self {
        Self { settings, protocol: ProtocolRow::of(protocol), http }
    }

    async fn ask_once(
        &self,
        question: &Question,
        features: RequestFeatures,
    ) -> Result<Answer, ModelError> {
        let (path, mut headers, body) = self.protocol.request(&self.settings, question, features);
        let base = self.settings.base_url.as_deref().unwrap_or(self.protocol.base_url);
        let url = format!("{}{}", base.trim_end_matches('/'), path);
        headers.extend(self.settings.headers.iter().cloned());
        let limit = question.limit.min(self.settings.timeout);
        let received = self
            .http
            .post(&url, &headers, &body, limit, ANSWER_LIMIT)
            .await
            .map_err(|error| self.settings.error(kind_of(&error, limit), &error.to_string()))?;
        let text = String::from_utf8_lossy(&received.body);
        if !(200..300).contains(&received.status) {
            return Err(self.settings.error(status::kind(&received, &text), &message_in(&text)));
        }
        // `serde_json` limits the depth of nesting.
        let body: Value = serde_json::from_str(&text)
            .map_err(|_error| self.settings.error(ModelErrorKind::Garbage, &text))?;
        let parsed =
            (self.protocol.parse)(&body).map_err(|kind| self.settings.error(kind, &text))?;
        if parsed.text.len() > ANSWER_LIMIT {
            return Err(self.settings.error(ModelErrorKind::Garbage, "the answer is too large"));
        }
        // Serialised again, so that JSON escapes cannot hide a key from the redactor.
        self.settings.answer(parsed, &body.to_string())
    }
}

#[async_trait]
impl Model for HttpModel {
    fn facts(&self) -> &ModelFacts {
        &self.settings.facts
    }

    async fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        let mut features = RequestFeatures {
            form: question.form.is_some(),
            temperature: question.temperature.is_some(),
            max_tokens: true,
        };
        let question = self.settings.with_canary(question);
        loop {
            let error = match self.ask_once(&question, features).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            // The prompt describes the schema too, so an answer without it can still be parsed.
            let is_refused = matches!(error.kind, ModelErrorKind::BadRequest { .. });
            match features.without_refused(&error.message).filter(|_| is_refused) {
                Some(fewer) => features = fewer,
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

/// The message in an error body, else the whole body.
fn message_in(text: &str) -> String {
    let value: Option<Value> = serde_json::from_str(text).ok();
    let message = value.as_ref().and_then(|value| {
        // Gemini answers with an array when a stream was requested.
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error")?;
        let message = error.get("message").or(Some(error))?.as_str()?;
        let code = error.get("code").and_then(Value::as_str).unwrap_or_default();
        Some(format!("{message} {code}").trim().to_owned())
    });
    message.unwrap_or_else(|| text.to_owned())
}
