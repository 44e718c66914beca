//! The gate: whether the loop may end, and with which verdict.
//!
//! Source: specification.md 7.3, 7.15 (F-088, F-128 to F-131, C-05, C-44).

use super::criticality::Criticality;
use super::event::Ending;
use super::rate::PassRate;
use super::test::Objection;

/// The pass rate that ends a session, in percent, unless configured otherwise.
pub const TARGET: u32 = 95;

/// Everything that the gate's decision depends on.
#[derive(Clone, Copy, Debug)]
pub struct GateFacts<'a> {
    pub rate: PassRate,
    /// Target pass rate in percent.
    pub target: u32,
    pub remaining: &'a [Criticality],
    /// Whether the rate comes from a run of the whole suite.
    pub full_run: bool,
    pub flaky: bool,
    /// Number of tests that were excluded because they also fail on the merge base.
    pub ignored: usize,
    /// Whether the change edits tests, which a person must confirm (specification.md 7.13).
    pub tests_edited: bool,
    /// Why the change treats the tests specially, if it does, which a person must confirm too.
    pub special_case: Option<&'a str>,
    /// A language of the change that is not parsed.
    pub unread: Option<&'a str>,
    /// Whether only the exit code of a command says that a change helped: nothing shows which files are
    /// its checks, or that they ran.
    pub by_exit_code: bool,
    /// Suites that were found and not run, of which a person must know.
    pub not_run: &'a [String],
    /// Number of iterations that may still be started.
    pub iterations_left: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateVerdict {
    Success,
    /// At least the target, and only low-criticality failures; a person reviews.
    PartialSuccess,
    /// The gate would be met, but the rate is estimated.
    NeedsFullRun,
    Continue,
    /// The gate is not met, and no iteration is left or could help.
    Failure,
    /// The gate is not met, and no edit of the code repairs what fails (specification.md 7.18).
    Unfixable,
}

/// A verdict with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateDecision {
    pub verdict: GateVerdict,
    /// Why, in our own words.
    pub reason: String,
}

/// Decides whether the loop may end. An estimated rate never meets the gate.
pub fn judge(facts: &GateFacts<'_>) -> GateDecision {
    let GateFacts {
        rate,
        target,
        remaining,
        full_run,
        flaky,
        ignored,
        tests_edited,
        special_case,
        unread,
        by_exit_code,
        not_run,
        iterations_left,
    } = *facts;
    let only_low = remaining.iter().all(|level| *level == Criticality::Low);
    if only_low && !remaining.is_empty() && !rate.is_at_least(target) {
        let verdict = if full_run { GateVerdict::Unfixable } else { GateVerdict::NeedsFullRun };
        let reason = format!(
            "{rate} % pass, the gate is {target} %, and no edit repairs what fails: it is known, flaky, \
             or denied by the environment"
        );
        return GateDecision { verdict, reason };
    }
    // What a person must confirm, however many tests pass.
    let note = match (special_case, tests_edited) {
        (None, false) if by_exit_code => {
            ", but the test command leaves no report, so that only its exit code and its output \
            say so: a person must confirm"
                .to_owned()
        }
        (Some(why), _) => {
            format!(", but the change looks made for the tests: {why}; a person must confirm")
        }
        (None, true) => ", but tests were changed: a person must confirm".to_owned(),
        (None, false) if !not_run.is_empty() => {
            format!(", but other tests were found and not run: {}", not_run.join("; "))
        }
        (None, false) => unread.map_or_else(String::new, |language| {
            format!(
                ", but regreen does not read {language}, so that only the tests speak for the change: \
                 a person must confirm"
            )
        }),
    };
    let (met, how) = if rate.is_full() && remaining.is_empty() && !flaky {
        let how = match ignored {
            0 => "every test passes".to_owned(),
            1 => "every test passes but 1 that fails on the base too".to_owned(),
            _ => format!("every test passes but {ignored} that fail on the base too"),
        };
        let is_plain = note.is_empty();
        let met = if is_plain { GateVerdict::Success } else { GateVerdict::PartialSuccess };
        (Some(met), format!("{how}{note}"))
    } else if rate.is_full() && remaining.is_empty() {
        let how = format!("every test passed in the final run, flaky ones too{note}");
        (Some(GateVerdict::PartialSuccess), how)
    } else if rate.is_at_least(target) && only_low {
        let how =
            format!("{rate} % pass, and what fails is of low criticality, with evidence{note}");
        (Some(GateVerdict::PartialSuccess), how)
    } else if rate.is_at_least(target) {
        (None, format!("{rate} % pass, but failures of medium or high criticality are left"))
    } else {
        (None, format!("{rate} % pass, the gate is {target} %"))
    };
    let verdict = match met {
        Some(verdict) if full_run => verdict,
        Some(_) => GateVerdict::NeedsFullRun,
        None if iterations_left > 0 => GateVerdict::Continue,
        None => GateVerdict::Failure,
    };
    let reason = if met.is_none() && verdict == GateVerdict::Failure {
        format!("{how}, and the iteration limit is reached")
    } else {
        how
    };
    GateDecision { verdict, reason }
}

/// Decides how a session ends that its tests end so: never as green while the last full run of its
/// sources is not. `before` is what the baseline objected to, where that is known and the sources have
/// changed since. A command is silent about what it adds while tests fail, so only what a report says
/// of itself is known to be new.
pub fn weigh_objections(
    ending: Ending,
    reason: &str,
    objections: &[Objection],
    before: Option<&[Objection]>,
) -> (Ending, String) {
    if objections.is_empty() || ending == Ending::Planned {
        return (ending, reason.to_owned());
    }
    let clause = |one: &Objection| {
        let is_report = matches!(one, Objection::Report(_));
        let is_new = is_report && before.is_some_and(|before| one.is_new(before));
        format!("{}{}", one.clause(), if is_new { ", which came with the change" } else { "" })
    };
    let clauses: Vec<_> = objections.iter().map(clause).collect();
    let is_contrast = ending.meets_gate() && !reason.contains(", but ");
    let link = if is_contrast { ", but " } else { "; besides, " };
    let ending = if ending.meets_gate() { Ending::Failure } else { ending };
    (ending, format!("{reason}{link}{}", clauses.join(", and ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Criticality::{High, Low, Medium};
    use proptest::prelude::*;

    fn rate(passed: u32, total: u32) -> PassRate {
        PassRate::of(passed, total).unwrap()
    }

    #[test]
    fn the_gate_is_met_as_the_specification_says() {
        let other = ["go test (go.mod)".to_owned()];
        let calm = GateFacts {
            rate: rate(100, 100),
            target: 95,
            remaining: &[],
            full_run: true,
            flaky: false,
            ignored: 0,
            tests_edited: false,
            special_case: None,
            unread: None,
            by_exit_code: false,
            not_run: &[],
            iterations_left: 3,
        };
        let table = [
            ("all green", calm, GateVerdict::Success),
            ("estimated", GateFacts { full_run: false, ..calm }, GateVerdict::NeedsFullRun),
            ("flaky set aside", GateFacts { flaky: true, ..calm }, GateVerdict::PartialSuccess),
            ("set aside on request", GateFacts { ignored: 2, ..calm }, GateVerdict::Success),
            (
                "tests were changed",
                GateFacts { tests_edited: true, ..calm },
                GateVerdict::PartialSuccess,
            ),
            (
                "made for the tests",
                GateFacts { special_case: Some("it asks whether tests run"), ..calm },
                GateVerdict::PartialSuccess,
            ),
            (
                "a language that is not parsed",
                GateFacts { unread: Some("Ruby"), ..calm },
                GateVerdict::PartialSuccess,
            ),
            (
                "only an exit code",
                GateFacts { by_exit_code: true, ..calm },
                GateVerdict::PartialSuccess,
            ),
            (
                "another suite did not run",
                GateFacts { not_run: &other, ..calm },
                GateVerdict::PartialSuccess,
            ),
            (
                "96 and low",
                GateFacts { rate: rate(96, 100), remaining: &[Low], ..calm },
                GateVerdict::PartialSuccess,
            ),
            (
                "96 and medium",
                GateFacts { rate: rate(96, 100), remaining: &[Medium], ..calm },
                GateVerdict::Continue,
            ),
            (
                "96, medium, at the limit",
                GateFacts { rate: rate(96, 100), remaining: &[Medium], iterations_left: 0, ..calm },
                GateVerdict::Failure,
            ),
            (
                "exactly 95 and low",
                GateFacts { rate: rate(95, 100), remaining: &[Low], ..calm },
                GateVerdict::PartialSuccess,
            ),
            (
                "94.99 and low",
                GateFacts { rate: rate(9499, 10_000), remaining: &[Low], ..calm },
                GateVerdict::Unfixable,
            ),
            (
                "94.99, and one is not low",
                GateFacts { rate: rate(9499, 10_000), remaining: &[Low, Medium], ..calm },
                GateVerdict::Continue,
            ),
            (
                "19 tests: 95 % means all, and no edit brings the last one",
                GateFacts { rate: rate(18, 19), remaining: &[Low], ..calm },
                GateVerdict::Unfixable,
            ),
            (
                "99.99 is not full",
                GateFacts { rate: rate(9999, 10_000), remaining: &[High], ..calm },
                GateVerdict::Continue,
            ),
        ];
        for (why, facts, expected) in table {
            assert_eq!(judge(&facts).verdict, expected, "{why}");
        }
    }

    #[test]
    fn what_was_set_aside_is_said() {
        let facts = GateFacts {
            rate: rate(9, 9),
            target: 95,
            remaining: &[],
            full_run: true,
            flaky: false,
            ignored: 1,
            tests_edited: false,
            special_case: None,
            unread: None,
            by_exit_code: false,
            not_run: &[],
            iterations_left: 3,
        };
        let reason = judge(&facts).reason;
        assert_eq!(reason, "every test passes but 1 that fails on the base too");
        let reason = judge(&GateFacts { ignored: 2, ..facts }).reason;
        assert_eq!(reason, "every test passes but 2 that fail on the base too");
    }

    #[test]
    fn what_objects_to_a_run_is_said_and_never_green() {
        let command = Objection::Command {
            command: "x".into(),
            ending: "exit code 1".into(),
            tail: String::new(),
        };
        let report = Objection::Report("the plan is 3 and 2 ran".into());
        let both = [command.clone(), report.clone()];
        let (met, partial) = (Ending::Success, Ending::PartialSuccess);
        let (red, planned) = (Ending::Failure, Ending::Planned);
        let (none, same): (&[Objection], &[Objection]) = (&[], std::slice::from_ref(&report));
        let table = [
            (met, "all pass", none, None, met, "all pass"),
            (
                met,
                "all pass",
                &both[..1],
                Some(none),
                red,
                "all pass, but `x` ends with exit code 1",
            ),
            (met, "all pass", same, None, red, "all pass, but the plan is 3 and 2 ran"),
            (met, "all pass", same, Some(same), red, "all pass, but the plan is 3 and 2 ran"),
            (
                partial,
                "all pass, but look",
                same,
                Some(&both[..1]),
                red,
                "all pass, but look; besides, the plan is 3 and 2 ran, which came with the change",
            ),
            (
                red,
                "3 fail",
                &both,
                None,
                red,
                "3 fail; besides, `x` ends with exit code 1, and the plan is 3 and 2 ran",
            ),
            (planned, "a dry run", same, None, planned, "a dry run"),
        ];
        for (ending, reason, objections, before, expected, text) in table {
            let weighed = weigh_objections(ending, reason, objections, before);
            assert_eq!(weighed, (expected, text.to_owned()));
        }
    }

    proptest! {
        #[test]
        fn nothing_ends_as_success_below_the_gate(
            failed in 1u32..50, passed in 0u32..200, target in 1u32..=100, flaky: bool,
            full_run: bool, iterations_left in 0u32..3, level in 0usize..3,
        ) {
            let levels = [[Low], [Medium], [High]];
            let facts = GateFacts {
                rate: rate(passed, passed + failed), target, remaining: &levels[level],
                full_run, flaky, ignored: 0, tests_edited: false, special_case: None, unread: None,
                by_exit_code: false, not_run: &[], iterations_left,
            };
            let verdict = judge(&facts).verdict;
            prop_assert_ne!(verdict, GateVerdict::Success);
            if verdict == GateVerdict::PartialSuccess {
                prop_assert!(passed * 100 >= target * (passed + failed));
                prop_assert_eq!(level, 0);
                prop_assert!(full_run);
            }
        }
    }
}
