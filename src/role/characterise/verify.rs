//! Verifies generated tests: repeated runs, each test alone, and in reverse order. Unstable tests
//! are dropped with a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::domain::characterisation_report::{
    CharacterisationReport, CharacterisedFunction, DropReason,
};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::test::{Status, TestCase};
use crate::effect::{CandidateRunner, EffectError, Effects, Speed, Trace};
use crate::repair::DraftTest;

use super::contradiction::{self, UNPINNED};
use super::run::run_files;
use super::test_file::PinnedFile;
use super::{ATTEMPTS, GenerateRequest, open_runner};

/// Number of runs in separate processes that must agree.
pub const RUNS: usize = 3;

/// The seeds of these runs, none of which the observed calls had.
pub const SEEDS: [u32; RUNS] = [3, 5, 8];

/// Maximum number of runs until each case passes: compilers refuse syntax, types and uncaught errors one
/// after the other.
const ROUNDS: usize = ATTEMPTS + 2;

/// Maximum number of tests run alone if each needs a cold start.
const COLD_ALONE: usize = 5;

/// Time limit of one test alone, or of one file in reverse order.
const ALONE: Duration = Duration::from_secs(30);

/// The same where the suite's own command runs, which may have to compile all first.
const ALONE_COMPILED: Duration = Duration::from_mins(5);

/// Runs all tests and drops those that fail; where they fail because the code contradicts its
/// documentation, that is a finding, and these tests are returned.
pub async fn check_each_case(
    test_files: &mut Vec<PinnedFile>,
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
    report: &mut CharacterisationReport,
) -> Result<Vec<PinnedFile>, EffectError> {
    let mut contradicted = Vec::new();
    note_left_out(report, test_files.iter().filter(|one| one.draft.tests.is_empty()));
    for round in 0..ROUNDS {
        let cases = run_files(test_files, request, 0, fx).await?;
        let mut clean = true;
        for test_file in test_files.iter_mut() {
            let broken = test_file.record_results(&cases);
            if broken.is_empty() {
                continue;
            }
            clean = false;
            let (mut tests, mut reasons): (Vec<DraftTest>, Vec<String>) =
                broken.into_iter().unzip();
            let found = contradiction::find_contradictions(test_file, &tests, &cases);
            report.findings.extend(found.findings);
            contradicted.extend(test_file.with_only(&found.contradicted));
            reasons.extend(found.unpinned.iter().map(|_| UNPINNED.to_owned()));
            tests.extend(found.unpinned);
            note_dropped(report, test_file, tests.iter().zip(&reasons));
            test_file.remove(&tests);
            test_file.write();
        }
        test_files.retain(|test_file| !test_file.draft.tests.is_empty());
        if clean || test_files.is_empty() {
            break;
        }
        if round + 1 == ROUNDS {
            test_files.retain(|test_file| !test_file.ids.is_empty());
        }
    }
    // That another test makes the same call does not explain why none is left.
    note_left_out(report, test_files.iter());
    Ok(contradicted)
}

fn note_left_out<'a>(
    report: &mut CharacterisationReport,
    test_files: impl Iterator<Item = &'a PinnedFile>,
) {
    for (_, _, reason) in test_files.flat_map(|test_file| &test_file.draft.left_out) {
        note(report, reason, 1);
    }
}

/// Records why tests of a file are dropped, also with their functions, where it explains more than why
/// calls were.
pub(super) fn note_dropped<'a>(
    report: &mut CharacterisationReport,
    test_file: &PinnedFile,
    dropped: impl Iterator<Item = (&'a DraftTest, &'a String)>,
) {
    for (test, reason) in dropped {
        note(report, reason, 1);
        let Some(own) = test_file.functions.get(test.function) else { continue };
        let is_own = |one: &&mut CharacterisedFunction| {
            let place = (&one.file, one.line, &one.name);
            place == (&test_file.subject, own.callable.start, &own.callable.name)
        };
        for function in report.functions.iter_mut().filter(is_own) {
            add_reason(&mut function.dropped, reason, 1);
            function.dropped.sort_by_key(|known| known.reason != *reason);
        }
    }
}

fn note(report: &mut CharacterisationReport, reason: &str, count: u32) {
    add_reason(&mut report.dropped, reason, count);
}

fn add_reason(reasons: &mut Vec<DropReason>, reason: &str, count: u32) {
    match reasons.iter_mut().find(|known| known.reason == reason) {
        Some(known) => known.count += count,
        None => reasons.push(DropReason { reason: reason.to_owned(), count }),
    }
}

/// Why a test is dropped that had the expected result in only `count` of the runs.
pub fn unsteady(count: usize) -> String {
    format!("it held in {count} of {RUNS} runs of the same sources")
}

/// The index of a test file and the name of one of its tests.
type TestPlace = (usize, String);

/// The results of the same files in several runs.
#[derive(Debug, Default)]
struct RepeatedRuns {
    /// In how many runs each test passed.
    held: BTreeMap<TestPlace, usize>,
    /// Why a test failed when it last did.
    failures: BTreeMap<TestPlace, String>,
}

impl RepeatedRuns {
    /// Adds the results of one file in one run.
    fn record(&mut self, index: usize, test_file: &mut PinnedFile, cases: &[TestCase]) {
        let broken = test_file.record_results(cases);
        for test in &test_file.draft.tests {
            let failed = broken.iter().any(|(one, _)| one.name == test.name);
            *self.held.entry((index, test.name.clone())).or_default() += usize::from(!failed);
        }
        self.failures.extend(broken.into_iter().map(|(test, why)| ((index, test.name), why)));
    }

    /// The tests that passed in some runs only, with the number of these.
    fn flaky(&self) -> impl Iterator<Item = (&TestPlace, usize)> {
        self.held
            .iter()
            .filter(|(_, count)| (1..RUNS).contains(*count))
            .map(|(p, count)| (p, *count))
    }
}

/// Runs the final files three times, each test alone, and all tests in reverse order. Drops
/// unstable tests and runs the rest again. Returns what each test ran alone, as far as known.
pub async fn check_stability(
    test_files: &mut Vec<PinnedFile>,
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
    report: &mut CharacterisationReport,
) -> Result<Vec<Trace>, EffectError> {
    for attempt in 0..=ATTEMPTS {
        if test_files.is_empty() {
            return Ok(Vec::new());
        }
        let mut runs = RepeatedRuns::default();
        for seed in SEEDS {
            let cases = run_files(test_files, request, seed, fx).await?;
            for (index, test_file) in test_files.iter_mut().enumerate() {
                runs.record(index, test_file, &cases);
            }
        }
        let mut bad = runs.failures.clone();
        for (place, count) in runs.flaky() {
            bad.insert(place.clone(), unsteady(count));
            let id = test_files.get(place.0).and_then(|test_file| test_file.ids.get(&place.1));
            report.flaky.extend(id.cloned());
        }
        let mut traces = Vec::new();
        if bad.is_empty() {
            let runner = open_runner(request, fx).await?;
            (bad, traces) = unstable_tests(test_files, runner.as_ref()).await?;
        }
        if bad.is_empty() {
            return Ok(traces);
        }
        for (index, test_file) in test_files.iter_mut().enumerate() {
            let is_bad = |test: &&DraftTest| bad.contains_key(&(index, test.name.clone()));
            let tests: Vec<DraftTest> =
                test_file.draft.tests.iter().filter(is_bad).cloned().collect();
            let reasons = tests.iter().filter_map(|test| bad.get(&(index, test.name.clone())));
            note_dropped(report, test_file, tests.iter().zip(reasons));
            // A file that still has unstable tests in the last attempt is dropped completely.
            if attempt == ATTEMPTS {
                let all = test_file.draft.tests.clone();
                test_file.remove(&all);
            } else {
                test_file.remove(&tests);
            }
            test_file.write();
        }
        test_files.retain(|test_file| !test_file.draft.tests.is_empty());
    }
    Ok(Vec::new())
}

/// Drops the tests that do not run both sides of the boundary of their gap.
pub fn drop_one_sided(
    test_files: &mut Vec<PinnedFile>,
    request: &GenerateRequest<'_>,
    traces: &[Trace],
    report: &mut CharacterisationReport,
) {
    for test_file in test_files.iter_mut() {
        let gap = request.gaps.iter().find(|gap| gap.file == test_file.subject);
        let Some(crossing) = gap.and_then(|gap| gap.crossing.as_ref()) else { continue };
        let crosses = |test: &DraftTest| {
            let id = test_file.ids.get(&test.name);
            let trace = traces.iter().find(|trace| Some(&trace.test) == id);
            // Where runs do not tell their lines, the call that was observed has run one that crosses.
            trace.is_none_or(|trace| {
                let trace = trace.clone().without_loading();
                trace.lines.is_empty() || crossing.is_in(&test_file.subject, &trace)
            })
        };
        let is_avoided = |test: &DraftTest| {
            let id = test_file.ids.get(&test.name);
            traces.iter().any(|one| Some(&one.test) == id && crossing.runs_avoided(one.clone()))
        };
        let one_sided = format!("it is not shown to run code of {}", crossing.to);
        let reason_of = |test: &DraftTest| match test {
            test if is_avoided(test) => Some(UNPINNED.to_owned()),
            test => (!crosses(test)).then(|| one_sided.clone()),
        };
        let all = test_file.draft.tests.iter();
        let dropped = all.filter_map(|test| Some((test.clone(), reason_of(test)?)));
        let (tests, reasons): (Vec<DraftTest>, Vec<String>) = dropped.unzip();
        if tests.is_empty() {
            continue;
        }
        note_dropped(report, test_file, tests.iter().zip(&reasons));
        let ids = test_file.ids.clone();
        test_file.remove(&tests);
        test_file.write();
        let names: BTreeSet<&String> =
            test_file.draft.tests.iter().map(|test| &test.name).collect();
        let ids = ids.into_iter().filter(|(name, _)| names.contains(name));
        test_file.ids = ids.collect();
    }
    test_files.retain(|test_file| !test_file.draft.tests.is_empty());
}

/// The tests that fail alone or in reverse order, with the reason, and the traces of all.
async fn unstable_tests(
    test_files: &[PinnedFile],
    runner: &dyn CandidateRunner,
) -> Result<(BTreeMap<TestPlace, String>, Vec<Trace>), EffectError> {
    let (mut bad, mut all) = (BTreeMap::new(), Vec::new());
    for (index, test_file) in test_files.iter().enumerate() {
        let python = test_file.naming.framework.is_python();
        let reversed = (!python).then(|| test_file.reversed());
        let ids = test_file.ids.values().cloned().collect();
        let file = (&test_file.path, test_file.draft.text.as_str());
        let Isolation { unstable, traces } =
            check_isolation(runner, file, reversed, ids, &BTreeSet::new()).await?;
        all.extend(traces);
        let names = test_file.ids.iter();
        let reasons = names.filter_map(|(name, id)| Some((name.clone(), unstable.get(id)?)));
        bad.extend(reasons.map(|(name, reason)| ((index, name), reason.clone())));
    }
    Ok((bad, all))
}

/// How the tests of a file do alone and in another order.
#[derive(Debug, Default)]
pub struct Isolation {
    /// The tests whose result differs, with the reason.
    pub unstable: BTreeMap<TestId, String>,
    /// What each test ran alone, where that was recorded.
    pub traces: Vec<Trace>,
}

/// Runs the tests of a file alone and in reverse order. `reversed` is the reversed text; `None` if
/// the framework runs tests in the order of their ids.
pub async fn check_isolation(
    runner: &dyn CandidateRunner,
    (path, text): (&RepoPath, &str),
    reversed: Option<String>,
    mut ids: Vec<TestId>,
    expected_failures: &BTreeSet<TestId>,
) -> Result<Isolation, EffectError> {
    let with_text = |after: String| {
        let (file, before) = (path.clone(), Some(text.to_owned()));
        EditSet { files: vec![FileEdit { file, before, after: Some(after) }] }
    };
    let is_wrong =
        |id: &TestId, status: Status| (status == Status::Passed) == expected_failures.contains(id);
    if reversed.is_none() {
        ids.reverse();
    }
    let reordered = with_text(reversed.unwrap_or_else(|| text.to_owned()));
    let Isolation { mut unstable, mut traces } = Isolation::default();
    let limit = if runner.speed() == Speed::Warm { ALONE } else { ALONE_COMPILED };
    for result in runner.run(&reordered, &ids, limit, false).await? {
        if is_wrong(&result.test, result.status) {
            let reason = "it does not hold when the tests run in another order".to_owned();
            unstable.insert(result.test, reason);
        }
    }
    let differs_alone = "it does not hold when it runs alone";
    if !runner.selects_tests() {
        traces = runner.trace(&ids).await?;
        let wrong = traces.iter().filter(|trace| is_wrong(&trace.test, trace.status));
        unstable.extend(wrong.map(|trace| (trace.test.clone(), differs_alone.to_owned())));
        return Ok(Isolation { unstable, traces });
    }
    let alone = if runner.speed() == Speed::Warm { ids.len() } else { COLD_ALONE };
    let same = with_text(text.to_owned());
    for id in ids.iter().take(alone) {
        let results = runner.run(&same, std::slice::from_ref(id), limit, true).await?;
        if results.iter().any(|result| is_wrong(&result.test, result.status)) {
            unstable.insert(id.clone(), differs_alone.to_owned());
        }
    }
    if runner.speed() == Speed::Warm && unstable.is_empty() {
        traces = runner.trace(&ids).await?;
    }
    Ok(Isolation { unstable, traces })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;
    use crate::domain::framework::Framework;
    use crate::domain::test::Layer;
    use crate::effect::{CaseResult, RunError};
    use crate::repair::{ObservedFunction, ProjectLayout, locate_test_file};

    /// A pinned file with tests of these names.
    fn pinned(names: &[&str]) -> PinnedFile {
        let files = BTreeSet::new();
        let layout = ProjectLayout {
            framework: Framework::Pytest,
            directory: "",
            files: &files,
            modules: false,
        };
        let subject = RepoPath::parse("a.py").unwrap();
        let (path, naming) = locate_test_file(&layout, &subject, "", None).unwrap();
        let mut test_file = PinnedFile::new(path, subject, naming, Vec::new());
        let test = |name: &&str| DraftTest { name: (*name).into(), function: 0, case: 0 };
        test_file.draft.tests = names.iter().map(test).collect();
        test_file
    }

    #[test]
    fn a_test_that_passes_in_some_runs_only_is_flaky_however_it_began() {
        use Status::{Failed as F, Passed as P};
        let runs = [
            ("steady", [P, P, P]),
            ("late", [P, F, F]),
            ("early", [F, P, F]),
            ("wrong", [F, F, F]),
        ];
        let mut test_file = pinned(&runs.map(|(name, _)| name));
        let stem = test_file.path.file_name().trim_end_matches(".py").to_owned();
        let mut repeated = RepeatedRuns::default();
        for run in 0..RUNS {
            let case = |(name, results): &(&str, [Status; 3])| TestCase {
                kind: crate::domain::test::CaseKind::Test,
                id: TestId(format!("{stem}.{name}")),
                status: results[run],
                file: None,
                line: None,
                duration_ms: 1,
                layer: Layer::Unit,
                failure: None,
            };
            let cases: Vec<TestCase> = runs.iter().map(case).collect();
            repeated.record(0, &mut test_file, &cases);
        }
        let flaky: Vec<(&str, usize)> =
            repeated.flaky().map(|((_, name), count)| (name.as_str(), count)).collect();
        assert_eq!(flaky, [("early", 1), ("late", 1)]);
        let failed: Vec<&str> = repeated.failures.keys().map(|(_, name)| name.as_str()).collect();
        assert_eq!(failed, ["early", "late", "wrong"]);
    }

    /// A runner of whole files: `shared` passes there, and fails alone.
    struct WholeFiles;

    #[async_trait::async_trait]
    impl CandidateRunner for WholeFiles {
        fn speed(&self) -> Speed {
            Speed::Warm
        }

        fn selects_tests(&self) -> bool {
            false
        }

        async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
            let trace = |test: &TestId| Trace {
                test: test.clone(),
                status: if test.as_str() == "shared" { Status::Failed } else { Status::Passed },
                duration: Duration::ZERO,
                lines: crate::effect::Lines::new(),
                loaded: crate::effect::Lines::new(),
                failure: None,
            };
            Ok(tests.iter().map(trace).collect())
        }

        async fn run(
            &self,
            _: &EditSet,
            tests: &[TestId],
            _: Duration,
            _: bool,
        ) -> Result<Vec<CaseResult>, RunError> {
            let (status, failure) = (Status::Passed, None);
            let result = |test: &TestId| CaseResult {
                frames: Vec::new(),
                test: test.clone(),
                status,
                failure: failure.clone(),
                failing_behind: 0,
            };
            Ok(tests.iter().map(result).collect())
        }
    }

    #[test]
    fn a_runner_of_whole_files_shows_by_traces_what_each_test_does_alone() {
        let path = RepoPath::parse("a.test.js").unwrap();
        let ids = vec!["own".into(), "shared".into()];
        let expected = BTreeSet::new();
        let found = check_isolation(&WholeFiles, (&path, ""), None, ids, &expected);
        let found = futures::executor::block_on(found).unwrap();
        let unstable: Vec<(&str, &str)> =
            found.unstable.iter().map(|(test, why)| (test.as_str(), why.as_str())).collect();
        assert_eq!(unstable, [("shared", "it does not hold when it runs alone")]);
        assert_eq!(found.traces.len(), 2);
    }

    #[test]
    fn why_tests_are_dropped_stands_with_their_functions_before_why_calls_were() {
        let text = "def f(x):\n    return x\n\n\ndef g(x):\n    return x\n";
        let callables = crate::code::signature::callables(Language::Python, text);
        let mut test_file = pinned(&[]);
        let mut report = CharacterisationReport::default();
        for callable in callables {
            report.functions.push(CharacterisedFunction {
                dropped: vec![DropReason { reason: "no literal".into(), count: 5 }],
                ..CharacterisedFunction::without_tests(
                    test_file.subject.clone(),
                    &callable.name,
                    callable.start,
                    9,
                )
            });
            test_file.functions.push(ObservedFunction {
                callable,
                local: String::new(),
                cases: Vec::new(),
                tried: 9,
                dropped: Vec::new(),
                fruitless: Vec::new(),
                limits: BTreeSet::new(),
            });
        }
        let test = |name: &str| DraftTest { name: name.into(), function: 1, case: 0 };
        let (tests, why) = ([test("a"), test("b")], "it does not compile: no".to_owned());
        note_dropped(&mut report, &test_file, tests.iter().zip([&why, &why]));
        let reasons = |at: usize| {
            let all = report.functions[at].dropped.iter();
            all.map(|one| (one.reason.as_str(), one.count)).collect::<Vec<_>>()
        };
        assert_eq!(reasons(0), [("no literal", 5)]);
        assert_eq!(reasons(1), [(why.as_str(), 2), ("no literal", 5)]);
        assert_eq!(report.dropped, [DropReason { reason: why.clone(), count: 2 }]);
    }

    #[test]
    fn a_reason_that_comes_again_is_counted() {
        let mut report = CharacterisationReport::default();
        for (reason, count) in [("late", 1), ("flaky", 2), ("late", 3)] {
            note(&mut report, reason, count);
        }
        let dropped: Vec<(&str, u32)> =
            report.dropped.iter().map(|one| (one.reason.as_str(), one.count)).collect();
        assert_eq!(dropped, [("late", 4), ("flaky", 2)]);
    }
}
