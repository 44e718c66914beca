//! Reads commits, trees and files of the repository of our own.

use std::path::Path;

use git2::{Oid, Sort};

use crate::adapter::host::files;
use crate::domain::commit;
use crate::domain::id::{CommitId, SessionId, TreeId};
use crate::effect::{FileDiff, GitError};

use super::super::git_remote::oid;
use super::super::{SessionFiles, failed, io, open, tree};
use super::Bench;

/// How far below a tip the state of a session is looked for.
const DEPTH: u32 = 50;

impl Bench {
    /// One file of a commit; `None` when it is not there or no plain file.
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

    /// The files below a folder of a commit, with paths inside it, together at most `limit`
    /// bytes; `None` without the folder, or with more.
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
                return super::super::commit::name(commit.id()).ok();
            }
            commit = commit.parent(0).ok()?;
        }
        None
    }

    /// Files of the checkout that differ from its head and are there before and after, with their
    /// present content.
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
}
