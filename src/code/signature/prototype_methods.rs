//! Methods that a script sets on the prototype of a function, which makes that function a class.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::module_exports::assigned_value;
use crate::code::tree::{field_of, named_children, named_nodes, text_of};

/// Functions that are values of an assignment or a key.
const METHODS: &[&str] =
    &["function_expression", "generator_function", "arrow_function", "method_definition"];

/// A method or getter of a class.
#[derive(Clone, Copy, Debug)]
pub struct ClassMethod<'a, 't> {
    pub class: &'a str,
    pub name: &'a str,
    pub function: Node<'t>,
    /// What documentation precedes: the statement, or the entry of an object.
    pub whole: Node<'t>,
    /// Whether it is read as an attribute.
    pub is_property: bool,
}

/// The functions of a script that have methods, by name.
pub fn prototype_classes<'a>(root: Node<'_>, text: &'a str) -> BTreeSet<&'a str> {
    let all = named_nodes(root).into_iter();
    all.flat_map(|one| prototype_methods(one, text)).map(|one| one.class).collect()
}

/// The methods that a statement sets: `X.prototype.m = function …`, `X.prototype = { m: function … }`,
/// `Object.defineProperty(X.prototype, 'm', { get: function … })`.
pub fn prototype_methods<'a, 't>(statement: Node<'t>, text: &'a str) -> Vec<ClassMethod<'a, 't>> {
    let inner = statement.named_child(0).filter(|_| statement.kind() == "expression_statement");
    let found = match inner.map(|inner| (inner, inner.kind())) {
        Some((inner, "assignment_expression")) => assigned_methods(inner, statement, text),
        Some((inner, "call_expression")) => defined_method(inner, statement, text),
        _ => None,
    };
    let mut found = found.unwrap_or_default();
    found.retain(|one| {
        is_name(one.class)
            && is_name(one.name)
            && one.name != "constructor"
            && METHODS.contains(&one.function.kind())
    });
    found
}

fn assigned_methods<'a, 't>(
    assignment: Node<'t>,
    whole: Node<'t>,
    text: &'a str,
) -> Option<Vec<ClassMethod<'a, 't>>> {
    let (class, name) = field_of(assignment, "left", text).split_once(".prototype")?;
    let function = assigned_value(assignment)?;
    if let Some(name) = name.strip_prefix('.') {
        return Some(vec![ClassMethod { class, name, function, whole, is_property: false }]);
    }
    let entries = named_children(function).into_iter().filter(|_| name.is_empty());
    let method = |entry: Node<'t>| {
        let (name, function) = entry_of(entry, text)?;
        let source = text_of(entry, text);
        let is_property = entry.kind() == "method_definition" && source.starts_with("get ");
        let is_set = entry.kind() == "method_definition" && source.starts_with("set ");
        let method = ClassMethod { class, name, function, whole: entry, is_property };
        (!is_set).then_some(method)
    };
    Some(entries.filter_map(method).collect())
}

fn defined_method<'a, 't>(
    call: Node<'t>,
    whole: Node<'t>,
    text: &'a str,
) -> Option<Vec<ClassMethod<'a, 't>>> {
    if field_of(call, "function", text) != "Object.defineProperty" {
        return None;
    }
    let given = named_children(call.child_by_field_name("arguments")?);
    let [object, key, descriptor] = given.as_slice() else { return None };
    let class = text_of(*object, text).strip_suffix(".prototype")?;
    let name = text_of(*key, text).trim_matches(['"', '\'']);
    let mut entries = named_children(*descriptor).into_iter();
    let entry = entries
        .find_map(|one| entry_of(one, text).filter(|(name, _)| matches!(*name, "get" | "value")));
    let (kind, function) = entry?;
    Some(vec![ClassMethod { class, name, function, whole, is_property: kind == "get" }])
}

/// The key and the function of an entry of an object.
fn entry_of<'a, 't>(entry: Node<'t>, text: &'a str) -> Option<(&'a str, Node<'t>)> {
    let key = match entry.kind() {
        "pair" => "key",
        "method_definition" => "name",
        _ => return None,
    };
    let function = entry.child_by_field_name("value").unwrap_or(entry);
    Some((field_of(entry, key, text).trim_matches(['"', '\'']), function))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;

    /// The class and the name of a method, and whether it is a property.
    type Shown = (&'static str, &'static str, bool);

    #[test]
    fn methods_of_a_prototype_are_found_in_each_way_to_set_them() {
        let table: &[(&str, &[Shown])] = &[
            ("A.prototype.f = function f(a) {};", &[("A", "f", false)]),
            ("A.prototype.f = A.prototype.g = (a) => a;", &[("A", "f", false)]),
            ("A.prototype.f = A.prototype.g;", &[]),
            ("A.prototype.size = 1;", &[]),
            ("A.f = function () {};", &[]),
            ("A.prototype[Symbol.iterator] = function* () {};", &[]),
            ("A.prototype.constructor = function () {};", &[]),
            ("a.b.prototype.f = function () {};", &[]),
            (
                "A.prototype = { constructor: A, f: function () {}, 'g': () => 1, h() {}, n: 1 };",
                &[("A", "f", false), ("A", "g", false), ("A", "h", false)],
            ),
            ("A.prototype = { get f() { return 1; }, set g(a) {} };", &[("A", "f", true)]),
            (
                "Object.defineProperty(A.prototype, 'f', { get: function f() {} });",
                &[("A", "f", true)],
            ),
            (
                "Object.defineProperty(A.prototype, \"f\", { enumerable: false, get() {} });",
                &[("A", "f", true)],
            ),
            (
                "Object.defineProperty(A.prototype, 'f', { value: function () {} });",
                &[("A", "f", false)],
            ),
            ("Object.defineProperty(A.prototype, 'f', { set: function (a) {} });", &[]),
            ("Object.defineProperty(A, 'f', { get: function () {} });", &[]),
            ("Object.freeze(A.prototype, 'f', { get: function () {} });", &[]),
        ];
        for (text, expected) in table {
            let tree = Language::JavaScript.parse(text).unwrap();
            let statement = tree.root_node().named_child(0).unwrap();
            let found = prototype_methods(statement, text);
            let found: Vec<_> =
                found.iter().map(|one| (one.class, one.name, one.is_property)).collect();
            assert_eq!(found, *expected, "{text}");
        }
    }
}
