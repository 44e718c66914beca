//! Renders the plan and its tasks as Markdown.

use crate::domain::id::{RepoPath, SessionId};
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::context::ContextPackage;
use crate::domain::test_plan::pipeline::Pipeline;
use crate::domain::test_plan::task::{TaskKind, TestPlan, TestTask, size};
use crate::domain::text::count;
use crate::report::markdown::{code, line};

use super::{list, prose, table};

/// `IMPL_PLAN.md` (specification.md 8.8).
pub fn plan(state: &Pipeline, plan: &TestPlan, package: &ContextPackage) -> String {
    let analysis = &plan.analysis;
    let source =
        package.metadata.source_session_id.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut page = format!(
        "---\nidentifier: {}\nsource_session: \"{source}\"\nworkflow_type: test_session\ntest_framework: \"{}\"\ncoverage_targets: \"{}\"\n---\n\n# Test plan\n\n## Summary\n\n",
        state.session_id,
        line(analysis.framework.framework.name(), 60).replace(['"', '\\'], ""),
        analysis.coverage_target,
    );
    page.push_str(&format!(
        "{}: {}. {} in {}, {} ({} work).\n",
        state.entry.mode(),
        code(&analysis.description),
        count(analysis.total(), "requirement"),
        count(analysis.files.len(), "file"),
        count(plan.tasks.len(), "task"),
        size(analysis.files.len()),
    ));
    page.push_str(&format!(
        "\n## Source context\n\n{}{}\n## Framework\n\n- {}, run by {}\n- coverage by {}\n",
        list(&package.focus_areas),
        order(package),
        code(analysis.framework.framework.name()),
        code(&analysis.framework.commands.run_tests),
        code(&analysis.framework.commands.run_coverage)
    ));
    page.push_str(&table(
        "\n## Layers\n\n| Layer | Requirements |\n|---|--:|\n",
        analysis
            .by_layer()
            .into_iter()
            .map(|(layer, number)| [format!("{layer} {}", layer.title()), number.to_string()]),
    ));
    page.push_str(&format!(
        "\n## Quality gates\n\n- IMPL-001.3: 0 critical, at most 3 errors, at most 10 warnings, 0 compile errors\n- IMPL-001.5: {}; 0 critical anti-patterns\n",
        analysis.coverage_target
    ));
    let limit = plan.tasks.iter().find_map(|task| task.meta.max_iterations).unwrap_or_default();
    page.push_str(&format!("\n## Test-fix cycle\n\nAt most {limit} iterations; it ends when all tests pass. Diagnosis by the configured chain, the embedded engine last.\n"));
    page.push_str("\n## Tasks\n");
    for task in &plan.tasks {
        page.push_str(&one(task));
    }
    let doubles = list(analysis.files.iter().flat_map(|file| &file.mocks));
    let none = "- no call out of the program was seen in what is tested\n";
    let doubles = if doubles.is_empty() { none } else { &doubles };
    page.push_str(&format!("\n## Risks\n\n{doubles}"));
    for text in &analysis.deferred {
        page.push_str(&format!("- left for another session: {}\n", prose(text)));
    }
    page.push_str(&format!("\n## Success criteria\n\n{}", list(&analysis.success_criteria)));
    page
}

/// The order of the files.
fn order(package: &ContextPackage) -> String {
    let order = &package.prioritized_context.dependency_order;
    let order: Vec<&str> = order.iter().map(RepoPath::as_str).collect();
    if order.is_empty() {
        return String::new();
    }
    format!("- order (what a file needs comes first): {}\n", code(&order.join(", ")))
}

fn one(task: &TestTask) -> String {
    let needs = if task.context.depends_on.is_empty() {
        "nothing".to_owned()
    } else {
        task.context.depends_on.join(", ")
    };
    let mut page = format!(
        "\n### {}: {}\n\n- by {}, needs {needs}\n- {}, coverage target {}, context {}\n",
        task.id,
        prose(&task.title),
        task.meta.agent,
        prose(&task.meta.project_type),
        task.meta.coverage_target,
        code(&task.context_package_path),
    );
    let tools = &task.flow_control.reusable_test_tools;
    if !tools.is_empty() {
        page.push_str(&format!("- tools that are there: {}\n", prose(&tools.join(", "))));
    }
    for step in &task.flow_control.implementation_approach {
        page.push_str(&format!("- step {}: {} ({})\n", step.step, step.title, step.description));
    }
    for acceptance in &task.context.acceptance {
        page.push_str(&format!("- done when {}\n", prose(acceptance)));
    }
    page
}

/// `TODO_LIST.md` (specification.md 8.8): one line per task, with gate and layer marks; `iterations` are
/// the lines of the fix loop.
pub fn todo(session: &SessionId, plan: &TestPlan, iterations: &str) -> String {
    let mut page = format!("# Tasks of {session}\n");
    let groups: [(&str, &[TaskKind]); 3] = [
        ("Generation", &[TaskKind::TestGen]),
        ("Gates", &[TaskKind::CodeValidation, TaskKind::TestQualityReview]),
        ("Execution", &[TaskKind::TestFix]),
    ];
    for (title, kinds) in groups {
        page.push_str(&format!("\n## {title}\n\n"));
        for task in plan.tasks.iter().filter(|task| kinds.contains(&task.meta.kind)) {
            let done = task.status == TaskStatus::Completed;
            let mark = match task.meta.kind {
                TaskKind::TestGen => "",
                TaskKind::CodeValidation | TaskKind::TestQualityReview => " [GATE]",
                TaskKind::TestFix => " [ITERATION]",
            };
            let summary = if done {
                format!(" → [summary](.summaries/{}-summary.md)", task.id)
            } else {
                String::new()
            };
            page.push_str(&format!(
                "- [{}] **{}**: {} → [task]({}){mark} ({}){summary}\n",
                if done { "x" } else { " " },
                task.id,
                prose(&task.title),
                task.file(),
                layers(task),
            ));
            if task.meta.kind == TaskKind::TestFix {
                page.push_str(iterations);
            }
        }
    }
    page.push_str("\n`- [ ]` waits, `- [x]` is done; [GATE] stops the work when it is not met, [ITERATION] is the fix loop.\n");
    page
}

/// The layers of a task, such as `L0 L1`.
fn layers(task: &TestTask) -> String {
    let steps = &task.flow_control.implementation_approach;
    let named: Vec<&str> = steps.iter().filter_map(|step| step.title.split(':').next()).collect();
    if named.is_empty() { "all layers".to_owned() } else { named.join(" ") }
}
