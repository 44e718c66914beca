//! Types of the analyst's and fixer's answers, and their conversion into locations and edits.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// The existing locations that an analysis names, and what is wrong with the others. `lines_of`
/// counts the lines of a file; `None` if the file does not exist.
pub fn parse_points(
    analysis: &AnalysisResponse,
    lines_of: &dyn Fn(&RepoPath) -> Option<u32>,
) -> (Vec<ModificationPoint>, Vec<String>) {
    let mut places = analysis.modification_points.clone();
    places.extend(
        analysis
            .root_causes
            .iter()
            .filter(|cause| !cause.file.is_empty())
            .map(|cause| format!("{}:{}:{}", cause.file, cause.function, cause.lines)),
    );
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for text in places.iter().take(50) {
        match parse_point(text, lines_of) {
            Ok(point) if found.contains(&point) => {}
            Ok(point) => found.push(point),
            Err(problem) => problems.push(problem),
        }
    }
    (found, problems)
}

/// Parses `file:function:first-last`. A missing function means module level, missing lines mean the
/// whole file.
pub fn parse_point(
    text: &str,
    lines_of: &dyn Fn(&RepoPath) -> Option<u32>,
) -> Result<ModificationPoint, String> {
    let shown = short(text);
    let mut parts = text.trim().trim_start_matches("./").splitn(2, ':');
    let file = parts.next().unwrap_or_default();
    let rest = parts.next().unwrap_or_default();
    let file = RepoPath::parse(file).map_err(|error| format!("`{shown}`: {error}"))?;
    let lines = lines_of(&file).ok_or_else(|| format!("`{shown}`: there is no such file"))?;
    let (function, range) = rest.rsplit_once(':').unwrap_or(("", rest));
    let number = |text: &str| text.trim().trim_start_matches(['L', 'l']).parse::<u32>().ok();
    let (start, end) = match range.split_once('-') {
        Some((start, end)) => (number(start), number(end)),
        None => (number(range), number(range)),
    };
    // The form `file:function`, without lines.
    let function = if start.is_none() && function.is_empty() { range } else { function };
    let (start, end) = (start.unwrap_or(1), end.or(start).unwrap_or(lines.max(1)));
    if start == 0 || start > end || end > lines.max(1) {
        return Err(format!("`{shown}`: the file has lines 1 to {lines}"));
    }
    let function = short(function.trim());
    let function = if function.is_empty() { "<module>".to_owned() } else { function };
    Ok(ModificationPoint { file, function, start, end })
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

    fn lines(path: &RepoPath) -> Option<u32> {
        file(path).map(|text| u32::try_from(text.lines().count()).unwrap())
    }

    #[test]
    fn places_must_exist() {
        let table = [
            ("a.py:f:1-2", Ok(("f", 1, 2))),
            ("./a.py:f:L2", Ok(("f", 2, 2))),
            ("a.py::2-2", Ok(("<module>", 2, 2))),
            ("a.py:f", Ok(("f", 1, 2))),
            ("a.py", Ok(("<module>", 1, 2))),
            ("a.py:f:2-9", Err("lines 1 to 2")),
            ("a.py:f:0-1", Err("lines 1 to 2")),
            ("b.py:f:1-1", Err("no such file")),
            ("../a.py:f:1-1", Err("`../a.py:f:1-1`")),
        ];
        for (text, expected) in table {
            match (parse_point(text, &lines), expected) {
                (Ok(point), Ok((function, start, end))) => {
                    assert_eq!(
                        (point.function.as_str(), point.start, point.end),
                        (function, start, end),
                        "{text}"
                    );
                }
                (Err(error), Err(expected)) => assert!(error.contains(expected), "{error}"),
                (got, _) => panic!("{text}: {got:?}"),
            }
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
            modification_points: vec!["a.py:f:1-2".into(), "b.py".into()],
            root_causes: vec![cause, ReportedCause::default()],
            ..AnalysisResponse::default()
        };
        let (points, problems) = parse_points(&analysis, &lines);
        assert_eq!((points.len(), problems.len()), (1, 1), "{points:?} {problems:?}");
        let many = AnalysisResponse {
            modification_points: vec!["b.py".into(); 80],
            ..AnalysisResponse::default()
        };
        assert_eq!(parse_points(&many, &lines).1.len(), 50);
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
            if let Ok(point) = parse_point(&text, &lines) {
                proptest::prop_assert!(1 <= point.start && point.start <= point.end && point.end <= 2);
            }
        }
    }
}
