//! Commands of a comment to answers and to at most one run.

use std::collections::BTreeSet;

use crate::adapter::store;
use crate::domain::command::{Command, Dimension};
use crate::domain::id::SessionId;
use crate::effect::{CommentKind, Permission, PushRequest, Pushed, Reaction, Remote};
use crate::report::comment::Answer;
use crate::report::markdown;
use crate::report::view::View;

use super::action::{Run, Trouble};
use super::command::{self, Line};
use super::issues;
use super::permission::{self, Allowed, Decision, Level, Question};
use super::prepare;
use super::publish::Publisher;
use super::work::Wish;
use super::worker;

/// What is answered at the end of this run.
#[derive(Debug, Default)]
pub struct Desk {
    /// The answers so far.
    pub answers: Vec<Answer>,
    /// Follow-up issues that were asked for.
    pub issues: Vec<Dimension>,
    /// Nobody is answered: whoever asked may not.
    pub silent: bool,
}

/// Names a session may have besides the first.
const NAMES: u32 = 20;

/// Reads the commands of a comment, says at once that they were seen, and does what needs no run.
pub async fn read(
    run: &Run<'_>,
    allowed: &Allowed,
    id: u64,
    review: bool,
    edited: bool,
    lines: &[Line],
) -> Result<(Option<Wish>, Desk), Trouble> {
    let kind = if review { CommentKind::Review } else { CommentKind::Issue };
    let who = run.trigger.author.as_ref();
    let login = who.map_or("", |who| who.login.as_str());
    let level = match who {
        Some(who) => run.forge.permission(&who.login).await.map_err(|error| error.to_string()),
        None => Ok(Permission::None),
    };
    let nobody = BTreeSet::new();
    let teams = if allowed.teams.is_empty() {
        Ok(&nobody)
    } else {
        Err("asking for teams needs the token of an App")
    };
    let question = Question {
        commander: who,
        edited,
        permission: level.as_ref().map(|level| levels(*level)).map_err(String::as_str),
        teams,
        allowed,
    };
    if let Decision::Refused(reason) = permission::decide(&question) {
        println!("regreen: the command of this comment is not followed: {reason}");
        react(run, kind, id, Reaction::ThumbsDown).await;
        return Ok((None, Desk { silent: true, ..Desk::default() }));
    }
    react(run, kind, id, Reaction::Eyes).await;
    let (mut wish, mut desk) = (None, Desk::default());
    for line in lines {
        let text = match &line.command {
            Err(problem) => problem.to_string(),
            Ok(Command::Fix { .. } | Command::Test { .. } | Command::Resume { .. })
                if wish.is_some() =>
            {
                "one run at a time; ask for this one when it has ended".into()
            }
            Ok(Command::Fix { flags }) => {
                wish = Some(Wish { flags: flags.clone(), ..Wish::default() });
                continue;
            }
            Ok(Command::Test { what, flags }) => {
                let what = Some(what.clone());
                wish = Some(Wish { what, flags: flags.clone(), ..Wish::default() });
                continue;
            }
            Ok(Command::Resume { session, flags }) => {
                let (session, flags) = (session.clone(), flags.clone());
                wish = Some(Wish { resume: true, session, flags, what: None });
                continue;
            }
            Ok(Command::Help) => command::help(),
            Ok(Command::Status) => status(run).await?,
            Ok(Command::Stop) => {
                "nothing is running any more; `/regreen resume` goes on where it stopped".into()
            }
            Ok(Command::Rollback { iteration }) => rollback(run, *iteration, login).await?,
            Ok(Command::Issue { dimensions }) => {
                desk.issues.extend(dimensions);
                continue;
            }
            Ok(Command::Report) => "the report of the last session is this comment".into(),
            Ok(Command::Apply { .. }) => {
                "stored results cannot be published yet; `/regreen fix` makes the fix again".into()
            }
            Ok(Command::Later { verb }) => command::later_answer(*verb),
        };
        let (asker, command) = (login.to_owned(), line.text.clone());
        desk.answers.push(Answer { asker, command, reply: text });
    }
    if wish.is_some() {
        react(run, kind, id, Reaction::Rocket).await;
    } else if lines.iter().all(|line| line.command.is_err()) {
        react(run, kind, id, Reaction::Confused).await;
    }
    Ok((wish, desk))
}

/// Posts the answers, above what is known of the last session.
pub async fn post(run: &Run<'_>, mut desk: Desk) -> Result<u8, Trouble> {
    if desk.silent {
        return Ok(0);
    }
    let (session, view) = last(run).await?.unwrap_or_default();
    let pull = super::work::fix_pull(run, &session).await;
    issues::open(run, &view, pull, &mut desk).await;
    let mut publisher = Publisher::new(run, session, desk.answers);
    publisher.view = view;
    publisher.is_pushed(pull);
    publisher.answers_only().await;
    Ok(0)
}

async fn react(run: &Run<'_>, kind: CommentKind, id: u64, reaction: Reaction) {
    if let Err(error) = run.forge.react(kind, id, reaction).await {
        tracing::warn!(%error, "the comment got no reaction");
    }
}

fn levels(permission: Permission) -> Level {
    match permission {
        Permission::None => Level::None,
        Permission::Read => Level::Read,
        Permission::Triage => Level::Triage,
        Permission::Write => Level::Write,
        Permission::Maintain => Level::Maintain,
        Permission::Admin => Level::Admin,
    }
}

/// The newest session of this target, with what its branch tells of it.
pub async fn last(run: &Run<'_>) -> Result<Option<(String, View)>, Trouble> {
    let mut newest = None;
    for number in 1..=NAMES {
        let Some(session) = run.target.session(number) else { break };
        let Some(found) = prepare::look(run.prepared, run.target, &session).await? else { break };
        newest = Some((session, found));
    }
    let Some((session, found)) = newest else { return Ok(None) };
    let mut bytes = prepare::kept_events(run.prepared, &session, &found.tip).await?;
    let view = View::of(&worker::whole_lines(&mut bytes));
    Ok(Some((session.to_string(), view)))
}

async fn status(run: &Run<'_>) -> Result<String, Trouble> {
    let mut rows = String::new();
    for number in 1..=NAMES {
        let Some(session) = run.target.session(number) else { break };
        let Some(found) = prepare::look(run.prepared, run.target, &session).await? else { break };
        let (status, commit) = match &found.record {
            Some(record) => (
                serde_json::to_value(record.status)
                    .ok()
                    .and_then(|value| value.as_str().map(str::to_owned))
                    .unwrap_or_default(),
                record.git.head_sha.short().to_owned(),
            ),
            None => ("not of regreen".to_owned(), String::new()),
        };
        rows.push_str(&format!(
            "| `{session}` | {status} | {commit} | {} | {} |\n",
            found.record.as_ref().map_or_else(String::new, |record| record.created_at.clone()),
            found.tip.short(),
        ));
    }
    if rows.is_empty() {
        return Ok("no session of this head is on a branch".into());
    }
    Ok(format!("| Session | Status | Tested | Began | Tip |\n|---|---|---|---|---|\n{rows}"))
}

async fn rollback(run: &Run<'_>, iteration: Option<u32>, login: &str) -> Result<String, Trouble> {
    let Some((name, _)) = last(run).await? else {
        return Ok("there is no fix branch to roll back".into());
    };
    let session = SessionId::parse(name).map_err(|error| {
        Trouble::environment(error.to_string(), "look at the fix branches by hand")
    })?;
    let Some(found) = prepare::look(run.prepared, run.target, &session).await? else {
        return Ok("there is no fix branch to roll back".into());
    };
    let Some(record) = found.record.filter(|_| found.ours) else {
        return Ok("the fix branch holds commits of others; it is left alone".into());
    };
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
        Err(error) => {
            return Ok(format!("{}; nothing was changed", markdown::code(&error.to_string())));
        }
    };
    let request = PushRequest {
        branch: prepare::branch(&session),
        expected: Some(found.tip),
        new: new.clone(),
        session,
        protected: vec![run.target.default_branch.clone()],
    };
    Ok(match run.prepared.remote.push(&request).await {
        Ok(Pushed::Done | Pushed::AlreadyThere) => format!(
            "iteration {number} is taken back by {}; `/regreen fix` looks for another fix",
            new.short()
        ),
        Ok(Pushed::Rejected { by, text }) => {
            format!("the server refused: {}; {}", markdown::code(&text), by.hint())
        }
        Ok(Pushed::Moved { .. }) => "the fix branch moved meanwhile; ask again".into(),
        Err(error) => format!("{}; {}", markdown::code(&error.to_string()), error.hint()),
    })
}
