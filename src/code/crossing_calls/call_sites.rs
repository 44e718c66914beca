//! The calls in a file: what is called, and with which arguments.

use tree_sitter::Node;

use super::name_path::{CALLED, INSTANCE, NamePath, PathRoot, SourceFile};
use crate::code::tree::{children, line, statements};

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
    let mut arguments = Vec::new();
    let callee = match node.kind() {
        "call"
        | "call_expression"
        | "new_expression"
        | "object_creation_expression"
        | "method_invocation" => {
            let mut path = source.path_of(node);
            path.steps.pop().filter(|step| step == CALLED || step == INSTANCE)?;
            path
        }
        "explicit_constructor_invocation" => {
            source.path_of(node.child_by_field_name("constructor")?)
        }
        "token_tree" => {
            let callee = macro_callee(source, node)?;
            let tokens = children(node);
            let inner = tokens.get(1..tokens.len().checked_sub(1)?)?;
            let parts = inner.split(|token| token.kind() == ",");
            arguments.extend(parts.filter_map(|part| {
                let (first, last) = (part.first()?, part.last()?);
                source.text.get(first.start_byte()..last.end_byte())
            }));
            callee
        }
        _ => return None,
    };
    let list = node.child_by_field_name("arguments");
    match list {
        Some(list) if list.kind() == "generator_expression" => arguments.push(source.text_of(list)),
        Some(list) => arguments.extend(statements(list).iter().map(|one| source.text_of(*one))),
        None => {}
    }
    let arguments = arguments.into_iter().map(short_line).collect();
    Some(CallSite { callee, at: node.start_byte(), line: line(node), arguments })
}

/// A text on one line, cut where it is long.
fn short_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(ARGUMENT).collect()
}

/// What stands before brackets in the arguments of a macro, which Rust does not parse.
fn macro_callee(source: &SourceFile<'_>, list: Node<'_>) -> Option<NamePath> {
    let is_call = source.text_of(list).starts_with('(');
    list.parent().filter(|parent| is_call && parent.kind() == "token_tree")?;
    let mut steps: Vec<&str> = Vec::new();
    let mut token = list.prev_sibling();
    let is_name = |one: &Node<'_>| matches!(one.kind(), "identifier" | "self" | "super" | "crate");
    while let Some(name) = token.filter(is_name) {
        steps.push(source.text_of(name));
        token = name.prev_sibling();
        let is_joined = token.is_some_and(|one| matches!(one.kind(), "." | "::"));
        if !is_joined {
            break;
        }
        token = token.and_then(|one| one.prev_sibling());
        if !token.as_ref().is_some_and(is_name) {
            steps.push("");
        }
    }
    let mut steps = steps.into_iter().rev();
    let root = match steps.next()? {
        "" => NamePath::unknown_path(),
        "super" => NamePath::from_root(PathRoot::Super),
        "self" => NamePath::from_root(PathRoot::Own),
        name => source.path_of_name(name),
    };
    source.text_of(list).starts_with('(').then(|| steps.fold(root, NamePath::with_step))
}
