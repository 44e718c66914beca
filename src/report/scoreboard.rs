//! What a session cost for what it regained, what held its tests back, and which runs stand behind each
//! label. A figure that does not exist is left out (specification.md 7.2, 9.2).

use std::collections::BTreeSet;

use crate::domain::budget::dollars;
use crate::domain::event::Outcome;
use crate::domain::text::count;

use super::parts::{Item, Part};
use super::phrases::{counted, time};
use super::view::View;

/// The rows as one list; empty while the session runs, and where nothing ran.
pub fn build_scoreboard(view: &View) -> Part<'static> {
    let outcome = view.outcome.as_ref().filter(|_| view.baseline.is_some());
    let rows = outcome.map(|outcome| {
        [price(view, outcome), fault(view, outcome), protection(outcome)].into_iter().flatten()
    });
    Part::list("Scoreboard", rows.into_iter().flatten(), Item::text)
}

/// Money and time for each test that passes again.
fn price(view: &View, outcome: &Outcome) -> Option<String> {
    let regained = u64::from(view.regained());
    let took = time(outcome.duration_ms.checked_div(regained)?);
    let cost = match outcome.spending {
        spent if spent.calls == 0 => "no provider asked".to_owned(),
        spent if spent.unpriced > 0 => format!(
            "at least {}, {} without a known price",
            dollars(spent.micro_usd / regained),
            count(spent.unpriced, "call")
        ),
        spent => counted(dollars(spent.micro_usd / regained), spent.usage),
    };
    let kind = if view.is_head_green() { "failing new test" } else { "regained test" };
    Some(format!("For each of {}: {took}, {cost}.", count(regained, kind)))
}

/// The share of red tests that the change under test did not cause, with the runs that say so.
fn fault(view: &View, outcome: &Outcome) -> Option<String> {
    let red = view.red.iter().chain(&view.flaky).collect::<BTreeSet<_>>().len();
    let base = outcome.base.as_ref().map_or_else(String::new, |base| format!(" {}", base.short()));
    let labels = [
        (outcome.flaky.len(), "flaky (failed, and passed on the same sources)".to_owned()),
        (outcome.preexisting.len(), format!("failed on the merge base{base} too")),
        (outcome.introduced.len(), format!("passed on the merge base{base} and failed here")),
    ];
    let named = labels.iter().filter(|(number, _)| *number > 0);
    let named: Vec<String> = named.map(|(number, words)| format!("{number} {words}")).collect();
    let of = match red {
        0 => String::new(),
        _ => format!("Of {} at the start: ", count(red, "red test")),
    };
    (!named.is_empty()).then(|| format!("{of}{}.", named.join("; ")))
}

/// What kept test code away from the machine and the network.
fn protection(outcome: &Outcome) -> Option<String> {
    let held = &outcome.protection;
    (!held.is_empty()).then(|| format!("Protection in force: {}.", held.join("; ")))
}
