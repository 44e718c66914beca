//! The sticky comment of a pull request: verdict and chart first, what to do next, and everything
//! else behind lines that a reader opens (product.md 9.1, 9.3, 13.8).

use crate::domain::budget::Limits;
use crate::domain::check::COMMENT_LIMIT;
use crate::domain::event::Ending;
use crate::domain::id::CommitId;

use super::detail;
use super::markdown::{is_address, link};
use super::overview;
use super::todo::Step;
use super::truncate::{Part, fit};
use super::view::View;

/// Bytes kept free for the note about what was shortened.
const NOTE: usize = 1_500;

/// What a page on the forge shows beside the events. Addresses are ours, as the forge or the runner
/// names them, never from a log or a model; one that is no plain web address is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
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
    pub budget: Budget,
    /// The rate that is the goal, in percent.
    pub target: Option<u32>,
    /// Answers to commands, oldest first.
    pub answers: &'a [Answer],
    /// Phases before the test cycle; none in a plain fix.
    pub phases: &'a [Step],
    /// The time of writing in words, such as `14:02 UTC`; empty leaves it out.
    pub now: &'a str,
}

impl Facts<'_> {
    /// Whether the change is on the forge already.
    #[must_use]
    pub fn is_pushed(&self) -> bool {
        self.branch_url.is_some() || self.pull_url.is_some()
    }

    /// A link to a page of the repository; the words alone when the address is no plain one.
    #[must_use]
    pub fn link_into(&self, words: &str, route: &str) -> String {
        let server = self.server_url.trim_end_matches('/');
        link(words, &format!("{server}/{}/{route}", self.repository))
    }

    /// Where everything can be read, as words with a link when there is one.
    #[must_use]
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
pub struct Budget {
    /// Iterations.
    pub iterations: Option<u32>,
    /// Minutes.
    pub minutes: Option<u64>,
    /// Calls, tokens, money.
    pub providers: Limits,
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Login of who asked; foreign.
    pub asker: String,
    /// The command as it was written; foreign.
    pub command: String,
    /// What we say, in Markdown of our own with everything foreign escaped and every fold and
    /// fence closed.
    pub reply: String,
}

/// The hidden first line, by which the comment of a session is found again (product.md 13.8).
/// Other characters than those of a session id are left out.
#[must_use]
pub fn marker(session: &str) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let session: String = session.chars().filter(allowed).take(100).collect();
    format!("<!-- regreen:{session} -->")
}

/// The comment as Markdown, its marker first, at most [`COMMENT_LIMIT`] bytes (a character counts
/// with all its bytes, so however GitHub counts, it is not longer).
///
/// Too long, it is shortened part by part, what matters least first: who was asked, to-do list,
/// patch, notes, attempts, proof, iterations, answers, failing tests. Verdict, chart, next steps, budget and the link to the full
/// report always stay.
#[must_use]
pub fn comment(view: &View, facts: &Facts<'_>) -> String {
    let mut parts = vec![Part::fixed("marker", marker(facts.session))];
    parts.extend(parts_of(view, facts));
    closed(&parts, facts, COMMENT_LIMIT)
}

/// All parts in their order on the page: what was reached first, then what a reader opens.
pub(super) fn parts_of<'a>(view: &'a View, facts: &'a Facts<'a>) -> Vec<Part<'a>> {
    let mut parts = vec![overview::heading(view)];
    parts.extend(upper(view, facts));
    parts.extend([
        detail::answers(facts),
        detail::iterations(view, facts),
        detail::attempts(view),
        detail::proof(view),
        detail::todo(view, facts),
        detail::asked(view),
        detail::notes(view),
        detail::used(view, facts),
    ]);
    parts
}

/// Verdict, chart, change, failing tests, next steps. What fails comes before the change when the
/// gate was not met.
pub(super) fn upper<'a>(view: &'a View, facts: &'a Facts<'a>) -> Vec<Part<'a>> {
    let met = view.outcome.as_ref().is_some_and(|outcome| {
        matches!(outcome.result, Ending::Success | Ending::PartialSuccess | Ending::Planned)
    });
    let (patch, failing) = (overview::patch(view, facts), overview::failing(view, facts));
    let (first, second) = if met { (patch, failing) } else { (failing, patch) };
    let chart = overview::climb(view, facts);
    vec![overview::verdict(view, facts), chart, first, second, overview::next(view, facts)]
}

/// Parts within a limit, with a note about what was shortened.
pub(super) fn closed(parts: &[Part<'_>], facts: &Facts<'_>, limit: usize) -> String {
    let whole = fit(parts, limit);
    if whole.shortened.is_empty() {
        return whole.text;
    }
    let fitted = fit(parts, limit.saturating_sub(NOTE));
    let names = fitted.shortened.join(", ");
    format!("{}\nShortened to fit: {names}. All of it: {}.\n", fitted.text, facts.full_report())
}
