//! Runs mutants against generated tests: to select the calls that detect most, and to measure the
//! mutation score of the tests that were kept.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::domain::characterisation_report::{CharacterisationReport, LineCounts};
use crate::domain::event::Event;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::mutation::Score;
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, EffectError, Effects, Lines, Observer, Speed, Trace,
};
use crate::repair::{self, Limits, Ranges, Scoring, Trial};

use super::call_probe::probe_mutants;
use super::test_file::{self, PinnedFile};
use super::{GenerateRequest, LEAST, Missed, left, unfinished};

/// Maximum number of mutants per measurement if tests run in a warm process.
const WARM_MUTANTS: u32 = 3_000;

/// Maximum number of mutants per measurement if each needs a cold start.
const COLD_MUTANTS: u32 = 40;

/// Maximum wall time for selecting calls, which is less important than measuring.
const CHOOSING: Duration = Duration::from_secs(90);

/// Maximum wall time for judging the tests of a provider one by one, and the fewest mutants that tell.
const JUDGING: Duration = Duration::from_secs(40);
const SEVERAL: u32 = 5;

fn limits(runner: &dyn CandidateRunner, time: Duration) -> Limits {
    let candidates = match runner.speed() {
        Speed::Warm => WARM_MUTANTS,
        Speed::Cold => COLD_MUTANTS,
    };
    Limits { candidates, time }
}

/// A judgement of `tests` on `files`, which may take the time that is left.
fn scoring<'a>(
    (tree, runner): (&'a TreeId, &'a dyn CandidateRunner),
    files: &'a [RepoPath],
    tests: &'a [TestId],
    request: &GenerateRequest<'_>,
    fx: &Effects<'a>,
) -> Scoring<'a> {
    let limits = limits(runner, left(fx.clock.elapsed(), request.until));
    let (worktree, clock) = (fx.worktree, fx.clock);
    Scoring {
        trial: Trial { worktree, tree, runner, clock, limits, jobs: request.jobs },
        files,
        within: None,
        tests,
        known: None,
        ran: None,
        threshold: request.threshold,
        all_tests: false,
        progress: &|_, _| {},
        ends_on_stop: false,
    }
}

/// Measures the mutation score of passing tests on the files that they test.
pub async fn rescore(
    request: &GenerateRequest<'_>,
    files: &[RepoPath],
    tests: &[TestId],
    fx: &Effects<'_>,
) -> Result<Score, EffectError> {
    fx.worktree.checkout(request.tree).await?;
    let runner = open_runner(request, fx).await?;
    let base = scoring((request.tree, runner.as_ref()), files, tests, request, fx);
    let ran = repair::suite_lines(&base.trial, fx.suite, files).await?;
    Ok(repair::score(&Scoring { ran: ran.as_ref(), ..base }).await?.score)
}

/// The tests of which none of several mutants of the code that they run makes an assertion fail.
pub async fn find_blind_tests(
    (tree, jobs): (&TreeId, usize),
    files: &[RepoPath],
    tests: &[TestId],
    fx: &Effects<'_>,
) -> Result<BTreeSet<TestId>, EffectError> {
    let (held, missed) = (BTreeMap::new(), Missed::new());
    let until = fx.clock.elapsed() + JUDGING;
    let request = GenerateRequest {
        tree,
        gaps: &[],
        description: "",
        before: &[],
        threshold: 0,
        jobs,
        until,
        held: &held,
        missed: &missed,
    };
    fx.worktree.checkout(tree).await?;
    let runner = open_runner(&request, fx).await?;
    let base = scoring((tree, runner.as_ref()), files, tests, &request, fx);
    let scored = repair::score(&Scoring { all_tests: true, ..base }).await?;
    let is_blind =
        |(test, count): &(&TestId, &u32)| **count >= SEVERAL && !scored.asserting.contains(*test);
    Ok(scored.ran_on.iter().filter(is_blind).map(|(test, _)| test.clone()).collect())
}

/// How many mutants a measurement left out for lack of time.
fn untried(score: &Score, runner: &dyn CandidateRunner) -> u32 {
    let most = score.covered.min(limits(runner, LEAST).candidates);
    most.saturating_sub(score.tried + score.unviable)
}

/// Opens a runner that tests mutants of the sources in the checkout.
pub async fn open_runner(
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
) -> Result<Box<dyn CandidateRunner>, EffectError> {
    let request =
        CandidateRunnerRequest { root: fx.worktree.root(), failing: &[], jobs: request.jobs };
    Ok(fx.suite.open_candidate_runner(&request).await?)
}

/// Keeps a minimal set of calls that covers the same lines and detects the same mutants as all.
pub async fn select_cases(
    test_files: &mut [PinnedFile],
    request: &GenerateRequest<'_>,
    observer: &dyn Observer,
    ends: Duration,
    fx: &Effects<'_>,
    report: &mut CharacterisationReport,
) -> Result<(), EffectError> {
    let (notices, left_out) =
        match noticed_by_calls(test_files, request, observer, ends, fx).await? {
            Some(found) => found,
            None => noticed_by_tests(test_files, request, ends, fx).await?,
        };
    if left_out > 0 {
        unfinished(report, format!("calls were chosen without {left_out} of the mutants"));
    }
    for test_file in test_files {
        test_file.keep_distinguishing(&notices);
        test_file.write();
    }
    Ok(())
}

/// The mutants that each test detects, and how many were not tried.
type Notices = (BTreeMap<TestId, BTreeSet<usize>>, usize);

/// What calls alone detect; `None` where calls cannot be made on mutants.
async fn noticed_by_calls(
    test_files: &[PinnedFile],
    request: &GenerateRequest<'_>,
    observer: &dyn Observer,
    ends: Duration,
    fx: &Effects<'_>,
) -> Result<Option<Notices>, EffectError> {
    let mut notices: BTreeMap<TestId, BTreeSet<usize>> = BTreeMap::new();
    let (mut before, mut left_out) = (0, 0);
    let files = u32::try_from(test_files.len()).unwrap_or(u32::MAX);
    for (done, test_file) in (0..).zip(test_files) {
        let time = ends.saturating_sub(fx.clock.elapsed()) / (files - done).max(1);
        let Some(found) = probe_mutants(test_file, request, time, observer, fx).await? else {
            return Ok(None);
        };
        for (test, mutants) in found.by_test {
            notices.entry(test).or_default().extend(mutants.iter().map(|one| before + one));
        }
        before += found.tried;
        left_out += found.left_out;
    }
    Ok(Some((notices, left_out)))
}

/// What tests detect when the test runner runs them on mutants.
async fn noticed_by_tests(
    test_files: &[PinnedFile],
    request: &GenerateRequest<'_>,
    ends: Duration,
    fx: &Effects<'_>,
) -> Result<Notices, EffectError> {
    let runner = open_runner(request, fx).await?;
    let files: Vec<RepoPath> =
        test_files.iter().map(|test_file| test_file.subject.clone()).collect();
    let draft = fx.worktree.graft(request.tree, &test_file::edits(test_files)).await?;
    let firsts: Vec<TestId> =
        test_files.iter().filter_map(|test_file| test_file.ids.values().next().cloned()).collect();
    let whole = runner.trace(&firsts).await?;
    let traces: Vec<Trace> =
        test_files.iter().flat_map(|test_file| test_file.traces(&whole)).collect();
    let mut notices: BTreeMap<TestId, BTreeSet<usize>> = BTreeMap::new();
    // Functions with missed lines have many calls. For all other lines a few calls are enough, and
    // running all would leave too little time for the missed lines.
    let few: BTreeSet<TestId> = test_files.iter().flat_map(PinnedFile::first_ids).collect();
    let (mut before, mut left_out) = (0, 0);
    let questions = questions(request.missed, &files, &traces, &few);
    let mut open = u32::try_from(questions.len()).unwrap_or(u32::MAX);
    for (within, tests) in questions {
        let time = ends.saturating_sub(fx.clock.elapsed()).min(CHOOSING * open) / open;
        open -= 1;
        let known: Vec<Trace> =
            traces.iter().filter(|trace| tests.contains(&trace.test)).cloned().collect();
        let base = scoring((&draft, runner.as_ref()), &files, &tests, request, fx);
        let scored = repair::score(&Scoring {
            trial: Trial { limits: limits(runner.as_ref(), time), ..base.trial },
            within: within.as_ref(),
            known: Some(&known),
            all_tests: true,
            progress: &progress(fx),
            ..base
        })
        .await?;
        let scored_mutants = scored.noticed_by.len();
        left_out += usize::try_from(untried(&scored.score, runner.as_ref())).unwrap_or_default();
        for (mutant, tests) in scored.noticed_by.into_iter().enumerate() {
            for test in tests {
                notices.entry(test).or_default().insert(before + mutant);
            }
        }
        before += scored_mutants;
    }
    Ok((notices, left_out))
}

/// Which tests to run against mutants of which lines: all tests for missed lines, `few` for the
/// others; all tests for all lines if none were missed.
fn questions(
    missed: &Missed,
    files: &[RepoPath],
    traces: &[Trace],
    few: &BTreeSet<TestId>,
) -> Vec<(Option<Ranges>, Vec<TestId>)> {
    let all: Vec<TestId> = traces.iter().map(|trace| trace.test.clone()).collect();
    if !files.iter().any(|file| missed.contains_key(file)) {
        return vec![(None, all)];
    }
    let (mut inside, mut outside) = (Ranges::new(), Ranges::new());
    for file in files {
        let lines: Vec<u32> = missed.get(file).into_iter().flatten().copied().collect();
        inside.insert(file.clone(), lines.iter().map(|line| (*line, *line)).collect());
        let starts = std::iter::once(1).chain(lines.iter().map(|line| line + 1));
        let ends = lines.iter().map(|line| line.saturating_sub(1)).chain([u32::MAX]);
        let between = starts.zip(ends).filter(|(start, end)| start <= end).collect();
        outside.insert(file.clone(), between);
    }
    let some = all.iter().filter(|test| few.contains(test)).cloned().collect();
    vec![(Some(inside), all), (Some(outside), some)]
}

fn progress<'a>(fx: &'a Effects<'_>) -> impl Fn(u64, u64) + Sync + 'a {
    |done, total| {
        let unit = "mutants".to_owned();
        fx.screen.show(&Event::Progress { done, total: Some(total), unit });
    }
}

/// The known traces of tests, and the tests that have none.
fn split_known(tests: &[TestId], known: &[Trace]) -> (Vec<Trace>, Vec<TestId>) {
    let of = |test: &TestId| known.iter().find(|trace| trace.test == *test);
    let traces = tests.iter().filter_map(of).cloned().collect();
    (traces, tests.iter().filter(|test| of(test).is_none()).cloned().collect())
}

/// Measures the mutation score of the kept tests on `files`, and records the coverage before and
/// after them in the report. `known` are traces of some of the tests. Returns the lines of the files
/// that the kept tests execute.
pub async fn measure(
    tree: &TreeId,
    files: &[RepoPath],
    known: &[Trace],
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
    report: &mut CharacterisationReport,
) -> Result<Lines, EffectError> {
    fx.step("running the tests against mutants");
    fx.worktree.checkout(tree).await?;
    let runner = open_runner(request, fx).await?;
    let tests = report.files.iter().flat_map(|file| &file.tests);
    let tests: Vec<TestId> = tests.cloned().collect();
    let (mut traces, untraced): (Vec<Trace>, Vec<TestId>) = split_known(&tests, known);
    traces.extend(if untraced.is_empty() { Vec::new() } else { runner.trace(&untraced).await? });
    let base = scoring((tree, runner.as_ref()), files, &tests, request, fx);
    let ran = repair::suite_lines(&base.trial, fx.suite, files).await?;
    let scored = repair::score(&Scoring {
        known: Some(&traces),
        ran: ran.as_ref(),
        progress: &progress(fx),
        ..base
    })
    .await?;
    let left_out = untried(&scored.score, runner.as_ref());
    // Tests of others may not be fit for the processes that ran these.
    let before =
        if request.before.is_empty() { Vec::new() } else { runner.trace(request.before).await? };
    let before: Vec<Trace> = before.into_iter().map(Trace::without_loading).collect();
    if left_out > 0 {
        let Score { tried, covered, .. } = scored.score;
        unfinished(report, format!("the score was measured with {tried} of {covered} mutants"));
    }
    let mut reached = Lines::new();
    for (file, lines) in scored.traces.iter().flat_map(|trace| &trace.lines) {
        if files.contains(file) {
            reached.entry(file.clone()).or_default().extend(lines);
        }
    }
    for lines in reached.values_mut() {
        lines.sort_unstable();
        lines.dedup();
    }
    let after: Vec<Trace> = before.iter().cloned().chain(scored.traces).collect();
    let reached_by = repair::reach(fx.worktree, tree, files, &[&before, &after]).await?;
    let coverage = |at: usize| {
        reached_by.get(at).map_or_else(LineCounts::default, |(covered, lines)| LineCounts {
            covered: *covered,
            lines: *lines,
        })
    };
    (report.before, report.after) = (coverage(0), coverage(1));
    report.score = Some(scored.score);
    Ok(reached)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::Status;

    fn trace(name: &str) -> Trace {
        Trace {
            test: name.into(),
            status: Status::Passed,
            duration: Duration::ZERO,
            lines: Lines::new(),
            loaded: Lines::new(),
            failure: None,
        }
    }

    #[test]
    fn what_was_traced_before_is_not_traced_again() {
        let known = [trace("a"), trace("gone")];
        let (traces, untraced) = split_known(&["a".into(), "b".into()], &known);
        let traced: Vec<&str> = traces.iter().map(|trace| trace.test.as_str()).collect();
        assert_eq!((traced, untraced), (vec!["a"], vec!["b".into()]));
    }

    #[test]
    fn many_calls_are_asked_about_missed_lines_and_few_about_the_others() {
        let file = RepoPath::parse("a.py").unwrap();
        let traces = [trace("first"), trace("aimed")];
        let few = BTreeSet::from([TestId::from("first")]);
        let files = [file.clone()];
        let asked = |missed: &Missed| questions(missed, &files, &traces, &few);
        let whole = asked(&Missed::new());
        assert_eq!(whole.len(), 1);
        assert!(whole[0].0.is_none() && whole[0].1.len() == 2);
        let table = [
            (vec![3, 4, 9], vec![(3, 3), (4, 4), (9, 9)], vec![(1, 2), (5, 8), (10, u32::MAX)]),
            (vec![1], vec![(1, 1)], vec![(2, u32::MAX)]),
        ];
        for (lines, inside, outside) in table {
            let missed = Missed::from([(file.clone(), lines.into_iter().collect())]);
            let two = asked(&missed);
            let ranges = |at: usize| two[at].0.as_ref().unwrap()[&file].clone();
            assert_eq!((ranges(0), ranges(1)), (inside, outside));
            assert_eq!((two[0].1.len(), two[1].1.len()), (2, 1));
        }
    }
}
