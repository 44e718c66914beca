//! Decides on evidence whether the code or a failing new test is wrong (specification.md 4.7).

use std::collections::BTreeMap;

use async_trait::async_trait;
use minijinja::context;
use serde_json::Value;

use crate::code::outline::Function;
use crate::domain::chain::FallbackTrigger;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::TestCase;
use crate::domain::text::one_line;
use crate::effect::{Answer, EffectError, Model};
use crate::role::answer;
use crate::role::ask::{Reader, Reading};
use crate::role::prompt::{self, Prompt, PromptPart, Role};

use super::responses::{JudgeResponse, ReportedVerdict};

/// Minimum length of evidence in characters; anything shorter is an unsupported claim.
const EVIDENCE: usize = 20;

/// Errors that occur before a test checks its subject. They are the test's fault and need no judge.
const OWN_FAULTS: &[&str] = &[
    "NameError",
    "ImportError",
    "ModuleNotFoundError",
    "SyntaxError",
    "IndentationError",
    "UnboundLocalError",
    "ReferenceError",
    "FixtureLookupError",
];

/// The location of a defect in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefectSite {
    pub function: String,
    pub line: u32,
    pub evidence: String,
}

/// A verdict after validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefectVerdict {
    /// The code is wrong; the test is kept.
    CodeIsWrong(DefectSite),
    /// The test is wrong, or the cause is unknown; with the reason.
    TestIsWrong(String),
}

/// Whether a test fails because of an error in the test itself.
pub fn is_own_fault(case: &TestCase) -> bool {
    let class = case.failure.as_ref().map_or("", |failure| failure.class.as_str());
    let last = class.rsplit('.').next().unwrap_or(class);
    OWN_FAULTS.contains(&last)
}

/// Validates a verdict against the code. `lines` is the number of lines of the source.
pub fn check_verdict(
    reported: &ReportedVerdict,
    functions: &[Function],
    lines: u32,
) -> DefectVerdict {
    let test = |why: &str| DefectVerdict::TestIsWrong(why.to_owned());
    if reported.wrong.trim() != "code" {
        return test("the test is wrong");
    }
    let evidence = one_line(&reported.evidence, 1_000);
    if evidence.chars().count() < EVIDENCE {
        return test("the verdict blames the code without evidence");
    }
    let short = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let known = functions
        .iter()
        .find(|one| one.name == reported.function || short(&one.name) == short(&reported.function));
    let first = reported.lines.split('-').next().unwrap_or_default().trim().parse::<u32>().ok();
    match known {
        Some(known) => {
            let inside = first.filter(|line| (known.start..=known.end).contains(line));
            DefectVerdict::CodeIsWrong(DefectSite {
                function: known.name.clone(),
                line: inside.unwrap_or(known.start),
                evidence,
            })
        }
        None if reported.function.is_empty()
            && first.is_some_and(|line| (1..=lines).contains(&line)) =>
        {
            let line = first.unwrap_or(1);
            DefectVerdict::CodeIsWrong(DefectSite { function: String::new(), line, evidence })
        }
        None => test("the verdict blames a location that does not exist in the code"),
    }
}

/// The [`Reader`] for verdicts on the failing tests of one file.
pub struct JudgeReader<'a> {
    pub task: String,
    pub subject: &'a RepoPath,
    pub functions: Vec<Function>,
    pub lines: u32,
    pub failing: Vec<TestId>,
    pub parts: Vec<PromptPart>,
    pub min_confidence: f64,
    pub fence: &'a str,
}

#[async_trait]
impl Reader<BTreeMap<TestId, DefectVerdict>> for JudgeReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        Some(("verdicts", answer::json_schema::<JudgeResponse>()))
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = prompt::room(model, Role::Judge, None);
        let count = match self.failing.len() {
            1 => "one".to_owned(),
            many => many.to_string(),
        };
        let values = context! { task => self.task.as_str(), file => self.subject.as_str(), count };
        prompt::build_about_tests(Role::Judge, &values, &self.parts, room, self.fence)
    }

    async fn read(
        &self,
        _: &dyn Model,
        answer: &Answer,
    ) -> Result<Reading<BTreeMap<TestId, DefectVerdict>>, EffectError> {
        let confidence_of = |response: &JudgeResponse| response.confidence_score;
        let parsed = answer::parse_with_confidence(&answer.text, &self.task, confidence_of);
        let (response, confidence) = match parsed {
            Ok(parsed) => parsed,
            Err(why) => return Ok(Reading::Useless(FallbackTrigger::Unparseable, why)),
        };
        let mut verdicts = BTreeMap::new();
        for reported in &response.verdicts {
            if let Some(id) = self.failing.iter().find(|id| id.as_str() == reported.test.trim()) {
                let verdict = check_verdict(reported, &self.functions, self.lines);
                verdicts.insert(id.clone(), verdict);
            }
        }
        if verdicts.is_empty() {
            let why = "it names none of the failing tests".to_owned();
            return Ok(Reading::Useless(FallbackTrigger::NoTests, why));
        }
        Ok(Reading::by_confidence(verdicts, confidence, self.min_confidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;
    use crate::code::outline;
    use crate::role::ask::tests::worth;

    #[test]
    fn the_code_is_called_wrong_only_with_evidence_at_a_place_that_exists() {
        let functions = outline::functions(
            Language::Python,
            "def a():\n    return 1\n\n\ndef b():\n    return 2\n",
        );
        let verdict = |wrong: &str, evidence: &str, function: &str, lines: &str| ReportedVerdict {
            test: "t".into(),
            wrong: wrong.into(),
            evidence: evidence.into(),
            function: function.into(),
            lines: lines.into(),
        };
        let proof = "its name says that it returns 3";
        let table = [
            ("with all", verdict("code", proof, "b", "6-6"), Some(("b", 6))),
            ("lines of another function", verdict("code", proof, "b", "1-2"), Some(("b", 5))),
            ("no lines", verdict("code", proof, "a", ""), Some(("a", 1))),
            ("top level", verdict("code", proof, "", "3-3"), Some(("", 3))),
            ("no such function", verdict("code", proof, "c", "5-6"), None),
            ("no place", verdict("code", proof, "", ""), None),
            ("no evidence", verdict("code", "it is", "b", "6-6"), None),
            ("the test", verdict("test", proof, "b", "6-6"), None),
            ("another word", verdict("both", proof, "b", "6-6"), None),
        ];
        for (why, reported, expected) in table {
            let got = match check_verdict(&reported, &functions, 6) {
                DefectVerdict::CodeIsWrong(wrong) => Some((wrong.function, wrong.line)),
                DefectVerdict::TestIsWrong(_) => None,
            };
            let expected = expected.map(|(name, line)| (name.to_owned(), line));
            assert_eq!(got, expected, "{why}");
        }
    }

    fn failed(class: &str, message: &str) -> TestCase {
        TestCase {
            kind: crate::domain::test::CaseKind::Test,
            id: TestId("t".into()),
            status: crate::domain::test::Status::Failed,
            file: None,
            line: None,
            duration_ms: 0,
            layer: crate::domain::test::Layer::Unit,
            failure: Some(crate::domain::test::FailureText {
                class: class.into(),
                message: message.into(),
                ..Default::default()
            }),
        }
    }

    #[test]
    fn a_failure_before_the_check_is_the_fault_of_the_test() {
        let table = [
            ("NameError", true),
            ("builtins.NameError", true),
            ("ReferenceError", true),
            ("AssertionError", false),
            ("ValueError", false),
            ("", false),
        ];
        for (class, expected) in table {
            assert_eq!(is_own_fault(&failed(class, "")), expected, "{class}");
        }
        assert!(!is_own_fault(&TestCase { failure: None, ..failed("", "") }));
    }

    #[test]
    fn answers_of_a_judge_are_good_weak_or_useless() {
        let subject = RepoPath::parse("shop/price.py").unwrap();
        let reader = JudgeReader {
            task: "IMPL-001-1-verdict".into(),
            subject: &subject,
            functions: Vec::new(),
            lines: 9,
            failing: vec![TestId("t".into())],
            parts: Vec::new(),
            min_confidence: 0.4,
            fence: "FENCE",
        };
        let verdict = |test: &str, confidence: f64| {
            serde_json::json!({
                "verdicts": [{ "test": test, "wrong": "test" }], "confidence_score": confidence,
            })
            .to_string()
        };
        let table = [
            ("good", verdict("t", 0.9)),
            ("weak", verdict(" t ", 0.2)),
            ("useless", verdict("another", 0.9)),
            ("useless", verdict("t", 7.0)),
            ("useless", "I do not know".to_owned()),
            ("useless", String::new()),
        ];
        for (expected, text) in table {
            assert_eq!(worth(&reader, &text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_defect_lies_inside_the_source(
            wrong in "(code|test| code )", function in "(a|b|C\\.a|)", lines in "[0-9 -]{0,8}", lines_of in 0u32..9,
        ) {
            let text = "def a():\n    return 1\n\n\ndef b():\n    return 2\n";
            let functions = outline::functions(Language::Python, text);
            let evidence = "its name says that it returns 3".to_owned();
            let reported = ReportedVerdict { test: "t".into(), wrong, evidence, function, lines };
            if let DefectVerdict::CodeIsWrong(site) = check_verdict(&reported, &functions, lines_of) {
                let own = functions.iter().find(|one| one.name == site.function);
                let (first, last) = own.map_or((1, lines_of), |one| (one.start, one.end));
                proptest::prop_assert!((first..=last).contains(&site.line), "{site:?}");
            }
        }
    }
}
