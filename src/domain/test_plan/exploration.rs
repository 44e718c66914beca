//! What was seen of a repository from one side, and the list of all sides (specification.md 8.12).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::{RepoPath, SessionId};

use super::exploration_angle::{Angle, Complexity};

/// A file that an exploration found (specification.md 8.12).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelevantFile {
    pub path: RepoPath,
    /// How relevant the file is, from 0 to 1.
    pub relevance: f64,
    /// Why the file is relevant, in more than ten characters.
    pub rationale: String,
    /// `modify_target`, `dependency`, `pattern_reference`, `test_target`, `integration_point` or
    /// `context_only`.
    pub role: String,
    /// How the file was found.
    pub discovery_source: String,
    /// Names it defines that are relevant to the topic.
    pub key_symbols: Vec<String>,
    /// Relation of the file to the topic; only from a relevance of 0.7.
    pub topic_relation: String,
}

/// The file `exploration-<angle>.json` (specification.md 8.12).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exploration {
    /// Folders with their number of source files.
    pub project_structure: Vec<String>,
    /// The relevant files, best first.
    pub relevant_files: Vec<RelevantFile>,
    /// The patterns that recur.
    pub patterns: Vec<String>,
    /// Imports between the files found.
    pub dependencies: Vec<String>,
    pub integration_points: Vec<String>,
    /// Constraints to observe, such as names that are resolved at run time.
    pub constraints: Vec<String>,
    /// Author, time and angle of the exploration.
    #[serde(rename = "_metadata")]
    pub metadata: ExplorationMetadata,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplorationMetadata {
    /// RFC 3339, in UTC.
    pub timestamp: String,
    pub task_description: String,
    pub source: String,
    pub exploration_angle: Angle,
    pub exploration_index: u32,
}

/// Where the list of explorations lies inside the session folder.
pub const MANIFEST: &str = ".process/explorations-manifest.json";

/// One exploration of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplorationEntry {
    pub angle: Angle,
    pub file: String,
    /// Inside the session folder.
    pub path: String,
    /// From 1.
    pub index: u32,
}

/// `explorations-manifest.json` (specification.md 3.1, mode B 4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplorationsManifest {
    pub session_id: SessionId,
    pub task_description: String,
    /// RFC 3339.
    pub timestamp: String,
    pub complexity: Complexity,
    pub exploration_count: u32,
    pub angles_explored: Vec<Angle>,
    pub explorations: Vec<ExplorationEntry>,
}

/// What the explorations found together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExplorationResults {
    pub manifest_path: String,
    pub exploration_count: u32,
    pub angles: Vec<Angle>,
    pub explorations: Vec<ExplorationEntry>,
    /// Files that many explorations name and that fit well, at most 15.
    pub critical_files: Vec<RepoPath>,
    /// What they say about couplings and importers, each sentence once.
    pub aggregated_insights: Vec<String>,
}
