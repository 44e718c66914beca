//! What a review found, and whether the gate on code lets it pass.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::RepoPath;

/// How bad a finding is (product.md 6.3).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Blocks by itself and is never fixed without a person.
    Critical,
    /// A few are tolerated.
    Error,
    /// Some are tolerated.
    Warning,
}

impl Severity {
    /// Its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// Which gate asks.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Gate 001.3, code validation.
    Code,
    /// Gate 001.5, test quality; the half that needs no run.
    Tests,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The gate it counts for.
    pub stage: Stage,
    /// Row of the catalogue.
    pub id: String,
    /// Its category.
    pub category: String,
    /// How bad.
    pub severity: Severity,
    /// Where.
    pub file: RepoPath,
    /// Line, from 1.
    pub line: u32,
    /// What.
    pub message: String,
    /// What to do.
    pub suggestion: String,
    /// Whether `--fix` repairs it.
    pub auto_fixable: bool,
}

/// What a tool of the project said of a line: file, line from 1, words.
pub type Remark = (RepoPath, u32, String);

/// Findings by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Critical ones.
    pub critical: u32,
    /// Errors.
    pub error: u32,
    /// Warnings.
    pub warning: u32,
}

impl Counts {
    /// Counts findings.
    #[must_use]
    pub fn of<'a>(findings: impl Iterator<Item = &'a Finding>) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            match finding.severity {
                Severity::Critical => counts.critical += 1,
                Severity::Error => counts.error += 1,
                Severity::Warning => counts.warning += 1,
            }
        }
        counts
    }
}

/// What is tolerated: counts up to and including these (product.md 5.4, 6.6). No limit tolerates a
/// critical finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Errors.
    pub error: u32,
    /// Warnings.
    pub warning: u32,
}

/// Limits when nothing else is said.
pub const LIMITS: Limits = Limits { error: 3, warning: 10 };

/// Limits of `--strict`: no error.
pub const STRICT: Limits = Limits { error: 0, warning: 10 };

/// Times a soft failure may be tried again (product.md 5.4).
pub const MAX_RETRIES: u32 = 2;

/// What the gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Decision {
    /// Go on.
    Pass,
    /// Fix what is safe to fix, and try again.
    SoftFail,
    /// Stop, with a report.
    HardFail,
}

impl Decision {
    /// Its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::SoftFail => "SOFT_FAIL",
            Self::HardFail => "HARD_FAIL",
        }
    }
}

/// Decides the gate, and says why.
///
/// `retries` is how often a soft failure was tried again already. Limits are inclusive: exactly
/// three errors pass. A text that does not compile is a critical finding. Never fails.
///
/// Source: product.md 6.6.
#[must_use]
pub fn decide(counts: Counts, limits: Limits, retries: u32) -> (Decision, String) {
    let over = |number: u32, limit: u32, noun: &str| {
        (number > limit).then(|| format!("{number} {noun}s, at most {limit} are tolerated"))
    };
    if counts.critical > 0 {
        return (Decision::HardFail, format!("{} critical, none is tolerated", counts.critical));
    }
    let reasons: Vec<String> = [
        over(counts.error, limits.error, "error"),
        over(counts.warning, limits.warning, "warning"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if reasons.is_empty() {
        return (Decision::Pass, "within the limits".into());
    }
    if retries >= MAX_RETRIES {
        return (Decision::HardFail, format!("{}; all retries are used", reasons.join("; ")));
    }
    (Decision::SoftFail, reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::Decision::{HardFail, Pass, SoftFail};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn limits_are_inclusive_and_critical_beats_everything() {
        let table = [
            ("nothing found", (0, 0, 0), LIMITS, 0, Pass),
            ("exactly at the limits", (0, 3, 10), LIMITS, 0, Pass),
            ("one error more", (0, 4, 0), LIMITS, 0, SoftFail),
            ("one warning more", (0, 0, 11), LIMITS, 1, SoftFail),
            ("retries used", (0, 4, 0), LIMITS, 2, HardFail),
            ("retries used, nothing left", (0, 3, 10), LIMITS, 2, Pass),
            ("critical", (1, 0, 0), LIMITS, 0, HardFail),
            ("critical with retries left", (1, 9, 99), LIMITS, 1, HardFail),
            ("strict tolerates no error", (0, 1, 0), STRICT, 0, SoftFail),
            ("strict tolerates warnings", (0, 0, 10), STRICT, 0, Pass),
        ];
        for (why, (critical, error, warning), limits, retries, expected) in table {
            let counts = Counts { critical, error, warning };
            assert_eq!(decide(counts, limits, retries).0, expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn fewer_findings_never_make_it_worse(
            critical in 0u32..3, error in 0u32..8, warning in 0u32..20, retries in 0u32..4,
        ) {
            let badness = |decision| match decision { Pass => 0, SoftFail => 1, HardFail => 2 };
            let more = Counts { critical, error, warning };
            let less = Counts { critical, error: error / 2, warning: warning / 2 };
            prop_assert!(
                badness(decide(less, LIMITS, retries).0) <= badness(decide(more, LIMITS, retries).0)
            );
        }
    }
}
