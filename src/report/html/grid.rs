//! Draws the grid of tests that ever failed, with one column per iteration.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::domain::event::IterationRow;
use crate::domain::id::TestId;
use crate::domain::rate::PassRate;

use super::writer::{Html, many, short};
use super::{NAME, PageData, left_out};

/// Limits of the grid: number of tests, and bytes.
const TESTS: usize = 200;
const BYTES: usize = 450_000;

/// The state of a test in one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Fails,
    Flaky,
    Known,
    Back,
    Passes,
    Unknown,
}

impl Cell {
    const ALL: [Self; 6] =
        [Self::Fails, Self::Back, Self::Passes, Self::Flaky, Self::Known, Self::Unknown];

    /// CSS class, sign, and meaning.
    fn facts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Fails => ("f", "✗", "fails"),
            Self::Flaky => ("y", "~", "fails and passes unchanged (flaky)"),
            Self::Known => ("k", "○", "fails on the merge base too"),
            Self::Back => ("b", "✓", "passes again from here on"),
            Self::Passes => ("p", "·", "passes"),
            Self::Unknown => ("u", "?", "not known"),
        }
    }
}

/// Columns in which each test failed, one bit each; bit 0 is the baseline.
struct FailureMatrix<'a> {
    failed: HashMap<&'a str, u64>,
    /// Columns whose failing tests were not recorded.
    unknown: u64,
    columns: u32,
}

fn red<'a>(data: &PageData<'a>) -> FailureMatrix<'a> {
    let mut red = FailureMatrix { failed: HashMap::new(), unknown: 0, columns: 0 };
    let view = data.view;
    // Earlier iterations have no column, but tests that failed in them still get a row.
    for row in view.rows.iter().take(data.earlier) {
        for test in &row.failing {
            red.failed.entry(test.as_str()).or_default();
        }
    }
    let start = match view.rows.get(data.earlier.wrapping_sub(1)) {
        Some(row) => (&row.failing, Some(row.after)),
        None => (&view.red, view.baseline),
    };
    let columns = std::iter::once(start)
        .chain(data.rows.iter().map(|row: &IterationRow| (&row.failing, Some(row.after))));
    for (at, (failing, rate)) in (0u32..).zip(columns) {
        for test in failing {
            *red.failed.entry(test.as_str()).or_default() |= 1 << at;
        }
        if failing.is_empty() && !rate.is_some_and(PassRate::is_full) {
            red.unknown |= 1 << at;
        }
        red.columns = at + 1;
    }
    red
}

pub(super) fn draw(html: &mut Html, data: &PageData<'_>) {
    let red = red(data);
    let total = red.failed.len();
    let mut tests: Vec<(&str, u64)> =
        red.failed.iter().map(|(test, mask)| (*test, *mask)).collect();
    // Tests that failed most recently come first, and among them those that failed longest.
    tests.sort_unstable_by_key(|(test, mask)| (Reverse(*mask), *test));
    let flaky: HashSet<&str> = data.view.flaky.iter().map(TestId::as_str).collect();
    let known: HashSet<&str> = data.view.preexisting.iter().map(TestId::as_str).collect();
    html.leaf(
        "p",
        "lead",
        &format!(
            "{} red at some time. Each row is one, each column an iteration.",
            if total == 1 {
                "1 test was".to_owned()
            } else {
                format!("{} were", many(total, "test"))
            }
        ),
    );
    let rows: Vec<(&str, Vec<Cell>)> = tests
        .iter()
        .take(TESTS)
        .map(|(test, mask)| {
            let fails = if flaky.contains(test) {
                Cell::Flaky
            } else if known.contains(test) {
                Cell::Known
            } else {
                Cell::Fails
            };
            (*test, cells(*mask, &red, fails))
        })
        .collect();
    html.inside("ul", &[("class", "legend"), ("aria-label", "Signs")], |html| {
        let seen = |cell: &Cell| rows.iter().any(|(_, cells)| cells.contains(cell));
        for cell in Cell::ALL.into_iter().filter(seen) {
            let (class, sign, meaning) = cell.facts();
            html.inside("li", &[], |html| {
                html.leaf("span", &format!("cell {class}"), sign);
                html.text(meaning);
            });
        }
    });
    let mut drawn = 0;
    html.table("grid", "Each test that was red, by iteration", |html| {
        header(html, data);
        let began = html.len();
        html.inside("tbody", &[], |html| {
            for (test, cells) in &rows {
                if html.len() - began > BYTES {
                    break;
                }
                html.inside("tr", &[], |html| {
                    html.row_head(|html| name(html, test));
                    for cell in cells {
                        let (class, sign, _) = cell.facts();
                        html.leaf("td", class, sign);
                    }
                });
                drawn += 1;
            }
        });
    });
    left_out(html, total - drawn, "test", "the session's `.process/events.jsonl` names them all");
}

fn header(html: &mut Html, data: &PageData<'_>) {
    html.inside("thead", &[], |html| {
        html.inside("tr", &[], |html| {
            html.inside("th", &[("scope", "col")], |html| html.text("Test"));
            html.inside("th", &[("scope", "col")], |html| {
                html.text(if data.earlier > 0 { "before" } else { "start" });
            });
            for row in data.rows {
                let back = row.outcome == "regression";
                let title = if back { "taken back" } else { "" };
                html.inside("th", &[("scope", "col"), ("title", title)], |html| {
                    html.text(&format!("{}{}", row.iteration, if back { " ↩" } else { "" }));
                });
            }
        });
    });
}

/// Draws the name of a test, with everything before its last part in a lighter style.
fn name(html: &mut Html, test: &str) {
    let shown = short(test, NAME);
    let split = ["::", " > ", "#", "/", "."]
        .iter()
        .find_map(|between| shown.rfind(between).map(|at| at + between.len()))
        .filter(|at| *at < shown.len());
    let (path, last) = split.and_then(|at| shown.split_at_checked(at)).unwrap_or(("", &shown));
    html.inside("code", &[], |html| {
        if !path.is_empty() {
            html.inside("span", &[("class", "path")], |html| parts(html, path));
        }
        parts(html, last);
    });
}

/// Draws text that may be broken after separators.
fn parts(html: &mut Html, text: &str) {
    for part in text.split_inclusive(['_', '.', ':', '/']) {
        html.text(part);
        html.void("wbr", &[]);
    }
}

fn cells(mask: u64, red: &FailureMatrix<'_>, fails: Cell) -> Vec<Cell> {
    let is_red = |at: u32| mask & (1 << at) != 0;
    (0..red.columns)
        .map(|at| match () {
            () if is_red(at) => fails,
            () if red.unknown & (1 << at) != 0 => Cell::Unknown,
            () if at > 0 && is_red(at - 1) && mask >> at == 0 => Cell::Back,
            () => Cell::Passes,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_what_the_runs_say() {
        let red = |unknown| FailureMatrix { failed: HashMap::new(), unknown, columns: 4 };
        let table = [
            ("comes back", 0b0011, 0, [Cell::Fails, Cell::Fails, Cell::Back, Cell::Passes]),
            ("falls again", 0b0101, 0, [Cell::Fails, Cell::Passes, Cell::Fails, Cell::Back]),
            ("stays red", 0b1111, 0, [Cell::Fails; 4]),
            ("not kept", 0b0001, 0b0110, [Cell::Fails, Cell::Unknown, Cell::Unknown, Cell::Passes]),
        ];
        for (why, mask, unknown, expected) in table {
            assert_eq!(cells(mask, &red(unknown), Cell::Fails), expected, "{why}");
        }
    }
}
