//! Edit operators for calls, subscripts, sequences, conditional expressions and assignments.

use std::ops::Range;

use tree_sitter::Node;

use super::binary::affinity;
use super::edit_site::{EditList, EditSite};
use super::node_kind::{NodeKind, operator_token};
use crate::code::tree::{children, first_field, named_children};
use NodeKind::{Member, Name, Subscript};

/// Functions that usually take exactly two values.
const OF_TWO: &[&str] = &["max", "min", "Math.max", "Math.min", "pow", "gcd"];

/// Removes a negation, a sign or an `await` and keeps the operand.
pub fn bare_operand(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let last = site.node.named_child_count().checked_sub(1);
    if let Some(inner) = last.and_then(|at| site.node.named_child(u32::try_from(at).ok()?)) {
        edits.replace(site.node, site.text_of(inner));
    }
}

/// Replaces a call by its first argument.
pub fn first_argument(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if site.kind == NodeKind::Call
        && let Some(arguments) = site.field("arguments")
        && let Some(first) = arguments.named_child(0)
        && first.kind() != "comment"
    {
        edits.replace(site.node, site.text_of(first));
    }
}

/// Drops the call: `x` for `x.strip()`.
pub fn receiver(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some(object) = receiver_of_call(site) {
        edits.replace(site.node, site.text_of(object));
    }
}

/// Whether a node is a call whose result nobody takes.
pub fn is_dropped_result(site: &EditSite<'_>) -> bool {
    site.kind == NodeKind::Call
        && site.node.parent().is_some_and(|parent| parent.kind() == "expression_statement")
}

/// Takes the result of a call: `x = x.strip()` for `x.strip()`.
pub fn taken_result(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some(object) = receiver_of_call(site).filter(|object| NodeKind::of(*object) == Name) {
        edits.replace(site.node, format!("{} = {}", site.text_of(object), site.text));
    }
}

/// What stands before the dot of a called method.
fn receiver_of_call<'a>(site: &EditSite<'a>) -> Option<Node<'a>> {
    let function = site.field("function").filter(|function| NodeKind::of(*function) == Member);
    function.map_or_else(|| site.field("object"), receiver_of)
}

/// What stands before the dot.
fn receiver_of(member: Node<'_>) -> Option<Node<'_>> {
    first_field(member, &["object", "operand", "value"])
}

pub fn swapped_arguments(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    swap_neighbours(&site.children(), site, edits);
}

/// Swaps adjacent elements of a short sequence.
pub fn swapped_elements(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let items = named_children(site.node);
    if items.len() <= 6 {
        swap_neighbours(&items, site, edits);
    }
}

fn swap_neighbours(items: &[Node<'_>], site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for pair in items.windows(2) {
        let [a, b] = pair else { continue };
        edits.put(a.start_byte()..b.end_byte(), site.exchanged(*a, *b));
    }
}

/// The texts of all nodes except one, separated by commas.
fn without<'a>(items: &[Node<'_>], skipped: usize, site: &EditSite<'a>) -> String {
    let others = items.iter().enumerate().filter(|(at, _)| *at != skipped);
    others.map(|(_, item)| site.text_of(*item)).collect::<Vec<&'a str>>().join(", ")
}

/// Drops one argument.
pub fn fewer_arguments(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let items = site.children();
    for skipped in 0..items.len() {
        edits.replace(site.node, format!("({})", without(&items, skipped, site)));
    }
}

/// Drops one element.
pub fn fewer_elements(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let items = named_children(site.node);
    let is_literal = matches!(
        site.node.kind(),
        "list"
            | "array"
            | "tuple"
            | "set"
            | "array_expression"
            | "tuple_expression"
            | "array_initializer"
    );
    if is_literal
        && (2..=6).contains(&items.len())
        && let (Some(open), Some(close)) = (site.text.chars().next(), site.text.chars().last())
    {
        for skipped in 0..items.len() {
            edits.replace(site.node, format!("{open}{}{close}", without(&items, skipped, site)));
        }
    }
}

/// Adds a variable or a small number as the first or last argument.
pub fn more_arguments(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    /// Missing arguments are more often the last one than the first.
    const FRONT: f64 = 0.7;
    let texts: Vec<&str> = site.children().iter().map(|item| site.text_of(*item)).collect();
    for name in site.names(8).chain(["0", "1", "-1"]) {
        let front: Vec<&str> = [name].into_iter().chain(texts.iter().copied()).collect();
        edits.replace_with_share(site.node, format!("({})", front.join(", ")), FRONT);
        let back: Vec<&str> = texts.iter().copied().chain([name]).collect();
        edits.replace(site.node, format!("({})", back.join(", ")));
    }
}

/// The function that the arguments belong to.
fn callee<'a>(site: &EditSite<'a>) -> &'a str {
    let call = site.node.parent();
    let function = call.and_then(|call| first_field(call, &["function", "name"]));
    function.map_or("", |function| site.text_of(function))
}

/// Replaces the arguments of a function of two values by a pair of variables.
pub fn argument_pairs(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if OF_TWO.contains(&callee(site)) {
        for first in site.names(8) {
            for second in site.names(8).filter(|second| *second != first) {
                edits.replace(site.node, format!("({first}, {second})"));
            }
        }
    }
}

/// Adds the argument that makes a sort descending.
pub fn descending_order(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(reverse) = site.spelling.reverse_sort else { return };
    let mut texts: Vec<&str> = site.children().iter().map(|item| site.text_of(*item)).collect();
    let sorts = callee(site) == "sorted" || callee(site).ends_with(".sort");
    if sorts && !texts.iter().any(|text| text.starts_with("reverse")) {
        texts.push(reverse);
        edits.replace(site.node, format!("({})", texts.join(", ")));
    }
}

fn indexed<'a>(site: &EditSite<'a>) -> Option<&'a str> {
    let object = first_field(site.node, &["value", "object", "operand", "array"]);
    object.or_else(|| site.node.named_child(0)).map(|object| site.text_of(object))
}

/// Replaces a subscript by the whole sequence.
pub fn whole_sequence(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some(object) = indexed(site) {
        edits.replace(site.node, object);
    }
}

/// Replaces element access by similar access, such as the slice up to or from the index.
pub fn other_access(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let (Some(object), Some(index)) =
        (indexed(site), first_field(site.node, &["subscript", "index"]))
        && index.kind() != "slice"
    {
        let index = site.text_of(index);
        let around = site.spelling.index_confusions.iter();
        let texts = around.map(|(open, close)| format!("{object}{open}{index}{close}"));
        edits.replace_all(site.node, texts);
    }
}

/// The bounds of a slice or a range.
struct Bounds<'a> {
    /// The bytes from the first bound to the last.
    range: Range<usize>,
    start: &'a str,
    stop: &'a str,
    /// Empty in languages whose slices have no step.
    step: &'a str,
    has_step: bool,
    /// What stands between the bounds.
    between: &'a str,
}

impl<'a> Bounds<'a> {
    fn of(site: &EditSite<'a>) -> Option<Self> {
        let node = site.node;
        let has_step = node.kind() == "slice";
        let is_token = |child: &Node<'_>, kinds: &[&str]| kinds.contains(&child.kind());
        let tokens = children(node);
        let between = tokens.iter().find(|child| is_token(child, &[":", "..", "..="]))?;
        let opening = tokens.iter().find(|child| child.kind() == "[");
        let closing = tokens.iter().find(|child| child.kind() == "]");
        let range = opening.map_or(node.start_byte(), Node::end_byte)
            ..closing.map_or(node.end_byte(), Node::start_byte);
        let text = site.source.get(range.clone())?;
        let between = site.text_of(*between);
        let parts: Vec<&str> = text.split(between).map(str::trim).collect();
        let (start, stop, step) = match parts.as_slice() {
            [start, stop] => (*start, *stop, ""),
            [start, stop, step] if has_step => (*start, *stop, *step),
            _ => return None,
        };
        Some(Self { range, start, stop, step, has_step, between })
    }

    fn write(&self, start: &str, stop: &str, step: &str) -> String {
        let between = self.between;
        let step = if step.is_empty() { String::new() } else { format!("{between}{step}") };
        format!("{start}{between}{stop}{step}")
    }
}

/// Changes the bounds or the step of a slice, or the bounds of a range.
pub fn other_bounds(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(bounds) = Bounds::of(site) else { return };
    let Bounds { start, stop, step, .. } = bounds;
    let mut variants = vec![bounds.write("", stop, step), bounds.write(start, "", step)];
    variants.push(bounds.write(stop, start, step));
    if bounds.has_step {
        variants.extend(["", "-1", "2"].map(|step| bounds.write(start, stop, step)));
    }
    variants.push(bounds.write("1", stop, step));
    if bounds.has_step {
        variants.push(bounds.write(start, "-1", step));
    }
    for delta in [" + 1", " - 1"] {
        if !stop.is_empty() {
            variants.push(bounds.write(start, &format!("{stop}{delta}"), step));
        }
        if !start.is_empty() {
            variants.push(bounds.write(&format!("{start}{delta}"), stop, step));
        }
    }
    for variant in variants {
        edits.put(bounds.range.clone(), variant);
    }
}

/// Includes the end of a range, or leaves it out.
pub fn other_end(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let between = children(site.node).into_iter().find(|child| child.kind().starts_with(".."));
    if let Some(between) = between {
        edits.replace(between, if between.kind() == ".." { "..=" } else { ".." });
    }
}

/// The two results of a conditional expression: for a true and for a false condition.
fn choice_results<'a>(site: &EditSite<'a>) -> Option<Vec<Node<'a>>> {
    let results = site.spelling.choice_results.into_iter();
    let results = results.map(|index| site.node.named_child(index));
    results.collect::<Option<_>>().filter(|_| site.node.named_child_count() == 3)
}

/// Swaps the results of a conditional expression.
pub fn swapped_results(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    swap_neighbours(&choice_results(site).unwrap_or_default(), site, edits);
}

/// Replaces a conditional expression by one of its results.
pub fn one_result(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let results = choice_results(site).unwrap_or_default().into_iter();
    edits.replace_all(site.node, results.map(|result| site.text_of(result)));
}

/// Replaces the operator of an augmented assignment.
pub fn other_augmented(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(token) = operator_token(site.node) else { return };
    let old = site.text_of(token).trim_end_matches('=');
    for other in site.spelling.augmented {
        let share = affinity(old, other.trim_end_matches('='));
        edits.replace_with_share(token, *other, share);
    }
}

/// Assigns plainly: `=` for `+=`.
pub fn plain_assignment(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some(token) = operator_token(site.node) {
        edits.replace(token, "=");
    }
}

/// Swaps increment and decrement: `++` becomes `--`, and the reverse.
pub fn opposite_update(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let (old, new) = if site.text.contains("++") { ("++", "--") } else { ("--", "++") };
    edits.replace(site.node, site.text.replace(old, new));
}

/// The left and right sides of an assignment.
fn sides<'a>(site: &EditSite<'a>) -> Option<[Node<'a>; 2]> {
    let only = |side: Node<'a>| match side.kind() {
        "expression_list" => side.named_child(0).filter(|_| side.named_child_count() == 1),
        _ => Some(side),
    };
    Some([only(site.field("left")?)?, only(site.field("right")?)?])
}

/// Adds to a variable: `+=` for `=`.
pub fn augmented_assignment(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    /// Accumulating a sum is far more common than a difference or a product.
    const OPERATORS: [(&str, f64); 3] = [(" += ", 1.2), (" -= ", 0.4), (" *= ", 0.3)];
    let Some([left, right]) = sides(site) else { return };
    for (operator, share) in OPERATORS {
        edits.put_with_share(left.end_byte()..right.start_byte(), operator, share);
    }
}

/// Swaps the sides of an assignment: `a = b` becomes `b = a`.
pub fn reversed_assignment(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some([left, right]) = sides(site)
        && matches!(NodeKind::of(right), Name | Member | Subscript)
    {
        edits.replace(site.node, format!("{} = {}", site.text_of(right), site.text_of(left)));
    }
}

/// Accumulates: `x = a` becomes `x = max(x, a)`, `x = min(x, a)` or `x = x + a`.
pub fn accumulated(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some([left, right]) = sides(site)
        && matches!(NodeKind::of(left), Name | Member | Subscript)
    {
        let (l, r) = (site.text_of(left), site.text_of(right));
        for extreme in site.spelling.extremes {
            edits.replace(right, format!("{extreme}({l}, {r})"));
        }
        edits.replace_all(right, [format!("{r} + {l}"), format!("{l} + {r}")]);
    }
}

/// Assigns to another place that the function reads: an element or a property.
pub fn other_target(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(left) = site.field("left").filter(|_| site.kind != NodeKind::Other) else { return };
    let is_path = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
    let is_place = |text: &&str| match text.split_once('[') {
        Some((object, _)) => text.ends_with(']') && !object.is_empty() && is_path(object),
        None => text.contains('.') && is_path(text),
    };
    let places = site.scope.expressions.iter().map(String::as_str).filter(is_place);
    edits.replace_all(left, places.take(8));
}
