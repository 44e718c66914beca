//! [`Refusals`]: what compilers refuse, so that the like is not tried again at the same place.

use std::collections::BTreeMap;

use crate::code::mutate::OperatorId;
use crate::domain::id::RepoPath;
use crate::repair::stream::RankedEdit;

/// Edits of one operator at one place that are refused for one reason before the others are left out: names and values
/// that an operator puts there have different types, so the first says little of the next.
const ENOUGH: u32 = 3;

type Place = (RepoPath, usize, OperatorId);

/// The kinds of diagnostics by place, each with how often it came.
#[derive(Default)]
pub(super) struct Refusals(BTreeMap<Place, BTreeMap<String, u32>>);

/// Where a single edit is made, and by what; `None` for others.
fn place_of(edit: &RankedEdit) -> Option<Place> {
    let [part] = edit.parts.as_slice() else { return None };
    Some((part.file.clone(), part.candidate.range.start, part.candidate.operator))
}

/// The kind of a diagnostic: its first words without the position, such as `error[E0308]: mismatched` or `cannot use`.
fn kind_of(message: &str) -> String {
    let is_place = |word: &str| word.contains('/') || word.contains(".go:");
    let words = message.split_whitespace().filter(|word| !is_place(word));
    words.take(2).collect::<Vec<_>>().join(" ")
}

impl Refusals {
    /// Remembers why an edit does not compile.
    pub(super) fn add_refusal(&mut self, edit: &RankedEdit, message: &str) {
        if let Some(place) = place_of(edit) {
            *self.0.entry(place).or_default().entry(kind_of(message)).or_default() += 1;
        }
    }

    /// Whether enough of the like were refused.
    pub(super) fn expects_refusal(&self, edit: &RankedEdit) -> bool {
        let known = place_of(edit).and_then(|place| self.0.get(&place));
        known.is_some_and(|kinds| kinds.values().any(|count| *count >= ENOUGH))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;
    use crate::code::mutate::candidates;
    use crate::repair::stream::EditPart;

    #[test]
    fn the_kind_of_a_diagnostic_names_no_place() {
        let table = [
            ("error[E0308]: mismatched types", "error[E0308]: mismatched"),
            ("./price.go:4:9: cannot use \"a\" as int value", "cannot use"),
            ("/x/Calc.java:[5,16] incompatible types: String", "incompatible types:"),
        ];
        for (message, expected) in table {
            assert_eq!(kind_of(message), expected);
        }
    }

    #[test]
    fn the_like_is_left_out_at_one_place_after_the_same_refusal_came_three_times() {
        let file = RepoPath::parse("a.go").unwrap();
        let text =
            "package a\n\nfunc f(a, b, c, d, e, g int) int {\n\treturn a + b + c + d + e + g\n}\n";
        let sources = BTreeMap::from([(file.clone(), text.to_owned())]);
        let all = candidates(Language::Go, text, &|line| line == 4, &[]);
        let at = text.find("a + b").unwrap();
        let is_first = |one: &&crate::code::mutate::Candidate| {
            one.operator == OperatorId::Variable && one.range.start == at
        };
        let edits = all.iter().filter(is_first).map(|candidate| {
            let part = EditPart { file: file.clone(), candidate: candidate.clone() };
            part.ranked(&sources, 1.0).unwrap()
        });
        let edits: Vec<RankedEdit> = edits.collect();
        let [a, b, c, d, ..] = edits.as_slice() else { panic!("{} edits", edits.len()) };
        let mut refusals = Refusals::default();
        for (edit, message, expected) in
            [(a, "cannot use", false), (b, "cannot use", false), (c, "undefined: x", false)]
        {
            refusals.add_refusal(edit, message);
            assert_eq!(refusals.expects_refusal(d), expected);
        }
        refusals.add_refusal(c, "cannot use x");
        assert!(refusals.expects_refusal(d));
    }
}
