//! Rows of the anti-patterns of tests. Source: product.md 6.4.

use crate::code::lint::{Detection, Row, trial};
use crate::domain::quality::Severity::{Critical, Error, Warning};

use super::{ALL, JS, PY_JS, PY_JS_GO_JAVA, test};

/// The rows.
pub const ROWS: &[Row] = &[
    // empty_tests
    test(
        "empty-test",
        "empty_tests",
        Critical,
        "a test without a statement",
        Detection::Named(ALL, trial::empty),
        "write the test, or take it out",
    ),
    test(
        "setup-only",
        "empty_tests",
        Error,
        "a test that asserts nothing",
        Detection::Named(ALL, trial::setup_only),
        "assert what the code must answer",
    ),
    test(
        "skipped-test",
        "empty_tests",
        Warning,
        "a test that does not run",
        Detection::Named(ALL, trial::skipped),
        "repair it and let it run",
    ),
    test(
        "skipped-without-reason",
        "empty_tests",
        Error,
        "a test that does not run, and no word why",
        Detection::Named(ALL, trial::skipped_silently),
        "let it run, or say why it cannot",
    ),
    // weak_assertions
    test(
        "defined-only",
        "weak_assertions",
        Warning,
        "asserts only that something is there",
        Detection::Named(ALL, trial::defined_only),
        "assert what it is",
    ),
    test(
        "truthy-only",
        "weak_assertions",
        Warning,
        "asserts only that something counts as true",
        Detection::Named(ALL, trial::truthy_only),
        "assert what it is",
    ),
    test(
        "snapshot-overuse",
        "weak_assertions",
        Warning,
        "mostly snapshots",
        Detection::Named(JS, trial::snapshots),
        "assert the few things that matter",
    ),
    // test_isolation
    test(
        "shared-mutable-state",
        "test_isolation",
        Error,
        "tests share a value that one of them changes",
        Detection::Named(ALL, trial::shared_state),
        "make the value anew before each test",
    ),
    test(
        "missing-cleanup",
        "test_isolation",
        Warning,
        "the set-up leaves something behind",
        Detection::Named(PY_JS_GO_JAVA, trial::no_cleanup),
        "undo it after each test",
    ),
    test(
        "order-dependence",
        "test_isolation",
        Error,
        "passes only behind another test",
        Detection::Named(ALL, trial::order),
        "give each test what it needs",
    ),
    // incomplete_coverage
    test(
        "no-negative-path",
        "incomplete_coverage",
        Error,
        "no test of what must fail",
        Detection::Named(ALL, trial::no_negative),
        "test that invalid input is rejected",
    ),
    test(
        "no-edge-case",
        "incomplete_coverage",
        Error,
        "no test of an edge",
        Detection::Named(ALL, trial::no_edge),
        "test nothing, zero, the empty and the largest",
    ),
    test(
        "async-not-awaited",
        "incomplete_coverage",
        Warning,
        "asynchronous code in a test that does not wait",
        Detection::Named(PY_JS, trial::not_awaited),
        "make the test asynchronous and wait for the result",
    ),
    // ai_generated_issues
    test(
        "tautology",
        "ai_generated_issues",
        Critical,
        "holds whatever the code does",
        Detection::Named(ALL, trial::tautology),
        "assert what the code answers",
    ),
    test(
        "mock-only",
        "ai_generated_issues",
        Error,
        "asserts only that a mock was called",
        Detection::Named(PY_JS_GO_JAVA, trial::mock_only),
        "assert what the code answers or changes",
    ),
    test(
        "over-mocked",
        "ai_generated_issues",
        Warning,
        "four doubles or more, and fewer assertions",
        Detection::Named(ALL, trial::over_mocked),
        "let the code work with real values, and replace only what leaves the process",
    ),
    test(
        "conditional-assertion",
        "ai_generated_issues",
        Warning,
        "an assertion that only runs under a condition",
        Detection::Named(ALL, trial::conditional),
        "write one test for each way",
    ),
    test(
        "copied-body",
        "ai_generated_issues",
        Warning,
        "the same body as another test",
        Detection::Named(ALL, trial::copied),
        "test another case, or take one out",
    ),
    test(
        "subject-not-imported",
        "ai_generated_issues",
        Critical,
        "the test loads nothing of the repository",
        Detection::Named(PY_JS, trial::no_subject),
        "import what the test is about",
    ),
    // config extras
    test(
        "focused-test",
        "config_extras",
        Critical,
        "silences all other tests",
        Detection::Query(&[(
            JS,
            "((call_expression function: (_) @f) @here (#match? @f \"^((it|test|describe|context)\\\\.only|fit|fdescribe)$\"))",
        )]),
        "take the focus out",
    ),
    test(
        "todo-test",
        "config_extras",
        Warning,
        "a test that is only announced",
        Detection::Query(&[(
            JS,
            "((call_expression function: (_) @f) @here (#match? @f \"^(it|test)\\\\.todo$\"))",
        )]),
        "write the test",
    ),
];
