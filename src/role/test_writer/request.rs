//! The request for the tests of one source, and its outcome.

use std::collections::BTreeSet;

use crate::domain::id::{TestId, TreeId};
use crate::domain::mutation::Mutant;
use crate::domain::test_plan::analysis::{FileRequirements, Requirement};
use crate::domain::test_plan::context::TestFramework;
use crate::domain::test_plan::written_tests::WrittenTests;

use super::source_index::PromptSubject;

/// The tests of one source, as they are requested from providers.
pub struct WriteRequest<'a> {
    pub task: &'a str,
    pub name: String,
    /// From 1; later rounds are about surviving mutants and lines that no test runs.
    pub round: u32,
    /// The sources with all tests that were kept so far.
    pub tree: &'a TreeId,
    pub subject: &'a FileRequirements,
    pub requirements: Vec<&'a Requirement>,
    /// All requirements of the task; tests cannot claim others.
    pub ids: &'a BTreeSet<String>,
    pub framework: &'a TestFramework,
    pub project_type: &'a str,
    pub survivors: Vec<Mutant>,
    /// Lines of the source that no test runs, if a coverage tool reports lines; used in later
    /// rounds.
    pub unrun: Vec<u32>,
    pub suggestions: &'a str,
    pub known: &'a BTreeSet<TestId>,
    pub jobs: usize,
}

/// The result of a request for tests.
pub enum WriteOutcome {
    /// What was written, if anything, and the sources with it.
    Wrote(Box<WrittenTests>, TreeId),
    OutOfBudget(String),
}

impl WriteRequest<'_> {
    pub fn prompt_subject(&self) -> PromptSubject<'_> {
        PromptSubject {
            source: &self.subject.file,
            requirements: &self.requirements,
            survivors: &self.survivors,
            unrun: &self.unrun,
            suggestions: self.suggestions,
            framework: self.framework,
            project_type: self.project_type,
        }
    }

    /// The outcome when no test is kept, with the reasons.
    pub fn nothing_kept(&self, dropped: Vec<String>, flaky: Vec<TestId>) -> WriteOutcome {
        let written = WrittenTests { dropped, flaky, ..self.nothing_written() };
        WriteOutcome::Wrote(Box::new(written), self.tree.clone())
    }

    /// The record of this request before anything is written.
    pub fn nothing_written(&self) -> WrittenTests {
        WrittenTests {
            task: self.task.to_owned(),
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
