//! Finds the files and functions that a textual description refers to.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::id::RepoPath;
use crate::domain::text;

/// Words that refer to the whole repository.
const EVERYTHING: &str = "everything all whole entire repository project codebase";

/// Words without a meaning for the search, such as verbs and articles.
const PLAIN: &str = "the and for with tests test testing unit add write cover coverage please generate make \
                     sure that this from into our are is has have should must not any its their when where \
                     which what how use uses using function functions method methods module modules class \
                     classes file files code some more new edge cases case happy path paths missing lacks \
                     without every each integration of in on to a an src lib thoroughly properly well";

fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|one| one == word)
}

/// Whether a word cannot name a particular file or function.
fn is_plain(word: &str) -> bool {
    is_in(PLAIN, word) || is_in(EVERYTHING, word)
}

/// Maximum number of words of a description that are considered.
const WORDS: usize = 2_000;

/// The things that a description names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescriptionMatch {
    /// Files, and whether each is named by its path and so meant as a whole.
    pub files: BTreeMap<RepoPath, bool>,
    /// Matching functions by file; a file without an entry is meant as a whole too.
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

/// Finds the functions that have a parameter of a name, each with its file.
pub type FindOwners<'a> = &'a dyn Fn(&str) -> Vec<(RepoPath, String)>;

/// Finds the files and functions that a description means, parts of names only as a last way.
pub fn find(description: &str, known: &Known, owners: FindOwners<'_>) -> DescriptionMatch {
    let mut named = DescriptionMatch::default();
    let words = words(description);
    for word in &words {
        let is_path = known.keys().any(|file| file.as_str() == word);
        for (file, functions) in known {
            // A path means that file, and not others of its name.
            let is_other = is_path && file.as_str() != word;
            if let Some(is_whole) = names_file(word, file).filter(|_| !is_other) {
                *named.files.entry(file.clone()).or_default() |= is_whole;
            }
            let own = functions.iter().filter(|function| names_function(word, function));
            let own: Vec<String> = own.cloned().collect();
            if !own.is_empty() {
                named.files.entry(file.clone()).or_default();
                named.functions.entry(file.clone()).or_default().extend(own);
            }
        }
    }
    let is_code = |word: &&String| word.trim_matches('_').contains('_');
    for (file, function) in words.iter().filter(is_code).flat_map(|word| owners(word)) {
        named.files.entry(file.clone()).or_default();
        named.functions.entry(file).or_default().insert(function);
    }
    if named.files.is_empty() {
        named.files = by_parts(&words, known);
    }
    let all = words.iter().any(|word| is_in(EVERYTHING, &word.to_lowercase()));
    if named.files.is_empty() && all {
        named.files = known.keys().map(|file| (file.clone(), false)).collect();
    }
    named
}

/// Whether a word names a file, by its path or else by its name or that of a folder around it.
fn names_file(word: &str, file: &RepoPath) -> Option<bool> {
    let (path, lower) = (file.as_str(), word.to_lowercase());
    if path == word || word.contains('/') && path.ends_with(&format!("/{word}")) {
        return Some(true);
    }
    let is_named = word.contains('.') && file.file_name() == word
        || word.contains('/') && path.starts_with(&format!("{word}/"));
    let stem = stem(file).to_lowercase();
    // The plural of a name matches as well.
    let is_meant = stem == lower
        || lower.strip_suffix('s').is_some_and(|one| one == stem)
        || file.parent().split('/').any(|folder| folder == word);
    (is_named || is_meant && !is_plain(&lower)).then_some(false)
}

fn names_function(word: &str, function: &str) -> bool {
    let short = function.rsplit('.').next().unwrap_or(function);
    let group = function.split('.').next().unwrap_or(function);
    word.contains('.') && function == word
        || short == word && (short.len() > 3 || short.contains('_'))
        || group == word && group != short
}

/// Matches parts of names: `price parsing` matches `parse_price`, as words are compared by prefix.
fn by_parts(words: &[String], known: &Known) -> BTreeMap<RepoPath, bool> {
    let searched: BTreeSet<String> = words
        .iter()
        .filter(|word| !is_plain(&word.to_lowercase()))
        .flat_map(|word| text::words_of_name(word))
        .filter(|part| part.len() > 2)
        .collect();
    let hits = |name: &str| -> usize {
        let parts = text::words_of_name(name);
        searched.iter().filter(|word| parts.iter().any(|part| share_stem(part, word))).count()
    };
    let most = |(file, functions): (&RepoPath, &Vec<String>)| {
        let own = functions.iter().map(|one| hits(one.rsplit('.').next().unwrap_or(one)));
        (file.clone(), own.chain([hits(stem(file))]).max().unwrap_or_default())
    };
    let found: Vec<(RepoPath, usize)> = known.iter().map(most).collect();
    let best = found.iter().map(|(_, hits)| *hits).max().unwrap_or_default();
    let near = found.into_iter().filter(|(_, hits)| *hits > 0 && hits + 1 >= best);
    near.map(|(file, _)| (file, false)).collect()
}

/// The words of a text that may mean something particular in the code.
pub fn content_words(text: &str) -> Vec<String> {
    let mut found = words(text);
    found.retain(|word| !is_plain(&word.to_lowercase()));
    found
}

/// Whether two words share a stem: `parsing` and `parse` do, `par` and `parse` do not.
pub fn share_stem(a: &str, b: &str) -> bool {
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
            ("run.py", &["start"]),
        ];
        let own = |text: &&str| (*text).to_owned();
        list.iter()
            .map(|(file, names)| (RepoPath::parse(*file).unwrap(), names.iter().map(own).collect()))
            .collect()
    }

    fn owners(parameter: &str) -> Vec<(RepoPath, String)> {
        let file = RepoPath::parse("shop/auth/login.py").unwrap();
        if parameter == "min_age" { vec![(file, "check_password".into())] } else { Vec::new() }
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
            ("run the login", &["run.py", "shop/auth/login.py", "tools/run.py"], &[]),
            ("run.py", &["run.py"], &[]),
            ("tools/run.py", &["tools/run.py"], &[]),
            ("prices and carts", &["shop/cart.py", "shop/price.py"], &[]),
            ("zebra stripes", &[], &[]),
            ("stripes of `min_age`", &["shop/auth/login.py"], &["check_password"]),
        ];
        for (text, files, functions) in table {
            let named = find(text, &known(), &owners);
            let found: Vec<&str> = named.files.keys().map(RepoPath::as_str).collect();
            assert_eq!(found, *files, "{text}");
            let found: Vec<&String> = named.functions.values().flatten().collect();
            assert_eq!(found, *functions, "{text}");
        }
        let all = find("the whole project", &known(), &owners);
        assert_eq!(all.files.len(), 5);
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
            let named = find(&text, &known(), &owners);
            prop_assert!(named.functions.keys().all(|file| named.files.contains_key(file)));
            prop_assert!(nearest(&text, &known(), 3).len() <= 3);
        }
    }
}
