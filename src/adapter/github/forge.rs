//! Implements the `Forge` trait on the GitHub client. Resources that are searched for before they
//! are written have files of their own.

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::adapter::host::http::text_at;
use crate::domain::id::CommitId;
use crate::domain::retry::Repeat;
use crate::effect::{
    Account, BranchCommit, CheckRun, CommentKind, Done, Forge, ForgeEntry, ForgeError,
    ForgeErrorKind, Label, LabelErrors, NewIssue, NewPull, Permission, PullEdit, PullRequest,
    PutIssue, PutPull, Reaction, RepositoryInfo,
};

use super::client::{Call, GitHub, Verb, locked, none_if_missing};
use super::comment::COMMENT_PAGES;
use super::issue::usable;
use super::responses::Comment;
use super::route;

/// Redirects of a renamed repository that are followed.
const MOVES: u32 = 3;

/// Pages of commits that are read: GitHub lists at most 250 per pull request.
const COMMIT_PAGES: usize = 3;

#[async_trait]
impl Forge for GitHub<'_> {
    async fn repository(&self) -> Result<RepositoryInfo, ForgeError> {
        let what = "read the repository";
        let mut route = self.route(what, &[], &[])?;
        let (mut attempt, mut moves) = (1, 0);
        let value = loop {
            let call = Call {
                what,
                verb: Verb::Get,
                route: route.clone(),
                body: None,
                repeat: Repeat::Free,
            };
            match self.attempt(&call).await {
                Ok(value) => break value,
                // The HTTP client follows no redirect; one to the same server is followed here.
                Err(failure) => {
                    let target = failure
                        .location
                        .as_deref()
                        .filter(|_| failure.error.kind == ForgeErrorKind::Moved && moves < MOVES)
                        .and_then(|to| to.strip_prefix(self.base.as_str()))
                        .filter(|rest| {
                            rest.starts_with("/repositories/") || rest.starts_with("/repos/")
                        });
                    if let Some(target) = target {
                        route = target.to_owned();
                        moves += 1;
                        continue;
                    }
                    self.pause(Repeat::Free, failure, attempt).await?;
                    attempt += 1;
                }
            }
        };
        let found: RepositoryInfo = Self::read(what, value)?;
        locked(&self.name).clone_from(&found.full_name);
        Ok(found)
    }

    async fn permission(&self, login: &str) -> Result<Permission, ForgeError> {
        let what = "read the permission of an account";
        let route = self.route(what, &["collaborators", login, "permission"], &[])?;
        let answer: Value = self.get(what, route).await?;
        let base = answer["permission"].as_str().unwrap_or_default();
        permission(base, answer["role_name"].as_str())
            .ok_or_else(|| Self::malformed(what, &format!("`{base}` is no known permission")))
    }

    async fn is_member(
        &self,
        organisation: &str,
        team: &str,
        login: &str,
    ) -> Result<bool, ForgeError> {
        let what = "ask whether an account is in a team";
        let segments = ["orgs", organisation, "teams", team, "memberships", login];
        let Some(route) = route::path(segments) else {
            let message = super::error_response::short(&segments.join("/"));
            return Err(Self::error(what, None, ForgeErrorKind::Invalid, &message));
        };
        let found: Option<Value> = self.get(what, route).await.or_else(none_if_missing)?;
        // A pending invitation is no membership.
        Ok(found.is_some_and(|found| found["state"] == "active"))
    }

    async fn pull(&self, number: u64) -> Result<PullRequest, ForgeError> {
        self.read_pull(number).await
    }

    async fn pulls_of_head(
        &self,
        owner: &str,
        branch: &str,
    ) -> Result<Vec<PullRequest>, ForgeError> {
        self.list_pulls(owner, branch, "all").await
    }

    async fn open_pull(&self, new: &NewPull) -> Result<PutPull, ForgeError> {
        self.write_pull(new).await
    }

    fn compare_link(&self, base: &str, head: &str) -> String {
        let name = locked(&self.name).clone();
        let (owner, repository) = name.split_once('/').unwrap_or((&name, ""));
        let range = format!("{base}...{head}");
        let path = route::path([owner, repository, "compare", &range]).unwrap_or_default();
        // GitHub's compare page expects unencoded slashes in branch names.
        let path = path.replace("%2F", "/");
        format!("{}{path}?expand=1", self.settings.server_url.trim_end_matches('/'))
    }

    async fn update_pull(&self, number: u64, edit: &PullEdit) -> Result<(), ForgeError> {
        self.edit_pull(number, edit).await
    }

    async fn put_comment(&self, number: u64, marker: &str, body: &str) -> Result<Done, ForgeError> {
        self.write_comment(number, marker, body).await
    }

    async fn update_comment(
        &self,
        number: u64,
        marker: &str,
        body: &str,
    ) -> Result<Done, ForgeError> {
        self.edit_own_comment(number, marker, body).await
    }

    async fn comments_since(
        &self,
        number: u64,
        since: &str,
    ) -> Result<Vec<ForgeEntry>, ForgeError> {
        let mut found = Vec::new();
        self.each(
            "read the new comments",
            &["issues", &number.to_string(), "comments"],
            &[("since", since)],
            COMMENT_PAGES,
            |comment: Comment| {
                if comment.created_at.as_str() >= since {
                    found.push(ForgeEntry {
                        id: comment.id,
                        edited: comment.created_at != comment.updated_at,
                        author: comment.user.map(Account::from),
                        body: comment.body.unwrap_or_default(),
                    });
                }
                true
            },
        )
        .await?;
        Ok(found)
    }

    async fn react(
        &self,
        kind: CommentKind,
        id: u64,
        reaction: Reaction,
    ) -> Result<(), ForgeError> {
        let what = "react to the comment";
        let room = match kind {
            CommentKind::Issue => "issues",
            CommentKind::Review => "pulls",
        };
        let content = match reaction {
            Reaction::Eyes => "eyes",
            Reaction::Rocket => "rocket",
            Reaction::ThumbsDown => "-1",
            Reaction::Confused => "confused",
        };
        let route = self.route(what, &[room, "comments", &id.to_string(), "reactions"], &[])?;
        // Safe to repeat: for an existing reaction GitHub answers 200.
        let call = Call::new(what, Verb::Post, route, json!({ "content": content }), Repeat::Free);
        self.perform(&call).await.map(drop)
    }

    async fn put_check(&self, run: &CheckRun) -> Result<Done, ForgeError> {
        self.write_check(run).await
    }

    async fn put_issue(&self, new: &NewIssue) -> Result<PutIssue, ForgeError> {
        self.write_issue(new).await
    }

    async fn add_labels(&self, number: u64, labels: &[Label]) -> Result<LabelErrors, ForgeError> {
        let what = "add labels";
        let left_out = self.make_labels(labels).await?;
        let usable = usable(labels, &left_out);
        if !usable.is_empty() {
            let route = self.route(what, &["issues", &number.to_string(), "labels"], &[])?;
            // Safe to repeat: an issue carries each label once.
            let body = json!({ "labels": usable });
            self.perform(&Call::new(what, Verb::Post, route, body, Repeat::Free)).await?;
        }
        Ok(left_out)
    }

    async fn dispatch_workflow(&self, file: &str, reference: &str) -> Result<(), ForgeError> {
        let what = "start a workflow";
        let route = self.route(what, &["actions", "workflows", file, "dispatches"], &[])?;
        let body = json!({ "ref": reference });
        self.perform(&Call::new(what, Verb::Post, route, body, Repeat::Never)).await.map(drop)
    }

    async fn branch_sha(&self, branch: &str) -> Result<Option<CommitId>, ForgeError> {
        let what = "read a branch";
        let mut segments = vec!["git", "ref", "heads"];
        segments.extend(branch.split('/'));
        let route = self.route(what, &segments, &[])?;
        let found: Option<Value> = self.get(what, route).await.or_else(none_if_missing)?;
        found.map(|found| Self::commit(what, text_at(&found, "/object/sha"))).transpose()
    }

    async fn commit_on_branch(&self, commit: &BranchCommit) -> Result<CommitId, ForgeError> {
        self.write_commit(commit).await
    }

    async fn marked_commits(&self, number: u64, mark: &str) -> Result<u32, ForgeError> {
        let mut count = 0;
        self.each(
            "read the commits of the pull request",
            &["pulls", &number.to_string(), "commits"],
            &[],
            COMMIT_PAGES,
            |listed: Value| {
                count += u32::from(text_at(&listed, "/commit/message").contains(mark));
                true
            },
        )
        .await?;
        Ok(count)
    }
}

/// The role counts only if it refines the base permission; a custom role counts as its base.
fn permission(base: &str, role: Option<&str>) -> Option<Permission> {
    let level = |word: &str| serde_json::from_value(word.into()).ok();
    let base = level(base)?;
    Some(match (base, role.and_then(level)) {
        (Permission::Write, Some(Permission::Maintain)) => Permission::Maintain,
        (Permission::Read, Some(Permission::Triage)) => Permission::Triage,
        _ => base,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_refines_and_never_raises() {
        let table = [
            ("admin", Some("admin"), Some(Permission::Admin)),
            ("write", Some("maintain"), Some(Permission::Maintain)),
            ("write", Some("write"), Some(Permission::Write)),
            ("write", Some("release-team"), Some(Permission::Write)),
            ("write", None, Some(Permission::Write)),
            ("read", Some("triage"), Some(Permission::Triage)),
            ("read", Some("admin"), Some(Permission::Read)),
            ("read", Some("read"), Some(Permission::Read)),
            ("none", Some("write"), Some(Permission::None)),
            ("push", None, None),
            ("", None, None),
        ];
        for (base, role, expected) in table {
            assert_eq!(permission(base, role), expected, "{base} {role:?}");
        }
    }
}
