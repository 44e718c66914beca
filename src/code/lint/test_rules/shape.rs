//! The shape of a test: what it decides by itself, and how much of its world is made up.

use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::Node;

use crate::code::lint::source::{Hit, Source};
use crate::code::test_cases::TestNode;
use crate::code::tree::{FUNCTIONS, line};

use super::body::{assertions, calls, matches};
use crate::code::lint::rule::{ALL, Detection, LintRule, TEST_RULE};
use crate::domain::quality::Severity::Warning;

/// Rules about the shape of a test.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "over-mocked",
        category: "ai_generated_issues",
        severity: Warning,
        issue: "four doubles or more, and fewer assertions",
        detection: Detection::Function(ALL, over_mocked),
        suggestion: "let the code work with real values, and replace only what leaves the process",
        ..TEST_RULE
    },
    LintRule {
        id: "conditional-assertion",
        category: "ai_generated_issues",
        severity: Warning,
        issue: "an assertion that only runs under a condition",
        detection: Detection::Function(ALL, conditional),
        suggestion: "write one test for each way",
        ..TEST_RULE
    },
];

/// Doubles in one test from which on little of the real code is left.
const DOUBLES: usize = 4;

static DOUBLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:(?:mock|mocker|unittest\.mock)\.)?(?:Mock|MagicMock|AsyncMock|create_autospec|patch|patch\.object|patch\.dict)$",
        r"|^mocker\.(?:patch|patch\.object|spy|stub)$|^monkeypatch\.setattr$",
        r"|^(?:jest|vi|sinon|mock|t\.mock)\.(?:fn|mock|spyOn|stub|spy|method)$",
        r"|^(?:Mockito\.)?(?:mock|spy|when|doReturn|doNothing)$|^Mock\w+::(?:new|default)$",
        r"|^(?:\w+\.)?NewMock\w+$|^gomock\.NewController$|^new\(\w*Mock\w*\)$",
    ))
    .ok()
});
static DECORATED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"@(?:mock\.|unittest\.mock\.)?patch(?:\.object|\.dict)?\(").ok());

/// Tests with four doubles or more, and more doubles than assertions.
fn over_mocked(source: &Source<'_>) -> Vec<Hit> {
    let is_double = matches(&DOUBLE);
    source
        .tests
        .iter()
        .filter_map(|test| {
            let body = test.body?;
            let mut doubles =
                calls(source, body).iter().filter(|(callee, _)| is_double(callee)).count();
            // `&Mocked{}` of Go, and decorators of Python, are no calls in the body.
            doubles += source
                .inside(body)
                .filter(|node| {
                    node.kind() == "composite_literal"
                        && source.field(*node, "type").contains("Mock")
                })
                .count();
            doubles += DECORATED.as_ref().map_or(0, |mark| mark.find_iter(&test.marks).count());
            let checked = assertions(source, test).len();
            (doubles >= DOUBLES && doubles > checked)
                .then(|| Hit::noted(line(test.node), format!("{doubles} doubles")))
        })
        .collect()
}

/// An assertion that only runs on one way through the test, where the other way asserts nothing.
///
/// Guards that make the test fail or leave it with a word are assertions themselves: `if err != nil
/// { t.Fatal(err) }`, `if (!x) throw …`. What a loop goes over is data.
fn conditional(source: &Source<'_>) -> Vec<Hit> {
    source
        .tests
        .iter()
        .filter_map(|test| first_choice(source, test).map(|node| Hit::at(line(node))))
        .collect()
}

/// Kinds of nodes that take one of two ways.
const CHOICES: &[&str] = &[
    "if_statement",
    "if_expression",
    "switch_statement",
    "match_statement",
    "expression_switch_statement",
];

/// The condition around an assertion of a test, itself not part of a function inside the test.
fn choice_around<'a>(node: Node<'a>, body: Node<'a>) -> Option<Node<'a>> {
    let (mut up, mut choice) = (node.parent(), None);
    while let Some(parent) = up.filter(|parent| parent.id() != body.id()) {
        if FUNCTIONS.contains(&parent.kind()) {
            return None;
        }
        if choice.is_none() && CHOICES.contains(&parent.kind()) {
            choice = Some(parent);
        }
        up = parent.parent();
    }
    choice
}

fn first_choice<'a>(source: &Source<'a>, test: &TestNode<'a>) -> Option<Node<'a>> {
    let body = test.body?;
    assertions(source, test).iter().find_map(|(node, text)| {
        // Failing by hand is what an assertion is made of.
        let by_hand = [
            "t.Error",
            "t.Fatal",
            "t.Fail",
            "t.Skip",
            "fail(",
            "self.fail(",
            "pytest.fail(",
            "panic!",
            "raise",
            "throw",
        ];
        if by_hand.iter().any(|word| text.contains(word)) {
            return None;
        }
        let choice = choice_around(*node, body)?;
        (!skips(source, choice)).then_some(choice)
    })
}

/// Whether a condition only asks where the test runs.
fn skips(source: &Source<'_>, choice: Node<'_>) -> bool {
    let head = choice.child_by_field_name("condition").or(choice.child_by_field_name("value"));
    let head = head.map_or("", |node| source.text.get(node.byte_range()).unwrap_or_default());
    [
        "platform",
        "version",
        "GOOS",
        "cfg!",
        "testing.Short",
        "environ",
        "process.env",
        "TYPE_CHECKING",
    ]
    .iter()
    .any(|word| head.contains(word))
}
