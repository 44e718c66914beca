//! CTest, read from its JUnit XML report, with the single cases of GoogleTest.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use crate::domain::framework::Framework;
use crate::domain::id::TestId;
use crate::domain::shell;
use crate::domain::test::{CaseKind, Status};
use crate::domain::test_command::TestCommand;

use super::super::format::{Report, ReportedTest, ctest};
use super::adapter::{
    FrameworkAdapter, RunArtifacts, RunCommand, RunFiles, Site, read_text, shell_argv, words,
};
use crate::effect::RunError;

/// The table row for CTest.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Ctest,
    format: "JUnit XML of CTest",
    signals: "CMakeLists.txt with enable_testing",
    is_run_by: |command| last_part(command).is_some(),
    detect: |site| {
        let marks = ["enable_testing", "include(CTest)", "include( CTest )", "INCLUDE(CTest)"];
        let text = site.read_small_text("CMakeLists.txt")?;
        let mark = marks
            .into_iter()
            .find(|mark| text.contains(mark) || text.contains(&mark.to_uppercase()))?;
        Some(format!("{} in CMakeLists.txt", mark.to_lowercase().replace("ctest", "CTest")))
    },
    detect_by_tests: |_| None,
    // Older ones write no JUnit XML.
    version: |_| {
        words(&["sh", "-c", "ctest --help | grep -q -e --output-junit && ctest --version"])
    },
    install: |_| "install CMake 3.21 or later, for example with `apt-get install cmake`",
    command,
    read,
    coverage: |_| {
        Err("the compiler measures coverage of C and C++; configure `coverage.command`".into())
    },
    persistent: None,
};

/// What a person types to configure, build and test.
const DISPLAY: &str = "cmake -S . -B build && cmake --build build && ctest --test-dir build";

/// Bytes of a pattern at most; the arguments of a program are limited.
const PATTERN: usize = 60_000;

/// Between the name that CTest knows and a case of GoogleTest in its output.
const INNER: &str = " > ";

/// The last part of a configured command, if it is `ctest`: more options can stand behind it.
fn last_part(command: &TestCommand) -> Option<TestCommand> {
    let last = command.parts().pop()?;
    last.after(&["ctest"]).is_some().then_some(last)
}

/// A build folder outside of the checkout, and so of commits; CMake ties it to the sources.
fn build_folder(site: &Site, files: &RunFiles) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    site.working_folder().hash(&mut hasher);
    files.results.with_file_name(format!("build-{:016x}", hasher.finish()))
}

fn command(site: &Site, selection: Option<&[TestId]>, files: &RunFiles) -> RunCommand {
    // Output is cut at 1 KiB otherwise, which hides cases of GoogleTest.
    let size = "100000000";
    let mut options = words(&["--output-on-failure", "--output-junit"]);
    options.push(files.results.display().to_string());
    options.extend(words(&["--test-output-size-passed", size, "--test-output-size-failed", size]));
    let ids = selection.unwrap_or_default();
    let is_build = |id: &TestId| id.as_str().starts_with(BUILD);
    if !ids.is_empty() && !ids.iter().any(is_build) {
        let names: BTreeSet<&str> =
            ids.iter().filter_map(|id| id.as_str().split(INNER).next()).collect();
        let names: Vec<String> = names.into_iter().map(escaped).collect();
        let pattern = format!("^({})$", names.join("|"));
        if pattern.len() < PATTERN {
            options.extend(["-R".to_owned(), pattern]);
        }
    }
    let options: Vec<String> = options.iter().map(|word| shell::word(word)).collect();
    let options = options.join(" ");
    let (line, display) = if let Some(command) = &site.command {
        (format!("{} {options}", command.text().trim_end()), command.text())
    } else {
        let build = shell::word(&build_folder(site, files).display().to_string());
        (format!("{} {options}", DISPLAY.replace(" build", &format!(" {build}"))), DISPLAY)
    };
    let mut run = RunCommand::new(shell_argv(&line), display);
    let inner: Option<Vec<&str>> =
        ids.iter().map(|id| id.as_str().split_once(INNER).map(|(_, case)| case)).collect();
    let filter = inner.map(|cases| cases.join(":"));
    // Linux passes no longer value on; without it more cases run than were asked for.
    if let Some(filter) = filter.filter(|text| (1..LONGEST_FILTER).contains(&text.len())) {
        run.environment.insert("GTEST_FILTER".into(), filter);
    }
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    run.environment.insert("CMAKE_BUILD_PARALLEL_LEVEL".into(), jobs.to_string());
    run
}

/// A name as a regular expression of CMake, which knows no braces.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if "^$.[]*+?()|\\".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// Bytes of a filter; Linux limits a variable to 128 KiB.
const LONGEST_FILTER: usize = 100 << 10;

/// The id of a build that failed.
const BUILD: &str = "cmake --build";

fn read(artifacts: &RunArtifacts<'_>) -> Result<Report, RunError> {
    let text = read_text(artifacts.results)?;
    if !text.is_empty() {
        let mut report = ctest::parse(&text).map_err(|error| error.in_report(artifacts.results))?;
        // A command that goes on after a failed build tests what was built before.
        let log = read_text(artifacts.log)?;
        if log.contains("ninja: build stopped") || log.contains("*** [") {
            report.cases.extend(build_failure(&log));
        }
        return Ok(report);
    }
    let failure = build_failure(&read_text(artifacts.log)?);
    Ok(Report { complete: failure.is_some(), ..Report::of(failure.into_iter().collect()) })
}

/// The first error of a compiler or linker in the log of a build.
fn build_failure(log: &str) -> Option<ReportedTest> {
    let lines: Vec<&str> = log.lines().collect();
    let at = lines
        .iter()
        .position(|line| line.contains(": error: ") || line.contains(": fatal error: "))?;
    let (place, message) = lines.get(at)?.split_once("error: ")?;
    let mut parts = place.trim_end_matches("fatal ").split(':');
    let (file, line) = (parts.next()?, parts.next()?.parse().ok()?);
    let errors = lines.iter().filter(|line| line.contains("error: ")).take(20);
    let stack: Vec<&str> = errors.copied().collect();
    Some(ReportedTest {
        id: BUILD.to_owned(),
        kind: CaseKind::Prerequisite,
        status: Some(Status::Failed),
        file: Some(file.to_owned()),
        line: Some(line),
        class: "does not compile".to_owned(),
        message: message.to_owned(),
        stack: stack.join("\n"),
        ..ReportedTest::default()
    })
}
