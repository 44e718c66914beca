//! Diagnoses failures, finds an edit, and holds it against the guards.

use std::time::Duration;

use futures::lock::Mutex;
use globset::GlobSet;

use crate::code::testing;
use crate::domain::event::Event;
use crate::domain::fix_loop::{Done, FixLoop};
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::plan::Plan;
use crate::domain::strategy::Strategy;
use crate::domain::test::TestCase;
use crate::effect::{Effects, FileDiff, Trial, TrialRequest};
use crate::repair::{self, Diagnosis, Limits, RepairError, Search};

use super::Impact;
use super::vet::{VetContext, vet};

/// What a fixer is opened with.
#[derive(Clone, Debug)]
pub struct FixerSettings {
    /// Candidates tried at the same time.
    pub jobs: usize,
    /// Globs no edit may touch.
    pub protect: GlobSet,
    /// Folder of regreen's own files inside commits.
    pub state_root: String,
    /// The merge base's sources, to suspect what changed since.
    pub base_tree: Option<TreeId>,
}

/// Candidates of one search when tests run in a warm process.
const WARM_CANDIDATES: u32 = 6_000;

/// Candidates of one search when each costs a cold start.
const COLD_CANDIDATES: u32 = 150;

/// Wall time of one search.
const SEARCH_TIME: Duration = Duration::from_mins(2);

/// The trial and the diagnosis of the iteration at work. Made anew after a restart: both follow
/// from the sources alone.
struct Open {
    iteration: u32,
    trial: Box<dyn Trial>,
    diagnosis: Diagnosis,
    failing: Vec<TestCase>,
    passing: Vec<TestId>,
    related: Vec<RepoPath>,
    base_diff: Vec<FileDiff>,
}

/// Finds and vets edits with the embedded engine.
pub struct Fixer {
    settings: FixerSettings,
    open: Mutex<Option<Open>>,
}

impl Fixer {
    /// A fixer without a trial yet.
    #[must_use]
    pub fn new(settings: FixerSettings) -> Self {
        Self { settings, open: Mutex::new(None) }
    }

    /// Says where the failures may come from.
    ///
    /// # Errors
    ///
    /// When sources or tests cannot be read or run.
    pub async fn diagnose(
        &self,
        state: &FixLoop,
        impact: &Mutex<Impact>,
        fx: &Effects<'_>,
    ) -> Result<Option<Plan>, RepairError> {
        let mut open = self.open.lock().await;
        *open = None;
        let opened = self.open(state, impact, fx).await?;
        let plan = opened.diagnosis.plan.clone();
        *open = Some(opened);
        Ok(plan)
    }

    /// Finds an edit and vets it.
    ///
    /// # Errors
    ///
    /// When sources or tests cannot be read or run.
    pub async fn propose(
        &self,
        state: &FixLoop,
        impact: &Mutex<Impact>,
        fx: &Effects<'_>,
    ) -> Result<Done, RepairError> {
        let mut slot = self.open.lock().await;
        let iteration = state.current_iteration;
        if slot.as_ref().is_none_or(|open| open.iteration != iteration) {
            *slot = Some(self.open(state, impact, fx).await?);
        }
        let Some(open) = slot.as_ref() else {
            return Ok(nothing(0, true));
        };
        let progress = |tried: u64| {
            let unit = "candidates".to_owned();
            fx.screen.show(&Event::Progress { done: tried, total: None, unit });
        };
        let search = self.search(state, fx, open, &progress);
        let found = repair::search(&search, &open.diagnosis).await?;
        let Some(proposal) = found.proposal else {
            return Ok(nothing(found.tried, found.exhausted));
        };
        let context =
            VetContext { protect: &self.settings.protect, state_root: &self.settings.state_root };
        let violations = vet(&proposal.edits, &state.accepted_tree, fx.worktree, &context).await?;
        Ok(Done::Proposed {
            fingerprint: repair::fingerprint(&proposal.edits),
            proposal: Some(proposal),
            operators: found.operators,
            refusals: violations.iter().map(ToString::to_string).collect(),
            tried: found.tried,
            exhausted: false,
        })
    }

    fn search<'a>(
        &'a self,
        state: &'a FixLoop,
        fx: &'a Effects<'_>,
        open: &'a Open,
        progress: &'a (dyn Fn(u64) + Sync),
    ) -> Search<'a> {
        let candidates = match open.trial.speed() {
            crate::effect::Speed::Warm => WARM_CANDIDATES,
            crate::effect::Speed::Cold => COLD_CANDIDATES,
        };
        Search {
            worktree: fx.worktree,
            tree: &state.accepted_tree,
            trial: open.trial.as_ref(),
            clock: fx.clock,
            failing: &open.failing,
            passing: &open.passing,
            is_test: &testing::is_test,
            related: &open.related,
            strategy: state.selected_strategy.unwrap_or(Strategy::Conservative),
            base_diff: &open.base_diff,
            disproved: &state.disproved,
            patterns: &state.patterns,
            singles_done: state
                .iterations
                .last()
                .is_some_and(|last| last.exhausted && last.pre_tree == state.accepted_tree),
            limits: Limits { candidates, time: SEARCH_TIME },
            jobs: self.settings.jobs,
            progress,
        }
    }

    /// Opens a trial on the accepted sources and diagnoses.
    async fn open(
        &self,
        state: &FixLoop,
        impact: &Mutex<Impact>,
        fx: &Effects<'_>,
    ) -> Result<Open, RepairError> {
        fx.worktree.checkout(&state.accepted_tree).await?;
        let failing: Vec<TestCase> = state.ledger.failing_cases().cloned().collect();
        let ids: Vec<TestId> = failing.iter().map(|case| case.id.clone()).collect();
        let passing = state.ledger.passing();
        let related = impact.lock().await.related(state, fx).await?;
        let base_diff = match &self.settings.base_tree {
            Some(base) => fx.worktree.diff(base, &state.accepted_tree).await?,
            None => Vec::new(),
        };
        let request =
            TrialRequest { root: fx.worktree.root(), failing: &ids, jobs: self.settings.jobs };
        let trial = fx.suite.trial(&request).await?;
        let mut open = Open {
            iteration: state.current_iteration,
            trial,
            diagnosis: Diagnosis::default(),
            failing,
            passing,
            related,
            base_diff,
        };
        open.diagnosis = repair::diagnose(&self.search(state, fx, &open, &|_| {})).await?;
        Ok(open)
    }
}

fn nothing(tried: u32, exhausted: bool) -> Done {
    Done::Proposed {
        proposal: None,
        fingerprint: String::new(),
        operators: Vec::new(),
        refusals: Vec::new(),
        tried,
        exhausted,
    }
}
