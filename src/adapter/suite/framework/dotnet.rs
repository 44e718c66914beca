//! `dotnet test`, read from its TRX reports.

use crate::domain::framework::Framework;
use crate::domain::id::TestId;
use crate::domain::test::{CaseKind, Status};

use super::super::format::{Report, ReportedTest, trx};
use super::adapter::{
    FrameworkAdapter, RunArtifacts, RunCommand, Site, read_document, read_text,
    with_build_failures, words,
};
use super::command::{matching_files, with_names_of_their_own};
use crate::effect::RunError;

/// The report files, one for each project and target.
const REPORTS: &str = "**/TestResults/**/*.trx";

/// The table row for .NET.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Dotnet,
    format: "TRX",
    signals: "*.sln, *.slnx, a project file with Microsoft.NET.Test.Sdk",
    is_run_by: |command| command.after(&["dotnet", "test"]).is_some(),
    detect,
    detect_by_tests: |_| None,
    version: |_| words(&["dotnet", "--version"]),
    install: |_| "install the .NET SDK from https://dotnet.microsoft.com",
    command: |site, selection, _| {
        let mut command = site.typed("dotnet test");
        let mut options = words(&["--logger", "trx"]);
        // Reports of several target frameworks are told apart by their order.
        options.push("-p:TestTfmsInParallel=false".to_owned());
        options.extend(
            selection.and_then(filter).into_iter().flat_map(|one| ["--filter".to_owned(), one]),
        );
        command.insert(command.options_end(), options);
        let mut run = RunCommand { stale_reports: Some(REPORTS.into()), ..command.into_run() };
        for name in
            ["DOTNET_CLI_TELEMETRY_OPTOUT", "DOTNET_NOLOGO", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE"]
        {
            run.environment.insert(name.into(), "1".into());
        }
        run
    },
    read: |artifacts| {
        let failures = build_failures(&read_text(artifacts.log)?);
        with_build_failures(reports(artifacts), failures).map(with_names_of_their_own)
    },
    coverage: |_| {
        Err("regreen starts no coverage tool of .NET; configure `coverage.command`".into())
    },
    persistent: None,
};

/// A solution with a project of tests, or such a project itself.
fn detect(site: &Site) -> Option<String> {
    let is_project =
        |name: &str| [".csproj", ".fsproj", ".vbproj"].iter().any(|end| name.ends_with(end));
    let names_tests = |text: &String| {
        ["Microsoft.NET.Test.Sdk", "MSTest.Sdk", "xunit", "TUnit"]
            .iter()
            .any(|mark| text.contains(mark))
    };
    let is_test = |project: &std::path::PathBuf| {
        let path = project
            .strip_prefix(site.working_folder())
            .ok()
            .and_then(|path| site.read_small_text(path.to_str()?));
        path.as_ref().is_some_and(names_tests)
    };
    let projects = site.find_files(200, &is_project, &|_| false);
    let tests = projects.iter().find(|project| is_test(project))?;
    let own = std::fs::read_dir(site.working_folder()).ok()?.flatten();
    let mut own: Vec<String> =
        own.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    own.sort();
    let is_solution = |name: &&String| name.ends_with(".sln") || name.ends_with(".slnx");
    let name = tests.file_name()?.to_str()?.to_owned();
    own.iter().find(is_solution).cloned().or_else(|| own.contains(&name).then_some(name))
}

/// A filter of exactly these methods; all rows of one run together. `None` for what is no method.
fn filter(ids: &[TestId]) -> Option<String> {
    let one = |id: &TestId| {
        let name = id.as_str().split(['(', ' ']).next()?;
        let is_method =
            name.contains('.') && name.chars().all(|c| c.is_alphanumeric() || "._+`".contains(c));
        is_method.then(|| format!("FullyQualifiedName={name}"))
    };
    let mut methods: Vec<String> = ids.iter().map(one).collect::<Option<_>>()?;
    methods.sort();
    methods.dedup();
    let filter = methods.join("|");
    (filter.len() < 60_000).then_some(filter)
}

fn reports(artifacts: &RunArtifacts<'_>) -> Result<Report, RunError> {
    let files = matching_files(&artifacts.site.working_folder(), REPORTS)?;
    if files.is_empty() {
        let (command, pattern) = (artifacts.command.to_owned(), REPORTS.to_owned());
        return Err(RunError::NoReportFile { command, pattern });
    }
    let mut report = Report::of(Vec::new());
    for file in files {
        report.add(read_document(&file, trx::parse)?);
    }
    Ok(report)
}

/// Projects that do not compile, which leave no report: one failing test for each, with its first error.
fn build_failures(log: &str) -> Vec<ReportedTest> {
    let mut tests: Vec<ReportedTest> = Vec::new();
    for line in log.lines() {
        let Some((place, rest)) = line.trim_start().split_once(": error ") else { continue };
        let Some((message, project)) = rest.rsplit_once(" [") else { continue };
        let Some((file, line)) = place.strip_suffix(')').and_then(|place| place.rsplit_once('('))
        else {
            continue;
        };
        let project = project.trim_end_matches(']').split("::").next().unwrap_or_default();
        let name = project.rsplit('/').next().unwrap_or(project);
        let id = format!("dotnet build {name}");
        let Ok(line) = line.split(',').next().unwrap_or_default().parse() else { continue };
        if tests.iter().any(|known| known.id == id) {
            continue;
        }
        tests.push(ReportedTest {
            id,
            kind: CaseKind::Prerequisite,
            status: Some(Status::Failed),
            file: Some(file.to_owned()),
            line: Some(line),
            class: "does not compile".to_owned(),
            message: message.to_owned(),
            stack: format!("   at build in {file}:line {line}"),
            ..ReportedTest::default()
        });
    }
    tests
}
