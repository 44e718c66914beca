//! Renders the documents of test generation from their stored forms: analysis, plan, to-do list,
//! notes, summary (specification.md 8.8, 9.1).

mod documents;
mod generation;
mod summary;

pub use documents::{
    Rest, plan_comment, plan_outcome, render_analysis, render_gate, render_plan, render_suite,
    render_summary, render_task, render_todo,
};
pub use generation::{headline, score, written};
#[cfg(test)]
pub use summary::PlanDocument;
pub use summary::{ACTIVE, document};

use crate::domain::event::TaskRow;
use crate::domain::test_plan::plan::TestPlan;
use crate::domain::test_plan::task::TestTask;
use crate::domain::text::count;

use super::phrases::single_safe_line;

/// Sums up phase 3 in one line.
pub fn summarise_analysis(plan: &TestPlan) -> String {
    let layers: Vec<String> =
        plan.by_layer().iter().map(|(layer, number)| format!("{layer} {number}")).collect();
    let (total, files) =
        (count(plan.requirement_count(), "requirement"), count(plan.files.len(), "file"));
    let left_out = match plan.left_out.as_slice() {
        [] => String::new(),
        [only] => format!("; not planned: {}", single_safe_line(only, 120)),
        [first, rest @ ..] => {
            format!("; not planned: {} and {} more", single_safe_line(first, 120), rest.len())
        }
    };
    format!("{total} in {files}: {}{left_out}", layers.join(", "))
}

/// Sums up phase 4 in one line.
pub fn planned(plan: &TestPlan) -> String {
    let files = count(plan.test_files().len(), "test file");
    format!("{}, {files}", count(plan.tasks.len(), "task"))
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
