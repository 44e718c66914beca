//! Edits of expressions.

use tree_sitter::Node;

use super::Gather;
use super::constant;
use super::name::{is_read, name, property};
use super::operator::{affinity, binary};
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
