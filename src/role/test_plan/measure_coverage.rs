//! Measures the coverage of the code that a session is about, before and after writing new tests.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::behaviour;
use crate::code::coverage::tells_branches;
use crate::code::language::Language;
use crate::domain::coverage::{CoverageResult, CoverageTarget, FileLines, Measured, Shares};
use crate::domain::id::{RepoPath, TreeId};
use crate::effect::{EffectError, Effects};

use super::coverage::{About, ExecutedLines, count_shares, first_inside, pieces_in_scope};

/// The result of a coverage run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageOutcome {
    pub reached: CoverageResult,
    /// The lines in scope that were not executed, by file, and where too few branches are taken those that
    /// did not take all of theirs.
    pub uncovered_lines: BTreeMap<RepoPath, BTreeSet<u32>>,
}

impl CoverageOutcome {
    fn unknown(reason: String, target: CoverageTarget) -> Self {
        let reached = CoverageResult::Unmeasured { reason, target };
        Self { reached, uncovered_lines: BTreeMap::new() }
    }
}

/// Runs the suite of a tree with the project's coverage tool and compares the coverage of what was asked
/// for with the target. If the tool fails, the outcome contains the reason instead of an error.
pub async fn measure_coverage(
    tree: &TreeId,
    before: &ExecutedLines,
    fx: &Effects<'_>,
) -> Result<CoverageOutcome, EffectError> {
    let about = &before.about;
    let mut texts = BTreeMap::new();
    // What a package of Python imports from a file is public.
    let packages =
        about.keys().filter_map(|one| RepoPath::inside(one.parent(), "__init__.py").ok());
    for file in about.keys().cloned().chain(packages) {
        let bytes = fx.worktree.read(tree, &file).await?.unwrap_or_default();
        texts.insert(file, String::from_utf8_lossy(&bytes).into_owned());
    }
    fx.worktree.checkout(tree).await?;
    // A report may name another file of the same name, so it is read with all of them in view.
    let files = fx.worktree.files(tree).await?.into_iter().collect();
    let (command, files, tells_branches) = match fx.suite.coverage(fx.worktree.root(), &files).await
    {
        Measured::Nothing { reason } => {
            return Ok(CoverageOutcome::unknown(reason, before.target));
        }
        Measured::Lines { command, files, format } => (command, files, tells_branches(&format)),
        Measured::NoTests { command, .. } => {
            return Ok(CoverageOutcome::unknown(
                format!("`{command}` runs no test"),
                before.target,
            ));
        }
    };
    let (target, after) = (before.target, count_shares(about, &texts, &files));
    let lacks_taken = after.branch.is_below(target.branch);
    let uncovered_lines = uncovered_lines(about, &texts, &files, lacks_taken);
    let mut earlier = Shares::default();
    if before.has_lines() {
        earlier = count_shares(about, &texts, &before.files);
        // V8 tells branches of functions that ran; no other was taken before.
        earlier.branch.whole = earlier.branch.whole.max(after.branch.whole);
    }
    let reached = CoverageResult::Measured {
        command,
        counted: describe_about(about),
        before: earlier,
        after,
        target,
        lacks_branches: !tells_branches && files.values().all(|file| file.branches.is_empty()),
    };
    Ok(CoverageOutcome { reached, uncovered_lines })
}

/// Lines in scope that a report names and that did not run, and with `also_branches` those that did not take
/// all branches. No call runs a line outside of functions.
fn uncovered_lines(
    about: &About,
    texts: &BTreeMap<RepoPath, String>,
    ran: &BTreeMap<RepoPath, FileLines>,
    also_branches: bool,
) -> BTreeMap<RepoPath, BTreeSet<u32>> {
    let mut uncovered_lines = BTreeMap::new();
    for (file, names) in about {
        let (text, file_lines) = (texts.get(file).map_or("", String::as_str), ran.get(file));
        let lines = |(start, end): (u32, u32)| {
            file_lines.into_iter().flat_map(move |of| {
                let lines = of.lines.range(start..=end).filter(|(_, hits)| **hits == 0);
                let branches = of.branches.range(start..=end);
                let partial = branches.filter(move |(_, (part, all))| also_branches && part < all);
                lines.map(|(line, _)| *line).chain(partial.map(|(line, _)| *line))
            })
        };
        let read = |language| behaviour::read(language, text);
        let functions = Language::of(file).map(read).unwrap_or_default();
        let is_inside = |line: &u32| {
            functions.iter().any(|one| (first_inside(one.start, one.end)..=one.end).contains(line))
        };
        let lines = pieces_in_scope(file, names, text).1.into_iter().flat_map(lines);
        let lines: BTreeSet<u32> = lines.filter(is_inside).collect();
        if !lines.is_empty() {
            uncovered_lines.insert(file.clone(), lines);
        }
    }
    uncovered_lines
}

/// What the shares count, in words.
fn describe_about(about: &About) -> String {
    let one = |(file, names): (&RepoPath, &BTreeSet<String>)| {
        if names.contains("") {
            return file.to_string();
        }
        format!("{} of {file}", names.iter().cloned().collect::<Vec<_>>().join(", "))
    };
    let named: Vec<String> = about.iter().take(3).map(one).collect();
    let more = about.len() - named.len();
    if more == 0 { named.join("; ") } else { format!("{} and {more} more", named.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::coverage::Share;

    #[test]
    fn functions_that_their_package_does_not_offer_do_not_count() {
        let file = RepoPath::parse("toml/_parser.py").unwrap();
        let package = RepoPath::parse("toml/__init__.py").unwrap();
        let text = "def loads(s):\n    return parse(s)\n\n\ndef parse(s):\n    return s\n";
        let mut texts = BTreeMap::from([(file.clone(), text.to_owned())]);
        let mut lines = FileLines::default();
        for (line, hits) in [(1, 1), (2, 1), (5, 1), (6, 0)] {
            lines.line(line, hits);
        }
        let ran = BTreeMap::from([(file.clone(), lines)]);
        let about = About::from([(file, BTreeSet::from([String::new()]))]);
        let functions = |texts: &BTreeMap<RepoPath, String>| {
            let share = count_shares(&about, texts, &ran).function;
            (share.part, share.whole)
        };
        assert_eq!(functions(&texts), (1, 2));
        texts.insert(package.clone(), "from ._parser import loads\n".to_owned());
        assert_eq!(functions(&texts), (1, 1));
        texts.insert(package.clone(), "from ._other import loads\n".to_owned());
        assert_eq!(functions(&texts), (0, 0));
    }

    #[test]
    fn loading_a_function_on_one_line_does_not_count_as_entering_it() {
        let script = "export function a (n) { return n }\nexport function b (n) { return -n }\n";
        let python = "def a(n): return n\ndef b(n): return -n\n";
        let go = "func A() int { return 1 }\nfunc B() int { return 2 }\n";
        let table = [
            ("a.js", script, &[1, 1][..], &[("a", 1, 3), ("b", 2, 0)][..], (1, 2)),
            ("a.ts", script, &[1, 1], &[], (0, 0)),
            ("a.js", script, &[0, 0], &[], (0, 2)),
            // coverage.py counts the lines of a function.
            ("a.py", python, &[1, 1], &[("a", 1, 1), ("b", 2, 1)], (0, 0)),
            ("a.py", python, &[0, 0], &[], (0, 2)),
            ("a.go", go, &[1, 0], &[], (1, 2)),
        ];
        for (name, text, hits, functions, expected) in table {
            let file = RepoPath::parse(name).unwrap();
            let mut lines = FileLines::default();
            for (line, hits) in (1..).zip(hits) {
                lines.line(line, *hits);
            }
            for (name, line, hits) in functions {
                lines.add_function(name, *line, *hits);
            }
            let texts = BTreeMap::from([(file.clone(), text.to_owned())]);
            let about = About::from([(file.clone(), BTreeSet::from([String::new()]))]);
            let share = count_shares(&about, &texts, &[(file, lines)].into()).function;
            assert_eq!((share.part, share.whole), expected, "{name} {functions:?}");
        }
    }

    #[test]
    fn functions_that_are_meant_count_and_no_others() {
        let file = RepoPath::parse("shop.py").unwrap();
        let text = "RATE = [\n    1,\n]\n\n\ndef price(x):\n    if x:\n        return 1\n    return 2\n\n\ndef tax(x):\n    return x\n";
        let mut file_lines = FileLines::default();
        for (line, hits) in [(1, 1), (6, 1), (7, 1), (8, 0), (9, 1), (12, 1), (13, 0)] {
            file_lines.line(line, hits);
        }
        file_lines.branch(7, 1, 2);
        let texts = BTreeMap::from([(file.clone(), text.to_owned())]);
        let share = |part, whole| Share { part, whole };
        let of = |names: &[&str], ran: Option<&FileLines>| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let ran = ran.map(|ran| (file.clone(), ran.clone())).into_iter().collect();
            let shares = count_shares(&[(file.clone(), names)].into(), &texts, &ran);
            (shares.line, shares.branch, shares.function)
        };
        let table = [
            (&["price"][..], Some(&file_lines), (share(2, 3), share(1, 2), share(1, 1))),
            (&["tax"][..], Some(&file_lines), (share(0, 1), share(0, 0), share(0, 1))),
            (&["price", "tax"][..], Some(&file_lines), (share(5, 7), share(1, 2), share(1, 2))),
            (&[""][..], Some(&file_lines), (share(5, 7), share(1, 2), share(1, 2))),
            (&["price"][..], None, (share(0, 3), share(0, 0), share(0, 1))),
        ];
        for (names, ran, expected) in table {
            assert_eq!(of(names, ran), expected, "{names:?}");
        }
    }

    #[test]
    fn lines_and_branches_that_did_not_run_are_those_of_the_functions_in_scope() {
        let file = RepoPath::parse("shop.py").unwrap();
        let text = "def price(x):\n    return 1\n\n\ndef tax(x):\n    return x\n";
        let mut lines = FileLines::default();
        for (line, hits) in [(1, 1), (2, 1), (5, 1), (6, 0), (7, 0)] {
            lines.line(line, hits);
        }
        lines.branch(2, 1, 2);
        let texts = BTreeMap::from([(file.clone(), text.to_owned())]);
        let ran = BTreeMap::from([(file.clone(), lines)]);
        let table: [(&[&str], bool, &[u32]); 4] = [
            (&["price"], false, &[]),
            (&["price"], true, &[2]),
            (&["tax"], true, &[6]),
            (&[""], true, &[2, 6]),
        ];
        for (names, also_branches, expected) in table {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let about = [(file.clone(), names)].into();
            let missed = uncovered_lines(&about, &texts, &ran, also_branches);
            let missed: Vec<u32> = missed.into_values().flatten().collect();
            assert_eq!(missed, expected);
        }
        assert_eq!(
            (first_inside(1, 2), first_inside(3, 3)),
            (2, 3),
            "a definition of one line is its own body"
        );
    }
}
