//! Any test command that writes JUnit XML or TAP files, or prints TAP.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use ignore::WalkBuilder;

use crate::adapter::host::process::ExitReason;
use crate::domain::declared::{Declared, Document, Held};
use crate::domain::framework::Framework;
use crate::domain::test::{CaseKind, Status};
use crate::domain::test_command::TestCommand;
use crate::effect::RunError;

use super::super::format::{
    Report, ReportedTest, STACK_LIMIT, Unreadable, closing, junit, tail, tap, without_colours, xml,
};
use super::adapter::{
    FrameworkAdapter, RunArtifacts, RunCommand, read_document, read_text, shell_argv,
};

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
fn read_output(artifacts: &RunArtifacts<'_>) -> Result<Report, RunError> {
    let output = read_text(artifacts.log)?;
    if let Some(report) = tap::read_report(&output, false) {
        return Ok(report);
    }
    Ok(match artifacts.ending {
        _ if artifacts.command.trim().is_empty() => Report::default(),
        // A shell that could not start it says nothing of the sources.
        ExitReason::Exit(126 | 127) | ExitReason::TimedOut => Report::default(),
        ending => Report::of(vec![one_test(artifacts.command, ending, &output)]),
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
/// else the last line; the output is the evidence. Where a runner says that tests fail and the command
/// ends well, it fails without evidence: a run that ends early ends as well, so no edit may be tried.
fn one_test(command: &str, ending: ExitReason, output: &str) -> ReportedTest {
    let id = command.to_owned();
    let kind = CaseKind::Command;
    if ending == ExitReason::Exit(0) {
        let said = closing::failure_line(output).map(|line| {
            format!(
                "it ends with 0 although its output says \"{line}\": let it end with the exit code of its \
                 runner, such as with `set -o pipefail` in bash, or name a report by `--report`"
            )
        });
        let status = Some(said.as_ref().map_or(Status::Passed, |_| Status::Failed));
        let message = said.unwrap_or_default();
        return ReportedTest { id, kind, status, message, ..ReportedTest::default() };
    }
    let stack = tail(&without_colours(output), STACK_LIMIT).to_owned();
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

/// Tells tests of the same name apart: by their files where these differ, else by numbers.
pub fn with_names_of_their_own(mut report: Report) -> Report {
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for test in report.results() {
        let file = test.file.clone().unwrap_or_default();
        files.entry(test.id.clone()).or_default().insert(file);
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for test in report.cases.iter_mut().chain(&mut report.suite_problems) {
        let is_shared = files.get(&test.id).is_some_and(|files| files.len() > 1);
        if let Some(file) = test.file.as_ref().filter(|_| is_shared) {
            test.id = format!("{file}: {}", test.id);
        }
        let count = seen.entry(test.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            test.id = format!("{} ({count})", test.id);
        }
    }
    report
}

/// Reads every matching report below the folder; other XML is left out beside one.
pub fn read_reports(artifacts: &RunArtifacts<'_>, pattern: &str) -> Result<Report, RunError> {
    let folder = artifacts.site.working_folder();
    let mut files = matching_files(&folder, pattern)?;
    files.retain(|file| !artifacts.unwritten.contains(file));
    let mut report = Report::of(Vec::new());
    let mut foreign = Vec::new();
    for file in &files {
        let name = file.strip_prefix(&folder).unwrap_or(file).display().to_string();
        match read_document(file, |text| read_report(text, &name))? {
            Ok(document) => report.add(document),
            Err(root) => foreign.push((name, root)),
        }
    }
    let (command, pattern) = (artifacts.command.to_owned(), pattern.to_owned());
    if files.is_empty() {
        return Err(RunError::NoReportFile { command, pattern });
    }
    if let Some((file, root)) = foreign.first()
        && foreign.len() == files.len()
    {
        let (file, root) = (file.clone(), root.clone());
        return Err(RunError::ForeignReport { file, root, pattern });
    }
    report.notices.extend(foreign.into_iter().map(|(file, root)| {
        format!("`{file}` matches `{pattern}` and is no test report: its root is `<{root}>`")
    }));
    // pytest leaves tests that it never ran out of its report.
    if let Some(why) = interruption_in(&read_text(artifacts.log)?) {
        let declared = Declared { aborted: Some(why), ..Declared::default() };
        let name = artifacts.command.to_owned();
        report.documents.push(Document { name, declared, held: Held::default() });
    }
    Ok(report.ended(artifacts.ending == ExitReason::Exit(0)))
}

/// Why pytest gave a run up, between exclamation marks as it prints it.
fn interruption_in(output: &str) -> Option<String> {
    let reasons =
        ["_pytest.outcomes.Exit", "stopping after ", "KeyboardInterrupt", "Interrupted: "];
    let is_reason = |text: &&str| {
        let text = text.strip_prefix("xdist.dsession.").unwrap_or(text);
        reasons.iter().any(|start| text.starts_with(start))
    };
    output.lines().find_map(|line| {
        let text =
            line.trim_end().strip_prefix("!!!")?.strip_suffix("!!!")?.trim_matches('!').trim();
        Some(text).filter(is_reason).map(str::to_owned)
    })
}

/// A report in JUnit XML or TAP; the root of an XML document that is neither.
fn read_report(text: &str, name: &str) -> Result<Result<Report, String>, Unreadable> {
    let mut report = if text.trim_start().starts_with('<') {
        match xml::root_element(text) {
            Some(root) if !["testsuite", "testsuites"].contains(&root.as_str()) => {
                return Ok(Err(root));
            }
            _ => junit::parse(text)?,
        }
    } else {
        let expected = || Unreadable { line: 1, expected: "JUnit XML or TAP".to_owned() };
        tap::read_report(text, true).ok_or_else(expected)?
    };
    for document in &mut report.documents {
        name.clone_into(&mut document.name);
    }
    Ok(Ok(report))
}

/// Files below `folder` that match a glob, sorted; a folder stands for its XML files.
pub fn matching_files(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, RunError> {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    let below = format!("{pattern}/**/*.xml");
    let pattern = if folder.join(pattern).is_dir() { &below } else { pattern };
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

#[cfg(test)]
mod tests {
    use super::interruption_in;

    #[test]
    fn pytest_says_between_exclamation_marks_why_it_gave_up() {
        let table = [
            ("1 passed in 0.1s", None),
            ("!!!!!!! _pytest.outcomes.Exit: foo !!!!!!!", Some("_pytest.outcomes.Exit: foo")),
            ("x\n!!!!! stopping after 1 failures !!!!!\ny", Some("stopping after 1 failures")),
            (
                "!!! xdist.dsession.Interrupted: stopping after 1 failures !!!",
                Some("xdist.dsession.Interrupted: stopping after 1 failures"),
            ),
            ("!!! Attention !!!", None),
            ("Interrupted: a test prints it", None),
        ];
        for (output, why) in table {
            assert_eq!(interruption_in(output).as_deref(), why, "{output}");
        }
    }
}
