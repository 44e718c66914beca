//! `go test -json`: its row in the framework table, and how tests are selected.

use crate::domain::framework::Framework;
use crate::domain::id::TestId;
use crate::domain::test_command::TestCommand;

use super::super::format::{Report, gotest};
use super::adapter::{CoverageCommand, FrameworkAdapter, PersistentRunner, Site, read_text, words};

/// The table row for `go test`.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::GoTest,
    format: "go test -json",
    signals: "go.mod",
    is_run_by: |command| command.after(&["go", "test"]).is_some(),
    detect: |site| site.has_path("go.mod").then(|| "go.mod".into()),
    detect_by_tests: |_| None,
    version: |_| words(&["go", "version"]),
    install: |_| "install Go from https://go.dev/dl",
    command: |site, selection, _| {
        let mut command = site.typed("go test ./...");
        let after = |command: &TestCommand| command.after(&["go", "test"]);
        let start = site.command.as_ref().and_then(after).unwrap_or(2);
        // Go takes the folder only as the very first option.
        let has_folder = command.words().get(start).is_some_and(|word| word == "-C");
        let start = if has_folder { start + 2 } else { start };
        if !command.has_word("-json") {
            command.insert(start, ["-json".to_owned()]);
        }
        if let Some(ids) = selection {
            // Each of the chosen tests has to run, in an order that is the same for all candidates.
            let is_kept = |word: &str| word != "-failfast" && !word.starts_with("-shuffle=");
            command.retain(|word| word != "./..." && is_kept(word));
            let end = command.words().iter().position(|word| word.ends_with("-args"));
            command.insert(end.unwrap_or(command.words().len()), select(site, ids));
        }
        command.into_run()
    },
    read: |artifacts| {
        let tests = gotest::parse(&read_text(artifacts.log)?, &go_module(artifacts.site));
        let complete = !tests.is_empty();
        Ok(Report { complete, ..Report::of(tests) })
    },
    coverage: |request| {
        let mut argv = words(&["go", "test", "-coverpkg=./...", "-coverprofile"]);
        argv.extend([request.output_path("report"), "./...".into()]);
        let display = "go test -coverpkg=./... -coverprofile=cover.out ./...";
        Ok(CoverageCommand::new(display, argv, request.output.join("report")))
    },
    persistent: Some(PersistentRunner::Go),
};

/// The module path in `go.mod`; empty when it is unknown.
pub fn go_module(site: &Site) -> String {
    let text = site.read_small_text("go.mod").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("module "));
    name.unwrap_or_default().trim().to_owned()
}

/// The package of a test and its top-level name, which is empty for a whole package.
pub fn go_test_name(id: &TestId) -> (&str, &str) {
    let starts = [".Test", ".Example", ".Fuzz"].iter();
    let dot = starts.filter_map(|start| id.as_str().find(start)).min();
    let Some((package, name)) = dot.map(|dot| id.as_str().split_at(dot)) else {
        return (id.as_str(), "");
    };
    (package, name.trim_start_matches('.').split('/').next().unwrap_or_default())
}

/// `-run` with top-level tests and their packages; a package alone selects all of its tests.
fn select(site: &Site, ids: &[TestId]) -> Vec<String> {
    let module = go_module(site);
    let mut names: Vec<String> = Vec::new();
    let mut packages: Vec<String> = Vec::new();
    let mut whole = false;
    for id in ids {
        let (package, name) = go_test_name(id);
        whole |= name.is_empty();
        if !names.iter().any(|known| known == name) && !name.is_empty() {
            names.push(name.to_owned());
        }
        let package = package
            .strip_prefix(&module)
            .map_or_else(|| package.to_owned(), |rest| format!(".{rest}"));
        if !packages.contains(&package) {
            packages.push(package);
        }
    }
    let mut argv = Vec::new();
    if !whole {
        argv.push("-run".to_owned());
        argv.push(format!("^({})$", names.join("|")));
    }
    argv.extend(packages);
    argv
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_belongs_to_its_package_also_as_a_seed_of_a_fuzz_target() {
        let table = [
            ("example.com/a.TestB/c.TestD", ("example.com/a", "TestB")),
            ("example.com/a.ExampleB", ("example.com/a", "ExampleB")),
            ("example.com/a.FuzzB/seed#0", ("example.com/a", "FuzzB")),
            ("example.com/a", ("example.com/a", "")),
        ];
        for (id, expected) in table {
            assert_eq!(go_test_name(&id.into()), expected, "{id}");
        }
    }
}
