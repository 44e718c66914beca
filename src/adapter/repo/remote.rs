//! The server's side of a checkout: reads, fetches, deepens. Pushing is in `push`.

use std::io::Write as _;
use std::path::PathBuf;

use async_trait::async_trait;
use git2::{ErrorCode, Oid, Repository, Sort};

use crate::adapter::host::files;
use crate::domain::id::CommitId;
use crate::effect::{
    FetchTarget, GitError, PushOutcome, PushRequest, RebasedPushOutcome, Remote, RemoteError,
};

#[cfg(test)]
use super::RepositoryFacts;
use super::pkt::{Advertisement, Fetched};
use super::transport::{Ask, Transport};
use super::{commit, failed, io};

/// Commits that a server is told of as present, at most.
const HAVES: usize = 256;

/// Depth of the first step when history is deepened; each further one takes four times as much.
const FIRST_DEPTH: u32 = 50;

/// `.git/shallow`, at most, in bytes.
const SHALLOW_LIMIT: u64 = 16 << 20;

/// A remote of one local repository. Opens the repository anew for each operation: libgit2 keeps
/// what it read of a cut history, and that changes here.
#[derive(Clone, Debug)]
pub struct GitRemote {
    pub(super) common: PathBuf,
    pub(super) transport: Transport,
}

impl GitRemote {
    /// The remote of a repository that `transport` leads to.
    #[cfg(test)]
    #[must_use]
    pub fn new(facts: &RepositoryFacts, transport: Transport) -> Self {
        Self { common: facts.common.clone(), transport }
    }

    /// The shared git directory, as a bare repository: the files are none of its business.
    pub(super) fn repo(&self) -> Result<Repository, GitError> {
        super::open::bare(&self.common)
    }

    /// Fetches commits, whether they are here or not.
    async fn take(
        &self,
        offer: &Advertisement,
        want: Vec<String>,
        depth: Option<u32>,
    ) -> Result<(), RemoteError> {
        let ask = Ask { want, shallow: self.shallow()?, have: self.haves()?, depth };
        let fetched = self.transport.fetch(offer, &ask).await?;
        self.store(&fetched)?;
        Ok(())
    }

    fn haves(&self) -> Result<Vec<String>, GitError> {
        let repo = self.repo()?;
        let mut walk = repo.revwalk().map_err(failed("walk the history"))?;
        walk.set_sorting(Sort::TIME).map_err(failed("walk the history"))?;
        let references = repo.references().map_err(failed("list the references"))?;
        for reference in references.flatten() {
            // Tags of trees and broken references are no help to the server.
            if let Ok(commit) = reference.peel_to_commit() {
                walk.push(commit.id()).map_err(failed("walk the history"))?;
            }
        }
        if let Ok(head) = repo.head().and_then(|head| head.peel_to_commit()) {
            walk.push(head.id()).map_err(failed("walk the history"))?;
        }
        Ok(walk.map_while(Result::ok).take(HAVES).map(|oid| oid.to_string()).collect())
    }

    pub(super) fn shallow(&self) -> Result<Vec<String>, GitError> {
        let path = self.common.join("shallow");
        let bytes = files::read(&path, SHALLOW_LIMIT).map_err(io("read .git/shallow"))?;
        let text = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
        let ids = text.lines().filter(|line| Oid::from_str(line).is_ok() && line.len() == 40);
        Ok(ids.map(str::to_owned).collect())
    }

    /// Stores what arrived: the pack first, the cut second, so that a kill in between leaves
    /// objects that nothing names, and never a commit whose parents are missing.
    fn store(&self, fetched: &Fetched) -> Result<(), GitError> {
        if !fetched.pack.is_empty() {
            unpack(&self.repo()?, &fetched.pack)?;
        }
        if fetched.shallow.is_empty() && fetched.unshallow.is_empty() {
            return Ok(());
        }
        let mut cut = self.shallow()?;
        cut.retain(|id| !fetched.unshallow.contains(id));
        cut.extend(fetched.shallow.iter().cloned());
        cut.sort();
        cut.dedup();
        let path = self.common.join("shallow");
        if cut.is_empty() {
            return match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(io("remove .git/shallow")(error))
                }
                Ok(()) | Err(_) => Ok(()),
            };
        }
        let text = cut.join("\n") + "\n";
        files::write(&path, text.as_bytes()).map_err(io("write .git/shallow"))
    }

    pub(super) fn has(&self, commit: &CommitId) -> Result<bool, GitError> {
        let oid = oid(commit)?;
        Ok(self.repo()?.find_commit(oid).is_ok())
    }
}

/// Writes a pack into the object store, all of it or nothing.
pub(super) fn unpack(repo: &Repository, pack: &[u8]) -> Result<(), GitError> {
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

pub(super) fn oid(commit: &CommitId) -> Result<Oid, GitError> {
    Oid::from_str(commit.as_str()).map_err(failed("read a commit id"))
}

pub(super) fn named(text: &str) -> Result<CommitId, GitError> {
    CommitId::parse(text).map_err(|error| GitError::Failed {
        action: "read an object id".into(),
        reason: error.to_string(),
    })
}

#[async_trait]
impl Remote for GitRemote {
    async fn head_of(&self, branch: &str) -> Result<Option<CommitId>, RemoteError> {
        let offer = self.transport.list().await?;
        Ok(offer.find(&super::push::full_name(branch)).map(named).transpose()?)
    }

    async fn fetch(&self, what: &FetchTarget, depth: Option<u32>) -> Result<CommitId, RemoteError> {
        let offer = self.transport.list().await?;
        let find = |name: String| match offer.find(&name) {
            Some(id) => Ok(named(id)?),
            None => Err(RemoteError::NoReference { name }),
        };
        let commit = match what {
            FetchTarget::Branch(name) => find(format!("refs/heads/{name}"))?,
            FetchTarget::Reference(name) => find(name.clone())?,
            FetchTarget::Commit(commit) => commit.clone(),
        };
        if !self.has(&commit)? {
            self.take(&offer, vec![commit.as_str().to_owned()], depth).await?;
        }
        if !self.has(&commit)? {
            return Err(RemoteError::NoReference { name: commit.to_string() });
        }
        Ok(commit)
    }

    async fn merge_base(
        &self,
        head: &CommitId,
        base: &CommitId,
        most: u32,
    ) -> Result<Option<CommitId>, RemoteError> {
        let mut depth = FIRST_DEPTH.min(most);
        loop {
            if self.has(head)? && self.has(base)? {
                match self.repo()?.merge_base(oid(head)?, oid(base)?) {
                    Ok(found) => return Ok(Some(commit::name(found)?)),
                    Err(error) if error.code() == ErrorCode::NotFound => {}
                    Err(error) => return Err(failed("look for the merge base")(error).into()),
                }
                if depth > most || self.shallow()?.is_empty() {
                    return Ok(None);
                }
            } else if depth > most {
                return Ok(None);
            }
            let offer = self.transport.list().await?;
            // A complete checkout stays complete: a depth would cut it.
            let complete = self.shallow()?.is_empty();
            let step = if complete { None } else { Some(depth) };
            let want = vec![head.as_str().to_owned(), base.as_str().to_owned()];
            self.take(&offer, want, step).await?;
            depth = if depth == most {
                most.saturating_add(1)
            } else {
                depth.saturating_mul(4).min(most)
            };
        }
    }

    async fn push(&self, request: &PushRequest) -> Result<PushOutcome, RemoteError> {
        super::push::push(self, request).await
    }

    async fn push_rebased(&self, request: &PushRequest) -> Result<RebasedPushOutcome, RemoteError> {
        super::push::push_rebased(self, request).await
    }
}
