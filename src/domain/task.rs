//! Task status (specification.md 5.8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The status of a task (specification.md 5.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    Pending,
    /// Running, or interrupted while it was running.
    InProgress,
    /// Its edit was kept, or was tested and had no effect.
    Completed,
    Blocked,
    /// It ended with an error, and may be tried again.
    Failed,
    /// Deliberately not done: what it would rest on is too weak, or nothing of it was wanted.
    Skipped,
    /// The edit of the task broke tests and was taken back.
    RolledBack,
}

display_stored_name!(TaskStatus);

impl TaskStatus {
    /// Whether the task ended, well or not.
    #[must_use]
    pub fn is_ended(self) -> bool {
        !matches!(self, Self::Pending | Self::InProgress)
    }

    /// How it ended, as a word for people; `None` when it is open or completed.
    #[must_use]
    pub fn setback(self) -> Option<&'static str> {
        match self {
            Self::Pending | Self::InProgress | Self::Completed => None,
            Self::Blocked => Some("blocked"),
            Self::Failed => Some("failed"),
            Self::Skipped => Some("skipped"),
            Self::RolledBack => Some("taken back"),
        }
    }
}
