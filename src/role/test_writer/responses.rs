//! Types of the generator's and judge's answers (specification.md 4.11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::role::code_answer::CodeAnswer;
use crate::role::responses::{ReportedEdit, ReportedFile};

/// One test, with the requirements it covers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedCoverage {
    /// The name of the test.
    pub test: String,
    /// Requirements, such as `R-003`.
    pub requirements: Vec<String>,
}

/// The generator's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GenerateResponse {
    /// The question it answers.
    pub task_id: String,
    /// Changes of files that exist; all are refused.
    pub edits: Vec<ReportedEdit>,
    /// The file with the tests.
    pub new_files: Vec<ReportedFile>,
    /// The requirements that each test covers.
    pub covers: Vec<ReportedCoverage>,
    /// What a reviewer should know.
    pub notes: String,
    /// From 0 to 1.
    pub confidence_score: Option<f64>,
}

impl CodeAnswer for GenerateResponse {
    fn set(&mut self, edits: Vec<ReportedEdit>, files: Vec<ReportedFile>, notes: &str) {
        (self.edits, self.new_files) = (edits, files);
        if self.notes.trim().is_empty() {
            notes.clone_into(&mut self.notes);
        }
    }
}

/// The verdict on one failing test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedVerdict {
    /// The test, by its id.
    pub test: String,
    /// `code` or `test`.
    pub wrong: String,
    /// Evidence besides the test itself.
    pub evidence: String,
    /// The function that is wrong; empty at top level.
    pub function: String,
    /// `first-last`, from 1.
    pub lines: String,
}

/// The judge's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JudgeResponse {
    /// The question it answers.
    pub task_id: String,
    /// One for each failing test.
    pub verdicts: Vec<ReportedVerdict>,
    /// From 0 to 1.
    pub confidence_score: f64,
    /// The reasoning as Markdown.
    pub report: String,
}
