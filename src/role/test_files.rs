//! [`TestFiles`]: which files of a tree are tests, by all evidence that a session has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::GlobSet;

use crate::code::imports::Graph;
use crate::code::test_evidence::{Evidence, TestReason};
use crate::domain::id::RepoPath;

/// The sources of a tree, and what they import of each other.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub files: BTreeMap<RepoPath, String>,
    pub imports: Graph,
}

/// Answers whether a file is a test. Without sources only its name and the test command say so.
#[derive(Clone, Debug, Default)]
pub struct TestFiles {
    pub sources: Arc<Sources>,
    /// Globs of the files that the test command runs by themselves.
    pub run: GlobSet,
    /// Files of the frames of failed assertions, innermost first and that of the test last.
    pub stacks: BTreeSet<Vec<RepoPath>>,
}

impl TestFiles {
    /// The evidence that texts alone give.
    pub fn of_texts(files: BTreeMap<RepoPath, String>) -> Self {
        let sources = Arc::new(Sources { files, imports: Graph::default() });
        Self { sources, ..Self::default() }
    }

    /// Why a file is a test; `None` for the product.
    pub fn reason(&self, file: &RepoPath) -> Option<TestReason> {
        let evidence = Evidence {
            files: &self.sources.files,
            imports: &self.sources.imports,
            is_run: &|file| self.run.is_match(file.as_str()),
            stacks: &self.stacks,
        };
        evidence.reason(file)
    }
}
