//! The steps of an integration session: a state machine that is saved before each step is taken
//! (specification.md 3.2).

use serde::{Deserialize, Serialize};

use crate::domain::event::Ending;
use crate::domain::id::{CommitId, TreeId};

use super::design::TestDesign;
use super::exploration::Exploration;
use super::iteration::{CycleAction, FixEntry, Iterations};
use super::records::{Adjustment, Assumption, Decision, DesignPart};
use super::{Integration, Phase, SessionSummary, TestInventory};

/// How far a session goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationGoal {
    /// Explore and design; write nothing.
    Design,
    /// All phases.
    Test,
}

/// The step that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationStep {
    Explore,
    Design,
    /// Wait until a person has confirmed the design.
    Confirm,
    /// Write the tests.
    Develop,
    /// Check the new files.
    Validate,
    /// Commit the new files.
    Commit,
    /// Run the suite, and fix what fails.
    Iterate,
    /// Take out the tests of documented results that no change of the code gave.
    Withdraw,
    Conclude,
    Finish,
}

display_stored_name!(IntegrationStep);

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationOutcome {
    Explored {
        exploration: Box<Exploration>,
        assumptions: Vec<Assumption>,
        decisions: Vec<Decision>,
    },
    Designed {
        design: Box<TestDesign>,
        decisions: Vec<Decision>,
    },
    /// A person confirmed the design.
    Confirmed,
    Developed {
        inventory: Box<TestInventory>,
        /// The sources with the new tests.
        tree: TreeId,
        assumptions: Vec<Assumption>,
    },
    Validated {
        inventory: Box<TestInventory>,
        tree: TreeId,
    },
    Committed {
        commit: CommitId,
    },
    /// The fix loop reached its verdict.
    Iterated {
        iterations: Box<Iterations>,
        fix_history: Vec<FixEntry>,
    },
    Withdrawn {
        /// The sources without these tests.
        tree: TreeId,
        commit: CommitId,
    },
    Concluded {
        summary: Box<SessionSummary>,
    },
    /// A limit was reached; the same step comes again when the session continues.
    OutOfBudget {
        /// The limit, in words of regreen's own.
        reason: String,
        /// What the iterations until then gave.
        #[serde(default)]
        iterations: Box<Iterations>,
        #[serde(default)]
        fix_history: Vec<FixEntry>,
    },
}

impl Integration {
    /// The state after a step. An outcome that does not belong to the step changes nothing.
    #[must_use]
    pub fn take_outcome(mut self, outcome: IntegrationOutcome) -> Self {
        use IntegrationOutcome as Done;
        use IntegrationStep as Step;
        let next = match (self.checkpoint.next, outcome) {
            (Step::Explore, Done::Explored { exploration, assumptions, decisions }) => {
                self.exploration = Some(*exploration);
                self.assumptions = assumptions;
                self.decisions.retain(Decision::is_adjustment);
                self.decisions.extend(decisions);
                self.phase = Phase::Explored;
                Step::Design
            }
            (Step::Design, Done::Designed { design, decisions }) => {
                self.take_design(*design, decisions)
            }
            (Step::Confirm, Done::Confirmed) => Step::Develop,
            (Step::Develop, Done::Developed { inventory, tree, assumptions }) => {
                self.test_inventory = Some(*inventory);
                self.checkpoint.tree = tree;
                self.assumptions = assumptions;
                Step::Validate
            }
            (Step::Validate, Done::Validated { inventory, tree }) => {
                let writes = !inventory.test_files.is_empty();
                self.test_inventory = Some(*inventory);
                self.checkpoint.tree = tree;
                self.phase = Phase::Developed;
                self.iterations.next_action = CycleAction::ExecuteTests;
                if writes { Step::Commit } else { Step::Conclude }
            }
            (Step::Commit, Done::Committed { commit }) => {
                self.checkpoint.commit = Some(commit);
                self.phase = Phase::Iterating;
                Step::Iterate
            }
            (Step::Iterate, Done::Iterated { iterations, fix_history }) => {
                self.take_iterations(*iterations, fix_history)
            }
            (Step::Iterate, Done::OutOfBudget { iterations, fix_history, .. }) => {
                self.iterations = *iterations;
                self.fix_history = fix_history;
                Step::Iterate
            }
            (Step::Withdraw, Done::Withdrawn { tree, commit }) => {
                self.withdraw_documented();
                self.checkpoint.tree = tree;
                self.checkpoint.commit = Some(commit);
                Step::Iterate
            }
            (Step::Conclude, Done::Concluded { summary }) => {
                self.summary = Some(*summary);
                self.phase = Phase::Completed;
                self.iterations.next_action = CycleAction::Complete;
                Step::Finish
            }
            _ => return self,
        };
        self.checkpoint.next = next;
        self
    }

    /// Enters a design; the step that comes next.
    fn take_design(&mut self, design: TestDesign, decisions: Vec<Decision>) -> IntegrationStep {
        self.test_design = Some(design);
        self.decisions.retain(|one| one.phase != Phase::Designed || one.is_adjustment());
        self.decisions.extend(decisions);
        self.phase = Phase::Designed;
        match (self.checkpoint.goal, self.checkpoint.confirm) {
            (IntegrationGoal::Design, _) => IntegrationStep::Finish,
            (IntegrationGoal::Test, true) => IntegrationStep::Confirm,
            (IntegrationGoal::Test, false) => IntegrationStep::Develop,
        }
    }

    /// Enters what the fix loop gave; the step that comes next.
    fn take_iterations(
        &mut self,
        iterations: Iterations,
        fix_history: Vec<FixEntry>,
    ) -> IntegrationStep {
        self.iterations = iterations;
        self.fix_history = fix_history;
        self.confirm_documented();
        let fails = self.failing_documented().next().is_some();
        if fails { IntegrationStep::Withdraw } else { IntegrationStep::Conclude }
    }

    /// Whether a person can still adjust the design: no test is written yet.
    #[must_use]
    pub fn is_adjustable(&self) -> bool {
        use IntegrationStep::{Confirm, Design, Develop, Explore};
        self.test_inventory.is_none()
            && matches!(self.checkpoint.next, Explore | Design | Confirm | Develop)
    }

    /// Records what a person asks for, and designs again; the new design waits as well.
    #[must_use]
    pub fn adjust_design(mut self, adjustment: &Adjustment) -> Self {
        if !self.is_adjustable() {
            return self;
        }
        self.decisions.push(Decision::from_adjustment(adjustment));
        self.checkpoint.confirm = true;
        self.checkpoint.next = match adjustment.part {
            DesignPart::Scope => {
                self.module.clone_from(&adjustment.text);
                IntegrationStep::Explore
            }
            _ if self.exploration.is_none() => IntegrationStep::Explore,
            DesignPart::Mocks | DesignPart::Scenarios => IntegrationStep::Design,
        };
        self
    }

    /// Continues a session: with a design that a person has confirmed, or with more iterations after it
    /// ended below its gate.
    #[must_use]
    pub fn continue_with(mut self, confirmed: bool, limit: Option<u32>) -> Self {
        if confirmed {
            self.checkpoint.confirm = false;
            self = self.take_outcome(IntegrationOutcome::Confirmed);
        }
        if let Some(limit) = limit.filter(|limit| *limit > self.max_iterations) {
            self.max_iterations = limit;
            let failed = self.summary.as_ref().is_some_and(|one| one.result == Ending::Failure);
            if failed && self.checkpoint.commit.is_some() {
                self.summary = None;
                self.phase = Phase::Iterating;
                self.checkpoint.next = IntegrationStep::Iterate;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Checkpoint, TestFile};
    use super::*;
    use crate::domain::id::SessionId;

    fn tree(digit: &str) -> TreeId {
        TreeId::parse(digit.repeat(40)).unwrap()
    }

    fn commit() -> CommitId {
        CommitId::parse("c".repeat(40)).unwrap()
    }

    fn begin(goal: IntegrationGoal, confirm: bool) -> Integration {
        let id = SessionId::parse("ITG-2026-01-02-shop").unwrap();
        let next = IntegrationStep::Explore;
        let (tree, events, transitions) = (tree("a"), 0, 0);
        let checkpoint =
            Checkpoint { next, goal, confirm, tree, commit: None, events, transitions };
        Integration::new(id, ("shop".into(), "2026-01-02T03:04:05Z".into()), 10, checkpoint)
    }

    fn explored() -> IntegrationOutcome {
        let exploration = Box::new(Exploration::default());
        IntegrationOutcome::Explored { exploration, assumptions: vec![], decisions: vec![] }
    }

    fn designed() -> IntegrationOutcome {
        IntegrationOutcome::Designed { design: Box::default(), decisions: vec![] }
    }

    fn validated(tests: u32) -> IntegrationOutcome {
        let file = TestFile {
            path: crate::domain::id::RepoPath::parse("tests/test_a.py").unwrap(),
            scenario_ids: vec![],
            test_count: tests,
            boundary: "a → b".into(),
            tests: vec![],
            is_disputed: false,
            author: String::new(),
        };
        let inventory = TestInventory { test_files: vec![file], ..TestInventory::default() };
        IntegrationOutcome::Validated {
            inventory: Box::new(inventory.with_counts()),
            tree: tree("b"),
        }
    }

    fn developed() -> IntegrationOutcome {
        let (inventory, tree) = (Box::default(), tree("b"));
        IntegrationOutcome::Developed { inventory, tree, assumptions: vec![] }
    }

    #[test]
    fn each_phase_follows_from_the_outcome_of_the_one_before() {
        use IntegrationStep::{Conclude, Confirm, Develop, Finish, Iterate};
        let iterated =
            IntegrationOutcome::Iterated { iterations: Box::default(), fix_history: vec![] };
        let table = [
            (IntegrationGoal::Design, false, vec![explored(), designed()], Finish, Phase::Designed),
            (IntegrationGoal::Test, true, vec![explored(), designed()], Confirm, Phase::Designed),
            (IntegrationGoal::Test, false, vec![explored(), designed()], Develop, Phase::Designed),
            (
                IntegrationGoal::Test,
                false,
                vec![explored(), designed(), developed(), validated(0)],
                Conclude,
                Phase::Developed,
            ),
            (
                IntegrationGoal::Test,
                true,
                vec![
                    explored(),
                    designed(),
                    IntegrationOutcome::Confirmed,
                    developed(),
                    validated(2),
                    IntegrationOutcome::Committed { commit: commit() },
                ],
                Iterate,
                Phase::Iterating,
            ),
            (
                IntegrationGoal::Test,
                false,
                vec![
                    explored(),
                    designed(),
                    developed(),
                    validated(2),
                    IntegrationOutcome::Committed { commit: commit() },
                    iterated,
                ],
                Conclude,
                Phase::Iterating,
            ),
        ];
        for (goal, confirm, outcomes, next, phase) in table {
            let state = outcomes.into_iter().fold(begin(goal, confirm), Integration::take_outcome);
            assert_eq!((state.checkpoint.next, state.phase), (next, phase));
        }
    }

    #[test]
    fn an_adjustment_designs_again_and_is_not_forgotten() {
        use IntegrationStep::{Confirm, Design, Explore, Validate};
        let to = |outcomes: Vec<IntegrationOutcome>| {
            let begun = begin(IntegrationGoal::Test, false);
            outcomes.into_iter().fold(begun, Integration::take_outcome)
        };
        let designed_state = || to(vec![explored(), designed()]);
        let written = || to(vec![explored(), designed(), developed()]);
        let table = [
            (designed_state(), DesignPart::Scope, Explore, "cart"),
            (designed_state(), DesignPart::Mocks, Design, "shop"),
            (designed_state(), DesignPart::Scenarios, Design, "shop"),
            (to(vec![]), DesignPart::Mocks, Explore, "shop"),
            (written(), DesignPart::Scope, Validate, "shop"),
        ];
        for (state, part, next, module) in table {
            let is_adjustable = state.is_adjustable();
            let state = state.adjust_design(&Adjustment { part, text: "cart".into() });
            assert_eq!((state.checkpoint.next, state.module.as_str()), (next, module), "{part}");
            let again = [explored(), designed()];
            let state = again.into_iter().fold(state, Integration::take_outcome);
            let chosen: Vec<_> = state.decisions.iter().map(|one| one.chosen.as_str()).collect();
            assert_eq!(chosen, if is_adjustable { vec!["cart"] } else { vec![] }, "{part}");
            assert_eq!(state.checkpoint.next == Confirm, is_adjustable, "{part}: it waits");
        }
    }

    #[test]
    fn an_outcome_of_another_step_and_a_spent_budget_change_nothing() {
        let state = begin(IntegrationGoal::Test, false);
        let spent = IntegrationOutcome::OutOfBudget {
            reason: "30 minutes are over".into(),
            iterations: Box::default(),
            fix_history: vec![],
        };
        for outcome in [designed(), developed(), IntegrationOutcome::Confirmed, spent] {
            assert_eq!(state.clone().take_outcome(outcome), state);
        }
    }
}
