//! The record of a decision to change tests instead of code (specification.md 7.13). Pure.

use crate::domain::fix_loop::{FixLoop, IterationRecord, IterationResult};

use super::markdown::code;

/// Why an iteration changed tests, for the person who confirms it; `None` for one that did not, or
/// whose change did not stay. `state` is that before the iteration ended.
pub fn decision(state: &FixLoop, ended: &IterationRecord) -> Option<String> {
    let attempt = state.attempt.as_ref()?;
    let proposal = attempt.proposal.as_ref().filter(|proposal| proposal.edits_tests)?;
    let stays = ended.result == IterationResult::Improved
        || attempt.judged.as_ref().is_some_and(|judged| judged.keep_uncommitted);
    if !stays {
        return None;
    }
    let mut text = format!(
        "# Tests were changed in iteration {}\n\nA person must confirm this: no change of a test is more than partial success.\n\n- proposed by {}{}\n- strategy: {} ({})\n- what: {}\n",
        ended.row.iteration,
        code(&proposal.author),
        proposal.confidence.map_or_else(String::new, |sure| format!(", confidence {sure:.2}")),
        ended.row.strategy,
        state.strategy_reason,
        code(&proposal.summary),
    );
    if let Some(commit) = &ended.row.commit {
        text.push_str(&format!("- commit: `{commit}`\n"));
    }
    text.push_str("\n## Files\n\n");
    for edit in &proposal.edits.files {
        text.push_str(&format!("- {}\n", code(edit.file.as_str())));
    }
    if let Some(plan) = &attempt.plan {
        text.push_str("\n## Reasons\n\n");
        for cause in &plan.root_causes {
            let place = code(&cause.point.to_string());
            text.push_str(&format!("- {place}: {}\n", code(&cause.cause)));
        }
        text.push_str(&format!("- approach: {}\n", code(&plan.approach)));
    }
    Some(text)
}
