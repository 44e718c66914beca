//! Runs one command: starts the worker process, and publishes its commits while it works.

use std::path::Path;

use crate::adapter::host::console::println;
use crate::adapter::repo;
use crate::domain::check::Level;
use crate::domain::command::Command;
use crate::domain::event::Ending;
use crate::domain::integration::records::Adjustment;
use crate::report::forge_page::{CommandReply, JobFailure};
use crate::report::markdown::{line, prose};
use crate::report::phrases::sentence;
use crate::report::{explanation, runner_commands};

use super::bundle::{deliver, exit_code, keep, save_events};
use super::command::{PREFIX, SHOWN};
use super::commands::issues;
use super::commits::{Commits, Published};
use super::context::Context;
use super::day_budget::DayBudget;
use super::earlier_result::EarlierResult;
use super::error::BotError;
use super::handle_comment;
use super::integration_choice::choose_session;
use super::job;
use super::limits::{self, Destination};
use super::memory;
use super::prepare;
use super::publish::Publisher;
use super::replies::Replies;
use super::session_choice::{Start, Started, Task};
use super::session_snapshots::{self, SessionMirror};
use super::sessions::read_view;
use super::supervise::Supervisor;
use super::worker::{self, Worker};

/// Runs a command to its end and publishes the result.
pub async fn run(
    context: &Context<'_>,
    command: &Command,
    mut replies: Replies,
) -> Result<u8, BotError> {
    let settings = &context.prepared.settings;
    let ceiling = limits::ceiling(settings);
    let flags = command.run_flags().cloned().unwrap_or_default();
    let (mut granted, above) = flags.within(&ceiling);
    if let Some(earlier) = EarlierResult::find(context, command).await? {
        return earlier.offer(context, replies.answers).await;
    }
    let start = match choose_session(context, command, granted.max_iterations).await? {
        Started::Run(start) => *start,
        Started::Reply(why) => {
            replies.add(format!("{PREFIX} {}", name_of(command)), why);
            return handle_comment::post(context, replies).await;
        }
    };
    if !start.approved.is_empty() {
        let gates = prose(&start.approved.join("; "), 500);
        let text = format!("Approved, although a gate is not met: {gates}.");
        replies.add(format!("{PREFIX} {} --yes", name_of(command)), text);
    }
    let folder = prepare::folder(context.target);
    let bundle = context.env.folder("bundle").unwrap_or_else(|| folder.join("bundle"));
    let destination = limits::destination(context, command);
    let mut commits =
        Commits::new(context, &start.session, destination, start.expected.clone(), &start.facts);
    let answers = std::mem::take(&mut replies.answers);
    let mut publisher = open_publisher(context, &start, answers).await?;
    let notices = &mut publisher.view.notices;
    notices.extend(context.prepared.notices.iter().cloned());
    notices.extend(notices_of(flags.dry_run, &above));
    let (day, before) = (DayBudget::read(context).await?, publisher.view.spent.micro_usd);
    if let Some(day) = &day {
        granted.usd = Some(day.allows(granted.usd, before));
        publisher.view.notices.push(day.notice());
    }
    let memory = memory::source(context).await;
    let job = job::of_run(context, &start, &granted, &flags, (&bundle, memory))?;
    publisher.limits = granted;
    publisher.begin().await;
    let environment = worker::run_environment(context);
    let output = folder.join("said.json");
    let mut mirror = mirror(context, &start, destination, &bundle);
    let worked = match Worker::start(&job, environment, &folder, &bundle, &output).await {
        Ok(mut worker) => {
            let followed = Supervisor {
                commits: &mut commits,
                publisher: &mut publisher,
                mirror: &mut mirror,
            }
            .follow(context, &mut worker, &bundle)
            .await;
            followed.map(|code| (code, worker.problem()))
        }
        Err(error) => {
            let message = format!("the worker cannot start: {error}");
            Err(BotError::environment(message, "check the image"))
        }
    };
    if let Some(day) = &day {
        let spent = publisher.view.spent.micro_usd.saturating_sub(before);
        day.add(context, &publisher.session, spent).await;
    }
    let (code, problem) = worked.unwrap_or_else(|error| {
        let code = i32::from(error.class.exit_code());
        (code, Some((error.message, error.hint)))
    });
    if publisher.view.outcome.is_none() {
        let unknown = || {
            let message = format!("the worker ended with code {code} and no result");
            (message, "look at the log of this run".to_owned())
        };
        let (message, hint) = problem.unwrap_or_else(unknown);
        publisher.failure = Some(JobFailure::NoResult { message, hint });
    }
    deliver(context, &mut commits, &mut publisher, &bundle).await;
    if commits.published.is_publishable_later() {
        keep(context, &mut publisher, &bundle);
    }
    memory::save(context, &bundle, destination).await;
    if start.task == Task::Explain {
        return explain(context, &publisher, replies, code).await;
    }
    if destination != Destination::Nowhere {
        save_session(context, &start, mirror, &mut publisher, &commits.published, &bundle).await;
    }
    answer_with_plan(&start, &mut publisher, &replies.asker);
    let expand = settings.expand.as_deref().unwrap_or_default();
    issues::add_configured(&publisher, expand, &mut replies);
    issues::open(context, &publisher.view, publisher.pull, &mut replies).await;
    publisher.answers.append(&mut replies.answers);
    publisher.end().await;
    Ok(exit_code(publisher.state(), code))
}

/// The publisher of a run that is about to start, with what is known of its session.
async fn open_publisher<'a>(
    context: &'a Context<'a>,
    start: &Start,
    answers: Vec<CommandReply>,
) -> Result<Publisher<'a>, BotError> {
    let mut publisher = Publisher::new(context, start.session.to_string(), answers);
    publisher.find_earlier_work().await;
    // Until a run that writes tests runs the suite, it knows nothing of the head.
    publisher.keeps_check = start.task.writes_tests();
    publisher.is_silent = start.task == Task::Explain;
    if start.task.is_continued() {
        publisher.view = read_view(context, &start.session, start.expected.as_ref()).await?;
        // The earlier end is over, whatever becomes of this run.
        publisher.view.outcome = None;
    }
    Ok(publisher)
}

/// Answers with the explanation of a run that changed nothing, without touching comment or check.
async fn explain(
    context: &Context<'_>,
    publisher: &Publisher<'_>,
    mut replies: Replies,
    code: i32,
) -> Result<u8, BotError> {
    let reply = match &publisher.failure {
        Some(JobFailure::NoResult { message, hint }) => {
            let log = format!("{}; {}", line(message, 500), line(hint, 300));
            println!("{}", runner_commands::remark(Level::Failure, None, "regreen", &log));
            let text = |text: &str| prose(&sentence(text), 500);
            format!("{}. {}.", text(message), text(hint))
        }
        _ => explanation::markdown(&publisher.view),
    };
    replies.answers.splice(0..0, publisher.answers.iter().cloned());
    replies.add(format!("{PREFIX} explain"), reply);
    publisher.write();
    handle_comment::post(context, replies).await?;
    Ok(exit_code(publisher.state(), code))
}

/// The name of a command that starts a run, as a person writes it.
fn name_of(command: &Command) -> &'static str {
    match command {
        Command::Test { .. } => "test",
        Command::Plan { .. } => "plan",
        Command::Run { .. } => "run",
        Command::Integration { .. } => "integration",
        Command::Confirm { .. } => "confirm",
        Command::Adjust { .. } => "adjust",
        Command::Resume { .. } => "resume",
        Command::Explain { .. } => "explain",
        Command::Recreate { .. } => "recreate",
        _ => "fix",
    }
}

/// What the flags of a command change, for people.
fn notices_of(dry_run: bool, above: &[&str]) -> Vec<String> {
    let dry = dry_run.then(|| "This is a dry run: nothing is pushed or stored.".to_owned());
    let limited = (!above.is_empty()).then(|| {
        format!(
            "{} exceeds the limit of the configuration, which applies instead.",
            above.join(", ")
        )
    });
    dry.into_iter().chain(limited).collect()
}

/// Saves the state of a session that writes tests until its branch carries it.
fn mirror(
    context: &Context<'_>,
    start: &Start,
    destination: Destination,
    bundle: &Path,
) -> Option<SessionMirror> {
    // A branch carries the state of its session.
    let has_snapshot = start.task.writes_tests() && start.expected.is_none();
    if !has_snapshot || destination == Destination::Nowhere {
        return None;
    }
    let read = |file: &str| repo::committed_text(&start.facts, file);
    let protect = context.prepared.settings.protected(None, &read);
    Some(SessionMirror::new(context, &start.session, &start.facts, bundle.to_owned(), protect))
}

/// Saves what later commands need to know about the session.
async fn save_session(
    context: &Context<'_>,
    start: &Start,
    mirror: Option<SessionMirror>,
    publisher: &mut Publisher<'_>,
    published: &Published,
    bundle: &Path,
) {
    match mirror {
        // In all other cases the branch carries the state, or the session is over.
        Some(mut mirror) if published.tip.is_none() && !publisher.is_met() => {
            mirror.save_if_changed(context, true).await;
            publisher.view.notices.extend(mirror.notice.take());
            publisher.is_held = mirror.latest.is_some_and(|pending| pending.held().is_some());
        }
        _ => save_events(context, &start.session, bundle).await,
    }
}

/// Shows the plan of a run that ended with one.
fn answer_with_plan(start: &Start, publisher: &mut Publisher<'_>, asker: &str) {
    let ended = publisher.view.outcome.as_ref().map(|outcome| outcome.result);
    if ended != Some(Ending::Planned) {
        return;
    }
    let command = match &start.task {
        Task::Plan(what) => format!("{PREFIX} plan {what}"),
        Task::Test(what) => format!("{PREFIX} test {what}"),
        Task::ContinueTest => format!("{PREFIX} run"),
        Task::Integration(module) => format!("{PREFIX} integration {module}"),
        Task::ContinueIntegration { adjustment: None, .. } => format!("{PREFIX} continue"),
        Task::ContinueIntegration { adjustment: Some(Adjustment { part, text }), .. } => {
            format!("{PREFIX} adjust {part}: {text}")
        }
        Task::Fix | Task::ContinueFix | Task::Explain => return,
    };
    let files = session_snapshots::local_files(&start.facts, &start.session);
    let pending = files.and_then(|files| session_snapshots::parse(&start.session, files));
    let Some(pending) = pending else { return };
    publisher.show_phases(pending.pipeline.as_ref());
    if let Some(reply) = pending.describe_plan() {
        let command = command.chars().take(SHOWN).collect();
        publisher.answers.push(CommandReply { asker: asker.to_owned(), command, reply });
    }
}
