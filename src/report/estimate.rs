//! Estimates what a run may take, from the last run and the limits (specification.md 13.18).

use crate::domain::budget::dollars;
use crate::domain::command::RunLimits;

use super::markdown::{code, count, grouped};
use super::phrases::time;
use super::view::View;

/// Number of providers that are named.
const NAMED: usize = 6;

/// The estimate as Markdown: a column for what the last session used, one for what is allowed.
pub fn estimate(view: Option<&View>, granted: &RunLimits, engine: &[String]) -> String {
    let last = view.filter(|view| !view.session.is_empty());
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
            seen(&|view| grouped(view.spent.usage.tokens())),
            granted.tokens.map_or_else(no_limit, grouped),
        ),
        (
            "money",
            seen(&|view| dollars(view.spent.micro_usd)),
            granted.usd.map_or_else(no_limit, |usd| format!("${usd:.2}")),
        ),
    ];
    let mut text = String::from("| What | The last session | At most |\n|---|--:|--:|\n");
    for (what, used, most) in rows {
        text.push_str(&format!("| {what} | {used} | {most} |\n"));
    }
    text.push('\n');
    text.push_str(&outlook(last));
    let names: Vec<String> = engine.iter().take(NAMED).map(|name| code(name)).collect();
    if names.is_empty() {
        text.push_str(
            " Models are asked as far as their keys are set; the built-in engine costs nothing.\n",
        );
    } else {
        text.push_str(&format!(
            " Asked in this order: {}; the built-in engine costs nothing.\n",
            names.join(", ")
        ));
    }
    text
}

/// What the last session suggests about the next one.
fn outlook(last: Option<&View>) -> String {
    let Some(view) = last else {
        return "Nothing ran here yet, so only the limits are known.".into();
    };
    let failing = view.failing().len();
    if failing == 0 {
        return "No test fails as far as is known: a run takes one pass of the suite.".into();
    }
    let regained = u64::from(view.regained());
    let each = view.spent.micro_usd.checked_div(regained).filter(|each| *each > 0);
    match each {
        Some(each) => format!(
            "{} left; each of {} so far cost {}, so about {} for the rest.",
            count(failing as u64, "failing test"),
            count(regained, "regained test"),
            dollars(each),
            dollars(each.saturating_mul(failing as u64))
        ),
        None => {
            format!("{} left; no money was spent so far.", count(failing as u64, "failing test"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::TestId;
    use crate::domain::rate::PassRate;

    #[test]
    fn a_quote_tells_the_past_and_the_limits() {
        let mut view = View { session: "WFS-test-pr-7".into(), ..View::default() };
        view.red = vec![TestId::from("a"), TestId::from("b")];
        view.baseline = PassRate::of(6, 10);
        view.testing.insert(0, 61_000);
        view.spent.micro_usd = 0;
        let granted = RunLimits {
            minutes: Some(30),
            usd: Some(2.0),
            calls: Some(1200),
            ..RunLimits::default()
        };
        insta::assert_snapshot!(
            estimate(Some(&view), &granted, &["gemini".into(), "x`y".into()]),
            @r"
        | What | The last session | At most |
        |---|--:|--:|
        | iterations | 0 | no limit |
        | wall time | – | 30 min |
        | of that in test runs | 1 min 1 s | – |
        | questions to models | 0 | 1,200 |
        | tokens | 0 | no limit |
        | money | $0.00 | $2.00 |

        2 failing tests left; no money was spent so far. Asked in this order: `gemini`, ``x`y``; the built-in engine costs nothing.
        "
        );
        let text = estimate(None, &RunLimits::default(), &[]);
        assert!(
            text.contains("| money | – | no limit |") && text.contains("Nothing ran"),
            "{text}"
        );
    }
}
