//! Further calls, made of those that were seen: variations of what reached new code, and calls that
//! aim at lines where mutants survived.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::signature::Callable;
use crate::effect::Call;

use super::search_target::SearchTarget;
use super::{Case, inputs};

/// Maximum number of calls of one function in a round of variations.
const NEAR: usize = 48;

/// Maximum number of targeted calls of one function in one round.
const AIMED: usize = 160;

/// Number of earlier calls that targeted calls are derived from.
const BASES: usize = 16;

/// Variations of the calls that reached new code.
pub fn vary_calls(language: Language, callable: &Callable, known: &[Case]) -> Vec<Call> {
    let made: BTreeSet<&Call> = known.iter().map(|case| &case.call).collect();
    let (fresh, _) = latest_first(known.iter());
    let lists: Vec<Vec<Call>> =
        fresh.into_iter().map(|call| inputs::near(language, callable, call)).collect();
    side_by_side(&lists, &made, NEAR)
}

/// Variations of calls that run a line where mutants survived: with literals from that line or
/// close to them, and with slight changes. Calls that reached new code are varied first.
pub fn aim_calls(
    language: Language,
    callable: &Callable,
    known: &[Case],
    target: &SearchTarget,
) -> Vec<Call> {
    let made: BTreeSet<&Call> = known.iter().map(|case| &case.call).collect();
    let hits = known.iter().filter(|case| target.orphan || target.runs(case));
    let (fresh, others) = latest_first(hits);
    let lists = fresh.into_iter().chain(others).take(BASES).map(|call| {
        let mut list = inputs::placed(language, callable, call, &target.literals);
        let near = inputs::near(language, callable, call);
        let at = list.len().min(near.len() * 2);
        list.splice(at..at, near);
        list
    });
    side_by_side(&lists.collect::<Vec<_>>(), &made, AIMED)
}

/// Interleaves the lists, without calls that were already made.
fn side_by_side(lists: &[Vec<Call>], made: &BTreeSet<&Call>, limit: usize) -> Vec<Call> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    let mut found: Vec<Call> = Vec::new();
    for row in 0..longest {
        for call in lists.iter().filter_map(|list| list.get(row)) {
            if found.len() < limit && !made.contains(call) && !found.contains(call) {
                found.push(call.clone());
            }
        }
    }
    found
}

/// The calls that reached new code, and the others, each with the latest first: the latest calls
/// are variations of what was new one round before.
fn latest_first<'a>(cases: impl Iterator<Item = &'a Case>) -> (Vec<&'a Call>, Vec<&'a Call>) {
    let mut marks: BTreeSet<&str> = BTreeSet::new();
    let (mut fresh, mut others) = (Vec::new(), Vec::new());
    for case in cases {
        let before = marks.len();
        marks.extend(case.seen.marks.iter().map(String::as_str));
        if marks.len() > before { fresh.push(&case.call) } else { others.push(&case.call) }
    }
    fresh.reverse();
    others.reverse();
    (fresh, others)
}
