//! The persistent runner for unittest and pytest; its Python side is `driver/warm_python.py`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;

use crate::adapter::host::process::Invocation;
use crate::domain::framework::Framework;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::EditSet;
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, CaseResult, Lines, RunError, Speed, Trace,
};

use super::super::command::{case_results, file_of, trace_of};
use super::add_lines;
use crate::adapter::suite::format::PathMapper;
use crate::adapter::suite::format::driver_lines::Line;
use crate::adapter::suite::framework::PythonCommand;
use crate::adapter::suite::line_server::LineServer;
use crate::adapter::suite::project_suite::ProjectSuite;

/// Time limit for loading the tests.
const LOADING: Duration = Duration::from_mins(2);

/// Time limit for one test while its lines are recorded; the driver stops most after 3 s.
const TRACING: Duration = Duration::from_secs(40);

/// Time that the driver may take for an answer, besides that of the tests: it may first compare two
/// ways to load them, which a test that hangs makes last for half a minute.
const ANSWERING: Duration = Duration::from_secs(45);

/// Pools of processes that are kept at the same time.
const POOLS: usize = 8;

/// The first process of a pool runs this long before others start: about a start's cost.
const ALONE: Duration = Duration::from_millis(400);

#[derive(Serialize)]
struct SetUpRequest<'a> {
    framework: &'a str,
    root: String,
    files: Vec<String>,
    tests: Vec<&'a TestId>,
    arguments: &'a [String],
    from_folder: bool,
    trace: bool,
}

#[derive(Serialize)]
struct CandidateRequest<'a> {
    sources: BTreeMap<String, &'a str>,
    tests: &'a [TestId],
    limit: f64,
    stop: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReadyMessage {
    ready: bool,
    /// Why it is not.
    why: String,
}

#[derive(Deserialize)]
struct CandidateResponse {
    results: Vec<Line>,
}

/// The key of a pool: files under repair, and files or classes of loaded tests.
type PoolKey = (BTreeSet<RepoPath>, BTreeSet<TestId>);

/// The idle processes of one key.
struct Pool {
    idle: Mutex<Vec<LineServer>>,
    turns: Semaphore,
    /// What a process of it was used for; `None` once as many may start as there are jobs.
    used_alone: Mutex<Option<Duration>>,
}

impl Pool {
    /// Counts a use, and lets `others` start when one process has been used enough.
    async fn count_use(&self, spent: Duration, others: usize) {
        let mut used = self.used_alone.lock().await;
        let Some(before) = *used else { return };
        let is_enough = before + spent >= ALONE;
        *used = (!is_enough).then_some(before + spent);
        if is_enough {
            self.turns.add_permits(others);
        }
    }
}

pub struct PythonRunner {
    framework: Framework,
    invocation: Invocation,
    paths: PathMapper,
    root: PathBuf,
    /// Of the suite's own command, for unittest.
    arguments: Vec<String>,
    from_folder: bool,
    jobs: usize,
    /// Most recently used last.
    pools: Mutex<Vec<(PoolKey, Arc<Pool>)>>,
}

/// Creates a runner; its processes start when they are needed.
pub fn open(suite: &ProjectSuite<'_>, request: &CandidateRunnerRequest<'_>) -> PythonRunner {
    let site = suite.site(request.root);
    let driver = suite.settings.scratch.join("drivers/warm_python.py");
    let framework = suite.detection.facts.framework;
    let python = PythonCommand::of(&site, framework.name());
    let argv = python.running(&[driver.display().to_string()]);
    PythonRunner {
        framework,
        invocation: suite.invocation(request.root, argv),
        paths: suite.path_mapper(request.root),
        root: request.root.to_owned(),
        arguments: python.arguments(),
        from_folder: python.from_folder,
        jobs: request.jobs.max(1),
        pools: Mutex::new(Vec::new()),
    }
}

/// The class of a unittest test, such as `shop.test_cart.CartTest`; none for a failed module.
fn class_of(test: &TestId) -> Option<TestId> {
    let group = test.group();
    let (_, class) = group.as_str().rsplit_once('.')?;
    class.starts_with(|first: char| first.is_uppercase()).then_some(group)
}

fn failed(error: &std::io::Error) -> RunError {
    RunError::Io { action: "talk to the warm runner".into(), reason: error.to_string() }
}

impl PythonRunner {
    async fn load_tests(
        &self,
        files: &BTreeSet<RepoPath>,
        tests: Vec<&TestId>,
        trace: bool,
    ) -> Result<LineServer, RunError> {
        let set_up = SetUpRequest {
            framework: self.framework.name(),
            root: self.root.display().to_string(),
            files: files.iter().map(|file| self.absolute(file)).collect(),
            tests,
            arguments: &self.arguments,
            from_folder: self.from_folder,
            trace,
        };
        let mut server = LineServer::start(&self.invocation).map_err(|e| failed(&e))?;
        server.send(&set_up).await.map_err(|e| failed(&e))?;
        Ok(server)
    }

    fn absolute(&self, file: &RepoPath) -> String {
        self.root.join(file.as_str()).display().to_string()
    }

    /// Starts a process that waits at the import of a module under repair.
    async fn start_warm(&self, (files, groups): &PoolKey) -> Result<LineServer, RunError> {
        let mut server = self.load_tests(files, groups.iter().collect(), false).await?;
        let ready = server.receive::<ReadyMessage>(LOADING).await.map_err(|e| failed(&e))?;
        match ready {
            Some(ready) if ready.ready => Ok(server),
            ready => Err(RunError::Io {
                action: "prepare a warm process".into(),
                reason: ready.map_or_else(|| "it ended".into(), |ready| ready.why),
            }),
        }
    }

    /// The pool for files and tests. Processes load whole files or classes of tests, because each
    /// request selects the tests it needs, and most searches ask for several of one file.
    async fn pool_of(&self, files: BTreeSet<RepoPath>, tests: &[TestId]) -> (PoolKey, Arc<Pool>) {
        let group = |test: &TestId| match self.framework {
            Framework::Pytest => file_of(test).into(),
            _ => class_of(test).unwrap_or_else(|| test.clone()),
        };
        let key = (files, tests.iter().map(group).collect::<BTreeSet<_>>());
        let mut pools = self.pools.lock().await;
        let fits = |known: &PoolKey| known.0 == key.0 && known.1.is_superset(&key.1);
        let entry = if let Some(index) = pools.iter().position(|(known, _)| fits(known)) {
            pools.remove(index)
        } else {
            if pools.len() >= POOLS {
                pools.remove(0);
            }
            let pool = Pool {
                idle: Mutex::new(Vec::new()),
                turns: Semaphore::new(1),
                used_alone: Mutex::new(Some(Duration::ZERO)),
            };
            (key, Arc::new(pool))
        };
        pools.push((entry.0.clone(), Arc::clone(&entry.1)));
        entry
    }
}

#[async_trait]
impl CandidateRunner for PythonRunner {
    fn speed(&self) -> Speed {
        Speed::Warm
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let mut server = self.load_tests(&BTreeSet::new(), tests.iter().collect(), true).await?;
        let mut traces: Vec<Trace> = Vec::new();
        let mut at_import = Lines::new();
        // A test that never ends stops the trace; the records before it are complete.
        let mut limit = LOADING;
        while let Ok(Some(mut record)) = server.receive::<Line>(limit).await {
            limit = TRACING;
            if record.end {
                break;
            }
            let own = std::mem::take(&mut record.lines).into_iter();
            let mut lines: Lines = own
                .filter_map(|(file, lines)| Some((RepoPath::parse(file).ok()?, lines)))
                .collect();
            if record.id.is_empty() {
                at_import = lines;
                continue;
            }
            let mut loaded = at_import.clone();
            for (file, more) in &mut loaded {
                let own = lines.get(file).map(Vec::as_slice).unwrap_or_default();
                more.retain(|line| own.binary_search(line).is_err());
                add_lines(&mut lines, file.clone(), more.iter().copied());
            }
            // Most tests take less than a millisecond, to which reports round.
            let duration = Duration::try_from_secs_f64(record.ms / 1000.0).unwrap_or_default();
            let case = self.paths.to_test_case(&record.into());
            traces.push(Trace { duration, loaded, ..trace_of(case, lines) });
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
        let (key, pool) = self.pool_of(files, tests).await;
        let turn = pool.turns.acquire().await;
        let idle = pool.idle.lock().await.pop();
        let mut server = match idle {
            Some(server) => server,
            None => self.start_warm(&key).await?,
        };
        let began = Instant::now();
        let sources = edits
            .files
            .iter()
            .filter_map(|edit| Some((self.absolute(&edit.file), edit.after.as_deref()?)))
            .collect();
        let request =
            CandidateRequest { sources, tests, limit: limit.as_secs_f64(), stop: stop_at_failure };
        server.send(&request).await.map_err(|e| failed(&e))?;
        let answer: Option<CandidateResponse> =
            server.receive(limit + ANSWERING).await.map_err(|e| failed(&e))?;
        let answer = answer.ok_or_else(|| RunError::Io {
            action: "talk to the warm runner".into(),
            reason: "it ended".into(),
        })?;
        pool.idle.lock().await.push(server);
        pool.count_use(began.elapsed(), self.jobs - 1).await;
        drop(turn);
        let cases =
            answer.results.into_iter().map(|record| self.paths.to_test_case(&record.into()));
        Ok(case_results(&cases.collect::<Vec<_>>(), tests, stop_at_failure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tests_of_a_class_are_loaded_by_their_class() {
        let table = [
            ("test_cart.CartTest.test_total", Some("test_cart.CartTest")),
            ("shop.test_cart.CartTest.setUpClass", Some("shop.test_cart.CartTest")),
            ("test_cart", None),
            ("shop.test_cart", None),
            ("Shop.test_cart", None),
            ("shop.test_cart.setUpModule", None),
        ];
        for (test, expected) in table {
            assert_eq!(class_of(&test.into()), expected.map(TestId::from), "{test}");
        }
    }
}
