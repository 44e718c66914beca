//! The framework of a project as plans describe it, and the commands for its test files.

use std::collections::BTreeMap;

use crate::code::conventions::{self, Habits};
use crate::domain::id::RepoPath;
use crate::domain::test_plan::context::TestFramework;
use crate::effect::SuiteFacts;

/// The framework as phase 4 reads it.
#[must_use]
pub fn describe(facts: &SuiteFacts, tests: &BTreeMap<RepoPath, String>) -> (TestFramework, Habits) {
    let habits = conventions::read(facts.framework, tests);
    let framework = TestFramework {
        framework: facts.framework,
        version: facts.version.clone(),
        test_pattern: habits.pattern.clone(),
        test_directory: habits.directory.clone(),
        assertion_library: habits.assertion_library.clone(),
        mocking_framework: habits.mocking.clone(),
        conventions: habits.conventions.clone(),
        run_tests: facts.command.clone(),
        run_coverage: facts.framework.run_with_coverage().unwrap_or_default().to_owned(),
        run_specific: facts.framework.run_file().unwrap_or(&facts.command).to_owned(),
    };
    (framework, habits)
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
    framework.framework.run_one(&run, file.as_str(), short)
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
    let run = run_specific(framework, file);
    framework.framework.collect(&run, file.as_str(), file.parent())
}
