//! Packages that were made up: declared nowhere, nearly spelled like another one, without the path
//! that is imported.

use std::collections::BTreeSet;

use crate::code::imports::{Import, ImportKind, join, script_candidates};
use crate::code::language::Language;
use crate::code::lint::project::spelled;
use crate::code::lint::rule::{ALL, Detection, LintRule, PY_JS_GO_JAVA, PY_JS_RS_GO, rule_for_all};
use crate::code::lint::source::{Hit, Source};
use crate::code::lint::word_lists::{NODE_MODULES, PYTHON_MODULES, python_aliases};
use crate::code::tree::field_of;
use crate::domain::quality::Severity::Critical;

/// Rules about packages that were made up.
pub const RULES: &[LintRule] = &[
    rule_for_all(
        ("hallucinated_imports", "unknown-package"),
        Critical,
        (
            "no manifest or lock file names this package",
            "declare the package after checking that it exists, or use one that is declared",
        ),
        Detection::Function(PY_JS_RS_GO, unknown_package),
    ),
    rule_for_all(
        ("hallucinated_imports", "wrong-sub-path"),
        Critical,
        ("the package holds no such path", "import a path that the package has"),
        Detection::Function(PY_JS_GO_JAVA, wrong_sub_path),
    ),
    rule_for_all(
        ("hallucinated_imports", "misspelt-package"),
        Critical,
        ("nearly the name of a known package", "correct the spelling"),
        Detection::Function(ALL, misspelt_package),
    ),
];

/// The name a manifest would have for an import: `None` when it is none of a manifest's business.
fn package<'b>(source: &Source<'_>, import: &'b Import) -> Option<&'b str> {
    let module = import.module.as_str();
    let project = source.project;
    match source.language {
        Language::Python => {
            let first = module.split('.').next()?;
            // Code that changes the path knows modules that no manifest names.
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
        Language::Rust => crate_of(source, import),
        Language::Go => module.split('/').next()?.contains('.').then_some(module),
        Language::Java => None,
    }
}

/// The crate that a `use` of Rust begins at; `None` for one that is here already.
fn crate_of<'b>(source: &Source<'_>, import: &'b Import) -> Option<&'b str> {
    const OWN: &[&str] =
        &["std", "core", "alloc", "crate", "self", "super", "proc_macro", "test", ""];
    // `use a;` names what is here already; a macro may hold the module.
    let (first, _) = import.module.trim_start_matches("::").split_once("::")?;
    let first = first.trim();
    let has_word = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == first)
    };
    let declares = |node: tree_sitter::Node<'_>| {
        let argument = field_of(node, "argument", source.text);
        field_of(node, "name", source.text) == first
            || node.kind() == "use_declaration"
                && node.byte_range() != import.range
                && has_word(source.of(node))
                && argument.split("::").next() != Some(first)
    };
    let items =
        ["mod_item", "extern_crate_declaration", "enum_item", "function_item", "use_declaration"];
    let is_local = source.text.contains(&format!("mod {first}"))
        || source.of_kind(&items).any(declares)
        // `use a::b` in the 2018 edition may also begin at a module of the same folder.
        || source.project.files.iter().any(|file| {
            let file = format!("/{file}");
            file.ends_with(&format!("/{first}.rs")) || file.ends_with(&format!("/{first}/mod.rs"))
        });
    let guarded = source.node_of(import).is_some_and(|node| source.marks(node).contains("cfg"));
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    (first.bytes().all(plain) && !OWN.contains(&first) && !is_local && !guarded).then_some(first)
}

/// Whether an import loads its module: doubles of tests and parts of the same crate do not.
fn is_loaded(import: &Import) -> bool {
    !matches!(import.kind, ImportKind::Mock | ImportKind::Submodule)
}

/// The declared packages of a language, and whether a name is among them.
fn declared<'b>(source: &Source<'b>, name: &str) -> Option<(bool, &'b BTreeSet<String>)> {
    let project = source.project;
    match source.language {
        Language::Python => {
            let list = project.python.as_ref()?;
            let one = spelled(name);
            let known = list.contains(&one)
                || python_aliases()
                    .any(|(module, package)| module == name && list.contains(&spelled(package)))
                // Namespaces, and packages that carry the language's name: google, python-x.
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
        Language::Rust => project.rust.as_ref().map(|list| (list.contains(name), list)),
        Language::Go => {
            let list = project.go.as_ref()?;
            let below = |module: &str| {
                name == module
                    || name.strip_prefix(module).is_some_and(|rest| rest.starts_with('/'))
            };
            let known = list.iter().any(|module| below(module))
                || project.go_own.keys().any(|module| below(module))
                || project.has_folder(&format!("vendor/{name}"));
            Some((known, list))
        }
        Language::Java => None,
    }
}

/// The declared name that an undeclared one is nearly spelled like.
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

/// Undeclared imports, with the declared name they are nearly spelled like.
fn undeclared(source: &Source<'_>) -> Vec<(u32, String, Option<String>)> {
    let mut found: Vec<(u32, String, Option<String>)> = Vec::new();
    for import in source.imports.iter().filter(|import| is_loaded(import)) {
        let Some(name) = package(source, import) else { continue };
        let Some((false, list)) = declared(source, name) else { continue };
        let close = match source.language {
            Language::Go => {
                let head = |n: &str| n.split('/').take(3).collect::<Vec<_>>().join("/");
                near(&head(name), &list.iter().map(|one| head(one)).collect())
            }
            Language::Python => {
                let builtin =
                    PYTHON_MODULES.iter().map(|one| (*one).to_owned()).filter(|one| one.len() > 5);
                near(name, list).or_else(|| near(name, &builtin.collect()))
            }
            _ => near(name, list),
        };
        let at = import.line;
        if !found.iter().any(|(line, other, _)| *line == at && other == name) {
            found.push((at, name.to_owned(), close));
        }
    }
    found
}

/// Packages that no manifest and no lock file names.
fn unknown_package(source: &Source<'_>) -> Vec<Hit> {
    undeclared(source)
        .into_iter()
        .filter(|(_, _, near)| near.is_none())
        .map(|(line, name, _)| Hit::noted(line, name))
        .collect()
}

/// Packages whose name is nearly one that is declared.
fn misspelt_package(source: &Source<'_>) -> Vec<Hit> {
    if source.language == Language::Java {
        return misspelt_group(source);
    }
    undeclared(source)
        .into_iter()
        .filter_map(|(line, name, near)| {
            near.map(|near| Hit::noted(line, format!("{name}, where {near} is declared")))
        })
        .collect()
}

/// Java packages that projects import without a group of that name.
const KNOWN_GROUPS: &[&str] =
    &["java.util", "java.io", "javax.swing", "java.net", "org.junit", "org.mockito", "org.slf4j"];

/// Java packages that are nearly the group of a dependency.
fn misspelt_group(source: &Source<'_>) -> Vec<Hit> {
    let Some(groups) = source.project.java.as_ref() else { return Vec::new() };
    let head = |name: &str| name.split('.').take(2).collect::<Vec<_>>().join(".");
    let known: BTreeSet<String> = groups
        .iter()
        .map(|group| head(group))
        .chain(source.project.java_own.keys().map(|package| head(package)))
        .chain(KNOWN_GROUPS.iter().map(|group| (*group).to_owned()))
        .collect();
    let misspelt = |import: &Import| {
        let own = head(&import.module);
        if own.starts_with("java.") || own.starts_with("javax.") || known.contains(&own) {
            return None;
        }
        let near = near(&own.replace('.', "_"), &known)?;
        Some(Hit::noted(import.line, format!("{}, where {near} is known", import.module)))
    };
    source.imports.iter().filter_map(misspelt).collect()
}

/// Paths below a known package that are not there.
fn wrong_sub_path(source: &Source<'_>) -> Vec<Hit> {
    let project = source.project;
    let wrong = |import: &Import| -> bool {
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
                !source.is_import_in(import, &["try_statement", "if_statement"])
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
                !script_candidates(rest).any(|one| there.contains(&one))
            }
            Language::Go => project.go_own.iter().any(|(own, folder)| {
                module
                    .strip_prefix(own.as_str())
                    .and_then(|rest| rest.strip_prefix('/'))
                    .is_some_and(|rest| {
                        let path = join(folder, rest).unwrap_or_default();
                        !project.has_folder(&path)
                            && !project
                                .go_own
                                .keys()
                                .any(|other| other != own && module.starts_with(other.as_str()))
                    })
            }),
            Language::Java => {
                let Some(files) = project.java_own.get(module) else { return false };
                let name = import.names.first().map_or("", String::as_str);
                import.kind != ImportKind::Static
                    && name != "*"
                    && !files.contains(name)
                    && !project.java_own.contains_key(&format!("{module}.{name}"))
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
        .filter(|import| is_loaded(import) && wrong(import))
        .map(|import| Hit::noted(import.line, &import.module))
        .collect()
}
