//! The report of the test review on the quality of tests, without the mutation score.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::quality::{Finding, QualityDecision, Severity, TestMetrics};
use crate::domain::text::count;

use super::coverage;
use super::findings::tables;
use super::markdown::{cell, line};

/// Findings about tests (specification.md 6.2, 6.4, 6.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestQuality {
    /// Decision of the gate.
    pub status: QualityDecision,
    /// Reason for the decision.
    pub gate_decision: String,
    /// How complete the tests are.
    pub metrics: TestMetrics,
    /// Anti-patterns, by severity.
    pub findings: BTreeMap<Severity, Vec<Finding>>,
}

/// `a` divided by `b`, cut to one decimal; `no` if `b` is zero.
fn ratio(a: u32, b: u32) -> String {
    (u64::from(a) * 10)
        .checked_div(u64::from(b))
        .map_or_else(|| "no".into(), |tenths| format!("{}.{}", tenths / 10, tenths % 10))
}

/// The percentage that a layer reached, or that it has nothing to test.
fn percent(layer: &crate::domain::quality::Completeness) -> String {
    layer.percent().map_or_else(|| "nothing to test".into(), |percent| format!("{percent} %"))
}

/// The section about tests in the terminal report.
pub fn render_text(quality: &TestQuality) -> String {
    let metrics = &quality.metrics;
    let mut text = format!(
        "\n{}, {} assertions in each, {} lines for a line of code\n",
        count(metrics.tests, "test"),
        ratio(metrics.assertions, metrics.tests),
        ratio(metrics.test_lines, metrics.code_lines),
    );
    for layer in &metrics.layers {
        let (number, about) = layer.layer.name();
        let short = if layer.is_met() { "" } else { ", too few" };
        text.push_str(&format!(
            "{number:<5} {} (at least {} %{short}): {about}\n",
            percent(layer),
            layer.layer.threshold(),
        ));
    }
    if let Some(reached) = &metrics.coverage {
        text.push_str(&format!("{}\n", coverage::describe(reached)));
    }
    text.push_str(&format!("tests: {}: {}\n", quality.status, quality.gate_decision));
    text
}

/// Number of places that are listed per layer.
const LISTED: usize = 50;

/// `test-quality-report.md`.
pub fn render_markdown(quality: &TestQuality) -> String {
    let metrics = &quality.metrics;
    let mut text = format!(
        "# Test quality: {}\n\n{}.\n\n| Layer | What | Reached | Asked for |\n|---|---|--:|--:|\n",
        quality.status,
        line(&quality.gate_decision, 500)
    );
    for layer in &metrics.layers {
        let (number, about) = layer.layer.name();
        text.push_str(&format!(
            "| {number} | {about} | {} ({} of {}) | {} % |\n",
            percent(layer),
            layer.covered,
            layer.of,
            layer.layer.threshold()
        ));
    }
    text.push_str(&format!(
        "\n{} with {} assertions in each (2 are good), {} lines of tests for a line of code (1 is good).\n",
        count(metrics.tests, "test"),
        ratio(metrics.assertions, metrics.tests),
        ratio(metrics.test_lines, metrics.code_lines),
    ));
    if let Some(reached) = &metrics.coverage {
        text.push_str(&coverage::markdown(reached));
    }
    for layer in metrics.layers.iter().filter(|layer| !layer.is_met()) {
        let (number, about) = layer.layer.name();
        text.push_str(&format!("\n## To write: {number}, {about}\n\n"));
        for place in layer.missing.iter().take(LISTED) {
            text.push_str(&format!("- {}\n", cell(place)));
        }
        if layer.missing.len() > LISTED {
            text.push_str(&format!("- and {} more\n", layer.missing.len() - LISTED));
        }
    }
    text.push_str(&tables(&quality.findings));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::quality::{Completeness, TestAspect};

    #[test]
    fn gaps_are_listed_and_hostile_names_disarmed() {
        let layer = |layer, covered, of, missing: &[&str]| Completeness {
            layer,
            covered,
            of,
            missing: missing.iter().map(|one| (*one).to_owned()).collect(),
        };
        let quality = TestQuality {
            status: QualityDecision::SoftFail,
            gate_decision: "L1.1 66 % of 100 %".into(),
            metrics: TestMetrics {
                layers: vec![
                    layer(TestAspect::Happy, 2, 3, &["a`|<img>.py:3 total"]),
                    layer(TestAspect::Async, 0, 0, &[]),
                ],
                tests: 3,
                assertions: 7,
                code_lines: 100,
                test_lines: 99,
                coverage: None,
            },
            findings: BTreeMap::new(),
        };
        insta::assert_snapshot!(render_markdown(&quality), @r"
        # Test quality: SOFT_FAIL

        L1.1 66 % of 100 %.

        | Layer | What | Reached | Asked for |
        |---|---|--:|--:|
        | L1.1 | public functions that a test tries | 66 % (2 of 3) | 100 % |
        | L1.5 | asynchronous functions that a test waits for | nothing to test (0 of 0) | 100 % |

        3 tests with 2.3 assertions in each (2 are good), 0.9 lines of tests for a line of code (1 is good).

        ## To write: L1.1, public functions that a test tries

        - ``a`\|<img>.py:3 total``
        ");
        insta::assert_snapshot!(render_text(&quality), @r"
        3 tests, 2.3 assertions in each, 0.9 lines for a line of code
        L1.1  66 % (at least 100 %, too few): public functions that a test tries
        L1.5  nothing to test (at least 100 %): asynchronous functions that a test waits for
        tests: SOFT_FAIL: L1.1 66 % of 100 %
        ");
    }
}
