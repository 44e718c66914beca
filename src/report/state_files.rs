//! Renders the state files of the fix loop: JSON and Markdown of specification.md 8.4 to 8.9, all
//! derived from the loop's state.

use serde_json::{Value, json};

use crate::domain::chain::ProviderCall;
use crate::domain::criticality::Criticality;
use crate::domain::failure::signature_of;
use crate::domain::fix_loop::{FixLoop, IterationRecord, IterationResult};
use crate::domain::rate::PassRate;
use crate::domain::test::{Layer, Results, Scope, Status, TestCase};
use crate::domain::test_plan::task::SUITE_TASK;

use super::folded_details::calls_table;
use super::markdown::{block, code};
use super::markdown_page::rows;

/// `test-results.json` (specification.md 8.4).
pub fn test_results(results: &Results, state: &FixLoop) -> Value {
    let judged = state.judgeable();
    let failed_test = |case: &TestCase| {
        let known = judged.iter().find(|item| item.test == case.id);
        let failure = case.failure.clone().unwrap_or_default();
        json!({
            "test": case.id,
            "error": failure.message,
            "error_class": failure.class,
            "stack_trace": failure.stack,
            "file": case.file,
            "line": case.line,
            "test_type": case.layer,
            "criticality": known.map_or(Criticality::Medium, |item| item.criticality),
            "criticality_evidence":
                known.map_or("no evidence that it is harmless", |item| item.evidence.as_str()),
            "signature": signature_of(case),
        })
    };
    let (passed, failed) = (results.count(Status::Passed), results.count(Status::Failed));
    json!({
        "total": passed + failed,
        "passed": passed,
        "failed": failed,
        "skipped": results.count(Status::Skipped),
        "pass_rate": PassRate::of(passed, passed + failed).map(|rate| rate.to_string()),
        "layer_distribution": {
            "static": counts(results, Layer::Static),
            "unit": counts(results, Layer::Unit),
            "integration": counts(results, Layer::Integration),
            "e2e": counts(results, Layer::EndToEnd),
        },
        "failures": results.failed().map(failed_test).collect::<Vec<_>>(),
        "duration_ms": results.duration_ms,
        "scope": match results.scope {
            Scope::Full => "full",
            Scope::Tests(_) => "affected",
        },
        "command": results.command,
        "exit_code": results.exit_code,
        "started_at": results.started_at,
        "flaky": state.flaky,
    })
}

fn counts(results: &Results, layer: Layer) -> Value {
    let of = |status: Status| {
        results.cases.iter().filter(|case| case.layer == layer && case.status == status).count()
    };
    let (passed, failed) = (of(Status::Passed), of(Status::Failed));
    json!({ "total": passed + failed, "passed": passed, "failed": failed })
}

/// `iteration-N-failures.json` (specification.md 8.6).
pub fn failures(state: &FixLoop, now: &str) -> Value {
    let known = |case: &TestCase| {
        json!({
            "test": case.id,
            "error": case.failure.as_ref().map_or("", |failure| failure.message.as_str()),
            "file": case.file,
            "line": case.line,
            "test_type": case.layer,
        })
    };
    json!({
        "iteration": state.current_iteration,
        "captured_at": now,
        "pass_rate": state.ledger.rate().map(|rate| rate.to_string()),
        "failures": state.ledger.all_failing().map(known).collect::<Vec<_>>(),
        "stuck_tests": state.stuck_tests,
    })
}

/// `iteration-N-analysis.md` (specification.md 8.9).
pub fn analysis(state: &FixLoop, now: &str) -> Option<String> {
    let plan = state.attempt.as_ref()?.plan.as_ref()?;
    let rate = state.ledger.rate().map_or_else(String::new, |rate| rate.to_string());
    let strategy = state.selected_strategy.map_or_else(|| "none".to_owned(), |one| one.to_string());
    let mut text = format!(
        "---\niteration: {}\nanalysis_type: test-failure\ncli_tool: {}\ntimestamp: {now}\npass_rate: {rate}\nstrategy: {strategy}\nconfidence: {}\nquality: {}\n---\n\n## Summary\n\n{} failing, {rate} % pass, the gate is {} %.\n\n## Failed tests\n\n",
        state.current_iteration,
        plan.author,
        plan.confidence,
        quality(state.attempt.as_ref().is_some_and(|attempt| attempt.degraded)),
        state.judgeable().len(),
        state.terms.target
    );
    for item in state.judgeable() {
        text.push_str(&format!(
            "- {} ({}: {})\n",
            code(item.test.as_str()),
            item.criticality,
            item.evidence
        ));
    }
    text.push_str("\n## Root causes\n\n");
    for cause in &plan.root_causes {
        text.push_str(&format!("- {}: {}\n", code(&cause.point.to_string()), code(&cause.cause)));
    }
    text.push_str(&format!(
        "\n## Fix strategy\n\n{}\n\n## Expected outcome\n\n{}\n\n## Previous attempts\n\n",
        plan.approach,
        code(&plan.expected_outcome)
    ));
    for iteration in &state.iterations {
        text.push_str(&format!(
            "- {}: {} ({})\n",
            iteration.row.iteration,
            code(&iteration.row.summary),
            iteration.result
        ));
    }
    if !plan.report.is_empty() {
        text.push_str("\n## The analyst's own words\n\n");
        text.push_str(&block(&plan.report, "markdown"));
    }
    let asked = state
        .attempt
        .as_ref()
        .map_or_else(String::new, |attempt| calls_of(state.current_iteration, &attempt.calls));
    if !asked.is_empty() {
        text.push_str(&format!("\n## Providers\n\n{asked}"));
    }
    Some(text)
}

/// How good an analysis is, as the specification words it.
pub(super) fn quality(degraded: bool) -> &'static str {
    if degraded { "degraded" } else { "normal" }
}

/// The provider calls of an iteration as a Markdown table, with why the chain moved on.
pub fn calls<'c>(calls: impl IntoIterator<Item = (u32, &'c ProviderCall)>) -> String {
    let table = calls_table(calls.into_iter());
    if table.rows.is_empty() { String::new() } else { rows(&table, 0, usize::MAX) }
}

/// The same for the calls of one iteration.
fn calls_of(iteration: u32, all: &[ProviderCall]) -> String {
    calls(all.iter().map(|call| (iteration, call)))
}

/// `fix-history.json` (specification.md 8.5). `known` is the file as it was: an iteration keeps the time
/// at which it was first written, and the last one is written at `now`.
pub fn history(state: &FixLoop, known: Option<&Value>, now: &str) -> Value {
    let last = state.iterations.last().map(|one| one.row.iteration);
    let time_of = |iteration: u32| {
        let known = known.and_then(Value::as_array).into_iter().flatten();
        let known = known.filter(|one| one["iteration"] == iteration);
        let time = known.map(|one| one["timestamp"].clone()).find(|time| !time.is_null());
        time.unwrap_or_else(|| if last == Some(iteration) { now.into() } else { Value::Null })
    };
    let record = |one: &IterationRecord| {
        let regressed = one.result == IterationResult::Regression;
        json!({
            "iteration": one.row.iteration,
            "task_id": format!("IMPL-fix-{}", one.row.iteration),
            "strategy": one.row.strategy,
            "root_cause_fingerprint": one.cause_fingerprint(),
            "root_causes": one.root_causes,
            "modification_points": one.points,
            "affected_tests": one.affected_tests,
            "error_signatures": one.error_signatures,
            "edit_kind": edit_kind(one),
            "confidence": one.confidence,
            "provider": one.row.provider,
            "calls": one.row.calls,
            "analysis_quality": quality(one.row.degraded),
            "pass_rate_before": one.row.before.to_string(),
            "pass_rate_after": one.row.after.to_string(),
            "outcome": one.result,
            "commit_sha": one.row.commit,
            "regression_reason": regressed.then_some(&one.row.reason),
            "summary": one.row.summary,
            "timestamp": time_of(one.row.iteration),
        })
    };
    state.iterations.iter().map(record).collect()
}

/// The kind of an edit: the operators that made it, or that a provider wrote it; `None` without one.
fn edit_kind(one: &IterationRecord) -> Option<String> {
    match one.operators.join(" + ") {
        none if none.is_empty() => (!one.row.files.is_empty()).then(|| "provider".to_owned()),
        kinds => Some(kinds),
    }
}

/// Writes `iteration-summaries/iteration-N.md`.
pub fn iteration_summary(one: &IterationRecord) -> String {
    let row = &one.row;
    let reached =
        row.reached.map_or_else(String::new, |rate| format!(" (reached {rate} %, taken back)"));
    let asked = calls_of(row.iteration, &row.calls);
    let asked = if asked.is_empty() { asked } else { format!("\n## Providers\n\n{asked}") };
    format!(
        "# Iteration {}: {}\n\n- Strategy: {}\n- Pass rate: {} % → {} %{reached}\n- Test runs: {} of {}\n- Candidates tried: {}\n- Reason: {}\n- Change: {}\n- Commit: {}\n{asked}",
        row.iteration,
        one.result,
        row.strategy,
        row.before,
        row.after,
        row.tests_run,
        row.tests_of,
        row.tried,
        code(&row.reason),
        code(&row.summary),
        row.commit.as_ref().map_or("none", |commit| commit.as_str()),
    )
}

/// `TODO_LIST.md` of a session that only fixes (specification.md 9.1).
pub fn todo(state: &FixLoop) -> String {
    let done = |finished: bool| if finished { "x" } else { " " };
    let mut text = format!(
        "# {}\n\n- [{}] [{SUITE_TASK}](./.task/{SUITE_TASK}.json): run the suite [ITERATION]\n",
        state.session_id,
        done(state.is_finished())
    );
    text.push_str(&iterations(state));
    text
}

/// The lines of the fix loop in the list of tasks.
pub fn iterations(state: &FixLoop) -> String {
    let mut text = String::new();
    for one in &state.iterations {
        let row = &one.row;
        text.push_str(&format!(
            "  - [x] → Iteration {}: {} (pass: {}%, {})\n",
            row.iteration,
            code(&row.summary),
            row.after,
            row.strategy
        ));
    }
    if let (Some(_), Some(strategy)) = (&state.attempt, state.selected_strategy) {
        text.push_str(&format!(
            "  - [ ] → Iteration {}: at work ({strategy})\n",
            state.current_iteration
        ));
    }
    text
}

/// `iteration-N-cli-output.txt`: the search log; `ended` is the record of a finished iteration.
pub fn search_log(state: &FixLoop, ended: Option<&IterationRecord>) -> String {
    let attempt = state.attempt.as_ref().filter(|_| ended.is_none());
    let (tried, refusals) = match (ended, attempt) {
        (Some(ended), _) => (ended.row.tried, &ended.refusals),
        (None, Some(attempt)) => (attempt.tried, &attempt.refusals),
        (None, None) => return String::new(),
    };
    let mut text = format!("candidates tried: {tried}\n");
    if let Some(attempt) = attempt
        && let Some(proposal) = &attempt.proposal
    {
        text.push_str(&format!(
            "proposed: {}\noperators: {}\n",
            proposal.summary,
            attempt.operators.join(", ")
        ));
        if let Some(suspicion) = &proposal.suspicion {
            text.push_str(&format!("suspicious: {suspicion}\n"));
        }
    }
    for refusal in refusals {
        text.push_str(&format!("refused: {refusal}\n"));
    }
    text
}
