//! The phases of a session as lists of sessions show them (specification.md 3.2).

use serde::Serialize;

use crate::domain::text::count;

use super::exploration::Exploration;
use super::{Integration, IntegrationStep, Phase};

/// What one phase of a session gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseResult {
    /// Counted as the specification does.
    pub phase: u32,
    pub name: &'static str,
    pub summary: String,
}

impl Integration {
    /// The step that comes next; `None` when the session has ended.
    #[must_use]
    pub fn pending_step(&self) -> Option<IntegrationStep> {
        (self.phase != Phase::Completed).then_some(self.checkpoint.next)
    }

    /// The phases that have begun to give something, in order.
    #[must_use]
    pub fn list_phases(&self) -> Vec<PhaseResult> {
        let scenarios = |number: usize| count(number, "scenario");
        let is_over = self.phase == Phase::Completed;
        let run = self.iterations.latest_results.as_ref();
        let phases = [
            (2, "exploration", self.exploration.as_ref().map(Exploration::describe_boundaries)),
            (
                3,
                "design",
                self.test_design.as_ref().map(|one| scenarios(one.integration_scenarios.len())),
            ),
            (
                4,
                "development",
                self.test_inventory.as_ref().map(|one| {
                    format!(
                        "{} in {}",
                        count(one.total_tests, "test"),
                        count(one.total_files, "file")
                    )
                }),
            ),
            (
                5,
                "iterations",
                run.map(|run| {
                    let number = count(self.iterations.current, "iteration");
                    format!("{number}, {} passed, {} failed", run.passed, run.failed)
                }),
            ),
            (6, "end", self.summary.as_ref().filter(|_| is_over).map(|one| one.result.to_string())),
        ];
        phases
            .into_iter()
            .filter_map(|(phase, name, summary)| {
                Some(PhaseResult { phase, name, summary: summary? })
            })
            .collect()
    }
}
