//! Types of the surveyor's answer (specification.md 4.11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One requirement, as the surveyor reports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedRequirement {
    /// `L1.1` to `L3.4`.
    pub layer: String,
    /// The function, as the source names it.
    pub function: String,
    /// The line that decides it, from 1.
    pub line: u32,
    /// The requirement in one sentence.
    pub text: String,
    /// Concrete input.
    pub given: String,
    /// The concrete result.
    pub expect: String,
}

/// One source with what must be tested of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedNeeds {
    /// Path from the repository root.
    pub file: String,
    /// What needs a double, and why.
    pub mocks: Vec<String>,
    /// What tests must show.
    pub requirements: Vec<ReportedRequirement>,
}

/// The surveyor's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SurveyResponse {
    /// The question it answers.
    pub task_id: String,
    /// Such as `Library (Python)`.
    pub project_type: String,
    /// The sources with their requirements.
    pub files: Vec<ReportedNeeds>,
    /// How the work should proceed.
    pub strategy: Vec<String>,
    /// From 0 to 1.
    pub confidence_score: f64,
    /// The analysis in Markdown, in seven parts.
    pub report: String,
}
