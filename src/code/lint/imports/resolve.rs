//! Where imports lead: paths, circles.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::code::imports::joined;
use crate::code::language::Language;
use crate::code::lint::project::Project;
use crate::code::lint::source::{Hit, Source, around, line};
use crate::domain::id::RepoPath;

use super::Import;

/// The file endings that an import may leave out.
pub fn paths_without_ending(path: &str) -> impl Iterator<Item = String> {
    const ENDINGS: &[&str] = &[
        "js", "ts", "tsx", "jsx", "mjs", "cjs", "mts", "cts", "json", "node", "d.ts", "d.mts",
        "d.cts", "vue", "svelte", "css",
    ];
    let stem = ["js", "jsx", "mjs", "cjs"]
        .iter()
        .find_map(|ending| path.strip_suffix(&format!(".{ending}")))
        .unwrap_or(path)
        .to_owned();
    let stems = if stem == path { vec![stem] } else { vec![path.to_owned(), stem] };
    stems.into_iter().flat_map(|stem| {
        ENDINGS
            .iter()
            .flat_map(move |ending| [format!("{stem}.{ending}"), format!("{stem}/index.{ending}")])
            .collect::<Vec<_>>()
    })
}

/// The folder that a relative Python import begins in, and the rest of its path.
pub fn python_relative(file: &RepoPath, module: &str) -> Option<String> {
    let dots = module.chars().take_while(|c| *c == '.').count();
    let mut folder: Vec<&str> = file.parent().split('/').filter(|part| !part.is_empty()).collect();
    let up = dots.checked_sub(1)?;
    folder.truncate(folder.len().checked_sub(up)?);
    folder.extend(module.trim_start_matches('.').split('.').filter(|part| !part.is_empty()));
    Some(folder.join("/"))
}

static PYTHON: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?:from\s+([.\w]+)\s+import\s+\(?\s*(\w+)|import\s+([\w.]+))").ok()
});
static SCRIPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?m)^(?:import|export)\s+(type\s)?[^;'"]*?['"](\.[^'"]+)['"]|^(?:const|let|var)\s[^=\n]+=\s*require\(['"](\.[^'"]+)['"]\)"#).ok()
});
static RUNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:abstract\s+)?(?:class|function|const|let|var|enum|namespace)\s").ok()
});

/// Who imports whom at load time, as far as it is certain.
pub fn edges(
    files: &BTreeMap<RepoPath, String>,
    project: &Project,
) -> BTreeMap<String, BTreeSet<String>> {
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, text) in files {
        let mut targets = BTreeSet::new();
        match Language::of(file) {
            Some(Language::Python) => {
                let Some(regex) = PYTHON.as_ref() else { continue };
                for one in regex.captures_iter(text) {
                    let module = one.get(1).or(one.get(3)).map_or("", |m| m.as_str());
                    let item = one.get(2).map_or("", |m| m.as_str());
                    let base = if module.starts_with('.') {
                        python_relative(file, module)
                    } else {
                        let path = module.replace('.', "/");
                        ["", "src/"].iter().map(|root| format!("{root}{path}")).find(|path| {
                            project.files.contains(&format!("{path}.py"))
                                || project.has_folder(path)
                        })
                    };
                    let Some(base) = base else { continue };
                    // `from . import x` asks for the module x, not for what the package defines.
                    for path in [format!("{base}/{item}.py"), format!("{base}.py")] {
                        if project.files.contains(&path) {
                            targets.insert(path);
                            break;
                        }
                    }
                }
            }
            Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => {
                let Some(regex) = SCRIPT.as_ref() else { continue };
                // Types are gone when a file is loaded, and imports that only they need.
                let typed = !matches!(Language::of(file), Some(Language::JavaScript));
                if typed && !RUNS.as_ref().is_some_and(|runs| runs.is_match(text)) {
                    continue;
                }
                for one in regex.captures_iter(text).filter(|one| one.get(1).is_none()) {
                    let module = one.get(2).or(one.get(3)).map_or("", |m| m.as_str());
                    let Some(path) = joined(file.parent(), module) else { continue };
                    let found = std::iter::once(path.clone())
                        .chain(paths_without_ending(&path))
                        .find(|path| project.files.contains(path));
                    targets.extend(found);
                }
            }
            _ => {}
        }
        targets.remove(file.as_str());
        if !targets.is_empty() {
            edges.insert(file.as_str().to_owned(), targets);
        }
    }
    edges
}

/// Paths below a known package that are not there.
pub fn wrong_sub_path(source: &Source<'_>) -> Vec<Hit> {
    let project = source.project;
    let wrong = |import: &Import<'_>| -> bool {
        let module = import.module.as_str();
        match source.language {
            Language::Python => {
                let path = module.replace('.', "/");
                let Some((first, _)) = path.split_once('/') else { return false };
                if project.python_made.contains(first) {
                    return false;
                }
                let root = ["", "src/"]
                    .iter()
                    .map(|root| format!("{root}{first}"))
                    .find(|root| project.files.contains(&format!("{root}/__init__.py")));
                let Some(root) = root else { return false };
                let full = format!("{}{path}", root.strip_suffix(first).unwrap_or_default());
                around(import.node, &["try_statement", "if_statement"]).is_none()
                    && ![".py", ".pyi", ".so", ".pyx", ".pyd"].iter().any(|e| project.files.contains(&format!("{full}{e}")))
                    && !project.has_folder(&full)
                    // A package may make modules of what it imports.
                    && !import.module.split('.').any(|part| matches!(part, "_version" | "version" | "moves" | "_pb2"))
            }
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                let depth = if module.starts_with('@') { 2 } else { 1 };
                let parts: Vec<&str> = module.splitn(depth + 1, '/').collect();
                let (Some(name), Some(rest)) = (parts.get(..depth), parts.get(depth)) else {
                    return false;
                };
                let Some(there) = project.installed.get(&name.join("/")) else { return false };
                !there.contains(*rest)
                    && !paths_without_ending(rest).any(|one| there.contains(&one))
            }
            Language::Go => project.go_own.iter().any(|(own, folder)| {
                module
                    .strip_prefix(own.as_str())
                    .and_then(|rest| rest.strip_prefix('/'))
                    .is_some_and(|rest| {
                        let path = joined(folder, rest).unwrap_or_default();
                        !project.has_folder(&path)
                            && !project
                                .go_own
                                .keys()
                                .any(|other| other != own && module.starts_with(other.as_str()))
                    })
            }),
            Language::Java => {
                let Some(files) = project.java_own.get(module) else { return false };
                !import.types
                    && import.item != "*"
                    && !files.contains(&import.item)
                    && !project.java_own.contains_key(&format!("{module}.{}", import.item))
                    && !source.project.files.iter().any(|file| {
                        file.ends_with(".kt") || file.ends_with(".proto") || file.ends_with(".g4")
                    })
            }
            Language::Rust => false,
        }
    };
    source
        .imports
        .iter()
        .filter(|import| wrong(import))
        .map(|import| Hit::noted(line(import.node), import.module.clone()))
        .collect()
}

/// Relative imports that lead to no file.
pub fn unresolved(source: &Source<'_>) -> Vec<Hit> {
    let project = source.project;
    if source.language == Language::Rust {
        return unresolved_module(source);
    }
    let leads_nowhere = |import: &Import<'_>| -> bool {
        if !import.module.starts_with('.') {
            return false;
        }
        if around(import.node, &["try_statement", "if_statement"]).is_some() {
            return false;
        }
        if source.language == Language::Python {
            let Some(base) = python_relative(source.path, &import.module) else { return true };
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
        match joined(source.path.parent(), module) {
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
        .filter(|import| leads_nowhere(import))
        .map(|import| Hit::noted(line(import.node), import.module.clone()))
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
            let folders = [folder.to_owned(), joined(folder, stem).unwrap_or_default()];
            !folders.iter().any(|folder| {
                let base = joined(folder, name).unwrap_or_default();
                source.project.files.contains(&format!("{base}.rs"))
                    || source.project.files.contains(&format!("{base}/mod.rs"))
            })
        })
        .map(|node| Hit::noted(line(node), source.field(node, "name")))
        .collect()
}

/// Files that import each other while they load; told once, in the first file of the circle.
pub fn circular(source: &Source<'_>) -> Vec<Hit> {
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
                .filter(|import| !import.types)
                .find(|import| {
                    import.item == stem || import.module.split(['.', '/']).any(|part| part == stem)
                })
                .map_or(1, |import| line(import.node));
            Hit::noted(at, format!("{own} -> {path}"))
        })
        .collect()
}
