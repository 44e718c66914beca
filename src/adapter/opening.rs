//! What every session needs when it opens: older sessions archived, notices, a record.

use crate::domain::id::SessionId;
use crate::domain::session::files::RECORD;
use crate::domain::session::{SessionGit, SessionRecord, SessionStatus};
use crate::effect::{Store, StoreError};

use super::host;
use super::open_error::OpenError;
use super::paths::{state_root, work_root};
use super::repo::{self, RepositoryFacts};
use super::store::{self, SessionStore};

/// Iteration limit when nothing else is configured (specification.md C-01).
pub const MAX_ITERATIONS: u32 = 10;

/// Finishes what earlier runs began to archive (specification.md 8.14). What cannot be finished yet is
/// reported and tried again by the next run; it never blocks a session.
pub fn resume_archiving(facts: &RepositoryFacts) -> Vec<String> {
    let root = state_root(facts);
    let mut notices = Vec::new();
    for (id, _lock) in store::half_archived(&root) {
        let archived = repo::remove_checkout(facts, &work_root(facts), &id)
            .map_err(OpenError::from)
            .and_then(|()| Ok(store::archive(&root, &id, &host::clock::now())?));
        notices.push(match archived {
            Ok(_) => format!("session {id} was finished and is archived now"),
            Err(error) => format!("session {id} is not archived yet: {error}"),
        });
    }
    notices
}

/// What a person should know about the repository before a session starts.
pub(super) fn notices(facts: &RepositoryFacts) -> Vec<String> {
    let mut notices = Vec::new();
    let changed = facts.modified + facts.untracked;
    if changed > 0 {
        let files = if changed == 1 {
            "1 uncommitted file is".to_owned()
        } else {
            format!("{changed} uncommitted files are")
        };
        notices.push(format!(
            "{files} not tested: regreen works on commit {}, in a checkout of its own",
            facts.head.short()
        ));
    }
    if let Some(operation) = facts.operation {
        notices.push(format!("{operation} is under way here; it is left alone"));
    }
    if facts.submodules {
        notices.push("submodules are empty in the private checkout".to_owned());
    }
    notices
}

/// The record of a session that starts now on the commit that is checked out.
pub(super) fn new_record(id: &SessionId, facts: &RepositoryFacts, now: String) -> SessionRecord {
    SessionRecord {
        session_id: id.clone(),
        project: facts
            .root
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        description: String::new(),
        kind: "test".into(),
        workflow_type: "test_session".into(),
        status: SessionStatus::Active,
        created_at: now,
        resumed_at: None,
        completed_at: None,
        max_iterations: MAX_ITERATIONS,
        review_flag: false,
        result: None,
        final_pass_rate: None,
        mode: "apply".into(),
        source_session_id: None,
        input: None,
        git: SessionGit {
            base_sha: None,
            head_sha: facts.head.clone(),
            branch: id.branch(),
            onto: facts.branch.clone(),
        },
    }
}

/// Writes a session's record.
pub(super) async fn write_record(
    store: &SessionStore,
    record: &SessionRecord,
) -> Result<(), StoreError> {
    let value = serde_json::to_value(record).unwrap_or_default();
    store.write_json(RECORD, &value).await
}
