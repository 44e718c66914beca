//! The parts of a page on the forge, each in forms from long to short. Foreign text stands in code
//! spans and blocks only.

use crate::domain::budget::dollars;
use crate::domain::chain::Call;
use crate::domain::event::{Ending, IterationRow, Outcome, Remaining};
use crate::domain::id::{CommitId, RepoPath, TestId};

use super::chart;
use super::comment::{Answer, Facts};
use super::fit::Part;
use super::markdown::{code, count, fold, in_cell, line, link, prose};
use super::records;
use super::summary::{headline, made_smaller, next_steps, sentence};
use super::terminal::seconds;
use super::todo::{current_line, todo as list_of};
use super::view::View;

/// Failing tests that stand open; the others are folded.
const OPEN: usize = 5;

/// Characters of a test name or message where room is scarce.
const SHORT: usize = 100;

/// Characters of a sentence.
const SENTENCE: usize = 400;

/// Verdict or present step, and where the fix is.
pub(super) fn verdict(view: &View, facts: &Facts<'_>) -> Part {
    let Some(outcome) = &view.outcome else {
        let text = format!("### 🔄 {}", prose(&current_line(view), SENTENCE));
        return Part::fixed("verdict", text);
    };
    let icon = match outcome.result {
        Ending::Success => "✅",
        Ending::PartialSuccess => "🟡",
        Ending::Failure => "❌",
        Ending::Blocked => "⏸️",
        Ending::Planned => "📋",
    };
    let mut text = format!("### {icon} {}\n\n", headline(outcome));
    text.push_str(&format!("{}.", prose(&sentence(&outcome.reason), SENTENCE)));
    if view.regained() > 0 {
        let tests = count(u64::from(view.regained()), "test");
        text.push_str(&format!(" {tests} regained."));
    }
    let changed = !outcome.patch.is_empty();
    let found = [(facts.pull_url, "the fix"), (facts.branch_url, "the fix branch")];
    let fix = found.iter().find_map(|(url, words)| url.map(|url| link(words, url)));
    match fix {
        Some(fix) if changed => text.push_str(&format!(
            " Read {fix} before you merge it: it satisfies the tests, whether it is right, you \
             decide."
        )),
        None if changed => text.push_str(" Nothing was pushed; the change is a patch below."),
        Some(_) | None => {}
    }
    if outcome.degraded {
        text.push_str(" In some iteration no provider gave a good answer.");
    }
    Part::fixed("verdict", text)
}

/// The pass rate as bars.
pub(super) fn climb(view: &View, facts: &Facts<'_>) -> Part {
    Part::fixed("chart", chart::block_of(view, facts.target))
}

/// What fails now, with criticality and evidence.
pub(super) fn failing(view: &View, facts: &Facts<'_>) -> Part {
    let (items, short): (Vec<String>, Vec<String>) = match &view.outcome {
        Some(outcome) => outcome
            .failing
            .iter()
            .map(|one| (remaining(one, view, facts), remaining_short(one)))
            .unzip(),
        None => view
            .failing()
            .iter()
            .map(|test| {
                let mark = mark_of(test, view);
                (
                    format!("- {}{mark}\n", code(test.as_str())),
                    format!("- {}\n", brief(test.as_str())),
                )
            })
            .unzip(),
    };
    if items.is_empty() {
        return Part::fixed("failing tests", String::new());
    }
    let title = match &view.outcome {
        Some(_) => format!("**Still failing ({})**", items.len()),
        None => format!("**Failing now ({})**", items.len()),
    };
    let form = |items: &[String], open: usize, folded: usize| {
        let mut text = format!(
            "{title}\n\n{}",
            items.iter().take(open).map(String::as_str).collect::<String>()
        );
        let rest = items.len().saturating_sub(open);
        let shown = rest.min(folded);
        if shown > 0 {
            let more: String = items.iter().skip(open).take(shown).map(String::as_str).collect();
            let of = if shown < rest { format!("{shown} of {rest}") } else { rest.to_string() };
            text.push_str(&format!("\n{}", fold(&format!("{of} more"), &more)));
        } else if rest > 0 {
            text.push_str(&format!("\nAnd {rest} more, in the {}.\n", facts.full_report()));
        }
        text
    };
    let mut forms = vec![form(&items, OPEN, usize::MAX)];
    forms.extend([500, 200, 50, 10].map(|folded| form(&items, OPEN, folded)));
    forms.extend([form(&short, OPEN, 50), form(&short, OPEN, 0)]);
    Part { name: "failing tests", turn: 9, forms }
}

fn remaining(one: &Remaining, view: &View, facts: &Facts<'_>) -> String {
    let mut text = format!(
        "- {}: {} ({})",
        code(one.test.as_str()),
        prose(&one.criticality, 20),
        prose(&one.evidence, SENTENCE)
    );
    text.push_str(&mark_of(&one.test, view));
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

fn remaining_short(one: &Remaining) -> String {
    format!("- {}: {}\n", brief(one.test.as_str()), prose(&one.criticality, 20))
}

fn brief(text: &str) -> String {
    code(&line(text, SHORT))
}

/// What is known of a test beside that it fails.
fn mark_of(test: &TestId, view: &View) -> String {
    let stuck = view.outcome.as_ref().is_some_and(|outcome| outcome.stuck.contains(test));
    let marks = [
        (stuck, "stuck: failed in its last three results"),
        (view.flaky.contains(test), "flaky"),
        (view.preexisting.contains(test), "fails on the base too"),
    ];
    let marks: Vec<_> = marks.iter().filter(|(holds, _)| *holds).map(|(_, words)| *words).collect();
    if marks.is_empty() { String::new() } else { format!("; {}", marks.join("; ")) }
}

/// A line of a file, linked at the commit under test.
fn place(file: &RepoPath, at: Option<u32>, head: Option<&CommitId>, facts: &Facts<'_>) -> String {
    let at = at.filter(|at| *at > 0);
    let words = at.map_or_else(|| code(file.as_str()), |at| code(&format!("{file}:{at}")));
    let anchor = at.map_or_else(String::new, |at| format!("#L{at}"));
    head.map_or(words.clone(), |head| {
        let route = format!("blob/{head}/{}{anchor}", encoded(file.as_str()));
        linked(&words, facts, &route)
    })
}

fn commit(id: &CommitId, facts: &Facts<'_>) -> String {
    linked(&code(id.short()), facts, &format!("commit/{id}"))
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
pub(super) fn next(view: &View, facts: &Facts<'_>) -> Part {
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
                Ending::Success | Ending::PartialSuccess => {
                    if facts.is_pushed() {
                        put("/regreen rollback", "take the last fix back");
                    }
                    if outcome.result == Ending::PartialSuccess {
                        put("/regreen issue test", "open an issue for what is left");
                    }
                }
                Ending::Failure => {
                    let more = (outcome.iterations.len() + 10).clamp(20, 50);
                    put(&format!("/regreen resume --max-iterations {more}"), "try longer");
                    put("/regreen report", "post the report, with all that was tried");
                }
                Ending::Blocked => put("/regreen resume", "go on where it stopped"),
                Ending::Planned => put("/regreen fix", "do it"),
            }
            put("/regreen help", "all commands");
        }
    }
    let items: String =
        steps.iter().map(|(command, why)| format!("- {}: {why}\n", code(command))).collect();
    let text = if items.is_empty() { items } else { format!("**Next**\n\n{items}") };
    Part::fixed("next steps", text)
}

/// Answers to commands, the newest open.
pub(super) fn answers(facts: &Facts<'_>) -> Part {
    const ROOM: usize = 16_000;
    let Some((newest, older)) = facts.answers.split_last() else {
        return Part::fixed("answers", String::new());
    };
    let one = |answer: &Answer, room: usize| {
        let reply = if answer.reply.len() > room {
            format!("The answer is long; it is in the {}.", facts.full_report())
        } else {
            answer.reply.trim().to_owned()
        };
        format!("{} by {}\n\n{reply}\n", brief(&answer.command), brief(&answer.asker))
    };
    let form = |kept: usize, room: usize| {
        let older: Vec<_> = older.iter().rev().take(kept).map(|answer| one(answer, room)).collect();
        let newest = one(newest, room);
        if older.is_empty() {
            return newest;
        }
        let title = count(older.len() as u64, "earlier answer");
        format!("{newest}\n{}", fold(&title, &older.join("\n---\n\n")))
    };
    let forms =
        vec![form(usize::MAX, ROOM), form(10, ROOM), form(2, ROOM), form(0, ROOM), form(0, 2_000)];
    Part { name: "answers", turn: 8, forms }
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

/// The iteration table.
pub(super) fn iterations(view: &View, facts: &Facts<'_>) -> Part {
    if view.rows.is_empty() {
        return Part::fixed("iterations", String::new());
    }
    let all = view.rows.len();
    let form = |kept: usize, summary: usize| {
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
        let title = if kept < all {
            format!("Iterations, the last {kept} of {all}")
        } else {
            format!("Iterations ({all})")
        };
        fold(&title, &text)
    };
    let forms = vec![form(50, 300), form(50, SHORT), form(20, SHORT), form(5, 40)];
    Part { name: "iterations", turn: 7, forms }
}

fn table_row(row: &IterationRow, view: &View, facts: &Facts<'_>, summary: usize) -> String {
    let rate = match row.reached.filter(|reached| *reached != row.after) {
        Some(reached) => format!("{} → {reached} ↩ {} %", row.before, row.after),
        None => format!("{} → {} %", row.before, row.after),
    };
    let calls = view.calls.iter().filter(|(number, _)| *number == row.iteration);
    let mut known = calls.filter_map(|(_, call)| call.micro_usd).peekable();
    let cost = match known.peek() {
        Some(_) => dollars(known.fold(0, u64::saturating_add)),
        None => "-".to_owned(),
    };
    format!(
        "| {} | {} | {rate} | {} of {} | {} | {} | {cost} | {} |\n",
        row.iteration,
        row.strategy,
        grouped(row.tests_run.into()),
        grouped(row.tests_of.into()),
        row.commit.as_ref().map_or_else(|| "-".to_owned(), |id| in_cell(&commit(id, facts))),
        in_cell(&prose(&row.provider, 40)),
        in_cell(&code(&line(&row.summary, summary))),
    )
}

/// What was proposed and not kept.
pub(super) fn attempts(view: &View) -> Part {
    let mut items = Vec::new();
    for row in view.rows.iter().filter(|row| row.outcome != "improved") {
        let reached =
            row.reached.map_or_else(String::new, |reached| format!(", reached {reached} %"));
        items.push((
            row.iteration,
            format!(
                "- Iteration {}, {}{reached}: {}: {}\n",
                row.iteration,
                row.strategy,
                prose(&row.outcome.replace('_', " "), 40),
                code(&row.summary)
            ),
        ));
    }
    for (iteration, reasons) in &view.refused {
        let reasons = prose(&reasons.join("; "), SENTENCE);
        items.push((*iteration, format!("- Iteration {iteration}, refused: {reasons}\n")));
    }
    items.sort_by_key(|(iteration, _)| *iteration);
    let items: Vec<String> = items.into_iter().map(|(_, item)| item).collect();
    folded("attempts", 5, "Tried and not kept", &items, &[100, 20, 5, 0])
}

/// A folded list in forms of fewer and fewer items; the number of all stands in the title.
fn folded(name: &'static str, turn: u8, title: &str, items: &[String], kept: &[usize]) -> Part {
    if items.is_empty() {
        return Part::fixed(name, String::new());
    }
    let form = |kept: usize| {
        if kept == 0 {
            return String::new();
        }
        let mut text: String = items.iter().take(kept).map(String::as_str).collect();
        if items.len() > kept {
            text.push_str(&format!("\nAnd {} more.\n", items.len() - kept));
        }
        fold(&format!("{title} ({})", items.len()), &text)
    };
    let forms = std::iter::once(items.len()).chain(kept.iter().copied()).map(form).collect();
    Part { name, turn, forms }
}

/// Why each hunk of the change is needed.
pub(super) fn proof(view: &View) -> Part {
    let Some(minimised) = &view.minimised else {
        return Part::fixed("proof", String::new());
    };
    let lead = format!("{}.\n\n", sentence(&made_smaller(minimised)));
    let form = |kept: usize, tests: usize| {
        let mut text = lead.clone();
        for one in minimised.needed.iter().take(kept) {
            let named: Vec<_> =
                one.tests.iter().take(tests).map(|test| brief(test.as_str())).collect();
            let more = one.tests.len().saturating_sub(tests);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named = if named.is_empty() { "not shown".into() } else { named.join(", ") };
            text.push_str(&format!(
                "- {}: without it these fail: {named}{more}\n",
                brief(&one.place)
            ));
        }
        fold("Proof that the change is needed", &text)
    };
    Part {
        name: "proof",
        turn: 6,
        forms: vec![form(100, 20), form(30, 5), form(10, 2), form(0, 0)],
    }
}

/// The change itself, where it could not be pushed.
pub(super) fn patch(view: &View, facts: &Facts<'_>) -> Part {
    let patch = view.outcome.as_ref().map_or("", |outcome| outcome.patch.as_str());
    if patch.is_empty() || facts.is_pushed() {
        return Part::fixed("patch", String::new());
    }
    let form = |limit: usize| {
        let text =
            format!("Save it and apply it with `git apply`.\n\n{}", records::patch(patch, limit));
        fold("The change as a patch", &text)
    };
    let cut =
        format!("The change is too long to show; take it from the {}.\n", facts.full_report());
    let forms = vec![form(200_000), form(30_000), form(10_000), form(3_000), cut];
    Part { name: "patch", turn: 3, forms }
}

/// The nested list, while work goes on.
pub(super) fn todo(view: &View, facts: &Facts<'_>) -> Part {
    if view.outcome.is_some() || view.session.is_empty() {
        return Part::fixed("to-do list", String::new());
    }
    let text = fold("To do", &list_of(facts.phases, view).markdown());
    Part { name: "to-do list", turn: 2, forms: vec![text, String::new()] }
}

/// Who was asked, and why the chain moved on.
pub(super) fn asked(view: &View) -> Part {
    if view.calls.is_empty() {
        return Part::fixed("who was asked", String::new());
    }
    let all = view.calls.len();
    let form = |kept: usize| {
        let mut text = String::new();
        let calls: Vec<&(u32, Call)> = view.calls.iter().skip(all.saturating_sub(kept)).collect();
        for of_one in calls.chunk_by(|one, other| one.0 == other.0) {
            let number = of_one.first().map_or(0, |one| one.0);
            let asked: Vec<Call> = of_one.iter().map(|(_, call)| call.clone()).collect();
            text.push_str(&format!("Iteration {number}\n\n{}\n", records::calls(&asked)));
        }
        let title = if kept < all {
            format!("Who was asked, the last {kept} of {all}")
        } else {
            format!("Who was asked ({all})")
        };
        fold(&title, &text)
    };
    let forms = vec![form(200), form(50), form(10), String::new()];
    Part { name: "who was asked", turn: 1, forms }
}

/// What a person should know, and tests that are kept out of the gate.
pub(super) fn notes(view: &View) -> Part {
    let mut items: Vec<String> =
        view.notices.iter().map(|text| format!("- {}\n", prose(text, SENTENCE))).collect();
    let named = |tests: &[TestId], words: &str| {
        tests.iter().map(|test| format!("- {words}: {}\n", code(test.as_str()))).collect::<Vec<_>>()
    };
    items.extend(named(&view.flaky, "Flaky, kept out of the gate"));
    items.extend(named(&view.preexisting, "Fails on the base too"));
    folded("notes", 4, "Notes", &items, &[100, 20, 5, 0])
}

/// What was used of what may be used, and where to read more.
pub(super) fn used(view: &View, facts: &Facts<'_>) -> Part {
    let of = |used: String, limit: Option<String>| match limit {
        Some(limit) => format!("{used} of {limit}"),
        None => used,
    };
    let (spent, limits) = (&view.spent, &facts.budget.providers);
    let mut items = Vec::new();
    let limit = facts.budget.iterations.map(|limit| limit.to_string());
    items.push(match limit {
        Some(limit) => format!("{} of {limit} iterations", view.rows.len()),
        None => count(view.rows.len() as u64, "iteration"),
    });
    let ms = view.outcome.as_ref().map_or_else(
        || view.rows.iter().map(|row| row.duration_ms).fold(0, u64::saturating_add),
        |outcome: &Outcome| outcome.duration_ms,
    );
    let time = if ms < 120_000 { seconds(ms) } else { format!("{} min", ms / 60_000) };
    items.push(of(time, facts.budget.minutes.map(|limit| format!("{limit} min"))));
    if spent.calls > 0 || *limits != crate::domain::budget::Limits::default() {
        let used = count(spent.calls, "provider call");
        items.push(of(used, limits.calls.map(|limit| limit.to_string())));
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
    if !facts.now.is_empty() {
        pages.push(prose(facts.now, 40));
    }
    Part::fixed("budget", format!("Used: {}\n\n{}", items.join(" · "), pages.join(" · ")))
}
