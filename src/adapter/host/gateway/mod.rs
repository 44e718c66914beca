//! A proxy on loopback between a client of a model and its provider. The client gets a placeholder
//! in place of the key, which is added here, and the sandbox lets it connect to nothing else. Only
//! questions to models pass. A client whose service has no base URL goes through a tunnel instead.

mod answers;
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
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use url::Url;

use crate::domain::budget::Usage;
use crate::domain::secret::SecretKey;

use super::http::{Body, Http, HttpError, Received, classify, collect, header_map};
use super::random;
use answers::{Counts, ReadUsage};
use requests::{RequestRules, is_question, without_own};

/// Time for the head of a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// Hosts in the record of refusals at most.
const REFUSALS: usize = 20;

/// Largest error response that is read, in bytes.
const ERROR_LIMIT: usize = 256 << 10;

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
    /// Counts the tokens of answers.
    pub usage: ReadUsage,
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
        let base = base.ok_or_else(|| io::Error::other("`base-url` is no address of HTTP"))?;
        let extra = header_map(&upstream.headers).map_err(io::Error::other)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            authority: format!("127.0.0.1:{port}"),
            rules: RequestRules::new(base, random::word()?, upstream.key, extra),
            http: upstream.http,
            usage: upstream.usage,
            tunnels: upstream.tunnels,
            connections: Mutex::new(Some(JoinSet::new())),
            refused: Mutex::default(),
            questions: Mutex::default(),
            counts: Counts::default(),
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

    /// The tokens that the provider reports for all answers so far.
    pub fn usage(&self) -> Usage {
        answers::total(&self.shared.counts)
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

/// The questions so far. Of several at the same time, the one that began last decides.
#[derive(Default)]
struct Questions {
    begun: u64,
    /// The number of the one whose result is known.
    known: u64,
    failure: Option<Failure>,
}

impl Questions {
    fn begin(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    fn end(&mut self, number: u64, failure: Option<Failure>) {
        if number > self.known {
            (self.known, self.failure) = (number, failure);
        }
    }
}

struct Shared {
    rules: RequestRules,
    http: Http,
    usage: ReadUsage,
    tunnels: &'static [&'static str],
    /// Our own address.
    authority: String,
    /// Those in progress; `None` once the proxy has ended.
    connections: Mutex<Option<JoinSet<()>>>,
    refused: Mutex<BTreeSet<String>>,
    questions: Mutex<Questions>,
    counts: Counts,
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
        self.forward(request, url, headers).await
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

    async fn forward(
        &self,
        request: Request<Incoming>,
        url: Url,
        headers: HeaderMap,
    ) -> Response<Body> {
        let (method, client) = (request.method().clone(), self.http.client());
        let number = is_question(&method, url.path()).then(|| lock(&self.questions).begin());
        let path = number.map(|_| url.path().to_owned());
        let next =
            client.request(method, url).headers(headers).body(Body::wrap(request.into_body()));
        let result = match next.send().await {
            Ok(response) if response.status().is_success() => match path {
                Some(path) => self.counted(response, &path).await.map_err(Failure::Transport),
                None => Ok(Response::from(response)),
            },
            Ok(response) => match collect(response, ERROR_LIMIT).await {
                Ok(received) => Err(Failure::Status(received)),
                Err(error) => Err(Failure::Transport(error)),
            },
            Err(error) => Err(Failure::Transport(classify(&error.without_url()).0)),
        };
        if let Some(number) = number {
            lock(&self.questions).end(number, result.as_ref().err().cloned());
        }
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

    /// An error response of the provider, without the key should it repeat that.
    fn repeated(&self, received: Received) -> Response<Body> {
        let hidden = |text| self.rules.without_key(text);
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
    let body = serde_json::json!({ "error": { "message": message, "code": status.as_u16() } });
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
