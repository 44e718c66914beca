//! The check run on GitHub: conclusion, title, summary, and annotations at lines that fail.

use crate::domain::check::{
    ANNOTATION_LIMIT, Annotation, CHECK_LIMIT, CheckRun, CheckStatus, Conclusion, Level,
    TITLE_LIMIT,
};
use crate::domain::event::Remaining;
use crate::domain::id::CommitId;

use super::final_state::{CheckedCommit, FinalState};
use super::forge_page::ForgePage;
use super::markdown::{cut, is_address, line};
use super::markdown_page::forge_page;
use super::overview::gravest;
use super::parts::Screen;
use super::status_line::current_line;
use super::view::View;

/// Facts about a check run that the events do not contain.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// Name of the check, as branch protection rules require it.
    pub name: &'a str,
    pub head_sha: &'a CommitId,
    /// Which commit that is.
    pub commit: CheckedCommit,
    /// Conclusion for a partial success: input `partial-conclusion`.
    pub partial: Conclusion,
}

/// Status of the check: queued before the first event, completed after the last one.
fn status(view: &View, facts: &ForgePage<'_>, about: &About<'_>) -> CheckStatus {
    match FinalState::of(view, facts) {
        // Nothing ran on this commit as it is.
        Some(_) if about.commit == CheckedCommit::Fix && facts.incomplete.is_some() => {
            CheckStatus::Completed(Conclusion::ActionRequired)
        }
        Some(state) => CheckStatus::Completed(state.conclusion(about.commit, about.partial, view)),
        None if view.session.is_empty() => CheckStatus::Queued,
        None => CheckStatus::InProgress,
    }
}

/// The whole check run. Title, summary and text are within the forge's limits.
///
/// The summary is what a person needs, the text is the full record. Annotations are sent only at
/// the end: a forge adds them up and removes none, and what fails before the end may yet be fixed.
pub fn check(view: &View, facts: &ForgePage<'_>, about: &About<'_>) -> CheckRun {
    let page = |screen| forge_page("", screen, view, facts, CHECK_LIMIT);
    let state = FinalState::of(view, facts);
    let title = state.map(|state| state.check_title(about.commit, view, facts));
    let title = match facts.incomplete.filter(|_| about.commit == CheckedCommit::Fix) {
        Some(why) => format!("Not tested as it is: {why}"),
        None => title.unwrap_or_else(|| current_line(view, facts)),
    };
    let url = facts.report_url.or(facts.run_url).filter(|url| is_address(url));
    CheckRun {
        name: cut(&line(about.name, TITLE_LIMIT), TITLE_LIMIT),
        head_sha: about.head_sha.clone(),
        // One check for all sessions of a pull request, as there is one comment.
        external_id: facts.session.to_owned(),
        status: status(view, facts, about),
        title: cut(&line(&title, TITLE_LIMIT), TITLE_LIMIT),
        summary: page(Screen::CheckSummary),
        text: page(Screen::CheckText).trim_start().to_owned(),
        details_url: url.map(str::to_owned),
        annotations: annotations(view),
    }
}

/// Annotations at the lines of tests that still fail, most critical first; none before the end. A
/// test whose file is unknown gets none. GitHub shows them as plain text.
pub fn annotations(view: &View) -> Vec<Annotation> {
    gravest(view).into_iter().filter_map(annotation).take(ANNOTATION_LIMIT).collect()
}

fn annotation(one: &Remaining) -> Option<Annotation> {
    let at = one.line.unwrap_or(1).max(1);
    let level = match one.criticality.as_str() {
        "low" => Level::Notice,
        "medium" => Level::Warning,
        _ => Level::Failure,
    };
    let message = line(&one.message, 2_000);
    let message =
        if message.is_empty() { "It failed without a message.".to_owned() } else { message };
    Some(Annotation {
        path: one.file.clone()?,
        start_line: at,
        end_line: at,
        level,
        message: format!("{message}\n{}: {}", line(&one.criticality, 20), line(&one.evidence, 500)),
        title: cut(&line(one.test.as_str(), TITLE_LIMIT), TITLE_LIMIT),
    })
}
