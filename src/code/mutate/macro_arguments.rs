//! Calls of macros in Rust, and their arguments, which the grammar leaves as tokens.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::code::language::Language;
use crate::code::tree::{children, line, named_nodes, text_of, visit};

/// Levels of macros inside of macros.
const LEVELS: usize = 3;

/// The tree of the source without the names of its macros, so that the arguments are expressions at the same
/// positions, and where these are: `vec![1, n]` is read as an array. `None` where there are none.
pub fn parse_arguments(source: &str) -> Option<(Tree, Vec<Range<usize>>)> {
    let mut text = source.to_owned();
    let mut tree = Language::Rust.parse(source)?;
    let mut arguments = Vec::new();
    for _ in 0..LEVELS {
        let names = named_macros(tree.root_node());
        if names.is_empty() {
            break;
        }
        for (name, inside) in names {
            text.replace_range(name.clone(), &" ".repeat(name.len()));
            arguments.push(inside);
        }
        tree = Language::Rust.parse(&text)?;
    }
    (!arguments.is_empty()).then_some((tree, arguments))
}

/// The calls of macros that the file defines itself: the line of each, and the name with its `!`.
pub fn calls_of_own_macros(source: &str) -> Vec<(u32, String)> {
    let Some(tree) = Language::Rust.parse(source) else { return Vec::new() };
    let nodes = named_nodes(tree.root_node());
    let name_of = |node: &Node<'_>, kind: &str, field: &str| {
        let name = node.child_by_field_name(field).filter(|_| node.kind() == kind);
        name.map(|name| text_of(name, source))
    };
    let own: BTreeSet<&str> =
        nodes.iter().filter_map(|node| name_of(node, "macro_definition", "name")).collect();
    let calls = nodes.iter().filter_map(|node| {
        let name = name_of(node, "macro_invocation", "macro")?;
        own.contains(name).then(|| (line(*node), format!("{name}!")))
    });
    calls.collect()
}

/// The name of each call of a macro in a function with its `!`, and its arguments, where they may be expressions.
fn named_macros(root: Node<'_>) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    visit(root, |node| {
        let is_call = node.kind() == "macro_invocation"
            && node.parent().is_some_and(|parent| parent.kind() != "source_file");
        let tokens = children(node).into_iter().find(|child| child.kind() == "token_tree");
        if let Some(tokens) = tokens.filter(|_| is_call)
            && tokens.child(0).is_some_and(|open| matches!(open.kind(), "(" | "["))
        {
            found.push((node.start_byte()..tokens.start_byte(), tokens.byte_range()));
        }
        node.kind() != "macro_definition"
    });
    found
}
