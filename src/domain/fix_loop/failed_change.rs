//! [`FailedChange`]: an edit that did not help, with what the tests said after it, so that the next
//! attempt neither repeats it nor gives up its place.

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};

use crate::domain::assertion::{assertion, own_frames};
use crate::domain::latest_results::LatestResults;
use crate::domain::proposal::{EditSet, FileEdit, SearchReplace};
use crate::domain::test::TestCase;
use crate::domain::text::count;

/// Maximum number of lines of a change that are kept.
const LINES: usize = 40;

/// Maximum length of a kept line, in characters.
const WIDTH: usize = 200;

/// Maximum number of failures that are kept.
const FAILURES: usize = 8;

/// How many of them are kept with their output.
const IN_FULL: usize = 2;

/// Lines kept of the output of one failure.
const OUTPUT: usize = 12;

/// An edit that did not help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedChange {
    /// The edit, at most 40 lines of it.
    pub edits: Vec<SearchReplace>,
    /// Whether the sources still have it, because it broke nothing.
    pub kept: bool,
    /// Failing tests after it and what they said, newly failing ones first. Untrusted.
    pub failures: String,
}

impl FailedChange {
    /// `after` has the results with the change, if it was run, and `accepted` those of the sources
    /// that were accepted in the end.
    pub fn of(
        edits: &EditSet,
        after: Option<&LatestResults>,
        accepted: &LatestResults,
        kept: bool,
    ) -> Self {
        let mut room = LINES;
        let blocks: Vec<SearchReplace> = edits.files.iter().flat_map(blocks).collect();
        let blocks = blocks.iter().map(|block| cut(block, &mut room));
        let edits = blocks.filter(|one| !one.search.is_empty() || !one.replace.is_empty());
        let edits = edits.collect();
        let known = accepted.failing();
        let (old, new): (Vec<&TestCase>, Vec<&TestCase>) = after
            .into_iter()
            .flat_map(LatestResults::failing_cases)
            .partition(|case| known.contains(&case.id));
        Self { edits, kept, failures: failures(&new, &old) }
    }
}

/// What failed tests said, the newly failing ones first.
fn failures(new: &[&TestCase], old: &[&TestCase]) -> String {
    let all = new.iter().map(|case| (*case, " (passed before)"));
    let all: Vec<(&TestCase, &str)> = all.chain(old.iter().map(|case| (*case, ""))).collect();
    let mut text = String::new();
    for (index, (case, mark)) in all.iter().take(FAILURES).enumerate() {
        let output = case.failure.as_ref().map(|failure| own_frames(&failure.stack));
        let output = output.filter(|output| index < IN_FULL && !output.trim().is_empty());
        let said = output.unwrap_or_else(|| assertion(case));
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        text.push_str(&format!("{}{mark}:\n", case.id));
        // The last lines have the error.
        for line in lines.iter().skip(lines.len().saturating_sub(OUTPUT)) {
            text.push_str(&format!("  {}\n", shortened(line)));
        }
    }
    if all.len() > FAILURES {
        text.push_str(&format!("and {} more\n", count(all.len() - FAILURES, "failing test")));
    }
    text
}

/// The change of one file as blocks, with one line of context.
fn blocks(edit: &FileEdit) -> Vec<SearchReplace> {
    let (before, after) =
        (edit.before.as_deref().unwrap_or_default(), edit.after.as_deref().unwrap_or_default());
    let diff = TextDiff::from_lines(before, after);
    diff.grouped_ops(1)
        .iter()
        .map(|group| {
            let file = edit.file.to_string();
            let mut block = SearchReplace { file, ..SearchReplace::default() };
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                if change.tag() != ChangeTag::Insert {
                    block.search.push_str(change.value());
                }
                if change.tag() != ChangeTag::Delete {
                    block.replace.push_str(change.value());
                }
            }
            block
        })
        .collect()
}

/// A block within the room of lines that is left, which it uses up.
fn cut(block: &SearchReplace, room: &mut usize) -> SearchReplace {
    let mut side = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        let shown = lines.len().min(*room);
        *room -= shown;
        let mut text: String =
            lines.iter().take(shown).map(|line| format!("{}\n", shortened(line))).collect();
        if shown > 0 && shown < lines.len() {
            text.push_str(&format!("[{} more]\n", count(lines.len() - shown, "line")));
        }
        text
    };
    let (search, replace) = (side(&block.search), side(&block.replace));
    SearchReplace { file: block.file.clone(), search, replace }
}

fn shortened(line: &str) -> String {
    line.chars().take(WIDTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::{RepoPath, TestId};
    use crate::domain::test::{CaseKind, FailureText, Results, Scope, Status};

    fn edit(before: &str, after: &str) -> EditSet {
        let file = RepoPath::parse("a.py").unwrap();
        let texts = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        EditSet { files: vec![FileEdit { file, before: texts(before), after: texts(after) }] }
    }

    fn ledger(failing: &[(&str, &str)]) -> LatestResults {
        let case = |(name, message): &(&str, &str)| TestCase {
            kind: CaseKind::Test,
            id: TestId((*name).into()),
            status: Status::Failed,
            file: None,
            line: None,
            duration_ms: 0,
            layer: crate::domain::test::Layer::Unit,
            failure: Some(FailureText { message: (*message).into(), ..FailureText::default() }),
        };
        let results = Results {
            cases: failing.iter().map(case).collect(),
            scope: Scope::Full,
            command: String::new(),
            exit_code: Some(1),
            started_at: String::new(),
            duration_ms: 0,
            log: String::new(),
            is_offline: false,
            objections: Vec::new(),
            flaky: Vec::new(),
            notices: Vec::new(),
            lacking: std::collections::BTreeMap::new(),
        };
        LatestResults::from_full(&results, 1)
    }

    fn change(before: &str, after: &str) -> FailedChange {
        FailedChange::of(&edit(before, after), None, &ledger(&[]), false)
    }

    #[test]
    fn a_change_is_kept_as_blocks_with_a_line_around_them() {
        let text: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let after = text.replace("line 3\n", "three\n").replace("line 15\n", "");
        let found = change(&text, &after).edits;
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].search, "line 2\nline 3\nline 4\n");
        assert_eq!(found[0].replace, "line 2\nthree\nline 4\n");
        assert_eq!(found[1].replace, "line 14\nline 16\n");
        assert_eq!(change("", "new\n").edits[0].replace, "new\n");
    }

    #[test]
    fn newly_failing_tests_come_first_and_many_are_counted() {
        let old: Vec<String> = (0..9).map(|n| format!("old{n}")).collect();
        let mut all: Vec<(&str, &str)> = old.iter().map(|name| (name.as_str(), "2 != 3")).collect();
        let accepted = ledger(&all);
        all.push(("broken", "0 != 1"));
        let text = FailedChange::of(&edit("a\n", "b\n"), Some(&ledger(&all)), &accepted, false);
        let text = text.failures;
        assert!(text.starts_with("broken (passed before):\n  0 != 1\nold0:\n  2 != 3\n"), "{text}");
        assert!(text.ends_with("and 2 failing tests more\n"), "{text}");
    }

    proptest::proptest! {
        #[test]
        fn a_kept_change_is_bounded(before in 1usize..200, after in 1usize..200, width in 1usize..400) {
            let text = |count: usize, sign: &str| format!("{}\n", sign.repeat(width)).repeat(count);
            let found = change(&text(before, "a"), &text(after, "b")).edits;
            let count = |one: &SearchReplace| one.search.lines().count() + one.replace.lines().count();
            proptest::prop_assert!(found.iter().map(count).sum::<usize>() <= LINES + 2);
            let mut lines = found.iter().flat_map(|one| one.replace.lines());
            proptest::prop_assert!(lines.all(|line| line.chars().count() <= WIDTH));
        }
    }
}
