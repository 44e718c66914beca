//! The earlier attempts of a session, as a prompt shows them.

use crate::code::edit_blocks;
use crate::domain::chain::FallbackTrigger;
use crate::domain::fix_loop::{FailedChange, FixLoop, IterationRecord};
use crate::domain::progress::Trend;

use super::excerpt;

/// Maximum number of iterations in a prompt.
const ITERATIONS: usize = 10;

/// Maximum number of kinds of edits in a prompt.
const PATTERNS: usize = 8;

/// What was tried before, the latest first, so that old attempts are cut before new ones: edits with
/// what the tests said after them, refused edits, and kinds of edits that helped. Empty at the start.
/// `root` is the root of the checkout.
pub fn attempt_history(state: &FixLoop, root: &str) -> String {
    let mut text = String::new();
    for refusal in state.attempt.iter().flat_map(|attempt| &attempt.refusals) {
        text.push_str(&format!("- refused in this iteration: {refusal}\n"));
    }
    // What falls was taken back, and what rises needs no other approach.
    if let Some(trend @ Trend::Stagnant) = state.trend.filter(|_| state.iterations.len() > 1) {
        text.push_str(&format!("- {}: try another approach\n", trend.clause()));
    }
    for one in state.iterations.iter().rev().take(ITERATIONS) {
        text.push_str(&iteration(one, root));
    }
    if !state.patterns.is_empty() {
        let known: Vec<&str> = state.patterns.iter().take(PATTERNS).map(String::as_str).collect();
        text.push_str(&format!("- kinds of edits that were kept before: {}\n", known.join(", ")));
    }
    text
}

fn iteration(one: &IterationRecord, root: &str) -> String {
    let row = &one.row;
    let mut text = format!(
        "- iteration {} ({}): {}; {}; {}\n",
        row.iteration, row.strategy, row.outcome, row.summary, row.reason
    );
    for refusal in &one.refusals {
        text.push_str(&format!("  refused: {refusal}\n"));
    }
    let is_wrong = Some(FallbackTrigger::PlanIsWrong);
    for call in row.calls.iter().filter(|call| call.trigger == is_wrong) {
        text.push_str(&format!("  the plan was found to be wrong: {}\n", call.reason));
    }
    if let Some(change) = &one.failed_change {
        text.push_str(&failed_change(change, root));
    }
    text
}

fn failed_change(change: &FailedChange, root: &str) -> String {
    let state = if change.kept { "is still there" } else { "was taken back" };
    let mut text =
        format!("  This change did not help and {state}; its place may still be right:\n");
    for edit in &change.edits {
        text.push_str(&indented(&edit_blocks::block(edit)));
    }
    if !change.failures.is_empty() {
        text.push_str("  With it, the tests said:\n");
        text.push_str(&indented(&excerpt::frames_inside(&change.failures, root)));
    }
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::proposal::SearchReplace;

    #[test]
    fn nothing_was_tried_at_first_and_the_list_of_patterns_is_bounded() {
        let mut state = crate::domain::fix_loop::tests::new(95, 10);
        assert_eq!(attempt_history(&state, "/work"), "");
        state.patterns = vec!["n < 1 to n <= 1".into(); 20];
        let text = attempt_history(&state, "/work");
        assert_eq!(text.matches("n <= 1").count(), PATTERNS, "{text}");
    }

    #[test]
    fn a_change_that_did_not_help_is_shown_with_what_the_tests_said() {
        let edit = SearchReplace {
            file: "a.py".into(),
            search: "return a + b\n".into(),
            replace: "return a * b\n".into(),
        };
        let change =
            FailedChange { edits: vec![edit], kept: false, failures: "t:\n  1 != 2\n".into() };
        insta::assert_snapshot!(failed_change(&change, "/work"), @r"
          This change did not help and was taken back; its place may still be right:
            a.py
            <<<<<<< SEARCH
            return a + b
            =======
            return a * b
            >>>>>>> REPLACE
          With it, the tests said:
            t:
              1 != 2
        ");
        let kept = failed_change(&FailedChange { kept: true, ..change }, "/work");
        assert!(kept.contains("is still there") && !kept.contains("wrong"), "{kept}");
    }
}
