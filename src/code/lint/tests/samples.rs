//! Precision and recall of every rule of the catalogue on its samples. `REGREEN_BLESS=1` writes the
//! table in the docs.

#![expect(
    clippy::disallowed_methods,
    reason = "the test reads samples and writes the docs of this project"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::code::language::Language;
use crate::code::lint::catalogue::rules;
use crate::code::lint::rule::Detection;
use crate::code::lint::{Project, scan};
use crate::domain::id::RepoPath;

/// Folder of samples for a language; TypeScript shares it with JavaScript.
fn folder(language: Language) -> &'static str {
    match language {
        Language::Python => "python",
        Language::JavaScript | Language::TypeScript | Language::Tsx => "javascript",
        Language::Rust => "rust",
        Language::Go => "go",
        Language::Java => "java",
    }
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { walk(&path, found) } else { found.push(path) }
    }
}

/// The files of one sample, as a repository of their own.
fn repository(root: &Path) -> BTreeMap<RepoPath, String> {
    let mut paths = Vec::new();
    walk(root, &mut paths);
    paths
        .iter()
        .map(|path| {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            (RepoPath::parse(name).unwrap(), std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

type Places = BTreeSet<(String, String, u32)>;

/// What the marks of a sample expect: rule, file, line.
fn expected(files: &BTreeMap<RepoPath, String>) -> Places {
    let mut places = BTreeSet::new();
    for (file, text) in files {
        for (number, line) in (1..).zip(text.lines()) {
            if let Some((_, ids)) = line.split_once("expect: ") {
                for id in ids.split([' ', '*', '/']).filter(|id| !id.is_empty()) {
                    places.insert((id.to_owned(), file.as_str().to_owned(), number));
                }
            }
        }
    }
    places
}

/// The files without their marks, which rules would read as comments of the sample.
fn unmarked(files: &BTreeMap<RepoPath, String>) -> BTreeMap<RepoPath, String> {
    let line = |line: &str| match line.split_once("expect: ") {
        Some((code, _)) => {
            let code = code.trim_end();
            let comment = ["//", "/*", "#"].into_iter().find_map(|mark| code.strip_suffix(mark));
            format!("{}\n", comment.unwrap_or(code))
        }
        None => line.to_owned(),
    };
    let text = |text: &str| text.split_inclusive('\n').map(line).collect();
    files.iter().map(|(file, whole)| (file.clone(), text(whole))).collect()
}

const OWN: &str = "| Rule | Category | Severity | What | Languages | Places | Precision | Recall |\n|---|---|---|---|---|--:|--:|--:|\n";
const TOOLS: &str = "| Rule | Category | Severity | What | Languages | `--fix` | Reported as |\n|---|---|---|---|---|---|---|\n";

/// A page with another text between two marks.
fn replaced(page: &str, mark: &str, text: &str) -> String {
    let (before, rest) = page.split_once(&format!("<!-- {mark} -->\n")).unwrap();
    let (_, after) = rest.split_once(&format!("<!-- end of {mark} -->")).unwrap();
    format!("{before}<!-- {mark} -->\n{text}<!-- end of {mark} -->{after}")
}

/// A code span, whatever the text holds.
fn span(text: &str) -> String {
    let text = text.trim();
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

#[derive(Default)]
struct Score {
    hit: u32,
    false_alarm: u32,
    missed: u32,
    places: Vec<String>,
}

#[test]
fn findings_in_the_samples_are_those_that_are_marked() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/lint");
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    let mut lacking = Vec::new();
    for language in ["python", "javascript", "rust", "go", "java"] {
        for sample in std::fs::read_dir(root.join(language)).unwrap().flatten() {
            let marked = repository(&sample.path());
            let files = unmarked(&marked);
            let chosen: Vec<&RepoPath> = files.keys().collect();
            let mut project = Project::of(&files);
            for (file, text) in &files {
                if let Some(package) = file.as_str().strip_prefix("installed/") {
                    let package = package.trim_end_matches(".txt");
                    project.install(package, text.lines().map(str::to_owned));
                }
            }
            let found: Places = scan(&chosen, &files, &project)
                .findings
                .into_iter()
                .map(|one| (one.id, one.file.as_str().to_owned(), one.line))
                .collect();
            let marked = expected(&marked);
            let name = format!("{language}/{}", sample.file_name().to_str().unwrap());
            for place in &found | &marked {
                let score = scores.entry(place.0.clone()).or_default();
                let what = match (found.contains(&place), marked.contains(&place)) {
                    (true, true) => {
                        score.hit += 1;
                        continue;
                    }
                    (true, false) => {
                        score.false_alarm += 1;
                        "false alarm"
                    }
                    _ => {
                        score.missed += 1;
                        "missed"
                    }
                };
                score.places.push(format!("{what}: {} in {name}/{}:{}", place.0, place.1, place.2));
            }
        }
    }
    let (mut own, mut tools) = (OWN.to_owned(), TOOLS.to_owned());
    for rule in rules() {
        let languages: BTreeSet<&str> = rule.languages().into_iter().map(folder).collect();
        let score = scores.remove(rule.id).unwrap_or_default();
        let head = format!(
            "| `{}` | {} | {} | {} | {} |",
            rule.id,
            rule.category,
            rule.severity,
            rule.issue,
            languages.iter().copied().collect::<Vec<_>>().join(", "),
        );
        if matches!(rule.detection, Detection::Tool(_)) {
            let fix = if rule.fixable { "yes" } else { "" };
            let codes = match rule.codes {
                [] => "any other message".to_owned(),
                codes => codes.iter().map(|code| span(code)).collect::<Vec<_>>().join(", "),
            };
            writeln!(tools, "{head} {fix} | {codes} |").unwrap();
            continue;
        }
        for language in languages {
            let sample = root.join(language).join(rule.id);
            let files = repository(&sample);
            for kind in ["positive", "negative"] {
                let has = files.iter().any(|(file, text)| {
                    file.file_name().to_lowercase().contains(kind)
                        && (kind == "negative" || text.contains(&format!("expect: {}", rule.id)))
                });
                if !has {
                    lacking.push(format!("{language}/{} has no {kind} sample", rule.id));
                }
            }
        }
        let share = |of: u32, wrong: u32| match of + wrong {
            0 => "none".to_owned(),
            all => format!("{} %", of * 100 / all),
        };
        let (precision, recall) =
            (share(score.hit, score.false_alarm), share(score.hit, score.missed));
        writeln!(own, "{head} {} | {precision} | {recall} |", score.hit).unwrap();
        for place in score.places {
            lacking.push(place);
        }
    }
    lacking.extend(scores.keys().map(|id| format!("{id} is no rule")));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/validation.md");
    let old = std::fs::read_to_string(&path).unwrap();
    let page = replaced(&replaced(&old, "catalogue", &own), "rules of tools", &tools);
    let bless = std::env::var("REGREEN_BLESS").is_ok();
    if bless {
        std::fs::write(&path, &page).unwrap();
    }
    println!("{own}\n{tools}");
    assert!(lacking.is_empty(), "{} problems:\n{}", lacking.len(), lacking.join("\n"));
    assert!(bless || old == page, "run the test with REGREEN_BLESS=1");
}
