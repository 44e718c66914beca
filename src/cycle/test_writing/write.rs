//! Performs phase 5 of a test session up to its commit: writes tests task by task, checks them with
//! both gates, and commits them. A repeated step reuses what it has stored (specification.md 3.1
//! phase 5, 5.1, 6.6).

use std::time::Duration;

use crate::domain::commit;
use crate::domain::event::Event;
use crate::domain::id::TreeId;
use crate::domain::quality::FindingLimits;
use crate::domain::request::ToolCommands;
use crate::domain::session::files::TODO_LIST;
use crate::domain::task::TaskStatus;
use crate::domain::test::{Status, TestCase};
use crate::domain::test_plan::generation::{GENERATION_FILE, Generation};
use crate::domain::test_plan::pipeline::{Pipeline, PipelineStep, PipelineStepOutcome};
use crate::domain::test_plan::plan::TestPlan;
use crate::domain::test_plan::plan_run::PlanRun;
use crate::domain::test_plan::task::{SUITE_TASK, TaskKind};
use crate::effect::{CommitRequest, Effects, Observer, Trace};
use crate::report::planning;
use crate::role::test_plan::CoverageOutcome;
use crate::role::{AskSettings, ChainEntry, ProviderChain, existing_tests};

use crate::cycle::drive::{Driven, Perform, Work, drive};
use crate::cycle::error::Failure;
use crate::cycle::session_files::{
    committed_files, generation, plan_to_carry_out, planned_session, spent, write,
};

/// Log of the test runs of phase 5.
pub(super) const LOG: &str = ".process/generation-output.log";

/// Inputs of phase 5 besides the state.
pub struct WriteTestsInputs<'a> {
    /// The sources of the commit under test.
    pub tree: TreeId,
    /// Calls functions and observes what they do.
    pub observer: &'a dyn Observer,
    /// Share of mutants that tests should notice, in percent.
    pub threshold: u32,
    pub jobs: usize,
    /// Wall time limit of the embedded engine and of mutation runs, for the whole session.
    pub time: Duration,
    /// Elapsed time, on the clock of the effects, after which the run stops at a checkpoint.
    pub budget: Option<Duration>,
    /// The session's folder inside commits.
    pub state_prefix: String,
    /// The project's own tool commands, which the code check runs.
    pub own: ToolCommands,
    /// Whether the session's state is stored in its commits.
    pub state_is_committed: bool,
    /// Whether coverage is left out on request.
    pub no_coverage: bool,
    /// How many findings both gates tolerate.
    pub limits: FindingLimits,
    /// Providers that write tests, in the order in which they are asked.
    pub chain: Vec<ChainEntry>,
    pub ask: AskSettings,
}

/// Drives phase 5 until the branch holds the new tests, or the run must stop. A resumed session
/// passes its saved state.
/// After an error the saved state still names the step to repeat.
pub async fn write_tests(
    state: Pipeline,
    inputs: &WriteTestsInputs<'_>,
    fx: &Effects<'_>,
) -> Result<PlanRun, Failure> {
    let chain =
        ProviderChain::open(&state.session_id, inputs.chain.clone(), inputs.ask.clone(), fx)
            .await?;
    let mut performer = WritePerformer { inputs, chain: &chain, fx };
    let mut run =
        plan_run(drive(state, &mut performer, fx.into(), inputs.budget).await?, fx).await?;
    let spent = run.spending;
    run.halted = run.halted.map(|stopped| {
        let stopped = stopped.raising(&inputs.ask.session, &spent);
        stopped.with_more_time(inputs.budget, fx.clock.elapsed())
    });
    Ok(run)
}

/// What the session's files say where a drive of phase 5 ended.
pub async fn plan_run(
    Driven { state, stopped }: Driven<Pipeline>,
    fx: &Effects<'_>,
) -> Result<PlanRun, Failure> {
    let plan = planned_session(fx).await?;
    let spending = spent(&state.session_id, fx).await?;
    Ok(PlanRun { state, plan, spending, halted: stopped, reopening_limit: None })
}

/// Performs phase 5 up to the commit of the new tests.
struct WritePerformer<'a> {
    inputs: &'a WriteTestsInputs<'a>,
    chain: &'a ProviderChain,
    fx: &'a Effects<'a>,
}

impl Perform<Pipeline> for WritePerformer<'_> {
    fn perform<'s>(&'s mut self, state: &'s Pipeline) -> Work<'s, PipelineStepOutcome> {
        if state.is_writing_tests() { Work::Step(Box::pin(self.write(state))) } else { Work::Rest }
    }
}

impl WritePerformer<'_> {
    async fn write(&self, state: &Pipeline) -> Result<PipelineStepOutcome, Failure> {
        let Some(plan) = plan_to_carry_out(&state.session_id, self.fx).await? else {
            return Ok(PipelineStepOutcome::InputMissing);
        };
        let generation = begin(state, self.inputs, self.fx).await?;
        let mut writing = TestWriting {
            state,
            inputs: self.inputs,
            chain: self.chain,
            fx: self.fx,
            plan,
            generation,
            covered: None,
            halted: None,
            until: None,
            traces: Vec::new(),
        };
        match state.next {
            PipelineStep::Generate => Box::pin(writing.generate()).await,
            PipelineStep::Validate => Box::pin(writing.validate()).await,
            PipelineStep::Review => Box::pin(writing.review()).await,
            _ => writing.keep().await,
        }
    }
}

/// Loads what was written before, or begins with one run of the unchanged suite.
async fn begin(
    state: &Pipeline,
    inputs: &WriteTestsInputs<'_>,
    fx: &Effects<'_>,
) -> Result<Generation, Failure> {
    if let Some(generation) =
        generation(fx).await?.filter(|known| known.session_id == state.session_id)
    {
        return Ok(generation);
    }
    let doing = "writing and judging tests".to_owned();
    fx.screen.show(&Event::Phase { phase: 5, doing });
    fx.step("running the suite before anything is written");
    fx.worktree.checkout(&inputs.tree).await?;
    let cases = existing_tests(&inputs.tree, fx, LOG).await?;
    // Tests that do not even load reach nothing of what they test.
    let is_loaded = |case: &&TestCase| !case.kind.is_unloaded();
    let of = |status: Status| {
        let own = cases.iter().filter(is_loaded).filter(|case| case.status == status);
        own.map(|case| case.id.clone()).collect()
    };
    let (passing, failing) = (of(Status::Passed), of(Status::Failed));
    let generation =
        Generation::new(state.session_id.clone(), inputs.tree.clone(), passing, failing);
    write(fx, GENERATION_FILE, &generation).await?;
    Ok(generation)
}

/// The state of one step of phase 5.
pub(super) struct TestWriting<'a> {
    pub(super) state: &'a Pipeline,
    pub(super) inputs: &'a WriteTestsInputs<'a>,
    pub(super) chain: &'a ProviderChain,
    pub(super) fx: &'a Effects<'a>,
    pub(super) plan: TestPlan,
    pub(super) generation: Generation,
    /// The latest coverage measurement, with the tree that was measured.
    pub(super) covered: Option<(TreeId, CoverageOutcome)>,
    pub(super) halted: Option<String>,
    /// When the current round should end, on the clock of the effects.
    pub(super) until: Option<Duration>,
    /// What the last characterisation tests ran alone, as far as known.
    pub(super) traces: Vec<Trace>,
}

impl TestWriting<'_> {
    /// Ends the step because a limit was reached; a resumed session performs it again.
    pub(super) fn halt(&mut self) -> PipelineStepOutcome {
        PipelineStepOutcome::OutOfBudget { reason: self.halted.take().unwrap_or_default() }
    }

    /// Writes the tests of the first open task.
    async fn generate(&mut self) -> Result<PipelineStepOutcome, Failure> {
        let Some(task) = self.plan.open_task().cloned() else {
            return Ok(PipelineStepOutcome::Done);
        };
        self.turn(&task.id, TaskStatus::InProgress).await?;
        if self.generation.made.is_none() {
            self.fx.step(&format!("writing the tests of {}", task.id));
            let made = match self.make(&task).await {
                Err(failure @ Failure::Task { .. }) => {
                    self.turn(&task.id, TaskStatus::Failed).await?;
                    return Err(failure);
                }
                made => made?,
            };
            let Some(made) = made else { return Ok(self.halt()) };
            self.generation.made = Some(made);
            self.generation.drafts.clear();
            write(self.fx, GENERATION_FILE, &self.generation).await?;
        }
        self.write_summary().await?;
        let some = !self.generation.files().is_empty();
        let works = self.plan.all_requirements().any(|(file, one)| task.works_on(file, one));
        let status = match (some, works) {
            (true, _) => TaskStatus::Completed,
            (false, true) => TaskStatus::Blocked,
            // A person took everything out of it.
            (false, false) => TaskStatus::Skipped,
        };
        self.turn(&task.id, status).await?;
        Ok(PipelineStepOutcome::Wrote)
    }

    /// Writes the summary of the task that writes tests.
    pub(super) async fn write_summary(&self) -> Result<(), Failure> {
        let task = self.plan.task_of_kind(TaskKind::TestGen);
        let Some((task, made)) = task.zip(self.generation.made.as_ref()) else { return Ok(()) };
        let file = format!(".summaries/{}-summary.md", task.id);
        self.fx.store.write_text(&file, &planning::render_task(task, made)).await?;
        Ok(())
    }

    /// Commits the new tests; a gate that fails hard holds the suite back (specification.md 6.6).
    async fn keep(&mut self) -> Result<PipelineStepOutcome, Failure> {
        if self.generation.tree != self.inputs.tree {
            self.fx.step("committing the new tests");
            let travels = self.inputs.state_is_committed;
            let state = committed_files(travels, &self.inputs.state_prefix, self.fx).await?;
            let request = CommitRequest {
                tree: self.generation.tree.clone(),
                message: commit::generated(&self.generation),
                state,
                time: self.fx.clock.now(),
            };
            self.generation.commit = Some(self.fx.worktree.commit(&request).await?);
            write(self.fx, GENERATION_FILE, &self.generation).await?;
        }
        let reasons = self.generation.missed_gates();
        if self.generation.is_held() && !self.generation.has_no_file() && !self.state.approved {
            self.turn(SUITE_TASK, TaskStatus::Blocked).await?;
            let summary = planning::written(&self.generation);
            return Ok(PipelineStepOutcome::Held { reasons, summary });
        }
        Ok(PipelineStepOutcome::Done)
    }

    /// Sets the status of a task, and updates the files that show it.
    pub(super) async fn turn(&mut self, id: &str, to: TaskStatus) -> Result<(), Failure> {
        let now = self.fx.clock.now();
        let Some(task) = self.plan.tasks.iter_mut().find(|task| task.id == id) else {
            return Ok(());
        };
        if task.change_status(to, &now) {
            write(self.fx, task.file(), &*task).await?;
        }
        self.fx.screen.show(&Event::Tasks { tasks: planning::rows(&self.plan) });
        self.fx.store.write_text(TODO_LIST, &planning::render_todo(&self.plan, "")).await?;
        Ok(())
    }
}
