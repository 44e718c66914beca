//! `regreen action`: an event comes in, a run or an answer comes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use crate::adapter::github::{GitHub, GitHubSettings};
use crate::adapter::host::clock::HostClock;
use crate::adapter::host::http::Http;
use crate::config::Diagnostic;
use crate::domain::check::Level;
use crate::domain::request::Errand;
use crate::effect::{Clock, Forge};
use crate::report::forge_page::CommandReply;
use crate::report::workflow;

use super::answer::{self, Desk};
use super::mode::{self, Job};
use super::permission::Allowed;
use super::prepare::{self, Prepared, Unprepared};
use super::start::{Wish, Work};
use super::surroundings::Surroundings;
use super::target::{NoTarget, Target};
use super::trigger::{self, Arrival, Cause, Decision, Nothing, Trigger};
use super::validate;
use super::work;

/// Exit codes, as those of the command line.
const DONE: u8 = 0;
const USAGE: u8 = 2;
const ENVIRONMENT: u8 = 3;

/// Longest time of one call to the forge.
const ANSWER: Duration = Duration::from_mins(1);

/// Commits of ours on one pull request after which only people start runs there: whatever makes
/// it red again and again, more of the same does not help.
const OWN_COMMITS: u32 = 100;

/// The label that starts a run when nothing else is configured.
const LABEL: &str = "regreen";

/// What ends a run without a result.
#[derive(Debug)]
pub struct Trouble {
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// The exit code.
    pub code: u8,
    /// Problems of a configuration file, for its own lines.
    pub problems: Vec<Diagnostic>,
}

impl Trouble {
    /// What the workflow or a file says wrong.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self { message, hint, code: USAGE, problems: Vec::new() }
    }

    /// What the machine, the network or the forge lacks.
    pub fn environment(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self { message, hint, code: ENVIRONMENT, problems: Vec::new() }
    }
}

impl From<Unprepared> for Trouble {
    fn from(error: Unprepared) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        match error {
            Unprepared::Configuration(problems) => Self { message, hint, code: USAGE, problems },
            _ => Self::environment(message, hint),
        }
    }
}

impl From<NoTarget> for Trouble {
    fn from(error: NoTarget) -> Self {
        let hint = match &error {
            NoTarget::Forge(error) => error.hint(),
            NoTarget::Closed(_) => "reopen it first".into(),
            NoTarget::Branch(_) => "name a branch of this repository in `ref`".into(),
            NoTarget::Nothing => "start it from a pull request, a branch or a comment".into(),
        };
        match error {
            NoTarget::Forge(_) => Self::environment(error.to_string(), hint),
            _ => Self::usage(error.to_string(), hint),
        }
    }
}

/// Runs an errand and answers with the exit code.
pub async fn run(errand: Errand) -> u8 {
    let clock = HostClock::start();
    match attempt(errand, &clock).await {
        Ok(code) => code,
        Err(trouble) => {
            for problem in &trouble.problems {
                let (file, line, _, message) = problem.annotation();
                let line = u32::try_from(line).unwrap_or(1);
                println!(
                    "{}",
                    workflow::remark(Level::Failure, Some((file, line)), "regreen", message)
                );
            }
            let text = format!("{}; {}", trouble.message, trouble.hint);
            println!("{}", workflow::remark(Level::Failure, None, "regreen", &text));
            trouble.code
        }
    }
}

/// Everything a run has at hand.
pub struct Run<'a> {
    /// What the runner handed over.
    pub around: &'a Surroundings,
    /// What happened.
    pub trigger: &'a Trigger,
    /// What is tested.
    pub target: &'a Target,
    /// Its repository and configuration.
    pub prepared: &'a Prepared,
    /// The forge; `None` when nothing may be said there.
    pub forge: &'a dyn Forge,
    /// Who may command.
    pub allowed: &'a Allowed,
    /// Time and signals.
    pub clock: &'a dyn Clock,
}

async fn attempt(errand: Errand, clock: &HostClock) -> Result<u8, Trouble> {
    let around = Surroundings::read()
        .map_err(|wrong| Trouble::usage(wrong.join("\n"), "mend the step of the workflow"))?;
    for line in around.token.iter().flat_map(|token| workflow::mask(token.expose())) {
        println!("{line}");
    }
    let known = whom_it_names(&around.payload);
    let label = known.label.as_deref();
    let trigger = match decide(&around, label, &known.authors)? {
        Ok(trigger) => trigger,
        Err(nothing) => return Ok(rest(&nothing)),
    };
    let token = around.token.clone().ok_or_else(|| {
        Trouble::usage("there is no token", "pass `token: ${{ github.token }}` to the step")
    })?;
    let http = Http::new().map_err(|error| {
        Trouble::environment(error.to_string(), "check the certificates and the proxy settings")
    })?;
    let settings = GitHubSettings {
        api_url: around.api().to_owned(),
        server_url: around.server().to_owned(),
        repository: trigger.repository.clone(),
        token,
        login: None,
        deadline: None,
        answer_limit: ANSWER,
        seed: trigger.delivery.run ^ trigger.delivery.attempt,
    };
    let forge = GitHub::new(&http, settings, clock)
        .map_err(|error| Trouble::usage(error.to_string(), "check GITHUB_API_URL"))?;
    let mut target = Target::find(&trigger, &forge).await?;
    let prepared = prepare::prepare(&around, &http, &mut target).await?;
    let label = prepared.settings.label.as_deref().unwrap_or(LABEL);
    let commands = prepared.settings.commands.clone().unwrap_or_default();
    let allowed = Allowed::new(&commands.allowed(), &commands.teams.clone().unwrap_or_default());
    if let Err(nothing) = decide(&around, Some(label), &allowed.bots)? {
        return Ok(rest(&nothing));
    }
    let by_itself = matches!(trigger.cause, Cause::PullRequest { .. } | Cause::FailedRun { .. });
    let message = prepared.bench.message_of(&target.head).unwrap_or_default();
    if by_itself && message.lines().skip(1).any(|line| line.starts_with("Regreen-Session:")) {
        return Ok(rest(&Nothing::Own));
    }
    if by_itself && let Some(number) = target.number.filter(|_| target.writes) {
        let activity = forge.own_activity(number, "<!-- regreen:", "Regreen-Session:").await;
        // What cannot be counted does not stop anybody.
        let commits = activity.map_or(0, |activity| activity.commits);
        if commits > OWN_COMMITS {
            return Ok(rest(&Nothing::Enough { commits }));
        }
    }
    let run = Run {
        around: &around,
        trigger: &trigger,
        target: &target,
        prepared: &prepared,
        forge: &forge,
        allowed: &allowed,
        clock,
    };
    if let Errand::Publish(folder) = &errand {
        return work::publish_folder(&run, folder).await;
    }
    if around.text("mode") == Some("publish") {
        let folder = around.folder("bundle").ok_or_else(|| {
            Trouble::usage("`mode: publish` needs `bundle`", "name the folder with the bundle")
        })?;
        return work::publish_folder(&run, &folder).await;
    }
    let (wish, desk) = wanted(&run).await?;
    match wish {
        Some(wish) => work::run(&run, &wish, desk).await,
        None => answer::post(&run, desk).await,
    }
}

/// What is asked for: a run, and answers that need none.
async fn wanted(run: &Run<'_>) -> Result<(Option<Wish>, Desk), Trouble> {
    if let Cause::Comment { id, review, edited, lines } = &run.trigger.cause {
        return answer::read(run, *id, *review, *edited, lines).await;
    }
    let mut desk = Desk::default();
    let job = mode::job(&run.around.inputs).map_err(|(wrong, hint)| Trouble::usage(wrong, hint))?;
    let work = match job {
        Job::Fix => Work::Fix,
        Job::Test(what) => Work::Test(what),
        Job::Plan(what) => Work::Plan(what),
        Job::Resume(session) => {
            return Ok((Some(Wish { work: Work::Resume, session, ..Wish::default() }), desk));
        }
        Job::Status => return Ok((None, desk)),
        Job::Validate => {
            let asked = run.prepared.settings.validate.clone().unwrap_or_default();
            let (strict, fix) = (asked.strict == Some(true), asked.fix == Some(true));
            let said = validate::validate(run, strict, fix).await?;
            let command = "mode: validate".to_owned();
            desk.answers.push(CommandReply { asker: String::new(), command, reply: said.text });
            desk.failed = !said.met;
            return Ok((None, desk));
        }
    };
    Ok((Some(Wish { work, ..Wish::default() }), desk))
}

fn rest(nothing: &Nothing) -> u8 {
    println!("regreen: nothing to do: {nothing}");
    DONE
}

fn decide(
    around: &Surroundings,
    label: Option<&str>,
    bots: &BTreeSet<u64>,
) -> Result<Result<Trigger, Nothing>, Trouble> {
    let environment: BTreeMap<String, String> = around.variables.clone();
    let arrival = Arrival {
        event: around.get("GITHUB_EVENT_NAME"),
        payload: &around.payload,
        environment: &environment,
        label,
        bots,
    };
    match trigger::read(&arrival) {
        Ok(Decision::Run(trigger)) => Ok(Ok(*trigger)),
        Ok(Decision::Nothing(nothing)) => Ok(Err(nothing)),
        Err(refusal) => Err(Trouble::usage(refusal.to_string(), refusal.hint())),
    }
}

/// What an event names: the configuration says later whether it counts, and the event says where
/// the configuration is.
#[derive(Default)]
struct Named {
    label: Option<String>,
    authors: BTreeSet<u64>,
}

fn whom_it_names(payload: &[u8]) -> Named {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(payload) else {
        return Named::default();
    };
    Named {
        label: value.pointer("/label/name").and_then(|name| name.as_str()).map(str::to_owned),
        authors: value
            .pointer("/comment/user/id")
            .and_then(serde_json::Value::as_u64)
            .into_iter()
            .collect(),
    }
}

/// Adds lines to one of the files that the runner reads after the step.
pub fn append(path: &str, text: &str) {
    if path.is_empty() || text.is_empty() {
        return;
    }
    if let Err(error) = crate::adapter::host::files::append(Path::new(path), text) {
        println!(
            "{}",
            workflow::remark(Level::Warning, None, "regreen", &format!("{path}: {error}"))
        );
    }
}
