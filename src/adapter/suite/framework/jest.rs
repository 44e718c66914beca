//! Jest and its JSON report.

use super::super::format::jest;
use super::{Framework, Left, Plan, Read, Site, heads};
use crate::domain::id::TestId;
use crate::effect::RunError;

/// The row.
pub const FRAMEWORK: Framework = Framework {
    name: "Jest",
    format: "JSON report",
    signals: "jest in package.json, jest.config.*",
    detect: |site| detect(site, "jest"),
    version: |_| vec!["npx".into(), "--no-install".into(), "jest".into(), "--version".into()],
    install: "npm install --save-dev jest",
    plan: |site, chosen, scratch| {
        let cases = scratch.cases.display();
        let mut argv = start(site, "jest");
        argv.extend([
            "--json".into(),
            format!("--outputFile={cases}"),
            "--testLocationInResults".into(),
        ]);
        if chosen.is_some() {
            argv.push("--runTestsByPath".into());
        }
        argv.extend(files(site, chosen));
        Plan { argv, typed: Some("npx jest".into()), ..Plan::default() }
    },
    read: |left| read(left, jest::Writer::Jest),
};

/// Whether a JavaScript framework is configured or depended upon.
pub fn detect(site: &Site, name: &str) -> Option<String> {
    if let Some(command) = &site.command {
        let named = command.split_whitespace().any(|word| word == name);
        return named.then(|| format!("the command `{command}`"));
    }
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

/// Test files of the chosen tests, relative to the suite's folder.
pub fn files(site: &Site, chosen: Option<&[TestId]>) -> Vec<String> {
    let below = format!("{}/", site.directory);
    let files = chosen.map(|ids| heads(ids, "::")).unwrap_or_default();
    files
        .into_iter()
        .map(|file| file.strip_prefix(below.as_str()).unwrap_or(file).to_owned())
        .collect()
}

/// Reads the report of Jest or Vitest.
pub fn read(left: &Left<'_>, writer: jest::Writer) -> Result<Read, RunError> {
    let text = left.cases_text()?;
    if text.is_empty() {
        return Ok(Read::default());
    }
    let told = jest::parse(&text, writer).map_err(|error| RunError::BadReport {
        report: left.cases.to_owned(),
        line: error.line,
        expected: error.expected,
    })?;
    Ok(Read { told, complete: true })
}
