//! Finds failing tests that no code can make pass, because another test expects another result of the
//! same call (specification.md 7.18).

use std::collections::BTreeMap;

use crate::code::language::Language;
use crate::code::test_cases::{Expectation, expectations};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::{Results, Status, TestCase};

/// An expectation of a test that ran.
struct Ran<'a> {
    case: &'a TestCase,
    file: &'a RepoPath,
    expects: Expectation,
}

/// The failing tests that contradict another test, each with the evidence. `sources` are the texts of
/// test files.
///
/// That the same call is meant is shown by the import; that nothing else decides about its result, by the
/// two runs: in both, the call had the same one.
#[must_use]
pub fn contradictions(
    results: &Results,
    sources: &BTreeMap<RepoPath, String>,
) -> BTreeMap<TestId, String> {
    let ran: Vec<Ran<'_>> = sources
        .iter()
        .flat_map(|(file, text)| {
            let all = Language::of(file).map(|language| expectations(language, text));
            let all = all.unwrap_or_default().into_iter();
            all.filter_map(move |expects| {
                let mut cases =
                    results.cases.iter().filter(|case| case.file.as_ref() == Some(file));
                let case = cases.find(|case| expects.is_of(case.id.as_str()))?;
                Some(Ran { case, file, expects })
            })
        })
        .collect();
    let mut found = BTreeMap::new();
    for one in ran.iter().filter(|one| one.case.status == Status::Failed) {
        let other = ran.iter().find(|other| {
            one.case.id != other.case.id
                && one.expects.contradicts(&other.expects)
                && (!one.expects.has_relative_origin() || one.file.parent() == other.file.parent())
                && had_the_same_result(one, other)
        });
        if let Some(other) = other {
            found.insert(one.case.id.clone(), evidence(one, other));
        }
    }
    found
}

/// Whether the call had the same result in both runs, as far as their messages say.
fn had_the_same_result(failed: &Ran<'_>, other: &Ran<'_>) -> bool {
    let rest = |ran: &Ran<'_>| {
        let mut words = words(message(ran.case));
        let expected = self::words(&ran.expects.expected);
        let is_said = !expected.is_empty()
            && expected.iter().all(|word| {
                let at = words.iter().position(|one| one == word);
                at.map(|at| words.remove(at)).is_some()
            });
        is_said.then_some(words)
    };
    if failed.expects.raises != other.expects.raises {
        return outcome(failed).is_some_and(|one| outcome(other) == Some(one));
    }
    match other.case.status {
        // Words of the call stand in the message anyway.
        Status::Passed => rest(failed).is_some_and(|said| {
            let call = words(&failed.expects.call);
            let expected = words(&other.expects.expected);
            let is_result = |word: &String| said.contains(word) && !call.contains(word);
            !expected.is_empty() && expected.iter().all(is_result)
        }),
        Status::Failed => rest(failed).is_some_and(|words| rest(other) == Some(words)),
        Status::Skipped => false,
    }
}

/// The error that the call of a test raised; empty where it gave a value.
fn outcome<'a>(ran: &'a Ran<'_>) -> Option<&'a str> {
    const NOT_RAISED: &[&str] =
        &["not raised", "DID NOT RAISE", "Missing expected exception", "did not throw"];
    let Some(failure) = &ran.case.failure else {
        let raised = if ran.expects.raises { ran.expects.expected.as_str() } else { "" };
        return (ran.case.status == Status::Passed).then_some(raised);
    };
    if NOT_RAISED.iter().any(|words| failure.message.contains(words)) {
        return Some("");
    }
    let is_assertion = failure.class.is_empty() || failure.class.to_lowercase().contains("assert");
    let expected = words(&ran.expects.expected);
    let is_compared = expected.iter().all(|word| words(&failure.message).contains(word));
    match (is_assertion, ran.expects.raises) {
        (false, _) => Some(failure.class.as_str()),
        (true, false) if is_compared && !expected.is_empty() => Some(""),
        _ => None,
    }
}

fn message(case: &TestCase) -> &str {
    case.failure.as_ref().map_or("", |failure| failure.message.as_str())
}

/// The words of a text without the numbering of pytest's marks, in order.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '_'));
    let words = words.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn evidence(one: &Ran<'_>, other: &Ran<'_>) -> String {
    let verb = if one.expects.raises { "raise" } else { "be" };
    format!(
        "it expects `{}` to {verb} `{}` ({}:{}), and `{}` expects `{}` of the same call ({}:{}): no code \
         meets both",
        one.expects.call,
        one.expects.expected,
        one.file,
        one.expects.line,
        other.case.id,
        other.expects.expected,
        other.file,
        other.expects.line
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{CaseKind, FailureText, Layer, Scope};

    const FILE: &str = "tests/test_price.py";

    fn case(id: &str, message: &str) -> TestCase {
        let failure = FailureText { message: message.into(), ..FailureText::default() };
        TestCase {
            kind: CaseKind::Test,
            id: TestId(id.into()),
            status: if message.is_empty() { Status::Passed } else { Status::Failed },
            file: RepoPath::parse(FILE).ok(),
            line: None,
            duration_ms: 1,
            layer: Layer::Unit,
            failure: (!message.is_empty()).then_some(failure),
        }
    }

    fn found(cases: Vec<TestCase>) -> Vec<String> {
        found_in(
            "from price import half\n\n\ndef test_old():\n    assert half(9) == 4\n\n\ndef test_new():\n    assert half(9) == 5\n",
            cases,
        )
    }

    fn found_in(text: &str, cases: Vec<TestCase>) -> Vec<String> {
        let results = Results {
            cases,
            scope: Scope::Full,
            command: String::new(),
            exit_code: Some(1),
            started_at: String::new(),
            duration_ms: 1,
            log: String::new(),
            is_offline: false,
            objections: Vec::new(),
            flaky: Vec::new(),
            notices: Vec::new(),
            lacking: std::collections::BTreeMap::new(),
        };
        let sources = [(RepoPath::parse(FILE).unwrap(), text.to_owned())].into();
        contradictions(&results, &sources).into_keys().map(|id| id.0).collect()
    }

    #[test]
    fn an_error_and_a_value_of_one_call_contradict() {
        let text = "import pytest\nfrom price import half\n\n\ndef test_old():\n    with pytest.raises(ValueError):\n        half(9)\n\n\ndef test_new():\n    result = half(9)\n    assert result == 5\n";
        let old = |message: &str| case("tests/test_price.py::test_old", message);
        let new = |message: &str| case("tests/test_price.py::test_new", message);
        let names = ["tests/test_price.py::test_new", "tests/test_price.py::test_old"];
        let mut raised = new("odd");
        raised.failure.as_mut().unwrap().class = "ValueError".into();
        assert_eq!(found_in(text, vec![old(""), raised]), names[..1]);
        assert_eq!(found_in(text, vec![old("DID NOT RAISE ValueError"), new("")]), names[1..]);
        let wrong = new("assert 4 == 5");
        assert_eq!(found_in(text, vec![old("DID NOT RAISE ValueError"), wrong]), names);
        let mut other = new("odd");
        other.failure.as_mut().unwrap().class = "TypeError".into();
        assert_eq!(found_in(text, vec![old(""), other]), Vec::<String>::new());
    }

    #[test]
    fn two_results_of_one_call_contradict_where_the_runs_had_the_same_one() {
        let old = |message: &str| case("tests/test_price.py::test_old", message);
        let new = |message: &str| case("tests/test_price.py::test_new", message);
        let names = ["tests/test_price.py::test_new", "tests/test_price.py::test_old"];
        let said = |actual: &str, expected: &str| {
            format!("assert {actual} == {expected}\n +  where {actual} = half(9)")
        };
        assert_eq!(found(vec![old(""), new(&said("4", "5"))]), names[..1]);
        assert_eq!(found(vec![old(&said("5", "4")), new("")]), names[1..]);
        assert_eq!(found(vec![old(&said("3", "4")), new(&said("3", "5"))]), names);
        // The results of the two runs are not the same, so something else decides about them.
        assert_eq!(found(vec![old(&said("3", "4")), new(&said("6", "5"))]), Vec::<String>::new());
        assert_eq!(found(vec![old(""), new("NameError: x")]), Vec::<String>::new());
        assert_eq!(
            found(vec![new(&said("4", "5"))]),
            Vec::<String>::new(),
            "the other did not run"
        );
    }
}
