//! The `Suite` and `CandidateRunner` traits: run the tests, or try many candidate edits quickly.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::coverage::Measured;
use crate::domain::expected_failure;
use crate::domain::framework::Framework;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::EditSet;
use crate::domain::request::ToolCommands;
use crate::domain::secret::Canary;
use crate::domain::test::{FailureText, Frame, Results, Scope, Status, TestCase};

use super::{Concern, FixedFiles, LintReport};

/// The facts that detection found about a suite; `doctor` shows them, the session stores them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteFacts {
    /// Framework, such as `pytest` or `cargo test`; `command` for a configured command.
    #[schemars(with = "String")]
    pub framework: Framework,
    /// The version as the framework prints it; empty when unknown.
    pub version: String,
    /// Folder inside the repository where commands run; empty for the root.
    pub directory: String,
    /// The full command, as a person would type it.
    pub command: String,
    /// How results are read, such as `JUnit XML` or `libtest text`.
    pub format: String,
    /// Languages of the sources, most files first.
    pub languages: Vec<String>,
    /// The evidence, such as `pytest.ini`.
    pub evidence: Vec<String>,
    /// Suites of other languages in the folder and below that are not run, each with its evidence and
    /// the way to run it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<String>,
}

/// A requested run of tests.
#[derive(Clone, Debug)]
pub struct RunRequest<'a> {
    pub root: &'a Path,
    pub scope: &'a Scope,
    /// Name of the log file inside the session folder, such as `.process/test-output.log`.
    pub log: &'a str,
    /// Decides the order of sets where a language draws it by lot, as Python does for texts.
    pub hash_seed: u32,
}

impl<'a> RunRequest<'a> {
    /// A run with the order of sets that every run has.
    #[must_use]
    pub fn new(root: &'a Path, scope: &'a Scope, log: &'a str) -> Self {
        Self { root, scope, log, hash_seed: 0 }
    }
}

/// Runs the suite of one repository.
#[async_trait]
pub trait Suite: Send + Sync {
    /// The facts that detection found about the suite.
    fn facts(&self) -> &SuiteFacts;

    /// Runs tests and reads their results. Repeatable: nothing but ignored files and the log
    /// change.
    /// Fails when there are no results to judge: a crash, no report, zero tests, a hang.
    async fn run(&self, request: &RunRequest<'_>) -> Result<Results, RunError>;

    /// Complaints of the project's syntax or type check about files; `None` without any.
    async fn check(&self, root: &Path, files: &[RepoPath]) -> Option<String>;

    /// The findings of the project's own type checkers, linters and formatters in a checkout, where
    /// it has set them up; its own commands replace them. Nothing of the checkout changes, and none
    /// takes longer than a minute (specification.md 6.3).
    async fn lint(&self, root: &Path, concerns: &[Concern], own: &ToolCommands) -> LintReport;

    /// These files of a checkout after the project's own safe fixers and formatters, where it has
    /// set them up. Nothing of the checkout changes; each is stopped after half a minute.
    async fn autofix(&self, root: &Path, files: &[RepoPath]) -> FixedFiles;

    /// Runs the whole suite of a checkout under the project's own coverage tool, or a tracer of ours
    /// where Python has none, and reports what ran of `files`. Failing tests are no fault here; without a tool or a report there is a reason.
    async fn coverage(&self, root: &Path, files: &BTreeSet<RepoPath>) -> Measured;

    /// Opens a runner that tries many candidates on one checkout: in a prepared process if the
    /// framework allows it, otherwise with the suite's own command in a scratch copy.
    async fn open_candidate_runner(
        &self,
        request: &CandidateRunnerRequest<'_>,
    ) -> Result<Box<dyn CandidateRunner>, RunError>;
}

/// A request to open a candidate runner.
#[derive(Clone, Debug)]
pub struct CandidateRunnerRequest<'a> {
    pub root: &'a Path,
    /// Failing tests to repair; a warm runner is used only if it reproduces them. Empty for
    /// mutation testing, where passing tests run on broken code.
    pub failing: &'a [TestCase],
    pub jobs: usize,
}

/// How a runner starts the tests of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speed {
    Warm,
    /// By the suite's own command each time.
    Cold,
}

/// Lines of files that a test executed.
pub type Lines = BTreeMap<RepoPath, Vec<u32>>;

/// A test run on the unchanged sources, with the lines it executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub test: TestId,
    pub status: Status,
    pub duration: Duration,
    /// Lines executed per file, sorted; empty when coverage cannot be had.
    pub lines: Lines,
    /// Those of them that only ran while files were loaded, where a runner tells them apart.
    pub loaded: Lines,
    pub failure: Option<FailureText>,
}

impl Trace {
    /// The same trace with the lines that the test itself ran: those whose mutants count.
    #[must_use]
    pub fn without_loading(mut self) -> Self {
        for (file, loaded) in &self.loaded {
            let own = self.lines.entry(file.clone()).or_default();
            own.retain(|line| loaded.binary_search(line).is_err());
        }
        self
    }
}

/// A test run on a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseResult {
    pub test: TestId,
    /// How it ended; a crash, an import error and a time limit are failures.
    pub status: Status,
    /// Class and first line of the message, when the test failed.
    pub failure: Option<(String, String)>,
    /// Where it failed, as far as the runner knows.
    pub frames: Vec<Frame>,
    /// Of what kept tests from running and loads now: how many of these fail.
    pub failing_behind: usize,
}

/// The class of a failure when the sources do not compile.
const REFUSED: &str = "does not compile";

impl CaseResult {
    /// A test that was not run because the sources do not compile; with the compiler's message.
    #[must_use]
    pub fn not_built(test: TestId, message: &str) -> Self {
        Self {
            test,
            status: Status::Failed,
            failure: Some((REFUSED.into(), message.into())),
            frames: Vec::new(),
            failing_behind: 0,
        }
    }

    /// Whether it fails only because it passes although it is marked as an expected failure.
    pub fn passes_against_mark(&self) -> bool {
        let said = self.failure.as_ref().filter(|_| self.status == Status::Failed);
        said.is_some_and(|(class, message)| expected_failure::find_mark(class, message).is_some())
    }

    /// Whether the sources do not compile.
    pub fn is_not_built(&self) -> bool {
        self.failure.as_ref().is_some_and(|(class, _)| class == REFUSED)
    }
}

/// Tries candidate edits on one checkout. Dropping it ends its processes.
#[async_trait]
pub trait CandidateRunner: Send + Sync {
    fn speed(&self) -> Speed;

    /// Candidates that are tried at the same time, of at most `jobs`.
    fn concurrency(&self, jobs: usize) -> usize {
        if self.speed() == Speed::Warm { jobs.max(1) } else { 1 }
    }

    /// Candidates that are quicker together than one after the other; 1 where they are not.
    fn batch(&self) -> usize {
        1
    }

    /// Announces candidates that `run` is asked for next, at most [`Self::batch`].
    async fn prepare(&self, _candidates: Vec<EditSet>) {}

    /// Whether `run` runs nothing but the tests that it is given; otherwise all of their files.
    fn selects_tests(&self) -> bool {
        true
    }

    /// Runs each test once on the unchanged sources, recording the lines it executes; alone if
    /// the framework can select it.
    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError>;

    /// Runs `tests`, in this order, with `edits` in place and nothing written to the checkout.
    /// With `stop_at_failure`, the results end with the first failure.
    /// May be called concurrently up to the number of jobs.
    async fn run(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop_at_failure: bool,
    ) -> Result<Vec<CaseResult>, RunError>;
}

/// Why a run gave no results. Failing tests are a result, not an error.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{}", unknown_framework(directory, script.as_deref(), packages))]
    UnknownFramework {
        directory: PathBuf,
        /// The test script of its `package.json`, which runs nothing that regreen knows.
        script: Option<String>,
        /// Folders below that have tests, relative to the root of the repository.
        packages: Vec<(String, Framework)>,
        looked_for: Vec<String>,
    },
    /// A runner that is started only by a command that somebody named.
    #[error(
        "{runner} was found ({evidence}), which regreen starts only by a command that you name"
    )]
    NeedsCommand {
        runner: &'static str,
        evidence: String,
        /// The options that name the command and its report.
        options: &'static str,
    },
    #[error("a report is named, but no command that writes it")]
    ReportWithoutCommand {
        /// The framework that is recognised without it.
        found: Option<Framework>,
    },
    #[error("the report pattern `{pattern}` leads out of the folder of the suite")]
    ReportOutside { pattern: String },
    #[error("`{command}` could not be started: {reason}")]
    NotStarted { command: String, reason: String },
    /// A set-up command failed, so that no test was run; no fix could repair that.
    #[error("the set-up command `{command}` ended with {ending}")]
    SetUp {
        command: String,
        ending: String,
        /// The last lines of its output, at most 2 KiB.
        tail: String,
        log: PathBuf,
    },
    /// The whole process group was killed at the limit.
    #[error(
        "`{command}` was stopped after {} s without finishing{}",
        limit.as_secs(),
        while_running(running)
    )]
    TimedOut {
        command: String,
        limit: Duration,
        /// Tests that had started and not ended, as far as they are known.
        running: Vec<String>,
        log: PathBuf,
    },
    #[error("`{command}` ended with {ending} and left no complete report of its tests")]
    NoReport {
        command: String,
        ending: String,
        /// Whether it would be the same once more, as with arguments that the runner refuses.
        is_final: bool,
        /// The last lines of its output, at most 2 KiB.
        tail: String,
        log: PathBuf,
    },
    #[error("`{command}` reported no tests")]
    NoTests { command: String, log: PathBuf },
    #[error("`{command}` wrote no file that matches the report pattern `{pattern}`")]
    NoReportFile { command: String, pattern: String },
    /// Every file that the pattern matches is XML, and none is a test report.
    #[error("`{file}`, which `{pattern}` matches, is no test report: its root is `<{root}>`")]
    ForeignReport { file: String, root: String, pattern: String },
    /// A report exists and cannot be read.
    #[error("{}:{line}: expected {expected}", report.display())]
    BadReport { report: PathBuf, line: u32, expected: String },
    /// A failing test shows the canary of its environment (specification.md 4.13). Its results would
    /// be published, and what prints a false token may print a real one.
    #[error(
        "`{test}` printed `{}`, the false token in the environment of tests, so nothing of this run is published",
        Canary::VARIABLE
    )]
    Canary { test: TestId },
    /// A folder whose path has a `:`, which separates folders in the search paths of Python.
    #[error("{} has a `:` in its path, so Python cannot search there", folder.display())]
    UnlistablePath { folder: PathBuf },
    /// The operating system refused something else.
    #[error("cannot {action}: {reason}")]
    Io { action: String, reason: String },
}

/// Whether the output of a command says that it may not write somewhere.
fn is_refusal(output: &str) -> bool {
    ["Permission denied", "[Errno 13]", "EACCES", "Read-only file system"]
        .iter()
        .any(|words| output.contains(words))
}

/// Folders with tests that an error names.
const NAMED: usize = 5;

fn unknown_framework(
    directory: &Path,
    script: Option<&str>,
    packages: &[(String, Framework)],
) -> String {
    let at = directory.display();
    if !packages.is_empty() {
        let named = packages.iter().take(NAMED).map(|(folder, one)| format!("{folder} ({one})"));
        let named = named.collect::<Vec<_>>().join(", ");
        let more = packages.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        return format!("no tests stand in {at} itself, but in {named}{more}");
    }
    match script {
        Some(script) => format!(
            "no test framework was recognised in {at}: the test script `{script}` of package.json runs none that regreen knows"
        ),
        None => format!("no test framework was recognised in {at}"),
    }
}

fn while_running(tests: &[String]) -> String {
    match tests {
        [] => String::new(),
        [test] => format!(", while `{test}` was running"),
        [first, more @ ..] => format!(", while `{first}` and {} more were running", more.len()),
    }
}

impl RunError {
    /// What an output without results gives as its cause: its first error line, else its last.
    pub fn find_cause(&self) -> &str {
        let Self::NoReport { tail, .. } = self else { return "" };
        let is_error = |line: &&str| {
            let line = line.to_ascii_lowercase();
            line.contains("error:") && !line.contains("usage:")
        };
        let mut lines = tail.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.clone().find(is_error).or_else(|| lines.next_back()).unwrap_or_default()
    }

    /// Whether the same command may give results when it is run once more (specification.md X16).
    pub fn is_transient(&self) -> bool {
        match self {
            // Where a test is known to hang, the run was confirmed without it as far as that goes.
            Self::TimedOut { running, .. } => running.is_empty(),
            Self::NoReport { is_final, .. } => !is_final,
            Self::BadReport { .. } => true,
            _ => false,
        }
    }

    /// What the reader can do next, in one imperative clause.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownFramework { packages, .. } if !packages.is_empty() => {
                let runs = packages.iter().take(NAMED).map(|(one, _)| format!("`regreen fix {one}`"));
                format!(
                    "run the tests of one folder: {}; or name a command that runs them all with `--test-command`",
                    runs.collect::<Vec<_>>().join(", ")
                )
            }
            Self::UnknownFramework { script: Some(_), .. } => {
                "name a command whose results regreen can read with `--test-command`: one that prints TAP, or writes JUnit XML that `--report` names; any other counts as one test, by its exit code and the closing lines of its runner"
                    .into()
            }
            Self::UnknownFramework { looked_for, .. } => format!(
                "write first tests with `regreen test FILE`, or name the command with `--test-command` (looked for {})",
                looked_for.join(", ")
            ),
            Self::NeedsCommand { options, .. } => format!("run `regreen fix` with {options}"),
            Self::ReportWithoutCommand { found: Some(found) } => format!(
                "name the command with `--test-command`, or leave `--report` or the key `test.report` out: {found} is recognised and read without one"
            ),
            Self::ReportOutside { .. } => {
                "have the command write its report below the folder of the suite, of which regreen runs a private copy, and name it relative to that folder, such as `reports/**/*.xml`".into()
            }
            Self::ReportWithoutCommand { found: None } => {
                "name the command with `--test-command` or the key `test.command`".into()
            }
            Self::NotStarted { .. } => {
                "install what the command needs, or name another with `--test-command`".into()
            }
            Self::SetUp { log, tail, .. } if is_refusal(tail) => format!(
                "in the sandbox, set-up commands may write only to the private checkout, a home of their own, the temporary folder and the caches of build tools: install there (`python3 -m venv .venv && .venv/bin/pip install -e .`), or before the run; the whole output is in {}",
                log.display()
            ),
            Self::SetUp { log, .. } => {
                format!("read {}, then repair `test.setup`", log.display())
            }
            Self::TimedOut { log, .. } => {
                format!("look for the last test in {}, or raise `test.timeout`", log.display())
            }
            Self::NoReport { log, .. } => format!(
                "read {}; for another runner write JUnit XML and name it with the key `test.report`, or `--report` of `regreen fix`",
                log.display()
            ),
            Self::NoTests { .. } => {
                "check that the command finds your tests, and name the JUnit XML or TAP that it writes with the key `test.report`, or `--report` of `regreen fix`; or write first tests with `regreen test FILE`"
                    .into()
            }
            Self::ForeignReport { .. } => {
                "narrow the pattern to the files that the test runner writes, such as `**/TEST-*.xml`".into()
            }
            Self::NoReportFile { .. } => {
                "point `test.report`, or `--report` of `regreen fix`, at the JUnit XML file that the test command writes; a runner that dies in the middle writes none".into()
            }
            Self::BadReport { .. } => {
                "point `test.report`, or `--report` of `regreen fix`, at the JUnit XML file that the test command writes".into()
            }
            Self::Canary { .. } => {
                "let that test print the variables it needs instead of its whole environment, then run again".into()
            }
            Self::UnlistablePath { .. } => {
                "set `REGREEN_WORK_DIR` to a folder whose path has no `:`".into()
            }
            Self::Io { .. } => "free disk space or fix the permissions, then run again".into(),
        }
    }
}
