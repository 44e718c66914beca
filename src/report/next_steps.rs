//! Commands that a person can run after a session, worded once for the terminal, the report, the
//! page and the comment.

use std::collections::BTreeSet;

use crate::domain::criticality::Criticality;
use crate::domain::event::{Ending, IterationRow, Outcome};
use crate::domain::fix_loop::IterationResult;
use crate::domain::id::SessionId;
use crate::domain::session::HIGHEST_LIMIT;
use crate::domain::session::files::STATE_FOLDER;
use crate::domain::shell::{line, word};

use super::final_state::FinalState;
use super::forge_page::ForgePage;
use super::view::View;

/// A command and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// The command as a person types it.
    pub command: String,
    /// What it does, in a few words.
    pub purpose: &'static str,
}

impl NextStep {
    fn new(command: impl Into<String>, purpose: &'static str) -> Self {
        Self { command: command.into(), purpose }
    }
}

/// The iteration limit for resuming a session that ended below its gate.
fn higher_limit(outcome: &Outcome) -> u32 {
    let ran = u32::try_from(outcome.iterations.len()).unwrap_or(u32::MAX);
    outcome.reopening_limit.unwrap_or_else(|| ran.saturating_add(10).clamp(20, HIGHEST_LIMIT))
}

/// Commands to type in a terminal, most useful first.
pub fn in_terminal(outcome: &Outcome) -> Vec<NextStep> {
    let mut steps = Vec::new();
    if outcome.tip.is_some() {
        let (onto, branch) = (outcome.onto.as_deref().unwrap_or("HEAD"), &outcome.branch);
        let (log, diff) = (format!("{onto}..{branch}"), format!("{onto}...{branch}"));
        steps.push(NextStep::new(format!("git log --oneline {}", word(&log)), "every step"));
        let diff = format!("git diff {}", word(&diff));
        let is_kept = |row: &IterationRow| row.outcome == IterationResult::Improved.to_string();
        if outcome.result.meets_gate() || outcome.is_objected() {
            steps.push(NextStep::new(diff, "what changed"));
            // One commit: those of the session hold its state on the way.
            let merge = format!("git merge --squash {}", word(branch));
            steps.push(NextStep::new(merge, "take it as one change to commit, after reading it"));
        } else {
            // A session that can go on leaves its state on the branch.
            let diff = format!("{diff} -- . ':!{STATE_FOLDER}'");
            steps.push(NextStep::new(diff.clone(), "what changed"));
            let repairs = outcome.iterations.iter().any(is_kept);
            let is_written = outcome.written.as_ref().is_some_and(|work| !work.files.is_empty());
            if repairs || is_written {
                let purpose = if is_written {
                    "take the tests, and what it repairs, after reading it"
                } else {
                    "take what it repairs, after reading it"
                };
                steps.push(NextStep::new(format!("{diff} | git apply"), purpose));
            }
        }
    }
    let findings = outcome.written.iter().flat_map(|work| &work.findings);
    let files: BTreeSet<&str> = findings.filter_map(|one| one.split(':').next()).collect();
    steps.extend(files.into_iter().map(|file| {
        let purpose = "correct the code or its documentation: they contradict each other";
        NextStep::new(format!("$EDITOR {}", word(file)), purpose)
    }));
    steps.extend(resume(outcome));
    if outcome.result == Ending::Planned && !no_edit_helps(outcome) {
        let words: Vec<String> = ["regreen", "fix"]
            .map(str::to_owned)
            .into_iter()
            .chain(outcome.options.clone())
            .collect();
        steps.push(NextStep::new(line(&words), "do it"));
    }
    let report = format!("regreen report {}", outcome.session);
    steps.push(NextStep::new(report, "the whole report"));
    steps
}

/// The command that continues a session without an outcome.
pub fn resume_session(session: &str) -> NextStep {
    NextStep::new(format!("regreen fix --resume {session}"), "continue where it stopped")
}

/// The command that continues a session below its gate; `None` when nothing is left.
pub fn resume(outcome: &Outcome) -> Option<NextStep> {
    let step = match outcome.written {
        _ if is_integration(&outcome.session) => NextStep {
            command: format!("regreen integration --continue {}", outcome.session),
            ..resume_session(&outcome.session)
        },
        // Its pipeline has a step behind the fix loop.
        Some(_) => NextStep {
            command: format!("regreen test --resume {}", outcome.session),
            ..resume_session(&outcome.session)
        },
        None => resume_session(&outcome.session),
    };
    match outcome.result {
        Ending::Blocked if outcome.limit_reached => {
            let words = line(&outcome.options);
            let command = format!("{} {words}", step.command).trim_end().to_owned();
            Some(NextStep { command, purpose: "continue with a higher limit" })
        }
        Ending::Blocked => Some(step),
        Ending::Failure if outcome.unfixable || no_edit_helps(outcome) || outcome.is_objected() => {
            None
        }
        Ending::Failure => {
            let limit = higher_limit(outcome);
            let command = format!("{} --max-iterations {limit}", step.command);
            // Who gave up before the limit needs other ideas, not more time.
            let purpose = if outcome.last.is_none() {
                "continue once a test can run"
            } else if is_untried(outcome) {
                "continue, of use only with another provider: nothing could be tried so far"
            } else if outcome.limit_reached {
                "try longer"
            } else {
                "continue, best with another provider"
            };
            Some(NextStep { command, purpose })
        }
        Ending::Success | Ending::PartialSuccess | Ending::Planned => None,
    }
}

fn is_integration(session: &str) -> bool {
    SessionId::parse(session).is_ok_and(|session| session.is_integration())
}

/// Whether no edit was found that could be tried, so that more time alone changes nothing.
fn is_untried(outcome: &Outcome) -> bool {
    let tried = |row: &IterationRow| row.tried > 0 || row.tests_run > 0;
    !outcome.iterations.is_empty() && !outcome.iterations.iter().any(tried)
}

/// Whether nothing is left, or was found by a dry run, that an edit could repair.
fn no_edit_helps(outcome: &Outcome) -> bool {
    let low = Criticality::Low.to_string();
    let ran = outcome.last.is_some() && outcome.failing.iter().all(|one| one.criticality == low);
    ran && (outcome.result == Ending::Planned || !outcome.failing.is_empty())
}

/// Commands to write in a comment on the pull request, most useful first.
pub fn in_comment(view: &View, page: &ForgePage<'_>) -> Vec<NextStep> {
    let Some(state) = FinalState::of(view, page) else {
        return vec![NextStep::new("/regreen stop", "finish the running step, save, and end")];
    };
    let outcome = view.outcome.as_ref();
    let mut steps = Vec::new();
    if let Some(stored) = page.stored.filter(|_| !page.is_pushed()) {
        let apply = format!("/regreen apply {stored}");
        steps.push(NextStep::new(apply, "publish exactly this change"));
    }
    match state {
        FinalState::Unfinished => {
            steps.push(NextStep::new("/regreen resume", "continue, if no run is in progress"));
        }
        FinalState::NoResult if is_integration(&view.session) => {
            let again = "/regreen integration MODULE";
            steps.push(NextStep::new(again, "run again, once that is corrected"));
        }
        FinalState::NoResult
        | FinalState::Refused
        | FinalState::Unfixable
        | FinalState::Objected => {
            steps.push(NextStep::new("/regreen fix", "run again, once that is corrected"));
        }
        FinalState::Reverted => {
            steps.push(NextStep::new("/regreen fix", "look for another fix"));
        }
        FinalState::GreenWithNotes | FinalState::MostlyFixed => {
            steps.push(NextStep::new("/regreen issue test", "open an issue for what is left"));
        }
        FinalState::NotGreen => {
            if outcome.is_some_and(|outcome| outcome.limit_reached) && page.is_pushed() {
                let longer = "try longer, once `gate.max-iterations` is raised on the base branch";
                steps.push(NextStep::new("/regreen resume", longer));
            }
            let explain = "show where each failure comes from, and why";
            steps.push(NextStep::new("/regreen explain", explain));
        }
        // Without a branch and without a plan nothing is kept that could be continued.
        FinalState::Stopped if page.moved_to.is_some() => {}
        FinalState::Stopped if page.is_held => {
            let purpose = "run the suite with these tests all the same";
            steps.push(NextStep::new("/regreen resume --yes", purpose));
        }
        FinalState::Stopped
            if !page.is_pushed() && view.tasks.is_empty() && !is_integration(&view.session) =>
        {
            steps.push(NextStep::new("/regreen fix", "run again"));
        }
        FinalState::Stopped => {
            let is_spent = outcome.is_some_and(|outcome| outcome.limit_reached);
            let purpose = if is_spent {
                "continue, once its `budget` is raised on the base branch"
            } else {
                "continue where it stopped"
            };
            steps.push(NextStep::new("/regreen resume", purpose));
        }
        FinalState::DryRun => steps.push(NextStep::new("/regreen fix", "look for a fix")),
        FinalState::Planned if page.plan_is_gone => {}
        FinalState::Planned if is_integration(&view.session) => {
            steps.push(NextStep::new("/regreen confirm", "write the designed tests"));
            let purpose = "change the design; or `mocks:` or `scenarios:`";
            steps.push(NextStep::new("/regreen adjust scope: MODULE", purpose));
            steps.push(NextStep::new("/regreen cancel", "drop the design"));
        }
        FinalState::Planned => {
            steps.push(NextStep::new("/regreen run", "carry the plan out"));
            steps.push(NextStep::new("/regreen show-plan", "show the planned tasks"));
            steps.push(NextStep::new("/regreen cancel", "drop the plan"));
        }
        FinalState::NoSession
        | FinalState::Green
        | FinalState::Fixed
        | FinalState::TestsWritten
        | FinalState::NothingToDo => {}
    }
    let fixes = matches!(
        state,
        FinalState::Fixed
            | FinalState::MostlyFixed
            | FinalState::NotGreen
            | FinalState::Unfixable
            | FinalState::Objected
    );
    let kept = view.improvements() > 0;
    if fixes && kept && page.is_pushed() && page.on_head.is_none() {
        steps.push(NextStep::new("/regreen rollback", "take the last fix back"));
    }
    steps
}
