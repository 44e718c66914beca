//! From what an import says to the files that it means.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::domain::id::RepoPath;

use super::wish::{Wish, wishes};

/// Ways to find a file by how an import names it.
pub struct Index {
    files: BTreeSet<RepoPath>,
    /// Every ending of a path without its extension: `a/b/c`, `b/c`, `c`.
    endings: BTreeMap<String, Vec<RepoPath>>,
    folders: BTreeMap<String, Vec<RepoPath>>,
}

impl Index {
    /// Of all files of a repository.
    pub fn of(files: &BTreeMap<RepoPath, String>) -> Self {
        let mut endings: BTreeMap<String, Vec<RepoPath>> = BTreeMap::new();
        let mut folders: BTreeMap<String, Vec<RepoPath>> = BTreeMap::new();
        for file in files.keys() {
            let Some(language) = Language::of(file) else { continue };
            let stem = file.as_str().rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem);
            let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
            if matches!(language, Language::Python | Language::Java) {
                let mut rest = stem;
                loop {
                    endings.entry(rest.to_owned()).or_default().push(file.clone());
                    match rest.split_once('/') {
                        Some((_, shorter)) => rest = shorter,
                        None => break,
                    }
                }
            }
            folders.entry(file.parent().to_owned()).or_default().push(file.clone());
        }
        Self { files: files.keys().cloned().collect(), endings, folders }
    }

    fn has(&self, path: &str) -> Option<RepoPath> {
        let path = RepoPath::parse(path).ok()?;
        self.files.contains(&path).then_some(path)
    }
}

/// The files that a file imports, and those that are always with it.
pub fn resolved(file: &RepoPath, text: &str, index: &Index) -> BTreeSet<RepoPath> {
    let mut found = BTreeSet::new();
    let Some(language) = Language::of(file) else { return found };
    for wish in &wishes(language, text) {
        match language {
            Language::Python => python(file, wish, index, &mut found),
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                script(file, wish, index, &mut found);
            }
            Language::Rust => rust(file, wish, index, &mut found),
            Language::Go => go(wish, index, &mut found),
            Language::Java => java(wish, index, &mut found),
        }
    }
    match language {
        // A package's own __init__ runs before its modules, and conftest before its tests.
        Language::Python => {
            let mut folder = file.parent().to_owned();
            loop {
                let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
                found.extend(index.has(&format!("{prefix}__init__.py")));
                found.extend(index.has(&format!("{prefix}conftest.py")));
                match folder.rsplit_once('/') {
                    Some((parent, _)) => folder = parent.to_owned(),
                    None if folder.is_empty() => break,
                    None => folder.clear(),
                }
            }
        }
        // Files of one folder are one package.
        Language::Go | Language::Java => {
            let own = index.folders.get(file.parent()).into_iter().flatten();
            found.extend(own.filter(|other| !crate::code::testing::is_test(other)).cloned());
        }
        Language::Rust => {
            // Integration tests link the crate, whose root knows all of it.
            if file.as_str().starts_with("tests/") || file.as_str().contains("/tests/") {
                let root = file.as_str().split("tests/").next().unwrap_or_default().to_owned();
                found.extend(index.has(&format!("{root}src/lib.rs")));
            }
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {}
    }
    found.remove(file);
    found
}

fn python(file: &RepoPath, wish: &Wish, index: &Index, found: &mut BTreeSet<RepoPath>) {
    let dots = wish.target.chars().take_while(|c| *c == '.').count();
    let module = wish.target.trim_start_matches('.').replace('.', "/");
    let mut paths = Vec::new();
    if dots > 0 {
        let mut folder: Vec<&str> =
            file.parent().split('/').filter(|part| !part.is_empty()).collect();
        folder.truncate(folder.len().saturating_sub(dots - 1));
        let base = folder.join("/");
        let join = |tail: &str| {
            [base.as_str(), tail]
                .iter()
                .filter(|p| !p.is_empty())
                .copied()
                .collect::<Vec<_>>()
                .join("/")
        };
        paths.push(join(&module));
        for name in &wish.names {
            paths.push(join(&if module.is_empty() {
                name.clone()
            } else {
                format!("{module}/{name}")
            }));
        }
        for path in paths {
            found.extend(index.has(&format!("{path}.py")));
            found.extend(index.has(&format!("{path}/__init__.py")));
        }
        return;
    }
    paths.push(module.clone());
    paths.extend(wish.names.iter().map(|name| format!("{module}/{name}")));
    for path in paths {
        // The shortest path that ends like this is nearest to a root that Python searches.
        let candidates = index.endings.get(&path).into_iter().flatten();
        if let Some(nearest) = candidates.min_by_key(|path| path.as_str().len()) {
            found.insert(nearest.clone());
        }
    }
}

fn script(file: &RepoPath, wish: &Wish, index: &Index, found: &mut BTreeSet<RepoPath>) {
    let mut bases = Vec::new();
    if wish.target.starts_with('.') {
        bases.extend(joined(file.parent(), &wish.target));
    } else if let Some(alias) =
        wish.target.strip_prefix("@/").or_else(|| wish.target.strip_prefix("~/"))
    {
        bases.push(format!("src/{alias}"));
        bases.push(alias.to_owned());
    } else {
        bases.push(wish.target.clone());
        bases.push(format!("src/{}", wish.target));
    }
    for base in bases {
        let swapped = base.strip_suffix(".js").map(str::to_owned);
        found.extend(index.has(&base));
        for stem in [Some(base), swapped].into_iter().flatten() {
            for ending in ["js", "ts", "tsx", "jsx", "mjs", "cjs", "mts", "cts", "json"] {
                found.extend(index.has(&format!("{stem}.{ending}")));
                found.extend(index.has(&format!("{stem}/index.{ending}")));
            }
        }
    }
}

/// A relative path against a folder; `None` when it leaves the repository.
pub fn joined(folder: &str, relative: &str) -> Option<String> {
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

fn rust(file: &RepoPath, wish: &Wish, index: &Index, found: &mut BTreeSet<RepoPath>) {
    let stem = file.file_name().trim_end_matches(".rs");
    let own = if matches!(stem, "mod" | "lib" | "main") {
        file.parent().to_owned()
    } else {
        format!("{}/{stem}", file.parent())
    };
    let mut put = |base: &str| {
        found.extend(index.has(&format!("{base}.rs")));
        found.extend(index.has(&format!("{base}/mod.rs")));
    };
    if let Some(name) = wish.target.strip_prefix("mod ") {
        put(&format!("{own}/{name}"));
        put(&format!("{}/{name}", file.parent()));
        return;
    }
    let root = file.as_str().split("src/").next().unwrap_or_default().to_owned() + "src";
    let path: Vec<&str> =
        wish.target.split("::").map(|part| part.split(['{', ' ']).next().unwrap_or(part)).collect();
    let (base, rest) = match path.first().copied() {
        Some("crate") => (root, path.get(1..).unwrap_or_default()),
        Some("super") => (file.parent().to_owned(), path.get(1..).unwrap_or_default()),
        Some("self") => (own, path.get(1..).unwrap_or_default()),
        _ => return,
    };
    let mut folder = base;
    for part in rest.iter().filter(|part| !part.is_empty() && **part != "super") {
        folder = format!("{folder}/{part}");
        put(&folder);
    }
}

fn go(wish: &Wish, index: &Index, found: &mut BTreeSet<RepoPath>) {
    // The package is the folder with the longest common ending.
    let best = index
        .folders
        .iter()
        .filter(|(folder, _)| !folder.is_empty() && wish.target.ends_with(&format!("/{folder}")))
        .max_by_key(|(folder, _)| folder.len());
    if let Some((_, files)) = best {
        found.extend(files.iter().filter(|file| !crate::code::testing::is_test(file)).cloned());
    }
}

fn java(wish: &Wish, index: &Index, found: &mut BTreeSet<RepoPath>) {
    let path = wish.target.replace('.', "/");
    if let Some(package) = path.strip_suffix("/*") {
        let inside = index.folders.iter().filter(|(folder, _)| folder.ends_with(package));
        found.extend(inside.flat_map(|(_, files)| files.iter().cloned()));
        return;
    }
    for name in
        [Some(path.as_str()), path.rsplit_once('/').map(|(class, _)| class)].into_iter().flatten()
    {
        found.extend(index.endings.get(name).into_iter().flatten().cloned());
    }
}
