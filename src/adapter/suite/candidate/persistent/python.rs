//! The persistent runner for unittest and pytest; `driver/warm_python.py` is its other half.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, Semaphore};

use crate::adapter::host::process::Invocation;
use crate::domain::framework::Framework;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::EditSet;
use crate::domain::test::{FailureText, Status};
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, CaseResult, Lines, RunError, Speed, Trace,
};

use super::add_lines;
use crate::adapter::suite::format::{PathMapper, stack};
use crate::adapter::suite::framework::unittest_options;
use crate::adapter::suite::line_server::LineServer;
use crate::adapter::suite::project_suite::ProjectSuite;

/// Time in which the tests must load.
const LOADING: Duration = Duration::from_mins(2);

/// Pools of processes at the same time.
const POOLS: usize = 8;

#[derive(Serialize)]
struct SetUpRequest<'a> {
    framework: &'a str,
    root: String,
    files: Vec<String>,
    tests: &'a [TestId],
    start: Option<&'a str>,
    top: Option<&'a str>,
    trace: bool,
}

#[derive(Serialize)]
struct CandidateRequest<'a> {
    sources: BTreeMap<String, &'a str>,
    tests: &'a [TestId],
    limit: f64,
    stop: bool,
}

#[derive(Deserialize)]
struct ReadyMessage {
    ready: bool,
}

#[derive(Deserialize)]
struct CandidateResponse {
    results: Vec<TestRecord>,
}

#[derive(Deserialize)]
struct TestRecord {
    #[serde(default)]
    id: String,
    #[serde(default)]
    status: Option<Status>,
    #[serde(default)]
    ms: f64,
    #[serde(default)]
    class: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    stack: String,
    #[serde(default)]
    lines: BTreeMap<String, Vec<u32>>,
    #[serde(default)]
    end: bool,
}

/// Files under repair and the tests that are loaded.
type PoolKey = (BTreeSet<RepoPath>, Vec<TestId>);

/// Idle processes of one key.
struct Pool {
    idle: Mutex<Vec<LineServer>>,
    turns: Semaphore,
}

struct PythonRunner {
    framework: Framework,
    invocation: Invocation,
    paths: PathMapper,
    root: PathBuf,
    options: BTreeMap<String, String>,
    jobs: usize,
    /// Most recently used last.
    pools: Mutex<Vec<(PoolKey, Arc<Pool>)>>,
}

/// Opens the runner, unless it does not reproduce the failing tests.
pub async fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
) -> Result<Option<Box<dyn CandidateRunner>>, RunError> {
    let site = suite.site(request.root);
    let driver = suite.settings.scratch.join("drivers/warm_python.py");
    let pairs = unittest_options(&site);
    let options = pairs
        .chunks_exact(2)
        .filter_map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone())))
        .collect();
    let python = PythonRunner {
        framework: suite.detection.facts.framework,
        invocation: Invocation {
            argv: vec![site.python(), driver.display().to_string()],
            directory: site.folder(),
            environment: suite.environment(request.root),
            access: Some(suite.access(request.root)),
        },
        paths: suite.path_mapper(request.root),
        root: request.root.to_owned(),
        options,
        jobs: request.jobs.max(1),
        pools: Mutex::new(Vec::new()),
    };
    // Without a failure to reproduce, the caller compares what passes.
    if request.failing.is_empty() {
        return Ok(Some(Box::new(python)));
    }
    // What fails in the suite must fail here, or candidates would be tried on something else.
    let Ok(traces) = python.trace(request.failing).await else { return Ok(None) };
    let reproduced = request.failing.iter().any(|test| {
        traces.iter().any(|trace| trace.test == *test && trace.status == Status::Failed)
    });
    Ok(reproduced.then(|| Box::new(python) as Box<dyn CandidateRunner>))
}

impl PythonRunner {
    fn set_up<'a>(
        &'a self,
        files: &BTreeSet<RepoPath>,
        tests: &'a [TestId],
        trace: bool,
    ) -> SetUpRequest<'a> {
        SetUpRequest {
            framework: self.framework.name(),
            root: self.root.display().to_string(),
            files: files.iter().map(|file| self.absolute(file)).collect(),
            tests,
            start: self.options.get("--start").map(String::as_str),
            top: self.options.get("--top").map(String::as_str),
            trace,
        }
    }

    fn absolute(&self, file: &RepoPath) -> String {
        self.root.join(file.as_str()).display().to_string()
    }

    fn failed(error: &std::io::Error) -> RunError {
        RunError::Io { action: "talk to the warm runner".into(), reason: error.to_string() }
    }

    /// Starts a process that waits at the import of a module under repair.
    async fn start(&self, key: &PoolKey) -> Result<LineServer, RunError> {
        let mut server = LineServer::start(&self.invocation).map_err(|e| Self::failed(&e))?;
        let set_up = self.set_up(&key.0, &key.1, false);
        server.send(&set_up).await.map_err(|e| Self::failed(&e))?;
        let ready: Option<ReadyMessage> =
            server.receive(LOADING).await.map_err(|e| Self::failed(&e))?;
        if ready.is_some_and(|ready| ready.ready) {
            return Ok(server);
        }
        Err(RunError::Io {
            action: "prepare a warm process".into(),
            reason: "the tests cannot be loaded, or threads run while they load".into(),
        })
    }

    /// The pool of a key, or of one with the same files and more tests: each request selects the
    /// tests it needs.
    async fn pool(&self, key: PoolKey) -> (PoolKey, Arc<Pool>) {
        let mut pools = self.pools.lock().await;
        let fits = |known: &PoolKey| known.0 == key.0 && holds_all(&known.1, &key.1);
        let entry = if let Some(index) = pools.iter().position(|(known, _)| fits(known)) {
            pools.remove(index)
        } else {
            if pools.len() >= POOLS {
                pools.remove(0);
            }
            let turns = Semaphore::new(self.jobs);
            (key, Arc::new(Pool { idle: Mutex::new(Vec::new()), turns }))
        };
        pools.push((entry.0.clone(), Arc::clone(&entry.1)));
        entry
    }
}

fn holds_all(many: &[TestId], few: &[TestId]) -> bool {
    if many == few {
        return true;
    }
    let many: BTreeSet<&TestId> = many.iter().collect();
    few.iter().all(|test| many.contains(test))
}

#[async_trait]
impl CandidateRunner for PythonRunner {
    fn speed(&self) -> Speed {
        Speed::Warm
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let mut server = LineServer::start(&self.invocation).map_err(|e| Self::failed(&e))?;
        let set_up = self.set_up(&BTreeSet::new(), tests, true);
        server.send(&set_up).await.map_err(|e| Self::failed(&e))?;
        let mut traces: Vec<Trace> = Vec::new();
        let mut at_import = Lines::new();
        loop {
            // A test that never ends stops the trace; the records before it are complete.
            let record = match server.receive::<TestRecord>(LOADING).await {
                Ok(Some(record)) if !record.end => record,
                Ok(_) | Err(_) => break,
            };
            let mut lines: Lines = record
                .lines
                .into_iter()
                .filter_map(|(file, lines)| Some((RepoPath::parse(file).ok()?, lines)))
                .collect();
            if record.id.is_empty() {
                at_import = lines;
                continue;
            }
            for (file, more) in &at_import {
                add_lines(&mut lines, file.clone(), more.iter().copied());
            }
            let status = record.status.unwrap_or(Status::Passed);
            let failure = (status == Status::Failed).then(|| FailureText {
                class: record.class,
                message: record.message,
                frames: stack::frames(&record.stack, &self.paths),
                stack: record.stack,
            });
            let duration = Duration::try_from_secs_f64(record.ms / 1000.0).unwrap_or_default();
            traces.push(Trace { test: TestId(record.id), status, duration, lines, failure });
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
        let files: BTreeSet<RepoPath> = edits.files.iter().map(|edit| edit.file.clone()).collect();
        let key = (files, tests.to_vec());
        let (key, pool) = self.pool(key).await;
        let turn = pool.turns.acquire().await;
        let idle = pool.idle.lock().await.pop();
        let mut server = match idle {
            Some(server) => server,
            None => self.start(&key).await?,
        };
        let sources = edits
            .files
            .iter()
            .filter_map(|edit| Some((self.absolute(&edit.file), edit.after.as_deref()?)))
            .collect();
        let request =
            CandidateRequest { sources, tests, limit: limit.as_secs_f64(), stop: stop_at_failure };
        server.send(&request).await.map_err(|e| Self::failed(&e))?;
        let answer: Option<CandidateResponse> =
            server.receive(limit + Duration::from_secs(10)).await.map_err(|e| Self::failed(&e))?;
        let answer = answer.ok_or_else(|| RunError::Io {
            action: "talk to the warm runner".into(),
            reason: "it ended".into(),
        })?;
        pool.idle.lock().await.push(server);
        drop(turn);
        Ok(results(answer, tests, stop_at_failure))
    }
}

/// A test that was requested and is not reported has failed: the candidate hung, crashed, or could
/// not be imported.
fn results(answer: CandidateResponse, tests: &[TestId], stop_at_failure: bool) -> Vec<CaseResult> {
    let mut records: BTreeMap<String, TestRecord> =
        answer.results.into_iter().map(|record| (record.id.clone(), record)).collect();
    let mut results = Vec::new();
    for test in tests {
        let record = records.remove(test.as_str());
        let status = record.as_ref().and_then(|record| record.status).unwrap_or(Status::Failed);
        let failure = record.filter(|_| status == Status::Failed).map(|record| {
            let first = record.message.lines().next().unwrap_or_default().to_owned();
            (record.class, first)
        });
        results.push(CaseResult { test: test.clone(), status, failure });
        if stop_at_failure && status == Status::Failed {
            break;
        }
    }
    results
}
