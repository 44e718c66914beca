//! Performs phases 2 to 4 of a test session: gathers the context, analyses, and plans. A repeated
//! step writes the same files again (specification.md 3.1).

use std::time::Duration;

use crate::domain::coverage::CoverageTarget;
use crate::domain::event::Event;
use crate::domain::id::TreeId;
use crate::domain::session::files::TODO_LIST;
use crate::domain::test_plan::pipeline::{Pipeline, PipelineStep, PipelineStepOutcome};
use crate::domain::test_plan::plan::{RESULTS, TestPlan};
use crate::domain::test_plan::plan_run::PlanRun;
use crate::domain::test_plan::source_session::SourceSession;
use crate::domain::text::count;
use crate::effect::Effects;
use crate::report::planning;
use crate::role::test_plan::{
    ExecutedLines, GatherRequest, Survey, SurveyOutcome, consult, derive_requirements, gather,
    plan_tasks,
};
use crate::role::{AskSettings, ChainEntry, Documents, ProviderChain, Role};

use super::machine::enter;
use crate::cycle::drive::{Driven, Perform, Work, drive};
use crate::cycle::error::Failure;
use crate::cycle::session_files::{RAN, planned_session, read, spent, unfinished_plan, write};

/// How often the files of an earlier phase may be found unreadable in one run.
const UNREADABLE_INPUTS: u32 = 3;

/// Inputs of phases 2 to 4 besides the state.
#[derive(Clone, Debug)]
pub struct PlanInputs {
    pub tree: TreeId,
    pub source: Option<SourceSession>,
    /// A coverage report that the user named, as its name and its text.
    pub report: Option<(String, String)>,
    /// Why the suite is not run under its coverage tool, if it is not.
    pub unmeasured: Option<String>,
    /// Iteration limit of the fix loop that follows the plan.
    pub max_iterations: u32,
    /// Coverage percentages below which a file counts as a gap.
    pub coverage_target: CoverageTarget,
    /// Providers, in the order in which they are asked.
    pub chain: Vec<ChainEntry>,
    pub ask: AskSettings,
    /// Elapsed time, on the clock of the effects, after which the run stops at a checkpoint.
    pub budget: Option<Duration>,
}

/// Drives a session until it rests: the plan is ready, nothing is missing, an approval is needed,
/// or the next step writes tests. A resumed session passes its saved state.
/// After an error the saved state still names the step to repeat.
pub async fn plan(
    state: Pipeline,
    inputs: &PlanInputs,
    fx: &Effects<'_>,
) -> Result<PlanRun, Failure> {
    let chain =
        ProviderChain::open(&state.session_id, inputs.chain.clone(), inputs.ask.clone(), fx)
            .await?;
    let state = enter(state, fx).await?;
    let mut performer =
        PlanPerformer { inputs, chain: &chain, fx, survey: None, unreadable_inputs: 0 };
    let Driven { state, stopped } = drive(state, &mut performer, fx.into(), inputs.budget).await?;
    let plan = planned_session(fx).await?;
    let spending = spent(&state.session_id, fx).await?;
    let halted = stopped.map(|stopped| stopped.raising(&inputs.ask.session, &spending));
    Ok(PlanRun { state, plan, spending, halted, reopening_limit: None })
}

/// Performs phases 2 to 4.
struct PlanPerformer<'a> {
    inputs: &'a PlanInputs,
    chain: &'a ProviderChain,
    fx: &'a Effects<'a>,
    survey: Option<Survey>,
    unreadable_inputs: u32,
}

impl Perform<Pipeline> for PlanPerformer<'_> {
    fn perform<'s>(&'s mut self, state: &'s Pipeline) -> Work<'s, PipelineStepOutcome> {
        if state.is_planning() { Work::Step(Box::pin(self.phase(state))) } else { Work::Rest }
    }
}

impl PlanPerformer<'_> {
    async fn phase(&mut self, state: &Pipeline) -> Result<PipelineStepOutcome, Failure> {
        let outcome = match state.next {
            PipelineStep::Gather => self.gather(state).await?,
            PipelineStep::Analyse => self.analyse(state).await?,
            _ => self.plan(state).await?,
        };
        if outcome == PipelineStepOutcome::InputMissing {
            self.unreadable_inputs += 1;
            if self.unreadable_inputs == UNREADABLE_INPUTS {
                let text = "a file that a phase has just written cannot be read".to_owned();
                return Err(Failure::Internal(text));
            }
        }
        Ok(outcome)
    }

    fn announce(&self, phase: u32, doing: &str) {
        self.fx.screen.show(&Event::Phase { phase, doing: doing.to_owned() });
    }

    async fn survey(&mut self) -> Result<&Survey, Failure> {
        let survey = match self.survey.take() {
            Some(survey) => survey,
            None => Survey::read(&self.inputs.tree, self.fx).await?,
        };
        Ok(self.survey.insert(survey))
    }

    /// Phase 2: gathers the context.
    async fn gather(&mut self, state: &Pipeline) -> Result<PipelineStepOutcome, Failure> {
        let (fx, inputs) = (self.fx, self.inputs);
        self.announce(2, "gathering context: sources, tests, conventions");
        let survey = self.survey().await?;
        if survey.cut {
            let text = "the repository is very large; some of its sources are left out".to_owned();
            fx.screen.show(&Event::Notice { text });
        }
        if inputs.unmeasured.is_none() && inputs.report.is_none() {
            fx.step("running the suite once with coverage");
            fx.worktree.checkout(&inputs.tree).await?;
        }
        let request = GatherRequest {
            session: &state.session_id,
            description: &state.description,
            source: inputs.source.as_ref(),
            report: inputs.report.as_ref().map(|(name, text)| (name.as_str(), text.as_str())),
            unmeasured: inputs.unmeasured.as_deref(),
            target: inputs.coverage_target,
        };
        let found = gather(request, survey, fx).await?;
        write(fx, RAN, &found.ran).await?;
        let plan = found.plan;
        write(fx, TestPlan::context_file(&state.entry), &plan).await?;
        let gaps = u32::try_from(plan.files.len()).unwrap_or(u32::MAX);
        let summary = format!("{} with gaps; {}", count(gaps, "file"), plan.coverage);
        Ok(PipelineStepOutcome::Gathered { gaps, summary })
    }

    /// Phase 3: analyses what must be tested.
    async fn analyse(&mut self, state: &Pipeline) -> Result<PipelineStepOutcome, Failure> {
        let fx = self.fx;
        self.announce(3, "analysing what must be tested");
        let ran = read::<ExecutedLines>(fx, RAN).await?;
        let plan = unfinished_plan(state, TestPlan::context_file(&state.entry), fx).await?;
        let (Some(mut plan), Some(ran)) = (plan, ran) else {
            return Ok(PipelineStepOutcome::InputMissing);
        };
        let (chain, tree) = (self.chain, self.inputs.tree.clone());
        let survey = self.survey().await?;
        derive_requirements(&mut plan, survey, &ran);
        let mut degraded = false;
        if chain.prefers_provider(Role::Surveyor, fx) && !plan.files.is_empty() {
            let documents = Documents::read(&tree, &state.description, fx).await?;
            match consult(&mut plan, (survey, &documents), chain, fx).await? {
                SurveyOutcome::OutOfBudget(reason) => {
                    return Ok(PipelineStepOutcome::OutOfBudget { reason });
                }
                SurveyOutcome::Answered { degraded: weak } => degraded = weak,
            }
        }
        if degraded {
            let text = "no provider gave a good analysis of everything; what the code says by itself is used"
                .to_owned();
            fx.screen.show(&Event::Notice { text });
        }
        write(fx, &format!("{RESULTS}.json"), &plan).await?;
        fx.store.write_text(&format!("{RESULTS}.md"), &planning::render_analysis(&plan)).await?;
        Ok(PipelineStepOutcome::Analysed {
            requirements: u32::try_from(plan.requirement_count()).unwrap_or(u32::MAX),
            degraded,
            summary: planning::summarise_analysis(&plan),
        })
    }

    /// Phase 4: plans the tasks.
    async fn plan(&mut self, state: &Pipeline) -> Result<PipelineStepOutcome, Failure> {
        let fx = self.fx;
        self.announce(4, "planning the tasks");
        let Some(mut plan) = unfinished_plan(state, &format!("{RESULTS}.json"), fx).await? else {
            return Ok(PipelineStepOutcome::InputMissing);
        };
        plan_tasks(&mut plan, self.inputs.max_iterations);
        let problems = plan.find_contradictions();
        if !problems.is_empty() {
            return Ok(PipelineStepOutcome::Planned { problems, summary: String::new() });
        }
        for task in &plan.tasks {
            write(fx, task.file(), task).await?;
        }
        let store = fx.store;
        store.write_text("IMPL_PLAN.md", &planning::render_plan(state, &plan)).await?;
        // Written last in this phase, so that its presence means that all files of the phase exist.
        store.write_text(TODO_LIST, &planning::render_todo(&plan, "")).await?;
        Ok(PipelineStepOutcome::Planned { problems, summary: planning::planned(&plan) })
    }
}
