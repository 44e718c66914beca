//! The result of an earlier run on the same head. An automatic trigger offers it again and never
//! repeats the work (specification.md 4.14).

use crate::domain::command::{Command, Flags};
use crate::domain::event::Ending;
use crate::domain::id::{CommitId, SessionId};
use crate::domain::session::SessionStatus;
use crate::effect::PullState;
use crate::report::forge_page::CommandReply;
use crate::report::view::View;

use super::bundle::exit_code;
use super::commits::{Commits, Published, stored};
use super::context::Context;
use super::error::BotError;
use super::fix_branch::FixBranch;
use super::limits;
use super::publish::Publisher;
use super::sessions::{self, KnownSession};
use super::trigger::Cause;

/// A finished session of the head under test, and what the server has of it.
pub struct EarlierResult {
    session: SessionId,
    view: View,
    published: Published,
}

impl EarlierResult {
    /// The result that answers this command, unless a person gave it; `None` when a run is due.
    pub async fn find(context: &Context<'_>, command: &Command) -> Result<Option<Self>, BotError> {
        let by_person =
            matches!(context.trigger.cause, Cause::Comment { .. } | Cause::Dispatch { .. });
        if by_person || !matches!(command, Command::Fix { .. }) {
            return Ok(None);
        }
        let Some((newest, view)) = newest_run(context).await? else { return Ok(None) };
        let ended = view.outcome.as_ref();
        let Some(outcome) = ended.filter(|_| view.head.as_ref() == Some(&context.target.head))
        else {
            return Ok(None);
        };
        let published = match &newest.branch {
            Some(branch) if is_finished(branch, &context.target.head) => {
                Published { tip: Some(branch.tip.clone()), ..Published::default() }
            }
            Some(_) => return Ok(None),
            None => {
                let Some(tip) = outcome.tip.clone() else { return Ok(None) };
                if context.prepared.remote.head_of(&stored(&tip)).await?.is_none() {
                    return Ok(None);
                }
                Published { stored: Some(tip), ..Published::default() }
            }
        };
        Ok(Some(Self { session: newest.session, view, published }))
    }

    /// Shows the result once more, and completes what a killed job left undone.
    pub async fn offer(
        self,
        context: &Context<'_>,
        answers: Vec<CommandReply>,
    ) -> Result<u8, BotError> {
        let facts = sessions::check_out(context, vec![])?;
        let destination = limits::destination(context, &Command::Fix { flags: Flags::default() });
        let expected = self.published.tip.clone();
        let mut commits = Commits::new(context, &self.session, destination, expected, &facts);
        commits.published = self.published;
        let mut publisher = Publisher::new(context, self.session.to_string(), answers);
        publisher.view = self.view;
        publisher.view.notices.push(
            "This head was tested before, so its result is shown again. `/regreen fix` starts a new run."
                .into(),
        );
        if publisher.is_met() {
            commits.move_head().await;
        }
        let owner = context.target.repository.split('/').next().unwrap_or_default();
        let pulls = context.forge.pulls_of_head(owner, &commits.branch).await;
        match pulls.as_deref() {
            // Somebody may have closed the pull request, which is an answer too.
            Ok([newest, ..]) if newest.state != PullState::Open => {}
            Ok([newest, ..]) => {
                commits.published.pull = Some((Some(newest.number), newest.url.clone()));
            }
            Ok([]) if commits.is_signed() => {}
            Ok([]) => publisher.open_pull(&mut commits).await,
            Err(error) => tracing::warn!(%error, "the pull request of the fix is not known"),
        }
        publisher.show_published(&commits.published);
        publisher.end().await;
        Ok(exit_code(publisher.state(), 1))
    }
}

/// The newest session that ran the suite. Plans and the repairs of a validation say nothing about it.
async fn newest_run(context: &Context<'_>) -> Result<Option<(KnownSession, View)>, BotError> {
    for known in sessions::known(context).await?.into_iter().rev() {
        let view = known.view(context).await?;
        let planned = view.outcome.as_ref().is_some_and(|end| end.result == Ending::Planned);
        if !view.session.is_empty() && !planned {
            return Ok(Some((known, view)));
        }
    }
    Ok(None)
}

fn is_finished(branch: &FixBranch, head: &CommitId) -> bool {
    branch.ours
        && branch.record.as_ref().is_some_and(|record| {
            record.git.head_sha == *head
                && matches!(record.status, SessionStatus::Completed | SessionStatus::Blocked)
        })
}
