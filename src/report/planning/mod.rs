//! Renders the documents of test generation from their stored forms: analysis, plan, to-do list,
//! notes, summary (specification.md 8.8, 9.1).

mod analysis;
mod generation;
mod plan_comment;
mod suite;
mod summary;
mod tasks;

pub use analysis::{analysis, raw_analysis};
pub use generation::{headline, judged, made, score, written};
pub use plan_comment::{Rest, outcome, plan_comment};
pub use suite::suite;
#[cfg(test)]
pub use summary::PlanDocument;
pub use summary::{ACTIVE, document, progress, summary};
pub use tasks::{plan, todo};

use crate::domain::event::TaskRow;
use crate::domain::test_plan::analysis::TestAnalysis;
use crate::domain::test_plan::context::TestCoverage;
use crate::domain::test_plan::task::{TestPlan, TestTask};
use crate::domain::text::count;

use super::markdown;

/// Longest sentence in these documents, in characters.
const SENTENCE: usize = 600;

/// A sentence of ours that may quote foreign words.
fn prose(text: &str) -> String {
    markdown::prose(text, SENTENCE)
}

/// A Markdown list with one sentence per item.
fn list<'a>(sentences: impl IntoIterator<Item = &'a String>) -> String {
    sentences.into_iter().map(|text| format!("- {}\n", prose(text))).collect()
}

/// Highest number of rows in a table.
const ROWS: usize = 200;

/// A table, or nothing without rows. `head` ends with the line that separates head and rows.
fn table<const N: usize>(head: &str, rows: impl IntoIterator<Item = [String; N]>) -> String {
    let rows: String =
        rows.into_iter().take(ROWS).map(|row| format!("| {} |\n", row.join(" | "))).collect();
    if rows.is_empty() { rows } else { format!("{head}{rows}") }
}

/// Sums up phase 2 in one line.
pub fn gathered(coverage: &TestCoverage) -> String {
    let stats = &coverage.coverage_stats;
    let lines = stats.line_percentage.as_ref().map(|text| format!(", lines {text} %"));
    format!(
        "{} looked at, {} with gaps{}",
        count(stats.total_implementation_files, "file"),
        coverage.missing_tests.len(),
        lines.unwrap_or_default()
    )
}

/// Sums up phase 3 in one line.
pub fn analysed(analysis: &TestAnalysis) -> String {
    let layers: Vec<String> =
        analysis.by_layer().iter().map(|(layer, number)| format!("{layer} {number}")).collect();
    format!(
        "{} in {}: {}",
        count(analysis.total(), "requirement"),
        count(analysis.files.len(), "file"),
        layers.join(", ")
    )
}

/// Sums up phase 4 in one line.
pub fn planned(plan: &TestPlan) -> String {
    let files: std::collections::BTreeSet<_> =
        plan.tasks.iter().flat_map(|task| &task.flow_control.target_files).collect();
    format!("{}, {}", count(plan.tasks.len(), "task"), count(files.len(), "test file"))
}

/// The tasks with their current status, for every output.
pub fn rows(plan: &TestPlan) -> Vec<TaskRow> {
    let row = |task: &TestTask| TaskRow {
        id: task.id.clone(),
        title: task.title.clone(),
        agent: task.meta.agent.clone(),
        status: task.status,
    };
    plan.tasks.iter().map(row).collect()
}

#[cfg(test)]
mod tests;
