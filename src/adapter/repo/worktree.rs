//! The private checkout of a session: a registered git worktree in a folder of our own.

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use git2::Repository;

use crate::adapter::host::{crash, files};
use crate::domain::checkout_gap::CheckoutGap;
use crate::domain::commit::is_of_session;
use crate::domain::explanation::LineOrigin;
use crate::domain::id::{CommitId, RepoPath, SessionId, TreeId};
use crate::domain::proposal::EditSet;
use crate::effect::{CommitRequest, FileDiff, GitError, Worktree};

use super::content::{self, Origin, Place};
use super::git_directory::UserRepository;
use super::objects::{copy_shallow, find_commit, message_of, name, oid};
use super::untracked::Untracked;
use super::{RepositoryFacts, commit, failed, folder_edits, io, line_history, tree};

/// Whether a private checkout is on a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branching {
    /// On a fix branch, created where it is missing.
    Branch,
    /// On a detached HEAD: nothing is committed.
    Detached,
}

/// Settings of a private checkout.
#[derive(Clone, Debug)]
pub struct WorktreeSettings<'a> {
    pub session: &'a SessionId,
    pub branch: &'a str,
    pub head: &'a CommitId,
    /// Folder that holds the private checkouts of this repository.
    pub work_root: &'a Path,
    /// The session's folder inside commits.
    pub state_folder: &'a str,
    pub branching: Branching,
}

/// A private checkout.
pub struct RepoWorktree {
    /// `git2::Repository` may move between threads but not be shared.
    repo: Mutex<Repository>,
    user: UserRepository,
    origin: Mutex<Origin>,
    /// What each checkout lacks, by its root.
    gaps: Mutex<BTreeMap<PathBuf, Vec<CheckoutGap>>>,
    untracked: Untracked,
    folder: PathBuf,
    root: PathBuf,
    registration: PathBuf,
    branch: String,
    head: CommitId,
    state_folder: String,
}

impl RepoWorktree {
    /// Opens the private checkout of a session, creating what is missing and repairing what a
    /// killed process left incomplete. The caller holds the session's lock.
    /// Fails with [`GitError::BranchTaken`] when the branch belongs to something else,
    /// [`GitError::Refused`] when it is checked out elsewhere.
    pub fn open(
        facts: &RepositoryFacts,
        settings: &WorktreeSettings<'_>,
    ) -> Result<Self, GitError> {
        let main = super::open::reopen(facts)?;
        let folder = settings.work_root.join(settings.session.as_str());
        let root = folder.join("tree");
        let registration = registration(&facts.common, settings.session);
        if settings.branching == Branching::Branch {
            claim_branch(&main, facts, settings)?;
        }
        register(&facts.common, &registration, &root, settings)?;
        let repo = Repository::open(&registration).map_err(failed("open the private checkout"))?;
        let branch = facts.branch.as_deref();
        let user = UserRepository::read(&repo, &facts.common, branch, settings.branch)
            .map_err(failed("read the references of the repository"))?;
        Ok(Self {
            user,
            repo: Mutex::new(repo),
            origin: Mutex::new(Origin::of(&facts.root, false)?),
            gaps: Mutex::default(),
            untracked: Untracked::find_in(&main, &facts.root),
            folder,
            root,
            registration,
            branch: settings.branch.to_owned(),
            head: settings.head.clone(),
            state_folder: settings.state_folder.to_owned(),
        })
    }

    fn with<T>(&self, act: impl FnOnce(&Repository) -> Result<T, GitError>) -> Result<T, GitError> {
        act(&self.repo.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn emptied(&self, name: &str) -> Result<PathBuf, GitError> {
        let folder = self.folder.join(name);
        files::remove_tree(&folder).map_err(io(format!("empty {}", folder.display())))?;
        fs::create_dir_all(&folder).map_err(io(format!("create {}", folder.display())))?;
        Ok(folder)
    }

    /// Makes the files of a folder what is committed for git: in `commit`, or above it if that has other files.
    fn lay_history(
        &self,
        target: &TreeId,
        commit: &CommitId,
        folder: &Path,
    ) -> Result<(), GitError> {
        self.with(|repo| {
            let tree = tree::find(repo, target)?;
            let head = commit::with_tree(repo, &find_commit(repo, commit)?, &tree)?;
            self.user.write_directory(folder, head, &tree, &repo.path().join("index"))
        })
    }

    /// Writes a tree as the user's checkout has it, and keeps what it lacks. What the first one did not lack,
    /// no later one does: it is an edit, which is written as git keeps it.
    fn write(&self, target: &TreeId, root: &Path, place: Place<'_>) -> Result<(), GitError> {
        let mut gaps = self.with(|repo| {
            let origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
            content::check_out(repo, &tree::find(repo, target)?, place, &origin)
        })?;
        let mut all = self.gaps.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Place::Checkout, Some(first)) = (place, all.get(root)) {
            gaps.retain(|gap| first.contains(gap));
        }
        all.insert(root.to_owned(), gaps);
        drop(all);
        self.untracked.take_over(root)
    }
}

/// Removes the unused private checkout of a session, and its registration.
pub fn remove_checkout(
    facts: &RepositoryFacts,
    work_root: &Path,
    session: &SessionId,
) -> Result<(), GitError> {
    remove(&work_root.join(session.as_str()), &registration(&facts.common, session))
}

/// Git's administrative folder for the private checkout of a session.
fn registration(common: &Path, session: &SessionId) -> PathBuf {
    common.join("worktrees").join(format!("regreen-{session}"))
}

fn remove(folder: &Path, registration: &Path) -> Result<(), GitError> {
    for folder in [folder, registration] {
        files::remove_tree(folder).map_err(io(format!("remove {}", folder.display())))?;
    }
    Ok(())
}

/// Makes sure that the fix branch exists and is ours.
fn claim_branch(
    repo: &Repository,
    facts: &RepositoryFacts,
    settings: &WorktreeSettings<'_>,
) -> Result<(), GitError> {
    let branch = settings.branch;
    if facts.branch.as_deref() == Some(branch) {
        return Err(GitError::Refused {
            path: facts.root.clone(),
            reason: format!("branch `{branch}` is checked out here, and regreen never moves it"),
            hint: "choose another with `--branch`".into(),
        });
    }
    let reference = format!("refs/heads/{branch}");
    if !git2::Reference::is_valid_name(&reference) {
        return Err(GitError::BadBranch { branch: branch.to_owned() });
    }
    let head = oid(settings.head)?;
    match repo.refname_to_id(&reference) {
        Ok(tip) if tip == head => Ok(()),
        Ok(tip) => {
            let commit = repo.find_commit(tip).map_err(failed("read the branch"))?;
            if is_of_session(&message_of(&commit), settings.session) {
                return Ok(());
            }
            Err(GitError::BranchTaken {
                branch: branch.to_owned(),
                session: settings.session.to_string(),
            })
        }
        Err(_) => {
            if let Some(blocking) = blocking_branch(repo, branch) {
                return Err(GitError::BranchBlocked { branch: branch.to_owned(), blocking });
            }
            repo.reference(&reference, head, false, "regreen: start")
                .map_err(failed(format!("create branch {branch}")))?;
            Ok(())
        }
    }
}

/// The branch whose name is a folder of this one's, or below it.
fn blocking_branch(repo: &Repository, branch: &str) -> Option<String> {
    let branches = repo.branches(Some(git2::BranchType::Local)).ok()?;
    let names = branches.flatten().filter_map(|(one, _)| Some(one.name().ok()??.to_owned()));
    let is_below =
        |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'));
    names.into_iter().find(|name| is_below(branch, name) || is_below(name, branch))
}

/// Writes or repairs the files that make a folder a worktree (gitrepository-layout).
fn register(
    common: &Path,
    registration: &Path,
    root: &Path,
    settings: &WorktreeSettings<'_>,
) -> Result<(), GitError> {
    let head = match settings.branching {
        Branching::Branch => format!("ref: refs/heads/{}\n", settings.branch),
        Branching::Detached => format!("{}\n", settings.head),
    };
    fs::create_dir_all(root).map_err(io(format!("create {}", root.display())))?;
    fs::create_dir_all(registration).map_err(io(format!("create {}", registration.display())))?;
    write_texts([
        (registration.join("HEAD"), head),
        (registration.join("commondir"), format!("{}\n", common.display())),
        (registration.join("gitdir"), format!("{}\n", root.join(".git").display())),
    ])?;
    // libgit2 reads `shallow` beside HEAD, not from the shared directory.
    copy_shallow(common, registration)?;
    // We hold the session's lock, so an existing lock file is left over from a kill.
    files::remove(&registration.join("index.lock")).map_err(io("remove a left-over index.lock"))
}

fn write_texts<const N: usize>(texts: [(PathBuf, String); N]) -> Result<(), GitError> {
    for (path, text) in texts {
        files::write(&path, text.as_bytes()).map_err(io(format!("write {}", path.display())))?;
    }
    Ok(())
}

#[async_trait]
impl Worktree for RepoWorktree {
    fn root(&self) -> &Path {
        &self.root
    }

    fn branch(&self) -> &str {
        &self.branch
    }

    async fn tip(&self) -> Result<CommitId, GitError> {
        self.with(|repo| name(repo.refname_to_id("HEAD").map_err(failed("read the tip"))?))
    }

    async fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        self.with(|repo| {
            let found = find_commit(repo, commit)?.tree_id();
            tree::id(tree::replace_folder(repo, found, &self.state_folder, &[])?)
        })
    }

    async fn graft(&self, base: &TreeId, edits: &EditSet) -> Result<TreeId, GitError> {
        self.with(|repo| tree::graft(repo, base, edits))
    }

    async fn checkout(&self, target: &TreeId) -> Result<(), GitError> {
        self.write(target, &self.root, Place::Checkout)?;
        self.lay_history(target, &self.tip().await?, &self.root)
    }

    fn gaps(&self, root: &Path) -> Vec<CheckoutGap> {
        let gaps = self.gaps.lock().unwrap_or_else(PoisonError::into_inner);
        gaps.get(root).cloned().unwrap_or_default()
    }

    async fn remove_stand_ins(&self) -> Result<(), GitError> {
        for gap in self.gaps(&self.root).iter().filter(|gap| gap.is_stood_in_for()) {
            files::remove(&self.root.join(&gap.path))
                .map_err(io(format!("remove {}", gap.path)))?;
        }
        Ok(())
    }

    async fn files(&self, tree: &TreeId) -> Result<Vec<RepoPath>, GitError> {
        self.with(|repo| tree::files(repo, tree))
    }

    async fn read(&self, tree: &TreeId, file: &RepoPath) -> Result<Option<Vec<u8>>, GitError> {
        self.with(|repo| tree::read(repo, tree, file))
    }

    async fn diff(&self, from: &TreeId, to: &TreeId) -> Result<Vec<FileDiff>, GitError> {
        self.with(|repo| tree::diff(repo, from, to))
    }

    async fn commit(&self, request: &CommitRequest) -> Result<CommitId, GitError> {
        crash::point();
        let made = self.with(|repo| {
            commit::commit(repo, &self.branch, &self.head, &self.state_folder, request)
        });
        crash::point();
        made
    }

    async fn merge_base(&self, reference: &str) -> Result<Option<CommitId>, GitError> {
        self.with(|repo| {
            let unknown = |_error| GitError::UnknownReference { name: reference.to_owned() };
            let other = repo.revparse_single(reference).map_err(unknown)?;
            let other = other.peel_to_commit().map_err(unknown)?;
            repo.merge_base(oid(&self.head)?, other.id()).ok().map(name).transpose()
        })
    }

    async fn last_change(
        &self,
        file: &RepoPath,
        lines: RangeInclusive<u32>,
        base: Option<&CommitId>,
    ) -> Result<LineOrigin, GitError> {
        self.with(|repo| line_history::last_change(repo, &self.head, file, lines, base))
    }

    async fn export(
        &self,
        target: &TreeId,
        name: &str,
        commit: Option<&CommitId>,
    ) -> Result<PathBuf, GitError> {
        let folder = self.emptied(name)?;
        self.write(target, &folder, Place::Folder(&folder))?;
        let tip = self.tip().await?;
        self.lay_history(target, commit.unwrap_or(&tip), &folder)?;
        Ok(folder)
    }

    async fn export_for_agent(&self, target: &TreeId, name: &str) -> Result<PathBuf, GitError> {
        let folder = self.emptied(name)?;
        self.with(|repo| {
            let origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
            content::write_raw(repo, &tree::find(repo, target)?, &folder, &origin)
        })?;
        folder_edits::remove_agent_files(&folder)
            .map_err(io(format!("remove settings of agents from {}", folder.display())))?;
        self.untracked.take_over(&folder)?;
        Ok(folder)
    }

    async fn collect(&self, name: &str, target: &TreeId) -> Result<EditSet, GitError> {
        let folder = self.folder.join(name);
        self.with(|repo| folder_edits::collect(repo, target, &folder))
    }

    async fn remove(&self) -> Result<(), GitError> {
        remove(&self.folder, &self.registration)
    }
}
