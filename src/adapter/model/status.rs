//! Maps HTTP error responses of all model protocols to [`ModelErrorKind`].

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::adapter::host::http::Received;
use crate::effect::ModelErrorKind;

/// Phrases of a 429 response about an exhausted quota, which waiting does not restore.
const QUOTA: &[&str] =
    &["insufficient_quota", "billing", "exceeded your current quota", "credit balance", "payment"];

/// Phrases of an error about a request that is too long.
const LENGTH: &[&str] = &[
    "context_length_exceeded",
    "maximum context length",
    "prompt is too long",
    "exceeds the maximum number of tokens",
    "input token count",
    "too many tokens",
    "context window",
    "range of input length",
];

/// The error kind of a response with an error status.
pub fn kind(received: &Received, text: &str) -> ModelErrorKind {
    let now = received.at;
    let status = received.status;
    let lower = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match status {
        401 | 403 => ModelErrorKind::Unauthorised,
        402 => ModelErrorKind::OutOfQuota,
        404 => ModelErrorKind::NotFound,
        413 => ModelErrorKind::TooLong,
        429 if says(QUOTA) && wait(received, text, now).is_none() => ModelErrorKind::OutOfQuota,
        429 => ModelErrorKind::RateLimited { retry_after: wait(received, text, now) },
        408 | 500.. => ModelErrorKind::Server { status },
        // Gemini answers an invalid key with 400.
        400 if lower.contains("api_key_invalid") || lower.contains("api key not valid") => {
            ModelErrorKind::Unauthorised
        }
        400 if lower.contains("credit balance") => ModelErrorKind::OutOfQuota,
        400 | 422 if says(LENGTH) => ModelErrorKind::TooLong,
        _ => ModelErrorKind::BadRequest { status },
    }
}

/// Headers that say when a rate limit ends, as a duration or as a date.
const RESETS: &[&str] = &[
    "retry-after-ms",
    "retry-after",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-reset",
];

/// How long the provider asks to wait.
fn wait(received: &Received, text: &str, now: Timestamp) -> Option<Duration> {
    let header = RESETS.iter().find_map(|name| {
        let value = received.header(name)?.trim();
        if *name == "retry-after-ms" {
            return value.parse().ok().map(Duration::from_millis);
        }
        time(value, now)
    });
    header.or_else(|| {
        // Gemini puts the delay into a `RetryInfo` in `error.details`.
        let value: Value = serde_json::from_str(text).ok()?;
        let value = value.get(0).unwrap_or(&value);
        let details = value.pointer("/error/details")?.as_array()?;
        details.iter().find_map(|detail| time(detail.get("retryDelay")?.as_str()?, now))
    })
}

/// Parses a delay: `30`, `1.5`, `34s`, `6m0s`, `250ms`, an HTTP date or an RFC 3339 time.
fn time(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
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
        kind(&Received { status, headers, body: Vec::new(), at: now }, text)
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
            (429, &[("retry-after", "Sat, 21 Nov 2026 00:01:00 GMT")], "", wait(60)),
            (429, &[("x-ratelimit-reset-requests", "6m0s")], "", wait(360)),
            (429, &[("anthropic-ratelimit-tokens-reset", "2026-11-21T00:00:09Z")], "", wait(9)),
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
        ];
        for (status, headers, text, expected) in table {
            assert_eq!(of(status, headers, text), expected, "{status} {headers:?} {text}");
        }
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
