//! Gradle's `test` task, read from its JUnit XML reports.

use crate::domain::framework::Framework;
use crate::domain::test::{CaseKind, Status};

use super::super::format::ReportedTest;
use super::adapter::{
    CoverageCommand, FrameworkAdapter, RunCommand, Site, heads, read_text, with_build_failures,
    words,
};
use super::command::read_reports;

/// The report files of Gradle, in subprojects too.
const REPORTS: &str = "**/build/test-results/**/*.xml";

/// The table row for Gradle.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Gradle,
    format: "JUnit XML",
    signals: "build.gradle, build.gradle.kts",
    is_run_by: |command| ["gradle", "gradlew"].iter().any(|name| command.after(&[name]).is_some()),
    detect: |site| {
        let found = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
        found.iter().find(|file| site.has_path(file)).map(|file| (*file).to_owned())
    },
    detect_by_tests: |_| None,
    version: |site| vec![program(site), "--version".into()],
    install: |site| {
        if site.has_path("gradlew") {
            "run `./gradlew --version` to see why; the wrapper downloads Gradle where it is not cached"
        } else {
            "add the Gradle wrapper, or install Gradle"
        }
    },
    command: |site, selection, files| {
        let mut command = site.typed(&format!("{} test", program(site)));
        let script = files.drivers.join("gradle_init.gradle").display().to_string();
        command.extend(["--continue".to_owned(), "--init-script".to_owned(), script]);
        let classes = selection.map(|ids| heads(ids, "::")).unwrap_or_default();
        // A task that failed by itself runs again only with everything else.
        if !classes.iter().any(|class| class.starts_with(':')) {
            let filters = classes.iter().flat_map(|class| ["--tests".into(), (*class).to_owned()]);
            // Only a task that runs tests knows the option, which stands behind it.
            let is_test = |word: &String| {
                let task = word.rsplit(':').next().unwrap_or_default();
                task == "test" || task.ends_with("Test")
            };
            if let Some(at) = command.words().iter().rposition(is_test) {
                command.insert(at + 1, filters);
            }
        }
        RunCommand { stale_reports: Some(REPORTS.into()), ..command.into_run() }
    },
    read: |artifacts| {
        let failures = build_failures(&read_text(artifacts.log)?);
        with_build_failures(read_reports(artifacts, REPORTS), failures)
    },
    coverage: |request| {
        let site = request.site;
        if !["build.gradle", "build.gradle.kts"]
            .iter()
            .any(|file| site.file_contains(file, "jacoco"))
        {
            return Err("the build does not apply the jacoco plugin".into());
        }
        let argv = words(&["gradle", "-q", "--continue", "test", "jacocoTestReport"]);
        let reports = "**/build/reports/jacoco/**/*.xml";
        let display = "gradle test jacocoTestReport";
        Ok(CoverageCommand::with_reports(display, argv, site.working_folder(), reports))
    },
    persistent: None,
};

/// Tasks that failed themselves, such as compilation, which leave no report; ids are names.
fn build_failures(log: &str) -> Vec<ReportedTest> {
    let mut tests: Vec<ReportedTest> = Vec::new();
    let mut lines = log.lines();
    while let Some(line) = lines.next() {
        let task = line.strip_prefix("Execution failed for task '");
        let Some(task) = task.and_then(|rest| rest.split('\'').next()) else { continue };
        let why = lines.next().unwrap_or_default().trim_start_matches("> ");
        let started = |line: &&str| line.trim_start_matches("> Task ").starts_with(task);
        let of_task: Vec<&str> = log.lines().skip_while(|line| !started(line)).take(20).collect();
        let error = of_task.iter().find_map(|line| line.split_once(": error: "));
        tests.push(ReportedTest {
            id: task.to_owned(),
            kind: CaseKind::Prerequisite,
            status: Some(Status::Failed),
            message: error.map_or(why, |(_, message)| message).to_owned(),
            stack: of_task.join("\n"),
            ..ReportedTest::default()
        });
    }
    tests
}

fn program(site: &Site) -> String {
    if site.has_path("gradlew") { "./gradlew".into() } else { "gradle".into() }
}
