//! Tests of documented results that the code contradicts, for a cycle that repairs the code: they fail
//! until it is repaired.

use crate::domain::characterisation_report::CharacterisationReport;
use crate::domain::proposal::FileEdit;
use crate::domain::test::Status;
use crate::effect::{EffectError, Effects};

use super::GenerateRequest;
use super::contradiction::describe_contradiction;
use super::run::run_files;
use super::test_file::{PinnedFile, edits};

/// The files of the contradicted tests that cross the boundary of their gap, where it says where they
/// go. Their findings in the report get the ids under which they fail.
pub async fn keep_contradicted(
    mut test_files: Vec<PinnedFile>,
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
    report: &mut CharacterisationReport,
) -> Result<Vec<FileEdit>, EffectError> {
    for test_file in &mut test_files {
        let gap = request.gaps.iter().find(|gap| gap.file == test_file.subject);
        let crossing = gap.and_then(|gap| gap.crossing.as_ref());
        let place = crossing.and_then(|crossing| crossing.documented.clone());
        if let Some(place) = &place {
            test_file.path.clone_from(place);
        }
        let functions = test_file.functions.clone();
        test_file.retain_cases(&|function, case| {
            let case = functions.get(function).and_then(|one| one.cases.get(case));
            place.is_some()
                && crossing
                    .zip(case)
                    .is_some_and(|(crossing, case)| crossing.runs_call(&case.seen.lines))
        });
        test_file.write();
    }
    test_files.retain(|test_file| !test_file.draft.tests.is_empty());
    if test_files.is_empty() {
        return Ok(Vec::new());
    }
    let results = run_files(&test_files, request, 0, fx).await?;
    for test_file in &mut test_files {
        let fails = |one: &&crate::repair::DraftTest| {
            test_file.result(one, &results).is_some_and(|case| case.status == Status::Failed)
        };
        let failing: Vec<_> = test_file.draft.tests.iter().filter(fails).cloned().collect();
        for test in &failing {
            let function = test_file.functions.get(test.function);
            let said = function
                .and_then(|one| Some(describe_contradiction(one, one.cases.get(test.case)?)));
            let is_own =
                |message: &str| said.as_ref().is_some_and(|said| message.starts_with(said));
            for finding in report.findings.iter_mut().filter(|one| is_own(&one.message)) {
                finding.test = test_file.result(test, &results).map(|case| case.id.clone());
                finding.file = Some(test_file.path.clone());
            }
        }
        if failing.len() < test_file.draft.tests.len() {
            let places: Vec<_> = failing.iter().map(|one| (one.function, one.case)).collect();
            test_file.retain_cases(&|function, case| places.contains(&(function, case)));
            test_file.write();
        }
    }
    Ok(edits(&test_files).files)
}
