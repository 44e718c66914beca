//! Tests of the fix loop against a simulated test suite, by example and by property.

mod giving_up;
mod low_criticality;
mod objections;

use proptest::prelude::*;

use super::*;
use crate::domain::event::Event;
use crate::domain::fix_plan::ModificationPoint;
use crate::domain::guard::FixScope;
use crate::domain::id::RepoPath;
use crate::domain::latest_results::tests::results;
use crate::domain::memory::Prior;
use crate::domain::proposal::EditSet;
use crate::domain::strategy::Strategy::{self, Conservative, Surgical};
use crate::domain::test::Status::{self, Failed, Passed};
use crate::domain::test::{CaseKind, FailureText, Results, Scope};
use crate::domain::threshold::Thresholds;

fn commit(letter: char) -> CommitId {
    CommitId::parse(letter.to_string().repeat(40)).unwrap()
}

fn tree(number: usize) -> TreeId {
    TreeId::parse(format!("{number:040}")).unwrap()
}

pub fn new(target: u32, max_iterations: u32) -> FixLoop {
    let terms = FixTerms {
        target,
        max_iterations,
        commits: true,
        dry_run: false,
        has_base: false,
        minimise: true,
        regressed: RegressionTrace::Commits,
        state_is_committed: true,
        ignore_preexisting: false,
        thresholds: Thresholds::default(),
        scope: FixScope::Code,
        known_failures: Vec::new(),
        not_run: Vec::new(),
        prior: Prior::default(),
    };
    let session = SessionId::parse("WFS-test-x").unwrap();
    FixLoop::new(session, "2026-01-01T00:00:00Z".into(), terms, commit('a'), tree(0))
}

fn plan(salt: usize) -> FixPlan {
    let point = ModificationPoint {
        file: RepoPath::parse("a.py").unwrap(),
        function: format!("f{salt}"),
        start: 1,
        end: 2,
    };
    FixPlan {
        report: String::new(),
        edits: vec![],
        author: "embedded".into(),
        approach: "try".into(),
        root_causes: vec![],
        modification_points: vec![point],
        files: Vec::new(),
        affected_tests: vec![],
        confidence: 0.5,
        expected_outcome: String::new(),
        verification_steps: vec![],
        impact: String::new(),
    }
}

fn proposed(salt: usize) -> FixStepOutcome {
    let proposal = Proposal {
        author: "embedded".into(),
        edits: EditSet::default(),
        summary: format!("edit {salt}"),
        confidence: Some(0.5),
        repairs: vec![],
        tried: 1,
        suspicion: None,
        special_case: None,
        unread: None,
        edits_tests: false,
    };
    FixStepOutcome::Proposed {
        asked: ProviderCalls::default(),
        proposal: Some(proposal),
        fingerprint: format!("print {salt}"),
        operators: vec!["comparison".into()],
        refusals: vec![],
        tried: 1,
        timed_out: 0,
        search: None,
        exhausted: false,
    }
}

/// Number of tests in the simulated suite; the first `passing` of them pass.
const SIZE: usize = 30;

fn suite(passing: usize, scope: &Scope) -> Results {
    let names: Vec<String> = (0..SIZE).map(|n| format!("t{n:02}")).collect();
    let wanted = |name: &str| match scope {
        Scope::Full => true,
        Scope::Tests(ids) => ids.iter().any(|id| id.as_str() == name),
    };
    let cases: Vec<(&str, Status)> = names
        .iter()
        .enumerate()
        .filter(|(_, name)| wanted(name))
        .map(|(number, name)| (name.as_str(), if number < passing { Passed } else { Failed }))
        .collect();
    let mut results = results(scope.clone(), &cases);
    for case in &mut results.cases {
        case.file = RepoPath::parse("t.py").ok();
    }
    results
}

/// Result of the next step in a simulation where edit `n` makes `passing[n - 1]` tests pass.
pub fn outcome(state: &FixLoop, baseline: usize, passing: &[usize]) -> FixStepOutcome {
    let number = usize::try_from(state.current_iteration).unwrap();
    let accepted = state
        .iterations
        .iter()
        .zip(passing)
        .rfind(|(iteration, _)| iteration.result == IterationResult::Improved)
        .map_or(baseline, |(_, passing)| *passing);
    let proposal = number.checked_sub(1).and_then(|at| passing.get(at)).copied();
    let candidate = proposal.unwrap_or(accepted);
    let run = |passing, scope| FixStepOutcome::Ran(Ok(suite(passing, &scope)));
    match state.next {
        FixStep::Baseline => run(baseline, Scope::Full),
        FixStep::Recheck { .. } | FixStep::TestMergeBase => {
            run(baseline, Scope::Tests(state.failing()))
        }
        FixStep::Diagnose => {
            let asked = ProviderCalls::default();
            FixStepOutcome::Diagnosed {
                plan: Some(plan(number)),
                asked,
                explanation: None,
                too_weak: None,
                places: Vec::new(),
            }
        }
        FixStep::Propose if proposal.is_some() => proposed(number),
        FixStep::Propose => FixStepOutcome::Proposed {
            asked: ProviderCalls::default(),
            proposal: None,
            fingerprint: String::new(),
            operators: vec![],
            refusals: vec![],
            tried: 5,
            timed_out: 0,
            search: None,
            exhausted: true,
        },
        FixStep::Apply => FixStepOutcome::Applied { tree: tree(number), affected: state.failing() },
        FixStep::TestAffected => {
            run(candidate, Scope::Tests(state.attempt.as_ref().unwrap().affected.clone()))
        }
        FixStep::TestFull => run(candidate, Scope::Full),
        FixStep::Confirm => run(accepted, Scope::Full),
        FixStep::ConfirmFlaky { .. } => run(accepted, Scope::Tests(state.ledger.failing_flaky())),
        FixStep::Minimise => {
            FixStepOutcome::Minimised { tree: tree(99), minimised: Minimised::default() }
        }
        FixStep::Keep
        | FixStep::KeepSmaller
        | FixStep::ShowAttempt
        | FixStep::Rollback
        | FixStep::RemoveState => FixStepOutcome::Committed(Some(commit('b'))),
        FixStep::Restore | FixStep::Finish => FixStepOutcome::Restored,
    }
}

/// Runs a session in that simulation. Returns every state and all events.
fn play(mut state: FixLoop, baseline: usize, passing: &[usize]) -> (Vec<FixLoop>, Vec<Event>) {
    let mut states = vec![state.clone()];
    let mut shown = Vec::new();
    for _ in 0..2000 {
        if state.is_finished() {
            return (states, shown);
        }
        let outcome = outcome(&state, baseline, passing);
        let (next, events) = state.advance(outcome, 10);
        state = next;
        shown.extend(events);
        states.push(state.clone());
    }
    panic!("the loop does not end: {:?}", state.next);
}

#[test]
fn a_red_suite_goes_green_in_two_iterations() {
    let (states, events) = play(new(95, 10), 20, &[25, 30]);
    let last = states.last().unwrap();
    assert_eq!(last.verdict.as_ref().unwrap().ending, Ending::Success);
    assert_eq!(last.iterations.len(), 2);
    assert!(states.iter().any(|state| state.next == FixStep::RemoveState), "the tip is sealed");
    let rows = events.iter().filter(|event| matches!(event, Event::IterationEnded(_))).count();
    assert_eq!(rows, 2);
}

#[test]
fn a_hard_regression_is_shown_taken_back_and_answered_surgically() {
    let (states, _) = play(new(95, 10), 20, &[10, 30]);
    let steps: Vec<FixStep> = states.iter().map(|state| state.next).collect();
    let shown = steps.iter().position(|step| *step == FixStep::ShowAttempt).expect("it is shown");
    assert_eq!(steps.get(shown + 1), Some(&FixStep::Rollback));
    assert_eq!(steps.get(shown + 2), Some(&FixStep::Restore));
    let last = states.last().unwrap();
    assert_eq!(last.iterations[0].result, IterationResult::Regression);
    assert_eq!(last.iterations[1].row.strategy, Surgical);
    assert_eq!(last.iterations[0].row.after, last.iterations[0].row.before, "nothing is lost");
}

#[test]
fn a_lost_test_without_a_fall_of_the_rate_is_no_better_and_no_regression() {
    // The first edit loses one test of thirty, which are 3.3 points.
    let (states, _) = play(new(95, 10), 20, &[19, 30]);
    assert!(states.iter().all(|state| state.next != FixStep::ShowAttempt), "nothing to show");
    let last = states.last().unwrap();
    let [first, second] = &last.iterations[..] else { panic!("{:?}", last.iterations) };
    assert_eq!(first.result, IterationResult::Unchanged);
    assert_eq!((first.row.after, first.row.reached), (first.row.before, PassRate::of(19, 30)));
    assert_eq!(second.row.strategy, Conservative);
    assert!(!states.iter().any(|state| state.regression_detected));
}

#[test]
fn a_regression_that_leaves_a_patch_is_never_a_commit() {
    let mut state = new(95, 10);
    state.terms.regressed = RegressionTrace::Patch;
    let (states, _) = play(state, 20, &[10, 30]);
    let steps: Vec<FixStep> = states.iter().map(|state| state.next).collect();
    assert!(!steps.contains(&FixStep::ShowAttempt) && !steps.contains(&FixStep::Rollback));
    let restoring = states.iter().find(|state| state.next == FixStep::Restore).unwrap();
    let judged = restoring.attempt.as_ref().unwrap().judged.as_ref().unwrap();
    assert_eq!(judged.result, IterationResult::Regression);
    assert!(judged.reason.starts_with("the rate fell from"), "{}", judged.reason);
    let last = states.last().unwrap();
    assert_eq!(last.iterations[1].row.strategy, Surgical, "the strategy answers all the same");
    assert_eq!(last.verdict.as_ref().unwrap().ending, Ending::Success);
}

#[test]
fn without_travelling_state_there_is_nothing_to_seal() {
    let mut state = new(95, 10);
    state.terms.state_is_committed = false;
    let (states, _) = play(state, 20, &[30]);
    assert!(states.iter().all(|state| state.next != FixStep::RemoveState));
    assert_eq!(states.last().unwrap().verdict.as_ref().unwrap().ending, Ending::Success);
}

#[test]
fn what_fails_on_the_base_too_counts_unless_it_is_ignored() {
    // Ten tests fail on head and base, five on the head alone; the fix repairs those five.
    let run = |ignore: bool| {
        let mut state = new(100, 1);
        (state.terms.has_base, state.terms.ignore_preexisting) = (true, ignore);
        for _ in 0..200 {
            let passing = |state: &FixLoop| {
                if state.attempt.is_some() || !state.iterations.is_empty() { 20 } else { 15 }
            };
            let done = match state.next {
                FixStep::Finish => return state,
                FixStep::ConfirmFlaky { .. } => unreachable!("no test is flaky"),
                FixStep::Baseline => FixStepOutcome::Ran(Ok(suite(15, &Scope::Full))),
                FixStep::Recheck { .. } => {
                    FixStepOutcome::Ran(Ok(suite(15, &Scope::Tests(state.failing()))))
                }
                FixStep::TestMergeBase => {
                    FixStepOutcome::Ran(Ok(suite(20, &Scope::Tests(state.failing()))))
                }
                FixStep::Diagnose => FixStepOutcome::Diagnosed {
                    plan: Some(plan(1)),
                    asked: ProviderCalls::default(),
                    explanation: None,
                    too_weak: None,
                    places: Vec::new(),
                },
                FixStep::Propose => proposed(1),
                FixStep::Apply => FixStepOutcome::Applied { tree: tree(1), affected: vec![] },
                FixStep::TestAffected | FixStep::TestFull | FixStep::Confirm => {
                    FixStepOutcome::Ran(Ok(suite(passing(&state), &Scope::Full)))
                }
                FixStep::Minimise => {
                    FixStepOutcome::Minimised { tree: tree(1), minimised: Minimised::default() }
                }
                FixStep::Restore => FixStepOutcome::Restored,
                FixStep::Keep
                | FixStep::KeepSmaller
                | FixStep::ShowAttempt
                | FixStep::Rollback
                | FixStep::RemoveState => FixStepOutcome::Committed(Some(commit('b'))),
            };
            state = state.advance(done, 1).0;
        }
        panic!("the loop does not end: {:?}", state.next);
    };
    let table =
        [(false, Ending::Failure, (20, 30), (15, 30)), (true, Ending::Success, (20, 20), (15, 20))];
    for (ignore, ending, last, first) in table {
        let state = run(ignore);
        let verdict = state.verdict.as_ref().unwrap();
        assert_eq!(verdict.ending, ending, "{ignore}: {}", verdict.reason);
        let rate = |(passed, total)| PassRate::of(passed, total);
        assert_eq!(state.ledger.rate(), rate(last), "{ignore}");
        assert_eq!(state.baseline.as_ref().map(|one| one.rate), rate(first), "{ignore}");
        assert_eq!(state.preexisting.len(), 10, "shown in any case");
        assert_eq!(verdict.reason.contains("10 that fail on the base too"), ignore);
    }
}

/// Disables the detection of stuck tests, and sets the thresholds above which a batch is tried.
fn set_to(at: &mut Thresholds, rate: u32, similarity: f64) {
    (at.stuck_results, at.aggressive_rate, at.similarity) = (9, rate, similarity);
}

#[test]
fn thresholds_of_the_terms_reach_the_decisions() {
    let strategies = |change: fn(&mut Thresholds), outcomes: &[usize]| -> Vec<Strategy> {
        let mut state = new(100, 5);
        change(&mut state.terms.thresholds);
        let (states, _) = play(state, 20, outcomes);
        states.last().unwrap().iterations.iter().map(|one| one.row.strategy).collect()
    };
    let shown = |change: fn(&mut Thresholds)| {
        let mut state = new(100, 2);
        change(&mut state.terms.thresholds);
        let (states, _) = play(state, 20, &[18, 30]);
        states.iter().any(|state| state.next == FixStep::ShowAttempt)
    };
    let (careful, bold, reflective) = (Conservative, Strategy::Aggressive, Strategy::Reflective);
    // Each iteration repairs one test; the others keep failing.
    let outcomes = [21, 22, 23, 24];
    assert_eq!(strategies(|_| {}, &outcomes)[..3], [careful, careful, reflective]);
    assert_eq!(strategies(|at| at.stuck_results = 2, &outcomes)[..2], [careful, reflective]);
    // Failures without a message have a similarity of 0.7; 22 of 30 tests are 73 %.
    let third = |change: fn(&mut Thresholds)| strategies(change, &outcomes)[2];
    assert_eq!(third(|at| set_to(at, 70, 0.6)), bold);
    assert_eq!(third(|at| set_to(at, 70, 0.7)), careful);
    assert_eq!(third(|at| set_to(at, 90, 0.6)), careful);
    // Two of thirty tests are 6.6 points.
    assert!(!shown(|_| {}));
    assert!(shown(|at| at.regression_points = 6));
    assert!(!shown(|at| at.regression_points = 7));
}

#[test]
fn a_change_of_tests_is_partial_success_at_best() {
    let mut state = new(95, 10);
    state.tests_edited = true;
    let (states, _) = play(state, 20, &[30]);
    let verdict = states.last().unwrap().verdict.clone().unwrap();
    assert_eq!(verdict.ending, Ending::PartialSuccess);
    assert!(verdict.reason.contains("a person must confirm"), "{}", verdict.reason);
}

#[test]
fn states_of_older_sessions_are_read() {
    let mut value = serde_json::to_value(new(95, 10)).unwrap();
    let terms = value["terms"].as_object_mut().unwrap();
    for name in ["regressed", "state_is_committed", "ignore_preexisting", "thresholds", "scope"] {
        assert!(terms.remove(name).is_some(), "{name}");
    }
    value.as_object_mut().unwrap().remove("tests_edited");
    assert_eq!(serde_json::from_value::<FixLoop>(value).unwrap(), new(95, 10));
}

#[test]
fn an_answer_that_belongs_to_another_step_changes_nothing() {
    let state = new(95, 10);
    let (next, events) = state.clone().advance(FixStepOutcome::Restored, 0);
    assert_eq!((next, events), (state, vec![]));
}

proptest! {
    #[test]
    fn any_sequence_of_results_keeps_the_rules(
        baseline in 0usize..SIZE, target in 1u32..=100, limit in 1u32..8,
        outcomes in prop::collection::vec(0usize..=SIZE, 0..8),
    ) {
        let (states, _) = play(new(target, limit), baseline, &outcomes);
        let last = states.last().unwrap();
        let verdict = last.verdict.as_ref().unwrap();
        let rate = last.ledger.rate().unwrap();
        if verdict.ending == Ending::Success {
            prop_assert!(rate.is_full() && !last.ledger.is_estimated());
        }
        if verdict.ending == Ending::PartialSuccess {
            prop_assert!(rate.is_at_least(target));
        }
        prop_assert!(last.current_iteration <= limit);
        for pair in states.windows(2) {
            prop_assert!(pair[0].current_iteration <= pair[1].current_iteration);
            prop_assert!(pair[0].spent_ms <= pair[1].spent_ms);
            prop_assert!(pair[0].iterations.len() <= pair[1].iterations.len());
        }
        for pair in last.iterations.windows(2) {
            if pair[0].result == IterationResult::Regression {
                prop_assert_ne!(pair[1].row.strategy, Conservative);
            }
            prop_assert!(!pair[1].row.before.rose_above(pair[0].row.after), "nothing from nowhere");
            prop_assert!(!pair[0].row.after.rose_above(pair[1].row.after), "kept rates never fall");
        }
    }

    /// After a crash at any step, the saved state continues exactly as the original does.
    #[test]
    fn a_state_that_was_saved_and_read_back_is_the_same(
        baseline in 0usize..SIZE, outcomes in prop::collection::vec(0usize..=SIZE, 0..4),
    ) {
        let (states, _) = play(new(95, 5), baseline, &outcomes);
        for state in states {
            let text = serde_json::to_string(&state).unwrap();
            prop_assert_eq!(serde_json::from_str::<FixLoop>(&text).unwrap(), state);
        }
    }
}

/// Strategies of a session in which nothing helps: the conservative full run finds the regression,
/// and the surgical attempt after it runs the affected tests and changes nothing. Two of these and
/// the baseline are three results.
#[test]
fn strategies_follow_each_other_as_specified() {
    let (states, _) = play(new(100, 6), 20, &[5, 6, 7, 20]);
    let strategies: Vec<Strategy> =
        states.last().unwrap().iterations.iter().map(|one| one.row.strategy).collect();
    let (careful, reflective) = (Conservative, Strategy::Reflective);
    assert_eq!(strategies, [careful, Surgical, careful, Surgical, reflective]);
}

/// A run in which failing tests miss a package, except those in `others`.
fn without_package(mut results: Results, others: &[&str]) -> Results {
    for case in results.cases.iter_mut().filter(|case| case.status == Failed) {
        let is_other = others.contains(&case.id.as_str());
        let message = if is_other { "assert 1 == 2" } else { "No module named 'freezegun'" };
        case.failure = Some(FailureText { message: message.into(), ..FailureText::default() });
    }
    results
}

/// A baseline in which `passing` tests pass, and all but `others` of the rest miss a package.
fn missing(passing: usize, others: &[&str]) -> FixStepOutcome {
    FixStepOutcome::NotInstalled {
        results: without_package(suite(passing, &Scope::Full), others),
        packages: ["freezegun".to_owned()].into(),
        hindrances: BTreeMap::new(),
    }
}

#[test]
fn a_suite_that_misses_packages_ends_before_any_search() {
    let (state, events) = new(95, 10).advance(missing(5, &[]), 7);
    let verdict = state.verdict.as_ref().unwrap();
    assert_eq!((state.next, verdict.ending), (FixStep::Finish, Ending::Failure));
    assert!(verdict.reason.starts_with("`freezegun` is not installed"), "{}", verdict.reason);
    assert_eq!((state.current_iteration, state.failing().len()), (0, SIZE - 5));
    assert!(matches!(&events[..], [Event::Ran { .. }, Event::Baseline { .. }]), "{events:?}");
}

/// What misses a package ends a session only if it counts: `t29` fails, on the base too or not.
/// A case of a missing package: its setting, its numbers of tests, and what is expected.
type PackageCase = (bool, usize, usize, &'static [&'static str], FixStep, Option<&'static str>);

#[test]
fn only_counted_failures_that_miss_packages_end_a_session() {
    let all = SIZE;
    // Ignored failures of the base, tests that pass here and there, failures for other reasons, the
    // step after the baseline, and the end.
    let table: [PackageCase; 5] = [
        (true, all - 1, all - 1, &[], FixStep::TestMergeBase, None),
        (true, all - 1, all, &[], FixStep::TestMergeBase, Some("`freezegun` is not")),
        (false, all - 1, all - 1, &[], FixStep::TestMergeBase, Some("`freezegun` is not")),
        (true, all - 2, all - 1, &["t28"], FixStep::Recheck { round: 1 }, None),
        (true, all - 2, all - 1, &["t29"], FixStep::Recheck { round: 1 }, Some("`freezegun` is")),
    ];
    for (number, (ignore, head, base, others, first, end)) in table.into_iter().enumerate() {
        let mut state = new(100, 1);
        (state.terms.has_base, state.terms.ignore_preexisting) = (true, ignore);
        (state, _) = state.advance(missing(head, others), 1);
        assert_eq!(state.next, first, "{number}");
        while matches!(state.next, FixStep::Recheck { .. } | FixStep::TestMergeBase) {
            let passing = if state.next == FixStep::TestMergeBase { base } else { head };
            let run = without_package(suite(passing, &Scope::Tests(state.failing())), others);
            (state, _) = state.advance(FixStepOutcome::Ran(Ok(run)), 1);
        }
        let reason = state.verdict.as_ref().map(|verdict| verdict.reason.as_str());
        assert_eq!(reason.is_some(), end.is_some(), "{number}: {reason:?}");
        assert!(end.is_none_or(|end| reason.unwrap().starts_with(end)), "{number}: {reason:?}");
    }
    let mut known = new(100, 1);
    known.terms.ignore_preexisting = true;
    known.preexisting = vec!["t29".into()];
    let (state, _) = known.advance(missing(all - 1, &[]), 1);
    assert_eq!(state.verdict.unwrap().ending, Ending::Success, "nothing that counts fails");
}

#[test]
fn what_ran_out_of_time_gets_twice_as_much() {
    let s = |seconds: u64| std::time::Duration::from_secs(seconds);
    let table = [
        (Some(s(12)), s(12), false, "--budget-minutes 0.4"),
        (Some(s(60)), s(61), false, "--budget-minutes 2"),
        (Some(s(60)), s(59), false, ""),
        (Some(s(60)), s(61), true, ""),
        (None, s(61), false, ""),
    ];
    for (budget, elapsed, is_spent, expected) in table {
        let stopped = Stopped { is_spent, ..Stopped::default() };
        assert_eq!(stopped.with_more_time(budget, elapsed).options.join(" "), expected);
    }
}

#[test]
fn an_edit_is_unconfirmed_from_its_proposal_to_the_end_of_its_test_run() {
    let (states, _) = play(new(95, 10), 20, &[25, 30]);
    for state in states {
        let stopped = Stopped { reason: "the time budget is used up".into(), ..Stopped::default() };
        let outcome = state.outcome(SessionLocation::default(), stopped);
        let edit = outcome.unfinished.as_ref().and_then(|unfinished| unfinished.edit.as_ref());
        let is_open =
            matches!(state.next, FixStep::Apply | FixStep::TestAffected | FixStep::TestFull);
        assert_eq!(edit.is_some(), is_open, "{:?}", state.next);
        if let Some(edit) = edit {
            assert_eq!(edit.summary, format!("edit {}", state.current_iteration));
            assert_eq!(outcome.result, Ending::Blocked);
        }
        let begun = state.attempt.is_some() && !state.is_finished();
        assert_eq!(outcome.unfinished.is_some(), begun, "{:?}", state.next);
    }
}

#[test]
fn candidates_that_only_ran_out_of_time_are_said_to_have() {
    let mut state = new(95, 10);
    while state.next != FixStep::Propose {
        let done = outcome(&state, 20, &[]);
        state = state.advance(done, 1).0;
    }
    let done = match outcome(&state, 20, &[]) {
        FixStepOutcome::Proposed { asked, fingerprint, operators, refusals, .. } => {
            FixStepOutcome::Proposed {
                proposal: None,
                tried: 97,
                timed_out: 3,
                search: None,
                exhausted: true,
                asked,
                fingerprint,
                operators,
                refusals,
            }
        }
        other => panic!("{other:?}"),
    };
    let reason = &state.advance(done, 1).0.iterations[0].row.reason;
    assert_eq!(reason, "no plausible edit among 97 candidates, of which 3 only ran out of time");
}

#[test]
fn what_is_kept_is_proven_also_when_nothing_is_dropped_and_when_the_session_ends_red() {
    let steps = |minimise: bool, iterations: u32, passing: &[usize]| {
        let mut state = new(95, iterations);
        state.terms.minimise = minimise;
        let (states, _) = play(state, 20, passing);
        let proving: Vec<bool> = states
            .iter()
            .filter(|state| state.next == FixStep::Minimise)
            .map(FixLoop::drops_hunks)
            .collect();
        (proving, states.last().unwrap().verdict.clone().unwrap().ending)
    };
    let table = [
        ("green", true, &[30][..], vec![true], Ending::Success),
        ("green, nothing is to be dropped", false, &[30], vec![false], Ending::Success),
        ("red, with a kept change", true, &[25], vec![false], Ending::Failure),
        ("red, without a change", true, &[10], vec![], Ending::Failure),
    ];
    for (why, minimise, passing, proving, ending) in table {
        assert_eq!(steps(minimise, 1, passing), (proving, ending), "{why}");
    }
    let (states, _) = play(new(95, 1), 20, &[25]);
    let (reopened, _) = states.last().unwrap().clone().reopen(3);
    assert!(reopened.minimised.is_none(), "a longer change is proven again");
}

#[test]
fn a_green_suite_beside_one_that_did_not_run_is_not_plainly_green() {
    for (baseline, passing) in [(SIZE, &[][..]), (20, &[SIZE])] {
        let mut state = new(95, 3);
        state.terms.not_run = vec!["go test (go.mod, 3 test files)".into()];
        let (states, _) = play(state, baseline, passing);
        let verdict = states.last().unwrap().verdict.clone().unwrap();
        assert_eq!(verdict.ending, Ending::PartialSuccess, "{}", verdict.reason);
        assert!(verdict.reason.contains("not run: go test (go.mod, 3 test"), "{}", verdict.reason);
    }
}

#[test]
fn a_suite_in_which_every_test_is_skipped_runs_once_and_is_not_green() {
    let skipped = || {
        let cases = [("a", Status::Skipped), ("b", Status::Skipped)];
        FixStepOutcome::Ran(Ok(results(Scope::Full, &cases)))
    };
    let state = new(95, 3).advance(skipped(), 1).0;
    let verdict = state.verdict.clone().unwrap();
    assert_eq!((state.next, verdict.ending), (FixStep::Finish, Ending::Failure));
    assert!(verdict.reason.starts_with("every test was skipped, so nothing"), "{}", verdict.reason);
    assert_eq!(
        state.reopen(5).0.next,
        FixStep::Baseline,
        "what was provided since may let them run"
    );
    // Where the others are set aside, that is what is said.
    let mut excluding = new(95, 3);
    excluding.terms.ignore_preexisting = true;
    excluding.preexisting = vec![TestId::from("a")];
    let cases = [("a", Failed), ("b", Status::Skipped)];
    let state = excluding.advance(FixStepOutcome::Ran(Ok(results(Scope::Full, &cases))), 1).0;
    assert_eq!(state.verdict.unwrap().reason, "all tests are excluded");
}
