//! Which requests of a client pass the proxy, and what the provider gets of them: questions to models
//! and for the list of them, below the base URL, with the key in place of the placeholder.

use std::sync::LazyLock;

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Uri};
use regex::Regex;
use url::Url;

use crate::domain::secret::{Redactor, SecretKey};

/// Headers of one connection (RFC 9110, 7.6.1), and those that the next request gets anew.
const OWN_HEADERS: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "host",
    "content-length",
    "accept-encoding",
    "expect",
];

/// Headers and query parameters that carry a key. Another key than the placeholder would be one of
/// somebody else, in whose account the checkout would end up.
const KEYS: &[&str] =
    &["authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "key", "access_token"];

/// Decides about the requests of a client.
pub struct RequestRules {
    base: Url,
    /// The path of the base URL, without a slash at its end.
    path: String,
    placeholder: String,
    key: Option<SecretKey>,
    /// Headers that every request to the provider gets.
    extra: HeaderMap,
    /// Finds the secrets among these headers.
    secrets: Redactor,
}

impl RequestRules {
    /// `key` takes the place of the placeholder; without a key, the headers of a key are left out.
    /// `extra` headers replace those of the client.
    pub fn new(
        base: Url,
        placeholder: String,
        key: Option<SecretKey>,
        extra: HeaderMap,
        secrets: &[SecretKey],
    ) -> Self {
        let path = base.path().trim_end_matches('/').to_owned();
        Self { base, path, placeholder, key, extra, secrets: Redactor::new(secrets) }
    }

    /// The path of the base URL, without a slash at its end.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The key that the client gets in place of the real one.
    pub fn placeholder(&self) -> &str {
        &self.placeholder
    }

    /// The provider's address of a request; `None` for what is no question to a model.
    pub fn url(&self, method: &Method, asked: &Uri) -> Option<Url> {
        if !is_served(method, asked.path().strip_prefix(self.path.as_str())?) {
            return None;
        }
        let mut url = self.base.clone();
        url.set_path(asked.path());
        url.set_query(asked.query());
        let pairs: Vec<_> = url.query_pairs().into_owned().collect();
        if pairs.iter().any(|(name, _)| KEYS.contains(&name.as_str())) {
            let others = pairs.iter().filter(|(name, _)| !KEYS.contains(&name.as_str()));
            url.query_pairs_mut().clear().extend_pairs(others);
        }
        Some(url)
    }

    /// The headers of the request to the provider; `None` without the placeholder as the key. Only
    /// the whole value of such a header is replaced: a provider repeats parts of others in errors.
    pub fn headers(&self, sent: &HeaderMap) -> Option<HeaderMap> {
        let mut found = false;
        let mut headers = HeaderMap::new();
        for (name, value) in without_own(sent) {
            if !KEYS.contains(&name.as_str()) {
                headers.append(name, value.clone());
                continue;
            }
            let text = value.to_str().unwrap_or_default();
            let (scheme, word) = text.split_once(' ').unwrap_or(("", text));
            if word != self.placeholder || !matches!(scheme, "" | "Bearer" | "bearer") {
                continue;
            }
            found = true;
            let key = self.key.as_ref().map(|key| format!("{scheme} {}", key.expose()));
            let key = key.and_then(|key| HeaderValue::try_from(key.trim_start()).ok());
            if let Some(mut key) = key {
                key.set_sensitive(true);
                headers.append(name, key);
            }
        }
        headers.extend(self.extra.clone());
        found.then_some(headers)
    }

    /// A text of the provider without the key and the secret headers, should it repeat those.
    pub fn without_secrets(&self, text: String) -> String {
        let text = match &self.key {
            Some(key) => text.replace(key.expose(), &self.placeholder),
            None => text,
        };
        self.secrets.redact(&text).into()
    }
}

/// The paths of questions and of lists of models in all protocols, below a base URL.
static SERVED: LazyLock<Option<[Regex; 2]>> = LazyLock::new(|| {
    let post = r"^(/v1|/v1beta)?/(chat/completions|responses|responses/compact|messages|messages/count_tokens|models/[\w.-]+:(generateContent|streamGenerateContent|countTokens))$";
    let get = r"^(/v1|/v1beta)?(/models(/[\w.-]+)?)?/?$";
    Some([Regex::new(post).ok()?, Regex::new(get).ok()?])
});

/// Whether a request asks a model or for the models; all else of the account is refused.
fn is_served(method: &Method, path: &str) -> bool {
    let Some([post, get]) = SERVED.as_ref() else { return false };
    match *method {
        Method::POST => post.is_match(path),
        Method::GET | Method::HEAD => get.is_match(path),
        _ => false,
    }
}

/// Whether a request is answered by a model, rather than by a count of tokens or a list.
pub fn is_question(method: &Method, path: &str) -> bool {
    method == Method::POST && !path.ends_with("count_tokens") && !path.ends_with("countTokens")
}

/// The headers without those of the connection.
pub fn without_own(headers: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> = named
        .flat_map(|list| list.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    headers.iter().filter(move |(name, _)| {
        !OWN_HEADERS.contains(&name.as_str()) && !named.iter().any(|own| own == name.as_str())
    })
}
