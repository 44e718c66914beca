//! Why a use case failed, with what the reader can do about it.

use std::error::Error;

use crate::adapter::OpenError;
use crate::cycle;
use crate::domain::test_plan::entry::PlanInputError;
use crate::effect::{EffectError, GitError, RunError, StoreError};

/// Whose mistake an error is; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Wrong usage or configuration.
    Usage,
    /// The environment failed.
    Environment,
}

/// An error that ends a use case.
#[derive(Debug)]
pub struct AppError {
    /// What happened, a fragment without a full stop.
    pub message: String,
    /// More evidence, such as the last lines of a log.
    pub evidence: String,
    /// What to do, one imperative clause.
    pub hint: String,
    /// Whose mistake it is.
    pub class: ErrorClass,
}

impl AppError {
    /// An error of the environment.
    pub fn environment(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            evidence: String::new(),
            hint: hint.into(),
            class: ErrorClass::Environment,
        }
    }

    /// An error in a flag, a request or the configuration.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            evidence: String::new(),
            hint: hint.into(),
            class: ErrorClass::Usage,
        }
    }

    fn of_environment(error: &dyn Error, hint: String) -> Self {
        Self {
            message: error.to_string(),
            evidence: String::new(),
            hint,
            class: ErrorClass::Environment,
        }
    }
}

impl From<GitError> for AppError {
    fn from(error: GitError) -> Self {
        let hint = error.hint();
        let mut failure = Self::of_environment(&error, hint);
        if matches!(error, GitError::UnknownReference { .. } | GitError::BranchTaken { .. }) {
            failure.class = ErrorClass::Usage;
        }
        failure
    }
}

impl From<RunError> for AppError {
    fn from(error: RunError) -> Self {
        let hint = error.hint();
        let mut failure = Self::of_environment(&error, hint);
        if let RunError::NoReport { tail, .. } | RunError::SetUp { tail, .. } = error {
            failure.evidence = tail;
        }
        failure
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        let hint = error.hint();
        let mut failure = Self::of_environment(&error, hint);
        if matches!(error, StoreError::Missing { .. } | StoreError::Archived { .. }) {
            failure.class = ErrorClass::Usage;
        }
        failure
    }
}

impl From<OpenError> for AppError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Effect(error) => error.into(),
            OpenError::NoFramework { .. } => {
                let hint = error.hint();
                Self::of_environment(&error, hint)
            }
            OpenError::Resume { .. } | OpenError::Source(_) | OpenError::NoSession { .. } => {
                let hint = error.hint();
                Self::usage(error.to_string(), hint)
            }
        }
    }
}

impl From<EffectError> for AppError {
    fn from(error: EffectError) -> Self {
        match error {
            EffectError::Git(error) => error.into(),
            EffectError::Run(error) => error.into(),
            EffectError::Store(error) => error.into(),
        }
    }
}

impl From<PlanInputError> for AppError {
    fn from(error: PlanInputError) -> Self {
        let hint = error.hint();
        Self::usage(error.to_string(), hint)
    }
}

impl From<cycle::Failure> for AppError {
    fn from(error: cycle::Failure) -> Self {
        match error {
            cycle::Failure::Effect(error) => error.into(),
            cycle::Failure::Gather(error) => {
                let hint = error.hint();
                Self::usage(error.to_string(), hint)
            }
            cycle::Failure::Internal(_) => {
                let hint = error.hint();
                Self::of_environment(&error, hint)
            }
        }
    }
}
