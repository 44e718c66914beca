//! What a test of a Python file can call or read: its functions, and the members of its classes with
//! the way their objects are made.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::{Node, Tree};

use super::parameter_types::annotated;
use super::python_function::{read_function, read_parameters, strip_decorators};
use super::{Callable, Class, Parameter, Passing, Type, literals};
use crate::code::imports;
use crate::code::language::Language;
use crate::code::tree::{end_line, field_of, line, named_children, named_nodes, text_of};

/// Base classes that say nothing about how an object is made.
const NEUTRAL: &[&str] = &["object", "ABC", "Generic", "Protocol"];

/// Built-in base classes, and the type of the value that their objects are made of.
const BUILT_IN: &[(&str, Type)] = &[
    ("str", Type::Text),
    ("int", Type::Int),
    ("float", Type::Float),
    ("bytes", Type::Bytes),
    ("list", Type::List(&Type::Int)),
    ("tuple", Type::List(&Type::Int)),
    ("set", Type::Set),
    ("dict", Type::Map),
    ("OrderedDict", Type::Map),
    ("UserDict", Type::Map),
    ("UserList", Type::List(&Type::Int)),
];

/// Methods of a base class of the same file that tests of items need.
const INHERITED: &[&str] = &["__setitem__", "__iter__"];

/// How deep base classes are followed.
const DEPTH: usize = 4;

/// All functions, methods, properties and constructors of a module; classes may be those of the `imported`
/// sources.
pub fn callables(root: Node<'_>, text: &str, imported: &[(Tree, &str)]) -> Vec<Callable> {
    let statements: Vec<_> =
        named_children(root).into_iter().map(|child| strip_decorators(child, text)).collect();
    let mut classes = Classes::read(&statements, text);
    classes.imported = imported
        .iter()
        .map(|(tree, text)| Classes::read(&declared_classes(tree.root_node(), text), text))
        .collect();
    let class_of = |annotation: &str| classes.named_in(annotation);
    let mut found = Vec::new();
    for (node, decorators) in &statements {
        match node.kind() {
            "function_definition" => {
                found.extend(read_function(*node, text, None, decorators, &class_of));
            }
            "class_definition" => found.extend(list_members(*node, text, &classes)),
            _ => {}
        }
    }
    found
}

/// Marks what the file does not offer, if it offers anything.
pub fn mark_internal(found: &mut [Callable], stem: &str, text: &str, package: &str) {
    let offered = offered_names(stem, text, package).unwrap_or_default();
    let is_offered = |one: &Callable| offered.contains(one.subject());
    if found.iter().any(is_offered) {
        for one in found {
            one.is_internal = !is_offered(one);
        }
    }
}

/// The names that a module offers to others: those in its `__all__`, and of a private module such as `_parser`
/// those that its package imports; `None` where nothing tells. `package` is the `__init__.py` beside it.
pub fn offered_names(stem: &str, text: &str, package: &str) -> Option<BTreeSet<String>> {
    let is_private = stem.starts_with('_') && !stem.starts_with("__");
    let listed = listed_names(text);
    if !listed.is_empty() || !is_private || package.is_empty() {
        return Some(listed).filter(|listed| !listed.is_empty());
    }
    let tree = Language::Python.parse(package)?;
    let imported = imports::read(Language::Python, &tree, package).into_iter();
    let own = imported.filter(|one| one.module.rsplit('.').next() == Some(stem));
    let names: BTreeSet<String> = own.flat_map(|one| one.names).collect();
    (!names.contains("*")).then_some(names)
}

/// The names in the `__all__` of a module.
fn listed_names(text: &str) -> BTreeSet<String> {
    let Some(tree) = Language::Python.parse(text) else { return BTreeSet::new() };
    let lists = named_nodes(tree.root_node())
        .into_iter()
        .filter(|node| node.kind() == "assignment" && field_of(*node, "left", text) == "__all__");
    let texts = lists.flat_map(named_nodes).filter(|node| node.kind() == "string_content");
    texts.map(|node| text_of(node, text).to_owned()).collect()
}

/// The classes of a source, also those that a condition declares.
fn declared_classes<'a>(root: Node<'a>, text: &str) -> Vec<(Node<'a>, Vec<String>)> {
    let statements = named_children(root).into_iter();
    let inside =
        |one: Node<'a>| if one.kind() == "if_statement" { named_nodes(one) } else { vec![one] };
    statements.flat_map(inside).map(|one| strip_decorators(one, text)).collect()
}

struct Definition<'a> {
    node: Node<'a>,
    is_data: bool,
    bases: Vec<String>,
}

impl Definition<'_> {
    /// The type of the value that its objects are made of, if a base class is built in.
    fn built_in_type(&self) -> Option<Type> {
        let known = BUILT_IN.iter().find(|(name, _)| self.bases.iter().any(|base| base == name));
        known.map(|(_, kind)| *kind)
    }
}

/// The classes of a file, by name.
pub struct Classes<'a> {
    definitions: BTreeMap<&'a str, Definition<'a>>,
    text: &'a str,
    /// Those of the files that it imports.
    imported: Vec<Self>,
}

impl<'a> Classes<'a> {
    /// The classes among the statements of a module.
    pub fn read(statements: &[(Node<'a>, Vec<String>)], text: &'a str) -> Self {
        let classes = statements.iter().filter(|(node, _)| node.kind() == "class_definition");
        let definitions = classes
            .map(|(node, decorators)| {
                let bases = field_of(*node, "superclasses", text);
                let bases = bases.trim_matches(['(', ')']).split(',').map(|base| {
                    let plain = base.split('[').next().unwrap_or_default();
                    plain.rsplit('.').next().unwrap_or_default().trim().to_owned()
                });
                let named = bases.filter(|base| !base.is_empty() && !base.contains(['=', ']']));
                let is_data = decorators.iter().any(|one| one.contains("dataclass"));
                let definition = Definition { node: *node, is_data, bases: named.collect() };
                (field_of(*node, "name", text), definition)
            })
            .collect();
        Self { definitions, text, imported: Vec::new() }
    }

    /// The class that an annotation names, if it is public, of this file or imported, and can be made.
    pub fn named_in(&self, annotation: &str) -> Option<Class> {
        self.named_within(annotation, DEPTH)
    }

    /// The same, where objects are made of objects at most this deep.
    fn named_within(&self, annotation: &str, depth: usize) -> Option<Class> {
        let mut words = annotation.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let is_known = |word: &str| {
            let mut all = std::iter::once(self).chain(&self.imported);
            !word.starts_with('_') && all.any(|one| one.definitions.contains_key(word))
        };
        let name = words.find(|word| is_known(word))?;
        let parameters = self.constructor_of(name, depth)?.parameters;
        Some(Class {
            name: name.to_owned(),
            parameters,
            is_static: false,
            examples: Vec::new(),
            makers: Vec::new(),
            construction: None,
        })
    }

    /// What a class inherits from others of its file to keep items and to list them.
    fn inherited_operators(&self, name: &str) -> Vec<(Node<'a>, Vec<String>)> {
        let bases = self.definitions.get(name).into_iter().flat_map(|one| &one.bases);
        let bases = bases.filter_map(|base| self.definitions.get(base.as_str()));
        let members = bases.flat_map(|one| list_definitions(one.node, self.text));
        let is_needed = |one: &Node<'_>| INHERITED.contains(&field_of(*one, "name", self.text));
        members.filter(|(one, _)| is_needed(one)).collect()
    }

    /// How an object of a class is made; `None` if that is decided in another file.
    fn constructor_of(&self, name: &str, depth: usize) -> Option<Constructor<'a>> {
        let Some(class) = self.definitions.get(name).filter(|_| depth > 0) else {
            return self.imported.iter().find_map(|one| one.constructor_of(name, depth));
        };
        let members = list_definitions(class.node, self.text);
        let own = ["__init__", "__new__"].iter().find_map(|special| {
            members.iter().find(|(member, _)| field_of(*member, "name", self.text) == *special)
        });
        if let Some((member, _)) = own {
            let class_of = |annotation: &str| self.named_within(annotation, depth.checked_sub(2)?);
            let mut parameters = read_parameters(*member, self.text, 1, &class_of);
            // What becomes a text is made of one, whatever else its class accepts.
            let value = parameters.first_mut().filter(|one| !one.rest);
            if let (Some(value), Some(kind)) = (value, class.built_in_type()) {
                value.types.retain(|one| *one != kind);
                value.types.insert(0, kind);
                value.optional = false;
            }
            return Some(Constructor { parameters, definition: Some(*member) });
        }
        let is_tuple = class.bases.iter().any(|base| base == "NamedTuple");
        if class.is_data || is_tuple {
            let after = members
                .iter()
                .find(|(node, _)| field_of(*node, "name", self.text) == "__post_init__");
            let definition = after.map(|(node, _)| *node);
            return Some(Constructor { parameters: fields(&members, self.text), definition });
        }
        let base = class.bases.iter().find(|base| !NEUTRAL.contains(&base.as_str()));
        let Some(base) = base else {
            return Some(Constructor { parameters: Vec::new(), definition: None });
        };
        let built_in = BUILT_IN.iter().find(|(name, _)| name == base);
        let parameters = match built_in {
            Some((_, kind)) => vec![value_parameter(*kind)],
            None => self.constructor_of(base, depth - 1)?.parameters,
        };
        Some(Constructor { parameters, definition: None })
    }
}

/// How an object is made.
struct Constructor<'a> {
    parameters: Vec<Parameter>,
    /// The code of the class itself that runs then.
    definition: Option<Node<'a>>,
}

fn value_parameter(kind: Type) -> Parameter {
    Parameter {
        name: "value".into(),
        types: vec![kind],
        passing: Passing::Position,
        ..Parameter::default()
    }
}

fn list_definitions<'a>(class: Node<'a>, text: &str) -> Vec<(Node<'a>, Vec<String>)> {
    let body = class.child_by_field_name("body").map(named_children).unwrap_or_default();
    body.into_iter().map(|child| strip_decorators(child, text)).collect()
}

/// The public members of a public class, its constructor first.
pub fn list_members(node: Node<'_>, text: &str, classes: &Classes<'_>) -> Vec<Callable> {
    let name = field_of(node, "name", text);
    let bases = field_of(node, "superclasses", text);
    if name.starts_with('_') || name.starts_with("Test") || bases.contains("TestCase") {
        return Vec::new();
    }
    let constructor = classes.constructor_of(name, DEPTH);
    let class_of = |annotation: &str| classes.named_in(annotation);
    let mut found: Vec<Callable> = Vec::new();
    if let Some(Constructor { parameters, definition: Some(member) }) = &constructor {
        found.push(constructor_call(name, *member, parameters.clone(), text));
    }
    let inherited = classes.inherited_operators(name);
    for (member, marks) in list_definitions(node, text).into_iter().chain(inherited) {
        let own = field_of(member, "name", text);
        let is_known = || found.iter().any(|one| one.short_name() == own);
        if member.kind() != "function_definition" || INHERITED.contains(&own) && is_known() {
            continue;
        }
        if marks.iter().any(|mark| mark.ends_with(".setter") || mark.ends_with(".deleter")) {
            let read = found.iter_mut().find(|one| one.is_property && one.short_name() == own);
            let value = read_parameters(member, text, 1, &class_of).into_iter().next();
            if let (Some(read), Some(value)) = (read, value) {
                read.assigned = Some(value);
            }
            continue;
        }
        let is_static = marks.iter().any(|mark| mark == "staticmethod" || mark == "classmethod");
        let parameters = constructor.as_ref().map(|one| one.parameters.clone());
        let class = Class {
            name: name.to_owned(),
            parameters: parameters.filter(|_| !is_static).unwrap_or_default(),
            is_static,
            examples: Vec::new(),
            makers: Vec::new(),
            construction: None,
        };
        if let Some(mut callable) = read_function(member, text, Some(class), &marks, &class_of) {
            if !is_static && constructor.is_none() && callable.unsupported.is_none() {
                callable.unsupported =
                    Some("its class is made by a base class that its file does not define".into());
            }
            found.push(callable);
        }
    }
    found
}

/// The call of a class, which runs code of its own.
fn constructor_call(
    name: &str,
    member: Node<'_>,
    parameters: Vec<Parameter>,
    text: &str,
) -> Callable {
    let body = member.child_by_field_name("body");
    Callable {
        name: format!("{name}.{}", field_of(member, "name", text)),
        start: line(member),
        end: end_line(member),
        class: Some(Class {
            name: name.to_owned(),
            parameters: Vec::new(),
            is_static: true,
            examples: Vec::new(),
            makers: Vec::new(),
            construction: None,
        }),
        parameters,
        literals: body.map(|body| literals(body, text)).unwrap_or_default(),
        export: Some(name.to_owned()),
        ..Callable::default()
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
                ..Parameter::default()
            })
        })
        .collect()
}
