//! The parts of a page on the forge in their order, and how they are made to fit.

use crate::domain::event::Ending;

use super::forge_page::ForgePage;
use super::truncate::{Part, fit};
use super::view::View;
use super::{detail, overview};

/// Bytes kept free for the note about what was shortened.
const NOTE: usize = 1_500;

/// All parts in their order on the page: what was reached first, then what a reader opens.
pub(super) fn parts_of<'a>(view: &'a View, facts: &'a ForgePage<'a>) -> Vec<Part<'a>> {
    let mut parts = vec![overview::heading(view)];
    parts.extend(upper(view, facts));
    parts.extend([
        detail::answers(facts),
        detail::iterations(view, facts),
        detail::attempts(view),
        detail::proof(view),
        detail::todo(view, facts),
        detail::asked(view),
        detail::notes(view),
        detail::used(view, facts),
    ]);
    parts
}

/// Verdict, chart, change, failing tests, next steps. What fails comes before the change when the
/// gate was not met.
pub(super) fn upper<'a>(view: &'a View, facts: &'a ForgePage<'a>) -> Vec<Part<'a>> {
    let met = view.outcome.as_ref().is_some_and(|outcome| {
        matches!(outcome.result, Ending::Success | Ending::PartialSuccess | Ending::Planned)
    });
    let (patch, failing) = (overview::patch(view, facts), overview::failing(view, facts));
    let (first, second) = if met { (patch, failing) } else { (failing, patch) };
    let chart = overview::climb(view, facts);
    vec![overview::verdict(view, facts), chart, first, second, overview::next(view, facts)]
}

/// Parts within a limit, with a note about what was shortened.
pub(super) fn closed(parts: &[Part<'_>], facts: &ForgePage<'_>, limit: usize) -> String {
    let whole = fit(parts, limit);
    if whole.shortened.is_empty() {
        return whole.text;
    }
    let fitted = fit(parts, limit.saturating_sub(NOTE));
    let names = fitted.shortened.join(", ");
    format!("{}\nShortened to fit: {names}. All of it: {}.\n", fitted.text, facts.full_report())
}
