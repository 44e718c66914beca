//! The time budget of the embedded engine: one limit per session, shared by its rounds, and
//! counted in the stored state, so that a resumed session gets only what is left.

use std::time::Duration;

use super::write::TestWriting;
use super::write_task::ROUNDS;

/// The least time with which another round begins: it calls functions, runs what it writes several times,
/// and measures its score for a quarter of a minute at least.
const ROUND: Duration = Duration::from_secs(30);

impl TestWriting<'_> {
    /// Remaining time of the embedded engine.
    pub(super) fn time_left(&self) -> Duration {
        let spent = Duration::try_from_secs_f64(self.generation.engine_seconds);
        self.inputs.time.saturating_sub(spent.unwrap_or(Duration::MAX))
    }

    /// Whether too little time is left for another round.
    pub(super) fn is_late(&self) -> bool {
        self.time_left() < ROUND
    }

    /// Adds the time since `began` to the time that the engine has used.
    pub(super) fn took(&mut self, began: Duration) {
        let took = self.fx.clock.elapsed().saturating_sub(began);
        self.generation.engine_seconds += took.as_secs_f64();
    }

    /// The time that one more round may take.
    pub(super) fn share(&self, round: u32) -> Duration {
        share(self.time_left(), round)
    }
}

/// The share of the time `left` for one more round. A first round, which writes everything, counts
/// twice as much as a later one, which targets what was missed. All of it, where too little would remain.
fn share(left: Duration, round: u32) -> Duration {
    let weight = if round <= 1 { 2 } else { 1 };
    let part = left * weight / ROUNDS.saturating_sub(round).saturating_add(weight);
    if left.saturating_sub(part) < ROUND * 2 { left } else { part }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_share_the_time_and_what_is_not_used_goes_on() {
        let s = Duration::from_secs;
        let table = [
            ("the first round", s(480), 1, s(240)),
            ("the second", s(240), 2, s(120)),
            ("the last has the rest", s(130), 3, s(130)),
            ("a minute is one round", s(60), 1, s(60)),
            ("nothing is left", s(0), 2, s(0)),
        ];
        for (why, left, round, expected) in table {
            assert_eq!(share(left, round), expected, "{why}");
        }
    }
}
