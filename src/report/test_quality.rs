//! The report of the test review on the quality of tests, without the mutation score.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::coverage::CoverageResult;
use crate::domain::quality::{Finding, QualityDecision, Severity};

use super::coverage;
use super::findings::tables;
use super::markdown::line;

/// Findings about tests (specification.md 6.4, 6.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestQuality {
    /// Decision of the gate.
    pub status: QualityDecision,
    /// Reason for the decision.
    pub gate_decision: String,
    /// Coverage of the code under test; absent if nothing was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<CoverageResult>,
    /// Anti-patterns, by severity.
    pub findings: BTreeMap<Severity, Vec<Finding>>,
}

/// The section about tests in the terminal report.
pub fn render_text(quality: &TestQuality) -> String {
    let reached = quality.coverage.as_ref();
    let reached = reached.map_or_else(String::new, |it| format!("{}\n", coverage::describe(it)));
    format!("{reached}test review: {}: {}\n", quality.status, quality.gate_decision)
}

/// `test-quality-report.md`.
pub fn render_markdown(quality: &TestQuality) -> String {
    let (status, reason) = (quality.status, line(&quality.gate_decision, 500));
    let reached = quality.coverage.as_ref().map(coverage::markdown).unwrap_or_default();
    format!("# Test quality: {status}\n\n{reason}.\n{reached}{}", tables(&quality.findings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decision_stands_first_and_hostile_reasons_are_disarmed() {
        let quality = TestQuality {
            status: QualityDecision::SoftFail,
            gate_decision: "4 errors\u{1b}[31m, at most 3 are tolerated".into(),
            coverage: None,
            findings: BTreeMap::new(),
        };
        let page = render_markdown(&quality);
        assert!(page.starts_with("# Test quality: SOFT_FAIL\n\n4 errors"), "{page}");
        assert!(!page.contains('\u{1b}'), "{page}");
        assert!(render_text(&quality).starts_with("test review: SOFT_FAIL: 4 errors"));
    }
}
