//! The one HTTP client: TLS, proxy, limits. Follows no redirect, so that a key never travels to a
//! host that the settings do not name.

#![expect(clippy::disallowed_methods, reason = "the moment of an answer is part of it")]

use std::error::Error;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
pub use reqwest::{Body, Response};
use url::{Host, Url};

/// A response with its whole body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub status: u16,
    /// Headers with lower-case names; those whose values are not text are left out.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Time of arrival, the reference for dates in headers.
    pub at: jiff::Timestamp,
}

impl Received {
    /// A header by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Why there is no complete response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// No connection, or one that broke before the response began.
    #[error("no connection: {0}")]
    Connection(String),
    #[error("the answer ended in the middle")]
    Truncated,
    #[error("no answer in time")]
    TimedOut,
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    /// The request is invalid, for example its address or a header.
    #[error("the request cannot be made: {0}")]
    Request(String),
}

/// Time limit for connecting.
const CONNECT: Duration = Duration::from_secs(10);

/// Interval of TCP keep-alive probes; gateways of clouds drop a connection that is idle for minutes.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// The HTTP client that all services share.
#[derive(Clone, Debug)]
pub struct Http {
    client: reqwest::Client,
}

impl Http {
    /// A client with the system's proxy settings.
    pub fn new() -> Result<Self, HttpError> {
        // It fails where it is installed already, as by a client before this one.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .user_agent(concat!("regreen/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .tcp_keepalive(KEEP_ALIVE)
            .build()
            .map_err(|error| HttpError::Request(chain(&error)))?;
        Ok(Self { client })
    }

    /// The underlying client, for a library that implements the protocol of one service.
    pub fn client(&self) -> reqwest::Client {
        self.client.clone()
    }

    /// Posts a JSON body; `limit` covers the whole exchange, and an error status is no error.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(String, String)],
        body: &serde_json::Value,
        limit: Duration,
        largest: usize,
    ) -> Result<Received, HttpError> {
        let request = self.client.post(url).headers(header_map(headers)?).json(body);
        within(limit, receive(request, largest)).await?
    }

    /// Sends a POST when there is a `body`, else a GET. `limit` covers the whole exchange,
    /// `largest` is the maximum size of the response in bytes.
    /// A redirect or a response with an error status is not an error.
    pub async fn exchange(
        &self,
        url: &str,
        headers: &[(String, String)],
        body: Option<Vec<u8>>,
        limit: Duration,
        largest: usize,
    ) -> Result<Received, HttpError> {
        let map = header_map(headers)?;
        let request = match body {
            Some(body) => self.client.post(url).body(body),
            None => self.client.get(url),
        };
        within(limit, receive(request.headers(map), largest)).await?
    }
}

/// Fails with [`HttpError::Request`] for the first header that is none.
pub fn header_map(headers: &[(String, String)]) -> Result<HeaderMap, HttpError> {
    headers.iter().map(|(name, value)| header(name, value)).collect()
}

/// A header hidden from `Debug`, or [`HttpError::Request`] without the value.
pub fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), HttpError> {
    let word = HeaderName::try_from(name)
        .map_err(|_error| HttpError::Request(format!("`{name}` is not a header name")))?;
    let mut value = HeaderValue::try_from(value).map_err(|_error| {
        HttpError::Request(format!("the value of `{name}` is not valid in a header"))
    })?;
    value.set_sensitive(true);
    Ok((word, value))
}

/// Runs a future with a time limit.
pub async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, HttpError> {
    tokio::time::timeout(limit, work).await.map_err(|_elapsed| HttpError::TimedOut)
}

/// The [`HttpError`] for a client error, and whether the request certainly was never sent.
pub fn classify(error: &(dyn Error + 'static)) -> (HttpError, bool) {
    let mut cause = Some(error);
    while let Some(inner) = cause {
        if let Some(inner) = inner.downcast_ref::<reqwest::Error>() {
            let unsent = inner.is_builder() || inner.is_connect();
            let error = match (inner.is_builder(), inner.is_timeout()) {
                (true, _) => HttpError::Request(chain(inner)),
                (_, true) => HttpError::TimedOut,
                _ => HttpError::Connection(chain(inner)),
            };
            return (error, unsent);
        }
        cause = inner.source();
    }
    (HttpError::Connection(chain(error)), false)
}

async fn receive(request: reqwest::RequestBuilder, largest: usize) -> Result<Received, HttpError> {
    let response = request.send().await.map_err(|error| classify(&error.without_url()).0)?;
    collect(response, largest).await
}

/// Reads a response to its end.
pub async fn collect(mut response: Response, largest: usize) -> Result<Received, HttpError> {
    let status = response.status().as_u16();
    let headers = response
        .headers()
        .iter()
        .filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        })
        .collect();
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|_error| HttpError::Truncated)? {
        if body.len() + piece.len() > largest {
            return Err(HttpError::TooLarge(largest));
        }
        body.extend_from_slice(&piece);
    }
    Ok(Received { status, headers, body, at: jiff::Timestamp::now() })
}

/// The text at a JSON pointer of a response; empty when there is none.
pub fn text_at<'a>(value: &'a serde_json::Value, path: &str) -> &'a str {
    value.pointer(path).and_then(serde_json::Value::as_str).unwrap_or_default()
}

/// Whether an address leads to this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Percent-encodes everything but unreserved characters (RFC 3986).
pub fn percent_encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// The messages of an error and its causes, on one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}
