//! What a session knows now: the health of its tests, its boundaries, and what comes next.

use minijinja::Value;

use crate::domain::criticality::Criticality;
use crate::domain::integration::iteration::SuiteResults;
use crate::domain::integration::{Integration, IntegrationStep, Phase};
use crate::domain::text::count;
use crate::report::markdown::brief;
use crate::report::templates::LISTED;

use super::is_corrected;

/// Labels with the names of the boundaries, for the list of the template.
pub fn list_coverage(state: &Integration) -> Vec<(&'static str, Value)> {
    let coverage = state.intent_coverage();
    let lists = [
        ("Covered boundaries, by new tests or old ones", coverage.covered),
        ("Covered boundaries, but failing", coverage.failing),
        ("Drifted (boundaries designed, without a test)", coverage.drifted),
        ("Not addressed", coverage.open),
    ];
    let lists = lists.map(|(label, names)| (label, list_names(&names).unwrap_or("none".into())));
    lists.map(|(label, names)| (label, Value::from_safe_string(names))).to_vec()
}

/// Foreign names on one line; `None` without one.
fn list_names(names: &[impl AsRef<str>]) -> Option<String> {
    let more = names.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let spans: Vec<String> = names.iter().take(LISTED).map(|name| brief(name.as_ref())).collect();
    (!names.is_empty()).then(|| spans.join(", ") + &rest)
}

/// The present state of the tests as labelled lines; a completed session has a final form.
pub fn describe_understanding(state: &Integration) -> Vec<(&'static str, Value)> {
    let run = state.iterations.latest_results.as_ref();
    let corrected = state.assumptions.iter().filter(|one| is_corrected(one)).count();
    let critical = run.map_or_else(String::new, |run| {
        let failures = run.failures.iter().filter(|one| one.criticality == Criticality::High);
        let names: Vec<&str> = failures.map(|one| one.test.as_str()).collect();
        list_names(&names).unwrap_or("none".into())
    });
    let lines = if state.phase == Phase::Completed {
        vec![
            ("Verified boundaries", describe_boundaries(state)),
            ("Corrected assumptions", format!("{corrected} of {}", state.assumptions.len())),
            ("Test health", describe_health(state)),
            ("Confidence", judge_confidence(state, run)),
        ]
    } else {
        vec![
            ("Test health", describe_health(state)),
            ("Critical failures", critical),
            ("Verified boundaries", describe_boundaries(state)),
            ("Next priority", name_priority(state)),
        ]
    };
    lines.into_iter().map(|(label, text)| (label, Value::from_safe_string(text))).collect()
}

/// The last results, and how they compare with the first ones.
fn describe_health(state: &Integration) -> String {
    let Some(run) = &state.iterations.latest_results else {
        return "not known, no results are recorded".to_owned();
    };
    let trend = match state.iterations.history.as_slice() {
        [] | [_] => String::new(),
        [first, ..] if run.pass_rate > first.pass_rate => {
            format!(", up from {:.1} % in the first run", first.pass_rate)
        }
        [first, ..] if run.pass_rate < first.pass_rate => {
            format!(", down from {:.1} % in the first run", first.pass_rate)
        }
        [..] => ", as in the first run".to_owned(),
    };
    format!("{} passed, {} failed, {:.1} %{trend}", run.passed, run.failed, run.pass_rate)
}

/// How many boundaries are verified by tests; those at which tests fail are named.
fn describe_boundaries(state: &Integration) -> String {
    let coverage = state.intent_coverage();
    match (state.crossed_boundaries(), &state.iterations.latest_results) {
        _ if state.exploration.is_none() => "not known".to_owned(),
        ((_, 0), _) => "none, no boundary was found".to_owned(),
        ((crossed, all), None) => {
            format!("none of {all}; {crossed} crossed by a test, no results are recorded")
        }
        ((_, all), Some(_)) => {
            let failing = list_names(&coverage.failing);
            let failing =
                failing.map_or_else(String::new, |names| format!("; problematic: {names}"));
            format!("{} of {all}{failing}", coverage.covered.len())
        }
    }
}

fn name_priority(state: &Integration) -> String {
    let results = state.iterations.latest_results.as_ref();
    let worst = results.and_then(|run| run.failures.iter().max_by_key(|one| one.criticality));
    let next = match (state.checkpoint.next, worst) {
        (IntegrationStep::Explore, _) => "explore the module",
        (IntegrationStep::Design, _) => "design scenarios",
        (IntegrationStep::Confirm, _) => "confirm the design",
        (IntegrationStep::Develop, _) => "write the tests",
        (IntegrationStep::Validate, _) => "check the new test files",
        (IntegrationStep::Commit, _) => "commit the new test files",
        (IntegrationStep::Iterate, Some(one)) => {
            return format!("{} ({} criticality)", brief(one.test.as_str()), one.criticality);
        }
        (IntegrationStep::Iterate, None) => "run the tests, and fix what fails",
        (IntegrationStep::Withdraw, _) => {
            "take out the tests of documentation that nothing made pass"
        }
        (IntegrationStep::Conclude, _) => "sum up the session",
        (IntegrationStep::Finish, _) => "none, the session has ended",
    };
    next.to_owned()
}

/// How much the result of a completed session can be trusted, and why.
fn judge_confidence(state: &Integration, run: Option<&SuiteResults>) -> String {
    let coverage = state.intent_coverage();
    let untested = coverage.drifted.len() + coverage.open.len();
    let is_minor =
        |run: &SuiteResults| run.failures.iter().all(|one| one.criticality == Criticality::Low);
    match run {
        None => "low, because no results are recorded".to_owned(),
        Some(run) if !is_minor(run) || run.failures.is_empty() && run.failed > 0 => {
            let failing = run.failures.len().max(usize::try_from(run.failed).unwrap_or(usize::MAX));
            format!("low, because of {}", count(failing, "failing test"))
        }
        Some(run) if !run.failures.is_empty() => {
            "medium, because failures of low criticality are left".to_owned()
        }
        Some(_) if untested > 0 => {
            format!("medium, because of boundaries without a test: {untested}")
        }
        Some(_) if coverage.covered.is_empty() => {
            "medium, because no boundary was found".to_owned()
        }
        Some(_) => "high, because every boundary has a test and no test fails".to_owned(),
    }
}
