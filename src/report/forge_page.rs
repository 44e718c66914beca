//! What a page on the forge (comment, check run, job summary, pull request) shows beside the events of
//! a session.

use crate::domain::budget::SpendingLimits;
use crate::domain::id::CommitId;

use super::markdown::{is_address, link};
use super::todo::Step;

/// What a page on the forge shows beside the events. Addresses are ours, as the forge or the runner
/// names them, never from a log or a model; one that is no plain web address is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForgePage<'a> {
    /// Such as `https://github.com`; links to commits and lines begin with it.
    pub server_url: &'a str,
    /// `owner/name`.
    pub repository: &'a str,
    /// The session that owns the comment; part of its marker.
    pub session: &'a str,
    /// The pull request it stands on; commands work only there.
    pub pull: Option<u64>,
    /// The page of the running job.
    pub run_url: Option<&'a str>,
    /// The full report: a page or an artefact.
    pub report_url: Option<&'a str>,
    /// The fix branch, when it was pushed, or where a person opens a pull request from it.
    pub branch_url: Option<&'a str>,
    /// The pull request with the fix.
    pub pull_url: Option<&'a str>,
    /// A result that waits to be published: what `/regreen apply` takes.
    pub stored: Option<&'a CommitId>,
    /// What may be used.
    pub budget: BudgetLimits,
    /// The rate that is the goal, in percent.
    pub target: Option<u32>,
    /// Answers to commands, oldest first.
    pub answers: &'a [CommandReply],
    /// Phases before the test cycle; none in a plain fix.
    pub phases: &'a [Step],
    /// The time of writing in words, such as `14:02 UTC`; empty leaves it out.
    pub now: &'a str,
}

impl ForgePage<'_> {
    /// Whether the change is on the forge already.
    pub fn is_pushed(&self) -> bool {
        self.branch_url.is_some() || self.pull_url.is_some()
    }

    /// A link to a page of the repository; the words alone when the address is no plain one.
    pub fn link_into(&self, words: &str, route: &str) -> String {
        let server = self.server_url.trim_end_matches('/');
        link(words, &format!("{server}/{}/{route}", self.repository))
    }

    /// Where everything can be read, as words with a link when there is one.
    pub fn full_report(&self) -> String {
        let pages = [(self.report_url, "full report"), (self.run_url, "run")];
        pages
            .iter()
            .find_map(|(url, words)| url.filter(|url| is_address(url)).map(|url| link(words, url)))
            .unwrap_or_else(|| "full report, an artefact of the run".to_owned())
    }
}

/// What a session may use; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    pub iterations: Option<u32>,
    pub minutes: Option<u64>,
    /// Calls, tokens, money.
    pub providers: SpendingLimits,
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandReply {
    /// Login of who asked; foreign.
    pub asker: String,
    /// The command as it was written; foreign.
    pub command: String,
    /// What we say, in Markdown of our own with everything foreign escaped and every fold and
    /// fence closed.
    pub reply: String,
}
