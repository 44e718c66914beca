//! Use case: measure the mutation score, the share of mutants that the tests kill.

use clap::{Args, value_parser};

use crate::adapter::host::clock::HostClock;
use crate::adapter::suite;
use crate::domain::event::Event;
use crate::domain::id::{TestId, TreeId};
use crate::domain::mutation::{Preparation, Score};
use crate::domain::request::Mode;
use crate::domain::session::SessionKind;
use crate::domain::session::files::SUITE_LOG;
use crate::domain::test::Scope;
use crate::domain::text::count;
use crate::effect::{
    CandidateRunnerRequest, Effects, RunRequest, Screen, Speed, end_before, unless_stopped,
};
use crate::role::{self, Limits, Scoring, Trial};

use super::code_selection::{self, Subject};
use super::{AppError, CodeSelection};

/// Default number of mutants when tests run in persistent processes.
const WARM: u32 = 3_000;

/// Default number of mutants when each needs a new process.
const COLD: u32 = 200;

/// A request for a mutation score.
#[derive(Args, Clone, Debug, Default)]
pub struct ScoreRequest {
    #[command(flatten)]
    pub code: CodeSelection,
    /// Maximum number of mutants, spread evenly [default: 3000, or 200 where each needs a new
    /// process].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub mutants: Option<u32>,
}

/// Measures how many mutants the tests kill; leaves no branch and no session.
pub async fn score(request: &ScoreRequest, screen: &dyn Screen) -> Result<Score, AppError> {
    let subject = code_selection::read(&request.code)?;
    let facts = &subject.facts;
    let (root, below) = (&facts.root, &facts.subdirectory);
    let (command, report) = (subject.run.test_command.as_deref(), subject.run.report.as_deref());
    let detection = suite::detect(root, below, command, report)?;
    let clock = HostClock::start();
    let session = subject.open(detection, SessionKind::Score, Mode::DryRun, &clock).await?;
    let head = session.record.git.head_sha.clone();
    let fx = session.effects(&[], screen);
    let scored = async {
        let tree = fx.worktree.tree_of(&head).await?;
        fx.worktree.checkout(&tree).await?;
        measure(request, &subject, &tree, &fx).await
    }
    .await;
    session.delete().await;
    let uncommitted = u32::try_from(facts.modified + facts.untracked).unwrap_or(u32::MAX);
    Ok(Score { commit: Some(head), uncommitted, ..scored? })
}

async fn measure(
    request: &ScoreRequest,
    subject: &Subject,
    tree: &TreeId,
    fx: &Effects<'_>,
) -> Result<Score, AppError> {
    let files = code_selection::files(fx, tree, &request.code.paths).await?;
    let deadline = fx.clock.elapsed() + subject.time;
    let preparing = end_before(fx.clock, deadline, async {
        fx.step("running the full suite");
        let (tests, failing) = run_suite(fx).await?;
        fx.step("breaking the code to see what the tests notice");
        let (root, jobs) = (fx.worktree.root(), subject.run.jobs);
        let candidates = CandidateRunnerRequest { root, failing: &[], jobs };
        Ok::<_, AppError>((tests, failing, fx.suite.open_candidate_runner(&candidates).await?))
    });
    let Some(prepared) = unless_stopped(fx.clock, preparing).await else {
        return Ok(Score::of_stopped_run(subject.threshold));
    };
    let Some(prepared) = prepared else {
        return Ok(Score::of_cut_run(subject.threshold, Preparation::Suite));
    };
    let (tests, failing, runner) = prepared?;
    let many = if runner.speed() == Speed::Warm { WARM } else { COLD };
    let mut trial = Trial {
        worktree: fx.worktree,
        tree,
        runner: runner.as_ref(),
        clock: fx.clock,
        limits: Limits { candidates: request.mutants.unwrap_or(many), time: subject.time },
        jobs: subject.run.jobs,
    };
    let lines = role::suite_lines(&trial, fx.suite, &files);
    let lines = unless_stopped(fx.clock, end_before(fx.clock, deadline, lines)).await;
    let Some(lines) = lines else { return Ok(Score::of_stopped_run(subject.threshold)) };
    let Some(ran) = lines else {
        return Ok(Score::of_cut_run(subject.threshold, Preparation::Traces));
    };
    let ran = ran?;
    trial.limits.time = deadline.saturating_sub(fx.clock.elapsed());
    let mut scored = role::score(&Scoring {
        trial,
        ran: ran.as_ref(),
        files: &files,
        within: None,
        tests: &tests,
        known: None,
        threshold: subject.threshold,
        all_tests: false,
        progress: &|done, total| {
            let unit = "mutants".to_owned();
            fx.screen.show(&Event::Progress { done, total: Some(total), unit });
        },
        ends_on_stop: true,
    })
    .await?;
    scored.score.left_out.extend(failing);
    Ok(scored.score)
}

/// The tests that pass in a full run of the suite, and those that fail; an error where none passes.
async fn run_suite(fx: &Effects<'_>) -> Result<(Vec<TestId>, Vec<TestId>), AppError> {
    let request = RunRequest::new(fx.worktree.root(), &Scope::Full, SUITE_LOG);
    let results = fx.suite.run(&request).await?;
    let failing: Vec<TestId> = results.failed().map(|case| case.id.clone()).collect();
    let passing = code_selection::passed(results.cases);
    if passing.is_empty() {
        let (message, hint) = match failing.len() {
            0 => (
                "no test ran, so nothing can be measured".to_owned(),
                "write tests first: `regreen test` does",
            ),
            many => (
                format!(
                    "no test passes, so nothing can be measured; failing: {}",
                    count(many, "test")
                ),
                "correct the suite first: `regreen fix` repairs what fails",
            ),
        };
        return Err(AppError::code_error(message, hint));
    }
    Ok((passing, failing))
}
