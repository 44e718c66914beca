//! Tests of the log: snapshots of a session that begins and of one that ends, what each state in between
//! says, and hostile text everywhere.

use proptest::prelude::*;
use pulldown_cmark::{Event as Piece, Options, Parser, Tag};

use super::render;
use crate::domain::criticality::Criticality;
use crate::domain::event::Ending;
use crate::domain::fix_loop::IterationResult;
use crate::domain::id::{RepoPath, SessionId, TestId, TreeId};
use crate::domain::integration::design::{
    Mocking, MockingStrategy, PlannedCase, Scenario, ScenarioKind, ScenarioPriority, TestDesign,
};
use crate::domain::integration::exploration::{
    BoundaryCall, DataFlow, Dependencies, Exploration, ExplorationMetadata, IntegrationKind,
    IntegrationPoint, RiskArea, RiskLevel, TestTools,
};
use crate::domain::integration::iteration::{FailingTest, FixEntry, Reflection, SuiteResults};
use crate::domain::integration::records::{Assumption, AssumptionStatus, Decision};
use crate::domain::integration::{
    Checkpoint, Integration, IntegrationGoal, IntegrationStep, Phase, SessionSummary, TestFile,
    TestInventory, TestMetrics, Untested,
};
use crate::domain::strategy::Strategy as Boldness;

/// Texts that Markdown or GitHub would give a meaning.
const HOSTILE: &[&str] = &[
    "<img src=x onerror=1>",
    "</details>",
    "\n\n# Owned\n\n## Owned",
    "@octocat, fixes #12",
    "[a](https://evil.example)",
    "a | b `c` ``d",
    "```\n<b>",
    "- [x] a\n1. b",
    "<!-- x --> \u{202e} \u{1b}[31m",
    "_{{ state }}_ **b** $x$ :tada:",
    "",
];

const SECTIONS: [&str; 9] = [
    "Original test intent",
    "Current understanding",
    "Phase 2: Exploration",
    "Phase 3: Design",
    "Phase 4: Development",
    "Iteration timeline",
    "Cumulative learnings",
    "Intent coverage",
    "Conclusions",
];

fn begin(goal: IntegrationGoal) -> Integration {
    let id = SessionId::parse("ITG-2026-01-02-shop").unwrap();
    let tree = TreeId::parse("a".repeat(40)).unwrap();
    let next = IntegrationStep::Explore;
    let commit = None;
    let checkpoint =
        Checkpoint { next, goal, confirm: false, tree, commit, events: 0, transitions: 0 };
    Integration::new(id, ("shop".into(), "2026-01-02T03:04:05Z".into()), 10, checkpoint)
}

fn at(mut state: Integration, phase: Phase, next: IntegrationStep) -> Integration {
    (state.phase, state.checkpoint.next) = (phase, next);
    state
}

/// A boundary between two files of this name; `text` stands wherever foreign text does.
fn point(from: &str, to: &str, text: &str, crossed_by: &[&str]) -> IntegrationPoint {
    let call = BoundaryCall {
        caller: "total".into(),
        callee: "rate".into(),
        line: 12,
        arguments: vec![text.into()],
    };
    IntegrationPoint {
        from: RepoPath::parse(from).unwrap(),
        to: RepoPath::parse(to).unwrap(),
        kind: IntegrationKind::Api,
        contract: text.into(),
        calls: vec![call],
        crossed: Some(false),
        crossed_by: crossed_by.iter().map(|test| TestId::from(*test)).collect(),
    }
}

fn decision(phase: Phase, iteration: u32, text: &str) -> Decision {
    Decision {
        phase,
        iteration,
        description: text.into(),
        context: text.into(),
        options: vec!["by risk".into(), text.into()],
        chosen: text.into(),
        reason: text.into(),
        impact: text.into(),
    }
}

fn explored(goal: IntegrationGoal, text: &str) -> Integration {
    let mut state = begin(goal);
    state.exploration = Some(Exploration {
        dependencies: Dependencies {
            upstream: vec!["cli.py".into()],
            external_services: vec![text.into()],
            ..Dependencies::default()
        },
        integration_points: vec![
            point("shop/order.py", "shop/tax.py", text, &["tests/test_order.py::test_total"]),
            point("shop/order.py", "shop/stock.py", text, &[]),
        ],
        data_flows: vec![DataFlow {
            path: vec!["cli.py".into(), text.into()],
            ..DataFlow::default()
        }],
        test_framework: TestTools { runner: "pytest".into(), ..TestTools::default() },
        risk_areas: vec![RiskArea {
            area: "shop/tax.py".into(),
            reason: text.into(),
            priority: RiskLevel::High,
        }],
        metadata: ExplorationMetadata { files_analyzed: 4, ..ExplorationMetadata::default() },
        ..Exploration::default()
    });
    state.assumptions = vec![Assumption::open(text.into(), text.into())];
    state.decisions = vec![decision(Phase::Explored, 0, text)];
    at(state, Phase::Explored, IntegrationStep::Design)
}

fn designed(goal: IntegrationGoal, text: &str) -> Integration {
    let mut state = explored(goal, text);
    let scenario = |id: &str, boundary: &str, priority| Scenario {
        id: id.into(),
        name: text.into(),
        boundary: boundary.into(),
        kind: ScenarioKind::ApiContract,
        priority,
        test_cases: vec![PlannedCase {
            name: "should add the tax when the country is DE".into(),
            input: text.into(),
            expected: "11.9".into(),
            assertion_type: "value".into(),
        }],
        mocking: Mocking { mock_targets: vec!["requests.get".into()], ..Mocking::default() },
        setup: String::new(),
        teardown: String::new(),
    };
    state.test_design = Some(TestDesign {
        integration_scenarios: vec![
            scenario("IS-001", "shop/order.py → shop/tax.py", ScenarioPriority::Critical),
            scenario("IS-002", "shop/order.py → shop/stock.py", ScenarioPriority::High),
        ],
        mocking_strategy: MockingStrategy {
            mock_boundaries: vec!["network".into()],
            rationale: text.into(),
            ..MockingStrategy::default()
        },
        execution_order: vec!["IS-002".into(), "IS-001".into()],
        not_covered: vec![text.into()],
        ..TestDesign::default()
    });
    let next = match goal {
        IntegrationGoal::Design => IntegrationStep::Finish,
        IntegrationGoal::Test => IntegrationStep::Develop,
    };
    at(state, Phase::Designed, next)
}

fn developed(text: &str) -> Integration {
    let mut state = designed(IntegrationGoal::Test, text);
    let file = TestFile {
        path: RepoPath::parse("tests/test_order_tax.py").unwrap(),
        scenario_ids: vec!["IS-001".into()],
        test_count: 2,
        boundary: "shop/order.py → shop/tax.py".into(),
        tests: vec![new_test("total"), new_test("rate")],
        is_disputed: false,
        author: text.into(),
    };
    let inventory = TestInventory {
        test_files: vec![file],
        untested: vec![Untested {
            what: "shop/order.py → shop/stock.py".into(),
            reason: text.into(),
        }],
        findings: vec![text.into()],
        fixed: vec![text.into()],
        authorship: vec![text.into()],
        ..TestInventory::default()
    };
    state.test_inventory = Some(inventory.with_counts());
    at(state, Phase::Developed, IntegrationStep::Commit)
}

fn new_test(name: &str) -> TestId {
    TestId(format!("tests/test_order_tax.py::test_{name}"))
}

fn reflection(
    iteration: u32,
    rate: f64,
    result: Option<IterationResult>,
    text: &str,
) -> Reflection {
    Reflection {
        iteration,
        pass_rate: rate,
        strategy: result.map(|_| Boldness::Conservative),
        failed_tests: if rate < 100.0 { vec![new_test("rate")] } else { vec![] },
        reflection_summary: text.into(),
        strategy_adjustment: text.into(),
        cause: if result.is_some() { text.into() } else { String::new() },
        assumed: text.into(),
        reality: text.into(),
        learned: if result.is_some() { text.into() } else { String::new() },
        result,
        change: if result.is_some() { text.into() } else { String::new() },
    }
}

fn iterated(history: Vec<Reflection>, text: &str) -> Integration {
    let mut state = developed(text);
    let last = history.last().map_or(100.0, |one| one.pass_rate);
    let is_red = last < 100.0;
    let failure = FailingTest {
        test: new_test("rate"),
        file: None,
        error: text.into(),
        criticality: Criticality::High,
    };
    state.iterations.latest_results = Some(SuiteResults {
        pass_rate: last,
        passed: if is_red { 9 } else { 10 },
        failed: u32::from(is_red),
        total: 10,
        failures: if is_red { vec![failure] } else { vec![] },
    });
    state.fix_history = history
        .iter()
        .skip(1)
        .map(|one| FixEntry {
            iteration: one.iteration,
            strategy: Boldness::Conservative,
            modification_points: vec!["shop/tax.py:7".into()],
            affected_tests: vec![],
            confidence: 0.8,
        })
        .collect();
    state.iterations.history = history;
    at(state, Phase::Iterating, IntegrationStep::Iterate)
}

fn completed(mut state: Integration, result: Ending, text: &str) -> Integration {
    let run = state.iterations.latest_results.clone();
    state.summary = Some(SessionSummary {
        result,
        final_pass_rate: run.map(|run| run.pass_rate),
        total_iterations: 1,
        strategies_used: vec![Boldness::Conservative],
        test_metrics: TestMetrics {
            total_tests: 2,
            passed: 2,
            failed: 0,
            test_files: 1,
            integration_points_covered: 1,
        },
        key_learnings: vec![text.into()],
        corrected_assumptions: vec![],
        recommendations: vec![text.into()],
        completed: "2026-01-02T03:14:05Z".into(),
    });
    at(state, Phase::Completed, IntegrationStep::Finish)
}

/// A session in each state, with this text wherever foreign text stands.
fn states(text: &str) -> Vec<(&'static str, Integration)> {
    let test = IntegrationGoal::Test;
    let again = |iteration, rate, result| reflection(iteration, rate, Some(result), text);
    let first = |rate| reflection(0, rate, None, text);
    let no_boundary = {
        let mut state = explored(test, text);
        state.exploration = Some(Exploration::default());
        state.test_design = Some(TestDesign::default());
        at(state, Phase::Designed, IntegrationStep::Develop)
    };
    let no_test = {
        let mut state = developed(text);
        state.test_inventory = Some(TestInventory::default());
        completed(state, Ending::Failure, text)
    };
    let confirm = {
        let mut state = designed(test, text);
        state.checkpoint.confirm = true;
        at(state, Phase::Designed, IntegrationStep::Confirm)
    };
    let regression = vec![first(90.0), again(1, 90.0, IterationResult::Regression)];
    let mut stuck = iterated(
        [regression.clone(), vec![again(2, 90.0, IterationResult::Unchanged)]].concat(),
        text,
    );
    stuck.iterations.stuck_tests = vec![new_test("rate")];
    let improved = vec![first(90.0), again(1, 100.0, IterationResult::Improved)];
    let mut states = vec![
        ("before exploring", begin(test)),
        ("explored", explored(test, text)),
        ("no boundary", no_boundary),
        ("dry run", designed(IntegrationGoal::Design, text)),
        ("waiting", confirm),
        ("designed", designed(test, text)),
        ("not checked", at(developed(text), Phase::Designed, IntegrationStep::Validate)),
        (
            "stopped before the first run",
            at(developed(text), Phase::Iterating, IntegrationStep::Iterate),
        ),
        ("no test written", no_test),
        ("all green", iterated(vec![first(100.0)], text)),
        ("one failing", iterated(vec![first(90.0)], text)),
        ("regression", iterated(regression, text)),
        ("stuck", stuck.clone()),
        ("completed", completed(iterated(improved, text), Ending::Success, text)),
        ("failed", completed(stuck, Ending::Failure, text)),
    ];
    for (_, state) in &mut states {
        state.module = text.into();
    }
    states
}

fn render_state(name: &str) -> String {
    let states = states("a known text");
    let (_, state) = states.iter().find(|(known, _)| *known == name).unwrap();
    render(state)
}

/// Fails where a section is missing, empty or not ours, and where foreign text became markup.
fn examine(log: &str) -> Result<(), String> {
    let lines: Vec<&str> = log.lines().collect();
    let titles: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("## ")).collect();
    if titles != SECTIONS || lines.iter().filter(|line| line.starts_with("# ")).count() != 1 {
        return Err(format!("sections: {titles:?}"));
    }
    let content: Vec<&&str> = lines.iter().filter(|line| !line.is_empty()).collect();
    for pair in content.windows(2).filter(|pair| pair[0].starts_with('#')) {
        if pair[1].starts_with("## ") {
            return Err(format!("empty section: {}", pair[0]));
        }
    }
    let columns = |line: &str| line.matches('|').count() - line.matches("\\|").count();
    for pair in lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with('|'))) {
        if columns(pair[0]) != columns(pair[1]) {
            return Err(format!("columns: {pair:?}"));
        }
    }
    for piece in Parser::new_ext(log, Options::all()) {
        match piece {
            Piece::Html(_)
            | Piece::InlineHtml(_)
            | Piece::InlineMath(_)
            | Piece::DisplayMath(_)
            | Piece::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_))
            | Piece::TaskListMarker(_)
            | Piece::FootnoteReference(_) => {
                return Err(format!("{piece:?}"));
            }
            Piece::Text(words) if words.contains(['<', '@', '#']) || words.contains("://") => {
                return Err(format!("foreign text: {words}"));
            }
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn every_state_fills_every_section_and_disarms_hostile_text() {
    for text in HOSTILE.iter().copied().chain(["a known text"]) {
        for (name, state) in states(text) {
            let log = render(&state);
            assert_eq!(examine(&log), Ok(()), "{name}, {text:?}:\n{log}");
            assert!(!log.contains("is broken") && !log.contains("\n\n\n"), "{name}:\n{log}");
        }
    }
}

proptest! {
    #[test]
    fn no_text_becomes_markup(
        parts in prop::collection::vec(
            prop_oneof![prop::sample::select(HOSTILE).prop_map(str::to_owned), ".{0,20}"],
            1..4,
        ),
        chosen in any::<prop::sample::Index>(),
    ) {
        let states = states(&parts.concat());
        let (name, state) = chosen.get(&states);
        let log = render(state);
        prop_assert_eq!(examine(&log), Ok(()), "{}:\n{}", name, log);
    }
}

#[test]
fn the_examiner_sees_what_must_not_be_there() {
    let log = render(&begin(IntegrationGoal::Test));
    for text in [
        "<img src=x>",
        "[a](https://evil.example)",
        "# Owned",
        "## Owned",
        "@octocat",
        "",
        "- [x] a",
    ] {
        let injected = log.replace("_Filled when the design ends._", text);
        assert!(examine(&injected).is_err(), "{text}");
    }
}

#[test]
fn each_state_is_described_as_it_is() {
    let table: &[(&str, &[&str], &[&str])] = &[
        (
            "explored",
            &[
                "Boundaries found: 2. Crossed by existing tests: 1.",
                "- Next priority: design scenarios",
                "_Filled when the design ends._",
            ],
            &["_Filled when the exploration ends._"],
        ),
        (
            "no boundary",
            &["Boundaries found: 0.", "No scenario was designed.", "none, no boundary was found"],
            &["| Boundary"],
        ),
        (
            "dry run",
            &[
                "The session ended with the design, as requested.",
                "_Not part of this session, which ends with the design._",
                "Scenarios: 2 (1 critical, 1 high, 0 medium), with 2 test cases",
            ],
            &["_Filled", "write tests"],
        ),
        (
            "waiting",
            &["The design waits for confirmation", "- Next priority: confirm the design"],
            &["was confirmed"],
        ),
        ("designed", &["- Next priority: write the tests"], &["confirm"]),
        ("not checked", &["The new files are not checked yet."], &["The check found nothing"]),
        (
            "stopped before the first run",
            &[
                "none of 2; 1 crossed by a test, no results are recorded",
                "_Filled when the first results are recorded._",
                "run the tests, and fix what fails",
            ],
            &["### Iteration"],
        ),
        (
            "no test written",
            &[
                "No test was written.",
                "_No iteration: there is no new test to run._",
                "Pass rate: no new test ran",
                "low, because no results are recorded",
                "**Result: NEEDS ATTENTION**",
            ],
            &["none yet"],
        ),
        (
            "all green",
            &[
                "- Test health: 10 passed, 0 failed, 100.0 %\n",
                "- Critical failures: none",
                "pass rate 100.0 %, 0 failing tests",
            ],
            &["Synthesis", "Why they failed"],
        ),
        (
            "one failing",
            &[
                "- Critical failures: `tests/test_order_tax.py::test_rate`",
                "- Next priority: `tests/test_order_tax.py::test_rate` (high criticality)",
                "0 of 2; problematic: `shop/order.py → shop/tax.py`",
                "Why they failed: no cause was named",
            ],
            &["- Decision: follow"],
        ),
        (
            "regression",
            &[
                "conservative strategy, regression, undone",
                "- Effect: tests broke, and the change was undone",
                "9 passed, 1 failed, 90.0 %, as in the first run",
                "- Ineffective strategies:\n  - a known text (iteration 1)",
            ],
            &["Covered boundaries, but failing"],
        ),
        (
            "stuck",
            &[
                "- Effect: the pass rate did not rise",
                "Covered boundaries, but failing: `shop/order.py → shop/tax.py`",
                "fails whatever was changed",
                "Drifted (boundaries designed, without a test): `shop/order.py → shop/stock.py`",
            ],
            &["none yet\n- Recurring"],
        ),
        (
            "failed",
            &[
                "**Still failing**",
                "low, because of 1 failing test",
                "| IS-001: a known text | `shop/order.py → shop/tax.py` | 2 | 1 |",
                "| IS-002: a known text | `shop/order.py → shop/stock.py` | 0 | none |",
            ],
            &["SUCCESS", "_Filled"],
        ),
    ];
    for (name, present, absent) in table {
        let log = render_state(name);
        for text in *present {
            assert!(log.contains(text), "{name} lacks {text:?}:\n{log}");
        }
        for text in *absent {
            assert!(!log.contains(text), "{name} has {text:?}:\n{log}");
        }
    }
}

#[test]
fn an_existing_test_that_fails_makes_its_boundary_problematic() {
    let mut state = iterated(vec![reflection(0, 90.0, None, "")], "");
    let points = &mut state.exploration.as_mut().unwrap().integration_points;
    points[1].crossed_by = vec![new_test("rate")];
    let log = render(&state);
    assert!(
        log.contains(
            "0 of 2; problematic: `shop/order.py → shop/tax.py`, `shop/order.py → shop/stock.py`"
        ),
        "{log}"
    );
}

#[test]
fn long_lists_are_cut() {
    let mut state = developed("text");
    let inventory = state.test_inventory.as_mut().unwrap();
    inventory.findings = (0..15).map(|number| format!("finding {number}")).collect();
    inventory.test_files = vec![inventory.test_files[0].clone(); 14];
    let points = &mut state.exploration.as_mut().unwrap().integration_points;
    let calls = vec![points[0].calls[0].clone(); 5];
    *points = vec![IntegrationPoint { calls, ..points[0].clone() }; 13];
    let log = render(&state);
    for text in [
        "- finding 11\n- and 3 more\n",
        "| 2 |\n\nand 2 more\n",
        "|\n\nand 1 more\n",
        "and 2 more | `text` |",
    ] {
        assert!(log.contains(text), "{text}:\n{log}");
    }
    assert!(!log.contains("finding 12"), "{log}");
}

#[test]
fn a_stored_decision_stands_beside_what_the_fix_loop_shows() {
    let history = vec![
        reflection(0, 90.0, None, ""),
        reflection(1, 90.0, Some(IterationResult::Unchanged), "x"),
    ];
    let mut state = iterated(history, "");
    assert!(render(&state).contains("  - Chosen: conservative (one targeted fix)\n  - Planned at: `shop/tax.py:7`\n  - Confidence: 0.8\n"));
    state.decisions.push(decision(Phase::Iterating, 1, "try the rate first"));
    let log = render(&state);
    assert!(log.contains("- Decision: try the rate first\n  - Context: try"), "{log}");
    assert!(log.contains("- Decision: follow the conservative"), "{log}");
}

#[test]
fn a_session_that_begins_says_when_each_section_is_filled() {
    insta::assert_snapshot!(render(&begin(IntegrationGoal::Test)), @r"
    # Integration tests: shop

    - Topic: `shop`
    - Session: `ITG-2026-01-02-shop`
    - Started: `2026-01-02T03:04:05Z`
    - Mode: explore, design, write tests, run them and fix what fails
    - Max iterations: 10

    ## Original test intent

    Find where `shop` meets other code, and write tests that cross each boundary.

    ## Current understanding

    - Test health: not known, no results are recorded
    - Verified boundaries: not known
    - Next priority: explore the module

    ## Phase 2: Exploration

    _Filled when the exploration ends._

    ## Phase 3: Design

    _Filled when the design ends._

    ## Phase 4: Development

    _Filled when the tests are written._

    ## Iteration timeline

    _Filled when the first results are recorded._

    ## Cumulative learnings

    - Confirmed understanding: none yet
    - Corrected assumptions: none yet
    - Effective strategies: none yet
    - Ineffective strategies: none yet
    - Recurring patterns: none yet

    ## Intent coverage

    _Filled when iteration 2 or the session ends._

    ## Conclusions

    _Filled when the session ends._
    ");
}

#[test]
fn a_completed_session_has_its_conclusions() {
    let mut first = reflection(0, 90.0, None, "");
    first.assumed = "the new tests pass beside those of the project".into();
    first.reality = "one does not".into();
    first.strategy_adjustment = "the next strategy is conservative".into();
    let mut fix = reflection(1, 100.0, Some(IterationResult::Improved), "the rate is truncated");
    fix.change = "shop/tax.py:7: `int(x)` → `round(x)`".into();
    fix.learned = format!("effective: {}", fix.change);
    fix.reality = "1 test that failed passes now, and no test fails that passed before".into();
    fix.strategy_adjustment = "the cycle ends: every test passes".into();
    let mut state = completed(
        iterated(vec![first, fix], "rates depend on the country"),
        Ending::Success,
        "test `shop/stock.py` with a database",
    );
    state.assumptions[0].status = AssumptionStatus::Corrected {
        new: "rates depend on the product too".into(),
        iteration: 1,
        evidence: "tests/test_order_tax.py::test_rate".into(),
        impact: "one more case".into(),
    };
    insta::assert_snapshot!(render(&state), @r"
    # Integration tests: shop

    - Topic: `shop`
    - Session: `ITG-2026-01-02-shop`
    - Started: `2026-01-02T03:04:05Z`
    - Mode: explore, design, write tests, run them and fix what fails
    - Max iterations: 10

    ## Original test intent

    Find where `shop` meets other code, and write tests that cross each boundary.

    ## Current understanding

    - Verified boundaries: 1 of 2
    - Corrected assumptions: 1 of 1
    - Test health: 10 passed, 0 failed, 100.0 %, up from 90.0 % in the first run
    - Confidence: medium, because of boundaries without a test: 1

    ## Phase 2: Exploration

    Files analysed: 4. Boundaries found: 2. Crossed by existing tests: 1.

    | Boundary | Calls | Contract | Crossed by |
    |:--|:--|:--|:--|
    | `shop/order.py → shop/tax.py` | line 12: `total` calls `rate(rates depend on the country)` | `rates depend on the country` | `tests/test_order.py::test_total` |
    | `shop/order.py → shop/stock.py` | line 12: `total` calls `rate(rates depend on the country)` | `rates depend on the country` | none |

    - Used by: `cli.py`
    - External services: rates depend on the country
    - Data flows: `cli.py → rates depend on the country`
    - Test tools: `pytest`

    **Assumptions**

    - rates depend on the country, because: rates depend on the country

    **Risk areas**

    - `shop/tax.py` (high): rates depend on the country

    **Decisions**

    - Decision: rates depend on the country
      - Context: rates depend on the country
      - Options: by risk; rates depend on the country
      - Chosen: rates depend on the country
      - Reason: rates depend on the country
      - Impact: rates depend on the country

    ## Phase 3: Design

    - Scenarios: 2 (1 critical, 1 high, 0 medium), with 2 test cases
    - Order: IS-002; IS-001
    - Mocking: minimal
    - Faked: `network`
    - Why: rates depend on the country
    - Aim: pass rate 95 %, line coverage 80 %

    **Cases**

    - IS-001 (critical): `shop/order.py → shop/tax.py`, rates depend on the country
      - should add the tax when the country is DE: `rates depend on the country` → `11.9`
      - Faked: `requests.get`
    - IS-002 (high): `shop/order.py → shop/stock.py`, rates depend on the country
      - should add the tax when the country is DE: `rates depend on the country` → `11.9`
      - Faked: `requests.get`

    **Not covered**

    - rates depend on the country

    ## Phase 4: Development

    | File | Boundary | Scenarios | Tests |
    |:--|:--|:--|--:|
    | `tests/test_order_tax.py` | `shop/order.py → shop/tax.py` | IS-001 | 2 |

    **Written by**

    - rates depend on the country

    **Found and fixed by the check**

    - rates depend on the country

    **Without a test**

    - `shop/order.py → shop/stock.py`: rates depend on the country

    **The code contradicts its documentation**

    - rates depend on the country

    ## Iteration timeline

    ### Iteration 0

    - Results: pass rate 90.0 %, 1 failing test
    - Failed tests: `tests/test_order_tax.py::test_rate`
    - Why they failed: no cause was named
    - Assumed: the new tests pass beside those of the project
    - In reality: one does not
    - Next action: the next strategy is conservative

    ### Iteration 1

    - Results: pass rate 100.0 %, 0 failing tests; conservative strategy, improved
    - Why they failed: the rate is truncated
    - Assumed: this is the cause
    - In reality: 1 test that failed passes now, and no test fails that passed before
    - Learned: effective: `shop/tax.py:7`: `int(x)` → `round(x)`
    - Next action: the cycle ends: every test passes
    - Decision: follow the conservative strategy
      - Options: conservative, aggressive, surgical or reflective
      - Chosen: conservative (one targeted fix)
      - Planned at: `shop/tax.py:7`
      - Confidence: 0.8
      - Impact: improved
    - Synthesis
      - Start: pass rate 90.0 %
      - Progress: `shop/tax.py:7`: `int(x)` → `round(x)`
      - Effect: the change was kept, and the pass rate rose by 10.0 points
      - Now: 0 failing tests

    ## Cumulative learnings

    - Confirmed understanding: none
    - Corrected assumptions:
      - rates depend on the country: rates depend on the product too (`tests/test_order_tax.py::test_rate`)
    - Effective strategies:
      - `shop/tax.py:7`: `int(x)` → `round(x)` (iteration 1)
    - Ineffective strategies: none
    - Recurring patterns: none

    ## Intent coverage

    - Covered boundaries, by new tests or old ones: `shop/order.py → shop/tax.py`
    - Covered boundaries, but failing: none
    - Drifted (boundaries designed, without a test): `shop/order.py → shop/stock.py`
    - Not addressed: none

    ## Conclusions

    **Result: SUCCESS**

    - Pass rate: 100.0 %
    - New tests: 2
    - Whole suite: 2 passed, 0 failed
    - New test files: 1
    - Boundaries with new tests: 1 of 2
    - Iterations: 1 of at most 10
    - Strategies: conservative
    - Established assumptions: 0 of 1
    - Completed: `2026-01-02T03:14:05Z`

    **Corrected assumptions**

    | Assumed | In reality | Shown by | Impact |
    |:--|:--|:--|:--|
    | rates depend on the country | rates depend on the product too | iteration 1 | one more case |

    **Insights**

    - test `shop/stock.py` with a database

    **Coverage matrix**

    | Scenario | Boundary | Tests | Passing |
    |:--|:--|--:|--:|
    | IS-001: rates depend on the country | `shop/order.py → shop/tax.py` | 2 | 2 |
    | IS-002: rates depend on the country | `shop/order.py → shop/stock.py` | 0 | none |

    **Decision trail**

    - exploration: rates depend on the country: rates depend on the country

    **Recommendations**

    - test `shop/stock.py` with a database

    Next steps: create issue, extend tests, generate report, done.
    ");
}
