//! Lint rules about imports of packages that probably do not exist: undeclared, misspelt, or with a
//! wrong sub-path. The compilers of Rust, Go and Java report such imports themselves.

use std::collections::BTreeSet;

use crate::code::imports::{Import, ImportKind, script_candidates};
use crate::code::language::Language;
use crate::code::lint::project::spelled;
use crate::code::lint::rule::{Detection, LintRule, PY_JS, rule_for_all};
use crate::code::lint::source::{Hit, Source};
use crate::code::lint::word_lists::{NODE_MODULES, PYTHON_MODULES, python_aliases};
use crate::domain::quality::Severity::Critical;

/// The rules about packages that probably do not exist.
pub const RULES: &[LintRule] = &[
    rule_for_all(
        ("hallucinated_imports", "unknown-package"),
        Critical,
        (
            "no manifest or lock file names this package",
            "declare the package after checking that it exists, or use one that is declared",
        ),
        Detection::Function(PY_JS, unknown_package),
    ),
    rule_for_all(
        ("hallucinated_imports", "wrong-sub-path"),
        Critical,
        ("the package holds no such path", "import a path that the package has"),
        Detection::Function(PY_JS, wrong_sub_path),
    ),
    rule_for_all(
        ("hallucinated_imports", "misspelt-package"),
        Critical,
        ("nearly the name of a known package", "correct the spelling"),
        Detection::Function(PY_JS, misspelt_package),
    ),
];

/// The package that a manifest must declare for an import; `None` if it need not declare one.
fn package<'b>(source: &Source<'_>, import: &'b Import) -> Option<&'b str> {
    let module = import.module.as_str();
    let project = source.project;
    match source.language {
        Language::Python => {
            let first = module.split('.').next()?;
            // Code that changes `sys.path` can import modules that no manifest declares.
            let optional = !import.at_load || source.text.contains("sys.path");
            (!first.is_empty()
                && !optional
                && !PYTHON_MODULES.contains(first)
                && !project.python_roots.contains(first)
                && !first.starts_with('_'))
            .then_some(first)
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            let mut parts = module.splitn(3, '/');
            let first = parts.next()?;
            let plain = module.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@')
                && module.bytes().all(|b| b.is_ascii_alphanumeric() || b"@/._-".contains(&b))
                && first != "@";
            let name = if first.starts_with('@') {
                let rest = parts.next()?;
                module.get(..first.len() + 1 + rest.len())?
            } else {
                first
            };
            let known = NODE_MODULES.contains(first)
                || project.aliases.iter().any(|alias| module.starts_with(alias.as_str()))
                || (import.kind == ImportKind::Call
                    && source.is_import_in(import, &["try_statement"]));
            (plain && !known && import.kind != ImportKind::TypeOnly).then_some(name)
        }
        Language::Rust | Language::Go | Language::Java => None,
    }
}

/// The declared packages of a language, and whether a package is one of them.
fn declared<'b>(source: &Source<'b>, name: &str) -> Option<(bool, &'b BTreeSet<String>)> {
    let project = source.project;
    match source.language {
        Language::Python => {
            let list = project.python.as_ref()?;
            let one = spelled(name);
            let known = list.contains(&one)
                || python_aliases()
                    .any(|(module, package)| module == name && list.contains(&spelled(package)))
                // Namespace packages such as `google`, and prefixed names such as python-x.
                || list.iter().any(|package| {
                    package.starts_with(&format!("{one}_"))
                        || *package == format!("python_{one}")
                        || *package == format!("py{one}")
                        || package.ends_with(&format!("_{one}"))
                        || package.replace('_', "") == one.replace('_', "")
                });
            Some((known, list))
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            project.script.as_ref().map(|list| (list.contains(name), list))
        }
        Language::Rust | Language::Go | Language::Java => None,
    }
}

/// The declared package whose name is most similar to an undeclared one.
fn near(name: &str, list: &BTreeSet<String>) -> Option<String> {
    let name = spelled(name);
    let allowed = match name.len() {
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    };
    list.iter()
        .map(|other| (strsim::osa_distance(&name, &spelled(other)), other))
        .filter(|(distance, _)| (1..=allowed).contains(distance))
        .min()
        .map(|(_, other)| other.clone())
}

/// The imports that load a module; mocks in tests do not load theirs.
fn loaded<'b>(source: &'b Source<'_>) -> impl Iterator<Item = &'b Import> {
    source.imports.iter().filter(|import| import.kind != ImportKind::Mock)
}

/// The undeclared packages that a file imports, each with a similarly spelt declared one, if any.
fn undeclared(source: &Source<'_>) -> Vec<(u32, String, Option<String>)> {
    let mut found: Vec<(u32, String, Option<String>)> = Vec::new();
    for import in loaded(source) {
        let Some(name) = package(source, import) else { continue };
        let Some((false, list)) = declared(source, name) else { continue };
        let builtin = || {
            let long = PYTHON_MODULES.iter().filter(|one| one.len() > 5);
            near(name, &long.map(|one| (*one).to_owned()).collect())
        };
        let close =
            near(name, list).or_else(|| builtin().filter(|_| source.language == Language::Python));
        if !found.iter().any(|(line, other, _)| *line == import.line && other == name) {
            found.push((import.line, name.to_owned(), close));
        }
    }
    found
}

/// Finds packages that no manifest or lock file declares.
fn unknown_package(source: &Source<'_>) -> Vec<Hit> {
    let found = undeclared(source).into_iter().filter(|(_, _, near)| near.is_none());
    found.map(|(line, name, _)| Hit::noted(line, name)).collect()
}

/// Finds packages whose name differs only slightly from a declared one.
fn misspelt_package(source: &Source<'_>) -> Vec<Hit> {
    let note = |name: String, near: String| format!("{name}, where {near} is declared");
    let found = undeclared(source).into_iter();
    found.filter_map(|(line, name, near)| Some(Hit::noted(line, note(name, near?)))).collect()
}

/// Finds imports of paths that do not exist inside a known package.
fn wrong_sub_path(source: &Source<'_>) -> Vec<Hit> {
    let project = source.project;
    let wrong = |import: &Import| -> bool {
        let module = import.module.as_str();
        match source.language {
            Language::Python => {
                let path = module.replace('.', "/");
                let Some((first, _)) = path.split_once('/') else { return false };
                let is_root =
                    |root: &&str| project.files.contains(&format!("{root}{first}/__init__.py"));
                let Some(root) = ["", "src/"].into_iter().find(is_root) else { return false };
                let full = format!("{root}{path}");
                !project.python_made.contains(first)
                    && !source.is_import_in(import, &["try_statement", "if_statement"])
                    && ![".py", ".pyi", ".so", ".pyx", ".pyd"].iter().any(|e| project.files.contains(&format!("{full}{e}")))
                    && !project.has_folder(&full)
                    // Packages may generate these modules during the build or at run time.
                    && !import.module.split('.').any(|part| matches!(part, "_version" | "version" | "moves" | "_pb2"))
            }
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                let depth = if module.starts_with('@') { 2 } else { 1 };
                let parts: Vec<&str> = module.splitn(depth + 1, '/').collect();
                let (Some(name), Some(rest)) = (parts.get(..depth), parts.get(depth)) else {
                    return false;
                };
                let Some(there) = project.installed.get(&name.join("/")) else { return false };
                !script_candidates(rest).any(|one| there.contains(&one))
            }
            Language::Rust | Language::Go | Language::Java => false,
        }
    };
    loaded(source)
        .filter(|import| wrong(import))
        .map(|import| Hit::noted(import.line, &import.module))
        .collect()
}
