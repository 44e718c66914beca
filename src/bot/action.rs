//! Entry point of `regreen action`: turns the event of the runner into a run or a reply.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::adapter::github::{GitHub, GitHubSettings};
use crate::adapter::host::clock::HostClock;
use crate::adapter::host::console::{self, println};
use crate::adapter::host::http::Http;
use crate::adapter::repo::RetryWaits;
use crate::domain::check::Level;
use crate::domain::commit;
use crate::effect::{CommentKind, Forge};
use crate::report::runner_commands;

use super::bundle;
use super::context::Context;
use super::environment::ActionEnv;
use super::error::BotError;
use super::handle_comment::{self, CommandComment, Request};
use super::mode;
use super::permission::AllowList;
use super::prepare;
use super::target::Target;
use super::trigger::{self, Cause, EventOutcome, NoRun, RawEvent, Trigger};

const CALL_LIMIT: Duration = Duration::from_mins(1);

/// Our commits on a pull request after which only people start runs, as fixes do not help.
const OWN_COMMITS: u32 = 100;

/// The label that starts a run unless another one is configured.
const LABEL: &str = "regreen";

/// Handles the runner's event, or publishes a folder's bundle; returns the exit code.
pub async fn run(bundle: Option<PathBuf>) -> u8 {
    let clock = HostClock::start();
    match Box::pin(handle(bundle, &clock)).await {
        Ok(code) => code,
        Err(error) => {
            for problem in &error.problems {
                let (file, line, _, message) = problem.annotation();
                let line = u32::try_from(line).unwrap_or(1);
                let (place, text) = match line {
                    0 => (None, format!("{file}: {message}")),
                    _ => (Some((file, line)), message.to_owned()),
                };
                println!("{}", runner_commands::remark(Level::Failure, place, "regreen", &text));
            }
            let text = format!("{}; {}", error.message, error.hint);
            println!("{}", runner_commands::remark(Level::Failure, None, "regreen", &text));
            error.class.exit_code()
        }
    }
}

async fn handle(bundle: Option<PathBuf>, clock: &HostClock) -> Result<u8, BotError> {
    let env = ActionEnv::read()
        .map_err(|wrong| BotError::usage(wrong.join("\n"), "fix this step in the workflow file"))?;
    for line in env.token.iter().flat_map(|token| runner_commands::mask(token.expose())) {
        console::write_mask(&line);
    }
    let (label, authors) = names_in(&env.payload);
    let trigger = match classify(&env, label.as_deref(), &authors)? {
        EventOutcome::Run(trigger) => *trigger,
        EventOutcome::NoRun(why) => return Ok(skip(&why)),
    };
    let http = Http::new().map_err(|error| {
        BotError::environment(error.to_string(), "check the certificates and the proxy settings")
    })?;
    let forge = open_forge(&env, &trigger, &http, clock)?;
    let mut target = Target::find(&trigger, &forge).await?;
    let waits = RetryWaits { clock: Arc::new(clock.clone()), seed: trigger.seed };
    let prepared = prepare::prepare(&env, &http, waits, &mut target).await?;
    let label = prepared.settings.label.as_deref().unwrap_or(LABEL);
    let commands = prepared.settings.commands.clone().unwrap_or_default();
    let allowed = AllowList::new(&commands.allowed(), &commands.teams.clone().unwrap_or_default());
    if let EventOutcome::NoRun(why) = classify(&env, Some(label), &allowed.bots)? {
        return Ok(skip(&why));
    }
    let automatic = matches!(trigger.cause, Cause::PullRequest | Cause::FailedRun);
    let message = prepared.clone.message_of(&target.head).unwrap_or_default();
    if automatic && commit::is_ours(&message) {
        return Ok(skip(&NoRun::Own));
    }
    if automatic && let Some(number) = target.number.filter(|_| target.writes) {
        let mark = format!("{}:", commit::SESSION);
        // If the commits cannot be counted, the run goes ahead.
        let commits = forge.marked_commits(number, &mark).await.unwrap_or(0);
        if commits > OWN_COMMITS {
            return Ok(skip(&NoRun::TooManyOwnCommits { commits }));
        }
    }
    let context = Context {
        env: &env,
        trigger: &trigger,
        target: &target,
        prepared: &prepared,
        forge: &forge,
        allowed: &allowed,
        clock,
    };
    if let Some(folder) = bundle {
        return bundle::publish_folder(&context, &folder).await;
    }
    if env.text("mode") == Some("publish") {
        let folder = env.folder("bundle").ok_or_else(|| {
            BotError::usage("`mode: publish` needs `bundle`", "name the folder of the bundle")
        })?;
        return bundle::publish_folder(&context, &folder).await;
    }
    let request = read_request(&context).await?;
    match request.run {
        Some(command) => Box::pin(super::run::run(&context, &command, request.replies)).await,
        None => handle_comment::post(&context, request.replies).await,
    }
}

fn open_forge<'a>(
    env: &ActionEnv,
    trigger: &Trigger,
    http: &Http,
    clock: &'a HostClock,
) -> Result<GitHub<'a>, BotError> {
    let token = env.token.clone().ok_or_else(|| {
        BotError::usage("the step has no token", "pass `token: ${{ github.token }}` to the step")
    })?;
    let settings = GitHubSettings {
        api_url: env.api().to_owned(),
        server_url: env.server().to_owned(),
        repository: trigger.repository.clone(),
        token,
        login: None,
        deadline: None,
        answer_limit: CALL_LIMIT,
        seed: trigger.seed,
    };
    GitHub::new(http, settings, clock)
        .map_err(|error| BotError::usage(error.to_string(), "check GITHUB_API_URL"))
}

/// The run and the replies that the event or the inputs request.
async fn read_request(context: &Context<'_>) -> Result<Request, BotError> {
    if let Cause::Comment { id, review, edited, lines } = &context.trigger.cause {
        let kind = if *review { CommentKind::Review } else { CommentKind::Issue };
        let comment = CommandComment { id: *id, kind, edited: *edited, lines };
        handle_comment::read(context, comment).await
    } else {
        let command = mode::command(&context.env.inputs)?;
        handle_comment::read_mode(context, command).await
    }
}

fn skip(why: &NoRun) -> u8 {
    println!("regreen: nothing to do: {why}");
    0
}

fn classify(
    env: &ActionEnv,
    label: Option<&str>,
    bots: &BTreeSet<u64>,
) -> Result<EventOutcome, BotError> {
    let event = RawEvent {
        name: env.get("GITHUB_EVENT_NAME"),
        payload: &env.payload,
        environment: &env.variables,
        label,
        bots,
    };
    trigger::read(&event).map_err(|error| BotError::usage(error.to_string(), error.hint()))
}

/// The label and author of an event; the configuration decides whether they start a run.
fn names_in(payload: &[u8]) -> (Option<String>, BTreeSet<u64>) {
    let value: serde_json::Value = serde_json::from_slice(payload).unwrap_or_default();
    let label = value.pointer("/label/name").and_then(|name| name.as_str()).map(str::to_owned);
    (
        label,
        value.pointer("/comment/user/id").and_then(serde_json::Value::as_u64).into_iter().collect(),
    )
}
