//! Follow-up issues: asked for by a comment or by the configuration, opened once (product.md 9.4).

use crate::domain::command::Dimension;
use crate::domain::event::Ending;
use crate::effect::{Label, NewIssue};
use crate::report::forge_page::CommandReply;
use crate::report::issue::{self, About};
use crate::report::markdown;
use crate::report::view::View;

use super::action::Run;
use super::answer::Desk;
use super::publish::Publisher;

/// Adds what the configuration asks for after a success (product.md 9.2).
pub fn wanted(publisher: &Publisher<'_>, expand: &[Dimension], desk: &mut Desk) {
    let met =
        publisher.view.outcome.as_ref().is_some_and(|outcome| {
            matches!(outcome.result, Ending::Success | Ending::PartialSuccess)
        });
    if met {
        desk.issues.extend(expand);
    }
}

/// Opens what was asked for and answers with links.
pub async fn open(run: &Run<'_>, view: &View, pull: Option<u64>, desk: &mut Desk) {
    let mut asked = std::mem::take(&mut desk.issues);
    asked.sort_unstable();
    asked.dedup();
    if asked.is_empty() {
        return;
    }
    let mut lines = Vec::new();
    if view.session.is_empty() {
        lines.push("there is no session to make issues of; `/regreen fix` makes one".to_owned());
    }
    let about = About { name: &run.target.name(), number: run.target.number, fix: pull };
    for dimension in asked.into_iter().filter(|_| !view.session.is_empty()) {
        let word = issue::word(dimension);
        let Some(proposal) = issue::proposal(view, &about, dimension) else {
            lines.push(format!("{word}: the session shows nothing to follow up"));
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
            marker: format!("<!-- regreen:issue {} {word} -->", view.session),
        };
        lines.push(match run.forge.put_issue(&new).await {
            Ok(put) if put.created => format!("{word}: opened #{}", put.number),
            Ok(put) => format!("{word}: #{} is there already", put.number),
            Err(error) => {
                format!("{word}: {}; {}", markdown::code(&error.to_string()), error.hint())
            }
        });
    }
    desk.answers.push(CommandReply {
        asker: String::new(),
        command: "issue".into(),
        reply: lines.iter().map(|line| format!("- {line}\n")).collect(),
    });
}
