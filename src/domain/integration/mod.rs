//! The state of an integration session, stored as `state.json`: what was explored, designed and
//! developed, and what each iteration taught (specification.md 3.2, 8.13).

mod conclusion;
pub mod design;
mod documentation;
pub mod exploration;
pub mod iteration;
mod learnings;
mod pipeline;
mod progress;
pub mod records;
mod reference_session;

use serde::{Deserialize, Serialize};

use crate::domain::event::Ending;
use crate::domain::id::{CommitId, RepoPath, SessionId, TestId, TreeId, slug};
use crate::domain::strategy::Strategy;

use design::TestDesign;
use exploration::Exploration;
use iteration::{FixEntry, Iterations};
use records::{Assumption, Decision};

pub use learnings::IntentCoverage;
pub use pipeline::{IntegrationGoal, IntegrationOutcome, IntegrationStep};
pub use reference_session::adopt_session;

/// How far an integration session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Init,
    Explored,
    Designed,
    Developed,
    Iterating,
    Completed,
}

display_stored_name!(Phase);

/// A test file that the session wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestFile {
    pub path: RepoPath,
    #[serde(default)]
    pub scenario_ids: Vec<String>,
    pub test_count: u32,
    /// The boundary that its tests cross.
    #[serde(default)]
    pub boundary: String,
    /// The ids of its tests.
    #[serde(default)]
    pub tests: Vec<TestId>,
    /// Whether its tests hold documented results that the code contradicted when they were written.
    #[serde(default)]
    pub is_disputed: bool,
    /// The provider that wrote it, or the embedded engine.
    #[serde(default)]
    pub author: String,
}

/// A boundary or a function without a test, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Untested {
    /// The boundary, with the function where that is what has no test.
    pub what: String,
    pub reason: String,
}

/// The tests that the session wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestInventory {
    pub test_files: Vec<TestFile>,
    pub total_tests: u32,
    pub total_files: u32,
    /// RFC 3339, in UTC.
    pub timestamp: String,
    pub untested: Vec<Untested>,
    /// Where the code contradicts its documentation.
    pub findings: Vec<String>,
    /// What the check of phase 4 found in the new files and repaired, and the tests that it dropped.
    pub fixed: Vec<String>,
    /// Where models were asked: who wrote which file and why, and what was dropped of their answers.
    pub authorship: Vec<String>,
}

impl TestInventory {
    /// The boundaries that a new test crosses.
    #[must_use]
    pub fn crosses_boundary(&self, boundary: &str) -> bool {
        self.test_files.iter().any(|file| file.boundary == boundary && file.test_count > 0)
    }

    /// Counts files and tests again.
    #[must_use]
    pub fn with_counts(mut self) -> Self {
        self.test_files.retain(|file| file.test_count > 0);
        self.total_tests = self.test_files.iter().map(|file| file.test_count).sum();
        self.total_files = u32::try_from(self.test_files.len()).unwrap_or(u32::MAX);
        self
    }
}

/// Numbers of the tests of a finished session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestMetrics {
    pub total_tests: u32,
    pub passed: u32,
    pub failed: u32,
    pub test_files: u32,
    pub integration_points_covered: u32,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// `success`, `partial_success` or `failure`.
    pub result: Ending,
    /// In percent; absent where no test ran.
    pub final_pass_rate: Option<f64>,
    pub total_iterations: u32,
    pub strategies_used: Vec<Strategy>,
    pub test_metrics: TestMetrics,
    pub key_learnings: Vec<String>,
    pub corrected_assumptions: Vec<String>,
    pub recommendations: Vec<String>,
    /// RFC 3339, in UTC.
    pub completed: String,
}

/// What a run needs to go on, beside what readers of the session need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub next: IntegrationStep,
    pub goal: IntegrationGoal,
    /// Whether the design waits for a person before tests are developed.
    pub confirm: bool,
    /// The sources under test, with the new tests once there are some.
    pub tree: TreeId,
    /// The commit with the new tests.
    #[serde(default)]
    pub commit: Option<CommitId>,
    /// Number of lines of the event stream that belong to this state.
    #[serde(default)]
    pub events: u64,
    /// Number of stored transitions that belong to this state.
    #[serde(default)]
    pub transitions: u64,
}

/// The whole state of an integration session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Integration {
    pub session_id: SessionId,
    /// The module as the request names it.
    pub module: String,
    /// RFC 3339, in UTC.
    pub started: String,
    pub max_iterations: u32,
    pub phase: Phase,
    pub exploration: Option<Exploration>,
    pub test_design: Option<TestDesign>,
    pub test_inventory: Option<TestInventory>,
    #[serde(default)]
    pub iterations: Iterations,
    #[serde(default)]
    pub fix_history: Vec<FixEntry>,
    #[serde(default)]
    pub assumptions: Vec<Assumption>,
    #[serde(default)]
    pub decisions: Vec<Decision>,
    #[serde(default)]
    pub summary: Option<SessionSummary>,
    pub checkpoint: Checkpoint,
}

impl Integration {
    /// A session that begins.
    #[must_use]
    pub fn new(
        session_id: SessionId,
        (module, started): (String, String),
        max_iterations: u32,
        checkpoint: Checkpoint,
    ) -> Self {
        Self {
            session_id,
            module,
            started,
            max_iterations,
            phase: Phase::Init,
            exploration: None,
            test_design: None,
            test_inventory: None,
            iterations: Iterations::default(),
            fix_history: Vec::new(),
            assumptions: Vec::new(),
            decisions: Vec::new(),
            summary: None,
            checkpoint,
        }
    }

    /// Whether tests failed before anything was written.
    #[must_use]
    pub fn began_red(&self) -> bool {
        self.assumptions.iter().any(Assumption::is_red_suite)
    }

    /// The boundaries that are crossed by a test, existing or new, and the number of all.
    #[must_use]
    pub fn crossed_boundaries(&self) -> (usize, usize) {
        let Some(exploration) = &self.exploration else { return (0, 0) };
        let points = &exploration.integration_points;
        let inventory = self.test_inventory.as_ref();
        let is_crossed =
            |name: &str| inventory.is_some_and(|inventory| inventory.crosses_boundary(name));
        let crossed =
            points.iter().filter(|point| point.is_crossed() || is_crossed(&point.boundary_name()));
        (crossed.count(), points.len())
    }
}

/// Longest part of a session id that comes from the request, in characters.
const SLUG: usize = 40;

/// The wanted id of a session: the day, then the words of the request (specification.md 3.2, F-132).
#[must_use]
pub fn session_name(module: &str, now: &str) -> String {
    let day = now.get(..10).unwrap_or(now);
    let words: String = slug(module).chars().take(SLUG).collect();
    format!("ITG-{day}-{}", words.trim_end_matches('-'))
}
