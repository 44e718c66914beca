//! Finds the callable methods and constructors of a Java file. Tests are in the package, so those that
//! are not private count.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use tree_sitter::Node;

use crate::code::java_packages::package_of;
use crate::code::language::Language;
use crate::code::tree::{end_line, field_of, line, named_children, named_nodes, text_of, visit};

use super::java_examples::{is_constant, javadoc_examples};
use super::java_values::{JavaType, JavaTypes, Maker, plain_java_type};
use super::unsupported::{spread_effects, unsupported_reason};
use super::{Callable, Class, Construction, LITERAL, LITERALS, Parameter, Passing};

/// Declarations of types.
const TYPES: &[&str] =
    &["class_declaration", "interface_declaration", "enum_declaration", "record_declaration"];

/// Methods that a test does not call, or that only others like it call.
const LEFT_OUT: &[&str] = &["main", "hashCode", "finalize", "clone"];

/// All methods and constructors of a file; `siblings` are the other files of its package and those that
/// it imports.
pub fn java_callables(root: Node<'_>, text: &str, siblings: &[String]) -> Vec<Callable> {
    let mut package = Package::default();
    for sibling in siblings {
        if let Some(tree) = Language::Java.parse(sibling) {
            let mut other = Package::default();
            other.read_types(tree.root_node(), sibling, "");
            if package_of(sibling) != package_of(text) {
                other.types.0.values_mut().for_each(|one| one.makers.retain(|made| made.is_public));
                other.factories.retain(|(_, maker)| maker.is_public);
            }
            package.types.0.extend(other.types.0);
            package.factories.extend(other.factories);
        }
    }
    package.read_types(root, text, "");
    for (of, maker) in std::mem::take(&mut package.factories) {
        if let Some(found) = package.types.0.get_mut(&of) {
            found.makers.push(maker);
        }
    }
    for (name, found) in &mut package.types.0 {
        // What is set by a chain of calls begins with nothing.
        let is_chained = !found.fluent.is_empty();
        let order = |one: &Maker| (is_chained && !one.parameters.is_empty(), one.order_key(name));
        found.makers.sort_by_key(order);
    }
    package.read_effects(root, text);
    let mut found = Vec::new();
    package.add_callables(root, text, "", &mut found);
    found
}

/// What a package declares.
#[derive(Default)]
struct Package {
    types: JavaTypes,
    /// Static methods that make objects, by the name of their class.
    factories: Vec<(String, Maker)>,
    /// Methods of the file with effects, by name and types, and why a test cannot hold them.
    effects: BTreeMap<String, String>,
}

impl Package {
    fn read_types(&mut self, parent: Node<'_>, text: &str, outer: &str) {
        for node in named_children(parent).into_iter().filter(|one| TYPES.contains(&one.kind())) {
            let own = field_of(node, "name", text);
            let name = qualified(outer, own);
            let Some(body) = node.child_by_field_name("body") else { continue };
            if !has_modifier(node, text, "private") {
                self.types.0.insert(own.to_owned(), read_type(node, body, text, &name));
                for part in parts_of(body) {
                    self.factories.extend(factories_in(node, part, text, &name));
                    self.read_types(part, text, &name);
                }
            }
        }
    }

    fn read_effects(&mut self, root: Node<'_>, text: &str) {
        let mut called: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let is_method = |one: &Node<'_>| one.kind() == "method_declaration";
        let nodes: Vec<Node<'_>> = named_nodes(root).into_iter().filter(is_method).collect();
        let methods: Vec<Method> = nodes.iter().map(|one| Method::new(*one, text)).collect();
        for (node, method) in nodes.into_iter().zip(&methods) {
            let reason = unsupported_reason(Language::Java, node, &[], text);
            self.effects.extend(reason.map(|reason| (method.key(), reason)));
            let calls = named_nodes(node).into_iter().filter(|one| {
                one.kind() == "method_invocation"
                    && matches!(field_of(*one, "object", text), "" | "this")
            });
            let keys = calls.flat_map(|call| method.called_by(node, call, &methods, text));
            called.entry(method.key()).or_default().extend(keys);
        }
        spread_effects(&mut self.effects, &called);
    }

    fn add_callables(&self, parent: Node<'_>, text: &str, outer: &str, found: &mut Vec<Callable>) {
        for node in named_children(parent).into_iter().filter(|one| TYPES.contains(&one.kind())) {
            let name = qualified(outer, field_of(node, "name", text));
            let is_inner = !outer.is_empty()
                && node.kind() == "class_declaration"
                && !has_modifier(node, text, "static");
            let Some(body) = node.child_by_field_name("body") else { continue };
            if is_inner || has_modifier(node, text, "private") {
                continue;
            }
            let variables = type_variables(node, text);
            for part in parts_of(body) {
                for member in named_children(part) {
                    found.extend(self.callable(node, &name, member, &variables, text));
                }
                self.add_callables(part, text, &name, found);
            }
        }
    }

    fn callable(
        &self,
        of: Node<'_>,
        class: &str,
        node: Node<'_>,
        variables: &[(String, String)],
        text: &str,
    ) -> Option<Callable> {
        let is_constructor = node.kind() == "constructor_declaration";
        let is_method = node.kind() == "method_declaration";
        let own = field_of(node, "name", text);
        let body = node.child_by_field_name("body")?;
        let is_hidden = has_modifier(node, text, "private")
            || LEFT_OUT.contains(&own)
            || is_constructor && has_modifier(of, text, "abstract")
            || is_constructor && of.kind() == "enum_declaration";
        if !(is_constructor || is_method) || is_hidden {
            return None;
        }
        let mut all = type_variables(node, text);
        all.extend(variables.iter().cloned());
        let parameters: Vec<Parameter> = parameters_of(node, text)
            .into_iter()
            .map(|(name, kind, rest)| Parameter {
                rest,
                ..self.parameter(name, &with_bounds(&kind, &all), body, text)
            })
            .collect();
        let is_static = is_constructor || has_modifier(node, text, "static");
        let (class, made_throws) = self.class(class, is_static)?;
        let made = class.parameters.iter();
        let missing =
            parameters.iter().chain(made).find(|one| one.types.is_empty() && one.values.is_empty());
        let result = if is_constructor {
            class.name.clone()
        } else {
            field_of(node, "type", text).to_owned()
        };
        let result = with_bounds(&result, &all);
        let thrown = if throws(node, text).is_empty() { made_throws } else { throws(node, text) };
        let reason = unsupported_reason(Language::Java, node, &[], text);
        let reason =
            reason.or_else(|| self.effects.get(&Method::new(node, text).key()).cloned()).or_else(
                || missing.map(|one| format!("no value of `{}` can be written", one.declared_type)),
            );
        let results = [result, thrown].into_iter().filter(|one| !one.is_empty() && one != "void");
        let name = format!("{}.{own}", class.name);
        Some(Callable {
            start: line(node),
            end: end_line(node),
            literals: java_literals(body, text),
            examples: javadoc_examples(node, text, &parameters, field_of(node, "type", text)),
            parameters,
            results: results.collect(),
            unsupported: reason,
            class: Some(class),
            name,
            ..Callable::default()
        })
    }

    /// The class of a method, and what making its object throws; `None` if no object can be made.
    fn class(&self, name: &str, is_static: bool) -> Option<(Class, String)> {
        let class = |parameters, construction| Class {
            name: name.to_owned(),
            examples: Vec::new(),
            makers: Vec::new(),
            parameters,
            is_static,
            construction,
        };
        if is_static {
            return Some((class(Vec::new(), None), String::new()));
        }
        let of = self.types.find_type(name)?;
        let declared = if of.is_generic { format!("{name}<String>") } else { name.to_owned() };
        if !of.constants.is_empty() {
            let object = Parameter { values: of.constants.clone(), ..Parameter::default() };
            let object = Parameter { declared_type: name.to_owned(), ..object };
            let made = Construction { declared, ..Construction::default() };
            return Some((class(vec![object], Some(made)), String::new()));
        }
        let maker = self.types.maker_of(of, 0)?;
        let parameter = |(name, kind): &(String, String)| Parameter {
            name: name.clone(),
            types: plain_java_type(kind).into_iter().collect(),
            passing: Passing::Position,
            values: self.types.values_of(kind, 1),
            declared_type: kind.clone(),
            ..Parameter::default()
        };
        let parameters = maker.parameters.iter().map(parameter).collect();
        let (function, fluent) = (maker.function.clone(), of.fluent.clone());
        let made = Construction { function, declared, fluent };
        Some((class(parameters, Some(made)), maker.throws.clone()))
    }

    fn parameter(&self, name: String, declared: &str, body: Node<'_>, text: &str) -> Parameter {
        let mut values = self.types.values_of(declared, 0);
        if matches!(declared, "char" | "Character") {
            let letters = named_nodes(body).into_iter();
            let letters = letters.filter(|one| one.kind() == "character_literal");
            let letters: BTreeSet<&str> = letters.map(|one| text_of(one, text)).collect();
            let mut all: Vec<String> = letters.into_iter().map(str::to_owned).collect();
            all.retain(|one| !values.contains(one));
            values.splice(1..1, all);
        }
        Parameter {
            name,
            types: plain_java_type(declared).into_iter().collect(),
            passing: Passing::Position,
            values,
            declared_type: declared.to_owned(),
            ..Parameter::default()
        }
    }
}

/// A method among others that may have its name.
struct Method {
    name: String,
    /// Name, type and whether it takes the rest, of each parameter.
    parameters: Vec<(String, String, bool)>,
}

impl Method {
    fn new(node: Node<'_>, text: &str) -> Self {
        Self {
            name: field_of(node, "name", text).to_owned(),
            parameters: parameters_of(node, text),
        }
    }

    fn key(&self) -> String {
        let types: Vec<&str> = self.parameters.iter().map(|(_, kind, _)| kind.as_str()).collect();
        format!("{}({})", self.name, types.join(", "))
    }

    /// The keys of the methods that a call in `node`, which is this one, may call: those that fit its
    /// arguments best.
    fn called_by(&self, node: Node<'_>, call: Node<'_>, all: &[Self], text: &str) -> Vec<String> {
        let given = call.child_by_field_name("arguments").map(named_children).unwrap_or_default();
        let inner = named_nodes(node);
        let local = |name: &str| {
            let declared = inner.iter().find(|one| {
                one.kind() == "variable_declarator" && field_of(**one, "name", text) == name
            });
            declared.and_then(Node::parent).map_or("", |one| field_of(one, "type", text))
        };
        let kind = |one: &Node<'_>| match one.kind() {
            "identifier" => {
                let own = self.parameters.iter().find(|(name, ..)| name == text_of(*one, text));
                own.map_or_else(|| local(text_of(*one, text)), |(_, kind, _)| kind.as_str())
            }
            "object_creation_expression" => field_of(*one, "type", text),
            "true" | "false" => "boolean",
            "string_literal" => "String",
            _ => "",
        };
        let given: Vec<&str> = given.iter().map(kind).collect();
        let fit = |one: &Self| {
            // By convention the name of a class ends with that of what it extends.
            let same = given.iter().zip(&one.parameters);
            let same = same.filter(|(given, (_, kind, _))| given.ends_with(kind.as_str()));
            (one.parameters.len() == given.len(), same.count())
        };
        let named = || all.iter().filter(|one| one.name == field_of(call, "name", text));
        let best = named().map(fit).max();
        named().filter(|one| Some(fit(one)) == best).map(Self::key).collect()
    }
}

fn qualified(outer: &str, name: &str) -> String {
    if outer.is_empty() { name.to_owned() } else { format!("{outer}.{name}") }
}

/// The body of a type, and in an enum the part behind its constants.
fn parts_of(body: Node<'_>) -> Vec<Node<'_>> {
    let behind = named_children(body).into_iter();
    let behind = behind.filter(|one| one.kind() == "enum_body_declarations");
    [body].into_iter().chain(behind).collect()
}

fn has_modifier(node: Node<'_>, text: &str, word: &str) -> bool {
    let modifiers = named_children(node).into_iter().find(|one| one.kind() == "modifiers");
    modifiers.is_some_and(|one| text_of(one, text).split_whitespace().any(|each| each == word))
}

/// The types that a method declares to throw, without the word before them.
fn throws(node: Node<'_>, text: &str) -> String {
    let clause = named_children(node).into_iter().find(|one| one.kind() == "throws");
    clause.map_or("", |one| text_of(one, text)).trim_start_matches("throws").trim().to_owned()
}

/// What is known of making objects of a type.
fn read_type(node: Node<'_>, body: Node<'_>, text: &str, name: &str) -> JavaType {
    let variables = type_variables(node, text);
    let mut found = JavaType { is_generic: !variables.is_empty(), ..JavaType::default() };
    let diamond = if found.is_generic { "<>" } else { "" };
    let maker = |node: Node<'_>| maker_from(node, format!("new {name}{diamond}"), &variables, text);
    let is_open = |one: &Node<'_>| !has_modifier(*one, text, "private");
    let members: Vec<Node<'_>> = parts_of(body).into_iter().flat_map(named_children).collect();
    let of_kind =
        |kind: &'static str| members.iter().copied().filter(move |one| one.kind() == kind);
    let constructors: Vec<Node<'_>> = of_kind("constructor_declaration").collect();
    let own = field_of(node, "name", text);
    let chained = of_kind("method_declaration").filter(|one| {
        let result = field_of(*one, "type", text).split('<').next().unwrap_or_default();
        result.rsplit('.').next() == Some(own) && !has_modifier(*one, text, "static")
    });
    let chained: Vec<Node<'_>> = chained.collect();
    // Others return a new object, whose text a test compares.
    if chained.iter().any(|one| text_of(*one, text).contains("return this;")) {
        found.fluent = chained.iter().map(|one| field_of(*one, "name", text).to_owned()).collect();
    }
    let can_be_made = !has_modifier(node, text, "abstract");
    match node.kind() {
        "enum_declaration" => {
            let names = of_kind("enum_constant").map(|one| field_of(one, "name", text));
            found.constants = names.map(|one| format!("{name}.{one}")).collect();
        }
        "record_declaration" => found.makers.push(maker(node)),
        "class_declaration" if can_be_made && constructors.is_empty() => {
            let (function, is_public) =
                (format!("new {name}{diamond}"), has_modifier(node, text, "public"));
            found.makers.push(Maker { function, is_public, ..Maker::default() });
        }
        "class_declaration" if can_be_made => {
            let open = constructors.into_iter().filter(is_open);
            found.makers.extend(open.map(maker));
        }
        _ => {}
    }
    found
}

/// What makes an object, with the types that may stand in the place of its variables.
fn maker_from(
    node: Node<'_>,
    function: String,
    variables: &[(String, String)],
    text: &str,
) -> Maker {
    let mut all = type_variables(node, text);
    all.extend(variables.iter().cloned());
    let given = parameters_of(node, text).into_iter().filter(|(.., rest)| !rest);
    let given = given.map(|(name, kind, _)| (name, with_bounds(&kind, &all)));
    Maker {
        function,
        parameters: given.collect(),
        throws: throws(node, text),
        is_public: has_modifier(node, text, "public"),
    }
}

/// The static methods of a type that make objects of any class.
fn factories_in(of: Node<'_>, body: Node<'_>, text: &str, name: &str) -> Vec<(String, Maker)> {
    let is_factory = |one: &Node<'_>| {
        one.kind() == "method_declaration"
            && has_modifier(*one, text, "static")
            && !has_modifier(*one, text, "private")
            && unsupported_reason(Language::Java, *one, &[], text).is_none()
    };
    let variables = type_variables(of, text);
    let factory = |one: Node<'_>| {
        let result = field_of(one, "type", text).split('<').next().unwrap_or_default();
        let function = format!("{name}.{}", field_of(one, "name", text));
        (
            result.rsplit('.').next().unwrap_or(result).to_owned(),
            maker_from(one, function, &variables, text),
        )
    };
    named_children(body).into_iter().filter(is_factory).map(factory).collect()
}

/// Type variables with a type that may stand in their place.
fn type_variables(node: Node<'_>, text: &str) -> Vec<(String, String)> {
    let list = node.child_by_field_name("type_parameters").map(named_children).unwrap_or_default();
    let variable = |one: Node<'_>| {
        let declared = text_of(one, text);
        let (name, bound) = declared.split_once(" extends ").unwrap_or((declared, "String"));
        let bound = match bound {
            "Number" => "Integer",
            bound if bound.starts_with("Comparable") || bound == "Object" => "String",
            bound => bound,
        };
        (name.trim().to_owned(), bound.to_owned())
    };
    list.into_iter().map(variable).collect()
}

/// A type without annotations and packages, with the types that stand in the place of variables.
fn with_bounds(kind: &str, variables: &[(String, String)]) -> String {
    let plain = Regex::new(r"@\w+(\([^)]*\))?\s*|\b(?:[a-z]\w*\.)+");
    let mut kind =
        plain.map_or_else(|_| kind.to_owned(), |one| one.replace_all(kind, "").into_owned());
    for (name, bound) in variables {
        if let Ok(word) = Regex::new(&format!(r"\b{}\b", regex::escape(name))) {
            kind = word.replace_all(&kind, bound.as_str()).into_owned();
        }
    }
    kind.replace(',', ", ").replace(",  ", ", ")
}

/// Name and type of each parameter, and whether it takes all remaining arguments.
fn parameters_of(node: Node<'_>, text: &str) -> Vec<(String, String, bool)> {
    let list = node.child_by_field_name("parameters").map(named_children).unwrap_or_default();
    let parameter = |one: Node<'_>| match one.kind() {
        "formal_parameter" => {
            let kind =
                format!("{}{}", field_of(one, "type", text), field_of(one, "dimensions", text));
            Some((field_of(one, "name", text).to_owned(), kind, false))
        }
        "spread_parameter" => {
            let parts = named_children(one);
            let kind = parts.iter().find(|part| !matches!(part.kind(), "modifiers"))?;
            let name = parts.last()?;
            Some((text_of(*name, text).to_owned(), text_of(*kind, text).to_owned(), true))
        }
        _ => None,
    };
    list.into_iter().filter_map(parameter).collect()
}

/// The literals in a body without those of what is thrown; a letter is looked for in texts.
fn java_literals(body: Node<'_>, text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    visit(body, |node| {
        let is_number =
            matches!(node.kind(), "decimal_integer_literal" | "decimal_floating_point_literal");
        let is_text = matches!(node.kind(), "string_literal" | "character_literal");
        if (is_number || is_text) && is_constant(node) {
            let literal = text_of(node, text);
            let letter = literal.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
            let value = match letter {
                Some("\\'") => "\"'\"".to_owned(),
                Some(letter) => format!("\"{}\"", letter.replace('"', "\\\"")),
                None if is_number => {
                    literal.trim_end_matches(['L', 'l', 'd', 'D']).replace('_', "")
                }
                None => literal.to_owned(),
            };
            let is_new = value.len() <= LITERAL && !found.contains(&value);
            found.extend(Some(value).filter(|_| is_new && found.len() < LITERALS));
        }
        node.kind() != "throw_statement"
    });
    found
}
