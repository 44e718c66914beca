//! Reads answers whose code stands in plain blocks beside one JSON object with everything else.
//! Escaped code in JSON strings costs correctness, but answers of that kind are read too.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::code::edit_blocks::{self, CodeBlocks};
use crate::domain::text::{first_line, one_line};

use super::answer;
use super::responses::{EditsResponse, ReportedEdit, ReportedFile};

/// An answer that contains code.
pub trait CodeAnswer: DeserializeOwned + JsonSchema + Default {
    /// Sets the code, and the notes if there are none.
    fn set(&mut self, edits: Vec<ReportedEdit>, files: Vec<ReportedFile>, notes: &str);
}

impl CodeAnswer for EditsResponse {
    fn set(&mut self, edits: Vec<ReportedEdit>, files: Vec<ReportedFile>, notes: &str) {
        (self.edits, self.new_files) = (edits, files);
        if self.notes.trim().is_empty() {
            notes.clone_into(&mut self.notes);
        }
    }
}

/// Why an answer cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// There is no answer in it (trigger T1).
    Nothing(String),
    /// Its code is incomplete, which the model can correct.
    Code(String),
}

/// Parses the answer to the question `task_id`.
pub fn parse<T: CodeAnswer>(text: &str, task_id: &str) -> Result<T, Unreadable> {
    if answer::find_object::<T>(text).is_some_and(|value| has_code(&value)) {
        return answer::parse(text, task_id).map_err(Unreadable::Nothing);
    }
    let CodeBlocks { edits, files, rest } =
        edit_blocks::parse(text).map_err(|error| Unreadable::Code(error.to_string()))?;
    let is_prose = answer::find_object::<T>(&rest).is_none();
    let has_code = !edits.is_empty() || !files.is_empty();
    let mut response: T = if is_prose && has_code {
        T::default()
    } else {
        answer::parse(&rest, task_id).map_err(Unreadable::Nothing)?
    };
    let edits = edits.into_iter().map(|one| ReportedEdit {
        file: one.file,
        search: one.search,
        replace: one.replace,
        reason: String::new(),
    });
    let files = files.into_iter().map(|one| ReportedFile {
        file: one.file,
        content: one.content,
        reason: String::new(),
    });
    let notes = if is_prose { one_line(first_line(&rest), 200) } else { String::new() };
    response.set(edits.collect(), files.collect(), &notes);
    Ok(response)
}

/// Whether a JSON object has code in it, the form that was asked for before.
fn has_code(value: &Value) -> bool {
    ["edits", "new_files"]
        .iter()
        .filter_map(|name| value.get(name)?.as_array())
        .any(|list| list.iter().any(|one| one.get("file").is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str =
        "a.py\n```\n<<<<<<< SEARCH\nreturn 1\n=======\nreturn {2: 3}\n>>>>>>> REPLACE\n```\n";

    fn read(text: &str) -> Result<EditsResponse, Unreadable> {
        parse(text, "IMPL-fix-1")
    }

    #[test]
    fn code_is_read_from_blocks_and_everything_else_from_the_object() {
        let object = r#"{"notes": "it was wrong", "confidence_score": 0.8}"#;
        let old = r#"{"edits": [{"file": "a.py", "search": "return 1\n", "replace": "return {2: 3}\n"}], "notes": "it was wrong", "confidence_score": 0.8}"#;
        let table = [
            ("object last", format!("{BLOCK}\n{object}"), "it was wrong", Some(0.8)),
            ("object first", format!("{object}\n\n{BLOCK}"), "it was wrong", Some(0.8)),
            (
                "object in a fence",
                format!("{BLOCK}\n```json\n{object}\n```\n"),
                "it was wrong",
                Some(0.8),
            ),
            ("no object", format!("It is wrong.\n\n{BLOCK}"), "It is wrong.", None),
            ("code in the object", old.to_owned(), "it was wrong", Some(0.8)),
            (
                "old form in a fence",
                format!("Sure:\n```json\n{old}\n```"),
                "it was wrong",
                Some(0.8),
            ),
        ];
        for (why, text, notes, confidence) in table {
            let response = read(&text).unwrap_or_else(|error| panic!("{why}: {error:?}"));
            assert_eq!(response.edits.len(), 1, "{why}");
            assert_eq!(response.edits[0].replace, "return {2: 3}\n", "{why}");
            assert_eq!(
                (response.notes.as_str(), response.confidence_score),
                (notes, confidence),
                "{why}"
            );
        }
        let wrong = read(r#"{"plan_is_wrong": "`f` is never called"}"#).unwrap();
        assert_eq!(wrong.plan_is_wrong.as_deref(), Some("`f` is never called"));
    }

    #[test]
    fn what_is_no_answer_is_told_from_code_that_is_incomplete() {
        let table = [
            ("", "empty", false),
            ("I cannot help.", "no JSON", false),
            (r#"{"task_id": "another"}"#, "another task", false),
            ("a.py\n<<<<<<< SEARCH\nx\n=======\n", ">>>>>>> REPLACE", true),
            (r#"{"edits": [{"file": 5}]}"#, "wrong field", false),
        ];
        for (text, expected, is_code) in table {
            let error = read(text).unwrap_err();
            let (why, code) = match &error {
                Unreadable::Nothing(why) => (why, false),
                Unreadable::Code(why) => (why, true),
            };
            assert!(why.contains(expected), "{text}: {why}");
            assert_eq!(code, is_code, "{text}");
        }
    }
}
