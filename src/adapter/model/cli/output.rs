//! Parses the output of command-line clients into answers and error kinds. Tests use recordings.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::adapter::host::http::text_at;
use crate::adapter::host::process::ExitReason;
use crate::adapter::model::anthropic::INPUT_TOKENS;
use crate::adapter::model::protocol::{ParsedAnswer, count_at, usage_at};
use crate::domain::budget::Usage;
use crate::effect::ModelErrorKind;

/// An answer, or what the client reports instead of one.
pub type ParseResult = Result<ParsedAnswer, ClientFailure>;

/// What a client reports instead of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientFailure {
    pub kind: ModelErrorKind,
    /// The words of the provider, or else of the client.
    pub message: String,
}

impl ClientFailure {
    /// A failure of a known kind; else the status or the wording of the message decides. One that
    /// nobody knows is taken for a failed connection, which another try may not meet.
    fn new(kind: Option<ModelErrorKind>, message: &str) -> Self {
        let kind = kind.or_else(|| kind_in(message)).unwrap_or(ModelErrorKind::Connection);
        Self { kind, message: words_of_provider(message) }
    }

    /// A failure of a client that printed none of its usual output.
    fn of_log(out: &str, err: &str) -> Self {
        let object = last_object(err).unwrap_or_default();
        let line = last_line(err).or_else(|| last_line(out)).unwrap_or_default();
        let message = text_at(&object, "/error/message");
        Self {
            kind: kind_in(err).or_else(|| kind_in(out)).unwrap_or(ModelErrorKind::Connection),
            message: if message.is_empty() { line } else { message }.to_owned(),
        }
    }
}

/// Takes the exit code into account: only a client that ended well has answered, and codes from 125
/// to 127 mean that it was not started.
pub fn judge(parsed: ParseResult, ending: ExitReason) -> ParseResult {
    match (parsed, ending) {
        (Ok(answer), ExitReason::Exit(0)) => Ok(answer),
        (Ok(_), _) => {
            let message = format!("it ended with {ending}");
            Err(ClientFailure { kind: ModelErrorKind::Connection, message })
        }
        (Err(failure), ExitReason::Exit(125..=127)) => {
            let reason = format!("it was not started: {ending}");
            Err(ClientFailure { kind: ModelErrorKind::Client { reason }, ..failure })
        }
        (Err(failure), _) => Err(failure),
    }
}

/// The message of the error object in a text, or else the text.
fn words_of_provider(text: &str) -> String {
    let object = text.find('{').and_then(|at| {
        let mut values = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<Value>();
        values.next()?.ok()
    });
    let message = object.as_ref().map(|object| {
        let message = text_at(object, "/error/message");
        if message.is_empty() { text_at(object, "/message") } else { message }
    });
    match message {
        Some(message) if !message.is_empty() => words_of_provider(message),
        _ => text.trim().to_owned(),
    }
}

/// The last line of a log that is no warning of the start.
fn last_line(log: &str) -> Option<&str> {
    const NOISE: &[&str] = &["warning:", "ripgrep", "at ", "}", "(node:", "[startup]"];
    let is_noise = |line: &str| {
        let lower = line.to_ascii_lowercase();
        NOISE.iter().any(|start| lower.starts_with(start))
    };
    log.lines().rev().map(str::trim).find(|line| !line.is_empty() && !is_noise(line))
}

/// The error kind of an HTTP status in a text.
pub fn status_kind(text: &str) -> Option<ModelErrorKind> {
    static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?i)(?:status[: ]+|"code": ?|API Error: |rejected \(|\(HTTP )(\d{3})\b"#).ok()
    });
    let status = STATUS.as_ref()?.captures(text)?.get(1)?.as_str().parse().ok()?;
    kind_of(status)
}

fn kind_of(status: u16) -> Option<ModelErrorKind> {
    Some(match status {
        401 | 403 => ModelErrorKind::Unauthorised,
        402 => ModelErrorKind::OutOfQuota,
        404 => ModelErrorKind::NotFound,
        413 => ModelErrorKind::TooLong,
        429 => ModelErrorKind::RateLimited { retry_after: None },
        400..=499 => ModelErrorKind::BadRequest { status },
        500..=599 => ModelErrorKind::Server { status },
        _ => return None,
    })
}

/// Phrases in the error messages of clients with their error kinds, the most specific first.
const WORDS: &[(&str, ModelErrorKind)] = &[
    ("insufficient_quota", ModelErrorKind::OutOfQuota),
    ("violate our usage policy", ModelErrorKind::Refused { reason: String::new() }),
    ("empty response text", ModelErrorKind::Empty),
    ("reason: max_output_tokens", ModelErrorKind::Truncated),
    ("output token maximum", ModelErrorKind::Truncated),
    // Codex says so of any error of the server.
    ("high demand", ModelErrorKind::Server { status: 0 }),
    ("econnrefused", ModelErrorKind::Connection),
    ("error sending request", ModelErrorKind::Connection),
    ("connection error", ModelErrorKind::Connection),
    ("unable to connect", ModelErrorKind::Connection),
    ("fetch failed", ModelErrorKind::Connection),
    ("end of file before message", ModelErrorKind::Connection),
    ("transport error", ModelErrorKind::Connection),
    ("terminated", ModelErrorKind::Connection),
    ("econnreset", ModelErrorKind::Connection),
    ("incomplete json", ModelErrorKind::Garbage),
    ("malformed", ModelErrorKind::Garbage),
    ("without a finish reason", ModelErrorKind::Garbage),
    ("closed before response.completed", ModelErrorKind::Garbage),
    ("not valid json", ModelErrorKind::Garbage),
    ("non-sse response", ModelErrorKind::Garbage),
    ("reached max session turns", ModelErrorKind::OverBudget),
    ("invalid auth", ModelErrorKind::Unauthorised),
    ("please set an auth", ModelErrorKind::Unauthorised),
    ("not logged in", ModelErrorKind::Unauthorised),
];

/// The error kind of the first known phrase in a text.
pub fn words_kind(text: &str) -> Option<ModelErrorKind> {
    let lower = text.to_lowercase();
    WORDS.iter().find(|(words, _)| lower.contains(words)).map(|(words, kind)| match kind {
        ModelErrorKind::Refused { .. } => ModelErrorKind::Refused { reason: (*words).to_owned() },
        other => other.clone(),
    })
}

/// The error kind of a text, by status or else by phrase.
fn kind_in(text: &str) -> Option<ModelErrorKind> {
    status_kind(text).or_else(|| words_kind(text))
}

/// The last JSON object in a text that has other lines too.
fn last_object(text: &str) -> Option<Value> {
    let starts: Vec<usize> = std::iter::once(0)
        .filter(|_| text.starts_with('{'))
        .chain(text.match_indices("\n{").map(|(at, _)| at + 1))
        .collect();
    starts.into_iter().rev().find_map(|at| {
        let mut values = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<Value>();
        values.next()?.ok().filter(Value::is_object)
    })
}

/// Parses `gemini -o json`: one object; errors are an object at the end of standard error.
pub fn gemini(out: &str, err: &str) -> ParseResult {
    let answer = last_object(out).filter(|value| value.get("response").is_some());
    let Some(answer) = answer else {
        let error = last_object(err).or_else(|| last_object(out));
        let message = error.as_ref().map_or("", |error| text_at(error, "/error/message"));
        let code = error.as_ref().map_or(0, |error| count_at(error, "/error/code"));
        let kind = u16::try_from(code).ok().and_then(kind_of);
        if message.is_empty() {
            return Err(ClientFailure::of_log(out, err));
        }
        return Err(ClientFailure::new(kind, message));
    };
    let models = answer.pointer("/stats/models").and_then(Value::as_object);
    let model = models.and_then(|models| models.keys().next_back().cloned()).unwrap_or_default();
    text_or_nothing(text_at(&answer, "/response"), model)
}

/// The tokens in the output of `gemini -o json`, by model.
pub fn gemini_usage(out: &str) -> Usage {
    let object = last_object(out).unwrap_or_default();
    let models = object.pointer("/stats/models").and_then(Value::as_object);
    sum(models.into_iter().flatten().map(|(_, stats)| {
        let output = &["/tokens/candidates", "/tokens/thoughts"];
        counted(stats, &["/tokens/prompt"], output, "/tokens/cached")
    }))
}

fn sum(all: impl Iterator<Item = Usage>) -> Usage {
    let mut sum = Usage::default();
    all.for_each(|usage| sum.join(usage));
    sum
}

/// The tokens at JSON pointers; those from the cache are among the input tokens.
fn counted(value: &Value, input: &[&str], output: &[&str], cached: &str) -> Usage {
    Usage { cached_tokens: count_at(value, cached), ..usage_at(value, input, output) }
}

/// Parses `qwen -o json`: an array of messages; errors are bracketed texts in a successful result.
pub fn qwen(out: &str, err: &str) -> ParseResult {
    let Some(result) = &qwen_result(out) else { return Err(ClientFailure::of_log(out, err)) };
    let text = text_at(result, "/result");
    let is_error = result.get("is_error").and_then(Value::as_bool) == Some(true);
    let message = text_at(result, "/error/message");
    if is_error || text.starts_with("[API Error:") {
        let message = if message.is_empty() { text } else { message };
        let kind = kind_in(message).or_else(|| kind_in(&result.to_string()));
        let bare = message.trim_start_matches("[API Error:").trim_end_matches(']');
        return Err(ClientFailure::new(kind, bare));
    }
    text_or_nothing(text, String::new())
}

/// The tokens in the result of `qwen -o json`, also of a failed one.
pub fn qwen_usage(out: &str) -> Usage {
    let result = qwen_result(out).unwrap_or_default();
    let (input, output) = (&["/usage/input_tokens"], &["/usage/output_tokens"]);
    counted(&result, input, output, "/usage/cache_read_input_tokens")
}

fn qwen_result(out: &str) -> Option<Value> {
    let list: Vec<Value> = serde_json::from_str(out.trim()).ok()?;
    list.into_iter().rev().find(|message| text_at(message, "/type") == "result")
}

/// The events of a client that prints one per line.
fn events(out: &str) -> impl Iterator<Item = Value> {
    out.lines().filter_map(|line| serde_json::from_str(line).ok())
}

/// Parses `codex exec --json`: one event per line. An item of type `error` is a warning.
pub fn codex(out: &str, err: &str) -> ParseResult {
    let (mut text, mut problem) = (String::new(), None);
    let (mut any, mut sandbox, mut changes) = (false, None, false);
    for event in events(out) {
        any = true;
        match (text_at(&event, "/type"), text_at(&event, "/item/type")) {
            ("item.completed", "agent_message") => {
                text_at(&event, "/item/text").clone_into(&mut text);
            }
            ("item.completed", "file_change") => changes = true,
            ("item.completed", "command_execution") => {
                let output = text_at(&event, "/item/aggregated_output");
                sandbox = sandbox.or_else(|| {
                    output.lines().find(|line| line.starts_with("bwrap: ")).map(str::to_owned)
                });
            }
            ("turn.failed", _) => problem = Some(text_at(&event, "/error/message").to_owned()),
            _ => {}
        }
    }
    match (problem, sandbox) {
        (Some(problem), _) => Err(ClientFailure::new(None, &problem)),
        (None, Some(line)) if !changes => {
            let reason = "its own sandbox does not start here".to_owned();
            Err(ClientFailure { kind: ModelErrorKind::Client { reason }, message: line })
        }
        (None, _) if !any => Err(ClientFailure::of_log(out, err)),
        (None, _) => text_or_nothing(&text, String::new()),
    }
}

/// The tokens of all turns of `codex exec --json`.
pub fn codex_usage(out: &str) -> Usage {
    let (input, output) = (&["/usage/input_tokens"], &["/usage/output_tokens"]);
    sum(events(out).map(|turn| counted(&turn, input, output, "/usage/cached_input_tokens")))
}

/// Parses `claude -p --output-format json`: one object.
pub fn claude(out: &str, err: &str) -> ParseResult {
    let Some(result) = last_object(out) else { return Err(ClientFailure::of_log(out, err)) };
    let text = text_at(&result, "/result");
    if text_at(&result, "/stop_reason") == "refusal" {
        let kind = ModelErrorKind::Refused { reason: "refusal".into() };
        return Err(ClientFailure { kind, message: text.to_owned() });
    }
    if result.get("is_error").and_then(Value::as_bool) == Some(true) {
        let status = u16::try_from(count_at(&result, "/api_error_status")).ok().and_then(kind_of);
        let kind = match text_at(&result, "/terminal_reason") {
            "prompt_too_long" => Some(ModelErrorKind::TooLong),
            _ if text_at(&result, "/subtype") == "error_max_budget_usd" => {
                Some(ModelErrorKind::OverBudget)
            }
            _ => status,
        };
        let text = if text.is_empty() { text_at(&result, "/errors/0") } else { text };
        return Err(ClientFailure::new(kind, text));
    }
    let models = result.get("modelUsage").and_then(Value::as_object);
    let model = models.and_then(|models| models.keys().next().cloned()).unwrap_or_default();
    text_or_nothing(text, model)
}

/// The tokens of `claude -p --output-format json`, by model; `usage` lacks them at a budget's end.
pub fn claude_usage(out: &str) -> Usage {
    let result = last_object(out).unwrap_or_default();
    let models = result.get("modelUsage").and_then(Value::as_object);
    let by_model = sum(models.into_iter().flatten().map(|(_, stats)| {
        let input = &["/inputTokens", "/cacheCreationInputTokens", "/cacheReadInputTokens"];
        counted(stats, input, &["/outputTokens"], "/cacheReadInputTokens")
    }));
    if by_model.tokens() > 0 {
        return by_model;
    }
    let cached = "/usage/cache_read_input_tokens";
    counted(&result, INPUT_TOKENS, &["/usage/output_tokens"], cached)
}

/// An answer, unless it is empty. Most clients print nothing for a refusal either; that they got one,
/// the proxy sees.
fn text_or_nothing(text: &str, model: String) -> ParseResult {
    if text.trim().is_empty() {
        return Err(ClientFailure { kind: ModelErrorKind::Empty, message: String::new() });
    }
    Ok(ParsedAnswer { text: text.to_owned(), model, ..ParsedAnswer::default() })
}

/// Parses `copilot --output-format json`: one event per line, and then the statistics of
/// `--usage-output-file`. A content filter looks like a success with a notice as its text.
pub fn copilot(out: &str, err: &str) -> ParseResult {
    let (mut text, mut model, mut any) = (String::new(), String::new(), false);
    for event in events(out) {
        any = true;
        match text_at(&event, "/type") {
            "assistant.message" => text_at(&event, "/data/content").clone_into(&mut text),
            "session.error" => {
                let status = u16::try_from(count_at(&event, "/data/statusCode")).ok();
                let message = text_at(&event, "/data/message");
                return Err(ClientFailure::new(status.and_then(kind_of), message));
            }
            _ => {}
        }
        let models = event.get("modelMetrics").and_then(Value::as_object);
        if let Some(name) = models.and_then(|models| models.keys().next_back()) {
            model.clone_from(name);
        }
    }
    if !any {
        return Err(ClientFailure::of_log(out, err));
    }
    if text.contains(FILTERED) {
        let kind = ModelErrorKind::Refused { reason: "a content filter".into() };
        return Err(ClientFailure { kind, message: text });
    }
    text_or_nothing(&text, model)
}

/// The tokens in the statistics of `--usage-output-file`, by model.
pub fn copilot_usage(out: &str) -> Usage {
    sum(events(out).map(|event| {
        let models = event.get("modelMetrics").and_then(Value::as_object);
        sum(models.into_iter().flatten().map(|(_, stats)| {
            let (input, output) = (&["/usage/inputTokens"], &["/usage/outputTokens"]);
            counted(stats, input, output, "/usage/cacheReadTokens")
        }))
    }))
}

/// What Copilot prints in place of an answer that a content filter stopped.
const FILTERED: &str = "response was blocked by content filtering";
