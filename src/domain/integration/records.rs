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

/// The context of every decision that follows from an [`Adjustment`].
const ADJUSTED: &str = "a person adjusts the design";

/// The part of a design that a person adjusts (specification.md 2.4, F-135).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DesignPart {
    /// The module.
    Scope,
    /// What is real and what is faked.
    Mocks,
    Scenarios,
}

display_stored_name!(DesignPart);

impl DesignPart {
    /// What the adjustment of this part changes.
    #[must_use]
    pub fn effect_text(self) -> &'static str {
        match self {
            Self::Scope => "the module is named anew, and explored again",
            Self::Mocks | Self::Scenarios => {
                "a model that writes the tests is told; the embedded engine does not read it, so it is a note for the people who review the tests"
            }
        }
    }
}

/// A change that a person asks for in a design that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjustment {
    pub part: DesignPart,
    /// What the person wrote; for the scope, the module as a path or in words.
    pub text: String,
}

impl Decision {
    /// The record of an adjustment.
    #[must_use]
    pub fn from_adjustment(adjustment: &Adjustment) -> Self {
        Self {
            phase: Phase::Designed,
            iteration: 0,
            description: format!("adjust {}", adjustment.part),
            context: ADJUSTED.to_owned(),
            options: vec![adjustment.text.clone(), "leave the design as it is".to_owned()],
            chosen: adjustment.text.clone(),
            reason: "a person asked for it".to_owned(),
            impact: adjustment.part.effect_text().to_owned(),
        }
    }

    /// Whether a person decided it, so that it outlives a new design.
    #[must_use]
    pub fn is_adjustment(&self) -> bool {
        self.context == ADJUSTED
    }
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

/// The assumption that a session begins with.
const GREEN_BEFORE: &str = "the suite passes before anything is written";

impl Assumption {
    /// The assumption that the suite is green, with what its first run showed.
    #[must_use]
    pub fn of_suite(status: AssumptionStatus) -> Self {
        let basis = "tests belong to a working state".to_owned();
        Self { text: GREEN_BEFORE.to_owned(), basis, status }
    }

    /// Whether this says that tests failed before anything was written.
    #[must_use]
    pub fn is_red_suite(&self) -> bool {
        self.text == GREEN_BEFORE && matches!(self.status, AssumptionStatus::Corrected { .. })
    }

    /// An assumption that nothing has shown yet.
    #[must_use]
    pub fn open(text: String, basis: String) -> Self {
        Self { text, basis, status: AssumptionStatus::Open }
    }
}
