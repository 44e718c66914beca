//! The issue catalogue: what code and tests are looked at for, and where it was found.
//!
//! Pure: files in, findings out. A row is a line of one table; adding one is adding a row and its
//! samples. Source: product.md 6.3, 6.4.

mod catalogue;
mod data;
mod flow;
mod imports;
mod layers;
mod made;
mod naming;
mod placeholder;
mod project;
mod resource;
mod scope;
mod security;
mod source;
mod trial;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use tree_sitter::{Node, Query, QueryCursor, StreamingIterator};

use crate::domain::id::RepoPath;
use crate::domain::quality::{Finding, Severity, Stage};

use super::language::Language;
use super::syntax;

#[cfg(test)]
pub use catalogue::rows;
pub use layers::measure;
pub use made::is_made;
pub use project::{Project, is_manifest};
use source::{Hit, Source, line};

/// Where a row looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// Product code.
    Code,
    /// Test code.
    Tests,
    /// Both.
    Both,
}

/// How a row is found.
#[derive(Clone, Copy)]
pub enum Detection {
    /// Tree-sitter patterns, one text per group of languages; the capture `@here` is the place.
    Query(&'static [(&'static [Language], &'static str)]),
    /// The same, and a condition that a pattern cannot say.
    Filtered(
        &'static [(&'static [Language], &'static str)],
        for<'a> fn(&Source<'a>, Node<'a>) -> bool,
    ),
    /// A function, for these languages.
    Named(&'static [Language], for<'a> fn(&Source<'a>) -> Vec<Hit>),
    /// The text does not parse.
    Syntax(&'static [Language]),
    /// The project's own type checker, for these languages.
    Tool(&'static [Language]),
}

/// A row of the catalogue.
pub struct Row {
    /// Its name.
    pub id: &'static str,
    /// The gate it counts for.
    pub stage: Stage,
    /// Its category in the specification.
    pub category: &'static str,
    /// What is wrong, a fragment.
    pub issue: &'static str,
    /// How bad.
    pub severity: Severity,
    /// Where it looks.
    pub applies: Applies,
    /// How it is found.
    pub detection: Detection,
    /// What to do, one imperative clause.
    pub suggestion: &'static str,
    /// Whether `--fix` can repair it.
    pub fixable: bool,
}

impl Row {
    /// The languages it applies to.
    #[must_use]
    pub fn languages(&self) -> Vec<Language> {
        match self.detection {
            Detection::Query(list) | Detection::Filtered(list, _) => {
                list.iter().flat_map(|(languages, _)| languages.iter().copied()).collect()
            }
            Detection::Named(list, _) | Detection::Syntax(list) | Detection::Tool(list) => {
                list.to_vec()
            }
        }
    }
}

/// The row of an id.
#[must_use]
pub fn row(id: &str) -> Option<&'static Row> {
    catalogue::rows().find(|row| row.id == id)
}

/// A finding and how it can be repaired.
#[derive(Clone, Debug)]
pub struct Found {
    /// The finding.
    pub finding: Finding,
    /// Bytes to take out.
    pub cut: Option<Range<usize>>,
}

/// Makes a finding of a row.
#[must_use]
pub fn finding(row: &Row, file: &RepoPath, line: u32, note: &str, fixable: bool) -> Finding {
    let message =
        if note.is_empty() { row.issue.to_owned() } else { format!("{}: {note}", row.issue) };
    Finding {
        stage: row.stage,
        id: row.id.into(),
        category: row.category.into(),
        severity: row.severity,
        file: file.clone(),
        line,
        message,
        suggestion: row.suggestion.into(),
        auto_fixable: fixable,
    }
}

/// Names that a file takes out of other files of the repository and that are not there, as lines
/// and words.
#[must_use]
pub fn absent_names(
    file: &RepoPath,
    files: &BTreeMap<RepoPath, String>,
    project: &Project,
) -> Vec<(u32, String)> {
    let (Some(language), Some(text)) = (Language::of(file), files.get(file)) else {
        return Vec::new();
    };
    let Some(tree) = language.parse(text) else { return Vec::new() };
    let source = Source::new(file, text, language, &tree, project);
    imports::absent(&source, files).into_iter().map(|hit| (hit.line, hit.note)).collect()
}

/// Does some work for each file, on all processors; the answers are in no order.
fn each<T: Send>(files: &[&RepoPath], work: impl Fn(&RepoPath) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    // Files differ much in size, so each worker takes the next one that nobody has.
    let worker = || {
        let mut done = Vec::new();
        while let Some(file) = files.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            done.push(work(file));
        }
        done
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .flat_map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// What a scan brought.
#[derive(Debug, Default)]
pub struct Scanned {
    /// Findings, in the order of files and lines.
    pub found: Vec<Found>,
    /// Files nested so deeply that their tree is not walked.
    pub deep: Vec<RepoPath>,
}

/// Looks at `chosen` files of a repository; all `files` say what is there.
#[must_use]
pub fn scan(
    chosen: &[&RepoPath],
    files: &BTreeMap<RepoPath, String>,
    project: &Project,
) -> Scanned {
    let parts = each(chosen, |file| match files.get(file) {
        Some(text) => match scan_file(file, text, project) {
            Some(found) => Scanned { found, deep: Vec::new() },
            None => Scanned { found: Vec::new(), deep: vec![file.clone()] },
        },
        None => Scanned::default(),
    });
    let mut all = Scanned::default();
    for part in parts {
        all.found.extend(part.found);
        all.deep.extend(part.deep);
    }
    let key = |one: &Found| {
        let found = &one.finding;
        (found.file.clone(), found.line, found.id.clone(), found.message.clone())
    };
    all.found.sort_by_cached_key(key);
    all.found.dedup_by(|one, other| key(one) == key(other));
    all.deep.sort();
    all
}

/// Looks at one file; `None` when it is nested too deeply.
fn scan_file(file: &RepoPath, text: &str, project: &Project) -> Option<Vec<Found>> {
    let Some(language) = Language::of(file) else { return Some(Vec::new()) };
    // Declarations of types use what the grammar does not know; nothing in them runs.
    let declares = [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| file.as_str().ends_with(end));
    let broken = |row: &Row, line: u32, note: &str| {
        if declares || !row.languages().contains(&language) {
            return Vec::new();
        }
        vec![Found { finding: finding(row, file, line, note, false), cut: None }]
    };
    let tree = language.parse(text)?;
    if tree.root_node().has_error() {
        let place = syntax::first_error(language, text);
        return Some(match (row("syntax-error"), place) {
            (Some(row), Some(place)) => {
                broken(row, place.line, &format!("at column {}", place.column))
            }
            _ => Vec::new(),
        });
    }
    let source = Source::new(file, text, language, &tree, project);
    let mut found = Vec::new();
    let mut put = |row: &Row, hit: Hit| {
        let fits = match row.applies {
            Applies::Code => !source.is_test_line(hit.line) && !source.is_bench(),
            Applies::Tests => source.is_test_line(hit.line),
            Applies::Both => true,
        };
        if fits {
            let cut = hit.cut.filter(|_| row.fixable);
            found.push(Found {
                finding: finding(row, file, hit.line, &hit.note, cut.is_some()),
                cut,
            });
        }
    };
    if let Some((query, rows)) = patterns(language) {
        let here = query.capture_index_for_name("here");
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(query, tree.root_node(), text.as_bytes());
        while let Some(one) = matches.next() {
            let Some(row) = rows.get(one.pattern_index) else { continue };
            let Some(node) = one.captures().iter().find(|c| Some(c.index) == here) else {
                continue;
            };
            let keep = match row.detection {
                Detection::Filtered(_, keep) => keep(&source, node.node),
                _ => true,
            };
            if keep {
                put(row, Hit::at(line(node.node)));
            }
        }
    }
    for row in catalogue::rows() {
        // What cannot be told of this file is not worth looking for.
        let idle = match row.applies {
            Applies::Code => source.test || source.is_bench(),
            Applies::Tests => !source.has_tests(),
            Applies::Both => false,
        };
        if let Detection::Named(languages, detect) = row.detection
            && languages.contains(&language)
            && !idle
        {
            for hit in detect(&source) {
                put(row, hit);
            }
        }
    }
    Some(found)
}

/// All patterns of a language as one query, with the row of each.
fn patterns(language: Language) -> Option<&'static (Query, Vec<&'static Row>)> {
    static QUERIES: OnceLock<BTreeMap<Language, (Query, Vec<&'static Row>)>> = OnceLock::new();
    let queries = QUERIES.get_or_init(|| {
        super::language::LANGUAGES
            .iter()
            .filter_map(|(language, _, _)| Some((*language, compile(*language).ok()?)))
            .collect()
    });
    queries.get(&language)
}

/// Compiles the patterns of a language.
fn compile(language: Language) -> Result<(Query, Vec<&'static Row>), String> {
    let (mut all, mut rows) = (String::new(), Vec::new());
    for row in catalogue::rows() {
        let (Detection::Query(list) | Detection::Filtered(list, _)) = row.detection else {
            continue;
        };
        for (_, text) in list.iter().filter(|(languages, _)| languages.contains(&language)) {
            let one = Query::new(&language.grammar(), text)
                .map_err(|error| format!("{} for {language:?}: {error}", row.id))?;
            rows.extend(std::iter::repeat_n(row, one.pattern_count()));
            all.push_str(text);
            all.push('\n');
        }
    }
    let query = Query::new(&language.grammar(), &all).map_err(|error| error.to_string())?;
    Ok((query, rows))
}

/// Takes out what findings mark, as long as the text still parses afterwards and nothing overlaps.
/// Answers the new text and the findings that are gone.
#[must_use]
pub fn repair(file: &RepoPath, text: &str, found: &[Found]) -> Option<(String, Vec<Finding>)> {
    let language = Language::of(file)?;
    let mut cuts: Vec<(&Range<usize>, &Finding)> = found
        .iter()
        .filter(|one| one.finding.file == *file)
        .filter_map(|one| Some((one.cut.as_ref()?, &one.finding)))
        .collect();
    cuts.sort_by_key(|(cut, _)| std::cmp::Reverse(cut.start));
    let mut new = text.to_owned();
    let mut gone = Vec::new();
    let mut border = usize::MAX;
    for (cut, finding) in cuts {
        let (Some(before), Some(after)) = (new.get(..cut.start), new.get(cut.end..)) else {
            continue;
        };
        if cut.end > border {
            continue;
        }
        new = format!("{before}{after}");
        border = cut.start;
        gone.push(finding.clone());
    }
    gone.reverse();
    (!gone.is_empty() && syntax::first_error(language, &new).is_none()).then_some((new, gone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for (language, _, _) in super::super::language::LANGUAGES {
            compile(*language).unwrap();
        }
    }

    #[test]
    fn ids_are_unique_and_rows_that_are_repaired_are_never_critical() {
        let mut seen = std::collections::BTreeSet::new();
        for row in rows() {
            assert!(seen.insert(row.id), "{} twice", row.id);
            assert!(!row.languages().is_empty(), "{} applies nowhere", row.id);
            assert!(!row.fixable || row.severity != Severity::Critical, "{}", row.id);
        }
    }

    fn repaired(name: &str, text: &str) -> Option<(String, usize)> {
        let file = RepoPath::parse(name).unwrap();
        let files = BTreeMap::from([(file.clone(), text.to_owned())]);
        let scanned = scan(&[&file], &files, &Project::of(&files));
        repair(&file, text, &scanned.found).map(|(text, gone)| (text, gone.len()))
    }

    #[test]
    fn repairs_take_out_what_nobody_needs_and_nothing_else() {
        let table = [
            ("a.py", "import os\nx = 1\n", Some("x = 1\n")),
            ("a.py", "import plugins\nx = 1\n", None),
            ("a.py", "from m import a, b\na()\n", Some("from m import a\na()\n")),
            ("a.py", "from m import a as c, b\nb()\n", Some("from m import b\nb()\n")),
            ("a.py", "from m import (\n    a,  # why\n    b,\n)\nb()\n", None),
            ("a.py", "def f():\n    x = 1\n    return 2\n", Some("def f():\n    return 2\n")),
            ("a.py", "def f():\n    x = g()\n    return 2\ndef g(): return f\n", None),
            ("a.py", "def f():\n    x = 1\n", None),
            (
                "a.js",
                "import { a, b } from './m';\nb();\n",
                Some("import { b } from './m';\nb();\n"),
            ),
            ("a.js", "import './m';\nimport d from './m';\n", None),
            (
                "a.js",
                "export function f() {\n  const x = 1;\n  return 2;\n}\n",
                Some("export function f() {\n  return 2;\n}\n"),
            ),
            ("A.java", "import java.util.List;\nclass A {}\n", Some("class A {}\n")),
            ("a.go", "package a\n\nimport \"fmt\"\n", None),
        ];
        for (name, text, expected) in table {
            let new = repaired(name, text).map(|(text, _)| text);
            assert_eq!(new.as_deref(), expected, "{name}: {text}");
        }
    }

    #[test]
    fn hostile_nesting_is_told_and_does_not_end_the_program() {
        let file = RepoPath::parse("a.py").unwrap();
        let text = format!("x = {}1{}\n", "(".repeat(5000), ")".repeat(5000));
        let files = BTreeMap::from([(file.clone(), text)]);
        let scanned = scan(&[&file], &files, &Project::default());
        assert!(scanned.found.is_empty());
        assert_eq!(scanned.deep, [file]);
    }
}
