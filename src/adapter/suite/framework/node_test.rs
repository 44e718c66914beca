//! `node --test`, with a reporter of our own.

use crate::domain::framework::Framework;
use crate::domain::shell;

use super::super::format::driver_lines;
use super::adapter::{
    CoverageCommand, CoverageRequest, FrameworkAdapter, PersistentRunner, RunCommand, Site,
    read_text, words,
};
use super::jest::selected_files;

/// The table row for `node --test`.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::NodeTest,
    format: "JSON lines of a reporter",
    signals: "package.json with `node --test`, *.test.js",
    is_run_by: runs_node_tests,
    detect,
    version: |_| words(&["node", "--version"]),
    install: "install Node.js 20 or later",
    command: |site, selection, files| {
        let reporter = files.drivers.join("node_reporter.mjs").display().to_string();
        let mut argv: Vec<String> = vec![
            "node".into(),
            "--test".into(),
            format!("--test-reporter={reporter}"),
            format!("--test-reporter-destination={}", files.results.display()),
            "--test-reporter=spec".into(),
            "--test-reporter-destination=stdout".into(),
        ];
        let script = site.command.clone().or_else(|| site.test_script());
        let script = script.filter(|text| runs_node_tests(text));
        let typed = script.clone().unwrap_or_else(|| "node --test".into());
        if selection.is_some() {
            argv.extend(selected_files(site, selection));
        } else {
            argv = whole(argv, &typed);
        }
        RunCommand::new(argv, typed)
    },
    read: |artifacts| Ok(driver_lines::parse(&read_text(artifacts.results)?)),
    coverage: |request| Ok(coverage(request)),
    persistent: Some(PersistentRunner::Node),
};

/// c8 where the project has installed it, else V8's own coverage.
fn coverage(request: &CoverageRequest<'_>) -> CoverageCommand {
    if request.site.has("node_modules/.bin/c8") {
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
    let (argv, folder) = (words(&["node", "--test"]), request.output.join("v8"));
    CoverageCommand {
        environment: [("NODE_V8_COVERAGE".to_owned(), request.output_path("v8"))].into(),
        ..CoverageCommand::with_reports("NODE_V8_COVERAGE=… node --test", argv, folder, "*.json")
    }
}

/// The arguments of a full run. A script with patterns runs in a shell, as with npm.
fn whole(argv: Vec<String>, script: &str) -> Vec<String> {
    let arguments = arguments(script);
    if !arguments.iter().any(|word| word.contains(['*', '?', '[', '{', '$', '~', '"', '\''])) {
        return [argv, arguments].concat();
    }
    let command = format!("exec {} {}", shell::line(&argv), arguments.join(" "));
    vec!["sh".into(), "-c".into(), command]
}

/// Files and flags that the project's script passes to `node --test`, without its reporters.
fn arguments(script: &str) -> Vec<String> {
    let Some((before, after)) = script.split_once("--test") else { return Vec::new() };
    let plain =
        |word: &&str| !word.starts_with("--test-reporter") && !["&&", ";", "|"].contains(word);
    let flags = before.split_whitespace().skip(1).map(str::to_owned);
    let files = after.split_whitespace().take_while(|word| *word != "&&" && *word != ";");
    flags.chain(files.filter(plain).map(str::to_owned)).collect()
}

fn runs_node_tests(command: &str) -> bool {
    command.contains("node ") && command.contains("--test")
}

fn detect(site: &Site) -> Option<String> {
    if let Some(script) = site.test_script() {
        if runs_node_tests(&script) {
            return Some(format!("`{script}` in package.json"));
        }
        let other = ["mocha", "ava", "tap", "jasmine", "karma"];
        if other.iter().any(|name| script.contains(name)) {
            return None;
        }
    }
    let is_test_file = |name: &str| {
        [".test.js", ".test.mjs", ".test.cjs", "-test.js", "_test.js"]
            .iter()
            .any(|end| name.ends_with(end))
            || ["test.js", "test.mjs", "test.cjs"].contains(&name)
    };
    (site.has("package.json") || !site.has_file(&|name| name.ends_with(".py")))
        .then(|| site.has_file(&is_test_file))
        .filter(|found| *found)
        .map(|_| "files named *.test.js".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_a_script_reach_a_shell_as_they_are() {
        let argv = || vec!["node".to_owned(), "--test".to_owned()];
        let table = [
            ("node --test", "node --test"),
            ("node --test test/a.js && echo", "node --test test/a.js"),
            ("node --test 'test/**/*.js'", "sh -c exec node --test 'test/**/*.js'"),
            (
                "node --no-warnings --test test/*.js",
                "sh -c exec node --test --no-warnings test/*.js",
            ),
        ];
        for (script, expected) in table {
            assert_eq!(whole(argv(), script).join(" "), expected, "{script}");
        }
    }
}
