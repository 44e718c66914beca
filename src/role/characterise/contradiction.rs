//! Documented results that the code contradicts: tests of them fail, and each is a finding.

use std::collections::BTreeSet;

use crate::code::signature::Callable;
use crate::domain::id::RepoPath;
use crate::domain::test::{Status, TestCase};
use crate::domain::test_plan::written_tests::BugFinding;
use crate::effect::{CallOutcome, EffectError, Effects};
use crate::repair::{Case, DraftTest, ObservedFunction};

use super::GenerateRequest;
use super::run::run_files;
use super::test_file::PinnedFile;

/// Why other calls of a function with a finding get no test.
pub const UNPINNED: &str = "its documentation contradicts it, so what else it does is not held";

/// Who says that the code is wrong.
const JUDGE: &str = "documentation";

/// The tests of one file that show contradictions.
pub struct Contradictions {
    /// A file with these tests alone.
    pub file: PinnedFile,
    pub findings: Vec<BugFinding>,
    /// Tests of the same functions whose results are not documented.
    pub unpinned: Vec<DraftTest>,
}

/// Finds the contradictions among the tests of a file that did not pass.
pub fn split_off(
    test_file: &PinnedFile,
    broken: &[DraftTest],
    results: &[TestCase],
) -> Option<Contradictions> {
    let mut functions: Vec<ObservedFunction> = test_file
        .functions
        .iter()
        .map(|one| ObservedFunction { cases: Vec::new(), ..one.clone() })
        .collect();
    let mut findings = Vec::new();
    for test in broken {
        let known = test_file.functions.get(test.function).zip(functions.get_mut(test.function));
        let Some((function, contradicted)) = known else { continue };
        let (Some(message), Some(case)) =
            (contradiction_of(test_file, test), function.cases.get(test.case))
        else {
            continue;
        };
        let result = test_file.result(test, results).filter(|one| one.status == Status::Failed);
        let Some(result) = result else { continue };
        findings.push(BugFinding {
            test: Some(result.id.clone()),
            file: Some(test_file.path.clone()),
            ..finding(&test_file.subject, &function.callable, message)
        });
        contradicted.cases.push(case.clone());
    }
    let wrong: BTreeSet<usize> = functions
        .iter()
        .enumerate()
        .filter(|(_, one)| !one.cases.is_empty())
        .map(|(index, _)| index)
        .collect();
    let is_unpinned = |test: &&DraftTest| {
        let function = test_file.functions.get(test.function);
        let case = function.and_then(|one| one.cases.get(test.case));
        wrong.contains(&test.function) && case.is_some_and(|case| case.documented.is_none())
    };
    let unpinned = test_file.draft.tests.iter().filter(is_unpinned);
    let unpinned = unpinned.filter(|test| !broken.contains(test)).cloned().collect();
    let (path, subject) = (test_file.path.clone(), test_file.subject.clone());
    let file = PinnedFile::new(path, subject, test_file.naming.clone(), functions);
    (!findings.is_empty()).then_some(Contradictions { file, findings, unpinned })
}

/// A finding of which no test can be shown.
fn finding(subject: &RepoPath, function: &Callable, message: String) -> BugFinding {
    BugFinding {
        test: None,
        file: None,
        subject: subject.clone(),
        function: function.name.clone(),
        line: function.start,
        evidence: "an example shows it".to_owned(),
        message,
        judge: JUDGE.to_owned(),
    }
}

/// The documented calls that do not end: a test of them would hang.
pub fn endless_examples(subject: &RepoPath, functions: &[ObservedFunction]) -> Vec<BugFinding> {
    let cases = functions.iter().flat_map(|one| one.endless.iter().map(move |case| (one, case)));
    cases.map(|(one, case)| finding(subject, &one.callable, describe(case))).collect()
}

/// What is documented, and what the code does instead.
fn describe(case: &Case) -> String {
    let given = |outcome: &CallOutcome| match outcome {
        CallOutcome::Value { literal, .. } => format!("gives `{literal}`"),
        CallOutcome::Raised { class, message, .. } if message.is_empty() => {
            format!("raises `{class}`")
        }
        CallOutcome::Raised { class, message, .. } => format!("raises `{class}: {message}`"),
        CallOutcome::Refused(reason) => reason.clone(),
    };
    let call = format!("{}({})", case.call.callee, case.call.arguments.join(", "));
    format!(
        "`{call}` {}, but by its documentation it {}",
        given(&case.seen.outcome),
        given(case.expected_outcome())
    )
}

/// Adds the tests that show contradictions to the files of the others, where they fail while all
/// others pass.
pub async fn join_files(
    test_files: &mut Vec<PinnedFile>,
    contradicting: Vec<PinnedFile>,
    findings: &mut [BugFinding],
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
) -> Result<(), EffectError> {
    if contradicting.is_empty() {
        return Ok(());
    }
    for found in contradicting {
        match test_files.iter_mut().find(|known| known.path == found.path) {
            Some(known) => {
                for (one, more) in known.functions.iter_mut().zip(found.functions) {
                    one.cases.splice(0..0, more.cases);
                }
                known.write();
            }
            None => test_files.push(found),
        }
    }
    let results = run_files(test_files, request, fx).await?;
    for test_file in test_files.iter_mut() {
        let broken = test_file.record_results(&results);
        for (test, _) in &broken {
            if let (Some(message), Some(result)) =
                (contradiction_of(test_file, test), test_file.result(test, &results))
            {
                let same =
                    findings.iter_mut().filter(|one| one.file.as_ref() == Some(&test_file.path));
                same.filter(|one| one.message == message)
                    .for_each(|one| one.test = Some(result.id.clone()));
            }
        }
    }
    Ok(())
}

/// What a test shows, if the code contradicts the result that it expects.
fn contradiction_of(test_file: &PinnedFile, test: &DraftTest) -> Option<String> {
    let case = test_file.functions.get(test.function)?.cases.get(test.case)?;
    case.is_contradicted().then(|| describe(case))
}
