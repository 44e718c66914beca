//! Test frameworks, and facts about each that need no look at a project.
//!
//! How a framework is detected, run and read is in the table of `adapter/suite/framework`. Every
//! match here is exhaustive; `ALL` is a list that a new framework has to be added to by hand.

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

impl Framework {
    pub const ALL: [Self; 22] = [
        Self::Pytest,
        Self::Unittest,
        Self::NodeTest,
        Self::Jest,
        Self::Vitest,
        Self::Mocha,
        Self::Ava,
        Self::NodeTap,
        Self::Tape,
        Self::CargoTest,
        Self::Nextest,
        Self::GoTest,
        Self::Maven,
        Self::Gradle,
        Self::Rspec,
        Self::Minitest,
        Self::Phpunit,
        Self::Ctest,
        Self::Jasmine,
        Self::Dotnet,
        Self::Bazel,
        Self::Command,
    ];

    /// The name that people see and that files store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::NodeTest => "node --test",
            Self::Jest => "Jest",
            Self::Vitest => "Vitest",
            Self::Mocha => "Mocha",
            Self::Ava => "AVA",
            Self::NodeTap => "tap",
            Self::Tape => "tape",
            Self::CargoTest => "cargo test",
            Self::Nextest => "cargo-nextest",
            Self::GoTest => "go test",
            Self::Maven => "Maven Surefire",
            Self::Gradle => "Gradle",
            Self::Rspec => "RSpec",
            Self::Minitest => "Minitest",
            Self::Phpunit => "PHPUnit",
            Self::Ctest => "CTest",
            Self::Jasmine => "Jasmine",
            Self::Dotnet => "dotnet test",
            Self::Bazel => "Bazel",
            Self::Command => "command",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|framework| framework.name() == name)
    }

    /// The language of its tests; `None` where that is open, or not parsed.
    #[must_use]
    pub fn language(self) -> Option<Language> {
        match self {
            Self::Pytest | Self::Unittest => Some(Language::Python),
            Self::NodeTest
            | Self::Jest
            | Self::Mocha
            | Self::Jasmine
            | Self::Ava
            | Self::NodeTap
            | Self::Tape => Some(Language::JavaScript),
            Self::Vitest => Some(Language::TypeScript),
            Self::CargoTest | Self::Nextest => Some(Language::Rust),
            Self::GoTest => Some(Language::Go),
            Self::Maven | Self::Gradle => Some(Language::Java),
            Self::Rspec
            | Self::Minitest
            | Self::Phpunit
            | Self::Ctest
            | Self::Dotnet
            | Self::Bazel
            | Self::Command => None,
        }
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
        match self {
            Self::Pytest | Self::Unittest => "test_*.py",
            Self::NodeTest | Self::Jest | Self::Mocha | Self::Ava | Self::NodeTap | Self::Tape => {
                "*.test.js"
            }
            Self::Vitest => "*.test.ts",
            Self::CargoTest | Self::Nextest => "*.rs",
            Self::GoTest => "*_test.go",
            Self::Maven | Self::Gradle => "*Test.java",
            Self::Rspec => "*_spec.rb",
            Self::Minitest => "*_test.rb",
            Self::Phpunit => "*Test.php",
            Self::Ctest => "*_test.cpp",
            Self::Jasmine => "*.spec.js",
            Self::Dotnet => "*Tests.cs",
            Self::Bazel => "*_test.*",
            Self::Command => "test_*",
        }
    }

    /// The folder of tests where a project has none yet; empty for the folder of the source.
    pub fn test_folder(self) -> &'static str {
        match self {
            Self::Pytest | Self::CargoTest | Self::Nextest | Self::Phpunit | Self::Ctest => "tests",
            Self::NodeTest
            | Self::Mocha
            | Self::Ava
            | Self::NodeTap
            | Self::Tape
            | Self::Minitest => "test",
            Self::Maven | Self::Gradle => "src/test/java",
            Self::Rspec | Self::Jasmine => "spec",
            Self::Unittest
            | Self::Jest
            | Self::Vitest
            | Self::GoTest
            | Self::Dotnet
            | Self::Bazel
            | Self::Command => "",
        }
    }

    /// The command for one test file, with `{test_file}`, `{test_folder}` and `{test_stem}`.
    pub fn run_file(self) -> Option<&'static str> {
        match self {
            Self::Pytest => Some("python3 -m pytest {test_file}"),
            Self::Unittest => Some("python3 -m unittest {test_file}"),
            Self::NodeTest => Some("node --test {test_file}"),
            Self::Jest => Some("npx jest {test_file}"),
            Self::Vitest => Some("npx vitest run {test_file}"),
            Self::Mocha => Some("npx mocha {test_file}"),
            Self::Ava => Some("npx ava {test_file}"),
            Self::NodeTap => Some("npx tap {test_file}"),
            Self::Tape => Some("npx tape {test_file}"),
            Self::CargoTest => Some("cargo test --test {test_stem}"),
            Self::Nextest => Some("cargo nextest run --test {test_stem}"),
            Self::GoTest => Some("go test ./{test_folder}"),
            Self::Maven => Some("mvn -q test -Dtest={test_stem}"),
            Self::Gradle => Some("gradle test --tests {test_stem}"),
            Self::Rspec => Some("rspec {test_file}"),
            Self::Minitest => Some("ruby -Ilib -Itest {test_file}"),
            Self::Phpunit => Some("vendor/bin/phpunit {test_file}"),
            Self::Ctest => Some("ctest --test-dir build -R {test_stem}"),
            Self::Jasmine => Some("npx jasmine {test_file}"),
            Self::Dotnet => Some("dotnet test --filter {test_stem}"),
            Self::Bazel => Some("bazel test //{test_folder}/..."),
            Self::Command => None,
        }
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
