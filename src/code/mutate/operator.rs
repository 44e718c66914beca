//! Edits of operators with two sides.

use tree_sitter::Node;

use super::Gather;
use super::table::{Kind, kind, operator};

pub fn binary(node: Node<'_>, own: Kind, gather: &mut Gather<'_>) {
    let Some(token) = operator(node) else { return };
    let old = gather.text(token).to_owned();
    let (name, others): (&'static str, Vec<&'static str>) = match own {
        Kind::Compare => ("comparison", gather.spelling.comparisons.to_vec()),
        Kind::Logic => ("logic", gather.spelling.logic.to_vec()),
        _ => ("arithmetic", gather.spelling.arithmetic.to_vec()),
    };
    // `not in` and `is not` are two tokens.
    let end = token.end_byte();
    let mut cursor = node.walk();
    let tokens: Vec<Node<'_>> = node.children_by_field_name("operators", &mut cursor).collect();
    let two = tokens.get(1).filter(|second| {
        tokens.len() == 2
            && second.start_position() > token.end_position()
            && matches!(second.kind(), "in" | "not")
    });
    let range = token.start_byte()..two.map_or(end, Node::end_byte);
    let spelled = gather.source.get(range.clone()).unwrap_or(&old).to_owned();
    for other in others {
        gather.put(name, range.clone(), other.to_owned(), affinity(&spelled, other));
    }
    let count = u32::try_from(node.named_child_count()).unwrap_or_default();
    let (Some(left), Some(right)) =
        (node.named_child(0), node.named_child(count.saturating_sub(1)))
    else {
        return;
    };
    if left == right {
        return;
    }
    let (l, r) = (gather.text(left).to_owned(), gather.text(right).to_owned());
    if count == 2 {
        let middle =
            gather.source.get(left.end_byte()..right.start_byte()).unwrap_or_default().to_owned();
        if own != Kind::Logic {
            let symmetric = matches!(
                spelled.as_str(),
                "+" | "*" | "==" | "!=" | "===" | "!==" | "&" | "|" | "^"
            );
            gather.replace(
                "swap operands",
                node,
                format!("{r}{middle}{l}"),
                if symmetric { 0.2 } else { 1.0 },
            );
        }
    }
    if own == Kind::Compare {
        // Both sides are compared to something else: chained or partial comparison.
        gather.replace(
            "negate",
            node,
            format!("{}({})", gather.spelling.not, gather.text(node)),
            0.4,
        );
    } else {
        gather.replace("drop operand", node, l.clone(), 1.0);
        gather.replace("drop operand", node, r.clone(), 1.0);
    }
    // Grouping: (a + b) * c for a + b * c, and the other way round.
    if own != Kind::Compare {
        if kind(right) == own || kind(right) == Kind::Arithmetic && own == Kind::Arithmetic {
            regroup(node, left, right, token, gather);
        }
        if kind(left) == Kind::OtherExpression && left.kind() == "parenthesized_expression" {
            let inner = l.trim_start_matches('(').trim_end_matches(')').to_owned();
            gather.replace("arithmetic", left, inner, 0.4);
        }
    }
}

fn regroup(
    node: Node<'_>,
    left: Node<'_>,
    right: Node<'_>,
    token: Node<'_>,
    gather: &mut Gather<'_>,
) {
    let count = u32::try_from(right.named_child_count()).unwrap_or_default();
    if let (Some(first), Some(inner)) = (right.named_child(0), operator(right))
        && count == 2
        && let Some(last) = right.named_child(1)
    {
        let text = format!(
            "({} {} {}) {} {}",
            gather.text(left),
            gather.text(token),
            gather.text(first),
            gather.text(inner),
            gather.text(last)
        );
        gather.replace("arithmetic", node, text, 0.5);
    }
}

/// How likely one operator was meant to be the other.
pub fn affinity(old: &str, new: &str) -> f64 {
    let bits = ["&", "|", "^", "<<", ">>"];
    if bits.contains(&old) != bits.contains(&new)
        && !matches!((old, new), ("**", "^") | ("^", "**"))
    {
        return 0.1;
    }
    let pairs = [
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
    pairs
        .iter()
        .find(|(a, b, _)| *a == old && *b == new || *a == new && *b == old)
        .map_or(0.35, |(_, _, factor)| *factor)
}
