//! Errors as people and programs see them: what happened, why, what to do, which exit code.

use std::error::Error;
use std::fmt;

use crate::adapter::OpenError;
use crate::adapter::planning::PlanError;
use crate::cycle;
use crate::domain::test_plan::entry::EntryError;
use crate::effect::{EffectError, GitError, RunError, StoreError};
use crate::report::document::{Document, Problem};

/// Exit codes; part of the interface.
pub mod exit {
    /// The gate is met, or what was asked for is done.
    pub const MET: u8 = 0;
    /// The gate is not met.
    pub const NOT_MET: u8 = 1;
    /// Wrong usage or configuration.
    pub const USAGE: u8 = 2;
    /// The environment failed: no repository, the suite cannot start, no space.
    pub const ENVIRONMENT: u8 = 3;
}

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Wrong usage or configuration.
    Usage,
    /// The environment failed.
    Environment,
}

impl Class {
    /// Its exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Usage => exit::USAGE,
            Self::Environment => exit::ENVIRONMENT,
        }
    }
}

/// A failure that ends the program.
#[derive(Debug)]
pub struct Failure {
    /// What happened, a fragment without a full stop.
    pub message: String,
    /// More evidence, such as the last lines of a log.
    pub evidence: String,
    /// What to do, one imperative clause.
    pub hint: String,
    /// Its kind.
    pub class: Class,
}

impl Failure {
    /// What the machine lacks.
    pub fn environment(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            evidence: String::new(),
            hint: hint.into(),
            class: Class::Environment,
        }
    }

    /// A wrong flag or file.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            evidence: String::new(),
            hint: hint.into(),
            class: Class::Usage,
        }
    }

    /// The JSON document of `--json`.
    pub fn document(&self) -> String {
        let document = Document::from(Problem {
            message: self.message.clone(),
            hint: self.hint.clone(),
            exit_code: self.class.code(),
        });
        serde_json::to_string_pretty(&document).unwrap_or_default()
    }

    fn of_environment(error: &dyn Error, hint: String) -> Self {
        Self {
            message: error.to_string(),
            evidence: String::new(),
            hint,
            class: Class::Environment,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, text) in self.message.lines().enumerate() {
            let lead = if number == 0 { "error: " } else { "  " };
            writeln!(f, "{lead}{}", crate::report::workflow::tame(text))?;
        }
        for text in self.evidence.lines().rev().take(15).collect::<Vec<_>>().into_iter().rev() {
            writeln!(f, "  | {}", crate::report::terminal::harmless(text, 200))?;
        }
        writeln!(f, " hint: {}", self.hint)
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let hint = error.hint();
        let mut failure = Self::of_environment(&error, hint);
        if matches!(error, GitError::UnknownReference { .. } | GitError::BranchTaken { .. }) {
            failure.class = Class::Usage;
        }
        failure
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let hint = error.hint();
        let mut failure = Self::of_environment(&error, hint);
        if let RunError::NoReport { tail, .. } | RunError::SetUp { tail, .. } = error {
            failure.evidence = tail;
        }
        failure
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let hint = error.hint();
        let mut failure = Self::of_environment(&error, hint);
        if matches!(error, StoreError::Missing { .. } | StoreError::Archived { .. }) {
            failure.class = Class::Usage;
        }
        failure
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Effect(error) => error.into(),
            OpenError::Resume { .. } => {
                let hint = error.hint();
                Self::usage(error.to_string(), hint)
            }
        }
    }
}

impl From<EffectError> for Failure {
    fn from(error: EffectError) -> Self {
        match error {
            EffectError::Git(error) => error.into(),
            EffectError::Run(error) => error.into(),
            EffectError::Store(error) => error.into(),
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Open(error) => error.into(),
            PlanError::NoFramework { .. } => {
                let hint = error.hint();
                Self::of_environment(&error, hint)
            }
            PlanError::Source(_) | PlanError::NoSession { .. } => {
                let hint = error.hint();
                Self::usage(error.to_string(), hint)
            }
        }
    }
}

impl From<EntryError> for Failure {
    fn from(error: EntryError) -> Self {
        let hint = error.hint();
        Self::usage(error.to_string(), hint)
    }
}

impl From<cycle::Failure> for Failure {
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
