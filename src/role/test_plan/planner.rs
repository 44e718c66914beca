//! Phase 4: turns requirements into a plan of 4 to 18 tasks without circular dependencies
//! (specification.md 3.1 phase 4, 4.6, 5).

use std::collections::BTreeMap;

use crate::domain::id::RepoPath;
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::analysis::{FileRequirements, Requirement, TestAnalysis, by_module};
use crate::domain::test_plan::context::ContextPackage;
use crate::domain::test_plan::layer::SubLayer;
use crate::domain::test_plan::task::{
    FlowControl, MOST, OnError, PreStep, REVIEW_TASK, SUITE_TASK, TaskContext, TaskKind, TaskMeta,
    TestPlan, TestTask, VALIDATION_TASK, ordered, planned_steps, sentence, size,
};
use crate::domain::text::count;

use super::framework;

/// Number of tasks in every plan that do not write tests.
const FIXED: usize = 3;

/// Maximum number of summaries of a finished session that the writer is shown.
const SUMMARIES: usize = 10;

/// The files and requirements that one task covers.
struct Share<'a> {
    title: String,
    /// Whether its tests cross module boundaries.
    is_integration: bool,
    work: Vec<(&'a FileRequirements, Vec<&'a Requirement>)>,
}

impl<'a> Share<'a> {
    /// The requirements in accepted layers; files without any are left out.
    fn of(title: String, files: Vec<&'a FileRequirements>, accepts: fn(u8) -> bool) -> Self {
        let own = |file: &'a FileRequirements| {
            let own = file.requirements.iter().filter(|one| accepts(one.layer.layer()));
            (file, own.collect::<Vec<_>>())
        };
        let work = files.into_iter().map(own).filter(|(_, list)| !list.is_empty());
        Self { title, is_integration: false, work: work.collect() }
    }
}

/// Plans the tasks of an analysis. Never fails; [`crate::domain::test_plan::task::problems`]
/// reports what makes the plan impossible to execute.
pub fn plan(analysis: TestAnalysis, package: &ContextPackage, max_iterations: u32) -> TestPlan {
    let shares = shares(&analysis);
    let writer = |index: usize| match index {
        0 => "IMPL-001".to_owned(),
        _ => format!("IMPL-{:03}", index + 2),
    };
    let mut names: Vec<String> = (0..shares.len()).map(writer).collect();
    let planner = Planner { analysis: &analysis, package };
    let mut tasks: Vec<TestTask> = Vec::new();
    for (index, (share, name)) in shares.iter().zip(&names).enumerate() {
        // Integration tests are written after the unit tests of their files.
        let needs = if share.is_integration {
            names.get(..index).unwrap_or_default().to_vec()
        } else {
            Vec::new()
        };
        tasks.push(planner.writing(name, share, needs));
    }
    tasks.push(planner.validation(names.clone()));
    names.push(VALIDATION_TASK.to_owned());
    tasks.push(planner.review(names.clone()));
    names.push(REVIEW_TASK.to_owned());
    tasks.push(planner.execution(names, max_iterations));
    let order = ordered(&tasks).unwrap_or_default();
    tasks.sort_by_key(|task| order.iter().position(|id| *id == task.id));
    TestPlan { analysis, tasks }
}

/// Divides the requirements into tasks: one for few files, by module for many, and integration
/// tests apart from unit tests unless there are few files.
fn shares(analysis: &TestAnalysis) -> Vec<Share<'_>> {
    let files = &analysis.files;
    let apart = size(files.len()) != "simple";
    let modules = by_module(files).into_iter();
    let modules = modules.map(|(name, files)| (name.to_owned(), files)).collect();
    let units: fn(u8) -> bool = if apart { |layer| layer < 2 } else { |_| true };
    let mut shares: Vec<Share<'_>> = few(modules, MOST - FIXED - usize::from(apart))
        .into_iter()
        .map(|(module, files)| {
            let of = if module.is_empty() { module } else { format!(" of {module}") };
            Share::of(format!("Write unit tests{of}"), files, units)
        })
        .collect();
    if apart {
        let crossing = |layer| layer >= 2;
        let share = Share::of("Integration tests".to_owned(), files.iter().collect(), crossing);
        shares.push(Share { is_integration: true, ..share });
    }
    shares.retain(|share| !share.work.is_empty());
    shares
}

type Group<'a> = (String, Vec<&'a FileRequirements>);

/// Merges the smallest groups until there are at most `room`.
fn few(mut groups: Vec<Group<'_>>, room: usize) -> Vec<Group<'_>> {
    let weight =
        |group: &Group<'_>| -> usize { group.1.iter().map(|file| file.requirements.len()).sum() };
    while groups.len() > room.max(1) {
        groups.sort_by(|a, b| weight(b).cmp(&weight(a)).then(a.0.cmp(&b.0)));
        let Some((name, files)) = groups.pop() else { break };
        if let Some(last) = groups.last_mut() {
            if !last.0.ends_with(" and others") {
                last.0.push_str(" and others");
            }
            last.1.extend(files);
        } else {
            groups.push((name, files));
            break;
        }
    }
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    groups
}

/// Builds the individual tasks of a plan.
struct Planner<'a> {
    analysis: &'a TestAnalysis,
    package: &'a ContextPackage,
}

impl Planner<'_> {
    fn task(&self, (id, title): (&str, &str), kind: TaskKind, context: TaskContext) -> TestTask {
        let own = &self.analysis.framework;
        TestTask {
            id: id.to_owned(),
            title: title.to_owned(),
            status: TaskStatus::Pending,
            status_history: Vec::new(),
            context_package_path: self.package.file().to_owned(),
            meta: TaskMeta {
                kind,
                agent: kind.agent().to_owned(),
                test_framework: own.framework.to_string(),
                project_type: self.analysis.project_type.clone(),
                coverage_target: self.analysis.coverage_target.to_string(),
                source_session: self.package.metadata.source_session_id.clone(),
                max_iterations: None,
            },
            context,
            flow_control: FlowControl {
                test_commands: own.commands.clone(),
                ..FlowControl::default()
            },
        }
    }

    /// The acceptance criterion for coverage, if a tool can measure it.
    fn coverage(&self) -> Option<String> {
        let (target, run) =
            (self.analysis.coverage_target, &self.analysis.framework.commands.run_coverage);
        (!run.is_empty()).then(|| format!("coverage reaches {}: `{run}`", target.words()))
    }

    /// Builds a task that writes tests (specification.md 5.3).
    fn writing(&self, id: &str, share: &Share<'_>, depends_on: Vec<String>) -> TestTask {
        let framework = &self.analysis.framework;
        let test_files = distinct(share.work.iter().map(|(file, _)| &file.test_file));
        let mut requirements = Vec::new();
        for (file, list) in &share.work {
            let own = list.iter().map(|one| sentence(one));
            requirements.push(format!("{}: {}", file.file, counted(list)));
            requirements.extend(own);
        }
        let shown = test_files.iter().map(|test_file| {
            let own = share.work.iter().filter(|(file, _)| file.test_file == *test_file);
            let requirements = count(own.map(|(_, list)| list.len()).sum::<usize>(), "requirement");
            let run = framework::run_specific(framework, test_file);
            format!("{test_file} shows {requirements} and passes: `{run}`")
        });
        let files: Vec<RepoPath> = share.work.iter().map(|(file, _)| file.file.clone()).collect();
        let all = || share.work.iter().flat_map(|(_, list)| list);
        let context = TaskContext {
            requirements,
            requirement_ids: all().map(|one| one.id.clone()).collect(),
            acceptance: shown.chain(self.coverage()).collect(),
            focus_paths: [files.clone(), test_files.clone()].concat(),
            files_to_test: files,
            depends_on,
        };
        let flow = FlowControl {
            pre_analysis: self.pre_analysis(),
            implementation_approach: planned_steps(all().copied()),
            target_files: test_files,
            reusable_test_tools: framework.conventions.fixtures.clone(),
            test_commands: framework.commands.clone(),
        };
        let title = format!("{} ({})", share.title, count(all().count(), "requirement"));
        TestTask { flow_control: flow, ..self.task((id, &title), TaskKind::TestGen, context) }
    }

    /// What the writer is shown besides the sources and the requirements: what was implemented, in
    /// session mode. A person may add more.
    fn pre_analysis(&self) -> Vec<PreStep> {
        let own = self.package.source_context.implementation_summaries.iter().take(SUMMARIES);
        let commands: Vec<String> = own.map(|one| format!("Read({})", one.summary_path)).collect();
        let step = PreStep {
            step: "load_summaries".to_owned(),
            action: "What was implemented".to_owned(),
            commands,
            on_error: OnError::Continue,
        };
        Some(step).filter(|step| !step.commands.is_empty()).into_iter().collect()
    }

    /// Builds the task of the code check (specification.md 5.4).
    fn validation(&self, depends_on: Vec<String>) -> TestTask {
        let test_files = self.test_files();
        let files = count(test_files.len(), "file");
        let context = TaskContext {
            requirements: vec![format!(
                "{files} of generated tests: 0 critical, at most 3 errors, at most 10 warnings"
            )],
            acceptance: vec!["0 critical findings and 0 compile errors: `regreen validate`".into()],
            focus_paths: test_files,
            depends_on,
            ..TaskContext::default()
        };
        let names = (VALIDATION_TASK, "Validate the generated code");
        self.task(names, TaskKind::CodeValidation, context)
    }

    /// Builds the task of the test review (specification.md 5.4).
    fn review(&self, depends_on: Vec<String>) -> TestTask {
        let analysis = self.analysis;
        let layers = analysis.by_layer();
        let layers: Vec<String> =
            layers.iter().map(|(layer, count)| format!("{count} {layer}")).collect();
        let run = &analysis.framework.commands.run_tests;
        let clean = format!("0 critical anti-patterns in the new tests: `{run}`");
        let shown = format!("{} requirements are shown: {}", analysis.total(), layers.join(", "));
        let context = TaskContext {
            requirements: vec![shown],
            acceptance: std::iter::once(clean).chain(self.coverage()).collect(),
            ..self.about_everything(depends_on)
        };
        let names = (REVIEW_TASK, "Review the quality of the tests");
        self.task(names, TaskKind::TestQualityReview, context)
    }

    /// Builds the task that runs the suite and the fix loop (specification.md 5.5).
    fn execution(&self, depends_on: Vec<String>, limit: u32) -> TestTask {
        let run = &self.analysis.framework.commands.run_tests;
        let context = TaskContext {
            requirements: vec![format!("the whole suite passes, within {limit} iterations")],
            acceptance: vec![format!("all tests pass: `{run}`")],
            ..self.about_everything(depends_on)
        };
        let names = (SUITE_TASK, "Run the suite and fix what fails");
        let mut task = self.task(names, TaskKind::TestFix, context);
        task.meta.max_iterations = Some(limit);
        task
    }

    fn about_everything(&self, depends_on: Vec<String>) -> TaskContext {
        TaskContext {
            focus_paths: self.test_files(),
            files_to_test: self.analysis.files.iter().map(|file| file.file.clone()).collect(),
            depends_on,
            ..TaskContext::default()
        }
    }

    fn test_files(&self) -> Vec<RepoPath> {
        distinct(self.analysis.files.iter().map(|file| &file.test_file))
    }
}

/// Each value once, in order.
pub fn distinct<'a, T: Clone + PartialEq + 'a>(all: impl IntoIterator<Item = &'a T>) -> Vec<T> {
    let mut list: Vec<T> = Vec::new();
    for one in all {
        if !list.contains(one) {
            list.push(one.clone());
        }
    }
    list
}

/// The number of requirements per layer.
fn by_layer<'a>(list: impl IntoIterator<Item = &'a &'a Requirement>) -> BTreeMap<SubLayer, u32> {
    let mut layers = BTreeMap::new();
    for one in list {
        *layers.entry(one.layer).or_default() += 1;
    }
    layers
}

/// Formats the numbers of requirements: `12 requirements: 4 L1.1, 3 L1.2, …`.
fn counted(list: &[&Requirement]) -> String {
    let parts: Vec<String> =
        by_layer(list).iter().map(|(layer, count)| format!("{count} {layer}")).collect();
    format!("{}: {}", count(list.len(), "requirement"), parts.join(", "))
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
        for (count, files) in [(1, "1 file of"), (2, "2 files of")] {
            let analysis = samples::analysis(count, 1);
            let validation =
                Planner { analysis: &analysis, package: &package() }.validation(vec![]);
            let text = &validation.context.requirements[0];
            assert!(text.starts_with(files), "{text}");
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

    fn package() -> ContextPackage {
        use crate::code::description_match;
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
        let named = description_match::find("a.py", &survey.known);
        assemble(&request, &named, ExecutedLines::default(), &facts, &survey).package
    }
}
