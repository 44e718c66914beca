//! Renders a part as HTML. Its sentences keep their code spans; names are cut and escaped.

use crate::report::parts::{Body, Cell, Fact, Item, Part, PartId, Table};
use crate::report::phrases::sentence;

use super::prose::inline;
use super::writer::{Html, short};
use super::{NAME, change, left_out};

/// Entries and bytes of one list, and of one table.
const ENTRIES: usize = 100;
const BYTES: usize = 150_000;
const ROWS: usize = 300;

/// Characters of a sentence.
const SENTENCE: usize = 800;

/// Writes paragraphs and body of a part.
pub(super) fn draw(html: &mut Html, id: PartId, part: &Part<'_>) {
    for paragraph in part.intro.lines().filter(|line| !line.is_empty()) {
        html.inside("p", &[("class", "lead")], |html| inline(html, &short(paragraph, SENTENCE)));
    }
    match &part.body {
        Body::List(items) if id == PartId::Next => {
            html.inside("dl", &[("class", "steps")], |html| {
                for item in items {
                    html.term(&sentence(&item.text), |html| html.code(&item.name, 600));
                }
            });
        }
        Body::List(items) => list(html, items, part.more, id),
        Body::Table(content) => table(html, content, &part.title),
        Body::Facts(facts) => html.inside("dl", &[("class", "about")], |html| {
            for fact in facts {
                html.term(fact.name, |html| cell(html, &fact.value));
            }
        }),
        Body::Patch(text) => change::whole(html, text),
        Body::Output(text) => html.leaf("pre", "", text),
        Body::Chart(_) | Body::Answers(_) | Body::Todo(_) | Body::Drawing | Body::Empty => {}
    }
    if !part.tail.is_empty() {
        html.inside("p", &[("class", "left")], |html| inline(html, &part.tail));
    }
}

/// Figures as tiles.
pub(super) fn figures(html: &mut Html, part: &Part<'_>) {
    let Body::Facts(facts) = &part.body else { return };
    html.inside("dl", &[("class", "figures")], |html| {
        for Fact { name, value, note } in facts {
            html.term(name, |html| {
                html.leaf("b", "", &value.plain());
                if !note.is_empty() {
                    html.leaf("small", "", note);
                }
            });
        }
    });
}

fn list(html: &mut Html, items: &[Item], more: usize, id: PartId) {
    let began = html.len();
    let mut drawn = 0;
    let class = if id == PartId::Failing { "cards" } else { "plain" };
    html.inside("ul", &[("class", class)], |html| {
        for item in items.iter().take(ENTRIES) {
            if html.len() - began > BYTES {
                break;
            }
            drawn += 1;
            html.inside("li", &[], |html| entry(html, item));
        }
    });
    let noun = match id {
        PartId::Failing => "test",
        PartId::Attempts => "attempt",
        PartId::Proof => "hunk",
        _ => "note",
    };
    let place = "the session's `.process/outcome.json` and `.process/events.jsonl`";
    left_out(html, items.len() + more - drawn, noun, place);
}

fn entry(html: &mut Html, item: &Item) {
    if item.name.is_empty() {
        inline(html, &short(&item.text, SENTENCE));
        return;
    }
    html.inside("p", &[("class", "name")], |html| {
        html.code(&item.name, NAME);
        if !item.weight.is_empty() {
            let tone = match item.weight.as_str() {
                "high" => "chip bad",
                "low" => "chip open",
                _ => "chip warn",
            };
            html.text(" ");
            html.leaf("span", tone, &short(&item.weight, 20));
        }
    });
    for (class, text) in [("says", &item.more), ("why", &item.text)] {
        if !text.is_empty() {
            html.inside("p", &[("class", class)], |html| inline(html, &short(text, SENTENCE)));
        }
    }
}

pub(super) fn table(html: &mut Html, content: &Table, caption: &str) {
    let began = html.len();
    let mut drawn = 0;
    html.table("numbers", caption, |html| {
        html.header(&content.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        html.inside("tbody", &[], |html| {
            for row in content.rows.iter().take(ROWS) {
                if html.len() - began > BYTES {
                    break;
                }
                drawn += 1;
                html.inside("tr", &[], |html| {
                    for (at, (value, (_, number))) in row.iter().zip(&content.columns).enumerate() {
                        match (at, number) {
                            (0, _) => html.row_head(|html| cell(html, value)),
                            (_, true) => html.inside("td", &[], |html| cell(html, value)),
                            (_, false) => {
                                html.inside("td", &[("class", "word said")], |html| {
                                    cell(html, value);
                                });
                            }
                        }
                    }
                });
            }
        });
    });
    left_out(html, content.rows.len() - drawn, "row", "the session's `.process/outcome.json`");
}

fn cell(html: &mut Html, value: &Cell) {
    match value {
        Cell::Words(text) => inline(html, &short(text, NAME)),
        Cell::Name(name) => html.code(name, NAME),
    }
}
