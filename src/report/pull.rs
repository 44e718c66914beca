//! The pull request that offers a fix.

use super::forge_page::ForgePage;
use super::markdown;
use super::view::View;
use super::{detail, overview};

/// Longest title in characters; GitHub takes 256.
const TITLE: usize = 120;

/// Its title; `name` is `#7` or a branch.
pub fn title(name: &str) -> String {
    markdown::line(&format!("Bring the tests of {name} back to green"), TITLE)
}

/// What it says: how far the tests came, each step, and what a person should look at.
pub fn body(view: &View, facts: &ForgePage<'_>) -> String {
    let parts = [
        overview::heading(view),
        overview::verdict(view, facts),
        overview::climb(view, facts),
        overview::failing(view, facts),
        detail::iterations(view, facts),
        detail::proof(view),
    ];
    let about = match facts.pull {
        Some(number) => format!("This is a fix for #{number}, made by running its tests. "),
        None => "This is a fix made by running the tests. ".to_owned(),
    };
    let text = super::page_parts::closed(&parts, facts, LIMIT - 1_000);
    format!(
        "{about}A change that makes the tests pass is plausible, not proven: read it before you merge it.\n\n{text}"
    )
}

/// Longest body in bytes.
const LIMIT: usize = crate::domain::check::COMMENT_LIMIT;
