//! Asks providers for the tests of one boundary, through the machinery that writes generated test files
//! (specification.md 3.2, F-136).

use std::collections::BTreeSet;

use crate::code::conventions;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::integration::Integration;
use crate::domain::integration::design::Scenario;
use crate::domain::integration::exploration::IntegrationPoint;
use crate::domain::integration::records::Decision;
use crate::domain::provider::EMBEDDED;
use crate::domain::session::files::SUITE_LOG;
use crate::domain::test_plan::framework::TestFramework;
use crate::domain::test_plan::requirement::{PlannedFile, Priority};
use crate::effect::{EffectError, Effects};
use crate::role::ask::ProviderChain;
use crate::role::existing_tests;
use crate::role::prompt::{PromptPart, Role};
use crate::role::test_plan::Survey;
use crate::role::test_writer::{SourceIndex, WriteOutcome, WriteRequest, write_tests};

use super::boundaries::crossing_of;

/// Most bytes of the called side in a prompt.
const SHOWN: usize = 40 << 10;

/// The providers that may write the tests of boundaries, with what their questions show.
pub struct BoundaryWriter<'a> {
    providers: &'a ProviderChain,
    state: &'a Integration,
    pub sources: SourceIndex,
    framework: TestFramework,
    /// All tests that exist before the next file is written.
    pub known: BTreeSet<TestId>,
    jobs: usize,
}

/// The tests that are asked for.
#[derive(Clone, Copy)]
pub struct BoundaryTests<'a> {
    pub scenario: &'a Scenario,
    pub point: &'a IntegrationPoint,
    /// The functions of the calling side that reach the boundary.
    pub callers: &'a [String],
    pub place: &'a RepoPath,
}

impl<'a> BoundaryWriter<'a> {
    /// Prepares the questions; `None` without a provider that writes tests.
    pub async fn open(
        (state, jobs): (&'a Integration, usize),
        survey: &Survey,
        providers: &'a ProviderChain,
        fx: &Effects<'_>,
    ) -> Result<Option<Self>, EffectError> {
        if providers.models(Role::Generator, fx).is_empty() {
            return Ok(None);
        }
        let tree = &state.checkpoint.tree;
        fx.worktree.checkout(tree).await?;
        let cases = existing_tests(tree, fx, SUITE_LOG).await?;
        let facts = fx.suite.facts();
        Ok(Some(Self {
            providers,
            state,
            sources: SourceIndex::read(tree, &state.module, fx).await?,
            framework: TestFramework {
                framework: facts.framework,
                version: facts.version.clone(),
                conventions: conventions::read(facts.framework, &survey.tests),
                run_tests: facts.command.clone(),
                run_coverage: String::new(),
                run_specific: facts.framework.run_file().unwrap_or(&facts.command).to_owned(),
            },
            known: cases.into_iter().map(|case| case.id).collect(),
            jobs,
        }))
    }

    /// Has providers write, review and stabilise the tests of a boundary.
    pub async fn write(
        &mut self,
        asked: BoundaryTests<'_>,
        tree: &TreeId,
        fx: &Effects<'_>,
    ) -> Result<WriteOutcome, EffectError> {
        let BoundaryTests { scenario, point, callers, place } = asked;
        let subject = PlannedFile {
            file: point.from.clone(),
            tests: Vec::new(),
            test_file: place.clone(),
            priority: Priority::High,
            reason: String::new(),
            functions: callers.to_vec(),
            requirements: Vec::new(),
        };
        let (shown, crossing) = (self.parts(scenario, point), crossing_of(point));
        let request = WriteRequest {
            task: &scenario.id,
            name: scenario.id.clone(),
            round: 1,
            tree,
            subject: &subject,
            requirements: Vec::new(),
            ids: &BTreeSet::new(),
            shown: &shown,
            framework: &self.framework,
            project_type: "",
            survivors: Vec::new(),
            uncovered_lines: Vec::new(),
            known: &self.known,
            jobs: self.jobs,
            crossing: Some(&crossing),
        };
        Box::pin(write_tests(&request, &mut self.sources, self.providers, fx)).await
    }

    /// Whether providers are asked before the embedded engine works.
    pub fn is_first(&self, fx: &Effects<'_>) -> bool {
        self.providers.prefers_provider(Role::Generator, fx)
    }

    /// The parts of the prompt that are about the boundary.
    fn parts(&self, scenario: &Scenario, point: &IntegrationPoint) -> Vec<PromptPart> {
        let part = |title: &str, text: String| PromptPart::new(title, text, true);
        let calls = point.calls.iter().map(|call| {
            let arguments = call.arguments.join(", ");
            format!("line {}: {} calls {}({arguments})\n", call.line, call.caller, call.callee)
        });
        let cases = scenario.test_cases.iter().map(|case| {
            format!("- {}; given: {}; expect: {}\n", case.name, case.input, case.expected)
        });
        let mut design: String = cases.collect();
        for target in &scenario.mocking.mock_targets {
            design.push_str(&format!("- {target} leaves the process: fake it\n"));
        }
        let called = self.sources.texts.get(&point.to).map_or("", String::as_str);
        let wishes = self.state.decisions.iter().filter(|one| Decision::is_adjustment(one));
        let wishes: String =
            wishes.map(|one| format!("{}: {}\n", one.description, one.chosen)).collect();
        let mut parts = vec![
            part(&format!("The calls of the boundary {}", scenario.boundary), calls.collect()),
            part("The contract of the boundary", point.contract.clone()),
            part(&format!("The called side {}", point.to), called.chars().take(SHOWN).collect()),
            part("The scenarios of the boundary", design),
        ];
        if !wishes.is_empty() {
            parts.push(part("What a person asks for", wishes));
        }
        parts
    }
}

/// The author of a test file, as people read it.
pub fn name_author(author: &str) -> &str {
    if author == EMBEDDED { "the embedded engine" } else { author }
}
