//! A new test fails: is the code wrong, or the test? Nobody is believed without evidence
//! (product.md 13.4).

use std::collections::BTreeMap;

use async_trait::async_trait;
use minijinja::context;
use serde_json::Value;

use crate::code::outline::Function;
use crate::domain::chain::FallbackTrigger;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::TestCase;
use crate::effect::{Answer, EffectError, Model};
use crate::role::answer;
use crate::role::ask::{Reader, Reading};
use crate::role::prompt::{self, Part, Prompt, Role};

use super::told::{ToldVerdict, Verdicts};

/// Characters of evidence at least: less is a claim.
const EVIDENCE: usize = 20;

/// Errors of a test that never reached its subject's answer. No judge is needed for them.
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

/// Where the code is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The function; empty at top level.
    pub function: String,
    /// First line, from 1.
    pub line: u32,
    /// What shows it.
    pub evidence: String,
}

/// What is decided of one failing test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The code is wrong; the test stays as it is.
    Code(Wrong),
    /// The test is wrong, or nobody can say; with the reason.
    Test(String),
}

/// Whether a failure is the test's own, whatever its subject does.
#[must_use]
pub fn is_own_fault(case: &TestCase) -> bool {
    let class = case.failure.as_ref().map_or("", |failure| failure.class.as_str());
    let last = class.rsplit('.').next().unwrap_or(class);
    OWN_FAULTS.contains(&last)
}

/// Whether a test was stopped because it did not end. Its subject may be to blame as well, so a
/// judge is asked all the same.
#[must_use]
pub fn is_endless(case: &TestCase) -> bool {
    let failure = case.failure.clone().unwrap_or_default();
    failure.class.ends_with("TestTimeout") || failure.message.contains("the test was stopped after")
}

/// Decides one verdict against what the code holds. `lines` is the length of the source.
#[must_use]
pub fn rule(told: &ToldVerdict, functions: &[Function], lines: u32) -> Ruling {
    let test = |why: &str| Ruling::Test(why.to_owned());
    if told.wrong.trim() != "code" {
        return test("the test is wrong");
    }
    let evidence: String = told.evidence.chars().filter(|c| !c.is_control()).take(1_000).collect();
    if evidence.trim().chars().count() < EVIDENCE {
        return test("the code is called wrong without evidence");
    }
    let short = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let known = functions
        .iter()
        .find(|one| one.name == told.function || short(&one.name) == short(&told.function));
    let first = told.lines.split('-').next().unwrap_or_default().trim().parse::<u32>().ok();
    match known {
        Some(known) => {
            let inside = first.filter(|line| (known.start..=known.end).contains(line));
            Ruling::Code(Wrong {
                function: known.name.clone(),
                line: inside.unwrap_or(known.start),
                evidence,
            })
        }
        None if told.function.is_empty()
            && first.is_some_and(|line| (1..=lines).contains(&line)) =>
        {
            let line = first.unwrap_or(1);
            Ruling::Code(Wrong { function: String::new(), line, evidence })
        }
        None => test("the code is called wrong at a place that is not there"),
    }
}

/// Reads the verdicts on the failing tests of one file.
pub struct JudgeReader<'a> {
    /// Names the question.
    pub task: String,
    /// The source.
    pub subject: &'a RepoPath,
    /// Its functions.
    pub functions: Vec<Function>,
    /// Its lines.
    pub lines: u32,
    /// Tests that fail.
    pub failing: Vec<TestId>,
    /// What is shown.
    pub parts: Vec<Part>,
    /// Least confidence to be believed.
    pub min_confidence: f64,
    /// The word around foreign text.
    pub fence: &'a str,
}

#[async_trait]
impl Reader<BTreeMap<TestId, Ruling>> for JudgeReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        Some(("verdicts", answer::form::<Verdicts>()))
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = model.context_tokens().saturating_mul(3) / 4;
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
    ) -> Result<Reading<BTreeMap<TestId, Ruling>>, EffectError> {
        let sure = |told: &Verdicts| told.confidence_score;
        let (told, sure) = match answer::read_with(&answer.text, &self.task, sure) {
            Ok(read) => read,
            Err(why) => return Ok(Reading::Useless(FallbackTrigger::Unparseable, why)),
        };
        let mut rulings = BTreeMap::new();
        for one in &told.verdicts {
            if let Some(id) = self.failing.iter().find(|id| id.as_str() == one.test.trim()) {
                rulings.insert(id.clone(), rule(one, &self.functions, self.lines));
            }
        }
        if rulings.is_empty() {
            let why = "it names none of the failing tests".to_owned();
            return Ok(Reading::Useless(FallbackTrigger::NoTests, why));
        }
        Ok(Reading::by_confidence(rulings, sure, self.min_confidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;
    use crate::code::outline;

    #[test]
    fn the_code_is_called_wrong_only_with_evidence_at_a_place_that_exists() {
        let functions = outline::functions(
            Language::Python,
            "def a():\n    return 1\n\n\ndef b():\n    return 2\n",
        );
        let verdict = |wrong: &str, evidence: &str, function: &str, lines: &str| ToldVerdict {
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
        for (why, told, expected) in table {
            let got = match rule(&told, &functions, 6) {
                Ruling::Code(wrong) => Some((wrong.function, wrong.line)),
                Ruling::Test(_) => None,
            };
            let expected = expected.map(|(name, line)| (name.to_owned(), line));
            assert_eq!(got, expected, "{why}");
        }
    }
}
