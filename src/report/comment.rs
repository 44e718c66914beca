//! The sticky comment of a pull request: verdict, chart and next steps first, everything else
//! folded (specification.md 9.1, 9.3).

use crate::domain::check::COMMENT_LIMIT;

use super::forge_page::ForgePage;
use super::markdown_page::forge_page;
use super::parts::Screen;
use super::view::View;

/// The hidden first line of a session's comment, of allowed characters (specification.md 9.1).
pub fn marker(session: &str) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let session: String = session.chars().filter(allowed).take(100).collect();
    format!("<!-- regreen:{session} -->")
}

/// The comment as Markdown, its marker first, at most [`COMMENT_LIMIT`] bytes. A text never has
/// more characters than bytes, so it fits however GitHub counts.
///
/// Too long, it is shortened part by part, what matters least first: who was asked, to-do list,
/// patch, notes, attempts, proof, iterations, answers, failing tests. Verdict, chart, next steps,
/// budget and the link to the full report always stay.
pub fn comment(view: &View, facts: &ForgePage<'_>) -> String {
    forge_page(&marker(facts.session), Screen::Comment, view, facts, COMMENT_LIMIT)
}
