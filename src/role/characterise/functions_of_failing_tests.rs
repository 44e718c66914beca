//! Finds functions that failing tests execute, whose behaviour must not be recorded as correct.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::signature;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::effect::{CandidateRunnerRequest, EffectError, Effects, GitError, Trace};

use super::Place;

/// Maximum number of failing tests to trace.
const LOOKED_AT: usize = 50;

/// Number of passing tests that show whether tests can be traced.
const COMPARED: usize = 3;

/// The reason for excluding a function that a failing test executes.
const WRONG: &str = "a failing test reaches it, so what it does today may be wrong";

/// The reason for excluding every function if failing tests cannot be traced.
const PERHAPS: &str = "the suite fails, and the code that its failing tests reach is unknown";

/// Whether any line is in the body of a function, whose head ends on the line `head`. The head runs when the
/// file is loaded, so it counts only for functions that have no other line.
fn enters(lines: &[u32], head: u32, end: u32) -> bool {
    let body = if end > head { head + 1 } else { head };
    lines.iter().any(|line| (body..=end).contains(line))
}

/// The last line of the head of a function, which may have a line for each parameter; its first line where the
/// brackets do not tell.
fn head_of(text: &str, start: u32, end: u32) -> u32 {
    let mut depth = 0_i32;
    let first = usize::try_from(start).unwrap_or_default().saturating_sub(1);
    for (line, number) in text.lines().skip(first).zip(start..=end) {
        let count = |marks: &[char]| i32::try_from(line.matches(marks).count()).unwrap_or_default();
        depth += count(&['(', '[']) - count(&[')', ']']);
        if depth <= 0 {
            return number;
        }
    }
    start
}

/// The name of a function, the last line of its head, and its last line.
type Span = (String, u32, u32);

async fn spans(
    tree: &TreeId,
    files: &BTreeSet<RepoPath>,
    fx: &Effects<'_>,
) -> Result<Vec<(RepoPath, Vec<Span>)>, GitError> {
    let mut found = Vec::new();
    for file in files {
        let Some(language) = Language::of(file) else { continue };
        let bytes = fx.worktree.read(tree, file).await?.unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let spans = signature::callables(language, &text);
        found.push((
            file.clone(),
            spans
                .into_iter()
                .map(|one| {
                    let head = head_of(&text, one.start, one.end);
                    (one.name, head, one.end)
                })
                .collect(),
        ));
    }
    Ok(found)
}

/// The functions of a source file whose bodies contain any of the lines.
pub async fn entered(
    tree: &TreeId,
    file: &RepoPath,
    lines: &[u32],
    fx: &Effects<'_>,
) -> Result<Vec<String>, GitError> {
    let mut found = Vec::new();
    for (_, spans) in spans(tree, &[file.clone()].into(), fx).await? {
        let own = spans.into_iter().filter(|(_, start, end)| enters(lines, *start, *end));
        found.extend(own.map(|(name, ..)| name));
    }
    Ok(found)
}

/// The functions of `files` that failing tests execute, with the reason not to record their
/// behaviour. All functions if the failing tests cannot be traced completely; one that ends in its set-up, before
/// any code, reaches none where tests can be traced at all, as some of the `passing` ones show.
pub async fn suspects(
    tree: &TreeId,
    files: &BTreeSet<RepoPath>,
    (failing, passing): (&[TestId], &[TestId]),
    jobs: usize,
    fx: &Effects<'_>,
) -> Result<BTreeMap<Place, String>, EffectError> {
    if failing.is_empty() || files.is_empty() {
        return Ok(BTreeMap::new());
    }
    fx.worktree.checkout(tree).await?;
    let request = CandidateRunnerRequest { root: fx.worktree.root(), failing: &[], jobs };
    let some = failing.get(..LOOKED_AT.min(failing.len())).unwrap_or_default();
    let runner = fx.suite.open_candidate_runner(&request).await?;
    let traces = runner.trace(some).await?;
    let has_lines = |traces: &[Trace]| traces.iter().any(|trace| !trace.lines.is_empty());
    let compared = passing.get(..COMPARED.min(passing.len())).unwrap_or_default();
    let is_traced = some.len() == failing.len()
        && (has_lines(&traces)
            || !compared.is_empty() && has_lines(&runner.trace(compared).await?));
    if !is_traced {
        let all = spans(tree, files, fx).await?;
        return Ok(all
            .into_iter()
            .flat_map(|(file, spans)| {
                spans.into_iter().map(move |(name, _, _)| (file.clone(), name))
            })
            .map(|place| (place, PERHAPS.to_owned()))
            .collect());
    }
    let mut found = BTreeMap::new();
    for (file, spans) in spans(tree, files, fx).await? {
        let ran = traces.iter().filter_map(|trace| trace.lines.get(&file));
        let lines: Vec<u32> = ran.flatten().copied().collect();
        let entered = spans.into_iter().filter(|(_, start, end)| enters(&lines, *start, *end));
        found.extend(entered.map(|(name, _, _)| ((file.clone(), name), WRONG.to_owned())));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_behind_its_parameters() {
        let table = [
            ("def f(a):\n    return a\n", 2, 1),
            (
                "def f(\n    a: int = 1,\n    b: list[\n        int] = (),\n) -> str:\n    return a\n",
                6,
                5,
            ),
            ("def f(a='('):\n    return a\n", 2, 1),
            ("function f(\n  { a, b } = {},\n) {\n  return a;\n}\n", 5, 3),
        ];
        for (text, end, expected) in table {
            assert_eq!(head_of(text, 1, end), expected, "{text}");
        }
    }

    #[test]
    fn a_head_that_was_only_loaded_is_not_entered() {
        let table = [
            ("its body ran", &[4, 6][..], 5, 7, true),
            ("its last line ran", &[7], 5, 7, true),
            ("its head was loaded", &[5], 5, 7, false),
            ("others ran", &[4, 8], 5, 7, false),
            ("a line is all it has", &[5], 5, 5, true),
            ("nothing ran", &[], 5, 7, false),
        ];
        for (why, lines, start, end, expected) in table {
            assert_eq!(enters(lines, start, end), expected, "{why}");
        }
    }
}
