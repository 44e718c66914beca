//! What tests share and leave behind.

use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::lint::source::{Hit, Source};
use crate::code::tree::line;

use super::body::matches;
use crate::code::lint::rule::{ALL, Detection, LintRule, PY_JS_GO_JAVA, TEST_RULE};
use crate::domain::quality::Severity::{Error, Warning};

/// Rules about state that tests share.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "shared-mutable-state",
        category: "test_isolation",
        severity: Error,
        issue: "tests share a value that one of them changes",
        detection: Detection::Function(ALL, shared_state),
        suggestion: "make the value anew before each test",
        ..TEST_RULE
    },
    LintRule {
        id: "missing-cleanup",
        category: "test_isolation",
        severity: Warning,
        issue: "the set-up leaves something behind",
        detection: Detection::Function(PY_JS_GO_JAVA, no_cleanup),
        suggestion: "undo it after each test",
        ..TEST_RULE
    },
];

fn kind_of(node: Option<Node<'_>>) -> &str {
    node.map_or("", |node| node.kind())
}

/// Values outside the functions of a test file that can change.
fn shared_names<'a>(source: &Source<'a>) -> Vec<(Node<'a>, &'a str)> {
    let mut names = Vec::new();
    for node in source.nodes.iter().copied() {
        let parent = node.parent();
        let grand = parent.and_then(|parent| parent.parent());
        let kind = kind_of;
        let name = match (source.language, node.kind()) {
            (Language::Python, "assignment") if kind(grand) == "module" => {
                let value = node.child_by_field_name("right").map_or("", |one| one.kind());
                matches!(value, "list" | "dictionary" | "integer" | "set")
                    .then(|| node.child_by_field_name("left"))
                    .flatten()
            }
            (Language::Go, "var_spec")
                if kind(grand) == "source_file"
                    || kind(grand.and_then(|one| one.parent())) == "source_file" =>
            {
                node.child_by_field_name("name")
            }
            (Language::Java, "field_declaration") => {
                let text = source.of(node);
                (text.contains("static ") && !text.contains("final "))
                    .then(|| {
                        node.child_by_field_name("declarator")
                            .and_then(|one| one.child_by_field_name("name"))
                    })
                    .flatten()
            }
            (Language::Rust, "static_item") => source
                .of(node)
                .starts_with("static mut")
                .then(|| node.child_by_field_name("name"))
                .flatten(),
            (_, "variable_declarator") if source.is_script() && kind(grand) == "program" => {
                let value = node.child_by_field_name("value").map_or("", |one| one.kind());
                let fixed = parent.is_some_and(|parent| source.of(parent).starts_with("const"));
                (matches!(value, "array" | "object") || (value == "number" && !fixed))
                    .then(|| node.child_by_field_name("name"))
                    .flatten()
            }
            _ => None,
        };
        names.extend(
            name.filter(|name| name.kind() == "identifier").map(|name| (name, source.of(name))),
        );
    }
    names
}

/// Values outside the tests that a test changes and nothing sets back before each.
fn shared_state(source: &Source<'_>) -> Vec<Hit> {
    let reset = |name: &str| {
        source.nodes.iter().any(|node| {
            let text = match node.kind() {
                "call_expression" => source.field(*node, "function"),
                "function_definition" => source.field(*node, "name"),
                "method_declaration" | "decorated_definition" => {
                    source.of(*node).lines().next().unwrap_or_default()
                }
                _ => return false,
            };
            [
                "beforeEach",
                "afterEach",
                "setUp",
                "tearDown",
                "setup_function",
                "setup_method",
                "teardown",
                "@BeforeEach",
                "@AfterEach",
                "@Before",
                "@After",
                "fixture",
            ]
            .iter()
            .any(|word| {
                text.trim().starts_with(word) || (text.starts_with('@') && text.contains(word))
            }) && source.of(*node).contains(name)
        })
    };
    let tests = &source.tests;
    let mut hits = Vec::new();
    for (node, name) in shared_names(source) {
        let changed = tests.iter().any(|test| {
            let Some(body) = test.body else { return false };
            // Set back at the end of the same test.
            let saved = source.of(body).contains("defer ")
                || source.of(body).contains("finally")
                || source.of(body).contains("Cleanup(");
            let local = source.inside(body).any(|inner| {
                matches!(
                    inner.kind(),
                    "short_var_declaration"
                        | "variable_declarator"
                        | "local_variable_declaration"
                        | "let_declaration"
                ) && ["left", "name", "pattern"].iter().any(|field| {
                    source.field(inner, field).split(',').any(|one| one.trim() == name)
                })
            }) || source.language == Language::Python
                && !source.of(body).contains("global ")
                && source.inside(body).any(|inner| {
                    inner.kind() == "assignment" && source.field(inner, "left") == name
                });
            !saved && !local && source.inside(body).any(|inner| changes(source, inner, name))
        });
        // Where results go so that the compiler keeps the work is nobody's state.
        let sink = name.to_ascii_lowercase().contains("sink");
        let users = tests
            .iter()
            .filter(|test| {
                source.inside(test.node).any(|inner| {
                    inner.child_count() == 0
                        && inner.kind().ends_with("identifier")
                        && source.of(inner) == name
                })
            })
            .count();
        if changed && users >= 2 && !sink && !reset(name) {
            hits.push(Hit::noted(line(node), name));
        }
    }
    hits
}

/// Whether a node changes the value of a name.
fn changes(source: &Source<'_>, node: Node<'_>, name: &str) -> bool {
    let source_of = |node: Option<Node<'_>>| {
        node.and_then(|one| source.text.get(one.byte_range())).unwrap_or_default()
    };
    let field = |name: &str| source_of(node.child_by_field_name(name));
    let own = |text: &str| {
        text.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.', ' ']))
    };
    match node.kind() {
        "assignment"
        | "augmented_assignment"
        | "assignment_expression"
        | "augmented_assignment_expression"
        | "assignment_statement"
        | "compound_assignment_expr" => own(field("left")),
        "update_expression" | "inc_statement" => source_of(node.named_child(0)) == name,
        "call" | "call_expression" => {
            let callee = field("function");
            [
                "append", "push", "pop", "clear", "update", "extend", "add", "unshift", "splice",
                "remove", "insert",
            ]
            .iter()
            .any(|verb| callee == format!("{name}.{verb}"))
        }
        "method_invocation" => {
            field("object") == name && ["add", "put", "remove", "clear"].contains(&field("name"))
        }
        _ => false,
    }
}

static OPENED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"tempfile\.mkdtemp\(|\.start\(\)|os\.environ\[[^\]]+\]\s*=|os\.chdir\(|jest\.useFakeTimers\(|\bspyOn\(|\.listen\(|process\.env\.\w+\s*=|mkdtempSync\(|Files\.createTemp|new ServerSocket\(|System\.setProperty\(|os\.Setenv\(|os\.Chdir\(").ok()
});
static CLEANED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"tearDown|addCleanup|teardown|afterEach|afterAll|restoreMocks|@AfterEach|@After\b|@AfterAll|yield|t\.Cleanup|defer |os\.Unsetenv|finally").ok()
});

/// What a set-up opens or changes and nothing sets back.
fn no_cleanup(source: &Source<'_>) -> Vec<Hit> {
    if matches(&CLEANED)(source.text) {
        return Vec::new();
    }
    source
        .nodes
        .iter()
        .copied()
        .filter(|node| {
            let setup = match (source.language, node.kind()) {
                (Language::Python, "function_definition") => matches!(
                    source.field(*node, "name"),
                    "setUp" | "setup_method" | "setup_function" | "setUpClass"
                ),
                (Language::Go, "function_declaration") => {
                    source.field(*node, "name").starts_with("Test")
                }
                (Language::Java, "method_declaration") => {
                    let head = source.of(*node).lines().next().unwrap_or_default();
                    head.contains("@Before")
                }
                (_, "call_expression") => {
                    matches!(source.field(*node, "function"), "beforeEach" | "beforeAll" | "before")
                }
                _ => false,
            };
            setup && matches(&OPENED)(source.of(*node))
        })
        .map(|node| Hit::at(line(node)))
        .collect()
}
