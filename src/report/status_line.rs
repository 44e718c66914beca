//! One line that says how a session stands, for headings and titles.

use crate::domain::text::count;

use super::final_state::FinalState;
use super::forge_page::ForgePage;
use super::markdown::{cut, line};
use super::todo::doing;
use super::view::View;

/// Longest line in progress, in bytes; a check run shows 255.
const CURRENT: usize = 200;

/// How the session stands, without the running step: plain text in one line.
pub fn place_line(view: &View, page: &ForgePage<'_>) -> String {
    if let Some(state) = FinalState::of(view, page) {
        return state.heading(view, page);
    }
    let rate = view.rate().map_or_else(String::new, |rate| format!("{rate} % pass"));
    if let Some((number, strategy, _)) = &view.current {
        format!("Iteration {number}, {strategy}, {rate}")
    } else if !rate.is_empty() {
        let after = match view.rows.len() {
            0 => String::new(),
            number => format!(" after {}", count(number, "iteration")),
        };
        format!("In progress: {rate}{after}")
    } else if view.session.is_empty() {
        "Waiting to begin".to_owned()
    } else {
        "First run".to_owned()
    }
}

/// What a running session does, for a check run's title: one line of at most 200 bytes.
pub fn current_line(view: &View, page: &ForgePage<'_>) -> String {
    let (place, doing) = (place_line(view, page), doing(view));
    let text = if doing.is_empty() { place } else { format!("{place}: {doing}") };
    cut(&line(&text, CURRENT), CURRENT)
}
