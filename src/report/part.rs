//! The parts of a page on the forge, each in forms from long to short. Foreign text stands in code
//! spans and blocks only.

use crate::domain::budget::{Limits, dollars};
use crate::domain::chain::Call;
use crate::domain::event::{Ending, IterationRow, Remaining};
use crate::domain::id::{CommitId, RepoPath, TestId};

use super::chart;
use super::comment::{Answer, Facts};
use super::fit::Part;
use super::markdown::{code, count, fold, in_cell, line, link, prose};
use super::records;
use super::summary::{made_smaller, next_steps, sentence};
use super::terminal::seconds;
use super::todo::{doing, place_line, todo as list_of};
use super::view::View;

/// Failing tests that stand open; the others are folded.
const OPEN: usize = 5;

/// Bytes and lines of a patch that stands open.
const SMALL_PATCH: usize = 1_500;
const SMALL_LINES: usize = 16;

/// Bytes of an answer that is shown.
const REPLY: usize = 16_000;

/// Characters of a test name or message where room is scarce.
const SHORT: usize = 100;

/// Characters of a sentence.
const SENTENCE: usize = 400;

/// How it ended or what is done now, as a heading.
pub(super) fn heading(view: &View) -> Part<'_> {
    let icon = match view.outcome.as_ref().map(|outcome| outcome.result) {
        None => "🔄",
        Some(Ending::Success) => "✅",
        Some(Ending::PartialSuccess) => "🟡",
        Some(Ending::Failure) => "❌",
        Some(Ending::Blocked) => "⏸️",
        Some(Ending::Planned) => "📋",
    };
    Part::fixed("heading", format!("### {icon} {}", prose(&place_line(view), SENTENCE)))
}

/// Why it ended so and where the fix is, or the running step.
pub(super) fn verdict<'a>(view: &View, facts: &Facts<'_>) -> Part<'a> {
    let Some(outcome) = &view.outcome else {
        let doing = prose(&sentence(&doing(view)), SENTENCE);
        return Part::fixed("verdict", if doing.is_empty() { doing } else { format!("{doing} …") });
    };
    let mut text = format!("{}.", prose(&sentence(&outcome.reason), SENTENCE));
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
        Some(fix) => text.push_str(&format!("\n\nWhat was gained is in {fix}.")),
    }
    Part::fixed("verdict", text)
}

/// The pass rate as bars.
pub(super) fn climb<'a>(view: &View, facts: &Facts<'_>) -> Part<'a> {
    Part::fixed("chart", chart::block_of(view, facts.target))
}

/// The change itself: open when it is small, else folded.
pub(super) fn patch<'a>(view: &'a View, facts: &'a Facts<'a>) -> Part<'a> {
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
pub(super) fn failing<'a>(view: &'a View, facts: &'a Facts<'a>) -> Part<'a> {
    let known = view.failing();
    let (title, all) = match &view.outcome {
        Some(outcome) => ("Still failing", outcome.failing.len()),
        None => ("Failing now", known.len()),
    };
    if all == 0 {
        return Part::fixed("failing tests", String::new());
    }
    let item = move |index: usize, short: bool| {
        if let Some(outcome) = &view.outcome {
            let one = outcome.failing.get(index);
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

fn remaining(one: &Remaining, short: bool, view: &View, facts: &Facts<'_>) -> String {
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
    let said = (!one.message.trim().is_empty()).then(|| code(&one.message));
    match (said, place) {
        (Some(said), Some(place)) => text.push_str(&format!("\\\n  {said} at {place}")),
        (Some(said), None) => text.push_str(&format!("\\\n  {said}")),
        (None, Some(place)) => text.push_str(&format!("\\\n  at {place}")),
        (None, None) => {}
    }
    text.push('\n');
    text
}

fn brief(text: &str) -> String {
    code(&line(text, SHORT))
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
fn place(file: &RepoPath, at: Option<u32>, head: Option<&CommitId>, facts: &Facts<'_>) -> String {
    let at = at.filter(|at| *at > 0);
    let words = at.map_or_else(|| code(file.as_str()), |at| code(&format!("{file}:{at}")));
    let anchor = at.map_or_else(String::new, |at| format!("#L{at}"));
    head.map_or(words.clone(), |head| {
        linked(&words, facts, &format!("blob/{head}/{}{anchor}", encoded(file.as_str())))
    })
}

/// A link into the repository.
fn linked(words: &str, facts: &Facts<'_>, route: &str) -> String {
    let server = facts.server_url.trim_end_matches('/');
    link(words, &format!("{server}/{}/{route}", facts.repository))
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
pub(super) fn next<'a>(view: &View, facts: &Facts<'_>) -> Part<'a> {
    let mut steps: Vec<(String, String)> = Vec::new();
    let mut put = |command: &str, why: &str| steps.push((command.to_owned(), why.to_owned()));
    match (&view.outcome, facts.pull) {
        (Some(outcome), None) => steps = next_steps(outcome),
        (None, None) => {}
        (None, Some(_)) => put("/regreen stop", "finish the running step, save, and end"),
        (Some(outcome), Some(_)) => {
            if let Some(stored) = facts.stored.filter(|_| !facts.is_pushed()) {
                put(&format!("/regreen apply {stored}"), "publish exactly this change");
            }
            match outcome.result {
                Ending::Success => put("/regreen rollback", "take the last fix back"),
                Ending::PartialSuccess => {
                    put("/regreen issue test", "open an issue for what is left");
                    put("/regreen rollback", "take the last fix back");
                }
                Ending::Failure => {
                    let more = (outcome.iterations.len() + 10).clamp(20, 50);
                    put(&format!("/regreen resume --max-iterations {more}"), "try longer");
                    put("/regreen report", "post the report, with all that was tried");
                }
                Ending::Blocked => put("/regreen resume", "go on where it stopped"),
                Ending::Planned => put("/regreen fix", "do it"),
            }
        }
    }
    let items: String =
        steps.iter().map(|(command, why)| format!("- {}: {why}\n", code(command))).collect();
    let text = if items.is_empty() { items } else { format!("**Next**\n\n{items}") };
    Part::fixed("next steps", text)
}

/// Answers to commands, the newest open.
pub(super) fn answers<'a>(facts: &'a Facts<'a>) -> Part<'a> {
    let Some((newest, older)) = facts.answers.split_last() else {
        return Part::fixed("answers", String::new());
    };
    let one = move |answer: &Answer, room: usize| {
        let reply = if answer.reply.len() > room {
            format!("The answer is long; see the {}.", facts.full_report())
        } else {
            answer.reply.trim().to_owned()
        };
        format!("To {} by {}:\n\n{reply}\n", brief(&answer.command), brief(&answer.asker))
    };
    let measures = vec![(usize::MAX, REPLY), (10, REPLY), (2, REPLY), (0, REPLY), (0, 2_000)];
    Part::stepped("answers", 8, measures, move |&(kept, room)| {
        let older: Vec<_> = older.iter().rev().take(kept).map(|answer| one(answer, room)).collect();
        let newest = one(newest, room);
        if older.is_empty() {
            return newest;
        }
        let title = count(older.len() as u64, "earlier answer");
        format!("{newest}\n{}", fold(&title, &older.join("\n")))
    })
}

/// The iteration table.
pub(super) fn iterations<'a>(view: &'a View, facts: &'a Facts<'a>) -> Part<'a> {
    let all = view.rows.len();
    if all == 0 {
        return Part::fixed("iterations", String::new());
    }
    let measures = vec![(50, 300), (50, SHORT), (20, SHORT), (5, 40)];
    Part::stepped("iterations", 7, measures, move |&(kept, summary)| {
        let mut text = String::from(
            "| # | strategy | pass rate | tests run | commit | by | cost | change |\n\
             |--:|:--|:--|--:|:--|:--|--:|:--|\n",
        );
        for row in view.rows.iter().skip(all.saturating_sub(kept)) {
            text.push_str(&table_row(row, view, facts, summary));
        }
        let run: u64 = view.rows.iter().map(|row| u64::from(row.tests_run)).sum();
        let of: u64 = view.rows.iter().map(|row| u64::from(row.tests_of)).sum();
        if of > run {
            text.push_str(&format!(
                "\n{} tests run where full runs would have run {}.\n",
                grouped(run),
                grouped(of)
            ));
        }
        let last = if kept < all { format!("the last {kept} of {all}") } else { all.to_string() };
        fold(&format!("Iterations ({last})"), &text)
    })
}

fn table_row(row: &IterationRow, view: &View, facts: &Facts<'_>, summary: usize) -> String {
    let rate = match row.reached.filter(|reached| *reached != row.after) {
        Some(reached) => format!("{} → {reached} ↩ {} %", row.before, row.after),
        None => format!("{} → {} %", row.before, row.after),
    };
    let commit = row.commit.as_ref().map_or_else(
        || "-".to_owned(),
        |id| in_cell(&linked(&code(id.short()), facts, &format!("commit/{id}"))),
    );
    let of_row = view.calls.iter().filter(|(number, _)| *number == row.iteration);
    let prices: Vec<u64> = of_row.filter_map(|(_, call)| call.micro_usd).collect();
    let cost = if prices.is_empty() {
        "-".to_owned()
    } else {
        dollars(prices.into_iter().fold(0, u64::saturating_add))
    };
    format!(
        "| {} | {} | {rate} | {} of {} | {commit} | {} | {cost} | {} |\n",
        row.iteration,
        row.strategy,
        grouped(row.tests_run.into()),
        grouped(row.tests_of.into()),
        in_cell(&prose(&row.provider, 40)),
        in_cell(&code(&line(&row.summary, summary))),
    )
}

/// A number with its thousands apart. GitHub takes seven digits for a commit.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What was proposed and not kept.
pub(super) fn attempts(view: &View) -> Part<'_> {
    let mut items = Vec::new();
    for row in view.rows.iter().filter(|row| row.outcome != "improved") {
        let reached = match row.reached.filter(|reached| *reached != row.after) {
            Some(reached) => format!(" to {reached} %, taken back"),
            None => String::new(),
        };
        let outcome = prose(&row.outcome.replace('_', " "), 40);
        let text = format!(
            "- Iteration {}, {}: {outcome}{reached}: {}\n",
            row.iteration,
            row.strategy,
            code(&row.summary)
        );
        items.push((row.iteration, text));
    }
    for (iteration, reasons) in &view.refused {
        let reasons = prose(&reasons.join("; "), SENTENCE);
        items.push((*iteration, format!("- Iteration {iteration}, refused: {reasons}\n")));
    }
    items.sort_by_key(|(iteration, _)| *iteration);
    let items = items.into_iter().map(|(_, item)| item).collect();
    folded("attempts", 5, "Tried and not kept", items)
}

/// A folded list with fewer and fewer items; the number of all stands in the title.
fn folded(name: &'static str, turn: u8, title: &'static str, items: Vec<String>) -> Part<'static> {
    let measures = if items.is_empty() { vec![0] } else { vec![items.len(), 100, 20, 5, 0] };
    Part::stepped(name, turn, measures, move |&kept| {
        if kept == 0 {
            return String::new();
        }
        let mut text: String = items.iter().take(kept).map(String::as_str).collect();
        if items.len() > kept {
            text.push_str(&format!("\nAnd {} more.\n", items.len() - kept));
        }
        fold(&format!("{title} ({})", items.len()), &text)
    })
}

/// Why each hunk of the change is needed.
pub(super) fn proof(view: &View) -> Part<'_> {
    let Some(minimised) = &view.minimised else {
        return Part::fixed("proof", String::new());
    };
    Part::stepped("proof", 6, vec![(100, 20), (30, 5), (10, 2), (0, 0)], move |&(kept, tests)| {
        let mut text = format!("{}.\n\n", sentence(&made_smaller(minimised)));
        for one in minimised.needed.iter().take(kept) {
            let named: Vec<_> =
                one.tests.iter().take(tests).map(|test| brief(test.as_str())).collect();
            let more = one.tests.len().saturating_sub(tests);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named = if named.is_empty() { "not shown".into() } else { named.join(", ") };
            let place = brief(&one.place);
            text.push_str(&format!("- {place}: without it these fail: {named}{more}\n"));
        }
        fold("Proof that the change is needed", &text)
    })
}

/// The nested list, while work goes on.
pub(super) fn todo<'a>(view: &'a View, facts: &'a Facts<'a>) -> Part<'a> {
    if view.outcome.is_some() || view.session.is_empty() {
        return Part::fixed("to-do list", String::new());
    }
    Part::stepped("to-do list", 2, vec![true, false], move |&shown| {
        if shown { fold("To do", &list_of(facts.phases, view).markdown()) } else { String::new() }
    })
}

/// Who was asked, and why the chain moved on.
pub(super) fn asked(view: &View) -> Part<'_> {
    let all = view.calls.len();
    let measures = if all == 0 { vec![0] } else { vec![200, 50, 10, 0] };
    Part::stepped("who was asked", 1, measures, move |&kept| {
        if kept == 0 {
            return String::new();
        }
        let mut text = String::new();
        let calls: Vec<&(u32, Call)> = view.calls.iter().skip(all.saturating_sub(kept)).collect();
        for of_one in calls.chunk_by(|one, other| one.0 == other.0) {
            let number = of_one.first().map_or(0, |one| one.0);
            let asked: Vec<Call> = of_one.iter().map(|(_, call)| call.clone()).collect();
            text.push_str(&format!("Iteration {number}\n\n{}\n", records::calls(&asked)));
        }
        let last = if kept < all { format!("the last {kept} of {all}") } else { all.to_string() };
        fold(&format!("Who was asked ({last})"), &text)
    })
}

/// What a person should know, and tests that are kept out of the gate.
pub(super) fn notes(view: &View) -> Part<'_> {
    let mut items: Vec<String> =
        view.notices.iter().map(|text| format!("- {}\n", prose(text, SENTENCE))).collect();
    let named = |tests: &[TestId], words: &str| -> Vec<String> {
        tests.iter().map(|test| format!("- {words}: {}\n", code(test.as_str()))).collect()
    };
    items.extend(named(&view.flaky, "Flaky, kept out of the gate"));
    items.extend(named(&view.preexisting, "Fails on the base too"));
    folded("notes", 4, "Notes", items)
}

/// What was used of what may be used, and where to read more.
pub(super) fn used<'a>(view: &View, facts: &Facts<'_>) -> Part<'a> {
    let of = |used: String, limit: Option<String>| match limit {
        Some(limit) => format!("{used} of {limit}"),
        None => used,
    };
    let (spent, limits) = (&view.spent, &facts.budget.providers);
    let rows = view.rows.len();
    let mut items = vec![match facts.budget.iterations {
        Some(limit) => format!("{rows} of {limit} iterations"),
        None => count(rows as u64, "iteration"),
    }];
    let ms = match &view.outcome {
        Some(outcome) => outcome.duration_ms,
        None => view.rows.iter().map(|row| row.duration_ms).fold(0, u64::saturating_add),
    };
    let time = if ms < 120_000 { seconds(ms) } else { format!("{} min", grouped(ms / 60_000)) };
    items.push(of(time, facts.budget.minutes.map(|limit| format!("{limit} min"))));
    if spent.calls > 0 || *limits != Limits::default() {
        let calls = of(grouped(spent.calls), limits.calls.map(grouped));
        items.push(format!("{calls} provider calls"));
        let tokens = of(grouped(spent.usage.tokens()), limits.tokens.map(grouped));
        items.push(format!("{tokens} tokens"));
        items.push(of(dollars(spent.micro_usd), limits.micro_usd.map(dollars)));
        if spent.unpriced > 0 {
            items.push(format!("{} without a known price", count(spent.unpriced, "call")));
        }
    }
    let mut pages = Vec::new();
    for (url, words) in [(facts.report_url, "full report"), (facts.run_url, "run")] {
        pages.extend(url.map(|url| link(words, url)).filter(|linked| linked != words));
    }
    if pages.is_empty() {
        pages.push(facts.full_report());
    }
    let session = if view.session.is_empty() { facts.session } else { &view.session };
    if !session.is_empty() {
        pages.push(format!("session {}", brief(session)));
    }
    if facts.pull.is_some() {
        pages.push("`/regreen help`".to_owned());
    }
    if !facts.now.is_empty() {
        pages.push(format!("updated {}", prose(facts.now, 40)));
    }
    Part::fixed("budget", format!("Used: {}\n\n{}", items.join(" · "), pages.join(" · ")))
}
