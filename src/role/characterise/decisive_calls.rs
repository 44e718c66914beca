//! Which tests of a boundary depend on what its calls give: they fail where such a call gives
//! nothing or an empty object. One that merely runs the other side says nothing about how the two work
//! together.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::code::crossing_calls::sever_calls;
use crate::code::language::Language;
use crate::domain::characterisation_report::CharacterisationReport;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::test::Status;
use crate::effect::{CandidateRunner, CaseResult, Clock, EffectError, Effects, Observer, Speed};
use crate::repair::DraftTest;

use super::call_probe::probe_texts;
use super::mutation_probe::open_runner;
use super::run::run_files;
use super::test_file::PinnedFile;
use super::verify::note_dropped;
use super::{Crossing, GenerateRequest};

/// Maximum number of texts with a severed call where each needs a cold start; of more, none is tried.
const COLD_TEXTS: usize = 8;

/// Time limit of the tests of one file with one call severed.
const LIMIT: Duration = Duration::from_secs(30);

/// The texts of the calling file in each of which one call of the boundary is severed.
#[must_use]
pub fn severed_texts(from: &RepoPath, text: &str, crossing: &Crossing) -> Vec<String> {
    let calls: Vec<(u32, &[String])> =
        crossing.calls.iter().map(|call| (call.line, call.arguments.as_slice())).collect();
    Language::of(from).map(|one| sever_calls(one, text, &calls)).unwrap_or_default()
}

/// The tests that pass whichever call is severed; none where that was not tried with every call until the
/// deadline, since what is severed may hang.
pub async fn find_indifferent(
    runner: &dyn CandidateRunner,
    (from, text): (&RepoPath, &str),
    severed: Vec<String>,
    tests: &[TestId],
    (clock, until): (&dyn Clock, Duration),
) -> Result<BTreeSet<TestId>, EffectError> {
    let mut indifferent: BTreeSet<TestId> = tests.iter().cloned().collect();
    if runner.speed() == Speed::Cold && severed.len() > COLD_TEXTS {
        return Ok(BTreeSet::new());
    }
    let mut is_judged = false;
    for after in severed {
        let asked: Vec<TestId> = indifferent.iter().cloned().collect();
        if asked.is_empty() {
            break;
        }
        if clock.elapsed() >= until {
            return Ok(BTreeSet::new());
        }
        let (before, after) = (Some(text.to_owned()), Some(after));
        let edits = EditSet { files: vec![FileEdit { file: from.clone(), before, after }] };
        let results = runner.run(&edits, &asked, LIMIT, false).await?;
        if results.iter().any(CaseResult::is_not_built) {
            continue;
        }
        is_judged = true;
        for result in results.iter().filter(|result| result.status == Status::Failed) {
            indifferent.remove(&result.test);
        }
    }
    Ok(if is_judged { indifferent } else { BTreeSet::new() })
}

/// Drops the tests of boundaries that do not depend on any call across theirs.
pub async fn drop_indifferent(
    test_files: &mut Vec<PinnedFile>,
    request: &GenerateRequest<'_>,
    observer: &dyn Observer,
    ends: Duration,
    fx: &Effects<'_>,
    report: &mut CharacterisationReport,
) -> Result<(), EffectError> {
    let mut is_changed = false;
    for test_file in test_files.iter_mut() {
        let subject = test_file.subject.clone();
        let gap = request.gaps.iter().find(|gap| gap.file == subject);
        let Some(crossing) = gap.and_then(|gap| gap.crossing.as_ref()) else { continue };
        let bytes = fx.worktree.read(request.tree, &subject).await?.unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let severed = severed_texts(&subject, &text, crossing);
        if severed.is_empty() {
            continue;
        }
        let tests: Vec<TestId> = test_file.ids.values().cloned().collect();
        let probed = probe_texts(test_file, &severed, request, LIMIT, observer, fx).await?;
        let indifferent: BTreeSet<TestId> = if let Some(noticed) = probed {
            // What was not tried may make a difference to any of them.
            let is_judged = noticed.iter().all(Option::is_some);
            let noticed: BTreeSet<TestId> = noticed.into_iter().flatten().flatten().collect();
            tests.into_iter().filter(|test| is_judged && !noticed.contains(test)).collect()
        } else {
            fx.step("leaving out each call across the boundary");
            let runner = open_runner(request, fx).await?;
            let until = (fx.clock, ends);
            find_indifferent(runner.as_ref(), (&subject, &text), severed, &tests, until).await?
        };
        let is_dropped = |test: &&DraftTest| {
            test_file.ids.get(&test.name).is_some_and(|id| indifferent.contains(id))
        };
        let dropped: Vec<DraftTest> =
            test_file.draft.tests.iter().filter(is_dropped).cloned().collect();
        let reason = format!("what {} gives makes no difference to it", crossing.to);
        note_dropped(report, test_file, dropped.iter().map(|test| (test, &reason)));
        if !dropped.is_empty() {
            test_file.remove(&dropped);
            test_file.write();
            is_changed = true;
        }
    }
    test_files.retain(|test_file| !test_file.draft.tests.is_empty());
    if is_changed && !test_files.is_empty() {
        // Others may have another name now.
        let cases = run_files(test_files, request, fx).await?;
        for test_file in test_files.iter_mut() {
            test_file.record_results(&cases);
        }
    }
    Ok(())
}
