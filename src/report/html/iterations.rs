//! Each iteration: why it was as bold as it was, its analysis, its change and its result.

use crate::domain::event::IterationRow;
use crate::domain::text::count;
use crate::report::phrases::{Tone, result_of, test_runs, time};

use super::change::patch;
use super::writer::{Html, short};
use super::{NAME, PageData, commit, left_out, prose};

/// Limits in bytes: all iterations together, one analysis, one change; and lines of one change.
const BYTES: usize = 600_000;
const ANALYSIS: usize = 24_000;
const CHANGE: usize = 60_000;
const LINES: usize = 600;

/// Longest change, in lines, that is unfolded from the start.
const OPEN: usize = 24;

/// Number of files that are named.
const FILES: usize = 12;

pub(super) fn draw(html: &mut Html, data: &PageData<'_>) {
    left_out(html, data.earlier, "earlier iteration", "the session's `.process/events.jsonl`");
    let began = html.len();
    for row in data.rows {
        let left = BYTES.saturating_sub(html.len() - began);
        one(html, data, row, left);
    }
    if let Some((number, strategy, reason)) = &data.view.current {
        html.inside("article", &[], |html| {
            html.inside("h3", &[], |html| {
                html.text(&format!("Iteration {number}, {strategy} "));
                html.leaf("span", "chip open", "at work");
            });
            html.leaf("p", "why", &format!("Because {}.", short(reason, NAME)));
        });
    }
}

fn one(html: &mut Html, data: &PageData<'_>, row: &IterationRow, left: usize) {
    let id = format!("iteration-{}", row.iteration);
    html.inside("article", &[("id", &id)], |html| {
        let (tone, words) = result_of(row);
        let class = match tone {
            Tone::Good => "chip good",
            Tone::Bad => "chip bad",
            Tone::Warning | Tone::Neutral => "chip warn",
        };
        html.inside("h3", &[], |html| {
            html.text(&format!("Iteration {}, {} ", row.iteration, row.strategy));
            html.leaf("span", class, &words);
        });
        if let Some(reason) = data.view.reasons.get(&row.iteration) {
            html.leaf("p", "why", &format!("Because {}.", short(reason, NAME)));
        }
        if !row.summary.is_empty() {
            html.inside("p", &[("class", "what")], |html| {
                prose::inline(html, &short(&row.summary, NAME));
            });
        }
        meta(html, data, row);
        let began = html.len();
        let analysis = if row.analysis.is_empty() {
            data.facts.analyses.get(&row.iteration).map_or("", String::as_str)
        } else {
            row.analysis.as_str()
        };
        let place = format!("the session's `.process/iteration-{}-analysis.md`", row.iteration);
        if !analysis.is_empty() {
            html.inside("details", &[], |html| {
                html.leaf("summary", "", "Analysis");
                if !prose::write(html, analysis, ANALYSIS.min(left)) {
                    html.leaf("p", "left", &format!("The rest is in {place}."));
                }
            });
        }
        let left = CHANGE.min(left.saturating_sub(html.len() - began));
        if !row.patch.is_empty() {
            let lines = memchr::memchr_iter(b'\n', row.patch.as_bytes()).take(OPEN + 1).count();
            let open: &[(&'static str, &str)] = if lines <= OPEN { &[("open", "")] } else { &[] };
            let place = match &row.commit {
                Some(id) => format!("`git show {}`", id.short()),
                None => "the session's `.process/events.jsonl`".to_owned(),
            };
            html.inside("details", open, |html| {
                html.leaf("summary", "", "Change");
                patch(html, &row.patch, left, LINES, &place);
            });
        }
    });
}

/// Draws the facts of an iteration: provider, counts, duration, files and commit.
fn meta(html: &mut Html, data: &PageData<'_>, row: &IterationRow) {
    html.inside("ul", &[("class", "meta")], |html| {
        let mut put = |text: &str| html.leaf("li", "", text);
        if !row.provider.is_empty() {
            put(&format!("by {}", short(&row.provider, 80)));
        }
        if row.tried > 0 {
            put(&count(row.tried, "candidate"));
        }
        if let Some(runs) = test_runs(row) {
            put(&runs);
        }
        put(&time(row.duration_ms));
        if row.degraded {
            put("no provider gave a good answer");
        }
        let refused =
            data.view.refused.iter().filter(|(number, _)| *number == row.iteration).count();
        if refused > 0 {
            put(&format!("{} refused", count(refused, "proposal")));
        }
        if !row.files.is_empty() {
            html.inside("li", &[], |html| {
                for (at, file) in row.files.iter().take(FILES).enumerate() {
                    html.text(if at == 0 { "in " } else { ", " });
                    html.code(file, 120);
                }
                if row.files.len() > FILES {
                    html.text(&format!(" and {} more", row.files.len() - FILES));
                }
            });
        }
        if let Some(id) = &row.commit {
            html.inside("li", &[], |html| {
                html.text("commit ");
                commit(html, data.facts, id);
            });
        }
    });
}
