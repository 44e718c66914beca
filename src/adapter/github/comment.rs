//! Issue and pull request comments: one of ours per marker, edited in place.

use futures::FutureExt as _;
use serde_json::json;

use crate::domain::retry::Repeat;
use crate::effect::{COMMENT_LIMIT, Done, ForgeError, ForgeErrorKind};

use super::client::{Call, Created, GitHub, KnownComment, Verb, locked};
use super::error_response::cut;
use super::responses::Comment;

/// Pages of comments that are read: GitHub allows 2,500 comments on an issue.
pub const COMMENT_PAGES: usize = 25;

impl GitHub<'_> {
    pub(super) async fn write_comment(
        &self,
        number: u64,
        marker: &str,
        body: &str,
    ) -> Result<Done, ForgeError> {
        let what = "write the comment";
        let text = marked(marker, body);
        let key = (number, marker.to_owned());
        if let Some(done) = self.edit_known(&key, &text).await? {
            return Ok(done);
        }
        let route = self.route(what, &["issues", &number.to_string(), "comments"], &[])?;
        let call = Call::new(what, Verb::Post, route, json!({ "body": text }), Repeat::Look);
        let find = move || self.find_comment(number, marker).boxed();
        let (id, done) = match self.create(&call, true, &find).await? {
            Created::Before(found) => {
                let before = found.body.unwrap_or_default();
                (found.id, self.edit_comment(found.id, &before, &text).await?)
            }
            Created::Now(value) => {
                let made: Comment = Self::read(what, value)?;
                let author = made.user.map(|user| (user.id, user.login)).unzip();
                self.learn(author.0, author.1);
                (made.id, Done::Created)
            }
        };
        locked(&self.comments).insert(key, KnownComment { id, text });
        Ok(done)
    }

    /// Edits our comment with this marker; unchanged where there is none.
    pub(super) async fn edit_own_comment(
        &self,
        number: u64,
        marker: &str,
        body: &str,
    ) -> Result<Done, ForgeError> {
        let text = marked(marker, body);
        let key = (number, marker.to_owned());
        if let Some(done) = self.edit_known(&key, &text).await? {
            return Ok(done);
        }
        let Some(found) = self.find_comment(number, marker).await? else {
            return Ok(Done::Unchanged);
        };
        let known = KnownComment { id: found.id, text: found.body.unwrap_or_default() };
        locked(&self.comments).insert(key.clone(), known);
        Ok(self.edit_known(&key, &text).await?.unwrap_or(Done::Unchanged))
    }

    /// Edits a comment whose id is known; `None` for one that is unknown or gone. So a list is read
    /// once, and after that only a comment that is gone is looked for again.
    async fn edit_known(
        &self,
        key: &(u64, String),
        text: &str,
    ) -> Result<Option<Done>, ForgeError> {
        let Some(known) = locked(&self.comments).remove(key) else { return Ok(None) };
        let edited = self.edit_comment(known.id, &known.text, text).await;
        let text = match &edited {
            Ok(_) => text.to_owned(),
            Err(error) if error.kind == ForgeErrorKind::NotFound => return Ok(None),
            // Whether the text arrived is not known, so it is sent again.
            Err(_) => String::new(),
        };
        locked(&self.comments).insert(key.clone(), KnownComment { text, ..known });
        edited.map(Some)
    }

    /// Finds our comment with this marker. The author is checked, since anybody can write a marker.
    pub(super) async fn find_comment(
        &self,
        number: u64,
        marker: &str,
    ) -> Result<Option<Comment>, ForgeError> {
        self.load_own_account().await?;
        let mut found = None;
        self.each(
            "read the comments",
            &["issues", &number.to_string(), "comments"],
            &[],
            COMMENT_PAGES,
            |comment: Comment| {
                if begins_with(comment.body.as_deref(), marker)
                    && self.is_own(comment.user.as_ref())
                {
                    found = Some(comment);
                }
                found.is_none()
            },
        )
        .await?;
        Ok(found)
    }

    async fn edit_comment(&self, id: u64, before: &str, text: &str) -> Result<Done, ForgeError> {
        if same(before, text) {
            return Ok(Done::Unchanged);
        }
        let what = "edit the comment";
        let route = self.route(what, &["issues", "comments", &id.to_string()], &[])?;
        let call = Call::new(what, Verb::Patch, route, json!({ "body": text }), Repeat::Free);
        self.perform(&call).await?;
        Ok(Done::Edited)
    }
}

/// Whether the text of a comment, if any, begins with the marker.
pub fn begins_with(body: Option<&str>, marker: &str) -> bool {
    body.is_some_and(|body| body.trim_start().starts_with(marker))
}

/// The text with the marker in front, cut to the size limit of a comment.
pub fn marked(marker: &str, body: &str) -> String {
    if body.starts_with(marker) {
        cut(body, COMMENT_LIMIT)
    } else {
        cut(&format!("{marker}\n{body}"), COMMENT_LIMIT)
    }
}

/// Whether two comment texts are equal apart from line endings and trailing whitespace.
pub fn same(one: &str, other: &str) -> bool {
    let lines = |text: &'_ str| text.trim_end().replace("\r\n", "\n");
    lines(one) == lines(other)
}
