//! Small helpers for walking syntax trees.

use tree_sitter::Node;

/// Kinds of nodes that are functions, in all languages.
pub const FUNCTIONS: &[&str] = &[
    "function_definition",
    "lambda",
    "function_declaration",
    "generator_function_declaration",
    "function_expression",
    "generator_function",
    "arrow_function",
    "method_definition",
    "function_item",
    "closure_expression",
    "method_declaration",
    "func_literal",
    "constructor_declaration",
    "lambda_expression",
];

/// Visits a node and those below it, outer nodes before the ones inside them. `enter` tells whether
/// to go inside a node. Walks without recursion.
pub fn visit<'t>(root: Node<'t>, mut enter: impl FnMut(Node<'t>) -> bool) {
    let mut cursor = root.walk();
    loop {
        if enter(cursor.node()) && cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// Every named node below and including `root`, outer nodes before the ones inside them.
#[must_use]
pub fn named_nodes(root: Node<'_>) -> Vec<Node<'_>> {
    let mut nodes = Vec::new();
    visit(root, |node| {
        nodes.extend(Some(node).filter(Node::is_named));
        true
    });
    nodes
}

/// The nodes directly below a node, unnamed ones too.
#[must_use]
pub fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

/// The named nodes directly below a node.
#[must_use]
pub fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).collect()
}

/// The text of a node.
#[must_use]
pub fn text_of<'a>(node: Node<'_>, text: &'a str) -> &'a str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The text of a field of a node; empty when the node has no such field.
#[must_use]
pub fn field_of<'a>(node: Node<'_>, field: &str, text: &'a str) -> &'a str {
    node.child_by_field_name(field).map(|child| text_of(child, text)).unwrap_or_default()
}

/// The innermost ancestor of a node that has one of these kinds.
#[must_use]
pub fn around<'a>(node: Node<'a>, kinds: &[&str]) -> Option<Node<'a>> {
    std::iter::successors(node.parent(), Node::parent).find(|up| kinds.contains(&up.kind()))
}

/// The named children of a block that are not comments.
#[must_use]
pub fn statements(block: Node<'_>) -> Vec<Node<'_>> {
    let mut list = named_children(block);
    list.retain(|node| !node.kind().ends_with("comment"));
    list
}

/// First line of a node, from 1.
#[must_use]
pub fn line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX)
}

/// Last line of a node, from 1.
#[must_use]
pub fn end_line(node: Node<'_>) -> u32 {
    u32::try_from(node.end_position().row + 1).unwrap_or(u32::MAX)
}

/// The attributes or decorators directly before a node, the nearest first.
#[must_use]
pub fn marks_before(node: Node<'_>, text: &str) -> String {
    let is_mark =
        |mark: &Node<'_>| matches!(mark.kind(), "attribute_item" | "decorator" | "line_comment");
    let marks = std::iter::successors(node.prev_sibling(), Node::prev_sibling).take_while(is_mark);
    marks.filter(|mark| mark.kind() != "line_comment").map(|mark| text_of(mark, text)).collect()
}
