//! `cargo test`, read from the text output of Rust's test harness.

use std::collections::BTreeSet;

use crate::domain::framework::Framework;
use crate::domain::id::TestId;

use super::super::format::{Report, libtest, rustc};
use super::adapter::{
    CoverageCommand, FrameworkAdapter, PersistentRunner, TypedCommand, read_text, words,
};

/// The table row for `cargo test`.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::CargoTest,
    format: "libtest text",
    signals: "Cargo.toml",
    is_run_by: |command| command.after(&["cargo", "test"]).is_some(),
    detect: |site| site.has_path("Cargo.toml").then(|| "Cargo.toml".into()),
    detect_by_tests: |_| None,
    version: |_| words(&["cargo", "--version"]),
    install: |_| "install Rust from https://rustup.rs",
    command: |site, selection, _| {
        let mut command = site.typed("cargo test --no-fail-fast");
        // The report is what a quiet run leaves out.
        command.retain(|word| word != "-q" && word != "--quiet");
        if !command.has_word("--no-fail-fast") {
            command.insert(command.options_end(), ["--no-fail-fast".to_owned()]);
        }
        if let Some(ids) = selection {
            // Targets have other names there, or not all packages have them.
            let is_named = |section: &&str| site.file_contains("Cargo.toml", section);
            if !["[[test]]", "[workspace"].iter().any(is_named) {
                select_targets(&mut command, ids);
            }
            select(&mut command, ids);
        }
        command.into_run()
    },
    read: |artifacts| {
        let text = read_text(artifacts.log)?;
        let tests = libtest::parse(&text);
        if tests.is_empty()
            && let Some(failure) =
                rustc::compilation_failure(&text, |path| artifacts.site.has_path(path))
        {
            return Ok(Report::of(vec![failure]));
        }
        // A binary that crashed or exited early did not report the rest of its tests.
        let suite_problems = libtest::cut_binaries(&text);
        let complete = !tests.is_empty() || !suite_problems.is_empty();
        Ok(Report { suite_problems, complete, ..Report::of(tests) })
    },
    coverage: |request| {
        let mut argv = words(&["cargo", "llvm-cov", "--lcov", "--output-path"]);
        argv.push(request.output_path("report"));
        Ok(CoverageCommand::new("cargo llvm-cov --lcov", argv, request.output.join("report")))
    },
    persistent: Some(PersistentRunner::Cargo),
};

/// Builds the library's tests and the files of `tests/` with selected tests, if all are there.
fn select_targets(command: &mut TypedCommand, ids: &[TestId]) {
    let target_of = |id: &TestId| -> Option<Vec<String>> {
        let file = id.as_str().split("::").next()?.strip_suffix(".rs")?;
        let name = file.strip_prefix("tests/").or_else(|| Some(file.split_once("/tests/")?.1));
        match name.map(|name| name.strip_suffix("/main").unwrap_or(name)) {
            Some(name) if !name.contains('/') => Some(vec!["--test".into(), name.into()]),
            None if file == "src/lib" => Some(vec!["--lib".into()]),
            _ => None,
        }
    };
    let targets: Option<BTreeSet<Vec<String>>> = ids.iter().map(target_of).collect();
    let is_chosen = TARGETS.iter().any(|option| command.has_word(option));
    if let Some(targets) = targets.filter(|_| !is_chosen) {
        command.insert(command.options_end(), targets.into_iter().flatten());
    }
}

/// Options that choose which binaries of tests are built.
const TARGETS: &[&str] =
    &["--lib", "--bins", "--bin", "--test", "--tests", "--doc", "--all-targets", "--benches"];

/// Selects tests by exact name; binaries without such a test report nothing. For documentation
/// tests everything runs, because their names contain line numbers, and so it does after a failed
/// compilation, which is named like no test.
fn select(command: &mut TypedCommand, ids: &[TestId]) {
    let is_whole = |id: &TestId| id.as_str().starts_with("doc:") || !id.as_str().contains("::");
    if ids.iter().any(is_whole) {
        return;
    }
    if !command.has_word("--") {
        command.extend(["--".to_owned()]);
    }
    let name_of = |id: &'_ TestId| {
        id.as_str().split_once(".rs::").map_or(id.as_str(), |(_, name)| name).to_owned()
    };
    let names: BTreeSet<String> = ids.iter().map(name_of).collect();
    command.extend(["--exact".to_owned()]);
    command.extend(names);
}
