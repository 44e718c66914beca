//! Tries candidates in prepared processes. One file per way of keeping them.

mod kept;
mod node;
mod python;
mod server;

pub use server::Server;

use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

use crate::domain::id::TestId;
use crate::domain::test::{Status, TestCase};
use crate::effect::{CandidateRunner, CandidateRunnerRequest, Lines, RunError, Trace};

use super::ProjectSuite;

/// Opens a warm trial; `None` where the framework has no warm runner, or the runner does not see
/// what the suite sees.
pub async fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
) -> Result<Option<Box<dyn CandidateRunner>>, RunError> {
    match suite.detection.facts.framework.as_str() {
        "unittest" | "pytest" => python::open(suite, request).await,
        "node --test" => node::open(suite, request).await,
        "Vitest" => kept::open(suite, request, &kept::VITEST).await,
        "Jest" => kept::open(suite, request, &kept::JEST).await,
        _ => Ok(None),
    }
}

/// The first of several copies that is free, else the first one's turn; `None` without any.
async fn free<L>(lanes: &[Mutex<L>]) -> Option<MutexGuard<'_, L>> {
    match lanes.iter().find_map(|lane| lane.try_lock().ok()) {
        Some(lane) => Some(lane),
        None => Some(lanes.first()?.lock().await),
    }
}

/// A test on the unchanged sources; one that was not told of has failed, and took a second.
fn traced(test: &TestId, case: Option<TestCase>, lines: Lines) -> Trace {
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
