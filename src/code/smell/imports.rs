//! Imports: do they lead somewhere, are they declared, are they used.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::domain::id::RepoPath;

use super::data::{NODE_MODULES, PYTHON_ALIASES, PYTHON_MODULES};
use super::project::{Project, spelled};
use super::source::{Hit, Source, line};

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
                types = source.of(node).starts_with("import type") || source.of(node).starts_with("export type");
                let clause = (node.kind() == "import_statement")
                    .then(|| source.inside(node).find(|inner| inner.kind() == "import_clause"))
                    .flatten();
                for inner in clause.into_iter().flat_map(|clause| source.inside(clause)) {
                    let parent = inner.parent().map_or("", |parent| parent.kind());
                    match (inner.kind(), parent) {
                        ("identifier", "import_clause" | "namespace_import") => {
                            let item = if parent == "import_clause" { "default" } else { "*" };
                            names.push((module.clone(), item.into(), source.of(inner).into()));
                        }
                        ("import_specifier", _) => {
                            let item = source.field(inner, "name");
                            let alias = source.field(inner, "alias");
                            let bound = if alias.is_empty() { item } else { alias };
                            names.push((module.clone(), item.into(), bound.into()));
                        }
                        _ => {}
                    }
                }
                if names.is_empty() {
                    names.push((module, String::new(), String::new()));
                }
            }
            (
                Language::JavaScript | Language::TypeScript | Language::Tsx,
                "call_expression",
            ) if matches!(source.field(node, "function"), "require" | "import") => {
                let first = node.child_by_field_name("arguments").and_then(|list| list.named_child(0));
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
        all.extend(names.into_iter().map(|(module, item, bound)| Import {
            node,
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

/// The file endings that an import may leave out.
pub fn paths_without_ending(path: &str) -> impl Iterator<Item = String> {
    const ENDINGS: &[&str] =
        &["js", "ts", "tsx", "jsx", "mjs", "cjs", "mts", "cts", "json", "node", "d.ts", "d.mts", "d.cts", "vue", "svelte", "css"];
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

/// A relative path against a folder; `None` when it leaves the repository.
fn joined(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The folder that a relative Python import begins in, and the rest of its path.
fn python_relative(file: &RepoPath, module: &str) -> Option<String> {
    let dots = module.chars().take_while(|c| *c == '.').count();
    let mut folder: Vec<&str> = file.parent().split('/').filter(|part| !part.is_empty()).collect();
    let up = dots.checked_sub(1)?;
    folder.truncate(folder.len().checked_sub(up)?);
    folder.extend(module.trim_start_matches('.').split('.').filter(|part| !part.is_empty()));
    Some(folder.join("/"))
}

/// Who imports whom at load time, as far as it is certain.
pub fn edges(
    files: &BTreeMap<RepoPath, String>,
    project: &Project,
) -> BTreeMap<String, BTreeSet<String>> {
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    static PYTHON: std::sync::LazyLock<Option<regex::Regex>> = std::sync::LazyLock::new(|| {
        regex::Regex::new(r"(?m)^(?:from\s+([.\w]+)\s+import\s+\(?\s*(\w+)|import\s+([\w.]+))").ok()
    });
    static SCRIPT: std::sync::LazyLock<Option<regex::Regex>> = std::sync::LazyLock::new(|| {
        regex::Regex::new(r#"(?m)^(?:import|export)\s+(type\s)?[^;'"]*?['"](\.[^'"]+)['"]|^(?:const|let|var)\s[^=\n]+=\s*require\(['"](\.[^'"]+)['"]\)"#).ok()
    });
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

/// The name a manifest would have for an import: `None` when it is none of a manifest's business.
fn package<'b>(source: &Source<'_>, import: &'b Import<'_>) -> Option<&'b str> {
    let module = import.module.as_str();
    let project = source.project;
    match source.language {
        Language::Python => {
            let first = module.split('.').next()?;
            let optional = source
                .around(import.node, &["try_statement", "if_statement", "function_definition"])
                .is_some();
            (!first.is_empty()
                && !optional
                && !PYTHON_MODULES.contains(first)
                && !project.python_roots.contains(first)
                && !first.starts_with("__"))
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
                    && source.around(import.node, &["try_statement"]).is_some());
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
                .of_kind(&["mod_item", "extern_crate_declaration", "enum_item", "function_item", "use_declaration"])
                .any(|node| {
                    source.field(node, "name") == first
                        || (node.kind() == "use_declaration"
                            && node.id() != import.node.id()
                            && source.of(node).split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == first)
                            && source.field(node, "argument").split("::").next() != Some(first))
                });
            let guarded = source.marks(import.node).contains("cfg");
            // `use a::b` in the 2018 edition may also begin at a module of the same folder.
            let beside = source.project.files.iter().any(|file| {
                file.ends_with(&format!("/{first}.rs")) || file.ends_with(&format!("/{first}/mod.rs")) || *file == format!("{first}.rs")
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
                name == module || name.strip_prefix(module).is_some_and(|rest| rest.starts_with('/'))
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
    let allowed = if wanted.len() < 4 { 0 } else if wanted.len() < 8 { 1 } else { 2 };
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
                let builtin = PYTHON_MODULES.iter().map(|one| (*one).to_owned()).filter(|one| one.len() > 5);
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
        .chain(["java.util", "java.io", "javax.swing", "java.net", "org.junit", "org.mockito", "org.slf4j"].map(str::to_owned))
        .collect();
    source
        .imports
        .iter()
        .filter(|import| !import.module.starts_with("java.") && !import.module.starts_with("javax."))
        .filter(|import| !known.contains(&head(&import.module)))
        .filter_map(|import| {
            let near = near(&head(&import.module).replace('.', "_"), &known)?;
            Some(Hit::noted(line(import.node), format!("{}, where {near} is known", import.module)))
        })
        .collect()
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
                let root = ["", "src/"]
                    .iter()
                    .map(|root| format!("{root}{first}"))
                    .find(|root| project.files.contains(&format!("{root}/__init__.py")));
                let Some(root) = root else { return false };
                let full = format!("{}{path}", root.strip_suffix(first).unwrap_or_default());
                source.around(import.node, &["try_statement", "if_statement"]).is_none()
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
                !there.contains(*rest) && !paths_without_ending(rest).any(|one| there.contains(&one))
            }
            Language::Go => project.go_own.iter().any(|(own, folder)| {
                module.strip_prefix(own.as_str()).and_then(|rest| rest.strip_prefix('/')).is_some_and(
                    |rest| {
                        let path = joined(folder, rest).unwrap_or_default();
                        !project.has_folder(&path)
                            && !project.go_own.keys().any(|other| other != own && module.starts_with(other.as_str()))
                    },
                )
            }),
            Language::Java => {
                let Some(files) = project.java_own.get(module) else { return false };
                !import.types
                    && import.item != "*"
                    && !files.contains(&import.item)
                    && !project.java_own.contains_key(&format!("{module}.{}", import.item))
                    && !source.project.files.iter().any(|file| file.ends_with(".kt") || file.ends_with(".proto") || file.ends_with(".g4"))
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
        if source.around(import.node, &["try_statement", "if_statement"]).is_some() {
            return false;
        }
        if source.language == Language::Python {
            let Some(base) = python_relative(source.path, &import.module) else { return true };
            // Compiled modules and those a build makes are not in the repository.
            return import.module.trim_start_matches('.') != ""
                && !["py", "pyi", "so", "pyx", "pyd", "c"].iter().any(|ending| project.files.contains(&format!("{base}.{ending}")))
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
        .filter(|node| source.around(*node, &["mod_item", "macro_definition"]).is_none())
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
                .find(|import| {
                    import.item == stem || import.module.split(['.', '/']).any(|part| part == stem)
                })
                .map_or(1, |import| line(import.node));
            Hit::noted(at, format!("{own} -> {path}"))
        })
        .collect()
}

/// The bytes of one statement with its line end.
fn whole_line(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let start = text.get(..range.start)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(range.end..)?;
    let end = range.end + rest.find('\n').map_or(rest.len(), |at| at + 1);
    let around = [text.get(start..range.start)?, text.get(range.end..end)?].concat();
    around.trim().trim_matches(';').is_empty().then_some(start..end)
}

/// What takes an import out: its whole statement, when it binds one name and stands on its own
/// line. Modules that are loaded for what they do, and package doors, stay.
fn cut(source: &Source<'_>, import: &Import<'_>) -> Option<Range<usize>> {
    let safe = match source.language {
        // The module may be loaded for its effect; only names taken out of a module, and modules
        // of the standard library, are surely not.
        Language::Python => {
            let first = import.module.split('.').next().unwrap_or_default();
            PYTHON_MODULES.contains(first) && !matches!(first, "readline" | "antigravity" | "this" | "__future__")
        }
        Language::Go | Language::Rust => false,
        Language::Java => true,
        _ => NODE_MODULES.contains(import.module.trim_start_matches("node:")),
    };
    // A Python block must keep a statement.
    (safe && import.siblings == 1 && import.top)
        .then(|| whole_line(source.text, import.node.byte_range()))?
}

/// The same name imported twice in one place.
pub fn duplicate(source: &Source<'_>) -> Vec<Hit> {
    let mut seen: BTreeMap<(String, String, String, bool), ()> = BTreeMap::new();
    let mut hits = Vec::new();
    for import in source.imports.iter().filter(|one| one.top && (one.node.kind() != "call_expression")) {
        let stem = (import.module.clone(), import.item.clone(), import.bound.clone(), import.types);
        let binds = !import.bound.is_empty() || (source.language == Language::Rust && !source.marks(import.node).contains("cfg"));
        if binds && seen.insert(stem, ()).is_some() {
            let cut = (import.siblings == 1)
                .then(|| whole_line(source.text, import.node.byte_range()))
                .flatten()
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
    if matches!(name, "__init__.py" | "conftest.py") || name.ends_with(".d.ts") || name.ends_with(".pyi") {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for import in &source.imports {
        let bound = import.bound.as_str();
        if bound.is_empty() || bound == "_" || import.module == "__future__" || import.module == "." {
            continue;
        }
        let guarded = source.around(import.node, &["try_statement", "if_statement", "with_statement"]).is_some();
        let handed_on = source.language == Language::Python && import.item == import.bound
            && source.of(import.node).contains(&format!("{bound} as {bound}"));
        let marked = source.text.lines().nth(line(import.node) as usize - 1).is_some_and(|text| {
            text.contains("noqa") || text.contains("eslint-disable") || text.contains("@ts-") || text.contains("pylint")
        });
        if guarded || handed_on || marked || (bound == "React" && source.is_script()) {
            continue;
        }
        if !is_read(source, bound, &import.node.byte_range()) {
            hits.push(Hit { line: line(import.node), note: bound.to_owned(), cut: cut(source, import) });
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
    source
        .nodes
        .get(..next)
        .unwrap_or_default()
        .iter()
        .rev()
        .take(3)
        .any(|node| {
            node.end_byte() > at
                && node.kind().ends_with("comment")
                // Java documentation links need their import, type checkers read comments.
                && !source.of(*node).starts_with("/**")
                && !source.of(*node).contains("type:")
                && !source.of(*node).starts_with("/// <")
        })
}
