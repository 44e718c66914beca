//! `bazel test`, read from the `test.xml` of each target that it names in its summary.

use std::path::Path;

use crate::domain::framework::Framework;
use crate::domain::test::{CaseKind, Status};
use crate::effect::RunError;

use super::super::format::{Report, ReportedTest, junit, without_colours};
use super::adapter::{FrameworkAdapter, RunArtifacts, heads, read_document, read_text, words};
use super::command::{matching_files, with_names_of_their_own};

/// The table row for Bazel.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Bazel,
    format: "test.xml of Bazel",
    signals: "MODULE.bazel, WORKSPACE",
    is_run_by: |command| {
        ["bazel", "bazelisk"].iter().any(|name| command.after(&[name, "test"]).is_some())
    },
    detect: |site| {
        let files = ["MODULE.bazel", "WORKSPACE.bazel", "WORKSPACE"];
        files.into_iter().find(|file| site.working_folder().join(file).is_file()).map(str::to_owned)
    },
    detect_by_tests: |_| None,
    version: |_| words(&["bazel", "--version"]),
    install: |_| "install Bazel, for example Bazelisk with `npm install --global @bazel/bazelisk`",
    command: |site, selection, _| {
        let targets = selection.map(|ids| heads(ids, INNER)).unwrap_or_default();
        let are_targets =
            !targets.is_empty() && targets.iter().all(|target| target.starts_with("//"));
        let mut command = site.typed("bazel test //...");
        // Targets of a configured command stay: more of them would run more.
        if are_targets && site.command.is_none() {
            command.retain(|word| word != "//...");
            command.extend(targets.into_iter().map(str::to_owned));
        }
        let end = command.words().iter().position(|word| word == "test").map_or(0, |at| at + 1);
        command.insert(end, words(&["--keep_going", "--test_output=errors"]));
        command.into_run()
    },
    read,
    coverage: |_| {
        Err("Bazel measures coverage with `bazel coverage`; configure `coverage.command`".into())
    },
    persistent: None,
};

/// Between a target and a case of it.
const INNER: &str = " > ";

/// Reads the reports of the targets in the summary: those of other targets are from earlier runs.
fn read(artifacts: &RunArtifacts<'_>) -> Result<Report, RunError> {
    let log = without_colours(&read_text(artifacts.log)?);
    let logs = artifacts.site.working_folder().join("bazel-testlogs");
    let mut report = Report::default();
    for (target, outcome) in log.lines().filter_map(summary) {
        match outcome {
            Outcome::Ran(status) => report.add(read_target(&logs, target, status)?),
            Outcome::NotBuilt => report.cases.push(not_built(target, &log)),
            Outcome::NotRun => {}
        }
    }
    let complete = report.results().next().is_some();
    report.complete = complete;
    Ok(with_names_of_their_own(report))
}

enum Outcome {
    Ran(Status),
    NotBuilt,
    NotRun,
}

/// A line of the summary, such as `//pkg:t  (cached) PASSED in 0.1s`.
fn summary(line: &str) -> Option<(&str, Outcome)> {
    let (target, rest) = line.split_once(char::is_whitespace)?;
    if !(target.starts_with("//") || target.starts_with('@')) || !target.contains(':') {
        return None;
    }
    let rest = rest.trim_start().trim_start_matches("(cached) ");
    let outcome = match rest {
        _ if rest.starts_with("PASSED") => Outcome::Ran(Status::Passed),
        // It failed before it passed.
        _ if rest.starts_with("FLAKY") => Outcome::Ran(Status::Passed),
        _ if rest.starts_with("FAILED TO BUILD") => Outcome::NotBuilt,
        _ if ["FAILED", "TIMEOUT", "INCOMPLETE", "REMOTE FAILURE"]
            .iter()
            .any(|one| rest.starts_with(one)) =>
        {
            Outcome::Ran(Status::Failed)
        }
        _ if rest.starts_with("NO STATUS") || rest.starts_with("SKIPPED") => Outcome::NotRun,
        _ => return None,
    };
    Some((target, outcome))
}

/// The cases in the reports of a target and its shards; the target itself without any.
fn read_target(logs: &Path, target: &str, status: Status) -> Result<Report, RunError> {
    let (package, name) = target.split_once(':').unwrap_or((target, ""));
    // What a test prints can look like a target.
    if target.split(['/', ':']).any(|part| part == "..") || package.starts_with("///") {
        return Ok(Report::default());
    }
    let folder = match package.split_once("//") {
        Some(("", package)) => logs.join(package).join(name),
        Some((repository, package)) => {
            logs.join("external").join(repository.trim_start_matches('@')).join(package).join(name)
        }
        None => logs.join(name),
    };
    let mut files = matching_files(&folder, "{test.xml,shard_*/test.xml}")?;
    files.sort();
    let mut report = Report::default();
    for file in files {
        report.add(read_document(&file, junit::parse)?);
    }
    report.cases.append(&mut report.suite_problems);
    let tests = &mut report.cases;
    let path =
        format!("{}/{name}", package.trim_start_matches('/')).trim_start_matches('/').to_owned();
    let is_whole = matches!(tests.as_slice(), [one] if one.id == path || one.id == name);
    let any_failed = tests.iter().any(|one| one.status == Some(Status::Failed));
    let is_empty = tests.is_empty();
    if is_empty || is_whole || any_failed != (status == Status::Failed) {
        let mut whole =
            tests.drain(..).find(|one| one.status == Some(Status::Failed)).unwrap_or_default();
        target.clone_into(&mut whole.id);
        // The cases take the place of their target when it fails no longer besides them.
        let hides_cases = !is_whole && !is_empty && status == Status::Failed;
        whole.kind = if hides_cases { CaseKind::Unloaded } else { CaseKind::Test };
        whole.status = Some(status);
        if status == Status::Failed {
            let log = read_text(&folder.join("test.log"))?;
            let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
            let last = lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join("\n");
            whole.message = if last.is_empty() { whole.message } else { last };
            whole.stack = log;
        }
        return Ok(Report { cases: vec![whole], ..report });
    }
    for test in tests {
        test.id = format!("{target}{INNER}{}", test.id);
    }
    Ok(report)
}

/// A target that does not build, with the first error of the log.
fn not_built(target: &str, log: &str) -> ReportedTest {
    let error = log.lines().find(|line| line.contains(": error: ") || line.starts_with("ERROR: "));
    let error = error.unwrap_or_default();
    ReportedTest {
        id: target.to_owned(),
        kind: CaseKind::Prerequisite,
        status: Some(Status::Failed),
        class: "does not build".to_owned(),
        message: error.to_owned(),
        stack: error.to_owned(),
        ..ReportedTest::default()
    }
}
