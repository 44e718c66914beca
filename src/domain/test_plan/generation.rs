//! `Generation`: the results of phase 5 so far, by task, with decisions of the gates and open
//! requirements (specification.md 3.1 phase 5, 6.6).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::characterisation_report::{CharacterisationReport, LineCounts};
use crate::domain::coverage::CoverageResult;
use crate::domain::event::WrittenFile;
use crate::domain::id::{CommitId, RepoPath, SessionId, TestId, TreeId};
use crate::domain::mutation::Score;
use crate::domain::quality::{Finding, QualityDecision, Stage};

use super::layer::SubLayer;
use super::written_tests::{BugFinding, WrittenTests};

/// Path of `generation.json` inside the session folder.
pub const GENERATION_FILE: &str = ".process/generation.json";

/// Content of `generation.json`. It is saved before the pipeline advances, so that a repeated step
/// finds its earlier results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generation {
    pub session_id: SessionId,
    /// The sources with all tests that were kept so far.
    pub tree: TreeId,
    /// Tests of the suite that passed before anything was written.
    pub passing: Vec<TestId>,
    /// Tests of the suite that failed before anything was written.
    pub failing: Vec<TestId>,
    pub tasks: Vec<TaskTests>,
    /// Tests that providers wrote for a task that is not finished yet.
    #[serde(default)]
    pub drafts: Vec<WrittenTests>,
    /// Test files that a gate removed.
    pub dropped: Vec<DroppedFile>,
    /// The findings for which a gate removed files: it stays missed, however good the rest is.
    #[serde(default)]
    pub blocking: Vec<Finding>,
    /// Result of the code check, once it has decided.
    pub validation: Option<GateResult>,
    /// Result of the test review, once it has decided.
    pub review: Option<GateResult>,
    /// Mutation score of all tests together, if a gate changed tests that were already scored.
    pub score: Option<Score>,
    /// Coverage, once the test review has measured it.
    #[serde(default)]
    pub coverage: Option<CoverageResult>,
    /// How often tests were rewritten because of what they missed.
    #[serde(default)]
    pub retries: u32,
    /// Seconds that the embedded engine and mutation testing took, in all tasks and rounds.
    #[serde(default)]
    pub engine_seconds: f64,
    /// The commit that holds the tests.
    pub commit: Option<CommitId>,
}

/// What one task wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskTests {
    pub task: String,
    /// How often tests were written: 2 if surviving mutants were returned to the author.
    pub rounds: u32,
    /// Whether another round would give nothing better.
    #[serde(default)]
    pub is_settled: bool,
    /// Report on functions, test files, dropped tests, coverage and score.
    pub report: CharacterisationReport,
    /// Lines that the new tests execute, by file; empty without line coverage.
    pub reached: BTreeMap<RepoPath, Vec<u32>>,
    /// The requirements of the task, as far as they are decided.
    pub requirements: Vec<RequirementCoverage>,
    /// Tests that providers wrote, file by file; the embedded engine wrote the others.
    #[serde(default)]
    pub written: Vec<WrittenTests>,
}

impl TaskTests {
    /// Whether tests may be written in this round: it was not performed, and may give better ones.
    pub fn lacks_round(&self, round: u32) -> bool {
        !self.is_settled && self.rounds < round
    }

    /// Whether a provider wrote this file.
    pub fn is_written(&self, file: &RepoPath) -> bool {
        self.written.iter().any(|one| one.file.as_ref() == Some(file))
    }
}

/// A requirement, and whether a test covers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementCoverage {
    pub id: String,
    pub layer: SubLayer,
    pub text: String,
    /// Why it is not covered; `None` if it is.
    pub open: Option<String>,
}

/// A test file that was written and then removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DroppedFile {
    pub file: RepoPath,
    /// The source that the tests were about.
    pub subject: RepoPath,
    /// Why the tests were removed.
    pub reason: String,
}

/// What a gate decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateResult {
    pub decision: QualityDecision,
    pub reason: String,
    /// Number of safe fixes that were made.
    pub repairs: u32,
    /// Number of retries.
    pub retries: u32,
}

/// Totals of phase 5.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenerationTotals {
    pub tests: usize,
    pub files: usize,
    pub shown: usize,
    pub requirements: usize,
    /// Line coverage of the files with gaps, before the new tests.
    pub before: LineCounts,
    /// Line coverage of these files with the new tests.
    pub after: LineCounts,
    /// Mutation score of the new tests.
    pub score: Option<Score>,
    /// Number of flaky new tests; none of them is kept.
    pub flaky: usize,
}

impl Generation {
    /// The record of a session in which no task has run.
    #[must_use]
    pub fn new(
        session_id: SessionId,
        tree: TreeId,
        passing: Vec<TestId>,
        failing: Vec<TestId>,
    ) -> Self {
        Self {
            session_id,
            tree,
            passing,
            failing,
            tasks: Vec::new(),
            drafts: Vec::new(),
            dropped: Vec::new(),
            blocking: Vec::new(),
            validation: None,
            review: None,
            score: None,
            coverage: None,
            retries: 0,
            engine_seconds: 0.0,
            commit: None,
        }
    }

    /// The findings for which this gate removed files.
    pub fn blocking(&self, stage: Stage) -> impl Iterator<Item = &Finding> {
        self.blocking.iter().filter(move |one| one.stage == stage)
    }

    /// Results of a task, if there are any.
    pub fn of(&self, task: &str) -> Option<&TaskTests> {
        self.tasks.iter().find(|made| made.task == task)
    }

    /// Test files, each with the source file that it tests.
    pub fn files(&self) -> Vec<(RepoPath, RepoPath)> {
        let files = self.tasks.iter().flat_map(|made| &made.report.files);
        files.map(|one| (one.file.clone(), one.subject.clone())).collect()
    }

    /// Test files with the numbers of their tests, for the events of a session.
    pub fn written_files(&self) -> Vec<WrittenFile> {
        let files = self.tasks.iter().flat_map(|made| &made.report.files);
        let written = files.map(|one| WrittenFile {
            file: one.file.clone(),
            subject: one.subject.clone(),
            tests: u32::try_from(one.tests.len()).unwrap_or(u32::MAX),
        });
        written.collect()
    }

    /// Ids of all kept tests.
    pub fn tests(&self) -> Vec<TestId> {
        let files = self.tasks.iter().flat_map(|made| &made.report.files);
        files.flat_map(|one| one.tests.iter().cloned()).collect()
    }

    /// Removes a test file that a gate rejected, and records the reason.
    pub fn drop_file(&mut self, file: &RepoPath, reason: &str) {
        for made in &mut self.tasks {
            let Some(at) = made.report.files.iter().position(|one| one.file == *file) else {
                continue;
            };
            let gone = made.report.files.remove(at);
            for function in made.report.functions.iter_mut().filter(|one| one.file == gone.subject)
            {
                function.assertions = 0;
                let dropped = crate::domain::characterisation_report::DropReason {
                    reason: reason.to_owned(),
                    count: 1,
                };
                function.dropped.insert(0, dropped);
            }
            made.reached.remove(&gone.subject);
            for one in made.written.iter_mut().filter(|one| one.file.as_ref() == Some(file)) {
                one.file = None;
                one.tests.clear();
                one.shown.clear();
                one.findings.clear();
                one.dropped.push(reason.to_owned());
            }
            self.dropped.push(DroppedFile {
                file: gone.file,
                subject: gone.subject,
                reason: reason.to_owned(),
            });
            return;
        }
    }

    /// Bugs that the tests found: the tests fail because the code is wrong.
    pub fn findings(&self) -> Vec<&BugFinding> {
        let written = self.tasks.iter().flat_map(|made| &made.written);
        written.flat_map(|one| &one.findings).collect()
    }

    /// Mutation score of all new tests: measured for all together if it was, otherwise the sum of
    /// the tasks' scores.
    pub fn scored(&self) -> Option<Score> {
        if self.score.is_some() {
            return self.score.clone();
        }
        let scores = self.tasks.iter().filter_map(|made| made.report.score.as_ref());
        scores.cloned().reduce(together)
    }

    /// Whether both gates let the tests pass.
    pub fn is_met(&self) -> bool {
        self.missed_gates().is_empty()
    }

    /// What each gate that is not met says; empty when both let the tests pass.
    pub fn missed_gates(&self) -> Vec<String> {
        let missed = |stage: Stage, gate: &Option<GateResult>| match gate {
            Some(gate) if gate.decision == QualityDecision::Pass => None,
            Some(gate) => Some(format!("{}: {}", stage.gate_of_task(), gate.reason)),
            None => Some(format!("{} has not decided", stage.gate_of_task())),
        };
        [missed(Stage::Code, &self.validation), missed(Stage::Tests, &self.review)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Totals of phase 5.
    pub fn totals(&self) -> GenerationTotals {
        let reports = || self.tasks.iter().map(|made| &made.report);
        let sum = |of: fn(&CharacterisationReport) -> LineCounts| {
            reports().map(of).fold(LineCounts::default(), |all, one| LineCounts {
                covered: all.covered + one.covered,
                lines: all.lines + one.lines,
            })
        };
        let requirements = || self.tasks.iter().flat_map(|made| &made.requirements);
        GenerationTotals {
            tests: reports().map(CharacterisationReport::tests).sum(),
            files: reports().map(|report| report.files.len()).sum(),
            shown: requirements().filter(|one| one.open.is_none()).count(),
            requirements: requirements().count(),
            before: sum(|report| report.before),
            after: sum(|report| report.after),
            score: self.scored(),
            flaky: reports().map(|report| report.flaky.len()).sum(),
        }
    }
}

/// Adds up two scores of different files.
fn together(a: Score, b: Score) -> Score {
    use crate::domain::mutation::LineReach;
    let unknown = a.reach == LineReach::Unknown || b.reach == LineReach::Unknown;
    Score {
        schema_version: a.schema_version,
        mutants: a.mutants + b.mutants,
        covered: a.covered + b.covered,
        tried: a.tried + b.tried,
        unviable: a.unviable + b.unviable,
        types_unchecked: a.types_unchecked || b.types_unchecked,
        noticed: a.noticed + b.noticed,
        hung: a.hung + b.hung,
        reach: if unknown { LineReach::Unknown } else { LineReach::Known },
        tests: a.tests + b.tests,
        left_out: [a.left_out, b.left_out].concat(),
        lines_covered: a.lines_covered + b.lines_covered,
        lines: a.lines + b.lines,
        survivors: [a.survivors, b.survivors].concat(),
        seconds: a.seconds + b.seconds,
        threshold: a.threshold,
    }
}
