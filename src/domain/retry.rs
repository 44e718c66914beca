//! Retry policy for server calls: whether to repeat a call, when, and whether to check first.
//!
//! Source: specification.md 9.1; GitHub's rules for rate limits.

use std::time::Duration;

/// Whether a call can be repeated safely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Repeating changes nothing: reading, and writing absolute content.
    Free,
    /// Not idempotent, but the caller can check whether the first call took effect.
    Look,
    /// Repeating does the work twice, and nobody can tell.
    Never,
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request never reached the server.
    Unsent,
    /// The connection broke, or the answer was cut, late or invalid: it may have been carried out.
    Broken,
    /// Status 5xx: the server may have carried out the request.
    Server,
    /// A rate limit: nothing was done. Holds the wait that the server names, if any.
    Limited(Option<Duration>),
    /// A permanent failure; waiting does not help.
    Refused,
}

/// What a failed request leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryDecision {
    /// Wait, then make the call again.
    Again(Duration),
    /// Wait, check whether the call took effect, and repeat it only if it did not.
    LookFirst(Duration),
    GiveUp(GiveUpReason),
}

/// Why no further attempt is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUpReason {
    /// Another attempt would fail in the same way, or might do it twice.
    Final,
    /// The last of [`ATTEMPTS`] failed.
    Attempts,
    /// The server requires a longer wait than [`LONGEST_WAIT`].
    WaitTooLong,
    /// The wait would exceed the deadline of the run.
    Deadline,
}

/// Maximum number of attempts of one call, including the first one.
pub const ATTEMPTS: u32 = 5;

/// Longest wait for a rate limit. What would take longer is posted at the next opportunity.
pub const LONGEST_WAIT: Duration = Duration::from_mins(2);

/// Wait for a rate limit without a stated time: GitHub requires at least a minute.
pub const UNNAMED_WAIT: Duration = Duration::from_mins(1);

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LARGEST_STEP: Duration = Duration::from_secs(30);

/// Decides after attempt number `attempt` (1 is the first) failed with `fault`.
///
/// `remaining` is the time left in the run, `None` without a deadline; a wait that would use it up
/// is not begun. `seed` makes the waits of several runs differ; the same seed gives the same waits.
pub fn retry(
    call: Repeat,
    fault: Fault,
    attempt: u32,
    remaining: Option<Duration>,
    seed: u64,
) -> RetryDecision {
    let wait = match fault {
        Fault::Refused => return RetryDecision::GiveUp(GiveUpReason::Final),
        Fault::Broken | Fault::Server if call == Repeat::Never => {
            return RetryDecision::GiveUp(GiveUpReason::Final);
        }
        Fault::Limited(named) => named.unwrap_or(UNNAMED_WAIT),
        Fault::Unsent | Fault::Broken | Fault::Server => back_off(attempt, seed),
    };
    if attempt >= ATTEMPTS {
        return RetryDecision::GiveUp(GiveUpReason::Attempts);
    }
    if remaining.is_some_and(|left| wait >= left) {
        return RetryDecision::GiveUp(GiveUpReason::Deadline);
    }
    if wait > LONGEST_WAIT {
        return RetryDecision::GiveUp(GiveUpReason::WaitTooLong);
    }
    match (call, fault) {
        (Repeat::Look, Fault::Broken | Fault::Server) => RetryDecision::LookFirst(wait),
        _ => RetryDecision::Again(wait),
    }
}

/// Exponential back-off from 1 to 30 seconds, with jitter between half and all of the wait.
pub fn back_off(attempt: u32, seed: u64) -> Duration {
    let full = FIRST_WAIT
        .saturating_mul(1u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX))
        .min(LARGEST_STEP);
    let half = full / 2;
    let spread = u64::try_from(half.as_millis()).unwrap_or(u64::MAX).max(1);
    half + Duration::from_millis(scatter(seed ^ u64::from(attempt)) % spread)
}

/// `SplitMix64`: one well-spread number from another.
pub fn scatter(number: u64) -> u64 {
    let mut word = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Name of the decision, without the wait.
    fn word(decision: RetryDecision) -> &'static str {
        match decision {
            RetryDecision::Again(_) => "again",
            RetryDecision::LookFirst(_) => "look",
            RetryDecision::GiveUp(GiveUpReason::Final) => "final",
            RetryDecision::GiveUp(GiveUpReason::Attempts) => "attempts",
            RetryDecision::GiveUp(GiveUpReason::WaitTooLong) => "patience",
            RetryDecision::GiveUp(GiveUpReason::Deadline) => "deadline",
        }
    }

    #[test]
    fn a_call_is_repeated_only_where_that_is_safe() {
        use Fault::{Broken, Limited, Refused, Server, Unsent};
        use Repeat::{Free, Look, Never};
        let table = [
            ("read again after 5xx", Free, Server, 1, None, "again"),
            ("read again after a reset", Free, Broken, 4, None, "again"),
            ("five attempts are enough", Free, Broken, 5, None, "attempts"),
            ("a refusal stays", Free, Refused, 1, None, "final"),
            ("a create looks first", Look, Broken, 1, None, "look"),
            ("a create looks after 502", Look, Server, 1, None, "look"),
            ("a create that never left is made again", Look, Unsent, 1, None, "again"),
            ("a limit means nothing happened", Look, Limited(Some(SECOND)), 1, None, "again"),
            ("a dispatch is not made twice", Never, Server, 1, None, "final"),
            ("a dispatch may wait for a limit", Never, Limited(None), 1, None, "again"),
            ("a dispatch that never left is made again", Never, Unsent, 1, None, "again"),
            ("a limit of an hour", Free, Limited(Some(SECOND * 3600)), 1, None, "patience"),
            ("a limit of two minutes", Free, Limited(Some(LONGEST_WAIT)), 1, None, "again"),
            ("past the deadline", Free, Limited(Some(SECOND)), 1, Some(SECOND), "deadline"),
            ("no time left", Free, Server, 1, Some(Duration::ZERO), "deadline"),
            ("just in time", Free, Limited(Some(SECOND)), 1, Some(SECOND * 2), "again"),
        ];
        for (why, call, fault, attempt, remaining, expected) in table {
            assert_eq!(word(retry(call, fault, attempt, remaining, 7)), expected, "{why}");
        }
        assert_eq!(
            retry(Free, Limited(None), 1, None, 0),
            RetryDecision::Again(UNNAMED_WAIT),
            "a limit without a time"
        );
    }

    proptest! {
        #[test]
        fn no_wait_outlives_the_run(attempt in 1u32..8, left in 0u64..200_000, seed: u64, named in proptest::option::of(0u64..4000)) {
            let left = Duration::from_millis(left);
            for fault in [Fault::Broken, Fault::Limited(named.map(Duration::from_secs))] {
                match retry(Repeat::Free, fault, attempt, Some(left), seed) {
                    RetryDecision::Again(wait) | RetryDecision::LookFirst(wait) => {
                        prop_assert!(wait < left && wait <= LONGEST_WAIT && attempt < ATTEMPTS);
                    }
                    RetryDecision::GiveUp(_) => {}
                }
            }
        }

        #[test]
        fn back_off_grows_and_stays_in_its_bounds(attempt in 1u32..40, seed: u64) {
            let wait = back_off(attempt, seed);
            let full = SECOND.saturating_mul(1 << (attempt - 1).min(5)).min(LARGEST_STEP);
            prop_assert!(wait >= full / 2 && wait <= full, "{wait:?} of {full:?}");
        }
    }
}
