//! [`Survey`]: the files of a tree, read once, with their functions, imports and tests.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::description_match::{self, DescriptionMatch, Known};
use crate::code::imports::Graph;
use crate::code::language::Language;
use crate::code::signature::module_exports::ScriptPackage;
use crate::code::{behaviour, conventions, outline, parallel, test_paths};
use crate::domain::id::{RepoPath, TreeId};
use crate::domain::test_plan::framework::Conventions;
use crate::domain::text::has_word;
use crate::effect::{Effects, GitError};
use crate::role::project_docs::is_readme;

/// Maximum number of files to read; in a larger repository, the first ones by name.
const FILES: usize = 50_000;

/// Maximum number of bytes to read of one file.
const FILE_LIMIT: usize = 512 << 10;

/// Files that are not source code but describe the project.
const TELLING: &str = "package.json pyproject.toml setup.cfg setup.py requirements.txt requirements-dev.txt \
                       go.mod Cargo.toml pom.xml build.gradle build.gradle.kts tsconfig.json pytest.ini \
                       tox.ini CONTRIBUTING.md Gemfile";

/// The contents of a repository, as far as test planning needs them.
#[derive(Default)]
pub struct Survey {
    pub names: Vec<RepoPath>,
    /// The texts of sources, tests and project descriptions.
    pub texts: BTreeMap<RepoPath, String>,
    pub graph: Graph,
    /// The sources that could be tested, with their functions.
    pub known: Known,
    /// Test files and their supporting files.
    pub tests: BTreeMap<RepoPath, String>,
    pub cut: bool,
}

impl Survey {
    /// Reads the files of a tree.
    pub async fn read(tree: &TreeId, fx: &Effects<'_>) -> Result<Self, GitError> {
        let names = fx.worktree.files(tree).await?;
        let mut texts = BTreeMap::new();
        let is_telling = |name: &str| TELLING.split_whitespace().any(|one| one == name);
        let is_relevant = |name: &&RepoPath| {
            Language::of(name).is_some() || is_readme(name) || is_telling(name.file_name())
        };
        let cut = names.iter().filter(is_relevant).count() > FILES;
        for name in names.iter().filter(is_relevant).take(FILES) {
            let bytes = fx.worktree.read(tree, name).await?.unwrap_or_default();
            if bytes.len() <= FILE_LIMIT
                && let Ok(text) = String::from_utf8(bytes)
            {
                texts.insert(name.clone(), text);
            }
        }
        Ok(Self { cut, ..Self::of(names, texts) })
    }

    /// Analyses texts that were already read.
    #[must_use]
    pub fn of(names: Vec<RepoPath>, texts: BTreeMap<RepoPath, String>) -> Self {
        let graph = Graph::build(&texts);
        let tests: BTreeMap<RepoPath, String> = texts
            .iter()
            .filter(|(file, _)| test_paths::is_test(file))
            .map(|(file, text)| (file.clone(), text.clone()))
            .collect();
        let known = functions(&texts);
        Self { names, graph, known, tests, texts, cut: false }
    }

    /// The text of a file; empty if it was not read.
    pub fn text(&self, file: &RepoPath) -> &str {
        self.texts.get(file).map_or("", String::as_str)
    }

    /// What the `package.json` at the root says.
    pub fn script_package(&self) -> ScriptPackage {
        let manifest = self.texts.iter().find(|(file, _)| file.as_str() == "package.json");
        ScriptPackage::parse(manifest.map_or("", |(_, text)| text))
    }

    /// The files and functions that a description refers to.
    pub fn find_described(&self, description: &str) -> DescriptionMatch {
        description_match::find(description, &self.known, &|name| self.owners_of_parameter(name))
    }

    fn owners_of_parameter(&self, name: &str) -> Vec<(RepoPath, String)> {
        let mut found = Vec::new();
        for file in self.known.keys().filter(|file| has_word(self.text(file), name)) {
            let Some(language) = Language::of(file) else { continue };
            let functions = behaviour::read(language, self.text(file)).into_iter();
            let own = functions.filter(|one| one.parameters.iter().any(|own| own.name == name));
            found.extend(own.map(|one| (file.clone(), one.name)));
        }
        found
    }

    /// The tests of a source: by the names of 6.8, by import, or inside the file itself.
    pub fn tests_of(&self, source: &RepoPath, habits: &Conventions) -> Vec<RepoPath> {
        let mut found: BTreeSet<RepoPath> = conventions::candidates(source, habits)
            .into_iter()
            .filter(|path| self.tests.contains_key(path))
            .collect();
        let importers = self.graph.importers_of(source);
        found.extend(importers.filter(|file| self.tests.contains_key(file)).cloned());
        // In Go and Java a package is tested as a whole, whatever the test files are called.
        if source.extension() == "go" {
            let beside = self.tests.keys().filter(|test| test.parent() == source.parent());
            found.extend(beside.filter(|test| test.extension() == "go").cloned());
        }
        let inside = source.extension() == "rs" && self.text(source).contains("#[cfg(test)]");
        found.extend(inside.then(|| source.clone()));
        found.into_iter().collect()
    }
}

/// The sources that could be tested, with their functions; parsed in parallel.
fn functions(texts: &BTreeMap<RepoPath, String>) -> Known {
    let list: Vec<(&RepoPath, Language, &String)> = texts
        .iter()
        .filter(|(file, _)| !test_paths::is_test(file) && !is_set_up(file))
        .filter_map(|(file, text)| Some((file, Language::of(file)?, text)))
        .collect();
    let outlined = parallel::map(&list, |(file, language, text)| {
        let functions = outline::functions_and_default_export(*language, text);
        ((*file).clone(), functions.into_iter().map(|one| one.name).collect())
    });
    outlined.into_iter().collect()
}

/// Whether a file is configuration or a declaration rather than testable code.
fn is_set_up(file: &RepoPath) -> bool {
    let name = file.file_name();
    matches!(name, "setup.py" | "conftest.py" | "noxfile.py" | "build.rs" | "gulpfile.js")
        || name.contains(".config.")
        || name.ends_with(".d.ts")
        || name.ends_with(".min.js")
        || file.as_str().split('/').any(|part| {
            matches!(
                part,
                "node_modules" | "vendor" | "dist" | "build" | "migrations" | "third_party"
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_generated_code_are_no_sources() {
        let table = [
            ("setup.py", true),
            ("tests/conftest.py", true),
            ("vite.config.ts", true),
            ("lib/a.min.js", true),
            ("node_modules/x/index.js", true),
            ("app/migrations/0001.py", true),
            ("shop/price.py", false),
            ("builder/price.py", false),
        ];
        for (name, expected) in table {
            assert_eq!(is_set_up(&RepoPath::parse(name).unwrap()), expected, "{name}");
        }
    }

    #[test]
    fn a_test_belongs_to_a_source_by_import_by_package_or_inside() {
        let path = |name: &str| RepoPath::parse(name).unwrap();
        let table = [
            (
                "shop/price.py",
                "def price():\n    return 1\n",
                "tests/test_any.py",
                "from shop.price import price\n\n\ndef test_x():\n    assert price()\n",
            ),
            (
                "pkg/price.go",
                "package pkg\n\nfunc Price() int {\n\treturn 1\n}\n",
                "pkg/other_test.go",
                "package pkg\n\nfunc TestX(t *testing.T) {}\n",
            ),
        ];
        for (source, text, test, test_text) in table {
            let texts: BTreeMap<RepoPath, String> =
                [(path(source), text.to_owned()), (path(test), test_text.to_owned())].into();
            let survey = Survey::of(texts.keys().cloned().collect(), texts);
            let habits = Conventions::default();
            assert_eq!(survey.tests_of(&path(source), &habits), [path(test)], "{source}");
        }
        let inside = "pub fn f() {}\n\n#[cfg(test)]\nmod tests {}\n";
        let texts = [(path("src/lib.rs"), inside.to_owned())].into();
        let survey = Survey::of(vec![path("src/lib.rs")], texts);
        let tests = survey.tests_of(&path("src/lib.rs"), &Conventions::default());
        assert_eq!(tests, [path("src/lib.rs")]);
    }
}
