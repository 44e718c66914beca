//! Compares what a proposal changes for the inputs of failing tests with what it changes for others.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::code::language::Language;
use crate::code::special_case::adds_choice;
use crate::code::test_paths;
use crate::domain::fix_loop::FixLoop;
use crate::domain::id::{RepoPath, TreeId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::effect::{EffectError, Effects, Observation, ObserveRequest, World};
use crate::repair::{self, InputComparison};

/// Time limit of a single call.
const CALL: Duration = Duration::from_secs(1);

/// Why changed functions show that a proposal is made for the tests; `None` otherwise.
pub async fn compare_inputs(
    edits: &EditSet,
    state: &FixLoop,
    fx: &Effects<'_>,
) -> Result<Option<String>, EffectError> {
    let failing = &mut state.ledger.failing_cases();
    let tests = repair::test_sources(fx.worktree, &state.accepted_tree, failing).await?;
    let compared: Vec<_> = edits.files.iter().filter_map(|edit| compared(edit, &tests)).collect();
    if compared.is_empty() {
        return Ok(None);
    }
    let before = observe_all(&state.accepted_tree, &compared, fx).await?;
    let tree = fx.worktree.graft(&state.accepted_tree, edits).await?;
    let after = observe_all(&tree, &compared, fx).await?;
    fx.worktree.checkout(&state.accepted_tree).await?;
    let mut results = before.iter().zip(&after);
    let functions = compared.iter().flat_map(|one| one.functions.iter().map(|f| (f, one.chooses)));
    Ok(functions
        .zip(results.by_ref())
        .find_map(|((function, chooses), (before, after))| function.judge(before, after, chooses)))
}

/// An edited file with the calls by which its functions are compared.
struct ComparedFile<'a> {
    file: &'a RepoPath,
    functions: Vec<InputComparison>,
    chooses: bool,
}

fn compared<'a>(
    edit: &'a FileEdit,
    tests: &BTreeMap<RepoPath, String>,
) -> Option<ComparedFile<'a>> {
    let language = Language::of(&edit.file).filter(|_| !test_paths::is_test(&edit.file))?;
    let (before, after) = (edit.before.as_deref()?, edit.after.as_deref()?);
    let functions = repair::compared_functions(language, &edit.file, after, tests);
    let chooses = adds_choice(language, before, after);
    (!functions.is_empty()).then_some(ComparedFile { file: &edit.file, functions, chooses })
}

/// All calls' results on a tree, by function; a call that could not be made is refused.
async fn observe_all(
    tree: &TreeId,
    compared: &[ComparedFile<'_>],
    fx: &Effects<'_>,
) -> Result<Vec<Vec<Observation>>, EffectError> {
    fx.worktree.checkout(tree).await?;
    let files: BTreeSet<RepoPath> = fx.worktree.files(tree).await?.into_iter().collect();
    let mut results = Vec::new();
    for one in compared {
        for function in &one.functions {
            let request = ObserveRequest {
                root: fx.worktree.root(),
                file: one.file,
                module: &repair::module_of(one.file, &fx.suite.facts().directory, &files),
                bindings: function.binding.as_slice(),
                files: &[],
                calls: &function.calls,
                world: World { number: 2 },
                limit: CALL,
            };
            results.push(fx.observer.observe(&request).await.unwrap_or_default());
        }
    }
    Ok(results)
}
