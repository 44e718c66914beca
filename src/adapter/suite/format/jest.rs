//! Parses the JSON report of Jest, whose format Vitest uses too.

use serde::Deserialize;

use crate::domain::declared::{Declared, Document};
use crate::domain::test::{CaseKind, Status};

use super::{
    Report, ReportedTest, Retried, Unreadable, held_in, milliseconds, parse_json, without_colours,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    test_results: Vec<File>,
    num_total_tests: Option<u32>,
    num_failed_tests: Option<u32>,
    #[serde(default)]
    was_interrupted: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    name: String,
    #[serde(default)]
    status: String,
    message: Option<String>,
    #[serde(default)]
    assertion_results: Vec<Assertion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    #[serde(default)]
    ancestor_titles: Vec<Title>,
    title: Title,
    status: String,
    duration: Option<f64>,
    #[serde(default)]
    failure_messages: Vec<String>,
    location: Option<Location>,
}

/// The title of a test, which old versions of Jest write as it was given: also as a number or a list.
#[derive(Deserialize)]
#[serde(transparent)]
struct Title(serde_json::Value);

impl Title {
    fn into_text(self) -> String {
        match self.0 {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        }
    }
}

#[derive(Deserialize)]
struct Location {
    line: u32,
}

/// How Jest begins what it says of a file rather than of a test.
const OUTSIDE_OF_TESTS: &str = "● Test suite failed to run";

/// The message of a hook of which the report says no more.
pub const UNEXPLAINED: &str = "a hook failed";

/// The framework that wrote a report; the two differ in the meaning of `pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// In Jest, a pending test is a skipped one.
    Jest,
    /// In Vitest, it is a test that did not finish, for example because its process died.
    Vitest,
}

/// Reads a report with ids such as `file::suite > test`; a file that does not load fails.
pub fn parse(text: &str, writer: Writer) -> Result<Report, Unreadable> {
    let run: Run = parse_json(text).map_err(|error| Unreadable {
        line: u32::try_from(error.line()).unwrap_or(u32::MAX),
        expected: format!("the JSON report of Jest or Vitest ({error})"),
    })?;
    let mut tests = Vec::new();
    for file in run.test_results {
        // A file that does not load; a failing `afterAll` is reported only here too, and so is each hook
        // of Vitest, which calls the tests behind it skipped.
        let explained = file.assertion_results.iter().any(|test| test.status == "failed");
        let message = file.message.unwrap_or_default();
        let of_file = message.split_once(OUTSIDE_OF_TESTS);
        let hook = file.status == "failed" && (!explained || of_file.is_some());
        if hook {
            let message = of_file.map_or(message.as_str(), |(_, behind)| behind);
            let is_loaded = !file.assertion_results.is_empty();
            let message = if is_loaded && message.is_empty() { UNEXPLAINED } else { message };
            let mut test = failed(file.name.clone(), &file.name, None, 0, message);
            test.kind = if is_loaded { CaseKind::Hook } else { CaseKind::Unloaded };
            if is_loaded {
                test.id += "::hook";
            }
            tests.push(test);
        }
        for test in file.assertion_results {
            let mut names: Vec<String> =
                test.ancestor_titles.into_iter().map(Title::into_text).collect();
            names.retain(|name| !name.is_empty());
            names.push(test.title.into_text());
            let id = format!("{}::{}", file.name, names.join(" > "));
            let line = test.location.map(|place| place.line);
            let took = milliseconds(test.duration.unwrap_or_default() / 1000.0);
            match test.status.as_str() {
                "pending" if writer == Writer::Vitest && !hook => {
                    tests.push(failed(id, &file.name, line, took, "Error: it did not end"));
                }
                "failed" => {
                    let text = test.failure_messages.join("\n");
                    tests.push(failed(id, &file.name, line, took, &text));
                }
                status => tests.push(ReportedTest {
                    id,
                    status: Some(if status == "passed" { Status::Passed } else { Status::Skipped }),
                    file: Some(file.name.clone()),
                    line,
                    duration_ms: took,
                    ..ReportedTest::default()
                }),
            }
        }
    }
    let held = held_in(&tests);
    // The other counts differ between versions of Vitest.
    let declared = Declared {
        tests: run.num_total_tests,
        failures: run.num_failed_tests,
        aborted: run.was_interrupted.then(|| "it was interrupted".to_owned()),
        ..Declared::default()
    };
    let documents = vec![Document { name: String::new(), declared, held }];
    Ok(Report { documents, ..Report::of(tests) })
}

fn failed(id: String, file: &str, line: Option<u32>, duration_ms: u64, text: &str) -> ReportedTest {
    let plain = without_colours(text);
    let heading = |line: &&str| line.is_empty() || line.starts_with('●');
    let first = plain.lines().map(str::trim).find(|line| !heading(line)).unwrap_or_default();
    let (class, message) = first.split_once(": ").unwrap_or(("", first));
    let named = !class.is_empty() && class.chars().all(char::is_alphanumeric);
    ReportedTest {
        kind: CaseKind::Test,
        id,
        status: Some(Status::Failed),
        file: Some(file.to_owned()),
        line,
        duration_ms,
        class: if named { class.to_owned() } else { String::new() },
        message: if named { message.to_owned() } else { first.to_owned() },
        stack: plain,
        retried: Retried::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_do_not_load_are_failing_tests() {
        let text = r#"{"testResults":[
          {"name":"/repo/a.test.js","status":"failed","assertionResults":[
            {"ancestorTitles":["cart"],"title":"adds","status":"passed","duration":2},
            {"ancestorTitles":["cart"],"title":"sums","status":"failed","failureMessages":["Error: \u001b[2mexpect\u001b[22m 3\n    at /repo/a.js:2:1"]},
            {"ancestorTitles":[],"title":"later","status":"pending"},
            {"ancestorTitles":[],"title":[2010,1],"status":"passed"}]},
          {"name":"/repo/b.test.js","status":"failed","message":"SyntaxError: no","assertionResults":[]}]}"#;
        let tests = parse(text, Writer::Jest).unwrap().cases;
        let short: Vec<_> = tests.iter().map(|t| (t.id.as_str(), t.status.unwrap())).collect();
        assert_eq!(
            short,
            [
                ("/repo/a.test.js::cart > adds", Status::Passed),
                ("/repo/a.test.js::cart > sums", Status::Failed),
                ("/repo/a.test.js::later", Status::Skipped),
                ("/repo/a.test.js::[2010,1]", Status::Passed),
                ("/repo/b.test.js", Status::Failed),
            ]
        );
        let hook = r#"{"testResults":[{"name":"a.test.js","status":"failed","message":"",
            "assertionResults":[{"title":"never runs","status":"skipped"}]}]}"#;
        let told_of_hook = parse(hook, Writer::Vitest).unwrap().cases;
        assert_eq!(
            (told_of_hook[0].id.as_str(), told_of_hook[0].status),
            ("a.test.js::hook", Some(Status::Failed))
        );
        assert_eq!((tests[1].class.as_str(), tests[1].message.as_str()), ("Error", "expect 3"));
        let crash = r#"{"testResults":[{"name":"a.test.js","status":"passed","message":"",
            "assertionResults":[{"title":"ended its process","status":"pending"}]}]}"#;
        let status = |writer| parse(crash, writer).unwrap().cases[0].status;
        assert_eq!(status(Writer::Vitest), Some(Status::Failed));
        assert_eq!(status(Writer::Jest), Some(Status::Skipped));
    }
}
