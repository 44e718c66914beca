//! How a run begins: which session it is, what lies on the server of it, and what is checked out.

use crate::adapter::repo::{BenchOf, RepositoryFacts};
use crate::domain::command::Flags;
use crate::domain::id::{CommitId, SessionId};

use super::action::{Run, Trouble};
use super::kept::{self, Unborn};
use super::prepare;
use super::target::{Begin, Found, begin};

/// Further names that a session may take.
pub const NAMES: u32 = 20;

/// What is done.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Work {
    /// Run the tests and fix them; a session that was killed on this head goes on.
    #[default]
    Fix,
    /// The same from the beginning.
    Anew,
    /// Go on with a stopped session.
    Resume,
    /// Run the tests and say where the failures come from.
    Explain,
    /// Write tests for something.
    Test(String),
    /// Plan such tests.
    Plan(String),
    /// Carry a plan out.
    Run,
}

/// What a run is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// What is done.
    pub work: Work,
    /// With this session.
    pub session: Option<SessionId>,
    /// Flags of the comment.
    pub flags: Flags,
}

/// How the working phase is called.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// A new session that fixes.
    Fix,
    /// One that goes on from its branch.
    FixAgain,
    /// A new session that writes tests.
    Test(String),
    /// A new session that plans them.
    Plan(String),
    /// One that goes on from what is kept of it.
    TestAgain,
    /// A look that changes nothing.
    Explain,
}

/// A run that is about to start.
pub struct Start {
    /// The session.
    pub session: SessionId,
    /// Where the fix branch stands; `None` without one.
    pub expected: Option<CommitId>,
    /// How the working phase is called.
    pub call: Call,
    /// The checkout.
    pub facts: RepositoryFacts,
}

/// The names that sessions of the target may have, in their order.
pub fn names(run: &Run<'_>) -> impl Iterator<Item = SessionId> {
    (1..=NAMES).filter_map(|number| run.target.session(number))
}

/// The newest session that plans or writes tests and has no branch yet; with what else may be
/// there under the same name.
pub async fn planned(run: &Run<'_>) -> Result<Option<Unborn>, Trouble> {
    let mut newest = None;
    for session in names(run) {
        let on_branch = prepare::look(run.prepared, run.target, &session).await?.is_some();
        let known = kept::unborn(run.prepared, &session).await?;
        if !on_branch && known.is_none() && !kept::is_known(run.prepared, &session).await? {
            break;
        }
        newest = known.filter(|_| !on_branch).or(newest);
    }
    Ok(newest)
}

/// Why a session that is kept cannot go on here; `None` when it can.
#[must_use]
pub fn obstacle(unborn: &Unborn, head: &CommitId) -> Option<String> {
    let tested = &unborn.record.git.head_sha;
    (tested != head).then(|| {
        format!(
            "{} plans tests for {}, and the head is {}; `/regreen plan` plans them anew",
            unborn.session,
            tested.short(),
            head.short()
        )
    })
}

/// Chooses the session, and checks its head out. The inner error is an answer for the comment.
///
/// # Errors
///
/// When the server or the machine does not do what is needed.
pub async fn start(
    run: &Run<'_>,
    wish: &Wish,
    limit: Option<u32>,
) -> Result<Result<Start, String>, Trouble> {
    if wish.work == Work::Run {
        let Some(unborn) = planned(run).await? else {
            return Ok(Err("there is no plan; `/regreen plan INPUT` makes one".into()));
        };
        return again(run, &unborn);
    }
    let candidates: Vec<SessionId> = match &wish.session {
        Some(session) => vec![session.clone()],
        None => names(run).collect(),
    };
    if candidates.is_empty() {
        return Ok(Err("the branch has no name a session could take".into()));
    }
    let resume = wish.work == Work::Resume;
    let mut refused = None;
    for session in candidates {
        let found = prepare::look(run.prepared, run.target, &session).await?;
        let replaces_plans = matches!(wish.work, Work::Test(_) | Work::Plan(_) | Work::Explain);
        if found.is_none()
            && !replaces_plans
            && let Some(unborn) = kept::unborn(run.prepared, &session).await?
        {
            if resume {
                return again(run, &unborn);
            }
            // A fix beside a plan has a name of its own.
            continue;
        }
        if resume && found.is_none() && !kept::is_known(run.prepared, &session).await? {
            break;
        }
        let (call, begun) = match decided(&wish.work, found.as_ref(), &run.target.head, limit) {
            Ok((_, Begin::Elsewhere)) => continue,
            Ok(decided) => decided,
            // A later one may be the one that was stopped.
            Err(why) if resume => {
                refused.get_or_insert(why);
                continue;
            }
            Err(why) => return Ok(Err(why)),
        };
        let branch = prepare::branch(&session);
        let (expected, others) = match begun {
            Begin::Resume { tip } => (Some(tip.clone()), vec![(branch, tip)]),
            Begin::New { replaces } => (replaces, vec![]),
            Begin::Elsewhere => continue,
        };
        return Ok(Ok(Start { session, expected, call, facts: check_out(run, others)? }));
    }
    if resume {
        let why = || "there is no stopped session of this head".to_owned();
        return Ok(Err(refused.unwrap_or_else(why)));
    }
    Ok(Err(format!("{NAMES} branches of other sessions are there; remove some")))
}

/// Decides how a wish begins with what lies on the fix branch of one name.
fn decided(
    work: &Work,
    found: Option<&Found>,
    head: &CommitId,
    limit: Option<u32>,
) -> Result<(Call, Begin), String> {
    let new = Begin::New { replaces: None };
    Ok(match work {
        Work::Explain => (Call::Explain, new),
        // Tests never take the place of a fix.
        Work::Test(what) if found.is_none() => (Call::Test(what.clone()), new),
        Work::Plan(what) if found.is_none() => (Call::Plan(what.clone()), new),
        Work::Test(_) | Work::Plan(_) => (Call::Fix, Begin::Elsewhere),
        Work::Anew => {
            let begun = match found {
                Some(found) if found.ours => Begin::New { replaces: Some(found.tip.clone()) },
                Some(_) => Begin::Elsewhere,
                None => new,
            };
            (Call::Fix, begun)
        }
        Work::Fix | Work::Resume | Work::Run => {
            let begun = begin(found, head, *work == Work::Resume, limit)?;
            let again = matches!(begun, Begin::Resume { .. });
            (if again { Call::FixAgain } else { Call::Fix }, begun)
        }
    })
}

/// Goes on with a session that has no branch.
fn again(run: &Run<'_>, unborn: &Unborn) -> Result<Result<Start, String>, Trouble> {
    if let Some(why) = obstacle(unborn, &run.target.head) {
        return Ok(Err(why));
    }
    let facts = check_out(run, vec![])?;
    kept::lay_out(&facts, unborn).map_err(|error| {
        Trouble::environment(
            format!("the session cannot be laid out: {error}"),
            "make the folder of REGREEN_WORK_DIR writable",
        )
    })?;
    let session = unborn.session.clone();
    Ok(Ok(Start { session, expected: None, call: Call::TestAgain, facts }))
}

/// Checks the head under test out, with further local branches.
///
/// # Errors
///
/// When the machine does not do it.
pub fn check_out(
    run: &Run<'_>,
    others: Vec<(String, CommitId)>,
) -> Result<RepositoryFacts, Trouble> {
    let of = BenchOf {
        head: run.target.head.clone(),
        branch: run.target.head_branch.clone().unwrap_or_else(|| "regreen-head".into()),
        others,
    };
    Ok(run.prepared.bench.check_out(&of).map_err(prepare::Unprepared::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::session::{SessionStatus, samples};

    #[test]
    fn tests_never_take_the_place_of_a_fix_and_a_new_beginning_spares_others() {
        let id = |digit: char| CommitId::parse(digit.to_string().repeat(40)).unwrap();
        let found = |ours| Found {
            tip: id('e'),
            record: Some(samples::record(SessionStatus::Active, &id('a'))),
            ours,
        };
        let (mine, theirs) = (found(true), found(false));
        let new = |replaces: Option<char>| Begin::New { replaces: replaces.map(id) };
        let text = || "x".to_owned();
        let table = [
            ("a plan", Work::Plan(text()), None, (Call::Plan(text()), new(None))),
            ("tests", Work::Test(text()), None, (Call::Test(text()), new(None))),
            ("beside a fix", Work::Test(text()), Some(&mine), (Call::Fix, Begin::Elsewhere)),
            ("a look", Work::Explain, Some(&mine), (Call::Explain, new(None))),
            ("anew", Work::Anew, Some(&mine), (Call::Fix, new(Some('e')))),
            ("beside others", Work::Anew, Some(&theirs), (Call::Fix, Begin::Elsewhere)),
            ("anew, nothing there", Work::Anew, None, (Call::Fix, new(None))),
            ("killed", Work::Fix, Some(&mine), (Call::FixAgain, Begin::Resume { tip: id('e') })),
        ];
        for (why, work, found, expected) in table {
            assert_eq!(decided(&work, found, &id('a'), None), Ok(expected), "{why}");
        }
    }
}
