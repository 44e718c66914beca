//! Limits how often something is done.

use std::time::Duration;

use super::environment::ActionEnv;

/// Variable that overrides the time between two updates of a page or a snapshot, in milliseconds.
pub const PACE_VARIABLE: &str = "REGREEN_PACE_MS";

/// At least this part of a run's time between two attempts, for the sake of other jobs.
const PART: u32 = 10;

/// The longest interval of a long run, in intervals of its beginning.
const LONGEST: u32 = 20;

/// Holds the time of the last attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Throttle {
    every: Duration,
    last: Option<Duration>,
    is_steady: bool,
}

impl Throttle {
    /// Allows an attempt every `every`, or this variable's milliseconds; ever more rarely later.
    pub fn new(env: &ActionEnv, variable: &str, every: Duration) -> Self {
        let every = env.get(variable).parse().map_or(every, Duration::from_millis);
        Self { every, ..Self::default() }
    }

    /// As [`Throttle::new`], but equally often in the longest run.
    pub fn steady(env: &ActionEnv, variable: &str, every: Duration) -> Self {
        Self { is_steady: true, ..Self::new(env, variable, every) }
    }

    /// Whether enough time has passed since the last attempt.
    pub fn is_due(&self, now: Duration) -> bool {
        let Some(last) = self.last else { return true };
        let longer =
            if self.is_steady { self.every } else { (last / PART).min(self.every * LONGEST) };
        now.saturating_sub(last) >= self.every.max(longer)
    }

    /// Notes an attempt.
    pub fn record(&mut self, now: Duration) {
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attempts in this many minutes.
    fn attempts(mut throttle: Throttle, minutes: u64) -> u32 {
        let mut count = 0;
        for now in (0..minutes * 60).map(Duration::from_secs) {
            if throttle.is_due(now) {
                throttle.record(now);
                count += 1;
            }
        }
        count
    }

    #[test]
    fn a_long_run_updates_its_pages_ever_more_rarely() {
        let env = ActionEnv::default();
        let page = Throttle::new(&env, PACE_VARIABLE, Duration::from_secs(15));
        let poll = Throttle::steady(&env, PACE_VARIABLE, Duration::from_secs(30));
        let table = [(1, 4, 2), (10, 25, 20), (20, 32, 40), (60, 44, 120)];
        for (minutes, pages, polls) in table {
            assert_eq!(attempts(page.clone(), minutes), pages, "{minutes}");
            assert_eq!(attempts(poll.clone(), minutes), polls, "{minutes}");
        }
    }
}
