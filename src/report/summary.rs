//! The report of a session: a completion summary (specification.md 9.2) or, below the gate, the hand-over
//! (9.3).

use crate::domain::event::Outcome;

use super::markdown::{cell, code};
use super::next_steps;
use super::phrases::{headline, iteration_cells, made_smaller, seconds, sentence, spent};
use super::records::{calls, patch};

/// Characters of a patch that the report shows.
const PATCH: usize = 20_000;

/// The report as Markdown.
pub fn report(outcome: &Outcome) -> String {
    let mut text = format!("# {}\n\n{}.\n\n", headline(outcome), sentence(&outcome.reason));
    text.push_str(&format!("- Session: `{}`\n", outcome.session));
    if outcome.tip.is_some() {
        text.push_str(&format!("- Branch: {}\n", code(&outcome.branch)));
    }
    if let (Some(initial), Some(last)) = (outcome.initial, outcome.last) {
        let about = if outcome.estimated { " (estimated)" } else { "" };
        text.push_str(&format!(
            "- Pass rate: {initial} % → {last} %{about}, {} of {} tests\n",
            last.passed, last.total
        ));
    }
    text.push_str(&format!(
        "- Time: {}, of that {} in test runs\n",
        seconds(outcome.duration_ms),
        seconds(outcome.testing_ms)
    ));
    if outcome.spending.calls > 0 {
        text.push_str(&format!("- Providers: {}\n", spent(&outcome.spending)));
    }
    if outcome.degraded {
        text.push_str("- Degraded: in some iteration no provider gave a good answer\n");
    }
    if !outcome.iterations.is_empty() {
        text.push_str("\n## Iterations\n\n| # | strategy | before | after | outcome | tests run | candidates | seconds | change |\n|--:|:--|--:|--:|:--|--:|--:|--:|:--|\n");
        for row in &outcome.iterations {
            let cells = iteration_cells(row).join(" | ");
            text.push_str(&format!("| {cells} | {} |\n", cell(&row.summary)));
        }
        let run: u64 = outcome.iterations.iter().map(|row| u64::from(row.tests_run)).sum();
        let of: u64 = outcome.iterations.iter().map(|row| u64::from(row.tests_of)).sum();
        if of > 0 {
            text.push_str(&format!(
                "\nTests run in iterations: {run}, where full runs each time would have run {of}.\n"
            ));
        }
    }
    for row in outcome.iterations.iter().filter(|row| !row.calls.is_empty()) {
        text.push_str(&format!(
            "\n### Who was asked in iteration {}\n\n{}",
            row.iteration,
            calls(&row.calls)
        ));
    }
    list(
        &mut text,
        "Still failing",
        outcome.failing.iter().map(|one| {
            format!(
                "{} ({}: {}): {}",
                code(one.test.as_str()),
                one.criticality,
                one.evidence,
                code(&one.message)
            )
        }),
    );
    let names = |tests: &[crate::domain::id::TestId]| {
        tests.iter().map(|test| code(test.as_str())).collect::<Vec<_>>()
    };
    list(&mut text, "Stuck: failed in the last three results", names(&outcome.stuck).into_iter());
    list(
        &mut text,
        "Flaky: failed and passed unchanged, kept out of the gate",
        names(&outcome.flaky).into_iter(),
    );
    list(&mut text, "Failing before this change too", names(&outcome.preexisting).into_iter());
    if let Some(minimised) = &outcome.minimised {
        text.push_str(&format!("\n## Proof\n\n{}.\n\n", sentence(&made_smaller(minimised))));
        for one in &minimised.needed {
            let tests: Vec<String> = one.tests.iter().map(|test| code(test.as_str())).collect();
            let tests = if tests.is_empty() { "not shown".to_owned() } else { tests.join(", ") };
            text.push_str(&format!("- {}: without it these fail: {tests}\n", code(&one.place)));
        }
    }
    if !outcome.patch.is_empty() {
        text.push_str("\n## The whole change\n\nIt is *plausible*: it satisfies the tests. Whether it is right, a person decides.\n\n");
        text.push_str(&patch(&outcome.patch, PATCH));
    }
    text.push_str("\n## Next\n\n");
    for step in next_steps::in_terminal(outcome) {
        text.push_str(&format!("- {}: {}\n", code(&step.command), step.purpose));
    }
    text
}

fn list(text: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.collect();
    if !items.is_empty() {
        text.push_str(&format!("\n## {title}\n\n"));
        for item in items {
            text.push_str(&format!("- {item}\n"));
        }
    }
}
