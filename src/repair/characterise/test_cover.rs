//! A small set of tests that reaches and detects as much as all do.

use std::collections::BTreeSet;

/// What one test contributes: code that it reaches, and mutants that it detects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contribution {
    /// Opaque ids of the code that it reaches.
    pub reaches: BTreeSet<String>,
    /// Numbers of the mutants that it detects.
    pub notices: BTreeSet<usize>,
    /// Whether its result is documented: such a test is always kept.
    pub is_documented: bool,
    /// Whether nobody would write it, for its input or because its function is internal: it only counts for
    /// code that no other reaches.
    pub is_makeshift: bool,
    pub function: usize,
}

impl Contribution {
    /// What counts of it.
    fn parts(&self) -> impl Iterator<Item = (&str, usize)> {
        let notices = self.notices.iter().filter(|_| !self.is_makeshift);
        self.reaches.iter().map(|mark| (mark.as_str(), 0)).chain(notices.map(|one| ("", *one)))
    }
}

/// From so many tests on, a function's next must reach new code or detect several mutants.
pub const MANY: usize = 6;

/// The documented tests and a small set of others that reach as much as all, and detect as much as all
/// with legible inputs; sorted indexes. The tests are given plainest first, and a plainer one of the same
/// function stands for another that contributes no more.
pub fn choose_cover(contributions: &[Contribution]) -> Vec<usize> {
    let documented = contributions.iter().enumerate().filter(|(_, piece)| piece.is_documented);
    let mut chosen: Vec<usize> = documented.map(|(index, _)| index).collect();
    let parts = |index: &usize| contributions.get(*index).into_iter().flat_map(Contribution::parts);
    let mut known: BTreeSet<(&str, usize)> = chosen.iter().flat_map(parts).collect();
    loop {
        let gain = |index: &usize| {
            let Some(piece) = contributions.get(*index) else { return (false, 0, 0) };
            let new = || piece.parts().filter(|part| !known.contains(part));
            let (notices, all) = (new().filter(|(mark, _)| mark.is_empty()).count(), new().count());
            let is_own = |other: &&usize| {
                contributions.get(**other).is_some_and(|one| one.function == piece.function)
            };
            let is_needless =
                all < 2 && notices == all && chosen.iter().filter(is_own).count() >= MANY;
            if is_needless {
                return (false, 0, 0);
            }
            (!piece.is_makeshift && all > 0, notices, all - notices)
        };
        let left = (0..contributions.len()).filter(|index| !chosen.contains(index)).rev();
        let best = left.max_by_key(gain).filter(|best| (gain(best).1, gain(best).2) != (0, 0));
        let Some(best) = best else { break };
        known.extend(parts(&best));
        chosen.push(best);
    }
    prefer_plain(contributions, &mut chosen);
    chosen.sort_unstable();
    chosen
}

/// Takes out what others make needless, the least plain first, and puts a plainer test of the same function
/// in the place of one that nothing but it can replace.
fn prefer_plain(contributions: &[Contribution], chosen: &mut Vec<usize>) {
    let mut order = chosen.clone();
    order.sort_unstable();
    for index in order.into_iter().rev() {
        let Some(piece) = contributions.get(index).filter(|piece| !piece.is_documented) else {
            continue;
        };
        chosen.retain(|other| *other != index);
        let others = chosen.iter().filter_map(|other| contributions.get(*other));
        let known: BTreeSet<(&str, usize)> = others.flat_map(Contribution::parts).collect();
        let own: BTreeSet<(&str, usize)> =
            piece.parts().filter(|part| !known.contains(part)).collect();
        let stands_for = |(_, other): &(usize, &Contribution)| {
            other.function == piece.function
                && other.parts().filter(|part| own.contains(part)).count() == own.len()
        };
        if !own.is_empty() {
            let mut before = contributions.iter().enumerate().take(index);
            chosen.push(before.find(stands_for).map_or(index, |(plainer, _)| plainer));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn makeshift_tests_count_only_for_code_that_no_other_reaches() {
        let piece = |is_makeshift, mutant, mark: &str| Contribution {
            reaches: BTreeSet::from([mark.to_owned()]),
            notices: BTreeSet::from([mutant]),
            is_makeshift,
            ..Contribution::default()
        };
        let pieces = [piece(true, 1, "a"), piece(false, 2, "a"), piece(true, 3, "b")];
        assert_eq!(choose_cover(&pieces), [1, 2]);
    }

    #[test]
    fn of_tests_that_contribute_as_much_the_plainest_is_kept() {
        let piece = |function, notices: &[usize], reaches: &[&str]| Contribution {
            reaches: reaches.iter().map(|one| (*one).to_owned()).collect(),
            notices: notices.iter().copied().collect(),
            function,
            ..Contribution::default()
        };
        let table = [
            ("equal ones", vec![piece(0, &[1], &["a"]), piece(0, &[1], &["a"])], vec![0]),
            (
                "a strong one that others make needless",
                vec![
                    piece(0, &[1, 5], &[]),
                    piece(0, &[3, 6], &[]),
                    piece(0, &[1, 2, 3], &[]),
                    piece(0, &[2, 7], &[]),
                ],
                vec![0, 1, 3],
            ),
            (
                "a plainer one that does what is left to do",
                vec![
                    piece(0, &[1, 5], &[]),
                    piece(0, &[2, 3, 4], &[]),
                    piece(0, &[1, 2, 3, 5], &[]),
                ],
                vec![0, 1],
            ),
            (
                "one of another function",
                vec![piece(1, &[], &["a"]), piece(0, &[1], &["a"])],
                vec![1],
            ),
        ];
        for (why, pieces, expected) in table {
            assert_eq!(choose_cover(&pieces), expected, "{why}");
        }
        let many: Vec<Contribution> = (0..9).map(|one| piece(0, &[one], &["a"])).collect();
        assert_eq!(choose_cover(&many).len(), MANY);
        let many: Vec<Contribution> = (0..9).map(|one| piece(one, &[one], &["a"])).collect();
        assert_eq!(choose_cover(&many).len(), 9);
    }

    proptest! {
        #[test]
        fn a_cover_notices_and_reaches_what_all_do(
            rows in proptest::collection::vec((proptest::collection::btree_set(0usize..20, 0..6), proptest::collection::btree_set("[a-f]", 0..4)), 0..12)
        ) {
            let contributions: Vec<Contribution> = rows.into_iter().map(|(notices, reaches)| Contribution { reaches, notices, ..Contribution::default() }).enumerate().map(|(function, one)| Contribution { function, ..one }).collect();
            let chosen = choose_cover(&contributions);
            let all = |list: &[usize]| -> (BTreeSet<usize>, BTreeSet<String>) {
                let of = |index: &usize| contributions[*index].clone();
                (list.iter().flat_map(|i| of(i).notices).collect(), list.iter().flat_map(|i| of(i).reaches).collect())
            };
            let every: Vec<usize> = (0..contributions.len()).collect();
            prop_assert_eq!(all(&chosen), all(&every));
            prop_assert!(chosen.len() <= contributions.len());
        }
    }
}
