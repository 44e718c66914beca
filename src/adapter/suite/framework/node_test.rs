//! `node --test`, with a reporter of our own.

use std::path::{Path, PathBuf};

use crate::domain::framework::Framework;
use crate::domain::test_command::TestCommand;

use super::super::format::driver_lines;
use super::adapter::{
    CoverageCommand, CoverageRequest, FrameworkAdapter, PersistentRunner, RunCommand, Site,
    TypedCommand, read_text, shell_argv, words,
};
use super::jest::selected_files;
use super::npm_script::{self, ScriptCommand};

/// The table row for `node --test`.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::NodeTest,
    format: "JSON lines of a reporter",
    signals: "package.json with `node --test`, *.test.js",
    is_run_by: runs_node_tests,
    detect: |site| Some(script(site)?.evidence),
    detect_by_tests,
    version: |_| words(&["node", "--version"]),
    install: |_| "install Node.js 20 or later",
    command: |site, selection, files| {
        let reporter = files.drivers.join("node_reporter.mjs").display().to_string();
        let early_exit = files.drivers.join("early_exit.cjs").display().to_string();
        let node_tests = files.drivers.join("node_tests.cjs").display().to_string();
        let reporters = [
            format!("--require={early_exit}"),
            format!("--require={node_tests}"),
            format!("--test-reporter={reporter}"),
            "--test-reporter-destination=stderr".into(),
            "--test-reporter=spec".into(),
            "--test-reporter-destination=stdout".into(),
        ];
        let chosen = site.command.clone().or_else(|| Some(script(site)?.command));
        let Some(chosen) = chosen else {
            let chosen = selected_files(site, selection);
            let argv = [words(&["node", "--test"]), reporters.into(), chosen].concat();
            return RunCommand::new(argv, "node --test").with_reporter_files(site, None, files);
        };
        let mut command = TypedCommand::configured(&chosen);
        command.remove_options(&["--test-reporter", "--test-reporter-destination"]);
        let is_test = |word: &String| word == "--test";
        let start = command.words().iter().position(is_test).map_or(0, |at| at + 1);
        if selection.is_some() {
            // Node.js would run the files of the command besides.
            command.truncate_to_options(start);
        }
        command.insert(start, reporters);
        command.extend(selected_files(site, selection));
        command.into_run().with_reporter_files(site, None, files)
    },
    read: |artifacts| Ok(driver_lines::parse(&read_text(artifacts.results)?)),
    coverage: |request| Ok(coverage(request)),
    persistent: Some(PersistentRunner::Node),
};

/// c8 where the project has installed it and nobody has typed a command, else V8's own coverage.
fn coverage(request: &CoverageRequest<'_>) -> CoverageCommand {
    let site = request.site;
    if site.command.is_none() && site.has_path("node_modules/.bin/c8") {
        let argv = words(&[
            "node_modules/.bin/c8",
            "--all",
            "--reporter=json",
            &format!("--report-dir={}", request.output.display()),
            &format!("--temp-directory={}", request.output_path("tmp")),
            "node",
            "--test",
        ]);
        let report = request.output.join("coverage-final.json");
        return CoverageCommand::new("npx c8 --all node --test", argv, report);
    }
    let chosen = site.command.clone().or_else(|| Some(script(site)?.command));
    v8_coverage(request, &chosen.unwrap_or_else(|| TestCommand::new("node --test")))
}

/// V8's own coverage of a command.
pub fn v8_coverage(request: &CoverageRequest<'_>, command: &TestCommand) -> CoverageCommand {
    let (argv, folder) = (shell_argv(command.text()), request.output.join("v8"));
    let display = format!("NODE_V8_COVERAGE=… {}", command.text());
    let variable = ("NODE_V8_COVERAGE".to_owned(), request.output_path("v8"));
    CoverageCommand {
        environment: npm_script::search_path(request.site).into_iter().chain([variable]).collect(),
        ..CoverageCommand::with_reports(&display, argv, folder, "*.json")
    }
}

/// Whether a command runs tests of Node.js with reporters that can be replaced.
fn runs_node_tests(command: &TestCommand) -> bool {
    let words = command.words();
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let runs_script = |start: usize| words.get(start).is_none_or(|word| !word.starts_with('-'));
    let start = command.after(&["node"]);
    start.is_some_and(|start| !runs_script(start)) && has("--test")
}

fn script(site: &Site) -> Option<ScriptCommand> {
    npm_script::find(site, &runs_node_tests)
}

/// Test files that are looked at to see whose they are.
const FILES_SEEN: usize = 1000;

/// Whether a file lies in a package below the folder.
fn is_in_package(site: &Site, file: &Path) -> bool {
    let folders = file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    folders
        .into_iter()
        .any(|folder| site.working_folder().join(folder).join("package.json").is_file())
}

fn detect_by_tests(site: &Site) -> Option<String> {
    let text = site.test_script().unwrap_or_default();
    if ["uvu", "jasmine", "karma", "bun test"].iter().any(|name| text.contains(name)) {
        return None;
    }
    let is_test_file = |name: &str| {
        [".test.js", ".test.mjs", ".test.cjs", "-test.js", "_test.js"]
            .iter()
            .any(|end| name.ends_with(end))
            || ["test.js", "test.mjs", "test.cjs"].contains(&name)
    };
    // A package below whose script runs something else has tests of its own.
    let is_apart = |folder: &Path| {
        let below = Site::new(folder, "");
        below.test_script().is_some() && script(&below).is_none()
    };
    if !site.has_path("package.json") && site.has_file(&|name| name.ends_with(".py")) {
        return None;
    }
    let found = site.find_files(FILES_SEEN, &is_test_file, &is_apart);
    // `node --test` would run the files of those packages too, which need their own runners.
    let is_of_package = |file: &PathBuf| {
        file.strip_prefix(site.working_folder()).is_ok_and(|path| is_in_package(site, path))
    };
    if found.iter().all(is_of_package)
        && site.find_files(FILES_SEEN, &is_test_file, &|_| false).len() > found.len()
    {
        return None;
    }
    (!found.is_empty()).then(|| "files named *.test.js".into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a script lies in a real folder")]

    use super::super::adapter::RunFiles;
    use super::*;
    use crate::domain::id::TestId;

    #[test]
    fn the_words_of_a_script_reach_a_shell_as_they_are() {
        let reporters = "--require=/d/early_exit.cjs --require=/d/node_tests.cjs --test-reporter=/d/node_reporter.mjs --test-reporter-destination=stderr --test-reporter=spec --test-reporter-destination=stdout";
        let table: &[(&str, Option<&[TestId]>, &str, &str)] = &[
            ("node --test", None, "node --test", ""),
            ("node --test test/a.js && eslint .", None, "node --test", " test/a.js"),
            ("tsc && node --test dist/", None, "node --test", " dist/"),
            ("node --test 'test/**/*.js'", None, "node --test", " 'test/**/*.js'"),
            ("node --import tsx --test test/*.ts", None, "node --import tsx --test", " test/*.ts"),
            ("CI=1 node --test-reporter=tap --test", None, "CI=1 node --test", ""),
            ("node --test --test-reporter dot", None, "node --test", ""),
            (
                "node --import tsx --test --test-timeout=9 test/*.ts",
                Some(&[]),
                "node --import tsx --test",
                " --test-timeout=9",
            ),
        ];
        for (script, selection, start, end) in table {
            let folder = tempfile::tempdir().unwrap();
            let package = serde_json::json!({ "scripts": { "test": script } });
            std::fs::write(folder.path().join("package.json"), package.to_string()).unwrap();
            let site = Site::new(folder.path(), "");
            let files =
                RunFiles { drivers: "/d".into(), results: "/r".into(), selection: "/s".into() };
            let run = (ADAPTER.command)(&site, *selection, &files);
            assert_eq!(run.argv[..2], ["sh", "-c"], "{script}");
            assert_eq!(run.argv[2], format!("{start} {reporters}{end}"), "{script}");
            assert!(script.contains(&run.display) && !run.display.contains("&&"), "{script}");
        }
    }
}
