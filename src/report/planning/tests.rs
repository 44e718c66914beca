//! Tests of the plan's documents: mandatory sections, hostile text, progress.

use crate::domain::budget::Spending;
use crate::domain::test_plan::pipeline::{ConfirmPlan, Goal, Pipeline};
use crate::domain::test_plan::plan::samples;
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

/// A plan with its tasks.
fn with_tasks(mut plan: TestPlan) -> TestPlan {
    use crate::domain::test_plan::task::{TaskContext, TaskKind, planned_steps, sentence};
    let context = |kind| match kind {
        TaskKind::TestGen => TaskContext {
            requirements: plan.all_requirements().map(|(_, one)| sentence(one)).collect(),
            acceptance: vec!["all pass: `pytest`".into()],
            ..TaskContext::default()
        },
        _ => TaskContext::default(),
    };
    let mut tasks: Vec<TestTask> = TaskKind::ALL
        .map(|kind| {
            TestTask::new(kind, format!("Do {} for @octocat", kind.task_id()), context(kind))
        })
        .into();
    tasks[0].flow_control.implementation_approach =
        planned_steps(plan.all_requirements().map(|(_, one)| one));
    tasks[3].meta.max_iterations = Some(7);
    plan.tasks = tasks;
    plan
}

#[test]
fn the_line_of_the_analysis_names_what_is_not_planned() {
    let mut plan = samples::plan(1, 1);
    assert!(!summarise_analysis(&plan).contains("not planned"));
    plan.left_out = vec!["a.py: 3 requirements beyond the limit of one file".into()];
    let line = summarise_analysis(&plan);
    assert!(line.ends_with("; not planned: a.py: 3 requirements beyond the limit of one file"));
    plan.left_out.push("b.py: x".into());
    assert!(summarise_analysis(&plan).ends_with("of one file and 1 more"));
}

#[test]
fn mandatory_sections_and_lines_of_the_analysis_are_there() {
    let page = render_analysis(&samples::plan(2, 2));
    for section in [
        "## Project type",
        "## Coverage assessment",
        "## Test framework and conventions",
        "## Multi-layered test plan",
        "## AI issue scan",
        "## Requirements by file",
        "## Quality assurance criteria",
        "## Success criteria",
        "\nProject Type: Library (Python)\n",
        "\nTest Framework: pytest\n",
        "\nCoverage Target: line:80%,branch:70%,function:90%\n",
        "- [L1.1] R-001 (code): `f` raises ValueError for an empty text\n",
    ] {
        assert!(page.contains(section), "{section}:\n{page}");
    }
}

#[test]
fn hostile_text_stays_inside_its_span() {
    let mut sample = samples::plan(1, 1);
    sample.description = "x`\n## @octocat <img src=x>".into();
    sample.files[0].requirements[0].text = "`f` raises E (\"ask @octocat <b>\")".into();
    sample.files[0].reason = "::set-env name=A::b ![x](http://x)".into();
    let page = render_analysis(&sample);
    assert!(page.contains("Asked for: ``x` ## @octocat <img src=x>``\n"), "{page}");
    assert!(page.contains("R-001 (code): `f` raises E (\"ask `@octocat <b>`\")"), "{page}");
    assert!(page.contains("`::set-env name=A::b ![x](http://x)`"), "{page}");
}

#[test]
fn a_plan_shows_files_gates_tasks_and_limits() {
    let mut plan_of = with_tasks(samples::plan(2, 3));
    plan_of.couplings = vec!["a.py:3 looks up names while running (`getattr`)".into()];
    insta::assert_snapshot!(render_plan(&state("x"), &plan_of));
    let list = render_todo(&plan_of, "  - iteration 1\n");
    insta::assert_snapshot!(list);
}

#[test]
fn what_a_task_wrote_and_a_gate_decided_is_summed_up() {
    use crate::domain::characterisation_report::{
        CharacterisationFile, CharacterisationReport, CharacterisedFunction, DropReason,
    };
    use crate::domain::id::{RepoPath, SessionId, TreeId};
    use crate::domain::quality::QualityDecision;
    use crate::domain::test_plan::generation::{
        GateResult, Generation, RequirementCoverage, TaskTests,
    };
    use crate::domain::test_plan::layer::SubLayer;
    let path = |text: &str| RepoPath::parse(text).unwrap();
    let reason = || DropReason { reason: "uses @octocat".into(), count: 2 };
    let made_of = TaskTests {
        rounds: 2,
        is_settled: false,
        report: CharacterisationReport {
            functions: vec![CharacterisedFunction {
                dropped: vec![reason()],
                ..CharacterisedFunction::without_tests(path("a.py"), "fetch", 3, 9)
            }],
            files: vec![CharacterisationFile {
                file: path("tests/test_a.py"),
                subject: path("a|b.py"),
                tests: vec!["t.a".into()],
                assertions: 4,
            }],
            dropped: vec![reason()],
            unfinished: vec!["a.py".into()],
            ..CharacterisationReport::default()
        },
        reached: std::collections::BTreeMap::new(),
        requirements: vec![RequirementCoverage {
            id: "R-001".into(),
            layer: SubLayer::Happy,
            text: "`f` is right".into(),
            open: Some("no | call".into()),
        }],
        written: Vec::new(),
    };
    let task = with_tasks(samples::plan(1, 1)).tasks[0].clone();
    insta::assert_snapshot!(render_task(&task, &made_of));
    let (id, tree) =
        (SessionId::parse("WFS-test-x").unwrap(), TreeId::parse("a".repeat(40)).unwrap());
    let mut production = Generation::new(id, tree, Vec::new(), Vec::new());
    production.made = Some(made_of);
    assert_eq!(render_gate("IMPL-001.3", None, &production), "# IMPL-001.3: not judged yet\n");
    let gate = GateResult {
        decision: QualityDecision::HardFail,
        reason: "1 critical".into(),
        repairs: 1,
        retries: 2,
    };
    production.drop_file(&path("tests/test_a.py"), "by @octocat");
    insta::assert_snapshot!(render_gate("IMPL-001.3", Some(&gate), &production));
}

#[test]
fn the_summary_of_the_suite_says_what_was_found_and_how_it_ended() {
    let run = PlanRun {
        state: state("x"),
        plan: None,
        spending: Spending { calls: 3, ..Spending::default() },
        halted: Some(Stopped { reason: "the budget".into(), ..Stopped::default() }),
        reopening_limit: None,
    };
    let mut outcome = plan_outcome(
        &run,
        Rest { branch: "b".into(), folder: "f".into(), took: std::time::Duration::ZERO },
    );
    assert!(render_suite(&outcome).contains("Status: NOT DECIDED. the budget while"));
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
    let page = render_suite(&outcome);
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
    let mut plan = with_tasks(samples::plan(1, 2));
    plan.tasks[0].title = "Write unit tests of a|b for @octocat".into();
    insta::assert_snapshot!(plan_comment(&plan), @r"
    Session `WFS-test-x`: 2 requirements in 1 file, 4 tasks, 1 test file.

    | Task | Status | Test files |
    |---|---|---|
    | Write unit tests of `a\|b` for `@octocat` | pending | `tests/test_m0.py` |
    | Do IMPL-001.3 for `@octocat` | pending |  |
    | Do IMPL-001.5 for `@octocat` | pending |  |
    | Do IMPL-002 for `@octocat` | pending |  |

    Kinds of tests: happy path (1), negative path (1).

    The tests are accepted when they compile and have no critical finding. They aim at 80 % of lines, 70 % of branches and 90 % of functions.

    <details>
    <summary>What the tests must show</summary>

    - happy path: `f` raises ValueError for an empty text
    - negative path: `f` raises ValueError for an empty text

    </details>
    ");
}
