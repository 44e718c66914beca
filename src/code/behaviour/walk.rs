//! Finds the functions of a syntax tree and reads their signatures; `body` reads their bodies.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::body::Walk;
use super::kinds::{self, Kind};
use super::{Behaviour, Parameter};
use crate::code::language::Language;
use crate::code::signature::factory_exports::assigned_function;
use crate::code::signature::module_exports;
use crate::code::signature::prototype_methods::prototype_methods;
use crate::code::tree::{children, end_line, field_of, first_field, line, text_of};

/// Maximum length of a quoted expression, in characters.
const EXPRESSION: usize = 120;

/// Return types of asynchronous Java methods.
const FUTURES: &[&str] = &["CompletableFuture<", "Mono<", "Flux<"];

/// Functions of JavaScript and TypeScript that are values.
const SCRIPT_FUNCTION_VALUES: &[&str] =
    &["arrow_function", "function_expression", "generator_function"];

/// The truncated source of a node on one line, without backticks as it is shown in code spans.
pub(super) fn one_line(node: Node<'_>, text: &str) -> String {
    let joined =
        text_of(node, text).split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    if joined.chars().count() <= EXPRESSION {
        return joined;
    }
    let mut short: String = joined.chars().take(EXPRESSION).collect();
    short.push('…');
    short
}

/// A field of a node on one line; empty when the node has no such field.
pub(super) fn field_line(node: Node<'_>, field: &str, text: &str) -> String {
    node.child_by_field_name(field).map(|child| one_line(child, text)).unwrap_or_default()
}

/// The node that holds the parameters and body; `None` if a variable holds no function.
pub fn callable(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "variable_declarator" | "pair" => node
            .child_by_field_name("value")
            .filter(|value| SCRIPT_FUNCTION_VALUES.contains(&value.kind())),
        _ => Some(node),
    }
}

/// A source whose functions are read.
#[derive(Clone, Copy)]
pub struct FunctionSource<'a> {
    pub language: Language,
    pub text: &'a str,
    /// The names that a script exports.
    pub exported: Option<&'a BTreeSet<String>>,
}

/// Collects the functions below a node, methods of classes included, nested functions excluded.
pub fn functions(
    node: Node<'_>,
    source: FunctionSource<'_>,
    prefix: &str,
    found: &mut Vec<Behaviour>,
) {
    let FunctionSource { language, text, exported: names } = source;
    let kind = kinds::of(node.kind());
    let field = |name: &str| node.child_by_field_name(name).and_then(|n| text.get(n.byte_range()));
    if let Some((name, own)) = exported(node, text) {
        found.push(behaviour(node, own, language, text, name));
        return;
    }
    if let Some((name, own)) = names.and_then(|names| set_on_exported(node, names, text)) {
        found.push(behaviour(own, own, language, text, name));
        return;
    }
    let methods = prototype_methods(node, text).into_iter().filter(|_| language.is_script());
    let methods = methods.map(|one| {
        let name = format!("{}.{}", one.class, one.name);
        behaviour(one.function, one.function, language, text, name)
    });
    let before = found.len();
    found.extend(methods);
    if found.len() > before {
        return;
    }
    if kind == Kind::Function
        && let Some(own) = callable(node)
        && let Some(name) = field("name").or_else(|| field("key"))
    {
        let receiver = receiver(node, text);
        let prefix = if receiver.is_empty() { prefix } else { &receiver };
        let name = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        found.push(behaviour(node, own, language, text, name));
        return;
    }
    let mut inner = prefix.to_owned();
    if kind == Kind::Group {
        if marks(node, text).iter().any(|mark| mark.contains("cfg(test)")) {
            return;
        }
        if let Some(name) = field("name").or_else(|| field("type")) {
            inner = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        }
    }
    for child in children(node) {
        functions(child, source, &inner, found);
    }
}

/// A function that a script exports where it is written: `export default (a) => …`,
/// `module.exports = function (a) …`, `exports.f = …`. One without a name is called `default`.
fn exported<'a>(node: Node<'a>, text: &str) -> Option<(String, Node<'a>)> {
    let (name, own) = match node.kind() {
        "export_statement" => ("default", node.child_by_field_name("value")?),
        "assignment_expression" => {
            let own = module_exports::assigned_value(node)?;
            match field_of(node, "left", text) {
                "module.exports" => ("default", own),
                target => (module_exports::member(target)?, own),
            }
        }
        _ => return None,
    };
    let is_function =
        own.kind() == "function_declaration" || SCRIPT_FUNCTION_VALUES.contains(&own.kind());
    let name = own.child_by_field_name("name").map_or(name, |name| text_of(name, text));
    is_function.then(|| (name.to_owned(), own))
}

/// A function that a script sets on what it exports: `words.plural = …`.
fn set_on_exported<'a>(
    node: Node<'a>,
    exported: &BTreeSet<String>,
    text: &str,
) -> Option<(String, Node<'a>)> {
    let assignment = Some(node).filter(|node| node.kind() == "assignment_expression")?;
    let target = field_of(assignment, "left", text);
    let (object, _) = module_exports::set_on(target)?;
    let own = exported.get(object).and_then(|_| assigned_function(assignment, text))?;
    Some((target.to_owned(), own))
}

/// The receiver type of a Go method.
fn receiver(node: Node<'_>, text: &str) -> String {
    let own = field_of(node, "receiver", text);
    let name = own.trim_matches(['(', ')']).split_whitespace().last().unwrap_or_default();
    name.trim_start_matches('*').split('[').next().unwrap_or_default().to_owned()
}

fn behaviour(
    node: Node<'_>,
    own: Node<'_>,
    language: Language,
    text: &str,
    name: String,
) -> Behaviour {
    let decorated = node.parent().filter(|parent| parent.kind() == "decorated_definition");
    let head_end = own.child_by_field_name("body").map_or(own.end_byte(), |body| body.start_byte());
    let head = text.get(node.start_byte()..head_end).unwrap_or_default();
    let mut behaviour = Behaviour {
        name,
        start: line(node),
        end: end_line(node),
        parameters: parameters(own, language, text),
        is_async: head.split(|c: char| !c.is_alphanumeric()).any(|word| word == "async")
            || language == Language::Java && FUTURES.iter().any(|future| head.contains(future)),
        marks: marks(decorated.unwrap_or(node), text),
        // Tests of Java are in the package of what they call.
        is_public: head.starts_with("pub")
            || head.contains("public ")
            || language == Language::Java && head.contains("static ") && !head.contains("private "),
        ..Behaviour::default()
    };
    if let Some(body) = own.child_by_field_name("body") {
        let mut walk = Walk {
            language,
            text,
            behaviour: &mut behaviour,
            receiver: receiver_name(node, text),
            inner: 0,
        };
        walk.visit(body, &mut Vec::new());
        walk.tail(body);
    }
    behaviour
}

/// The attributes, decorators and annotations of an item.
fn marks(node: Node<'_>, text: &str) -> Vec<String> {
    let mut found: Vec<String> = children(node)
        .into_iter()
        .flat_map(|child| if child.kind() == "modifiers" { children(child) } else { vec![child] })
        .filter(|child| matches!(child.kind(), "decorator" | "annotation" | "marker_annotation"))
        .map(|child| one_line(child, text))
        .collect();
    let mut before = node.prev_sibling();
    while let Some(sibling) = before {
        match sibling.kind() {
            "attribute_item" | "decorator" => found.push(one_line(sibling, text)),
            "line_comment" | "comment" => {}
            _ => break,
        }
        before = sibling.prev_sibling();
    }
    found
}

/// The name of the receiver variable of a Go method.
fn receiver_name(node: Node<'_>, text: &str) -> Option<String> {
    let own = field_of(node, "receiver", text).trim_matches(['(', ')']);
    own.split_whitespace().next().map(str::to_owned)
}

fn parameters(own: Node<'_>, language: Language, text: &str) -> Vec<Parameter> {
    if let Some(single) = own.child_by_field_name("parameter") {
        return vec![Parameter { name: one_line(single, text), ..Parameter::default() }];
    }
    let Some(list) = own.child_by_field_name("parameters") else { return Vec::new() };
    let mut found = Vec::new();
    for child in children(list).into_iter().filter(Node::is_named) {
        let other = ["comment", "separator", "self_parameter"];
        if other.iter().any(|end| child.kind().ends_with(end)) {
            continue;
        }
        let kind = field_line(child, "type", text).trim_start_matches(':').trim().to_owned();
        let optional = ["default", "optional", "splat", "assignment_pattern"];
        let optional = optional.iter().any(|word| child.kind().contains(word))
            || child.child_by_field_name("value").is_some();
        if language == Language::Go {
            let mut cursor = child.walk();
            for name in child.children_by_field_name("name", &mut cursor) {
                found.push(Parameter { name: one_line(name, text), kind: kind.clone(), optional });
            }
            continue;
        }
        let name = first_field(child, &["name", "pattern", "left"]).or(child.named_child(0));
        let name = one_line(name.unwrap_or(child), text);
        let name = name.trim_start_matches(['*', '&']).trim_start_matches("mut ").to_owned();
        if !matches!(name.as_str(), "self" | "cls" | "this" | "") {
            found.push(Parameter { name, kind, optional });
        }
    }
    found
}

/// The first string literal below a node, without quotes.
pub(super) fn first_text(node: Node<'_>, text: &str) -> Option<String> {
    let kind = node.kind();
    if kind.contains("string") && kind != "string_content" || kind == "template_string" {
        let own = one_line(node, text);
        let plain = own.trim_start_matches(['f', 'r', 'b', 'u']).trim_matches(['"', '\'', '`']);
        return Some(plain.to_owned()).filter(|plain| !plain.is_empty());
    }
    children(node).into_iter().find_map(|child| first_text(child, text))
}
