//! Explores a module: its structure, dependencies, boundaries, data flows, tests and risks. Needs no
//! model (specification.md 3.2, F-133).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::code::behaviour::{self, Behaviour};
use crate::code::conventions;
use crate::code::crossing_calls::CallIndex;
use crate::code::external_services::external_services;
use crate::code::language::Language;
use crate::code::parallel;
use crate::code::syntax;
use crate::code::test_paths::{has_test_name, is_test};
use crate::domain::coverage::Measured;
use crate::domain::explanation::LineOrigin;
use crate::domain::id::{CommitId, RepoPath, TestId, TreeId};
use crate::domain::integration::Phase;
use crate::domain::integration::exploration::{
    Dependencies, ExistingTests, Exploration, ExplorationMetadata, IntegrationPoint,
    ModuleStructure, RiskArea, RiskLevel, TestTools,
};
use crate::domain::integration::records::{Assumption, AssumptionStatus, Decision};
use crate::domain::session::files::SUITE_LOG;
use crate::domain::test::{Status, TestCase};
use crate::domain::text::count;
use crate::effect::{CandidateRunnerRequest, EffectError, Effects, Speed, Trace, end_before};
use crate::role::test_plan::Survey;
use crate::role::{existing_tests, run_existing};

use super::boundaries::{find_boundaries, mark_covered, mark_crossed};
use super::contract::describe_contract;
use super::data_flows::find_flows;
use super::module_choice::{ModuleError, choose_files};

/// Existing tests whose coverage is measured at most.
const MEASURED: usize = 400;

/// How much longer than a plain run the measured one may take, and what it may in any case.
const SLOWDOWN: u32 = 3;
const SLOWEST: Duration = Duration::from_mins(2);

/// Uses of external services that are listed.
const SERVICES: usize = 30;

/// A number of importers from which a break of a file is a high risk.
const MANY_IMPORTERS: usize = 3;

/// What to explore.
#[derive(Clone, Copy, Debug)]
pub struct ExploreRequest<'a> {
    /// A path, or words that name the module.
    pub module: &'a str,
    pub tree: &'a TreeId,
    pub jobs: usize,
    /// Whether nothing is written, so that a suite that cannot run does no harm.
    pub only_designs: bool,
}

/// What was found, what was assumed, and the choice of the focus.
#[derive(Clone, Debug)]
pub struct Explored {
    pub exploration: Exploration,
    pub assumptions: Vec<Assumption>,
    pub decisions: Vec<Decision>,
}

/// Why exploring failed.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    #[error(transparent)]
    Module(#[from] ModuleError),
    #[error(transparent)]
    Effect(#[from] EffectError),
}

/// Explores the module that the request names; runs the suite once to see which boundaries existing
/// tests cross.
pub async fn explore_module(
    request: &ExploreRequest<'_>,
    fx: &Effects<'_>,
) -> Result<Explored, ExploreError> {
    let survey = Survey::read(request.tree, fx).await.map_err(EffectError::from)?;
    let module = choose_files(request.module, &survey)?;
    refuse_broken(&module, &survey)?;
    let index = CallIndex::from_files(&survey.texts);
    let mut points = find_boundaries(&module, &index, &survey);
    let functions = read_functions(&points, &module, &survey);
    for point in &mut points {
        let called = functions.get(&point.to).map_or(&[][..], Vec::as_slice);
        point.calls.retain(|call| has_own_code(&call.callee, called));
        point.contract = describe_contract(point, called);
    }
    points.retain(|point| !point.calls.is_empty());
    if points.is_empty() {
        return Err(ModuleError::Isolated { module: request.module.to_owned() }.into());
    }
    let cases = measure_crossings(&mut points, request, fx).await?;
    let changes = find_recent_changes(&points, fx).await;
    points.sort_by_key(|point| rank(point, &survey, changes.contains_key(&point.boundary_name())));
    let exploration = Exploration {
        module_structure: describe_structure(&module, &points, &functions, &survey),
        dependencies: describe_dependencies(&module, &points, &survey),
        data_flows: find_flows(&points, &functions),
        existing_tests: describe_tests(&points, &survey, fx),
        test_framework: describe_tools(&survey, fx),
        risk_areas: points
            .iter()
            .map(|point| describe_risk(point, &survey, changes.get(&point.boundary_name())))
            .collect(),
        metadata: ExplorationMetadata {
            files_analyzed: u32::try_from(survey.texts.len()).unwrap_or(u32::MAX),
            timestamp: fx.clock.now(),
        },
        integration_points: points,
    };
    let assumptions = assume(&exploration, &cases);
    let decisions = vec![choose_focus(&exploration)];
    Ok(Explored { exploration, assumptions, decisions })
}

/// Runs the suite and marks the boundaries that its tests cross, as far as that can be measured in time.
async fn measure_crossings(
    points: &mut [IntegrationPoint],
    request: &ExploreRequest<'_>,
    fx: &Effects<'_>,
) -> Result<Vec<TestCase>, EffectError> {
    fx.worktree.checkout(request.tree).await?;
    fx.step("running the suite");
    let from: BTreeSet<RepoPath> = points.iter().map(|point| point.from.clone()).collect();
    let began = fx.clock.elapsed();
    let cases = if request.only_designs {
        existing_tests(request.tree, fx, SUITE_LOG).await?
    } else {
        run_existing(request.tree, fx, SUITE_LOG).await?
    };
    let took = fx.clock.elapsed().saturating_sub(began);
    fx.step("measuring which boundaries its tests cross");
    let deadline = fx.clock.elapsed() + SLOWEST + took * SLOWDOWN;
    let measured = fx.suite.coverage(fx.worktree.root(), &from);
    if let Some(Measured::Lines { files, .. } | Measured::NoTests { files, .. }) =
        end_before(fx.clock, deadline, measured).await
    {
        mark_covered(points, &files);
    }
    // Running each test alone tells more, and takes longer.
    if points.iter().any(|point| point.crossed.is_none())
        && let Some(traces) = trace_passing(&cases, request.jobs, fx).await?
    {
        mark_crossed(points, &traces);
    }
    Ok(cases)
}

/// Fails at a file of the module that does not parse: what it calls is not known.
fn refuse_broken(module: &BTreeSet<RepoPath>, survey: &Survey) -> Result<(), ModuleError> {
    for file in module {
        let language = Language::of(file);
        let error = language.and_then(|language| syntax::first_error(language, survey.text(file)));
        if let Some(error) = error {
            return Err(ModuleError::Syntax { file: file.clone(), line: error.line });
        }
    }
    Ok(())
}

/// Whether a call runs code of the other side: one that makes an object of a class without functions,
/// such as most exceptions, runs none.
fn has_own_code(callee: &str, called: &[Behaviour]) -> bool {
    let is_class = callee.starts_with(char::is_uppercase) && !callee.contains('.');
    let is_member = |one: &Behaviour| {
        one.name == callee
            || one.name.strip_prefix(callee).is_some_and(|rest| rest.starts_with('.'))
    };
    !is_class || called.iter().any(is_member)
}

/// The functions of the module and of both sides of its boundaries.
fn read_functions(
    points: &[IntegrationPoint],
    module: &BTreeSet<RepoPath>,
    survey: &Survey,
) -> BTreeMap<RepoPath, Vec<Behaviour>> {
    let sides = points.iter().flat_map(|point| [&point.from, &point.to]);
    let files: BTreeSet<&RepoPath> = sides.chain(module).collect();
    let files: Vec<&RepoPath> = files.into_iter().collect();
    let read = parallel::map(&files, |file| {
        let language = Language::of(file);
        let functions = language.map(|language| behaviour::read(language, survey.text(file)));
        ((*file).clone(), functions.unwrap_or_default())
    });
    read.into_iter().collect()
}

/// What each of the passing tests executes; `None` where that takes too long or is not known.
async fn trace_passing(
    cases: &[TestCase],
    jobs: usize,
    fx: &Effects<'_>,
) -> Result<Option<Vec<Trace>>, EffectError> {
    let passing: Vec<TestId> = cases
        .iter()
        .filter(|case| case.status == Status::Passed)
        .map(|case| case.id.clone())
        .collect();
    if passing.is_empty() || passing.len() > MEASURED {
        return Ok(None);
    }
    let request = CandidateRunnerRequest { root: fx.worktree.root(), failing: &[], jobs };
    let runner = fx.suite.open_candidate_runner(&request).await?;
    if runner.speed() != Speed::Warm {
        return Ok(None);
    }
    let traces = runner.trace(&passing).await?;
    Ok(traces.iter().any(|trace| !trace.lines.is_empty()).then_some(traces))
}

/// The newest commit of the recent history that changed the calls of each boundary.
async fn find_recent_changes(
    points: &[IntegrationPoint],
    fx: &Effects<'_>,
) -> BTreeMap<String, CommitId> {
    let mut found = BTreeMap::new();
    for point in points {
        let (Some(first), Some(last)) = (point.calls.first(), point.calls.last()) else { continue };
        let lines = first.line..=last.line.max(first.line);
        // A history that cannot be read, as in a shallow clone, tells nothing.
        if let Ok(LineOrigin::Commit { id, .. }) =
            fx.worktree.last_change(&point.from, lines, None).await
        {
            found.insert(point.boundary_name(), id);
        }
    }
    found
}

/// Most risky first: not crossed by a test, then changed of late, then with many importers and calls.
fn rank(point: &IntegrationPoint, survey: &Survey, is_changed: bool) -> impl Ord + use<> {
    let weight = importers(&point.to, survey) * 2 + point.calls.len();
    (point.is_crossed(), Reverse(is_changed), Reverse(weight), point.boundary_name())
}

/// How many sources import a file.
fn importers(file: &RepoPath, survey: &Survey) -> usize {
    survey.graph.importers_of(file).filter(|one| !is_test(one)).count()
}

fn describe_structure(
    module: &BTreeSet<RepoPath>,
    points: &[IntegrationPoint],
    functions: &BTreeMap<RepoPath, Vec<Behaviour>>,
    survey: &Survey,
) -> ModuleStructure {
    let entered: BTreeSet<&RepoPath> = points
        .iter()
        .filter(|point| !module.contains(&point.from))
        .map(|point| &point.to)
        .collect();
    let is_entry = |file: &&RepoPath| entered.contains(file) || importers(file, survey) == 0;
    let (entries, internal): (Vec<&RepoPath>, Vec<&RepoPath>) = module.iter().partition(is_entry);
    let public = module.iter().flat_map(|file| {
        let own = functions.get(file).into_iter().flatten().filter(|one| one.is_public);
        own.map(move |one| format!("{file}: {}", one.name))
    });
    ModuleStructure {
        entry_points: entries.iter().map(ToString::to_string).collect(),
        public_apis: public.collect(),
        internal_modules: internal.iter().map(ToString::to_string).collect(),
    }
}

fn describe_dependencies(
    module: &BTreeSet<RepoPath>,
    points: &[IntegrationPoint],
    survey: &Survey,
) -> Dependencies {
    let outside = |file: &&RepoPath| !module.contains(*file);
    let names = |files: BTreeSet<&RepoPath>| files.into_iter().map(ToString::to_string).collect();
    let sides = points.iter().flat_map(|point| [&point.from, &point.to]);
    let files: BTreeSet<&RepoPath> = sides.chain(module).collect();
    let mut services = Vec::new();
    for file in files {
        let Some(language) = Language::of(file) else { continue };
        let mut known = BTreeSet::new();
        for used in external_services(language, survey.text(file)) {
            if known.insert(used.service.to_string()) {
                let (service, evidence, line) = (used.service, used.evidence, used.line);
                services.push(format!("{service}: {evidence} in {file}:{line}"));
            }
        }
    }
    services.truncate(SERVICES);
    Dependencies {
        upstream: names(points.iter().map(|point| &point.from).filter(outside).collect()),
        downstream: names(points.iter().map(|point| &point.to).filter(outside).collect()),
        external_services: services,
    }
}

fn describe_tests(points: &[IntegrationPoint], survey: &Survey, fx: &Effects<'_>) -> ExistingTests {
    let habits = conventions::read(fx.suite.facts().framework, &survey.tests);
    let crosses = |test: &&RepoPath| {
        let imported: BTreeSet<&RepoPath> = survey.graph.imports_of(test).collect();
        points.iter().any(|point| imported.contains(&point.from) && imported.contains(&point.to))
    };
    let helpers = survey.tests.keys().filter(|file| {
        Language::of(file).is_some() && !has_test_name(file) && file.file_name() != "__init__.py"
    });
    let patterns = [
        habits.file_naming.clone(),
        habits.test_structure.clone(),
        habits.setup_teardown.clone(),
        habits.assertion_style.first().cloned().unwrap_or_default(),
        habits.parametrisation.first().cloned().unwrap_or_default(),
    ];
    let mocking = Some(habits.mocking.clone()).filter(|name| !name.is_empty());
    ExistingTests {
        test_files: survey.tests.keys().filter(crosses).map(ToString::to_string).collect(),
        patterns: patterns.into_iter().filter(|one| !one.is_empty()).collect(),
        utilities: helpers.map(ToString::to_string).chain(habits.fixtures).collect(),
        mocking_conventions: mocking.into_iter().collect(),
    }
}

fn describe_tools(survey: &Survey, fx: &Effects<'_>) -> TestTools {
    let facts = fx.suite.facts();
    let habits = conventions::read(facts.framework, &survey.tests);
    TestTools {
        runner: facts.framework.to_string(),
        assertion_lib: habits.assertion_style.first().cloned().unwrap_or_default(),
        mock_lib: habits.mocking,
    }
}

fn describe_risk(point: &IntegrationPoint, survey: &Survey, change: Option<&CommitId>) -> RiskArea {
    let importers = importers(&point.to, survey);
    let used = format!("{} uses {}", count(importers, "file"), point.to);
    let used = if importers == 1 { used } else { used.replace(" uses ", " use ") };
    let untested = match point.crossed {
        None => "whether a test crosses it could not be measured",
        Some(_) => "no test crosses it",
    };
    let (reason, priority) = match (point.is_crossed(), point.crossed_by.len()) {
        (false, _) if importers >= MANY_IMPORTERS => {
            (format!("{untested}, and {used}"), RiskLevel::High)
        }
        (false, _) => (untested.to_owned(), RiskLevel::Medium),
        (true, 0) => ("the suite crosses it".to_owned(), RiskLevel::Low),
        (true, 1) => ("1 test crosses it".to_owned(), RiskLevel::Low),
        (true, tests) => (format!("{tests} tests cross it"), RiskLevel::Low),
    };
    let (reason, priority) = match change {
        Some(commit) => (
            format!("{reason}; {} changed its calls", commit.short()),
            if priority == RiskLevel::Low { RiskLevel::Medium } else { RiskLevel::High },
        ),
        None => (reason, priority),
    };
    RiskArea { area: point.boundary_name(), reason, priority }
}

/// What is taken to be true before a test has shown it: that the suite is green, and that each
/// boundary is crossed by a call.
fn assume(exploration: &Exploration, cases: &[TestCase]) -> Vec<Assumption> {
    let failing = cases.iter().filter(|case| case.status == Status::Failed).count();
    let passing = cases.iter().filter(|case| case.status == Status::Passed).count();
    let status = match (passing, failing) {
        (0, 0) => AssumptionStatus::Open,
        (passing, 0) => {
            AssumptionStatus::Confirmed { evidence: format!("{} pass", count(passing, "test")) }
        }
        (passing, failing) => AssumptionStatus::Corrected {
            new: format!("{} already", fail_phrase(failing)),
            iteration: 0,
            evidence: format!("{passing} pass"),
            impact: "only the tests that passed count as before".into(),
        },
    };
    let reached = exploration.integration_points.iter().filter_map(|point| {
        let call = point.calls.first()?;
        let text = format!("a public function of {} reaches code of {}", point.from, point.to);
        Some(Assumption::open(text, format!("{}:{} calls it", point.from, call.line)))
    });
    std::iter::once(Assumption::of_suite(status)).chain(reached).collect()
}

fn fail_phrase(failing: usize) -> String {
    let verb = if failing == 1 { "fails" } else { "fail" };
    format!("{} {verb}", count(failing, "test"))
}

fn choose_focus(exploration: &Exploration) -> Decision {
    let points = &exploration.integration_points;
    let first = points.first().map(IntegrationPoint::boundary_name).unwrap_or_default();
    let open = points.iter().filter(|point| !point.is_crossed()).count();
    let boundaries =
        if points.len() == 1 { "boundary".into() } else { format!("{} boundaries", points.len()) };
    Decision {
        phase: Phase::Explored,
        iteration: 0,
        description: "the order in which boundaries are tested".into(),
        context: if !exploration.is_measured() {
            format!("the {boundaries} of the module; which of them tests cross is not known")
        } else if open == 0 {
            format!("the {boundaries} of the module, each crossed by a test")
        } else {
            format!("the {boundaries} of the module, {open} of which no test crosses")
        },
        options: vec!["by risk".into(), "by file".into()],
        chosen: "by risk".into(),
        reason: "what no test crosses and many files use breaks unseen".into(),
        impact: format!("{first} comes first"),
    }
}
