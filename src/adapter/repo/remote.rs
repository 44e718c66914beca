//! Reads branches of a server, fetches from it and finds merge bases.

use git2::ErrorCode;

use crate::domain::id::CommitId;
use crate::effect::{FetchTarget, RemoteError};

use super::failed;
use super::git_remote::{FIRST_DEPTH, GitRemote};
use super::objects::{name, named, oid};
use super::push::full_name;

/// Reads from the server; `push` moves its branches. Every method may be repeated.
impl GitRemote {
    /// Where a branch, or a reference by its full name, is on the server now; `None` without it.
    pub async fn head_of(&self, branch: &str) -> Result<Option<CommitId>, RemoteError> {
        let offer = self.transport.list().await?;
        Ok(offer.find(&full_name(branch)).map(named).transpose()?)
    }

    /// Fetches a commit and `depth` of its history, or all of it; moves no local branch.
    pub async fn fetch(
        &self,
        what: &FetchTarget,
        depth: Option<u32>,
    ) -> Result<CommitId, RemoteError> {
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
            self.fetch_commits(&offer, vec![commit.as_str().to_owned()], depth).await?;
        }
        if !self.has(&commit)? {
            return Err(RemoteError::NoReference { name: commit.to_string() });
        }
        Ok(commit)
    }

    /// The merge base of two commits; `None` within `most` commits of depth.
    pub async fn merge_base(
        &self,
        head: &CommitId,
        base: &CommitId,
        most: u32,
    ) -> Result<Option<CommitId>, RemoteError> {
        let mut depth = FIRST_DEPTH.min(most);
        loop {
            if self.has(head)? && self.has(base)? {
                match self.repo()?.merge_base(oid(head)?, oid(base)?) {
                    Ok(found) => return Ok(Some(name(found)?)),
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
            // A complete history must stay complete; fetching with a depth would cut it.
            let complete = self.shallow()?.is_empty();
            let step = if complete { None } else { Some(depth) };
            let want = vec![head.as_str().to_owned(), base.as_str().to_owned()];
            self.fetch_commits(&offer, want, step).await?;
            depth = if depth == most {
                most.saturating_add(1)
            } else {
                depth.saturating_mul(4).min(most)
            };
        }
    }
}
