//! Phase 4.2 with providers: asks for test cases that are easily forgotten (specification.md 3.1
//! phase 4.2, 4.5, 8.8).

use async_trait::async_trait;
use minijinja::context;
use serde_json::Value;

use crate::domain::chain::FallbackTrigger;
use crate::domain::id::RepoPath;
use crate::domain::test_plan::analysis::{Advice, Requirement, Scenario, Suggestion, TestAnalysis};
use crate::domain::test_plan::layer::SubLayer;
use crate::effect::{Answer, EffectError, Effects, Model};
use crate::role::answer;
use crate::role::ask::{ProviderChain, Reader, Reading, Reply};
use crate::role::prompt::{self, Prompt, PromptPart, Role};
use crate::role::requirement_lines::requirement_lines;

use super::responses::AdviceResponse;
use super::survey_question::layers;
use super::validate_survey::one_line;

/// Suggestions of one answer at most.
const MOST: usize = 60;

/// Longest field of a suggestion, in characters.
const FIELD: usize = 240;

/// Whether to ask for further cases in a layer.
fn is_advised(layer: SubLayer) -> bool {
    layer.layer() == 1
        || matches!(
            layer,
            SubLayer::Wiring | SubLayer::Contract | SubLayer::External | SubLayer::FailureMode
        )
}

/// The suggestions that match the files, layers and requirements of an analysis.
fn select_advice(response: &AdviceResponse, analysis: &TestAnalysis) -> Advice {
    let mut advice = Advice::default();
    for one in response.suggestions.iter().take(MOST) {
        match suggestion(one, analysis) {
            Ok(suggestion) => advice.suggestions.push(suggestion),
            Err(why) => advice.dropped.push(format!("“{}”: {why}", field(&one.case))),
        }
    }
    for file in response.order.iter().filter_map(|name| known_file(name, analysis)) {
        if !advice.order.contains(&file) {
            advice.order.push(file);
        }
    }
    let errors = response.errors.iter().filter(|one| !one.error.trim().is_empty());
    advice.errors = errors
        .take(MOST)
        .map(|one| Scenario {
            error: field(&one.error),
            when: field(&one.when),
            expected: field(&one.expected),
        })
        .collect();
    advice
}

/// The file of an analysis with this path.
fn known_file(name: &str, analysis: &TestAnalysis) -> Option<RepoPath> {
    let name = name.trim().trim_start_matches("./");
    analysis.files.iter().map(|file| &file.file).find(|file| file.as_str() == name).cloned()
}

/// Validates a suggested case; the error says why it is dropped.
fn suggestion(reported: &Suggestion, analysis: &TestAnalysis) -> Result<Suggestion, &'static str> {
    let file =
        known_file(&reported.file, analysis).ok_or("it is about a file that is not asked about")?;
    let layer = SubLayer::ALL.iter().find(|layer| layer.code() == reported.layer.trim());
    let layer = *layer.ok_or("it names no layer")?;
    if !is_advised(layer) {
        return Err("its layer is not enriched");
    }
    let (case, expected) = (field(&reported.case), field(&reported.expected));
    if case.is_empty() || expected.is_empty() {
        return Err("it does not say what must be seen");
    }
    let id = reported.requirement.trim();
    let mut all = analysis.files.iter().flat_map(|file| &file.requirements);
    let requirement = if all.any(|one| one.id == id) { id.to_owned() } else { String::new() };
    Ok(Suggestion {
        file: file.to_string(),
        layer: layer.to_string(),
        requirement,
        kind: field(&reported.kind),
        case,
        expected,
        mocks: field(&reported.mocks),
        criterion: field(&reported.criterion),
    })
}

fn field(text: &str) -> String {
    one_line(text, FIELD)
}

/// The result of phase 4.2.
pub enum AdviceOutcome {
    Answered(Option<Advice>),
    OutOfBudget(String),
}

/// Asks the providers for test cases that are easily forgotten.
pub async fn advise(
    analysis: &TestAnalysis,
    providers: &ProviderChain,
    fx: &Effects<'_>,
) -> Result<AdviceOutcome, EffectError> {
    let part = |title: &str, text: String| PromptPart::new(title, text, true);
    let mut parts = vec![part("What is asked for", analysis.description.clone())];
    for file in &analysis.files {
        let known: Vec<&Requirement> =
            file.requirements.iter().filter(|one| one.layer.layer() > 0).collect();
        let text = requirement_lines(&known);
        parts.push(part(&format!("Requirements of {}", file.file), text));
    }
    let reader = AdviceReader {
        analysis,
        parts,
        min_confidence: providers.min_confidence(),
        fence: providers.fence(),
    };
    Ok(match providers.ask(("enrichment", TASK), Role::Adviser, &reader, fx).await? {
        Reply::OutOfBudget(reason) => AdviceOutcome::OutOfBudget(reason),
        Reply::NoAnswer => AdviceOutcome::Answered(None),
        Reply::Good(answer) | Reply::Degraded(answer) => {
            AdviceOutcome::Answered(Some(Advice { author: answer.provider, ..answer.value }))
        }
    })
}

/// The name of the question in the records.
const TASK: &str = "enrichment";

struct AdviceReader<'a> {
    analysis: &'a TestAnalysis,
    parts: Vec<PromptPart>,
    min_confidence: f64,
    fence: &'a str,
}

#[async_trait]
impl Reader<Advice> for AdviceReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        Some(("test-advice", answer::json_schema::<AdviceResponse>()))
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = prompt::room(model, Role::Adviser, None);
        let values = context! {
            task => TASK,
            framework => self.analysis.framework.framework.name(),
            layers => layers(|layer| is_advised(*layer)),
        };
        prompt::build_about_tests(Role::Adviser, &values, &self.parts, room, self.fence)
    }

    async fn read(&self, _: &dyn Model, answer: &Answer) -> Result<Reading<Advice>, EffectError> {
        let confidence_of = |response: &AdviceResponse| response.confidence_score;
        let parsed = answer::parse_with_confidence(&answer.text, TASK, confidence_of);
        let (response, confidence) = match parsed {
            Ok(parsed) => parsed,
            Err(why) => return Ok(Reading::Useless(FallbackTrigger::Unparseable, why)),
        };
        let advice = select_advice(&response, self.analysis);
        if advice.suggestions.is_empty() {
            let why = "nothing of it belongs to a file that is asked about".to_owned();
            return Ok(Reading::Useless(FallbackTrigger::General, why));
        }
        Ok(Reading::by_confidence(advice, confidence, self.min_confidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test_plan::analysis::samples;
    use crate::role::ask::tests::worth;

    #[test]
    fn a_case_of_another_file_or_layer_is_thrown_away() {
        let analysis = samples::analysis(1, 2);
        let file = analysis.files[0].file.to_string();
        let one = |file: &str, layer: &str, requirement: &str, expected: &str| Suggestion {
            file: file.into(),
            layer: layer.into(),
            requirement: requirement.into(),
            case: "an empty text".into(),
            expected: expected.into(),
            ..Suggestion::default()
        };
        let table = [
            (one(&file, "L1.3", "R-001", "ValueError"), Some("R-001")),
            (one(&file, "L2.5", "R-999", "a timeout"), Some("")),
            (one("b.py", "L1.3", "", "ValueError"), None),
            (one(&file, "L3.1", "", "ValueError"), None),
            (one(&file, "L7", "", "ValueError"), None),
            (one(&file, "L1.3", "", " "), None),
        ];
        for (reported, expected) in table {
            let all =
                AdviceResponse { suggestions: vec![reported.clone()], ..AdviceResponse::default() };
            let got = select_advice(&all, &analysis);
            let id = got.suggestions.first().map(|one| one.requirement.as_str());
            assert_eq!(id, expected, "{reported:?}");
            assert_eq!(got.dropped.len(), usize::from(expected.is_none()), "{reported:?}");
        }
    }

    #[test]
    fn answers_of_an_adviser_are_good_weak_or_useless() {
        let analysis = samples::analysis(1, 2);
        let file = analysis.files[0].file.to_string();
        let reader = AdviceReader {
            analysis: &analysis,
            parts: Vec::new(),
            min_confidence: 0.4,
            fence: "FENCE",
        };
        let one = |file: &str, confidence: f64| {
            let suggestion = serde_json::json!({
                "file": file, "layer": "L1.3", "case": "an empty text", "expected": "ValueError",
            });
            serde_json::json!({ "suggestions": [suggestion], "confidence_score": confidence })
                .to_string()
        };
        let table = [
            ("good", one(&file, 0.9)),
            ("weak", one(&file, 0.1)),
            ("useless", one("b.py", 0.9)),
            ("useless", one(&file, -1.0)),
            ("useless", "[]".to_owned()),
        ];
        for (expected, text) in table {
            assert_eq!(worth(&reader, &text), expected, "{text}");
        }
    }

    #[test]
    fn suggestions_are_bounded_and_the_order_names_each_file_once() {
        let analysis = samples::analysis(2, 1);
        let file = analysis.files[1].file.to_string();
        let one = Suggestion {
            file: file.clone(),
            layer: "L1.3".into(),
            case: "x".repeat(9_000),
            expected: "y".into(),
            ..Suggestion::default()
        };
        let response = AdviceResponse {
            suggestions: vec![one; 90],
            order: vec![format!("./{file}"), "nothing.py".into(), file.clone()],
            ..AdviceResponse::default()
        };
        let advice = select_advice(&response, &analysis);
        assert_eq!(advice.suggestions.len(), MOST);
        assert!(advice.suggestions.iter().all(|one| one.case.chars().count() <= FIELD));
        assert_eq!(advice.order, [analysis.files[1].file.clone()]);
    }
}
