//! The sessions of a repository as they stand, and their end (specification.md 8.12).

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use crate::adapter::host::clock;
use crate::adapter::repo::{self, RepositoryFacts};
use crate::adapter::store::{self, STATE_FOLDER};
use crate::adapter::{state_root, work_root};
use crate::domain::id::SessionId;
use crate::domain::integration::Integration;
use crate::domain::session::SessionStatus;
use crate::domain::session::files::{INTEGRATION, PIPELINE};
use crate::effect::StoreError;

use super::AppError;

/// The session that a use case is about.
#[derive(Args, Clone, Debug)]
pub struct SessionSelection {
    /// The session; the newest one when none is named.
    pub session: Option<String>,
    /// The repository, or a folder below it.
    #[arg(long, default_value = ".", value_name = "REPO")]
    pub repository: PathBuf,
}

/// A session whose files are found.
pub(super) struct FoundSession {
    pub facts: RepositoryFacts,
    /// The folder of all sessions.
    pub root: PathBuf,
    pub id: SessionId,
    pub folder: PathBuf,
    pub archived: bool,
}

/// Finds the session that is named, else the newest of the repository.
pub(super) fn find(selection: &SessionSelection) -> Result<FoundSession, AppError> {
    let facts = repo::discover(&selection.repository)?;
    let root = state_root(&facts);
    let id = match &selection.session {
        Some(text) => SessionId::parse(text).map_err(|error| {
            AppError::usage(error.to_string(), "`regreen session list` names the sessions")
        })?,
        None => store::newest(&root)?.ok_or_else(|| {
            AppError::usage("there is no session here", "start one with `regreen fix`")
        })?,
    };
    let (folder, archived) = store::find(&root, &id)?;
    Ok(FoundSession { facts, root, id, folder, archived })
}

/// One session as it stands.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SessionRow {
    pub session: SessionId,
    /// `ACTIVE`, `PAUSED`, `COMPLETED`, `ARCHIVED` or `ERROR`.
    pub marker: &'static str,
    pub status: Option<SessionStatus>,
    pub description: Option<String>,
    /// The session whose work it tests.
    pub source: Option<SessionId>,
    pub created_at: Option<String>,
    pub completed: usize,
    pub tasks: Vec<Value>,
    /// The phases of its pipeline that ended.
    pub phases: Value,
    /// The step of its pipeline that comes next.
    pub next: Value,
    pub folder: PathBuf,
}

/// The sessions of a repository.
#[derive(Debug, Serialize)]
pub struct SessionList {
    /// Archived ones come last.
    pub sessions: Vec<SessionRow>,
    /// Finished sessions in the repository whose work could be tested.
    pub sources: Vec<SessionId>,
}

/// A session that was archived.
#[derive(Debug, Serialize)]
pub struct ArchivedSession {
    pub session: SessionId,
    /// Its folder now.
    pub archive: PathBuf,
}

/// Lists the sessions of a repository.
pub fn list_sessions(repository: &Path) -> Result<SessionList, AppError> {
    let facts = repo::discover(repository)?;
    let root = state_root(&facts);
    let mut sessions = Vec::new();
    for id in store::active(&root)? {
        sessions.push(row(&id, &store::session_folder(&root, &id), false)?);
    }
    for id in store::archived(&root)? {
        sessions.push(row(&id, &store::archive_folder(&root, &id), true)?);
    }
    Ok(SessionList { sessions, sources: store::sources(&facts.root.join(STATE_FOLDER)) })
}

/// Shows the phases and tasks of one session.
pub fn show_session(selection: &SessionSelection) -> Result<SessionRow, AppError> {
    let FoundSession { id, folder, archived, .. } = find(selection)?;
    row(&id, &folder, archived)
}

/// Archives a session with true task statuses, as completed if so (specification.md C-23).
pub fn archive_session(
    selection: &SessionSelection,
    complete: bool,
) -> Result<ArchivedSession, AppError> {
    let FoundSession { facts, root, id, folder, archived } = find(selection)?;
    if archived {
        return Err(StoreError::Archived { session: id.to_string() }.into());
    }
    let store = store::SessionStore::open(&root, &id)?;
    if complete && let Some(mut record) = store::read_record(&folder)? {
        record.status = SessionStatus::Completed;
        record.completed_at = Some(clock::now());
        store::save_record(&folder, &record)?;
    }
    repo::remove_checkout(&facts, &work_root(&facts), &id)?;
    let archive = store::archive(&root, &id, &clock::now())?;
    drop(store);
    Ok(ArchivedSession { session: id, archive })
}

/// The state of a session of integration tests.
pub(super) fn integration_of(folder: &Path) -> Option<Integration> {
    let state = store::read_file(folder, INTEGRATION).ok().flatten()?;
    serde_json::from_value(state).ok()
}

fn row(id: &SessionId, folder: &Path, archived: bool) -> Result<SessionRow, AppError> {
    let record = store::read_record(folder)?;
    let pipeline = store::read_file(folder, PIPELINE).ok().flatten().unwrap_or_default();
    let integration = integration_of(folder);
    let (phases, next) = match &integration {
        Some(state) => (json!(state.list_phases()), json!(state.pending_step())),
        None => (pipeline["phases"].clone(), pipeline["next"]["step"].clone()),
    };
    let tasks = store::tasks(folder);
    let status = record.as_ref().map(|record| record.status);
    let marker = match status {
        _ if archived => "ARCHIVED",
        Some(SessionStatus::Planning | SessionStatus::Active) => "ACTIVE",
        Some(SessionStatus::Initialized | SessionStatus::Paused) => "PAUSED",
        Some(SessionStatus::Completed) => "COMPLETED",
        Some(SessionStatus::Blocked) | None => "ERROR",
    };
    Ok(SessionRow {
        session: id.clone(),
        marker,
        status,
        description: record.as_ref().map(|record| record.description.clone()),
        source: record.as_ref().and_then(|record| record.source_session_id.clone()),
        created_at: record.map(|record| record.created_at),
        completed: tasks.iter().filter(|task| task["status"] == "completed").count(),
        tasks,
        phases,
        next,
        folder: folder.to_owned(),
    })
}
