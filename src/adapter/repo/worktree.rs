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
use crate::effect::{CommitRequest, FileDiff, GIT_FOLDER_OF_COPIES, GitError, Worktree};

use super::content::{self, Origin, Place};
use super::objects::{copy_shallow, find_commit, message_of, name, oid};
use super::{RepositoryFacts, commit, failed, folder_edits, io, line_history, tree};

/// Untracked folders that test tools need; linked into every private checkout.
const DEPENDENCIES: &[&str] = &["node_modules", ".venv", "venv", "vendor", ".bundle"];

/// Depth below the root to which dependency folders are searched.
const DEPENDENCY_DEPTH: usize = 3;

/// Whether a private checkout is on a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branching {
    /// On a fix branch, created where it is missing.
    Branch,
    /// On a detached HEAD: nothing is committed.
    Detached,
}

/// Links a folder of dependencies. The autoloader of Composer finds the project's own classes from the
/// real path of its files, so that these are copied: a link would lead to the classes of the user's checkout.
fn link_dependency(from: &Path, to: &Path) -> std::io::Result<()> {
    let is_composer = from.join("composer").is_dir() && from.join("autoload.php").is_file();
    if !is_composer {
        return std::os::unix::fs::symlink(from, to);
    }
    copy_files(from, to, &["composer", "bin"])
}

/// Copies the plain files of a folder and of those below it that are named, and links the rest.
fn copy_files(from: &Path, to: &Path, below: &[&str]) -> std::io::Result<()> {
    files::create_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_file() {
            fs::copy(entry.path(), target)?;
        } else if kind.is_dir() && below.iter().any(|name| entry.file_name() == *name) {
            copy_files(&entry.path(), &target, &[])?;
        } else {
            std::os::unix::fs::symlink(entry.path(), target)?;
        }
    }
    Ok(())
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
    origin: Mutex<Origin>,
    /// What each checkout lacks, by its root.
    gaps: Mutex<BTreeMap<PathBuf, Vec<CheckoutGap>>>,
    checkout: PathBuf,
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
        Ok(Self {
            repo: Mutex::new(repo),
            origin: Mutex::new(Origin::of(&facts.root, false)?),
            gaps: Mutex::default(),
            checkout: facts.root.clone(),
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

    fn link_dependencies(&self, root: &Path) -> Result<(), GitError> {
        let mut folders = vec![(PathBuf::new(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            for name in DEPENDENCIES {
                let (from, to) =
                    (self.checkout.join(&folder).join(name), root.join(&folder).join(name));
                if from.is_dir() && fs::symlink_metadata(&to).is_err() {
                    link_dependency(&from, &to).map_err(io(format!("link {name}")))?;
                }
            }
            if depth == DEPENDENCY_DEPTH {
                continue;
            }
            let Ok(entries) = fs::read_dir(root.join(&folder)) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let hidden = name.to_string_lossy().starts_with('.');
                if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push((folder.join(name), depth + 1));
                }
            }
        }
        Ok(())
    }

    /// The emptied folder of this name.
    fn emptied(&self, name: &str) -> Result<PathBuf, GitError> {
        let folder = self.folder.join(name);
        files::remove_tree(&folder).map_err(io(format!("empty {}", folder.display())))?;
        fs::create_dir_all(&folder).map_err(io(format!("create {}", folder.display())))?;
        Ok(folder)
    }

    /// Links a folder to a git directory of its own, beside it, in which its files are what is committed: HEAD
    /// is on `commit`, or on a commit above it if that has other files. One for copies of the folder is in
    /// it; its index takes every file for unchanged.
    fn lay_history(
        &self,
        target: &TreeId,
        commit: &CommitId,
        folder: &Path,
        name: &str,
    ) -> Result<(), GitError> {
        let history = self.emptied(&format!("{name}.git"))?;
        let of_copies = history.join(GIT_FOLDER_OF_COPIES);
        fs::create_dir_all(&of_copies).map_err(io("create the git directory of copies"))?;
        self.with(|repo| {
            let tree = tree::find(repo, target)?;
            let head = commit::with_tree(repo, &find_commit(repo, commit)?, &tree)?;
            for folder in [&history, &of_copies] {
                let shared = format!("{}\n", repo.commondir().display());
                // Other users read them: tests may run as one.
                for (file, text) in [("HEAD", format!("{head}\n")), ("commondir", shared)] {
                    fs::write(folder.join(file), text).map_err(io(format!("write {file}")))?;
                }
                write_index(&repo.path().join("index"), folder, &tree, *folder == of_copies)?;
            }
            Ok(())
        })?;
        write_texts([(folder.join(".git"), format!("gitdir: {}\n", history.display()))])
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
        self.link_dependencies(root)
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
    let link = root.join(".git");
    write_texts([
        (registration.join("HEAD"), head),
        (registration.join("commondir"), format!("{}\n", common.display())),
        (registration.join("gitdir"), format!("{}\n", link.display())),
        (link, format!("gitdir: {}\n", registration.display())),
    ])?;
    // libgit2 reads `shallow` beside HEAD, not from the shared directory.
    copy_shallow(common, registration)?;
    // We hold the session's lock, so an existing lock file is left over from a kill.
    files::remove(&registration.join("index.lock")).map_err(io("remove a left-over index.lock"))
}

/// Writes the index of a tree into a git directory, with what `known` says of files that a sparse checkout
/// leaves out.
fn write_index(
    known: &Path,
    folder: &Path,
    tree: &git2::Tree<'_>,
    is_of_copies: bool,
) -> Result<(), GitError> {
    let path = folder.join("index");
    if known.exists() {
        fs::copy(known, &path).map_err(io("copy an index"))?;
    }
    let write = || {
        let mut index = git2::Index::open(&path)?;
        index.read_tree(tree)?;
        let entries: Vec<_> = if is_of_copies { index.iter().collect() } else { Vec::new() };
        for mut entry in entries {
            entry.flags |= git2::IndexEntryFlag::VALID.bits();
            index.add(&entry)?;
        }
        index.write()
    };
    write().map_err(failed("write the index of a checkout"))
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
        self.lay_history(target, &self.tip().await?, &self.root, "tree")
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
        self.lay_history(target, commit.unwrap_or(&tip), &folder, name)?;
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
        self.link_dependencies(&folder)?;
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
