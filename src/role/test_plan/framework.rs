//! Describes the test framework of a project for plans, with the commands for its test files.

use std::collections::BTreeMap;

use crate::code::conventions::{self, TestConventions};
use crate::domain::id::RepoPath;
use crate::domain::test_plan::context::{TestCommands, TestFramework};
use crate::effect::SuiteFacts;

/// The test framework and the test conventions for phase 4.
pub fn describe(
    facts: &SuiteFacts,
    tests: &BTreeMap<RepoPath, String>,
) -> (TestFramework, TestConventions) {
    let habits = conventions::read(facts.framework, tests);
    let framework = TestFramework {
        framework: facts.framework,
        version: facts.version.clone(),
        test_pattern: habits.pattern.clone(),
        test_directory: habits.directory.clone(),
        assertion_library: habits.assertion_library.clone(),
        mocking_framework: habits.mocking.clone(),
        conventions: habits.conventions.clone(),
        commands: TestCommands {
            run_tests: facts.command.clone(),
            run_coverage: facts.framework.run_with_coverage().unwrap_or_default().to_owned(),
            run_specific: facts.framework.run_file().unwrap_or(&facts.command).to_owned(),
        },
    };
    (framework, habits)
}

/// The command that runs one test file.
pub fn run_specific(framework: &TestFramework, file: &RepoPath) -> String {
    let stem = file.stem();
    framework
        .commands
        .run_specific
        .replace("{test_file}", file.as_str())
        .replace("{test_folder}", file.parent())
        .replace("{test_stem}", stem)
}

/// The command that runs the tests of one function.
pub fn check(framework: &TestFramework, file: &RepoPath, function: &str) -> String {
    let run = run_specific(framework, file);
    let short = function.rsplit('.').next().unwrap_or(function);
    if short.is_empty() {
        return run;
    }
    framework.framework.run_one(&run, file.as_str(), short)
}

/// The command that compiles a test file without running it.
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
pub fn collect(framework: &TestFramework, file: &RepoPath) -> String {
    let run = run_specific(framework, file);
    framework.framework.collect(&run, file.as_str(), file.parent())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::framework::Framework;

    fn framework(framework: Framework) -> TestFramework {
        let run_specific = framework.run_file().unwrap_or("make check").to_owned();
        let commands = TestCommands { run_specific, ..TestCommands::default() };
        TestFramework { framework, commands, ..TestFramework::default() }
    }

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    #[test]
    fn the_command_of_one_file_has_its_path_folder_or_stem() {
        let table = [
            (Framework::Pytest, "tests/test_a.py", "python3 -m pytest tests/test_a.py"),
            (Framework::CargoTest, "tests/money.rs", "cargo test --test money"),
            (Framework::GoTest, "shop/price_test.go", "go test ./shop"),
            (Framework::Maven, "src/test/java/shop/PriceTest.java", "mvn -q test -Dtest=PriceTest"),
            (Framework::Jest, "a.spec.test.ts", "npx jest a.spec.test.ts"),
            (Framework::Command, "tests/a.sh", "make check"),
        ];
        for (own, file, expected) in table {
            assert_eq!(run_specific(&framework(own), &path(file)), expected, "{own}");
        }
    }

    #[test]
    fn a_check_selects_the_tests_of_one_function_where_the_framework_can() {
        let table = [
            (Framework::Pytest, "Cart.total", "python3 -m pytest tests/test_a.py -k total"),
            (Framework::NodeTest, "total", "node --test --test-name-pattern=total tests/test_a.py"),
            (Framework::Maven, "total", "mvn -q test -Dtest=test_a"),
            (Framework::Pytest, "", "python3 -m pytest tests/test_a.py"),
        ];
        for (own, function, expected) in table {
            let command = check(&framework(own), &path("tests/test_a.py"), function);
            assert_eq!(command, expected, "{own} {function}");
        }
    }

    #[test]
    fn a_test_file_of_every_language_can_be_compiled() {
        let table = [
            ("tests/test_a.py", "python3 -m py_compile tests/test_a.py"),
            ("a.test.mjs", "node --check a.test.mjs"),
            ("a.test.tsx", "npx tsc --noEmit"),
            ("shop/a_test.go", "go vet ./shop"),
            ("tests/a.rs", "cargo check --tests"),
            ("ATest.java", "mvn -q test-compile"),
            ("tests/a.rb", "make check"),
        ];
        for (file, expected) in table {
            assert_eq!(compile(&framework(Framework::Command), &path(file)), expected);
        }
    }
}
