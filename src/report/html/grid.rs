//! Computes the grid of tests that ever failed, with one column per iteration.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use crate::domain::id::TestId;
use crate::domain::rate::PassRate;

use super::PageData;
use super::limits::{NAME, shorten_line, take_fitting};

/// Limits of the grid: number of tests, and bytes.
const TESTS: usize = 200;
const BYTES: usize = 450_000;

/// The state of a test in one column: CSS class, sign, and meaning.
type Cell = (&'static str, &'static str, &'static str);

const FAILS: Cell = ("f", "✗", "fails");
const BACK: Cell = ("b", "✓", "passes again from here on");
const PASSES: Cell = ("p", "·", "passes");
const FLAKY: Cell = ("y", "~", "fails and passes unchanged (flaky)");
const KNOWN: Cell = ("k", "○", "fails on the merge base too");
const UNKNOWN: Cell = ("u", "?", "not known");

/// Columns in which each test failed, one bit each; bit 0 is the baseline.
#[derive(Default)]
struct FailureMatrix<'a> {
    failed: HashMap<&'a str, u64>,
    /// Columns whose failing tests were not recorded.
    unknown: u64,
    columns: u32,
}

fn collect_failures<'a>(data: &PageData<'a>) -> FailureMatrix<'a> {
    let mut red = FailureMatrix::default();
    let view = data.view;
    // Earlier iterations have no column, but tests that failed in them still get a row.
    for test in view.rows.iter().take(data.earlier).flat_map(|row| &row.failing) {
        red.failed.entry(test.as_str()).or_default();
    }
    let start = match view.rows.get(data.earlier.wrapping_sub(1)) {
        Some(row) => (&row.failing, Some(row.after)),
        None => (&view.red, view.baseline),
    };
    let rows = data.rows.iter().map(|row| (&row.failing, Some(row.after)));
    for (failing, rate) in std::iter::once(start).chain(rows) {
        for test in failing {
            *red.failed.entry(test.as_str()).or_default() |= 1 << red.columns;
        }
        if failing.is_empty() && !rate.is_some_and(PassRate::is_full) {
            red.unknown |= 1 << red.columns;
        }
        red.columns += 1;
    }
    red
}

pub(super) fn read(data: &PageData<'_>) -> Value {
    let red = collect_failures(data);
    let mut tests: Vec<(&str, u64)> =
        red.failed.iter().map(|(test, mask)| (*test, *mask)).collect();
    // Tests that failed most recently come first, and among them those that failed longest.
    tests.sort_unstable_by_key(|(test, mask)| (Reverse(*mask), *test));
    let flaky: HashSet<&str> = data.view.flaky.iter().map(TestId::as_str).collect();
    let known: HashSet<&str> = data.view.preexisting.iter().map(TestId::as_str).collect();
    let mut rows = tests.iter().take(TESTS).map(|(test, mask)| {
        let fails = match () {
            () if flaky.contains(test) => FLAKY,
            () if known.contains(test) => KNOWN,
            () => FAILS,
        };
        let (path, last) = split_name(&shorten_line(test, NAME));
        let classes: Vec<&str> =
            mark_columns(*mask, &red, fails).iter().map(|cell| cell.0).collect();
        (path, last, classes)
    });
    let rows = take_fitting(&mut rows, &mut { BYTES });
    let is_seen = |cell: &Cell| rows.iter().any(|(_, _, classes)| classes.contains(&cell.0));
    let mut legend = vec![FAILS, BACK, PASSES, FLAKY, KNOWN, UNKNOWN];
    legend.retain(is_seen);
    let signs: BTreeMap<&str, &str> = legend.iter().map(|cell| (cell.0, cell.1)).collect();
    let columns = data.rows.iter().map(|row| (row.iteration, row.outcome == "regression"));
    json!({
        "total": tests.len(),
        "legend": legend,
        "signs": signs,
        "columns": columns.collect::<Vec<_>>(),
        "rows": rows,
    })
}

/// The name of a test in two parts: everything before its last part, and that.
fn split_name(name: &str) -> (String, String) {
    let split = ["::", " > ", "#", "/", "."]
        .iter()
        .find_map(|between| name.rfind(between).map(|at| at + between.len()))
        .filter(|at| *at < name.len());
    let (path, last) = split.and_then(|at| name.split_at_checked(at)).unwrap_or(("", name));
    (path.to_owned(), last.to_owned())
}

fn mark_columns(mask: u64, red: &FailureMatrix<'_>, fails: Cell) -> Vec<Cell> {
    let is_red = |at: u32| mask & (1 << at) != 0;
    (0..red.columns)
        .map(|at| match () {
            () if is_red(at) => fails,
            () if red.unknown & (1 << at) != 0 => UNKNOWN,
            () if at > 0 && is_red(at - 1) && mask >> at == 0 => BACK,
            () => PASSES,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_what_the_runs_say() {
        let red = |unknown| FailureMatrix { unknown, columns: 4, ..FailureMatrix::default() };
        let table = [
            ("comes back", 0b0011, 0, [FAILS, FAILS, BACK, PASSES]),
            ("falls again", 0b0101, 0, [FAILS, PASSES, FAILS, BACK]),
            ("stays red", 0b1111, 0, [FAILS; 4]),
            ("not kept", 0b0001, 0b0110, [FAILS, UNKNOWN, UNKNOWN, PASSES]),
        ];
        for (why, mask, unknown, expected) in table {
            assert_eq!(mark_columns(mask, &red(unknown), FAILS), expected, "{why}");
        }
    }
}
