//! Runs generated test files in the suite of the project.

use std::collections::BTreeSet;

use crate::domain::id::{TestId, TreeId};
use crate::domain::test::{Scope, TestCase};
use crate::effect::{EffectError, Effects, GitError, RunError, RunRequest};

use super::GenerateRequest;
use super::test_file::{PinnedFile, edits};

/// Runs all test files in one process; files that make the run fail are run separately.
pub async fn run_files(
    test_files: &[PinnedFile],
    request: &GenerateRequest<'_>,
    hash_seed: u32,
    fx: &Effects<'_>,
) -> Result<Vec<TestCase>, EffectError> {
    let tree = fx.worktree.graft(request.tree, &edits(test_files)).await?;
    fx.worktree.checkout(&tree).await?;
    let packages = python_packages(&tree, fx).await?;
    let directory = fx.suite.facts().directory.clone();
    let names: Vec<TestId> =
        test_files.iter().map(|test_file| test_file.whole(&directory, &packages)).collect();
    match once(fx, names.clone(), hash_seed).await {
        Err(EffectError::Run(error)) if !is_fatal(&error) && names.len() > 1 => {
            let mut all = Vec::new();
            for name in names {
                match once(fx, vec![name], hash_seed).await {
                    Ok(cases) => all.extend(cases),
                    Err(EffectError::Run(error)) if !is_fatal(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(all)
        }
        Err(EffectError::Run(error)) if !is_fatal(&error) => Ok(Vec::new()),
        other => other,
    }
}

/// The folders that are Python packages.
pub async fn python_packages(
    tree: &TreeId,
    fx: &Effects<'_>,
) -> Result<BTreeSet<String>, GitError> {
    let files = fx.worktree.files(tree).await?;
    let made = files.iter().filter(|file| file.file_name() == "__init__.py");
    Ok(made.map(|file| file.parent().to_owned()).collect())
}

/// Whether an error means that no test can be run at all, or that nothing may be published.
pub fn is_fatal(error: &RunError) -> bool {
    matches!(
        error,
        RunError::NotStarted { .. }
            | RunError::Io { .. }
            | RunError::UnknownFramework { .. }
            | RunError::NeedsCommand { .. }
            | RunError::ReportWithoutCommand { .. }
            | RunError::ReportOutside { .. }
            | RunError::ForeignReport { .. }
            | RunError::Canary { .. }
            | RunError::NoReport { is_final: true, .. }
    )
}

async fn once(
    fx: &Effects<'_>,
    names: Vec<TestId>,
    hash_seed: u32,
) -> Result<Vec<TestCase>, EffectError> {
    let scope = Scope::Tests(names);
    let request = RunRequest::new(fx.worktree.root(), &scope, ".process/pin-output.log");
    let request = RunRequest { hash_seed, ..request };
    Ok(fx.suite.run(&request).await?.cases)
}
