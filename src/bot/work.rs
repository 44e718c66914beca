//! One run: the working phase in a process of its own, the publishing phase here beside it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::adapter::host::files;
use crate::adapter::repo::RepositoryFacts;
use crate::domain::event::{Ending, Event};
use crate::domain::id::{CommitId, SessionId};
use crate::domain::secret::Redactor;
use crate::effect::PullState;
use crate::report::forge_page::CommandReply;
use crate::report::planning;
use crate::report::view::View;

use super::action::{Run, Trouble};
use super::answer::{self, Desk};
use super::argv;
use super::command::{PREFIX, SHOWN};
use super::commits::{Commits, Goes, Published};
use super::issues;
use super::kept::{self, Keeper, Kept};
use super::limits;
use super::prepare;
use super::publish::Publisher;
use super::start::{Call, Start, Wish, start};
use super::watch::Watch;
use super::worker::{self, Code, Worker};

/// How long a push that failed for a passing reason waits.
pub(super) const AGAIN: Duration = Duration::from_secs(10);

/// Attempts to push at the end.
const LAST_ATTEMPTS: u32 = 3;

/// Runs the working phase to its end and publishes what comes of it.
pub async fn run(run: &Run<'_>, wish: &Wish, mut desk: Desk) -> Result<u8, Trouble> {
    let settings = &run.prepared.settings;
    let ceiling = limits::ceiling(settings);
    let (granted, above) = wish.flags.within(&ceiling);
    let start = match start(run, wish, granted.max_iterations).await? {
        Ok(start) => start,
        Err(why) => {
            let reply = format!("{why}; `{PREFIX} fix` begins anew");
            desk.answers.push(CommandReply {
                asker: String::new(),
                command: "resume".into(),
                reply,
            });
            return answer::post(run, desk).await;
        }
    };
    let place = prepare::folder(run.target);
    let bundle = run.around.folder("bundle").unwrap_or_else(|| place.join("bundle"));
    let configuration = configuration(run)?;
    let arguments = argv::arguments(run, wish, &start, &granted, &bundle, &configuration);
    let goes = limits::destination(run, wish);
    let mut commits = commits(run, &start.session, goes, start.expected.clone(), &start.facts)?;
    let mut publisher =
        Publisher::new(run, start.session.to_string(), std::mem::take(&mut desk.answers));
    publisher.limits = granted;
    if matches!(start.call, Call::FixAgain | Call::TestAgain) {
        let tip = start.expected.as_ref();
        let mut bytes = kept::events(run.prepared, &start.session, tip).await?;
        publisher.view = View::of(&worker::whole_lines(&mut bytes));
    }
    publisher.view.notices.extend(run.prepared.notices.iter().cloned());
    if wish.flags.dry_run {
        publisher.view.notices.push("a dry run: nothing of it is pushed or kept".into());
    }
    if !above.is_empty() {
        publisher.view.notices.push(format!(
            "{} asked for more than the configuration allows; its limit holds",
            above.join(", ")
        ));
    }
    publisher.begin().await;
    let mut worker = Worker::start(
        arguments,
        worker_environment(run),
        &place,
        &bundle,
        &place.join("said.json"),
    )
    .map_err(|error| {
        Trouble::environment(format!("the working phase cannot start: {error}"), "check the image")
    })?;
    let mut keeper = keeper(run, &start, goes, &bundle)?;
    let mut watch = Watch { commits: &mut commits, publisher: &mut publisher, keeper: &mut keeper };
    let code = watch.follow(run, &mut worker, &bundle).await?;
    finish(run, &mut commits, &mut publisher, &bundle).await;
    if publisher.view.outcome.is_none() {
        publisher.problem = Some(worker.problem().unwrap_or_else(|| {
            (
                format!("the working phase ended with code {code} and no result"),
                "look at the log of this run".into(),
            )
        }));
    }
    rest(run, &start, &mut keeper, &mut publisher, &commits.published, goes, &bundle).await;
    issues::wanted(&publisher, settings.expand.as_deref().unwrap_or_default(), &mut desk);
    issues::open(run, &publisher.view, publisher.pull, &mut desk).await;
    publisher.answers.append(&mut desk.answers);
    publisher.end().await;
    Ok(exit(&publisher, code))
}

/// Writes the configuration of the base branch down for a worker: that of its checkout is the
/// change's own, and says what commands are run.
pub fn configuration(run: &Run<'_>) -> Result<PathBuf, Trouble> {
    let file = prepare::folder(run.target).join("regreen.yml");
    files::write(&file, run.prepared.text.as_bytes()).map_err(|error| io(&file, &error))?;
    Ok(file)
}

/// The environment of a worker that asks nobody: nothing in it looks like a key.
pub fn keyless_environment(run: &Run<'_>) -> std::collections::BTreeMap<String, String> {
    worker::environment(&run.around.variables, Code::Foreign, &own_keys(run))
}

/// Variables that the configuration names as keys.
fn own_keys(run: &Run<'_>) -> Vec<String> {
    let providers = run.prepared.settings.provider.iter().flatten();
    providers.filter_map(|(_, provider)| provider.key.clone()).collect()
}

/// The environment of a working phase, with the token where the configuration of the base branch
/// asks for models by it.
pub fn worker_environment(run: &Run<'_>) -> std::collections::BTreeMap<String, String> {
    let settings = &run.prepared.settings;
    let chain = settings.providers.clone().unwrap_or_default();
    let code = if run.target.foreign { Code::Foreign } else { Code::Own };
    let mut environment = worker::environment(&run.around.variables, code, &own_keys(run));
    let asked = chain.iter().any(|name| name == "github") && code == Code::Own;
    if let Some(token) = run.around.token.as_ref().filter(|_| asked) {
        environment.insert("GITHUB_TOKEN".into(), token.expose().to_owned());
    }
    environment
}

/// Keeps the state of a session that writes tests until its branch does.
fn keeper(
    run: &Run<'_>,
    start: &Start,
    goes: Goes,
    bundle: &Path,
) -> Result<Option<Keeper>, Trouble> {
    let writes = matches!(start.call, Call::Test(_) | Call::Plan(_) | Call::TestAgain);
    if !writes || goes == Goes::Nowhere {
        return Ok(None);
    }
    let globs = run.prepared.settings.protect.as_deref().unwrap_or_default();
    let protect = limits::protect(globs)?;
    Ok(Some(Keeper::new(run, &start.session, &start.facts, bundle.to_owned(), protect)))
}

/// Publishes what a working job left; runs nothing.
pub async fn publish_folder(run: &Run<'_>, folder: &Path) -> Result<u8, Trouble> {
    let wish = Wish::default();
    let goes = limits::destination(run, &wish);
    let mut publisher = taken(run, folder, goes, Vec::new()).await?;
    publisher.end().await;
    Ok(exit(&publisher, 1))
}

/// Takes a bundle over and shows its session; the last word is not said yet.
///
/// # Errors
///
/// When the folder holds no bundle, or one of another pull request.
pub async fn taken<'a>(
    run: &'a Run<'a>,
    folder: &Path,
    goes: Goes,
    answers: Vec<CommandReply>,
) -> Result<Publisher<'a>, Trouble> {
    let bytes = files::read(&folder.join(worker::EVENTS), worker::EVENTS_LIMIT)
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
    if !super::start::names(run).any(|name| name == session) {
        return Err(Trouble::usage(
            format!("the bundle is of session {session}, which is not of {}", run.target.name()),
            "publish it in the run of its own pull request",
        ));
    }
    let expected = prepare::replaced(run.prepared, run.target, &session).await?;
    let facts = super::start::check_out(run, vec![])?;
    let mut commits = commits(run, &session, goes, expected, &facts)?;
    let mut publisher = Publisher::new(run, session.to_string(), answers);
    for event in &events {
        publisher.view.add(event);
    }
    publisher.begin().await;
    finish(run, &mut commits, &mut publisher, folder).await;
    if goes != Goes::Nowhere {
        keep(run, &session, folder).await;
    }
    Ok(publisher)
}

/// What is kept at the end for the commands that come later, and the plan as an answer.
async fn rest(
    run: &Run<'_>,
    start: &Start,
    keeper: &mut Option<Keeper>,
    publisher: &mut Publisher<'_>,
    published: &Published,
    goes: Goes,
    bundle: &Path,
) {
    let ended = publisher.view.outcome.as_ref().map(|outcome| outcome.result);
    let mut seen = None;
    match keeper {
        // The branch carries the state, or the session is over.
        Some(keeper)
            if published.tip.is_none()
                && !matches!(ended, Some(Ending::Success | Ending::PartialSuccess)) =>
        {
            keeper.tick(run, true).await;
            publisher.view.notices.extend(keeper.notice.take());
            seen = keeper.seen.take();
        }
        _ if goes != Goes::Nowhere => keep(run, &start.session, bundle).await,
        _ => {}
    }
    // A plan that was asked for, or one that waits for a word.
    if ended != Some(Ending::Planned) {
        return;
    }
    let command = match &start.call {
        Call::Plan(what) => format!("{PREFIX} plan {what}"),
        Call::Test(what) => format!("{PREFIX} test {what}"),
        Call::TestAgain => format!("{PREFIX} run"),
        Call::Fix | Call::FixAgain | Call::Explain => return,
    };
    if seen.is_none() {
        // Of a dry run nothing is kept, and its plan is shown all the same.
        let folder = super::kept::local(&start.facts, &start.session);
        seen = folder.and_then(|files| kept::read(&start.session, files));
    }
    let Some(unborn) = seen else { return };
    publisher.shows(Some(&unborn.pipeline));
    if let Some(plan) = &unborn.plan {
        let reply = planning::offer(&unborn.pipeline, plan);
        let command: String = command.chars().take(SHOWN).collect();
        publisher.answers.push(CommandReply { asker: String::new(), command, reply });
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
    let sync = run.prepared.settings.sync == Some(true);
    if let Some(outcome) = publisher.view.outcome.as_ref().filter(|_| met && sync) {
        let now = run.clock.now();
        commits.sync(&run.prepared.bench, outcome, now.get(..10).unwrap_or(&now)).await;
    }
    if met {
        commits.move_head().await;
    }
    publisher.sign(commits).await;
    publisher.offer(commits).await;
    commits.check(run.forge, run.prepared.settings.check_workflow.as_deref()).await;
    publisher.take_over(&commits.published);
    publisher.describe(commits).await;
}

/// Keeps the events for the commands that come later.
async fn keep(run: &Run<'_>, session: &SessionId, bundle: &Path) {
    let events = kept::lines(bundle);
    if events.is_empty() {
        return;
    }
    let kept = Kept { events, ..Kept::default() };
    if let Err(error) = kept::keep(run.prepared, session, &kept).await {
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

pub fn commits<'a>(
    run: &'a Run<'_>,
    session: &SessionId,
    goes: Goes,
    expected: Option<CommitId>,
    facts: &'a RepositoryFacts,
) -> Result<Commits<'a>, Trouble> {
    Ok(Commits {
        remote: &run.prepared.remote,
        bench: &run.prepared.bench,
        facts,
        target: run.target,
        session: session.clone(),
        branch: prepare::branch(session),
        base: run.prepared.base.clone(),
        goes,
        protect: limits::protect(run.prepared.settings.protect.as_deref().unwrap_or_default())?,
        reach: run.prepared.settings.scope().reach_of_session(),
        redactor: Redactor::new(&run.around.token),
        scratch: prepare::folder(run.target).join("scratch"),
        expected,
        published: Published::default(),
        diff: Vec::new(),
        signed: run.prepared.settings.signed == Some(true),
        offered: None,
        seen: None,
        carried: None,
    })
}

pub(super) fn io(path: &Path, error: &std::io::Error) -> Trouble {
    Trouble::environment(format!("{}: {error}", path.display()), "make the folder writable")
}

/// The open pull request with the fix of a session.
pub async fn fix_pull(run: &Run<'_>, session: &str) -> Option<u64> {
    let owner = run.target.repository.split('/').next()?;
    let pulls = run.forge.pulls_of_head(owner, &format!("regreen/{session}")).await.ok()?;
    pulls.iter().find(|pull| pull.state == PullState::Open).map(|pull| pull.number)
}
