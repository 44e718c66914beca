//! Where imports lead: to no file, and in circles.

use std::collections::BTreeSet;

use crate::code::imports::{Import, ImportKind, join, python_base};
use crate::code::language::Language;
use crate::code::lint::rule::{AppliesTo, CODE_RULE, Detection, LintRule, PY_JS, PY_JS_RS};
use crate::code::lint::source::{Hit, Source};
use crate::code::tree::{around, line};
use crate::domain::quality::Severity::{Critical, Warning};

/// Rules about where imports lead.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "unresolved-import",
        category: "imports",
        severity: Critical,
        issue: "import leads to no file",
        detection: Detection::Function(PY_JS_RS, unresolved),
        suggestion: "correct the path, or add the file",
        applies: AppliesTo::Both,
        ..CODE_RULE
    },
    LintRule {
        id: "circular-import",
        category: "imports",
        severity: Warning,
        issue: "files import each other",
        detection: Detection::Function(PY_JS, circular),
        suggestion: "move what both need into a third file",
        ..CODE_RULE
    },
];

/// Relative imports that lead to no file.
fn unresolved(source: &Source<'_>) -> Vec<Hit> {
    let project = source.project;
    if source.language == Language::Rust {
        return unresolved_module(source);
    }
    let leads_nowhere = |import: &Import| -> bool {
        if !import.module.starts_with('.') {
            return false;
        }
        if source.is_import_in(import, &["try_statement", "if_statement"]) {
            return false;
        }
        if source.language == Language::Python {
            let Some(base) = python_base(source.path, &import.module) else { return true };
            // Compiled modules and those a build makes are not in the repository.
            return !import.module.trim_start_matches('.').is_empty()
                && !["py", "pyi", "so", "pyx", "pyd", "c"]
                    .iter()
                    .any(|ending| project.files.contains(&format!("{base}.{ending}")))
                && !project.has_folder(&base)
                && !base.ends_with("version")
                && !base.ends_with("_pb2");
        }
        let module = import.module.split(['?', '!']).next().unwrap_or_default();
        let built = ["dist", "build", "lib", "out", "generated", "gen", "target", "types", ".next"];
        match join(source.path.parent(), module) {
            None => false,
            Some(path) => {
                !project.has(&path)
                    && !project.has_folder(&path)
                    && !path.split('/').any(|part| built.contains(&part))
                    && !path.contains("generated")
                    && !path.is_empty()
            }
        }
    };
    source
        .imports
        .iter()
        .filter(|import| import.kind != ImportKind::Mock && leads_nowhere(import))
        .map(|import| Hit::noted(import.line, &import.module))
        .collect()
}

fn unresolved_module(source: &Source<'_>) -> Vec<Hit> {
    let path = source.path;
    let stem = path.file_name().trim_end_matches(".rs");
    source
        .of_kind(&["mod_item"])
        .filter(|node| node.child_by_field_name("body").is_none())
        .filter(|node| {
            let marks = source.marks(*node);
            !marks.contains("path") && !marks.contains("cfg")
        })
        .filter(|node| around(*node, &["mod_item", "macro_definition"]).is_none())
        .filter(|node| {
            let name = source.field(*node, "name").trim_start_matches("r#");
            let folder = path.parent();
            let folders = [folder.to_owned(), join(folder, stem).unwrap_or_default()];
            !folders.iter().any(|folder| {
                let base = join(folder, name).unwrap_or_default();
                source.project.files.contains(&format!("{base}.rs"))
                    || source.project.files.contains(&format!("{base}/mod.rs"))
            })
        })
        .map(|node| Hit::noted(line(node), source.field(node, "name")))
        .collect()
}

/// Files that import each other while they load; told once, in the first file of the circle.
fn circular(source: &Source<'_>) -> Vec<Hit> {
    let edges = &source.project.edges;
    let own = source.path.as_str();
    let mut hits = Vec::new();
    for target in edges.get(own).into_iter().flatten() {
        // Breadth first from the target back to this file.
        let mut seen: BTreeSet<&str> = BTreeSet::from([target.as_str()]);
        let mut queue = std::collections::VecDeque::from([vec![target.as_str()]]);
        while let Some(path) = queue.pop_front() {
            let Some(last) = path.last() else { continue };
            if *last == own {
                if path.iter().all(|file| *file >= own) {
                    hits.push((target.clone(), path.join(" -> ")));
                }
                break;
            }
            if path.len() > 8 {
                continue;
            }
            for next in edges.get(*last).into_iter().flatten() {
                if seen.insert(next) {
                    let mut longer = path.clone();
                    longer.push(next);
                    queue.push_back(longer);
                }
            }
        }
    }
    hits.into_iter()
        .map(|(target, path)| {
            let name = target.rsplit('/').next().unwrap_or_default();
            let stem = name.split('.').next().unwrap_or_default();
            let at = source
                .imports
                .iter()
                .filter(|import| import.kind != ImportKind::TypeOnly)
                .find(|import| {
                    import.names.iter().any(|name| name.name == stem)
                        || import.module.split(['.', '/']).any(|part| part == stem)
                })
                .map_or(1, |import| import.line);
            Hit::noted(at, format!("{own} -> {path}"))
        })
        .collect()
}
