//! How a session stands once nothing runs any more. Heading, verdict, next steps, the conclusion of
//! a check run, the title of a pull request and the outputs of a job all follow from one state, so
//! that no two of them disagree (specification.md 9.3).

use crate::domain::check::Conclusion;
use crate::domain::event::{Ending, Outcome};
use crate::domain::id::CommitId;
use crate::domain::test::Objection;
use crate::domain::text::count;

use super::forge_page::{ForgePage, JobFailure};
use super::view::View;

/// The state of a session that does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalState {
    /// No session is known; the page has answers only.
    NoSession,
    /// The events of the session end before its result, as after a kill.
    Unfinished,
    /// The job ended without a result: something that it needs is missing.
    NoResult,
    /// A bundle was refused, so that nothing of it counts.
    Refused,
    /// A person had a kept fix reverted.
    Reverted,
    /// Every test passed before any change.
    Green,
    /// What failed before any change is of low criticality, and the gate is met.
    GreenWithNotes,
    /// Every test passes with the fix.
    Fixed,
    /// The gate is met with the fix; what is left is of low criticality.
    MostlyFixed,
    /// Tests were written, and every test passes.
    TestsWritten,
    /// The gate is not met.
    NotGreen,
    /// The gate is not met, and no edit of the code can honestly meet it.
    Unfixable,
    /// Every test passes, and the command or its report is not green.
    Objected,
    /// Stopped at a checkpoint, from which it can be resumed.
    Stopped,
    /// The tests ran, and nothing was changed, as requested.
    DryRun,
    /// Tests are planned; none ran.
    Planned,
    /// Tests were to be planned or written, and none is missing.
    NothingToDo,
}

/// The commit that a check run is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedCommit {
    /// The head under test, as its author pushed it.
    Head,
    /// The tip of the fix.
    Fix,
}

impl FinalState {
    /// The state of a session; `None` while it runs.
    pub fn of(view: &View, page: &ForgePage<'_>) -> Option<Self> {
        match page.failure {
            Some(JobFailure::Refused { .. }) => return Some(Self::Refused),
            Some(JobFailure::NoResult { .. }) => return Some(Self::NoResult),
            None => {}
        }
        if view.outcome.is_none() && !page.idle {
            return None;
        }
        if !view.reverted.is_empty() {
            return Some(Self::Reverted);
        }
        let Some(outcome) = &view.outcome else {
            let state = if view.session.is_empty() { Self::NoSession } else { Self::Unfinished };
            return Some(state);
        };
        let fixed = view.improvements() > 0;
        Some(match outcome.result {
            Ending::Success if fixed => Self::Fixed,
            Ending::Success if !view.written.is_empty() => Self::TestsWritten,
            Ending::Success => Self::Green,
            Ending::PartialSuccess if fixed => Self::MostlyFixed,
            Ending::PartialSuccess => Self::GreenWithNotes,
            Ending::Failure if outcome.unfixable => Self::Unfixable,
            Ending::Failure if outcome.is_objected() => Self::Objected,
            Ending::Failure => Self::NotGreen,
            Ending::Blocked => Self::Stopped,
            Ending::Planned if outcome.last.is_some() => Self::DryRun,
            Ending::Planned if outcome.report.is_empty() => Self::NothingToDo,
            Ending::Planned => Self::Planned,
        })
    }

    /// The sign before the heading on the forge.
    pub fn icon(self) -> &'static str {
        match self {
            Self::NoSession => "",
            Self::Unfinished | Self::Stopped => "⏸️ ",
            Self::NoResult => "⚠️ ",
            Self::Refused => "⛔ ",
            Self::Reverted => "↩️ ",
            Self::Green | Self::Fixed | Self::TestsWritten => "✅ ",
            Self::GreenWithNotes | Self::MostlyFixed => "🟡 ",
            Self::NotGreen | Self::Unfixable | Self::Objected => "❌ ",
            Self::DryRun | Self::Planned | Self::NothingToDo => "📋 ",
        }
    }

    /// The heading, plain text in one line.
    pub fn heading(self, view: &View, page: &ForgePage<'_>) -> String {
        let iterations = match view.rows.len() {
            0 => String::new(),
            number => format!(" after {}", count(number, "iteration")),
        };
        let about = view.outcome.as_ref().is_some_and(|outcome| outcome.estimated);
        let about = if about { "about " } else { "" };
        let rate = view.rate().map(|rate| format!("{about}{rate} % pass"));
        let pass = rate.unwrap_or_else(|| "no pass rate".to_owned());
        match self {
            Self::NoSession => String::new(),
            Self::Unfinished if view.baseline.is_none() => "No result yet".to_owned(),
            Self::Unfinished => format!("No result yet: {pass}{iterations}"),
            Self::NoResult => "No result".to_owned(),
            Self::Refused => "Refused: nothing of this bundle was published".to_owned(),
            Self::Reverted => format!("{} taken back, and no tests ran since", reverted(view)),
            Self::Green | Self::TestsWritten if view.failing_before() > 0 => {
                let verb = if view.failing_before() == 1 { "fails" } else { "fail" };
                let number = count(view.failing_before(), "test");
                format!("Not green: {number} failed before and still {verb}")
            }
            Self::Green => format!("Green: {pass}"),
            Self::GreenWithNotes => format!("Gate met: {pass}, {}", left(view)),
            Self::Fixed => {
                let from = view.baseline.map(|first| format!("{first} → ")).unwrap_or_default();
                // A pull request whose fix waits elsewhere is not fixed yet.
                let waits = !page.server_url.is_empty() && page.on_head.is_none();
                let words = if waits { "A fix was found" } else { "Fixed" };
                format!("{words}: {from}{pass}{iterations}")
            }
            Self::MostlyFixed if is_special_case(view) => {
                format!("Looks made for the tests, please review: {pass}{iterations}")
            }
            Self::MostlyFixed => format!("Gate met, please review: {pass}{iterations}"),
            Self::TestsWritten => format!("{}, every test passes", written(view)),
            Self::NotGreen if view.rate().is_none() => "Ended without a test result".to_owned(),
            Self::NotGreen => format!("Not green: {pass}{iterations}"),
            Self::Objected => {
                let is_command = |one: &Objection| matches!(one, Objection::Command { .. });
                let all = || view.outcome.iter().flat_map(|outcome| &outcome.objections);
                let what = match all().find_map(Objection::missing_program) {
                    Some(program) => format!("`{program}` is not installed"),
                    None if all().any(is_command) => "the command does not".to_owned(),
                    None => "the report does not agree".to_owned(),
                };
                format!("Not green: {pass}{iterations}, {what}")
            }
            Self::Unfixable => format!("Cannot be fixed honestly: {pass}{iterations}"),
            Self::Stopped if page.moved_to.is_some() => {
                let head = page.moved_to.map(CommitId::short).unwrap_or_default();
                format!("Stopped: the pull request moved to {head}")
            }
            Self::Stopped if view.rate().is_none() => "Stopped before a test run ended".to_owned(),
            Self::Stopped => format!("Stopped: {pass}{iterations}"),
            Self::DryRun => format!("Dry run: {pass}, nothing was changed"),
            Self::Planned => "Planned, nothing was changed".to_owned(),
            Self::NothingToDo => "Nothing to do".to_owned(),
        }
    }

    /// The conclusion of a check run. That of the head tells of the head, so a fix beside it does
    /// not make it green, and a branch rule that requires the check lets no head in that is known to
    /// fail: GitHub takes `neutral` for a pass, as where only a new test failed. `partial` is the input `partial-conclusion`.
    pub fn conclusion(self, of: CheckedCommit, partial: Conclusion, view: &View) -> Conclusion {
        use CheckedCommit::{Fix, Head};
        match (self, of) {
            (Self::Unfinished | Self::Stopped, Head) if !view.failing().is_empty() => {
                Conclusion::Failure
            }
            (Self::Fixed | Self::MostlyFixed, Head) if view.is_head_green() => Conclusion::Neutral,
            (Self::Green | Self::TestsWritten, Head) if view.failing_before() > 0 => {
                Conclusion::Failure
            }
            (Self::Green | Self::TestsWritten, _) | (Self::Fixed, Fix) => Conclusion::Success,
            (Self::GreenWithNotes, _) | (Self::MostlyFixed, Fix) => partial,
            (Self::Reverted, Fix) | (Self::NoResult, _) => Conclusion::ActionRequired,
            (Self::Fixed | Self::MostlyFixed | Self::Reverted, Head)
            | (Self::NotGreen | Self::Unfixable | Self::Objected | Self::Refused, _) => {
                Conclusion::Failure
            }
            (
                Self::NoSession
                | Self::Unfinished
                | Self::Stopped
                | Self::DryRun
                | Self::Planned
                | Self::NothingToDo,
                _,
            ) => Conclusion::Neutral,
        }
    }

    /// Whether a session that ends so ran the suite, or tried to, so that a check run tells of it.
    pub fn is_checked(self) -> bool {
        !matches!(self, Self::NoSession | Self::Planned | Self::NothingToDo)
    }

    /// The title of a check run, plain text in one line.
    pub fn check_title(self, of: CheckedCommit, view: &View, page: &ForgePage<'_>) -> String {
        let heading = match of {
            CheckedCommit::Head => self.heading(view, page),
            // Seen from the fix itself, nothing is left to merge.
            CheckedCommit::Fix => self.heading(view, &ForgePage { server_url: "", ..*page }),
        };
        let short = heading.strip_prefix("A fix was found: ").unwrap_or(&heading);
        if let (Self::NoResult, Some(JobFailure::NoResult { message, .. })) = (self, page.failure) {
            return format!("{heading}: {message}");
        }
        if of == CheckedCommit::Fix || !matches!(self, Self::Fixed | Self::MostlyFixed) {
            return heading;
        }
        if let Some(branch) = page.on_head {
            return format!("The fix is on {branch} ({heading})");
        }
        let place = match (page.pull_url, page.branch_url, page.stored) {
            (Some(url), ..) => format!("#{}", url.rsplit('/').next().unwrap_or_default()),
            (None, Some(_), _) => format!("branch {}", view.branch),
            (None, None, Some(_)) => "`/regreen apply` publishes it".to_owned(),
            (None, None, None) => return heading,
        };
        format!("A fix is ready: {place} ({short})")
    }

    /// The output `result` of a job; empty when there is none.
    pub fn result(self, outcome: Option<&Outcome>) -> String {
        match self {
            Self::NoResult => "error".to_owned(),
            Self::Refused | Self::Reverted => Ending::Failure.to_string(),
            _ => outcome.map_or_else(String::new, |outcome| outcome.result.to_string()),
        }
    }

    /// Whether the suite meets its gate with what the session did.
    pub fn meets_gate(self) -> bool {
        matches!(
            self,
            Self::Green
                | Self::GreenWithNotes
                | Self::Fixed
                | Self::MostlyFixed
                | Self::TestsWritten
        )
    }
}

/// `Iteration 2 is`, for the fixes that were reverted after the session ended.
pub fn reverted(view: &View) -> String {
    let mut numbers = view.reverted.clone();
    numbers.sort_unstable();
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match numbers.as_slice() {
        [one] => format!("Iteration {one} is"),
        many => format!("Iterations {} are", many.join(", ")),
    }
}

/// `4 tests written in 1 file`.
pub fn written(view: &View) -> String {
    let tests: u64 = view.written.iter().map(|one| u64::from(one.tests)).sum();
    let files = view.written.len() as u64;
    format!("{} written in {}", count(tests, "test"), count(files, "file"))
}

/// Whether a change that was accepted treats the tests specially.
fn is_special_case(view: &View) -> bool {
    view.outcome.as_ref().is_some_and(|outcome| !outcome.special_cases.is_empty())
}

/// `1 flaky test`, `1 test of low criticality fails`, or both.
fn left(view: &View) -> String {
    let failing = view.failing();
    let number = failing.len() as u64;
    let verb = if number == 1 { "fails" } else { "fail" };
    let low = format!("{} of low criticality {verb}", count(number, "test"));
    let flaky = view.flaky.iter().filter(|test| !failing.contains(test)).count() as u64;
    match (flaky, number) {
        (0, 0) if view.outcome.as_ref().is_some_and(|end| !end.not_run.is_empty()) => {
            "other tests were not run".to_owned()
        }
        (0, 0) => "no test that counts fails".to_owned(),
        (0, _) => low,
        (flaky, 0) => count(flaky, "flaky test"),
        (flaky, _) => format!("{}, {low}", count(flaky, "flaky test")),
    }
}

#[cfg(test)]
impl FinalState {
    /// All states, in the order of the documentation. A new one does not compile before it has its
    /// place here.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::successors(Some(Self::Green), |state| match state {
            Self::Green => Some(Self::GreenWithNotes),
            Self::GreenWithNotes => Some(Self::Fixed),
            Self::Fixed => Some(Self::MostlyFixed),
            Self::MostlyFixed => Some(Self::TestsWritten),
            Self::TestsWritten => Some(Self::NotGreen),
            Self::NotGreen => Some(Self::Unfixable),
            Self::Unfixable => Some(Self::Objected),
            Self::Objected => Some(Self::Stopped),
            Self::Stopped => Some(Self::Reverted),
            Self::Reverted => Some(Self::DryRun),
            Self::DryRun => Some(Self::Planned),
            Self::Planned => Some(Self::NothingToDo),
            Self::NothingToDo => Some(Self::Refused),
            Self::Refused => Some(Self::NoResult),
            Self::NoResult => Some(Self::Unfinished),
            Self::Unfinished => Some(Self::NoSession),
            Self::NoSession => None,
        })
    }
}
