//! The numbers behind the decisions of the fix loop that a project may choose.
//!
//! Source: specification.md 2.3, 7.5 to 7.9.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Thresholds of the loop; fixed when a session opens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Thresholds {
    /// Percentage points of a hard regression; more than this is one. 0 to 100.
    pub regression_points: u32,
    /// Results in a row after which a failing test is stuck. At least 2.
    pub stuck_results: u32,
    /// Share of the failures, from 0 to 1. When more than this is stuck after two reflective
    /// iterations, the run ends.
    pub stuck_abort: f64,
    /// Likeness of the failures, from 0 to 1, above which a batch is tried.
    pub similarity: f64,
    /// Pass rate in percent above which a batch is tried.
    pub aggressive_rate: u32,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            regression_points: 10,
            stuck_results: 3,
            stuck_abort: 0.5,
            similarity: 0.7,
            aggressive_rate: 80,
        }
    }
}

impl Thresholds {
    /// The number of results of a stuck test, as people write it.
    pub fn results(&self) -> String {
        match self.stuck_results {
            2 => "two".into(),
            3 => "three".into(),
            number => number.to_string(),
        }
    }
}
