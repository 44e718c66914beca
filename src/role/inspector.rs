//! Gates 001.3 and 001.5 on tests that were just written: what a review of a whole tree says about
//! them, and their score once a gate has changed something.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::lint;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::mutation::Score;
use crate::domain::request::ToolCommands;
use crate::effect::{CandidateRunnerRequest, Concern, EffectError, Effects, GitError, Speed};
use crate::repair::{Limits, Scoring, score};

use super::characterise::left;
use super::reviewer::add;
use super::{GenerateRequest, Review, Reviewed, review, told};

/// Bytes of a source that is looked at; a longer one is made by a program.
const SOURCE: usize = 1 << 20;

/// Mutants when tests run in a warm process, and when each costs a cold start.
const WARM: u32 = 3_000;
const COLD: u32 = 40;

/// Files of one review.
#[derive(Clone, Copy, Debug)]
pub struct Sheets<'a> {
    /// The sources.
    pub tree: &'a TreeId,
    /// Files to look at.
    pub chosen: &'a [RepoPath],
    /// Whether the quality of tests is looked at too.
    pub tests: bool,
    /// Commands of the project that are asked, and its tools where it has none; `None` asks nobody.
    pub tools: Option<&'a ToolCommands>,
}

/// Reviews files of a tree, seen with everything around them.
///
/// # Errors
///
/// When git cannot give a file.
pub async fn inspect(sheets: Sheets<'_>, fx: &Effects<'_>) -> Result<Reviewed, GitError> {
    let texts = texts_of(sheets.tree, fx).await?;
    let chosen: Vec<&RepoPath> =
        sheets.chosen.iter().filter(|file| texts.contains_key(*file)).collect();
    let mut reviewed = review(&Review {
        files: &texts,
        chosen: &chosen,
        installed: &BTreeMap::new(),
        tests: sheets.tests,
    });
    if let Some(own) = sheets.tools.filter(|_| !chosen.is_empty()) {
        fx.worktree.checkout(sheets.tree).await?;
        let concerns = [Concern::Types, Concern::Rules];
        let said = fx.suite.opinions(fx.worktree.root(), &concerns, own).await;
        let looked_at: BTreeSet<RepoPath> = chosen.into_iter().cloned().collect();
        for concern in concerns {
            let told = told(concern, &said.remarks, &looked_at, |_| false);
            add(&mut reviewed.findings, told);
        }
        reviewed.skipped = said.skipped;
    }
    Ok(reviewed)
}

/// All files of a tree; those that are not read as code or as a manifest are empty.
///
/// # Errors
///
/// When git cannot give a file.
pub async fn texts_of(
    tree: &TreeId,
    fx: &Effects<'_>,
) -> Result<BTreeMap<RepoPath, String>, GitError> {
    let mut texts: BTreeMap<RepoPath, String> = BTreeMap::new();
    for file in fx.worktree.files(tree).await? {
        let mut text = String::new();
        if Language::of(&file).is_some() || lint::is_manifest(&file) {
            let bytes = fx.worktree.read(tree, &file).await?.unwrap_or_default();
            if bytes.len() <= SOURCE {
                text = String::from_utf8(bytes).unwrap_or_default();
            }
        }
        texts.insert(file, text);
    }
    Ok(texts)
}

/// Scores tests that passed on the files that they are about.
///
/// # Errors
///
/// When sources cannot be read or tests not be run.
pub async fn rescore(
    request: &GenerateRequest<'_>,
    files: &[RepoPath],
    tests: &[TestId],
    fx: &Effects<'_>,
) -> Result<Score, EffectError> {
    fx.worktree.checkout(request.tree).await?;
    let asked =
        CandidateRunnerRequest { root: fx.worktree.root(), failing: &[], jobs: request.jobs };
    let trial = fx.suite.trial(&asked).await?;
    let candidates = if trial.speed() == Speed::Warm { WARM } else { COLD };
    let scored = score(&Scoring {
        worktree: fx.worktree,
        tree: request.tree,
        trial: trial.as_ref(),
        clock: fx.clock,
        files,
        within: None,
        tests,
        known: None,
        limits: Limits { candidates, time: left(fx.clock.elapsed(), request.until) },
        threshold: request.threshold,
        jobs: request.jobs,
        all_tests: false,
        progress: &|_, _| {},
    })
    .await?;
    Ok(scored.score)
}
