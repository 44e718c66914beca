//! [`PlanScope`]: the files that the edits of a provider may touch.
//!
//! Source: specification.md 7.13 (F-127).

use std::collections::BTreeSet;

use similar::{ChangeTag, TextDiff};

use super::fix_plan::ModificationPoint;
use super::guard::Violation;
use super::id::RepoPath;
use super::proposal::{EditSet, FileEdit};
use super::text::count;

/// Maximum number of places that a refusal quotes.
const QUOTED: usize = 5;

/// The files of the places that a plan names, the tests that it is about, and new files that the
/// rest of the change needs.
///
/// Whole files, not lines: a fix inside a function may need an import at the head of its file.
#[derive(Clone, Debug, Default)]
pub struct PlanScope<'a> {
    /// The places that an analysis named. Without an analysis there are none, and every existing
    /// file may change.
    pub points: &'a [ModificationPoint],
    /// Other files that may change: those of the tests that fail or that the plan names, and those
    /// that the analysis names without a place in them, such as one with a constant.
    pub others: BTreeSet<RepoPath>,
    /// The failing tests and what they said.
    pub failures: String,
}

/// What may call for a new file.
pub struct Demand<'a> {
    /// The failing tests and what they said.
    pub failures: &'a str,
    /// The lines that `edits` add.
    pub added: &'a str,
    /// The edits of planned files, and the new files that are known to be needed.
    pub edits: &'a [&'a FileEdit],
}

impl PlanScope<'_> {
    /// What an edit touches outside this scope. `is_needed` decides whether the rest of the change,
    /// or a failing test, calls for a new file.
    pub fn violations(
        &self,
        edits: &EditSet,
        is_needed: &dyn Fn(&FileEdit, &Demand<'_>) -> bool,
    ) -> Vec<Violation> {
        let (present, mut created): (Vec<&FileEdit>, Vec<&FileEdit>) =
            edits.files.iter().partition(|edit| edit.before.is_some());
        let (mut inside, outside): (Vec<&FileEdit>, Vec<&FileEdit>) =
            present.into_iter().partition(|edit| self.is_planned(&edit.file));
        let mut found: Vec<Violation> = outside
            .into_iter()
            .map(|edit| Violation::OutsidePlan { file: edit.file.clone(), plan: self.named() })
            .collect();
        // A new file may need another new one.
        while !created.is_empty() {
            let added: String = inside.iter().copied().map(added).collect();
            let demand = Demand { failures: &self.failures, added: &added, edits: &inside };
            let (needed, rest): (Vec<&FileEdit>, Vec<&FileEdit>) =
                created.into_iter().partition(|edit| is_needed(edit, &demand));
            created = rest;
            if needed.is_empty() {
                break;
            }
            inside.extend(needed);
        }
        found.extend(created.into_iter().map(|edit| Violation::UnneededFile(edit.file.clone())));
        found
    }

    fn is_planned(&self, file: &RepoPath) -> bool {
        self.points.is_empty()
            || self.points.iter().any(|point| point.file == *file)
            || self.others.contains(file)
    }

    /// The places of the plan, as a refusal quotes them.
    fn named(&self) -> String {
        let quoted = self.points.iter().take(QUOTED).map(ToString::to_string);
        let mut text = quoted.collect::<Vec<_>>().join(", ");
        if self.points.len() > QUOTED {
            text.push_str(&format!(" and {}", count(self.points.len() - QUOTED, "more place")));
        }
        text
    }
}

/// The lines that an edit adds to a file.
fn added(edit: &FileEdit) -> String {
    let (before, after) =
        (edit.before.as_deref().unwrap_or_default(), edit.after.as_deref().unwrap_or_default());
    let diff = TextDiff::from_lines(before, after);
    let lines = diff.iter_all_changes().filter(|line| line.tag() == ChangeTag::Insert);
    lines.map(|line| format!("{}\n", line.value())).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An edit of a file, or a new file without a text before.
    pub fn edit(file: &str, before: Option<&str>, after: &str) -> FileEdit {
        FileEdit {
            file: RepoPath::parse(file).unwrap(),
            before: before.map(str::to_owned),
            after: Some(after.to_owned()),
        }
    }

    /// Whether the stem of a new file occurs with a blank, a dot or a quote before and after it.
    fn by_stem(edit: &FileEdit, demand: &Demand<'_>) -> bool {
        let text = format!("{}{}", demand.failures, demand.added);
        text.split([' ', '.', '\'', '\n']).any(|word| word == edit.file.stem())
    }

    #[test]
    fn an_edit_touches_planned_files_their_tests_and_new_files_that_it_needs() {
        let file = |name: &str| RepoPath::parse(name).unwrap();
        let points: Vec<ModificationPoint> = (1..=7)
            .map(|line| ModificationPoint {
                file: file("a.py"),
                function: "double".into(),
                start: line,
                end: line,
            })
            .collect();
        let planned = PlanScope {
            points: &points[..1],
            others: [file("test_a.py")].into(),
            failures: "No module named 'shop.gone'\n".into(),
        };
        let anything = PlanScope { points: &[], ..planned.clone() };
        let other = || edit("other.py", Some("x = 1\n"), "x = 2\n");
        let uses = |name: &str| edit("a.py", Some("x\n"), &format!("from .{name} import h\nx\n"));
        let new = |name: &str, text: &str| edit(name, None, text);
        let table = [
            ("its file", &planned, vec![uses("b")], vec![]),
            ("its test", &planned, vec![edit("test_a.py", Some("1"), "2")], vec![]),
            ("another file", &planned, vec![uses("b"), other()], vec!["outside-plan"]),
            ("no analysis", &anything, vec![other()], vec![]),
            ("a new file", &planned, vec![uses("b"), new("extra.py", "")], vec!["unneeded-file"]),
            ("also without one", &anything, vec![new("extra.py", "")], vec!["unneeded-file"]),
            ("imported", &planned, vec![uses("extra"), new("extra.py", "")], vec![]),
            ("a part of a word", &planned, vec![uses("extras"), new("extra.py", "")], {
                vec!["unneeded-file"]
            }),
            ("missed by a test", &planned, vec![new("shop/gone.py", "")], vec![]),
            (
                "needed by a new one",
                &planned,
                vec![new("deep.py", "1\n"), new("extra.py", "import deep\n"), uses("extra")],
                vec![],
            ),
            (
                "needed by one that is not needed",
                &planned,
                vec![new("deep.py", "1\n"), new("extra.py", "import deep\n")],
                vec!["unneeded-file", "unneeded-file"],
            ),
        ];
        for (why, scope, files, expected) in table {
            let found = scope.violations(&EditSet { files }, &by_stem);
            let found: Vec<&str> = found.iter().map(Violation::name).collect();
            assert_eq!(found, expected, "{why}");
        }
        let many = PlanScope { points: &points, ..PlanScope::default() };
        let found = many.violations(&EditSet { files: vec![other()] }, &by_stem);
        assert_eq!(
            found[0].to_string(),
            "outside-plan: other.py is in none of the places that the plan names: \
             a.py:double:1-1, a.py:double:2-2, a.py:double:3-3, a.py:double:4-4, a.py:double:5-5 \
             and 2 more places"
        );
    }
}
