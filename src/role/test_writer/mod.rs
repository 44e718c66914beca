//! Tests written by providers: asked for file by file, refused with a named reason, run at once,
//! judged when they fail, cut down to what holds (product.md 3.1 phase 5, 4.7, 13.4).
//!
//! It decides nothing about which tasks there are and keeps no state between files.

mod bench;
mod desk;
mod judge;
mod made_up;
mod reader;
mod refuse;
mod runs;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use crate::domain::id::{TestId, TreeId};
use crate::domain::mutation::Mutant;
use crate::domain::test_plan::analysis::{FileRequirements, Requirement};
use crate::domain::test_plan::context::TestFramework;
use crate::domain::test_plan::written_tests::WrittenTests;
use crate::effect::{EffectError, Effects};

use super::ask::Reply;
use super::prompt::Role;
use super::provider_chain::ProviderChain;

pub use desk::{Desk, requirements};
pub use told::{TestFiles, Verdicts};

use bench::Bench;
use desk::PromptSubject;
use reader::AuthorReader;

/// Reads an answer of a generator and looks for reasons to refuse it; for the fuzzer.
pub fn refused(text: &str) {
    let path = crate::domain::id::RepoPath::parse;
    if let (Ok(told), Ok(place)) =
        (super::answer::read::<TestFiles>(text, "IMPL-001-1"), path("tests/test_a.py"))
    {
        drop(refuse::checked(&told, &place, &BTreeMap::new()));
    }
}

/// Reads an answer of a judge and rules on it; for the fuzzer.
pub fn ruled(text: &str) {
    if let Ok(told) = super::answer::read::<Verdicts>(text, "IMPL-001-1-verdict") {
        for one in &told.verdicts {
            drop(judge::rule(one, &[], 40));
        }
    }
}

/// What is asked of a provider: tests of one source.
pub struct WriteRequest<'a> {
    /// The task it belongs to.
    pub task: &'a str,
    /// Names the question, unique in the session.
    pub name: String,
    /// From 1; 2 is about survivors.
    pub round: u32,
    /// The sources with all tests that are kept so far.
    pub tree: &'a TreeId,
    /// The source.
    pub subject: &'a FileRequirements,
    /// Requirements that are still open.
    pub requirements: Vec<&'a Requirement>,
    /// All requirements of the task; others cannot be claimed.
    pub ids: &'a BTreeSet<String>,
    /// How tests are run and written.
    pub framework: &'a TestFramework,
    /// Broken versions of the source that no test notices.
    pub survivors: Vec<Mutant>,
    /// Lines of the source that no test runs, as far as a coverage tool told; asked about in later
    /// rounds.
    pub unrun: Vec<u32>,
    /// Cases that were added in phase 4.
    pub suggestions: &'a str,
    /// Tests that are there already.
    pub known: &'a BTreeSet<TestId>,
    /// Processes at the same time.
    pub jobs: usize,
}

/// What came of a commission.
pub enum WriteOutcome {
    /// What was written, if anything, and the sources with it.
    Wrote(Box<WrittenTests>, TreeId),
    /// A limit of the session was reached.
    OutOfBudget(String),
}

/// Has the tests of one source written. A provider's fault is in the answer, never an error.
///
/// # Errors
///
/// When sources cannot be read, records not be written, or no test can be run at all.
pub async fn author(
    commission: &WriteRequest<'_>,
    desk: &mut Desk,
    panel: &ProviderChain,
    fx: &Effects<'_>,
) -> Result<WriteOutcome, EffectError> {
    let subject = &commission.subject.file;
    let taken = |path: &_| desk.texts.contains_key(path);
    let folders = |folder: &str| desk.texts.keys().any(|file| file.parent() == folder);
    let place = desk::place(&commission.subject.test_file, subject, &taken, &folders);
    let Some(place) = place else {
        let reason = format!("no place for tests of {subject} was found");
        return Ok(nothing(commission, vec![reason]));
    };
    let matter = PromptSubject {
        subject,
        requirements: &commission.requirements,
        survivors: &commission.survivors,
        unrun: &commission.unrun,
        suggestions: commission.suggestions,
        framework: commission.framework,
    };
    let reader = AuthorReader {
        commission,
        desk,
        place,
        parts: desk.parts(&matter),
        task: commission.name.clone(),
        fence: panel.fence(),
        fx,
        refused: Mutex::default(),
    };
    fx.step(&format!("asking for tests of {subject}"));
    let names = (commission.task, commission.name.as_str());
    let given = match panel.ask(names, Role::Generator, &reader, fx).await? {
        Reply::Good(given) | Reply::Degraded(given) => given,
        Reply::Nobody => {
            let mut dropped = reader.refusals();
            dropped.push("no provider gave a file that can be used".to_owned());
            return Ok(nothing(commission, dropped));
        }
        Reply::OutOfBudget(reason) => return Ok(WriteOutcome::OutOfBudget(reason)),
    };
    let desk_work = Bench { commission, reader: &reader, panel, fx };
    let (sheet, covers, rulings, mut dropped) = match desk_work.judged(&given).await? {
        Ok(judged) => judged,
        Err(reason) => return Ok(WriteOutcome::OutOfBudget(reason)),
    };
    let Some(sheet) = sheet else { return Ok(nothing(commission, dropped)) };
    fx.step("running the new tests alone, turned round, and three times");
    let findings: BTreeSet<TestId> = rulings.keys().cloned().collect();
    let (sheet, more, flaky) = runs::settle(sheet, &findings, reader.track(), fx).await?;
    dropped.extend(more);
    let Some(sheet) = sheet else {
        return Ok(match nothing(commission, dropped) {
            WriteOutcome::Wrote(written, tree) => {
                WriteOutcome::Wrote(Box::new(WrittenTests { flaky, ..*written }), tree)
            }
            other @ WriteOutcome::OutOfBudget(_) => other,
        });
    };
    let tree = fx.worktree.graft(commission.tree, &sheet.edits()).await?;
    fx.worktree.checkout(&tree).await?;
    let written = WrittenTests {
        flaky,
        dropped,
        author: given.provider.clone(),
        ..desk_work.told(&sheet, &covers, &rulings, &tree).await?
    };
    desk.texts.insert(sheet.place.clone(), sheet.text.clone());
    Ok(WriteOutcome::Wrote(Box::new(written), tree))
}

/// Nothing was kept, and why.
fn nothing(commission: &WriteRequest<'_>, dropped: Vec<String>) -> WriteOutcome {
    WriteOutcome::Wrote(Box::new(blank(commission, dropped)), commission.tree.clone())
}

fn blank(commission: &WriteRequest<'_>, dropped: Vec<String>) -> WrittenTests {
    WrittenTests {
        task: commission.task.to_owned(),
        round: commission.round,
        subject: commission.subject.file.clone(),
        file: None,
        author: String::new(),
        tests: Vec::new(),
        assertions: 0,
        functions: Vec::new(),
        shown: Vec::new(),
        findings: Vec::new(),
        dropped,
        flaky: Vec::new(),
    }
}
