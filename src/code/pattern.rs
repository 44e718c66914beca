//! Regular expressions that are compiled when they are first used.

use std::sync::OnceLock;

use regex::{Captures, Regex};

/// A regular expression that is compiled when it is used for the first time.
pub struct Pattern {
    text: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Creates a pattern; an invalid text is only noticed when it is used.
    pub const fn new(text: &'static str) -> Self {
        Self { text, compiled: OnceLock::new() }
    }

    /// The compiled expression; `None` if the text is not a valid expression.
    pub fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(self.text).ok()).as_ref()
    }

    /// The matches in a text with their groups; an invalid pattern has none.
    pub fn captures<'t>(&self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        self.regex().into_iter().flat_map(move |regex| regex.captures_iter(text))
    }

    /// The text with every match replaced; an invalid pattern replaces nothing.
    pub fn replace_all(&self, text: &str, by: &str) -> String {
        self.regex().map_or_else(|| text.to_owned(), |one| one.replace_all(text, by).into_owned())
    }

    /// Whether a text matches; an invalid pattern matches nothing.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }
}
