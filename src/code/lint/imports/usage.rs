//! Imports that are not needed: twice, or never read.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::lint::data::{NODE_MODULES, PYTHON_MODULES};
use crate::code::lint::source::{Hit, Source, around, line, whole_line};

use super::Import;

/// What takes an import out: its whole statement, when it binds one name and stands on its own
/// line. Modules that are loaded for what they do, and package doors, stay.
fn cut(source: &Source<'_>, import: &Import<'_>) -> Option<Range<usize>> {
    let safe = match source.language {
        // The module may be loaded for its effect; only names taken out of a module, and modules
        // of the standard library, are surely not.
        Language::Python => {
            let first = import.module.split('.').next().unwrap_or_default();
            PYTHON_MODULES.contains(first)
                && !matches!(first, "readline" | "antigravity" | "this" | "__future__")
        }
        Language::Go | Language::Rust => false,
        Language::Java => true,
        _ => NODE_MODULES.contains(import.module.trim_start_matches("node:")),
    };
    match import.siblings {
        // A Python block must keep a statement.
        1 => (safe && import.top).then(|| whole_line(source.text, import.node.byte_range()))?,
        // The other names load the module anyway.
        _ => import.part.filter(|_| import.top).and_then(|part| one_of_several(source, part)),
    }
}

/// The bytes of one name of a list with the comma that parts it from its neighbour; `None` where
/// somebody wrote more between them.
fn one_of_several(source: &Source<'_>, part: Node<'_>) -> Option<Range<usize>> {
    let is_name =
        |one: Node<'_>| matches!(one.kind(), "import_specifier" | "dotted_name" | "aliased_import");
    let range = match (part.next_named_sibling(), part.prev_named_sibling()) {
        (Some(next), _) if is_name(next) => part.start_byte()..next.start_byte(),
        (_, Some(before)) if is_name(before) => before.end_byte()..part.end_byte(),
        _ => return None,
    };
    let between = source.text.get(range.clone())?.replace(source.of(part), "");
    let plain = between.chars().all(|c| c == ',' || c.is_whitespace());
    (is_name(part) && plain && between.contains(',')).then_some(range)
}

/// The same name imported twice in one place.
pub fn duplicate(source: &Source<'_>) -> Vec<Hit> {
    let mut seen = BTreeSet::new();
    let mut hits = Vec::new();
    for import in
        source.imports.iter().filter(|one| one.top && (one.node.kind() != "call_expression"))
    {
        let stem = (import.module.clone(), import.item.clone(), import.bound.clone(), import.types);
        let binds = !import.bound.is_empty()
            || (source.language == Language::Rust && !source.marks(import.node).contains("cfg"));
        if binds && !seen.insert(stem) {
            let cut = match import.siblings {
                1 => whole_line(source.text, import.node.byte_range()),
                _ => import.part.and_then(|part| one_of_several(source, part)),
            }
            .filter(|_| source.language != Language::Rust);
            hits.push(Hit { line: line(import.node), note: import.module.clone(), cut });
        }
    }
    hits
}

/// Names that are imported and never read.
pub fn unused(source: &Source<'_>) -> Vec<Hit> {
    let name = source.path.file_name();
    // Doors import in order to hand on.
    if matches!(name, "__init__.py" | "conftest.py")
        || name.ends_with(".d.ts")
        || name.ends_with(".pyi")
    {
        return Vec::new();
    }
    let stem = name.split('.').next().unwrap_or_default();
    let mut hits = Vec::new();
    for import in &source.imports {
        let bound = import.bound.as_str();
        if bound.is_empty()
            || bound == "_"
            || bound.starts_with("__")
            || import.module == "__future__"
            || import.module == "."
        {
            continue;
        }
        let guarded =
            around(import.node, &["try_statement", "if_statement", "with_statement"]).is_some();
        let handed_on = source.language == Language::Python
            && import.item == import.bound
            && source.of(import.node).contains(&format!("{bound} as {bound}"));
        let marked = [Some(import.node), import.part].into_iter().flatten().any(|node| {
            source.line_text(line(node)).is_some_and(|text| {
                ["noqa", "eslint-disable", "@ts-", "pylint"].iter().any(|mark| text.contains(mark))
            })
        });
        let handed_on = handed_on
            || (source.language == Language::Python
                && source.project.taken.contains(&(stem.to_owned(), bound.to_owned())))
            || stem.contains("compat");
        if guarded || handed_on || marked || (bound == "React" && source.is_script()) {
            continue;
        }
        if !is_read(source, bound, &import.node.byte_range()) {
            let at = line(import.part.unwrap_or(import.node));
            hits.push(Hit { line: at, note: bound.to_owned(), cut: cut(source, import) });
        }
    }
    hits
}

/// Whether a name occurs outside a range: as a word of code, or inside a text that is read as code
/// (`__all__`, annotations in quotes, documentation links).
fn is_read(source: &Source<'_>, name: &str, except: &Range<usize>) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    source.text.match_indices(name).any(|(at, _)| {
        if except.contains(&at) {
            return false;
        }
        let before = source.text.get(..at).and_then(|text| text.chars().next_back());
        let after = source.text.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(word)
            && !after.is_some_and(word)
            && !source.imports.iter().any(|other| other.node.byte_range().contains(&at))
            && !in_comment(source, at)
    })
}

fn in_comment(source: &Source<'_>, at: usize) -> bool {
    let next = source.nodes.partition_point(|node| node.start_byte() <= at);
    source.nodes.get(..next).unwrap_or_default().iter().rev().take(3).any(|node| {
        node.end_byte() > at
                && node.kind().ends_with("comment")
                // Java documentation links need their import, type checkers read comments.
                && !source.of(*node).starts_with("/**")
                && !source.of(*node).contains("type:")
                && !source.of(*node).starts_with("/// <")
    })
}
