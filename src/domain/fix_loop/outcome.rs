//! `FixLoop::outcome`: turns the state of the loop into the `Outcome` that summaries show.

use crate::domain::assertion::assertion;
use crate::domain::event::{Ending, Outcome, Remaining};
use crate::domain::test::Status;

use super::FixLoop;

/// Branches and paths of a session, which the caller knows and the state does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionLocation {
    pub branch: String,
    /// The branch the user had checked out.
    pub onto: Option<String>,
    /// Path of the report, as displayed to people.
    pub report: String,
    /// Path of the session folder, as displayed to people.
    pub folder: String,
    /// Unified diff from the head under test to the accepted sources.
    pub patch: String,
}

impl FixLoop {
    /// The outcome so far. Without a verdict the session is blocked, with `stopped` as the reason.
    pub fn outcome(&self, place: SessionLocation, stopped: &str) -> Outcome {
        let (result, reason) = match &self.verdict {
            Some(verdict) => (verdict.ending, verdict.reason.clone()),
            None => (Ending::Blocked, stopped.to_owned()),
        };
        let failing = self
            .judgeable()
            .into_iter()
            .map(|item| Remaining {
                file: self.ledger.case(&item.test).and_then(|case| case.file.clone()),
                line: self.ledger.case(&item.test).and_then(|case| case.line),
                criticality: item.criticality.to_string(),
                evidence: item.evidence,
                message: self
                    .ledger
                    .case(&item.test)
                    .filter(|case| case.status == Status::Failed)
                    .map(assertion)
                    .unwrap_or_default(),
                test: item.test,
            })
            .collect();
        Outcome {
            session: self.session_id.to_string(),
            result,
            reason,
            initial: self.baseline.as_ref().map(|baseline| baseline.rate),
            last: self.ledger.rate(),
            estimated: self.ledger.is_estimated(),
            iterations: self.iterations.iter().map(|iteration| iteration.row.clone()).collect(),
            failing,
            stuck: self.stuck_tests.clone(),
            flaky: self.flaky.clone(),
            preexisting: self.preexisting.clone(),
            limit_reached: result == Ending::Failure
                && self.current_iteration >= self.terms.max_iterations,
            degraded: self.iterations.iter().any(|one| one.row.degraded),
            spending: self.spending,
            minimised: self.minimised.clone(),
            explanation: self.explanation.clone(),
            branch: place.branch,
            onto: place.onto,
            tip: self.tip.clone(),
            patch: place.patch,
            report: place.report,
            folder: place.folder,
            duration_ms: self.spent_ms,
            testing_ms: self.testing_ms,
        }
    }
}
