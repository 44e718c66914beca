//! `EffectError`: a failed git operation, test run or access to session files.

use super::{GitError, RunError, StoreError};

/// A permanent failure of git, of a test run or of session files; never caused by a candidate.
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
    pub fn hint(&self) -> String {
        match self {
            Self::Git(error) => error.hint(),
            Self::Run(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}
