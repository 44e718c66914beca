//! Selects the session that a run starts or continues, and checks out its head.

use crate::adapter::repo::RepositoryFacts;
use crate::domain::command::Command;
use crate::domain::id::{CommitId, SessionId};
use crate::domain::integration::records::Adjustment;
use crate::report::markdown::prose;

use super::context::Context;
use super::error::BotError;
use super::fix_branch::{self, FixBranch, StartPoint, choose_start};
use super::session_snapshots::{self, PendingSession};
use super::sessions::{self, NAMES, check_out, names, newest_pending, read_view};

/// What the worker is started for.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// A new session that fixes.
    Fix,
    /// A session that continues from its branch.
    ContinueFix,
    /// A new session that writes tests for this description.
    Test(String),
    /// A new session that plans tests for this description.
    Plan(String),
    /// A session that continues from its snapshot.
    ContinueTest,
    /// A new session that writes integration tests of this module.
    Integration(String),
    /// One that continues, with a design that a person confirms or adjusts.
    ContinueIntegration { adjustment: Option<Adjustment>, approves: bool },
    /// A run that changes nothing.
    Explain,
}

impl Task {
    /// Whether the session writes tests.
    pub fn writes_tests(&self) -> bool {
        !matches!(self, Self::Fix | Self::ContinueFix | Self::Explain)
    }

    /// Whether the session was begun by an earlier run.
    pub fn is_continued(&self) -> bool {
        matches!(self, Self::ContinueFix | Self::ContinueTest | Self::ContinueIntegration { .. })
    }
}

/// A run that is about to start.
pub struct Start {
    pub session: SessionId,
    /// The tip of the fix branch; `None` without one.
    pub expected: Option<CommitId>,
    /// What the worker is started for.
    pub task: Task,
    /// The checkout.
    pub facts: RepositoryFacts,
    /// What the gates criticise that a person approved.
    pub approved: Vec<String>,
}

/// The result of a command that asks for a run.
pub enum Started {
    Run(Box<Start>),
    /// No run starts; the text says why.
    Reply(String),
}

/// Why a pending session cannot be continued on this head; `None` when it can.
pub fn obstacle(pending: &PendingSession, head: &CommitId) -> Option<String> {
    let tested = &pending.record.git.head_sha;
    (tested != head).then(|| {
        let is_integration = pending.session.is_integration();
        let again = if is_integration { "integration` designs" } else { "plan` plans" };
        format!(
            "{} plans tests for {}, but the head is now {}; `/regreen {again} them again",
            pending.session,
            tested.short(),
            head.short()
        )
    })
}

/// Chooses the session of a command and checks its head out.
pub async fn choose(
    context: &Context<'_>,
    command: &Command,
    limit: Option<u32>,
) -> Result<Started, BotError> {
    let approves = command.run_flags().is_some_and(|flags| flags.yes);
    if let Command::Run { .. } = command {
        return match newest_pending(context).await? {
            Some(pending) => {
                let approves = approves || pending.integration.is_some();
                continue_pending(context, &pending, approves, None)
            }
            None => Ok(Started::Reply("There is no plan; `/regreen plan INPUT` makes one.".into())),
        };
    }
    let candidates: Vec<SessionId> = match command {
        Command::Resume { session: Some(session), .. } => vec![session.clone()],
        Command::Resume { session: None, .. } => {
            sessions::known(context).await?.into_iter().map(|known| known.session).collect()
        }
        _ => names(context).filter(|name| !name.is_integration()).collect(),
    };
    if candidates.is_empty() && names(context).next().is_none() {
        return Ok(Started::Reply(
            "The name of this branch cannot be turned into a session id; rename the branch.".into(),
        ));
    }
    let resume = matches!(command, Command::Resume { .. });
    let replaces_plans =
        matches!(command, Command::Test { .. } | Command::Plan { .. } | Command::Explain { .. });
    let mut refused = None;
    for session in candidates {
        let found = fix_branch::read(context.prepared, context.target, &session).await?;
        if found.is_none()
            && !replaces_plans
            && let Some(pending) = session_snapshots::pending(context.prepared, &session).await?
        {
            if resume && pending.has_more_to_do() {
                match obstacle(&pending, &context.target.head) {
                    None => return continue_pending(context, &pending, approves, None),
                    Some(why) => drop(refused.get_or_insert(why)),
                }
            }
            // A fix session does not share its name with a planning session.
            continue;
        }
        if !resume && found.is_none() && sessions::is_number_taken(context, &session).await? {
            continue;
        }
        let makes_tests = matches!(command, Command::Test { .. } | Command::Plan { .. });
        if found.is_none() && makes_tests && holds_result(context, &session).await? {
            continue;
        }
        if resume
            && found.is_none()
            && !session_snapshots::exists(context.prepared, &session).await?
        {
            break;
        }
        let (mut task, start) =
            match plan_start(command, found.as_ref(), &context.target.head, limit) {
                Ok((_, StartPoint::Elsewhere)) => continue,
                Ok(plan) => plan,
                // A later session may be the one that was stopped.
                Err(why) if resume => {
                    refused.get_or_insert(why);
                    continue;
                }
                Err(why) => return Ok(Started::Reply(why)),
            };
        if session.is_integration() {
            task = Task::ContinueIntegration { adjustment: None, approves };
        }
        let branch = session.branch();
        let (expected, others) = match start {
            StartPoint::Resume { tip } => (Some(tip.clone()), vec![(branch, tip)]),
            StartPoint::New { replaces } => (replaces, vec![]),
            StartPoint::Elsewhere => continue,
        };
        let facts = check_out(context, others)?;
        let start = Start { session, expected, task, facts, approved: vec![] };
        return Ok(Started::Run(Box::new(start)));
    }
    Ok(Started::Reply(if resume {
        let why = refused.unwrap_or_else(|| "There is no stopped session of this head".to_owned());
        format!("{why}; `/regreen fix` starts a new run.")
    } else {
        format!("There are {NAMES} branches of other sessions; delete some of them.")
    }))
}

/// Whether a session has a result that is stored until somebody applies it.
pub async fn holds_result(context: &Context<'_>, session: &SessionId) -> Result<bool, BotError> {
    let view = read_view(context, session, None).await?;
    Ok(sessions::stored_result(context, &view).await?.is_some())
}

/// Decides what a command does with the fix branch of one session name.
fn plan_start(
    command: &Command,
    found: Option<&FixBranch>,
    head: &CommitId,
    limit: Option<u32>,
) -> Result<(Task, StartPoint), String> {
    let new = StartPoint::New { replaces: None };
    Ok(match command {
        Command::Explain { .. } => (Task::Explain, new),
        // A test session never replaces a fix.
        Command::Test { what, .. } if found.is_none() => (Task::Test(what.clone()), new),
        Command::Plan { what, .. } if found.is_none() => (Task::Plan(what.clone()), new),
        Command::Test { .. } | Command::Plan { .. } => (Task::Fix, StartPoint::Elsewhere),
        Command::Recreate { .. } => {
            let start = match found {
                Some(found) if found.ours => StartPoint::New { replaces: Some(found.tip.clone()) },
                Some(_) => StartPoint::Elsewhere,
                None => new,
            };
            (Task::Fix, start)
        }
        _ => {
            let resume = matches!(command, Command::Resume { .. });
            let start = choose_start(found, head, resume, limit)?;
            let continues = matches!(start, StartPoint::Resume { .. });
            (if continues { Task::ContinueFix } else { Task::Fix }, start)
        }
    })
}

/// Continues a session that has no branch. One that a gate holds back needs an approval.
pub fn continue_pending(
    context: &Context<'_>,
    pending: &PendingSession,
    approves: bool,
    adjustment: Option<Adjustment>,
) -> Result<Started, BotError> {
    if let Some(why) = obstacle(pending, &context.target.head) {
        return Ok(Started::Reply(format!("{why}.")));
    }
    let approved = pending.held().unwrap_or_default().to_vec();
    if !approved.is_empty() && !approves {
        return Ok(Started::Reply(format!(
            "{} is held back: {}. `/regreen resume --yes` runs the suite with its tests all the same; `/regreen test INPUT` writes them anew.",
            pending.session,
            prose(&approved.join("; "), 500)
        )));
    }
    let facts = check_out(context, vec![])?;
    session_snapshots::restore(&facts, pending).map_err(|error| {
        BotError::environment(
            format!("the files of the session cannot be written: {error}"),
            "make the folder of REGREEN_WORK_DIR writable",
        )
    })?;
    let session = pending.session.clone();
    let task = match &pending.integration {
        None => Task::ContinueTest,
        Some(_) => Task::ContinueIntegration { adjustment, approves },
    };
    Ok(Started::Run(Box::new(Start { session, expected: None, task, facts, approved })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::command::Flags;
    use crate::domain::session::{SessionStatus, samples};

    #[test]
    fn tests_never_replace_a_fix_and_recreate_spares_foreign_branches() {
        let id = |digit: char| CommitId::parse(digit.to_string().repeat(40)).unwrap();
        let found = |ours| FixBranch {
            tip: id('e'),
            record: Some(samples::record(SessionStatus::Active, &id('a'))),
            ours,
        };
        let (mine, theirs) = (found(true), found(false));
        let new = |replaces: Option<char>| StartPoint::New { replaces: replaces.map(id) };
        let flags = Flags::default;
        let what = || "x".to_owned();
        let fix = || Command::Fix { flags: flags() };
        let test = || Command::Test { what: what(), flags: flags() };
        let plan = || Command::Plan { what: what(), flags: flags() };
        let explain = || Command::Explain { flags: flags() };
        let recreate = || Command::Recreate { flags: flags() };
        let elsewhere = || (Task::Fix, StartPoint::Elsewhere);
        let table = [
            ("a plan", plan(), None, (Task::Plan(what()), new(None))),
            ("tests", test(), None, (Task::Test(what()), new(None))),
            ("beside a fix", test(), Some(&mine), elsewhere()),
            ("a look", explain(), Some(&mine), (Task::Explain, new(None))),
            ("again", recreate(), Some(&mine), (Task::Fix, new(Some('e')))),
            ("beside others", recreate(), Some(&theirs), elsewhere()),
            ("again, nothing there", recreate(), None, (Task::Fix, new(None))),
            (
                "killed",
                fix(),
                Some(&mine),
                (Task::ContinueFix, StartPoint::Resume { tip: id('e') }),
            ),
        ];
        for (why, command, found, expected) in table {
            assert_eq!(plan_start(&command, found, &id('a'), None), Ok(expected), "{why}");
        }
    }
}
