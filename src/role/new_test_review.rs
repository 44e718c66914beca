//! Reviews newly written tests for the code check and the test review, with the lint rules and the project's own
//! tools.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::lint;
use crate::domain::id::{RepoPath, TreeId};
use crate::domain::request::ToolCommands;
use crate::effect::{Concern, Effects, GitError};

use super::static_review::{
    ReviewRequest, ReviewResult, add_findings, review, tool_findings, unchecked_languages,
};

/// Maximum number of bytes of a source; larger ones are usually generated.
const SOURCE_LIMIT: usize = 1 << 20;

/// Which files of a tree to review, and how.
#[derive(Clone, Copy, Debug)]
pub struct InspectRequest<'a> {
    pub tree: &'a TreeId,
    pub chosen: &'a [RepoPath],
    pub tests: bool,
    /// The project's check commands, or its tools if it has none; `None` to run no tools.
    pub tools: Option<&'a ToolCommands>,
}

/// Reviews files in the context of their repository, with its type checkers and linters.
pub async fn inspect(
    request: InspectRequest<'_>,
    fx: &Effects<'_>,
) -> Result<ReviewResult, GitError> {
    let texts = texts_of(request.tree, fx).await?;
    let chosen: Vec<&RepoPath> =
        request.chosen.iter().filter(|file| texts.contains_key(*file)).collect();
    let mut result = review(&ReviewRequest {
        files: &texts,
        chosen: &chosen,
        installed: &BTreeMap::new(),
        framework: Some(fx.suite.facts().framework),
        tests: request.tests,
    });
    if let Some(commands) = request.tools.filter(|_| !chosen.is_empty()) {
        fx.worktree.checkout(request.tree).await?;
        let concerns = [Concern::Types, Concern::Rules];
        let lint_report = fx.suite.lint(fx.worktree.root(), &concerns, commands).await;
        let reviewed: BTreeSet<RepoPath> = chosen.into_iter().cloned().collect();
        for concern in concerns {
            let reported = tool_findings(concern, &lint_report.remarks, &reviewed, |_| false);
            add_findings(&mut result.findings, reported);
        }
        result.skipped = unchecked_languages(&reviewed, &lint_report);
        result.failed_tools = lint_report.skipped;
    }
    Ok(result)
}

/// The texts of all files of a tree; files that are neither code nor a manifest are empty.
pub async fn texts_of(
    tree: &TreeId,
    fx: &Effects<'_>,
) -> Result<BTreeMap<RepoPath, String>, GitError> {
    let mut texts: BTreeMap<RepoPath, String> = BTreeMap::new();
    for file in fx.worktree.files(tree).await? {
        let mut text = String::new();
        if Language::of(&file).is_some() || lint::is_manifest(&file) {
            let bytes = fx.worktree.read(tree, &file).await?.unwrap_or_default();
            if bytes.len() <= SOURCE_LIMIT {
                text = String::from_utf8(bytes).unwrap_or_default();
            }
        }
        texts.insert(file, text);
    }
    Ok(texts)
}
