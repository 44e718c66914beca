//! Develops the tests of each boundary: calls public functions of its upstream side that reach the
//! downstream side, and records what they do (specification.md 3.2, F-136).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::code::behaviour;
use crate::code::conventions;
use crate::code::language::Language;
use crate::domain::characterisation_report::CharacterisationReport;
use crate::domain::event::Event;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::integration::design::Scenario;
use crate::domain::integration::exploration::IntegrationPoint;
use crate::domain::integration::records::{Assumption, AssumptionStatus};
use crate::domain::integration::{Integration, TestFile, TestInventory, Untested};
use crate::domain::provider::EMBEDDED;
use crate::domain::test_plan::written_tests::WrittenTests;
use crate::domain::text::{count, one_line};
use crate::effect::{Call, EffectError, Effects, Observer, Trace};
use crate::role::ask::{Budgeted, ProviderChain};
use crate::role::characterise::{Crossing, Gap, GenerateRequest, Generated, Missed, characterise};
use crate::role::test_plan::Survey;
use crate::role::test_writer::WriteOutcome;

use super::boundaries::crossing_of;
use super::boundary_question::{BoundaryTests, BoundaryWriter, name_author};

use super::data_flows::{find_mentioning, find_reaching};
use super::test_place::{DOCUMENTED, place_tests};

/// The shortest time worth beginning a boundary with.
const LEAST: Duration = Duration::from_secs(10);

/// Why a boundary has no test when the time is over.
const NO_TIME: &str = "the time was used up before it was its turn";

/// Why a boundary has no test where no reason is known.
const NO_CALL: &str = "no call from a test reached the other side";

/// Reasons of one boundary that are recorded of answers of models, and characters of each.
const REASONS: (usize, usize) = (12, 300);

/// What to develop, and until when.
#[derive(Clone, Copy)]
pub struct DevelopRequest<'a> {
    /// The explored and designed session.
    pub state: &'a Integration,
    pub jobs: usize,
    /// The deadline, on the clock of the effects.
    pub until: Duration,
    /// The providers that may write tests; the embedded engine writes where they do not.
    pub providers: &'a ProviderChain,
}

/// The tests that were written.
#[derive(Clone, Debug)]
pub struct Developed {
    pub inventory: TestInventory,
    /// The sources with the new tests.
    pub tree: TreeId,
    /// The assumptions, with what the calls showed.
    pub assumptions: Vec<Assumption>,
}

/// Writes tests boundary by boundary, in the order of the design. Asking models does not take the time
/// of the embedded engine.
pub async fn develop_tests(
    request: &DevelopRequest<'_>,
    observer: &dyn Observer,
    fx: &Effects<'_>,
) -> Result<Budgeted<Developed>, EffectError> {
    let survey = Survey::read(&request.state.checkpoint.tree, fx).await?;
    let models = (request.state, request.jobs);
    let mut development = Development {
        writer: BoundaryWriter::open(models, &survey, request.providers, fx).await?,
        until: request.until,
        taken: Vec::new(),
        request,
        survey: &survey,
        fx,
        tree: request.state.checkpoint.tree.clone(),
        inventory: TestInventory { timestamp: fx.clock.now(), ..TestInventory::default() },
        assumptions: request.state.assumptions.clone(),
        wrong: Vec::new(),
        traces: BTreeMap::new(),
    };
    let points = ordered_points(request.state);
    let total = points.len();
    let mut again = Vec::new();
    for (done, (scenario, point)) in points.into_iter().enumerate() {
        let unit = "boundaries".to_owned();
        let (now, all) = (u64::try_from(done).unwrap_or_default(), u64::try_from(total).ok());
        fx.screen.show(&Event::Progress { done: now, total: all, unit });
        let left = development.until.saturating_sub(fx.clock.elapsed());
        if left < LEAST {
            development.leave_out(point, NO_TIME.to_owned());
            continue;
        }
        let turns = u32::try_from(total - done).unwrap_or(u32::MAX).max(1);
        let share = (left / turns).max(LEAST).min(left);
        let began = (scenario, point);
        if let Budgeted::OutOfBudget(reason) = development.cover(began, share, observer).await? {
            return Ok(Budgeted::OutOfBudget(reason));
        }
        again.push(began);
    }
    for (scenario, point) in again {
        // A boundary whose turn came later may have shown that code is wrong which these tests hold.
        let left = development.until.saturating_sub(fx.clock.elapsed()).max(LEAST);
        if development.forget_wrong_tests(point).await?
            && let Budgeted::OutOfBudget(reason) =
                development.cover((scenario, point), left, observer).await?
        {
            return Ok(Budgeted::OutOfBudget(reason));
        }
    }
    let Development { tree, inventory, assumptions, .. } = development;
    Ok(Budgeted::Done(Developed { inventory: inventory.with_counts(), tree, assumptions }))
}

/// The boundaries with their scenarios, in the order of the design.
fn ordered_points(state: &Integration) -> Vec<(&Scenario, &IntegrationPoint)> {
    let points = state.exploration.iter().flat_map(|one| &one.integration_points);
    let points: Vec<&IntegrationPoint> = points.collect();
    let Some(design) = &state.test_design else { return Vec::new() };
    let scenario = |id: &String| {
        let scenario = design.integration_scenarios.iter().find(|one| one.id == *id)?;
        let point = points.iter().find(|point| point.boundary_name() == scenario.boundary)?;
        Some((scenario, *point))
    };
    design.execution_order.iter().filter_map(scenario).collect()
}

/// The tests so far.
pub(super) struct Development<'a> {
    request: &'a DevelopRequest<'a>,
    /// The models that are asked; `None` without any.
    writer: Option<BoundaryWriter<'a>>,
    /// The deadline of the embedded engine.
    until: Duration,
    /// Calls that new tests make.
    taken: Vec<Call>,
    pub(super) survey: &'a Survey,
    pub(super) fx: &'a Effects<'a>,
    pub(super) tree: TreeId,
    pub(super) inventory: TestInventory,
    pub(super) assumptions: Vec<Assumption>,
    /// Functions that documentation contradicts, with their lines.
    pub(super) wrong: Vec<(RepoPath, RangeInclusive<u32>)>,
    /// What the tests of each boundary ran.
    pub(super) traces: BTreeMap<String, Vec<Trace>>,
}

impl Development<'_> {
    /// Writes the tests of one boundary: models and the embedded engine in the order of the chain, until
    /// one of them has written a file. The engine has `share` of the time.
    async fn cover(
        &mut self,
        (scenario, point): (&Scenario, &IntegrationPoint),
        share: Duration,
        observer: &dyn Observer,
    ) -> Result<Budgeted<()>, EffectError> {
        self.fx.step(&format!("writing tests of {}", point.boundary_name()));
        let files = self.fx.worktree.files(&self.tree).await?;
        let framework = self.fx.suite.facts().framework;
        let habits = conventions::read(framework, &self.survey.tests);
        let place = |suffix| {
            let sides = (&point.from, &point.to, suffix);
            place_tests(sides, framework, &habits, &files)
        };
        let (place, documented) = (place(""), place(DOCUMENTED));
        let models_first = self.writer.as_ref().is_some_and(|one| one.is_first(self.fx));
        let mut obstacle = None;
        for asks_models in [models_first, !models_first] {
            let written = if asks_models {
                match self.ask_models((scenario, point), place.as_ref()).await? {
                    Budgeted::Done(written) => written,
                    Budgeted::OutOfBudget(reason) => return Ok(Budgeted::OutOfBudget(reason)),
                }
            } else {
                let places = (place.clone(), documented.clone());
                let reason = self.run_engine((scenario, point), places, share, observer);
                obstacle = reason.await?;
                obstacle.is_none()
            };
            if written {
                return Ok(Budgeted::Done(()));
            }
        }
        let reason = obstacle.unwrap_or_else(|| NO_CALL.to_owned());
        self.leave_out(point, reason);
        Ok(Budgeted::Done(()))
    }

    /// Asks models for the tests of one boundary. Returns whether one has written them.
    async fn ask_models(
        &mut self,
        (scenario, point): (&Scenario, &IntegrationPoint),
        place: Option<&RepoPath>,
    ) -> Result<Budgeted<bool>, EffectError> {
        let callers = self.callers(point);
        let (Some(writer), Some(place)) = (self.writer.as_mut(), place) else {
            return Ok(Budgeted::Done(false));
        };
        let began = self.fx.clock.elapsed();
        let asked = BoundaryTests { scenario, point, callers: &callers, place };
        let outcome = writer.write(asked, &self.tree, self.fx).await?;
        self.until += self.fx.clock.elapsed().saturating_sub(began);
        let (written, tree) = match outcome {
            WriteOutcome::Wrote(written, tree) => (*written, tree),
            WriteOutcome::OutOfBudget(reason) => return Ok(Budgeted::OutOfBudget(reason)),
        };
        let WrittenTests { file, author, tests, findings, dropped, .. } = written;
        let (most, length) = REASONS;
        let reasons: Vec<String> =
            dropped.iter().take(most).map(|reason| one_line(reason, length)).collect();
        let dropped_of = |reason: &String| format!("{}: dropped: {reason}", point.boundary_name());
        self.inventory.authorship.extend(reasons.iter().map(dropped_of));
        let Some(path) = file else {
            let reason = reasons.last().map_or("no test was kept", String::as_str);
            let (name, engine) = (point.boundary_name(), name_author(EMBEDDED));
            let text = if self.writer.as_ref().is_some_and(|one| one.is_first(self.fx)) {
                format!("{name}: no model wrote tests, which is left to {engine}: {reason}")
            } else {
                format!("{name}: neither {engine} nor a model wrote tests: {reason}")
            };
            self.inventory.authorship.push(text.clone());
            self.fx.screen.show(&Event::Notice { text });
            return Ok(Budgeted::Done(false));
        };
        let failing = findings.iter().filter_map(|finding| finding.test.clone());
        let tests: Vec<TestId> = tests.into_iter().chain(failing).collect();
        let found =
            findings.iter().map(|one| format!("{one} ({})", one_line(&one.evidence, length)));
        self.inventory.findings.extend(found);
        self.add_file(path, (scenario, point), tests, author);
        self.tree = tree;
        Ok(Budgeted::Done(true))
    }

    /// Has the embedded engine write the tests of one boundary. Returns why there are none.
    async fn run_engine(
        &mut self,
        (scenario, point): (&Scenario, &IntegrationPoint),
        (place, documented): (Option<RepoPath>, Option<RepoPath>),
        share: Duration,
        observer: &dyn Observer,
    ) -> Result<Option<String>, EffectError> {
        let gap = Gap {
            file: point.from.clone(),
            functions: self.callers(point),
            test_file: place,
            crossing: Some(Crossing {
                documented,
                taken: self.taken.clone(),
                avoided: self.wrong_elsewhere(&point.from),
                ..crossing_of(point)
            }),
        };
        let generate = GenerateRequest {
            tree: &self.tree.clone(),
            gaps: &[gap],
            description: "",
            before: &[],
            threshold: 0,
            jobs: self.request.jobs,
            until: self.fx.clock.elapsed() + share,
            held: &BTreeMap::new(),
            missed: &Missed::new(),
        };
        let Generated { tree, report, edits, traces, calls, are_all_errors, .. } =
            characterise(&generate, observer, self.fx).await?;
        self.note(&report, point);
        self.traces.insert(point.boundary_name(), traces);
        if self.note_contradicted(&report, &scenario.id, point) {
            self.tree = tree.clone();
        }
        let Some(file) = report.files.first().filter(|_| !edits.files.is_empty()) else {
            if self.inventory.crosses_boundary(&point.boundary_name()) {
                return Ok(None);
            }
            return Ok(Some(report.main_reason().unwrap_or(NO_CALL).to_owned()));
        };
        if let Some(writer) = &mut self.writer {
            let new = edits.files.into_iter();
            writer.sources.texts.extend(new.filter_map(|one| Some((one.file, one.after?))));
        }
        self.taken.extend(calls);
        self.add_file(file.file.clone(), (scenario, point), file.tests.clone(), EMBEDDED.into());
        if are_all_errors {
            let what = format!("{}: a call that succeeds", point.boundary_name());
            let reason = format!("none was found that depends on {}", point.to);
            self.inventory.untested.push(Untested { what, reason });
        }
        self.tree = tree;
        Ok(None)
    }

    /// Enters a new file, and who wrote it where models were asked.
    fn add_file(
        &mut self,
        path: RepoPath,
        (scenario, point): (&Scenario, &IntegrationPoint),
        tests: Vec<TestId>,
        author: String,
    ) {
        self.confirm_boundary(point, &tests);
        if let Some(writer) = &mut self.writer {
            writer.known.extend(tests.iter().cloned());
            let by = name_author(&author);
            self.inventory.authorship.push(format!("{path} was written by {by}"));
        }
        self.inventory.test_files.push(TestFile {
            path,
            scenario_ids: vec![scenario.id.clone()],
            test_count: u32::try_from(tests.len()).unwrap_or(u32::MAX),
            boundary: point.boundary_name(),
            tests,
            is_disputed: false,
            author,
        });
    }

    /// The functions of the upstream side that reach the boundary.
    fn callers(&self, point: &IntegrationPoint) -> Vec<String> {
        let text = self.survey.text(&point.from);
        let functions = Language::of(&point.from)
            .map(|language| behaviour::read(language, text))
            .unwrap_or_default();
        let mut callers: BTreeSet<String> =
            point.calls.iter().flat_map(|call| find_reaching(&call.caller, &functions)).collect();
        callers.extend(find_mentioning(&callers, &functions, text));
        callers.into_iter().collect()
    }

    fn leave_out(&mut self, point: &IntegrationPoint, reason: String) {
        self.inventory.untested.push(Untested { what: point.boundary_name(), reason });
    }

    /// Records findings, and callers that got no test.
    fn note(&mut self, report: &CharacterisationReport, point: &IntegrationPoint) {
        let findings = report.findings.iter().filter(|one| one.test.is_none());
        let findings = findings.map(ToString::to_string);
        for finding in findings {
            if !self.inventory.findings.contains(&finding) {
                self.inventory.findings.push(finding);
            }
        }
        // Others of the file, such as the routes of its application, have their own boundaries.
        let callers = self.callers(point);
        let is_own = |name: &String| callers.contains(name);
        let untested =
            report.functions.iter().filter(|one| one.assertions == 0 && is_own(&one.name));
        for one in untested.filter(|_| !report.files.is_empty()) {
            let reason = one.dropped.first().map_or(NO_CALL, |dropped| dropped.reason.as_str());
            let what = format!("{}: {}", point.boundary_name(), one.name);
            self.inventory.untested.push(Untested { what, reason: reason.to_owned() });
        }
    }

    pub(super) fn confirm_boundary(&mut self, point: &IntegrationPoint, tests: &[TestId]) {
        let evidence = format!("{} run both sides", count(tests.len(), "test"));
        let evidence = if tests.len() == 1 { "1 test runs both sides".into() } else { evidence };
        self.set_status(point, AssumptionStatus::Confirmed { evidence });
    }

    /// Sets what became of the assumption about a boundary.
    fn set_status(&mut self, point: &IntegrationPoint, status: AssumptionStatus) {
        let start = format!("{}:", point.from);
        let end = format!(" of {}", point.to);
        let is_own =
            |one: &&mut Assumption| one.basis.starts_with(&start) && one.text.ends_with(&end);
        if let Some(known) = self.assumptions.iter_mut().find(is_own) {
            known.status = status;
        }
    }
}

/// The files of an inventory.
pub fn new_files(inventory: &TestInventory) -> Vec<RepoPath> {
    inventory.test_files.iter().map(|file| file.path.clone()).collect()
}
