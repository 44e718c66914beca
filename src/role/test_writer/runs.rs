//! A written file is run at once: as it is, three times, each test alone, and turned round
//! (product.md 3.1 phase 5, 4.7).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::code::language::Language;
use crate::code::test_cases::{self, SourceTest};
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::test::{Scope, Status, TestCase};
use crate::effect::{CandidateRunnerRequest, EffectError, Effects, RunError, RunRequest, Speed};
use crate::repair::can_render;
use crate::role::characterise::{is_fatal, packages, whole_file};
use crate::role::context::settled;

/// Runs in fresh processes that must agree.
const RUNS: usize = 3;

/// Tests that are run alone when each costs a cold start.
const COLD_ALONE: usize = 5;

/// Limit of one test alone, or of one file turned round.
const ALONE: Duration = Duration::from_secs(30);

/// Characters of an output that are told.
const TAIL: usize = 1_500;

/// A test file in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Where it lies.
    pub place: RepoPath,
    /// Its text.
    pub text: String,
    /// What its tests said when they ran last.
    pub ran: Vec<TestCase>,
}

/// Files that are run and what is known of the suite.
#[derive(Clone, Copy)]
pub struct Track<'a> {
    /// The sources without the new file.
    pub tree: &'a TreeId,
    /// Tests of the suite that are not of the new file.
    pub known: &'a BTreeSet<TestId>,
    /// Processes at the same time.
    pub jobs: usize,
}

impl Sheet {
    /// The contributions of its text.
    #[must_use]
    pub fn cases(&self) -> Vec<SourceTest> {
        Language::of(&self.place)
            .map(|language| test_cases::source_tests(language, &self.text))
            .unwrap_or_default()
    }

    /// The new file as an edit.
    #[must_use]
    pub fn edits(&self) -> EditSet {
        EditSet {
            files: vec![FileEdit {
                file: self.place.clone(),
                before: None,
                after: Some(self.text.clone()),
            }],
        }
    }

    /// Its tests that ended so.
    pub fn that(&self, status: Status) -> impl Iterator<Item = &TestCase> {
        self.ran.iter().filter(move |case| case.status == status)
    }

    /// Takes tests out of the text; whether any is left.
    pub fn cut(&mut self, gone: &BTreeSet<TestId>) -> bool {
        let Some(language) = Language::of(&self.place) else { return false };
        let out = |case: &SourceTest| gone.iter().any(|id| case.runs_as(id.as_str()));
        match test_cases::without(language, &self.text, &out) {
            Some(text) => {
                self.text = text;
                // What ran under the name of a piece that is gone is gone with it.
                let left = self.cases();
                self.ran.retain(|case| left.iter().any(|piece| piece.runs_as(case.id.as_str())));
                true
            }
            None => false,
        }
    }
}

/// Runs one file. The inner error is what a person, or a model, needs to know: the file cannot be
/// loaded, or the run did not end.
///
/// # Errors
///
/// When git fails or no test can be run at all.
pub async fn run(
    sheet: &Sheet,
    track: Track<'_>,
    fx: &Effects<'_>,
) -> Result<Result<Vec<TestCase>, String>, EffectError> {
    let tree = fx.worktree.graft(track.tree, &sheet.edits()).await?;
    fx.worktree.checkout(&tree).await?;
    let facts = fx.suite.facts();
    let scope = if can_render(facts.framework) {
        let packages = packages(&tree, fx).await?;
        Scope::Tests(vec![whole_file(&sheet.place, facts.framework, &facts.directory, &packages)])
    } else {
        Scope::Full
    };
    let request =
        RunRequest { root: fx.worktree.root(), scope: &scope, log: ".process/written-output.log" };
    let cases = match fx.suite.run(&request).await {
        Ok(results) => results.cases,
        Err(error) if is_fatal(&error) => return Err(error.into()),
        Err(error @ RunError::TimedOut { .. }) => {
            return Ok(Err(format!("does-not-end: {error}")));
        }
        Err(error) => return Ok(Err(unloaded(&told(&error, fx)))),
    };
    let contributions = sheet.cases();
    let own: Vec<TestCase> = cases
        .iter()
        .filter(|case| !track.known.contains(&case.id))
        .filter(|case| contributions.iter().any(|piece| piece.runs_as(case.id.as_str())))
        .cloned()
        .collect();
    if !own.is_empty() {
        return Ok(Ok(own));
    }
    let failed = cases
        .iter()
        .filter(|case| !track.known.contains(&case.id))
        .find_map(|case| case.failure.as_ref());
    Ok(Err(match failed {
        Some(failure) => {
            let said = format!("{} {}\n{}", failure.class, failure.message, failure.stack);
            unloaded(&plain(&said, fx))
        }
        None => "not-collected: the framework finds no test in it".to_owned(),
    }))
}

fn told(error: &RunError, fx: &Effects<'_>) -> String {
    let tail = match error {
        RunError::NoReport { tail, .. } => tail.as_str(),
        _ => "",
    };
    plain(&format!("{error}\n{tail}"), fx)
}

/// A foreign text without private paths, bounded.
#[must_use]
pub fn plain(text: &str, fx: &Effects<'_>) -> String {
    let text = settled(text, &fx.worktree.root().display().to_string());
    let text: String = text.chars().filter(|c| !c.is_control() || *c == '\n').take(TAIL).collect();
    text.trim().to_owned()
}

/// What runners say of a module that is not there.
const NO_MODULE: &[&str] = &[
    "No module named",
    "ModuleNotFoundError",
    "Cannot find module",
    "cannot import name",
    "ERR_MODULE_NOT_FOUND",
    "unresolved import",
    "is not in std",
    "no required module provides",
    // Names that a compiler does not find.
    "undefined: ",
    "cannot find symbol",
    "does not exist",
    "unlinked crate",
    "cannot find function",
    "cannot find type",
    "cannot find value",
];

/// Why a file gave no result, with a name in front.
fn unloaded(said: &str) -> String {
    let missing = said.lines().rev().find(|line| NO_MODULE.iter().any(|sign| line.contains(sign)));
    match missing {
        Some(line) => format!("hallucinated-import: {}", line.trim()),
        None => format!("cannot-be-loaded: {said}"),
    }
}

/// Runs the file until all that is left of it says the same in three runs, alone and turned
/// round; what does not is cut out. `findings` fail and must go on failing. Answers with the
/// reasons of what is gone and with the tests that changed between runs; the sheet is `None` when
/// nothing is left.
///
/// # Errors
///
/// When git fails or no test can be run at all.
pub async fn settle(
    mut sheet: Sheet,
    findings: &BTreeSet<TestId>,
    track: Track<'_>,
    fx: &Effects<'_>,
) -> Result<(Option<Sheet>, Vec<String>, Vec<TestId>), EffectError> {
    let (mut dropped, mut flaky) = (Vec::new(), Vec::new());
    loop {
        let mut bad: BTreeMap<TestId, String> = BTreeMap::new();
        let mut held: BTreeMap<TestId, usize> = BTreeMap::new();
        let expected = |id: &TestId, status: Status| match status {
            Status::Passed => !findings.contains(id),
            Status::Failed => findings.contains(id),
            Status::Skipped => false,
        };
        for _ in 0..RUNS {
            match run(&sheet, track, fx).await? {
                Err(problem) => {
                    dropped.push(format!("{}: {problem}", sheet.place));
                    return Ok((None, dropped, flaky));
                }
                Ok(cases) => {
                    for case in &cases {
                        *held.entry(case.id.clone()).or_default() +=
                            usize::from(expected(&case.id, case.status));
                    }
                    sheet.ran = cases;
                }
            }
        }
        for (id, count) in held {
            if count < RUNS {
                let reason = match count {
                    0 if findings.contains(&id) => "it passes after all".to_owned(),
                    0 => "it fails, and the test is wrong".to_owned(),
                    _ => {
                        flaky.push(id.clone());
                        format!("it said the same in {count} of {RUNS} runs of the same sources")
                    }
                };
                bad.insert(id, reason);
            }
        }
        if bad.is_empty() {
            bad = apart(&sheet, findings, track, fx).await?;
        }
        if bad.is_empty() {
            return Ok((Some(sheet), dropped, flaky));
        }
        dropped.extend(bad.iter().map(|(id, reason)| format!("{id}: {reason}")));
        if !sheet.cut(&bad.into_keys().collect()) {
            return Ok((None, dropped, flaky));
        }
    }
}

/// Tests that say something else alone, or when the others come in reverse order.
async fn apart(
    sheet: &Sheet,
    findings: &BTreeSet<TestId>,
    track: Track<'_>,
    fx: &Effects<'_>,
) -> Result<BTreeMap<TestId, String>, EffectError> {
    let mut bad = BTreeMap::new();
    let Some(language) = Language::of(&sheet.place) else { return Ok(bad) };
    let tree = fx.worktree.graft(track.tree, &sheet.edits()).await?;
    fx.worktree.checkout(&tree).await?;
    let request =
        CandidateRunnerRequest { root: fx.worktree.root(), failing: &[], jobs: track.jobs };
    let trial = fx.suite.trial(&request).await?;
    let instead = |text: String| EditSet {
        files: vec![FileEdit {
            file: sheet.place.clone(),
            before: Some(sheet.text.clone()),
            after: Some(text),
        }],
    };
    let wrong = |id: &TestId, status: Status| (status == Status::Passed) == findings.contains(id);
    let mut ids: Vec<TestId> = sheet.ran.iter().map(|case| case.id.clone()).collect();
    let turned = if language == Language::Python {
        // The runner takes tests in the order in which they are named.
        ids.reverse();
        instead(sheet.text.clone())
    } else {
        instead(test_cases::with_tests_reversed(language, &sheet.text))
    };
    for result in trial.judge(&turned, &ids, ALONE, false).await? {
        if wrong(&result.test, result.status) {
            let reason = "it does not hold when the tests run in another order".to_owned();
            bad.insert(result.test, reason);
        }
    }
    let alone = if trial.speed() == Speed::Warm { ids.len() } else { COLD_ALONE };
    let same = instead(sheet.text.clone());
    for id in ids.iter().take(alone) {
        let results = trial.judge(&same, std::slice::from_ref(id), ALONE, true).await?;
        if results.iter().any(|result| wrong(&result.test, result.status)) {
            bad.insert(id.clone(), "it does not hold when it runs alone".to_owned());
        }
    }
    Ok(bad)
}
