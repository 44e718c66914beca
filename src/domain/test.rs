//! Results of test runs: status, duration and failure text of each test.

use std::collections::BTreeMap;
use std::mem::discriminant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{RepoPath, TestId};

/// How one test ended. Errors in set-up or collection count as failed (specification.md 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Passed,
    /// The test failed, or could not be set up.
    Failed,
    /// The test was skipped on purpose; it counts in no rate.
    Skipped,
}

/// The layer of a test, read off its path (specification.md 6.1).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// L0: compilers, linters, type checkers.
    Static,
    /// L1: one function or class.
    #[default]
    Unit,
    Integration,
    #[serde(rename = "e2e")]
    EndToEnd,
}

display_stored_name!(Layer);

/// Output of a failing test. All texts are untrusted: bounded when read, escaped when shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureText {
    /// Class of the error, such as `AssertionError`; empty when the tool names none.
    pub class: String,
    /// The message, at most 4 KiB.
    pub message: String,
    /// The stack trace as printed, at most 16 KiB.
    pub stack: String,
    /// Frames of the stack that lie in the repository, innermost first.
    pub frames: Vec<Frame>,
}

/// A line of a stack trace inside the repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    pub file: RepoPath,
    /// The line, from 1.
    pub line: u32,
    /// The function, as the tool names it; empty if it does not.
    pub function: String,
}

/// What a result is about. Source: specification.md X15, F-054.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseKind {
    #[default]
    Test,
    /// A file, module or package of tests that could not be loaded or built. The ids of its tests begin
    /// with its id, and take its place when it loads.
    Unloaded,
    /// What has to work before tests run and did not, such as the compilation of a crate or the loading of
    /// `conftest.py`.
    Prerequisite,
    /// What runs around tests, such as `beforeAll`, and is reported only where it fails. Its id is that of
    /// the file, class or suite to which it belongs with its own name behind; without a file it belongs to
    /// the whole run.
    Hook,
    /// A whole test command that leaves no report, so that its exit code and what its output says of
    /// failures are the only result (specification.md X17).
    Command,
}

impl CaseKind {
    /// Whether tests were kept from running.
    pub fn is_unloaded(self) -> bool {
        matches!(self, Self::Unloaded | Self::Prerequisite)
    }

    /// Whether it has no result any more once it is repaired.
    pub fn is_only_reported_as_failed(self) -> bool {
        matches!(self, Self::Unloaded | Self::Prerequisite | Self::Hook)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_test(&self) -> bool {
        *self == Self::Test
    }
}

/// A test of one run, or what kept tests from running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCase {
    /// The name in the framework.
    pub id: TestId,
    #[serde(default, skip_serializing_if = "CaseKind::is_test")]
    pub kind: CaseKind,
    pub status: Status,
    /// The file that defines the test, where the tool or the id names it.
    pub file: Option<RepoPath>,
    /// The line of its definition or failure, from 1.
    pub line: Option<u32>,
    /// Duration in milliseconds; 0 if the tool does not report it.
    pub duration_ms: u64,
    pub layer: Layer,
    /// The message of a failed test; absent for others.
    pub failure: Option<FailureText>,
}

impl TestCase {
    /// Whether a time limit stopped the test.
    #[must_use]
    pub fn was_stopped(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| {
            let message = failure.message.as_str();
            failure.class.ends_with("TestTimeout")
                || message.contains("the test was stopped after")
                || message.contains("the test did not end, and the run was stopped after")
        })
    }

    /// Whether this failure is gone although nobody reports it any more: tests run that it had kept from
    /// running, or around which it runs. `after` are the results of a later run, and `is_known` says which of their tests ran
    /// before.
    pub fn is_superseded_in<'a>(
        &self,
        after: impl Iterator<Item = &'a Self>,
        is_known: impl Fn(&TestId) -> bool,
    ) -> bool {
        let mut ran = after.filter(|case| case.status != Status::Skipped);
        match self.kind {
            CaseKind::Test => false,
            CaseKind::Unloaded => ran.any(|case| case.id.is_within(&self.id)),
            CaseKind::Prerequisite | CaseKind::Command => {
                ran.any(|case| case.kind == CaseKind::Test && !is_known(&case.id))
            }
            CaseKind::Hook => ran.any(|case| self.runs_around(case)),
        }
    }

    /// Whether nothing says where the test failed, as when its process ended.
    pub fn is_placeless(&self) -> bool {
        let frames = self.failure.as_ref().map_or(&[][..], |failure| &failure.frames);
        self.file.is_none() && frames.is_empty()
    }

    /// Whether this is a hook that runs before or after a test.
    pub fn runs_around(&self, test: &Self) -> bool {
        test.kind == CaseKind::Test && self.is_hook_of(&test.id)
    }

    /// Whether this is a hook of the suite that this test belongs to.
    pub fn is_hook_of(&self, test: &TestId) -> bool {
        self.kind == CaseKind::Hook && (self.file.is_none() || test.is_within(&self.id.group()))
    }
}

/// Which tests a run covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Full,
    /// These tests; the framework may run more of the same files, never fewer.
    Tests(Vec<TestId>),
}

/// Why a run is not green although none of its tests failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Objection {
    /// The command failed.
    Command {
        /// The command as a person would type it.
        command: String,
        /// How it ended, such as `exit code 1`.
        ending: String,
        /// The last lines of its output, at most 2 KiB.
        tail: String,
    },
    /// The report says of itself what its tests do not show, as a clause such as `the report declares
    /// 9 tests and holds 4`.
    Report(String),
}

impl Objection {
    /// What it says, as a clause.
    pub fn clause(&self) -> String {
        match self {
            Self::Command { command, ending, .. } => {
                let missing = self.missing_program();
                let missing =
                    missing.map_or_else(String::new, |one| format!(": `{one}` is not installed"));
                format!("`{command}` ends with {ending}{missing}")
            }
            Self::Report(clause) => clause.clone(),
        }
    }

    /// The program that the command does not find, as shells say it: `sh: 1: pnpm: not found`, and
    /// `bash: line 1: pnpm: command not found`.
    pub fn missing_program(&self) -> Option<&str> {
        let Self::Command { ending, tail, .. } = self else { return None };
        let lines = tail.lines().rev().filter(|_| ending == "exit code 127");
        let ends = [": command not found", ": not found"];
        let before = |line: &'_ str| -> Option<usize> {
            ends.iter().find_map(|end| line.trim_end().strip_suffix(end)).map(str::len)
        };
        let named = lines.filter_map(|line| line.get(..before(line)?)?.rsplit(": ").next());
        let is_name = |one: &&str| {
            !one.is_empty()
                && one.len() <= 60
                && one.chars().all(|c| c.is_alphanumeric() || "-_.+@/".contains(c))
        };
        named.into_iter().find(is_name)
    }

    /// Whether nothing of its kind was said before.
    pub fn is_new(&self, before: &[Self]) -> bool {
        before.iter().all(|one| discriminant(one) != discriminant(self))
    }
}

/// The outcome of one run of a suite that produced results. Failing tests are a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// All tests that were reported, sorted by id, each id once.
    pub cases: Vec<TestCase>,
    pub scope: Scope,
    /// The command as a person would type it.
    pub command: String,
    /// The exit code; `None` when a signal ended the run.
    pub exit_code: Option<i32>,
    /// When it started, RFC 3339.
    pub started_at: String,
    pub duration_ms: u64,
    /// Path of the complete output, relative to the session folder.
    pub log: String,
    /// Whether the sandbox closed the network to the tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_offline: bool,
    /// Why the run is not green, whatever its tests say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objection>,
    /// Tests that passed after they had failed in this run, as its report shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<TestId>,
    /// What a person should know of how the report was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// Failing tests that lack content of the checkout, each with the evidence.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lacking: BTreeMap<TestId, String>,
}

impl Results {
    /// Number of tests with this status.
    pub fn count(&self, status: Status) -> u32 {
        u32::try_from(self.cases.iter().filter(|case| case.status == status).count())
            .unwrap_or(u32::MAX)
    }

    /// The failed tests, in order of their ids.
    pub fn failed(&self) -> impl Iterator<Item = &TestCase> {
        self.cases.iter().filter(|case| case.status == Status::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_limit_stopped_says_so() {
        let table = [
            ("regreen.TestTimeout", "", true),
            ("", "the test was stopped after 30 s", true),
            ("", "the test did not end, and the run was stopped after 6 s", true),
            ("AssertionError", "1 is not 2", false),
        ];
        for (class, message, expected) in table {
            let failure = Some(FailureText {
                class: class.into(),
                message: message.into(),
                ..FailureText::default()
            });
            let case = TestCase {
                id: "t".into(),
                kind: CaseKind::Test,
                status: Status::Failed,
                file: None,
                line: None,
                duration_ms: 0,
                layer: Layer::Unit,
                failure,
            };
            assert_eq!(case.was_stopped(), expected, "{class} {message}");
        }
    }

    #[test]
    fn a_program_that_the_shell_does_not_find_is_named() {
        let table = [
            ("exit code 127", "60 passed\nsh: 1: pnpm: not found\n", Some("pnpm")),
            ("exit code 127", "bash: line 1: eslint: command not found", Some("eslint")),
            ("exit code 127", "/bin/sh: ./run.sh: not found\nnpm ERR! code 127", Some("./run.sh")),
            ("exit code 1", "sh: 1: pnpm: not found", None),
            ("exit code 127", "the page of <b>x</b>: not found", None),
            ("exit code 127", "", None),
        ];
        for (ending, tail, expected) in table {
            let (command, ending, tail) =
                ("npm test".to_owned(), ending.to_owned(), tail.to_owned());
            let objection = Objection::Command { command, ending, tail };
            assert_eq!(objection.missing_program(), expected, "{objection:?}");
            let clause = objection.clause();
            assert_eq!(clause.contains("is not installed"), expected.is_some(), "{clause}");
        }
    }
}
