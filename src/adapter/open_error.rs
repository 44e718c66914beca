//! The error when a session cannot be opened.

use std::path::PathBuf;

use crate::effect::EffectError;

use super::store::SourceError;

/// Why a session could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Git, the suite or the session's files failed.
    #[error(transparent)]
    Effect(EffectError),
    #[error("session {session} cannot be resumed: {reason}")]
    Resume { session: String, reason: String },
    #[error("no session can be resumed: {reason}")]
    NothingToResume { reason: String },
    /// The source session cannot be used.
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("no test framework was recognised in {}", directory.display())]
    NoFramework {
        /// The folder that was searched.
        directory: PathBuf,
        /// The framework to add, and the command that adds it.
        advice: String,
    },
    #[error("the name of the session holds a secret")]
    SecretName,
    #[error("there is no test session to resume: {reason}")]
    NoSession { reason: String },
}

impl OpenError {
    /// What the reader can do next, in one imperative clause.
    pub fn hint(&self) -> String {
        match self {
            Self::Effect(error) => error.hint(),
            Self::Resume { .. } | Self::NothingToResume { .. } => {
                "start a new session: `regreen fix`, `regreen test WHAT --fresh` or `regreen integration MODULE`".into()
            }
            Self::Source(error) => error.hint(),
            Self::SecretName => "choose a name that is neither a token nor a password".into(),
            Self::NoFramework { advice, .. } => advice.clone(),
            Self::NoSession { .. } => "describe what to test: `regreen plan WHAT`".into(),
        }
    }
}

impl<E: Into<EffectError>> From<E> for OpenError {
    fn from(error: E) -> Self {
        Self::Effect(error.into())
    }
}
