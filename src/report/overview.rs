//! The upper parts of a page on the forge: what a reader sees without opening anything.

use crate::domain::event::{Ending, Remaining};
use crate::domain::id::{CommitId, RepoPath, TestId};

use super::chart;
use super::forge_page::ForgePage;
use super::markdown::{brief, code, count, fold, link, prose};
use super::next_steps;
use super::phrases::sentence;
use super::records;
use super::todo::{doing, place_line};
use super::truncate::Part;
use super::view::View;

/// Failing tests that stand open; the others are folded.
const OPEN: usize = 5;

/// Bytes and lines of a patch that stands open.
const SMALL_PATCH: usize = 1_500;
const SMALL_LINES: usize = 16;

/// Characters of a sentence.
const SENTENCE: usize = 400;

/// How it ended or what is done now, as a heading.
pub(super) fn heading(view: &View) -> Part<'_> {
    let icon = match view.outcome.as_ref().map(|outcome| outcome.result) {
        None => "🔄",
        Some(_) if !view.taken_back.is_empty() => "↩️",
        Some(Ending::Success) => "✅",
        Some(Ending::PartialSuccess) => "🟡",
        Some(Ending::Failure) => "❌",
        Some(Ending::Blocked) => "⏸️",
        Some(Ending::Planned) => "📋",
    };
    Part::fixed("heading", format!("### {icon} {}", prose(&place_line(view), SENTENCE)))
}

/// Why it ended so and where the fix is, or the running step.
pub(super) fn verdict<'a>(view: &View, facts: &ForgePage<'_>) -> Part<'a> {
    let Some(outcome) = &view.outcome else {
        let doing = prose(&sentence(&doing(view)), SENTENCE);
        return Part::fixed("verdict", if doing.is_empty() { doing } else { format!("{doing} …") });
    };
    let mut text = String::new();
    if !view.taken_back.is_empty() {
        text.push_str(
            "The fix branch was not tested since. `/regreen fix` looks for another fix.\n\n",
        );
    }
    text.push_str(&format!("{}.", prose(&sentence(&outcome.reason), SENTENCE)));
    if view.regained() > 0 {
        text.push_str(&format!(" {} regained.", count(u64::from(view.regained()), "test")));
    }
    if outcome.degraded {
        text.push_str(" In some iteration no provider gave a good answer.");
    }
    let pages = [(facts.pull_url, "the fix"), (facts.branch_url, "the fix branch")];
    let fix = pages.iter().find_map(|(url, words)| url.map(|url| link(words, url)));
    let met = matches!(outcome.result, Ending::Success | Ending::PartialSuccess);
    match fix {
        _ if outcome.patch.trim().is_empty() => {}
        None => text.push_str("\n\nNothing was pushed; the change is the patch below."),
        Some(fix) if met => text.push_str(&format!(
            "\n\n**Review {fix}.** It satisfies the tests; whether it is right, you decide."
        )),
        Some(fix) => text.push_str(&format!("\n\nWhat was kept is in {fix}.")),
    }
    Part::fixed("verdict", text)
}

/// The pass rate as bars.
pub(super) fn climb<'a>(view: &View, facts: &ForgePage<'_>) -> Part<'a> {
    Part::fixed("chart", chart::block_of(view, facts.target))
}

/// The change itself: open when it is small, else folded.
pub(super) fn patch<'a>(view: &'a View, facts: &'a ForgePage<'a>) -> Part<'a> {
    let patch = view.outcome.as_ref().map_or("", |outcome| outcome.patch.as_str());
    if patch.trim().is_empty() {
        return Part::fixed("patch", String::new());
    }
    if patch.len() <= SMALL_PATCH && patch.lines().count() <= SMALL_LINES {
        return Part::fixed("patch", records::patch(patch, SMALL_PATCH));
    }
    Part::stepped("patch", 3, vec![200_000, 30_000, 10_000, 3_000, 0], move |&limit| {
        if limit == 0 {
            return format!("The change is too long to show; see the {}.", facts.full_report());
        }
        let lead =
            if facts.is_pushed() { "" } else { "Save it and apply it with `git apply`.\n\n" };
        fold("The change as a patch", &format!("{lead}{}", records::patch(patch, limit)))
    })
}

/// What fails now, with criticality and evidence.
pub(super) fn failing<'a>(view: &'a View, facts: &'a ForgePage<'a>) -> Part<'a> {
    let known = view.failing();
    let (title, all) = match &view.outcome {
        Some(outcome) => ("Still failing", outcome.failing.len()),
        None => ("Failing now", known.len()),
    };
    if all == 0 {
        return Part::fixed("failing tests", String::new());
    }
    let gravest = gravest(view);
    let item = move |index: usize, short: bool| {
        if view.outcome.is_some() {
            let one = gravest.get(index);
            return one.map_or_else(String::new, |one| remaining(one, short, view, facts));
        }
        let test = known.get(index);
        test.map_or_else(String::new, |test| {
            let name = if short { brief(test.as_str()) } else { code(test.as_str()) };
            format!("- {name}{}\n", marks_of(test, view))
        })
    };
    let long = [usize::MAX, 500, 200, 50, 10].map(|folded| (false, folded));
    let measures = long.into_iter().chain([(true, 50), (true, 0)]).collect();
    Part::stepped("failing tests", 9, measures, move |&(short, folded)| {
        let open: String = (0..all.min(OPEN)).map(|index| item(index, short)).collect();
        let rest = all.saturating_sub(OPEN);
        let shown = rest.min(folded);
        let more: String = (OPEN..OPEN + shown).map(|index| item(index, short)).collect();
        let more = match (shown, rest) {
            (_, 0) => String::new(),
            (0, rest) => format!("And {rest} more, in the {}.\n", facts.full_report()),
            (shown, rest) if shown < rest => fold(&format!("{shown} of {rest} more"), &more),
            (_, rest) => fold(&format!("{rest} more"), &more),
        };
        format!("**{title} ({all})**\n\n{open}\n{more}")
    })
}

/// Tests that fail at the end, the gravest first, else in the order of the outcome.
pub(super) fn gravest(view: &View) -> Vec<&Remaining> {
    let mut failing: Vec<_> =
        view.outcome.iter().flat_map(|outcome| outcome.failing.iter()).collect();
    failing.sort_by_key(|one| match one.criticality.as_str() {
        "low" => 2,
        "medium" => 1,
        _ => 0,
    });
    failing
}

fn remaining(one: &Remaining, short: bool, view: &View, facts: &ForgePage<'_>) -> String {
    let weight = prose(&one.criticality, 20);
    if short {
        return format!("- {}: {weight}\n", brief(one.test.as_str()));
    }
    let mut text = format!(
        "- {}: {weight} ({}){}",
        code(one.test.as_str()),
        prose(&one.evidence, SENTENCE),
        marks_of(&one.test, view)
    );
    let place = one.file.as_ref().map(|file| place(file, one.line, view.head.as_ref(), facts));
    let message = (!one.message.trim().is_empty()).then(|| code(&one.message));
    match (message, place) {
        (Some(message), Some(place)) => text.push_str(&format!("\\\n  {message} at {place}")),
        (Some(message), None) => text.push_str(&format!("\\\n  {message}")),
        (None, Some(place)) => text.push_str(&format!("\\\n  at {place}")),
        (None, None) => {}
    }
    text.push('\n');
    text
}

/// What is known of a failing test beside that it fails.
fn marks_of(test: &TestId, view: &View) -> String {
    let stuck = view.outcome.as_ref().is_some_and(|outcome| outcome.stuck.contains(test));
    let marks = [
        (stuck, "; stuck: failed in its last three results"),
        (view.flaky.contains(test), "; flaky"),
        (view.preexisting.contains(test), "; fails on the base too"),
    ];
    marks.iter().filter(|(holds, _)| *holds).map(|(_, words)| *words).collect()
}

/// A line of a file, linked at the commit under test.
fn place(
    file: &RepoPath,
    at: Option<u32>,
    head: Option<&CommitId>,
    facts: &ForgePage<'_>,
) -> String {
    let at = at.filter(|at| *at > 0);
    let words = at.map_or_else(|| code(file.as_str()), |at| code(&format!("{file}:{at}")));
    let anchor = at.map_or_else(String::new, |at| format!("#L{at}"));
    head.map_or(words.clone(), |head| {
        facts.link_into(&words, &format!("blob/{head}/{}{anchor}", encoded(file.as_str())))
    })
}

/// A path as part of an address.
fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// What a person can do next, most useful first.
pub(super) fn next<'a>(view: &View, page: &ForgePage<'_>) -> Part<'a> {
    let steps = match (&view.outcome, page.pull) {
        (_, Some(_)) => next_steps::in_comment(view, page),
        (Some(outcome), None) => next_steps::in_terminal(outcome),
        (None, None) => Vec::new(),
    };
    let items: String =
        steps.iter().map(|step| format!("- {}: {}\n", code(&step.command), step.purpose)).collect();
    let text = if items.is_empty() { items } else { format!("**Next**\n\n{items}") };
    Part::fixed("next steps", text)
}
