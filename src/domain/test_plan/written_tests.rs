//! What providers wrote: files of tests, and the defects that their tests found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::{RepoPath, TestId};

/// What providers wrote for one source in one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenTests {
    pub task: String,
    /// From 1; 2 is about survivors.
    pub round: u32,
    pub subject: RepoPath,
    /// The file with the tests; absent when nothing was kept.
    pub file: Option<RepoPath>,
    /// Who wrote it; empty when nobody did.
    pub author: String,
    /// The tests that pass reliably.
    pub tests: Vec<TestId>,
    pub assertions: u32,
    /// Functions of the source that the tests that hold enter.
    pub functions: Vec<String>,
    /// Requirements that tests that hold claim to show.
    pub shown: Vec<String>,
    /// Tests that fail because the code is wrong.
    pub findings: Vec<BugFinding>,
    /// Tests, and answers, that were given up, with the reason.
    pub dropped: Vec<String>,
    /// Tests whose result changed between runs; none of them is kept.
    pub flaky: Vec<TestId>,
}

/// A new test that fails, and whose author and judge say that the code is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BugFinding {
    pub test: TestId,
    pub file: RepoPath,
    /// The source that is wrong.
    pub subject: RepoPath,
    pub function: String,
    /// First line of the place, from 1.
    pub line: u32,
    /// What says so besides the test, in the judge's words.
    pub evidence: String,
    /// What the test said, in one line.
    pub message: String,
    /// The provider that judged.
    pub judge: String,
}
