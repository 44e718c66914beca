//! Which tests of a boundary depend on what its calls give: they fail where such a call gives an
//! object that accepts everything, and one of them at least where it gives nothing. One that merely runs
//! the other side says nothing about how the two work together.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::code::crossing_calls::{SeveredCalls, sever_calls};
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
pub fn severed_texts(from: &RepoPath, text: &str, crossing: &Crossing) -> SeveredCalls {
    let calls: Vec<(u32, &[String])> =
        crossing.calls.iter().map(|call| (call.line, call.arguments.as_slice())).collect();
    Language::of(from).map(|one| sever_calls(one, text, &calls)).unwrap_or_default()
}

/// Which tests notice that calls are severed; `None` where that was not tried.
struct Noticed {
    without: Option<BTreeSet<TestId>>,
    with_stand_in: Option<BTreeSet<TestId>>,
}

impl Noticed {
    /// The tests that do not depend on what the calls give: they pass whichever call gives the stand-in,
    /// or all of the boundary do without its calls.
    fn find_indifferent(self, tests: &[TestId]) -> BTreeSet<TestId> {
        let all = || tests.iter().cloned().collect::<BTreeSet<TestId>>();
        let Some(noticed) = self.with_stand_in else { return BTreeSet::new() };
        let decisive: BTreeSet<TestId> = all().intersection(&noticed).cloned().collect();
        match self.without {
            Some(noticed) if decisive.is_disjoint(&noticed) => all(),
            _ => all().difference(&decisive).cloned().collect(),
        }
    }
}

/// The tests that do not depend on what the calls of a boundary give; none where that was not tried with
/// every call until the deadline, since what is severed may hang.
pub async fn find_indifferent(
    runner: &dyn CandidateRunner,
    subject: (&RepoPath, &str),
    severed: &SeveredCalls,
    tests: &[TestId],
    until: (&dyn Clock, Duration),
) -> Result<BTreeSet<TestId>, EffectError> {
    let count = severed.without.len() + severed.with_stand_in.len();
    if runner.speed() == Speed::Cold && count > COLD_TEXTS {
        return Ok(BTreeSet::new());
    }
    let with_stand_in = run_severed(runner, subject, &severed.with_stand_in, tests, until).await?;
    let without = match &with_stand_in {
        None => None,
        Some(noticed) => {
            let left: Vec<TestId> = noticed.iter().cloned().collect();
            run_severed(runner, subject, &severed.without, &left, until).await?
        }
    };
    Ok(Noticed { without, with_stand_in }.find_indifferent(tests))
}

/// The tests that fail with any of these texts; `None` where not all could be tried.
async fn run_severed(
    runner: &dyn CandidateRunner,
    (from, text): (&RepoPath, &str),
    severed: &[String],
    tests: &[TestId],
    (clock, until): (&dyn Clock, Duration),
) -> Result<Option<BTreeSet<TestId>>, EffectError> {
    let mut noticed: BTreeSet<TestId> = BTreeSet::new();
    let mut is_judged = false;
    for after in severed {
        let asked: Vec<TestId> =
            tests.iter().filter(|test| !noticed.contains(test)).cloned().collect();
        if asked.is_empty() {
            break;
        }
        if clock.elapsed() >= until {
            return Ok(None);
        }
        let (before, after) = (Some(text.to_owned()), Some(after.clone()));
        let edits = EditSet { files: vec![FileEdit { file: from.clone(), before, after }] };
        let results = runner.run(&edits, &asked, LIMIT, false).await?;
        if results.iter().any(CaseResult::is_not_built) {
            continue;
        }
        is_judged = true;
        let failed = results.into_iter().filter(|result| result.status == Status::Failed);
        noticed.extend(failed.map(|result| result.test));
    }
    Ok(is_judged.then_some(noticed))
}

/// The tests that notice any of several texts; what was not tried may be noticed by any of them.
fn join_noticed(texts: Vec<Option<Vec<TestId>>>) -> Option<BTreeSet<TestId>> {
    let all: Option<Vec<Vec<TestId>>> = texts.into_iter().collect();
    all.filter(|all| !all.is_empty()).map(|all| all.into_iter().flatten().collect())
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
        if severed == SeveredCalls::default() {
            continue;
        }
        let tests: Vec<TestId> = test_file.ids.values().cloned().collect();
        let texts = [severed.without.as_slice(), severed.with_stand_in.as_slice()].concat();
        let probed = probe_texts(test_file, &texts, request, LIMIT, observer, fx).await?;
        let indifferent: BTreeSet<TestId> = if let Some(mut noticed) = probed {
            let with_stand_in = noticed.split_off(severed.without.len().min(noticed.len()));
            let [without, with_stand_in] = [noticed, with_stand_in].map(join_noticed);
            Noticed { without, with_stand_in }.find_indifferent(&tests)
        } else {
            fx.step("leaving out each call across the boundary");
            let runner = open_runner(request, fx).await?;
            let until = (fx.clock, ends);
            find_indifferent(runner.as_ref(), (&subject, &text), &severed, &tests, until).await?
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
        let cases = run_files(test_files, request, 0, fx).await?;
        for test_file in test_files.iter_mut() {
            test_file.record_results(&cases);
        }
    }
    Ok(())
}
