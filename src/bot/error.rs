//! The error that ends a bot job.

use std::path::Path;

use crate::app::ErrorClass;
use crate::config::Diagnostic;
use crate::effect::{GitError, RemoteError};

use super::prepare::PrepareError;
use super::target::TargetError;

/// An error that ends the job.
#[derive(Debug)]
pub struct BotError {
    /// What happened.
    pub message: String,
    /// What the reader can do, as an imperative clause.
    pub hint: String,
    /// The kind of mistake, which decides the exit code.
    pub class: ErrorClass,
    /// Problems of a configuration file, each reported at its own line.
    pub problems: Vec<Diagnostic>,
}

impl BotError {
    /// An error in the workflow or in a configuration file.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self { message, hint, class: ErrorClass::Usage, problems: Vec::new() }
    }

    /// A failure of the machine, the network or the forge.
    pub fn environment(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self { message, hint, class: ErrorClass::Environment, problems: Vec::new() }
    }

    /// A file or folder that cannot be read or written.
    pub fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::environment(format!("{}: {error}", path.display()), "make the folder writable")
    }
}

impl From<PrepareError> for BotError {
    fn from(error: PrepareError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        match error {
            PrepareError::Configuration(problems) => {
                Self { problems, ..Self::usage(message, hint) }
            }
            PrepareError::NoConfiguration(_) => Self::usage(message, hint),
            PrepareError::Remote(_)
            | PrepareError::Git(_)
            | PrepareError::NotSaved { .. }
            | PrepareError::Snapshot { .. } => Self::environment(message, hint),
        }
    }
}

impl From<GitError> for BotError {
    fn from(error: GitError) -> Self {
        PrepareError::from(error).into()
    }
}

impl From<RemoteError> for BotError {
    fn from(error: RemoteError) -> Self {
        PrepareError::from(error).into()
    }
}

impl From<TargetError> for BotError {
    fn from(error: TargetError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        match error {
            TargetError::Forge(_) => Self::environment(message, hint),
            _ => Self::usage(message, hint),
        }
    }
}
