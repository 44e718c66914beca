//! What a run hears while it goes on: `/regreen stop`, whose own job waits for this one, and a new
//! head of the pull request.

use std::time::Duration;

use crate::domain::command::Command;
use crate::domain::id::CommitId;
use crate::effect::{Account as Author, Remote};

use super::action::Run;
use super::authority;
use super::command;
use super::permission::{Account, AccountKind, Decision};

/// How often the comments are read: 120 requests an hour of 1,000.
const EVERY: Duration = Duration::from_secs(30);

/// How often, in milliseconds, instead.
const EVERY_VARIABLE: &str = "REGREEN_LISTEN_MS";

fn every(run: &Run<'_>) -> Duration {
    run.around.get(EVERY_VARIABLE).parse().map_or(EVERY, Duration::from_millis)
}

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
        Self { since: run.clock.now(), looked: run.clock.elapsed(), every: every(run) }
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
            let lines = command::read(&comment.body);
            if !lines.iter().any(|line| line.command == Ok(Command::Stop)) {
                continue;
            }
            let Some(author) = comment.author.map(account) else { continue };
            let decision =
                authority::decide(run.forge, run.allowed, Some(&author), comment.edited).await;
            if decision == Decision::Allowed {
                return Some(author.login);
            }
        }
        None
    }
}

fn account(author: Author) -> Account {
    let kind = if author.bot { AccountKind::Bot } else { AccountKind::User };
    Account { login: author.login, id: author.id, kind }
}

/// Listens for a new head: a command acts on the head it saw, and publishes nothing beside a moved
/// one (product.md 13.17).
pub struct NewHead {
    /// The reference on the server; `None` when there is nothing to listen for.
    name: Option<String>,
    looked: Option<Duration>,
    every: Duration,
}

impl NewHead {
    /// Listens on the pull request under test.
    #[must_use]
    pub fn new(run: &Run<'_>) -> Self {
        let name = run.target.number.and_then(|number| {
            if run.target.foreign {
                return Some(format!("refs/pull/{number}/head"));
            }
            run.target.head_branch.clone()
        });
        Self { name, looked: None, every: every(run) }
    }

    /// The head that is there instead of the one under test. Asks the server, unless it did a
    /// moment ago.
    pub async fn moved(&mut self, run: &Run<'_>) -> Option<CommitId> {
        let name = self.name.as_ref()?;
        let now = run.clock.elapsed();
        if self.looked.is_some_and(|looked| now.saturating_sub(looked) < self.every) {
            return None;
        }
        self.looked = Some(now);
        match run.prepared.remote.head_of(name).await {
            Ok(head) => head.filter(|head| *head != run.target.head),
            Err(error) => {
                tracing::debug!(%error, "the head could not be looked for");
                None
            }
        }
    }
}
