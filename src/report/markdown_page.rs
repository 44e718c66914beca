//! Parts as Markdown: pages on the forge, whose lower parts are folded and shortened until the page
//! fits, and the report, which shows everything.

use crate::domain::text::count;

use super::forge_page::{CommandReply, ForgePage};
use super::markdown::{SHORT, block, brief, code, fold, in_cell};
use super::parts::{Body, Fact, Form, Item, Part, PartId, Screen, Table};
use super::session_parts;
use super::truncate::{Section, fit};
use super::view::View;

/// Bytes kept free for the note about what was shortened.
const NOTE: usize = 1_500;

/// Bytes and lines of a patch that stands open.
const SMALL_PATCH: usize = 1_500;
const SMALL_LINES: usize = 16;

/// Characters of a patch that the report shows.
const PATCH: usize = 20_000;

/// Bytes of an answer that is shown.
const REPLY: usize = 16_000;

/// A page on the forge of at most `limit` bytes, below a `first` line, with a note of cuts.
pub fn forge_page(
    first: &str,
    screen: Screen,
    view: &View,
    facts: &ForgePage<'_>,
    limit: usize,
) -> String {
    let mut sections = vec![Section::fixed("marker", first.to_owned())];
    let parts = screen.parts(view).into_iter();
    sections
        .extend(parts.map(|id| section(id, session_parts::part(id, view, facts, screen), facts)));
    let whole = fit(&sections, limit);
    if whole.shortened.is_empty() {
        return whole.text;
    }
    let fitted = fit(&sections, limit.saturating_sub(NOTE));
    let names = fitted.shortened.join(", ");
    format!("{}\nShortened to fit: {names}. All of it: {}.\n", fitted.text, facts.full_report())
}

/// The report of a session: everything, nothing folded.
pub fn report(view: &View) -> String {
    let facts = ForgePage::default();
    let mut text = String::new();
    for id in Screen::Report.parts(view) {
        let part = session_parts::part(id, view, &facts, Screen::Report);
        if part.is_empty() {
            continue;
        }
        let mark = if id == PartId::Heading { "#" } else { "##" };
        let title =
            if part.title.is_empty() { String::new() } else { format!("{mark} {}", part.title) };
        let body = match &part.body {
            Body::List(items) => {
                let entries: String = items.iter().map(|item| entry(item, usize::MAX)).collect();
                let rest = format!("\nAnd {} more, in `test-results.json`.\n", part.more);
                entries + if part.more > 0 { &rest } else { "" }
            }
            Body::Table(table) => rows(table, 0, usize::MAX),
            Body::Facts(facts) => facts.iter().map(fact).collect(),
            Body::Chart(lines) => block(&lines.join("\n"), ""),
            Body::Patch(text) => patch(text, PATCH),
            Body::Output(text) => block(text, ""),
            Body::Answers(_) | Body::Todo(_) | Body::Drawing | Body::Empty => String::new(),
        };
        let pieces = [title, part.intro, body, part.tail];
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            text.push_str(&format!("{}\n\n", piece.trim_end()));
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// A part of a page on the forge, in all its forms.
fn section<'a>(id: PartId, part: Part<'a>, facts: &'a ForgePage<'a>) -> Section<'a> {
    let name = id.name();
    if part.is_empty() {
        return Section::fixed(name, String::new());
    }
    let (turn, forms) = id.forms();
    match part.body {
        Body::Patch(text) if text.len() <= SMALL_PATCH && text.lines().count() <= SMALL_LINES => {
            Section::fixed(name, patch(text, SMALL_PATCH))
        }
        Body::Patch(text) => {
            Section::stepped(name, turn, vec![200_000, 30_000, 10_000, 3_000, 0], move |&limit| {
                if limit == 0 {
                    let report = facts.full_report();
                    return format!("The change is too long to show; see the {report}.");
                }
                let shown = format!("{}\n\n{}", part.intro, patch(text, limit));
                fold("The change as a patch", shown.trim_start())
            })
        }
        Body::Answers(all) => answers(name, turn, all, facts),
        Body::Todo(todo) => Section::stepped(name, turn, vec![true, false], move |&shown| {
            if shown { fold(&part.title, &todo.markdown()) } else { String::new() }
        }),
        Body::Chart(lines) => Section::fixed(name, block(&lines.join("\n"), "")),
        Body::List(_) | Body::Table(_) => {
            Section::stepped(name, turn, forms.to_vec(), move |form| {
                listed(id, &part, *form, facts)
            })
        }
        Body::Empty | Body::Output(_) | Body::Facts(_) | Body::Drawing => {
            let title = match (id, part.title.as_str()) {
                (_, "") => String::new(),
                (PartId::Heading, title) => format!("### {title}"),
                (_, title) => format!("**{title}**"),
            };
            let output =
                if let Body::Output(text) = part.body { block(text, "") } else { String::new() };
            let text = format!("{title}\n\n{}{output}", part.intro);
            Section::fixed(name, text.trim_start().to_owned())
        }
    }
}

/// A list or a table in one form: the first entries of a list, the last rows of a table.
fn listed(id: PartId, part: &Part<'_>, (most, width): Form, facts: &ForgePage<'_>) -> String {
    let (all, title) = (part.len(), part.title.as_str());
    let shown = (all - part.more).min(most);
    match &part.body {
        Body::List(items) if id.open() > 0 => {
            let entries = |from: usize, to: usize| -> String {
                let range = items.get(from..to).unwrap_or_default();
                range.iter().map(|item| entry(item, width)).collect()
            };
            let open = items.len().min(id.open());
            let rest = all - open;
            let shown = (items.len() - open).min(most);
            let more = entries(open, open + shown);
            let more = match shown {
                _ if rest == 0 => String::new(),
                0 => format!("And {rest} more, in the {}.\n", facts.full_report()),
                _ if shown < rest => fold(&format!("{shown} of {rest} more"), &more),
                _ => fold(&format!("{rest} more"), &more),
            };
            let number = if id == PartId::Failing { format!(" ({all})") } else { String::new() };
            format!("**{title}{number}**\n\n{}\n{more}\n{}", entries(0, open), part.tail)
        }
        Body::List(items) => {
            if shown == 0 && part.intro.is_empty() {
                return String::new();
            }
            let mut text: String =
                items.iter().take(shown).map(|item| entry(item, width)).collect();
            if shown > 0 && shown < all {
                text.push_str(&format!("\nAnd {} more.\n", all - shown));
            }
            let title =
                if part.intro.is_empty() { format!("{title} ({all})") } else { title.to_owned() };
            fold(&title, format!("{}\n\n{text}", part.intro).trim_start())
        }
        Body::Table(_) if shown == 0 => String::new(),
        Body::Table(table) => {
            let last =
                if shown < all { format!("the last {shown} of {all}") } else { all.to_string() };
            let text = format!("{}\n{}", rows(table, all - shown, width), part.tail);
            fold(&format!("{title} ({last})"), &text)
        }
        _ => String::new(),
    }
}

/// An entry of a list; where room is scarce its name is short and its second line is left out.
fn entry(item: &Item, width: usize) -> String {
    let scarce = width <= SHORT;
    let words = if scarce && !item.weight.is_empty() { item.weight.clone() } else { item.words() };
    let name = match item.name.as_str() {
        "" => String::new(),
        name if scarce => brief(name),
        name => code(name),
    };
    let between = if name.is_empty() || words.is_empty() { "" } else { ": " };
    let more = match item.more.as_str() {
        more if !scarce && !more.is_empty() => {
            more.lines().map(|line| format!("\\\n  {line}")).collect()
        }
        _ => String::new(),
    };
    format!("- {name}{between}{words}{more}\n")
}

/// A table without its first rows.
pub fn rows(table: &Table, skip: usize, width: usize) -> String {
    let names = table.columns.iter().map(|(name, _)| *name);
    let rule = table.columns.iter().map(|(_, number)| if *number { "--:" } else { ":--" });
    let mut text = format!(
        "| {} |\n|{}|\n",
        names.collect::<Vec<_>>().join(" | "),
        rule.collect::<Vec<_>>().join("|")
    );
    for row in table.rows.iter().skip(skip) {
        let cells: Vec<String> = row.iter().map(|cell| in_cell(&cell.markdown(width))).collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

fn fact(fact: &Fact) -> String {
    let note = if fact.note.is_empty() { String::new() } else { format!(", {}", fact.note) };
    format!("- {}: {}{note}\n", fact.name, fact.value.markdown(usize::MAX))
}

/// Answers to commands, the newest open.
fn answers<'a>(
    name: &'static str,
    turn: u8,
    all: &'a [CommandReply],
    facts: &'a ForgePage<'a>,
) -> Section<'a> {
    let Some((newest, older)) = all.split_last() else {
        return Section::fixed(name, String::new());
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
    Section::stepped(name, turn, measures, move |&(most, room)| {
        let older: Vec<_> = older.iter().rev().take(most).map(|answer| one(answer, room)).collect();
        let newest = one(newest, room);
        if older.is_empty() {
            return newest;
        }
        let title = count(older.len() as u64, "earlier answer");
        format!("{newest}\n{}", fold(&title, &older.join("\n")))
    })
}

/// A patch as a block, cut where it is long.
fn patch(patch: &str, limit: usize) -> String {
    let plain = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let mut shown: String = patch.chars().filter(plain).take(limit).collect();
    if shown.len() < patch.len() {
        shown.push_str("\n… cut; see the branch for the rest\n");
    }
    block(&shown, "diff")
}
