//! `TestTask`: the four tasks of a test session in their stored form (specification.md 5.1 to 5.5).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::RepoPath;
use crate::domain::task::TaskStatus;

use super::requirement::{PlannedFile, Requirement};

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
    /// All kinds, in the order in which they run.
    pub const ALL: [Self; 4] =
        [Self::TestGen, Self::CodeValidation, Self::TestQualityReview, Self::TestFix];

    /// The id of the task.
    #[must_use]
    pub fn task_id(self) -> &'static str {
        match self {
            Self::TestGen => FIRST_TASK,
            Self::CodeValidation => VALIDATION_TASK,
            Self::TestQualityReview => REVIEW_TASK,
            Self::TestFix => SUITE_TASK,
        }
    }

    /// The file of the task inside the session folder (specification.md 5.1).
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::TestGen => ".task/IMPL-001.json",
            Self::CodeValidation => ".task/IMPL-001.3-validation.json",
            Self::TestQualityReview => ".task/IMPL-001.5-review.json",
            Self::TestFix => ".task/IMPL-002.json",
        }
    }

    /// What stands behind the task in lists.
    #[must_use]
    pub fn list_mark(self) -> &'static str {
        match self {
            Self::TestGen => "",
            Self::CodeValidation | Self::TestQualityReview => " [GATE]",
            Self::TestFix => " [ITERATION]",
        }
    }

    /// Name of the agent that does such tasks.
    #[must_use]
    pub fn agent(self) -> &'static str {
        match self {
            Self::TestGen => "@code-developer",
            Self::CodeValidation | Self::TestQualityReview | Self::TestFix => "@test-fix-agent",
        }
    }
}

/// A change of the status of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusChange {
    pub from: TaskStatus,
    pub to: TaskStatus,
    /// RFC 3339, in UTC.
    pub changed_at: String,
}

/// Kind, agent and iteration limit of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskMeta {
    #[serde(rename = "type")]
    pub kind: TaskKind,
    /// Agent that does the task, with a leading `@`.
    pub agent: String,
    /// Iteration limit; only for the task that runs the suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
}

/// Requirements, acceptance criteria and files of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskContext {
    /// The requirements as sentences; those of the plan begin with their ids.
    pub requirements: Vec<String>,
    /// Acceptance criteria, each with a command.
    pub acceptance: Vec<String>,
    /// The files, or folders, below which the task may write. Empty: no limit.
    pub focus_paths: Vec<RepoPath>,
    pub depends_on: Vec<String>,
}

/// What happens when a reader of a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The run stops; it goes on when the task file or the repository is repaired.
    Fail,
    /// The next reader of the step goes on.
    Continue,
    /// The rest of the step is left out.
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

/// What the writer of a task is shown and told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlowControl {
    /// Steps before the implementation.
    pub pre_analysis: Vec<PreStep>,
    /// The steps of the task, in order, as its writer is told them.
    pub implementation_approach: Vec<ApproachStep>,
}

/// A task, in the nested form of the founding documents (specification.md 5.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestTask {
    /// The id of the task: `IMPL-001`, `IMPL-001.3`, ...
    pub id: String,
    pub title: String,
    pub status: TaskStatus,
    pub status_history: Vec<StatusChange>,
    pub meta: TaskMeta,
    /// Requirements, acceptance criteria and files.
    pub context: TaskContext,
    pub flow_control: FlowControl,
}

/// The id at the beginning of a sentence about a requirement of the plan.
fn id_of(sentence: &str) -> Option<&str> {
    let (id, _) = sentence.split_once(' ')?;
    let number = id.strip_prefix("R-")?;
    (number.len() >= 3 && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(id)
}

impl TestTask {
    /// A task of a kind that waits for those before it.
    #[must_use]
    pub fn new(kind: TaskKind, title: String, context: TaskContext) -> Self {
        let before = TaskKind::ALL.into_iter().take_while(|one| *one != kind);
        let depends_on = before.map(|one| one.task_id().to_owned()).collect();
        Self {
            id: kind.task_id().to_owned(),
            title,
            status: TaskStatus::Pending,
            status_history: Vec::new(),
            meta: TaskMeta { kind, agent: kind.agent().to_owned(), max_iterations: None },
            context: TaskContext { depends_on, ..context },
            flow_control: FlowControl::default(),
        }
    }

    /// The file of the task inside the session folder.
    #[must_use]
    pub fn file(&self) -> &'static str {
        self.meta.kind.file()
    }

    /// The ids of the requirements of the plan that the task works on.
    pub fn requirement_ids(&self) -> impl Iterator<Item = &str> {
        self.context.requirements.iter().filter_map(|sentence| id_of(sentence))
    }

    /// Whether the task may write this test file, and others beside it for the same source.
    #[must_use]
    pub fn may_write(&self, test_file: &RepoPath) -> bool {
        let focus = &self.context.focus_paths;
        focus.is_empty() || focus.iter().any(|place| test_file.is_at_or_below(place))
    }

    /// Whether the task works on this requirement: it names it, and may write the tests of its file.
    #[must_use]
    pub fn works_on(&self, file: &PlannedFile, one: &Requirement) -> bool {
        self.meta.kind == TaskKind::TestGen
            && self.requirement_ids().any(|id| id == one.id)
            && self.may_write(&file.test_file)
    }

    /// The requirement in the words of the task file, where a person has changed them.
    #[must_use]
    pub fn in_its_words(&self, one: &Requirement) -> Requirement {
        let own = self.context.requirements.iter().find(|text| id_of(text) == Some(&one.id));
        let text = own.and_then(|text| text.split_once(' ')).map(|(_, text)| text);
        let layer = format!("{} ", one.layer);
        let text = text.map(|text| text.strip_prefix(&layer).unwrap_or(text).to_owned());
        Requirement { text: text.unwrap_or_else(|| one.text.clone()), ..one.clone() }
    }

    /// The steps of the task, where a person has changed them; `planned` are the requirements of the plan.
    #[must_use]
    pub fn own_steps<'r>(&self, planned: impl Iterator<Item = &'r Requirement>) -> &[ApproachStep] {
        let own = planned.filter(|one| self.requirement_ids().any(|id| id == one.id));
        let steps = &self.flow_control.implementation_approach;
        if *steps == planned_steps(own) { &[] } else { steps }
    }

    /// Requirements that a person wrote into the task file: sentences without the id of a planned one.
    #[must_use]
    pub fn added_requirements(&self) -> Vec<&str> {
        let all = self.context.requirements.iter().map(String::as_str);
        all.filter(|sentence| id_of(sentence).is_none()).collect()
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
#[must_use]
pub fn sentence(one: &Requirement) -> String {
    format!("{} {} {}", one.id, one.layer, one.text)
}

/// The steps of a task with these requirements, by layer, as they are planned.
pub fn planned_steps<'a>(
    requirements: impl IntoIterator<Item = &'a Requirement>,
) -> Vec<ApproachStep> {
    let titles = ["L1: units", "L2: integration across files", "L3: the whole program"];
    let mut layers = BTreeMap::new();
    for one in requirements {
        let parts: &mut BTreeMap<_, u32> = layers.entry(one.layer.layer()).or_default();
        *parts.entry(one.layer).or_default() += 1;
    }
    let described = |parts: BTreeMap<super::layer::SubLayer, u32>| {
        let parts =
            parts.iter().map(|(layer, count)| format!("{layer} {}: {count}", layer.title()));
        parts.collect::<Vec<_>>().join("; ")
    };
    let steps = (1..).zip(layers).map(|(step, (layer, parts))| ApproachStep {
        step,
        title: titles.get(usize::from(layer) - 1).copied().unwrap_or_default().to_owned(),
        description: described(parts),
    });
    steps.collect()
}

/// The task that writes tests.
pub const FIRST_TASK: &str = "IMPL-001";

/// The task of the code check.
pub const VALIDATION_TASK: &str = "IMPL-001.3";

/// The task of the test review.
pub const REVIEW_TASK: &str = "IMPL-001.5";

/// The task that runs the suite and fixes what fails.
pub const SUITE_TASK: &str = "IMPL-002";
