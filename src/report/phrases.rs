//! Phrases that several screens share, so that a state reads the same everywhere.

use crate::domain::budget::{Spending, dollars};
use crate::domain::event::{Ending, IterationRow, Minimised, Outcome};

use super::markdown::{count, line};
use super::workflow::tame;

/// How an ending reads.
pub fn headline(outcome: &Outcome) -> String {
    let rate =
        outcome.last.map_or_else(|| "no pass rate".to_owned(), |rate| format!("{rate} % pass"));
    let about = if outcome.estimated { "about " } else { "" };
    let after = count(outcome.iterations.len() as u64, "iteration");
    match outcome.result {
        Ending::Success => format!("Green: {about}{rate} after {after}"),
        Ending::PartialSuccess => format!("Gate met, please review: {about}{rate} after {after}"),
        Ending::Failure => format!("Not green: {about}{rate} after {after}"),
        Ending::Blocked => format!("Stopped: {about}{rate} after {after}"),
        Ending::Planned if outcome.last.is_none() => "Planned, nothing was changed".to_owned(),
        Ending::Planned => format!("Dry run: {about}{rate}, nothing was changed"),
    }
}

/// How small the change became, in words.
pub fn made_smaller(minimised: &Minimised) -> String {
    let proven = minimised.needed.iter().filter(|one| !one.tests.is_empty()).count();
    let size = if minimised.after < minimised.before {
        format!("made the change smaller: {} → {} lines", minimised.before, minimised.after)
    } else {
        format!("nothing of the change can be dropped: {} lines", minimised.after)
    };
    let proof =
        format!("{proven} of {} proven to be needed", count(minimised.needed.len() as u64, "hunk"));
    let end = if minimised.complete { "" } else { ", stopped at its limit" };
    format!("{size}; {proof}{end}")
}

/// What providers took, in words.
pub fn spent(spending: &Spending) -> String {
    let unknown = match spending.unpriced {
        0 => String::new(),
        some => format!(", {} without a known price", count(some, "call")),
    };
    format!(
        "{}, {} tokens in and {} out, {}{unknown}",
        count(spending.calls, "call"),
        spending.usage.input_tokens,
        spending.usage.output_tokens,
        dollars(spending.micro_usd)
    )
}

/// Our own words with a capital, on one line.
pub fn sentence(text: &str) -> String {
    capital(&line(text, 500))
}

/// A text with its first letter as a capital.
pub fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Foreign text on one line that no log reader takes for a command.
pub fn harmless(text: &str, limit: usize) -> String {
    tame(&line(text, limit))
}

/// Seconds with one decimal.
pub fn seconds(milliseconds: u64) -> String {
    format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100)
}

/// An iteration as cells of a table: number, strategy, rate before and after, what came of it,
/// tests run, candidates and time.
pub fn iteration_cells(row: &IterationRow) -> [String; 8] {
    let after = match row.reached {
        Some(reached) if reached != row.after => format!("{reached} ↩ {} %", row.after),
        Some(_) | None => format!("{} %", row.after),
    };
    [
        row.iteration.to_string(),
        row.strategy.to_string(),
        format!("{} %", row.before),
        after,
        row.outcome.clone(),
        format!("{} of {}", row.tests_run, row.tests_of),
        row.tried.to_string(),
        seconds(row.duration_ms),
    ]
}
