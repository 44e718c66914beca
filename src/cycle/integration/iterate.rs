//! Phase 5 of an integration session, in which it drives the fix loop to its verdict, and phase 6,
//! its conclusions.

use crate::cycle::drive::{Driven, Journal, MachineEnd, Perform, Work, drive};
use crate::cycle::error::Failure;
use crate::cycle::fix::{self, FixCommand, FixInputs, LoopEnd};
use crate::cycle::machine::Machine as _;
use crate::cycle::session_files::{committed_files, read};
use crate::domain::commit;
use crate::domain::event::Ending;
use crate::domain::fix_loop::FixLoop;
use crate::domain::integration::iteration::read_loop;
use crate::domain::integration::{Integration, IntegrationOutcome, IntegrationStep};
use crate::effect::{CommitRequest, Effects};
use crate::role::integration::drop_failing_documented;

use super::prepare::write_log;

/// Drives phases 5 and 6; with the end of the fix loop, if it ran.
pub async fn drive_iterations(
    state: Integration,
    inputs: &FixInputs,
    fx: &Effects<'_>,
) -> Result<(Driven<Integration>, Option<LoopEnd>), Failure> {
    let mut performer = IterationPerformer { inputs, fx, end: None };
    let driven = drive(state, &mut performer, fx.into(), None).await?;
    Ok((driven, performer.end))
}

/// Performs the iterations and the conclusions.
struct IterationPerformer<'a> {
    inputs: &'a FixInputs,
    fx: &'a Effects<'a>,
    /// The end of the fix loop, once it ran.
    end: Option<LoopEnd>,
}

impl Perform<Integration> for IterationPerformer<'_> {
    fn perform<'s>(&'s mut self, state: &'s Integration) -> Work<'s, IntegrationOutcome> {
        match state.checkpoint.next {
            IntegrationStep::Iterate => Work::Machine(Box::pin(self.fix())),
            IntegrationStep::Withdraw => Work::Step(Box::pin(self.withdraw(state))),
            IntegrationStep::Conclude => Work::Step(Box::pin(self.conclude(state))),
            _ => Work::Rest,
        }
    }

    async fn show(&self, state: &Integration) -> Result<(), Failure> {
        write_log(state, self.fx).await
    }
}

impl IterationPerformer<'_> {
    async fn fix(&mut self) -> Result<MachineEnd<IntegrationOutcome>, Failure> {
        let end = Box::pin(fix::run(self.inputs.clone(), self.fx)).await?;
        let state = read::<FixLoop>(self.fx, FixLoop::STATE_FILE).await?;
        let (iterations, fix_history) = state.as_ref().map(read_loop).unwrap_or_default();
        let iterations = Box::new(iterations);
        let outcome = if end.outcome.result == Ending::Blocked {
            let reason = end.outcome.reason.clone();
            IntegrationOutcome::OutOfBudget { reason, iterations, fix_history }
        } else {
            IntegrationOutcome::Iterated { iterations, fix_history }
        };
        let events = end.events;
        self.end = Some(end);
        Ok(MachineEnd { outcome, events })
    }

    /// Takes tests out whose documented results no change gave, and lets the fix loop begin anew.
    async fn withdraw(&self, state: &Integration) -> Result<IntegrationOutcome, Failure> {
        self.fx.step("taking out tests of documentation that no change of the code makes pass");
        let fix_loop = read::<FixLoop>(self.fx, FixLoop::STATE_FILE).await?;
        let fix_loop = fix_loop.ok_or_else(|| {
            Failure::Internal("iterations without the state of a fix loop".into())
        })?;
        let accepted = drop_failing_documented(state, &fix_loop.accepted_tree, self.fx).await?;
        let sources = drop_failing_documented(state, &fix_loop.head_tree, self.fx).await?;
        let travels = self.inputs.terms.state_is_committed;
        let request = CommitRequest {
            tree: accepted.clone(),
            message: commit::withdraw_tests(state),
            state: committed_files(travels, &self.inputs.state_prefix, self.fx).await?,
            time: self.fx.clock.now(),
        };
        let commit = self.fx.worktree.commit(&request).await?;
        // A killed run may have told the fix loop already.
        if fix_loop.verdict.is_some() {
            let next = fix_loop.clone().continue_from((&sources, &accepted), &commit);
            let (tree, commit) = (accepted.clone(), commit.clone());
            let command = FixCommand::Withdrew { sources, accepted: tree, commit };
            let journal = Journal::from(self.fx);
            journal.save(&journal.record(&fix_loop, command, next).await?).await?;
        }
        Ok(IntegrationOutcome::Withdrawn { tree: accepted, commit })
    }

    async fn conclude(&self, state: &Integration) -> Result<IntegrationOutcome, Failure> {
        let result = if let Some(end) = &self.end {
            Some(end.outcome.result)
        } else {
            // The run that reached the verdict was killed before its conclusions.
            let state = read::<FixLoop>(self.fx, FixLoop::STATE_FILE).await?;
            state.and_then(|state| Some(state.verdict?.ending))
        };
        let summary = Box::new(state.summarise_session(result, self.fx.clock.now()));
        Ok(IntegrationOutcome::Concluded { summary })
    }
}
