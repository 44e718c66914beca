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
    /// Plan only: phases 1 to 4.
    Plan,
    /// All phases (specification.md 3.1).
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
    /// Phase 5: run the code check on the new tests.
    Validate,
    /// Phase 5: run the test review on the new tests.
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
    /// The tests are written; the same step comes again and finds nothing left to write.
    Wrote,
    /// A step of phase 5 is done: the tests are written, checked, reviewed or committed.
    Done,
    /// The kept tests are committed, but a gate is not met.
    Held {
        /// What the gates criticise.
        reasons: Vec<String>,
        summary: String,
    },
    /// The suite and the fix loop have ended.
    Executed { summary: String },
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
pub const PLANNED: u32 = 4;

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
    /// Whether a person wants the suite to run although a gate is not met.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approved: bool,
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
            approved: false,
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
            (Step::Generate, Done::Done) => Step::Validate,
            (Step::Validate, Done::Done) => Step::Review,
            (Step::Review, Done::Done) => Step::Keep,
            (Step::Keep, Done::Done) => Step::Execute,
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
                    self.approved = true;
                    // Another machine has the tests, but not their commit.
                    self.back(5, PipelineStep::Keep)
                }
                next => next,
            };
        }
        if confirmed && self.next == PipelineStep::Confirm {
            return self.advance(PipelineStepOutcome::Confirmed);
        }
        self
    }

    /// Whether the next step belongs to phases 2 to 4.
    pub fn is_planning(&self) -> bool {
        use PipelineStep::{Analyse, Gather, Plan};
        matches!(self.next, Gather | Analyse | Plan { .. })
    }

    /// Whether the next step writes tests.
    pub fn is_writing_tests(&self) -> bool {
        use PipelineStep::{Generate, Keep, Review, Validate};
        matches!(self.next, Generate | Validate | Review | Keep)
    }

    /// Whether the next step belongs to phase 5.
    pub fn works(&self) -> bool {
        self.is_writing_tests() || self.next == PipelineStep::Execute
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

    /// The step behind an analysis without gaps: the suite has to pass too (specification.md X10).
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
mod tests;
