//! Finds the callable functions and methods of a Python file.

use tree_sitter::Node;

use crate::code::language::Language;

use super::parameter_names::suggested_types;
use super::parameter_types::{annotated, defaulted, documented, keys, used};
use super::unsupported::unsupported_reason;
use super::{Callable, Class, Parameter, Passing, Type, literals};
use crate::code::tree::{end_line, field_of, line, named_children, text_of};

/// Decorators that do not change how a function is called.
const HARMLESS: &[&str] = &[
    "lru_cache",
    "cache",
    "wraps",
    "staticmethod",
    "classmethod",
    "total_ordering",
    "dataclass",
    "final",
    "override",
    "typing.final",
];

/// All functions and methods of a module.
pub fn callables(root: Node<'_>, text: &str) -> Vec<Callable> {
    let mut found = Vec::new();
    for child in named_children(root) {
        let (node, decorators) = undecorated(child, text);
        match node.kind() {
            "function_definition" => found.extend(function(node, text, None, &decorators)),
            "class_definition" => of_class(node, text, &decorators, &mut found),
            _ => {}
        }
    }
    found
}

fn undecorated<'tree>(node: Node<'tree>, text: &str) -> (Node<'tree>, Vec<String>) {
    if node.kind() != "decorated_definition" {
        return (node, Vec::new());
    }
    let marks = named_children(node).into_iter().filter(|child| child.kind() == "decorator");
    let decorators =
        marks.map(|mark| text_of(mark, text).trim_start_matches('@').trim().to_owned());
    (node.child_by_field_name("definition").unwrap_or(node), decorators.collect())
}

fn of_class(node: Node<'_>, text: &str, decorators: &[String], found: &mut Vec<Callable>) {
    let name = field_of(node, "name", text);
    let bases = field_of(node, "superclasses", text);
    let Some(body) = node.child_by_field_name("body") else { return };
    if name.starts_with('_') || name.starts_with("Test") || bases.contains("TestCase") {
        return;
    }
    let is_data = decorators.iter().any(|one| one.contains("dataclass"));
    let members: Vec<_> =
        named_children(body).into_iter().map(|child| undecorated(child, text)).collect();
    let initialiser =
        members.iter().find(|(member, _)| field_of(*member, "name", text) == "__init__");
    let constructor: Option<Vec<Parameter>> = if let Some((member, _)) = initialiser {
        Some(parameters(*member, text, 1))
    } else if is_data {
        Some(fields(&members, text))
    } else if bases.is_empty() || bases == "()" || bases == "(object)" {
        Some(Vec::new())
    } else {
        // The constructor may be inherited from a base class that is not in this file.
        None
    };
    for (member, marks) in members {
        if member.kind() != "function_definition" {
            continue;
        }
        let is_static = marks.iter().any(|mark| mark == "staticmethod" || mark == "classmethod");
        let class = Class {
            name: name.to_owned(),
            parameters: constructor.clone().filter(|_| !is_static).unwrap_or_default(),
            is_static,
        };
        if let Some(mut callable) = function(member, text, Some(class), &marks) {
            if !is_static && constructor.is_none() && callable.unsupported.is_none() {
                callable.unsupported = Some("its class cannot be made from its text".into());
            }
            found.push(callable);
        }
    }
}

/// The fields of a data class as parameters of its constructor.
fn fields(members: &[(Node<'_>, Vec<String>)], text: &str) -> Vec<Parameter> {
    let statements = members.iter().filter(|(node, _)| node.kind() == "expression_statement");
    statements
        .filter_map(|(node, _)| {
            let assignment = node.named_child(0).filter(|child| child.kind() == "assignment")?;
            assignment.child_by_field_name("type")?;
            Some(Parameter {
                name: field_of(assignment, "left", text).to_owned(),
                types: annotated(field_of(assignment, "type", text)),
                optional: assignment.child_by_field_name("right").is_some(),
                rest: false,
                passing: Passing::Either,
                keys: Vec::new(),
            })
        })
        .collect()
}

fn function(
    node: Node<'_>,
    text: &str,
    class: Option<Class>,
    decorators: &[String],
) -> Option<Callable> {
    let own = field_of(node, "name", text);
    if own.starts_with('_') || own.starts_with("test_") || own == "main" {
        return None;
    }
    let body = node.child_by_field_name("body")?;
    let of_class = decorators.iter().any(|mark| mark == "classmethod");
    let has_receiver = class.as_ref().is_some_and(|class| !class.is_static || of_class);
    let name =
        class.as_ref().map_or_else(|| own.to_owned(), |class| format!("{}.{own}", class.name));
    let given = parameters(node, text, usize::from(has_receiver));
    let names: Vec<&str> = given.iter().map(|parameter| parameter.name.as_str()).collect();
    let foreign = decorators.iter().find(|mark| {
        let head = mark.split('(').next().unwrap_or_default();
        !HARMLESS.contains(&head.rsplit('.').next().unwrap_or_default())
    });
    let unsupported = match foreign {
        Some(mark) => {
            let mark: String = mark.chars().take(40).collect();
            Some(format!("it is decorated with @{mark}"))
        }
        None => unsupported_reason(Language::Python, node, &names, text),
    };
    Some(Callable {
        start: line(node),
        end: end_line(node),
        parameters: given,
        literals: literals(body, text),
        around: Vec::new(),
        examples: Vec::new(),
        export: Some(own.to_owned()),
        unsupported,
        class,
        name,
    })
}

/// The parameters after the first `skipped`.
fn parameters(node: Node<'_>, text: &str, skipped: usize) -> Vec<Parameter> {
    let Some(list) = node.child_by_field_name("parameters") else { return Vec::new() };
    let body = node.child_by_field_name("body");
    let body_text = field_of(node, "body", text);
    let documentation = body.map_or("", |body| documentation(body, text));
    let mut found: Vec<Parameter> = Vec::new();
    let mut passing = Passing::Either;
    for child in named_children(list).into_iter().skip(skipped) {
        let (named, kind, value) = match child.kind() {
            "typed_parameter" => (child.named_child(0), child.child_by_field_name("type"), None),
            "default_parameter" | "typed_default_parameter" => (
                child.child_by_field_name("name"),
                child.child_by_field_name("type"),
                child.child_by_field_name("value"),
            ),
            "identifier" | "list_splat_pattern" => (Some(child), None, None),
            "keyword_separator" => {
                passing = Passing::Name;
                continue;
            }
            "positional_separator" => {
                for one in &mut found {
                    one.passing = Passing::Position;
                }
                continue;
            }
            _ => continue,
        };
        let Some(named) = named else { continue };
        let rest = named.kind() == "list_splat_pattern";
        let name = text_of(named, text).trim_start_matches('*').to_owned();
        if named.kind() == "dictionary_splat_pattern" {
            continue;
        }
        let mut types = kind.map(|kind| annotated(text_of(kind, text))).unwrap_or_default();
        if types.is_empty() {
            types = documented(documentation, &name);
        }
        if types.is_empty() || types == [Type::Nothing] {
            types.extend(value.map(|value| defaulted(text_of(value, text))).unwrap_or_default());
            types.extend(used(body_text, &name));
        }
        if types.is_empty() {
            types = suggested_types(&name);
        }
        types.dedup();
        let keys = keys(body_text, &name);
        let optional = value.is_some() || rest;
        found.push(Parameter { name, types, optional, rest, passing, keys });
        if rest {
            passing = Passing::Name;
        }
    }
    found
}

fn documentation<'a>(body: Node<'_>, text: &'a str) -> &'a str {
    let first = body.named_child(0).filter(|first| first.kind() == "expression_statement");
    let first = first.and_then(|first| first.named_child(0)).filter(|one| one.kind() == "string");
    first.map_or("", |first| text_of(first, text))
}
