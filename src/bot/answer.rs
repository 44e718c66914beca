//! Commands of a comment to answers and to at most one run.

use crate::domain::command::{Command, Dimension};
use crate::domain::id::SessionId;
use crate::effect::{CommentKind, Reaction};
use crate::report::forge_page::CommandReply;
use crate::report::view::View;

use super::action::{Run, Trouble};
use super::apply;
use super::authority;
use super::chores;
use super::command::{self, Line};
use super::issues;
use super::kept;
use super::permission::Decision;
use super::prepare;
use super::publish::Publisher;
use super::start::{Wish, Work, names};
use super::validate;
use super::worker;

/// What is answered at the end of this run.
#[derive(Debug, Default)]
pub struct Desk {
    /// The answers so far.
    pub answers: Vec<CommandReply>,
    /// Follow-up issues that were asked for.
    pub issues: Vec<Dimension>,
    /// Nobody is answered: whoever asked may not.
    pub silent: bool,
    /// What the job was started for is not met.
    pub failed: bool,
}

/// Reads the commands of a comment, says at once that they were seen, and does what needs no run.
pub async fn read(
    run: &Run<'_>,
    id: u64,
    review: bool,
    edited: bool,
    lines: &[Line],
) -> Result<(Option<Wish>, Desk), Trouble> {
    let kind = if review { CommentKind::Review } else { CommentKind::Issue };
    let who = run.trigger.author.as_ref();
    let login = who.map_or("", |who| who.login.as_str());
    let decision = authority::decide(run.forge, run.allowed, who, edited).await;
    if let Decision::Refused(reason) = decision {
        println!("regreen: the command of this comment is not followed: {reason}");
        react(run, kind, id, Reaction::ThumbsDown).await;
        return Ok((None, Desk { silent: true, ..Desk::default() }));
    }
    react(run, kind, id, Reaction::Eyes).await;
    let (mut wish, mut desk) = (None, Desk::default());
    for line in lines {
        let wanted = match &line.command {
            Err(problem) => Err(problem.to_string()),
            Ok(Command::Issue { dimensions }) => {
                desk.issues.extend(dimensions);
                continue;
            }
            Ok(Command::Extend { flags }) => chores::extension(run, flags).await?,
            Ok(command) => match wish_of(command) {
                Some(wish) => Ok(wish),
                None => Err(reply(run, command, login).await?),
            },
        };
        let text = match wanted {
            Ok(_) if wish.is_some() => {
                "one run at a time; ask for this one when it has ended".into()
            }
            Ok(wanted) => {
                wish = Some(wanted);
                continue;
            }
            Err(text) => text,
        };
        let (asker, command) = (login.to_owned(), line.text.clone());
        desk.answers.push(CommandReply { asker, command, reply: text });
    }
    if wish.is_some() {
        react(run, kind, id, Reaction::Rocket).await;
    } else if lines.iter().all(|line| line.command.is_err()) {
        react(run, kind, id, Reaction::Confused).await;
    }
    Ok((wish, desk))
}

/// The run that a command asks for; `None` for one that is answered at once.
fn wish_of(command: &Command) -> Option<Wish> {
    let (work, flags) = match command {
        Command::Fix { flags } => (Work::Fix, flags),
        Command::Recreate { flags } => (Work::Anew, flags),
        Command::Explain { flags } => (Work::Explain, flags),
        Command::Test { what, flags } => (Work::Test(what.clone()), flags),
        Command::Plan { what, flags } => (Work::Plan(what.clone()), flags),
        Command::Run { flags } => (Work::Run, flags),
        Command::Resume { session, flags } => {
            let (session, flags) = (session.clone(), flags.clone());
            return Some(Wish { work: Work::Resume, session, flags });
        }
        _ => return None,
    };
    Some(Wish { work, session: None, flags: flags.clone() })
}

/// Does what a command asks for and says what came of it.
async fn reply(run: &Run<'_>, command: &Command, login: &str) -> Result<String, Trouble> {
    Ok(match command {
        Command::Help => command::help(),
        Command::Status => chores::status(run).await?,
        Command::Stop => {
            "nothing is running any more; `/regreen resume` goes on where it stopped".into()
        }
        Command::Rollback { iteration } => chores::rollback(run, *iteration, login).await?,
        Command::Report => "the report of the last session is this comment".into(),
        Command::Apply { commit } => apply::apply(run, commit).await?,
        Command::ShowPlan => chores::show_plan(run).await?,
        Command::Cancel => chores::cancel(run).await?,
        Command::Validate { strict, fix } => validate::validate(run, *strict, *fix).await?.text,
        Command::Estimate => chores::estimate(run).await?,
        Command::Rebase => chores::rebase(run).await?,
        Command::Complete => chores::complete(run, login).await?,
        Command::Sync => chores::sync(run).await?,
        Command::Later { verb } => command::later_answer(*verb),
        Command::Issue { .. }
        | Command::Fix { .. }
        | Command::Recreate { .. }
        | Command::Explain { .. }
        | Command::Test { .. }
        | Command::Plan { .. }
        | Command::Run { .. }
        | Command::Extend { .. }
        | Command::Resume { .. } => String::new(),
    })
}

/// Posts the answers, above what is known of the last session.
pub async fn post(run: &Run<'_>, mut desk: Desk) -> Result<u8, Trouble> {
    if desk.silent {
        return Ok(0);
    }
    let (session, view) = last(run)
        .await?
        .map_or_else(Default::default, |(session, view)| (session.to_string(), view));
    let pull = super::work::fix_pull(run, &session).await;
    issues::open(run, &view, pull, &mut desk).await;
    let mut publisher = Publisher::new(run, session.clone(), desk.answers);
    publisher.view = view;
    if prepare::is_on_branch(run.prepared, &session).await? {
        publisher.is_pushed(pull);
    }
    publisher.answers_only().await;
    Ok(u8::from(desk.failed))
}

async fn react(run: &Run<'_>, kind: CommentKind, id: u64, reaction: Reaction) {
    if let Err(error) = run.forge.react(kind, id, reaction).await {
        tracing::warn!(%error, "the comment got no reaction");
    }
}

/// The newest session of this target, with what is known of it.
pub async fn last(run: &Run<'_>) -> Result<Option<(SessionId, View)>, Trouble> {
    let mut newest = None;
    for session in names(run) {
        let found = prepare::look(run.prepared, run.target, &session).await?;
        if found.is_none() && !kept::is_known(run.prepared, &session).await? {
            break;
        }
        newest = Some((session, found));
    }
    let Some((session, found)) = newest else { return Ok(None) };
    let tip = found.as_ref().map(|found| &found.tip);
    let mut bytes = kept::events(run.prepared, &session, tip).await?;
    let view = View::of(&worker::whole_lines(&mut bytes));
    Ok(Some((session, view)))
}
