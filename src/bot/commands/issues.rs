//! `/regreen issue` and the key `expand`: follow-up issues, each opened once (specification.md 9.4).

use crate::domain::command::Dimension;
use crate::effect::{Label, NewIssue};
use crate::report::follow_up_issues::{self, About};
use crate::report::markdown;
use crate::report::view::View;

use crate::bot::command::PREFIX;
use crate::bot::context::Context;
use crate::bot::publish::{Publisher, missing_labels};
use crate::bot::replies::Replies;

/// Adds the issues that the configuration opens after a success (specification.md 9.2).
pub fn add_configured(publisher: &Publisher<'_>, expand: &[Dimension], replies: &mut Replies) {
    if publisher.is_met() {
        if replies.issues.is_empty() {
            // Nobody asked for these.
            replies.asker.clear();
        }
        replies.issues.extend(expand);
    }
}

/// Opens the requested issues and replies with links.
pub async fn open(context: &Context<'_>, view: &View, pull: Option<u64>, replies: &mut Replies) {
    let mut dimensions = std::mem::take(&mut replies.issues);
    dimensions.sort_unstable();
    dimensions.dedup();
    if dimensions.is_empty() {
        return;
    }
    let words: Vec<String> = dimensions.iter().map(ToString::to_string).collect();
    let command = format!("{PREFIX} issue {}", words.join(","));
    let mut lines = Vec::new();
    if view.session.is_empty() {
        lines.push("There is no session to open issues for. `/regreen fix` starts one.".to_owned());
    }
    let about = About { name: &context.target.name(), number: context.target.number, fix: pull };
    for dimension in dimensions.into_iter().filter(|_| !view.session.is_empty()) {
        let Some(proposal) = follow_up_issues::proposal(view, &about, dimension) else {
            lines.push(format!("Nothing to follow up for `{dimension}`."));
            continue;
        };
        let new = NewIssue {
            title: proposal.title,
            body: proposal.body,
            labels: proposal
                .labels
                .iter()
                .map(|name| Label {
                    name: (*name).to_owned(),
                    colour: "0e8a16".into(),
                    description: String::new(),
                })
                .collect(),
            marker: format!("<!-- regreen:issue {} {dimension} -->", view.session),
        };
        lines.push(match context.forge.put_issue(&new).await {
            Ok(put) if put.created => {
                let missing = missing_labels(&put.left_out);
                let missing = missing.map(|text| format!("; {}", markdown::prose(&text, 300)));
                format!("Opened #{} for `{dimension}`{}.", put.number, missing.unwrap_or_default())
            }
            Ok(put) => format!("#{} already exists for `{dimension}`.", put.number),
            Err(error) => {
                let why = markdown::code(&error.to_string());
                format!("No issue for `{dimension}`: {why}; {}.", error.hint())
            }
        });
    }
    replies.add(command, lines.iter().map(|line| format!("- {line}\n")).collect::<String>());
}
