//! The calls in a file: what is called, and with which arguments.

use tree_sitter::Node;

use super::name_path::{CALLED, NamePath, SourceFile};
use crate::code::language::Language;
use crate::code::syntax::first_error;
use crate::code::tree::{line, named_nodes, statements, text_of};

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
    if !is_call(node) {
        return None;
    }
    let mut callee = source.path_of(node);
    callee.steps.pop().filter(|step| step == CALLED)?;
    let arguments = list_arguments(node, source.text);
    Some(CallSite { callee, at: node.start_byte(), line: line(node), arguments })
}

/// The arguments of a call, each on one line.
fn list_arguments(node: Node<'_>, text: &str) -> Vec<String> {
    let arguments = match node.child_by_field_name("arguments") {
        Some(list) if list.kind() == "generator_expression" => vec![list],
        Some(list) => statements(list),
        None => Vec::new(),
    };
    arguments.into_iter().map(|one| short_line(text_of(one, text))).collect()
}

/// The texts of a file in each of which one of the given calls, as line and arguments, gives nothing or an
/// empty object: a test that depends on what it gives fails on one of them. Only in Python and scripts,
/// where such values may stand for any other.
#[must_use]
pub fn sever_calls(language: Language, text: &str, calls: &[(u32, &[String])]) -> Vec<String> {
    let others = match language {
        Language::Python => ["None", "object()"],
        other if other.is_script() => ["undefined", "({})"],
        _ => return Vec::new(),
    };
    let Some(tree) = language.parse(text) else { return Vec::new() };
    let is_meant = |node: &Node<'_>| {
        is_call(*node) && calls.contains(&(line(*node), list_arguments(*node, text).as_slice()))
    };
    let mut severed = Vec::new();
    for node in named_nodes(tree.root_node()).into_iter().filter(is_meant) {
        let (before, after) = (text.get(..node.start_byte()), text.get(node.end_byte()..));
        severed.extend(
            others
                .map(|other| [before, Some(other), after].map(Option::unwrap_or_default).concat()),
        );
    }
    severed.retain(|text| first_error(language, text).is_none());
    severed
}

/// Whether a node calls a function or makes an object.
pub fn is_call(node: Node<'_>) -> bool {
    matches!(node.kind(), "call" | "call_expression" | "new_expression")
}

fn short_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(ARGUMENT).collect()
}
