//! Typed and bounded access to the JSON of an event; every error names its field.

use serde_json::Value;

use super::permission::{Account, AccountKind};
use crate::domain::id::CommitId;

/// GitHub sends no event above 25 MB.
pub const LIMIT: usize = 25 * 1024 * 1024;

/// Why an event cannot be acted on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    #[error(
        "`pull_request_target` runs with the base repository's secrets while the change is a \
         stranger's; regreen never runs on it. Use `pull_request`, and two jobs for forks"
    )]
    Target,
    #[error("the event `{name}` starts nothing; use one of {known}")]
    Event { name: String, known: String },
    #[error("the event file holds {bytes} bytes; at most {LIMIT} are read")]
    Size { bytes: usize },
    #[error("the event file is not UTF-8: byte {at} is wrong")]
    Encoding { at: usize },
    #[error("the event file is not JSON: {reason}")]
    Json { reason: String },
    #[error("`{field}` of the event is {found}; expected {expected}")]
    Field { field: String, expected: &'static str, found: &'static str },
    #[error("the environment variable `{name}` is missing or wrong; expected {expected}")]
    Variable { name: &'static str, expected: &'static str },
}

impl EventError {
    /// What the reader can do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Target => "change `on: pull_request_target` to `on: pull_request`",
            Self::Event { .. } => "change `on:` of the workflow",
            Self::Size { .. } | Self::Encoding { .. } | Self::Json { .. } => {
                "set GITHUB_EVENT_PATH to the file that the runner wrote"
            }
            Self::Field { .. } => "set GITHUB_EVENT_NAME and GITHUB_EVENT_PATH for the same event",
            Self::Variable { .. } => "run it as a step of a workflow",
        }
    }
}

/// Parses the file within its limits.
pub fn parse(bytes: &[u8]) -> Result<Value, EventError> {
    if bytes.len() > LIMIT {
        return Err(EventError::Size { bytes: bytes.len() });
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| EventError::Encoding { at: error.valid_up_to() })?;
    let value: Value = serde_json::from_str(text)
        .map_err(|error| EventError::Json { reason: error.to_string() })?;
    if value.is_object() { Ok(value) } else { Err(wrong(&value, "", "an object")) }
}

/// The value at a dotted path; a missing value reads as null.
pub fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(value, |value, part| value.get(part).unwrap_or(&Value::Null))
}

/// The error for the field at `path`.
pub fn wrong(value: &Value, path: &str, expected: &'static str) -> EventError {
    let found = match if path.is_empty() { value } else { at(value, path) } {
        Value::Null => "missing or null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    let field = if path.is_empty() { "the whole file".to_owned() } else { path.to_owned() };
    EventError::Field { field, expected, found }
}

pub fn text<'a>(
    value: &'a Value,
    path: &str,
    expected: &'static str,
) -> Result<&'a str, EventError> {
    at(value, path).as_str().ok_or_else(|| wrong(value, path, expected))
}

pub fn number(value: &Value, path: &str) -> Result<u64, EventError> {
    at(value, path).as_u64().ok_or_else(|| wrong(value, path, "a whole number"))
}

pub fn commit(value: &Value, path: &str) -> Result<CommitId, EventError> {
    let expected = "40 hexadecimal digits";
    CommitId::parse(text(value, path, expected)?).map_err(|_bad| wrong(value, path, expected))
}

/// A branch name, checked by those of git's rules that concern us.
pub fn branch(value: &Value, path: &str) -> Result<String, EventError> {
    let name = text(value, path, "a branch name")?;
    if is_branch(name) { Ok(name.to_owned()) } else { Err(wrong(value, path, "a branch name")) }
}

/// Whether a text is a branch name.
pub fn is_branch(name: &str) -> bool {
    let bad = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    !name.is_empty()
        && name.len() <= 255
        && !name.starts_with(['-', '/'])
        && !name.ends_with(['/', '.'])
        && !name.contains("..")
        && !name.contains("//")
        && !name.contains("@{")
        && !name.chars().any(bad)
}

/// The name of a repository, as `owner/name`.
pub fn repository(value: &Value, path: &str) -> Result<String, EventError> {
    let expected = "a repository as owner/name";
    let name = text(value, path, expected)?;
    if is_repository(name) { Ok(name.to_owned()) } else { Err(wrong(value, path, expected)) }
}

/// Whether a text is `owner/name`.
pub fn is_repository(name: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part.len() <= 100
            && !matches!(part, "." | "..")
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    name.split_once('/').is_some_and(|(owner, name)| part(owner) && part(name))
}

/// An account; `None` for a deleted one, which GitHub sends as null.
pub fn account(value: &Value, path: &str) -> Result<Option<Account>, EventError> {
    let one = at(value, path);
    if one.is_null() {
        return Ok(None);
    }
    let login = text(value, &format!("{path}.login"), "a login")?;
    let single_safe_line = |byte: u8| byte.is_ascii_alphanumeric() || b"-_[]".contains(&byte);
    if login.is_empty() || login.len() > 100 || !login.bytes().all(single_safe_line) {
        return Err(wrong(value, &format!("{path}.login"), "a login"));
    }
    let id = number(value, &format!("{path}.id"))?;
    let kind = match at(one, "type").as_str() {
        Some("User") => AccountKind::User,
        Some("Bot") => AccountKind::Bot,
        _ => AccountKind::Other,
    };
    Ok(Some(Account { login: login.to_owned(), id, kind }))
}
