//! `TestTask` and `TestPlan`: the tasks of a test session in their stored form, and what makes a
//! plan invalid (specification.md 3.1 phase 4, 5.1 to 5.5).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::{RepoPath, SessionId};
use crate::domain::task::{OrderError, TaskStatus, order};

use super::analysis::{FileRequirements, Requirement, TestAnalysis};
use super::context::{TestCommands, TestFramework};
use super::layer::SubLayer;
use super::reader_command::ReaderCommand;

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
    /// The files, or folders, below which the task may write. Empty: no limit.
    pub focus_paths: Vec<RepoPath>,
    pub files_to_test: Vec<RepoPath>,
    pub depends_on: Vec<String>,
}

/// What happens when a reader of a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The run stops; it goes on when the task file or the repository is repaired.
    #[serde(alias = "retry_once")]
    Fail,
    /// The next reader of the step goes on.
    Continue,
    /// The rest of the step is left out.
    #[serde(alias = "skip_optional")]
    Skip,
}

/// A step before the work: what the writer is shown (specification.md 5.9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PreStep {
    pub step: String,
    /// Heading of what the writer is shown.
    pub action: String,
    /// `Read(path)`, `Search(text,path)` or `Glob(pattern)`, on the files of the commit under test.
    pub commands: Vec<String>,
    /// What happens when a command fails: `fail`, `continue` or `skip`.
    #[schemars(with = "String")]
    pub on_error: OnError,
}

/// A step of the implementation, as the writer is told it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApproachStep {
    /// The number of the step, from 1.
    pub step: u32,
    pub title: String,
    pub description: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlowControl {
    /// Steps before the implementation.
    pub pre_analysis: Vec<PreStep>,
    /// The steps of the task, in order, as its writer is told them.
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

    /// Whether the task may write this test file, and others beside it for the same source.
    pub fn may_write(&self, test_file: &RepoPath) -> bool {
        let focus = &self.context.focus_paths;
        focus.is_empty() || focus.iter().any(|place| test_file.is_at_or_below(place))
    }

    /// Whether the task works on this requirement: it has its id, and may write the tests of its file.
    pub fn works_on(&self, file: &FileRequirements, one: &Requirement) -> bool {
        self.meta.kind == TaskKind::TestGen
            && self.context.requirement_ids.contains(&one.id)
            && self.may_write(&file.test_file)
    }

    /// The requirement in the words of the task file, where a person has changed them.
    pub fn in_its_words(&self, one: &Requirement) -> Requirement {
        let planned = sentence(one);
        let (id, layer) = (format!("{} ", one.id), format!("{} ", one.layer));
        let mut own = self.context.requirements.iter().filter(|sentence| **sentence != planned);
        let text = own.find_map(|sentence| sentence.strip_prefix(&id));
        let text = text.map(|text| text.strip_prefix(&layer).unwrap_or(text).to_owned());
        match text {
            // The planned values belong to the planned words.
            Some(text) => {
                Requirement { text, given: String::new(), expect: String::new(), ..one.clone() }
            }
            None => one.clone(),
        }
    }

    /// The steps of the task, where a person has changed them.
    pub fn own_steps(&self, analysis: &TestAnalysis) -> &[ApproachStep] {
        let all = analysis.files.iter().flat_map(|file| &file.requirements);
        let own = all.filter(|one| self.context.requirement_ids.contains(&one.id));
        let steps = &self.flow_control.implementation_approach;
        if *steps == planned_steps(own) { &[] } else { steps }
    }

    /// Requirements that a person wrote into the task file: sentences without the id of a planned one.
    pub fn added_requirements(&self, analysis: &TestAnalysis) -> Vec<&str> {
        let is_planned = |sentence: &str| {
            analysis.files.iter().any(|file| {
                let heading = sentence.strip_prefix(file.file.as_str());
                heading.is_some_and(|rest| rest.starts_with(": "))
                    || file.requirements.iter().any(|one| {
                        let rest = sentence.strip_prefix(one.id.as_str());
                        rest.is_some_and(|rest| rest.starts_with(' '))
                    })
            })
        };
        let all = self.context.requirements.iter().map(String::as_str);
        all.filter(|sentence| !is_planned(sentence)).collect()
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

/// A requirement as a sentence of a task file.
pub fn sentence(one: &Requirement) -> String {
    format!("{} {} {}", one.id, one.layer, one.text)
}

/// The steps of a task with these requirements, by layer, as they are planned.
pub fn planned_steps<'a>(
    requirements: impl IntoIterator<Item = &'a Requirement>,
) -> Vec<ApproachStep> {
    let mut layers: BTreeMap<u8, BTreeMap<SubLayer, u32>> = BTreeMap::new();
    for one in requirements {
        *layers.entry(one.layer.layer()).or_default().entry(one.layer).or_default() += 1;
    }
    let titles = [
        "L0: the file itself",
        "L1: units",
        "L2: integration across files",
        "L3: the whole program",
    ];
    let present = (0..).zip(titles).filter_map(|(layer, title)| Some((layers.get(&layer)?, title)));
    let steps = (1..).zip(present).map(|(step, (parts, title))| {
        let parts: Vec<String> = parts
            .iter()
            .map(|(layer, count)| format!("{layer} {}: {count}", layer.title()))
            .collect();
        ApproachStep { step, title: title.to_owned(), description: parts.join("; ") }
    });
    steps.collect()
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
    /// The tasks that still write tests, in the order in which they may run. A failed one is tried
    /// again.
    pub fn open_tasks(&self) -> Vec<&TestTask> {
        let open = |task: &&TestTask| {
            task.meta.kind == TaskKind::TestGen
                && (!task.status.is_ended() || task.status == TaskStatus::Failed)
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

/// The task of the code check.
pub const VALIDATION_TASK: &str = "IMPL-001.3";

/// The task of the test review.
pub const REVIEW_TASK: &str = "IMPL-001.5";

/// The task that runs the suite and fixes what fails.
pub const SUITE_TASK: &str = "IMPL-002";

/// The problems of a plan; empty when it can be carried out.
///
/// Source: specification.md 3.1 phase 4: 4 to 18 tasks, acyclic, every requirement counted and given to
/// one task, every acceptance with a command, the framework that of the project.
pub fn problems(plan: &TestPlan) -> Vec<String> {
    let mut problems = contradictions(plan);
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
    }
    let given: std::collections::BTreeSet<&String> =
        plan.tasks.iter().flat_map(|task| &task.context.requirement_ids).collect();
    for one in plan.analysis.files.iter().flat_map(|file| &file.requirements) {
        if !given.contains(&one.id) {
            problems.push(format!("{} is given to no task", one.id));
        }
    }
    problems
}

/// What keeps a plan from being carried out, however a person has edited its task files. Requirements
/// that were taken out of a task are no contradiction.
pub fn contradictions(plan: &TestPlan) -> Vec<String> {
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
    for id in plan.tasks.iter().flat_map(|task| &task.context.requirement_ids) {
        *given.entry(id).or_default() += 1;
    }
    let known: std::collections::BTreeSet<&str> = plan
        .analysis
        .files
        .iter()
        .flat_map(|file| &file.requirements)
        .map(|one| one.id.as_str())
        .collect();
    for (id, times) in given {
        if !known.contains(id) {
            problems.push(format!("{id} is not in the analysis"));
        } else if times > 1 {
            problems.push(format!("{id} is given to {times} tasks"));
        }
    }
    for task in &plan.tasks {
        for command in task.flow_control.pre_analysis.iter().flat_map(|step| &step.commands) {
            if let Err(error) = ReaderCommand::parse(command) {
                problems.push(format!("{}: {error}", task.id));
            }
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
