//! The file of the memory, as the only file of a commit without parents under a reference of its own.
//!
//! The commit has no parents, so that what is forgotten is gone, and so that the reference never
//! grows beyond one file.

use std::path::Path;

use git2::{ErrorCode, ObjectType, Oid, Repository, Signature, Time};

use crate::domain::commit;
use crate::domain::id::{CommitId, SessionId};
use crate::domain::memory::LIMIT;
use crate::effect::{FetchTarget, GitError, PushOutcome, PushRequest, RemoteError};

use super::objects::{find_commit, name, oid};
use super::pack_limits::Bounds;
use super::{GitRemote, RepositoryFacts, ScratchRepo, failed, open, tree};

/// The reference of the memory, locally and on the server. It is not a branch.
pub const MEMORY_REFERENCE: &str = "refs/regreen/memory";

/// The file in its commit.
const FILE: &str = "memory.json";

/// Name under which its commits are made; no session has it, since those begin with `WFS-`.
const SESSION: &str = "memory";

/// What is received of a server at most, and how large it may be when it is unpacked.
const RECEIVED: usize = 4 << 20;
const BOUNDS: Bounds = Bounds { object: LIMIT as u64, all: 2 * LIMIT as u64 };

/// A stored memory: the commit that its reference is at, and its text.
pub struct MemoryFile {
    pub commit: CommitId,
    /// `Err` says why the commit holds no memory.
    pub text: Result<Vec<u8>, GitError>,
}

/// The session whose commits hold memories.
fn session() -> Result<SessionId, GitError> {
    let action = || "name the memory".to_owned();
    SessionId::parse(SESSION)
        .map_err(|error| GitError::Failed { action: action(), reason: error.to_string() })
}

/// The memory in the user's repository; `None` without one.
pub fn read_memory(facts: &RepositoryFacts) -> Result<Option<MemoryFile>, GitError> {
    let repo = open::bare(&facts.common)?;
    let target = match repo.refname_to_id(MEMORY_REFERENCE) {
        Ok(target) => target,
        Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
        Err(error) => return Err(failed("read the reference of the memory")(error)),
    };
    let commit = name(target)?;
    Ok(Some(MemoryFile { text: text_of(&repo, &commit), commit }))
}

/// Writes a memory in place of that at `before`; `false` when another process wrote since.
pub fn write_memory(
    facts: &RepositoryFacts,
    before: Option<&CommitId>,
    text: &str,
    now: jiff::Timestamp,
) -> Result<bool, GitError> {
    let repo = open::bare(&facts.common)?;
    let message = commit::record(&session()?);
    let write = || {
        let blob = repo.blob(text.as_bytes())?;
        let mut builder = repo.treebuilder(None)?;
        builder.insert(FILE, blob, 0o100_644)?;
        let tree = repo.find_tree(builder.write()?)?;
        let who = Signature::new("regreen", "regreen@localhost", &Time::new(now.as_second(), 0))?;
        repo.commit(None, &who, &who, &message, &tree, &[])
    };
    let new: Oid = write().map_err(failed("write the memory"))?;
    let moved = match before {
        Some(before) => {
            repo.reference_matching(MEMORY_REFERENCE, new, true, oid(before)?, "regreen")
        }
        None => repo.reference(MEMORY_REFERENCE, new, false, "regreen"),
    };
    match moved.map_err(|error| (error.code(), error)) {
        Ok(_) => Ok(true),
        Err((
            ErrorCode::Modified | ErrorCode::Exists | ErrorCode::NotFound | ErrorCode::Locked,
            _,
        )) => Ok(false),
        Err((_, error)) => Err(failed("move the reference of the memory")(error)),
    }
}

/// Deletes the memory of the user's repository; no memory is fine.
pub fn delete_memory(facts: &RepositoryFacts) -> Result<(), GitError> {
    let repo = open::bare(&facts.common)?;
    match repo.find_reference(MEMORY_REFERENCE) {
        Ok(mut reference) => reference.delete().map_err(failed("delete the memory")),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(()),
        Err(error) => Err(failed("read the reference of the memory")(error)),
    }
}

/// The text in a commit, if it is a plain file of the right size.
fn text_of(repo: &Repository, commit: &CommitId) -> Result<Vec<u8>, GitError> {
    let wrong = |reason: &str| GitError::Failed {
        action: "read the memory".into(),
        reason: reason.to_owned(),
    };
    let tree = find_commit(repo, commit)?.tree().map_err(failed("read the memory"))?;
    let entry = tree.get_name(FILE).filter(tree::is_plain);
    let entry = entry.ok_or_else(|| wrong(&format!("its commit has no file {FILE}")))?;
    let odb = repo.odb().map_err(failed("read the memory"))?;
    let (size, kind) = odb.read_header(entry.id()).map_err(failed("read the memory"))?;
    if kind != ObjectType::Blob || size > LIMIT {
        return Err(wrong(&format!("it is larger than {} MiB", LIMIT >> 20)));
    }
    let blob = repo.find_blob(entry.id()).map_err(failed("read the memory"))?;
    Ok(blob.content().to_vec())
}

/// The memory on a server. It is read into a repository of its own, because what is under that
/// reference may be anything.
pub struct RemoteMemory {
    clone: ScratchRepo,
    remote: GitRemote,
}

impl RemoteMemory {
    /// The memory on the server of `remote`; `folder` is replaced.
    pub fn open(remote: &GitRemote, folder: &Path) -> Result<Self, GitError> {
        let clone = ScratchRepo::make(None, folder)?;
        let remote = clone.remote(remote.transport.clone()).bounded(RECEIVED, BOUNDS);
        Ok(Self { clone, remote })
    }

    /// What the reference holds; `None` if the server has none.
    pub async fn read(&self) -> Result<Option<MemoryFile>, RemoteError> {
        let Some(commit) = self.remote.head_of(MEMORY_REFERENCE).await? else { return Ok(None) };
        self.remote.fetch(&FetchTarget::Commit(commit.clone()), Some(1)).await?;
        let text = text_of(&self.remote.repo()?, &commit);
        Ok(Some(MemoryFile { commit, text }))
    }

    /// Writes a memory in place of that at `before`; leaves a reference that holds others alone.
    pub async fn write(
        &self,
        before: Option<CommitId>,
        text: &str,
    ) -> Result<PushOutcome, RemoteError> {
        let session = session()?;
        let files = [(FILE.to_owned(), text.as_bytes().to_vec())];
        let new = self.clone.record(&session, &files, None, None)?;
        let branch = MEMORY_REFERENCE.to_owned();
        let (expected, protected) = (before, Vec::new());
        self.remote.push(&PushRequest { branch, expected, new, session, protected }).await
    }
}
