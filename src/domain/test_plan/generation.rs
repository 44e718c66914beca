//! `Generation`: the results of phase 5 so far, with decisions of the gates and open
//! requirements (specification.md 3.1 phase 5, 6.6).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::characterisation_report::{
    CharacterisationFile, CharacterisationReport, DropReason,
};
use crate::domain::coverage::CoverageResult;
use crate::domain::event::{WrittenFile, WrittenWork};
use crate::domain::id::{CommitId, RepoPath, SessionId, TestId, TreeId};
use crate::domain::mutation::Score;
use crate::domain::quality::{Finding, QualityDecision, Stage};
use crate::domain::text::count;

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
    /// What was written, once all files are.
    #[serde(default)]
    pub made: Option<TaskTests>,
    /// Tests that providers wrote, while others are still to be written.
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
    /// Mutation score of the tests that remain, if a gate dropped some that were already scored.
    pub score: Option<Score>,
    /// Coverage, once the test review has measured it.
    #[serde(default)]
    pub coverage: Option<CoverageResult>,
    /// How often tests were rewritten because of what they missed.
    #[serde(default)]
    pub retries: u32,
    /// Seconds that the embedded engine and mutation testing took, in all rounds.
    #[serde(default)]
    pub engine_seconds: f64,
    /// The commit that holds the tests.
    pub commit: Option<CommitId>,
}

/// What the task that writes tests wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskTests {
    /// How often tests were written: 2 if surviving mutants were returned to the author.
    pub rounds: u32,
    /// Whether another round would give nothing better.
    #[serde(default)]
    pub is_settled: bool,
    /// Report on functions, test files, dropped tests, coverage and score.
    pub report: CharacterisationReport,
    /// Lines that the new tests execute, by file; empty without line coverage.
    pub reached: BTreeMap<RepoPath, Vec<u32>>,
    /// The requirements, once they are decided.
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

    /// Bugs that the tests of this task found.
    pub fn findings(&self) -> impl Iterator<Item = &BugFinding> {
        self.report.findings.iter().chain(self.written.iter().flat_map(|one| &one.findings))
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
            made: None,
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

    fn kept(&self) -> impl Iterator<Item = &CharacterisationFile> {
        self.made.iter().flat_map(|made| &made.report.files)
    }

    /// Test files, each with the source file that it tests.
    pub fn files(&self) -> Vec<(RepoPath, RepoPath)> {
        self.kept().map(|one| (one.file.clone(), one.subject.clone())).collect()
    }

    /// Test files with the numbers of their tests, for the events of a session.
    pub fn written_files(&self) -> Vec<WrittenFile> {
        let written = self.kept().map(|one| WrittenFile {
            file: one.file.clone(),
            subject: one.subject.clone(),
            tests: u32::try_from(one.tests.len()).unwrap_or(u32::MAX),
        });
        written.collect()
    }

    /// Why a file is missing: a gate dropped one, or else what kept most tests from being written.
    pub fn main_reason(&self) -> Option<&str> {
        let dropped = self.dropped.first().map(|one| one.reason.as_str());
        dropped.or_else(|| self.made.as_ref()?.report.main_reason())
    }

    /// What was written, for the end of the session.
    pub fn written_work(&self) -> WrittenWork {
        let files = self.written_files();
        let obstacle =
            self.main_reason().filter(|_| files.is_empty()).unwrap_or_default().to_owned();
        let findings = self.findings().into_iter().map(ToString::to_string).collect();
        let (missed_gates, shortfall) = (self.missed_gates(), self.describe_shortfall());
        WrittenWork { files, obstacle, missed_gates, shortfall, findings, untested: Vec::new() }
    }

    /// Ids of all kept tests.
    pub fn tests(&self) -> Vec<TestId> {
        self.kept().flat_map(|one| one.tests.iter().cloned()).collect()
    }

    /// The files that providers wrote.
    pub fn written_tests(&self) -> impl Iterator<Item = &WrittenTests> {
        self.made.iter().flat_map(|made| &made.written)
    }

    /// The requirements, once they are decided.
    pub fn decided_requirements(&self) -> impl Iterator<Item = &RequirementCoverage> {
        self.made.iter().flat_map(|made| &made.requirements)
    }

    /// Removes a test file that a gate rejected, and records the reason.
    pub fn drop_file(&mut self, file: &RepoPath, reason: &str) {
        let Some(made) = &mut self.made else { return };
        let Some(at) = made.report.files.iter().position(|one| one.file == *file) else { return };
        let gone = made.report.files.remove(at);
        let reason = reason.to_owned();
        for function in made.report.functions.iter_mut().filter(|one| one.file == gone.subject) {
            function.assertions = 0;
            function.dropped.insert(0, DropReason { reason: reason.clone(), count: 1 });
        }
        made.reached.remove(&gone.subject);
        for one in made.written.iter_mut().filter(|one| one.file.as_ref() == Some(file)) {
            one.file = None;
            one.tests.clear();
            one.shown.clear();
            one.findings.clear();
            one.dropped.push(reason.clone());
        }
        self.dropped.push(DroppedFile { file: gone.file, subject: gone.subject, reason });
    }

    /// Bugs that the tests found: the tests fail because the code is wrong.
    pub fn findings(&self) -> Vec<&BugFinding> {
        let report = self.made.iter().flat_map(|made| &made.report.findings);
        report.chain(self.written_tests().flat_map(|one| &one.findings)).collect()
    }

    /// Mutation score of the new tests: measured again if a gate dropped some.
    pub fn scored(&self) -> Option<Score> {
        let first = self.made.as_ref().and_then(|made| made.report.score.as_ref());
        self.score.as_ref().or(first).cloned()
    }

    /// Whether both gates let the tests pass.
    pub fn is_met(&self) -> bool {
        self.missed_gates().is_empty()
    }

    /// Whether no file was written that a gate could judge.
    pub fn has_no_file(&self) -> bool {
        self.files().is_empty() && self.dropped.is_empty()
    }

    /// Whether the suite waits for a person: a gate found what is critical, or is undecided.
    pub fn is_held(&self) -> bool {
        !self.gates_with(|decision| decision == QualityDecision::HardFail).is_empty()
    }

    /// What each gate that is not met says; empty when both let the tests pass.
    pub fn missed_gates(&self) -> Vec<String> {
        self.gates_with(|decision| decision != QualityDecision::Pass)
    }

    /// Each number that the kept tests do not reach. None fails a gate.
    pub fn short_numbers(&self) -> Vec<String> {
        if self.files().is_empty() {
            return Vec::new();
        }
        let score = self.scored().and_then(|score| score.describe_shortfall());
        self.coverage.iter().flat_map(CoverageResult::missed).chain(score).collect()
    }

    /// The numbers that are not reached, with a reason: the phrase of every output; empty where all are.
    pub fn describe_shortfall(&self) -> String {
        let numbers = self.short_numbers();
        let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
        for reason in self.decided_requirements().filter_map(|one| one.open.as_deref()) {
            *reasons.entry(reason).or_default() += 1;
        }
        let open: u32 = reasons.values().sum();
        let main = reasons.into_iter().max_by_key(|(_, count)| *count);
        let why = main.filter(|_| !numbers.is_empty()).map_or_else(String::new, |(reason, _)| {
            format!(" ({} not shown, for example because: {reason})", count(open, "requirement"))
        });
        format!("{}{why}", numbers.join("; "))
    }

    fn gates_with(&self, accepts: fn(QualityDecision) -> bool) -> Vec<String> {
        let missed = |stage: Stage, gate: &Option<GateResult>| match gate {
            Some(gate) if !accepts(gate.decision) => None,
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
        let report = self.made.as_ref().map(|made| &made.report);
        GenerationTotals {
            tests: report.map_or(0, CharacterisationReport::tests),
            files: self.kept().count(),
            shown: self.decided_requirements().filter(|one| one.open.is_none()).count(),
            requirements: self.decided_requirements().count(),
            score: self.scored(),
            flaky: report.map_or(0, |report| report.flaky.len()),
        }
    }
}
