//! One driver for all state machines of a session: save the state, perform the step it names,
//! record the outcome, advance.

use std::time::Duration;

use futures::future::{Either, select};

use crate::domain::event::Event;
use crate::effect::{Clock, Effects, Screen, Store};

use super::failure::Failure;
use super::machine::{LONGEST_TRANSITION, LogLengths, Machine, Transition};

/// The event stream of a session, inside its folder; one line each.
pub const EVENTS: &str = ".process/events.jsonl";

/// Performs the steps of a machine on the outside world. A step may be performed again after a
/// crash, and then has the same effect as when it is performed once.
pub trait Perform<M: Machine> {
    /// A step that this performer knows how to perform.
    type Task;

    /// The step that comes next; `None` when the state rests or another performer takes over.
    fn task(&self, state: &M) -> Option<Self::Task>;

    /// Performs one step.
    async fn perform(&mut self, state: &M, task: Self::Task) -> Result<M::Outcome, Failure>;

    /// Writes the files that belong to a transition. All are derived from the two states, so
    /// writing them again changes nothing.
    async fn document(&self, old: &M, new: &M) -> Result<(), Failure>;

    /// Writes the files that show a saved state.
    async fn show(&self, state: &M) -> Result<(), Failure>;
}

/// Where a drive ended.
#[derive(Debug)]
pub struct Driven<M> {
    /// The state as saved; it names the step to repeat when the drive was stopped.
    pub state: M,
    /// Why it was stopped before it rested.
    pub stop_reason: Option<String>,
}

/// Drives `state` until its performer has no further step; a resumed session enters here with the
/// state it saved.
///
/// A stop request or an exhausted budget ends the running step at once: the step is in the saved
/// state, and performing it again has the same effect as performing it once.
/// After a failed effect the saved state still names the step to repeat.
pub async fn drive<M: Machine, P: Perform<M>>(
    mut state: M,
    performer: &mut P,
    journal: Journal<'_>,
    budget: Option<Duration>,
) -> Result<Driven<M>, Failure> {
    loop {
        journal.save(&state).await?;
        performer.show(&state).await?;
        let Some(task) = performer.task(&state) else {
            return Ok(Driven { state, stop_reason: None });
        };
        let began = journal.clock.elapsed();
        let step = performer.perform(&state, task);
        let outcome = match unless_stopped(step, journal.clock, budget).await? {
            StepEnd::Completed(outcome) => outcome,
            StepEnd::Stopped { reason } => {
                return Ok(Driven { state, stop_reason: Some(reason) });
            }
        };
        let took_ms = millis(journal.clock.elapsed().saturating_sub(began));
        let stop_reason = M::budget_exceeded(&outcome).map(str::to_owned);
        journal.record_step(&state, &outcome, took_ms).await?;
        let (mut next, events) = state.clone().advance(outcome, took_ms);
        next.set_logs(state.logs().with_transition());
        performer.document(&state, &next).await?;
        state = journal.announce(&state, next, &events).await?;
        if stop_reason.is_some() {
            journal.save(&state).await?;
            return Ok(Driven { state, stop_reason });
        }
    }
}

/// What the driver needs of the outside world: the session's files, its screen and the time.
#[derive(Clone, Copy)]
pub struct Journal<'a> {
    /// The session's files.
    pub store: &'a dyn Store,
    /// Where people watch.
    pub screen: &'a dyn Screen,
    /// The time.
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

    /// Writes the events of a transition behind those the old state knows, shows them, and counts
    /// them in the new state. A line written before a crash is cut off and written again.
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

    /// Records a command behind the transitions that `state` knows of, and counts it in `next`,
    /// the state that the command leads to.
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

    /// Records the outcome of a step that another machine performed, and advances by it.
    pub async fn apply<M: Machine>(self, state: M, outcome: M::Outcome) -> Result<M, Failure> {
        self.record_step(&state, &outcome, 0).await?;
        let logs = state.logs().with_transition();
        let (mut next, _) = state.advance(outcome, 0);
        next.set_logs(logs);
        Ok(next)
    }
}

fn to_line<M: Machine>(transition: &Transition<M>) -> Result<String, Failure> {
    serde_json::to_string(transition).map_err(|error| Failure::serialise(&error))
}

/// How a step ended.
enum StepEnd<T> {
    /// With its outcome.
    Completed(T),
    /// The run had to stop before the step was complete.
    Stopped {
        /// Why, in our own words.
        reason: String,
    },
}

/// Performs a step unless the run must stop before it is complete.
async fn unless_stopped<T>(
    step: impl Future<Output = Result<T, Failure>>,
    clock: &dyn Clock,
    budget: Option<Duration>,
) -> Result<StepEnd<T>, Failure> {
    // Polled first, so that nothing begins once the run must stop.
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

/// Milliseconds, saturating.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
