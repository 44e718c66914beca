//! Estimates what a run may take, from the last run and the limits (specification.md 2.8).

use crate::domain::budget::{Price, dollars, micro_usd};
use crate::domain::command::RunLimits;
use crate::domain::id::CommitId;
use crate::domain::text::count;

use super::markdown::{code, grouped};
use super::phrases::{cost, time, tokens};
use super::view::View;

/// Number of providers that are named.
const NAMED: usize = 6;

/// Full runs of a session that changes nothing else: baseline, twice the failing tests, and the end.
const FULL_RUNS: u64 = 4;

/// What an estimate is made from.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The sessions of the target, oldest first.
    pub sessions: &'a [View],
    /// The commit that a run would test.
    pub head: &'a CommitId,
    pub limits: &'a RunLimits,
    /// The configured providers in order, with their prices as far as these are known.
    pub providers: &'a [(String, Option<Price>)],
}

/// The estimate as Markdown: a sentence with its evidence, and a table of used and allowed.
pub fn estimate(evidence: &Evidence<'_>) -> String {
    let granted = evidence.limits;
    let last = evidence.sessions.iter().rev().find(|view| !view.session.is_empty());
    let no_limit = || "no limit".to_owned();
    let dash = || "–".to_owned();
    let seen = |of: &dyn Fn(&View) -> String| last.map_or_else(dash, of);
    let rows = [
        (
            "iterations",
            seen(&|view| view.rows.len().to_string()),
            granted.max_iterations.map_or_else(no_limit, |most| most.to_string()),
        ),
        (
            "wall time",
            seen(&|view| view.outcome.as_ref().map_or_else(dash, |end| time(end.duration_ms))),
            granted.minutes.map_or_else(no_limit, |minutes| time(minutes.saturating_mul(60_000))),
        ),
        (
            "of that in test runs",
            seen(&|view| time(view.testing.values().fold(0, |sum, one| sum.saturating_add(*one)))),
            dash(),
        ),
        (
            "questions to models",
            seen(&|view| grouped(view.spent.calls)),
            granted.calls.map_or_else(no_limit, grouped),
        ),
        (
            "tokens",
            seen(&|view| tokens(view.spent.usage)),
            granted.tokens.map_or_else(no_limit, grouped),
        ),
        (
            "money",
            seen(&|view| cost(&view.spent)),
            granted.usd.map_or_else(no_limit, |usd| format!("${usd:.2}")),
        ),
    ];
    let mut text = format!("{}\n\n", outlook(evidence, last));
    text.push_str("| What | The last session | At most |\n|---|--:|--:|\n");
    for (what, used, most) in rows {
        text.push_str(&format!("| {what} | {used} | {most} |\n"));
    }
    format!("{text}\n{}\n", who(evidence.providers))
}

/// Who is asked, and what is known of their prices.
fn who(providers: &[(String, Option<Price>)]) -> String {
    let free = "the built-in engine costs nothing.";
    if providers.is_empty() {
        return format!("Models are asked as far as their keys are set; {free}");
    }
    let name = |(name, price): &(String, Option<Price>)| match price {
        Some(Price { input, output, .. }) => {
            format!("{} (${input} a million tokens in, ${output} out)", code(name))
        }
        None => code(name),
    };
    let names: Vec<String> = providers.iter().take(NAMED).map(name).collect();
    format!("Asked in this order: {}; {free}", names.join(", "))
}

/// What the sessions suggest about the next one, with the evidence.
fn outlook(evidence: &Evidence<'_>, last: Option<&View>) -> String {
    let Some(view) = last.filter(|view| view.baseline.is_some()) else {
        let known = "only limits and prices are known; the first run measures";
        return format!("Nothing ran here yet, so {known}. {}", limits(evidence.limits));
    };
    let known = if view.head.as_ref() == Some(evidence.head) {
        match view.red.len() {
            0 => "no test failed on this head".to_owned(),
            some => format!("{} failed on this head", count(some, "test")),
        }
    } else {
        "the head is new, and a run shows first what fails there".to_owned()
    };
    let mut facts = vec![known];
    let run = view.full_run.map(|(tests, duration)| {
        let tests = count(tests, "test");
        facts.push(format!("the last run of {tests} took {}", time(duration)));
        duration
    });
    let is_green = view.red.is_empty() && view.head.as_ref() == Some(evidence.head);
    let past = Past::of(evidence.sessions);
    let quote = match (past, run) {
        (_, Some(run)) if is_green => format!("About {} and $0.00", time(run)),
        (Some(past), _) => {
            facts.extend(past.facts());
            past.quote(evidence.limits)
        }
        (None, Some(run)) => {
            facts.push("no session here made an iteration".to_owned());
            format!("At least {}, and no more than the limits", time(run.saturating_mul(FULL_RUNS)))
        }
        (None, None) => "No more than the limits".to_owned(),
    };
    format!("{quote}: {}. {}", facts.join(", "), limits(evidence.limits))
}

fn limits(limits: &RunLimits) -> String {
    let all = [
        limits.max_iterations.map(|most| count(most, "iteration")),
        limits.minutes.map(|minutes| time(minutes.saturating_mul(60_000))),
        limits.usd.map(|usd| format!("${usd:.2}")),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    if all.is_empty() {
        "There is no limit.".into()
    } else {
        format!("Limits: {}.", all.join(", "))
    }
}

/// What the sessions that made an iteration used.
#[derive(Clone, Copy)]
struct Past {
    sessions: u64,
    iterations: u64,
    iterations_ms: u64,
    /// Wall time of the quickest and of the slowest one.
    ms: (u64, u64),
    /// Cost of the cheapest and of the dearest one.
    micro_usd: (u64, u64),
    questions: u64,
    all_micro_usd: u64,
}

impl Past {
    fn of(sessions: &[View]) -> Option<Self> {
        let ended: Vec<(&View, u64)> = sessions
            .iter()
            .filter(|view| !view.rows.is_empty())
            .filter_map(|view| Some((view, view.outcome.as_ref()?.duration_ms)))
            .collect();
        let range = |of: &dyn Fn(&(&View, u64)) -> u64| {
            Some((ended.iter().map(of).min()?, ended.iter().map(of).max()?))
        };
        let sum = |of: &dyn Fn(&View) -> u64| {
            ended.iter().fold(0_u64, |sum, (view, _)| sum.saturating_add(of(view)))
        };
        Some(Self {
            sessions: ended.len() as u64,
            iterations: sum(&|view| view.rows.len() as u64),
            iterations_ms: sum(&|view| view.rows.iter().map(|row| row.duration_ms).sum()),
            ms: range(&|(_, duration)| *duration)?,
            micro_usd: range(&|(view, _)| view.spent.micro_usd)?,
            questions: sum(&|view| view.spent.calls),
            all_micro_usd: sum(&|view| view.spent.micro_usd),
        })
    }

    /// Time and money, never more than is allowed.
    fn quote(self, limits: &RunLimits) -> String {
        let most_ms = limits.minutes.map_or(u64::MAX, |minutes| minutes.saturating_mul(60_000));
        let most_usd = limits.usd.map_or(u64::MAX, micro_usd);
        let range = |(low, high): (u64, u64), most: u64, print: fn(u64) -> String| {
            let (low, high) = (print(low.min(most)), print(high.min(most)));
            if low == high { low } else { format!("{low} to {high}") }
        };
        let money = range(self.micro_usd, most_usd, dollars);
        format!("About {} and {money}", range(self.ms, most_ms, time))
    }

    fn facts(self) -> Vec<String> {
        let each = self.iterations_ms.checked_div(self.iterations).unwrap_or_default();
        let tenths = (self.iterations * 10).checked_div(self.sessions).unwrap_or_default();
        let number = match tenths {
            10 => "1 iteration".to_owned(),
            _ if tenths.is_multiple_of(10) => format!("{} iterations", tenths / 10),
            _ => format!("{}.{} iterations", tenths / 10, tenths % 10),
        };
        let sessions = count(self.sessions, "session");
        let question = self.all_micro_usd.checked_div(self.questions);
        let question = question.map(|each| format!("a question cost {} on average", dollars(each)));
        let iterations = format!("{sessions} here took {number} of {} on average", time(each));
        std::iter::once(iterations).chain(question).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::budget::Spending;
    use crate::domain::event::{Ending, IterationRow};

    fn head() -> CommitId {
        CommitId::parse("b".repeat(40)).unwrap()
    }

    /// A session of some minutes with some iterations that asked three questions each.
    fn session(minutes: u64, iterations: u32) -> View {
        let mut view = crate::report::tests::closed(Ending::Success);
        view.head = Some(head());
        view.full_run = Some((60, 38_000));
        let row = view.rows[0].clone();
        view.rows = (1..=iterations)
            .map(|iteration| IterationRow { iteration, duration_ms: 80_000, ..row.clone() })
            .collect();
        view.outcome.as_mut().unwrap().duration_ms = minutes * 60_000;
        view.spent = Spending { calls: u64::from(iterations) * 3, ..Spending::default() };
        view.spent.micro_usd = u64::from(iterations) * 40_000;
        view
    }

    #[test]
    fn a_quote_names_minutes_money_and_its_evidence() {
        let limits = RunLimits {
            max_iterations: Some(10),
            minutes: Some(8),
            usd: Some(2.0),
            calls: Some(1200),
            ..RunLimits::default()
        };
        let providers = [
            ("gemini".to_owned(), Some(Price { input: 1.25, output: 10.0, ..Price::default() })),
            ("x`y".into(), None),
        ];
        let sessions = [session(4, 1), session(9, 4)];
        let evidence =
            Evidence { sessions: &sessions, head: &head(), limits: &limits, providers: &providers };
        insta::assert_snapshot!(estimate(&evidence), @r"
        About 4 min to 8 min and $0.0400 to $0.16: 2 tests failed on this head, the last run of 60 tests took 38.0 s, 2 sessions here took 2.5 iterations of 1 min 20 s on average, a question cost $0.0134 on average. Limits: 10 iterations, 8 min, $2.00.

        | What | The last session | At most |
        |---|--:|--:|
        | iterations | 4 | 10 |
        | wall time | 9 min | 8 min |
        | of that in test runs | 0.0 s | – |
        | questions to models | 12 | 1,200 |
        | tokens | 0 | no limit |
        | money | $0.16 | $2.00 |

        Asked in this order: `gemini` ($1.25 a million tokens in, $10 out), ``x`y``; the built-in engine costs nothing.
        ");
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let green = View { red: vec![], rows: vec![], ..session(1, 1) };
        let fresh = View { rows: vec![], ..session(1, 1) };
        let older = View { head: None, ..session(4, 1) };
        let begun = View { session: "x".into(), ..View::default() };
        let table: [(&str, &[View], &str); 6] = [
            (
                "nothing ran",
                &[],
                "Nothing ran here yet, so only limits and prices are known; the first run measures. Limits: 10 iterations.",
            ),
            (
                "a session was stopped before its baseline",
                &[begun],
                "Nothing ran here yet, so only limits and prices are known; the first run measures. Limits: 10 iterations.",
            ),
            (
                "it failed and was repaired on this head",
                &[session(4, 1)],
                "About 4 min and $0.0400: 2 tests failed on this head, the last run of 60 tests took 38.0 s, 1 session here took 1 iteration of 1 min 20 s on average, a question cost $0.0134 on average. Limits: 10 iterations.",
            ),
            (
                "the head moved",
                &[older],
                "About 4 min and $0.0400: the head is new, and a run shows first what fails there, the last run of 60 tests took 38.0 s, 1 session here took 1 iteration of 1 min 20 s on average, a question cost $0.0134 on average. Limits: 10 iterations.",
            ),
            (
                "it was green",
                &[green],
                "About 38.0 s and $0.00: no test failed on this head, the last run of 60 tests took 38.0 s. Limits: 10 iterations.",
            ),
            (
                "no iteration ran",
                &[fresh],
                "At least 2 min 32 s, and no more than the limits: 2 tests failed on this head, the last run of 60 tests took 38.0 s, no session here made an iteration. Limits: 10 iterations.",
            ),
        ];
        let limits = RunLimits { max_iterations: Some(10), ..RunLimits::default() };
        for (why, sessions, expected) in table {
            let evidence = Evidence { sessions, head: &head(), limits: &limits, providers: &[] };
            assert_eq!(outlook(&evidence, sessions.last()), expected, "{why}");
        }
    }
}
