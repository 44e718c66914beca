//! Title and body of the pull request that offers a fix.

use super::final_state::FinalState;
use super::forge_page::ForgePage;
use super::markdown;
use super::markdown_page::forge_page;
use super::parts::Screen;
use super::view::View;

/// Longest title in characters; GitHub takes 256.
const TITLE: usize = 120;

/// The title; `name` is `#7` or a branch. It claims no more than the state of the session.
pub fn title(name: &str, view: &View, facts: &ForgePage<'_>) -> String {
    let subjects: Vec<&str> = view.written.iter().map(|one| one.subject.as_str()).collect();
    let text = match FinalState::of(view, facts) {
        Some(FinalState::Fixed) => format!("Bring the tests of {name} back to green"),
        Some(FinalState::TestsWritten) if subjects.len() <= 2 => {
            format!("Add tests for {}", subjects.join(" and "))
        }
        Some(FinalState::TestsWritten) => {
            format!(
                "Add tests for {} and {} more files",
                subjects.first().unwrap_or(&""),
                subjects.len() - 1
            )
        }
        _ => format!("Repair failing tests of {name}"),
    };
    markdown::line(&text, TITLE)
}

/// The body: result, failing tests, iterations, and what a person should check.
pub fn body(view: &View, facts: &ForgePage<'_>) -> String {
    let of = facts.pull.map(|number| format!(" for #{number}")).unwrap_or_default();
    let about = match FinalState::of(view, facts) {
        Some(FinalState::TestsWritten) => format!(
            "These tests{of} were written and run by regreen. Tests that pass show what the code does, not what it should do: read them before you merge them."
        ),
        _ => format!(
            "This is a fix{of}, made by running the tests. A change that makes the tests pass is plausible, not proven: read it before you merge it."
        ),
    };
    let text = forge_page("", Screen::PullRequest, view, facts, LIMIT - 1_000);
    format!("{about}\n\n{text}")
}

/// Longest body of a pull request, in bytes.
const LIMIT: usize = crate::domain::check::COMMENT_LIMIT;
