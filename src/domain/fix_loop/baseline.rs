//! The runs before the first iteration: what fails, what is flaky, and what failed before the change.

use std::collections::BTreeSet;

use crate::domain::assertion::assertion_stack;
use crate::domain::environment;
use crate::domain::event::Event;
use crate::domain::hindrance::Hindrance;
use crate::domain::id::TestId;
use crate::domain::known_failure::KnownFailure;
use crate::domain::latest_results::LatestResults;
use crate::domain::memory::{EARLIER, listed};
use crate::domain::missing_package;
use crate::domain::test::{CaseKind, Results, Status};
use crate::domain::text;

use super::advance::FLAKY_RUNS;
use super::{Baseline, FixLoop, FixStep, TestRun};

/// More runs of a failing test that was flaky in an earlier session.
const SUSPECT_RUNS: u32 = 2;

/// Failing tests that get more runs, at most: where more fail, they hardly all flake.
const SUSPECTS: usize = 20;

impl FixLoop {
    pub(super) fn after_baseline(
        &mut self,
        results: &Results,
        not_installed: BTreeSet<String>,
        events: &mut Vec<Event>,
    ) {
        self.not_installed = not_installed;
        self.excused.clear();
        self.objections.clone_from(&results.objections);
        if self.is_unchanged() {
            self.assertion_stacks.extend(results.failed().filter_map(assertion_stack));
        }
        self.ledger = LatestResults::from_full(results, self.current_iteration);
        self.exclude_preexisting();
        for text in &results.notices {
            events.push(Event::Notice { text: text.clone() });
        }
        let Some(rate) = self.ledger.rate() else {
            self.begin_iteration(events);
            return;
        };
        let failing: Vec<_> = self.ledger.all_failing().map(|case| case.id.clone()).collect();
        if self.baseline.is_none() {
            self.was_unloaded = results.failed().any(|case| case.kind.is_only_reported_as_failed());
        }
        self.flaky.extend(results.flaky.iter().cloned());
        self.flaky.sort();
        self.flaky.dedup();
        self.ledger.mark_flaky(&self.flaky);
        self.excuse(results);
        self.report_known_failures(results, events);
        if let [only] = results.cases.as_slice()
            && only.kind == CaseKind::Command
        {
            let text = format!(
                "`{}` leaves no report, so that it counts as one test, which fails where its exit code or its \
                 output says so; write JUnit XML and name it with `--report` to see each test",
                only.id
            );
            events.push(Event::Notice { text });
        }
        // A later baseline renews the ledger; where the session began stays what it was, but for
        // tests that turn out to pass against their mark.
        self.baseline.get_or_insert(Baseline {
            rate,
            failing: failing.clone(),
            duration_ms: results.duration_ms,
            objections: Some(results.objections.clone()),
        });
        for objection in self.objections.iter().filter(|_| !failing.is_empty()) {
            let clause = objection.clause();
            let text =
                format!("{clause}; as long as it does, no run is green, even if its tests pass");
            events.push(Event::Notice { text });
        }
        if failing.is_empty() && self.is_unchanged() {
            if self.iterations.is_empty() {
                self.report_baseline(events);
            }
            self.finish_green();
        } else if self.failing().is_empty() {
            self.leave_baseline(events);
        } else if self.missing_packages().is_empty() {
            self.next = FixStep::Recheck { round: 1 };
        } else {
            // A package that is missing is missing in every run.
            self.after_rechecks(events);
        }
    }

    pub(super) fn after_recheck(&mut self, round: u32, ran: TestRun, events: &mut Vec<Event>) {
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
            self.ledger.mark_flaky(&self.flaky);
        }
        let next = round + 1;
        if self.tests_to_recheck(next).is_empty() {
            self.after_rechecks(events);
            return;
        }
        if next == FLAKY_RUNS + 1 {
            let tests = listed(self.tests_to_recheck(next).iter().map(TestId::as_str));
            let text = format!(
                "{EARLIER}{tests} failed and passed on the same sources, so what still \
                 fails of that runs again, alone, before a cause is looked for."
            );
            self.follow_earlier(text, events);
        }
        self.next = FixStep::Recheck { round: next };
    }

    /// The failing tests that run again in a round; only what they do now makes them flaky.
    pub fn tests_to_recheck(&self, round: u32) -> Vec<TestId> {
        let mut failing = self.failing();
        if round > FLAKY_RUNS {
            failing = self.terms.prior.suspects(&failing);
            let too_many = round > FLAKY_RUNS + SUSPECT_RUNS || failing.len() > SUSPECTS;
            failing.retain(|_| !too_many);
        }
        // Of those that hang, each run costs its whole limit: one run of the first speaks for the others.
        let stopped = self.ledger.failing_cases().filter(|case| case.was_stopped());
        let stopped: BTreeSet<&TestId> = stopped.map(|case| &case.id).collect();
        let first = failing.iter().find(|test| round == 1 && stopped.contains(test)).cloned();
        failing.retain(|test| !stopped.contains(test) || Some(test) == first.as_ref());
        failing
    }

    fn after_rechecks(&mut self, events: &mut Vec<Event>) {
        if self.terms.has_base && !self.failing().is_empty() {
            self.next = FixStep::TestMergeBase;
        } else {
            self.leave_baseline(events);
        }
    }

    /// Begins the search, unless no edit can repair what fails.
    fn leave_baseline(&mut self, events: &mut Vec<Event>) {
        // Where the session begins is said with what the runs after the first one showed.
        if let (0, Some(rate), Some(baseline)) =
            (self.current_iteration, self.ledger.rate(), &mut self.baseline)
        {
            baseline.rate = rate;
        }
        self.report_baseline(events);
        let packages = self.missing_packages();
        if packages.is_empty() {
            self.begin_iteration(events);
        } else {
            self.finish_unfixable(&missing_package::reason(&packages));
        }
    }

    /// Finds the baseline's failures that no edit repairs; a merge base's run decides first.
    fn excuse(&mut self, results: &Results) {
        let decides = !self.terms.has_base && self.is_unchanged();
        for case in results.failed().filter(|case| self.ledger.is_failing(&case.id)) {
            let known = self.terms.known_failures.iter().find(|known| known.is_about(&case.id));
            let evidence = known
                .map(KnownFailure::evidence)
                .or_else(|| environment::denied(case, results.is_offline).filter(|_| decides))
                .or_else(|| self.lack_of(&case.id).filter(|_| decides));
            self.excused.extend(evidence.map(|evidence| (case.id.clone(), evidence)));
        }
        self.ledger.excuse(self.excused.keys());
    }

    /// What the environment lacks for a test, as its failure and the sources show it.
    fn lack_of(&self, test: &TestId) -> Option<String> {
        match self.hindrances.get(test)? {
            Hindrance::Environment(evidence) if self.is_unchanged() => Some(evidence.clone()),
            _ => None,
        }
    }

    /// Says which known failures are about no test, or about none that fails.
    fn report_known_failures(&self, results: &Results, events: &mut Vec<Event>) {
        for known in &self.terms.known_failures {
            let about = || results.cases.iter().filter(|case| known.is_about(&case.id));
            let problem = if about().next().is_none() {
                "names no test of this suite"
            } else if about().all(|case| case.status != Status::Failed) {
                "is about nothing that fails: it can be removed"
            } else {
                continue;
            };
            let text = format!("the known failure `{}` {problem}", known.test);
            events.push(Event::Notice { text });
        }
    }

    /// Whether no edit is accepted yet: one could make a test fail as if something were denied to it.
    fn is_unchanged(&self) -> bool {
        self.accepted_tree == self.head_tree
    }

    /// The packages that are not installed and that every failing test misses; empty otherwise.
    pub(super) fn missing_packages(&self) -> BTreeSet<String> {
        let packages = missing_package::missing_packages(self.ledger.failing_cases());
        if packages.is_subset(&self.not_installed) { packages } else { BTreeSet::new() }
    }

    pub(super) fn after_merge_base(&mut self, ran: TestRun, events: &mut Vec<Event>) {
        if let Err(reason) = &ran {
            let text = format!(
                "nothing of the merge base can be compared ({}), so no failure is called introduced or \
                 pre-existing",
                text::one_line(reason, 200)
            );
            events.push(Event::Notice { text });
            let lacking = self.failing().into_iter();
            let lacking = lacking.filter_map(|test| Some((test.clone(), self.lack_of(&test)?)));
            let lacking: Vec<_> = lacking.collect();
            self.excused.extend(lacking);
            self.ledger.excuse(self.excused.keys());
        }
        if let Ok(results) = ran {
            for test in self.failing() {
                let there = results.cases.iter().find(|case| case.id == test);
                let both = self.ledger.case(&test).zip(there).filter(|_| self.is_unchanged());
                let evidence = both
                    .and_then(|(here, there)| environment::lack(here, there, results.is_offline))
                    .or_else(|| {
                        self.lack_of(&test)
                            .filter(|_| there.is_some_and(|case| case.status == Status::Failed))
                    });
                self.excused.extend(evidence.map(|evidence| (test.clone(), evidence)));
                match there.map(|case| case.status) {
                    Some(Status::Failed) => self.preexisting.push(test),
                    Some(Status::Passed) => self.introduced.push(test),
                    Some(Status::Skipped) | None => {}
                }
            }
            for list in [&mut self.preexisting, &mut self.introduced] {
                list.sort();
                list.dedup();
            }
            self.ledger.excuse(self.excused.keys());
            self.exclude_preexisting();
        }
        self.leave_baseline(events);
    }

    /// Keeps what fails on the merge base too out of every rate, when that is asked for.
    pub(super) fn exclude_preexisting(&mut self) {
        if self.terms.ignore_preexisting {
            self.ledger.quarantine(&self.preexisting);
        }
    }

    pub(super) fn report_baseline(&self, events: &mut Vec<Event>) {
        if let Some(baseline) = &self.baseline {
            events.push(Event::Baseline {
                rate: baseline.rate,
                failing: baseline.failing.clone(),
                flaky: self.flaky.clone(),
                preexisting: self.preexisting.clone(),
            });
        }
    }
}
