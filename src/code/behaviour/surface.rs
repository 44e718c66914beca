//! What a file gives away and what it asks for.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::Behaviour;
use super::walk::{children, first_text, one_line};
use crate::code::language::Language;
use crate::code::signature;

/// Names that a script gives away: `export`, `module.exports`.
pub fn exported(root: Node<'_>, language: Language, text: &str) -> Option<BTreeSet<String>> {
    if !matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx) {
        return None;
    }
    Some(signature::exports(root, text).into_keys().collect())
}

/// Whether other files may call a function.
pub fn is_public(
    function: &Behaviour,
    language: Language,
    exported: Option<&BTreeSet<String>>,
) -> bool {
    let name = function.short_name();
    match language {
        Language::Python => {
            let dunder = name.starts_with("__") && name.ends_with("__");
            function.name.split('.').all(|part| !part.starts_with('_') || dunder && part == name)
                && (!dunder || matches!(name, "__init__" | "__call__" | "__eq__" | "__lt__"))
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            let first = function.name.split('.').next().unwrap_or_default();
            !name.starts_with(['_', '#']) && exported.is_some_and(|names| names.contains(first))
        }
        Language::Rust | Language::Java => function.is_public,
        Language::Go => name.starts_with(char::is_uppercase),
    }
}

/// Modules that imports name, first part only.
pub fn packages(root: Node<'_>, language: Language, text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        let own = || text.get(node.byte_range()).unwrap_or_default();
        match (language, node.kind()) {
            (Language::Python, "import_statement" | "import_from_statement") => {
                let words = own().split_whitespace().nth(1).unwrap_or_default();
                if !words.starts_with('.') {
                    let first = words.split(['.', ',']).next().unwrap_or_default();
                    found.insert(first.to_owned());
                }
            }
            (
                Language::JavaScript | Language::TypeScript | Language::Tsx,
                "import_statement" | "call_expression",
            ) => {
                let is_import = node.kind() == "import_statement" || own().starts_with("require(");
                if let Some(name) = is_import.then(|| first_text(node, text)).flatten()
                    && !name.starts_with('.')
                {
                    let take = if name.starts_with('@') { 2 } else { 1 };
                    found.insert(
                        name.splitn(take + 1, '/').take(take).collect::<Vec<_>>().join("/"),
                    );
                }
            }
            (Language::Rust, "use_declaration") => {
                let path = own().trim_start_matches("pub ").trim_start_matches("use ");
                let first = path.split([':', ';', ' ']).next().unwrap_or_default();
                if !matches!(first, "crate" | "self" | "super") {
                    found.insert(first.to_owned());
                }
            }
            (Language::Go, "import_spec") => {
                let path = node.child_by_field_name("path").map(|n| one_line(n, text));
                found.extend(path.map(|path| path.trim_matches('"').to_owned()));
            }
            (Language::Java, "import_declaration") => {
                let path = own().trim_start_matches("import ").trim_start_matches("static ");
                found.insert(path.split('.').take(2).collect::<Vec<_>>().join("."));
            }
            _ => {}
        }
        open.extend(children(node));
    }
    found.remove("");
    found
}
