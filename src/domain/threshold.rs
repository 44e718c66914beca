//! `Thresholds`: the configurable numbers behind the decisions of the fix loop.
//!
//! Source: specification.md 2.3, 7.5 to 7.9.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Thresholds of the loop; fixed when a session opens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Thresholds {
    /// A drop by more percentage points than this is a hard regression. 0 to 100.
    pub regression_points: u32,
    /// Number of consecutive failures after which a test is stuck. At least 2.
    pub stuck_results: u32,
    /// Share of the failures, from 0 to 1. If more than this is stuck after two reflective
    /// iterations, the run ends.
    pub stuck_abort: f64,
    /// Similarity of the failures, from 0 to 1, above which a batch is tried.
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
    /// `stuck_results` as it is written in a sentence.
    pub fn results(&self) -> String {
        match self.stuck_results {
            2 => "two".into(),
            3 => "three".into(),
            number => number.to_string(),
        }
    }
}
