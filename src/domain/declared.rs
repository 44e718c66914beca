//! What a test report declares of itself, compared with the tests that it holds.

use super::test::Objection;
use super::text::count;

/// What a report declares beside its tests; nothing where it is silent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// All tests, those that did not run included.
    pub tests: Option<u32>,
    pub failures: Option<u32>,
    pub errors: Option<u32>,
    /// Tests that did not run on purpose.
    pub skipped: Option<u32>,
    /// Tests that were to run: a plan of TAP, or what a process began.
    pub plan: Option<u32>,
    /// The highest number of a test of TAP that did not fail, or how many did not where that is more.
    pub highest: Option<u32>,
    /// Why the run was given up, as the report says it.
    pub aborted: Option<String>,
}

/// What a report holds, each entry counted, several of one test included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub tests: u32,
    /// Failures and errors, those of suites included.
    pub failed: u32,
    pub skipped: u32,
}

/// A report: what it declares, and what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Its file, relative to the suite's folder; empty where there is only one.
    pub name: String,
    pub declared: Declared,
    pub held: Held,
}

impl Declared {
    /// The declared failures or errors, whichever are more: some writers put one number into both.
    pub fn failed(&self) -> u32 {
        self.failures.unwrap_or(0).max(self.errors.unwrap_or(0))
    }
}

/// Why a run is not green although none of its tests may have failed: what its documents declare and do
/// not hold, and that its command failed where no failure explains it.
pub fn find_objections(
    documents: &[Document],
    has_failure: bool,
    failed_command: Option<Objection>,
) -> Vec<Objection> {
    let of_reports = documents.iter().flat_map(Document::objections);
    of_reports.chain(failed_command.filter(|_| !has_failure)).collect()
}

impl Document {
    /// Whether it announces tests that it does not hold.
    pub fn is_cut(&self) -> bool {
        self.declared.plan.is_some_and(|plan| plan > self.held.tests)
    }

    /// What the report declares and does not hold, each as a clause. It holds more than it declares
    /// where its writer counts otherwise, as with several failures of one test: that is no objection.
    /// Writers that leave skipped tests out still count them.
    fn objections(&self) -> impl Iterator<Item = Objection> {
        let Self { name, declared, held } = self;
        let report = if name.is_empty() { "the report".to_owned() } else { format!("`{name}`") };
        let tests = declared.tests.unwrap_or(0);
        let to_run = tests.saturating_sub(declared.skipped.unwrap_or(0));
        let has_run = held.tests.saturating_sub(held.skipped);
        let is_short = tests > held.tests && to_run > has_run;
        let clauses = [
            is_short.then(|| {
                format!(
                    "{report} declares {} and holds {}",
                    count(tests as usize, "test"),
                    held.tests
                )
            }),
            (declared.failed() > held.failed).then(|| {
                let declared = count(declared.failed() as usize, "failure");
                format!("{report} declares {declared} and holds {}", held.failed)
            }),
            declared.plan.filter(|_| self.is_cut()).map(|plan| {
                let planned = count(plan as usize, "test");
                format!("{report} announces {planned} and holds {}", held.tests)
            }),
            declared.plan.zip(declared.highest).filter(|(plan, highest)| highest > plan).map(
                |(plan, highest)| {
                    let planned = count(plan as usize, "test");
                    let number = if highest > held.tests { "number " } else { "" };
                    let most = highest.max(held.tests);
                    format!("{report} announces {planned} and holds {number}{most}")
                },
            ),
            declared
                .aborted
                .as_ref()
                .map(|why| format!("{report} says that the run was given up: {why}")),
        ];
        clauses.into_iter().flatten().map(Objection::Report)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clauses(declared: Declared, held: Held) -> Vec<String> {
        let document = Document { name: String::new(), declared, held };
        let text = |objection| match objection {
            Objection::Report(text) => text,
            other @ Objection::Command { .. } => panic!("{other:?}"),
        };
        find_objections(&[document], false, None).into_iter().map(text).collect()
    }

    #[test]
    fn only_what_is_declared_and_missing_objects() {
        let held = |tests, failed, skipped| Held { tests, failed, skipped };
        let none = Declared::default();
        let tests = |tests, skipped| Declared { tests: Some(tests), skipped, ..none.clone() };
        let table: [(&str, Declared, Held, &[&str]); 12] = [
            ("silent", none.clone(), held(3, 0, 0), &[]),
            ("equal", tests(3, None), held(3, 0, 0), &[]),
            ("more than declared", tests(3, None), held(4, 0, 0), &[]),
            ("fewer", tests(9, None), held(4, 0, 0), &["the report declares 9 tests and holds 4"]),
            ("skipped ones left out", tests(5, Some(2)), held(3, 0, 0), &[]),
            ("skipped ones held", tests(5, Some(2)), held(5, 0, 2), &[]),
            (
                "fewer, beside skipped ones",
                tests(5, Some(2)),
                held(3, 0, 2),
                &["the report declares 5 tests and holds 3"],
            ),
            (
                "an error that no test has",
                Declared { failures: Some(0), errors: Some(1), ..none.clone() },
                held(4, 0, 0),
                &["the report declares 1 failure and holds 0"],
            ),
            (
                "two failures of one test",
                Declared { failures: Some(1), errors: Some(0), ..none.clone() },
                held(1, 2, 0),
                &[],
            ),
            (
                "a plan",
                Declared { plan: Some(1), ..none.clone() },
                held(0, 0, 0),
                &["the report announces 1 test and holds 0"],
            ),
            (
                "a plan that its tests exceed, and a test that is missing",
                Declared { plan: Some(3), highest: Some(7), ..none.clone() },
                held(2, 0, 0),
                &[
                    "the report announces 3 tests and holds 2",
                    "the report announces 3 tests and holds number 7",
                ],
            ),
            (
                "given up",
                Declared { aborted: Some("no database".into()), ..none.clone() },
                held(1, 0, 0),
                &["the report says that the run was given up: no database"],
            ),
        ];
        for (why, declared, held, expected) in table {
            assert_eq!(clauses(declared, held), expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn what_is_declared_and_not_held_always_objects(
            tests in 0u32..9, failures in 0u32..9, held in 0u32..9, failed in 0u32..9,
        ) {
            let declared =
                Declared { tests: Some(tests), failures: Some(failures), ..Declared::default() };
            let found = clauses(declared, Held { tests: held, failed, skipped: 0 });
            prop_assert_eq!(found.is_empty(), tests <= held && failures <= failed);
        }
    }
}
