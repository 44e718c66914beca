//! One run: the working phase in a process of its own, the publishing phase here beside it.

use std::path::Path;
use std::time::Duration;

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::adapter::host::files;
use crate::adapter::repo::{BenchOf, RepositoryFacts};
use crate::config::Settings;
use crate::config::inputs::{self, Inputs, Value};
use crate::config::precedence::{self, Effective};
use crate::domain::command::{Ceiling, Flags};
use crate::domain::event::{Ending, Event};
use crate::domain::guard::Reach;
use crate::domain::id::{CommitId, SessionId};
use crate::domain::secret::Redactor;
use crate::effect::PullState;
use crate::report::comment::Answer;
use crate::report::view::View;

use super::action::{Run, Trouble};
use super::answer::{self, Desk};
use super::commits::{Commits, Goes};
use super::issues;
use super::prepare;
use super::publish::Publisher;
use super::stop::StopComments;
use super::target::{Begin, begin};
use super::worker::{self, Worker};

/// How often the working phase is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// How long a push that failed for a passing reason waits.
const AGAIN: Duration = Duration::from_secs(10);

/// Attempts to push at the end.
const LAST_ATTEMPTS: u32 = 3;

/// Events of a run that are read, and those that are kept for later, in bytes.
const EVENTS_LIMIT: u64 = 256 << 20;
const KEPT_LIMIT: usize = 4 << 20;

/// Further names that a session may take.
const NAMES: u32 = 20;

/// What a run is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// Go on with a stopped session.
    pub resume: bool,
    /// This one.
    pub session: Option<SessionId>,
    /// Flags of the comment.
    pub flags: Flags,
    /// What tests are asked for; `None` fixes.
    pub what: Option<String>,
}

/// A run that is about to start.
struct Start {
    session: SessionId,
    /// Where the fix branch stands; `None` without one.
    expected: Option<CommitId>,
    resume: bool,
    facts: RepositoryFacts,
}

/// Runs the working phase to its end and publishes what comes of it.
pub async fn run(run: &Run<'_>, wish: &Wish, mut desk: Desk) -> Result<u8, Trouble> {
    let settings = &run.prepared.settings;
    let effective =
        precedence::effective(&std::collections::BTreeMap::new(), &run.around.inputs, settings);
    let ceiling = ceiling(&effective, settings.budget.as_ref());
    let (limits, above) = wish.flags.within(&ceiling);
    let start = match start(run, wish, limits.max_iterations).await? {
        Ok(start) => start,
        Err(why) => {
            let reply = format!("{why}; `/regreen fix` begins anew");
            desk.answers.push(Answer { asker: String::new(), command: "resume".into(), reply });
            return answer::post(run, desk).await;
        }
    };
    let place = prepare::folder(run.target);
    let bundle = run.around.folder("bundle").unwrap_or_else(|| place.join("bundle"));
    let configuration = place.join("regreen.yml");
    files::write(&configuration, run.prepared.text.as_bytes())
        .map_err(|error| io(&configuration, &error))?;
    let arguments = arguments(run, wish, &start, &limits, &bundle, &configuration);
    let engine = settings.engine.clone().unwrap_or_default();
    let mut environment = worker::environment(&run.around.variables);
    if let Some(token) =
        run.around.token.as_ref().filter(|_| engine.iter().any(|name| name == "github"))
    {
        // Asked for by the configuration of the base branch.
        environment.insert("GITHUB_TOKEN".into(), token.expose().to_owned());
    }
    let patches = wish.flags.suggest || wish.flags.dry_run;
    let goes = match goes(run, &effective) {
        _ if patches => Goes::Nowhere,
        // Tests that were written are offered, not put where their author did not ask for them.
        Goes::Head if wish.what.is_some() => Goes::Branch,
        goes => goes,
    };
    let mut commits = commits(run, &start.session, goes, start.expected.clone(), &start.facts)?;
    let mut publisher =
        Publisher::new(run, start.session.to_string(), std::mem::take(&mut desk.answers));
    publisher.limits = limits;
    if let Some(tip) = start.expected.as_ref().filter(|_| start.resume) {
        let mut bytes = prepare::kept_events(run.prepared, &start.session, tip).await?;
        publisher.view = View::of(&worker::whole_lines(&mut bytes));
    }
    publisher.view.notices.extend(run.prepared.notices.iter().cloned());
    publisher.view.notices.extend(not_obeyed(wish));
    if !above.is_empty() {
        publisher.view.notices.push(format!(
            "{} asked for more than the configuration allows; its limit holds",
            above.join(", ")
        ));
    }
    publisher.begin().await;
    let mut worker =
        Worker::start(arguments, environment, &place, &bundle, &place.join("said.json")).map_err(
            |error| {
                Trouble::environment(
                    format!("the working phase cannot start: {error}"),
                    "check the image",
                )
            },
        )?;
    let code = watch(run, &mut worker, &mut commits, &mut publisher, &bundle).await?;
    finish(run, &mut commits, &mut publisher, &bundle).await;
    if publisher.view.outcome.is_none() {
        publisher.problem = Some(worker.problem().unwrap_or_else(|| {
            (
                format!("the working phase ended with code {code} and no result"),
                "look at the log of this run".into(),
            )
        }));
    }
    keep(run, &start.session, &bundle, goes).await;
    let dimensions = effective.iter().find(|one| one.key == "expand");
    issues::wanted(&publisher, dimensions, &mut desk);
    issues::open(run, &publisher.view, publisher.pull, &mut desk).await;
    publisher.answers.append(&mut desk.answers);
    publisher.end().await;
    Ok(exit(&publisher, code))
}

/// Publishes what a working job left; runs nothing.
pub async fn publish_folder(run: &Run<'_>, folder: &Path) -> Result<u8, Trouble> {
    let settings = &run.prepared.settings;
    let effective =
        precedence::effective(&std::collections::BTreeMap::new(), &run.around.inputs, settings);
    let bytes = files::read(&folder.join(worker::EVENTS), EVENTS_LIMIT)
        .map_err(|error| io(folder, &error))?;
    let mut bytes = bytes.ok_or_else(|| {
        Trouble::usage(
            format!("{} holds no bundle", folder.display()),
            "name the folder that `mode: work` wrote",
        )
    })?;
    let events = worker::whole_lines(&mut bytes);
    let session = events.iter().find_map(|event| match event {
        Event::Opened { session, .. } => SessionId::parse(session.as_str()).ok(),
        _ => None,
    });
    let session = session.ok_or_else(|| {
        Trouble::usage("the bundle tells of no session", "run `mode: work` again")
    })?;
    let mine = (1..=NAMES).any(|number| run.target.session(number).as_ref() == Some(&session));
    if !mine {
        return Err(Trouble::usage(
            format!("the bundle is of session {session}, which is not of {}", run.target.name()),
            "publish it in the run of its own pull request",
        ));
    }
    let found = prepare::look(run.prepared, run.target, &session).await?;
    let expected = match begin(found.as_ref(), &run.target.head, false, None) {
        Ok(Begin::New { replaces }) => replaces,
        Ok(Begin::Resume { tip }) => Some(tip),
        Ok(Begin::Elsewhere) | Err(_) => None,
    };
    let facts = run
        .prepared
        .bench
        .check_out(&BenchOf {
            head: run.target.head.clone(),
            branch: "regreen-head".into(),
            others: vec![],
        })
        .map_err(prepare::Unprepared::from)?;
    let mut commits = commits(run, &session, goes(run, &effective), expected, &facts)?;
    let mut publisher = Publisher::new(run, session.to_string(), Vec::new());
    for event in &events {
        publisher.view.add(event);
    }
    publisher.begin().await;
    finish(run, &mut commits, &mut publisher, folder).await;
    keep(run, &session, folder, goes(run, &effective)).await;
    publisher.end().await;
    Ok(exit(&publisher, 1))
}

/// Follows the working phase to its end.
async fn watch(
    run: &Run<'_>,
    worker: &mut Worker,
    commits: &mut Commits<'_>,
    publisher: &mut Publisher<'_>,
    bundle: &Path,
) -> Result<i32, Trouble> {
    let (mut told, mut owed, mut tried) = (false, false, Duration::ZERO);
    let mut stops = StopComments::new(run);
    loop {
        let ended = worker.ended().map_err(|error| io(bundle, &error))?;
        for event in worker.events().map_err(|error| io(bundle, &error))? {
            owed |=
                matches!(event, Event::IterationEnded(_) | Event::Minimised(_) | Event::Closed(_));
            publisher.add(&event);
        }
        if let Some(code) = ended {
            return Ok(code);
        }
        let now = run.clock.elapsed();
        if owed && (tried.is_zero() || now >= tried + AGAIN) {
            match commits.publish(bundle).await {
                Ok(_) => (owed, tried) = (false, Duration::ZERO),
                Err(error) => {
                    tracing::warn!(error, "the commits are pushed later");
                    tried = now;
                }
            }
            if !told && !commits.signed {
                publisher.offer(commits).await;
            }
        }
        let asked = stops.asked(run).await;
        if let Some(who) = &asked {
            publisher.view.notices.push(format!("stopped, as {who} asked"));
        }
        if (run.clock.stop_requested() || asked.is_some()) && !told {
            worker.stop();
            told = true;
        }
        if !told {
            publisher.tick().await;
        }
        run.clock.wait(LOOK).await;
    }
}

/// The last commits, with patience while there is time.
async fn finish(
    run: &Run<'_>,
    commits: &mut Commits<'_>,
    publisher: &mut Publisher<'_>,
    bundle: &Path,
) {
    for attempt in 1..=LAST_ATTEMPTS {
        match commits.publish(bundle).await {
            Ok(_) => break,
            Err(error) if attempt == LAST_ATTEMPTS || run.clock.stop_requested() => {
                commits.published.held = Some(format!(
                    "the commits could not be pushed: {error}; `/regreen fix` tries again"
                ));
                break;
            }
            Err(_) => run.clock.wait(AGAIN / 2).await,
        }
    }
    let met =
        publisher.view.outcome.as_ref().is_some_and(|outcome| {
            matches!(outcome.result, Ending::Success | Ending::PartialSuccess)
        });
    let sync = run.around.inputs.get("sync") == Some(&Value::Flag(true));
    if let Some(outcome) = publisher.view.outcome.as_ref().filter(|_| met && sync) {
        let now = run.clock.now();
        commits.sync(&run.prepared.bench, outcome, now.get(..10).unwrap_or(&now)).await;
    }
    if met {
        commits.move_head().await;
    }
    publisher.sign(commits).await;
    publisher.offer(commits).await;
    commits.check(run.forge, run.around.text("check-workflow")).await;
    publisher.take_over(&commits.published);
    publisher.describe(commits).await;
}

/// Keeps the events for the commands that come later.
async fn keep(run: &Run<'_>, session: &SessionId, bundle: &Path, goes: Goes) {
    if goes == Goes::Nowhere {
        return;
    }
    let bytes = files::read(&bundle.join(worker::EVENTS), EVENTS_LIMIT).ok().flatten();
    let mut bytes = bytes.unwrap_or_default();
    let lines: Vec<String> = worker::whole_lines(&mut bytes)
        .iter()
        .filter(|event| !matches!(event, Event::Progress { .. } | Event::Step { .. }))
        .filter_map(|event| serde_json::to_string(event).ok())
        .collect();
    let text = lines.join("\n") + "\n";
    if text.len() > KEPT_LIMIT || lines.is_empty() {
        return;
    }
    if let Err(error) = prepare::keep_events(run.prepared, session, text.as_bytes()).await {
        tracing::warn!(%error, "later commands know less of this session");
    }
}

fn exit(publisher: &Publisher<'_>, code: i32) -> u8 {
    match publisher.view.outcome.as_ref().map(|outcome| outcome.result) {
        Some(Ending::Failure) => 1,
        // A stop at a checkpoint is not a red job: the session goes on (product.md 9.3).
        Some(_) => 0,
        None => u8::try_from(code).ok().filter(|code| (1..=3).contains(code)).unwrap_or(3),
    }
}

/// Chooses the session, and checks its head out.
async fn start(
    run: &Run<'_>,
    wish: &Wish,
    limit: Option<u32>,
) -> Result<Result<Start, String>, Trouble> {
    for number in 1..=NAMES {
        let session = match &wish.session {
            Some(session) => session.clone(),
            None => match run.target.session(number) {
                Some(session) => session,
                None => return Ok(Err("the branch has no name a session could take".into())),
            },
        };
        let found = prepare::look(run.prepared, run.target, &session).await?;
        let begun = match begin(found.as_ref(), &run.target.head, wish.resume, limit) {
            Ok(Begin::Elsewhere) => continue,
            Ok(begun) => begun,
            Err(why) => return Ok(Err(why)),
        };
        let branch = prepare::branch(&session);
        let (expected, others, resume) = match begun {
            Begin::Resume { tip } => (Some(tip.clone()), vec![(branch, tip)], true),
            Begin::New { replaces } => (replaces, vec![], false),
            Begin::Elsewhere => continue,
        };
        let of = BenchOf {
            head: run.target.head.clone(),
            branch: run.target.head_branch.clone().unwrap_or_else(|| "regreen-head".into()),
            others,
        };
        let facts = run.prepared.bench.check_out(&of).map_err(prepare::Unprepared::from)?;
        return Ok(Ok(Start { session, expected, resume, facts }));
    }
    Ok(Err("too many branches of others have the names that sessions take".into()))
}

fn arguments(
    run: &Run<'_>,
    wish: &Wish,
    start: &Start,
    limits: &Ceiling,
    bundle: &Path,
    configuration: &Path,
) -> Vec<String> {
    if let Some(what) = &wish.what {
        return testing(run, what, start, limits, bundle, configuration);
    }
    let mut arguments: Vec<String> = vec![
        "fix".into(),
        start.facts.root.display().to_string(),
        "--json".into(),
        "--config".into(),
        configuration.display().to_string(),
        "--bundle".into(),
        bundle.display().to_string(),
        if start.resume { "--resume".into() } else { "--session".into() },
        start.session.to_string(),
    ];
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            arguments.extend([flag.to_owned(), value]);
        }
    };
    add("--base", run.prepared.base.as_ref().map(ToString::to_string));
    add("--max-iterations", limits.max_iterations.map(|number| number.to_string()));
    add("--budget-minutes", limits.minutes.map(|number| number.to_string()));
    add("--budget-usd", limits.usd.map(|number| number.to_string()));
    add("--budget-tokens", limits.tokens.map(|number| number.to_string()));
    add("--budget-calls", limits.calls.map(|number| number.to_string()));
    arguments.extend(sets(&run.around.inputs));
    if wish.flags.no_minimise {
        arguments.push("--no-minimise".into());
    }
    arguments
}

/// The arguments of a run that writes tests. What the comment says comes last, behind the mark
/// that ends all flags.
fn testing(
    run: &Run<'_>,
    what: &str,
    start: &Start,
    limits: &Ceiling,
    bundle: &Path,
    configuration: &Path,
) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "test",
        "--json",
        "--fresh",
        "--repository",
        &start.facts.root.display().to_string(),
        "--config",
        &configuration.display().to_string(),
        "--bundle",
        &bundle.display().to_string(),
        "--session",
        start.session.as_str(),
    ]
    .map(str::to_owned)
    .into();
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            arguments.extend([flag.to_owned(), value]);
        }
    };
    add("--max-iterations", limits.max_iterations.map(|number| number.to_string()));
    arguments.extend(sets(&run.around.inputs));
    arguments.extend(["--".to_owned(), what.to_owned()]);
    arguments
}

/// Inputs as the working phase is told them: each as the key of the file it wins over.
fn sets(inputs: &Inputs) -> Vec<String> {
    let overrides = inputs::overrides(inputs);
    overrides.iter().map(|one| format!("--set={}={}", one.key, one.value)).collect()
}

/// Flags that ask for what is not built yet. Whoever asks is told, not misled.
fn not_obeyed(wish: &Wish) -> Vec<String> {
    let rules = [(wish.flags.dry_run, "`--dry-run` (nothing is pushed, and the search runs)")];
    let asked = rules.into_iter().filter(|(asked, _)| *asked);
    asked.map(|(_, what)| format!("{what} is not obeyed yet")).collect()
}

/// What the configuration grants this run.
fn ceiling(effective: &[Effective], budget: Option<&crate::config::Budget>) -> Ceiling {
    let value = |key: &str| effective.iter().find(|one| one.key == key)?.value.clone();
    let whole = |key: &str| match value(key) {
        Some(Value::Whole(number)) => Some(number),
        _ => None,
    };
    Ceiling {
        max_iterations: whole("gate.max-iterations").and_then(|number| u32::try_from(number).ok()),
        minutes: whole("budget.minutes"),
        usd: match value("budget.usd") {
            Some(Value::Amount(amount)) => Some(amount),
            _ => None,
        },
        tokens: budget.and_then(|budget| budget.tokens),
        calls: budget.and_then(|budget| budget.calls),
    }
}

fn goes(run: &Run<'_>, effective: &[Effective]) -> Goes {
    let value = |key: &str| effective.iter().find(|one| one.key == key)?.value.clone();
    let word = value("push");
    let stays = value("commit").is_some_and(|word| word != Value::Text("push".into()));
    let working = run.around.text("mode") == Some("work");
    let patches = run.around.text("fix-mode") == Some("suggest");
    // A fork gets a patch and a report: nothing of a stranger's comes into this repository.
    if !run.target.writes || run.target.foreign || working || patches || stays {
        return Goes::Nowhere;
    }
    match word {
        Some(Value::Text(word)) if word == "none" => Goes::Nowhere,
        Some(Value::Text(word)) if word == "head" => Goes::Head,
        _ => Goes::Branch,
    }
}

fn commits<'a>(
    run: &'a Run<'_>,
    session: &SessionId,
    goes: Goes,
    expected: Option<CommitId>,
    facts: &'a RepositoryFacts,
) -> Result<Commits<'a>, Trouble> {
    Ok(Commits {
        remote: &run.prepared.remote,
        facts,
        target: run.target,
        session: session.clone(),
        branch: prepare::branch(session),
        base: run.prepared.base.clone(),
        goes,
        protect: protect(run.prepared.settings.protect.as_deref().unwrap_or_default())?,
        reach: reach(&run.prepared.settings),
        redactor: Redactor::new(&run.around.token),
        scratch: prepare::folder(run.target).join("scratch"),
        expected,
        published: super::commits::Published::default(),
        diff: Vec::new(),
        signed: run.around.inputs.get("signed") == Some(&Value::Flag(true)),
        offered: None,
    })
}

/// What the fixes of a session may have changed.
fn reach(settings: &Settings) -> Reach {
    settings.scope().reach_of_session()
}

fn protect(globs: &[String]) -> Result<GlobSet, Trouble> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(Glob::new(glob).map_err(|error| {
            Trouble::usage(format!("`protect`: {error}"), "write it like `migrations/**`")
        })?);
    }
    set.build().map_err(|error| Trouble::usage(format!("`protect`: {error}"), "use fewer patterns"))
}

fn io(path: &Path, error: &std::io::Error) -> Trouble {
    Trouble::environment(format!("{}: {error}", path.display()), "make the folder writable")
}

/// The open pull request with the fix of a session.
pub async fn fix_pull(run: &Run<'_>, session: &str) -> Option<u64> {
    let owner = run.target.repository.split('/').next()?;
    let pulls = run.forge.pulls_of_head(owner, &format!("regreen/{session}")).await.ok()?;
    pulls.iter().find(|pull| pull.state == PullState::Open).map(|pull| pull.number)
}
