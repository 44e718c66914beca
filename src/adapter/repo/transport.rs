//! Git's smart HTTP protocol over the shared HTTP client: lists references, fetches and sends
//! packs. libgit2's own transport would need a second TLS stack, or `unsafe`.
//!
//! The token is sent in one header and only to its own host; it never appears in an address, an
//! argument, a configuration file or a log.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use url::Url;

use crate::adapter::host::http::{Http, HttpError, Received, is_loopback};
use crate::adapter::host::rate_limit::RateLimit;
use crate::domain::retry::{Repeat, RetryDecision, retry};
use crate::domain::secret::SecretKey;
use crate::effect::{Clock, RemoteError};

use super::pkt_line::{self, Advertisement, FetchError, Fetched};

/// Largest list of references, in bytes.
const LIST_LIMIT: usize = 64 << 20;

/// Largest pack, in bytes; it is held in memory.
const PACK_LIMIT: usize = 512 << 20;

/// Time limit of one exchange.
const LIMIT: Duration = Duration::from_mins(5);

/// Longest wait after a request to stop.
const LEAVING: Duration = Duration::from_secs(2);

/// Interval at which a wait looks for a request to stop.
const STEP: Duration = Duration::from_millis(500);

const UPLOAD: &str = "git-upload-pack";
const RECEIVE: &str = "git-receive-pack";

/// A token and the only host that ever sees it.
#[derive(Clone, Debug)]
pub struct Credential {
    /// Host name as in a URL, without a port.
    pub host: String,
    pub token: SecretKey,
}

/// Waits between the attempts of one exchange.
#[derive(Clone)]
pub struct RetryWaits {
    pub clock: Arc<dyn Clock>,
    /// Seeds the jitter, so that parallel runs do not retry at the same moment.
    pub seed: u64,
}

impl fmt::Debug for RetryWaits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RetryWaits").field("seed", &self.seed).finish_non_exhaustive()
    }
}

impl RetryWaits {
    /// Waits before the next attempt, briefly after a request to stop, or returns the error.
    async fn pause(
        &self,
        repeat: Repeat,
        error: RemoteError,
        attempt: u32,
    ) -> Result<(), RemoteError> {
        let remaining = self.clock.stop_requested().then_some(LEAVING);
        let decision = retry(repeat, error.fault(), attempt, remaining, self.seed);
        tracing::debug!(?decision, "a request to the git server failed: {error}");
        let (RetryDecision::Again(mut left) | RetryDecision::LookFirst(mut left)) = decision else {
            return Err(error);
        };
        // In steps, because a request to stop ends the wait.
        while !left.is_zero() && (remaining.is_some() || !self.clock.stop_requested()) {
            let step = left.min(STEP);
            self.clock.wait(step).await;
            left -= step;
        }
        Ok(())
    }
}

/// The repository on a server, and how it is reached.
#[derive(Clone, Debug)]
pub struct Transport {
    http: Http,
    url: Url,
    credential: Option<Credential>,
    waits: RetryWaits,
    limit: Duration,
    /// Largest pack that is received, in bytes.
    pack_limit: usize,
    /// What the server said when the token may not push. No later push of the job asks again.
    no_push: Arc<OnceLock<String>>,
}

/// An address without user, password, query and fragment, safe to show and to log.
pub fn redacted(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else {
        // Not a URL: what precedes an `@` may be a secret.
        let shown = address.rsplit_once('@').map_or(address, |(_, rest)| rest);
        return pkt_line::one_line(shown);
    };
    let cleaned = url.set_username("").and_then(|()| url.set_password(None));
    if cleaned.is_err() {
        return format!("{}://…", url.scheme());
    }
    url.set_query(None);
    url.set_fragment(None);
    pkt_line::one_line(url.as_str())
}

/// The HTTPS address of a configured remote; `git@host:owner/name` and `ssh://` are rewritten.
/// Credentials in it are dropped.
/// Fails with [`RemoteError::Address`] for another scheme, or for `http` to another machine.
pub fn address(remote: &str) -> Result<Url, RemoteError> {
    let refused = |reason| RemoteError::Address { address: redacted(remote), reason };
    let rewritten = match (remote.contains("://"), remote.split_once(':')) {
        (false, Some((host, path)))
            if !host.contains('/') && !path.is_empty() && !path.starts_with(':') =>
        {
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("https://{host}/{path}")
        }
        _ => remote.to_owned(),
    };
    let mut url = Url::parse(&rewritten).map_err(|_error| refused("it is not a valid URL"))?;
    if url.scheme() == "ssh" {
        let host = url.host_str().ok_or_else(|| refused("it names no host"))?;
        url = Url::parse(&format!("https://{host}{}", url.path()))
            .map_err(|_error| refused("it is not a valid URL"))?;
    }
    if !matches!(url.scheme(), "https" | "http") {
        return Err(refused("only HTTPS is supported"));
    }
    url.set_username("")
        .and_then(|()| url.set_password(None))
        .map_err(|()| refused("it names no host"))?;
    url.set_query(None);
    url.set_fragment(None);
    match url.scheme() {
        "http" if !is_loopback(&url) => {
            Err(refused("without TLS a token would travel in the open"))
        }
        _ => Ok(url),
    }
}

/// A request to `git-upload-pack`.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Wanted commits; at least one.
    pub want: Vec<String>,
    /// Local commits whose parents are missing here.
    pub shallow: Vec<String>,
    /// Local commits that are present.
    pub have: Vec<String>,
    /// How many commits of history to fetch.
    pub depth: Option<u32>,
}

/// The server's response to a sent pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub report: pkt_line::Report,
    /// Its other messages for people.
    pub message: String,
}

impl Transport {
    /// A transport to a repository.
    pub fn new(
        http: Http,
        remote: &str,
        credential: Option<Credential>,
        waits: RetryWaits,
    ) -> Result<Self, RemoteError> {
        Ok(Self {
            http,
            url: address(remote)?,
            credential,
            waits,
            limit: LIMIT,
            pack_limit: PACK_LIMIT,
            no_push: Arc::default(),
        })
    }

    /// Waits before a push is repeated, if it is; the caller asks first whether it took effect.
    pub async fn pause_push(&self, error: RemoteError, attempt: u32) -> Result<(), RemoteError> {
        self.waits.pause(Repeat::Look, error, attempt).await
    }

    /// Repeats a request that changes nothing until its answer is read, within the retry policy.
    async fn repeat<'a, T>(
        &self,
        request: &(dyn Fn() -> BoxFuture<'a, Result<T, RemoteError>> + Sync),
    ) -> Result<T, RemoteError> {
        let mut attempt = 1;
        loop {
            match request().await {
                Ok(answer) => return Ok(answer),
                Err(error) => self.waits.pause(Repeat::Free, error, attempt).await?,
            }
            attempt += 1;
        }
    }

    /// The same transport with another time limit for one exchange.
    #[cfg(test)]
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The same transport with another limit for what a fetch receives, in bytes.
    #[must_use]
    pub fn receiving(mut self, pack_limit: usize) -> Self {
        self.pack_limit = pack_limit;
        self
    }

    /// The address, which holds no credentials.
    pub fn address(&self) -> String {
        self.url.to_string()
    }

    /// Lists the references for a fetch.
    pub async fn list(&self) -> Result<Advertisement, RemoteError> {
        self.advertised(UPLOAD).await
    }

    /// References for writing; fails without a request once the server refused the token.
    pub async fn list_for_push(&self) -> Result<Advertisement, RemoteError> {
        match self.no_push.get() {
            Some(text) => Err(self.forbidden(text, true)),
            None => self.advertised(RECEIVE).await,
        }
    }

    async fn advertised(&self, service: &str) -> Result<Advertisement, RemoteError> {
        self.repeat(&|| self.advertised_once(service).boxed()).await
    }

    async fn advertised_once(&self, service: &str) -> Result<Advertisement, RemoteError> {
        let url = format!("{}/info/refs?service={service}", self.base());
        let kind = format!("application/x-{service}-advertisement");
        let received = self.exchange(&url, &[], None, &kind, LIST_LIMIT, service).await?;
        pkt_line::advertisement(&received.body, service).map_err(|wrong| self.wrong(wrong))
    }

    /// Fetches a pack.
    pub async fn fetch(&self, offer: &Advertisement, ask: &Ask) -> Result<Fetched, RemoteError> {
        if !offer.can("side-band-64k") || (ask.depth.is_some() && !offer.can("shallow")) {
            return Err(self.unsupported("it lacks the capability side-band-64k or shallow"));
        }
        let agent = concat!("agent=regreen/", env!("CARGO_PKG_VERSION"));
        let mut body = Vec::new();
        let mut capabilities = format!(" side-band-64k ofs-delta no-progress {agent}");
        for id in &ask.want {
            pkt_line::write(&mut body, format!("want {id}{capabilities}\n").as_bytes());
            capabilities.clear();
        }
        for id in &ask.shallow {
            pkt_line::write(&mut body, format!("shallow {id}\n").as_bytes());
        }
        if let Some(depth) = ask.depth {
            pkt_line::write(&mut body, format!("deepen {depth}\n").as_bytes());
        }
        pkt_line::flush(&mut body);
        for id in &ask.have {
            pkt_line::write(&mut body, format!("have {id}\n").as_bytes());
        }
        pkt_line::write(&mut body, b"done\n");
        let deepened = ask.depth.is_some();
        self.repeat(&|| self.fetch_once(body.clone(), deepened).boxed()).await
    }

    async fn fetch_once(&self, body: Vec<u8>, deepened: bool) -> Result<Fetched, RemoteError> {
        let received = self.service(UPLOAD, body, self.pack_limit).await?;
        pkt_line::fetched(&received.body, deepened).map_err(|error| match error {
            FetchError::Refused(text) => RemoteError::Refused { address: self.address(), text },
            FetchError::Broken(reason) => self.wrong(reason),
        })
    }

    /// Sends a pack and moves one verified reference, once: an error may hide a success.
    pub async fn send(
        &self,
        offer: &Advertisement,
        (old, new, reference): (&str, &str, &str),
        pack: &[u8],
    ) -> Result<Sent, RemoteError> {
        if !offer.can("report-status") || !offer.can("side-band-64k") {
            return Err(self.unsupported("it does not report what became of a push"));
        }
        let agent = concat!("agent=regreen/", env!("CARGO_PKG_VERSION"));
        let mut body = Vec::with_capacity(pack.len() + 512);
        let line = format!("{old} {new} {reference}\0 report-status side-band-64k {agent}\n");
        pkt_line::write(&mut body, line.as_bytes());
        pkt_line::flush(&mut body);
        body.extend_from_slice(pack);
        let received = self.service(RECEIVE, body, LIST_LIMIT).await?;
        let bands = pkt_line::sidebands(&received.body).map_err(|wrong| self.wrong(wrong))?;
        if let Some(fatal) = bands.fatal {
            return Err(self.wrong(fatal));
        }
        let report = pkt_line::report(&bands.data, reference).map_err(|wrong| self.wrong(wrong))?;
        Ok(Sent { report, message: bands.message })
    }

    async fn service(
        &self,
        service: &str,
        body: Vec<u8>,
        largest: usize,
    ) -> Result<Received, RemoteError> {
        let url = format!("{}/{service}", self.base());
        let headers = [
            ("content-type".to_owned(), format!("application/x-{service}-request")),
            ("accept".to_owned(), format!("application/x-{service}-result")),
        ];
        let kind = format!("application/x-{service}-result");
        self.exchange(&url, &headers, Some(body), &kind, largest, service).await
    }

    fn base(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    async fn exchange(
        &self,
        url: &str,
        headers: &[(String, String)],
        body: Option<Vec<u8>>,
        kind: &str,
        largest: usize,
        service: &str,
    ) -> Result<Received, RemoteError> {
        let mut headers = headers.to_vec();
        if let Some(credential) = &self.credential
            && self.url.host_str() == Some(credential.host.as_str())
        {
            let pair = STANDARD.encode(format!("x-access-token:{}", credential.token.expose()));
            headers.push(("authorization".into(), format!("Basic {pair}")));
        }
        let received = self.http.exchange(url, &headers, body, self.limit, largest).await.map_err(
            |error: HttpError| match error {
                HttpError::Connection(_) | HttpError::Truncated | HttpError::TimedOut => {
                    let (address, reason) = (self.address(), error.to_string());
                    RemoteError::Connection { address, reason }
                }
                HttpError::TooLarge(_) | HttpError::Request(_) => {
                    self.unsupported(error.to_string())
                }
            },
        )?;
        self.judge(&received, service)?;
        if received.header("content-type") != Some(kind) {
            return Err(self.wrong("the content is of another type"));
        }
        Ok(received)
    }

    fn judge(&self, received: &Received, service: &str) -> Result<(), RemoteError> {
        let address = self.address();
        let text = || pkt_line::one_line(&String::from_utf8_lossy(&received.body));
        if let Some(RateLimit { wait }) = RateLimit::of(received) {
            return Err(RemoteError::RateLimited { address, wait });
        }
        let is_page =
            received.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
        Err(match received.status {
            200 => return Ok(()),
            401 => RemoteError::Unauthorized { address },
            // A git server answers in plain text; a page is from a proxy, or of an outage.
            403 if is_page => self.wrong("a web page with status 403"),
            403 => {
                let (text, writing) = (text(), service == RECEIVE);
                let error = self.forbidden(&text, writing);
                if writing && self.no_push.set(text).is_ok() {
                    tracing::warn!("nothing can be pushed: {error}; {}", error.hint());
                }
                error
            }
            404 => RemoteError::NotFound { address },
            301 | 302 | 303 | 307 | 308 => {
                let to = received
                    .header("location")
                    .and_then(|place| self.url.join(place).ok())
                    .map(|place| {
                        let place = redacted(place.as_str());
                        place
                            .trim_end_matches("/info/refs")
                            .trim_end_matches(&format!("/{service}"))
                            .to_owned()
                    });
                RemoteError::Redirected { address, to: to.unwrap_or_else(|| "nowhere".into()) }
            }
            status => RemoteError::Status { address, status, text: text() },
        })
    }

    fn forbidden(&self, text: &str, writing: bool) -> RemoteError {
        // A hint follows it.
        let text = text.trim_end_matches('.').to_owned();
        RemoteError::Forbidden { address: self.address(), text, writing }
    }

    fn wrong(&self, reason: impl Into<String>) -> RemoteError {
        RemoteError::Protocol { address: self.address(), reason: reason.into() }
    }

    fn unsupported(&self, reason: impl Into<String>) -> RemoteError {
        RemoteError::Unsupported { address: self.address(), reason: reason.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_their_credentials_and_keep_to_https() {
        let table = [
            ("https://x:ghs_secret@github.com/o/r", Ok("https://github.com/o/r")),
            ("git@github.com:o/r.git", Ok("https://github.com/o/r.git")),
            ("ssh://git@github.com:22/o/r.git", Ok("https://github.com/o/r.git")),
            ("http://127.0.0.1:81/o/r", Ok("http://127.0.0.1:81/o/r")),
            ("http://[::1]:81/o/r", Ok("http://[::1]:81/o/r")),
            ("http://ghs_secret@github.com/o/r", Err("in the open")),
            ("http://127.0.0.1.evil.example/o/r", Err("in the open")),
            ("http://localhost.evil.example/o/r", Err("in the open")),
            ("file:///o/r", Err("only HTTPS")),
            ("/o/r", Err("not a valid URL")),
            ("ext::sh -c ghs_secret", Err("")),
        ];
        for (remote, expected) in table {
            match (address(remote), expected) {
                (Ok(url), Ok(text)) => assert_eq!(url.as_str(), text),
                (Err(error), Err(part)) => {
                    let text = error.to_string();
                    assert!(text.contains(part), "{remote}: {text}");
                    assert!(!text.contains("ghs_secret@"), "{text}");
                }
                (got, _) => panic!("{remote}: {got:?}"),
            }
        }
    }

    #[test]
    fn no_form_of_an_address_shows_a_token() {
        for address in [
            "https://x-access-token:ghs_secret@github.com/o/r",
            "https://ghs_secret@github.com/o/r?x=ghs_secret#ghs_secret",
            "ghs_secret@github.com:o/r",
            "ht tp://ghs_secret@github.com",
        ] {
            assert!(!redacted(address).contains("ghs_secret"), "{}", redacted(address));
        }
    }
}
