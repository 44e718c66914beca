//! Serde types for GitHub's responses: only the needed fields, lenient about all others.

use serde::Deserialize;
use serde_json::Value;

use crate::effect::{Account, RepositoryInfo};

/// An account; `null` in its place means it was deleted.
#[derive(Clone, Debug, Deserialize)]
pub struct User {
    /// The number of the account, which never changes.
    pub id: u64,
    pub login: String,
    /// Type of the account, such as `User` or `Bot`.
    #[serde(default, rename = "type")]
    pub kind: String,
}

impl From<User> for Account {
    fn from(user: User) -> Self {
        Self { id: user.id, bot: user.kind == "Bot", login: user.login }
    }
}

#[derive(Debug, Deserialize)]
pub struct Comment {
    pub id: u64,
    pub body: Option<String>,
    pub user: Option<User>,
    /// Time of the change in RFC 3339.
    #[serde(default)]
    pub created_at: String,
    /// Time of the last edit, RFC 3339; equal to `created_at` until the first one.
    #[serde(default)]
    pub updated_at: String,
}

/// Head or base of a pull request.
#[derive(Debug, Deserialize)]
pub struct End {
    #[serde(rename = "ref")]
    pub branch: String,
    pub sha: String,
    /// `None` once the fork is deleted.
    pub repo: Option<RepositoryInfo>,
}

/// A pull request.
#[derive(Debug, Deserialize)]
pub struct Pull {
    pub number: u64,
    #[serde(default)]
    pub html_url: String,
    /// `open` or `closed`.
    pub state: String,
    pub merged_at: Option<Value>,
    pub draft: Option<bool>,
    #[serde(default)]
    pub title: String,
    pub body: Option<String>,
    pub head: End,
    pub base: End,
    pub user: Option<User>,
    #[serde(default)]
    pub labels: Vec<Value>,
}

/// An issue, or a pull request, which GitHub lists as an issue too.
#[derive(Debug, Deserialize)]
pub struct Issue {
    pub number: u64,
    #[serde(default)]
    pub html_url: String,
    /// `open` or `closed`.
    #[serde(default)]
    pub state: String,
    #[serde(default)]
    pub title: String,
    pub body: Option<String>,
    pub user: Option<User>,
    pub pull_request: Option<Value>,
}

/// A check run.
#[derive(Debug, Deserialize)]
pub struct Run {
    pub id: u64,
    pub external_id: Option<String>,
    #[serde(default)]
    pub output: Value,
    #[serde(default)]
    pub app: Value,
}

/// A page of check runs.
#[derive(Debug, Deserialize)]
pub struct Runs {
    pub check_runs: Vec<Run>,
}
