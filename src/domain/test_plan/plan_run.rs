//! `PlanRun`: the results of a run that plans or writes tests, and how it ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::budget::Spending;
use crate::domain::event::Ending;
use crate::domain::fix_loop::Stopped;

use super::pipeline::{Goal, PLANNED, Pipeline, PipelineStep, PipelineVerdict};
use super::plan::TestPlan;

/// The state and the results of a run that plans or writes tests.
#[derive(Clone, Debug)]
pub struct PlanRun {
    pub state: Pipeline,
    /// The plan with its tasks, once there is one.
    pub plan: Option<TestPlan>,
    /// What providers have used so far.
    pub spending: Spending,
    /// Why the run stopped early.
    pub halted: Option<Stopped>,
    /// The iteration limit that reopens the session where its fix loop ended below the gate and something came
    /// of it.
    pub reopening_limit: Option<u32>,
}

/// The result of a run that plans or writes tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanResult {
    /// The plan is complete.
    Planned,
    /// No test is missing.
    NothingMissing,
    /// The plan waits for approval.
    AwaitsConfirmation,
    /// Tests are written, and the suite meets its gate.
    Generated,
    /// Tests are written, and the suite has not met its gate yet.
    Executing,
    /// Tests are written, and a gate holds the suite back.
    Blocked,
    /// The plan cannot be carried out.
    Failure,
    /// A limit was reached, or the run was interrupted.
    Stopped,
}

impl PlanResult {
    /// The ending of the session in the words of a fix session.
    #[must_use]
    pub fn ending(self) -> Ending {
        match self {
            Self::Planned | Self::NothingMissing | Self::AwaitsConfirmation | Self::Generated => {
                Ending::Planned
            }
            Self::Failure => Ending::Failure,
            Self::Executing | Self::Blocked | Self::Stopped => Ending::Blocked,
        }
    }
}

/// How a run that plans or writes tests ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEnd {
    pub result: PlanResult,
    /// Why, as a clause that may quote foreign words.
    pub reason: String,
    /// What to do next on the command line, as a clause; empty when nothing is left to do.
    pub next: String,
}

impl PlanRun {
    /// How the run ended: by the verdict of the pipeline, else by the step that comes next.
    #[must_use]
    pub fn end(&self) -> PlanEnd {
        let state = &self.state;
        let id = &state.session_id;
        let carries_on = format!("`regreen test --resume {id}` continues");
        let (result, reason, next) = match (&state.next, &self.halted) {
            (PipelineStep::Finish { verdict }, _) => return finished(state, verdict),
            (PipelineStep::Confirm, _) => (
                PlanResult::AwaitsConfirmation,
                "the plan is ready and waits for approval".to_owned(),
                format!("`regreen test --resume {id} --yes` carries it out"),
            ),
            (_, Some(Stopped { reason, options, .. })) => {
                let verb = if state.goal == Goal::Plan { "plan" } else { "test" };
                let more = options.iter().fold(String::new(), |text, word| text + " " + word);
                let next = format!("`regreen {verb} --resume {id}{more}` continues");
                let doing = match state.next {
                    PipelineStep::Execute => "in the fix loop",
                    _ => "while planning and writing tests",
                };
                (PlanResult::Stopped, format!("{reason} {doing}"), next)
            }
            (PipelineStep::Execute, None) => {
                let next = match self.reopening_limit {
                    Some(limit) => format!(
                        "`regreen test --resume {id} --max-iterations {limit}` continues once what the report names is corrected"
                    ),
                    None => "once that is corrected, run the same command again".to_owned(),
                };
                let mut reason = "the suite has not met its gate yet".to_owned();
                if state.phases.iter().all(|row| row.phase < PLANNED) {
                    reason +=
                        ", and no test is missing here: `--only-missing` leaves the suite alone";
                }
                (PlanResult::Executing, reason, next)
            }
            (_, None) if state.works() => {
                (PlanResult::Stopped, "the run ended while writing tests".to_owned(), carries_on)
            }
            (_, None) => {
                (PlanResult::Stopped, "the run ended between two phases".to_owned(), carries_on)
            }
        };
        PlanEnd { result, reason, next }
    }
}

fn finished(state: &Pipeline, verdict: &PipelineVerdict) -> PlanEnd {
    let id = &state.session_id;
    let (result, reason, next) = match verdict {
        PipelineVerdict::Planned => (
            PlanResult::Planned,
            "the plan is ready".to_owned(),
            format!("`regreen test --resume {id}` carries it out"),
        ),
        PipelineVerdict::NothingMissing if state.goal == Goal::Test && !state.only_missing => (
            PlanResult::NothingMissing,
            "no test is missing here, and the suite meets its gate".to_owned(),
            String::new(),
        ),
        PipelineVerdict::NothingMissing => (
            PlanResult::NothingMissing,
            "no test is missing here".to_owned(),
            "`regreen fix` runs the suite".to_owned(),
        ),
        PipelineVerdict::Generated => {
            let ran = state.phases.last().map_or("", |phase| phase.summary.as_str());
            (PlanResult::Generated, format!("the plan is carried out: {ran}"), String::new())
        }
        PipelineVerdict::Held { reasons } => (
            PlanResult::Blocked,
            format!("the suite is held back: {}", reasons.join("; ")),
            format!("`regreen test --resume {id} --yes` runs it all the same"),
        ),
        PipelineVerdict::Failed { problems } => (
            PlanResult::Failure,
            format!("the plan cannot be carried out: {}", problems.join("; ")),
            String::new(),
        ),
    };
    PlanEnd { result, reason, next }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::SessionId;
    use crate::domain::test_plan::pipeline::ConfirmPlan;
    use crate::domain::test_plan::plan_input::PlanInput;

    #[test]
    fn every_state_has_its_result_and_keeps_its_reason() {
        use PipelineStep::{Confirm, Execute, Finish, Gather, Generate};
        let finish = |verdict| Finish { verdict };
        let held = PipelineVerdict::Held { reasons: vec!["test review (IMPL-001.5): low".into()] };
        let failed = PipelineVerdict::Failed { problems: vec!["a circle".into()] };
        let table = [
            (finish(PipelineVerdict::Planned), None, "planned", Ending::Planned, "is ready"),
            (
                finish(held),
                None,
                "blocked",
                Ending::Blocked,
                "held back: test review (IMPL-001.5): low",
            ),
            (finish(failed), None, "failure", Ending::Failure, "carried out: a circle"),
            (finish(PipelineVerdict::Generated), None, "generated", Ending::Planned, "carried out"),
            (Confirm, Some("a signal"), "awaits_confirmation", Ending::Planned, "is ready"),
            (Execute, None, "executing", Ending::Blocked, "not met its gate"),
            (Execute, Some("a signal"), "stopped", Ending::Blocked, "a signal in the fix loop"),
            (Generate, Some("a signal"), "stopped", Ending::Blocked, "a signal while planning"),
            (Gather, None, "stopped", Ending::Blocked, "between two phases"),
        ];
        let id = SessionId::parse("WFS-test-x").unwrap();
        let input = PlanInput::Text("x".into());
        let state = Pipeline::new(id, input, "x".into(), Goal::Test, ConfirmPlan::Never);
        for (next, halted, word, ending, reason) in table {
            let run = PlanRun {
                state: Pipeline { next, ..state.clone() },
                plan: None,
                spending: Spending::default(),
                halted: halted.map(|why| Stopped { reason: why.to_owned(), ..Stopped::default() }),
                reopening_limit: Some(20),
            };
            let end = run.end();
            let reopens = end.next.contains("--max-iterations 20");
            assert_eq!(reopens, end.result == PlanResult::Executing, "{end:?}");
            assert_eq!(serde_json::to_value(end.result).unwrap(), word, "{end:?}");
            assert_eq!(end.result.ending(), ending, "{end:?}");
            let suite_only = end.result == PlanResult::Executing;
            assert_eq!(end.reason.contains("`--only-missing`"), suite_only, "no plan: {end:?}");
            assert!(end.reason.contains(reason), "{end:?}");
        }
    }
}
