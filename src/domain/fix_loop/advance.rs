//! `FixLoop::advance`: the transition after each step. Pure and total.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::domain::chain::{ProviderCall, spent_by};
use crate::domain::criticality::{self, Circumstances};
use crate::domain::event::{Ending, Event, Minimised};
use crate::domain::expected_failure;
use crate::domain::explanation::{Explanation, SearchSummary, SearchedPlace};
use crate::domain::fix_plan::FixPlan;
use crate::domain::gate::{self, GateVerdict};
use crate::domain::hindrance::Hindrance;
use crate::domain::id::{CommitId, RepoPath, TestId, TreeId};
use crate::domain::known_failure::KnownFailure;
use crate::domain::memory::listed;
use crate::domain::progress::SEARCHED_LANGUAGES;
use crate::domain::proposal::Proposal;
use crate::domain::strategy;
use crate::domain::test::{Results, Status, TestCase};
use crate::domain::text;

use super::{
    AttemptResult, FixLoop, FixStep, IterationResult, NextAction, RemainingFailure, TestRun,
    is_searched,
};

/// Provider calls made during one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProviderCalls {
    pub calls: Vec<ProviderCall>,
    /// Whether providers were available, but none gave a good answer.
    pub degraded: bool,
}

/// Result of performing a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixStepOutcome {
    /// A test run ended; also for [`FixStep::Recheck`] and [`FixStep::TestMergeBase`].
    Ran(TestRun),
    /// The baseline ran, and some of its failures miss packages that are not installed.
    NotInstalled {
        results: Results,
        packages: BTreeSet<String>,
        /// What keeps failing tests from passing, those that miss a package included.
        #[serde(default)]
        hindrances: BTreeMap<TestId, Hindrance>,
    },
    /// The baseline ran, and no honest edit makes some of its failing tests pass.
    Hindered { results: Results, hindrances: BTreeMap<TestId, Hindrance> },
    /// The baseline ran, and all of its failures miss modules that stand in a folder of sources.
    NotImportable {
        results: Results,
        /// Why no edit can repair that, and what to do.
        reason: String,
    },
    Diagnosed {
        /// The plan; `None` when no place to change could be named.
        plan: Option<FixPlan>,
        /// Provider calls made for the diagnosis.
        asked: ProviderCalls,
        /// The failures explained; only in a dry run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        explanation: Option<Explanation>,
        /// Why the plan, the best that providers gave, is too weak to act on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        too_weak: Option<String>,
        /// Without a plan, the places that the failures lead to, none of which may be edited.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        places: Vec<SearchedPlace>,
    },
    /// A search ended, or a provider answered.
    Proposed {
        /// The proposal; `None` when nothing plausible was found.
        proposal: Option<Proposal>,
        fingerprint: String,
        /// The operators that made the edit.
        operators: Vec<String>,
        /// Reasons for which the guards refuse it; empty if they accept it.
        refusals: Vec<String>,
        tried: u32,
        /// Candidates of these that only ever ran out of time, so that nothing is known of them.
        #[serde(default)]
        timed_out: u32,
        /// What the last search looked at, if it found nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        search: Option<SearchSummary>,
        /// Whether nothing is left to try under this strategy.
        exhausted: bool,
        /// Provider calls made for the proposal.
        asked: ProviderCalls,
    },
    /// A budget ended the step; it is performed again when the session continues.
    OutOfBudget {
        /// The limit that was reached, in text written by regreen.
        reason: String,
        /// Provider calls made until then.
        asked: ProviderCalls,
    },
    /// The complete change was minimised as far as possible.
    Minimised {
        /// The sources with the minimised change.
        tree: TreeId,
        minimised: Minimised,
    },
    /// The proposal was written to the checkout.
    Applied {
        /// The sources with the edit.
        tree: TreeId,
        /// Tests that the edit may affect.
        affected: Vec<TestId>,
    },
    /// The commit was made, or existed already; `None` if the session makes no commits.
    Committed(Option<CommitId>),
    /// The accepted sources were restored on disk.
    Restored,
}

/// Number of runs, alone and unchanged, in which a flaky test may pass (specification.md 7.2).
pub const FLAKY_RUNS: u32 = 2;

/// Evidence for the low criticality of a flaky test that fails in the final run.
const PASSES_ALONE: &str =
    "passes alone, and failed in the first and in the final run of the suite";

/// Tests that a full run may break and that a second one is made for: chance breaks few.
const FEW_BROKEN: usize = 3;

/// In every iteration divisible by this, the whole suite runs (specification.md 7.4).
const FULL_RUN_EVERY: u32 = 3;

impl FixLoop {
    /// Applies the outcome of a step, which took `took_ms`; returns new state and events to show.
    ///
    /// An outcome that does not belong to the current step leaves the state unchanged, so that the
    /// step is performed again.
    #[must_use]
    pub fn advance(mut self, done: FixStepOutcome, took_ms: u64) -> (Self, Vec<Event>) {
        self.spent_ms = self.spent_ms.saturating_add(took_ms);
        let mut events = Vec::new();
        if let FixStepOutcome::Ran(Ok(results))
        | FixStepOutcome::NotInstalled { results, .. }
        | FixStepOutcome::Hindered { results, .. }
        | FixStepOutcome::NotImportable { results, .. } = &done
        {
            self.testing_ms = self.testing_ms.saturating_add(results.duration_ms);
            self.count_run(results, &mut events);
        }
        if self.next == FixStep::Baseline {
            self.hindrances.clear();
        }
        match (self.next, done) {
            (FixStep::Baseline, FixStepOutcome::Ran(Ok(results))) => {
                self.after_baseline(&results, BTreeSet::new(), &mut events);
            }
            (FixStep::Baseline, FixStepOutcome::NotInstalled { results, packages, hindrances }) => {
                self.hindrances = hindrances;
                self.after_baseline(&results, packages, &mut events);
            }
            (FixStep::Baseline, FixStepOutcome::Hindered { results, hindrances }) => {
                self.hindrances = hindrances;
                self.after_baseline(&results, BTreeSet::new(), &mut events);
            }
            (FixStep::Baseline, FixStepOutcome::NotImportable { results, reason }) => {
                self.after_baseline(&results, BTreeSet::new(), &mut events);
                // Where all of them are ignored, the session has ended already.
                if self.next != FixStep::Finish {
                    self.report_baseline(&mut events);
                    self.finish_unfixable(&reason);
                }
            }
            (FixStep::Recheck { round }, FixStepOutcome::Ran(ran)) => {
                self.after_recheck(round, ran, &mut events);
            }
            (FixStep::TestMergeBase, FixStepOutcome::Ran(ran)) => {
                self.after_merge_base(ran, &mut events);
            }
            (
                FixStep::Diagnose,
                FixStepOutcome::Diagnosed { plan, asked, explanation, too_weak, places },
            ) => {
                self.note(asked);
                self.explanation = explanation;
                let is_lost = plan.is_none() && !places.is_empty();
                if let Some(attempt) = self.attempt.as_mut().filter(|_| is_lost) {
                    attempt.search = Some(SearchSummary { places, ..SearchSummary::default() });
                }
                self.after_diagnosis(plan, too_weak, &mut events);
            }
            (FixStep::Diagnose | FixStep::Propose, FixStepOutcome::OutOfBudget { asked, .. }) => {
                self.note(asked);
            }
            (FixStep::Propose, done @ FixStepOutcome::Proposed { .. }) => {
                self.after_proposal(done, &mut events);
            }
            (FixStep::Apply, FixStepOutcome::Applied { tree, affected }) => {
                self.after_apply(tree, affected);
            }
            (FixStep::TestAffected | FixStep::TestFull, FixStepOutcome::Ran(ran)) => {
                self.after_test(ran, &mut events);
            }
            (FixStep::Keep, FixStepOutcome::Committed(commit)) => {
                self.after_keep(commit, &mut events);
            }
            (FixStep::ShowAttempt, FixStepOutcome::Committed(commit)) => {
                if let Some(attempt) = &mut self.attempt {
                    attempt.commit.clone_from(&commit);
                }
                self.tip = commit.or(self.tip.take());
                self.next = FixStep::Rollback;
            }
            (FixStep::Rollback, FixStepOutcome::Committed(commit)) => {
                self.tip = commit.or(self.tip.take());
                self.next = FixStep::Restore;
            }
            (FixStep::Restore, FixStepOutcome::Restored) => self.end_iteration(&mut events),
            (FixStep::Minimise, FixStepOutcome::Minimised { tree, minimised }) => {
                self.after_minimise(tree, minimised, &mut events);
            }
            (FixStep::KeepSmaller, FixStepOutcome::Committed(commit)) => {
                if commit.is_some() {
                    self.committed_tree = self.accepted_tree.clone();
                }
                self.tip = commit.or(self.tip.take());
                self.next = FixStep::Confirm;
            }
            (FixStep::Confirm, FixStepOutcome::Ran(ran)) => self.after_confirm(ran, &mut events),
            (FixStep::ConfirmFlaky { round }, FixStepOutcome::Ran(ran)) => {
                self.after_flaky_confirmed(round, ran, &mut events);
            }
            (FixStep::RemoveState, FixStepOutcome::Committed(commit)) => {
                self.tip = commit.or(self.tip.take());
                self.next = FixStep::Finish;
            }
            _ => {}
        }
        self.next_action = next_action(self.next);
        (self, events)
    }

    /// Reopens a failed session if its iteration limit was raised (specification.md 8.11).
    #[must_use]
    pub fn reopen(mut self, max_iterations: u32) -> (Self, Vec<Event>) {
        self.terms.max_iterations = max_iterations;
        let mut events = Vec::new();
        let failed = self.verdict.as_ref().is_some_and(|verdict| verdict.ending == Ending::Failure);
        let is_over = matches!(self.next, FixStep::Finish | FixStep::Minimise);
        if is_over && failed && self.current_iteration < max_iterations {
            if self.current_iteration == 0 || self.verdict.as_ref().is_some_and(|one| one.unfixable)
            {
                // A person may have brought since what no iteration could, so what failed then may pass by now.
                return (self.renew(), events);
            }
            self.verdict = None;
            self.minimised = None;
            self.iterations_before_reopening = self.iterations.len();
            self.begin_iteration(&mut events);
            self.next_action = next_action(self.next);
        }
        (self, events)
    }

    /// Starts over with a baseline of the accepted sources, because the checked-out commit has
    /// changed (specification.md 8.11). An unfinished attempt is dropped; accepted changes stay.
    #[must_use]
    pub fn renew(mut self) -> Self {
        let failed = self.verdict.as_ref().is_some_and(|verdict| verdict.ending == Ending::Failure);
        if self.next == FixStep::Finish && !failed {
            return self;
        }
        self.verdict = None;
        self.minimised = None;
        self.iterations_before_reopening = self.iterations.len();
        self.attempt = None;
        self.retries = 0;
        self.next = FixStep::Baseline;
        self.next_action = next_action(self.next);
        self
    }

    /// Starts over with a baseline of other sources, which `commit` put on the branch: those before any
    /// change of the loop, and those with the accepted changes.
    #[must_use]
    pub fn continue_from(
        mut self,
        (sources, accepted): (&TreeId, &TreeId),
        commit: &CommitId,
    ) -> Self {
        self.head_tree.clone_from(sources);
        self.accepted_tree.clone_from(accepted);
        self.committed_tree.clone_from(accepted);
        self.tip = Some(commit.clone());
        self.renew()
    }

    /// Takes over other known failures, which a new baseline then looks for.
    #[must_use]
    pub fn with_known_failures(mut self, known: &[KnownFailure]) -> Self {
        self.terms.known_failures = known.to_vec();
        self.renew()
    }

    /// Failing tests of the accepted sources with their criticality (specification.md 7.2).
    pub fn judgeable(&self) -> Vec<RemainingFailure> {
        self.ledger
            .all_failing()
            .map(|case| {
                let assessed = criticality::assess(
                    case,
                    Circumstances {
                        flaky: self.flaky.contains(&case.id),
                        excuse: self
                            .excused
                            .get(&case.id)
                            .map(String::as_str)
                            .or_else(|| self.ledger.lack_of(&case.id)),
                        introduced: self.introduced.contains(&case.id),
                        preexisting: self.preexisting.contains(&case.id),
                        newly_failing: self
                            .baseline
                            .as_ref()
                            .is_some_and(|baseline| !baseline.failing.contains(&case.id))
                            && !self.was_unloaded,
                    },
                );
                RemainingFailure {
                    test: case.id.clone(),
                    criticality: assessed.criticality,
                    evidence: expected_failure::find_evidence(case)
                        .or_else(|| self.ledger.lack_of(&case.id).map(str::to_owned))
                        .or_else(|| {
                            self.hindrances.get(&case.id).map(|one| one.evidence().to_owned())
                        })
                        .unwrap_or(assessed.reason),
                }
            })
            .collect()
    }

    /// Adds provider calls to the spending and to the current attempt.
    fn note(&mut self, asked: ProviderCalls) {
        self.spending.join(spent_by(&asked.calls));
        if let Some(attempt) = &mut self.attempt {
            attempt.degraded |= asked.degraded;
            attempt.calls.extend(asked.calls);
        }
    }

    fn count_run(&mut self, results: &Results, events: &mut Vec<Event>) {
        let run = results.count(Status::Passed) + results.count(Status::Failed);
        let of = self.ledger.len().max(run);
        if let (Some(attempt), FixStep::TestAffected | FixStep::TestFull) =
            (&mut self.attempt, self.next)
        {
            attempt.tests_run += run;
            attempt.tests_of += of;
        }
        events.push(Event::Ran {
            iteration: self.current_iteration,
            run,
            of,
            failed: results.count(Status::Failed),
            duration_ms: results.duration_ms,
        });
    }

    fn after_diagnosis(
        &mut self,
        plan: Option<FixPlan>,
        too_weak: Option<String>,
        events: &mut Vec<Event>,
    ) {
        if self.terms.dry_run {
            if let Some(attempt) = &mut self.attempt {
                attempt.plan = plan.filter(|_| too_weak.is_none());
            }
            self.finish(Ending::Planned, "a dry run stops before anything is changed");
            return;
        }
        let Some(attempt) = &mut self.attempt else { return };
        attempt.exhausted = plan.is_none();
        let named = plan.is_some();
        attempt.plan = plan;
        if let Some(reason) = too_weak {
            self.skip(reason);
        } else if named {
            self.next = FixStep::Propose;
        } else {
            if attempt.degraded {
                let reason = "no provider returned a usable analysis";
                self.give_up(IterationResult::Error, reason, events);
                return;
            }
            let reason = nowhere_to_search(self.ledger.failing_cases());
            self.give_up(IterationResult::Unchanged, &reason, events);
        }
    }

    fn after_proposal(&mut self, done: FixStepOutcome, events: &mut Vec<Event>) {
        let FixStepOutcome::Proposed {
            proposal,
            fingerprint,
            operators,
            refusals,
            tried,
            timed_out,
            search,
            exhausted,
            asked,
        } = done
        else {
            return;
        };
        self.note(asked);
        let Some(attempt) = &mut self.attempt else { return };
        attempt.tried += tried;
        attempt.exhausted = exhausted;
        let Some(proposal) = proposal else {
            let reason = if is_searched(attempt.tried, &attempt.calls, attempt.degraded) {
                let all = search.as_ref().map_or(0, |search| search.of).max(attempt.tried);
                found_nothing(attempt.tried, all, timed_out)
            } else {
                "no provider returned a usable edit".to_owned()
            };
            attempt.search = search;
            self.give_up(IterationResult::Unchanged, &reason, events);
            return;
        };
        events.push(Event::Proposed {
            iteration: self.current_iteration,
            author: proposal.author.clone(),
            summary: proposal.summary.clone(),
            files: proposal.edits.files.iter().map(|edit| edit.file.to_string()).collect(),
            tried: attempt.tried,
        });
        if refusals.is_empty() {
            attempt.proposal = Some(proposal);
            attempt.fingerprint = fingerprint;
            attempt.operators = operators;
            self.next = FixStep::Apply;
            return;
        }
        attempt.refusals.push(refusals.join("; "));
        let refused_before = attempt.refusals.len() > 1;
        self.disproved.push(fingerprint);
        events
            .push(Event::Rejected { iteration: self.current_iteration, reasons: refusals.clone() });
        // One more try with the reasons, then the iteration fails (specification.md X26).
        if refused_before {
            let reason = format!("guards refused two proposals: {}", refusals.join("; "));
            self.give_up(IterationResult::Error, &reason, events);
        } else {
            self.next = FixStep::Propose;
        }
    }

    fn after_apply(&mut self, tree: TreeId, affected: Vec<TestId>) {
        let Some(attempt) = &mut self.attempt else { return };
        attempt.tree = Some(tree);
        // A run of all of them is a full run, and a full run shows more.
        let all = affected.len()
            >= self.ledger.cases().filter(|case| case.status != Status::Skipped).count();
        self.next =
            if affected.is_empty() || all { FixStep::TestFull } else { FixStep::TestAffected };
        attempt.affected = affected;
    }

    fn after_test(&mut self, ran: TestRun, events: &mut Vec<Event>) {
        let full = self.next == FixStep::TestFull;
        let Some(attempt) = &mut self.attempt else { return };
        let results = match results_of(ran, &mut self.retries) {
            Ok(results) => results,
            Err(None) => return,
            Err(Some(reason)) => {
                let reason = format!("with the edit, {reason}");
                attempt.judged =
                    Some(AttemptResult::without_results(IterationResult::Error, reason));
                self.disproved.push(attempt.fingerprint.clone());
                self.next = FixStep::Restore;
                return;
            }
        };
        let before = attempt.ledger.as_ref().unwrap_or(&self.ledger);
        let mut after = if full {
            before.after_full(&results, self.current_iteration)
        } else {
            before.after_subset(&results, self.current_iteration)
        };
        let broken = after.newly_failing(&self.ledger);
        if attempt.doubted.is_empty() && (1..=FEW_BROKEN).contains(&broken.len()) {
            // All of them again: one that fails only beside others does not fail by chance.
            attempt.doubted = broken;
            attempt.ledger = if full { attempt.ledger.take() } else { Some(after) };
            self.next = FixStep::TestFull;
            return;
        }
        let passes =
            |id: &&TestId| after.case(id).is_some_and(|case| case.status == Status::Passed);
        let flaky: Vec<TestId> = attempt.doubted.iter().filter(passes).cloned().collect();
        after.mark_flaky(&flaky);
        let all_pass = results.failed().next().is_none();
        let conservative = self.selected_strategy == Some(strategy::Strategy::Conservative);
        let due = self.current_iteration.is_multiple_of(FULL_RUN_EVERY);
        let meets = after.rate().is_some_and(|rate| rate.is_at_least(self.terms.target));
        attempt.ledger = Some(after);
        if full {
            attempt.objections = Some(results.objections);
        }
        self.set_flaky_aside(&flaky, events);
        if !full && (all_pass || conservative || due || meets) {
            self.next = FixStep::TestFull;
        } else {
            self.judge();
        }
    }

    /// Remembers tests that broke with an edit and passed when all tests ran again.
    fn set_flaky_aside(&mut self, flaky: &[TestId], events: &mut Vec<Event>) {
        if flaky.is_empty() {
            return;
        }
        let tests = listed(flaky.iter().map(TestId::as_str));
        let text = format!(
            "{tests} failed and passed on the same sources, which does not speak against the edit"
        );
        events.push(Event::Notice { text });
        self.ledger.mark_flaky(flaky);
        self.flaky.extend_from_slice(flaky);
        self.flaky.sort();
        self.flaky.dedup();
    }

    fn after_keep(&mut self, commit: Option<CommitId>, events: &mut Vec<Event>) {
        if let Some(attempt) = &mut self.attempt {
            attempt.commit.clone_from(&commit);
            for operator in attempt.operators.iter().rev() {
                self.patterns.retain(|known| known != operator);
                self.patterns.insert(0, operator.clone());
            }
        }
        if commit.is_some() {
            self.tip = commit;
            self.committed_tree = self.accepted_tree.clone();
        }
        self.end_iteration(events);
    }

    fn after_minimise(&mut self, tree: TreeId, minimised: Minimised, events: &mut Vec<Event>) {
        events.push(Event::Minimised(minimised.clone()));
        self.minimised = Some(minimised);
        let smaller = tree != self.accepted_tree;
        self.accepted_tree = tree;
        self.next = match self.verdict {
            Some(_) => FixStep::Finish,
            None if smaller && self.terms.commits => FixStep::KeepSmaller,
            None => FixStep::Confirm,
        };
    }

    fn after_confirm(&mut self, ran: TestRun, events: &mut Vec<Event>) {
        let results = match results_of(ran, &mut self.retries) {
            Ok(results) => results,
            Err(None) => return,
            Err(Some(reason)) => {
                self.finish(Ending::Failure, &format!("the final run gave no results: {reason}"));
                return;
            }
        };
        self.ledger = self.ledger.after_full(&results, self.current_iteration);
        self.ledger.update_flaky(&results);
        self.objections = results.objections;
        if self.ledger.failing_flaky().is_empty() {
            self.conclude(events);
        } else {
            self.next = FixStep::ConfirmFlaky { round: 1 };
        }
    }

    /// Flaky tests get as many runs with the change as they got without it.
    fn after_flaky_confirmed(&mut self, round: u32, ran: TestRun, events: &mut Vec<Event>) {
        if let Ok(results) = ran {
            // It failed whenever the others ran too, so that it counts as failed.
            for test in self.ledger.failing_flaky() {
                let is_passed = |case: &TestCase| case.id == test && case.status == Status::Passed;
                if results.cases.iter().any(is_passed) {
                    self.ledger.excuse(std::iter::once(&test));
                    self.excused.insert(test, PASSES_ALONE.to_owned());
                }
            }
        }
        let failing = self.ledger.failing_flaky();
        if round < FLAKY_RUNS && !failing.is_empty() {
            self.next = FixStep::ConfirmFlaky { round: round + 1 };
            return;
        }
        if self.accepted_tree != self.head_tree {
            // It passed without the change, and never with it.
            self.flaky.retain(|test| !failing.contains(test));
            self.ledger.unmark_flaky(&failing);
        }
        self.conclude(events);
    }

    /// Decides by the results of the final run.
    fn conclude(&mut self, events: &mut Vec<Event>) {
        let Some(rate) = self.ledger.rate() else {
            self.finish(Ending::Failure, "no test of the final run counts");
            return;
        };
        if self.accepted_tree != self.head_tree
            && let Some((test, evidence)) = self.ledger.passing_without_content()
        {
            self.special_cases.push(format!("`{test}` passes, and {evidence}"));
        }
        let levels: Vec<_> = self.judgeable().iter().map(|item| item.criticality).collect();
        let verdict = gate::judge(&self.gate_facts(rate, &levels, true));
        match verdict.verdict {
            GateVerdict::Success => self.finish(Ending::Success, &verdict.reason),
            GateVerdict::PartialSuccess => self.finish(Ending::PartialSuccess, &verdict.reason),
            // A final run below the gate goes back to the loop (specification.md C-37).
            GateVerdict::Continue => {
                self.excused.retain(|test, _| !self.flaky.contains(test));
                self.ledger.mark_flaky(&self.flaky);
                self.prepare(events);
            }
            GateVerdict::Unfixable => self.finish_unfixable(&verdict.reason),
            GateVerdict::Failure | GateVerdict::NeedsFullRun => {
                self.finish(Ending::Failure, &verdict.reason);
            }
        }
    }
}

/// The results of a run, which is retried once (specification.md X16). `Err(None)` requests the
/// retry, `Err(Some(_))` is the final reason.
fn results_of(ran: TestRun, retries: &mut u32) -> Result<Results, Option<String>> {
    let is_retried = *retries > 0;
    *retries = u32::from(ran.is_err() && !is_retried);
    ran.map_err(|reason| is_retried.then_some(reason))
}

fn next_action(step: FixStep) -> NextAction {
    match step {
        FixStep::Diagnose | FixStep::Propose | FixStep::Apply => NextAction::ExecuteFixTask,
        FixStep::Minimise
        | FixStep::KeepSmaller
        | FixStep::Confirm
        | FixStep::ConfirmFlaky { .. }
        | FixStep::RemoveState
        | FixStep::Finish => NextAction::Complete,
        _ => NextAction::Retest,
    }
}

/// Why a search that tried so many of all candidates has no edit.
fn found_nothing(tried: u32, all: u32, timed_out: u32) -> String {
    let late = match timed_out {
        0 => String::new(),
        some => format!(", of which {some} only ran out of time"),
    };
    match (tried, all) {
        (0, 0) => "no edit is possible at the places that the failures lead to".to_owned(),
        (0, _) => "each edit that is possible was tried before".to_owned(),
        (tried, all) if tried < all => {
            format!("no plausible edit among {tried} of {all} candidates{late}")
        }
        (tried, _) => format!("no plausible edit among {}{late}", text::count(tried, "candidate")),
    }
}

/// Why a search had no file to search, for failing tests.
fn nowhere_to_search<'a>(failing: impl Iterator<Item = &'a TestCase>) -> String {
    /// Files that are named.
    const NAMED: usize = 3;
    let mut files: BTreeSet<&RepoPath> = BTreeSet::new();
    for case in failing {
        files.extend(&case.file);
        let frames = case.failure.iter().flat_map(|failure| &failure.frames);
        files.extend(frames.map(|frame| &frame.file));
    }
    let named: Vec<String> = files.iter().take(NAMED).map(|file| format!("`{file}`")).collect();
    let more = files.len().saturating_sub(NAMED);
    let led = match (named.is_empty(), more) {
        (true, _) => "the failures name no file of the project".to_owned(),
        (false, 0) => format!("the failures name {}", named.join(" and ")),
        (false, more) => format!("the failures name {} and {more} more", named.join(", ")),
    };
    format!(
        "nothing could be tried: {led}, and no product code in {SEARCHED_LANGUAGES} that is neither generated nor \
         calls C explains them"
    )
}
