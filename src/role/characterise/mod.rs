//! Writes characterisation tests for code without tests: records what functions do today, runs each
//! new test at once, and keeps those that hold and add something. Needs no model.

mod failing_functions;
mod mutation_probe;
mod observation;
mod test_file;
mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::domain::characterisation::{CharacterisationFile, CharacterisationReport};
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::proposal::EditSet;
use crate::effect::{EffectError, Effects, Lines, Observer};

pub use failing_functions::{entered, suspects};
pub use mutation_probe::{measure, rescore};
pub use test_file::whole_file;
pub use verify::{is_fatal, packages, unisolated};

use mutation_probe::{open_runner, select_cases};
use test_file::TestFile;

/// What a measurement has at least, however late it is: a score of a few mutants tells more than
/// none.
const LEAST: Duration = Duration::from_secs(15);

/// Attempts to write a file whose tests hold (specification.md 4.7).
const ATTEMPTS: usize = 3;

/// Code without tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub file: RepoPath,
    /// Functions of it, methods with or without their class; empty means all.
    pub functions: Vec<String>,
}

/// What tests are asked for.
#[derive(Clone, Debug)]
pub struct GenerateRequest<'a> {
    pub tree: &'a TreeId,
    pub gaps: &'a [Gap],
    /// Tests that pass on these sources, to measure what they reach; may be empty.
    pub before: &'a [TestId],
    /// Share of mutants that tests should notice, in percent.
    pub threshold: u32,
    pub jobs: usize,
    /// When it should be over, on the clock of the effects. What is not done by then is left out,
    /// and the report says so.
    pub until: Duration,
    /// Functions that are not called, with the reason.
    pub held: &'a BTreeMap<Place, String>,
    /// Lines where tests have missed something: functions that run them are searched further.
    pub missed: &'a Missed,
}

/// Lines by file where tests have missed something.
pub type Missed = BTreeMap<RepoPath, BTreeSet<u32>>;

/// A function: its file, and its name with its class before a dot.
pub type Place = (RepoPath, String);

/// Tests that hold.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The new files; empty when nothing was kept.
    pub edits: EditSet,
    pub tree: TreeId,
    /// What was found, kept and dropped, and why.
    pub report: CharacterisationReport,
    /// Lines of the files in the gaps that the new tests execute; empty where nothing tells.
    pub reached: Lines,
}

/// Writes characterisation tests of the functions in the gaps, and measures them.
///
/// Leaves the checkout with the kept files in place. Repeatable: the same sources give the same
/// tests, as far as time limits allow.
/// A function that cannot be called, and a test that does not hold, are in the report.
pub async fn generate(
    request: &GenerateRequest<'_>,
    observer: &dyn Observer,
    fx: &Effects<'_>,
) -> Result<Generated, EffectError> {
    let began = fx.clock.elapsed();
    let mut made = characterise(request, observer, fx).await?;
    if !made.edits.files.is_empty() {
        let subjects: Vec<RepoPath> = request.gaps.iter().map(|gap| gap.file.clone()).collect();
        made.reached = measure(&made.tree, &subjects, request, fx, &mut made.report).await?;
    }
    made.report.seconds = fx.clock.elapsed().saturating_sub(began).as_secs_f64();
    Ok(made)
}

/// When the calls and the choice between them end, so that there is time left to measure: after
/// three and five tenths of what is left.
fn stages(now: Duration, until: Duration) -> (Duration, Duration) {
    let left = until.saturating_sub(now);
    (now + left * 3 / 10, now + left / 2)
}

/// How long a measurement may take that should be over at `until`.
fn left(now: Duration, until: Duration) -> Duration {
    until.saturating_sub(now).max(LEAST)
}

/// Notes what a time limit left out.
fn unfinished(report: &mut CharacterisationReport, what: String) {
    if !report.unfinished.contains(&what) {
        report.unfinished.push(what);
    }
}

/// The same without measuring what the tests reach and notice.
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
    if !test_files.is_empty() {
        fx.step("running each call as a test of its own");
        verify::check_each_case(&mut test_files, request, fx, &mut report).await?;
        fx.step("choosing the calls that detect mutants");
        select_cases(&mut test_files, request, choice_ends, fx, &mut report).await?;
        fx.step("running the tests alone, in reverse order, and three times");
        verify::check_stability(&mut test_files, request, fx, &mut report).await?;
    }
    let edits = test_file::edits(&test_files);
    let tree = fx.worktree.graft(request.tree, &edits).await?;
    fx.worktree.checkout(&tree).await?;
    fill(&test_files, &mut report);
    Ok(Generated { edits, tree, report, reached: Lines::new() })
}

/// Counts what was kept.
fn fill(test_files: &[TestFile], report: &mut CharacterisationReport) {
    for test_file in test_files.iter().filter(|test_file| !test_file.ids.is_empty()) {
        let assertions = test_file.assertions();
        for (name, count) in &assertions {
            let of_file = report.functions.iter_mut().filter(|one| one.file == test_file.subject);
            for one in of_file.filter(|one| one.name == *name) {
                one.assertions = *count;
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
