//! Lists the functions of a file with their line ranges.

use tree_sitter::Node;

use super::behaviour::kinds::{self, Kind};
use super::behaviour::{self, walk::callable};
use super::language::Language;
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

/// All functions of a text; an outer function precedes its nested ones.
pub fn functions(language: Language, text: &str) -> Vec<Function> {
    let Some(tree) = language.parse(text) else { return Vec::new() };
    let mut found = Vec::new();
    collect(tree.root_node(), text, "", &mut found);
    found
}

/// All functions, and those that a script exports without a name, which are called `default`.
pub fn functions_and_default_export(language: Language, text: &str) -> Vec<Function> {
    let nameless = behaviour::read(language, text).into_iter().filter(|one| one.name == "default");
    let nameless = nameless.map(|one| Function { name: one.name, start: one.start, end: one.end });
    functions(language, text).into_iter().chain(nameless).collect()
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
    for child in children(node) {
        collect(child, text, &inner, found);
    }
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
