//! The replies of one job to the person who started it.

use crate::domain::command::Dimension;
use crate::domain::id::{CommitId, SessionId};
use crate::report::forge_page::CommandReply;

/// The replies of this job, collected until its comment is posted.
#[derive(Debug, Default)]
pub struct Replies {
    /// Login of the person whose comment started the job; empty without one.
    pub asker: String,
    pub answers: Vec<CommandReply>,
    /// The follow-up issues to open.
    pub issues: Vec<Dimension>,
    /// The session below the replies; the newest one unless a command was about another.
    pub shown: Option<SessionId>,
    /// The new tip that a command gave the fix branch; it needs a check of its own.
    pub new_tip: Option<CommitId>,
    /// Whether nothing is posted, because the author of the comment may not give commands.
    pub silent: bool,
    /// Whether the job fails although it ran to its end.
    pub failed: bool,
}

impl Replies {
    /// Adds a reply to whoever started the job.
    pub fn add(&mut self, command: impl Into<String>, reply: impl Into<String>) {
        let (command, reply) = (command.into(), reply.into());
        self.answers.push(CommandReply { asker: self.asker.clone(), command, reply });
    }
}
