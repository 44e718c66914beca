//! Renders the tasks of the fix loop: `IMPL-fix-N.json` of one iteration, and `IMPL-002.json` of a
//! session that only fixes (specification.md 5.5, 5.6, 5.8).

use serde_json::{Value, json};

use crate::domain::event::Ending;
use crate::domain::fix_loop::{Attempt, FixLoop, IterationRecord, IterationResult};
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::task::{SUITE_TASK, StatusChange};
use crate::domain::text::count;

use super::state_files::quality;

/// The agent that tasks are assigned to.
const AGENT: &str = "@test-fix-agent";

/// The task of one iteration, `IMPL-fix-N.json` (specification.md 5.6). `known` is the file as it was:
/// what the task was about when it began stays, since the results of its own edit are in the state by
/// the time it ends.
pub fn task(
    state: &FixLoop,
    status: TaskStatus,
    known: Option<&Value>,
    now: &str,
) -> Option<Value> {
    let attempt = state.attempt.as_ref()?;
    let plan = attempt.plan.as_ref()?;
    let number = state.current_iteration;
    let points: Vec<String> = plan.modification_points.iter().map(ToString::to_string).collect();
    let approach: String = plan.approach.chars().take(50).collect();
    let (mode, affected) = if attempt.affected.is_empty() {
        ("full_suite", &plan.affected_tests)
    } else {
        ("affected_only", &attempt.affected)
    };
    let layer = state.main_layer();
    let failing = state.failing();
    let begun = known.filter(|known| known["context"]["failure_context"].is_object());
    let mut task = json!({
        "id": id(number),
        "title": format!("Iteration {number}, {layer}: {approach}"),
        "meta": {
            "type": "test-fix-iteration",
            "agent": AGENT,
            "iteration": number,
            "max_iterations": state.terms.max_iterations,
            "strategy": state.selected_strategy,
            "parent_task": SUITE_TASK,
            "test_layer": layer,
            "created_at": now,
        },
        "context": {
            "requirements": [format!(
                "Repair {}; the gate is {} %",
                count(failing.len(), "failing test"),
                state.terms.target
            )],
            "depends_on": kept_before(state).map(|iteration| vec![id(iteration)]).unwrap_or_default(),
            "failure_context": {
                "failed_tests": failing,
                "stuck_tests": state.stuck_tests,
                "pass_rate": state.ledger.rate().map(|rate| rate.to_string()),
                "failures": format!(".process/iteration-{number}-failures.json"),
                "previous_attempts": state.iterations.iter().map(previous).collect::<Vec<_>>(),
            },
        },
    });
    if let Some(begun) = begun {
        task = json!({ "id": begun["id"], "title": begun["title"], "meta": begun["meta"], "context": begun["context"] });
    }
    let add = |part: &mut Value, more: Value| {
        if let (Value::Object(part), Value::Object(more)) = (part, more) {
            part.extend(more);
        }
    };
    add(
        &mut task["meta"],
        json!({
            "analysis_report": format!(".process/iteration-{number}-analysis.md"),
            "cli_output": cli_output(attempt, number),
            "analysis_quality": quality(attempt.degraded),
            "provider": plan.author,
            "model": model(attempt),
        }),
    );
    add(
        &mut task["context"],
        json!({
            "acceptance": plan.verification_steps,
            "focus_paths": points,
            "fix_strategy": {
                "approach": plan.approach,
                "root_causes": plan.root_causes,
                "modification_points": points,
                "confidence_score": plan.confidence,
                "expected_outcome": plan.expected_outcome,
                "verification_steps": plan.verification_steps,
                "test_execution": {
                    "mode": mode,
                    "affected_tests": affected,
                    "fallback_to_full": true,
                },
            },
        }),
    );
    add(&mut task, with_status(status, known, now));
    Some(task)
}

fn id(iteration: u32) -> String {
    format!("IMPL-fix-{iteration}")
}

/// The last iteration before this one whose edit was kept (specification.md C-26).
fn kept_before(state: &FixLoop) -> Option<u32> {
    let kept = |one: &&IterationRecord| one.result == IterationResult::Improved;
    state.iterations.iter().rfind(kept).map(|one| one.row.iteration)
}

fn previous(one: &IterationRecord) -> Value {
    json!({ "iteration": one.row.iteration, "result": one.result, "summary": one.row.summary })
}

/// The model that the analysis came from; `None` without a provider.
fn model(attempt: &Attempt) -> Option<&str> {
    let author = attempt.plan.as_ref().map(|plan| plan.author.as_str());
    let call = attempt.calls.iter().rfind(|call| Some(call.provider.as_str()) == author)?;
    Some(call.model.as_str()).filter(|model| !model.is_empty())
}

/// The status of a task with its history, of which `known` is the file as it was (specification.md 5.8).
fn with_status(status: TaskStatus, known: Option<&Value>, now: &str) -> Value {
    let before = known.and_then(|known| serde_json::from_value(known["status"].clone()).ok());
    let history =
        known.and_then(|known| serde_json::from_value(known["status_history"].clone()).ok());
    let mut history: Vec<StatusChange> = history.unwrap_or_default();
    let from = before.unwrap_or(TaskStatus::Pending);
    if from != status {
        history.push(StatusChange { from, to: status, changed_at: now.to_owned() });
    }
    json!({ "status": status, "status_history": history })
}

/// Path of an iteration's search log, or of the exchange of its analysis if it was skipped.
fn cli_output(attempt: &Attempt, number: u32) -> Option<String> {
    let is_skipped = attempt
        .judged
        .as_ref()
        .is_some_and(|judged| judged.result == IterationResult::SkippedDegraded);
    if !is_skipped {
        return Some(format!(".process/iteration-{number}-cli-output.txt"));
    }
    let author = attempt.plan.as_ref().map(|plan| plan.author.as_str());
    let call = attempt.calls.iter().rfind(|call| Some(call.provider.as_str()) == author);
    call.map(|call| call.raw.clone())
}

/// Status of the task that runs the suite.
pub fn suite_status(state: &FixLoop) -> TaskStatus {
    match &state.verdict {
        None => TaskStatus::InProgress,
        Some(verdict) if verdict.ending == Ending::Failure => TaskStatus::Blocked,
        Some(_) => TaskStatus::Completed,
    }
}

/// The task that runs the suite, `IMPL-002.json` (specification.md 5.5). `known` is the file as it was.
pub fn suite_task(state: &FixLoop, known: Option<&Value>, now: &str) -> Value {
    let max_iterations = state.terms.max_iterations;
    let state_of_task = with_status(suite_status(state), known, now);
    json!({
        "id": SUITE_TASK,
        "title": "Run the suite",
        "status": state_of_task["status"],
        "status_history": state_of_task["status_history"],
        "meta": { "type": "test-fix", "agent": AGENT, "max_iterations": max_iterations },
        "context": {
            "acceptance": [format!("at least {} % pass on a full run", state.terms.target)],
            "depends_on": [],
        },
        "flow_control": {
            "test_fix_cycle": {
                "max_iterations": max_iterations,
                "exit_conditions": ["all_tests_pass", "max_iterations_reached"],
            },
        },
    })
}
