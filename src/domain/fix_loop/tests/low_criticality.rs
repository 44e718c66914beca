//! Tests of failures that no edit repairs: flaky, known, or denied by the environment. They count,
//! and the target of the gate decides.

use super::*;
use crate::domain::criticality::Criticality;
use crate::domain::known_failure::{FORM, KnownFailure};

/// A run in which the tests from `passing` on fail, besides those in `pass`.
fn ran(state: &FixLoop, passing: usize, pass: &[&str]) -> FixStepOutcome {
    let scope = match state.next {
        FixStep::Recheck { .. } => Scope::Tests(state.failing()),
        FixStep::ConfirmFlaky { .. } => Scope::Tests(state.ledger.failing_flaky()),
        _ => Scope::Full,
    };
    let mut results = suite(passing, &scope);
    for case in &mut results.cases {
        if pass.contains(&case.id.as_str()) {
            case.status = Passed;
        }
    }
    FixStepOutcome::Ran(Ok(results))
}

/// The verdict of a session whose failing tests are `t28` and `t29`. In the baseline and in the
/// final run both fail; alone, those pass that `alone` names for the baseline and for the end.
fn ended(target: u32, known: &[&str], alone: [&[&str]; 2]) -> FixLoop {
    let mut state = new(target, 3);
    state.terms.known_failures =
        known.iter().map(|test| KnownFailure::parse(test, FORM).unwrap()).collect();
    for _ in 0..50 {
        let done = match state.next {
            FixStep::Baseline | FixStep::Confirm => ran(&state, 28, &[]),
            FixStep::Recheck { .. } => ran(&state, 28, alone[0]),
            FixStep::ConfirmFlaky { .. } => ran(&state, 28, alone[1]),
            _ => return state,
        };
        (state, _) = state.advance(done, 1);
    }
    state
}

/// Target, known failures, tests that pass alone at the beginning and at the end, the ending if there
/// is one, and the number of failures that are left.
type LowCase = (u32, &'static [&'static str], [&'static [&'static str]; 2], Option<Ending>, usize);

#[test]
fn the_target_decides_over_failures_of_low_criticality() {
    let both: &'static [&str] = &["t28", "t29"];
    let table: [LowCase; 8] = [
        // 28 of 30 are 93 %, and nothing is asked of anybody.
        (93, both, [&[], &[]], Some(Ending::PartialSuccess), 2),
        (95, both, [&[], &[]], Some(Ending::Failure), 2),
        (93, &["t*"], [&[], &[]], Some(Ending::PartialSuccess), 2),
        // What passes alone and fails with the others in each full run is no pass.
        (93, &["t28"], [&["t29"], &["t29"]], Some(Ending::PartialSuccess), 2),
        (95, &["t28"], [&["t29"], &["t29"]], Some(Ending::Failure), 2),
        (93, &[], [both, both], Some(Ending::PartialSuccess), 2),
        (93, &[], [both, &["t28"]], Some(Ending::PartialSuccess), 2),
        (93, &["t28"], [&[], &[]], None, 2),
    ];
    for (target, known, alone, expected, failing) in table {
        let state = ended(target, known, alone);
        let verdict = state.verdict.as_ref();
        assert_eq!(verdict.map(|one| one.ending), expected, "{target}, {known:?}, {alone:?}");
        assert_eq!(state.ledger.rate().unwrap().total, 30, "every test counts");
        let left = state.judgeable();
        assert_eq!(left.len(), failing, "{target}, {known:?}, {alone:?}");
        if expected.is_some() {
            assert!(left.iter().all(|one| one.criticality == Criticality::Low), "{left:?}");
            assert_eq!(state.current_iteration, 0, "no edit is looked for");
        } else {
            assert_eq!((state.next, state.failing().len()), (FixStep::Diagnose, 1));
        }
    }
}

#[test]
fn a_dry_run_looks_for_no_place_where_no_edit_helps() {
    let mut state = new(100, 3);
    state.terms.dry_run = true;
    state.terms.known_failures = vec![KnownFailure::parse("t29", FORM).unwrap()];
    let done = ran(&state, 29, &[]);
    let (state, _) = state.advance(done, 1);
    let verdict = state.verdict.unwrap();
    assert_eq!((verdict.ending, state.next), (Ending::Planned, FixStep::Finish));
    assert!(verdict.reason.starts_with("no edit repairs"), "{}", verdict.reason);
}

#[test]
fn a_test_that_breaks_by_chance_does_not_speak_against_an_edit() {
    for (again, expected) in [(21, IterationResult::Improved), (20, IterationResult::Unchanged)] {
        let mut state = new(100, 1);
        while state.next != FixStep::TestFull {
            let done = outcome(&state, 20, &[21]);
            state = state.advance(done, 1).0;
        }
        let run = |passing: usize| {
            let mut results = suite(21, &Scope::Full);
            results.cases[0].status = if passing == 21 { Passed } else { Failed };
            FixStepOutcome::Ran(Ok(results))
        };
        state = state.advance(run(20), 1).0;
        assert_eq!(state.next, FixStep::TestFull, "once more");
        let (after, shown) = state.advance(run(again), 1);
        let is_improved = expected == IterationResult::Improved;
        assert_eq!(after.next == FixStep::Keep, is_improved, "{:?}", after.next);
        assert_eq!(after.flaky, if is_improved { vec![TestId::from("t00")] } else { Vec::new() });
        let said = |event: &Event| matches!(event, Event::Notice { text } if text.contains("failed and passed on the same sources"));
        assert_eq!(shown.iter().any(said), is_improved);
    }
}

#[test]
fn results_of_flaky_tests_say_nothing_about_an_edit() {
    let mut state = new(100, 3);
    // `t29` is flaky, and `t28` fails.
    while state.next != FixStep::Diagnose {
        let done = ran(&state, 28, if state.next == FixStep::Baseline { &[] } else { &["t29"] });
        (state, _) = state.advance(done, 1);
    }
    assert_eq!(state.ledger.rate(), PassRate::of(29, 30));
    let mut passing = state.ledger.passing_cases().map(|case| case.id.as_str());
    assert!(passing.all(|test| test != "t29"), "no candidate is judged by it");
    // The edit repairs `t28`; in that run the flaky test fails.
    let fixed = state.ledger.after_full(&suite(29, &Scope::Full), 1);
    assert_eq!(fixed.rate(), PassRate::of(30, 30));
    assert!(fixed.newly_failing(&state.ledger).is_empty());
}

#[test]
fn what_the_sandbox_denied_in_the_baseline_is_excused_and_nothing_later() {
    let (state, _) = new(95, 3).advance(denied(29, &Scope::Full), 1);
    assert_eq!(state.next, FixStep::Confirm, "96 % pass, and the rest is not the code's");
    let evidence = &state.judgeable()[0];
    assert_eq!(evidence.criticality, Criticality::Low);
    assert!(evidence.evidence.starts_with("its connection was refused"), "{}", evidence.evidence);
    // The final run fails in one more test, which says the same.
    let (state, _) = state.advance(denied(28, &Scope::Full), 1);
    assert_eq!(state.failing(), [TestId::from("t28")]);
    assert_ne!(state.verdict.map(|verdict| verdict.ending), Some(Ending::PartialSuccess));
}

/// A run in which the tests from `passing` on fail as if the sandbox refused a connection to them.
fn denied(passing: usize, scope: &Scope) -> FixStepOutcome {
    let mut results = suite(passing, scope);
    results.is_offline = true;
    for case in results.cases.iter_mut().filter(|case| case.status == Failed) {
        let message = "connect EACCES 127.0.0.1:5432".into();
        case.failure = Some(FailureText { message, ..FailureText::default() });
    }
    FixStepOutcome::Ran(Ok(results))
}

#[test]
fn a_connection_that_the_change_opened_is_excused_by_nothing() {
    let played = |base: usize| {
        let mut state = new(90, 3);
        state.terms.has_base = true;
        while matches!(
            state.next,
            FixStep::Baseline | FixStep::Recheck { .. } | FixStep::TestMergeBase
        ) {
            let done = match state.next {
                FixStep::Baseline => denied(29, &Scope::Full),
                FixStep::TestMergeBase => denied(base, &Scope::Tests(state.failing())),
                _ => denied(29, &Scope::Tests(state.failing())),
            };
            (state, _) = state.advance(done, 1);
        }
        (state.next, state.judgeable().remove(0).criticality)
    };
    assert_eq!(played(29), (FixStep::Confirm, Criticality::Low), "it fails on the base too");
    assert_eq!(played(30), (FixStep::Diagnose, Criticality::High), "the change introduced it");
}

#[test]
fn a_flaky_test_that_passes_in_the_final_run_is_a_pass_to_look_at() {
    let mut state = new(100, 3);
    while state.next != FixStep::Finish {
        let alone = matches!(state.next, FixStep::Recheck { .. });
        let passing = if state.next == FixStep::Baseline { 29 } else { 30 };
        let done = if alone { ran(&state, 29, &["t29"]) } else { ran(&state, passing, &[]) };
        (state, _) = state.advance(done, 1);
    }
    let verdict = state.verdict.unwrap();
    assert_eq!(verdict.ending, Ending::PartialSuccess);
    assert_eq!(verdict.reason, "every test passed in the final run, flaky ones too");
}

#[test]
fn what_a_change_broke_for_good_is_flaky_no_more() {
    let mut state = new(90, 3);
    (state.flaky, state.next) = (vec!["t29".into()], FixStep::Confirm);
    state.ledger = LatestResults::from_full(&suite(30, &Scope::Full), 0);
    state.ledger.mark_flaky(&state.flaky);
    let unchanged = state.clone();
    state.accepted_tree = tree(1);
    let ended = |mut state: FixLoop| {
        while matches!(state.next, FixStep::Confirm | FixStep::ConfirmFlaky { .. }) {
            let done = ran(&state, 29, &[]);
            (state, _) = state.advance(done, 1);
        }
        (state.verdict.map(|verdict| verdict.ending), state.flaky.len())
    };
    assert_eq!(ended(unchanged), (Some(Ending::PartialSuccess), 1));
    assert_eq!(ended(state), (None, 0), "the loop goes on to repair it");
}

#[test]
fn a_new_baseline_asks_anew_what_is_excused_and_what_a_person_must_confirm() {
    let (mut state, _) = new(95, 3).advance(denied(29, &Scope::Full), 1);
    assert_eq!(state.excused.len(), 1);
    state.accepted_tree = tree(1);
    let (renewed, _) = state.clone().renew().advance(denied(29, &Scope::Full), 1);
    assert_eq!(renewed.excused.len(), 0, "an accepted edit may have caused it");
    state.special_cases = vec!["it asks whether tests run".into()];
    let (green, _) = state.renew().advance(FixStepOutcome::Ran(Ok(suite(30, &Scope::Full))), 1);
    assert_eq!(green.verdict, None, "green, but not before the final run");
}

#[test]
fn a_flaky_test_that_is_skipped_is_lost() {
    let mut before = LatestResults::from_full(&suite(30, &Scope::Full), 0);
    before.mark_flaky(&["t29".into()]);
    let mut results = suite(30, &Scope::Full);
    results.cases.last_mut().unwrap().status = Status::Skipped;
    let mut after = before.after_full(&results, 1);
    assert_eq!(after.lost(&before), [TestId::from("t29")]);
    after.update_flaky(&results);
    assert_eq!(after.failing_flaky(), [TestId::from("t29")]);
}

#[test]
fn a_test_that_lacks_content_is_not_searched_for_and_never_plain_green() {
    let mut state = new(95, 3);
    for _ in 0..100 {
        if state.is_finished() {
            break;
        }
        let mut done = outcome(&state, 28, &[30]);
        if state.current_iteration == 0
            && let FixStepOutcome::Ran(Ok(results)) = &mut done
        {
            results.lacking = [("t29".into(), "it needs `x`".to_owned())].into();
        }
        state = state.advance(done, 1).0;
        assert!(!state.failing().contains(&"t29".into()), "{:?}", state.next);
    }
    let verdict = state.verdict.unwrap();
    assert_eq!(verdict.ending, Ending::PartialSuccess, "{}", verdict.reason);
    assert!(verdict.reason.contains("`t29` passes, and it needs `x`"), "{}", verdict.reason);
}
