//! Maps the error responses of all model protocols to [`ModelErrorKind`]: an error object first, by
//! its code, then the status.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::adapter::host::http::{Received, text_at};
use crate::domain::text::{bounded, first_line};
use crate::effect::ModelErrorKind;

/// An error response, understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorBody {
    /// The provider's own words; empty when it has none.
    pub message: String,
    /// Its codes, in lower case: `code`, `type`, `status` and the reasons in `details`.
    codes: Vec<String>,
    /// The status inside the body, which gateways pass on from the model's own server.
    status: Option<u16>,
    retry_after: Option<String>,
}

impl ErrorBody {
    /// The error of a response by its status, or its error object; `body` is its text as JSON.
    pub fn of(received: &Received, body: Option<&Value>, text: &str) -> Option<Self> {
        // Gemini answers with an array when a stream was requested.
        let body = body.map(|body| body.get(0).unwrap_or(body));
        let error = body.and_then(|body| body.get("error")).filter(|error| !error.is_null());
        if error.is_none() && (200..300).contains(&received.status) {
            return None;
        }
        let Some(error) = error.or(body) else {
            return Some(Self { message: words_of(text), ..Self::default() });
        };
        let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
        let reasons = details.clone().flat_map(|detail| {
            let quotas =
                detail.pointer("/violations").and_then(Value::as_array).into_iter().flatten();
            let ids = quotas.map(|quota| text_at(quota, "/quotaId"));
            ids.chain([text_at(detail, "/reason")]).collect::<Vec<_>>()
        });
        let codes = ["/code", "/type", "/status"].map(|path| text_at(error, path));
        let number = |path| error.pointer(path).and_then(Value::as_u64);
        let status = number("/code").or_else(|| number("/status"));
        let words = ["/message", "/detail", "/error_description", "/errors/0/message"];
        let message =
            words.map(|path| text_at(error, path)).into_iter().find(|text| !text.is_empty());
        Some(Self {
            message: bounded(message.or(error.as_str()).unwrap_or_default(), MESSAGE),
            codes: codes
                .into_iter()
                .chain(reasons)
                .filter(|code| !code.is_empty())
                .map(str::to_lowercase)
                .collect(),
            status: status.and_then(|status| u16::try_from(status).ok()),
            retry_after: details
                .clone()
                .find_map(|detail| Some(detail.get("retryDelay")?.as_str()?.to_owned())),
        })
    }

    fn has(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        let codes = || self.codes.iter().map(String::as_str);
        words.iter().any(|word| message.contains(word) || codes().any(|code| code.contains(word)))
    }
}

/// The kind of an error response, and the provider's own words.
pub fn of(received: &Received) -> (ModelErrorKind, String) {
    let text = String::from_utf8_lossy(&received.body);
    let body: Option<Value> = serde_json::from_str(&text).ok();
    let error = ErrorBody::of(received, body.as_ref(), &text).unwrap_or_default();
    (kind(received, &error), error.message)
}

/// Characters of a provider's message that are kept at most.
const MESSAGE: usize = 1_000;

/// What a text that is no JSON says in one line: the title of a page, else its first line.
pub fn words_of(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|start| {
        let start = start + "<title>".len();
        text.get(start..start + lower.get(start..)?.find("</title>")?)
    });
    let is_markup = text.trim_start().starts_with(['<', '{', '[']);
    let line = title.unwrap_or_else(|| if is_markup { "" } else { first_line(text) });
    bounded(line.trim(), 200)
}

/// Words of an error, and the kind that they mean, which may carry the message.
type Meaning = (&'static [&'static str], fn(&str) -> ModelErrorKind);

/// What provider codes and messages mean; the first row wins, and phrases are in lower case.
const MEANINGS: &[Meaning] = &[
    (
        &[
            "insufficient_quota",
            "billing",
            "credit balance",
            "insufficient credit",
            "insufficient balance",
            "perday",
            "daily quota",
        ],
        |_| ModelErrorKind::OutOfQuota,
    ),
    (
        &[
            "context_length_exceeded",
            "maximum context length",
            "prompt is too long",
            "exceeds the maximum number of tokens",
            "input token count",
            "too many tokens",
            "context window",
            "range of input length",
            "request_too_large",
        ],
        |_| ModelErrorKind::TooLong,
    ),
    (&["content_filter", "content_policy", "moderation", "flagged", "responsibleai"], |message| {
        ModelErrorKind::Refused { reason: bounded(message, 200) }
    }),
    (
        &[
            "api_key_invalid",
            "api key not valid",
            "invalid_api_key",
            "authentication_error",
            "unauthenticated",
            "permission_denied",
            "permission_error",
        ],
        |_| ModelErrorKind::Unauthorised,
    ),
    (&["model_not_found", "not_found_error", "not_found"], |_| ModelErrorKind::NotFound),
];

/// Codes with which an error object names what a status would say.
const STATUSES: &[(&[&str], u16)] = &[
    (&["rate_limit", "resource_exhausted", "throttl"], 429),
    (&["overloaded", "unavailable"], 503),
    (&["deadline_exceeded", "timeout"], 504),
    (&["server_error", "api_error", "internal"], 500),
    (&["invalid_request", "invalid_argument", "failed_precondition"], 400),
];

/// The error kind of a response.
pub fn kind(received: &Received, error: &ErrorBody) -> ModelErrorKind {
    let is_success = (200..300).contains(&received.status);
    let named = || {
        let code = |words: &[&str]| {
            words.iter().any(|word| error.codes.iter().any(|code| code.contains(word)))
        };
        STATUSES.iter().find(|(words, _)| code(words)).map(|(_, status)| *status)
    };
    let status = if is_success {
        error.status.or_else(named).unwrap_or(received.status)
    } else {
        received.status
    };
    let wait = || wait(received, error);
    let meaning = || {
        let row = MEANINGS.iter().find(|(words, _)| error.has(words));
        row.map(|(_, kind)| kind(&error.message))
    };
    match status {
        401 => ModelErrorKind::Unauthorised,
        402 => ModelErrorKind::OutOfQuota,
        404 => ModelErrorKind::NotFound,
        410 => ModelErrorKind::Gone,
        413 => ModelErrorKind::TooLong,
        // A rate limit that ends soon is none that money ends, whatever its message says.
        429 => match meaning() {
            Some(ModelErrorKind::OutOfQuota) if wait().is_none() || error.has(&["perday"]) => {
                ModelErrorKind::OutOfQuota
            }
            _ => ModelErrorKind::RateLimited { retry_after: wait() },
        },
        408 | 500.. if is_success && error.status.is_none() => {
            ModelErrorKind::Server { status: received.status }
        }
        408 | 500.. => ModelErrorKind::Server { status },
        403 => meaning().unwrap_or(ModelErrorKind::Unauthorised),
        200..300 => meaning().unwrap_or(ModelErrorKind::Server { status }),
        _ => meaning().unwrap_or(ModelErrorKind::BadRequest { status }),
    }
}

/// Headers that say when a rate limit ends, as a duration or as a date, and what is left of it.
const LIMITS: &[(&str, &str)] = &[
    ("x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"),
    ("x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"),
    ("anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"),
    ("anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"),
    ("anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"),
    ("anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"),
];

/// The longest wait that is taken at its word. No run lasts longer.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// How long the provider asks to wait, at most [`LONGEST_WAIT`]: the time that it names, else until the last of the exhausted
/// limits ends.
fn wait(received: &Received, error: &ErrorBody) -> Option<Duration> {
    let now = received.at;
    let header = |name: &str| received.header(name).map(str::trim);
    let milliseconds = header("retry-after-ms").and_then(|text| seconds(text, 1_000.0));
    let named = milliseconds.or_else(|| time(header("retry-after")?, now));
    let wait = named.or_else(|| time(error.retry_after.as_deref()?, now)).or_else(|| {
        let left = |name: &str| header(name).and_then(|left| left.parse::<u64>().ok());
        let longest = |is_meant: &dyn Fn(&str, &str) -> bool| {
            let limits = LIMITS.iter().filter(|(reset, remaining)| is_meant(reset, remaining));
            limits.filter_map(|(reset, _)| time(header(reset)?, now)).max()
        };
        longest(&|_, remaining| left(remaining) == Some(0))
            // A question can need more tokens than are left; a request is only one.
            .or_else(|| longest(&|reset, _| reset.contains("tokens")))
            .or_else(|| longest(&|_, _| true))
    });
    wait.map(|wait| wait.min(LONGEST_WAIT))
}

/// Parses a number of parts of a second. One that no duration can hold is the longest of all.
fn seconds(text: &str, parts: f64) -> Option<Duration> {
    let count = text.parse::<f64>().ok().filter(|count| *count >= 0.0)? / parts;
    Some(Duration::try_from_secs_f64(count).unwrap_or(Duration::MAX))
}

/// Parses a delay: `30`, `1.5`, `34s`, `6m0s`, `250ms`, an HTTP date or an RFC 3339 time.
fn time(text: &str, now: Timestamp) -> Option<Duration> {
    if text.parse::<f64>().is_ok() {
        return seconds(text, 1.0);
    }
    let moment = text
        .parse::<Timestamp>()
        .ok()
        .or_else(|| jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.timestamp()));
    if let Some(moment) = moment {
        let seconds = moment.as_second().saturating_sub(now.as_second());
        return Some(Duration::from_secs(u64::try_from(seconds).unwrap_or_default()));
    }
    text.parse::<SignedDuration>().ok().and_then(|duration| duration.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    type StatusCase = (u16, &'static [(&'static str, &'static str)], &'static str, ModelErrorKind);

    fn of(status: u16, headers: &[(&str, &str)], text: &str) -> ModelErrorKind {
        let headers = headers.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let now = "2026-11-21T00:00:00Z".parse().unwrap();
        let received = Received { status, headers, body: Vec::new(), at: now };
        let body: Option<Value> = serde_json::from_str(text).ok();
        let error = ErrorBody::of(&received, body.as_ref(), text).unwrap();
        kind(&received, &error)
    }

    #[test]
    fn every_status_has_one_meaning() {
        let wait = |seconds| ModelErrorKind::RateLimited {
            retry_after: Some(Duration::from_secs(seconds)),
        };
        let table: Vec<StatusCase> = vec![
            (401, &[], "", ModelErrorKind::Unauthorised),
            (403, &[], "", ModelErrorKind::Unauthorised),
            (
                400,
                &[],
                "API key not valid. Please pass a valid API key.",
                ModelErrorKind::Unauthorised,
            ),
            (402, &[], "", ModelErrorKind::OutOfQuota),
            (429, &[], "{\"error\":{\"code\":\"insufficient_quota\"}}", ModelErrorKind::OutOfQuota),
            (429, &[], "slow down", ModelErrorKind::RateLimited { retry_after: None }),
            (429, &[("retry-after", "30")], "", wait(30)),
            (429, &[("retry-after", "999999999")], "", wait(86_400)),
            (429, &[("retry-after", "1e300")], "", wait(86_400)),
            (429, &[("retry-after-ms", "99999999999999999999999")], "", wait(86_400)),
            (429, &[("retry-after-ms", "2000")], "", wait(2)),
            (429, &[("retry-after", "Fri, 31 Dec 2027 00:00:00 GMT")], "", wait(86_400)),
            (429, &[("retry-after", "-5")], "", ModelErrorKind::RateLimited { retry_after: None }),
            (429, &[("retry-after", "nan")], "", ModelErrorKind::RateLimited { retry_after: None }),
            (429, &[("retry-after", "Sat, 21 Nov 2026 00:01:00 GMT")], "", wait(60)),
            (429, &[("x-ratelimit-reset-requests", "6m0s")], "", wait(360)),
            (429, &[("anthropic-ratelimit-tokens-reset", "2026-11-21T00:00:09Z")], "", wait(9)),
            (
                429,
                &[
                    ("x-ratelimit-reset-requests", "6m0s"),
                    ("x-ratelimit-remaining-requests", "12"),
                    ("x-ratelimit-reset-tokens", "20s"),
                    ("x-ratelimit-remaining-tokens", "0"),
                ],
                "",
                wait(20),
            ),
            (
                429,
                &[
                    ("anthropic-ratelimit-input-tokens-reset", "2026-11-21T00:00:09Z"),
                    ("anthropic-ratelimit-input-tokens-remaining", "0"),
                    ("anthropic-ratelimit-output-tokens-reset", "2026-11-21T00:00:50Z"),
                    ("anthropic-ratelimit-output-tokens-remaining", "0"),
                    ("anthropic-ratelimit-requests-reset", "2026-11-21T00:05:00Z"),
                    ("anthropic-ratelimit-requests-remaining", "49"),
                ],
                "",
                wait(50),
            ),
            (
                429,
                &[
                    ("x-ratelimit-reset-requests", "6m0s"),
                    ("x-ratelimit-remaining-requests", "12"),
                    ("x-ratelimit-reset-tokens", "20s"),
                    ("x-ratelimit-remaining-tokens", "900"),
                ],
                "",
                wait(20),
            ),
            (429, &[("retry-after", "3"), ("x-ratelimit-reset-requests", "6m0s")], "", wait(3)),
            (
                429,
                &[],
                "{\"error\":{\"message\":\"You exceeded your current quota\",\"details\":[{\"retryDelay\":\"34s\"}]}}",
                wait(34),
            ),
            (404, &[], "", ModelErrorKind::NotFound),
            (413, &[], "", ModelErrorKind::TooLong),
            (
                400,
                &[],
                "This model's maximum context length is 8192 tokens",
                ModelErrorKind::TooLong,
            ),
            (400, &[], "unknown field", ModelErrorKind::BadRequest { status: 400 }),
            (
                302,
                &[("location", "http://elsewhere")],
                "",
                ModelErrorKind::BadRequest { status: 302 },
            ),
            (500, &[], "", ModelErrorKind::Server { status: 500 }),
            (529, &[], "overloaded", ModelErrorKind::Server { status: 529 }),
            (410, &[], "", ModelErrorKind::Gone),
            (
                403,
                &[],
                "{\"error\":{\"code\":403,\"message\":\"your input was flagged\"}}",
                ModelErrorKind::Refused { reason: "your input was flagged".into() },
            ),
            (400, &[], "{\"error\":{\"type\":\"billing_error\"}}", ModelErrorKind::OutOfQuota),
            (
                429,
                &[],
                "{\"error\":{\"details\":[{\"violations\":[{\"quotaId\":\"RequestsPerDay\"}]},{\"retryDelay\":\"9s\"}]}}",
                ModelErrorKind::OutOfQuota,
            ),
        ];
        for (status, headers, text, expected) in table {
            assert_eq!(of(status, headers, text), expected, "{status} {headers:?} {text}");
        }
    }

    /// An error object in a response with status 200, by its code.
    #[test]
    fn an_error_in_a_success_has_the_meaning_of_its_code() {
        let server = |status| ModelErrorKind::Server { status };
        let table = [
            (r#""slow down""#, server(200)),
            (r#"{"message":"it broke"}"#, server(200)),
            (r#"{"code":502,"message":"bad gateway"}"#, server(502)),
            (r#"{"code":402,"message":"no credits"}"#, ModelErrorKind::OutOfQuota),
            (r#"{"code":429}"#, ModelErrorKind::RateLimited { retry_after: None }),
            (r#"{"type":"rate_limit_error"}"#, ModelErrorKind::RateLimited { retry_after: None }),
            (r#"{"type":"overloaded_error"}"#, server(200)),
            (r#"{"code":"server_error"}"#, server(200)),
            (r#"{"status":"UNAVAILABLE"}"#, server(200)),
            (r#"{"code":"insufficient_quota"}"#, ModelErrorKind::OutOfQuota),
            (r#"{"code":"invalid_api_key"}"#, ModelErrorKind::Unauthorised),
            (r#"{"code":"model_not_found"}"#, ModelErrorKind::NotFound),
            (r#"{"code":410}"#, ModelErrorKind::Gone),
            (r#"{"code":"context_length_exceeded"}"#, ModelErrorKind::TooLong),
            (
                r#"{"code":"content_filter","message":"no"}"#,
                ModelErrorKind::Refused { reason: "no".into() },
            ),
            (r#"{"type":"invalid_request_error"}"#, ModelErrorKind::BadRequest { status: 400 }),
        ];
        for (error, expected) in table {
            assert_eq!(of(200, &[], &format!("{{\"error\":{error}}}")), expected, "{error}");
        }
    }

    #[test]
    fn only_the_words_of_the_provider_are_shown() {
        let table = [
            (r#"{"error":{"message":"the key is wrong","code":401}}"#, "the key is wrong"),
            (r#"[{"error":{"message":"in a list"}}]"#, "in a list"),
            (r#"{"error":"as a text"}"#, "as a text"),
            (r#"{"detail":"of another framework"}"#, "of another framework"),
            (r#"{"trace":["a","b"]}"#, ""),
            ("<html><head><TITLE>502 Bad Gateway</TITLE></head></html>", "502 Bad Gateway"),
            ("<html><body>hello", ""),
            ("\nplain words\nand more", "plain words"),
            ("{\"cut", ""),
        ];
        for (text, expected) in table {
            let (headers, body) = (Vec::new(), Vec::new());
            let received = Received { status: 500, headers, body, at: Timestamp::UNIX_EPOCH };
            let value: Option<Value> = serde_json::from_str(text).ok();
            let error = ErrorBody::of(&received, value.as_ref(), text).unwrap();
            assert_eq!(error.message, expected, "{text}");
        }
        let fine = Received {
            status: 200,
            headers: Vec::new(),
            body: Vec::new(),
            at: Timestamp::UNIX_EPOCH,
        };
        let body = serde_json::json!({ "error": null, "output": [] });
        assert_eq!(ErrorBody::of(&fine, Some(&body), ""), None);
    }

    #[test]
    fn times_are_read_in_every_form() {
        let now = "2026-11-21T00:00:00Z".parse().unwrap();
        let table = [
            ("1.5", Some(1_500)),
            ("250ms", Some(250)),
            ("1h2m3s", Some(3_723_000)),
            ("soon", None),
            ("", None),
            ("-1", None),
            ("5x", None),
            ("2020-01-01T00:00:00Z", Some(0)),
        ];
        for (text, expected) in table {
            assert_eq!(time(text, now), expected.map(Duration::from_millis), "{text}");
        }
    }
}
