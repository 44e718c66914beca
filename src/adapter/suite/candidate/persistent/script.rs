//! The persistent runner for `node --test`, Vitest and Jest. Keeps copies of the checkout, each
//! with a started runner (`driver/warm_*.mjs`) that transforms only what changed. Every run gets
//! fresh modules: in a thread, in workers as the project's pool and isolation say, or in an
//! environment as Jest gives to each file.
//!
//! Each test file first runs both ways on the unchanged sources; where the results differ, it gets
//! a fresh start per candidate, as does a candidate that edits what the runner reads only once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::try_join_all;
use tokio::sync::{Mutex, MutexGuard};

use crate::adapter::host::files;
use crate::adapter::suite::framework::{heads, read_text};
use crate::adapter::suite::io_error::cannot;
use crate::adapter::suite::project_suite::ProjectSuite;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::EditSet;
use crate::domain::test::{Status, TestCase};
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, CaseResult, Lines, RunError, Speed, Trace,
};

use super::super::checkout_copy::Side;
use super::super::command::{case_results, file_of};
use super::script_copy::{CheckoutCopy, LEAST, ScriptFramework, UNCHANGED};
use super::script_trace::{TestKey, executed_lines, test_key};
use super::{outcomes, trace_or_failed};

/// Time for starting workers, as a multiple of a file's: new ones start slower beside others.
const STARTING: u32 = 3;

/// Beginnings of the names of files that configure how sources are read.
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

/// How a test file is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunMode {
    /// In the persistent runner; with the time that starting its workers may take.
    Warm(Duration),
    /// With a fresh start for each candidate.
    Alone,
}

pub struct ScriptRunner {
    copies: Vec<Mutex<CheckoutCopy>>,
    modes: Mutex<BTreeMap<String, RunMode>>,
    /// Files that the server of any copy reads only once, such as configuration.
    settings: Mutex<BTreeSet<RepoPath>>,
}

/// Opens the runner; `None` when it does not start here.
pub async fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
    framework: &'static ScriptFramework,
) -> Result<Option<ScriptRunner>, RunError> {
    let mut copies = Vec::new();
    for number in 0..request.jobs.max(1) {
        let mut copy = CheckoutCopy::open(suite, request.root, number, framework)?;
        if number == 0 {
            copy.server = copy.start(&BTreeMap::new()).await?;
            if copy.server.is_none() {
                return Ok(None);
            }
        }
        copies.push(Mutex::new(copy));
    }
    Ok(Some(ScriptRunner { copies, modes: Mutex::default(), settings: Mutex::default() }))
}

/// Whether an edit changes what a runner reads only once, or adds or removes a file.
fn needs_fresh_start(edits: &EditSet, settings: &BTreeSet<RepoPath>) -> bool {
    edits.files.iter().any(|edit| {
        let name = edit.file.file_name();
        edit.before.is_none()
            || edit.after.is_none()
            || SETTINGS.iter().any(|known| name.starts_with(known))
            || settings.contains(&edit.file)
    })
}

impl ScriptRunner {
    /// The first free copy, else the first copy once it is free; `None` without any.
    async fn free(&self) -> Option<MutexGuard<'_, CheckoutCopy>> {
        match self.copies.iter().find_map(|copy| copy.try_lock().ok()) {
            Some(copy) => Some(copy),
            None => Some(self.copies.first()?.lock().await),
        }
    }

    /// Runs each test in a process of its own, in all copies at the same time.
    async fn trace_each(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let size = tests.len().div_ceil(self.copies.len().max(1)).max(1);
        let parts = self.copies.iter().zip(tests.chunks(size));
        let parts =
            parts.map(|(copy, part)| async move { copy.lock().await.trace_with_v8(part).await });
        Ok(try_join_all(parts).await?.into_iter().flatten().collect())
    }

    /// How a file is run, determined on the unchanged sources of `copy`.
    async fn mode(&self, copy: &mut CheckoutCopy, file: &str) -> Result<RunMode, RunError> {
        if let Some(mode) = self.modes.lock().await.get(file) {
            return Ok(*mode);
        }
        let alone = copy.run_alone(file, &[TestId(file.to_owned())], UNCHANGED).await?;
        let warm = copy.run_warm(file, UNCHANGED, LEAST).await?.unwrap_or_default();
        let alone = outcomes(alone, file);
        let mut same = !alone.is_empty() && outcomes(warm.cases, file) == alone;
        if same && copy.framework.is_node {
            // What the first run left behind must not matter.
            let again = copy.run_warm(file, UNCHANGED, LEAST).await?.unwrap_or_default();
            same = outcomes(again.cases, file) == alone;
        }
        let starting = LEAST.max(warm.duration * STARTING);
        let mode = if same { RunMode::Warm(starting) } else { RunMode::Alone };
        self.modes.lock().await.insert(file.to_owned(), mode);
        Ok(mode)
    }
}

#[async_trait]
impl CandidateRunner for ScriptRunner {
    fn speed(&self) -> Speed {
        Speed::Warm
    }

    fn selects_tests(&self) -> bool {
        false
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let Some(copy) = self.copies.first() else { return Ok(Vec::new()) };
        let mut copy = copy.lock().await;
        if copy.framework.is_node {
            drop(copy);
            return self.trace_each(tests).await;
        }
        let out = copy.root.with_extension("lines");
        let environment = [
            ("REGREEN_LINES".to_owned(), out.display().to_string()),
            ("REGREEN_ROOT".to_owned(), copy.root.display().to_string()),
        ];
        let environment = environment.into();
        let mut server = None;
        let mut cases: BTreeMap<TestId, TestCase> = BTreeMap::new();
        let mut lines: BTreeMap<TestKey, Lines> = BTreeMap::new();
        for file in heads(tests, "::") {
            files::write(&out, b"").map_err(cannot("use", &out))?;
            if server.is_none() {
                server = copy.start(&environment).await?;
            }
            let Some(own) = server.take() else { break };
            let (again, run) = copy.run_in(own, file, UNCHANGED, Duration::ZERO).await?;
            server = again;
            cases.extend(run.cases.into_iter().map(|case| (case.id.clone(), case)));
            lines.extend(executed_lines(&read_text(&out)?, &copy.paths));
        }
        let traces = tests.iter().map(|test| {
            let lines = lines.remove(&test_key(test)).unwrap_or_default();
            trace_or_failed(test, cases.remove(test), lines)
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
        let Some(mut copy) = self.free().await else { return Ok(Vec::new()) };
        // Files run in the order of their tests, which begins with the failing ones.
        let mut modes: Vec<(&str, RunMode)> = Vec::new();
        for file in heads(tests, "::") {
            modes.push((file, self.mode(&mut copy, file).await?));
        }
        let needs_fresh_start = {
            let mut settings = self.settings.lock().await;
            settings.extend(copy.settings.iter().cloned());
            needs_fresh_start(edits, &settings)
        };
        if needs_fresh_start {
            for (_, mode) in &mut modes {
                *mode = RunMode::Alone;
            }
        }
        copy.write(edits, Side::After)?;
        let cases = run_files(&mut copy, &modes, tests, limit, stop_at_failure).await;
        copy.write(edits, Side::Before)?;
        Ok(case_results(&cases?, tests, stop_at_failure))
    }
}

/// Runs test files on one candidate, up to the first with a failing test where that is requested.
async fn run_files(
    copy: &mut CheckoutCopy,
    files: &[(&str, RunMode)],
    tests: &[TestId],
    limit: Duration,
    stop_at_failure: bool,
) -> Result<Vec<TestCase>, RunError> {
    let mut cases = Vec::new();
    for (file, mode) in files {
        let selected: Vec<TestId> =
            tests.iter().filter(|test| file_of(test) == *file).cloned().collect();
        let warm = match mode {
            RunMode::Warm(starting) => copy.run_warm(file, limit, *starting).await?,
            RunMode::Alone => None,
        };
        let of_file = match warm {
            Some(run) => run.cases,
            None => copy.run_alone(file, &selected, limit).await?,
        };
        let results = case_results(&of_file, &selected, true);
        cases.extend(of_file);
        if stop_at_failure && results.iter().any(|result| result.status == Status::Failed) {
            break;
        }
    }
    Ok(cases)
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
            assert_eq!(needs_fresh_start(&edit(file, Some("")), &settings), expected, "{file}");
        }
        assert!(
            needs_fresh_start(&edit("src/cart.ts", None), &settings),
            "a file that was not there"
        );
    }

    #[test]
    fn files_come_in_the_order_of_their_tests() {
        let tests = ["b.ts::x", "a.ts::y", "b.ts::z"].map(TestId::from);
        assert_eq!(heads(&tests, "::"), ["b.ts", "a.ts"]);
    }
}
