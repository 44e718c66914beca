//! `WrittenTests`: test files that providers wrote, and `BugFinding`: bugs that these tests found.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::{RepoPath, TestId};

/// Tests that providers wrote for one source file in one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenTests {
    /// Number of the round, from 1; round 2 is about surviving mutants.
    pub round: u32,
    pub subject: RepoPath,
    /// The test file; absent if nothing was kept.
    pub file: Option<RepoPath>,
    /// Provider that wrote it; empty if none did.
    pub author: String,
    /// The tests that pass reliably.
    pub tests: Vec<TestId>,
    pub assertions: u32,
    /// Functions of the source file that these tests call.
    pub functions: Vec<String>,
    /// Ids of the requirements that these tests claim to cover.
    pub shown: Vec<String>,
    /// Tests that fail because the code is wrong.
    pub findings: Vec<BugFinding>,
    /// Discarded tests and answers, with the reason.
    pub dropped: Vec<String>,
    /// Tests whose result changed between runs; none of them is kept.
    pub flaky: Vec<TestId>,
}

/// A new test that fails because, according to its author and to a judge, the code is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BugFinding {
    /// The failing test and its file; absent where a test would hang.
    pub test: Option<TestId>,
    pub file: Option<RepoPath>,
    /// Source file with the bug.
    pub subject: RepoPath,
    pub function: String,
    /// First line of the bug, from 1.
    pub line: u32,
    /// Evidence besides the test, in the words of the judge.
    pub evidence: String,
    /// Failure message of the test, in one line.
    pub message: String,
    /// The provider that judged.
    pub judge: String,
}

/// Where it is and what it is about, in one line.
impl fmt::Display for BugFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {}: {}", self.subject, self.line, self.function, self.message)
    }
}
