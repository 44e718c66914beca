//! Checks that new tests give the same results in three runs, alone, and in another order
//! (specification.md 3.1 phase 5, 4.7).

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::test_cases;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::Status;
use crate::effect::{CandidateRunnerRequest, EffectError, Effects};
use crate::role::characterise::{self, RUNS, SEEDS, unsteady};

use super::run_file::{DraftFile, FileRun, RunContext, run_file};

/// A test file after its unstable tests were removed.
#[derive(Debug, Default, PartialEq)]
pub struct StableFile {
    /// The file with its stable tests; `None` if no test remains.
    pub file: Option<DraftFile>,
    pub dropped: Vec<String>,
    pub flaky: Vec<TestId>,
}

/// Runs a file until all remaining tests are stable: three runs, alone, and in another order.
/// Unstable tests are removed. The tests in `expected_failures` must fail every time.
pub async fn verify_stability(
    mut file: DraftFile,
    expected_failures: &BTreeSet<TestId>,
    context: RunContext<'_>,
    fx: &Effects<'_>,
) -> Result<StableFile, EffectError> {
    let mut result = StableFile::default();
    loop {
        let mut as_expected: BTreeMap<TestId, usize> = BTreeMap::new();
        for hash_seed in SEEDS {
            match run_file(&file, RunContext { hash_seed, ..context }, fx).await? {
                FileRun::Refused(problem) => {
                    result.dropped.push(format!("{}: {problem}", file.path));
                    return Ok(result);
                }
                FileRun::Results(cases) => {
                    for case in &cases {
                        let is_expected =
                            is_expected(case.status, expected_failures.contains(&case.id));
                        *as_expected.entry(case.id.clone()).or_default() +=
                            usize::from(is_expected);
                    }
                    file.results = cases;
                }
            }
        }
        let mut unstable = BTreeMap::new();
        for (id, count) in as_expected.into_iter().filter(|(_, count)| *count < RUNS) {
            if count > 0 {
                result.flaky.push(id.clone());
            }
            let reason = reason_for_count(count, expected_failures.contains(&id));
            unstable.insert(id, reason);
        }
        if unstable.is_empty() {
            unstable = check_isolation(&file, expected_failures, context, fx).await?;
        }
        if unstable.is_empty() {
            result.file = Some(file);
            return Ok(result);
        }
        result.dropped.extend(unstable.iter().map(|(id, reason)| format!("{id}: {reason}")));
        if !file.cut(&unstable.into_keys().collect()) {
            return Ok(result);
        }
    }
}

/// Removes the passing tests of which no mutant of the code that they run makes an assertion fail: they
/// assert nothing that depends on what it does.
pub async fn drop_blind_tests(
    mut stable: StableFile,
    subjects: &[RepoPath],
    context: RunContext<'_>,
    fx: &Effects<'_>,
) -> Result<StableFile, EffectError> {
    let Some(mut file) = stable.file.take() else { return Ok(stable) };
    let tests: Vec<TestId> = file.with_status(Status::Passed).map(|one| one.id.clone()).collect();
    let tree = fx.worktree.graft(context.tree, &file.edits()).await?;
    let blind = characterise::find_blind_tests((&tree, context.jobs), subjects, &tests, fx).await?;
    let reason =
        |id: &TestId| format!("{id}: no mutant of the code that it runs makes an assertion fail");
    stable.dropped.extend(blind.iter().map(reason));
    if blind.is_empty() || file.cut(&blind) {
        stable.file = Some(file);
    }
    Ok(stable)
}

/// Whether the status of a test is the expected one; skipped never is.
fn is_expected(status: Status, must_fail: bool) -> bool {
    match status {
        Status::Passed => !must_fail,
        Status::Failed => must_fail,
        Status::Skipped => false,
    }
}

/// Why a test is dropped that had the expected result in only `count` runs.
fn reason_for_count(count: usize, must_fail: bool) -> String {
    match count {
        0 if must_fail => "it passes after all".to_owned(),
        0 => "it fails, and the test is wrong".to_owned(),
        _ => unsteady(count),
    }
}

/// The tests whose result differs when they run alone or in another order, with the reason.
async fn check_isolation(
    file: &DraftFile,
    expected_failures: &BTreeSet<TestId>,
    context: RunContext<'_>,
    fx: &Effects<'_>,
) -> Result<BTreeMap<TestId, String>, EffectError> {
    let Some(language) = Language::of(&file.path) else { return Ok(BTreeMap::new()) };
    let tree = fx.worktree.graft(context.tree, &file.edits()).await?;
    fx.worktree.checkout(&tree).await?;
    let request =
        CandidateRunnerRequest { root: fx.worktree.root(), failing: &[], jobs: context.jobs };
    let runner = fx.suite.open_candidate_runner(&request).await?;
    let reversed = (language != Language::Python)
        .then(|| test_cases::with_tests_reversed(language, &file.text));
    let ids = file.results.iter().map(|case| case.id.clone()).collect();
    let text = (&file.path, file.text.as_str());
    let found =
        characterise::check_isolation(runner.as_ref(), text, reversed, ids, expected_failures);
    Ok(found.await?.unstable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_ends_as_expected_or_has_a_reason() {
        let table = [
            (Status::Passed, false, true),
            (Status::Passed, true, false),
            (Status::Failed, false, false),
            (Status::Failed, true, true),
            (Status::Skipped, false, false),
            (Status::Skipped, true, false),
        ];
        for (status, must_fail, expected) in table {
            assert_eq!(is_expected(status, must_fail), expected, "{status:?} {must_fail}");
        }
        let table = [
            (0, true, "it passes after all"),
            (0, false, "it fails, and the test is wrong"),
            (2, false, "it held in 2 of 3 runs of the same sources"),
        ];
        for (count, must_fail, expected) in table {
            assert_eq!(reason_for_count(count, must_fail), expected);
        }
    }
}
