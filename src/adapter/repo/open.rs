//! Finds the user's repository, rejects unusable ones, and reads branches and session files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use git2::{
    ErrorClass, ErrorCode, IndexEntryExtendedFlag, Repository, RepositoryOpenFlags, RepositoryState,
};
use serde::Serialize;

use crate::adapter::host::{environment, files};
use crate::domain::id::{CommitId, RepoPath, SessionId};
use crate::effect::GitError;

use super::failed;
use super::objects::{copy_shallow, name};

/// Facts about the user's repository; `doctor` shows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RepositoryFacts {
    #[serde(rename = "repository")]
    pub root: PathBuf,
    /// The git directory shared by all worktrees.
    #[serde(skip)]
    pub common: PathBuf,
    /// Folder below the root where the user started; empty at the root.
    #[serde(skip)]
    pub subdirectory: String,
    pub head: CommitId,
    /// The branch that is checked out; `None` with a detached head.
    pub branch: Option<String>,
    /// Tracked files with uncommitted changes.
    pub modified: usize,
    /// Untracked files that are not ignored.
    pub untracked: usize,
    pub shallow: bool,
    /// A merge or rebase in progress, in words.
    pub operation: Option<&'static str>,
}

impl RepositoryFacts {
    /// What is under way in the folder of the user and stays out of a session.
    pub fn describe_changes(&self) -> Vec<String> {
        let mut notices = Vec::new();
        let changed = self.modified + self.untracked;
        if changed > 0 {
            let files = if changed == 1 {
                "1 uncommitted file is".to_owned()
            } else {
                format!("{changed} uncommitted files are")
            };
            notices.push(format!(
                "{files} not tested: regreen works on commit {}, in a checkout of its own; commit or stash before you merge a fix",
                self.head.short()
            ));
        }
        if let Some(operation) = self.operation {
            notices.push(format!("{operation} is under way here; it is left alone, and has to end before you merge a fix"));
        }
        notices
    }
}

/// Finds the repository around `path`.
/// Fails with [`GitError::NoRepository`], or [`GitError::Refused`] with what to do: no commit yet,
/// no checkout, owned by another user.
pub fn discover(path: &Path) -> Result<RepositoryFacts, GitError> {
    let start =
        path.canonicalize().map_err(|_missing| GitError::Absent { path: path.to_owned() })?;
    if start.is_file() {
        return Err(GitError::File { path: path.to_owned() });
    }
    let refused = |reason: &str, hint: String| GitError::Refused {
        path: start.clone(),
        reason: reason.to_owned(),
        hint,
    };
    let repo = discover_trusted(&start).map_err(|error| match (error.class(), error.code()) {
        (_, ErrorCode::Owner) => refused(
            "the repository belongs to another user",
            format!("git config --global --add safe.directory '{}'", start.display()),
        ),
        (ErrorClass::Repository, ErrorCode::NotFound) => {
            GitError::NoRepository { path: start.clone() }
        }
        _ => refused(error.message(), "check it with `git fsck`".into()),
    })?;
    let Some(root) = repo.workdir() else {
        return Err(refused(
            "the repository is bare, so there are no files to test",
            "clone it and run there".into(),
        ));
    };
    let root = root.canonicalize().map_err(super::io("read the checkout"))?;
    let head = match repo.head() {
        Ok(head) => head,
        Err(error) if error.code() == ErrorCode::UnbornBranch => {
            return Err(refused(
                "the repository has no commit yet",
                "commit your files first: git add -A && git commit -m 'First commit'".into(),
            ));
        }
        Err(error) => return Err(failed("read HEAD")(error)),
    };
    let commit = head.peel_to_commit().map_err(failed("read the commit of HEAD"))?;
    let detached = repo.head_detached().unwrap_or(false);
    let branch = head.shorthand().ok().filter(|_| !detached).map(str::to_owned);
    let (modified, untracked) = count_changes(&repo).map_err(|error| {
        if error.message().contains(SPARSE_INDEX) {
            return refused("its index is sparse, which cannot be read", FULL_INDEX.into());
        }
        failed("compare the checkout")(error)
    })?;
    let subdirectory = start.strip_prefix(&root).ok().and_then(Path::to_str).unwrap_or_default();
    Ok(RepositoryFacts {
        common: repo.commondir().canonicalize().map_err(super::io("read the git directory"))?,
        subdirectory: subdirectory.to_owned(),
        head: name(commit.id())?,
        branch,
        modified,
        untracked,
        shallow: repo.is_shallow(),
        operation: operation(repo.state()),
        root,
    })
}

/// Numbers of changed tracked files and of untracked ones; a sparse checkout changes none.
fn count_changes(repo: &Repository) -> Result<(usize, usize), git2::Error> {
    let index = repo.index()?;
    let is_left_out = |path: &[u8]| {
        let entry = index.get_path(Path::new(OsStr::from_bytes(path)), 0);
        entry.is_some_and(|entry| {
            IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_skip_worktree()
        })
    };
    let mut options = git2::StatusOptions::new();
    options.include_untracked(true).include_ignored(false).exclude_submodules(true);
    options.no_refresh(true).update_index(false);
    let statuses = repo.statuses(Some(&mut options))?;
    let changed: Vec<_> =
        statuses.iter().filter(|entry| !is_left_out(entry.path_bytes())).collect();
    let untracked = changed.iter().filter(|entry| entry.status().is_wt_new()).count();
    Ok((changed.len() - untracked, untracked))
}

/// The extension of an index that libgit2 refuses.
const SPARSE_INDEX: &str = "sdir";

const FULL_INDEX: &str = "write a full index: git sparse-checkout reapply --no-sparse-index";

/// Variables that name a folder whose repositories are trusted regardless of their owner. The runner sets
/// the first one: what lies below was checked out for this job, by another user than the one that
/// a container runs as.
const TRUSTED: [&str; 2] = ["GITHUB_WORKSPACE", "REGREEN_SAFE_DIRECTORY"];

/// Finds the repository; one that another user owns only inside a trusted folder.
///
/// libgit2 checks the owner in [`Repository::open`] and not for a bare repository, so such a
/// checkout is opened by its git directory and given its files afterwards. Nothing of a
/// repository's configuration is run here, regardless of its author.
pub(super) fn discover_trusted(start: &Path) -> Result<Repository, git2::Error> {
    let found = Repository::discover(start);
    let Err(error) = &found else { return found };
    if error.code() != ErrorCode::Owner {
        return found;
    }
    let trusted =
        TRUSTED.iter().filter_map(|name| environment::path_from(name)?.canonicalize().ok());
    let trusted: Vec<PathBuf> = trusted.filter(|folder| folder.parent().is_some()).collect();
    let root = start.ancestors().find(|folder| folder.join(".git").exists());
    match root {
        Some(root) if trusted.iter().any(|folder| root.starts_with(folder)) => {
            let inner = root.join(".git");
            // A linked worktree or a submodule has a `.git` file that points elsewhere.
            if !std::fs::symlink_metadata(&inner).is_ok_and(|facts| facts.is_dir()) {
                return found;
            }
            let repo = Repository::open_bare(inner)?;
            repo.set_workdir(root, false)?;
            Ok(repo)
        }
        _ => found,
    }
}

/// Opens a repository that [`discover`] accepted.
pub(super) fn reopen(facts: &RepositoryFacts) -> Result<Repository, GitError> {
    match Repository::open(&facts.root) {
        Err(error) if error.code() == ErrorCode::Owner => bare(&facts.common),
        opened => opened.map_err(failed("open the repository")),
    }
}

/// Opens a shared git directory without a work tree. [`Repository::open_bare`] alone would not know
/// where a shallow history is cut. Another user's directory is opened through a small one of our
/// own that points to it, as a linked worktree's does.
pub(super) fn bare(common: &Path) -> Result<Repository, GitError> {
    let open = |path: &Path| {
        let flags = RepositoryOpenFlags::BARE | RepositoryOpenFlags::NO_SEARCH;
        Repository::open_ext(path, flags, &[] as &[&Path])
    };
    match open(common) {
        Err(error) if error.code() == ErrorCode::Owner => {}
        opened => return opened.map_err(failed("open the repository")),
    }
    let view = common.join("regreen-view");
    files::create_folder(&view).map_err(super::io("create a view of the repository"))?;
    let link = format!("{}\n", common.display());
    let write = || {
        let head = files::read(&common.join("HEAD"), 1 << 20)?;
        files::write(&view.join("HEAD"), &head.unwrap_or_default())?;
        files::write(&view.join("commondir"), link.as_bytes())
    };
    write().map_err(super::io("write a view of the repository"))?;
    copy_shallow(common, &view)?;
    open(&view).map_err(failed("open a view of the repository"))
}

fn operation(state: RepositoryState) -> Option<&'static str> {
    match state {
        RepositoryState::Clean => None,
        RepositoryState::Merge => Some("a merge"),
        RepositoryState::Revert | RepositoryState::RevertSequence => Some("a revert"),
        RepositoryState::CherryPick | RepositoryState::CherryPickSequence => Some("a cherry-pick"),
        RepositoryState::Bisect => Some("a bisection"),
        RepositoryState::Rebase
        | RepositoryState::RebaseInteractive
        | RepositoryState::RebaseMerge => Some("a rebase"),
        RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => {
            Some("an applied mailbox")
        }
    }
}

/// Fails when a reference names no commit.
pub fn check_reference(facts: &RepositoryFacts, reference: &str) -> Result<(), GitError> {
    let repo = reopen(facts)?;
    let found = repo.revparse_single(reference).and_then(|object| object.peel_to_commit());
    found.map(drop).map_err(|_error| GitError::UnknownReference { name: reference.to_owned() })
}

/// Removes a branch whose tip is still `tip`; a missing branch is not an error.
pub fn remove_branch(
    facts: &RepositoryFacts,
    branch: &str,
    tip: &CommitId,
) -> Result<(), GitError> {
    let repo = reopen(facts)?;
    let Ok(mut reference) = repo.find_reference(&format!("refs/heads/{branch}")) else {
        return Ok(());
    };
    if reference.target().is_some_and(|oid| oid.to_string() == tip.as_str()) {
        reference.delete().map_err(failed(format!("remove branch {branch}")))?;
    }
    Ok(())
}

/// Whether a local branch exists.
pub fn has_branch(facts: &RepositoryFacts, branch: &str) -> bool {
    reopen(facts).is_ok_and(|repo| repo.find_branch(branch, git2::BranchType::Local).is_ok())
}

/// The tip of a local branch; `None` when the branch does not exist.
pub fn tip_of(facts: &RepositoryFacts, branch: &str) -> Option<CommitId> {
    let repo = reopen(facts).ok()?;
    let tip = repo.find_reference(&format!("refs/heads/{branch}")).ok()?.target()?;
    name(tip).ok()
}

/// The text of a plain file of the head commit, whose path is relative to the folder in which the user
/// started or to one above; `None` if there is none.
pub fn committed_text(facts: &RepositoryFacts, path: &str) -> Option<String> {
    let repo = reopen(facts).ok()?;
    let commit = repo.find_commit(git2::Oid::from_str(facts.head.as_str()).ok()?).ok()?;
    let tree = super::tree::id(commit.tree_id()).ok()?;
    Path::new(&facts.subdirectory).ancestors().find_map(|folder| {
        let file = RepoPath::parse(normal(&folder.join(path))?.to_str()?).ok()?;
        String::from_utf8(super::tree::read(&repo, &tree, &file).ok()??).ok()
    })
}

/// A relative path without `.` and `..`; `None` if it leaves the folder in which it begins.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => {
                normal.pop().then_some(())?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

/// State files of a session: paths inside its folder, and contents.
pub type SessionFiles = Vec<(String, Vec<u8>)>;

/// The state files of a session at a branch's tip, inside its folder; `None` without any.
pub fn read_session(
    facts: &RepositoryFacts,
    branch: &str,
    state_folder: &str,
    session: &SessionId,
) -> Result<Option<SessionFiles>, GitError> {
    let repo = reopen(facts)?;
    let found = repo
        .find_branch(branch, git2::BranchType::Local)
        .or_else(|_| repo.find_branch(&format!("origin/{branch}"), git2::BranchType::Remote));
    let Ok(found) = found else { return Ok(None) };
    let tree = found.get().peel_to_tree().map_err(failed(format!("read branch {branch}")))?;
    session_in(&repo, &tree, state_folder, session)
}

/// The state files of a session in a tree.
pub(super) fn session_in(
    repo: &Repository,
    tree: &git2::Tree<'_>,
    state_folder: &str,
    session: &SessionId,
) -> Result<Option<SessionFiles>, GitError> {
    let folder = format!("{state_folder}/{}", session.state_folder());
    let Ok(entry) = tree.get_path(Path::new(&folder)) else { return Ok(None) };
    let object = entry.to_object(repo).map_err(failed("read the session's folder"))?;
    let Some(folder) = object.as_tree() else { return Ok(None) };
    let mut files = Vec::new();
    folder
        .walk(git2::TreeWalkMode::PreOrder, |parent, entry| {
            if entry.kind() == Some(git2::ObjectType::Blob)
                && let Ok(name) = entry.name()
                && let Ok(blob) = repo.find_blob(entry.id())
            {
                files.push((format!("{parent}{name}"), blob.content().to_vec()));
            }
            git2::TreeWalkResult::Ok
        })
        .map_err(failed("read the session's folder"))?;
    Ok(Some(files))
}
