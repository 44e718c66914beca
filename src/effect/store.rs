//! `Store`: reads and writes the files of one session.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::domain::session::files::file_path;

/// Reads and writes the files of one session, whose lock this value holds.
///
/// `file` is a path inside the session folder as specification.md 8.1 lays it out, such as
/// `.process/iteration-state.json`. Every write is atomic (temporary file, rename) and may be
/// repeated.
#[async_trait]
pub trait Store: Send + Sync {
    /// The session folder on disk.
    fn folder(&self) -> &Path;

    /// Reads one JSON file; `None` when it is not there.
    async fn read_json(&self, file: &str) -> Result<Option<Value>, StoreError>;

    /// Writes one JSON object. Adds `schema_version`; top-level fields of an existing file that
    /// `value` does not know are kept (specification.md 8.1).
    async fn write_json(&self, file: &str, value: &Value) -> Result<(), StoreError>;

    async fn write_text(&self, file: &str, text: &str) -> Result<(), StoreError>;

    /// Moves a file within the session folder; already moved is fine.
    async fn rename(&self, from: &str, to: &str) -> Result<(), StoreError>;

    /// Truncates a file to its first `keep` lines, then appends `lines`, so that a line written
    /// after the last saved state is not duplicated on resume.
    async fn append(&self, file: &str, keep: u64, lines: &[String]) -> Result<(), StoreError>;

    /// The small state files that commits carry, with their paths inside the session folder:
    /// everything but logs, raw output and events.
    async fn committed_files(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError>;
}

/// Reads one JSON file as a `T`; `None` when it is not there. A file that is no `T` is
/// [`StoreError::Corrupt`].
pub async fn read_as<T: DeserializeOwned>(
    store: &dyn Store,
    file: &str,
) -> Result<Option<T>, StoreError> {
    let Some(value) = store.read_json(file).await? else { return Ok(None) };
    serde_json::from_value(value).map(Some).map_err(|error| StoreError::Corrupt {
        path: file_path(store.folder(), file),
        line: 0,
        column: 0,
        expected: error.to_string(),
    })
}

/// Reads a remakeable JSON file as a `T`; `None` when it is not there or is no `T`.
pub async fn read_or_forget<T: DeserializeOwned>(
    store: &dyn Store,
    file: &str,
) -> Result<Option<T>, StoreError> {
    match read_as(store, file).await {
        Err(StoreError::Corrupt { .. }) => Ok(None),
        read => read,
    }
}

/// Why session files could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused: full disk, read-only folder, missing permission.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    /// A file exists and has not the form it should have.
    #[error("{}:{line}:{column}: {expected}", path.display())]
    Corrupt {
        path: PathBuf,
        /// From 1; 0 when unknown.
        line: usize,
        /// From 1; 0 when unknown.
        column: usize,
        expected: String,
    },
    #[error("{}: written with schema version {found}, this regreen reads up to {known}", path.display())]
    Newer { path: PathBuf, found: u64, known: u64 },
    #[error("session {session} is in use by process {holder}")]
    Locked {
        session: String,
        /// The process that holds the lock, as the lock file names it.
        holder: String,
    },
    #[error("there is no session {session}")]
    Missing { session: String, known: Vec<String> },
    #[error("session {session} is archived")]
    Archived { session: String },
}

impl StoreError {
    /// What the reader can do next, in one imperative clause.
    pub fn hint(&self) -> String {
        match self {
            Self::Io { path, .. } => {
                format!(
                    "free disk space or fix the permissions of {}, then run again",
                    path.display()
                )
            }
            Self::Corrupt { path, .. } => {
                format!("move {} away; what it held is rebuilt from the branch", path.display())
            }
            Self::Newer { .. } => "update regreen, or finish the session with the newer one".into(),
            Self::Locked { .. } => "wait for the other run to end, or stop it".into(),
            Self::Missing { known, .. } if known.is_empty() => {
                "`regreen session list` names the sessions".into()
            }
            Self::Missing { known, .. } => format!("choose one of {}", known.join(", ")),
            Self::Archived { .. } => "start a new session with `regreen fix`".into(),
        }
    }
}
