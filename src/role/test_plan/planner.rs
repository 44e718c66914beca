//! Phase 4: turns requirements into the four tasks of a test session (specification.md 3.1 phase 4,
//! 4.6, 5).

use crate::domain::id::RepoPath;
use crate::domain::test_plan::plan::TestPlan;
use crate::domain::test_plan::task::{
    OnError, PreStep, TaskContext, TaskKind, TestTask, planned_steps, sentence,
};
use crate::domain::text::count;

/// Maximum number of summaries of a finished session that the writer is shown.
const SUMMARIES: usize = 10;

/// Plans the tasks. Never fails.
pub fn plan_tasks(plan: &mut TestPlan, max_iterations: u32) {
    let (mut suite, run) = (TaskContext::default(), &plan.framework.run_tests);
    suite.requirements.push(format!("the whole suite passes, within {max_iterations} iterations"));
    suite.acceptance.push(format!("all tests pass: `{run}`"));
    let title = "Run the suite and fix what fails".to_owned();
    let mut suite = TestTask::new(TaskKind::TestFix, title, suite);
    suite.meta.max_iterations = Some(max_iterations);
    plan.tasks = vec![writing(plan), validation(plan), review(plan), suite];
}

/// The acceptance criterion for coverage, if a tool can measure it.
fn coverage(plan: &TestPlan) -> Option<String> {
    let (target, run) = (plan.coverage_target, &plan.framework.run_coverage);
    (!run.is_empty()).then(|| format!("coverage reaches {}: `{run}`", target.words()))
}

/// The task that writes tests (specification.md 5.3).
fn writing(plan: &TestPlan) -> TestTask {
    let test_files = plan.test_files();
    let shown = test_files.iter().map(|test_file| {
        let own = plan.all_requirements().filter(|(file, _)| file.test_file == **test_file);
        let (number, run) = (count(own.count(), "requirement"), plan.framework.run_file(test_file));
        format!("{test_file} shows {number} and passes: `{run}`")
    });
    let sources = plan.files.iter().map(|file| &file.file);
    let focus: Vec<RepoPath> = sources.chain(test_files.iter().copied()).cloned().collect();
    let context = TaskContext {
        requirements: plan.all_requirements().map(|(_, one)| sentence(one)).collect(),
        acceptance: shown.chain(coverage(plan)).collect(),
        focus_paths: focus,
        depends_on: Vec::new(),
    };
    let title = format!("Write unit tests ({})", count(plan.requirement_count(), "requirement"));
    let mut task = TestTask::new(TaskKind::TestGen, title, context);
    task.flow_control.implementation_approach =
        planned_steps(plan.all_requirements().map(|(_, one)| one));
    // In session mode the writer is shown what was implemented. A person may add more.
    let summaries = plan.summaries.iter().take(SUMMARIES);
    let commands: Vec<String> =
        summaries.map(|one| format!("Read({})", one.summary_path)).collect();
    if !commands.is_empty() {
        task.flow_control.pre_analysis.push(PreStep {
            step: "load_summaries".to_owned(),
            action: "What was implemented".to_owned(),
            commands,
            on_error: OnError::Continue,
        });
    }
    task
}

/// The task of the code check (specification.md 5.4).
fn validation(plan: &TestPlan) -> TestTask {
    let files = count(plan.test_files().len(), "file");
    let limits = "0 critical, at most 3 errors, at most 10 warnings";
    let context = TaskContext {
        requirements: vec![format!("{files} of generated tests: {limits}")],
        acceptance: vec!["0 critical findings and 0 compile errors: `regreen validate`".into()],
        ..TaskContext::default()
    };
    TestTask::new(TaskKind::CodeValidation, "Validate the generated code".to_owned(), context)
}

/// The task of the test review (specification.md 5.4).
fn review(plan: &TestPlan) -> TestTask {
    let clean = "0 critical anti-patterns in the new tests: `regreen validate --tests`".to_owned();
    let context = TaskContext {
        requirements: vec![format!("{} shown", count(plan.requirement_count(), "requirement"))],
        acceptance: std::iter::once(clean).chain(coverage(plan)).collect(),
        ..TaskContext::default()
    };
    TestTask::new(
        TaskKind::TestQualityReview,
        "Review the quality of the tests".to_owned(),
        context,
    )
}
