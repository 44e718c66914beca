//! Issues, each opened once, and labels, created where they are missing.

use futures::FutureExt as _;
use serde_json::{Value, json};

use crate::domain::retry::Repeat;
use crate::effect::{ForgeError, ForgeErrorKind, Label, LabelErrors, NewIssue, PutIssue};

use super::client::{Call, Created, GitHub, Verb, none_if_missing};
use super::comment::{begins_with, marked};
use super::error_response::cut_line;
use super::pull::TITLE;
use super::responses::Issue;

/// Pages of issues that are searched, newest first.
const PAGES: usize = 10;

/// Longest description of a label, in bytes.
const DESCRIPTION: usize = 100;

impl GitHub<'_> {
    pub(super) async fn write_issue(&self, new: &NewIssue) -> Result<PutIssue, ForgeError> {
        let what = "open the issue";
        let title = cut_line(&new.title, TITLE);
        if let Some(found) = self.find_issue(new, &title).await? {
            return Ok(put(found, false, LabelErrors::new()));
        }
        let left_out = self.make_labels(&new.labels).await?;
        let body = json!({
            "title": title,
            "body": marked(&new.marker, &new.body),
            "labels": usable(&new.labels, &left_out),
        });
        let route = self.route(what, &["issues"], &[])?;
        let call = Call::new(what, Verb::Post, route, body, Repeat::Look);
        let find = || self.find_issue(new, &title).boxed();
        Ok(match self.create(&call, false, &find).await? {
            Created::Now(value) => put(Self::read(what, value)?, true, left_out),
            Created::Before(found) => put(found, false, left_out),
        })
    }

    /// Our issue with the marker, even if closed, since a person who closed it does not want it
    /// again; or any open issue with the same title.
    async fn find_issue(&self, new: &NewIssue, title: &str) -> Result<Option<Issue>, ForgeError> {
        self.load_own_account().await?;
        let mut found = None;
        self.each(
            "read the issues",
            &["issues"],
            &[("state", "all"), ("sort", "created"), ("direction", "desc")],
            PAGES,
            |issue: Issue| {
                let begins = begins_with(issue.body.as_deref(), &new.marker);
                let hit = begins && self.is_own(issue.user.as_ref())
                    || issue.state == "open" && issue.title == title;
                if hit && issue.pull_request.is_none() {
                    found = Some(issue);
                }
                found.is_none()
            },
        )
        .await?;
        Ok(found)
    }

    /// Creates missing labels; returns those that could not be created, with the reasons.
    pub(super) async fn make_labels(&self, labels: &[Label]) -> Result<LabelErrors, ForgeError> {
        let mut left_out = LabelErrors::new();
        for label in labels {
            match self.make_label(label).await {
                Ok(()) => {}
                Err(error) => match error.kind {
                    ForgeErrorKind::Denied { .. }
                    | ForgeErrorKind::DeniedBefore
                    | ForgeErrorKind::NotFound
                    | ForgeErrorKind::Invalid => {
                        left_out.insert(label.name.clone(), error.to_string());
                    }
                    _ => return Err(error),
                },
            }
        }
        Ok(left_out)
    }

    async fn make_label(&self, label: &Label) -> Result<(), ForgeError> {
        let what = "create a label";
        let body = json!({
            "name": label.name,
            "color": label.colour,
            "description": cut_line(&label.description, DESCRIPTION),
        });
        let call =
            Call::new(what, Verb::Post, self.route(what, &["labels"], &[])?, body, Repeat::Look);
        let find = || self.find_label(&label.name).boxed();
        match self.create(&call, true, &find).await {
            Err(error) if !error.message.contains("already_exists") => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    async fn find_label(&self, name: &str) -> Result<Option<Value>, ForgeError> {
        let what = "read a label";
        self.get(what, self.route(what, &["labels", name], &[])?).await.or_else(none_if_missing)
    }
}

/// Names of the labels that exist, without those left out.
pub fn usable<'a>(labels: &'a [Label], left_out: &LabelErrors) -> Vec<&'a str> {
    let names = labels.iter().map(|label| label.name.as_str());
    names.filter(|name| !left_out.contains_key(*name)).collect()
}

fn put(issue: Issue, created: bool, left_out: LabelErrors) -> PutIssue {
    PutIssue { number: issue.number, url: issue.html_url, created, left_out }
}
