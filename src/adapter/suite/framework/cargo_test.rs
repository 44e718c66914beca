//! `cargo test`, read from the text output of Rust's test harness.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::pattern::Pattern;
use crate::domain::framework::Framework;
use crate::domain::id::{TestId, in_folder};

use super::super::format::{Report, libtest, rustc};
use super::adapter::{
    CoverageCommand, FrameworkAdapter, PersistentRunner, TypedCommand, read_text, words,
};
use super::site::Site;

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
        let has_file = |path: &str| artifacts.site.has_path(path);
        let folders = crate_folders(artifacts.site);
        let text = name_crates(&read_text(artifacts.log)?, &folders, &has_file);
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

/// Manifests that are read of one workspace.
const MANIFESTS: usize = 300;

/// The folders of the crates of a workspace below its own, by the names of the crates.
pub fn crate_folders(site: &Site) -> BTreeMap<String, String> {
    if !site.file_contains("Cargo.toml", "[workspace") {
        return BTreeMap::new();
    }
    let root = site.working_folder();
    let manifests = site.find_files(MANIFESTS, &|name| name == "Cargo.toml", &|_| false);
    let named = manifests.iter().filter_map(|path| {
        let folder = path.parent()?.strip_prefix(&root).ok()?.to_str()?.to_owned();
        let text = site.read_small_text(&format!("{folder}/Cargo.toml"))?;
        let package = text.split("[package]").nth(1)?.split("\n[").next()?;
        let name = package.lines().find_map(|line| {
            let value = line.trim().strip_prefix("name")?.trim_start().strip_prefix('=')?;
            value.trim().strip_prefix('"')?.split('"').next()
        })?;
        (!folder.is_empty()).then(|| (name.replace('-', "_"), folder))
    });
    named.collect()
}

/// The output of cargo with the folder of the crate before the source of each binary: cargo names that from the folder
/// of its package, so that two crates have the same. Of several with a file of tests, the crate is meant whose unit tests
/// ran last.
fn name_crates(
    text: &str,
    folders: &BTreeMap<String, String>,
    has_file: &dyn Fn(&str) -> bool,
) -> String {
    static HEADING: Pattern = Pattern::new(
        r"(?m)Running (unittests )?(\S+) \((?:\S*/)?([^/\s()]+)-[0-9a-f]+(?:\.exe)?\)",
    );
    let (mut named, mut copied, mut last) = (String::new(), 0, "");
    for found in HEADING.captures(text) {
        let (Some(source), Some(name)) = (found.get(2), found.get(3)) else { continue };
        let folder = if found.get(1).is_some() {
            last = folders.get(name.as_str()).map_or("", String::as_str);
            last
        } else {
            let all = folders.values().map(String::as_str).chain([""]);
            let owns = |folder: &&str| has_file(&in_folder(folder, source.as_str()));
            let owners: Vec<&str> = all.filter(owns).collect();
            match owners.as_slice() {
                [one] => one,
                _ if owners.contains(&last) => last,
                _ => "",
            }
        };
        if !folder.is_empty() {
            named.push_str(text.get(copied..source.start()).unwrap_or_default());
            named.push_str(&format!("{folder}/"));
            copied = source.start();
        }
    }
    named + text.get(copied..).unwrap_or_default()
}

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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::adapter::host::files::write;

    #[test]
    fn tests_of_two_crates_have_names_of_their_own() {
        let root = tempfile::tempdir().unwrap();
        let manifest = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n");
        let root_manifest = "[workspace]\nmembers = [\"crates/*\"]\n".to_owned();
        for (folder, text) in [
            ("", root_manifest),
            ("crates/price-list", manifest("price-list")),
            ("crates/stock", manifest("stock")),
        ] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
            write(&root.path().join(folder).join("Cargo.toml"), text.as_bytes()).unwrap();
        }
        let folders = crate_folders(&Site::new(root.path(), ""));
        let text = "     Running unittests src/lib.rs (target/debug/deps/price_list-0a1b)\n\nrunning 1 test\ntest tests::works ... ok\n\n     Running unittests src/lib.rs (target/debug/deps/stock-0a1c)\n\nrunning 1 test\ntest tests::works ... ok\n\n     Running tests/all.rs (target/debug/deps/all-0a1d)\n\nrunning 1 test\ntest works ... ok\n     Running tests/own.rs (target/debug/deps/own-0a1d)\n\nrunning 1 test\ntest works ... ok\n";
        let files = [
            "crates/price-list/tests/all.rs",
            "crates/stock/tests/all.rs",
            "crates/price-list/tests/own.rs",
        ];
        let has_file = |path: &str| files.contains(&path);
        let tests = libtest::parse(&name_crates(text, &folders, &has_file));
        let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "crates/price-list/src/lib.rs::tests::works",
                "crates/stock/src/lib.rs::tests::works",
                "crates/stock/tests/all.rs::works",
                "crates/price-list/tests/own.rs::works"
            ]
        );
        assert_eq!(name_crates(text, &BTreeMap::new(), &has_file), text);
    }
}
