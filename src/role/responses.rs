//! Types of the analyst's and fixer's answers, and their conversion into locations and edits.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::code::declared_name;
use crate::code::language::{self, Language};
use crate::code::outline::{self, Declaration, DeclarationKind};
use crate::code::search_replace::{self, Block};
use crate::domain::fix_plan::ModificationPoint;
use crate::domain::id::RepoPath;
use crate::domain::proposal::{EditSet, FileEdit};

use super::answer::short;

/// One root cause, as the analyst reports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedCause {
    /// Failing tests it explains, by their ids.
    pub tests: Vec<String>,
    /// The cause in one sentence.
    pub cause: String,
    /// Path from the repository root.
    pub file: String,
    /// The function around it; empty at top level.
    pub function: String,
    /// `first-last`, from 1.
    pub lines: String,
}

impl ReportedCause {
    /// Its place in the form of a modification point; `None` if it names no file.
    pub fn place(&self) -> Option<String> {
        let Self { file, function, lines, .. } = self;
        (!file.is_empty()).then(|| format!("{file}:{function}:{lines}"))
    }
}

/// What shows that a cause is right.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedEvidence {
    /// The failing test, by its id.
    pub test: String,
    /// What the test expects.
    pub expected: String,
    /// What it gets.
    pub actual: String,
    /// The line of the sources that makes the difference, quoted.
    pub line: String,
}

impl ReportedEvidence {
    /// Whether it says what came in place of what, and why.
    pub fn is_complete(&self) -> bool {
        [&self.expected, &self.actual, &self.line].iter().all(|text| !text.trim().is_empty())
    }
}

/// The analyst's answer. A change that it is sure of follows after it, in plain blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AnalysisResponse {
    /// The question it answers.
    pub task_id: String,
    /// Causes, most likely first.
    pub root_causes: Vec<ReportedCause>,
    /// Expected, actual, and the line that makes the difference, for each cause.
    pub evidence: Vec<ReportedEvidence>,
    /// One other explanation, and what speaks against it.
    pub rejected: String,
    /// What will be done, one or two sentences.
    pub approach: String,
    /// Places to change, each `file:function:first-last`.
    pub modification_points: Vec<String>,
    /// Tests to run after the change, by their ids.
    pub affected_tests: Vec<String>,
    /// From 0 to 1.
    pub confidence_score: f64,
    /// What is expected to pass afterwards.
    pub expected_outcome: String,
    /// How a person can check it.
    pub verification_steps: Option<Vec<String>>,
    /// Could the change hide another problem.
    pub impact: Option<String>,
    /// The reasoning as Markdown, if there is more to say than the evidence.
    pub report: Option<String>,
}

/// One search-and-replace block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedEdit {
    /// Path from the repository root.
    pub file: String,
    /// Copied verbatim from the file; occurs exactly once in it.
    pub search: String,
    /// The text that replaces it.
    pub replace: String,
    /// Why, one sentence.
    pub reason: String,
}

/// A file to be created.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedFile {
    /// Path from the repository root.
    pub file: String,
    /// Its whole text.
    pub content: String,
    /// Why, one sentence.
    pub reason: String,
}

/// The fixer's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EditsResponse {
    /// The question it answers.
    pub task_id: String,
    /// Changes of files that exist.
    pub edits: Vec<ReportedEdit>,
    /// Files to be created.
    pub new_files: Vec<ReportedFile>,
    /// What a reviewer should know.
    pub notes: String,
    /// What in the sources contradicts the plan; then there are no edits.
    pub plan_is_wrong: Option<String>,
    /// From 0 to 1; absent means as sure as the plan.
    pub confidence_score: Option<f64>,
}

impl EditsResponse {
    /// What contradicts the plan, if there is no change.
    pub fn contradiction(&self) -> Option<&str> {
        let has_code = !self.edits.is_empty() || !self.new_files.is_empty();
        self.plan_is_wrong.as_deref().filter(|why| !has_code && !why.trim().is_empty())
    }
}

/// The places that an analysis names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedPlaces {
    pub points: Vec<ModificationPoint>,
    /// What is wrong with those that do not exist.
    pub missing: Vec<String>,
    /// What is wrong with those that are not concrete.
    pub vague: Vec<String>,
}

/// Why a text is no modification point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceProblem {
    /// The file or its lines do not exist.
    Missing(String),
    /// Function and lines are not named, or the lines are not and no such function is found.
    Vague(String),
}

/// The places that an analysis names. `read` returns the text of a file; `None` if it does not exist.
pub fn parse_points<'t>(
    analysis: &AnalysisResponse,
    read: &dyn Fn(&RepoPath) -> Option<&'t str>,
) -> NamedPlaces {
    let mut places = analysis.modification_points.clone();
    places.extend(analysis.root_causes.iter().filter_map(ReportedCause::place));
    let mut named = NamedPlaces::default();
    for text in places.iter().take(50) {
        match parse_point(text, read) {
            Ok(point) if named.points.contains(&point) => {}
            Ok(point) => named.points.push(point),
            Err(PlaceProblem::Missing(problem)) => named.missing.push(problem),
            Err(PlaceProblem::Vague(problem)) => named.vague.push(problem),
        }
    }
    named
}

/// Parses `file:function:first-last`. What is left out is looked up: the lines of a function, or the
/// function around the lines. A file alone is no place (specification.md 4.9).
pub fn parse_point<'t>(
    text: &str,
    read: &dyn Fn(&RepoPath) -> Option<&'t str>,
) -> Result<ModificationPoint, PlaceProblem> {
    let shown = short(text);
    let missing = |why: String| PlaceProblem::Missing(format!("`{shown}`: {why}"));
    let vague = |why: &str| PlaceProblem::Vague(format!("`{shown}`: {why}"));
    let mut parts = text.trim().trim_start_matches("./").splitn(2, ':');
    let file = parts.next().unwrap_or_default();
    let rest = parts.next().unwrap_or_default();
    let file = RepoPath::parse(file).map_err(|error| missing(error.to_string()))?;
    let source = read(&file).ok_or_else(|| missing("there is no such file".into()))?;
    let declared = Language::of(&file)
        .map(|language| outline::declarations(language, source))
        .unwrap_or_default();
    let (function, range) = rest.rsplit_once(':').unwrap_or(("", rest));
    let number = |text: &str| text.trim().trim_start_matches(['L', 'l']).parse::<u32>().ok();
    let (start, end) = match range.split_once('-') {
        Some((start, end)) => (number(start), number(end)),
        None => (number(range), number(range)),
    };
    let Some(start) = start else {
        // The form `file:function`, without lines; the last colon may be one of `Cart::total`.
        let function = if function.ends_with(':') { rest } else { function };
        let name = [function, range].into_iter().map(str::trim).find(|name| !name.is_empty());
        let name = name.ok_or_else(|| vague("a file without a function and lines"))?;
        if Language::of(&file).is_none() && language::name_of(&file).is_some() {
            let (start, end) = lines_with(source, name)
                .ok_or_else(|| vague("no lines, and no such name in the file"))?;
            return Ok(ModificationPoint { file, function: name.to_owned(), start, end });
        }
        let (function, start, end) = find_named(&declared, name).map_err(vague)?;
        return Ok(ModificationPoint { file, function, start, end });
    };
    let (lines, end) = (source.lines().count(), end.unwrap_or(start));
    let exists = usize::try_from(end).is_ok_and(|end| end <= lines.max(1));
    if start == 0 || start > end || !exists {
        return Err(missing(format!("the file has lines 1 to {lines}")));
    }
    let function = function_at(&declared, function.trim_end_matches(':'), (start, end));
    Ok(ModificationPoint { file, function, start, end })
}

/// Lines from the one that first names something, in a language that is not parsed.
const LINES_BEHIND_NAME: usize = 20;

/// The lines that begin where a text first contains the last part of a name.
fn lines_with(source: &str, name: &str) -> Option<(u32, u32)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let last = name.rsplit(|c| !is_part(c)).find(|part| !part.is_empty())?;
    let at =
        source.lines().position(|line| line.split(|c| !is_part(c)).any(|word| word == last))?;
    let end = (at + 1 + LINES_BEHIND_NAME).min(source.lines().count());
    Some((u32::try_from(at + 1).ok()?, u32::try_from(end).ok()?))
}

/// The code outside of all functions and types.
const MODULE: &str = "<module>";

/// The function or type of a name without lines, with its lines, or why there is none.
fn find_named(declared: &[Declaration], name: &str) -> Result<(String, u32, u32), &'static str> {
    let is_value = |one: &Declaration| one.kind == DeclarationKind::Value;
    let (values, named): (Vec<Declaration>, Vec<Declaration>) =
        declared.iter().cloned().partition(is_value);
    let mut found = declared_name::find(&named, name);
    if found.is_empty() {
        found = declared_name::find(&values, name);
    }
    let Some(first) = found.first() else {
        return Err("no lines, and no such function in the file");
    };
    // A type and the blocks with its methods are one.
    let is_one_type = found.iter().all(|one| {
        one.kind == DeclarationKind::Type
            && declared_name::normalise(&one.name) == declared_name::normalise(&first.name)
    });
    if found.len() > 1 && !is_one_type {
        return Err("no lines, and several functions in the file have this name");
    }
    let function = if is_value(first) { MODULE } else { &first.name };
    let end = found.iter().map(|one| one.end).max().unwrap_or(first.end);
    Ok((function.to_owned(), first.start, end))
}

/// The function around some lines: the one that an analysis names, or else the innermost.
fn function_at(declared: &[Declaration], name: &str, (start, end): (u32, u32)) -> String {
    use DeclarationKind::{Function, Type, Value};
    let is_around = |one: &&Declaration| one.start <= start && end <= one.end;
    let named = declared_name::find(declared, name);
    let of_kind = |kind| {
        let mut found = named.iter().copied().filter(move |one| one.kind == kind);
        if named.len() == 1 { found.next() } else { found.find(is_around) }
    };
    let functions = declared.iter().filter(|one| one.kind == Function);
    let around = functions.filter(is_around).min_by_key(|one| one.end - one.start);
    if let Some(one) = of_kind(Function).or(around).or_else(|| of_kind(Type)) {
        return one.name.clone();
    }
    let spelt = declared_name::normalise(name);
    if name.trim().is_empty() || of_kind(Value).is_some() {
        MODULE.to_owned()
    } else if spelt.is_empty() {
        short(name.trim())
    } else {
        short(&spelt)
    }
}

/// Applies the edits to the texts of their files. `read` returns the current text of a file, or
/// `None` if it does not exist or is not text. An error lists all problems, to be sent back.
pub fn edit_set(
    response: &EditsResponse,
    read: &dyn Fn(&RepoPath) -> Option<String>,
) -> Result<EditSet, Vec<String>> {
    let mut problems = Vec::new();
    let mut blocks: BTreeMap<RepoPath, Vec<Block<'_>>> = BTreeMap::new();
    let mut created: Vec<(RepoPath, &str)> = Vec::new();
    for one in &response.edits {
        match RepoPath::parse(one.file.trim_start_matches("./")) {
            // Some models write a new file as a block that replaces nothing.
            Ok(file) if one.search.trim().is_empty() && read(&file).is_none() => {
                created.push((file, &one.replace));
            }
            Ok(file) => blocks
                .entry(file)
                .or_default()
                .push(Block { search: &one.search, replace: &one.replace }),
            Err(error) => problems.push(format!("`{}`: {error}", short(&one.file))),
        }
    }
    let mut files = Vec::new();
    for (file, blocks) in &blocks {
        let Some(before) = read(file) else {
            problems.push(format!("`{file}`: there is no such file; a new file is written whole"));
            continue;
        };
        match search_replace::apply(&before, blocks) {
            Ok(after) if after == before => {
                problems.push(format!("`{file}`: the edits change nothing"));
            }
            Ok(after) if after.trim().is_empty() => {
                problems.push(format!("`{file}`: the edits would leave the file empty"));
            }
            Ok(after) => files.push(FileEdit {
                file: file.clone(),
                before: Some(before),
                after: Some(after),
            }),
            Err(error) => problems.push(format!("`{file}`: {error}")),
        }
    }
    for one in &response.new_files {
        match RepoPath::parse(one.file.trim_start_matches("./")) {
            Err(error) => problems.push(format!("`{}`: {error}", short(&one.file))),
            Ok(file) if read(&file).is_some() || blocks.contains_key(&file) => {
                problems.push(format!(
                    "`{file}`: the file is there; change it with SEARCH and REPLACE"
                ));
            }
            Ok(file) => created.push((file, &one.content)),
        }
    }
    files.extend(created.into_iter().map(|(file, content)| FileEdit {
        file,
        before: None,
        after: Some(content.to_owned()),
    }));
    if files.is_empty() && problems.is_empty() {
        problems.push("the answer holds no edit".into());
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    files.sort_by(|a, b| a.file.cmp(&b.file));
    files.dedup_by(|a, b| a.file == b.file);
    Ok(EditSet { files })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &RepoPath) -> Option<String> {
        (path.as_str() == "a.py").then(|| "def f():\n    return 1\n".to_owned())
    }

    const SOURCE: &str = "RATE = 2\n\n\ndef f():\n    return 1\n\n\nclass C:\n    def g(self):\n        pass\n\nclass A:\n    def same(self): pass\n\nclass B:\n    def same(self): pass\n";

    fn source(path: &RepoPath) -> Option<&'static str> {
        ["a.py", "a.cfg"].contains(&path.as_str()).then_some(SOURCE)
    }

    #[test]
    fn a_place_is_a_file_a_function_and_lines_that_exist() {
        let vague = |text: &str| PlaceProblem::Vague(text.to_owned());
        let missing = |text: &str| PlaceProblem::Missing(text.to_owned());
        let table = [
            ("a.py:f:4-5", Ok(("f", 4, 5))),
            ("./a.py:f:L5", Ok(("f", 5, 5))),
            // One function has one name, however it is spelt.
            ("a.py:f():5", Ok(("f", 5, 5))),
            ("a.py:g:9-10", Ok(("C.g", 9, 10))),
            ("a.py:C::g:9-10", Ok(("C.g", 9, 10))),
            ("a.py:C.g(self):9", Ok(("C.g", 9, 9))),
            ("a.py:C:10", Ok(("C.g", 10, 10))),
            ("a.py:C:8", Ok(("C", 8, 8))),
            ("a.py:same:16", Ok(("B.same", 16, 16))),
            ("a.py:value:5", Ok(("f", 5, 5))),
            ("a.py:RATE:1", Ok(("<module>", 1, 1))),
            ("a.cfg:Cart::total():1", Ok(("Cart.total", 1, 1))),
            ("a.cfg:<module>:1", Ok(("<module>", 1, 1))),
            // What is left out is looked up.
            ("a.py::5-5", Ok(("f", 5, 5))),
            ("a.py:5-5", Ok(("f", 5, 5))),
            ("a.py::1-1", Ok(("<module>", 1, 1))),
            ("a.py::1-5", Ok(("<module>", 1, 5))),
            ("a.cfg::1-1", Ok(("<module>", 1, 1))),
            ("a.py:f", Ok(("f", 4, 5))),
            ("a.py:f:", Ok(("f", 4, 5))),
            ("a.py:g()", Ok(("C.g", 9, 10))),
            ("a.py:C.g", Ok(("C.g", 9, 10))),
            ("a.py:C::g", Ok(("C.g", 9, 10))),
            ("a.py:a.C.g()", Ok(("C.g", 9, 10))),
            ("a.py:C", Ok(("C", 8, 10))),
            ("a.py:RATE", Ok(("<module>", 1, 1))),
            ("a.py:A.same", Ok(("A.same", 13, 13))),
            (
                "a.py:same",
                Err(vague(
                    "`a.py:same`: no lines, and several functions in the file have this name",
                )),
            ),
            ("a.py", Err(vague("`a.py`: a file without a function and lines"))),
            ("a.py::", Err(vague("`a.py::`: a file without a function and lines"))),
            ("a.py:h", Err(vague("`a.py:h`: no lines, and no such function in the file"))),
            ("a.cfg:f", Err(vague("`a.cfg:f`: no lines, and no such function in the file"))),
            ("a.py:f:2-19", Err(missing("`a.py:f:2-19`: the file has lines 1 to 16"))),
            ("a.py:f:0-1", Err(missing("`a.py:f:0-1`: the file has lines 1 to 16"))),
            ("b.py", Err(missing("`b.py`: there is no such file"))),
            ("../a.py:f:1-1", Err(missing("`../a.py:f:1-1`"))),
        ];
        for (text, expected) in table {
            match (parse_point(text, &source), expected) {
                (Ok(point), Ok((function, start, end))) => {
                    assert_eq!(
                        (point.function.as_str(), point.start, point.end),
                        (function, start, end),
                        "{text}"
                    );
                }
                (Err(PlaceProblem::Vague(error)), Err(PlaceProblem::Vague(expected))) => {
                    assert_eq!(error, expected);
                }
                (Err(PlaceProblem::Missing(error)), Err(PlaceProblem::Missing(expected))) => {
                    assert!(error.starts_with(&expected), "{error}");
                }
                (got, _) => panic!("{text}: {got:?}"),
            }
        }
    }

    #[test]
    fn a_type_of_rust_has_the_lines_of_its_blocks_too() {
        let text = "struct Cart<T>(T);\n\nimpl<T> Cart<T> {\n    fn total() {}\n}\n\nfn add() {}\n";
        let read = |_: &RepoPath| Some(text);
        let table = [
            ("src/cart.rs:Cart", ("Cart", 1, 5)),
            ("src/cart.rs:Cart::total", ("Cart<T>.total", 4, 4)),
            ("src/cart.rs:crate::cart::add", ("add", 7, 7)),
            ("src/cart.rs:Cart::total:4-4", ("Cart<T>.total", 4, 4)),
        ];
        for (place, (function, start, end)) in table {
            let point = parse_point(place, &read).unwrap();
            assert_eq!((point.function.as_str(), point.start, point.end), (function, start, end));
        }
    }

    #[test]
    fn edits_that_do_not_fit_the_files_are_sent_back() {
        let edit = |file: &str, search: &str, replace: &str| EditsResponse {
            edits: vec![ReportedEdit {
                file: file.into(),
                search: search.into(),
                replace: replace.into(),
                reason: String::new(),
            }],
            ..EditsResponse::default()
        };
        let table = [
            (edit("b.py", "x", "y"), "no such file"),
            (edit("/etc/passwd", "x", "y"), "/etc/passwd"),
            (edit("a.py", "return 2", "y"), "does not occur"),
            (edit("a.py", "return 1", "return 1"), "change nothing"),
            (edit("a.py", "def f():\n    return 1\n", ""), "empty"),
            (EditsResponse::default(), "no edit"),
            (
                EditsResponse {
                    new_files: vec![ReportedFile {
                        file: "a.py".into(),
                        ..ReportedFile::default()
                    }],
                    ..EditsResponse::default()
                },
                "the file is there",
            ),
        ];
        for (response, expected) in table {
            let problems = edit_set(&response, &file).unwrap_err();
            assert!(problems.join("\n").contains(expected), "{problems:?}");
        }
        let good = edit_set(&edit("a.py", "return 1", "return 2"), &file).unwrap();
        assert_eq!(good.files[0].after.as_deref(), Some("def f():\n    return 2\n"));
    }

    #[test]
    fn places_are_named_once_and_at_most_fifty_are_read() {
        let cause = ReportedCause {
            file: "a.py".into(),
            function: "f".into(),
            lines: "1-2".into(),
            ..ReportedCause::default()
        };
        let analysis = AnalysisResponse {
            modification_points: vec!["a.py:f:1-2".into(), "b.py".into(), "a.py".into()],
            root_causes: vec![cause, ReportedCause::default()],
            ..AnalysisResponse::default()
        };
        let named = parse_points(&analysis, &source);
        let counts = (named.points.len(), named.missing.len(), named.vague.len());
        assert_eq!(counts, (1, 1, 1), "{named:?}");
        let many = AnalysisResponse {
            modification_points: vec!["b.py".into(); 80],
            ..AnalysisResponse::default()
        };
        assert_eq!(parse_points(&many, &source).missing.len(), 50);
    }

    #[test]
    fn new_files_must_be_new_and_inside_the_repository() {
        let table = [
            ("b.py", None),
            ("./b/c.py", None),
            ("a.py", Some("the file is there")),
            ("../b.py", Some("`../b.py`")),
            ("/b.py", Some("it is absolute")),
            ("", Some("it is empty")),
        ];
        for (name, expected) in table {
            let created = ReportedFile { file: name.into(), ..ReportedFile::default() };
            let response = EditsResponse { new_files: vec![created], ..EditsResponse::default() };
            match (edit_set(&response, &file), expected) {
                (Ok(edits), None) => assert_eq!(edits.files.len(), 1, "{name}"),
                (Err(problems), Some(why)) => assert!(problems[0].contains(why), "{problems:?}"),
                (got, _) => panic!("{name}: {got:?}"),
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn a_parsed_place_lies_inside_its_file(text in "(a|b)\\.py(:[a-z]{0,3})?(:[0-9]{1,2}(-[0-9]{1,2})?)?") {
            if let Ok(point) = parse_point(&text, &source) {
                proptest::prop_assert!(1 <= point.start && point.start <= point.end && point.end <= 16);
            }
        }
    }
}
