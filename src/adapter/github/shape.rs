//! Answers as GitHub really sends them: only what is needed, and lenient about the rest.

use serde::Deserialize;
use serde_json::Value;

use crate::effect::Account;

/// An account; `null` in its place means it was deleted.
#[derive(Clone, Debug, Deserialize)]
pub struct User {
    /// Never changes.
    pub id: u64,
    /// Name.
    pub login: String,
    /// `User`, `Bot`, ...
    #[serde(default, rename = "type")]
    pub kind: String,
}

impl From<User> for Account {
    fn from(user: User) -> Self {
        Self { id: user.id, bot: user.kind == "Bot", login: user.login }
    }
}

/// A repository.
#[derive(Clone, Debug, Deserialize)]
pub struct Repository {
    /// `owner/name`.
    pub full_name: String,
    /// Missing in short forms.
    #[serde(default)]
    pub default_branch: String,
    /// Not public.
    #[serde(default)]
    pub private: bool,
    /// Of another one.
    #[serde(default)]
    pub fork: bool,
}

/// The answer about a permission.
#[derive(Debug, Deserialize)]
pub struct PermissionAnswer {
    /// `admin`, `write`, `read`, `none`.
    pub permission: String,
    /// Finer or custom.
    #[serde(default)]
    pub role_name: Option<String>,
}

/// The answer about a member of a team.
#[derive(Debug, Deserialize)]
pub struct Membership {
    /// `active` or `pending`.
    pub state: String,
}

/// A comment.
#[derive(Debug, Deserialize)]
pub struct Comment {
    /// Number.
    pub id: u64,
    /// Page.
    #[serde(default)]
    pub html_url: String,
    /// Text.
    #[serde(default)]
    pub body: Option<String>,
    /// Who, if still there.
    #[serde(default)]
    pub user: Option<User>,
    /// RFC 3339.
    #[serde(default)]
    pub created_at: String,
    /// RFC 3339; the same until it is edited.
    #[serde(default)]
    pub updated_at: String,
}

/// One end of a pull request.
#[derive(Debug, Deserialize)]
pub struct End {
    /// Branch.
    #[serde(rename = "ref")]
    pub branch: String,
    /// Tip.
    pub sha: String,
    /// Gone with a deleted fork.
    #[serde(default)]
    pub repo: Option<Repository>,
}

/// A pull request.
#[derive(Debug, Deserialize)]
pub struct Pull {
    /// Number.
    pub number: u64,
    /// Page.
    #[serde(default)]
    pub html_url: String,
    /// `open` or `closed`.
    pub state: String,
    /// When merged.
    #[serde(default)]
    pub merged_at: Option<Value>,
    /// Not ready.
    #[serde(default)]
    pub draft: Option<bool>,
    /// Title.
    #[serde(default)]
    pub title: String,
    /// Description.
    #[serde(default)]
    pub body: Option<String>,
    /// From.
    pub head: End,
    /// To.
    pub base: End,
    /// Who.
    #[serde(default)]
    pub user: Option<User>,
    /// Labels.
    #[serde(default)]
    pub labels: Vec<Name>,
}

/// Something with a name.
#[derive(Debug, Deserialize)]
pub struct Name {
    /// The name.
    #[serde(default)]
    pub name: String,
}

/// An issue, or a pull request in its clothes.
#[derive(Debug, Deserialize)]
pub struct Issue {
    /// Number.
    pub number: u64,
    /// Page.
    #[serde(default)]
    pub html_url: String,
    /// `open` or `closed`.
    #[serde(default)]
    pub state: String,
    /// Title.
    #[serde(default)]
    pub title: String,
    /// Description.
    #[serde(default)]
    pub body: Option<String>,
    /// Who, if still there.
    #[serde(default)]
    pub user: Option<User>,
    /// Present for pull requests.
    #[serde(default)]
    pub pull_request: Option<Value>,
}

/// A check run.
#[derive(Debug, Deserialize)]
pub struct Run {
    /// Number.
    pub id: u64,
    /// Page.
    #[serde(default)]
    pub html_url: Option<String>,
    /// Ours.
    #[serde(default)]
    pub external_id: Option<String>,
    /// What is shown.
    #[serde(default)]
    pub output: RunOutput,
    /// Who made it.
    #[serde(default)]
    pub app: Option<App>,
}

/// What a check run shows.
#[derive(Debug, Default, Deserialize)]
pub struct RunOutput {
    /// How many annotations it holds.
    #[serde(default)]
    pub annotations_count: u64,
}

/// An App.
#[derive(Debug, Deserialize)]
pub struct App {
    /// Its account is `<slug>[bot]`.
    #[serde(default)]
    pub slug: Option<String>,
}

/// A page of check runs.
#[derive(Debug, Deserialize)]
pub struct Runs {
    /// The runs.
    pub check_runs: Vec<Run>,
}

/// A reference.
#[derive(Debug, Deserialize)]
pub struct Reference {
    /// What it points to.
    pub object: Object,
}

/// A git object.
#[derive(Debug, Deserialize)]
pub struct Object {
    /// Its name.
    pub sha: String,
}

/// A git commit.
#[derive(Debug, Deserialize)]
pub struct GitCommit {
    /// Message.
    #[serde(default)]
    pub message: String,
    /// What it is on top of.
    #[serde(default)]
    pub parents: Vec<Object>,
}

/// A commit of a pull request.
#[derive(Debug, Deserialize)]
pub struct ListedCommit {
    /// The git part.
    pub commit: GitMessage,
}

/// What a commit says.
#[derive(Debug, Deserialize)]
pub struct GitMessage {
    /// Message.
    #[serde(default)]
    pub message: String,
}
