//! `Proposal`: edits by a model, a client program or the search, and how proposals are compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{RepoPath, TestId};

/// A file before and after. Both texts are complete, so applying the edit needs no search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileEdit {
    pub file: RepoPath,
    /// The text before; `None` when the edit creates the file.
    pub before: Option<String>,
    /// The text after; `None` when the edit deletes the file.
    pub after: Option<String>,
}

/// Edits that belong together: all are applied, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EditSet {
    /// At most one edit per file, sorted by file.
    pub files: Vec<FileEdit>,
}

/// An edit as a model writes it: lines to find in a file, and the lines that replace them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchReplace {
    /// The path as written.
    pub file: String,
    /// Whole lines; empty for a file that is created.
    pub search: String,
    /// Whole lines that replace them.
    pub replace: String,
}

/// A proposed change with its author and confidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// Author: a provider name, or `embedded`.
    pub author: String,
    pub edits: EditSet,
    /// Summary of the edit in one line, for people.
    pub summary: String,
    /// How sure the author is, from 0 to 1; an agent does not say.
    pub confidence: Option<f64>,
    /// Failing tests the author expects to pass afterwards.
    pub repairs: Vec<TestId>,
    /// Number of candidates tried to find it; 0 for a model.
    pub tried: u32,
    /// Set when the edit looks made for the tests: it compares against or returns a literal of a
    /// failing test, only deletes code, or only guards one input (specification.md 4.12, 7.16).
    pub suspicion: Option<String>,
    /// Set when its code treats the tests specially, so that a person must confirm
    /// (specification.md 7.16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub special_case: Option<String>,
    /// A language of its files that is not parsed, so that only the tests speak for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// Whether it edits tests, which a person must confirm (specification.md 7.13).
    #[serde(default)]
    pub edits_tests: bool,
}

/// Criteria by which proposals are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merit {
    /// Number of failing tests that pass with it.
    pub repairs: usize,
    /// Number of passing tests that fail with it.
    pub breaks: usize,
    /// Whether it treats the tests specially.
    pub is_special_case: bool,
    pub size: usize,
    /// How sure the proposal is, from 0 to 1.
    pub confidence: f64,
}

/// Index of the best proposal: it is no special case of the tests, breaks nothing, repairs most, is smallest, or has the highest
/// confidence, in this order; of equals, the first. `None` if there is none.
pub fn best_of(merits: &[Merit]) -> Option<usize> {
    let better = |a: &Merit, b: &Merit| {
        (a.is_special_case.cmp(&b.is_special_case))
            .then((b.breaks == 0).cmp(&(a.breaks == 0)))
            .then((b.repairs.saturating_sub(b.breaks)).cmp(&a.repairs.saturating_sub(a.breaks)))
            .then(a.size.cmp(&b.size))
            .then(b.confidence.total_cmp(&a.confidence))
    };
    (0..merits.len()).min_by(|a, b| match (merits.get(*a), merits.get(*b)) {
        (Some(a), Some(b)) => better(a, b),
        _ => std::cmp::Ordering::Equal,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_breaks_nothing_then_repairs_most_then_is_smallest_then_surest() {
        let base =
            Merit { repairs: 1, breaks: 0, is_special_case: false, size: 5, confidence: 0.5 };
        let table = [
            ("none", vec![], None),
            ("special", vec![Merit { is_special_case: true, repairs: 9, ..base }, base], Some(1)),
            ("breaks", vec![Merit { repairs: 9, breaks: 1, ..base }, base], Some(1)),
            ("repairs", vec![base, Merit { repairs: 2, size: 50, ..base }], Some(1)),
            ("size", vec![base, Merit { size: 4, confidence: 0.1, ..base }], Some(1)),
            ("confidence", vec![base, Merit { confidence: 0.6, ..base }], Some(1)),
            ("equals", vec![base, base], Some(0)),
        ];
        for (why, merits, expected) in table {
            assert_eq!(best_of(&merits), expected, "{why}");
        }
    }
}
