//! Supervises a running worker: pushes its commits, shows its events, and stops it on request, or
//! when the head moves.

use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, select};

use crate::adapter::repo;
use crate::domain::event::Event;
use crate::domain::id::CommitId;

use super::bundle::{RETRY, save_events};
use super::commits::Commits;
use super::context::Context;
use super::error::BotError;
use super::limits::Destination;
use super::poll::{HeadPoll, StopPoll};
use super::publish::Publisher;
use super::session_snapshots::SessionMirror;
use super::worker::Worker;

/// Interval at which the worker is checked.
const LOOK: Duration = Duration::from_millis(200);

/// Supervises a running worker.
pub struct Supervisor<'a, 'b> {
    pub commits: &'a mut Commits<'b>,
    /// Shows the session.
    pub publisher: &'a mut Publisher<'b>,
    /// Saves the state of a session that writes tests.
    pub mirror: &'a mut Option<SessionMirror>,
}

impl Supervisor<'_, '_> {
    /// Follows the worker to its end and returns its exit code.
    pub async fn follow(
        &mut self,
        context: &Context<'_>,
        worker: &mut Worker,
        bundle: &Path,
    ) -> Result<i32, BotError> {
        let io = |error| BotError::io(bundle, &error);
        let (mut stopping, mut unpushed, mut pushed_at) = (false, false, None);
        let (mut stops, mut head) = (StopPoll::new(context), HeadPoll::new(context));
        loop {
            let exit = worker.exit_code().map_err(io)?;
            let (mut turn, mut closed) = (false, false);
            for event in worker.events().map_err(io)? {
                unpushed |= event.follows_commit();
                turn |= is_turn(&event);
                closed |= matches!(event, Event::Closed(_));
                self.publisher.add(&event);
            }
            if closed {
                self.save_result(context, bundle).await;
            }
            if let Some(code) = exit {
                return Ok(code);
            }
            let now = context.clock.elapsed();
            let due = pushed_at.is_none_or(|at: Duration| now >= at + RETRY);
            let mut stopped_by = None;
            if unpushed && due && !stopping && self.commits.destination != Destination::Stored {
                match self.push(context, bundle, &mut stops).await {
                    Push::Done => (unpushed, pushed_at) = (false, None),
                    Push::Later => pushed_at = Some(now),
                    Push::StoppedBy(login) => stopped_by = Some(login),
                }
            }
            self.save(context).await;
            let moved = if turn && !stopping { head.poll(context).await } else { None };
            if stopped_by.is_none() {
                stopped_by = stops.poll(context).await;
            }
            if !stopping && self.must_stop(context, stopped_by.as_deref(), moved.as_ref()) {
                worker.stop();
                stopping = true;
            }
            if !stopping {
                self.publisher.tick().await;
            }
            context.clock.wait(LOOK).await;
        }
    }

    /// Pushes the commits that the bundle holds, and opens the pull request. A push that waits for a
    /// rate limit ends when somebody stops the run: the last push of the run follows.
    async fn push(&mut self, context: &Context<'_>, bundle: &Path, stops: &mut StopPoll) -> Push {
        let pushed = {
            let has_snapshot = self.mirror.is_none() || self.commits.published.tip.is_some();
            let has_commits = repo::manifest(bundle).is_ok();
            let is_public = self.commits.destination != Destination::Nowhere;
            let publish = pin!(async {
                // The snapshot tells of every commit on the branch, also after a kill.
                if has_snapshot && has_commits && is_public {
                    save_events(context, &self.commits.session, bundle).await;
                }
                self.commits.publish(bundle, true).await
            });
            let stop = pin!(stops.wait(context));
            match select(publish, stop).await {
                Either::Left((pushed, _)) => pushed,
                Either::Right((login, _)) => return Push::StoppedBy(login),
            }
        };
        let result = pushed.map_or_else(
            |error| {
                tracing::warn!(error, "the commits are pushed later");
                Push::Later
            },
            |()| Push::Done,
        );
        if !self.commits.is_signed() {
            self.publisher.open_pull(self.commits).await;
        }
        result
    }

    /// Saves the result before the closing commit, so that after a kill the next run finds both.
    async fn save_result(&self, context: &Context<'_>, bundle: &Path) {
        if self.mirror.is_none() && self.commits.destination != Destination::Nowhere {
            save_events(context, &self.commits.session, bundle).await;
        }
    }

    /// Whether a signal, a person or a new head stops the worker.
    fn must_stop(
        &mut self,
        context: &Context<'_>,
        login: Option<&str>,
        moved: Option<&CommitId>,
    ) -> bool {
        self.publisher.moved_to = moved.cloned().or(self.publisher.moved_to.take());
        let notices = &mut self.publisher.view.notices;
        if let Some(login) = login {
            notices.push(format!("{login} asked to stop this run."));
        }
        if let Some(head) = moved {
            notices.push(format!(
                "The pull request moved to {} while this ran, so it stopped. Its commits are kept, and another run tests the new head.",
                head.short()
            ));
        }
        context.clock.stop_requested() || login.is_some() || moved.is_some()
    }

    /// Saves the state of the session until its branch carries it.
    async fn save(&mut self, context: &Context<'_>) {
        let Some(mirror) = self.mirror.as_mut() else { return };
        if self.commits.published.tip.is_none() {
            mirror.save_if_changed(context, false).await;
        }
        self.publisher
            .show_phases(mirror.latest.as_ref().and_then(|pending| pending.pipeline.as_ref()));
    }
}

/// What became of a push during the run.
enum Push {
    Done,
    /// It failed for a temporary reason.
    Later,
    /// A person with this login stopped the run before the server had answered.
    StoppedBy(String),
}

/// Whether the event begins or ends a phase.
fn is_turn(event: &Event) -> bool {
    event.follows_commit()
        || matches!(
            event,
            Event::Phase { .. } | Event::Step { .. } | Event::IterationStarted { .. }
        )
}
