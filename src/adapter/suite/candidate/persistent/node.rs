//! Tries candidates on `node --test` suites: copies of the checkout that are kept ready, each with
//! a process that is used again, one thread with fresh modules per candidate and test file; the
//! coverage comes from V8.
//!
//! A thread is not quite a process: it cannot change the folder or take signals. So a file is first
//! run both modes on the unchanged sources, and where the answers differ it keeps its own process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, Ending, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::domain::id::TestId;
use crate::domain::proposal::EditSet;
use crate::domain::test::{Status, TestCase};
use crate::effect::{CandidateRunner, CandidateRunnerRequest, CaseResult, RunError, Speed, Trace};

use super::super::checkout_copy::{Side, copy_checkout, write_edits};
use super::v8_coverage::executed_lines;
use super::{file_of, files_of, free, io_error, outcomes, trace_of};
use crate::adapter::suite::format::{PathMapper, lines, to_test_cases};
use crate::adapter::suite::line_server::LineServer;
use crate::adapter::suite::project_suite::ProjectSuite;

/// Limit of one traced test.
const TRACING: Duration = Duration::from_secs(10);

/// Time that starting Node.js may take on a busy machine.
const STARTING: Duration = Duration::from_millis(1500);

/// Bytes of one coverage file that are read at most.
const COVERAGE_LIMIT: u64 = 64 << 20;

/// One copy of the checkout with what belongs to it.
struct CheckoutCopy {
    root: PathBuf,
    paths: PathMapper,
    environment: BTreeMap<String, String>,
    access: Access,
    scratch: PathBuf,
    directory: String,
    server: Option<LineServer>,
}

/// How a test file is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunMode {
    /// In a thread of the process that is used again.
    Thread,
    /// In a process of its own.
    Process,
}

struct NodeRunner {
    reporter: String,
    driver: String,
    copies: Vec<Mutex<CheckoutCopy>>,
    modes: Mutex<BTreeMap<String, RunMode>>,
}

#[derive(Serialize)]
struct FileRequest {
    file: String,
    limit: f64,
}

#[derive(Deserialize)]
struct FileResponse {
    ended: bool,
}

/// Opens the runner, unless it does not reproduce the failing tests.
pub async fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
) -> Result<Option<Box<dyn CandidateRunner>>, RunError> {
    let mut copies = Vec::new();
    for number in 0..request.jobs.max(1) {
        let root = suite.settings.scratch.join(format!("lane-{number}"));
        let root = copy_checkout(request.root, &root)?;
        copies.push(Mutex::new(CheckoutCopy {
            paths: suite.path_mapper(&root),
            environment: suite.environment(&root),
            access: suite.access(&root),
            scratch: suite.settings.scratch.join(format!("lane-{number}.out")),
            directory: suite.detection.site.directory.clone(),
            root,
            server: None,
        }));
    }
    let drivers = suite.settings.scratch.join("drivers");
    let node = NodeRunner {
        reporter: drivers.join("node_reporter.mjs").display().to_string(),
        driver: drivers.join("warm_node.mjs").display().to_string(),
        copies,
        modes: Mutex::new(BTreeMap::new()),
    };
    // Without a failure to reproduce, the caller compares what passes.
    let Some(first) = request.failing.get(..1) else { return Ok(Some(Box::new(node))) };
    let traces = node.trace(first).await?;
    let reproduced = traces.iter().any(|trace| trace.status == Status::Failed);
    Ok(reproduced.then(|| Box::new(node) as Box<dyn CandidateRunner>))
}

impl CheckoutCopy {
    /// Runs one test file; `None` when it hung or printed no result.
    async fn run(
        &self,
        reporter: &str,
        file: &str,
        pattern: Option<&str>,
        coverage: Option<&Path>,
        limit: Duration,
    ) -> Result<Vec<TestCase>, RunError> {
        let cases = self.cases();
        files::write(&cases, b"").map_err(|error| io_error(&cases, &error))?;
        let mut argv = self.argv(reporter);
        argv.extend(pattern.map(|pattern| format!("--test-name-pattern={pattern}")));
        argv.push(self.root.join(file).display().to_string());
        let mut environment = self.environment.clone();
        if let Some(folder) = coverage {
            environment.insert("NODE_V8_COVERAGE".into(), folder.display().to_string());
        }
        let directory = self.root.join(&self.directory);
        let invocation =
            Invocation { argv, directory, environment, access: Some(self.access.clone()) };
        let log = self.scratch.with_extension("log");
        let ending =
            process::run(&invocation, limit, &log).await.map_err(|error| io_error(&log, &error))?;
        if ending == Ending::TimedOut {
            return Ok(Vec::new());
        }
        self.read_results()
    }

    /// The same in a thread of the process that is used again.
    async fn run_warm(
        &mut self,
        node: &NodeRunner,
        file: &str,
        limit: Duration,
    ) -> Result<Vec<TestCase>, RunError> {
        let cases = self.cases();
        files::write(&cases, b"").map_err(|error| io_error(&cases, &error))?;
        let mut server = if let Some(server) = self.server.take() {
            server
        } else {
            let argv = [self.argv(&node.reporter), vec![node.driver.clone()]].concat();
            let directory = self.root.join(&self.directory);
            let environment = self.environment.clone();
            let access = Some(self.access.clone());
            LineServer::start(&Invocation { argv, directory, environment, access })
                .map_err(|error| io_error(Path::new("node"), &error))?
        };
        let file = self.root.join(file).display().to_string();
        let asked = server.send(&FileRequest { file, limit: limit.as_secs_f64() }).await;
        let answer = match asked {
            Ok(()) => server.receive::<FileResponse>(limit + STARTING).await,
            Err(error) => Err(error),
        };
        // One that died or does not answer is replaced; the candidate hung or ended the process.
        let Ok(Some(answer)) = answer else { return Ok(Vec::new()) };
        self.server = Some(server);
        if answer.ended { self.read_results() } else { Ok(Vec::new()) }
    }

    fn cases(&self) -> PathBuf {
        self.scratch.with_extension("cases")
    }

    fn argv(&self, reporter: &str) -> Vec<String> {
        vec![
            "node".to_owned(),
            format!("--test-reporter={reporter}"),
            format!("--test-reporter-destination={}", self.cases().display()),
        ]
    }

    fn read_results(&self) -> Result<Vec<TestCase>, RunError> {
        let cases = self.cases();
        let bytes =
            files::read_left(&cases, COVERAGE_LIMIT).map_err(|error| io_error(&cases, &error))?;
        let report = lines::parse(&String::from_utf8_lossy(&bytes.unwrap_or_default()));
        Ok(to_test_cases(&report.tests, &self.paths))
    }
}

impl NodeRunner {
    /// How a file is run, found out on the unchanged sources of `copy`.
    async fn mode(&self, copy: &mut CheckoutCopy, file: &str) -> Result<RunMode, RunError> {
        if let Some(mode) = self.modes.lock().await.get(file) {
            return Ok(*mode);
        }
        let alone = outcomes(copy.run(&self.reporter, file, None, None, TRACING).await?, file);
        let warm = outcomes(copy.run_warm(self, file, TRACING).await?, file);
        let mode =
            if warm == alone && !alone.is_empty() { RunMode::Thread } else { RunMode::Process };
        self.modes.lock().await.insert(file.to_owned(), mode);
        Ok(mode)
    }
}

/// A pattern that matches a test and the suites around it.
fn pattern_of(test: &TestId) -> String {
    let names = test.as_str().split_once("::").map_or("", |(_, names)| names);
    let names: Vec<String> = names.split(" > ").map(regex::escape).collect();
    format!("^({})$", names.join("|"))
}

#[async_trait]
impl CandidateRunner for NodeRunner {
    fn speed(&self) -> Speed {
        Speed::Warm
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let Some(copy) = self.copies.first() else { return Ok(Vec::new()) };
        let copy = copy.lock().await;
        let mut traces = Vec::new();
        for test in tests {
            let folder = copy.scratch.with_extension("coverage");
            if folder.exists() {
                std::fs::remove_dir_all(&folder).map_err(|error| io_error(&folder, &error))?;
            }
            let pattern = pattern_of(test);
            let cases = copy
                .run(&self.reporter, file_of(test), Some(&pattern), Some(&folder), TRACING)
                .await?;
            let case = cases.into_iter().find(|case| case.id == *test);
            traces.push(trace_of(test, case, executed_lines(&folder, &copy.paths)?));
        }
        Ok(traces)
    }

    async fn run(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop_at_failure: bool,
    ) -> Result<Vec<CaseResult>, RunError> {
        let Some(mut copy) = free(&self.copies).await else { return Ok(Vec::new()) };
        // In the order of the tests, which begins with those that fail.
        let mut runs: Vec<(&str, RunMode)> = Vec::new();
        for file in files_of(tests) {
            runs.push((file, self.mode(&mut copy, file).await?));
        }
        write_edits(&copy.root, edits, Side::After)?;
        let mut cases: BTreeMap<TestId, TestCase> = BTreeMap::new();
        let mut failed = false;
        let mut error = None;
        for (file, mode) in runs {
            if failed && stop_at_failure {
                break;
            }
            let ran = match mode {
                RunMode::Thread => copy.run_warm(self, file, limit).await,
                RunMode::Process => {
                    copy.run(&self.reporter, file, None, None, limit + STARTING).await
                }
            };
            match ran {
                Ok(ran) => cases.extend(ran.into_iter().map(|case| (case.id.clone(), case))),
                Err(problem) => error = Some(problem),
            }
            let of_file = tests.iter().filter(|test| file_of(test) == file);
            failed |= of_file
                .into_iter()
                .any(|test| cases.get(test).is_none_or(|case| case.status == Status::Failed));
        }
        write_edits(&copy.root, edits, Side::Before)?;
        if let Some(error) = error {
            return Err(error);
        }
        let mut results = Vec::new();
        for test in tests {
            let case = cases.get(test);
            let status = case.map_or(Status::Failed, |case| case.status);
            let failure = case.and_then(|case| case.failure.as_ref());
            let failure = failure.map(|failure| (failure.class.clone(), failure.message.clone()));
            results.push(CaseResult { test: test.clone(), status, failure });
            if stop_at_failure && status == Status::Failed {
                break;
            }
        }
        Ok(results)
    }
}
