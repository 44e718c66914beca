//! Vitest and its JSON report.

use crate::domain::framework::Framework;

use super::super::format::jest::Writer;
use super::adapter::{
    CoverageCommand, CoverageRequest, FrameworkAdapter, PersistentRunner, RunCommand, words,
};
use super::jest::{detect, read, selected_files, start};

/// The row of Vitest.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Vitest,
    format: "JSON report",
    signals: "vitest in package.json, vitest.config.*",
    is_run_by: |command| command.split_whitespace().any(|word| word == "vitest"),
    detect: |site| detect(site, "vitest"),
    version: |_| words(&["npx", "--no-install", "vitest", "--version"]),
    install: "npm install --save-dev vitest",
    command: |site, selection, files| {
        let mut argv = start(site, "vitest");
        argv.extend(words(&["run", "--reporter=json", "--reporter=default"]));
        argv.push(format!("--outputFile.json={}", files.results.display()));
        argv.extend(selected_files(site, selection));
        RunCommand::new(argv, "npx vitest run")
    },
    read: |artifacts| read(artifacts, Writer::Vitest),
    coverage: |request| Ok(coverage(request)),
    persistent: Some(PersistentRunner::Vitest),
};

/// Vitest with the project's own coverage provider where one is installed, else with V8's counts of
/// the lines in its workers.
fn coverage(request: &CoverageRequest<'_>) -> CoverageCommand {
    let (site, output) = (request.site, request.output);
    let is_installed = |provider: &&str| {
        let name = format!("node_modules/@vitest/coverage-{provider}");
        site.has(&name) || site.root.join(name).exists()
    };
    let providers: Vec<&str> = ["v8", "istanbul"].into_iter().filter(is_installed).collect();
    let Some(first) = providers.first() else {
        let driver = request.drivers.join("warm_vitest.mjs").display().to_string();
        let root = request.root.canonicalize().unwrap_or_else(|_| request.root.to_owned());
        let (report, lines) =
            (request.output_path("report.json"), request.output_path("lines.info"));
        return CoverageCommand {
            environment: [
                ("REGREEN_LINES".to_owned(), request.output_path("lines")),
                ("REGREEN_ROOT".to_owned(), root.display().to_string()),
            ]
            .into(),
            ..CoverageCommand::new(
                "npx vitest run",
                vec!["node".to_owned(), driver, report, lines],
                output.join("lines.info"),
            )
        };
    };
    let mut argv = start(site, "vitest");
    argv.extend(words(&["run", "--coverage.enabled", "--coverage.reporter=json"]));
    argv.push("--coverage.reportOnFailure".to_owned());
    argv.push(format!("--coverage.reportsDirectory={}", output.display()));
    if providers.len() == 1 {
        // Vitest's default provider may not be installed.
        argv.push(format!("--coverage.provider={first}"));
    }
    CoverageCommand::new("npx vitest run --coverage", argv, output.join("coverage-final.json"))
}
