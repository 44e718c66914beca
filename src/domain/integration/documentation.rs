//! What becomes of tests that hold documented results which the code contradicts: the fix loop repairs
//! the code, or the assumption that the documentation is right is corrected (specification.md 3.2).

use crate::domain::id::TestId;
use crate::domain::text::count;

use super::records::{Assumption, AssumptionStatus, Decision};
use super::{Integration, Phase, TestFile, Untested};

/// How the basis of an assumption begins that a documented result is right.
const HELD: &str = "its documentation gives an example, which is the test ";

impl Assumption {
    /// The assumption that a documented result is right and the code is wrong; `said` tells both.
    #[must_use]
    pub fn of_documentation(said: &str, test: &TestId) -> Self {
        Self::open(format!("the code is wrong: {said}"), format!("{HELD}{test}"))
    }

    /// The test that holds a documented result, if that is what is assumed.
    fn documented_test(&self) -> Option<&str> {
        self.basis.strip_prefix(HELD)
    }
}

impl Integration {
    /// Why tests of documented results fail, of those that are named.
    #[must_use]
    pub fn explain_documented(&self, failed: &[TestId]) -> String {
        let is_failed = |one: &&Assumption| {
            one.documented_test().is_some_and(|own| failed.iter().any(|id| id.as_str() == own))
        };
        let said: Vec<&str> =
            self.assumptions.iter().filter(is_failed).map(|one| one.text.as_str()).collect();
        said.join("; ")
    }

    /// The files with documented results that the last run did not give.
    pub fn failing_documented(&self) -> impl Iterator<Item = &TestFile> {
        let files = self.test_inventory.iter().flat_map(|inventory| &inventory.test_files);
        files.filter(|file| {
            file.is_disputed && file.tests.iter().any(|test| self.is_failing(test.as_str()))
        })
    }

    /// Whether the code was repaired so that it gives a documented result.
    pub(super) fn has_repaired_documented(&self) -> bool {
        let is_confirmed =
            |one: &Assumption| matches!(one.status, AssumptionStatus::Confirmed { .. });
        self.assumptions.iter().any(|one| one.documented_test().is_some() && is_confirmed(one))
    }

    fn is_failing(&self, test: &str) -> bool {
        let run = self.iterations.latest_results.as_ref();
        run.is_some_and(|run| run.failures.iter().any(|one| one.test.as_str() == test))
    }

    /// Records which documented results the code gives since it was repaired.
    pub(super) fn confirm_documented(&mut self) {
        let iteration = self.iterations.current;
        let evidence = match iteration {
            0 => "the test passes".to_owned(),
            one => format!("the code was repaired by iteration {one}, and the test passes"),
        };
        let mut assumptions = std::mem::take(&mut self.assumptions);
        for one in &mut assumptions {
            let is_open = one.status == AssumptionStatus::Open;
            let passes = one.documented_test().is_some_and(|test| !self.is_failing(test));
            if is_open && passes {
                one.status = AssumptionStatus::Confirmed { evidence: evidence.clone() };
            }
        }
        self.assumptions = assumptions;
    }

    /// Corrects the assumptions whose tests fail whatever was changed: they are findings that a person
    /// decides, and their files are no tests of the session.
    pub(super) fn withdraw_documented(&mut self) {
        let iteration = self.iterations.current;
        let gone: Vec<TestFile> = self.failing_documented().cloned().collect();
        let is_gone =
            |test: &str| gone.iter().any(|file| file.tests.iter().any(|one| one.as_str() == test));
        let Some(inventory) = &mut self.test_inventory else { return };
        for one in &mut self.assumptions {
            if !one.documented_test().is_some_and(is_gone) {
                continue;
            }
            let said = one.text.split_once(": ").map_or(one.text.as_str(), |(_, said)| said);
            inventory.findings.push(said.to_owned());
            one.status = AssumptionStatus::Corrected {
                new: "the code or its documentation may be wrong".into(),
                iteration,
                evidence: format!(
                    "no change made the test pass in {}",
                    count(iteration, "iteration")
                ),
                impact: "the test was taken out, and a person decides".into(),
            };
        }
        inventory.test_files.retain(|file| !gone.contains(file));
        let tests = count(gone.iter().map(|file| file.tests.len()).sum::<usize>(), "test");
        self.decisions.push(Decision {
            phase: Phase::Iterating,
            iteration,
            description: format!("what becomes of {tests} of documented results"),
            context: "no change of the code makes them pass".into(),
            options: vec!["leave them failing".into(), "take them out".into()],
            chosen: "take them out".into(),
            reason: "whether the code or its documentation is wrong, a person decides".into(),
            impact: "each is a finding of the session, and holds no merge back".into(),
        });
        for what in gone.into_iter().map(|file| file.boundary) {
            if !inventory.crosses_boundary(&what) {
                let reason = "the code contradicts its documentation, and no repair was found";
                inventory.untested.push(Untested { what, reason: reason.into() });
            }
        }
        *inventory = std::mem::take(inventory).with_counts();
    }
}
