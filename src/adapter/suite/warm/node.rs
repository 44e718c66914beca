//! Tries candidates on `node --test` suites: copies of the checkout that are kept ready, each with
//! a process that is used again, one thread with fresh modules per candidate and test file; the
//! coverage comes from V8.
//!
//! A thread is not quite a process: it cannot change the folder or take signals. So a file is first
//! run both ways on the unchanged sources, and where the answers differ it keeps its own process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, Ending, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::EditSet;
use crate::domain::test::{Status, TestCase};
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, CaseResult, Lines, RunError, Speed, Trace,
};

use super::super::ProjectSuite;
use super::super::cold::{copy_tree, write_edits};
use super::super::format::{Place, lines, settle_all};
use super::server::Server;
use super::{file_of, files_of, free, traced};

/// Limit of one traced test.
const TRACING: Duration = Duration::from_secs(10);

/// Time that starting Node.js may take on a busy machine.
const STARTING: Duration = Duration::from_millis(1500);

/// Bytes of one coverage file that are read at most.
const COVERAGE_LIMIT: u64 = 64 << 20;

/// One copy of the checkout with what belongs to it.
struct Lane {
    root: PathBuf,
    place: Place,
    environment: BTreeMap<String, String>,
    access: Access,
    scratch: PathBuf,
    directory: String,
    server: Option<Server>,
}

/// How a test file is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// In a thread of the process that is used again.
    Thread,
    /// In a process of its own.
    Process,
}

struct Node {
    reporter: String,
    driver: String,
    lanes: Vec<Mutex<Lane>>,
    ways: Mutex<BTreeMap<String, Way>>,
}

#[derive(Serialize)]
struct Request {
    file: String,
    limit: f64,
}

#[derive(Deserialize)]
struct Answer {
    ended: bool,
}

#[derive(Deserialize)]
struct Coverage {
    result: Vec<Script>,
}

#[derive(Deserialize)]
struct Script {
    url: String,
    functions: Vec<Function>,
}

#[derive(Deserialize)]
struct Function {
    ranges: Vec<Range>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Range {
    start_offset: usize,
    end_offset: usize,
    count: u64,
}

/// Opens the runner, unless it does not reproduce the failing tests.
pub async fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
) -> Result<Option<Box<dyn CandidateRunner>>, RunError> {
    let mut lanes = Vec::new();
    for number in 0..request.jobs.max(1) {
        let root = suite.settings.scratch.join(format!("lane-{number}"));
        let failed = |error: std::io::Error| RunError::Io {
            action: "copy the checkout".into(),
            reason: error.to_string(),
        };
        if root.exists() {
            std::fs::remove_dir_all(&root).map_err(failed)?;
        }
        copy_tree(request.root, &root).map_err(failed)?;
        let root = root.canonicalize().map_err(failed)?;
        lanes.push(Mutex::new(Lane {
            place: suite.place(&root),
            environment: suite.environment(&root),
            access: suite.access(&root),
            scratch: suite.settings.scratch.join(format!("lane-{number}.out")),
            directory: suite.detection.site.directory.clone(),
            root,
            server: None,
        }));
    }
    let drivers = suite.settings.scratch.join("drivers");
    let node = Node {
        reporter: drivers.join("node_reporter.mjs").display().to_string(),
        driver: drivers.join("warm_node.mjs").display().to_string(),
        lanes,
        ways: Mutex::new(BTreeMap::new()),
    };
    // Without a failure to reproduce, the caller compares what passes.
    let Some(first) = request.failing.get(..1) else { return Ok(Some(Box::new(node))) };
    let traces = node.trace(first).await?;
    let reproduced = traces.iter().any(|trace| trace.status == Status::Failed);
    Ok(reproduced.then(|| Box::new(node) as Box<dyn CandidateRunner>))
}

impl Lane {
    /// Runs one test file; `None` when it hung or told nothing.
    async fn run(
        &self,
        reporter: &str,
        file: &str,
        pattern: Option<&str>,
        coverage: Option<&Path>,
        limit: Duration,
    ) -> Result<Vec<TestCase>, RunError> {
        let cases = self.cases();
        files::write(&cases, b"").map_err(|error| io(&cases, &error))?;
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
            process::run(&invocation, limit, &log).await.map_err(|error| io(&log, &error))?;
        if ending == Ending::TimedOut {
            return Ok(Vec::new());
        }
        self.told()
    }

    /// The same in a thread of the process that is used again.
    async fn run_warm(
        &mut self,
        node: &Node,
        file: &str,
        limit: Duration,
    ) -> Result<Vec<TestCase>, RunError> {
        let cases = self.cases();
        files::write(&cases, b"").map_err(|error| io(&cases, &error))?;
        let mut server = if let Some(server) = self.server.take() {
            server
        } else {
            let argv = [self.argv(&node.reporter), vec![node.driver.clone()]].concat();
            let directory = self.root.join(&self.directory);
            let environment = self.environment.clone();
            let access = Some(self.access.clone());
            Server::start(&Invocation { argv, directory, environment, access })
                .map_err(|error| io(Path::new("node"), &error))?
        };
        let file = self.root.join(file).display().to_string();
        let asked = server.send(&Request { file, limit: limit.as_secs_f64() }).await;
        let answer = match asked {
            Ok(()) => server.receive::<Answer>(limit + STARTING).await,
            Err(error) => Err(error),
        };
        // One that died or does not answer is replaced; the candidate hung or ended the process.
        let Ok(Some(answer)) = answer else { return Ok(Vec::new()) };
        self.server = Some(server);
        if answer.ended { self.told() } else { Ok(Vec::new()) }
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

    fn told(&self) -> Result<Vec<TestCase>, RunError> {
        let cases = self.cases();
        let bytes = files::read_left(&cases, COVERAGE_LIMIT).map_err(|error| io(&cases, &error))?;
        let told = lines::parse(&String::from_utf8_lossy(&bytes.unwrap_or_default())).told;
        Ok(settle_all(&told, &self.place))
    }
}

impl Node {
    /// How a file is run, found out on the unchanged sources of `lane`.
    async fn way(&self, lane: &mut Lane, file: &str) -> Result<Way, RunError> {
        if let Some(way) = self.ways.lock().await.get(file) {
            return Ok(*way);
        }
        // A test may fail either way and for another reason.
        let endings = |cases: Vec<TestCase>| -> BTreeMap<TestId, (Status, String)> {
            let said = |case: &TestCase| case.failure.as_ref().map(|said| said.message.clone());
            let ending = |case: TestCase| {
                let said = said(&case).unwrap_or_default();
                (case.id, (case.status, said))
            };
            cases.into_iter().map(ending).collect()
        };
        let alone = endings(lane.run(&self.reporter, file, None, None, TRACING).await?);
        let warm = endings(lane.run_warm(self, file, TRACING).await?);
        let way = if warm == alone && !alone.is_empty() { Way::Thread } else { Way::Process };
        self.ways.lock().await.insert(file.to_owned(), way);
        Ok(way)
    }
}

fn io(path: &Path, error: &std::io::Error) -> RunError {
    RunError::Io { action: format!("use {}", path.display()), reason: error.to_string() }
}

/// A pattern that matches a test and the suites around it.
fn pattern_of(test: &TestId) -> String {
    let names = test.as_str().split_once("::").map_or("", |(_, names)| names);
    let names: Vec<String> = names.split(" > ").map(regex::escape).collect();
    format!("^({})$", names.join("|"))
}

#[async_trait]
impl CandidateRunner for Node {
    fn speed(&self) -> Speed {
        Speed::Warm
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let Some(lane) = self.lanes.first() else { return Ok(Vec::new()) };
        let lane = lane.lock().await;
        let mut traces = Vec::new();
        for test in tests {
            let folder = lane.scratch.with_extension("coverage");
            if folder.exists() {
                std::fs::remove_dir_all(&folder).map_err(|error| io(&folder, &error))?;
            }
            let pattern = pattern_of(test);
            let cases = lane
                .run(&self.reporter, file_of(test), Some(&pattern), Some(&folder), TRACING)
                .await?;
            let case = cases.into_iter().find(|case| case.id == *test);
            traces.push(traced(test, case, executed(&folder, &lane.place)?));
        }
        Ok(traces)
    }

    async fn judge(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop_at_failure: bool,
    ) -> Result<Vec<CaseResult>, RunError> {
        let Some(mut lane) = free(&self.lanes).await else { return Ok(Vec::new()) };
        // In the order of the tests, which begins with those that fail.
        let mut wanted: Vec<(&str, Way)> = Vec::new();
        for file in files_of(tests) {
            wanted.push((file, self.way(&mut lane, file).await?));
        }
        write_edits(&lane.root, edits, true)?;
        let mut cases: BTreeMap<TestId, TestCase> = BTreeMap::new();
        let mut failed = false;
        let mut error = None;
        for (file, way) in wanted {
            if failed && stop_at_failure {
                break;
            }
            let ran = match way {
                Way::Thread => lane.run_warm(self, file, limit).await,
                Way::Process => lane.run(&self.reporter, file, None, None, limit + STARTING).await,
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
        write_edits(&lane.root, edits, false)?;
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

/// Lines that V8 says were executed, by file of the repository.
fn executed(folder: &Path, place: &Place) -> Result<Lines, RunError> {
    let mut lines = Lines::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(lines) };
    for entry in entries.flatten() {
        let path = entry.path();
        let bytes = files::read_left(&path, COVERAGE_LIMIT).map_err(|error| io(&path, &error))?;
        let Ok(coverage) = serde_json::from_slice::<Coverage>(&bytes.unwrap_or_default()) else {
            continue;
        };
        for script in coverage.result {
            let Some(file) = place.inside(&script.url) else { continue };
            let source = place.root.join(file.as_str());
            let bytes =
                files::read_left(&source, COVERAGE_LIMIT).map_err(|error| io(&source, &error))?;
            let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
            add(&mut lines, file, covered(&text, &script.functions));
        }
    }
    Ok(lines)
}

fn add(lines: &mut Lines, file: RepoPath, more: Vec<u32>) {
    let known = lines.entry(file).or_default();
    known.extend(more);
    known.sort_unstable();
    known.dedup();
}

/// Lines whose first character lies in a range that ran; the innermost range decides. What closes
/// the block before it does not count: in `} else if (a) {` the condition is what runs.
fn covered(text: &str, functions: &[Function]) -> Vec<u32> {
    let ranges: Vec<&Range> = functions.iter().flat_map(|function| &function.ranges).collect();
    let mut found = Vec::new();
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let closing = |c: char| c.is_whitespace() || "})];,".contains(c);
        let code = line.trim_start_matches(closing);
        let code = if code.is_empty() { line.trim_start() } else { code };
        let place = offset + line.encode_utf16().count() - code.encode_utf16().count();
        let innermost = ranges
            .iter()
            .filter(|range| range.start_offset <= place && place < range.end_offset)
            .min_by_key(|range| range.end_offset - range.start_offset);
        if !line.trim().is_empty() && innermost.is_some_and(|range| range.count > 0) {
            found.push(u32::try_from(number + 1).unwrap_or(u32::MAX));
        }
        offset += line.encode_utf16().count();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_range_says_whether_a_line_ran() {
        let text = "const a = 1;\nfunction f() {\n  return 2;\n}\n";
        let ranges = |start: usize, end: usize, count| Function {
            ranges: vec![Range { start_offset: start, end_offset: end, count }],
        };
        let functions = [ranges(0, text.len(), 1), ranges(13, 41, 0)];
        assert_eq!(covered(text, &functions), [1]);
        let functions = [ranges(0, text.len(), 1), ranges(13, 41, 3)];
        assert_eq!(covered(text, &functions), [1, 2, 3, 4]);
        // The first branch did not run, and the condition of the second one did.
        let text = "if (a) {\n  b();\n} else if (c) {\n  d();\n}\n";
        let branches = [ranges(0, text.len(), 1), ranges(7, 17, 0), ranges(31, 41, 0)];
        assert_eq!(covered(text, &branches), [1, 3]);
    }
}
