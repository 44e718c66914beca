//! The reflection log of an integration session: what was found, planned, written, tried and learned, for
//! the people who maintain the tests (specification.md 3.2, 8.13).

mod understanding;

use minijinja::{Value, context};

use crate::domain::integration::Integration;
use crate::domain::integration::design::{Scenario, ScenarioPriority, TestDesign};
use crate::domain::integration::exploration::{DataFlow, Exploration};
use crate::domain::integration::records::{Assumption, AssumptionStatus};
use crate::domain::text::count;

use super::templates::{as_value, render as render_template};

/// `reflection-log.md` of an integration session, rendered from its state alone.
pub fn render(state: &Integration) -> String {
    let found = state.exploration.as_ref();
    let flows = found.iter().flat_map(|found| &found.data_flows);
    let flows: Vec<String> = flows.map(describe_flow).collect();
    let learnings = list_learnings(state);
    let insights: Vec<&String> = state
        .summary
        .iter()
        .flat_map(|summary| summary.key_learnings.iter().chain(&summary.corrected_assumptions))
        .filter(|text| !learnings.iter().any(|(_, known)| known.contains(text)))
        .collect();
    let corrected: Vec<&Assumption> =
        state.assumptions.iter().filter(|one| is_corrected(one)).collect();
    let is_confirmed = |one: &&Assumption| matches!(one.status, AssumptionStatus::Confirmed { .. });
    let history = state.iterations.history.iter();
    let design = state.test_design.as_ref();
    let scenarios = design.iter().flat_map(|design| &design.integration_scenarios);
    let values = context! {
        state => as_value(state),
        understanding => understanding::describe_understanding(state),
        crossed_before => found.map_or(0, Exploration::crossed_before),
        is_measured => found.is_some_and(Exploration::is_measured),
        flows,
        planned => design.map(count_scenarios),
        causes => history.map(|one| state.explain_documented(&one.failed_tests)).collect::<Vec<_>>(),
        learnings => as_value(&learnings),
        insights => as_value(&insights),
        coverage => understanding::list_coverage(state),
        confirmed => state.assumptions.iter().filter(is_confirmed).count(),
        corrected => as_value(&corrected),
        began_red => state.began_red(),
        boundaries => state.crossed_boundaries().1,
        matrix => scenarios.map(|one| count_results(state, one)).collect::<Vec<_>>(),
        results => context! {
            improved => "improved",
            unchanged => "no better",
            regression => "regression, undone",
            skipped_degraded => "skipped, no analysis was good enough",
        },
        strategies => context! {
            conservative => "one targeted fix",
            aggressive => "one batch for related failures",
            surgical => "the smallest change",
            reflective => "a different approach",
        },
        phases => context! {
            init => "start",
            explored => "exploration",
            designed => "design",
            developed => "development",
            iterating => "iterations",
            completed => "end",
        },
        endings => context! { success => "SUCCESS", partial_success => "PARTIAL SUCCESS" },
    };
    tidy_lines(&render_template("reflection_log.md", values))
}

/// Drops blank lines that follow another one or stand between two entries of a list.
fn tidy_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    let is_entry = |line: &&str| line.trim_start().starts_with("- ");
    let mut tidy: Vec<&str> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let next = lines.iter().skip(at).find(|line| !line.is_empty());
        let is_idle = tidy
            .last()
            .is_none_or(|last| last.is_empty() || is_entry(last) && next.is_some_and(is_entry));
        if !(line.is_empty() && is_idle) {
            tidy.push(line);
        }
    }
    tidy.join("\n") + "\n"
}

fn describe_flow(flow: &DataFlow) -> String {
    let functions = flow.transforms.join(", ");
    let through = if functions.is_empty() { functions } else { format!(" ({functions})") };
    flow.path.join(" → ") + &through
}

fn is_corrected(assumption: &Assumption) -> bool {
    matches!(assumption.status, AssumptionStatus::Corrected { .. })
}

fn list_learnings(state: &Integration) -> [(&'static str, Vec<String>); 5] {
    let all = state.current_learnings();
    [
        ("Confirmed understanding", all.confirmed),
        ("Corrected assumptions", all.corrected),
        ("Effective strategies", all.effective),
        ("Ineffective strategies", all.ineffective),
        ("Recurring patterns", all.patterns),
    ]
}

fn count_scenarios(design: &TestDesign) -> String {
    use ScenarioPriority::{Critical, High, Medium};
    let all = &design.integration_scenarios;
    let numbers = [Critical, High, Medium].map(|priority| {
        let number = all.iter().filter(|one| one.priority == priority).count();
        format!("{number} {priority}")
    });
    let cases: usize = all.iter().map(|one| one.test_cases.len()).sum();
    format!("{} ({}), with {}", all.len(), numbers.join(", "), count(cases, "test case"))
}

/// A row of the coverage matrix: the tests of a scenario, and how many of them do not fail.
fn count_results(state: &Integration, scenario: &Scenario) -> Value {
    let files = state.test_inventory.iter().flat_map(|made| &made.test_files);
    let own: Vec<_> = files.filter(|file| file.scenario_ids.contains(&scenario.id)).collect();
    let tests: u32 = own.iter().map(|file| file.test_count).sum();
    let is_own = |test| own.iter().any(|file| file.tests.contains(test));
    let passing = match &state.iterations.latest_results {
        _ if tests == 0 => "none".to_owned(),
        None => "not known".to_owned(),
        Some(run) => {
            let failing = run.failures.iter().filter(|one| is_own(&one.test)).count();
            tests.saturating_sub(u32::try_from(failing).unwrap_or(u32::MAX)).to_string()
        }
    };
    let name = format!("{}: {}", scenario.id, scenario.name);
    context! { scenario => name, boundary => scenario.boundary.as_str(), tests, passing }
}

#[cfg(test)]
mod tests;
