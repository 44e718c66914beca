//! The end of a session of integration tests, as lines for a terminal.

use std::fmt::Write as _;

use crate::domain::fix_loop::Stopped;
use crate::domain::integration::exploration::Exploration;
use crate::domain::integration::{Integration, IntegrationGoal, IntegrationStep, SessionSummary};
use crate::domain::session::files::REFLECTION_LOG;
use crate::domain::text::count;

use super::phrases::single_safe_line;

/// Lines of one kind that are shown.
const SHOWN: usize = 8;

/// Longest line of foreign text, in characters.
const LINE: usize = 200;

/// What a session has written and what it could not test, then what comes next. `folder` is empty where
/// nothing is left of the session.
pub fn render_end(state: &Integration, folder: &str, stopped: Option<&Stopped>) -> String {
    let mut text = String::new();
    let id = &state.session_id;
    let (crossed, all) = state.crossed_boundaries();
    let before = state.exploration.as_ref().map_or(0, Exploration::crossed_before);
    add_row(&mut text, "session", &id.to_string());
    if state.exploration.is_some() {
        let boundaries = if all == 1 { "1 boundary".into() } else { format!("{all} boundaries") };
        let is_measured = state.exploration.as_ref().is_some_and(Exploration::is_measured);
        let before = if is_measured {
            format!("{before} crossed by a test before")
        } else {
            "not measured which tests crossed before".to_owned()
        };
        let found = format!("{boundaries}, {before}, {crossed} now");
        add_row(&mut text, "found", &found);
    }
    if let Some(inventory) = &state.test_inventory {
        let tests = count(inventory.total_tests, "test");
        let files = count(inventory.total_files, "file");
        add_row(&mut text, "written", &format!("{tests} in {files}"));
        let files = inventory.test_files.iter();
        add_list(&mut text, "", files.map(|one| format!("{}: {}", one.path, one.boundary)));
        add_list(&mut text, "finding", inventory.findings.iter().cloned());
        let untested = inventory.untested.iter();
        add_list(
            &mut text,
            "not tested",
            untested.map(|one| format!("{}: {}", one.what, one.reason)),
        );
    } else if let Some(design) = &state.test_design {
        let cases = design.integration_scenarios.iter().map(|one| one.test_cases.len()).sum();
        let scenarios = count(design.integration_scenarios.len(), "scenario");
        let cases = count::<usize>(cases, "case");
        add_row(&mut text, "designed", &format!("{scenarios} with {cases}"));
        let scenarios = design.integration_scenarios.iter();
        add_list(
            &mut text,
            "",
            scenarios.map(|one| format!("{} {}: {}", one.id, one.priority, one.boundary)),
        );
    }
    if let Some(summary) = &state.summary {
        add_summary(&mut text, summary);
    }
    if !folder.is_empty() {
        add_row(&mut text, "log", &format!("{folder}/{REFLECTION_LOG}"));
    }
    add_row(&mut text, "next", &next_step(state, stopped));
    text
}

fn add_summary(text: &mut String, summary: &SessionSummary) {
    let iterations = count(summary.total_iterations, "iteration");
    let rate = summary.final_pass_rate;
    let rate = rate.map_or_else(|| "no test ran".to_owned(), |rate| format!("{rate} % pass"));
    add_row(text, "result", &format!("{}: {rate} after {iterations}", summary.result));
    add_list(text, "advice", summary.recommendations.iter().cloned());
}

/// What the reader can do, in one clause.
fn next_step(state: &Integration, stopped: Option<&Stopped>) -> String {
    let id = &state.session_id;
    let resume = format!("`regreen integration --continue {id}`");
    match (state.checkpoint.next, stopped) {
        (_, Some(stopped)) => format!("{}; {resume} continues", stopped.reason),
        (IntegrationStep::Confirm, None) => {
            format!("the design waits: `regreen integration --continue {id} --yes` carries it out")
        }
        (IntegrationStep::Finish, None) if state.checkpoint.goal == IntegrationGoal::Design => {
            "the same command without `--dry-run` writes the tests".to_owned()
        }
        (IntegrationStep::Finish, None) if state.checkpoint.commit.is_none() => {
            "name another module, or configure a model".to_owned()
        }
        (IntegrationStep::Finish, None) => {
            format!("review the branch {}, and merge it", id.branch())
        }
        (_, None) => format!("{resume} continues"),
    }
}

fn add_row(text: &mut String, name: &str, value: &str) {
    let _infallible = writeln!(text, "{name:<12}{}", single_safe_line(value, LINE));
}

fn add_list(text: &mut String, name: &str, lines: impl ExactSizeIterator<Item = String>) {
    let more = lines.len().saturating_sub(SHOWN);
    for line in lines.take(SHOWN) {
        add_row(text, name, &line);
    }
    if more > 0 {
        add_row(text, "", &format!("and {more} more in the log"));
    }
}
