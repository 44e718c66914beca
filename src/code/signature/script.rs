//! Functions of a JavaScript or TypeScript file.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::factory;
use super::kind::{annotated, defaulted, documented, is_plain, keys, used};
use super::unsupported::unsupported_reason;
use super::{Callable, Class, Parameter, line, literals, of};

/// Local name to exported name.
pub(super) type Exports = BTreeMap<String, String>;

/// All functions of a module.
pub fn callables(root: Node<'_>, text: &str) -> Vec<Callable> {
    let (_, mut found) = outermost(root, text);
    // What one place gives away counts before what another one keeps.
    found.sort_by_key(|one| one.export.is_none());
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|one: &Callable| seen.insert(one.name.clone()));
    found.sort_by_key(|one| one.start);
    found
}

/// Names that leave a module by statements about them, and the functions of its outermost level.
fn outermost(root: Node<'_>, text: &str) -> (Exports, Vec<Callable>) {
    let mut exports = Exports::new();
    collect_exports(root, text, &mut exports);
    let mut found = Vec::new();
    let mut cursor = root.walk();
    for child in root.named_children(&mut cursor) {
        top_level(child, child, text, &exports, &mut found);
    }
    for (body, own) in factory::scopes(root, text) {
        let mut cursor = body.walk();
        for child in body.named_children(&mut cursor) {
            top_level(child, child, text, &own, &mut found);
        }
        exports.extend(own);
    }
    (exports, found)
}

/// Local names that leave a module, with the names under which they do; functions of an object that
/// leaves it by their keys, a default export without a name as `default`.
pub fn exports(root: Node<'_>, text: &str) -> Exports {
    let (mut exports, found) = outermost(root, text);
    let mut cursor = root.walk();
    for child in root.named_children(&mut cursor) {
        if child.kind() == "export_statement" {
            objects(child, text, &mut exports);
        }
    }
    for one in found.into_iter().filter(|one| one.class.is_none()) {
        if let Some(outside) = one.export {
            exports.entry(one.name).or_insert(outside);
        }
    }
    exports
}

/// Keys of functions in an object that an `export` gives away.
fn objects(statement: Node<'_>, text: &str, exports: &mut Exports) {
    let mut open = vec![statement];
    while let Some(node) = open.pop() {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            let name = child.child_by_field_name("key").or(child.child_by_field_name("name"));
            match (node.kind(), child.kind(), name) {
                ("object", "pair" | "method_definition", Some(name)) => {
                    exports.insert(of(name, text).to_owned(), of(name, text).to_owned());
                    open.extend(child.child_by_field_name("value"));
                }
                (_, "object" | "lexical_declaration" | "variable_declarator", _) => {
                    open.push(child);
                }
                _ => {}
            }
        }
    }
}

/// Names that leave the file: `export`, `module.exports`, `exports.x`.
fn collect_exports(root: Node<'_>, text: &str, exports: &mut Exports) {
    let mut cursor = root.walk();
    for child in root.named_children(&mut cursor) {
        match child.kind() {
            "export_statement" => {
                let is_default = of(child, text).starts_with("export default");
                if let Some(declaration) = child.child_by_field_name("declaration") {
                    for name in declared(declaration, text) {
                        let outside = if is_default { "default".to_owned() } else { name.clone() };
                        exports.insert(name, outside);
                    }
                }
                if let Some(value) = child.child_by_field_name("value")
                    && value.kind() == "identifier"
                {
                    exports.insert(of(value, text).to_owned(), "default".into());
                }
                let mut inner = child.walk();
                for clause in child.named_children(&mut inner) {
                    if clause.kind() == "export_clause"
                        && child.child_by_field_name("source").is_none()
                    {
                        specifiers(clause, text, exports);
                    }
                }
            }
            "expression_statement" => {
                if let Some(assignment) =
                    child.named_child(0).filter(|one| one.kind() == "assignment_expression")
                {
                    assigned(assignment, text, exports);
                }
            }
            _ => {}
        }
    }
}

fn declared(node: Node<'_>, text: &str) -> Vec<String> {
    if let Some(name) = node.child_by_field_name("name") {
        return vec![of(name, text).to_owned()];
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| child.kind() == "variable_declarator")
        .filter_map(|child| child.child_by_field_name("name"))
        .map(|name| of(name, text).to_owned())
        .collect()
}

fn specifiers(clause: Node<'_>, text: &str, exports: &mut Exports) {
    let mut cursor = clause.walk();
    for one in clause.named_children(&mut cursor) {
        if let Some(name) = one.child_by_field_name("name") {
            let outside = one.child_by_field_name("alias").unwrap_or(name);
            exports.insert(of(name, text).to_owned(), of(outside, text).to_owned());
        }
    }
}

/// `module.exports = f`, `module.exports = { f, g: h }`, `module.exports.f = …`, `exports.f = …`.
pub(super) fn assigned(node: Node<'_>, text: &str, exports: &mut Exports) {
    let (Some(left), Some(right)) =
        (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return;
    };
    let target = of(left, text);
    if target == "module.exports" {
        match right.kind() {
            "identifier" => {
                exports.insert(of(right, text).to_owned(), "default".into());
            }
            "function_expression" | "arrow_function" | "class" => {
                if let Some(name) = right.child_by_field_name("name") {
                    exports.insert(of(name, text).to_owned(), "default".into());
                }
            }
            "object" => {
                let mut cursor = right.walk();
                for member in right.named_children(&mut cursor) {
                    match member.kind() {
                        "shorthand_property_identifier" => {
                            let name = of(member, text).to_owned();
                            exports.insert(name.clone(), name);
                        }
                        "pair" => {
                            let key = member.child_by_field_name("key").map(|key| of(key, text));
                            let value = member.child_by_field_name("value");
                            if let (Some(key), Some(value)) = (key, value)
                                && value.kind() == "identifier"
                            {
                                exports.insert(of(value, text).to_owned(), key.to_owned());
                            }
                        }
                        _ => {}
                    }
                }
            }
            "assignment_expression" => assigned(right, text, exports),
            _ => {}
        }
        return;
    }
    let name = target.strip_prefix("module.exports.").or_else(|| target.strip_prefix("exports."));
    if let Some(name) = name.filter(|name| !name.contains(['.', '['])) {
        if right.kind() == "identifier" {
            exports.insert(of(right, text).to_owned(), name.to_owned());
        } else {
            exports.insert(name.to_owned(), name.to_owned());
        }
    }
}

/// `statement` is where documentation stands before.
fn top_level(
    node: Node<'_>,
    statement: Node<'_>,
    text: &str,
    exports: &Exports,
    found: &mut Vec<Callable>,
) {
    match node.kind() {
        "export_statement" => {
            if let Some(inner) = node.child_by_field_name("declaration") {
                top_level(inner, statement, text, exports, found);
            } else if let Some(value) = node.child_by_field_name("value") {
                // `export default function (…)` and `export default (…) => …` have no name.
                put("default", value, statement, text, Some("default".into()), found);
            }
        }
        "function_declaration" | "generator_function_declaration" => {
            let name = node.child_by_field_name("name").map_or("", |name| of(name, text));
            put(name, node, statement, text, exports.get(name).cloned(), found);
        }
        "lexical_declaration" | "variable_declaration" => {
            let mut cursor = node.walk();
            for one in node.named_children(&mut cursor) {
                let name = one.child_by_field_name("name").map_or("", |name| of(name, text));
                if let Some(value) = one.child_by_field_name("value") {
                    put(name, value, statement, text, exports.get(name).cloned(), found);
                }
            }
        }
        "expression_statement" => {
            let assignment =
                node.named_child(0).filter(|one| one.kind() == "assignment_expression");
            let left = assignment.and_then(|one| one.child_by_field_name("left"));
            let right = assignment.and_then(|one| one.child_by_field_name("right"));
            if let (Some(left), Some(right)) = (left, right) {
                let target = of(left, text);
                let inner = right
                    .child_by_field_name("right")
                    .filter(|_| right.kind() == "assignment_expression");
                let right = inner.unwrap_or(right);
                if target == "module.exports" {
                    let name = right.child_by_field_name("name");
                    let name = name.map_or("default", |name| of(name, text));
                    put(name, right, statement, text, Some("default".into()), found);
                    if right.kind() == "object" {
                        members(right, text, found);
                    }
                } else if let Some(name) = target
                    .strip_prefix("module.exports.")
                    .or_else(|| target.strip_prefix("exports."))
                    && !name.contains(['.', '['])
                {
                    put(name, right, statement, text, Some(name.to_owned()), found);
                }
            }
        }
        "class_declaration" => of_class(node, text, exports, found),
        _ => {}
    }
}

/// Functions that are written inside `module.exports = { … }`.
fn members(object: Node<'_>, text: &str, found: &mut Vec<Callable>) {
    let mut cursor = object.walk();
    for member in object.named_children(&mut cursor) {
        let key = member.child_by_field_name("key").or_else(|| member.child_by_field_name("name"));
        let name = key.map_or("", |key| of(key, text)).to_owned();
        let value = if member.kind() == "pair" {
            member.child_by_field_name("value")
        } else {
            (member.kind() == "method_definition").then_some(member)
        };
        if let Some(value) = value {
            put(&name, value, member, text, Some(name.clone()), found);
        }
    }
}

fn of_class(node: Node<'_>, text: &str, exports: &Exports, found: &mut Vec<Callable>) {
    let name = node.child_by_field_name("name").map_or("", |name| of(name, text));
    let Some(body) = node.child_by_field_name("body") else { return };
    let extends = node.named_child(1).is_some_and(|child| child.kind() == "class_heritage");
    let mut cursor = body.walk();
    let methods: Vec<Node<'_>> = body
        .named_children(&mut cursor)
        .filter(|member| member.kind() == "method_definition")
        .collect();
    let called = |member: &Node<'_>| member.child_by_field_name("name").map(|name| of(name, text));
    let constructor = methods.iter().find(|member| called(member) == Some("constructor"));
    let made = match constructor {
        Some(member) => Some(parameters(*member, *member, text)),
        None if extends => None,
        None => Some(Vec::new()),
    };
    for member in &methods {
        let source = of(*member, text);
        let own = called(member).unwrap_or_default();
        let is_static = source.starts_with("static ");
        let plain = own.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        if own == "constructor" || own.starts_with(['_', '#']) || !plain {
            continue;
        }
        let mut one = Vec::new();
        put(own, *member, *member, text, exports.get(name).cloned(), &mut one);
        for mut callable in one {
            callable.name = format!("{name}.{own}");
            callable.class = Some(Class {
                name: name.to_owned(),
                parameters: made.clone().filter(|_| !is_static).unwrap_or_default(),
                is_static,
            });
            let accessor = ["get ", "set ", "static get ", "static set "];
            if accessor.iter().any(|mark| source.starts_with(mark)) {
                callable.unsupported = Some("it is a property".into());
            } else if made.is_none() && !is_static && callable.unsupported.is_none() {
                callable.unsupported = Some("its class cannot be made from its text".into());
            }
            found.push(callable);
        }
    }
}

fn put(
    name: &str,
    node: Node<'_>,
    statement: Node<'_>,
    text: &str,
    export: Option<String>,
    found: &mut Vec<Callable>,
) {
    let is_function = matches!(
        node.kind(),
        "function_declaration"
            | "generator_function_declaration"
            | "function_expression"
            | "generator_function"
            | "arrow_function"
            | "method_definition"
    );
    let (true, Some(body)) = (is_function, node.child_by_field_name("body")) else { return };
    if name.starts_with('_') || name.is_empty() {
        return;
    }
    let given = parameters(node, statement, text);
    let names: Vec<&str> = given.iter().map(|parameter| parameter.name.as_str()).collect();
    let unsupported = match &export {
        None => Some("it is not exported".to_owned()),
        Some(_) => unsupported_reason(node, &names, text),
    };
    found.push(Callable {
        name: name.to_owned(),
        start: line(node.start_position().row),
        end: line(node.end_position().row),
        class: None,
        literals: literals(body, text),
        around: Vec::new(),
        examples: Vec::new(),
        parameters: given,
        export,
        unsupported,
    });
}

/// Keys that a pattern such as `{ a, b = 2, c: d }` takes out.
fn fields(pattern: Node<'_>, text: &str) -> Vec<String> {
    let mut cursor = pattern.walk();
    let keys = pattern.named_children(&mut cursor).filter_map(|one| match one.kind() {
        "shorthand_property_identifier_pattern" => Some(one),
        "pair_pattern" => one.child_by_field_name("key"),
        "object_assignment_pattern" => one.child_by_field_name("left"),
        _ => None,
    });
    keys.map(|key| of(key, text).to_owned()).filter(|key| is_plain(key)).collect()
}

fn parameters(node: Node<'_>, statement: Node<'_>, text: &str) -> Vec<Parameter> {
    let body = node.child_by_field_name("body").map_or("", |body| of(body, text));
    let comment = statement.prev_sibling().filter(|before| before.kind() == "comment");
    let documentation = comment.map_or("", |comment| of(comment, text));
    let list = node.child_by_field_name("parameters");
    let single = node.child_by_field_name("parameter");
    let mut cursor = node.walk();
    let mut inner = list.map(|list| list.walk());
    let nodes: Vec<Node<'_>> = match (list, inner.as_mut()) {
        (Some(list), Some(inner)) => list.named_children(inner).collect(),
        _ => node.named_children(&mut cursor).filter(|one| Some(*one) == single).collect(),
    };
    let mut found = Vec::new();
    for one in nodes {
        let typed = matches!(one.kind(), "required_parameter" | "optional_parameter");
        let mut target =
            if typed { one.child_by_field_name("pattern").unwrap_or(one) } else { one };
        let mut value = if typed { one.child_by_field_name("value") } else { None };
        if target.kind() == "assignment_pattern" {
            value = target.child_by_field_name("right");
            target = target.child_by_field_name("left").unwrap_or(target);
        }
        if target.kind() == "comment" {
            continue;
        }
        let rest = target.kind() == "rest_pattern";
        let name = of(target, text).trim_start_matches("...").to_owned();
        let kind = one.child_by_field_name("type").map(|kind| of(kind, text));
        let mut types =
            kind.map(|kind| annotated(kind.trim_start_matches(':'))).unwrap_or_default();
        if types.is_empty() {
            types = documented(documentation, &name);
        }
        if types.is_empty() {
            types.extend(value.map(|value| defaulted(of(value, text))).unwrap_or_default());
            types.extend(match target.kind() {
                "object_pattern" => vec![super::Type::Map],
                "array_pattern" => vec![super::Type::List(&super::Type::Any)],
                _ => used(body, &name),
            });
        }
        types.dedup();
        let optional = value.is_some() || rest || one.kind() == "optional_parameter";
        let keys = match target.kind() {
            "object_pattern" => fields(target, text),
            _ => keys(body, &name),
        };
        found.push(Parameter { name, types, optional, rest, keys });
    }
    found
}
