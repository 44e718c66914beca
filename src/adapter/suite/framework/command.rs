//! Any test command that writes JUnit XML or TAP files, or prints TAP.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use ignore::WalkBuilder;

use crate::adapter::host::process::ExitReason;
use crate::domain::framework::Framework;
use crate::domain::test::{CaseKind, Status};
use crate::domain::test_command::TestCommand;
use crate::effect::RunError;

use super::super::format::{
    ParsedReport, ReportedTest, STACK_LIMIT, Unreadable, junit, tap, without_colours,
};
use super::adapter::{FrameworkAdapter, RunArtifacts, RunCommand, read_text, shell_argv};

/// The table row for a configured command.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Command,
    format: "JUnit XML, TAP or the exit code",
    signals: "--test-command",
    is_run_by: |_| true,
    detect: |_| None,
    detect_by_tests: |_| None,
    version: |_| Vec::new(),
    install: |_| "name a command with `--test-command`",
    command: |site, _, _| {
        let command = site.command.as_ref().map_or("", TestCommand::text);
        let stale_reports = site.report.clone();
        RunCommand { stale_reports, ..RunCommand::new(shell_argv(command), command) }
    },
    read: |artifacts| {
        let report = match &artifacts.site.report {
            Some(pattern) => read_reports(artifacts, pattern),
            None => read_output(artifacts),
        };
        report.map(with_names_of_their_own)
    },
    coverage: |_| {
        Err("regreen knows no coverage tool for a plain command; configure `coverage.command`"
            .into())
    },
    persistent: None,
};

/// Reads the TAP that a command prints. Without a plan of TAP, the command is one test.
fn read_output(artifacts: &RunArtifacts<'_>) -> Result<ParsedReport, RunError> {
    let output = read_text(artifacts.log)?;
    Ok(match (tap::keeps_plan(&output), artifacts.ending) {
        (Some(complete), _) => ParsedReport { tests: tap::parse(&output), complete },
        (None, _) if artifacts.command.trim().is_empty() => ParsedReport::default(),
        // A shell that could not start it says nothing of the sources.
        (None, ExitReason::Exit(126 | 127) | ExitReason::TimedOut) => ParsedReport::default(),
        (None, ending) => ParsedReport {
            tests: vec![one_test(artifacts.command, ending, &output)],
            complete: true,
        },
    })
}

/// How runners and compilers begin the line that says what is wrong.
const COMPLAINTS: &[&str] =
    &["error", "fail", "assert", "not ok", "expected", "exception", "panic"];

/// Whether a line is what make, just, ninja, npm, yarn or pnpm add when what they started has failed.
fn repeats_exit_code(line: &str) -> bool {
    let is_make = || {
        let (program, rest) = line.split_once(": ").unwrap_or_default();
        let program = program.split('[').next().unwrap_or_default();
        program.ends_with("make") && (rest.starts_with("***") || rest.contains("directory '"))
    };
    let starts = [
        "npm ERR!",
        "npm error",
        "error: Recipe `",
        "error Command failed with exit code",
        "info Visit https://yarnpkg.com",
        "ninja: build stopped",
        "task: Failed to run task",
    ];
    starts.iter().any(|start| line.starts_with(start)) || line.contains("ELIFECYCLE") || is_make()
}

/// A command without a report as one test. Its message is the last line of the output that complains,
/// else the last line; the output is the evidence.
fn one_test(command: &str, ending: ExitReason, output: &str) -> ReportedTest {
    let id = command.to_owned();
    let kind = CaseKind::Command;
    if ending == ExitReason::Exit(0) {
        return ReportedTest { id, kind, status: Some(Status::Passed), ..ReportedTest::default() };
    }
    let plain = without_colours(output);
    let mut start = plain.len().saturating_sub(STACK_LIMIT);
    while !plain.is_char_boundary(start) {
        start += 1;
    }
    let stack = plain.get(start..).unwrap_or_default().to_owned();
    let lines = || stack.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let complains = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        COMPLAINTS.iter().any(|word| lower.contains(word))
    };
    let own = || lines().filter(|line| !repeats_exit_code(line));
    let complaint = own().find(complains).or_else(|| own().next()).or_else(|| lines().next());
    let message = complaint.map_or_else(|| format!("it ended with {ending}"), str::to_owned);
    let class = ending.to_string();
    ReportedTest {
        id,
        kind,
        status: Some(Status::Failed),
        class,
        message,
        stack,
        ..ReportedTest::default()
    }
}

/// Numbers tests of the same name, which are several: nothing else tells them apart.
pub fn with_names_of_their_own(mut report: ParsedReport) -> ParsedReport {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for test in &mut report.tests {
        let count = seen.entry(test.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            test.id = format!("{} ({count})", test.id);
        }
    }
    report
}

/// Reads every report that a glob below the folder matches.
pub fn read_reports(artifacts: &RunArtifacts<'_>, pattern: &str) -> Result<ParsedReport, RunError> {
    let reports = matching_files(&artifacts.site.folder(), pattern)?;
    if reports.is_empty() {
        let (command, pattern) = (artifacts.command.to_owned(), pattern.to_owned());
        return Err(RunError::NoReportFile { command, pattern });
    }
    let mut tests = Vec::new();
    for report in reports {
        let text = read_text(&report)?;
        if text.trim_start().starts_with('<') {
            tests.extend(junit::parse(&text).map_err(|error| error.in_report(&report))?);
        } else {
            let of_file = tap::parse(&text);
            if of_file.is_empty() {
                let error = Unreadable { line: 1, expected: "JUnit XML or TAP".to_owned() };
                return Err(error.in_report(&report));
            }
            tests.extend(of_file);
        }
    }
    Ok(ParsedReport { tests, complete: true })
}

/// Files below `folder` that match a glob, sorted; includes those that git ignores.
pub fn matching_files(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, RunError> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
        RunError::Io { action: format!("read the pattern `{pattern}`"), reason: error.to_string() }
    })?;
    let glob = glob.compile_matcher();
    let mut found: Vec<PathBuf> = WalkBuilder::new(folder)
        .standard_filters(false)
        .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != "node_modules")
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
        .filter(|path| path.strip_prefix(folder).is_ok_and(|below| glob.is_match(below)))
        .collect();
    found.sort();
    Ok(found)
}
