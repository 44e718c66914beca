//! Has providers write, review and stabilise the tests of one source file.

use std::collections::BTreeSet;

use crate::domain::id::{RepoPath, TestId};
use crate::domain::test_plan::requirement::PlannedFile;
use crate::domain::test_plan::written_tests::WrittenTests;
use crate::effect::{EffectError, Effects};
use crate::role::ask::{Budgeted, ProviderChain, Reply};
use crate::role::prompt::Role;

use super::draft_review::DraftReview;
use super::reader::GenerateReader;
use super::request::{WriteOutcome, WriteRequest};
use super::source_index::SourceIndex;
use super::stability;
use crate::role::test_path;

/// Has providers write one source's tests; a failing provider is part of the outcome.
pub async fn write_tests(
    request: &WriteRequest<'_>,
    sources: &mut SourceIndex,
    providers: &ProviderChain,
    fx: &Effects<'_>,
) -> Result<WriteOutcome, EffectError> {
    let subject = &request.subject.file;
    let Some(path) = free_path(request, sources) else {
        let reason = format!("no place for tests of {subject} was found");
        return Ok(request.nothing_kept(vec![reason], Vec::new()));
    };
    let parts = sources.parts(&request.prompt_subject());
    let reader =
        GenerateReader::new(request, sources, path, parts, request.name.clone(), providers, fx);
    fx.step(&format!("asking for tests of {subject}"));
    let names = (request.task, request.name.as_str());
    let answer = match providers.ask(names, Role::Generator, &reader, fx).await? {
        Reply::Good(answer) | Reply::Degraded(answer) => answer,
        Reply::NoAnswer => {
            let mut dropped = reader.refusals();
            dropped.push("no provider gave a file that can be used".to_owned());
            return Ok(request.nothing_kept(dropped, Vec::new()));
        }
        Reply::OutOfBudget(reason) => return Ok(WriteOutcome::OutOfBudget(reason)),
    };
    let review = DraftReview { request, reader: &reader, providers, fx };
    let reviewed = match review.review(answer.value).await? {
        Budgeted::Done(reviewed) => reviewed,
        Budgeted::OutOfBudget(reason) => return Ok(WriteOutcome::OutOfBudget(reason)),
    };
    let mut dropped = reviewed.dropped;
    let Some(file) = reviewed.file else {
        return Ok(request.nothing_kept(dropped, Vec::new()));
    };
    fx.step("running the new tests alone, in another order, and three times");
    let expected_failures: BTreeSet<TestId> = reviewed.defects.keys().cloned().collect();
    let stable =
        stability::verify_stability(file, &expected_failures, reader.run_context(), fx).await?;
    let stable =
        stability::drop_blind_tests(stable, &request.list_subjects(), reader.run_context(), fx)
            .await?;
    dropped.extend(stable.dropped);
    let Some(file) = stable.file else {
        return Ok(request.nothing_kept(dropped, stable.flaky));
    };
    let tree = fx.worktree.graft(request.tree, &file.edits()).await?;
    fx.worktree.checkout(&tree).await?;
    let written = WrittenTests {
        flaky: stable.flaky,
        dropped,
        author: answer.provider,
        ..review.describe(&file, &reviewed.covers, &reviewed.defects, &tree).await?
    };
    sources.texts.insert(file.path, file.text);
    Ok(WriteOutcome::Wrote(Box::new(written), tree))
}

/// The path for the new test file: as planned, or next to it if that file exists.
fn free_path(request: &WriteRequest<'_>, sources: &SourceIndex) -> Option<RepoPath> {
    let exists = |path: &RepoPath| sources.texts.contains_key(path);
    let has_folder = |folder: &str| sources.texts.keys().any(|file| file.parent() == folder);
    let PlannedFile { test_file, file, .. } = request.subject;
    test_path::free_path(test_file, file, &exists, &has_folder)
}
