//! Phases 3 and 4.2 with providers: what must be tested, and cases that are easily forgotten
//! (product.md 3.1, 4.5). What they say is added to what the code says by itself.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use minijinja::context;
use serde_json::Value;

use crate::domain::chain::FallbackTrigger;
use crate::domain::id::RepoPath;
use crate::domain::test_plan::analysis::{Advice, FileRequirements, Requirement, TestAnalysis};
use crate::domain::test_plan::layer::SubLayer;
use crate::effect::{Answer, EffectError, Effects, Model};
use crate::role::answer;
use crate::role::ask::{Reader, Reading, Reply};
use crate::role::prompt::{self, Part, Prompt, Role};
use crate::role::provider_chain::ProviderChain;

use super::advice::{ADVISED, ToldAdvice, advice};
use super::documents::Documents;
use super::survey::Survey;
use super::told::{Accepted, Evidence, ToldSurvey, borne_out};

/// Files of one question: more are asked about module by module (product.md 3.1 phase 3).
const TOGETHER: usize = 6;

/// Requirements of one file at most.
const PER_FILE: usize = 60;

/// Reasons that are sent back at most.
const TOLD: usize = 10;

/// Bytes of a source that is shown.
const SHOWN: usize = 40 << 10;

/// What phase 3 came to.
pub enum Consulted {
    /// Providers were asked.
    Told {
        /// With what they added.
        analysis: Box<TestAnalysis>,
        /// Their own words, part by part.
        reports: Vec<String>,
        /// Whether some part had no good answer.
        degraded: bool,
    },
    /// A limit of the session was reached.
    OutOfBudget(String),
}

/// Asks what must be tested of the files of an analysis, in portions. A portion that takes too
/// long is asked about in halves.
///
/// # Errors
///
/// When records cannot be written.
pub async fn consult(
    mut analysis: TestAnalysis,
    (survey, documents): (&Survey, &Documents),
    panel: &ProviderChain,
    fx: &Effects<'_>,
) -> Result<Consulted, EffectError> {
    let mut waiting: Vec<Vec<RepoPath>> = portions(&analysis.files);
    waiting.reverse();
    let (mut reports, mut authors) = (Vec::new(), BTreeSet::new());
    let (mut degraded, mut number) = (false, 0);
    while let Some(files) = waiting.pop() {
        number += 1;
        let chosen: Vec<&FileRequirements> =
            analysis.files.iter().filter(|file| files.contains(&file.file)).collect();
        let task = format!("analysis-{number}");
        let ground = Evidence { files: &chosen, survey, framework: &analysis.framework };
        let reader = SurveyReader {
            task: task.clone(),
            ground,
            parts: parts(&chosen, &analysis, survey, documents),
            min_confidence: panel.min_confidence(),
            fence: panel.fence(),
        };
        let reply = panel.ask(("analysis", &task), Role::Surveyor, &reader, fx).await?;
        degraded |= !matches!(reply, Reply::Good(_));
        match reply {
            Reply::OutOfBudget(reason) => return Ok(Consulted::OutOfBudget(reason)),
            Reply::Good(given) | Reply::Degraded(given) => {
                let report = panel.redact(&given.value.report);
                if !report.trim().is_empty() {
                    reports.push(report);
                }
                add(&mut analysis, given.value);
                authors.insert(given.provider);
            }
            Reply::Nobody if files.len() > 1 && panel.timed_out().await => {
                let (first, second) = files.split_at(files.len() / 2);
                waiting.extend([second.to_vec(), first.to_vec()]);
            }
            Reply::Nobody => {}
        }
    }
    if !authors.is_empty() {
        analysis.author = authors.into_iter().collect::<Vec<_>>().join(", ");
    }
    Ok(Consulted::Told { analysis: Box::new(analysis), reports, degraded })
}

/// Files of each question: all when they are few, else by module.
fn portions(files: &[FileRequirements]) -> Vec<Vec<RepoPath>> {
    let mut modules: BTreeMap<&str, Vec<RepoPath>> = BTreeMap::new();
    for file in files {
        let module = if files.len() <= TOGETHER { "" } else { file.file.parent() };
        modules.entry(module).or_default().push(file.file.clone());
    }
    let all = modules.into_values();
    all.flat_map(|list| list.chunks(TOGETHER).map(<[RepoPath]>::to_vec).collect::<Vec<_>>())
        .collect()
}

/// Adds what is borne out. What the code says already is not said twice.
fn add(analysis: &mut TestAnalysis, borne: Accepted) {
    let used = analysis.files.iter().flat_map(|file| &file.requirements);
    let last = used.filter_map(|one| one.id.strip_prefix("R-")?.parse::<u32>().ok()).max();
    let mut number = last.unwrap_or_default();
    let before: BTreeMap<RepoPath, usize> =
        analysis.files.iter().map(|file| (file.file.clone(), file.requirements.len())).collect();
    for (path, one) in borne.requirements {
        let Some(file) = analysis.files.iter_mut().find(|file| file.file == path) else {
            continue;
        };
        // A function has many ordinary cases, and each other line that the code tells of by itself
        // is not told of again. An answer may name several cases that one line decides.
        let own = before.get(&path).copied().unwrap_or_default();
        let same = |(at, known): (usize, &Requirement)| {
            let decides = at < own
                && known.layer == one.layer
                && known.function == one.function
                && known.line == one.line
                && one.layer != SubLayer::Happy;
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
        file.requirements.push(Requirement { id: format!("R-{number:03}"), ..one });
    }
    for (path, mock) in borne.mocks {
        let file = analysis.files.iter_mut().find(|file| file.file == path);
        if let Some(file) = file.filter(|file| !file.mocks.contains(&mock)) {
            file.mocks.push(mock);
        }
    }
    for said in borne.strategy {
        if !analysis.strategy.contains(&said) {
            analysis.strategy.push(said);
        }
    }
    analysis.dropped.extend(borne.dropped);
}

/// What a surveyor is shown.
fn parts(
    chosen: &[&FileRequirements],
    analysis: &TestAnalysis,
    survey: &Survey,
    documents: &Documents,
) -> Vec<Part> {
    let part = |title: String, text: String| Part { title, text, may_be_cut: true };
    let mut parts = vec![part("What is asked for".into(), analysis.description.clone())];
    for file in chosen {
        let text = survey.text(&file.file);
        let text: String = text.chars().take(SHOWN).collect();
        parts.push(part(format!("The source {}", file.file), text));
    }
    for file in chosen {
        let known: Vec<&Requirement> = file.requirements.iter().collect();
        let text = format!(
            "{}; tests belong into {}\n{}",
            file.reason,
            file.test_file,
            crate::role::test_writer::requirements(&known)
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
    parts
}

struct SurveyReader<'a> {
    task: String,
    ground: Evidence<'a>,
    parts: Vec<Part>,
    min_confidence: f64,
    fence: &'a str,
}

fn layers(wanted: impl Fn(&SubLayer) -> bool) -> String {
    let all = SubLayer::ALL.iter().filter(|layer| wanted(layer));
    all.map(|layer| format!("{layer} {}", layer.title())).collect::<Vec<_>>().join(", ")
}

#[async_trait]
impl Reader<Accepted> for SurveyReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        Some(("test-survey", answer::form::<ToldSurvey>()))
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = model.context_tokens().saturating_mul(3) / 4;
        let count = match self.ground.files.len() {
            1 => "one file".to_owned(),
            many => format!("{many} files"),
        };
        let values = context! {
            task => self.task.as_str(),
            count,
            framework => self.ground.framework.framework.name(),
            layers => layers(|layer| layer.layer() > 0),
        };
        prompt::build_about_tests(Role::Surveyor, &values, &self.parts, room, self.fence)
    }

    async fn read(&self, _: &dyn Model, answer: &Answer) -> Result<Reading<Accepted>, EffectError> {
        let sure = |told: &ToldSurvey| told.confidence_score;
        let (told, sure) = match answer::read_with(&answer.text, &self.task, sure) {
            Ok(read) => read,
            Err(why) => return Ok(Reading::Useless(FallbackTrigger::Unparseable, why)),
        };
        let borne = borne_out(&told, self.ground);
        if borne.requirements.is_empty() {
            if borne.dropped.is_empty() {
                let why = "it names no requirement".to_owned();
                return Ok(Reading::Useless(FallbackTrigger::General, why));
            }
            return Ok(Reading::Again(borne.dropped.into_iter().take(TOLD).collect()));
        }
        Ok(Reading::by_confidence(borne, sure, self.min_confidence))
    }
}

/// What phase 4.2 came to.
pub enum Advised {
    /// Cases that were added; `None` when nobody gave a usable answer.
    Told(Option<Advice>),
    /// A limit of the session was reached.
    OutOfBudget(String),
}

/// Asks for cases that are easily forgotten.
///
/// # Errors
///
/// When records cannot be written.
pub async fn advise(
    analysis: &TestAnalysis,
    panel: &ProviderChain,
    fx: &Effects<'_>,
) -> Result<Advised, EffectError> {
    let part = |title: &str, text: String| Part { title: title.into(), text, may_be_cut: true };
    let mut parts = vec![part("What is asked for", analysis.description.clone())];
    for file in &analysis.files {
        let known: Vec<&Requirement> =
            file.requirements.iter().filter(|one| one.layer.layer() > 0).collect();
        let text = crate::role::test_writer::requirements(&known);
        parts.push(part(&format!("Requirements of {}", file.file), text));
    }
    let reader = AdviceReader {
        analysis,
        parts,
        min_confidence: panel.min_confidence(),
        fence: panel.fence(),
    };
    Ok(match panel.ask(("enrichment", TASK), Role::Adviser, &reader, fx).await? {
        Reply::OutOfBudget(reason) => Advised::OutOfBudget(reason),
        Reply::Nobody => Advised::Told(None),
        Reply::Good(given) | Reply::Degraded(given) => {
            Advised::Told(Some(Advice { author: given.provider, ..given.value }))
        }
    })
}

/// The name of the question of phase 4.2.
const TASK: &str = "enrichment";

struct AdviceReader<'a> {
    analysis: &'a TestAnalysis,
    parts: Vec<Part>,
    min_confidence: f64,
    fence: &'a str,
}

#[async_trait]
impl Reader<Advice> for AdviceReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        Some(("test-advice", answer::form::<ToldAdvice>()))
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = model.context_tokens().saturating_mul(3) / 4;
        let values = context! {
            task => TASK,
            framework => self.analysis.framework.framework.name(),
            layers => layers(|layer| ADVISED(*layer)),
        };
        prompt::build_about_tests(Role::Adviser, &values, &self.parts, room, self.fence)
    }

    async fn read(&self, _: &dyn Model, answer: &Answer) -> Result<Reading<Advice>, EffectError> {
        let sure = |told: &ToldAdvice| told.confidence_score;
        let (told, sure) = match answer::read_with(&answer.text, TASK, sure) {
            Ok(read) => read,
            Err(why) => return Ok(Reading::Useless(FallbackTrigger::Unparseable, why)),
        };
        let advice = advice(&told, self.analysis);
        if advice.suggestions.is_empty() {
            let why = "nothing of it belongs to a file that is asked about".to_owned();
            return Ok(Reading::Useless(FallbackTrigger::General, why));
        }
        Ok(Reading::by_confidence(advice, sure, self.min_confidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test_plan::analysis::{problems, samples};

    fn borne(file: &RepoPath, layer: SubLayer, line: u32, text: &str) -> (RepoPath, Requirement) {
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
        let told = Accepted {
            requirements: vec![
                borne(&file, SubLayer::Wiring, 9, "`f` asks `g`"),
                borne(&file, known.layer, known.line, "the same in other words"),
                borne(&file, SubLayer::Happy, 3, "another ordinary case"),
                borne(&file, SubLayer::Edge, 7, "a blank in front"),
                borne(&file, SubLayer::Edge, 7, "a blank behind"),
            ],
            dropped: vec!["x: no".into()],
            strategy: vec!["first f".into(), "first f".into()],
            ..Accepted::default()
        };
        add(&mut analysis, told);
        assert_eq!(analysis.total(), before + 4);
        let ids: Vec<&str> =
            analysis.files[0].requirements.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["R-001", "R-002", "R-003", "R-007", "R-008", "R-009", "R-010"]);
        assert_eq!(problems(&analysis), Vec::<String>::new());
        assert_eq!(analysis.dropped, ["x: no"]);
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
}
