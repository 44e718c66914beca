//! `FixLoop::outcome`: turns the state of the loop into the `Outcome` that summaries show.

use std::time::Duration;

use crate::domain::assertion::assertion;
use crate::domain::budget::{Spending, SpendingLimits};
use crate::domain::event::{
    Ending, Outcome, Remaining, UnconfirmedEdit, UnfinishedIteration, WrittenWork,
};
use crate::domain::explanation::SearchSummary;
use crate::domain::id::CommitId;
use crate::domain::session::{HIGHEST_LIMIT, MAX_ITERATIONS};
use crate::domain::test::Status;

use super::iterate::shown;
use super::{FixLoop, FixStep, FixVerdict};

/// Branches, paths and options of a session, which the caller knows and the state does not hold.
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
    /// The options of a dry run that a run for the same needs, as words of a command line.
    pub options: Vec<String>,
    /// How earlier sessions led this run before its loop began.
    pub earlier: Vec<String>,
    pub base: Option<CommitId>,
    /// What holds test code back.
    pub protection: Vec<String>,
    /// What was written, in a session that writes tests.
    pub written: Option<WrittenWork>,
}

/// The iteration limit that reopens a session of this limit; `None` at the highest.
fn reopening_limit(limit: u32) -> Option<u32> {
    let higher = limit.saturating_add(MAX_ITERATIONS).min(HIGHEST_LIMIT);
    (higher > limit).then_some(higher)
}

/// Why a run stopped before it had a verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// The reason, in regreen's own words.
    pub reason: String,
    /// Whether a limit of what providers may cost is used up, so that only a higher one continues.
    pub is_spent: bool,
    /// The options that raise this limit, as words of a command line.
    pub options: Vec<String>,
}

impl Stopped {
    /// The same with the options that double the limit which is used up.
    #[must_use]
    pub fn raising(self, limits: &SpendingLimits, spent: &Spending) -> Self {
        let options = if self.is_spent { limits.doubled(spent).options() } else { Vec::new() };
        Self { options, ..self }
    }

    /// The same with twice the time that is used up, where a step that begins anew needs more.
    #[must_use]
    pub fn with_more_time(self, budget: Option<Duration>, elapsed: Duration) -> Self {
        let Some(budget) = budget.filter(|budget| !self.is_spent && elapsed >= *budget) else {
            return self;
        };
        let minutes = (budget.as_secs_f64() / 3.0).ceil() / 10.0;
        Self { options: vec!["--budget-minutes".into(), minutes.to_string()], ..self }
    }
}

impl FixLoop {
    /// The outcome so far. Without a verdict the session is blocked, for the reason of `stopped`.
    pub fn outcome(&self, place: SessionLocation, stopped: Stopped) -> Outcome {
        let options = if stopped.is_spent { stopped.options } else { place.options };
        let (result, reason, limit_reached) = match &self.verdict {
            Some(FixVerdict { ending, reason, .. }) => {
                let is_last = self.current_iteration >= self.terms.max_iterations
                    && !self.failing().is_empty();
                (*ending, reason.clone(), *ending == Ending::Failure && is_last)
            }
            None => (Ending::Blocked, stopped.reason, stopped.is_spent),
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
            objections: self.objections.clone(),
            initial: self.baseline.as_ref().map(|baseline| baseline.rate),
            last: self.ledger.rate(),
            estimated: self.ledger.is_estimated(),
            iterations: self.iterations.iter().map(|iteration| iteration.row.clone()).collect(),
            failing,
            stuck: self.stuck_tests.clone(),
            flaky: self.flaky.clone(),
            preexisting: self.preexisting.clone(),
            introduced: self.introduced.clone(),
            base: place.base,
            protection: place.protection,
            special_cases: self.special_cases.clone(),
            unfixable: self.verdict.as_ref().is_some_and(|verdict| verdict.unfixable),
            not_run: self.terms.not_run.clone(),
            earlier: place.earlier.into_iter().chain(self.earlier.iter().cloned()).collect(),
            limit_reached,
            reopening_limit: (result == Ending::Failure)
                .then(|| reopening_limit(self.terms.max_iterations))
                .flatten(),
            written: place.written,
            degraded: self.iterations.iter().any(|one| one.row.degraded),
            spending: self.spending,
            options,
            unfinished_calls: self.attempt.as_ref().map_or_else(Vec::new, |one| one.calls.clone()),
            unfinished: self.unfinished(),
            searched: self.searched(result),
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

    /// What the last iteration searched, where nothing ended in success behind it.
    fn searched(&self, result: Ending) -> Option<SearchSummary> {
        let last = self.iterations.last();
        let last = last.filter(|_| matches!(result, Ending::Failure | Ending::Blocked));
        last.and_then(|last| last.search.clone())
    }

    /// The iteration that has begun and not ended, without what a search that was stopped had tried.
    fn unfinished(&self) -> Option<UnfinishedIteration> {
        let attempt = self.attempt.as_ref().filter(|_| self.verdict.is_none())?;
        let is_open =
            matches!(self.next, FixStep::Apply | FixStep::TestAffected | FixStep::TestFull);
        let edit = attempt.proposal.as_ref().filter(|_| is_open).map(|proposal| UnconfirmedEdit {
            author: proposal.author.clone(),
            summary: proposal.summary.clone(),
            suspicion: proposal.suspicion.clone(),
            patch: shown(proposal),
        });
        Some(UnfinishedIteration {
            iteration: self.current_iteration,
            strategy: self.strategy(),
            candidates: attempt.tried,
            edit,
        })
    }
}
