//! Sessions of no further use. The plans and first results of one that ended before it wrote a test may rest on
//! what the environment lacked then, so that the same request begins anew; nothing resumes a killed score.

use std::path::Path;

use crate::domain::id::SessionId;
use crate::domain::session::{ABANDONED, SessionKind, SessionRecord, SessionStatus};
use crate::domain::test_plan::pipeline::{Pipeline, PipelineStep};

use super::open_error::OpenError;
use super::paths::{state_root, work_root};
use super::repo::{self, RepositoryFacts};
use super::store::{self, SessionStore};

/// Marks a session that plans tests as one that failed before it wrote any. A failure is only logged, because the
/// caller has another error to show.
pub fn abandon_session(facts: &RepositoryFacts, session: &SessionId) {
    if let Err(error) = try_abandon(facts, session) {
        tracing::warn!(%error, "a session could not be marked as abandoned");
    }
}

fn try_abandon(facts: &RepositoryFacts, session: &SessionId) -> Result<(), OpenError> {
    let root = state_root(facts);
    let folder = store::session_folder(&root, session);
    let Some(mut record) = store::read_record(&folder)? else { return Ok(()) };
    if has_moved(&record, facts) || !store::wrote_nothing(&folder)? {
        return Ok(());
    }
    // Fails where another process runs the session.
    let _lock = SessionStore::open(&root, session)?;
    repo::remove_checkout(facts, &work_root(facts), session)?;
    repo::remove_branch(facts, &record.git.branch, &record.git.head_sha)?;
    record.result = Some(ABANDONED.to_owned());
    Ok(store::save_record(&folder, &record)?)
}

/// Removes what a killed run left of sessions that nothing resumes: checkout, branch and folder. A branch with
/// commits of its own stays. A failure is only logged: the next run tries again.
pub fn remove_killed(facts: &RepositoryFacts) {
    let root = state_root(facts);
    for id in store::active(&root).unwrap_or_default() {
        if let Err(error) = try_remove_killed(facts, &root, &id) {
            tracing::warn!(%error, "a killed session could not be removed");
        }
    }
}

fn try_remove_killed(
    facts: &RepositoryFacts,
    root: &Path,
    session: &SessionId,
) -> Result<(), OpenError> {
    let is_killed = || {
        let record = store::read_record(&store::session_folder(root, session)).ok().flatten();
        let is_lost = |kind| matches!(kind, SessionKind::Pin | SessionKind::Score);
        record.filter(|one| is_lost(one.kind) && one.status == SessionStatus::Active)
    };
    if is_killed().is_none() {
        return Ok(());
    }
    // Another process may run it, or have just ended it.
    let Ok(_lock) = SessionStore::open(root, session) else { return Ok(()) };
    let Some(record) = is_killed() else { return Ok(()) };
    repo::remove_checkout(facts, &work_root(facts), session)?;
    if !has_moved(&record, facts) {
        repo::remove_branch(facts, &record.git.branch, &record.git.head_sha)?;
        store::forget(root, session)?;
    }
    Ok(())
}

/// Whether nothing would be won by continuing a session: it has ended, and wrote and changed nothing.
pub fn is_useless(
    record: &SessionRecord,
    pipeline: &Pipeline,
    facts: &RepositoryFacts,
    root: &Path,
) -> bool {
    let is_over = record.status == SessionStatus::Blocked && pipeline.next == PipelineStep::Execute;
    let folder = store::session_folder(root, &record.session_id);
    (is_over || record.result.as_deref() == Some(ABANDONED))
        && !has_moved(record, facts)
        && store::wrote_nothing(&folder).unwrap_or(false)
}

/// Whether the branch of a session has commits of its own.
fn has_moved(record: &SessionRecord, facts: &RepositoryFacts) -> bool {
    repo::tip_of(facts, &record.git.branch).is_some_and(|tip| tip != record.git.head_sha)
}
