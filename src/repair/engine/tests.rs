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
use crate::domain::checkout_gap::CheckoutGap;
use crate::domain::explanation::LineOrigin;
use crate::domain::id::{CommitId, RepoPath, TestId, TreeId};
use crate::domain::memory::Prior;
use crate::domain::proposal::EditSet;
use crate::domain::test::{CaseKind, FailureText, Layer, Status, TestCase};
use crate::effect::{
    CandidateRunner, Clock, CommitRequest, FileDiff, GitError, Hunk, RunError, Speed, Trace,
    Worktree,
};
use crate::repair::search_settings::{Limits, Trial};
use crate::repair::stream::single;
use crate::repair::unknown_name::UnknownNames;

const SOURCE: &str = "function add(a, b) {\n  return a - b;\n}\n";

/// Both are the sum; the first one is the simpler edit.
const SUMS: [&str; 2] = ["return a + b;", "return a - -b;"];

/// Class and message of the failure of a test on some sources; `None` if it passes.
type Answer = fn(&str, &TestId) -> Option<(&'static str, &'static str)>;

/// A machine on which each run takes as long as a list says, in milliseconds, and lets others
/// finish first as often as another list says.
struct BusyMachine {
    durations: Vec<u64>,
    turns: Vec<u8>,
    /// How tests end on the sources after an edit.
    answer: Answer,
    /// Whether edits of this kind never end.
    hangs: fn(&str) -> bool,
    /// What a run of a repaired source takes at least, in milliseconds.
    repaired: u64,
    /// Runs of changed sources.
    runs: AtomicUsize,
    all_runs: AtomicUsize,
    elapsed: Mutex<Duration>,
}

impl BusyMachine {
    fn new(durations: Vec<u64>, turns: Vec<u8>) -> Self {
        Self {
            durations,
            turns,
            answer: |after, _| {
                let is_sum = SUMS.iter().any(|sum| after.contains(sum));
                (!is_sum).then_some(("AssertionError", ""))
            },
            hangs: |_| false,
            repaired: 0,
            runs: AtomicUsize::new(0),
            all_runs: AtomicUsize::new(0),
            elapsed: Mutex::default(),
        }
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
        let texts = edits.files.iter().filter_map(|edit| edit.after.as_deref());
        let after: String = texts.collect();
        let is_changed = edits.files.iter().any(|edit| edit.before != edit.after);
        self.runs.fetch_add(usize::from(is_changed), Ordering::Relaxed);
        let run = self.all_runs.fetch_add(1, Ordering::Relaxed);
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
        let duration = if is_changed && (self.hangs)(&after) {
            Duration::MAX
        } else {
            Duration::from_millis(self.durations[run % self.durations.len()])
        };
        let is_sum = is_changed && SUMS.iter().any(|sum| after.contains(sum));
        let least = if is_sum { self.repaired } else { 0 };
        let duration = duration.max(Duration::from_millis(least));
        *self.elapsed.lock().unwrap() += duration.min(limit);
        let case = |test: &TestId| {
            let failure = (self.answer)(&after, test);
            let failure = failure.map(|(class, message)| (class.to_owned(), message.to_owned()));
            let (status, failure) = match failure {
                _ if duration >= limit => (Status::Failed, None),
                None => (Status::Passed, None),
                failure => (Status::Failed, failure),
            };
            CaseResult {
                test: test.clone(),
                status,
                failure,
                frames: Vec::new(),
                failing_behind: 0,
            }
        };
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
    fn gaps(&self, _: &Path) -> Vec<CheckoutGap> {
        Vec::new()
    }
    async fn remove_stand_ins(&self) -> Result<(), GitError> {
        unreachable!("the search only reads files")
    }
    async fn files(&self, _: &TreeId) -> Result<Vec<RepoPath>, GitError> {
        Ok(Vec::new())
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

    async fn export(&self, _: &TreeId, _: &str, _: Option<&CommitId>) -> Result<PathBuf, GitError> {
        unreachable!("the search only reads files")
    }
    async fn collect(&self, _: &str, _: &TreeId) -> Result<EditSet, GitError> {
        unreachable!("the search only reads files")
    }
    async fn remove(&self) -> Result<(), GitError> {
        unreachable!("the search only reads files")
    }
}

/// A failing test that says what was wrong.
fn failing(id: &str) -> TestCase {
    TestCase {
        kind: CaseKind::Test,
        id: id.into(),
        status: Status::Failed,
        file: None,
        line: None,
        duration_ms: 1,
        layer: Layer::Unit,
        failure: Some(FailureText {
            class: "AssertionError".into(),
            message: "1 != 3".into(),
            stack: String::new(),
            frames: Vec::new(),
        }),
    }
}

/// What there is to search: by default one function whose only test fails.
struct Task {
    sources: Vec<(&'static str, &'static str, &'static [u32])>,
    failing: Vec<TestCase>,
    /// The tests of each group behind its first one.
    behind: &'static [&'static str],
    passing: Vec<TestCase>,
    traces: Vec<Trace>,
    jobs: usize,
    strategy: Strategy,
    singles_done: bool,
    prior: Prior,
    kept_diff: Vec<FileDiff>,
}

impl Default for Task {
    fn default() -> Self {
        Self {
            sources: vec![("add.js", SOURCE, &[2])],
            failing: vec![failing("adds")],
            behind: &[],
            passing: Vec::new(),
            traces: Vec::new(),
            jobs: 1,
            strategy: Strategy::Conservative,
            singles_done: false,
            prior: Prior::default(),
            kept_diff: Vec::new(),
        }
    }
}

impl Task {
    /// What a search on a machine finds; each source explains the failing test in its place.
    fn search_on(&self, machine: &BusyMachine) -> SearchOutcome {
        let file = |name: &str| RepoPath::parse(name).unwrap();
        let clusters = self.sources.iter().zip(&self.failing).map(|((name, _, lines), case)| {
            let scores = lines.iter().map(|line| (*line, 1.0)).collect();
            Cluster {
                tests: [case.id.as_str()]
                    .iter()
                    .chain(self.behind)
                    .map(|id| (*id).into())
                    .collect(),
                lines: [(file(name), scores)].into(),
                ..Cluster::default()
            }
        });
        let sources = self.sources.iter().map(|(name, text, _)| (file(name), (*text).to_owned()));
        let diagnosis = Diagnosis {
            clusters: clusters.collect(),
            sources: sources.collect(),
            traces: self.traces.clone(),
            ..Diagnosis::default()
        };
        let tree = TreeId::parse("0".repeat(40)).unwrap();
        let trial = Trial {
            worktree: &EmptyWorktree,
            tree: &tree,
            runner: machine,
            clock: machine,
            limits: Limits { candidates: 500, time: Duration::from_hours(1) },
            jobs: self.jobs,
        };
        let search = Search {
            trial,
            failing: &self.failing,
            passing: &self.passing,
            unexpected_passes: &[],
            is_test: &|_| false,
            related: &[],
            strategy: self.strategy,
            base_diff: &[],
            kept_diff: &self.kept_diff,
            disproved: &[],
            patterns: &[],
            prior: &self.prior,
            singles_done: self.singles_done,
            progress: &|_| {},
        };
        block_on(super::search(&search, &diagnosis)).unwrap()
    }
}

/// What a search on a machine finds.
fn search_on(machine: &BusyMachine, jobs: usize) -> SearchOutcome {
    Task { jobs, ..Task::default() }.search_on(machine)
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

/// A test that fails at once says nothing about the time that it takes when it passes.
#[test]
fn a_repaired_test_gets_the_time_that_it_took_when_it_passed_in_an_earlier_session() {
    let trace = Trace {
        test: "adds".into(),
        status: Status::Failed,
        duration: Duration::from_millis(1),
        lines: BTreeMap::new(),
        loaded: BTreeMap::new(),
        failure: None,
    };
    for (slow, is_found) in [(None, false), (Some(5_000), true)] {
        let machine = BusyMachine { repaired: 4_800, ..BusyMachine::new(vec![1], vec![0]) };
        let slow = slow.map(|ms| ("adds".into(), ms)).into_iter().collect();
        let prior = Prior { slow, ..Prior::default() };
        let task = Task { traces: vec![trace.clone()], prior, ..Task::default() };
        let after = proposed(task.search_on(&machine));
        assert_eq!(after.contains(SUMS[0]), is_found, "{after}");
    }
}

#[test]
fn between_equal_candidates_the_file_that_was_repaired_before_comes_first() {
    let both = |known: Option<&str>| {
        let sources = [("a.js", SOURCE), ("b.js", SOURCE)];
        let file = |name: &str| RepoPath::parse(name).unwrap();
        let sources = sources.map(|(name, text)| (file(name), text.to_owned())).into();
        let lines = |score: f64| BTreeMap::from([(2, score)]);
        let first = |a: f64, b: f64| {
            let cluster = Cluster {
                tests: Vec::new(),
                lines: [(file("a.js"), lines(a)), (file("b.js"), lines(b))].into(),
                ..Cluster::default()
            };
            let files = known.map(file).into_iter().collect();
            let prior = Prior { files, ..Prior::default() };
            let bias = Bias {
                is_unloaded: false,
                patterns: &[],
                prior: &prior,
                surgical: false,
                unknown: UnknownNames::default(),
                literals: BTreeSet::new(),
            };
            let edit = Stream::new(&cluster, &sources, &[], &bias).next().unwrap();
            edit.edits.files[0].file.to_string()
        };
        [first(1.0, 1.0), first(1.0, 0.99)]
    };
    assert_eq!(both(None), ["a.js", "a.js"]);
    assert_eq!(both(Some("b.js")), ["b.js", "a.js"], "evidence outvotes it, however little");
}

/// A trace is ended after a few seconds, so a slow test that passes looks in it as if it failed.
#[test]
fn a_slow_test_that_passes_keeps_no_repair_from_being_found() {
    let slow = TestCase {
        kind: CaseKind::Test,
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
        loaded: BTreeMap::new(),
        failure: None,
    };
    // One run of the repaired test, then 4 s for all that passed.
    let machine = BusyMachine::new(vec![1, 1, 1, 4_000], vec![0]);
    let task = Task { passing: vec![slow], traces: vec![trace], ..Task::default() };
    let found = task.search_on(&machine);
    assert!(proposed(found).contains(SUMS[0]));
}

#[test]
fn candidates_that_hang_are_tried_again_a_few_times_only() {
    let machine = BusyMachine { hangs: |_| true, ..BusyMachine::new(vec![1], vec![0]) };
    let found = search_on(&machine, 2);
    let runs = machine.runs.load(Ordering::Relaxed);
    assert_eq!(runs - usize::try_from(found.tried).unwrap(), MAX_RETRIED);
    assert_eq!(found.timed_out, found.tried, "nothing is known of any");
    assert_eq!(proposed(found), "");
}

/// The right edit comes late, behind many that a busy machine stops.
#[test]
fn a_repair_is_found_although_the_machine_becomes_too_busy_for_any_candidate() {
    let only_last: Answer =
        |after, _| (!after.contains("return a - b * 2;")).then_some(("AssertionError", ""));
    let machine =
        |durations| BusyMachine { answer: only_last, ..BusyMachine::new(durations, vec![0]) };
    let calm = search_on(&machine(vec![1]), 1);
    assert!(calm.tried > 2 * u32::try_from(MAX_RETRIED).unwrap(), "{}", calm.tried);
    for busy in [600, 3_000] {
        // The first control runs are quick.
        let durations = [vec![1; 2], vec![busy; 5_000]].concat();
        let found = search_on(&machine(durations), 1);
        assert_eq!((found.tried, found.timed_out), (calm.tried, 0), "{busy} ms");
        assert!(proposed(found).contains("return a - b * 2;"), "{busy} ms");
    }
}

#[test]
fn of_a_pair_only_the_edit_that_is_needed_is_proposed() {
    let pairs = Task { strategy: Strategy::Reflective, singles_done: true, ..Task::default() };
    let source = "export const one = 1;\nfunction add(a, b) {\n  return a - b;\n}\n";
    let task = Task { sources: vec![("add.js", source, &[1, 3])], ..pairs };
    let after = proposed(task.search_on(&BusyMachine::new(vec![1], vec![0])));
    assert_eq!(after, source.replace("a - b", "a + b"));
}

#[test]
fn an_edit_of_one_group_that_another_edit_makes_needless_is_left_out() {
    let task = Task {
        sources: vec![
            ("add.js", SOURCE, &[2]),
            ("sub.js", "function sub(a, b) {\n  return a * b;\n}\n", &[2]),
        ],
        failing: vec![failing("adds"), failing("subtracts")],
        strategy: Strategy::Aggressive,
        ..Task::default()
    };
    let machine = BusyMachine {
        answer: |after, test| {
            let added = after.contains(SUMS[0]);
            let passes = added || test.as_str() == "subtracts" && after.contains("return a / b;");
            (!passes).then_some(("AssertionError", "1 != 3"))
        },
        ..BusyMachine::new(vec![1], vec![0])
    };
    let edits = task.search_on(&machine).proposal.unwrap().edits;
    let files: Vec<&str> = edits.files.iter().map(|edit| edit.file.as_str()).collect();
    assert_eq!(files, ["add.js"]);
}

#[test]
fn an_edit_that_sets_another_failing_test_back_is_no_repair() {
    let task = Task { failing: vec![failing("adds"), failing("shows")], ..Task::default() };
    let machine = |message: &'static str| BusyMachine {
        answer: match message {
            "" => |after, test| {
                let passes = test.as_str() == "adds" && SUMS.iter().any(|sum| after.contains(sum));
                (!passes).then_some(("AssertionError", "1 != 3"))
            },
            _ => |after, test| match test.as_str() {
                "adds" => (!SUMS.iter().any(|sum| after.contains(sum)))
                    .then_some(("AssertionError", "1 != 3")),
                _ if after.contains(SUMS[0]) => Some(("ReferenceError", "show is not defined")),
                _ => Some(("AssertionError", "1 != 3")),
            },
        },
        ..BusyMachine::new(vec![1], vec![0])
    };
    assert!(proposed(task.search_on(&machine(""))).contains(SUMS[0]));
    assert!(proposed(task.search_on(&machine("worse"))).contains(SUMS[1]));
}

#[test]
fn of_repairs_of_one_cluster_the_one_that_mends_others_too_is_taken() {
    let task = Task { failing: vec![failing("adds"), failing("shows")], ..Task::default() };
    let machine = BusyMachine {
        answer: |after, test| {
            let last = after.contains(SUMS[1]);
            let passes = last || test.as_str() == "adds" && after.contains(SUMS[0]);
            (!passes).then_some(("AssertionError", "1 != 3"))
        },
        ..BusyMachine::new(vec![1], vec![0])
    };
    assert!(proposed(task.search_on(&machine)).contains(SUMS[1]));
}

#[test]
fn an_edit_that_repairs_a_part_of_a_group_without_its_first_test_is_proposed() {
    let task = Task { behind: &["shows", "prints", "counts"], ..Task::default() };
    let machine = BusyMachine {
        answer: |after, test| {
            let is_repaired =
                after.contains(SUMS[0]) && ["prints", "counts"].contains(&test.as_str());
            (!is_repaired).then_some(("AssertionError", "1 != 3"))
        },
        ..BusyMachine::new(vec![1], vec![0])
    };
    let found = task.search_on(&machine).proposal.unwrap();
    assert_eq!(found.repairs, ["counts".into(), "prints".into()]);
}

#[test]
fn what_an_earlier_iteration_kept_gives_way_to_an_edit_that_repairs_the_rest_too() {
    const KEPT: &str = "function add(a, b) {\n  return Math.abs(a) - b;\n}\n";
    let kept = FileDiff {
        file: RepoPath::parse("add.js").unwrap(),
        before: Some(SOURCE.into()),
        after: Some(KEPT.into()),
        hunks: vec![Hunk { old_start: 2, old_lines: 1, new_start: 2, new_lines: 1 }],
        patch: String::new(),
    };
    let sources: Vec<(_, _, &[u32])> = vec![("add.js", KEPT, &[2])];
    let task = Task { sources, kept_diff: vec![kept], ..Task::default() };
    let machine = BusyMachine::new(vec![1], vec![0]);
    let found = task.search_on(&machine).proposal.unwrap();
    assert!(found.summary.starts_with("add.js: take back the change at line 2; "), "{found:?}");
    assert!(found.edits.files[0].after.as_deref().unwrap().contains(SUMS[0]), "{found:?}");
}

proptest! {
    #[test]
    fn the_proposal_depends_neither_on_load_nor_on_the_order_of_finish(
        load in 1u64..1_200,
        shares in prop::collection::vec(50u64..150, 1..60),
        turns in prop::collection::vec(any::<u8>(), 1..60),
        jobs in 1usize..6,
    ) {
        // The machine becomes busy after the unchanged sources were timed, and stays so.
        let busy = shares.iter().cycle().take(2_000).map(|share| load * share / 100);
        let durations = [1, 1].into_iter().chain(busy).collect();
        let after = proposed(search_on(&BusyMachine::new(durations, turns), jobs));
        prop_assert!(after.contains(SUMS[0]), "{after}");
    }
}

#[test]
fn an_expected_failure_that_passes_with_a_repair_speaks_against_no_edit() {
    let table: [(&str, Answer, bool); 2] = [
        (
            "it alone",
            |after, test| {
                let is_sum = after.contains(SUMS[0]);
                match test.as_str() {
                    "adds" => (!is_sum).then_some(("AssertionError", "")),
                    "marked" => is_sum.then_some(("AssertionError", "unexpected success")),
                    _ => None,
                }
            },
            true,
        ),
        (
            "another that breaks behind it",
            |after, test| {
                let is_sum = after.contains(SUMS[0]);
                match test.as_str() {
                    "adds" => (!is_sum).then_some(("AssertionError", "")),
                    "marked" => is_sum.then_some(("AssertionError", "unexpected success")),
                    _ => is_sum.then_some(("AssertionError", "1 != 2")),
                }
            },
            false,
        ),
    ];
    for (why, answer, expected) in table {
        let passing = ["marked", "other"];
        let passing = passing.map(|id| TestCase { status: Status::Passed, ..failing(id) });
        let task = Task { passing: passing.into(), ..Task::default() };
        let machine = BusyMachine { answer, ..BusyMachine::new(vec![1], vec![0]) };
        let after = proposed(task.search_on(&machine));
        assert_eq!(after.contains(SUMS[0]), expected, "{why}: {after}");
    }
}

#[test]
fn only_operators_of_edits_that_are_proposed_are_named() {
    let plausible = |file: &str, operator: OperatorId| Plausible {
        failing_behind: 0,
        beyond: None,
        ranked: RankedEdit {
            edits: single(RepoPath::parse(file).unwrap(), "a", "b".into()),
            operators: vec![operator],
            priority: 1.0,
            summary: file.into(),
            goal: None,
            parts: Vec::new(),
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
    let (proposal, operators) = merge(apart(chosen), 3).unwrap();
    assert_eq!(proposal.edits.files.len(), 2);
    assert_eq!(operators, [OperatorId::Constant.name(), OperatorId::Text.name()]);
    assert!(merge(Vec::new(), 3).is_none());
}

#[test]
fn what_a_compiler_refuses_again_and_again_is_left_out() {
    let fails: Answer =
        |after, _| (!after.contains("return a - b;")).then_some(("AssertionError", "cannot use x"));
    let refused: Answer = |after, _| {
        (!after.contains("return a - b;")).then_some(("does not compile", "cannot use x"))
    };
    let tried = |answer| {
        let machine = BusyMachine { answer, ..BusyMachine::new(vec![1], vec![0]) };
        Task::default().search_on(&machine).tried
    };
    assert!(tried(refused) < tried(fails), "{} and {}", tried(refused), tried(fails));
}
