//! The search engine: tries candidate edits against the tests, and selects one to propose.

mod choice;
mod judge;
mod pairs;
mod refusals;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::code::mutate::OperatorId;
use crate::domain::explanation::{ClosestEdit, SearchSummary, SearchedPlace};
use crate::domain::proposal::Proposal;
use crate::domain::strategy::Strategy;
use crate::effect::{CaseResult, EffectError, Speed};

use choice::{Plausible, apart, best, joined, merge};
use judge::{Judge, MustPass, Rejection, Repaired};
use pairs::{Pairs, lines_ahead};
use refusals::Refusals;

use super::edit_traits::{fingerprint, literals, special_case, suspicion};
use super::explain::suspicious_places;
use super::localise::{Cluster, Diagnosis};
use super::search_settings::{RETRY_LIMIT_FACTOR, Search};
use super::stream::{Bias, EditPart, RankedEdit, Stream, pair};
use super::test_sources::test_literals;
use super::unknown_name::UnknownNames;

/// Number of further candidates to try after a partial or suspicious repair.
const LOOK_FURTHER: u32 = 800;

/// A candidate takes milliseconds where a run of the unchanged sources takes at most this, besides the tests.
const QUICK: Duration = Duration::from_millis(30);

/// The same after a repair of a part of a cluster, where a candidate takes milliseconds: mostly one edit repairs all
/// of it, and from a wrong one the search does not come back.
const LOOK_FURTHER_FOR_ALL: u32 = 2_000;

/// Candidates that are announced first to a runner that tries many at once.
const FIRST_BATCH: usize = 12;

/// Candidates of a wave for each of those that run at the same time, where one takes milliseconds: one that
/// hangs then holds up few others.
const QUICK_WAVE: usize = 4;

/// Number of further candidates to try after a repair of one cluster that leaves all other failing
/// tests as they are: one that repairs some of them too is likelier right.
const LOOK_BEYOND: u32 = 40;

/// The same number where each candidate starts the suite's own command.
const LOOK_BEYOND_COLD: u32 = 8;

/// Number of single edits that are combined into pairs if no single edit is enough.
const PAIRED: usize = 120;

#[derive(Clone, Debug, Default)]
pub struct SearchOutcome {
    pub proposal: Option<Proposal>,
    pub tried: u32,
    /// Whether the same search on the same sources would find nothing again, be it that all edits
    /// were tried or that its limits ended it.
    pub exhausted: bool,
    pub operators: Vec<String>,
    /// Candidates that ran out of time whenever they were tried, so that nothing is known of them.
    pub timed_out: u32,
    pub summary: SearchSummary,
}

/// Candidates of a pass that get a second chance after they ran out of time while the machine was
/// quick enough: most of these hang.
const MAX_RETRIED: usize = 4;

/// The same number where the unchanged sources hang, as most of their candidates then do.
const MAX_RETRIED_OF_HANGING: usize = 3;

/// Searches for an edit that repairs the failing tests of a diagnosis.
///
/// The answer depends on the sources and results alone, unless the time limit ends the search, or the third of
/// it that remains for something better. Which process is quicker does not matter, nor how busy the machine is:
/// limits follow what the unchanged sources take at the time. Edits that ran out of it are tried again with a longer
/// limit: better ones that did so on a busy machine before an edit is accepted, others if none is found.
pub async fn search(
    search: &Search<'_>,
    diagnosis: &Diagnosis,
) -> Result<SearchOutcome, EffectError> {
    let trial = &search.trial;
    let deadline = trial.clock.elapsed() + trial.limits.time;
    let literals = test_literals(trial.worktree, trial.tree, &mut search.failing.iter()).await?;
    let mut hunt = SearchRun {
        search,
        diagnosis,
        places: suspicious_places(diagnosis),
        deadline,
        tried: 0,
        timed_out: 0,
        untried: 0,
        closest: None,
        literals,
        judge: Judge::new(search, diagnosis),
    };
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
            let share = trial.limits.candidates.saturating_sub(hunt.tried) / left.clamp(1, 3);
            let mut plausible = hunt.cluster(cluster, share, edits).await?;
            // A suspicious partial repair is worse than none.
            let is_whole = |one: &Plausible| one.repairs.len() >= cluster.tests.len();
            let bends = |one: &Plausible| one.suspicion.is_some() || cluster.calls_macro;
            let refused = plausible.iter().find(|one| bends(one) && !is_whole(one));
            let dropped = refused.and_then(Plausible::as_closest);
            plausible.retain(|one| is_whole(one) || !bends(one));
            if plausible.is_empty() {
                hunt.closest = dropped.or(hunt.closest);
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
    let chosen = hunt.needed(apart(chosen)).await?;
    let (tried, timed_out) = (hunt.tried, hunt.timed_out);
    let summary = hunt.summary(tried, 0);
    let (proposal, operators) = merge(chosen, tried).unzip();
    Ok(SearchOutcome {
        exhausted: proposal.is_none(),
        proposal,
        tried,
        operators: operators.unwrap_or_default(),
        timed_out,
        summary,
    })
}

/// The single edits of a cluster, best first.
fn stream_of<'a>(search: &Search<'_>, diagnosis: &'a Diagnosis, cluster: &Cluster) -> Stream<'a> {
    let cases = || search.failing.iter().filter(|case| cluster.tests.contains(&case.id));
    let functions = diagnosis.functions.iter().map(String::as_str);
    let is_own = |module: &str| {
        let mut parts = diagnosis.sources.keys().flat_map(|file| file.as_str().split(['/', '.']));
        parts.any(|part| part == module)
    };
    let bias = Bias {
        patterns: search.patterns,
        prior: search.prior,
        surgical: search.strategy == Strategy::Surgical,
        unknown: UnknownNames::of(cases(), functions, is_own),
        literals: diagnosis.tests.values().flat_map(|text| literals(text)).collect(),
        is_unloaded: cases().any(|case| case.kind.is_unloaded()),
    };
    Stream::new(cluster, &diagnosis.sources, search.base_diff, &bias).with_replacements(
        cluster,
        search.kept_diff,
        &bias,
    )
}

/// Whether there is any edit to try.
pub fn has_candidates(search: &Search<'_>, diagnosis: &Diagnosis) -> bool {
    let mut clusters = diagnosis.clusters.iter().filter(|cluster| !cluster.lines.is_empty());
    clusters.any(|cluster| {
        let mut stream = stream_of(search, diagnosis, cluster);
        stream.any(|ranked| !search.disproved.contains(&fingerprint(&ranked.edits)))
    })
}

/// Which candidates a pass tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edits {
    Single,
    /// Two edits of one file.
    Pairs,
}

struct SearchRun<'a> {
    search: &'a Search<'a>,
    diagnosis: &'a Diagnosis,
    places: Vec<SearchedPlace>,
    deadline: Duration,
    tried: u32,
    timed_out: u32,
    /// Candidates that were not reached.
    untried: u32,
    /// The first edit that helped in part.
    closest: Option<ClosestEdit>,
    literals: BTreeSet<String>,
    judge: Judge<'a>,
}

impl SearchRun<'_> {
    /// What is known once so many were tried, and more wait besides those that earlier passes left.
    fn summary(&self, tried: u32, waiting: usize) -> SearchSummary {
        let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
        let of = tried.saturating_add(self.untried).saturating_add(waiting);
        let (places, closest) = (self.places.clone(), self.closest.clone());
        SearchSummary { places, tried, of, is_stopped: false, closest }
    }

    fn is_over(&self) -> bool {
        let trial = &self.search.trial;
        self.tried >= trial.limits.candidates || trial.clock.elapsed() >= self.deadline
    }

    /// Plausible edits for one cluster.
    async fn cluster(
        &mut self,
        cluster: &Cluster,
        share: u32,
        edits: Edits,
    ) -> Result<Vec<Plausible>, EffectError> {
        let sources = &self.diagnosis.sources;
        let stream = stream_of(self.search, self.diagnosis, cluster);
        match edits {
            Edits::Single => self.try_all(stream, cluster, (edits, share)).await,
            Edits::Pairs => {
                let singles = stream.flat_map(|ranked| ranked.parts);
                let singles = self.without_refused(singles, cluster).await?;
                let mut pairs: Vec<RankedEdit> = Vec::new();
                for (index, first) in singles.iter().enumerate() {
                    for second in singles.iter().skip(index + 1) {
                        pairs.extend(pair(sources, first, second));
                    }
                }
                pairs.sort_by(|a, b| b.priority.total_cmp(&a.priority));
                self.try_all(pairs.into_iter(), cluster, (edits, share / 3)).await
            }
        }
    }

    /// The first single edits for pairs. Where many can be tried at once, those are left out that do not
    /// compile: nor does a pair of them.
    async fn without_refused(
        &self,
        singles: impl Iterator<Item = EditPart>,
        cluster: &Cluster,
    ) -> Result<Vec<EditPart>, EffectError> {
        let runner = self.search.trial.runner;
        let batch = runner.batch();
        if batch == 1 {
            return Ok(singles.take(PAIRED).collect());
        }
        let ranked = singles.filter_map(|part| part.ranked(&self.diagnosis.sources, 1.0));
        let ranked: Vec<RankedEdit> = ranked.take(batch).collect();
        runner.prepare(ranked.iter().map(|one| one.edits.clone()).collect()).await;
        let mut kept = Vec::new();
        for one in ranked {
            let first = cluster.tests.get(..1).unwrap_or_default();
            let results = runner.run(&one.edits, first, self.judge.current_grace(), true).await;
            if !results.map_err(EffectError::Run)?.iter().all(CaseResult::is_not_built) {
                kept.extend(one.parts);
            }
        }
        kept.truncate(PAIRED);
        Ok(kept)
    }

    /// Tries candidates, at most `budget`, in waves of as many as run at the same time. A wave is
    /// judged as a whole and in its order, so that the choice does not depend on which process was
    /// quicker.
    async fn try_all(
        &mut self,
        candidates: impl Iterator<Item = RankedEdit>,
        cluster: &Cluster,
        (edits, budget): (Edits, u32),
    ) -> Result<Vec<Plausible>, EffectError> {
        let mut candidates = candidates
            .filter(|ranked| !self.search.disproved.contains(&fingerprint(&ranked.edits)));
        let trial = &self.search.trial;
        let jobs = trial.concurrency();
        let is_quick = trial.runner.speed() == Speed::Warm && trial.runner.batch() == 1;
        let mut stop_at = self.tried.saturating_add(budget.max(1));
        let (mut plausible, mut late, mut hung) = (Vec::new(), Vec::new(), 0);
        let (mut tried, mut order) = (self.tried, self.tried);
        let mut ahead: VecDeque<RankedEdit> = VecDeque::new();
        let mut pairs = Pairs::new(&self.diagnosis.sources);
        let mut refusals = Refusals::default();
        let waiting = candidates.size_hint().1.unwrap_or_default();
        (self.search.progress)(self.summary(tried, waiting));
        self.judge.time_control(cluster).await?;
        let expected = cluster.tests.len();
        // Of what is left of the time when something is found, a third goes into something better.
        let mut stop_time = self.deadline;
        while tried < stop_at.min(trial.limits.candidates) && trial.clock.elapsed() < stop_time {
            if ahead.is_empty() {
                let mut next = || {
                    std::iter::from_fn(|| pairs.next_of(&mut candidates))
                        .find(|one| !refusals.expects_refusal(one))
                };
                ahead = self.announce(&mut next, tried, stop_at).await;
            }
            // The first are often right, and what else their wave tried would be in vain.
            let begun = usize::try_from(tried - self.tried).unwrap_or(usize::MAX);
            let is_wide = is_quick && begun >= jobs * QUICK_WAVE;
            let size = if is_wide { jobs * QUICK_WAVE } else { jobs };
            let wave: Vec<RankedEdit> = ahead.drain(..size.min(ahead.len())).collect();
            if wave.is_empty() {
                break;
            }
            tried += u32::try_from(wave.len()).unwrap_or(u32::MAX);
            let mut stopped = Vec::new();
            for (ranked, repairs) in self.judge.judge_all(wave, cluster, 1).await {
                order += 1;
                match repairs {
                    _ if order > stop_at => {}
                    Ok(repairs) => {
                        let mut tests = cluster.tests.iter();
                        if let Some(goal) = tests.find(|test| !repairs.tests.contains(test)) {
                            pairs.add_base(&ranked, goal.clone(), || self.stream(cluster));
                        }
                        let one = self.plausible(ranked, order, repairs);
                        // The stream is ordered: behind a lesser repair something better may come,
                        // but not for the price of the whole budget.
                        let is_pair = one.ranked.parts.len() > 1;
                        let more = match (one.is_conclusive(expected), one.beyond) {
                            // One edit that does as much is likelier right than two.
                            (true, _) if is_pair && edits == Edits::Single => {
                                pairs.end_pairs();
                                order.min(2 * self.look_beyond())
                            }
                            (true, Some(0)) => self.look_beyond(),
                            (true, _) => 0,
                            (false, _)
                                if is_quick
                                    && self.judge.control <= QUICK
                                    && one.repairs.len() < expected =>
                            {
                                LOOK_FURTHER_FOR_ALL
                            }
                            (false, _) => LOOK_FURTHER,
                        };
                        stop_at = stop_at.min(order.saturating_add(more));
                        let now = trial.clock.elapsed();
                        stop_time = stop_time.min(now + self.deadline.saturating_sub(now) / 3);
                        plausible.push(one);
                    }
                    Err(Rejection::OutOfTime) => stopped.push((order, ranked)),
                    Err(Rejection::Advanced(after)) => {
                        self.closest.get_or_insert_with(|| ClosestEdit {
                            summary: ranked.summary.clone(),
                            test: after.test.clone(),
                            suspicion: None,
                        });
                        let next = || self.stream(&self.next_cluster(cluster, &after));
                        pairs.add_base(&ranked, after.test.clone(), next);
                    }
                    Err(Rejection::NotBuilt(reason)) => refusals.add_refusal(&ranked, &reason),
                    Err(Rejection::Refuted) => {}
                    Err(Rejection::Failed(error)) => return Err(error),
                }
            }
            if !stopped.is_empty() {
                self.timed_out += u32::try_from(stopped.len()).unwrap_or(u32::MAX);
                let enough = self.judge.current_grace() * 5 / 4;
                self.judge.time_control(cluster).await?;
                let busy = self.judge.current_grace() > enough;
                let most = if self.judge.hangs { MAX_RETRIED_OF_HANGING } else { MAX_RETRIED };
                let room = if busy { stopped.len() } else { most - hung };
                hung += if busy { 0 } else { stopped.len().min(room) };
                late.extend(stopped.into_iter().take(room).map(|one| (busy, one)));
            }
            let waiting = candidates.size_hint().1.unwrap_or_default() + ahead.len();
            (self.search.progress)(self.summary(tried, waiting));
        }
        let untried = candidates.size_hint().1.unwrap_or_default() + ahead.len();
        self.untried = self.untried.saturating_add(u32::try_from(untried).unwrap_or(u32::MAX));
        drop((candidates, pairs));
        self.tried = tried;
        let has_answer = plausible.iter().any(|one: &Plausible| one.is_conclusive(expected));
        // Beside an answer, what ran out of time on an idle machine hangs.
        let unsure = late.into_iter().filter(|(busy, _)| *busy || !has_answer);
        let (orders, mut late): (Vec<u32>, VecDeque<RankedEdit>) =
            unsure.map(|(_, one)| one).filter(|(order, _)| *order < stop_at).unzip();
        let mut orders = orders.into_iter();
        let mut is_found = false;
        while !late.is_empty() && !is_found && trial.clock.elapsed() < self.deadline {
            let wave = late.drain(..jobs.min(late.len())).collect();
            let judged = self.judge.judge_all(wave, cluster, RETRY_LIMIT_FACTOR).await;
            for ((ranked, repairs), order) in judged.into_iter().zip(&mut orders) {
                match repairs {
                    Ok(repairs) => plausible.push(self.plausible(ranked, order, repairs)),
                    Err(Rejection::OutOfTime) => continue,
                    Err(Rejection::Refuted | Rejection::NotBuilt(_) | Rejection::Advanced(_)) => {}
                    Err(Rejection::Failed(error)) => return Err(error),
                }
                self.timed_out = self.timed_out.saturating_sub(1);
                // Nothing behind it in the stream is better.
                let last = plausible.last().filter(|one| one.order == order);
                is_found = last.is_some_and(|one| one.is_conclusive(expected));
                if is_found {
                    break;
                }
            }
        }
        Ok(plausible)
    }

    /// Takes the next candidates, and announces them to a runner that tries many at once: few at first, since
    /// the right one is often among these.
    async fn announce(
        &self,
        next: &mut impl FnMut() -> Option<RankedEdit>,
        tried: u32,
        stop_at: u32,
    ) -> VecDeque<RankedEdit> {
        let trial = &self.search.trial;
        let begun = usize::try_from(tried - self.tried).unwrap_or(usize::MAX);
        let left = usize::try_from(stop_at.saturating_sub(tried)).unwrap_or(usize::MAX);
        let batch = trial.runner.batch().min(FIRST_BATCH.max(begun)).min(left);
        let most = batch.max(trial.concurrency() * QUICK_WAVE);
        let ahead: VecDeque<RankedEdit> = std::iter::from_fn(next).take(most).collect();
        if batch > 1 && !ahead.is_empty() {
            trial.runner.prepare(ahead.iter().map(|one| one.edits.clone()).collect()).await;
        }
        ahead
    }

    fn stream(&self, cluster: &Cluster) -> Stream<'_> {
        stream_of(self.search, self.diagnosis, cluster)
    }

    /// Where the cause of the next failure may be of a test that gets further.
    fn next_cluster(&self, cluster: &Cluster, after: &CaseResult) -> Cluster {
        let case = self.search.failing.iter().find(|case| case.id == after.test);
        let lines = match case {
            Some(case) => lines_ahead(self.diagnosis, case, after),
            None => BTreeMap::new(),
        };
        if lines.is_empty() { cluster.clone() } else { Cluster { lines, ..cluster.clone() } }
    }

    fn plausible(&self, ranked: RankedEdit, order: u32, repaired: Repaired) -> Plausible {
        let suspicion = suspicion(&ranked.edits, &ranked.operators, &self.literals);
        let special_case = special_case(&ranked.edits, &self.literals);
        let Repaired { tests: repairs, failing_behind, beyond } = repaired;
        // Taking a change back mends whatever it broke, and takes what it was made for.
        let takes_back = ranked.operators.contains(&OperatorId::ReverseChange);
        let beyond = beyond.map(|count| if takes_back { 0 } else { count });
        Plausible { ranked, order, repairs, failing_behind, beyond, suspicion, special_case }
    }

    fn look_beyond(&self) -> u32 {
        match self.search.trial.runner.speed() {
            Speed::Warm => LOOK_BEYOND,
            Speed::Cold => LOOK_BEYOND_COLD,
        }
    }

    /// Of edits for several clusters, those without which the others do not repair as much.
    async fn needed(&self, mut chosen: Vec<Plausible>) -> Result<Vec<Plausible>, EffectError> {
        for index in (0..chosen.len()).rev() {
            let others = chosen.iter().enumerate().filter(|(other, _)| *other != index);
            let rest = joined(others.map(|(_, one)| one));
            let Some(one) = chosen.get(index).filter(|_| !rest.files.is_empty()) else { continue };
            match self.judge.run(&rest, &one.repairs, MustPass::All, RETRY_LIMIT_FACTOR).await {
                Ok(_) => drop(chosen.remove(index)),
                Err(Rejection::Failed(error)) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests;
