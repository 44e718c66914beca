//! HTTP client for the GitHub API: sends calls, retries the safe ones, knows the token's account.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::service::middleware::extra_headers::ExtraHeadersLayer;
use octocrab::service::middleware::reqwest_connector::ReqwestConnector;
use octocrab::{AuthState, Octocrab, OctocrabBuilder};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::adapter::host::http::{self, Body, Http, HttpError, Received, Response};
use crate::adapter::host::redaction;
use crate::domain::id::CommitId;
use crate::domain::retry::{Fault, GiveUpReason, Repeat, RetryDecision, retry};
use crate::domain::secret::{RedactedJson, SecretKey};
use crate::effect::{Clock, ForgeError, ForgeErrorKind};

use super::error_response::{graph_refusal, refusal, short};
use super::responses::User;
use super::route::{AddressError, addresses, path, query};

/// Longest response body that is read, in bytes; a page of a hundred long comments fits.
const ANSWER: usize = 16 << 20;

/// Items on a page of a list, the maximum that GitHub allows.
pub const PAGE: usize = 100;

/// Id and login of the account behind a job's `GITHUB_TOKEN`. The id never changes.
const ACTIONS_BOT: (u64, &str) = (41_898_282, "github-actions[bot]");

/// Address, repository and credentials of the GitHub client.
#[derive(Clone, Debug)]
pub struct GitHubSettings {
    /// `GITHUB_API_URL`, such as `https://api.github.com`.
    pub api_url: String,
    /// `GITHUB_SERVER_URL`, such as `https://github.com`, for links.
    pub server_url: String,
    /// The repository as `owner/name`.
    pub repository: String,
    pub token: SecretKey,
    /// Login of the token's account, such as `my-app[bot]`. `None` asks GitHub; where GitHub
    /// refuses (a job's token, an App's token), it is `github-actions[bot]` and the App that GitHub
    /// names as the creator of our check runs.
    pub login: Option<String>,
    /// No call begins, and no wait ends, after this moment of [`Clock::elapsed`].
    pub deadline: Option<Duration>,
    pub answer_limit: Duration,
    /// Seeds the jitter of waits, so that parallel runs do not retry at the same moment.
    pub seed: u64,
}

/// The GitHub client. Every method of its `Forge` implementation may be repeated safely.
pub struct GitHub<'a> {
    rest: Octocrab,
    graph: Octocrab,
    pub(super) settings: GitHubSettings,
    pub(super) base: String,
    pub(super) name: Mutex<String>,
    /// Our comments by issue and marker.
    pub(super) comments: Mutex<BTreeMap<(u64, String), KnownComment>>,
    /// Our check runs by commit and external id: their ids and the number of annotations they hold.
    pub(super) checks: Mutex<BTreeMap<(String, String), (u64, usize)>>,
    own: Mutex<Own>,
    /// The kinds of writes that the token may not make. None of them is tried again.
    denied: Mutex<BTreeSet<String>>,
    clock: &'a dyn Clock,
}

/// A comment of ours, as it was written last.
#[derive(Debug)]
pub(super) struct KnownComment {
    pub id: u64,
    pub text: String,
}

/// What is known of our own account.
#[derive(Default)]
struct Own {
    asked: bool,
    ids: BTreeSet<u64>,
    logins: BTreeSet<String>,
}

/// HTTP method of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Patch,
    /// `POST` to GraphQL.
    Graph,
}

/// One request to GitHub.
#[derive(Debug)]
pub struct Call {
    /// What the call does, as an imperative clause for error messages.
    pub what: &'static str,
    pub verb: Verb,
    pub route: String,
    pub body: Option<RedactedJson>,
    pub repeat: Repeat,
}

impl Call {
    /// A call with a request body.
    pub fn new(what: &'static str, verb: Verb, route: String, body: Value, repeat: Repeat) -> Self {
        Self { what, verb, route, body: Some(redaction::redact_json(body)), repeat }
    }

    /// Names the writes that need the same permission as this one; `None` for a read.
    fn write_scope(&self) -> Option<&str> {
        let mut parts = self.route.split(['/', '?']).skip(4);
        match (self.verb, parts.next(), parts.next()) {
            (Verb::Get, ..) => None,
            // Comments, reactions and labels: `issues` or `pull-requests`.
            (_, Some("issues"), Some(_)) | (_, Some("labels"), _) => Some("labels"),
            (_, area, _) => area.or(Some("graphql")),
        }
    }
}

/// The result of a call that creates something once.
#[derive(Debug)]
pub enum Created<T> {
    /// The call created it; holds GitHub's response.
    Now(Value),
    /// It existed already.
    Before(T),
}

/// A failed attempt to make a call.
#[derive(Debug)]
pub struct Failure {
    pub fault: Fault,
    pub error: ForgeError,
    /// Target of the redirect, when GitHub answers with one.
    pub location: Option<String>,
}

impl<'a> GitHub<'a> {
    /// Builds the client, which sends nothing yet. Must be called inside the async runtime.
    /// Fails with [`AddressError`] for an address a token must not be sent to.
    pub fn new(
        client: &Http,
        settings: GitHubSettings,
        clock: &'a dyn Clock,
    ) -> Result<Self, AddressError> {
        redaction::register([&settings.token]);
        let places = addresses(&settings.api_url)?;
        // Built from its layers, since the ready-made client accepts no other user agent
        // (it would send two) and leaves the token readable in debug forms.
        let build = |base: &str| {
            let fail = |reason: String| AddressError { url: base.to_owned(), reason };
            let headers = [
                ("accept", "application/vnd.github+json"),
                ("user-agent", concat!("regreen/", env!("CARGO_PKG_VERSION"))),
                ("authorization", &format!("Bearer {}", settings.token.expose())),
            ];
            let headers: Result<Vec<_>, _> =
                headers.into_iter().map(|(name, value)| http::header(name, value)).collect();
            let headers = headers.map_err(|error| fail(error.to_string()))?;
            let base = base.parse().map_err(|_error| fail("it is no URI".into()))?;
            let Ok(octocrab) = OctocrabBuilder::new_empty()
                .with_service(ReqwestConnector::new(client.client()))
                .with_layer(&ExtraHeadersLayer::new(Arc::new(headers)))
                .with_layer(&BaseUriLayer::new(base))
                .with_auth(AuthState::None)
                .build();
            Ok(octocrab)
        };
        let token = settings.token.expose();
        if token.is_empty() || token.chars().any(|one| one.is_control() || !one.is_ascii()) {
            return Err(AddressError {
                url: settings.api_url.clone(),
                reason: "the token is empty or no token".into(),
            });
        }
        let (rest, graph) = (build(&places.rest)?, build(&places.graph)?);
        let logins: BTreeSet<String> = settings.login.iter().cloned().collect();
        let own = Own { asked: !logins.is_empty(), logins, ..Own::default() };
        Ok(Self {
            rest,
            graph,
            base: places.rest,
            name: Mutex::new(settings.repository.clone()),
            comments: Mutex::default(),
            checks: Mutex::default(),
            own: Mutex::new(own),
            denied: Mutex::default(),
            settings,
            clock,
        })
    }

    /// Path and query of an endpoint below the repository.
    pub(super) fn route(
        &self,
        what: &'static str,
        segments: &[&str],
        pairs: &[(&str, &str)],
    ) -> Result<String, ForgeError> {
        let name = locked(&self.name).clone();
        let (owner, repository) = name.split_once('/').unwrap_or((&name, ""));
        let all = ["repos", owner, repository].into_iter().chain(segments.iter().copied());
        let Some(path) = path(all) else {
            let message = format!("`{}` is no part of an address", short(&segments.join("/")));
            return Err(Self::error(what, None, ForgeErrorKind::Invalid, &message));
        };
        Ok(format!("{path}{}", query(pairs)))
    }

    /// Builds an error with a redacted message.
    pub(super) fn error(
        call: &'static str,
        status: Option<u16>,
        kind: ForgeErrorKind,
        message: &str,
    ) -> ForgeError {
        ForgeError { call, status, kind, message: redaction::redact(message).into() }
    }

    /// Sends a call once. Returns the JSON of the response, or `null` for an empty body.
    pub(super) async fn attempt(&self, call: &Call) -> Result<Value, Failure> {
        let remaining = self.remaining();
        if remaining.is_some_and(|left| left.is_zero()) {
            let error = Self::error(call.what, None, ForgeErrorKind::TooLate, "");
            return Err(Failure { fault: Fault::Refused, error, location: None });
        }
        let scope = call.write_scope();
        if scope.is_some_and(|scope| locked(&self.denied).contains(scope)) {
            let error = Self::error(call.what, None, ForgeErrorKind::DeniedBefore, "");
            return Err(Failure { fault: Fault::Refused, error, location: None });
        }
        let limit = remaining
            .map_or(self.settings.answer_limit, |left| left.min(self.settings.answer_limit));
        let answer = match http::within(limit, self.send(call)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err((error, unsent))) => return Err(Self::lost(call, &error, unsent)),
            Err(error) => return Err(Self::lost(call, &error, false)),
        };
        let location = answer.header("location").map(str::to_owned);
        let failure = |(fault, kind, message): (Fault, ForgeErrorKind, String)| {
            let is_denied = matches!(kind, ForgeErrorKind::Denied { .. });
            if is_denied && message.contains("not accessible by") {
                locked(&self.denied).extend(scope.map(str::to_owned));
            }
            let error = Self::error(call.what, Some(answer.status), kind, &message);
            Failure { fault, error, location }
        };
        if !(200..300).contains(&answer.status) {
            return Err(failure(refusal(&answer)));
        }
        if answer.body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Value::Null);
        }
        let Ok(value) = serde_json::from_slice::<Value>(&answer.body) else {
            let message = "it is not JSON".to_owned();
            return Err(failure((Fault::Broken, ForgeErrorKind::Malformed, message)));
        };
        match graph_refusal(&value).filter(|_| call.verb == Verb::Graph) {
            Some(refused) => Err(failure(refused)),
            None => Ok(value),
        }
    }

    /// Sends a request and reads the response. An error also says whether it surely was never sent.
    async fn send(&self, call: &Call) -> Result<Received, (HttpError, bool)> {
        let route = call.route.as_str();
        let response = match call.verb {
            Verb::Get => self.rest._get(route).await,
            Verb::Post => self.rest._post(route, call.body.as_ref()).await,
            Verb::Patch => self.rest._patch(route, call.body.as_ref()).await,
            Verb::Graph => self.graph._post(route, call.body.as_ref()).await,
        };
        let response = response.map_err(|error| http::classify(&error))?;
        let response = Response::from(response.map(Body::wrap));
        http::collect(response, ANSWER).await.map_err(|error| (error, false))
    }

    fn lost(call: &Call, error: &HttpError, unsent: bool) -> Failure {
        let (fault, kind) = match error {
            HttpError::Request(_) => (Fault::Refused, ForgeErrorKind::Invalid),
            HttpError::TooLarge(_) => (Fault::Refused, ForgeErrorKind::Malformed),
            HttpError::Connection(_) | HttpError::Truncated | HttpError::TimedOut => {
                let fault = if unsent { Fault::Unsent } else { Fault::Broken };
                (fault, ForgeErrorKind::Unavailable)
            }
        };
        let error = Self::error(call.what, None, kind, &short(&error.to_string()));
        Failure { fault, error, location: None }
    }

    fn remaining(&self) -> Option<Duration> {
        self.settings.deadline.map(|end| end.saturating_sub(self.clock.elapsed()))
    }

    /// Waits before a retry. `Ok(true)`: look first for what the failed attempt may have created.
    pub(super) async fn pause(
        &self,
        repeat: Repeat,
        failure: Failure,
        attempt: u32,
    ) -> Result<bool, ForgeError> {
        let decision = retry(repeat, failure.fault, attempt, self.remaining(), self.settings.seed);
        tracing::debug!(call = failure.error.call, ?decision, "a call failed: {}", failure.error);
        match decision {
            RetryDecision::Again(wait) => {
                self.clock.wait(wait).await;
                Ok(false)
            }
            RetryDecision::LookFirst(wait) => {
                self.clock.wait(wait).await;
                Ok(true)
            }
            RetryDecision::GiveUp(reason) => {
                let mut error = failure.error;
                let limited = matches!(error.kind, ForgeErrorKind::RateLimited { .. });
                if reason == GiveUpReason::Deadline && error.is_transient() && !limited {
                    error.kind = ForgeErrorKind::TooLate;
                }
                Err(error)
            }
        }
    }

    /// Makes a call that leaves nothing to look up, until it works or must not be repeated.
    pub(super) async fn perform(&self, call: &Call) -> Result<Value, ForgeError> {
        let mut attempt = 1;
        loop {
            match self.attempt(call).await {
                Ok(value) => return Ok(value),
                Err(failure) => self.pause(call.repeat, failure, attempt).await?,
            };
            attempt += 1;
        }
    }

    /// Creates something once: after an unanswered attempt, `find` looks for what it may have
    /// created. With `look`, `find` also runs before the first attempt.
    pub(super) async fn create<'f, T>(
        &self,
        call: &Call,
        mut look: bool,
        find: &(dyn Fn() -> BoxFuture<'f, Result<Option<T>, ForgeError>> + Sync),
    ) -> Result<Created<T>, ForgeError> {
        let mut attempt = 1;
        loop {
            if look && let Some(found) = find().await? {
                return Ok(Created::Before(found));
            }
            match self.attempt(call).await {
                Ok(value) => return Ok(Created::Now(value)),
                Err(failure) => look = self.pause(Repeat::Look, failure, attempt).await?,
            }
            attempt += 1;
        }
    }

    /// Fetches an endpoint and deserialises the response.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        what: &'static str,
        route: String,
    ) -> Result<T, ForgeError> {
        let call = Call { what, verb: Verb::Get, route, body: None, repeat: Repeat::Free };
        let value = self.perform(&call).await?;
        Self::read(what, value)
    }

    /// Deserialises the JSON of a response.
    pub(super) fn read<T: DeserializeOwned>(
        what: &'static str,
        value: Value,
    ) -> Result<T, ForgeError> {
        serde_json::from_value(value).map_err(|error| Self::malformed(what, &error.to_string()))
    }

    /// Parses the commit id in a response.
    pub(super) fn commit(what: &'static str, text: &str) -> Result<CommitId, ForgeError> {
        CommitId::parse(text).map_err(|error| Self::malformed(what, &error.to_string()))
    }

    /// The error for a response that contradicts GitHub's API description.
    pub(super) fn malformed(what: &'static str, why: &str) -> ForgeError {
        Self::error(what, None, ForgeErrorKind::Malformed, &short(why))
    }

    /// Passes the items of a paged list to `take` until it returns `false` or `pages` were read.
    pub(super) async fn each<T: DeserializeOwned>(
        &self,
        what: &'static str,
        segments: &[&str],
        pairs: &[(&str, &str)],
        pages: usize,
        mut take: impl FnMut(T) -> bool + Send,
    ) -> Result<(), ForgeError> {
        let size = PAGE.to_string();
        for page in 1..=pages {
            let number = page.to_string();
            let mut all = pairs.to_vec();
            all.extend([("per_page", size.as_str()), ("page", number.as_str())]);
            let list: Vec<T> = self.get(what, self.route(what, segments, &all)?).await?;
            let last = list.len() < PAGE;
            for element in list {
                if !take(element) {
                    return Ok(());
                }
            }
            if last {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Asks GitHub once which account the token has; tokens of jobs and Apps are refused there.
    pub(super) async fn load_own_account(&self) -> Result<(), ForgeError> {
        if locked(&self.own).asked {
            return Ok(());
        }
        let me = self.get::<User>("read the own account", "/user".to_owned()).await;
        let (id, login) = match me {
            Ok(user) => (user.id, user.login),
            Err(ForgeError {
                kind: ForgeErrorKind::Denied { .. } | ForgeErrorKind::NotFound,
                ..
            }) => (ACTIONS_BOT.0, ACTIONS_BOT.1.to_owned()),
            Err(error) => return Err(error),
        };
        let mut own = locked(&self.own);
        own.asked = true;
        own.ids.insert(id);
        own.logins.insert(login);
        Ok(())
    }

    /// Records an account as ours, because GitHub let our token write as it.
    pub(super) fn learn(&self, id: Option<u64>, login: Option<String>) {
        let mut own = locked(&self.own);
        own.ids.extend(id);
        own.logins.extend(login);
    }

    /// Whether an account is ours; a deleted one (`None`) never is.
    pub(super) fn is_own(&self, user: Option<&User>) -> bool {
        let own = locked(&self.own);
        user.is_some_and(|user| own.ids.contains(&user.id) || own.logins.contains(&user.login))
    }
}

/// Turns a missing thing into `None`: asking for it is no error.
pub(super) fn none_if_missing<T>(error: ForgeError) -> Result<Option<T>, ForgeError> {
    if error.kind == ForgeErrorKind::NotFound { Ok(None) } else { Err(error) }
}

/// Locks a mutex, even if a panic has poisoned it.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
