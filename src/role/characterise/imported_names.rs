//! Where tests and callers import names from, so that arguments can be made by what another file
//! offers, and what they call the default export of a file.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::imports;
use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::test_paths::is_test;
use crate::domain::id::RepoPath;

/// The local name of a default export: `import name from`, `export { default as name } from`.
static DEFAULT_NAME: Pattern =
    Pattern::new(r"^import\s+(?:type\s+)?([\w$]+)|\bdefault\s+as\s+([\w$]+)");

/// The files of the repository from which each name is imported.
#[derive(Debug, Default)]
pub struct ImportedNames {
    sources: BTreeMap<String, BTreeSet<RepoPath>>,
    /// Names of default exports, with the file.
    defaults: BTreeSet<(String, RepoPath)>,
}

impl ImportedNames {
    /// Notes what a file imports by name from others.
    pub fn note_imports(
        &mut self,
        (file, language): (&RepoPath, Language),
        text: &str,
        files: &BTreeSet<RepoPath>,
    ) {
        if language != Language::Python && !language.is_script() {
            return;
        }
        let Some(tree) = language.parse(text) else { return };
        let find = |path: &str| RepoPath::parse(path).ok().filter(|path| files.contains(path));
        let holds = |path: &str| find(path).is_some();
        for import in imports::read(language, &tree, text) {
            let found = imports::local_module(file, language, &import.module, &holds);
            let source = found.and_then(|path| find(&path)).filter(|path| !is_test(path));
            let Some(source) = source else { continue };
            let statement = text.get(import.range).unwrap_or_default();
            let names = DEFAULT_NAME.captures(statement);
            let names = names.filter_map(|found| found.iter().flatten().nth(1));
            self.defaults.extend(names.map(|name| (name.as_str().into(), source.clone())));
            let is_name = |name: &&String| !matches!(name.as_str(), "*" | "default");
            for name in import.names.iter().filter(is_name) {
                self.sources.entry(name.clone()).or_default().insert(source.clone());
            }
        }
    }

    /// What other files call the default export of a file.
    pub fn list_default_names(&self, subject: &RepoPath) -> Vec<&String> {
        let own = self.defaults.iter().filter(|(_, source)| source == subject);
        own.map(|(name, _)| name).collect()
    }

    /// The names that come from one other file only, with that file.
    pub fn list_from_others(&self, subject: &RepoPath) -> Vec<(String, RepoPath)> {
        let single = self.sources.iter().filter_map(|(name, sources)| {
            let source =
                sources.first().filter(|source| sources.len() == 1 && *source != subject)?;
            Some((name.clone(), source.clone()))
        });
        single.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_where_all_files_import_it_from_one() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let files: BTreeSet<RepoPath> =
            ["shop/a.py", "shop/b.py", "tests/helper.py"].map(path).into();
        let mut names = ImportedNames::default();
        let texts = [
            ("tests/test_a.py", "from shop.a import Cart, Fee\nfrom tests.helper import make\n"),
            ("shop/b.py", "from .a import Cart\nimport json\n"),
            ("tests/test_b.py", "from shop.b import Fee\n"),
        ];
        for (file, text) in texts {
            names.note_imports((&path(file), Language::Python), text, &files);
        }
        let known = names.list_from_others(&path("shop/b.py"));
        assert_eq!(known, [("Cart".to_owned(), path("shop/a.py"))]);
        assert!(names.list_from_others(&path("shop/a.py")).is_empty());
    }

    #[test]
    fn a_default_export_is_known_by_the_names_that_files_give_it() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let files: BTreeSet<RepoPath> = ["src/value.js", "src/index.js"].map(path).into();
        let mut names = ImportedNames::default();
        let texts = [
            ("src/index.js", "export { default as interpolate, isValue } from './value.js';\n"),
            ("src/array.js", "import value, { isValue } from './value.js';\n"),
            ("src/other.js", "import { isValue } from './value.js';\n"),
        ];
        for (file, text) in texts {
            names.note_imports((&path(file), Language::JavaScript), text, &files);
        }
        assert_eq!(names.list_default_names(&path("src/value.js")), ["interpolate", "value"]);
        assert!(names.list_default_names(&path("src/index.js")).is_empty());
    }
}
