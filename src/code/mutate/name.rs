//! Edit operators for names: other variables, properties and callees.

use tree_sitter::Node;

use super::edit_site::{EditList, EditSite};
use super::node_kind::NodeKind;

/// Maximum number of replacements tried for a name.
pub const NAMES: usize = 14;

/// How much more likely a parameter is the right name if the function never reads it.
const UNREAD: f64 = 2.0;

/// Whether a name is read at this node, rather than declared, assigned or used as a label.
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
        "expression_statement" => NodeKind::of(node) == NodeKind::Name,
        _ => true,
    }
}

/// Whether a node is a property name, after a dot.
pub fn is_property(site: &EditSite<'_>) -> bool {
    site.kind == NodeKind::Property
        || site.kind == NodeKind::Name && site.is_field("attribute", "attribute")
}

/// Whether a node is the name of a callee.
pub fn is_callee(site: &EditSite<'_>) -> bool {
    site.kind == NodeKind::Name
        && (site.is_field("call", "function")
            || site.is_field("call_expression", "function")
            || site.is_field("new_expression", "constructor"))
}

/// Whether a node is a variable that is read or assigned.
pub fn is_variable(site: &EditSite<'_>) -> bool {
    let parameter = site.node.parent().is_some_and(|parent| {
        matches!(parent.kind(), "parameters" | "formal_parameters" | "default_parameter")
    });
    site.kind == NodeKind::Name
        && !parameter
        && !is_property(site)
        && !is_callee(site)
        && !site.is_field("keyword_argument", "name")
        && (is_read(site.node) || is_assigned(site))
}

/// Whether a node is the target of an assignment or a loop.
pub fn is_assigned(site: &EditSite<'_>) -> bool {
    const TARGETS: &[&str] = &[
        "assignment",
        "augmented_assignment",
        "assignment_expression",
        "augmented_assignment_expression",
        "for_statement",
    ];
    site.node.parent().is_some_and(|parent| parent.kind() == "pattern_list")
        || TARGETS.iter().any(|target| site.is_field(target, "left"))
}

/// Similarity of two names, because similar ones are confused more often.
fn likeness(a: &str, b: &str) -> f64 {
    0.7 + 0.6 * strsim::jaro_winkler(a, b)
}

/// Replaces a variable that is read by other variables of the function.
pub fn other_variables(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for other in site.names(NAMES) {
        let unread = site.scope.unread.iter().any(|name| name == other);
        let share = likeness(site.text, other) * if unread { UNREAD } else { 1.0 };
        edits.replace_with_share(site.node, other, share);
    }
}

/// Replaces a name by other names, the most similar ones first.
pub fn other_names<'n>(
    names: impl Iterator<Item = &'n str>,
    site: &EditSite<'_>,
    edits: &mut EditList<'_>,
) {
    for other in names {
        edits.replace_with_share(site.node, other, likeness(site.text, other));
    }
}

/// Replaces a name by those that users of the language often confuse it with.
pub fn confused_names(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for group in site.spelling.confused.iter().filter(|group| group.contains(&site.text)) {
        edits.replace_all(site.node, group.iter().copied());
    }
}
