//! The analyst's answer: the causes, their places, and how sure it is.

use serde::{Deserialize, Serialize};

use super::id::{RepoPath, TestId};
use super::proposal::SearchReplace;

/// A place to change, written `file:function:start-end` (specification.md 5.6).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModificationPoint {
    pub file: RepoPath,
    /// The function around it; `<module>` at top level.
    pub function: String,
    /// The first line, from 1.
    pub start: u32,
    /// The last line, inclusive.
    pub end: u32,
}

/// A cause behind one or more failing tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootCause {
    /// The failing tests it explains.
    pub tests: Vec<TestId>,
    /// The cause in one sentence.
    pub cause: String,
    pub point: ModificationPoint,
}

/// The diagnosis of one iteration (specification.md 4.9, 5.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixPlan {
    /// Author: a provider name, or `embedded`.
    pub author: String,
    /// What is to be changed, in one or two sentences.
    pub approach: String,
    /// The causes, most likely first.
    pub root_causes: Vec<RootCause>,
    /// Places to change, most suspicious first; at least one.
    pub modification_points: Vec<ModificationPoint>,
    /// All files that the analysis names, also those without a place that exists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RepoPath>,
    /// Tests to run after the change, besides those the import graph selects.
    pub affected_tests: Vec<TestId>,
    /// How sure the plan is, from 0 to 1.
    pub confidence: f64,
    /// What should pass afterwards, in words.
    pub expected_outcome: String,
    /// How a person can check it.
    pub verification_steps: Vec<String>,
    /// Whether the change could hide another problem, in words.
    pub impact: String,
    /// The analyst's reasoning as untrusted Markdown; empty from the embedded engine.
    #[serde(default)]
    pub report: String,
    /// The change itself, if the analyst was sure enough to write it; not vetted yet. It is part of
    /// the plan so that a run that ends before the proposal does not lose it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<SearchReplace>,
}

/// Most edits of a plan: no analyst is sure of a larger change, for which the fixer is asked.
pub const MAX_EDITS: usize = 20;

impl FixPlan {
    /// Identity of the first root cause; the same if its description differs only in numbers.
    pub fn cause_key(&self) -> String {
        let cause = self.root_causes.first().map_or(&self.approach, |cause| &cause.cause);
        cause_fingerprint(cause, &self.modification_points)
    }
}

impl std::fmt::Display for ModificationPoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}-{}", self.file, self.function, self.start, self.end)
    }
}

/// Identity of a root cause: its places, and its description without numbers, case and spaces.
fn cause_fingerprint(cause: &str, points: &[ModificationPoint]) -> String {
    let mut words: String = cause
        .to_lowercase()
        .chars()
        .map(|c| if c.is_alphabetic() { c } else { ' ' })
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    words.truncate(words.char_indices().nth(80).map_or(words.len(), |(at, _)| at));
    let mut places: Vec<String> =
        points.iter().map(|point| format!("{}:{}", point.file, point.function)).collect();
    places.sort();
    places.dedup();
    format!("{} | {words}", places.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cause_in_other_words_of_numbers_is_one_cause() {
        let point = |start| ModificationPoint {
            file: RepoPath::parse("a.py").unwrap(),
            function: "f".into(),
            start,
            end: start,
        };
        let one = cause_fingerprint("Off by one at line 7!", &[point(7)]);
        assert_eq!(one, cause_fingerprint("off by one,  at line 12", &[point(12)]));
        assert_ne!(one, cause_fingerprint("off by two", &[point(7)]));
    }
}
