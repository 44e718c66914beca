//! Lists the functions of a file with their line ranges.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::behaviour::kinds::{self, Kind};
use super::behaviour::{self, Behaviour, walk::callable};
use super::language::Language;
use super::signature::express_routes::{self, RouteHandler};
use super::signature::factory_exports;
use super::signature::prototype_methods::prototype_methods;
use super::tree::{children, end_line, first_field, line, text_of};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name, with its class before a dot where there is one.
    pub name: String,
    /// The first line, from 1.
    pub start: u32,
    /// The last line, inclusive.
    pub end: u32,
}

/// What a declaration introduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclarationKind {
    Function,
    /// A class, struct, interface or another type, a block with its methods, or an inline module.
    Type,
    /// A constant or variable outside of functions, a macro, or a function without a body.
    Value,
}

/// A named declaration in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    pub kind: DeclarationKind,
    /// The name, with its class before a dot where there is one; in Go, with the receiver's type.
    pub name: String,
    /// The first line, from 1.
    pub start: u32,
    /// The last line, inclusive.
    pub end: u32,
}

/// All functions of a text; an outer function precedes its nested ones.
pub fn functions(language: Language, text: &str) -> Vec<Function> {
    let tree = language.parse(text);
    tree.map(|tree| functions_below(tree.root_node(), text)).unwrap_or_default()
}

/// All functions below a node; an outer function precedes its nested ones.
pub fn functions_below(root: Node<'_>, text: &str) -> Vec<Function> {
    let mut found = Vec::new();
    collect(root, text, "", &mut found);
    found
}

/// All functions below a node; in Go, those of a type have it before their names.
pub fn qualified_functions(root: Node<'_>, text: &str) -> Vec<Function> {
    let declared = declarations_below(root, text).into_iter();
    let declared = declared.filter(|one| one.kind == DeclarationKind::Function);
    let mut found: Vec<Function> = declared
        .map(|Declaration { name, start, end, .. }| Function { name, start, end })
        .collect();
    let known: BTreeSet<(u32, u32)> = found.iter().map(|one| (one.start, one.end)).collect();
    let further = functions_below(root, text).into_iter();
    found.extend(further.filter(|one| !known.contains(&(one.start, one.end))));
    found
}

/// The functions that a script writes where it declares routes, by the names of these.
pub fn route_handlers(root: Node<'_>, text: &str) -> Vec<Function> {
    let handlers = express_routes::list_handlers(root, text).into_iter();
    let function = |one: RouteHandler<'_, '_>| {
        let (start, end) = (line(one.function), end_line(one.function));
        Function { name: one.name, start, end }
    };
    handlers.map(function).collect()
}

/// All functions, those that a script exports where they are written, of which one without a name is called `default`,
/// and the handlers of its routes.
pub fn functions_and_default_export(language: Language, text: &str) -> Vec<Function> {
    let mut found = functions(language, text);
    if language.is_script() {
        let exported = behaviour::read(language, text).into_iter();
        let exported =
            exported.map(|Behaviour { name, start, end, .. }| Function { name, start, end });
        let tree = language.parse(text);
        let handlers = tree.map(|tree| route_handlers(tree.root_node(), text)).unwrap_or_default();
        let exported = exported.chain(handlers);
        let is_new = |one: &Function| found.iter().all(|known| known.name != one.name);
        let further: Vec<Function> = exported.filter(is_new).collect();
        found.extend(further);
    }
    found
}

fn collect(node: Node<'_>, text: &str, prefix: &str, found: &mut Vec<Function>) {
    let mut inner = prefix.to_owned();
    let kind = kinds::of(node.kind());
    let is_function = kind == Kind::Function && callable(node).is_some();
    let name = first_field(node, &["name", "key", "type"]);
    if let Some(name) = name.filter(|_| is_function || kind == Kind::Group) {
        let name = text_of(name, text);
        inner = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        if is_function {
            found.push(Function { name: inner.clone(), start: line(node), end: end_line(node) });
        }
    }
    if let Some((name, function)) = factory_exports::member_function(node, text)
        && prefix.is_empty()
    {
        name.clone_into(&mut inner);
        found.push(Function {
            name: inner.clone(),
            start: line(function),
            end: end_line(function),
        });
    }
    for one in prototype_methods(node, text) {
        one.class.clone_into(&mut inner);
        // Entries of an object come below.
        if one.whole == node {
            inner = format!("{}.{}", one.class, one.name);
            let (start, end) = (line(one.function), end_line(one.function));
            found.push(Function { name: inner.clone(), start, end });
        }
    }
    for child in children(node) {
        collect(child, text, &inner, found);
    }
}

/// Nodes of types besides those that [`Kind::Group`] stands for.
const TYPES: &[&str] = &[
    "struct_item",
    "enum_item",
    "union_item",
    "type_item",
    "type_spec",
    "type_alias",
    "abstract_class_declaration",
    "type_alias_declaration",
    "internal_module",
    "module",
    "annotation_type_declaration",
];

/// Nodes of values and the fields with their names.
const VALUES: &[(&str, &str)] = &[
    ("const_spec", "name"),
    ("var_spec", "name"),
    ("const_item", "name"),
    ("static_item", "name"),
    ("macro_definition", "name"),
    ("variable_declarator", "name"),
    ("function_signature", "name"),
    ("assignment", "left"),
];

/// Values that are made before a program runs, also where they stand inside a function.
const CONSTANTS: &[&str] = &["const_spec", "const_item", "static_item"];

/// All named declarations but variables inside functions; outer ones precede nested ones.
pub fn declarations(language: Language, text: &str) -> Vec<Declaration> {
    let tree = language.parse(text);
    tree.map(|tree| declarations_below(tree.root_node(), text)).unwrap_or_default()
}

/// All named declarations below a node, as [`declarations`] lists them.
pub fn declarations_below(root: Node<'_>, text: &str) -> Vec<Declaration> {
    let mut found = Vec::new();
    declare(root, text, ("", false), &mut found);
    found
}

/// The names that a text declares at its top level, with methods in Go.
pub fn top_level(language: Language, text: &str) -> Vec<String> {
    let declared = declarations(language, text).into_iter().map(|one| one.name);
    declared
        .filter_map(|name| match (language, name.rsplit_once('.')) {
            (_, None) => Some(name),
            (Language::Go, Some((_, method))) => Some(method.to_owned()),
            _ => None,
        })
        .filter(|name| name != "_")
        .collect()
}

fn declare(
    node: Node<'_>,
    text: &str,
    (prefix, in_function): (&str, bool),
    found: &mut Vec<Declaration>,
) {
    let kind = kinds::of(node.kind());
    let value = VALUES.iter().find(|(kind, _)| *kind == node.kind());
    let (declared, names) = if kind == Kind::Function && callable(node).is_some() {
        let name = first_field(node, &["name", "key"]);
        (DeclarationKind::Function, name.into_iter().collect())
    } else if kind == Kind::Group || TYPES.contains(&node.kind()) {
        let name = first_field(node, &["name", "type"]);
        (DeclarationKind::Type, name.into_iter().collect())
    } else {
        let listed = value.filter(|(kind, _)| !in_function || CONSTANTS.contains(kind));
        let fields = listed.map(|(_, field)| {
            node.children_by_field_name(field, &mut node.walk()).collect::<Vec<_>>()
        });
        (DeclarationKind::Value, fields.unwrap_or_default())
    };
    let mut inner = prefix.to_owned();
    for name in names.into_iter().filter(|name| is_name(*name, declared)) {
        let name = text_of(name, text).trim_matches(['"', '\'']);
        let owner = receiver(node, text).unwrap_or(prefix);
        let name = if owner.is_empty() { name.to_owned() } else { format!("{owner}.{name}") };
        if declared != DeclarationKind::Value {
            inner.clone_from(&name);
        }
        let (start, end) = (line(node), end_line(node));
        found.push(Declaration { kind: declared, name, start, end });
    }
    let in_function = in_function || declared == DeclarationKind::Function;
    for child in children(node) {
        declare(child, text, (&inner, in_function), found);
    }
}

/// Whether a node is one name, rather than a pattern of several or an expression.
fn is_name(node: Node<'_>, declared: DeclarationKind) -> bool {
    declared != DeclarationKind::Value || node.kind().ends_with("identifier")
}

/// The type of a method's receiver in Go.
fn receiver<'t>(node: Node<'_>, text: &'t str) -> Option<&'t str> {
    let list = text_of(node.child_by_field_name("receiver")?, text);
    // Behind the type stand its parameters.
    list.trim_matches(['(', ')']).split('[').next()?.rsplit([' ', '*']).next()
}

/// The innermost function that contains a line.
pub fn enclosing(functions: &[Function], line: u32) -> Option<&Function> {
    functions
        .iter()
        .filter(|function| function.start <= line && line <= function.end)
        .min_by_key(|function| function.end - function.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_are_exported_where_they_are_written_count() {
        let table = [
            ("module.exports = function quote(xs) {\n  return xs;\n};\n", "quote"),
            ("module.exports = function (xs) {\n  return xs;\n};\n", "default"),
            ("exports.quote = (xs) => {\n  return xs;\n};\n", "quote"),
            ("function quote(xs) {\n  return xs;\n}\nmodule.exports = quote;\n", "quote"),
        ];
        for (text, expected) in table {
            let found = functions_and_default_export(Language::JavaScript, text);
            let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
            assert_eq!(names, [expected], "{text}");
        }
    }

    #[test]
    fn functions_of_every_language_are_found() {
        let table = [
            (Language::Python, "class A:\n    def f(self):\n        return 1\n", "A.f", 2, 3),
            (Language::JavaScript, "class A {\n  f() {\n    return 1;\n  }\n}\n", "A.f", 2, 4),
            (
                Language::TypeScript,
                "export const f = (a: number) => {\n  return a;\n};\n",
                "f",
                1,
                3,
            ),
            (Language::Rust, "impl A {\n    fn f() {}\n}\n", "A.f", 2, 2),
            (Language::Go, "package a\n\nfunc f() int {\n\treturn 1\n}\n", "f", 3, 5),
            (Language::Java, "class A {\n  int f() {\n    return 1;\n  }\n}\n", "A.f", 2, 4),
        ];
        for (language, text, name, start, end) in table {
            let found = functions(language, text);
            let expected = Function { name: name.into(), start, end };
            assert_eq!(enclosing(&found, start), Some(&expected), "{language:?}");
        }
    }

    #[test]
    fn methods_of_a_prototype_are_functions_of_a_class() {
        let text = "function A() {}\nA.prototype.f = function g() {\n  return () => 1;\n};\nA.prototype = {\n  h: function () {},\n  i() {},\n};\n";
        let found = functions(Language::JavaScript, text);
        let found: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.start)).collect();
        assert_eq!(found, [("A", 1), ("A.f", 2), ("A.h", 6), ("A.i", 7)]);
    }

    #[test]
    fn functions_set_on_a_function_have_its_name_before_theirs() {
        let text = "const f = (a) => g(a);\nf.parse = (a) => parse(a);\nf.parse.strict = function (a) {\n  return parse(a);\n};\nf.limit = 3;\n";
        let found = functions(Language::JavaScript, text);
        let found: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.start)).collect();
        assert_eq!(found, [("f", 1), ("f.parse", 2)]);
    }

    #[test]
    fn a_line_belongs_to_the_innermost_function() {
        let text = "def f():\n    def g():\n        return 1\n    return g\n\n\nX = 1\n";
        let found = functions(Language::Python, text);
        let table = [(1, Some("f")), (2, Some("f.g")), (3, Some("f.g")), (4, Some("f")), (7, None)];
        for (line, expected) in table {
            let name = enclosing(&found, line).map(|function| function.name.as_str());
            assert_eq!(name, expected, "{line}");
        }
    }

    #[test]
    fn declarations_of_every_language_are_found() {
        use DeclarationKind::{Function as F, Type as T, Value as V};
        let table = [
            (
                Language::Python,
                "X = 1\nY: int = 2\na.b = 3\nclass A:\n    z = 1\n    def f(self):\n        v = 1\n",
                vec![
                    (V, "X", 1, 1),
                    (V, "Y", 2, 2),
                    (T, "A", 4, 7),
                    (V, "A.z", 5, 5),
                    (F, "A.f", 6, 7),
                ],
            ),
            (
                Language::TypeScript,
                "const a = 1;\nconst f = () => 1;\ninterface I { b: 1 }\ntype U = I;\nabstract class C {\n  m() {}\n}\n",
                vec![
                    (V, "a", 1, 1),
                    (F, "f", 2, 2),
                    (T, "I", 3, 3),
                    (T, "U", 4, 4),
                    (T, "C", 5, 7),
                    (F, "C.m", 6, 6),
                ],
            ),
            (
                Language::Rust,
                "const A: u8 = 1;\nstruct B;\nimpl B {\n    fn f() {}\n}\nmacro_rules! m { () => {} }\n",
                vec![
                    (V, "A", 1, 1),
                    (T, "B", 2, 2),
                    (T, "B", 3, 5),
                    (F, "B.f", 4, 4),
                    (V, "m", 6, 6),
                ],
            ),
            (
                Language::Go,
                "package a\n\nconst X, Y = 1, 2\n\ntype T struct{}\n\nfunc (t *T) F() {\n\tvar v = 1\n}\n",
                vec![(V, "X", 3, 3), (V, "Y", 3, 3), (T, "T", 5, 5), (F, "T.F", 7, 9)],
            ),
            (
                Language::Rust,
                "fn f() {\n    const A: u8 = 1;\n    let b = A;\n}\n",
                vec![(F, "f", 1, 4), (V, "f.A", 2, 2)],
            ),
            (
                Language::Java,
                "class A {\n  int x = 1;\n  A() {}\n  int f() { int y = 1; return y; }\n}\n",
                vec![(T, "A", 1, 5), (V, "A.x", 2, 2), (F, "A.A", 3, 3), (F, "A.f", 4, 4)],
            ),
        ];
        for (language, text, expected) in table {
            let found = declarations(language, text);
            let found: Vec<_> =
                found.iter().map(|one| (one.kind, one.name.as_str(), one.start, one.end)).collect();
            assert_eq!(found, expected, "{language:?}");
        }
    }

    #[test]
    fn the_top_level_has_methods_in_go_alone() {
        let go = "package a\n\nvar _ = 1\n\ntype T struct{}\n\nfunc (t T) F() {}\n";
        assert_eq!(top_level(Language::Go, go), ["T", "F"]);
        let java = "class A {\n  int x;\n  void f() {}\n}\n";
        assert_eq!(top_level(Language::Java, java), ["A"]);
    }

    #[test]
    fn values_that_are_no_functions_have_no_range() {
        let table = [
            (Language::JavaScript, "const a = 1;\nconst b = { c: 2 };\n"),
            (Language::Python, "class A:\n    x = 1\n"),
            (Language::Rust, "const A: u8 = 1;\nstruct B;\n"),
            (Language::Go, "package a\n\nvar A = 1\n"),
            (Language::Java, "class A { int x = 1; }\n"),
        ];
        for (language, text) in table {
            assert_eq!(functions(language, text), [], "{language:?}");
        }
    }
}
