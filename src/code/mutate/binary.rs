//! Edit operators for binary expressions: other operators, swapped or dropped operands.

use tree_sitter::Node;

use super::edit_site::{EditList, EditSite};
use super::node_kind::{NodeKind, operator_token};
use NodeKind::{Compare, Logic};

/// Weight for swapping the operands of a commutative operator, which seldom has an effect.
const SYMMETRIC: f64 = 0.2;

/// Weight for replacing an arithmetic operator by a bitwise one, or the reverse.
const OTHER_FAMILY: f64 = 0.1;

/// Weight for `and` or `or` in a condition that is the same for every value.
const SETTLED: f64 = 2.0;

/// Weight for two operators that are not a known confusion.
const UNRELATED: f64 = 0.35;

/// How likely two operators are confused with each other, in either direction.
const CONFUSIONS: &[(&str, &str, f64)] = &[
    ("<", "==", 0.8),
    (">", "==", 0.8),
    ("<", "<=", 1.6),
    (">", ">=", 1.6),
    ("<", ">", 1.0),
    ("<=", ">=", 1.2),
    ("==", "!=", 1.4),
    ("===", "!==", 1.4),
    ("+", "-", 1.4),
    ("*", "/", 1.0),
    ("/", "//", 1.4),
    ("*", "**", 1.0),
    ("//", "%", 1.2),
    ("/", "%", 1.0),
    ("in", "not in", 1.4),
    ("is", "is not", 1.4),
    ("&&", "||", 0.8),
    ("and", "or", 0.8),
    ("??", "||", 0.8),
    ("==", "is", 0.3),
    ("==", "===", 0.3),
    ("&", "|", 1.2),
    ("|", "^", 1.0),
    ("&", "^", 1.0),
    ("<<", ">>", 1.3),
    ("+", "*", 0.9),
    ("<", ">=", 1.0),
    ("<=", ">", 1.0),
    ("==", ">=", 0.7),
    ("==", "<=", 0.7),
    ("==", "<", 0.5),
    ("==", ">", 0.5),
    ("!=", "<", 0.5),
    ("!=", ">", 0.5),
];

/// How likely the new operator was meant where the old one is written.
pub fn affinity(old: &str, new: &str) -> f64 {
    let is_bitwise = |operator| ["&", "|", "^", "<<", ">>"].contains(&operator);
    if is_bitwise(old) != is_bitwise(new) && !matches!((old, new), ("**", "^") | ("^", "**")) {
        return OTHER_FAMILY;
    }
    CONFUSIONS
        .iter()
        .find(|(a, b, _)| *a == old && *b == new || *a == new && *b == old)
        .map_or(UNRELATED, |(_, _, affinity)| *affinity)
}

/// The byte range of the operator; `not in` and `is not` consist of two tokens.
fn operator_range(node: Node<'_>) -> Option<std::ops::Range<usize>> {
    let token = operator_token(node)?;
    let mut cursor = node.walk();
    let tokens: Vec<Node<'_>> = node.children_by_field_name("operators", &mut cursor).collect();
    let second = tokens.get(1).filter(|second| {
        tokens.len() == 2
            && second.start_position() > token.end_position()
            && matches!(second.kind(), "in" | "not")
    });
    Some(token.start_byte()..second.map_or(token.end_byte(), Node::end_byte))
}

struct Operands<'a> {
    left: Node<'a>,
    right: Node<'a>,
    /// Whether there are only two operands, unlike in a chained comparison.
    only: bool,
}

impl<'a> Operands<'a> {
    fn of(node: Node<'a>) -> Option<Self> {
        operator_token(node)?;
        let count = u32::try_from(node.named_child_count()).ok()?;
        let (left, right) = (node.named_child(0)?, node.named_child(count.checked_sub(1)?)?);
        (left != right).then_some(Self { left, right, only: count == 2 })
    }
}

/// Replaces the operator by another one of the same family.
pub fn other_operators(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(range) = operator_range(site.node) else { return };
    let old = site.source.get(range.clone()).unwrap_or_default();
    let others: &[&str] = match site.kind {
        Compare => site.spelling.comparisons,
        Logic => &site.spelling.logic,
        _ => site.spelling.arithmetic,
    };
    let certain = if is_settled(site, old) { SETTLED } else { 1.0 };
    let right = Operands::of(site.node).map_or("", |both| site.text_of(both.right));
    // The left operand alone says the same.
    let is_needless = |other: &str| match right {
        "0" => matches!(other, "+" | "-"),
        "1" => matches!(other, "*" | "/" | "//" | "**"),
        _ => false,
    };
    for other in others.iter().filter(|other| !is_needless(other)) {
        edits.put_with_share(range.clone(), *other, affinity(old, other) * certain);
    }
}

/// Whether a condition is false or true for every value: `x == 1 and x == 2`, `x != 1 or x != 2`.
fn is_settled(site: &EditSite<'_>, operator: &str) -> bool {
    let equality: &[&str] = match operator {
        "&&" | "and" => &["==", "==="],
        "||" | "or" => &["!=", "!=="],
        _ => return false,
    };
    let compared = |node: Node<'_>| {
        let token = operator_token(node).map(|token| site.text_of(token));
        let operands = Operands::of(node).filter(|one| one.only)?;
        token
            .is_some_and(|token| equality.contains(&token))
            .then(|| (site.text_of(operands.left), site.text_of(operands.right)))
    };
    let sides = Operands::of(site.node).map(|both| (both.left, both.right));
    let sides = sides.and_then(|(left, right)| Some((compared(left)?, compared(right)?)));
    sides.is_some_and(|((a, one), (b, other))| a == b && one != other)
}

/// Swaps the operands: `a - b` becomes `b - a`.
pub fn swapped_operands(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let (Some(Operands { left, right, only: true }), Some(operator)) =
        (Operands::of(site.node), operator_range(site.node))
    else {
        return;
    };
    let symmetric = matches!(
        site.source.get(operator).unwrap_or_default(),
        "+" | "*" | "==" | "!=" | "===" | "!==" | "&" | "|" | "^"
    );
    edits.replace_with_share(
        site.node,
        site.exchanged(left, right),
        if symmetric { SYMMETRIC } else { 1.0 },
    );
}

/// Negates a comparison.
pub fn negated_comparison(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if Operands::of(site.node).is_some() {
        edits.replace(site.node, format!("{}({})", site.spelling.not, site.text));
    }
}

/// What is off by one, or has the wrong sign, is likelier than another superfluous operand.
const BY_ONE: f64 = 1.3;

/// Replaces an operation by one of its operands.
pub fn one_operand(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(operands) = Operands::of(site.node) else { return };
    for (operand, other) in [(operands.left, operands.right), (operands.right, operands.left)] {
        let share = if ["1", "-1"].contains(&site.text_of(other)) { BY_ONE } else { 1.0 };
        edits.replace_with_share(site.node, site.text_of(operand), share);
    }
}

/// Adds parentheses: `a + b * c` becomes `(a + b) * c`.
pub fn grouped_left(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let (Some(Operands { left, right, .. }), Some(outer)) =
        (Operands::of(site.node), operator_token(site.node))
    else {
        return;
    };
    if NodeKind::of(right) == site.kind
        && let (Some(Operands { left: first, right: last, only: true }), Some(inner)) =
            (Operands::of(right), operator_token(right))
    {
        let [left, outer, first, inner, last] =
            [left, outer, first, inner, last].map(|node| site.text_of(node));
        edits.replace(site.node, format!("({left} {outer} {first}) {inner} {last}"));
    }
}

/// Removes parentheses: `(a + b) * c` becomes `a + b * c`.
pub fn ungrouped_left(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(Operands { left, .. }) = Operands::of(site.node) else { return };
    if left.kind() == "parenthesized_expression" {
        let inner = site.text_of(left).trim_start_matches('(').trim_end_matches(')');
        edits.replace(left, inner);
    }
}
