//! Resolves imports to the files of the repository that they refer to.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::test_paths::is_test;
use crate::domain::id::RepoPath;

use super::read::{Import, ImportKind};

/// Joins a relative path to a folder; `None` if the result is outside the repository.
pub fn join(folder: &str, relative: &str) -> Option<String> {
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

/// The path, without extension, of a relative Python import; `None` outside the repository.
pub fn python_base(file: &RepoPath, module: &str) -> Option<String> {
    let name = module.trim_start_matches('.');
    let up = (module.len() - name.len()).checked_sub(1)?;
    let mut folder: Vec<&str> = file.parent().split('/').filter(|part| !part.is_empty()).collect();
    folder.truncate(folder.len().checked_sub(up)?);
    folder.extend(name.split('.').filter(|part| !part.is_empty()));
    Some(folder.join("/"))
}

/// The files that may define a Python module, given its path without extension.
pub fn python_files(base: &str) -> [String; 2] {
    let folder = if base.is_empty() { String::new() } else { format!("{base}/") };
    [format!("{base}.py"), format!("{folder}__init__.py")]
}

/// The files that a JavaScript import may mean, with an added extension or `.ts` for `.js`.
pub fn script_candidates(path: &str) -> impl Iterator<Item = String> {
    const ENDINGS: &[&str] = &[
        "js", "ts", "tsx", "jsx", "mjs", "cjs", "mts", "cts", "json", "node", "d.ts", "d.mts",
        "d.cts", "vue", "svelte", "css",
    ];
    let stem = [".js", ".jsx", ".mjs", ".cjs"].iter().find_map(|ending| path.strip_suffix(ending));
    let stems = std::iter::once(path).chain(stem).map(str::to_owned).collect::<Vec<_>>();
    std::iter::once(path.to_owned()).chain(stems.into_iter().flat_map(|stem| {
        ENDINGS
            .iter()
            .flat_map(move |ending| [format!("{stem}.{ending}"), format!("{stem}/index.{ending}")])
            // The root folder has an empty path.
            .map(|path| path.trim_start_matches('/').to_owned())
    }))
}

/// The file of a module that is certain to be in the repository: a relative module in Python or
/// JavaScript, or a Python package below the root or `src`. `holds` checks whether a file exists.
pub fn local_module(
    file: &RepoPath,
    language: Language,
    module: &str,
    holds: &dyn Fn(&str) -> bool,
) -> Option<String> {
    match language {
        Language::Python if module.starts_with('.') => {
            python_files(&python_base(file, module)?).into_iter().find(|path| holds(path))
        }
        Language::Python => {
            let path = module.replace('.', "/");
            let bases = [path.clone(), format!("src/{path}")];
            bases.iter().flat_map(|base| python_files(base)).find(|path| holds(path))
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            let path = join(file.parent(), module).filter(|_| module.starts_with('.'))?;
            script_candidates(&path).find(|path| holds(path))
        }
        Language::Rust | Language::Go | Language::Java => None,
    }
}

/// The submodule that an imported Python name may be: `from a import b` may import `a.b`.
pub fn submodule(module: &str, name: &str) -> String {
    if module.ends_with('.') { format!("{module}{name}") } else { format!("{module}.{name}") }
}

/// The parent of a folder; the repository root is the empty path.
fn parent_of<'a>(folder: &&'a str) -> Option<&'a str> {
    match folder.rsplit_once('/') {
        Some((parent, _)) => Some(parent),
        None => (!folder.is_empty()).then_some(""),
    }
}

/// The files of a repository, indexed by the names that imports use.
pub struct Index {
    files: BTreeSet<RepoPath>,
    /// Files by every suffix of their path without its extension: `a/b/c`, `b/c`, `c`.
    endings: BTreeMap<String, Vec<RepoPath>>,
    folders: BTreeMap<String, Vec<RepoPath>>,
}

impl Index {
    /// Indexes all files of a repository.
    pub fn of(files: &BTreeMap<RepoPath, String>) -> Self {
        let mut endings: BTreeMap<String, Vec<RepoPath>> = BTreeMap::new();
        let mut folders: BTreeMap<String, Vec<RepoPath>> = BTreeMap::new();
        for file in files.keys() {
            let Some(language) = Language::of(file) else { continue };
            let stem = file.as_str().rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem);
            let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
            if matches!(language, Language::Python | Language::Java) {
                for ending in
                    std::iter::successors(Some(stem), |path| Some(path.split_once('/')?.1))
                {
                    endings.entry(ending.to_owned()).or_default().push(file.clone());
                }
            }
            folders.entry(file.parent().to_owned()).or_default().push(file.clone());
        }
        Self { files: files.keys().cloned().collect(), endings, folders }
    }

    fn file(&self, path: &str) -> Option<RepoPath> {
        let path = RepoPath::parse(path).ok()?;
        self.files.contains(&path).then_some(path)
    }

    /// The files that an import of `file` may mean, all of them: a missed test costs most.
    pub fn targets(&self, file: &RepoPath, language: Language, import: &Import) -> Vec<RepoPath> {
        match language {
            Language::Python => self.python(file, import),
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                self.script(file, &import.module)
            }
            Language::Rust => self.rust(file, import),
            Language::Go => self.go(&import.module),
            Language::Java => self.java(import),
        }
    }

    /// The files that are loaded implicitly with a file, whatever it imports.
    pub fn companions(&self, file: &RepoPath, language: Language) -> Vec<RepoPath> {
        match language {
            // A package's own __init__ runs before its modules, and conftest before its tests.
            Language::Python => std::iter::successors(Some(file.parent()), parent_of)
                .flat_map(|folder| ["__init__.py", "conftest.py"].map(|name| join(folder, name)))
                .filter_map(|path| self.file(&path?))
                .collect(),
            // All files of a folder belong to one package.
            Language::Go | Language::Java => {
                let own = self.folders.get(file.parent()).into_iter().flatten();
                own.filter(|other| !is_test(other)).cloned().collect()
            }
            // Integration tests link the crate, and its root leads to all of its modules.
            Language::Rust
                if file.as_str().starts_with("tests/") || file.as_str().contains("/tests/") =>
            {
                let root = file.as_str().split("tests/").next().unwrap_or_default();
                self.file(&format!("{root}src/lib.rs")).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn python(&self, file: &RepoPath, import: &Import) -> Vec<RepoPath> {
        let names = import.names.iter().map(String::as_str);
        if import.module.starts_with('.') {
            let Some(base) = python_base(file, &import.module) else { return Vec::new() };
            let paths = names.filter_map(|name| join(&base, name)).chain([base.clone()]);
            return paths
                .flat_map(|path| python_files(&path))
                .filter_map(|path| self.file(&path))
                .collect();
        }
        let module = import.module.replace('.', "/");
        let paths = names.map(|name| format!("{module}/{name}")).chain([module.clone()]);
        // The shortest path with this ending is the closest to a root of Python's module search.
        let nearest = |path: String| {
            self.endings.get(&path)?.iter().min_by_key(|file| file.as_str().len()).cloned()
        };
        paths.filter_map(nearest).collect()
    }

    fn script(&self, file: &RepoPath, module: &str) -> Vec<RepoPath> {
        let alias = module.strip_prefix("@/").or_else(|| module.strip_prefix("~/"));
        let bases: Vec<String> = if module.starts_with('.') {
            join(file.parent(), module).into_iter().collect()
        } else {
            let path = alias.unwrap_or(module);
            vec![path.to_owned(), format!("src/{path}")]
        };
        bases
            .iter()
            .flat_map(|base| script_candidates(base))
            .filter_map(|path| self.file(&path))
            .collect()
    }

    fn rust(&self, file: &RepoPath, import: &Import) -> Vec<RepoPath> {
        let stem = file.file_name().trim_end_matches(".rs");
        let own = if matches!(stem, "mod" | "lib" | "main") {
            file.parent().to_owned()
        } else {
            format!("{}/{stem}", file.parent())
        };
        let module = |base: &str| {
            [format!("{base}.rs"), format!("{base}/mod.rs")]
                .into_iter()
                .filter_map(|path| self.file(path.trim_start_matches('/')))
                .collect::<Vec<_>>()
        };
        if import.kind == ImportKind::Submodule {
            let folders = [own.as_str(), file.parent()];
            return folders
                .iter()
                .flat_map(|folder| module(&format!("{folder}/{}", import.module)))
                .collect();
        }
        let mut path = import.module.split("::");
        let is_foreign =
            !["crate", "super", "self"].iter().any(|own| import.module.starts_with(own));
        let mut folder = match path.next() {
            Some("crate") => {
                file.as_str().split("src/").next().unwrap_or_default().to_owned() + "src"
            }
            Some("super") => file.parent().to_owned(),
            Some("self") => own,
            Some(name) => match self.crate_folder(name) {
                Some(folder) => folder,
                None => return Vec::new(),
            },
            None => return Vec::new(),
        };
        let mut found: Vec<RepoPath> =
            self.file(&format!("{folder}/lib.rs")).filter(|_| is_foreign).into_iter().collect();
        for part in path.filter(|part| !part.is_empty() && *part != "super") {
            folder = format!("{folder}/{part}");
            found.extend(module(&folder));
        }
        found
    }

    /// The sources of another crate of the workspace, which is in a folder of its name.
    fn crate_folder(&self, name: &str) -> Option<String> {
        let names = [name.to_owned(), name.replace('_', "-")];
        let is_named = |folder: &&String| {
            let package = folder.strip_suffix("/src").unwrap_or_default();
            names.iter().any(|name| package.rsplit('/').next() == Some(name))
        };
        self.folders.keys().find(is_named).cloned()
    }

    fn go(&self, module: &str) -> Vec<RepoPath> {
        // The package is the longest folder path that the import path ends with.
        let best = self
            .folders
            .iter()
            .filter(|(folder, _)| !folder.is_empty() && module.ends_with(&format!("/{folder}")))
            .max_by_key(|(folder, _)| folder.len());
        let files = best.map(|(_, files)| files).into_iter().flatten();
        files.filter(|file| !is_test(file)).cloned().collect()
    }

    fn java(&self, import: &Import) -> Vec<RepoPath> {
        let module = import.module.replace('.', "/");
        let name = import.names.first().map_or("", String::as_str);
        if name == "*" {
            let inside = self.folders.iter().filter(|(folder, _)| folder.ends_with(&module));
            let class = self.endings.get(&module).into_iter().flatten();
            return inside.flat_map(|(_, files)| files).chain(class).cloned().collect();
        }
        [format!("{module}/{name}"), module]
            .iter()
            .filter_map(|path| self.endings.get(path))
            .flatten()
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::code::imports::read::read;

    /// The files that the first import of a file resolves to.
    fn targets(file: &str, text: &str, others: &[&str]) -> Vec<String> {
        let file = RepoPath::parse(file).unwrap();
        let language = Language::of(&file).unwrap();
        let paths = others.iter().map(|path| RepoPath::parse(*path).unwrap());
        let files: BTreeMap<RepoPath, String> =
            paths.chain([file.clone()]).map(|path| (path, String::new())).collect();
        let index = Index::of(&files);
        let tree = language.parse(text).unwrap();
        let imports = read(language, &tree, text);
        let mut found: Vec<String> = imports
            .iter()
            .flat_map(|import| index.targets(&file, language, import))
            .map(|path| path.to_string())
            .collect();
        found.sort();
        found.dedup();
        found
    }

    fn check(file: &str, others: &[&str], table: &[(&str, &[&str])]) {
        for (text, expected) in table {
            assert_eq!(targets(file, text, others), *expected, "{text}");
        }
    }

    #[test]
    fn paths_are_joined_and_never_leave_the_repository() {
        let table = [
            ("a/b", "./c", Some("a/b/c")),
            ("a/b", "../c", Some("a/c")),
            ("a/b", "../../c", Some("c")),
            ("a/b", "../../../c", None),
            ("", "..", None),
            ("", "./c/./d", Some("c/d")),
            ("a", ".", Some("a")),
            ("a", "..//c", Some("c")),
        ];
        for (folder, relative, expected) in table {
            assert_eq!(join(folder, relative).as_deref(), expected, "{folder} {relative}");
        }
    }

    #[test]
    fn relative_modules_of_python_count_their_dots() {
        let file = RepoPath::parse("a/b/c.py").unwrap();
        let table = [
            (".", Some("a/b")),
            (".d", Some("a/b/d")),
            ("..d.e", Some("a/d/e")),
            ("...d", Some("d")),
            ("....d", None),
            ("d", None),
        ];
        for (module, expected) in table {
            assert_eq!(python_base(&file, module).as_deref(), expected, "{module}");
        }
    }

    #[test]
    fn imports_of_python_lead_to_modules_and_packages() {
        check(
            "shop/cart.py",
            &[
                "shop/__init__.py",
                "shop/tax.py",
                "shop/deep/__init__.py",
                "lib/rates.py",
                "src/app/main.py",
            ],
            &[
                ("from . import tax\n", &["shop/__init__.py", "shop/tax.py"]),
                ("from .tax import rate\n", &["shop/tax.py"]),
                ("from .deep import x\n", &["shop/deep/__init__.py"]),
                ("import shop.tax\n", &["shop/tax.py"]),
                ("import shop\n", &["shop/__init__.py"]),
                ("import lib.rates as r\n", &["lib/rates.py"]),
                ("from app import main\n", &["src/app/main.py"]),
                ("import json\n", &[]),
                ("from ..above import x\n", &[]),
                ("from ...above import x\n", &[]),
            ],
        );
    }

    #[test]
    fn imports_of_scripts_lead_to_files_folders_and_aliases() {
        check(
            "src/a/b.ts",
            &["src/a/c.ts", "src/d.tsx", "src/e/index.js", "lib/f.js", "src/data.json"],
            &[
                ("import c from './c';", &["src/a/c.ts"]),
                ("import c from './c.js';", &["src/a/c.ts"]),
                ("import d from '../d';", &["src/d.tsx"]),
                ("export * from '../e';", &["src/e/index.js"]),
                ("import d from '@/d';", &["src/d.tsx"]),
                ("import f from '~/lib/f';", &["lib/f.js"]),
                ("import data from '../data.json';", &["src/data.json"]),
                ("const c = require('./c');", &["src/a/c.ts"]),
                ("jest.mock('./c');", &["src/a/c.ts"]),
                ("import react from 'react';", &[]),
                ("import x from '../../../x';", &[]),
            ],
        );
    }

    #[test]
    fn imports_of_rust_lead_to_modules_of_the_crate() {
        let others = ["src/lib.rs", "src/b.rs", "src/b/c.rs", "src/d/mod.rs", "src/a/e.rs"];
        check(
            "src/a.rs",
            &others,
            &[
                ("use crate::b::c::f;", &["src/b.rs", "src/b/c.rs"]),
                ("use crate::{b, d};", &["src/b.rs", "src/d/mod.rs"]),
                ("mod e;", &["src/a/e.rs"]),
                ("use self::e::f;", &["src/a/e.rs"]),
                ("use super::b;", &["src/b.rs"]),
                ("use std::fs;", &[]),
            ],
        );
        let crates =
            ["crates/tax-rates/src/lib.rs", "crates/tax-rates/src/eu.rs", "price/src/lib.rs"];
        check(
            "shop/src/lib.rs",
            &crates,
            &[
                ("use price::rate;", &["price/src/lib.rs"]),
                (
                    "use tax_rates::eu::rate;",
                    &["crates/tax-rates/src/eu.rs", "crates/tax-rates/src/lib.rs"],
                ),
                ("use serde::Serialize;", &[]),
            ],
        );
        check("src/lib.rs", &others, &[("mod b;\nmod d;", &["src/b.rs", "src/d/mod.rs"])]);
    }

    #[test]
    fn imports_of_go_and_java_lead_to_packages() {
        check(
            "cart/cart.go",
            &["money/money.go", "money/money_test.go", "deep/money/m.go", "go.mod"],
            &[
                ("package cart\nimport \"example.com/m/money\"\n", &["money/money.go"]),
                ("package cart\nimport \"example.com/m/deep/money\"\n", &["deep/money/m.go"]),
                ("package cart\nimport \"fmt\"\n", &[]),
            ],
        );
        check(
            "src/main/java/n/B.java",
            &["src/main/java/m/A.java", "src/main/java/m/C.java"],
            &[
                ("import m.A;", &["src/main/java/m/A.java"]),
                ("import m.*;", &["src/main/java/m/A.java", "src/main/java/m/C.java"]),
                ("import static m.A.f;", &["src/main/java/m/A.java"]),
                ("import static m.A.*;", &["src/main/java/m/A.java"]),
                ("import java.util.List;", &[]),
            ],
        );
    }

    #[test]
    fn a_module_that_is_certainly_local_has_one_file() {
        let there =
            ["shop/__init__.py", "shop/tax.py", "src/lib/deep.py", "web/a.ts", "web/b/index.js"];
        let holds = |path: &str| there.contains(&path);
        let table = [
            ("shop/cart.py", "shop.tax", Some("shop/tax.py")),
            ("shop/cart.py", "shop", Some("shop/__init__.py")),
            ("shop/cart.py", ".tax", Some("shop/tax.py")),
            ("shop/cart.py", ".", Some("shop/__init__.py")),
            ("shop/cart.py", "lib.deep", Some("src/lib/deep.py")),
            ("shop/cart.py", "tax", None),
            ("web/c.js", "./a", Some("web/a.ts")),
            ("web/c.js", "./b", Some("web/b/index.js")),
            ("web/c.js", "a", None),
            ("shop/cart.go", "shop", None),
        ];
        for (file, module, expected) in table {
            let file = RepoPath::parse(file).unwrap();
            let language = Language::of(&file).unwrap();
            let found = local_module(&file, language, module, &holds);
            assert_eq!(found.as_deref(), expected, "{file}: {module}");
        }
        assert_eq!(submodule("a.b", "c"), "a.b.c");
        assert_eq!(submodule("..", "c"), "..c");
    }
}
