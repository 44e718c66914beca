//! What is read of the reports that writers of JUnit XML and TAP left on sample projects, as `--report`
//! reads them. `tests/data/record-reports` records them; a new folder is a new row.

#![expect(clippy::disallowed_methods, reason = "tests read their recordings")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::adapter::host::process::ExitReason;
use crate::adapter::suite::format::{Report, ReportedTest, Retried};
use crate::adapter::suite::framework::{RunArtifacts, Site, adapter};
use crate::domain::declared::find_objections;
use crate::domain::framework::Framework;
use crate::domain::test::{CaseKind, Objection, Status};
use crate::effect::RunError;

/// The recordings of writers, sorted: those with a `run.json`.
fn recordings() -> Vec<PathBuf> {
    let mut level = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reports")];
    for _ in 0..3 {
        let folders = level.iter().filter(|path| path.is_dir());
        let inner = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
        level = inner.map(|entry| entry.unwrap().path()).collect();
    }
    level.retain(|folder| folder.join("run.json").exists());
    level.sort();
    level
}

/// Reads a recording as a run of its command with this exit code is read.
fn read(recording: &Path, run: &Value, exit: i32) -> Result<Report, RunError> {
    let mut site = Site::new(&recording.join("folder"), "");
    site.report = run["report"].as_str().map(str::to_owned);
    let artifacts = RunArtifacts {
        command: "the command",
        ending: ExitReason::Exit(exit),
        results: Path::new("none"),
        log: Path::new("none"),
        site: &site,
        unwritten: &std::collections::BTreeSet::new(),
    };
    (adapter(Framework::Command).read)(&artifacts)
}

/// What a person is told of a report, in one line.
fn shown(report: Result<Report, RunError>) -> String {
    let report = match report {
        Ok(report) => report,
        Err(RunError::NoReportFile { .. }) => return "no report".to_owned(),
        Err(error) => {
            return format!("error: {error}").replace(env!("CARGO_MANIFEST_DIR"), "");
        }
    };
    let of = |status: Status| {
        move |test: &&ReportedTest| test.status.unwrap_or(Status::Passed) == status
    };
    let count = |status| report.results().filter(of(status)).count();
    let [passed, failed, skipped] = [Status::Passed, Status::Failed, Status::Skipped].map(count);
    let mut text = format!("{passed} passed, {failed} failed, {skipped} skipped");
    for test in report.results().filter(of(Status::Failed)) {
        let mark = if test.kind == CaseKind::Test { "" } else { " (suite)" };
        let message = test.message.lines().next().unwrap_or_default();
        write!(text, "\n    failed: {}{mark}: {message}", test.id).unwrap();
    }
    for test in report.cases.iter().filter(|test| test.retried != Retried::No) {
        write!(text, "\n    flaky: {}", test.id).unwrap();
    }
    for objection in find_objections(&report.documents, report.has_failure(), None) {
        write!(text, "\n    objection: {}", Objection::clause(&objection)).unwrap();
    }
    if !report.complete || report.results().next().is_none() {
        text += "\n    error: no tests";
    }
    text
}

/// A recording: its writer with the version, its case, the exit code of its command, what is read of it,
/// and the same where something hides the exit code, as `|| true` does.
struct Row {
    writer: String,
    case: String,
    exit: i32,
    text: String,
    hidden: String,
}

impl Row {
    fn read(recording: &Path) -> Self {
        let run = fs::read_to_string(recording.join("run.json")).unwrap();
        let run: Value = serde_json::from_str(&run).unwrap();
        let mut names = recording.iter().rev().map(|part| part.to_str().unwrap());
        let [case, version, writer] = std::array::from_fn(|_| names.next().unwrap().to_owned());
        let exit = i32::try_from(run["exit"].as_i64().unwrap()).unwrap();
        let [text, hidden] = [exit, 0].map(|exit| shown(read(recording, &run, exit)));
        Self { writer: format!("{writer} {version}"), case, exit, text, hidden }
    }

    /// Where a person finds what the case is about, as the number of a column.
    fn place(&self) -> usize {
        let [is_error, is_told] =
            [&["error: ", "no report"][..], &["failed: ", "objection: ", "flaky: "]]
                .map(|words| words.iter().any(|word| self.hidden.contains(word)));
        match (is_error, is_told, self.exit) {
            (_, true, _) => 0,
            (true, false, _) => 1,
            (false, false, 1..) => 2,
            (false, false, _) => 3,
        }
    }
}

fn rows() -> Vec<Row> {
    recordings().iter().map(|recording| Row::read(recording)).collect()
}

#[test]
fn reports_of_every_writer_are_read_as_its_tool_means_them() {
    let mut table = String::new();
    for Row { writer, case, exit, text, hidden } in rows() {
        writeln!(table, "{writer} {case}, exit code {exit}: {text}").unwrap();
        if hidden != text {
            writeln!(table, "  with exit code 0: {hidden}").unwrap();
        }
    }
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reports/writers.txt");
    if std::env::var_os("REGREEN_BLESS").is_some() {
        fs::write(&expected, &table).unwrap();
    }
    assert_eq!(fs::read_to_string(expected).unwrap(), table);
}

#[test]
fn what_passes_is_green_and_what_a_report_tells_is_not() {
    for row in rows() {
        if row.case.starts_with("passes") {
            let is_plain = row.exit == 0 && row.place() == 3 && row.text == row.hidden;
            assert!(is_plain, "{}: {}", row.writer, row.text);
        }
    }
}

#[test]
fn the_documentation_has_the_table_of_writers() {
    let mut writers: Vec<(String, [Vec<String>; 4])> = Vec::new();
    for row in rows().into_iter().filter(|row| !row.case.starts_with("passes")) {
        if writers.last().is_none_or(|(writer, _)| *writer != row.writer) {
            writers.push((row.writer.clone(), Default::default()));
        }
        writers.last_mut().unwrap().1[row.place()].push(row.case);
    }
    let cell = |cases: &Vec<String>| {
        if cases.is_empty() { String::new() } else { format!("`{}`", cases.join("`, `")) }
    };
    let line = |(writer, cells): &(String, [Vec<String>; 4])| {
        format!("| {writer} | {} |", cells.iter().map(cell).collect::<Vec<_>>().join(" | "))
    };
    let table: Vec<String> = writers.iter().map(line).collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reports.md");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(&table.join("\n")), "docs/reports.md needs\n{}", table.join("\n"));
}
