//! The fix branch of a session on the server: its state, and whether a run can continue it.

use crate::adapter::store;
use crate::config::CommitState;
use crate::domain::id::{CommitId, SessionId};
use crate::domain::session::files::{RECORD, stored_name};
use crate::domain::session::{SessionKind, SessionRecord, SessionStatus, refusal};
use crate::effect::FetchTarget;

use super::prepare::{DEPTH, MERGE_BASE_DEPTH, PrepareError, Prepared};
use super::target::Target;

/// The state of a fix branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixBranch {
    pub tip: CommitId,
    /// The session's record at the tip or, for a finished session, just below it.
    pub record: Option<SessionRecord>,
    /// Whether all commits above the tested commit (without a record: above the head) belong to the
    /// session.
    pub ours: bool,
}

/// Where a run starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartPoint {
    /// From the head; the branch moves from `replaces` to the new commits.
    New {
        /// The old tip, if all of its commits are ours.
        replaces: Option<CommitId>,
    },
    Resume {
        tip: CommitId,
    },
    /// Under another name, since the branch holds foreign commits.
    Elsewhere,
}

/// Decides where a run starts; fails when a resume is requested and nothing is there.
pub fn choose_start(
    found: Option<&FixBranch>,
    head: &CommitId,
    resume: bool,
    limit: Option<u32>,
) -> Result<StartPoint, String> {
    let Some(found) = found else {
        return if resume {
            Err("there is no stopped session of this head".into())
        } else {
            Ok(StartPoint::New { replaces: None })
        };
    };
    let Some(record) = found.record.as_ref().filter(|_| found.ours) else {
        return if found.ours && resume {
            Err("the state of the session stayed on the machine that ran it (`commit-state: none`), so no other machine can continue it".into())
        } else if found.ours {
            Ok(StartPoint::New { replaces: Some(found.tip.clone()) })
        } else if resume {
            Err("the fix branch holds commits that are not of a session".into())
        } else {
            Ok(StartPoint::Elsewhere)
        };
    };
    let why_not = if record.git.head_sha == *head {
        let is_integration = record.session_id.is_integration();
        let kind = if is_integration { SessionKind::Integration } else { SessionKind::Test };
        refusal(record, kind, limit)
    } else {
        Some(format!("it tested {}, and the head is {}", record.git.head_sha.short(), head.short()))
    };
    match why_not {
        None if resume || record.status != SessionStatus::Blocked => {
            Ok(StartPoint::Resume { tip: found.tip.clone() })
        }
        Some(reason) if resume => {
            Err(format!("{} cannot be continued: {reason}", record.session_id))
        }
        None | Some(_) => Ok(StartPoint::New { replaces: Some(found.tip.clone()) }),
    }
}

/// Reads the fix branch of a session from the server.
pub async fn read(
    prepared: &Prepared,
    target: &Target,
    session: &SessionId,
) -> Result<Option<FixBranch>, PrepareError> {
    let Some(tip) = prepared.remote.head_of(&session.branch()).await? else { return Ok(None) };
    prepared.remote.fetch(&FetchTarget::Commit(tip.clone()), Some(DEPTH)).await?;
    let mut record = record(prepared, &tip, session)?;
    let name = stored_name(session, RECORD);
    let state = format!("{}/{}/{name}", store::STATE_FOLDER, session.state_folder());
    let is_off = prepared.clone.file_of(&tip, &state)?.is_none();
    if let Some(record) = record.as_mut().filter(|_| is_off) {
        // The state was committed before the session ended, which removed it from the tip.
        record.status = SessionStatus::Completed;
    }
    let ours = record.as_ref().is_some_and(|record| {
        // The head under test may be newer, with the fix rebased onto it.
        prepared.clone.all_of_session(&tip, &[&record.git.head_sha, &target.head], session)
            || record.git.head_sha == target.head && tip == target.head
    });
    // Without stored state there is no record, and only the commits show whose branch it is.
    let alone = record.is_none() && prepared.settings.commit_state == Some(CommitState::None);
    let ours = ours
        || alone
            && match prepared.remote.merge_base(&target.head, &tip, MERGE_BASE_DEPTH).await? {
                Some(base) => base != tip && prepared.clone.all_of_session(&tip, &[&base], session),
                None => false,
            };
    Ok(Some(FixBranch { tip, record, ours }))
}

/// Whether a session has a fix branch on the server.
pub async fn exists(prepared: &Prepared, session: &str) -> Result<bool, PrepareError> {
    let Ok(session) = SessionId::parse(session) else { return Ok(false) };
    Ok(prepared.remote.head_of(&session.branch()).await?.is_some())
}

/// The tip that a restarted session replaces, if all of its commits are the session's own.
pub async fn replaced_tip(
    prepared: &Prepared,
    target: &Target,
    session: &SessionId,
) -> Result<Option<CommitId>, PrepareError> {
    let found = read(prepared, target, session).await?;
    Ok(match choose_start(found.as_ref(), &target.head, false, None) {
        Ok(StartPoint::New { replaces }) => replaces,
        Ok(StartPoint::Resume { tip }) => Some(tip),
        Ok(StartPoint::Elsewhere) | Err(_) => None,
    })
}

fn record(
    prepared: &Prepared,
    tip: &CommitId,
    session: &SessionId,
) -> Result<Option<SessionRecord>, PrepareError> {
    let files = prepared.clone.session_at(tip, store::STATE_FOLDER, session)?;
    let found = files.iter().flatten().find(|(name, _)| *name == stored_name(session, RECORD));
    // An unreadable record counts as missing.
    Ok(found.and_then(|(_, bytes)| serde_json::from_slice(bytes).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::session::samples;
    use SessionStatus::{Active, Blocked, Completed, Paused};

    type StartRow = (Option<FixBranch>, bool, Option<u32>, Result<StartPoint, ()>);

    fn id(digit: char) -> CommitId {
        CommitId::parse(digit.to_string().repeat(40)).unwrap()
    }

    #[test]
    fn a_run_begins_from_what_lies_on_the_branch() {
        let found = |status, head, ours| FixBranch {
            tip: id('e'),
            record: Some(samples::record(status, &id(head))),
            ours,
        };
        let new = |replaces: Option<CommitId>| Ok(StartPoint::New { replaces });
        let resume = || Ok(StartPoint::Resume { tip: id('e') });
        let old = || new(Some(id('e')));
        let table: Vec<StartRow> = vec![
            (None, false, None, new(None)),
            (None, true, None, Err(())),
            (Some(found(Active, 'a', true)), false, None, resume()),
            (Some(found(Active, 'a', true)), true, None, resume()),
            (Some(found(Paused, 'a', true)), true, None, resume()),
            (Some(found(Active, 'b', true)), false, None, old()),
            (Some(found(Active, 'b', true)), true, None, Err(())),
            (Some(found(Completed, 'a', true)), false, None, old()),
            (Some(found(Completed, 'a', true)), true, None, Err(())),
            (Some(found(Blocked, 'a', true)), false, Some(20), old()),
            (Some(found(Blocked, 'a', true)), true, Some(20), resume()),
            (Some(found(Blocked, 'a', true)), true, Some(10), Err(())),
            (Some(found(Active, 'a', false)), false, None, Ok(StartPoint::Elsewhere)),
            (Some(found(Active, 'a', false)), true, None, Err(())),
            // Without a record, because no state was stored in commits.
            (Some(FixBranch { record: None, ..found(Active, 'a', true) }), false, None, old()),
            (Some(FixBranch { record: None, ..found(Active, 'a', true) }), true, None, Err(())),
            (
                Some(FixBranch { record: None, ..found(Active, 'a', false) }),
                false,
                None,
                Ok(StartPoint::Elsewhere),
            ),
        ];
        for (number, (found, wanted, limit, expected)) in table.into_iter().enumerate() {
            let begun = choose_start(found.as_ref(), &id('a'), wanted, limit).map_err(drop);
            assert_eq!(begun, expected, "row {number}");
        }
    }
}
