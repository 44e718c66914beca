//! Test frameworks, and facts about each that need no look at a project.
//!
//! How a framework is detected, run and read is in the table of `adapter/suite/framework`. A
//! new framework is a variant and a row of the table here.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::language::Language;

/// A test framework that regreen can run.
///
/// Stored under its name. A stored name that this version does not know reads as
/// [`Framework::Command`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(into = "Cow<'static, str>", from = "Cow<'static, str>")]
pub enum Framework {
    Pytest,
    Unittest,
    /// Node's test runner, `node --test`.
    NodeTest,
    Jest,
    Vitest,
    Mocha,
    Ava,
    /// The runner of the package `tap`.
    NodeTap,
    Tape,
    CargoTest,
    Nextest,
    GoTest,
    Maven,
    Gradle,
    Rspec,
    Minitest,
    Phpunit,
    Ctest,
    Jasmine,
    Dotnet,
    Bazel,
    /// A configured command that reports as JUnit XML or TAP.
    #[default]
    Command,
}

use Framework::{
    Ava, Bazel, CargoTest, Command, Ctest, Dotnet, GoTest, Gradle, Jasmine, Jest, Maven, Minitest,
    Mocha, Nextest, NodeTap, NodeTest, Phpunit, Pytest, Rspec, Tape, Unittest, Vitest,
};
use Language::{Go, Java, JavaScript, Python, Rust, TypeScript};

/// A framework, the name that people see and files store, the language of its tests, how its test files
/// are named and where they are in a project without any, and the command for one test file.
type Row = (Framework, &'static str, Option<Language>, &'static str, &'static str, &'static str);

/// All frameworks, in the order of their variants.
const ROWS: [Row; 22] = [
    (Pytest, "pytest", Some(Python), "test_*.py", "tests", "python3 -m pytest {test_file}"),
    (Unittest, "unittest", Some(Python), "test_*.py", "", "python3 -m unittest {test_file}"),
    (NodeTest, "node --test", Some(JavaScript), "*.test.js", "test", "node --test {test_file}"),
    (Jest, "Jest", Some(JavaScript), "*.test.js", "", "npx jest {test_file}"),
    (Vitest, "Vitest", Some(TypeScript), "*.test.ts", "", "npx vitest run {test_file}"),
    (Mocha, "Mocha", Some(JavaScript), "*.test.js", "test", "npx mocha {test_file}"),
    (Ava, "AVA", Some(JavaScript), "*.test.js", "test", "npx ava {test_file}"),
    (NodeTap, "tap", Some(JavaScript), "*.test.js", "test", "npx tap {test_file}"),
    (Tape, "tape", Some(JavaScript), "*.test.js", "test", "npx tape {test_file}"),
    (CargoTest, "cargo test", Some(Rust), "*.rs", "tests", "cargo test --test {test_stem}"),
    (Nextest, "cargo-nextest", Some(Rust), "*.rs", "tests", "cargo nextest run --test {test_stem}"),
    (GoTest, "go test", Some(Go), "*_test.go", "", "go test ./{test_folder}"),
    (
        Maven,
        "Maven Surefire",
        Some(Java),
        "*Test.java",
        "src/test/java",
        "mvn -q test -Dtest={test_stem}",
    ),
    (
        Gradle,
        "Gradle",
        Some(Java),
        "*Test.java",
        "src/test/java",
        "gradle test --tests {test_stem}",
    ),
    (Rspec, "RSpec", None, "*_spec.rb", "spec", "rspec {test_file}"),
    (Minitest, "Minitest", None, "*_test.rb", "test", "ruby -Ilib -Itest {test_file}"),
    (Phpunit, "PHPUnit", None, "*Test.php", "tests", "vendor/bin/phpunit {test_file}"),
    (Ctest, "CTest", None, "*_test.cpp", "tests", "ctest --test-dir build -R {test_stem}"),
    (Jasmine, "Jasmine", Some(JavaScript), "*.spec.js", "spec", "npx jasmine {test_file}"),
    (Dotnet, "dotnet test", None, "*Tests.cs", "", "dotnet test --filter {test_stem}"),
    (Bazel, "Bazel", None, "*_test.*", "", "bazel test //{test_folder}/..."),
    (Command, "command", None, "test_*", "", ""),
];

impl Framework {
    pub const ALL: [Self; 22] = {
        let mut all = [Self::Command; 22];
        let mut index = 0;
        while index < all.len() {
            all[index] = ROWS[index].0;
            index += 1;
        }
        all
    };

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The name that people see and that files store.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|framework| framework.name() == name)
    }

    /// The language of its tests; `None` where that is open, or not parsed.
    #[must_use]
    pub fn language(self) -> Option<Language> {
        self.row().2
    }

    /// Whether its tests are written in Python.
    pub fn is_python(self) -> bool {
        self.language() == Some(Language::Python)
    }

    /// The framework built into a language, for a project's first tests; `None` if not written.
    pub fn built_into(language: Language) -> Option<Self> {
        match language {
            Language::Python => Some(Self::Unittest),
            Language::JavaScript => Some(Self::NodeTest),
            Language::TypeScript
            | Language::Tsx
            | Language::Rust
            | Language::Go
            | Language::Java => None,
        }
    }

    /// How test files are named where a project has none yet.
    pub fn test_naming(self) -> &'static str {
        self.row().3
    }

    /// The folder of tests where a project has none yet; empty for the folder of the source.
    pub fn test_folder(self) -> &'static str {
        self.row().4
    }

    /// The command for one test file, with `{test_file}`, `{test_folder}` and `{test_stem}`.
    pub fn run_file(self) -> Option<&'static str> {
        Some(self.row().5).filter(|command| !command.is_empty())
    }
}

impl fmt::Display for Framework {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Framework> for Cow<'static, str> {
    fn from(framework: Framework) -> Self {
        framework.name().into()
    }
}

impl From<Cow<'static, str>> for Framework {
    fn from(name: Cow<'static, str>) -> Self {
        Self::from_name(&name).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_framework_has_a_name_of_its_own_and_is_found_by_it() {
        let names: BTreeSet<&str> = Framework::ALL.map(Framework::name).into();
        assert_eq!(names.len(), Framework::ALL.len());
        assert!(Framework::ALL.iter().enumerate().all(|(place, it)| *it as usize == place));
        for framework in Framework::ALL {
            assert_eq!(Framework::from_name(framework.name()), Some(framework));
            assert_eq!(framework.to_string(), framework.name());
        }
        for near in ["", "nextest", "jest", "mocha", "Pytest", "cargo", "maven"] {
            assert_eq!(Framework::from_name(near), None, "{near}");
        }
    }

    #[test]
    fn a_framework_is_stored_as_its_name() {
        for framework in Framework::ALL {
            let stored = serde_json::to_string(&framework).unwrap();
            assert_eq!(stored, format!("\"{}\"", framework.name()));
            assert_eq!(serde_json::from_str::<Framework>(&stored).unwrap(), framework);
        }
        assert_eq!(serde_json::from_str::<Framework>("\"unknown\"").unwrap(), Framework::Command);
    }

    /// Frameworks of languages that are not parsed.
    const UNPARSED: &[Framework] = &[
        Framework::Rspec,
        Framework::Minitest,
        Framework::Phpunit,
        Framework::Ctest,
        Framework::Dotnet,
        Framework::Bazel,
    ];

    #[test]
    fn every_framework_but_a_plain_command_is_in_every_table() {
        for framework in Framework::ALL {
            let is_known = framework != Framework::Command;
            let is_parsed = is_known && !UNPARSED.contains(&framework);
            assert_eq!(framework.language().is_some(), is_parsed, "{framework}: language");
            assert_eq!(framework.test_naming() != "test_*", is_known, "{framework}: naming");
            assert_eq!(framework.run_file().is_some(), is_known, "{framework}: one file");
        }
    }

    #[test]
    fn cargo_test_and_nextest_differ_in_their_runner_alone() {
        let (plain, nextest) = (Framework::CargoTest, Framework::Nextest);
        assert_eq!(plain.language(), nextest.language());
        assert_eq!(plain.test_naming(), nextest.test_naming());
        assert_eq!(plain.test_folder(), nextest.test_folder());
        assert_eq!(nextest.run_file(), Some("cargo nextest run --test {test_stem}"));
    }

    #[test]
    fn the_framework_of_first_tests_is_one_of_the_language() {
        for (language, expected) in [
            (Language::Python, Some(Framework::Unittest)),
            (Language::JavaScript, Some(Framework::NodeTest)),
            (Language::Go, None),
        ] {
            let framework = Framework::built_into(language);
            assert_eq!(framework, expected, "{language:?}");
            assert!(framework.is_none_or(|it| it.language() == Some(language)), "{language:?}");
        }
    }
}
