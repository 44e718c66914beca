//! Commits that GitHub creates and signs, with an optimistic lock on the tip of the branch.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::adapter::host::http::text_at;
use crate::domain::id::CommitId;
use crate::domain::retry::{Fault, Repeat};
use crate::effect::{BranchCommit, Forge as _, ForgeError, ForgeErrorKind};

use super::client::{Call, GitHub, Verb, locked};

const MUTATION: &str = "mutation($input: CreateCommitOnBranchInput!) { \
                        createCommitOnBranch(input: $input) { commit { oid } } }";

impl GitHub<'_> {
    pub(super) async fn write_commit(&self, commit: &BranchCommit) -> Result<CommitId, ForgeError> {
        let what = "commit to the branch";
        let body = json!({ "query": MUTATION, "variables": { "input": self.input(commit) } });
        let call = Call::new(what, Verb::Graph, "/graphql".to_owned(), body, Repeat::Look);
        let mut attempt = 1;
        loop {
            let failure = match self.attempt(&call).await {
                Ok(value) => {
                    let oid = text_at(&value, "/data/createCommitOnBranch/commit/oid");
                    return Self::commit(what, oid);
                }
                Err(failure) => failure,
            };
            let stale = failure.error.kind == ForgeErrorKind::Stale;
            let error = failure.error.clone();
            let look = if stale {
                // This very commit, made before a kill, may have moved the branch.
                debug_assert_eq!(failure.fault, Fault::Refused);
                true
            } else {
                self.pause(Repeat::Look, failure, attempt).await?
            };
            if look && let Some(made) = self.find_commit(commit).await? {
                return Ok(made);
            }
            if stale {
                return Err(error);
            }
            attempt += 1;
        }
    }

    fn input(&self, commit: &BranchCommit) -> Value {
        let additions: Vec<Value> = commit
            .additions
            .iter()
            .map(|(path, bytes)| json!({ "path": path.as_str(), "contents": STANDARD.encode(bytes) }))
            .collect();
        let deletions: Vec<Value> =
            commit.deletions.iter().map(|path| json!({ "path": path.as_str() })).collect();
        json!({
            "branch": {
                "repositoryNameWithOwner": locked(&self.name).clone(),
                "branchName": commit.branch,
            },
            "expectedHeadOid": commit.expected_head.as_str(),
            "message": { "headline": commit.headline, "body": commit.body },
            "fileChanges": { "additions": additions, "deletions": deletions },
        })
    }

    /// The branch tip if it is this commit on the expected head; `None` until the branch moves.
    async fn find_commit(&self, commit: &BranchCommit) -> Result<Option<CommitId>, ForgeError> {
        let what = "read a commit";
        let Some(tip) = self.branch_sha(&commit.branch).await? else { return Ok(None) };
        if tip == commit.expected_head {
            return Ok(None);
        }
        let route = self.route(what, &["git", "commits", tip.as_str()], &[])?;
        let found: Value = self.get(what, route).await?;
        let parents = found["parents"].as_array().into_iter().flatten();
        let parents: Vec<&str> = parents.map(|one| text_at(one, "/sha")).collect();
        let message = format!("{}\n\n{}", commit.headline, commit.body);
        if parents == [commit.expected_head.as_str()]
            && text_at(&found, "/message").trim() == message.trim()
        {
            return Ok(Some(tip));
        }
        let message =
            format!("`{}` is at {}", super::error_response::short(&commit.branch), tip.short());
        Err(Self::error("commit to the branch", None, ForgeErrorKind::Stale, &message))
    }
}
