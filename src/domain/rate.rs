//! `PassRate`: the pass rate as an exact fraction of integers. `PerMille`: a share as people see it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tests passed of tests counted. Skipped and quarantined tests are not counted.
///
/// Comparisons never round; [`fmt::Display`] is that of [`PerMille`].
/// Source: specification.md 7.1 (F-087).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PassRate {
    pub passed: u32,
    /// Tests that passed or failed.
    pub total: u32,
}

impl PassRate {
    /// A rate; `None` when nothing was counted, which is an execution error and never a rate, or
    /// when more passed than there are.
    pub fn of(passed: u32, total: u32) -> Option<Self> {
        (total > 0 && passed <= total).then_some(Self { passed, total })
    }

    /// Whether every counted test passed.
    pub fn is_full(self) -> bool {
        self.passed == self.total
    }

    /// Whether the rate is at least `percent`.
    pub fn is_at_least(self, percent: u32) -> bool {
        u64::from(self.passed) * 100 >= u64::from(percent) * u64::from(self.total)
    }

    /// Whether the rate is strictly above `percent`.
    pub fn is_above(self, percent: u32) -> bool {
        u64::from(self.passed) * 100 > u64::from(percent) * u64::from(self.total)
    }

    /// Whether this rate is lower than `before` by strictly more than `points` percentage points.
    pub fn fell_by_more_than(self, points: u32, before: Self) -> bool {
        // before - self > points / 100, multiplied out with both denominators.
        let (p0, t0) = (i128::from(before.passed), i128::from(before.total));
        let (p1, t1) = (i128::from(self.passed), i128::from(self.total));
        100 * (p0 * t1 - p1 * t0) > i128::from(points) * t0 * t1
    }

    /// Whether this rate is strictly higher than `before`.
    pub fn rose_above(self, before: Self) -> bool {
        u64::from(self.passed) * u64::from(before.total)
            > u64::from(before.passed) * u64::from(self.total)
    }

    /// The rate without some tests that passed; the same where none is left.
    #[must_use]
    pub fn without_passed(self, tests: u32) -> Self {
        let (passed, total) = (self.passed.saturating_sub(tests), self.total.saturating_sub(tests));
        Self::of(passed, total).unwrap_or(self)
    }

    /// Tests that failed `before` and pass now; a shortened run may have left some out.
    pub fn regained_since(self, before: Self) -> u32 {
        let failed = before.total.saturating_sub(before.passed);
        self.passed.saturating_sub(before.passed).min(failed)
    }

    /// The rate as people see it, as a number.
    pub fn percent(self) -> f64 {
        f64::from(self.per_mille().tenths()) / 10.0
    }

    /// The rate as people see it.
    pub fn per_mille(self) -> PerMille {
        PerMille::of(self.passed, self.total)
    }
}

impl fmt::Display for PassRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.per_mille().fmt(f)
    }
}

/// A share in tenths of a percent, as people see it; decisions compare the exact numbers.
///
/// It is rounded to the nearest tenth, but never up to a whole percent: targets are whole percents,
/// so a share that misses one never reads as if it met it, and 99.96 % never reads as 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerMille(u32);

impl PerMille {
    /// The share of `part` in `whole`; nothing of nothing is 0.
    #[must_use]
    pub fn of(part: u32, whole: u32) -> Self {
        let (part, whole) = (u64::from(part), u64::from(whole.max(1)));
        let nearest = (part * 2000 + whole) / (whole * 2);
        let is_raised = nearest * whole > part * 1000;
        let tenths = if is_raised && nearest % 10 == 0 { nearest - 1 } else { nearest };
        Self(u32::try_from(tenths).unwrap_or(u32::MAX))
    }

    /// The number of tenths of a percent.
    #[must_use]
    pub fn tenths(self) -> u32 {
        self.0
    }
}

impl fmt::Display for PerMille {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}", self.0 / 10, self.0 % 10))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate(passed: u32, total: u32) -> PassRate {
        PassRate::of(passed, total).expect("a rate")
    }

    #[test]
    fn nothing_counted_is_not_a_rate() {
        assert_eq!(PassRate::of(0, 0), None);
        assert_eq!(PassRate::of(2, 1), None);
    }

    #[test]
    fn only_tests_that_failed_are_regained() {
        let table =
            [((4, 5), (5, 5), 1), ((1, 2), (5, 5), 1), ((0, 3), (2, 3), 2), ((3, 4), (2, 4), 0)];
        for ((passed, total), now, regained) in table {
            let now = PassRate { passed: now.0, total: now.1 };
            assert_eq!(
                now.regained_since(PassRate { passed, total }),
                regained,
                "{passed} of {total}"
            );
        }
    }

    #[test]
    fn rates_are_rounded_but_never_up_to_a_whole_percent() {
        let table = [
            (rate(9996, 10_000), "99.9"),
            (rate(999, 1000), "99.9"),
            (rate(9496, 10_000), "94.9"),
            (rate(95, 100), "95.0"),
            (rate(9502, 10_000), "95.0"),
            (rate(1, 1), "100.0"),
            (rate(2, 3), "66.7"),
            (rate(1, 3), "33.3"),
            (rate(5, 75), "6.7"),
            (rate(0, 5), "0.0"),
        ];
        for (rate, expected) in table {
            assert_eq!(rate.to_string(), expected);
        }
    }

    #[test]
    fn a_fall_of_exactly_ten_points_is_not_more_than_ten() {
        assert!(!rate(80, 100).fell_by_more_than(10, rate(90, 100)));
        assert!(rate(799, 1000).fell_by_more_than(10, rate(90, 100)));
        assert!(!rate(95, 100).fell_by_more_than(10, rate(90, 100)));
    }

    proptest! {
        #[test]
        fn comparisons_agree_with_exact_fractions(
            a in 0u32..500, b in 1u32..500, c in 0u32..500, d in 1u32..500, percent in 0u32..=100,
        ) {
            let (first, second) = (rate(a.min(b), b), rate(c.min(d), d));
            let exact = |r: PassRate| f64::from(r.passed) / f64::from(r.total);
            let gap = exact(second) - exact(first);
            if gap.abs() > 1e-9 {
                prop_assert_eq!(second.rose_above(first), gap > 0.0);
            }
            if (gap * 100.0 - f64::from(percent)).abs() > 1e-6 {
                prop_assert_eq!(first.fell_by_more_than(percent, second), gap * 100.0 > f64::from(percent));
            }
            prop_assert!(first.is_at_least(percent) || !first.is_above(percent));
            // What people see meets a target exactly when the rate does.
            prop_assert_eq!(first.per_mille().tenths() >= percent * 10, first.is_at_least(percent));
        }
    }
}
