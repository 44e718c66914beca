//! Finds names imported from a file of the repository that does not define them.

use std::collections::BTreeMap;

use crate::code::imports::{local_module, read, submodule};
use crate::code::language::Language;
use crate::domain::id::RepoPath;

/// An imported name that its file does not define.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentName {
    /// Line of the import, from 1.
    pub line: u32,
    /// The name and the module, described for the user.
    pub description: String,
}

/// Finds imported names that the imported file never mentions; any mention is a definition.
pub fn absent_names(file: &RepoPath, files: &BTreeMap<RepoPath, String>) -> Vec<AbsentName> {
    let (Some(language), Some(text)) = (Language::of(file), files.get(file)) else {
        return Vec::new();
    };
    let Some(tree) = language.parse(text) else { return Vec::new() };
    let text_of = |path: &str| files.get(&RepoPath::parse(path).ok()?).map(String::as_str);
    let find = |module: &str| local_module(file, language, module, &|path| text_of(path).is_some());
    let mut absent = Vec::new();
    for import in read(language, &tree, text) {
        let Some(source) = find(&import.module).and_then(|path| text_of(&path)) else { continue };
        for name in import.names.iter().map(String::as_str) {
            let is_module =
                language == Language::Python && find(&submodule(&import.module, name)).is_some();
            if !matches!(name, "" | "*" | "default")
                && !is_module
                && !is_open(source)
                && !mentions(source, name)
            {
                let description = format!("`{name}` from `{}`", import.module);
                absent.push(AbsentName { line: import.line, description });
            }
        }
    }
    absent
}

/// Whether a module may define names that its text does not mention.
fn is_open(text: &str) -> bool {
    ["import *", "__getattr__", "globals()[", "export *", "setattr("]
        .iter()
        .any(|sign| text.contains(sign))
}

fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_their_file_does_not_hold_are_found() {
        let table: &[(&str, &str, &[&str])] = &[
            ("t.py", "from shop.price import price", &[]),
            ("t.py", "from shop.price import parse", &["`parse` from `shop.price`"]),
            ("t.py", "from shop import price", &[]),
            ("t.py", "from shop import missing", &["`missing` from `shop`"]),
            ("t.py", "from lib.deep import gone", &["`gone` from `lib.deep`"]),
            ("t.py", "from shop.dynamic import anything", &[]),
            ("t.py", "from elsewhere import anything", &[]),
            ("t.py", "from shop.price import *", &[]),
            ("shop/t.py", "from .price import price, parse", &["`parse` from `.price`"]),
            ("shop/t.py", "from . import price, missing", &["`missing` from `.`"]),
            ("src/t.js", "import { add, sub } from './sum';", &["`sub` from `./sum`"]),
            ("src/t.ts", "import sum, { add as plus } from './sum.js';", &[]),
            ("src/t.js", "import { a } from './all';", &[]),
            ("src/t.js", "import { a } from 'react';", &[]),
            ("t.go", "package a\nimport \"fmt\"", &[]),
        ];
        for (name, text, expected) in table {
            let mut files: BTreeMap<RepoPath, String> = [
                ("shop/__init__.py", ""),
                ("shop/price.py", "def price(text):\n    return float(text)\n"),
                ("shop/dynamic.py", "def __getattr__(name):\n    return name\n"),
                ("src/lib/deep.py", "x = 1\n"),
                ("src/sum.ts", "export const add = (a, b) => a + b;"),
                ("src/all.js", "export * from './sum';"),
            ]
            .into_iter()
            .map(|(name, text)| (RepoPath::parse(name).unwrap(), text.to_owned()))
            .collect();
            let file = RepoPath::parse(*name).unwrap();
            files.insert(file.clone(), (*text).to_owned());
            let found: Vec<String> =
                absent_names(&file, &files).into_iter().map(|one| one.description).collect();
            assert_eq!(found, *expected, "{name}: {text}");
        }
    }
}
