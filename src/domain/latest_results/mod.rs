//! `LatestResults`: the last known result of each test, so that partial runs do not distort the pass rate.
//!
//! Source: specification.md 7.1, 7.8 (F-091, F-099).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::expected_failure;
use super::id::TestId;
use super::rate::PassRate;
use super::test::{Results, Scope, Status, TestCase};

/// What the session knows about one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// The last result of the test.
    pub case: TestCase,
    /// Iteration in which the test gave this result.
    pub iteration: u32,
    /// Consecutive failures of this test in its own results. Carried-over results do not count, nor do
    /// those of attempts that were rolled back.
    pub failures_in_a_row: u32,
    /// Whether the result is older than the last run.
    pub carried_over: bool,
}

/// The last known results, one per test. Updates return a new ledger, so that a rejected attempt
/// leaves no trace: the caller keeps the old ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatestResults {
    entries: BTreeMap<TestId, LedgerEntry>,
    /// Tests excluded from every rate: pre-existing failures, on request.
    quarantined: BTreeSet<TestId>,
    /// Flaky tests: their result counts as it was in a run that looked for flaky ones, since that of
    /// another run says nothing about an edit.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    flaky: BTreeSet<TestId>,
    /// Tests whose failure counts and is nothing that an edit repairs.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    excused: BTreeSet<TestId>,
    /// Tests that failed for want of content of the checkout, with the evidence. What an edit makes of
    /// them shows nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    lacking: BTreeMap<TestId, String>,
}

impl LatestResults {
    /// The ledger of a first full run.
    pub fn from_full(results: &Results, iteration: u32) -> Self {
        Self::default().after_full(results, iteration)
    }

    /// The ledger after a run of the whole suite: tests that it did not report are removed.
    pub fn after_full(&self, results: &Results, iteration: u32) -> Self {
        let entries = results
            .cases
            .iter()
            .map(|case| (case.id.clone(), self.entry_after(case, iteration)))
            .collect();
        let mut next = Self { entries, ..self.clone() };
        next.set_aside(self, results);
        next
    }

    /// Sets aside what lacks content, unless it passed before: then it is the edit that asks for it.
    fn set_aside(&mut self, before: &Self, results: &Results) {
        let passed = |id| before.case(id).is_some_and(|case| case.status == Status::Passed);
        let lacking = results.lacking.iter().filter(|(id, _)| !passed(id));
        self.lacking.extend(lacking.map(|(id, evidence)| (id.clone(), evidence.clone())));
    }

    /// The ledger after a run of some tests. The others carry over. A requested test that was not
    /// reported counts as failed, so that an edit cannot make a failing test disappear.
    pub fn after_subset(&self, results: &Results, iteration: u32) -> Self {
        let mut next = self.clone();
        for entry in next.entries.values_mut() {
            entry.carried_over = true;
        }
        if let Scope::Tests(asked) = &results.scope {
            for id in asked {
                let Some(entry) = next.entries.get_mut(id) else { continue };
                let is_known = |id: &TestId| self.entries.contains_key(id);
                if entry.case.is_superseded_in(results.cases.iter(), is_known) {
                    next.entries.remove(id);
                } else {
                    entry.case.status = Status::Failed;
                    entry.iteration = iteration;
                }
            }
        }
        for case in &results.cases {
            next.entries.insert(case.id.clone(), self.entry_after(case, iteration));
        }
        next.set_aside(self, results);
        next
    }

    fn entry_after(&self, case: &TestCase, iteration: u32) -> LedgerEntry {
        let before = self.entries.get(&case.id);
        if before.is_some_and(|entry| expected_failure::passes_against_mark(&entry.case))
            && case.status != Status::Failed
        {
            // Nothing but an edit that breaks what the test checks makes its runner call it fine.
            let case = expected_failure::failing_again(case);
            return LedgerEntry { case, iteration, failures_in_a_row: 1, carried_over: false };
        }
        let is_frozen = self.flaky.contains(&case.id) && case.status != Status::Skipped;
        if let Some(entry) = before.filter(|_| is_frozen) {
            return LedgerEntry { carried_over: false, ..entry.clone() };
        }
        // Two runs in one iteration count as one result.
        let base = match before {
            Some(entry) if entry.iteration == iteration && entry.failures_in_a_row > 0 => {
                entry.failures_in_a_row - 1
            }
            Some(entry) => entry.failures_in_a_row,
            None => 0,
        };
        let failures_in_a_row = if case.status == Status::Failed { base + 1 } else { 0 };
        LedgerEntry { case: case.clone(), iteration, failures_in_a_row, carried_over: false }
    }

    /// Counts an attempt without changed results, so that a test which no edit helps gets stuck.
    pub fn count_results_of(&mut self, attempt: &Self) {
        for (id, entry) in &mut self.entries {
            if let Some(later) = attempt.entries.get(id) {
                entry.failures_in_a_row = later.failures_in_a_row;
            }
        }
    }

    /// Excludes these tests from every rate from now on.
    pub fn quarantine(&mut self, tests: &[TestId]) {
        self.quarantined.extend(tests.iter().cloned());
    }

    /// Declares tests flaky: they passed, too, in a run without a change.
    pub fn mark_flaky(&mut self, tests: &[TestId]) {
        for test in tests {
            let entry = self.entries.get_mut(test);
            if let Some(entry) = entry.filter(|entry| entry.case.status == Status::Failed) {
                entry.case.status = Status::Passed;
                entry.case.failure = None;
                entry.failures_in_a_row = 0;
            }
            self.excused.remove(test);
            self.lacking.remove(test);
        }
        self.flaky.extend(tests.iter().cloned());
    }

    /// Takes over the results of flaky tests from the final run. One that was skipped did not pass.
    pub fn update_flaky(&mut self, results: &Results) {
        for case in results.cases.iter().filter(|case| self.flaky.contains(&case.id)) {
            if let Some(entry) = self.entries.get_mut(&case.id) {
                entry.case = case.clone();
                if case.status == Status::Skipped {
                    entry.case.status = Status::Failed;
                }
            }
        }
    }

    /// Declares that tests are not flaky: they failed whenever they ran.
    pub fn unmark_flaky(&mut self, tests: &[TestId]) {
        self.flaky.retain(|test| !tests.contains(test));
    }

    /// Flaky tests that failed in the latest run that counts for them, and are not excused yet.
    pub fn failing_flaky(&self) -> Vec<TestId> {
        let is_open = |test| self.flaky.contains(test) && !self.excused.contains(test);
        let failed = self.all_failing().filter(|case| is_open(&case.id));
        failed.map(|case| case.id.clone()).collect()
    }

    /// Declares that no edit repairs these failures. They count all the same.
    pub fn excuse<'a>(&mut self, tests: impl Iterator<Item = &'a TestId>) {
        self.excused.extend(tests.cloned());
    }

    /// Number of known tests, including skipped and quarantined ones.
    pub fn len(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    /// Pass rate of the counted tests; `None` if there are none.
    pub fn rate(&self) -> Option<PassRate> {
        let count = |status| self.counted().filter(|case| case.status == status).count();
        let passed = u32::try_from(count(Status::Passed)).ok()?;
        let failed = u32::try_from(count(Status::Failed)).ok()?;
        PassRate::of(passed, passed.checked_add(failed)?)
    }

    /// Whether a counted result is older than the last run.
    pub fn is_estimated(&self) -> bool {
        self.entries.values().any(|entry| {
            entry.carried_over
                && entry.case.status != Status::Skipped
                && !self.is_quarantined(&entry.case.id)
        })
    }

    /// Whether a test is excluded from the rate.
    pub fn is_quarantined(&self, test: &TestId) -> bool {
        self.quarantined.contains(test)
    }

    fn is_repairable(&self, test: &TestId) -> bool {
        !self.flaky.contains(test)
            && !self.excused.contains(test)
            && !self.lacking.contains_key(test)
            && !self.case(test).is_some_and(expected_failure::passes_against_mark)
    }

    /// The content that a test lacked.
    pub fn lack_of(&self, test: &TestId) -> Option<&str> {
        self.lacking.get(test).map(String::as_str)
    }

    /// A test that lacked content and passes, with the evidence.
    pub fn passing_without_content(&self) -> Option<(&TestId, &str)> {
        let passes = |id| self.case(id).is_some_and(|case| case.status == Status::Passed);
        let (id, evidence) = self.lacking.iter().find(|(id, _)| passes(id))?;
        Some((id, evidence))
    }

    /// The last result of a test.
    pub fn case(&self, test: &TestId) -> Option<&TestCase> {
        self.entries.get(test).map(|entry| &entry.case)
    }

    /// Every known test, by id.
    pub fn cases(&self) -> impl Iterator<Item = &TestCase> {
        self.entries.values().map(|entry| &entry.case)
    }

    /// Counted tests that failed, by id, those included that no edit repairs.
    pub fn all_failing(&self) -> impl Iterator<Item = &TestCase> {
        self.counted().filter(|case| case.status == Status::Failed)
    }

    /// Counted tests that failed and that an edit may repair, by id.
    pub fn failing_cases(&self) -> impl Iterator<Item = &TestCase> {
        self.all_failing().filter(|case| self.is_repairable(&case.id))
    }

    /// Counted tests that pass although they are marked as expected failures, by id.
    pub fn unexpected_passes(&self) -> impl Iterator<Item = &TestCase> {
        self.all_failing().filter(|case| expected_failure::passes_against_mark(case))
    }

    /// How many tests of [`Self::unexpected_passes`] were said to pass in `before`: they failed as expected.
    pub fn expected_failures(&self, before: &Self) -> u32 {
        let passed = |id| before.case(id).is_some_and(|old| old.status == Status::Passed);
        u32::try_from(self.unexpected_passes().filter(|case| passed(&case.id)).count()).unwrap_or(0)
    }

    /// Ids of the tests of [`Self::failing_cases`].
    pub fn failing(&self) -> Vec<TestId> {
        self.failing_cases().map(|case| case.id.clone()).collect()
    }

    /// Counted tests that passed and that an edit must not break. Flaky ones fail by themselves.
    pub fn passing_cases(&self) -> impl Iterator<Item = &TestCase> {
        self.counted()
            .filter(|case| case.status == Status::Passed && !self.flaky.contains(&case.id))
    }

    /// Whether a test counts, is known to fail, and may be repaired by an edit.
    pub fn is_failing(&self, test: &TestId) -> bool {
        !self.is_quarantined(test)
            && self.is_repairable(test)
            && self.case(test).is_some_and(|case| case.status == Status::Failed)
    }

    /// Counted tests that passed in `before` and fail here. A hook passed where nobody reported it and
    /// its tests ran.
    pub fn newly_failing(&self, before: &Self) -> Vec<TestId> {
        let ran_around = |case: &TestCase| {
            let mut ran = before.cases().filter(|old| old.status != Status::Skipped);
            ran.any(|old| case.runs_around(old))
        };
        let passed_before = |case: &&TestCase| match before.case(&case.id) {
            Some(old) => old.status == Status::Passed || expected_failure::passes_against_mark(old),
            None => ran_around(case),
        };
        self.failing_cases().filter(passed_before).map(|case| case.id.clone()).collect()
    }

    /// Tests that ran in `before` and are missing or skipped here. What kept tests from running is not
    /// lost where these run now, nor is a hook where the tests around which it runs do.
    pub fn lost(&self, before: &Self) -> Vec<TestId> {
        let runs = |ledger: &Self, id: &TestId| {
            ledger.case(id).is_some_and(|case| case.status != Status::Skipped)
        };
        let is_known = |id: &TestId| before.entries.contains_key(id);
        let gone = |case: &&TestCase| {
            runs(before, &case.id)
                && !runs(self, &case.id)
                && !case.is_superseded_in(self.cases(), is_known)
        };
        before.cases().filter(gone).map(|case| case.id.clone()).collect()
    }

    /// What failed around tests or kept them from running in `before`, and is gone now that they run.
    pub fn unblocked(&self, before: &Self) -> Vec<TestId> {
        let is_known = |id: &TestId| before.entries.contains_key(id);
        let is_loaded = |case: &&TestCase| {
            self.case(&case.id).is_none() && case.is_superseded_in(self.cases(), is_known)
        };
        before.failing_cases().filter(is_loaded).map(|case| case.id.clone()).collect()
    }

    /// Counted tests that failed in their last `results` results.
    pub fn stuck(&self, results: u32) -> Vec<TestId> {
        self.entries
            .values()
            .filter(|entry| entry.failures_in_a_row >= results)
            .map(|entry| entry.case.id.clone())
            .filter(|test| !self.is_quarantined(test) && self.is_repairable(test))
            .collect()
    }

    fn counted(&self) -> impl Iterator<Item = &TestCase> {
        self.cases().filter(|case| !self.is_quarantined(&case.id))
    }
}

#[cfg(test)]
pub mod tests;
