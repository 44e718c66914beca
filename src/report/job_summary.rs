//! The summary of a job: the parts of the comment on the run's own page.

use super::forge_page::ForgePage;
use super::markdown_page::forge_page;
use super::parts::Screen;
use super::view::View;

/// Longest summary of one step, in bytes. GitHub drops a longer one as a whole; some room is left
/// for what the same step wrote before.
pub const SUMMARY_LIMIT: usize = 1_000_000;

/// The summary as Markdown, at most [`SUMMARY_LIMIT`] bytes, shortened as a comment is. The change
/// is in it as a patch when it was not pushed.
pub fn job_summary(view: &View, facts: &ForgePage<'_>) -> String {
    forge_page("", Screen::Comment, view, facts, SUMMARY_LIMIT)
}
