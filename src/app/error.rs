//! The error of a use case, with a hint on what to do about it.

use std::error::Error;

use crate::adapter::OpenError;
use crate::cycle;
use crate::domain::test_plan::plan_input::PlanInputError;
use crate::effect::{EffectError, GitError, RunError, StoreError};

/// The kind of mistake behind an error; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Wrong usage or configuration.
    Usage,
    Environment,
    /// The code is wrong, as far as its documentation tells, or leaves nothing to test.
    Code,
}

/// Process exit codes, which are part of the public interface.
pub mod exit {
    /// The gate is met, or the requested action was performed.
    pub const MET: u8 = 0;
    /// The gate is not met.
    pub const NOT_MET: u8 = 1;
    /// The command line or the configuration is wrong.
    pub const USAGE: u8 = 2;
    /// The environment failed: no repository, the suite cannot start, no space.
    pub const ENVIRONMENT: u8 = 3;
}

impl ErrorClass {
    /// The exit code of a process that ends with such an error.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => exit::USAGE,
            Self::Environment => exit::ENVIRONMENT,
            Self::Code => exit::NOT_MET,
        }
    }
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
    /// The kind of mistake.
    pub class: ErrorClass,
}

impl AppError {
    pub fn environment(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ErrorClass::Environment, message, hint)
    }

    /// An error in a flag, a request or the configuration.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ErrorClass::Usage, message, hint)
    }

    /// An error of the code or of its tests.
    pub fn code_error(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ErrorClass::Code, message, hint)
    }

    fn new(class: ErrorClass, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self { message, evidence: String::new(), hint, class }
    }

    fn usage_if(is_usage: bool, error: &dyn Error, hint: String) -> Self {
        let class = if is_usage { ErrorClass::Usage } else { ErrorClass::Environment };
        Self::new(class, error.to_string(), hint)
    }
}

impl From<GitError> for AppError {
    fn from(error: GitError) -> Self {
        let is_usage = matches!(
            error,
            GitError::Absent { .. }
                | GitError::File { .. }
                | GitError::UnknownReference { .. }
                | GitError::BadBranch { .. }
                | GitError::BranchTaken { .. }
                | GitError::BranchBlocked { .. }
        );
        Self::usage_if(is_usage, &error, error.hint())
    }
}

impl From<RunError> for AppError {
    fn from(error: RunError) -> Self {
        let is_usage = matches!(error, RunError::ReportOutside { .. });
        let mut failure = Self::usage_if(is_usage, &error, error.hint());
        if let RunError::NoReport { tail, .. } | RunError::SetUp { tail, .. } = error {
            failure.evidence = tail;
        }
        failure
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        let is_usage = matches!(error, StoreError::Missing { .. } | StoreError::Archived { .. });
        Self::usage_if(is_usage, &error, error.hint())
    }
}

impl From<OpenError> for AppError {
    fn from(error: OpenError) -> Self {
        let is_usage = !matches!(error, OpenError::NoFramework { .. });
        match error {
            OpenError::Effect(error) => error.into(),
            error => Self::usage_if(is_usage, &error, error.hint()),
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
        Self::usage_if(true, &error, error.hint())
    }
}

impl From<cycle::Failure> for AppError {
    fn from(error: cycle::Failure) -> Self {
        let is_usage = matches!(
            error,
            cycle::Failure::Gather(_) | cycle::Failure::Module(_) | cycle::Failure::Task { .. }
        );
        match error {
            cycle::Failure::Effect(error) => error.into(),
            error @ (cycle::Failure::Contradicted { .. }
            | cycle::Failure::NothingWritten { .. })
                if !error.is_unloaded() =>
            {
                Self::new(ErrorClass::Code, error.to_string(), error.hint())
            }
            error => Self::usage_if(is_usage, &error, error.hint()),
        }
    }
}
