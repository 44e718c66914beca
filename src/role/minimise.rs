//! Drops parts of the change that the suite does not need, and proves that the rest is needed:
//! without any one hunk, a test fails (specification.md 7.17).
//!
//! Uses delta debugging over hunks (Zeller and Hildebrandt, ddmin): it tries to omit large parts
//! first and single hunks last, and so shows for each remaining hunk that it is needed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::code::test_paths;
use crate::domain::event::{Minimised, NeededHunk};
use crate::domain::fix_loop::FixLoop;
use crate::domain::id::{TestId, TreeId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::test::{Objection, Results, Scope};
use crate::effect::{EffectError, Effects, FileDiff, RunRequest};
use crate::repair;

/// Maximum wall time; afterwards, the change is kept as far as it was reduced.
const TIME: Duration = Duration::from_mins(3);

/// Maximum number of test runs.
const RUNS: u32 = 60;

const LOG: &str = ".process/test-output-minimise.log";

/// What breaks where a run gives no results, or fails beside its tests.
const WHOLE_SUITE: &str = "the whole suite";

struct ChangePart<'a> {
    diff: &'a FileDiff,
    hunk: Option<usize>,
}

impl ChangePart<'_> {
    fn place(&self) -> String {
        let hunk = self.hunk.and_then(|index| self.diff.hunks.get(index));
        hunk.map_or_else(
            || self.diff.file.to_string(),
            |hunk| format!("{}:{}", self.diff.file, hunk.new_start.max(1)),
        )
    }
}

/// The smallest part of the change with the same results, and why each hunk is needed.
pub async fn minimise(
    state: &FixLoop,
    fx: &Effects<'_>,
) -> Result<(TreeId, Minimised), EffectError> {
    let diffs = fx.worktree.diff(&state.head_tree, &state.accepted_tree).await?;
    let parts = parts(&diffs);
    let before = lines(&edits(&parts, &all(&parts)));
    let mut run = Runs {
        state,
        fx,
        parts: &parts,
        deadline: fx.clock.elapsed() + TIME,
        left: RUNS,
        expected: expected_failures(state),
        known: BTreeMap::new(),
    };
    let mut selected = all(&parts);
    let mut pieces = 2usize.min(selected.len());
    let is_whole = !state.drops_hunks();
    while !is_whole && selected.len() > 1 && pieces <= selected.len() && !run.is_over() {
        let size = selected.len().div_ceil(pieces);
        let mut smaller = None;
        for piece in selected.chunks(size) {
            let rest: Vec<usize> =
                selected.iter().copied().filter(|index| !piece.contains(index)).collect();
            if run.breaks(&rest).await?.is_some_and(|broken| broken.is_empty()) {
                smaller = Some(rest);
                break;
            }
        }
        match smaller {
            Some(rest) => {
                selected = rest;
                pieces = pieces.saturating_sub(1).max(2).min(selected.len());
            }
            None if pieces == selected.len() => break,
            None => pieces = (pieces * 2).min(selected.len()),
        }
    }
    let mut needed = Vec::new();
    for index in &selected {
        let Some(part) = parts.get(*index) else { continue };
        let rest: Vec<usize> = selected.iter().copied().filter(|other| other != index).collect();
        let tests = run.breaks(&rest).await?.unwrap_or_default();
        needed.push(NeededHunk { place: part.place(), tests: tests.into_iter().take(5).collect() });
    }
    let change = edits(&parts, &selected);
    let after = lines(&change);
    let tree = if selected.len() == parts.len() {
        state.accepted_tree.clone()
    } else {
        fx.worktree.graft(&state.head_tree, &change).await?
    };
    let minimised = Minimised {
        before,
        after,
        hunks_before: parts.len(),
        needed,
        is_whole,
        complete: !run.is_over(),
        runs: RUNS - run.left,
    };
    Ok((tree, minimised))
}

/// Tests whose failure says nothing about the change: they fail with all of it, known failures among
/// them, or they fail on the base branch too and the run ignores those.
fn expected_failures(state: &FixLoop) -> BTreeSet<TestId> {
    let ignored = state.preexisting.iter().filter(|_| state.terms.ignore_preexisting).cloned();
    state.ledger.all_failing().map(|case| case.id.clone()).chain(ignored).collect()
}

fn all(parts: &[ChangePart<'_>]) -> Vec<usize> {
    (0..parts.len()).collect()
}

/// All hunks of changed product code; other files are omitted or kept as a whole.
fn parts(diffs: &[FileDiff]) -> Vec<ChangePart<'_>> {
    let mut parts = Vec::new();
    for diff in diffs {
        if diff.before.is_some() && diff.after.is_some() && !test_paths::is_test(&diff.file) {
            parts.extend((0..diff.hunks.len()).map(|hunk| ChangePart { diff, hunk: Some(hunk) }));
        } else {
            parts.push(ChangePart { diff, hunk: None });
        }
    }
    parts
}

fn edits(parts: &[ChangePart<'_>], selected: &[usize]) -> EditSet {
    let mut files: Vec<FileEdit> = Vec::new();
    let mut seen: BTreeSet<&crate::domain::id::RepoPath> = BTreeSet::new();
    for part in selected.iter().filter_map(|index| parts.get(*index)) {
        if !seen.insert(&part.diff.file) {
            continue;
        }
        let hunks: Vec<usize> = selected
            .iter()
            .filter_map(|index| parts.get(*index))
            .filter(|other| other.diff.file == part.diff.file)
            .filter_map(|other| other.hunk)
            .collect();
        let after = match part.hunk {
            None => part.diff.after.clone(),
            Some(_) => Some(with_hunks(part.diff, &hunks)),
        };
        files.push(FileEdit {
            file: part.diff.file.clone(),
            before: part.diff.before.clone(),
            after,
        });
    }
    files.sort_by(|a, b| a.file.cmp(&b.file));
    EditSet { files }
}

/// The original text with some hunks applied.
fn with_hunks(diff: &FileDiff, hunks: &[usize]) -> String {
    let (before, after) =
        (diff.before.as_deref().unwrap_or_default(), diff.after.as_deref().unwrap_or_default());
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let span = |start: u32, lines: u32| {
        // For an empty range, the start is the line before the gap.
        let first = if lines == 0 { start } else { start.saturating_sub(1) };
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        first..first.saturating_add(usize::try_from(lines).unwrap_or_default())
    };
    let mut text = String::new();
    let mut from = 0;
    for (index, hunk) in diff.hunks.iter().enumerate() {
        let (there, here) =
            (span(hunk.old_start, hunk.old_lines), span(hunk.new_start, hunk.new_lines));
        text.extend(old.get(from..there.start).unwrap_or_default().iter().copied());
        let chosen = if hunks.contains(&index) { new.get(here) } else { old.get(there.clone()) };
        text.extend(chosen.unwrap_or_default().iter().copied());
        from = there.end;
    }
    text.extend(old.get(from..).unwrap_or_default().iter().copied());
    text
}

fn lines(edits: &EditSet) -> u32 {
    u32::try_from(repair::size(edits)).unwrap_or(u32::MAX)
}

struct Runs<'a> {
    state: &'a FixLoop,
    fx: &'a Effects<'a>,
    parts: &'a [ChangePart<'a>],
    deadline: Duration,
    left: u32,
    expected: BTreeSet<TestId>,
    /// The failing tests of the selections that were already tried.
    known: BTreeMap<Vec<usize>, Vec<TestId>>,
}

impl Runs<'_> {
    fn is_over(&self) -> bool {
        self.left == 0 || self.fx.clock.elapsed() >= self.deadline
    }

    /// The tests that fail with the selected parts but pass with the complete change, which may be
    /// none. `None` if the limit of runs is reached.
    async fn breaks(&mut self, selected: &[usize]) -> Result<Option<Vec<TestId>>, EffectError> {
        if let Some(known) = self.known.get(selected) {
            return Ok(Some(known.clone()));
        }
        if self.is_over() {
            return Ok(None);
        }
        let broken = self.run(selected).await?;
        self.known.insert(selected.to_vec(), broken.clone());
        Ok(Some(broken))
    }

    async fn run(&mut self, selected: &[usize]) -> Result<Vec<TestId>, EffectError> {
        let tree =
            self.fx.worktree.graft(&self.state.head_tree, &edits(self.parts, selected)).await?;
        self.fx.worktree.checkout(&tree).await?;
        // Run the tests that failed originally first, because they detect most missing parts.
        let first: Vec<TestId> =
            self.state.baseline.iter().flat_map(|baseline| baseline.failing.clone()).collect();
        for scope in [Scope::Tests(first), Scope::Full] {
            if matches!(&scope, Scope::Tests(tests) if tests.is_empty()) {
                continue;
            }
            self.left = self.left.saturating_sub(1);
            let request = RunRequest::new(self.fx.worktree.root(), &scope, LOG);
            let Ok(results) = self.fx.suite.run(&request).await else {
                // A run without results counts as a failure of everything.
                return Ok(vec![TestId(WHOLE_SUITE.into())]);
            };
            let broken = self.broken(&results, &scope);
            if !broken.is_empty() {
                return Ok(broken);
            }
        }
        Ok(vec![])
    }

    fn broken(&self, results: &Results, scope: &Scope) -> Vec<TestId> {
        let mut broken: Vec<TestId> = results
            .failed()
            .filter(|case| !self.expected.contains(&case.id))
            .filter(|case| !self.state.flaky.contains(&case.id))
            .map(|case| case.id.clone())
            .collect();
        // A test that no longer runs counts as broken, as does a command that fails for the rest.
        if *scope == Scope::Full {
            let is_new = |one: &Objection| one.is_new(&self.state.objections);
            if results.objections.iter().any(is_new) {
                broken.push(TestId(WHOLE_SUITE.into()));
            }
            let known = self.state.ledger.cases().map(|case| &case.id);
            let ran: BTreeSet<&TestId> = results.cases.iter().map(|case| &case.id).collect();
            broken.extend(known.filter(|id| !ran.contains(id)).cloned());
        }
        broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RepoPath;
    use crate::effect::Hunk;

    #[test]
    fn any_choice_of_hunks_gives_their_text() {
        let hunk = |old_start, old_lines, new_start, new_lines| Hunk {
            old_start,
            old_lines,
            new_start,
            new_lines,
        };
        let diff = FileDiff {
            file: RepoPath::parse("a.py").unwrap(),
            before: Some("1\n2\n3\n4\n5\n".into()),
            after: Some("0\n1\ntwo\n3\n5\n".into()),
            hunks: vec![hunk(0, 0, 1, 1), hunk(2, 1, 3, 1), hunk(4, 1, 4, 0)],
            patch: String::new(),
        };
        let table = [
            (&[][..], "1\n2\n3\n4\n5\n"),
            (&[0], "0\n1\n2\n3\n4\n5\n"),
            (&[1], "1\ntwo\n3\n4\n5\n"),
            (&[2], "1\n2\n3\n5\n"),
            (&[0, 1, 2], "0\n1\ntwo\n3\n5\n"),
        ];
        for (hunks, expected) in table {
            assert_eq!(with_hunks(&diff, hunks), expected, "{hunks:?}");
        }
    }

    fn diff(file: &str, before: Option<&str>, after: Option<&str>, hunks: usize) -> FileDiff {
        let hunk = Hunk { old_start: 1, old_lines: 1, new_start: 1, new_lines: 1 };
        FileDiff {
            file: RepoPath::parse(file).unwrap(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
            hunks: vec![hunk; hunks],
            patch: String::new(),
        }
    }

    #[test]
    fn product_code_is_taken_apart_by_hunks_and_everything_else_stays_whole() {
        let table = [
            ("product code", diff("a.py", Some("1\n"), Some("2\n"), 3), 3),
            ("a test", diff("tests/test_a.py", Some("1\n"), Some("2\n"), 3), 1),
            ("a new file", diff("b.py", None, Some("2\n"), 1), 1),
            ("a file that goes", diff("c.py", Some("1\n"), None, 1), 1),
        ];
        for (why, diff, expected) in table {
            assert_eq!(parts(std::slice::from_ref(&diff)).len(), expected, "{why}");
        }
    }

    #[test]
    fn parts_of_one_file_are_one_edit_and_files_come_in_order() {
        let diffs = [diff("b.py", None, Some("2\n"), 0), diff("a.py", Some("1\n"), Some("2\n"), 2)];
        let parts = parts(&diffs);
        let files = |selected: &[usize]| -> Vec<String> {
            edits(&parts, selected).files.iter().map(|one| one.file.to_string()).collect()
        };
        assert_eq!(files(&all(&parts)), ["a.py", "b.py"]);
        assert_eq!(files(&[2]), ["a.py"]);
        assert!(files(&[]).is_empty());
        assert_eq!(parts[0].place(), "b.py");
        assert_eq!(parts[1].place(), "a.py:1");
    }
}
