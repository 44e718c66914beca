//! The JSON document that `--json` prints at the end of a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::budget::Spending;
use crate::domain::chain::ProviderCall;
use crate::domain::event::{Ending, Minimised, Outcome, Remaining, UnfinishedIteration};
use crate::domain::explanation::Explanation;
use crate::domain::rate::PassRate;
use crate::domain::strategy::Strategy;
use crate::domain::test::Objection;

/// A pass rate: the percentage with one decimal, and the counts behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Rate {
    /// Percent with one decimal, never rounded up to a whole percent.
    pub percent: f64,
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed.
    pub failed: u32,
    /// Tests that passed or failed; skipped ones do not count.
    pub total: u32,
}

impl From<PassRate> for Rate {
    fn from(rate: PassRate) -> Self {
        Self {
            percent: f64::from(rate.per_mille().tenths()) / 10.0,
            passed: rate.passed,
            failed: rate.total - rate.passed,
            total: rate.total,
        }
    }
}

/// One iteration as a row of the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Iteration {
    /// Counted from 1.
    pub iteration: u32,
    /// The strategy it followed.
    pub strategy: Strategy,
    /// One of `improved`, `unchanged`, `regression`, `skipped_degraded`, `error`.
    pub outcome: String,
    /// The rate before it started.
    pub before: Rate,
    /// The rate that was accepted after it.
    pub after: Rate,
    /// Pass rate that the change reached, if it was reverted.
    pub reached: Option<Rate>,
    /// Tests that were run, over all runs of the iteration.
    pub tests_run: u32,
    /// Tests that would have run if every run had been a full one.
    pub tests_total: u32,
    /// How many candidate edits it tried.
    pub candidates: u32,
    /// The commit it left on the fix branch.
    pub commit: Option<String>,
    /// The files it changed.
    pub changed_files: Vec<String>,
    /// The change, summarised in one line.
    pub summary: String,
    /// Provider that proposed the change.
    pub provider: String,
    /// Whether providers were configured and none gave a usable answer.
    pub degraded: bool,
    /// Calls to providers, their results, and why the chain moved on.
    pub calls: Vec<ProviderCall>,
    /// Wall time of the iteration.
    pub seconds: f64,
}

/// An error that ended the run before there was an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Problem {
    /// What went wrong.
    pub message: String,
    /// What the user can do about it.
    pub hint: String,
    /// Exit code of the process.
    pub exit_code: u8,
}

/// The document that `--json` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Document {
    /// Version of this document format.
    pub schema_version: u32,
    /// Id of the session.
    pub session: Option<String>,
    /// How it ended.
    pub result: Option<Ending>,
    /// Why it ended so, or what went wrong.
    pub reason: String,
    /// Pass rate before any change.
    pub initial: Option<Rate>,
    /// Pass rate at the end.
    pub last: Option<Rate>,
    /// Whether the last rate includes results carried over from earlier runs.
    pub estimated: bool,
    /// Every iteration of the session.
    pub iterations: Vec<Iteration>,
    /// Name of the fix branch.
    pub branch: Option<String>,
    /// The branch that was checked out.
    pub onto: Option<String>,
    /// Commit at the tip of the fix branch.
    pub tip: Option<String>,
    /// Path of the report.
    pub report: Option<String>,
    /// Path of the session's folder.
    pub folder: Option<String>,
    /// Whether in some iteration providers were configured and none gave a usable answer.
    pub degraded: bool,
    /// What providers used: calls, tokens, money.
    pub spending: Spending,
    /// Calls of an iteration that has not ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished_calls: Vec<ProviderCall>,
    /// The iteration that the run stopped in, with an edit that was found and not confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<UnfinishedIteration>,
    /// Result of making the change smaller; absent when that was not tried.
    pub minimised: Option<Minimised>,
    /// What a dry run found out about the failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Whether no edit of the code can honestly meet the gate; the reason says why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfixable: bool,
    /// Why the last full run is not green, whatever its tests say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objection>,
    /// Tests that failed in each of their latest results, `loop.stuck-threshold` of them.
    pub stuck_tests: Vec<String>,
    /// Tests that failed and passed without a change.
    pub flaky_tests: Vec<String>,
    /// Tests that also fail on the merge base.
    pub preexisting_tests: Vec<String>,
    /// Tests that still fail, with evidence.
    pub failing_tests: Vec<Remaining>,
    /// Unified diff of the whole change.
    pub patch: String,
    /// Wall time of the session.
    pub seconds: f64,
    /// Wall time of test runs.
    pub testing_seconds: f64,
    /// The error, if there is no outcome.
    pub error: Option<Problem>,
}

fn seconds(milliseconds: u64) -> f64 {
    std::time::Duration::from_millis(milliseconds).as_secs_f64()
}

impl From<&Outcome> for Document {
    fn from(outcome: &Outcome) -> Self {
        let names =
            |tests: &[crate::domain::id::TestId]| tests.iter().map(ToString::to_string).collect();
        Self {
            schema_version: 1,
            session: Some(outcome.session.clone()),
            result: Some(outcome.result),
            reason: outcome.reason.clone(),
            initial: outcome.initial.map(Rate::from),
            last: outcome.last.map(Rate::from),
            estimated: outcome.estimated,
            iterations: outcome
                .iterations
                .iter()
                .map(|row| Iteration {
                    iteration: row.iteration,
                    strategy: row.strategy,
                    outcome: row.outcome.clone(),
                    before: row.before.into(),
                    after: row.after.into(),
                    reached: row.reached.map(Rate::from),
                    tests_run: row.tests_run,
                    tests_total: row.tests_of,
                    candidates: row.tried,
                    commit: row.commit.as_ref().map(ToString::to_string),
                    changed_files: row.files.clone(),
                    summary: row.summary.clone(),
                    provider: row.provider.clone(),
                    degraded: row.degraded,
                    calls: row.calls.clone(),
                    seconds: seconds(row.duration_ms),
                })
                .collect(),
            branch: Some(outcome.branch.clone()),
            onto: outcome.onto.clone(),
            tip: outcome.tip.as_ref().map(ToString::to_string),
            report: Some(outcome.report.clone()),
            folder: Some(outcome.folder.clone()),
            degraded: outcome.degraded,
            spending: outcome.spending,
            unfinished_calls: outcome.unfinished_calls.clone(),
            unfinished: outcome.unfinished.clone(),
            minimised: outcome.minimised.clone(),
            explanation: outcome.explanation.clone(),
            unfixable: outcome.unfixable,
            objections: outcome.objections.clone(),
            stuck_tests: names(&outcome.stuck),
            flaky_tests: names(&outcome.flaky),
            preexisting_tests: names(&outcome.preexisting),
            failing_tests: outcome.failing.clone(),
            patch: outcome.patch.clone(),
            seconds: seconds(outcome.duration_ms),
            testing_seconds: seconds(outcome.testing_ms),
            error: None,
        }
    }
}

impl From<Problem> for Document {
    fn from(problem: Problem) -> Self {
        Self {
            schema_version: 1,
            reason: problem.message.clone(),
            error: Some(problem),
            ..Self::default()
        }
    }
}
