//! Computes the picture of the pass rate over iterations. Positions are percentages of the width and
//! pixels of the height, so that text keeps its size on a phone.

use serde_json::{Value, json};

use crate::domain::rate::PassRate;

use super::PageData;

/// Positions of the highest and of the lowest line, in pixels.
const TOP: f64 = 26.0;
const BOTTOM: f64 = 184.0;

/// Positions of the first and of the last point, in percent of the width.
const LEFT: f64 = 12.0;
const RIGHT: f64 = 94.0;

/// Highest number of labels below the line.
const TICKS: u32 = 11;

/// One point of the line: its label, its rate, and the rate that a reverted change had reached.
type Point = (String, PassRate, Option<PassRate>);

fn list_points(data: &PageData<'_>) -> Vec<Point> {
    let before = data.rows.first().map(|row| row.before);
    let start = match data.earlier {
        0 => data.view.baseline.or(before).map(|rate| ("start", rate)),
        _ => before.map(|rate| ("before", rate)),
    };
    let Some((label, rate)) = start else { return Vec::new() };
    let rows = data.rows.iter().map(|row| {
        let reached = row.reached.filter(|reached| *reached != row.after);
        (row.iteration.to_string(), row.after, reached)
    });
    std::iter::once((label.to_owned(), rate, None)).chain(rows).collect()
}

/// Value of the lowest line, in tenths of a percent: a round number below everything drawn.
fn find_lowest(points: &[Point], target: Option<u32>) -> u32 {
    let rates = points.iter().flat_map(|(_, rate, reached)| [Some(*rate), *reached]);
    let least = rates
        .flatten()
        .map(|rate| rate.per_mille().tenths())
        .chain(target.map(|target| target * 10))
        .min();
    let round = least.unwrap_or(0).min(950) / 100 * 100;
    if least.is_some_and(|least| least < round + 20) { round.saturating_sub(100) } else { round }
}

/// The points, the lines behind them and the target.
pub(super) fn read(data: &PageData<'_>) -> Value {
    let (points, target) = (list_points(data), data.facts.target);
    let low = find_lowest(&points, target);
    let y = |tenths: u32| {
        let share = f64::from(tenths.saturating_sub(low)) / f64::from(1000 - low);
        BOTTOM - share.min(1.0) * (BOTTOM - TOP)
    };
    let of_rate =
        |rate: PassRate| json!({ "rate": rate.to_string(), "y": y(rate.per_mille().tenths()) });
    let last = u32::try_from(points.len()).unwrap_or_default().saturating_sub(1);
    let (every, gap) = ((last + 1).div_ceil(TICKS), (RIGHT - LEFT) / f64::from(last.max(1)));
    let drawn = (0..).zip(&points).map(|(at, (label, rate, reached))| {
        json!({
            "label": label,
            "x": LEFT + f64::from(at) * gap,
            "at": of_rate(*rate),
            "reached": reached.map(of_rate),
            // The last number is always drawn; one close to it would overlap.
            "tick": at == last || (at % every == 0 && (last - at) * 2 >= every),
        })
    });
    let rules = [low, low.midpoint(1000), 1000];
    json!({
        "bottom": BOTTOM,
        "points": drawn.collect::<Vec<_>>(),
        "rules": rules.map(|tenths| (tenths, y(tenths))),
        "target": target.map(|target| (target, y(target * 10))),
        "reverts": points.iter().any(|(_, _, reached)| reached.is_some()),
        "earlier": data.earlier,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_line_is_round_and_below_everything() {
        let point = |passed| (String::new(), PassRate { passed, total: 1000 }, None);
        let table = [
            ("a zoom", vec![point(863)], Some(95), 800),
            ("not on the line", vec![point(805)], None, 700),
            ("nothing passes", vec![point(0)], Some(95), 0),
            ("all pass", vec![point(1000)], None, 900),
            ("a low target", vec![point(990)], Some(30), 200),
        ];
        for (why, points, target, expected) in table {
            assert_eq!(find_lowest(&points, target), expected, "{why}");
        }
    }
}
