//! Entries of `archives/manifest.json`, built from ended sessions (specification.md 8.12, C-23).

use serde::{Deserialize, Serialize};

use super::event::Ending;
use super::fix_loop::{FixLoop, IterationRecord, IterationResult};
use super::id::SessionId;
use super::session::SessionRecord;

/// Maximum number of lessons of each kind.
const LESSONS: usize = 5;

/// Maximum length of one lesson, in characters.
const LESSON_LENGTH: usize = 200;

/// One archived session; `archives/manifest.json` is a list of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifestEntry {
    pub session_id: SessionId,
    /// What the session was for.
    pub description: String,
    /// When it was archived, RFC 3339.
    pub archived_at: String,
    pub result: Option<String>,
    /// Final pass rate in percent, truncated to one decimal.
    pub final_pass_rate: Option<String>,
    /// Duration and amount of work.
    pub metrics: Metrics,
    /// What the session taught.
    pub lessons: Lessons,
}

/// Duration and amount of work of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Wall time of all its runs, in hours.
    pub duration_hours: f64,
    /// Tasks whose status is completed; rolled back and blocked ones do not count.
    pub tasks_completed: u32,
}

/// Lessons of a session, taken from its iteration history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lessons {
    /// Iterations that raised the pass rate.
    pub successes: Vec<String>,
    /// Iterations that did not raise the pass rate, with the reason.
    pub challenges: Vec<String>,
    /// Flaky, stuck and pre-existing failures, and kinds of edits that were kept.
    pub watch_patterns: Vec<String>,
}

/// Builds the manifest entry of a session. Without a readable `state`, metrics and lessons stay empty.
pub fn entry(record: &SessionRecord, state: Option<&FixLoop>, now: &str) -> ManifestEntry {
    ManifestEntry {
        session_id: record.session_id.clone(),
        description: record.description.clone(),
        archived_at: now.to_owned(),
        result: record.result.clone(),
        final_pass_rate: record.final_pass_rate.map(|rate| rate.to_string()),
        metrics: Metrics {
            duration_hours: state.map_or(0.0, |state| hours(state.spent_ms)),
            tasks_completed: state.map_or(0, completed),
        },
        lessons: state.map_or_else(Lessons::default, lessons),
    }
}

fn hours(milliseconds: u64) -> f64 {
    // 360 ms are a ten-thousandth of an hour; the `u32` is large enough for 49 years.
    let count = u32::try_from(milliseconds / 360).unwrap_or(u32::MAX);
    f64::from(count) / 10_000.0
}

/// Number of completed tasks: one for the suite unless the session failed, and one for each
/// iteration whose edit was tested and improved or changed nothing.
fn completed(state: &FixLoop) -> u32 {
    let suite = state.verdict.as_ref().is_some_and(|verdict| verdict.ending != Ending::Failure);
    let fixes = state
        .iterations
        .iter()
        .filter(|one| matches!(one.result, IterationResult::Improved | IterationResult::Unchanged))
        .count();
    u32::try_from(fixes).unwrap_or(u32::MAX).saturating_add(u32::from(suite))
}

fn lessons(state: &FixLoop) -> Lessons {
    let lesson = |one: &IterationRecord| {
        let row = &one.row;
        format!(
            "iteration {}, {}, {} to {} %: {}",
            row.iteration, row.strategy, row.before, row.after, row.summary
        )
    };
    let failed = |one: &IterationRecord| {
        let row = &one.row;
        format!("iteration {}, {}, {}: {}", row.iteration, row.strategy, one.result, row.reason)
    };
    let (good, bad): (Vec<_>, Vec<_>) =
        state.iterations.iter().partition(|one| one.result == IterationResult::Improved);
    let flaky = state
        .flaky
        .iter()
        .map(|test| format!("{test} is flaky: it failed and passed on the same sources"));
    let stuck = state.stuck_tests.iter().map(|test| format!("{test} kept failing"));
    let old = state.preexisting.iter().map(|test| format!("{test} failed on the merge base too"));
    let causes = state.patterns.iter().map(|kind| format!("edits of the kind `{kind}` were kept"));
    Lessons {
        successes: bounded(good.into_iter().map(lesson)),
        challenges: bounded(bad.into_iter().map(failed)),
        watch_patterns: bounded(flaky.chain(stuck).chain(old).chain(causes)),
    }
}

fn bounded(lessons: impl Iterator<Item = String>) -> Vec<String> {
    lessons.take(LESSONS).map(|text| text.chars().take(LESSON_LENGTH).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stored session that ended after a regression.
    fn sample() -> (SessionRecord, FixLoop) {
        let record = include_str!("../../tests/data/state/v1/workflow-session.json");
        let state = include_str!("../../tests/data/state/v1/iteration-state.json");
        (serde_json::from_str(record).unwrap(), serde_json::from_str(state).unwrap())
    }

    #[test]
    fn the_entry_tells_what_the_session_took_and_taught() {
        let (record, mut state) = sample();
        state.spent_ms = 5_400_000;
        state.patterns = vec!["comparison".into(), "constant".into()];
        let entry = entry(&record, Some(&state), "2026-01-02T00:00:00Z");
        let metrics = Metrics { duration_hours: 1.5, tasks_completed: 0 };
        assert_eq!(entry.metrics, metrics, "a rolled back task is not completed");
        assert!(entry.lessons.successes.is_empty());
        let challenge = entry.lessons.challenges.first().unwrap();
        assert!(
            challenge.starts_with("iteration 1, conservative, regression: the rate fell from"),
            "{challenge}"
        );
        assert_eq!(entry.lessons.watch_patterns[0], "edits of the kind `comparison` were kept");
    }

    #[test]
    fn an_unreadable_state_leaves_an_entry_without_lessons() {
        let (record, _) = sample();
        let entry = entry(&record, None, "2026-01-02T00:00:00Z");
        assert_eq!(entry.lessons, Lessons::default());
    }
}
