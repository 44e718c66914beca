//! A repository of our own beside a checkout that belongs to others: its objects are read there,
//! everything else is new. So nothing of theirs is written, no credential of theirs is near, and
//! its head is the commit under test, where a checkout for a pull request stands at a merge.

use std::path::{Path, PathBuf};

use git2::{Commit, Index, Oid, Repository, RepositoryInitOptions, Sort};

use crate::adapter::host::files;
use crate::domain::commit;
use crate::domain::id::{CommitId, SessionId, TreeId};
use crate::effect::{FileDiff, GitError};

use super::remote::oid;
use super::{
    GitRemote, RepositoryFacts, SessionFiles, Transport, discover, failed, io, open, push, tree,
};

/// Names the checkout's own commit, so that a server is told what is here already.
const KNOWN: &str = "refs/regreen/checkout";

/// How far below a tip the state of a session is looked for.
const DEPTH: u32 = 50;

/// The author of commits, with the address of the account that a job's token acts for.
const NAME: &str = "regreen";
const EMAIL: &str = "41898282+github-actions[bot]@users.noreply.github.com";

/// The repository of our own.
#[derive(Clone, Debug)]
pub struct Bench {
    folder: PathBuf,
}

/// Where a record keeps sources.
const SOURCES: &str = "sources";

/// Whether two lines of history may change the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// They may, as far as their lines fit.
    Allowed,
    /// They may not.
    Refused,
}

/// What is checked out in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchOf {
    /// The commit that is checked out.
    pub head: CommitId,
    /// Its branch, made there.
    pub branch: String,
    /// Further local branches and where they stand.
    pub others: Vec<(String, CommitId)>,
}

impl Bench {
    /// Makes an empty repository at `folder`, which is replaced. `source` lends its objects.
    ///
    /// # Errors
    ///
    /// [`GitError`] when the folder cannot be written.
    pub fn make(source: Option<&RepositoryFacts>, folder: &Path) -> Result<Self, GitError> {
        files::remove_folder(folder);
        files::create_folder(folder).map_err(io("create a repository of our own"))?;
        let mut options = RepositoryInitOptions::new();
        options.external_template(false);
        let repo =
            Repository::init_opts(folder, &options).map_err(failed("create a repository"))?;
        let mut config = repo.config().map_err(failed("read the settings"))?;
        for (name, value) in [("user.name", NAME), ("user.email", EMAIL)] {
            config.set_str(name, value).map_err(failed("write the settings"))?;
        }
        let bench = Self { folder: folder.to_owned() };
        let Some(source) = source else { return Ok(bench) };
        let objects = source.common.join("objects");
        let info = repo.path().join("objects/info");
        files::create_folder(&info).map_err(io("create the list of object stores"))?;
        files::write(&info.join("alternates"), format!("{}\n", objects.display()).as_bytes())
            .map_err(io("write the list of object stores"))?;
        let shallow = files::read(&source.common.join("shallow"), 16 << 20);
        if let Some(shallow) = shallow.map_err(io("read where the history is cut"))? {
            files::write(&repo.path().join("shallow"), &shallow)
                .map_err(io("write where the history is cut"))?;
        }
        drop(repo);
        // Opened again, so that the other store is known.
        let id = Oid::from_str(source.head.as_str()).map_err(failed("read a commit id"))?;
        bench
            .repo()?
            .reference(KNOWN, id, true, "regreen")
            .map_err(failed("name the commit of the checkout"))?;
        Ok(bench)
    }

    fn repo(&self) -> Result<Repository, GitError> {
        Repository::open(&self.folder).map_err(failed("open the repository of our own"))
    }

    /// The server behind it.
    #[must_use]
    pub fn remote(&self, transport: Transport) -> GitRemote {
        GitRemote { common: self.folder.join(".git"), transport }
    }

    /// Makes the branches and writes the files of the head.
    ///
    /// # Errors
    ///
    /// [`GitError`] when a commit is not there, or the folder cannot be written.
    pub fn check_out(&self, of: &BenchOf) -> Result<RepositoryFacts, GitError> {
        let repo = self.repo()?;
        let begun = (of.branch.clone(), of.head.clone());
        for (branch, commit) in std::iter::once(&begun).chain(&of.others) {
            let id = oid(commit)?;
            repo.find_commit(id).map_err(failed(format!("find commit {}", commit.short())))?;
            repo.reference(&format!("refs/heads/{branch}"), id, true, "regreen")
                .map_err(failed(format!("make branch {branch}")))?;
        }
        repo.set_head(&format!("refs/heads/{}", of.branch)).map_err(failed("set the head"))?;
        let mut checkout = git2::build::CheckoutBuilder::new();
        checkout.force();
        repo.checkout_head(Some(&mut checkout)).map_err(failed("check out the head"))?;
        discover(&self.folder)
    }

    /// One file of a commit; `None` when it is not there or no plain file.
    ///
    /// # Errors
    ///
    /// When the commit is not in the store.
    pub fn file_of(&self, commit: &CommitId, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let repo = self.repo()?;
        let tree = repo
            .find_commit(oid(commit)?)
            .and_then(|commit| commit.tree())
            .map_err(failed(format!("find commit {}", commit.short())))?;
        let Ok(entry) = tree.get_path(Path::new(path)) else { return Ok(None) };
        if entry.filemode() & 0o170_000 != 0o100_000 {
            return Ok(None);
        }
        Ok(repo.find_blob(entry.id()).ok().map(|blob| blob.content().to_vec()))
    }

    /// The message of a commit; `None` when the commit is not in the store.
    #[must_use]
    pub fn message_of(&self, commit: &CommitId) -> Option<String> {
        let repo = self.repo().ok()?;
        let commit = repo.find_commit(oid(commit).ok()?).ok()?;
        Some(String::from_utf8_lossy(commit.message_bytes()).into_owned())
    }

    /// The last state files of a session at or below a tip: a finished session takes its folder
    /// off the tip, and fixes that were taken back later lie on top of that.
    ///
    /// # Errors
    ///
    /// When the objects cannot be read.
    pub fn session_at(
        &self,
        tip: &CommitId,
        state_folder: &str,
        session: &SessionId,
    ) -> Result<Option<SessionFiles>, GitError> {
        let repo = self.repo()?;
        let mut commit =
            repo.find_commit(oid(tip)?).map_err(failed(format!("find commit {}", tip.short())))?;
        for _ in 0..DEPTH {
            let tree = commit.tree().map_err(failed("read a tree"))?;
            if let Some(files) = open::session_in(&repo, &tree, state_folder, session)? {
                return Ok(Some(files));
            }
            let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
            match commit.parent(0) {
                Ok(parent) if commit::is_of_session(&message, session) => commit = parent,
                Ok(_) | Err(_) => break,
            }
        }
        Ok(None)
    }

    /// A commit that holds these files and names the session; moves no reference. `sources` is a
    /// tree of this store, kept whole below [`SOURCES`].
    ///
    /// # Errors
    ///
    /// When the objects cannot be written.
    pub fn record(
        &self,
        session: &SessionId,
        files: &[(String, Vec<u8>)],
        sources: Option<&TreeId>,
        after: Option<&CommitId>,
    ) -> Result<CommitId, GitError> {
        let repo = self.repo()?;
        let empty = repo.treebuilder(None).and_then(|builder| builder.write());
        let empty = empty.and_then(|id| repo.find_tree(id)).map_err(failed("write a tree"))?;
        let mut update = git2::build::TreeUpdateBuilder::new();
        for (path, bytes) in files {
            let blob = repo.blob(bytes).map_err(failed("write a file"))?;
            update.upsert(path, blob, git2::FileMode::Blob);
        }
        let tree = update.create_updated(&repo, &empty).map_err(failed("write a tree"))?;
        let mut tree = repo.find_tree(tree).map_err(failed("read a tree"))?;
        if let Some(sources) = sources {
            let id = Oid::from_str(sources.as_str()).map_err(failed("read a tree id"))?;
            repo.find_tree(id).map_err(failed("read a tree"))?;
            let mut builder = repo.treebuilder(Some(&tree)).map_err(failed("write a tree"))?;
            builder.insert(SOURCES, id, 0o040_000).map_err(failed("write a tree"))?;
            let id = builder.write().map_err(failed("write a tree"))?;
            tree = repo.find_tree(id).map_err(failed("read a tree"))?;
        }
        let parent =
            after.map(|after| repo.find_commit(oid(after)?).map_err(failed("find a commit")));
        let parent = parent.transpose()?;
        let who = repo.signature().map_err(failed("sign a commit"))?;
        let parents: Vec<&Commit<'_>> = parent.iter().collect();
        let new = repo
            .commit(None, &who, &who, &commit::record(session), &tree, &parents)
            .map_err(failed("commit"))?;
        super::commit::name(new)
    }

    /// The files below a folder of a commit, with paths inside it, together at most `limit`
    /// bytes; `None` without the folder, or with more.
    ///
    /// # Errors
    ///
    /// When the commit is not in the store.
    pub fn files_below(
        &self,
        commit: &CommitId,
        folder: &str,
        limit: usize,
    ) -> Result<Option<SessionFiles>, GitError> {
        let repo = self.repo()?;
        let tree = repo
            .find_commit(oid(commit)?)
            .and_then(|commit| commit.tree())
            .map_err(failed(format!("find commit {}", commit.short())))?;
        let Some(entry) = tree.get_name(folder) else { return Ok(None) };
        let Ok(folder) = repo.find_tree(entry.id()) else { return Ok(None) };
        let (mut files, mut left) = (Vec::new(), Some(limit));
        folder
            .walk(git2::TreeWalkMode::PreOrder, |parent, entry| {
                if entry.kind() == Some(git2::ObjectType::Blob)
                    && entry.filemode() & 0o170_000 == 0o100_000
                    && let Ok(name) = entry.name()
                    && let Ok(blob) = repo.find_blob(entry.id())
                {
                    left = left.and_then(|left| left.checked_sub(blob.size()));
                    if left.is_some() {
                        files.push((format!("{parent}{name}"), blob.content().to_vec()));
                    }
                }
                if left.is_some() { git2::TreeWalkResult::Ok } else { git2::TreeWalkResult::Abort }
            })
            .or_else(|error| if left.is_none() { Ok(()) } else { Err(error) })
            .map_err(failed("read a folder"))?;
        Ok(left.map(|_| files))
    }

    /// What differs between a commit, without its session files, and a tree of this store.
    ///
    /// # Errors
    ///
    /// When one of them is not in the store.
    pub fn diff(
        &self,
        from: &CommitId,
        to: &TreeId,
        state_folder: &str,
    ) -> Result<Vec<FileDiff>, GitError> {
        let repo = self.repo()?;
        let from = repo.find_commit(oid(from)?).map_err(failed("find a commit"))?;
        let sources = |id| tree::id(tree::replace_folder(&repo, id, state_folder, &[])?);
        let id = Oid::from_str(to.as_str()).map_err(failed("read a tree id"))?;
        tree::diff(&repo, &sources(from.tree_id())?, &sources(id)?)
    }

    /// The tree of a commit.
    ///
    /// # Errors
    ///
    /// When it is not in the store.
    pub fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        let repo = self.repo()?;
        let found = repo.find_commit(oid(commit)?).map_err(failed("find a commit"))?;
        tree::id(found.tree_id())
    }

    /// The commit that the commits of a session up to `tip` begin on; `None` when more than
    /// `most` are of it, or its history is cut before.
    #[must_use]
    pub fn ground_of(&self, tip: &CommitId, session: &SessionId, most: u32) -> Option<CommitId> {
        let repo = self.repo().ok()?;
        let mut commit = repo.find_commit(oid(tip).ok()?).ok()?;
        for _ in 0..most {
            let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
            if !commit::is_of_session(&message, session) {
                return super::commit::name(commit.id()).ok();
            }
            commit = commit.parent(0).ok()?;
        }
        None
    }

    /// Makes the commits of a session after `from` up to `new` again on top of `onto`; moves no
    /// reference. With [`Overlap::Refused`] no file may be changed on both sides. The inner error
    /// says why a person must decide.
    ///
    /// # Errors
    ///
    /// When the objects cannot be read or written.
    pub fn carry(
        &self,
        (from, new): (&CommitId, &CommitId),
        onto: &CommitId,
        session: &SessionId,
        overlap: Overlap,
    ) -> Result<Result<CommitId, String>, GitError> {
        let repo = self.repo()?;
        let follows = repo.graph_descendant_of(oid(new)?, oid(from)?);
        if !follows.map_err(failed("walk the history"))? {
            return Ok(Err("our own history was written anew".into()));
        }
        if overlap == Overlap::Refused
            && let Some(reason) = push::overlap(&repo, from, new, onto)?
        {
            return Ok(Err(reason));
        }
        let commits = push::between(&repo, from, new)?;
        push::set_on_top(&repo, &commits, onto, session)
    }

    /// A commit on top of a tip that takes the session's folder off; `None` when it is off.
    ///
    /// # Errors
    ///
    /// When the objects cannot be read or written.
    pub fn without_session(
        &self,
        tip: &CommitId,
        state_folder: &str,
        message: &str,
    ) -> Result<Option<CommitId>, GitError> {
        let repo = self.repo()?;
        let parent = repo.find_commit(oid(tip)?).map_err(failed("find the tip"))?;
        let bare = tree::replace_folder(&repo, parent.tree_id(), state_folder, &[])?;
        if bare == parent.tree_id() {
            return Ok(None);
        }
        let tree = repo.find_tree(bare).map_err(failed("read a tree"))?;
        let who = repo.signature().map_err(failed("sign a commit"))?;
        let new = repo.commit(None, &who, &who, message, &tree, &[&parent]);
        super::commit::name(new.map_err(failed("commit"))?).map(Some)
    }

    /// Files of the checkout that differ from its head and are there before and after, with their
    /// present content.
    ///
    /// # Errors
    ///
    /// When the files cannot be compared or read.
    pub fn edited(&self, limit: u64) -> Result<SessionFiles, GitError> {
        let repo = self.repo()?;
        let head = repo.head().and_then(|head| head.peel_to_tree());
        let head = head.map_err(failed("read the head"))?;
        let diff = repo.diff_tree_to_workdir(Some(&head), None).map_err(failed("compare"))?;
        let mut found = Vec::new();
        for delta in diff.deltas().filter(|delta| delta.status() == git2::Delta::Modified) {
            let Some(path) = delta.new_file().path().and_then(Path::to_str) else { continue };
            let bytes = files::read(&self.folder.join(path), limit).map_err(io("read a file"))?;
            found.extend(bytes.map(|bytes| (path.to_owned(), bytes)));
        }
        Ok(found)
    }

    /// A commit on top of another that writes these files, given by path; moves no reference. A
    /// file that is there keeps its mode.
    ///
    /// # Errors
    ///
    /// When the objects cannot be read or written.
    pub fn with_files(
        &self,
        tip: &CommitId,
        files: &[(String, Vec<u8>)],
        message: &str,
    ) -> Result<CommitId, GitError> {
        let repo = self.repo()?;
        let parent = repo.find_commit(oid(tip)?).map_err(failed("find the tip"))?;
        let tree = parent.tree().map_err(failed("read a tree"))?;
        let mut update = git2::build::TreeUpdateBuilder::new();
        for (path, bytes) in files {
            let blob = repo.blob(bytes).map_err(failed("write a file"))?;
            let mode = match tree.get_path(Path::new(path)).map(|entry| entry.filemode()) {
                Ok(0o100_755) => git2::FileMode::BlobExecutable,
                Ok(_) | Err(_) => git2::FileMode::Blob,
            };
            update.upsert(path, blob, mode);
        }
        let tree = update.create_updated(&repo, &tree).map_err(failed("write a tree"))?;
        let tree = repo.find_tree(tree).map_err(failed("read a tree"))?;
        let who = repo.signature().map_err(failed("sign a commit"))?;
        let new = repo.commit(None, &who, &who, message, &tree, &[&parent]);
        super::commit::name(new.map_err(failed("commit"))?)
    }

    /// Whether every commit of `tip` that none of `heads` has is one of the session. A head that is
    /// not in the store hides nothing.
    #[must_use]
    pub fn all_of_session(&self, tip: &CommitId, heads: &[&CommitId], session: &SessionId) -> bool {
        let walk = || -> Result<bool, GitError> {
            let repo = self.repo()?;
            let mut walk = repo.revwalk().map_err(failed("walk the history"))?;
            walk.set_sorting(Sort::TOPOLOGICAL).map_err(failed("walk the history"))?;
            walk.push(oid(tip)?).map_err(failed("walk the history"))?;
            for head in heads {
                let id = oid(head)?;
                if repo.find_commit(id).is_ok() {
                    walk.hide(id).map_err(failed("walk the history"))?;
                }
            }
            for id in walk {
                let found = id.and_then(|id| repo.find_commit(id));
                let found = found.map_err(failed("walk the history"))?;
                let message = String::from_utf8_lossy(found.message_bytes()).into_owned();
                if !commit::is_of_session(&message, session) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        walk().unwrap_or(false)
    }

    /// Takes the fix of one iteration back by a new commit on top of `tip`; the last fix when no
    /// iteration is named. `None` when there is no such fix.
    ///
    /// # Errors
    ///
    /// [`GitError`], and a conflict when later commits touch the same lines.
    pub fn take_back(
        &self,
        tip: &CommitId,
        head: &CommitId,
        session: &SessionId,
        state_root: &str,
        iteration: Option<u32>,
        by: &str,
    ) -> Result<Option<(CommitId, u32)>, GitError> {
        let repo = self.repo()?;
        let mut walk = repo.revwalk().map_err(failed("walk the history"))?;
        walk.push(oid(tip)?).map_err(failed("walk the history"))?;
        walk.hide(oid(head)?).map_err(failed("walk the history"))?;
        walk.set_sorting(Sort::TOPOLOGICAL).map_err(failed("walk the history"))?;
        let mut gone = Vec::new();
        for id in walk {
            let found = id.and_then(|id| repo.find_commit(id));
            let found = found.map_err(failed("walk the history"))?;
            let message = String::from_utf8_lossy(found.message_bytes()).into_owned();
            gone.extend(commit::rollback_of(&message, session));
            let Some(number) = commit::fix_of(&message, session) else { continue };
            // The newest comes first, so what was taken back is known before its fix is met.
            if gone.contains(&number) || iteration.is_some_and(|wanted| wanted != number) {
                continue;
            }
            let top = repo.find_commit(oid(tip)?).map_err(failed("find the tip"))?;
            let mut index = repo
                .revert_commit(&found, &top, 0, None)
                .map_err(failed(format!("take iteration {number} back")))?;
            let tree = without_state(&repo, &mut index, &top, state_root)?.ok_or_else(|| {
                GitError::Failed {
                    action: format!("take iteration {number} back"),
                    reason: "later commits change the same lines".into(),
                }
            })?;
            let tree = repo.find_tree(tree).map_err(failed("read a tree"))?;
            let who = repo.signature().map_err(failed("sign a commit"))?;
            let message = commit::taken_back(session, number, &found.id().to_string(), by);
            let new = repo
                .commit(None, &who, &who, &message, &tree, &[&top])
                .map_err(failed("commit"))?;
            return Ok(Some((super::commit::name(new)?, number)));
        }
        Ok(None)
    }
}

/// The tree of a revert, with the session's own files as the tip has them; `None` when other files
/// conflict.
fn without_state(
    repo: &Repository,
    index: &mut Index,
    top: &Commit<'_>,
    state_root: &str,
) -> Result<Option<Oid>, GitError> {
    let conflicts: Vec<_> = index
        .conflicts()
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(failed("read the conflicts"))?;
    for conflict in conflicts {
        let entry = conflict.our.or(conflict.their).or(conflict.ancestor);
        let path = entry.map(|entry| String::from_utf8_lossy(&entry.path).into_owned());
        let path = path.unwrap_or_default();
        if path.split('/').next() != Some(state_root) {
            return Ok(None);
        }
        index.conflict_remove(Path::new(&path)).map_err(failed("leave a conflict out"))?;
    }
    let tree = index.write_tree_to(repo).map_err(failed("write a tree"))?;
    let tree = repo.find_tree(tree).map_err(failed("read a tree"))?;
    let mut builder = repo.treebuilder(Some(&tree)).map_err(failed("write a tree"))?;
    let own = top.tree().map_err(failed("read a tree"))?;
    match own.get_name(state_root) {
        Some(entry) => {
            builder
                .insert(state_root, entry.id(), entry.filemode())
                .map_err(failed("write a tree"))?;
        }
        None if tree.get_name(state_root).is_some() => {
            builder.remove(state_root).map_err(failed("write a tree"))?;
        }
        None => {}
    }
    builder.write().map(Some).map_err(failed("write a tree"))
}
