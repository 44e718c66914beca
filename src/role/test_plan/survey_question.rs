//! Phase 3 with providers: asks what must be tested, and adds to the plan what the code bears out
//! (specification.md 3.1, 4.5).

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use minijinja::context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::language::Language;
use crate::code::outline;
use crate::domain::chain::FallbackTrigger;
use crate::domain::id::RepoPath;
use crate::domain::test_plan::layer::SubLayer;
use crate::domain::test_plan::plan::TestPlan;
use crate::domain::test_plan::requirement::{PlannedFile, Requirement};
use crate::effect::{Answer, EffectError, Effects, Model};
use crate::role::answer;
use crate::role::ask::{ProviderChain, Reader, Reading, Reply};
use crate::role::project_docs::Documents;
use crate::role::prompt::{self, Prompt, PromptPart, Role};
use crate::role::requirement_lines::requirement_lines;

use super::survey::Survey;

/// Number of files in one question.
const TOGETHER: usize = 6;

/// Maximum number of requirements per file, of an answer and of the plan.
const PER_FILE: usize = 60;

/// Maximum number of problems sent back to a provider.
const SENT_BACK: usize = 10;

/// Maximum number of bytes of a source in a prompt.
const SHOWN: usize = 40 << 10;

/// Maximum length of a sentence, in characters.
const SENTENCE: usize = 300;

/// One requirement, as the surveyor reports it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedRequirement {
    /// `L1.1` to `L3.4`.
    pub layer: String,
    /// The function, as the source names it.
    pub function: String,
    /// The line that decides it, from 1.
    pub line: u32,
    /// The requirement in one sentence.
    pub text: String,
    /// Concrete input.
    pub given: String,
    /// The concrete result.
    pub expect: String,
}

/// One source with what must be tested of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportedNeeds {
    /// Path from the repository root.
    pub file: String,
    /// What tests must show.
    pub requirements: Vec<ReportedRequirement>,
}

/// The surveyor's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SurveyResponse {
    /// The question it answers.
    pub task_id: String,
    /// The sources with their requirements.
    pub files: Vec<ReportedNeeds>,
    /// From 0 to 1.
    pub confidence_score: f64,
}

/// The result of phase 3 with providers.
pub enum SurveyOutcome {
    Answered { degraded: bool },
    OutOfBudget(String),
}

/// The part of an answer that is consistent with the code.
#[derive(Clone, Debug, Default, PartialEq)]
struct Accepted {
    /// Requirements with their files, not numbered yet; `true` where an input of its own is given.
    requirements: Vec<(RepoPath, Requirement, bool)>,
    dropped: Vec<String>,
}

/// Asks which tests a plan's files need, a few at a time, by halves after a timeout.
pub async fn consult(
    plan: &mut TestPlan,
    (survey, documents): (&Survey, &Documents),
    providers: &ProviderChain,
    fx: &Effects<'_>,
) -> Result<SurveyOutcome, EffectError> {
    let paths = |part: &[PlannedFile]| part.iter().map(|file| file.file.clone()).collect();
    let mut waiting: Vec<Vec<RepoPath>> = plan.files.chunks(TOGETHER).rev().map(paths).collect();
    let (mut degraded, mut number) = (false, 0);
    while let Some(files) = waiting.pop() {
        number += 1;
        let task = format!("analysis-{number}");
        let reader = SurveyReader {
            task: task.clone(),
            files: plan.files.iter().filter(|file| files.contains(&file.file)).collect(),
            plan: &*plan,
            survey,
            documents,
            min_confidence: providers.min_confidence(),
            fence: providers.fence(),
        };
        let reply = providers.ask(("analysis", &task), Role::Surveyor, &reader, fx).await?;
        degraded |= !matches!(reply, Reply::Good(_));
        match reply {
            Reply::OutOfBudget(reason) => return Ok(SurveyOutcome::OutOfBudget(reason)),
            Reply::Good(answer) | Reply::Degraded(answer) => {
                add(plan, answer.value, &answer.provider);
            }
            Reply::NoAnswer if files.len() > 1 && providers.timed_out().await => {
                let (first, second) = files.split_at(files.len() / 2);
                waiting.extend([second.to_vec(), first.to_vec()]);
            }
            Reply::NoAnswer => {}
        }
    }
    Ok(SurveyOutcome::Answered { degraded })
}

/// Adds valid requirements to a plan, except for those already derived from the code.
fn add(plan: &mut TestPlan, accepted: Accepted, source: &str) {
    let mut number = plan.requirement_count();
    let derived: BTreeMap<RepoPath, usize> =
        plan.files.iter().map(|file| (file.file.clone(), file.requirements.len())).collect();
    for (path, one, has_input) in accepted.requirements {
        let Some(file) = plan.files.iter_mut().find(|file| file.file == path) else { continue };
        // A function can have many normal cases. Any other line with a requirement from before gets a
        // second one only with an input of its own; an answer may hold several for the same line.
        let before = derived.get(&path).copied().unwrap_or_default();
        let is_known = file.requirements.iter().enumerate().any(|(at, known)| {
            let place = (known.layer, &known.function, known.line);
            let same_place = place == (one.layer, &one.function, one.line);
            let decides = at < before && same_place && one.layer != SubLayer::Happy && !has_input;
            decides || known.text == one.text
        });
        if !is_known && file.requirements.len() < PER_FILE {
            number += 1;
            let (id, source) = (format!("R-{number:03}"), source.to_owned());
            file.requirements.push(Requirement { id, source, ..one });
        }
    }
    plan.left_out.extend(accepted.dropped);
}

struct SurveyReader<'a> {
    task: String,
    files: Vec<&'a PlannedFile>,
    plan: &'a TestPlan,
    survey: &'a Survey,
    documents: &'a Documents,
    min_confidence: f64,
    fence: &'a str,
}

impl SurveyReader<'_> {
    fn parts(&self) -> Vec<PromptPart> {
        let (plan, survey) = (self.plan, self.survey);
        let part = |title: String, text: String| PromptPart::new(title, text, true);
        let mut parts = vec![part("What is asked for".into(), plan.description.clone())];
        for file in &self.files {
            let text = survey.text(&file.file).chars().take(SHOWN).collect();
            parts.push(part(format!("The source {}", file.file), text));
        }
        for file in &self.files {
            let known: Vec<&Requirement> = file.requirements.iter().collect();
            let (reason, place) = (&file.reason, &file.test_file);
            let lines = requirement_lines(&known);
            let text = format!("{reason}; tests belong into {place}\n{lines}");
            parts.push(part(format!("What the code of {} says by itself", file.file), text));
        }
        let subjects: Vec<(&RepoPath, Vec<String>)> =
            self.files.iter().map(|file| (&file.file, file.functions.clone())).collect();
        parts.extend(self.documents.about(&subjects));
        if let Some(sample) = &plan.framework.conventions.sample {
            let text: Vec<&str> = survey.text(sample).lines().take(80).collect();
            parts.push(part(format!("A test file of this project, {sample}"), text.join("\n")));
        }
        parts.push(part("Coverage now".into(), plan.coverage.clone()));
        if !plan.couplings.is_empty() {
            let text = plan.couplings.join("\n");
            parts.push(part("Couplings that imports do not show".into(), text));
        }
        parts
    }

    /// Checks an answer against the code: requirements must be real and observable.
    fn accept(&self, response: &SurveyResponse) -> Accepted {
        let mut accepted = Accepted::default();
        for needs in &response.files {
            let name = needs.file.trim().trim_start_matches("./");
            let Some(file) = self.files.iter().find(|file| file.file.as_str() == name) else {
                let reason = "is none of the files that are asked about";
                accepted.dropped.push(format!("`{}` {reason}", one_line(name)));
                continue;
            };
            for one in needs.requirements.iter().take(PER_FILE) {
                let has_input = !one.given.trim().is_empty();
                match self.valid(one, &file.file) {
                    Ok(valid) => {
                        accepted.requirements.push((file.file.clone(), valid, has_input));
                    }
                    Err(why) => {
                        let text = one_line(&one.text);
                        accepted.dropped.push(format!("{}: “{text}”: {why}", file.file));
                    }
                }
            }
            let more = needs.requirements.len().saturating_sub(PER_FILE);
            if more > 0 {
                accepted.dropped.push(format!("{}: {more} more than are looked at", file.file));
            }
        }
        accepted
    }

    /// A reported requirement in the form of the plan, or why it is none.
    fn valid(
        &self,
        reported: &ReportedRequirement,
        file: &RepoPath,
    ) -> Result<Requirement, String> {
        let code = reported.layer.split_whitespace().next().unwrap_or_default();
        let layer = SubLayer::ALL
            .iter()
            .find(|layer| layer.code() == code)
            .ok_or_else(|| format!("`{}` is not a layer", one_line(code)))?;
        let [text, given, expect] =
            [&reported.text, &reported.given, &reported.expect].map(|text| one_line(text));
        if text.is_empty() || expect.is_empty() {
            return Err("it does not say what must be seen".into());
        }
        let source = self.survey.text(file);
        let functions = Language::of(file)
            .map(|language| outline::functions_and_default_export(language, source))
            .unwrap_or_default();
        let short = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
        let name = reported.function.trim().trim_end_matches("()");
        let known = functions.iter().find(|one| one.name == name).or_else(|| {
            functions.iter().find(|one| !name.is_empty() && short(&one.name) == short(name))
        });
        if known.is_none() && (!name.is_empty() || layer.layer() == 1) {
            return Err(format!("there is no function `{}` in it", one_line(name)));
        }
        let last = u32::try_from(source.lines().count()).unwrap_or(u32::MAX).max(1);
        let (first, last) = known.map_or((1, last), |one| (one.start, one.end));
        let line = if (first..=last).contains(&reported.line) { reported.line } else { first };
        let words = words_near(file, self.survey);
        if let Some(name) =
            [&text, &given, &expect].into_iter().find_map(|one| unknown_call(one, &words))
        {
            return Err(format!("there is no `{name}` in it or in what it imports"));
        }
        let given = if given.is_empty() { given } else { format!("; given: {given}") };
        Ok(Requirement {
            id: String::new(),
            layer: *layer,
            function: known.map_or_else(String::new, |one| one.name.clone()),
            line,
            text: format!("{text}{given}; expect: {expect}"),
            source: String::new(),
            is_branch: false,
        })
    }
}

/// All words in a file and in the files that it imports.
pub fn words_near<'a>(file: &'a RepoPath, survey: &'a Survey) -> BTreeSet<&'a str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let files = std::iter::once(file).chain(survey.graph.imports_of(file));
    files.flat_map(|file| survey.text(file).split(move |c| !is_part(c))).collect()
}

/// Names of the languages that are callable without an import.
const COMMON: &str = "int float str bytes bool list dict set tuple frozenset len range sorted sum min max \
                      abs round Decimal datetime date Exception ValueError TypeError KeyError IndexError \
                      RuntimeError Error RangeError Promise Map Set Date Number String Array Object vec \
                      Some Ok Err Vec panic errors New";

/// A call in backticks whose name is not one of `words`.
pub fn unknown_call(text: &str, words: &BTreeSet<&str>) -> Option<String> {
    text.split('`').skip(1).step_by(2).find_map(|quoted| {
        let (callee, _) = quoted.split_once('(')?;
        let name = callee.trim().trim_start_matches("new ").trim_end_matches('!');
        let last = name.rsplit(['.', ':']).next().unwrap_or_default();
        let is_name =
            !last.is_empty() && last.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        let is_common = COMMON.split_whitespace().any(|common| common == last);
        (is_name && !words.contains(last) && !is_common).then(|| one_line(name))
    })
}

/// Puts a truncated, untrusted text on one line, without changing values in backticks.
pub fn one_line(text: &str) -> String {
    let (mut line, mut is_code) = (String::new(), false);
    for c in text.trim().chars() {
        is_code ^= c == '`';
        let blank = c.is_whitespace() || c.is_control();
        if !blank {
            line.push(c);
        } else if is_code || !line.ends_with(' ') {
            line.push(' ');
        }
    }
    line.chars().take(SENTENCE).collect::<String>().trim().to_owned()
}

/// The layers, formatted for a prompt.
fn layers() -> String {
    let all = SubLayer::ALL.iter();
    all.map(|layer| format!("{layer} {}", layer.title())).collect::<Vec<_>>().join(", ")
}

#[async_trait]
impl Reader<Accepted> for SurveyReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        Some(("test-survey", answer::json_schema::<SurveyResponse>()))
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = prompt::room(model, Role::Surveyor, None);
        let count = match self.files.len() {
            1 => "one file".to_owned(),
            many => format!("{many} files"),
        };
        let values = context! {
            task => self.task.as_str(),
            count,
            framework => self.plan.framework.framework.name(),
            layers => layers(),
        };
        prompt::build_about_tests(Role::Surveyor, &values, &self.parts(), room, self.fence)
    }

    async fn read(&self, _: &dyn Model, answer: &Answer) -> Result<Reading<Accepted>, EffectError> {
        let confidence_of = |response: &SurveyResponse| response.confidence_score;
        let parsed = answer::parse_with_confidence(&answer.text, &self.task, confidence_of);
        let (response, confidence) = match parsed {
            Ok(parsed) => parsed,
            Err(why) => return Ok(Reading::Useless(FallbackTrigger::Unparseable, why)),
        };
        let accepted = self.accept(&response);
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
    use crate::domain::test_plan::plan::samples;
    use crate::role::ask::tests::worth;

    const SHOP: &[(&str, &str)] = &[
        (
            "shop/price.py",
            "from shop.tax import rate\n\n\nclass Cart:\n    def add(self, item):\n        self.items = rate(item)\n\n\ndef price(text):\n    return float(text)\n",
        ),
        ("shop/tax.py", "def rate(item):\n    return 2\n"),
    ];

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    /// What `check` says of a reader for questions about one file of some sources.
    fn with_reader<T>(
        sources: &[(&str, &str)],
        file: &str,
        check: impl FnOnce(&SurveyReader<'_>) -> T,
    ) -> T {
        let texts: BTreeMap<RepoPath, String> =
            sources.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
        let survey = Survey::of(texts.keys().cloned().collect(), texts);
        let mut plan = samples::plan(1, 1);
        plan.files[0].file = path(file);
        plan.couplings = vec!["a.py:3 looks up names while running".into()];
        let reader = SurveyReader {
            task: "analysis-1".into(),
            files: plan.files.iter().collect(),
            plan: &plan,
            survey: &survey,
            documents: &Documents::default(),
            min_confidence: 0.4,
            fence: "FENCE",
        };
        check(&reader)
    }

    fn reported(layer: &str, function: &str, text: &str, expect: &str) -> ReportedRequirement {
        ReportedRequirement {
            layer: layer.into(),
            function: function.into(),
            line: 2,
            text: text.into(),
            given: String::new(),
            expect: expect.into(),
        }
    }

    #[test]
    fn what_the_code_does_not_bear_out_is_thrown_away_with_the_reason() {
        let table = [
            (reported("L1.1", "price", "`price('2')` is 2.0", "2.0"), None),
            (reported("L1.4", "Cart.add", "adds", "one item"), None),
            (reported("L1.4 state changes", "add()", "adds", "one item"), None),
            (reported("L2.1", "", "`rate(…)` is asked", "2"), None),
            (reported("L2.1", "Cart.remove", "takes", "none"), Some("no function `Cart.remove`")),
            (reported("L1.1", "", "works", "2"), Some("no function")),
            (reported("L1.1", "parse_price", "works", "2"), Some("no function `parse_price`")),
            (reported("L9", "price", "works", "2"), Some("is not a layer")),
            (reported("L0.1", "price", "compiles", "yes"), Some("is not a layer")),
            (reported("L1.1", "price", "works", " "), Some("what must be seen")),
            (reported("L1.1", "price", "`convert('2')` is 2", "2"), Some("no `convert`")),
        ];
        with_reader(SHOP, "shop/price.py", |reader| {
            for (one, expected) in &table {
                let found = reader.valid(one, &path("shop/price.py"));
                match (expected, found) {
                    (None, found) => assert!(found.is_ok(), "{one:?}: {found:?}"),
                    (Some(why), found) => assert!(found.unwrap_err().contains(why), "{one:?}"),
                }
            }
            let given = ReportedRequirement {
                given: "two\tlines  of `'\\n    a\\n  b'`\n".into(),
                ..reported("L1.1", "price", "works", "2.0")
            };
            let valid = reader.valid(&given, &path("shop/price.py")).unwrap();
            let text = "works; given: two lines of `'\\n    a\\n  b'`; expect: 2.0";
            assert_eq!(valid.text, text);
            let elsewhere = ReportedNeeds { file: "shop/tax.py".into(), ..Default::default() };
            let response = SurveyResponse { files: vec![elsewhere], ..Default::default() };
            assert!(reader.accept(&response).dropped[0].contains("none of the files"));
            let many = ReportedNeeds {
                file: "shop/price.py".into(),
                requirements: vec![ReportedRequirement::default(); PER_FILE + 1],
            };
            let response = SurveyResponse { files: vec![many], ..Default::default() };
            let dropped = reader.accept(&response).dropped;
            assert_eq!(dropped.len(), PER_FILE + 1);
            assert!(dropped.last().unwrap().contains("1 more than"), "{dropped:?}");
        });
    }

    #[test]
    fn a_function_without_a_name_is_known_as_the_question_calls_it() {
        let text = "module.exports = function (val) {\n  return parse(val);\n};\n\nfunction parse(val) {\n  return Number(val);\n}\n";
        with_reader(&[("index.js", text)], "index.js", |reader| {
            for (function, line) in [("default", 2), ("parse", 5)] {
                let one = reported("L1.1", function, "`parse('2')` is 2", "2");
                let found = reader.valid(&one, &path("index.js")).unwrap();
                assert_eq!((found.function.as_str(), found.line), (function, line));
            }
        });
    }

    #[test]
    fn a_call_in_backticks_must_be_near_or_common() {
        let words = BTreeSet::from(["price", "Cart"]);
        let table = [
            ("`price('2')` is 2", None),
            ("`Cart.price(2)`", None),
            ("`new Map()` is empty", None),
            ("`len(x)` is 2", None),
            ("`vec![1]`", None),
            ("price(2) without backticks, convert(2) too", None),
            ("`convert('2')`", Some("convert")),
            ("`shop.convert('2')`", Some("shop.convert")),
        ];
        for (text, expected) in table {
            assert_eq!(unknown_call(text, &words).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_added_is_numbered_on_and_nothing_is_said_twice() {
        let mut plan = samples::plan(2, 3);
        let (file, known) = (plan.files[0].file.clone(), plan.files[0].requirements[1].clone());
        let valid = |layer, line, text: &str, has_input| {
            let one =
                Requirement { id: String::new(), layer, line, text: text.into(), ..known.clone() };
            (file.clone(), one, has_input)
        };
        let accepted = Accepted {
            requirements: vec![
                valid(SubLayer::Wiring, 9, "`f` asks `g`", false),
                valid(known.layer, known.line, "the same in other words", false),
                valid(SubLayer::Happy, 3, "another ordinary case", false),
                valid(SubLayer::Edge, 7, "a blank in front", true),
                valid(SubLayer::Edge, 7, "a blank behind", true),
            ],
            dropped: vec!["x: no".into()],
        };
        add(&mut plan, accepted, "one");
        let ids: Vec<&str> = plan.files[0].requirements.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["R-001", "R-002", "R-003", "R-007", "R-008", "R-009", "R-010"]);
        let sources: BTreeSet<&str> =
            plan.all_requirements().map(|(_, one)| one.source.as_str()).collect();
        assert_eq!(sources, BTreeSet::from(["code", "one"]));
        assert_eq!(plan.left_out, ["x: no"]);
    }

    #[test]
    fn the_question_shows_sources_first_and_couplings_last() {
        with_reader(SHOP, "shop/price.py", |reader| {
            let titles: Vec<String> = reader.parts().into_iter().map(|part| part.title).collect();
            assert_eq!(titles[1], "The source shop/price.py");
            assert_eq!(titles.last().unwrap(), "Couplings that imports do not show");
        });
        assert!(layers().starts_with("L1.1 "), "{}", layers());
    }

    #[test]
    fn answers_of_a_surveyor_are_good_weak_useless_or_sent_back() {
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
        with_reader(SHOP, "shop/price.py", |reader| {
            for (expected, text) in &table {
                assert_eq!(worth(reader, text), *expected, "{text}");
            }
        });
    }

    proptest::proptest! {
        #[test]
        fn a_foreign_line_is_one_bounded_line(text in "[a `\t\n\u{7}é]{0,400}") {
            let line = one_line(&text);
            proptest::prop_assert!(line.chars().count() <= SENTENCE);
            proptest::prop_assert!(!line.contains(char::is_control));
            if !text.contains('`') {
                proptest::prop_assert!(!line.contains("  "));
            }
        }
    }
}
