//! `/regreen apply SHA`: publishes exactly one stored result, and only on the head it was made for
//! (product.md 13.17, 13.18).

use std::path::Path;

use crate::adapter::repo;
use crate::adapter::store::STATE_FOLDER;
use crate::domain::commit;
use crate::domain::id::{CommitId, SessionId};
use crate::effect::{FetchTarget, Remote};
use crate::report::markdown::{code, prose};
use crate::report::view::View;

use super::action::{Run, Trouble};
use super::commits::{Goes, stored};
use super::kept;
use super::limits;
use super::prepare;
use super::publish::Publisher;
use super::start::{check_out, names};
use super::work;
use super::worker;

/// Commits that a result can have.
const COMMITS: u32 = 500;

/// Publishes the result and says what came of it.
///
/// # Errors
///
/// When the server or the machine does not do what is needed.
pub async fn apply(run: &Run<'_>, result: &CommitId) -> Result<String, Trouble> {
    if let Some(folder) = run.around.folder("bundle")
        && let Ok(bundle) = repo::manifest(&folder)
        && bundle.of.tip == *result
    {
        return bundled(run, &folder, &bundle.of.head).await;
    }
    let Some(tip) =
        run.prepared.remote.head_of(&stored(result)).await.map_err(prepare::Unprepared::from)?
    else {
        return Ok(format!(
            "no result {} is stored here; `/regreen fix --suggest` stores one",
            result.short()
        ));
    };
    run.prepared
        .remote
        .fetch(&FetchTarget::Commit(tip.clone()), Some(COMMITS))
        .await
        .map_err(prepare::Unprepared::from)?;
    let message = run.prepared.bench.message_of(&tip).unwrap_or_default();
    let session = commit::trailer(&message, commit::SESSION).map(SessionId::parse);
    let Some(session) = session.and_then(Result::ok).filter(|_| tip == *result) else {
        return Ok(format!("{} is no result of regreen", result.short()));
    };
    if !names(run).any(|name| name == session) {
        return Ok(format!(
            "{} is of {session}, which is not of {}",
            tip.short(),
            prose(&run.target.name(), 100)
        ));
    }
    let ground = run.prepared.bench.ground_of(&tip, &session, COMMITS);
    if ground.as_ref() != Some(&run.target.head) {
        return Ok(stale(result, ground.as_ref(), &run.target.head));
    }
    publish(run, &session, &tip).await
}

/// Why a result is not published on another head.
fn stale(result: &CommitId, ground: Option<&CommitId>, head: &CommitId) -> String {
    let of = ground.map_or("another commit", |ground| ground.short());
    format!(
        "{} was made for {of}, and the head is {}; nothing was published. `/regreen fix` looks for a fix of this head",
        result.short(),
        head.short()
    )
}

/// Where an applied result goes: as configured, and a stranger's to a branch of ours.
fn goes(run: &Run<'_>) -> Goes {
    match limits::approved_destination(run) {
        Goes::Head if !run.target.foreign => Goes::Head,
        _ => Goes::Branch,
    }
}

/// Publishes what a working job left in a folder.
async fn bundled(run: &Run<'_>, folder: &Path, head: &CommitId) -> Result<String, Trouble> {
    if *head != run.target.head {
        let tip = repo::manifest(folder).map(|bundle| bundle.of.tip);
        let tip = tip.unwrap_or_else(|_| head.clone());
        return Ok(stale(&tip, Some(head), &run.target.head));
    }
    let publisher = work::taken(run, folder, goes(run), Vec::new()).await?;
    Ok(publisher.said_of_push())
}

/// Publishes commits that are in the object store.
async fn publish(run: &Run<'_>, session: &SessionId, tip: &CommitId) -> Result<String, Trouble> {
    let bench = &run.prepared.bench;
    let tree = bench.tree_of(tip).map_err(prepare::Unprepared::from)?;
    let diff = bench.diff(&run.target.head, &tree, STATE_FOLDER);
    let diff = diff.map_err(prepare::Unprepared::from)?;
    let facts = check_out(run, vec![])?;
    let expected = prepare::replaced(run.prepared, run.target, session).await?;
    let mut commits = work::commits(run, session, goes(run), expected, &facts)?;
    if let Err(error) = commits.apply(tip, diff).await {
        return Ok(format!("{}; ask again", code(&error)));
    }
    let mut publisher = Publisher::new(run, session.to_string(), Vec::new());
    let mut bytes = kept::events(run.prepared, session, Some(tip)).await?;
    publisher.view = View::of(&worker::whole_lines(&mut bytes));
    if commits.published.held.is_none() {
        commits.move_head().await;
        publisher.offer(&mut commits).await;
    }
    publisher.take_over(&commits.published);
    publisher.describe(&commits).await;
    Ok(publisher.said_of_push())
}
