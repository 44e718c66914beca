//! Edit operators that insert statements: guards, copies of others, updates and assignments of variables.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::edit_site::{EditList, EditSite, first};
use super::node_kind::{NodeKind, is_function};
use super::spelling::has_package;
use super::statement::{indent_of, return_of};
use crate::code::tree::{first_field, named_nodes, statements};
use NodeKind::{Assign, Augment, Block, Call, For, Name, Return, Update, While};

/// Inserts a statement on a separate line before this one.
fn insert_before(text: &str, site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let start = site.node.start_byte();
    edits.put(start..start, format!("{text}\n{}", indent_of(site.node, site)));
}

/// Inserts a guard before the statement that leaves the function or the loop.
pub fn missing_guard(site: &EditSite<'_>, edits: &mut EditList<'_>) {
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
            insert_before(&guard, site, edits);
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
        insert_before(statement, site, edits);
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
        insert_before(call, site, edits);
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
            insert_before(&format!("{open}{name}{close}{}", site.spelling.end), site, edits);
        }
    }
}

/// Inserts a change of a variable, such as an increment.
pub fn variable_change(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for name in site.names(6) {
        let empty = if site.spelling.is_typed { "= 0" } else { "= []" };
        for change in ["+= 1", "-= 1", "= 0", empty] {
            insert_before(&format!("{name} {change}{}", site.spelling.end), site, edits);
        }
        for (open, close) in site.spelling.reassignments {
            insert_before(
                &format!("{name} = {open}{name}{close}{}", site.spelling.end),
                site,
                edits,
            );
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
            insert_before(&format!("{target} = {other}{}", site.spelling.end), site, edits);
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
        insert_before(copy, site, edits);
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
