//! What a generator and a judge answer (product.md 13.16).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::role::answer::{ToldEdit, ToldFile};

/// Which requirements a test shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToldCover {
    /// The name of the test.
    pub test: String,
    /// Requirements, such as `R-003`.
    pub requirements: Vec<String>,
}

/// The generator's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TestFiles {
    /// The question it answers.
    pub task_id: String,
    /// Changes of files that are there; all are refused.
    pub edits: Vec<ToldEdit>,
    /// The file with the tests.
    pub new_files: Vec<ToldFile>,
    /// What each test shows.
    pub covers: Vec<ToldCover>,
    /// What a reviewer should know.
    pub notes: String,
    /// From 0 to 1.
    pub confidence_score: Option<f64>,
}

/// Who is wrong, of one failing test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToldVerdict {
    /// The test, by its id.
    pub test: String,
    /// `code` or `test`.
    pub wrong: String,
    /// What shows it besides the test.
    pub evidence: String,
    /// The function that is wrong; empty at top level.
    pub function: String,
    /// `first-last`, from 1.
    pub lines: String,
}

/// The judge's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Verdicts {
    /// The question it answers.
    pub task_id: String,
    /// One for each failing test.
    pub verdicts: Vec<ToldVerdict>,
    /// From 0 to 1.
    pub confidence_score: f64,
    /// The reasoning as Markdown.
    pub report: String,
}
