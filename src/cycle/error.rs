//! Errors that end a session, each with a hint for the user.

use crate::domain::framework::Framework;
use crate::domain::id::SessionId;
use crate::effect::{EffectError, GitError, RunError, StoreError};
use crate::role::integration::{ExploreError, ModuleError};
use crate::role::test_plan::GatherError;

/// The first effect that failed for good, or a request that cannot be met.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An operation of git, the test suite or the session's files failed.
    #[error(transparent)]
    Effect(#[from] EffectError),
    /// The request names nothing that exists in the repository.
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// The request names no module whose boundaries can be explored.
    #[error(transparent)]
    Module(ModuleError),
    /// A task file, which a person may have edited, cannot be carried out.
    #[error("{file}: {reason}")]
    Task { file: String, reason: String, session: SessionId },
    /// There is no test: none was there, and none could be written.
    #[error("there are no tests, and none could be written: {reason}")]
    NothingWritten { reason: String, framework: Option<Framework> },
    /// There is no test, because the code contradicts what is documented; one line for each finding.
    #[error("no test was written, because the code contradicts what is said of it:\n{}", findings.join("\n"))]
    Contradicted { findings: Vec<String> },
    /// A bug in regreen itself.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Failure {
    /// A value that cannot be written as JSON.
    pub fn serialise(error: &serde_json::Error) -> Self {
        Self::Internal(format!("cannot serialise: {error}"))
    }

    /// Whether the code under test does not load here.
    pub fn is_unloaded(&self) -> bool {
        matches!(self, Self::NothingWritten { reason, .. } if ["cannot be imported", "cannot be loaded"].iter().any(|one| reason.contains(one)))
    }

    /// What the reader can do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Effect(error) => error.hint(),
            Self::Gather(error) => error.hint(),
            Self::Module(error) => error.hint_text(),
            Self::Task { file, session, .. } => {
                format!("repair {file}, then `regreen test --resume {session}`")
            }
            Self::NothingWritten { framework, .. } if self.is_unloaded() => {
                if !framework.is_some_and(Framework::is_python) {
                    return "provide what the reason names, so that the test command loads the file; then start again".into();
                }
                "install what the code imports, and the project itself where its tests need that (`pip install -e .`); then start again".into()
            }
            Self::NothingWritten { reason, .. }
                if ["test review", "code check"].iter().any(|gate| reason.starts_with(gate)) =>
            {
                "what the reason names refused every test that was written: choose another file, or configure a model".into()
            }
            Self::NothingWritten { .. } => {
                "choose a file with functions that a test can call, or configure a model".into()
            }
            Self::Contradicted { .. } => {
                "repair the code or its documentation, then start `regreen test` again".into()
            }
            Self::Internal(_) => "report it with the session folder attached".into(),
        }
    }
}

impl From<ExploreError> for Failure {
    fn from(error: ExploreError) -> Self {
        match error {
            ExploreError::Module(error) => Self::Module(error),
            ExploreError::Effect(error) => Self::Effect(error),
        }
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        Self::Effect(error.into())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Effect(error.into())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Effect(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_load_is_installed_by_pip_in_python_alone() {
        let table = [
            (Framework::Pytest, "its module cannot be imported: no shop", true),
            (Framework::Unittest, "its file cannot be loaded: no shop", true),
            (Framework::Mocha, "its file cannot be loaded: describe is not defined", false),
            (Framework::Pytest, "reads the clock", false),
        ];
        for (framework, reason, expected) in table {
            let (framework, reason) = (Some(framework), reason.to_owned());
            let failure = Failure::NothingWritten { reason, framework };
            assert_eq!(failure.hint().contains("pip install"), expected, "{failure}");
        }
    }
}
