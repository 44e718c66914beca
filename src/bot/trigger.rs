//! Parses an event of GitHub Actions into a trigger, a reason not to run, or an error. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::command::{self, Line};
use super::payload::{self, account, at, branch, commit, number, repository, text, wrong};
use super::permission::{Account, AccountKind};
use crate::domain::commit::is_ours;
use crate::domain::id::CommitId;

pub use super::payload::EventError;

/// An event that the bot knows.
#[derive(Clone, Copy, Debug)]
pub(super) enum EventKind {
    PullRequest,
    Dispatch,
    Comment,
    ReviewComment,
    WorkflowRun,
    Schedule,
    Push,
    MergeGroup,
}

/// The events that the bot knows, by their names.
pub(super) const EVENTS: &[(&str, EventKind)] = &[
    ("pull_request", EventKind::PullRequest),
    ("workflow_dispatch", EventKind::Dispatch),
    ("issue_comment", EventKind::Comment),
    ("pull_request_review_comment", EventKind::ReviewComment),
    ("workflow_run", EventKind::WorkflowRun),
    ("schedule", EventKind::Schedule),
    ("push", EventKind::Push),
    ("merge_group", EventKind::MergeGroup),
];

/// Dependabot runs with a read-only token and without secrets, as a fork does.
const DEPENDABOT: u64 = 49_699_333;

/// The event as the runner passes it.
#[derive(Clone, Copy, Debug)]
pub struct RawEvent<'a> {
    /// `GITHUB_EVENT_NAME`.
    pub name: &'a str,
    /// Content of the file at `GITHUB_EVENT_PATH`.
    pub payload: &'a [u8],
    /// The `GITHUB_*` variables; others are not looked at.
    pub environment: &'a BTreeMap<String, String>,
    /// The label that starts a run when it is put on a pull request.
    pub label: Option<&'a str>,
    /// Numeric ids of bots that may give commands.
    pub bots: &'a BTreeSet<u64>,
}

/// The result of reading an event.
#[derive(Clone, Debug, PartialEq)]
pub enum EventOutcome {
    /// The event asks for a run or for an answer.
    Run(Box<Trigger>),
    /// The event asks for nothing; the job succeeds and says why.
    NoRun(NoRun),
}

/// Why an event needs no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRun {
    #[error("`{action}` of this event starts nothing")]
    Action { action: String },
    #[error("the pull request is a draft; mark it ready, put the label on it, or comment")]
    Draft,
    #[error("the pull request or issue is closed")]
    Closed,
    #[error("the label is not the one that starts a run")]
    Label,
    #[error("the comment was edited or deleted; only new comments count")]
    Comment,
    #[error("the comment holds no command")]
    NoCommand,
    #[error("the comment is on an issue; commands work on pull requests")]
    PlainIssue,
    #[error("the comment was written by a bot that is not listed")]
    Bot,
    #[error("the comment or commit is regreen's own")]
    Own,
    #[error("the workflow run did not fail: {conclusion}")]
    NotFailed { conclusion: String },
    #[error("the workflow run is one of this workflow itself")]
    SameWorkflow,
    #[error("the push is not to the default branch")]
    NotDefault,
    #[error("the branch was deleted")]
    Deleted,
    #[error(
        "a commit of a merge queue gets no fix; if a rule requires the check run `regreen`, give the queue a job of that name (\"Merge queue\" in docs/github.md)"
    )]
    MergeGroup,
    #[error("there are {commits} commits of regreen on this pull request; comment to start a run")]
    TooManyOwnCommits { commits: u32 },
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// A pull request got a new head, or our label.
    PullRequest,
    /// Somebody started the workflow manually, with these inputs.
    Dispatch {
        inputs: BTreeMap<String, String>,
    },
    /// Somebody commented commands; `review` marks a review comment, which runs as `pull_request`.
    Comment {
        id: u64,
        review: bool,
        edited: bool,
        lines: Vec<Line>,
    },
    FailedRun,
    /// The schedule of the workflow is due, or the default branch moved.
    Other,
}

/// The commit under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its id. Never the merge commit that `GITHUB_SHA` names for pull requests.
    pub commit: CommitId,
    /// Its branch; `None` for a detached one or a tag.
    pub branch: Option<String>,
}

/// The branch that the head is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub branch: String,
    /// Its commit, if the event names it.
    pub commit: Option<CommitId>,
}

/// What an event asks of the bot, as far as the event says.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// What happened.
    pub cause: Cause,
    /// `owner/name` where the workflow runs.
    pub repository: String,
    /// The commit under test; `None` when only the API knows it, as for a comment.
    pub head: Option<Head>,
    /// What it is measured against.
    pub base: Option<Base>,
    pub pull_request: Option<u64>,
    /// Whether the event says that the head comes from a fork.
    pub fork: bool,
    /// Whether secrets and a token with write access can be expected.
    pub writes: bool,
    /// Who wrote the pull request or the comment.
    pub author: Option<Account>,
    /// A number that differs between runs and their attempts.
    pub seed: u64,
}

/// Parses an event.
/// Fails with [`EventError`] when the event is one regreen never runs on, or the file is not such
/// an event.
pub fn read(event: &RawEvent<'_>) -> Result<EventOutcome, EventError> {
    let kind = kind(event.name)?;
    let value = payload::parse(event.payload)?;
    classify(kind, event, &value)
}

/// The kind of an event by its name.
pub(super) fn kind(name: &str) -> Result<EventKind, EventError> {
    if name == "pull_request_target" {
        return Err(EventError::Target);
    }
    let known = || EVENTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = EVENTS.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, kind)| *kind)
        .ok_or_else(|| EventError::Event { name: short(name), known: known() })
}

/// Classifies an event whose payload is parsed already.
pub(super) fn classify(
    kind: EventKind,
    event: &RawEvent<'_>,
    value: &Value,
) -> Result<EventOutcome, EventError> {
    match kind {
        EventKind::PullRequest => pull_request(event, value),
        EventKind::Dispatch => dispatch(event, value),
        EventKind::Comment => comment(event, value, false),
        EventKind::ReviewComment => comment(event, value, true),
        EventKind::WorkflowRun => workflow_run(event, value),
        EventKind::Schedule => schedule(event, value),
        EventKind::Push => push(event, value),
        EventKind::MergeGroup => Ok(nothing(NoRun::MergeGroup)),
    }
}

fn nothing(why: NoRun) -> EventOutcome {
    EventOutcome::NoRun(why)
}

fn pull_request(event: &RawEvent<'_>, value: &Value) -> Result<EventOutcome, EventError> {
    let action = text(value, "action", "a text")?;
    let labelled = action == "labeled";
    if !labelled && !["opened", "synchronize", "reopened", "ready_for_review"].contains(&action) {
        return Ok(nothing(NoRun::Action { action: short(action) }));
    }
    if at(value, "pull_request.state").as_str() == Some("closed") {
        return Ok(nothing(NoRun::Closed));
    }
    if labelled {
        let label = text(value, "label.name", "a label")?;
        if event.label != Some(label) {
            return Ok(nothing(NoRun::Label));
        }
    } else if at(value, "pull_request.draft").as_bool() == Some(true) {
        return Ok(nothing(NoRun::Draft));
    }
    let mut trigger = common(event, value, Cause::PullRequest)?;
    of_pull_request(&mut trigger, value)?;
    trigger.author = account(value, "pull_request.user")?;
    Ok(EventOutcome::Run(Box::new(trigger)))
}

/// Sets head, base, number and fork from `pull_request`.
fn of_pull_request(trigger: &mut Trigger, value: &Value) -> Result<(), EventError> {
    trigger.fork = is_fork(trigger, value, "pull_request.head.repo")?;
    let dependabot = account(value, "sender")?.is_some_and(|actor| actor.id == DEPENDABOT);
    trigger.writes = !trigger.fork && !dependabot;
    trigger.pull_request = Some(number(value, "pull_request.number")?);
    trigger.head = Some(Head {
        commit: commit(value, "pull_request.head.sha")?,
        branch: Some(branch(value, "pull_request.head.ref")?),
    });
    trigger.base = Some(Base {
        branch: branch(value, "pull_request.base.ref")?,
        commit: Some(commit(value, "pull_request.base.sha")?),
    });
    Ok(())
}

/// Whether the head repository at `path` is another one; a deleted one counts as another.
fn is_fork(trigger: &Trigger, value: &Value, path: &str) -> Result<bool, EventError> {
    if at(value, path).is_null() {
        return Ok(true);
    }
    // Names of repositories are case-insensitive.
    let name = repository(value, &format!("{path}.full_name"))?;
    Ok(!name.eq_ignore_ascii_case(&trigger.repository))
}

fn dispatch(event: &RawEvent<'_>, value: &Value) -> Result<EventOutcome, EventError> {
    let mut inputs = BTreeMap::new();
    match at(value, "inputs") {
        Value::Null => {}
        Value::Object(map) => {
            for (name, value) in map {
                let text = match value {
                    Value::String(text) => text.clone(),
                    Value::Bool(flag) => flag.to_string(),
                    Value::Number(number) => number.to_string(),
                    Value::Null => continue,
                    _ => {
                        return Err(EventError::Field {
                            field: format!("inputs.{}", short(name)),
                            expected: "a text, a number, true or false",
                            found: "a list or an object",
                        });
                    }
                };
                inputs.insert(name.clone(), text);
            }
        }
        _ => return Err(wrong(value, "inputs", "names with texts")),
    }
    let reference = text(value, "ref", "a branch or tag")?;
    let mut trigger = common(event, value, Cause::Dispatch { inputs })?;
    let name = reference.strip_prefix("refs/heads/");
    trigger.head = Some(Head {
        commit: variable_commit(event)?,
        branch: name.filter(|name| payload::is_branch(name)).map(str::to_owned),
    });
    Ok(EventOutcome::Run(Box::new(trigger)))
}

fn comment(event: &RawEvent<'_>, value: &Value, review: bool) -> Result<EventOutcome, EventError> {
    let action = text(value, "action", "a text")?;
    if action != "created" {
        return Ok(nothing(NoRun::Comment));
    }
    let issue = if review { "pull_request" } else { "issue" };
    if !review && !at(value, "issue.pull_request").is_object() {
        text(value, "issue.state", "a text")?;
        return Ok(nothing(NoRun::PlainIssue));
    }
    let body = match at(value, "comment.body") {
        Value::Null => return Ok(nothing(NoRun::NoCommand)),
        _ => text(value, "comment.body", "a text")?,
    };
    if body.contains("<!-- regreen:") {
        return Ok(nothing(NoRun::Own));
    }
    let author = account(value, "comment.user")?;
    if author
        .as_ref()
        .is_some_and(|who| who.kind == AccountKind::Bot && !event.bots.contains(&who.id))
    {
        return Ok(nothing(NoRun::Bot));
    }
    let lines = command::read(body);
    if lines.is_empty() {
        return Ok(nothing(NoRun::NoCommand));
    }
    if at(value, &format!("{issue}.state")).as_str() == Some("closed") {
        return Ok(nothing(NoRun::Closed));
    }
    let edited = at(value, "comment.created_at") != at(value, "comment.updated_at");
    let id = number(value, "comment.id")?;
    let mut trigger = common(event, value, Cause::Comment { id, review, edited, lines })?;
    trigger.author = author;
    if review {
        of_pull_request(&mut trigger, value)?;
    } else {
        trigger.pull_request = Some(number(value, "issue.number")?);
    }
    Ok(EventOutcome::Run(Box::new(trigger)))
}

fn workflow_run(event: &RawEvent<'_>, value: &Value) -> Result<EventOutcome, EventError> {
    let action = text(value, "action", "a text")?;
    if action != "completed" {
        return Ok(nothing(NoRun::Action { action: short(action) }));
    }
    let conclusion = match at(value, "workflow_run.conclusion") {
        Value::Null => "none",
        _ => text(value, "workflow_run.conclusion", "a text")?,
    };
    if conclusion != "failure" {
        return Ok(nothing(NoRun::NotFailed { conclusion: short(conclusion) }));
    }
    let name = at(value, "workflow_run.name").as_str();
    if name.is_some() && name == event.environment.get("GITHUB_WORKFLOW").map(String::as_str) {
        return Ok(nothing(NoRun::SameWorkflow));
    }
    if is_own(at(value, "workflow_run.head_commit.message")) {
        return Ok(nothing(NoRun::Own));
    }
    let mut trigger = common(event, value, Cause::FailedRun)?;
    trigger.fork = is_fork(&trigger, value, "workflow_run.head_repository")?;
    trigger.head = Some(Head {
        commit: commit(value, "workflow_run.head_sha")?,
        branch: match at(value, "workflow_run.head_branch") {
            Value::Null => None,
            _ => Some(branch(value, "workflow_run.head_branch")?),
        },
    });
    if let [(number, base)] = run_pull_requests(value)?.as_slice() {
        (trigger.pull_request, trigger.base) = (Some(*number), Some(base.clone()));
    }
    Ok(EventOutcome::Run(Box::new(trigger)))
}

/// Pull requests that a run names, with bases; empty for forks, perhaps of other repositories.
fn run_pull_requests(value: &Value) -> Result<Vec<(u64, Base)>, EventError> {
    let here = at(value, "repository.id");
    let mut pulls = Vec::new();
    let list = at(value, "workflow_run.pull_requests");
    if !(list.is_null() || list.is_array()) {
        return Err(wrong(value, "workflow_run.pull_requests", "a list"));
    }
    for one in list.as_array().into_iter().flatten().filter(|one| !one.is_null()).take(100) {
        let elsewhere = at(one, "base.repo.id");
        if !elsewhere.is_null() && elsewhere != here {
            continue;
        }
        let base =
            Base { branch: branch(one, "base.ref")?, commit: Some(commit(one, "base.sha")?) };
        pulls.push((number(one, "number")?, base));
    }
    Ok(pulls)
}

fn schedule(event: &RawEvent<'_>, value: &Value) -> Result<EventOutcome, EventError> {
    text(value, "schedule", "a cron line")?;
    let mut trigger = common(event, value, Cause::Other)?;
    let name = event.environment.get("GITHUB_REF_NAME").filter(|name| payload::is_branch(name));
    // GitHub runs schedules on the default branch only.
    let branch = default_branch(value)?.or_else(|| name.cloned());
    trigger.head = Some(Head { commit: variable_commit(event)?, branch });
    Ok(EventOutcome::Run(Box::new(trigger)))
}

fn push(event: &RawEvent<'_>, value: &Value) -> Result<EventOutcome, EventError> {
    let reference = text(value, "ref", "a branch or tag")?;
    let main = branch(value, "repository.default_branch")?;
    if at(value, "deleted").as_bool() == Some(true) {
        return Ok(nothing(NoRun::Deleted));
    }
    if reference.strip_prefix("refs/heads/") != Some(main.as_str()) {
        return Ok(nothing(NoRun::NotDefault));
    }
    if is_own(at(value, "head_commit.message")) {
        return Ok(nothing(NoRun::Own));
    }
    let mut trigger = common(event, value, Cause::Other)?;
    trigger.head = Some(Head { commit: commit(value, "after")?, branch: Some(main) });
    Ok(EventOutcome::Run(Box::new(trigger)))
}

/// Creates a trigger with the fields that all events share.
fn common(event: &RawEvent<'_>, value: &Value, cause: Cause) -> Result<Trigger, EventError> {
    let variable = |name: &str| event.environment.get(name).map(String::as_str);
    let repository = match at(value, "repository") {
        Value::Null => variable("GITHUB_REPOSITORY")
            .filter(|name| payload::is_repository(name))
            .ok_or(EventError::Variable { name: "GITHUB_REPOSITORY", expected: "owner/name" })?
            .to_owned(),
        _ => repository(value, "repository.full_name")?,
    };
    let whole = |name: &str| variable(name).and_then(|text| text.parse::<u64>().ok());
    default_branch(value)?;
    account(value, "sender")?;
    Ok(Trigger {
        cause,
        repository,
        head: None,
        base: None,
        pull_request: None,
        fork: false,
        writes: true,
        author: None,
        seed: whole("GITHUB_RUN_ID").unwrap_or(0) ^ whole("GITHUB_RUN_ATTEMPT").unwrap_or(1),
    })
}

fn default_branch(value: &Value) -> Result<Option<String>, EventError> {
    let named = !at(value, "repository.default_branch").is_null();
    named.then(|| branch(value, "repository.default_branch")).transpose()
}

fn variable_commit(event: &RawEvent<'_>) -> Result<CommitId, EventError> {
    let refused = EventError::Variable { name: "GITHUB_SHA", expected: "40 hexadecimal digits" };
    let text = event.environment.get("GITHUB_SHA").ok_or_else(|| refused.clone())?;
    CommitId::parse(text.as_str()).map_err(|_bad| refused)
}

/// Whether a commit message is one of ours (specification.md 8.10).
fn is_own(message: &Value) -> bool {
    is_ours(message.as_str().unwrap_or_default())
}

/// Untrusted text for a sentence: one line, at most 60 characters.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}
