//! Writes characterisation tests, which record the present behaviour of untested functions. Keeps
//! the tests that are stable and add coverage. Needs no model.

mod boundary_values;
mod call_probe;
mod called_names;
mod compiler_errors;
mod contradicted_tests;
mod contradiction;
mod decisive_calls;
mod functions_of_failing_tests;
mod imported_names;
mod mutation_probe;
mod observation;
mod route_hosts;
mod run;
mod test_file;
mod type_sources;
mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::domain::characterisation_report::{CharacterisationFile, CharacterisationReport};
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::integration::exploration::BoundaryCall;
use crate::domain::proposal::EditSet;
use crate::effect::{Call, CallOutcome, EffectError, Effects, Lines, Observer, Trace};

pub use decisive_calls::{find_indifferent, severed_texts};
pub use functions_of_failing_tests::{entered, suspects};
pub use mutation_probe::{find_blind_tests, measure, rescore};
pub use run::{is_fatal, python_packages};
pub use test_file::whole_file;
pub use verify::{RUNS, SEEDS, check_isolation, unsteady};

use contradicted_tests::keep_contradicted;
use mutation_probe::{open_runner, select_cases};
use test_file::PinnedFile;

/// Minimum time for a measurement, even after the deadline: a score of a few mutants is better than
/// none.
const LEAST: Duration = Duration::from_secs(15);

/// Maximum number of attempts to write a file of stable tests (specification.md 4.7).
const ATTEMPTS: usize = 3;

/// A file with functions that lack tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub file: RepoPath,
    /// The untested functions, methods with or without their class; empty means all of the file.
    pub functions: Vec<String>,
    /// Where its tests are planned; otherwise they go where the project keeps its tests.
    pub test_file: Option<RepoPath>,
    /// The boundary that each test must cross; `None` for tests of the file alone.
    pub crossing: Option<Crossing>,
}

/// A boundary between two files, as a measure of tests: they run both sides of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The calls of the calling file that reach the other one.
    pub calls: Vec<BoundaryCall>,
    /// The file that is called.
    pub to: RepoPath,
    /// Calls that tests of other boundaries make; any others come before them.
    pub taken: Vec<Call>,
    /// Where tests of documented results go that the code contradicts; otherwise they are findings alone.
    pub documented: Option<RepoPath>,
    /// Code of other files that documentation contradicts: no test holds what it does.
    pub avoided: Vec<(RepoPath, RangeInclusive<u32>)>,
}

impl Crossing {
    /// Whether a run executed code that no test should hold.
    #[must_use]
    pub fn runs_avoided(&self, trace: Trace) -> bool {
        let trace = trace.without_loading();
        self.avoided.iter().any(|(file, range)| {
            trace.lines.get(file).is_some_and(|lines| lines.iter().any(|one| range.contains(one)))
        })
    }

    /// Whether a run executed both sides, as far as it recorded the called one.
    #[must_use]
    pub fn is_in(&self, from: &RepoPath, trace: &Trace) -> bool {
        let calls = trace.lines.get(from).is_some_and(|lines| self.runs_call(lines));
        calls && trace.lines.get(&self.to).is_some_and(|lines| !lines.is_empty())
    }

    /// Whether one of these lines of the calling file calls the other one.
    #[must_use]
    pub fn runs_call(&self, lines: &[u32]) -> bool {
        self.calls.iter().any(|call| lines.contains(&call.line))
    }
}

/// For which functions to generate tests, and within which limits.
#[derive(Clone, Debug)]
pub struct GenerateRequest<'a> {
    pub tree: &'a TreeId,
    pub gaps: &'a [Gap],
    /// The words of the request, whose examples count as documentation; may be empty.
    pub description: &'a str,
    /// Existing tests that pass on these sources, as the baseline of the measurement; may be empty.
    pub before: &'a [TestId],
    /// The percentage of mutants that the tests should detect.
    pub threshold: u32,
    pub jobs: usize,
    /// The deadline, on the clock of the effects. Work that is not finished by then is left out and
    /// listed in the report.
    pub until: Duration,
    /// Functions that must not be called, with the reason.
    pub held: &'a BTreeMap<Place, String>,
    /// Lines with surviving mutants or without coverage: functions that run them get more calls.
    pub missed: &'a Missed,
}

/// Lines with surviving mutants or without coverage, by file.
pub type Missed = BTreeMap<RepoPath, BTreeSet<u32>>;

/// A function, given by its file and its qualified name, such as `Class.method`.
pub type Place = (RepoPath, String);

/// The generated tests that are stable.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The new files; empty if no test was kept.
    pub edits: EditSet,
    pub tree: TreeId,
    /// What was called, kept and dropped, with reasons.
    pub report: CharacterisationReport,
    /// The lines of the target files that the new tests execute; empty if they cannot be traced.
    pub reached: Lines,
    /// What each test ran alone, as far as known.
    pub traces: Vec<Trace>,
    /// The calls that the tests make.
    pub calls: Vec<Call>,
    /// Whether all of these calls end with an error.
    pub are_all_errors: bool,
}

/// Writes characterisation tests for the functions in the gaps and measures their mutation score.
///
/// The kept files remain in the checkout. The same sources give the same tests, as far as time
/// limits permit. Functions that cannot be called and unstable tests are listed in the report.
pub async fn generate(
    request: &GenerateRequest<'_>,
    observer: &dyn Observer,
    fx: &Effects<'_>,
) -> Result<Generated, EffectError> {
    let began = fx.clock.elapsed();
    let mut made = characterise(request, observer, fx).await?;
    if !made.edits.files.is_empty() {
        let subjects: Vec<RepoPath> = request.gaps.iter().map(|gap| gap.file.clone()).collect();
        made.reached =
            measure(&made.tree, &subjects, &made.traces, request, fx, &mut made.report).await?;
    }
    made.report.seconds = fx.clock.elapsed().saturating_sub(began).as_secs_f64();
    Ok(made)
}

/// The deadlines for calling functions and for selecting calls, after 30% and 50% of the remaining
/// time. The rest is for measuring.
fn stages(now: Duration, until: Duration) -> (Duration, Duration) {
    let left = until.saturating_sub(now);
    (now + left * 3 / 10, now + left / 2)
}

/// How long a measurement may take if it should end at `until`.
fn left(now: Duration, until: Duration) -> Duration {
    until.saturating_sub(now).max(LEAST)
}

/// Records in the report what was left out for lack of time.
fn unfinished(report: &mut CharacterisationReport, what: String) {
    if !report.unfinished.contains(&what) {
        report.unfinished.push(what);
    }
}

/// Writes characterisation tests as [`generate`] does, but without measuring them.
pub async fn characterise(
    request: &GenerateRequest<'_>,
    observer: &dyn Observer,
    fx: &Effects<'_>,
) -> Result<Generated, EffectError> {
    fx.worktree.checkout(request.tree).await?;
    let (calls_end, choice_ends) = stages(fx.clock.elapsed(), request.until);
    let mut report = CharacterisationReport {
        schema_version: 1,
        framework: fx.suite.facts().framework.to_string(),
        ..CharacterisationReport::default()
    };
    fx.step("calling functions to record what they do");
    let mut test_files =
        observation::observe(request, observer, calls_end, fx, &mut report).await?;
    let mut traces = Vec::new();
    let mut contradicted = Vec::new();
    if !test_files.is_empty() {
        fx.step("running each call as a test of its own");
        contradicted = verify::check_each_case(&mut test_files, request, fx, &mut report).await?;
        let (ends, files) = (choice_ends, &mut test_files);
        decisive_calls::drop_indifferent(files, request, observer, ends, fx, &mut report).await?;
        fx.step("choosing the calls that detect mutants");
        select_cases(&mut test_files, request, observer, choice_ends, fx, &mut report).await?;
        fx.step("running the tests alone, in reverse order, and three times");
        traces = verify::check_stability(&mut test_files, request, fx, &mut report).await?;
        verify::drop_one_sided(&mut test_files, request, &traces, &mut report);
    }
    let mut edits = test_file::edits(&test_files);
    edits.files.extend(keep_contradicted(contradicted, request, fx, &mut report).await?);
    let tree = fx.worktree.graft(request.tree, &edits).await?;
    fx.worktree.checkout(&tree).await?;
    fill(&test_files, &mut report);
    // Where a run does not tell lines by test, the calls have shown them.
    if traces.iter().all(|trace| trace.lines.is_empty()) {
        traces = test_files.iter().flat_map(|test_file| test_file.traces(&[])).collect();
    }
    let calls = test_files.iter().flat_map(PinnedFile::passing_calls);
    let calls = calls.map(|(_, call)| call).collect();
    let are_all_errors = !test_files.is_empty() && test_files.iter().all(has_only_errors);
    Ok(Generated { edits, tree, report, reached: Lines::new(), traces, calls, are_all_errors })
}

/// Whether all tests of a file expect an error.
fn has_only_errors(test_file: &PinnedFile) -> bool {
    let tests = test_file.draft.tests.iter();
    let mut cases = tests.map(|test| test_file.find_case((test.function, test.case)));
    cases.all(|case| {
        case.is_some_and(|one| matches!(one.expected_outcome(), CallOutcome::Raised { .. }))
    })
}

/// Enters the numbers of kept tests in the report.
fn fill(test_files: &[PinnedFile], report: &mut CharacterisationReport) {
    for test_file in test_files.iter().filter(|test_file| !test_file.draft.tests.is_empty()) {
        let assertions = test_file.assertions();
        for (name, count) in &assertions {
            let of_file = report.functions.iter_mut().filter(|one| one.file == test_file.subject);
            for one in of_file.filter(|one| one.name == *name) {
                one.assertions = *count;
                one.documented = test_file.documented_calls(name);
                one.results = test_file.shown_results(name);
                one.takes_empty = test_file.takes_empty(name);
            }
        }
        report.files.push(CharacterisationFile {
            file: test_file.path.clone(),
            subject: test_file.subject.clone(),
            tests: test_file.ids.values().cloned().collect(),
            assertions: assertions.values().sum(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_has_its_part_of_the_time_and_a_measurement_always_some() {
        let s = Duration::from_secs;
        let table = [
            (s(0), s(100), (s(30), s(50)), s(100)),
            (s(60), s(100), (s(72), s(80)), s(40)),
            (s(100), s(100), (s(100), s(100)), LEAST),
            (s(120), s(100), (s(120), s(120)), LEAST),
        ];
        for (now, until, expected, measured) in table {
            assert_eq!(stages(now, until), expected, "{now:?} {until:?}");
            assert_eq!(left(now, until), measured, "{now:?} {until:?}");
        }
    }
}
