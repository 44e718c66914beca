//! Words around values, for people.

use std::fmt::Display;
use std::time::Duration;

/// A number with its noun, such as `1 test` or `2 tests`.
pub fn count<N: Copy + Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A duration in the largest unit of which it has two, rounded up, such as `90 seconds`, `5 minutes`
/// or `24 hours`.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0));
    match seconds {
        0..120 => count(seconds, "second"),
        120..7_200 => count(seconds.div_ceil(60), "minute"),
        _ => count(seconds.div_ceil(3_600), "hour"),
    }
}

/// An untrusted text on one line without control characters, at most `longest` characters. White
/// space of any kind becomes one blank, so that words stay apart.
pub fn one_line(text: &str, longest: usize) -> String {
    let clean = text.replace(|c: char| c.is_control(), " ");
    let words: Vec<&str> = clean.split_whitespace().collect();
    words.join(" ").chars().take(longest).collect()
}

/// An untrusted text without control characters besides line feeds, at most `longest` characters.
pub fn bounded(text: &str, longest: usize) -> String {
    text.chars().filter(|c| !c.is_control() || *c == '\n').take(longest).collect()
}

/// The first line that is not blank; empty without one.
pub fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// Whether a text has a word that is not a part of a longer one. An empty word is none.
pub fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

/// Splits a name into words: `parsePrice`, `parse_price` and `parse-price` are `parse` and `price`.
pub fn words_of_name(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && lower {
            words.push(String::new());
        }
        lower = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(last) = words.last_mut()
        {
            last.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_time_is_written_in_a_unit_that_fits() {
        let table = [
            (0, "0 seconds"),
            (1_000, "1 second"),
            (250, "1 second"),
            (90_000, "90 seconds"),
            (119_001, "2 minutes"),
            (300_000, "5 minutes"),
            (3_600_000, "60 minutes"),
            (7_200_001, "3 hours"),
            (86_400_000, "24 hours"),
        ];
        for (milliseconds, expected) in table {
            assert_eq!(span(Duration::from_millis(milliseconds)), expected, "{milliseconds}");
        }
    }

    #[test]
    fn a_word_is_no_part_of_another_and_never_empty() {
        let table = [
            ("import tax", "tax", true),
            ("syntax tax_rate", "tax", false),
            ("open('rates.json')", "rates.json", true),
            ("from my-lib", "my-lib", true),
            ("", "", false),
            ("a b", "", false),
        ];
        for (text, word, expected) in table {
            assert_eq!(has_word(text, word), expected, "{text}: {word}");
        }
    }

    #[test]
    fn names_fall_apart_at_their_seams() {
        let table = [
            ("parsePrice", "parse price"),
            ("parse_price", "parse price"),
            ("HTTPServer", "httpserver"),
        ];
        for (name, expected) in table {
            assert_eq!(words_of_name(name).join(" "), expected);
        }
    }

    #[test]
    fn a_number_decides_the_form_of_its_noun() {
        assert_eq!(count(0u32, "test"), "0 tests");
        assert_eq!(count(1usize, "test"), "1 test");
        assert_eq!(count(2u64, "test"), "2 tests");
    }

    #[test]
    fn a_bounded_text_keeps_its_lines_and_begins_with_one_that_is_not_blank() {
        assert_eq!(bounded("a\r\nb\u{0}c", 3), "a\nb");
        assert_eq!((first_line("\n  \n a\nb"), first_line(" \n")), (" a", ""));
    }

    #[test]
    fn words_stay_apart_on_one_line() {
        for (text, longest, expected) in [
            (" a\r\n\tb\u{0}c ", 9, "a b c"),
            ("\u{1b}[31mred", 9, "[31mred"),
            ("äöü", 2, "äö"),
            ("", 5, ""),
        ] {
            assert_eq!(one_line(text, longest), expected, "{text:?}");
        }
    }
}
