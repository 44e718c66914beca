//! The commands that change the fix branch: `rollback`, `rebase`, `complete` and `sync`.

use crate::adapter::repo::Overlap;
use crate::adapter::store::STATE_FOLDER;
use crate::bot::commits::Commits;
use crate::bot::context::Context;
use crate::bot::error::BotError;
use crate::bot::limits::Destination;
use crate::bot::replies::Replies;
use crate::bot::session_snapshots::{self, SessionSnapshot};
use crate::bot::sessions::{self, check_out, read_view};
use crate::domain::commit;
use crate::domain::event::Event;
use crate::domain::id::{CommitId, SessionId};
use crate::effect::{PushOutcome, PushRequest};
use crate::report::markdown::{self, code};

/// Commits of a session that are searched at most.
const COMMITS: u32 = 2_000;

/// The newest fix branch; all of its commits belong to its session.
struct OwnBranch {
    session: SessionId,
    tip: CommitId,
}

/// The result of looking for a fix branch that may be changed.
enum Lookup {
    Own(Box<OwnBranch>),
    /// The branch may not be changed; the text says why.
    Reply(String),
}

async fn find_own(context: &Context<'_>) -> Result<Lookup, BotError> {
    let known = sessions::known(context).await?;
    let newest = known.into_iter().rev().find_map(|known| Some((known.session, known.branch?)));
    Ok(match newest {
        None => Lookup::Reply("There is no fix branch. `/regreen fix` makes one.".into()),
        Some((session, branch)) => match branch.record.filter(|_| branch.ours) {
            Some(_) => Lookup::Own(Box::new(OwnBranch { session, tip: branch.tip })),
            None => Lookup::Reply(
                "The fix branch holds commits of others, so it was not changed.".into(),
            ),
        },
    })
}

/// Pushes the fix branch; the error is the reply.
async fn push(context: &Context<'_>, own: &OwnBranch, to: &CommitId) -> Result<(), String> {
    let request = PushRequest {
        branch: own.session.branch(),
        expected: Some(own.tip.clone()),
        new: to.clone(),
        session: own.session.clone(),
        protected: vec![context.target.default_branch.clone()],
    };
    match context.prepared.remote.push(&request).await {
        Ok(PushOutcome::Done | PushOutcome::AlreadyThere) => Ok(()),
        Ok(PushOutcome::Rejected { by, text }) => {
            Err(format!("The server refused the push: {}; {}.", code(&text), by.hint()))
        }
        Ok(PushOutcome::Moved { .. }) => {
            Err("The fix branch moved in the meantime. Repeat the command.".into())
        }
        Err(error) => Err(format!("{}; {}.", code(&error.to_string()), error.hint())),
    }
}

/// The reply to a change that could not be made.
fn unchanged(error: &impl ToString) -> String {
    format!("{}. Nothing was changed.", code(&error.to_string()))
}

/// `/regreen rollback`: reverts the fix of one iteration.
pub async fn rollback(
    context: &Context<'_>,
    iteration: Option<u32>,
    login: &str,
    shown: &mut Option<SessionId>,
) -> Result<String, BotError> {
    if let Lookup::Reply(text) = find_own(context).await? {
        return Ok(text);
    }
    // A later session may have written tests only.
    let mut found = None;
    for known in sessions::known(context).await?.into_iter().rev() {
        let Some(branch) = known.branch.filter(|branch| branch.ours) else { continue };
        let Some(record) = branch.record else { continue };
        let (session, tip) = (known.session, branch.tip);
        let clone = &context.prepared.clone;
        let head = &record.git.head_sha;
        match clone.revert_fix(&tip, head, &session, STATE_FOLDER, iteration, login) {
            Ok(Some(reverted)) => {
                found = Some((OwnBranch { session, tip }, reverted));
                break;
            }
            Ok(None) => {
                let view = read_view(context, &session, Some(&tip)).await?;
                if view.improvements() > 0 {
                    break;
                }
            }
            Err(error) => return Ok(unchanged(&error)),
        }
    }
    let Some((own, (new, number))) = found else {
        return Ok("The fix branch holds no such fix.".into());
    };
    *shown = Some(own.session.clone());
    if let Err(text) = push(context, &own, &new).await {
        return Ok(text);
    }
    let mut reply = format!(
        "The fix of iteration {number} is reverted by {}. `/regreen fix` looks for another fix.",
        new.short()
    );
    let event = Event::Reverted { iteration: number };
    if let Err(error) = add_event(context, &own.session, &new, &event).await {
        reply.push_str(&format!(" This page may not show it: {}.", code(&error.message)));
    }
    Ok(reply)
}

async fn add_event(
    context: &Context<'_>,
    session: &SessionId,
    tip: &CommitId,
    event: &Event,
) -> Result<(), BotError> {
    let mut events = session_snapshots::events(context.prepared, session, Some(tip)).await?;
    let line = serde_json::to_string(event).unwrap_or_default();
    events.extend(line.into_bytes());
    events.push(b'\n');
    let snapshot = SessionSnapshot { events, ..SessionSnapshot::default() };
    session_snapshots::save(context.prepared, session, &snapshot).await?;
    Ok(())
}

/// `/regreen rebase`: rebases the fix branch onto the current head.
pub async fn rebase(context: &Context<'_>, replies: &mut Replies) -> Result<String, BotError> {
    let own = match find_own(context).await? {
        Lookup::Own(own) => own,
        Lookup::Reply(text) => return Ok(text),
    };
    let head = &context.target.head;
    let clone = &context.prepared.clone;
    let Some(ground) = clone.session_base(&own.tip, &own.session, COMMITS) else {
        return Ok(
            "The start of the fix branch was not found. `/regreen recreate` makes a new one."
                .into(),
        );
    };
    if ground == *head {
        return Ok(format!("The fix branch is already based on {}.", head.short()));
    }
    let rebased =
        match clone.rebase_session((&ground, &own.tip), head, &own.session, Overlap::Allowed) {
            Ok(Ok(rebased)) => rebased,
            Ok(Err(reason)) => {
                return Ok(format!(
                    "{}. Nothing was changed. `/regreen recreate` starts again on {}.",
                    markdown::prose(&reason, 300),
                    head.short()
                ));
            }
            Err(error) => return Ok(unchanged(&error)),
        };
    Ok(match push(context, &own, &rebased).await {
        Ok(()) => {
            let (head, tip) = (head.short(), rebased.short());
            replies.new_tip = Some(rebased.clone());
            format!(
                "The fix branch is rebased onto {head}; its tip is now {tip}. The fix was not tested there: `/regreen recreate` looks for a fix of this head."
            )
        }
        Err(text) => text,
    })
}

/// `/regreen complete`: ends a session as it is.
pub async fn complete(
    context: &Context<'_>,
    login: &str,
    replies: &mut Replies,
) -> Result<String, BotError> {
    let own = match find_own(context).await? {
        Lookup::Own(own) => own,
        Lookup::Reply(text) => return Ok(text),
    };
    let session = &own.session;
    let folder = format!("{STATE_FOLDER}/{}", session.state_folder());
    let message = commit::ended(session, login);
    let new = match context.prepared.clone.commit_session_removal(&own.tip, &folder, &message) {
        Ok(Some(new)) => new,
        Ok(None) => return Ok(format!("{session} is already completed.")),
        Err(error) => return Ok(unchanged(&error)),
    };
    Ok(match push(context, &own, &new).await {
        Ok(()) => {
            replies.new_tip = Some(new);
            format!("{session} is completed. Its files are removed from the fix branch.")
        }
        Err(text) => text,
    })
}

/// `/regreen sync`: records what the last session taught.
pub async fn sync(context: &Context<'_>, replies: &mut Replies) -> Result<String, BotError> {
    let own = match find_own(context).await? {
        Lookup::Own(own) => own,
        Lookup::Reply(text) => return Ok(text),
    };
    let session = &own.session;
    let view = read_view(context, session, Some(&own.tip)).await?;
    let Some(outcome) = view.outcome else {
        return Ok(format!("{session} has no result yet, so there is nothing to record."));
    };
    let facts = check_out(context, vec![])?;
    let tip = Some(own.tip.clone());
    let mut commits = Commits::new(context, session, Destination::Branch, tip.clone(), &facts);
    commits.published.tip.clone_from(&tip);
    commits.sync(&outcome).await;
    let published = &commits.published;
    Ok(match (&published.tip, published.notices.iter().chain(&published.held).next()) {
        (_, Some(why)) => markdown::prose(why, 500),
        (Some(new), None) if *new != own.tip => {
            replies.new_tip = Some(new.clone());
            format!("What {session} learned is recorded in {}.", new.short())
        }
        (_, None) => format!("There is nothing new to record for {session}."),
    })
}
