//! Which lines of a file ran under tests, which branches were taken.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::RepoPath;

/// Lines of one file that count at most.
const LINES: u32 = 1_000_000;

/// What ran of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileLines {
    /// Lines that can run, with how often they did.
    pub lines: BTreeMap<u32, u64>,
    /// Branches by line: taken, and all.
    pub branches: BTreeMap<u32, (u32, u32)>,
    /// Functions that the tool names: first line and how often they were entered.
    pub functions: BTreeMap<String, (u32, u64)>,
}

impl FileLines {
    /// Notes a line; the highest count stays, since one line may be told of twice.
    pub fn line(&mut self, line: u32, hits: u64) {
        if (1..=LINES).contains(&line) {
            let known = self.lines.entry(line).or_default();
            *known = (*known).max(hits);
        }
    }

    /// Notes branches of a line, besides those already noted.
    pub fn branch(&mut self, line: u32, taken: u32, all: u32) {
        if (1..=LINES).contains(&line) && all > 0 {
            let known = self.branches.entry(line).or_default();
            known.0 = known.0.saturating_add(taken.min(all));
            known.1 = known.1.saturating_add(all);
        }
    }

    /// Lines that ran and lines that can.
    #[must_use]
    pub fn line_counts(&self) -> (u32, u32) {
        let ran = self.lines.values().filter(|hits| **hits > 0).count();
        (number(ran), number(self.lines.len()))
    }

    /// Branches that were taken and branches that are there.
    #[must_use]
    pub fn branch_counts(&self) -> (u32, u32) {
        let sum = |of: fn(&(u32, u32)) -> u32| {
            self.branches.values().fold(0_u32, |sum, pair| sum.saturating_add(of(pair)))
        };
        (sum(|pair| pair.0), sum(|pair| pair.1))
    }

    /// Lines that can run and did not, as `9, 14-18`; lines that cannot run do not break a range.
    #[must_use]
    pub fn uncovered(&self) -> String {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut open = false;
        for (line, hits) in &self.lines {
            if *hits > 0 {
                open = false;
            } else if open && let Some(last) = ranges.last_mut() {
                last.1 = *line;
            } else {
                ranges.push((*line, *line));
                open = true;
            }
        }
        let shown = ranges
            .iter()
            .map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Whether a line ran; `None` when it cannot run or is not told of.
    #[must_use]
    pub fn ran(&self, line: u32) -> Option<bool> {
        self.lines.get(&line).map(|hits| *hits > 0)
    }

    /// Whether a line behind `start`, up to `end`, ran; the line of the definition itself runs when
    /// the file is loaded. `None` when no line between is told of.
    #[must_use]
    pub fn entered(&self, start: u32, end: u32) -> Option<bool> {
        if end <= start {
            return self.ran(start);
        }
        let mut told = self.lines.range(start + 1..=end).peekable();
        told.peek()?;
        Some(told.any(|(_, hits)| *hits > 0))
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// What a coverage run told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The suite ran, and this is what ran with it.
    Lines {
        /// As a person would type it.
        command: String,
        /// Form of the report.
        format: String,
        /// Files of the repository.
        files: BTreeMap<RepoPath, FileLines>,
    },
    /// There are no lines.
    Nothing {
        /// Why, with what would help.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_over_lines_that_cannot_run() {
        let mut file = FileLines::default();
        for (line, hits) in [(1, 1), (2, 0), (5, 0), (6, 2), (7, 0), (7, 0), (0, 9)] {
            file.line(line, hits);
        }
        assert_eq!(file.uncovered(), "2-5, 7");
        assert_eq!(file.line_counts(), (2, 5));
        file.branch(2, 3, 2);
        assert_eq!(file.branch_counts(), (2, 2), "never more taken than there are");
        file.line(7, 4);
        assert_eq!(file.uncovered(), "2-5", "the highest count stays");
    }
}
