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

/// One thing that happened. Texts are foreign unless said otherwise: a screen bounds and escapes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Event {
    /// A session begins, or goes on after a stop.
    Opened {
        /// Its id.
        session: String,
        /// The repository as the user named it.
        repository: String,
        /// Commit under test.
        head: CommitId,
        /// Fix branch.
        branch: String,
        /// Framework and full command.
        framework: String,
        /// As a person would type it.
        command: String,
        /// Whether an earlier run is continued.
        resumed: bool,
    },
    /// Something a person should know and need not act on, in our own words.
    Notice {
        /// One or two sentences.
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
        /// From 1 to 5.
        phase: u32,
        /// In our own words, as a present participle: `gathering context`.
        doing: String,
    },
    /// How far the running step is.
    Progress {
        /// Done so far.
        done: u64,
        /// Of so many, when known.
        total: Option<u64>,
        /// Of what: `candidates`, `tests`.
        unit: String,
    },
    /// A run of tests ended.
    Ran {
        /// The iteration.
        iteration: u32,
        /// Tests run.
        run: u32,
        /// Tests of the whole suite, as far as known.
        of: u32,
        /// Failed among the run.
        failed: u32,
        /// Wall time.
        duration_ms: u64,
    },
    /// The baseline is known.
    Baseline {
        /// Its rate.
        rate: PassRate,
        /// Failing tests.
        failing: Vec<TestId>,
        /// Tests that failed and passed unchanged.
        flaky: Vec<TestId>,
        /// Tests that fail on the merge base too.
        preexisting: Vec<TestId>,
    },
    /// An iteration begins.
    IterationStarted {
        /// From 1.
        iteration: u32,
        /// Its strategy.
        strategy: Strategy,
        /// Why this one, in our own words.
        reason: String,
        /// Rate before.
        rate: PassRate,
    },
    /// A provider was asked.
    Asked {
        /// The iteration.
        iteration: u32,
        /// The question and what came of it.
        call: ProviderCall,
        /// What the session has spent so far, this call included.
        spent: Spending,
    },
    /// An idea what to change.
    Proposed {
        /// The iteration.
        iteration: u32,
        /// Who proposes.
        author: String,
        /// One line.
        summary: String,
        /// Files it would change.
        files: Vec<String>,
        /// Candidates tried to find it.
        tried: u32,
    },
    /// A proposal was refused by a guard.
    Rejected {
        /// The iteration.
        iteration: u32,
        /// Named reasons.
        reasons: Vec<String>,
    },
    /// The change was made smaller, as far as that goes.
    Minimised(Minimised),
    /// The tasks of a session that writes tests, each time that one of them changes.
    Tasks {
        /// In the order in which they are done.
        tasks: Vec<TaskRow>,
    },
    /// An iteration ended.
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

/// One task of a session that writes tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct TaskRow {
    /// Such as `IMPL-001.3`.
    pub id: String,
    /// One line. It may quote foreign words.
    pub title: String,
    /// Who works on it, such as `@code-developer`.
    pub agent: String,
    /// Where it stands.
    pub status: TaskStatus,
}

/// How a run ended, with all that a summary shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Outcome {
    /// The session.
    pub session: String,
    /// How it ended.
    pub result: Ending,
    /// Why, in our own words.
    pub reason: String,
    /// Rate of the baseline; absent when it could not be had.
    pub initial: Option<PassRate>,
    /// Last known rate.
    pub last: Option<PassRate>,
    /// Whether the last rate has entries carried over from earlier runs.
    pub estimated: bool,
    /// All iterations.
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
    /// What providers took.
    #[serde(default)]
    pub spending: Spending,
    /// What came of making the change smaller; absent when that was not tried.
    #[serde(default)]
    pub minimised: Option<Minimised>,
    /// The fix branch.
    pub branch: String,
    /// The branch the user had checked out; absent with a detached head.
    pub onto: Option<String>,
    /// Its tip.
    pub tip: Option<CommitId>,
    /// Unified diff from the head under test to the last accepted sources.
    pub patch: String,
    /// The report.
    pub report: String,
    /// The session's folder.
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
    /// The same afterwards.
    pub after: u32,
    /// Hunks before.
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
    /// `file:line` after the change.
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
    /// The test.
    pub test: TestId,
    /// `high`, `medium` or `low`.
    pub criticality: String,
    /// What says so, in our own words.
    pub evidence: String,
    /// First line of what it said.
    pub message: String,
    /// The file that fails, when it is known.
    #[serde(default)]
    pub file: Option<RepoPath>,
    /// Its line, from 1.
    #[serde(default)]
    pub line: Option<u32>,
}

/// One row of the iteration table: what an iteration did and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct IterationRow {
    /// From 1.
    pub iteration: u32,
    /// Its strategy.
    pub strategy: Strategy,
    /// Rate before.
    pub before: PassRate,
    /// Rate after, as tested; the rate before again when the change was taken back.
    pub after: PassRate,
    /// Rate the change itself reached, when it was taken back.
    pub reached: Option<PassRate>,
    /// What came of it: `improved`, `unchanged`, `regression`, `skipped_degraded`, `error`.
    pub outcome: String,
    /// Tests run in this iteration, all runs together.
    pub tests_run: u32,
    /// Tests that full runs instead would have run.
    pub tests_of: u32,
    /// Candidates tried.
    pub tried: u32,
    /// What was changed, one line.
    pub summary: String,
    /// Files changed.
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
    /// What was proposed, as a unified diff; cut when it is very long.
    #[serde(default)]
    pub patch: String,
    /// Wall time.
    pub duration_ms: u64,
}
