//! The sessions of a repository that can be resumed.

use std::path::Path;

use serde::Serialize;

use crate::adapter::{repo, resume_archiving, state_root, store};
use crate::domain::id::SessionId;
use crate::domain::integration::Integration;
use crate::domain::session::files::LOOP;
use crate::domain::session::{SessionKind, SessionStatus};

use super::AppError;
use super::session::integration_of;

/// One session, as far as its files can be read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ResumableSession {
    pub session: SessionId,
    pub status: Option<SessionStatus>,
    pub result: Option<String>,
    pub created_at: Option<String>,
    /// The iteration of the fix loop, once it has begun.
    pub iteration: Option<u64>,
    pub max_iterations: Option<u32>,
    /// The step of the fix loop that comes next, or of what comes before it.
    pub next: Option<String>,
    /// What the phases of a session of integration tests gave.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<String>,
    pub branch: Option<String>,
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
        let record = store::read_record(&folder).ok().flatten();
        if record
            .as_ref()
            .is_some_and(|record| matches!(record.kind, SessionKind::Pin | SessionKind::Score))
        {
            return None;
        }
        let state = store::read_file(&folder, LOOP).ok().flatten().unwrap_or_default();
        let integration = integration_of(&folder);
        let waiting = integration.as_ref().and_then(Integration::pending_step);
        let progress = integration.iter().flat_map(Integration::list_phases);
        Some(ResumableSession {
            session,
            iteration: state["current_iteration"].as_u64(),
            next: state["next"]["step"]
                .as_str()
                .map(str::to_owned)
                .or(waiting.map(|step| step.to_string())),
            progress: progress.map(|one| one.summary).collect(),
            status: record.as_ref().map(|record| record.status),
            max_iterations: record.as_ref().map(|record| record.max_iterations),
            result: record.as_ref().and_then(|record| record.result.clone()),
            created_at: record.as_ref().map(|record| record.created_at.clone()),
            branch: record.map(|record| record.git.branch),
        })
    };
    let sessions = store::active(&root)?.into_iter().filter_map(row).collect();
    Ok(StatusOutcome { sessions, notices })
}
