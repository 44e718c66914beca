//! One driver for all state machines of a session: saves the state, performs the next step, records
//! its outcome, and advances.

use std::time::Duration;

use futures::future::{Either, LocalBoxFuture, select};

use crate::domain::event::Event;
use crate::domain::fix_loop::Stopped;
use crate::domain::session::files::EVENTS;
use crate::effect::{Clock, Effects, Screen, Store};

use super::error::Failure;
use super::machine::{LONGEST_TRANSITION, LogLengths, Machine, Transition};

/// Performs the steps of a machine on the outside world. A step may be performed again after a
/// crash, so performing it twice must have the same effect as performing it once.
pub trait Perform<M: Machine> {
    /// What is done about the step that comes next.
    fn perform<'s>(&'s mut self, state: &'s M) -> Work<'s, M::Outcome>;

    /// Writes the files of a transition, derived from the two states alone, so repeatable.
    async fn document(&self, _old: &M, _new: &M) -> Result<(), Failure> {
        Ok(())
    }

    /// Writes the files that present a saved state to readers.
    async fn show(&self, _state: &M) -> Result<(), Failure> {
        Ok(())
    }
}

/// What a performer does about the step that comes next.
pub enum Work<'s, O> {
    /// Performs it; a stop request or an exhausted budget ends it at once.
    Step(LocalBoxFuture<'s, Result<O, Failure>>),
    /// Drives another machine, which heeds stop requests and its budget between its own steps.
    Machine(LocalBoxFuture<'s, Result<MachineEnd<O>, Failure>>),
    /// Nothing: the state rests, or another performer takes over.
    Rest,
}

/// How a machine ended that was driven as one step.
pub struct MachineEnd<O> {
    pub outcome: O,
    /// Lines of the event stream, which both machines write.
    pub events: u64,
}

/// The result of a drive.
#[derive(Debug)]
pub struct Driven<M> {
    /// The state as saved; after an early stop it names the step to repeat.
    pub state: M,
    /// Why the drive stopped early; `None` when it ended because there was no further step.
    pub stopped: Option<Stopped>,
}

/// Drives `state` until its performer has no further step; a resumed session enters here with the
/// state it saved.
///
/// Whatever ends a step early, a stop request, a failed effect or a kill, the saved state names it,
/// and performing it again has the same effect as performing it once.
pub async fn drive<M: Machine, P: Perform<M>>(
    mut state: M,
    performer: &mut P,
    journal: Journal<'_>,
    budget: Option<Duration>,
) -> Result<Driven<M>, Failure> {
    let mut stopped = None;
    loop {
        journal.save(&state).await?;
        performer.show(&state).await?;
        if stopped.is_some() {
            return Ok(Driven { state, stopped });
        }
        let began = journal.clock.elapsed();
        let step_end = match performer.perform(&state) {
            Work::Rest => StepEnd::Rest,
            Work::Step(step) => unless_stopped(step, journal.clock, budget).await?,
            Work::Machine(machine) => StepEnd::Machine(machine.await?),
        };
        let outcome = match step_end {
            StepEnd::Completed(outcome) => outcome,
            StepEnd::Machine(MachineEnd { outcome, events }) => {
                state.set_logs(LogLengths { events, ..state.logs() });
                outcome
            }
            StepEnd::Stopped { reason } => {
                state.add_time(millis(journal.clock.elapsed().saturating_sub(began)));
                journal.save(&state).await?;
                return Ok(Driven {
                    state,
                    stopped: Some(Stopped { reason, ..Stopped::default() }),
                });
            }
            StepEnd::Rest => return Ok(Driven { state, stopped }),
        };
        let took_ms = millis(journal.clock.elapsed().saturating_sub(began));
        stopped = M::spent_reason(&outcome).map(|reason| Stopped {
            reason: reason.to_owned(),
            is_spent: true,
            ..Stopped::default()
        });
        journal.record_step(&state, &outcome, took_ms).await?;
        let (mut next, events) = state.clone().advance(outcome, took_ms);
        next.set_logs(state.logs().with_transition());
        performer.document(&state, &next).await?;
        state = journal.announce(&state, next, &events).await?;
    }
}

/// The effects that the driver uses: session files, screen and clock.
#[derive(Clone, Copy)]
pub struct Journal<'a> {
    /// The session's files.
    pub store: &'a dyn Store,
    /// The screen that shows events to the user.
    pub screen: &'a dyn Screen,
    pub clock: &'a dyn Clock,
}

impl<'a> From<&Effects<'a>> for Journal<'a> {
    fn from(fx: &Effects<'a>) -> Self {
        Self { store: fx.store, screen: fx.screen, clock: fx.clock }
    }
}

impl Journal<'_> {
    pub async fn save<M: Machine>(self, state: &M) -> Result<(), Failure> {
        let value = serde_json::to_value(state).map_err(|error| Failure::serialise(&error))?;
        self.store.write_json(M::STATE_FILE, &value).await?;
        Ok(())
    }

    /// Appends, shows and counts a transition's events; lines from a crash are written again.
    pub async fn announce<M: Machine>(
        self,
        old: &M,
        mut new: M,
        events: &[Event],
    ) -> Result<M, Failure> {
        let lines: Vec<String> = events
            .iter()
            .map(|event| serde_json::to_string(event).map_err(|error| Failure::serialise(&error)))
            .collect::<Result<_, _>>()?;
        let known = old.logs().events;
        self.store.append(EVENTS, known, &lines).await?;
        for event in events {
            self.screen.show(event);
        }
        new.set_logs(LogLengths { events: known + events.len() as u64, ..new.logs() });
        Ok(new)
    }

    /// Appends a command after the transitions of `state`, and counts it in `next`.
    pub async fn record<M: Machine>(
        self,
        state: &M,
        command: M::Command,
        mut next: M,
    ) -> Result<M, Failure> {
        let logs = state.logs();
        let line = to_line::<M>(&Transition::Command(command))?;
        self.store.append(M::TRANSITIONS, logs.transitions, &[line]).await?;
        next.set_logs(logs.with_transition());
        Ok(next)
    }

    async fn record_step<M: Machine>(
        self,
        state: &M,
        outcome: &M::Outcome,
        took_ms: u64,
    ) -> Result<(), Failure> {
        let step = state.step();
        let outcome = Box::new(outcome.clone());
        let mut line = to_line::<M>(&Transition::Step { step: step.clone(), took_ms, outcome })?;
        if line.len() > LONGEST_TRANSITION {
            line = to_line::<M>(&Transition::TooLong { step })?;
        }
        self.store.append(M::TRANSITIONS, state.logs().transitions, &[line]).await?;
        Ok(())
    }
}

fn to_line<M: Machine>(transition: &Transition<M>) -> Result<String, Failure> {
    serde_json::to_string(transition).map_err(|error| Failure::serialise(&error))
}

enum StepEnd<T> {
    /// The step completed with this outcome.
    Completed(T),
    /// With that of the machine that was driven.
    Machine(MachineEnd<T>),
    /// There was none.
    Rest,
    /// The run had to stop before the step was complete.
    Stopped {
        /// The reason, in words of regreen's own.
        reason: String,
    },
}

/// Performs a step unless the run must stop before the step is complete.
async fn unless_stopped<T>(
    step: impl Future<Output = Result<T, Failure>>,
    clock: &dyn Clock,
    budget: Option<Duration>,
) -> Result<StepEnd<T>, Failure> {
    // Polled before the step, so that no step begins once the run must stop.
    let stop = std::pin::pin!(stop_reason(clock, budget));
    let step = std::pin::pin!(step);
    match select(stop, step).await {
        Either::Left((reason, _)) => Ok(StepEnd::Stopped { reason }),
        Either::Right((outcome, _)) => Ok(StepEnd::Completed(outcome?)),
    }
}

/// Resolves when the run must stop, with the reason.
async fn stop_reason(clock: &dyn Clock, budget: Option<Duration>) -> String {
    loop {
        if clock.stop_requested() {
            return "stopped on request".into();
        }
        if budget.is_some_and(|budget| clock.elapsed() >= budget) {
            return "the time budget is used up".into();
        }
        clock.wait(Duration::from_millis(100)).await;
    }
}

/// A duration in milliseconds, limited to the largest `u64`.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
