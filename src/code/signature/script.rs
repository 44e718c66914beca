//! Finds the callable functions and methods of a JavaScript or TypeScript file.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use tree_sitter::Node;

use super::declared_values::{DeclaredValues, TypeScope, documented_values};
use super::factory_exports;
use super::module_exports::{self, Exports};
use super::parameter_names::infer_types;
use super::parameter_types::{
    annotated, default_types, is_plain, keys, set_off_values, shown_values, split_union,
    stated_type, used_types,
};
use super::prototype_methods::{ClassMethod, prototype_classes, prototype_methods};
use super::unsupported::unsupported_reason;
use super::{Callable, Class, Parameter, Passing, Type, literals};
use crate::code::language::Language;
use crate::code::tree::{FUNCTIONS, end_line, field_of, line, named_children, text_of};
use crate::domain::text::has_word;

/// All functions and methods of a module.
pub fn callables(root: Node<'_>, text: &str) -> Vec<Callable> {
    let (_, mut found) = outermost(root, text);
    // An export in one place counts before a private name in another.
    found.sort_by_key(|one| one.export.is_none());
    let mut seen = BTreeSet::new();
    found.retain(|one| seen.insert(one.name.clone()));
    found.sort_by_key(|one| one.start);
    found
}

/// The exports declared by top-level statements, and the functions at the top level.
fn outermost(root: Node<'_>, text: &str) -> (Exports, Vec<Callable>) {
    let mut exports = module_exports::of_module(root, text);
    let mut found = Vec::new();
    let scopes = factory_exports::scopes(root, text);
    let types = TypeScope::of_file(root, text);
    let classes = prototype_classes(root, text);
    for (block, own) in std::iter::once((root, &exports)).chain(scopes.iter().map(|(b, e)| (*b, e)))
    {
        let made = made_by_functions(block, &classes, &types);
        let mut level = Level { text, exports: own, types: &types, made, found: Vec::new() };
        for child in named_children(block) {
            level.read(child, child);
        }
        found.extend(level.found);
    }
    exports.extend(scopes.into_iter().flat_map(|(_, own)| own));
    (exports, found)
}

/// Local names that a JavaScript or TypeScript file exports, with the names under which it does:
/// functions of an exported object by their keys, a default export without a name as `default`.
pub fn exports(root: Node<'_>, text: &str) -> Exports {
    let (mut exports, found) = outermost(root, text);
    let statements = named_children(root).into_iter();
    for child in statements.filter(|child| child.kind() == "export_statement") {
        objects(child, text, &mut exports);
    }
    for one in found.into_iter().filter(|one| one.class.is_none()) {
        if let Some(outside) = one.export {
            exports.entry(one.name).or_insert(outside);
        }
    }
    exports
}

/// Keys of functions in an object that is exported.
fn objects(statement: Node<'_>, text: &str, exports: &mut Exports) {
    let mut open = vec![statement];
    while let Some(node) = open.pop() {
        for child in named_children(node) {
            let name = child.child_by_field_name("key").or(child.child_by_field_name("name"));
            match (node.kind(), child.kind(), name) {
                ("object", "pair" | "method_definition", Some(name)) => {
                    exports.insert(text_of(name, text).to_owned(), text_of(name, text).to_owned());
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

/// The parameters of those functions of a block that are classes, by name.
fn made_by_functions<'t>(
    block: Node<'t>,
    classes: &BTreeSet<&'t str>,
    types: &TypeScope<'t>,
) -> BTreeMap<&'t str, Vec<Parameter>> {
    let name_of = |one: Node<'t>| field_of(one, "name", types.source_text());
    let mut made = BTreeMap::new();
    for statement in named_children(block) {
        let declared = [vec![statement], named_children(statement)].concat().into_iter();
        for one in declared.filter(|one| classes.contains(name_of(*one))) {
            let function = one.child_by_field_name("value").unwrap_or(one);
            if FUNCTIONS.contains(&function.kind()) {
                made.insert(name_of(one), parameters(function, statement, types));
            }
        }
    }
    made
}

/// The traversal of the statements of one block.
struct Level<'a> {
    text: &'a str,
    exports: &'a Exports,
    types: &'a TypeScope<'a>,
    /// What objects of functions with methods are made of.
    made: BTreeMap<&'a str, Vec<Parameter>>,
    found: Vec<Callable>,
}

impl Level<'_> {
    /// Reads a statement; documentation precedes `whole`.
    fn read(&mut self, node: Node<'_>, whole: Node<'_>) {
        match node.kind() {
            "export_statement" => {
                if let Some(inner) = node.child_by_field_name("declaration") {
                    self.read(inner, whole);
                } else if let Some(value) = node.child_by_field_name("value") {
                    // `export default function (…)` and `export default (…) => …` have no name.
                    self.put("default", value, whole, Some("default".into()));
                }
            }
            "function_declaration" | "generator_function_declaration" => {
                self.put_named(node, node, whole);
            }
            "lexical_declaration" | "variable_declaration" => {
                for one in named_children(node) {
                    if let Some(value) = one.child_by_field_name("value") {
                        self.put_named(one, value, whole);
                    }
                }
            }
            "expression_statement" => {
                self.assignment(node);
                for one in prototype_methods(node, self.text) {
                    let made = self.made.get(one.class).cloned();
                    if made.is_some() {
                        self.method(one, made, false);
                    }
                }
            }
            "class_declaration" => self.class(node),
            _ => {}
        }
    }

    /// Reads a `CommonJS` export: `module.exports = …`, `exports.f = …`.
    fn assignment(&mut self, statement: Node<'_>) {
        let assignment = statement.named_child(0).filter(|o| o.kind() == "assignment_expression");
        let Some(assignment) = assignment else { return };
        let Some(value) = module_exports::assigned_value(assignment) else { return };
        let target = field_of(assignment, "left", self.text);
        if target == "module.exports" {
            let name = match field_of(value, "name", self.text) {
                "" => "default",
                name => name,
            };
            self.put(name, value, statement, Some("default".into()));
            if value.kind() == "object" {
                self.members(value);
            }
        } else if let Some(name) = module_exports::member(target) {
            self.put(name, value, statement, Some(name.to_owned()));
        } else if let Some((object, own)) = module_exports::set_on(target)
            && let Some(export) = self.exports.get(object).cloned()
            && let Some(value) = factory_exports::assigned_function(assignment, self.text)
        {
            let before = self.found.len();
            self.put(own, value, statement, Some(export));
            if let Some(callable) = self.found.get_mut(before) {
                target.clone_into(&mut callable.name);
                let name = object.to_owned();
                callable.class = Some(Class { name, is_static: true, ..Class::default() });
            }
        }
    }

    /// Reads the functions defined inside `module.exports = { … }`.
    fn members(&mut self, object: Node<'_>) {
        for member in named_children(object) {
            let (key, value) = match member.kind() {
                "pair" => ("key", member.child_by_field_name("value")),
                "method_definition" => ("name", Some(member)),
                _ => continue,
            };
            let name = field_of(member, key, self.text);
            if let Some(value) = value {
                self.put(name, value, member, Some(name.to_owned()));
            }
        }
    }

    fn class(&mut self, node: Node<'_>) {
        let name = field_of(node, "name", self.text);
        let Some(body) = node.child_by_field_name("body") else { return };
        let extends = node.named_child(1).is_some_and(|child| child.kind() == "class_heritage");
        let mut methods = named_children(body);
        methods.retain(|member| member.kind() == "method_definition");
        let own_name = |member: Node<'_>| field_of(member, "name", self.text);
        let constructor = methods.iter().find(|member| own_name(**member) == "constructor");
        let made = match constructor {
            Some(member) => Some(parameters(*member, *member, self.types)),
            None if extends => None,
            None => Some(Vec::new()),
        };
        for member in methods {
            let source = text_of(member, self.text);
            let own = field_of(member, "name", self.text);
            let is_static = source.starts_with("static ") || own == "constructor";
            let plain = own.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
            if own.starts_with(['_', '#']) || !plain {
                continue;
            }
            let is_property = ["get ", "static get "].iter().any(|mark| source.starts_with(mark));
            let method = ClassMethod {
                class: name,
                name: own,
                function: member,
                whole: member,
                is_property,
            };
            let Some(callable) = self.method(method, made.clone(), is_static) else { continue };
            if ["set ", "static set "].iter().any(|mark| source.starts_with(mark)) {
                callable.unsupported = Some("it is a property".into());
            }
        }
    }

    /// Adds a method of a class whose objects are made of some parameters, where its file tells.
    fn method(
        &mut self,
        method: ClassMethod<'_, '_>,
        made: Option<Vec<Parameter>>,
        is_static: bool,
    ) -> Option<&mut Callable> {
        let ClassMethod { class, name, function, whole, is_property } = method;
        let before = self.found.len();
        self.put(name, function, whole, self.exports.get(class).cloned());
        let source = text_of(function, self.text);
        let callable = self.found.get_mut(before)?;
        callable.name = format!("{class}.{name}");
        callable.is_property = is_property;
        if made.is_none() && !is_static && callable.unsupported.is_none() {
            callable.unsupported =
                Some("its class is made by a base class that its file does not define".into());
        }
        let of_object = Class {
            name: class.to_owned(),
            parameters: made.unwrap_or_default(),
            ..Class::default()
        };
        let documentation = comment_before(whole, self.text);
        for one in callable.parameters.iter_mut().filter(|_| name != "constructor") {
            let is_object = takes_object(class, &one.name, source, documentation);
            one.class = is_object.then(|| of_object.clone());
        }
        let parameters = if is_static { Vec::new() } else { of_object.parameters };
        callable.class = Some(Class { parameters, is_static, ..of_object });
        Some(callable)
    }

    /// Adds a function under the name of its declaration; one that has methods is a constructor.
    fn put_named(&mut self, declaration: Node<'_>, function: Node<'_>, whole: Node<'_>) {
        let class = field_of(declaration, "name", self.text);
        if self.made.contains_key(class) {
            let name = "constructor";
            let method = ClassMethod { class, name, function, whole, is_property: false };
            self.method(method, None, true);
        } else {
            self.put(class, function, whole, self.exports.get(class).cloned());
        }
    }

    fn put(&mut self, name: &str, node: Node<'_>, whole: Node<'_>, export: Option<String>) {
        let is_function = FUNCTIONS.contains(&node.kind());
        let (true, Some(body)) = (is_function, node.child_by_field_name("body")) else { return };
        if name.starts_with('_') || name.is_empty() {
            return;
        }
        let mut given = parameters(node, whole, self.types);
        if let [only] = given.as_mut_slice() {
            only.shown.extend(set_off_values(comment_before(whole, self.text), &only.types));
        }
        let names: Vec<&str> = given.iter().map(|parameter| parameter.name.as_str()).collect();
        let unsupported = match &export {
            None => Some("it is not exported".to_owned()),
            Some(_) => unsupported_reason(Language::JavaScript, node, &names, self.text),
        };
        self.found.push(Callable {
            name: name.to_owned(),
            start: line(node),
            end: end_line(node),
            literals: literals(body, self.text),
            parameters: given,
            export,
            unsupported,
            ..Callable::default()
        });
    }
}

/// Whether a parameter of a function is an object of a class: by its check, as in `other instanceof Version`, or
/// by its type in `JSDoc`.
fn takes_object(class: &str, parameter: &str, source: &str, documentation: &str) -> bool {
    let stated = stated_type(documentation, parameter).unwrap_or_default();
    source.contains(&format!("{parameter} instanceof {class}"))
        || split_union(stated).any(|one| one.trim_matches([' ', '(', ')', '?', '!', '=']) == class)
}

/// Names of parameters that nobody has to give.
const OPTIONS: &[&str] = &["options", "opts", "config", "settings"];

/// Whether a body does without a parameter: it does not use it, asks whether there is one or which of some it
/// is, or has another function complete it, as in `options = parse(options)`.
pub fn is_left_out(body: &str, name: &str) -> bool {
    let escaped = regex::escape(name);
    let mark =
        r"(?:&&|\|\||\?\?|\?\.|[!=]==?\s*(?:[\x22'\d]|undefined|null|false|true|\w+\.[A-Z]))";
    let asks = format!(r"\b{escaped}\s*{mark}|\.\.\.{escaped}\b|\bif\s*\({escaped}\)");
    let completes = format!(r"\b{escaped}\s*=\s*[\w.]+\({escaped}\)");
    let asks = if OPTIONS.contains(&name) { format!("{asks}|{completes}") } else { asks };
    let missing = format!(r"\bif\s*\(!{escaped}\)\s*\{{?\s*(?://[^\n]*\s*)*(\w+)");
    let missing =
        Regex::new(&missing).ok().and_then(|one| Some(one.captures(body)?.get(1)?.as_str()));
    is_plain(name) && !has_word(body, name)
        || Regex::new(&asks).is_ok_and(|one| one.is_match(body))
        || missing.is_some_and(|next| next != "throw")
}

/// The keys in a destructuring pattern such as `{ a, b = 2, c: d }`.
fn fields(pattern: Node<'_>, text: &str) -> Vec<String> {
    let keys = named_children(pattern).into_iter().filter_map(|one| match one.kind() {
        "shorthand_property_identifier_pattern" => Some(one),
        "pair_pattern" => one.child_by_field_name("key"),
        "object_assignment_pattern" => one.child_by_field_name("left"),
        _ => None,
    });
    keys.map(|key| text_of(key, text).to_owned()).filter(|key| is_plain(key)).collect()
}

/// What the annotation of a parameter allows, else what TypeScript infers from a default value.
fn declared_values<'t>(
    annotation: Option<Node<'t>>,
    default: Option<Node<'t>>,
    (scope, name, rest): (&TypeScope<'t>, &str, bool),
) -> Option<DeclaredValues> {
    if let Some(kind) = annotation {
        return scope.values_of(kind, name, rest);
    }
    let (values, open) = match default?.kind() {
        "string" => (Vec::new(), vec![Type::Text]),
        "number" => (Vec::new(), vec![Type::Int, Type::Float]),
        "true" | "false" => (vec!["true".into(), "false".into()], Vec::new()),
        _ => return None,
    };
    Some(DeclaredValues { values, open, ..DeclaredValues::default() })
}

/// The comment right before a statement.
fn comment_before<'t>(statement: Node<'t>, text: &'t str) -> &'t str {
    let comment = statement.prev_sibling().filter(|before| before.kind() == "comment");
    comment.map_or("", |comment| text_of(comment, text))
}

fn parameters<'t>(node: Node<'t>, statement: Node<'t>, scope: &TypeScope<'t>) -> Vec<Parameter> {
    let text = scope.source_text();
    let scope = scope.enter_function(node);
    let body = field_of(node, "body", text);
    let documentation = comment_before(statement, text);
    let nodes = match node.child_by_field_name("parameters") {
        Some(list) => named_children(list),
        None => node.child_by_field_name("parameter").into_iter().collect(),
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
        let name = text_of(target, text).trim_start_matches("...").to_owned();
        let mut types = annotated(field_of(one, "type", text).trim_start_matches(':'));
        let annotation = one.child_by_field_name("type");
        let declared = declared_values(annotation, value.filter(|_| typed), (&scope, &name, rest))
            .or_else(|| documented_values(documentation, &name).filter(|_| !typed));
        if let Some(declared) = declared.as_ref().filter(|_| types.is_empty()) {
            types.clone_from(&declared.open);
            let is_object = declared.values.iter().any(|one| one.starts_with('{'));
            types.extend(is_object.then_some(Type::Map));
        }
        let further = || {
            let default =
                value.map(|value| default_types(text_of(value, text), text)).unwrap_or_default();
            let used = match target.kind() {
                "object_pattern" => vec![Type::Map],
                "array_pattern" => vec![Type::List(&Type::Any)],
                _ => used_types(body, &name),
            };
            [default, used].concat()
        };
        let (types, is_guessed) = infer_types(&name, types, documentation, further);
        let optional = value.is_some()
            || rest
            || one.kind() == "optional_parameter"
            || annotation.is_none() && !found.is_empty() && is_left_out(body, &name);
        let keys = match target.kind() {
            "object_pattern" => fields(target, text),
            _ => keys(body, &name),
        };
        let passing = Passing::Position;
        let shown = shown_values(documentation, &name);
        let others =
            Parameter { is_guessed, passing, keys, declared, shown, ..Parameter::default() };
        found.push(Parameter { name, types, optional, rest, ..others });
    }
    found
}
