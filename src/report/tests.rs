//! Pages on the forge, whole: a story as people see it, and properties over hostile ones.

use proptest::prelude::*;
use pulldown_cmark::{Event as Piece, Options, Parser, Tag, TagEnd, TextMergeStream};

use super::check::{About, annotations, check};
use super::comment::{Answer, Budget, Facts, comment, marker};
use super::job_summary::{SUMMARY_LIMIT, job_summary};
use super::todo::{Pace, Status, Step, Todo, current_line, todo};
use super::view::View;
use super::workflow::{outputs, remarks};
use crate::domain::budget::{Limits, Spending, Usage};
use crate::domain::chain::{Call, Trigger};
use crate::domain::check::{
    CHECK_LIMIT, COMMENT_LIMIT, CheckStatus, Conclusion, Level, TITLE_LIMIT,
};
use crate::domain::event::{Ending, Event, IterationRow, Outcome, Remaining};
use crate::domain::fix_loop::{Minimised, Needed};
use crate::domain::id::{CommitId, RepoPath, TestId};
use crate::domain::rate::PassRate;
use crate::domain::strategy::Strategy as Boldness;

const SERVER: &str = "https://github.com";
const SESSION: &str = "WFS-test-pr-7";

fn id(digit: char) -> CommitId {
    CommitId::parse(digit.to_string().repeat(40)).unwrap()
}

fn rate(passed: u32, total: u32) -> PassRate {
    PassRate::of(passed, total).unwrap()
}

fn call(iteration: u32, provider: &str, trigger: Option<Trigger>, said: &str) -> (u32, Call) {
    let call = Call {
        role: "analyst".into(),
        provider: provider.into(),
        model: "large-1".into(),
        slot: 1,
        turn: 1,
        used: trigger.is_none(),
        trigger,
        said: said.into(),
        confidence: Some(0.8),
        usage: Usage { input_tokens: 9_100, output_tokens: 812 },
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

/// Two fixes, one regression, one refusal; nothing ended.
fn running() -> View {
    let red = ["tests/test_cart.py::test_total", "tests/test_pay.py::test_card[@octocat|<img>]"];
    let (iteration, asked) = call(2, "gemini", Some(Trigger::RateLimited), "429 for @octocat");
    let spent = Spending {
        calls: 2,
        usage: Usage { input_tokens: 18_200, output_tokens: 1_624 },
        micro_usd: 62_000,
        unpriced: 0,
    };
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
        Event::Step { iteration: 3, doing: "running 12 tests that the edit may affect".into() },
        Event::Progress { done: 4, total: Some(12), unit: "tests".into() },
    ])
}

fn outcome(
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
        estimated: false,
        iterations: view.rows.clone(),
        stuck: failing.iter().take(1).map(|one| one.test.clone()).collect(),
        failing,
        flaky: view.flaky.clone(),
        preexisting: view.preexisting.clone(),
        degraded: false,
        spending: view.spent,
        minimised: Some(Minimised {
            before: 9,
            after: 4,
            hunks_before: 3,
            needed: vec![Needed {
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
    }
}

fn closed(result: Ending) -> View {
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
                "96.6 % pass and what fails is low, with evidence, and the iteration limit is reached"
            } else {
                "96.6 % pass, but failures of medium or high criticality are left"
            },
        ),
    };
    let outcome = outcome(&view, result, last, failing, reason);
    view.add(&Event::Closed(Box::new(outcome)));
    view
}

fn facts() -> Facts<'static> {
    Facts {
        server_url: SERVER,
        repository: "octo/shop",
        session: SESSION,
        pull: Some(7),
        run_url: Some("https://github.com/octo/shop/actions/runs/9"),
        report_url: Some("https://github.com/octo/shop/actions/runs/9/artifacts/3"),
        budget: Budget {
            iterations: Some(10),
            minutes: Some(50),
            providers: Limits { micro_usd: Some(1_000_000), ..Limits::default() },
        },
        target: Some(95),
        now: "14:02 UTC",
        ..Facts::default()
    }
}

/// Compares with a stored page below `tests/data/screens`; `INSTA_UPDATE=always` writes it.
fn page(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => "../../tests/data/screens",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn comments_show_verdict_climb_and_next_step_first() {
    let base = facts();
    let answers = [
        Answer {
            asker: "alice".into(),
            command: "/regreen status".into(),
            reply: "One session, at iteration 2.".into(),
        },
        Answer {
            asker: "mallory`@octocat`".into(),
            command: "/regreen fix ![x](https://evil.example/x)".into(),
            reply: "You may not command here: it takes write access.".into(),
        },
    ];
    let pull_url = Some("https://github.com/octo/shop/pull/8");
    let pages = [
        ("comment-running", comment(&running(), &base)),
        ("comment-success", comment(&closed(Ending::Success), &Facts { pull_url, ..base })),
        (
            "comment-failure",
            comment(&closed(Ending::Failure), &Facts { pull_url, answers: &answers, ..base }),
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
    let facts = Facts { stored: Some(&tip), ..facts() };
    let view = closed(Ending::PartialSuccess);
    let text = job_summary(&view, &facts);
    examine(&text, &facts).unwrap();
    page("job-summary", &text);
    let pushed = Facts { pull_url: Some("https://github.com/octo/shop/pull/8"), ..facts };
    assert!(text.contains("+if n <= 1:") && text.contains("Nothing was pushed"));
    assert!(!job_summary(&view, &pushed).contains("Nothing was pushed"));
}

#[test]
fn a_check_says_in_its_title_what_happens_and_marks_failing_lines() {
    let head = id('b');
    let about = About { name: "regreen", head_sha: &head, partial: Conclusion::Neutral };
    let now = check(&running(), &facts(), &about);
    assert_eq!(now.status, CheckStatus::InProgress);
    assert_eq!(
        now.title,
        "Iteration 3, surgical, 93.3 % pass: running 12 tests that the edit may affect, 4 of 12 tests"
    );
    assert_eq!(now.annotations, []);
    let end = check(&closed(Ending::Failure), &facts(), &about);
    assert_eq!(end.status, CheckStatus::Completed(Conclusion::Failure));
    assert_eq!(end.title, "Not green: 96.6 % pass after 3 iterations");
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
    let told = outputs(&closed(Ending::Failure), Some("regreen-report/report.md"));
    insta::assert_snapshot!(
        told.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("\n"),
        @r"
    session-id=WFS-test-pr-7
    result=failure
    pass-rate=96.6
    iterations=3
    report-path=regreen-report/report.md
    commit-sha=cccccccccccccccccccccccccccccccccccccccc
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
    let ended = todo(&before, &closed(Ending::Success));
    insta::assert_snapshot!(ended.lines().join("\n"), @r"
      ✓ Session Start
      ✓ Test Context Gather
      ✓ Test Cycle Execution: Green: 100.0 % pass after 3 iterations
    ");
    let stopped = todo(&before, &closed(Ending::Blocked));
    assert_eq!(stopped.entries.last().map(|entry| entry.status), Some(Status::Pending));
    assert_eq!((stopped.current().len(), list.current().len()), (0, 3));
    let stored = serde_json::to_string(&list).unwrap();
    assert_eq!(serde_json::from_str::<Todo>(&stored).unwrap(), list);
    let mut broken = list;
    for entry in &mut broken.entries {
        entry.status = Status::InProgress;
    }
    assert_eq!(broken.breaches(), ["3 entries of one level are in progress"]);
}

/// A plan of any shape.
fn plan() -> impl Strategy<Value = Vec<Step>> {
    let leaf = (any::<bool>(), "[a-z]{1,5}")
        .prop_map(|(done, text)| Step::new(text.clone(), text).done(done));
    let step = leaf.prop_recursive(3, 30, 4, |inner| {
        (any::<bool>(), prop::collection::vec(inner, 0..4))
            .prop_map(|(done, steps)| Step::new("x", "y").done(done).of(steps))
    });
    prop::collection::vec(step, 0..5)
}

fn leaves(steps: &[Step]) -> bool {
    steps.iter().any(|step| !step.done && (step.steps.is_empty() || leaves(&step.steps)))
}

proptest! {
    #[test]
    fn exactly_one_entry_of_each_level_is_in_progress(steps in plan()) {
        let list = Todo::lay(&steps, Pace::Running);
        prop_assert_eq!(list.breaches(), Vec::<String>::new());
        prop_assert_eq!(!list.current().is_empty(), leaves(&steps));
        let resting = Todo::lay(&steps, Pace::Resting);
        prop_assert!(resting.current().is_empty() && resting.breaches().is_empty());
        prop_assert_eq!(resting.entries.len(), steps.len());
    }
}

/// What a reader of Markdown sees.
#[derive(Default)]
struct Seen {
    /// Text outside of folds and code.
    open: String,
}

/// Reads Markdown as GitHub does and answers with the first thing that should not be there: HTML
/// that is not ours, a link that leads elsewhere, a picture, a fold left open, or words that GitHub
/// turns into a mention, a reference, an address or an emoji.
fn examine(text: &str, facts: &Facts<'_>) -> Result<Seen, String> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM
        | Options::ENABLE_FOOTNOTES;
    let marker = marker(facts.session);
    let (mut seen, mut folds, mut code, mut cells) = (Seen::default(), 0_i32, false, 0);
    for piece in TextMergeStream::new(Parser::new_ext(text, options)) {
        match piece {
            Piece::Html(html) | Piece::InlineHtml(html) => {
                for line in html.lines().map(str::trim) {
                    let title = line
                        .strip_prefix("<summary>")
                        .and_then(|rest| rest.strip_suffix("</summary>"));
                    match line {
                        "<details>" => folds += 1,
                        "</details>" => folds -= 1,
                        "" => {}
                        _ if line == marker => {}
                        _ if title.is_some_and(|title| !title.contains(['<', '`', '&'])) => {}
                        _ => return Err(format!("HTML: {line}")),
                    }
                }
                if folds < 0 {
                    return Err("a fold is closed twice".into());
                }
            }
            Piece::Start(Tag::CodeBlock(_)) => code = true,
            Piece::End(TagEnd::CodeBlock) => code = false,
            Piece::Start(Tag::Link { dest_url, .. }) if !dest_url.starts_with(SERVER) => {
                return Err(format!("link: {dest_url}"));
            }
            Piece::Start(Tag::Image { dest_url, .. }) => return Err(format!("image: {dest_url}")),
            Piece::Start(Tag::TableRow | Tag::TableHead) => cells = 0,
            Piece::End(TagEnd::TableCell) => cells += 1,
            Piece::End(TagEnd::TableRow) if cells != 8 => return Err(format!("{cells} cells")),
            Piece::InlineMath(_)
            | Piece::DisplayMath(_)
            | Piece::FootnoteReference(_)
            | Piece::TaskListMarker(_) => return Err(format!("{piece:?}")),
            Piece::Text(words) => {
                if words.chars().any(super::markdown::is_invisible) {
                    return Err(format!("hidden characters: {words:?}"));
                }
                if !code {
                    speaks(&words)?;
                    if folds == 0 {
                        seen.open.push_str(&words);
                    }
                }
            }
            Piece::Code(words) if words.chars().any(char::is_control) => {
                return Err(format!("control characters: {words:?}"));
            }
            _ => {}
        }
    }
    if folds == 0 { Ok(seen) } else { Err(format!("{folds} folds are open")) }
}

/// What GitHub reads out of plain words.
fn speaks(words: &str) -> Result<(), String> {
    let lower = words.to_lowercase();
    let digits = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let found = [
        ("mention", lower.contains('@')),
        ("issue", lower.split('#').skip(1).any(digits) || lower.split("gh-").skip(1).any(digits)),
        ("address", lower.contains("://") || lower.contains("www.")),
        (
            "commit",
            lower
                .split(|c: char| !c.is_alphanumeric())
                .any(|run| run.len() >= 7 && run.bytes().all(|byte| byte.is_ascii_hexdigit())),
        ),
        (
            "emoji",
            words.split_whitespace().any(|word| {
                let parts: Vec<&str> = word.split(':').collect();
                let inner = parts.get(1..parts.len() - 1).unwrap_or_default();
                inner.iter().any(|name| !name.is_empty())
            }),
        ),
    ];
    match found.iter().find(|(_, holds)| *holds) {
        Some((what, _)) => Err(format!("{what}: {words}")),
        None => Ok(()),
    }
}

#[test]
fn the_examiner_sees_what_must_not_be_there() {
    let facts = facts();
    for text in [
        "<img src=x>",
        "a <b>x</b>",
        "[a](https://evil.example)",
        "![a](https://github.com/x)",
        "<details>\n\nx",
        "</details>",
        "thanks @octocat",
        "fixes #12",
        "GH-12",
        "https://evil.example",
        "www.evil.example",
        "0123abc",
        ":tada:",
        "$x$",
        "- [ ] a",
        "a\u{202e}b",
        "`\u{1b}[31m`",
        "<!-- regreen:other -->",
    ] {
        assert!(examine(text, &facts).is_err(), "{text}");
    }
    let fine = "`@octocat` `#1`\n\n<details>\n<summary>x</summary>\n\ny\n\n</details>\n\nz\n";
    assert_eq!(examine(fine, &facts).unwrap().open.trim(), "z");
}

const HOSTILE: &[&str] = &[
    "</details>",
    "<img src=x onerror=1>",
    "\n```\n",
    "~~~\n",
    "`",
    "``",
    "|",
    "\\",
    "\\|",
    " ",
    "@octocat",
    "fixes #12",
    "https://evil.example/a",
    "www.evil.example",
    "[a](https://evil.example)",
    "![x](https://evil.example)",
    "<!-- regreen:x -->",
    "-->",
    "\u{202e}",
    "\u{1b}[31m",
    "\n\n# h\n",
    "\n- [x] a",
    "$x$",
    ":tada:",
    "&lt;b&gt;",
    "&#64;octocat",
    "GH-9",
    "o/r#3",
    "\r\n",
    "***",
    "\t",
    "\n    code",
    "1. ",
    "[^1]",
    "é",
    "words of a test",
    "::error::x",
    "##[error]x",
    "==",
    "a_b_c",
    "~~",
    "0123456789abcdef0123456789abcdef01234567",
    "/regreen fix",
    "<https://evil.example>",
    "\u{2028}",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(HOSTILE).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => (prop::sample::select(HOSTILE), 1usize..60).prop_map(|(text, times)| text.repeat(times)),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// How big and how far a hostile session is.
#[derive(Clone, Debug)]
struct Shape {
    rows: u32,
    failing: usize,
    calls: usize,
    others: usize,
    answers: usize,
    result: Option<Ending>,
    pushed: bool,
    on_pull: bool,
}

fn shape() -> impl Strategy<Value = Shape> {
    let result = prop::sample::select(&[
        None,
        Some(Ending::Success),
        Some(Ending::PartialSuccess),
        Some(Ending::Failure),
        Some(Ending::Blocked),
        Some(Ending::Planned),
    ]);
    let size = |most: usize| prop_oneof![Just(0), 0..8usize, 0..most];
    (0..60u32, size(400), size(150), size(150), size(12), result, any::<[bool; 2]>()).prop_map(
        |(rows, failing, calls, others, answers, result, [pushed, on_pull])| Shape {
            rows,
            failing,
            calls,
            others,
            answers,
            result,
            pushed,
            on_pull,
        },
    )
}

/// A session in which every foreign text is hostile.
fn session(shape: &Shape, pool: &[String]) -> View {
    let mut index = 0;
    let mut text = || {
        index += 1;
        pool.get(index * 7 % pool.len()).cloned().unwrap_or_default()
    };
    let mut events = vec![Event::Opened {
        session: text(),
        repository: text(),
        head: id('b'),
        branch: text(),
        framework: text(),
        command: text(),
        resumed: false,
    }];
    let tests: Vec<TestId> = (0..shape.failing).map(|_| TestId::from(text().as_str())).collect();
    events.push(Event::Baseline {
        rate: rate(1, 100_000),
        failing: tests.clone(),
        flaky: tests.iter().take(shape.others).cloned().collect(),
        preexisting: tests.iter().skip(3).take(shape.others).cloned().collect(),
    });
    for _ in 0..shape.others {
        events.push(Event::Notice { text: text() });
        events.push(Event::Rejected { iteration: 1, reasons: vec![text(), text()] });
    }
    for number in 0..shape.calls {
        let iteration = u32::try_from(number / 4).unwrap();
        let (_, mut call) = call(1, &text(), Some(Trigger::Server), &text());
        (call.role, call.model) = (text(), text());
        let spent = Spending { calls: 12_345, ..Spending::default() };
        events.push(Event::Asked { iteration, call, spent });
    }
    for number in 1..=shape.rows {
        let mut row = row(number, "regression", 56, Some(number), &text());
        (row.outcome, row.provider, row.tests_run) = (text(), text(), 1_234_567);
        row.failing.clone_from(&tests);
        events.push(Event::IterationEnded(row));
    }
    events.push(Event::IterationStarted {
        iteration: shape.rows + 1,
        strategy: Boldness::Reflective,
        reason: text(),
        rate: rate(3, 4),
    });
    events.push(Event::Step { iteration: 1, doing: text() });
    events.push(Event::Progress { done: 1, total: None, unit: text() });
    let mut view = View::of(&events);
    if let Some(result) = shape.result {
        let failing = tests.into_iter().map(|test| Remaining {
            test,
            criticality: text(),
            evidence: text(),
            message: text(),
            file: RepoPath::parse(text()).ok(),
            line: Some(7),
        });
        let failing = failing.collect();
        let mut outcome = outcome(&view, result, 58, failing, &text());
        (outcome.session, outcome.branch, outcome.report) = (text(), text(), text());
        outcome.onto = Some(text());
        outcome.patch = text().repeat(30);
        outcome.minimised = Some(Minimised {
            needed: (0..shape.others)
                .map(|_| Needed { place: text(), tests: vec![TestId::from(text().as_str())] })
                .collect(),
            ..Minimised::default()
        });
        view.add(&Event::Closed(Box::new(outcome)));
    }
    view
}

#[test]
fn a_page_that_is_too_long_gives_up_what_matters_least_and_says_so() {
    let shape = Shape {
        rows: 50,
        failing: 400,
        calls: 100,
        others: 200,
        answers: 0,
        result: Some(Ending::Failure),
        pushed: false,
        on_pull: true,
    };
    let view = session(&shape, &["a name of a test that goes on for some length\n".repeat(4)]);
    let text = comment(&view, &facts());
    assert!((40_000..=COMMENT_LIMIT).contains(&text.len()), "{}", text.len());
    let seen = examine(&text, &facts()).unwrap();
    for kept in
        ["Not green", "Still failing (400)", "Next", "Used: 50 of 10 iterations", "full report"]
    {
        assert!(seen.open.contains(kept), "{kept}");
    }
    let note = text.lines().last().unwrap();
    assert_eq!(
        note,
        "Shortened to fit: failing tests, patch, iterations, attempts, proof, who was asked, notes. \
         All of it: [full report](https://github.com/octo/shop/actions/runs/9/artifacts/3)."
    );
    let whole = job_summary(&view, &facts());
    assert!(!whole.contains("Shortened to fit") && whole.len() > 200_000, "{}", whole.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn hostile_sessions_give_whole_pages_within_the_limits(
        shape in shape(),
        pool in prop::collection::vec(hostile(), 12..40),
    ) {
        let view = session(&shape, &pool);
        let answers: Vec<Answer> = (0..shape.answers)
            .map(|number| Answer {
                asker: pool[number % pool.len()].clone(),
                command: pool[(number + 3) % pool.len()].clone(),
                reply: "It goes on. ".repeat(1 + number * 400),
            })
            .collect();
        let tip = id('d');
        let facts = Facts {
            answers: &answers,
            branch_url: shape.pushed.then_some("https://github.com/octo/shop/tree/x"),
            stored: Some(&tip),
            pull: shape.on_pull.then_some(7),
            ..facts()
        };
        let about = About { name: &pool[0], head_sha: &tip, partial: Conclusion::Success };
        let run = check(&view, &facts, &about);
        let pages = [
            ("comment", comment(&view, &facts), COMMENT_LIMIT),
            ("job summary", job_summary(&view, &facts), SUMMARY_LIMIT),
            ("check summary", run.summary, CHECK_LIMIT),
        ];
        for (name, text, limit) in &pages {
            prop_assert!(text.len() <= *limit, "{name} holds {} bytes", text.len());
            let seen = examine(text, &facts);
            prop_assert!(seen.is_ok(), "{name}: {:?}\n{text}", seen.err());
            let open = seen.unwrap().open;
            prop_assert!(open.contains("Used: "), "{name} has no end\n{text}");
            prop_assert!(text.contains(" goal 95 %"), "{name} has no chart");
            prop_assert!(text.contains("artifacts/3"), "{name} has no link to the report");
                let next = open.contains("Next") || shape.result == Some(Ending::Success);
            prop_assert!(next || shape.result.is_none(), "{name} has no next step");
        }
        prop_assert!(run.text.len() <= CHECK_LIMIT);
        let seen = examine(&run.text, &facts);
        prop_assert!(seen.is_ok(), "text: {:?}\n{}", seen.err(), run.text);
        for line in [&run.title, &run.name, &current_line(&view)] {
            prop_assert!(line.len() <= TITLE_LIMIT && !line.chars().any(char::is_control));
        }
        for one in annotations(&view) {
            prop_assert!(one.message.len() <= 16_000 && one.title.len() <= TITLE_LIMIT);
            prop_assert!(!one.message.trim().is_empty() && one.start_line >= 1);
        }
        let told = outputs(&view, None);
        prop_assert!(told.iter().map(|(_, value)| value.len()).sum::<usize>() < 1_000_000);
        prop_assert_eq!(todo(&[], &view).breaches(), Vec::<String>::new());
    }
}
