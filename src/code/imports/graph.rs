//! The import graph of a repository: which files, and so which tests, a change can affect.
//!
//! Imports that resolve to no file are external or dynamic, so the graph misses them; only a run of
//! the whole suite covers those.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::code::language::Language;
use crate::code::parallel;
use crate::domain::id::RepoPath;

use super::read::read;
use super::resolve::Index;

/// The imports between the files of a repository, in both directions.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    imports: BTreeMap<RepoPath, BTreeSet<RepoPath>>,
    importers: BTreeMap<RepoPath, BTreeSet<RepoPath>>,
}

impl Graph {
    /// Builds the graph. Files in unsupported languages are included, without imports.
    #[must_use]
    pub fn build(files: &BTreeMap<RepoPath, String>) -> Self {
        let index = Index::of(files);
        let list: Vec<(&RepoPath, &String)> = files.iter().collect();
        let resolved = parallel::map(&list, |(file, text)| {
            ((*file).clone(), imported_files(file, text, &index))
        });
        let mut graph = Self::default();
        for (file, imports) in resolved {
            graph.set(file, imports);
        }
        graph
    }

    /// Updates the graph after a change of some files; `files` holds all files after the change.
    pub fn update(&mut self, changed: &BTreeSet<RepoPath>, files: &BTreeMap<RepoPath, String>) {
        let index = Index::of(files);
        for file in changed {
            let imports =
                files.get(file).map(|text| imported_files(file, text, &index)).unwrap_or_default();
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

    /// The files that depend on one of `changed`, including those, with their distance in imports.
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

    /// The files that a file imports directly.
    pub fn imports_of(&self, file: &RepoPath) -> impl Iterator<Item = &RepoPath> {
        self.imports.get(file).into_iter().flatten()
    }

    /// The files that import a file directly.
    pub fn importers_of(&self, file: &RepoPath) -> impl Iterator<Item = &RepoPath> {
        self.importers.get(file).into_iter().flatten()
    }

    /// The files that some files import, directly or transitively, including themselves.
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

/// The files that a file imports, and those that are loaded implicitly with it.
fn imported_files(file: &RepoPath, text: &str, index: &Index) -> BTreeSet<RepoPath> {
    let Some(language) = Language::of(file) else { return BTreeSet::new() };
    let imports = language.parse(text).map(|tree| read(language, &tree, text)).unwrap_or_default();
    let mut found: BTreeSet<RepoPath> =
        imports.iter().flat_map(|import| index.targets(file, language, import)).collect();
    found.extend(index.companions(file, language));
    found.remove(file);
    found
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
        /// Computes reachability naively: adds importers until nothing changes.
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

        /// Updating changed files gives the same graph as building it from scratch.
        #[test]
        fn an_updated_graph_is_the_one_of_a_new_build(
            before in prop::collection::vec((0usize..6, 0usize..6), 0..12),
            after in prop::collection::vec((0usize..6, 0usize..6), 0..12),
        ) {
            let texts = |edges: &[(usize, usize)]| -> BTreeMap<RepoPath, String> {
                let text = |n: usize| -> String {
                    let own = edges.iter().filter(|(from, _)| *from == n);
                    own.map(|(_, to)| format!("import m{to}\n")).collect()
                };
                (0..6).map(|n| (RepoPath::parse(format!("m{n}.py")).unwrap(), text(n))).collect()
            };
            let (old, new) = (texts(&before), texts(&after));
            let changed: BTreeSet<RepoPath> =
                new.iter().filter(|(file, text)| old.get(*file) != Some(*text)).map(|(file, _)| file.clone()).collect();
            let mut graph = Graph::build(&old);
            graph.update(&changed, &new);
            let fresh = Graph::build(&new);
            for file in new.keys() {
                let list = |graph: &Graph| graph.imports_of(file).cloned().collect::<BTreeSet<_>>();
                prop_assert_eq!(list(&graph), list(&fresh));
                let list = |graph: &Graph| graph.importers_of(file).cloned().collect::<BTreeSet<_>>();
                prop_assert_eq!(list(&graph), list(&fresh));
            }
        }

        /// A file needs another one exactly if a change of the other one affects it.
        #[test]
        fn what_a_file_needs_is_what_affects_it(
            edges in prop::collection::vec((0usize..6, 0usize..6), 0..14), one in 0usize..6, other in 0usize..6,
        ) {
            let file = |n: usize| RepoPath::parse(format!("m{n}.py")).unwrap();
            let mut texts: BTreeMap<RepoPath, String> = (0..6).map(|n| (file(n), String::new())).collect();
            for (from, to) in &edges {
                texts.get_mut(&file(*from)).unwrap().push_str(&format!("import m{to}\n"));
            }
            let graph = Graph::build(&texts);
            let needed = graph.needed_by(&BTreeSet::from([file(one)])).contains(&file(other));
            let affected = graph.affected_by(&BTreeSet::from([file(other)])).contains_key(&file(one));
            prop_assert_eq!(needed, affected);
        }
    }

    #[test]
    fn circles_end_and_distances_count_the_shortest_way() {
        let files = repository(&[
            ("a.py", "import b\n"),
            ("b.py", "import c\nimport a\n"),
            ("c.py", "import a\n"),
            ("d.py", "import c\n"),
        ]);
        let graph = Graph::build(&files);
        let path = |name: &str| RepoPath::parse(name).unwrap();
        let affected = graph.affected_by(&BTreeSet::from([path("c.py")]));
        let distances: Vec<(String, u32)> =
            affected.into_iter().map(|(file, distance)| (file.to_string(), distance)).collect();
        let expected = [("a.py", 2), ("b.py", 1), ("c.py", 0), ("d.py", 1)];
        assert_eq!(distances, expected.map(|(file, distance)| (file.to_owned(), distance)));
        assert_eq!(graph.needed_by(&BTreeSet::from([path("a.py")])).len(), 3);
    }
}
