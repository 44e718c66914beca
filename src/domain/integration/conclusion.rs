//! How a session ends: its result, numbers and recommendations (specification.md 8.13).

use crate::domain::event::{Ending, WrittenFile, WrittenWork};
use crate::domain::fix_loop::IterationResult;
use crate::domain::strategy::Strategy;
use crate::domain::text::count;

use super::{Integration, IntentCoverage, SessionSummary, TestFile, TestMetrics};

/// Boundaries that a recommendation names.
const NAMED: usize = 3;

impl Integration {
    /// The conclusions, from the ending of the fix loop; `None` where it had no test to begin with.
    #[must_use]
    pub fn summarise_session(&self, ending: Option<Ending>, now: String) -> SessionSummary {
        let learnings = self.current_learnings();
        let results = self.iterations.latest_results.as_ref();
        let mut strategies: Vec<Strategy> = Vec::new();
        for strategy in self.iterations.history.iter().filter_map(|one| one.strategy) {
            if !strategies.contains(&strategy) {
                strategies.push(strategy);
            }
        }
        let inventory = self.test_inventory.as_ref();
        let crossed = self.boundaries_with_new_tests();
        SessionSummary {
            result: ending.filter(|_| self.has_work()).unwrap_or(Ending::Failure),
            final_pass_rate: results.map(|run| run.pass_rate),
            total_iterations: self.iterations.current,
            strategies_used: strategies,
            test_metrics: TestMetrics {
                total_tests: inventory.map_or(0, |one| one.total_tests),
                passed: results.map_or(0, |run| run.passed),
                failed: results.map_or(0, |run| run.failed),
                test_files: inventory.map_or(0, |one| one.total_files),
                integration_points_covered: u32::try_from(crossed).unwrap_or(u32::MAX),
            },
            key_learnings: [learnings.confirmed, learnings.effective].concat(),
            corrected_assumptions: learnings.corrected,
            recommendations: self.recommendations(ending),
            completed: now,
        }
    }

    /// What was written, as the screens show it.
    #[must_use]
    pub fn written_work(&self) -> WrittenWork {
        let Some(inventory) = &self.test_inventory else { return WrittenWork::default() };
        let points = self.exploration.iter().flat_map(|one| &one.integration_points);
        let points: Vec<_> = points.collect();
        let file = |file: &TestFile| {
            let point = points.iter().find(|point| point.boundary_name() == file.boundary)?;
            let (path, subject) = (file.path.clone(), point.from.clone());
            Some(WrittenFile { file: path, subject, tests: file.test_count })
        };
        let files: Vec<WrittenFile> = inventory.test_files.iter().filter_map(file).collect();
        let reason = inventory.untested.first().map(|one| one.reason.clone());
        let obstacle = reason.filter(|_| files.is_empty()).unwrap_or_default();
        let findings = inventory.findings.clone();
        let without = points.iter().map(|point| point.boundary_name());
        let without = without.filter(|name| !inventory.crosses_boundary(name));
        let reason = |name: &String| {
            let known =
                inventory.untested.iter().find(|one| one.what.split(": ").next() == Some(name))?;
            Some(format!("{name}: {}", known.reason))
        };
        let untested = without.filter_map(|name| reason(&name)).collect();
        WrittenWork { files, obstacle, findings, untested, ..WrittenWork::default() }
    }

    /// Whether a new test or a kept change of the code came of the session.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.test_inventory.as_ref().is_some_and(|one| one.total_tests > 0)
            || self
                .iterations
                .history
                .iter()
                .any(|one| one.result == Some(IterationResult::Improved))
    }

    /// How many boundaries have a new test.
    #[must_use]
    pub fn boundaries_with_new_tests(&self) -> usize {
        let points = self.exploration.iter().flat_map(|one| &one.integration_points);
        let inventory = self.test_inventory.as_ref();
        points
            .filter(|point| {
                inventory.is_some_and(|one| one.crosses_boundary(&point.boundary_name()))
            })
            .count()
    }

    /// What a person should do next.
    fn recommendations(&self, ending: Option<Ending>) -> Vec<String> {
        let mut found = Vec::new();
        let findings = self.test_inventory.as_ref().map_or(0, |one| one.findings.len());
        if findings > 0 {
            let what = count(findings, "contradiction");
            found.push(format!("decide {what} between code and documentation"));
        }
        if ending == Some(Ending::Failure) && !self.iterations.stuck_tests.is_empty() {
            let stuck = count(self.iterations.stuck_tests.len(), "stuck test");
            found.push(format!("look at {stuck}: no change made them pass"));
        }
        if self.has_repaired_documented() {
            found.push("merge the repair and run the same request again: what ran the wrong code has no test yet".into());
        }
        let IntentCoverage { drifted, open, .. } = self.intent_coverage();
        let untested: Vec<&str> = drifted.iter().chain(&open).map(String::as_str).collect();
        if !untested.is_empty() {
            let named = untested.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
            let more = match untested.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            found.push(format!("test by hand, or with a model: {named}{more}"));
        }
        found
    }
}
