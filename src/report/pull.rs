//! Title and body of the pull request that offers a fix.

use crate::domain::text::count;

use super::final_state::FinalState;
use super::forge_page::ForgePage;
use super::markdown;
use super::markdown_page::forge_page;
use super::parts::Screen;
use super::view::View;

/// Longest title in characters; GitHub takes 256.
const TITLE: usize = 120;

/// What the pull request offers.
enum Offer {
    Fix,
    Tests,
    /// Repairs that `/regreen validate --fix` stored; nothing was run.
    Repairs,
}

fn offer(view: &View, facts: &ForgePage<'_>) -> Offer {
    let fixed = view.improvements() > 0;
    match FinalState::of(view, facts) {
        Some(FinalState::NoSession) => Offer::Repairs,
        _ if !view.written.is_empty() && !fixed => Offer::Tests,
        _ => Offer::Fix,
    }
}

/// The title; `name` is `#7` or a branch. It claims no more than the state of the session.
pub fn title(name: &str, view: &View, facts: &ForgePage<'_>) -> String {
    let subjects: Vec<&str> = view.written.iter().map(|one| one.subject.as_str()).collect();
    let text = match (offer(view, facts), subjects.as_slice()) {
        (Offer::Repairs, _) => format!("Apply safe repairs to {name}"),
        (Offer::Tests, [one]) => format!("Add tests for {one}"),
        (Offer::Tests, [one, more @ ..]) => {
            format!("Add tests for {one} and {}", count(more.len() as u64, "more file"))
        }
        (Offer::Tests | Offer::Fix, _) => match FinalState::of(view, facts) {
            Some(FinalState::Fixed) => format!("Bring the tests of {name} back to green"),
            _ => format!("Repair failing tests of {name}"),
        },
    };
    markdown::line(&text, TITLE)
}

/// The body: result, failing tests, iterations, and what a person should check.
pub fn body(view: &View, facts: &ForgePage<'_>) -> String {
    let of = facts.pull.map(|number| format!(" for #{number}")).unwrap_or_default();
    let about = match offer(view, facts) {
        Offer::Repairs => format!(
            "These are repairs{of} that `/regreen validate --fix` made with the project's own tools. No test ran."
        ),
        Offer::Tests => format!(
            "These tests{of} were written and run by regreen. Tests that pass show what the code does, not what it should do: read them before you merge them."
        ),
        Offer::Fix => format!(
            "This is a fix{of}, made by running the tests. A change that makes the tests pass is plausible; whether it is right, you decide: read it before you merge it."
        ),
    };
    let text = forge_page("", Screen::PullRequest, view, facts, LIMIT - 1_000);
    format!("{about}\n\n{text}")
}

/// Longest body of a pull request, in bytes.
const LIMIT: usize = crate::domain::check::COMMENT_LIMIT;
