//! Commands of a framework, and how the tests of the project are written.

use std::collections::BTreeMap;

use crate::code::conventions::{self, Habits};
use crate::domain::id::RepoPath;
use crate::domain::test_plan::context::TestFramework;
use crate::effect::SuiteFacts;

/// The framework as phase 4 reads it.
#[must_use]
pub fn describe(facts: &SuiteFacts, tests: &BTreeMap<RepoPath, String>) -> (TestFramework, Habits) {
    let habits = conventions::read(&facts.framework, tests);
    let (run_coverage, run_specific) = commands(&facts.framework);
    let framework = TestFramework {
        framework: facts.framework.clone(),
        version: facts.version.clone(),
        test_pattern: habits.pattern.clone(),
        test_directory: habits.directory.clone(),
        assertion_library: habits.assertion_library.clone(),
        mocking_framework: habits.mocking.clone(),
        conventions: habits.conventions.clone(),
        run_tests: facts.command.clone(),
        run_coverage: run_coverage.to_owned(),
        run_specific: if run_specific.is_empty() {
            facts.command.clone()
        } else {
            run_specific.to_owned()
        },
    };
    (framework, habits)
}

/// The suite with coverage, and one test file at `{test_file}`.
fn commands(framework: &str) -> (&'static str, &'static str) {
    match framework {
        "pytest" => (
            "python3 -m coverage run --branch -m pytest && python3 -m coverage report",
            "python3 -m pytest {test_file}",
        ),
        "unittest" => (
            "python3 -m coverage run --branch -m unittest discover && python3 -m coverage report",
            "python3 -m unittest {test_file}",
        ),
        "Jest" => ("npx jest --coverage", "npx jest {test_file}"),
        "Vitest" => ("npx vitest run --coverage", "npx vitest run {test_file}"),
        "node --test" => ("node --test --experimental-test-coverage", "node --test {test_file}"),
        "go test" => ("go test -coverprofile=cover.out ./...", "go test ./{test_folder}"),
        "cargo test" => ("cargo llvm-cov", "cargo test --test {test_stem}"),
        "nextest" => ("cargo llvm-cov nextest", "cargo nextest run --test {test_stem}"),
        "Maven Surefire" => ("mvn -q test jacoco:report", "mvn -q test -Dtest={test_stem}"),
        "Gradle" => ("gradle test jacocoTestReport", "gradle test --tests {test_stem}"),
        _ => ("", ""),
    }
}

/// The command that runs one test file.
#[must_use]
pub fn run_specific(framework: &TestFramework, file: &RepoPath) -> String {
    let stem = file.file_name().split('.').next().unwrap_or_default();
    framework
        .run_specific
        .replace("{test_file}", file.as_str())
        .replace("{test_folder}", file.parent())
        .replace("{test_stem}", stem)
}

/// The command that shows whether the tests of one function pass.
#[must_use]
pub fn check(framework: &TestFramework, file: &RepoPath, function: &str) -> String {
    let run = run_specific(framework, file);
    let short = function.rsplit('.').next().unwrap_or(function);
    if short.is_empty() {
        return run;
    }
    match framework.framework.as_str() {
        "pytest" | "unittest" => format!("{run} -k {short}"),
        "Jest" | "Vitest" => format!("{run} -t {short}"),
        "node --test" => format!("node --test --test-name-pattern={short} {file}"),
        "go test" => format!("{run} -run {short}"),
        "cargo test" => format!("{run} {short}"),
        _ => run,
    }
}

/// The command that compiles a test file without running it.
#[must_use]
pub fn compile(framework: &TestFramework, file: &RepoPath) -> String {
    match file.extension() {
        "py" => format!("python3 -m py_compile {file}"),
        "js" | "mjs" | "cjs" => format!("node --check {file}"),
        "ts" | "tsx" | "mts" => "npx tsc --noEmit".into(),
        "go" => format!("go vet ./{}", file.parent()),
        "rs" => "cargo check --tests".into(),
        "java" => "mvn -q test-compile".into(),
        _ => run_specific(framework, file),
    }
}

/// The command that loads a test file without running its tests.
#[must_use]
pub fn collect(framework: &TestFramework, file: &RepoPath) -> String {
    match framework.framework.as_str() {
        "pytest" => format!("python3 -m pytest --collect-only -q {file}"),
        "go test" => format!("go test -run '^$' ./{}", file.parent()),
        "cargo test" | "nextest" => "cargo test --no-run".into(),
        _ => run_specific(framework, file),
    }
}
