//! Edits of expressions.

use tree_sitter::Node;

use super::Gather;
use super::constant;
use super::table::{Kind, is_value, kind, operator};
use super::value;

/// Names that are tried in place of one.
pub const NAMES: usize = 14;

/// Notes all edits of one node.
pub fn edits(node: Node<'_>, kind: Kind, gather: &mut Gather<'_>) {
    match kind {
        Kind::Number => constant::number(node, gather),
        Kind::Text => constant::text(node, gather),
        Kind::Truth => constant::truth(node, gather),
        Kind::Nothing => {
            for constant in ["0", "[]", "\"\""] {
                gather.replace("constant", node, constant, 0.3);
            }
        }
        Kind::Name => name(node, gather),
        Kind::Property => property(node, gather),
        Kind::Arithmetic | Kind::Compare | Kind::Logic => binary(node, kind, gather),
        Kind::Not => {
            if let Some(inner) = last_named(node) {
                let text = gather.text(inner).to_owned();
                gather.replace("drop negation", node, text, 1.0);
            }
        }
        Kind::Sign => {
            if let Some(inner) = last_named(node) {
                let text = gather.text(inner).to_owned();
                gather.replace("sign", node, text, 1.0);
            }
        }
        Kind::Call => call(node, gather),
        Kind::Arguments => arguments(node, gather),
        Kind::Subscript => subscript(node, gather),
        Kind::Slice => slice(node, gather),
        Kind::Choice => choice(node, gather),
        Kind::Sequence => sequence(node, gather),
        Kind::Augment => augment(node, gather),
        Kind::Update => update(node, gather),
        Kind::Assign => assign(node, gather),
        Kind::Await => {
            if let Some(inner) = last_named(node) {
                let text = gather.text(inner).to_owned();
                gather.replace("await", node, text, 0.5);
            }
        }
        Kind::Member
        | Kind::Return
        | Kind::If
        | Kind::While
        | Kind::For
        | Kind::Block
        | Kind::OtherExpression
        | Kind::Other => {}
    }
    if is_value(kind) && is_read(node) {
        value::edits(node, kind, gather);
    }
}

fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    let count = u32::try_from(node.named_child_count()).ok()?;
    node.named_child(count.checked_sub(1)?)
}

/// Whether a node is read where it stands, rather than defined, assigned or named.
fn is_read(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    let field = |name: &str| parent.child_by_field_name(name) == Some(node);
    match parent.kind() {
        "function_definition"
        | "class_definition"
        | "function_declaration"
        | "class_declaration"
        | "method_definition"
        | "lambda_parameters"
        | "parameters"
        | "formal_parameters"
        | "default_parameter"
        | "typed_parameter"
        | "typed_default_parameter"
        | "keyword_argument"
        | "variable_declarator" => field("value"),
        "attribute" | "member_expression" => field("object"),
        "assignment"
        | "assignment_expression"
        | "augmented_assignment"
        | "augmented_assignment_expression"
        | "for_statement"
        | "for_in_clause"
        | "for_in_statement" => !field("left"),
        "pattern_list" | "tuple_pattern" | "array_pattern" | "import_statement"
        | "as_pattern_target" | "global_statement" | "nonlocal_statement" | "dotted_name"
        | "aliased_import" | "import_specifier" | "pair_pattern" | "object_pattern" | "type" => {
            false
        }
        "expression_statement" => kind(node) == Kind::Name,
        _ => true,
    }
}

fn name(node: Node<'_>, gather: &mut Gather<'_>) {
    let parent = node.parent();
    let is = |kind: &str, field: &str| {
        parent.is_some_and(|p| p.kind() == kind && p.child_by_field_name(field) == Some(node))
    };
    if is("attribute", "attribute") {
        property(node, gather);
        return;
    }
    if is("keyword_argument", "name") {
        return;
    }
    let called = is("call", "function")
        || is("call_expression", "function")
        || is("new_expression", "constructor");
    let old = gather.text(node).to_owned();
    if called {
        confused(node, &old, "callee", gather);
        for other in gather.scope.callables.clone().into_iter().take(NAMES) {
            gather.replace("callee", node, other, likeness(&old, ""));
        }
        return;
    }
    let parameter = parent.is_some_and(|p| {
        matches!(p.kind(), "parameters" | "formal_parameters" | "default_parameter")
    });
    if parameter || !(is_read(node) || is_target(node)) {
        return;
    }
    let target = is_target(node);
    confused(node, &old, "exception", gather);
    let names: Vec<String> = gather.scope.names.iter().take(NAMES).cloned().collect();
    for other in names {
        let operator = if target { "assignment target" } else { "variable" };
        let missing = !target && gather.scope.unread.contains(&other);
        let factor = likeness(&old, &other) * if missing { 2.0 } else { 1.0 };
        gather.replace(operator, node, other, factor);
    }
}

fn is_target(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    matches!(
        parent.kind(),
        "assignment"
            | "augmented_assignment"
            | "assignment_expression"
            | "augmented_assignment_expression"
            | "for_statement"
    ) && parent.child_by_field_name("left") == Some(node)
        || matches!(parent.kind(), "pattern_list")
}

/// Names that look alike are confused more often.
fn likeness(a: &str, b: &str) -> f64 {
    if b.is_empty() { 0.6 } else { 0.7 + 0.6 * strsim::jaro_winkler(a, b) }
}

fn property(node: Node<'_>, gather: &mut Gather<'_>) {
    let old = gather.text(node).to_owned();
    confused(node, &old, "method", gather);
    let properties: Vec<String> = gather.scope.properties.iter().take(NAMES).cloned().collect();
    for other in properties {
        let factor = likeness(&old, &other);
        gather.replace("property", node, other, factor * 0.7);
    }
}

fn confused(node: Node<'_>, old: &str, operator: &'static str, gather: &mut Gather<'_>) {
    for group in gather.spelling.confused {
        if group.contains(&old) {
            for other in *group {
                gather.replace(operator, node, *other, 1.2);
            }
        }
    }
}

fn binary(node: Node<'_>, own: Kind, gather: &mut Gather<'_>) {
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
fn affinity(old: &str, new: &str) -> f64 {
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

fn call(node: Node<'_>, gather: &mut Gather<'_>) {
    let Some(function) = node.child_by_field_name("function") else { return };
    if let Some(arguments) = node.child_by_field_name("arguments")
        && let Some(first) = arguments.named_child(0)
        && first.kind() != "comment"
    {
        let text = gather.text(first).to_owned();
        gather.replace("unwrap call", node, text, 1.0);
    }
    // x.strip() to x
    if kind(function) == Kind::Member
        && let Some(object) = function.child_by_field_name("object")
    {
        let text = gather.text(object).to_owned();
        gather.replace("unwrap call", node, text, 0.9);
    }
}

fn arguments(node: Node<'_>, gather: &mut Gather<'_>) {
    let mut cursor = node.walk();
    let items: Vec<Node<'_>> =
        node.named_children(&mut cursor).filter(|n| n.kind() != "comment").collect();
    swaps(&items, "swap arguments", 1.0, gather);
    let texts: Vec<String> = items.iter().map(|item| gather.text(*item).to_owned()).collect();
    for skipped in 0..texts.len() {
        let rest: Vec<&str> = texts
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != skipped)
            .map(|(_, t)| t.as_str())
            .collect();
        gather.replace("drop argument", node, format!("({})", rest.join(", ")), 0.7);
    }
    let names: Vec<String> = gather.scope.names.iter().take(8).cloned().collect();
    let more = names.iter().map(String::as_str).chain(["0", "1", "-1"]);
    for name in more {
        let mut front = vec![name];
        front.extend(texts.iter().map(String::as_str));
        gather.replace("add argument", node, format!("({})", front.join(", ")), 0.7);
        let mut back: Vec<&str> = texts.iter().map(String::as_str).collect();
        back.push(name);
        gather.replace("add argument", node, format!("({})", back.join(", ")), 1.0);
    }
    let callee = node
        .parent()
        .and_then(|parent| parent.child_by_field_name("function"))
        .map(|function| gather.text(function).to_owned())
        .unwrap_or_default();
    if matches!(callee.as_str(), "max" | "min" | "Math.max" | "Math.min" | "pow" | "gcd") {
        for first in &names {
            for second in names.iter().filter(|second| *second != first) {
                gather.replace("add argument", node, format!("({first}, {second})"), 1.0);
            }
        }
    }
    if gather.spelling.indented && !texts.iter().any(|t| t.starts_with("reverse")) {
        let called = node.parent().and_then(|p| p.child_by_field_name("function"));
        let name = called.map(|f| gather.text(f).to_owned()).unwrap_or_default();
        if name == "sorted" || name.ends_with(".sort") {
            let mut all = texts.clone();
            all.push("reverse=True".into());
            gather.replace("add argument", node, format!("({})", all.join(", ")), 2.0);
        }
    }
}

/// Exchanges neighbours.
fn swaps(items: &[Node<'_>], operator: &'static str, factor: f64, gather: &mut Gather<'_>) {
    for pair in items.windows(2) {
        let [a, b] = pair else { continue };
        let middle = gather.source.get(a.end_byte()..b.start_byte()).unwrap_or_default();
        let text = format!("{}{middle}{}", gather.text(*b), gather.text(*a));
        gather.put(operator, a.start_byte()..b.end_byte(), text, factor);
    }
}

fn subscript(node: Node<'_>, gather: &mut Gather<'_>) {
    let object = node.child_by_field_name("value").or_else(|| node.child_by_field_name("object"));
    if let Some(object) = object {
        let text = gather.text(object).to_owned();
        gather.replace("slice", node, text.clone(), 0.8);
        if gather.spelling.indented
            && let Some(index) = node.child_by_field_name("subscript")
            && index.kind() != "slice"
        {
            let index = gather.text(index).to_owned();
            for other in [
                format!("{text}[:{index}]"),
                format!("{text}[{index}:]"),
                format!("{text}.get({index})"),
                format!("{text}[-{index}]"),
            ] {
                gather.replace("slice", node, other, 0.6);
            }
        }
    }
}

fn slice(node: Node<'_>, gather: &mut Gather<'_>) {
    let text = gather.text(node).to_owned();
    let parts: Vec<String> = text.split(':').map(|part| part.trim().to_owned()).collect();
    if parts.len() > 3 {
        return;
    }
    let at = |index: usize| parts.get(index).cloned().unwrap_or_default();
    let (start, stop, step) = (at(0), at(1), at(2));
    let write = |start: &str, stop: &str, step: &str| {
        if step.is_empty() { format!("{start}:{stop}") } else { format!("{start}:{stop}:{step}") }
    };
    let mut variants = vec![
        write("", &stop, &step),
        write(&start, "", &step),
        write(&stop, &start, &step),
        write(&start, &stop, ""),
        write(&start, &stop, "-1"),
        write(&start, &stop, "2"),
        write("1", &stop, &step),
        write(&start, "-1", &step),
    ];
    for delta in [" + 1", " - 1"] {
        if !stop.is_empty() {
            variants.push(write(&start, &format!("{stop}{delta}"), &step));
        }
        if !start.is_empty() {
            variants.push(write(&format!("{start}{delta}"), &stop, &step));
        }
    }
    for variant in variants {
        gather.replace("off by one", node, variant, 0.8);
    }
}

fn choice(node: Node<'_>, gather: &mut Gather<'_>) {
    let count = node.named_child_count();
    if count != 3 {
        return;
    }
    let (Some(a), Some(b), Some(c)) =
        (node.named_child(0), node.named_child(1), node.named_child(2))
    else {
        return;
    };
    // Python: a if condition else c. JavaScript: condition ? b : c.
    let (yes, no) = if gather.spelling.indented { (a, c) } else { (b, c) };
    let middle = gather.source.get(yes.end_byte()..no.start_byte()).unwrap_or_default();
    let text = format!("{}{middle}{}", gather.text(no), gather.text(yes));
    gather.put("swap branches", yes.start_byte()..no.end_byte(), text, 1.2);
    for side in [yes, no] {
        let text = gather.text(side).to_owned();
        gather.replace("swap branches", node, text, 0.6);
    }
}

fn sequence(node: Node<'_>, gather: &mut Gather<'_>) {
    let mut cursor = node.walk();
    let items: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    if items.len() <= 6 {
        swaps(&items, "swap elements", 1.0, gather);
    }
    if (2..=6).contains(&items.len()) && matches!(node.kind(), "list" | "array" | "tuple" | "set") {
        for item in &items {
            let rest: Vec<&str> = items
                .iter()
                .filter(|other| *other != item)
                .map(|other| gather.text(*other))
                .collect();
            let all = gather.text(node);
            let (open, close) =
                (all.chars().next().unwrap_or('['), all.chars().last().unwrap_or(']'));
            let text = format!("{open}{}{close}", rest.join(", "));
            gather.replace("drop operand", node, text, 0.3);
        }
    }
}

fn augment(node: Node<'_>, gather: &mut Gather<'_>) {
    let Some(token) = operator(node) else { return };
    let old = gather.text(token).to_owned();
    let others = gather.spelling.augmented;
    for other in others {
        let factor = affinity(old.trim_end_matches('='), other.trim_end_matches('='));
        gather.replace("augmented assignment", token, *other, factor);
    }
    gather.replace("augmented assignment", token, "=", 0.6);
}

fn update(node: Node<'_>, gather: &mut Gather<'_>) {
    let old = gather.text(node).to_owned();
    let other = if old.contains("++") { old.replace("++", "--") } else { old.replace("--", "++") };
    gather.replace("update", node, other, 1.0);
}

fn assign(node: Node<'_>, gather: &mut Gather<'_>) {
    let (Some(left), Some(right)) =
        (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return;
    };
    let between = left.end_byte()..right.start_byte();
    for (token, factor) in [(" += ", 1.2), (" -= ", 0.4), (" *= ", 0.3)] {
        gather.put("augmented assignment", between.clone(), token.to_owned(), factor);
    }
    let (l, r) = (gather.text(left).to_owned(), gather.text(right).to_owned());
    if kind(right) == Kind::Name || kind(right) == Kind::Member || kind(right) == Kind::Subscript {
        gather.replace("swap operands", node, format!("{r} = {l}"), 0.5);
    }
    // x = a becomes x = x + a, max(x, a), min(x, a).
    if kind(left) == Kind::Name {
        let (max, min) =
            if gather.spelling.indented { ("max", "min") } else { ("Math.max", "Math.min") };
        for text in [
            format!("{max}({l}, {r})"),
            format!("{min}({l}, {r})"),
            format!("{r} + {l}"),
            format!("{l} + {r}"),
        ] {
            gather.replace("wrap in call", right, text, 0.5);
        }
    }
}
