//! Pull requests: reads them, opens each once, and keeps ours up to date.

use futures::FutureExt as _;
use serde_json::json;

use crate::adapter::host::http::text_at;
use crate::domain::retry::Repeat;
use crate::effect::{ForgeError, NewPull, PullEdit, PullEnd, PullRequest, PullState, PutPull};

use super::client::{Call, Created, GitHub, Verb, locked};
use super::comment::{marked, same};
use super::error_response::{cut, cut_line};
use super::responses::{End, Pull};

/// Longest title of a pull request or issue, in bytes.
pub const TITLE: usize = 256;

impl GitHub<'_> {
    pub(super) async fn read_pull(&self, number: u64) -> Result<PullRequest, ForgeError> {
        let what = "read the pull request";
        let route = self.route(what, &["pulls", &number.to_string()], &[])?;
        let pull = self.get::<Pull>(what, route).await?;
        Self::pull_request(what, pull)
    }

    pub(super) async fn list_pulls(
        &self,
        owner: &str,
        branch: &str,
        state: &str,
    ) -> Result<Vec<PullRequest>, ForgeError> {
        let what = "read the pull requests of a branch";
        let head = format!("{owner}:{branch}");
        let pairs = [
            ("state", state),
            ("head", head.as_str()),
            ("sort", "created"),
            ("direction", "desc"),
            ("per_page", "100"),
        ];
        let found: Vec<Pull> = self.get(what, self.route(what, &["pulls"], &pairs)?).await?;
        found
            .into_iter()
            // GitHub lists all pull requests when it cannot parse the `head` filter.
            .filter(|pull| pull.head.branch == branch)
            .map(|pull| Self::pull_request(what, pull))
            .collect()
    }

    pub(super) async fn write_pull(&self, new: &NewPull) -> Result<PutPull, ForgeError> {
        let what = "open the pull request";
        let body = marked(&new.marker, &new.body);
        let fields = json!({
            "head": new.head,
            "base": new.base,
            "title": cut_line(&new.title, TITLE),
            "body": body,
            "draft": new.draft,
        });
        let call =
            Call::new(what, Verb::Post, self.route(what, &["pulls"], &[])?, fields, Repeat::Look);
        let find = move || self.find_pull(new).boxed();
        match self.create(&call, true, &find).await {
            Ok(Created::Now(value)) => {
                let made: Pull = Self::read(what, value)?;
                Ok(PutPull { number: made.number, url: made.html_url, created: true })
            }
            Ok(Created::Before(found)) => self.refresh_pull(found, new, &body).await,
            // The list may lag behind, but this error proves that the pull request exists.
            Err(error) if error.message.contains("pull request already exists") => {
                match self.find_pull(new).await? {
                    Some(found) => self.refresh_pull(found, new, &body).await,
                    None => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    async fn find_pull(&self, new: &NewPull) -> Result<Option<PullRequest>, ForgeError> {
        let name = locked(&self.name).clone();
        let owner = name.split('/').next().unwrap_or_default();
        let found = self.list_pulls(owner, &new.head, "open").await?;
        Ok(found.into_iter().find(|pull| pull.base.branch == new.base))
    }

    /// Brings ours up to date. A pull request under our marker with our token is ours; text that
    /// a person wrote is left alone.
    async fn refresh_pull(
        &self,
        found: PullRequest,
        new: &NewPull,
        body: &str,
    ) -> Result<PutPull, ForgeError> {
        let title = cut_line(&new.title, TITLE);
        let ours = found.body.trim_start().starts_with(&new.marker);
        if ours && (found.title != title || !same(&found.body, body)) {
            let edit = PullEdit { title: Some(title), body: Some(body.to_owned()), open: None };
            self.edit_pull(found.number, &edit).await?;
        }
        Ok(PutPull { number: found.number, url: found.url, created: false })
    }

    pub(super) async fn edit_pull(&self, number: u64, edit: &PullEdit) -> Result<(), ForgeError> {
        let what = "update the pull request";
        let mut body = json!({});
        if let Some(title) = &edit.title {
            body["title"] = json!(cut_line(title, TITLE));
        }
        if let Some(text) = &edit.body {
            body["body"] = json!(cut(text, crate::effect::COMMENT_LIMIT));
        }
        if let Some(open) = edit.open {
            body["state"] = json!(if open { "open" } else { "closed" });
        }
        let route = self.route(what, &["pulls", &number.to_string()], &[])?;
        self.perform(&Call::new(what, Verb::Patch, route, body, Repeat::Free)).await.map(drop)
    }

    fn pull_request(what: &'static str, pull: Pull) -> Result<PullRequest, ForgeError> {
        let end = |end: End| -> Result<PullEnd, ForgeError> {
            Ok(PullEnd {
                sha: Self::commit(what, &end.sha)?,
                branch: end.branch,
                repository: end.repo.map(|repository| repository.full_name),
            })
        };
        let state = match (pull.state.as_str(), &pull.merged_at) {
            ("open", _) => PullState::Open,
            ("closed", Some(_)) => PullState::Merged,
            ("closed", None) => PullState::Closed,
            _ => return Err(Self::malformed(what, "the state of the pull request is unknown")),
        };
        Ok(PullRequest {
            number: pull.number,
            url: pull.html_url,
            state,
            draft: pull.draft.unwrap_or_default(),
            title: pull.title,
            body: pull.body.unwrap_or_default(),
            head: end(pull.head)?,
            base: end(pull.base)?,
            author: pull.user.map(Into::into),
            labels: pull.labels.iter().map(|label| text_at(label, "/name").to_owned()).collect(),
        })
    }
}
