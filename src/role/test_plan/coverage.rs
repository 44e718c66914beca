//! Determines which functions and branches existing tests reach, and which gaps remain.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::code::behaviour::{self, Behaviour};
use crate::code::conventions;
use crate::code::language::Language;
use crate::code::test_paths;
use crate::domain::coverage::CoverageTarget;
use crate::domain::coverage::FileLines;
use crate::domain::id::RepoPath;
use crate::domain::rate::PerMille;
use crate::domain::test_plan::framework::Conventions;
use crate::domain::test_plan::requirement::{PlannedFile, Priority};
use crate::domain::text::has_word;

use super::survey::Survey;

/// Source of the coverage numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum CoverageSource {
    /// A coverage tool ran.
    Measured {
        /// The command as typed in a shell.
        command: String,
        format: String,
    },
    /// A coverage tool ran, and there are no tests yet.
    NoTests {
        /// The command as typed in a shell.
        command: String,
    },
    /// An existing coverage report that the user named.
    Report {
        /// The name of the report as the user gave it.
        file: String,
        format: String,
    },
    /// No line coverage: source files are matched to tests by names and imports.
    Mapping { reason: String },
}

impl CoverageSource {
    /// No line coverage, with the reason.
    pub fn by_names(reason: impl Into<String>) -> Self {
        Self::Mapping { reason: reason.into() }
    }

    /// The command that measured; empty if none did.
    pub fn measuring_command(&self) -> &str {
        match self {
            Self::Measured { command, .. } | Self::NoTests { command } => command,
            Self::Report { .. } | Self::Mapping { .. } => "",
        }
    }

    /// Where the numbers come from, in words.
    fn words(&self) -> String {
        match self {
            Self::Measured { command, .. } => format!("measured by `{command}`"),
            Self::NoTests { .. } => "there are no tests yet".to_owned(),
            Self::Report { file, format } => format!("read from {file} ({format})"),
            Self::Mapping { reason } => format!("by names and imports only: {reason}"),
        }
    }
}

/// Which lines were executed, as far as known; stored for resumed sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutedLines {
    pub source: CoverageSource,
    /// The lines by file; empty if none are known.
    pub files: BTreeMap<RepoPath, FileLines>,
    /// The minimum percentages; files below them have a gap.
    #[serde(default)]
    pub target: CoverageTarget,
}

impl Default for ExecutedLines {
    fn default() -> Self {
        let source = CoverageSource::by_names("");
        let (files, target) = (BTreeMap::new(), CoverageTarget::default());
        Self { source, files, target }
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

    /// Whether executed lines are known.
    pub fn is_measured(&self) -> bool {
        self.measured
    }

    /// Whether any test enters a function.
    pub fn enters(&self, function: &Behaviour) -> bool {
        if self.measured {
            let lines = self.lines.and_then(|lines| lines.entered(function.start, function.end));
            return lines.unwrap_or(false);
        }
        self.tests.iter().any(|text| has_word(text, function.short_name()))
    }

    /// Whether a line was executed; not shown if lines are unknown.
    pub fn line_ran(&self, line: u32) -> bool {
        self.measured && self.lines.and_then(|lines| lines.ran(line)).unwrap_or(false)
    }

    /// Whether both branches of a condition were taken. A tool may not report branches: then an
    /// executed line counts.
    pub fn decides(&self, line: u32) -> bool {
        match self.lines.and_then(|lines| lines.branches.get(&line)) {
            Some((hit, all)) => self.measured && hit == all,
            None => self.line_ran(line),
        }
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

/// What the tests of some files reach.
pub struct TestGaps {
    /// Files with gaps, most urgent first, without requirements.
    pub gaps: Vec<PlannedFile>,
    /// The present coverage, in words with numbers.
    pub coverage: String,
}

/// Assesses which parts of `files` the tests reach.
pub fn assess(
    files: &[RepoPath],
    only: &FunctionFilter,
    survey: &Survey,
    habits: &Conventions,
    ran: &ExecutedLines,
) -> TestGaps {
    let (mut gaps, mut tested) = (Vec::new(), 0_u32);
    for file in files {
        let functions = callable(file, survey.text(file), only);
        let tests = survey.tests_of(file, habits);
        let reach = TestReach::of(file, &tests, survey, ran);
        let untested: Vec<&Behaviour> = functions.iter().filter(|one| !reach.enters(one)).collect();
        // Tests may come to a file through another one. A function on one line runs when it is loaded.
        let mut long = functions.iter().filter(|one| one.end > one.start);
        let has_tests = !tests.is_empty() || long.any(|one| reach.enters(one));
        tested += u32::from(has_tests);
        let Some(reason) = gap(has_tests, &functions, &untested, (ran.files.get(file), ran)) else {
            continue;
        };
        let decisions = untested
            .iter()
            .map(|one| usize::try_from(one.decisions).unwrap_or(0) + one.raises.len());
        gaps.push(PlannedFile {
            file: file.clone(),
            tests,
            test_file: suggest_test_file(file, survey, habits),
            priority: Priority::of_file(file, decisions.sum()),
            reason,
            functions: functions.iter().map(|one| one.name.clone()).collect(),
            requirements: Vec::new(),
        });
    }
    gaps.sort_by(|a, b| a.priority.cmp(&b.priority).then(a.file.cmp(&b.file)));
    TestGaps { gaps, coverage: coverage(tested, files, ran) }
}

/// The present coverage of the files, of which some have tests.
fn coverage(tested: u32, files: &[RepoPath], ran: &ExecutedLines) -> String {
    let total = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let mut text = format!("{tested} of {total} files have tests ({} %)", percent(tested, total));
    let known = || files.iter().filter_map(|file| ran.files.get(file));
    let lines: Vec<_> = known().map(FileLines::line_counts).collect();
    let branches: Vec<_> = known().map(FileLines::branch_counts).collect();
    for (what, counts) in [("lines", lines), ("branches", branches)] {
        let (part, whole) = counts.iter().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        if whole > 0 {
            text.push_str(&format!(", {what} {} %", percent(part, whole)));
        }
    }
    format!("{text}; {}", ran.source.words())
}

/// The test file for a source: an existing one, or else the one that the conventions suggest, in a
/// folder where the runner finds it.
pub fn suggest_test_file(file: &RepoPath, survey: &Survey, habits: &Conventions) -> RepoPath {
    let candidates = conventions::candidates(file, habits);
    let there = candidates.iter().find(|path| survey.tests.contains_key(path));
    if let Some(there) = there {
        return there.clone();
    }
    let files = || survey.tests.keys().chain(survey.known.keys());
    let has_folder = |folder: &str| files().any(|file| file.parent() == folder);
    let planned = candidates.first().unwrap_or(file).clone();
    // A project without tests gets a folder for them, as most have one.
    if survey.tests.keys().all(|test| test.file_name() == "__init__.py")
        && planned.parent() == file.parent()
        && file.extension() == "py"
        && !file.parent().is_empty()
        && let Ok(path) = RepoPath::inside("tests", planned.file_name())
    {
        return path;
    }
    test_paths::in_existing_folder(planned, &has_folder)
}

/// A description of the gaps in the tests of a file; `None` if there are none.
fn gap(
    has_tests: bool,
    functions: &[Behaviour],
    untested: &[&Behaviour],
    (lines, ran): (Option<&FileLines>, &ExecutedLines),
) -> Option<String> {
    if functions.is_empty() {
        return None;
    }
    let mut gaps = Vec::new();
    if !has_tests {
        gaps.push("no test belongs to it".to_owned());
    }
    if lines.is_none() && ran.has_lines() && has_tests {
        gaps.push("none of its lines run".to_owned());
    }
    if let Some(lines) = lines {
        let (part, whole) = lines.line_counts();
        if below(part, whole, ran.target.line) {
            gaps.push(format!("{part} of {whole} lines run ({} %)", percent(part, whole)));
        }
        let (part, whole) = lines.branch_counts();
        if below(part, whole, ran.target.branch) {
            let share = percent(part, whole);
            gaps.push(format!("{part} of {whole} branches are taken ({share} %)"));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_coverage_is_said_with_its_source() {
        let files = ["a.py", "b.py", "c.py", "d.py"].map(|one| RepoPath::parse(one).unwrap());
        let mut lines = FileLines::default();
        (1..=8).for_each(|line| lines.line(line, u64::from(line < 5)));
        let (file, format) = ("x.lcov".to_owned(), "lcov".to_owned());
        let table = [
            (
                CoverageSource::Measured { command: "cov".into(), format: format.clone() },
                "1 of 4 files have tests (25.0 %), lines 50.0 %; measured by `cov`",
            ),
            (
                CoverageSource::Report { file, format },
                "1 of 4 files have tests (25.0 %), lines 50.0 %; read from x.lcov (lcov)",
            ),
            (
                CoverageSource::NoTests { command: "cov".into() },
                "1 of 4 files have tests (25.0 %), lines 50.0 %; there are no tests yet",
            ),
            (
                CoverageSource::by_names("no tool"),
                "1 of 4 files have tests (25.0 %); by names and imports only: no tool",
            ),
        ];
        for (source, expected) in table {
            let mut ran = ExecutedLines { source, ..ExecutedLines::default() };
            if ran.has_lines() {
                ran.files.insert(files[0].clone(), lines.clone());
            }
            assert_eq!(coverage(1, &files, &ran), expected);
        }
    }

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
}
