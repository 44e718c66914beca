//! The remote of a local repository: fetches packs from a server and stores them.

use std::path::PathBuf;

use git2::{Oid, Repository, Sort};

use crate::adapter::host::files;
use crate::domain::id::CommitId;
use crate::effect::{GitError, RemoteError};

#[cfg(test)]
use super::RepositoryFacts;
use super::objects::{oid, read_shallow, unpack};
use super::pack_limits::{Bounds, check_limits};
use super::pkt_line::{Advertisement, Fetched};
use super::transport::{Ask, Transport};
use super::{failed, io};

/// Most commits that we name to a server as present.
const HAVES: usize = 256;

/// First depth when a shallow history is deepened; each further step takes four times as much.
pub(super) const FIRST_DEPTH: u32 = 50;

/// A remote of one local repository, which is reopened for each operation: libgit2 caches where a
/// shallow history is cut, and that changes here.
#[derive(Clone, Debug)]
pub struct GitRemote {
    pub(super) common: PathBuf,
    pub(super) transport: Transport,
    /// How large what is fetched may be when unpacked; `None` where the repository holds it anyway.
    pub(super) bounds: Option<Bounds>,
}

impl GitRemote {
    /// A remote that is reached by `transport`.
    #[cfg(test)]
    #[must_use]
    pub fn new(facts: &RepositoryFacts, transport: Transport) -> Self {
        Self { common: facts.common.clone(), transport, bounds: None }
    }

    /// The same remote for what may be anything: it receives at most `received` bytes, and stores
    /// nothing whose objects are beyond the bounds when they are unpacked.
    #[must_use]
    pub fn bounded(&self, received: usize, bounds: Bounds) -> Self {
        let transport = self.transport.clone().receiving(received);
        Self { common: self.common.clone(), transport, bounds: Some(bounds) }
    }

    /// Opens the shared git directory as a bare repository, since no work tree is needed.
    pub(super) fn repo(&self) -> Result<Repository, GitError> {
        super::open::bare(&self.common)
    }

    /// Fetches commits, even if they are present already.
    pub(super) async fn fetch_commits(
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

    pub(super) fn haves(&self) -> Result<Vec<String>, GitError> {
        let repo = self.repo()?;
        let mut walk = repo.revwalk().map_err(failed("walk the history"))?;
        walk.set_sorting(Sort::TIME).map_err(failed("walk the history"))?;
        let references = repo.references().map_err(failed("list the references"))?;
        for reference in references.flatten() {
            // Tags of trees and broken references are of no use to the server.
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
        let bytes = read_shallow(&self.common)?.unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let ids = text.lines().filter(|line| Oid::from_str(line).is_ok() && line.len() == 40);
        Ok(ids.map(str::to_owned).collect())
    }

    /// Stores what was fetched: first the pack, then the `shallow` file, so that a kill in between
    /// leaves unreferenced objects, never a commit whose parents are missing.
    pub(super) fn store(&self, fetched: &Fetched) -> Result<(), GitError> {
        if !fetched.pack.is_empty() {
            let checked = self.bounds.map_or(Ok(()), |bounds| check_limits(&fetched.pack, bounds));
            checked.map_err(|fault| GitError::Failed {
                action: "unpack what was fetched".into(),
                reason: fault.to_string(),
            })?;
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
            return files::remove(&path).map_err(io("remove .git/shallow"));
        }
        let text = cut.join("\n") + "\n";
        files::write(&path, text.as_bytes()).map_err(io("write .git/shallow"))
    }

    pub(super) fn has(&self, commit: &CommitId) -> Result<bool, GitError> {
        Ok(self.repo()?.find_commit(oid(commit)?).is_ok())
    }
}
