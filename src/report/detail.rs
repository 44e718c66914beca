//! The lower parts of a page on the forge: answers, and what a reader opens.

use crate::domain::budget::{SpendingLimits, dollars};
use crate::domain::chain::ProviderCall;
use crate::domain::event::IterationRow;
use crate::domain::id::TestId;

use super::forge_page::{CommandReply, ForgePage};
use super::markdown::{SHORT, brief, code, count, fold, grouped, in_cell, line, link, prose};
use super::phrases::{made_smaller, seconds, sentence};
use super::records;
use super::todo::todo as list_of;
use super::truncate::Part;
use super::view::View;

/// Bytes of an answer that is shown.
const REPLY: usize = 16_000;

/// Characters of a sentence.
const SENTENCE: usize = 400;

/// Answers to commands, the newest open.
pub(super) fn answers<'a>(facts: &'a ForgePage<'a>) -> Part<'a> {
    let Some((newest, older)) = facts.answers.split_last() else {
        return Part::fixed("answers", String::new());
    };
    let one = move |answer: &CommandReply, room: usize| {
        let reply = if answer.reply.len() > room {
            format!("The answer is long; see the {}.", facts.full_report())
        } else {
            answer.reply.trim().to_owned()
        };
        let asker = match answer.asker.as_str() {
            "" => String::new(),
            asker => format!(" by {}", brief(asker)),
        };
        format!("To {}{asker}:\n\n{reply}\n", brief(&answer.command))
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
pub(super) fn iterations<'a>(view: &'a View, facts: &'a ForgePage<'a>) -> Part<'a> {
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

fn table_row(row: &IterationRow, view: &View, facts: &ForgePage<'_>, summary: usize) -> String {
    let rate = match row.reached.filter(|reached| *reached != row.after) {
        Some(reached) => format!("{} → {reached} ↩ {} %", row.before, row.after),
        None => format!("{} → {} %", row.before, row.after),
    };
    let commit = row.commit.as_ref().map_or_else(
        || "-".to_owned(),
        |id| in_cell(&facts.link_into(&code(id.short()), &format!("commit/{id}"))),
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
pub(super) fn todo<'a>(view: &'a View, facts: &'a ForgePage<'a>) -> Part<'a> {
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
        let calls: Vec<&(u32, ProviderCall)> =
            view.calls.iter().skip(all.saturating_sub(kept)).collect();
        for of_one in calls.chunk_by(|one, other| one.0 == other.0) {
            let number = of_one.first().map_or(0, |one| one.0);
            let asked: Vec<ProviderCall> = of_one.iter().map(|(_, call)| call.clone()).collect();
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
pub(super) fn used<'a>(view: &View, facts: &ForgePage<'_>) -> Part<'a> {
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
    if spent.calls > 0 || *limits != SpendingLimits::default() {
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
