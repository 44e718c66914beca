//! Each iteration: why it was as bold as it was, its analysis, its change and its result.

use serde_json::{Value, json};

use crate::domain::event::IterationRow;
use crate::report::phrases::{Tone, result_of, test_runs};

use super::{PageData, change, link_commit, prose};

/// Limits in bytes: all iterations together, one analysis, one change; and lines of one change.
const BYTES: usize = 600_000;
const ANALYSIS: usize = 24_000;
const CHANGE: usize = 60_000;
const LINES: usize = 600;

/// Longest change, in lines, that is unfolded from the start.
const OPEN: usize = 24;

pub(super) fn read(data: &PageData<'_>) -> Value {
    let mut room = BYTES;
    data.rows.iter().map(|row| describe_iteration(data, row, &mut room)).collect()
}

fn describe_iteration(data: &PageData<'_>, row: &IterationRow, room: &mut usize) -> Value {
    let (tone, result) = result_of(row);
    let refused = data.view.refused.iter().filter(|(number, _)| *number == row.iteration).count();
    let elsewhere = data.facts.analyses.get(&row.iteration).filter(|_| row.analysis.is_empty());
    let analysis = elsewhere.unwrap_or(&row.analysis);
    let place = match &row.commit {
        Some(id) => format!("`git show {}`", id.short()),
        None => "the session's `.process/events.jsonl`".to_owned(),
    };
    // Reads a text within its limit and the room that is left.
    let mut within = |text: &str, limit: usize, read: &dyn Fn(&mut usize) -> Value| {
        let most = limit.min(*room);
        let mut left = most;
        let value = (!text.is_empty()).then(|| read(&mut left));
        *room -= most - left;
        value
    };
    json!({
        "number": row.iteration,
        "strategy": row.strategy.to_string(),
        "tone": match tone {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Warning | Tone::Neutral => "warn",
        },
        "result": result,
        "reason": data.view.reasons.get(&row.iteration),
        "summary": row.summary,
        "provider": row.provider,
        "tried": row.tried,
        "test_runs": test_runs(row),
        "duration_ms": row.duration_ms,
        "degraded": row.degraded,
        "refused": refused,
        "files": row.files,
        "commit": row.commit.as_ref().map(|id| link_commit(data.facts, id)),
        "analysis": within(analysis, ANALYSIS, &|left| prose::read(analysis, left)),
        "change": within(&row.patch, CHANGE, &|left| change::read(&row.patch, left, LINES, &place)),
        "is_open": row.patch.lines().nth(OPEN).is_none(),
    })
}
