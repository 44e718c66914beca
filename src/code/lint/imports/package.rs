//! Whether the packages that are imported are declared.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::lint::data::{NODE_MODULES, PYTHON_ALIASES, PYTHON_MODULES};
use crate::code::lint::project::spelled;
use crate::code::lint::source::{Hit, Source, around, line};

use super::Import;

/// The name a manifest would have for an import: `None` when it is none of a manifest's business.
fn package<'b>(source: &Source<'_>, import: &'b Import<'_>) -> Option<&'b str> {
    let module = import.module.as_str();
    let project = source.project;
    match source.language {
        Language::Python => {
            let first = module.split('.').next()?;
            let optional = around(
                    import.node,
                    &["try_statement", "if_statement", "function_definition", "with_statement"],
                )
                .is_some()
                // Who changes the path knows of modules that no manifest names.
                || source.text.contains("sys.path");
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
                || (import.node.kind() == "call_expression"
                    && around(import.node, &["try_statement"]).is_some());
            (plain && !known && !import.types).then_some(name)
        }
        Language::Rust => {
            let first = module.trim_start_matches("::").split("::").next()?.trim();
            let first = first.split(" as ").next()?.trim();
            let plain = !first.is_empty()
                && first.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            let known = matches!(
                first,
                "std" | "core" | "alloc" | "crate" | "self" | "super" | "proc_macro" | "test"
            );
            let local = source
                .of_kind(&[
                    "mod_item",
                    "extern_crate_declaration",
                    "enum_item",
                    "function_item",
                    "use_declaration",
                ])
                .any(|node| {
                    source.field(node, "name") == first
                        || (node.kind() == "use_declaration"
                            && node.id() != import.node.id()
                            && source
                                .of(node)
                                .split(|c: char| !c.is_alphanumeric() && c != '_')
                                .any(|word| word == first)
                            && source.field(node, "argument").split("::").next() != Some(first))
                });
            // `use a;` names what is here already; a macro may hold the module.
            let local = local
                || !module.trim_start_matches("::").contains("::")
                || source.text.contains(&format!("mod {first}"));
            let guarded = source.marks(import.node).contains("cfg");
            // `use a::b` in the 2018 edition may also begin at a module of the same folder.
            let beside = source.project.files.iter().any(|file| {
                file.ends_with(&format!("/{first}.rs"))
                    || file.ends_with(&format!("/{first}/mod.rs"))
                    || *file == format!("{first}.rs")
            });
            (plain && !known && !local && !guarded && !beside).then_some(first)
        }
        Language::Go => {
            let first = module.split('/').next()?;
            (first.contains('.')).then_some(module)
        }
        Language::Java => None,
    }
}

/// The declared packages of a language, and whether a name is among them.
fn declared<'b>(source: &Source<'b>, name: &str) -> Option<(bool, &'b BTreeSet<String>)> {
    let project = source.project;
    match source.language {
        Language::Python => {
            let list = project.python.as_ref()?;
            let one = spelled(name);
            let known = list.contains(&one)
                || PYTHON_ALIASES.iter().any(|(module, package)| {
                    *module == name && list.contains(&spelled(package))
                })
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
            let list = project.script.as_ref()?;
            Some((list.contains(name), list))
        }
        Language::Rust => {
            let list = project.rust.as_ref()?;
            Some((list.contains(name), list))
        }
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
    let wanted = spelled(name);
    let allowed = if wanted.len() < 4 {
        0
    } else if wanted.len() < 8 {
        1
    } else {
        2
    };
    list.iter()
        .map(|other| (strsim::osa_distance(&wanted, &spelled(other)), other))
        .filter(|(distance, _)| (1..=allowed).contains(distance))
        .min()
        .map(|(_, other)| other.clone())
}

/// Undeclared imports, with the declared name they are nearly spelled like.
fn undeclared(source: &Source<'_>) -> Vec<(u32, String, Option<String>)> {
    let mut found: Vec<(u32, String, Option<String>)> = Vec::new();
    for import in &source.imports {
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
        let at = line(import.node);
        if !found.iter().any(|(line, other, _)| *line == at && other == name) {
            found.push((at, name.to_owned(), close));
        }
    }
    found
}

/// Packages that no manifest and no lock file names.
pub fn unknown_package(source: &Source<'_>) -> Vec<Hit> {
    undeclared(source)
        .into_iter()
        .filter(|(_, _, near)| near.is_none())
        .map(|(line, name, _)| Hit::noted(line, name))
        .collect()
}

/// Packages whose name is nearly one that is declared.
pub fn misspelt_package(source: &Source<'_>) -> Vec<Hit> {
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

/// Java packages that are nearly the group of a dependency.
fn misspelt_group(source: &Source<'_>) -> Vec<Hit> {
    let Some(groups) = source.project.java.as_ref() else { return Vec::new() };
    let head = |name: &str| name.split('.').take(2).collect::<Vec<_>>().join(".");
    let known: BTreeSet<String> = groups
        .iter()
        .map(|group| head(group))
        .chain(source.project.java_own.keys().map(|package| head(package)))
        .chain(
            [
                "java.util",
                "java.io",
                "javax.swing",
                "java.net",
                "org.junit",
                "org.mockito",
                "org.slf4j",
            ]
            .map(str::to_owned),
        )
        .collect();
    source
        .imports
        .iter()
        .filter(|import| {
            !import.module.starts_with("java.") && !import.module.starts_with("javax.")
        })
        .filter(|import| !known.contains(&head(&import.module)))
        .filter_map(|import| {
            let near = near(&head(&import.module).replace('.', "_"), &known)?;
            Some(Hit::noted(line(import.node), format!("{}, where {near} is known", import.module)))
        })
        .collect()
}
