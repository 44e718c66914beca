//! Publishes bundles, the folders in which workers leave their commits and events.

use std::path::Path;
use std::time::Duration;

use crate::adapter::host::console::println;
use crate::adapter::host::files;
use crate::app::exit;
use crate::domain::check::Level;
use crate::domain::command::{Command, Flags};
use crate::domain::event::Event;
use crate::domain::id::{CommitId, SessionId};
use crate::report::final_state::FinalState;
use crate::report::forge_page::{CommandReply, JobFailure};
use crate::report::runner_commands;

use super::commits::{Commits, HeldBy, Published};
use super::context::Context;
use super::error::BotError;
use super::fix_branch;
use super::limits::{self, Destination};
use super::memory;
use super::publish::Publisher;
use super::session_snapshots::{self, SessionSnapshot};
use super::sessions;
use super::worker;

/// Delay before a push that failed for a temporary reason is retried.
pub const RETRY: Duration = Duration::from_secs(10);

/// Folder of the checkout that receives the commits that were not pushed.
const KEPT: &str = "regreen-bundle";

/// Why a fix that shares its branch is not what was tested.
pub const WITH_OTHERS: &str =
    "commits of others are on its branch, and it was not tested with them";

/// Attempts of the final push.
const LAST_ATTEMPTS: u32 = 3;

/// Publishes the bundle of an earlier job; runs no tests.
pub async fn publish_folder(context: &Context<'_>, folder: &Path) -> Result<u8, BotError> {
    let command = Command::Fix { flags: Flags::default() };
    let destination = limits::destination(context, &command);
    let mut publisher = load_bundle(context, folder, destination, Vec::new()).await?;
    publisher.end().await;
    let code = if publisher.failure.is_some() { exit::ENVIRONMENT } else { exit::NOT_MET };
    Ok(exit_code(publisher.state(), i32::from(code)))
}

/// Reads a bundle, publishes its commits and shows its session. The caller ends the publisher.
/// Fails when the folder holds no bundle, or the bundle of another pull request.
pub async fn load_bundle<'a>(
    context: &'a Context<'a>,
    folder: &Path,
    destination: Destination,
    answers: Vec<CommandReply>,
) -> Result<Publisher<'a>, BotError> {
    let bytes = files::read(&folder.join(worker::EVENTS), worker::EVENTS_LIMIT)
        .map_err(|error| BotError::io(folder, &error))?;
    let mut bytes = bytes.ok_or_else(|| {
        BotError::usage(
            format!("{} holds no bundle", folder.display()),
            "name the folder that `mode: work` wrote",
        )
    })?;
    let events = worker::whole_lines(&mut bytes);
    let session = events.iter().find_map(|event| match event {
        Event::Opened { session, .. } => SessionId::parse(session.as_str()).ok(),
        _ => None,
    });
    let session = session
        .ok_or_else(|| BotError::usage("the bundle names no session", "run `mode: work` again"))?;
    if !sessions::names(context).any(|name| name == session) {
        return Err(BotError::usage(
            format!(
                "the bundle is of session {session}, which does not belong to {}",
                context.target.name()
            ),
            "publish it in the run of its own pull request",
        ));
    }
    let expected = fix_branch::replaced_tip(context.prepared, context.target, &session).await?;
    let facts = sessions::check_out(context, vec![])?;
    let mut commits = Commits::new(context, &session, destination, expected, &facts);
    let mut publisher = Publisher::new(context, session.to_string(), answers);
    for event in &events {
        publisher.view.add(event);
    }
    // The result that the bundle claims is shown only once its commits passed the checks.
    let claimed = publisher.view.outcome.take();
    publisher.begin().await;
    publisher.view.outcome = claimed;
    let claims = publisher.view.outcome.as_ref().and_then(|outcome| outcome.tip.clone());
    deliver(context, &mut commits, &mut publisher, folder).await;
    if destination == Destination::Nowhere {
        let text = "nothing of the bundle was published, because this job may not write to the repository or its configuration forbids it; a job started by `workflow_run` or by the comment `/regreen apply SHA` may";
        println!("{}", runner_commands::remark(Level::Warning, None, "regreen", text));
        return Ok(publisher);
    }
    if let Some(failure) =
        failure(claims.filter(|tip| *tip != context.target.head), &commits.published)
    {
        publisher.fail(failure);
    } else {
        save_events(context, &session, folder).await;
        memory::save(context, folder, destination).await;
    }
    Ok(publisher)
}

/// Why nothing of a bundle was published that claims these commits; `None` when all is well.
fn failure(claims: Option<CommitId>, published: &Published) -> Option<JobFailure> {
    if published.server_tip().is_some() {
        return None;
    }
    let missing = "the bundle has no commits: `bundle.json` or `commits.pack` is missing";
    let held = published.held.as_deref();
    let hint = match published.held_by {
        _ if held.is_none() => None,
        HeldBy::Server => Some("run this job again; the bundle is still whole"),
        HeldBy::Conflict => Some("`/regreen fix` looks for a fix again, on a branch of its own"),
        HeldBy::Guard => None,
    };
    let why = held.or_else(|| claims.map(|_| missing))?;
    Some(match hint {
        Some(hint) => JobFailure::NoResult {
            message: format!("nothing of the bundle was published: {why}"),
            hint: hint.into(),
        },
        None => JobFailure::Refused { reason: format!("the bundle was refused: {why}") },
    })
}

/// Keeps a run's unpushed commits where later steps of the job find them, whatever the inputs.
pub fn keep(context: &Context<'_>, publisher: &mut Publisher<'_>, bundle: &Path) {
    let mut place = bundle.to_owned();
    if context.env.folder("bundle").is_none() {
        place = context.env.workspace().join(KEPT);
        if let Err(error) = files::copy_folder(bundle, &place) {
            tracing::warn!(%error, folder = %place.display(), "the commits are not kept");
            return;
        }
    }
    publisher.keep(place);
}

/// Publishes the last commits of a bundle, then the pull request and whatever else is configured.
pub async fn deliver(
    context: &Context<'_>,
    commits: &mut Commits<'_>,
    publisher: &mut Publisher<'_>,
    bundle: &Path,
) {
    for attempt in 1..=LAST_ATTEMPTS {
        match commits.publish(bundle, false).await {
            Ok(()) => break,
            Err(error) if attempt == LAST_ATTEMPTS || context.clock.stop_requested() => {
                commits.hold(format!("the commits could not be pushed: {error}"));
                break;
            }
            Err(_) => context.clock.wait(RETRY / 2).await,
        }
    }
    publisher.idle = true;
    publisher.incomplete = incomplete(&commits.published, publisher, commits.destination);
    let met = publisher.is_met() && publisher.incomplete.is_none();
    let sync = context.prepared.settings.sync == Some(true);
    if let Some(outcome) = publisher.view.outcome.as_ref().filter(|_| met && sync) {
        let rebased = commits.sync(outcome).await;
        publisher.incomplete = rebased.then(|| WITH_OTHERS.to_owned());
    }
    if met && publisher.incomplete.is_none() {
        commits.move_head().await;
    }
    publisher.sign(commits).await;
    publisher.open_pull(commits).await;
    commits.check().await;
    if let Some(outcome) = &mut publisher.view.outcome
        && commits.destination != Destination::Nowhere
    {
        // What is not on the server is no tip, whatever the worker says.
        outcome.tip = commits.published.server_tip().cloned();
    }
    publisher.show_published(&commits.published);
}

/// Why the server has not exactly what was tested; `None` when it has, or when nothing is published.
fn incomplete(
    published: &Published,
    publisher: &Publisher<'_>,
    destination: Destination,
) -> Option<String> {
    let outcome = publisher.view.outcome.as_ref();
    let tested = outcome.and_then(|outcome| outcome.tip.as_ref());
    if destination == Destination::Nowhere || tested.is_none() || published.server_tip() == tested {
        return None;
    }
    Some(published.held.clone().unwrap_or_else(|| WITH_OTHERS.to_owned()))
}

/// Saves the events for later commands.
pub async fn save_events(context: &Context<'_>, session: &SessionId, bundle: &Path) {
    let events = session_snapshots::event_lines(bundle);
    let known = || session_snapshots::exists(context.prepared, session);
    // What an earlier run left under this name must not outlive a green one.
    let is_news = !events.green || known().await.unwrap_or(true);
    let events = events.lines;
    if events.is_empty() || !is_news {
        return;
    }
    let snapshot = SessionSnapshot { events, ..SessionSnapshot::default() };
    match session_snapshots::save(context.prepared, session, &snapshot).await {
        Err(error) if !error.is_push_denied() => {
            tracing::warn!(%error, "the events of the session were not saved");
        }
        _ => {}
    }
}

/// The exit code of a job whose worker ended with `code`.
pub fn exit_code(state: Option<FinalState>, code: i32) -> u8 {
    match state {
        Some(
            FinalState::NotGreen
            | FinalState::Unfixable
            | FinalState::Objected
            | FinalState::Refused
            | FinalState::Reverted,
        ) => exit::NOT_MET,
        Some(FinalState::NoResult | FinalState::NoSession | FinalState::Unfinished) | None => {
            let known = exit::NOT_MET..=exit::ENVIRONMENT;
            let code = u8::try_from(code).ok().filter(|code| known.contains(code));
            code.unwrap_or(exit::ENVIRONMENT)
        }
        // A stop at a checkpoint is not a red job: the session continues (specification.md 9.3).
        Some(_) => exit::MET,
    }
}
