//! Interprets error responses of GitHub: whether a retry can help, and what the message says.

use serde_json::Value;

use crate::adapter::host::http::Received;
use crate::adapter::host::rate_limit::RateLimit;
use crate::domain::retry::Fault;
use crate::effect::ForgeErrorKind;

/// Characters of an error message that are kept.
const LONGEST: usize = 500;

/// Classifies a response with an error status.
pub fn refusal(answer: &Received) -> (Fault, ForgeErrorKind, String) {
    let message = message(&answer.body);
    if let Some(RateLimit { wait }) = RateLimit::of(answer) {
        return (Fault::Limited(wait), ForgeErrorKind::RateLimited { wait }, message);
    }
    let (fault, kind) = match answer.status {
        500.. => (Fault::Server, ForgeErrorKind::Unavailable),
        401 => (Fault::Refused, ForgeErrorKind::Unauthorised),
        403 if message.contains("not permitted to create") => {
            (Fault::Refused, ForgeErrorKind::CreationForbidden)
        }
        403 => {
            let needed = answer.header("x-accepted-github-permissions").map(short);
            (Fault::Refused, ForgeErrorKind::Denied { needed })
        }
        404 | 410 => (Fault::Refused, ForgeErrorKind::NotFound),
        300..=399 => (Fault::Refused, ForgeErrorKind::Moved),
        // 408: the server timed out while it waited for the request.
        408 => (Fault::Broken, ForgeErrorKind::Unavailable),
        _ => (Fault::Refused, ForgeErrorKind::Invalid),
    };
    (fault, kind, message)
}

/// The message and the field errors of a response, on one line.
fn message(body: &[u8]) -> String {
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start();
        return if text.starts_with('<') { "an HTML page".into() } else { short(text) };
    };
    let mut parts = Vec::new();
    if let Some(message) = value["message"].as_str() {
        parts.push(message.to_owned());
    }
    for error in value["errors"].as_array().into_iter().flatten() {
        let text = |name: &str| error[name].as_str();
        let part = match (error.as_str(), text("message")) {
            (Some(message), _) | (None, Some(message)) => message.to_owned(),
            (None, None) => ["resource", "field", "code"]
                .into_iter()
                .filter_map(text)
                .collect::<Vec<_>>()
                .join(" "),
        };
        parts.push(part);
    }
    short(&parts.join("; "))
}

/// The first error in a GraphQL response with status 200; `None` when it reports none.
pub fn graph_refusal(value: &Value) -> Option<(Fault, ForgeErrorKind, String)> {
    let errors = value["errors"].as_array().filter(|errors| !errors.is_empty())?;
    let texts: Vec<&str> = errors.iter().filter_map(|error| error["message"].as_str()).collect();
    let kinds: Vec<&str> = errors.iter().filter_map(|error| error["type"].as_str()).collect();
    let (fault, kind) = match kinds.first().copied().unwrap_or_default() {
        "STALE_DATA" => (Fault::Refused, ForgeErrorKind::Stale),
        "FORBIDDEN" => (Fault::Refused, ForgeErrorKind::Denied { needed: None }),
        "NOT_FOUND" => (Fault::Refused, ForgeErrorKind::NotFound),
        "RATE_LIMITED" => (Fault::Limited(None), ForgeErrorKind::RateLimited { wait: None }),
        _ => (Fault::Refused, ForgeErrorKind::Invalid),
    };
    Some((fault, kind, short(&texts.join("; "))))
}

/// `text` on one line, without control characters and of bounded length.
pub fn short(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|character: char| character.is_whitespace() || character.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").chars().take(LONGEST).collect()
}

/// `text`, cut between characters to at most `limit` bytes; a mark shows the cut.
pub fn cut(text: &str, limit: usize) -> String {
    const MARK: &str = "\n… (cut)";
    if text.len() <= limit {
        return text.to_owned();
    }
    let mark = if limit > 10 * MARK.len() { MARK } else { "" };
    let end = text.floor_char_boundary(limit.saturating_sub(mark.len()));
    format!("{}{mark}", text.get(..end).unwrap_or_default())
}

/// A title or a description: one line, cut to at most `limit` characters.
pub fn cut_line(text: &str, limit: usize) -> String {
    text.lines().collect::<Vec<_>>().join(" ").chars().take(limit).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Received {
        Received {
            status,
            headers: headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            body: body.as_bytes().to_vec(),
            at: jiff::Timestamp::from_second(1_000).expect("a moment"),
        }
    }

    /// Status, headers and body of a response, and how it is to be classified.
    type Row<'a> = (u16, &'a [(&'a str, &'a str)], &'a str, (Fault, ForgeErrorKind));

    #[test]
    fn each_refusal_is_told_apart() {
        let seconds = |number| Some(Duration::from_secs(number));
        let limited = |wait| (Fault::Limited(wait), ForgeErrorKind::RateLimited { wait });
        let secondary = r#"{"message":"You have exceeded a secondary rate limit. Please wait."}"#;
        let refused = |kind| (Fault::Refused, kind);
        let table: &[Row<'_>] = &[
            (403, &[("retry-after", "2")], secondary, limited(seconds(2))),
            (403, &[], secondary, limited(None)),
            (429, &[("retry-after", "0")], "{}", limited(seconds(1))),
            (
                403,
                &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1030")],
                "{}",
                limited(seconds(30)),
            ),
            (
                403,
                &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "900")],
                "{}",
                limited(seconds(1)),
            ),
            (
                403,
                &[("x-accepted-github-permissions", "checks=write")],
                r#"{"message":"Resource not accessible by integration"}"#,
                refused(ForgeErrorKind::Denied { needed: Some("checks=write".into()) }),
            ),
            (
                403,
                &[],
                r#"{"message":"GitHub Actions is not permitted to create or approve pull requests."}"#,
                refused(ForgeErrorKind::CreationForbidden),
            ),
            (401, &[], r#"{"message":"Bad credentials"}"#, refused(ForgeErrorKind::Unauthorised)),
            (404, &[], "{}", refused(ForgeErrorKind::NotFound)),
            (410, &[], "{}", refused(ForgeErrorKind::NotFound)),
            (301, &[], "{}", refused(ForgeErrorKind::Moved)),
            (422, &[], "{}", refused(ForgeErrorKind::Invalid)),
            (502, &[], "<html>", (Fault::Server, ForgeErrorKind::Unavailable)),
            (408, &[], "", (Fault::Broken, ForgeErrorKind::Unavailable)),
        ];
        for (status, headers, body, expected) in table {
            let (fault, kind, _) = refusal(&answer(*status, headers, body));
            assert_eq!((fault, kind), *expected, "{status} {headers:?} {body}");
        }
    }

    #[test]
    fn the_words_of_the_service_are_kept_on_one_line() {
        let table = [
            (
                r#"{"message":"Invalid request.\n\nNo more than 50 items are allowed; 51 were supplied."}"#,
                "Invalid request. No more than 50 items are allowed; 51 were supplied.",
            ),
            (
                r#"{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":"A pull request already exists for o:b."},{"resource":"Label","field":"name","code":"missing"},"plain"]}"#,
                "Validation Failed; A pull request already exists for o:b.; Label name missing; plain",
            ),
            ("<html><body>504</body></html>", "an HTML page"),
            ("plain\u{1b}[31m text", "plain [31m text"),
            ("", ""),
        ];
        for (body, expected) in table {
            assert_eq!(message(body.as_bytes()), expected);
        }
        assert_eq!(message("x".repeat(5_000).as_bytes()).len(), LONGEST);
    }

    #[test]
    fn a_title_is_cut_by_characters_and_stays_one_line() {
        let wide = "修".repeat(120);
        let table = [
            (wide.as_str(), 256, wide.clone()),
            ("abcd", 3, "abc".to_owned()),
            ("a\nb", 256, "a b".to_owned()),
        ];
        for (text, limit, expected) in table {
            assert_eq!(cut_line(text, limit), expected, "{text} {limit}");
        }
    }

    #[test]
    fn cutting_keeps_characters_whole_and_the_limit() {
        let table = [("abc", 3, "abc"), ("abcd", 3, "abc"), ("aéb", 2, "a"), ("", 0, "")];
        for (text, limit, expected) in table {
            assert_eq!(cut(text, limit), expected, "{text} {limit}");
        }
        let long = cut(&"é".repeat(40_000), 65_535);
        assert!(long.len() <= 65_535 && long.len() > 65_500 && long.ends_with("… (cut)"));
    }
}
