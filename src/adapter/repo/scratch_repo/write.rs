//! Creates commits in the scratch repository; moves no reference.

use std::path::Path;

use git2::{Commit, Index, Oid, Repository, Sort};

use crate::domain::commit;
use crate::domain::id::{CommitId, SessionId, TreeId};
use crate::effect::GitError;

use super::super::objects::{find_commit, history, message_of, name, oid, tree_of};
use super::super::{failed, push, tree};
use super::ScratchRepo;

/// Folder of a record that holds source files.
const SOURCES: &str = "sources";

/// Whether two histories may change the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// They may, where their lines fit.
    Allowed,
    /// No file may be changed by both.
    Refused,
}

impl ScratchRepo {
    /// A commit of files that names the session, with the tree `sources`; moves no reference.
    pub fn record(
        &self,
        session: &SessionId,
        files: &[(String, Vec<u8>)],
        sources: Option<&TreeId>,
        after: Option<&CommitId>,
    ) -> Result<CommitId, GitError> {
        let repo = self.repo()?;
        let empty = || repo.find_tree(repo.treebuilder(None)?.write()?);
        let mut tree = tree::with_files(&repo, &empty().map_err(failed("write a tree"))?, files)?;
        if let Some(sources) = sources {
            let insert = |sources: Oid| {
                let mut builder = repo.treebuilder(Some(&repo.find_tree(tree)?))?;
                builder.insert(SOURCES, sources, 0o040_000)?;
                builder.write()
            };
            tree = insert(tree::find(&repo, sources)?.id()).map_err(failed("write a tree"))?;
        }
        let parent = after.map(|after| find_commit(&repo, after)).transpose()?;
        commit_tree(&repo, tree, parent.as_ref(), &commit::record(session))
    }

    /// Rebases the commits of a session after `from` up to `new` onto `onto`; moves no reference.
    /// With [`Overlap::Refused`] no file may be changed on both sides. The inner error says why a
    /// person must decide.
    pub fn rebase_session(
        &self,
        (from, new): (&CommitId, &CommitId),
        onto: &CommitId,
        session: &SessionId,
        overlap: Overlap,
    ) -> Result<Result<CommitId, String>, GitError> {
        let repo = self.repo()?;
        let follows = repo.graph_descendant_of(oid(new)?, oid(from)?);
        if !follows.map_err(failed("walk the history"))? {
            return Ok(Err("the history of our own commits was rewritten".into()));
        }
        if overlap == Overlap::Refused
            && let Some(reason) = push::overlap(&repo, from, new, onto)?
        {
            return Ok(Err(reason));
        }
        let commits = push::between(&repo, from, new)?;
        push::cherry_pick_onto(&repo, &commits, onto, session)
    }

    /// A commit on top of `tip` that removes the session's folder; `None` when there is none.
    pub fn commit_session_removal(
        &self,
        tip: &CommitId,
        state_folder: &str,
        message: &str,
    ) -> Result<Option<CommitId>, GitError> {
        let repo = self.repo()?;
        let parent = find_commit(&repo, tip)?;
        let bare = tree::replace_folder(&repo, parent.tree_id(), state_folder, &[])?;
        if bare == parent.tree_id() {
            return Ok(None);
        }
        commit_tree(&repo, bare, Some(&parent), message).map(Some)
    }

    /// A commit on `tip` that writes files; moves no reference, and keeps the modes of files.
    pub fn with_files(
        &self,
        tip: &CommitId,
        files: &[(String, Vec<u8>)],
        message: &str,
    ) -> Result<CommitId, GitError> {
        let repo = self.repo()?;
        let parent = find_commit(&repo, tip)?;
        let tree = tree::with_files(&repo, &tree_of(&repo, tip)?, files)?;
        commit_tree(&repo, tree, Some(&parent), message)
    }

    /// Reverts the fix of one iteration in a new commit on top of `tip`; the last fix when no
    /// iteration is named. `None` when there is no such fix.
    /// Fails when later commits change the same lines.
    pub fn revert_fix(
        &self,
        tip: &CommitId,
        head: &CommitId,
        session: &SessionId,
        state_root: &str,
        iteration: Option<u32>,
        by: &str,
    ) -> Result<Option<(CommitId, u32)>, GitError> {
        let repo = self.repo()?;
        let walk = history(&repo, oid(tip)?, &[oid(head)?], Sort::TOPOLOGICAL)?;
        let mut gone = Vec::new();
        for id in walk {
            let found = id.and_then(|id| repo.find_commit(id));
            let found = found.map_err(failed("walk the history"))?;
            let message = message_of(&found);
            gone.extend(commit::rollback_of(&message, session));
            let Some(number) = commit::fix_of(&message, session) else { continue };
            // Newest first, so a revert is seen before the fix that it reverts.
            if gone.contains(&number) || iteration.is_some_and(|asked| asked != number) {
                continue;
            }
            let top = find_commit(&repo, tip)?;
            let mut index = repo
                .revert_commit(&found, &top, 0, None)
                .map_err(failed(format!("take iteration {number} back")))?;
            let tree = without_state(&repo, &mut index, &top, state_root)?.ok_or_else(|| {
                GitError::Failed {
                    action: format!("take iteration {number} back"),
                    reason: "later commits change the same lines".into(),
                }
            })?;
            let message = commit::reverted(session, number, &found.id().to_string(), by);
            return Ok(Some((commit_tree(&repo, tree, Some(&top), &message)?, number)));
        }
        Ok(None)
    }
}

/// The tree of a revert, with the session's own files as at the tip; `None` on conflict.
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
    let own = top.tree().map_err(failed("read a tree"))?;
    tree::with_entry_of(repo, &tree, &own, state_root).map(Some)
}

/// Commits a tree with the repository's configured identity.
fn commit_tree(
    repo: &Repository,
    tree: Oid,
    parent: Option<&Commit<'_>>,
    message: &str,
) -> Result<CommitId, GitError> {
    let write = || {
        let who = repo.signature()?;
        let parents: Vec<&Commit<'_>> = parent.into_iter().collect();
        repo.commit(None, &who, &who, message, &repo.find_tree(tree)?, &parents)
    };
    name(write().map_err(failed("commit"))?)
}
