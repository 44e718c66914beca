//! Which tests a change can affect (product.md 7.14, 13.2).

use std::collections::{BTreeMap, BTreeSet};

use crate::code::imports::Graph;
use crate::code::language::Language;
use crate::code::testing;
use crate::domain::fix_loop::FixLoop;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::proposal::EditSet;
use crate::domain::test::Status;
use crate::effect::{Effects, GitError};

/// Files that are read for the graph at most; beyond, every test counts as affected.
const FILES: usize = 50_000;

/// Bytes of a source file that are read at most.
const FILE_LIMIT: usize = 1 << 20;

/// The import graph of the accepted sources, kept up to date between iterations.
#[derive(Default)]
pub struct Impact {
    known: Option<(TreeId, BTreeMap<RepoPath, String>, Graph)>,
}

impl Impact {
    /// Tests that an edit may affect, failing ones first; empty when all of them may be, so that
    /// only a full run tells.
    ///
    /// # Errors
    ///
    /// When the sources cannot be read.
    pub async fn affected(
        &mut self,
        state: &FixLoop,
        edits: &EditSet,
        fx: &Effects<'_>,
    ) -> Result<Vec<TestId>, GitError> {
        let changed: BTreeSet<RepoPath> =
            edits.files.iter().map(|edit| edit.file.clone()).collect();
        // What is no source may be read by any test.
        if changed.iter().any(|file| Language::of(file).is_none()) {
            return Ok(Vec::new());
        }
        let Some(graph) = self.graph(&state.accepted_tree, fx).await? else {
            return Ok(Vec::new());
        };
        let reached = graph.affected_by(&changed);
        let affected = |file: Option<&RepoPath>| file.is_none_or(|file| reached.contains_key(file));
        let planned = state.attempt.iter().filter_map(|attempt| attempt.plan.as_ref());
        let planned: BTreeSet<&TestId> = planned.flat_map(|plan| &plan.affected_tests).collect();
        let mut tests: Vec<(bool, &TestId)> = state
            .ledger
            .cases()
            .filter(|case| case.status != Status::Skipped)
            .filter(|case| affected(case.file.as_ref()) || planned.contains(&case.id))
            .map(|case| (case.status != Status::Failed, &case.id))
            .collect();
        tests.sort();
        Ok(tests.into_iter().map(|(_, id)| id.clone()).collect())
    }

    /// Sources that the failing tests need, for localisation without coverage.
    ///
    /// # Errors
    ///
    /// When the sources cannot be read.
    pub async fn related(
        &mut self,
        state: &FixLoop,
        fx: &Effects<'_>,
    ) -> Result<Vec<RepoPath>, GitError> {
        let tests: BTreeSet<RepoPath> =
            state.ledger.failing_cases().filter_map(|case| case.file.clone()).collect();
        let Some(graph) = self.graph(&state.accepted_tree, fx).await? else {
            return Ok(Vec::new());
        };
        let needed = graph.needed_by(&tests);
        Ok(needed.into_iter().filter(|file| !testing::is_test(file)).collect())
    }

    /// The graph of a tree; only files that changed since the last one are read again.
    async fn graph(&mut self, tree: &TreeId, fx: &Effects<'_>) -> Result<Option<&Graph>, GitError> {
        if self.known.as_ref().is_none_or(|(known, ..)| known != tree) {
            self.known = if let Some((old, mut files, mut graph)) = self.known.take() {
                let diffs = fx.worktree.diff(&old, tree).await?;
                let changed: BTreeSet<RepoPath> =
                    diffs.iter().map(|diff| diff.file.clone()).collect();
                for diff in diffs {
                    match diff.after {
                        Some(text) => drop(files.insert(diff.file, text)),
                        None => drop(files.remove(&diff.file)),
                    }
                }
                graph.update(&changed, &files);
                Some((tree.clone(), files, graph))
            } else {
                let names = fx.worktree.files(tree).await?;
                if names.len() > FILES {
                    return Ok(None);
                }
                let mut files = BTreeMap::new();
                for name in names.into_iter().filter(|name| Language::of(name).is_some()) {
                    let bytes = fx.worktree.read(tree, &name).await?.unwrap_or_default();
                    if bytes.len() <= FILE_LIMIT {
                        files.insert(name, String::from_utf8_lossy(&bytes).into_owned());
                    }
                }
                let graph = Graph::build(&files);
                Some((tree.clone(), files, graph))
            };
        }
        Ok(self.known.as_ref().map(|(_, _, graph)| graph))
    }
}
