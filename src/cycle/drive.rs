//! The loop: save the state, perform the step it names, advance.

use std::time::Duration;

use futures::future::{Either, select};

use crate::domain::event::Event;
use crate::domain::fix_loop::{Done, FixLoop};
use crate::effect::{Clock, Effects};

use super::failure::Failure;
use super::fix::Performer;
use super::replay::{LONGEST, Moved, OUTCOMES};

/// How a drive ended.
#[derive(Debug)]
pub enum Driven {
    /// The state holds a verdict.
    Finished(FixLoop),
    /// Stopped between or within steps; the saved state names the step to repeat.
    Stopped {
        /// The state as saved.
        state: FixLoop,
        /// Why, in our own words.
        reason: String,
    },
}

/// Drives `state` to its verdict; a resumed session enters here with the state it saved.
///
/// A stop request or an exhausted budget ends the running step at once: the step is in the saved
/// state, and performing it again has the same effect as performing it once.
///
/// # Errors
///
/// The first effect that failed for good. The saved state then still names the step to repeat.
pub async fn drive(
    mut state: FixLoop,
    performer: &Performer<'_>,
    budget: Option<Duration>,
) -> Result<Driven, Failure> {
    let fx = performer.fx;
    loop {
        save(&state, performer).await?;
        if state.is_finished() {
            return Ok(Driven::Finished(state));
        }
        let began = fx.clock.elapsed();
        let step = performer.perform(&state);
        let done = match unless_stopped(step, fx.clock, budget).await? {
            Ok(done) => done,
            Err(reason) => return Ok(Driven::Stopped { state, reason }),
        };
        let took = fx.clock.elapsed().saturating_sub(began);
        let over = match &done {
            Done::OutOfBudget { reason, .. } => Some(reason.clone()),
            _ => None,
        };
        let moved =
            Moved::Step { step: state.next, took_ms: millis(took), done: Box::new(done.clone()) };
        remember(&state, moved, fx).await?;
        let (mut next, events) = state.clone().advance(done, millis(took));
        next.transitions = state.transitions + 1;
        performer.document(&state, &next).await?;
        state = announce(&state, next, &events, performer).await?;
        if let Some(reason) = over {
            save(&state, performer).await?;
            return Ok(Driven::Stopped { state, reason });
        }
    }
}

/// Writes the events of a transition behind those the old state knows, shows them, and counts
/// them in the new state. A line written before a crash is cut off and written again.
pub async fn announce(
    old: &FixLoop,
    mut next: FixLoop,
    events: &[Event],
    performer: &Performer<'_>,
) -> Result<FixLoop, Failure> {
    let lines: Vec<String> = events
        .iter()
        .map(|event| serde_json::to_string(event).map_err(|error| Failure::serialise(&error)))
        .collect::<Result<_, _>>()?;
    performer.fx.store.append(EVENTS, old.events, &lines).await?;
    for event in events {
        performer.fx.screen.show(event);
    }
    next.events = old.events + events.len() as u64;
    Ok(next)
}

/// Keeps what moved the loop, behind what `state` knows of.
pub async fn remember(state: &FixLoop, moved: Moved, fx: &Effects<'_>) -> Result<(), Failure> {
    let mut line = serde_json::to_string(&moved).map_err(|error| Failure::serialise(&error))?;
    if line.len() > LONGEST
        && let Moved::Step { step, .. } = moved
    {
        line = serde_json::to_string(&Moved::TooLong { step })
            .map_err(|error| Failure::serialise(&error))?;
    }
    fx.store.append(OUTCOMES, state.transitions, &[line]).await?;
    Ok(())
}

/// The loop's state inside the session folder (product.md 8.1).
pub const STATE_FILE: &str = ".process/iteration-state.json";

/// The stream of events inside a session's folder.
pub const EVENTS: &str = ".process/events.jsonl";

/// Saves the state.
pub async fn save(state: &FixLoop, performer: &Performer<'_>) -> Result<(), Failure> {
    let value = serde_json::to_value(state).map_err(|error| Failure::serialise(&error))?;
    performer.fx.store.write_json(STATE_FILE, &value).await?;
    Ok(())
}

/// Resolves when the run must stop, with the reason.
async fn stopped(clock: &dyn Clock, budget: Option<Duration>) -> String {
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

/// What a step brought, or the reason why it had to be left.
///
/// # Errors
///
/// Those of the step.
pub async fn unless_stopped<T, E>(
    step: impl Future<Output = Result<T, E>>,
    clock: &dyn Clock,
    budget: Option<Duration>,
) -> Result<Result<T, String>, E> {
    // Asked first, so that nothing begins once the run must stop.
    let stop = std::pin::pin!(stopped(clock, budget));
    let step = std::pin::pin!(step);
    match select(stop, step).await {
        Either::Left((reason, _)) => Ok(Err(reason)),
        Either::Right((done, _)) => Ok(Ok(done?)),
    }
}

/// Milliseconds, saturating.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
