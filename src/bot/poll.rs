//! Polls during a run for `/regreen stop`, whose own job is queued behind this one, and for a new
//! head of the pull request.

use std::time::Duration;

use crate::domain::command::Command;
use crate::domain::id::CommitId;
use crate::effect::{Account as Author, CommentKind, Reaction};

use super::authority;
use super::command;
use super::context::Context;
use super::permission::{Account, AccountKind};
use super::throttle::Throttle;

/// Polling interval: 120 requests an hour, of 1,000 allowed.
const EVERY: Duration = Duration::from_secs(30);

/// Interval at which a wait checks whether a poll is due.
const LOOK: Duration = Duration::from_millis(200);

/// Variable that overrides the polling interval, in milliseconds.
const EVERY_VARIABLE: &str = "REGREEN_LISTEN_MS";

/// Polls the comments for `/regreen stop`.
pub struct StopPoll {
    since: String,
    throttle: Throttle,
}

impl StopPoll {
    /// Polls for comments from now on.
    pub fn new(context: &Context<'_>) -> Self {
        let mut throttle = Throttle::steady(context.env, EVERY_VARIABLE, EVERY);
        throttle.record(context.clock.elapsed());
        Self { since: context.clock.now(), throttle }
    }

    /// Waits until an authorised person comments `stop`; returns the login.
    pub async fn wait(&mut self, context: &Context<'_>) -> String {
        loop {
            if let Some(login) = self.poll(context).await {
                return login;
            }
            context.clock.wait(LOOK).await;
        }
    }

    /// The login of an authorised person who commented `stop` since this run began.
    pub async fn poll(&mut self, context: &Context<'_>) -> Option<String> {
        let number = context.target.number.filter(|_| context.target.writes)?;
        let now = context.clock.elapsed();
        if !self.throttle.is_due(now) {
            return None;
        }
        self.throttle.record(now);
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
            if decision.is_ok() {
                let seen = context.forge.react(CommentKind::Issue, comment.id, Reaction::Eyes);
                if let Err(error) = seen.await {
                    tracing::debug!(%error, "the comment got no reaction");
                }
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

/// Polls for a new head: a command applies to the head at its start, so nothing is published once
/// there is a newer one (specification.md 4.14).
pub struct HeadPoll {
    /// The reference to poll; `None` when there is none.
    name: Option<String>,
    throttle: Throttle,
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
        Self { name, throttle: Throttle::steady(context.env, EVERY_VARIABLE, EVERY) }
    }

    /// The new head; `None` when it did not move, or when the last poll is too recent.
    pub async fn poll(&mut self, context: &Context<'_>) -> Option<CommitId> {
        let name = self.name.as_ref()?;
        let now = context.clock.elapsed();
        if !self.throttle.is_due(now) {
            return None;
        }
        self.throttle.record(now);
        match context.prepared.remote.head_of(name).await {
            Ok(head) => head.filter(|head| *head != context.target.head),
            Err(error) => {
                tracing::debug!(%error, "the head could not be read");
                None
            }
        }
    }
}
