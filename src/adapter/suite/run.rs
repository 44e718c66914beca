//! Implements [`Suite`]: runs the test suite and the tools of a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;

use async_trait::async_trait;

use crate::adapter::host::canary::canary;
use crate::adapter::host::clock;
use crate::adapter::host::files;
use crate::adapter::host::process::{self, ExitReason};
use crate::adapter::host::redaction;
use crate::adapter::host::sandbox;
use crate::domain::coverage::Measured;
use crate::domain::declared::{Document, find_objections};
use crate::domain::framework::Framework;
use crate::domain::id::RepoPath;
use crate::domain::language::Language;
use crate::domain::request::ToolCommands;
use crate::domain::session::files::file_path;
use crate::domain::test::{Objection, Results, Scope, Status, TestCase};
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, Concern, FixedFiles, LintReport, RunError, RunRequest,
    Suite, SuiteFacts,
};

use super::detect::Detection;
use super::format::{Report, Retried, closing, driver_lines, to_test_cases};
use super::framework::{read_text, shell_argv, whole_npm_script};
use super::io_error::cannot;
use super::project_suite::ProjectSuite;
use super::suite_command::{COMPUTING_LIMIT, Execution};
use super::{candidate, formatters, tools};

/// The time limit of a whole run divided by this is that of the tests of a Go package, once one has hung.
const SHARE_OF_HUNG: u32 = 5;

/// Bytes of output that an error quotes.
const EVIDENCE: u64 = 2 << 10;

/// Lines of it that results quote.
const LINES: usize = 40;

/// Exit codes of a shell that cannot execute or find a command.
const NOT_STARTED: [ExitReason; 2] = [ExitReason::Exit(126), ExitReason::Exit(127)];

/// Runs that may end at the limit: the first, and one without the test that hung in it.
const RUNS_THAT_HANG: u32 = 2;

/// Exit code of pytest for arguments or settings that it refuses.
const PYTEST_USAGE: ExitReason = ExitReason::Exit(4);

/// The last whole lines of a log that may be published: none where the environment is among them.
fn last_lines(log: &Path) -> String {
    let tail = process::tail_of(log, EVIDENCE);
    if canary().is_some_and(|canary| canary.is_in(&tail)) {
        return String::new();
    }
    let whole = u64::try_from(tail.len()).is_ok_and(|length| length < EVIDENCE);
    let lines: Vec<_> = tail.lines().skip(usize::from(!whole)).collect();
    let lines = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
    redaction::redact(lines.join("\n").trim()).into()
}

/// The limit of tests that compute all the time, once one has hung: it comes from those that pass.
fn computing_limit(cases: &[TestCase], before: Option<Duration>) -> Option<Duration> {
    /// A test on changed sources may take this multiple of what the longest took.
    const FACTOR: u64 = 10;
    let passed = cases.iter().filter(|case| case.status == Status::Passed);
    let longest = passed.map(|case| case.duration_ms).max().unwrap_or_default();
    let limit = Duration::from_millis(longest * FACTOR).max(Duration::from_secs(1));
    (before.is_some() || cases.iter().any(TestCase::was_stopped)).then_some(limit)
}

/// How a command ends well although its output says that tests fail.
fn said_failure(log: &Path) -> Result<Option<String>, RunError> {
    let line = closing::failure_line(&read_text(log)?).map(|line| redaction::redact(&line));
    Ok(line.map(|line| format!("0 although its output says \"{line}\"")))
}

impl ProjectSuite<'_> {
    async fn run_command(
        &self,
        request: &RunRequest<'_>,
        log: &Path,
    ) -> Result<(Execution, Report), RunError> {
        let mut command = self.command(request.root, "", log.to_owned());
        command.environment.insert("PYTHONHASHSEED".into(), request.hash_seed.to_string());
        let of_test = command.limit_tests(self.settings.timeout);
        let selection = match request.scope {
            Scope::Full => None,
            Scope::Tests(ids) => Some(ids.as_slice()),
        };
        let limit = self.settings.timeout;
        if selection.is_none() {
            let known = command.environment.remove(COMPUTING_LIMIT);
            // Go limits the tests of a package together, and each full run would wait for its end.
            if known.is_some() && self.detection.facts.framework == Framework::GoTest {
                let share = (limit / SHARE_OF_HUNG).as_secs_f64().to_string();
                command.environment.insert(COMPUTING_LIMIT.into(), share);
            }
        }
        // What hangs costs one limit, and one more to confirm it, however many tests do.
        let mut left = limit * RUNS_THAT_HANG;
        let mut hung = BTreeMap::new();
        loop {
            let execution = command.execute(selection, limit).await?;
            left = left.saturating_sub(limit);
            if execution.ending != ExitReason::TimedOut {
                let report = command.read(&execution);
                let has_tests =
                    report.as_ref().is_ok_and(|report| report.results().next().is_some());
                if NOT_STARTED.contains(&execution.ending) && !has_tests {
                    let reason = process::tail_of(log, 300).trim().to_owned();
                    return Err(RunError::NotStarted { command: execution.command, reason });
                }
                return Ok((execution, report?));
            }
            let written = read_text(&command.files.results)?;
            // A test that began just now does not hang: the suite is slow. The others are run without
            // the one that does.
            let latest = clock::seconds() - of_test.min(limit / 2).as_secs_f64();
            let running = driver_lines::running_since(&written, latest);
            match running.as_slice() {
                [one] if !left.is_zero() && !hung.contains_key(one) => {
                    let seconds = limit.as_secs();
                    let text =
                        format!("the test did not end, and the run was stopped after {seconds} s");
                    hung.insert(one.clone(), text);
                    let list = self.settings.scratch.join("hung");
                    let text = serde_json::to_vec(&hung).unwrap_or_default();
                    files::write(&list, &text).map_err(cannot("write", &list))?;
                    let list = list.display().to_string();
                    command.environment.insert("REGREEN_HUNG".into(), list);
                }
                _ => {
                    let (command, log) = (execution.command, log.to_owned());
                    let running = hung.into_keys().chain(running).collect();
                    return Err(RunError::TimedOut { command, limit, running, log });
                }
            }
        }
    }
}

impl ProjectSuite<'_> {
    /// Runs the whole test script of npm where the suite, which passes, is a part of it.
    async fn check_script(&self, root: &Path, log: &Path) -> Result<Option<Objection>, RunError> {
        let Detection { adapter, facts, .. } = &self.detection;
        let site = self.site(root);
        let is_scripted = site.command.is_none()
            && matches!(
                facts.framework.language(),
                Some(Language::JavaScript | Language::TypeScript)
            );
        let whole = whole_npm_script(&site, &adapter.is_run_by).filter(|_| is_scripted);
        let Some(command) = whole.map(str::to_owned) else { return Ok(None) };
        let log = log.with_extension("script.log");
        let invocation = self.invocation(root, shell_argv(&command));
        let ending = process::run(&invocation, self.settings.timeout, &log).await;
        let ending = ending.map_err(|error| RunError::NotStarted {
            command: command.clone(),
            reason: error.to_string(),
        })?;
        let ending = match ending {
            ExitReason::Exit(0) => said_failure(&log)?,
            failure => Some(failure.to_string()),
        };
        let tail = last_lines(&log);
        Ok(ending.map(|ending| Objection::Command { command, ending, tail }))
    }

    /// How a command ends well although its output says, for another runner, that tests fail.
    fn hidden_failure(&self, report: &Report, log: &Path) -> Result<Option<String>, RunError> {
        let is_retried = report.cases.iter().any(|test| test.retried != Retried::No);
        if is_retried || self.detection.facts.framework != Framework::Command {
            return Ok(None);
        }
        said_failure(log)
    }
}

#[async_trait]
impl Suite for ProjectSuite<'_> {
    fn facts(&self) -> &SuiteFacts {
        &self.detection.facts
    }

    async fn check(&self, root: &Path, files: &[RepoPath]) -> Option<String> {
        self.first_syntax_error(root, files).await
    }

    async fn lint(&self, root: &Path, concerns: &[Concern], own: &ToolCommands) -> LintReport {
        let scratch = self.settings.scratch.join("tools");
        match files::create_folder(&scratch) {
            Ok(()) => tools::run_tools(root, &scratch, concerns, own).await,
            Err(error) => {
                let reason = format!("{}: {error}", scratch.display());
                let skipped = vec![("the project's own tools".to_owned(), reason)];
                LintReport { skipped, ..LintReport::default() }
            }
        }
    }

    async fn autofix(&self, root: &Path, chosen: &[RepoPath]) -> FixedFiles {
        let scratch = self.settings.scratch.join("tools");
        match files::create_folder(&scratch) {
            Ok(()) => formatters::format_files(root, &scratch, chosen, false).await,
            Err(error) => {
                let reason = format!("{}: {error}", scratch.display());
                let skipped = vec![("the project's own fixers".to_owned(), reason)];
                FixedFiles { skipped, ..FixedFiles::default() }
            }
        }
    }

    async fn coverage(&self, root: &Path, files: &BTreeSet<RepoPath>) -> Measured {
        let measured = self.measure(root, files).await;
        measured.unwrap_or_else(|reason| Measured::Nothing { reason })
    }

    async fn run(&self, request: &RunRequest<'_>) -> Result<Results, RunError> {
        self.set_up(request.root).await?;
        let log = file_path(&self.settings.session, request.log);
        let started_at = self.clock.now();
        let began = self.clock.elapsed();
        let (Execution { command, ending, .. }, report) = self.run_command(request, &log).await?;
        let duration = self.clock.elapsed().saturating_sub(began);
        let is_empty = report.results().next().is_none();
        // A run that was cut short before its first result has tests.
        let is_cut = is_empty && report.documents.iter().any(Document::is_cut);
        if is_empty && !is_cut && (ending == ExitReason::Exit(0) || report.complete) {
            return Err(RunError::NoTests { command, log });
        }
        if is_cut || !report.complete {
            let tail = process::tail_of(&log, EVIDENCE);
            let is_pytest = self.detection.facts.framework == Framework::Pytest;
            let is_final = is_pytest && ending == PYTEST_USAGE;
            let ending = ending.to_string();
            return Err(RunError::NoReport { command, ending, is_final, tail, log });
        }
        // What is required of the whole suite, such as a coverage, a few tests cannot meet.
        let is_full = matches!(request.scope, Scope::Full);
        let ending_of_failure = match ending {
            _ if !is_full => None,
            ExitReason::Exit(0) => self.hidden_failure(&report, &log)?,
            failure => Some(failure.to_string()),
        };
        let failed_command = ending_of_failure.map(|ending| Objection::Command {
            command: command.clone(),
            ending,
            tail: last_lines(&log),
        });
        let mut objections =
            find_objections(&report.documents, report.has_failure(), failed_command);
        if is_full && objections.is_empty() && !report.has_failure() {
            objections.extend(self.check_script(request.root, &log).await?);
        }
        let paths = self.path_mapper(request.root);
        let flaky = report.cases.iter().filter(|test| test.retried != Retried::No);
        let flaky = to_test_cases(flaky, &paths).into_iter().map(|case| case.id).collect();
        let mut cases = to_test_cases(report.results(), &paths);
        if is_full {
            let mut limit = self.computing_limit.lock().unwrap_or_else(PoisonError::into_inner);
            *limit = computing_limit(&cases, *limit);
        }
        let shows_canary = |case: &&TestCase| {
            let failure = case.failure.iter().flat_map(|one| [one.message.as_str(), &one.stack]);
            let mut texts = failure.chain([case.id.as_str()]);
            canary().is_some_and(|canary| texts.any(|text| canary.is_in(text)))
        };
        if let Some(case) = cases.iter().find(shows_canary) {
            return Err(RunError::Canary { test: case.id.clone() });
        }
        // What is decided now and what is read from the state later must be the same text.
        for failure in cases.iter_mut().filter_map(|case| case.failure.as_mut()) {
            for text in [&mut failure.message, &mut failure.stack] {
                *text = redaction::redact(text).into();
            }
        }
        let exit_code = match ending {
            ExitReason::Exit(code) => Some(code),
            ExitReason::Signal(_) | ExitReason::TimedOut => None,
        };
        Ok(Results {
            cases,
            scope: request.scope.clone(),
            command,
            exit_code,
            started_at,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            log: request.log.to_owned(),
            is_offline: sandbox::is_offline(),
            objections,
            flaky,
            notices: report.notices,
            lacking: BTreeMap::new(),
        })
    }

    async fn open_candidate_runner(
        &self,
        request: &CandidateRunnerRequest<'_>,
    ) -> Result<Box<dyn CandidateRunner>, RunError> {
        self.set_up(request.root).await?;
        candidate::open(self, request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{CaseKind, FailureText, Layer};

    #[test]
    fn the_limit_comes_from_the_tests_that_pass() {
        let case = |status, duration_ms, message: Option<&str>| TestCase {
            id: "t".into(),
            kind: CaseKind::Test,
            status,
            file: None,
            line: None,
            duration_ms,
            layer: Layer::Unit,
            failure: message
                .map(|message| FailureText { message: message.into(), ..FailureText::default() }),
        };
        let passed = |ms| case(Status::Passed, ms, None);
        let hung = case(Status::Failed, 6000, Some("the test was stopped after 6 s"));
        let wrong = case(Status::Failed, 6000, Some("1 is not 2"));
        let second = Duration::from_secs(1);
        let table = [
            ("nothing hangs", vec![passed(10), wrong], None, None),
            ("none passes", vec![hung.clone()], None, Some(second)),
            ("the longest counts", vec![passed(10), passed(200), hung], None, Some(second * 2)),
            ("one hung before", vec![passed(300)], Some(second), Some(second * 3)),
        ];
        for (why, cases, before, expected) in table {
            assert_eq!(computing_limit(&cases, before), expected, "{why}");
        }
    }
}
