//! Where the time went, iteration by iteration, as bars.

use crate::domain::event::IterationRow;
use crate::report::phrases::time;

use super::PageData;
use super::writer::Html;

/// Milliseconds spent in one iteration.
struct Spent {
    label: String,
    tests: u64,
    providers: u64,
    /// Time of the search for candidates, and of everything else.
    rest: u64,
}

impl Spent {
    fn all(&self) -> u64 {
        self.tests + self.providers + self.rest
    }
}

fn spent(data: &PageData<'_>) -> Vec<Spent> {
    let testing = |iteration: u32| data.view.testing.get(&iteration).copied().unwrap_or_default();
    let start = Spent { label: "start".into(), tests: testing(0), providers: 0, rest: 0 };
    let start = Some(start).filter(|start| data.earlier == 0 && start.tests > 0);
    let rows = data.rows.iter().map(|row| {
        let providers = providers(row).min(row.duration_ms);
        let tests = testing(row.iteration).min(row.duration_ms - providers);
        Spent {
            label: row.iteration.to_string(),
            tests,
            providers,
            rest: row.duration_ms - providers - tests,
        }
    });
    start.into_iter().chain(rows).collect()
}

fn providers(row: &IterationRow) -> u64 {
    row.calls.iter().map(|call| call.duration_ms).fold(0, u64::saturating_add)
}

pub(super) fn draw(html: &mut Html, data: &PageData<'_>) {
    let spent = spent(data);
    let most = spent.iter().map(Spent::all).max().unwrap_or_default().max(1);
    let asked = spent.iter().any(|one| one.providers > 0);
    html.inside("ul", &[("class", "legend"), ("aria-hidden", "true")], |html| {
        for (class, text) in
            [("tests", "test runs"), ("ask", "providers"), ("rest", "search and the rest")]
        {
            if class != "ask" || asked {
                html.inside("li", &[], |html| {
                    html.leaf("span", &format!("key {class}"), "");
                    html.text(text);
                });
            }
        }
    });
    html.inside("ol", &[("class", "bars"), ("aria-hidden", "true")], |html| {
        for one in &spent {
            html.inside("li", &[], |html| {
                html.leaf("span", "n", &one.label);
                bar(html, one, most);
                html.leaf("span", "t", &time(one.all()));
            });
        }
    });
}

fn bar(html: &mut Html, one: &Spent, most: u64) {
    // Tenths of a percent are finer than a pixel.
    let share = |ms: u64| ms.saturating_mul(1000) / most;
    html.inside("svg", &[("class", "bar"), ("width", "100%"), ("height", "14")], |html| {
        let mut from = 0;
        for (class, ms) in [("tests", one.tests), ("ask", one.providers), ("rest", one.rest)] {
            let wide = share(ms);
            if wide > 0 {
                let percent = |tenths: u64| format!("{}.{}%", tenths / 10, tenths % 10);
                let (x, width) = (percent(from), percent(wide));
                html.void(
                    "rect",
                    &[("class", class), ("x", &x), ("y", "0"), ("width", &width), ("height", "14")],
                );
            }
            from += wide;
        }
    });
}
