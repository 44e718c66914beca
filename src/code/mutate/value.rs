//! Edits of any value that is read: off by one, wrapped, negated, another one from nearby.

use tree_sitter::Node;

use super::Gather;
use super::expression::NAMES;
use super::table::{Kind, kind};

/// Ingredients that are tried in place of one expression.
const INGREDIENTS: usize = 24;

/// Edits of any value that is read: off by one, wrap, negate, another value from nearby.
pub fn edits(node: Node<'_>, own: Kind, gather: &mut Gather<'_>) {
    let text = gather.text(node).to_owned();
    if text.is_empty() || text.len() > 200 || text.contains('\n') {
        return;
    }
    let parent = node.parent();
    let parent_kind = parent.map_or(Kind::Other, kind);
    let callee = parent.is_some_and(|parent| {
        parent.child_by_field_name("function") == Some(node)
            || parent.child_by_field_name("object") == Some(node)
    });
    if callee || text == "self" || text == "this" {
        return;
    }
    let grouped = |text: &str| {
        let simple = !matches!(own, Kind::Logic | Kind::Compare | Kind::Choice | Kind::Not);
        if simple { text.to_owned() } else { format!("({text})") }
    };
    let numeric = !matches!(
        own,
        Kind::Text
            | Kind::Truth
            | Kind::Nothing
            | Kind::Logic
            | Kind::Compare
            | Kind::Not
            | Kind::Sequence
            | Kind::OtherExpression
    );
    if numeric && own != Kind::Number {
        let likely = matches!(
            parent_kind,
            Kind::Arguments
                | Kind::Subscript
                | Kind::Compare
                | Kind::Slice
                | Kind::Return
                | Kind::Assign
                | Kind::Arithmetic
        );
        let factor = if likely { 0.9 } else { 0.3 };
        gather.replace("off by one", node, format!("{} + 1", grouped(&text)), factor);
        gather.replace("off by one", node, format!("{} - 1", grouped(&text)), factor);
        if likely {
            gather.replace("arithmetic", node, format!("-{}", grouped(&text)), 0.3);
        }
    }
    let sum = own == Kind::Arithmetic;
    if numeric && own != Kind::Number || node.kind() == "parenthesized_expression" {
        // Half or twice of something is forgotten more often than any other share.
        let whole = if sum { format!("({text})") } else { text.clone() };
        for (share, factor) in [("* 2", 0.15), ("/ 2", 0.2), ("// 2", 0.15)] {
            if share != "// 2" || gather.spelling.indented {
                gather.replace("arithmetic", node, format!("{whole} {share}"), factor);
            }
        }
    }
    for wrapper in gather.spelling.wrappers {
        if !text.starts_with(&format!("{wrapper}(")) {
            let common = matches!(
                *wrapper,
                "abs"
                    | "len"
                    | "int"
                    | "str"
                    | "sorted"
                    | "Math.abs"
                    | "Number"
                    | "String"
                    | "list"
                    | "set"
                    | "sum"
            );
            gather.replace(
                "wrap in call",
                node,
                format!("{wrapper}({text})"),
                if common { 0.8 } else { 0.4 },
            );
        }
    }
    let made = node.kind() == "list_comprehension";
    if made || matches!(own, Kind::Name | Kind::Member | Kind::Subscript | Kind::Call) {
        for suffix in gather.spelling.slices {
            gather.replace("slice", node, format!("{text}{suffix}"), 0.6);
        }
        cut_at_names(node, &text, gather);
    }
    if !made && matches!(own, Kind::Name | Kind::Member | Kind::Subscript | Kind::Call) {
        for suffix in gather.spelling.suffixes {
            gather.replace("suffix call", node, format!("{text}{suffix}"), 0.5);
        }
    }
    let condition = is_condition(node);
    if condition
        || matches!(own, Kind::Call | Kind::Logic | Kind::Name | Kind::Member)
            && parent_kind == Kind::Return
    {
        let not = gather.spelling.not;
        gather.replace(
            "negate",
            node,
            format!(
                "{not}{}",
                if own == Kind::Name || own == Kind::Call || own == Kind::Member {
                    text.clone()
                } else {
                    format!("({text})")
                }
            ),
            if condition { 1.0 } else { 0.3 },
        );
    }
    if condition {
        extend(node, &text, gather);
    }
    let ingredients: Vec<String> =
        gather.scope.expressions.iter().take(INGREDIENTS).cloned().collect();
    for other in ingredients {
        let factor =
            if condition { 0.3 } else { 0.5 + 0.5 * strsim::normalized_levenshtein(&text, &other) };
        gather.replace("ingredient", node, other, factor);
    }
    if own != Kind::Name && own != Kind::Number {
        let names: Vec<String> = gather.scope.names.iter().take(NAMES).cloned().collect();
        for other in names {
            gather.replace("variable", node, other, 0.35);
        }
    }
    if own == Kind::Name {
        for constant in ["0", "1"] {
            gather.replace("constant", node, constant, 0.25);
        }
    }
    if matches!(own, Kind::Name | Kind::Subscript) {
        // An element where the whole or another one was meant.
        let indexed: Vec<String> = gather.scope.indexed.iter().take(3).cloned().collect();
        let names: Vec<String> = gather.scope.names.iter().take(5).cloned().collect();
        for object in &indexed {
            for index in names.iter().filter(|index| *index != object) {
                gather.replace("ingredient", node, format!("{object}[{index}]"), 0.6);
            }
        }
    }
    // A forgotten operand: total - x, total + x, total * x.
    if numeric
        && matches!(
            parent_kind,
            Kind::Return
                | Kind::Assign
                | Kind::Augment
                | Kind::Compare
                | Kind::Arguments
                | Kind::Subscript
        )
    {
        let names: Vec<String> = gather.scope.names.iter().take(8).cloned().collect();
        for other in names.iter().filter(|other| **other != text) {
            for sign in ["+", "-", "*", "//", "%"] {
                if sign == "//" && !gather.spelling.indented {
                    continue;
                }
                gather.replace(
                    "ingredient",
                    node,
                    format!("{} {sign} {other}", grouped(&text)),
                    0.25,
                );
            }
        }
    }
    if !gather.spelling.indented && own == Kind::Call && parent_kind != Kind::Await {
        gather.replace("await", node, format!("await {text}"), 0.7);
    }
}

/// The part before or behind a position that a variable holds. A parameter that is never read is
/// the likeliest one.
fn cut_at_names(node: Node<'_>, text: &str, gather: &mut Gather<'_>) {
    let unread = gather.scope.unread.iter().map(|name| (name.clone(), 1.5));
    let others = gather.scope.names.iter().take(5).map(|name| (name.clone(), 0.3));
    for (name, factor) in unread.chain(others).collect::<Vec<_>>() {
        if name == text {
            continue;
        }
        let forms = if gather.spelling.indented {
            [format!("{text}[:{name}]"), format!("{text}[{name}:]")]
        } else {
            [format!("{text}.slice(0, {name})"), format!("{text}.slice({name})")]
        };
        for form in forms {
            gather.replace("slice", node, form, factor);
        }
    }
}

/// Whether a node decides between branches.
fn is_condition(node: Node<'_>) -> bool {
    let Some(mut parent) = node.parent() else { return false };
    let mut child = node;
    if parent.kind() == "parenthesized_expression" {
        child = parent;
        let Some(outer) = parent.parent() else { return false };
        parent = outer;
    }
    match parent.kind() {
        "if_clause" => true,
        "conditional_expression" => parent.named_child(1) == Some(child),
        _ => parent.child_by_field_name("condition") == Some(child),
    }
}

fn extend(node: Node<'_>, text: &str, gather: &mut Gather<'_>) {
    let [and, or] = gather.spelling.logic;
    let not = gather.spelling.not;
    let mut others: Vec<String> =
        gather.scope.conditions.iter().filter(|c| *c != text).take(8).cloned().collect();
    for name in gather.scope.names.iter().take(6) {
        others.push(name.clone());
        others.push(format!("{not}{name}"));
    }
    let equal = if gather.spelling.indented { "==" } else { "===" };
    for name in gather.scope.names.iter().take(5) {
        for other in gather.scope.names.iter().take(5).filter(|other| *other != name) {
            others.push(format!("{name} {equal} {other}"));
            others.push(format!("{name} < {other}"));
        }
        for number in gather.scope.numbers.iter().take(3) {
            for sign in [equal, "<", ">", "<=", ">="] {
                others.push(format!("{name} {sign} {number}"));
            }
        }
    }
    let inner = if kind(node) == Kind::Logic { format!("({text})") } else { text.to_owned() };
    for other in others {
        gather.replace("extend condition", node, format!("{inner} {and} {other}"), 0.6);
        gather.replace("extend condition", node, format!("{inner} {or} {other}"), 0.6);
        gather.replace("extend condition", node, format!("{other} {and} {inner}"), 0.3);
    }
}
