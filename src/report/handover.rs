//! The hand-over when the gate was not met: for each failing test the best known cause, what was
//! tried and why it did not help, where to look first, and the command that continues the session
//! (specification.md 9.3).

use crate::domain::event::{Ending, Outcome, UnfinishedIteration};
use crate::domain::fix_loop::{FixLoop, IterationRecord, IterationResult};
use crate::domain::fix_plan::RootCause;
use crate::domain::id::TestId;
use crate::domain::text::count;

use super::markdown::code;
use super::next_steps;
use super::phrases::sentence;
use super::state_files::calls;

/// Number of tests that are described one by one.
const TESTS: usize = 30;

/// The hand-over as Markdown; empty when there is nothing to take over.
pub fn render(state: &FixLoop, outcome: &Outcome) -> String {
    if !matches!(outcome.result, Ending::Failure | Ending::Blocked) || outcome.failing.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n## What is left to do\n\n{} after {}. {}.\n",
        count(outcome.failing.len(), "failing test"),
        count(state.iterations.len(), "iteration"),
        sentence(&outcome.reason)
    );
    for one in outcome.failing.iter().take(TESTS) {
        text.push_str(&format!("\n### {}\n\n", code(one.test.as_str())));
        text.push_str(&format!("- Says: {}\n", code(&one.message)));
        text.push_str(&format!("- Criticality: {} ({})\n", one.criticality, one.evidence));
        let cause = best_cause(state, &one.test);
        text.push_str(&match &cause {
            Some((by, sure, cause)) => format!(
                "- Most likely cause: {} at {} ({by}, confidence {sure:.2})\n",
                code(&cause.cause),
                code(&cause.point.to_string())
            ),
            None => {
                "- Most likely cause: unknown; no analysis named a place for this test\n".to_owned()
            }
        });
        let tried: Vec<String> =
            state.iterations.iter().filter(|one| failed(one)).flat_map(attempts).collect();
        text.push_str("- Tried without success:\n");
        let tried: Vec<String> =
            outcome.unfinished.iter().filter_map(stopped).chain(tried).collect();
        for line in tried.iter().take(12) {
            text.push_str(&format!("  - {line}\n"));
        }
        if tried.is_empty() {
            text.push_str("  - nothing yet\n");
        }
        text.push_str(&format!("- Look first: {}\n", look_first(state, cause.as_ref())));
    }
    if outcome.failing.len() > TESTS {
        text.push_str(&format!(
            "\nAnd {} more, in `test-results.json`.\n",
            outcome.failing.len() - TESTS
        ));
    }
    let failed = state
        .iterations
        .iter()
        .flat_map(|one| one.row.calls.iter().map(|call| (one.row.iteration, call)))
        .filter(|(_, call)| call.trigger.is_some());
    let failed = calls(failed);
    if !failed.is_empty() {
        text.push_str(&format!("\n### Why providers did not help\n\n{failed}"));
    }
    if let Some(step) = next_steps::resume(outcome) {
        text.push_str(&format!("\nContinue with {}.\n", code(&step.command)));
    }
    text
}

fn improved(one: &IterationRecord) -> bool {
    one.result == IterationResult::Improved
}

/// Whether an iteration tried something that did not help.
fn failed(one: &IterationRecord) -> bool {
    !improved(one) && one.result != IterationResult::SkippedDegraded
}

/// What the iteration in which the run stopped had tried; `None` if it had not come to that.
fn stopped(unfinished: &UnfinishedIteration) -> Option<String> {
    let UnfinishedIteration { iteration, strategy, candidates, edit } = unfinished;
    let so_far = match (edit, candidates) {
        (Some(edit), _) => {
            format!("found {} and had not confirmed it when the run stopped", code(&edit.summary))
        }
        (None, 0) => return None,
        (None, some) => {
            format!("{} without success when the run stopped", count(u64::from(*some), "candidate"))
        }
    };
    Some(format!("iteration {iteration}, {strategy}: {so_far}"))
}

/// What one iteration tried, and why it did not help.
fn attempts(one: &IterationRecord) -> Vec<String> {
    let number = one.row.iteration;
    let said = match (one.row.summary.as_str(), one.row.reason.as_str()) {
        // Without an edit, the reason stands for it.
        (summary, reason) if summary == reason => code(reason),
        (summary, reason) => format!("{}: {}", code(summary), code(reason)),
    };
    let mut lines = vec![format!("iteration {number}, {}: {said}", one.row.strategy)];
    lines.extend(
        one.refusals
            .iter()
            .map(|refusal| format!("iteration {number}, refused: {}", code(refusal))),
    );
    lines
}

/// The surest cause that names the test, else the surest of the last plan; with its author. The plan
/// of an iteration that has not ended counts too.
fn best_cause(state: &FixLoop, test: &TestId) -> Option<(String, f64, RootCause)> {
    let all = state.iterations.iter().filter(|one| !improved(one)).flat_map(|one| {
        let by = if one.row.provider.is_empty() { "nobody" } else { one.row.provider.as_str() };
        one.root_causes.iter().map(move |cause| (by.to_owned(), one.confidence, cause.clone()))
    });
    let plan = state.attempt.iter().filter_map(|attempt| attempt.plan.as_ref());
    let current = plan.flat_map(|plan| {
        let (by, confidence) = (&plan.author, plan.confidence);
        plan.root_causes.iter().map(move |cause| (by.clone(), confidence, cause.clone()))
    });
    all.chain(current)
        .filter(|(_, _, cause)| cause.tests.is_empty() || cause.tests.contains(test))
        .max_by(|a, b| {
            let names = |cause: &RootCause| cause.tests.contains(test);
            names(&a.2).cmp(&names(&b.2)).then(a.1.total_cmp(&b.1))
        })
}

fn look_first(state: &FixLoop, cause: Option<&(String, f64, RootCause)>) -> String {
    let asked = state.iterations.iter().any(|one| !one.row.calls.is_empty());
    let more = if asked {
        "another provider may see what these did not"
    } else {
        "a provider with a key can write what a search over small edits cannot"
    };
    match cause {
        Some((_, _, cause)) => format!("{}; {more}", code(&cause.point.to_string())),
        None => format!("the stack in `test-results.json`; {more}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::UnconfirmedEdit;
    use crate::domain::strategy::Strategy;

    #[test]
    fn a_search_that_was_stopped_has_tried_what_it_had_tried() {
        let edit = UnconfirmedEdit {
            author: "embedded".into(),
            summary: "a.py:2: `a + b` → `a * b`".into(),
            suspicion: None,
            patch: String::new(),
        };
        let table = [
            (0, None, None),
            (
                1,
                None,
                Some("iteration 3, surgical: 1 candidate without success when the run stopped"),
            ),
            (
                184,
                None,
                Some("iteration 3, surgical: 184 candidates without success when the run stopped"),
            ),
            (
                2,
                Some(edit),
                Some(
                    "iteration 3, surgical: found `` a.py:2: `a + b` → `a * b` `` and had not confirmed it when the run stopped",
                ),
            ),
        ];
        for (candidates, edit, expected) in table {
            let strategy = Strategy::Surgical;
            let unfinished = UnfinishedIteration { iteration: 3, strategy, candidates, edit };
            assert_eq!(stopped(&unfinished).as_deref(), expected, "{candidates}");
        }
    }
}
