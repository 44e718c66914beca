//! `Strategy`: how bold an iteration is, and the rules that select it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rate::PassRate;
use super::threshold::Thresholds;

/// How bold an iteration is (specification.md 7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Makes one targeted fix, then runs all tests.
    Conservative,
    /// Fix related failures in one batch.
    Aggressive,
    /// The smallest change, after a regression.
    Surgical,
    /// A different approach, after a test stayed red.
    Reflective,
}

display_stored_name!(Strategy);

/// Everything that the choice of a strategy depends on.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// The iteration about to start; 1 is the first fix.
    pub iteration: u32,
    /// The last accepted rate.
    pub rate: PassRate,
    /// Similarity of the failures, from 0 (unrelated) to 1 (one cause).
    pub similarity: f64,
    /// Iterations in a row, the last one included, that regressed.
    pub regressions: u32,
    /// Some test failed in its last [`Thresholds::stuck_results`] results.
    pub stuck: bool,
    /// The iteration before brought no edit under its strategy.
    pub exhausted: bool,
    pub thresholds: Thresholds,
}

/// A strategy and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub strategy: Strategy,
    /// Why, in our own words.
    pub reason: String,
}

/// Picks the strategy of the next iteration.
///
/// The first rule that holds wins, so a regression is never answered conservatively. Thresholds are
/// exclusive: with the defaults, exactly 80 % or exactly 0.7 is not enough for a batch. An iteration
/// without an edit counts like a stuck test, because the same search would find nothing again.
///
/// Source: specification.md 7.6, C-02 (F-092 to F-096).
pub fn select(now: &Situation) -> Choice {
    let (strategy, reason) = match now {
        // The surgical attempts that followed the first regression regressed as well.
        Situation { regressions: 3.., .. } => {
            (Strategy::Reflective, "two surgical attempts in a row regressed".to_owned())
        }
        Situation { regressions: 1.., .. } => {
            (Strategy::Surgical, "the last attempt broke tests that passed".to_owned())
        }
        Situation { stuck: true, .. } => {
            let results = now.thresholds.results();
            (Strategy::Reflective, format!("a test failed in its last {results} results"))
        }
        Situation { exhausted: true, .. } => {
            (Strategy::Reflective, "the iteration before brought no edit".to_owned())
        }
        Situation { iteration: ..=2, .. } => {
            (Strategy::Conservative, "the first two iterations are careful".to_owned())
        }
        _ if now.rate.is_above(now.thresholds.aggressive_rate)
            && now.similarity > now.thresholds.similarity =>
        {
            (
                Strategy::Aggressive,
                format!("{} % pass and the failures look alike ({:.2})", now.rate, now.similarity),
            )
        }
        _ => (Strategy::Conservative, "nothing calls for more".to_owned()),
    };
    Choice { strategy, reason }
}

#[cfg(test)]
mod tests {
    use super::Strategy::{Aggressive, Conservative, Reflective, Surgical};
    use super::*;
    use proptest::prelude::{prop_assert_ne, proptest};

    fn rate(percent: u32) -> PassRate {
        PassRate { passed: percent, total: 100 }
    }

    #[test]
    fn first_rule_that_holds_wins() {
        let calm = Situation {
            iteration: 3,
            rate: rate(81),
            similarity: 0.71,
            regressions: 0,
            stuck: false,
            exhausted: false,
            thresholds: Thresholds::default(),
        };
        let at = |aggressive_rate, similarity| Thresholds {
            similarity,
            aggressive_rate,
            ..Thresholds::default()
        };
        let table = [
            ("late, high and alike", calm, Aggressive),
            ("80 % is not above 80", Situation { rate: rate(80), ..calm }, Conservative),
            (
                "79 % is above 78 %",
                Situation { rate: rate(79), thresholds: at(78, 0.7), ..calm },
                Aggressive,
            ),
            ("81 % is not above 90 %", Situation { thresholds: at(90, 0.7), ..calm }, Conservative),
            (
                "0.6 is above 0.5",
                Situation { similarity: 0.6, thresholds: at(80, 0.5), ..calm },
                Aggressive,
            ),
            ("0.71 is not above 0.9", Situation { thresholds: at(80, 0.9), ..calm }, Conservative),
            ("0.7 is not above 0.7", Situation { similarity: 0.7, ..calm }, Conservative),
            ("early", Situation { iteration: 2, ..calm }, Conservative),
            ("stuck beats early", Situation { iteration: 2, stuck: true, ..calm }, Reflective),
            (
                "nothing left beats early",
                Situation { iteration: 2, exhausted: true, ..calm },
                Reflective,
            ),
            ("regression beats stuck", Situation { regressions: 1, stuck: true, ..calm }, Surgical),
            (
                "regression beats early",
                Situation { regressions: 1, iteration: 2, ..calm },
                Surgical,
            ),
            ("one surgical regressed", Situation { regressions: 2, ..calm }, Surgical),
            ("two surgical regressed", Situation { regressions: 3, ..calm }, Reflective),
        ];
        for (why, now, expected) in table {
            assert_eq!(select(&now).strategy, expected, "{why}: {now:?}");
        }
    }

    proptest! {
        #[test]
        fn regression_is_never_answered_conservatively(
            iteration in 1u32.., passed in 0u32..=100, similarity in 0.0..=1.0,
            regressions in 1u32.., stuck: bool, exhausted: bool,
        ) {
            let rate = rate(passed);
            let thresholds = Thresholds::default();
            let now =
                Situation { iteration, rate, similarity, regressions, stuck, exhausted, thresholds };
            prop_assert_ne!(select(&now).strategy, Conservative);
        }
    }
}
