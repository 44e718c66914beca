//! The provider chain: why the next provider is asked, which answer is used, and a circuit breaker.
//!
//! Source: specification.md 7.11 (triggers T1 to T11).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::Usage;

/// Why an answer was rejected, or kept only in case no other provider gives a better one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum FallbackTrigger {
    /// The answer cannot be parsed, or does not answer the question.
    #[serde(rename = "T1")]
    Unparseable,
    /// None of the named modification points exists in the sources.
    #[serde(rename = "T2")]
    NoPoints,
    /// The analysis names no test.
    #[serde(rename = "T3")]
    NoTests,
    /// The answer is less sure than [`Rules::min_confidence`].
    #[serde(rename = "T4")]
    LowConfidence,
    /// The provider limits the rate of requests.
    #[serde(rename = "T5")]
    RateLimited,
    /// The server failed, or does not know the model.
    #[serde(rename = "T6")]
    Server,
    /// The answer took longer than the limit.
    #[serde(rename = "T7")]
    TimedOut,
    /// The provider cannot be reached.
    #[serde(rename = "T8")]
    Connection,
    /// The analysis gives no evidence: what was expected, what came, and the line between them.
    #[serde(rename = "T9")]
    NoEvidence,
    /// The analysis gives general advice and names no place to change.
    #[serde(rename = "T10")]
    General,
    /// The same root cause came up several times in a row.
    #[serde(rename = "T11")]
    SameCause,
    /// The provider refused: key, quota, filter, size, or a missing client.
    #[serde(rename = "refused")]
    Refused,
    /// The guards refused every proposal, or its edits did not match the sources.
    #[serde(rename = "vetoed")]
    Vetoed,
    /// The fixer found that the sources contradict the plan.
    #[serde(rename = "plan-is-wrong")]
    PlanIsWrong,
    /// The run ended before the answer arrived, or before its effect was saved.
    #[serde(rename = "interrupted")]
    Interrupted,
}

impl FallbackTrigger {
    /// Whether the answer may be used when no provider gives a better one.
    pub fn keeps(self) -> bool {
        matches!(self, Self::LowConfidence | Self::NoEvidence | Self::NoTests | Self::SameCause)
    }
}

impl fmt::Display for FallbackTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Thresholds of the chain (specification.md 2.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// T4: an answer below this is weak.
    pub min_confidence: f64,
    /// T11: so many iterations in a row with the same root cause make an analysis weak.
    pub same_cause_limit: usize,
    /// In a conservative iteration, an answer below this is not enough (specification.md 7.5).
    pub careful_confidence: f64,
    /// Longest wait for a rate limit; if it lasts longer, the next provider is asked.
    pub longest_wait: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            min_confidence: 0.4,
            same_cause_limit: 3,
            careful_confidence: 0.7,
            longest_wait: Duration::from_mins(1),
        }
    }
}

/// The facts by which an analysis is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalysisFacts {
    /// Places it names that exist.
    pub points: usize,
    /// Whether it named any place, existing or not.
    pub named_places: bool,
    /// Number of tests that it names as affected or explains.
    pub tests: usize,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// Number of failures for which it quotes what was expected, what came, and the line that makes
    /// the difference.
    pub evidence: usize,
    /// Number of iterations in a row, including this one, with the same root cause.
    pub same_cause: usize,
}

/// The gravest fault of an analysis, with its trigger; `None` when it is good.
pub fn find_fault(facts: &AnalysisFacts, rules: &Rules) -> Option<(FallbackTrigger, String)> {
    if facts.points == 0 && facts.named_places {
        return Some((
            FallbackTrigger::NoPoints,
            "no modification point exists in the sources".into(),
        ));
    }
    if facts.points == 0 {
        return Some((FallbackTrigger::General, "general advice without a place to change".into()));
    }
    if facts.confidence < rules.min_confidence {
        let text =
            format!("confidence {:.2} is below {:.2}", facts.confidence, rules.min_confidence);
        return Some((FallbackTrigger::LowConfidence, text));
    }
    if facts.same_cause >= rules.same_cause_limit {
        let text = format!("the same root cause {} times in a row", facts.same_cause);
        return Some((FallbackTrigger::SameCause, text));
    }
    if facts.evidence == 0 {
        let text = "no evidence: expected, actual, and the line that makes the difference";
        return Some((FallbackTrigger::NoEvidence, text.into()));
    }
    if facts.tests == 0 {
        return Some((FallbackTrigger::NoTests, "it names no test".into()));
    }
    None
}

/// Index of the answer with the highest confidence; of equals, the earliest.
pub fn surest(confidences: &[f64]) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (index, confidence) in confidences.iter().enumerate() {
        if best.is_none_or(|(_, known)| *confidence > known) {
            best = Some((index, *confidence));
        }
    }
    best.map(|(index, _)| index)
}

/// Record of one provider call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderCall {
    /// The role that asked: `analyst` or `fixer`.
    pub role: String,
    pub provider: String,
    /// Name of the model, as the model reports it.
    pub model: String,
    /// The place of the provider in the chain, from 1.
    pub slot: u32,
    /// Turn of the conversation, from 1.
    pub turn: u32,
    /// Whether the answer was used.
    pub used: bool,
    /// The trigger by which the chain moved on; absent when it did not.
    pub trigger: Option<FallbackTrigger>,
    /// Why the chain moved on, in our words and the provider's.
    #[serde(rename = "said")]
    pub reason: String,
    /// How sure the answer is, from 0 to 1, when it states that.
    pub confidence: Option<f64>,
    pub usage: Usage,
    /// Cost in millionths of a dollar; absent without a price.
    pub micro_usd: Option<u64>,
    /// Wall time, waits included.
    pub duration_ms: u64,
    /// Path of the recorded exchange, inside the session folder.
    pub raw: String,
}

/// Consecutive failures after which a provider is skipped for the rest of the run.
const BREAKS_AFTER: u32 = 3;

/// Circuit breaker: skips providers that fail repeatedly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Breaker {
    failures: BTreeMap<String, (u32, String)>,
}

impl Breaker {
    /// Why a provider is skipped; `None` if it may be called.
    pub fn open(&self, provider: &str) -> Option<String> {
        self.failures
            .get(provider)
            .filter(|(count, _)| *count >= BREAKS_AFTER)
            .map(|(_, why)| format!("skipped for the rest of this run: {why}"))
    }

    /// Records a failure. A `lasting` one, such as a refused key, opens the breaker at once.
    pub fn failed(&mut self, provider: &str, why: &str, lasting: bool) {
        let entry = self.failures.entry(provider.to_owned()).or_default();
        entry.0 = if lasting { BREAKS_AFTER } else { entry.0 + 1 };
        why.clone_into(&mut entry.1);
    }

    /// Clears the provider's failures after an answer.
    pub fn answered(&mut self, provider: &str) {
        self.failures.remove(provider);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: AnalysisFacts = AnalysisFacts {
        points: 1,
        named_places: true,
        tests: 1,
        confidence: 0.9,
        evidence: 1,
        same_cause: 1,
    };

    #[test]
    fn every_trigger_on_an_analysis_has_its_edge() {
        let table = [
            ("good", GOOD, None),
            ("T2", AnalysisFacts { points: 0, ..GOOD }, Some(FallbackTrigger::NoPoints)),
            (
                "T10",
                AnalysisFacts { points: 0, named_places: false, ..GOOD },
                Some(FallbackTrigger::General),
            ),
            ("0.4 is enough", AnalysisFacts { confidence: 0.4, ..GOOD }, None),
            (
                "T4",
                AnalysisFacts { confidence: 0.39, ..GOOD },
                Some(FallbackTrigger::LowConfidence),
            ),
            ("T9", AnalysisFacts { evidence: 0, ..GOOD }, Some(FallbackTrigger::NoEvidence)),
            ("T3", AnalysisFacts { tests: 0, ..GOOD }, Some(FallbackTrigger::NoTests)),
            ("twice is fine", AnalysisFacts { same_cause: 2, ..GOOD }, None),
            ("T11", AnalysisFacts { same_cause: 3, ..GOOD }, Some(FallbackTrigger::SameCause)),
            (
                "the gravest first",
                AnalysisFacts { confidence: 0.1, evidence: 0, ..GOOD },
                Some(FallbackTrigger::LowConfidence),
            ),
        ];
        for (why, facts, expected) in table {
            assert_eq!(find_fault(&facts, &Rules::default()).map(|(t, _)| t), expected, "{why}");
        }
    }

    #[test]
    fn the_surest_of_weak_answers_is_used() {
        assert_eq!(surest(&[0.1, 0.3, 0.3]), Some(1));
        assert_eq!(surest(&[]), None);
    }

    #[test]
    fn a_provider_that_keeps_failing_is_left_alone() {
        let mut breaker = Breaker::default();
        breaker.failed("a", "500", false);
        breaker.failed("a", "500", false);
        assert_eq!(breaker.open("a"), None);
        breaker.answered("a");
        breaker.failed("a", "500", false);
        assert_eq!(breaker.open("a"), None);
        breaker.failed("b", "401", true);
        assert!(breaker.open("b").unwrap().contains("401"));
    }
}
