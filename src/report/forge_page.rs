//! Data of a page on the forge (comment, check run, job summary, pull request) that is not in the
//! events of the session.

use crate::domain::budget::SpendingLimits;
use crate::domain::id::CommitId;

use super::markdown::{is_address, link};
use super::todo::Step;

/// What a page on the forge shows besides the events. URLs come from regreen, the forge or the
/// runner, never from a log or a model; one that is not a plain web address is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForgePage<'a> {
    /// URL of the forge, such as `https://github.com`; links to commits and lines begin with it.
    pub server_url: &'a str,
    /// `owner/name`.
    pub repository: &'a str,
    /// The session that owns the comment; part of its marker.
    pub session: &'a str,
    /// Number of the pull request with the comment; commands work only there.
    pub pull: Option<u64>,
    /// URL of the running job.
    pub run_url: Option<&'a str>,
    /// URL of the full report: a page or an artefact.
    pub report_url: Option<&'a str>,
    /// URL of the pushed fix branch, or of the form that opens a pull request from it.
    pub branch_url: Option<&'a str>,
    /// URL of the pull request with the fix.
    pub pull_url: Option<&'a str>,
    /// Commit of a result that is stored until `/regreen apply` publishes it.
    pub stored: Option<&'a CommitId>,
    /// Commits of iterations that the server has; only these have a page.
    pub pushed: &'a [CommitId],
    pub budget: BudgetLimits,
    /// The target rate, in percent.
    pub target: Option<u32>,
    /// Whether no run of this job is in progress.
    pub idle: bool,
    /// Why the job has nothing to show.
    pub failure: Option<&'a JobFailure>,
    /// Why the server has not all of the change, or has it among commits that it was not tested with.
    pub incomplete: Option<&'a str>,
    /// The head branch, if the fix was pushed to it.
    pub on_head: Option<&'a str>,
    /// The new head of the pull request, if it moved during the run.
    pub moved_to: Option<&'a CommitId>,
    /// Whether the plan of the session was dropped, or is for another head.
    pub plan_is_gone: bool,
    /// Whether written tests wait until a person approves what a gate criticises in them.
    pub is_held: bool,
    /// Fixes and tests of other sessions, which this one does not replace.
    pub earlier_work: &'a [EarlierWork],
    /// Answers to commands, oldest first.
    pub answers: &'a [CommandReply],
    /// Phases before the test cycle; none in a plain fix.
    pub phases: &'a [Step],
    /// The time of writing in words, such as `14:02 UTC`; empty leaves it out.
    pub now: &'a str,
}

impl ForgePage<'_> {
    /// Whether the change has already been pushed.
    pub fn is_pushed(&self) -> bool {
        self.branch_url.is_some() || self.pull_url.is_some() || self.on_head.is_some()
    }

    /// A link to a page of the repository; only the words when the URL is not a plain web address.
    pub fn link_into(&self, words: &str, route: &str) -> String {
        let server = self.server_url.trim_end_matches('/');
        link(words, &format!("{server}/{}/{route}", self.repository))
    }

    /// Where the full report is, with a link if its URL is known.
    pub fn full_report(&self) -> String {
        let pages = [(self.report_url, "full report"), (self.run_url, "run")];
        pages
            .iter()
            .find_map(|(url, words)| url.filter(|url| is_address(url)).map(|url| link(words, url)))
            .unwrap_or_else(|| "full report, an artefact of the run".to_owned())
    }
}

/// Why a job has nothing to show. All texts are foreign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobFailure {
    /// It ended without a result.
    NoResult {
        /// What is missing.
        message: String,
        /// What a person can do, as an imperative clause.
        hint: String,
    },
    Refused {
        /// Which check refused it.
        reason: String,
    },
}

/// A fix or tests of another session that still wait for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierWork {
    /// How that session stands, as its heading put it.
    pub heading: String,
    pub place: Place,
}

/// Where earlier work is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// URL of its pull request or branch.
    Page(String),
    /// It is stored until `/regreen apply` publishes it.
    Stored(CommitId),
}

/// What a session may use; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    pub iterations: Option<u32>,
    pub minutes: Option<u64>,
    /// Limits of calls, tokens and money.
    pub providers: SpendingLimits,
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandReply {
    /// Login of the person who asked; foreign text.
    pub asker: String,
    /// The command as it was written; foreign text.
    pub command: String,
    /// Our answer, as Markdown with foreign text escaped and every fold and fence closed.
    pub reply: String,
}
