//! Makes commits in the repository of our own; moves no reference.

use std::path::Path;

use git2::{Commit, Index, Oid, Repository, Sort};

use crate::domain::commit;
use crate::domain::id::{CommitId, SessionId, TreeId};
use crate::effect::GitError;

use super::super::git_remote::oid;
use super::super::{failed, push, tree};
use super::Bench;

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

impl Bench {
    /// A commit that holds these files and names the session; moves no reference. `sources` is a
    /// tree of this store, kept whole below [`SOURCES`].
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
        super::super::commit::name(new)
    }

    /// Makes the commits of a session after `from` up to `new` again on top of `onto`; moves no
    /// reference. With [`Overlap::Refused`] no file may be changed on both sides. The inner error
    /// says why a person must decide.
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
        super::super::commit::name(new.map_err(failed("commit"))?).map(Some)
    }

    /// A commit on top of another that writes these files, given by path; moves no reference. A
    /// file that is there keeps its mode.
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
        super::super::commit::name(new.map_err(failed("commit"))?)
    }

    /// Takes the fix of one iteration back by a new commit on top of `tip`; the last fix when no
    /// iteration is named. `None` when there is no such fix.
    /// A conflict when later commits touch the same lines.
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
            return Ok(Some((super::super::commit::name(new)?, number)));
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
