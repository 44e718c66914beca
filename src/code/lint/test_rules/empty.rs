//! Tests that check nothing: no body, no assertion, skipped.

use std::sync::LazyLock;

use regex::Regex;

use crate::code::language::Language;
use crate::code::lint::source::{Hit, Source};
use crate::code::test_cases::{Skip, TestNode};
use crate::code::tree::line;

use super::body::{asserts, matches};
use crate::code::lint::rule::{ALL, Detection, JS, LintRule, TEST_RULE};
use crate::domain::quality::Severity::{Critical, Error, Warning};

/// Rules about tests that check nothing.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "empty-test",
        category: "empty_tests",
        severity: Critical,
        issue: "a test without a statement",
        detection: Detection::Function(ALL, empty),
        suggestion: "write the test, or take it out",
        ..TEST_RULE
    },
    LintRule {
        id: "setup-only",
        category: "empty_tests",
        severity: Error,
        issue: "a test that asserts nothing",
        detection: Detection::Function(ALL, setup_only),
        suggestion: "assert what the code must answer",
        ..TEST_RULE
    },
    LintRule {
        id: "skipped-test",
        category: "empty_tests",
        severity: Warning,
        issue: "a test that does not run",
        detection: Detection::Function(ALL, skipped),
        suggestion: "repair it and let it run",
        ..TEST_RULE
    },
    LintRule {
        id: "skipped-without-reason",
        category: "empty_tests",
        severity: Error,
        issue: "a test that does not run, and no word why",
        detection: Detection::Function(ALL, |source| skipped_by(source, Skip::Silent)),
        suggestion: "let it run, or say why it cannot",
        ..TEST_RULE
    },
    LintRule {
        id: "focused-test",
        category: "config_extras",
        severity: Critical,
        issue: "silences all other tests",
        detection: Detection::Query(&[(
            JS,
            "((call_expression function: (_) @f) @here (#match? @f \"^((it|test|describe|context)\\\\.only|fit|fdescribe)$\"))",
        )]),
        suggestion: "take the focus out",
        ..TEST_RULE
    },
    LintRule {
        id: "todo-test",
        category: "config_extras",
        severity: Warning,
        issue: "a test that is only announced",
        detection: Detection::Query(&[(
            JS,
            "((call_expression function: (_) @f) @here (#match? @f \"^(it|test)\\\\.todo$\"))",
        )]),
        suggestion: "write the test",
        ..TEST_RULE
    },
];

/// Tests without a statement.
fn empty(source: &Source<'_>) -> Vec<Hit> {
    source
        .tests
        .iter()
        .filter(|test| {
            test.body.is_some_and(|body| body.kind().ends_with("block"))
                && test.statements(source.text).is_empty()
        })
        .filter(|test| test.skip.is_none() && !is_doctest(source, test))
        .map(|test| Hit::noted(line(test.node), &test.name))
        .collect()
}

/// Whether the documentation of a test is run.
fn is_doctest(source: &Source<'_>, test: &TestNode<'_>) -> bool {
    source.language == Language::Python && source.of(test.node).contains(">>> ")
}

/// Tests that do something and assert nothing.
fn setup_only(source: &Source<'_>) -> Vec<Hit> {
    source
        .tests
        .iter()
        .filter(|test| !test.statements(source.text).is_empty())
        .filter(|test| test.skip.is_none() && !is_doctest(source, test))
        .filter(|test| {
            let expects = ["should_panic", "expected", "raises", "-> Result"];
            let head = source.of(test.node).lines().next().unwrap_or_default();
            !expects.iter().any(|word| test.marks.contains(word) || head.contains(word))
        })
        .filter(|test| !asserts(source, test.node, 2))
        .map(|test| Hit::noted(line(test.node), &test.name))
        .collect()
}

static SKIPPED_CALL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:it|test|describe)\.skip$|^x(?:it|test|describe)$").ok());

/// Skipped tests, with or without a stated reason.
fn skipped_by(source: &Source<'_>, reason: Skip) -> Vec<Hit> {
    if source.is_script() {
        let is_skip = matches(&SKIPPED_CALL);
        return source
            .of_kind(&["call_expression"])
            .filter(|node| is_skip(source.field(*node, "function")))
            .filter(|node| script_reason(source, line(*node)) == reason)
            .map(|node| Hit::at(line(node)))
            .collect();
    }
    let tests = source.tests.iter().filter(|test| test.skip == Some(reason));
    tests.map(|test| Hit::noted(line(test.node), &test.name)).collect()
}

/// Whether a comment on a line, or on the line above it, gives a reason.
fn script_reason(source: &Source<'_>, line: u32) -> Skip {
    let at = usize::try_from(line).unwrap_or_default();
    let explains = |number: Option<usize>, own_line: bool| {
        let text = number.and_then(|number| source.text.lines().nth(number));
        text.and_then(|text| text.split_once("//")).is_some_and(|(before, words)| {
            (own_line || before.trim().is_empty()) && !words.contains("expect:")
        })
    };
    if explains(at.checked_sub(1), true) || explains(at.checked_sub(2), false) {
        Skip::WithReason
    } else {
        Skip::Silent
    }
}

static COMMENTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^(?://|#|/\*)\s*(?:(?:it|test)\(\s*['"`]|def test_\w*\(|func Test\w+\(t |#\[test\]|@Test\b)"#).ok()
});

/// Skipped with a reason, or commented out.
fn skipped(source: &Source<'_>) -> Vec<Hit> {
    let commented = matches(&COMMENTED);
    let mut hits = skipped_by(source, Skip::WithReason);
    let gone: Vec<_> = source.comments().filter(|node| commented(source.of(*node))).collect();
    hits.extend(gone.first().map(|first| {
        Hit::noted(line(*first), format!("{} commented out in this file", gone.len()))
    }));
    hits
}
