//! Finds the callable functions and methods of a Go file. Tests are in the package, so names in lower
//! case count as well.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::tree::{around, end_line, field_of, line, named_children, named_nodes, text_of};

use super::go_values::{GoTypes, plain_type};
use super::unsupported::{spread_effects, unsupported_reason};
use super::{Callable, Class, Construction, Parameter, Passing, literals};

/// All functions and methods of a file; `siblings` are the other files of its package.
pub fn go_callables(root: Node<'_>, text: &str, siblings: &[String]) -> Vec<Callable> {
    let mut package = Package::default();
    package.read(root, text);
    for sibling in siblings {
        if let Some(tree) = Language::Go.parse(sibling) {
            package.read(tree.root_node(), sibling);
        }
    }
    spread_effects(&mut package.effects, &package.called);
    let is_function =
        |node: &Node<'_>| matches!(node.kind(), "function_declaration" | "method_declaration");
    let functions = named_children(root).into_iter().filter(is_function);
    functions.filter_map(|node| package.callable(node, text)).collect()
}

/// The kinds of literals that stand alone.
const PLAIN: &[&str] = &[
    "interpreted_string_literal",
    "raw_string_literal",
    "rune_literal",
    "int_literal",
    "float_literal",
];

/// What a package declares.
#[derive(Default)]
struct Package {
    types: GoTypes,
    /// Functions and methods with effects, by name, and why a test cannot hold them.
    effects: BTreeMap<String, String>,
    /// The names that each function calls.
    called: BTreeMap<String, BTreeSet<String>>,
    /// The literals that calls give to each function, with the position of the parameter.
    passed: BTreeMap<String, Vec<(usize, String)>>,
}

impl Package {
    fn read(&mut self, root: Node<'_>, text: &str) {
        for node in named_children(root) {
            match node.kind() {
                "type_declaration" => self.read_types(node, text),
                "const_declaration" => self.read_constants(node, text),
                "function_declaration" | "method_declaration" => self.read_function(node, text),
                _ => {}
            }
        }
    }

    fn read_types(&mut self, node: Node<'_>, text: &str) {
        for one in named_children(node).into_iter().filter(|one| one.kind() == "type_spec") {
            let name = field_of(one, "name", text).to_owned();
            let Some(kind) = one.child_by_field_name("type") else { continue };
            if one.child_by_field_name("type_parameters").is_some() {
                continue;
            }
            match kind.kind() {
                "struct_type" => {
                    let fields = named_nodes(kind)
                        .into_iter()
                        .filter(|field| field.kind() == "field_declaration");
                    let fields = fields.flat_map(|field| declared_names(field, text)).collect();
                    self.types.structs.insert(name, fields);
                }
                "interface_type" => {}
                _ => {
                    self.types.underlying.insert(name, text_of(kind, text).to_owned());
                }
            }
        }
    }

    /// Constants with a type; those after one with `iota` have its type too.
    fn read_constants(&mut self, node: Node<'_>, text: &str) {
        let mut last = String::new();
        for one in named_children(node).into_iter().filter(|one| one.kind() == "const_spec") {
            let kind = field_of(one, "type", text);
            if !kind.is_empty() || one.child_by_field_name("value").is_some() {
                kind.clone_into(&mut last);
            }
            let names = one.children_by_field_name("name", &mut one.walk()).collect::<Vec<_>>();
            let names =
                names.into_iter().map(|name| text_of(name, text)).filter(|name| *name != "_");
            let known = self.types.constants.entry(last.clone()).or_default();
            known.extend(names.map(str::to_owned));
        }
    }

    fn read_function(&mut self, node: Node<'_>, text: &str) {
        let name = field_of(node, "name", text);
        if let Some(reason) = unsupported_reason(Language::Go, node, &[], text) {
            self.effects.insert(name.to_owned(), reason);
        }
        let calls = named_nodes(node).into_iter().filter(|one| one.kind() == "call_expression");
        let calls: Vec<Node<'_>> = calls.filter(|one| !is_switched(*one, text)).collect();
        for call in &calls {
            let given = call.child_by_field_name("arguments").map(named_children);
            let given = given.unwrap_or_default().into_iter().enumerate();
            let literals = given.filter(|(_, one)| PLAIN.contains(&one.kind()));
            let literals = literals.map(|(place, one)| (place, text_of(one, text).to_owned()));
            let known = self.passed.entry(field_of(*call, "function", text).to_owned());
            known.or_default().extend(literals.filter(|(_, one)| one != "\"\""));
        }
        let names =
            calls.into_iter().map(|call| field_of(call, "function", text).rsplit('.').next());
        let names = names.flatten().map(str::to_owned).collect();
        self.called.insert(name.to_owned(), names);
        let results = results(node, text);
        let makes =
            ["new", "must", "default"].iter().any(|word| name.to_lowercase().starts_with(word));
        let is_plain = node.kind() == "function_declaration"
            && node.child_by_field_name("type_parameters").is_none();
        if let ([result], true, true) = (results.as_slice(), makes, is_plain) {
            let parameters = parameter_nodes(node, text).into_iter().filter(|(_, _, rest)| !rest);
            let parameters = parameters.map(|(_, kind, _)| kind).collect();
            self.types.constructors.push((result.clone(), name.to_owned(), parameters));
        }
    }

    fn callable(&self, node: Node<'_>, text: &str) -> Option<Callable> {
        let own = field_of(node, "name", text);
        let body = node.child_by_field_name("body")?;
        if matches!(own, "main" | "init" | "_") || own.starts_with("Test") {
            return None;
        }
        let receiver = node.child_by_field_name("receiver").and_then(|list| {
            let one = named_children(list).into_iter().next()?;
            Some(field_of(one, "type", text).to_owned())
        });
        let concrete = |kind: &str| with_concrete_types(node, text, kind);
        let found = parameter_nodes(node, text).into_iter();
        let mut parameters: Vec<Parameter> =
            found.map(|(name, kind, rest)| self.parameter(name, &concrete(&kind), rest)).collect();
        for (place, literal) in self.passed.get(own).into_iter().flatten() {
            if let Some(one) = parameters.get_mut(*place).filter(|one| !one.shown.contains(literal))
            {
                one.shown.push(literal.clone());
            }
        }
        // Where characters are passed for a byte, no number is meant.
        let is_character = |one: &String| one.starts_with('\'');
        let of_characters = |one: &&mut Parameter| {
            matches!(one.declared_type.as_str(), "byte" | "uint8" | "rune" | "int32")
                && one.shown.iter().any(is_character)
        };
        for one in parameters.iter_mut().filter(of_characters) {
            one.types.clear();
            one.values.retain(is_character);
            one.values.splice(0..0, one.shown.iter().filter(|one| is_character(one)).cloned());
        }
        let missing = parameters.iter().find(|one| one.types.is_empty() && one.values.is_empty());
        let class = receiver.map(|receiver| self.class(&receiver));
        let is_makeable = class.as_ref().is_none_or(|class| {
            class.parameters.iter().all(|one| !one.types.is_empty() || !one.values.is_empty())
        });
        let unsupported = self.effects.get(own).cloned();
        let unsupported = unsupported.or_else(|| {
            missing.map(|one| format!("no value of `{}` can be written", one.declared_type))
        });
        let name =
            class.as_ref().map_or_else(|| own.to_owned(), |class| format!("{}.{own}", class.name));
        Some(Callable {
            start: line(node),
            end: end_line(node),
            parameters,
            literals: literals(body, text),
            results: results(node, text).iter().map(|one| concrete(one)).collect(),
            unsupported: unsupported.or_else(|| {
                (!is_makeable).then(|| "its receiver cannot be made from its text".into())
            }),
            class,
            name,
            ..Callable::default()
        })
    }

    fn parameter(&self, name: String, kind: &str, rest: bool) -> Parameter {
        let under = self.types.underlying.get(kind).map_or(kind, String::as_str);
        let constants = self.types.constants.contains_key(kind);
        let plain = plain_type(under).filter(|_| !constants);
        let values = self.types.values_of_type(kind);
        Parameter {
            name,
            types: plain.into_iter().collect(),
            optional: rest,
            rest,
            passing: Passing::Position,
            values,
            declared_type: kind.to_owned(),
            ..Parameter::default()
        }
    }

    /// The type of a receiver, with the constructor of the package or else expressions for it.
    fn class(&self, receiver: &str) -> Class {
        let name =
            receiver.trim_start_matches('*').split('[').next().unwrap_or_default().to_owned();
        let types = [format!("*{name}"), name.clone()];
        let constructor = self.types.constructors.iter().find(|(result, made, _)| {
            let is_own = made.to_lowercase().trim_start_matches("new") == name.to_lowercase();
            types.contains(result) && (is_own || made.to_lowercase().starts_with("new"))
        });
        let (parameters, construction) = if let Some((result, function, parameters)) = constructor {
            let named = |kind: &String| self.parameter(String::new(), kind, false);
            let parameters: Vec<Parameter> = parameters.iter().map(named).collect();
            (
                parameters,
                Construction {
                    function: function.clone(),
                    declared: result.clone(),
                    ..Construction::default()
                },
            )
        } else {
            let mut object = self.parameter(String::new(), receiver, false);
            object.types.clear();
            let is_basic = self.types.underlying.contains_key(&name);
            for value in &mut object.values {
                *value = match () {
                    () if is_name(value) => value.clone(),
                    () if is_basic && !value.starts_with(&name) => format!("{name}({value})"),
                    () => format!("({value})"),
                };
            }
            let function = String::new();
            (
                vec![object],
                Construction { function, declared: receiver.to_owned(), ..Construction::default() },
            )
        };
        Class {
            name,
            parameters,
            is_static: false,
            examples: Vec::new(),
            makers: Vec::new(),
            construction: Some(construction),
        }
    }
}

/// Whether a call is made only where an exported variable of the package is true, which it is not by
/// itself.
fn is_switched(node: Node<'_>, text: &str) -> bool {
    around(node, &["if_statement"]).is_some_and(|one| {
        let condition = field_of(one, "condition", text);
        condition.starts_with(char::is_uppercase) && is_name(condition)
    })
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && !matches!(text, "true" | "false" | "nil")
}

/// The names that a declaration of a field or parameter gives to its type.
fn declared_names(node: Node<'_>, text: &str) -> Vec<(String, String)> {
    let kind = field_of(node, "type", text).to_owned();
    let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut node.walk()).collect();
    names.into_iter().map(|name| (text_of(name, text).to_owned(), kind.clone())).collect()
}

/// Name and type of each parameter, and whether it takes all remaining arguments.
fn parameter_nodes(node: Node<'_>, text: &str) -> Vec<(String, String, bool)> {
    let list = node.child_by_field_name("parameters").map(named_children).unwrap_or_default();
    let mut found = Vec::new();
    for one in list {
        let rest = one.kind() == "variadic_parameter_declaration";
        if !rest && one.kind() != "parameter_declaration" {
            continue;
        }
        let mut named = declared_names(one, text);
        if named.is_empty() {
            named.push(("_".into(), field_of(one, "type", text).to_owned()));
        }
        found.extend(named.into_iter().map(|(name, kind)| (name, kind, rest)));
    }
    found
}

/// The declared types of what a function returns.
fn results(node: Node<'_>, text: &str) -> Vec<String> {
    let Some(result) = node.child_by_field_name("result") else { return Vec::new() };
    if result.kind() != "parameter_list" {
        return vec![text_of(result, text).to_owned()];
    }
    let list =
        named_children(result).into_iter().filter(|one| one.kind() == "parameter_declaration");
    list.flat_map(|one| {
        let many = one.children_by_field_name("name", &mut one.walk()).count().max(1);
        vec![field_of(one, "type", text).to_owned(); many]
    })
    .collect()
}

/// A type in which the type parameters of a function are replaced by types that fit them.
fn with_concrete_types(node: Node<'_>, text: &str, kind: &str) -> String {
    let list = node.child_by_field_name("type_parameters").map(named_children).unwrap_or_default();
    let mut kind = kind.to_owned();
    for one in list {
        let names: Vec<Node<'_>> = one.children_by_field_name("name", &mut one.walk()).collect();
        let constraint = field_of(one, "type", text);
        let is_text = constraint.contains("string") && !constraint.contains("int");
        for name in names {
            let word = Regex::new(&format!(r"\b{}\b", regex::escape(text_of(name, text))));
            let list = constraint.strip_prefix("~[]").map(|element| format!("[]{element}"));
            let concrete =
                list.unwrap_or_else(|| if is_text { "string".into() } else { "int".into() });
            if let Ok(word) = word {
                kind = word.replace_all(&kind, concrete.as_str()).into_owned();
            }
        }
    }
    kind
}
