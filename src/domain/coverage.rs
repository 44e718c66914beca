//! Test coverage of files (executed lines, branches and functions), and the targets it must reach.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::RepoPath;

/// Highest line number that is recorded for one file.
const LINES: u32 = 1_000_000;

/// Coverage of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileLines {
    /// Executable lines with their execution counts.
    pub lines: BTreeMap<u32, u64>,
    /// Branches by line: number taken, and total number.
    pub branches: BTreeMap<u32, (u32, u32)>,
    /// Functions that the tool names: first line, and how often they were entered.
    pub functions: BTreeMap<String, (u32, u64)>,
}

impl FileLines {
    /// Notes a line; the highest count stays, since a report may list one line twice.
    pub fn line(&mut self, line: u32, hits: u64) {
        if (1..=LINES).contains(&line) {
            let known = self.lines.entry(line).or_default();
            *known = (*known).max(hits);
        }
    }

    /// Adds branches of a line to those already recorded.
    pub fn branch(&mut self, line: u32, hits: u32, all: u32) {
        if (1..=LINES).contains(&line) && all > 0 {
            let known = self.branches.entry(line).or_default();
            known.0 = known.0.saturating_add(hits.min(all));
            known.1 = known.1.saturating_add(all);
        }
    }

    /// Notes a function; the highest count stays, and functions of one name on other lines stay apart.
    pub fn add_function(&mut self, name: &str, line: u32, hits: u64) {
        let is_other = self.functions.get(name).is_some_and(|(known, _)| *known != line);
        let key = if is_other { format!("{name}:{line}") } else { name.to_owned() };
        let known = self.functions.entry(key).or_insert((line, hits));
        known.1 = known.1.max(hits);
    }

    /// Whether a line ran; `None` when it cannot run or is not in the report.
    pub fn ran(&self, line: u32) -> Option<bool> {
        self.lines.get(&line).map(|hits| *hits > 0)
    }

    /// Whether any line after `start`, up to `end`, ran: the line of the definition itself already
    /// runs when the file is loaded, and so may the last one, if it only closes. `None` if the report
    /// contains none of these lines.
    pub fn entered(&self, start: u32, end: u32) -> Option<bool> {
        if end <= start {
            return self.ran(start);
        }
        let mut recorded = self.lines.range(start + 1..=end).peekable();
        let (first, _) = *recorded.peek()?;
        Some(recorded.any(|(line, hits)| *hits > 0 && (line < &end || line == first)))
    }

    /// Whether the function of this name that begins on a line was entered, as the tool counts
    /// functions. Where it names them otherwise, all on the line are meant; `None` if there are none.
    pub fn entered_by_count(&self, name: &str, line: u32) -> Option<bool> {
        let of_line = || self.functions.iter().filter(move |(_, (start, _))| *start == line);
        let is_named = |key: &str| {
            let key = key.split(':').next().unwrap_or_default();
            key.rsplit(['.', ' ']).next() == Some(name)
        };
        let has_name = of_line().any(|(key, _)| is_named(key));
        let mut meant = of_line().filter(|(key, _)| !has_name || is_named(key)).peekable();
        meant.peek()?;
        Some(meant.any(|(_, (_, hits))| *hits > 0))
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Coverage targets in percent (specification.md C-17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageTarget {
    pub line: u32,
    pub branch: u32,
    pub function: u32,
    /// Whether somebody set the target of branches, which many tools cannot measure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub branch_is_set: bool,
}

impl Default for CoverageTarget {
    fn default() -> Self {
        Self { line: 80, branch: 70, function: 90, branch_is_set: false }
    }
}

impl CoverageTarget {
    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_none(self) -> bool {
        [self.line, self.branch, self.function] == [0; 3]
    }

    /// The target as a person says it.
    #[must_use]
    pub fn words(self) -> String {
        let Self { line, branch, function, .. } = self;
        format!("{line} % of lines, {branch} % of branches and {function} % of functions")
    }
}

impl std::fmt::Display for CoverageTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line:{}%,branch:{}%,function:{}%", self.line, self.branch, self.function)
    }
}

/// Covered and total number of lines, branches or functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    pub part: u32,
    pub whole: u32,
}

impl Share {
    /// Percentage, rounded down; `None` if the total is 0.
    #[must_use]
    pub fn percent(self) -> Option<u32> {
        let percent = (u64::from(self.part) * 100).checked_div(u64::from(self.whole))?;
        Some(u32::try_from(percent).unwrap_or(u32::MAX))
    }

    /// Whether it is below `target` percent; a total of 0 never is.
    pub fn is_below(self, target: u32) -> bool {
        u64::from(self.part) * 100 < u64::from(self.whole) * u64::from(target)
    }

    fn add(&mut self, (part, whole): (u32, u32)) {
        self.part = self.part.saturating_add(part);
        self.whole = self.whole.saturating_add(whole);
    }
}

/// Coverage of lines, branches and functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shares {
    pub line: Share,
    /// Branches; nothing where the tool reports none.
    pub branch: Share,
    pub function: Share,
}

impl Shares {
    /// Adds the lines from `start` to `end`, inclusive, and their branches, from a file's coverage.
    pub fn add_lines(&mut self, recorded: &FileLines, start: u32, end: u32) {
        let ran = recorded.lines.range(start..=end).filter(|(_, hits)| **hits > 0).count();
        self.line.add((number(ran), number(recorded.lines.range(start..=end).count())));
        for (_, pair) in recorded.branches.range(start..=end) {
            self.branch.add(*pair);
        }
    }

    /// Adds lines of a file that is in no report: none of them ran.
    pub fn add_unseen(&mut self, lines: u32) {
        self.line.add((0, lines));
    }

    pub fn add_function(&mut self, entered: bool) {
        self.function.add((u32::from(entered), 1));
    }

    /// Describes each measure that is below its target.
    pub fn missed(&self, target: CoverageTarget) -> Vec<String> {
        self.named(target)
            .into_iter()
            .filter(|(_, share, target)| share.is_below(*target))
            .map(|(name, share, target)| {
                format!("{name} {} % of {target} %", share.percent().unwrap_or_default())
            })
            .collect()
    }

    /// Each share with its name and its target, in percent.
    pub fn named(&self, target: CoverageTarget) -> [(&'static str, Share, u32); 3] {
        [
            ("lines", self.line, target.line),
            ("branches", self.branch, target.branch),
            ("public functions", self.function, target.function),
        ]
    }
}

/// Coverage of the code that the tests are about, compared with the target (specification.md 6.2,
/// 6.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoverageResult {
    /// A coverage tool measured it.
    Measured {
        /// The command as typed in a shell.
        command: String,
        /// What the shares count: files, or the functions of them that were asked for.
        #[serde(default)]
        counted: String,
        /// Coverage before the tests were written.
        before: Shares,
        /// After the tests were written.
        after: Shares,
        target: CoverageTarget,
        /// Whether the tool reports no branches at all, so that theirs is not measured.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        lacks_branches: bool,
    },
    /// No tool measured it, so it meets no target.
    Unmeasured {
        /// Why, with what would help.
        reason: String,
        #[serde(default)]
        target: CoverageTarget,
    },
    /// Whoever started the run wants no measurement, so that no target holds.
    Declined,
}

impl CoverageResult {
    /// Describes each target that is not met: a measure below it, or not measured.
    pub fn missed(&self) -> Vec<String> {
        match self {
            Self::Measured { after, target, lacks_branches, .. } => {
                let mut missed = after.missed(*target);
                if *lacks_branches && target.branch_is_set && target.branch > 0 {
                    missed.push(format!("branches not measured, {} % asked for", target.branch));
                }
                missed
            }
            Self::Unmeasured { target, .. } if target.is_none() => Vec::new(),
            Self::Unmeasured { reason, .. } => {
                vec![format!(
                    "coverage not measured: {reason} (targets of 0 below `coverage` in the configuration do without)"
                )]
            }
            Self::Declined => Vec::new(),
        }
    }
}

/// The result of a coverage run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The suite ran and coverage was reported.
    Lines {
        /// The command as typed in a shell.
        command: String,
        format: String,
        files: BTreeMap<RepoPath, FileLines>,
    },
    /// The suite ran and has no tests yet.
    NoTests {
        /// The command as typed in a shell.
        command: String,
        /// The files that tests could load; none of their lines ran.
        files: BTreeMap<RepoPath, FileLines>,
    },
    /// No lines are known.
    Nothing {
        /// Why, and how to enable it.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_that_an_earlier_build_stored_is_read() {
        let old = r#"{"unmeasured": {"reason": "no tool"}}"#;
        let read: CoverageResult = serde_json::from_str(old).unwrap();
        let target = CoverageTarget::default();
        assert_eq!(read, CoverageResult::Unmeasured { reason: "no tool".into(), target });
    }

    #[test]
    fn what_is_short_or_not_measured_is_named_where_it_was_asked_for() {
        let target = CoverageTarget::default();
        let set = CoverageTarget { branch_is_set: true, ..target };
        let nothing = CoverageTarget { line: 0, branch: 0, function: 0, branch_is_set: true };
        let measured = |part, target| CoverageResult::Measured {
            command: "cov".into(),
            counted: "a.py".into(),
            before: Shares::default(),
            after: Shares { line: Share { part, whole: 10 }, ..Shares::default() },
            target,
            lacks_branches: true,
        };
        let unmeasured = |target| CoverageResult::Unmeasured { reason: "no tool".into(), target };
        let table = [
            (measured(8, target), None),
            (measured(7, target), Some("lines 70 % of 80 %")),
            (measured(8, set), Some("branches not measured, 70 % asked for")),
            (unmeasured(target), Some("coverage not measured: no tool (targets of 0")),
            (unmeasured(nothing), None),
            (CoverageResult::Declined, None),
        ];
        for (reached, expected) in table {
            let missed = reached.missed();
            assert_eq!(missed.is_empty(), expected.is_none(), "{missed:?}");
            assert!(missed.iter().all(|one| one.starts_with(expected.unwrap())), "{missed:?}");
        }
    }

    #[test]
    fn the_closing_line_of_a_function_does_not_tell_that_it_was_entered() {
        let mut file = FileLines::default();
        for (line, hits) in [(1, 1), (2, 0), (3, 1), (5, 1), (6, 1)] {
            file.line(line, hits);
        }
        let entered = [(1, 3), (5, 6), (7, 9)].map(|(start, end)| file.entered(start, end));
        assert_eq!(entered, [Some(false), Some(true), None]);
    }

    #[test]
    fn functions_on_one_line_are_told_apart_by_their_names() {
        let mut file = FileLines::default();
        let functions = [
            ("a", 1, 0),
            ("get size", 2, 3),
            ("get size", 3, 0),
            ("get size", 2, 0),
            ("x.b", 4, 0),
            ("c", 4, 1),
            ("(anonymous_0)", 5, 1),
        ];
        for (name, line, hits) in functions {
            file.add_function(name, line, hits);
        }
        let table = [
            ("a", 1, Some(false)),
            ("size", 2, Some(true)),
            ("size", 3, Some(false)),
            ("b", 4, Some(false)),
            ("c", 4, Some(true)),
            ("d", 5, Some(true)),
            ("d", 6, None),
        ];
        for (name, line, expected) in table {
            assert_eq!(file.entered_by_count(name, line), expected, "{name} on line {line}");
        }
    }

    #[test]
    fn the_highest_count_of_a_line_stays() {
        let mut file = FileLines::default();
        for (line, hits) in [(1, 1), (2, 0), (5, 0), (6, 2), (7, 0), (7, 0), (0, 9)] {
            file.line(line, hits);
        }
        file.branch(2, 3, 2);
        assert_eq!(file.branches[&2], (2, 2), "never more taken than there are");
        file.line(7, 4);
        let lines: Vec<(u32, u64)> = file.lines.into_iter().collect();
        assert_eq!(lines, [(1, 1), (2, 0), (5, 0), (6, 2), (7, 4)], "the highest count stays");
    }

    #[test]
    fn shares_are_of_the_code_that_is_meant_and_missed_below_the_target() {
        let mut file = FileLines::default();
        for (line, hits) in [(1, 1), (3, 1), (4, 1), (5, 0), (9, 0)] {
            file.line(line, hits);
        }
        file.branch(4, 1, 2);
        file.branch(9, 0, 2);
        let mut shares = Shares::default();
        shares.add_lines(&file, 3, 5);
        shares.add_function(true);
        let share = |part, whole| Share { part, whole };
        assert_eq!((shares.line, shares.branch), (share(2, 3), share(1, 2)));
        let target =
            |line, branch, function| CoverageTarget { line, branch, function, branch_is_set: true };
        let table = [
            (target(66, 50, 100), &[][..]),
            (target(67, 51, 100), &["lines 66 % of 67 %", "branches 50 % of 51 %"][..]),
            (target(0, 0, 0), &[][..]),
        ];
        for (target, expected) in table {
            assert_eq!(shares.missed(target), expected, "{target}");
        }
        assert!(
            Shares::default().missed(target(100, 100, 100)).is_empty(),
            "nothing misses nothing"
        );
        shares.add_unseen(3);
        assert_eq!(shares.line, share(2, 6), "what no tool tells of did not run");
    }
}
