//! The time budget of the embedded engine: one limit per session, shared by tasks and rounds, and
//! counted in the stored state, so that a resumed session gets only what is left.

use std::time::Duration;

use crate::domain::test_plan::task::{TaskKind, TestTask};

use super::write::TestWriting;
use super::write_task::ROUNDS;

impl TestWriting<'_> {
    /// Remaining time of the embedded engine.
    pub(super) fn time_left(&self) -> Duration {
        let spent = Duration::try_from_secs_f64(self.generation.engine_seconds);
        self.inputs.time.saturating_sub(spent.unwrap_or(Duration::MAX))
    }

    /// Adds the time since `began` to the time that the engine has used.
    pub(super) fn took(&mut self, began: Duration) {
        let took = self.fx.clock.elapsed().saturating_sub(began);
        self.generation.engine_seconds += took.as_secs_f64();
    }

    /// The time that one more round of a task may take.
    pub(super) fn share(&self, task: &TestTask, round: u32) -> Duration {
        let writes = |one: &&TestTask| one.meta.kind == TaskKind::TestGen;
        let tasks: Vec<&TestTask> = self.plan.tasks.iter().filter(writes).collect();
        let waits = |one: &&&TestTask| {
            let made = self.generation.of(&one.id);
            one.id == task.id || made.is_none_or(|made| made.lacks_round(round))
        };
        let of_round = tasks.iter().filter(waits).count();
        share(self.time_left(), round, of_round, tasks.len())
    }
}

/// The share of the time `left` for one more round of one task, when `of_round` tasks, this one
/// included, still need that round. A first round, which writes everything, counts twice as much as
/// a later one, which targets what was missed.
fn share(left: Duration, round: u32, of_round: usize, tasks: usize) -> Duration {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).max(1);
    let weight = if round <= 1 { 2 } else { 1 };
    let later = ROUNDS.saturating_sub(round).saturating_mul(number(tasks));
    let ahead = number(of_round).saturating_mul(weight).saturating_add(later);
    left * weight / ahead
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_share_the_time_and_what_is_not_used_goes_on() {
        let s = Duration::from_secs;
        let table = [
            ("one task, its first round", s(480), 1, 1, 1, s(240)),
            ("its second", s(240), 2, 1, 1, s(120)),
            ("its last has the rest", s(130), 3, 1, 1, s(130)),
            ("the first of four", s(480), 1, 4, 4, s(60)),
            ("the last of four", s(300), 1, 1, 4, s(60)),
            ("nothing is left", s(0), 2, 3, 4, s(0)),
            ("no task is known", s(8), 3, 0, 0, s(8)),
        ];
        for (why, left, round, of_round, tasks, expected) in table {
            assert_eq!(share(left, round, of_round, tasks), expected, "{why}");
        }
    }
}
