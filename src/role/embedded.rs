//! [`Embedded`]: the model-free repair engine, which diagnoses failures and searches for edits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex as Lock, PoisonError};
use std::time::Duration;

use futures::lock::Mutex;
use globset::GlobSet;

use crate::domain::event::Event;
use crate::domain::explanation::{ExplainedCluster, SearchBudget, SearchSummary, SearchedPlace};
use crate::domain::fix_loop::FixLoop;
use crate::domain::fix_plan::FixPlan;
use crate::domain::hindrance::Hindrance;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::missing_package::package_of;
use crate::domain::proposal::EditSet;
use crate::domain::test::{Status, TestCase};
use crate::effect::{CandidateRunner, CandidateRunnerRequest, EffectError, Effects, FileDiff};
use crate::repair::{self, Diagnosis, Limits, Search, SearchOutcome, Trial};

use super::Impact;

/// Maximum number of candidates per search if tests run in a warm process.
const WARM_CANDIDATES: u32 = 6_000;

/// Maximum number of candidates per search if each needs a cold start.
const COLD_CANDIDATES: u32 = 600;

/// Time limit for trying the edits of a provider.
const TRIAL_TIME: Duration = Duration::from_mins(5);

/// What a step of the fix loop works on.
#[derive(Clone, Copy)]
pub struct StepInput<'a> {
    pub state: &'a FixLoop,
    pub impact: &'a Mutex<Impact>,
    pub fx: &'a Effects<'a>,
}

/// What fault localisation and the import graph find without any provider.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    /// The engine's own plan; `None` if it found no suspicious location that may be edited.
    pub plan: Option<FixPlan>,
    /// Without a plan, those that may not.
    pub places: Vec<SearchedPlace>,
    pub related: Vec<RepoPath>,
    pub base_diff: Vec<FileDiff>,
    /// What the session has changed so far.
    pub kept_diff: Vec<FileDiff>,
}

/// Maximum wall time of one search.
const SEARCH_TIME: Duration = Duration::from_mins(2);

/// How much later a search would end by itself than the session ends it.
const ENDED_BY_SESSION: Duration = Duration::from_secs(2);

/// The candidate runner and the diagnosis for the current iteration. They depend only on the
/// sources, so they need not be stored across restarts.
struct IterationContext {
    iteration: u32,
    runner: Box<dyn CandidateRunner>,
    /// Whether a file is a test, or another one that no edit may touch.
    is_fixed: Box<dyn Fn(&RepoPath) -> bool + Send + Sync>,
    diagnosis: Diagnosis,
    failing: Vec<TestCase>,
    /// Failures that are searched once nothing repairs `failing`.
    later: Vec<TestCase>,
    passing: Vec<TestCase>,
    unexpected_passes: Vec<TestId>,
    suspects: Suspects,
}

/// Diagnoses and searches without a model, and tries out the edits of providers.
pub struct Embedded {
    jobs: usize,
    /// Globs of files that no edit may touch.
    protect: GlobSet,
    base_tree: Option<TreeId>,
    /// When the session ends, by its clock.
    budget: Option<Duration>,
    current: Mutex<Option<IterationContext>>,
    /// What the search of this step has done so far.
    so_far: Lock<SearchSummary>,
}

/// The effect of some edits on the tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    pub repairs: usize,
    /// Passing tests that the edits break, among those that were run.
    pub breaks: usize,
}

impl Embedded {
    /// Creates an engine that has not opened a candidate runner yet, and edits no file of `protect`.
    #[must_use]
    pub fn new(
        jobs: usize,
        protect: GlobSet,
        base_tree: Option<TreeId>,
        budget: Option<Duration>,
    ) -> Self {
        let (current, so_far) = (Mutex::new(None), Lock::default());
        Self { jobs, protect, base_tree, budget, current, so_far }
    }

    /// Locates the causes of the failures, with related files and the change since the base.
    pub async fn find_suspects(&self, step: StepInput<'_>) -> Result<Suspects, EffectError> {
        let mut slot = self.current.lock().await;
        let context = self.context_for(&mut slot, step).await?;
        let plan = context.diagnosis.plan.clone();
        let places =
            if plan.is_some() { Vec::new() } else { repair::suspicious_places(&context.diagnosis) };
        Ok(Suspects { plan, places, ..context.suspects.clone() })
    }

    /// The failures in groups, with the evidence for their causes, and what a search may use up.
    pub async fn explain(
        &self,
        step: StepInput<'_>,
    ) -> Result<(Vec<ExplainedCluster>, SearchBudget), EffectError> {
        let mut slot = self.current.lock().await;
        let context = self.context_for(&mut slot, step).await?;
        let search = self.search(step, context, &|_| {});
        let budget = repair::budget(&context.diagnosis, search.trial.limits);
        Ok((repair::explain(&search, &context.diagnosis), budget))
    }

    /// The candidate runner and the diagnosis for this iteration, reused if they are already open.
    async fn context_for<'s>(
        &self,
        slot: &'s mut Option<IterationContext>,
        step: StepInput<'_>,
    ) -> Result<&'s IterationContext, EffectError> {
        let state = step.state;
        let context = match slot.take() {
            Some(context) if context.iteration == state.current_iteration => context,
            _ => {
                // No edit helps where something is not installed, nor where a person must decide.
                let is_open = |case: &&TestCase| {
                    !matches!(
                        state.hindrances.get(&case.id),
                        Some(Hindrance::NotInstalled(_) | Hindrance::Document(_))
                    )
                };
                let failing = state.ledger.failing_cases().filter(is_open).cloned().collect();
                let groups = to_repair(failing, &state.not_installed);
                let context = self.open(groups, step).await?;
                let search = self.search(step, &context, &|_| {});
                if context.later.is_empty() || repair::has_candidates(&search, &context.diagnosis) {
                    context
                } else {
                    self.open((context.later, Vec::new()), step).await?
                }
            }
        };
        Ok(slot.insert(context))
    }

    /// Searches for an edit, first for what keeps tests from running, then for the other failures.
    pub async fn propose_fix(&self, step: StepInput<'_>) -> Result<SearchOutcome, EffectError> {
        let mut slot = self.current.lock().await;
        let context = self.context_for(&mut slot, step).await?;
        let found = self.search_edits(context, step).await?;
        if found.proposal.is_some() || context.later.is_empty() {
            return Ok(found);
        }
        let groups = (context.later.clone(), Vec::new());
        let context = slot.insert(self.open(groups, step).await?);
        let next = self.search_edits(context, step).await?;
        let (tried, timed_out) = (found.tried + next.tried, found.timed_out + next.timed_out);
        Ok(SearchOutcome { tried, timed_out, ..next })
    }

    async fn search_edits(
        &self,
        context: &IterationContext,
        step: StepInput<'_>,
    ) -> Result<SearchOutcome, EffectError> {
        let before = self.so_far().tried;
        let progress = |mut summary: SearchSummary| {
            summary.tried = summary.tried.saturating_add(before);
            summary.of = summary.of.saturating_add(before);
            summary.is_stopped = true;
            let (done, unit) = (summary.tried.into(), "candidates".to_owned());
            *self.so_far.lock().unwrap_or_else(PoisonError::into_inner) = summary;
            step.fx.screen.show(&Event::Progress { done, total: None, unit });
        };
        let search = self.search(step, context, &progress);
        repair::search(&search, &context.diagnosis).await
    }

    /// Counts the candidates of a new step.
    pub fn count_anew(&self) {
        *self.so_far.lock().unwrap_or_else(PoisonError::into_inner) = SearchSummary::default();
    }

    /// What the search of this step has done so far.
    pub fn so_far(&self) -> SearchSummary {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Applies the edits and runs the failing tests and those passing tests that reach them.
    pub async fn try_edits(
        &self,
        edits: &EditSet,
        step: StepInput<'_>,
    ) -> Result<Tried, EffectError> {
        let mut slot = self.current.lock().await;
        let context = self.context_for(&mut slot, step).await?;
        let failing: Vec<TestId> = context.failing.iter().map(|case| case.id.clone()).collect();
        let files: BTreeSet<RepoPath> = edits.files.iter().map(|edit| edit.file.clone()).collect();
        let (near, _) = context.diagnosis.reaching(&files, &context.passing);
        let passed = async |tests: &[TestId]| -> Result<usize, EffectError> {
            if tests.is_empty() {
                return Ok(0);
            }
            let results = context.runner.run(edits, tests, TRIAL_TIME, false).await?;
            Ok(results.iter().filter(|one| one.status == Status::Passed).count())
        };
        let repairs = passed(&failing).await?;
        let breaks = near.len() - passed(&near).await?.min(near.len());
        Ok(Tried { repairs, breaks })
    }

    fn search<'a>(
        &'a self,
        step: StepInput<'a>,
        context: &'a IterationContext,
        progress: &'a (dyn Fn(SearchSummary) + Sync),
    ) -> Search<'a> {
        let StepInput { state, fx, .. } = step;
        let candidates = match context.runner.speed() {
            crate::effect::Speed::Warm => WARM_CANDIDATES,
            crate::effect::Speed::Cold => COLD_CANDIDATES,
        };
        // The session ends the search, which only plans with the time that is left.
        let left = |budget: Duration| budget.saturating_sub(fx.clock.elapsed()) + ENDED_BY_SESSION;
        let time = self.budget.map_or(SEARCH_TIME, left).min(SEARCH_TIME);
        Search {
            trial: Trial {
                worktree: fx.worktree,
                tree: &state.accepted_tree,
                runner: context.runner.as_ref(),
                clock: fx.clock,
                limits: Limits { candidates, time },
                jobs: self.jobs,
            },
            failing: &context.failing,
            passing: &context.passing,
            unexpected_passes: &context.unexpected_passes,
            is_test: context.is_fixed.as_ref(),
            related: &context.suspects.related,
            strategy: state.strategy(),
            base_diff: &context.suspects.base_diff,
            kept_diff: &context.suspects.kept_diff,
            disproved: &state.disproved,
            patterns: &state.patterns,
            prior: &state.terms.prior,
            singles_done: state
                .iterations
                .last()
                .is_some_and(|last| last.exhausted && last.pre_tree == state.accepted_tree),
            progress,
        }
    }

    /// Opens a runner on the accepted sources and diagnoses the failures of now of `(now, later)`.
    async fn open(
        &self,
        (failing, later): (Vec<TestCase>, Vec<TestCase>),
        step: StepInput<'_>,
    ) -> Result<IterationContext, EffectError> {
        let StepInput { state, impact, fx } = step;
        fx.worktree.checkout(&state.accepted_tree).await?;
        let passing = state.ledger.passing_cases().cloned().collect();
        let unexpected = state.ledger.unexpected_passes().map(|case| case.id.clone());
        let (related, tests) = {
            let mut impact = impact.lock().await;
            (impact.related(state, fx).await?, impact.test_files(state, fx).await?)
        };
        let protect = self.protect.clone();
        let is_fixed =
            move |file: &RepoPath| tests.reason(file).is_some() || protect.is_match(file.as_str());
        let base_diff = match &self.base_tree {
            Some(base) => fx.worktree.diff(base, &state.accepted_tree).await?,
            None => Vec::new(),
        };
        let kept_diff = fx.worktree.diff(&state.head_tree, &state.accepted_tree).await?;
        let request =
            CandidateRunnerRequest { root: fx.worktree.root(), failing: &failing, jobs: self.jobs };
        let runner = fx.suite.open_candidate_runner(&request).await?;
        let mut context = IterationContext {
            iteration: state.current_iteration,
            runner,
            is_fixed: Box::new(is_fixed),
            diagnosis: Diagnosis::default(),
            failing,
            later,
            passing,
            unexpected_passes: unexpected.collect(),
            suspects: Suspects { related, base_diff, kept_diff, ..Suspects::default() },
        };
        context.diagnosis = repair::diagnose(&self.search(step, &context, &|_| {})).await?;
        let left_alone = describe_left_files(&context.diagnosis.left_alone);
        if let Some(text) = left_alone.filter(|_| state.current_iteration == 1) {
            fx.screen.show(&Event::Notice { text });
        }
        Ok(context)
    }
}

/// Which sources and macros that failures lead to are not edited, and why.
fn describe_left_files(left: &BTreeMap<String, String>) -> Option<String> {
    /// Files that are named.
    const NAMED: usize = 3;
    let named: Vec<String> =
        left.iter().take(NAMED).map(|(what, why)| format!("`{what}`, which {why}")).collect();
    let more = match left.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!named.is_empty())
        .then(|| format!("Without a model, regreen does not edit {}{more}.", named.join("; ")))
}

/// The failures that a search is about first, and those that it is about then: what keeps tests from
/// running comes before all others, since it hides what they would say (specification.md X15), unless it
/// only misses a package, which no edit brings.
fn to_repair(
    failing: Vec<TestCase>,
    not_installed: &BTreeSet<String>,
) -> (Vec<TestCase>, Vec<TestCase>) {
    let is_unloaded = |case: &TestCase| case.kind.is_unloaded();
    let (unloaded, tests): (Vec<_>, Vec<_>) = failing.into_iter().partition(is_unloaded);
    let is_missing =
        |case: &TestCase| package_of(case).is_some_and(|package| not_installed.contains(&package));
    let (missing, broken): (Vec<_>, Vec<_>) = unloaded.into_iter().partition(is_missing);
    match (broken.is_empty(), tests.is_empty()) {
        (false, _) => (broken, tests),
        (true, false) => (tests, Vec::new()),
        (true, true) => (missing, Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::latest_results::tests::results;
    use crate::domain::test::{CaseKind, FailureText, Scope};

    #[test]
    fn files_that_are_left_alone_are_named() {
        let left = |names: &[&str]| {
            let one = |name: &&str| ((*name).to_owned(), "is generated".to_owned());
            describe_left_files(&names.iter().map(one).collect())
        };
        assert_eq!(left(&[]), None);
        let said = left(&["a.go", "b.go", "c.go", "d.go"]).unwrap();
        assert!(said.contains("edit `a.go`, which is generated; `b.go`"), "{said}");
        assert!(said.ends_with("and 1 more."), "{said}");
    }

    #[test]
    fn what_keeps_tests_from_running_comes_first_unless_it_only_misses_a_package() {
        type Row<'a> = (&'a [&'a TestCase], &'a [&'a str], &'a [&'a str]);
        let failed = |id: &str, kind: CaseKind, message: &str| TestCase {
            kind,
            failure: Some(FailureText { message: message.into(), ..FailureText::default() }),
            ..results(Scope::Full, &[(id, Status::Failed)]).cases.remove(0)
        };
        let test = failed("test", CaseKind::Test, "1 != 2");
        let hook = failed("hook", CaseKind::Hook, "no");
        let broken = failed("broken", CaseKind::Unloaded, "cannot import name 'a' from 'b'");
        let missing = failed("missing", CaseKind::Unloaded, "No module named 'yaml'");
        let own = failed("own", CaseKind::Unloaded, "No module named 'shop'");
        let table: [Row<'_>; 6] = [
            (&[&test, &hook], &["test", "hook"], &[]),
            (&[&test, &broken], &["broken"], &["test"]),
            (&[&missing, &test], &["test"], &[]),
            (&[&missing, &own, &hook], &["own"], &["hook"]),
            (&[&missing, &broken], &["broken"], &[]),
            (&[&missing], &["missing"], &[]),
        ];
        for (failing, first, then) in table {
            let failing = failing.iter().map(|&case| case.clone()).collect();
            let (now, later) = to_repair(failing, &["yaml".to_owned()].into());
            let are = |cases: &[TestCase], ids: &[&str]| {
                cases.iter().map(|case| case.id.as_str()).eq(ids.iter().copied())
            };
            assert!(are(&now, first) && are(&later, then), "{first:?}, {then:?}: {now:?}");
        }
    }
}
