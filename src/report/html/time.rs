//! Computes where the time went, iteration by iteration, as bars.

use serde_json::{Value, json};

use super::PageData;

/// A label, and milliseconds in test runs, for providers, and for the search and everything else.
type Spent = (String, [u64; 3]);

fn sum_times(data: &PageData<'_>) -> Vec<Spent> {
    let testing = |iteration: u32| data.view.testing.get(&iteration).copied().unwrap_or_default();
    let start = (data.earlier == 0 && testing(0) > 0).then(|| ("start".into(), [testing(0), 0, 0]));
    let rows = data.rows.iter().map(|row| {
        let providers = row.calls.iter().map(|call| call.duration_ms).fold(0, u64::saturating_add);
        let providers = providers.min(row.duration_ms);
        let tests = testing(row.iteration).min(row.duration_ms - providers);
        (row.iteration.to_string(), [tests, providers, row.duration_ms - providers - tests])
    });
    start.into_iter().chain(rows).collect()
}

/// For each iteration its label, its time, and the start and the width of each bar in tenths of a
/// percent, which are finer than a pixel.
pub(super) fn read(data: &PageData<'_>) -> Value {
    let spent = sum_times(data);
    let all = |times: &[u64; 3]| times.iter().sum::<u64>();
    let most = spent.iter().map(|(_, times)| all(times)).max().unwrap_or_default().max(1);
    let rows = spent.iter().map(|(label, times)| {
        let mut from = 0;
        let bars = ["tests", "ask", "rest"].into_iter().zip(times).map(|(class, time)| {
            let width = time.saturating_mul(1000) / most;
            from += width;
            (class, from - width, width)
        });
        (label, all(times), bars.collect::<Vec<_>>())
    });
    json!({
        "asked": spent.iter().any(|(_, [_, providers, _])| *providers > 0),
        "rows": rows.collect::<Vec<_>>(),
    })
}
