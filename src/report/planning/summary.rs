//! Renders the result of phases 1 to 4: terminal text, JSON document, and progress list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::budget::Spending;
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::generation::Generation;
use crate::domain::test_plan::pipeline::{PHASES, PhaseRow, Pipeline, PlanningStep};
use crate::domain::test_plan::plan_run::{PlanEnd, PlanResult, PlanRun};
use crate::domain::test_plan::task::{TaskKind, TestPlan};
use crate::report::markdown::line;
use crate::report::phrases::{cost, usage};

use super::generation::{self, ProducedDocument};

/// `progress.json`: one entry per phase (specification.md 9.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// The five phases.
    pub phases: Vec<ProgressLine>,
}

/// A phase, or a task below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgressLine {
    /// Name of the phase or task.
    pub content: String,
    /// `pending`, `in_progress` or `completed`; one at most is in progress.
    pub status: String,
    /// The name as an activity, such as `Gathering context`, shown while it is in progress.
    pub active_form: String,
    /// Its result; empty before its end.
    pub summary: String,
    /// Its tasks, while it is in progress.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ProgressLine>,
}

/// The phases before the fix loop, named as activities.
pub const ACTIVE: [&str; 5] = [
    "Starting the session",
    "Gathering context",
    "Analysing what must be tested",
    "Planning the tasks",
    "Running the test cycle",
];

/// The progress of a session. While phase 5 runs, its tasks are listed below it.
pub fn progress(state: &Pipeline, plan: Option<&TestPlan>) -> Progress {
    let now = match state.planning_step() {
        Some(PlanningStep::Gather) => 2,
        Some(PlanningStep::Analyse) => 3,
        Some(PlanningStep::Plan) => 4,
        None if state.works() => 5,
        None => 0,
    };
    let phases = PHASES.iter().zip(ACTIVE).zip(1_u32..).map(|((name, active), number)| {
        let row = state.phases.iter().find(|row| row.phase == number);
        let status = if row.is_some() {
            "completed"
        } else if number == now {
            "in_progress"
        } else {
            "pending"
        };
        ProgressLine {
            content: format!("Phase {number}: {name}"),
            status: status.to_owned(),
            active_form: active.to_owned(),
            summary: row.map(|row| row.summary.clone()).unwrap_or_default(),
            children: if number == 5 && now == 5 { attached(plan) } else { Vec::new() },
        }
    });
    Progress { phases: phases.collect() }
}

/// One line per task (specification.md 9.1).
fn attached(plan: Option<&TestPlan>) -> Vec<ProgressLine> {
    let tasks = plan.iter().flat_map(|plan| &plan.tasks);
    let first = tasks.clone().position(|task| task.status == TaskStatus::InProgress);
    tasks
        .enumerate()
        .map(|(at, task)| {
            let mark = if task.meta.kind == TaskKind::TestFix { " [ITERATION]" } else { "" };
            let status = match task.status {
                _ if first == Some(at) => "in_progress",
                status if status.is_ended() => "completed",
                _ => "pending",
            };
            ProgressLine {
                content: format!(
                    "{}: {}{mark} [{}]",
                    task.id,
                    line(&task.title, 120),
                    task.meta.agent
                ),
                status: status.to_owned(),
                active_form: format!("Working on {}", task.id),
                summary: task.status.setback().unwrap_or_default().into(),
                children: Vec::new(),
            }
        })
        .collect()
}

/// The summary of phases 1 to 4 for a terminal (specification.md 3.1 phase 4). Foreign text is
/// shortened and free of control characters.
pub fn summary(run: &PlanRun, produced: Option<&Generation>, folder: &str) -> String {
    let (state, plan) = (&run.state, run.plan.as_ref());
    let mut text = format!(
        "\n{}  {} mode: {}\n",
        state.session_id,
        state.entry.mode(),
        line(state.entry.text(), 100)
    );
    for row in &state.phases {
        text.push_str(&format!(
            "  phase {}  {:<22} {}\n",
            row.phase,
            row.name,
            line(&row.summary, 160)
        ));
    }
    if let Some(plan) = plan {
        text.push_str("\ntasks\n");
        for task in &plan.tasks {
            text.push_str(&format!(
                "  {} {:<11} {:<16} {}\n",
                mark(task.status),
                task.id,
                task.meta.agent,
                line(&task.title, 80)
            ));
        }
        let analysis = &plan.analysis;
        // Once tests are written, they say more than the first requirements.
        if produced.is_none() {
            text.push_str(&requirements(plan));
        }
        let limit = plan.tasks.iter().find_map(|task| task.meta.max_iterations).unwrap_or_default();
        text.push_str(&format!(
            "\naccepted    when the tests compile, have no critical finding, and cover {}; {limit} iterations at most\n",
            analysis.coverage_target.words()
        ));
        text.push_str(&format!(
            "files       {folder}/IMPL_PLAN.md\n            {folder}/TODO_LIST.md\n            {folder}/.process/TEST_ANALYSIS_RESULTS.md\n"
        ));
    }
    if let Some(produced) = produced {
        text.push_str(&generation::produced(produced));
    }
    if run.spending.calls > 0 {
        let (usage, cost) = (usage(&run.spending), cost(&run.spending));
        text.push_str(&format!("\nproviders   {usage}, {cost}\n"));
    }
    if state.degraded {
        text.push_str("degraded    no provider gave a good analysis of everything\n");
    }
    let end = run.end();
    text.push_str(&format!("\n{}\n", line(&sentence(&end), 1_000)));
    text
}

/// The mark of a task in the list of tasks.
fn mark(status: TaskStatus) -> char {
    match status {
        TaskStatus::Pending => '○',
        TaskStatus::InProgress => '▶',
        TaskStatus::Completed => '✓',
        TaskStatus::Blocked | TaskStatus::Failed | TaskStatus::RolledBack => '✗',
        TaskStatus::Skipped => '–',
    }
}

/// The first requirements that tests must verify.
fn requirements(plan: &TestPlan) -> String {
    let analysis = &plan.analysis;
    let mut text = String::from("\nfirst requirements\n");
    let all = analysis.files.iter().flat_map(|file| &file.requirements);
    let shown: Vec<_> = all.filter(|one| one.layer.layer() > 0).take(6).collect();
    for one in &shown {
        text.push_str(&format!("  {:<4} {}\n", one.layer.code(), line(&one.text, 140)));
    }
    let more = usize::try_from(analysis.total()).unwrap_or(0).saturating_sub(shown.len());
    if more > 0 {
        text.push_str(&format!("  and {more} more\n"));
    }
    text
}

/// The reason of an end, and what comes next.
fn sentence(end: &PlanEnd) -> String {
    match end.next.as_str() {
        "" => end.reason.clone(),
        next => format!("{}; {next}", end.reason),
    }
}

/// The JSON document of `regreen plan --json` and `regreen test --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PlanDocument {
    /// Version of this document format.
    pub schema_version: u32,
    /// Id of the session.
    pub session: String,
    /// `session` or `prompt`.
    pub mode: String,
    /// The request in the words of the user.
    pub input: String,
    pub result: PlanResult,
    /// What comes next, in one sentence.
    pub next: String,
    /// The session's folder.
    pub folder: String,
    /// Finished phases.
    pub phases: Vec<PhaseRow>,
    /// Files with gaps, most urgent first.
    pub gaps: Vec<Gap>,
    /// Number of requirements, by layer.
    pub requirements: std::collections::BTreeMap<String, u32>,
    /// The tasks in the order in which they may run.
    pub tasks: Vec<TaskLine>,
    /// What providers used: calls, tokens, money.
    #[serde(default)]
    pub spending: Spending,
    /// Whether providers were configured and none gave a usable analysis of everything.
    #[serde(default)]
    pub degraded: bool,
    /// Result of phase 5, once it has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub produced: Option<ProducedDocument>,
}

/// A source file that lacks tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Gap {
    /// The source file without enough tests.
    pub file: String,
    /// The test file that belongs to it.
    pub test_file: String,
    /// `high`, `medium` or `low`.
    pub priority: String,
    /// What is missing in the tests of the file.
    pub reason: String,
}

/// One task as a line of the summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct TaskLine {
    /// Id of the task.
    pub id: String,
    /// Title on one line.
    pub title: String,
    /// Current status of the task.
    pub status: TaskStatus,
    /// Its file inside the session's folder.
    pub file: String,
    /// Ids of tasks that must be finished first.
    pub depends_on: Vec<String>,
    /// Number of requirements that the task must verify.
    pub requirements: u32,
}

/// The JSON document of a session that plans or writes tests.
pub fn document(run: &PlanRun, produced: Option<&Generation>, folder: &str) -> PlanDocument {
    let (state, plan) = (&run.state, run.plan.as_ref());
    let end = run.end();
    let missing =
        run.package.as_ref().map(|package| package.test_coverage.missing_tests.as_slice());
    PlanDocument {
        schema_version: 1,
        session: state.session_id.to_string(),
        mode: state.entry.mode().to_owned(),
        input: state.entry.text().to_owned(),
        result: end.result,
        next: sentence(&end),
        folder: folder.to_owned(),
        phases: state.phases.clone(),
        gaps: missing
            .unwrap_or_default()
            .iter()
            .map(|one| Gap {
                file: one.implementation_file.to_string(),
                test_file: one.suggested_test_file.to_string(),
                priority: one.priority.to_string(),
                reason: one.reason.clone(),
            })
            .collect(),
        requirements: plan
            .map(|plan| plan.analysis.by_layer())
            .unwrap_or_default()
            .into_iter()
            .map(|(layer, number)| (layer.code().to_owned(), number))
            .collect(),
        spending: run.spending,
        degraded: state.degraded,
        produced: produced.map(generation::produced_document),
        tasks: plan
            .iter()
            .flat_map(|plan| &plan.tasks)
            .map(|task| TaskLine {
                id: task.id.clone(),
                title: task.title.clone(),
                status: task.status,
                file: task.file(),
                depends_on: task.context.depends_on.clone(),
                requirements: u32::try_from(task.context.requirement_ids.len()).unwrap_or(u32::MAX),
            })
            .collect(),
    }
}
