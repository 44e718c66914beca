//! Title and body of the pull request that offers a fix.

use super::forge_page::ForgePage;
use super::markdown;
use super::markdown_page::forge_page;
use super::parts::Screen;
use super::view::View;

/// Longest title in characters; GitHub takes 256.
const TITLE: usize = 120;

/// The title; `name` is `#7` or a branch.
pub fn title(name: &str) -> String {
    markdown::line(&format!("Bring the tests of {name} back to green"), TITLE)
}

/// The body: result, failing tests, iterations, and what a person should check.
pub fn body(view: &View, facts: &ForgePage<'_>) -> String {
    let about = match facts.pull {
        Some(number) => format!("This is a fix for #{number}, made by running its tests. "),
        None => "This is a fix made by running the tests. ".to_owned(),
    };
    let text = forge_page("", Screen::PullRequest, view, facts, LIMIT - 1_000);
    format!(
        "{about}A change that makes the tests pass is plausible, not proven: read it before you merge it.\n\n{text}"
    )
}

/// Longest body of a pull request, in bytes.
const LIMIT: usize = crate::domain::check::COMMENT_LIMIT;
