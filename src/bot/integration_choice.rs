//! Selects the session of a command, here of one about integration tests.

use crate::domain::command::Command;
use crate::domain::id::SessionId;
use crate::domain::integration::records::Adjustment;
use crate::domain::session::SessionRecord;

use super::context::Context;
use super::error::BotError;
use super::fix_branch::{self, StartPoint, choose_start};
use super::session_choice::{self, Start, Started, Task, continue_pending, holds_result};
use super::session_snapshots;
use super::sessions::{self, NAMES, check_out, names, newest_pending};

/// Chooses the session of a command and checks its head out.
pub async fn choose_session(
    context: &Context<'_>,
    command: &Command,
    limit: Option<u32>,
) -> Result<Started, BotError> {
    match command {
        Command::Integration { module, flags } => {
            choose_module(context, module, flags.yes, limit).await
        }
        Command::Confirm { .. } => choose_design(context, None).await,
        Command::Adjust { adjustment, .. } => choose_design(context, Some(adjustment)).await,
        _ => session_choice::choose(context, command, limit).await,
    }
}

/// The session of a request for integration tests: one about the same module that has more to do, or a
/// new one (specification.md 2.2, F-016).
async fn choose_module(
    context: &Context<'_>,
    module: &str,
    approves: bool,
    limit: Option<u32>,
) -> Result<Started, BotError> {
    let head = &context.target.head;
    let is_same = |record: &SessionRecord| record.input.as_deref() == Some(module);
    for session in names(context).filter(SessionId::is_integration) {
        if let Some(found) = fix_branch::read(context.prepared, context.target, &session).await? {
            match choose_start(Some(&found), head, true, limit) {
                Ok(StartPoint::Resume { tip }) if found.record.as_ref().is_some_and(is_same) => {
                    let facts = check_out(context, vec![(session.branch(), tip.clone())])?;
                    let task = Task::ContinueIntegration { adjustment: None, approves };
                    let (expected, approved) = (Some(tip), vec![]);
                    let start = Start { session, expected, task, facts, approved };
                    return Ok(Started::Run(Box::new(start)));
                }
                _ => continue,
            }
        }
        let pending = session_snapshots::pending(context.prepared, &session).await?;
        let open = pending.filter(|one| one.has_more_to_do() && one.record.git.head_sha == *head);
        match open {
            Some(pending) if is_same(&pending.record) => {
                return continue_pending(context, &pending, approves, None);
            }
            Some(_) => continue,
            None => {}
        }
        if sessions::is_number_taken(context, &session).await?
            || holds_result(context, &session).await?
        {
            continue;
        }
        let (facts, task) = (check_out(context, vec![])?, Task::Integration(module.to_owned()));
        let start = Start { session, expected: None, task, facts, approved: vec![] };
        return Ok(Started::Run(Box::new(start)));
    }
    Ok(Started::Reply(format!("There are {NAMES} other sessions; delete some of their branches.")))
}

/// Carries out the design that waits, or adjusts it.
async fn choose_design(
    context: &Context<'_>,
    adjustment: Option<&Adjustment>,
) -> Result<Started, BotError> {
    let pending = newest_pending(context).await?;
    let Some((pending, design)) =
        pending.as_ref().and_then(|one| Some((one, one.integration.as_ref()?)))
    else {
        let hint = "`/regreen integration MODULE` makes one where `plan.confirm` is `always`";
        return Ok(Started::Reply(format!("There is no design that waits; {hint}.")));
    };
    if adjustment.is_some() && !design.is_adjustable() {
        let reply = "has its tests already; `/regreen continue` goes on with them";
        return Ok(Started::Reply(format!("{} {reply}.", pending.session)));
    }
    continue_pending(context, pending, adjustment.is_none(), adjustment.cloned())
}
