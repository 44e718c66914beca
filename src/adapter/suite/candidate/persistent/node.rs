//! Runs one file of a `node --test` suite in a process of its own, also for a single test with V8's
//! coverage.
//!
//! The persistent runner uses threads, which cannot change the working folder or receive signals. A
//! file whose results differ between the two keeps its own process.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, ExitReason};
use crate::adapter::suite::format::{ReportedTest, to_test_cases};
use crate::adapter::suite::io_error::cannot;
use crate::domain::id::TestId;
use crate::domain::test::{CaseKind, Status, TestCase};
use crate::effect::{RunError, Trace};

use super::script_copy::CheckoutCopy;
use super::v8_coverage::executed_lines;
use super::{file_of, trace_or_failed};

/// Time limit of one traced test.
const TRACING: Duration = Duration::from_secs(10);

impl CheckoutCopy {
    /// Runs one test file in a process of its own; no cases when it hung or printed no result.
    pub(super) async fn run_in_process(
        &self,
        file: &str,
        pattern: Option<&str>,
        coverage: Option<&Path>,
        limit: Duration,
    ) -> Result<Vec<TestCase>, RunError> {
        files::remove(&self.report).map_err(cannot("use", &self.report))?;
        let mut invocation = self.invocation.clone();
        invocation.argv.extend(pattern.map(|pattern| format!("--test-name-pattern={pattern}")));
        invocation.argv.push(self.root.join(file).display().to_string());
        if let Some(folder) = coverage {
            let folder = folder.display().to_string();
            invocation.environment.insert("NODE_V8_COVERAGE".into(), folder);
        }
        let log = self.report.with_extension("log");
        let ending = process::run(&invocation, limit, &log).await.map_err(cannot("use", &log))?;
        if ending == ExitReason::TimedOut {
            return Ok(Vec::new());
        }
        let cases = self.read_report()?;
        // A file without tests is one itself, as `node --test` reports it.
        let is_passed = cases.is_empty() && ending == ExitReason::Exit(0);
        let itself = ReportedTest {
            id: file.to_owned(),
            kind: CaseKind::Unloaded,
            status: Some(Status::Passed),
            file: Some(file.to_owned()),
            ..ReportedTest::default()
        };
        Ok(if is_passed { to_test_cases(&[itself], &self.paths) } else { cases })
    }

    /// Runs each test alone and reads its executed lines from V8's coverage.
    pub(super) async fn trace_with_v8(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let folder = self.report.with_extension("coverage");
        let mut traces = Vec::new();
        // With the name of a suite, Node.js runs all of its tests; without that of a test, none inside of it.
        for test in tests {
            let mut case = None;
            let begun = Instant::now();
            let mut patterns = vec![own_pattern(test), whole_pattern(test)];
            patterns.truncate(names_of(test).count());
            for pattern in patterns {
                files::remove_tree(&folder).map_err(cannot("use", &folder))?;
                let (file, pattern) = (file_of(test), Some(pattern.as_str()));
                let ran = self.run_in_process(file, pattern, Some(&folder), TRACING).await?;
                let is_it = |case: &TestCase| case.id == *test && case.status != Status::Skipped;
                case = ran.into_iter().find(is_it);
                // One that hangs would do so again.
                if case.is_some() || begun.elapsed() >= TRACING {
                    break;
                }
            }
            traces.push(trace_or_failed(test, case, executed_lines(&folder, &self.paths)?));
        }
        Ok(traces)
    }
}

/// The names of a test and of what it stands in, outer ones first.
fn names_of(test: &TestId) -> impl Iterator<Item = &str> {
    test.as_str().split_once("::").map_or("", |(_, names)| names).split(" > ")
}

/// A pattern that matches a test alone.
fn own_pattern(test: &TestId) -> String {
    format!("^{}$", regex::escape(names_of(test).last().unwrap_or_default()))
}

/// A pattern that matches a test, and what it stands in.
fn whole_pattern(test: &TestId) -> String {
    let names: Vec<String> = names_of(test).map(regex::escape).collect();
    format!("^({})$", names.join("|"))
}

#[cfg(test)]
mod tests {
    use super::{own_pattern, whole_pattern};

    #[test]
    fn a_pattern_matches_a_test_and_its_suites_and_nothing_they_only_contain() {
        let table = [
            ("a.test.js::adds", vec!["adds"], vec!["adds twice", "a.test.js"]),
            ("a.test.js::cart > sums (1.5)", vec!["cart", "sums (1.5)"], vec!["sums (1x5)", "sum"]),
            ("b.js::a|b", vec!["a|b"], vec!["a", "b"]),
        ];
        for (id, matched, others) in table {
            let pattern = regex::Regex::new(&whole_pattern(&id.into())).unwrap();
            assert!(matched.iter().all(|name| pattern.is_match(name)), "{id}: {pattern}");
            assert!(others.iter().all(|name| !pattern.is_match(name)), "{id}: {pattern}");
            let own = regex::Regex::new(&own_pattern(&id.into())).unwrap();
            let found = matched.iter().filter(|name| own.is_match(name)).count();
            assert_eq!(found, 1, "{id}: {own}");
        }
    }
}
