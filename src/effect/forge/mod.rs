//! The `Forge` trait: pull requests, comments, check runs, issues, labels and permissions.
//!
//! Every method that writes documents the effect of a repeated call, since a run may be killed
//! after the call and before its result is recorded.

mod error;

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::Deserialize;

pub use crate::domain::check::{
    ANNOTATION_LIMIT, Annotation, CHECK_LIMIT, COMMENT_LIMIT, CheckRun, CheckStatus, Conclusion,
    Level,
};
use crate::domain::id::{CommitId, RepoPath};
pub use error::{ForgeError, ForgeErrorKind};

/// The service that hosts the repository.
#[async_trait]
pub trait Forge: Send + Sync {
    /// Reads the repository and its current name, for calls after a rename; called first.
    async fn repository(&self) -> Result<RepositoryInfo, ForgeError>;

    /// The permission level of an account, never cached. Treat any error as a refusal.
    async fn permission(&self, login: &str) -> Result<Permission, ForgeError>;

    /// Whether an account is an active member of a team. `false` also if the team does not exist or
    /// is hidden from the token; a token that may not query teams at all is an error.
    async fn is_member(
        &self,
        organisation: &str,
        team: &str,
        login: &str,
    ) -> Result<bool, ForgeError>;

    async fn pull(&self, number: u64) -> Result<PullRequest, ForgeError>;

    /// Pull requests of any state from `branch` of `owner`, newest first, at most 100.
    async fn pulls_of_head(
        &self,
        owner: &str,
        branch: &str,
    ) -> Result<Vec<PullRequest>, ForgeError>;

    /// Opens a pull request, or updates the open one of the same branches if regreen opened it; one
    /// that somebody else opened is returned unchanged. A repeated call has no further effect.
    /// Fails with [`ForgeErrorKind::CreationForbidden`] where the repository's settings do not let
    /// a workflow open pull requests; offer [`Forge::compare_link`] then.
    async fn open_pull(&self, new: &NewPull) -> Result<PutPull, ForgeError>;

    /// The URL of the page on which a person can open this pull request.
    fn compare_link(&self, base: &str, head: &str) -> String;

    /// Changes the fields that are set in `edit`. A repeated call has no further effect.
    async fn update_pull(&self, number: u64, edit: &PullEdit) -> Result<(), ForgeError>;

    /// Creates regreen's comment that begins with `marker` on an issue or pull request, or edits it
    /// if its text changed. A repeated call never creates a second comment.
    async fn put_comment(&self, number: u64, marker: &str, body: &str) -> Result<Done, ForgeError>;

    /// Edits regreen's comment that begins with `marker`, and creates none.
    async fn update_comment(
        &self,
        number: u64,
        marker: &str,
        body: &str,
    ) -> Result<Done, ForgeError>;

    /// Comments created after `since` (RFC 3339), oldest first; edited older ones are left out.
    async fn comments_since(&self, number: u64, since: &str)
    -> Result<Vec<ForgeEntry>, ForgeError>;

    /// Adds a reaction. A repeated call has no further effect.
    async fn react(&self, kind: CommentKind, id: u64, reaction: Reaction)
    -> Result<(), ForgeError>;

    /// Creates or updates regreen's check run with this commit, name and external id.
    ///
    /// Annotations can only be added to a check run. [`CheckRun::annotations`] is therefore the
    /// whole list in a stable order, and those that the run already has are not sent. Repeated
    /// calls create neither a second run nor duplicate annotations.
    async fn put_check(&self, run: &CheckRun) -> Result<Done, ForgeError>;

    /// Opens an issue, unless regreen already opened one with this marker (open or closed) or an
    /// open issue has the same title. A repeated call never opens a second issue.
    async fn put_issue(&self, new: &NewIssue) -> Result<PutIssue, ForgeError>;

    /// Adds labels to an issue or pull request, and creates missing labels first. Returns those
    /// that could not be created. A repeated call has no further effect.
    async fn add_labels(&self, number: u64, labels: &[Label]) -> Result<LabelErrors, ForgeError>;

    /// Starts a workflow of the repository by its file name. Every call starts another run, so a
    /// call that may have succeeded is never repeated.
    async fn dispatch_workflow(&self, file: &str, reference: &str) -> Result<(), ForgeError>;

    /// The commit at the tip of a branch; `None` without such a branch.
    async fn branch_sha(&self, branch: &str) -> Result<Option<CommitId>, ForgeError>;

    /// Commits files on top of `expected_head`, signed by the forge. A repeated call returns the
    /// commit of the first one.
    /// Fails with [`ForgeErrorKind::Stale`] when the branch is elsewhere.
    async fn commit_on_branch(&self, commit: &BranchCommit) -> Result<CommitId, ForgeError>;

    /// Number of commits, among the newest 250 of a pull request, whose message contains `mark`. It
    /// limits how often regreen may run on one pull request.
    async fn marked_commits(&self, number: u64, mark: &str) -> Result<u32, ForgeError>;
}

/// The facts that the service reports about a repository.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RepositoryInfo {
    /// `owner/name` as the forge spells it now.
    pub full_name: String,
    /// Default branch, such as `main`; empty in abbreviated responses.
    #[serde(default)]
    pub default_branch: String,
}

/// Permission level of an account, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    None,
    /// Read, as everybody can in a public repository.
    Read,
    /// May read, and sort issues.
    Triage,
    /// May push.
    Write,
    /// Push and manage the repository, except for destructive settings.
    Maintain,
    Admin,
}

/// State of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullState {
    Open,
    Closed,
    Merged,
}

/// One of the two branches of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullEnd {
    pub branch: String,
    pub sha: CommitId,
    /// Repository of the branch as `owner/name`; `None` if it was deleted.
    pub repository: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Numeric id, which never changes.
    pub id: u64,
    pub login: String,
    /// Whether the forge marks the account as a bot.
    pub bot: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    pub number: u64,
    pub url: String,
    pub state: PullState,
    pub draft: bool,
    /// The title, which is foreign text.
    pub title: String,
    /// The description, which is foreign text.
    pub body: String,
    pub head: PullEnd,
    pub base: PullEnd,
    /// Account that opened it; `None` if it was deleted.
    pub author: Option<Account>,
    pub labels: Vec<String>,
}

impl PullRequest {
    /// Whether its code comes from another repository, or from one that was deleted.
    pub fn is_foreign(&self) -> bool {
        self.head.repository.is_none() || self.head.repository != self.base.repository
    }
}

/// A pull request to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPull {
    pub head: String,
    pub base: String,
    /// Title, cut at 256 characters.
    pub title: String,
    /// Description, cut at [`COMMENT_LIMIT`]; the marker is put before it.
    pub body: String,
    pub draft: bool,
    /// Hidden line that identifies it as regreen's, such as `<!-- regreen:WFS-test-pr-7 -->`.
    pub marker: String,
}

/// Fields of a pull request to change; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullEdit {
    pub title: Option<String>,
    pub body: Option<String>,
    pub open: Option<bool>,
}

/// The result of [`Forge::open_pull`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutPull {
    pub number: u64,
    pub url: String,
    /// Whether the call opened the pull request, rather than finding it open.
    pub created: bool,
}

/// Result of creating or updating a comment or check run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    Created,
    /// It existed with other content.
    Edited,
    /// It existed with the same content.
    Unchanged,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeEntry {
    pub id: u64,
    /// Author; `None` if the account was deleted.
    pub author: Option<Account>,
    /// The text, which is foreign.
    pub body: String,
    /// Whether it was edited after it was posted.
    pub edited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentKind {
    /// In the conversation of an issue or pull request.
    Issue,
    /// At a line of a pull request's diff.
    Review,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// The comment was read, and work begins.
    Eyes,
    Rocket,
    /// The author may not command this.
    ThumbsDown,
    /// The comment was not understood.
    Confused,
}

/// An issue to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIssue {
    /// Title, cut at 256 characters; must be specific, since existing issues are matched by it.
    pub title: String,
    /// Description, cut at [`COMMENT_LIMIT`]; the marker is put before it.
    pub body: String,
    pub labels: Vec<Label>,
    /// Hidden line that identifies the issue.
    pub marker: String,
}

/// A label; colour and description are used only if it has to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub name: String,
    pub colour: String,
    /// The purpose of the label, cut at 100 characters.
    pub description: String,
}

/// Names of the labels that could not be created, with the reasons.
pub type LabelErrors = BTreeMap<String, String>;

/// The result of [`Forge::put_issue`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutIssue {
    pub number: u64,
    pub url: String,
    pub created: bool,
    pub left_out: LabelErrors,
}

/// A commit that the forge creates and signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchCommit {
    pub branch: String,
    /// The tip that the branch must have; the commit is made on top of it or not at all.
    pub expected_head: CommitId,
    /// First line of the message.
    pub headline: String,
    /// Rest of the message, including the trailers.
    pub body: String,
    /// Files with their new content; neither symbolic links nor new executable files.
    pub additions: Vec<(RepoPath, Vec<u8>)>,
    pub deletions: Vec<RepoPath>,
}
