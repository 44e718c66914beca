//! Compares attempts with what was before, and detects trends and sessions that make no progress.
//!
//! Source: specification.md 7.4, 7.8, 7.9, 7.10 (F-099 to F-104).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::expected_failure;
use super::failure::{Signature, signature_of};
use super::id::TestId;
use super::latest_results::LatestResults;
use super::rate::PassRate;
use super::strategy::Strategy;
use super::test::{CaseKind, Status};
use super::text;
use super::threshold::Thresholds;

/// The languages whose product code a search edits, in a sentence.
pub const SEARCHED_LANGUAGES: &str = "Python, JavaScript, TypeScript, Go, Rust or Java";

/// Trend of the last pass rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// The last rate is higher.
    Improving,
    /// The rate moved by less than one point over two iterations.
    Stagnant,
    /// The last rate is lower.
    Regressing,
}

impl Trend {
    /// The trend as a clause, such as `the pass rate rises`.
    pub fn clause(self) -> &'static str {
        match self {
            Self::Improving => "the pass rate rises",
            Self::Stagnant => "the pass rate hardly moves",
            Self::Regressing => "the pass rate falls",
        }
    }
}

/// The trend of the last three rates; `None` before two are known.
pub fn trend(rates: &[PassRate]) -> Option<Trend> {
    let recent = rates.get(rates.len().saturating_sub(3)..)?;
    let [first, .., last] = recent else { return None };
    let moved = last.fell_by_more_than(0, *first) || last.rose_above(*first);
    let by_a_point = last.fell_by_more_than(1, *first) || first.fell_by_more_than(1, *last);
    Some(if recent.len() == 3 && !by_a_point || !moved {
        Trend::Stagnant
    } else if last.rose_above(*first) {
        Trend::Improving
    } else {
        Trend::Regressing
    })
}

/// What an attempt did to the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEffect {
    /// The rate rose, and every test that ran before still runs.
    Improved,
    /// Neither improved nor regressed; kept without a commit if a failure changed.
    Unchanged { keep: bool },
    /// A test that passed fails now and the rate did not rise, or tests no longer run. The change is
    /// taken back, and this is no regression: the rate fell by few points or not at all.
    NoBetter,
    /// The rate fell by more than [`Thresholds::regression_points`].
    Regression,
}

/// The effect of an attempt, with the reason for the judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptComparison {
    pub judgement: AttemptEffect,
    /// Reason for the judgement, written by regreen.
    pub reason: String,
}

/// Compares the ledgers after and before an attempt.
///
/// An attempt with which tests no longer run is no better whatever the rate says: a rate can be
/// raised by running fewer tests (specification.md 7.13).
///
/// A test that only now passes against its mark as an expected failure counts in neither: before, it
/// passed or was skipped because it failed.
pub fn judge(before: &LatestResults, after: &LatestResults, at: &Thresholds) -> AttemptComparison {
    let failed = |id: &TestId| before.case(id).is_some_and(|old| old.status == Status::Failed);
    let marked: Vec<TestId> =
        after.unexpected_passes().map(|case| case.id.clone()).filter(|id| !failed(id)).collect();
    if marked.is_empty() {
        return judge_counted(before, after, at);
    }
    let [mut before, mut after] = [before.clone(), after.clone()];
    before.quarantine(&marked);
    after.quarantine(&marked);
    judge_counted(&before, &after, at)
}

fn judge_counted(
    before: &LatestResults,
    after: &LatestResults,
    at: &Thresholds,
) -> AttemptComparison {
    let (Some(old), Some(new)) = (before.rate(), after.rate()) else {
        let reason = "no test counts any more".to_owned();
        return AttemptComparison { judgement: AttemptEffect::NoBetter, reason };
    };
    let lost = after.lost(before);
    if let Some(first) = lost.first()
        && !new.fell_by_more_than(at.regression_points, old)
    {
        let reason =
            format!("{} no longer run, {first} among them", text::count(lost.len(), "test"));
        return AttemptComparison { judgement: AttemptEffect::NoBetter, reason };
    }
    let broken = after.newly_failing(before);
    let counts_alone = |id: &&TestId| {
        is_hook_in(after)(id) || before.case(id).is_some_and(expected_failure::passes_against_mark)
    };
    let unblocked = after.unblocked(before);
    if let (Some(first), []) = (unblocked.first(), broken.as_slice()) {
        // Tests that fail now did not run before, whatever that does to the rate.
        let verb = if is_hook_in(before)(&first) { "no longer fails" } else { "loads now" };
        let reason = format!("{first} {verb}, and its tests run");
        return AttemptComparison { judgement: AttemptEffect::Improved, reason };
    }
    let (judgement, reason) = if new.fell_by_more_than(at.regression_points, old) {
        let reason = format!("the rate fell from {old} % to {new} %: {}", name(&broken));
        (AttemptEffect::Regression, reason)
    } else if let Some(first) = broken.iter().find(|id| counts_alone(id)) {
        // It counted as no passing test before, so that the rate may rise with it.
        (AttemptEffect::NoBetter, format!("{first} fails now"))
    } else if new.rose_above(old) {
        let note = if broken.is_empty() { String::new() } else { format!("; {}", name(&broken)) };
        (AttemptEffect::Improved, format!("the rate rose from {old} % to {new} %{note}"))
    } else if !broken.is_empty() {
        (AttemptEffect::NoBetter, name(&broken))
    } else if signatures(before) == signatures(after) {
        (AttemptEffect::Unchanged { keep: false }, "no failure changed".to_owned())
    } else {
        (AttemptEffect::Unchanged { keep: true }, "a test fails differently now".to_owned())
    };
    AttemptComparison { judgement, reason }
}

fn is_hook_in(ledger: &LatestResults) -> impl Fn(&&TestId) -> bool {
    |id| ledger.case(id).is_some_and(|case| case.kind == CaseKind::Hook)
}

fn name(broken: &[TestId]) -> String {
    match broken {
        [] => "no test newly fails".to_owned(),
        [one] => format!("{one} fails now"),
        [first, rest @ ..] => format!("{first} and {} fail now", text::count(rest.len(), "test")),
    }
}

fn signatures(ledger: &LatestResults) -> BTreeSet<(TestId, Signature)> {
    ledger.failing_cases().map(|case| (case.id.clone(), signature_of(case))).collect()
}

/// What [`reason_to_give_up`] needs to know of a finished iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedIteration {
    pub strategy: Strategy,
    /// Tests that fail after the attempt.
    pub failing: Vec<TestId>,
    /// Fingerprint of the root cause with its plan's functions; empty if there was none.
    pub cause: String,
    /// Whether its strategy brought no edit.
    pub exhausted: bool,
    /// Whether an edit was searched for, rather than providers asked alone.
    pub searched: bool,
    /// Edits that the search tried.
    pub tried: u32,
    /// Whether all of its failing tests are written in languages that the search is made for.
    pub is_at_home: bool,
    pub improved: bool,
    /// Whether it was skipped because every analysis was too weak.
    pub skipped: bool,
}

/// Why another iteration is pointless, if one of these holds:
///
/// - the same failing set, cause and places three times in a row (F-101);
/// - two iterations in a row skipped for want of a good analysis (specification.md 7.11, F-119);
/// - more than [`Thresholds::stuck_abort`] of the failures stuck after two reflective iterations
///   (F-100);
/// - a reflective iteration that brought no edit.
pub fn reason_to_give_up(
    rounds: &[FinishedIteration],
    stuck: &[TestId],
    failing: &[TestId],
    at: &Thresholds,
) -> Option<String> {
    if let [.., a, b, c] = rounds
        && a.failing == b.failing
        && b.failing == c.failing
        && a.cause == b.cause
        && b.cause == c.cause
        && !c.cause.is_empty()
        // Where the first one helped, it was about other failures.
        && !a.improved
    {
        return Some("the same failures, cause and places occurred three times in a row".into());
    }
    if let [.., a, b] = rounds
        && a.skipped
        && b.skipped
    {
        return Some(
            "two iterations in a row were skipped, because no analysis was good enough to act on"
                .into(),
        );
    }
    if let [.., a, b] = rounds
        && a.strategy == Strategy::Reflective
        && b.strategy == Strategy::Reflective
        && !a.skipped
        && !a.improved
        && a.failing == b.failing
        && count(stuck) > count(failing) * at.stuck_abort
    {
        return Some(format!(
            "{} of {} stay red after two reflective iterations",
            stuck.len(),
            text::count(failing.len(), "test")
        ));
    }
    let last = rounds.last()?;
    let reach = format!(
        "the widest search found nothing to try; without a model, regreen edits little but product code in \
         {SEARCHED_LANGUAGES} that is neither generated nor calls C"
    );
    let reason = if last.searched && last.tried == 0 && last.is_at_home {
        "the widest search found nothing to try"
    } else if last.searched && last.tried == 0 {
        &reach
    } else if last.searched {
        "the widest search found nothing within its limits"
    } else {
        "a reflective iteration, which looks for another approach, brought no usable edit"
    };
    (last.strategy == Strategy::Reflective && last.exhausted).then(|| reason.into())
}

/// The number of tests as a float, to compare it with a share.
fn count(tests: &[TestId]) -> f64 {
    f64::from(u32::try_from(tests.len()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::latest_results::tests::results;
    use crate::domain::test::Scope;
    use crate::domain::test::Status::{self, Failed, Passed};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    fn rate(passed: u32, total: u32) -> PassRate {
        PassRate::of(passed, total).unwrap()
    }

    fn ledger(passed: u32, failed: u32) -> LatestResults {
        let names: Vec<(String, Status)> = (0..passed + failed)
            .map(|n| (format!("t{n:03}"), if n < passed { Passed } else { Failed }))
            .collect();
        let cases: Vec<_> = names.iter().map(|(name, status)| (name.as_str(), *status)).collect();
        LatestResults::from_full(&results(Scope::Full, &cases), 0)
    }

    #[test]
    fn an_attempt_is_judged_by_points_and_by_what_broke() {
        let table = [
            ("risen", ledger(80, 20), ledger(81, 19), AttemptEffect::Improved),
            ("fallen by ten", ledger(90, 10), ledger(80, 20), AttemptEffect::NoBetter),
            ("fallen by eleven", ledger(90, 10), ledger(79, 21), AttemptEffect::Regression),
            ("same", ledger(80, 20), ledger(80, 20), AttemptEffect::Unchanged { keep: false }),
            ("fewer tests", ledger(80, 20), ledger(80, 10), AttemptEffect::NoBetter),
        ];
        for (why, before, after, expected) in table {
            let judged = judge(&before, &after, &Thresholds::default());
            assert_eq!(judged.judgement, expected, "{why}");
        }
    }

    #[test]
    fn another_number_of_points_decides_otherwise() {
        let table = [
            (5, 6, AttemptEffect::Regression),
            (5, 5, AttemptEffect::NoBetter),
            (0, 1, AttemptEffect::Regression),
            (20, 20, AttemptEffect::NoBetter),
            (20, 21, AttemptEffect::Regression),
        ];
        for (regression_points, lost, expected) in table {
            let at = Thresholds { regression_points, ..Thresholds::default() };
            let judged = judge(&ledger(90, 10), &ledger(90 - lost, 10 + lost), &at).judgement;
            assert_eq!(judged, expected, "{lost} of {regression_points}");
        }
    }

    #[test]
    fn another_share_of_stuck_tests_ends_the_run_or_does_not() {
        let names = ["a", "b", "c", "d"];
        let failing: Vec<TestId> = names.iter().map(|name| TestId::from(*name)).collect();
        let rounds = [round(Strategy::Reflective, &names, "x", false), {
            round(Strategy::Reflective, &names, "y", false)
        }];
        let table =
            [(0.5, 2, false), (0.5, 3, true), (0.25, 2, true), (0.0, 1, true), (1.0, 4, false)];
        for (stuck_abort, stuck, ends) in table {
            let at = Thresholds { stuck_abort, ..Thresholds::default() };
            let ended = reason_to_give_up(&rounds, &failing[..stuck], &failing, &at).is_some();
            assert_eq!(ended, ends, "{stuck} of 4 at {stuck_abort}");
        }
    }

    #[test]
    fn the_trend_needs_a_point_over_two_iterations() {
        let table = [
            (vec![rate(50, 100)], None),
            (vec![rate(50, 100), rate(60, 100)], Some(Trend::Improving)),
            (vec![rate(50, 100), rate(50, 100)], Some(Trend::Stagnant)),
            (vec![rate(500, 1000), rate(502, 1000), rate(505, 1000)], Some(Trend::Stagnant)),
            (
                vec![rate(10, 100), rate(90, 100), rate(80, 100), rate(70, 100)],
                Some(Trend::Regressing),
            ),
        ];
        for (rates, expected) in table {
            assert_eq!(trend(&rates), expected, "{rates:?}");
        }
    }

    fn round(
        strategy: Strategy,
        failing: &[&str],
        cause: &str,
        exhausted: bool,
    ) -> FinishedIteration {
        FinishedIteration {
            strategy,
            failing: failing.iter().map(|id| TestId::from(*id)).collect(),
            cause: cause.into(),
            exhausted,
            searched: true,
            tried: 9,
            is_at_home: false,
            improved: false,
            skipped: false,
        }
    }

    #[test]
    fn circles_end_the_run() {
        let same = round(Strategy::Conservative, &["t"], "x", false);
        let other = round(Strategy::Conservative, &["t"], "y", false);
        let reflective = round(Strategy::Reflective, &["t"], "y", false);
        let empty = round(Strategy::Reflective, &["t"], "z", true);
        let t = [TestId::from("t")];
        let reason_to_give_up =
            |rounds: &[FinishedIteration], stuck: &[TestId], failing: &[TestId]| {
                reason_to_give_up(rounds, stuck, failing, &Thresholds::default())
            };
        assert!(reason_to_give_up(&[same.clone(), same.clone(), same.clone()], &[], &t).is_some());
        assert!(reason_to_give_up(&[same.clone(), other, same.clone()], &[], &t).is_none());
        let none = FinishedIteration { cause: String::new(), ..same.clone() };
        assert!(reason_to_give_up(&[none.clone(), none.clone(), none], &[], &t).is_none());
        let helped = FinishedIteration { improved: true, ..same.clone() };
        assert!(reason_to_give_up(&[helped, same.clone(), same.clone()], &[], &t).is_none());
        let skipped = FinishedIteration { skipped: true, cause: "z".into(), ..same.clone() };
        assert!(reason_to_give_up(&[skipped.clone(), skipped.clone()], &[], &t).is_some());
        assert!(reason_to_give_up(&[skipped.clone(), same, skipped], &[], &t).is_none());
        assert!(reason_to_give_up(&[reflective.clone(), reflective.clone()], &t, &t).is_some());
        assert!(reason_to_give_up(&[reflective.clone(), reflective.clone()], &[], &t).is_none());
        let skipped = FinishedIteration { skipped: true, ..reflective.clone() };
        assert!(reason_to_give_up(&[skipped, reflective.clone()], &t, &t).is_none());
        let improved = FinishedIteration { improved: true, ..reflective.clone() };
        assert!(
            reason_to_give_up(&[improved, reflective], &t, &t).is_none(),
            "only one was in vain"
        );
        let ended = |round| reason_to_give_up(&[round], &[], &t).unwrap();
        assert!(ended(empty.clone()).starts_with("the widest search"));
        let untried = FinishedIteration { tried: 0, ..empty.clone() };
        assert!(
            ended(untried.clone())
                .contains("product code in Python, JavaScript, TypeScript, Go, Rust or Java")
        );
        let at_home = FinishedIteration { is_at_home: true, ..untried };
        assert_eq!(ended(at_home), "the widest search found nothing to try");
        assert!(ended(FinishedIteration { searched: false, ..empty }).ends_with("no usable edit"));
    }

    proptest! {
        #[test]
        fn improvement_and_regression_agree_with_the_rates(
            p0 in 0u32..40, f0 in 1u32..40, p1 in 0u32..40,
        ) {
            let total = p0 + f0;
            let p1 = p1.min(total);
            let judged = judge(
                &ledger(p0, f0), &ledger(p1, total - p1), &Thresholds::default()
            ).judgement;
            match judged {
                AttemptEffect::Improved => prop_assert!(p1 > p0),
                AttemptEffect::Regression => prop_assert!((p0 - p1) * 10 > total),
                AttemptEffect::NoBetter => prop_assert!(p1 < p0 && (p0 - p1) * 10 <= total),
                AttemptEffect::Unchanged { .. } => prop_assert_eq!(p1, p0),
            }
        }
    }
}
