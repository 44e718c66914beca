//! The documents of a session that plans or writes tests, each a template filled with its plan or
//! results (specification.md 8.8, 9.2).

use std::time::Duration;

use minijinja::{Value, context};

use crate::domain::event::{Ending, Outcome};
use crate::domain::rate::PassRate;
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::generation::{GateResult, Generation, TaskTests};
use crate::domain::test_plan::pipeline::Pipeline;
use crate::domain::test_plan::plan::TestPlan;
use crate::domain::test_plan::plan_run::PlanRun;
use crate::domain::test_plan::task::{SUITE_TASK, TestTask};
use crate::report::phrases::{cost, usage};
use crate::report::templates::{as_value, render};
use crate::report::{characterisation, coverage, mutation};

use super::generation::{decided_gates, written};
use super::planned;
use super::summary::end_sentence;

/// The mark of a task in the list of a terminal.
fn sign(status: TaskStatus) -> char {
    match status {
        TaskStatus::Pending => '○',
        TaskStatus::InProgress => '▶',
        TaskStatus::Completed => '✓',
        TaskStatus::Blocked | TaskStatus::Failed | TaskStatus::RolledBack => '✗',
        TaskStatus::Skipped => '–',
    }
}

/// What every document about a plan may name.
fn of_plan(plan: &TestPlan) -> Value {
    let layers = plan.by_layer().into_iter().map(|(layer, number)| {
        context! { code => layer.code(), title => layer.title(), number }
    });
    let tasks = plan.tasks.iter().map(|task| {
        let (file, mark, sign) = (task.file(), task.meta.kind.list_mark(), sign(task.status));
        context! { file, mark, sign, ..as_value(task) }
    });
    let requirements = plan.all_requirements().map(|(_, one)| {
        context! { title => one.layer.title(), layer => one.layer.code(), text => one.text.as_str() }
    });
    context! {
        plan => as_value(plan),
        framework => plan.framework.framework.name(),
        target => plan.coverage_target.to_string(),
        target_words => plan.coverage_target.words(),
        total => plan.requirement_count(),
        limit => plan.max_iterations(),
        test_files => as_value(&plan.test_files()),
        layers => layers.collect::<Vec<_>>(),
        tasks => tasks.collect::<Vec<_>>(),
        requirements => requirements.collect::<Vec<_>>(),
    }
}

/// `TEST_ANALYSIS_RESULTS.md`: the mandatory sections of specification.md 8.8.
pub fn render_analysis(plan: &TestPlan) -> String {
    let (own, commands) = (&plan.framework.conventions, &plan.framework);
    let folder = if own.directory.is_empty() { "beside the sources" } else { &own.directory };
    let sample = own.sample.as_ref().map(ToString::to_string).unwrap_or_default();
    let version = format!("{} {}", commands.framework, commands.version);
    let conventions = [
        ("framework", version.as_str()),
        ("test files", &own.file_naming),
        ("folder", folder),
        ("structure", &own.test_structure),
        ("assertions", &own.assertion_style.join(", ")),
        ("many values", &own.parametrisation.join(", ")),
        ("set-up", &own.setup_teardown),
        ("fixtures", &own.fixtures.join(", ")),
        ("doubles", &own.mocking),
        ("sample", &sample),
        ("all tests", &commands.run_tests),
        ("with coverage", &commands.run_coverage),
        ("one file", &commands.run_specific),
    ];
    let conventions = as_value(&conventions.map(|(name, value)| (name, value.trim())));
    render("analysis.md", context! { conventions, ..of_plan(plan) })
}

/// `IMPL_PLAN.md` (specification.md 8.8).
pub fn render_plan(state: &Pipeline, plan: &TestPlan) -> String {
    let risks = [plan.couplings.as_slice(), &plan.left_out].concat();
    render("plan.md", context! { mode => state.entry.mode(), risks, ..of_plan(plan) })
}

/// `TODO_LIST.md` (specification.md 8.8): one line per task; `iterations` are the lines of the fix loop.
pub fn render_todo(plan: &TestPlan, iterations: &str) -> String {
    render("todo.md", context! { iterations, ..of_plan(plan) })
}

/// The plan for people who decide on it: session, tasks, kinds of tests, conditions.
pub fn plan_comment(plan: &TestPlan) -> String {
    render("comment.md", of_plan(plan))
}

/// `.summaries/IMPL-001-summary.md` of the task that wrote tests (specification.md 9.2).
pub fn render_task(task: &TestTask, made: &TaskTests) -> String {
    let report = &made.report;
    let left = report.functions.iter().filter(|one| one.assertions == 0).map(|one| {
        let place = format!("{}:{} {}", one.file, one.line, one.name);
        (place, characterisation::reasons(&one.dropped))
    });
    let findings: Vec<_> = made.findings().collect();
    let values = context! {
        task => as_value(task),
        made => as_value(made),
        headline => characterisation::headline(report),
        shown => made.requirements.iter().filter(|one| one.open.is_none()).count(),
        left => as_value(&left.collect::<Vec<_>>()),
        findings => as_value(&findings),
    };
    render("task.md", values)
}

/// `.summaries/IMPL-001.3-summary.md` and `.summaries/IMPL-001.5-summary.md`.
pub fn render_gate(id: &str, gate: Option<&GateResult>, production: &Generation) -> String {
    let (files, dropped) = (production.files().len(), as_value(&production.dropped));
    let shortfall = production.describe_shortfall();
    render("gate.md", context! { id, gate => gate.map(as_value), files, dropped, shortfall })
}

/// `.summaries/IMPL-002-summary.md`: first and last result, what was changed, and the verdict
/// (specification.md 4.8, 9.2).
pub fn render_suite(outcome: &Outcome) -> String {
    let rate = |rate: Option<PassRate>| {
        rate.map_or_else(|| "not known".to_owned(), |rate| format!("{rate} % pass"))
    };
    let word = match outcome.result {
        Ending::Success => "APPROVED",
        Ending::PartialSuccess => "PARTIAL SUCCESS",
        Ending::Failure => "NOT APPROVED",
        Ending::Blocked | Ending::Planned => "NOT DECIDED",
    };
    let iterations = outcome.iterations.iter().map(|row| {
        let (before, after) = (row.before.to_string(), row.after.to_string());
        context! { before, after, ..as_value(row) }
    });
    let values = context! {
        id => SUITE_TASK,
        word,
        reason => outcome.reason.as_str(),
        first => rate(outcome.initial),
        last => rate(outcome.last),
        iterations => iterations.collect::<Vec<_>>(),
        failing => as_value(&outcome.failing),
    };
    render("suite.md", values)
}

/// The result of a run that plans or writes tests, for a terminal (specification.md 3.1 phase 4).
pub fn render_summary(run: &PlanRun, produced: Option<&Generation>, folder: &str) -> String {
    let (state, spending) = (&run.state, &run.spending);
    let phase_5 = produced.map(|production| {
        let totals = production.totals();
        let gates =
            decided_gates(production).map(|(name, gate)| (name, gate.decision, &gate.reason));
        let report = production.made.as_ref().map(|made| &made.report);
        let open = production.decided_requirements().filter(|one| one.open.is_some());
        context! {
            produced => true,
            written => written(production),
            files => as_value(&production.files()),
            coverage => production.coverage.as_ref().map(coverage::describe),
            score => totals.score.as_ref().map(mutation::headline),
            flaky => totals.flaky,
            gates => as_value(&gates.collect::<Vec<_>>()),
            shortfall => production.describe_shortfall(),
            unfinished => report.map(|report| as_value(&report.unfinished)),
            findings => as_value(&production.findings()),
            dropped => as_value(&production.dropped),
            open => as_value(&open.collect::<Vec<_>>()),
        }
    });
    let own = context! {
        id => state.session_id.as_str(),
        mode => state.entry.mode(),
        input => state.entry.text(),
        phases => as_value(&state.phases),
        folder,
        degraded => state.degraded,
        providers => (spending.calls > 0).then(|| format!("{}, {}", usage(spending), cost(spending))),
        end => end_sentence(&run.end()),
        ..phase_5.unwrap_or_else(|| context! { produced => false })
    };
    let plan = run.plan.as_ref().map_or_else(|| context! { tasks => false }, of_plan);
    render("terminal.txt", context! { ..own, ..plan })
}

/// Where a session that has not reached the fix loop keeps its results.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Name of the fix branch, which need not exist yet.
    pub branch: String,
    /// Path of the session's folder, for people.
    pub folder: String,
    pub took: Duration,
}

/// The outcome of a run that ended with the plan or while it wrote tests.
pub fn plan_outcome(run: &PlanRun, rest: Rest) -> Outcome {
    let (state, plan) = (&run.state, run.plan.as_ref());
    let end = run.end();
    let tasks = plan.filter(|_| end.result.ending() == Ending::Planned);
    let tasks = tasks.map_or_else(String::new, |plan| format!(": {}", planned(plan)));
    Outcome {
        session: state.session_id.to_string(),
        result: end.result.ending(),
        reason: format!("{}{tasks}", end.reason),
        degraded: state.degraded,
        spending: run.spending,
        branch: rest.branch,
        // The plan is what a person should read; there may be none yet.
        report: plan.map_or_else(String::new, |_| format!("{}/IMPL_PLAN.md", rest.folder)),
        folder: rest.folder,
        duration_ms: u64::try_from(rest.took.as_millis()).unwrap_or(u64::MAX),
        ..Outcome::default()
    }
}
