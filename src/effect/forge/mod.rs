//! The forge: pull requests, comments, check runs, issues, labels and permissions, as values.
//!
//! Every writing method names what happens when it is called again, since a run may be killed
//! between the call and the note about it.

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
    /// Reads the repository and remembers its present name, so that later calls reach it after it
    /// was renamed. Call it first.
    async fn repository(&self) -> Result<RepositoryInfo, ForgeError>;

    /// What an account may do, asked anew each time. Any error means: refuse.
    async fn permission(&self, login: &str) -> Result<Permission, ForgeError>;

    /// Whether an account is an active member of a team. `false` also when the team is not there
    /// or the token may not see it; a token that may not ask at all is an error.
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

    /// Opens a pull request, or brings the open one of the same branches up to date when it is
    /// ours. One that somebody else opened is returned unchanged. Called again: the same one.
    /// Fails with [`ForgeErrorKind::CreationForbidden`] where the repository's settings do not let
    /// a workflow open pull requests; offer [`Forge::compare_link`] then.
    async fn open_pull(&self, new: &NewPull) -> Result<PutPull, ForgeError>;

    /// The address where a person opens this pull request with two clicks.
    fn compare_link(&self, base: &str, head: &str) -> String;

    /// Changes what is set in `edit`. Called again: the same content.
    async fn update_pull(&self, number: u64, edit: &PullEdit) -> Result<(), ForgeError>;

    /// Writes the one comment that begins with `marker` below an issue or pull request, which we
    /// wrote; edits it in place, and only when the text changed. Called again: still one comment.
    async fn put_comment(&self, number: u64, marker: &str, body: &str) -> Result<Done, ForgeError>;

    /// Comments below an issue or pull request that were written after `since`, RFC 3339, oldest
    /// first. The API lists edited older ones too; they are left out.
    async fn comments_since(&self, number: u64, since: &str)
    -> Result<Vec<ForgeEntry>, ForgeError>;

    /// Adds a reaction. Called again: the same one reaction.
    async fn react(&self, kind: CommentKind, id: u64, reaction: Reaction)
    -> Result<(), ForgeError>;

    /// Writes the one check run with this commit, name and external id, which we made.
    ///
    /// Annotations only add up on a forge. [`CheckRun::annotations`] is therefore the whole list
    /// in an order that stays; what the run already holds of it is not sent. Called again: still
    /// one run, and each annotation once.
    async fn put_check(&self, run: &CheckRun) -> Result<Done, ForgeError>;

    /// Opens an issue, unless we opened one with its marker (open or closed) or an open one has
    /// its title. Called again: still one issue.
    async fn put_issue(&self, new: &NewIssue) -> Result<PutIssue, ForgeError>;

    /// Adds labels to an issue or pull request, made first where they are missing. Returns those
    /// that could not be made. Called again: each label once.
    async fn add_labels(&self, number: u64, labels: &[Label]) -> Result<LeftOut, ForgeError>;

    /// Starts a workflow of the repository by its file name. Never repeated when it may have
    /// started: called again, it starts again.
    async fn dispatch_workflow(&self, file: &str, reference: &str) -> Result<(), ForgeError>;

    /// The commit at the tip of a branch; `None` without such a branch.
    async fn branch_sha(&self, branch: &str) -> Result<Option<CommitId>, ForgeError>;

    /// Commits files on top of `expected_head`, signed by the forge. Called again after it
    /// happened: the commit it made.
    /// Fails with [`ForgeErrorKind::Stale`] when the branch is elsewhere.
    async fn commit_on_branch(&self, commit: &BranchCommit) -> Result<CommitId, ForgeError>;

    /// Commits of a pull request whose message carries a mark, of the newest 250; for the breaker
    /// that survives runs.
    async fn marked_commits(&self, number: u64, mark: &str) -> Result<u32, ForgeError>;
}

/// The facts that the service reports about a repository.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RepositoryInfo {
    /// `owner/name` as the forge writes it now.
    pub full_name: String,
    /// Such as `main`; empty in short forms.
    #[serde(default)]
    pub default_branch: String,
    #[serde(default)]
    pub fork: bool,
}

/// What an account may do in the repository, from nothing to everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    None,
    /// Read, as everybody may in a public repository.
    Read,
    /// May read, and sort issues.
    Triage,
    /// May push.
    Write,
    /// Push, and manage without settings that destroy.
    Maintain,
    Admin,
}

/// Where a pull request is in its life.
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
    /// `owner/name` it is in; `None` when a fork was deleted.
    pub repository: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The number that never changes.
    pub id: u64,
    pub login: String,
    /// Whether the forge says it is a program.
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
    /// Who opened it; `None` when the account is gone.
    pub author: Option<Account>,
    pub labels: Vec<String>,
}

impl PullRequest {
    /// Whether its code comes from another repository, or from one that is gone.
    #[must_use]
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
    /// Hidden line that says it is ours, such as `<!-- regreen:WFS-test-pr-7 -->`.
    pub marker: String,
}

/// What to change of a pull request; `None` stays.
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

/// The effect of writing something that is written once and then kept up to date.
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
    /// Who; `None` for a deleted account.
    pub author: Option<Account>,
    /// The text, which is foreign.
    pub body: String,
    /// Whether it was changed after it was written.
    pub edited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentKind {
    /// Below an issue or pull request.
    Issue,
    /// At a line of a pull request.
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
    /// Title, cut at 256 characters; says what it is about, since it is compared.
    pub title: String,
    /// Description, cut at [`COMMENT_LIMIT`]; the marker is put before it.
    pub body: String,
    pub labels: Vec<Label>,
    /// Hidden line that names its subject.
    pub marker: String,
}

/// A label; the rest is used only when it must be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub name: String,
    pub colour: String,
    /// The purpose of the label, cut at 100 characters.
    pub description: String,
}

/// Names of the labels that could not be made, with the reasons.
pub type LeftOut = BTreeMap<String, String>;

/// The result of [`Forge::put_issue`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutIssue {
    pub number: u64,
    pub url: String,
    pub created: bool,
    pub left_out: LeftOut,
}

/// A commit that the forge makes and signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchCommit {
    pub branch: String,
    /// The tip that the branch must have; the commit is made on top of it or not at all.
    pub expected_head: CommitId,
    /// First line of the message.
    pub headline: String,
    /// The rest of it, trailers included.
    pub body: String,
    /// Files with their new content. No links and no executable new files.
    pub additions: Vec<(RepoPath, Vec<u8>)>,
    pub deletions: Vec<RepoPath>,
}
