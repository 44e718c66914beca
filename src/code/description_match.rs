//! Finds the files and functions that a textual description refers to.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::id::RepoPath;
use crate::domain::text;

/// Words that refer to the whole repository.
const EVERYTHING: &[&str] =
    &["everything", "all", "whole", "entire", "repository", "project", "codebase"];

/// Words without a meaning for the search, such as verbs and articles.
const PLAIN: &[&str] = &[
    "the",
    "and",
    "for",
    "with",
    "tests",
    "test",
    "testing",
    "unit",
    "add",
    "write",
    "cover",
    "coverage",
    "please",
    "generate",
    "make",
    "sure",
    "that",
    "this",
    "from",
    "into",
    "our",
    "are",
    "is",
    "has",
    "have",
    "should",
    "must",
    "not",
    "any",
    "its",
    "their",
    "when",
    "where",
    "which",
    "what",
    "how",
    "use",
    "uses",
    "using",
    "function",
    "functions",
    "method",
    "methods",
    "module",
    "modules",
    "class",
    "classes",
    "file",
    "files",
    "code",
    "some",
    "more",
    "new",
    "edge",
    "cases",
    "case",
    "happy",
    "path",
    "paths",
    "missing",
    "lacks",
    "without",
    "every",
    "each",
    "integration",
    "of",
    "in",
    "on",
    "to",
    "a",
    "an",
    "src",
    "lib",
];

/// Whether a word cannot name a particular file or function.
fn is_plain(word: &str) -> bool {
    PLAIN.contains(&word) || EVERYTHING.contains(&word)
}

/// Maximum number of words of a description that are considered.
const WORDS: usize = 2_000;

/// The things that a description names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescriptionMatch {
    /// Files with the score of their match, from 0 to 1.
    pub files: BTreeMap<RepoPath, f64>,
    /// Matching functions by file; a file without an entry is meant as a whole.
    pub functions: BTreeMap<RepoPath, BTreeSet<String>>,
}

/// The source files of a repository, each with its functions.
pub type Known = BTreeMap<RepoPath, Vec<String>>;

/// The words and paths of a text in order, without repetitions.
pub fn words(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let apart = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | ':'));
    for word in text.split(apart) {
        let word = word.trim_matches(['.', '/', '-', ':']);
        if word.len() > 1 && seen.insert(word.to_lowercase()) {
            found.push(word.to_owned());
        }
        if found.len() == WORDS {
            break;
        }
    }
    found
}

fn stem(file: &RepoPath) -> &str {
    let name = file.file_name();
    name.split('.').next().unwrap_or(name)
}

/// Finds what a description refers to. A full path or function name scores highest, then the name
/// of a file or folder, then parts of names.
pub fn find(description: &str, known: &Known) -> DescriptionMatch {
    let mut named = DescriptionMatch::default();
    let words = words(description);
    let mut folders: BTreeMap<&str, Vec<&RepoPath>> = BTreeMap::new();
    for file in known.keys() {
        for part in file.parent().split('/').filter(|part| !part.is_empty()) {
            folders.entry(part).or_default().push(file);
        }
    }
    for word in &words {
        let lower = word.to_lowercase();
        for (file, functions) in known {
            let path = file.as_str();
            if path == word || word.contains('/') && path.ends_with(&format!("/{word}")) {
                note(&mut named, file, 1.0);
            } else if file.file_name() == word && word.contains('.') {
                note(&mut named, file, 0.95);
            } else if word.contains('/') && path.starts_with(&format!("{word}/")) {
                note(&mut named, file, 0.8);
            }
            for function in functions {
                let short = function.rsplit('.').next().unwrap_or(function);
                let group = function.split('.').next().unwrap_or(function);
                let dotted = word.contains('.') && function == word;
                if dotted || short == word && (short.len() > 3 || short.contains('_')) {
                    note(&mut named, file, 0.95);
                    named.functions.entry(file.clone()).or_default().insert(function.clone());
                } else if group == word && group != short {
                    note(&mut named, file, 0.9);
                    named.functions.entry(file.clone()).or_default().insert(function.clone());
                }
            }
            if is_plain(&lower) {
                continue;
            }
            let name = stem(file).to_lowercase();
            // The plural of a name matches as well.
            if name == lower || lower.strip_suffix('s').is_some_and(|one| one == name) {
                note(&mut named, file, 0.9);
            }
        }
        if !is_plain(&lower) {
            for file in folders.get(word.as_str()).into_iter().flatten() {
                note(&mut named, file, 0.7);
            }
        }
    }
    // Parts of names count only where no whole name matches.
    if named.files.is_empty() {
        by_parts(&mut named, &words, known);
    }
    let all = words.iter().any(|word| EVERYTHING.contains(&word.to_lowercase().as_str()));
    if named.files.is_empty() && all {
        for file in known.keys() {
            note(&mut named, file, 0.6);
        }
    }
    named
}

fn note(named: &mut DescriptionMatch, file: &RepoPath, score: f64) {
    let known = named.files.entry(file.clone()).or_default();
    *known = known.max(score);
}

/// Matches parts of names: `price parsing` matches `parse_price`, as words are compared by prefix.
fn by_parts(named: &mut DescriptionMatch, words: &[String], known: &Known) {
    let searched: BTreeSet<String> = words
        .iter()
        .filter(|word| !is_plain(&word.to_lowercase()))
        .flat_map(|word| text::words_of_name(word))
        .filter(|part| part.len() > 2)
        .collect();
    let hits = |name: &str| -> usize {
        let parts = text::words_of_name(name);
        searched.iter().filter(|word| parts.iter().any(|part| alike(part, word))).count()
    };
    for (file, functions) in known {
        let of_file = hits(stem(file));
        if of_file > 0 {
            note(named, file, 0.55 + 0.1 * f64::from(u32::try_from(of_file.min(3)).unwrap_or(3)));
        }
        for function in functions {
            let found = hits(function.rsplit('.').next().unwrap_or(function));
            if found > 0 {
                note(named, file, 0.5 + 0.1 * f64::from(u32::try_from(found.min(4)).unwrap_or(4)));
            }
        }
    }
    // Drop matches that score much lower than the best one.
    let best = named.files.values().copied().fold(0.0, f64::max);
    named.files.retain(|_, score| *score > best - 0.15);
}

/// Whether two words share a stem: `parsing` and `parse` do, `par` and `parse` do not.
fn alike(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    common >= 4
        && common + 4 > a.chars().count().max(b.chars().count())
        && a.len().min(b.len()) >= 4
}

/// The names most similar to the words of a description, best first.
pub fn nearest(description: &str, known: &Known, limit: usize) -> Vec<String> {
    let words = words(description).into_iter().map(|word| word.to_lowercase());
    let words: Vec<String> = words.filter(|word| !is_plain(word)).take(30).collect();
    let mut names: BTreeMap<String, f64> = BTreeMap::new();
    for (file, functions) in known {
        let own = std::iter::once((stem(file).to_owned(), file.to_string()));
        let shorts = functions.iter().map(|function| {
            let short = function.rsplit('.').next().unwrap_or(function);
            (short.to_owned(), short.to_owned())
        });
        for (name, shown) in own.chain(shorts) {
            let lower = name.to_lowercase();
            let score =
                words.iter().map(|word| strsim::jaro_winkler(word, &lower)).fold(0.0, f64::max);
            let known = names.entry(shown).or_default();
            *known = known.max(score);
        }
    }
    let mut names: Vec<(String, f64)> = names.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    names.into_iter().take(limit).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known() -> Known {
        let list: &[(&str, &[&str])] = &[
            ("shop/price.py", &["parse_price", "discount"]),
            ("shop/cart.py", &["Cart.add", "Cart.total", "run"]),
            ("shop/auth/login.py", &["check_password"]),
            ("tools/run.py", &["main"]),
        ];
        let own = |text: &&str| (*text).to_owned();
        list.iter()
            .map(|(file, names)| (RepoPath::parse(*file).unwrap(), names.iter().map(own).collect()))
            .collect()
    }

    #[test]
    fn descriptions_name_paths_functions_folders_and_parts() {
        let table: &[(&str, &[&str], &[&str])] = &[
            ("cover shop/price.py", &["shop/price.py"], &[]),
            ("`parse_price` lacks tests", &["shop/price.py"], &["parse_price"]),
            ("Cart.add", &["shop/cart.py"], &["Cart.add"]),
            ("the Cart class", &["shop/cart.py"], &["Cart.add", "Cart.total"]),
            ("everything in auth", &["shop/auth/login.py"], &[]),
            ("price parsing", &["shop/price.py"], &[]),
            ("password checks", &["shop/auth/login.py"], &[]),
            ("run the login", &["shop/auth/login.py", "tools/run.py"], &[]),
            ("prices and carts", &["shop/cart.py", "shop/price.py"], &[]),
            ("zebra stripes", &[], &[]),
        ];
        for (text, files, functions) in table {
            let named = find(text, &known());
            let found: Vec<&str> = named.files.keys().map(RepoPath::as_str).collect();
            assert_eq!(found, *files, "{text}");
            let found: Vec<&String> = named.functions.values().flatten().collect();
            assert_eq!(found, *functions, "{text}");
        }
        let all = find("the whole project", &known());
        assert_eq!(all.files.len(), 4);
    }

    #[test]
    fn near_misses_are_offered() {
        assert_eq!(nearest("pasre_pricee", &known(), 1), ["parse_price"]);
        assert_eq!(nearest("tests for the discout", &known(), 1), ["discount"]);
        assert_eq!(nearest("", &known(), 2).len(), 2);
    }

    proptest! {
        #[test]
        fn any_description_is_answered(text in ".{0,120}") {
            let named = find(&text, &known());
            prop_assert!(named.files.values().all(|score| (0.0..=1.0).contains(score)));
            prop_assert!(nearest(&text, &known(), 3).len() <= 3);
        }
    }
}
