//! A proxy on loopback between a client of a model and its provider. The client gets a placeholder
//! in place of the key, which is added here, and the sandbox lets it connect to nothing else. Only
//! questions to models pass, and only as far as the budget pays for them. A client whose service has no base URL goes through a tunnel instead.

mod account;
mod answers;
mod dialect;
mod questions;
mod requests;
#[cfg(test)]
mod tests;
mod tunnel;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use url::Url;

use crate::domain::budget::{SpendingLimits, Usage};
use crate::domain::secret::SecretKey;

use super::http::{Body, Http, HttpError, Received, header_map};
use super::random;
use super::redaction::secrets_of_headers;
use account::Ledger;
use questions::Questions;
use requests::{RequestRules, is_question};

pub use account::Prices;
pub use dialect::{Dialect, DialectAt};

/// Time for the head of a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// Hosts in the record of refusals at most.
const REFUSALS: usize = 20;

/// Where a client's requests go.
#[derive(Clone, Debug)]
pub struct Upstream {
    pub http: Http,
    /// The provider's base URL. Nothing outside of its path is reachable.
    pub base_url: String,
    /// Takes the place of the placeholder; without a key, the headers of a key are left out.
    pub key: Option<SecretKey>,
    /// Headers that every request gets.
    pub headers: Vec<(String, String)>,
    /// The protocols that the client may speak.
    pub dialect: DialectAt,
    pub prices: Prices,
    /// What the client may spend.
    pub left: SpendingLimits,
    /// Hosts to which the client may connect by itself, on port 443. One that begins with a dot
    /// stands for all of its subdomains.
    pub tunnels: &'static [&'static str],
}

/// Why the latest question to the provider was not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The provider answered with an error status.
    Status(Received),
    /// There was no complete response.
    Transport(HttpError),
}

impl Failure {
    /// Whether a client is likely to try again for minutes: after a rate limit, an error of the
    /// server, or no response.
    pub fn invites_retries(&self) -> bool {
        match self {
            Self::Status(received) => matches!(received.status, 408 | 429 | 500..),
            Self::Transport(_) => true,
        }
    }
}

/// A running proxy; dropping it closes all of its connections.
pub struct Gateway {
    port: u16,
    base_url: String,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.task.abort();
        // Dropping the set ends them; without it, no other can begin.
        drop(lock(&self.shared.connections).take());
    }
}

impl Gateway {
    /// Listens on a free port of loopback. Fails for a base URL or headers that are none of HTTP.
    pub async fn start(upstream: Upstream) -> io::Result<Self> {
        let base = Url::parse(&upstream.base_url).ok();
        let base = base.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let base = base.ok_or_else(|| io::Error::other("`base-url` is not an HTTP URL"))?;
        let extra = header_map(&upstream.headers).map_err(io::Error::other)?;
        let headers = upstream.headers.iter().map(|(name, value)| (name, value));
        let secrets = secrets_of_headers(headers);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            authority: format!("127.0.0.1:{port}"),
            rules: RequestRules::new(base, random::word()?, upstream.key, extra, &secrets),
            http: upstream.http,
            dialect: upstream.dialect,
            prices: upstream.prices,
            ledger: Arc::new(Ledger::new(upstream.left)),
            tunnels: upstream.tunnels,
            connections: Mutex::new(Some(JoinSet::new())),
            refused: Mutex::default(),
            questions: Mutex::default(),
        });
        let base_url = format!("http://{}{}", shared.authority, shared.rules.path());
        let task = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { port, base_url, shared, task })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The base URL that the client gets in place of the provider's.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The key that the client gets in place of the real one; worth nothing anywhere else.
    pub fn placeholder(&self) -> &str {
        self.shared.rules.placeholder()
    }

    /// The variables that make programs use this proxy for every host, so that what they ask for is
    /// known.
    pub fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let url = format!("http://{}", self.shared.authority);
        let proxies =
            ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"].into_iter().flat_map(move |name| {
                [(name.to_owned(), url.clone()), (name.to_ascii_lowercase(), url.clone())]
            });
        let none = ["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), "127.0.0.1".to_owned()));
        // Node.js itself reads the variables from version 22.21 on, and only when asked.
        proxies.chain(none).chain([("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned())])
    }

    /// The hosts that were asked for in vain.
    pub fn refused(&self) -> Vec<String> {
        lock(&self.shared.refused).iter().cloned().collect()
    }

    /// The tokens of all questions so far and what they cost, as the provider reports them, else
    /// estimated.
    pub fn usage(&self) -> Usage {
        self.shared.ledger.usage()
    }

    /// Why the client may ask nothing more: words about a question that the budget did not pay for;
    /// none of them when more was used than was left.
    pub fn excess(&self) -> Option<String> {
        self.shared.ledger.excess()
    }

    /// Why the model declined to answer the latest question, where it did.
    pub fn refusal(&self) -> Option<String> {
        self.shared.ledger.refusal()
    }

    /// Why the latest question was not answered; `None` when it was, or when there was none. What
    /// goes through a tunnel is not seen.
    pub fn failure(&self) -> Option<Failure> {
        lock(&self.shared.questions).failure.clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        match listener.accept().await {
            Ok(_) if shared.is_full() => {}
            Ok((stream, _)) => {
                shared.spawn(serve(TokioIo::new(stream), Arc::clone(&shared), Level::Outer));
            }
            // Too many open files, for instance; that passes.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Whether a connection is inside of another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Outer,
    Inner,
}

/// Answers the requests of one connection. Boxed, since a request may ask for a connection inside.
fn serve<T>(stream: T, shared: Arc<Shared>, level: Level) -> BoxFuture<'static, ()>
where
    T: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(shared.respond(request, level).await) }
    });
    let mut server = hyper::server::conn::http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    let connection = server.serve_connection(stream, service).with_upgrades();
    Box::pin(async {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection of a client ended");
        }
    })
}

/// Connections at the same time; more are closed at once.
const CONNECTIONS: usize = 64;

struct Shared {
    rules: RequestRules,
    http: Http,
    dialect: DialectAt,
    prices: Prices,
    ledger: Arc<Ledger>,
    tunnels: &'static [&'static str],
    /// Our own address.
    authority: String,
    /// Those in progress; `None` once the proxy has ended.
    connections: Mutex<Option<JoinSet<()>>>,
    refused: Mutex<BTreeSet<String>>,
    questions: Mutex<Questions>,
}

impl Shared {
    /// Runs the work of a connection until it ends, or the proxy does.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(connections) = lock(&self.connections).as_mut() {
            connections.spawn(work);
            while connections.try_join_next().is_some() {}
        }
    }

    fn is_full(&self) -> bool {
        lock(&self.connections).as_ref().is_none_or(|open| open.len() >= CONNECTIONS)
    }

    async fn respond(
        self: Arc<Self>,
        mut request: Request<Incoming>,
        level: Level,
    ) -> Response<Body> {
        let authority = request.uri().authority().map(|authority| authority.as_str().to_owned());
        if request.method() == Method::CONNECT {
            if level == Level::Inner {
                return self.refuse("a connection inside of another");
            }
            return self.connect(authority.unwrap_or_default(), &mut request).await;
        }
        if let Some(asked) = authority.filter(|asked| *asked != self.authority) {
            return self.refuse(&asked);
        }
        let Some(url) = self.rules.url(request.method(), request.uri()) else {
            return rejection(
                StatusCode::FORBIDDEN,
                "regreen: this is no question to a model of the provider",
            );
        };
        let Some(headers) = self.rules.headers(request.headers()) else {
            return rejection(StatusCode::UNAUTHORIZED, "regreen: the key is not the one given");
        };
        let method = request.method().clone();
        if is_question(&method, url.path()) {
            return self.ask(request.into_body(), url, headers).await;
        }
        if method == Method::POST {
            return self.count(request.into_body(), url, headers).await;
        }
        let body = Body::wrap(request.into_body());
        self.answer(self.send(method, url, headers, body).await.map(Response::from))
    }

    async fn connect(
        self: Arc<Self>,
        asked: String,
        request: &mut Request<Incoming>,
    ) -> Response<Body> {
        let client = hyper::upgrade::on(request);
        // Some programs use a proxy for every host, the proxy itself included.
        if asked == self.authority {
            let inner = Arc::clone(&self);
            self.spawn(async move {
                if let Ok(stream) = client.await {
                    serve(stream, inner, Level::Inner).await;
                }
            });
            return Response::new(Body::default());
        }
        if !tunnel::is_open(self.tunnels, &asked) {
            return self.refuse(&asked);
        }
        match tunnel::connect(&asked).await {
            Ok(server) => {
                self.spawn(tunnel::copy(client, server));
                Response::new(Body::default())
            }
            Err(error) => rejection(StatusCode::BAD_GATEWAY, &error.to_string()),
        }
    }

    fn refuse(&self, asked: &str) -> Response<Body> {
        let mut refused = lock(&self.refused);
        if refused.len() < REFUSALS {
            refused.insert(asked.to_ascii_lowercase());
        }
        rejection(StatusCode::FORBIDDEN, "regreen: a client reaches its provider alone")
    }
}

/// An error of our own, in the form that all clients read.
fn rejection(status: StatusCode, message: &str) -> Response<Body> {
    json_error(
        status,
        &serde_json::json!({ "error": { "message": message, "code": status.as_u16() } }),
    )
}

fn json_error(status: StatusCode, body: &serde_json::Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
