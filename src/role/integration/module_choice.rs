//! Finds the files of the module that a request names, by path or in words.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::crossing_calls::follows_calls;
use crate::code::description_match;
use crate::code::language::Language;
use crate::domain::id::RepoPath;
use crate::role::test_plan::Survey;

/// Number of names that an error suggests.
const OFFERED: usize = 5;

/// Why no module can be explored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModuleError {
    #[error("there is no function to test in this repository")]
    NoSources,
    #[error("no module of this repository is called \"{module}\"")]
    Unknown {
        module: String,
        /// Existing names, most similar first.
        nearest: Vec<String>,
    },
    #[error("{file} has no functions, whose calls could cross a boundary")]
    NoFunctions { file: RepoPath },
    #[error("{module} is written in {languages}, for which regreen writes no integration tests")]
    OtherLanguage {
        module: String,
        /// Names of its languages.
        languages: String,
    },
    #[error(
        "no call between {module} and another file is found: regreen follows imports, annotations and constructors, and calls at load do not count"
    )]
    Isolated { module: String },
    #[error("{file}:{line}: the source does not parse")]
    Syntax { file: RepoPath, line: u32 },
}

impl ModuleError {
    /// What the user can do next, as one imperative clause.
    pub fn hint_text(&self) -> String {
        match self {
            Self::NoSources => {
                "run in a repository with sources in Python, JavaScript, TypeScript or Go".into()
            }
            Self::Unknown { nearest, .. } if nearest.is_empty() => {
                "name a file or a folder of this repository".into()
            }
            Self::Unknown { nearest, .. } => {
                format!("name a file, a folder or a function, such as {}", nearest.join(", "))
            }
            Self::OtherLanguage { .. } => {
                "name a module in Python, JavaScript, TypeScript or Go".into()
            }
            Self::NoFunctions { .. } => "name a module with functions".into(),
            Self::Isolated { .. } => {
                "name a module that calls others, or write its own tests with `regreen test`".into()
            }
            Self::Syntax { .. } => "correct it, and commit".into(),
        }
    }
}

/// The source files of the module that `words` name, in the languages of which integration tests are
/// written.
pub fn choose_files(words: &str, survey: &Survey) -> Result<BTreeSet<RepoPath>, ModuleError> {
    let mut module = find_files(words, survey)?;
    let languages: BTreeSet<Language> = module.iter().filter_map(Language::of).collect();
    module.retain(|file| Language::of(file).is_some_and(follows_calls));
    if module.is_empty() {
        let is_all = matches!(words.trim().trim_end_matches('/'), "" | ".");
        let module = if is_all { "the repository".to_owned() } else { words.to_owned() };
        let names: Vec<&str> = languages.into_iter().map(Language::name).collect();
        return Err(ModuleError::OtherLanguage { module, languages: names.join(" and ") });
    }
    Ok(module)
}

/// The sources at or below a path, else those that a description refers to.
fn find_files(words: &str, survey: &Survey) -> Result<BTreeSet<RepoPath>, ModuleError> {
    let sources: BTreeSet<RepoPath> = survey
        .known
        .iter()
        .filter(|(_, functions)| !functions.is_empty())
        .map(|(file, _)| file.clone())
        .collect();
    if sources.is_empty() {
        return Err(ModuleError::NoSources);
    }
    let path = words.trim().trim_start_matches("./").trim_end_matches('/');
    if path.is_empty() || path == "." {
        return Ok(sources);
    }
    if let Ok(place) = RepoPath::parse(path) {
        let below: BTreeSet<RepoPath> =
            sources.iter().filter(|file| file.is_at_or_below(&place)).cloned().collect();
        if !below.is_empty() {
            return Ok(below);
        }
        if survey.known.contains_key(&place) {
            return Err(ModuleError::NoFunctions { file: place });
        }
    }
    let mut described =
        if is_path(path) { BTreeMap::new() } else { survey.find_described(words).files };
    described.retain(|file, _| sources.contains(file));
    if described.is_empty() {
        return Err(ModuleError::Unknown {
            module: words.chars().take(80).collect(),
            nearest: description_match::nearest(words, &survey.known, OFFERED),
        });
    }
    Ok(described.into_keys().collect())
}

/// Whether a request is written as a path, so that no other file is meant.
fn is_path(words: &str) -> bool {
    let is_one = !words.contains(char::is_whitespace);
    let file = RepoPath::parse(words).ok();
    is_one && (words.contains('/') || file.is_some_and(|file| Language::of(&file).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey() -> Survey {
        let texts = [
            ("shop/__init__.py", "VERSION = 1\n"),
            ("shop/order.py", "def total(items):\n    return 1\n"),
            ("shop/tax.py", "def rate(code):\n    return 2\n"),
            ("web/app.py", "def index():\n    return ''\n"),
            ("tests/test_order.py", "def test_total():\n    assert True\n"),
        ];
        let texts: BTreeMap<RepoPath, String> = texts
            .map(|(file, text)| (RepoPath::parse(file).unwrap(), text.to_owned()))
            .into_iter()
            .collect();
        Survey::of(texts.keys().cloned().collect(), texts)
    }

    #[test]
    fn a_module_in_a_language_without_integration_tests_is_refused_by_its_name() {
        let texts = [
            ("core/src/lib.rs", "pub fn rate() -> u32 { 1 }\n"),
            ("app/Shop.java", "class Shop {\n  int total() { return 1; }\n}\n"),
            ("tools/tax.py", "def rate():\n    return 1\n"),
            ("tools/tax.rs", "pub fn rate() -> u32 { 1 }\n"),
        ];
        let texts: BTreeMap<RepoPath, String> = texts
            .map(|(file, text)| (RepoPath::parse(file).unwrap(), text.to_owned()))
            .into_iter()
            .collect();
        let survey = Survey::of(texts.keys().cloned().collect(), texts);
        for (words, languages) in [("core", "Rust"), ("app/Shop.java", "Java")] {
            let error = choose_files(words, &survey).unwrap_err();
            let expected = format!(
                "{words} is written in {languages}, for which regreen writes no integration tests"
            );
            assert_eq!(error.to_string(), expected);
            assert_eq!(error.hint_text(), "name a module in Python, JavaScript, TypeScript or Go",);
        }
        for words in ["tools", "."] {
            let found = choose_files(words, &survey).unwrap();
            let found: Vec<&str> = found.iter().map(RepoPath::as_str).collect();
            assert_eq!(found, ["tools/tax.py"], "{words}");
        }
    }

    #[test]
    fn a_module_is_chosen_by_path_or_in_words_and_an_unknown_one_offers_the_nearest() {
        let table: [(&str, Result<&[&str], &str>); 9] = [
            ("shop/__init__.py", Err("shop/__init__.py has no functions")),
            ("shop", Ok(&["shop/order.py", "shop/tax.py"])),
            ("./shop/", Ok(&["shop/order.py", "shop/tax.py"])),
            ("shop/tax.py", Ok(&["shop/tax.py"])),
            (".", Ok(&["shop/order.py", "shop/tax.py", "web/app.py"])),
            ("the tax module", Ok(&["shop/tax.py"])),
            ("tests", Err("no module of this repository")),
            ("shop/rate.py", Err("no module of this repository")),
            ("oder", Err("no module of this repository")),
        ];
        for (words, expected) in table {
            let found = choose_files(words, &survey());
            match expected {
                Ok(files) => {
                    let found: Vec<String> =
                        found.unwrap().iter().map(ToString::to_string).collect();
                    assert_eq!(found, files, "{words}");
                }
                Err(start) => {
                    let error = found.unwrap_err();
                    assert!(error.to_string().starts_with(start), "{words}: {error}");
                }
            }
        }
        assert!(choose_files("oder", &survey()).unwrap_err().hint_text().contains("order"));
    }
}
