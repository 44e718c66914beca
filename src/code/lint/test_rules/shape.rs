//! The shape of a test: what it decides by itself, how much of its world is made up, and whether it
//! needs another test to have run.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::lint::source::{Hit, Source};
use crate::code::test_cases::TestNode;
use crate::code::tree::{FUNCTIONS, around, line};

use super::body::{assertions, calls, matches};
use crate::code::lint::rule::{ALL, Detection, LintRule, TEST_RULE};
use crate::domain::quality::Severity::{Error, Warning};

/// Rules about the shape of a test.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "order-dependence",
        category: "test_isolation",
        severity: Error,
        issue: "passes only behind another test",
        detection: Detection::Function(ALL, order),
        suggestion: "give each test what it needs",
        ..TEST_RULE
    },
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

static ORDERED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"@pytest\.mark\.(?:order|run)\(|@pytest\.mark\.dependency\([^)]*depends|@TestMethodOrder\(|@Order\(\d",
        r"|dependsOnMethods\s*=|\bdescribe\.serial\(|\bdescribe\.configure\(\s*\{\s*mode:\s*.serial",
    ))
    .ok()
});

/// Tests that pass only behind another one: an order is written down, or a value that one test
/// gives is read by another that does not give it.
fn order(source: &Source<'_>) -> Vec<Hit> {
    let tests = &source.tests;
    let ordered = matches(&ORDERED);
    let mut hits: Vec<Hit> = tests
        .iter()
        .filter(|test| ordered(&test.marks))
        .map(|test| Hit::noted(line(test.node), &test.name))
        .collect();
    if hits.is_empty() && ordered(source.text) {
        let row = source.text.lines().position(&ordered).unwrap_or_default();
        hits.push(Hit::at(u32::try_from(row + 1).unwrap_or(u32::MAX)));
    }
    for (declared, name) in unset(source) {
        // A set-up that names it gives it to every test.
        let set_up = source
            .of_kind(&["call_expression", "function_definition", "method_declaration"])
            .any(|node| {
                let own = source.of(node);
                let head = own.lines().next().unwrap_or_default();
                let starts =
                    ["beforeEach", "beforeAll", "before(", "def setup", "def setUp", "@Before"];
                starts.iter().any(|word| head.trim_start().starts_with(word)) && own.contains(name)
            });
        if set_up {
            continue;
        }
        let givers: BTreeSet<usize> = (0..tests.len())
            .filter(|at| {
                tests.get(*at).is_some_and(|test| first_use(source, test, name) == Some(true))
            })
            .collect();
        let takes = tests.iter().enumerate().find(|(at, test)| {
            !givers.contains(at)
                && givers.iter().any(|giver| giver < at)
                && first_use(source, test, name) == Some(false)
        });
        if let Some((_, test)) = takes.filter(|_| !givers.is_empty()) {
            let from = line(declared);
            hits.push(Hit::noted(
                line(test.node),
                format!("`{name}` of line {from} comes from another test"),
            ));
        }
    }
    hits.sort_by_key(|hit| hit.line);
    hits.dedup_by_key(|hit| hit.line);
    hits
}

/// Names outside of tests that are declared without a value, or with none.
fn unset<'a>(source: &Source<'a>) -> Vec<(Node<'a>, &'a str)> {
    let nothing = |value: &str| matches!(value, "" | "null" | "undefined" | "None" | "nil");
    let mut found = Vec::new();
    for node in source.nodes.iter().copied() {
        let name = match (source.language, node.kind()) {
            (Language::Python, "assignment")
                if around(node, FUNCTIONS).is_none() && nothing(source.field(node, "right")) =>
            {
                source.field(node, "left")
            }
            (Language::Go, "var_spec")
                if around(node, FUNCTIONS).is_none() && source.field(node, "value").is_empty() =>
            {
                source.field(node, "name")
            }
            (Language::Java, "variable_declarator") if nothing(source.field(node, "value")) => {
                let field = around(node, &["field_declaration"]);
                if field.is_none_or(|field| !source.of(field).contains("static ")) {
                    continue;
                }
                source.field(node, "name")
            }
            (Language::Rust, "static_item")
                if source.of(node).contains("Mutex<Option")
                    || source.of(node).contains("OnceLock<") =>
            {
                source.field(node, "name")
            }
            (_, "variable_declarator")
                if source.is_script() && nothing(source.field(node, "value")) =>
            {
                // Beside the tests, in their file or in a group of them.
                let inside = source
                    .tests
                    .iter()
                    .any(|test| test.node.byte_range().contains(&node.start_byte()));
                let fixed = node.parent().is_some_and(|up| source.of(up).starts_with("const"));
                if inside || fixed {
                    continue;
                }
                source.field(node, "name")
            }
            _ => continue,
        };
        if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            found.push((node, name));
        }
    }
    found
}

/// How a test uses a name first: `true` gives it a value, `false` reads it; `None` when it does not.
fn first_use(source: &Source<'_>, test: &TestNode<'_>, name: &str) -> Option<bool> {
    let body = test.body?;
    // A local of the same name is another one.
    let own = source.inside(body).any(|node| {
        let left = match node.kind() {
            "variable_declarator" | "local_variable_declaration" => source.field(node, "name"),
            "short_var_declaration" => source.field(node, "left"),
            "let_declaration" => source.field(node, "pattern"),
            "assignment"
                if source.language == Language::Python && !source.of(body).contains("global ") =>
            {
                source.field(node, "left")
            }
            _ => return false,
        };
        left.split(',').any(|one| one.trim() == name)
    });
    if own {
        return None;
    }
    let first = source.inside(body).find(|node| {
        node.child_count() == 0
            && node.kind().ends_with("identifier")
            && source.of(*node) == name
            && node.parent().is_none_or(|up| up.kind() != "global_statement")
    })?;
    let mut node = first;
    while let Some(up) = node.parent().filter(|up| up.id() != body.id()) {
        let left = up.child_by_field_name("left");
        let gives = match up.kind() {
            "assignment" | "assignment_expression" | "assignment_statement" => {
                left.is_some_and(|left| left.byte_range().contains(&first.start_byte()))
            }
            "call_expression" => {
                let callee = source.field(up, "function");
                callee.strip_prefix(name).is_some_and(|rest| {
                    rest == ".set"
                        || rest == ".get_or_init"
                        || rest.starts_with(".lock().unwrap().replace")
                })
            }
            _ => false,
        };
        if gives {
            return Some(true);
        }
        node = up;
    }
    Some(false)
}
