//! `KnownFailure`: a failing test that the configuration excuses until a day, for a reason.
//!
//! Source: specification.md 7.2 (F-090).

pub use jiff::civil::Date as Day;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::TestId;
use super::text;

/// How the value of an entry is written.
pub const FORM: &str = "2027-01-31, why it fails";

/// Longest reason that is kept, in characters.
const REASON: usize = 300;

/// A failure that somebody looked at, and that no session needs to repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFailure {
    /// Id of the test; a `*` at the end stands for any rest.
    pub test: String,
    /// The last day on which it is excused.
    #[schemars(with = "String")]
    pub until: Day,
    pub reason: String,
}

impl KnownFailure {
    /// Parses a test's id and a text such as [`FORM`]; `None` without a day or a reason.
    pub fn parse(test: &str, text: &str) -> Option<Self> {
        let (until, reason) = text.split_once(',')?;
        let reason = text::one_line(reason, REASON);
        let until = until.trim().parse().ok()?;
        let is_meant = !reason.is_empty() && !test.trim_matches('*').is_empty();
        is_meant.then(|| Self { test: test.to_owned(), until, reason })
    }

    /// Whether the entry holds no more on a day.
    pub fn has_expired(&self, today: Day) -> bool {
        today > self.until
    }

    /// Whether the entry is about a test.
    pub fn is_about(&self, test: &TestId) -> bool {
        match self.test.strip_suffix('*') {
            Some(start) => test.as_str().starts_with(start),
            None => test.as_str() == self.test,
        }
    }

    /// Why the failure is of low criticality.
    pub fn evidence(&self) -> String {
        format!("known until {}: {}", self.until, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_day_and_a_reason() {
        let table = [
            ("t", FORM, Some(("2027-01-31", "why it fails"))),
            ("t", " 2027-01-31 ,\n a, b ", Some(("2027-01-31", "a, b"))),
            ("t", "2027-02-30, no such day", None),
            ("t", "2027-01-31", None),
            ("t", "2027-01-31, ", None),
            ("t", "upstream bug", None),
            ("*", FORM, None),
        ];
        for (test, text, expected) in table {
            let parsed = KnownFailure::parse(test, text);
            let shown = parsed.map(|known| (known.until.to_string(), known.reason));
            let expected = expected.map(|(until, reason)| (until.to_owned(), reason.to_owned()));
            assert_eq!(shown, expected, "{text}");
        }
    }

    #[test]
    fn an_entry_holds_on_its_last_day_for_its_tests_only() {
        let known = |test| KnownFailure::parse(test, FORM).unwrap();
        assert!(!known("t").has_expired("2027-01-31".parse().unwrap()));
        assert!(known("t").has_expired("2027-02-01".parse().unwrap()));
        let table = [
            ("net::test_proxy", "net::test_proxy", true),
            ("net::test_proxy", "net::test_proxy_2", false),
            ("net::*", "net::test_proxy", true),
            ("net::*", "cache::test_proxy", false),
            ("net[*]", "net[1]", false),
        ];
        for (entry, test, expected) in table {
            assert_eq!(known(entry).is_about(&TestId::from(test)), expected, "{entry}: {test}");
        }
    }
}
