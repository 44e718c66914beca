//! The order in which calls of several functions are made.

use std::collections::BTreeMap;

use crate::effect::Call;

/// Calls of one function before it is the turn of the next one.
const TURN: usize = 40;

/// The same for its first turn, so that all functions are called where time is short.
const FIRST_TURN: usize = 10;

/// Reorders calls to alternate between functions, so that every function is called before the time
/// runs out. The order of the calls of one function stays.
pub fn in_turns(wave: Vec<(usize, Call)>) -> Vec<(usize, Call)> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let mut keyed: Vec<(usize, (usize, Call))> = wave
        .into_iter()
        .map(|one| {
            let count = counts.entry(one.0).or_default();
            *count += 1;
            ((*count + TURN - FIRST_TURN - 1) / TURN, one)
        })
        .collect();
    keyed.sort_by_key(|(turn, _)| *turn);
    keyed.into_iter().map(|(_, one)| one).collect()
}
