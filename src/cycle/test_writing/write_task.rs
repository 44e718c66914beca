//! Writes the tests of one task. Providers and the embedded engine work in the order of the chain;
//! later ones cover what is still open, and later rounds target surviving mutants (specification.md
//! 3.1 phase 5, 6.9).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::cycle::error::Failure;
use crate::cycle::session_files::write;
use crate::domain::characterisation_report::CharacterisationReport;
use crate::domain::event::Event;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::mutation::Mutant;
use crate::domain::quality::MAX_RETRIES;
use crate::domain::test_plan::generation::{GENERATION_FILE, Generation, TaskTests};
use crate::domain::test_plan::requirement::Requirement;
use crate::domain::test_plan::task::{TaskKind, TestTask};
use crate::domain::test_plan::written_tests::WrittenTests;
use crate::role::{
    Gap, GenerateRequest, Missed, Place, PromptPart, Role, SourceIndex, WriteOutcome, WriteRequest,
    characterise, measure, read_task_steps, suspects, write_tests,
};

use super::selection::{self, gaps, rank};
use super::write::TestWriting;

/// Line coverage is measured with at most this many of the project's tests.
const MEASURED: usize = 400;

/// Rounds in which tests are written for one task: the first, one for surviving mutants, and a last
/// one when the gate is still not met (specification.md 6.6: at most two retries).
pub(super) const ROUNDS: u32 = MAX_RETRIES + 1;

/// What is left out when no time is left for a later round.
const AGAIN: &str = "no more tests were written for what these miss";

/// Reason given for a function that gets no characterisation test.
const WRONG: &str = "a new test says that it is wrong, so what it does today is not pinned";

impl TestWriting<'_> {
    /// Writes the tests of a task for the current sources and adds them to the tree; `None` when a
    /// limit was reached.
    pub(super) async fn make(&mut self, task: &TestTask) -> Result<Option<TaskTests>, Failure> {
        let missed = Missed::new();
        let (mut report, mut written) = (self.blank(), Vec::new());
        if self.chain.prefers_provider(Role::Generator, self.fx) {
            let Some(rewritten) = self.written(task, 1, &[], &report).await? else {
                return Ok(None);
            };
            written = rewritten;
            if self.chain.has_embedded() {
                report = self.pinned(task, 1, &missed, &written).await?;
            }
        } else {
            report = self.pinned(task, 1, &missed, &written).await?;
            let Some(rewritten) = self.written(task, 1, &[], &report).await? else {
                return Ok(None);
            };
            written = rewritten;
        }
        Ok(Some(self.finished(task, report, written, 1).await?))
    }

    fn blank(&self) -> CharacterisationReport {
        let framework = self.fx.suite.facts().framework.to_string();
        CharacterisationReport { schema_version: 1, framework, ..CharacterisationReport::default() }
    }

    /// Asks providers for tests, source by source, storing each answer; `None` at a limit.
    async fn written(
        &mut self,
        task: &TestTask,
        round: u32,
        survivors: &[Mutant],
        report: &CharacterisationReport,
    ) -> Result<Option<Vec<WrittenTests>>, Failure> {
        let fx = self.fx;
        let mut done: Vec<WrittenTests> = self.generation.drafts.clone();
        if self.chain.models(Role::Generator, fx).is_empty() {
            return Ok(Some(done));
        }
        let plan = self.plan.clone();
        let ids: BTreeSet<String> = task.requirement_ids().map(str::to_owned).collect();
        let known: BTreeSet<TestId> = self.known();
        let mut sources = SourceIndex::read(&self.generation.tree, &plan.description, fx).await?;
        let shown = self.read_for(task).await?;
        for (number, (subject, open)) in (1..).zip(selection::subjects(task, &plan, report)) {
            let own: Vec<Mutant> =
                survivors.iter().filter(|one| one.file == subject.file).cloned().collect();
            let again = round > 1;
            let uncovered_lines = self.uncovered_lines().get(&subject.file).filter(|_| again);
            let uncovered_lines: Vec<u32> =
                uncovered_lines.into_iter().flatten().copied().collect();
            if done.iter().any(|one| one.round == round && one.subject == subject.file)
                || again && own.is_empty() && uncovered_lines.is_empty()
            {
                continue;
            }
            let tree = self.generation.tree.clone();
            let open: Vec<Requirement> =
                open.into_iter().map(|one| task.in_its_words(one)).collect();
            let commission = WriteRequest {
                task: &task.id,
                name: question_name(&task.id, number, round),
                round,
                tree: &tree,
                subject,
                requirements: open.iter().collect(),
                shown: &shown,
                ids: &ids,
                framework: &plan.framework,
                project_type: &plan.project_type,
                survivors: own,
                uncovered_lines,
                known: &known,
                jobs: self.inputs.jobs,
                crossing: None,
            };
            match write_tests(&commission, &mut sources, self.chain, fx).await? {
                WriteOutcome::OutOfBudget(reason) => {
                    self.halted = Some(reason);
                    return Ok(None);
                }
                WriteOutcome::Wrote(written, tree) => {
                    self.generation.tree = tree;
                    done.push((*written).clone());
                    if !again {
                        self.generation.drafts.push(*written);
                        write(fx, GENERATION_FILE, &self.generation).await?;
                    }
                }
            }
        }
        Ok(Some(done))
    }

    /// What the steps of a task file have its writer shown and told.
    async fn read_for(&self, task: &TestTask) -> Result<Vec<PromptPart>, Failure> {
        let (tree, fx) = (&self.generation.tree, self.fx);
        let read = read_task_steps(task, &self.plan, tree, fx).await?;
        let (parts, notices) = read.map_err(|reason| Failure::Task {
            file: fx.store.folder().join(task.file()).display().to_string(),
            reason,
            session: self.state.session_id.clone(),
        })?;
        for text in notices {
            fx.screen.show(&Event::Notice { text });
        }
        Ok(parts)
    }

    /// All tests that exist before the next file is written.
    fn known(&self) -> BTreeSet<TestId> {
        let generation = &self.generation;
        let drafts = generation.drafts.iter();
        let written = drafts.chain(generation.written_tests()).flat_map(|one| {
            let found = one.findings.iter().filter_map(|found| found.test.as_ref());
            one.tests.iter().chain(found).cloned()
        });
        let found = generation.findings().into_iter().filter_map(|found| found.test.clone());
        let before = generation.passing.iter().chain(&generation.failing).cloned();
        before.chain(generation.tests()).chain(written).chain(found).collect()
    }

    /// Writes characterisation tests for functions that have no tests yet.
    async fn pinned(
        &mut self,
        task: &TestTask,
        round: u32,
        missed: &Missed,
        written: &[WrittenTests],
    ) -> Result<CharacterisationReport, Failure> {
        let gaps = gaps(task, &self.plan);
        let mut held = self.held(&gaps).await?;
        for one in written {
            let found = one.findings.iter().map(|found| &found.function);
            let entered = one.functions.iter().filter(|_| one.file.is_some());
            let reason = format!("tests by {} reach it", one.author);
            for name in entered {
                held.insert((one.subject.clone(), name.clone()), reason.clone());
            }
            for name in found {
                held.insert((one.subject.clone(), name.clone()), WRONG.to_owned());
            }
        }
        let tree = self.generation.tree.clone();
        let began = self.fx.clock.elapsed();
        let until = began + self.share(round);
        let request = self.request(&tree, &gaps, &held, missed, until);
        let made = characterise(&request, self.inputs.observer, self.fx).await?;
        self.took(began);
        self.until = Some(until);
        self.generation.tree = made.tree;
        self.traces = made.traces;
        Ok(made.report)
    }

    /// Functions whose current behaviour may be wrong and is not pinned, with the reason.
    async fn held(&self, gaps: &[Gap]) -> Result<BTreeMap<Place, String>, Failure> {
        let files: BTreeSet<RepoPath> = gaps.iter().map(|gap| gap.file.clone()).collect();
        let Generation { tree, failing, passing, .. } = &self.generation;
        Ok(suspects(tree, &files, (failing, passing), self.inputs.jobs, self.fx).await?)
    }

    fn request<'b>(
        &'b self,
        tree: &'b crate::domain::id::TreeId,
        gaps: &'b [Gap],
        held: &'b BTreeMap<Place, String>,
        missed: &'b Missed,
        until: Duration,
    ) -> GenerateRequest<'b> {
        let many = self.generation.passing.len() > MEASURED;
        GenerateRequest {
            tree,
            gaps,
            description: &self.plan.description,
            before: if many { &[] } else { &self.generation.passing },
            threshold: self.inputs.threshold,
            jobs: self.inputs.jobs,
            until,
            held,
            missed,
        }
    }

    /// Combines the characterisation tests and the tests of providers, and measures them together.
    async fn finished(
        &mut self,
        task: &TestTask,
        mut report: CharacterisationReport,
        written: Vec<WrittenTests>,
        rounds: u32,
    ) -> Result<TaskTests, Failure> {
        let began = self.fx.clock.elapsed();
        selection::join(&mut report, &written);
        let files: BTreeSet<RepoPath> = gaps(task, &self.plan)
            .into_iter()
            .map(|gap| gap.file)
            .chain(report.files.iter().map(|file| file.subject.clone()))
            .collect();
        let files: Vec<RepoPath> = files.into_iter().collect();
        let mut reached = BTreeMap::new();
        if report.files.iter().any(|file| !file.tests.is_empty()) {
            let (held, missed) = (BTreeMap::new(), Missed::new());
            let share = began + self.share(rounds);
            let until = self.until.take().unwrap_or(share);
            let traces = std::mem::take(&mut self.traces);
            let request = self.request(&self.generation.tree, &[], &held, &missed, until);
            let tree = &self.generation.tree;
            reached = measure(tree, &files, &traces, &request, self.fx, &mut report).await?;
        }
        self.took(began);
        report.seconds += self.fx.clock.elapsed().saturating_sub(began).as_secs_f64();
        Ok(TaskTests {
            rounds,
            is_settled: false,
            report,
            reached,
            requirements: Vec::new(),
            written,
        })
    }

    /// Gives the survivors back: providers write more tests for them, and what the embedded engine wrote
    /// is aimed at their lines, and at those that nothing runs. What is better stays. How often tests were
    /// written again, this time included; a limit that was reached is in `halted`.
    pub(super) async fn again(&mut self) -> Result<u32, Failure> {
        let task = self.plan.task_of_kind(TaskKind::TestGen).cloned();
        let Some((task, old)) = task.zip(self.generation.made.clone()) else {
            return Ok(self.generation.retries);
        };
        if !old.lacks_round(ROUNDS) {
            return Ok(self.generation.retries);
        }
        let score = old.report.score.iter();
        let survivors: Vec<Mutant> =
            score.flat_map(|score| score.survivors.iter().cloned()).collect();
        let round = old.rounds + 1;
        let missed = self.missed(&task, &survivors);
        let is_late = self.is_late() && self.chain.models(Role::Generator, self.fx).is_empty();
        if missed.is_empty() || is_late {
            // The same work would give the same tests.
            let mut settled = TaskTests { is_settled: true, ..old };
            let left_out = (!missed.is_empty()).then(|| AGAIN.to_owned());
            settled.report.unfinished.extend(left_out);
            self.generation.made = Some(settled);
            return Ok(self.generation.retries);
        }
        self.fx.step(&format!("writing more tests for what {} missed", task.id));
        let with_old = self.generation.tree.clone();
        let Some(new) = self.anew(&task, &old, (&survivors, &missed), round).await? else {
            self.generation.tree = with_old;
            return Ok(self.generation.retries);
        };
        let better = rank(&new) > rank(&old);
        if !better {
            self.generation.tree = with_old;
        }
        let chosen =
            if better { new } else { TaskTests { rounds: round, is_settled: true, ..old } };
        self.generation.made = Some(chosen);
        self.generation.retries = self.generation.retries.max(round - 1);
        write(self.fx, GENERATION_FILE, &self.generation).await?;
        Ok(self.generation.retries)
    }

    /// Lines of a task's sources that hold surviving mutants or that its tests do not run.
    fn missed(&self, task: &TestTask, survivors: &[Mutant]) -> Missed {
        let mut missed = Missed::new();
        for one in survivors {
            missed.entry(one.file.clone()).or_default().insert(one.line);
        }
        for gap in gaps(task, &self.plan) {
            if let Some(lines) = self.uncovered_lines().get(&gap.file) {
                missed.entry(gap.file).or_default().extend(lines);
            }
        }
        missed
    }

    /// Performs a later round of one task; `None` when a limit was reached.
    async fn anew(
        &mut self,
        task: &TestTask,
        old: &TaskTests,
        (survivors, missed): (&[Mutant], &Missed),
        round: u32,
    ) -> Result<Option<TaskTests>, Failure> {
        let mut written = old.written.clone();
        let Some(more) = self.written(task, round, survivors, &self.blank()).await? else {
            return Ok(None);
        };
        written.extend(more);
        let pinned: Vec<RepoPath> = old
            .report
            .files
            .iter()
            .map(|one| one.file.clone())
            .filter(|file| !old.is_written(file))
            .collect();
        let mut report = CharacterisationReport { score: None, ..old.report.clone() };
        report.files.clear();
        if !pinned.is_empty() {
            for file in &pinned {
                self.replace(file, None).await?;
            }
            report = self.pinned(task, round, missed, &old.written).await?;
        }
        Ok(Some(self.finished(task, report, written, round).await?))
    }
}

/// The name of a question for tests of the `number`th source of a task.
fn question_name(task: &str, number: usize, round: u32) -> String {
    match round {
        1 => format!("{task}-{number}"),
        2 => format!("{task}-{number}-survivors"),
        _ => format!("{task}-{number}-survivors-{round}"),
    }
}
