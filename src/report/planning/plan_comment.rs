//! Renders a plan for approval in a comment, and the end of phases 1 to 4 as an outcome that every
//! output can show (specification.md 2.4).

use std::time::Duration;

use crate::domain::event::{Ending, Outcome};
use crate::domain::test_plan::layer::SubLayer;
use crate::domain::test_plan::pipeline::Pipeline;
use crate::domain::test_plan::plan_run::PlanRun;
use crate::domain::test_plan::task::TestPlan;
use crate::domain::text::count;
use crate::report::markdown::{cell, code, fold, in_cell};

use super::{planned, prose};

/// Number of requirements that an offer shows.
const SHOWN: usize = 30;

/// Where a session that has not reached the fix loop keeps its results.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Name of the fix branch, which need not exist yet.
    pub branch: String,
    /// Path of the session's folder, for people.
    pub folder: String,
    pub took: Duration,
}

/// The outcome of a run that ended with the plan or while it wrote tests.
pub fn outcome(run: &PlanRun, rest: Rest) -> Outcome {
    let (state, plan) = (&run.state, run.plan.as_ref());
    let end = run.end();
    let tasks = plan.filter(|_| end.result.ending() == Ending::Planned);
    let tasks = tasks.map_or_else(String::new, |plan| format!(": {}", planned(plan)));
    Outcome {
        session: state.session_id.to_string(),
        result: end.result.ending(),
        reason: format!("{}{tasks}", end.reason),
        degraded: state.degraded,
        spending: run.spending,
        branch: rest.branch,
        // The plan is what a person should read; there may be none yet.
        report: plan.map_or_else(String::new, |_| format!("{}/IMPL_PLAN.md", rest.folder)),
        folder: rest.folder,
        duration_ms: u64::try_from(rest.took.as_millis()).unwrap_or(u64::MAX),
        ..Outcome::default()
    }
}

/// What the tests of a layer are about.
fn kind(layer: SubLayer) -> &'static str {
    match layer {
        SubLayer::AiIssues => "typical mistakes of generated code",
        _ => layer.title(),
    }
}

/// The plan for people who decide on it: session, tasks, kinds of tests, conditions. Markdown with
/// everything foreign escaped.
pub fn plan_comment(state: &Pipeline, plan: &TestPlan) -> String {
    let analysis = &plan.analysis;
    let mut text = format!(
        "Session {}: {} in {}, {}.\n\n| Task | Status | Test files |\n|---|---|---|\n",
        code(state.session_id.as_str()),
        count(analysis.total(), "requirement"),
        count(analysis.files.len(), "file"),
        planned(plan),
    );
    for task in &plan.tasks {
        let files: Vec<String> =
            task.flow_control.target_files.iter().map(|file| cell(file.as_str())).collect();
        let title = in_cell(&prose(&task.title));
        text.push_str(&format!(
            "| {title} | {} | {} |\n",
            task.status.to_string().replace('_', " "),
            files.join(", ")
        ));
    }
    let kinds: Vec<String> = analysis
        .by_layer()
        .iter()
        .map(|(layer, number)| format!("{} ({number})", kind(*layer)))
        .collect();
    if !kinds.is_empty() {
        text.push_str(&format!("\nKinds of tests: {}.\n", kinds.join(", ")));
    }
    text.push_str(&format!(
        "\nThe tests are accepted when they compile, have no critical finding, and cover {}.\n",
        analysis.coverage_target.words()
    ));
    let all = analysis.files.iter().flat_map(|file| &file.requirements);
    let mut list: String = all
        .clone()
        .take(SHOWN)
        .map(|one| format!("- {}: {}\n", kind(one.layer), prose(&one.text)))
        .collect();
    let more = all.count().saturating_sub(SHOWN);
    if more > 0 {
        list.push_str(&format!("- and {more} more\n"));
    }
    if !list.is_empty() {
        text.push('\n');
        text.push_str(&fold("What the tests must show", &list));
    }
    text
}
