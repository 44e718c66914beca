//! Who may import whom, read from the tokens of every file, so that macros, nested groups and
//! function bodies count. `REGREEN_BLESS=1` writes the picture for the docs.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test reads the sources and the docs of this project"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

/// The law: each room with the rooms it may import. A room is the longest prefix that matches.
const LAW: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("code", &["domain"]),
    ("config", &["domain"]),
    ("report", &["domain"]),
    ("effect", &["domain"]),
    ("repair", &["effect", "code", "domain"]),
    ("role", &["repair", "effect", "code", "domain"]),
    ("cycle", &["role", "repair", "effect", "report", "code", "domain"]),
    ("adapter/host", &["effect", "domain"]),
    ("adapter/suite", &["adapter/host", "effect", "code", "domain"]),
    ("adapter/repo", &["adapter/host", "effect", "code", "domain"]),
    ("adapter/store", &["adapter/host", "effect", "code", "domain"]),
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
            "adapter/github",
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
    (
        "cli",
        &[
            "app",
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
    (
        "bot",
        &[
            "app",
            "adapter",
            "adapter/host",
            "adapter/repo",
            "adapter/store",
            "adapter/suite",
            "adapter/github",
            "cycle",
            "role",
            "report",
            "config",
            "effect",
            "domain",
        ],
    ),
    // The crate root names the rooms, what the benches measure, and what is published.
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
    ("tokio", &["adapter/host", "adapter/suite", "adapter", "bot", "cli"]),
    ("git2", &["adapter/repo"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("indicatif", &["cli"]),
    ("rustix", &["adapter/host"]),
    ("landlock", &["adapter/host"]),
    ("pulldown_cmark", &["bot"]),
    ("tree_sitter", &["code"]),
    ("jiff", &["adapter/host", "adapter/repo", "adapter/model"]),
    ("reqwest", &["adapter/host"]),
    ("octocrab", &["adapter/github"]),
    ("secrecy", &["domain"]),
    ("minijinja", &["role"]),
    ("backon", &["role"]),
    ("getrandom", &["adapter/host"]),
    ("tempfile", &["adapter/host", "adapter/suite", "cli"]),
];

/// Words for input and output that only adapters, faces and the crate root may write.
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
    LAW.iter()
        .map(|(name, _)| *name)
        .filter(|name| path == *name || path.starts_with(&format!("{name}/")) || name.is_empty())
        .max_by_key(|name| name.len())
        .unwrap()
}

/// All paths that begin with `root`, through groups and blocks, without test modules.
fn paths(stream: TokenStream, root: &str, found: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                if let Some(TokenTree::Group(group)) = tokens.get(index + 1) {
                    if group.to_string().replace(' ', "").contains("cfg(test)") {
                        // The item behind it: up to its block or semicolon.
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

/// Follows `::a::{b, c::d}` from `index` on.
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

/// A file, its room, its paths from the crate root and from `std`, and its tokens.
type SourceFile = (String, &'static str, BTreeSet<String>, BTreeSet<String>, TokenStream);

/// Imports between rooms, and uses of crates and effects, by file.
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
            let stream: TokenStream = fs::read_to_string(&file).unwrap().parse().unwrap();
            let (mut inside, mut std) = (BTreeSet::new(), BTreeSet::new());
            paths(stream.clone(), "crate", &mut inside);
            paths(stream.clone(), "std", &mut std);
            let own =
                if matches!(module.as_str(), "lib" | "main") || module.starts_with("internals") {
                    ""
                } else {
                    room(&module)
                };
            (name, own, inside, std, stream)
        })
        .collect()
}

#[test]
fn rooms_import_only_what_the_law_allows() {
    let mut breaches = Vec::new();
    for (file, own, inside, _, _) in read() {
        let (_, allowed) = LAW.iter().find(|(name, _)| *name == own).unwrap();
        for path in inside {
            let target = room(&path);
            if target != own && !target.is_empty() && !allowed.contains(&target) {
                breaches.push(format!("{file}: {own} imports {target} ({path})"));
            }
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
fn input_and_output_stay_in_adapters_and_faces() {
    let mut breaches = Vec::new();
    for (file, own, _, std, _) in read() {
        if own.starts_with("adapter") || own == "cli" || own == "bot" || own.is_empty() {
            continue;
        }
        for path in std {
            if EFFECTS.contains(&path.split('/').next().unwrap()) {
                breaches.push(format!("{file}: std::{path}"));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn crates_stay_in_their_rooms() {
    let mut breaches = Vec::new();
    // What tests are made of is theirs.
    let is_test = |file: &str| file.ends_with("/tests.rs") || file.contains("/tests/");
    for (file, own, _, _, stream) in read().into_iter().filter(|one| !is_test(&one.0)) {
        for (name, rooms) in CRATES {
            let mut found = BTreeSet::new();
            paths(stream.clone(), name, &mut found);
            if !found.is_empty() && !rooms.contains(&own) {
                breaches.push(format!("{file}: {name}"));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for_and_holds_one_idea() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//!"), "{} has no purpose in its first line", file.display());
        let production = text.split("#[cfg(test)]").next().unwrap().lines().count();
        let tests = file.ends_with("tests.rs");
        assert!(tests || production <= 620, "{} holds {production} lines", file.display());
        let stem = file.file_stem().unwrap().to_str().unwrap();
        assert!(
            !["utils", "helpers", "common", "types", "imp", "errors"].contains(&stem),
            "{stem}"
        );
    }
}

#[test]
fn the_picture_in_the_docs_is_current() {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (_, own, inside, _, _) in read() {
        for path in inside {
            let target = room(&path);
            if target != own && !own.is_empty() && !target.is_empty() {
                edges.entry(own).or_default().insert(target);
            }
        }
    }
    let mut picture = String::from("```mermaid\nflowchart TD\n");
    let name = |room: &str| room.replace('/', "_");
    for (from, targets) in edges {
        for target in targets {
            picture.push_str(&format!("  {}[{from}] --> {}[{target}]\n", name(from), name(target)));
        }
    }
    picture.push_str("```\n");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let text = fs::read_to_string(&page).unwrap();
    let (start, end) = ("<!-- picture -->\n", "<!-- end of picture -->");
    let (before, rest) = text.split_once(start).expect("a place for the picture");
    let (_, after) = rest.split_once(end).expect("the end of the picture");
    let current = format!("{before}{start}{picture}{end}{after}");
    if std::env::var("REGREEN_BLESS").is_ok() {
        fs::write(&page, current).unwrap();
    } else {
        assert_eq!(text, current, "run the test with REGREEN_BLESS=1");
    }
}
