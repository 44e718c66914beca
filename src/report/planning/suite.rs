//! `.summaries/IMPL-002-summary.md`: the result of the suite (specification.md 4.8, 9.2).

use crate::domain::event::{Ending, Outcome};
use crate::domain::rate::PassRate;
use crate::domain::test_plan::task::SUITE_TASK;
use crate::report::markdown::cell;

use super::{prose, table};

/// Summary of the task that runs the suite and fixes failures: first and last result, what was
/// found and changed, and the verdict.
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
        "# {SUITE_TASK}: Run the suite and fix what fails\n\nStatus: {word}. {}\n\nFirst run: {}. Last run: {}.\n",
        prose(&outcome.reason),
        rate(outcome.initial),
        rate(outcome.last)
    );
    page.push_str(&table(
        "\n| Iteration | What was changed | Files | Outcome | Before | After |\n|--:|---|---|---|--:|--:|\n",
        outcome.iterations.iter().map(|row| {
            let (before, after) = (format!("{} %", row.before), format!("{} %", row.after));
            let files = cell(&row.files.join(", "));
            [row.iteration.to_string(), cell(&row.summary), files, cell(&row.outcome), before, after]
        }),
    ));
    page.push_str(&table(
        "\n| Still failing | Criticality | Message |\n|---|---|---|\n",
        outcome
            .failing
            .iter()
            .map(|one| [one.test.as_str(), &one.criticality, &one.message].map(cell)),
    ));
    page
}
