//! The forms of the state files, as they are stored and published (specification.md 5.5, 5.6, 8.4 to
//! 8.6). What a field means stands here; [`super::records`] fills them from the loop's state.
//!
//! A field that was not in the first version is optional, so that older files stay readable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::chain::ProviderCall;
use crate::domain::criticality::Criticality;
use crate::domain::failure::Signature;
use crate::domain::fix_loop::IterationResult;
use crate::domain::id::{CommitId, RepoPath, TestId};
use crate::domain::plan::RootCause;
use crate::domain::strategy::Strategy;
pub use crate::domain::task::TaskStatus;
use crate::domain::test::Layer;

/// `test-results.json`: the last run of the suite (specification.md 8.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestResults {
    /// Tests that passed or failed.
    pub total: u32,
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed.
    pub failed: u32,
    /// Tests that were not run on purpose.
    pub skipped: u32,
    /// Percent with one decimal, cut; absent when nothing was counted.
    pub pass_rate: Option<String>,
    /// Counts per layer.
    pub layer_distribution: LayerDistribution,
    /// The failed tests, in order of their ids.
    pub failures: Vec<FailedTest>,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// What the run covered.
    pub scope: Coverage,
    /// The command as a person would type it.
    pub command: String,
    /// Its exit code; absent when a signal ended it.
    pub exit_code: Option<i32>,
    /// RFC 3339.
    pub started_at: String,
    /// Tests that failed and passed unchanged.
    #[serde(default)]
    pub flaky: Vec<TestId>,
}

/// Counts per layer (specification.md 6.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayerDistribution {
    /// Compilers, linters, type checkers.
    #[serde(rename = "static")]
    pub static_checks: Counts,
    /// One function or class.
    pub unit: Counts,
    /// Several modules.
    pub integration: Counts,
    /// The whole program.
    pub e2e: Counts,
}

/// Tests of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Tests that passed or failed.
    pub total: u32,
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed.
    pub failed: u32,
}

/// What a run covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// The whole suite.
    Full,
    /// The tests that a change may affect.
    Affected,
}

/// One failed test of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedTest {
    /// Its name in the framework.
    pub test: TestId,
    /// What it said.
    pub error: String,
    /// Class of the error; empty when the tool names none.
    #[serde(default)]
    pub error_class: String,
    /// The stack trace as printed.
    #[serde(default)]
    pub stack_trace: String,
    /// The file that defines it.
    pub file: Option<RepoPath>,
    /// The line of its definition or failure, from 1.
    pub line: Option<u32>,
    /// Its layer.
    pub test_type: Layer,
    /// How bad it is.
    pub criticality: Criticality,
    /// What says so, in our own words.
    pub criticality_evidence: String,
    /// What failures of one cause have in common.
    pub signature: Signature,
}

/// `iteration-N-failures.json`: what an iteration begins with (specification.md 8.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IterationFailures {
    /// From 1.
    pub iteration: u32,
    /// RFC 3339.
    pub captured_at: String,
    /// Percent with one decimal, cut.
    pub pass_rate: Option<String>,
    /// Failing tests of the accepted sources.
    pub failures: Vec<KnownFailure>,
    /// Tests that failed in their three most recent results.
    #[serde(default)]
    pub stuck_tests: Vec<TestId>,
}

/// A failing test as the ledger knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFailure {
    /// Its name in the framework.
    pub test: TestId,
    /// What it said.
    pub error: String,
    /// The file that defines it.
    pub file: Option<RepoPath>,
    /// The line of its definition or failure, from 1.
    pub line: Option<u32>,
    /// Its layer.
    pub test_type: Layer,
}

/// `fix-history.json`: every iteration that ended, in order (specification.md 8.5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FixHistory(pub Vec<FixRecord>);

/// One iteration that ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FixRecord {
    /// From 1.
    pub iteration: u32,
    /// Its task.
    pub task_id: String,
    /// How bold it was.
    pub strategy: Strategy,
    /// The same for attempts at the same cause.
    pub root_cause_fingerprint: String,
    /// Places its plan named, as `file:function:start-end`.
    pub modification_points: Vec<String>,
    /// From 0 to 1.
    pub confidence: f64,
    /// Who proposed.
    pub provider: String,
    /// Who was asked, what came of it, and why the chain moved on.
    #[serde(default)]
    pub calls: Vec<ProviderCall>,
    /// `normal` or `degraded`.
    pub analysis_quality: String,
    /// Percent with one decimal, cut.
    pub pass_rate_before: String,
    /// The same after it, as accepted.
    pub pass_rate_after: String,
    /// What came of it.
    pub outcome: IterationResult,
    /// The commit that keeps or shows it.
    pub commit_sha: Option<CommitId>,
    /// Why it was taken back; only after a regression.
    pub regression_reason: Option<String>,
    /// What was changed, one line.
    pub summary: String,
}

/// `IMPL-fix-N.json`: the task of one iteration (specification.md 5.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FixTask {
    /// `IMPL-fix-N`.
    pub id: String,
    /// Iteration and approach.
    pub title: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// Who, when, how.
    pub meta: FixTaskMeta,
    /// What is wrong and what to do.
    pub context: FixTaskContext,
}

/// Who works on a fix, and where its papers lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FixTaskMeta {
    /// Always `test-fix-iteration`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Always `@test-fix-agent`.
    pub agent: String,
    /// From 1.
    pub iteration: u32,
    /// The limit.
    pub max_iterations: u32,
    /// How bold it is.
    pub strategy: Option<Strategy>,
    /// The task whose failure it repairs.
    pub parent_task: String,
    /// The analysis, relative to the session folder.
    pub analysis_report: String,
    /// What the search said, relative to the session folder.
    pub cli_output: String,
    /// `normal` or `degraded`.
    pub analysis_quality: String,
    /// Who made the diagnosis.
    pub provider: String,
}

/// What is wrong and what to do about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FixTaskContext {
    /// What must be reached.
    pub requirements: Vec<String>,
    /// How a person can check it.
    pub acceptance: Vec<String>,
    /// Places to look at first, as `file:function:start-end`.
    pub focus_paths: Vec<String>,
    /// What fails.
    pub failure_context: FailureContext,
    /// What is to be changed.
    pub fix_strategy: FixStrategy,
}

/// What fails when the task begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureContext {
    /// Failing tests that count.
    pub failed_tests: Vec<TestId>,
    /// Tests that failed in their three most recent results.
    #[serde(default)]
    pub stuck_tests: Vec<TestId>,
}

/// What is to be changed and how it is checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FixStrategy {
    /// One or two sentences.
    pub approach: String,
    /// Causes, most likely first.
    pub root_causes: Vec<RootCause>,
    /// Places to change, as `file:function:start-end`; at least one.
    pub modification_points: Vec<String>,
    /// From 0 to 1.
    pub confidence_score: f64,
    /// What is expected to pass afterwards.
    pub expected_outcome: String,
    /// How a person can check it.
    pub verification_steps: Vec<String>,
    /// Which tests are run.
    pub test_execution: TestExecution,
}

/// Which tests are run after the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestExecution {
    /// Some tests, or all.
    pub mode: TestMode,
    /// Tests the change may affect.
    pub affected_tests: Vec<TestId>,
    /// Whether a full run follows when these pass.
    pub fallback_to_full: bool,
}

/// How much is run after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestMode {
    /// Tests the change may affect, first.
    AffectedOnly,
    /// The whole suite.
    FullSuite,
}

/// `IMPL-002.json`: the task of running the suite (specification.md 5.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteTask {
    /// Always `IMPL-002`.
    pub id: String,
    /// One line.
    pub title: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// Who, and how often at most.
    pub meta: SuiteTaskMeta,
    /// When it is done.
    pub context: SuiteTaskContext,
    /// How it proceeds.
    pub flow_control: SuiteTaskFlow,
}

/// Who runs the suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteTaskMeta {
    /// Always `test-fix`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Always `@test-fix-agent`.
    pub agent: String,
    /// The limit.
    pub max_iterations: u32,
}

/// When the suite's task is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteTaskContext {
    /// The gate, in words.
    pub acceptance: Vec<String>,
    /// Tasks that come first.
    pub depends_on: Vec<String>,
}

/// How the suite's task proceeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteTaskFlow {
    /// The cycle.
    pub test_fix_cycle: TestFixCycle,
}

/// Bounds of the cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestFixCycle {
    /// The limit.
    pub max_iterations: u32,
    /// What ends it.
    pub exit_conditions: Vec<String>,
}
