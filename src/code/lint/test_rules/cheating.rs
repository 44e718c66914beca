//! Rules about tests that pass gates without testing: they look at the code instead of calling it,
//! write their own coverage, replace what they test, or swallow their failures.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::code::imports::{Import, ImportKind};
use crate::code::language::Language;
use crate::code::lint::rule::{Detection, LintRule, PY_JS, test_rule};
use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::test_cases::TestNode;
use crate::code::test_paths;
use crate::code::tree::{around, first_field, line};
use crate::domain::quality::Severity::Critical;
use crate::domain::text::has_word;

use super::calls_and_assertions::{assertions, asserts, calls};

/// The rules about tests that pass gates without testing.
pub const RULES: &[LintRule] = &[
    test_rule(
        ("ai_generated_issues", "reads-the-code"),
        Critical,
        ("it looks at the code instead of what the code does", "call the code and compare results"),
        Detection::Function(PY_JS, code_readers),
    ),
    test_rule(
        ("ai_generated_issues", "writes-coverage"),
        Critical,
        ("it takes part in measuring its own coverage", "leave coverage to the tool that measures"),
        Detection::Function(PY_JS, coverage_writers),
    ),
    test_rule(
        ("ai_generated_issues", "swallowed-assertion"),
        Critical,
        ("a failing assertion is caught and dropped", "let the assertion fail the test"),
        Detection::Function(PY_JS, swallowed),
    ),
    test_rule(
        ("ai_generated_issues", "patched-subject"),
        Critical,
        ("it replaces the function whose result it asserts", "call the function as it is"),
        Detection::Function(PY_JS, patched_subjects),
    ),
];

static READS_PYTHON: Pattern = Pattern::new(
    r"\.__code__\b|\bco_(?:code|consts|names)\b|\binspect\.getsource|\bgetsource(?:lines)?\(|\bdis\.\w+\(|\bast\.parse\([^)]*(?:__file__|open\(|read_text)|\w\.__file__\)\.read_text|open\(\w+\.__file__|\.get_data\(\w+\.__file__|\b__loader__\b|\btokenize\.open\(|\.__spec__\.origin|\.get_source\(|\blinecache\.getlines?\(|\bgetattr\((?:inspect|dis|ast|linecache)\b|\bgetattr\([^)]*['\x22]__\w*['\x22]\s*\+|\w\.__path__\b|(?:glob|get_data|read_text|files)\([^)]*\.py['\x22]",
);
static READS_SCRIPT: Pattern = Pattern::new(
    r#"Function\.prototype\.toString|\breadFileSync\([^)]*\.\.?/[^)'"]*\.(?:js|mjs|cjs|ts|tsx|jsx)['"]|\breadFile\([^)]*\.\.?/[^)'"]*\.(?:js|mjs|cjs|ts|tsx|jsx)['"]"#,
);
static COVERAGE_PYTHON: Pattern = Pattern::new(
    r"^\s*(?:import coverage|from coverage\b)|\bcoverage\.\w|\bCoverage\.current\b|\bregreen_lines\b|\bsys\.(?:settrace|setprofile|monitoring)\b",
);
static COVERAGE_SCRIPT: Pattern =
    Pattern::new(r"\b__coverage__\b|\bNODE_V8_COVERAGE\b|takePreciseCoverage|\bv8\.takeCoverage\b");

/// Lines whose code, apart from texts and comments of their own, matches.
fn matching_lines(source: &Source<'_>, pattern: &Pattern) -> Vec<Hit> {
    let is_comment = |text: &str| ["#", "//", "*"].iter().any(|mark| text.starts_with(mark));
    let lines = (1..).zip(source.text.lines());
    lines
        .filter(|(_, text)| !is_comment(text.trim_start()) && pattern.is_match(text))
        .map(|(number, _)| Hit::at(number))
        .collect()
}

static OPENS: Pattern =
    Pattern::new(r#"\bopen\(|\.read_text\(|\breadFile(?:Sync)?\(|['"](?:grep|cat|sed|awk)['" ]"#);
static SHOWS_FUNCTION: Pattern = Pattern::new(r"^(\w+)\.toString$");

fn code_readers(source: &Source<'_>) -> Vec<Hit> {
    let pattern = if source.language == Language::Python { &READS_PYTHON } else { &READS_SCRIPT };
    let mut hits = matching_lines(source, pattern);
    // Code that was made for a class of the file is a result.
    let own: Vec<&str> =
        source.of_kind(&["class_definition"]).map(|class| source.field(class, "name")).collect();
    hits.retain(|hit| {
        let text = source.text.lines().nth(hit.line as usize - 1).unwrap_or_default();
        // Where code comes from says nothing of what it says.
        !text.contains(".co_filename") && !own.iter().any(|name| has_word(text, name))
    });
    if OPENS.is_match(source.text) {
        hits.extend(named_sources(source));
    }
    for (callee, node) in source.tests.iter().flat_map(|test| calls(source, test.node)) {
        let function = callee.strip_suffix(".toString").unwrap_or_default();
        if SHOWS_FUNCTION.is_match(&callee) && is_imported(source, function) {
            hits.push(Hit::at(line(node)));
        }
    }
    for (node, text) in source.tests.iter().flat_map(|test| assertions(source, test)) {
        let owner = text.split(".__doc__").next().filter(|rest| *rest != text);
        let name =
            owner.and_then(|rest| rest.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next());
        let is_module = |name: &str| {
            let mut modules = source.imports.iter().filter(|one| one.names.is_empty());
            modules.any(|one| brings(source, one, name))
        };
        if name.is_some_and(|name| is_imported(source, name) && !is_module(name)) {
            hits.push(Hit::at(line(node)));
        }
    }
    hits.sort_by_key(|hit| hit.line);
    hits.dedup();
    hits
}

/// Texts in a file that reads files which end in the name of a source of the repository.
fn named_sources(source: &Source<'_>) -> Vec<Hit> {
    let is_source = |name: &str| {
        let mut files = source.files.keys().filter(|file| Language::of(file).is_some());
        files.any(|file| file.file_name() == name && !test_paths::is_test(file))
    };
    let imports: Vec<_> = source.imports.iter().map(|one| one.range.clone()).collect();
    let is_compared =
        |node: Node<'_>| node.parent().is_some_and(|up| up.kind() == "comparison_operator");
    let strings = source.of_kind(&["string"]).filter(|node| {
        let is_import = imports.iter().any(|range| range.contains(&node.start_byte()));
        let name =
            source.of(*node).trim_matches(['"', '\'']).rsplit('/').next().unwrap_or_default();
        !is_import && !is_compared(*node) && name.contains('.') && is_source(name)
    });
    strings.map(|node| Hit::at(line(node))).collect()
}

/// Whether a name, or the object before its dots, comes from another file.
pub fn is_imported(source: &Source<'_>, name: &str) -> bool {
    let owner = name.split('.').next().unwrap_or_default();
    source.imports.iter().any(|import| brings(source, import, owner))
}

fn brings(source: &Source<'_>, import: &Import, name: &str) -> bool {
    let node = source.node_of(import);
    let place = match import.kind {
        ImportKind::Mock => None,
        ImportKind::Call => node
            .and_then(|node| around(node, &["variable_declarator", "assignment"]))
            .and_then(|node| first_field(node, &["name", "left"])),
        _ => node,
    };
    place.is_some_and(|place| {
        let mut names = std::iter::once(place).chain(source.inside(place));
        names.any(|one| one.kind().contains("identifier") && source.of(one) == name)
    })
}

fn coverage_writers(source: &Source<'_>) -> Vec<Hit> {
    let pattern =
        if source.language == Language::Python { &COVERAGE_PYTHON } else { &COVERAGE_SCRIPT };
    matching_lines(source, pattern)
}

/// Finds `try` around assertions whose handler takes every failure and does nothing with it.
fn swallowed(source: &Source<'_>) -> Vec<Hit> {
    let bodies = || source.tests.iter().filter_map(|test| test.body);
    let inside =
        |node: Node<'_>| bodies().any(|body| body.byte_range().contains(&node.start_byte()));
    let tries = source.of_kind(&["try_statement"]).filter(|node| inside(*node));
    let tries = tries.filter(|node| {
        let body = node.child_by_field_name("body");
        body.is_some_and(|body| asserts(source, body, 0)) && drops_failures(source, *node)
    });
    let caught = source.of_kind(&["call_expression"]).filter(|node| {
        inside(*node) && SILENT_CATCH.is_match(source.of(*node)) && asserts(source, *node, 0)
    });
    let swallowing: Vec<&str> = source
        .of_kind(&["class_definition"])
        .filter(|class| SWALLOWS.is_match(source.of(*class)))
        .map(|class| source.field(class, "name"))
        .collect();
    let is_suppressed = |node: &Node<'_>| {
        let head = source.of(*node).lines().next().unwrap_or_default();
        let is_silent =
            SUPPRESSES.is_match(head) || swallowing.iter().any(|one| has_word(head, one));
        let is_asserted = |node| source.inside(node).any(|one| one.kind() == "assert_statement");
        inside(*node)
            && is_silent
            && if head.contains("raises(") { is_asserted(*node) } else { asserts(source, *node, 0) }
    };
    let suppressed = source.of_kind(&["with_statement"]).filter(is_suppressed);
    let found = tries.chain(caught).chain(suppressed).chain(swallowing_decorators(source));
    found.map(|node| Hit::at(line(node))).collect()
}

/// Decorators and helpers of tests in this file that call what they get and drop its failures.
fn swallowing_decorators<'a>(source: &Source<'a>) -> Vec<Node<'a>> {
    let is_decorator = |node: &Node<'a>| {
        let mut outer = node.parent();
        while let Some(up) = outer {
            let name = source.field(up, "name");
            let is_used = |marks: &str| !name.is_empty() && has_word(marks, name);
            // A helper is given the function that asserts.
            let calls_given = || {
                let given = source.field(up, "parameters");
                calls(source, *node).iter().any(|(callee, _)| has_word(given, callee))
            };
            let is_called = |test: &TestNode<'_>| {
                calls(source, test.node).iter().any(|(callee, _)| callee == name)
            };
            if up.kind() == "function_definition"
                && source.tests.iter().any(|one| {
                    is_used(&one.marks) || !name.is_empty() && is_called(one) && calls_given()
                })
            {
                return true;
            }
            outer = up.parent();
        }
        false
    };
    let tries = source.of_kind(&["try_statement"]);
    tries.filter(|node| drops_failures(source, *node) && is_decorator(node)).collect()
}

/// A context manager that takes every exception.
static SWALLOWS: Pattern = Pattern::new(r"(?s)def __exit__\([^)]*\)[^:]*:\s*return True\b");
static SUPPRESSES: Pattern = Pattern::new(
    r"suppress\((?:AssertionError|Exception|BaseException)|raises\((?:Base)?Exception\)",
);
static SILENT_CATCH: Pattern =
    Pattern::new(r"(?s)\.catch\(\(?\w*\)? => (?:\{\s*\}|null|undefined)\)$");

/// Whether a call shows something and ends nothing.
static SHOWS: Pattern =
    Pattern::new(r"^(?:print|log(?:ger|ging)?\.\w+|console\.\w+|warnings\.warn)$");

/// Whether a handler of a `try` takes failures of assertions and lets the test pass.
fn drops_failures<'a>(source: &Source<'a>, statement: Node<'a>) -> bool {
    let handlers = source.inside(statement).filter(|node| {
        matches!(node.kind(), "except_clause" | "catch_clause") && node.parent() == Some(statement)
    });
    handlers.into_iter().any(|handler| {
        let head = source.of(handler).lines().next().unwrap_or_default();
        let takes_all = handler.kind() == "catch_clause"
            || head.trim_end() == "except:"
            || ["Exception", "AssertionError", "BaseException"]
                .iter()
                .any(|class| head.split(|c: char| !c.is_alphanumeric()).any(|word| word == *class));
        // What is kept may be asserted later.
        let is_asserted = |name: &str| {
            let mut tests = source.tests.iter().flat_map(|test| assertions(source, test));
            tests
                .any(|(node, text)| node.start_byte() > handler.end_byte() && has_word(&text, name))
        };
        let tells = source.inside(handler).any(|node| match node.kind() {
            "call" | "call_expression" => !SHOWS.is_match(source.field(node, "function")),
            "assignment" | "assignment_expression" => is_asserted(source.field(node, "left")),
            kind => matches!(kind, "raise_statement" | "throw_statement" | "assert_statement"),
        });
        takes_all && !tells
    })
}

static PATCHES: Pattern = Pattern::new(
    r"^(?:(?:mock|mocker|unittest\.mock)\.)?patch$|^(?:(?:mock|mocker|unittest\.mock)\.)?patch\.object$|^monkeypatch\.setattr$|^(?:jest|vi|sinon|t\.mock|mock)\.(?:spyOn|stub|method|replace)$",
);

/// Finds functions that a test replaces and then calls in an assertion.
fn patched_subjects(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for test in &source.tests {
        let decorated = test.node.parent().filter(|node| node.kind() == "decorated_definition");
        let patches = calls(source, decorated.unwrap_or(test.node)).into_iter();
        let patched: BTreeSet<(u32, String)> = patches
            .filter(|(callee, node)| PATCHES.is_match(callee) && replaces(source, callee, *node))
            .filter_map(|(_, node)| Some((line(node), patched_name(source, node)?)))
            .collect();
        for (at, name) in patched.into_iter().chain(assigned_functions(source)) {
            let is_asserted = assertions(source, test).iter().any(|(node, _)| {
                let called = calls(source, *node).into_iter();
                called
                    .map(|(callee, _)| callee)
                    .any(|callee| callee.rsplit('.').next() == Some(&name))
            });
            if is_asserted {
                hits.push(Hit::noted(at, name));
            }
        }
    }
    hits
}

/// Functions of imported modules to which the file assigns others.
fn assigned_functions(source: &Source<'_>) -> Vec<(u32, String)> {
    let assignments = source.of_kind(&["assignment", "assignment_expression"]);
    let found = assignments.filter_map(|node| {
        let left = node.child_by_field_name("left")?;
        let (object, name) = source.of(left).rsplit_once('.')?;
        let value = node.child_by_field_name("right")?;
        let is_function =
            ["lambda", "arrow_function", "function_expression"].contains(&value.kind());
        (is_function && is_imported(source, object)).then(|| (line(node), name.to_owned()))
    });
    let by_name = matching_lines(source, &SETS_IN_MODULE).into_iter().filter_map(|hit| {
        let text = source.text.lines().nth(hit.line as usize - 1)?;
        let set = SETS_IN_MODULE.captures(text).next()?;
        let name = set.iter().skip(1).flatten().next()?;
        Some((hit.line, name.as_str().to_owned()))
    });
    found.chain(by_name).collect()
}

/// A name of a module that is set through its table of names.
static SETS_IN_MODULE: Pattern = Pattern::new(
    r#"(?:vars\(\w+\)|\.__dict__)\[['"](\w+)['"]\]\s*=[^=]|\.__dict__\.update\((\w+)=|(?:\.setitem\(|\bpatch\.dict\()(?:vars\([\w.]+\)|[\w.]+\.__dict__),\s*\{?\s*['"]?(\w+)"#,
);

/// Whether a patch has a result of its own: a spy lets the function run.
fn replaces(source: &Source<'_>, callee: &str, call: Node<'_>) -> bool {
    let statement = around(call, &["expression_statement", "lexical_declaration"]);
    let text = statement.and_then(|node| source.text.get(node.byte_range())).unwrap_or_default();
    let given = call.child_by_field_name("arguments").map(|list| list.named_child_count());
    let is_spy = callee.ends_with("spyOn") || callee.ends_with("method");
    let answers = text.contains(".mockRe") || text.contains(".mockImplementation");
    !text.contains("wraps=") && (!is_spy || answers || given > Some(2))
}

/// The last name in a patch's target: `price` for `patch("shop.price.price")` or `setattr`.
fn patched_name(source: &Source<'_>, call: Node<'_>) -> Option<String> {
    let list = call.child_by_field_name("arguments")?;
    let text = source.text.get(list.byte_range())?;
    let quote = text.find(['"', '\''])?;
    let mark = text.get(quote..)?.chars().next()?;
    let inner = text.get(quote + 1..)?.split(mark).next()?;
    let name = inner.rsplit('.').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}
