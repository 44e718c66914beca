//! A copy of the checkout with a Node.js test runner that stays alive and runs one test file per
//! request.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::adapter::host::process::Invocation;
use crate::adapter::suite::format::jest::{self, Writer};
use crate::adapter::suite::format::{PathMapper, ReportedTest, driver_lines, to_test_cases};
use crate::adapter::suite::framework::read_text;
use crate::adapter::suite::io_error::cannot;
use crate::adapter::suite::line_server::LineServer;
use crate::adapter::suite::project_suite::ProjectSuite;
use crate::adapter::suite::suite_command::test_limit;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::EditSet;
use crate::domain::test::TestCase;
use crate::effect::RunError;

use super::super::checkout_copy::{Side, copy_checkout, write_edits};
use super::super::command::CommandRunner;

pub struct ScriptFramework {
    driver: &'static str,
    read: fn(&str) -> Vec<ReportedTest>,
    /// Whether Node.js runs the tests, so that a cold file gets a process of its own.
    pub is_node: bool,
}

/// Node's own runner: a thread with fresh modules for each test file.
pub const NODE: ScriptFramework = ScriptFramework {
    driver: "warm_node.mjs",
    read: |text| driver_lines::parse(text).cases,
    is_node: true,
};

/// Vitest through its Node.js API; verified with 1.6, 2.1, 3.2 and 4.1.
pub const VITEST: ScriptFramework = ScriptFramework {
    driver: "warm_vitest.mjs",
    read: |text| jest::parse(text, Writer::Vitest).map(|report| report.cases).unwrap_or_default(),
    is_node: false,
};

/// Jest in one process; verified with 29.7 and 30.5.
pub const JEST: ScriptFramework = ScriptFramework {
    driver: "warm_jest.mjs",
    read: |text| jest::parse(text, Writer::Jest).map(|report| report.cases).unwrap_or_default(),
    is_node: false,
};

/// Time limit for starting a runner.
const LOADING: Duration = Duration::from_mins(1);

/// Limit of one test file on the unchanged sources.
pub const UNCHANGED: Duration = Duration::from_mins(2);

/// Least time allowed for starting workers, or Node.js itself, on a busy machine.
pub const LEAST: Duration = Duration::from_millis(1500);

/// Memory limit of one Node.js process, in megabytes.
const MEMORY: u32 = 2048;

/// One copy of the checkout, with its runner and its report.
pub struct CheckoutCopy {
    pub framework: &'static ScriptFramework,
    pub root: PathBuf,
    pub paths: PathMapper,
    command: CommandRunner,
    /// Node.js with its arguments, without a script to run.
    pub invocation: Invocation,
    driver: String,
    pub report: PathBuf,
    pub server: Option<LineServer>,
    /// Files written since the last request to the server.
    changed: BTreeSet<PathBuf>,
    /// Files that the server reads only once.
    pub settings: BTreeSet<RepoPath>,
}

#[derive(Serialize)]
struct FileRequest<'a> {
    file: String,
    changed: &'a BTreeSet<PathBuf>,
    limit: f64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RunnerMessage {
    ready: bool,
    ended: bool,
    seconds: f64,
    /// Whether the process uses so much memory that it should be replaced.
    grown: bool,
    settings: BTreeSet<String>,
}

/// The results of a test file, and how long it took; no cases when it hung or ended the process.
#[derive(Default)]
pub struct FileRun {
    pub cases: Vec<TestCase>,
    pub duration: Duration,
    /// Whether the process ended without an answer, before its time was over.
    is_cut: bool,
}

impl CheckoutCopy {
    /// Copies a checkout; starts nothing.
    pub fn open(
        suite: &ProjectSuite<'_>,
        from: &Path,
        number: usize,
        framework: &'static ScriptFramework,
    ) -> Result<Self, RunError> {
        let scratch = &suite.settings.scratch;
        let root = copy_checkout(from, &scratch.join(format!("lane-{number}")))?;
        let report = root.with_extension("report");
        let drivers = scratch.join("drivers");
        let mut argv = vec!["node".to_owned()];
        if framework.is_node {
            let preload = drivers.join("node_tests.cjs");
            argv.push(format!("--require={}", preload.display()));
            let reporter = drivers.join("node_reporter.mjs");
            argv.push(format!("--test-reporter={}", reporter.display()));
            argv.push("--test-reporter-destination=stderr".into());
        }
        let mut invocation = suite.invocation(&root, argv);
        invocation.environment.extend([test_limit(suite.settings.timeout).1]);
        invocation.environment.insert("REGREEN_CASES".into(), report.display().to_string());
        let memory = format!("--max-old-space-size={MEMORY}");
        invocation.environment.insert("NODE_OPTIONS".into(), memory);
        Ok(Self {
            framework,
            paths: suite.path_mapper(&root),
            command: CommandRunner::new(suite, &root),
            invocation,
            driver: drivers.join(framework.driver).display().to_string(),
            report,
            server: None,
            changed: BTreeSet::new(),
            settings: BTreeSet::new(),
            root,
        })
    }

    /// Starts a runner; `None` when it does not become ready.
    pub async fn start(
        &mut self,
        more: &BTreeMap<String, String>,
    ) -> Result<Option<LineServer>, RunError> {
        let mut invocation = self.invocation.clone();
        invocation.argv.extend([self.driver.clone(), self.report.display().to_string()]);
        invocation.environment.extend(more.clone());
        let mut server =
            LineServer::start(&invocation).map_err(cannot("use", Path::new("node")))?;
        match server.receive::<RunnerMessage>(LOADING).await {
            Ok(Some(answer)) if answer.ready => {
                self.remember_settings(&answer);
                Ok(Some(server))
            }
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// Runs one test file in `server`, returned if reusable, with `starting` besides its limit.
    pub async fn run_in(
        &mut self,
        mut server: LineServer,
        file: &str,
        limit: Duration,
        starting: Duration,
    ) -> Result<(Option<LineServer>, FileRun), RunError> {
        let file = self.root.join(file).display().to_string();
        let request = FileRequest { file, changed: &self.changed, limit: limit.as_secs_f64() };
        let answer = match server.send(&request).await {
            Ok(()) => server.receive::<RunnerMessage>(limit + starting).await,
            Err(error) => Err(error),
        };
        // Dropping a server that hangs kills its process group.
        let is_cut = !matches!(&answer, Err(error) if error.kind() == ErrorKind::TimedOut);
        let Ok(Some(answer)) = answer else {
            return Ok((None, FileRun { is_cut, ..FileRun::default() }));
        };
        self.changed.clear();
        self.remember_settings(&answer);
        let server = (!answer.grown).then_some(server);
        if !answer.ended {
            return Ok((server, FileRun::default()));
        }
        let duration = Duration::try_from_secs_f64(answer.seconds).unwrap_or_default();
        Ok((server, FileRun { cases: self.read_report()?, duration, is_cut: false }))
    }

    /// Like `run_in`, in the server of this copy, which is restarted after it ended; `None` when it
    /// cannot be started. A server may end behind what it ran before, which says nothing of this run.
    pub async fn run_warm(
        &mut self,
        file: &str,
        limit: Duration,
        starting: Duration,
    ) -> Result<Option<FileRun>, RunError> {
        if let Some(used) = self.server.take() {
            let (server, run) = self.run_in(used, file, limit, starting).await?;
            if !run.is_cut {
                self.server = server;
                return Ok(Some(run));
            }
        }
        let Some(server) = self.start(&BTreeMap::new()).await? else { return Ok(None) };
        let (server, run) = self.run_in(server, file, limit, starting).await?;
        self.server = server;
        Ok(Some(run))
    }

    /// Runs tests of one file without the server.
    pub async fn run_alone(
        &self,
        file: &str,
        tests: &[TestId],
        limit: Duration,
    ) -> Result<Vec<TestCase>, RunError> {
        if self.framework.is_node {
            self.run_in_process(file, None, None, limit + LEAST).await
        } else {
            self.command.run_edited(tests, limit.max(UNCHANGED)).await
        }
    }

    /// The results in the report of the last run.
    pub fn read_report(&self) -> Result<Vec<TestCase>, RunError> {
        let text = read_text(&self.report)?;
        Ok(to_test_cases(&(self.framework.read)(&text), &self.paths))
    }

    pub fn write(&mut self, edits: &EditSet, side: Side) -> Result<(), RunError> {
        self.changed.extend(edits.files.iter().map(|edit| self.root.join(edit.file.as_str())));
        write_edits(&self.root, edits, side)
    }

    fn remember_settings(&mut self, answer: &RunnerMessage) {
        let read = answer.settings.iter().filter_map(|path| self.paths.repo_path(path));
        self.settings.extend(read);
    }
}
