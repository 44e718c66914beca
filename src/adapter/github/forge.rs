//! GitHub as the forge of the contract: which file does what.

use async_trait::async_trait;

use crate::domain::id::CommitId;
use crate::effect::{
    Activity, BranchCommit, CheckRun, CommentKind, Forge, ForgeEntry, ForgeError, Label, LeftOut,
    NewIssue, NewPull, Permission, PullEdit, PullRequest, PutCheck, PutComment, PutIssue, PutPull,
    Reaction, RepositoryInfo,
};

use super::client::{GitHub, locked};
use super::route;

#[async_trait]
impl Forge for GitHub<'_> {
    async fn repository(&self) -> Result<RepositoryInfo, ForgeError> {
        self.read_repository().await
    }

    async fn permission(&self, login: &str) -> Result<Permission, ForgeError> {
        self.read_permission(login).await
    }

    async fn is_member(
        &self,
        organisation: &str,
        team: &str,
        login: &str,
    ) -> Result<bool, ForgeError> {
        self.read_membership(organisation, team, login).await
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
        // A branch keeps its slashes there.
        let path = path.replace("%2F", "/");
        format!("{}{path}?expand=1", self.settings.server_url.trim_end_matches('/'))
    }

    async fn update_pull(&self, number: u64, edit: &PullEdit) -> Result<(), ForgeError> {
        self.edit_pull(number, edit).await
    }

    async fn put_comment(
        &self,
        number: u64,
        marker: &str,
        body: &str,
    ) -> Result<PutComment, ForgeError> {
        self.write_comment(number, marker, body).await
    }

    async fn comments_since(
        &self,
        number: u64,
        since: &str,
    ) -> Result<Vec<ForgeEntry>, ForgeError> {
        self.list_comments(number, since).await
    }

    async fn react(
        &self,
        kind: CommentKind,
        id: u64,
        reaction: Reaction,
    ) -> Result<(), ForgeError> {
        self.add_reaction(kind, id, reaction).await
    }

    async fn put_check(&self, run: &CheckRun) -> Result<PutCheck, ForgeError> {
        self.write_check(run).await
    }

    async fn put_issue(&self, new: &NewIssue) -> Result<PutIssue, ForgeError> {
        self.write_issue(new).await
    }

    async fn add_labels(&self, number: u64, labels: &[Label]) -> Result<Vec<LeftOut>, ForgeError> {
        self.label(number, labels).await
    }

    async fn dispatch_workflow(&self, file: &str, reference: &str) -> Result<(), ForgeError> {
        self.dispatch(file, reference).await
    }

    async fn branch_sha(&self, branch: &str) -> Result<Option<CommitId>, ForgeError> {
        self.read_branch(branch).await
    }

    async fn commit_on_branch(&self, commit: &BranchCommit) -> Result<CommitId, ForgeError> {
        self.write_commit(commit).await
    }

    async fn own_activity(
        &self,
        number: u64,
        comment_mark: &str,
        commit_mark: &str,
    ) -> Result<Activity, ForgeError> {
        self.count_activity(number, comment_mark, commit_mark).await
    }
}
