//! Draws the pass rate over iterations as SVG. Positions are percentages of the width and pixels of
//! the height, so that text keeps its size on a phone.

use crate::domain::rate::PassRate;

use super::PageData;
use super::writer::Html;

/// Positions of the highest and of the lowest line, in pixels.
const TOP: f64 = 26.0;
const BOTTOM: f64 = 184.0;

/// Height of the whole picture, in pixels.
const HEIGHT: &str = "216";

/// Positions of the first and of the last point, in percent of the width.
const LEFT: f64 = 12.0;
const RIGHT: f64 = 94.0;

/// Highest number of labels below the line.
const TICKS: usize = 11;

/// One point of the line.
struct Point {
    x: f64,
    label: String,
    rate: PassRate,
    /// The rate that a reverted change had reached.
    reached: Option<PassRate>,
}

fn first(data: &PageData<'_>) -> Option<PassRate> {
    let before = data.rows.first().map(|row| row.before);
    if data.earlier > 0 { before } else { data.view.baseline.or(before) }
}

fn points(data: &PageData<'_>) -> Vec<Point> {
    let Some(start) = first(data) else { return Vec::new() };
    let label = if data.earlier > 0 { "before" } else { "start" };
    let mut points = vec![Point { x: 0.0, label: label.into(), rate: start, reached: None }];
    points.extend(data.rows.iter().map(|row| Point {
        x: 0.0,
        label: row.iteration.to_string(),
        rate: row.after,
        reached: row.reached.filter(|reached| *reached != row.after),
    }));
    let gaps = f64::from(u32::try_from(points.len() - 1).unwrap_or(1).max(1));
    for (at, point) in (0u32..).zip(&mut points) {
        point.x = LEFT + f64::from(at) * (RIGHT - LEFT) / gaps;
    }
    points
}

/// Value of the lowest line, in tenths of a percent: a round number below everything drawn.
fn lowest(points: &[Point], target: Option<u32>) -> u32 {
    let rates = points.iter().flat_map(|point| [Some(point.rate), point.reached]);
    let least = rates
        .flatten()
        .map(|rate| rate.per_mille().tenths())
        .chain(target.map(|target| target * 10))
        .min();
    let round = least.unwrap_or(0).min(950) / 100 * 100;
    if least.is_some_and(|least| least < round + 20) { round.saturating_sub(100) } else { round }
}

pub(super) fn draw(html: &mut Html, data: &PageData<'_>) {
    let points = points(data);
    let (Some(start), Some(end)) = (points.first(), points.last()) else { return };
    let low = lowest(&points, data.facts.target);
    let y = |tenths: u32| {
        let share = f64::from(tenths.saturating_sub(low)) / f64::from(1000 - low);
        BOTTOM - share.min(1.0) * (BOTTOM - TOP)
    };
    let target =
        data.facts.target.map(|target| format!(", the target is {target} %")).unwrap_or_default();
    let caption = match points.len() {
        1 => format!("{} % pass{target}.", start.rate),
        _ => format!("From {} % to {} % of the tests{target}.", start.rate, end.rate),
    };
    html.inside("figure", &[("class", "chart")], |html| {
        let size = [
            ("role", "img"),
            ("aria-labelledby", "chart-name chart-values"),
            ("width", "100%"),
            ("height", HEIGHT),
        ];
        html.inside("svg", &size, |html| {
            html.inside("title", &[("id", "chart-name")], |html| {
                html.text("Pass rate over iterations");
            });
            html.inside("desc", &[("id", "chart-values")], |html| {
                for point in &points {
                    html.text(&format!("{}: {} %. ", point.label, point.rate));
                }
            });
            for tenths in [low, low.midpoint(1000), 1000] {
                let at = fixed(y(tenths));
                line(html, "rule", ["0", &at, "100%", &at]);
                let text = format!("{} %", PassRate { passed: tenths, total: 1000 });
                label(
                    html,
                    "axis",
                    "start",
                    ["0", &fixed(y(tenths) - 5.0)],
                    &text.replace(".0", ""),
                );
            }
            if let Some(target) = data.facts.target.filter(|target| target * 10 >= low) {
                let at = fixed(y(target * 10));
                line(html, "target", ["0", &at, "100%", &at]);
                label(
                    html,
                    "aim",
                    "end",
                    ["100%", &fixed(y(target * 10) + 14.0)],
                    &format!("target {target} %"),
                );
            }
            climb(html, &points, &y);
            marks(html, &points, &y);
        });
        html.inside("figcaption", &[], |html| {
            html.text(&caption);
            if points.iter().any(|point| point.reached.is_some()) {
                html.text(" A dashed line down shows the rate that a reverted change had reached.");
            }
            if data.earlier > 0 {
                html.text(&format!(" The first {} iterations are not drawn.", data.earlier));
            }
        });
    });
}

/// Draws the line and the area below it, in a nested picture that is stretched to the width.
fn climb(html: &mut Html, points: &[Point], y: &dyn Fn(u32) -> f64) {
    let path: Vec<String> = points
        .iter()
        .map(|point| {
            format!("{},{}", fixed(point.x * 10.0), fixed(y(point.rate.per_mille().tenths())))
        })
        .collect();
    let path = path.join(" ");
    let (from, to) = (fixed(LEFT * 10.0), points.last().map_or(0.0, |point| point.x * 10.0));
    let area = format!("{from},{BOTTOM} {path} {},{BOTTOM}", fixed(to));
    let view = format!("0 0 1000 {HEIGHT}");
    let size = [
        ("width", "100%"),
        ("height", HEIGHT),
        ("viewBox", view.as_str()),
        ("preserveAspectRatio", "none"),
        ("aria-hidden", "true"),
    ];
    html.inside("svg", &size, |html| {
        html.void("polygon", &[("class", "area"), ("points", &area)]);
        html.void("polyline", &[("class", "climb"), ("points", &path)]);
    });
}

/// Draws the points with their captions, and the iteration numbers below them.
fn marks(html: &mut Html, points: &[Point], y: &dyn Fn(u32) -> f64) {
    let every = points.len().div_ceil(TICKS).max(1);
    let last = points.len() - 1;
    for (at, point) in points.iter().enumerate() {
        let (x, here) = (format!("{}%", fixed(point.x)), y(point.rate.per_mille().tenths()));
        let name = if at == 0 { point.label.clone() } else { format!("iteration {}", point.label) };
        if let Some(reached) = point.reached {
            let there = y(reached.per_mille().tenths());
            line(html, "drop", [&x, &fixed(here), &x, &fixed(there)]);
            let caption = format!("{name} reached {reached} % and was taken back");
            dot(html, "fell", [&x, &fixed(there)], &caption);
            if points.len() <= 16 {
                label(
                    html,
                    "fallen",
                    "middle",
                    [&x, &fixed(there + 17.0)],
                    &format!("{reached} ↩"),
                );
            }
        }
        dot(html, "here", [&x, &fixed(here)], &format!("{name}: {} %", point.rate));
        // The last number is always drawn; one close to it would overlap.
        if at == last || (at % every == 0 && (last - at) * 2 >= every) {
            label(html, "tick", "middle", [&x, "206"], &point.label);
        }
        if at == 0 || at == last {
            label(html, "value", "middle", [&x, &fixed(here - 12.0)], &point.rate.to_string());
        }
    }
}

fn line(html: &mut Html, class: &str, [x1, y1, x2, y2]: [&str; 4]) {
    html.void("line", &[("class", class), ("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)]);
}

fn label(html: &mut Html, class: &str, anchor: &str, [x, y]: [&str; 2], text: &str) {
    let place = [("class", class), ("text-anchor", anchor), ("x", x), ("y", y)];
    html.inside("text", &place, |html| html.text(text));
}

fn dot(html: &mut Html, class: &str, [x, y]: [&str; 2], caption: &str) {
    html.inside("circle", &[("class", class), ("cx", x), ("cy", y), ("r", "4.5")], |html| {
        html.leaf("title", "", caption);
    });
}

fn fixed(value: f64) -> String {
    format!("{value:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_line_is_round_and_below_everything() {
        let point = |passed| Point {
            x: 0.0,
            label: String::new(),
            rate: PassRate { passed, total: 1000 },
            reached: None,
        };
        let table = [
            ("a zoom", vec![point(863)], Some(95), 800),
            ("not on the line", vec![point(805)], None, 700),
            ("nothing passes", vec![point(0)], Some(95), 0),
            ("all pass", vec![point(1000)], None, 900),
            ("a low target", vec![point(990)], Some(30), 200),
        ];
        for (why, points, target, expected) in table {
            assert_eq!(lowest(&points, target), expected, "{why}");
        }
    }
}
