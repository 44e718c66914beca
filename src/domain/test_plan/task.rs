//! `TestTask` and `TestPlan`: the tasks of a test session in their stored form, and what makes a
//! plan invalid (specification.md 3.1 phase 4, 5.1 to 5.5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::{RepoPath, SessionId};
use crate::domain::task::{OrderError, TaskStatus, order};

use super::analysis::TestAnalysis;
use super::context::{TestCommands, TestFramework};

/// Minimum number of tasks of a session.
pub const FEWEST: usize = 4;

/// Maximum number of tasks of a session.
pub const MOST: usize = 18;

/// Kind of a task (specification.md 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskKind {
    TestGen,
    CodeValidation,
    TestQualityReview,
    /// Run the suite, and fix what fails.
    TestFix,
}

impl TaskKind {
    /// Name of the agent that does such tasks.
    #[must_use]
    pub fn agent(self) -> &'static str {
        match self {
            Self::TestGen => "@code-developer",
            Self::CodeValidation | Self::TestQualityReview | Self::TestFix => "@test-fix-agent",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusChange {
    pub from: TaskStatus,
    pub to: TaskStatus,
    /// RFC 3339, in UTC.
    pub changed_at: String,
}

/// Kind, agent, framework and iteration limit of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskMeta {
    #[serde(rename = "type")]
    pub kind: TaskKind,
    /// Agent that does the task, with a leading `@`.
    pub agent: String,
    pub test_framework: String,
    /// Such as `Library (Python)`.
    #[serde(default)]
    pub project_type: String,
    /// Such as `line:80%,branch:70%,function:90%`.
    #[serde(default)]
    pub coverage_target: String,
    /// The finished session, in session mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_session: Option<SessionId>,
    /// Iteration limit; only for the task that runs the suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
}

/// Requirements, acceptance criteria and files of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskContext {
    /// The requirements, as numbered sentences.
    pub requirements: Vec<String>,
    /// Ids of these requirements in the analysis.
    pub requirement_ids: Vec<String>,
    /// Acceptance criteria, each with a command.
    pub acceptance: Vec<String>,
    pub focus_paths: Vec<RepoPath>,
    pub files_to_test: Vec<RepoPath>,
    pub depends_on: Vec<String>,
}

/// A step before the work (specification.md 5.2: only these four forms of commands).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PreStep {
    pub step: String,
    pub action: String,
    /// `Read(path)`, `bash(command)`, `Search(pattern,path)` or `Glob(pattern)`.
    pub commands: Vec<String>,
    /// The name under which later steps find the result.
    pub output_to: String,
    /// What happens on an error: `fail`, `skip_optional`, `retry_once`, `continue` or `skip`.
    pub on_error: String,
}

/// A step of the implementation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApproachStep {
    /// The number of the step, from 1.
    pub step: u32,
    pub title: String,
    pub description: String,
    pub depends_on: Vec<u32>,
    pub output: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlowControl {
    /// Steps before the implementation.
    pub pre_analysis: Vec<PreStep>,
    /// The steps of the task, in order.
    pub implementation_approach: Vec<ApproachStep>,
    pub target_files: Vec<RepoPath>,
    /// Fixtures and helpers that new tests may use.
    #[serde(default)]
    pub reusable_test_tools: Vec<String>,
    /// Commands of the project.
    #[serde(default)]
    pub test_commands: TestCommands,
}

/// A task, in the nested form of the founding documents (specification.md 5.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestTask {
    /// The id of the task: `IMPL-001`, `IMPL-001.3`, ...
    pub id: String,
    pub title: String,
    pub status: TaskStatus,
    pub status_history: Vec<StatusChange>,
    /// The context package, inside the session folder.
    #[serde(default)]
    pub context_package_path: String,
    pub meta: TaskMeta,
    /// Requirements, acceptance criteria and files.
    pub context: TaskContext,
    pub flow_control: FlowControl,
}

impl TestTask {
    /// The file of the task inside the session folder (specification.md 5.1).
    pub fn file(&self) -> String {
        match self.meta.kind {
            TaskKind::CodeValidation => format!(".task/{}-validation.json", self.id),
            TaskKind::TestQualityReview => format!(".task/{}-review.json", self.id),
            TaskKind::TestGen | TaskKind::TestFix => format!(".task/{}.json", self.id),
        }
    }

    /// The framework of the project with the commands and tools of this task, which a person may
    /// have edited.
    pub fn framework(&self, project: &TestFramework) -> TestFramework {
        let (flow, mut own) = (&self.flow_control, project.clone());
        if flow.test_commands != TestCommands::default() {
            own.commands.clone_from(&flow.test_commands);
            own.conventions.fixtures.clone_from(&flow.reusable_test_tools);
        }
        own
    }

    /// Gives the task another status and records the change; returns whether it changed.
    pub fn change_status(&mut self, to: TaskStatus, now: &str) -> bool {
        if self.status == to {
            return false;
        }
        let changed_at = now.to_owned();
        self.status_history.push(StatusChange { from: self.status, to, changed_at });
        self.status = to;
        true
    }
}

/// The result of phases 1 to 4, from which phase 5 works.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestPlan {
    /// The analysis of what to test.
    pub analysis: TestAnalysis,
    /// Tasks of the plan, in the order in which they may run.
    pub tasks: Vec<TestTask>,
}

impl TestPlan {
    /// The tasks that still write tests, in the order in which they may run: neither completed nor
    /// blocked.
    pub fn open_tasks(&self) -> Vec<&TestTask> {
        let open = |task: &&TestTask| {
            task.meta.kind == TaskKind::TestGen
                && !matches!(task.status, TaskStatus::Completed | TaskStatus::Blocked)
        };
        let order = ordered(&self.tasks).unwrap_or_default();
        order
            .iter()
            .filter_map(|id| self.tasks.iter().find(|task| task.id == *id))
            .filter(open)
            .collect()
    }
}

/// Size of a plan by its number of files (specification.md 3.1 phase 4).
pub fn size(files: usize) -> &'static str {
    match files {
        ..5 => "simple",
        5..=15 => "medium",
        _ => "complex",
    }
}

/// The first task that writes tests.
pub const FIRST_TASK: &str = "IMPL-001";

/// The task of gate 001.3.
pub const VALIDATION_TASK: &str = "IMPL-001.3";

/// The task of gate 001.5.
pub const REVIEW_TASK: &str = "IMPL-001.5";

/// The task that runs the suite and fixes what fails.
pub const SUITE_TASK: &str = "IMPL-002";

/// The problems of a plan; empty when it can be carried out.
///
/// Source: specification.md 3.1 phase 4: 4 to 18 tasks, acyclic, every requirement counted and given to
/// one task, every acceptance with a command, the framework that of the project.
pub fn problems(plan: &TestPlan) -> Vec<String> {
    let mut problems = Vec::new();
    let number = plan.tasks.len();
    if !(FEWEST..=MOST).contains(&number) {
        problems.push(format!("{number} tasks are planned, {FEWEST} to {MOST} are allowed"));
    }
    for id in [FIRST_TASK, VALIDATION_TASK, REVIEW_TASK, SUITE_TASK] {
        if plan.tasks.iter().all(|task| task.id != id) {
            problems.push(format!("{id} is not planned"));
        }
    }
    if let Err(error) = ordered(&plan.tasks) {
        problems.push(error.to_string());
    }
    let mut given: std::collections::BTreeMap<&str, u32> = std::collections::BTreeMap::new();
    for task in &plan.tasks {
        if task.meta.test_framework != plan.analysis.framework.framework.name() {
            problems.push(format!("{} is planned for another framework", task.id));
        }
        if task.context.requirements.is_empty() || task.context.acceptance.is_empty() {
            problems.push(format!("{} does not say what is to be reached", task.id));
        }
        for acceptance in &task.context.acceptance {
            if !acceptance.contains('`') {
                problems.push(format!("{}: `{acceptance}` names no command", task.id));
            }
        }
        for id in &task.context.requirement_ids {
            *given.entry(id).or_default() += 1;
        }
    }
    for one in plan.analysis.files.iter().flat_map(|file| &file.requirements) {
        match given.get(one.id.as_str()) {
            Some(1) => {}
            Some(times) => problems.push(format!("{} is given to {times} tasks", one.id)),
            None => problems.push(format!("{} is given to no task", one.id)),
        }
    }
    problems
}

/// The order in which tasks may run.
pub fn ordered(tasks: &[TestTask]) -> Result<Vec<String>, OrderError> {
    let edges: Vec<(String, Vec<String>)> =
        tasks.iter().map(|task| (task.id.clone(), task.context.depends_on.clone())).collect();
    order(&edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_task_brings_its_own_commands_and_tools() {
        let text = include_str!("../../../tests/data/planning/v1/IMPL-001.json");
        let mut task: TestTask = serde_json::from_str(text).unwrap();
        let commands =
            TestCommands { run_specific: "make {test_file}".into(), ..Default::default() };
        let mut project = TestFramework { commands, ..TestFramework::default() };
        project.conventions.fixtures = vec!["shop".into()];
        task.flow_control.reusable_test_tools = vec!["cart".into()];
        let own = task.framework(&project);
        assert_eq!(own.commands.run_specific, "python3 -m pytest {test_file}");
        assert_eq!(own.conventions.fixtures, ["cart"]);
        // A task of an earlier build holds no commands: those of the project count.
        task.flow_control.test_commands = TestCommands::default();
        assert_eq!(task.framework(&project), project);
    }
}
