//! Why work on the outside world could not go on.

use super::{GitError, RunError, StoreError};

/// The first effect that failed for good; never the fault of a model or of a candidate.
#[derive(Debug, thiserror::Error)]
pub enum EffectError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl EffectError {
    /// What the reader can do next, in one imperative clause.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Git(error) => error.hint(),
            Self::Run(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}
