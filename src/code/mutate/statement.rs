//! Edit operators for statements: drop, insert, move or guard them, or change what they return.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::edit_site::{EditList, EditSite, first};
use super::node_kind::{NodeKind, is_function};
use super::spelling::has_package;
use super::type_fit::{may_be_of, type_fit};
use super::value_types::DeclaredType;
use crate::code::tree::{first_field, named_nodes, statements, visit};
use NodeKind::{Assign, Augment, Block, Call, For, Name, Return, Truth, Update, While};

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

fn return_of(value: &str, site: &EditSite<'_>) -> String {
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
fn indent_of<'a>(node: Node<'_>, site: &EditSite<'a>) -> &'a str {
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

/// Inserts a statement on a separate line before this one.
fn insert(text: &str, site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let start = site.node.start_byte();
    edits.put(start..start, format!("{text}\n{}", indent_of(site.node, site)));
}

/// Inserts a guard before the statement that leaves the function or the loop.
pub fn guarded(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let (indent, end) = (indent_of(site.node, site), site.spelling.end);
    let [yes, no] = site.spelling.truths;
    let jumps = if is_in_loop(site.node) { ["continue", "break"].as_slice() } else { &[] };
    let mut exits: Vec<String> = jumps.iter().map(|jump| format!("{jump}{end}")).collect();
    let constants = [yes, no, site.spelling.nothing].into_iter();
    let values = constants.chain(site.spelling.empties.iter().copied()).chain(site.names(4));
    let fits = |value: &&str| !site.spelling.is_typed || site.scope.types.may_return(value);
    exits.extend(values.filter(fits).map(|value| return_of(value, site)));
    let mut conditions: Vec<String> = first(&site.scope.conditions, 6).map(str::to_owned).collect();
    for name in site.names(4) {
        conditions.push(format!("{}{name}", site.spelling.not));
        for number in ["0", "1"] {
            conditions.push(format!("{name} {} {number}", site.spelling.equal));
        }
        conditions.push(format!("{name} < 0"));
    }
    let (open, close) = site.spelling.if_affix;
    for condition in &conditions {
        for exit in &exits {
            let guard = match site.spelling.indentation {
                Some(level) => format!("{open}{condition}{close}\n{indent}{level}{exit}"),
                None => format!("{open}{condition}{close} {exit}{}", site.spelling.if_end),
            };
            insert(&guard, site, edits);
        }
    }
}

/// The calls that lock and unlock a mutex of Go.
const LOCKS: [(&str, &str); 2] = [(".Lock()", ".Unlock()"), (".RLock()", ".RUnlock()")];

/// Unlocks what the statement locks where its block does not.
pub fn deferred_unlock(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for (lock, unlock) in LOCKS {
        let is_unlock = |one: &Node<'_>| site.text_of(*one).contains(unlock);
        if let Some(object) = site.text.strip_suffix(lock)
            && !site.siblings.iter().any(is_unlock)
        {
            let (at, indent) = (site.node.end_byte(), indent_of(site.node, site));
            edits.put(at..at, format!("\n{indent}defer {object}{unlock}"));
        }
    }
}

/// Inserts a copy of another statement of the function.
pub fn repeated_statement(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for statement in first(&site.scope.statements, 10) {
        insert(statement, site, edits);
    }
}

/// Inserts a call such as `found.append(x)` with a variable, or its first or last element.
pub fn similar_call(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let mut calls: Vec<String> = Vec::new();
    let end = site.spelling.end;
    for statement in &site.scope.statements {
        let Some((call, rest)) = statement.split_once('(') else { continue };
        let simple = call.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        if !simple || !call.contains('.') || !rest.trim_end_matches(end).ends_with(')') {
            continue;
        }
        let receiver = call.split('.').next().unwrap_or_default();
        for name in site.names(8).filter(|name| *name != receiver) {
            for element in ["", site.spelling.last, "[0]"] {
                let text = format!("{call}({name}{element}){end}");
                if !calls.contains(&text) {
                    calls.push(text);
                }
            }
        }
    }
    for call in calls.iter().take(60) {
        insert(call, site, edits);
    }
}

/// Inserts what brings a returned sequence in order.
pub fn finished_result(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let inner = site.node.named_child(0).filter(|_| site.node.kind() == "expression_statement");
    let statement = inner.unwrap_or(site.node);
    let value = match NodeKind::of(statement) {
        Return => statement.named_child(0),
        // The last expression of a block is its result.
        Name if site.index + 1 == site.siblings.len() => Some(statement),
        _ => None,
    };
    let name = value.map(|value| site.text_of(value)).unwrap_or_default();
    if !site.scope.names.iter().any(|known| known == name) {
        return;
    }
    for (open, close) in site.spelling.finishers {
        if has_package(open, site.source) {
            insert(&format!("{open}{name}{close}{}", site.spelling.end), site, edits);
        }
    }
}

/// Inserts a change of a variable, such as an increment.
pub fn variable_change(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for name in site.names(6) {
        let empty = if site.spelling.is_typed { "= 0" } else { "= []" };
        for change in ["+= 1", "-= 1", "= 0", empty] {
            insert(&format!("{name} {change}{}", site.spelling.end), site, edits);
        }
        for (open, close) in site.spelling.reassignments {
            insert(&format!("{name} = {open}{name}{close}{}", site.spelling.end), site, edits);
        }
    }
}

/// Changes a variable of a loop's condition at the end of a block of the loop that changes none of them.
pub fn missing_update(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    /// Properties that may lead to the next element.
    const LINKS: usize = 4;
    let Some((condition, body)) = plain_loop(site) else { return };
    let names = named_nodes(condition).into_iter().map(|node| site.text_of(node));
    let is_known = |name: &&str| site.scope.names.iter().any(|one| one == name);
    let names: BTreeSet<&str> = names.filter(is_known).collect();
    let is_changed =
        |node: &Node<'_>| named_nodes(*node).iter().any(|one| changes(*one, &names, site));
    let always = statements(body).into_iter().filter(|one| !NodeKind::of(*one).has_body());
    if is_changed(&condition) || always.into_iter().any(|one| is_changed(&one)) {
        return;
    }
    let mut changed = Vec::new();
    for name in &names {
        let others = site.names(8).filter(|other| other != name);
        let others = others.filter(|other| site.scope.types.may_assign(name, other));
        let links = first(&site.scope.properties, LINKS).map(|link| format!("{name}.{link}"));
        let values = others.map(str::to_owned).chain(links).map(|value| format!("= {value}"));
        let changes = ["+= 1", "-= 1"].map(str::to_owned).into_iter().chain(values);
        changed.extend(changes.map(|change| format!("{name} {change}{}", site.spelling.end)));
    }
    let blocks = named_nodes(body).into_iter().filter(|node| NodeKind::of(*node) == Block);
    for block in blocks.filter(|block| !is_changed(block)) {
        let Some(last) = statements(block).pop() else { continue };
        let (at, indent) = (last.end_byte(), indent_of(last, site));
        for change in &changed {
            edits.put(at..at, format!("\n{indent}{change}"));
        }
    }
}

/// Whether a node changes one of the names of a condition, which a call may do where the condition has no other.
fn changes(node: Node<'_>, names: &BTreeSet<&str>, site: &EditSite<'_>) -> bool {
    let place = match NodeKind::of(node) {
        Assign | Augment => first_field(node, &["left", "name", "pattern"]),
        Update => node.named_child(0),
        Call if names.len() == 1 => {
            let object = site.text_of(node).split('.').next();
            return object.is_some_and(|object| names.contains(object));
        }
        _ => None,
    };
    place.is_some_and(|place| names.contains(site.text_of(place)))
}

/// The condition and the block of a loop that has nothing else.
fn plain_loop<'a>(site: &EditSite<'a>) -> Option<(Node<'a>, Node<'a>)> {
    let body = site.field("body")?;
    // A loop of Go has no field for its condition, and a list in its block.
    let head = site.node.named_child(0).filter(|head| *head != body && NodeKind::of(*head) != For);
    let list = body.named_child(0).filter(|list| list.kind() == "statement_list");
    let counts = first_field(site.node, &["increment", "update", "left"]).is_some();
    let condition = site.field("condition").or(head).filter(|_| !counts)?;
    Some((condition, list.unwrap_or(body)))
}

/// Inserts an assignment between two variables.
pub fn variable_copy(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for target in site.names(5) {
        let others = site.names(5).filter(|other| *other != target);
        for other in others.filter(|other| site.scope.types.may_assign(target, other)) {
            insert(&format!("{target} = {other}{}", site.spelling.end), site, edits);
        }
    }
}

/// Inserts a copy of another statement of the function with one of its variables exchanged, or the property that it
/// copies from one object to another.
pub fn adapted_statement(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    /// Most copies for one place.
    const COPIES: usize = 40;
    /// Properties that may be copied besides.
    const PROPERTIES: usize = 8;
    let mut copies: Vec<String> = Vec::new();
    for statement in first(&site.scope.statements, 6) {
        let is_copied = |name: &&String| statement.matches(&format!(".{name}")).count() > 1;
        for old in site.scope.properties.iter().filter(is_copied) {
            let others = first(&site.scope.properties, PROPERTIES).filter(|new| new != old);
            copies.extend(others.map(|new| with_name(statement, old, new)));
        }
        for old in site.names(6).filter(|name| statement.contains(*name)) {
            let others = site.names(5).filter(|new| *new != old);
            for new in others.filter(|new| site.scope.types.may_assign(old, new)) {
                copies.push(with_name(statement, old, new));
            }
        }
    }
    for copy in copies.iter().filter(|copy| copy.len() <= 60).take(COPIES) {
        insert(copy, site, edits);
    }
}

/// The text with a whole name exchanged wherever it stands.
fn with_name(text: &str, old: &str, new: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices(old) {
        let (before, rest) = (text.get(..at), text.get(at + old.len()..));
        let is_whole = !before.is_some_and(|text| text.ends_with(is_part))
            && !rest.is_some_and(|text| text.starts_with(is_part));
        if is_whole {
            found.push_str(text.get(from..at).unwrap_or_default());
            found.push_str(new);
            from = at + old.len();
        }
    }
    found.push_str(text.get(from..).unwrap_or_default());
    found
}

fn is_in_loop(node: Node<'_>) -> bool {
    std::iter::successors(node.parent(), Node::parent)
        .take_while(|around| !is_function(*around))
        .any(|around| matches!(NodeKind::of(around), For | While))
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

/// Adds an `else` that does to another variable what the branch before does to one.
pub fn missing_else(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let (Some(body), None) = (site.field("consequence"), site.field("alternative")) else { return };
    let [statement] = statements(body).try_into().unwrap_or([body]);
    let text = site.text_of(statement);
    if statement == body || text.len() > 60 || text.contains('\n') || text.contains("return") {
        return;
    }
    let indent = indent_of(site.node, site);
    let names: Vec<&str> = site.names(8).collect();
    for old in names.iter().filter(|name| text.contains(**name)) {
        for new in names.iter().filter(|new| *new != old) {
            let other = with_name(text, old, new);
            let branch = match site.spelling.indentation {
                Some(level) => format!("\n{indent}else:\n{indent}{level}{other}"),
                None => format!(" else {{ {other} }}"),
            };
            if other != text && site.scope.types.may_assign(old, new) {
                edits.put(site.node.end_byte()..site.node.end_byte(), branch);
            }
        }
    }
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
