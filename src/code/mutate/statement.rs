//! Edit operators for statements: drop or move them, or change what they return.

use tree_sitter::Node;

use super::edit_site::{EditList, EditSite};
use super::node_kind::{NodeKind, is_function};
use super::type_fit::{may_be_of, type_fit};
use super::value_types::DeclaredType;
use crate::code::tree::visit;
use NodeKind::{For, Return, Truth};

/// Swaps loop jumps: `break` becomes `continue`, and the reverse.
pub fn other_jump(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let other = match site.node.kind() {
        "break_statement" | "break_expression" => "continue",
        "continue_statement" | "continue_expression" => "break",
        _ => return,
    };
    let is_expression = site.node.kind().ends_with("_expression");
    let end = if is_expression { "" } else { site.spelling.end };
    edits.replace(site.node, format!("{other}{end}"));
}

/// Turns an `elif` branch into a separate `if`.
pub fn separate_if(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some(prefix) = site.spelling.elif_prefix
        && site.node.kind() == "elif_clause"
    {
        edits.replace(site.node, site.text.strip_prefix(prefix).unwrap_or(site.text));
    }
}

/// A statement that returns a value.
pub fn return_of(value: &str, site: &EditSite<'_>) -> String {
    // Where `return` is an expression, its statement ends it.
    let is_expression = site.node.kind() == "return_expression";
    format!("return {value}{}", if is_expression { "" } else { site.spelling.end })
}

pub fn returned_variable(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for other in site.names(10) {
        edits.replace_with_share(site.node, return_of(other, site), type_fit(site, other));
    }
}

pub fn returned_constant(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    /// Weights of constants by how often each is the intended result.
    const SELDOM: f64 = 0.3;
    const SOMETIMES: f64 = 0.4;
    const OFTEN: f64 = 0.5;
    let [yes, no] = site.spelling.truths;
    let empties = site.spelling.empties.iter().map(|empty| match *empty {
        "0" => ("0", SOMETIMES),
        "\"\"" => ("\"\"", SELDOM),
        empty => (empty, OFTEN),
    });
    let others = [(yes, OFTEN), (no, OFTEN), (site.spelling.nothing, OFTEN)];
    for (value, share) in
        others.into_iter().chain(empties).chain([("1", SELDOM), ("-1", SOMETIMES)])
    {
        edits.replace_with_share(site.node, return_of(value, site), share * type_fit(site, value));
    }
}

fn short_value<'a>(site: &EditSite<'a>) -> Option<&'a str> {
    let value = site.text_of(site.node.named_child(0)?);
    (!value.is_empty() && value.len() < 120 && !value.contains('\n')).then_some(value)
}

pub fn negated_return(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some(value) = short_value(site)
        && may_be_of(site, &DeclaredType::Truth)
    {
        edits.replace(site.node, return_of(&format!("{}({value})", site.spelling.not), site));
    }
}

/// Wraps the returned value, for example to test whether it is odd.
pub fn wrapped_return(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some(value) = short_value(site) {
        for (open, close) in site.spelling.return_wrappers {
            edits.replace(site.node, return_of(&format!("{open}{value}{close}"), site));
        }
    }
}

/// Inverts every boolean literal that the function returns, as one edit.
pub fn flipped_returns(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let is_truth = |node| NodeKind::of(node) == Truth;
    if !site.node.named_child(0).is_some_and(is_truth) {
        return;
    }
    let mut unit = site.node;
    while let Some(parent) = unit.parent().filter(|_| !is_function(unit)) {
        unit = parent;
    }
    let truths = returned_truths(unit);
    let [head, .., last] = truths.as_slice() else { return };
    let range = head.start_byte()..last.end_byte();
    let mut text = String::new();
    let mut from = range.start;
    for truth in &truths {
        text.push_str(site.source.get(from..truth.start_byte()).unwrap_or_default());
        text.push_str(site.spelling.opposite(site.text_of(*truth)));
        from = truth.end_byte();
    }
    edits.put_sized(range, text, 1.0, Some(4 * truths.len()));
}

/// The boolean literals that a function returns, not counting nested functions.
fn returned_truths(unit: Node<'_>) -> Vec<Node<'_>> {
    let mut truths = Vec::new();
    visit(unit, |node| {
        if NodeKind::of(node) == Return {
            let value = node.named_child(0);
            truths.extend(value.filter(|value| NodeKind::of(*value) == Truth));
        }
        node == unit || !is_function(node)
    });
    truths
}

/// Makes the condition of an `if` or `while` always false or always true.
pub fn constant_condition(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    const NEVER: f64 = 0.5;
    const ALWAYS: f64 = 0.4;
    let Some(condition) = site.field("condition") else { return };
    let [yes, no] = site.spelling.truths;
    for (truth, share) in [(no, NEVER), (yes, ALWAYS)] {
        let text = match condition.kind() {
            "parenthesized_expression" => format!("({truth})"),
            _ => truth.to_owned(),
        };
        edits.replace_with_share(condition, text, share);
    }
}

/// Turns an `if` into a loop, or the reverse.
pub fn if_or_loop(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    /// Writing `if` instead of `while` is a more common mistake than the reverse.
    const LOOP_FOR_IF: f64 = 2.0;
    let (Some([if_start, while_start]), Some(_)) =
        (site.spelling.if_while, site.field("condition"))
    else {
        return;
    };
    let start = site.node.start_byte();
    if site.text.starts_with(if_start) && site.field("alternative").is_none() {
        edits.put_with_share(start..start + if_start.len(), while_start, LOOP_FOR_IF);
    } else if site.text.starts_with(while_start) {
        edits.put(start..start + while_start.len(), if_start);
    }
}

/// Whether a statement starts its line and is not at the top level of the module.
pub fn is_nested(site: &EditSite<'_>) -> bool {
    begins_line(site)
        && !site.node.parent().is_some_and(|block| matches!(block.kind(), "module" | "program"))
}

fn line_before<'a>(node: Node<'_>, site: &EditSite<'a>) -> &'a str {
    let before = site.source.get(..node.start_byte()).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

/// The indentation of a node if it starts its line; empty otherwise.
pub fn indent_of<'a>(node: Node<'_>, site: &EditSite<'a>) -> &'a str {
    let line = line_before(node, site);
    if line.trim().is_empty() { line } else { "" }
}

fn begins_line(site: &EditSite<'_>) -> bool {
    line_before(site.node, site).trim().is_empty()
}

/// Deletes the statement together with its line.
pub fn dropped(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if begins_line(site) {
        let start = site.node.start_byte() - indent_of(site.node, site).len();
        let end = site.node.end_byte();
        let rest = site.source.get(end..).unwrap_or_default();
        let end = rest.find('\n').map_or(site.source.len(), |at| end + at + 1);
        edits.put(start..end, "");
    }
}

/// Replaces the statement by one without effect, such as `pass`.
pub fn emptied(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some(empty) = site.spelling.empty_statement {
        edits.replace(site.node, empty);
    }
}

/// Whether a statement changes the variable of the loop around it, which the loop sets anew (Pylint's W2901).
pub fn is_set_by_loop(site: &EditSite<'_>) -> bool {
    let inner = site.node.named_child(0).filter(|_| site.node.kind() == "expression_statement");
    let target = inner.unwrap_or(site.node).child_by_field_name("left");
    let Some(target) = target.map(|target| site.text_of(target)) else { return false };
    std::iter::successors(site.node.parent(), Node::parent)
        .take_while(|around| !is_function(*around))
        .filter(|around| NodeKind::of(*around) == For)
        .any(|around| {
            around.child_by_field_name("left").is_some_and(|left| site.text_of(left) == target)
        })
}

/// Swaps the statement with the next one.
pub fn exchanged(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    const SIMPLE: &[&str] = &[
        "expression_statement",
        "lexical_declaration",
        "if_statement",
        "return_statement",
        "assignment_statement",
    ];
    let Some(next) = site.siblings.get(site.index + 1) else { return };
    if [site.node, *next].iter().all(|node| SIMPLE.contains(&node.kind())) {
        let text = site.exchanged(site.node, *next);
        edits.put(site.node.start_byte()..next.end_byte(), text);
    }
}

/// Moves the last statement of a block out of it.
pub fn moved_out(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if site.spelling.indentation.is_none()
        || !begins_line(site)
        || site.index == 0
        || site.index + 1 != site.siblings.len()
    {
        return;
    }
    let outer = site.node.parent().and_then(|block| block.parent());
    if let Some(outer) = outer.filter(|outer| NodeKind::of(*outer).has_body()) {
        let less = indent_of(outer, site);
        if less.len() < indent_of(site.node, site).len() {
            move_to(less, site, edits);
        }
    }
}

/// Moves the statement after a block into it.
pub fn moved_in(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(level) = site.spelling.indentation.filter(|_| begins_line(site)) else { return };
    let before = site.index.checked_sub(1).and_then(|previous| site.siblings.get(previous));
    if before.is_some_and(|before| NodeKind::of(*before).has_body()) {
        let indent = indent_of(site.node, site);
        for depth in 1..=2 {
            move_to(&format!("{indent}{}", level.repeat(depth)), site, edits);
        }
    }
}

fn move_to(indent: &str, site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let old = indent_of(site.node, site);
    let range = site.node.start_byte() - old.len()..site.node.end_byte();
    let text = site.source.get(range.clone()).unwrap_or_default();
    edits.put(range, reindent(text, old, indent));
}

fn reindent(text: &str, from: &str, to: &str) -> String {
    let line = |line: &str| match line.strip_prefix(from) {
        Some(rest) => format!("{to}{rest}"),
        None => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Removes a condition: `if c: body` becomes `body`.
pub fn unconditional(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if site.spelling.indentation.is_none()
        || site.node.kind() != "if_statement"
        || site.field("alternative").is_some()
    {
        return;
    }
    let Some(body) = site.field("consequence") else { return };
    let (outer, Some(head)) = (indent_of(site.node, site), body.named_child(0)) else { return };
    let inner = indent_of(head, site);
    if !inner.is_empty() {
        let text = reindent(&format!("{inner}{}", site.text_of(body)), inner, outer);
        edits.replace(site.node, text.strip_prefix(outer).unwrap_or(&text));
    }
}
