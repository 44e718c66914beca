//! Bounds what the page shows: lines by their characters, and lists by the bytes they need.

use serde::Serialize;

use crate::report::markdown::line;

/// Longest name or sentence that is shown where nothing else is said, in characters.
pub(super) const NAME: usize = 300;

/// Takes the items that fit in `room` bytes, from which it subtracts what they need.
pub(super) fn take_fitting<T: Serialize>(
    items: &mut impl Iterator<Item = T>,
    room: &mut usize,
) -> Vec<T> {
    let mut fitting = Vec::new();
    while *room > 0
        && let Some(item) = items.next()
    {
        // A quoted value of JSON is about as long as an element; other marks are escaped.
        let text = serde_json::to_string(&item).unwrap_or_default();
        let size = |byte| if b"<>&'\"".contains(&byte) { 5 } else { 1 };
        *room = room.saturating_sub(text.bytes().map(size).sum());
        fitting.push(item);
    }
    fitting
}

/// One line of at most `limit` characters; of a long text only the beginning is read.
pub(super) fn shorten_line(text: &str, limit: usize) -> String {
    let ahead: String = text.chars().take(limit * 2 + 64).collect();
    let mut shown = line(&ahead, limit);
    if ahead.len() < text.len() && !shown.ends_with('…') {
        shown.push('…');
    }
    shown
}

/// At most `width` characters of a line.
pub(super) fn cut_line(row: &str, width: usize) -> String {
    match row.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", row.get(..end).unwrap_or_default()),
        None => row.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        assert_eq!(shorten_line("abc", 3), "abc");
        assert_eq!(shorten_line("abcd", 3), "abc…");
        assert_eq!(shorten_line(&format!("ab{}", " ".repeat(500)), 3), "ab…");
        assert_eq!(shorten_line(&"x".repeat(10_000_000), 3), "xxx…");
    }
}
