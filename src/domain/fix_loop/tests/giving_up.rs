//! Tests of what ends a run that gets nowhere, and of sessions that are continued after their end.

use super::*;

#[test]
fn results_of_attempts_that_change_nothing_count_towards_stuck() {
    let ended = |change: fn(&mut Thresholds), passing: &[usize]| {
        let mut state = new(100, 10);
        change(&mut state.terms.thresholds);
        let (states, _) = play(state, 28, passing);
        let last = states.last().unwrap().clone();
        let strategies: Vec<Strategy> =
            last.iterations.iter().map(|one| one.row.strategy).collect();
        (strategies, last.stuck_tests.len(), last.verdict.unwrap().reason)
    };
    let (careful, reflective) = (Conservative, Strategy::Reflective);
    // The baseline and two attempts are three results.
    let (strategies, stuck, reason) = ended(|_| {}, &[28; 10]);
    assert_eq!(strategies, [careful, careful, reflective, reflective]);
    assert_eq!(
        (stuck, reason.as_str()),
        (2, "2 of 2 tests stay red after two reflective iterations")
    );
    let (strategies, ..) = ended(|at| at.stuck_results = 2, &[28; 10]);
    assert_eq!(strategies, [careful, reflective, reflective]);
    let (strategies, ..) = ended(|at| at.stuck_abort = 1.0, &[28; 10]);
    assert_eq!(strategies[2..], [reflective; 8]);
    // Results of attempts that were rolled back neither extend nor reset the count.
    let (strategies, ..) = ended(|_| {}, &[28, 20, 28, 28, 28]);
    assert_eq!(strategies, [careful, careful, Surgical, reflective, reflective]);
}

/// The state after a diagnosis that is too weak to act on.
fn skipped(state: FixLoop) -> FixLoop {
    let number = usize::try_from(state.current_iteration).unwrap();
    let done = FixStepOutcome::Diagnosed {
        plan: Some(FixPlan { author: "one".into(), ..plan(number) }),
        asked: ProviderCalls::default(),
        explanation: None,
        too_weak: Some("the analysis is too weak".into()),
        places: Vec::new(),
    };
    let (state, _) = state.advance(done, 1);
    assert_eq!(state.next, FixStep::Restore);
    assert!(state.attempt.as_ref().unwrap().plan.is_some(), "its files show it");
    state.advance(FixStepOutcome::Restored, 1).0
}

/// A session at the diagnosis of its first iteration; 20 tests pass.
fn begin() -> FixLoop {
    diagnosing(new(100, 10))
}

/// Goes on to the next diagnosis, or to the end of the session.
fn diagnosing(mut state: FixLoop) -> FixLoop {
    while !matches!(state.next, FixStep::Diagnose | FixStep::Finish) {
        let done = outcome(&state, 20, &[20; 30]);
        (state, _) = state.advance(done, 1);
    }
    state
}

#[test]
fn a_skipped_iteration_counts_and_two_in_a_row_end_the_run() {
    let once = skipped(begin());
    let record = &once.iterations[0];
    assert_eq!(record.result, IterationResult::SkippedDegraded);
    assert_eq!((record.points.len(), record.exhausted), (1, false));
    assert_eq!((once.current_iteration, once.selected_strategy), (2, Some(Conservative)));
    let twice = skipped(once.clone());
    let verdict = twice.verdict.unwrap();
    assert_eq!(verdict.ending, Ending::Failure);
    assert!(verdict.reason.starts_with("two iterations in a row were skipped"), "{verdict:?}");
    // An iteration with a good analysis in between clears the count.
    let mut state = once;
    while state.current_iteration < 3 {
        let done = outcome(&state, 20, &[0, 21]);
        (state, _) = state.advance(done, 1);
    }
    assert!(skipped(state).verdict.is_none());
    // A dry run ends as planned, without the plan that nobody would act on.
    let mut dry = begin();
    dry.terms.dry_run = true;
    let done = FixStepOutcome::Diagnosed {
        plan: Some(plan(1)),
        asked: ProviderCalls::default(),
        explanation: None,
        too_weak: Some("the analysis is too weak".into()),
        places: Vec::new(),
    };
    let (dry, _) = dry.advance(done, 1);
    assert_eq!(dry.verdict.unwrap().ending, Ending::Planned);
    assert!(dry.attempt.unwrap().plan.is_none());
}

#[test]
fn a_limit_that_was_reached_can_be_raised() {
    let (states, _) = play(new(95, 1), 20, &[25, 30]);
    let last = states.last().unwrap().clone();
    assert_eq!(last.verdict.as_ref().unwrap().ending, Ending::Failure);
    let (same, _) = last.clone().reopen(1);
    assert!(same.is_finished());
    let (reopened, _) = last.reopen(5);
    assert_eq!((reopened.next, reopened.current_iteration), (FixStep::Diagnose, 2));
    // A session that ended before its first iteration knows nothing of the packages added since.
    let (ended, _) = new(95, 10).advance(missing(5, &[]), 1);
    assert_eq!(ended.verdict.as_ref().unwrap().ending, Ending::Failure);
    let (reopened, _) = ended.reopen(11);
    assert_eq!((reopened.next, reopened.verdict.clone()), (FixStep::Baseline, None));
    let (states, _) = play(reopened, 20, &[30]);
    assert_eq!(states.last().unwrap().verdict.as_ref().unwrap().ending, Ending::Success);
    // Nor does one that made its edits and then waited for what a person has to bring.
    let mut waiting = play(new(95, 10), 20, &[25, 25]).0.pop().unwrap();
    waiting.verdict =
        Some(FixVerdict { ending: Ending::Failure, reason: String::new(), unfixable: true });
    waiting.next = FixStep::Finish;
    assert_eq!(waiting.reopen(20).0.next, FixStep::Baseline);
}

/// The state after an iteration with these calls in which no provider returned an edit.
fn unanswered(state: FixLoop, plan: Option<FixPlan>, degraded: bool) -> FixLoop {
    let asked = ProviderCalls { calls: Vec::new(), degraded };
    let named = plan.is_some();
    let done = FixStepOutcome::Diagnosed {
        plan,
        asked: if named { ProviderCalls::default() } else { asked.clone() },
        explanation: None,
        too_weak: None,
        places: Vec::new(),
    };
    let (state, _) = state.advance(done, 1);
    if !named {
        return state;
    }
    let done = FixStepOutcome::Proposed {
        asked,
        proposal: None,
        fingerprint: String::new(),
        operators: vec![],
        refusals: vec![],
        tried: 0,
        timed_out: 0,
        search: None,
        exhausted: true,
    };
    state.advance(done, 1).0
}

#[test]
fn an_outage_of_every_provider_is_no_search() {
    let (searched, asked) = ("the widest search found nothing", "a reflective iteration, which");
    let table = [
        ("no analysis", None, true, "no provider returned a usable analysis", asked),
        ("no place", None, false, "nothing could be tried: the failures name", searched),
        ("no edit", Some(plan(1)), true, "no provider returned a usable edit", asked),
        ("no candidate", Some(plan(1)), false, "no edit is possible at the places", searched),
    ];
    for (why, plan, degraded, reason, end) in table {
        let once = unanswered(begin(), plan.clone(), degraded);
        let said = &once.iterations[0].row.reason;
        assert!(said.starts_with(reason), "{why}: {said}");
        assert_eq!(once.selected_strategy, Some(Strategy::Reflective), "{why}");
        let verdict = unanswered(once, plan, degraded).verdict.unwrap();
        assert!(verdict.reason.starts_with(end), "{why}: {}", verdict.reason);
    }
}

#[test]
fn of_a_failure_at_no_place_it_is_said_that_nothing_could_be_tried() {
    let mut baseline = outcome(&new(100, 10), 20, &[]);
    if let FixStepOutcome::Ran(Ok(results)) = &mut baseline {
        results.cases.iter_mut().for_each(|case| case.file = None);
    }
    let begun = diagnosing(new(100, 10).advance(baseline, 1).0);
    let reason = |degraded| {
        let once = unanswered(begun.clone(), None, degraded);
        unanswered(once, None, degraded).verdict.unwrap().reason
    };
    assert!(reason(false).starts_with("nothing says where `t20` fails"), "{}", reason(false));
    assert!(reason(true).starts_with("a reflective iteration, which"), "{}", reason(true));
}

#[test]
fn a_reopened_session_is_judged_by_what_happened_since() {
    let last = |passing: &[usize]| play(new(100, 10), 28, passing).0.last().unwrap().clone();
    let same_cause = {
        let mut state = new(100, 10);
        state.terms.thresholds.stuck_results = 9;
        let mut state = diagnosing(state);
        for _ in 0..3 {
            let plan = FixPlan { author: "one".into(), ..plan(1) };
            let done = FixStepOutcome::Diagnosed {
                plan: Some(plan),
                asked: ProviderCalls::default(),
                explanation: None,
                too_weak: None,
                places: Vec::new(),
            };
            state = diagnosing(state.advance(done, 1).0);
        }
        state
    };
    let table = [
        ("same cause", same_cause, "the same failures, cause and places"),
        ("skipped", skipped(skipped(begin())), "two iterations in a row were skipped"),
        ("stuck", last(&[28; 30]), "2 of 2 tests stay red"),
        ("nothing found", last(&[]), "the widest search found nothing"),
    ];
    for (why, ended, reason) in table {
        let verdict = ended.verdict.as_ref().unwrap();
        assert!(verdict.reason.starts_with(reason), "{why}: {}", verdict.reason);
        let (reopened, _) = ended.clone().reopen(20);
        assert_eq!((reopened.next, &reopened.verdict), (FixStep::Diagnose, &None), "{why}");
        assert_eq!(reopened.current_iteration, ended.current_iteration + 1, "{why}");
        let renewed = diagnosing(ended.renew());
        assert_eq!((renewed.next, &renewed.verdict), (FixStep::Diagnose, &None), "{why}");
    }
    // What happens again since counts again.
    let reopened = skipped(skipped(begin())).reopen(20).0;
    let once = skipped(reopened);
    assert_eq!(once.verdict, None);
    assert!(skipped(once).verdict.is_some());
}

#[test]
fn iterations_of_older_sessions_name_no_cause() {
    let state = diagnosing(begin().advance(outcome(&begin(), 20, &[]), 1).0);
    let mut value = serde_json::to_value(&state).unwrap();
    value.as_object_mut().unwrap().remove("iterations_before_reopening");
    assert!(value["iterations"][0].as_object_mut().unwrap().remove("cause_key").is_some());
    let read: FixLoop = serde_json::from_value(value).unwrap();
    assert_eq!(read.iterations[0].cause_fingerprint(), "print 1");
    assert_eq!(read, state);
}

#[test]
fn of_what_does_not_load_only_what_is_true_is_said() {
    let ended = |inner: &str, message: &str| {
        let mut run = suite(20, &Scope::Full);
        run.cases[0].id = inner.into();
        let whole = &mut run.cases[20];
        (whole.id, whole.kind) = ("whole".into(), CaseKind::Unloaded);
        whole.failure = Some(FailureText { message: message.into(), ..FailureText::default() });
        let packages = ["yaml".to_owned()].into();
        let baseline =
            FixStepOutcome::NotInstalled { results: run, packages, hindrances: BTreeMap::new() };
        let mut state = new(100, 10).advance(baseline, 1).0;
        state.next = FixStep::Recheck { round: FLAKY_RUNS };
        let (state, _) = state.advance(FixStepOutcome::Ran(Err("no".into())), 1);
        let once = unanswered(state, Some(plan(1)), false);
        unanswered(once, Some(plan(1)), false).verdict.unwrap().reason
    };
    let table = [
        ("other::t", "unknown name", "`whole` does not load, and regreen has no edit for it"),
        ("other::t", "No module named 'yaml'", "`whole` does not load: `yaml` is not installed"),
        (
            "other::t",
            "No module named 'own'",
            "`whole` does not load, and regreen has no edit for it",
        ),
        ("whole::t", "unknown name", "the widest search found nothing to try"),
    ];
    for (inner, message, expected) in table {
        let reason = ended(inner, message);
        assert!(reason.starts_with(expected), "{inner}, {message}: {reason}");
        let is_asked =
            reason.ends_with("`own` is a module of the repository, install it before the run");
        assert_eq!(is_asked, message.contains("'own'"), "{message}: {reason}");
    }
}

#[test]
fn of_the_tests_that_hang_one_runs_once_more() {
    let stopped = "the test was stopped after 6 s";
    let table = [
        (["1 is not 2"; 3], [&["t27", "t28", "t29"][..]; 2]),
        ([stopped, "1 is not 2", stopped], [&["t27", "t28"], &["t28"]]),
        ([stopped; 3], [&["t27"], &[]]),
    ];
    for (messages, expected) in table {
        let mut run = suite(27, &Scope::Full);
        for (case, message) in run.cases.iter_mut().skip(27).zip(messages) {
            let failure = FailureText { message: message.into(), ..FailureText::default() };
            case.failure = Some(failure);
        }
        let state = new(100, 10).advance(FixStepOutcome::Ran(Ok(run)), 1).0;
        let again = [1, 2].map(|round| state.tests_to_recheck(round));
        for (again, expected) in again.iter().zip(expected) {
            let again: Vec<&str> = again.iter().map(TestId::as_str).collect();
            assert_eq!(again, expected, "{messages:?}");
        }
    }
}
