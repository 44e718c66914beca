//! Draws the pass rate as plain text: one bar of block characters per iteration.
//!
//! Plain text works in comments, check runs, job summaries, terminals and mail, needs no script,
//! and can be compared in tests. A drawn chart (Mermaid, an image) is missing from mail and from
//! small screens, and fails as a whole. Bars are cut, and the rate, never rounded up to a whole
//! percent, stands beside them, so that 99.96 % neither looks nor reads as green.

use crate::domain::event::IterationRow;
use crate::domain::rate::PassRate;

use super::view::View;

/// How many iterations are drawn from the start and from the end.
const FIRST: usize = 3;
const LAST: usize = 12;

/// The data of a chart.
#[derive(Clone, Copy, Debug)]
pub struct RateHistory<'a> {
    /// The rate before any change.
    pub start: Option<PassRate>,
    /// Finished iterations.
    pub rows: &'a [IterationRow],
    /// The rate at the end; drawn when it differs from that of the last iteration, as when the
    /// final full run found more failures.
    pub end: Option<PassRate>,
    /// The target rate in percent, drawn as a mark in each bar.
    pub target: Option<u32>,
}

/// One line per iteration, after one for the start: number, bar of `cells` cells, rate, a tick
/// where the target is met, and the rate that a reverted attempt reached.
pub fn lines(climb: &RateHistory<'_>, cells: u32) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(start) = climb.start {
        lines.push(bar("start", start, climb.target, cells));
    }
    let left_out = climb.rows.len().saturating_sub(FIRST + LAST);
    for (index, row) in climb.rows.iter().enumerate() {
        if left_out > 0 && index == FIRST {
            lines.push(format!("    … {left_out} more"));
        }
        if left_out > 0 && (FIRST..FIRST + left_out).contains(&index) {
            continue;
        }
        let mut line = bar(&row.iteration.to_string(), row.after, climb.target, cells);
        if let Some(reached) = row.reached.filter(|reached| *reached != row.after) {
            line.push_str(&format!(" ↩ {reached}"));
        }
        lines.push(line);
    }
    let last = climb.rows.last().map(|row| row.after).or(climb.start);
    if let Some(end) = climb.end.filter(|end| Some(*end) != last) {
        lines.push(bar("end", end, climb.target, cells));
    }
    lines
}

/// The bars of a session, with the meaning of the marks below; nothing without a rate.
pub fn bars(view: &View, target: Option<u32>, cells: u32) -> Vec<String> {
    let end = view.outcome.as_ref().and_then(|outcome| outcome.last);
    let climb = RateHistory { start: view.baseline, rows: &view.rows, end, target };
    let mut lines = lines(&climb, cells);
    if lines.is_empty() {
        return lines;
    }
    let mut marks = Vec::new();
    if let Some(target) = target {
        marks.push(format!("│ goal {target} %"));
    }
    if view.rows.iter().any(|row| row.reached.is_some_and(|reached| reached != row.after)) {
        marks.push("↩ reached, taken back".to_owned());
    }
    if !marks.is_empty() {
        lines.push(format!("      {}", marks.join("   ")));
    }
    lines
}

fn bar(label: &str, rate: PassRate, target: Option<u32>, cells: u32) -> String {
    let full = rate.per_mille().tenths() * cells / 1000;
    let goal = target.map(|target| target.min(100) * cells / 100);
    let mut drawn = String::new();
    for cell in 0..cells {
        if goal == Some(cell) {
            drawn.push('│');
        }
        drawn.push(if cell < full { '█' } else { '·' });
    }
    if goal == Some(cells) {
        drawn.push('│');
    }
    let met = if target.is_some_and(|target| rate.is_at_least(target)) { " ✓" } else { "" };
    format!("{label:>5} {drawn} {rate:>5} %{met}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CELLS: u32 = 20;

    #[test]
    fn bars_are_cut_and_the_goal_is_marked() {
        let table = [
            ((0, 10), None, "start ····················   0.0 %"),
            ((9_999, 10_000), None, "start ███████████████████·  99.9 %"),
            ((10, 10), Some(100), "start ████████████████████│ 100.0 % ✓"),
            ((94, 100), Some(95), "start ██████████████████·│·  94.0 %"),
            ((95, 100), Some(95), "start ███████████████████│·  95.0 % ✓"),
            ((0, 10), Some(0), "start │····················   0.0 % ✓"),
        ];
        for ((passed, total), target, expected) in table {
            let climb =
                RateHistory { start: PassRate::of(passed, total), rows: &[], end: None, target };
            assert_eq!(lines(&climb, CELLS), [expected]);
        }
        let (start, end) = (PassRate::of(4, 4), PassRate::of(3, 4));
        let climb = RateHistory { start, rows: &[], end, target: None };
        assert_eq!(lines(&climb, 4), ["start ████ 100.0 %", "  end ███·  75.0 %"]);
        assert_eq!(lines(&RateHistory { end: start, ..climb }, 4).len(), 1);
        assert_eq!(bars(&View::default(), Some(95), CELLS), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn only_all_green_is_a_full_bar(passed in 0u32..5000, total in 1u32..5000, target: Option<u8>) {
            let rate = PassRate::of(passed.min(total), total).unwrap();
            let drawn = bar("start", rate, target.map(u32::from), CELLS);
            prop_assert_eq!(drawn.matches('█').count() == CELLS as usize, rate.is_full());
            prop_assert_eq!(drawn.matches(['█', '·']).count(), CELLS as usize);
            prop_assert_eq!(drawn.matches('│').count(), usize::from(target.is_some()));
        }
    }
}
