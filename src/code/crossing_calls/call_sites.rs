//! The calls in a file: what is called, and with which arguments.

use tree_sitter::Node;

use super::name_path::{CALLED, NamePath, SourceFile};
use crate::code::tree::{line, statements};

/// The longest argument, in characters.
const ARGUMENT: usize = 80;

/// A call of something that has a name.
#[derive(Clone, Debug)]
pub struct CallSite {
    pub callee: NamePath,
    /// The byte where it begins.
    pub at: usize,
    pub line: u32,
    pub arguments: Vec<String>,
}

/// The call that a node is.
pub fn call_site(source: &SourceFile<'_>, node: Node<'_>) -> Option<CallSite> {
    if !matches!(node.kind(), "call" | "call_expression" | "new_expression") {
        return None;
    }
    let mut callee = source.path_of(node);
    callee.steps.pop().filter(|step| step == CALLED)?;
    let mut arguments = Vec::new();
    let list = node.child_by_field_name("arguments");
    match list {
        Some(list) if list.kind() == "generator_expression" => arguments.push(source.text_of(list)),
        Some(list) => arguments.extend(statements(list).iter().map(|one| source.text_of(*one))),
        None => {}
    }
    let arguments = arguments.into_iter().map(short_line).collect();
    Some(CallSite { callee, at: node.start_byte(), line: line(node), arguments })
}

fn short_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(ARGUMENT).collect()
}
