//! [`WriteRequest`]: the request for tests of one source file, and [`WriteOutcome`], its result.

use std::collections::BTreeSet;

use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::mutation::Mutant;
use crate::domain::test_plan::framework::TestFramework;
use crate::domain::test_plan::requirement::{PlannedFile, Requirement};
use crate::domain::test_plan::written_tests::WrittenTests;

use super::source_index::PromptSubject;
use crate::role::characterise::Crossing;
use crate::role::prompt::PromptPart;

/// A request to providers for the tests of one source file.
pub struct WriteRequest<'a> {
    pub task: &'a str,
    pub name: String,
    /// Counted from 1; later rounds address surviving mutants and lines that no test executes.
    pub round: u32,
    /// The sources, with all tests kept so far.
    pub tree: &'a TreeId,
    pub subject: &'a PlannedFile,
    pub requirements: Vec<&'a Requirement>,
    /// The ids of all requirements of the task; tests cannot claim to cover others.
    pub ids: &'a BTreeSet<String>,
    /// What the task file has the writer shown and told.
    pub shown: &'a [PromptPart],
    pub framework: &'a TestFramework,
    pub project_type: &'a str,
    pub survivors: Vec<Mutant>,
    /// Source lines that no test executes, if a coverage tool reports lines; used in later rounds.
    pub uncovered_lines: Vec<u32>,
    pub known: &'a BTreeSet<TestId>,
    pub jobs: usize,
    /// The boundary that each test must cross; `None` for tests of the file alone.
    pub crossing: Option<&'a Crossing>,
}

/// The result of a [`WriteRequest`].
pub enum WriteOutcome {
    /// The record of what was written, and the tree that contains it.
    Wrote(Box<WrittenTests>, TreeId),
    OutOfBudget(String),
}

impl WriteRequest<'_> {
    /// The files whose code the tests are about: the subject, and the called side of a boundary.
    pub fn list_subjects(&self) -> Vec<RepoPath> {
        let called = self.crossing.map(|crossing| crossing.to.clone());
        std::iter::once(self.subject.file.clone()).chain(called).collect()
    }

    pub fn prompt_subject(&self) -> PromptSubject<'_> {
        PromptSubject {
            source: &self.subject.file,
            requirements: &self.requirements,
            survivors: &self.survivors,
            uncovered_lines: &self.uncovered_lines,
            shown: self.shown,
            framework: self.framework,
            project_type: self.project_type,
        }
    }

    /// The outcome if no test was kept, with the reasons.
    pub fn nothing_kept(&self, dropped: Vec<String>, flaky: Vec<TestId>) -> WriteOutcome {
        let written = WrittenTests { dropped, flaky, ..self.nothing_written() };
        WriteOutcome::Wrote(Box::new(written), self.tree.clone())
    }

    /// The record of this request before any test is written.
    pub fn nothing_written(&self) -> WrittenTests {
        WrittenTests {
            round: self.round,
            subject: self.subject.file.clone(),
            file: None,
            author: String::new(),
            tests: Vec::new(),
            assertions: 0,
            functions: Vec::new(),
            shown: Vec::new(),
            findings: Vec::new(),
            dropped: Vec::new(),
            flaky: Vec::new(),
        }
    }
}
