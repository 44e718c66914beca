//! Why a session could not go on.

use crate::effect::{GitError, RunError, StoreError};
use crate::role::WorkError;
use crate::role::generation::GatherError;

/// The first effect that failed for good, or a request that cannot be met.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Git refused.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The suite gave no results.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Session files could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A request and the repository have nothing in common.
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// A defect of regreen itself.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Failure {
    /// A value that cannot be written as JSON.
    pub fn serialise(error: &serde_json::Error) -> Self {
        Self::Internal(format!("cannot serialise: {error}"))
    }

    /// What the reader can do next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Git(error) => error.hint(),
            Self::Run(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Gather(error) => error.hint(),
            Self::Internal(_) => "report it with the session folder attached".into(),
        }
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Git(error) => Self::Git(error),
            WorkError::Run(error) => Self::Run(error),
            WorkError::Store(error) => Self::Store(error),
        }
    }
}
