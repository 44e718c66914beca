//! Maven Surefire, read from its JUnit XML reports.

use crate::domain::framework::Framework;
use crate::domain::test::{CaseKind, Status};

use super::super::format::{ReportedTest, without_colours};
use super::adapter::{
    CoverageCommand, FrameworkAdapter, RunCommand, heads, read_text, with_build_failures, words,
};
use super::command::read_reports;

/// The report files of Surefire and Failsafe, in modules too.
const REPORTS: &str = "**/target/{surefire,failsafe}-reports/TEST-*.xml";

/// The table row for Maven.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Maven,
    format: "JUnit XML",
    signals: "pom.xml",
    is_run_by: |command| ["mvn", "mvnw"].iter().any(|name| command.after(&[name]).is_some()),
    detect: |site| site.has_path("pom.xml").then(|| "pom.xml".into()),
    detect_by_tests: |_| None,
    version: |_| words(&["mvn", "--version"]),
    install: |_| "install Maven, for example with `apt-get install maven`",
    command: |site, selection, _| {
        let mut command = site.typed("mvn -B test");
        command.extend(words(&["-Dmaven.test.failure.ignore=true", "-DtrimStackTrace=false"]));
        // A module that does not compile must not hide the results of the others.
        command.extend(["--fail-at-end".to_owned()]);
        let classes = selection.map(|ids| heads(ids, "::")).unwrap_or_default();
        // A goal that failed by itself runs again only with everything else.
        if !classes.is_empty() && !classes.iter().any(|class| class.contains(" @ ")) {
            command.extend([
                format!("-Dtest={}", classes.join(",")),
                "-Dsurefire.failIfNoSpecifiedTests=false".to_owned(),
            ]);
        }
        RunCommand { stale_reports: Some(REPORTS.into()), ..command.into_run() }
    },
    read: |artifacts| {
        let failures = build_failures(&read_text(artifacts.log)?);
        // Failing tests do not fail the command, so that it says nothing of what was tried again: Surefire
        // itself marks that.
        let report = read_reports(artifacts, REPORTS).map(|report| report.ended(false));
        with_build_failures(report, failures)
    },
    coverage: |request| {
        if !request.site.file_contains("pom.xml", "jacoco") {
            return Err("pom.xml has no jacoco-maven-plugin".into());
        }
        let argv =
            words(&["mvn", "-q", "-B", "-Dmaven.test.failure.ignore", "test", "jacoco:report"]);
        let (display, reports) = ("mvn test jacoco:report", "**/target/site/jacoco/jacoco.xml");
        Ok(CoverageCommand::with_reports(display, argv, request.site.working_folder(), reports))
    },
    persistent: None,
};

/// Failed goals, which leave no report, as `plugin:goal @ module`, nearly as Maven prints them.
fn build_failures(log: &str) -> Vec<ReportedTest> {
    let plain = without_colours(log);
    let failed = |line: &str| {
        let rest = line.strip_prefix("[ERROR] Failed to execute goal ")?;
        let (goal, rest) = rest.split_once(" on project ")?;
        let (module, why) = rest.split_once(": ")?;
        let mut parts = goal.split([':', ' ']).skip(1);
        let (plugin, name) = (parts.next()?, parts.nth(1)?);
        let plugin = plugin.trim_start_matches("maven-").trim_end_matches("-plugin");
        Some((format!("{plugin}:{name} @ {module}"), why.to_owned()))
    };
    let mut tests = Vec::new();
    let mut lines = plain.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((id, why)) = failed(line) else { continue };
        // What the compiler says of each place follows.
        let of_compiler =
            |line: &&str| line.starts_with("[ERROR] /") || line.starts_with("[ERROR]   ");
        let mut errors: Vec<&str> = Vec::new();
        while let Some(line) = lines.next_if(of_compiler) {
            errors.push(line);
        }
        let first = errors.first().and_then(|line| line.split_once("] ")?.1.split_once("] "));
        let message = first.map_or(why, |(_, message)| message.to_owned());
        let (kind, status) = (CaseKind::Prerequisite, Some(Status::Failed));
        let stack = errors.join("\n");
        tests.push(ReportedTest { id, kind, status, message, stack, ..ReportedTest::default() });
    }
    tests
}
