//! Follows a running working phase: pushes what it keeps, shows what it tells, and stops it when a
//! person or a new head asks for that.

use std::path::Path;
use std::time::Duration;

use crate::domain::event::Event;

use super::action::{Run, Trouble};
use super::commits::{Commits, Goes};
use super::kept::Keeper;
use super::listen::{NewHead, StopComments};
use super::publish::Publisher;
use super::work::{AGAIN, io};
use super::worker::Worker;

/// How often the working phase is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// What follows a running working phase.
pub struct Watch<'a, 'b> {
    /// Publishes the commits.
    pub commits: &'a mut Commits<'b>,
    /// Shows the session.
    pub publisher: &'a mut Publisher<'b>,
    /// Keeps the state of a session that writes tests.
    pub keeper: &'a mut Option<Keeper>,
}

impl Watch<'_, '_> {
    /// Follows it to its end, and gives its exit code.
    pub async fn follow(
        &mut self,
        run: &Run<'_>,
        worker: &mut Worker,
        bundle: &Path,
    ) -> Result<i32, Trouble> {
        let (mut told, mut owed, mut tried) = (false, false, Duration::ZERO);
        let (mut stops, mut head) = (StopComments::new(run), NewHead::new(run));
        loop {
            let ended = worker.ended().map_err(|error| io(bundle, &error))?;
            let mut turned = false;
            for event in worker.events().map_err(|error| io(bundle, &error))? {
                owed |= is_kept(&event);
                turned |= is_turn(&event);
                self.publisher.add(&event);
            }
            if let Some(code) = ended {
                return Ok(code);
            }
            let now = run.clock.elapsed();
            let stored = self.commits.goes == Goes::Stored;
            if owed && !stored && (tried.is_zero() || now >= tried + AGAIN) {
                match self.commits.publish(bundle).await {
                    Ok(_) => (owed, tried) = (false, Duration::ZERO),
                    Err(error) => {
                        tracing::warn!(error, "the commits are pushed later");
                        tried = now;
                    }
                }
                if !told && !self.commits.signed {
                    self.publisher.offer(self.commits).await;
                }
            }
            self.keep(run).await;
            let asked = stops.asked(run).await;
            if let Some(who) = &asked {
                self.publisher.view.notices.push(format!("stopped, as {who} asked"));
            }
            let moved = if turned && !told { head.moved(run).await } else { None };
            if let Some(to) = &moved {
                self.publisher.view.notices.push(format!(
                    "the pull request moved to {} while this ran, so it stopped; what was done is kept, and the new head is tested by a run of its own",
                    to.short()
                ));
            }
            if (run.clock.stop_requested() || asked.is_some() || moved.is_some()) && !told {
                worker.stop();
                told = true;
            }
            if !told {
                self.publisher.tick().await;
            }
            run.clock.wait(LOOK).await;
        }
    }

    /// Keeps the state until the branch carries it.
    async fn keep(&mut self, run: &Run<'_>) {
        let Some(keeper) = self.keeper.as_mut() else { return };
        if self.commits.published.tip.is_none() {
            keeper.tick(run, false).await;
        }
        self.publisher.shows(keeper.seen.as_ref().map(|seen| &seen.pipeline));
    }
}

/// Whether an event tells of new commits.
fn is_kept(event: &Event) -> bool {
    matches!(
        event,
        Event::Baseline { .. } | Event::IterationEnded(_) | Event::Minimised(_) | Event::Closed(_)
    )
}

/// Whether an event begins or ends a phase.
fn is_turn(event: &Event) -> bool {
    is_kept(event)
        || matches!(
            event,
            Event::Phase { .. } | Event::Step { .. } | Event::IterationStarted { .. }
        )
}
