//! Generates mutants by replacing single tokens, for languages without repair operators.

use tree_sitter::Node;

use super::edit_site::Candidate;
use super::operator_id::OperatorId;
use crate::code::tree::{children, line, text_of, visit};

/// Pairs of tokens that replace each other, as Rust, Go and Java spell them.
const TOKENS: &[(&str, &str, OperatorId)] = &[
    ("<", "<=", OperatorId::Comparison),
    (">", ">=", OperatorId::Comparison),
    ("==", "!=", OperatorId::Comparison),
    ("+", "-", OperatorId::Arithmetic),
    ("*", "/", OperatorId::Arithmetic),
    ("%", "*", OperatorId::Arithmetic),
    ("&&", "||", OperatorId::Logic),
    ("+=", "-=", OperatorId::AugmentedAssignment),
    ("*=", "/=", OperatorId::AugmentedAssignment),
    ("++", "--", OperatorId::Update),
];

/// Nodes that contain no executable code.
const SKIPPED: &[&str] =
    &["attribute_item", "import_declaration", "use_declaration", "annotation", "marker_annotation"];

/// All replacements of a single token on the lines that `accepts_line` accepts.
pub fn exchanged_tokens(
    root: Node<'_>,
    source: &str,
    accepts_line: &dyn Fn(u32) -> bool,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    visit(root, |node| {
        let line = line(node);
        if SKIPPED.contains(&node.kind()) {
            return false;
        }
        if accepts_line(line) {
            let exchanges = exchanges(node, source).into_iter();
            candidates.extend(exchanges.map(|(node, text, operator)| {
                let range = node.byte_range();
                Candidate { range, text, operator, line, weight: 1.0 }
            }));
        }
        true
    });
    candidates
}

/// The replacements of a node, or of its operator token.
fn exchanges<'a>(node: Node<'a>, source: &str) -> Vec<(Node<'a>, String, OperatorId)> {
    let text = text_of(node, source);
    match node.kind() {
        "binary_expression"
        | "compound_assignment_expr"
        | "assignment_expression"
        | "assignment_statement"
        | "update_expression"
        | "inc_statement"
        | "dec_statement" => {
            let exchange = |token: Node<'a>| {
                let kind = token.kind();
                let (one, other, operator) =
                    TOKENS.iter().find(|(one, other, _)| *one == kind || *other == kind)?;
                let new = if *one == kind { other } else { one };
                Some((token, (*new).to_owned(), *operator))
            };
            children(node).into_iter().filter_map(exchange).collect()
        }
        "boolean_literal" | "true" | "false" => {
            let other = if text == "true" { "false" } else { "true" };
            vec![(node, other.to_owned(), OperatorId::Truth)]
        }
        "integer_literal" | "decimal_integer_literal" | "int_literal" => {
            let next = text.parse::<i64>().ok().and_then(|number| number.checked_add(1));
            next.map(|next| (node, next.to_string(), OperatorId::Constant)).into_iter().collect()
        }
        "unary_expression" if text.starts_with('!') => {
            vec![(node, text.trim_start_matches('!').to_owned(), OperatorId::DropNegation)]
        }
        "unary_expression" if text.starts_with('-') => {
            vec![(node, text.trim_start_matches('-').to_owned(), OperatorId::Sign)]
        }
        "if_expression" | "if_statement" | "while_expression" | "while_statement" => {
            negated_condition(node, source).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn negated_condition<'a>(node: Node<'a>, source: &str) -> Option<(Node<'a>, String, OperatorId)> {
    let condition = node
        .child_by_field_name("condition")
        .filter(|condition| !condition.kind().starts_with("let"))?;
    let inner = source.get(condition.byte_range())?;
    let text = if condition.kind() == "parenthesized_expression" {
        format!("(!{inner})")
    } else if inner.contains(['(', ')']) {
        return None;
    } else {
        format!("!({inner})")
    };
    Some((condition, text, OperatorId::Negate))
}
