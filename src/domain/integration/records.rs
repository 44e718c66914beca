//! Records that explain a session: decisions, and assumptions with what became of them
//! (specification.md 8.13).

use serde::{Deserialize, Serialize};

use super::Phase;

/// A choice between options, and its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub phase: Phase,
    /// The iteration in which it was made; 0 before the first.
    #[serde(default)]
    pub iteration: u32,
    pub description: String,
    pub context: String,
    pub options: Vec<String>,
    pub chosen: String,
    pub reason: String,
    /// What follows from it.
    pub impact: String,
}

/// Something that was taken to be true before it was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assumption {
    pub text: String,
    /// Why it was assumed.
    pub basis: String,
    #[serde(default)]
    pub status: AssumptionStatus,
}

/// What became of an assumption.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum AssumptionStatus {
    #[default]
    Open,
    Confirmed {
        evidence: String,
    },
    Corrected {
        /// What is true instead.
        new: String,
        /// The iteration that showed it; 0 before the first.
        iteration: u32,
        evidence: String,
        impact: String,
    },
}

impl Assumption {
    /// An assumption that nothing has shown yet.
    #[must_use]
    pub fn open(text: String, basis: String) -> Self {
        Self { text, basis, status: AssumptionStatus::Open }
    }
}
