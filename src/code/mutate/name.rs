//! Edits of names: another variable, property or callee.

use tree_sitter::Node;

use super::Gather;
use super::expression::NAMES;
use super::table::{Kind, kind};

/// Whether a node is read where it stands, rather than defined, assigned or named.
pub fn is_read(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    let field = |name: &str| parent.child_by_field_name(name) == Some(node);
    match parent.kind() {
        "function_definition"
        | "class_definition"
        | "function_declaration"
        | "class_declaration"
        | "method_definition"
        | "lambda_parameters"
        | "parameters"
        | "formal_parameters"
        | "default_parameter"
        | "typed_parameter"
        | "typed_default_parameter"
        | "keyword_argument"
        | "variable_declarator" => field("value"),
        "attribute" | "member_expression" => field("object"),
        "assignment"
        | "assignment_expression"
        | "augmented_assignment"
        | "augmented_assignment_expression"
        | "for_statement"
        | "for_in_clause"
        | "for_in_statement" => !field("left"),
        "pattern_list" | "tuple_pattern" | "array_pattern" | "import_statement"
        | "as_pattern_target" | "global_statement" | "nonlocal_statement" | "dotted_name"
        | "aliased_import" | "import_specifier" | "pair_pattern" | "object_pattern" | "type" => {
            false
        }
        "expression_statement" => kind(node) == Kind::Name,
        _ => true,
    }
}

pub fn name(node: Node<'_>, gather: &mut Gather<'_>) {
    let parent = node.parent();
    let is = |kind: &str, field: &str| {
        parent.is_some_and(|p| p.kind() == kind && p.child_by_field_name(field) == Some(node))
    };
    if is("attribute", "attribute") {
        property(node, gather);
        return;
    }
    if is("keyword_argument", "name") {
        return;
    }
    let called = is("call", "function")
        || is("call_expression", "function")
        || is("new_expression", "constructor");
    let old = gather.text(node).to_owned();
    if called {
        confused(node, &old, "callee", gather);
        for other in gather.scope.callables.clone().into_iter().take(NAMES) {
            gather.replace("callee", node, other, likeness(&old, ""));
        }
        return;
    }
    let parameter = parent.is_some_and(|p| {
        matches!(p.kind(), "parameters" | "formal_parameters" | "default_parameter")
    });
    if parameter || !(is_read(node) || is_target(node)) {
        return;
    }
    let target = is_target(node);
    confused(node, &old, "exception", gather);
    let names: Vec<String> = gather.scope.names.iter().take(NAMES).cloned().collect();
    for other in names {
        let operator = if target { "assignment target" } else { "variable" };
        let missing = !target && gather.scope.unread.contains(&other);
        let factor = likeness(&old, &other) * if missing { 2.0 } else { 1.0 };
        gather.replace(operator, node, other, factor);
    }
}

fn is_target(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    matches!(
        parent.kind(),
        "assignment"
            | "augmented_assignment"
            | "assignment_expression"
            | "augmented_assignment_expression"
            | "for_statement"
    ) && parent.child_by_field_name("left") == Some(node)
        || matches!(parent.kind(), "pattern_list")
}

/// Names that look alike are confused more often.
fn likeness(a: &str, b: &str) -> f64 {
    if b.is_empty() { 0.6 } else { 0.7 + 0.6 * strsim::jaro_winkler(a, b) }
}

pub fn property(node: Node<'_>, gather: &mut Gather<'_>) {
    let old = gather.text(node).to_owned();
    confused(node, &old, "method", gather);
    let properties: Vec<String> = gather.scope.properties.iter().take(NAMES).cloned().collect();
    for other in properties {
        let factor = likeness(&old, &other);
        gather.replace("property", node, other, factor * 0.7);
    }
}

fn confused(node: Node<'_>, old: &str, operator: &'static str, gather: &mut Gather<'_>) {
    for group in gather.spelling.confused {
        if group.contains(&old) {
            for other in *group {
                gather.replace(operator, node, *other, 1.2);
            }
        }
    }
}
