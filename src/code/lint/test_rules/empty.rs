//! Lint rules about tests that check nothing: empty, without assertion, or skipped.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::test_cases::{Skip, TestNode};
use crate::code::test_paths::is_test;
use crate::code::tree::line;
use crate::domain::id::RepoPath;

use super::calls_and_assertions::asserts;
use crate::code::lint::rule::{ALL, Detection, JS, LintRule, test_rule};
use crate::domain::quality::Severity::{Critical, Error, Warning};

/// The rules about tests without an assertion: beside tests that have one, and where none has.
pub const SETUP_ONLY: &str = "setup-only";
pub const NOTHING_ASSERTED: &str = "nothing-asserted";

/// The rules about tests that check nothing.
pub const RULES: &[LintRule] = &[
    test_rule(
        ("empty_tests", "empty-test"),
        Critical,
        ("a test without a statement", "write the test, or take it out"),
        Detection::Function(ALL, empty),
    ),
    test_rule(
        ("empty_tests", SETUP_ONLY),
        Error,
        ("a test that asserts nothing", "assert what the code must answer"),
        Detection::Function(ALL, |source| setup_only(source, false)),
    ),
    test_rule(
        ("empty_tests", NOTHING_ASSERTED),
        Critical,
        ("none of the tests asserts anything", "assert what the code must answer"),
        Detection::Function(ALL, |source| setup_only(source, true)),
    ),
    test_rule(
        ("empty_tests", "skipped-test"),
        Warning,
        ("a test that does not run", "repair it and let it run"),
        Detection::Function(ALL, skipped),
    ),
    test_rule(
        ("empty_tests", "skipped-without-reason"),
        Error,
        ("a skipped test without a reason", "let it run, or say why it cannot"),
        Detection::Function(ALL, |source| skipped_by(source, Skip::Silent)),
    ),
    test_rule(
        ("config_extras", "focused-test"),
        Critical,
        ("silences all other tests", "take the focus out"),
        Detection::Query(
            &[(
                JS,
                "((call_expression function: (_) @f) @here (#match? @f \"^((it|test|describe|context)\\\\.only|fit|fdescribe)$\"))",
            )],
            |_, _| true,
        ),
    ),
    test_rule(
        ("config_extras", "todo-test"),
        Warning,
        ("a test that is declared but not written", "write the test"),
        Detection::Query(
            &[(
                JS,
                "((call_expression function: (_) @f) @here (#match? @f \"^(it|test)\\\\.todo$\"))",
            )],
            |_, _| true,
        ),
    ),
];

/// Finds tests without a statement.
fn empty(source: &Source<'_>) -> Vec<Hit> {
    source.tests_where(|test| test.is_empty(source.text) && !is_doctest(source, test))
}

fn is_doctest(source: &Source<'_>, test: &TestNode<'_>) -> bool {
    source.language == Language::Python && source.of(test.node).contains(">>> ")
}

/// Finds tests that execute code but assert nothing, in files of which no test does or in the others.
fn setup_only(source: &Source<'_>, of_all: bool) -> Vec<Hit> {
    if (some_asserts(source) || calls_helper(source)) == of_all {
        return Vec::new();
    }
    source.tests_where(|test| !test.statements(source.text).is_empty() && is_hollow(source, test))
}

/// Whether a test of a file asserts something.
pub fn some_asserts(source: &Source<'_>) -> bool {
    source.tests.iter().any(|test| test.skip.is_none() && !is_hollow(source, test))
}

/// Whether a test runs but asserts nothing.
fn is_hollow(source: &Source<'_>, test: &TestNode<'_>) -> bool {
    let expects = ["should_panic", "expected", "raises", "-> Result"];
    let head = source.of(test.node).lines().next().unwrap_or_default();
    test.skip.is_none()
        && !is_doctest(source, test)
        && !expects.iter().any(|word| test.marks.contains(word) || head.contains(word))
        && !asserts(source, test.node, 2)
}

/// Whether a file imports a helper of the tests, which may assert for them.
fn calls_helper(source: &Source<'_>) -> bool {
    let is_helper = |file: &&RepoPath| is_test(file) && *file != source.path;
    let helpers: BTreeSet<&str> =
        source.files.keys().filter(is_helper).map(RepoPath::stem).collect();
    let is_import = |line: &&str| line.contains("import") || line.contains("require(");
    let words = |line: &str| -> Vec<String> {
        line.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(str::to_owned).collect()
    };
    let mut named = source.text.lines().filter(is_import).flat_map(words);
    named.any(|word| helpers.contains(word.as_str()))
}

static SKIPPED_CALL: Pattern =
    Pattern::new(r"^(?:it|test|describe)\.skip$|^x(?:it|test|describe)$");

/// Finds skipped tests, either those with a stated reason or those without.
fn skipped_by(source: &Source<'_>, reason: Skip) -> Vec<Hit> {
    if source.is_script() {
        return source
            .of_kind(&["call_expression"])
            .filter(|node| SKIPPED_CALL.is_match(source.field(*node, "function")))
            .filter(|node| script_reason(source, line(*node)) == reason)
            .map(|node| Hit::at(line(node)))
            .collect();
    }
    source.tests_where(|test| test.skip == Some(reason))
}

/// Whether a comment on a line, or on the line above, gives the reason for a skip.
fn script_reason(source: &Source<'_>, line: u32) -> Skip {
    let at = usize::try_from(line).unwrap_or_default();
    let explains = |number: Option<usize>, own_line: bool| {
        let text = number.and_then(|number| source.text.lines().nth(number));
        text.and_then(|text| text.split_once("//"))
            .is_some_and(|(before, _)| own_line || before.trim().is_empty())
    };
    if explains(at.checked_sub(1), true) || explains(at.checked_sub(2), false) {
        Skip::WithReason
    } else {
        Skip::Silent
    }
}

static COMMENTED: Pattern = Pattern::new(
    r#"^(?://|#|/\*)\s*(?:(?:it|test)\(\s*['"`]|def test_\w*\(|func Test\w+\(t |#\[test\]|@Test\b)"#,
);

/// Finds tests that are skipped with a reason, and tests that are commented out.
fn skipped(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = skipped_by(source, Skip::WithReason);
    let gone: Vec<_> =
        source.comments().filter(|node| COMMENTED.is_match(source.of(*node))).collect();
    let note = format!("{} commented out in this file", gone.len());
    hits.extend(gone.first().map(|first| Hit::noted(line(*first), note)));
    hits
}
