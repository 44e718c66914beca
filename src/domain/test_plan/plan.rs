//! `TestPlan`: what a session tests. One value, to which each of the phases 2 to 4 adds: the files
//! with gaps, their requirements, the tasks (specification.md 3.1, 8.7, 8.8).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::domain::coverage::CoverageTarget;
use crate::domain::id::{RepoPath, SessionId};
use crate::domain::task::TaskStatus;

use super::framework::TestFramework;
use super::layer::SubLayer;
use super::plan_input::PlanInput;
use super::reader_command::ReaderCommand;
use super::requirement::{PlannedFile, Requirement};
use super::source_session::ImplementationSummary;
use super::task::{TaskKind, TestTask};

#[cfg(test)]
pub(crate) use tests::samples;

/// Path of the plan with its requirements inside the session folder, without the file extension.
pub const RESULTS: &str = ".process/TEST_ANALYSIS_RESULTS";

/// What a session tests. Phase 2 finds the files, phase 3 their requirements, phase 4 the tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestPlan {
    pub session_id: SessionId,
    /// The finished session behind it, in session mode.
    pub source_session_id: Option<SessionId>,
    pub description: String,
    /// The type of the project, such as `Library (Python)`.
    pub project_type: String,
    /// What shows the type, and how surely.
    pub project_type_evidence: String,
    pub framework: TestFramework,
    /// Current coverage, in words with numbers.
    pub coverage: String,
    pub coverage_target: CoverageTarget,
    /// Summaries of the source session, in session mode.
    pub summaries: Vec<ImplementationSummary>,
    /// Couplings of the files that imports do not show.
    pub couplings: Vec<String>,
    /// Files with gaps, most urgent first.
    pub files: Vec<PlannedFile>,
    /// Placeholders in the files: testing them is pointless.
    pub issues: Vec<String>,
    /// Demands of the request that match nothing in the files, with the reason.
    #[serde(default)]
    pub not_understood: Vec<String>,
    /// Examples in documentation that regreen cannot read, with their file.
    #[serde(default)]
    pub unread_examples: Vec<String>,
    /// Files and requirements that are not planned, with the reason.
    pub left_out: Vec<String>,
    /// The tasks in their order; each has a file of its own.
    #[serde(skip)]
    pub tasks: Vec<TestTask>,
}

impl TestPlan {
    /// The file in which phase 2 leaves the plan, inside the session folder.
    #[must_use]
    pub fn context_file(entry: &PlanInput) -> &'static str {
        match entry {
            PlanInput::Session(_) => ".process/test-context-package.json",
            PlanInput::Document(_) | PlanInput::Text(_) => ".process/context-package.json",
        }
    }

    /// All requirements, each with its file.
    pub fn all_requirements(&self) -> impl Iterator<Item = (&PlannedFile, &Requirement)> {
        self.files.iter().flat_map(|file| file.requirements.iter().map(move |one| (file, one)))
    }

    /// Requirements per sub-layer; sub-layers without any are left out.
    #[must_use]
    pub fn by_layer(&self) -> BTreeMap<SubLayer, u32> {
        let mut counts = BTreeMap::new();
        for (_, requirement) in self.all_requirements() {
            *counts.entry(requirement.layer).or_default() += 1;
        }
        counts
    }

    /// The number of requirements.
    #[must_use]
    pub fn requirement_count(&self) -> usize {
        self.all_requirements().count()
    }

    /// The test files, each once, in order.
    #[must_use]
    pub fn test_files(&self) -> Vec<&RepoPath> {
        let mut seen = BTreeSet::new();
        self.files.iter().map(|file| &file.test_file).filter(|file| seen.insert(*file)).collect()
    }

    /// The task of a kind.
    #[must_use]
    pub fn task_of_kind(&self, kind: TaskKind) -> Option<&TestTask> {
        self.tasks.iter().find(|task| task.meta.kind == kind)
    }

    /// The task that writes tests, unless it is done. A failed one is tried again.
    #[must_use]
    pub fn open_task(&self) -> Option<&TestTask> {
        let task = self.task_of_kind(TaskKind::TestGen)?;
        (!task.status.is_ended() || task.status == TaskStatus::Failed).then_some(task)
    }

    /// The iteration limit of the fix loop.
    #[must_use]
    pub fn max_iterations(&self) -> u32 {
        self.tasks.iter().find_map(|task| task.meta.max_iterations).unwrap_or_default()
    }

    /// What keeps the plan from being carried out, however a person has edited its task files; empty
    /// when nothing does. Requirements that were taken out of a task are no contradiction.
    #[must_use]
    pub fn find_contradictions(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for kind in TaskKind::ALL {
            if self.task_of_kind(kind).is_none() {
                problems.push(format!("{} is not planned", kind.task_id()));
            }
        }
        let known: BTreeSet<&str> =
            self.all_requirements().map(|(_, one)| one.id.as_str()).collect();
        for task in &self.tasks {
            let mut seen = BTreeSet::new();
            for id in task.requirement_ids() {
                if !known.contains(id) {
                    problems.push(format!("{id} is not in the plan"));
                } else if !seen.insert(id) {
                    problems.push(format!("{id} is in {} twice", task.id));
                }
            }
            for command in task.flow_control.pre_analysis.iter().flat_map(|step| &step.commands) {
                if let Err(error) = ReaderCommand::parse(command) {
                    problems.push(format!("{}: {error}", task.id));
                }
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    pub(crate) mod samples {
        use super::super::*;
        use crate::domain::framework::Framework;
        use crate::domain::test_plan::requirement::{CODE, Priority};

        /// A plan with `files` files of `requirements` requirements each, and no tasks.
        pub fn plan(files: usize, requirements: usize) -> TestPlan {
            let mut number = 0;
            let file = |index: usize, number: &mut u32| PlannedFile {
                file: RepoPath::parse(format!("pkg{}/m{index}.py", index % 7)).unwrap(),
                tests: Vec::new(),
                test_file: RepoPath::parse(format!("tests/test_m{index}.py")).unwrap(),
                priority: Priority::Low,
                reason: "no test belongs to it".into(),
                functions: vec!["f".into()],
                requirements: (0..requirements)
                    .map(|one| {
                        *number += 1;
                        Requirement {
                            id: format!("R-{number:03}"),
                            layer: SubLayer::ALL[one % 8],
                            function: "f".into(),
                            line: 3,
                            text: "`f` raises ValueError for an empty text".into(),
                            source: CODE.into(),
                            is_branch: false,
                        }
                    })
                    .collect(),
            };
            TestPlan {
                session_id: SessionId::parse("WFS-test-x").unwrap(),
                source_session_id: None,
                description: "everything".into(),
                project_type: "Library (Python)".into(),
                project_type_evidence: "pyproject.toml without an entry point (70 %)".into(),
                framework: TestFramework {
                    framework: Framework::Pytest,
                    run_tests: "python3 -m pytest".into(),
                    run_coverage: "coverage run -m pytest".into(),
                    run_specific: "python3 -m pytest {test_file}".into(),
                    ..TestFramework::default()
                },
                coverage: "0 of 3 files have tests".into(),
                coverage_target: CoverageTarget::default(),
                summaries: Vec::new(),
                couplings: Vec::new(),
                files: (0..files).map(|index| file(index, &mut number)).collect(),
                issues: Vec::new(),
                not_understood: Vec::new(),
                unread_examples: Vec::new(),
                left_out: Vec::new(),
                tasks: Vec::new(),
            }
        }
    }
}
