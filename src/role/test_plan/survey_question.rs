//! Phase 3 with providers: asks what must be tested, and adds valid answers to the requirements
//! that were derived from the code (specification.md 3.1, 4.5).

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use minijinja::context;
use serde_json::Value;

use crate::domain::chain::FallbackTrigger;
use crate::domain::id::RepoPath;
use crate::domain::test_plan::analysis::{
    FileRequirements, Requirement, TOGETHER, TestAnalysis, by_module,
};
use crate::domain::test_plan::context::ContextPackage;
use crate::domain::test_plan::layer::SubLayer;
use crate::effect::{Answer, EffectError, Effects, Model};
use crate::role::answer;
use crate::role::ask::{ProviderChain, Reader, Reading, Reply};
use crate::role::project_docs::Documents;
use crate::role::prompt::{self, Prompt, PromptPart, Role};
use crate::role::requirement_lines::requirement_lines;

use super::responses::SurveyResponse;
use super::survey::Survey;
use super::validate_survey::{Accepted, Evidence, validate_survey};

/// Maximum number of requirements per file.
const PER_FILE: usize = 60;

/// Maximum number of problems sent back to a provider.
const SENT_BACK: usize = 10;

/// Maximum number of bytes of a source in a prompt.
const SHOWN: usize = 40 << 10;

/// The result of phase 3.
pub enum SurveyOutcome {
    Answered { analysis: Box<TestAnalysis>, reports: Vec<String>, degraded: bool },
    OutOfBudget(String),
}

/// Asks which tests the files of an analysis need, in portions. If a provider times out, the
/// portion is divided into halves.
pub async fn consult(
    mut analysis: TestAnalysis,
    (package, survey, documents): (&ContextPackage, &Survey, &Documents),
    providers: &ProviderChain,
    fx: &Effects<'_>,
) -> Result<SurveyOutcome, EffectError> {
    let mut waiting: Vec<Vec<RepoPath>> = portions(&analysis.files);
    waiting.reverse();
    let (mut reports, mut authors) = (Vec::new(), BTreeSet::new());
    let (mut degraded, mut number) = (false, 0);
    while let Some(files) = waiting.pop() {
        number += 1;
        let chosen: Vec<&FileRequirements> =
            analysis.files.iter().filter(|file| files.contains(&file.file)).collect();
        let task = format!("analysis-{number}");
        let evidence = Evidence { files: &chosen, survey, framework: &analysis.framework };
        let reader = SurveyReader {
            task: task.clone(),
            evidence,
            parts: parts(&chosen, &analysis, (package, survey, documents)),
            min_confidence: providers.min_confidence(),
            fence: providers.fence(),
        };
        let reply = providers.ask(("analysis", &task), Role::Surveyor, &reader, fx).await?;
        degraded |= !matches!(reply, Reply::Good(_));
        match reply {
            Reply::OutOfBudget(reason) => return Ok(SurveyOutcome::OutOfBudget(reason)),
            Reply::Good(answer) | Reply::Degraded(answer) => {
                let report = providers.redact(&answer.value.report);
                if !report.trim().is_empty() {
                    reports.push(report);
                }
                add(&mut analysis, answer.value, &answer.provider);
                authors.insert(answer.provider);
            }
            Reply::NoAnswer if files.len() > 1 && providers.timed_out().await => {
                let (first, second) = files.split_at(files.len() / 2);
                waiting.extend([second.to_vec(), first.to_vec()]);
            }
            Reply::NoAnswer => {}
        }
    }
    if !authors.is_empty() {
        analysis.author = authors.into_iter().collect::<Vec<_>>().join(", ");
    }
    Ok(SurveyOutcome::Answered { analysis: Box::new(analysis), reports, degraded })
}

/// The files of each question: all of them if they are few, or else a few of the same module.
fn portions(files: &[FileRequirements]) -> Vec<Vec<RepoPath>> {
    let paths =
        |part: &[&FileRequirements]| part.iter().map(|file| file.file.clone()).collect::<Vec<_>>();
    let modules = by_module(files).into_values();
    modules.flat_map(|list| list.chunks(TOGETHER).map(paths).collect::<Vec<_>>()).collect()
}

/// Adds valid requirements to an analysis, except for those already derived from the code.
fn add(analysis: &mut TestAnalysis, accepted: Accepted, author: &str) {
    let used = analysis.files.iter().flat_map(|file| &file.requirements);
    let last = used.filter_map(|one| one.id.strip_prefix("R-")?.parse::<u32>().ok()).max();
    let mut number = last.unwrap_or_default();
    let before: BTreeMap<RepoPath, usize> =
        analysis.files.iter().map(|file| (file.file.clone(), file.requirements.len())).collect();
    for (path, one) in accepted.requirements {
        let Some(file) = analysis.files.iter_mut().find(|file| file.file == path) else {
            continue;
        };
        // A function can have many normal cases. Any other line with a derived requirement gets a
        // second one only with an input of its own; an answer may hold several for the same line.
        let own = before.get(&path).copied().unwrap_or_default();
        let same = |(at, known): (usize, &Requirement)| {
            let decides = at < own
                && known.layer == one.layer
                && known.function == one.function
                && known.line == one.line
                && one.layer != SubLayer::Happy
                && (one.given.is_empty() || one.given == known.given);
            decides || known.text == one.text
        };
        if file.requirements.iter().enumerate().any(same) {
            continue;
        }
        if file.requirements.len() >= PER_FILE {
            file.left_out += 1;
            continue;
        }
        number += 1;
        file.requirements.push(Requirement {
            id: format!("R-{number:03}"),
            author: author.to_owned(),
            ..one
        });
    }
    for (path, mock) in accepted.mocks {
        let file = analysis.files.iter_mut().find(|file| file.file == path);
        if let Some(file) = file.filter(|file| !file.mocks.contains(&mock)) {
            file.mocks.push(mock);
        }
    }
    for line in accepted.strategy {
        if !analysis.strategy.contains(&line) {
            analysis.strategy.push(line);
        }
    }
    analysis.dropped.extend(accepted.dropped);
}

/// The parts of the surveyor's prompt.
fn parts(
    chosen: &[&FileRequirements],
    analysis: &TestAnalysis,
    (package, survey, documents): (&ContextPackage, &Survey, &Documents),
) -> Vec<PromptPart> {
    let part = |title: String, text: String| PromptPart::new(title, text, true);
    let mut parts = vec![part("What is asked for".into(), analysis.description.clone())];
    let mut chosen = chosen.to_vec();
    chosen.sort_by_key(|file| package.rank(&file.file));
    for file in &chosen {
        let text = survey.text(&file.file);
        let text: String = text.chars().take(SHOWN).collect();
        parts.push(part(format!("The source {}", file.file), text));
    }
    for file in &chosen {
        // Layer 0 is checked by the gates.
        let known = file.requirements.iter().filter(|one| one.layer.layer() > 0);
        let known: Vec<&Requirement> = known.collect();
        let text = format!(
            "{}; tests belong into {}\n{}",
            file.reason,
            file.test_file,
            requirement_lines(&known)
        );
        parts.push(part(format!("What the code of {} says by itself", file.file), text));
    }
    let subjects: Vec<(&RepoPath, Vec<String>)> =
        chosen.iter().map(|file| (&file.file, file.functions.clone())).collect();
    parts.extend(documents.about(&subjects));
    if let Some(sample) = &analysis.framework.conventions.sample {
        let text: Vec<&str> = survey.text(sample).lines().take(80).collect();
        parts.push(part(format!("A test file of this project, {sample}"), text.join("\n")));
    }
    parts.push(part("Coverage now".into(), analysis.current_coverage.clone()));
    let couplings = &package.prioritized_context.key_constraints;
    if !couplings.is_empty() {
        let text = couplings.join("\n");
        parts.push(part("Couplings that imports do not show".into(), text));
    }
    parts
}

struct SurveyReader<'a> {
    task: String,
    evidence: Evidence<'a>,
    parts: Vec<PromptPart>,
    min_confidence: f64,
    fence: &'a str,
}

/// The layers that `accepts` accepts, formatted for a prompt.
fn layers(accepts: impl Fn(&SubLayer) -> bool) -> String {
    let all = SubLayer::ALL.iter().filter(|layer| accepts(layer));
    all.map(|layer| format!("{layer} {}", layer.title())).collect::<Vec<_>>().join(", ")
}

#[async_trait]
impl Reader<Accepted> for SurveyReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        Some(("test-survey", answer::json_schema::<SurveyResponse>()))
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = prompt::room(model, Role::Surveyor, None);
        let count = match self.evidence.files.len() {
            1 => "one file".to_owned(),
            many => format!("{many} files"),
        };
        let values = context! {
            task => self.task.as_str(),
            count,
            framework => self.evidence.framework.framework.name(),
            layers => layers(|layer| layer.layer() > 0),
        };
        prompt::build_about_tests(Role::Surveyor, &values, &self.parts, room, self.fence)
    }

    async fn read(&self, _: &dyn Model, answer: &Answer) -> Result<Reading<Accepted>, EffectError> {
        let confidence_of = |response: &SurveyResponse| response.confidence_score;
        let parsed = answer::parse_with_confidence(&answer.text, &self.task, confidence_of);
        let (response, confidence) = match parsed {
            Ok(parsed) => parsed,
            Err(why) => return Ok(Reading::Useless(FallbackTrigger::Unparseable, why)),
        };
        let accepted = validate_survey(&response, self.evidence);
        if accepted.requirements.is_empty() {
            if accepted.dropped.is_empty() {
                let why = "it names no requirement".to_owned();
                return Ok(Reading::Useless(FallbackTrigger::General, why));
            }
            return Ok(Reading::SendBack(accepted.dropped.into_iter().take(SENT_BACK).collect()));
        }
        Ok(Reading::by_confidence(accepted, confidence, self.min_confidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test_plan::analysis::{problems, samples};
    use crate::role::ask::tests::worth;

    fn valid(file: &RepoPath, layer: SubLayer, line: u32, text: &str) -> (RepoPath, Requirement) {
        let base = samples::analysis(1, 1).files[0].requirements[0].clone();
        let one = Requirement { id: String::new(), layer, line, text: text.into(), ..base };
        (file.clone(), one)
    }

    #[test]
    fn what_is_added_is_numbered_on_and_nothing_is_said_twice() {
        let mut analysis = samples::analysis(2, 3);
        let file = analysis.files[0].file.clone();
        let known = analysis.files[0].requirements[1].clone();
        let before = analysis.total();
        let accepted = Accepted {
            requirements: vec![
                valid(&file, SubLayer::Wiring, 9, "`f` asks `g`"),
                valid(&file, known.layer, known.line, "the same in other words"),
                valid(&file, SubLayer::Happy, 3, "another ordinary case"),
                valid(&file, SubLayer::Edge, 7, "a blank in front"),
                valid(&file, SubLayer::Edge, 7, "a blank behind"),
            ],
            dropped: vec!["x: no".into()],
            strategy: vec!["first f".into(), "first f".into()],
            ..Accepted::default()
        };
        add(&mut analysis, accepted, "one");
        assert_eq!(analysis.total(), before + 4);
        let ids: Vec<&str> =
            analysis.files[0].requirements.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["R-001", "R-002", "R-003", "R-007", "R-008", "R-009", "R-010"]);
        assert_eq!(problems(&analysis), Vec::<String>::new());
        assert_eq!(analysis.dropped, ["x: no"]);
    }

    #[test]
    fn sources_are_shown_in_order_and_couplings_last() {
        let analysis = samples::analysis(3, 1);
        let chosen: Vec<&FileRequirements> = analysis.files.iter().collect();
        let text = include_str!("../../../tests/data/planning/v1/context-package.json");
        let mut package: crate::domain::test_plan::context::ContextPackage =
            serde_json::from_str(text).unwrap();
        let own = &mut package.prioritized_context;
        own.dependency_order = [2, 1, 0].map(|at: usize| chosen[at].file.clone()).to_vec();
        own.key_constraints = vec!["a.py:3 looks up names while running".into()];
        let survey = Survey::of(Vec::new(), BTreeMap::new());
        let parts = parts(&chosen, &analysis, (&package, &survey, &Documents::default()));
        let titles: Vec<&str> = parts.iter().map(|part| part.title.as_str()).collect();
        let source = |at: usize| format!("The source {}", chosen[at].file);
        assert_eq!(titles[1..4], [source(2), source(1), source(0)]);
        assert_eq!(titles.last(), Some(&"Couplings that imports do not show"));
    }

    #[test]
    fn many_files_are_asked_about_by_module() {
        let few = portions(&samples::analysis(6, 1).files);
        assert_eq!(few.iter().map(Vec::len).collect::<Vec<_>>(), [6]);
        let many = portions(&samples::analysis(30, 1).files);
        assert_eq!(many.iter().map(Vec::len).sum::<usize>(), 30);
        for portion in many {
            assert!(portion.len() <= TOGETHER);
            assert!(portion.iter().all(|file| file.parent() == portion[0].parent()));
        }
    }

    #[test]
    fn answers_of_a_surveyor_are_good_weak_useless_or_sent_back() {
        let base = samples::analysis(1, 1);
        let file = RepoPath::parse("shop/price.py").unwrap();
        let text = "def price(text):\n    return float(text)\n".to_owned();
        let survey = Survey::of(vec![file.clone()], [(file.clone(), text)].into());
        let file = FileRequirements { file, lines: 2, ..base.files[0].clone() };
        let reader = SurveyReader {
            task: "analysis-1".into(),
            evidence: Evidence { files: &[&file], survey: &survey, framework: &base.framework },
            parts: Vec::new(),
            min_confidence: 0.4,
            fence: "FENCE",
        };
        let one = |function: &str, confidence: f64| {
            let requirement = serde_json::json!({
                "layer": "L1.1", "function": function, "line": 2, "text": "works", "expect": "2.0",
            });
            let files = serde_json::json!([
                { "file": "shop/price.py", "requirements": [requirement] }
            ]);
            serde_json::json!({ "files": files, "confidence_score": confidence }).to_string()
        };
        let table = [
            ("good", one("price", 0.9)),
            ("weak", one("price", 0.1)),
            ("sent back", one("nothing", 0.9)),
            ("useless", "{\"confidence_score\": 0.9}".to_owned()),
            ("useless", one("price", 2.0)),
            ("useless", "no JSON".to_owned()),
        ];
        for (expected, text) in table {
            assert_eq!(worth(&reader, &text), expected, "{text}");
        }
    }

    #[test]
    fn layers_are_named_in_their_order() {
        assert_eq!(layers(|_| false), "");
        assert!(layers(|layer| layer.layer() == 1).starts_with("L1.1 "), "{}", layers(|_| true));
    }

    proptest::proptest! {
        #[test]
        fn every_file_is_asked_about_once_and_few_at_a_time(files in 0usize..70) {
            let analysis = samples::analysis(files, 1);
            let portions = portions(&analysis.files);
            proptest::prop_assert!(portions.iter().all(|one| (1..=TOGETHER).contains(&one.len())));
            let mut asked: Vec<&RepoPath> = portions.iter().flatten().collect();
            asked.sort();
            let mut all: Vec<&RepoPath> = analysis.files.iter().map(|one| &one.file).collect();
            all.sort();
            proptest::prop_assert_eq!(asked, all);
        }
    }
}
