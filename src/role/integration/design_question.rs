//! Asks providers what the design of integration tests lacks, and keeps what the code bears out
//! (specification.md 3.2, F-132, F-134).

use std::collections::BTreeSet;

use async_trait::async_trait;
use minijinja::context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::chain::FallbackTrigger;
use crate::domain::id::{RepoPath, TreeId};
use crate::domain::integration::Phase;
use crate::domain::integration::design::{PlannedCase, Scenario, ScenarioPriority, TestDesign};
use crate::domain::integration::exploration::Exploration;
use crate::domain::integration::records::Decision;
use crate::domain::text::count;
use crate::effect::{Answer, EffectError, Effects, Model};
use crate::role::answer;
use crate::role::ask::{Budgeted, ProviderChain, Reader, Reading, Reply};
use crate::role::prompt::{self, Prompt, PromptPart, Role};
use crate::role::test_plan::{Survey, one_line, unknown_call, words_near};

/// Maximum number of cases that an answer adds to one boundary.
const CASES: usize = 8;

/// Maximum number of problems sent back to a provider, and entered in the log.
const PROBLEMS: usize = 10;

/// Maximum number of characters of a source in the prompt.
const SHOWN: usize = 20 << 10;

/// The name of the question.
const TASK: &str = "design-1";

/// One boundary in an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedScenario {
    /// `FROM → TO`, as in the question.
    pub boundary: String,
    /// `critical`, `high`, `medium`, or empty.
    pub priority: String,
    /// Why the priority is another one.
    pub reason: String,
    /// The cases to add.
    pub test_cases: Vec<ReportedCase>,
}

/// One case in an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedCase {
    /// `should <behaviour> when <condition>`.
    pub name: String,
    /// Concrete input.
    pub input: String,
    /// The concrete result or error.
    pub expected: String,
}

/// The answer of a designer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DesignResponse {
    /// The question it answers.
    pub task_id: String,
    /// What to add and to correct.
    pub scenarios: Vec<ReportedScenario>,
    /// From 0 to 1.
    pub confidence_score: f64,
}

/// The part of an answer that is consistent with the code.
#[derive(Clone, Debug, Default, PartialEq)]
struct AcceptedDesign {
    /// Cases with the boundary that they belong to.
    cases: Vec<(String, PlannedCase)>,
    /// Priorities with their boundary and the reason.
    priorities: Vec<(String, ScenarioPriority, String)>,
    dropped: Vec<String>,
}

/// Asks what a design lacks, and adds what refers to code that exists. Returns the decision that
/// records it; none where no provider answered.
pub async fn improve_design(
    design: &mut TestDesign,
    (exploration, tree, module): (&Exploration, &TreeId, &str),
    providers: &ProviderChain,
    fx: &Effects<'_>,
) -> Result<Budgeted<Option<Decision>>, EffectError> {
    if design.integration_scenarios.is_empty() || providers.models(Role::Designer, fx).is_empty() {
        return Ok(Budgeted::Done(None));
    }
    let survey = Survey::read(tree, fx).await?;
    let reader = DesignReader {
        module,
        design,
        exploration,
        survey: &survey,
        min_confidence: providers.min_confidence(),
        fence: providers.fence(),
    };
    let reply = providers.ask(("design", TASK), Role::Designer, &reader, fx).await?;
    Ok(match reply {
        Reply::OutOfBudget(reason) => Budgeted::OutOfBudget(reason),
        Reply::Good(answer) | Reply::Degraded(answer) => {
            Budgeted::Done(Some(enter_answer(design, &answer.value, &answer.provider)))
        }
        Reply::NoAnswer => Budgeted::Done(None),
    })
}

/// Adds an answer to a design, and orders its scenarios by their priorities.
fn enter_answer(design: &mut TestDesign, accepted: &AcceptedDesign, provider: &str) -> Decision {
    let mut reasons = Vec::new();
    for scenario in &mut design.integration_scenarios {
        let cases = accepted.cases.iter().filter(|(name, _)| *name == scenario.boundary);
        scenario.test_cases.extend(cases.map(|(_, case)| case.clone()));
        let other = accepted.priorities.iter().find(|(name, ..)| *name == scenario.boundary);
        if let Some((name, priority, reason)) = other {
            scenario.priority = *priority;
            reasons.push(format!("{name} is {priority}: {reason}"));
        }
    }
    let scenarios = &design.integration_scenarios;
    let priority_of =
        |id: &String| scenarios.iter().find(|one| one.id == *id).map(|one| one.priority);
    design.execution_order.sort_by_key(priority_of);
    let cases = count(accepted.cases.len(), "case");
    let dropped = accepted.dropped.iter().take(PROBLEMS).map(|one| format!("dropped: {one}"));
    reasons.extend(dropped);
    Decision {
        phase: Phase::Designed,
        iteration: 0,
        description: "what the design lacks".to_owned(),
        context: format!("{provider} read the boundaries and their scenarios"),
        options: vec![
            "leave the design as it is".into(),
            "add what refers to code that exists".into(),
        ],
        chosen: format!("add {cases}"),
        reason: if reasons.is_empty() {
            "no priority was corrected, and nothing was dropped".to_owned()
        } else {
            reasons.join("; ")
        },
        impact:
            "a model that writes the tests sees them; the embedded engine follows the order alone"
                .into(),
    }
}

struct DesignReader<'a> {
    module: &'a str,
    design: &'a TestDesign,
    exploration: &'a Exploration,
    survey: &'a Survey,
    min_confidence: f64,
    fence: &'a str,
}

impl DesignReader<'_> {
    /// The parts of the prompt.
    fn list_parts(&self) -> Vec<PromptPart> {
        let part = |title: String, text: String| PromptPart::new(title, text, true);
        let mut parts = Vec::new();
        let mut files: BTreeSet<&RepoPath> = BTreeSet::new();
        for point in &self.exploration.integration_points {
            files.extend([&point.from, &point.to]);
            let name = point.boundary_name();
            let calls = point.calls.iter().map(|call| {
                format!(
                    "line {}: {} calls {}({})\n",
                    call.line,
                    call.caller,
                    call.callee,
                    call.arguments.join(", ")
                )
            });
            let mut text: String = calls.collect();
            text.push_str(&format!("contract: {}\n", point.contract));
            let scenario = self.scenario_of(&name);
            for case in scenario.into_iter().flat_map(|one| &one.test_cases) {
                text.push_str(&format!(
                    "- {}; given: {}; expect: {}\n",
                    case.name, case.input, case.expected
                ));
            }
            let priority = scenario.map_or_else(String::new, |one| one.priority.to_string());
            parts.push(part(format!("The boundary {name}, priority {priority}"), text));
        }
        parts.extend(files.into_iter().map(|file| {
            let text = self.survey.text(file).chars().take(SHOWN).collect();
            part(format!("The source {file}"), text)
        }));
        parts
    }

    fn scenario_of(&self, boundary: &str) -> Option<&Scenario> {
        self.design.integration_scenarios.iter().find(|one| one.boundary == boundary)
    }

    /// Checks an answer against the code, and drops what refers to code that does not exist.
    fn accept_answer(&self, response: &DesignResponse) -> AcceptedDesign {
        let mut accepted = AcceptedDesign::default();
        for one in &response.scenarios {
            let name = one.boundary.replace("->", "→");
            let Some(scenario) = self.scenario_of(name.trim()) else {
                let reason = "is none of the boundaries";
                accepted.dropped.push(format!("`{}` {reason}", one_line(&one.boundary)));
                continue;
            };
            let points = self.exploration.integration_points.iter();
            let point = points.filter(|point| point.boundary_name() == scenario.boundary);
            let words: BTreeSet<&str> = point
                .flat_map(|point| [&point.from, &point.to])
                .flat_map(|file| words_near(file, self.survey))
                .collect();
            for case in one.test_cases.iter().take(CASES) {
                match check_case(case, scenario, &words) {
                    Ok(case) => accepted.cases.push((scenario.boundary.clone(), case)),
                    Err(why) => {
                        accepted.dropped.push(format!("“{}”: {why}", one_line(&case.name)));
                    }
                }
            }
            let priority = match one.priority.trim() {
                "critical" => ScenarioPriority::Critical,
                "high" => ScenarioPriority::High,
                "medium" => ScenarioPriority::Medium,
                _ => continue,
            };
            let reason = one_line(&one.reason);
            if priority != scenario.priority && !reason.is_empty() {
                accepted.priorities.push((scenario.boundary.clone(), priority, reason));
            }
        }
        accepted
    }
}

/// A reported case in the form of the design, or why it is none.
fn check_case(
    reported: &ReportedCase,
    scenario: &Scenario,
    words: &BTreeSet<&str>,
) -> Result<PlannedCase, String> {
    let [name, input, expected] =
        [&reported.name, &reported.input, &reported.expected].map(|text| one_line(text));
    if !name.starts_with("should ") || expected.is_empty() {
        return Err("it does not say what must be seen when".into());
    }
    if scenario.test_cases.iter().any(|known| known.name == name) {
        return Err("the design has it".into());
    }
    let unknown = [&name, &input, &expected].into_iter().find_map(|one| unknown_call(one, words));
    if let Some(unknown) = unknown {
        return Err(format!("there is no `{unknown}` on either side, or in what they import"));
    }
    Ok(PlannedCase { name, input, expected, assertion_type: "value".into() })
}

#[async_trait]
impl Reader<AcceptedDesign> for DesignReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        Some(("test-design", answer::json_schema::<DesignResponse>()))
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = prompt::room(model, Role::Designer, None);
        let boundaries = self.exploration.integration_points.len();
        let count =
            if boundaries == 1 { "1 boundary".into() } else { format!("{boundaries} boundaries") };
        let values = context! { task => TASK, module => self.module, count };
        prompt::build_about_tests(Role::Designer, &values, &self.list_parts(), room, self.fence)
    }

    async fn read(
        &self,
        _: &dyn Model,
        answer: &Answer,
    ) -> Result<Reading<AcceptedDesign>, EffectError> {
        let confidence_of = |response: &DesignResponse| response.confidence_score;
        let parsed = answer::parse_with_confidence(&answer.text, TASK, confidence_of);
        let (response, confidence) = match parsed {
            Ok(parsed) => parsed,
            Err(why) => return Ok(Reading::Useless(FallbackTrigger::Unparseable, why)),
        };
        let accepted = self.accept_answer(&response);
        if accepted.cases.is_empty() && accepted.priorities.is_empty() {
            if accepted.dropped.is_empty() {
                let why = "it adds nothing to the design".to_owned();
                return Ok(Reading::Useless(FallbackTrigger::General, why));
            }
            return Ok(Reading::SendBack(accepted.dropped.into_iter().take(PROBLEMS).collect()));
        }
        Ok(Reading::by_confidence(accepted, confidence, self.min_confidence))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::integration::design::{Mocking, ScenarioKind};
    use crate::domain::integration::exploration::{
        BoundaryCall, IntegrationKind, IntegrationPoint,
    };
    use crate::role::ask::tests::worth;

    const NAME: &str = "shop/quote.py → shop/tax.py";

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    fn scenario(id: &str, boundary: &str, priority: ScenarioPriority) -> Scenario {
        Scenario {
            id: id.into(),
            name: String::new(),
            boundary: boundary.into(),
            kind: ScenarioKind::ApiContract,
            priority,
            test_cases: vec![PlannedCase {
                name: "should add tax when it is known".into(),
                ..PlannedCase::default()
            }],
            mocking: Mocking::default(),
            setup: String::new(),
            teardown: String::new(),
        }
    }

    fn sample_design() -> TestDesign {
        TestDesign {
            integration_scenarios: vec![
                scenario("IS-001", "shop/a.py → shop/b.py", ScenarioPriority::High),
                scenario("IS-002", NAME, ScenarioPriority::Medium),
            ],
            execution_order: vec!["IS-001".into(), "IS-002".into()],
            ..TestDesign::default()
        }
    }

    /// What `check` says of a reader for one boundary of a shop.
    fn with_reader<T>(check: impl FnOnce(&DesignReader<'_>) -> T) -> T {
        let texts = BTreeMap::from([
            (path("shop/quote.py"), "from shop.tax import add_tax\n\ndef quote(prices):\n    return add_tax(sum(prices))\n".to_owned()),
            (path("shop/tax.py"), "def add_tax(cents):\n    return cents\n".to_owned()),
        ]);
        let survey = Survey::of(texts.keys().cloned().collect(), texts);
        let point = IntegrationPoint {
            from: path("shop/quote.py"),
            to: path("shop/tax.py"),
            kind: IntegrationKind::Api,
            contract: "add_tax(cents) returns `cents`".into(),
            calls: vec![BoundaryCall {
                caller: "quote".into(),
                callee: "add_tax".into(),
                line: 4,
                arguments: vec!["sum(prices)".into()],
            }],
            crossed: None,
            crossed_by: Vec::new(),
        };
        let exploration = Exploration { integration_points: vec![point], ..Exploration::default() };
        let design = sample_design();
        check(&DesignReader {
            module: "shop/quote.py",
            design: &design,
            exploration: &exploration,
            survey: &survey,
            min_confidence: 0.4,
            fence: "FENCE",
        })
    }

    fn reported(boundary: &str, name: &str, input: &str, expected: &str) -> ReportedScenario {
        let case =
            ReportedCase { name: name.into(), input: input.into(), expected: expected.into() };
        ReportedScenario {
            boundary: boundary.into(),
            test_cases: vec![case],
            ..ReportedScenario::default()
        }
    }

    #[test]
    fn what_the_code_does_not_bear_out_is_dropped_with_the_reason() {
        let table = [
            (reported(NAME, "should be 0 when there is no price", "`quote([])`", "0"), None),
            (
                reported(&NAME.replace('→', "->"), "should be 0 when empty", "`quote([])`", "0"),
                None,
            ),
            (
                reported("shop/quote.py → shop/money.py", "should pay when asked", "1", "1"),
                Some("none of the boundaries"),
            ),
            (
                reported(NAME, "should round when odd", "`round_tax(1)`", "1"),
                Some("no `round_tax`"),
            ),
            (reported(NAME, "adds", "1", "1"), Some("must be seen")),
            (reported(NAME, "should add when asked", "1", " "), Some("must be seen")),
            (
                reported(NAME, "should add tax when it is known", "1", "1"),
                Some("the design has it"),
            ),
        ];
        with_reader(|reader| {
            for (one, expected) in &table {
                let response =
                    DesignResponse { scenarios: vec![one.clone()], ..DesignResponse::default() };
                let accepted = reader.accept_answer(&response);
                match expected {
                    None => assert_eq!(
                        (accepted.cases.len(), accepted.dropped.len()),
                        (1, 0),
                        "{accepted:?}"
                    ),
                    Some(why) => {
                        assert!(accepted.cases.is_empty(), "{one:?}");
                        assert!(accepted.dropped[0].contains(why), "{accepted:?}");
                    }
                }
            }
        });
    }

    #[test]
    fn a_corrected_priority_changes_the_order_and_the_decision_names_what_was_dropped() {
        let mut design = sample_design();
        let case = PlannedCase { name: "should be 0 when empty".into(), ..PlannedCase::default() };
        let accepted = AcceptedDesign {
            cases: vec![(NAME.into(), case)],
            priorities: vec![(NAME.into(), ScenarioPriority::Critical, "money".into())],
            dropped: vec!["`x → y` is none of the boundaries".into()],
        };
        let decision = enter_answer(&mut design, &accepted, "one");
        assert_eq!(design.execution_order, ["IS-002", "IS-001"]);
        assert_eq!(design.integration_scenarios[1].test_cases.len(), 2);
        assert_eq!(decision.chosen, "add 1 case");
        for part in [NAME, "critical: money", "dropped: `x → y`"] {
            assert!(decision.reason.contains(part), "{}", decision.reason);
        }
    }

    #[test]
    fn answers_of_a_designer_are_good_weak_useless_or_sent_back() {
        let answer = |name: &str, confidence: f64| {
            let response = DesignResponse {
                scenarios: vec![reported(NAME, name, "`quote([])`", "0")],
                confidence_score: confidence,
                ..DesignResponse::default()
            };
            serde_json::to_string(&response).unwrap()
        };
        let table = [
            ("good", answer("should be 0 when empty", 0.9)),
            ("weak", answer("should be 0 when empty", 0.1)),
            ("sent back", answer("is 0", 0.9)),
            ("useless", "{\"confidence_score\": 0.9}".to_owned()),
            ("useless", "no JSON".to_owned()),
        ];
        with_reader(|reader| {
            for (expected, text) in &table {
                assert_eq!(worth(reader, text), *expected, "{text}");
            }
            let titles: Vec<String> =
                reader.list_parts().into_iter().map(|part| part.title).collect();
            assert!(
                titles[0].starts_with("The boundary shop/quote.py → shop/tax.py, priority"),
                "{titles:?}"
            );
        });
    }
}
