//! `cargo test`, read from the text output of Rust's test harness.

use std::collections::BTreeSet;

use crate::domain::framework::Framework;
use crate::domain::id::TestId;

use super::super::format::{Report, libtest, rustc};
use super::adapter::{CoverageCommand, FrameworkAdapter, TypedCommand, read_text, words};

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
    persistent: None,
};

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
