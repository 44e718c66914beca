//! Jest and its JSON report.

use crate::domain::framework::Framework;
use crate::domain::id::TestId;
use crate::effect::RunError;

use super::super::format::{ParsedReport, jest};
use super::adapter::{
    CoverageCommand, FrameworkAdapter, PersistentRunner, RunArtifacts, RunCommand, Site, heads,
    words,
};

/// The row of Jest.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Jest,
    format: "JSON report",
    signals: "jest in package.json, jest.config.*",
    is_run_by: |command| command.split_whitespace().any(|word| word == "jest"),
    detect: |site| detect(site, "jest"),
    version: |_| words(&["npx", "--no-install", "jest", "--version"]),
    install: "npm install --save-dev jest",
    command: |site, selection, files| {
        let mut argv = start(site, "jest");
        argv.extend(words(&["--json", "--testLocationInResults"]));
        argv.push(format!("--outputFile={}", files.results.display()));
        if selection.is_some() {
            argv.push("--runTestsByPath".into());
        }
        argv.extend(selected_files(site, selection));
        RunCommand::new(argv, "npx jest")
    },
    read: |artifacts| read(artifacts, jest::Writer::Jest),
    coverage: |request| {
        let mut argv = words(&["npx", "--no-install", "jest", "--coverage"]);
        argv.extend(words(&["--coverageReporters=json", "--silent"]));
        argv.push(format!("--coverageDirectory={}", request.output.display()));
        let report = request.output.join("coverage-final.json");
        Ok(CoverageCommand::new("npx jest --coverage", argv, report))
    },
    persistent: Some(PersistentRunner::Jest),
};

/// Whether a JavaScript framework is configured or depended upon.
pub fn detect(site: &Site, name: &str) -> Option<String> {
    for ending in ["js", "cjs", "mjs", "ts", "mts", "json"] {
        let file = format!("{name}.config.{ending}");
        if site.has(&file) {
            return Some(file);
        }
    }
    let script = site.test_script().unwrap_or_default();
    if script.split_whitespace().any(|word| word == name) {
        return Some(format!("`{script}` in package.json"));
    }
    site.depends_on(name).then(|| format!("{name} in package.json"))
}

/// The program itself where it is installed, so that nothing is fetched.
pub fn start(site: &Site, name: &str) -> Vec<String> {
    let local = site.folder().join("node_modules/.bin").join(name);
    if local.exists() {
        vec![local.display().to_string()]
    } else {
        vec!["npx".into(), "--no-install".into(), name.to_owned()]
    }
}

/// Test files of the selected tests, relative to the suite's folder.
pub fn selected_files(site: &Site, selection: Option<&[TestId]>) -> Vec<String> {
    let below = format!("{}/", site.directory);
    let files = heads(selection.unwrap_or_default(), "::").into_iter();
    files.map(|file| file.strip_prefix(below.as_str()).unwrap_or(file).to_owned()).collect()
}

/// Reads the report of Jest or Vitest.
pub fn read(artifacts: &RunArtifacts<'_>, writer: jest::Writer) -> Result<ParsedReport, RunError> {
    let text = artifacts.results_text()?;
    if text.is_empty() {
        return Ok(ParsedReport::default());
    }
    let tests = jest::parse(&text, writer).map_err(|error| error.in_report(artifacts.results))?;
    Ok(ParsedReport { tests, complete: true })
}
