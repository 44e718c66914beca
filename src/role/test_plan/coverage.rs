//! Determines which functions and branches existing tests reach, and which gaps remain.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::code::behaviour::{self, Behaviour};
use crate::code::conventions::{self, TestConventions};
use crate::code::language::Language;
use crate::code::test_paths;
use crate::domain::coverage::CoverageTarget;
use crate::domain::coverage::FileLines;
use crate::domain::id::RepoPath;
use crate::domain::rate::PerMille;
use crate::domain::test_plan::context::{
    CoverageSource, CoverageStats, FileCoverage, MissingTest, TestCoverage, priority,
};

use super::survey::Survey;

/// Which lines were executed, as far as known; stored for resumed sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutedLines {
    pub source: CoverageSource,
    /// The lines by file; empty if none are known.
    pub files: BTreeMap<RepoPath, FileLines>,
    /// The minimum percentages; files below them have a gap.
    #[serde(default)]
    pub target: CoverageTarget,
    #[serde(default)]
    pub measure: bool,
}

impl Default for ExecutedLines {
    fn default() -> Self {
        let source = CoverageSource::Mapping { reason: String::new() };
        let (files, target) = (BTreeMap::new(), CoverageTarget::default());
        Self { source, files, target, measure: false }
    }
}

impl ExecutedLines {
    /// Whether executed lines are known.
    pub fn has_lines(&self) -> bool {
        !matches!(self.source, CoverageSource::Mapping { .. })
    }
}

/// Which functions of a file are tested: by executed lines, or else by names in the tests.
pub struct TestReach<'a> {
    lines: Option<&'a FileLines>,
    tests: Vec<&'a str>,
    measured: bool,
}

impl<'a> TestReach<'a> {
    /// Collects what is known about one file.
    pub fn of(
        file: &RepoPath,
        tests: &[RepoPath],
        survey: &'a Survey,
        ran: &'a ExecutedLines,
    ) -> Self {
        let texts = tests.iter().filter(|test| *test != file);
        Self {
            lines: ran.files.get(file),
            tests: texts.map(|test| survey.text(test)).collect(),
            measured: ran.has_lines(),
        }
    }

    /// Whether any test enters a function.
    pub fn enters(&self, function: &Behaviour) -> bool {
        if self.measured {
            return self
                .lines
                .and_then(|lines| lines.entered(function.start, function.end))
                .unwrap_or(false);
        }
        self.says(function.short_name())
    }

    /// Whether a line was executed; if lines are unknown, whether tests that name the function also
    /// contain one of `words`.
    pub fn shows(&self, function: &Behaviour, line: u32, words: &[&str]) -> bool {
        if self.measured {
            return self.lines.and_then(|lines| lines.ran(line)).unwrap_or(false);
        }
        self.enters(function) && words.iter().any(|word| !word.is_empty() && self.says(word))
    }

    /// Whether both branches of a condition were taken; if unknown, as [`Self::shows`].
    pub fn decides(&self, function: &Behaviour, line: u32, words: &[&str]) -> bool {
        let branch = self.lines.and_then(|lines| lines.branches.get(&line));
        match (self.measured, branch) {
            (true, Some((hit, all))) => hit == all,
            // The tool does not report branches, so an executed line counts.
            (true, None) => self.shows(function, line, &[]),
            (false, _) => self.shows(function, line, words),
        }
    }

    /// Whether a test contains a name or text as a whole word.
    fn says(&self, word: &str) -> bool {
        self.tests.iter().any(|text| {
            text.match_indices(word).any(|(at, _)| {
                let number = word.parse::<f64>().is_ok();
                let name = |c: Option<char>| {
                    c.is_some_and(|c| c.is_alphanumeric() || c == '_' || number && c == '.')
                };
                let before = text.get(..at).and_then(|text| text.chars().next_back());
                let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
                let joined = name(before) && word.starts_with(char::is_alphanumeric)
                    || name(after) && word.ends_with(char::is_alphanumeric);
                !joined
            })
        })
    }
}

/// The functions to consider, by file; files without an entry are considered as a whole.
pub type FunctionFilter = BTreeMap<RepoPath, BTreeSet<String>>;

/// The functions of a file to be tested: those named in `only`, or else the public ones, or else
/// all.
pub fn callable(file: &RepoPath, text: &str, only: &FunctionFilter) -> Vec<Behaviour> {
    let Some(language) = Language::of(file) else { return Vec::new() };
    let all = behaviour::read(language, text);
    if let Some(names) = only.get(file) {
        return all.into_iter().filter(|one| names.contains(&one.name)).collect();
    }
    let public: Vec<Behaviour> = all.iter().filter(|one| one.is_public).cloned().collect();
    let mut chosen = if public.is_empty() { all } else { public };
    // Leave out empty functions, such as those of interfaces, which there is no reason to call.
    chosen.retain(|one| one.end > one.start || one.returns.len() + one.raises.len() > 0);
    chosen
}

/// Assesses which parts of `files` the tests reach.
pub fn assess(
    files: &[RepoPath],
    only: &FunctionFilter,
    survey: &Survey,
    habits: &TestConventions,
    ran: &ExecutedLines,
) -> TestCoverage {
    let mut rows = Vec::new();
    let mut missing = Vec::new();
    let mut existing = BTreeSet::new();
    for file in files {
        let functions = callable(file, survey.text(file), only);
        let tests = survey.tests_of(file, habits);
        existing.extend(tests.iter().filter(|test| *test != file).cloned());
        let reach = TestReach::of(file, &tests, survey, ran);
        let untested: Vec<&Behaviour> = functions.iter().filter(|one| !reach.enters(one)).collect();
        let row = row(file, &tests, &untested, ran.files.get(file));
        if let Some(reason) = gap(&row, &functions, &untested, ran) {
            let decisions = untested
                .iter()
                .map(|one| usize::try_from(one.decisions).unwrap_or(0) + one.raises.len());
            missing.push(MissingTest {
                implementation_file: file.clone(),
                suggested_test_file: suggested(file, survey, habits),
                priority: priority(file, decisions.sum()),
                reason,
            });
        }
        rows.push(row);
    }
    missing.sort_by(|a, b| {
        a.priority.cmp(&b.priority).then(a.implementation_file.cmp(&b.implementation_file))
    });
    TestCoverage {
        existing_tests: existing.into_iter().collect(),
        missing_tests: missing,
        coverage_stats: stats(&rows, survey),
        source: ran.source.clone(),
        files: rows,
    }
}

/// The test file for a source: an existing one, or else the one that the conventions suggest, in a
/// folder where the runner finds it.
pub fn suggested(file: &RepoPath, survey: &Survey, habits: &TestConventions) -> RepoPath {
    let candidates = conventions::candidates(file, habits);
    let there = candidates.iter().find(|path| survey.tests.contains_key(path));
    if let Some(there) = there {
        return there.clone();
    }
    let files = || survey.tests.keys().chain(survey.known.keys());
    let has_folder = |folder: &str| files().any(|file| file.parent() == folder);
    let planned = candidates.first().unwrap_or(file).clone();
    test_paths::in_existing_folder(planned, &has_folder)
}

fn row(
    file: &RepoPath,
    tests: &[RepoPath],
    untested: &[&Behaviour],
    lines: Option<&FileLines>,
) -> FileCoverage {
    let (covered, total) = lines.map(FileLines::line_counts).unzip();
    let (hit, all) = lines.map(FileLines::branch_counts).unzip();
    FileCoverage {
        file: file.clone(),
        tests: tests.to_vec(),
        lines_covered: covered,
        lines_total: total,
        branches_covered: hit,
        branches_total: all,
        uncovered_lines: lines.map(FileLines::uncovered).unwrap_or_default(),
        untested_functions: untested.iter().map(|one| one.name.clone()).collect(),
    }
}

/// A description of the gaps in the tests of a file; `None` if there are none.
fn gap(
    row: &FileCoverage,
    functions: &[Behaviour],
    untested: &[&Behaviour],
    ran: &ExecutedLines,
) -> Option<String> {
    if functions.is_empty() {
        return None;
    }
    let mut gaps = Vec::new();
    if row.tests.is_empty() {
        gaps.push("no test belongs to it".to_owned());
    }
    match (row.lines_covered, row.lines_total) {
        (Some(covered), Some(total)) if below(covered, total, ran.target.line) => {
            gaps.push(format!("{covered} of {total} lines run ({} %)", percent(covered, total)));
        }
        (None, _) if ran.has_lines() && !row.tests.is_empty() => {
            gaps.push("none of its lines run".to_owned());
        }
        _ => {}
    }
    if let (Some(hit), Some(all)) = (row.branches_covered, row.branches_total)
        && below(hit, all, ran.target.branch)
    {
        gaps.push(format!("{hit} of {all} branches are taken ({} %)", percent(hit, all)));
    }
    let count = |functions: usize| u32::try_from(functions).unwrap_or(u32::MAX);
    let entered = count(functions.len().saturating_sub(untested.len()));
    if below(entered, count(functions.len()), ran.target.function) {
        let names: Vec<String> =
            untested.iter().take(4).map(|one| format!("`{}`", one.name)).collect();
        let more = untested.len().saturating_sub(4);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let word = if ran.has_lines() { "no test enters" } else { "no test names" };
        gaps.push(format!("{word} {}{more}", names.join(", ")));
    }
    (!gaps.is_empty()).then(|| gaps.join("; "))
}

fn below(part: u32, whole: u32, target: u32) -> bool {
    whole > 0 && u64::from(part) * 100 < u64::from(whole) * u64::from(target)
}

/// A percentage with one decimal place; all of nothing is 100.
fn percent(part: u32, whole: u32) -> String {
    if whole == 0 { PerMille::of(1, 1) } else { PerMille::of(part, whole) }.to_string()
}

fn stats(rows: &[FileCoverage], survey: &Survey) -> CoverageStats {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let with = number(rows.iter().filter(|row| !row.tests.is_empty()).count());
    let total = number(rows.len());
    let sum = |of: fn(&FileCoverage) -> Option<u32>| -> u32 { rows.iter().filter_map(of).sum() };
    let shown = |part: u32, whole: u32| (whole > 0).then(|| percent(part, whole));
    CoverageStats {
        total_implementation_files: total,
        total_test_files: number(survey.tests.len()),
        files_with_tests: with,
        files_without_tests: total - with,
        coverage_percentage: percent(with, total),
        line_percentage: shown(sum(|row| row.lines_covered), sum(|row| row.lines_total)),
        branch_percentage: shown(sum(|row| row.branches_covered), sum(|row| row.branches_total)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_look_better_and_are_compared_exactly() {
        let table = [(1, 3, "33.3"), (2, 3, "66.7"), (999, 1000, "99.9"), (0, 0, "100.0")];
        for (part, whole, expected) in table {
            assert_eq!(percent(part, whole), expected);
        }
        let table =
            [(79, 100, 80, true), (80, 100, 80, false), (0, 0, 100, false), (0, 1, 0, false)];
        for (part, whole, target, expected) in table {
            assert_eq!(below(part, whole, target), expected, "{part} of {whole}");
        }
    }

    #[test]
    fn without_lines_tests_enter_what_they_name_as_a_whole_word() {
        let reach =
            |text: &'static str| TestReach { lines: None, tests: vec![text], measured: false };
        let table = [
            ("assert price(2) == 2", "price", true),
            ("assert prices(2)", "price", false),
            ("assert unit_price(2)", "price", false),
            ("x == 10", "10", true),
            ("x == 10.5", "10", false),
            ("x == 100", "10", false),
        ];
        for (text, word, expected) in table {
            assert_eq!(reach(text).says(word), expected, "{text}: {word}");
        }
    }
}
