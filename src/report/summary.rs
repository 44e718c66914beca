//! The report of a session: a completion summary (product.md 9.2) or, below the gate, the hand-over
//! (9.3).

use crate::domain::budget::{Spending, dollars};
use crate::domain::event::{Ending, Outcome};
use crate::domain::fix_loop::Minimised;

use super::markdown::{cell, code, count, line};
use super::next_steps;
use super::records::{calls, patch};

/// Characters of a patch that the report shows.
const PATCH: usize = 20_000;

/// How an ending reads.
#[must_use]
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

/// The report as Markdown.
#[must_use]
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
    let seconds = |ms: u64| format!("{}.{} s", ms / 1000, ms % 1000 / 100);
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
            text.push_str(&format!(
                "| {} | {} | {} % | {} % | {} | {} of {} | {} | {} | {} |\n",
                row.iteration,
                row.strategy,
                row.before,
                row.after,
                row.outcome,
                row.tests_run,
                row.tests_of,
                row.tried,
                seconds(row.duration_ms),
                cell(&row.summary)
            ));
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

/// How small the change became, in words.
#[must_use]
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
#[must_use]
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

fn list(text: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.collect();
    if !items.is_empty() {
        text.push_str(&format!("\n## {title}\n\n"));
        for item in items {
            text.push_str(&format!("- {item}\n"));
        }
    }
}

/// Our own words with a capital, on one line.
#[must_use]
pub fn sentence(text: &str) -> String {
    let text = line(text, 500);
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
