//! The job summary of GitHub Actions: the parts of the comment, without its marker.

use super::forge_page::ForgePage;
use super::markdown_page::forge_page;
use super::parts::Screen;
use super::view::View;

/// Longest summary of one step, in bytes. GitHub drops a longer one as a whole; the margin is for
/// what the same step wrote before.
pub const SUMMARY_LIMIT: usize = 1_000_000;

/// The summary as Markdown, at most [`SUMMARY_LIMIT`] bytes, shortened like a comment. It contains
/// the change as a patch when that was not pushed.
pub fn job_summary(view: &View, facts: &ForgePage<'_>) -> String {
    forge_page("", Screen::Comment, view, facts, SUMMARY_LIMIT)
}
