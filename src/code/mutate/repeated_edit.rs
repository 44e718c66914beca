//! The same edit at several places of a function as one candidate: who got a boundary wrong once often did so twice.

use std::collections::BTreeMap;
use std::ops::Range;

use super::edit_site::Candidate;
use super::operator_id::OperatorId;

/// Places of one edit at most.
const MAX_PLACES: usize = 6;

/// Bytes of what an edit replaces, and of what stands there instead, at most.
const MAX_LENGTH: usize = 24;

/// What an edit at several places weighs, as a part of what it weighs at one.
const SHARE: f64 = 0.4;

/// What an edit at two of more places weighs, as a part of what it weighs at all of them.
const OF_TWO: f64 = 0.5;

/// What an edit changes, with the character before and behind it: `<` to `<=` is the same edit wherever it stands.
fn changed_text<'s>(source: &'s str, edit: &'s Candidate) -> Option<(&'s str, &'s str)> {
    let old = source.get(edit.range.clone()).filter(|old| !old.is_empty())?;
    let same = |(a, b): &(char, char)| a == b;
    let length = |pairs: Vec<(char, char)>| pairs.iter().map(|(c, _)| c.len_utf8()).sum::<usize>();
    let shared: Vec<_> = old.chars().zip(edit.text.chars()).take_while(same).collect();
    let start = length(shared.get(..shared.len().saturating_sub(1)).unwrap_or_default().to_vec());
    let (old, new) = (old.get(start..)?, edit.text.get(start..)?);
    // One character stays on each side, and none is counted twice.
    let most = old.chars().count().min(new.chars().count()).saturating_sub(2);
    let backwards = old.chars().rev().zip(new.chars().rev());
    let shared: Vec<_> = backwards.take(most).take_while(same).collect();
    let end = length(shared.get(..shared.len().saturating_sub(1)).unwrap_or_default().to_vec());
    let (old, new) = (old.get(..old.len() - end)?, new.get(..new.len() - end)?);
    (old.len().max(new.len()) <= MAX_LENGTH).then_some((old, new))
}

/// For each edit that is possible at two or more places of a function, given by their ranges, one that is made at
/// all, and one for each two of them that follow each other.
pub fn repeated_edits(
    source: &str,
    edits: &[Candidate],
    functions: &[Range<usize>],
) -> Vec<Candidate> {
    type Key<'s> = (OperatorId, usize, &'s str, &'s str);
    let mut places: BTreeMap<Key<'_>, Vec<&Candidate>> = BTreeMap::new();
    for edit in edits {
        let around = functions
            .iter()
            .filter(|one| one.start <= edit.range.start && edit.range.end <= one.end);
        let innermost = around.min_by_key(|one| one.len());
        if let (Some(function), Some((mut old, mut new))) = (innermost, changed_text(source, edit))
        {
            // Letters in the other case are the same edit, whichever they are.
            if old.eq_ignore_ascii_case(new) {
                let is_upper = !new.contains(|c: char| c.is_ascii_lowercase());
                (old, new) = ("", if is_upper { "upper" } else { "lower" });
            }
            places.entry((edit.operator, function.start, old, new)).or_default().push(edit);
        }
    }
    let joined = places.into_values().flat_map(|mut edits| {
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let neighbours = edits.windows(2).filter(|_| (3..=MAX_PLACES).contains(&edits.len()));
        let two = neighbours.filter_map(|two| join_places(source, two));
        let two = two.map(|one| Candidate { weight: one.weight * OF_TWO, ..one });
        join_places(source, &edits).into_iter().chain(two).collect::<Vec<_>>()
    });
    joined.collect()
}

/// Edits in the order of the text as one; `None` for a single place, too many, or ones that overlap.
fn join_places(source: &str, edits: &[&Candidate]) -> Option<Candidate> {
    let (first, last) = (edits.first()?, edits.last()?);
    let is_apart = edits.windows(2).all(|two| match two {
        [one, other] => one.range.end <= other.range.start,
        _ => true,
    });
    if !(2..=MAX_PLACES).contains(&edits.len()) || !is_apart {
        return None;
    }
    let (mut text, mut copied) = (String::new(), first.range.start);
    for edit in edits {
        text.push_str(source.get(copied..edit.range.start)?);
        text.push_str(&edit.text);
        copied = edit.range.end;
    }
    let weight = edits.iter().map(|edit| edit.weight).fold(f64::MAX, f64::min) * SHARE;
    let range = first.range.start..last.range.end;
    Some(Candidate { range, text, weight, ..(*first).clone() })
}

#[cfg(test)]
mod tests {
    use crate::code::language::Language;
    use crate::code::mutate::candidates;

    #[test]
    fn letters_of_a_range_change_their_case_together() {
        let source = "package a\n\nfunc f(c rune) bool {\n\treturn 'a' <= c && c <= 'z'\n}\n";
        let edits = candidates(Language::Go, source, &|_| true, &[]);
        let expected = source.replace("'a'", "'A'").replace("'z'", "'Z'");
        assert!(edits.iter().any(|edit| edit.apply(source) == expected));
    }

    #[test]
    fn an_edit_that_is_possible_twice_in_a_function_is_made_at_both_places() {
        let source = "def f(a, b, low):\n    if a < low:\n        return 0\n    if b < low:\n        return 1\n    return a + b\n\n\ndef g(a, low):\n    return a < low\n";
        let texts: Vec<String> = candidates(Language::Python, source, &|_| true, &[])
            .iter()
            .map(|edit| edit.apply(source))
            .collect();
        let both = source.replacen("a < low", "a <= low", 1).replacen("b < low", "b <= low", 1);
        let (one, all) = (source.replacen("a < low", "a <= low", 1), source.replace('<', "<="));
        let table = [("one place", one, true), ("both", both, true), ("two functions", all, false)];
        for (why, text, expected) in table {
            assert_eq!(texts.contains(&text), expected, "{why}");
        }
    }
}
