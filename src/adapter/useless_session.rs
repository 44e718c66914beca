//! Sessions that ended before they wrote a test. Their plans and first results may rest on what the environment
//! lacked then, so that the same request begins anew.

use std::path::Path;

use crate::domain::id::SessionId;
use crate::domain::session::{ABANDONED, SessionRecord, SessionStatus};
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
