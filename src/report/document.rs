//! The one JSON document of `--json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::budget::Spending;
use crate::domain::chain::ProviderCall;
use crate::domain::event::{Ending, Minimised, Outcome, Remaining};
use crate::domain::rate::PassRate;
use crate::domain::strategy::Strategy;

/// A rate for programs: the share cut to one decimal, and the counts behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Rate {
    /// Percent, cut to one decimal.
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
            percent: f64::from(rate.per_mille()) / 10.0,
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
    /// `improved`, `unchanged`, `regression`, `skipped_degraded`, `error`.
    pub outcome: String,
    /// The rate before it started.
    pub before: Rate,
    /// The rate that was accepted after it.
    pub after: Rate,
    /// What the change reached, when it was taken back.
    pub reached: Option<Rate>,
    /// Tests run, all runs together.
    pub tests_run: u32,
    /// Tests that full runs in their place would have run.
    pub tests_total: u32,
    /// How many candidate edits it tried.
    pub candidates: u32,
    /// The commit it left on the fix branch.
    pub commit: Option<String>,
    /// The files it changed.
    pub changed_files: Vec<String>,
    /// What was changed, one line.
    pub summary: String,
    /// Who proposed it.
    pub provider: String,
    /// Whether providers were there and none gave a good answer.
    pub degraded: bool,
    /// Calls to providers, their results, and why the chain moved on.
    pub calls: Vec<ProviderCall>,
    /// Wall time of the iteration.
    pub seconds: f64,
}

/// What went wrong before there was an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Problem {
    /// What went wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// The exit code.
    pub exit_code: u8,
}

/// The document that `--json` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Document {
    /// Version of this form.
    pub schema_version: u32,
    /// Id of the session.
    pub session: Option<String>,
    /// How it ended.
    pub result: Option<Ending>,
    /// Why it ended so, or what went wrong.
    pub reason: String,
    /// Before anything was changed.
    pub initial: Option<Rate>,
    /// At the end.
    pub last: Option<Rate>,
    /// Whether the last rate has carried-over entries.
    pub estimated: bool,
    /// Every iteration of the session.
    pub iterations: Vec<Iteration>,
    /// The fix branch.
    pub branch: Option<String>,
    /// The branch that was checked out.
    pub onto: Option<String>,
    /// Tip of the fix branch.
    pub tip: Option<String>,
    /// Path of the report.
    pub report: Option<String>,
    /// The session's folder.
    pub folder: Option<String>,
    /// Whether in some iteration providers were there and none gave a good answer.
    pub degraded: bool,
    /// What providers took.
    pub spending: Spending,
    /// Result of making the change smaller; absent when that was not tried.
    pub minimised: Option<Minimised>,
    /// Failed in their three most recent results.
    pub stuck_tests: Vec<String>,
    /// Failed and passed unchanged.
    pub flaky_tests: Vec<String>,
    /// Failing on the merge base too.
    pub preexisting_tests: Vec<String>,
    /// Tests that still fail, with evidence.
    pub failing_tests: Vec<Remaining>,
    /// Unified diff of the whole change.
    pub patch: String,
    /// Wall time of the session.
    pub seconds: f64,
    /// Wall time of test runs.
    pub testing_seconds: f64,
    /// Present when there is no outcome.
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
            minimised: outcome.minimised.clone(),
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
