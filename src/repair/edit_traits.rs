//! Fingerprint and size of an edit, and signs that it was made to please the tests.
//!
//! Source: specification.md 4.12, 7.16; the prototype's measurements.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::code::language::Language;
use crate::code::mutate::OperatorId;
use crate::code::pattern::Pattern;
use crate::code::{self, test_paths};
use crate::domain::proposal::EditSet;

use super::misspelt_text::is_slip;

/// Fingerprint of an edit: equal for equal texts, and stable between releases.
pub fn fingerprint(edits: &EditSet) -> String {
    let mut digest = Sha256::new();
    for edit in &edits.files {
        digest.update(edit.file.as_str().as_bytes());
        for text in [&edit.before, &edit.after] {
            digest.update([u8::from(text.is_some())]);
            let text = text.as_deref().unwrap_or_default();
            digest.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
            digest.update(text.as_bytes());
        }
    }
    digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Number of lines that an edit removes or adds.
pub fn size(edits: &EditSet) -> usize {
    edits
        .files
        .iter()
        .map(|edit| {
            let (before, after) = (
                edit.before.as_deref().unwrap_or_default(),
                edit.after.as_deref().unwrap_or_default(),
            );
            let diff = similar::TextDiff::from_lines(before, after);
            diff.iter_all_changes().filter(|line| line.tag() != similar::ChangeTag::Equal).count()
        })
        .sum()
}

/// Numbers and quoted strings of a source file.
pub fn literals(text: &str) -> BTreeSet<String> {
    // Words come last, so that a digit in a name is no number.
    static LITERAL: Pattern = Pattern::new(
        r#""([^"\n]*)["\n]?|'([^'\n]*)['\n]?|(0[xX][0-9a-fA-F_]+|[0-9][0-9._]*)|[\p{Alphabetic}\p{N}_]+"#,
    );
    LITERAL
        .captures(text)
        .filter_map(|found| (1..=3).find_map(|group| found.get(group)))
        .map(|literal| literal.as_str().to_owned())
        .collect()
}

/// Literals too common to mean anything.
const COMMON: &[&str] =
    &["0", "1", "2", "-1", "10", "100", "", " ", ",", ", ", "\\n", "0.0", "1.0"];

/// Values that code singles out for a reason of their own.
const BORDERS: &[&str] = &["0", "1", "-1", "", "0.0", "1.0"];

/// Why an edit of the product treats the tests specially, by its code; `None` if it does not.
pub fn special_case(edits: &EditSet, test_literals: &BTreeSet<String>) -> Option<String> {
    let inputs: BTreeSet<&str> = test_literals
        .iter()
        .map(String::as_str)
        .filter(|literal| !BORDERS.contains(literal))
        .collect();
    let sources = edits.files.iter().filter(|edit| !test_paths::is_test(&edit.file));
    sources.into_iter().find_map(|edit| {
        let language = Language::of(&edit.file)?;
        let text = |side: &Option<String>| side.clone().unwrap_or_default();
        code::special_case::special_case(language, &text(&edit.before), &text(&edit.after), &inputs)
    })
}

/// Why an edit looks made for the tests; `None` when it does not.
pub fn suspicion(
    edits: &EditSet,
    operators: &[OperatorId],
    test_literals: &BTreeSet<String>,
) -> Option<String> {
    if let Some(reason) = special_case(edits, test_literals) {
        return Some(reason);
    }
    for edit in &edits.files {
        let before = literals(edit.before.as_deref().unwrap_or_default());
        let after = literals(edit.after.as_deref().unwrap_or_default());
        let is_next = |text: &String| {
            let number = |text: &String| text.parse::<i64>().ok();
            let mut old = before.difference(&after).filter_map(number);
            number(text).is_some_and(|new| old.any(|old| old.abs_diff(new) == 1))
        };
        let is_respelled = |text: &String| before.difference(&after).any(|old| is_slip(old, text));
        // These are common faults, whose tests name what is right.
        let is_moved = |text: &String| match operators {
            [OperatorId::Constant] => is_next(text),
            [OperatorId::Text] => is_respelled(text),
            _ => false,
        };
        let is_common = |text: &String| COMMON.contains(&text.as_str());
        let mut new = after.difference(&before).filter(|text| !is_common(text) && !is_moved(text));
        if let Some(literal) = new.find(|text| test_literals.contains(*text)) {
            return Some(format!("it adds `{literal}`, which occurs in a failing test"));
        }
    }
    if operators == [OperatorId::DropStatement] {
        return Some("it only deletes code".into());
    }
    if operators.contains(&OperatorId::Guard) {
        return Some("it adds a guard or an early return".into());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RepoPath;
    use crate::domain::proposal::FileEdit;

    fn edit(before: &str, after: &str) -> EditSet {
        let file = RepoPath::parse("a.py").unwrap();
        let (before, after) = (Some(before.to_owned()), Some(after.to_owned()));
        EditSet { files: vec![FileEdit { file, before, after }] }
    }

    #[test]
    fn a_literal_of_a_failing_test_makes_an_edit_suspicious() {
        let tests = literals("assert f(7) == 'seven'");
        assert!(
            suspicion(&edit("return x", "return 7"), &[OperatorId::Constant], &tests).is_some()
        );
        let moved = |from| suspicion(&edit(from, "a = 7"), &[OperatorId::Constant], &tests);
        assert_eq!((moved("a = 8"), moved("a = 9").is_some()), (None, true));
        let spelled = |from| suspicion(&edit(from, "a = 'seven'"), &[OperatorId::Text], &tests);
        assert_eq!((spelled("a = 'sevem'"), spelled("a = 'eight'").is_some()), (None, true));
        assert!(
            suspicion(&edit("return 7", "return 7 + 1"), &[OperatorId::OffByOne], &tests).is_none()
        );
        assert_eq!(
            suspicion(&edit("y = 7\nreturn x", "y = 7\nreturn 8 if x == 7 else x"), &[], &tests),
            Some("it has a branch for `7`, which occurs in a failing test".into()),
            "the literal stands elsewhere, too"
        );
        assert!(suspicion(&edit("a\nb", "a"), &[OperatorId::DropStatement], &tests).is_some());
        assert!(suspicion(&edit("x < 1", "x <= 1"), &[OperatorId::Comparison], &tests).is_none());
    }

    #[test]
    fn equal_edits_have_equal_fingerprints() {
        assert_eq!(fingerprint(&edit("a", "b")), fingerprint(&edit("a", "b")));
        assert_ne!(fingerprint(&edit("a", "b")), fingerprint(&edit("ab", "")));
    }
}
