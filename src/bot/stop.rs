//! `/regreen stop` while a run goes on. The job of that comment waits for this one, so this one
//! listens itself.

use std::time::Duration;

use crate::domain::command::Command;
use crate::effect::Permission;

use super::action::Run;
use super::command;

/// How often the comments are read: 120 requests an hour of 1,000.
const EVERY: Duration = Duration::from_secs(30);

/// Listens for a stop.
pub struct StopComments {
    since: String,
    looked: Duration,
    every: Duration,
}

impl StopComments {
    /// Listens from now on.
    #[must_use]
    pub fn new(run: &Run<'_>) -> Self {
        let every =
            run.around.get("REGREEN_LISTEN_MS").parse().map_or(EVERY, Duration::from_millis);
        Self { since: run.clock.now(), looked: run.clock.elapsed(), every }
    }

    /// The login of somebody who may command and asked for a stop since this run began.
    pub async fn asked(&mut self, run: &Run<'_>) -> Option<String> {
        let number = run.target.number.filter(|_| run.target.writes)?;
        let now = run.clock.elapsed();
        if now.saturating_sub(self.looked) < self.every {
            return None;
        }
        self.looked = now;
        let heard = run.forge.comments_since(number, &self.since).await;
        let comments = match heard {
            Ok(comments) => comments,
            Err(error) => {
                tracing::debug!(%error, "the comments could not be read");
                return None;
            }
        };
        for comment in comments {
            let Some(author) = comment.author.filter(|author| !author.bot && !comment.edited)
            else {
                continue;
            };
            let lines = command::read(&comment.body);
            if !lines.iter().any(|line| line.command == Ok(Command::Stop)) {
                continue;
            }
            if run.forge.permission(&author.login).await.is_ok_and(Permission::may_command) {
                return Some(author.login);
            }
        }
        None
    }
}
