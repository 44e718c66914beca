//! Tests of the plan's documents: mandatory sections, hostile text, progress.

use crate::domain::budget::Spending;
use crate::domain::test_plan::analysis::samples;
use crate::domain::test_plan::context::ContextPackage;
use crate::domain::test_plan::pipeline::{ConfirmPlan, Goal, Pipeline, PipelineStepOutcome};
use crate::domain::test_plan::plan_input::PlanInput;
use crate::domain::test_plan::plan_run::PlanRun;

use super::*;
use crate::domain::event::TaskRow;
use crate::domain::fix_loop::Stopped;

fn state(description: &str) -> Pipeline {
    let id = crate::domain::id::SessionId::parse("WFS-test-x").unwrap();
    let entry = PlanInput::Text(description.to_owned());
    Pipeline::new(id, entry, description.to_owned(), Goal::Test, ConfirmPlan::Always)
}

/// A package as an older version may have stored it: fields that it lacks are empty.
fn package() -> ContextPackage {
    let text = include_str!("../../../tests/data/planning/v1/context-package.json");
    let package: ContextPackage = serde_json::from_str(text).unwrap();
    package
}

#[test]
fn mandatory_sections_and_lines_of_the_analysis_are_there() {
    let page = analysis(&samples::analysis(2, 2));
    for section in [
        "## Project type",
        "## Coverage assessment",
        "## Test framework and conventions",
        "## Multi-layered test plan",
        "## AI issue scan",
        "## Requirements by file",
        "## Quality assurance criteria",
        "## Success criteria",
        "## Generation strategy",
        "## Implementation targets",
        "\nProject Type: Library (Python)\n",
        "\nTest Framework: pytest\n",
        "\nCoverage Target: line:80%,branch:70%,function:90%\n",
        "- [L1.1] R-001: `f` raises ValueError for an empty text\n",
    ] {
        assert!(page.contains(section), "{section}:\n{page}");
    }
}

#[test]
fn hostile_text_stays_inside_its_span() {
    let mut sample = samples::analysis(1, 1);
    sample.description = "x`\n## @octocat <img src=x>".into();
    sample.files[0].requirements[0].text = "`f` raises E (\"ask @octocat <b>\")".into();
    sample.files[0].reason = "::set-env name=A::b ![x](http://x)".into();
    let page = analysis(&sample);
    assert!(page.contains("Asked for: ``x` ## @octocat <img src=x>``\n"), "{page}");
    assert!(page.contains("R-001: `f` raises E (\"ask `@octocat <b>`\")"), "{page}");
    assert!(page.contains("`::set-env name=A::b ![x](http://x)`"), "{page}");
}

#[test]
fn one_phase_at_most_is_in_progress() {
    let mut now = state("x");
    let steps = [
        PipelineStepOutcome::Gathered { gaps: 1, summary: "one".into() },
        PipelineStepOutcome::Analysed { requirements: 2, degraded: false, summary: "two".into() },
        PipelineStepOutcome::Planned { problems: Vec::new(), summary: "three".into() },
        PipelineStepOutcome::Confirmed,
    ];
    let mut seen = Vec::new();
    for done in steps {
        let lines = progress(&now, None).phases;
        seen.push(lines.iter().map(|line| line.status.chars().next().unwrap()).collect::<String>());
        now = now.advance(done);
    }
    let last = progress(&now, None).phases;
    seen.push(last.iter().map(|line| line.status.chars().next().unwrap()).collect());
    assert_eq!(seen, ["cippp", "ccipp", "cccip", "ccccp", "cccci"]);
}

#[test]
fn the_stored_package_of_the_first_build_is_read() {
    let package = package();
    assert_eq!(package.test_framework.framework.name(), "pytest");
    assert_eq!(package.test_coverage.missing_tests.len(), 1);
}

#[test]
fn a_report_of_a_provider_stays_inside_its_block() {
    let sample = samples::analysis(1, 1);
    let page = raw_analysis(&sample, &["```\n## @octocat\n```".into()]);
    assert_eq!(
        page,
        "# Raw test analysis by embedded\n\n````markdown\n```\n## @octocat\n```\n````\n"
    );
}

#[test]
fn a_plan_shows_the_order_of_files_and_what_a_task_holds() {
    let text = include_str!("../../../tests/data/planning/v1/IMPL-001.json");
    let mut task: TestTask = serde_json::from_str(text).unwrap();
    task.flow_control.reusable_test_tools = vec!["cart".into()];
    let plan_of = TestPlan { analysis: samples::analysis(1, 1), tasks: vec![task] };
    let page = plan(&state("x"), &plan_of, &package());
    for text in [
        "- order (what a file needs comes first): `shop/price.py`",
        "Library (Python), coverage target line:80%,branch:70%,function:90%, context `.process/context-package.json`",
        "- tools that are there: cart",
    ] {
        assert!(page.contains(text), "{text}:\n{page}");
    }
}

#[test]
fn the_summary_of_the_suite_says_what_was_found_and_how_it_ended() {
    let run = PlanRun {
        state: state("x"),
        package: None,
        plan: None,
        spending: Spending { calls: 3, ..Spending::default() },
        halted: Some(Stopped { reason: "the budget".into(), ..Stopped::default() }),
    };
    let mut outcome = outcome(
        &run,
        Rest { branch: "b".into(), folder: "f".into(), took: std::time::Duration::ZERO },
    );
    assert!(suite(&outcome).contains("Status: NOT DECIDED. the budget while"));
    assert_eq!(outcome.spending.calls, 3);
    outcome.result = crate::domain::event::Ending::Failure;
    outcome.initial = crate::domain::rate::PassRate::of(1, 2);
    outcome.failing = vec![crate::domain::event::Remaining {
        test: "t.a".into(),
        criticality: "high".into(),
        evidence: String::new(),
        message: "1 | 2 @octocat".into(),
        file: None,
        line: None,
    }];
    let page = suite(&outcome);
    assert!(page.contains("First run: 50.0 % pass. Last run: not known."), "{page}");
    assert!(page.contains("| `t.a` | `high` | `1 \\| 2 @octocat` |"), "{page}");
}

/// The list that comment and check run show, and the lines of a terminal, for an event stream.
fn drawn(phases: usize, events: &[crate::domain::event::Event]) -> String {
    use crate::report::todo::{Step, todo};
    let names = crate::domain::test_plan::pipeline::PHASES;
    let before: Vec<Step> = names
        .iter()
        .zip(ACTIVE)
        .take(4)
        .enumerate()
        .map(|(at, (name, active))| Step::new(*name, active).done(at < phases))
        .collect();
    let list = todo(&before, &crate::report::view::View::of(events));
    assert_eq!(list.breaches(), Vec::<String>::new());
    list.lines().join("\n")
}

#[test]
fn the_list_of_a_test_session_attaches_what_is_done_and_collapses_it() {
    use crate::domain::event::Event;
    use crate::domain::task::TaskStatus::{Completed, InProgress, Pending};
    let doing = |text: &str| Event::Step { iteration: None, doing: text.into() };
    let tasks = |statuses: [crate::domain::task::TaskStatus; 4]| {
        let titles = [
            ("IMPL-001", "Write unit tests `@octocat`", "@code-developer"),
            ("IMPL-001.3", "Validate the generated code", "@test-fix-agent"),
            ("IMPL-001.5", "Review the quality of the tests", "@test-fix-agent"),
            ("IMPL-002", "Run the suite and fix what fails", "@test-fix-agent"),
        ];
        let rows = titles.iter().zip(statuses).map(|((id, title, agent), status)| TaskRow {
            id: (*id).into(),
            title: (*title).into(),
            agent: (*agent).into(),
            status,
        });
        Event::Tasks { tasks: rows.collect() }
    };
    insta::assert_snapshot!(drawn(2, &[doing("analysing what must be tested")]), @r"
    ✓ Session Start
    ✓ Test Context Gather
    ▶ Analysing what must be tested
      ▶ Analysing what must be tested
    ○ Test Task Generate
    ○ Test Cycle Execution
    ");
    let writing =
        [tasks([InProgress, Pending, Pending, Pending]), doing("asking for tests of a.py")];
    insta::assert_snapshot!(drawn(4, &writing), @r"
    ✓ Session Start
    ✓ Test Context Gather
    ✓ Test Analysis
    ✓ Test Task Generate
    ▶ Test Cycle Execution
      ▶ IMPL-001: Write unit tests `@octocat` [@code-developer]
        ▶ Asking for tests of a.py
      ○ IMPL-001.3: Validate the generated code [@test-fix-agent]
      ○ IMPL-001.5: Review the quality of the tests [@test-fix-agent]
      ○ IMPL-002: Run the suite and fix what fails [ITERATION] [@test-fix-agent]
    ");
    let running =
        [tasks([Completed, Completed, Completed, Pending]), doing("running the full suite")];
    insta::assert_snapshot!(drawn(4, &running), @r"
    ✓ Session Start
    ✓ Test Context Gather
    ✓ Test Analysis
    ✓ Test Task Generate
    ▶ Test Cycle Execution
      ✓ IMPL-001: Write unit tests `@octocat` [@code-developer]
      ✓ IMPL-001.3: Validate the generated code [@test-fix-agent]
      ✓ IMPL-001.5: Review the quality of the tests [@test-fix-agent]
      ▶ IMPL-002: Run the suite and fix what fails [ITERATION] [@test-fix-agent]
        ▶ Running the tests before any change
          ▶ Running the full suite
        ○ Decide, prove, report
    ");
}

#[test]
fn a_terminal_is_told_of_tasks_once_they_are_over() {
    use crate::domain::task::TaskStatus;
    use crate::report::terminal::{Style, changed_tasks};
    let row = |status: TaskStatus| TaskRow {
        id: "IMPL-001".into(),
        title: "Write\n::error::unit tests".into(),
        agent: "@a".into(),
        status,
    };
    let table = [
        (TaskStatus::Pending, TaskStatus::InProgress, None),
        (TaskStatus::InProgress, TaskStatus::Completed, Some("  ✓ IMPL-001: ")),
        (TaskStatus::InProgress, TaskStatus::Blocked, Some("  ✗ IMPL-001: ")),
        (TaskStatus::Completed, TaskStatus::Completed, None),
    ];
    for (before, now, expected) in table {
        let lines = changed_tasks(&[row(before)], &[row(now)], Style::Plain);
        assert_eq!(lines.len(), usize::from(expected.is_some()), "{lines:?}");
        assert!(lines.first().is_none_or(|line| line.starts_with(expected.unwrap_or_default())));
        assert!(lines.iter().all(|line| !line.contains('\n')), "{lines:?}");
        assert!(changed_tasks(&[], &[row(now)], Style::Plain).is_empty(), "nobody saw it begin");
    }
}

#[test]
fn a_plan_speaks_the_words_of_a_maintainer() {
    let text = include_str!("../../../tests/data/planning/v1/IMPL-001.json");
    let mut task: TestTask = serde_json::from_str(text).unwrap();
    task.title = "Write unit tests of a|b for @octocat".into();
    let plan = TestPlan { analysis: samples::analysis(1, 2), tasks: vec![task] };
    insta::assert_snapshot!(plan_comment(&state("x"), &plan), @r"
    Session `WFS-test-x`: 2 requirements in 1 file, 1 task, 1 test file.

    | Task | Status | Test files |
    |---|---|---|
    | Write unit tests of `a\|b` for `@octocat` | pending | `tests/test_price.py` |

    Kinds of tests: happy path (1), negative path (1).

    The tests are accepted when they compile, have no critical finding, and cover 80 % of lines, 70 % of branches and 90 % of functions.

    <details>
    <summary>What the tests must show</summary>

    - happy path: `f` raises ValueError for an empty text
    - negative path: `f` raises ValueError for an empty text

    </details>
    ");
}
