//! The page of a session: one file with everything in it. It runs no script, loads
//! nothing, and is bounded whatever the session was. Pure.
//!
//! Each part has a source file of its own and a limit in bytes. What exceeds the limit is counted,
//! and the page says where to find it.

mod change;
mod chart;
mod grid;
mod iterations;
mod parts;
mod prose;
#[cfg(test)]
mod tests;
mod time;
mod writer;

use std::collections::BTreeMap;

use base64::Engine as _;
use sha2::{Digest as _, Sha256};

use crate::domain::event::{Ending, IterationRow};
use crate::domain::id::CommitId;

use super::forge_page::ForgePage;
use super::overview;
use super::parts::{Part, PartId, Screen};
use super::phrases::describe_plausible_fix;
use super::session_parts::part;
use super::status_line::place_line;
use super::view::View;
use writer::{Html, many, short};

/// The style of the page; its digest is part of the page's Content-Security-Policy.
const STYLE: &str = include_str!("style.css");

/// Iterations that are drawn, one bit of a mask each beside the baseline; others are counted.
const DRAWN: usize = 63;

/// Longest name or sentence that is shown, in characters.
const NAME: usize = 300;

/// Facts about the page that the view does not contain.
#[derive(Clone, Debug, Default)]
pub struct PageFacts {
    /// The version of regreen that made the page.
    pub version: String,
    /// When the page was made, as text; empty leaves it out.
    pub made: String,
    /// The target pass rate, in percent.
    pub target: Option<u32>,
    /// URL of the repository on its server, such as `https://github.com/ada/shop`, for links to
    /// commits. Anything but a web address is left out.
    pub repository: Option<String>,
    /// Analyses by iteration, for iterations whose own record carries none.
    pub analyses: BTreeMap<u32, String>,
}

/// Data that every part of the page may read.
struct PageData<'a> {
    view: &'a View,
    facts: &'a PageFacts,
    /// Iterations that are drawn.
    rows: &'a [IterationRow],
    /// Number of earlier iterations, which are not drawn.
    earlier: usize,
}

/// Where a part is in the page.
fn anchor(id: PartId) -> &'static str {
    match id {
        PartId::Chart => "rate",
        PartId::Failing => "failing",
        PartId::Explanation => "causes",
        PartId::Tests => "tests",
        PartId::Iterations => "iterations",
        PartId::Time => "time",
        PartId::Attempts => "refused",
        PartId::Change => "change",
        PartId::Unconfirmed => "unconfirmed",
        PartId::Proof => "proof",
        PartId::Score => "score",
        PartId::Asked => "asked",
        PartId::Notes => "notes",
        PartId::Next => "next",
        _ => "places",
    }
}

/// Draws what has a picture of its own, and writes everything else as the other screens do.
fn draw(html: &mut Html, data: &PageData<'_>, id: PartId, part: &Part<'_>) {
    match id {
        PartId::Chart => chart::draw(html, data),
        PartId::Tests => grid::draw(html, data),
        PartId::Iterations => iterations::draw(html, data),
        PartId::Time => {
            time::draw(html, data);
            html.inside("details", &[], |html| {
                html.leaf("summary", "", "All numbers");
                parts::draw(html, id, part);
            });
        }
        _ => parts::draw(html, id, part),
    }
}

/// Draws the page.
pub fn page(view: &View, facts: &PageFacts) -> String {
    let earlier = view.rows.len().saturating_sub(DRAWN);
    let rows = view.rows.get(earlier..).unwrap_or_default();
    let data = PageData { view, facts, rows, earlier };
    let mut html = Html::new();
    html.open("html", &[("lang", "en")]);
    head(&mut html, &data);
    html.open("body", &[]);
    html.inside("a", &[("class", "skip"), ("href", "#main")], |html| html.text("To the content"));
    html.inside("header", &[("class", "top")], |html| {
        html.inside("div", &[("class", "wide")], |html| {
            top(html, &data);
        });
    });
    html.open("main", &[("id", "main"), ("class", "wide")]);
    let empty = ForgePage::default();
    let all =
        Screen::Page.parts(view).into_iter().map(|id| (id, part(id, view, &empty, Screen::Page)));
    let parts: Vec<(PartId, Part<'_>)> = all.filter(|(_, part)| !part.is_empty()).collect();
    html.inside("nav", &[("aria-label", "Parts of this page")], |html| {
        html.inside("ul", &[], |html| {
            for (id, part) in &parts {
                html.open("li", &[]);
                html.inside("a", &[("href", &format!("#{}", anchor(*id)))], |html| {
                    html.text(&part.title);
                });
                html.close();
            }
        });
    });
    for (id, part) in &parts {
        let title = format!("{}-title", anchor(*id));
        html.inside("section", &[("id", anchor(*id)), ("aria-labelledby", &title)], |html| {
            html.inside("h2", &[("id", &title)], |html| html.text(&part.title));
            draw(html, &data, *id, part);
        });
    }
    html.close();
    html.inside("footer", &[("class", "wide")], |html| {
        let made = if facts.made.is_empty() {
            String::new()
        } else {
            format!(", {}", short(&facts.made, 60))
        };
        html.leaf("p", "", &format!("regreen {}{made}. ", short(&facts.version, 40)));
        let outcome = view.outcome.as_ref().filter(|outcome| !outcome.patch.trim().is_empty());
        if let Some(outcome) = outcome {
            let text = describe_plausible_fix(view, outcome);
            html.leaf("p", "", &format!("The change is plausible, not proven. {text}"));
        }
    });
    html.finish()
}

/// Title, policy and style. The policy allows this style and nothing else, whichever server sends the page.
fn head(html: &mut Html, data: &PageData<'_>) {
    let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    );
    html.inside("head", &[], |html| {
        html.void("meta", &[("charset", "utf-8")]);
        html.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
        html.void(
            "meta",
            &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")],
        );
        html.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
        html.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
        html.void("link", &[("rel", "icon"), ("href", "data:,")]);
        html.leaf(
            "title",
            "",
            &format!(
                "{} - {}",
                place_line(data.view, &ForgePage::default()),
                short(&data.view.session, NAME)
            ),
        );
        html.style(STYLE);
    });
}

/// Class and sign of the mark beside the headline.
fn mark(view: &View) -> (&'static str, &'static str) {
    match view.outcome.as_ref().map(|outcome| outcome.result) {
        Some(Ending::Success) => ("good", "✓"),
        Some(Ending::PartialSuccess) => ("warn", "✓"),
        Some(Ending::Failure) => ("bad", "✗"),
        Some(Ending::Blocked) => ("warn", "‖"),
        Some(Ending::Planned) | None => ("open", "…"),
    }
}

/// Draws the verdict, its numbers, and what the session is about.
fn top(html: &mut Html, data: &PageData<'_>) {
    let (view, (tone, sign)) = (data.view, mark(data.view));
    html.leaf("p", "brand", "regreen");
    html.inside("div", &[("class", "verdict")], |html| {
        let class = format!("sign {tone}");
        html.inside("span", &[("class", &class), ("aria-hidden", "true")], |html| {
            html.text(sign);
        });
        html.inside("div", &[], |html| {
            html.leaf("h1", "", &place_line(view, &ForgePage::default()));
            let verdict = overview::verdict(view, &ForgePage::default(), Screen::Page);
            for text in verdict.intro.lines().filter(|line| !line.is_empty()) {
                html.inside("p", &[("class", "why")], |html| prose::inline(html, text));
            }
        });
    });
    parts::figures(html, &overview::figures(view));
    html.inside("dl", &[("class", "about")], |html| {
        let mut put = |name: &str, text: &str| {
            if !text.is_empty() {
                html.term(name, |html| html.code(text, NAME));
            }
        };
        put("Session", &view.session);
        put("Repository", &view.repository);
        put("Fix branch", &view.branch);
        put("Suite", &format!("{}: {}", view.framework, view.command));
        if let Some(head) = &view.head {
            html.term("Commit under test", |html| commit(html, data.facts, head));
        }
    });
}

/// Writes a commit, linked to its server when that is known.
fn commit(html: &mut Html, facts: &PageFacts, id: &CommitId) {
    match address(facts) {
        Some(address) => {
            let href = format!("{address}/commit/{}", id.as_str());
            let attributes = [("href", href.as_str()), ("rel", "noopener noreferrer")];
            html.inside("a", &attributes, |html| html.code(id.short(), NAME));
        }
        None => html.code(id.short(), NAME),
    }
}

/// The URL of the repository, if it is a plain web address.
fn address(facts: &PageFacts) -> Option<&str> {
    let address = facts.repository.as_deref()?.trim_end_matches('/');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b":/.-_~".contains(&byte);
    let web = address.starts_with("https://") || address.starts_with("http://");
    (web && address.len() <= NAME && address.bytes().all(plain)).then_some(address)
}

/// Writes how many items were left out, and where they are.
fn left_out(html: &mut Html, amount: usize, noun: &str, place: &str) {
    if amount > 0 {
        let text = format!("And {} more, not drawn here: {place}.", many(amount, noun));
        html.leaf("p", "left", &text);
    }
}
