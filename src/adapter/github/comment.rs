//! Comments: one of ours per marker, edited in place; reactions; what we did so far.

use serde_json::json;

use crate::domain::retry::Repeat;
use crate::effect::{
    Account, Activity, COMMENT_LIMIT, CommentKind, Done, ForgeEntry, ForgeError, PutComment,
    Reaction,
};

use super::client::{Call, GitHub, Verb};
use super::refusal::cut;
use super::shape::{Comment, ListedCommit};

/// Pages of comments: GitHub takes 2,500 comments on one issue.
const PAGES: usize = 25;

/// Pages of commits: GitHub lists 250 of a pull request.
const COMMIT_PAGES: usize = 3;

impl GitHub<'_> {
    pub(super) async fn write_comment(
        &self,
        number: u64,
        marker: &str,
        body: &str,
    ) -> Result<PutComment, ForgeError> {
        let what = "write the comment";
        let text = marked(marker, body);
        let call = Call {
            what,
            verb: Verb::Post,
            route: self.route(what, &["issues", &number.to_string(), "comments"], &[])?,
            body: Some(json!({ "body": text })),
            repeat: Repeat::Look,
        };
        let (mut look, mut attempt) = (true, 1);
        loop {
            if look && let Some(found) = self.find_comment(number, marker).await? {
                return self.edit_comment(found, &text).await;
            }
            match self.attempt(&call).await {
                Ok(value) => {
                    let made: Comment = self.read(what, value)?;
                    let author = made.user.map(|user| (user.id, user.login)).unzip();
                    self.learn(author.0, author.1);
                    return Ok(PutComment { id: made.id, url: made.html_url, done: Done::Created });
                }
                Err(failure) => look = self.pause(Repeat::Look, failure, attempt).await?,
            }
            attempt += 1;
        }
    }

    pub(super) async fn list_comments(
        &self,
        number: u64,
        since: &str,
    ) -> Result<Vec<ForgeEntry>, ForgeError> {
        let mut found = Vec::new();
        self.each(
            "read the new comments",
            &["issues", &number.to_string(), "comments"],
            &[("since", since)],
            PAGES,
            |comment: Comment| {
                if comment.created_at.as_str() >= since {
                    found.push(ForgeEntry {
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

    /// Our comment that begins with the marker. The author counts: anybody can write a marker.
    async fn find_comment(&self, number: u64, marker: &str) -> Result<Option<Comment>, ForgeError> {
        self.know_myself().await?;
        let mut found = None;
        self.each(
            "read the comments",
            &["issues", &number.to_string(), "comments"],
            &[],
            PAGES,
            |comment: Comment| {
                let begins = comment
                    .body
                    .as_deref()
                    .is_some_and(|body| body.trim_start().starts_with(marker));
                if begins && self.is_own(comment.user.as_ref()) {
                    found = Some(comment);
                }
                found.is_none()
            },
        )
        .await?;
        Ok(found)
    }

    async fn edit_comment(&self, found: Comment, text: &str) -> Result<PutComment, ForgeError> {
        let (id, url) = (found.id, found.html_url);
        if same(found.body.as_deref().unwrap_or_default(), text) {
            return Ok(PutComment { id, url, done: Done::Unchanged });
        }
        let what = "edit the comment";
        let call = Call {
            what,
            verb: Verb::Patch,
            route: self.route(what, &["issues", "comments", &id.to_string()], &[])?,
            body: Some(json!({ "body": text })),
            repeat: Repeat::Free,
        };
        self.perform(&call).await?;
        Ok(PutComment { id, url, done: Done::Edited })
    }

    pub(super) async fn add_reaction(
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
        let call = Call {
            what,
            verb: Verb::Post,
            route: self.route(what, &[room, "comments", &id.to_string(), "reactions"], &[])?,
            body: Some(json!({ "content": content })),
            // A second one answers 200 with the first.
            repeat: Repeat::Free,
        };
        self.perform(&call).await.map(drop)
    }

    pub(super) async fn count_activity(
        &self,
        number: u64,
        comment_mark: &str,
        commit_mark: &str,
    ) -> Result<Activity, ForgeError> {
        self.know_myself().await?;
        let number = number.to_string();
        let mut activity = Activity::default();
        self.each(
            "read the comments",
            &["issues", &number, "comments"],
            &[],
            PAGES,
            |comment: Comment| {
                let marked =
                    comment.body.as_deref().is_some_and(|body| body.contains(comment_mark));
                activity.comments += u32::from(marked && self.is_own(comment.user.as_ref()));
                true
            },
        )
        .await?;
        self.each(
            "read the commits of the pull request",
            &["pulls", &number, "commits"],
            &[],
            COMMIT_PAGES,
            |listed: ListedCommit| {
                activity.commits += u32::from(listed.commit.message.contains(commit_mark));
                true
            },
        )
        .await?;
        Ok(activity)
    }
}

/// A text that begins with its marker, within the limit.
pub fn marked(marker: &str, body: &str) -> String {
    if body.starts_with(marker) {
        cut(body, COMMENT_LIMIT)
    } else {
        cut(&format!("{marker}\n{body}"), COMMENT_LIMIT)
    }
}

/// Whether two texts are the same for a reader; GitHub may change line ends.
pub fn same(one: &str, other: &str) -> bool {
    let lines = |text: &'_ str| text.trim_end().replace("\r\n", "\n");
    lines(one) == lines(other)
}
