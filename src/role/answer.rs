//! Model text to typed answer, or the reason why not (product.md 13.16). Optional fields may be
//! missing, unknown ones are ignored, wrong ones are named.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::edit::{self, Block};
use crate::domain::id::RepoPath;
use crate::domain::plan::ModificationPoint;
use crate::domain::proposal::{EditSet, FileEdit};

/// One cause as the analyst tells it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToldCause {
    /// Failing tests it explains, by their ids.
    pub tests: Vec<String>,
    /// One sentence.
    pub cause: String,
    /// Path from the repository root.
    pub file: String,
    /// The function around it; empty at top level.
    pub function: String,
    /// `first-last`, from 1.
    pub lines: String,
}

/// The analyst's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Analysis {
    /// The question it answers.
    pub task_id: String,
    /// Causes, most likely first.
    pub root_causes: Vec<ToldCause>,
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
    pub verification_steps: Vec<String>,
    /// Could the change hide another problem.
    pub impact: String,
    /// The reasoning as Markdown: symptoms, hypothesis, root cause, fix design, impact; at least
    /// 100 words.
    pub report: String,
}

/// One search-and-replace block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToldEdit {
    /// Path from the repository root.
    pub file: String,
    /// Copied verbatim from the file; occurs exactly once in it.
    pub search: String,
    /// What stands there instead.
    pub replace: String,
    /// Why, one sentence.
    pub reason: String,
}

/// A file that is not there yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToldFile {
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
pub struct Edits {
    /// The question it answers.
    pub task_id: String,
    /// Changes of files that are there.
    pub edits: Vec<ToldEdit>,
    /// Files to be made.
    pub new_files: Vec<ToldFile>,
    /// What a reviewer should know.
    pub notes: String,
    /// From 0 to 1; absent means as sure as the plan.
    pub confidence_score: Option<f64>,
}

/// The JSON Schema of an answer, in the plain subset that every protocol takes.
#[must_use]
pub fn form<T: JsonSchema>() -> Value {
    let mut settings = schemars::generate::SchemaSettings::draft07();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = serde_json::to_value(schema).unwrap_or_default();
    strict(&mut value);
    value
}

/// Objects name all their fields as required and no others: what strict modes ask for.
fn strict(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.remove("default");
            object.remove("format");
            object.remove("title");
            if let Some(Value::Object(properties)) = object.get("properties") {
                let names: Vec<Value> = properties.keys().cloned().map(Value::String).collect();
                object.insert("required".into(), Value::Array(names));
                object.insert("additionalProperties".into(), Value::Bool(false));
            }
            object.values_mut().for_each(strict);
        }
        Value::Array(items) => items.iter_mut().for_each(strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Reads an answer to the question `task_id`.
///
/// # Errors
///
/// Why it is none, in our own words (trigger T1).
pub fn read<T: serde::de::DeserializeOwned>(text: &str, task_id: &str) -> Result<T, String> {
    if text.trim().is_empty() {
        return Err("the answer is empty".into());
    }
    let value = json_in(text).ok_or("the answer holds no JSON object")?;
    let told = value.get("task_id").and_then(Value::as_str).unwrap_or_default();
    if !told.is_empty() && told != task_id {
        return Err(format!("the answer is about another task (`{}`)", short(told)));
    }
    serde_json::from_value(value).map_err(|error| format!("the answer has a wrong field: {error}"))
}

/// Reads an answer and how sure it is of itself.
///
/// # Errors
///
/// Why it is none, in our own words (trigger T1).
pub fn read_with<T: serde::de::DeserializeOwned>(
    text: &str,
    task_id: &str,
    sure: impl Fn(&T) -> f64,
) -> Result<(T, f64), String> {
    let told: T = read(text, task_id)?;
    let sure = sure(&told);
    if (0.0..=1.0).contains(&sure) {
        Ok((told, sure))
    } else {
        Err(format!("a confidence of {sure} is not between 0 and 1"))
    }
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}

/// The JSON object in a text: all of it, in a fence, or the first one that is balanced.
#[must_use]
pub fn json_in(text: &str) -> Option<Value> {
    let object = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    if let Some(value) = object(text.trim()) {
        return Some(value);
    }
    for fence in ["```json", "```"] {
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once(fence) {
            // The fence that ends it stands at the beginning of a line.
            let inner = behind.split_once("\n```").map_or(behind, |(inner, _)| inner);
            if let Some(value) = object(inner.trim()) {
                return Some(value);
            }
            rest = behind;
        }
    }
    // A text of opening braces alone must not cost a square of its length.
    text.match_indices('{').take(50).find_map(|(at, _)| object(balanced(text.get(at..)?)?))
}

/// From an opening brace to the one that closes it.
fn balanced(text: &str) -> Option<&str> {
    let (mut depth, mut inside, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'{' if !inside => depth += 1,
            b'}' if !inside => {
                depth -= 1;
                if depth == 0 {
                    return text.get(..=at);
                }
            }
            _ => {}
        }
    }
    None
}

/// The places an analysis names, as far as they exist, and what was wrong with the others.
/// `lines_of` tells how many lines a file has; `None` when it is not there.
#[must_use]
pub fn points(
    analysis: &Analysis,
    lines_of: &dyn Fn(&RepoPath) -> Option<u32>,
) -> (Vec<ModificationPoint>, Vec<String>) {
    let mut told = analysis.modification_points.clone();
    told.extend(
        analysis
            .root_causes
            .iter()
            .filter(|cause| !cause.file.is_empty())
            .map(|cause| format!("{}:{}:{}", cause.file, cause.function, cause.lines)),
    );
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for text in told.iter().take(50) {
        match point(text, lines_of) {
            Ok(point) if found.contains(&point) => {}
            Ok(point) => found.push(point),
            Err(problem) => problems.push(problem),
        }
    }
    (found, problems)
}

/// Reads `file:function:first-last`; a missing function is the module, a missing range the file.
pub fn point(
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
    // `file:function` without lines.
    let function = if start.is_none() && function.is_empty() { range } else { function };
    let (start, end) = (start.unwrap_or(1), end.or(start).unwrap_or(lines.max(1)));
    if start == 0 || start > end || end > lines.max(1) {
        return Err(format!("`{shown}`: the file has lines 1 to {lines}"));
    }
    let function = short(function.trim());
    let function = if function.is_empty() { "<module>".to_owned() } else { function };
    Ok(ModificationPoint { file, function, start, end })
}

/// Edits as whole texts before and after. `read` gives the present text of a file, `None` when it
/// is not there or no text.
///
/// # Errors
///
/// All that does not fit the files, to be sent back.
pub fn edit_set(
    told: &Edits,
    read: &dyn Fn(&RepoPath) -> Option<String>,
) -> Result<EditSet, Vec<String>> {
    let mut problems = Vec::new();
    let mut blocks: BTreeMap<RepoPath, Vec<Block<'_>>> = BTreeMap::new();
    for one in &told.edits {
        match RepoPath::parse(one.file.trim_start_matches("./")) {
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
            problems.push(format!("`{file}`: there is no such file; use `new_files` to make one"));
            continue;
        };
        match edit::apply(&before, blocks) {
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
    for one in &told.new_files {
        match RepoPath::parse(one.file.trim_start_matches("./")) {
            Err(error) => problems.push(format!("`{}`: {error}", short(&one.file))),
            Ok(file) if read(&file).is_some() || blocks.contains_key(&file) => {
                problems.push(format!("`{file}`: the file is there; use `edits` to change it"));
            }
            Ok(file) => {
                files.push(FileEdit { file, before: None, after: Some(one.content.clone()) });
            }
        }
    }
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
    use proptest::prelude::{prop_assert, proptest};

    fn file(path: &RepoPath) -> Option<String> {
        (path.as_str() == "a.py").then(|| "def f():\n    return 1\n".to_owned())
    }

    fn lines(path: &RepoPath) -> Option<u32> {
        file(path).map(|text| u32::try_from(text.lines().count()).unwrap())
    }

    #[test]
    fn json_is_found_wherever_a_model_puts_it() {
        let inner = r#"{"task_id": "t", "approach": "a } in \" text"}"#;
        for text in [
            inner.to_owned(),
            format!("Sure!\n```json\n{inner}\n```\nDone."),
            format!("```\n{inner}\n```"),
            format!("I think {{this}} is it: {inner} and so on"),
            format!("\n\n  {inner}  "),
        ] {
            let read: Analysis = read(&text, "t").unwrap();
            assert_eq!(read.approach, "a } in \" text", "{text}");
        }
    }

    #[test]
    fn what_is_no_answer_has_a_reason() {
        let bomb = "{\"a\":".repeat(100_000);
        let table = [
            ("", "empty"),
            ("I cannot help with that.", "no JSON"),
            (bomb.as_str(), "no JSON"),
            ("[1, 2]", "no JSON"),
            (r#"{"task_id": "other"}"#, "another task"),
            (r#"{"modification_points": "a.py"}"#, "wrong field"),
            (r#"{"confidence_score": "high"}"#, "wrong field"),
        ];
        for (text, expected) in table {
            let error = read::<Analysis>(text, "t").unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
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
            match (point(text, &lines), expected) {
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
        let edit = |file: &str, search: &str, replace: &str| Edits {
            edits: vec![ToldEdit {
                file: file.into(),
                search: search.into(),
                replace: replace.into(),
                reason: String::new(),
            }],
            ..Edits::default()
        };
        let table = [
            (edit("b.py", "x", "y"), "no such file"),
            (edit("/etc/passwd", "x", "y"), "/etc/passwd"),
            (edit("a.py", "return 2", "y"), "does not occur"),
            (edit("a.py", "return 1", "return 1"), "change nothing"),
            (edit("a.py", "def f():\n    return 1\n", ""), "empty"),
            (Edits::default(), "no edit"),
            (
                Edits {
                    new_files: vec![ToldFile { file: "a.py".into(), ..ToldFile::default() }],
                    ..Edits::default()
                },
                "the file is there",
            ),
        ];
        for (told, expected) in table {
            let problems = edit_set(&told, &file).unwrap_err();
            assert!(problems.join("\n").contains(expected), "{problems:?}");
        }
        let good = edit_set(&edit("a.py", "return 1", "return 2"), &file).unwrap();
        assert_eq!(good.files[0].after.as_deref(), Some("def f():\n    return 2\n"));
    }

    #[test]
    fn the_form_is_strict_and_has_no_references() {
        let text = form::<Analysis>().to_string();
        assert!(!text.contains("$ref"), "{text}");
        assert!(text.contains("\"additionalProperties\":false"), "{text}");
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(text in r#"[\{\}"\\a:,\n` ]{0,200}"#) {
            let read: Result<Edits, _> = read(&text, "t");
            let braces = text.contains('{');
            prop_assert!(read.is_err() || braces);
        }
    }
}
