//! The rule about tests that compare the code with a copy of itself, which breaks with the code or
//! with neither.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::lint::rule::{Detection, LintRule, PY_JS, test_rule};
use crate::code::lint::source::{Hit, Source};
use crate::code::test_paths;
use crate::code::tree::{around, field_of, line, named_nodes, visit};
use crate::domain::quality::Severity::Critical;

use super::calls_and_assertions::{assertions, calls};
use super::cheating::is_imported;
use super::claim::{compared_sides, find_origin, is_name};

/// The rule about copies of the code under test.
pub const RULES: &[LintRule] = &[test_rule(
    ("ai_generated_issues", "copied-implementation"),
    Critical,
    (
        "it holds a copy of the code that it tests",
        "compare with values that do not come from the code",
    ),
    Detection::Function(PY_JS, copied_code),
)];

/// Tokens of the shortest function, and expression, whose likeness to another is no accident.
const LEAST_FUNCTION: usize = 13;
const LEAST_EXPRESSION: usize = 9;

const FUNCTIONS: &[&str] =
    &["function_definition", "function_declaration", "arrow_function", "method_definition"];

/// Finds functions of a test file that are functions of the code, whatever their names, and whose
/// results the tests use; and expected values that are computed as the code computes them.
fn copied_code(source: &Source<'_>) -> Vec<Hit> {
    let is_test = |node: &Node<'_>| source.tests.iter().any(|test| test.node.id() == node.id());
    let functions =
        source.of_kind(FUNCTIONS).filter(|node| !is_test(node) && has_used_result(source, *node));
    let expected = source.tests.iter().flat_map(|test| {
        let all = assertions(source, test).into_iter();
        all.filter_map(|(node, _)| compared_sides(source, node)).flat_map(|(a, b)| {
            [a, b].map(|side| find_origin(source, test, side)).into_iter().filter(|side| {
                !is_name(*side)
                    && !is_literal(*side)
                    && !is_imported(source, source.field(*side, "function"))
            })
        })
    });
    let own: Vec<(Node<'_>, Vec<String>)> = functions
        .chain(expected)
        .map(|node| (node, token_shape(node, source.text)))
        .filter(|(node, shape)| {
            let is_function = FUNCTIONS.contains(&node.kind());
            shape.len() >= if is_function { LEAST_FUNCTION } else { LEAST_EXPRESSION }
        })
        .collect();
    if own.is_empty() {
        return Vec::new();
    }
    let known = shapes_of_code(source);
    own.into_iter()
        .filter_map(|(node, shape)| Some(Hit::noted(line(node), known.get(&shape)?.clone())))
        .collect()
}

/// Whether an expression is what it says, with no name and nothing to calculate.
fn is_literal(expression: Node<'_>) -> bool {
    let is_key = |name: &Node<'_>| name.parent().is_some_and(|around| around.kind() == "pair");
    let parts = named_nodes(expression);
    parts.iter().all(|one| !one.kind().ends_with("identifier") || is_key(one))
}

/// Whether a test does something with what a function gives, rather than only call it.
fn has_used_result(source: &Source<'_>, function: Node<'_>) -> bool {
    let declared = function.parent().filter(|parent| parent.kind() == "variable_declarator");
    let name = field_of(declared.unwrap_or(function), "name", source.text);
    let is_used = |call: Node<'_>| {
        let outside = std::iter::successors(call.parent(), Node::parent)
            .find(|up| !up.kind().starts_with("await"));
        outside.is_some_and(|up| up.kind() != "expression_statement")
    };
    !name.is_empty()
        && source.tests.iter().any(|test| {
            let found = calls(source, test.node).into_iter();
            found.filter(|(callee, _)| callee == name).any(|(_, call)| is_used(call))
        })
}

/// The functions of the code that the file may test: those of files that it names.
fn shapes_of_code(source: &Source<'_>) -> BTreeMap<Vec<String>, String> {
    let is_python = source.language == Language::Python;
    let mut found = BTreeMap::new();
    for (path, text) in source.files {
        let language = Language::of(path).filter(|one| (*one == Language::Python) == is_python);
        let is_named = source.text.contains(path.stem())
            || path.parent().rsplit('/').next().is_some_and(|folder| {
                matches!(path.stem(), "__init__" | "index") && source.text.contains(folder)
            });
        let tree = language
            .filter(|one| PY_JS.contains(one) && is_named && !test_paths::is_test(path))
            .and_then(|language| language.parse(text));
        let Some(tree) = tree else { continue };
        for node in named_nodes(tree.root_node()) {
            let function = match node.kind() {
                "return_statement" => around(node, FUNCTIONS),
                kind => FUNCTIONS.contains(&kind).then_some(node),
            };
            let copied = if function == Some(node) { Some(node) } else { node.named_child(0) };
            if let (Some(function), Some(copied)) = (function, copied) {
                let name = field_of(function, "name", text).to_owned();
                found.insert(token_shape(copied, text), name);
            }
        }
    }
    found
}

/// The tokens of code without comments; names not behind a dot are numbered by appearance.
fn token_shape(code: Node<'_>, text: &str) -> Vec<String> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let mut shape = Vec::new();
    let is_function = FUNCTIONS.contains(&code.kind());
    let parts: Vec<(&str, Node<'_>)> = ["parameters", "parameter", "body"]
        .into_iter()
        .filter_map(|field| Some((field, code.child_by_field_name(field)?)))
        .filter(|_| is_function)
        .chain((!is_function).then_some(("body", code)))
        .collect();
    for (field, part) in parts {
        visit(part, |node| {
            let is_docstring = node.kind() == "expression_statement"
                && node.named_child(0).is_some_and(|child| child.kind() == "string");
            let is_type = matches!(node.kind(), "type" | "type_annotation");
            if node.kind().ends_with("comment") || is_docstring || is_type {
                return false;
            }
            // Marks around parameters differ with types and defaults.
            if node.child_count() == 0 && (field == "body" || node.kind() == "identifier") {
                let token = text.get(node.byte_range()).unwrap_or_default();
                let is_member = node.prev_sibling().is_some_and(|before| before.kind() == ".");
                shape.push(if node.kind() == "identifier" && !is_member {
                    let next = names.len();
                    format!("#{}", names.entry(token).or_insert(next))
                } else {
                    token.to_owned()
                });
            }
            true
        });
    }
    shape
}
