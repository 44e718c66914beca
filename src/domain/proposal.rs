//! Edits with their author and confidence: what a model, a client program or the search proposes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{RepoPath, TestId};

/// One file before and after. Both texts are complete, so applying it needs no search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileEdit {
    /// The file.
    pub file: RepoPath,
    /// Its text before; `None` when the edit creates it.
    pub before: Option<String>,
    /// Its text after; `None` when the edit deletes it.
    pub after: Option<String>,
}

/// Edits that belong together: all are applied, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EditSet {
    /// At most one edit per file, sorted by file.
    pub files: Vec<FileEdit>,
}

/// What somebody proposes to change, and how sure they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proposal {
    /// Who proposes: a provider name, or `embedded`.
    pub author: String,
    /// The edits.
    pub edits: EditSet,
    /// What the edit does, one line a person reads.
    pub summary: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// Failing tests the author expects to pass afterwards.
    pub repairs: Vec<TestId>,
    /// Candidates that were tried to find it; 0 for a model.
    pub tried: u32,
    /// Set when the edit looks made for the tests: it compares against or returns a literal of a
    /// failing test, only deletes code, or only guards one input (product.md 13.3, 13.4).
    pub suspicion: Option<String>,
}
