//! Checks the new test files: imports resolve, no placeholders, asynchronous calls are awaited,
//! assertions are specific, types fit. What is found is repaired by the project's own tools, or the file
//! is dropped (specification.md 3.2, F-137).

use std::collections::BTreeMap;

use crate::domain::id::{RepoPath, TreeId};
use crate::domain::integration::{Integration, TestFile, TestInventory, Untested};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::provider::EMBEDDED;
use crate::domain::quality::{Finding, Severity};
use crate::domain::request::ToolCommands;
use crate::domain::session::files::SUITE_LOG;
use crate::domain::test::TestCase;
use crate::effect::{EffectError, Effects};
use crate::role::{InspectRequest, existing_tests, inspect};

use super::develop::new_files;

/// Log of what the check found and repaired (specification.md 8.13).
const LOG: &str = ".trace/validation-fixes.log";

/// Rules about all tests of a source, of which a boundary may need none.
const NOT_ASKED: &[&str] = &["no-negative-path"];

/// Rules that say nothing of tests of the embedded engine: what they use has run, and edges are among
/// its inputs wherever they have a result.
const PROVEN: &[&str] = &["unknown-package", "no-edge-case"];

/// Why a file is dropped that runs by its name alone.
const UNCOLLECTED: &str = "the test command of the project does not run it";

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
        leave_out(&mut inventory, &worst.file, &describe(worst));
    }
    fx.worktree.checkout(&tree).await?;
    for file in find_uncollected(&tree, &inventory, fx).await? {
        fixed.push(format!("{file} was dropped: {UNCOLLECTED}"));
        tree = drop_file(&tree, &file, fx).await?;
        leave_out(&mut inventory, &file, UNCOLLECTED);
        fx.worktree.checkout(&tree).await?;
    }
    inventory.fixed = fixed;
    fx.store.write_text(LOG, &(inventory.fixed.join("\n") + "\n")).await?;
    Ok((inventory.with_counts(), tree))
}

/// Takes a file out of the inventory and says why its boundary has no test.
fn leave_out(inventory: &mut TestInventory, file: &RepoPath, reason: &str) {
    let (gone, kept): (Vec<TestFile>, Vec<TestFile>) =
        std::mem::take(&mut inventory.test_files).into_iter().partition(|one| one.path == *file);
    inventory.test_files = kept;
    let reason = reason.to_owned();
    let untested =
        gone.into_iter().map(|file| Untested { what: file.boundary, reason: reason.clone() });
    inventory.untested.extend(untested);
}

/// The new files of which the suite, run as the project runs it, gives no result.
async fn find_uncollected(
    tree: &TreeId,
    inventory: &TestInventory,
    fx: &Effects<'_>,
) -> Result<Vec<RepoPath>, EffectError> {
    if inventory.test_files.is_empty() {
        return Ok(Vec::new());
    }
    let cases = existing_tests(tree, fx, SUITE_LOG).await?;
    let is_run = |file: &&TestFile| {
        let is_own = |case: &TestCase| {
            case.file.as_ref() == Some(&file.path) || file.tests.contains(&case.id)
        };
        cases.is_empty() || cases.iter().any(is_own)
    };
    let missing = inventory.test_files.iter().filter(|file| !is_run(file));
    Ok(missing.map(|file| file.path.clone()).collect())
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
