//! All that can be shown. Terminal, JSON document, report and every later screen are projections
//! of this one stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{CommitId, TestId};
use super::rate::PassRate;
use super::strategy::Strategy;

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
    /// A longer step begins; it is shown as running until the next event.
    Step {
        /// The iteration; 0 is the baseline.
        iteration: u32,
        /// In our own words, as a present participle: `running the full suite`.
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
    /// An iteration ended.
    IterationEnded(IterationRow),
    /// The session ended, or was stopped at a checkpoint.
    Closed {
        /// `success`, `partial_success`, `failure`, `blocked`.
        result: String,
        /// In our own words.
        reason: String,
        /// Last known rate.
        rate: PassRate,
        /// Tests that still fail.
        failing: Vec<TestId>,
    },
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
    /// Wall time.
    pub duration_ms: u64,
}
