//! Formats new tests with the project's own safe fixers before the code check inspects them, so that
//! no file is dropped for a problem that these tools fix (specification.md 6.7, phase 5).

use crate::cycle::error::Failure;
use crate::cycle::session_files::write;
use crate::domain::id::RepoPath;
use crate::domain::quality::{Finding, Severity, Stage};
use crate::domain::test::{Scope, Status};
use crate::domain::test_plan::generation::GENERATION_FILE;
use crate::effect::RunRequest;
use crate::report::validation::Skipped;

use super::write::{LOG, TestWriting};

impl TestWriting<'_> {
    /// Formats the new files, and only these. A fixed text stays when the tests of its file still
    /// pass. Otherwise the file of a provider is dropped, since the next run of the fixer would break
    /// it; a characterisation test keeps its text. Adds to `fixed` what changed; returns the fixers
    /// that failed to run.
    pub(super) async fn format_new(
        &mut self,
        fixed: &mut Vec<Finding>,
    ) -> Result<Vec<Skipped>, Failure> {
        let files = self.new_files();
        if files.is_empty() {
            return Ok(Vec::new());
        }
        self.fx.worktree.checkout(&self.generation.tree).await?;
        let made = self.fx.suite.autofix(self.fx.worktree.root(), &files).await;
        let tools = made.tools.join(", ");
        if !made.texts.is_empty() {
            self.fx.step(&format!("tidying the new tests with {tools}"));
        }
        for (file, text) in made.texts {
            let old = self.generation.tree.clone();
            self.replace(&file, Some(text)).await?;
            if self.holds(&file).await? {
                fixed.push(tidied(file, &tools));
            } else {
                self.generation.tree = old;
                if self.generation.made.iter().any(|made| made.is_written(&file)) {
                    self.drop_file(&file, "its tests do not hold once it is repaired").await?;
                }
            }
            write(self.fx, GENERATION_FILE, &self.generation).await?;
        }
        let silent = made.skipped.into_iter();
        Ok(silent.map(|(what, reason)| Skipped { what, reason }).collect())
    }

    /// Whether all tests of a new file pass.
    pub(super) async fn holds(&self, file: &RepoPath) -> Result<bool, Failure> {
        let tests = self.tests_of(file);
        self.fx.worktree.checkout(&self.generation.tree).await?;
        let count = tests.len();
        let scope = Scope::Tests(tests);
        let request = RunRequest::new(self.fx.worktree.root(), &scope, LOG);
        let ran = self.fx.suite.run(&request).await;
        Ok(ran.is_ok_and(|results| {
            let passed = results.cases.iter().filter(|case| case.status == Status::Passed);
            passed.count() >= count && results.count(Status::Failed) == 0
        }))
    }
}

fn tidied(file: RepoPath, tools: &str) -> Finding {
    Finding {
        stage: Stage::Code,
        id: "project-rule".into(),
        category: "lint".into(),
        severity: Severity::Warning,
        file,
        line: 1,
        message: format!("rules and format of the project, by its own {tools}"),
        suggestion: String::new(),
        auto_fixable: true,
    }
}
