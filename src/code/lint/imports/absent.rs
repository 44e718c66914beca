//! Names that are taken out of files of the repository and do not stand there.

use std::collections::BTreeMap;

use crate::code::imports::joined;
use crate::code::language::Language;
use crate::code::lint::source::{Hit, Source, line};
use crate::domain::id::RepoPath;

use super::paths_without_ending;
use super::resolve::python_relative;

/// Imported names that their file does not mention. A name that it mentions in any way counts as
/// there, so that what is made while the program runs is not called absent.
pub fn absent(source: &Source<'_>, files: &BTreeMap<RepoPath, String>) -> Vec<Hit> {
    let own = |path: &str| RepoPath::parse(path).ok().and_then(|path| files.get(&path));
    let mut hits = Vec::new();
    for import in &source.imports {
        if matches!(import.item.as_str(), "" | "*" | "default") {
            continue;
        }
        let found = match source.language {
            Language::Python => python(source.path, &import.module, &import.item, files),
            Language::JavaScript | Language::TypeScript | Language::Tsx
                if import.module.starts_with('.') =>
            {
                joined(source.path.parent(), &import.module).and_then(|path| {
                    std::iter::once(path.clone())
                        .chain(paths_without_ending(&path))
                        .find_map(|path| own(&path))
                        .map(|text| !opens(text) && !mentions(text, &import.item))
                })
            }
            _ => None,
        };
        if found == Some(true) {
            let note = format!("`{}` from `{}`", import.item, import.module);
            hits.push(Hit::noted(line(import.node), note));
        }
    }
    hits
}

/// Whether a module of the repository lacks a name; `None` when the module is not of it.
fn python(
    file: &RepoPath,
    module: &str,
    item: &str,
    files: &BTreeMap<RepoPath, String>,
) -> Option<bool> {
    let base = if module.starts_with('.') {
        vec![python_relative(file, module)?]
    } else {
        let path = module.replace('.', "/");
        vec![path.clone(), format!("src/{path}")]
    };
    let text = |path: String| RepoPath::parse(path).ok().and_then(|path| files.get(&path));
    let base = base.into_iter().find(|base| {
        text(format!("{base}.py")).is_some() || text(format!("{base}/__init__.py")).is_some()
    })?;
    if text(format!("{base}/{item}.py")).is_some()
        || text(format!("{base}/{item}/__init__.py")).is_some()
    {
        return Some(false);
    }
    let told = text(format!("{base}.py")).or_else(|| text(format!("{base}/__init__.py")))?;
    Some(!opens(told) && !mentions(told, item))
}

/// Whether a module may hold more names than its text shows.
fn opens(text: &str) -> bool {
    ["import *", "__getattr__", "globals()[", "export *", "setattr("]
        .iter()
        .any(|sign| text.contains(sign))
}

fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').any(|word| word == name)
}
