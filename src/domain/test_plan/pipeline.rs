//! The progress of a test session through phases 1 to 5: a state machine that is saved before each
//! step is taken (specification.md 3.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::SessionId;

use super::plan_input::PlanInput;

/// How far a session goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Plan only: phases 1 to 4 (E5).
    Plan,
    /// All phases (specification.md E1).
    Test,
}

/// Whether a person must approve the plan (specification.md C-21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmPlan {
    /// Continue without approval.
    Never,
    /// Every plan waits for a confirmation.
    Always,
}

/// The step that comes next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "step")]
pub enum PipelineStep {
    Gather,
    Analyse,
    /// Phase 4: plan the tasks.
    Plan {
        /// Number of the attempt, 1 or 2.
        attempt: u32,
    },
    Confirm,
    /// Phase 5: do the next task that writes tests.
    Generate,
    /// Phase 5: run gate 001.3 on the new tests.
    Validate,
    /// Phase 5: run gate 001.5 on the new tests.
    Review,
    /// Phase 5: the tests that remain become a commit.
    Keep,
    /// Phase 5: run the whole suite, then the fix loop.
    Execute,
    Finish {
        verdict: PipelineVerdict,
    },
}

/// How the pipeline ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum PipelineVerdict {
    /// The plan is complete, and nothing more was requested.
    Planned,
    /// No tests are missing. If tests were asked for, the suite ran to its end.
    NothingMissing,
    /// Tests were written and judged, and the suite ran to its end.
    Generated,
    /// Tests were written, and a gate holds the suite back until a person confirms
    /// (specification.md 6.6).
    Held {
        /// What the gates criticise.
        reasons: Vec<String>,
    },
    /// The plan cannot be carried out.
    Failed {
        /// Problems of the plan.
        problems: Vec<String>,
    },
}

/// The steps of phases 2 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanningStep {
    Gather,
    Analyse,
    Plan,
}

/// The steps of phase 5 before the suite runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritingStep {
    Generate,
    Validate,
    Review,
    Keep,
}

/// Result of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PipelineStepOutcome {
    Gathered {
        /// Number of source files without tests, or with too few.
        gaps: u32,
        summary: String,
    },
    Analysed {
        /// Number of requirements.
        requirements: u32,
        /// Whether providers were available, but none gave a good analysis.
        degraded: bool,
        summary: String,
    },
    Planned {
        /// The problems of the plan; empty when it can be carried out.
        problems: Vec<String>,
        summary: String,
    },
    /// The result of an earlier phase cannot be read; that phase is repeated.
    InputMissing,
    /// A limit of the session was reached; the same step is next when it continues.
    OutOfBudget {
        /// The limit that was reached, in text written by regreen.
        reason: String,
    },
    /// A person confirmed the plan.
    Confirmed,
    /// One task wrote its tests; other tasks may remain.
    Wrote,
    /// No task that writes tests remains.
    Generated,
    Validated,
    Reviewed,
    /// The kept tests are committed.
    Kept,
    /// The kept tests are committed, but a gate is not met.
    Held {
        /// What the gates criticise.
        reasons: Vec<String>,
        summary: String,
    },
    /// The suite and the fix loop have ended.
    Executed {
        summary: String,
    },
    /// The fix loop ended below its target; the same step comes again when it goes on.
    NotGreen {
        /// Its verdict, in our own words.
        reason: String,
    },
}

/// A phase that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRow {
    /// The number of the phase, from 1 to 5.
    pub phase: u32,
    pub name: String,
    pub summary: String,
}

/// Names of the five phases (specification.md 9.1).
pub const PHASES: [&str; 5] = [
    "Session Start",
    "Test Context Gather",
    "Test Analysis",
    "Test Task Generate",
    "Test Cycle Execution",
];

/// The phase that plans tests, where some are missing.
const PLANNED: u32 = 4;

/// The phase that runs the suite.
const EXECUTED: u32 = 5;

/// The state of the pipeline, stored as `test-fix-state.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pipeline {
    pub session_id: SessionId,
    /// The request as the user wrote it.
    pub entry: PlanInput,
    /// The request in full.
    pub description: String,
    pub goal: Goal,
    /// Whether a person must approve the plan.
    pub confirm_plan: ConfirmPlan,
    /// Whether the suite is left alone where no test is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_missing: bool,
    pub next: PipelineStep,
    /// Phases that have ended, in order.
    pub phases: Vec<PhaseRow>,
    /// Whether providers were available, but none gave a good analysis.
    pub degraded: bool,
    /// Number of lines of `events.jsonl` that belong to this state.
    #[serde(default)]
    pub events: u64,
    /// Number of lines of `test-fix-outcomes.jsonl` that belong to this state.
    #[serde(default)]
    pub transitions: u64,
}

impl Pipeline {
    /// A new session, whose phase 1 is complete.
    #[must_use]
    pub fn new(
        session_id: SessionId,
        entry: PlanInput,
        description: String,
        goal: Goal,
        confirm_plan: ConfirmPlan,
    ) -> Self {
        let summary = format!("{} mode, {session_id}", entry.mode());
        let first = PhaseRow { phase: 1, name: PHASES[0].to_owned(), summary };
        Self {
            session_id,
            entry,
            description,
            goal,
            confirm_plan,
            only_missing: false,
            next: PipelineStep::Gather,
            phases: vec![first],
            degraded: false,
            events: 0,
            transitions: 0,
        }
    }

    /// Whether this session is for the same request. A source session has its own description.
    pub fn is_about(&self, entry: &PlanInput, description: &str) -> bool {
        let is_session = matches!(entry, PlanInput::Session(_));
        self.entry == *entry && (is_session || self.description == description)
    }

    /// The state after a step. Total: an outcome that does not fit the next step changes nothing.
    #[must_use]
    pub fn advance(mut self, done: PipelineStepOutcome) -> Self {
        use PipelineStep as Step;
        use PipelineStepOutcome as Done;
        let next = match (&self.next, done) {
            (Step::Gather, Done::Gathered { gaps, summary }) => {
                self.end(2, summary);
                if gaps == 0 { self.nothing_missing() } else { Step::Analyse }
            }
            (Step::Analyse, Done::Analysed { requirements, degraded, summary }) => {
                self.end(3, summary);
                self.degraded = degraded;
                if requirements == 0 { self.nothing_missing() } else { Step::Plan { attempt: 1 } }
            }
            (Step::Plan { .. }, Done::Planned { problems, summary }) if problems.is_empty() => {
                self.end(4, summary);
                match (self.goal, self.confirm_plan) {
                    (Goal::Plan, _) => Step::Finish { verdict: PipelineVerdict::Planned },
                    (Goal::Test, ConfirmPlan::Always) => Step::Confirm,
                    (Goal::Test, ConfirmPlan::Never) => Step::Generate,
                }
            }
            (Step::Plan { attempt: ..2 }, Done::Planned { .. }) => Step::Plan { attempt: 2 },
            (Step::Plan { .. }, Done::Planned { problems, .. }) => {
                Step::Finish { verdict: PipelineVerdict::Failed { problems } }
            }
            (Step::Analyse, Done::InputMissing) => self.back(2, Step::Gather),
            (Step::Plan { .. }, Done::InputMissing) => self.back(3, Step::Analyse),
            (Step::Generate, Done::InputMissing) => self.back(4, Step::Plan { attempt: 1 }),
            (Step::Confirm, Done::Confirmed) => Step::Generate,
            (Step::Generate, Done::Generated) => Step::Validate,
            (Step::Validate, Done::Validated) => Step::Review,
            (Step::Review, Done::Reviewed) => Step::Keep,
            (Step::Keep, Done::Kept) => Step::Execute,
            (Step::Keep, Done::Held { reasons, summary }) => {
                self.end(5, summary);
                Step::Finish { verdict: PipelineVerdict::Held { reasons } }
            }
            (Step::Execute, Done::Executed { summary }) => {
                let verdict = if self.phases.iter().any(|row| row.phase == PLANNED) {
                    PipelineVerdict::Generated
                } else {
                    PipelineVerdict::NothingMissing
                };
                self.end(5, summary);
                Step::Finish { verdict }
            }
            _ => return self,
        };
        Self { next, ..self }
    }

    /// Continues the session towards `goal`: carries out an existing plan and, if a person has
    /// confirmed it, runs the suite although a gate is not met.
    #[must_use]
    pub fn resume(mut self, goal: Goal, confirmed: bool) -> Self {
        if goal == Goal::Test {
            self.goal = Goal::Test;
            self.next = match self.next {
                PipelineStep::Finish { verdict: PipelineVerdict::Planned }
                    if self.confirm_plan == ConfirmPlan::Always && !confirmed =>
                {
                    PipelineStep::Confirm
                }
                PipelineStep::Finish { verdict: PipelineVerdict::Planned } => {
                    PipelineStep::Generate
                }
                PipelineStep::Finish { verdict: PipelineVerdict::NothingMissing }
                    if self.phases.iter().all(|row| row.phase < PLANNED) && !self.only_missing =>
                {
                    PipelineStep::Execute
                }
                PipelineStep::Finish { verdict: PipelineVerdict::Held { .. } } if confirmed => {
                    self.back(5, PipelineStep::Execute)
                }
                next => next,
            };
        }
        if confirmed && self.next == PipelineStep::Confirm {
            return self.advance(PipelineStepOutcome::Confirmed);
        }
        self
    }

    /// The next step, if it belongs to phases 2 to 4.
    pub fn planning_step(&self) -> Option<PlanningStep> {
        match self.next {
            PipelineStep::Gather => Some(PlanningStep::Gather),
            PipelineStep::Analyse => Some(PlanningStep::Analyse),
            PipelineStep::Plan { .. } => Some(PlanningStep::Plan),
            _ => None,
        }
    }

    /// The next step, if it writes tests.
    pub fn writing_step(&self) -> Option<WritingStep> {
        match self.next {
            PipelineStep::Generate => Some(WritingStep::Generate),
            PipelineStep::Validate => Some(WritingStep::Validate),
            PipelineStep::Review => Some(WritingStep::Review),
            PipelineStep::Keep => Some(WritingStep::Keep),
            _ => None,
        }
    }

    /// Whether the next step belongs to phase 5.
    pub fn works(&self) -> bool {
        self.writing_step().is_some() || self.next == PipelineStep::Execute
    }

    /// Whether the suite ran to its end, after tests were written or because none was missing.
    pub fn has_run_the_suite(&self) -> bool {
        let verdicts = [PipelineVerdict::Generated, PipelineVerdict::NothingMissing];
        let ends = verdicts.map(|verdict| PipelineStep::Finish { verdict });
        ends.contains(&self.next) && self.phases.iter().any(|row| row.phase == EXECUTED)
    }

    /// Whether the pipeline cannot continue without a person or a further goal.
    #[cfg(test)]
    pub fn rests(&self) -> bool {
        matches!(self.next, PipelineStep::Finish { .. } | PipelineStep::Confirm)
    }

    /// The step behind an analysis that finds no gap: whoever asked for tests wants the suite to pass too
    /// (specification.md X10).
    fn nothing_missing(&self) -> PipelineStep {
        if self.goal == Goal::Plan || self.only_missing {
            PipelineStep::Finish { verdict: PipelineVerdict::NothingMissing }
        } else {
            PipelineStep::Execute
        }
    }

    fn back(&mut self, phase: u32, next: PipelineStep) -> PipelineStep {
        self.phases.retain(|row| row.phase < phase);
        next
    }

    fn end(&mut self, phase: u32, summary: String) {
        let name = PHASES.iter().zip(1..).find(|(_, number)| *number == phase);
        let name = name.map_or("", |(name, _)| name).to_owned();
        self.phases.retain(|row| row.phase != phase);
        self.phases.push(PhaseRow { phase, name, summary });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn start(goal: Goal, confirm: ConfirmPlan) -> Pipeline {
        let id = SessionId::parse("WFS-test-x").unwrap();
        Pipeline::new(id, PlanInput::Text("x".into()), "x".into(), goal, confirm)
    }

    fn text() -> String {
        "done".into()
    }

    fn gathered(gaps: u32) -> PipelineStepOutcome {
        PipelineStepOutcome::Gathered { gaps, summary: text() }
    }

    fn held() -> PipelineStepOutcome {
        PipelineStepOutcome::Held { reasons: vec!["no".into()], summary: text() }
    }

    fn analysed(requirements: u32) -> PipelineStepOutcome {
        PipelineStepOutcome::Analysed { requirements, degraded: false, summary: text() }
    }

    fn planned(problems: &[&str]) -> PipelineStepOutcome {
        let problems = problems.iter().map(|text| (*text).to_owned()).collect();
        PipelineStepOutcome::Planned { problems, summary: text() }
    }

    #[test]
    fn phases_follow_one_another() {
        use ConfirmPlan::{Always, Never};
        let nothing_missing = || PipelineStep::Finish { verdict: PipelineVerdict::NothingMissing };
        let executed = || PipelineStepOutcome::Executed { summary: text() };
        let failed = PipelineVerdict::Failed { problems: vec!["no".into()] };
        let table = [
            (Goal::Plan, Never, vec![gathered(0)], nothing_missing()),
            (Goal::Test, Never, vec![gathered(0)], PipelineStep::Execute),
            (Goal::Test, Never, vec![gathered(1), analysed(0)], PipelineStep::Execute),
            (Goal::Test, Never, vec![gathered(0), executed()], nothing_missing()),
            (Goal::Plan, Never, vec![gathered(1)], PipelineStep::Analyse),
            (Goal::Plan, Never, vec![analysed(3)], PipelineStep::Gather),
            (Goal::Plan, Never, vec![gathered(1), analysed(0)], nothing_missing()),
            (
                Goal::Plan,
                Never,
                vec![gathered(1), PipelineStepOutcome::InputMissing],
                PipelineStep::Gather,
            ),
            (
                Goal::Plan,
                Never,
                vec![gathered(1), analysed(3), PipelineStepOutcome::InputMissing],
                PipelineStep::Analyse,
            ),
            (
                Goal::Plan,
                Always,
                vec![gathered(1), analysed(3), planned(&[])],
                PipelineStep::Finish { verdict: PipelineVerdict::Planned },
            ),
            (
                Goal::Test,
                Never,
                vec![gathered(1), analysed(3), planned(&[])],
                PipelineStep::Generate,
            ),
            (
                Goal::Test,
                Always,
                vec![gathered(1), analysed(3), planned(&[])],
                PipelineStep::Confirm,
            ),
            (
                Goal::Test,
                Always,
                vec![gathered(1), analysed(3), planned(&["no"])],
                PipelineStep::Plan { attempt: 2 },
            ),
            (
                Goal::Test,
                Always,
                vec![gathered(1), analysed(3), planned(&["no"]), planned(&["no"])],
                PipelineStep::Finish { verdict: failed },
            ),
        ];
        for (goal, confirm, steps, expected) in table {
            let end = steps.iter().cloned().fold(start(goal, confirm), Pipeline::advance);
            assert_eq!(end.next, expected, "{goal:?} {confirm:?} {steps:?}");
        }
    }

    #[test]
    fn the_fifth_phase_goes_from_step_to_step_and_waits_for_its_own_answers() {
        let plan = [gathered(1), analysed(3), planned(&[])];
        let begun = plan.into_iter().fold(start(Goal::Test, ConfirmPlan::Never), Pipeline::advance);
        let executed = || PipelineStepOutcome::Executed { summary: text() };
        let table = [
            (vec![PipelineStepOutcome::Wrote, PipelineStepOutcome::Wrote], PipelineStep::Generate),
            (vec![PipelineStepOutcome::Validated], PipelineStep::Generate),
            (vec![PipelineStepOutcome::InputMissing], PipelineStep::Plan { attempt: 1 }),
            (
                vec![PipelineStepOutcome::Wrote, PipelineStepOutcome::Generated],
                PipelineStep::Validate,
            ),
            (
                vec![PipelineStepOutcome::Generated, PipelineStepOutcome::Validated],
                PipelineStep::Review,
            ),
            (
                vec![
                    PipelineStepOutcome::Generated,
                    PipelineStepOutcome::Validated,
                    PipelineStepOutcome::Reviewed,
                ],
                PipelineStep::Keep,
            ),
            (
                vec![
                    PipelineStepOutcome::Generated,
                    PipelineStepOutcome::Validated,
                    PipelineStepOutcome::Reviewed,
                    PipelineStepOutcome::Kept,
                ],
                PipelineStep::Execute,
            ),
            (
                vec![
                    PipelineStepOutcome::Generated,
                    PipelineStepOutcome::Validated,
                    PipelineStepOutcome::Reviewed,
                    PipelineStepOutcome::Kept,
                    executed(),
                ],
                PipelineStep::Finish { verdict: PipelineVerdict::Generated },
            ),
            (
                vec![
                    PipelineStepOutcome::Generated,
                    PipelineStepOutcome::Validated,
                    PipelineStepOutcome::Reviewed,
                    held(),
                ],
                PipelineStep::Finish {
                    verdict: PipelineVerdict::Held { reasons: vec!["no".into()] },
                },
            ),
        ];
        for (steps, expected) in table {
            let end = steps.iter().cloned().fold(begun.clone(), Pipeline::advance);
            assert_eq!(end.next, expected, "{steps:?}");
            assert_eq!(end.phases.last().map(|row| row.phase) == Some(5), end.rests());
        }
    }

    #[test]
    fn a_plan_is_carried_out_when_it_is_asked_for_again() {
        let steps = || [gathered(1), analysed(3), planned(&[])];
        let plan =
            |confirm| steps().into_iter().fold(start(Goal::Plan, confirm), Pipeline::advance);
        let never = plan(ConfirmPlan::Never).resume(Goal::Test, false);
        assert_eq!(never.next, PipelineStep::Generate);
        let always = plan(ConfirmPlan::Always).resume(Goal::Test, false);
        assert_eq!(always.next, PipelineStep::Confirm);
        assert!(always.rests());
        assert_eq!(always.resume(Goal::Test, true).next, PipelineStep::Generate);
        let same = plan(ConfirmPlan::Never);
        assert_eq!(same.clone().resume(Goal::Plan, false), same);
    }

    #[test]
    fn a_gate_that_is_not_met_holds_the_suite_back_until_a_person_approves() {
        let steps = [gathered(1), analysed(3), planned(&[])].into_iter().chain([
            PipelineStepOutcome::Generated,
            PipelineStepOutcome::Validated,
            PipelineStepOutcome::Reviewed,
            held(),
        ]);
        let end = steps.fold(start(Goal::Test, ConfirmPlan::Never), Pipeline::advance);
        assert!(end.rests() && !end.works());
        let table =
            [(Goal::Test, false, true), (Goal::Plan, true, true), (Goal::Test, true, false)];
        for (goal, confirmed, rests) in table {
            let next = end.clone().resume(goal, confirmed);
            assert_eq!(next.rests(), rests, "{goal:?} {confirmed}");
            assert_eq!(next.next == PipelineStep::Execute, !rests);
        }
    }

    proptest! {
        #[test]
        fn any_answers_end_and_phases_stay_in_order(
            answers in prop::collection::vec(0u8..15, 0..60), test: bool, asks: bool,
        ) {
            let goal = if test { Goal::Test } else { Goal::Plan };
            let confirm = if asks { ConfirmPlan::Always } else { ConfirmPlan::Never };
            let mut state = start(goal, confirm);
            for answer in answers {
                let before = state.clone();
                state = state.advance(match answer {
                    0 => gathered(0),
                    1 => gathered(2),
                    2 => analysed(1),
                    3 => planned(&[]),
                    4 => planned(&["no"]),
                    5 => PipelineStepOutcome::InputMissing,
                    6 => PipelineStepOutcome::Generated,
                    7 => PipelineStepOutcome::Wrote,
                    8 => PipelineStepOutcome::Validated,
                    9 => PipelineStepOutcome::Reviewed,
                    10 => PipelineStepOutcome::Kept,
                    11 => PipelineStepOutcome::Executed { summary: text() },
                    12 => held(),
                    13 => PipelineStepOutcome::OutOfBudget { reason: text() },
                    14 => PipelineStepOutcome::NotGreen { reason: text() },
                    _ => PipelineStepOutcome::Confirmed,
                });
                let rows: Vec<u32> = state.phases.iter().map(|row| row.phase).collect();
                prop_assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", rows);
                if matches!(before.next, PipelineStep::Finish { .. }) {
                    prop_assert_eq!(before, state.clone());
                }
                let stored = serde_json::to_value(&state).unwrap();
                let read: Pipeline = serde_json::from_value(stored).unwrap();
                prop_assert_eq!(read, state.clone());
            }
        }
    }
}
