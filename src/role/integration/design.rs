//! Designs scenarios for each boundary, most risky first: a happy path, errors that cross, boundary
//! values. Real by default; what leaves the process is faked (specification.md 3.2, F-134).

use std::collections::BTreeSet;

use crate::code::behaviour::{self, Behaviour};
use crate::code::external_services::{ExternalService, ServiceUse, external_services};
use crate::code::language::Language;
use crate::domain::id::{RepoPath, TreeId};
use crate::domain::integration::Phase;
use crate::domain::integration::design::{
    Mocking, MockingApproach, MockingStrategy, PlannedCase, Scenario, ScenarioKind,
    ScenarioPriority, SuccessCriteria, TestDesign,
};
use crate::domain::integration::exploration::{Exploration, IntegrationPoint, RiskLevel};
use crate::domain::integration::records::Decision;
use crate::domain::text::one_line;
use crate::effect::{EffectError, Effects};

use super::contract::find_callee;

/// Cases of one kind in a scenario.
const CASES: usize = 4;

/// Most characters of code in a case.
const CODE: usize = 60;

/// The design of all boundaries of an exploration, with the decisions that shaped it.
pub async fn design_scenarios(
    exploration: &Exploration,
    tree: &TreeId,
    fx: &Effects<'_>,
) -> Result<(TestDesign, Vec<Decision>), EffectError> {
    let mut design = TestDesign::default();
    let (mut faked, mut real) = (BTreeSet::new(), BTreeSet::new());
    for (point, number) in exploration.integration_points.iter().zip(1..) {
        let from = Side::read(&point.from, tree, fx).await?;
        let to = Side::read(&point.to, tree, fx).await?;
        let priority = exploration.risk_areas.iter().find(|one| one.area == point.boundary_name());
        let priority = priority.map_or(RiskLevel::Medium, |risk| risk.priority);
        let scenario = design_scenario(number, point, (&from, &to), priority);
        faked.extend(scenario.mocking.mock_targets.iter().cloned());
        real.extend(scenario.mocking.real_targets.iter().cloned());
        design.execution_order.push(scenario.id.clone());
        design.integration_scenarios.push(scenario);
    }
    design.success_criteria = SuccessCriteria::default();
    let rationale = if faked.is_empty() {
        "nothing here leaves the process, so nothing is faked"
    } else {
        "what runs in the process is real; what leaves it is not reached by these tests"
    };
    design.mocking_strategy = MockingStrategy {
        approach: MockingApproach::Minimal,
        mock_boundaries: faked.into_iter().collect(),
        real_boundaries: real.into_iter().collect(),
        rationale: rationale.into(),
    };
    let decision = choose_mocking(&design);
    Ok((design, vec![decision]))
}

/// One file of a boundary.
struct Side {
    functions: Vec<Behaviour>,
    /// What it uses outside of the process: the functions, the evidence, and whether a test of its own
    /// folder has it too.
    services: Vec<(String, String, bool)>,
}

impl Side {
    async fn read(file: &RepoPath, tree: &TreeId, fx: &Effects<'_>) -> Result<Self, EffectError> {
        let bytes = fx.worktree.read(tree, file).await?.unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let language = Language::of(file);
        let services = language.map(|language| external_services(language, &text));
        let named = services.into_iter().flatten().map(|one| {
            let is_put_up = language == Some(Language::Python) && is_put_up(&one);
            (one.function, one.evidence, is_put_up)
        });
        Ok(Self {
            functions: language
                .map(|language| behaviour::read(language, &text))
                .unwrap_or_default(),
            services: named.collect(),
        })
    }
}

/// Whether tests put a service up for themselves: files, databases and settings in a temporary folder.
fn is_put_up(used: &ServiceUse) -> bool {
    match used.service {
        ExternalService::Files | ExternalService::Environment => true,
        ExternalService::Database => used.evidence.starts_with("sqlite3"),
        ExternalService::Network | ExternalService::Clock | ExternalService::ChildProcesses => {
            false
        }
    }
}

fn design_scenario(
    number: u32,
    point: &IntegrationPoint,
    (from, to): (&Side, &Side),
    priority: RiskLevel,
) -> Scenario {
    let callees: BTreeSet<&str> = point.calls.iter().map(|call| call.callee.as_str()).collect();
    let callees: Vec<&Behaviour> =
        callees.iter().filter_map(|name| find_callee(name, &to.functions)).collect();
    let callers: BTreeSet<&str> = point.calls.iter().map(|call| call.caller.as_str()).collect();
    let mut cases = happy_cases(point);
    cases.extend(error_cases(&callers, &callees, from));
    cases.extend(limit_cases(&callers, &callees, from));
    let called: BTreeSet<&str> = callees.iter().map(|one| one.name.as_str()).collect();
    let own = from.services.iter().filter(|(function, ..)| callers.contains(function.as_str()));
    let other = to.services.iter().filter(|(function, ..)| called.contains(function.as_str()));
    let used: Vec<_> = own.chain(other).collect();
    let faked: BTreeSet<String> = used
        .iter()
        .filter(|(.., is_put_up)| !is_put_up)
        .map(|(_, evidence, _)| evidence.clone())
        .collect();
    let has_own = used.iter().any(|(.., is_put_up)| *is_put_up);
    let reason = match (faked.is_empty(), has_own) {
        (true, false) => "both sides run as they are",
        (true, true) => "files and settings are real, those of each test",
        (false, _) => "it leaves the process",
    };
    Scenario {
        id: format!("IS-{number:03}"),
        name: format!("{} with {}", point.from.stem(), point.to.stem()),
        boundary: point.boundary_name(),
        kind: ScenarioKind::ApiContract,
        priority: match priority {
            RiskLevel::High => ScenarioPriority::Critical,
            RiskLevel::Medium => ScenarioPriority::High,
            RiskLevel::Low => ScenarioPriority::Medium,
        },
        test_cases: cases,
        mocking: Mocking {
            mock_targets: faked.into_iter().collect(),
            real_targets: vec![point.from.to_string(), point.to.to_string()],
            reason: reason.into(),
        },
        setup: if has_own { "a temporary folder, and the settings".into() } else { String::new() },
        teardown: if has_own { "both as they were before".into() } else { String::new() },
    }
}

/// One case for each function that calls, with the arguments that it passes on.
fn happy_cases(point: &IntegrationPoint) -> Vec<PlannedCase> {
    let mut known = BTreeSet::new();
    let first = point.calls.iter().filter(|call| known.insert(&call.caller));
    let case = |call: &crate::domain::integration::exploration::BoundaryCall| PlannedCase {
        name: format!("should use what {} returns when {} is called", call.callee, call.caller),
        input: format!("{}({})", call.callee, one_line(&call.arguments.join(", "), CODE)),
        expected: "the recorded result".into(),
        assertion_type: "value".into(),
    };
    first.take(CASES).map(case).collect()
}

/// The errors of the called functions: whether callers let them pass or handle them.
fn error_cases(callers: &BTreeSet<&str>, callees: &[&Behaviour], from: &Side) -> Vec<PlannedCase> {
    let calling: Vec<&Behaviour> =
        from.functions.iter().filter(|one| callers.contains(one.name.as_str())).collect();
    let mut known = BTreeSet::new();
    let raises = callees.iter().flat_map(|one| one.raises.iter().map(move |raise| (one, raise)));
    let mut cases = Vec::new();
    for (callee, raise) in raises.filter(|(_, raise)| known.insert(&raise.class)) {
        let handlers = calling.iter().flat_map(|one| &one.handlers);
        let is_handled = handlers
            .clone()
            .any(|one| one.catches.is_empty() || one.catches.contains(raise.class.as_str()));
        let condition = raise.guard.last().map(behaviour::condition);
        let condition = condition.map_or_else(String::new, |text| one_line(&text, CODE));
        let (verb, expected) = if is_handled {
            ("handle", "what the handler gives".to_owned())
        } else {
            ("raise", raise.class.clone())
        };
        cases.push(PlannedCase {
            name: format!("should {verb} {} when {} refuses", raise.class, callee.name),
            input: condition,
            expected,
            assertion_type: if is_handled { "value" } else { "error" }.into(),
        });
    }
    cases.truncate(CASES);
    cases
}

/// The comparisons of both sides, where a value next to the limit is worth a test.
fn limit_cases(callers: &BTreeSet<&str>, callees: &[&Behaviour], from: &Side) -> Vec<PlannedCase> {
    let calling = from.functions.iter().filter(|one| callers.contains(one.name.as_str()));
    let all = calling.chain(callees.iter().copied());
    let limits = all.flat_map(|one| one.boundaries.iter().map(move |limit| (one, limit)));
    let case = |(one, limit): (&Behaviour, &behaviour::Boundary)| PlannedCase {
        name: format!(
            "should change when {} of {} passes {}",
            one_line(&limit.left, CODE),
            one.name,
            one_line(&limit.right, CODE)
        ),
        input: one_line(&format!("{} {} {}", limit.left, limit.operator, limit.right), CODE),
        expected: "the results on both sides of the limit".into(),
        assertion_type: "value".into(),
    };
    limits.take(CASES).map(case).collect()
}

fn choose_mocking(design: &TestDesign) -> Decision {
    let faked = &design.mocking_strategy.mock_boundaries;
    Decision {
        phase: Phase::Designed,
        iteration: 0,
        description: "what is real and what is faked".into(),
        context: match faked.len() {
            0 => "no function at a boundary leaves the process".into(),
            _ => format!("functions at the boundaries use {}", faked.join(", ")),
        },
        options: vec!["minimal".into(), "moderate".into(), "heavy".into()],
        chosen: design.mocking_strategy.approach.to_string(),
        reason: "a fake hides what an integration test is for".into(),
        impact: design.mocking_strategy.rationale.clone(),
    }
}
