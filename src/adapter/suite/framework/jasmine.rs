//! Jasmine, with a reporter of our own.

use crate::domain::framework::Framework;
use crate::domain::test_command::TestCommand;

use super::super::format::driver_lines;
use super::adapter::{FrameworkAdapter, Site, TypedCommand, read_text, words};
use super::node_test::v8_coverage;
use super::npm_script;

/// The table row for Jasmine.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Jasmine,
    format: "JSON lines of a reporter",
    signals: "jasmine in package.json, spec/support/jasmine.*",
    is_run_by,
    detect: |site| {
        // In a browser Karma runs it.
        if site.depends_on("karma") {
            return None;
        }
        let settings =
            ["spec/support/jasmine.json", "spec/support/jasmine.mjs", "spec/support/jasmine.js"];
        let script = || Some(npm_script::find(site, &is_run_by)?.evidence);
        let file = || settings.into_iter().find(|file| site.has_path(file)).map(str::to_owned);
        let listed = || site.depends_on("jasmine").then(|| "jasmine in package.json".into());
        script().or_else(file).or_else(listed)
    },
    detect_by_tests: |_| None,
    version: |_| words(&["npx", "--no-install", "jasmine", "version"]),
    install: |site| super::jest::install_hint(site, "jasmine", "npm install --save-dev jasmine"),
    command: |site, selection, files| {
        let mut command = TypedCommand::configured(&chosen(site));
        // Only one reporter is possible, and after a first failure nothing would run.
        command.retain(|word| !word.starts_with("--reporter=") && !word.starts_with("--fail-fast"));
        let reporter = files.drivers.join("jasmine_reporter.cjs").display().to_string();
        command.insert(command.options_end(), [format!("--reporter={reporter}")]);
        let mut run = command.into_run().with_reporter_files(site, selection, files);
        run.environment.extend(npm_script::search_path(site));
        run
    },
    read: |artifacts| Ok(driver_lines::parse(&read_text(artifacts.results)?)),
    coverage: |request| Ok(v8_coverage(request, &chosen(request.site))),
    persistent: None,
};

fn is_run_by(command: &TestCommand) -> bool {
    command.after(&["jasmine"]).is_some()
}

fn chosen(site: &Site) -> TestCommand {
    let script = || Some(npm_script::find(site, &is_run_by)?.command);
    let command = site.command.clone().or_else(script);
    command.unwrap_or_else(|| TestCommand::new("npx --no-install jasmine"))
}
