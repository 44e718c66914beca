//! The page of a session: one file with everything in it. It runs no script, loads
//! nothing, and is bounded whatever the session was. Pure.
//!
//! Each part has a source file of its own, which computes what is shown, and a template, which says
//! how. What exceeds the limit of a part in bytes is counted, and the page says where to find it.

mod change;
mod chart;
mod grid;
mod iterations;
mod limits;
mod parts;
mod prose;
mod templates;
#[cfg(test)]
mod tests;
mod time;

use std::collections::BTreeMap;

use base64::Engine as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::domain::event::{Ending, IterationRow};
use crate::domain::id::CommitId;

use super::forge_page::ForgePage;
use super::markdown::is_address;
use super::overview;
use super::parts::{Body, Part, PartId, Screen};
use super::phrases::describe_plausible_fix;
use super::session_parts::part;
use super::status_line::place_line;
use super::view::View;

/// The style of the page; its digest is part of the page's Content-Security-Policy.
const STYLE: &str = include_str!("style.css");

/// Iterations that are drawn, one bit of a mask each beside the baseline; others are counted.
const DRAWN: usize = 63;

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
        PartId::Searched => "searched",
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

/// Computes what has a picture of its own, and everything else as the other screens do.
fn describe_part(data: &PageData<'_>, id: PartId, part: &Part<'_>) -> Value {
    let body = match id {
        PartId::Chart => chart::read(data),
        PartId::Tests => grid::read(data),
        PartId::Iterations => iterations::read(data),
        _ => parts::read(id, part),
    };
    json!({
        "id": anchor(id),
        "title": part.title,
        "intro": part.intro,
        "body": body,
        "time": (id == PartId::Time).then(|| time::read(data)),
        "tail": part.tail,
    })
}

/// Renders the page.
pub fn page(view: &View, facts: &PageFacts) -> String {
    let earlier = view.rows.len().saturating_sub(DRAWN);
    let rows = view.rows.get(earlier..).unwrap_or_default();
    let data = PageData { view, facts, rows, earlier };
    let empty = ForgePage::default();
    let parts: Vec<Value> = Screen::Page
        .parts(view)
        .into_iter()
        .map(|id| (id, part(id, view, &empty, Screen::Page)))
        .filter(|(_, part)| !part.is_empty())
        .map(|(id, part)| describe_part(&data, id, &part))
        .collect();
    let changed = view.outcome.as_ref().filter(|outcome| !outcome.patch.trim().is_empty());
    let current = view.current.as_ref();
    templates::render(&json!({
        "style": STYLE,
        "policy": build_policy(),
        "heading": place_line(view, &empty),
        "mark": choose_mark(view),
        "verdict": overview::verdict(view, &empty, Screen::Page).intro,
        "figures": list_figures(view),
        "session": view.session,
        "about": [
            ("Session", &view.session),
            ("Repository", &view.repository),
            ("Fix branch", &view.branch),
            ("Suite", &format!("{}: {}", view.framework, view.command)),
        ],
        "head": view.head.as_ref().map(|head| link_commit(facts, head)),
        "parts": parts,
        "earlier": earlier,
        "current": current.map(|(number, strategy, why)| (number, strategy.to_string(), why)),
        "version": facts.version,
        "made": facts.made,
        "closing": changed.map(|outcome| describe_plausible_fix(view, outcome)),
    }))
}

/// Allows the style of the page and nothing else, whichever server sends the page.
fn build_policy() -> String {
    let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
}

/// Class and sign of the mark beside the headline.
fn choose_mark(view: &View) -> (&'static str, &'static str) {
    match view.outcome.as_ref().map(|outcome| outcome.result) {
        Some(Ending::Success) => ("good", "✓"),
        Some(Ending::PartialSuccess) => ("warn", "✓"),
        Some(Ending::Failure) => ("bad", "✗"),
        Some(Ending::Blocked) => ("warn", "‖"),
        Some(Ending::Planned) | None => ("open", "…"),
    }
}

/// The numbers below the headline.
fn list_figures(view: &View) -> Vec<Value> {
    let Body::Facts(facts) = overview::figures(view).body else { return Vec::new() };
    let facts = facts.iter();
    facts.map(|it| json!({ "name": it.name, "value": it.value.plain(), "note": it.note })).collect()
}

/// A commit, with its URL if that of the repository is a plain web address.
fn link_commit(facts: &PageFacts, id: &CommitId) -> Value {
    let url = facts.repository.as_deref().filter(|url| is_address(url));
    let url = url.map(|url| format!("{}/commit/{id}", url.trim_end_matches('/')));
    json!({ "name": id.short(), "url": url })
}
