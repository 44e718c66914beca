//! The end of a session of integration tests, as lines for a terminal.

use std::fmt::Write as _;

use minijinja::context;

use crate::domain::event::{Ending, Outcome};
use crate::domain::fix_loop::Stopped;
use crate::domain::integration::{Integration, IntegrationGoal, IntegrationStep, SessionSummary};
use crate::domain::session::files::REFLECTION_LOG;
use crate::domain::text::count;

use super::phrases::single_safe_line;
use super::planning::Rest;
use super::templates::{as_value, render};

/// Lines of one kind that are shown.
const SHOWN: usize = 8;

/// Longest line of foreign text, in characters.
const LINE: usize = 200;

/// What a session has written and what it could not test, then what comes next. `folder` is empty where
/// nothing is left of the session.
pub fn render_end(state: &Integration, folder: &str, stopped: Option<&Stopped>) -> String {
    let mut text = String::new();
    let id = &state.session_id;
    let (crossed, _) = state.crossed_boundaries();
    add_row(&mut text, "session", &id.to_string());
    if let Some(found) = &state.exploration {
        add_row(&mut text, "found", &format!("{}, {crossed} now", found.describe_boundaries()));
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
        add_summary(&mut text, state, summary);
    }
    if !folder.is_empty() {
        add_row(&mut text, "log", &format!("{folder}/{REFLECTION_LOG}"));
    }
    add_row(&mut text, "next", &next_step(state, stopped));
    text
}

/// The outcome of a run that ended before its iterations: with a design, at a limit, or without a test.
pub fn rest_outcome(state: &Integration, stopped: Option<&Stopped>, rest: Rest) -> Outcome {
    let work = state.written_work();
    let design = state.test_design.as_ref();
    let (result, reason) = match (&state.summary, stopped) {
        (_, Some(stopped)) => (Ending::Blocked, stopped.reason.clone()),
        (Some(summary), None) => {
            let why = if work.obstacle.is_empty() { "" } else { ": " };
            let reason =
                format!("no test that crosses a boundary was written{why}{}", work.obstacle);
            (summary.result, reason)
        }
        (None, None) => {
            let scenarios = design.map_or(0, |design| design.integration_scenarios.len());
            let reason = format!("{} designed", count(scenarios, "scenario"));
            (Ending::Planned, reason)
        }
    };
    Outcome {
        session: state.session_id.to_string(),
        result,
        reason,
        limit_reached: stopped.is_some_and(|stopped| stopped.is_spent),
        options: stopped.map(|stopped| stopped.options.clone()).unwrap_or_default(),
        written: state.test_inventory.is_some().then_some(work),
        branch: rest.branch,
        // The log holds the design, which a person should read.
        report: design.map_or_else(String::new, |_| format!("{}/{REFLECTION_LOG}", rest.folder)),
        folder: rest.folder,
        duration_ms: u64::try_from(rest.took.as_millis()).unwrap_or(u64::MAX),
        ..Outcome::default()
    }
}

/// The design for people who decide on it: the scenarios of each boundary, what is real and what is
/// faked, and what a person adjusted; `None` before there is one.
pub fn design_comment(state: &Integration) -> Option<String> {
    let scenarios = &state.test_design.as_ref()?.integration_scenarios;
    let cases: usize = scenarios.iter().map(|one| one.test_cases.len()).sum();
    let adjustments: Vec<_> = state.decisions.iter().filter(|one| one.is_adjustment()).collect();
    let adjustments = as_value(&adjustments);
    Some(render("design.md", context! { state => as_value(state), cases, adjustments }))
}

fn add_summary(text: &mut String, state: &Integration, summary: &SessionSummary) {
    let iterations = count(summary.total_iterations, "iteration");
    let besides = if state.began_red() { ", besides what failed before" } else { "" };
    let result = match (summary.final_pass_rate, summary.result) {
        (None, result) => format!("{result}: no new test ran"),
        (Some(rate), Ending::Success) => {
            format!("success: {rate} % pass after {iterations}{besides}")
        }
        (Some(rate), result) => format!("{result} after {iterations}, where {rate} % pass"),
    };
    add_row(text, "result", &result);
    add_list(text, "advice", summary.recommendations.iter().cloned());
}

/// Whether the branch has a new test file, and not all were taken out again.
fn offers_tests(state: &Integration) -> bool {
    state.test_inventory.as_ref().is_some_and(|inventory| !inventory.test_files.is_empty())
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
            let untested = state.test_inventory.iter().flat_map(|one| &one.untested);
            let mut reasons = untested.map(|one| one.reason.as_str());
            let more = if reasons.any(|reason| reason.starts_with("the time was used up")) {
                "give it more time with `--engine-minutes`, "
            } else {
                ""
            };
            format!("{more}name another module, or configure a model")
        }
        (IntegrationStep::Finish, None) if !offers_tests(state) => {
            "nothing is left to merge: decide on what was found".to_owned()
        }
        (IntegrationStep::Finish, None) => {
            let is_success = state.summary.as_ref().is_none_or(|one| one.result == Ending::Success);
            let then = if is_success { "merge it" } else { "see above what is not green" };
            format!("review the branch {}, and {then}", id.branch())
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::domain::id::{SessionId, TreeId};
    use crate::domain::integration::Checkpoint;
    use crate::domain::integration::design::{
        Mocking, PlannedCase, Scenario, ScenarioKind, ScenarioPriority, TestDesign,
    };
    use crate::domain::integration::records::{Adjustment, DesignPart};

    const HOSTILE: &str = "a | b\n\n# @octocat `x` <img>";

    fn designed() -> Integration {
        let (goal, tree) = (IntegrationGoal::Test, TreeId::parse("b".repeat(40)).unwrap());
        let (next, commit) = (IntegrationStep::Confirm, None);
        let checkpoint =
            Checkpoint { next, goal, confirm: true, tree, commit, events: 0, transitions: 0 };
        let (id, now) = (SessionId::parse("ITG-pr-7").unwrap(), "2026-01-02T03:04:05Z");
        let mut state = Integration::new(id, (HOSTILE.into(), now.into()), 10, checkpoint);
        let case = PlannedCase { name: HOSTILE.into(), ..PlannedCase::default() };
        let scenario = Scenario {
            id: "IS-001".into(),
            name: HOSTILE.into(),
            boundary: HOSTILE.into(),
            kind: ScenarioKind::ApiContract,
            priority: ScenarioPriority::High,
            test_cases: vec![case],
            mocking: Mocking::default(),
            setup: String::new(),
            teardown: String::new(),
        };
        let mut design = TestDesign::default();
        design.mocking_strategy.real_boundaries = vec![HOSTILE.into()];
        design.mocking_strategy.rationale = "nothing leaves the process".into();
        design.integration_scenarios = vec![scenario];
        state.test_design = Some(design);
        let text = HOSTILE.to_owned();
        let mut adjusted = state.adjust_design(&Adjustment { part: DesignPart::Mocks, text });
        adjusted.checkpoint.next = IntegrationStep::Confirm;
        adjusted
    }

    #[test]
    fn a_design_is_shown_without_the_markup_of_its_words() {
        insta::assert_snapshot!(design_comment(&designed()).unwrap(), @r"
        Session `ITG-pr-7`: 1 scenario with 1 case for ``a | b # @octocat `x` <img>``.

        | Scenario | Boundary | Priority | Cases |
        |:--|:--|:--|--:|
        | `IS-001` | ``a \| b # @octocat `x` <img>`` | high | 1 |

        Real: ``a | b # @octocat `x` <img>``. Faked: nothing; nothing leaves the process.

        <details>
        <summary>Cases</summary>

        - IS-001: ``a | b # @octocat `x` <img>``

        </details>

        - adjust mocks: ``a | b # @octocat `x` <img>``; a model that writes the tests is told; the embedded engine does not read it, so it is a note for the people who review the tests.
        ");
    }

    #[test]
    fn a_run_that_rests_says_where_and_why() {
        let limit =
            Stopped { reason: "30 minutes are over".into(), is_spent: true, options: vec![] };
        let ended = Integration {
            summary: Some(designed().summarise_session(None, "now".into())),
            ..designed()
        };
        let table = [
            (designed(), None, Ending::Planned, "1 scenario designed"),
            (designed(), Some(&limit), Ending::Blocked, "30 minutes are over"),
            (ended, None, Ending::Failure, "no test that crosses a boundary was written"),
        ];
        for (state, stopped, result, reason) in table {
            let (branch, folder) = ("regreen/ITG-pr-7".to_owned(), "f".to_owned());
            let rest = Rest { branch, folder, took: Duration::from_secs(2) };
            let outcome = rest_outcome(&state, stopped, rest);
            assert_eq!((outcome.result, outcome.reason.as_str()), (result, reason));
            assert_eq!(outcome.limit_reached, stopped.is_some());
            assert_eq!(outcome.report, "f/reflection-log.md");
        }
    }
}
