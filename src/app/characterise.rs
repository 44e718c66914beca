//! Use case: write characterisation tests, which describe what functions do today.

use std::collections::BTreeMap;

use clap::Args;

use crate::adapter::host::clock::HostClock;
use crate::adapter::{Session, suite};
use crate::domain::characterisation_report::CharacterisationReport;
use crate::domain::commit;
use crate::domain::event::Event;
use crate::domain::id::{TestId, TreeId};
use crate::domain::mutation::Score;
use crate::domain::request::Mode;
use crate::domain::session::SessionKind;
use crate::domain::session::files::SUITE_LOG;
use crate::effect::{CommitRequest, Effects, Screen};
use crate::role::{Gap, GenerateRequest, Generated, existing_tests, generate};

use super::code_selection::{self, Subject};
use super::{AppError, CodeSelection};

/// Existing tests whose coverage is measured at most.
const MEASURED: usize = 400;

/// The report inside the session folder.
const REPORT: &str = "pin-report.json";

/// A request for tests that describe what functions do today.
#[derive(Args, Clone, Debug, Default)]
pub struct CharacteriseRequest {
    #[command(flatten)]
    pub code: CodeSelection,
    /// Only this function, as `name` or `Class.name`; may be repeated.
    #[arg(long = "function", value_name = "NAME")]
    pub functions: Vec<String>,
    /// Print the tests as a diff; make no branch and no commit.
    #[arg(long)]
    pub dry_run: bool,
}

/// The characterisation tests of one run.
pub struct CharacteriseOutcome {
    /// Tests that hold, and what was dropped.
    pub report: CharacterisationReport,
    pub patch: String,
    /// Whether there are tests, and they kill enough mutants.
    pub met: bool,
}

/// Writes characterisation tests and commits them on a separate branch; an error leaves none.
pub async fn characterise(
    request: &CharacteriseRequest,
    screen: &dyn Screen,
) -> Result<CharacteriseOutcome, AppError> {
    let subject = code_selection::read(&request.code)?;
    let facts = &subject.facts;
    let (root, below) = (&facts.root, &facts.subdirectory);
    let (command, report) = (subject.run.test_command.as_deref(), subject.run.report.as_deref());
    let detection = suite::detect_or_begin(root, below, command, report)?;
    let clock = HostClock::start();
    let mode = if request.dry_run { Mode::DryRun } else { Mode::Apply };
    let mut session = subject.open(detection, SessionKind::Pin, mode, &clock).await?;
    let outcome = match generate_and_commit(request, &subject, &session, screen).await {
        Ok(outcome) => outcome,
        Err(error) => {
            session.withdraw().await;
            return Err(error);
        }
    };
    if outcome.report.branch.is_some() {
        session.record_completed("pinned").await?;
        session.archive().await?;
    } else {
        session.withdraw().await;
    }
    Ok(outcome)
}

async fn generate_and_commit(
    request: &CharacteriseRequest,
    subject: &Subject,
    session: &Session<'_>,
    screen: &dyn Screen,
) -> Result<CharacteriseOutcome, AppError> {
    let fx = session.effects(&[], screen);
    let head = session.record.git.head_sha.clone();
    let tree = fx.worktree.tree_of(&head).await?;
    fx.worktree.checkout(&tree).await?;
    let files = code_selection::files(&fx, &tree, &request.code.paths).await?;
    let gaps: Vec<Gap> = files
        .into_iter()
        .map(|file| Gap {
            file,
            functions: request.functions.clone(),
            test_file: None,
            crossing: None,
        })
        .collect();
    let before = passing_before(&tree, &fx).await?;
    let generation = GenerateRequest {
        tree: &tree,
        gaps: &gaps,
        description: "",
        before: &before,
        threshold: subject.threshold,
        jobs: subject.run.jobs,
        until: fx.clock.elapsed() + subject.time,
        held: &BTreeMap::new(),
        missed: &BTreeMap::new(),
    };
    let Generated { tree: new, mut report, edits, .. } =
        generate(&generation, session.observer(), &fx).await?;
    let mut patch = String::new();
    if request.dry_run {
        for one in fx.worktree.diff(&tree, &new).await? {
            patch.push_str(&one.patch);
        }
    } else if !edits.files.is_empty() {
        report.branch = Some(fx.worktree.branch().to_owned());
        let message = commit::pinned(&session.record.session_id, &report);
        let time = fx.clock.now();
        let commit = CommitRequest { tree: new, message, state: Vec::new(), time };
        fx.worktree.commit(&commit).await?;
    }
    let value = serde_json::to_value(&report).unwrap_or_default();
    fx.store.write_json(REPORT, &value).await?;
    let met = !report.files.is_empty() && report.score.as_ref().is_none_or(Score::is_met);
    Ok(CharacteriseOutcome { report, patch, met })
}

/// Passing tests of the project; empty when there are none, or too many to measure.
async fn passing_before(tree: &TreeId, fx: &Effects<'_>) -> Result<Vec<TestId>, AppError> {
    fx.step("running the full suite");
    let passing = code_selection::passed(existing_tests(tree, fx, SUITE_LOG).await?);
    if passing.len() > MEASURED {
        let text =
            format!("{} tests are there already; what they reach is not measured", passing.len());
        fx.screen.show(&Event::Notice { text });
        return Ok(Vec::new());
    }
    Ok(passing)
}
