//! Executes the commands of a comment: replies to them, and starts at most one run.

use crate::adapter::host::console::println;
use crate::domain::command::{Command, Flags};
use crate::effect::{CommentKind, ForgeError, ForgeErrorKind, Reaction};
use crate::report::final_state::FinalState;
use crate::report::view::View;

use super::authority;
use super::bundle::WITH_OTHERS;
use super::command::{self, Line};
use super::commands::{apply, extend, fix_branch, issues, plan, status, validate};
use super::context::Context;
use super::error::BotError;
use super::publish::Publisher;
use super::replies::Replies;
use super::session_choice::obstacle;
use super::session_snapshots::PendingSession;
use super::sessions;

/// A comment with commands.
#[derive(Clone, Copy)]
pub struct CommandComment<'a> {
    pub id: u64,
    /// Where it was written.
    pub kind: CommentKind,
    /// Whether it was edited after it was posted.
    pub edited: bool,
    pub lines: &'a [Line],
}

/// The run to start and the replies to post.
#[derive(Default)]
pub struct Request {
    pub run: Option<Command>,
    /// The answers to the other commands.
    pub replies: Replies,
}

/// The result of one command.
enum Outcome {
    Run(Command),
    /// It is answered at once.
    Reply(String),
    /// It requests follow-up issues, which are opened at the end.
    Issues,
}

/// Reads the commands of a comment, reacts to it, and answers those that need no run.
pub async fn read(context: &Context<'_>, comment: CommandComment<'_>) -> Result<Request, BotError> {
    let author = context.trigger.author.as_ref();
    let login = author.map_or("", |author| author.login.as_str());
    let decision = authority::decide(context.forge, context.allowed, author, comment.edited).await;
    if let Err(reason) = decision {
        println!("regreen: this comment may not give commands: {reason}");
        react(context, comment, Reaction::ThumbsDown).await;
        let replies = Replies { silent: true, ..Replies::default() };
        return Ok(Request { run: None, replies });
    }
    react(context, comment, Reaction::Eyes).await;
    let mut request = Request::default();
    request.replies.asker = login.to_owned();
    for line in comment.lines {
        let outcome = match &line.command {
            Ok(command) => answer(context, command, login, &mut request.replies).await?,
            Err(problem) => Outcome::Reply(problem.to_string()),
        };
        let reply = match outcome {
            Outcome::Issues => continue,
            Outcome::Run(command) if request.run.is_none() => {
                request.run = Some(command);
                continue;
            }
            Outcome::Run(_) => {
                "A comment starts one run, which comes first. Repeat this command when it ends."
                    .into()
            }
            Outcome::Reply(reply) => reply,
        };
        request.replies.add(line.text.clone(), reply);
    }
    if request.run.is_some() {
        react(context, comment, Reaction::Rocket).await;
    } else if comment.lines.iter().all(|line| line.command.is_err()) {
        react(context, comment, Reaction::Confused).await;
    }
    Ok(request)
}

/// Executes one command, unless it starts a run.
async fn answer(
    context: &Context<'_>,
    command: &Command,
    login: &str,
    replies: &mut Replies,
) -> Result<Outcome, BotError> {
    Ok(Outcome::Reply(match command {
        Command::Fix { .. }
        | Command::Recreate { .. }
        | Command::Explain { .. }
        | Command::Test { .. }
        | Command::Plan { .. }
        | Command::Run { .. }
        | Command::Integration { .. }
        | Command::Confirm { .. }
        | Command::Adjust { .. }
        | Command::Resume { .. } => return Ok(Outcome::Run(command.clone())),
        Command::Extend { flags } => match extend::files_of_fixes(context).await? {
            Some(what) => {
                // The fix that changed these files waits; the head is still red without it.
                let flags = Flags { only_missing: true, ..flags.clone() };
                return Ok(Outcome::Run(Command::Test { what, flags }));
            }
            None => "No fix changed a file here. `/regreen test INPUT` names what to test.".into(),
        },
        Command::Issue { dimensions } => {
            replies.issues.extend(dimensions);
            return Ok(Outcome::Issues);
        }
        Command::Help => command::help(),
        Command::Status => status::status(context).await?,
        Command::Stop => status::stop_session(context).await?,
        Command::Rollback { iteration } => {
            fix_branch::rollback(context, *iteration, login, &mut replies.shown).await?
        }
        Command::Report => match sessions::newest(context).await? {
            Some(_) => "This comment is the report of the last session.".into(),
            None => "There is no session to report on.".into(),
        },
        Command::Apply { commit } => apply::apply(context, commit).await?,
        Command::ShowPlan => plan::show_plan(context).await?,
        Command::Cancel => plan::cancel(context).await?,
        Command::Validate { strict, fix } => validate::validate(context, *strict, *fix).await?.text,
        Command::Estimate => status::estimate(context).await?,
        Command::Rebase => fix_branch::rebase(context, replies).await?,
        Command::Complete => fix_branch::complete(context, login, replies).await?,
        Command::Sync => fix_branch::sync(context, replies).await?,
    }))
}

/// The request of a job that no comment started.
pub async fn read_mode(context: &Context<'_>, command: Command) -> Result<Request, BotError> {
    let mut request = Request::default();
    match command {
        Command::Status => {
            let text = status::status(context).await?;
            request.replies.add("mode: status", text);
        }
        Command::Validate { strict, fix } => {
            let verdict = validate::validate(context, strict, fix).await?;
            request.replies.add("mode: validate", verdict.text);
            request.replies.failed = !verdict.met;
        }
        command => request.run = Some(command),
    }
    Ok(request)
}

/// Posts the replies above the report of the last session.
pub async fn post(context: &Context<'_>, mut replies: Replies) -> Result<u8, BotError> {
    if replies.silent {
        return Ok(0);
    }
    let (mut session, mut view, mut branch) = (String::new(), View::default(), None);
    for known in sessions::known(context).await?.into_iter().rev() {
        if replies.shown.as_ref().is_some_and(|shown| *shown != known.session) {
            continue;
        }
        view = known.view(context).await?;
        session = known.session.to_string();
        branch = known.branch;
        // Repairs of a validation are a session without events, behind which the last run stands.
        if !view.session.is_empty() {
            break;
        }
    }
    let pull = sessions::fix_pull(context, &session).await;
    issues::open(context, &view, pull, &mut replies).await;
    let mut publisher = Publisher::new(context, session.clone(), replies.answers);
    publisher.view = view;
    publisher.find_earlier_work().await;
    let tip = publisher.view.outcome.as_ref().and_then(|outcome| outcome.tip.clone());
    match (&branch, tip) {
        (Some(branch), tested) => {
            let clone = &context.prepared.clone;
            if tested.is_some_and(|tested| !clone.contains(&branch.tip, &tested)) {
                let why = "the branch does not hold the commits that were tested";
                publisher.incomplete = Some(why.to_owned());
            } else if !branch.ours {
                publisher.incomplete = Some(WITH_OTHERS.to_owned());
            }
            publisher.show_branch(&branch.tip, pull);
        }
        (None, _) => {
            if let Some(tip) = sessions::stored_result(context, &publisher.view).await? {
                publisher.show_stored(tip);
            }
        }
    }
    if publisher.state() == Some(FinalState::Planned) {
        let pending = sessions::newest_pending(context).await?;
        let waits = |one: &PendingSession| obstacle(one, &context.target.head).is_none();
        publisher.plan_is_gone = !pending.as_ref().is_some_and(waits);
    }
    if publisher.state() == Some(FinalState::Stopped) {
        let pending = sessions::newest_pending(context).await?;
        publisher.is_held = pending.is_some_and(|one| one.held().is_some());
    }
    if publisher.state() == Some(FinalState::Reverted) {
        // Nothing ran since, which the check of the head and the fix itself have to say too. A head
        // that the session did not test has a check of its own.
        publisher.keeps_check = publisher.view.head.as_ref() != Some(&context.target.head);
        publisher.settle().await;
    }
    publisher.answers_only().await;
    if let Some(tip) = &replies.new_tip {
        publisher.check_fix([tip]).await;
    }
    Ok(u8::from(replies.failed))
}

async fn react(context: &Context<'_>, comment: CommandComment<'_>, reaction: Reaction) {
    match context.forge.react(comment.kind, comment.id, reaction).await {
        Ok(()) | Err(ForgeError { kind: ForgeErrorKind::DeniedBefore, .. }) => {}
        Err(error) => tracing::warn!("the comment got no reaction: {error}; {}", error.hint()),
    }
}
