//! Tells retries of one test from several tests of one name.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::domain::test::Status;

use super::super::{ReportedTest, Retried};
use super::Suite;

/// Parts of the names of properties that writers give suites whose tests they may retry; a package of Go
/// has no two tests of one name.
pub(super) const RETRY_PROPERTIES: &[&str] = &["retry", "rerun", "go.version"];

/// Whether the stack of a failure is in the method after which the test is named, as in Java and C#, whose
/// classes have no second one.
fn is_in_method(failure: &ReportedTest) -> bool {
    let of_method = |(class, name): (&str, &str)| {
        failure.stack.contains(&format!("at {class}.{}(", name.trim_end_matches("()")))
    };
    failure.id.rsplit_once("::").is_some_and(of_method)
}

/// What a person should know of a name that fails and passes in a suite without evidence of a retry.
fn describe_repeated(id: &str, times: usize) -> String {
    format!(
        "the report names `{id}` {times} times, failing and passing: nothing in it says that a test is \
         retried, so these are {times} tests"
    )
}

/// Makes one test of the runs of a test that its suite holds several times: it passed where its last run
/// did and there is evidence of a retry, and failed where all runs failed alike. Other tests of one name are
/// several, unless the suite declares as many tests as it has names. Returns what a person should know.
pub(super) fn merge_retries(cases: &mut Vec<ReportedTest>, suite: &Suite) -> Option<String> {
    let first = suite.first;
    let of_suite = cases.get(first..).unwrap_or_default();
    let mut seen = HashSet::with_capacity(of_suite.len());
    if of_suite.iter().all(|case| seen.insert((&case.id, case.file.as_deref()))) {
        return None;
    }
    let mut runs: BTreeMap<(&str, Option<&str>), Vec<usize>> = BTreeMap::new();
    for (at, case) in of_suite.iter().enumerate() {
        runs.entry((&case.id, case.file.as_deref())).or_default().push(first + at);
    }
    let counts_names =
        suite.declared.tests.is_some_and(|tests| usize::try_from(tests) == Ok(runs.len()));
    let (mut superseded, mut merged, mut repeated) = (BTreeSet::new(), Vec::new(), None);
    for runs in runs.into_values() {
        let Some((last, earlier)) = runs.split_last().filter(|(_, earlier)| !earlier.is_empty())
        else {
            continue;
        };
        let failed = |at: &usize| cases.get(*at).filter(|one| one.status == Some(Status::Failed));
        let again = failed(last);
        let Some(failure) = earlier.iter().find_map(failed) else {
            if counts_names && let Some(run) = cases.get(*last) {
                superseded.extend(earlier.iter().copied());
                let retried = if again.is_some() { Retried::No } else { Retried::Marked };
                merged.push((*last, ReportedTest { retried, ..run.clone() }));
            }
            continue;
        };
        let is_alike = |other: &ReportedTest| {
            (&other.class, &other.message) == (&failure.class, &failure.message)
        };
        let all_alike = earlier.iter().all(|at| failed(at).is_some_and(is_alike));
        if again.is_some_and(|again| all_alike && is_alike(again)) {
            superseded.extend(earlier.iter().copied());
        } else if again.is_none()
            && let Some(passed) = cases.get(*last).filter(|one| one.status != Some(Status::Skipped))
        {
            if !(counts_names || suite.shows_retries || is_in_method(failure)) {
                repeated = Some(describe_repeated(&failure.id, earlier.len() + 1));
                continue;
            }
            superseded.extend(earlier.iter().copied());
            let (status, retried) = (Some(Status::Passed), Retried::Repeated);
            let duration_ms = passed.duration_ms;
            merged.push((*last, ReportedTest { status, duration_ms, retried, ..failure.clone() }));
        }
    }
    for (at, test) in merged {
        if let Some(case) = cases.get_mut(at) {
            *case = test;
        }
    }
    let mut at = 0;
    cases.retain(|_| {
        at += 1;
        !superseded.contains(&(at - 1))
    });
    repeated
}
