//! Passes the questions of a client on, as far as the budget pays for them, and remembers why the latest
//! was not answered.

use std::future::poll_fn;
use std::pin::Pin;

use hyper::body::{Body as _, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Response, StatusCode};
use serde_json::Value;
use url::Url;

use crate::adapter::host::http::{self, Body, HttpError, Received, classify, collect};

use super::account::Asked;
use super::answers::counted;
use super::requests::without_own;
use super::{Failure, Shared, json_error, lock, rejection};

/// Largest error response that is read, in bytes.
const ERROR_LIMIT: usize = 256 << 10;

/// Largest question that is passed on, in bytes. Providers refuse shorter ones.
const QUESTION_LIMIT: usize = 64 << 20;

/// The questions so far. Of several at the same time, the one that began last decides.
#[derive(Default)]
pub struct Questions {
    begun: u64,
    /// The number of the one whose result is known.
    known: u64,
    pub failure: Option<Failure>,
}

impl Questions {
    pub fn begin(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    pub fn end(&mut self, number: u64, failure: Option<Failure>) {
        if number > self.known {
            (self.known, self.failure) = (number, failure);
        }
    }
}

impl Shared {
    /// Passes a question on if the budget pays for it, with a shorter answer where it must.
    pub(super) async fn ask(&self, body: Incoming, url: Url, headers: HeaderMap) -> Response<Body> {
        let dialect = (self.dialect)(url.path());
        let (length, question) = match self.read(body, &url).await {
            Ok(read) => read,
            Err((status, words)) => return rejection(status, &words),
        };
        let named = question.as_ref().unwrap_or(&Value::Null);
        let asked = Asked {
            bytes: length,
            pictures: dialect.pictures(named),
            cap: dialect.cap(named),
            price: self.prices.of(dialect.model(url.path(), named)),
            cache_share: dialect.cache_share(named),
        };
        let (tab, cap) = match self.ledger.open(asked).await {
            Ok(entry) => entry,
            Err(why) => {
                let error = dialect.over_budget(&format!("regreen: {why}"));
                return json_error(StatusCode::PAYMENT_REQUIRED, &error);
            }
        };
        let number = lock(&self.questions).begin();
        let limited = question.map(|mut question| {
            if self.ledger.is_limited() {
                dialect.set_one_answer(&mut question);
            }
            if let Some(cap) = cap {
                dialect.set_cap(&mut question, cap);
            }
            question
        });
        let with_usage = limited
            .clone()
            .and_then(|mut question| dialect.ask_for_usage(&mut question).then_some(question));
        // What was counted is what is sent: of a name that stands twice, one value would be another.
        let plain = limited.map(|question| question.to_string().into_bytes()).unwrap_or_default();
        let send =
            |body: Vec<u8>| self.send(Method::POST, url.clone(), headers.clone(), body.into());
        let result = match with_usage {
            Some(question) => match send(question.to_string().into_bytes()).await {
                Err(Failure::Status(received)) if refuses_usage(&received) => send(plain).await,
                result => result,
            },
            None => send(plain).await,
        };
        let result = match result {
            Ok(response) => counted(response, tab, dialect).await.map_err(Failure::Transport),
            Err(failure) => {
                let is_unasked = match &failure {
                    Failure::Status(_) => true,
                    Failure::Transport(error) => {
                        matches!(error, HttpError::Connection(_) | HttpError::Request(_))
                    }
                };
                if is_unasked {
                    tab.fail();
                }
                Err(failure)
            }
        };
        lock(&self.questions).end(number, result.as_ref().err().cloned());
        self.answer(result)
    }

    /// Passes a request on for the tokens of a question, which is answered by no model.
    pub(super) async fn count(
        &self,
        body: Incoming,
        url: Url,
        headers: HeaderMap,
    ) -> Response<Body> {
        let question = match self.read(body, &url).await {
            Ok((_, question)) => question,
            Err((status, words)) => return rejection(status, &words),
        };
        // What was looked at is what is sent.
        let body = question.map(|question| question.to_string().into_bytes()).unwrap_or_default();
        let result = self.send(Method::POST, url, headers, body.into()).await;
        self.answer(result.map(Response::from))
    }

    /// The length of a question and what it says; `None` for an empty one. What cannot be read, or
    /// wants more than an answer to its own text, is refused with a status and words.
    async fn read(
        &self,
        body: Incoming,
        url: &Url,
    ) -> Result<(usize, Option<Value>), (StatusCode, String)> {
        let refused = |words: &str| Err((StatusCode::BAD_REQUEST, words.to_owned()));
        let Some(bytes) = whole(body).await else {
            let words = "regreen: the question is not complete, or too large";
            return Err((StatusCode::PAYLOAD_TOO_LARGE, words.to_owned()));
        };
        let question = serde_json::from_slice(&bytes).ok().filter(Value::is_object);
        let Some(question) = question else {
            let is_nothing = bytes.is_empty() && !self.ledger.is_limited();
            return if is_nothing {
                Ok((0, None))
            } else {
                refused("regreen: only a question in plain JSON can be looked at")
            };
        };
        match (self.dialect)(url.path()).beyond_its_text(&question) {
            None => Ok((bytes.len(), Some(question))),
            Some(what) => {
                tracing::warn!(what, "the client asked its provider for more than an answer");
                refused(&format!("regreen: a client may not ask for `{what}`"))
            }
        }
    }

    /// Sends a request to the provider. An error status is a failure.
    pub(super) async fn send(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Body,
    ) -> Result<http::Response, Failure> {
        let request = self.http.client().request(method, url).headers(headers).body(body);
        match request.send().await {
            Ok(response) if response.status().is_success() => Ok(response),
            Ok(response) => Err(match collect(response, ERROR_LIMIT).await {
                Ok(received) => Failure::Status(received),
                Err(error) => Failure::Transport(error),
            }),
            Err(error) => Err(Failure::Transport(classify(&error.without_url()).0)),
        }
    }

    /// What the client gets of a result.
    pub(super) fn answer(&self, result: Result<Response<Body>, Failure>) -> Response<Body> {
        let mut response = match result {
            Ok(response) => response,
            Err(Failure::Status(received)) => self.repeated(received),
            Err(Failure::Transport(error)) => {
                return rejection(StatusCode::BAD_GATEWAY, &error.to_string());
            }
        };
        let headers = std::mem::take(response.headers_mut());
        *response.headers_mut() =
            without_own(&headers).map(|(name, value)| (name.clone(), value.clone())).collect();
        response
    }

    /// An error response of the provider, without the key and secret headers should it repeat those.
    fn repeated(&self, received: Received) -> Response<Body> {
        let hidden = |text| self.rules.without_secrets(text);
        let body = match String::from_utf8(received.body) {
            Ok(text) => Body::from(hidden(text)),
            Err(error) => Body::from(error.into_bytes()),
        };
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(received.status).unwrap_or_default();
        let headers = received.headers.into_iter().filter_map(|(name, value)| {
            Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(hidden(value)).ok()?))
        });
        response.headers_mut().extend(headers);
        response
    }
}

/// Whether a server does not know the request for usage, and says so by name.
fn refuses_usage(received: &Received) -> bool {
    matches!(received.status, 400 | 422)
        && String::from_utf8_lossy(&received.body).contains("stream_options")
}

/// The whole body of a request; `None` if it breaks off or is too large.
pub async fn whole(mut body: Incoming) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        if bytes.len() + data.len() > QUESTION_LIMIT {
            return None;
        }
        bytes.extend_from_slice(&data);
    }
    Some(bytes)
}
