//! `Worktree`: a private checkout with its fix branch, and operations on its git trees.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use crate::domain::checkout_gap::CheckoutGap;
use crate::domain::explanation::LineOrigin;
use crate::domain::id::{CommitId, RepoPath, TreeId};
use crate::domain::proposal::EditSet;
use crate::domain::shell;

/// Index in the git directory of a private checkout, for copies of the checkout.
pub const INDEX_OF_COPIES: &str = "regreen-index-of-copies";

/// A private checkout the loop may change. The user's own files are never in one.
///
/// Trees are git objects built from explicit edits, never from scanning the disk, so files that
/// tests leave behind are never committed. The session's state files are in commits and never in
/// a [`TreeId`] or on this disk. Every method may be repeated after a crash and then gives the
/// same answer.
#[async_trait]
pub trait Worktree: Send + Sync {
    /// Root of the files on disk.
    fn root(&self) -> &Path;

    /// Name of the fix branch.
    fn branch(&self) -> &str;

    /// Tip of the fix branch.
    async fn tip(&self) -> Result<CommitId, GitError>;

    /// The tree of a commit, without the session's state files.
    async fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError>;

    /// Applies `edits` to the tree `base` and returns the resulting tree; writes git objects only.
    /// Fails with [`GitError::Conflict`] when the text before an edit is not what `base` holds, or
    /// a part of a path is a link.
    async fn graft(&self, base: &TreeId, edits: &EditSet) -> Result<TreeId, GitError>;

    /// Makes the files on disk those of `tree`; ignored and untracked files stay.
    async fn checkout(&self, tree: &TreeId) -> Result<(), GitError>;

    /// What the last checkout or export at `root` lacks, sorted.
    fn gaps(&self, root: &Path) -> Vec<CheckoutGap>;

    /// Removes the files that stand in for missing content, until the next checkout.
    async fn remove_stand_ins(&self) -> Result<(), GitError>;

    /// Files of a tree, sorted; links and submodules are left out.
    async fn files(&self, tree: &TreeId) -> Result<Vec<RepoPath>, GitError>;

    /// Reads a file of a tree; `None` when it is not there or not a plain file.
    async fn read(&self, tree: &TreeId, file: &RepoPath) -> Result<Option<Vec<u8>>, GitError>;

    /// Differences between two trees, sorted by file, with three lines of context.
    async fn diff(&self, from: &TreeId, to: &TreeId) -> Result<Vec<FileDiff>, GitError>;

    /// Commits `request.tree` with the state files on the fix branch and moves it forward.
    /// Returns the commit of this branch that already carries the same message and trailers.
    async fn commit(&self, request: &CommitRequest) -> Result<CommitId, GitError>;

    /// The merge base of the head under test and a reference; `None` when there is none.
    async fn merge_base(&self, reference: &str) -> Result<Option<CommitId>, GitError>;

    /// The newest commit between `base` and the head under test that changed one of these lines of
    /// the head. Without a base only the recent history is read.
    async fn last_change(
        &self,
        file: &RepoPath,
        lines: RangeInclusive<u32>,
        base: Option<&CommitId>,
    ) -> Result<LineOrigin, GitError>;

    /// Writes the files of a tree into a scratch folder of the session and returns its path. Git finds the
    /// history of this commit there, or else that of the fix branch.
    async fn export(
        &self,
        tree: &TreeId,
        name: &str,
        commit: Option<&CommitId>,
    ) -> Result<PathBuf, GitError>;

    /// Like [`Worktree::export`], without a history, byte for byte as committed, and without the files that configure coding
    /// agents.
    async fn export_for_agent(&self, tree: &TreeId, name: &str) -> Result<PathBuf, GitError>;

    /// The edits that turn `tree` into the current content of the folder that
    /// [`Worktree::export_for_agent`] created under `name`. Leaves out links, large and binary
    /// files, files that git ignores, and files that configure coding agents.
    async fn collect(&self, name: &str, tree: &TreeId) -> Result<EditSet, GitError>;

    /// Removes the checkout and its registration; the branch stays.
    async fn remove(&self) -> Result<(), GitError>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRequest {
    pub tree: TreeId,
    /// Subject, body and trailers. The trailers make it unique within the branch.
    pub message: String,
    /// State files; if empty, the commit removes the session folder from the tip.
    pub state: Vec<StateFile>,
    /// Author and committer time, RFC 3339.
    pub time: String,
}

/// A state file inside a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFile {
    /// Path from the repository root, such as `.workflow/active/WFS-test-x/.process/…`.
    pub path: String,
    pub bytes: Vec<u8>,
}

/// A file that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// Path after, or before when it was deleted.
    pub file: RepoPath,
    /// Text before; `None` when it was created, or is binary.
    pub before: Option<String>,
    /// Text after; `None` when it was deleted, or is binary.
    pub after: Option<String>,
    /// Changed ranges, top to bottom.
    pub hunks: Vec<Hunk>,
    /// Unified diff text of this file, headers included.
    pub patch: String,
}

/// A changed range without context. A start of 0 with no lines means before the first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// First line before, from 1.
    pub old_start: u32,
    pub old_lines: u32,
    /// First line after, from 1.
    pub new_start: u32,
    pub new_lines: u32,
}

/// Why git could not do something.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{} is not in a git repository", path.display())]
    NoRepository { path: PathBuf },
    #[error("{} does not exist", path.display())]
    Absent { path: PathBuf },
    #[error("{} is a file, not a repository or a folder of one", path.display())]
    File { path: PathBuf },
    /// The repository is in a state that regreen cannot work with.
    #[error("{}: {reason}", path.display())]
    Refused { path: PathBuf, reason: String, hint: String },
    #[error("`{name}` is not a branch, tag or commit of this repository")]
    UnknownReference { name: String },
    #[error("`{branch}` cannot be the name of a branch")]
    BadBranch { branch: String },
    #[error("branch `{branch}` already exists and does not belong to session {session}")]
    BranchTaken { branch: String, session: String },
    /// Git keeps a branch as a file, so that none can have another one's name as its folder.
    #[error("branch `{branch}` cannot exist beside branch `{blocking}`")]
    BranchBlocked { branch: String, blocking: String },
    #[error("{file}: {reason}")]
    Conflict { file: RepoPath, reason: String },
    /// Git or the operating system refused something else.
    #[error("cannot {action}: {reason}")]
    Failed { action: String, reason: String },
}

impl GitError {
    /// What the reader can do next, in one imperative clause.
    pub fn hint(&self) -> String {
        match self {
            Self::NoRepository { .. } => "run inside a git repository, or name one".into(),
            Self::Absent { .. } => "name a folder that exists".into(),
            Self::File { .. } => {
                "name the folder of a suite, all of whose tests run; `regreen test FILE` writes tests of one file"
                    .into()
            }
            Self::Refused { hint, .. } => hint.clone(),
            Self::UnknownReference { .. } => {
                "fetch it first, or name one that `git branch -a` lists".into()
            }
            Self::BadBranch { .. } => {
                "choose another with `--branch`: no blanks, no `..`, none of `~^:?*[\\`, and no `/` at the ends"
                    .into()
            }
            Self::BranchTaken { .. } => "choose another with `--branch`, or delete it".into(),
            Self::BranchBlocked { blocking, .. } => format!(
                "choose another with `--branch`, or rename the one in the way: `git branch -m {} NEW-NAME`",
                shell::word(blocking)
            ),
            Self::Conflict { .. } => "run again; the proposal is made anew".into(),
            Self::Failed { .. } => "remove the cause that the message names, then run again".into(),
        }
    }
}
