//! Parses the JSON lines that our own drivers for pytest, unittest and `node --test` write.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::domain::declared::{Declared, Document};
use crate::domain::test::{CaseKind, Status};

use super::{Report, ReportedTest, cut_short, held_in, milliseconds, parse_json};

/// One JSON line of a driver: a finished test, or the end of the run.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Line {
    pub id: String,
    kind: CaseKind,
    names: Option<Vec<Option<String>>>,
    status: Option<Status>,
    file: Option<String>,
    line: Option<u32>,
    /// Duration in milliseconds.
    pub ms: f64,
    class: String,
    message: String,
    stack: String,
    /// Executed lines by file, when the run is traced.
    pub lines: BTreeMap<String, Vec<u32>>,
    /// Marks the end of a complete run.
    pub end: bool,
    /// At the end: the tests that were chosen to run.
    planned: Option<u32>,
    /// Marks the start of a test, of which the end may follow.
    start: bool,
    /// The time of the start, in seconds since 1970.
    at: f64,
}

impl From<Line> for ReportedTest {
    fn from(line: Line) -> Self {
        let mut kind = line.kind;
        let id = match line.names {
            Some(names) => {
                let mut names: Vec<String> = names.into_iter().flatten().collect();
                let file = line.file.clone().unwrap_or_default();
                if let Some(hook) = names.last_mut().filter(|_| kind == CaseKind::Hook) {
                    // What stands before the last mark is its suite.
                    *hook = hook.replace(" > ", " ");
                }
                if names.is_empty() {
                    kind = CaseKind::Unloaded;
                    file
                } else if kind == CaseKind::Hook && line.file.is_none() {
                    names.join(" > ")
                } else {
                    format!("{file}::{}", names.join(" > "))
                }
            }
            None => line.id,
        };
        Self {
            id,
            kind,
            status: line.status,
            file: line.file,
            line: line.line,
            duration_ms: milliseconds(line.ms / 1000.0),
            class: line.class,
            message: line.message,
            stack: line.stack,
            ..Self::default()
        }
    }
}

/// Parses the lines; skips those that a crash cut short or that are not ours. Where a run ended without
/// its last line, the tests that had begun are failures: the process ended in the middle of them.
pub fn parse(text: &str) -> Report {
    let (ends, tests): (Vec<Line>, Vec<Line>) =
        lines(text).filter(|line| !line.start).partition(|line| line.end);
    let named = tests.into_iter().filter(|line| !line.id.is_empty() || line.names.is_some());
    let mut cases: Vec<ReportedTest> = named.map(ReportedTest::from).collect();
    let mut complete = !ends.is_empty();
    if !complete {
        // Without its file it is no goal of the search, which would take out the call that ends the process.
        let cut: Vec<ReportedTest> = unended(text).map(|line| cut_short(line.id)).collect();
        complete = !cut.is_empty();
        cases.extend(cut);
    }
    let planned: Vec<u32> = ends.iter().filter_map(|end| end.planned).collect();
    let plan = (planned.len() == ends.len() && complete && !ends.is_empty())
        .then(|| planned.into_iter().fold(0, u32::saturating_add));
    let held = held_in(&cases);
    let declared = Declared { plan, ..Declared::default() };
    let documents = vec![Document { name: String::new(), declared, held }];
    Report { documents, complete, ..Report::of(cases) }
}

fn lines(text: &str) -> impl Iterator<Item = Line> {
    text.lines().filter_map(|line| parse_json::<Line>(line).ok())
}

/// Tests that started before this time, in seconds since 1970, and did not end.
pub fn running_since(text: &str, time: f64) -> Vec<String> {
    unended(text).filter(|line| line.at < time).map(|line| line.id).collect()
}

fn unended(text: &str) -> impl Iterator<Item = Line> {
    let mut running: Vec<Line> = Vec::new();
    for line in lines(text) {
        running.retain(|one| one.id != line.id);
        running.extend(Some(line).filter(|line| line.start));
    }
    running.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_and_a_missing_end_are_seen() {
        let text = "{\"id\":\"a\",\"status\":\"passed\",\"ms\":3}\n{\"id\":\"b\",\"sta";
        let report = parse(text);
        assert_eq!(report.cases.len(), 1);
        assert!(!report.complete);
        assert!(parse("{\"end\": true}\n").complete);
    }

    #[test]
    fn what_is_no_unicode_is_kept_apart() {
        let text = r#"{"id":"a[\udcff]","message":"\ud83d\ude00 \\ud800 \ud800!","status":"failed"}
{"id":"a[\udcfe]","status":"passed"}"#;
        let cases = parse(text).cases;
        let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids, [r"a[\udcff]", r"a[\udcfe]"]);
        assert_eq!(cases[0].message, "\u{1f600} \\ud800 \\ud800!");
    }

    #[test]
    fn a_test_that_started_and_did_not_end_is_running() {
        let text = "{\"id\":\"a\",\"start\":true}\n{\"id\":\"b\",\"start\":true}\n{\"id\":\"a\",\"status\":\"passed\"}\n";
        assert_eq!(running_since(text, 1.0), ["b"]);
        let timed =
            "{\"id\":\"a\",\"start\":true,\"at\":10.5}\n{\"id\":\"b\",\"start\":true,\"at\":20}\n";
        assert_eq!(running_since(timed, 20.0), ["a"]);
        assert_eq!(running_since(timed, 20.5), ["a", "b"]);
        let report = parse(text);
        assert_eq!(report.cases.len(), 2);
        assert_eq!(
            (report.cases[1].id.as_str(), report.cases[1].status),
            ("b", Some(Status::Failed))
        );
        assert!(report.complete, "it says which test the process ended in");
    }
}
