//! Tries candidates in processes that stay alive between them. One file for each kind of runner.

mod node;
mod python;
mod script;
mod script_trace;
mod v8_coverage;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::{Status, TestCase};
use crate::effect::{CandidateRunner, CandidateRunnerRequest, Lines, RunError, Trace};

use super::super::framework::PersistentRunner;
use super::super::project_suite::ProjectSuite;

/// Opens the runner of the framework; `None` where there is none, or it does not reproduce what the
/// suite reports.
pub async fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
) -> Result<Option<Box<dyn CandidateRunner>>, RunError> {
    match suite.detection.adapter.persistent {
        Some(PersistentRunner::Python) => python::open(suite, request).await,
        Some(PersistentRunner::Node) => node::open(suite, request).await,
        Some(PersistentRunner::Vitest) => script::open(suite, request, &script::VITEST).await,
        Some(PersistentRunner::Jest) => script::open(suite, request, &script::JEST).await,
        None => Ok(None),
    }
}

/// The first of several copies that is free, else the first one's turn; `None` without any.
async fn free<L>(lanes: &[Mutex<L>]) -> Option<MutexGuard<'_, L>> {
    match lanes.iter().find_map(|lane| lane.try_lock().ok()) {
        Some(lane) => Some(lane),
        None => Some(lanes.first()?.lock().await),
    }
}

/// The trace of a test; one that is not reported has failed, and took a second.
fn trace_of(test: &TestId, case: Option<TestCase>, lines: Lines) -> Trace {
    Trace {
        test: test.clone(),
        status: case.as_ref().map_or(Status::Failed, |case| case.status),
        duration: Duration::from_millis(case.as_ref().map_or(1000, |case| case.duration_ms)),
        lines,
        failure: case.and_then(|case| case.failure),
    }
}

/// The file of a test.
fn file_of(test: &TestId) -> &str {
    test.as_str().split("::").next().unwrap_or_default()
}

/// Files of tests, each once, in their order.
fn files_of(tests: &[TestId]) -> Vec<&str> {
    let mut files: Vec<&str> = Vec::new();
    for file in tests.iter().map(file_of) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// Status and message of each test of a file, to compare two ways of running it: a test may fail in
/// both and for another reason.
fn outcomes(cases: Vec<TestCase>, file: &str) -> BTreeMap<TestId, (Status, String)> {
    let own = cases.into_iter().filter(|case| file_of(&case.id) == file);
    own.map(|case| {
        let message = case.failure.map(|failure| failure.message).unwrap_or_default();
        (case.id, (case.status, message))
    })
    .collect()
}

/// Adds executed lines of a file, sorted and each once.
fn add_lines(lines: &mut Lines, file: RepoPath, more: impl IntoIterator<Item = u32>) {
    let known = lines.entry(file).or_default();
    known.extend(more);
    known.sort_unstable();
    known.dedup();
}

fn io_error(path: &Path, error: &std::io::Error) -> RunError {
    RunError::Io { action: format!("use {}", path.display()), reason: error.to_string() }
}
