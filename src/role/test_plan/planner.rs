//! Phase 4: from requirements to 4 to 18 tasks that depend on one another without a circle
//! (specification.md 3.1 phase 4, 4.6, 5).

use std::collections::BTreeMap;

use crate::domain::id::RepoPath;
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::analysis::{FileRequirements, RESULTS, Requirement, TestAnalysis};
use crate::domain::test_plan::context::Package;
use crate::domain::test_plan::task::{
    AiIssueScan, ApproachStep, CliExecution, FixCycle, FlowControl, MOST, PreStep, QualityGates,
    ScanThresholds, TaskContext, TaskKind, TaskMeta, TestCommands, TestPlan, TestTask, ordered,
    size,
};

use super::framework;

/// Files up to which one task writes all tests (specification.md 3.1 phase 3: over 6 by module).
const TOGETHER: usize = 6;

/// Tasks that every plan has besides those that write tests.
const FIXED: usize = 3;

/// Test files a task is shown before it writes.
const SAMPLES: usize = 2;

/// One portion of work: what one task writes.
struct Share<'a> {
    title: String,
    work: Vec<(&'a FileRequirements, Vec<&'a Requirement>)>,
}

/// Plans the tasks of an analysis. Never fails; [`crate::domain::test_plan::task::problems`]
/// says whether the plan can be carried out.
#[must_use]
pub fn plan(analysis: TestAnalysis, package: &Package, max_iterations: u32) -> TestPlan {
    let shares = shares(&analysis);
    let writer = |index: usize| match index {
        0 => "IMPL-001".to_owned(),
        _ => format!("IMPL-{:03}", index + 2),
    };
    let names: Vec<String> = (0..shares.len()).map(writer).collect();
    let mut tasks: Vec<TestTask> = Vec::new();
    for (index, share) in shares.iter().enumerate() {
        // What crosses files comes behind the units of its files.
        let crossing = share.title.starts_with("Integration");
        let needs =
            if crossing { names.get(..index).unwrap_or_default().to_vec() } else { Vec::new() };
        tasks.push(write_task(&writer(index), share, needs, &analysis, package));
    }
    tasks.push(validation(&names, &analysis, package));
    tasks.push(review(&names, &analysis, package));
    tasks.push(execution(&names, &analysis, package, max_iterations));
    conversations(&mut tasks, &analysis);
    let order = ordered(&tasks).unwrap_or_default();
    tasks.sort_by_key(|task| order.iter().position(|id| *id == task.id));
    TestPlan { analysis, tasks }
}

/// Divides the requirements: one share for few files, by module for many, and what crosses files
/// apart from units when the work is not small.
fn shares(analysis: &TestAnalysis) -> Vec<Share<'_>> {
    let files = &analysis.files;
    let of = |file: &'_ FileRequirements, crossing: bool| -> Vec<usize> {
        let list = file.requirements.iter().enumerate();
        list.filter(|(_, one)| (one.layer.layer() >= 2) == crossing).map(|(at, _)| at).collect()
    };
    let apart = size(files.len()) != "simple";
    let mut modules: BTreeMap<String, Vec<&FileRequirements>> = BTreeMap::new();
    for file in files {
        let module =
            if files.len() <= TOGETHER { String::new() } else { file.file.parent().to_owned() };
        modules.entry(module).or_default().push(file);
    }
    let room = MOST - FIXED - usize::from(apart);
    let groups = few(modules.into_iter().collect(), room);
    let mut shares = Vec::new();
    for (module, files) in groups {
        let title = if module.is_empty() {
            "Write unit tests".to_owned()
        } else {
            format!("Write unit tests of {module}")
        };
        let work: Vec<_> = files
            .iter()
            .map(|file| {
                let own =
                    if apart { of(file, false) } else { (0..file.requirements.len()).collect() };
                (*file, own.into_iter().filter_map(|at| file.requirements.get(at)).collect())
            })
            .filter(|(_, list): &(_, Vec<&Requirement>)| !list.is_empty())
            .collect();
        shares.push(Share { title, work });
    }
    if apart {
        let work: Vec<_> = files
            .iter()
            .map(|file| {
                (
                    file,
                    of(file, true).into_iter().filter_map(|at| file.requirements.get(at)).collect(),
                )
            })
            .filter(|(_, list): &(_, Vec<&Requirement>)| !list.is_empty())
            .collect();
        shares.push(Share { title: "Integration tests".to_owned(), work });
    }
    shares.retain(|share| !share.work.is_empty());
    shares
}

type Group<'a> = (String, Vec<&'a FileRequirements>);

/// Joins the smallest groups until there are at most `room`.
fn few(mut groups: Vec<Group<'_>>, room: usize) -> Vec<Group<'_>> {
    let weight =
        |group: &Group<'_>| -> usize { group.1.iter().map(|file| file.requirements.len()).sum() };
    while groups.len() > room.max(1) {
        groups.sort_by(|a, b| weight(b).cmp(&weight(a)).then(a.0.cmp(&b.0)));
        let Some((name, files)) = groups.pop() else { break };
        if let Some(last) = groups.last_mut() {
            last.0 = if last.0.ends_with(" and others") {
                last.0.clone()
            } else {
                format!("{} and others", last.0)
            };
            last.1.extend(files);
        } else {
            groups.push((name, files));
            break;
        }
    }
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    groups
}

fn commands(analysis: &TestAnalysis) -> TestCommands {
    TestCommands {
        run_tests: analysis.framework.run_tests.clone(),
        run_coverage: analysis.framework.run_coverage.clone(),
        run_specific: analysis.framework.run_specific.clone(),
    }
}

fn task(
    id: &str,
    title: String,
    kind: TaskKind,
    context: TaskContext,
    flow_control: FlowControl,
    analysis: &TestAnalysis,
    package: &Package,
) -> TestTask {
    let source_session = match package {
        Package::Session(package) => Some(package.metadata.source_session_id.clone()),
        Package::Prompt(_) => None,
    };
    TestTask {
        id: id.to_owned(),
        title,
        status: TaskStatus::Pending,
        status_history: Vec::new(),
        context_package_path: package.file().to_owned(),
        cli_execution_id: format!("{}-{id}", analysis.session_id),
        cli_execution: CliExecution {
            strategy: "new".into(),
            resume_from: None,
            merge_from: Vec::new(),
        },
        meta: TaskMeta {
            kind,
            agent: kind.agent().to_owned(),
            test_framework: analysis.framework.framework.to_string(),
            project_type: analysis.project_type.clone(),
            coverage_target: analysis.coverage_target.to_string(),
            max_iterations: None,
            source_session,
        },
        context,
        flow_control,
    }
}

/// A task that writes tests (specification.md 5.3).
fn write_task(
    id: &str,
    share: &Share<'_>,
    depends_on: Vec<String>,
    analysis: &TestAnalysis,
    package: &Package,
) -> TestTask {
    let mut requirements = Vec::new();
    let mut ids = Vec::new();
    let mut acceptance = Vec::new();
    let mut test_files: Vec<RepoPath> = Vec::new();
    for (file, list) in &share.work {
        requirements.push(format!("{}: {}", file.file, counted(list)));
        requirements
            .extend(list.iter().map(|one| format!("{} {} {}", one.id, one.layer, one.text)));
        ids.extend(list.iter().map(|one| one.id.clone()));
        if !test_files.contains(&file.test_file) {
            test_files.push(file.test_file.clone());
        }
    }
    for test_file in &test_files {
        let own = share.work.iter().filter(|(file, _)| file.test_file == *test_file);
        let count: usize = own.map(|(_, list)| list.len()).sum();
        let run = framework::run_specific(&analysis.framework, test_file);
        acceptance.push(format!("{test_file} shows {count} requirements and passes: `{run}`"));
    }
    if !analysis.framework.run_coverage.is_empty() {
        acceptance.push(format!(
            "coverage reaches {}: `{}`",
            analysis.coverage_target, analysis.framework.run_coverage
        ));
    }
    let files: Vec<RepoPath> = share.work.iter().map(|(file, _)| file.file.clone()).collect();
    let total: usize = share.work.iter().map(|(_, list)| list.len()).sum();
    let context = TaskContext {
        requirements,
        requirement_ids: ids,
        acceptance,
        focus_paths: [files.clone(), test_files.clone()].concat(),
        files_to_test: files,
        depends_on,
    };
    let flow = FlowControl {
        pre_analysis: pre_analysis(package, analysis),
        implementation_approach: approach(share),
        target_files: test_files,
        reusable_test_tools: analysis.framework.conventions.fixtures.clone(),
        test_commands: commands(analysis),
        ..FlowControl::default()
    };
    let title = format!("{} ({total} requirements)", share.title);
    task(id, title, TaskKind::TestGen, context, flow, analysis, package)
}

/// `12 requirements: 4 L1.1, 3 L1.2, …`.
fn counted(list: &[&Requirement]) -> String {
    let mut layers: BTreeMap<_, u32> = BTreeMap::new();
    for one in list {
        *layers.entry(one.layer).or_default() += 1;
    }
    let parts: Vec<String> =
        layers.iter().map(|(layer, count)| format!("{count} {layer}")).collect();
    let word = if list.len() == 1 { "requirement" } else { "requirements" };
    format!("{} {word}: {}", list.len(), parts.join(", "))
}

fn pre_analysis(package: &Package, analysis: &TestAnalysis) -> Vec<PreStep> {
    let step = |name: &str, action: &str, commands: Vec<String>, on_error: &str| PreStep {
        step: name.to_owned(),
        action: action.to_owned(),
        commands,
        output_to: name.to_owned(),
        on_error: on_error.to_owned(),
    };
    let mut steps = vec![
        step(
            "load_analysis",
            "Load the requirements",
            vec![format!("Read({RESULTS}.json)")],
            "fail",
        ),
        step(
            "load_context",
            "Load the context package",
            vec![format!("Read({})", package.file())],
            "fail",
        ),
    ];
    if let Package::Session(package) = package {
        let own = package.source_context.implementation_summaries.iter().take(10);
        let reads = own.map(|one| format!("Read({})", one.summary_path)).collect();
        steps.push(step("load_summaries", "Load what was implemented", reads, "skip_optional"));
    }
    let sample = analysis.framework.conventions.sample.iter();
    let others = package.coverage().existing_tests.iter();
    let mut samples: Vec<String> = Vec::new();
    for file in sample.chain(others) {
        let read = format!("Read({file})");
        if samples.len() < SAMPLES && !samples.contains(&read) {
            samples.push(read);
        }
    }
    if !samples.is_empty() {
        steps.push(step(
            "study_tests",
            "Study how tests are written here",
            samples,
            "skip_optional",
        ));
    }
    steps
}

fn approach(share: &Share<'_>) -> Vec<ApproachStep> {
    let mut steps: Vec<ApproachStep> = Vec::new();
    for (layer, title) in [
        (0, "L0: the file itself"),
        (1, "L1: units"),
        (2, "L2: what crosses files"),
        (3, "L3: the whole program"),
    ] {
        let of_layer = share.work.iter().flat_map(|(_, list)| list.iter());
        let own: Vec<&&Requirement> = of_layer.filter(|one| one.layer.layer() == layer).collect();
        if own.is_empty() {
            continue;
        }
        let number = u32::try_from(steps.len() + 1).unwrap_or(u32::MAX);
        let mut layers: BTreeMap<_, u32> = BTreeMap::new();
        for one in &own {
            *layers.entry(one.layer).or_default() += 1;
        }
        let parts: Vec<String> = layers
            .iter()
            .map(|(layer, count)| format!("{layer} {}: {count}", layer.title()))
            .collect();
        steps.push(ApproachStep {
            step: number,
            title: title.to_owned(),
            description: parts.join("; "),
            depends_on: if number > 1 { vec![number - 1] } else { Vec::new() },
            output: format!("layer_{layer}"),
        });
    }
    steps
}

/// Gate 001.3 (specification.md 5.4).
fn validation(names: &[String], analysis: &TestAnalysis, package: &Package) -> TestTask {
    let test_files = test_files(analysis);
    let context = TaskContext {
        requirements: vec![format!(
            "{} of generated tests: 0 critical, at most 3 errors, at most 10 warnings",
            files(test_files.len())
        )],
        acceptance: vec!["0 critical findings and 0 compile errors: `regreen validate`".into()],
        focus_paths: test_files,
        depends_on: names.to_vec(),
        ..TaskContext::default()
    };
    let own = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let flow = FlowControl {
        test_commands: commands(analysis),
        ai_issue_scan: Some(AiIssueScan {
            categories: own(&[
                "hallucinated_imports",
                "placeholder_code",
                "mock_leakage",
                "type_abuse",
                "naming_issues",
                "control_flow",
                "resource_leaks",
                "security_issues",
            ]),
            severity_levels: own(&["CRITICAL", "ERROR", "WARNING"]),
            auto_fix_enabled: true,
            max_retries: 2,
            thresholds: ScanThresholds { critical: 0, error: 3, warning: 10 },
        }),
        ..FlowControl::default()
    };
    let title = "Validate the generated code".to_owned();
    task("IMPL-001.3", title, TaskKind::CodeValidation, context, flow, analysis, package)
}

/// Gate 001.5 (specification.md 5.4).
fn review(names: &[String], analysis: &TestAnalysis, package: &Package) -> TestTask {
    let percent =
        [("L1.1", 100), ("L1.2", 80), ("L1.3", 60), ("L1.4", 80), ("L1.5", 100), ("L2", 70)];
    let layer_completeness: BTreeMap<String, u32> =
        percent.iter().map(|(layer, percent)| ((*layer).to_owned(), *percent)).collect();
    let own = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let covered: Vec<String> =
        analysis.by_layer().iter().map(|(layer, count)| format!("{count} {layer}")).collect();
    let mut acceptance = vec![format!(
        "0 critical anti-patterns in the new tests: `{}`",
        analysis.framework.run_tests
    )];
    if !analysis.framework.run_coverage.is_empty() {
        acceptance.push(format!(
            "coverage reaches {}: `{}`",
            analysis.coverage_target, analysis.framework.run_coverage
        ));
    }
    let context = TaskContext {
        requirements: vec![format!(
            "{} requirements are shown: {}",
            analysis.total(),
            covered.join(", ")
        )],
        acceptance,
        focus_paths: test_files(analysis),
        files_to_test: analysis.files.iter().map(|file| file.file.clone()).collect(),
        depends_on: [names.to_vec(), vec!["IMPL-001.3".to_owned()]].concat(),
        ..TaskContext::default()
    };
    let flow = FlowControl {
        test_commands: commands(analysis),
        quality_gates: Some(QualityGates {
            layer_completeness,
            anti_patterns: own(&[
                "empty_tests",
                "weak_assertions",
                "test_isolation",
                "incomplete_coverage",
                "ai_generated_issues",
            ]),
            coverage_thresholds: analysis.coverage_target,
        }),
        ..FlowControl::default()
    };
    let title = "Review the quality of the tests".to_owned();
    task("IMPL-001.5", title, TaskKind::TestQualityReview, context, flow, analysis, package)
}

/// The suite and the fix loop (specification.md 5.5).
fn execution(names: &[String], analysis: &TestAnalysis, package: &Package, limit: u32) -> TestTask {
    let context = TaskContext {
        requirements: vec![format!("the whole suite passes, within {limit} iterations")],
        acceptance: vec![format!("all tests pass: `{}`", analysis.framework.run_tests)],
        focus_paths: test_files(analysis),
        files_to_test: analysis.files.iter().map(|file| file.file.clone()).collect(),
        depends_on: [names.to_vec(), vec!["IMPL-001.3".to_owned(), "IMPL-001.5".to_owned()]]
            .concat(),
        ..TaskContext::default()
    };
    let flow = FlowControl {
        test_commands: commands(analysis),
        test_fix_cycle: Some(FixCycle {
            max_iterations: limit,
            exit_conditions: vec!["all_tests_pass".into(), "max_iterations_reached".into()],
            auto_revert_on_failure: false,
        }),
        ..FlowControl::default()
    };
    let title = "Run the suite and fix what fails".to_owned();
    let mut task = task("IMPL-002", title, TaskKind::TestFix, context, flow, analysis, package);
    task.meta.max_iterations = Some(limit);
    task
}

fn test_files(analysis: &TestAnalysis) -> Vec<RepoPath> {
    let mut files: Vec<RepoPath> = Vec::new();
    for file in &analysis.files {
        if !files.contains(&file.test_file) {
            files.push(file.test_file.clone());
        }
    }
    files
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".into() } else { format!("{count} files") }
}

/// How the conversation of each task goes on from those before it (specification.md 5.2).
fn conversations(tasks: &mut [TestTask], analysis: &TestAnalysis) {
    let mut children: BTreeMap<String, usize> = BTreeMap::new();
    for parent in tasks.iter().flat_map(|task| &task.context.depends_on) {
        *children.entry(parent.clone()).or_default() += 1;
    }
    let id = |task: &str| format!("{}-{task}", analysis.session_id);
    for task in tasks {
        let own = match task.context.depends_on.as_slice() {
            [] => continue,
            [parent] if children.get(parent) == Some(&1) => {
                ("resume", Some(id(parent)), Vec::new())
            }
            [parent] => ("fork", Some(id(parent)), Vec::new()),
            several => ("merge_fork", None, several.iter().map(|parent| id(parent)).collect()),
        };
        let (strategy, resume_from, merge_from) = own;
        task.cli_execution =
            CliExecution { strategy: strategy.to_owned(), resume_from, merge_from };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::domain::test_plan::analysis::samples;

    #[test]
    fn requirements_are_counted_by_layer() {
        let analysis = samples::analysis(1, 3);
        let list: Vec<&Requirement> = analysis.files[0].requirements.iter().collect();
        assert!(counted(&list[..1]).starts_with("1 requirement: 1 "), "{}", counted(&list[..1]));
        assert!(counted(&list).starts_with("3 requirements: "), "{}", counted(&list));
        assert_eq!((files(1), files(2)), ("1 file".to_owned(), "2 files".to_owned()));
    }

    #[test]
    fn conversations_resume_fork_or_merge() {
        let analysis = samples::analysis(30, 2);
        let package = package();
        let plan = plan(analysis, &package, 10);
        for task in &plan.tasks {
            let expected = match task.context.depends_on.len() {
                0 => "new",
                1 => "resume fork",
                _ => "merge_fork",
            };
            let own = task.cli_execution.strategy.as_str();
            assert!(expected.contains(own), "{}: {own}", task.id);
            assert_eq!(task.cli_execution.merge_from.is_empty(), expected != "merge_fork");
        }
    }

    proptest::proptest! {
        #[test]
        fn groups_are_joined_until_they_fit_and_no_file_is_lost(count in 1usize..30, room in 1usize..12) {
            let analysis = samples::analysis(count, 1);
            let groups: Vec<Group<'_>> = analysis
                .files
                .iter()
                .enumerate()
                .map(|(at, file)| (format!("module-{at}"), vec![file]))
                .collect();
            let joined = few(groups, room);
            proptest::prop_assert!(joined.len() <= room);
            proptest::prop_assert_eq!(joined.iter().map(|group| group.1.len()).sum::<usize>(), count);
        }
    }

    fn package() -> Package {
        use crate::code::names;
        use crate::domain::id::SessionId;
        use crate::role::test_plan::{ExecutedLines, GatherRequest, Survey, gather::assemble};
        let file = RepoPath::parse("a.py").unwrap();
        let texts = [(file.clone(), "def f(x):\n    return x\n".to_owned())].into();
        let survey = Survey::of(vec![file], texts);
        let session = SessionId::parse("WFS-test-x").unwrap();
        let request = GatherRequest {
            session: &session,
            description: "a.py",
            source: None,
            report: None,
            measure: false,
            now: "",
            target: crate::domain::coverage::CoverageTarget::default(),
        };
        let facts = crate::role::test_plan::tests::facts();
        let named = names::find("a.py", &survey.known);
        assemble(&request, &named, ExecutedLines::default(), &facts, &survey).package
    }
}
