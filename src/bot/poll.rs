//! What a run polls for: `/regreen stop`, whose own job waits for this one, and a new head of the
//! pull request.

use std::time::Duration;

use crate::domain::command::Command;
use crate::domain::id::CommitId;
use crate::effect::Account as Author;

use super::authority;
use super::command;
use super::context::Context;
use super::permission::{Account, AccountKind, Authorization};

/// Time between two polls: 120 requests an hour of 1,000.
const EVERY: Duration = Duration::from_secs(30);

/// Variable with another time between two polls, in milliseconds.
const EVERY_VARIABLE: &str = "REGREEN_LISTEN_MS";

fn every(context: &Context<'_>) -> Duration {
    context.env.get(EVERY_VARIABLE).parse().map_or(EVERY, Duration::from_millis)
}

/// Polls the comments for a stop.
pub struct StopPoll {
    since: String,
    last: Duration,
    every: Duration,
}

impl StopPoll {
    /// Polls for comments from now on.
    pub fn new(context: &Context<'_>) -> Self {
        Self { since: context.clock.now(), last: context.clock.elapsed(), every: every(context) }
    }

    /// The login of an authorised person who commented `stop` since this run began.
    pub async fn poll(&mut self, context: &Context<'_>) -> Option<String> {
        let number = context.target.number.filter(|_| context.target.writes)?;
        let now = context.clock.elapsed();
        if now.saturating_sub(self.last) < self.every {
            return None;
        }
        self.last = now;
        let comments = match context.forge.comments_since(number, &self.since).await {
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
                authority::decide(context.forge, context.allowed, Some(&author), comment.edited)
                    .await;
            if decision == Authorization::Allowed {
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

/// Polls for a new head: a command acts on the head it saw, and publishes nothing beside a new one
/// (specification.md 13.17).
pub struct HeadPoll {
    /// The reference on the server; `None` when there is nothing to poll.
    name: Option<String>,
    last: Option<Duration>,
    every: Duration,
}

impl HeadPoll {
    /// Polls the pull request under test.
    pub fn new(context: &Context<'_>) -> Self {
        let name = context.target.number.and_then(|number| {
            if context.target.foreign {
                return Some(format!("refs/pull/{number}/head"));
            }
            context.target.head_branch.clone()
        });
        Self { name, last: None, every: every(context) }
    }

    /// The new head; `None` when it did not move, or when the last poll is too recent.
    pub async fn poll(&mut self, context: &Context<'_>) -> Option<CommitId> {
        let name = self.name.as_ref()?;
        let now = context.clock.elapsed();
        if self.last.is_some_and(|last| now.saturating_sub(last) < self.every) {
            return None;
        }
        self.last = Some(now);
        match context.prepared.remote.head_of(name).await {
            Ok(head) => head.filter(|head| *head != context.target.head),
            Err(error) => {
                tracing::debug!(%error, "the head could not be read");
                None
            }
        }
    }
}
