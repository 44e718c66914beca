//! Quality gates, code check and test review: findings, limits and decisions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::RepoPath;
use super::text::count;

/// Severity of a finding (specification.md 6.3).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Fails the gate by itself, and is never fixed without a person.
    Critical,
    /// A few are tolerated, see [`FindingLimits::error`].
    Error,
    /// Some are tolerated, see [`FindingLimits::warning`].
    Warning,
}

display_stored_name!(Severity);

/// The gate that a finding counts for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Code,
    /// Test quality; only the checks that need no test run.
    Tests,
}

impl Stage {
    /// The name of the gate.
    pub fn gate(self) -> &'static str {
        match self {
            Self::Code => "code check",
            Self::Tests => "test review",
        }
    }

    /// The name of the gate with the id of its task.
    pub fn gate_of_task(self) -> &'static str {
        match self {
            Self::Code => "code check (IMPL-001.3)",
            Self::Tests => "test review (IMPL-001.5)",
        }
    }
}

/// A finding of a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The gate that the finding counts for.
    pub stage: Stage,
    /// The id of the rule in the catalogue.
    pub id: String,
    pub category: String,
    pub severity: Severity,
    pub file: RepoPath,
    /// The line, from 1.
    pub line: u32,
    pub message: String,
    /// How to resolve it.
    pub suggestion: String,
    pub auto_fixable: bool,
}

/// Message of one of the project's own tools: file, line from 1, text.
pub type Remark = (RepoPath, u32, String);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingCounts {
    pub critical: u32,
    pub error: u32,
    pub warning: u32,
}

impl FindingCounts {
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

/// The numbers of findings with which a gate still passes (specification.md 5.4, 6.6). A critical
/// finding always fails it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingLimits {
    pub error: u32,
    pub warning: u32,
}

/// Default limits.
pub const LIMITS: FindingLimits = FindingLimits { error: 3, warning: 10 };

/// Limits with `--strict`: no error is tolerated.
pub const STRICT: FindingLimits = FindingLimits { error: 0, warning: 10 };

/// How often a gate may be retried after a soft failure (specification.md 5.4).
pub const MAX_RETRIES: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum QualityDecision {
    Pass,
    /// Fix what is safe to fix, and run the gate again.
    SoftFail,
    HardFail,
}

display_stored_name!(QualityDecision);

/// Decides a gate by the findings, with the reason.
///
/// `retries` is the number of retries so far. Limits are inclusive: exactly three errors pass. Code
/// that does not compile is a critical finding. Never fails.
///
/// Source: specification.md 6.6.
pub fn decide(
    counts: FindingCounts,
    limits: FindingLimits,
    retries: u32,
) -> (QualityDecision, String) {
    let over = |number: u32, limit: u32, noun: &str| {
        let verb = if limit == 1 { "is" } else { "are" };
        (number > limit)
            .then(|| format!("{}, at most {limit} {verb} tolerated", count(number, noun)))
    };
    if counts.critical > 0 {
        return (
            QualityDecision::HardFail,
            format!("{} critical, none is tolerated", counts.critical),
        );
    }
    let reasons: Vec<String> = [
        over(counts.error, limits.error, "error"),
        over(counts.warning, limits.warning, "warning"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if reasons.is_empty() {
        return (QualityDecision::Pass, "within the limits".into());
    }
    if retries >= MAX_RETRIES {
        return (
            QualityDecision::HardFail,
            format!("{}; retrying does not help", reasons.join("; ")),
        );
    }
    (QualityDecision::SoftFail, reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::QualityDecision::{HardFail, Pass, SoftFail};
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
            let counts = FindingCounts { critical, error, warning };
            assert_eq!(decide(counts, limits, retries).0, expected, "{why}");
        }
    }

    #[test]
    fn a_reason_counts_one_and_many_in_words() {
        let table = [
            (1, 0, STRICT, "1 error, at most 0 are tolerated"),
            (
                4,
                11,
                LIMITS,
                "4 errors, at most 3 are tolerated; 11 warnings, at most 10 are tolerated",
            ),
            (2, 0, FindingLimits { error: 1, warning: 0 }, "2 errors, at most 1 is tolerated"),
        ];
        for (error, warning, limits, expected) in table {
            let counts = FindingCounts { critical: 0, error, warning };
            assert_eq!(decide(counts, limits, 0), (SoftFail, expected.to_owned()));
        }
    }

    proptest! {
        #[test]
        fn fewer_findings_never_make_it_worse(
            critical in 0u32..3, error in 0u32..8, warning in 0u32..20, retries in 0u32..4,
        ) {
            let badness = |decision| match decision { Pass => 0, SoftFail => 1, HardFail => 2 };
            let more = FindingCounts { critical, error, warning };
            let less = FindingCounts { critical, error: error / 2, warning: warning / 2 };
            prop_assert!(
                badness(decide(less, LIMITS, retries).0) <= badness(decide(more, LIMITS, retries).0)
            );
        }
    }
}
