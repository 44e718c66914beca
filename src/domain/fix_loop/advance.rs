//! One transition: what a step brought, and what follows from it. Pure and total.

use crate::domain::criticality::{self, Circumstances};
use crate::domain::event::{Ending, Event, IterationRow};
use crate::domain::failure::signature_of;
use crate::domain::gate::{self, GateFacts, GateVerdict};
use crate::domain::history::{self, Judgement};
use crate::domain::id::{CommitId, TestId, TreeId};
use crate::domain::ledger::Ledger;
use crate::domain::plan::Plan;
use crate::domain::proposal::Proposal;
use crate::domain::rate::PassRate;
use crate::domain::similarity;
use crate::domain::strategy::{self, Situation};
use crate::domain::test::{Results, Status};

use super::{
    Attempt, Baseline, FixLoop, Iteration, IterationResult, Judgeable, Judged, NextAction, Ran,
    Step, Verdict,
};

/// What performing a step brought.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// A run of tests; also of the checks behind [`Step::Recheck`] and [`Step::Blame`].
    Ran(Ran),
    /// A diagnosis; `None` when no place to change could be named.
    Diagnosed(Option<Plan>),
    /// The end of a search or the answer of a provider.
    Proposed {
        /// The proposal; `None` when nothing plausible was found.
        proposal: Option<Proposal>,
        /// Its fingerprint.
        fingerprint: String,
        /// Operators behind it.
        operators: Vec<String>,
        /// Reasons why guards refuse it; empty when vetted.
        refusals: Vec<String>,
        /// Candidates tried.
        tried: u32,
        /// Whether nothing is left to try under this strategy.
        exhausted: bool,
    },
    /// The proposal is on disk.
    Applied {
        /// The sources with it.
        tree: TreeId,
        /// Tests it may affect.
        affected: Vec<TestId>,
    },
    /// A commit was made, or was there already; `None` where the session makes none.
    Committed(Option<CommitId>),
    /// The accepted sources are back on disk.
    Restored,
}

/// Full runs between iterations that only ran affected tests (product.md 7.4).
const FULL_RUN_EVERY: u32 = 3;

impl FixLoop {
    /// The state after `done`, which took `took_ms`, and the events to show.
    ///
    /// An answer that does not belong to the current step leaves the state as it is, so that the
    /// step is performed again.
    #[must_use]
    pub fn advance(mut self, done: Done, took_ms: u64) -> (Self, Vec<Event>) {
        self.spent_ms = self.spent_ms.saturating_add(took_ms);
        let mut events = Vec::new();
        if let Done::Ran(Ok(results)) = &done {
            self.testing_ms = self.testing_ms.saturating_add(results.duration_ms);
            self.count_run(results, &mut events);
        }
        match (self.next, done) {
            (Step::Baseline, Done::Ran(Ok(results))) => self.after_baseline(&results, &mut events),
            (Step::Recheck { round }, Done::Ran(ran)) => {
                self.after_recheck(round, ran, &mut events);
            }
            (Step::Blame, Done::Ran(ran)) => self.after_blame(ran, &mut events),
            (Step::Diagnose, Done::Diagnosed(plan)) => self.after_diagnosis(plan, &mut events),
            (Step::Propose, done @ Done::Proposed { .. }) => self.after_proposal(done, &mut events),
            (Step::Apply, Done::Applied { tree, affected }) => self.after_apply(tree, affected),
            (Step::TestAffected | Step::TestFull, Done::Ran(ran)) => self.after_test(ran),
            (Step::Keep, Done::Committed(commit)) => self.after_keep(commit, &mut events),
            (Step::ShowAttempt, Done::Committed(commit)) => {
                if let Some(attempt) = &mut self.attempt {
                    attempt.commit.clone_from(&commit);
                }
                self.tip = commit.or(self.tip.take());
                self.next = Step::Rollback;
            }
            (Step::Rollback, Done::Committed(commit)) => {
                self.tip = commit.or(self.tip.take());
                self.next = Step::Restore;
            }
            (Step::Restore, Done::Restored) => self.end_iteration(&mut events),
            (Step::Confirm, Done::Ran(ran)) => self.after_confirm(ran, &mut events),
            (Step::Seal, Done::Committed(commit)) => {
                self.tip = commit.or(self.tip.take());
                self.next = Step::Finish;
            }
            _ => {}
        }
        self.next_action = next_action(self.next);
        (self, events)
    }

    /// Reopens a session that ended at its limit, when the limit was raised (product.md 8.13.5).
    #[must_use]
    pub fn reopen(mut self, max_iterations: u32) -> (Self, Vec<Event>) {
        self.terms.max_iterations = max_iterations;
        let mut events = Vec::new();
        let failed = self.verdict.as_ref().is_some_and(|verdict| verdict.ending == Ending::Failure);
        if self.next == Step::Finish && failed && self.current_iteration < max_iterations {
            self.verdict = None;
            self.begin_iteration(&mut events);
            self.next_action = next_action(self.next);
        }
        (self, events)
    }

    /// Failing tests of the accepted sources with their criticality (product.md 7.2).
    #[must_use]
    pub fn judgeable(&self) -> Vec<Judgeable> {
        self.ledger
            .failing_cases()
            .map(|case| {
                let assessed = criticality::assess(
                    case,
                    Circumstances {
                        flaky: self.flaky.contains(&case.id),
                        introduced: self.introduced.contains(&case.id),
                        preexisting: self.preexisting.contains(&case.id),
                        newly_failing: self
                            .baseline
                            .as_ref()
                            .is_some_and(|baseline| !baseline.failing.contains(&case.id)),
                    },
                );
                Judgeable {
                    test: case.id.clone(),
                    criticality: assessed.criticality,
                    evidence: assessed.reason,
                }
            })
            .collect()
    }

    fn count_run(&mut self, results: &Results, events: &mut Vec<Event>) {
        let run = results.count(Status::Passed) + results.count(Status::Failed);
        let of = self.ledger.len().max(run);
        if let (Some(attempt), Step::TestAffected | Step::TestFull) = (&mut self.attempt, self.next)
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

    fn after_baseline(&mut self, results: &Results, events: &mut Vec<Event>) {
        self.ledger = Ledger::from_full(results, 0);
        let Some(rate) = self.ledger.rate() else { return };
        let failing = self.ledger.failing();
        self.baseline =
            Some(Baseline { rate, failing: failing.clone(), duration_ms: results.duration_ms });
        if failing.is_empty() {
            self.tell_baseline(events);
            self.finish(Ending::Success, "every test passes already");
        } else {
            self.next = Step::Recheck { round: 1 };
        }
    }

    fn after_recheck(&mut self, round: u32, ran: Ran, events: &mut Vec<Event>) {
        // Without results there is no evidence, and without evidence nothing is called flaky.
        if let Ok(results) = ran {
            let passed_now = results
                .cases
                .iter()
                .filter(|case| case.status == Status::Passed)
                .filter(|case| self.ledger.is_failing(&case.id))
                .map(|case| case.id.clone());
            self.flaky.extend(passed_now);
            self.flaky.sort();
            self.flaky.dedup();
            self.ledger.quarantine(&self.flaky);
        }
        self.next = if round < 2 && !self.failing().is_empty() {
            Step::Recheck { round: round + 1 }
        } else if self.terms.has_base && !self.failing().is_empty() {
            Step::Blame
        } else {
            self.tell_baseline(events);
            self.begin_iteration(events);
            self.next
        };
    }

    fn after_blame(&mut self, ran: Ran, events: &mut Vec<Event>) {
        if let Ok(results) = ran {
            for test in self.failing() {
                let there = results.cases.iter().find(|case| case.id == test);
                match there.map(|case| case.status) {
                    Some(Status::Failed) => self.preexisting.push(test),
                    Some(Status::Passed) => self.introduced.push(test),
                    Some(Status::Skipped) | None => {}
                }
            }
        } else {
            events.push(Event::Notice {
                text: "the suite gives no results on the merge base, so no failure is called \
                       introduced or pre-existing"
                    .into(),
            });
        }
        self.tell_baseline(events);
        self.begin_iteration(events);
    }

    fn tell_baseline(&self, events: &mut Vec<Event>) {
        if let Some(baseline) = &self.baseline {
            events.push(Event::Baseline {
                rate: baseline.rate,
                failing: baseline.failing.clone(),
                flaky: self.flaky.clone(),
                preexisting: self.preexisting.clone(),
            });
        }
    }

    /// Decides between the end of the session and one more iteration.
    fn begin_iteration(&mut self, events: &mut Vec<Event>) {
        let Some(rate) = self.ledger.rate() else {
            self.finish(Ending::PartialSuccess, "only flaky tests failed");
            return;
        };
        self.detect();
        let levels: Vec<_> = self.judgeable().iter().map(|item| item.criticality).collect();
        let verdict = gate::judge(&GateFacts {
            rate,
            target: self.terms.target,
            remaining: &levels,
            full_run: !self.ledger.is_estimated(),
            flaky: !self.flaky.is_empty(),
            iterations_left: self.terms.max_iterations.saturating_sub(self.current_iteration),
        });
        if self.terms.dry_run {
            self.prepare(events);
            return;
        }
        match verdict.verdict {
            GateVerdict::Success | GateVerdict::PartialSuccess | GateVerdict::NeedsFullRun => {
                self.next = Step::Confirm;
            }
            GateVerdict::Failure => self.finish(Ending::Failure, &verdict.reason),
            GateVerdict::Continue => {
                if let Some(reason) = self.hopeless() {
                    self.finish(Ending::Failure, &reason);
                } else {
                    self.prepare(events);
                }
            }
        }
    }

    /// Refreshes what the next decisions depend on: stuck tests and the trend.
    fn detect(&mut self) {
        self.stuck_tests = self.ledger.stuck(history::STUCK_AFTER);
        let rates: Vec<_> = self
            .baseline
            .iter()
            .map(|baseline| baseline.rate)
            .chain(self.iterations.iter().map(|iteration| iteration.row.after))
            .collect();
        self.trend = history::trend(&rates);
    }

    /// Why going on is pointless, if it is (product.md 7.8).
    fn hopeless(&self) -> Option<String> {
        let rounds: Vec<_> = self
            .iterations
            .iter()
            .map(|iteration| history::Round {
                strategy: iteration.row.strategy,
                failing: iteration.failed_tests.clone(),
                cause: iteration.cause.clone(),
                points: iteration.points.clone(),
                exhausted: iteration.exhausted,
                improved: iteration.result == IterationResult::Improved,
            })
            .collect();
        history::hopeless(&rounds, &self.stuck_tests, &self.failing())
    }

    /// Starts the next iteration: strategy first, before anybody is asked.
    fn prepare(&mut self, events: &mut Vec<Event>) {
        let Some(rate) = self.ledger.rate() else { return };
        self.rate_to_climb.get_or_insert(rate);
        self.current_iteration += 1;
        let failures: Vec<_> = self.ledger.failing_cases().map(signature_of).collect();
        let choice = strategy::select(&Situation {
            iteration: self.current_iteration,
            rate,
            similarity: similarity::of(&failures),
            regressions: self.regressions_in_a_row(),
            stuck: !self.stuck_tests.is_empty(),
            exhausted: self.iterations.last().is_some_and(|last| last.exhausted),
        });
        self.selected_strategy = Some(choice.strategy);
        self.strategy_reason.clone_from(&choice.reason);
        events.push(Event::IterationStarted {
            iteration: self.current_iteration,
            strategy: choice.strategy,
            reason: choice.reason,
            rate,
        });
        self.attempt = Some(Attempt {
            pre_tree: self.accepted_tree.clone(),
            began_ms: self.spent_ms,
            plan: None,
            proposal: None,
            fingerprint: String::new(),
            operators: Vec::new(),
            tried: 0,
            exhausted: false,
            refusals: Vec::new(),
            tree: None,
            affected: Vec::new(),
            ledger: None,
            full_run: false,
            tests_run: 0,
            tests_of: 0,
            judged: None,
            commit: None,
        });
        self.next = Step::Diagnose;
    }

    fn regressions_in_a_row(&self) -> u32 {
        let regressed = |iteration: &&Iteration| iteration.result == IterationResult::Regression;
        let count = self.iterations.iter().rev().take_while(regressed).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn after_diagnosis(&mut self, plan: Option<Plan>, events: &mut Vec<Event>) {
        if self.terms.dry_run {
            if let Some(attempt) = &mut self.attempt {
                attempt.plan = plan;
            }
            self.finish(Ending::Planned, "a dry run stops before anything is changed");
            return;
        }
        let Some(attempt) = &mut self.attempt else { return };
        attempt.exhausted = plan.is_none();
        let named = plan.is_some();
        attempt.plan = plan;
        if named {
            self.next = Step::Propose;
        } else {
            self.give_up(IterationResult::Error, "no place to change could be named", events);
        }
    }

    fn after_proposal(&mut self, done: Done, events: &mut Vec<Event>) {
        let Done::Proposed { proposal, fingerprint, operators, refusals, tried, exhausted } = done
        else {
            return;
        };
        let Some(attempt) = &mut self.attempt else { return };
        attempt.tried += tried;
        attempt.exhausted = exhausted;
        let Some(proposal) = proposal else {
            let reason = format!("no plausible edit among {} candidates", attempt.tried);
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
            self.next = Step::Apply;
            return;
        }
        attempt.refusals.push(refusals.join("; "));
        let refused_before = attempt.refusals.len() > 1;
        self.disproved.push(fingerprint);
        events
            .push(Event::Rejected { iteration: self.current_iteration, reasons: refusals.clone() });
        // One more try with the reason, then the iteration is an error (product.md X26).
        if refused_before {
            let reason = format!("guards refused two proposals: {}", refusals.join("; "));
            self.give_up(IterationResult::Error, &reason, events);
        } else {
            self.next = Step::Propose;
        }
    }

    fn after_apply(&mut self, tree: TreeId, affected: Vec<TestId>) {
        let Some(attempt) = &mut self.attempt else { return };
        attempt.tree = Some(tree);
        // All of them is a full run, and a full run tells more.
        let all = affected.len()
            >= self.ledger.cases().filter(|case| case.status != Status::Skipped).count();
        self.next = if affected.is_empty() || all { Step::TestFull } else { Step::TestAffected };
        attempt.affected = affected;
    }

    fn after_test(&mut self, ran: Ran) {
        let full = self.next == Step::TestFull;
        let Some(attempt) = &mut self.attempt else { return };
        let results = match ran {
            Ok(results) => results,
            // One retry, then the attempt has no results to stand on (product.md X16).
            Err(_) if self.retries == 0 => {
                self.retries = 1;
                return;
            }
            Err(reason) => {
                self.retries = 0;
                attempt.judged = Some(Judged {
                    result: IterationResult::Error,
                    reason: format!("with the edit, {reason}"),
                    keep_uncommitted: false,
                    reached: None,
                    hard: false,
                });
                self.disproved.push(attempt.fingerprint.clone());
                self.next = Step::Restore;
                return;
            }
        };
        self.retries = 0;
        let before = attempt.ledger.as_ref().unwrap_or(&self.ledger);
        let after = if full {
            before.after_full(&results, self.current_iteration)
        } else {
            before.after_subset(&results, self.current_iteration)
        };
        let all_pass = results.failed().next().is_none();
        let conservative = self.selected_strategy == Some(strategy::Strategy::Conservative);
        let due = self.current_iteration.is_multiple_of(FULL_RUN_EVERY);
        let meets = after.rate().is_some_and(|rate| rate.is_at_least(self.terms.target));
        attempt.ledger = Some(after);
        attempt.full_run = full;
        if !full && (all_pass || conservative || due || meets) {
            self.next = Step::TestFull;
        } else {
            self.judge();
        }
    }

    /// Judges the attempt by its ledger (product.md 7.4.7, 7.9, 7.10).
    fn judge(&mut self) {
        let Some(attempt) = &mut self.attempt else { return };
        let Some(after) = &attempt.ledger else { return };
        let judgement = history::judge(&self.ledger, after);
        let reached = after.rate();
        let (result, keep_uncommitted, hard, next) = match judgement.judgement {
            Judgement::Improved => (IterationResult::Improved, false, false, Step::Keep),
            Judgement::Unchanged { keep: true } => {
                (IterationResult::Unchanged, true, false, Step::Restore)
            }
            Judgement::Unchanged { keep: false } => {
                (IterationResult::Unchanged, false, false, Step::Restore)
            }
            Judgement::SoftRegression => (IterationResult::Regression, false, false, Step::Restore),
            Judgement::Regression if self.terms.commits => {
                (IterationResult::Regression, false, true, Step::ShowAttempt)
            }
            Judgement::Regression => (IterationResult::Regression, false, true, Step::Restore),
        };
        if result != IterationResult::Improved {
            self.disproved.push(attempt.fingerprint.clone());
        }
        attempt.judged =
            Some(Judged { result, reason: judgement.reason, keep_uncommitted, reached, hard });
        if result == IterationResult::Improved || keep_uncommitted {
            if let Some(tree) = &attempt.tree {
                self.accepted_tree = tree.clone();
            }
            if let Some(ledger) = attempt.ledger.clone() {
                self.ledger = ledger;
            }
        }
        self.next = next;
    }

    fn after_keep(&mut self, commit: Option<CommitId>, events: &mut Vec<Event>) {
        if let Some(attempt) = &mut self.attempt {
            attempt.commit.clone_from(&commit);
            for operator in attempt.operators.drain(..).rev() {
                self.patterns.retain(|known| *known != operator);
                self.patterns.insert(0, operator);
            }
        }
        if commit.is_some() {
            self.tip = commit;
            self.committed_tree = self.accepted_tree.clone();
        }
        self.end_iteration(events);
    }

    /// Ends an iteration that has no edit to test.
    fn give_up(&mut self, result: IterationResult, reason: &str, events: &mut Vec<Event>) {
        if let Some(attempt) = &mut self.attempt {
            attempt.judged = Some(Judged {
                result,
                reason: reason.to_owned(),
                keep_uncommitted: false,
                reached: None,
                hard: false,
            });
        }
        self.end_iteration(events);
    }

    /// Writes the iteration into the history and goes on.
    fn end_iteration(&mut self, events: &mut Vec<Event>) {
        let Some(attempt) = self.attempt.take() else { return };
        let Some(judged) = attempt.judged else { return };
        let (Some(before), Some(after)) = (self.rate_before(), self.ledger.rate()) else { return };
        let taken_back = judged.result != IterationResult::Improved && !judged.keep_uncommitted;
        let row = IterationRow {
            iteration: self.current_iteration,
            strategy: self.selected_strategy.unwrap_or(strategy::Strategy::Conservative),
            before,
            after,
            reached: judged.reached.filter(|_| taken_back),
            outcome: judged.result.word().to_owned(),
            tests_run: attempt.tests_run,
            tests_of: attempt.tests_of,
            tried: attempt.tried,
            summary: attempt
                .proposal
                .as_ref()
                .map_or_else(|| judged.reason.clone(), |proposal| proposal.summary.clone()),
            files: attempt
                .proposal
                .iter()
                .flat_map(|proposal| &proposal.edits.files)
                .map(|edit| edit.file.to_string())
                .collect(),
            commit: attempt.commit,
            duration_ms: self.spent_ms.saturating_sub(attempt.began_ms),
        };
        events.push(Event::IterationEnded(row.clone()));
        let plan = attempt.plan.as_ref();
        self.regression_detected = judged.result == IterationResult::Regression;
        self.iterations.push(Iteration {
            row,
            result: judged.result,
            reason: judged.reason,
            failed_tests: self.failing(),
            points: plan.map_or_else(Vec::new, |plan| {
                plan.modification_points.iter().map(ToString::to_string).collect()
            }),
            cause: if attempt.fingerprint.is_empty() {
                plan.map_or_else(String::new, |plan| plan.approach.clone())
            } else {
                attempt.fingerprint
            },
            provider: attempt
                .proposal
                .as_ref()
                .map(|proposal| proposal.author.clone())
                .or_else(|| plan.map(|plan| plan.author.clone()))
                .unwrap_or_default(),
            confidence: attempt
                .proposal
                .as_ref()
                .map(|proposal| proposal.confidence)
                .or_else(|| plan.map(|plan| plan.confidence))
                .unwrap_or_default(),
            estimated: self.ledger.is_estimated(),
            exhausted: attempt.exhausted && attempt.proposal.is_none(),
            pre_tree: attempt.pre_tree,
        });
        self.begin_iteration(events);
    }

    /// The rate before the current iteration.
    #[must_use]
    pub fn rate_before(&self) -> Option<PassRate> {
        self.iterations.last().map(|last| last.row.after).or(self.rate_to_climb)
    }

    fn after_confirm(&mut self, ran: Ran, events: &mut Vec<Event>) {
        let results = match ran {
            Ok(results) => results,
            Err(_) if self.retries == 0 => {
                self.retries = 1;
                return;
            }
            Err(reason) => {
                self.retries = 0;
                self.finish(Ending::Failure, &format!("the final run gave no results: {reason}"));
                return;
            }
        };
        self.retries = 0;
        self.ledger = self.ledger.after_full(&results, self.current_iteration);
        let Some(rate) = self.ledger.rate() else { return };
        let levels: Vec<_> = self.judgeable().iter().map(|item| item.criticality).collect();
        let verdict = gate::judge(&GateFacts {
            rate,
            target: self.terms.target,
            remaining: &levels,
            full_run: true,
            flaky: !self.flaky.is_empty(),
            iterations_left: self.terms.max_iterations.saturating_sub(self.current_iteration),
        });
        match verdict.verdict {
            GateVerdict::Success => self.finish(Ending::Success, &verdict.reason),
            GateVerdict::PartialSuccess => self.finish(Ending::PartialSuccess, &verdict.reason),
            // A final run below the gate goes back to the loop (product.md C-37).
            GateVerdict::Continue => self.prepare(events),
            GateVerdict::Failure | GateVerdict::NeedsFullRun => {
                self.finish(Ending::Failure, &verdict.reason);
            }
        }
    }

    /// Writes down the verdict; kept commits of a met gate are sealed first.
    fn finish(&mut self, ending: Ending, reason: &str) {
        self.verdict = Some(Verdict { ending, reason: reason.to_owned() });
        let met = matches!(ending, Ending::Success | Ending::PartialSuccess);
        self.next = if met && self.tip.is_some() { Step::Seal } else { Step::Finish };
    }
}

fn next_action(step: Step) -> NextAction {
    match step {
        Step::Diagnose | Step::Propose | Step::Apply => NextAction::ExecuteFixTask,
        Step::Baseline
        | Step::Recheck { .. }
        | Step::Blame
        | Step::TestAffected
        | Step::TestFull
        | Step::Keep
        | Step::ShowAttempt
        | Step::Rollback
        | Step::Restore => NextAction::Retest,
        Step::Confirm | Step::Seal | Step::Finish => NextAction::Complete,
    }
}
