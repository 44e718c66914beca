//! `SourceSession`: the finished implementation session whose files are to be tested.

use serde::{Deserialize, Serialize};

use crate::domain::id::{RepoPath, SessionId};

/// Contents of one task summary of the source session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImplementationSummary {
    pub task_id: String,
    /// Path of the summary, relative to the source session.
    pub summary_path: String,
    /// Files of the repository that it names.
    pub changed_files: Vec<RepoPath>,
}

/// A finished implementation session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSession {
    pub id: SessionId,
    pub description: String,
    /// Summaries of its completed tasks; the files they name may no longer exist.
    pub summaries: Vec<ImplementationSummary>,
}
