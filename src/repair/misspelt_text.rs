//! Texts in the sources that differ by a slip from one in the failing tests.

use std::collections::BTreeSet;

use crate::code::mutate::{Candidate, OperatorId};
use crate::code::pattern::Pattern;

/// Letters of the shortest text that is compared.
const SHORTEST: usize = 4;

/// Whether one text may be a slip for the other. Numbers are data, and not misspelt.
pub fn is_slip(old: &str, new: &str) -> bool {
    let is_words = |text: &str| {
        text.chars().count() >= SHORTEST && !text.chars().any(|one| one.is_ascii_digit())
    };
    let distance = strsim::osa_distance(old, new);
    is_words(old) && is_words(new) && (1..=2).contains(&distance) && distance * 4 <= old.len()
}

/// Edits that spell texts on accepted lines as the literals of tests do.
pub fn respelled_texts(
    source: &str,
    test_literals: &BTreeSet<String>,
    accepts_line: &dyn Fn(u32) -> bool,
) -> Vec<Candidate> {
    static QUOTED: Pattern = Pattern::new(r#""([^"\\\n]+)"|'([^'\\\n]+)'|`([^`\\\n]+)`"#);
    let mut edits = Vec::new();
    for found in QUOTED.captures(source) {
        let Some(old) = (1..=3).find_map(|group| found.get(group)) else { continue };
        let before = source.get(..old.start()).unwrap_or_default();
        let line = u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX);
        let is_meant =
            |new: &&String| is_slip(old.as_str(), new) && !new.contains(['\\', '"', '\'', '`']);
        for new in test_literals.iter().filter(is_meant).filter(|_| accepts_line(line)) {
            let operator = OperatorId::Text;
            let weight = 10.0 * operator.base_yield();
            edits.push(Candidate { range: old.range(), text: new.clone(), operator, line, weight });
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_the_one_of_a_test_that_it_is_a_slip_for() {
        let source = "PLANETS = ['Mars', 'Jupyter', \"Saturn 5\"]\n";
        let table = [
            ("Jupiter", 1, 1),
            ("Jupiter", 2, 0),
            ("Pluto", 1, 0),
            ("Saturn 6", 1, 0),
            ("Mars", 1, 0),
        ];
        for (literal, accepted, count) in table {
            let edits =
                respelled_texts(source, &[literal.to_owned()].into(), &|line| line == accepted);
            assert_eq!(edits.len(), count, "{literal}");
            let after = edits.first().map(|edit| edit.apply(source));
            assert!(after.is_none_or(|text| text.contains("'Mars', 'Jupiter'")), "{literal}");
        }
    }
}
