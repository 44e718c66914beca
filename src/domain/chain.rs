//! The provider chain: why the next provider is asked, which answer is used, and a circuit breaker.
//!
//! Source: specification.md 7.11 (triggers T1 to T11).

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{Spending, Usage};

/// Why an answer was rejected, or kept only in case no other provider gives a better one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
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
    /// The analysis gives general advice, or files without functions and lines, and names no place to
    /// change.
    #[serde(rename = "T10")]
    General,
    /// The same root cause came up several times in a row.
    #[serde(rename = "T11")]
    SameCause,
    /// The provider refused: key, quota, filter, size, or a missing client.
    Refused,
    /// The answer was cut off at the output limit, with twice the usual length too.
    Truncated,
    /// The guards refused every proposal, or its edits did not match the sources.
    Vetoed,
    /// The fixer found that the sources contradict the plan.
    PlanIsWrong,
    /// The run ended before the answer arrived, or before its effect was saved.
    Interrupted,
}

impl FallbackTrigger {
    /// Whether the answer may be used when no provider gives a better one.
    pub fn keeps(self) -> bool {
        matches!(self, Self::LowConfidence | Self::NoEvidence | Self::NoTests | Self::SameCause)
    }
}

display_stored_name!(FallbackTrigger);

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
    /// Whether it named a place that does not exist.
    pub missing_places: bool,
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
    if facts.points == 0 && facts.missing_places {
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

/// What decides whether an iteration goes on with a weak answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DegradedCase {
    /// The iteration, from 1.
    pub iteration: u32,
    /// Whether the iteration before improved the pass rate.
    pub has_improved: bool,
    /// Number of functions that the answer wants to change.
    pub places: usize,
}

/// Why a weak answer is not used although no provider gives a better one; `None` if it is used: in the
/// first iteration if it touches one place only, in the second if the first helped, and never later.
///
/// Source: specification.md 7.11, degraded analysis (F-119).
pub fn too_weak(case: DegradedCase) -> Option<&'static str> {
    match case.iteration {
        0 | 1 if case.places <= 1 => None,
        0 | 1 => Some("it names more than one place"),
        2 if case.has_improved => None,
        2 => Some("the iteration before did not improve the pass rate"),
        _ => Some("weak analyses are used in the first two iterations only"),
    }
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
    pub reason: String,
    /// How sure the answer is, from 0 to 1, when it states that.
    pub confidence: Option<f64>,
    /// Number of requests that it took, retries included.
    #[serde(default = "one_request")]
    pub requests: u32,
    /// The tokens of all its requests.
    pub usage: Usage,
    /// Cost in millionths of a dollar; absent without a price.
    pub micro_usd: Option<u64>,
    /// Wall time, waits included.
    pub duration_ms: u64,
    /// Path of the recorded exchange, inside the session folder.
    pub raw: String,
}

/// What calls used and cost together.
pub fn spent_by<'a>(calls: impl IntoIterator<Item = &'a ProviderCall>) -> Spending {
    let mut spent = Spending::default();
    for call in calls {
        spent.add(call.requests, call.usage, call.micro_usd);
    }
    spent
}

/// The requests of a call that was recorded before they were counted.
pub fn one_request() -> u32 {
    1
}

/// How long a failure keeps a provider from being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// It says nothing about the next question.
    None,
    /// Only if it happens several times in a row.
    Once,
    /// For the time that the provider itself asks for.
    For(Duration),
    /// For the rest of the run.
    Lasting,
}

/// Consecutive failures after which a provider is skipped for the rest of the run.
const BREAKS_AFTER: u32 = 3;

/// Circuit breaker: skips providers that fail repeatedly, and those that asked for time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Breaker {
    failures: BTreeMap<String, Failures>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Failures {
    count: u32,
    why: String,
    /// The time since the start of the process before which the provider is not asked.
    until: Duration,
}

impl Breaker {
    /// Why a provider is skipped at `now`, since the process started; `None` if it may be called.
    pub fn open(&self, provider: &str, now: Duration) -> Option<String> {
        let Failures { count, why, until } = self.failures.get(provider)?;
        if *count >= BREAKS_AFTER {
            return Some(format!("skipped for the rest of this run: {why}"));
        }
        let left = until.saturating_sub(now);
        (!left.is_zero()).then(|| format!("skipped for another {}: {why}", super::text::span(left)))
    }

    /// Records a failure.
    pub fn failed(&mut self, provider: &str, why: &str, outage: Outage, now: Duration) {
        let entry = self.failures.entry(provider.to_owned()).or_default();
        match outage {
            Outage::None => return,
            Outage::Once => entry.count += 1,
            Outage::For(time) => entry.until = now.saturating_add(time),
            Outage::Lasting => entry.count = BREAKS_AFTER,
        }
        why.clone_into(&mut entry.why);
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
        missing_places: true,
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
                AnalysisFacts { points: 0, missing_places: false, ..GOOD },
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
    fn a_weak_answer_is_used_only_early_and_where_little_can_go_wrong() {
        let table = [
            ("one place at first", 1, false, 1, true),
            ("two places at first", 1, false, 2, false),
            ("after an improvement", 2, true, 5, true),
            ("after none", 2, false, 1, false),
            ("late", 3, true, 1, false),
            ("very late", 9, true, 0, false),
        ];
        for (why, iteration, has_improved, places, expected) in table {
            let case = DegradedCase { iteration, has_improved, places };
            assert_eq!(too_weak(case).is_none(), expected, "{why}");
        }
    }

    #[test]
    fn the_surest_of_weak_answers_is_used() {
        assert_eq!(surest(&[0.1, 0.3, 0.3]), Some(1));
        assert_eq!(surest(&[]), None);
    }

    #[test]
    fn a_provider_that_keeps_failing_is_left_alone() {
        let now = Duration::ZERO;
        let mut breaker = Breaker::default();
        breaker.failed("a", "500", Outage::Once, now);
        breaker.failed("a", "500", Outage::Once, now);
        assert_eq!(breaker.open("a", now), None);
        breaker.answered("a");
        breaker.failed("a", "500", Outage::Once, now);
        assert_eq!(breaker.open("a", now), None);
        breaker.failed("b", "401", Outage::Lasting, now);
        assert!(breaker.open("b", now).unwrap().contains("401"));
        for _ in 0..9 {
            breaker.failed("c", "declined", Outage::None, now);
        }
        assert_eq!(breaker.open("c", now), None);
    }

    #[test]
    fn a_provider_is_left_alone_for_the_time_it_asks_for() {
        let second = Duration::from_secs(1);
        let mut breaker = Breaker::default();
        breaker.failed("a", "rate limited", Outage::For(second * 3600), second * 10);
        let table = [(10, true), (3600, true), (3609, true), (3610, false), (9000, false)];
        for (now, expected) in table {
            assert_eq!(breaker.open("a", second * now).is_some(), expected, "after {now} s");
        }
        assert_eq!(breaker.open("b", second * 10), None);
    }
}
