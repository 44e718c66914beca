//! What was seen of a repository from one side (specification.md 4.4).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::RepoPath;

/// A file that an exploration found.
#[derive(Clone, Debug, PartialEq)]
pub struct RelevantFile {
    pub path: RepoPath,
    /// How relevant the file is, from 0 to 1.
    pub relevance: f64,
}

/// What one exploration found.
#[derive(Clone, Debug, PartialEq)]
pub struct Exploration {
    /// The relevant files, best first.
    pub relevant_files: Vec<RelevantFile>,
    pub integration_points: Vec<String>,
    /// Constraints to observe, such as names that are resolved at run time.
    pub constraints: Vec<String>,
}

/// What the explorations found together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExplorationResults {
    /// What they say about couplings and importers, each sentence once.
    pub aggregated_insights: Vec<String>,
}
