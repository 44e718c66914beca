//! What a session has learned so far, replaced after each iteration, and how far the intent is
//! covered (specification.md 8.13).

use super::Integration;
use super::records::AssumptionStatus;
use crate::domain::fix_loop::IterationResult;
use crate::domain::id::TestId;

/// The cumulative learnings of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learnings {
    /// What was assumed and shown.
    pub confirmed: Vec<String>,
    /// What was assumed and is not so, with what is true.
    pub corrected: Vec<String>,
    /// Changes that made tests pass.
    pub effective: Vec<String>,
    /// Changes that did not, which are not tried again.
    pub ineffective: Vec<String>,
    /// What occurred more than once.
    pub patterns: Vec<String>,
}

/// How far the boundaries of the exploration are tested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntentCoverage {
    /// Boundaries whose tests pass.
    pub covered: Vec<String>,
    /// Boundaries with a test, new or existing, that fails.
    pub failing: Vec<String>,
    /// Boundaries that the design had and whose tests were dropped.
    pub drifted: Vec<String>,
    /// Boundaries without a test.
    pub open: Vec<String>,
}

impl Integration {
    /// The learnings up to the last iteration.
    #[must_use]
    pub fn current_learnings(&self) -> Learnings {
        let mut learnings = Learnings::default();
        for one in &self.assumptions {
            match &one.status {
                AssumptionStatus::Open => {}
                AssumptionStatus::Confirmed { evidence } => {
                    learnings.confirmed.push(format!("{} ({evidence})", one.text));
                }
                AssumptionStatus::Corrected { new, evidence, .. } => {
                    learnings.corrected.push(format!("{}: {new} ({evidence})", one.text));
                }
            }
        }
        for one in self.iterations.history.iter().filter(|one| !one.change.is_empty()) {
            let text = format!("{} (iteration {})", one.change, one.iteration);
            match one.result {
                Some(IterationResult::Improved) => learnings.effective.push(text),
                Some(IterationResult::Regression | IterationResult::Unchanged) => {
                    learnings.ineffective.push(text);
                }
                _ => {}
            }
        }
        learnings.patterns = self.patterns();
        learnings
    }

    /// Reasons for which several tests or boundaries have none, and tests that stay red.
    fn patterns(&self) -> Vec<String> {
        let mut found: Vec<(String, usize)> = Vec::new();
        let untested = self.test_inventory.iter().flat_map(|inventory| &inventory.untested);
        for one in untested {
            match found.iter_mut().find(|(reason, _)| *reason == one.reason) {
                Some((_, number)) => *number += 1,
                None => found.push((one.reason.clone(), 1)),
            }
        }
        found.retain(|(_, number)| *number > 1);
        found.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
        let reasons = found.into_iter().map(|(reason, number)| format!("{number} times: {reason}"));
        let stuck = self.iterations.stuck_tests.iter();
        let stuck = stuck.map(|test| format!("{test} fails whatever was changed"));
        reasons.chain(stuck).collect()
    }

    /// How far the boundaries are tested now.
    #[must_use]
    pub fn intent_coverage(&self) -> IntentCoverage {
        let mut coverage = IntentCoverage::default();
        let failures = self.iterations.latest_results.iter().flat_map(|run| &run.failures);
        let failing: Vec<&TestId> = failures.map(|failure| &failure.test).collect();
        let points = self.exploration.iter().flat_map(|one| &one.integration_points);
        for point in points {
            let name = point.boundary_name();
            let files = self.test_inventory.iter().flat_map(|inventory| &inventory.test_files);
            let own: Vec<_> = files.filter(|file| file.boundary == name).collect();
            let is_designed = self
                .test_design
                .iter()
                .any(|design| design.integration_scenarios.iter().any(|one| one.boundary == name));
            let mut tests = own.iter().flat_map(|file| &file.tests).chain(&point.crossed_by);
            let list = if tests.any(|id| failing.contains(&id)) {
                &mut coverage.failing
            } else if !own.is_empty() || point.is_crossed() {
                &mut coverage.covered
            } else if is_designed && self.test_inventory.is_some() {
                &mut coverage.drifted
            } else {
                &mut coverage.open
            };
            list.push(name);
        }
        coverage
    }
}
