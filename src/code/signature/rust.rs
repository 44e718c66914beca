//! Finds the functions and methods of a Rust file that a test outside of the crate may call.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::tree::{end_line, field_of, line, named_children, named_nodes, text_of};

use super::rust_values::{RustTypes, bare_name, is_integer};
use super::unsupported::unsupported_reason;
use super::{Callable, Class, Construction, Parameter, Passing, Type, literals};

/// Traits of the language whose methods are called on objects or types of the file: with the name of
/// the trait and of the method.
const TRAITS: &[(&str, &str)] = &[
    ("Display", "fmt"),
    ("FromStr", "from_str"),
    ("From", "from"),
    ("TryFrom", "try_from"),
    ("Default", "default"),
];

/// All public functions and methods of a file.
pub fn rust_callables(root: Node<'_>, text: &str) -> Vec<Callable> {
    let types = RustTypes::read(root, text);
    let mut found = Vec::new();
    for node in named_children(root) {
        match node.kind() {
            "function_item" if is_public(node, text) => {
                found.extend(types.callable(node, None, text));
            }
            "impl_item" => types.add_methods(node, text, &mut found),
            _ => {}
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|one| seen.insert(one.name.clone()));
    found
}

fn is_public(node: Node<'_>, text: &str) -> bool {
    let first = named_children(node).into_iter().find(|one| one.kind() == "visibility_modifier");
    first.is_some_and(|one| text_of(one, text) == "pub")
}

impl RustTypes {
    fn read(root: Node<'_>, text: &str) -> Self {
        let mut items = Self::default();
        for node in named_children(root) {
            let name = field_of(node, "name", text).to_owned();
            match node.kind() {
                "enum_item" if is_public(node, text) => {
                    let variants = named_nodes(node).into_iter();
                    let plain = variants.filter(|one| {
                        one.kind() == "enum_variant" && one.child_by_field_name("body").is_none()
                    });
                    let plain = plain.map(|one| format!("{name}::{}", field_of(one, "name", text)));
                    items.variants.insert(name.clone(), plain.collect());
                }
                "struct_item" if is_public(node, text) => items.read_fields(node, &name, text),
                "impl_item" => items.read_constructors(node, text),
                _ => {}
            }
        }
        items
    }

    /// A tuple of public fields is made by its name.
    fn read_fields(&mut self, node: Node<'_>, name: &str, text: &str) {
        let head = text_of(node, text);
        let Some(body) = node.child_by_field_name("body") else { return };
        let parts = named_children(body);
        let is_open = parts.iter().filter(|one| one.kind() == "visibility_modifier").count();
        if body.kind() == "ordered_field_declaration_list" {
            let types: Vec<Node<'_>> =
                body.children_by_field_name("type", &mut body.walk()).collect();
            if is_open == types.len() {
                let concrete = |one: &Node<'_>| self.choose_type(text_of(*one, text), head);
                let types = types.iter().map(concrete).collect();
                self.constructors.entry(name.to_owned()).or_insert((name.to_owned(), types));
            }
        } else if parts.iter().all(|one| one.kind() == "field_declaration" && is_public(*one, text))
        {
            let field = |one: &Node<'_>| {
                let kind = self.choose_type(field_of(*one, "type", text), head);
                (field_of(*one, "name", text).to_owned(), kind)
            };
            let fields = parts.iter().map(field).collect();
            self.fields.insert(name.to_owned(), fields);
        }
    }

    fn read_constructors(&mut self, node: Node<'_>, text: &str) {
        let name = bare_name(field_of(node, "type", text));
        let of_trait = bare_name(field_of(node, "trait", text));
        if name == "str" {
            self.of_texts.push(of_trait);
        } else if of_trait == "Default" {
            let made = (format!("{name}::default"), Vec::new());
            self.constructors.entry(name.clone()).or_insert(made);
        }
        for one in methods(node).into_iter().rev() {
            let own = field_of(one, "name", text);
            let result = field_of(one, "return_type", text);
            let makes = result == "Self" || bare_name(result) == name;
            let (receiver, parameters) = parameters(one, text);
            if makes && receiver.is_none() && is_public(one, text) {
                let types = parameters.into_iter();
                let types =
                    types.map(|(_, kind)| self.choose_type(&kind, text_of(one, text))).collect();
                let made = (format!("{name}::{own}"), types);
                if own.starts_with("new") {
                    self.constructors.insert(name.clone(), made);
                } else {
                    self.constructors.entry(name.clone()).or_insert(made);
                }
            }
        }
    }

    fn add_methods(&self, node: Node<'_>, text: &str, found: &mut Vec<Callable>) {
        let kind = field_of(node, "type", text);
        let name = bare_name(kind);
        let trait_name = bare_name(field_of(node, "trait", text));
        let is_own = trait_name.is_empty() || text.contains(&format!("pub trait {trait_name}"));
        let declares = |word: &&str| text.contains(&format!("pub {word} {name}"));
        let is_declared = ["struct", "enum"].iter().any(declares);
        for one in methods(node) {
            let own = field_of(one, "name", text);
            let is_known = is_declared && TRAITS.contains(&(trait_name.as_str(), own));
            if !is_known && (!is_own || trait_name.is_empty() && !is_public(one, text)) {
                continue;
            }
            let head = text.get(node.start_byte()..one.start_byte()).unwrap_or_default();
            let (receiver, _) = parameters(one, text);
            let is_trait = !trait_name.is_empty() && !is_known;
            let subject = if is_trait { trait_name.clone() } else { name.clone() };
            let (parameters, construction) = match (receiver, self.constructors.get(&name)) {
                (None, _) => (Vec::new(), None),
                (Some(_), Some((function, types))) => {
                    let given = types.iter().map(|one| self.parameter(String::new(), one));
                    (given.collect(), Some((function.clone(), name.clone())))
                }
                (Some(_), None) => {
                    let is_unsized = kind == "str" || kind == "[T]";
                    let kind =
                        if is_unsized { format!("&{kind}") } else { self.choose_type(kind, head) };
                    let mut object = self.parameter(String::new(), &kind);
                    object.types.clear();
                    (vec![object], Some((String::new(), kind)))
                }
            };
            let made = |(function, declared)| Construction {
                function,
                declared,
                ..Construction::default()
            };
            let class = Class {
                name: subject,
                examples: Vec::new(),
                makers: Vec::new(),
                parameters,
                is_static: construction.is_none(),
                construction: construction.map(made),
            };
            let callable = self.callable(one, Some(class), text);
            found.extend(callable.map(|callable| Callable {
                name: format!("{kind}.{own}"),
                results: if own == "fmt" { vec!["String".into()] } else { callable.results },
                ..callable
            }));
        }
    }

    fn callable(&self, node: Node<'_>, class: Option<Class>, text: &str) -> Option<Callable> {
        let own = field_of(node, "name", text);
        let body = node.child_by_field_name("body")?;
        let before = text.get(node.start_byte()..body.start_byte()).unwrap_or_default();
        // The bounds of an implementation hold for its methods too.
        let outer = node.parent().and_then(|list| list.parent());
        let start = outer.filter(|one| one.kind() == "impl_item").unwrap_or(node).start_byte();
        let head = text.get(start..body.start_byte()).unwrap_or_default();
        let given = parameters(node, text).1.into_iter().filter(|_| own != "fmt");
        let found: Vec<Parameter> = given
            .map(|(name, kind)| self.parameter(name, &self.choose_type(&kind, head)))
            .collect();
        let made = class.iter().flat_map(|class| &class.parameters);
        let missing =
            found.iter().chain(made).find(|one| one.types.is_empty() && one.values.is_empty());
        let is_async = before.contains("async fn") || before.contains("unsafe fn");
        let reason = unsupported_reason(Language::Rust, node, &[], text)
            .or_else(|| is_async.then(|| "it is async or unsafe".to_owned()))
            .or_else(|| {
                missing.map(|one| format!("no value of `{}` can be written", one.declared_type))
            });
        let result = field_of(node, "return_type", text).to_owned();
        Some(Callable {
            start: line(node),
            end: end_line(node),
            parameters: found,
            literals: literals(body, text),
            results: Some(result).filter(|one| !one.is_empty()).into_iter().collect(),
            unsupported: reason,
            class,
            name: own.to_owned(),
            ..Callable::default()
        })
    }

    fn parameter(&self, name: String, declared: &str) -> Parameter {
        let kind = match declared {
            "&str" => Some(Type::Text),
            "bool" => Some(Type::Bool),
            _ if is_integer(declared) => Some(Type::Int),
            _ => None,
        };
        Parameter {
            name,
            types: kind.into_iter().collect(),
            passing: Passing::Position,
            values: self.values_of_type(declared),
            declared_type: declared.to_owned(),
            ..Parameter::default()
        }
    }
}

fn methods(node: Node<'_>) -> Vec<Node<'_>> {
    let body = node.child_by_field_name("body").map(named_children).unwrap_or_default();
    body.into_iter().filter(|one| one.kind() == "function_item").collect()
}

/// The receiver, and name and type of each other parameter.
fn parameters(node: Node<'_>, text: &str) -> (Option<String>, Vec<(String, String)>) {
    let (mut receiver, mut found) = (None, Vec::new());
    for one in node.child_by_field_name("parameters").map(named_children).unwrap_or_default() {
        match one.kind() {
            "self_parameter" => receiver = Some(text_of(one, text).to_owned()),
            "parameter" => {
                let name = field_of(one, "pattern", text).trim_start_matches("mut ").to_owned();
                found.push((name, field_of(one, "type", text).to_owned()));
            }
            _ => {}
        }
    }
    (receiver, found)
}
