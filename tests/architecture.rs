//! Checks which room imports which, on the tokens of every file, so that macros, nested groups and
//! function bodies count. `REGREEN_BLESS=1` writes the table of imports into the docs.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test reads the sources and the docs of this project"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

/// Each room with the rooms it may import. A module belongs to the room with the longest prefix.
const ALLOWED_IMPORTS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("code", &["domain"]),
    ("config", &["domain"]),
    ("report", &["domain"]),
    ("effect", &["domain"]),
    ("repair", &["effect", "code", "domain"]),
    ("role", &["repair", "effect", "code", "domain"]),
    ("cycle", &["role", "effect", "report", "domain"]),
    ("adapter/host", &["effect", "domain"]),
    ("adapter/suite", &["adapter/host", "effect", "code", "domain"]),
    ("adapter/repo", &["adapter/host", "effect", "code", "domain"]),
    ("adapter/store", &["adapter/host", "effect", "domain"]),
    ("adapter/model", &["adapter/host", "effect", "domain"]),
    ("adapter/github", &["adapter/host", "effect", "domain"]),
    (
        "adapter",
        &[
            "adapter/host",
            "adapter/suite",
            "adapter/repo",
            "adapter/store",
            "adapter/model",
            "config",
            "effect",
            "domain",
        ],
    ),
    (
        "app",
        &[
            "adapter",
            "adapter/host",
            "adapter/repo",
            "adapter/store",
            "adapter/suite",
            "cycle",
            "role",
            "report",
            "config",
            "effect",
            "domain",
        ],
    ),
    ("cli", &["app", "adapter/host", "adapter/repo", "report", "config", "effect", "domain"]),
    (
        "bot",
        &[
            "app",
            "adapter",
            "adapter/host",
            "adapter/repo",
            "adapter/store",
            "adapter/github",
            "role",
            "report",
            "config",
            "effect",
            "domain",
        ],
    ),
    // The crate root declares the rooms, what the benchmarks measure, and what is published.
    (
        "",
        &[
            "adapter",
            "adapter/model",
            "adapter/suite",
            "app",
            "bot",
            "cli",
            "code",
            "config",
            "report",
            "role",
            "domain",
        ],
    ),
];

/// Crates that only some rooms may use.
const CRATES: &[(&str, &[&str])] = &[
    ("tokio", &["adapter/host", "adapter/suite", "bot", "cli"]),
    ("git2", &["adapter/repo"]),
    ("clap", &["app", "cli"]),
    ("clap_complete", &["cli"]),
    ("indicatif", &["cli"]),
    ("rustix", &["adapter/host"]),
    ("landlock", &["adapter/host"]),
    ("libc", &["adapter/host"]),
    ("seccompiler", &["adapter/host"]),
    ("pulldown_cmark", &["bot"]),
    ("tree_sitter", &["code"]),
    ("jiff", &["domain", "adapter/host", "adapter/repo", "adapter/model"]),
    ("reqwest", &["adapter/host"]),
    ("octocrab", &["adapter/github"]),
    ("secrecy", &["domain"]),
    ("minijinja", &["report", "role"]),
    ("getrandom", &["adapter/host"]),
    ("tempfile", &["adapter/host", "adapter/suite", "cli"]),
];

/// Modules of `std` for input and output, which only adapters, faces and the crate root may use.
const EFFECTS: &[&str] = &["fs", "net", "process", "env"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The room of a module path such as `adapter/suite/format`.
fn room(path: &str) -> &'static str {
    ALLOWED_IMPORTS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| path == *name || path.starts_with(&format!("{name}/")) || name.is_empty())
        .max_by_key(|name| name.len())
        .unwrap()
}

/// All paths that begin with `root`, also inside of groups and blocks, without test modules.
fn paths(stream: TokenStream, root: &str, found: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                if let Some(TokenTree::Group(group)) = tokens.get(index + 1) {
                    if group.to_string().replace(' ', "").contains("cfg(test)") {
                        // Skips the annotated item, up to its block or semicolon.
                        index += 2;
                        while let Some(next) = tokens.get(index) {
                            index += 1;
                            let ends = matches!(next, TokenTree::Group(g) if g.delimiter() == proc_macro2::Delimiter::Brace)
                                || matches!(next, TokenTree::Punct(p) if p.as_char() == ';');
                            if ends {
                                break;
                            }
                        }
                        continue;
                    }
                    index += 1;
                }
            }
            TokenTree::Ident(word) if *word == root => {
                let from = tokens.get(index.saturating_sub(1));
                let inside = matches!(from, Some(TokenTree::Punct(p)) if p.as_char() == ':');
                if !inside {
                    follow(&tokens, index + 1, String::new(), found);
                }
            }
            TokenTree::Group(group) => paths(group.stream(), root, found),
            _ => {}
        }
        index += 1;
    }
}

/// Follows the rest of a path, such as `::a::{b, c::d}`, from `index` on.
fn follow(tokens: &[TokenTree], mut index: usize, prefix: String, found: &mut BTreeSet<String>) {
    let mut path = prefix;
    loop {
        let colon =
            |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
        if !(colon(index) && colon(index + 1)) {
            break;
        }
        match tokens.get(index + 2) {
            Some(TokenTree::Ident(word)) => {
                if !path.is_empty() {
                    path.push('/');
                }
                path.push_str(&word.to_string());
                index += 3;
            }
            Some(TokenTree::Group(group)) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for part in
                    inner.split(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ','))
                {
                    if let Some(TokenTree::Ident(word)) = part.first() {
                        let next = if path.is_empty() {
                            word.to_string()
                        } else {
                            format!("{path}/{word}")
                        };
                        follow(part, 1, next, found);
                    }
                }
                return;
            }
            _ => break,
        }
    }
    if !path.is_empty() {
        found.insert(path);
    }
}

/// A source file, as the checks see it.
struct SourceFile {
    /// Path below `src`, such as `adapter/suite/run.rs`.
    name: String,
    /// Module path, such as `adapter/suite/run`; for a `mod.rs`, its folder.
    module: String,
    /// The room it belongs to.
    room: &'static str,
    /// Imports from this crate, as paths from the root; `super` and `self` are resolved.
    imports: BTreeSet<String>,
    /// Imports through `super`, resolved.
    relative: BTreeSet<String>,
    /// Imports from `std`.
    std: BTreeSet<String>,
    text: String,
    tokens: TokenStream,
}

impl SourceFile {
    /// Whether it contains nothing but tests.
    fn is_test(&self) -> bool {
        self.name.ends_with("/tests.rs") || self.name.contains("/tests/")
    }
}

/// Resolves a path in `module` after its first `super`, which has been removed.
fn resolve(module: &str, path: &str) -> String {
    let mut base: Vec<&str> = module.split('/').collect();
    base.pop();
    let mut rest = path;
    while let Some(further) = rest.strip_prefix("super/") {
        base.pop();
        rest = further;
    }
    base.push(rest);
    base.join("/")
}

/// All files below `src`.
fn read() -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            let module = name.trim_end_matches(".rs").trim_end_matches("/mod").to_owned();
            let text = fs::read_to_string(&file).unwrap();
            let tokens: TokenStream = text.parse().unwrap();
            let collect = |word: &str| {
                let mut found = BTreeSet::new();
                paths(tokens.clone(), word, &mut found);
                found
            };
            let relative: BTreeSet<String> =
                collect("super").iter().map(|path| resolve(&module, path)).collect();
            let mut imports = collect("crate");
            imports.extend(relative.iter().cloned());
            imports.extend(collect("self").iter().map(|path| format!("{module}/{path}")));
            let top = module.split('/').next().unwrap();
            let room = if matches!(top, "lib" | "main" | "internals" | "bench" | "foreign") {
                ""
            } else {
                room(&module)
            };
            SourceFile { std: collect("std"), name, module, room, imports, relative, text, tokens }
        })
        .collect()
}

#[test]
fn rooms_import_only_what_the_law_allows() {
    let mut breaches = Vec::new();
    let mut used = BTreeSet::new();
    for file in read() {
        let (_, allowed) = ALLOWED_IMPORTS.iter().find(|(name, _)| *name == file.room).unwrap();
        for path in &file.imports {
            let target = room(path);
            if target == file.room || target.is_empty() {
                continue;
            }
            if !allowed.contains(&target) {
                breaches.push(format!("{}: {} imports {target} ({path})", file.name, file.room));
            }
            used.insert((file.room, target));
        }
        let inside = format!("{}/", file.room);
        let outside = |path: &&String| !file.room.is_empty() && !path.starts_with(&inside);
        for path in file.relative.iter().filter(outside) {
            breaches.push(format!("{}: `super` leads out of the room ({path})", file.name));
        }
    }
    // The crate root declares rooms with `mod` and needs no import.
    for (room, allowed) in ALLOWED_IMPORTS.iter().filter(|(room, _)| !room.is_empty()) {
        for target in *allowed {
            if !used.contains(&(*room, *target)) {
                breaches.push(format!("{room} may import {target} and does not: remove the edge"));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

/// Folders whose files call each other because they walk one syntax tree together.
const RECURSIVE_DESCENT: &[&str] = &["code/behaviour"];

/// Known import cycles between files. The list may only shrink.
const KNOWN_CIRCLES: &[&str] = &[];

/// Every file that `from` imports, directly or through others.
fn reachable<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        for target in edges.get(next).into_iter().flatten() {
            if seen.insert(*target) {
                open.push(target);
            }
        }
    }
    seen
}

#[test]
fn files_of_a_room_import_in_one_direction() {
    let files = read();
    let modules: BTreeSet<&str> = files.iter().map(|file| file.module.as_str()).collect();
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.is_test()) {
        for path in &file.imports {
            let mut target = path.as_str();
            while !modules.contains(target) {
                let Some((parent, _)) = target.rsplit_once('/') else { break };
                target = parent;
            }
            let Some(target) = modules.get(target) else { continue };
            // A file may use what its own `mod.rs`, or one above it, defines.
            let is_ancestor = file.module.starts_with(&format!("{target}/"));
            if *target != file.module && !is_ancestor && room(target) == file.room {
                edges.entry(&file.module).or_default().insert(target);
            }
        }
    }
    let mut circles = BTreeSet::new();
    let mut recursive = BTreeSet::new();
    for module in edges.keys() {
        if !reachable(&edges, module).contains(module) {
            continue;
        }
        match RECURSIVE_DESCENT.iter().find(|folder| module.starts_with(*folder)) {
            Some(folder) => drop(recursive.insert(*folder)),
            None => drop(circles.insert(*module)),
        }
    }
    let known: BTreeSet<&str> = KNOWN_CIRCLES.iter().copied().collect();
    assert_eq!(circles, known, "a new circle is refused, and an opened one leaves the list");
    let listed: BTreeSet<&str> = RECURSIVE_DESCENT.iter().copied().collect();
    assert_eq!(recursive, listed, "a folder without a circle leaves the list");
}

/// Identifiers of a private vocabulary, which a newcomer could not understand.
const PRIVATE_LANGUAGE: &[&str] = &[
    "told",
    "Told",
    "Desk",
    "Sheet",
    "Wish",
    "Matter",
    "Came",
    "Unborn",
    "Trouble",
    "Hands",
    "Errand",
    "Surroundings",
    "Arrival",
    "Commission",
    "sift",
    "conduct",
    "borne_out",
    "harvested",
    "smell",
];

/// Identifiers of a token stream that are on the list; strings and comments are ignored.
fn private_words(stream: TokenStream, found: &mut BTreeSet<String>) {
    for token in stream {
        match token {
            TokenTree::Group(group) => private_words(group.stream(), found),
            TokenTree::Ident(word) => {
                let word = word.to_string();
                if PRIVATE_LANGUAGE.contains(&word.as_str()) {
                    found.insert(word);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[test]
fn names_are_those_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "tests/it", "benches"] {
        sources(&root.join(folder), &mut files);
    }
    let mut breaches = Vec::new();
    for file in files {
        let mut found = BTreeSet::new();
        private_words(fs::read_to_string(&file).unwrap().parse().unwrap(), &mut found);
        if !found.is_empty() {
            let name = file.strip_prefix(root).unwrap().display().to_string();
            breaches.push(format!("{name}: {}", Vec::from_iter(found).join(", ")));
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn the_reader_sees_groups_macros_and_bodies_and_skips_tests() {
    let text = "use crate::{a::{b, c}, d}; fn f() { println!(\"{}\", crate::e::g()); } #[cfg(test)] mod t { use crate::hidden::x; }";
    let mut found = BTreeSet::new();
    paths(text.parse().unwrap(), "crate", &mut found);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a/b", "a/c", "d", "e/g"]);
}

#[test]
fn relative_paths_are_resolved() {
    let table = [
        ("adapter/suite/run", "cold/ColdTrial", "adapter/suite/cold/ColdTrial"),
        ("adapter/suite/warm/node", "super/run/Run", "adapter/suite/run/Run"),
        ("adapter/suite/warm", "super/repo/tree", "adapter/repo/tree"),
    ];
    for (module, path, expected) in table {
        assert_eq!(resolve(module, path), expected, "super::{path} in {module}");
    }
}

#[test]
fn input_and_output_stay_in_adapters_and_faces() {
    let mut breaches = Vec::new();
    for file in read().into_iter().filter(|file| !file.is_test()) {
        let own = file.room;
        if own.starts_with("adapter") || ["app", "cli", "bot", ""].contains(&own) {
            continue;
        }
        for path in file.std {
            if EFFECTS.contains(&path.split('/').next().unwrap()) {
                breaches.push(format!("{}: std::{path}", file.name));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn crates_stay_in_their_rooms() {
    let mut breaches = Vec::new();
    let mut stale: BTreeSet<(&str, &str)> =
        CRATES.iter().flat_map(|(name, rooms)| rooms.iter().map(|room| (*name, *room))).collect();
    // Test files may use any crate.
    for file in read().into_iter().filter(|file| !file.is_test()) {
        for (name, rooms) in CRATES {
            let mut found = BTreeSet::new();
            paths(file.tokens.clone(), name, &mut found);
            if found.is_empty() {
                continue;
            }
            stale.remove(&(*name, file.room));
            if !rooms.contains(&file.room) {
                breaches.push(format!("{}: {name}", file.name));
            }
        }
    }
    assert!(stale.is_empty(), "nothing uses these permissions: {stale:?}");
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for_and_holds_one_idea() {
    let mut long = BTreeSet::new();
    for file in read() {
        assert!(file.text.starts_with("//!"), "{} has no purpose in its first line", file.name);
        if production_lines(&file) > FILE_LIMIT {
            long.insert(file.name.clone());
        }
        let stem = file.module.rsplit('/').next().unwrap();
        assert!(
            !["utils", "helpers", "common", "types", "imp", "errors"].contains(&stem),
            "{}",
            file.name
        );
    }
    hold_to_list("long_files.txt", &long);
}

/// Production lines of a file that is not listed in `long_files.txt`.
const FILE_LIMIT: usize = 500;

/// Lines of a function that are not listed in `long_functions.txt`.
const FUNCTION_LIMIT: usize = 60;

/// Lines that a room may fall below its number in the table without changing it.
const SLACK: usize = 150;

/// Production lines of each room, and of all; whoever adds lines raises the number here, on purpose.
const LINES: &[(&str, usize)] = &[
    ("adapter", 1_317),
    ("adapter/github", 1721),
    ("adapter/host", 4_350),
    ("adapter/model", 2980),
    ("adapter/repo", 5106),
    ("adapter/store", 775),
    ("adapter/suite", 13_322),
    ("app", 3_925),
    ("bot", 7153),
    ("cli", 1_717),
    ("code", 28_308),
    ("config", 1_842),
    ("cycle", 3_960),
    ("domain", 15_909),
    ("effect", 2_122),
    ("repair", 11_698),
    ("report", 8_825),
    ("role", 16_899),
    ("root", 132),
    ("total", 132_049),
];

/// Names of public functions that say enough with one word: constructors, conversions, and verbs that the
/// standard library or the field gives one meaning.
const VERBS: &[&str] = &[
    "new", "default", "from", "parse", "is", "len", "iter", "next", "get", "set", "insert", "push",
    "add", "remove", "extend", "contains", "read", "write", "open", "close", "run", "start",
    "finish", "send", "load", "save", "commit", "fetch", "clone", "render",
];

/// The first and the last line of each item that is compiled for tests only, attribute included.
fn test_spans(stream: TokenStream, found: &mut Vec<(usize, usize)>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        let attribute = match (token, tokens.get(index + 1)) {
            (TokenTree::Punct(mark), Some(TokenTree::Group(group))) if mark.as_char() == '#' => {
                Some(group.to_string().replace(' ', ""))
            }
            _ => None,
        };
        if attribute.is_some_and(|text| text == "[cfg(test)]") {
            let first = token.span().start().line;
            index += 2;
            while let Some(next) = tokens.get(index) {
                let ends = match next {
                    TokenTree::Group(group) => group.delimiter() == proc_macro2::Delimiter::Brace,
                    TokenTree::Punct(mark) => mark.as_char() == ';',
                    _ => false,
                };
                if ends {
                    found.push((first, next.span().end().line));
                    break;
                }
                index += 1;
            }
        } else if let TokenTree::Group(group) = token {
            test_spans(group.stream(), found);
        }
        index += 1;
    }
}

/// Lines of a file that are not compiled for tests only; blank lines and comments count.
fn production_lines(file: &SourceFile) -> usize {
    if file.is_test() {
        return 0;
    }
    let mut spans = Vec::new();
    test_spans(file.tokens.clone(), &mut spans);
    let of_tests: usize = spans.iter().map(|(first, last)| last + 1 - first).sum();
    file.text.lines().count() - of_tests
}

/// What an identifier declares.
enum Declared {
    /// A function with its lines.
    Function(usize),
    Type,
}

/// Every declaration of a stream outside of the lines of tests: whether it is public, its name, and what
/// it is.
fn declarations(
    stream: TokenStream,
    spans: &[(usize, usize)],
    found: &mut Vec<(bool, String, Declared)>,
) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let word = |at: usize| match tokens.get(at) {
        Some(TokenTree::Ident(word)) => word.to_string(),
        _ => String::new(),
    };
    for (index, token) in tokens.iter().enumerate() {
        let line = token.span().start().line;
        let (keyword, name) = (word(index), word(index + 1));
        if spans.iter().any(|(first, last)| (*first..=*last).contains(&line)) || name.is_empty() {
            if let TokenTree::Group(group) = token {
                declarations(group.stream(), spans, found);
            }
            continue;
        }
        // `pub(super) async fn`: what makes it public stands before other words of the declaration.
        let before = tokens[..index].iter().rev().take_while(|token| match token {
            TokenTree::Ident(word) => {
                ["pub", "async", "const", "unsafe"].contains(&word.to_string().as_str())
            }
            TokenTree::Group(group) => group.delimiter() == proc_macro2::Delimiter::Parenthesis,
            _ => false,
        });
        let is_public = before.map(ToString::to_string).any(|word| word == "pub");
        match keyword.as_str() {
            "fn" => {
                let body = tokens[index..].iter().find(|token| match token {
                    TokenTree::Group(group) => group.delimiter() == proc_macro2::Delimiter::Brace,
                    TokenTree::Punct(mark) => mark.as_char() == ';',
                    _ => false,
                });
                let last = body.map_or(line, |body| body.span().end().line);
                found.push((is_public, name, Declared::Function(last + 1 - line)));
            }
            "struct" | "enum" | "trait" | "union" => found.push((is_public, name, Declared::Type)),
            _ => {}
        }
    }
}

/// Holds what was measured against a list that may only shrink: nothing new, and what is gone leaves it.
/// `REGREEN_BLESS=1` takes out what is gone, and writes a list that is missing.
fn hold_to_list(list: &str, measured: &BTreeSet<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/size").join(list);
    let is_blessed = std::env::var("REGREEN_BLESS").is_ok();
    let text = fs::read_to_string(&path).unwrap_or_default();
    let listed: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let new: Vec<_> = measured.difference(&listed).collect();
    assert!(new.is_empty() || is_blessed && !path.exists(), "not in {list}: {new:#?}");
    if is_blessed {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let left: Vec<&str> = measured.iter().map(String::as_str).collect();
        fs::write(&path, left.join("\n") + "\n").unwrap();
    } else {
        let gone: Vec<_> = listed.difference(measured).collect();
        assert!(gone.is_empty(), "REGREEN_BLESS=1 takes these out of {list}: {gone:#?}");
    }
}

#[test]
fn names_and_functions_get_no_worse() {
    let (mut long, mut one_word) = (BTreeSet::new(), BTreeSet::new());
    let mut types: BTreeMap<String, usize> = BTreeMap::new();
    for file in read().into_iter().filter(|file| !file.is_test()) {
        let (mut spans, mut found) = (Vec::new(), Vec::new());
        test_spans(file.tokens.clone(), &mut spans);
        declarations(file.tokens.clone(), &spans, &mut found);
        for (is_public, name, declared) in found {
            match declared {
                Declared::Type if is_public => *types.entry(name).or_default() += 1,
                Declared::Type => {}
                Declared::Function(lines) => {
                    let place = format!("{} {name}", file.name);
                    if is_public && !name.contains('_') && !VERBS.contains(&name.as_str()) {
                        one_word.insert(place.clone());
                    }
                    if lines > FUNCTION_LIMIT {
                        long.insert(place);
                    }
                }
            }
        }
    }
    let repeated =
        types.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect();
    hold_to_list("long_functions.txt", &long);
    hold_to_list("repeated_types.txt", &repeated);
    hold_to_list("one_word_functions.txt", &one_word);
}

#[test]
fn rooms_hold_no_more_lines_than_the_table_says() {
    let mut measured: BTreeMap<&str, usize> = BTreeMap::new();
    for file in read() {
        let room = if file.room.is_empty() { "root" } else { file.room };
        *measured.entry(room).or_default() += production_lines(&file);
    }
    measured.insert("total", measured.values().sum());
    let wrong = |(room, limit): &(&str, usize)| {
        let lines = measured.get(room).copied().unwrap_or_default();
        (lines > *limit || lines + SLACK < *limit)
            .then(|| format!("{room}: {lines}, {limit} in the table"))
    };
    let wrong: Vec<String> = LINES.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "production lines:\n{}", wrong.join("\n"));
    let listed: Vec<&str> = LINES.iter().map(|(room, _)| *room).collect();
    assert_eq!(listed, measured.into_keys().collect::<Vec<_>>(), "a row for each room");
}

#[test]
fn the_table_of_imports_in_the_docs_is_current() {
    let mut table = String::from("| Room | may import |\n|---|---|\n");
    for (room, allowed) in ALLOWED_IMPORTS.iter().filter(|(room, _)| !room.is_empty()) {
        let names: Vec<String> = allowed.iter().map(|name| format!("`{name}`")).collect();
        let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        table.push_str(&format!("| `{room}` | {names} |\n"));
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let text = fs::read_to_string(&page).unwrap();
    let (start, end) = ("<!-- imports -->\n", "<!-- end of imports -->");
    let (before, rest) = text.split_once(start).expect("a place for the table");
    let (_, after) = rest.split_once(end).expect("the end of the table");
    let current = format!("{before}{start}{table}{end}{after}");
    if std::env::var("REGREEN_BLESS").is_ok() {
        fs::write(&page, current).unwrap();
    } else {
        assert_eq!(text, current, "run the test with REGREEN_BLESS=1");
    }
}
