//! Limits how often something is done.

use std::time::Duration;

use super::environment::ActionEnv;

/// Variable that overrides the time between two updates of a page or a snapshot, in milliseconds.
pub const PACE_VARIABLE: &str = "REGREEN_PACE_MS";

/// Holds the time of the last attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Throttle {
    every: Duration,
    last: Option<Duration>,
}

impl Throttle {
    /// Allows an attempt every `every`, or as often as this variable says in milliseconds.
    pub fn new(env: &ActionEnv, variable: &str, every: Duration) -> Self {
        let every = env.get(variable).parse().map_or(every, Duration::from_millis);
        Self { every, last: None }
    }

    /// Whether enough time has passed since the last attempt.
    pub fn is_due(&self, now: Duration) -> bool {
        self.last.is_none_or(|last| now.saturating_sub(last) >= self.every)
    }

    /// Notes an attempt.
    pub fn record(&mut self, now: Duration) {
        self.last = Some(now);
    }
}
