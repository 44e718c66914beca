//! All that can be shown. Terminal, JSON document, report and every later screen are projections
//! of this one stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::Spending;
use super::chain::ProviderCall;
use super::id::{CommitId, RepoPath, TestId};
use super::rate::PassRate;
use super::strategy::Strategy;
use super::task::TaskStatus;

/// An event of a run. Texts are foreign unless stated otherwise: a screen bounds and escapes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Event {
    /// A session begins, or continues after a stop.
    Opened {
        session: String,
        /// The repository as the user named it.
        repository: String,
        head: CommitId,
        branch: String,
        /// The framework with its full command.
        framework: String,
        /// As a person would type it.
        command: String,
        /// Whether an earlier run is continued.
        resumed: bool,
    },
    /// Something a person should know and need not act on, in our own words.
    Notice {
        /// The diagnosis in one or two sentences.
        text: String,
    },
    /// A person had a kept fix taken back after the end; nothing was tested since.
    TakenBack {
        /// The iteration that had made it.
        iteration: u32,
    },
    /// A longer step begins; it is shown as running until the next event.
    Step {
        /// The iteration; `None` before the first one. Stored as 0 then.
        #[serde(with = "iteration_or_zero")]
        #[schemars(with = "u32")]
        iteration: Option<u32>,
        /// In our own words, as a present participle: `running the full suite`.
        doing: String,
    },
    /// A phase of a test session begins; it is shown as running until the next event.
    Phase {
        /// The phase, from 1 to 5.
        phase: u32,
        /// In our own words, as a present participle: `gathering context`.
        doing: String,
    },
    /// How far the running step is.
    Progress {
        done: u64,
        /// Of so many, when known.
        total: Option<u64>,
        /// What is counted, such as `candidates` or `tests`.
        unit: String,
    },
    /// A run of tests ended.
    Ran {
        iteration: u32,
        run: u32,
        /// Tests of the whole suite, as far as known.
        of: u32,
        failed: u32,
        duration_ms: u64,
    },
    /// The suite ran on the commit under test.
    Baseline {
        rate: PassRate,
        failing: Vec<TestId>,
        /// Tests that failed and passed unchanged.
        flaky: Vec<TestId>,
        /// Tests that fail on the merge base too.
        preexisting: Vec<TestId>,
    },
    IterationStarted {
        /// The number of the iteration, from 1.
        iteration: u32,
        strategy: Strategy,
        /// Why this one, in our own words.
        reason: String,
        /// The rate before the iteration.
        rate: PassRate,
    },
    Asked {
        iteration: u32,
        /// The question and its outcome.
        call: ProviderCall,
        /// What the session has spent so far, this call included.
        spent: Spending,
    },
    /// An idea what to change.
    Proposed {
        iteration: u32,
        /// Who proposes the edit.
        author: String,
        /// The edit in one line.
        summary: String,
        /// The files that the edit would change.
        files: Vec<String>,
        /// Candidates tried to find it.
        tried: u32,
    },
    /// A proposal was refused by a guard.
    Rejected {
        iteration: u32,
        /// The rules that the proposal breaks.
        reasons: Vec<String>,
    },
    /// The change was made smaller, as far as that goes.
    Minimised(Minimised),
    /// The tasks of a session that writes tests, each time that one of them changes.
    Tasks {
        /// In the order in which they are done.
        tasks: Vec<TaskRow>,
    },
    IterationEnded(IterationRow),
    /// The session ended, or was stopped at a checkpoint.
    Closed(Box<Outcome>),
}

/// An iteration that may be absent, stored as a number from 1, or as 0.
mod iteration_or_zero {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(
        clippy::ref_option,
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes the field by reference"
    )]
    pub fn serialize<S: Serializer>(iteration: &Option<u32>, to: S) -> Result<S::Ok, S::Error> {
        iteration.unwrap_or_default().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
        Ok(Some(u32::deserialize(from)?).filter(|iteration| *iteration > 0))
    }
}

/// A task of a session that writes tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct TaskRow {
    /// The id of the task, such as `IMPL-001.3`.
    pub id: String,
    /// The title in one line, which may quote foreign words.
    pub title: String,
    /// Who works on it, such as `@code-developer`.
    pub agent: String,
    pub status: TaskStatus,
}

/// How a run ended, with all that a summary shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Outcome {
    pub session: String,
    pub result: Ending,
    /// Why, in our own words.
    pub reason: String,
    /// Rate of the baseline; absent when it could not be had.
    pub initial: Option<PassRate>,
    /// The last known rate.
    pub last: Option<PassRate>,
    /// Whether the last rate has entries carried over from earlier runs.
    pub estimated: bool,
    pub iterations: Vec<IterationRow>,
    /// Tests that still fail, with criticality and its evidence in words.
    pub failing: Vec<Remaining>,
    /// Failed in their three most recent results.
    pub stuck: Vec<TestId>,
    /// Failed and passed unchanged; kept out of the gate.
    pub flaky: Vec<TestId>,
    /// Failing on the merge base too.
    pub preexisting: Vec<TestId>,
    /// Whether in some iteration providers were there and none gave a good answer.
    pub degraded: bool,
    /// What the providers' answers cost.
    #[serde(default)]
    pub spending: Spending,
    /// The result of making the change smaller; absent when that was not tried.
    #[serde(default)]
    pub minimised: Option<Minimised>,
    pub branch: String,
    /// The branch the user had checked out; absent with a detached head.
    pub onto: Option<String>,
    /// The tip of the fix branch.
    pub tip: Option<CommitId>,
    /// Unified diff from the head under test to the last accepted sources.
    pub patch: String,
    /// The file name of the report.
    pub report: String,
    pub folder: String,
    /// Wall time of all runs of the session.
    pub duration_ms: u64,
    /// Wall time spent in test runs.
    pub testing_ms: u64,
}

/// How small the change became, and why the rest of it stays (specification.md 13.5, 13.18).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Minimised {
    /// Lines that the change took away or brought in before.
    pub before: u32,
    /// Lines changed afterwards.
    pub after: u32,
    pub hunks_before: usize,
    /// What stays, hunk by hunk.
    pub needed: Vec<NeededHunk>,
    /// Whether it was tried to the end, within its limits of time and runs.
    pub complete: bool,
    /// Runs of tests it took.
    pub runs: u32,
}

/// The negative control of one hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NeededHunk {
    /// The place after the change, as `file:line`.
    pub place: String,
    /// Tests that fail without it, some of them; empty when that could not be shown.
    pub tests: Vec<TestId>,
}

/// How a session ended (specification.md 7.15, 9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every test passes on a final full run.
    Success,
    /// At least the target, and only low-criticality failures left.
    PartialSuccess,
    /// The gate was not met.
    Failure,
    /// Stopped at a checkpoint: budget, deadline or a signal. Resumable.
    Blocked,
    /// Nothing was changed on request: dry run.
    Planned,
}

/// A test that still fails at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Remaining {
    pub test: TestId,
    /// How bad the failure is: `high`, `medium` or `low`.
    pub criticality: String,
    /// What says so, in our own words.
    pub evidence: String,
    /// First line of what it said.
    pub message: String,
    /// The file that fails, when it is known.
    #[serde(default)]
    pub file: Option<RepoPath>,
    /// The line of the test, from 1.
    #[serde(default)]
    pub line: Option<u32>,
}

/// A row of the iteration table: an iteration and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct IterationRow {
    /// The number of the iteration, from 1.
    pub iteration: u32,
    pub strategy: Strategy,
    /// The rate before the iteration.
    pub before: PassRate,
    /// Rate after, as tested; the rate before again when the change was taken back.
    pub after: PassRate,
    /// Rate the change itself reached, when it was taken back.
    pub reached: Option<PassRate>,
    /// The result: `improved`, `unchanged`, `regression`, `skipped_degraded`, `error`.
    pub outcome: String,
    /// Tests run in this iteration, all runs together.
    pub tests_run: u32,
    /// Tests that full runs instead would have run.
    pub tests_of: u32,
    pub tried: u32,
    /// The change in one line.
    pub summary: String,
    pub files: Vec<String>,
    /// The commit that keeps it, or that shows the attempt.
    pub commit: Option<CommitId>,
    /// Who proposed: a provider, or `embedded`.
    #[serde(default)]
    pub provider: String,
    /// Questions to providers, in order.
    #[serde(default)]
    pub calls: Vec<ProviderCall>,
    /// Whether providers were there and none gave a good answer.
    #[serde(default)]
    pub degraded: bool,
    /// Tests that fail on the sources that are accepted after it.
    #[serde(default)]
    pub failing: Vec<TestId>,
    /// The analysis, as its author wrote it; empty when there was none.
    #[serde(default)]
    pub analysis: String,
    /// The proposal as a unified diff; cut when it is very long.
    #[serde(default)]
    pub patch: String,
    pub duration_ms: u64,
}
