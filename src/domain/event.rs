//! `Event`: everything that regreen shows of a session. Terminal, JSON document, report and any
//! other screen are projections of this one stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::Spending;
use super::chain::ProviderCall;
use super::explanation::{Explanation, SearchSummary};
use super::id::{CommitId, RepoPath, TestId};
use super::rate::PassRate;
use super::strategy::Strategy;
use super::task::TaskStatus;
use super::test::Objection;

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
        /// Name of the test framework.
        framework: String,
        /// The full test command, as typed in a shell.
        command: String,
        /// Whether an earlier session is resumed.
        resumed: bool,
    },
    /// Information that needs no action, written by regreen.
    Notice {
        /// The diagnosis in one or two sentences.
        text: String,
    },
    /// After a run a person had a kept fix reverted; no tests ran since.
    Reverted {
        /// The iteration that had made the fix.
        iteration: u32,
    },
    /// A longer step begins; it is shown as running until the next event.
    Step {
        /// The iteration; absent before the first one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        iteration: Option<u32>,
        /// What is being done, as a present participle: `running the full suite`.
        doing: String,
    },
    /// A phase of a test session begins; it is shown as running until the next event.
    Phase {
        /// The phase, from 1 to 5.
        phase: u32,
        /// What is being done, as a present participle: `gathering context`.
        doing: String,
    },
    /// Progress of the running step.
    Progress {
        done: u64,
        /// Total number of units, if known.
        total: Option<u64>,
        /// What is counted, such as `candidates` or `tests`.
        unit: String,
    },
    /// A run of tests ended.
    Ran {
        iteration: u32,
        run: u32,
        /// Number of tests of the whole suite, as far as known.
        of: u32,
        failed: u32,
        duration_ms: u64,
    },
    /// The suite ran on the commit under test.
    Baseline {
        rate: PassRate,
        failing: Vec<TestId>,
        /// Flaky tests: they failed and passed on the same sources.
        flaky: Vec<TestId>,
        /// Tests that fail on the merge base too.
        preexisting: Vec<TestId>,
    },
    IterationStarted {
        /// The number of the iteration, from 1.
        iteration: u32,
        strategy: Strategy,
        /// Reason for the strategy, written by regreen.
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
    /// A change was proposed.
    Proposed {
        iteration: u32,
        /// Who proposes the edit.
        author: String,
        /// The edit in one line.
        summary: String,
        /// The files that the edit would change.
        files: Vec<String>,
        /// Number of candidates tried to find it.
        tried: u32,
    },
    /// A proposal was refused by a guard.
    Rejected {
        iteration: u32,
        /// The rules that the proposal breaks.
        reasons: Vec<String>,
    },
    /// The complete change was minimised as far as possible.
    Minimised(Minimised),
    /// The test files that were written before the first run of the suite.
    TestsWritten {
        /// All files that were kept.
        files: Vec<WrittenFile>,
    },
    /// The tasks of a test session; sent again each time one of them changes.
    Tasks {
        /// All tasks, in the order in which they are done.
        tasks: Vec<TaskRow>,
    },
    IterationEnded(IterationRow),
    /// The session ended, or was stopped at a checkpoint.
    Closed(Box<Outcome>),
}

impl Event {
    /// Whether the branch may have new commits, as after a baseline with written tests.
    pub fn follows_commit(&self) -> bool {
        matches!(
            self,
            Self::Baseline { .. } | Self::IterationEnded(_) | Self::Minimised(_) | Self::Closed(_)
        )
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
    /// Agent that does the task, such as `@code-developer`.
    pub agent: String,
    pub status: TaskStatus,
}

/// A test file that was written and kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct WrittenFile {
    pub file: RepoPath,
    /// The source file that it tests.
    pub subject: RepoPath,
    /// Number of its tests.
    pub tests: u32,
}

/// What a session that writes tests has written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct WrittenWork {
    /// The files with new tests.
    pub files: Vec<WrittenFile>,
    /// Why there are none, as a clause; empty where there are.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub obstacle: String,
    /// The gates that are not met, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed_gates: Vec<String>,
    /// The numbers that the tests do not reach, with the reason; none of them fails a gate.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shortfall: String,
    /// What was found in the code, such as contradictions of its documentation, a line for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// The boundaries for which a session of integration tests has written none, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untested: Vec<String>,
}

/// How a run ended, with everything that a summary shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Outcome {
    pub session: String,
    pub result: Ending,
    /// Why, in text written by regreen.
    pub reason: String,
    /// Why the last full run is not green, whatever its tests say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objection>,
    /// Pass rate of the baseline; absent if the baseline gave no results.
    pub initial: Option<PassRate>,
    /// The last known rate.
    pub last: Option<PassRate>,
    /// Whether the last rate includes results carried over from earlier runs.
    pub estimated: bool,
    pub iterations: Vec<IterationRow>,
    /// Tests that still fail, with criticality and evidence.
    pub failing: Vec<Remaining>,
    /// Stuck tests: they failed several times in a row.
    pub stuck: Vec<TestId>,
    /// Flaky tests, which failed and passed on the same sources.
    pub flaky: Vec<TestId>,
    /// Tests that also fail on the merge base.
    pub preexisting: Vec<TestId>,
    /// Tests that failed in the baseline and pass on the merge base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub introduced: Vec<TestId>,
    /// The merge base on which failing tests ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<CommitId>,
    /// What held test code back, one sentence each, written by regreen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protection: Vec<String>,
    /// Why accepted changes look made for the tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub special_cases: Vec<String>,
    /// Whether no edit of the code can honestly meet the gate: tests contradict each other, or
    /// something is missing that the tests need.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfixable: bool,
    /// Suites that were found and not run, each with the way to run it, written by regreen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<String>,
    /// How earlier sessions led this one, one line each, written by regreen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// Whether, in some iteration, providers were available, but none gave a good answer.
    pub degraded: bool,
    /// Whether the iteration limit or one of what providers may cost ended the run, so that a higher
    /// one continues it.
    #[serde(default)]
    pub limit_reached: bool,
    /// What the providers' answers cost.
    #[serde(default)]
    pub spending: Spending,
    /// The options that the next run needs, as words of a command line: those of a dry run, and
    /// higher limits after one that is used up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The iteration limit that reopens a session which ended below its gate; absent when none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopening_limit: Option<u32>,
    /// What was written, in a session that writes tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<WrittenWork>,
    /// Calls that belong to no row of `iterations`, because their iteration has not ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished_calls: Vec<ProviderCall>,
    /// The iteration that the run stopped in; absent when none had begun, or the last had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<UnfinishedIteration>,
    /// What the last search looked at, if it found nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched: Option<SearchSummary>,
    /// The result of making the change smaller; absent when that was not tried.
    #[serde(default)]
    pub minimised: Option<Minimised>,
    /// What a dry run found out about the failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    pub branch: String,
    /// The branch the user had checked out; absent with a detached head.
    pub onto: Option<String>,
    /// The tip of the fix branch.
    pub tip: Option<CommitId>,
    /// Unified diff from the head under test to the last accepted sources.
    pub patch: String,
    /// Path of the report.
    pub report: String,
    pub folder: String,
    /// Wall time of all runs of the fix loop.
    pub duration_ms: u64,
    /// Wall time spent in test runs.
    pub testing_ms: u64,
}

impl Outcome {
    /// Whether every test that counts passes, and only what the run says beside them is not green.
    #[must_use]
    pub fn is_objected(&self) -> bool {
        self.result == Ending::Failure && self.failing.is_empty() && !self.objections.is_empty()
    }
}

/// An iteration that a run stopped in, with what it came to until then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct UnfinishedIteration {
    pub iteration: u32,
    pub strategy: Strategy,
    /// Number of candidates tried.
    pub candidates: u32,
    /// The edit that it found and had not confirmed; it is part of no commit.
    pub edit: Option<UnconfirmedEdit>,
}

/// An edit that was found, but whose test run had not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct UnconfirmedEdit {
    /// A provider name, or `embedded`.
    pub author: String,
    /// The edit in one line.
    pub summary: String,
    /// Why it looks made for the tests, if it does.
    pub suspicion: Option<String>,
    /// The edit as a unified diff, cut if it is very long.
    pub patch: String,
}

/// Result of minimising the change, with proof for each hunk (specification.md 7.17).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Minimised {
    /// Number of lines removed or added by the original change.
    pub before: u32,
    /// Number of lines removed or added by the minimised change.
    pub after: u32,
    /// Number of hunks of the original change; only for readers of the file.
    pub hunks_before: usize,
    /// The hunks of the minimised change.
    pub needed: Vec<NeededHunk>,
    /// Whether nothing was to be dropped: each hunk was taken out only to prove that it is needed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_whole: bool,
    /// Whether it was completed within its limits of time and runs.
    pub complete: bool,
    /// Number of test runs it took.
    pub runs: u32,
}

/// A hunk, and the tests that fail without it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NeededHunk {
    /// The place after the change, as `file:line`.
    pub place: String,
    /// Some of the tests that fail without the hunk; empty if none was shown to fail.
    pub tests: Vec<TestId>,
}

/// How a session ended (specification.md 7.15, 9.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every test passes on a final full run.
    Success,
    /// The target was reached, and only low-criticality failures are left.
    PartialSuccess,
    /// The gate was not met.
    #[default]
    Failure,
    /// Stopped at a checkpoint: budget, deadline or a signal. Resumable.
    Blocked,
    /// A dry run or a plan: nothing was changed, as requested.
    Planned,
}

impl Ending {
    /// Whether the suite meets its gate.
    #[must_use]
    pub fn meets_gate(self) -> bool {
        matches!(self, Self::Success | Self::PartialSuccess)
    }

    /// Whether everything that was requested is done.
    #[must_use]
    pub fn is_done(self) -> bool {
        self.meets_gate() || self == Self::Planned
    }
}

display_stored_name!(Ending);

/// A test that still fails at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Remaining {
    pub test: TestId,
    /// How bad the failure is: `high`, `medium` or `low`.
    pub criticality: String,
    /// Evidence for the criticality, written by regreen.
    pub evidence: String,
    /// The assertion in one line, with the innermost frames of the repository.
    pub message: String,
    /// File that defines the test, if known.
    #[serde(default)]
    pub file: Option<RepoPath>,
    /// Line of the definition or of the failure, from 1.
    #[serde(default)]
    pub line: Option<u32>,
}

/// What stands in the summary of an iteration between its edit and why that is suspicious.
pub const SUSPICIOUS: &str = " (suspicious: ";

impl IterationRow {
    /// Why its edit looks made for the tests, if it does.
    pub fn find_suspicion(&self) -> Option<&str> {
        self.summary.rsplit_once(SUSPICIOUS)?.1.strip_suffix(')')
    }
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
    /// Pass rate after the iteration; the rate before it if the change was undone.
    pub after: PassRate,
    /// Pass rate that the change reached before it was undone.
    pub reached: Option<PassRate>,
    /// The result: `improved`, `unchanged`, `regression`, `error`.
    pub outcome: String,
    /// Why, in text written by regreen.
    #[serde(default)]
    pub reason: String,
    /// Number of tests run in all runs of this iteration.
    pub tests_run: u32,
    /// Number of tests that full runs would have executed instead.
    pub tests_of: u32,
    pub tried: u32,
    /// The change in one line.
    pub summary: String,
    pub files: Vec<String>,
    /// The commit with the change, whether it was kept or reverted.
    pub commit: Option<CommitId>,
    /// Author of the proposal: a provider, or `embedded`.
    #[serde(default)]
    pub provider: String,
    /// Provider calls, in order.
    #[serde(default)]
    pub calls: Vec<ProviderCall>,
    /// Whether providers were available, but none gave a good answer.
    #[serde(default)]
    pub degraded: bool,
    /// Tests that fail on the sources accepted after this iteration.
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
