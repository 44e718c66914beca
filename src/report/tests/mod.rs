//! Tests of whole pages on the forge: snapshots of a realistic session, properties of hostile ones.

mod final_states;
mod hostile;

use std::sync::LazyLock;

use proptest::prelude::*;
use pulldown_cmark::{Event as Piece, Options, Parser, Tag, TagEnd, TextMergeStream};

use super::check::{About, annotations, check};
use super::comment::{comment, marker};
use super::final_state::{CheckedCommit, FinalState};
use super::forge_page::{BudgetLimits, CommandReply, ForgePage};
use super::job_summary::{SUMMARY_LIMIT, job_summary};
use super::outputs::outputs;
use super::pull;
use super::runner_commands::remarks;
use super::status_line::current_line;
use super::todo::{Entry, Status, Step, Todo, todo};
use super::view::View;
use crate::domain::budget::{Spending, SpendingLimits, Usage};
use crate::domain::chain::{FallbackTrigger, ProviderCall};
use crate::domain::check::{
    CHECK_LIMIT, COMMENT_LIMIT, CheckStatus, Conclusion, Level, TITLE_LIMIT,
};
use crate::domain::event::{
    Ending, Event, IterationRow, Minimised, NeededHunk, Outcome, Remaining,
};
use crate::domain::id::{CommitId, RepoPath, TestId};
use crate::domain::rate::PassRate;
use crate::domain::strategy::Strategy as Boldness;
use hostile::examine;

const SERVER: &str = "https://github.com";
const SESSION: &str = "WFS-test-pr-7";

fn id(digit: char) -> CommitId {
    CommitId::parse(digit.to_string().repeat(40)).unwrap()
}

fn rate(passed: u32, total: u32) -> PassRate {
    PassRate::of(passed, total).unwrap()
}

fn call(
    iteration: u32,
    provider: &str,
    trigger: Option<FallbackTrigger>,
    reason: &str,
) -> (u32, ProviderCall) {
    let call = ProviderCall {
        role: "analyst".into(),
        provider: provider.into(),
        model: "large-1".into(),
        slot: 1,
        turn: 1,
        used: trigger.is_none(),
        trigger,
        reason: reason.into(),
        confidence: Some(0.8),
        requests: 1,
        usage: Usage::new(9_100, 812),
        micro_usd: Some(31_000),
        duration_ms: 8_400,
        raw: "raw/1.json".into(),
    };
    (iteration, call)
}

fn row(
    iteration: u32,
    outcome: &str,
    after: u32,
    reached: Option<u32>,
    summary: &str,
) -> IterationRow {
    IterationRow {
        reason: String::new(),
        iteration,
        strategy: if iteration == 2 { Boldness::Aggressive } else { Boldness::Conservative },
        before: rate(if iteration == 1 { 51 } else { 56 }, 60),
        after: rate(after, 60),
        reached: reached.map(|passed| rate(passed, 60)),
        outcome: outcome.into(),
        tests_run: 71,
        tests_of: 120,
        tried: 31,
        summary: summary.into(),
        files: vec!["shop/cart.py".into()],
        commit: (outcome != "unchanged").then(|| id('a')),
        provider: if iteration == 2 { "anthropic" } else { "embedded" }.into(),
        calls: Vec::new(),
        degraded: false,
        failing: vec![TestId::from("tests/test_cart.py::test_total")],
        analysis: String::new(),
        patch: String::new(),
        duration_ms: 41_200,
    }
}

fn opened() -> Event {
    Event::Opened {
        session: SESSION.into(),
        repository: "octo/shop".into(),
        head: id('b'),
        branch: "regreen/WFS-test-pr-7".into(),
        framework: "pytest".into(),
        command: "python -m pytest".into(),
        resumed: false,
    }
}

/// A running session: two fixes, one regression, one refusal.
fn running() -> View {
    let red = ["tests/test_cart.py::test_total", "tests/test_pay.py::test_card[@octocat|<img>]"];
    let (iteration, asked) =
        call(2, "gemini", Some(FallbackTrigger::RateLimited), "429 for @octocat");
    let spent =
        Spending { calls: 2, usage: Usage::new(18_200, 1_624), micro_usd: 62_000, unpriced: 0 };
    View::of(&[
        opened(),
        Event::Notice { text: "the suite has no lock file; `pip install` took the newest".into() },
        Event::Baseline {
            rate: rate(51, 60),
            failing: red.map(TestId::from).to_vec(),
            flaky: vec![TestId::from("tests/test_net.py::test_retry")],
            preexisting: vec![],
        },
        Event::IterationEnded(row(1, "improved", 56, None, "shop/cart.py:12: `n < 1` → `n <= 1`")),
        Event::Asked { iteration, call: asked, spent },
        Event::Asked { iteration, call: call(2, "anthropic", None, "").1, spent },
        Event::Rejected {
            iteration: 2,
            reasons: vec!["touches the test file `tests/test_cart.py`".into()],
        },
        Event::IterationEnded(row(
            2,
            "regression",
            56,
            Some(49),
            "shop/tax.py: rewrite | round()\n@octocat",
        )),
        Event::IterationStarted {
            iteration: 3,
            strategy: Boldness::Surgical,
            reason: "the last attempt regressed".into(),
            rate: rate(56, 60),
        },
        Event::Step {
            iteration: Some(3),
            doing: "running 12 tests that the edit may affect".into(),
        },
        Event::Progress { done: 4, total: Some(12), unit: "tests".into() },
    ])
}

pub fn outcome(
    view: &View,
    result: Ending,
    last: u32,
    failing: Vec<Remaining>,
    reason: &str,
) -> Outcome {
    Outcome {
        session: SESSION.into(),
        result,
        reason: reason.into(),
        initial: view.baseline,
        last: PassRate::of(last, 60),
        iterations: view.rows.clone(),
        stuck: failing.iter().take(1).map(|one| one.test.clone()).collect(),
        failing,
        flaky: view.flaky.clone(),
        preexisting: view.preexisting.clone(),
        spending: view.spent,
        minimised: Some(Minimised {
            before: 9,
            after: 4,
            hunks_before: 3,
            is_whole: false,
            needed: vec![NeededHunk {
                place: "shop/cart.py:12".into(),
                tests: vec![TestId::from("tests/test_cart.py::test_total")],
            }],
            complete: true,
            runs: 6,
        }),
        branch: "regreen/WFS-test-pr-7".into(),
        onto: Some("main".into()),
        tip: Some(id('c')),
        patch: "--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -12 +12 @@\n-if n < 1:\n+if n <= 1:\n"
            .into(),
        report: "/r/report.md".into(),
        folder: "/r".into(),
        duration_ms: 184_000,
        testing_ms: 90_000,
        ..Outcome::default()
    }
}

pub(super) fn closed(result: Ending) -> View {
    let mut view = running();
    let left = |name: &str, weight: &str, why: &str, line| Remaining {
        test: TestId::from(name),
        criticality: weight.into(),
        evidence: why.into(),
        message: "AssertionError: assert 3 == 4 # thanks @octocat, fixes #1".into(),
        file: RepoPath::parse("tests/test [pay].py").ok(),
        line,
    };
    let after = if result == Ending::Success { 60 } else { 58 };
    view.add(&Event::IterationEnded(row(3, "improved", after, None, "shop/pay.py:3: `+` → `-`")));
    let (last, failing, reason) = match result {
        Ending::Success => (60, vec![], "every test passes"),
        Ending::PartialSuccess | Ending::Failure | Ending::Blocked | Ending::Planned => (
            58,
            vec![
                left("tests/test_cart.py::test_total", "low", "it fails on the base too", None),
                left(
                    "tests/test_pay.py::test_card[@octocat|<img>]",
                    "high",
                    "its name or file speaks of `pay`",
                    Some(31),
                ),
            ]
            .into_iter()
            .take(if result == Ending::PartialSuccess { 1 } else { 2 })
            .collect(),
            if result == Ending::PartialSuccess {
                "96.7 % pass and what fails is low, with evidence, and the iteration limit is reached"
            } else {
                "96.7 % pass, but failures of medium or high criticality are left"
            },
        ),
    };
    let outcome = outcome(&view, result, last, failing, reason);
    view.add(&Event::Closed(Box::new(outcome)));
    view
}

static PUSHED: LazyLock<[CommitId; 1]> = LazyLock::new(|| [id('a')]);

fn facts() -> ForgePage<'static> {
    ForgePage {
        pushed: PUSHED.as_slice(),
        server_url: SERVER,
        repository: "octo/shop",
        session: SESSION,
        pull: Some(7),
        run_url: Some("https://github.com/octo/shop/actions/runs/9"),
        report_url: Some("https://github.com/octo/shop/actions/runs/9/artifacts/3"),
        budget: BudgetLimits {
            iterations: Some(10),
            minutes: Some(50),
            providers: SpendingLimits { micro_usd: Some(1_000_000), ..SpendingLimits::default() },
        },
        target: Some(95),
        now: "14:02 UTC",
        ..ForgePage::default()
    }
}

/// Compares a page with a snapshot in `tests/data/screens`; `INSTA_UPDATE=always` writes it.
fn page(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => "../../../tests/data/screens",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn what_changed_since_is_not_described_as_tested() {
    let pull_url = Some("https://github.com/octo/shop/pull/8");
    let pushed = ForgePage { pull_url, idle: true, ..facts() };
    let fixed = closed(Ending::Success);
    let rebased = comment(&fixed, &ForgePage { incomplete: Some("it is rebased"), ..pushed });
    assert!(rebased.contains("Not all of it is tested") && rebased.contains("Before that, 100"));
    assert!(!rebased.contains("regained."), "{rebased}");
    let mut undone = fixed.clone();
    let kept = fixed.rows.iter().filter(|row| row.outcome == "improved");
    let numbers: Vec<u32> = kept.map(|row| row.iteration).collect();
    undone.reverted = numbers.get(1..).unwrap_or_default().to_vec();
    assert_eq!(comment(&undone, &pushed).contains("What is left is in"), numbers.len() > 1);
    undone.reverted = numbers;
    assert!(!comment(&undone, &pushed).contains("What is left is in"));
}

#[test]
fn comments_show_verdict_climb_and_next_step_first() {
    let base = facts();
    let answers = [
        CommandReply {
            asker: "alice".into(),
            command: "/regreen status".into(),
            reply: "One session, at iteration 2.".into(),
        },
        CommandReply {
            asker: "mallory`@octocat`".into(),
            command: "/regreen fix ![x](https://evil.example/x)".into(),
            reply: "You may not command here: it takes write access.".into(),
        },
    ];
    let pull_url = Some("https://github.com/octo/shop/pull/8");
    let pages = [
        ("comment-running", comment(&running(), &base)),
        ("comment-success", comment(&closed(Ending::Success), &ForgePage { pull_url, ..base })),
        (
            "comment-failure",
            comment(&closed(Ending::Failure), &ForgePage { pull_url, answers: &answers, ..base }),
        ),
    ];
    for (name, text) in pages {
        let seen = examine(&text, &base).unwrap();
        assert!(text.starts_with("<!-- regreen:WFS-test-pr-7 -->\n"));
        assert!(seen.open.contains("Used:"), "{name}");
        page(name, &text);
    }
}

#[test]
fn a_summary_holds_the_patch_that_could_not_be_pushed() {
    let tip = id('c');
    let facts = ForgePage { stored: Some(&tip), ..facts() };
    let view = closed(Ending::PartialSuccess);
    let text = job_summary(&view, &facts);
    examine(&text, &facts).unwrap();
    page("job-summary", &text);
    let unpushed = job_summary(&view, &ForgePage { pushed: &[], ..facts });
    assert!(text.contains("/commit/aaaa") && !unpushed.contains("/commit/"), "{unpushed}");
    let pushed = ForgePage { pull_url: Some("https://github.com/octo/shop/pull/8"), ..facts };
    assert!(text.contains("+if n <= 1:") && text.contains("Nothing was pushed"));
    assert!(!job_summary(&view, &pushed).contains("Nothing was pushed"));
    // The body of a pull request stands on the branch that was pushed.
    let body = pull::body(&view, &facts);
    assert!(!body.contains("Nothing was pushed") && body.contains("you decide"), "{body}");
}

#[test]
fn a_check_says_in_its_title_what_happens_and_marks_failing_lines() {
    let head = id('b');
    let about = About {
        name: "regreen",
        head_sha: &head,
        commit: CheckedCommit::Head,
        partial: Conclusion::Neutral,
    };
    let now = check(&running(), &facts(), &about);
    assert_eq!(now.status, CheckStatus::InProgress);
    assert_eq!(
        now.title,
        "Iteration 3, surgical, 93.3 % pass: running 12 tests that the edit may affect, 4 of 12 tests"
    );
    assert_eq!(now.annotations, []);
    let end = check(&closed(Ending::Failure), &facts(), &about);
    assert_eq!(end.status, CheckStatus::Completed(Conclusion::Failure));
    assert_eq!(end.title, "Not green: 96.7 % pass after 3 iterations");
    assert_eq!(end.external_id, SESSION);
    let marks: Vec<_> = end
        .annotations
        .iter()
        .map(|one| (one.path.as_str(), one.start_line, one.end_line, one.level))
        .collect();
    assert_eq!(
        marks,
        [
            ("tests/test [pay].py", 31, 31, Level::Failure),
            ("tests/test [pay].py", 1, 1, Level::Notice)
        ]
    );
    let log = remarks(&end.annotations);
    let head = "::error file=tests/test [pay].py,line=31,title=tests/test_pay.py%3A%3Atest_card";
    assert!(log[0].starts_with(head), "{}", log[0]);
    assert!(log[1].starts_with("::notice file=tests/test [pay].py,line=1,"), "{}", log[1]);
    assert!(log.iter().all(|line| !line.contains('\n')) && log.len() == 2);
    page("check", &format!("{}\n\n{}\n{}", end.title, end.summary, end.text));
    let queued = check(&View::default(), &facts(), &about);
    assert_eq!((queued.status, queued.title.as_str()), (CheckStatus::Queued, "Waiting to begin"));
    assert_eq!(queued.external_id, SESSION);
}

#[test]
fn outputs_tell_the_end_to_later_steps() {
    let shown = outputs(&closed(Ending::Failure), &facts(), Some("regreen-report/report.md"), None);
    insta::assert_snapshot!(
        shown.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("\n"),
        @r"
    session-id=WFS-test-pr-7
    result=failure
    pass-rate=96.7
    iterations=3
    report-path=regreen-report/report.md
    commit-sha=cccccccccccccccccccccccccccccccccccccccc
    bundle=
    degraded=false
    stuck-tests=tests/test_cart.py::test_total
    "
    );
}

#[test]
fn the_list_attaches_what_is_worked_on_and_drops_it_when_done() {
    let before = [
        Step::new("Session Start", "Starting the session").done(true),
        Step::new("Test Context Gather", "Gathering test context")
            .done(true)
            .of(vec![Step::new("Load context", "Loading context")]),
    ];
    let list = todo(&before, &running());
    assert_eq!(list.breaches(), Vec::<String>::new());
    insta::assert_snapshot!(list.lines().join("\n"), @r"
      ✓ Session Start
      ✓ Test Context Gather
      ▶ Test Cycle Execution
        ✓ Run the tests before any change
        ✓ → Iteration 1: shop/cart.py:12: `n < 1` → `n <= 1` (pass: 93.3 %, conservative)
        ✓ → Iteration 2: regression (pass: 93.3 %, aggressive)
        ▶ → Iteration 3: the last attempt regressed (pass: 93.3 %, surgical)
          ▶ Running 12 tests that the edit may affect, 4 of 12 tests
        ○ Decide, prove, report
    ");
    assert_eq!(list.current().len(), 3);
    let stored = serde_json::to_string(&list).unwrap();
    assert_eq!(serde_json::from_str::<Todo>(&stored).unwrap(), list);
    let mut broken = list;
    for entry in &mut broken.entries {
        entry.status = Status::InProgress;
    }
    assert_eq!(broken.breaches(), ["3 entries of one level are in progress"]);
}

impl Todo {
    /// The list as lines of plain text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        super::todo::draw(&self.entries, 0, &mut |depth, entry| {
            let text =
                super::phrases::single_safe_line(super::todo::shown(entry), super::todo::CONTENT);
            lines.push(format!(
                "{}{} {text}",
                "  ".repeat(depth + 1),
                super::todo::mark(entry.status)
            ));
        });
        lines
    }

    /// The rules that a list breaks; empty when it breaks none.
    pub fn breaches(&self) -> Vec<String> {
        let mut found = Vec::new();
        check_level(&self.entries, &mut found);
        found
    }

    /// The entries in progress, from the highest level to the lowest.
    pub fn current(&self) -> Vec<&Entry> {
        let mut path = Vec::new();
        let mut entries = &self.entries;
        while let Some(entry) = entries.iter().find(|entry| entry.status == Status::InProgress) {
            path.push(entry);
            entries = &entry.children;
        }
        path
    }
}

fn check_level(entries: &[Entry], found: &mut Vec<String>) {
    let at_work = entries.iter().filter(|entry| entry.status == Status::InProgress).count();
    if at_work > 1 {
        found.push(format!("{at_work} entries of one level are in progress"));
    }
    for entry in entries {
        let name = super::markdown::line(&entry.content, 60);
        match entry.status {
            Status::InProgress => {
                let at_work = |child: &Entry| child.status == Status::InProgress;
                if !entry.children.is_empty() && !entry.children.iter().any(at_work) {
                    found.push(format!("`{name}` is in progress and no part of it is"));
                }
                check_level(&entry.children, found);
            }
            Status::Pending | Status::Completed if !entry.children.is_empty() => {
                found.push(format!("`{name}` is not in progress and shows its parts"));
            }
            Status::Pending | Status::Completed => {}
        }
    }
}
