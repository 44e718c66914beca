//! The same edit is proposed however busy the machine is and whichever process is quicker.

use std::future::poll_fn;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use async_trait::async_trait;
use futures::executor::block_on;
use proptest::prelude::{any, prop, prop_assert, proptest};

use super::*;
use crate::code::mutate::OperatorId;
use crate::domain::explanation::LineOrigin;
use crate::domain::id::CommitId;
use crate::domain::test::Layer;
use crate::effect::{CandidateRunner, Clock, CommitRequest, FileDiff, Speed, Trace};
use crate::repair::search_settings::{Limits, Trial};
use crate::repair::stream::single;

const SOURCE: &str = "function add(a, b) {\n  return a - b;\n}\n";

/// Both are the sum; the first one is the simpler edit.
const SUMS: [&str; 2] = ["return a + b;", "return a - -b;"];

/// A machine on which each run takes as long as a list says, in milliseconds, and lets others
/// finish first as often as another list says.
struct BusyMachine {
    durations: Vec<u64>,
    turns: Vec<u8>,
    runs: AtomicUsize,
    elapsed: Mutex<Duration>,
}

impl BusyMachine {
    fn new(durations: Vec<u64>, turns: Vec<u8>) -> Self {
        Self { durations, turns, runs: AtomicUsize::new(0), elapsed: Mutex::default() }
    }
}

#[async_trait]
impl Clock for BusyMachine {
    fn now(&self) -> String {
        String::new()
    }
    fn elapsed(&self) -> Duration {
        *self.elapsed.lock().unwrap()
    }
    fn stop_requested(&self) -> bool {
        false
    }
    async fn wait(&self, _: Duration) {}
}

#[async_trait]
impl CandidateRunner for BusyMachine {
    fn speed(&self) -> Speed {
        Speed::Warm
    }
    async fn trace(&self, _: &[TestId]) -> Result<Vec<Trace>, RunError> {
        Ok(Vec::new())
    }
    async fn run(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        _: bool,
    ) -> Result<Vec<CaseResult>, RunError> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let mut turns = self.turns[run % self.turns.len()];
        poll_fn(|context| {
            if turns == 0 {
                return Poll::Ready(());
            }
            turns -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        let duration = Duration::from_millis(self.durations[run % self.durations.len()]);
        *self.elapsed.lock().unwrap() += duration.min(limit);
        let after = edits.files[0].after.as_deref().unwrap_or_default();
        let is_sum = SUMS.iter().any(|sum| after.contains(sum));
        let (status, failure) = match is_sum {
            _ if duration >= limit => (Status::Failed, None),
            true => (Status::Passed, None),
            false => (Status::Failed, Some(("AssertionError".to_owned(), String::new()))),
        };
        let case =
            |test: &TestId| CaseResult { test: test.clone(), status, failure: failure.clone() };
        Ok(tests.iter().map(case).collect())
    }
}

/// Holds no file: the failing test is not in one.
struct EmptyWorktree;

#[async_trait]
impl Worktree for EmptyWorktree {
    fn root(&self) -> &Path {
        Path::new("")
    }
    fn branch(&self) -> &'static str {
        ""
    }
    async fn tip(&self) -> Result<CommitId, GitError> {
        unreachable!("the search only reads files")
    }
    async fn tree_of(&self, _: &CommitId) -> Result<TreeId, GitError> {
        unreachable!("the search only reads files")
    }
    async fn graft(&self, _: &TreeId, _: &EditSet) -> Result<TreeId, GitError> {
        unreachable!("the search only reads files")
    }
    async fn checkout(&self, _: &TreeId) -> Result<(), GitError> {
        unreachable!("the search only reads files")
    }
    async fn files(&self, _: &TreeId) -> Result<Vec<RepoPath>, GitError> {
        unreachable!("the search only reads files")
    }
    async fn read(&self, _: &TreeId, _: &RepoPath) -> Result<Option<Vec<u8>>, GitError> {
        Ok(None)
    }
    async fn diff(&self, _: &TreeId, _: &TreeId) -> Result<Vec<FileDiff>, GitError> {
        unreachable!("the search only reads files")
    }
    async fn commit(&self, _: &CommitRequest) -> Result<CommitId, GitError> {
        unreachable!("the search only reads files")
    }
    async fn merge_base(&self, _: &str) -> Result<Option<CommitId>, GitError> {
        unreachable!("the search only reads files")
    }
    async fn last_change(
        &self,
        _: &RepoPath,
        _: RangeInclusive<u32>,
        _: Option<&CommitId>,
    ) -> Result<LineOrigin, GitError> {
        unreachable!("the search only reads files")
    }
    async fn export_for_agent(&self, _: &TreeId, _: &str) -> Result<PathBuf, GitError> {
        unreachable!("the engine asks no agent")
    }

    async fn export(&self, _: &TreeId, _: &str) -> Result<PathBuf, GitError> {
        unreachable!("the search only reads files")
    }
    async fn collect(&self, _: &str, _: &TreeId) -> Result<EditSet, GitError> {
        unreachable!("the search only reads files")
    }
    async fn remove(&self) -> Result<(), GitError> {
        unreachable!("the search only reads files")
    }
}

/// What a search on a machine finds.
fn search_on(machine: &BusyMachine, jobs: usize) -> SearchOutcome {
    search_beside(machine, jobs, &[], Vec::new())
}

/// What a search finds beside tests that pass, with the traces of these.
fn search_beside(
    machine: &BusyMachine,
    jobs: usize,
    passing: &[TestCase],
    traces: Vec<Trace>,
) -> SearchOutcome {
    let file = RepoPath::parse("add.js").unwrap();
    let cluster = Cluster {
        tests: vec!["adds".into()],
        lines: [(file.clone(), [(2, 1.0)].into())].into(),
        top: None,
    };
    let diagnosis = Diagnosis {
        clusters: vec![cluster],
        sources: [(file, SOURCE.to_owned())].into(),
        traces,
        ..Diagnosis::default()
    };
    let tree = TreeId::parse("0".repeat(40)).unwrap();
    let trial = Trial {
        worktree: &EmptyWorktree,
        tree: &tree,
        runner: machine,
        clock: machine,
        limits: Limits { candidates: 500, time: Duration::from_hours(1) },
        jobs,
    };
    let search = Search {
        trial,
        failing: &[],
        passing,
        is_test: &|_| false,
        related: &[],
        strategy: Strategy::Conservative,
        base_diff: &[],
        disproved: &[],
        patterns: &[],
        singles_done: false,
        progress: &|_| {},
    };
    block_on(super::search(&search, &diagnosis)).unwrap()
}

/// The source after the proposed edit; empty without one.
fn proposed(found: SearchOutcome) -> String {
    let edits = found.proposal.map(|proposal| proposal.edits).unwrap_or_default();
    edits.files.into_iter().filter_map(|edit| edit.after).collect()
}

#[test]
fn the_simpler_of_two_repairs_is_proposed_although_it_ran_out_of_time_first() {
    let table = [
        ("idle", vec![1], 1),
        ("the first run is slow", [vec![600], vec![1; 499]].concat(), 1),
        ("the first runs are slow", [vec![600; 6], vec![1; 494]].concat(), 3),
    ];
    for (why, durations, jobs) in table {
        let after = proposed(search_on(&BusyMachine::new(durations, vec![0]), jobs));
        assert!(after.contains(SUMS[0]), "{why}: {after}");
    }
}

/// A trace is ended after a few seconds, so a slow test that passes looks in it as if it failed.
#[test]
fn a_slow_test_that_passes_keeps_no_repair_from_being_found() {
    let slow = TestCase {
        id: "sleeps".into(),
        status: Status::Passed,
        file: None,
        line: None,
        duration_ms: 4_000,
        layer: Layer::Unit,
        failure: None,
    };
    let trace = Trace {
        test: slow.id.clone(),
        status: Status::Failed,
        duration: Duration::from_secs(3),
        lines: BTreeMap::new(),
        failure: None,
    };
    // One run of the repaired test, then 4 s for all that passed.
    let machine = BusyMachine::new(vec![1, 4_000], vec![0]);
    let found = search_beside(&machine, 1, &[slow], vec![trace]);
    assert!(proposed(found).contains(SUMS[0]));
}

#[test]
fn candidates_that_hang_are_tried_again_a_few_times_only() {
    let machine = BusyMachine::new(vec![u64::MAX], vec![0]);
    let found = search_on(&machine, 2);
    let runs = machine.runs.load(Ordering::Relaxed);
    assert_eq!(runs - usize::try_from(found.tried).unwrap(), MAX_RETRIED);
    assert_eq!(proposed(found), "");
}

proptest! {
    #[test]
    fn the_proposal_depends_neither_on_load_nor_on_the_order_of_finish(
        durations in prop::collection::vec(1u64..1_800, 1..60),
        turns in prop::collection::vec(any::<u8>(), 1..60),
        jobs in 1usize..6,
    ) {
        let after = proposed(search_on(&BusyMachine::new(durations, turns), jobs));
        prop_assert!(after.contains(SUMS[0]), "{after}");
    }
}

#[test]
fn only_operators_of_edits_that_are_proposed_are_named() {
    let plausible = |file: &str, operator: OperatorId| Plausible {
        ranked: RankedEdit {
            edits: single(RepoPath::parse(file).unwrap(), "a", "b".into()),
            operators: vec![operator],
            priority: 1.0,
            summary: file.into(),
            single: None,
        },
        order: 1,
        repairs: Vec::new(),
        suspicion: None,
        special_case: None,
    };
    let chosen = vec![
        plausible("a.py", OperatorId::Constant),
        plausible("a.py", OperatorId::Guard),
        plausible("b.py", OperatorId::Text),
    ];
    let (proposal, operators) = merge(chosen, 3).unwrap();
    assert_eq!(proposal.edits.files.len(), 2);
    assert_eq!(operators, [OperatorId::Constant.name(), OperatorId::Text.name()]);
    assert!(merge(Vec::new(), 3).is_none());
}
