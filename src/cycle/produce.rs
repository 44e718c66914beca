//! Phase 5 of a test session up to its commit: tests are written task by task, judged by both
//! gates, and kept on the fix branch. Saved before each step; each step finds what it made before
//! (product.md 3.1 phase 5, 5.1, 6.6).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::{Either, select};

use crate::domain::commit;
use crate::domain::event::{Ending, Event, Outcome};
use crate::domain::generation::pipeline::{Done, Pipeline, Step};
use crate::domain::generation::production::{
    Evidence, Judgement, Made, PRODUCTION, Production, Settled, about, still_open,
};
use crate::domain::generation::task::{TestPlan, TestTask};
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::mutation::Score;
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::quality::{
    Counts, Decision, Finding, LIMITS, MAX_RETRIES, Stage, decide, decide_tests,
};
use crate::domain::task::TaskStatus;
use crate::domain::test::{Scope, Status};
use crate::effect::{CommitRequest, Effects, Observer, RunError, RunRequest, StateFile};
use crate::report::planning;
use crate::report::test_quality::{self, TestQuality};
use crate::report::validation::{Parts, Skipped, ValidationReport, by_severity, render_markdown};
use crate::role::{
    GenerateRequest, Place, Sheets, functions_at, generate, inspect, rescore, suspects,
};

use super::drive::stopped;
use super::test_fix::{STATE, generation, read, stored, write};
use super::weigh::{asked, change, gaps, rank, worst};
use super::{Failure, Planned};

/// Tests of the project whose reach is measured at most.
const MEASURED: usize = 400;

/// Times tests are written for one task: once, and once more for what survived.
const ROUNDS: u32 = 2;

/// The log of the runs of phase 5.
const LOG: &str = ".process/generation-output.log";

/// What phase 5 is given besides the state.
pub struct ProduceSetUp<'a> {
    /// The sources of the commit under test.
    pub tree: TreeId,
    /// Makes watched calls.
    pub observer: &'a dyn Observer,
    /// Share of mutants that tests should notice, in percent.
    pub threshold: u32,
    /// Processes at the same time.
    pub jobs: usize,
    /// Wall time of breaking code, for each task.
    pub time: Duration,
    /// Wall time on the clock of the effects after which it stops at a checkpoint.
    pub budget: Option<Duration>,
    /// The session's folder inside commits.
    pub state_prefix: String,
}

/// Drives phase 5 until the branch holds what is kept, or a stop is asked for. A resumed session
/// enters here with the state it saved.
///
/// # Errors
///
/// The first effect that failed for good. The saved state then still names the step to repeat.
pub async fn produce(
    mut state: Pipeline,
    set_up: &ProduceSetUp<'_>,
    fx: &Effects<'_>,
) -> Result<Planned, Failure> {
    let mut halted = None;
    loop {
        save(&state, fx).await?;
        if !state.works() || state.next == Step::Execute {
            break;
        }
        let done = {
            let step = std::pin::pin!(perform(&state, set_up, fx));
            let stop = std::pin::pin!(stopped(fx.clock, set_up.budget));
            match select(stop, step).await {
                Either::Left((reason, _)) => {
                    halted = Some(reason);
                    break;
                }
                Either::Right((done, _)) => done?,
            }
        };
        state = state.advance(done);
    }
    let stored = stored(fx).await?;
    let (package, plan) = match stored {
        Some((_, package, plan)) => (Some(package), Some(plan)),
        None => (None, None),
    };
    Ok(Planned { state, package, plan, halted })
}

/// What phase 5 has made so far; `None` before its first step.
///
/// # Errors
///
/// When session files cannot be read.
pub async fn production(fx: &Effects<'_>) -> Result<Option<Production>, Failure> {
    read(fx, PRODUCTION).await
}

/// The state behind the fix loop: its phase is over when the gate is met.
#[must_use]
pub fn advanced(state: Pipeline, outcome: &Outcome, production: Option<&Production>) -> Pipeline {
    if !matches!(outcome.result, Ending::Success | Ending::PartialSuccess) {
        return state;
    }
    let rate = outcome.last.map_or_else(String::new, |rate| format!(", {rate} % pass"));
    let tests = production.map_or_else(|| "no tests".to_owned(), planning::written);
    state.advance(Done::Executed { summary: format!("{tests}{rate}") })
}

/// What was written before the fix loop began, in one line with the gates that are not met; `None`
/// in a session that only fixes.
///
/// # Errors
///
/// When session files cannot be read.
pub async fn produced(fx: &Effects<'_>) -> Result<Option<String>, Failure> {
    Ok(production(fx).await?.map(|production| planning::headline(&production)))
}

/// Notes in a session that writes tests how its fix loop ended; nothing in another session.
///
/// # Errors
///
/// When session files cannot be written.
pub async fn executed(outcome: &Outcome, fx: &Effects<'_>) -> Result<(), Failure> {
    let Some(state) = read::<Pipeline>(fx, STATE).await? else { return Ok(()) };
    let made = production(fx).await?;
    save(&advanced(state, outcome, made.as_ref()), fx).await
}

async fn save(state: &Pipeline, fx: &Effects<'_>) -> Result<(), Failure> {
    write(fx, STATE, state).await?;
    let plan = stored(fx).await?.map(|(_, _, plan)| plan);
    write(fx, ".process/progress.json", &planning::progress(state, plan.as_ref())).await
}

async fn perform(
    state: &Pipeline,
    set_up: &ProduceSetUp<'_>,
    fx: &Effects<'_>,
) -> Result<Done, Failure> {
    let Some((_, _, plan)) = stored(fx).await? else { return Ok(Done::InputMissing) };
    let mut work = Work { state, set_up, fx, plan, production: begin(state, set_up, fx).await? };
    match state.next {
        Step::Generate => work.generate().await,
        Step::Validate => work.validate().await,
        Step::Review => work.review().await,
        Step::Keep => work.keep().await,
        _ => Err(Failure::Internal("a step that is not of phase 5".into())),
    }
}

/// What was made, or a new beginning: one run of the suite as it is.
async fn begin(
    state: &Pipeline,
    set_up: &ProduceSetUp<'_>,
    fx: &Effects<'_>,
) -> Result<Production, Failure> {
    if let Some(production) =
        production(fx).await?.filter(|known| known.session_id == state.session_id)
    {
        return Ok(production);
    }
    tell(fx, "running the suite before anything is written (phase 5 of 5)");
    fx.worktree.checkout(&set_up.tree).await?;
    let request = RunRequest { root: fx.worktree.root(), scope: &Scope::Full, log: LOG };
    let cases = match fx.suite.run(&request).await {
        Ok(results) => results.cases,
        Err(
            RunError::NoTests { .. } | RunError::NoReport { .. } | RunError::NoReportFile { .. },
        ) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let of = |status: Status| {
        cases.iter().filter(|case| case.status == status).map(|case| case.id.clone()).collect()
    };
    let (passing, failing) = (of(Status::Passed), of(Status::Failed));
    let production =
        Production::new(state.session_id.clone(), set_up.tree.clone(), passing, failing);
    write(fx, PRODUCTION, &production).await?;
    Ok(production)
}

fn tell(fx: &Effects<'_>, doing: &str) {
    fx.screen.show(&Event::Step { iteration: 0, doing: doing.to_owned() });
}

struct Work<'a> {
    state: &'a Pipeline,
    set_up: &'a ProduceSetUp<'a>,
    fx: &'a Effects<'a>,
    plan: TestPlan,
    production: Production,
}

impl Work<'_> {
    /// Writes the tests of the first open task.
    async fn generate(&mut self) -> Result<Done, Failure> {
        let Some(task) = generation(&self.plan).first().map(|task| (*task).clone()) else {
            return Ok(Done::Generated);
        };
        self.turn(&task.id, TaskStatus::InProgress).await?;
        if self.production.of(&task.id).is_none() {
            tell(self.fx, &format!("writing the tests of {} (phase 5 of 5)", task.id));
            let made = self.make(&task, &BTreeSet::new(), 1).await?;
            self.production.tasks.push(made);
            write(self.fx, PRODUCTION, &self.production).await?;
        }
        let made = self.production.of(&task.id);
        let some = made.is_some_and(|made| !made.report.files.is_empty());
        if let Some(made) = made {
            let text = planning::made(&task, made);
            self.fx.store.write_text(&format!(".summaries/{}-summary.md", task.id), &text).await?;
        }
        self.turn(&task.id, if some { TaskStatus::Completed } else { TaskStatus::Blocked }).await?;
        Ok(Done::Wrote)
    }

    /// Writes the tests of a task on the sources as they are, and grafts them.
    async fn make(
        &mut self,
        task: &TestTask,
        deeper: &BTreeSet<Place>,
        rounds: u32,
    ) -> Result<Made, Failure> {
        let gaps = gaps(task, &self.plan);
        let files: BTreeSet<RepoPath> = gaps.iter().map(|gap| gap.file.clone()).collect();
        let tree = self.production.tree.clone();
        let failing = &self.production.failing;
        let held = suspects(&tree, &files, failing, self.set_up.jobs, self.fx).await?;
        let many = self.production.passing.len() > MEASURED;
        let before = if many { &[][..] } else { &self.production.passing[..] };
        let request = GenerateRequest {
            tree: &tree,
            gaps: &gaps,
            before,
            threshold: self.set_up.threshold,
            jobs: self.set_up.jobs,
            time: self.set_up.time,
            held: &held,
            deeper,
        };
        let made = generate(&request, self.set_up.observer, self.fx).await?;
        self.production.tree = made.tree;
        Ok(Made {
            task: task.id.clone(),
            rounds,
            report: made.report,
            reached: made.reached,
            requirements: Vec::new(),
        })
    }

    /// Gate 001.3: findings in the new files, safe repairs, and what must go.
    async fn validate(&mut self) -> Result<Done, Failure> {
        let id = "IMPL-001.3";
        self.turn(id, TaskStatus::InProgress).await?;
        tell(self.fx, "looking for what generated code gets wrong (gate 001.3)");
        let report = self.gate().await?;
        let met = report.status == Decision::Pass;
        self.production.validation = Some(Judgement {
            decision: report.status,
            reason: report.gate_decision.clone(),
            repairs: u32::try_from(report.auto_fixes_applied.len()).unwrap_or(u32::MAX),
            retries: report.retry_count,
        });
        write(self.fx, PRODUCTION, &self.production).await?;
        write(self.fx, ".process/code-validation-report.json", &report).await?;
        let text = render_markdown(&report);
        self.fx.store.write_text(".process/code-validation-report.md", &text).await?;
        let text = planning::judged(id, self.production.validation.as_ref(), &self.production);
        self.fx.store.write_text(&format!(".summaries/{id}-summary.md"), &text).await?;
        self.turn(id, if met { TaskStatus::Completed } else { TaskStatus::Blocked }).await?;
        Ok(Done::Validated)
    }

    /// Looks, repairs what is safe, drops what is critical, and looks again.
    async fn gate(&mut self) -> Result<ValidationReport, Failure> {
        let mut fixed: Vec<Finding> = Vec::new();
        let mut retries = 0;
        loop {
            let files = self.new_files();
            let sheets = Sheets { tree: &self.production.tree, chosen: &files, tests: false };
            let looked = inspect(sheets, self.fx).await?;
            let findings = looked.findings;
            let decision = decide(Counts::of(findings.iter()), LIMITS, retries);
            let bad = worst(&findings, decision.0);
            if retries < MAX_RETRIES && !looked.repairs.is_empty() {
                for (file, (text, gone)) in looked.repairs {
                    self.repair(&file, text).await?;
                    fixed.extend(gone);
                }
            } else if let Some((file, reason)) = bad {
                self.drop_file(&file, &format!("gate 001.3: {reason}")).await?;
                continue;
            } else if decision.0 == Decision::Pass || retries >= MAX_RETRIES {
                let skipped = looked.made.iter().chain(&looked.deep).map(|file| Skipped {
                    what: file.to_string(),
                    reason: "it is data of tests, copied, or nested too deeply".into(),
                });
                return Ok(ValidationReport::from(Parts {
                    session: Some(self.state.session_id.to_string()),
                    timestamp: self.fx.clock.now(),
                    files: files.len() - looked.made.len(),
                    findings,
                    fixed,
                    decision,
                    skipped: skipped.collect(),
                    retries,
                    tests: None,
                }));
            }
            retries += 1;
        }
    }

    /// Writes a safe repair; what no longer holds with it is dropped.
    async fn repair(&mut self, file: &RepoPath, text: String) -> Result<(), Failure> {
        self.replace(file, Some(text)).await?;
        let tests = self.tests_of(file);
        self.fx.worktree.checkout(&self.production.tree).await?;
        let count = tests.len();
        let scope = Scope::Tests(tests);
        let request = RunRequest { root: self.fx.worktree.root(), scope: &scope, log: LOG };
        let ran = self.fx.suite.run(&request).await;
        let passed = ran.is_ok_and(|results| {
            let passed = results.cases.iter().filter(|case| case.status == Status::Passed);
            passed.count() >= count && results.count(Status::Failed) == 0
        });
        if !passed {
            self.drop_file(file, "its tests do not hold once it is repaired").await?;
        }
        Ok(())
    }

    fn new_files(&self) -> Vec<RepoPath> {
        self.production.files().into_iter().map(|(file, _)| file).collect()
    }

    fn tests_of(&self, file: &RepoPath) -> Vec<TestId> {
        let files = self.production.tasks.iter().flat_map(|made| &made.report.files);
        files.filter(|one| one.file == *file).flat_map(|one| one.tests.clone()).collect()
    }

    async fn drop_file(&mut self, file: &RepoPath, reason: &str) -> Result<(), Failure> {
        self.replace(file, None).await?;
        self.production.drop_file(file, reason);
        write(self.fx, PRODUCTION, &self.production).await
    }

    /// Gives a file of ours another text, or none.
    async fn replace(&mut self, file: &RepoPath, after: Option<String>) -> Result<(), Failure> {
        let tree = &self.production.tree;
        let bytes = self.fx.worktree.read(tree, file).await?;
        let Some(before) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return Ok(());
        };
        let edit = FileEdit { file: file.clone(), before: Some(before), after };
        let edits = EditSet { files: vec![edit] };
        self.production.tree = self.fx.worktree.graft(tree, &edits).await?;
        Ok(())
    }

    /// Gate 001.5: anti-patterns, completeness, mutation score; survivors go back once.
    async fn review(&mut self) -> Result<Done, Failure> {
        let id = "IMPL-001.5";
        self.turn(id, TaskStatus::InProgress).await?;
        tell(self.fx, "judging the quality of the new tests (gate 001.5)");
        let mut retries = 0;
        if self.again().await? {
            retries = 1;
            // What was written anew has not passed the first gate yet.
            self.gate().await?;
        }
        let quality = self.quality(retries).await?;
        let score = self.score().await?;
        let short = score.as_ref().filter(|score| !score.is_met()).map(|score| {
            let share = score.per_mille().unwrap_or_default();
            format!("mutation score {}.{} % of {} %", share / 10, share % 10, score.threshold)
        });
        let reasons: Vec<String> = (quality.status != Decision::Pass)
            .then(|| quality.gate_decision.clone())
            .into_iter()
            .chain(short)
            .collect();
        let decision = if reasons.is_empty() { Decision::Pass } else { Decision::HardFail };
        let reason =
            if reasons.is_empty() { quality.gate_decision.clone() } else { reasons.join("; ") };
        self.settle(&quality);
        self.production.review = Some(Judgement { decision, reason, repairs: 0, retries });
        write(self.fx, PRODUCTION, &self.production).await?;
        let text = test_quality::render_markdown(&quality);
        let text = format!("{text}{}", planning::score(&self.production));
        self.fx.store.write_text(".process/test-quality-report.md", &text).await?;
        for task in self.plan.tasks.clone() {
            if let Some(made) = self.production.of(&task.id) {
                let file = format!(".summaries/{}-summary.md", task.id);
                self.fx.store.write_text(&file, &planning::made(&task, made)).await?;
            }
        }
        let text = planning::judged(id, self.production.review.as_ref(), &self.production);
        self.fx.store.write_text(&format!(".summaries/{id}-summary.md"), &text).await?;
        let met = decision == Decision::Pass;
        self.turn(id, if met { TaskStatus::Completed } else { TaskStatus::Blocked }).await?;
        Ok(Done::Reviewed)
    }

    /// Anti-patterns in the new files, and how complete the tests of their subjects are. A file
    /// with a critical one is dropped.
    async fn quality(&mut self, retries: u32) -> Result<TestQuality, Failure> {
        loop {
            let new: BTreeSet<RepoPath> = self.new_files().into_iter().collect();
            let mut chosen: BTreeSet<RepoPath> = self
                .plan
                .tasks
                .iter()
                .flat_map(|task| task.context.files_to_test.clone())
                .collect();
            chosen.extend(new.iter().cloned());
            let chosen: Vec<RepoPath> = chosen.into_iter().collect();
            let sheets = Sheets { tree: &self.production.tree, chosen: &chosen, tests: true };
            let looked = inspect(sheets, self.fx).await?;
            let mut findings = looked.findings;
            findings.retain(|one| one.stage == Stage::Tests && new.contains(&one.file));
            let counts = Counts::of(findings.iter());
            if counts.critical > 0
                && let Some((file, reason)) = worst(&findings, Decision::HardFail)
            {
                self.drop_file(&file, &format!("gate 001.5: {reason}")).await?;
                continue;
            }
            let mut metrics = looked.metrics.unwrap_or_default();
            metrics.layers = about(metrics.layers, &asked(&self.plan));
            let (status, reason) = decide_tests(counts, LIMITS, &metrics, retries);
            return Ok(TestQuality {
                status,
                gate_decision: reason,
                metrics,
                findings: by_severity(findings),
            });
        }
    }

    /// Writes the tests of each task with survivors once more, searching further where they are;
    /// what is better is kept. Whether any task was written again.
    async fn again(&mut self) -> Result<bool, Failure> {
        let mut any = false;
        for task in self.plan.tasks.clone() {
            let Some(old) = self.production.of(&task.id).cloned() else { continue };
            let survivors: Vec<(RepoPath, u32)> = old
                .report
                .score
                .iter()
                .flat_map(|score| score.survivors.iter().map(|one| (one.file.clone(), one.line)))
                .collect();
            any |= old.rounds >= ROUNDS;
            if old.rounds >= ROUNDS || survivors.is_empty() {
                continue;
            }
            tell(self.fx, &format!("searching further where {} missed something", task.id));
            let deeper = functions_at(&self.production.tree, &survivors, self.fx).await?;
            let with_old = self.production.tree.clone();
            for file in &old.report.files {
                self.replace(&file.file, None).await?;
            }
            let new = self.make(&task, &deeper, ROUNDS).await?;
            let better = rank(&new) > rank(&old);
            if !better {
                self.production.tree = with_old;
            }
            let kept = if better { new } else { Made { rounds: ROUNDS, ..old } };
            if let Some(place) = self.production.tasks.iter_mut().find(|made| made.task == task.id)
            {
                *place = kept;
            }
            write(self.fx, PRODUCTION, &self.production).await?;
            any = true;
        }
        Ok(any)
    }

    /// The score of all new tests; measured anew once a gate has taken something away.
    async fn score(&mut self) -> Result<Option<Score>, Failure> {
        let tests = self.production.tests();
        if self.production.dropped.is_empty() || tests.is_empty() {
            return Ok(self.production.scored());
        }
        tell(self.fx, "breaking the code to see what the rest of the tests notice");
        let subjects: BTreeSet<RepoPath> =
            self.production.files().into_iter().map(|(_, subject)| subject).collect();
        let subjects: Vec<RepoPath> = subjects.into_iter().collect();
        let request = GenerateRequest {
            tree: &self.production.tree,
            gaps: &[],
            before: &[],
            threshold: self.set_up.threshold,
            jobs: self.set_up.jobs,
            time: self.set_up.time,
            held: &BTreeMap::new(),
            deeper: &BTreeSet::new(),
        };
        let score = rescore(&request, &subjects, &tests, self.fx).await?;
        self.production.score = Some(score);
        Ok(self.production.scored())
    }

    /// Decides each requirement of each task that wrote tests.
    fn settle(&mut self, quality: &TestQuality) {
        let validated =
            self.production.validation.as_ref().is_some_and(|said| said.decision == Decision::Pass);
        for at in 0..self.production.tasks.len() {
            let Some(made) = self.production.tasks.get(at) else { continue };
            let evidence = Evidence { made, layers: &quality.metrics.layers, validated };
            let task = self.plan.tasks.iter().find(|task| task.id == made.task);
            let ids: BTreeSet<&String> =
                task.iter().flat_map(|task| &task.context.requirement_ids).collect();
            let settled: Vec<Settled> = self
                .plan
                .analysis
                .files
                .iter()
                .flat_map(|file| file.requirements.iter().map(move |one| (&file.file, one)))
                .filter(|(_, one)| ids.contains(&one.id))
                .map(|(file, one)| Settled {
                    id: one.id.clone(),
                    layer: one.layer,
                    text: one.text.clone(),
                    open: still_open(file, one, &evidence),
                })
                .collect();
            if let Some(made) = self.production.tasks.get_mut(at) {
                made.requirements = settled;
            }
        }
    }

    /// Commits what is kept. Without a kept test there is no commit.
    async fn keep(&mut self) -> Result<Done, Failure> {
        if self.production.tree != self.set_up.tree {
            tell(self.fx, "committing the new tests");
            let files = self.fx.store.travelling().await?;
            let prefix = &self.set_up.state_prefix;
            let state = files
                .into_iter()
                .map(|(path, bytes)| StateFile { path: format!("{prefix}/{path}"), bytes })
                .collect();
            let request = CommitRequest {
                tree: self.production.tree.clone(),
                message: commit::generated(&self.production),
                state,
                time: self.fx.clock.now(),
            };
            self.production.commit = Some(self.fx.worktree.commit(&request).await?);
            write(self.fx, PRODUCTION, &self.production).await?;
        }
        Ok(Done::Kept)
    }

    /// Gives a task another status, and writes what shows it.
    async fn turn(&mut self, id: &str, to: TaskStatus) -> Result<(), Failure> {
        let now = self.fx.clock.now();
        let Some(task) = self.plan.tasks.iter_mut().find(|task| task.id == id) else {
            return Ok(());
        };
        if change(task, to, &now) {
            write(self.fx, &task.file(), &*task).await?;
        }
        let text = planning::todo(&self.state.session_id, &self.plan, "");
        self.fx.store.write_text("TODO_LIST.md", &text).await?;
        let progress = planning::progress(self.state, Some(&self.plan));
        write(self.fx, ".process/progress.json", &progress).await
    }
}
