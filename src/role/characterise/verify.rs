//! New tests are run at once: as they are, several times, each alone, and in another order. What
//! does not hold is dropped with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::domain::characterisation::{Dropped, PinReport};
use crate::domain::id::{TestId, TreeId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::test::{Scope, Status, TestCase};
use crate::effect::{CandidateRunner, EffectError, Effects, GitError, RunError, RunRequest, Speed};
use crate::repair::{DraftTest, Split};

use super::draft::{Sheet, edits};
use super::{ATTEMPTS, GenerateRequest, trial};

/// Runs in fresh processes that must agree.
const RUNS: usize = 3;

/// Tests that are run alone when each costs a cold start.
const COLD_ALONE: usize = 5;

/// Limit of one test alone, or of one file turned round.
const ALONE: Duration = Duration::from_secs(30);

/// Runs each case as a test of its own and takes away those that do not hold.
pub async fn probe(
    sheets: &mut Vec<Sheet>,
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
    report: &mut PinReport,
) -> Result<(), EffectError> {
    for sheet in sheets.iter() {
        for (_, _, reason) in &sheet.draft.left_out {
            note(report, reason, 1);
        }
    }
    for round in 0..ATTEMPTS {
        let cases = run(sheets, request, fx).await?;
        let mut clean = true;
        for sheet in sheets.iter_mut() {
            let broken = sheet.settle(&cases);
            if broken.is_empty() {
                continue;
            }
            clean = false;
            for (_, reason) in &broken {
                note(report, reason, 1);
            }
            let tests: Vec<DraftTest> = broken.into_iter().map(|(test, _)| test).collect();
            sheet.remove(&tests);
            sheet.write(Split::Single);
        }
        sheets.retain(|sheet| !sheet.draft.tests.is_empty());
        if clean || sheets.is_empty() {
            return Ok(());
        }
        if round + 1 == ATTEMPTS {
            sheets.retain(|sheet| !sheet.ids.is_empty());
        }
    }
    Ok(())
}

fn note(report: &mut PinReport, reason: &str, count: u32) {
    match report.dropped.iter_mut().find(|known| known.reason == reason) {
        Some(known) => known.count += count,
        None => report.dropped.push(Dropped { reason: reason.to_owned(), count }),
    }
}

/// Runs all test files in a process of their own; files that break the run are run one by one.
async fn run(
    sheets: &[Sheet],
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
) -> Result<Vec<TestCase>, EffectError> {
    let tree = fx.worktree.graft(request.tree, &edits(sheets)).await?;
    fx.worktree.checkout(&tree).await?;
    let packages = packages(&tree, fx).await?;
    let directory = fx.suite.facts().directory.clone();
    let names: Vec<TestId> =
        sheets.iter().map(|sheet| sheet.whole(&directory, &packages)).collect();
    match once(fx, names.clone()).await {
        Err(EffectError::Run(error)) if !is_fatal(&error) && names.len() > 1 => {
            let mut all = Vec::new();
            for name in names {
                match once(fx, vec![name]).await {
                    Ok(cases) => all.extend(cases),
                    Err(EffectError::Run(error)) if !is_fatal(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(all)
        }
        Err(EffectError::Run(error)) if !is_fatal(&error) => Ok(Vec::new()),
        other => other,
    }
}

/// Folders that are packages of Python.
pub async fn packages(tree: &TreeId, fx: &Effects<'_>) -> Result<BTreeSet<String>, GitError> {
    let files = fx.worktree.files(tree).await?;
    let made = files.iter().filter(|file| file.file_name() == "__init__.py");
    Ok(made.map(|file| file.parent().to_owned()).collect())
}

/// Whether no test at all can be run.
pub fn is_fatal(error: &RunError) -> bool {
    matches!(
        error,
        RunError::NotStarted { .. } | RunError::Io { .. } | RunError::UnknownFramework { .. }
    )
}

async fn once(fx: &Effects<'_>, names: Vec<TestId>) -> Result<Vec<TestCase>, EffectError> {
    let scope = Scope::Tests(names);
    let request =
        RunRequest { root: fx.worktree.root(), scope: &scope, log: ".process/pin-output.log" };
    Ok(fx.suite.run(&request).await?.cases)
}

/// Runs the final files three times, each test alone, and all in reverse order. Tests that do not
/// hold each time are taken away, and the rest is run again.
pub async fn accept(
    sheets: &mut Vec<Sheet>,
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
    report: &mut PinReport,
) -> Result<(), EffectError> {
    for attempt in 0..=ATTEMPTS {
        if sheets.is_empty() {
            return Ok(());
        }
        let mut bad: BTreeMap<(usize, String), String> = BTreeMap::new();
        let mut held: BTreeMap<(usize, String), usize> = BTreeMap::new();
        for _ in 0..RUNS {
            let cases = run(sheets, request, fx).await?;
            for (index, sheet) in sheets.iter_mut().enumerate() {
                for (test, reason) in sheet.settle(&cases) {
                    bad.insert((index, test.name), reason);
                }
                for name in sheet.ids.keys() {
                    *held.entry((index, name.clone())).or_default() += 1;
                }
            }
        }
        for (place, reason) in &mut bad {
            if let Some(count) = held.get(place).filter(|count| **count < RUNS) {
                *reason = format!("it held in {count} of {RUNS} runs of the same sources");
                let id = sheets.get(place.0).and_then(|sheet| sheet.ids.get(&place.1));
                report.flaky.extend(id.cloned());
            }
        }
        if bad.is_empty() {
            let trial = trial(request, fx).await?;
            bad = apart(sheets, trial.as_ref()).await?;
        }
        if bad.is_empty() {
            return Ok(());
        }
        for reason in bad.values() {
            note(report, reason, 1);
        }
        for (index, sheet) in sheets.iter_mut().enumerate() {
            let of_sheet = |test: &&DraftTest| bad.contains_key(&(index, test.name.clone()));
            let tests: Vec<DraftTest> =
                sheet.draft.tests.iter().filter(of_sheet).cloned().collect();
            // What was never clean is given up as a whole.
            if attempt == ATTEMPTS {
                let all = sheet.draft.tests.clone();
                sheet.remove(&all);
            } else {
                sheet.remove(&tests);
            }
            sheet.write(Split::Grouped);
        }
        sheets.retain(|sheet| !sheet.draft.tests.is_empty());
    }
    Ok(())
}

/// Tests that do not hold alone, or when the others of their file come in reverse order.
async fn apart(
    sheets: &[Sheet],
    trial: &dyn CandidateRunner,
) -> Result<BTreeMap<(usize, String), String>, EffectError> {
    let mut bad = BTreeMap::new();
    for (index, sheet) in sheets.iter().enumerate() {
        let mut put = |name: &str, reason: &str| {
            bad.insert((index, name.to_owned()), reason.to_owned());
        };
        let mut ids: Vec<(&String, &TestId)> = sheet.ids.iter().collect();
        let turned = if sheet.naming.framework.is_python() {
            // The runner takes tests in the order in which they are named.
            ids.reverse();
            unchanged(sheet, &sheet.draft.text)
        } else {
            unchanged(sheet, &sheet.turned(Split::Grouped))
        };
        let tests: Vec<TestId> = ids.iter().map(|(_, id)| (*id).clone()).collect();
        for result in trial.judge(&turned, &tests, ALONE, false).await? {
            if result.status != Status::Passed
                && let Some((name, _)) = ids.iter().find(|(_, id)| **id == result.test)
            {
                put(name, "it does not hold when the tests run in another order");
            }
        }
        let alone = if trial.speed() == Speed::Warm { ids.len() } else { COLD_ALONE };
        let same = unchanged(sheet, &sheet.draft.text);
        for (name, id) in ids.into_iter().take(alone) {
            let results = trial.judge(&same, std::slice::from_ref(id), ALONE, true).await?;
            if results.iter().any(|result| result.status != Status::Passed) {
                put(name, "it does not hold when it runs alone");
            }
        }
    }
    Ok(bad)
}

/// The test file as an edit of itself.
fn unchanged(sheet: &Sheet, text: &str) -> EditSet {
    EditSet {
        files: vec![FileEdit {
            file: sheet.path.clone(),
            before: Some(sheet.draft.text.clone()),
            after: Some(text.to_owned()),
        }],
    }
}
