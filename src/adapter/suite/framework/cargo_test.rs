//! `cargo test`, read from the text output of Rust's test harness.

use crate::domain::framework::Framework;
use crate::domain::id::TestId;

use super::super::format::{ParsedReport, libtest};
use super::adapter::{CoverageCommand, FrameworkAdapter, RunCommand, read_text, words};

/// The table row for `cargo test`.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::CargoTest,
    format: "libtest text",
    signals: "Cargo.toml",
    is_run_by: |command| command.starts_with("cargo test"),
    detect: |site| site.has("Cargo.toml").then(|| "Cargo.toml".into()),
    version: |_| words(&["cargo", "--version"]),
    install: "install Rust from https://rustup.rs",
    command: |site, selection, _| {
        let (typed, mut argv) = site.typed("cargo test --no-fail-fast");
        if !argv.iter().any(|word| word == "--no-fail-fast") {
            let end = argv.iter().position(|word| word == "--").unwrap_or(argv.len());
            argv.insert(end, "--no-fail-fast".into());
        }
        if let Some(ids) = selection {
            select(&mut argv, ids);
        }
        RunCommand::new(argv, typed)
    },
    read: |artifacts| {
        let text = read_text(artifacts.log)?;
        let tests = libtest::parse(&text);
        // A binary that crashed or exited early did not report the rest of its tests.
        let died = text.contains("(signal: ") || libtest::ended_early(&text);
        let complete = !tests.is_empty() && !died;
        Ok(ParsedReport { tests, complete })
    },
    coverage: |request| {
        let mut argv = words(&["cargo", "llvm-cov", "--lcov", "--output-path"]);
        argv.push(request.output_path("report"));
        Ok(CoverageCommand::new("cargo llvm-cov --lcov", argv, request.output.join("report")))
    },
    persistent: None,
};

/// Selects tests by exact name; binaries without such a test report nothing. For documentation
/// tests everything runs, because their names contain line numbers.
fn select(argv: &mut Vec<String>, ids: &[TestId]) {
    if ids.iter().any(|id| id.as_str().starts_with("doc:")) {
        return;
    }
    argv.extend(words(&["--", "--exact"]));
    for id in ids {
        let name = id.as_str().split_once(".rs::").map_or(id.as_str(), |(_, name)| name);
        if !argv.iter().any(|word| word == name) {
            argv.push(name.to_owned());
        }
    }
}
