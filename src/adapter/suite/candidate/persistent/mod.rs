//! Candidate runners whose processes stay alive between candidates; one file for each kind.

mod java;
mod node;
mod python;
mod script;
mod script_copy;
mod script_trace;
mod v8_coverage;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::{Status, TestCase};
use crate::effect::{CandidateRunner, CandidateRunnerRequest, Lines, RunError, Trace};

use super::super::framework::{PersistentRunner, is_django};
use super::super::project_suite::ProjectSuite;
use super::command::{file_of, trace_of};

/// Opens the framework's persistent runner; `None` if it does not reproduce the suite's results.
pub async fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
) -> Result<Option<Box<dyn CandidateRunner>>, RunError> {
    let framework = match suite.detection.adapter.persistent {
        // Databases and settings of Django are prepared by its own command.
        Some(PersistentRunner::Python) if is_django(&suite.site(request.root)) => return Ok(None),
        Some(PersistentRunner::Python) => None,
        Some(PersistentRunner::Node) => Some(&script_copy::NODE),
        Some(PersistentRunner::Vitest) => Some(&script_copy::VITEST),
        Some(PersistentRunner::Jest) => Some(&script_copy::JEST),
        None if request.failing.is_empty() => {
            return Ok(
                java::open(suite, request).map(|one| Box::new(one) as Box<dyn CandidateRunner>)
            );
        }
        None => return Ok(None),
    };
    // What does not load names no test that a process could run, and a hook is not run by itself.
    if request.failing.iter().any(|case| case.kind.is_only_reported_as_failed()) {
        return Ok(None);
    }
    let mut failing: Vec<TestId> = request.failing.iter().map(|case| case.id.clone()).collect();
    let runner: Box<dyn CandidateRunner> = match framework {
        None => Box::new(python::open(suite, request)),
        Some(framework) => {
            // Each trace takes a start of the runner, so one test has to do.
            failing.truncate(1);
            match script::open(suite, request, framework).await? {
                Some(runner) => Box::new(runner),
                None => return Ok(None),
            }
        }
    };
    // A test that fails in the suite must fail here too, or candidates would be judged on something
    // else. Without failing tests, the caller compares the passing ones.
    if failing.is_empty() {
        return Ok(Some(runner));
    }
    let traces = match runner.trace(&failing).await {
        Ok(traces) => traces,
        Err(error) => {
            tracing::info!(%error, "the warm runner is not used");
            return Ok(None);
        }
    };
    let failed = |trace: &Trace| trace.status == Status::Failed && failing.contains(&trace.test);
    Ok(traces.iter().any(failed).then_some(runner))
}

/// The trace of a test; an unreported test counts as failed after one second.
fn trace_or_failed(test: &TestId, case: Option<TestCase>, lines: Lines) -> Trace {
    match case {
        Some(case) => trace_of(case, lines),
        None => Trace {
            test: test.clone(),
            status: Status::Failed,
            duration: Duration::from_secs(1),
            lines,
            loaded: Lines::new(),
            failure: None,
        },
    }
}

/// Status and message of each test of a file, to compare two ways of running it.
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
