//! Extracts the imports of one file from its syntax tree.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::code::language::Language;
use crate::code::tree::{FUNCTIONS, around, field_of, line, named_nodes, text_of};

/// The syntax by which a file imports a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportKind {
    /// An import statement: `import`, `from … import`, `export … from`, `use`.
    Statement,
    /// An import that exists only at compile time: `import type`.
    TypeOnly,
    /// A call that loads a module: `require`, `import()`, `import_module`.
    Call,
    /// A call that replaces a module, or a part of it, in a test: `jest.mock`, `patch`.
    Mock,
    /// A module declaration in Rust: `mod name;`.
    Submodule,
}

/// A module that a file imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The module as written, without quotes. In Rust it is the whole path of one `use`, in Java
    /// the package or class that contains the imported name.
    pub module: String,
    /// The imported names; none if the module itself is imported. `*` stands for all names,
    /// `default` for a default export.
    pub names: Vec<String>,
    /// The byte range of the statement or call.
    pub range: Range<usize>,
    /// First line of the statement or call, from 1.
    pub line: u32,
    pub kind: ImportKind,
    /// Whether it is always executed at load, being in neither a function nor a condition.
    pub at_load: bool,
}

/// Reads the imports of a file, in the order of its text.
pub fn read(language: Language, tree: &Tree, text: &str) -> Vec<Import> {
    read_nodes(language, &named_nodes(tree.root_node()), text)
}

/// Extracts the imports among the nodes of a tree that was already traversed.
pub fn read_nodes(language: Language, nodes: &[Node<'_>], text: &str) -> Vec<Import> {
    let reader = match language {
        Language::Python => python,
        Language::JavaScript | Language::TypeScript | Language::Tsx => script,
        Language::Rust => rust,
        Language::Go => go,
        Language::Java => java,
    };
    nodes.iter().flat_map(|node| reader(*node, text)).collect()
}

fn import(node: Node<'_>, module: &str, kind: ImportKind) -> Import {
    const CONDITIONS: &[&str] = &["if_statement", "try_statement", "with_statement"];
    Import {
        module: module.to_owned(),
        names: Vec::new(),
        range: node.byte_range(),
        line: line(node),
        kind,
        at_load: around(node, FUNCTIONS).is_none() && around(node, CONDITIONS).is_none(),
    }
}

/// The imported name, not its alias.
fn name_of(node: Node<'_>, text: &str) -> String {
    text_of(node.child_by_field_name("name").unwrap_or(node), text).to_owned()
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}

/// The first argument of a call, without quotes.
fn first_argument<'a>(node: Node<'_>, text: &'a str) -> &'a str {
    let list = node.child_by_field_name("arguments");
    let first = list.and_then(|list| list.named_child(0));
    first.map(|first| unquoted(text_of(first, text))).unwrap_or_default()
}

fn python(node: Node<'_>, text: &str) -> Vec<Import> {
    let mut cursor = node.walk();
    match node.kind() {
        "import_statement" => node
            .children_by_field_name("name", &mut cursor)
            .map(|name| import(node, &name_of(name, text), ImportKind::Statement))
            .collect(),
        "import_from_statement" => {
            let names = node.children_by_field_name("name", &mut cursor);
            let mut names: Vec<String> = names.map(|name| name_of(name, text)).collect();
            if names.is_empty() {
                names.push("*".into());
            }
            let module = field_of(node, "module_name", text);
            vec![Import { names, ..import(node, module, ImportKind::Statement) }]
        }
        "call" => {
            let callee = field_of(node, "function", text);
            let kind = if callee.ends_with("import_module") || callee == "__import__" {
                ImportKind::Call
            } else if callee.ends_with("patch") {
                ImportKind::Mock
            } else {
                return Vec::new();
            };
            // The name may be of a module or of an attribute of one.
            let target = first_argument(node, text);
            let module = target.rsplit_once('.').map(|(module, _)| module);
            std::iter::once(target).chain(module).map(|one| import(node, one, kind)).collect()
        }
        _ => Vec::new(),
    }
}

fn script(node: Node<'_>, text: &str) -> Vec<Import> {
    match node.kind() {
        "import_statement" | "export_statement" => {
            let module = unquoted(field_of(node, "source", text));
            if module.is_empty() {
                return Vec::new();
            }
            let statement = text_of(node, text);
            let types =
                ["import type", "export type"].iter().any(|word| statement.starts_with(word));
            let kind = if types { ImportKind::TypeOnly } else { ImportKind::Statement };
            let names = match node.kind() {
                "import_statement" => script_names(node, text),
                _ => Vec::new(),
            };
            vec![Import { names, ..import(node, module, kind) }]
        }
        "call_expression" => {
            let kind = match field_of(node, "function", text) {
                "require" | "import" | "require.resolve" | "jest.requireActual" => ImportKind::Call,
                "jest.mock" | "vi.mock" => ImportKind::Mock,
                _ => return Vec::new(),
            };
            let list = node.child_by_field_name("arguments");
            let first = list.and_then(|list| list.named_child(0));
            let fixed = first.is_some_and(|one| matches!(one.kind(), "string" | "template_string"));
            fixed.then(|| import(node, first_argument(node, text), kind)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The names in a JavaScript import clause.
fn script_names(statement: Node<'_>, text: &str) -> Vec<String> {
    let name = |node: Node<'_>| match (node.kind(), node.parent()?.kind()) {
        ("identifier", "import_clause") => Some("default".to_owned()),
        ("identifier", "namespace_import") => Some("*".to_owned()),
        ("import_specifier", _) => Some(name_of(node, text)),
        _ => None,
    };
    named_nodes(statement).into_iter().filter_map(name).collect()
}

fn rust(node: Node<'_>, text: &str) -> Vec<Import> {
    match node.kind() {
        "mod_item" if node.child_by_field_name("body").is_none() => {
            vec![import(node, field_of(node, "name", text), ImportKind::Submodule)]
        }
        "use_declaration" => use_paths(field_of(node, "argument", text))
            .iter()
            .map(|path| import(node, path, ImportKind::Statement))
            .collect(),
        _ => Vec::new(),
    }
}

/// All paths of a use tree: `a::{b, c::{d, e}}` has `a::b`, `a::c::d` and `a::c::e`.
fn use_paths(tree: &str) -> Vec<String> {
    let (mut paths, mut prefixes, mut word) = (Vec::new(), vec![String::new()], String::new());
    let mut finish = |word: &mut String, prefix: &str| {
        let path = word.split(" as ").next().unwrap_or_default();
        let path: String = path.split_whitespace().collect();
        if !path.is_empty() {
            paths.push(format!("{prefix}{path}"));
        }
        word.clear();
    };
    for letter in tree.chars() {
        let prefix = prefixes.last().cloned().unwrap_or_default();
        match letter {
            '{' => {
                let head: String = word.split_whitespace().collect();
                prefixes.push(format!("{prefix}{head}"));
                word.clear();
            }
            '}' => {
                finish(&mut word, &prefix);
                prefixes.pop();
            }
            ',' => finish(&mut word, &prefix),
            letter => word.push(letter),
        }
    }
    finish(&mut word, "");
    paths
}

fn go(node: Node<'_>, text: &str) -> Vec<Import> {
    if node.kind() != "import_spec" {
        return Vec::new();
    }
    vec![import(node, unquoted(field_of(node, "path", text)), ImportKind::Statement)]
}

fn java(node: Node<'_>, text: &str) -> Vec<Import> {
    if node.kind() != "import_declaration" {
        return Vec::new();
    }
    let path = text_of(node, text).trim_end_matches(';').trim_start_matches("import").trim();
    let path = path.strip_prefix("static ").unwrap_or(path).trim();
    let (module, name) = path.rsplit_once('.').unwrap_or((path, ""));
    let names = vec![name.trim().to_owned()];
    vec![Import { names, ..import(node, module.trim(), ImportKind::Statement) }]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The imports of a text, one line each: kind, module, names, and `later` if it is not always
    /// executed on load.
    fn imports(language: Language, text: &str) -> Vec<String> {
        let tree = language.parse(text).unwrap();
        read(language, &tree, text)
            .iter()
            .map(|one| {
                let later = if one.at_load { "" } else { " later" };
                format!("{:?} {} [{}]{later}", one.kind, one.module, one.names.join(", "))
            })
            .collect()
    }

    fn check(language: Language, table: &[(&str, &[&str])]) {
        for (text, expected) in table {
            assert_eq!(imports(language, text), *expected, "{text}");
        }
    }

    #[test]
    fn imports_of_python() {
        check(
            Language::Python,
            &[
                ("import a.b, c as d\n", &["Statement a.b []", "Statement c []"]),
                ("from .m import x, y as z\n", &["Statement .m [x, y]"]),
                ("from . import m\n", &["Statement . [m]"]),
                ("from m import *\n", &["Statement m [*]"]),
                ("from m import (\n    a,\n    b,\n)\n", &["Statement m [a, b]"]),
                ("def f():\n    import a\n", &["Statement a [] later"]),
                ("try:\n    import a\nexcept ImportError:\n    a = 1\n", &["Statement a [] later"]),
                ("if X:\n    from a import b\n", &["Statement a [b] later"]),
                ("importlib.import_module('a.b')\n", &["Call a.b []", "Call a []"]),
                ("__import__('a')\n", &["Call a []"]),
                ("@patch('a.b.c')\ndef test(m): pass\n", &["Mock a.b.c []", "Mock a.b []"]),
                ("x = 'import a'  # import b\n", &[]),
            ],
        );
    }

    #[test]
    fn imports_of_scripts() {
        let table: &[(&str, &[&str])] = &[
            ("import a, { b, c as d } from './m';", &["Statement ./m [default, b, c]"]),
            ("import * as n from 'm';", &["Statement m [*]"]),
            ("import './m';", &["Statement ./m []"]),
            ("export * from './m';", &["Statement ./m []"]),
            ("export const a = 1;", &[]),
            ("const a = require('./m');", &["Call ./m []"]),
            ("require(name);", &[]),
            ("async function f() { await import(\"m\"); }", &["Call m [] later"]),
            ("jest.mock('./m');", &["Mock ./m []"]),
            ("vi.mock(`./m`, () => ({}));", &["Mock ./m []"]),
            ("const text = \"import a from 'b'\";", &[]),
        ];
        check(Language::JavaScript, table);
        check(Language::TypeScript, table);
        check(Language::Tsx, table);
        check(
            Language::TypeScript,
            &[
                ("import type { A } from './a';", &["TypeOnly ./a [A]"]),
                ("export type { A } from './a';", &["TypeOnly ./a []"]),
            ],
        );
    }

    #[test]
    fn imports_of_rust() {
        check(
            Language::Rust,
            &[
                ("mod a;", &["Submodule a []"]),
                ("mod a { use b::c; }", &["Statement b::c []"]),
                ("use a::{b, c as d};", &["Statement a::b []", "Statement a::c []"]),
                ("fn f() { use a::b; }", &["Statement a::b [] later"]),
            ],
        );
    }

    #[test]
    fn imports_of_go() {
        check(
            Language::Go,
            &[
                ("package a\nimport \"fmt\"\n", &["Statement fmt []"]),
                (
                    "package a\nimport (\n\t\"os\"\n\tx \"e.com/m/y\"\n\t_ `embed`\n)\n",
                    &["Statement os []", "Statement e.com/m/y []", "Statement embed []"],
                ),
            ],
        );
    }

    #[test]
    fn imports_of_java() {
        check(
            Language::Java,
            &[
                ("import a.b.C;", &["Statement a.b [C]"]),
                ("import a.b.*;", &["Statement a.b [*]"]),
                ("import static a.b.C.d;", &["Statement a.b.C [d]"]),
                ("import  static  a.b.C.* ;", &["Statement a.b.C [*]"]),
            ],
        );
    }

    #[test]
    fn an_import_knows_its_place_and_its_names_in_the_file() {
        let text = "x = 1\nfrom m import a as b, c\n";
        let tree = Language::Python.parse(text).unwrap();
        let found = read(Language::Python, &tree, text);
        let [import] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (import.line, text.get(import.range.clone()).unwrap()),
            (2, "from m import a as b, c")
        );
        assert_eq!(import.names, ["a", "c"]);
    }

    #[test]
    fn a_use_tree_is_all_its_paths() {
        let table: [(&str, &[&str]); 5] = [
            ("crate::a::b", &["crate::a::b"]),
            ("crate::{a, b::{c, d as e}}", &["crate::a", "crate::b::c", "crate::b::d"]),
            ("{crate::a, super::b}", &["crate::a", "super::b"]),
            ("crate::a::{\n    self,\n    b,\n}", &["crate::a::self", "crate::a::b"]),
            ("crate::a::*", &["crate::a::*"]),
        ];
        for (tree, expected) in table {
            assert_eq!(use_paths(tree), expected, "{tree}");
        }
    }
}
