//! The exports and imports of a file.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::Behaviour;
use crate::code::imports::{Import, ImportKind, read_nodes};
use crate::code::language::Language;
use crate::code::signature::is_observed_operator;
use crate::code::tree::named_nodes;

/// Whether code in other files may call a function.
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
                && (!dunder || name == "__init__" || is_observed_operator(name))
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            let first = function.name.split('.').next().unwrap_or_default();
            !name.starts_with(['_', '#']) && exported.is_some_and(|names| names.contains(first))
        }
        Language::Rust | Language::Java => function.is_public,
        Language::Go => name.starts_with(char::is_uppercase),
    }
}

/// The top-level names of the modules that a file imports.
pub fn packages(root: Node<'_>, language: Language, text: &str) -> BTreeSet<String> {
    let asks = |import: &Import| {
        !matches!(import.kind, ImportKind::Mock | ImportKind::Submodule)
            && !import.module.starts_with('.')
    };
    let first = |import: Import| {
        let module = import.module;
        let (separator, count) = match language {
            Language::Python => (".", 1),
            Language::Rust => ("::", 1),
            Language::Java => (".", 2),
            Language::Go => return module,
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                ("/", if module.starts_with('@') { 2 } else { 1 })
            }
        };
        module.split(separator).take(count).collect::<Vec<_>>().join(separator)
    };
    let imports = read_nodes(language, &named_nodes(root), text).into_iter();
    let mut found: BTreeSet<String> = imports.filter(asks).map(first).collect();
    for own in ["", "crate", "self", "super"] {
        found.remove(own);
    }
    found
}
