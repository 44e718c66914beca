//! `.summaries/IMPL-002-summary.md`: what running the suite came to (specification.md 4.8, 9.2).

use crate::domain::event::{Ending, Outcome};
use crate::domain::rate::PassRate;
use crate::report::markdown::cell;

use super::prose;

/// Rows of a table at most.
const ROWS: usize = 200;

/// The summary of the task that runs the suite and fixes what fails: first and last result, what
/// was found and changed, and the word on it.
#[must_use]
pub fn suite(outcome: &Outcome) -> String {
    let rate = |rate: Option<PassRate>| {
        rate.map_or_else(|| "not known".to_owned(), |rate| format!("{rate} % pass"))
    };
    let word = match outcome.result {
        Ending::Success => "APPROVED",
        Ending::PartialSuccess => "PARTIAL SUCCESS",
        Ending::Failure => "NOT APPROVED",
        Ending::Blocked | Ending::Planned => "NOT DECIDED",
    };
    let mut page = format!(
        "# IMPL-002: Run the suite and fix what fails\n\nStatus: {word}. {}\n\nFirst run: {}. Last run: {}.\n",
        prose(&outcome.reason),
        rate(outcome.initial),
        rate(outcome.last)
    );
    if !outcome.iterations.is_empty() {
        page.push_str(
            "\n| Iteration | What was changed | Files | CallOutcome to | Before | After |\n|--:|---|---|---|--:|--:|\n",
        );
    }
    for row in outcome.iterations.iter().take(ROWS) {
        page.push_str(&format!(
            "| {} | {} | {} | {} | {} % | {} % |\n",
            row.iteration,
            cell(&row.summary),
            cell(&row.files.join(", ")),
            cell(&row.outcome),
            row.before,
            row.after
        ));
    }
    if !outcome.failing.is_empty() {
        page.push_str("\n| Still failing | Criticality | It said |\n|---|---|---|\n");
    }
    for one in outcome.failing.iter().take(ROWS) {
        page.push_str(&format!(
            "| {} | {} | {} |\n",
            cell(one.test.as_str()),
            cell(&one.criticality),
            cell(&one.message)
        ));
    }
    page
}
