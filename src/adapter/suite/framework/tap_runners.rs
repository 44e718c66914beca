//! AVA, node-tap and tape, whose output is read as TAP. A single test cannot be chosen by the name that
//! it has there, so that every run is one of the whole suite.

use crate::domain::framework::Framework;
use crate::domain::test_command::TestCommand;
use crate::effect::RunError;

use super::super::format::{Report, tap};
use super::adapter::{
    FrameworkAdapter, RunArtifacts, RunCommand, Site, TypedCommand, read_text, words,
};
use super::command::with_names_of_their_own;
use super::jest::install_hint;
use super::node_test::v8_coverage;
use super::npm_script::{self, ScriptCommand};

/// The table row for AVA.
pub const AVA: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Ava,
    format: "TAP",
    signals: "ava in package.json",
    is_run_by: |command| runs(command, "ava"),
    detect: |site| detect(site, "ava"),
    detect_by_tests: |_| None,
    version: |_| words(&["npx", "--no-install", "ava", "--version"]),
    install: |site| install_hint(site, "ava", "npm install --save-dev ava"),
    command: |site, _, files| {
        let mut run = run(site, "ava", "", &["--tap"]);
        let part = files.drivers.join("ava_cache.cjs").display().to_string();
        run.environment.insert("NODE_OPTIONS".into(), format!("--require \"{part}\""));
        run
    },
    read: |artifacts| read(artifacts, tap::parse),
    coverage: |request| Ok(v8_coverage(request, &chosen(request.site, "ava", ""))),
    persistent: None,
};

/// The table row for node-tap.
pub const NODE_TAP: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::NodeTap,
    format: "TAP",
    signals: "tap in package.json",
    is_run_by: |command| runs(command, "tap"),
    detect: |site| detect(site, "tap"),
    detect_by_tests: |_| None,
    version: |_| words(&["npx", "--no-install", "tap", "--version"]),
    install: |site| install_hint(site, "tap", "npm install --save-dev tap"),
    command: |site, _, _| run(site, "tap", "", &["--reporter=tap"]),
    read: |artifacts| read(artifacts, tap::parse_leaves),
    coverage: |request| Ok(v8_coverage(request, &chosen(request.site, "tap", ""))),
    persistent: None,
};

/// The table row for tape.
pub const TAPE: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Tape,
    format: "TAP",
    signals: "tape in package.json",
    is_run_by: |command| runs(command, "tape"),
    detect: |site| detect(site, "tape"),
    detect_by_tests: |_| None,
    // tape prints no version.
    version: |_| words(&["node", "-p", "require('tape/package.json').version"]),
    install: |site| install_hint(site, "tape", "npm install --save-dev tape"),
    command: |site, _, _| run(site, "tape", TAPE_FILES, &[]),
    read: |artifacts| read(artifacts, |output| tap::parse(&tap::with_titles(output))),
    coverage: |request| Ok(v8_coverage(request, &chosen(request.site, "tape", TAPE_FILES))),
    persistent: None,
};

/// The files that tape is given where no script names any.
const TAPE_FILES: &str = " 'test/**/*.js'";

fn runs(command: &TestCommand, name: &str) -> bool {
    command.after(&[name]).is_some()
}

/// The part of the test script that starts the runner, or Node.js with a file that uses it.
fn script(site: &Site, name: &str) -> Option<ScriptCommand> {
    let is_listed = site.depends_on(name);
    let starts_file = |command: &TestCommand| {
        let file = command.after(&["node"]).and_then(|at| command.words().get(at));
        is_listed && file.is_some_and(|word| !word.starts_with('-'))
    };
    npm_script::find(site, &|command| runs(command, name) || starts_file(command))
}

fn detect(site: &Site, name: &str) -> Option<String> {
    let script = script(site, name);
    let listed = || site.depends_on(name).then(|| format!("{name} in package.json"));
    script.map(|found| found.evidence).or_else(listed)
}

/// The configured command, else that of the test script, else the program with these arguments.
fn chosen(site: &Site, name: &str, arguments: &str) -> TestCommand {
    let command = site.command.clone().or_else(|| Some(script(site, name)?.command));
    command.unwrap_or_else(|| TestCommand::new(&format!("npx --no-install {name}{arguments}")))
}

fn run(site: &Site, name: &str, arguments: &str, options: &[&str]) -> RunCommand {
    let chosen = chosen(site, name, arguments);
    let mut command = TypedCommand::configured(&chosen);
    let at = chosen.after(&[name]);
    // Another reporter would print something else.
    command.retain(|word| !word.starts_with("--reporter="));
    let missing = options.iter().filter(|option| !command.has_word(option));
    let missing: Vec<String> = missing.map(|option| (*option).to_owned()).collect();
    // A file that Node.js starts prints TAP by itself.
    if let Some(at) = at {
        command.insert(at, missing);
    }
    let mut run = command.into_run();
    run.environment.extend(npm_script::search_path(site));
    run
}

fn read(
    artifacts: &RunArtifacts<'_>,
    parse: impl Fn(&str) -> Vec<super::super::format::ReportedTest>,
) -> Result<Report, RunError> {
    let output = read_text(artifacts.log)?;
    let report = tap::report_of(&output, parse(&output)).unwrap_or_default();
    Ok(with_names_of_their_own(report))
}
