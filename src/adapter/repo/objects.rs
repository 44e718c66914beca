//! Helpers for commits, trees, packs and `shallow` files that all of `repo` uses.

use std::io::Write as _;
use std::path::Path;

use git2::{Commit, Oid, Repository, Revwalk, Sort, Tree};

use crate::adapter::host::files;
use crate::domain::id::CommitId;
use crate::effect::GitError;

use super::{failed, io};

/// Largest `shallow` file that is read, in bytes.
const SHALLOW_LIMIT: u64 = 16 << 20;

pub fn oid(commit: &CommitId) -> Result<Oid, GitError> {
    Oid::from_str(commit.as_str()).map_err(failed("read a commit id"))
}

/// Parses an object id as a commit id.
pub fn named(text: &str) -> Result<CommitId, GitError> {
    CommitId::parse(text).map_err(|error| GitError::Failed {
        action: "name a commit".into(),
        reason: error.to_string(),
    })
}

/// The id of a commit object.
pub fn name(oid: Oid) -> Result<CommitId, GitError> {
    named(&oid.to_string())
}

pub fn find_commit<'r>(repo: &'r Repository, id: &CommitId) -> Result<Commit<'r>, GitError> {
    repo.find_commit(oid(id)?).map_err(failed(format!("find commit {}", id.short())))
}

pub fn tree_of<'r>(repo: &'r Repository, id: &CommitId) -> Result<Tree<'r>, GitError> {
    find_commit(repo, id)?.tree().map_err(failed(format!("read the tree of {}", id.short())))
}

/// The message of a commit; bytes that are not UTF-8 are replaced.
pub fn message_of(commit: &Commit<'_>) -> String {
    String::from_utf8_lossy(commit.message_bytes()).into_owned()
}

/// Commits that are reachable from `tip` and from none of `hidden`.
pub fn history<'r>(
    repo: &'r Repository,
    tip: Oid,
    hidden: &[Oid],
    order: Sort,
) -> Result<Revwalk<'r>, GitError> {
    let walk = || {
        let mut walk = repo.revwalk()?;
        walk.set_sorting(order)?;
        walk.push(tip)?;
        for id in hidden {
            walk.hide(*id)?;
        }
        Ok(walk)
    };
    walk().map_err(failed("walk the history"))
}

/// A pack of the commits of a walk and the objects they need.
pub fn pack(repo: &Repository, mut walk: Revwalk<'_>) -> Result<Vec<u8>, GitError> {
    let mut build = || {
        let mut builder = repo.packbuilder()?;
        builder.insert_walk(&mut walk)?;
        let mut pack = git2::Buf::new();
        builder.write_buf(&mut pack)?;
        Ok(pack.to_vec())
    };
    build().map_err(failed("build a pack"))
}

/// Writes a pack into the object store, all of it or nothing.
pub fn unpack(repo: &Repository, pack: &[u8]) -> Result<(), GitError> {
    // git sends a pack without objects when nothing is missing; libgit2 does not index that.
    if pack.get(..4) == Some(b"PACK") && pack.get(8..12) == Some(&[0, 0, 0, 0]) {
        return Ok(());
    }
    let odb = repo.odb().map_err(failed("open the object store"))?;
    let mut writer = odb.packwriter().map_err(failed("write a pack"))?;
    writer.write_all(pack).map_err(io("write a pack"))?;
    writer.commit().map_err(failed("index a pack"))?;
    Ok(())
}

/// The list of commits at which a history is cut (`shallow`); `None` when it is complete.
pub fn read_shallow(common: &Path) -> Result<Option<Vec<u8>>, GitError> {
    files::read(&common.join("shallow"), SHALLOW_LIMIT).map_err(io("read .git/shallow"))
}

/// Makes the history of one git directory as shallow as that of another.
pub fn copy_shallow(common: &Path, to: &Path) -> Result<(), GitError> {
    let copy = to.join("shallow");
    match read_shallow(common)? {
        Some(bytes) => files::write(&copy, &bytes),
        None => files::remove(&copy),
    }
    .map_err(io("copy .git/shallow"))
}
