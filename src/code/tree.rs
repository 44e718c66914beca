//! Helper functions to traverse tree-sitter syntax trees.

use tree_sitter::Node;

/// Node kinds that are functions, in all languages.
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

/// Visits a node and its descendants, parents first; `enter` says whether to go deeper.
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

/// All named nodes of a tree including `root`, parents before children.
pub fn named_nodes(root: Node<'_>) -> Vec<Node<'_>> {
    let mut nodes = Vec::new();
    visit(root, |node| {
        nodes.extend(Some(node).filter(Node::is_named));
        true
    });
    nodes
}

/// The direct children of a node, including unnamed ones.
pub fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

/// The named direct children of a node.
pub fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).collect()
}

/// The source text of a node.
pub fn text_of<'a>(node: Node<'_>, text: &'a str) -> &'a str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The source text of a field of a node; empty if the node has no such field.
pub fn field_of<'a>(node: Node<'_>, field: &str, text: &'a str) -> &'a str {
    node.child_by_field_name(field).map(|child| text_of(child, text)).unwrap_or_default()
}

/// The first of the given fields that a node has.
pub fn first_field<'t>(node: Node<'t>, fields: &[&str]) -> Option<Node<'t>> {
    fields.iter().find_map(|field| node.child_by_field_name(field))
}

/// The innermost ancestor of a node that has one of these kinds.
pub fn around<'a>(node: Node<'a>, kinds: &[&str]) -> Option<Node<'a>> {
    std::iter::successors(node.parent(), Node::parent).find(|up| kinds.contains(&up.kind()))
}

/// The named children of a block, except for comments.
pub fn statements(block: Node<'_>) -> Vec<Node<'_>> {
    let mut list = named_children(block);
    list.retain(|node| !node.kind().ends_with("comment"));
    list
}

/// The first line of a node, from 1.
pub fn line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX)
}

/// The last line of a node, from 1.
pub fn end_line(node: Node<'_>) -> u32 {
    u32::try_from(node.end_position().row + 1).unwrap_or(u32::MAX)
}

/// The attributes or decorators directly before a node, the nearest one first.
pub fn marks_before(node: Node<'_>, text: &str) -> String {
    let is_mark =
        |mark: &Node<'_>| matches!(mark.kind(), "attribute_item" | "decorator" | "line_comment");
    let marks = std::iter::successors(node.prev_sibling(), Node::prev_sibling).take_while(is_mark);
    marks.filter(|mark| mark.kind() != "line_comment").map(|mark| text_of(mark, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::code::language::Language;

    const TEXT: &str = "def f(a):\n    # why\n    b = [a, 1]\n    return b\n";

    #[test]
    fn nodes_come_outer_first_and_in_the_order_of_the_text() {
        let tree = Language::Python.parse(TEXT).unwrap();
        let nodes = named_nodes(tree.root_node());
        assert_eq!(nodes.first().map(Node::kind), Some("module"));
        assert!(nodes.windows(2).all(|pair| pair[0].start_byte() <= pair[1].start_byte()));
        let mut all = Vec::new();
        visit(tree.root_node(), |node| {
            all.push(node);
            true
        });
        assert_eq!(all.iter().filter(|node| node.is_named()).count(), nodes.len());
        assert!(all.len() > nodes.len(), "brackets and keywords are nodes without a name");
    }

    #[test]
    fn a_node_that_is_not_entered_hides_what_is_inside_it_and_nothing_else() {
        let tree = Language::Python.parse(TEXT).unwrap();
        let mut kinds = Vec::new();
        visit(tree.root_node(), |node| {
            kinds.push(node.kind());
            node.kind() != "list"
        });
        assert!(!kinds.contains(&"integer") && kinds.contains(&"return_statement"), "{kinds:?}");
    }

    #[test]
    fn a_walk_below_a_node_stays_below_it() {
        let tree = Language::Python.parse("a = 1\nb = 2\n").unwrap();
        let first = tree.root_node().named_child(0).unwrap();
        assert!(named_nodes(first).iter().all(|node| node.end_byte() <= 5));
    }

    #[test]
    fn statements_leave_comments_out_and_lines_count_from_one() {
        let tree = Language::Python.parse(TEXT).unwrap();
        let function = tree.root_node().named_child(0).unwrap();
        let body = function.child_by_field_name("body").unwrap();
        let kinds: Vec<&str> = statements(body).iter().map(Node::kind).collect();
        assert_eq!(kinds, ["expression_statement", "return_statement"]);
        assert_eq!((line(function), end_line(function)), (1, 4));
        assert_eq!(field_of(function, "name", TEXT), "f");
        assert_eq!(field_of(function, "return_type", TEXT), "");
        let list = named_nodes(body).into_iter().find(|node| node.kind() == "list").unwrap();
        assert_eq!(around(list, FUNCTIONS).map(|node| node.id()), Some(function.id()));
        assert!(around(function, FUNCTIONS).is_none());
    }

    #[test]
    fn marks_before_an_item_come_nearest_first_and_end_at_other_code() {
        let text = "#[a]\nfn x() {}\n#[b]\n// why\n#[c]\nfn y() {}\n";
        let tree = Language::Rust.parse(text).unwrap();
        let items = named_children(tree.root_node());
        let last = items.iter().rfind(|node| node.kind() == "function_item").unwrap();
        assert_eq!(marks_before(*last, text), "#[c]#[b]");
    }
}
