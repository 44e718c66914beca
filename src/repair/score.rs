//! Mutation testing: introduces small defects, one at a time, on lines that tests reach, and counts
//! those that the tests detect.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::stream::{self, StreamExt};

use crate::code::language::Language;
use crate::code::mutate::{self, Candidate, Depth};
use crate::domain::coverage::Measured;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::mutation::{LineReach, Mutant, Preparation, Score};
use crate::domain::proposal::EditSet;
use crate::domain::test::Status;
use crate::effect::{
    CaseResult, EffectError, Lines, RunError, Speed, Suite, Trace, Worktree, end_before,
    unless_stopped,
};

use super::search_settings::{Trial, time_limit};
use super::stream::single;

/// Time limit of a mutant, in addition to the time that its tests took before.
const GRACE: Duration = Duration::from_millis(600);

/// Maximum time limit of one mutant.
const LONGEST: Duration = Duration::from_mins(2);

/// Number of passes over the mutants, and of files whose prepared process is kept between passes.
const PASSES: usize = 8;
const FILES_KEPT: usize = 6;

/// Maximum length of a displayed line of a mutant, in characters.
const SHOWN: usize = 160;

/// Line ranges, inclusive, per file.
pub type Ranges = BTreeMap<RepoPath, Vec<(u32, u32)>>;

/// The sources and tests that are scored.
pub struct Scoring<'a> {
    /// The tree that is broken; each candidate is a mutant.
    pub trial: Trial<'a>,
    pub files: &'a [RepoPath],
    /// The lines to mutate, by file; `None` for all lines.
    pub within: Option<&'a Ranges>,
    pub tests: &'a [TestId],
    /// Known traces of the tests; `None` runs each test to get its trace.
    pub known: Option<&'a [Trace]>,
    /// What ran in the whole suite, where that does not report which lines each test reaches.
    pub ran: Option<&'a Lines>,
    /// Percentage of the mutants that must be detected.
    pub threshold: u32,
    /// Whether the result is used to select tests: more mutants are tried, and each mutant runs all
    /// its tests instead of stopping at the first one that detects it.
    pub all_tests: bool,
    /// Receives how many mutants were tried so far, and how many there are.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
    /// Whether a request to stop ends the run with what it has. A session, which goes on later,
    /// must not keep such a score.
    pub ends_on_stop: bool,
}

impl Scoring<'_> {
    /// Performs a part of the run; `None` where a request to stop ends it.
    async fn unless_stopped<T>(&self, part: impl Future<Output = T>) -> Option<T> {
        if self.ends_on_stop {
            unless_stopped(self.trial.clock, part).await
        } else {
            Some(part.await)
        }
    }

    /// The traces of the tests; `Err` with the score of a run that ends before they are there. A session
    /// needs them, however long they take.
    async fn traces(&self, deadline: Duration) -> Result<Result<Vec<Trace>, RunError>, Score> {
        let Trial { runner, clock, .. } = &self.trial;
        let traces = async {
            match self.known {
                Some(known) => Ok(known.to_vec()),
                None => runner.trace(self.tests).await,
            }
        };
        if !self.ends_on_stop {
            return Ok(traces.await);
        }
        unless_stopped(*clock, end_before(*clock, deadline, traces))
            .await
            .ok_or_else(|| Score::of_stopped_run(self.threshold))?
            .ok_or_else(|| Score::of_cut_run(self.threshold, Preparation::Traces))
    }
}

/// A score, and which tests detected which mutants.
#[derive(Clone, Debug, Default)]
pub struct Scored {
    pub score: Score,
    /// For each mutant that was tried, the tests that detected it.
    pub noticed_by: Vec<Vec<TestId>>,
    /// On how many mutants each test ran.
    pub ran_on: BTreeMap<TestId, u32>,
    /// The tests that some mutant made fail otherwise than by an error that the language raises.
    pub asserting: BTreeSet<TestId>,
    pub traces: Vec<Trace>,
}

/// A mutant with the tests that try it.
struct Planned {
    shown: Mutant,
    edits: EditSet,
    tests: Vec<TestId>,
}

/// Measures the mutation score of tests.
///
/// Which mutants are tried depends on the sources and traces alone; a time limit may end the run
/// early, and the score then says how many were tried. So does a request to stop.
pub async fn score(scoring: &Scoring<'_>) -> Result<Scored, EffectError> {
    let trial = &scoring.trial;
    let start = trial.clock.elapsed();
    let traces = match scoring.traces(start + trial.limits.time).await {
        // What loading runs counts for none of them, whether that was traced here or is known.
        Ok(traces) => traces?.into_iter().map(Trace::without_loading).collect::<Vec<_>>(),
        Err(score) => return Ok(Scored { score, ..Scored::default() }),
    };
    let mut score = Score {
        schema_version: 1,
        threshold: scoring.threshold,
        reach: match scoring.ran {
            Some(_) => LineReach::Suite,
            None if traces.iter().any(|trace| !trace.lines.is_empty()) => LineReach::Known,
            None => LineReach::Unknown,
        },
        ..Score::default()
    };
    let widened = scoring.ran.map(|ran| add_suite_lines(&traces, ran));
    let mut usable: BTreeMap<&TestId, &Trace> = widened
        .as_ref()
        .unwrap_or(&traces)
        .iter()
        .filter(|trace| trace.status == Status::Passed)
        .map(|trace| (&trace.test, trace))
        .collect();
    let depth = if scoring.all_tests { Depth::CHOICE } else { Depth::SCORE };
    let mut planned = Vec::new();
    for file in scoring.files {
        let Some(bytes) = trial.worktree.read(trial.tree, file).await? else { continue };
        let (Some(language), Ok(text)) = (Language::of(file), String::from_utf8(bytes)) else {
            continue;
        };
        let unfit = unfit(scoring, file, &text, &usable, score.reach);
        let Some(unfit) = scoring.unless_stopped(unfit).await else { break };
        for test in unfit? {
            usable.remove(&test);
        }
        let ranges =
            scoring.within.map(|within| within.get(file).map(Vec::as_slice).unwrap_or_default());
        let accepts_line = |line: u32| {
            ranges.is_none_or(|ranges| {
                ranges.iter().any(|(start, end)| (*start..=*end).contains(&line))
            })
        };
        let mutants = mutate::mutants(language, &text, depth, &accepts_line);
        count_lines(&mut score, &mutants, file, &usable);
        for candidate in mutants {
            score.mutants += 1;
            if let Some(one) = plan(file, &text, &candidate, &usable, score.reach) {
                score.covered += 1;
                score.untried_lines.entry(file.clone()).or_default().insert(one.shown.line);
                planned.push(one);
            }
        }
    }
    score.tests = u32::try_from(usable.len()).unwrap_or(u32::MAX);
    score.left_out =
        scoring.tests.iter().filter(|test| !usable.contains_key(test)).cloned().collect();
    let files = scoring.files.len();
    let planned = spread(sample(planned, trial.limits.candidates), files);
    let is_typed = |one| matches!(one, Language::TypeScript | Language::Tsx);
    let typed = scoring.files.iter().filter_map(Language::of).any(is_typed);
    let Tried { noticed_by, ran_on, asserting } =
        try_mutants(scoring, planned, &usable, start + trial.limits.time, &mut score).await?;
    let place = |one: &Mutant| (one.file.clone(), one.line, one.operator.clone());
    score.survivors.sort_by_key(place);
    score.untried_lines.retain(|_, lines| !lines.is_empty());
    score.types_unchecked = typed && score.tried > 0 && score.unviable == 0;
    score.seconds = trial.clock.elapsed().saturating_sub(start).as_secs_f64();
    drop(usable);
    Ok(Scored { score, noticed_by, ran_on, asserting, traces })
}

/// The lines of scripts that the whole suite of a checkout runs, loading them included, for a runner that
/// does not know which lines each test reaches; `None` where that is known, or nothing is.
pub async fn suite_lines(
    trial: &Trial<'_>,
    suite: &dyn Suite,
    files: &[RepoPath],
) -> Result<Option<Lines>, EffectError> {
    let is_script = |file: &RepoPath| Language::of(file).is_some_and(Language::is_script);
    if trial.runner.speed() != Speed::Cold || !files.iter().any(is_script) {
        return Ok(None);
    }
    // A report may name another file of the same name, so it is read with all of them in view.
    let all = trial.worktree.files(trial.tree).await?.into_iter().collect();
    let Measured::Lines { files: measured, .. } = suite.coverage(trial.worktree.root(), &all).await
    else {
        return Ok(None);
    };
    let ran = measured.into_iter().filter(|(file, _)| files.contains(file)).map(|(file, known)| {
        let lines = known.lines.into_iter().filter(|(_, hits)| *hits > 0);
        (file, lines.map(|(line, _)| line).collect())
    });
    Ok(Some(ran.collect()))
}

/// Traces to which the lines are added that the suite runs and none of them names.
fn add_suite_lines(traces: &[Trace], ran: &Lines) -> Vec<Trace> {
    let mut widened = traces.to_vec();
    for (file, lines) in ran {
        let known: BTreeSet<u32> =
            traces.iter().filter_map(|one| one.lines.get(file)).flatten().copied().collect();
        let others: Vec<u32> = lines.iter().filter(|line| !known.contains(line)).copied().collect();
        for trace in &mut widened {
            let own = trace.lines.entry(file.clone()).or_default();
            own.extend(&others);
            own.sort_unstable();
        }
    }
    widened
}

/// Tests that reach a file but fail on its unchanged text in the candidate runner.
async fn unfit(
    scoring: &Scoring<'_>,
    file: &RepoPath,
    text: &str,
    usable: &BTreeMap<&TestId, &Trace>,
    reach: LineReach,
) -> Result<Vec<TestId>, EffectError> {
    // A cold runner has just passed all of them, with the same command.
    if scoring.trial.runner.speed() == Speed::Cold {
        return Ok(Vec::new());
    }
    let tests: Vec<TestId> = usable
        .values()
        .filter(|trace| reach == LineReach::Unknown || trace.lines.contains_key(file))
        .map(|trace| trace.test.clone())
        .collect();
    if tests.is_empty() {
        return Ok(Vec::new());
    }
    let edits = single(file.clone(), text, text.to_owned());
    let limit = limit(&tests, usable) * 2 + Duration::from_secs(5);
    match scoring.trial.runner.run(&edits, &tests, limit, false).await {
        Ok(results) => {
            let failed = results.into_iter().filter(|one| one.status != Status::Passed);
            Ok(failed.map(|one| one.test).collect())
        }
        // If the warm runner cannot load the tests of a file, they cannot score it.
        Err(RunError::Io { .. }) => Ok(tests),
        Err(error) => Err(error.into()),
    }
}

/// For each list of traces: the mutable lines that its tests reach, and all mutable lines.
pub async fn reach(
    worktree: &dyn Worktree,
    tree: &TreeId,
    files: &[RepoPath],
    lists: &[&[Trace]],
) -> Result<Vec<(u32, u32)>, EffectError> {
    let usable: Vec<BTreeMap<&TestId, &Trace>> = lists
        .iter()
        .map(|traces| traces.iter().map(|trace| (&trace.test, trace)).collect())
        .collect();
    let mut scores = vec![Score::default(); lists.len()];
    for file in files {
        let Some(bytes) = worktree.read(tree, file).await? else { continue };
        if let (Some(language), Ok(text)) = (Language::of(file), String::from_utf8(bytes)) {
            let mutants = mutate::mutants(language, &text, Depth::SCORE, &|_| true);
            for (score, usable) in scores.iter_mut().zip(&usable) {
                count_lines(score, &mutants, file, usable);
            }
        }
    }
    Ok(scores.into_iter().map(|score| (score.lines_covered, score.lines)).collect())
}

fn count_lines(
    score: &mut Score,
    mutants: &[Candidate],
    file: &RepoPath,
    usable: &BTreeMap<&TestId, &Trace>,
) {
    let lines: BTreeSet<u32> = mutants.iter().map(|one| one.line).collect();
    let reached: BTreeSet<u32> =
        usable.values().filter_map(|trace| trace.lines.get(file)).flatten().copied().collect();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    score.lines += number(lines.len());
    score.lines_covered += match score.reach {
        LineReach::Known | LineReach::Suite => number(lines.intersection(&reached).count()),
        LineReach::Unknown => number(lines.len()),
    };
}

/// A mutant with the tests that reach it, quickest first; `None` if no test does.
fn plan(
    file: &RepoPath,
    text: &str,
    candidate: &Candidate,
    usable: &BTreeMap<&TestId, &Trace>,
    reach: LineReach,
) -> Option<Planned> {
    let mut reaching: Vec<&Trace> = usable
        .values()
        .filter(|trace| {
            let lines = trace.lines.get(file);
            reach == LineReach::Unknown
                || lines.is_some_and(|lines| lines.binary_search(&candidate.line).is_ok())
        })
        .copied()
        .collect();
    if reaching.is_empty() {
        return None;
    }
    reaching.sort_by(|a, b| a.duration.cmp(&b.duration).then(a.test.cmp(&b.test)));
    let after = candidate.apply(text);
    let row = usize::try_from(candidate.line.saturating_sub(1)).unwrap_or_default();
    let shown = |text: &str| -> String {
        text.lines().nth(row).unwrap_or_default().trim().chars().take(SHOWN).collect()
    };
    Some(Planned {
        shown: Mutant {
            file: file.clone(),
            line: candidate.line,
            operator: candidate.operator.name().to_owned(),
            before: shown(text),
            after: shown(&after),
        },
        edits: single(file.clone(), text, after),
        tests: reaching.into_iter().map(|trace| trace.test.clone()).collect(),
    })
}

/// At most `limit` elements, spread evenly.
fn sample<T>(all: Vec<T>, limit: u32) -> Vec<T> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let count = all.len();
    if count <= limit {
        return all;
    }
    let selects = |index: usize| (index * limit) / count != ((index + 1) * limit) / count;
    all.into_iter().enumerate().filter(|(index, _)| selects(*index)).map(|(_, one)| one).collect()
}

/// Reorders elements into passes over all of them, so that a run that ends early has tried some of
/// every file. There are fewer passes with many files, because then the prepared process of a file
/// cannot be kept until the next pass.
fn spread<T>(all: Vec<T>, files: usize) -> Vec<T> {
    let passes = if files <= FILES_KEPT { PASSES } else { 2 };
    let mut dealt: Vec<Vec<T>> = (0..passes).map(|_| Vec::new()).collect();
    for (index, one) in all.into_iter().enumerate() {
        if let Some(pass) = dealt.get_mut(index % passes) {
            pass.push(one);
        }
    }
    dealt.into_iter().flatten().collect()
}

fn limit(tests: &[TestId], usable: &BTreeMap<&TestId, &Trace>) -> Duration {
    let before: Duration =
        tests.iter().filter_map(|test| usable.get(test)).map(|trace| trace.duration).sum();
    time_limit(before, tests.len(), GRACE).min(LONGEST)
}

/// What tests did on mutants, as in [`Scored`].
#[derive(Default)]
struct Tried {
    noticed_by: Vec<Vec<TestId>>,
    ran_on: BTreeMap<TestId, u32>,
    asserting: BTreeSet<TestId>,
}

/// Errors that Python and JavaScript raise by themselves, whatever a test asserts.
const LANGUAGE_ERRORS: &[&str] = &[
    "TypeError",
    "ValueError",
    "ZeroDivisionError",
    "NameError",
    "UnboundLocalError",
    "AttributeError",
    "KeyError",
    "IndexError",
    "RecursionError",
    "OverflowError",
    "ReferenceError",
    "RangeError",
    "SyntaxError",
];

/// Whether a test fails by an error that the language raises.
fn is_language_error(result: &CaseResult) -> bool {
    let class = result.failure.as_ref().map_or("", |(class, _)| class.as_str());
    LANGUAGE_ERRORS.contains(&class.rsplit('.').next().unwrap_or(class))
}

/// Tries the mutants, with as many in parallel as there are jobs.
async fn try_mutants(
    scoring: &Scoring<'_>,
    planned: Vec<Planned>,
    usable: &BTreeMap<&TestId, &Trace>,
    deadline: Duration,
    score: &mut Score,
) -> Result<Tried, EffectError> {
    let trial = &scoring.trial;
    let total = planned.len() as u64;
    let mut tried = Tried::default();
    let mut judged = stream::iter(planned)
        .map(|one| async move {
            if trial.clock.elapsed() >= deadline {
                return None;
            }
            let limit = limit(&one.tests, usable);
            let stop = !scoring.all_tests;
            let mut results = trial.run(&one.edits, &one.tests, limit, stop).await;
            let longer = trial.longer_limit(limit, LONGEST);
            if let (Ok((_, true)), Some(limit)) = (&results, longer) {
                results = trial.run(&one.edits, &one.tests, limit, stop).await;
            }
            Some((one, results))
        })
        .buffered(trial.concurrency());
    loop {
        let Some(next) = scoring.unless_stopped(judged.next()).await else {
            score.stopped = true;
            break;
        };
        let Some(one) = next else { break };
        let Some((one, results)) = one else { continue };
        if let Some(lines) = score.untried_lines.get_mut(&one.shown.file) {
            lines.remove(&one.shown.line);
        }
        let failed: Vec<CaseResult> =
            results?.0.into_iter().filter(|result| result.status == Status::Failed).collect();
        if failed.iter().any(CaseResult::is_not_built) {
            score.unviable += 1;
            (scoring.progress)(u64::from(score.tried + score.unviable), total);
            continue;
        }
        score.tried += 1;
        for test in &one.tests {
            *tried.ran_on.entry(test.clone()).or_default() += 1;
        }
        if failed.is_empty() {
            score.survivors.push(one.shown);
        } else {
            score.noticed += 1;
            score.hung += u32::from(failed.iter().all(|result| result.failure.is_none()));
        }
        let asserting = failed.iter().filter(|result| !is_language_error(result));
        tried.asserting.extend(asserting.map(|result| result.test.clone()));
        tried.noticed_by.push(failed.into_iter().map(|result| result.test).collect());
        (scoring.progress)(u64::from(score.tried + score.unviable), total);
    }
    Ok(tried)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_test_is_known_to_run_counts_for_each_of_them() {
        let file = RepoPath::parse("a.js").unwrap();
        let trace = |name: &str, lines: &[u32]| Trace {
            test: name.into(),
            status: Status::Passed,
            duration: Duration::ZERO,
            lines: BTreeMap::from([(file.clone(), lines.to_vec())]),
            loaded: Lines::new(),
            failure: None,
        };
        let ran = Lines::from([(file.clone(), vec![1, 2, 5, 7])]);
        let table: [[&[u32]; 4]; 3] = [
            [&[5], &[5, 7], &[1, 2, 5], &[1, 2, 5, 7]],
            [&[], &[], &[1, 2, 5, 7], &[1, 2, 5, 7]],
            [&[1, 2, 5], &[7], &[1, 2, 5], &[7]],
        ];
        for [one, other, expected, of_other] in table {
            let widened = add_suite_lines(&[trace("one", one), trace("other", other)], &ran);
            let lines: Vec<&[u32]> =
                widened.iter().map(|one| one.lines[&file].as_slice()).collect();
            assert_eq!(lines, [expected, of_other]);
        }
    }

    #[test]
    fn a_sample_is_even_and_as_large_as_it_may_be() {
        assert_eq!(sample((0..10).collect::<Vec<_>>(), 20).len(), 10);
        let some = sample((0..100).collect::<Vec<_>>(), 10);
        assert_eq!(some.len(), 10);
        assert!(some.windows(2).all(|pair| pair[1] - pair[0] == 10), "{some:?}");
        assert!(sample(vec![1], 0).is_empty());
    }

    #[test]
    fn a_run_that_is_cut_short_has_tried_some_of_everything() {
        let order = spread((0..100).collect::<Vec<u32>>(), 3);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<u32>>(), "none is lost");
        let begun: BTreeSet<u32> = order.iter().take(25).map(|one| one / 25).collect();
        assert_eq!(begun.len(), 4, "a quarter of the time reaches every quarter: {order:?}");
        let many = spread((0..100).collect::<Vec<u32>>(), 40);
        assert!(many.iter().take(50).all(|one| one % 2 == 0), "{many:?}");
    }

    #[test]
    fn only_tests_that_reach_a_line_are_asked_the_quickest_first() {
        let file = RepoPath::parse("a.py").unwrap();
        let text = "def f(a):\n    return a + 1\n";
        let trace = |name: &str, ms: u64, lines: &[u32]| Trace {
            test: name.into(),
            status: Status::Passed,
            duration: Duration::from_millis(ms),
            lines: [(file.clone(), lines.to_vec())].into(),
            loaded: Lines::new(),
            failure: None,
        };
        let traces = [trace("slow", 9, &[1, 2]), trace("quick", 1, &[2]), trace("away", 1, &[1])];
        let usable: BTreeMap<&TestId, &Trace> =
            traces.iter().map(|trace| (&trace.test, trace)).collect();
        let candidate =
            mutate::mutants(Language::Python, text, Depth::SCORE, &|line| line == 2).remove(0);
        let planned = plan(&file, text, &candidate, &usable, LineReach::Known).unwrap();
        let names: Vec<&str> = planned.tests.iter().map(TestId::as_str).collect();
        assert_eq!(names, ["quick", "slow"]);
        assert_eq!(planned.shown.before, "return a + 1");
        assert_ne!(planned.shown.after, planned.shown.before);
        let unknown = plan(&file, text, &candidate, &usable, LineReach::Unknown).unwrap();
        assert_eq!(unknown.tests.len(), 3);
        let one = [trace("away", 1, &[1])];
        let usable = one.iter().map(|trace| (&trace.test, trace)).collect();
        assert!(plan(&file, text, &candidate, &usable, LineReach::Known).is_none());
    }
}
