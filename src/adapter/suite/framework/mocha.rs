//! Mocha, with a reporter of our own.

use crate::domain::framework::Framework;
use crate::domain::test_command::TestCommand;

use super::super::format::driver_lines;
use super::adapter::{FrameworkAdapter, Site, TypedCommand, read_text, words};
use super::node_test::v8_coverage;
use super::npm_script;

/// The table row for Mocha.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Mocha,
    format: "JSON lines of a reporter",
    signals: "mocha in package.json, .mocharc.*",
    is_run_by,
    detect: |site| {
        let settings = [
            ".mocharc.js",
            ".mocharc.cjs",
            ".mocharc.yaml",
            ".mocharc.yml",
            ".mocharc.json",
            ".mocharc.jsonc",
        ];
        let script = || Some(npm_script::find(site, &is_run_by)?.evidence);
        let file = || settings.into_iter().find(|file| site.has_path(file)).map(str::to_owned);
        let listed = || site.depends_on("mocha").then(|| "mocha in package.json".into());
        script().or_else(file).or_else(listed)
    },
    detect_by_tests: |_| None,
    version: |_| words(&["npx", "--no-install", "mocha", "--version"]),
    install: |site| super::jest::install_hint(site, "mocha", "npm install --save-dev mocha"),
    command: |site, selection, files| {
        let mut command = TypedCommand::configured(&chosen(site));
        let reporter = files.drivers.join("mocha_reporter.cjs").display().to_string();
        // Some versions take only one.
        command.remove_options(&["--reporter", "-R"]);
        command.insert(command.options_end(), ["--reporter".to_owned(), reporter]);
        let mut run = command.into_run().with_reporter_files(site, selection, files);
        run.environment.extend(npm_script::search_path(site));
        run
    },
    read: |artifacts| Ok(driver_lines::parse(&read_text(artifacts.results)?)),
    coverage: |request| Ok(v8_coverage(request, &chosen(request.site))),
    persistent: None,
};

fn is_run_by(command: &TestCommand) -> bool {
    command.after(&["mocha"]).is_some()
}

fn chosen(site: &Site) -> TestCommand {
    let script = || Some(npm_script::find(site, &is_run_by)?.command);
    let command = site.command.clone().or_else(script);
    command.unwrap_or_else(|| TestCommand::new("npx --no-install mocha"))
}
