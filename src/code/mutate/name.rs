//! Edit operators for names: other variables, properties and callees.

use tree_sitter::Node;

use super::edit_site::{EditList, EditSite};
use super::node_kind::NodeKind;
use super::type_fit::type_fit;

/// Maximum number of replacements tried for a name.
pub const NAMES: usize = 14;

/// How much more likely a parameter is the right name if the function never reads it.
const UNREAD: f64 = 2.0;

/// Kinds of nodes in which a name is read only as their value.
const READ_AS_VALUE: &[&str] = &[
    "function_definition",
    "class_definition",
    "function_declaration",
    "class_declaration",
    "method_definition",
    "lambda_parameters",
    "parameters",
    "formal_parameters",
    "default_parameter",
    "typed_parameter",
    "typed_default_parameter",
    "keyword_argument",
    "variable_declarator",
    "function_item",
    "method_declaration",
    "constructor_declaration",
    "parameter_declaration",
    "variadic_parameter_declaration",
    "formal_parameter",
    "parameter",
    "var_spec",
    "const_spec",
    "let_declaration",
    "let_condition",
    "for_expression",
    "enhanced_for_statement",
    "field_expression",
    "field_initializer",
    "keyed_element",
];

/// Kinds of nodes in which a name is read everywhere but on their left.
const READ_UNLESS_LEFT: &[&str] = &[
    "assignment",
    "assignment_expression",
    "assignment_statement",
    "short_var_declaration",
    "augmented_assignment",
    "augmented_assignment_expression",
    "compound_assignment_expr",
    "for_statement",
    "range_clause",
    "for_in_clause",
    "for_in_statement",
];

/// Kinds of nodes in which no name is read.
const NEVER_READ: &[&str] = &[
    "pattern_list",
    "tuple_pattern",
    "array_pattern",
    "import_statement",
    "as_pattern_target",
    "global_statement",
    "nonlocal_statement",
    "dotted_name",
    "aliased_import",
    "import_specifier",
    "pair_pattern",
    "object_pattern",
    "type",
    "scoped_identifier",
    "closure_parameters",
    "inferred_parameters",
    "match_pattern",
    "mut_pattern",
    "tuple_struct_pattern",
    "struct_pattern",
    "slice_pattern",
    "reference_pattern",
    "captured_pattern",
    "or_pattern",
    "range_pattern",
    "catch_formal_parameter",
    "labeled_statement",
    "method_reference",
];

/// Whether a name is read at this node, rather than declared, assigned or used as a label.
pub fn is_read(node: Node<'_>) -> bool {
    let Some((node, parent)) = place_of(node) else { return false };
    let field = |name: &str| parent.child_by_field_name(name) == Some(node);
    match parent.kind() {
        kind if READ_AS_VALUE.contains(&kind) => field("value"),
        kind if READ_UNLESS_LEFT.contains(&kind) => !field("left"),
        kind if NEVER_READ.contains(&kind) => false,
        "match_arm" => field("value"),
        "attribute" | "member_expression" | "method_invocation" | "field_access" => field("object"),
        "selector_expression" => field("operand"),
        "lambda_expression" | "closure_expression" => field("body"),
        "macro_invocation" => !field("macro"),
        "expression_statement" => NodeKind::of(node) == NodeKind::Name,
        _ => true,
    }
}

/// A node and its parent, or those of the list of expressions that it stands in: some grammars wrap
/// the sides of every assignment.
pub fn place_of(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let parent = node.parent()?;
    if parent.kind() == "expression_list" {
        return Some((parent, parent.parent()?));
    }
    Some((node, parent))
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
            || site.is_field("method_invocation", "name")
            || site.is_field("new_expression", "constructor"))
}

/// Whether a node is a variable that is read or assigned.
pub fn is_variable(site: &EditSite<'_>) -> bool {
    let parameter = site.node.parent().is_some_and(|parent| {
        matches!(
            parent.kind(),
            "parameters" | "formal_parameters" | "default_parameter" | "parameter_declaration"
        )
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
        "assignment_statement",
        "compound_assignment_expr",
        "for_statement",
    ];
    let Some((node, parent)) = place_of(site.node) else { return false };
    parent.kind() == "pattern_list"
        || TARGETS.contains(&parent.kind()) && parent.child_by_field_name("left") == Some(node)
}

/// Similarity of two names, because similar ones are confused more often.
fn likeness(a: &str, b: &str) -> f64 {
    0.7 + 0.6 * strsim::jaro_winkler(a, b)
}

/// Replaces a variable that is read by other variables of the function.
pub fn other_variables(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for other in site.names(NAMES) {
        let unread = site.scope.unread.iter().any(|name| name == other);
        let unread = if unread { UNREAD } else { 1.0 };
        let share = likeness(site.text, other) * unread * type_fit(site, other);
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
        let share = likeness(site.text, other) * type_fit(site, other);
        edits.replace_with_share(site.node, other, share);
    }
}

/// Replaces a name by those that users of the language often confuse it with.
pub fn confused_names(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for group in site.spelling.confused.iter().filter(|group| group.contains(&site.text)) {
        edits.replace_all(site.node, group.iter().copied());
    }
}
