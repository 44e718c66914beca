//! Who depends on whom, and so which tests a change can affect.
//!
//! Imports are read from syntax trees and resolved against the files that are there. What cannot
//! be resolved is outside the repository or dynamic; a full run looks behind those.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tree_sitter::Node;

use crate::domain::id::RepoPath;

use super::language::Language;

/// Imports of files, both ways.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    imports: BTreeMap<RepoPath, BTreeSet<RepoPath>>,
    importers: BTreeMap<RepoPath, BTreeSet<RepoPath>>,
}

/// What a file asks for, as written: comparable between versions of the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wish {
    /// Module path or relative file.
    target: String,
    /// Names taken from it, which may be modules themselves.
    names: Vec<String>,
}

impl Graph {
    /// Builds the graph. Files of other languages are known and import nothing.
    #[must_use]
    pub fn build(files: &BTreeMap<RepoPath, String>) -> Self {
        let list: Vec<(&RepoPath, &String)> = files.iter().collect();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let size = list.len().div_ceil(threads).max(1);
        let index = Index::of(files);
        let parts: Vec<BTreeMap<RepoPath, BTreeSet<RepoPath>>> = std::thread::scope(|scope| {
            let workers: Vec<_> = list
                .chunks(size)
                .map(|part| {
                    let index = &index;
                    scope.spawn(move || {
                        part.iter()
                            .map(|(file, text)| ((*file).clone(), resolved(file, text, index)))
                            .collect()
                    })
                })
                .collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
                // A part without its imports would leave tests out in silence.
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(join).collect()
        });
        let mut graph = Self::default();
        for (file, imports) in parts.into_iter().flatten() {
            graph.set(file, imports);
        }
        graph
    }

    /// Reads the imports of changed files again; `files` is the whole new state.
    pub fn update(&mut self, changed: &BTreeSet<RepoPath>, files: &BTreeMap<RepoPath, String>) {
        let index = Index::of(files);
        for file in changed {
            let imports =
                files.get(file).map(|text| resolved(file, text, &index)).unwrap_or_default();
            self.set(file.clone(), imports);
        }
    }

    fn set(&mut self, file: RepoPath, imports: BTreeSet<RepoPath>) {
        for old in self.imports.remove(&file).unwrap_or_default() {
            if let Some(importers) = self.importers.get_mut(&old) {
                importers.remove(&file);
            }
        }
        for target in &imports {
            self.importers.entry(target.clone()).or_default().insert(file.clone());
        }
        self.imports.insert(file, imports);
    }

    /// Files that depend on one of `changed`, themselves included, with the number of imports
    /// between.
    #[must_use]
    pub fn affected_by(&self, changed: &BTreeSet<RepoPath>) -> BTreeMap<RepoPath, u32> {
        let mut distances: BTreeMap<RepoPath, u32> = BTreeMap::new();
        let mut queue: VecDeque<(RepoPath, u32)> =
            changed.iter().map(|file| (file.clone(), 0)).collect();
        while let Some((file, distance)) = queue.pop_front() {
            if distances.contains_key(&file) {
                continue;
            }
            for importer in self.importers.get(&file).into_iter().flatten() {
                queue.push_back((importer.clone(), distance + 1));
            }
            distances.insert(file, distance);
        }
        distances
    }

    /// Files that a file imports itself.
    pub fn imports_of(&self, file: &RepoPath) -> impl Iterator<Item = &RepoPath> {
        self.imports.get(file).into_iter().flatten()
    }

    /// Files that import a file themselves.
    pub fn importers_of(&self, file: &RepoPath) -> impl Iterator<Item = &RepoPath> {
        self.importers.get(file).into_iter().flatten()
    }

    /// Everything that some files import, directly or not, themselves included.
    #[must_use]
    pub fn needed_by(&self, files: &BTreeSet<RepoPath>) -> BTreeSet<RepoPath> {
        let mut needed = BTreeSet::new();
        let mut queue: Vec<RepoPath> = files.iter().cloned().collect();
        while let Some(file) = queue.pop() {
            if needed.insert(file.clone()) {
                queue.extend(self.imports.get(&file).into_iter().flatten().cloned());
            }
        }
        needed
    }
}

/// Ways to find a file by how an import names it.
struct Index {
    files: BTreeSet<RepoPath>,
    /// Every ending of a path without its extension: `a/b/c`, `b/c`, `c`.
    endings: BTreeMap<String, Vec<RepoPath>>,
    folders: BTreeMap<String, Vec<RepoPath>>,
}

impl Index {
    fn of(files: &BTreeMap<RepoPath, String>) -> Self {
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
fn resolved(file: &RepoPath, text: &str, index: &Index) -> BTreeSet<RepoPath> {
    let mut found = BTreeSet::new();
    let Some(language) = Language::of(file) else { return found };
    let Some(tree) = language.parse(text) else { return found };
    let mut wishes = Vec::new();
    collect(tree.root_node(), language, text, &mut wishes);
    for wish in &wishes {
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
            found.extend(own.filter(|other| !super::testing::is_test(other)).cloned());
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

fn collect(node: Node<'_>, language: Language, text: &str, wishes: &mut Vec<Wish>) {
    let source = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default().to_owned();
    let mut wish = |target: String, names: Vec<String>| wishes.push(Wish { target, names });
    let script = matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx);
    match (language, node.kind()) {
        (Language::Python, "import_statement") => {
            let mut cursor = node.walk();
            for name in node.children_by_field_name("name", &mut cursor) {
                let module = name.child_by_field_name("name").unwrap_or(name);
                wish(source(module), Vec::new());
            }
        }
        (Language::Python, "import_from_statement") => {
            let module = node.child_by_field_name("module_name").map(source).unwrap_or_default();
            let mut cursor = node.walk();
            let names = node
                .children_by_field_name("name", &mut cursor)
                .map(|name| source(name.child_by_field_name("name").unwrap_or(name)))
                .collect();
            wish(module, names);
        }
        (Language::Python, "call") => {
            let function = node.child_by_field_name("function").map(source).unwrap_or_default();
            if function.ends_with("import_module")
                || function == "__import__"
                || function.ends_with("patch")
            {
                let first =
                    node.child_by_field_name("arguments").and_then(|list| list.named_child(0));
                let target = first.map(source).unwrap_or_default();
                let target = target.trim_matches(['"', '\'']).to_owned();
                let without_attribute =
                    target.rsplit_once('.').map(|(module, _)| module.to_owned());
                wish(target, Vec::new());
                if let Some(module) = without_attribute {
                    wish(module, Vec::new());
                }
            }
        }
        (_, "import_statement" | "export_statement") if script => {
            if let Some(from) = node.child_by_field_name("source") {
                wish(source(from).trim_matches(['"', '\'', '`']).to_owned(), Vec::new());
            }
        }
        (_, "call_expression") if script => {
            let function = node.child_by_field_name("function").map(source).unwrap_or_default();
            let asks = [
                "require",
                "import",
                "require.resolve",
                "jest.mock",
                "vi.mock",
                "jest.requireActual",
            ];
            if asks.contains(&function.as_str()) {
                let first =
                    node.child_by_field_name("arguments").and_then(|list| list.named_child(0));
                wish(
                    first.map(source).unwrap_or_default().trim_matches(['"', '\'', '`']).to_owned(),
                    Vec::new(),
                );
            }
        }
        (Language::Rust, "mod_item") if node.child_by_field_name("body").is_none() => {
            wish(
                format!("mod {}", node.child_by_field_name("name").map(source).unwrap_or_default()),
                Vec::new(),
            );
        }
        (Language::Rust, "use_declaration") => {
            let tree = node.child_by_field_name("argument").map(source).unwrap_or_default();
            for path in paths(&tree) {
                wish(path, Vec::new());
            }
        }
        (Language::Go, "import_spec") => {
            let path = node.child_by_field_name("path").map(source).unwrap_or_default();
            wish(path.trim_matches('"').to_owned(), Vec::new());
        }
        (Language::Java, "import_declaration") => {
            let path = source(node);
            let path = path
                .trim_start_matches("import")
                .trim()
                .trim_start_matches("static ")
                .trim_end_matches(';');
            wish(path.trim().to_owned(), Vec::new());
        }
        _ => {}
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, language, text, wishes);
    }
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

/// The paths of a use tree: `a::{b, c::{d, e}}` holds `a::b`, `a::c::d` and `a::c::e`.
fn paths(tree: &str) -> Vec<String> {
    let (mut done, mut prefixes, mut word) = (Vec::new(), vec![String::new()], String::new());
    let mut take = |word: &mut String, prefix: &str| {
        let path = word.split(" as ").next().unwrap_or_default();
        let path: String = path.split_whitespace().collect();
        if !path.is_empty() {
            done.push(format!("{prefix}{path}"));
        }
        word.clear();
    };
    for letter in tree.chars() {
        let prefix = prefixes.last().cloned().unwrap_or_default();
        match letter {
            '{' => {
                let head: String = word.split_whitespace().collect();
                prefixes.push(format!("{prefix}{head}"));
                word.clear();
            }
            '}' => {
                take(&mut word, &prefix);
                prefixes.pop();
            }
            ',' => take(&mut word, &prefix),
            letter => word.push(letter),
        }
    }
    take(&mut word, "");
    done
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
        found.extend(files.iter().filter(|file| !super::testing::is_test(file)).cloned());
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn repository(files: &[(&str, &str)]) -> BTreeMap<RepoPath, String> {
        files
            .iter()
            .map(|(path, text)| (RepoPath::parse(*path).unwrap(), (*text).to_owned()))
            .collect()
    }

    fn affected(files: &[(&str, &str)], changed: &str) -> Vec<String> {
        let graph = Graph::build(&repository(files));
        let changed = BTreeSet::from([RepoPath::parse(changed).unwrap()]);
        graph.affected_by(&changed).keys().map(ToString::to_string).collect()
    }

    #[test]
    fn a_use_tree_is_all_its_paths() {
        let table: [(&str, &[&str]); 5] = [
            ("crate::a::b", &["crate::a::b"]),
            ("crate::{a, b::{c, d as e}}", &["crate::a", "crate::b::c", "crate::b::d"]),
            ("{crate::a, super::b}", &["crate::a", "super::b"]),
            ("crate::a::{\n    self,\n    b,\n}", &["crate::a::self", "crate::a::b"]),
            ("crate::a::*", &["crate::a::*"]),
        ];
        for (tree, expected) in table {
            assert_eq!(paths(tree), expected, "{tree}");
        }
    }

    #[test]
    fn python_imports_of_every_form_are_followed() {
        let files = [
            ("shop/__init__.py", ""),
            ("shop/tax.py", ""),
            ("shop/cart.py", "from . import tax\n"),
            ("shop/order.py", "from .cart import Cart\n"),
            ("shop/other.py", "import json\n"),
            ("src/lib/deep.py", ""),
            ("tests/test_order.py", "import shop.order\n"),
            ("tests/test_deep.py", "from lib.deep import f\n"),
            (
                "tests/test_patch.py",
                "from unittest.mock import patch\n@patch('shop.tax.rate')\ndef test(m): pass\n",
            ),
        ];
        assert_eq!(
            affected(&files, "shop/tax.py"),
            [
                "shop/cart.py",
                "shop/order.py",
                "shop/tax.py",
                "tests/test_order.py",
                "tests/test_patch.py"
            ]
        );
        assert_eq!(affected(&files, "src/lib/deep.py"), ["src/lib/deep.py", "tests/test_deep.py"]);
        assert!(affected(&files, "shop/__init__.py").contains(&"shop/other.py".to_owned()));
    }

    #[test]
    fn other_languages_are_followed() {
        let script = [
            ("src/a.ts", "export const a = 1;"),
            ("src/b.js", "import { a } from './a.js';"),
            ("src/index.js", "module.exports = require('./b');"),
            ("test/b.test.js", "const { b } = require('..//src');"),
        ];
        assert_eq!(affected(&script, "src/a.ts").len(), 4);
        let rust = [
            ("src/lib.rs", "mod a;\nmod b;"),
            ("src/a.rs", "use crate::b::f;"),
            ("src/b.rs", ""),
            ("tests/api.rs", "use x::f;"),
        ];
        assert_eq!(affected(&rust, "src/b.rs").len(), 4);
        let go = [
            ("go.mod", "module example.com/m"),
            ("money/money.go", "package money"),
            ("cart/cart.go", "package cart\nimport \"example.com/m/money\""),
            ("cart/cart_test.go", "package cart"),
        ];
        assert_eq!(
            affected(&go, "money/money.go"),
            ["cart/cart.go", "cart/cart_test.go", "money/money.go"]
        );
        let java = [
            ("src/main/java/m/A.java", "package m;"),
            ("src/main/java/n/B.java", "package n;\nimport m.A;"),
            ("src/test/java/n/BTest.java", "package n;\nimport n.B;"),
        ];
        assert_eq!(affected(&java, "src/main/java/m/A.java").len(), 3);
    }

    proptest! {
        /// Reachability the slow way: repeat until nothing is added.
        #[test]
        fn affected_files_agree_with_a_naive_closure(edges in prop::collection::vec((0usize..8, 0usize..8), 0..20), start in 0usize..8) {
            let name = |n: usize| format!("m{n}.py");
            let mut texts: BTreeMap<RepoPath, String> =
                (0..8).map(|n| (RepoPath::parse(name(n)).unwrap(), String::new())).collect();
            for (from, to) in &edges {
                texts.get_mut(&RepoPath::parse(name(*from)).unwrap()).unwrap().push_str(&format!("import m{to}\n"));
            }
            let graph = Graph::build(&texts);
            let changed = BTreeSet::from([RepoPath::parse(name(start)).unwrap()]);
            let affected: BTreeSet<String> = graph.affected_by(&changed).keys().map(ToString::to_string).collect();
            let mut naive = BTreeSet::from([start]);
            loop {
                let more: Vec<usize> = edges.iter().filter(|(_, to)| naive.contains(to)).map(|(from, _)| *from).collect();
                let before = naive.len();
                naive.extend(more);
                if naive.len() == before { break; }
            }
            prop_assert_eq!(affected, naive.into_iter().map(name).collect::<BTreeSet<_>>());
        }
    }
}
