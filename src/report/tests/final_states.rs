//! The table of final states: for each the whole comment, both check runs, the pull request and the
//! output of the job.

use super::*;
use crate::domain::event::WrittenFile;
use crate::domain::test::Objection;
use crate::report::forge_page::{EarlierWork, JobFailure, Place};

/// A session that ended without a change of the sources.
fn without_change(result: Ending, last: u32, reason: &str) -> View {
    let mut view = View::of(&[opened()]);
    let red =
        if last == 60 { vec![] } else { vec![TestId::from("tests/test_cart.py::test_total")] };
    let failing = red.iter().map(|test| Remaining {
        test: test.clone(),
        criticality: "low".into(),
        evidence: "it fails on the base too".into(),
        message: "assert 3 == 4".into(),
        file: RepoPath::parse("tests/test_cart.py").ok(),
        line: Some(12),
    });
    let failing = failing.collect();
    view.add(&Event::Baseline {
        rate: rate(last, 60),
        failing: red,
        flaky: vec![],
        preexisting: vec![],
    });
    let outcome = Outcome {
        patch: String::new(),
        tip: None,
        minimised: None,
        ..outcome(&view, result, last, failing, reason)
    };
    view.add(&Event::Closed(Box::new(outcome)));
    view
}

fn with_tests(mut view: View) -> View {
    let file = |name: &str| RepoPath::parse(name).unwrap();
    view.add(&Event::TestsWritten {
        files: vec![WrittenFile {
            file: file("tests/test_price.py"),
            subject: file("shop/price.py"),
            tests: 4,
        }],
    });
    view
}

fn planned(report: &str, reason: &str) -> View {
    let mut view = without_change(Ending::Planned, 60, reason);
    view.baseline = None;
    if let Some(outcome) = &mut view.outcome {
        (outcome.initial, outcome.last, outcome.report) = (None, None, report.into());
    }
    view
}

fn changed(mut view: View, change: impl FnOnce(&mut View)) -> View {
    change(&mut view);
    view
}

/// The command fails although no test does.
fn object(view: &mut View) {
    let outcome = view.outcome.as_mut().unwrap();
    let command = "pytest --cov-fail-under=90".to_owned();
    outcome.result = Ending::Failure;
    outcome.reason.push_str(&format!(", but `{command}` ends with exit code 1"));
    let tail =
        "FAIL Required test coverage of 90% not reached. @octocat ``` <img>\u{202e}\n60 passed";
    let ending = "exit code 1".to_owned();
    outcome.objections = vec![Objection::Command { command, ending, tail: tail.to_owned() }];
}

/// Everything that the forge shows of one state.
fn shown(view: &View, page: &ForgePage<'_>) -> String {
    let head = id('b');
    let about =
        |commit| About { name: "regreen", head_sha: &head, commit, partial: Conclusion::Neutral };
    let state = FinalState::of(view, page).expect("it ended");
    let fix_is_checked = state.meets_gate() || state == FinalState::Reverted;
    let status = |commit| {
        let is_posted = match commit {
            CheckedCommit::Head => state.is_checked(),
            CheckedCommit::Fix => fix_is_checked && page.is_pushed(),
        };
        let run = check(view, page, &about(commit));
        if is_posted { format!("{:?}, {}", run.status, run.title) } else { "-".to_owned() }
    };
    let result = outputs(view, page, None, None);
    let result = result.iter().find(|(name, _)| *name == "result").map(|(_, value)| value.as_str());
    let body = pull::body(view, &ForgePage { pull_url: None, ..*page });
    for text in [comment(view, page), job_summary(view, page)] {
        examine(&text, page).unwrap();
    }
    let pull = page.pull_url.map(|_| {
        let title = pull::title("#7", view, page);
        format!("## Pull request of the fix: {title}\n\n{body}\n")
    });
    format!(
        "check of the head: {}\ncheck of the fix: {}\nresult: {}\n\n{}\n{}",
        status(CheckedCommit::Head),
        status(CheckedCommit::Fix),
        result.unwrap_or_default(),
        comment(view, page),
        pull.unwrap_or_default()
    )
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row a state")]
fn every_state_has_its_page() {
    let base = ForgePage { idle: true, ..facts() };
    let pull_url = Some("https://github.com/octo/shop/pull/8");
    let pushed = ForgePage { pull_url, ..base };
    let branch_url = Some("https://github.com/octo/shop/tree/regreen/WFS-test-pr-7");
    let tip = id('c');
    let stored = ForgePage { stored: Some(&tip), ..base };
    let answers = [CommandReply {
        asker: "alice".into(),
        command: "/regreen explain".into(),
        reply: "1 failing test, in 1 group. Nothing was changed.".into(),
    }];
    let answered = ForgePage { answers: &answers, ..base };
    let no_result = JobFailure::NoResult {
        message: "the interpreter `python3.13` is not installed".into(),
        hint: "install it before this step, or set `test.command`".into(),
    };
    let refused = JobFailure::Refused {
        reason: "the bundle was refused: it changes `.github/workflows/ci.yml`".into(),
    };
    let earlier = [EarlierWork {
        heading: "Fixed: 85.0 → 100.0 % pass after 2 iterations".into(),
        place: Place::Page("https://github.com/octo/shop/pull/8".into()),
    }];
    let beside_fix = ForgePage { earlier_work: &earlier, answers: &answers, ..base };
    let green = || without_change(Ending::Success, 60, "every test passes already");
    let limit = |view: &mut View| {
        if let Some(outcome) = &mut view.outcome {
            outcome.limit_reached = true;
        }
    };
    let kill = |view: &mut View| (view.outcome, view.current) = (None, None);
    let table = vec![
        ("answer", FinalState::NoSession, View::default(), answered),
        ("killed", FinalState::Unfinished, changed(running(), kill), base),
        (
            "could-not-start",
            FinalState::NoResult,
            View::default(),
            ForgePage { failure: Some(&no_result), ..base },
        ),
        (
            "bundle-refused",
            FinalState::Refused,
            View::of(&[opened()]),
            ForgePage { failure: Some(&refused), ..base },
        ),
        (
            "rolled-back-after-a-kill",
            FinalState::Reverted,
            changed(changed(running(), kill), |view| view.reverted.push(1)),
            pushed,
        ),
        (
            "rolled-back",
            FinalState::Reverted,
            changed(closed(Ending::Success), |view| view.reverted.push(3)),
            pushed,
        ),
        ("green", FinalState::Green, green(), base),
        (
            "green-with-notes",
            FinalState::GreenWithNotes,
            without_change(Ending::PartialSuccess, 59, "98.3 % pass and what fails is low"),
            base,
        ),
        ("fixed", FinalState::Fixed, closed(Ending::Success), pushed),
        (
            "fixed-on-a-branch",
            FinalState::Fixed,
            closed(Ending::Success),
            ForgePage { branch_url, ..base },
        ),
        ("suggested", FinalState::Fixed, closed(Ending::Success), stored),
        (
            "applied",
            FinalState::Fixed,
            closed(Ending::Success),
            ForgePage { answers: &answers, ..pushed },
        ),
        ("partial", FinalState::MostlyFixed, closed(Ending::PartialSuccess), pushed),
        ("tests-written", FinalState::TestsWritten, with_tests(green()), pushed),
        (
            "tests-written-beside-a-fix",
            FinalState::TestsWritten,
            with_tests(green()),
            ForgePage { earlier_work: &earlier, ..base },
        ),
        ("not-green", FinalState::NotGreen, closed(Ending::Failure), pushed),
        (
            "not-green-without-change",
            FinalState::NotGreen,
            changed(
                without_change(
                    Ending::Failure,
                    58,
                    "96.7 % pass, the gate is 98 %, and the iteration limit is reached",
                ),
                limit,
            ),
            base,
        ),
        (
            "unfixable",
            FinalState::Unfixable,
            changed(
                without_change(
                    Ending::Failure,
                    58,
                    "tests contradict each other, so a person must decide which one is right: `test_new`: \
                     it expects `half(9)` to be `5`",
                ),
                |view| view.outcome.iter_mut().for_each(|outcome| outcome.unfixable = true),
            ),
            base,
        ),
        ("objected", FinalState::Objected, changed(closed(Ending::Success), object), pushed),
        ("objected-without-change", FinalState::Objected, changed(green(), object), base),
        (
            "objected-for-a-missing-program",
            FinalState::Objected,
            changed(green(), |view| {
                let outcome = view.outcome.as_mut().unwrap();
                outcome.result = Ending::Failure;
                let (command, ending) = ("npm test".to_owned(), "exit code 127".to_owned());
                let tail = "60 passed\nsh: 1: pnpm: not found".to_owned();
                outcome.objections = vec![Objection::Command { command, ending, tail }];
                outcome.reason =
                    format!("every test passes, but {}", outcome.objections[0].clause());
            }),
            base,
        ),
        (
            "objected-by-the-report",
            FinalState::Objected,
            changed(closed(Ending::Success), |view| {
                object(view);
                let outcome = view.outcome.as_mut().unwrap();
                let clause = "the report declares 9 tests and holds 4".to_owned();
                outcome.reason = format!("every test passes, but {clause}");
                let failures = "the report declares 1 failure and holds 0".to_owned();
                outcome.objections = [clause, failures].map(Objection::Report).to_vec();
            }),
            pushed,
        ),
        ("stopped", FinalState::Stopped, closed(Ending::Blocked), pushed),
        (
            "stopped-by-a-spending-limit",
            FinalState::Stopped,
            changed(closed(Ending::Blocked), limit),
            pushed,
        ),
        (
            "dry-run",
            FinalState::DryRun,
            without_change(Ending::Planned, 58, "a dry run stops before anything is changed"),
            base,
        ),
        (
            "planned",
            FinalState::Planned,
            planned("/r/IMPL_PLAN.md", "the plan is ready: 4 tasks"),
            base,
        ),
        (
            "nothing-to-plan",
            FinalState::NothingToDo,
            planned("", "no test is missing here"),
            beside_fix,
        ),
    ];
    for (name, state, view, page_facts) in &table {
        assert_eq!(FinalState::of(view, page_facts), Some(*state), "{name}");
        page(&format!("state-{name}"), &shown(view, page_facts));
    }
    for state in FinalState::all() {
        assert!(table.iter().any(|(_, of, ..)| *of == state), "{state:?} has no page");
    }
    assert_eq!(FinalState::of(&running(), &facts()), None, "a running session has no final state");
}
