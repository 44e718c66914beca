//! Tests of the ledger: full and partial runs, quarantine, and stuck tests.

use super::*;
use crate::domain::test::{CaseKind, FailureText, Layer};
use proptest::prelude::*;

/// Test results with these ids and statuses.
pub fn results(scope: Scope, cases: &[(&str, Status)]) -> Results {
    let mut cases: Vec<TestCase> = cases
        .iter()
        .map(|(id, status)| TestCase {
            kind: CaseKind::Test,
            id: TestId::from(*id),
            status: *status,
            file: None,
            line: None,
            duration_ms: 1,
            layer: Layer::Unit,
            failure: None,
        })
        .collect();
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    Results {
        cases,
        scope,
        command: "tests".into(),
        exit_code: Some(1),
        started_at: "2026-01-01T00:00:00Z".into(),
        duration_ms: 5,
        log: ".process/test-output.log".into(),
        is_offline: false,
        objections: Vec::new(),
        flaky: Vec::new(),
        notices: Vec::new(),
        lacking: std::collections::BTreeMap::new(),
    }
}

fn subset(cases: &[(&str, Status)]) -> Results {
    let asked = cases.iter().map(|(id, _)| TestId::from(*id)).collect();
    results(Scope::Tests(asked), cases)
}

use Status::{Failed, Passed, Skipped};

fn rate(passed: u32, total: u32) -> Option<PassRate> {
    PassRate::of(passed, total)
}

#[test]
fn a_subset_run_updates_its_tests_and_the_others_carry_over() {
    let first = LatestResults::from_full(
        &results(Scope::Full, &[("a", Failed), ("b", Passed), ("c", Skipped)]),
        0,
    );
    assert_eq!(first.rate(), rate(1, 2), "skipped tests do not count");
    assert!(!first.is_estimated());
    let second = first.after_subset(&subset(&[("a", Passed)]), 1);
    assert_eq!(second.rate(), rate(2, 2));
    assert!(second.is_estimated(), "b is older than the last run");
    let third = second
        .after_full(&results(Scope::Full, &[("a", Passed), ("b", Failed), ("c", Skipped)]), 1);
    assert!(!third.is_estimated());
    assert_eq!(third.newly_failing(&first), [TestId::from("b")]);
}

#[test]
fn a_test_that_was_asked_for_and_not_reported_counts_as_failed() {
    let first = LatestResults::from_full(&results(Scope::Full, &[("a", Failed), ("b", Passed)]), 0);
    let mut run = subset(&[("a", Passed), ("b", Passed)]);
    run.cases.retain(|case| case.id.as_str() == "a");
    let second = first.after_subset(&run, 1);
    assert_eq!(second.rate(), rate(1, 2));
}

/// Results with one failure that kept tests from running.
fn hidden(id: &str, kind: CaseKind, others: &[(&str, Status)]) -> Results {
    let mut cases = vec![(id, Failed)];
    cases.extend(others);
    let mut all = results(Scope::Full, &cases);
    all.cases.iter_mut().filter(|case| case.id.as_str() == id).for_each(|case| case.kind = kind);
    all
}

#[test]
fn what_kept_tests_from_running_is_gone_when_these_run_and_lost_when_nothing_does() {
    type Case = (&'static str, CaseKind, &'static [(&'static str, Status)], bool);
    let others = [("b.py::old", Passed)];
    let table: [Case; 7] = [
        ("a.py", CaseKind::Unloaded, &[("a.py::x", Failed), ("b.py::old", Passed)], true),
        ("a.py", CaseKind::Unloaded, &[("b.py::old", Passed), ("b.py::new", Passed)], false),
        ("a.py", CaseKind::Unloaded, &[("a.py::x", Skipped), ("b.py::old", Passed)], false),
        ("m/a", CaseKind::Unloaded, &[("m/a/b.TestX", Passed), ("b.py::old", Passed)], false),
        ("cargo build", CaseKind::Prerequisite, &[("c::x", Passed), ("b.py::old", Passed)], true),
        ("cargo build", CaseKind::Prerequisite, &[("b.py::old", Passed)], false),
        ("a.py", CaseKind::Test, &[("a.py::x", Passed), ("b.py::old", Passed)], false),
    ];
    for (id, kind, after, is_gone) in table {
        let before = LatestResults::from_full(&hidden(id, kind, &others), 0);
        let full = before.after_full(&results(Scope::Full, after), 1);
        let lost: &[TestId] = if is_gone { &[] } else { &[TestId::from(id)] };
        assert_eq!(full.lost(&before), lost, "{id} {after:?}");
        let asked = Scope::Tests(vec![TestId::from(id)]);
        let partial = before.after_subset(&results(asked, after), 1);
        assert_eq!(partial.case(&TestId::from(id)).is_none(), is_gone, "{id} {after:?}");
    }
}

/// Results with a hook that fails; its id says to which suite it belongs.
fn with_hook(id: &str, others: &[(&str, Status)]) -> Results {
    let mut all = hidden(id, CaseKind::Hook, others);
    let file = id.split("::").next().filter(|file| file.ends_with(".js"));
    let file = file.map(|file| crate::domain::id::RepoPath::parse(file).unwrap());
    all.cases
        .iter_mut()
        .filter(|case| case.id.as_str() == id)
        .for_each(|case| case.file = file.clone());
    all
}

#[test]
fn a_hook_is_gone_when_tests_of_its_suite_run_and_lost_when_none_does() {
    type Tests = &'static [(&'static str, Status)];
    let table: [(&str, Tests, Tests, bool); 8] = [
        (
            "a.js::A > \"after all\" hook",
            &[("a.js::A > x", Passed)],
            &[("a.js::A > x", Passed)],
            true,
        ),
        ("a.js::A > \"before all\" hook", &[], &[("a.js::A > x", Failed)], true),
        ("a.js::A > \"before all\" hook", &[], &[("a.js::B > x", Passed)], false),
        ("a.js::A > \"before all\" hook", &[], &[("a.js::A > x", Skipped)], false),
        ("a.js::hook", &[], &[("a.js::B > x", Passed)], true),
        ("a.js::hook", &[], &[("b.js::x", Passed)], false),
        ("before(:suite) hook", &[], &[("b.rb::x", Passed)], true),
        ("before(:suite) hook", &[], &[], false),
    ];
    for (id, others, after, is_gone) in table {
        let before = LatestResults::from_full(&with_hook(id, others), 0);
        let full = before.after_full(&results(Scope::Full, after), 1);
        assert_eq!(full.lost(&before).is_empty(), is_gone, "{id} {after:?}");
        assert_eq!(full.unblocked(&before).is_empty(), !is_gone, "{id} {after:?}");
        let asked = Scope::Tests(vec![TestId::from(id)]);
        let partial = before.after_subset(&results(asked, after), 1);
        assert_eq!(partial.case(&TestId::from(id)).is_none(), is_gone, "{id} {after:?}");
    }
}

#[test]
fn a_hook_that_starts_to_fail_fails_newly_where_its_tests_ran() {
    let id = "a.js::A > \"after all\" hook";
    let table: [(&[(&str, Status)], bool); 3] = [
        (&[("a.js::A > x", Passed)], true),
        (&[("a.js::A > x", Skipped)], false),
        (&[("a.js::B > x", Passed)], false),
    ];
    for (tests, is_new) in table {
        let before = LatestResults::from_full(&results(Scope::Full, tests), 0);
        let after = before.after_full(&with_hook(id, tests), 1);
        assert_eq!(after.newly_failing(&before).is_empty(), !is_new, "{tests:?}");
        assert!(after.after_full(&with_hook(id, tests), 2).newly_failing(&after).is_empty());
    }
}

#[test]
fn a_test_that_vanishes_from_a_full_run_is_named() {
    let first = LatestResults::from_full(&results(Scope::Full, &[("a", Failed), ("b", Passed)]), 0);
    let second = first.after_full(&results(Scope::Full, &[("b", Skipped)]), 1);
    assert_eq!(second.lost(&first), [TestId::from("a"), TestId::from("b")]);
    assert_eq!(second.rate(), None, "nothing counted is not a rate");
}

#[test]
fn quarantined_tests_leave_the_rate_and_the_failures() {
    let mut ledger =
        LatestResults::from_full(&results(Scope::Full, &[("a", Failed), ("b", Passed)]), 0);
    ledger.quarantine(&[TestId::from("a")]);
    assert_eq!(ledger.rate(), rate(1, 1));
    assert!(ledger.failing().is_empty());
}

#[test]
fn stuck_counts_own_results_and_two_runs_of_an_iteration_once() {
    let full = |status| results(Scope::Full, &[("a", status), ("b", Passed)]);
    let mut ledger = LatestResults::from_full(&full(Failed), 0);
    ledger = ledger.after_subset(&subset(&[("a", Failed)]), 1).after_full(&full(Failed), 1);
    assert!(ledger.stuck(3).is_empty(), "baseline and one iteration are two results");
    ledger = ledger.after_subset(&subset(&[("b", Passed)]), 2);
    assert!(ledger.stuck(3).is_empty(), "a carried-over result does not extend the count");
    ledger = ledger.after_full(&full(Failed), 3);
    assert_eq!(ledger.stuck(3), [TestId::from("a")]);
    ledger = ledger.after_full(&full(Passed), 4);
    assert!(ledger.stuck(1).is_empty());
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![Just(Passed), Just(Failed), Just(Skipped)]
}

proptest! {
    /// Compares with a naive model of the specification: the last report of each test wins.
    #[test]
    fn the_rate_is_that_of_the_last_report_of_each_test(
        first in prop::collection::btree_map("[a-f]", status(), 1..6),
        runs in prop::collection::vec(prop::collection::btree_map("[a-f]", status(), 0..4), 0..6),
    ) {
        let list = |map: &BTreeMap<String, Status>| -> Vec<(String, Status)> {
            map.iter().map(|(id, status)| (id.clone(), *status)).collect()
        };
        let borrowed = |list: &[(String, Status)]| -> Results {
            let cases: Vec<_> = list.iter().map(|(id, s)| (id.as_str(), *s)).collect();
            subset(&cases)
        };
        let mut ledger = LatestResults::from_full(&borrowed(&list(&first)), 0);
        let mut naive = first.clone();
        for (number, run) in runs.iter().enumerate() {
            let iteration = u32::try_from(number).unwrap() + 1;
            ledger = ledger.after_subset(&borrowed(&list(run)), iteration);
            naive.extend(run.clone());
        }
        let passed = naive.values().filter(|s| **s == Passed).count();
        let failed = naive.values().filter(|s| **s == Failed).count();
        let expected =
            PassRate::of(u32::try_from(passed).unwrap(), u32::try_from(passed + failed).unwrap());
        prop_assert_eq!(ledger.rate(), expected);
        prop_assert_eq!(ledger.failing().len(), failed);
    }
}

#[test]
fn what_lacks_content_is_set_aside_unless_it_passed_before() {
    let lacking = |cases: &[(&str, Status)]| Results {
        lacking: [("a".into(), "it needs x".to_owned())].into(),
        ..results(Scope::Full, cases)
    };
    let first = LatestResults::from_full(&lacking(&[("a", Failed), ("b", Failed)]), 0);
    assert_eq!(first.failing(), ["b".into()]);
    assert_eq!(first.all_failing().count(), 2, "it counts all the same");
    assert_eq!(first.lack_of(&"a".into()), Some("it needs x"));
    let repaired = first.after_full(&results(Scope::Full, &[("a", Passed), ("b", Passed)]), 1);
    assert_eq!(repaired.passing_without_content(), Some((&"a".into(), "it needs x")));
    let green = LatestResults::from_full(&results(Scope::Full, &[("a", Passed)]), 0);
    let broken = green.after_full(&lacking(&[("a", Failed)]), 1);
    assert_eq!(broken.newly_failing(&green), ["a".into()], "the edit asks for the content");
}

#[test]
fn expected_failures_that_pass_with_a_repair_make_it_no_regression() {
    use crate::domain::progress::{self, AttemptEffect};
    use crate::domain::threshold::Thresholds;
    let run = |marked: Status, bug: Status, other: Status| {
        let cases =
            [("bug", bug), ("m1", marked), ("m2", marked), ("m3", marked), ("other", other)];
        let mut run = results(Scope::Full, &cases);
        for case in run.cases.iter_mut().filter(|case| case.id.as_str().starts_with('m')) {
            let message = "unexpected success".to_owned();
            case.failure = Some(FailureText { message, ..FailureText::default() });
        }
        run
    };
    let table = [
        ("runners call it passed", Passed, Passed, Passed, AttemptEffect::Improved),
        ("runners call it skipped", Skipped, Passed, Passed, AttemptEffect::Improved),
        ("nothing is repaired", Passed, Failed, Passed, AttemptEffect::Unchanged { keep: false }),
        ("another test breaks", Passed, Passed, Failed, AttemptEffect::NoBetter),
    ];
    for (why, marked, bug, other, expected) in table {
        let before = LatestResults::from_full(&run(marked, Failed, Passed), 0);
        let after = before.after_full(&run(Failed, bug, other), 1);
        let effect = progress::judge(&before, &after, &Thresholds::default()).judgement;
        assert_eq!(effect, expected, "{why}");
        assert_eq!(after.unexpected_passes().count(), 3, "{why}");
    }
}

#[test]
fn an_edit_that_makes_an_expected_failure_fail_again_is_no_repair() {
    use crate::domain::progress::{self, AttemptEffect};
    use crate::domain::threshold::Thresholds;
    let run = |marked: Status, message: &str, other: Status| {
        let mut run = results(Scope::Full, &[("marked", marked), ("other", other)]);
        if marked == Status::Failed {
            let message = message.to_owned();
            run.cases[0].failure = Some(FailureText { message, ..FailureText::default() });
        }
        run
    };
    let before =
        LatestResults::from_full(&run(Status::Failed, "unexpected success", Status::Failed), 0);
    assert_eq!(before.failing(), [TestId::from("other")], "it is not searched for");
    assert_eq!(before.rate(), rate(0, 2), "it counts");
    let table = [
        ("repairs the other", Status::Failed, "unexpected success", true),
        ("fails again", Status::Passed, "", false),
        ("fails again, called skipped", Status::Skipped, "", false),
        ("fails to load", Status::Failed, "NameError: x", false),
    ];
    for (why, marked, message, expected) in table {
        let after = before.after_full(&run(marked, message, Status::Passed), 1);
        let effect = progress::judge(&before, &after, &Thresholds::default()).judgement;
        assert_eq!(effect == AttemptEffect::Improved, expected, "{why}: {effect:?}");
        assert_eq!(after.rate(), rate(1, 2), "{why}");
    }
}
