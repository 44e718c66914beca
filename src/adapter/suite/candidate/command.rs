//! Tries candidate edits in warm processes for as long as these start and answer, else by running the
//! suite's own command in a copy of the checkout: what a plugin starts while tests are loaded, such as a
//! thread, ends no session.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex, MutexGuard, OnceCell};

use crate::adapter::host::process::{self, ExitReason};
use crate::domain::id::TestId;
use crate::domain::proposal::EditSet;
use crate::domain::test::{CaseKind, FailureText, Status, TestCase};
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, CaseResult, Lines, RunError, Speed, Trace,
};

use super::checkout_copy::{Side, copy_checkout, write_edits};
use super::compile_error::first_compile_error;
use crate::adapter::suite::format::{PathMapper, to_test_cases};
use crate::adapter::suite::project_suite::ProjectSuite;
use crate::adapter::suite::suite_command::{CANDIDATE, SuiteCommand};

/// Bytes at the end of a run's output that are searched for a compiler error.
const OUTPUT_LIMIT: u64 = 256 << 10;

/// Maximum number of copies in which candidates are tried without warm processes.
const COPIES: usize = 4;

/// Least time for the tests of a candidate where the limit is that of a warm process.
const STARTED: Duration = Duration::from_secs(30);

/// Tries candidates in warm processes, and without these in copies of the checkout, one candidate at a time in each.
struct CandidatePool {
    /// Tried first, until it fails.
    warm: Option<Box<dyn CandidateRunner>>,
    /// Set once the warm processes are of no use.
    is_cold: OnceCell<()>,
    copies: Vec<CommandRunner>,
}

/// Runs the suite's own command in one copy of the checkout.
pub struct CommandRunner {
    /// What is copied before the first run.
    from: PathBuf,
    /// Set once the copy lies there.
    copied: OnceCell<()>,
    command: SuiteCommand,
    paths: PathMapper,
    timeout: Duration,
    /// Failures that no candidate reports once they are repaired.
    vanishing: Vec<TestCase>,
    /// One candidate at a time.
    turn: Mutex<()>,
}

/// Opens a runner behind a warm one, if there is one.
pub fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
    warm: Option<Box<dyn CandidateRunner>>,
) -> Box<dyn CandidateRunner> {
    let vanishes = |case: &&TestCase| case.kind.is_only_reported_as_failed();
    let vanishing: Vec<TestCase> = request.failing.iter().filter(vanishes).cloned().collect();
    let copy = |number: usize| CommandRunner {
        from: request.root.to_owned(),
        vanishing: vanishing.clone(),
        ..CommandRunner::new(suite, &suite.settings.scratch.join(format!("cold-{number}")))
    };
    let copies = (1..=request.jobs.clamp(1, COPIES)).map(copy).collect();
    Box::new(CandidatePool { warm, is_cold: OnceCell::new(), copies })
}

impl CommandRunner {
    /// A runner in an existing copy; its own files are written beside the copy.
    pub fn new(suite: &ProjectSuite<'_>, copy: &Path) -> Self {
        let name = copy.file_name().unwrap_or_default().display();
        let log = suite.settings.scratch.join(format!("{name}.cold.log"));
        let mut command = suite.command(copy, &format!("{name}.cold-"), log);
        command.environment.insert(CANDIDATE.into(), "cold".into());
        command.limit_tests(suite.settings.timeout);
        Self {
            from: copy.to_owned(),
            copied: OnceCell::new(),
            command,
            paths: suite.path_mapper(copy),
            timeout: suite.settings.timeout,
            vanishing: Vec::new(),
            turn: Mutex::new(()),
        }
    }

    /// Results of `tests` and of others in their files; empty when the command hangs.
    pub async fn run_tests(
        &self,
        tests: &[TestId],
        limit: Duration,
    ) -> Result<Vec<TestCase>, RunError> {
        let execution = self.command.execute(Some(tests), limit).await?;
        if execution.ending == ExitReason::TimedOut {
            // The output of an unfinished build says nothing about the sources.
            fs::remove_file(&self.command.log).unwrap_or_default();
            return Ok(Vec::new());
        }
        let mut cases = to_test_cases(self.command.read(&execution)?.results(), &self.paths);
        let gone: Vec<TestCase> =
            self.vanishing.iter().filter_map(|failed| repaired(failed, &cases)).collect();
        cases.extend(gone);
        Ok(cases)
    }

    /// Copies the checkout, once.
    async fn copy_once(&self) -> Result<(), RunError> {
        let copying = || async { copy_checkout(&self.from, &self.command.site.root).map(drop) };
        self.copied.get_or_try_init(copying).await.copied()
    }

    /// The results of the tests on edited sources.
    async fn try_edits(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop_at_failure: bool,
    ) -> Result<Vec<CaseResult>, RunError> {
        self.copy_once().await?;
        write_edits(&self.command.site.root, edits, Side::After)?;
        let cases = self.run_edited(tests, limit.min(self.timeout)).await;
        write_edits(&self.command.site.root, edits, Side::Before)?;
        let cases = cases?;
        if let Some(error) = self.compile_error(&cases, tests) {
            return Ok(tests.iter().map(|id| CaseResult::not_built(id.clone(), &error)).collect());
        }
        Ok(case_results(&cases, tests, stop_at_failure))
    }

    /// Like `run_tests`, but on edited sources that leave no readable report every test fails.
    pub async fn run_edited(
        &self,
        tests: &[TestId],
        limit: Duration,
    ) -> Result<Vec<TestCase>, RunError> {
        match self.run_tests(tests, limit).await {
            Ok(cases) => Ok(cases),
            Err(error @ (RunError::NotStarted { .. } | RunError::Io { .. })) => Err(error),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// The compiler's error, if sources do not compile; a test's message proves that they do.
    fn compile_error(&self, cases: &[TestCase], tests: &[TestId]) -> Option<String> {
        let case_of = |id: &&TestId| cases.iter().find(|case| case.id == **id);
        let has_message = |case: &TestCase| case.status == Status::Failed && case.failure.is_some();
        let is_silent = tests.iter().any(|id| case_of(&id).is_none())
            && !tests.iter().filter_map(|id| case_of(&id)).any(has_message);
        is_silent
            .then(|| first_compile_error(&process::tail_of(&self.command.log, OUTPUT_LIMIT)))?
    }
}

impl CandidatePool {
    /// The warm runner, while it works.
    fn warm(&self) -> Option<&dyn CandidateRunner> {
        self.warm.as_deref().filter(|_| !self.is_cold.initialized())
    }

    /// Says once why the warm runner is of no use.
    async fn give_up_warm(&self, failed: Option<RunError>) {
        let telling = || async {
            if let Some(error) = failed {
                tracing::warn!(%error, "candidates are tried by the suite's own command");
            }
        };
        self.is_cold.get_or_init(telling).await;
    }

    /// A copy that is free, or the first that becomes free.
    async fn take_copy(&self) -> (&CommandRunner, MutexGuard<'_, ()>) {
        let free = self.copies.iter().find_map(|copy| Some((copy, copy.turn.try_lock().ok()?)));
        if let Some(free) = free {
            return free;
        }
        let waiting =
            self.copies.iter().map(|copy| Box::pin(async move { (copy, copy.turn.lock().await) }));
        futures::future::select_all(waiting).await.0
    }
}

#[async_trait]
impl CandidateRunner for CandidatePool {
    fn speed(&self) -> Speed {
        self.warm().map_or(Speed::Cold, CandidateRunner::speed)
    }

    fn concurrency(&self, jobs: usize) -> usize {
        match self.warm() {
            Some(warm) => warm.concurrency(jobs),
            None => jobs.clamp(1, self.copies.len()),
        }
    }

    fn batch(&self) -> usize {
        self.warm().map_or(1, CandidateRunner::batch)
    }

    async fn prepare(&self, candidates: Vec<EditSet>) {
        if let Some(warm) = self.warm() {
            warm.prepare(candidates).await;
        }
    }

    fn selects_tests(&self) -> bool {
        self.warm().is_none_or(CandidateRunner::selects_tests)
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let mut failed = None;
        if let Some(warm) = self.warm() {
            match warm.trace(tests).await {
                Ok(traces) => return Ok(traces),
                Err(error) => failed = Some(error),
            }
        }
        self.give_up_warm(failed).await;
        let (copy, _turn) = self.take_copy().await;
        copy.copy_once().await?;
        let cases = copy.run_tests(tests, copy.timeout).await?;
        let reported = tests.iter().filter_map(|id| cases.iter().find(|case| case.id == *id));
        Ok(reported.map(|case| trace_of(case.clone(), Lines::new())).collect())
    }

    async fn run(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop_at_failure: bool,
    ) -> Result<Vec<CaseResult>, RunError> {
        let mut failed = None;
        if let Some(warm) = self.warm() {
            match warm.run(edits, tests, limit, stop_at_failure).await {
                Ok(results) => return Ok(results),
                Err(error) => failed = Some(error),
            }
        }
        self.give_up_warm(failed).await;
        let least = if self.warm.is_some() { STARTED } else { Duration::ZERO };
        let (copy, _turn) = self.take_copy().await;
        copy.try_edits(edits, tests, limit.max(least), stop_at_failure).await
    }
}

/// How a failure ends in a run that does not report it any more: it passes where the tests run that it had
/// kept from running or around which it runs, and names those that fail. `None` where none runs.
fn repaired(failed: &TestCase, cases: &[TestCase]) -> Option<TestCase> {
    let is_known = |_: &TestId| false;
    if cases.iter().any(|case| case.id == failed.id)
        || !failed.is_superseded_in(cases.iter(), is_known)
    {
        return None;
    }
    let is_part = |case: &&TestCase| {
        failed.kind == CaseKind::Prerequisite
            || failed.runs_around(case)
            || case.id.is_within(&failed.id)
    };
    let own = cases.iter().filter(is_part);
    let failing = own.filter(|case| case.status == Status::Failed);
    // The names are all that is kept of them.
    let message = failing.map(|case| case.id.as_str()).collect::<Vec<_>>().join("\n");
    let failure = Some(FailureText { message, ..FailureText::default() });
    Some(TestCase { status: Status::Passed, failure, ..failed.clone() })
}

/// The trace of a reported test.
pub fn trace_of(case: TestCase, lines: Lines) -> Trace {
    Trace {
        test: case.id,
        status: case.status,
        duration: Duration::from_millis(case.duration_ms),
        lines,
        loaded: Lines::new(),
        failure: case.failure,
    }
}

/// The results of `tests`. An unreported test counts as failed, with the failure of its file; so
/// does one that a failing hook of its file prevented, which some frameworks report as skipped.
pub fn case_results(
    cases: &[TestCase],
    tests: &[TestId],
    stop_at_failure: bool,
) -> Vec<CaseResult> {
    let by_id: BTreeMap<&TestId, &TestCase> = cases.iter().map(|case| (&case.id, case)).collect();
    let hooks: Vec<&TestCase> = cases
        .iter()
        .filter(|case| case.kind == CaseKind::Hook && case.status == Status::Failed)
        .collect();
    let of_file = |id: &TestId| {
        let file = by_id.get(&TestId(file_of(id).to_owned()));
        let hook = || hooks.iter().find(|hook| hook.is_hook_of(id));
        file.filter(|case| case.status == Status::Failed).or_else(hook)
    };
    let mut results = Vec::new();
    for id in tests {
        let mut case = by_id.get(id);
        if case.is_none_or(|case| case.status == Status::Skipped) {
            case = of_file(id).or(case);
        }
        let status = case.map_or(Status::Failed, |case| case.status);
        let failure = case.and_then(|case| case.failure.as_ref()).map(|failure| {
            let first = failure.message.lines().next().unwrap_or_default().to_owned();
            (failure.class.clone(), first)
        });
        let behind = case
            .filter(|case| case.status == Status::Passed && case.kind.is_only_reported_as_failed());
        let behind = behind.and_then(|case| case.failure.as_ref());
        let failing_behind = behind.map_or(0, |behind| behind.message.lines().count());
        let failure = failure.filter(|_| status == Status::Failed);
        let said = case.and_then(|case| case.failure.as_ref()).filter(|_| failure.is_some());
        let frames = said.map(|said| said.frames.clone()).unwrap_or_default();
        results.push(CaseResult { test: id.clone(), status, failure, frames, failing_behind });
        if stop_at_failure && status == Status::Failed {
            break;
        }
    }
    results
}

pub fn file_of(test: &TestId) -> &str {
    test.as_str().split("::").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::Layer;

    #[test]
    fn a_test_passes_only_when_it_is_reported_to_have_run() {
        let case = |id: &str, status| TestCase {
            kind: CaseKind::Test,
            id: id.into(),
            status,
            file: None,
            line: None,
            layer: Layer::Unit,
            duration_ms: 1,
            failure: (status == Status::Failed).then(|| FailureText {
                class: "Error".into(),
                message: "no\nmore".into(),
                stack: String::new(),
                frames: Vec::new(),
            }),
        };
        let cases = [
            case("a.ts::runs", Status::Passed),
            case("a.ts::is left out", Status::Skipped),
            case("b.ts", Status::Failed),
            case("b.ts::waits for a hook", Status::Skipped),
            case("c.ts::fails", Status::Failed),
        ];
        let table = [
            ("a.ts::runs", Status::Passed, None),
            ("a.ts::is left out", Status::Skipped, None),
            ("a.ts::is not reported", Status::Failed, None),
            ("b.ts::waits for a hook", Status::Failed, Some("no")),
            ("b.ts::is not loaded", Status::Failed, Some("no")),
            ("c.ts::fails", Status::Failed, Some("no")),
        ];
        let tests: Vec<TestId> = table.iter().map(|row| row.0.into()).collect();
        for (result, (id, status, says)) in case_results(&cases, &tests, false).iter().zip(table) {
            let message = result.failure.as_ref().map(|(_, message)| message.as_str());
            assert_eq!((result.test.as_str(), result.status, message), (id, status, says));
        }
        assert_eq!(case_results(&cases, &tests, true).len(), 3, "it ends behind the first failure");
    }
}
