//! `/regreen apply SHA`: publishes one stored result, and only on the head it was made for
//! (specification.md 4.14).

use std::path::Path;

use crate::adapter::repo;
use crate::adapter::store::STATE_FOLDER;
use crate::domain::commit;
use crate::domain::id::{CommitId, SessionId};
use crate::effect::FetchTarget;
use crate::report::markdown::{code, prose};
use crate::report::view::View;

use crate::bot::bundle::{WITH_OTHERS, load_bundle};
use crate::bot::commits::{Commits, stored};
use crate::bot::context::Context;
use crate::bot::error::BotError;
use crate::bot::fix_branch;
use crate::bot::limits::{self, Destination};
use crate::bot::publish::Publisher;
use crate::bot::session_snapshots::{self, SessionSnapshot};
use crate::bot::sessions::{check_out, names, read_view};
use crate::bot::worker;

const COMMITS: u32 = 500;

/// Publishes the result and returns the reply.
pub async fn apply(context: &Context<'_>, result: &CommitId) -> Result<String, BotError> {
    if let Some(folder) = context.env.folder("bundle")
        && let Ok(bundle) = repo::manifest(&folder)
        && bundle.of.tip == *result
    {
        return bundled(context, &folder, &bundle.of.head).await;
    }
    let remote = &context.prepared.remote;
    let Some(tip) = remote.head_of(&stored(result)).await? else {
        return Ok(format!(
            "No result {} is stored here. `/regreen fix --suggest` stores one.",
            result.short()
        ));
    };
    remote.fetch(&FetchTarget::Commit(tip.clone()), Some(COMMITS)).await?;
    let message = context.prepared.clone.message_of(&tip).unwrap_or_default();
    let session = commit::trailer(&message, commit::SESSION).map(SessionId::parse);
    let Some(session) = session.and_then(Result::ok).filter(|_| tip == *result) else {
        return Ok(format!("{} is not a result of regreen.", result.short()));
    };
    if !names(context).any(|name| name == session) {
        return Ok(format!(
            "{} is a result of {session}, which does not belong to {}.",
            tip.short(),
            prose(&context.target.name(), 100)
        ));
    }
    let ground = context.prepared.clone.session_base(&tip, &session, COMMITS);
    if ground.as_ref() != Some(&context.target.head) {
        return Ok(stale(result, ground.as_ref(), &context.target.head));
    }
    publish(context, &session, &tip).await
}

/// The reply when a result was made for another head.
fn stale(result: &CommitId, ground: Option<&CommitId>, head: &CommitId) -> String {
    let of = ground.map_or("another commit", |ground| ground.short());
    format!(
        "{} was made for {of}, but the head is now {}. Nothing was published; `/regreen fix` looks for a fix of this head.",
        result.short(),
        head.short()
    )
}

/// The destination of an applied result: as configured, but a fix branch for a fork.
fn destination(context: &Context<'_>) -> Destination {
    match limits::approved_destination(context) {
        Destination::Head if !context.target.foreign => Destination::Head,
        _ => Destination::Branch,
    }
}

/// Publishes the bundle of an earlier job.
async fn bundled(
    context: &Context<'_>,
    folder: &Path,
    head: &CommitId,
) -> Result<String, BotError> {
    if *head != context.target.head {
        let tip = repo::manifest(folder).map(|bundle| bundle.of.tip);
        let tip = tip.unwrap_or_else(|_| head.clone());
        return Ok(stale(&tip, Some(head), &context.target.head));
    }
    let mut publisher = load_bundle(context, folder, destination(context), Vec::new()).await?;
    publisher.settle().await;
    Ok(publisher.push_summary())
}

/// The view of the run that made a result. A later run of the same session has replaced the
/// snapshot, which must not tell of this commit; what its own files tell has no end.
async fn view_of_result(
    context: &Context<'_>,
    session: &SessionId,
    tip: &CommitId,
) -> Result<View, BotError> {
    let view = read_view(context, session, Some(tip)).await?;
    if view.outcome.as_ref().is_none_or(|outcome| outcome.tip.as_ref() == Some(tip)) {
        return Ok(view);
    }
    let events = session_snapshots::events_at(context.prepared, session, tip)?;
    let view = View::of(&worker::whole_lines(&mut events.clone()));
    let snapshot = SessionSnapshot { events, ..SessionSnapshot::default() };
    session_snapshots::save(context.prepared, session, &snapshot).await?;
    Ok(view)
}

/// Publishes commits that are already fetched.
async fn publish(
    context: &Context<'_>,
    session: &SessionId,
    tip: &CommitId,
) -> Result<String, BotError> {
    let clone = &context.prepared.clone;
    let diff = clone.diff(&context.target.head, &clone.tree_of(tip)?, STATE_FOLDER)?;
    let facts = check_out(context, vec![])?;
    let expected = fix_branch::replaced_tip(context.prepared, context.target, session).await?;
    let mut commits = Commits::new(context, session, destination(context), expected, &facts);
    let rebased = match commits.apply(tip, diff).await {
        Ok(rebased) => rebased,
        Err(error) => return Ok(format!("{}. Repeat the command.", code(&error))),
    };
    let mut publisher = Publisher::new(context, session.to_string(), Vec::new());
    publisher.view = view_of_result(context, session, tip).await?;
    publisher.incomplete = rebased.map(|_| WITH_OTHERS.to_owned());
    if commits.published.held.is_none() {
        if publisher.incomplete.is_none() {
            commits.move_head().await;
        }
        publisher.open_pull(&mut commits).await;
    }
    publisher.show_published(&commits.published);
    publisher.settle().await;
    if commits.published.held.is_none()
        && let Err(error) = context.prepared.remote.delete(&stored(tip), tip).await
    {
        tracing::warn!(%error, "the stored result was applied and is still stored");
    }
    Ok(publisher.push_summary())
}
