//! Compares what the parsers read from recorded framework output with `expected.json`.
//!
//! A recording is a folder `tests/data/reports/<framework>/<version>/<case>/`: `output.txt` is what
//! was printed, `results.txt` what the framework wrote where we asked for it, `folder/` the reports
//! it left below the suite's own folder. A new folder is a new test.

#![expect(
    clippy::disallowed_methods,
    reason = "tests and their recorder read and write files, and prepare projects"
)]

#[cfg(feature = "record-output")]
mod record;

use std::fs;
use std::path::{Path, PathBuf};

use crate::adapter::host::process::ExitReason;

use serde_json::{Value, json};

use crate::domain::framework::Framework;
use crate::domain::test::CaseKind;

use crate::adapter::suite::format::{PathMapper, to_test_cases};
use crate::adapter::suite::framework::{FrameworkAdapter, RunArtifacts, Site, adapter};

/// Folder of recordings, the framework, sample project, folder of the recording.
const RECORDED: &[(&str, Framework, &str, &str)] = &[
    ("cargo-test", Framework::CargoTest, "", ""),
    ("cargo-test", Framework::CargoTest, "cargo-exits", "1.95.0/exits"),
    ("cargo-test", Framework::CargoTest, "cargo-exits-one-thread", "1.95.0/exits-one-thread"),
    ("go-test", Framework::GoTest, "", ""),
    ("nextest", Framework::Nextest, "nextest", "0.9.151/mixed"),
    ("pytest", Framework::Pytest, "pytest", "9.2.0/mixed"),
    ("node-test", Framework::NodeTest, "node-test", "20/mixed"),
    ("jest", Framework::Jest, "jest", "30/mixed"),
    ("vitest", Framework::Vitest, "vitest", "3/mixed"),
    ("mocha", Framework::Mocha, "mocha", "12/mixed"),
    ("ava", Framework::Ava, "ava", "7/mixed"),
    ("node-tap", Framework::NodeTap, "node-tap", "21/mixed"),
    ("tape", Framework::Tape, "tape", "5/mixed"),
    ("rspec", Framework::Rspec, "rspec", "3.12/mixed"),
    ("rspec", Framework::Rspec, "rspec-broken", "3.12/broken"),
    ("minitest", Framework::Minitest, "minitest", "5.17/mixed"),
    ("minitest", Framework::Minitest, "minitest-broken", "5.17/broken"),
    ("phpunit", Framework::Phpunit, "phpunit", "9.6/mixed"),
    ("ctest", Framework::Ctest, "ctest", "3.25/mixed"),
    ("jasmine", Framework::Jasmine, "jasmine", "7.0/mixed"),
    ("maven-surefire", Framework::Maven, "maven", "3.5.2/mixed"),
    ("maven-surefire", Framework::Maven, "maven-broken", "3.5.2/broken"),
    ("gradle", Framework::Gradle, "gradle", "4.4.1/mixed"),
];

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn adapter_of(folder: &str) -> &'static FrameworkAdapter {
    let (_, framework, _, _) = RECORDED.iter().find(|row| row.0 == folder).unwrap();
    adapter(*framework)
}

/// The folders of recordings, by framework, version and case.
fn cases() -> Vec<PathBuf> {
    let mut level = vec![data().join("reports")];
    for _ in 0..3 {
        let inner = level.iter().filter(|path| path.is_dir());
        let inner = inner.flat_map(|folder| fs::read_dir(folder).unwrap());
        level = inner.map(|entry| entry.unwrap().path()).collect();
    }
    // Those of writers that other tools run have a table of their own.
    level.retain(|case| case.is_dir() && !case.join("run.json").exists());
    level.sort();
    level
}

/// What the parsers read from a recording, with one object per test.
fn read(case: &Path) -> Value {
    let below = case.strip_prefix(data().join("reports")).unwrap();
    let name = below.iter().next().unwrap().to_str().unwrap();
    let (root, directory) = (PathBuf::from("/repo"), String::new());
    let folder = case.join("folder");
    let site = Site::new(&folder, "");
    let artifacts = RunArtifacts {
        command: "the command",
        ending: ExitReason::Exit(1),
        results: &case.join("results.txt"),
        log: &case.join("output.txt"),
        site: &site,
        unwritten: &std::collections::BTreeSet::new(),
    };
    let report = (adapter_of(name).read)(&artifacts).unwrap();
    let paths = PathMapper { root, directory, layers: vec![] };
    let tests: Vec<Value> = to_test_cases(report.results(), &paths)
        .iter()
        .map(|test| {
            let mut shown = json!({ "id": test.id, "status": test.status });
            if test.kind != CaseKind::Test {
                shown["kind"] = json!(test.kind);
            }
            if let Some(file) = &test.file {
                shown["at"] = match test.line {
                    Some(line) => json!(format!("{file}:{line}")),
                    None => json!(file),
                };
            }
            if let Some(failure) = &test.failure {
                shown["class"] = json!(failure.class);
                shown["message"] = json!(failure.message.lines().next().unwrap_or_default());
                let frames =
                    failure.frames.iter().map(|frame| format!("{}:{}", frame.file, frame.line));
                shown["frames"] = json!(frames.collect::<Vec<_>>());
            }
            shown
        })
        .collect();
    json!({ "complete": report.complete, "tests": tests })
}

/// JSON with one test per line.
fn lines(shown: &Value) -> String {
    let tests: Vec<String> =
        shown["tests"].as_array().unwrap().iter().map(|test| format!("    {test}")).collect();
    format!(
        "{{\n  \"complete\": {},\n  \"tests\": [\n{}\n  ]\n}}\n",
        shown["complete"],
        tests.join(",\n")
    )
}

#[test]
fn recorded_output_is_read_as_expected() {
    let mut seen = Vec::new();
    for case in cases() {
        let shown = lines(&read(&case));
        let expected = case.join("expected.json");
        if std::env::var_os("REGREEN_BLESS").is_some() {
            fs::write(&expected, &shown).unwrap();
        }
        let expected = fs::read_to_string(expected).unwrap_or_default();
        similar_asserts(&expected, &shown, &case);
        seen.push(case);
    }
    for (folder, _, _, _) in RECORDED {
        let root = data().join("reports").join(folder);
        assert!(seen.iter().any(|case| case.starts_with(&root)), "nothing is recorded of {folder}");
    }
}

fn similar_asserts(expected: &str, shown: &str, case: &Path) {
    let differing = shown.lines().find(|line| !expected.lines().any(|known| known == *line));
    let lost = expected.lines().find(|line| !shown.lines().any(|known| known == *line));
    assert!(
        expected == shown,
        "{}: read {differing:?}, expected {lost:?}; REGREEN_BLESS=1 writes what is read",
        case.display()
    );
}
