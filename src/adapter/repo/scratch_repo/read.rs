//! Reads commits, trees and files of the scratch repository.

use std::path::Path;

use git2::{Oid, Repository, Sort};

use crate::adapter::host::files;
use crate::domain::commit::is_of_session;
use crate::domain::id::{CommitId, SessionId, TreeId};
use crate::effect::{FileDiff, GitError};

use super::super::objects::{find_commit, history, message_of, name, oid, tree_of};
use super::super::{SessionFiles, failed, io, open, push, tree};
use super::ScratchRepo;

/// Commits below a tip that are searched for the state of a session.
const DEPTH: u32 = 50;

/// The size of an object in bytes, without reading it; `None` when it is not there.
fn size_of(repo: &Repository, id: Oid) -> Option<usize> {
    repo.odb().ok()?.read_header(id).ok().map(|(size, _)| size)
}

impl ScratchRepo {
    /// One file of a commit; `None` when it is missing or not a plain file.
    pub fn file_of(&self, commit: &CommitId, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let repo = self.repo()?;
        let tree = tree_of(&repo, commit)?;
        let entry = tree.get_path(Path::new(path)).ok().filter(tree::is_plain);
        let blob = entry.and_then(|entry| repo.find_blob(entry.id()).ok());
        Ok(blob.map(|blob| blob.content().to_vec()))
    }

    /// The same for a file that may be anything: `None` also when it is larger than `limit` bytes.
    pub fn file_within(
        &self,
        commit: &CommitId,
        path: &str,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let repo = self.repo()?;
        let tree = tree_of(&repo, commit)?;
        let Some(entry) = tree.get_path(Path::new(path)).ok().filter(tree::is_plain) else {
            return Ok(None);
        };
        if size_of(&repo, entry.id()).is_none_or(|size| size > limit) {
            return Ok(None);
        }
        let blob = repo.find_blob(entry.id()).ok();
        Ok(blob.map(|blob| blob.content().to_vec()))
    }

    /// The message of a commit; `None` when the commit is not in the store.
    pub fn message_of(&self, commit: &CommitId) -> Option<String> {
        Some(message_of(&find_commit(&self.repo().ok()?, commit).ok()?))
    }

    /// The last state files of a session at or below a tip: a finished session removes its folder
    /// from the tip, and later reverts of its fixes lie on top of that.
    pub fn session_at(
        &self,
        tip: &CommitId,
        state_folder: &str,
        session: &SessionId,
    ) -> Result<Option<SessionFiles>, GitError> {
        let repo = self.repo()?;
        let mut commit = find_commit(&repo, tip)?;
        for _ in 0..DEPTH {
            let tree = commit.tree().map_err(failed("read a tree"))?;
            if let Some(files) = open::session_in(&repo, &tree, state_folder, session)? {
                return Ok(Some(files));
            }
            match commit.parent(0) {
                Ok(parent) if is_of_session(&message_of(&commit), session) => commit = parent,
                Ok(_) | Err(_) => break,
            }
        }
        Ok(None)
    }

    /// The files below a folder of a commit; `None` without it, or beyond `limit` bytes.
    pub fn files_below(
        &self,
        commit: &CommitId,
        folder: &str,
        limit: usize,
    ) -> Result<Option<SessionFiles>, GitError> {
        let repo = self.repo()?;
        let tree = tree_of(&repo, commit)?;
        let Some(entry) = tree.get_name(folder) else { return Ok(None) };
        let Ok(folder) = repo.find_tree(entry.id()) else { return Ok(None) };
        let (mut files, mut left) = (Vec::new(), Some(limit));
        folder
            .walk(git2::TreeWalkMode::PreOrder, |parent, entry| {
                if tree::is_plain(entry)
                    && let Ok(name) = entry.name()
                    && let Some(size) = size_of(&repo, entry.id())
                {
                    left = left.and_then(|left| left.checked_sub(size));
                    if left.is_some()
                        && let Ok(blob) = repo.find_blob(entry.id())
                    {
                        files.push((format!("{parent}{name}"), blob.content().to_vec()));
                    }
                }
                if left.is_some() { git2::TreeWalkResult::Ok } else { git2::TreeWalkResult::Abort }
            })
            .or_else(|error| if left.is_none() { Ok(()) } else { Err(error) })
            .map_err(failed("read a folder"))?;
        Ok(left.map(|_| files))
    }

    /// The difference between a commit without its session files and a tree of this store.
    pub fn diff(
        &self,
        from: &CommitId,
        to: &TreeId,
        state_folder: &str,
    ) -> Result<Vec<FileDiff>, GitError> {
        let repo = self.repo()?;
        let sources = |id| tree::id(tree::replace_folder(&repo, id, state_folder, &[])?);
        let (from, to) = (tree_of(&repo, from)?.id(), tree::find(&repo, to)?.id());
        tree::diff(&repo, &sources(from)?, &sources(to)?)
    }

    /// Whether a commit is `tip` or one of its ancestors; `false` when either is not in the store.
    pub fn contains(&self, tip: &CommitId, commit: &CommitId) -> bool {
        let found = || -> Result<bool, GitError> {
            let after = self.repo()?.graph_descendant_of(oid(tip)?, oid(commit)?);
            after.map_err(failed("compare two histories"))
        };
        tip == commit || found().unwrap_or(false)
    }

    pub fn tree_of(&self, commit: &CommitId) -> Result<TreeId, GitError> {
        tree::id(tree_of(&self.repo()?, commit)?.id())
    }

    /// The commit below a session's up to `tip`; `None` beyond `most`, or where history is cut.
    pub fn session_base(&self, tip: &CommitId, session: &SessionId, most: u32) -> Option<CommitId> {
        let repo = self.repo().ok()?;
        let mut commit = find_commit(&repo, tip).ok()?;
        for _ in 0..most {
            if !is_of_session(&message_of(&commit), session) {
                return name(commit.id()).ok();
            }
            commit = commit.parent(0).ok()?;
        }
        None
    }

    /// Files of the checkout that differ from HEAD and exist in both, with their present content.
    pub fn edited(&self, limit: u64) -> Result<SessionFiles, GitError> {
        let repo = self.repo()?;
        let head = repo.head().and_then(|head| head.peel_to_tree());
        let head = head.map_err(failed("read the head"))?;
        let mut options = git2::DiffOptions::new();
        options.ignore_submodules(true);
        let diff = repo.diff_tree_to_workdir_with_index(Some(&head), Some(&mut options));
        let diff = diff.map_err(failed("compare"))?;
        let mut found = Vec::new();
        for delta in diff.deltas().filter(|delta| delta.status() == git2::Delta::Modified) {
            let Some(path) = delta.new_file().path().and_then(Path::to_str) else { continue };
            let file = self.folder.join(path);
            if files::read(&file, limit).map_err(io("read a file"))?.is_none() {
                continue;
            }
            // As git keeps it, whatever its line ends are in a checkout.
            let blob = repo.blob_path(&file).and_then(|id| repo.find_blob(id));
            let blob = blob.map_err(failed("read a file"))?;
            found.push((path.to_owned(), blob.content().to_vec()));
        }
        Ok(found)
    }

    /// Whether all commits from `tip` and not from known `heads` belong to the session.
    pub fn all_of_session(&self, tip: &CommitId, heads: &[&CommitId], session: &SessionId) -> bool {
        let walk = || -> Result<bool, GitError> {
            let repo = self.repo()?;
            let known = heads.iter().filter_map(|head| find_commit(&repo, head).ok());
            let hidden: Vec<Oid> = known.map(|commit| commit.id()).collect();
            let commits: Result<Vec<Oid>, _> =
                history(&repo, oid(tip)?, &hidden, Sort::TOPOLOGICAL)?.collect();
            push::all_of_session(&repo, &commits.map_err(failed("walk the history"))?, session)
        };
        walk().unwrap_or(false)
    }
}
