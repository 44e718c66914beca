//! The result of phases 1 to 4 as a JSON document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::budget::Spending;
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::generation::Generation;
use crate::domain::test_plan::pipeline::PhaseRow;
use crate::domain::test_plan::plan::TestPlan;
use crate::domain::test_plan::plan_run::{PlanEnd, PlanResult, PlanRun};

use super::generation::{self, ProducedDocument};

/// The phases before the fix loop, named as activities.
pub const ACTIVE: [&str; 5] = [
    "Starting the session",
    "Gathering context",
    "Analysing what must be tested",
    "Planning the tasks",
    "Running the test cycle",
];

/// The reason of an end, and what comes next.
pub(super) fn end_sentence(end: &PlanEnd) -> String {
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
    /// Demands of the request that match nothing in the files, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_understood: Vec<String>,
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
    PlanDocument {
        schema_version: 1,
        session: state.session_id.to_string(),
        mode: state.entry.mode().to_owned(),
        input: state.entry.text().to_owned(),
        result: end.result,
        next: end_sentence(&end),
        folder: folder.to_owned(),
        phases: state.phases.clone(),
        gaps: plan
            .iter()
            .flat_map(|plan| &plan.files)
            .map(|one| Gap {
                file: one.file.to_string(),
                test_file: one.test_file.to_string(),
                priority: one.priority.to_string(),
                reason: one.reason.clone(),
            })
            .collect(),
        requirements: plan
            .map(TestPlan::by_layer)
            .unwrap_or_default()
            .into_iter()
            .map(|(layer, number)| (layer.code().to_owned(), number))
            .collect(),
        not_understood: plan.map(|plan| plan.not_understood.clone()).unwrap_or_default(),
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
                file: task.file().to_owned(),
                depends_on: task.context.depends_on.clone(),
                requirements: u32::try_from(task.requirement_ids().count()).unwrap_or(u32::MAX),
            })
            .collect(),
    }
}
