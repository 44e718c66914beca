//! A run that is not green although its tests pass: what it repaired is kept, and it never ends in green.

use super::*;
use crate::domain::test::Objection;

fn command() -> Objection {
    let command = "make check".to_owned();
    Objection::Command { command, ending: "exit code 2".into(), tail: "E501".into() }
}

fn report() -> Objection {
    Objection::Report("the report declares 9 tests and holds 4".into())
}

/// Runs a session whose full runs object as `script` says, one after the other; the last one goes on.
fn play_objecting(
    mut state: FixLoop,
    baseline: usize,
    passing: &[usize],
    script: &[Option<Objection>],
) -> (Vec<FixLoop>, Vec<Event>, Option<Objection>) {
    let (mut states, mut shown) = (vec![state.clone()], Vec::new());
    let (mut runs, mut last) = (0, None);
    for _ in 0..2000 {
        if state.is_finished() {
            return (states, shown, last);
        }
        let mut done = outcome(&state, baseline, passing);
        if let FixStepOutcome::Ran(Ok(results)) = &mut done
            && results.scope == Scope::Full
        {
            last = script.get(runs).or(script.last()).cloned().flatten();
            results.objections = last.clone().into_iter().collect();
            runs += 1;
        }
        let (next, events) = state.advance(done, 10);
        state = next;
        shown.extend(events);
        states.push(state.clone());
    }
    panic!("the loop does not end: {:?}", state.next);
}

#[test]
fn a_run_that_objects_is_never_green_and_keeps_what_it_repaired() {
    const COMMAND: &str = "every test passes, but `make check` ends with exit code 2";
    const REPORT: &str = "every test passes, but the report declares 9 tests and holds 4";
    const NEW: &str = "every test passes, but the report declares 9 tests and holds 4, which came with the change";
    // The full runs of a session that repairs all at once: baseline, with the edit, final.
    let table = [
        ("the command, from the start", [None, Some(command()), Some(command())], Some(COMMAND)),
        ("the command, only at the end", [None, None, Some(command())], Some(COMMAND)),
        (
            "the report, all the time",
            [Some(report()), Some(report()), Some(report())],
            Some(REPORT),
        ),
        ("the report, since the edit", [None, Some(report()), Some(report())], Some(NEW)),
        ("the report, only at the end", [None, None, Some(report())], Some(NEW)),
        ("the report, until the end", [Some(report()), Some(report()), None], None),
        ("the command, only once", [None, Some(command()), None], None),
    ];
    for (why, script, reason) in table {
        let (states, _, _) = play_objecting(new(95, 1), 20, &[30], &script);
        let last = states.last().unwrap();
        let verdict = last.verdict.as_ref().unwrap();
        let (ending, text) = reason
            .map_or((Ending::Success, "every test passes"), |reason| (Ending::Failure, reason));
        assert_eq!((verdict.ending, verdict.reason.as_str()), (ending, text), "{why}");
        assert_eq!(last.iterations[0].result, IterationResult::Improved, "{why}");
        for step in [FixStep::Minimise, FixStep::Confirm, FixStep::RemoveState] {
            assert!(states.iter().any(|state| state.next == step), "{why}: {step:?}");
        }
        let outcome = last.outcome(SessionLocation::default(), Stopped::default());
        assert!(outcome.tip.is_some() && !outcome.limit_reached, "{why}");
        assert_eq!(outcome.is_objected(), reason.is_some(), "{why}");
    }
}

#[test]
fn a_baseline_that_only_objects_ends_at_once() {
    for dry_run in [false, true] {
        let mut state = new(95, 10);
        state.terms.dry_run = dry_run;
        let (states, events, _) = play_objecting(state, SIZE, &[], &[Some(command())]);
        let last = states.last().unwrap();
        let verdict = last.verdict.as_ref().unwrap();
        assert_eq!(verdict.ending, Ending::Failure, "{dry_run}");
        let reason = "every test passes already, but `make check` ends with exit code 2";
        assert_eq!(verdict.reason, reason);
        assert_eq!((states.len(), last.iterations.len()), (2, 0), "one run and no search");
        assert!(!events.iter().any(|event| matches!(event, Event::Notice { .. })), "{events:?}");
    }
    let (states, ..) = play_objecting(new(95, 10), SIZE, &[], &[Some(command())]);
    let (reopened, _) = states.last().unwrap().clone().reopen(20);
    assert_eq!(reopened.next, FixStep::Baseline, "what was corrected since may pass by now");
    let (states, ..) = play_objecting(reopened, SIZE, &[], &[None]);
    assert_eq!(states.last().unwrap().verdict.as_ref().unwrap().ending, Ending::Success);
}

#[test]
fn failures_that_are_left_and_what_objects_are_both_said() {
    let script = [Some(report())];
    let (states, events, _) = play_objecting(new(95, 1), 20, &[25], &script);
    let verdict = states.last().unwrap().verdict.clone().unwrap();
    let reason = "83.3 % pass, the gate is 95 %, and the iteration limit is reached; besides, the report \
                  declares 9 tests and holds 4";
    assert_eq!((verdict.ending, verdict.reason.as_str()), (Ending::Failure, reason));
    let notices = events.iter().filter(|event| matches!(event, Event::Notice { .. }));
    assert_eq!(notices.count(), 1, "{events:?}");
}

#[test]
fn a_state_that_knows_nothing_of_objections_blames_no_change() {
    let (states, ..) = play_objecting(new(95, 10), 20, &[30], &[None]);
    let confirming = states.iter().find(|state| state.next == FixStep::Confirm).unwrap();
    let mut value = serde_json::to_value(confirming).unwrap();
    assert!(value["baseline"].as_object_mut().unwrap().remove("objections").is_some());
    let state: FixLoop = serde_json::from_value(value).unwrap();
    let (states, ..) = play_objecting(state, 20, &[30], &[Some(report())]);
    let reason = &states.last().unwrap().verdict.as_ref().unwrap().reason;
    assert!(reason.ends_with("holds 4"), "{reason}");
}

proptest! {
    #[test]
    fn no_session_whose_last_full_run_objects_ends_in_green(
        baseline in 0usize..=SIZE, target in 1u32..=100, limit in 1u32..4, tests_edited: bool,
        outcomes in prop::collection::vec(0usize..=SIZE, 0..5),
        script in prop::collection::vec(0usize..3, 1..9),
    ) {
        let script: Vec<_> =
            script.into_iter().map(|kind| [None, Some(command()), Some(report())][kind].clone()).collect();
        let mut state = new(target, limit);
        state.tests_edited = tests_edited;
        let (states, _, last) = play_objecting(state, baseline, &outcomes, &script);
        let end = states.last().unwrap();
        let verdict = end.verdict.as_ref().unwrap();
        prop_assert!(last.is_none() || !verdict.ending.meets_gate(), "{}", verdict.reason);
        for objection in &end.objections {
            prop_assert!(verdict.reason.contains(&objection.clause()), "{}", verdict.reason);
        }
        // The tests alone judge the edits.
        let (plain, ..) = play_objecting(new(target, limit), baseline, &outcomes, &[None]);
        let results = |state: &FixLoop| -> Vec<_> {
            state.iterations.iter().map(|one| one.result).collect()
        };
        prop_assert_eq!(results(end), results(plain.last().unwrap()));
    }
}

#[test]
fn rates_from_before_a_repair_leave_out_what_passed_by_failing() {
    // Edit 1 changes nothing; edit 2 repairs all, and the first test passes against its mark.
    let mut state = new(95, 10);
    while !state.is_finished() {
        let mut done = outcome(&state, 20, &[20, 30]);
        if state.current_iteration >= 2
            && let FixStepOutcome::Ran(Ok(results)) = &mut done
            && let Some(marked) = results.cases.iter_mut().find(|case| case.id == "t00".into())
        {
            let message = "unexpected success".to_owned();
            marked.status = Failed;
            marked.failure = Some(FailureText { message, ..FailureText::default() });
        }
        state = state.advance(done, 10).0;
    }
    let counts = |rate: PassRate| (rate.passed, rate.total);
    let rows = state.iterations.iter().map(|one| (counts(one.row.before), counts(one.row.after)));
    assert_eq!(rows.collect::<Vec<_>>(), [((19, 29), (19, 29)), ((19, 29), (29, 30))]);
    assert_eq!(state.initial_rate.map(counts), Some((19, 29)));
    assert_eq!(state.baseline.as_ref().map(|baseline| counts(baseline.rate)), Some((19, 29)));
}
