//! The exports of a function that a script calls while it loads: UMD wrappers,
//! `module.exports = factory()`, immediately called functions.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::module_exports::{Exports, assigned, assigned_value, of_value, set_on};
use crate::code::tree::{field_of, named_children, text_of};

/// Maximum depth of nested functions to search.
const DEPTH: u32 = 3;

/// Bodies of functions that export something, each with the local names it exports and the names
/// under which they leave the file.
pub(super) fn scopes<'t>(root: Node<'t>, text: &str) -> Vec<(Node<'t>, Exports)> {
    let mut found = Vec::new();
    let declared = declarations(root, text);
    look(root, text, &declared, 0, &mut found);
    found
}

/// Functions by name: those declared in a block, and those passed to it as arguments.
type Known<'t, 'a> = BTreeMap<&'a str, Node<'t>>;

fn declarations<'t, 'a>(block: Node<'t>, text: &'a str) -> Known<'t, 'a> {
    let functions = named_children(block).into_iter();
    let functions = functions.filter(|child| child.kind() == "function_declaration");
    functions.map(|child| (field_of(child, "name", text), child)).collect()
}

/// Finds assignments of a function's result to `module.exports`, also inside functions that are
/// called where they are written.
fn look<'t>(
    node: Node<'t>,
    text: &str,
    known: &Known<'t, '_>,
    depth: u32,
    found: &mut Vec<(Node<'t>, Exports)>,
) {
    match node.kind() {
        "assignment_expression" if is_exports(node, text) => {
            let Some(right) = node.child_by_field_name("right") else { return };
            if let Some(body) = called(right, text, known).and_then(block_of) {
                add(found, body, returned(body, text));
            } else if depth > 0
                && let Some(body) = around(node)
            {
                // Inside an immediately invoked function, the local names are exported.
                let mut exports = Exports::new();
                assigned(node, text, &mut exports);
                add(found, body, exports);
            }
            // The right side may be another assignment: `module.exports = exports = factory()`.
            look(right, text, known, depth, found);
        }
        "call_expression" => {
            let Some(callee) = node.child_by_field_name("function").map(bare) else { return };
            let arguments = arguments(node);
            if let Some(body) = Some(callee).filter(|one| is_function(*one)).and_then(block_of) {
                if depth >= DEPTH {
                    return;
                }
                let names = parameters(callee, text);
                let mut inner = known.clone();
                inner.extend(declarations(body, text));
                let given = names.into_iter().zip(arguments.iter().map(|one| bare(*one)));
                inner.extend(given.filter(|(_, value)| is_function(*value)));
                look(body, text, &inner, depth + 1, found);
            } else if arguments.iter().any(|one| text_of(*one, text) == "exports")
                && let Some(function) = known.get(text_of(callee, text))
                && let Some(body) = block_of(*function)
            {
                // In `factory(exports)`, properties assigned to the first parameter are exported.
                let first = parameters(*function, text).into_iter().next().unwrap_or_default();
                add(found, body, put_on(body, first, text));
            }
        }
        kind if kind.contains("function") || kind == "class_declaration" => {}
        _ => {
            for child in named_children(node) {
                look(child, text, known, depth, found);
            }
        }
    }
}

fn add<'t>(found: &mut Vec<(Node<'t>, Exports)>, body: Node<'t>, exports: Exports) {
    if exports.is_empty() {
        return;
    }
    match found.iter_mut().find(|(known, _)| *known == body) {
        Some((_, known)) => known.extend(exports),
        None => found.push((body, exports)),
    }
}

fn is_exports(assignment: Node<'_>, text: &str) -> bool {
    let target = field_of(assignment, "left", text);
    ["module.exports.", "exports."].iter().any(|own| target.starts_with(own))
        || target == "module.exports"
}

/// The function whose result an expression is: an immediately invoked one, or a known one called by
/// name.
fn called<'t>(value: Node<'t>, text: &str, known: &Known<'t, '_>) -> Option<Node<'t>> {
    let value = bare(value);
    if value.kind() != "call_expression" {
        return None;
    }
    let callee = bare(value.child_by_field_name("function")?);
    if is_function(callee) { Some(callee) } else { known.get(text_of(callee, text)).copied() }
}

/// The names exported by the value that a function body returns.
fn returned(body: Node<'_>, text: &str) -> Exports {
    let mut exports = Exports::new();
    let mut statements = named_children(body).into_iter();
    let last = statements.rfind(|one| one.kind() == "return_statement");
    if let Some(value) = last.and_then(|last| last.named_child(0)) {
        of_value(bare(value), text, &mut exports);
    }
    exports
}

/// The names that a body assigns to properties of a parameter: `exports.f = f`.
fn put_on(body: Node<'_>, parameter: &str, text: &str) -> Exports {
    let put = |statement: Node<'_>| -> Option<(String, String)> {
        let assignment = statement.named_child(0)?;
        let right = assignment.child_by_field_name("right")?;
        let target = field_of(assignment, "left", text);
        let name = target.strip_prefix(parameter)?.strip_prefix('.')?;
        let is_named = assignment.kind() == "assignment_expression" && right.kind() == "identifier";
        is_named.then(|| (text_of(right, text).to_owned(), name.to_owned()))
    };
    named_children(body).into_iter().filter_map(put).collect()
}

/// The function that an assignment sets: one written there, or the one that a function of the same block
/// returns in the end, as in `words.plural = replacer(rules)`.
pub fn assigned_function<'t>(assignment: Node<'t>, text: &str) -> Option<Node<'t>> {
    let value = assigned_value(assignment)?;
    if is_function(value) {
        return Some(value);
    }
    let callee = value.child_by_field_name("function").filter(|one| one.kind() == "identifier")?;
    let block = assignment.parent()?.parent()?;
    let made_by = *declarations(block, text).get(text_of(callee, text))?;
    let mut statements = named_children(block_of(made_by)?).into_iter();
    let last = statements.rfind(|one| one.kind() == "return_statement")?;
    last.named_child(0).map(bare).filter(|one| is_function(*one))
}

/// The function that a statement sets on another one, with its name: `words.plural` for
/// `words.plural = function …`.
pub fn member_function<'a, 't>(statement: Node<'t>, text: &'a str) -> Option<(&'a str, Node<'t>)> {
    let assignment = statement.named_child(0)?;
    let is_assigned =
        statement.kind() == "expression_statement" && assignment.kind() == "assignment_expression";
    let name = field_of(assignment, "left", text);
    let is_named = name.chars().all(|one| one.is_alphanumeric() || matches!(one, '_' | '$' | '.'));
    set_on(name).filter(|_| is_assigned && is_named)?;
    Some((name, assigned_value(assignment).filter(|value| is_function(*value))?))
}

/// Strips parentheses and signs from an expression; `f.call(this, …)` is a call of `f`.
fn bare(mut node: Node<'_>) -> Node<'_> {
    loop {
        let inner = match node.kind() {
            "parenthesized_expression" => node.named_child(0),
            "unary_expression" => node.child_by_field_name("argument"),
            "member_expression" => {
                node.child_by_field_name("object").filter(|object| is_function(bare(*object)))
            }
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node,
        }
    }
}

fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "function_expression" | "arrow_function" | "function_declaration")
}

fn block_of(function: Node<'_>) -> Option<Node<'_>> {
    function.child_by_field_name("body").filter(|body| body.kind() == "statement_block")
}

/// The body of the function that contains a node.
fn around(node: Node<'_>) -> Option<Node<'_>> {
    std::iter::successors(node.parent(), Node::parent)
        .find(|up| is_function(*up))
        .and_then(block_of)
}

/// The arguments of a call; for `f.call(this, …)` without the first one.
fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let Some(list) = call.child_by_field_name("arguments") else { return Vec::new() };
    let by_call = call
        .child_by_field_name("function")
        .is_some_and(|callee| callee.kind() == "member_expression" && !is_function(callee));
    named_children(list).into_iter().skip(usize::from(by_call)).collect()
}

fn parameters<'a>(function: Node<'_>, text: &'a str) -> Vec<&'a str> {
    let list = function.child_by_field_name("parameters").map(named_children).unwrap_or_default();
    list.into_iter().map(|one| text_of(one, text)).collect()
}
