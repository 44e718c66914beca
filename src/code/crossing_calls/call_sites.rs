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

/// The texts of a file in each of which one call gives something else than it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeveredCalls {
    /// It gives nothing.
    pub without: Vec<String>,
    /// It gives an object that accepts every call and every access: a test that passes all the same
    /// depends at most on there being something.
    pub with_stand_in: Vec<String>,
}

/// What accepts every call and every access in Python.
const STAND_IN: &str = "__import__(\"unittest.mock\").mock.MagicMock()";

/// The same in a script; `: any` where its types are written.
fn stand_in_of_script(any: &str) -> String {
    format!(
        "(() => {{ const one{any} = new Proxy(function () {{}}, {{ get: (_{any}, key{any}) => key === \
         Symbol.iterator ? function* () {{}} : key === Symbol.toPrimitive ? () => \"\" : key === \
         \"then\" ? undefined : one, apply: () => one, construct: () => one }}); return one; }})()"
    )
}

/// Severs each of the given calls, as line and arguments, with what is read of its result at once. Only in
/// Python and scripts, where such values may stand for any other.
#[must_use]
pub fn sever_calls(language: Language, text: &str, calls: &[(u32, &[String])]) -> SeveredCalls {
    let (nothing, stand_in) = match language {
        Language::Python => ("None", STAND_IN.to_owned()),
        Language::JavaScript => ("undefined", stand_in_of_script("")),
        other if other.is_script() => ("(undefined as any)", stand_in_of_script(": any")),
        _ => return SeveredCalls::default(),
    };
    let Some(tree) = language.parse(text) else { return SeveredCalls::default() };
    let is_meant = |node: &Node<'_>| {
        is_call(*node) && calls.contains(&(line(*node), list_arguments(*node, text).as_slice()))
    };
    let nodes: Vec<Node<'_>> =
        named_nodes(tree.root_node()).into_iter().filter(is_meant).map(outermost_use).collect();
    let replace = |other: &str| {
        let texts = nodes.iter().map(|node| {
            let (before, after) = (text.get(..node.start_byte()), text.get(node.end_byte()..));
            [before, Some(other), after].map(Option::unwrap_or_default).concat()
        });
        texts.filter(|text| first_error(language, text).is_none()).collect()
    };
    SeveredCalls { without: replace(nothing), with_stand_in: replace(&stand_in) }
}

/// A call with the accesses, calls and `await` that follow it: `open().read()` for `open()`.
fn outermost_use(call: Node<'_>) -> Node<'_> {
    let is_use = |node: &Node<'_>, parent: &Node<'_>| match parent.kind() {
        "attribute" | "member_expression" => parent.child_by_field_name("object") == Some(*node),
        "call" | "call_expression" => parent.child_by_field_name("function") == Some(*node),
        "await" | "await_expression" => true,
        _ => false,
    };
    let mut node = call;
    while let Some(parent) = node.parent().filter(|parent| is_use(&node, parent)) {
        node = parent;
    }
    node
}

/// Whether a node calls a function or makes an object.
pub fn is_call(node: Node<'_>) -> bool {
    matches!(node.kind(), "call" | "call_expression" | "new_expression")
}

fn short_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(ARGUMENT).collect()
}
