//! `/regreen show-plan` and `/regreen cancel`: the plan that waits for `/regreen run`.

use crate::bot::context::Context;
use crate::bot::error::BotError;
use crate::bot::session_choice::obstacle;
use crate::bot::session_snapshots::{self, SessionSnapshot};
use crate::bot::sessions::newest_pending;
use crate::report::markdown::code;

pub async fn show_plan(context: &Context<'_>) -> Result<String, BotError> {
    let Some(pending) = newest_pending(context).await? else {
        return Ok("There is no plan. `/regreen plan INPUT` makes one.".into());
    };
    let Some(plan) = pending.describe_plan() else {
        return Ok(format!("{} has no plan yet. `/regreen run` continues it.", pending.session));
    };
    let next = match obstacle(&pending, &context.target.head) {
        Some(why) => why,
        None if pending.integration.is_some() => {
            "`/regreen confirm` carries it out, `/regreen adjust` changes it, `/regreen cancel` drops it".into()
        }
        None => "`/regreen run` carries it out, `/regreen cancel` drops it".into(),
    };
    Ok(format!("{plan}\n{next}."))
}

/// `/regreen cancel`: drops the pending plan.
pub async fn cancel(context: &Context<'_>) -> Result<String, BotError> {
    let Some(pending) = newest_pending(context).await? else {
        return Ok("There is no plan to drop.".into());
    };
    // The events stay for reports; without the state the session cannot be continued.
    let events = session_snapshots::events(context.prepared, &pending.session, None).await?;
    let snapshot = SessionSnapshot { events, ..SessionSnapshot::default() };
    Ok(match session_snapshots::save(context.prepared, &pending.session, &snapshot).await {
        Ok(()) => format!("The plan of {} is dropped.", pending.session),
        Err(error) => format!(
            "The plan of {} is still there: {}; {}.",
            pending.session,
            code(&error.to_string()),
            error.hint()
        ),
    })
}
