//! `FixSettings`: the settings of one run of the fix loop.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::session::{SessionChoice, SessionKind};

/// How one run of the fix loop is set up: the request, the configuration and the defaults merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixSettings {
    /// The repository, or a folder below it.
    pub repository: PathBuf,
    pub test_command: Option<String>,
    /// Glob of the JUnit XML or TAP report that the command writes, below the repository.
    pub report: Option<String>,
    /// Shell commands that prepare a checkout before its first run.
    pub setup: Vec<String>,
    /// Time limit of one test run.
    pub test_timeout: Duration,
    /// Pass rate of the gate, in percent, 1 to 100.
    pub target: u32,
    /// Iteration limit, 1 to 50; `None` takes the stored one on resume, else 10.
    pub max_iterations: Option<u32>,
    /// A new session, or the one to resume.
    pub session: SessionChoice,
    /// Fix branch; `None` means `regreen/<session>`.
    pub branch: Option<String>,
    /// Base reference, to tell introduced failures from pre-existing ones.
    pub base: Option<String>,
    /// Time limit of this run.
    pub budget: Option<Duration>,
    /// Number of candidates tried at the same time.
    pub jobs: usize,
    pub kind: SessionKind,
    /// The module that a session of integration tests is about, as the user wrote it.
    pub module: Option<String>,
    /// What the session may change.
    pub mode: Mode,
    /// Globs of test files by layer: `static`, `unit`, `integration`, `e2e`.
    pub layers: BTreeMap<String, String>,
    /// Commands that replace the detected tools.
    pub tools: ToolCommands,
}

/// Shell commands of the project that replace the detected tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCommands {
    pub lint: Option<String>,
    pub build: Option<String>,
    /// Command that runs the suite with coverage.
    pub coverage: Option<String>,
    /// Glob of the coverage report, below the folder in which the command runs.
    pub coverage_report: Option<String>,
}

/// Where a run finds what earlier sessions left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemorySource {
    /// In the repository itself, where it also leaves what it learns.
    #[default]
    Local,
    File(PathBuf),
    /// Nowhere.
    None,
}

/// What a run may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Commit on the fix branch.
    #[default]
    Apply,
    /// Write patches into the session folder; no branch, no commit.
    Suggest,
    /// Run the baseline and report what would be done; no branch, no commit, no search.
    DryRun,
}
