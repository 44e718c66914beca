//! The sessions of a repository that can be resumed.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::adapter::{repo, resume_archiving, state_root, store};
use crate::domain::id::SessionId;
use crate::domain::session::files::{LOOP, RECORD};

use super::AppError;

/// One session, as far as its files can be read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ResumableSession {
    pub session: SessionId,
    pub status: Value,
    pub result: Value,
    pub created_at: Value,
    pub iteration: Value,
    pub max_iterations: Value,
    /// The step of the fix loop that comes next.
    pub next: Value,
    pub branch: Value,
}

/// The sessions of a repository.
#[derive(Debug, Serialize)]
pub struct StatusOutcome {
    pub sessions: Vec<ResumableSession>,
    /// What became of sessions that a kill kept from being archived.
    #[serde(skip)]
    pub notices: Vec<String>,
}

/// Lists the sessions that can be resumed, and finishes what earlier runs began to archive.
pub fn status(repository: &Path) -> Result<StatusOutcome, AppError> {
    let facts = repo::discover(repository)?;
    let root = state_root(&facts);
    let notices = resume_archiving(&facts);
    let row = |session: SessionId| {
        let folder = store::session_folder(&root, &session);
        // A session whose files cannot be read is listed without what they hold.
        let read = |name: &str| store::read_file(&folder, name).ok().flatten().unwrap_or_default();
        let (record, state) = (read(RECORD), read(LOOP));
        ResumableSession {
            session,
            status: record["status"].clone(),
            result: record["result"].clone(),
            created_at: record["created_at"].clone(),
            iteration: state["current_iteration"].clone(),
            max_iterations: record["max_iterations"].clone(),
            next: state["next"]["step"].clone(),
            branch: record["git"]["branch"].clone(),
        }
    };
    Ok(StatusOutcome { sessions: store::active(&root)?.into_iter().map(row).collect(), notices })
}
