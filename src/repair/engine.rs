//! The search: which candidates are tried, in which order, and which one is proposed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::stream::{self, StreamExt};

use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::proposal::{EditSet, Proposal};
use crate::domain::strategy::Strategy;
use crate::domain::test::{Status, TestCase};
use crate::effect::{EffectError, GitError, RunError, Worktree};

use super::choose::{fingerprint, literals, suspicion};
use super::localise::{Cluster, Diagnosis};
use super::search::{Search, time_limit};
use super::stream::{Bias, Ranked, Stream, pair};

/// Candidates that are tried after one that repairs some tests or looks suspicious.
const LOOK_FURTHER: u32 = 800;

/// Time that a failing test is given credit for at most.
const FAILING: Duration = Duration::from_millis(50);

/// What a candidate is given besides the time of its tests when failing tests hang: then most
/// candidates use all of it.
const HANGING: Duration = Duration::from_millis(120);

/// A failing test that took this long hung.
const HUNG: Duration = Duration::from_secs(1);

/// Singles that are combined into pairs when no single edit is enough.
const PAIRED: usize = 120;

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub proposal: Option<Proposal>,
    pub tried: u32,
    /// Whether nothing is left to try under this strategy.
    pub exhausted: bool,
    pub operators: Vec<String>,
}

/// An edit that repairs tests and breaks none that were tried.
struct Plausible {
    ranked: Ranked,
    repairs: Vec<TestId>,
    suspicion: Option<String>,
}

/// Searches an edit for the failing tests of a diagnosis.
///
/// The answer depends on the sources and results alone, not on timing, unless the time limit
/// ends the search.
pub async fn search(search: &Search<'_>, diagnosis: &Diagnosis) -> Result<Found, EffectError> {
    let deadline = search.clock.elapsed() + search.limits.time;
    let literals = test_literals(search.worktree, search.tree, &mut search.failing.iter()).await?;
    let hangs = diagnosis
        .traces
        .iter()
        .any(|trace| trace.status == Status::Failed && trace.duration >= HUNG);
    let mut hunt = Hunt { search, diagnosis, deadline, tried: 0, literals, hangs };
    let mut chosen: Vec<Plausible> = Vec::new();
    let batch = search.strategy == Strategy::Aggressive;
    let wide = search.strategy == Strategy::Reflective;
    // Single edits for every cluster come before pairs for any.
    let mut passes = Vec::new();
    if !search.singles_done {
        passes.push(Edits::Single);
    }
    if wide {
        passes.push(Edits::Pairs);
    }
    for edits in passes {
        for (index, cluster) in diagnosis.clusters.iter().enumerate() {
            if hunt.is_over() || cluster.lines.is_empty() {
                continue;
            }
            let left = u32::try_from(diagnosis.clusters.len() - index).unwrap_or(1);
            let share = search.limits.candidates.saturating_sub(hunt.tried) / left.clamp(1, 3);
            let mut plausible = hunt.cluster(cluster, share, edits).await?;
            // Half a repair that looks made for the tests is worse than none.
            plausible
                .retain(|one| one.suspicion.is_none() || one.repairs.len() >= cluster.tests.len());
            if plausible.is_empty() {
                continue;
            }
            chosen.push(plausible.swap_remove(best(&plausible, cluster.tests.len())));
            if !batch {
                break;
            }
        }
        if !chosen.is_empty() {
            break;
        }
    }
    let tried = hunt.tried;
    let operators = chosen
        .iter()
        .flat_map(|plausible| &plausible.ranked.operators)
        .map(|operator| operator.name().to_owned())
        .collect();
    let proposal = merge(chosen, tried);
    Ok(Found {
        // The same search on the same sources would end the same way.
        exhausted: proposal.is_none(),
        proposal,
        tried,
        operators,
    })
}

/// Literals that stand in the files of failing tests.
pub async fn test_literals(
    worktree: &dyn Worktree,
    tree: &TreeId,
    failing: &mut (dyn Iterator<Item = &TestCase> + Send),
) -> Result<BTreeSet<String>, GitError> {
    let mut found = BTreeSet::new();
    let files: BTreeSet<&RepoPath> = failing.filter_map(|case| case.file.as_ref()).collect();
    for file in files {
        if let Some(bytes) = worktree.read(tree, file).await? {
            found.extend(literals(&String::from_utf8_lossy(&bytes)));
        }
    }
    Ok(found)
}

/// The index of the edit to propose: repairs most, is least suspicious, ranks highest.
fn best(plausible: &[Plausible], expected: usize) -> usize {
    let key = |one: &Plausible| {
        let whole = one.repairs.len() >= expected;
        (whole, one.suspicion.is_none(), one.repairs.len().min(expected))
    };
    let better = |(_, a): &(usize, &Plausible), (_, b): &(usize, &Plausible)| {
        key(a).cmp(&key(b)).then(a.ranked.priority.total_cmp(&b.ranked.priority))
    };
    // The last of equals wins, so the first is put there.
    plausible.iter().enumerate().rev().max_by(better).map_or(0, |(index, _)| index)
}

/// One proposal out of the edits of several clusters; a file that two of them edit is taken from
/// the first only, because both started from the same text.
fn merge(chosen: Vec<Plausible>, tried: u32) -> Option<Proposal> {
    let mut edits = EditSet::default();
    let (mut summaries, mut repairs, mut suspicion) = (Vec::new(), Vec::new(), None);
    for plausible in chosen {
        let files = &plausible.ranked.edits.files;
        if files.iter().any(|edit| edits.files.iter().any(|known| known.file == edit.file)) {
            continue;
        }
        edits.files.extend(files.iter().cloned());
        summaries.push(plausible.ranked.summary);
        repairs.extend(plausible.repairs);
        suspicion = suspicion.or(plausible.suspicion);
    }
    if edits.files.is_empty() {
        return None;
    }
    edits.files.sort_by(|a, b| a.file.cmp(&b.file));
    repairs.sort();
    repairs.dedup();
    Some(Proposal {
        author: "embedded".into(),
        edits,
        summary: summaries.join("; "),
        confidence: if suspicion.is_some() { 0.4 } else { 0.7 },
        repairs,
        tried,
        suspicion,
        // The search changes product code only.
        edits_tests: false,
    })
}

/// Which candidates a pass tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edits {
    /// One edit.
    Single,
    /// Two edits of one file.
    Pairs,
}

struct Hunt<'a> {
    search: &'a Search<'a>,
    diagnosis: &'a Diagnosis,
    deadline: Duration,
    tried: u32,
    literals: BTreeSet<String>,
    hangs: bool,
}

impl Hunt<'_> {
    fn is_over(&self) -> bool {
        self.tried >= self.search.limits.candidates || self.search.clock.elapsed() >= self.deadline
    }

    /// Plausible edits for one cluster, in the order in which they were found.
    async fn cluster(
        &mut self,
        cluster: &Cluster,
        share: u32,
        edits: Edits,
    ) -> Result<Vec<Plausible>, EffectError> {
        let bias = Bias {
            patterns: self.search.patterns,
            surgical: self.search.strategy == Strategy::Surgical,
        };
        let sources = &self.diagnosis.sources;
        let stream = Stream::new(cluster, sources, self.search.base_diff, &bias);
        let budget = self.tried.saturating_add(share.max(1));
        let mut plausible = Vec::new();
        match edits {
            Edits::Single => self.try_all(stream, cluster, budget, &mut plausible).await?,
            Edits::Pairs => {
                let singles: Vec<_> =
                    stream.filter_map(|ranked| ranked.single).take(PAIRED).collect();
                let mut pairs: Vec<Ranked> = Vec::new();
                for (index, (file, first)) in singles.iter().enumerate() {
                    for (other, second) in singles.iter().skip(index + 1) {
                        if let (true, Some(source)) = (file == other, sources.get(file)) {
                            pairs.extend(pair(source, file, first, second));
                        }
                    }
                }
                pairs.sort_by(|a, b| b.priority.total_cmp(&a.priority));
                let budget = self.tried.saturating_add((share / 3).max(1));
                self.try_all(pairs.into_iter(), cluster, budget, &mut plausible).await?;
            }
        }
        Ok(plausible)
    }

    /// Tries candidates in waves of `jobs`; a wave is judged as a whole, so that the choice does
    /// not depend on which process was quicker.
    async fn try_all(
        &mut self,
        candidates: impl Iterator<Item = Ranked>,
        cluster: &Cluster,
        budget: u32,
        plausible: &mut Vec<Plausible>,
    ) -> Result<(), EffectError> {
        let mut candidates = candidates
            .filter(|ranked| !self.search.disproved.contains(&fingerprint(&ranked.edits)));
        let jobs = self.search.trial.concurrency(self.search.jobs);
        let mut stop_at = budget;
        let mut tried = self.tried;
        while tried < stop_at
            && tried < self.search.limits.candidates
            && self.search.clock.elapsed() < self.deadline
        {
            let wave: Vec<Ranked> = candidates.by_ref().take(jobs).collect();
            if wave.is_empty() {
                break;
            }
            tried += u32::try_from(wave.len()).unwrap_or(u32::MAX);
            let this = &*self;
            let judged: Vec<_> = stream::iter(wave)
                .map(|ranked| async move {
                    let repairs = this.judge(&ranked, cluster).await;
                    (ranked, repairs)
                })
                .buffered(jobs)
                .collect()
                .await;
            for (ranked, repairs) in judged {
                let Some(repairs) = repairs? else { continue };
                let suspicion = suspicion(&ranked.edits, &ranked.operators, &this.literals);
                let whole = repairs.len() >= cluster.tests.len();
                // The stream is ordered, so nothing that comes later ranks higher than a whole and
                // unsuspicious repair; behind a lesser one something better may come, but not for
                // the price of the whole budget.
                let wait = if whole && suspicion.is_none() { 0 } else { LOOK_FURTHER };
                stop_at = stop_at.min(tried.saturating_add(wait));
                plausible.push(Plausible { ranked, repairs, suspicion });
            }
            (self.search.progress)(u64::from(tried));
        }
        drop(candidates);
        self.tried = tried;
        Ok(())
    }

    /// The failing tests that a candidate repairs; `None` when it repairs none of the cluster, or
    /// breaks a passing test.
    async fn judge(
        &self,
        ranked: &Ranked,
        cluster: &Cluster,
    ) -> Result<Option<Vec<TestId>>, EffectError> {
        let edits = &ranked.edits;
        let (Some(first), rest) =
            (cluster.tests.get(..1), cluster.tests.get(1..).unwrap_or_default())
        else {
            return Ok(None);
        };
        if !self.all_pass(edits, first).await? {
            return Ok(None);
        }
        let mut repairs = first.to_vec();
        let results = self.run(edits, rest, false).await?.into_iter();
        repairs.extend(results.filter(|case| case.1 == Status::Passed).map(|case| case.0));
        let files: BTreeSet<RepoPath> = edits.files.iter().map(|edit| edit.file.clone()).collect();
        let (near, far) = self.diagnosis.reaching(&files, self.search.passing);
        if !self.all_pass(edits, &near).await? || !self.all_pass(edits, &far).await? {
            return Ok(None);
        }
        Ok(Some(repairs))
    }

    async fn all_pass(&self, edits: &EditSet, tests: &[TestId]) -> Result<bool, EffectError> {
        let results = self.run(edits, tests, true).await?;
        Ok(results.len() == tests.len()
            && results.iter().all(|(_, status)| *status != Status::Failed))
    }

    async fn run(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        stop_at_failure: bool,
    ) -> Result<Vec<(TestId, Status)>, EffectError> {
        if tests.is_empty() {
            return Ok(Vec::new());
        }
        // A failing test may have run into its limit; a repaired one has no reason to.
        let known: BTreeMap<&TestId, Duration> = self
            .diagnosis
            .traces
            .iter()
            .map(|trace| match trace.status {
                Status::Failed => (&trace.test, trace.duration.min(FAILING)),
                Status::Passed | Status::Skipped => (&trace.test, trace.duration),
            })
            .collect();
        let before: Duration = tests.iter().filter_map(|test| known.get(test)).sum();
        // The traced time already holds the cost of tracing, which makes it generous.
        let base = if self.hangs { HANGING } else { Duration::from_millis(350) };
        let limit = time_limit(before, tests.len(), base);
        match self.search.trial.run(edits, tests, limit, stop_at_failure).await {
            Ok(results) => Ok(results.into_iter().map(|one| (one.test, one.status)).collect()),
            // A group of tests that cannot be loaded warm is left to the run that follows.
            Err(RunError::Io { .. }) if !stop_at_failure => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }
}
