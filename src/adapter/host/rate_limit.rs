//! Recognises a rate limit in a response of GitHub, whose API and git server share the rules.

use std::time::Duration;

use super::http::Received;

/// A rate limit: nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// The wait that the server asks for, at least one second.
    pub wait: Option<Duration>,
}

impl RateLimit {
    /// The rate limit that a response reports; `None` for any other response.
    pub fn of(answer: &Received) -> Option<Self> {
        let exhausted = answer.header("x-ratelimit-remaining") == Some("0");
        let named = || {
            let text = String::from_utf8_lossy(&answer.body).to_lowercase();
            text.contains("rate limit") || text.contains("abuse detection")
        };
        let limited = answer.status == 429
            || answer.status == 403
                && (answer.header("retry-after").is_some() || exhausted || named());
        limited.then(|| Self { wait: wait(answer, exhausted) })
    }
}

fn wait(answer: &Received, exhausted: bool) -> Option<Duration> {
    let named = answer.header("retry-after").and_then(|text| text.trim().parse::<u64>().ok());
    let reset = || {
        let reset: i64 = answer.header("x-ratelimit-reset")?.trim().parse().ok()?;
        u64::try_from(reset.saturating_sub(answer.at.as_second())).ok().or(Some(0))
    };
    let seconds = named.or_else(|| reset().filter(|_| exhausted));
    seconds.map(|seconds| Duration::from_secs(seconds.max(1)))
}
