//! How an iteration of the fix loop starts, is judged and ends, and whether another one follows.

use std::collections::BTreeSet;

use crate::domain::criticality::Criticality;
use crate::domain::event::{Ending, Event, IterationRow, SUSPICIOUS};
use crate::domain::expected_failure;
use crate::domain::failure::{Signature, signature_of};
use crate::domain::fix_plan::FixPlan;
use crate::domain::gate::{self, GateFacts, GateVerdict};
use crate::domain::hindrance::Hindrance;
use crate::domain::id::TestId;
use crate::domain::memory::listed;
use crate::domain::missing_package;
use crate::domain::progress::{self, AttemptEffect};
use crate::domain::proposal::Proposal;
use crate::domain::provider::EMBEDDED;
use crate::domain::rate::PassRate;
use crate::domain::similarity;
use crate::domain::strategy::{self, Situation};
use crate::domain::test::{CaseKind, Status, TestCase};
use crate::domain::text;

use super::{
    Attempt, AttemptResult, FailedChange, FixLoop, FixStep, FixVerdict, IterationRecord,
    IterationResult, RegressionTrace, is_searched,
};

/// Maximum length of the patch in an event, in characters.
const SHOWN: usize = 20_000;

/// Tests and signatures that the record of an iteration names, at most.
const NAMED_TESTS: usize = 20;

/// Things to install that a reason names, at most.
const NAMED_REASONS: usize = 4;

/// Failures as their class and what of the message does not change, each once.
fn described(failures: &[Signature]) -> Vec<String> {
    let mut found = Vec::new();
    for Signature { class, message, .. } in failures {
        let text = text::one_line(&format!("{class}: {message}"), 200);
        if !found.contains(&text) && found.len() < NAMED_TESTS {
            found.push(text);
        }
    }
    found
}

/// The first of some tests with its evidence, and how many more `do_so`; `None` if there are none.
fn first_of(tests: &[(&TestId, String)], do_so: &str) -> Option<String> {
    let (first, why) = tests.first()?;
    let more = match tests.len() - 1 {
        0 => String::new(),
        others => format!(" ({} {do_so} too)", text::count(others as u64, "more test")),
    };
    Some(format!("`{first}`: {why}{more}"))
}

/// A proposal as a unified diff, cut if it is very long.
pub(super) fn shown(proposal: &Proposal) -> String {
    let mut text = String::new();
    for edit in &proposal.edits.files {
        let (before, after) =
            (edit.before.as_deref().unwrap_or_default(), edit.after.as_deref().unwrap_or_default());
        let name = |there: bool, side: &str| {
            if there { format!("{side}/{}", edit.file) } else { "/dev/null".to_owned() }
        };
        let (old, new) = (name(edit.before.is_some(), "a"), name(edit.after.is_some(), "b"));
        let diff = similar::TextDiff::from_lines(before, after);
        text.push_str(&diff.unified_diff().context_radius(3).header(&old, &new).to_string());
    }
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}\n… cut\n", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Endings of the names of files in languages that the embedded engine is made for.
const HOME: &[&str] =
    &["py", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "go", "rs", "java"];

fn is_at_home(case: &TestCase) -> bool {
    case.file.as_ref().is_some_and(|file| HOME.contains(&file.extension()))
}

/// Why a suite is not green in which no test ran.
const ALL_SKIPPED: &str = "every test was skipped, so nothing was tested: provide what the tests are skipped \
                           for want of, such as a service or a package, or take the skips out";

impl FixLoop {
    /// Decides between the end of the session and one more iteration.
    pub(super) fn begin_iteration(&mut self, events: &mut Vec<Event>) {
        let Some(rate) = self.ledger.rate() else {
            if self.ledger.cases().all(|case| case.status == Status::Skipped) {
                self.finish(Ending::Failure, ALL_SKIPPED);
            } else {
                self.finish(Ending::PartialSuccess, "all tests are excluded");
            }
            return;
        };
        self.detect();
        let levels: Vec<_> = self.judgeable().iter().map(|item| item.criticality).collect();
        let full_run = !self.ledger.is_estimated();
        let verdict = gate::judge(&self.gate_facts(rate, &levels, full_run));
        if self.terms.dry_run && self.failing().is_empty() {
            self.finish(Ending::Planned, "no edit repairs what failed, so no place was looked for");
            return;
        }
        if self.terms.dry_run {
            self.prepare(events);
            return;
        }
        match verdict.verdict {
            GateVerdict::Success | GateVerdict::PartialSuccess | GateVerdict::NeedsFullRun => {
                self.next = if self.is_unproven() { FixStep::Minimise } else { FixStep::Confirm };
            }
            GateVerdict::Failure => self.finish(Ending::Failure, &verdict.reason),
            GateVerdict::Unfixable => self.finish_unfixable(&self.with_lacks(&verdict.reason)),
            GateVerdict::Continue => {
                if let Some(reason) = self.reason_for_a_person() {
                    self.finish_unfixable(&reason);
                } else if let Some(reason) = self.reason_to_give_up() {
                    self.finish(Ending::Failure, &reason);
                } else {
                    self.prepare(events);
                }
            }
        }
    }

    /// Collects the facts that the gate decides by.
    pub(super) fn gate_facts<'a>(
        &'a self,
        rate: PassRate,
        remaining: &'a [Criticality],
        full_run: bool,
    ) -> GateFacts<'a> {
        GateFacts {
            rate,
            target: self.terms.target,
            remaining,
            full_run,
            flaky: !self.flaky.is_empty(),
            ignored: self.ignored(),
            tests_edited: self.tests_edited,
            special_case: self.special_cases.first().map(String::as_str),
            unread: self.unread.as_deref(),
            by_exit_code: self.accepted_tree != self.head_tree
                && self.ledger.cases().any(|case| case.kind == CaseKind::Command),
            not_run: &self.terms.not_run,
            iterations_left: self.terms.max_iterations.saturating_sub(self.current_iteration),
        }
    }

    /// Number of failing tests excluded by `ignore_preexisting`.
    fn ignored(&self) -> usize {
        if self.terms.ignore_preexisting { self.preexisting.len() } else { 0 }
    }

    /// Updates stuck tests and trend, which the next decisions depend on.
    fn detect(&mut self) {
        self.stuck_tests = self.ledger.stuck(self.terms.thresholds.stuck_results);
        let rates: Vec<_> = self
            .baseline
            .iter()
            .map(|baseline| baseline.rate)
            .chain(self.iterations.iter().map(|iteration| iteration.row.after))
            .collect();
        self.trend = progress::trend(&rates);
    }

    /// Why further iterations are pointless; `None` if they are not (specification.md 7.8).
    fn reason_to_give_up(&self) -> Option<String> {
        let rounds: Vec<_> = self
            .recent_iterations()
            .iter()
            .map(|iteration @ IterationRecord { row, .. }| progress::FinishedIteration {
                strategy: row.strategy,
                failing: iteration.failed_tests.clone(),
                cause: iteration.cause_fingerprint().to_owned(),
                exhausted: iteration.exhausted,
                searched: is_searched(row.tried, &row.calls, row.degraded),
                tried: row.tried,
                is_at_home: self.ledger.failing_cases().all(is_at_home),
                improved: iteration.result == IterationResult::Improved,
                skipped: iteration.result == IterationResult::SkippedDegraded,
            })
            .collect();
        let reason = progress::reason_to_give_up(
            &rounds,
            &self.stuck_tests,
            &self.failing(),
            &self.terms.thresholds,
        );
        let is_untried =
            rounds.last().is_some_and(|last| last.tried == 0 && last.searched && !last.skipped);
        reason.map(|reason| self.reason_without_edits().filter(|_| is_untried).unwrap_or(reason))
    }

    /// Why nothing could be tried at all, if the failures say so.
    fn reason_without_edits(&self) -> Option<String> {
        let mut failing = self.ledger.failing_cases();
        let first = failing.next()?;
        if first.kind == CaseKind::Command {
            let why = match &first.failure {
                Some(failure) if failure.stack.is_empty() => &failure.message,
                _ if first.is_placeless() => {
                    "its output names no place at which an edit could be tried"
                }
                _ => {
                    "its output does not say at which of the places that it names an edit could be tried"
                }
            };
            return Some(format!(
                "the test command leaves no report, and {why}; regreen makes no edit by itself, and what a model \
                 edits waits for a person"
            ));
        }
        if self.ledger.failing_cases().all(TestCase::is_placeless) {
            return Some(format!(
                "nothing says where `{}` fails, so that no edit could be tried",
                first.id
            ));
        }
        // Where tests of a file ran, it loads, and failed behind them.
        let ran =
            |id: &TestId| self.ledger.cases().any(|case| case.id != *id && case.id.is_within(id));
        let mut failing = std::iter::once(first).chain(failing);
        let unloaded = failing.find(|case| case.kind.is_unloaded() && !ran(&case.id))?;
        let package = missing_package::package_of(unloaded);
        if let Some(package) = package.clone().filter(|name| self.not_installed.contains(name)) {
            let reason = missing_package::reason(&[package].into());
            return Some(format!("`{}` does not load: {reason}", unloaded.id));
        }
        // What only an edit lets appear was not compared with the modules of the repository.
        let install = package.map_or_else(String::new, |name| {
            format!("; unless `{name}` is a module of the repository, install it before the run")
        });
        let frame = unloaded.failure.iter().flat_map(|failure| &failure.frames).next();
        let place = frame.map_or_else(String::new, |frame| {
            format!(", the error is at {}:{}", frame.file, frame.line)
        });
        Some(format!(
            "`{}` does not load{place}, and regreen has no edit for it: by itself it changes no test, and elsewhere only a name for a similar one, the \
             syntax, an operator or a number of the line{install}",
            unloaded.id
        ))
    }

    /// Starts the next iteration and selects its strategy, before any provider is called.
    pub(super) fn prepare(&mut self, events: &mut Vec<Event>) {
        let Some(rate) = self.ledger.rate() else { return };
        self.initial_rate.get_or_insert(rate);
        self.current_iteration += 1;
        let failures: Vec<_> = self.ledger.failing_cases().map(signature_of).collect();
        let choice = strategy::select(&Situation {
            iteration: self.current_iteration,
            rate,
            similarity: similarity::of(&failures),
            regressions: self.regressions_in_a_row(),
            stuck: !self.stuck_tests.is_empty(),
            exhausted: self.iterations.last().is_some_and(|last| last.exhausted),
            thresholds: self.terms.thresholds,
        });
        self.selected_strategy = Some(choice.strategy);
        self.strategy_reason.clone_from(&choice.reason);
        events.push(Event::IterationStarted {
            iteration: self.current_iteration,
            strategy: choice.strategy,
            reason: choice.reason,
            rate,
        });
        // The first iteration says it for all.
        if self.current_iteration == 1 && !self.terms.dry_run {
            let notice = self.terms.prior.search_notice(self.failing().iter());
            if let Some(text) = notice {
                self.follow_earlier(text, events);
            }
        }
        self.attempt = Some(Attempt {
            pre_tree: self.accepted_tree.clone(),
            began_ms: self.spent_ms,
            plan: None,
            proposal: None,
            fingerprint: String::new(),
            operators: Vec::new(),
            tried: 0,
            exhausted: false,
            search: None,
            refusals: Vec::new(),
            tree: None,
            affected: Vec::new(),
            ledger: None,
            doubted: Vec::new(),
            objections: None,
            tests_run: 0,
            tests_of: 0,
            judged: None,
            commit: None,
            calls: Vec::new(),
            degraded: false,
            failing: self.failing(),
            error_signatures: described(&failures),
        });
        self.next = FixStep::Diagnose;
    }

    /// Says how earlier sessions lead this one.
    pub(super) fn follow_earlier(&mut self, text: String, events: &mut Vec<Event>) {
        self.earlier.push(text.clone());
        events.push(Event::Notice { text });
    }

    fn regressions_in_a_row(&self) -> u32 {
        let regressed =
            |iteration: &&IterationRecord| iteration.result == IterationResult::Regression;
        let count = self.iterations.iter().rev().take_while(regressed).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Tests that pass without what the environment lacks: such an edit brings nothing.
    fn passes_without_environment(&self) -> Vec<String> {
        let ledger = self.attempt.as_ref().and_then(|attempt| attempt.ledger.as_ref());
        let passes = |test: &TestId| {
            let case = ledger.and_then(|ledger| ledger.case(test));
            case.is_some_and(|case| case.status == Status::Passed)
        };
        let lacking = self.lacking().filter(|(test, _)| passes(test));
        lacking.map(|(test, why)| format!("`{test}` passes with it although {why}")).collect()
    }

    /// Judges the attempt by its ledger (specification.md 7.4.7, 7.9, 7.10).
    pub(super) fn judge(&mut self) {
        let lacking = self.passes_without_environment();
        let Some(attempt) = &mut self.attempt else { return };
        let Some(after) = &attempt.ledger else { return };
        let judgement = progress::judge(&self.ledger, after, &self.terms.thresholds);
        let reached = after.rate();
        let effect = judgement.judgement;
        let (result, keep_uncommitted, next) = match effect {
            AttemptEffect::Improved => (IterationResult::Improved, false, FixStep::Keep),
            AttemptEffect::Unchanged { keep } => {
                (IterationResult::Unchanged, keep, FixStep::Restore)
            }
            // With `RegressionTrace::Patch`, a patch file records the attempt instead of a commit.
            AttemptEffect::Regression
                if self.terms.commits && self.terms.regressed == RegressionTrace::Commits =>
            {
                (IterationResult::Regression, false, FixStep::ShowAttempt)
            }
            AttemptEffect::Regression => (IterationResult::Regression, false, FixStep::Restore),
            AttemptEffect::NoBetter => (IterationResult::Unchanged, false, FixStep::Restore),
        };
        if result != IterationResult::Improved {
            self.disproved.push(attempt.fingerprint.clone());
        }
        attempt.judged =
            Some(AttemptResult { result, reason: judgement.reason, keep_uncommitted, reached });
        if result == IterationResult::Improved || keep_uncommitted {
            let expected = after.expected_failures(&self.ledger);
            let begun = self.baseline.iter_mut().map(|baseline| &mut baseline.rate);
            let rows = self.iterations.iter_mut().map(|one| &mut one.row);
            let rows = rows.flat_map(|row| [&mut row.before, &mut row.after]);
            for rate in begun.chain(&mut self.initial_rate).chain(rows) {
                *rate = rate.without_passed(expected);
            }
            let proposal = attempt.proposal.as_ref();
            self.tests_edited |= proposal.is_some_and(|proposal| proposal.edits_tests);
            self.special_cases.extend(proposal.and_then(|one| one.special_case.clone()));
            self.special_cases.extend(lacking);
            let unread = proposal.and_then(|one| one.unread.clone());
            self.unread = unread.or(self.unread.take());
            if let Some(tree) = &attempt.tree {
                self.accepted_tree = tree.clone();
            }
            if let Some(ledger) = attempt.ledger.clone() {
                self.ledger = ledger;
            }
            if let Some(objections) = attempt.objections.take() {
                self.objections = objections;
            }
        } else if let (AttemptEffect::Unchanged { .. }, Some(after)) = (effect, &attempt.ledger) {
            self.ledger.count_results_of(after);
        }
        self.next = next;
    }

    /// Ends an iteration that has no edit to test.
    pub(super) fn give_up(
        &mut self,
        result: IterationResult,
        reason: &str,
        events: &mut Vec<Event>,
    ) {
        if let Some(attempt) = &mut self.attempt {
            attempt.judged = Some(AttemptResult::without_results(result, reason.to_owned()));
        }
        self.end_iteration(events);
    }

    /// Skips an iteration whose analysis is too weak; its plan stays for files and task.
    pub(super) fn skip(&mut self, reason: String) {
        let Some(attempt) = &mut self.attempt else { return };
        let result = IterationResult::SkippedDegraded;
        attempt.judged = Some(AttemptResult::without_results(result, reason));
        self.next = FixStep::Restore;
    }

    /// Writes the iteration into the history and continues.
    pub(super) fn end_iteration(&mut self, events: &mut Vec<Event>) {
        let Some(attempt) = self.attempt.take() else { return };
        let Some(judged) = attempt.judged else { return };
        let (Some(before), Some(after)) = (self.rate_before(), self.ledger.rate()) else { return };
        let reverted = judged.result != IterationResult::Improved && !judged.keep_uncommitted;
        let row = IterationRow {
            iteration: self.current_iteration,
            strategy: self.selected_strategy.unwrap_or(strategy::Strategy::Conservative),
            before,
            after,
            reached: judged.reached.filter(|_| reverted),
            outcome: judged.result.to_string(),
            reason: judged.reason.clone(),
            tests_run: attempt.tests_run,
            tests_of: attempt.tests_of,
            tried: attempt.tried,
            summary: attempt.proposal.as_ref().map_or_else(
                || judged.reason.clone(),
                |proposal| match &proposal.suspicion {
                    Some(why) => format!("{}{SUSPICIOUS}{why})", proposal.summary),
                    None => proposal.summary.clone(),
                },
            ),
            files: attempt
                .proposal
                .iter()
                .flat_map(|proposal| &proposal.edits.files)
                .map(|edit| edit.file.to_string())
                .collect(),
            commit: attempt.commit,
            provider: attempt
                .proposal
                .as_ref()
                .map(|proposal| proposal.author.clone())
                .or_else(|| attempt.plan.as_ref().map(|plan| plan.author.clone()))
                .unwrap_or_default(),
            calls: attempt.calls.clone(),
            degraded: attempt.degraded,
            failing: self.failing(),
            analysis: attempt.plan.as_ref().map_or_else(String::new, |plan| plan.report.clone()),
            patch: attempt.proposal.as_ref().map(shown).unwrap_or_default(),
            duration_ms: self.spent_ms.saturating_sub(attempt.began_ms),
        };
        events.push(Event::IterationEnded(row.clone()));
        // Analysis and patch have files of their own, so the state does not store them again.
        let row = IterationRow { analysis: String::new(), patch: String::new(), ..row };
        let plan = attempt.plan.as_ref();
        let helped = judged.result == IterationResult::Improved;
        let failed_change = attempt.proposal.as_ref().filter(|_| !helped).map(|proposal| {
            FailedChange::of(&proposal.edits, attempt.ledger.as_ref(), &self.ledger, !reverted)
        });
        self.regression_detected = judged.result == IterationResult::Regression;
        let failing = self.failing();
        let repaired = attempt.failing.iter().filter(|test| helped && !failing.contains(test));
        let repaired = repaired.take(NAMED_TESTS).cloned().collect();
        self.iterations.push(IterationRecord {
            row,
            result: judged.result,
            failed_tests: self.failing(),
            points: plan.map_or_else(Vec::new, |plan| {
                plan.modification_points.iter().map(ToString::to_string).collect()
            }),
            cause: if attempt.fingerprint.is_empty() {
                plan.map_or_else(String::new, |plan| plan.approach.clone())
            } else {
                attempt.fingerprint
            },
            confidence: attempt
                .proposal
                .as_ref()
                .and_then(|proposal| proposal.confidence)
                .or_else(|| plan.map(|plan| plan.confidence))
                .unwrap_or_default(),
            estimated: self.ledger.is_estimated(),
            exhausted: attempt.exhausted && attempt.proposal.is_none(),
            search: attempt.search,
            pre_tree: attempt.pre_tree,
            refusals: attempt.refusals,
            root_causes: plan.map_or_else(Vec::new, |plan| plan.root_causes.clone()),
            cause_key: plan
                .filter(|plan| plan.author != EMBEDDED)
                .map_or_else(String::new, FixPlan::cause_key),
            failed_change,
            operators: attempt.operators,
            repaired,
            affected_tests: attempt.affected.into_iter().take(NAMED_TESTS).collect(),
            error_signatures: attempt.error_signatures,
        });
        self.begin_iteration(events);
    }

    /// The rate before the current iteration.
    pub fn rate_before(&self) -> Option<PassRate> {
        self.iterations.last().map(|last| last.row.after).or(self.initial_rate)
    }

    /// Records the verdict that no edit of the code can honestly meet the gate.
    pub(super) fn finish_unfixable(&mut self, reason: &str) {
        self.finish(Ending::Failure, reason);
        if let Some(verdict) = &mut self.verdict {
            verdict.unfixable = true;
        }
    }

    /// Why no edit makes the tests pass that still fail, where something hinders each of them or they pass
    /// against their mark as an expected failure.
    fn reason_for_a_person(&self) -> Option<String> {
        let packages = self.missing_packages();
        let missing = (!packages.is_empty()).then(|| missing_package::reason(&packages));
        let hindered = missing.or_else(|| self.hindrance());
        if hindered.is_none() && !self.failing().is_empty() {
            return None;
        }
        let unexpected = self.ledger.unexpected_passes();
        let unexpected: Vec<(&TestId, String)> = unexpected
            .filter_map(|case| Some((&case.id, expected_failure::find_evidence(case)?)))
            .collect();
        let unexpected = first_of(&unexpected, "pass against their marks")
            .map(|what| format!("no edit of the code makes an expected failure right: {what}"));
        let reasons: Vec<String> = hindered.into_iter().chain(unexpected).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// Why no edit makes the tests pass that still fail, where something hinders each of them.
    fn hindrance(&self) -> Option<String> {
        let failing = self.failing();
        let evidence = failing.iter().map(|test| Some((test, self.hindrances.get(test)?)));
        let evidence: Vec<_> = evidence.collect::<Option<_>>()?;
        let (first, why) = evidence.first()?;
        let is_installable = |(_, one): &(_, &Hindrance)| matches!(one, Hindrance::NotInstalled(_));
        if evidence.iter().all(is_installable) {
            let all: BTreeSet<&str> = evidence.iter().map(|(_, one)| one.evidence()).collect();
            let all: Vec<&str> = all.into_iter().take(NAMED_REASONS).collect();
            return Some(format!("{}: {}", why.request(), all.join("; ")));
        }
        let more = match evidence.len() - 1 {
            0 => String::new(),
            others => format!(" ({} cannot pass either)", text::count(others as u64, "more test")),
        };
        Some(format!("{}: `{first}`: {}{more}", why.request(), why.evidence()))
    }

    /// What the tests that are set aside lack, behind a reason.
    fn with_lacks(&self, reason: &str) -> String {
        let lacking = self.lacking().next();
        lacking
            .map_or_else(|| reason.to_owned(), |(test, why)| format!("{reason}; `{test}`: {why}"))
    }

    /// The tests that are set aside because the environment lacks something, with the evidence.
    fn lacking(&self) -> impl Iterator<Item = (&TestId, &str)> {
        self.hindrances.iter().filter_map(|(test, hindrance)| match hindrance {
            Hindrance::Environment(why) if self.excused.contains_key(test) => {
                Some((test, why.as_str()))
            }
            _ => None,
        })
    }

    /// Records that every test passes without a change.
    pub(super) fn finish_green(&mut self) {
        match self.terms.not_run.as_slice() {
            [] if self.flaky.is_empty() => {
                self.finish(Ending::Success, "every test passes already");
            }
            [] => {
                let tests = listed(self.flaky.iter().map(TestId::as_str));
                let reason =
                    format!("every test passes, but {tests} failed before in the same run");
                self.finish(Ending::PartialSuccess, &reason);
            }
            others => {
                let others = others.join("; ");
                let reason = format!(
                    "every test that ran passes already, but other tests were found and not run: {others}"
                );
                self.finish(Ending::PartialSuccess, &reason);
            }
        }
    }

    /// Records the verdict; if the tests meet the gate and there are commits, sealing comes first.
    pub(super) fn finish(&mut self, ending: Ending, reason: &str) {
        let baseline = self.baseline.as_ref().filter(|_| self.accepted_tree != self.head_tree);
        let before = baseline.and_then(|baseline| baseline.objections.as_deref());
        let (weighed, reason) = gate::weigh_objections(ending, reason, &self.objections, before);
        self.verdict = Some(FixVerdict { ending: weighed, reason, unfixable: false });
        // If commits carry no state files, there is nothing to remove from the branch tip.
        let sealed = ending.meets_gate() && self.tip.is_some() && self.terms.state_is_committed;
        self.next = match ending {
            _ if sealed => FixStep::RemoveState,
            // What is kept of a red session is proven too.
            Ending::Failure if self.is_unproven() => FixStep::Minimise,
            _ => FixStep::Finish,
        };
    }

    /// Whether there is a change whose hunks were not yet taken out one by one; that happens once.
    fn is_unproven(&self) -> bool {
        self.accepted_tree != self.head_tree && self.minimised.is_none()
    }

    /// Whether the step [`FixStep::Minimise`] drops what the suite does not need; otherwise it only
    /// proves that the change is needed (specification.md 7.17).
    pub fn drops_hunks(&self) -> bool {
        self.terms.minimise && self.verdict.is_none()
    }
}
