//! The arguments of macros in Rust, which the grammar leaves as tokens.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::code::language::Language;
use crate::code::tree::{children, visit};

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
