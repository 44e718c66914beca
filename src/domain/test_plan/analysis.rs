//! `TestAnalysis`: test requirements by file and layer, each with a check (specification.md 8.8).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::coverage::CoverageTarget;
use crate::domain::id::{RepoPath, SessionId};

use super::context::{Priority, TestFramework};
use super::layer::SubLayer;

#[cfg(test)]
pub(crate) use tests::samples;

/// Path of the analysis inside the session folder, without the file extension.
pub const RESULTS: &str = ".process/TEST_ANALYSIS_RESULTS";

/// A behaviour that a test must show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    /// Id such as `R-001`, unique in the analysis.
    pub id: String,
    pub layer: SubLayer,
    /// Function under test; empty for the whole file.
    pub function: String,
    /// Line that implements the behaviour, from 1.
    pub line: u32,
    /// Description, such as "`parse_price` raises `E` for an empty text".
    pub text: String,
    /// The input of the test.
    pub given: String,
    /// The result that the test expects.
    pub expect: String,
    pub check: String,
    /// The provider that added it; empty when it was derived from the code.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
}

impl Requirement {
    /// Whether it only says what the code does, as read from its syntax.
    #[must_use]
    pub fn is_derived(&self) -> bool {
        self.author.is_empty()
    }
}

/// All requirements of one source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRequirements {
    pub file: RepoPath,
    pub test_file: RepoPath,
    /// Whether that file exists already.
    pub test_file_exists: bool,
    pub priority: Priority,
    /// What the tests of the file lack.
    pub reason: String,
    /// Functions of the file that tests can call.
    pub functions: Vec<String>,
    pub lines: u32,
    /// Dependencies that need a test double, with the reason.
    pub mocks: Vec<String>,
    /// Existing test data and fixtures that can be used.
    pub fixtures: Vec<String>,
    /// Requirements, in the order of their lines.
    pub requirements: Vec<Requirement>,
    /// Number of requirements that existing tests already cover.
    pub already_covered: u32,
    /// Requirements beyond the limit of one file.
    pub left_out: u32,
}

/// A finding of the scan for issues typical of generated code (specification.md 6.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnalysisFinding {
    pub severity: String,
    /// The category and name of the rule.
    pub issue: String,
    pub file: RepoPath,
    /// The line, from 1.
    pub line: u32,
}

/// `TEST_ANALYSIS_RESULTS.json`; the Markdown beside it is rendered from this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestAnalysis {
    pub session_id: SessionId,
    /// RFC 3339, in UTC.
    pub timestamp: String,
    /// Author: a provider name, or `embedded`.
    pub author: String,
    pub description: String,
    /// The type of the project, such as `Library (Python)`.
    pub project_type: String,
    /// How sure the type is, from 0 to 1.
    pub project_type_confidence: f64,
    pub project_type_evidence: Vec<String>,
    /// Current coverage, in words with numbers.
    pub current_coverage: String,
    pub coverage_target: CoverageTarget,
    pub framework: TestFramework,
    /// Requirements by file, most urgent first.
    pub files: Vec<FileRequirements>,
    /// Files with gaps that were left for another session, with the reason.
    pub deferred: Vec<String>,
    /// Requirements of a provider that the code does not confirm, with the reason.
    #[serde(default)]
    pub dropped: Vec<String>,
    /// Issues in the present tests.
    pub ai_issues: Vec<AnalysisFinding>,
    pub strategy: Vec<String>,
    /// Criteria of success, each with a command.
    pub success_criteria: Vec<String>,
}

impl TestAnalysis {
    /// Requirements per sub-layer; sub-layers without any are left out.
    pub fn by_layer(&self) -> BTreeMap<SubLayer, u32> {
        let mut counts = BTreeMap::new();
        for requirement in self.files.iter().flat_map(|file| &file.requirements) {
            *counts.entry(requirement.layer).or_default() += 1;
        }
        counts
    }

    /// All requirements of the analysis.
    pub fn total(&self) -> u32 {
        self.by_layer().values().sum()
    }
}

/// The problems of an analysis; empty when planning can use it.
///
/// Source: specification.md 3.1 phase 3, 5: requirements are counted, quantified and can be checked.
pub fn problems(analysis: &TestAnalysis) -> Vec<String> {
    let mut problems = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for file in &analysis.files {
        if file.requirements.is_empty() {
            problems.push(format!("{} has no requirement", file.file));
        }
        for one in &file.requirements {
            if !ids.insert(&one.id) {
                problems.push(format!("{} is there twice", one.id));
            }
            if one.text.trim().is_empty() || one.expect.trim().is_empty() {
                problems.push(format!("{} does not say what to see", one.id));
            }
            if one.check.trim().is_empty() {
                problems.push(format!("{} cannot be checked: it names no command", one.id));
            }
            if one.line > file.lines.max(1) {
                problems.push(format!("{} names line {} of {}", one.id, one.line, file.lines));
            }
        }
    }
    problems
}

/// Number of files that are handled as one group, in a question or a task; more are divided by
/// module (specification.md 3.1 phase 3).
pub const TOGETHER: usize = 6;

/// Files by module, where a module is a folder; few files are one group without a name.
pub fn by_module(files: &[FileRequirements]) -> BTreeMap<&str, Vec<&FileRequirements>> {
    let mut modules: BTreeMap<&str, Vec<&FileRequirements>> = BTreeMap::new();
    for file in files {
        let module = if files.len() <= TOGETHER { "" } else { file.file.parent() };
        modules.entry(module).or_default().push(file);
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) mod samples {
        use crate::domain::test_plan::analysis::*;
        use crate::domain::test_plan::context::TestCommands;

        /// An analysis with `files` files of `requirements` requirements each.
        pub fn analysis(files: usize, requirements: usize) -> TestAnalysis {
            let mut number = 0;
            let file = |index: usize, number: &mut u32| FileRequirements {
                file: RepoPath::parse(format!("pkg{}/m{index}.py", index % 7)).unwrap(),
                test_file: RepoPath::parse(format!("tests/test_m{index}.py")).unwrap(),
                test_file_exists: false,
                priority: Priority::Low,
                reason: "no test belongs to it".into(),
                functions: vec!["f".into()],
                lines: 40,
                mocks: Vec::new(),
                fixtures: Vec::new(),
                requirements: (0..requirements)
                    .map(|one| {
                        *number += 1;
                        Requirement {
                            id: format!("R-{number:03}"),
                            layer: SubLayer::ALL[5 + one % 8],
                            function: "f".into(),
                            line: 3,
                            text: "`f` raises ValueError for an empty text".into(),
                            given: "an empty text".into(),
                            expect: "ValueError".into(),
                            check: "pytest".into(),
                            author: String::new(),
                        }
                    })
                    .collect(),
                already_covered: 0,
                left_out: 0,
            };
            TestAnalysis {
                session_id: SessionId::parse("WFS-test-x").unwrap(),
                timestamp: "2026-01-02T03:04:05Z".into(),
                author: "embedded".into(),
                description: "everything".into(),
                project_type: "Library (Python)".into(),
                project_type_confidence: 0.8,
                project_type_evidence: vec!["pyproject.toml".into()],
                current_coverage: "0 of 3 files have tests".into(),
                coverage_target: CoverageTarget::default(),
                framework: TestFramework {
                    framework: crate::domain::framework::Framework::Pytest,
                    commands: TestCommands {
                        run_tests: "python3 -m pytest".into(),
                        run_coverage: "coverage run -m pytest".into(),
                        run_specific: "python3 -m pytest {test_file}".into(),
                    },
                    ..TestFramework::default()
                },
                files: (0..files).map(|index| file(index, &mut number)).collect(),
                deferred: Vec::new(),
                dropped: Vec::new(),
                ai_issues: Vec::new(),
                strategy: vec!["unit tests first".into()],
                success_criteria: vec!["all pass: `pytest`".into()],
            }
        }
    }

    #[test]
    fn an_analysis_without_checks_or_with_doubled_ids_is_refused() {
        let good = samples::analysis(2, 3);
        assert_eq!(problems(&good), Vec::<String>::new());
        assert_eq!(good.total(), 6);
        let mut bad = good.clone();
        bad.files[0].requirements[0].check.clear();
        bad.files[0].requirements[1].line = 99;
        bad.files[1].requirements[0].id = "R-001".into();
        bad.files[1].requirements.truncate(1);
        let mut empty = good.clone();
        empty.files[1].requirements.clear();
        assert_eq!(problems(&bad).len(), 3, "{:?}", problems(&bad));
        assert_eq!(problems(&empty), ["pkg1/m1.py has no requirement"]);
    }
}
