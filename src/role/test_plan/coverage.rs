//! Determines which functions and branches existing tests reach, and which gaps remain.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::code::behaviour::{self, Behaviour};
use crate::code::conventions;
use crate::code::language::{JS, Language};
use crate::code::signature::offered_names;
use crate::code::test_paths;
use crate::domain::coverage::{CoverageTarget, FileLines, Share, Shares};
use crate::domain::framework::Framework;
use crate::domain::id::RepoPath;
use crate::domain::test_plan::framework::TestFramework;
use crate::domain::test_plan::requirement::{PlannedFile, Priority};
use crate::domain::text::{count, has_word};

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
            Self::NoTests { command } => format!("not measured: `{command}` runs no test"),
            Self::Report { file, format } => format!("read from {file} ({format})"),
            Self::Mapping { reason } => format!("by names and imports only: {reason}"),
        }
    }
}

/// Which lines were executed, as far as known; stored for resumed sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutedLines {
    pub source: CoverageSource,
    /// What was asked for, which every share of the session counts.
    #[serde(default)]
    pub about: About,
    /// The lines by file; empty if none are known.
    pub files: BTreeMap<RepoPath, FileLines>,
    /// The minimum percentages; files below them have a gap.
    #[serde(default)]
    pub target: CoverageTarget,
}

impl Default for ExecutedLines {
    fn default() -> Self {
        let source = CoverageSource::by_names("");
        let (files, about) = (BTreeMap::new(), About::new());
        Self { source, about, files, target: CoverageTarget::default() }
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
    file: &'a RepoPath,
    lines: Option<&'a FileLines>,
    tests: Vec<&'a str>,
    measured: bool,
}

impl<'a> TestReach<'a> {
    /// Collects what is known about one file.
    pub fn of(
        file: &'a RepoPath,
        tests: &[RepoPath],
        survey: &'a Survey,
        ran: &'a ExecutedLines,
    ) -> Self {
        let texts = tests.iter().filter(|test| *test != file);
        Self {
            file,
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
            let entered =
                self.lines.map_or(Some(false), |lines| is_entered(self.file, lines, function));
            if let Some(entered) = entered {
                return entered;
            }
        }
        self.tests.iter().any(|text| has_word(text, function.short_name()))
    }

    /// Whether a line of a function was executed; not shown if lines are unknown.
    pub fn line_ran(&self, function: &Behaviour, line: u32) -> bool {
        self.measured
            && self.lines.and_then(|lines| lines.ran(line)).unwrap_or(false)
            && (function.end > function.start || self.enters(function))
    }

    /// Whether both branches of a condition were taken. A tool may not report branches: then an
    /// executed line counts.
    pub fn takes_both_sides(&self, function: &Behaviour, line: u32) -> bool {
        match self.lines.and_then(|lines| lines.branches.get(&line)) {
            Some((hit, all)) => self.measured && hit == all,
            None => self.line_ran(function, line),
        }
    }
}

/// Whether a test enters a function. A definition on one line runs when its file is loaded, where the
/// language executes definitions: there the tool's counts of functions tell, and `None` stands for
/// no such count. Those of coverage.py are counts of lines.
fn is_entered(file: &RepoPath, lines: &FileLines, function: &Behaviour) -> Option<bool> {
    let by_lines = || lines.entered(function.start, function.end).unwrap_or(false);
    let is_script = Language::of(file).is_some_and(|one| JS.contains(&one));
    if function.end > function.start || !(is_script || Language::of(file) == Some(Language::Python))
    {
        return Some(by_lines());
    }
    let counted = is_script.then(|| lines.entered_by_count(function.short_name(), function.start));
    counted.flatten().or_else(|| (!by_lines()).then_some(false))
}

/// The functions to consider, by file; files without an entry are considered as a whole.
pub type FunctionFilter = BTreeMap<RepoPath, BTreeSet<String>>;

/// The functions of a file to be tested: those in `only`, else the public ones, else all.
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

/// The functions that were asked for, by file; an empty name stands for the whole file.
pub type About = BTreeMap<RepoPath, BTreeSet<String>>;

/// The functions of a file in scope, and the line ranges that count: whole bodies, or the whole file where
/// all of its functions are in scope, as coverage tools count. The first line of a single function is
/// executed when its file is loaded, so it does not count.
pub fn pieces_in_scope(
    file: &RepoPath,
    names: &BTreeSet<String>,
    text: &str,
) -> (Vec<Behaviour>, Vec<(u32, u32)>) {
    let all = callable(file, text, &FunctionFilter::new());
    let has_all = !names.is_empty() && all.iter().all(|one| names.contains(&one.name));
    let whole = names.contains("") || has_all;
    let only = || FunctionFilter::from([(file.clone(), names.clone())]);
    let functions = if whole { all } else { callable(file, text, &only()) };
    let pieces = if whole {
        vec![(1, u32::try_from(text.lines().count()).unwrap_or(u32::MAX))]
    } else {
        functions.iter().map(|one| (first_inside(one.start, one.end), one.end)).collect()
    };
    (functions, pieces)
}

/// The coverage of some functions or of whole files.
pub fn count_shares(
    about: &About,
    texts: &BTreeMap<RepoPath, String>,
    ran: &BTreeMap<RepoPath, FileLines>,
) -> Shares {
    let mut shares = Shares::default();
    for (file, names) in about {
        let text = texts.get(file).map_or("", String::as_str);
        let (functions, pieces) = pieces_in_scope(file, names, text);
        let file_lines = ran.get(file);
        let package = RepoPath::inside(file.parent(), "__init__.py").ok();
        let package = package.and_then(|one| texts.get(&one)).map_or("", String::as_str);
        // What is asked for by its name counts, whoever may call it.
        let is_whole = names.contains("") && Language::of(file) == Some(Language::Python);
        let offered = offered_names(file.stem(), text, package).filter(|_| is_whole);
        let is_counted = |one: &&Behaviour| {
            let subject = one.name.split('.').next().unwrap_or_default();
            offered.as_ref().is_none_or(|offered| offered.contains(subject))
        };
        for function in functions.iter().filter(is_counted) {
            let entered = file_lines.map_or(Some(false), |lines| is_entered(file, lines, function));
            if let Some(entered) = entered {
                shares.add_function(entered);
            }
        }
        for (start, end) in pieces {
            match file_lines {
                Some(file_lines) => shares.add_lines(file_lines, start, end),
                None => shares.add_unseen((end + 1).saturating_sub(start)),
            }
        }
    }
    if shares.line.part == 0 {
        shares.branch.part = 0;
    }
    shares
}

/// The first line after the head of a definition that spans several lines.
pub fn first_inside(start: u32, end: u32) -> u32 {
    if end > start { start + 1 } else { start }
}

/// The names in `only` that a file is restricted to, or an empty name for the whole file.
pub fn named_in(file: &RepoPath, only: &FunctionFilter) -> BTreeSet<String> {
    only.get(file).cloned().unwrap_or_else(|| BTreeSet::from([String::new()]))
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
    framework: &TestFramework,
    ran: &ExecutedLines,
) -> TestGaps {
    let habits = &framework.conventions;
    let (mut gaps, mut tested) = (Vec::new(), 0_u32);
    for file in files {
        let functions = callable(file, survey.text(file), only);
        let tests = survey.tests_of(file, habits);
        let reach = TestReach::of(file, &tests, survey, ran);
        let untested: Vec<&Behaviour> = functions.iter().filter(|one| !reach.enters(one)).collect();
        // Tests may come to a file through another one. A function on one line runs when it is loaded.
        let mut long = functions.iter().filter(|one| one.end > one.start).peekable();
        let has_long = ran.has_lines() && long.peek().is_some();
        let is_reached = long.any(|one| reach.enters(one));
        let has_tests = !tests.is_empty() || is_reached;
        tested += u32::from(if has_long { is_reached } else { has_tests });
        let about = About::from([(file.clone(), named_in(file, only))]);
        let own = ran.files.get(file).map(|_| count_shares(&about, &survey.texts, &ran.files));
        let Some(reason) = gap(has_tests, &functions, &untested, (own, ran)) else { continue };
        let decisions = untested
            .iter()
            .map(|one| usize::try_from(one.decisions).unwrap_or(0) + one.raises.len());
        gaps.push(PlannedFile {
            file: file.clone(),
            tests,
            test_file: suggest_test_file(file, survey, framework),
            priority: Priority::of_file(file, decisions.sum()),
            reason,
            functions: functions.iter().map(|one| one.name.clone()).collect(),
            requirements: Vec::new(),
        });
    }
    gaps.sort_by(|a, b| a.priority.cmp(&b.priority).then(a.file.cmp(&b.file)));
    let total = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let shares = ran.has_lines().then(|| count_shares(&ran.about, &survey.texts, &ran.files));
    TestGaps { gaps, coverage: coverage((tested, total), shares, ran) }
}

/// The present coverage of the files, of which tests reach some.
fn coverage((tested, total): (u32, u32), shares: Option<Shares>, ran: &ExecutedLines) -> String {
    let files = count(u64::from(total), "file");
    let shares = shares.filter(|_| !matches!(ran.source, CoverageSource::NoTests { .. }));
    let mut text = match shares {
        Some(_) => format!("tests reach {tested} of {files}"),
        None => format!("{tested} of {files} have tests"),
    };
    for (what, share, _) in shares.iter().flat_map(|all| all.named(ran.target)) {
        if let Some(percent) = share.percent() {
            text.push_str(&format!(", {what} {percent} %"));
        }
    }
    format!("{text}; {}", ran.source.words())
}

/// A source's test file: an existing one, or a conventional one that the runner finds.
pub fn suggest_test_file(file: &RepoPath, survey: &Survey, framework: &TestFramework) -> RepoPath {
    let candidates = conventions::candidates(file, &framework.conventions);
    let there = candidates.iter().find(|path| survey.tests.contains_key(path));
    if let Some(there) = there {
        return there.clone();
    }
    let files = || survey.tests.keys().chain(survey.known.keys());
    let has_folder = |folder: &str| files().any(|file| file.parent() == folder);
    let planned = candidates.first().unwrap_or(file).clone();
    let folder = planned.parent();
    // A project without tests gets a folder for them, as most have one.
    let is_first = folder == file.parent()
        && survey.tests.keys().all(|test| test.file_name() == "__init__.py");
    let is_searched = |one: &RepoPath| {
        let name = one.file_name();
        let is_sign =
            name == "__init__.py" || name.starts_with("test_") || one.stem().ends_with("_test");
        is_sign && one.parent() == folder
    };
    // unittest, as Django has it too, finds no tests in a folder of sources that is no package and has none.
    let is_hidden = || {
        framework.framework == Framework::Unittest
            && !folder.split('/').any(|part| ["test", "tests"].contains(&part))
            && !survey.names.iter().any(is_searched)
    };
    if planned.extension() == "py"
        && !folder.is_empty()
        && (is_first || is_hidden())
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
    (own, ran): (Option<Shares>, &ExecutedLines),
) -> Option<String> {
    if functions.is_empty() {
        return None;
    }
    let mut gaps = Vec::new();
    if !has_tests {
        gaps.push("no test belongs to it".to_owned());
    }
    if own.is_none() && ran.has_lines() && has_tests {
        gaps.push("none of its lines run".to_owned());
    }
    let own = own.unwrap_or_default();
    for (share, target, what) in [
        (own.line, ran.target.line, "lines run"),
        (own.branch, ran.target.branch, "branches are taken"),
    ] {
        if share.is_below(target) {
            let percent = share.percent().unwrap_or_default();
            gaps.push(format!("{} of {} {what} ({percent} %)", share.part, share.whole));
        }
    }
    let count = |functions: usize| u32::try_from(functions).unwrap_or(u32::MAX);
    let (whole, left) = (count(functions.len()), count(untested.len()));
    if (Share { part: whole - left, whole }).is_below(ran.target.function) {
        let names: Vec<String> =
            untested.iter().take(4).map(|one| format!("`{}`", one.name)).collect();
        let more = untested.len().saturating_sub(4);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let word = if ran.has_lines() { "no test enters" } else { "no test names" };
        gaps.push(format!("{word} {}{more}", names.join(", ")));
    }
    (!gaps.is_empty()).then(|| gaps.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_coverage_is_said_with_its_source() {
        let (file, format) = ("x.lcov".to_owned(), "lcov".to_owned());
        let table = [
            (
                CoverageSource::Measured { command: "cov".into(), format: format.clone() },
                "tests reach 1 of 4 files, lines 50 %; measured by `cov`",
            ),
            (
                CoverageSource::Report { file, format },
                "tests reach 1 of 4 files, lines 50 %; read from x.lcov (lcov)",
            ),
            (
                CoverageSource::NoTests { command: "cov".into() },
                "1 of 4 files have tests; not measured: `cov` runs no test",
            ),
            (
                CoverageSource::by_names("no tool"),
                "1 of 4 files have tests; by names and imports only: no tool",
            ),
        ];
        for (source, expected) in table {
            let ran = ExecutedLines { source, ..ExecutedLines::default() };
            let line = Share { part: 4, whole: 8 };
            let shares = ran.has_lines().then(|| Shares { line, ..Shares::default() });
            assert_eq!(coverage((1, 4), shares, &ran), expected);
        }
    }
}
