//! What tests share and leave behind.

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::test_cases::TestNode;
use crate::code::tree::{FUNCTIONS, around, field_of, line};

use crate::code::lint::rule::{ALL, Detection, LintRule, PY_JS_GO_JAVA, PY_JS_JAVA, test_rule};
use crate::domain::quality::Severity::{Error, Warning};

/// The rules about dependencies between tests.
pub const RULES: &[LintRule] = &[
    test_rule(
        ("test_isolation", "shared-mutable-state"),
        Error,
        ("tests share a value that one of them changes", "make a new value before each test"),
        Detection::Function(ALL, shared_state),
    ),
    test_rule(
        ("test_isolation", "order-dependence"),
        Error,
        ("tests run in an order that is written down", "give each test what it needs"),
        Detection::Function(PY_JS_JAVA, ordered),
    ),
    LintRule {
        codes: &["usetesting"],
        ..test_rule(
            ("test_isolation", "missing-cleanup"),
            Warning,
            ("the set-up leaves something behind", "undo it after each test"),
            Detection::Function(PY_JS_GO_JAVA, no_cleanup),
        )
    },
];

/// Mutable variables declared outside the tests, with their names.
fn shared_names<'a>(source: &Source<'a>) -> Vec<(Node<'a>, &'a str)> {
    let kind = |node: Option<Node<'a>>| node.map_or("", |node| node.kind());
    let changing = |node: Node<'a>| -> Option<Node<'a>> {
        let value = |field: &str| kind(node.child_by_field_name(field));
        let outer = node.parent().and_then(|parent| parent.parent());
        let (declares, field) = match (source.language, node.kind()) {
            (Language::Python, "assignment") => {
                let open = ["list", "dictionary", "integer", "set", "none"];
                (kind(outer) == "module" && open.contains(&value("right")), "left")
            }
            (Language::Go, "var_spec") => (around(node, FUNCTIONS).is_none(), "name"),
            (Language::Java, "variable_declarator") => {
                let text = around(node, &["field_declaration"]).map_or("", |one| source.of(one));
                (text.contains("static ") && !text.contains("final "), "name")
            }
            (Language::Rust, "static_item") => {
                let signs = ["static mut", "Mutex<Option", "OnceLock<"];
                (signs.iter().any(|sign| source.of(node).contains(sign)), "name")
            }
            (_, "variable_declarator") if source.is_script() => {
                let parent = node.parent();
                let fixed = parent.is_some_and(|up| source.of(up).starts_with("const"));
                let inside =
                    |test: &TestNode<'_>| test.node.byte_range().contains(&node.start_byte());
                let open = match value("value") {
                    "array" | "object" => kind(outer) == "program",
                    "number" => kind(outer) == "program" && !fixed,
                    "" | "null" | "undefined" => !fixed && !source.tests.iter().any(inside),
                    _ => false,
                };
                (open, "name")
            }
            _ => (false, ""),
        };
        node.child_by_field_name(field).filter(|name| declares && name.kind() == "identifier")
    };
    let found = source.nodes.iter().filter_map(|node| changing(*node));
    found.map(|name| (name, source.of(name))).collect()
}

const SET_UPS: &str = "before afterEach setUp tearDown setup_function setup_method teardown @Before \
                       @After fixture";

/// Whether a set-up or tear-down mentions a variable, and so presumably resets it for every test.
fn is_reset(source: &Source<'_>, name: &str) -> bool {
    source.nodes.iter().any(|node| {
        let head = match node.kind() {
            "call_expression" => source.field(*node, "function"),
            "function_definition" => source.field(*node, "name"),
            "method_declaration" | "decorated_definition" => {
                source.of(*node).lines().next().unwrap_or_default().trim()
            }
            _ => return false,
        };
        let sets_up =
            |word: &str| head.starts_with(word) || head.starts_with('@') && head.contains(word);
        SET_UPS.split_whitespace().any(sets_up) && source.of(*node).contains(name)
    })
}

/// Finds variables outside the tests that one test changes and another reads without setting them.
fn shared_state(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (node, name) in shared_names(source) {
        let uses: Vec<_> = source.tests.iter().map(|test| usage(source, test, name)).collect();
        let changed = uses.iter().enumerate().any(|(at, own)| {
            let others = uses.iter().enumerate().filter(|(other, _)| *other != at);
            own.is_some_and(|own| own.changes)
                && others.into_iter().any(|(_, one)| one.is_some_and(|one| one.reads_first))
        });
        // A benchmark's sink, which keeps the compiler from removing code, is not shared state.
        let sink = name.to_ascii_lowercase().contains("sink");
        if changed && !sink && !is_reset(source, name) {
            hits.push(Hit::noted(line(node), name));
        }
    }
    hits
}

/// How a test uses a variable declared outside of it.
#[derive(Clone, Copy)]
struct Usage {
    changes: bool,
    reads_first: bool,
}

/// How a test uses a name; `None` if it does not use it or declares a local of that name.
fn usage(source: &Source<'_>, test: &TestNode<'_>, name: &str) -> Option<Usage> {
    let body = test.body?;
    let is_local = |node: Node<'_>| {
        let field = match node.kind() {
            "variable_declarator" | "local_variable_declaration" => "name",
            "short_var_declaration" => "left",
            "let_declaration" => "pattern",
            "assignment"
                if source.language == Language::Python && !source.of(body).contains("global ") =>
            {
                "left"
            }
            _ => return false,
        };
        field_of(node, field, source.text).split(',').any(|one| one.trim() == name)
    };
    if source.inside(body).any(is_local) {
        return None;
    }
    let first = source.inside(body).find(|node| {
        node.child_count() == 0
            && node.kind().ends_with("identifier")
            && source.of(*node) == name
            && node.parent().is_none_or(|up| up.kind() != "global_statement")
    })?;
    // A test that restores the value when it ends does not affect others.
    let restores =
        ["defer ", "finally", "Cleanup("].iter().any(|word| source.of(body).contains(word));
    let given = is_given(source, first, body, name);
    let changed = given || source.inside(body).any(|inner| changes(source, inner, name));
    Some(Usage { changes: changed && !restores, reads_first: !given })
}

/// Whether the first use of a variable in a test assigns to it.
fn is_given<'a>(source: &Source<'a>, first: Node<'a>, body: Node<'a>, name: &str) -> bool {
    let outer = std::iter::successors(first.parent(), Node::parent);
    outer.take_while(|up| up.id() != body.id()).any(|up| match up.kind() {
        "assignment" | "assignment_expression" | "assignment_statement" => {
            let left = up.child_by_field_name("left");
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
    })
}

fn changes(source: &Source<'_>, node: Node<'_>, name: &str) -> bool {
    let field = |name: &str| field_of(node, name, source.text);
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
        "update_expression" | "inc_statement" => {
            node.named_child(0).is_some_and(|value| source.of(value) == name)
        }
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

static ORDERED: Pattern = Pattern::new(concat!(
    r"@pytest\.mark\.(?:order|run)\(|@pytest\.mark\.dependency\([^)]*depends|@TestMethodOrder\(|@Order\(\d",
    r"|dependsOnMethods\s*=|\bdescribe\.serial\(|\bdescribe\.configure\(\s*\{\s*mode:\s*.serial",
));

/// Finds declarations that fix the order of tests.
fn ordered(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = source.tests_where(|test| ORDERED.is_match(&test.marks));
    if hits.is_empty() {
        let rows = (1..).zip(source.text.lines());
        hits.extend(
            rows.filter(|(_, text)| ORDERED.is_match(text)).map(|(row, _)| Hit::at(row)).take(1),
        );
    }
    hits
}

static OPENED: Pattern = Pattern::new(
    r"tempfile\.mkdtemp\(|patch\(.*\)\.start\(\)|os\.environ\[[^\]]+\]\s*=|os\.chdir\(|\buseFakeTimers\(|\bspyOn\(|\.listen\(\d|process\.env\.\w+\s*=|mkdtempSync\(|Files\.createTemp|new ServerSocket\(|System\.setProperty\(|os\.Setenv\(|os\.Chdir\(",
);
static CLEANED: Pattern = Pattern::new(
    r"tearDown|addCleanup|teardown|afterEach|afterAll|\bafter\(|restore|useRealTimers|@After|yield|t\.Cleanup|defer |os\.Unsetenv|finally",
);

/// What a set-up opens or changes, in a file that undoes nothing.
fn no_cleanup(source: &Source<'_>) -> Vec<Hit> {
    let sets_up = |node: &Node<'_>| match (source.language, node.kind()) {
        (Language::Python, "function_definition") => {
            ["setUp", "setup_method", "setup_function", "setUpClass"]
                .contains(&source.field(*node, "name"))
        }
        (Language::Go, "function_declaration") => source.field(*node, "name").starts_with("Test"),
        (Language::Java, "method_declaration") => {
            source.of(*node).trim_start().starts_with("@Before")
        }
        (_, "call_expression") => {
            ["beforeEach", "beforeAll", "before"].contains(&source.field(*node, "function"))
        }
        _ => false,
    };
    let nodes = source.nodes.iter().filter(|_| !CLEANED.is_match(source.text));
    let leaks = |node: &&Node<'_>| sets_up(node) && OPENED.is_match(source.of(**node));
    nodes.filter(leaks).map(|node| Hit::at(line(*node))).collect()
}
