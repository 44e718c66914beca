//! What the iterations of a session gave, taken from its fix loop, and the written reflection on
//! each (specification.md 8.13).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::domain::criticality::Criticality;
use crate::domain::fix_loop::{FixLoop, FixStep, IterationRecord, IterationResult};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::rate::PassRate;
use crate::domain::strategy::Strategy;
use crate::domain::text::{count, first_line, one_line};

/// Longest text of a change, in characters.
const CHANGE: usize = 300;

/// What a session does next, in the coarse terms of its file (specification.md 8.13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CycleAction {
    #[default]
    Explore,
    ExecuteTests,
    ExecuteFix,
    Complete,
}

/// One iteration and what it taught.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reflection {
    pub iteration: u32,
    /// In percent.
    pub pass_rate: f64,
    /// Absent for the first run, which changes nothing.
    #[serde(default)]
    pub strategy: Option<Strategy>,
    pub failed_tests: Vec<TestId>,
    /// What happened, in one sentence.
    pub reflection_summary: String,
    /// What the next iteration does differently.
    pub strategy_adjustment: String,
    /// Why tests failed.
    #[serde(default)]
    pub cause: String,
    /// What the iteration took to be true.
    #[serde(default)]
    pub assumed: String,
    /// What its test runs showed.
    #[serde(default)]
    pub reality: String,
    /// What is known now.
    #[serde(default)]
    pub learned: String,
    #[serde(default)]
    pub result: Option<IterationResult>,
    /// The change in one line; empty where there was none.
    #[serde(default)]
    pub change: String,
}

/// A failing test of the last run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailingTest {
    pub test: TestId,
    pub file: Option<RepoPath>,
    pub error: String,
    pub criticality: Criticality,
}

/// The last run of the whole suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteResults {
    /// In percent.
    pub pass_rate: f64,
    pub passed: u32,
    pub failed: u32,
    pub total: u32,
    pub failures: Vec<FailingTest>,
}

/// The iterations so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Iterations {
    pub current: u32,
    pub strategy: Option<Strategy>,
    pub next_action: CycleAction,
    pub history: Vec<Reflection>,
    pub stuck_tests: Vec<TestId>,
    pub latest_results: Option<SuiteResults>,
}

/// An attempt to fix what failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixEntry {
    pub iteration: u32,
    pub strategy: Strategy,
    pub modification_points: Vec<String>,
    pub affected_tests: Vec<TestId>,
    /// From 0 to 1.
    pub confidence: f64,
}

/// The iterations and fixes that a fix loop has made so far.
#[must_use]
pub fn read_loop(state: &FixLoop) -> (Iterations, Vec<FixEntry>) {
    let iterations = Iterations {
        current: state.current_iteration,
        strategy: state.selected_strategy,
        next_action: next_action(state),
        history: first_run(state)
            .into_iter()
            .chain(state.iterations.iter().enumerate().map(|(at, one)| reflect(state, at, one)))
            .collect(),
        stuck_tests: state.stuck_tests.clone(),
        latest_results: latest_results(state),
    };
    let fixes = state.iterations.iter().filter(|one| !one.points.is_empty()).map(fix_entry);
    (iterations, fixes.collect())
}

fn next_action(state: &FixLoop) -> CycleAction {
    use crate::domain::fix_loop::NextAction as Next;
    match state.next_action {
        Next::ExecuteFixTask => CycleAction::ExecuteFix,
        Next::Retest => CycleAction::ExecuteTests,
        Next::Complete => CycleAction::Complete,
    }
}

fn fix_entry(one: &IterationRecord) -> FixEntry {
    FixEntry {
        iteration: one.row.iteration,
        strategy: one.row.strategy,
        modification_points: one.points.clone(),
        affected_tests: one.affected_tests.clone(),
        confidence: one.confidence,
    }
}

fn latest_results(state: &FixLoop) -> Option<SuiteResults> {
    let rate = state.ledger.rate()?;
    let failures = state.judgeable().into_iter().map(|one| {
        let case = state.ledger.case(&one.test);
        let failure = case.and_then(|case| case.failure.as_ref());
        FailingTest {
            file: case.and_then(|case| case.file.clone()),
            error: failure
                .map_or_else(String::new, |failure| first_line(&failure.message).to_owned()),
            test: one.test,
            criticality: one.criticality,
        }
    });
    Some(SuiteResults {
        pass_rate: rate.percent(),
        passed: rate.passed,
        failed: rate.total - rate.passed,
        total: rate.total,
        failures: failures.collect(),
    })
}

/// The run before the first change, as iteration 0.
fn first_run(state: &FixLoop) -> Option<Reflection> {
    let baseline = state.baseline.as_ref()?;
    // What failed before anything was written is not part of the rate.
    let failed = total(baseline.rate).saturating_sub(passed(baseline.rate));
    let before = match baseline.failing.len().saturating_sub(failed) {
        0 => String::new(),
        old => format!("; {} failed before", count(old, "test")),
    };
    let is_green = failed == 0;
    Some(Reflection {
        iteration: 0,
        pass_rate: baseline.rate.percent(),
        strategy: None,
        failed_tests: baseline.failing.clone(),
        reflection_summary: if is_green {
            format!("all {} pass, with the new ones{before}", count(total(baseline.rate), "test"))
        } else {
            format!("{} of {} fail{before}", failed, count(total(baseline.rate), "test"))
        },
        strategy_adjustment: next_sentence(state, 0),
        cause: String::new(),
        assumed: "the new tests pass beside those of the project".to_owned(),
        reality: if is_green {
            format!("they do{before}")
        } else {
            format!("{} not{before}", if failed == 1 { "one does" } else { "some do" })
        },
        learned: String::new(),
        result: None,
        change: String::new(),
    })
}

fn total(rate: PassRate) -> usize {
    usize::try_from(rate.total).unwrap_or(usize::MAX)
}

fn passed(rate: PassRate) -> usize {
    usize::try_from(rate.passed).unwrap_or(usize::MAX)
}

/// The reflection on one iteration, `at` its place in the history of the loop.
fn reflect(state: &FixLoop, at: usize, one: &IterationRecord) -> Reflection {
    let row = &one.row;
    let cause = one.root_causes.first().map(|cause| cause.cause.clone()).unwrap_or_default();
    // Where no edit was found, the summary says so.
    let has_edit = !row.files.is_empty();
    let change = if has_edit { one_line(&row.summary, CHANGE) } else { String::new() };
    let edit = if has_edit { change.as_str() } else { "no edit was found" };
    let repaired = one.repaired.len();
    let (reality, learned) = match one.result {
        IterationResult::Improved => (
            format!("{} now, and no test fails that passed before", pass_phrase(repaired)),
            format!("effective: {edit}"),
        ),
        IterationResult::Regression => (
            format!("{}; the change was undone", row.reason),
            format!("ineffective, and not tried again: {edit}"),
        ),
        IterationResult::Unchanged if !has_edit => {
            (row.reason.clone(), format!("the {} search finds nothing here", row.strategy))
        }
        IterationResult::Unchanged => (
            format!("the rate stays: {}", row.reason),
            format!("ineffective, and not tried again: {edit}"),
        ),
        IterationResult::SkippedDegraded | IterationResult::Error => {
            (row.reason.clone(), String::new())
        }
    };
    Reflection {
        iteration: row.iteration,
        pass_rate: row.after.percent(),
        strategy: Some(row.strategy),
        failed_tests: one.failed_tests.clone(),
        reflection_summary: format!("{edit}: {}", one.result),
        strategy_adjustment: next_sentence(state, at + 1),
        assumed: if cause.is_empty() { assumed_place(one) } else { cause.clone() },
        cause,
        reality,
        learned,
        result: Some(one.result),
        change,
    }
}

fn pass_phrase(repaired: usize) -> String {
    match repaired {
        0 => "more tests pass".to_owned(),
        1 => "1 test that failed passes".to_owned(),
        more => format!("{more} tests that failed pass"),
    }
}

fn assumed_place(one: &IterationRecord) -> String {
    let places: BTreeSet<&str> = one.points.iter().map(String::as_str).take(3).collect();
    if places.is_empty() {
        return String::new();
    }
    let places: Vec<&str> = places.into_iter().collect();
    format!("the cause lies in {}", places.join(", "))
}

/// What the iteration after the `done`th does, or that there is none.
fn next_sentence(state: &FixLoop, done: usize) -> String {
    if let Some(next) = state.iterations.get(done) {
        return format!("the next strategy is {}", next.row.strategy);
    }
    match (&state.verdict, state.next) {
        (Some(verdict), _) if done > 0 && done == state.iterations_before_reopening => {
            format!("the loop begins anew with a run of the suite, and ends: {}", verdict.reason)
        }
        (Some(verdict), _) => format!("the cycle ends: {}", verdict.reason),
        (None, FixStep::Minimise | FixStep::KeepSmaller | FixStep::Confirm) => {
            "every test passes; the change is proven".to_owned()
        }
        (None, _) if !state.strategy_reason.is_empty() => {
            format!("the next strategy is {}: {}", state.strategy(), state.strategy_reason)
        }
        (None, _) => String::new(),
    }
}
