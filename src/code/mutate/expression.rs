//! Edit operators for calls, subscripts, sequences, conditional expressions and assignments.

use tree_sitter::Node;

use super::binary::affinity;
use super::edit_site::{EditList, EditSite};
use super::node_kind::{NodeKind, operator_token};
use crate::code::tree::named_children;
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
    if site.field("function").is_some()
        && let Some(arguments) = site.field("arguments")
        && let Some(first) = arguments.named_child(0)
        && first.kind() != "comment"
    {
        edits.replace(site.node, site.text_of(first));
    }
}

/// Drops the call: `x` for `x.strip()`.
pub fn receiver(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some(function) = site.field("function")
        && NodeKind::of(function) == Member
        && let Some(object) = function.child_by_field_name("object")
    {
        edits.replace(site.node, site.text_of(object));
    }
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
    let is_literal = matches!(site.node.kind(), "list" | "array" | "tuple" | "set");
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
    let function = site.node.parent().and_then(|call| call.child_by_field_name("function"));
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
    site.field("value").or_else(|| site.field("object")).map(|object| site.text_of(object))
}

/// Replaces a subscript by the whole sequence.
pub fn whole_sequence(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some(object) = indexed(site) {
        edits.replace(site.node, object);
    }
}

/// Replaces element access by similar access, such as the slice up to or from the index.
pub fn other_access(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let (Some(object), Some(index)) = (indexed(site), site.field("subscript"))
        && index.kind() != "slice"
    {
        let index = site.text_of(index);
        let around = site.spelling.index_confusions.iter();
        let texts = around.map(|(open, close)| format!("{object}{open}{index}{close}"));
        edits.replace_all(site.node, texts);
    }
}

/// Changes the bounds or the step of a slice.
pub fn other_bounds(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let parts: Vec<&str> = site.text.split(':').map(str::trim).collect();
    if parts.len() > 3 {
        return;
    }
    let at = |index: usize| parts.get(index).copied().unwrap_or_default();
    let (start, stop, step) = (at(0), at(1), at(2));
    let write = |start: &str, stop: &str, step: &str| {
        if step.is_empty() { format!("{start}:{stop}") } else { format!("{start}:{stop}:{step}") }
    };
    let mut variants = vec![
        write("", stop, step),
        write(start, "", step),
        write(stop, start, step),
        write(start, stop, ""),
        write(start, stop, "-1"),
        write(start, stop, "2"),
        write("1", stop, step),
        write(start, "-1", step),
    ];
    for delta in [" + 1", " - 1"] {
        if !stop.is_empty() {
            variants.push(write(start, &format!("{stop}{delta}"), step));
        }
        if !start.is_empty() {
            variants.push(write(&format!("{start}{delta}"), stop, step));
        }
    }
    edits.replace_all(site.node, variants);
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
    Some([site.field("left")?, site.field("right")?])
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
        && NodeKind::of(left) == Name
    {
        let (l, r) = (site.text_of(left), site.text_of(right));
        for extreme in site.spelling.extremes {
            edits.replace(right, format!("{extreme}({l}, {r})"));
        }
        edits.replace_all(right, [format!("{r} + {l}"), format!("{l} + {r}")]);
    }
}
