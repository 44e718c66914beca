//! What is left: tests that still fail, proposals that were refused, notes, and how to go on.

use crate::domain::event::Remaining;
use crate::domain::id::TestId;
use crate::report::next_steps;
use crate::report::overview::gravest;
use crate::report::phrases::sentence;

use super::writer::{Html, number, short};
use super::{NAME, PageData, left_out};

/// Tests that are described, and bytes they may take.
const TESTS: usize = 100;
const BYTES: usize = 220_000;

/// Names in a list.
const LISTED: usize = 50;

/// Refusals and notes.
const REFUSED: usize = 100;
const NOTES: usize = 50;

pub(super) fn fails(data: &PageData<'_>) -> bool {
    match &data.view.outcome {
        Some(outcome) => {
            !(outcome.failing.is_empty()
                && outcome.stuck.is_empty()
                && outcome.flaky.is_empty()
                && outcome.preexisting.is_empty())
        }
        None => !data.view.failing().is_empty(),
    }
}

pub(super) fn failing(html: &mut Html, data: &PageData<'_>) {
    let Some(outcome) = &data.view.outcome else {
        names(html, "As far as it is known now", &data.view.failing());
        return;
    };
    let tests = gravest(data.view);
    let began = html.len();
    let mut drawn = 0;
    if tests.is_empty() {
        html.leaf("p", "lead", "Nothing that counts. These are kept out of the gate or known:");
    } else {
        html.inside("ul", &[("class", "cards")], |html| {
            for one in tests.iter().take(TESTS) {
                if html.len() - began > BYTES {
                    break;
                }
                drawn += 1;
                html.inside("li", &[], |html| card(html, one));
            }
        });
        left_out(html, tests.len() - drawn, "test", "the session's `.process/outcome.json`");
    }
    names(html, "Stuck: failed in the last three results", &outcome.stuck);
    names(html, "Flaky: failed and passed unchanged, kept out of the gate", &outcome.flaky);
    names(html, "Failing before this change too", &outcome.preexisting);
}

fn card(html: &mut Html, one: &Remaining) {
    html.inside("p", &[("class", "name")], |html| {
        html.code(one.test.as_str(), NAME);
        let tone = match one.criticality.as_str() {
            "high" => "chip bad",
            "low" => "chip open",
            _ => "chip warn",
        };
        html.text(" ");
        html.leaf("span", tone, &short(&one.criticality, 20));
    });
    if !one.message.is_empty() {
        html.inside("p", &[("class", "says")], |html| html.code(&one.message, 500));
    }
    html.inside("p", &[("class", "why")], |html| {
        html.text(&format!("{}. ", sentence(&short(&one.evidence, NAME)).trim_end_matches('.')));
        if let Some(file) = &one.file {
            html.text("At ");
            let line = one.line.map(|line| format!(":{line}")).unwrap_or_default();
            html.code(&format!("{file}{line}"), NAME);
            html.text(".");
        }
    });
}

fn names(html: &mut Html, title: &str, tests: &[TestId]) {
    if tests.is_empty() {
        return;
    }
    html.inside("details", &[], |html| {
        html.inside("summary", &[], |html| {
            html.text(title);
            html.text(" ");
            html.leaf("span", "chip open", &number(tests.len() as u64));
        });
        html.list("plain", tests.iter().take(LISTED), |html, test| html.code(test.as_str(), NAME));
        let more = tests.len().saturating_sub(LISTED);
        left_out(html, more, "test", "the session's `.process/outcome.json`");
    });
}

pub(super) fn refuses(data: &PageData<'_>) -> bool {
    !data.view.refused.is_empty()
}

pub(super) fn refused(html: &mut Html, data: &PageData<'_>) {
    html.leaf("p", "lead", "Guards refused these edits before they were written.");
    let refused = data.view.refused.iter().take(REFUSED);
    html.list("plain", refused, |html, (iteration, reasons)| {
        html.leaf("b", "", &format!("Iteration {iteration}: "));
        let reasons: Vec<String> =
            reasons.iter().take(5).map(|reason| short(reason, 150)).collect();
        html.text(&reasons.join("; "));
    });
    let more = data.view.refused.len().saturating_sub(REFUSED);
    left_out(html, more, "refusal", "the session's `.process/events.jsonl`");
}

pub(super) fn notes(data: &PageData<'_>) -> bool {
    !data.view.notices.is_empty()
}

pub(super) fn note(html: &mut Html, data: &PageData<'_>) {
    html.list("plain", data.view.notices.iter().take(NOTES), |html, text| {
        html.text(&short(text, 500));
    });
    let more = data.view.notices.len().saturating_sub(NOTES);
    left_out(html, more, "note", "the session's `.process/events.jsonl`");
}

pub(super) fn has_next_steps(data: &PageData<'_>) -> bool {
    !data.view.session.is_empty() || data.view.outcome.is_some()
}

pub(super) fn next(html: &mut Html, data: &PageData<'_>) {
    let steps = match &data.view.outcome {
        Some(outcome) => next_steps::in_terminal(outcome),
        None => vec![next_steps::resume_session(&data.view.session)],
    };
    html.inside("dl", &[("class", "steps")], |html| {
        for step in &steps {
            html.term(&sentence(step.purpose), |html| html.code(&step.command, 600));
        }
    });
    if let Some(outcome) = &data.view.outcome {
        html.inside("p", &[("class", "lead")], |html| {
            html.text("Everything else is kept in ");
            html.code(&outcome.folder, 400);
            html.text(".");
        });
    }
}
