//! Imports: do they lead somewhere, are they declared, are they used.

mod absent;
mod package;
mod resolve;
mod usage;

use tree_sitter::Node;

use crate::code::language::Language;

use super::source::Source;

pub use absent::absent;
pub use package::{misspelt_package, unknown_package};
pub use resolve::{circular, edges, paths_without_ending, unresolved, wrong_sub_path};
pub use usage::{duplicate, unused};

/// One imported name, or one import without a name.
#[derive(Clone, Debug)]
pub struct Import<'a> {
    /// The statement.
    pub node: Node<'a>,
    /// Module as written, without quotes.
    pub module: String,
    /// The name taken out of it; empty for the module itself.
    pub item: String,
    /// The name it has in this file; empty when it binds none.
    pub bound: String,
    /// The part of the statement that names it, when the statement may name more.
    pub part: Option<Node<'a>>,
    /// How many names the statement binds.
    pub siblings: usize,
    /// Whether it always runs, when the file is loaded.
    pub top: bool,
    /// Whether only a type checker reads it.
    pub types: bool,
}

/// Reads the imports of a file.
pub fn read<'a>(source: &Source<'a>) -> Vec<Import<'a>> {
    let mut all = Vec::new();
    for node in source.nodes.iter().copied() {
        let mut names: Vec<(String, String, String)> = Vec::new();
        let mut parts: Vec<Node<'a>> = Vec::new();
        let mut types = false;
        match (source.language, node.kind()) {
            (Language::Python, "import_statement") => {
                let mut cursor = node.walk();
                for name in node.children_by_field_name("name", &mut cursor) {
                    let module = source.of(name.child_by_field_name("name").unwrap_or(name));
                    let alias = source.field(name, "alias");
                    let first = module.split('.').next().unwrap_or_default();
                    let bound = if alias.is_empty() { first } else { alias };
                    names.push((module.into(), String::new(), bound.into()));
                    parts.push(name);
                }
            }
            (Language::Python, "import_from_statement") => {
                let module = source.field(node, "module_name");
                let mut cursor = node.walk();
                for name in node.children_by_field_name("name", &mut cursor) {
                    let item = source.of(name.child_by_field_name("name").unwrap_or(name));
                    let alias = source.field(name, "alias");
                    let bound = if alias.is_empty() { item } else { alias };
                    names.push((module.into(), item.into(), bound.into()));
                    parts.push(name);
                }
                if names.is_empty() {
                    names.push((module.into(), "*".into(), String::new()));
                }
            }
            (
                Language::JavaScript | Language::TypeScript | Language::Tsx,
                "import_statement" | "export_statement",
            ) => {
                let module = source.field(node, "source").trim_matches(['"', '\'', '`']).to_owned();
                if module.is_empty() {
                    continue;
                }
                types = source.of(node).starts_with("import type")
                    || source.of(node).starts_with("export type");
                let clause = (node.kind() == "import_statement")
                    .then(|| source.inside(node).find(|inner| inner.kind() == "import_clause"))
                    .flatten();
                for inner in clause.into_iter().flat_map(|clause| source.inside(clause)) {
                    let parent = inner.parent().map_or("", |parent| parent.kind());
                    match (inner.kind(), parent) {
                        ("identifier", "import_clause" | "namespace_import") => {
                            let item = if parent == "import_clause" { "default" } else { "*" };
                            parts.push(inner);
                            names.push((module.clone(), item.into(), source.of(inner).into()));
                        }
                        ("import_specifier", _) => {
                            let item = source.field(inner, "name");
                            let alias = source.field(inner, "alias");
                            let bound = if alias.is_empty() { item } else { alias };
                            parts.push(inner);
                            names.push((module.clone(), item.into(), bound.into()));
                        }
                        _ => {}
                    }
                }
                if names.is_empty() {
                    names.push((module, String::new(), String::new()));
                }
            }
            (Language::JavaScript | Language::TypeScript | Language::Tsx, "call_expression")
                if matches!(source.field(node, "function"), "require" | "import") =>
            {
                let first =
                    node.child_by_field_name("arguments").and_then(|list| list.named_child(0));
                if let Some(first) = first.filter(|first| first.kind() == "string") {
                    let module = source.of(first).trim_matches(['"', '\'']);
                    names.push((module.into(), String::new(), String::new()));
                }
            }
            (Language::Rust, "use_declaration") => {
                let module = source.field(node, "argument");
                names.push((module.into(), String::new(), String::new()));
            }
            (Language::Go, "import_spec") => {
                let module = source.field(node, "path").trim_matches(['"', '`']);
                let alias = source.field(node, "name");
                let last = module.rsplit('/').next().unwrap_or_default();
                // Only a plain last part is surely the name of the package.
                let plain = last.bytes().all(|byte| byte.is_ascii_lowercase());
                let bound = match alias {
                    "" if plain => last,
                    "_" | "." => "",
                    alias => alias,
                };
                names.push((module.into(), String::new(), bound.into()));
            }
            (Language::Java, "import_declaration") => {
                let text = source.of(node).trim_end_matches(';').trim_start_matches("import");
                let fixed = text.trim().strip_prefix("static ");
                let path = fixed.unwrap_or(text).trim();
                let (module, item) = path.rsplit_once('.').unwrap_or((path, ""));
                let bound = if item == "*" { "" } else { item };
                types = fixed.is_some();
                names.push((module.into(), item.into(), bound.into()));
            }
            _ => {}
        }
        let siblings = names.len();
        let parent = node.parent().map_or("", |parent| parent.kind());
        let top = matches!(
            parent,
            "module" | "program" | "source_file" | "import_spec_list" | "import_declaration"
        );
        let whole = parts.len() == names.len();
        all.extend(names.into_iter().enumerate().map(|(index, (module, item, bound))| Import {
            node,
            part: parts.get(index).copied().filter(|_| whole),
            module,
            item,
            bound,
            siblings,
            top,
            types,
        }));
    }
    all
}
