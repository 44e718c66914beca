//! [`Judge`]: runs the tests of a cluster, and those that passed, on an edit.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::stream::{self, StreamExt};

use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::EditSet;
use crate::domain::test::{Status, TestCase};
use crate::effect::{CaseResult, EffectError, RunError, Speed};
use crate::repair::edit_traits::fingerprint;
use crate::repair::localise::{Cluster, Diagnosis};
use crate::repair::search_settings::{RETRY_LIMIT_FACTOR, Search, time_limit};
use crate::repair::stream::{RankedEdit, single};
use crate::repair::test_progress::{is_advance, is_setback};

/// Maximum time that is allowed for a test because of how long it took to fail.
const FAILING: Duration = Duration::from_millis(25);

/// Time for a candidate besides that of its tests, if failing tests hang: it is short, because most
/// candidates then use all of it.
const HANGING: Duration = Duration::from_millis(120);

/// A failing test that took at least this long is considered hung.
const HUNG: Duration = Duration::from_secs(1);

/// A candidate may take this multiple of what the unchanged sources took shortly before.
const OF_CONTROL: u32 = 4;

/// Time limit of a run of the unchanged sources.
const CONTROL: Duration = Duration::from_secs(20);

/// What a plausible edit does.
pub(super) struct Repaired {
    /// The failing tests of the cluster that pass with it.
    pub(super) tests: Vec<TestId>,
    /// How many of the tests that it lets run fail.
    pub(super) failing_behind: usize,
    /// How many failing tests outside of the cluster pass with it; `None` if there are none.
    pub(super) beyond: Option<usize>,
}

/// Which of the tests that run on an edit have to pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MustPass {
    All,
    One,
    None,
}

/// Why a candidate is not plausible.
pub(super) enum Rejection {
    /// The edit repairs none of the cluster, or breaks a passing test.
    Refuted,
    /// The edit repairs none either, but a failing test gets further, and fails there.
    Advanced(CaseResult),
    /// It does not compile, for the reason that the compiler gives.
    NotBuilt(String),
    /// Only the time limit speaks against it.
    OutOfTime,
    Failed(EffectError),
}

/// Says what an edit repairs, or why it is not plausible.
pub(super) struct Judge<'a> {
    search: &'a Search<'a>,
    diagnosis: &'a Diagnosis,
    /// Whether a failing test hangs on the unchanged sources.
    pub(super) hangs: bool,
    /// The time that each test may be expected to take.
    times: BTreeMap<TestId, Duration>,
    /// What a run of one test of the unchanged sources took last, besides the test.
    pub(super) control: Duration,
}

/// What each test may be expected to take: the longer of its times in the suite and in the trace,
/// since tracing costs time, but a trace is ended before a slow test is.
fn expected_times(search: &Search<'_>, diagnosis: &Diagnosis) -> BTreeMap<TestId, Duration> {
    let in_suite = |case: &TestCase| (case.id.clone(), Duration::from_millis(case.duration_ms));
    let mut times: BTreeMap<TestId, Duration> = search.passing.iter().map(in_suite).collect();
    for trace in &diagnosis.traces {
        let time = match trace.status {
            // A failing test may have used all of its time limit; a repaired one has no reason to
            // take longer than when it passed in an earlier session.
            Status::Failed => {
                let passed = search.prior.slow.get(&trace.test).copied().unwrap_or_default();
                trace.duration.min(FAILING).max(Duration::from_millis(passed))
            }
            Status::Passed | Status::Skipped => trace.duration,
        };
        let known = times.entry(trace.test.clone()).or_default();
        *known = time.max(*known);
    }
    times
}

impl<'a> Judge<'a> {
    pub(super) fn new(search: &'a Search<'a>, diagnosis: &'a Diagnosis) -> Self {
        let failing: BTreeSet<&TestId> = search.failing.iter().map(|case| &case.id).collect();
        let mut traces = diagnosis.traces.iter();
        let hangs = traces.any(|trace| failing.contains(&trace.test) && trace.duration >= HUNG);
        let times = expected_times(search, diagnosis);
        Self { search, diagnosis, hangs, times, control: Duration::ZERO }
    }

    /// Whether a failing test gets further than on the unchanged sources.
    fn advances(&self, after: &CaseResult) -> bool {
        let before = self.search.failing.iter().find(|case| case.id == after.test);
        before.is_some_and(|before| {
            let file = before.file.as_ref();
            let text = file.and_then(|file| self.diagnosis.tests.get(file));
            is_advance(before, after, self.search.is_test, text.map_or("", String::as_str))
        })
    }

    /// Times one test on the unchanged sources, as the second of two runs, because the first may
    /// have to start a process. A cold start has a limit that is long enough for any machine.
    pub(super) async fn time_control(&mut self, cluster: &Cluster) -> Result<(), EffectError> {
        let trial = &self.search.trial;
        if self.hangs && !trial.runner.selects_tests() {
            // Those that hang would run beside it.
            return Ok(());
        }
        let traces = &self.diagnosis.traces;
        let usual = |test: &TestId| {
            let traced = traces.iter().filter(|trace| trace.test == *test);
            let traced = traced.map(|trace| trace.duration).max().unwrap_or_default();
            traced.max(self.times.get(test).copied().unwrap_or_default())
        };
        let passing = self.search.passing.iter().map(|case| &case.id);
        // Of tests that hang, a trace shows less than they take.
        let own = cluster.tests.iter().take(usize::from(!self.hangs));
        let mut tests = own.chain(passing);
        let test = tests.find(|test| usual(test) < HUNG);
        let file = cluster.lines.keys().find_map(|file| self.diagnosis.sources.get_key_value(file));
        let (Some(test), Some((file, text)), Speed::Warm) = (test, file, trial.runner.speed())
        else {
            return Ok(());
        };
        let same = single(file.clone(), text, text.clone());
        let mut shortest = CONTROL;
        for _ in 0..2 {
            let start = trial.clock.elapsed();
            match trial.runner.run(&same, std::slice::from_ref(test), CONTROL, true).await {
                Ok(_) => shortest = shortest.min(trial.clock.elapsed().saturating_sub(start)),
                // Candidates show whether the runner works.
                Err(RunError::Io { .. }) => return Ok(()),
                Err(error) => return Err(EffectError::Run(error)),
            }
        }
        self.control = shortest.saturating_sub(usual(test));
        Ok(())
    }

    /// Time for a candidate besides that of its tests.
    pub(super) fn current_grace(&self) -> Duration {
        self.least_grace().max(self.control * OF_CONTROL)
    }

    /// The same on a machine that has nothing else to do. The traced time already holds the cost of
    /// tracing, which makes it generous.
    fn least_grace(&self) -> Duration {
        if self.hangs { HANGING } else { Duration::from_millis(350) }
    }

    /// Judges an edit, and reduces one that repairs tests to what repairs them.
    async fn judge_whole(
        &self,
        ranked: RankedEdit,
        cluster: &Cluster,
        patience: u32,
    ) -> (RankedEdit, Result<Repaired, Rejection>) {
        if let Some(goal) = &ranked.goal
            && let Err(rejected) =
                self.run(&ranked.edits, std::slice::from_ref(goal), MustPass::All, patience).await
        {
            return (ranked, Err(rejected));
        }
        match self.judge(&ranked.edits, cluster, patience).await {
            Ok(repairs) => self.smallest(ranked, repairs, cluster).await,
            rejected => (ranked, rejected),
        }
    }

    /// Judges candidates side by side; the answers come in the order of the candidates.
    pub(super) async fn judge_all(
        &self,
        candidates: Vec<RankedEdit>,
        cluster: &Cluster,
        patience: u32,
    ) -> Vec<(RankedEdit, Result<Repaired, Rejection>)> {
        stream::iter(candidates)
            .map(|ranked| self.judge_whole(ranked, cluster, patience))
            .buffered(self.search.trial.concurrency())
            .collect()
            .await
    }

    /// The failing tests of a cluster that an edit repairs, with `patience` times the usual limits.
    async fn judge(
        &self,
        edits: &EditSet,
        cluster: &Cluster,
        patience: u32,
    ) -> Result<Repaired, Rejection> {
        let (samples, others) = self.samples_of(cluster);
        let mut results = self.run(edits, &samples, MustPass::One, patience).await?;
        results.extend(self.run(edits, &others, MustPass::None, patience).await?);
        results.retain(|one| one.status == Status::Passed);
        let failing_behind = results.iter().map(|one| one.failing_behind).sum();
        let repairs: Vec<TestId> = results.into_iter().map(|one| one.test).collect();
        if repairs.is_empty() {
            return Err(Rejection::Refuted);
        }
        let files: BTreeSet<RepoPath> = edits.files.iter().map(|edit| edit.file.clone()).collect();
        let (near, far) = self.diagnosis.reaching(&files, self.search.passing);
        for tests in [near, far] {
            self.run(edits, &tests, MustPass::All, patience).await?;
        }
        let unexpected =
            self.run(edits, self.search.unexpected_passes, MustPass::None, patience).await?;
        // A runner that calls such a test fine has seen it fail.
        if unexpected.iter().any(|one| one.status != Status::Failed) {
            return Err(Rejection::Refuted);
        }
        let beyond = self.judge_others(edits, cluster, &repairs).await?;
        Ok(Repaired { tests: repairs, failing_behind, beyond })
    }

    /// The tests of a cluster that every candidate runs, and the others. The first is the most specific one; where none
    /// hangs, another shows what repairs a part without it.
    fn samples_of(&self, cluster: &Cluster) -> (Vec<TestId>, Vec<TestId>) {
        let middle = if self.hangs { 0 } else { cluster.tests.len() / 2 };
        let tests = cluster.tests.iter().enumerate();
        let is_sample = |(index, _): &(usize, &TestId)| [0, middle].contains(index);
        let (samples, others): (Vec<_>, Vec<_>) = tests.partition(is_sample);
        let owned =
            |part: Vec<(usize, &TestId)>| part.into_iter().map(|(_, test)| test.clone()).collect();
        (owned(samples), owned(others))
    }

    /// How many failing tests outside of the cluster an edit repairs; `None` if there are none. One
    /// that gets less far than before refutes the edit, as when this deletes a name that the test
    /// needs. Nothing that only the time limit says counts.
    async fn judge_others(
        &self,
        edits: &EditSet,
        cluster: &Cluster,
        repairs: &[TestId],
    ) -> Result<Option<usize>, Rejection> {
        let others: BTreeMap<&TestId, &TestCase> = (self.search.failing.iter())
            .filter(|case| !repairs.contains(&case.id))
            .map(|case| (&case.id, case))
            .collect();
        let tests: Vec<TestId> = others.keys().copied().cloned().collect();
        let results = match self.run(edits, &tests, MustPass::None, RETRY_LIMIT_FACTOR).await {
            Ok(results) => results,
            Err(failed @ Rejection::Failed(_)) => return Err(failed),
            Err(_) => return Ok(None),
        };
        let before = |after: &CaseResult| others.get(&after.test).copied();
        if results.iter().any(|after| before(after).is_some_and(|case| is_setback(case, after))) {
            return Err(Rejection::Refuted);
        }
        let outside = || tests.iter().filter(|test| !cluster.tests.contains(test));
        let passes = |test: &&TestId| {
            results.iter().any(|one| one.test == **test && one.status == Status::Passed)
        };
        Ok((outside().count() > 0).then(|| outside().filter(passes).count()))
    }

    /// Of an edit in two parts, the part that repairs as much alone; the other is not needed. The
    /// parts were candidates themselves, so one that was disproved speaks against both.
    async fn smallest(
        &self,
        ranked: RankedEdit,
        repairs: Repaired,
        cluster: &Cluster,
    ) -> (RankedEdit, Result<Repaired, Rejection>) {
        let parts = ranked.parts.iter().filter(|_| ranked.parts.len() > 1);
        for part in parts.filter_map(|part| part.ranked(&self.diagnosis.sources, ranked.priority)) {
            match self.judge(&part.edits, cluster, RETRY_LIMIT_FACTOR).await {
                Ok(alone) if repairs.tests.iter().all(|test| alone.tests.contains(test)) => {
                    let is_disproved = self.search.disproved.contains(&fingerprint(&part.edits));
                    return (part, if is_disproved { Err(Rejection::Refuted) } else { Ok(alone) });
                }
                Err(failed @ Rejection::Failed(_)) => return (ranked, Err(failed)),
                Ok(_) | Err(_) => {}
            }
        }
        (ranked, Ok(repairs))
    }

    /// Runs tests on an edit, which is rejected unless those pass that must.
    pub(super) async fn run(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        must_pass: MustPass,
        patience: u32,
    ) -> Result<Vec<CaseResult>, Rejection> {
        if tests.is_empty() {
            return Ok(Vec::new());
        }
        let before: Duration = tests.iter().filter_map(|test| self.times.get(test)).sum();
        let limit = time_limit(before, tests.len(), self.current_grace()) * patience;
        let all = must_pass == MustPass::All;
        let mut answer = self.search.trial.run(edits, tests, limit, all).await;
        if let Ok((results, false)) = &answer
            && all
            && results.last().is_some_and(CaseResult::passes_against_mark)
        {
            // It passed before by failing as expected, and hides how the others end.
            answer = self.search.trial.run(edits, tests, limit, false).await;
        }
        let (results, is_late) = match answer {
            Ok(run) => run,
            // The later full run covers tests that the warm runner cannot load.
            Err(RunError::Io { .. }) if must_pass == MustPass::None => (Vec::new(), false),
            Err(error) => return Err(Rejection::Failed(error.into())),
        };
        let is_failed =
            |one: &CaseResult| one.status == Status::Failed && !one.passes_against_mark();
        let is_unsure = is_late && patience == 1;
        let is_enough = match must_pass {
            MustPass::All => results.len() == tests.len() && !results.iter().any(is_failed),
            MustPass::One => !is_unsure && results.iter().any(|one| one.status == Status::Passed),
            MustPass::None => !is_unsure,
        };
        let refused = results.iter().find(|one| one.is_not_built());
        let reason = refused.and_then(|one| one.failure.as_ref()).map(|(_, message)| message);
        if is_enough {
            Ok(results)
        } else if is_late {
            Err(Rejection::OutOfTime)
        } else if let Some(reason) = reason {
            Err(Rejection::NotBuilt(reason.clone()))
        } else if let Some(after) = results.iter().find(|after| self.advances(after)) {
            Err(Rejection::Advanced(after.clone()))
        } else {
            Err(Rejection::Refuted)
        }
    }
}
