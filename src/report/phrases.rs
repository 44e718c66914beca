//! Phrases that several outputs share, so that a state is described alike everywhere.

use crate::domain::budget::{Spending, Usage, dollars};
use crate::domain::event::{Ending, IterationRow, Minimised, Outcome};
use crate::domain::fix_loop::IterationResult;
use crate::domain::text::count;

use super::markdown::{grouped, line, prose};
use super::runner_commands::neutralise_commands;
use super::view::View;

/// Describes how small the change became.
pub fn made_smaller(minimised: &Minimised) -> String {
    let proven = minimised.needed.iter().filter(|one| !one.tests.is_empty()).count();
    let size = if minimised.is_whole {
        format!("the change as it was made: {} lines", minimised.after)
    } else if minimised.after < minimised.before {
        format!("made the change smaller: {} → {} lines", minimised.before, minimised.after)
    } else {
        format!("nothing of the change can be dropped: {} lines", minimised.after)
    };
    let proof =
        format!("{proven} of {} proven to be needed", count(minimised.needed.len(), "hunk"));
    let end = if minimised.complete { "" } else { ", stopped at its limit" };
    format!("{size}; {proof}{end}")
}

/// Describes what the providers were used for.
pub fn usage(spending: &Spending) -> String {
    let unknown = match spending.unpriced {
        0 => String::new(),
        some => format!(", {} without a known price", count(some, "call")),
    };
    format!(
        "{}, {} tokens in and {} out{unknown}",
        count(spending.calls, "call"),
        counted(grouped(spending.usage.input_tokens), spending.usage),
        grouped(spending.usage.output_tokens),
    )
}

/// A number of tokens or what they cost, marked where a part of the usage is estimated.
pub fn counted(number: String, usage: Usage) -> String {
    if usage.estimated { format!("about {number}") } else { number }
}

/// The tokens of questions and answers together.
pub fn tokens(usage: Usage) -> String {
    counted(grouped(usage.tokens()), usage)
}

/// What the providers cost, as far as prices are known.
pub fn cost(spending: &Spending) -> String {
    counted(dollars(spending.micro_usd), spending.usage)
}

/// A text of our own, capitalised and on one line.
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

/// Foreign text on one line, which no runner takes for a workflow command.
pub fn single_safe_line(text: &str, limit: usize) -> String {
    neutralise_commands(&line(text, limit))
}

/// `2.4 s`, `12 min 5 s`, `1 h 2 min`.
pub fn time(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..60 => format!("{seconds}.{} s", milliseconds % 1000 / 100),
        60..3600 if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ if seconds % 3600 < 60 => format!("{} h", seconds / 3600),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// How an iteration ended: its tone, and words that may quote an unknown outcome.
pub fn result_of(row: &IterationRow) -> (Tone, String) {
    let rates = format!("{} → {} %", row.before, row.after);
    match (row.outcome.as_str(), row.reached) {
        ("improved", _) => (Tone::Good, format!("kept: {rates}")),
        ("regression", Some(reached)) => {
            (Tone::Bad, format!("taken back: fell to {reached} %, still {} %", row.after))
        }
        ("unchanged", Some(reached)) if reached != row.after => {
            (Tone::Neutral, format!("no better: {reached} %, taken back; still {} %", row.after))
        }
        ("unchanged", _) => (Tone::Neutral, format!("no better: {rates}")),
        ("skipped_degraded", _) => {
            (Tone::Warning, format!("skipped, no analysis was good enough: still {} %", row.after))
        }
        _ => (Tone::Warning, format!("{}: {rates}", line(&result_word(row), 40))),
    }
}

/// The result of an iteration in a word or two.
pub fn result_word(row: &IterationRow) -> String {
    match row.outcome.as_str() {
        "error" => "no result".to_owned(),
        other => other.replace('_', " "),
    }
}

/// How often tests ran, of how often they would have in full runs; `None` where none ran.
pub fn test_runs(row: &IterationRow) -> Option<String> {
    let noun = if row.tests_of == 1 { "test run" } else { "test runs" };
    let [ran, all] = [row.tests_run, row.tests_of].map(|tests| grouped(tests.into()));
    (row.tests_run > 0).then(|| format!("{ran} of {all} {noun}"))
}

/// Whether an iteration tried nothing, because no analysis was good enough to act on.
pub fn is_skipped(row: &IterationRow) -> bool {
    row.outcome == IterationResult::SkippedDegraded.to_string()
}

/// How a result feels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Warning,
    Bad,
    Neutral,
}

/// Maximum number of characters of why a change is suspicious.
const DOUBT: usize = 300;

/// What holds of the change of a session that ended so.
pub fn describe_plausible_fix(view: &View, outcome: &Outcome) -> String {
    let holds = match outcome.result {
        _ if outcome.is_objected() => "It satisfies the tests; whether it is right, you decide.",
        Ending::Success => "It satisfies the tests; whether it is right, you decide.",
        Ending::PartialSuccess => "It meets the gate; whether it is right, you decide.",
        _ if view.rate().is_some_and(|rate| rate.passed == rate.total) => {
            "No test is known to fail with it; whether it is right, you decide."
        }
        _ if view.regained() > 0 => {
            "It repairs some of the failures; whether it is right, you decide."
        }
        _ if view.improvements() > 0 => {
            "No more tests pass with it than before; whether it is right, you decide."
        }
        _ => "No more tests pass with it than before, and no commit keeps it.",
    };
    let kept = view.rows.iter().filter(|row| row.outcome == IterationResult::Improved.to_string());
    let doubt = kept.rev().find_map(IterationRow::find_suspicion);
    let doubt = doubt.map(|why| format!(" Look closely at it: {}.", prose(why, DOUBT)));
    format!("{holds}{}", doubt.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_regained_nothing_is_not_said_to_repair_failures() {
        let rate = |passed| crate::domain::rate::PassRate::of(passed, 10);
        let view = |last: u32| {
            let mut view = crate::report::tests::closed(Ending::Failure);
            (view.baseline, view.rows) = (rate(5), Vec::new());
            if let Some(outcome) = &mut view.outcome {
                outcome.last = rate(last);
            }
            view
        };
        let of = |view: &View| describe_plausible_fix(view, view.outcome.as_ref().unwrap());
        assert!(of(&view(7)).contains("repairs some of the failures"));
        let mut doubted = crate::report::tests::closed(Ending::Success);
        let row = doubted.rows.iter_mut().rfind(|row| row.outcome == "improved").unwrap();
        row.summary =
            "a.py:1: `x` → `y` (suspicious: it adds `20`, which occurs in a failing test)".into();
        let said = of(&doubted);
        assert!(
            said.ends_with("Look closely at it: it adds `20`, which occurs in a failing test."),
            "{said}"
        );
        // Interrupted before its last full run.
        assert!(of(&view(10)).contains("No test is known to fail"), "{}", of(&view(10)));
        let nothing = of(&view(5));
        assert!(nothing.contains("No more tests pass") && nothing.contains("no commit keeps it"));
    }

    #[test]
    fn times_read_well() {
        let table = [
            (0, "0.0 s"),
            (2_449, "2.4 s"),
            (59_999, "59.9 s"),
            (725_000, "12 min 5 s"),
            (3_720_000, "1 h 2 min"),
        ];
        for (value, expected) in table {
            assert_eq!(time(value), expected);
        }
    }
}
