//! Tries candidates on Vitest and Jest suites: copies of the checkout that are kept ready, each with a
//! runner that has started once and transforms again only what changed; `driver/warm_vitest.mjs` and
//! `driver/warm_jest.mjs` are its other halves. Every run gets modules of its own, in workers as the
//! project's pool and isolation say, or in an environment as Jest gives to each file.
//!
//! A test file is first run both modes on the unchanged sources; where the answers differ it keeps the
//! suite's own command. So does a candidate that changes what the runner reads once, at its start.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::adapter::host::files;
use crate::adapter::host::process::Invocation;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::EditSet;
use crate::domain::test::{Status, TestCase};
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, CaseResult, Lines, RunError, Speed, Trace,
};

use crate::adapter::suite::format::jest::{self, Writer};
use crate::adapter::suite::format::{PathMapper, REPORT_LIMIT, to_test_cases};
use crate::adapter::suite::line_server::LineServer;
use crate::adapter::suite::project_suite::ProjectSuite;

use super::super::checkout_copy::{Side, copy_checkout, write_edits};
use super::super::command::{CommandRunner, case_results};
use super::script_trace::{TestKey, executed_lines, test_key};
use super::{file_of, files_of, free, io_error, outcomes, trace_of};

/// One framework.
pub struct ScriptFramework {
    driver: &'static str,
    writer: Writer,
}

/// Vitest, by its Node API; tried with 1.6, 2.1, 3.2 and 4.1.
pub const VITEST: ScriptFramework =
    ScriptFramework { driver: "warm_vitest.mjs", writer: Writer::Vitest };

/// Jest, in one process; tried with 29.7 and 30.5.
pub const JEST: ScriptFramework = ScriptFramework { driver: "warm_jest.mjs", writer: Writer::Jest };

/// Time in which a runner must start.
const LOADING: Duration = Duration::from_mins(1);

/// Limit of one test file on the unchanged sources.
const UNCHANGED: Duration = Duration::from_mins(2);

/// A run may take so many times what it duration on the unchanged sources, besides the limit of its
/// tests: new workers start slower while others run.
const STARTING: u32 = 3;

/// The least that is allowed for starting workers.
const LEAST: Duration = Duration::from_millis(1500);

/// Memory of one process of Node.js, in megabytes.
const MEMORY: u32 = 2048;

/// Names of files that say how sources are read.
const SETTINGS: &[&str] = &[
    "package.json",
    "tsconfig",
    "jsconfig",
    ".env",
    ".swcrc",
    ".babelrc",
    "babel.config.",
    "jest.",
    "vite.",
    "vitest.",
];

/// One copy of the checkout with what belongs to it.
struct CheckoutCopy {
    framework: &'static ScriptFramework,
    root: PathBuf,
    paths: PathMapper,
    command: CommandRunner,
    invocation: Invocation,
    report: PathBuf,
    server: Option<LineServer>,
    /// Files written since the last request to the server.
    changed: BTreeSet<PathBuf>,
    /// Files that the server read once.
    settings: BTreeSet<RepoPath>,
}

/// How a test file is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunMode {
    /// In the runner that is kept; with what it takes to start workers.
    Warm(Duration),
    /// By the suite's own command.
    Command,
}

struct ScriptRunner {
    copies: Vec<Mutex<CheckoutCopy>>,
    modes: Mutex<BTreeMap<String, RunMode>>,
    /// Files that any copy's server read once.
    settings: Mutex<BTreeSet<RepoPath>>,
}

#[derive(Serialize)]
struct FileRequest<'a> {
    file: String,
    changed: &'a BTreeSet<PathBuf>,
}

#[derive(Deserialize)]
struct RunnerMessage {
    #[serde(default)]
    ready: bool,
    #[serde(default)]
    ended: bool,
    #[serde(default)]
    seconds: f64,
    /// It has taken so much memory that another should be started.
    #[serde(default)]
    grown: bool,
    #[serde(default)]
    settings: BTreeSet<String>,
}

/// A run in a server, with the server where it can be used again.
#[derive(Default)]
struct ServerRun {
    server: Option<LineServer>,
    run: Option<FileRun>,
}

/// The results of a test file, and how long it took.
#[derive(Default)]
struct FileRun {
    cases: Vec<TestCase>,
    duration: Duration,
}

/// Opens the runner, unless it cannot be kept here or does not reproduce the failing tests.
pub async fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
    framework: &'static ScriptFramework,
) -> Result<Option<Box<dyn CandidateRunner>>, RunError> {
    let mut copies = Vec::new();
    for number in 0..request.jobs.max(1) {
        copies.push(Mutex::new(open_copy(suite, request.root, number, framework)?));
    }
    let runner = ScriptRunner { copies, modes: Mutex::default(), settings: Mutex::default() };
    if let Some(first) = runner.copies.first() {
        let mut copy = first.lock().await;
        copy.server = copy.start(&BTreeMap::new()).await?;
        if copy.server.is_none() {
            return Ok(None);
        }
    }
    // Without a failure to reproduce, the caller compares what passes.
    let Some(first) = request.failing.get(..1) else { return Ok(Some(Box::new(runner))) };
    let traces = runner.trace(first).await?;
    let reproduced = traces.iter().any(|trace| trace.status == Status::Failed);
    Ok(reproduced.then(|| Box::new(runner) as Box<dyn CandidateRunner>))
}

fn open_copy(
    suite: &ProjectSuite<'_>,
    from: &Path,
    number: usize,
    framework: &'static ScriptFramework,
) -> Result<CheckoutCopy, RunError> {
    let scratch = &suite.settings.scratch;
    let root = copy_checkout(from, &scratch.join(format!("lane-{number}")))?;
    let report = root.with_extension("report");
    let driver = scratch.join("drivers").join(framework.driver);
    let mut environment = suite.environment(&root);
    environment.insert("NODE_OPTIONS".into(), format!("--max-old-space-size={MEMORY}"));
    let argv = ["node".into(), driver.display().to_string(), report.display().to_string()];
    Ok(CheckoutCopy {
        framework,
        paths: suite.path_mapper(&root),
        command: CommandRunner::new(suite, &root),
        invocation: Invocation {
            argv: argv.into(),
            directory: suite.site(&root).folder(),
            environment,
            access: Some(suite.access(&root)),
        },
        report,
        server: None,
        changed: BTreeSet::new(),
        settings: BTreeSet::new(),
        root,
    })
}

impl CheckoutCopy {
    /// A runner that is ready; `None` where it cannot be had.
    async fn start(
        &mut self,
        more: &BTreeMap<String, String>,
    ) -> Result<Option<LineServer>, RunError> {
        let mut invocation = self.invocation.clone();
        invocation.environment.extend(more.clone());
        let mut server =
            LineServer::start(&invocation).map_err(|error| io_error(Path::new("node"), &error))?;
        match server.receive::<RunnerMessage>(LOADING).await {
            Ok(Some(answer)) if answer.ready => {
                self.remember_settings(&answer);
                Ok(Some(server))
            }
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// Runs one test file in `server`. The server is returned where it can be used again; the run is
    /// `None` when the file hung or ended the process.
    async fn run_in(
        &mut self,
        mut server: LineServer,
        file: &str,
        limit: Duration,
    ) -> Result<ServerRun, RunError> {
        let file = self.root.join(file).display().to_string();
        let sent = server.send(&FileRequest { file, changed: &self.changed }).await;
        let answer = match sent {
            Ok(()) => server.receive::<RunnerMessage>(limit).await,
            Err(error) => Err(error),
        };
        // A process that hangs ends with its process group.
        let Ok(Some(answer)) = answer else { return Ok(ServerRun::default()) };
        self.changed.clear();
        self.remember_settings(&answer);
        let server = (!answer.grown).then_some(server);
        if !answer.ended {
            return Ok(ServerRun { server, run: None });
        }
        let bytes = files::read_left(&self.report, REPORT_LIMIT)
            .map_err(|error| io_error(&self.report, &error))?;
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        let tests = jest::parse(&text, self.framework.writer).unwrap_or_default();
        let duration = Duration::try_from_secs_f64(answer.seconds).unwrap_or_default();
        let cases = to_test_cases(&tests, &self.paths);
        Ok(ServerRun { server, run: Some(FileRun { cases, duration }) })
    }

    /// The same in the server of this copy, which is started again after it ended. `None` when it
    /// cannot be started; no cases when the file hung or ended the process.
    async fn run_warm(&mut self, file: &str, limit: Duration) -> Result<Option<FileRun>, RunError> {
        let server = match self.server.take() {
            Some(server) => Some(server),
            None => self.start(&BTreeMap::new()).await?,
        };
        let Some(server) = server else { return Ok(None) };
        let ServerRun { server, run } = self.run_in(server, file, limit).await?;
        self.server = server;
        Ok(Some(run.unwrap_or_default()))
    }

    fn write(&mut self, edits: &EditSet, side: Side) -> Result<(), RunError> {
        self.changed.extend(edits.files.iter().map(|edit| self.root.join(edit.file.as_str())));
        write_edits(&self.root, edits, side)
    }

    fn remember_settings(&mut self, answer: &RunnerMessage) {
        let read = answer.settings.iter().filter_map(|path| self.paths.repo_path(path));
        self.settings.extend(read);
    }
}

/// Whether an edit changes what a runner reads once, or which files there are.
fn steers(edits: &EditSet, settings: &BTreeSet<RepoPath>) -> bool {
    edits.files.iter().any(|edit| {
        let name = edit.file.file_name();
        edit.before.is_none()
            || edit.after.is_none()
            || SETTINGS.iter().any(|known| name.starts_with(known))
            || settings.contains(&edit.file)
    })
}

impl ScriptRunner {
    /// How a file is run, found out on the unchanged sources of `copy`.
    async fn mode(&self, copy: &mut CheckoutCopy, file: &str) -> Result<RunMode, RunError> {
        if let Some(mode) = self.modes.lock().await.get(file) {
            return Ok(*mode);
        }
        let alone = copy.command.run_edited(&[TestId(file.to_owned())], UNCHANGED).await?;
        let FileRun { cases, duration } = copy.run_warm(file, UNCHANGED).await?.unwrap_or_default();
        let alone = outcomes(alone, file);
        let same = !alone.is_empty() && outcomes(cases, file) == alone;
        let mode =
            if same { RunMode::Warm(LEAST.max(duration * STARTING)) } else { RunMode::Command };
        self.modes.lock().await.insert(file.to_owned(), mode);
        Ok(mode)
    }
}

#[async_trait]
impl CandidateRunner for ScriptRunner {
    fn speed(&self) -> Speed {
        Speed::Warm
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let Some(copy) = self.copies.first() else { return Ok(Vec::new()) };
        let mut copy = copy.lock().await;
        let out = copy.root.with_extension("lines");
        let environment = [
            ("REGREEN_LINES".to_owned(), out.display().to_string()),
            ("REGREEN_ROOT".to_owned(), copy.root.display().to_string()),
        ];
        let environment = environment.into();
        let mut server = None;
        let mut cases: BTreeMap<TestId, TestCase> = BTreeMap::new();
        let mut lines: BTreeMap<TestKey, Lines> = BTreeMap::new();
        for file in files_of(tests) {
            files::write(&out, b"").map_err(|error| io_error(&out, &error))?;
            let own = match server.take() {
                Some(server) => server,
                None => match copy.start(&environment).await? {
                    Some(server) => server,
                    None => break,
                },
            };
            let traced = copy.run_in(own, file, UNCHANGED).await?;
            server = traced.server;
            let run = traced.run.unwrap_or_default();
            cases.extend(run.cases.into_iter().map(|case| (case.id.clone(), case)));
            let bytes =
                files::read_left(&out, REPORT_LIMIT).map_err(|error| io_error(&out, &error))?;
            let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
            lines.extend(executed_lines(&text, &copy.paths));
        }
        let traces = tests.iter().map(|test| {
            trace_of(test, cases.remove(test), lines.remove(&test_key(test)).unwrap_or_default())
        });
        Ok(traces.collect())
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
        let mut modes: Vec<(&str, RunMode)> = Vec::new();
        for file in files_of(tests) {
            modes.push((file, self.mode(&mut copy, file).await?));
        }
        let steers = {
            let mut settings = self.settings.lock().await;
            settings.extend(copy.settings.iter().cloned());
            steers(edits, &settings)
        };
        copy.write(edits, Side::After)?;
        let run = FilesRun { files: &modes, tests, limit, steers, stop_at_failure };
        let cases = run.run(&mut copy).await;
        copy.write(edits, Side::Before)?;
        Ok(case_results(&cases?, tests, stop_at_failure))
    }
}

/// Runs of several test files on one candidate.
struct FilesRun<'a> {
    files: &'a [(&'a str, RunMode)],
    tests: &'a [TestId],
    limit: Duration,
    /// Whether the candidate changes what a server reads once.
    steers: bool,
    stop_at_failure: bool,
}

impl FilesRun<'_> {
    /// Runs the files in a copy, up to the first with a failing test where that is requested.
    async fn run(&self, copy: &mut CheckoutCopy) -> Result<Vec<TestCase>, RunError> {
        let mut cases = Vec::new();
        for (file, mode) in self.files {
            let selected: Vec<TestId> =
                self.tests.iter().filter(|test| file_of(test) == *file).cloned().collect();
            let warm = match mode {
                RunMode::Warm(starting) if !self.steers => {
                    copy.run_warm(file, self.limit + *starting).await?
                }
                RunMode::Warm(_) | RunMode::Command => None,
            };
            let of_file = match warm {
                Some(run) => run.cases,
                None => copy.command.run_edited(&selected, self.limit.max(UNCHANGED)).await?,
            };
            let failed = case_results(&of_file, &selected, true)
                .iter()
                .any(|result| result.status == Status::Failed);
            cases.extend(of_file);
            if failed && self.stop_at_failure {
                break;
            }
        }
        Ok(cases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::proposal::FileEdit;

    #[test]
    fn what_is_read_once_is_not_tried_warm() {
        let edit = |file: &str, before: Option<&str>| EditSet {
            files: vec![FileEdit {
                file: RepoPath::parse(file).unwrap(),
                before: before.map(str::to_owned),
                after: Some(String::new()),
            }],
        };
        let settings = [RepoPath::parse("test/before-all.ts").unwrap()].into();
        let table = [
            ("src/cart.ts", false),
            ("tsconfig.build.json", true),
            ("packages/a/vitest.config.ts", true),
            ("test/before-all.ts", true),
            ("src/vite-like.ts", false),
        ];
        for (file, expected) in table {
            assert_eq!(steers(&edit(file, Some("")), &settings), expected, "{file}");
        }
        assert!(steers(&edit("src/cart.ts", None), &settings), "a file that was not there");
    }

    #[test]
    fn files_come_in_the_order_of_their_tests() {
        let tests = ["b.ts::x", "a.ts::y", "b.ts::z"].map(TestId::from);
        assert_eq!(files_of(&tests), ["b.ts", "a.ts"]);
    }
}
