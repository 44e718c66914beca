//! Measures whether the tests of a generated file cross the boundary they are asked for
//! (specification.md 3.2, F-136).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::code::test_paths::has_test_name;
use crate::domain::coverage::{FileLines, Measured};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::FileEdit;
use crate::domain::test::Status;
use crate::effect::{CandidateRunnerRequest, EffectError, Effects, Lines, Speed, Trace};
use crate::role::characterise::{Crossing, find_indifferent, severed_texts};

use super::run_file::{DraftFile, RunContext};

/// Maximum time for judging whether tests depend on the call.
const JUDGING: Duration = Duration::from_mins(2);

/// A file's tests that do not run both sides of a boundary or do not depend on its call, or why nothing
/// was measured.
pub async fn find_one_sided(
    file: &DraftFile,
    (from, crossing): (&RepoPath, &Crossing),
    context: RunContext<'_>,
    fx: &Effects<'_>,
) -> Result<Result<BTreeSet<TestId>, String>, EffectError> {
    let tree = fx.worktree.graft(context.tree, &file.edits()).await?;
    fx.worktree.checkout(&tree).await?;
    let ids: Vec<TestId> = file.results.iter().map(|case| case.id.clone()).collect();
    let request =
        CandidateRunnerRequest { root: fx.worktree.root(), failing: &[], jobs: context.jobs };
    let runner = fx.suite.open_candidate_runner(&request).await?;
    let bytes = fx.worktree.read(context.tree, from).await?.unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap_or_default();
    let severed = severed_texts(from, &text, crossing);
    let until = (fx.clock, fx.clock.elapsed() + JUDGING);
    let judge = async |mut one_sided: BTreeSet<TestId>| {
        let sided: Vec<TestId> = ids.iter().filter(|id| !one_sided.contains(id)).cloned().collect();
        let indifferent =
            find_indifferent(runner.as_ref(), (from, &text), &severed, &sided, until).await?;
        one_sided.extend(indifferent);
        Ok(Ok(one_sided))
    };
    if runner.speed() == Speed::Warm {
        let traces = runner.trace(&ids).await?;
        if traces.iter().any(|trace| !trace.lines.is_empty()) {
            let traces = traces.into_iter().map(Trace::without_loading);
            let crossed: BTreeSet<TestId> = traces
                .filter(|trace| crossing.is_in(from, trace))
                .map(|trace| trace.test)
                .collect();
            return judge(ids.iter().filter(|id| !crossed.contains(id)).cloned().collect()).await;
        }
    }
    let trace = match measure_alone(file, (from, crossing), context, fx).await? {
        Ok(trace) => trace,
        Err(reason) => return Ok(Err(reason)),
    };
    if !crossing.is_in(from, &trace) {
        return Ok(Ok(ids.into_iter().collect()));
    }
    fx.worktree.checkout(&tree).await?;
    judge(BTreeSet::new()).await
}

/// What the tests of one file run together, measured without any other test.
async fn measure_alone(
    file: &DraftFile,
    (from, crossing): (&RepoPath, &Crossing),
    context: RunContext<'_>,
    fx: &Effects<'_>,
) -> Result<Result<Trace, String>, EffectError> {
    let mut edits = file.edits();
    for other in fx.worktree.files(context.tree).await?.into_iter().filter(has_test_name) {
        let bytes = fx.worktree.read(context.tree, &other).await?.unwrap_or_default();
        if let Ok(text) = String::from_utf8(bytes) {
            edits.files.push(FileEdit { file: other, before: Some(text), after: None });
        }
    }
    let alone = fx.worktree.graft(context.tree, &edits).await?;
    fx.worktree.checkout(&alone).await?;
    let sides = BTreeSet::from([from.clone(), crossing.to.clone()]);
    let files = match fx.suite.coverage(fx.worktree.root(), &sides).await {
        Measured::Lines { files, .. } => files,
        Measured::NoTests { .. } => BTreeMap::new(),
        Measured::Nothing { reason } => return Ok(Err(reason)),
    };
    let ran = |lines: FileLines| {
        lines.lines.into_iter().filter(|(_, hits)| *hits > 0).map(|(line, _)| line).collect()
    };
    let lines: Lines = files.into_iter().map(|(file, lines)| (file, ran(lines))).collect();
    let test = TestId(file.path.to_string());
    let (status, duration) = (Status::Passed, Duration::ZERO);
    Ok(Ok(Trace { test, status, duration, lines, loaded: Lines::new(), failure: None }))
}
