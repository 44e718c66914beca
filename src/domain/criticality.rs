//! Criticality of a failing test, with the evidence for it.
//!
//! A low rating lets a failure through the gate, so it needs evidence; everything else is at least
//! medium. Source: specification.md 7.2 (F-089, F-090, C-36).

use serde::{Deserialize, Serialize};

use super::test::{Layer, TestCase};
use super::text;

/// Criticality of a failing test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criticality {
    /// Known not to be caused by the code.
    Low,
    /// A feature works only in part.
    Medium,
    /// Core behaviour, security or data is broken, or the change under test broke it.
    High,
}

display_stored_name!(Criticality);

/// Results of a failing test in other runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circumstances<'a> {
    /// Whether the test passed on a re-run without a change.
    pub flaky: bool,
    /// Why no edit repairs the failure, if that is known: the environment or the configuration says so.
    pub excuse: Option<&'a str>,
    /// Whether the test passes on the merge base.
    pub introduced: bool,
    /// Whether the test fails on the merge base too.
    pub preexisting: bool,
    /// Whether the test did not fail in the baseline of this session.
    pub newly_failing: bool,
}

/// A criticality, with evidence for it that regreen wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    pub criticality: Criticality,
    /// The evidence for the level.
    pub reason: String,
}

/// Words in test names and paths that suggest security, money or data; a plural counts too.
const SENSITIVE: &[&str] = &[
    "auth",
    "oauth",
    "authentication",
    "authenticate",
    "authenticated",
    "authorization",
    "authorize",
    "authorized",
    "login",
    "password",
    "permission",
    "security",
    "token",
    "payment",
    "billing",
    "invoice",
    "checkout",
    "corrupt",
    "corrupted",
    "corruption",
    "migration",
    "encrypt",
    "encrypted",
    "encryption",
];

/// Assesses one failing test. The first rule that holds wins.
pub fn assess(case: &TestCase, runs: Circumstances<'_>) -> Assessment {
    let (criticality, reason) = if let Some(evidence) = runs.excuse {
        (Criticality::Low, evidence.to_owned())
    } else if runs.flaky {
        (Criticality::Low, "passed on a re-run without a change".to_owned())
    } else if runs.newly_failing {
        (Criticality::High, "did not fail before this session changed anything".to_owned())
    } else if runs.introduced {
        (Criticality::High, "passes on the merge base".to_owned())
    } else if let Some(word) = sensitive_word(case) {
        (Criticality::High, format!("its name or file speaks of `{word}`"))
    } else if case.layer == Layer::Integration || case.layer == Layer::EndToEnd {
        (Criticality::High, "covers several modules together".to_owned())
    } else if runs.preexisting {
        (Criticality::Medium, "fails on the merge base too".to_owned())
    } else {
        (Criticality::Medium, "no evidence that it is harmless".to_owned())
    };
    Assessment { criticality, reason }
}

/// Compares whole words: an author is no authentication.
fn sensitive_word(case: &TestCase) -> Option<&'static str> {
    let file = case.file.as_ref().map_or("", |file| file.as_str());
    let mut words = text::words_of_name(case.id.as_str());
    words.append(&mut text::words_of_name(file));
    SENSITIVE.iter().copied().find(|word| {
        words.iter().any(|one| one == word || one.strip_suffix('s').is_some_and(|one| one == *word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::TestId;
    use crate::domain::test::Status;

    fn case(id: &str, layer: Layer) -> TestCase {
        TestCase {
            kind: crate::domain::test::CaseKind::Test,
            id: TestId::from(id),
            status: Status::Failed,
            file: None,
            line: None,
            duration_ms: 0,
            layer,
            failure: None,
        }
    }

    #[test]
    fn low_needs_evidence_and_the_first_rule_wins() {
        let calm = Circumstances::default();
        let table = [
            (
                "flaky by a run",
                "t",
                Layer::Unit,
                Circumstances { flaky: true, introduced: true, ..calm },
                Criticality::Low,
            ),
            (
                "known",
                "test_login",
                Layer::Unit,
                Circumstances { excuse: Some("known until 2027-01-31: why"), ..calm },
                Criticality::Low,
            ),
            (
                "newly failing",
                "t",
                Layer::Unit,
                Circumstances { newly_failing: true, ..calm },
                Criticality::High,
            ),
            (
                "introduced",
                "t",
                Layer::Unit,
                Circumstances { introduced: true, ..calm },
                Criticality::High,
            ),
            ("sensitive", "test_Login_works", Layer::Unit, calm, Criticality::High),
            ("a word of a name", "rejectsOldTokens", Layer::Unit, calm, Criticality::High),
            ("a folder", "src/oauth/test_it.py::t", Layer::Unit, calm, Criticality::High),
            ("part of a word", "test_author_tokenizer", Layer::Unit, calm, Criticality::Medium),
            ("integration", "t", Layer::Integration, calm, Criticality::High),
            (
                "pre-existing is not low",
                "t",
                Layer::Unit,
                Circumstances { preexisting: true, ..calm },
                Criticality::Medium,
            ),
            ("nothing known", "t", Layer::Unit, calm, Criticality::Medium),
        ];
        for (why, id, layer, runs, expected) in table {
            let assessed = assess(&case(id, layer), runs);
            assert_eq!(assessed.criticality, expected, "{why}");
            assert!(!assessed.reason.is_empty(), "{why}");
        }
    }
}
