//! What a script gives away out of a function that is called while it loads: UMD wrappers,
//! `module.exports = factory()`, immediately called functions.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::of;
use super::script::{Exports, assigned};

/// Functions around functions that are looked through.
const DEPTH: u32 = 3;

/// Bodies of functions that give something away, each with the local names it gives and the names
/// under which they leave the file.
pub(super) fn scopes<'t>(root: Node<'t>, text: &str) -> Vec<(Node<'t>, Exports)> {
    let mut found = Vec::new();
    let declared = declarations(root, text);
    look(root, text, &declared, 0, &mut found);
    found
}

/// Functions by name: those that are declared in a block, and those that it is called with.
type Known<'t, 'a> = BTreeMap<&'a str, Node<'t>>;

fn declarations<'t, 'a>(block: Node<'t>, text: &'a str) -> Known<'t, 'a> {
    let mut cursor = block.walk();
    let named = block.named_children(&mut cursor).filter_map(|child| {
        let name = child.child_by_field_name("name")?;
        (child.kind() == "function_declaration").then(|| (of(name, text), child))
    });
    named.collect()
}

/// Looks for assignments to `module.exports` that give what a function returns, and through
/// functions that are called where they are written.
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
                add(found, body, given(body, text));
            } else if depth > 0
                && let Some(body) = around(node)
            {
                // Inside of a function that runs at once: its own names leave the file.
                let mut exports = Exports::new();
                assigned(node, text, &mut exports);
                add(found, body, exports);
            }
            // `module.exports = exports = factory()`.
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
            } else if arguments.iter().any(|one| of(*one, text) == "exports")
                && let Some(function) = known.get(of(callee, text))
                && let Some(body) = block_of(*function)
            {
                // `factory(exports)`: what the factory puts on its first parameter leaves the file.
                let first = parameters(*function, text).into_iter().next().unwrap_or_default();
                add(found, body, put_on(body, first, text));
            }
        }
        kind if kind.contains("function") || kind == "class_declaration" => {}
        _ => {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
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
    assignment.child_by_field_name("left").is_some_and(|left| {
        let target = of(left, text);
        target == "module.exports"
            || target.starts_with("module.exports.")
            || target.starts_with("exports.")
    })
}

/// The function whose result an expression is: one that is written there and called, or a known
/// one that is called by its name.
fn called<'t>(value: Node<'t>, text: &str, known: &Known<'t, '_>) -> Option<Node<'t>> {
    let value = bare(value);
    if value.kind() != "call_expression" {
        return None;
    }
    let callee = bare(value.child_by_field_name("function")?);
    if is_function(callee) { Some(callee) } else { known.get(of(callee, text)).copied() }
}

/// Names that the last statement of a body returns: a function as the default export, functions of
/// an object by their keys.
fn given(body: Node<'_>, text: &str) -> Exports {
    let mut exports = Exports::new();
    let mut cursor = body.walk();
    let last =
        body.named_children(&mut cursor).filter(|one| one.kind() == "return_statement").last();
    let Some(value) = last.and_then(|last| last.named_child(0)).map(bare) else { return exports };
    match value.kind() {
        "identifier" => {
            exports.insert(of(value, text).to_owned(), "default".into());
        }
        "object" => {
            let mut cursor = value.walk();
            for member in value.named_children(&mut cursor) {
                let key = member.child_by_field_name("key").map(|key| of(key, text));
                let inner = member.child_by_field_name("value");
                match (member.kind(), key, inner) {
                    ("shorthand_property_identifier", _, _) => {
                        let name = of(member, text).to_owned();
                        exports.insert(name.clone(), name);
                    }
                    ("pair", Some(key), Some(inner)) if inner.kind() == "identifier" => {
                        exports.insert(of(inner, text).to_owned(), key.to_owned());
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
    exports
}

/// `exports.f = f` in a body, for the parameter of this name.
fn put_on(body: Node<'_>, parameter: &str, text: &str) -> Exports {
    let mut exports = Exports::new();
    let mut cursor = body.walk();
    for statement in body.named_children(&mut cursor) {
        let Some(assignment) =
            statement.named_child(0).filter(|one| one.kind() == "assignment_expression")
        else {
            continue;
        };
        let part = |name: &str| assignment.child_by_field_name(name);
        let (Some(left), Some(right)) = (part("left"), part("right")) else { continue };
        let name = of(left, text).strip_prefix(parameter).and_then(|rest| rest.strip_prefix('.'));
        if let Some(name) = name
            && right.kind() == "identifier"
        {
            exports.insert(of(right, text).to_owned(), name.to_owned());
        }
    }
    exports
}

/// An expression without brackets and signs around it; `f.call(this, …)` is a call of `f`.
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

/// The body of the function around a place.
fn around(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.parent()?;
    while !is_function(at) {
        at = at.parent()?;
    }
    block_of(at)
}

/// Arguments in order; those of `f.call(this, …)` without the first.
fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let Some(list) = call.child_by_field_name("arguments") else { return Vec::new() };
    let by_call = call.child_by_field_name("function").is_some_and(|callee| {
        let inner = if callee.kind() == "parenthesized_expression" { bare(callee) } else { callee };
        callee.kind() == "member_expression" && !is_function(inner)
    });
    let mut cursor = list.walk();
    list.named_children(&mut cursor).skip(usize::from(by_call)).collect()
}

fn parameters<'a>(function: Node<'_>, text: &'a str) -> Vec<&'a str> {
    let Some(list) = function.child_by_field_name("parameters") else { return Vec::new() };
    let mut cursor = list.walk();
    list.named_children(&mut cursor).map(|one| of(one, text)).collect()
}
