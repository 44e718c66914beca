//! Edits of statements: drop, insert, move, guard, return something else.

use tree_sitter::Node;

use super::table::{Kind, kind};
use super::{Gather, is_function};

/// Notes all edits of one node.
pub fn edits(node: Node<'_>, own: Kind, gather: &mut Gather<'_>) {
    match own {
        Kind::Return => returned(node, gather),
        Kind::If | Kind::While => truths(node, gather),
        Kind::Block => block(node, gather),
        _ => {}
    }
    match node.kind() {
        "break_statement" => {
            gather.replace("return", node, format!("continue{}", gather.spelling.end), 1.0);
        }
        "continue_statement" => {
            gather.replace("return", node, format!("break{}", gather.spelling.end), 1.0);
        }
        "elif_clause" => {
            let text = gather.text(node);
            let text = text.strip_prefix("el").unwrap_or(text).to_owned();
            gather.replace("guard", node, text, 1.5);
        }
        _ => {}
    }
}

fn returned(node: Node<'_>, gather: &mut Gather<'_>) {
    flip_returns(node, gather);
    let end = gather.spelling.end;
    let value = node.named_child(0).map(|value| gather.text(value).to_owned()).unwrap_or_default();
    let [yes, no] = gather.spelling.truths;
    let names: Vec<String> = gather.scope.names.iter().take(10).cloned().collect();
    for other in names {
        gather.replace("return", node, format!("return {other}{end}"), 0.8);
    }
    for (other, factor) in [
        (yes, 0.5),
        (no, 0.5),
        (gather.spelling.nothing, 0.5),
        ("0", 0.4),
        ("1", 0.3),
        ("[]", 0.5),
        ("\"\"", 0.3),
        ("-1", 0.4),
    ] {
        gather.replace("return", node, format!("return {other}{end}"), factor);
    }
    if !value.is_empty() && value.len() < 120 && !value.contains('\n') {
        let not = gather.spelling.not;
        gather.replace("negate", node, format!("return {not}({value}){end}"), 0.5);
        if gather.spelling.indented {
            gather.replace("return", node, format!("return ({value}) % 2 == 1"), 0.1);
        }
    }
}

/// Every returned truth of the function turned round, as one edit.
fn flip_returns(node: Node<'_>, gather: &mut Gather<'_>) {
    if node.named_child(0).map(kind) != Some(Kind::Truth) {
        return;
    }
    let mut unit = node;
    while let Some(parent) = unit.parent().filter(|_| !is_function(unit)) {
        unit = parent;
    }
    let mut truths = Vec::new();
    returned_truths(unit, unit, &mut truths);
    let (Some(first), Some(last)) = (truths.first(), truths.last()) else { return };
    if truths.len() < 2 {
        return;
    }
    let range = first.start_byte()..last.end_byte();
    let [yes, no] = gather.spelling.truths;
    let mut text = String::new();
    let mut from = range.start;
    for truth in &truths {
        text.push_str(gather.source.get(from..truth.start_byte()).unwrap_or_default());
        text.push_str(if gather.text(*truth) == yes { no } else { yes });
        from = truth.end_byte();
    }
    gather.put_sized("flip returns", range, text, 1.0, 4 * truths.len());
}

fn returned_truths<'tree>(node: Node<'tree>, unit: Node<'tree>, found: &mut Vec<Node<'tree>>) {
    if node != unit && is_function(node) {
        return;
    }
    if kind(node) == Kind::Return
        && let Some(value) = node.named_child(0).filter(|value| kind(*value) == Kind::Truth)
    {
        found.push(value);
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        returned_truths(child, unit, found);
    }
}

/// A condition that is always or never met.
fn truths(node: Node<'_>, gather: &mut Gather<'_>) {
    let Some(condition) = node.child_by_field_name("condition") else { return };
    let [yes, no] = gather.spelling.truths;
    let wrap = |text: &str| {
        if condition.kind() == "parenthesized_expression" {
            format!("({text})")
        } else {
            text.to_owned()
        }
    };
    gather.replace("guard", condition, wrap(no), 0.5);
    gather.replace("guard", condition, wrap(yes), 0.4);
    // A loop that must run once more or less often is often an if, and the other way round.
    if gather.spelling.indented {
        let start = node.start_byte();
        let begins = |word: &str| gather.text(node).starts_with(word);
        if begins("if ") && node.child_by_field_name("alternative").is_none() {
            gather.put("guard", start..start + 3, "while ".into(), 2.0);
        } else if begins("while ") {
            gather.put("guard", start..start + 6, "if ".into(), 1.0);
        }
    }
}

/// Edits between the statements of a block.
fn block(node: Node<'_>, gather: &mut Gather<'_>) {
    let mut cursor = node.walk();
    let statements: Vec<Node<'_>> =
        node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect();
    let wanted = |node: &Node<'_>, gather: &Gather<'_>| {
        let line = u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX);
        (gather.wanted)(line)
    };
    let module = matches!(node.kind(), "module" | "program");
    for (index, statement) in statements.iter().enumerate() {
        if !wanted(statement, gather) {
            continue;
        }
        let definition = statement.kind().contains("definition")
            || statement.kind().contains("declaration") && statement.kind().contains("function")
            || statement.kind().contains("import")
            || statement.kind().contains("class")
            || statement.kind().starts_with("export");
        if definition {
            continue;
        }
        if statements.len() > 1 {
            drop(*statement, gather);
        } else if gather.spelling.indented && kind(*statement) != Kind::Return {
            gather.replace("drop statement", *statement, "pass", 0.5);
        }
        if !module {
            insert(*statement, gather);
        }
        if let Some(next) = statements.get(index + 1) {
            exchange(*statement, *next, gather);
        }
        if gather.spelling.indented {
            shift(node, &statements, index, gather);
            unwrap_if(*statement, gather);
        }
    }
}

/// Whole lines of a statement, with the line break.
fn lines_of(node: Node<'_>, gather: &Gather<'_>) -> std::ops::Range<usize> {
    let start = node.start_byte() - indent_of(node, gather).len();
    let rest = gather.source.get(node.end_byte()..).unwrap_or_default();
    let end = rest.find('\n').map_or(gather.source.len(), |at| node.end_byte() + at + 1);
    start..end
}

fn indent_of(node: Node<'_>, gather: &Gather<'_>) -> String {
    let before = gather.source.get(..node.start_byte()).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    if line.trim().is_empty() { line.to_owned() } else { String::new() }
}

/// Whether a statement begins its line.
fn begins_line(node: Node<'_>, gather: &Gather<'_>) -> bool {
    let before = gather.source.get(..node.start_byte()).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default().trim().is_empty()
}

fn drop(node: Node<'_>, gather: &mut Gather<'_>) {
    if begins_line(node, gather) {
        let range = lines_of(node, gather);
        gather.put("drop statement", range, String::new(), 1.0);
    }
}

/// A guard or a statement from nearby, before this one.
fn insert(node: Node<'_>, gather: &mut Gather<'_>) {
    if !begins_line(node, gather) {
        return;
    }
    let indent = indent_of(node, gather);
    let start = node.start_byte();
    let end = gather.spelling.end;
    let mut ways: Vec<String> = Vec::new();
    if inside_loop(node) {
        ways.extend([format!("continue{end}"), format!("break{end}")]);
    }
    let [yes, no] = gather.spelling.truths;
    ways.extend(
        [yes, no, gather.spelling.nothing, "0", "[]", "\"\""]
            .map(|value| format!("return {value}{end}")),
    );
    ways.extend(gather.scope.names.iter().take(4).map(|name| format!("return {name}{end}")));
    let mut conditions: Vec<String> = gather.scope.conditions.iter().take(6).cloned().collect();
    let equal = if gather.spelling.indented { "==" } else { "===" };
    for name in gather.scope.names.iter().take(4) {
        conditions.push(format!("{}{name}", gather.spelling.not));
        for number in ["0", "1"] {
            conditions.push(format!("{name} {equal} {number}"));
        }
        conditions.push(format!("{name} < 0"));
    }
    for condition in &conditions {
        for way in &ways {
            let text = if gather.spelling.indented {
                format!("if {condition}:\n{indent}    {way}\n{indent}")
            } else {
                format!("if ({condition}) {way}\n{indent}")
            };
            gather.put("guard", start..start, text, 0.5);
        }
    }
    for statement in gather.scope.statements.clone().into_iter().take(10) {
        gather.put("insert statement", start..start, format!("{statement}\n{indent}"), 0.6);
    }
    for text in calls_like_those_nearby(gather) {
        gather.put("insert statement", start..start, format!("{text}\n{indent}"), 0.7);
    }
    let names: Vec<String> = gather.scope.names.iter().take(6).cloned().collect();
    for name in names {
        for text in [
            format!("{name} += 1"),
            format!("{name} -= 1"),
            format!("{name} = 0"),
            format!("{name} = []"),
        ] {
            gather.put("insert statement", start..start, format!("{text}{end}\n{indent}"), 0.4);
        }
        if gather.spelling.indented {
            for text in [
                format!("{name} = sorted({name})"),
                format!("{name} = abs({name})"),
                format!("{name} = list({name})"),
                format!("{name} = {name}.lower()"),
                format!("{name} = {name}.strip()"),
            ] {
                gather.put("insert statement", start..start, format!("{text}\n{indent}"), 0.4);
            }
        }
    }
}

/// Statements such as `found.append(x)` with another argument: a value from nearby, or its first
/// or last element.
fn calls_like_those_nearby(gather: &Gather<'_>) -> Vec<String> {
    let mut made = Vec::new();
    let end = gather.spelling.end;
    for statement in &gather.scope.statements {
        let Some((call, rest)) = statement.split_once('(') else { continue };
        let simple = call.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        if !simple || !call.contains('.') || !rest.trim_end_matches(end).ends_with(')') {
            continue;
        }
        let receiver = call.split('.').next().unwrap_or_default();
        let names = gather.scope.names.iter().take(8).filter(|name| *name != receiver);
        for name in names {
            let last = if gather.spelling.indented {
                format!("{name}[-1]")
            } else {
                format!("{name}.at(-1)")
            };
            for argument in [name.clone(), last, format!("{name}[0]")] {
                let text = format!("{call}({argument}){end}");
                if !made.contains(&text) {
                    made.push(text);
                }
            }
        }
    }
    made.truncate(60);
    made
}

fn inside_loop(node: Node<'_>) -> bool {
    let mut parent = node.parent();
    while let Some(around) = parent {
        match kind(around) {
            Kind::For | Kind::While => return true,
            _ if super::is_function(around) => return false,
            _ => parent = around.parent(),
        }
    }
    false
}

fn exchange(first: Node<'_>, second: Node<'_>, gather: &mut Gather<'_>) {
    let simple = |node: Node<'_>| {
        matches!(
            node.kind(),
            "expression_statement" | "lexical_declaration" | "if_statement" | "return_statement"
        )
    };
    if !simple(first) || !simple(second) {
        return;
    }
    let middle = gather.source.get(first.end_byte()..second.start_byte()).unwrap_or_default();
    let text = format!("{}{middle}{}", gather.text(second), gather.text(first));
    gather.put("move statement", first.start_byte()..second.end_byte(), text, 0.5);
}

/// Moves the last statement of a block out of it, and the statement behind a block into it.
fn shift(node: Node<'_>, statements: &[Node<'_>], index: usize, gather: &mut Gather<'_>) {
    let Some(statement) = statements.get(index) else { return };
    if !begins_line(*statement, gather) {
        return;
    }
    let indent = indent_of(*statement, gather);
    if index + 1 == statements.len()
        && index > 0
        && let Some(outer) =
            node.parent().filter(|outer| matches!(kind(*outer), Kind::If | Kind::For | Kind::While))
    {
        let start = statement.start_byte() - indent.len();
        let less = indent_of(outer, gather);
        if less.len() < indent.len() {
            let text = reindent(
                gather.source.get(start..statement.end_byte()).unwrap_or_default(),
                &indent,
                &less,
            );
            gather.put("move statement", start..statement.end_byte(), text, 1.0);
        }
    }
    if let Some(before) = index.checked_sub(1).and_then(|previous| statements.get(previous))
        && matches!(kind(*before), Kind::If | Kind::For | Kind::While)
    {
        let start = statement.start_byte() - indent.len();
        for depth in 1..=2 {
            let more = format!("{indent}{}", "    ".repeat(depth));
            let text = reindent(
                gather.source.get(start..statement.end_byte()).unwrap_or_default(),
                &indent,
                &more,
            );
            gather.put("move statement", start..statement.end_byte(), text, 0.7);
        }
    }
}

fn reindent(text: &str, from: &str, to: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| {
            line.strip_prefix(from).map_or_else(|| line.to_owned(), |rest| format!("{to}{rest}"))
        })
        .collect();
    lines.join("\n")
}

/// `if c: body` becomes `body`.
fn unwrap_if(node: Node<'_>, gather: &mut Gather<'_>) {
    if node.kind() != "if_statement" || node.child_by_field_name("alternative").is_some() {
        return;
    }
    let Some(body) = node.child_by_field_name("consequence") else { return };
    let (outer, Some(first)) = (indent_of(node, gather), body.named_child(0)) else { return };
    let inner = indent_of(first, gather);
    if inner.is_empty() {
        return;
    }
    let text = reindent(&format!("{inner}{}", gather.text(body)), &inner, &outer);
    let text = text.strip_prefix(outer.as_str()).unwrap_or(&text).to_owned();
    gather.replace("drop statement", node, text, 1.0);
}
