//! Runs the code check and the test review on the tests of phase 5: findings, repairs, and the files that are
//! dropped. A gate that drops a file for its findings is not met (specification.md 6.6).

use std::collections::{BTreeMap, BTreeSet};

use crate::cycle::error::Failure;
use crate::cycle::session_files::{RAN, read, write};
use crate::domain::coverage::CoverageResult;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::quality::{Finding, FindingCounts, MAX_RETRIES, QualityDecision, Stage, decide};
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::generation::{GENERATION_FILE, GateResult, RequirementCoverage};
use crate::domain::test_plan::pipeline::PipelineStepOutcome;
use crate::domain::test_plan::requirement_coverage::still_open;
use crate::domain::test_plan::task::{REVIEW_TASK, TaskKind, TestTask, VALIDATION_TASK};
use crate::domain::text::count;
use crate::report::planning;
use crate::report::test_quality::{self, TestQuality};
use crate::report::validation::{Parts, Skipped, ValidationReport, by_severity};
use crate::role::test_plan::{ExecutedLines, measure_coverage};
use crate::role::{GenerateRequest, InspectRequest, Missed, inspect, rescore};

use super::selection::{WorstFile, worst};
use super::write::TestWriting;
use super::write_task::ROUNDS;

/// Why a gate without files is not met.
const NOTHING_WRITTEN: &str = "no test was written, so there is nothing to judge";

/// Findings that the reason of a decision names.
const NAMED: usize = 3;

/// What the project's linter still finds and what gave no answer, as the end of a reason.
fn linter_answers(findings: &[Finding], silent: &[Skipped]) -> String {
    let own: Vec<&Finding> = findings.iter().filter(|one| one.id == "project-rule").collect();
    let first = own.first().map_or_else(String::new, |Finding { file, line, message, .. }| {
        let number = count(own.len(), "finding");
        format!("; {number} of the project's linter, first in {file}:{line}: {message}")
    });
    let silent = silent.iter().map(|one| format!("; not checked: {} ({})", one.what, one.reason));
    first + &silent.collect::<String>()
}

impl TestWriting<'_> {
    /// Code check: inspects the new files, repairs what is safe, drops what is critical.
    pub(super) async fn validate(&mut self) -> Result<PipelineStepOutcome, Failure> {
        self.turn(VALIDATION_TASK, TaskStatus::InProgress).await?;
        self.fx.step("code check: looking for typical mistakes of generated code");
        self.validate_files().await?;
        Ok(PipelineStepOutcome::Done)
    }

    /// Decides the code check on the files that are there now, and writes its report.
    async fn validate_files(&mut self) -> Result<(), Failure> {
        let id = VALIDATION_TASK;
        let report = self.gate().await?;
        let met = report.status == QualityDecision::Pass;
        self.generation.validation = Some(GateResult {
            decision: report.status,
            reason: report.gate_decision.clone(),
            repairs: u32::try_from(report.auto_fixes_applied.len()).unwrap_or(u32::MAX),
            retries: report.retry_count,
        });
        write(self.fx, GENERATION_FILE, &self.generation).await?;
        write(self.fx, ".process/code-validation-report.json", &report).await?;
        let text = planning::render_gate(id, self.generation.validation.as_ref(), &self.generation);
        self.end_gate(id, met, &text).await
    }

    async fn end_gate(&mut self, id: &str, is_met: bool, summary: &str) -> Result<(), Failure> {
        self.fx.store.write_text(&format!(".summaries/{id}-summary.md"), summary).await?;
        self.turn(id, if is_met { TaskStatus::Completed } else { TaskStatus::Blocked }).await
    }

    /// Lets the project's own fixers repair the files, drops those with critical findings or with too
    /// many, and inspects the rest.
    async fn gate(&mut self) -> Result<ValidationReport, Failure> {
        let mut fixed: Vec<Finding> = Vec::new();
        let mut retries = 0;
        // Whether the fixers change nothing more.
        let mut is_tidy = false;
        let mut unformatted = self.format_new(&mut fixed).await?;
        loop {
            let files = self.new_files();
            let request = InspectRequest {
                tree: &self.generation.tree,
                chosen: &files,
                tests: false,
                tools: Some(&self.inputs.own),
            };
            let reviewed = inspect(request, self.fx).await?;
            let findings = reviewed.findings;
            let (counts, limits) = (FindingCounts::of(findings.iter()), self.inputs.limits);
            let mut decision = decide(counts, limits, retries);
            if decision.0 == QualityDecision::SoftFail {
                if !is_tidy {
                    let before = self.generation.tree.clone();
                    unformatted = self.format_new(&mut fixed).await?;
                    is_tidy = self.generation.tree == before;
                    if !is_tidy {
                        retries += 1;
                        continue;
                    }
                }
                // The same files would be found wanting again.
                decision = decide(counts, limits, MAX_RETRIES);
            }
            if let Some(worst) = worst(&findings, decision.0) {
                self.block(worst, Stage::Code).await?;
                continue;
            }
            let mut decision = self.with_blocking(Stage::Code, decision);
            let failed = reviewed.failed_tools.into_iter();
            unformatted.extend(failed.map(|(what, reason)| Skipped { what, reason }));
            decision.1.push_str(&linter_answers(&findings, &unformatted));
            let findings = self.generation.blocking(Stage::Code).cloned().chain(findings).collect();
            let left_out = reviewed.generated.iter().chain(&reviewed.too_deep);
            let skipped = left_out.map(|file| Skipped {
                what: file.to_string(),
                reason: "it is data of tests, copied, or nested too deeply".into(),
            });
            let unchecked =
                reviewed.skipped.iter().cloned().map(|(what, reason)| Skipped { what, reason });
            return Ok(ValidationReport::from(Parts {
                session: Some(self.state.session_id.to_string()),
                timestamp: self.fx.clock.now(),
                files: files.len() - reviewed.generated.len(),
                findings,
                fixed,
                decision,
                skipped: skipped.chain(unchecked).chain(unformatted).collect(),
                retries,
                tests: None,
            }));
        }
    }

    pub(super) fn new_files(&self) -> Vec<RepoPath> {
        self.generation.files().into_iter().map(|(file, _)| file).collect()
    }

    pub(super) fn tests_of(&self, file: &RepoPath) -> Vec<TestId> {
        let files = self.generation.made.iter().flat_map(|made| &made.report.files);
        files.filter(|one| one.file == *file).flat_map(|one| one.tests.clone()).collect()
    }

    pub(super) async fn drop_file(&mut self, file: &RepoPath, reason: &str) -> Result<(), Failure> {
        self.replace(file, None).await?;
        self.generation.drop_file(file, reason);
        write(self.fx, GENERATION_FILE, &self.generation).await
    }

    /// Drops a file for its findings, which keep the gate from being met.
    async fn block(&mut self, worst: WorstFile, stage: Stage) -> Result<(), Failure> {
        let WorstFile { file, reason, findings } = worst;
        self.generation.blocking.extend(findings);
        self.drop_file(&file, &format!("{}: {reason}", stage.gate_of_task())).await
    }

    /// The decision on the files that are left, unless others were dropped for their findings.
    fn with_blocking(
        &self,
        stage: Stage,
        decision: (QualityDecision, String),
    ) -> (QualityDecision, String) {
        let blocking: Vec<&Finding> = self.generation.blocking(stage).collect();
        if blocking.is_empty() {
            return match decision.0 {
                QualityDecision::Pass if self.is_empty_handed() => {
                    (QualityDecision::HardFail, self.nothing_written())
                }
                _ => decision,
            };
        }
        let (status, reason) =
            decide(FindingCounts::of(blocking.iter().copied()), self.inputs.limits, MAX_RETRIES);
        let mut gravest = blocking.clone();
        gravest.sort_by_key(|one| one.severity);
        let named: Vec<String> = gravest
            .iter()
            .take(NAMED)
            .map(|one| format!("{} in {}, line {}", one.id, one.file, one.line))
            .collect();
        let more = match gravest.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let files: BTreeSet<&RepoPath> = blocking.iter().map(|one| &one.file).collect();
        let left_out = count(files.len(), "file");
        let reason = if status == QualityDecision::Pass {
            "too many findings in all new files together".to_owned()
        } else {
            reason
        };
        let reason = format!("{reason} ({}{more}); {left_out} left out", named.join("; "));
        let rest = (decision.0 != QualityDecision::Pass).then(|| format!("; {}", decision.1));
        (QualityDecision::HardFail, format!("{reason}{}", rest.unwrap_or_default()))
    }

    /// Whether tests were to be written and none was, so that a gate has nothing to judge.
    pub(super) fn is_empty_handed(&self) -> bool {
        let is_left = |task: &TestTask| task.status == TaskStatus::Blocked;
        self.generation.has_no_file() && self.plan.tasks.iter().any(is_left)
    }

    /// Why a gate without files is not met.
    fn nothing_written(&self) -> String {
        let reason = self.generation.main_reason();
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{NOTHING_WRITTEN}{reason}")
    }

    /// Replaces the text of a file that this session wrote; `None` removes the file.
    pub(super) async fn replace(
        &mut self,
        file: &RepoPath,
        after: Option<String>,
    ) -> Result<(), Failure> {
        let tree = &self.generation.tree;
        let bytes = self.fx.worktree.read(tree, file).await?;
        let Some(before) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return Ok(());
        };
        let edit = FileEdit { file: file.clone(), before: Some(before), after };
        let edits = EditSet { files: vec![edit] };
        self.generation.tree = self.fx.worktree.graft(tree, &edits).await?;
        Ok(())
    }

    /// Test review: anti-patterns, coverage, mutation score; at most two retries for survivors.
    pub(super) async fn review(&mut self) -> Result<PipelineStepOutcome, Failure> {
        let id = REVIEW_TASK;
        self.turn(id, TaskStatus::InProgress).await?;
        self.fx.step("test review: judging the quality of the new tests");
        // Measured first, so that even the first retry targets lines that no test runs.
        self.coverage().await?;
        let (mut retries, mut quality);
        loop {
            retries = self.again().await?;
            if self.halted.is_some() {
                return Ok(self.halt());
            }
            if retries > 0 {
                // Tests that were just written have not passed the first gate yet.
                self.validate_files().await?;
            }
            quality = self.quality(retries).await?;
            self.score().await?;
            let is_short = !self.generation.short_numbers().is_empty();
            let left = self.generation.made.iter().any(|made| made.lacks_round(ROUNDS));
            if quality.status == QualityDecision::HardFail
                || quality.status == QualityDecision::Pass && !is_short
                || !left
            {
                break;
            }
        }
        let (decision, reason) = (quality.status, quality.gate_decision.clone());
        self.settle();
        self.generation.review = Some(GateResult { decision, reason, repairs: 0, retries });
        write(self.fx, GENERATION_FILE, &self.generation).await?;
        self.write_summary().await?;
        let gate = planning::render_gate(id, self.generation.review.as_ref(), &self.generation);
        let page = test_quality::render_markdown(&quality);
        let text = format!("{gate}\n{page}{}", planning::score(&self.generation));
        self.end_gate(id, decision == QualityDecision::Pass, &text).await?;
        Ok(PipelineStepOutcome::Done)
    }

    /// Finds anti-patterns in new files, dropping critical ones, and measures coverage.
    async fn quality(&mut self, retries: u32) -> Result<TestQuality, Failure> {
        loop {
            let new: BTreeSet<RepoPath> = self.new_files().into_iter().collect();
            let mut chosen: BTreeSet<RepoPath> =
                self.plan.files.iter().map(|file| file.file.clone()).collect();
            chosen.extend(new.iter().cloned());
            let chosen: Vec<RepoPath> = chosen.into_iter().collect();
            let request = InspectRequest {
                tree: &self.generation.tree,
                chosen: &chosen,
                tests: true,
                tools: None,
            };
            let reviewed = inspect(request, self.fx).await?;
            let mut findings = reviewed.findings;
            findings.retain(|one| one.stage == Stage::Tests && new.contains(&one.file));
            let counts = FindingCounts::of(findings.iter());
            if counts.critical > 0
                && let Some(worst) = worst(&findings, QualityDecision::HardFail)
            {
                self.block(worst, Stage::Tests).await?;
                continue;
            }
            let coverage = self.coverage().await?;
            self.generation.coverage.clone_from(&coverage);
            let decision = decide(counts, self.inputs.limits, retries);
            let (status, reason) = self.with_blocking(Stage::Tests, decision);
            findings.extend(self.generation.blocking(Stage::Tests).cloned());
            return Ok(TestQuality {
                status,
                gate_decision: reason,
                coverage,
                findings: by_severity(findings),
            });
        }
    }

    async fn coverage(&mut self) -> Result<Option<CoverageResult>, Failure> {
        if self.inputs.no_coverage {
            return Ok(Some(CoverageResult::Declined));
        }
        let tree = self.generation.tree.clone();
        if let Some((of, known)) = &self.covered
            && *of == tree
        {
            return Ok(Some(known.reached.clone()));
        }
        let Some(ran) = read::<ExecutedLines>(self.fx, RAN).await? else { return Ok(None) };
        self.fx.step("running the suite with the new tests under its coverage tool");
        let covered = measure_coverage(&tree, &ran, self.fx).await?;
        let reached = covered.reached.clone();
        self.covered = Some((tree, covered));
        Ok(Some(reached))
    }

    /// Required lines that no test runs, as far as coverage was measured.
    pub(super) fn uncovered_lines(&self) -> &Missed {
        static NONE: Missed = Missed::new();
        self.covered.as_ref().map_or(&NONE, |(_, covered)| &covered.uncovered_lines)
    }

    /// The score of all new tests; measured again once a gate has removed something.
    async fn score(&mut self) -> Result<(), Failure> {
        let tests = self.generation.tests();
        if self.generation.dropped.is_empty() || tests.is_empty() {
            return Ok(());
        }
        self.fx.step("measuring the mutation score of the remaining tests");
        let subjects: BTreeSet<RepoPath> =
            self.generation.files().into_iter().map(|(_, subject)| subject).collect();
        let subjects: Vec<RepoPath> = subjects.into_iter().collect();
        let request = GenerateRequest {
            tree: &self.generation.tree,
            gaps: &[],
            description: "",
            before: &[],
            threshold: self.inputs.threshold,
            jobs: self.inputs.jobs,
            until: self.fx.clock.elapsed() + self.time_left(),
            held: &BTreeMap::new(),
            missed: &Missed::new(),
        };
        let began = self.fx.clock.elapsed();
        let score = rescore(&request, &subjects, &tests, self.fx).await?;
        self.took(began);
        self.generation.score = Some(score);
        Ok(())
    }

    /// Decides for each requirement whether it is still open.
    fn settle(&mut self) {
        let plan = &self.plan;
        let task = plan.task_of_kind(TaskKind::TestGen);
        let Some((made, task)) = self.generation.made.as_mut().zip(task) else { return };
        let ids: BTreeSet<&str> = task.requirement_ids().collect();
        let own = plan.all_requirements().filter(|(_, one)| ids.contains(one.id.as_str()));
        let settled: Vec<RequirementCoverage> = own
            .map(|(file, one)| RequirementCoverage {
                id: one.id.clone(),
                layer: one.layer,
                text: task.in_its_words(one).text,
                open: if task.may_write(&file.test_file) {
                    still_open(&file.file, one, made)
                } else {
                    let (task, file) = (&task.id, &file.test_file);
                    Some(format!("the focus_paths of {task} do not name {file}"))
                },
            })
            .collect();
        made.requirements = settled;
    }
}
