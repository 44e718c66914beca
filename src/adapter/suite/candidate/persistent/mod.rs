//! Candidate runners whose processes stay alive between candidates; one file for each kind.

mod cargo_toolchain;
mod compiled;
mod go_toolchain;
mod java;
mod joint_build;
mod node;
mod probed_sources;
mod python;
mod script;
mod script_copy;
mod script_trace;
mod toolchain;
mod v8_coverage;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::id::{RepoPath, TestId};
use crate::domain::language::Language;
use crate::domain::test::{Status, TestCase};
use crate::effect::{CandidateRunner, CandidateRunnerRequest, Lines, RunError, Trace};

use super::super::framework::{PersistentRunner, is_django};
use super::super::project_suite::ProjectSuite;
use super::command::{file_of, trace_of};
use cargo_toolchain::CargoToolchain;
use go_toolchain::GoToolchain;
use toolchain::Toolchain;

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
        Some(compiler @ (PersistentRunner::Go | PersistentRunner::Cargo)) => {
            return open_compiled(suite, request, compiler).await;
        }
        None if request.failing.is_empty() => {
            return Ok(
                java::open(suite, request).map(|one| Box::new(one) as Box<dyn CandidateRunner>)
            );
        }
        None if suite.detection.facts.framework.language() == Some(Language::Java) => {
            return open_java(suite, request).await;
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
    Ok(reproduces(runner.as_ref(), &failing).await.then_some(runner))
}

/// Whether tests that fail in the suite fail here too: else candidates would be judged on something else.
/// Without failing tests, the caller compares the passing ones.
async fn reproduces(runner: &dyn CandidateRunner, failing: &[TestId]) -> bool {
    if failing.is_empty() {
        return true;
    }
    // Mostly one shows it, and each test that hangs takes its time.
    let (first, others) = failing.split_at(1);
    for tests in [first, others] {
        let traces = match runner.trace(tests).await {
            Ok(traces) => traces,
            Err(error) => {
                tracing::info!(%error, "the warm runner is not used");
                return false;
            }
        };
        let failed = |trace: &Trace| trace.status == Status::Failed && tests.contains(&trace.test);
        if traces.iter().any(failed) {
            return true;
        }
        if others.is_empty() {
            break;
        }
    }
    false
}

/// Opens the runner for failing tests of Java.
async fn open_java(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
) -> Result<Option<Box<dyn CandidateRunner>>, RunError> {
    let failing: Vec<TestId> = request.failing.iter().map(|case| case.id.clone()).collect();
    let Some(runner) = java::open_failing(suite, request).await else { return Ok(None) };
    Ok(reproduces(&runner, &failing).await.then(|| Box::new(runner) as Box<dyn CandidateRunner>))
}

/// Opens the runner for tests that a compiler builds, where the toolchain can build one that fails: the suite's
/// command runs others, such as those of documentation.
async fn open_compiled(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
    compiler: PersistentRunner,
) -> Result<Option<Box<dyn CandidateRunner>>, RunError> {
    let toolchain: Option<Box<dyn Toolchain>> = if compiler == PersistentRunner::Go {
        GoToolchain::open(suite, request).map(|one| Box::new(one) as Box<dyn Toolchain>)
    } else {
        CargoToolchain::open(suite, request).map(|one| Box::new(one) as Box<dyn Toolchain>)
    };
    let Some(toolchain) = toolchain else { return Ok(None) };
    let mut failing: Vec<TestId> = request.failing.iter().map(|case| case.id.clone()).collect();
    failing.sort_by_key(|test| toolchain.unit_of(test).is_none());
    if failing.first().is_none_or(|test| toolchain.unit_of(test).is_none()) {
        return Ok(None);
    }
    let runner = compiled::open(suite, request, toolchain);
    Ok(reproduces(&runner, &failing).await.then(|| Box::new(runner) as Box<dyn CandidateRunner>))
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
        // The limit of a test that hangs depends on the others.
        let failure = if case.was_stopped() { None } else { case.failure };
        let message = failure.map(|failure| failure.message).unwrap_or_default();
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
