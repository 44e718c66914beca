//! Issues that are opened once, and labels that are made where they are missing.

use serde_json::{Value, json};

use crate::domain::retry::Repeat;
use crate::effect::{ForgeError, ForgeErrorKind, Label, LeftOut, NewIssue, PutIssue};

use super::client::{Call, GitHub, Verb};
use super::comment::marked;
use super::pull::TITLE;
use super::refusal::cut;
use super::shape::Issue;

/// Pages of issues that are searched, newest first.
const PAGES: usize = 10;

/// Longest description of a label, in bytes.
const DESCRIPTION: usize = 100;

impl GitHub<'_> {
    pub(super) async fn write_issue(&self, new: &NewIssue) -> Result<PutIssue, ForgeError> {
        let what = "open the issue";
        let title = cut(&new.title, TITLE);
        if let Some(found) = self.find_issue(new, &title).await? {
            return Ok(put(found, false, Vec::new()));
        }
        let left_out = self.make_labels(&new.labels).await?;
        let call = Call {
            what,
            verb: Verb::Post,
            route: self.route(what, &["issues"], &[])?,
            body: Some(json!({
                "title": title,
                "body": marked(&new.marker, &new.body),
                "labels": kept(&new.labels, &left_out),
            })),
            repeat: Repeat::Look,
        };
        let mut attempt = 1;
        loop {
            match self.attempt(&call).await {
                Ok(value) => return Ok(put(self.read(what, value)?, true, left_out)),
                Err(failure) => {
                    if self.pause(Repeat::Look, failure, attempt).await?
                        && let Some(found) = self.find_issue(new, &title).await?
                    {
                        return Ok(put(found, false, left_out));
                    }
                }
            }
            attempt += 1;
        }
    }

    /// Ours with the marker, open or closed, since a person who closed it does not want it again;
    /// or anybody's open one with the title.
    async fn find_issue(&self, new: &NewIssue, title: &str) -> Result<Option<Issue>, ForgeError> {
        self.know_myself().await?;
        let mut found = None;
        self.each(
            "read the issues",
            &["issues"],
            &[("state", "all"), ("sort", "created"), ("direction", "desc")],
            PAGES,
            |issue: Issue| {
                let begins = issue
                    .body
                    .as_deref()
                    .is_some_and(|body| body.trim_start().starts_with(&new.marker));
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

    pub(super) async fn label(
        &self,
        number: u64,
        labels: &[Label],
    ) -> Result<Vec<LeftOut>, ForgeError> {
        let what = "add labels";
        let left_out = self.make_labels(labels).await?;
        let kept = kept(labels, &left_out);
        if !kept.is_empty() {
            let call = Call {
                what,
                verb: Verb::Post,
                route: self.route(what, &["issues", &number.to_string(), "labels"], &[])?,
                body: Some(json!({ "labels": kept })),
                // Labels are a set.
                repeat: Repeat::Free,
            };
            self.perform(&call).await?;
        }
        Ok(left_out)
    }

    /// Makes missing labels; returns those that the token may not make.
    async fn make_labels(&self, labels: &[Label]) -> Result<Vec<LeftOut>, ForgeError> {
        let mut left_out = Vec::new();
        for label in labels {
            match self.make_label(label).await {
                Ok(()) => {}
                Err(error)
                    if matches!(
                        error.kind,
                        ForgeErrorKind::Denied { .. }
                            | ForgeErrorKind::NotFound
                            | ForgeErrorKind::Invalid
                    ) =>
                {
                    left_out.push(LeftOut { label: label.name.clone(), reason: error.to_string() });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(left_out)
    }

    async fn make_label(&self, label: &Label) -> Result<(), ForgeError> {
        let what = "create a label";
        let call = Call {
            what,
            verb: Verb::Post,
            route: self.route(what, &["labels"], &[])?,
            body: Some(json!({
                "name": label.name,
                "color": label.colour,
                "description": cut(&label.description, DESCRIPTION),
            })),
            repeat: Repeat::Look,
        };
        let (mut look, mut attempt) = (true, 1);
        loop {
            if look && self.has_label(&label.name).await? {
                return Ok(());
            }
            match self.attempt(&call).await {
                Ok(_) => return Ok(()),
                Err(failure) if failure.error.said.contains("already_exists") => return Ok(()),
                Err(failure) => look = self.pause(Repeat::Look, failure, attempt).await?,
            }
            attempt += 1;
        }
    }

    async fn has_label(&self, name: &str) -> Result<bool, ForgeError> {
        let what = "read a label";
        match self.get::<Value>(what, self.route(what, &["labels", name], &[])?).await {
            Ok(_) => Ok(true),
            Err(ForgeError { kind: ForgeErrorKind::NotFound, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn kept<'a>(labels: &'a [Label], left_out: &[LeftOut]) -> Vec<&'a str> {
    labels
        .iter()
        .map(|label| label.name.as_str())
        .filter(|name| left_out.iter().all(|one| one.label != *name))
        .collect()
}

fn put(issue: Issue, created: bool, left_out: Vec<LeftOut>) -> PutIssue {
    PutIssue { number: issue.number, url: issue.html_url, created, left_out }
}
