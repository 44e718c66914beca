//! Checks the new test files: imports resolve, no placeholders, asynchronous calls are awaited,
//! assertions are specific, types fit. What is found is repaired by the project's own tools, or the file
//! is dropped (specification.md 3.2, F-137).

use std::collections::BTreeMap;

use crate::domain::id::{RepoPath, TreeId};
use crate::domain::integration::{Integration, TestInventory, Untested};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::provider::EMBEDDED;
use crate::domain::quality::{Finding, Severity};
use crate::domain::request::ToolCommands;
use crate::effect::{EffectError, Effects};
use crate::role::{InspectRequest, inspect};

use super::develop::new_files;

/// Log of what the check found and repaired (specification.md 8.13).
const LOG: &str = ".trace/validation-fixes.log";

/// Rules about all tests of a source, of which a boundary may need none.
const NOT_ASKED: &[&str] = &["no-negative-path"];

/// Rules that say nothing of tests of the embedded engine: what they use has run, and edges are among
/// its inputs wherever they have a result.
const PROVEN: &[&str] = &["unknown-package", "no-edge-case"];

/// Checks the new files of a session. Returns those that stay, and the sources with them.
pub async fn check_new_files(
    state: &Integration,
    own: &ToolCommands,
    fx: &Effects<'_>,
) -> Result<(TestInventory, TreeId), EffectError> {
    let mut inventory = state.test_inventory.clone().unwrap_or_default();
    let mut tree = state.checkpoint.tree.clone();
    let mut fixed = Vec::new();
    if !inventory.test_files.is_empty() {
        tree = tidy(&tree, &inventory, &mut fixed, fx).await?;
    }
    loop {
        let files = new_files(&inventory);
        let request = InspectRequest { tree: &tree, chosen: &files, tests: true, tools: Some(own) };
        let findings = inspect(request, fx).await?.findings;
        let is_run = |file: &RepoPath| {
            inventory.test_files.iter().any(|one| one.path == *file && one.author == EMBEDDED)
        };
        let is_grave = |one: &&Finding| {
            let id = one.id.as_str();
            let is_idle = NOT_ASKED.contains(&id) || PROVEN.contains(&id) && is_run(&one.file);
            one.severity != Severity::Warning && !is_idle
        };
        let Some(worst) = findings.iter().find(is_grave) else { break };
        fixed.push(format!("{} was dropped: {}", worst.file, describe(worst)));
        tree = drop_file(&tree, &worst.file, fx).await?;
        let (gone, kept) =
            inventory.test_files.into_iter().partition(|file| file.path == worst.file);
        inventory.test_files = kept;
        let gone: Vec<crate::domain::integration::TestFile> = gone;
        let reason = describe(worst);
        let untested =
            gone.into_iter().map(|file| Untested { what: file.boundary, reason: reason.clone() });
        inventory.untested.extend(untested);
    }
    fx.worktree.checkout(&tree).await?;
    inventory.fixed = fixed;
    fx.store.write_text(LOG, &(inventory.fixed.join("\n") + "\n")).await?;
    Ok((inventory.with_counts(), tree))
}

fn describe(finding: &Finding) -> String {
    format!("{} in line {}: {}", finding.id, finding.line, finding.message)
}

/// Lets the project's own fixers and formatters change the new files.
async fn tidy(
    tree: &TreeId,
    inventory: &TestInventory,
    fixed: &mut Vec<String>,
    fx: &Effects<'_>,
) -> Result<TreeId, EffectError> {
    fx.worktree.checkout(tree).await?;
    let files = new_files(inventory);
    let after: BTreeMap<RepoPath, String> =
        fx.suite.autofix(fx.worktree.root(), &files).await.texts;
    let mut edits = EditSet { files: Vec::new() };
    for (file, text) in after {
        let bytes = fx.worktree.read(tree, &file).await?.unwrap_or_default();
        let before = String::from_utf8(bytes).unwrap_or_default();
        if before != text {
            fixed.push(format!("{file} was formatted by the project's own tools"));
            edits.files.push(FileEdit { file, before: Some(before), after: Some(text) });
        }
    }
    Ok(fx.worktree.graft(tree, &edits).await?)
}

/// The sources without a file.
pub async fn drop_file(
    tree: &TreeId,
    file: &RepoPath,
    fx: &Effects<'_>,
) -> Result<TreeId, EffectError> {
    let bytes = fx.worktree.read(tree, file).await?.unwrap_or_default();
    let before = Some(String::from_utf8(bytes).unwrap_or_default());
    let edit = FileEdit { file: file.clone(), before, after: None };
    Ok(fx.worktree.graft(tree, &EditSet { files: vec![edit] }).await?)
}
