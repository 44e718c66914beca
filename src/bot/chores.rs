//! Commands that are answered from what is there: branches, kept sessions, configuration.

use crate::adapter::repo::Overlap;
use crate::adapter::store;
use crate::domain::command::Flags;
use crate::domain::commit;
use crate::domain::event::Event;
use crate::domain::id::{CommitId, SessionId};
use crate::effect::{PushOutcome, PushRequest, Remote};
use crate::report::estimate;
use crate::report::markdown::{self, code};
use crate::report::planning;

use super::action::{Run, Trouble};
use super::answer::last;
use super::commits::Goes;
use super::kept::{self, Kept};
use super::limits;
use super::prepare;
use super::start::{Wish, Work, check_out, names, obstacle, planned};
use super::target::Found;
use super::work;

/// Commits that a session can have.
const COMMITS: u32 = 2_000;

/// Files that one extension covers at most.
const FILES: usize = 10;

/// What is said where there is no fix branch.
const NO_BRANCH: &str = "there is no fix branch; `/regreen fix` makes one";

/// The newest fix branch of the target.
async fn newest(run: &Run<'_>) -> Result<Option<(SessionId, Found)>, Trouble> {
    let mut newest = None;
    for session in names(run) {
        match prepare::look(run.prepared, run.target, &session).await? {
            Some(found) => newest = Some((session, found)),
            None if kept::is_known(run.prepared, &session).await? => {}
            None => break,
        }
    }
    Ok(newest)
}

/// The same, when every commit of it is the session's own; else what to say.
async fn own(run: &Run<'_>) -> Result<Result<(SessionId, Found), String>, Trouble> {
    Ok(match newest(run).await? {
        None => Err(NO_BRANCH.into()),
        Some((_, found)) if !found.ours || found.record.is_none() => {
            Err("the fix branch holds commits of others; it is left alone".into())
        }
        Some(own) => Ok(own),
    })
}

/// Moves a fix branch; the error is what to say.
async fn push(
    run: &Run<'_>,
    session: SessionId,
    from: CommitId,
    to: CommitId,
) -> Result<(), String> {
    let request = PushRequest {
        branch: prepare::branch(&session),
        expected: Some(from),
        new: to,
        session,
        protected: vec![run.target.default_branch.clone()],
    };
    match run.prepared.remote.push(&request).await {
        Ok(PushOutcome::Done | PushOutcome::AlreadyThere) => Ok(()),
        Ok(PushOutcome::Rejected { by, text }) => {
            Err(format!("the server refused: {}; {}", code(&text), by.hint()))
        }
        Ok(PushOutcome::Moved { .. }) => Err("the fix branch moved meanwhile; ask again".into()),
        Err(error) => Err(format!("{}; {}", code(&error.to_string()), error.hint())),
    }
}

/// All sessions of the target.
pub async fn status(run: &Run<'_>) -> Result<String, Trouble> {
    let mut rows = String::new();
    for session in names(run) {
        let found = prepare::look(run.prepared, run.target, &session).await?;
        let unborn = match &found {
            Some(_) => None,
            None => kept::unborn(run.prepared, &session).await?,
        };
        let (record, tip) = match (&found, unborn) {
            (Some(found), _) => (found.record.clone(), found.tip.short().to_owned()),
            (None, Some(unborn)) => (Some(unborn.record), "no branch yet".to_owned()),
            (None, None) if kept::is_known(run.prepared, &session).await? => continue,
            (None, None) => break,
        };
        let (status, commit, began) = match record {
            Some(record) => (
                serde_json::to_value(record.status)
                    .ok()
                    .and_then(|value| value.as_str().map(str::to_owned))
                    .unwrap_or_default(),
                record.git.head_sha.short().to_owned(),
                record.created_at,
            ),
            None => ("not of regreen".to_owned(), String::new(), String::new()),
        };
        let began = markdown::line(&began, 40);
        rows.push_str(&format!("| `{session}` | {status} | {commit} | {began} | {tip} |\n"));
    }
    if rows.is_empty() {
        return Ok("no session of this pull request is known here".into());
    }
    Ok(format!("| Session | Status | Tested | Began | Tip |\n|---|---|---|---|---|\n{rows}"))
}

/// Takes a kept fix back.
pub async fn rollback(
    run: &Run<'_>,
    iteration: Option<u32>,
    login: &str,
) -> Result<String, Trouble> {
    let (session, found) = match own(run).await? {
        Ok(own) => own,
        Err(text) => return Ok(text),
    };
    let Some(record) = found.record else { return Ok(NO_BRANCH.into()) };
    let done = run.prepared.bench.take_back(
        &found.tip,
        &record.git.head_sha,
        &session,
        store::STATE_FOLDER,
        iteration,
        login,
    );
    let (new, number) = match done {
        Ok(Some(done)) => done,
        Ok(None) => return Ok("the fix branch keeps no such fix".into()),
        Err(error) => return Ok(format!("{}; nothing was changed", code(&error.to_string()))),
    };
    let pushed = push(run, session.clone(), found.tip, new.clone()).await;
    if pushed.is_ok() {
        tell(run, &session, &new, &Event::TakenBack { iteration: number }).await?;
    }
    Ok(match pushed {
        Ok(()) => format!(
            "iteration {number} is taken back by {}; `/regreen fix` looks for another fix",
            new.short()
        ),
        Err(text) => text,
    })
}

/// Adds an event to what is told of a session from now on.
async fn tell(
    run: &Run<'_>,
    session: &SessionId,
    tip: &CommitId,
    event: &Event,
) -> Result<(), Trouble> {
    let mut events = kept::events(run.prepared, session, Some(tip)).await?;
    let line = serde_json::to_string(event).unwrap_or_default();
    events.extend(line.into_bytes());
    events.push(b'\n');
    kept::keep(run.prepared, session, &Kept { events, ..Kept::default() }).await?;
    Ok(())
}

/// Sets the fix branch on top of the head that is there now.
pub async fn rebase(run: &Run<'_>) -> Result<String, Trouble> {
    let (session, found) = match own(run).await? {
        Ok(own) => own,
        Err(text) => return Ok(text),
    };
    let head = &run.target.head;
    let bench = &run.prepared.bench;
    let Some(ground) = bench.ground_of(&found.tip, &session, COMMITS) else {
        return Ok(
            "the beginning of the fix branch is not here; `/regreen recreate` begins again".into()
        );
    };
    if ground == *head {
        return Ok(format!("the fix branch stands on {} already", head.short()));
    }
    let pair = (&ground, &found.tip);
    let made = match bench.carry(pair, head, &session, Overlap::Allowed) {
        Ok(Ok(made)) => made,
        Ok(Err(reason)) => {
            return Ok(format!(
                "{}; nothing was changed. `/regreen recreate` begins again on {}",
                markdown::prose(&reason, 300),
                head.short()
            ));
        }
        Err(error) => return Ok(format!("{}; nothing was changed", code(&error.to_string()))),
    };
    Ok(match push(run, session, found.tip, made.clone()).await {
        Ok(()) => format!(
            "the fix branch stands on {} now, at {}; it was not tested there. `/regreen recreate` looks for a fix of this head",
            head.short(),
            made.short()
        ),
        Err(text) => text,
    })
}

/// Ends a session as it is.
pub async fn complete(run: &Run<'_>, login: &str) -> Result<String, Trouble> {
    let (session, found) = match own(run).await? {
        Ok(own) => own,
        Err(text) => return Ok(text),
    };
    let folder = format!("{}/active/{session}", store::STATE_FOLDER);
    let message = commit::ended(&session, login);
    let new = match run.prepared.bench.without_session(&found.tip, &folder, &message) {
        Ok(Some(new)) => new,
        Ok(None) => return Ok(format!("{session} is completed already")),
        Err(error) => return Ok(format!("{}; nothing was changed", code(&error.to_string()))),
    };
    Ok(match push(run, session.clone(), found.tip, new).await {
        Ok(()) => format!("{session} is completed; its files are off the fix branch"),
        Err(text) => text,
    })
}

/// Writes down what the last session teaches.
pub async fn sync(run: &Run<'_>) -> Result<String, Trouble> {
    let (session, found) = match own(run).await? {
        Ok(own) => own,
        Err(text) => return Ok(text),
    };
    let known = last(run).await?.filter(|(name, _)| *name == session);
    let Some(outcome) = known.and_then(|(_, view)| view.outcome) else {
        return Ok("the session has no result yet, so there is nothing to write down".into());
    };
    let facts = check_out(run, vec![])?;
    let tip = found.tip;
    let mut commits = work::commits(run, &session, Goes::Branch, Some(tip.clone()), &facts)?;
    commits.published.tip = Some(tip.clone());
    let now = run.clock.now();
    commits.sync(&run.prepared.bench, &outcome, now.get(..10).unwrap_or(&now)).await;
    let told: Vec<&String> =
        commits.published.notices.iter().chain(&commits.published.held).collect();
    Ok(match (commits.published.tip, told.first()) {
        (_, Some(why)) => markdown::prose(why, 500),
        (Some(new), None) if new != tip => {
            format!("what {session} teaches is written down in {}", new.short())
        }
        (_, None) => format!("{session} teaches nothing that is not written down"),
    })
}

/// What a run would take.
pub async fn estimate(run: &Run<'_>) -> Result<String, Trouble> {
    let settings = &run.prepared.settings;
    let ceiling = limits::ceiling(settings);
    let view = last(run).await?.map(|(_, view)| view);
    Ok(estimate::quote(view.as_ref(), &ceiling, settings.providers.as_deref().unwrap_or_default()))
}

/// The plan that waits.
pub async fn show_plan(run: &Run<'_>) -> Result<String, Trouble> {
    let Some(unborn) = planned(run).await? else {
        return Ok("there is no plan; `/regreen plan INPUT` makes one".into());
    };
    let plan = unborn.plan.as_ref().map(|plan| planning::offer(&unborn.pipeline, plan));
    let next = match obstacle(&unborn, &run.target.head) {
        Some(why) => why,
        None => "`/regreen run` carries it out, `/regreen cancel` drops it".into(),
    };
    Ok(match plan {
        Some(plan) => format!("{plan}\n{next}."),
        None => format!("{} has not come to its plan yet; `/regreen run` goes on", unborn.session),
    })
}

/// Drops the plan that waits.
pub async fn cancel(run: &Run<'_>) -> Result<String, Trouble> {
    let Some(unborn) = planned(run).await? else {
        return Ok("there is no plan to drop".into());
    };
    // What was told of the session stays; what it would go on with does not.
    let events = kept::events(run.prepared, &unborn.session, None).await?;
    kept::keep(run.prepared, &unborn.session, &Kept { events, ..Kept::default() }).await?;
    Ok(format!("the plan of {} is dropped", unborn.session))
}

/// A run that writes tests for what the last fix changed; the inner error is what to say.
pub async fn extension(run: &Run<'_>, flags: &Flags) -> Result<Result<Wish, String>, Trouble> {
    let rows = last(run).await?.map(|(_, view)| view.rows).unwrap_or_default();
    let mut files: Vec<String> = rows.into_iter().flat_map(|row| row.files).collect();
    files.sort();
    files.dedup();
    files.retain(|file| {
        run.prepared.bench.file_of(&run.target.head, file).is_ok_and(|file| file.is_some())
    });
    files.truncate(FILES);
    if files.is_empty() {
        return Ok(Err(
            "no fix changed anything here; `/regreen test INPUT` names what to test".into()
        ));
    }
    let work = Work::Test(files.join(" "));
    Ok(Ok(Wish { work, session: None, flags: flags.clone() }))
}
