//! Parsers for test report formats, one file for each; this file holds what they share.

pub mod closing;
pub mod ctest;
pub mod driver_lines;
pub mod gotest;
pub mod jest;
pub mod junit;
pub mod libtest;
pub mod rustc;
pub mod stack;
pub mod tap;
pub mod trx;
pub mod xml;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use regex::{Captures, Regex};
use serde::de::DeserializeOwned;

use crate::domain::declared::{Document, Held};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::{CaseKind, FailureText, Layer, Status, TestCase};
use crate::effect::RunError;

/// Bytes of a message that are kept.
pub const MESSAGE_LIMIT: usize = 4 << 10;

/// Bytes of a stack that are kept.
pub const STACK_LIMIT: usize = 16 << 10;

/// Bytes of a report that are read at most.
pub const REPORT_LIMIT: u64 = 512 << 20;

/// One test as a report describes it, before its paths are mapped into the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedTest {
    pub id: String,
    pub kind: CaseKind,
    /// Its outcome; `None` counts as passed.
    pub status: Option<Status>,
    /// Its file, absolute or relative to the suite's folder.
    pub file: Option<String>,
    pub line: Option<u32>,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    pub class: String,
    pub message: String,
    pub stack: String,
    pub retried: Retried,
}

impl ReportedTest {
    /// A failure of a suite rather than of one of its tests.
    fn problem(id: String, message: String) -> Self {
        let status = Some(Status::Failed);
        Self { id, kind: CaseKind::Hook, status, message, ..Self::default() }
    }
}

/// Whether a test that passed had failed before in the same run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retried {
    #[default]
    No,
    /// The writer says so.
    Marked,
    /// The report has the test again, with another outcome: a retry, unless they are two tests of one name.
    Repeated,
}

/// Where and why a report cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The line, counted from 1.
    pub line: u32,
    /// What was expected there.
    pub expected: String,
}

impl Unreadable {
    /// The error of a run that left this report.
    #[must_use]
    pub fn in_report(self, report: &Path) -> RunError {
        let (report, line) = (report.to_owned(), self.line);
        RunError::BadReport { report, line, expected: self.expected }
    }
}

/// What a run reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub cases: Vec<ReportedTest>,
    /// Failures of suites rather than of their tests, named after the suite.
    pub suite_problems: Vec<ReportedTest>,
    /// What each document declares of itself.
    pub documents: Vec<Document>,
    /// Whether the report reaches its end; unset after a crash in the middle of a run.
    pub complete: bool,
    /// What a person should know of how it was read.
    pub notices: Vec<String>,
}

impl Report {
    /// A complete report of these tests, which declares nothing.
    pub fn of(cases: Vec<ReportedTest>) -> Self {
        Self { cases, complete: true, ..Self::default() }
    }

    /// Adds what another document of the same run holds.
    pub fn add(&mut self, other: Self) {
        self.cases.extend(other.cases);
        self.suite_problems.extend(other.suite_problems);
        self.documents.extend(other.documents);
        self.notices.extend(other.notices);
    }

    /// All results: tests, and what failed around them.
    pub fn results(&self) -> impl Iterator<Item = &ReportedTest> {
        self.cases.iter().chain(&self.suite_problems)
    }

    pub fn has_failure(&self) -> bool {
        self.results().any(|test| test.status == Some(Status::Failed))
    }

    /// Takes tests that failed before they passed for failing ones where nothing but their place in the
    /// report says that they are the same, and the command failed.
    #[must_use]
    pub fn ended(mut self, is_success: bool) -> Self {
        for test in self.cases.iter_mut().filter(|test| test.retried == Retried::Repeated) {
            if !is_success {
                (test.status, test.retried) = (Some(Status::Failed), Retried::No);
            }
        }
        self
    }
}

/// Maps the paths of a report into the repository, and tests to their layers.
#[derive(Clone, Debug)]
pub struct PathMapper {
    /// Root of the checkout that was tested, as the child saw it.
    pub root: PathBuf,
    /// The suite's folder below the root; empty for the root.
    pub directory: String,
    /// Globs that assign tests to layers, applied before the built-in rules.
    pub layers: Vec<(globset::GlobMatcher, Layer)>,
}

impl PathMapper {
    /// The repository path of a path in a report; `None` when it lies outside.
    pub fn repo_path(&self, path: &str) -> Option<RepoPath> {
        let path = path.strip_prefix("file://").unwrap_or(path);
        let path = Path::new(path.trim_start_matches("./"));
        let relative = if path.is_absolute() {
            path.strip_prefix(&self.root).ok()?.to_path_buf()
        } else {
            let below = Path::new(&self.directory).join(path);
            if self.root.join(&below).is_file() { below } else { path.to_path_buf() }
        };
        let path = RepoPath::parse(relative.to_str()?).ok()?;
        let foreign = ["node_modules", ".venv", "venv", "site-packages"];
        let is_foreign = path.as_str().split('/').any(|part| foreign.contains(&part));
        // What Composer and Bundler install; deeper down, a vendor is a seller.
        let below = path.as_str().strip_prefix(&self.directory).unwrap_or(path.as_str());
        let is_vendored = below.trim_start_matches('/').starts_with("vendor/");
        (!is_foreign && !is_vendored).then_some(path)
    }

    fn layer(&self, file: Option<&RepoPath>, id: &str) -> Layer {
        let path = file.map_or(id, RepoPath::as_str);
        let configured = self.layers.iter().find(|(glob, _)| glob.is_match(path));
        let has = |parts: &[&str]| parts.iter().any(|part| path.contains(part));
        match configured {
            Some((_, layer)) => *layer,
            None if has(&["e2e", "cypress", "playwright"]) => Layer::EndToEnd,
            None if has(&["integration"]) => Layer::Integration,
            None => Layer::Unit,
        }
    }

    /// The test case, with repository paths and bounded texts.
    pub fn to_test_case(&self, test: &ReportedTest) -> TestCase {
        let file = test.file.as_deref().and_then(|path| self.repo_path(path));
        // The repository path makes an id that begins with a file equal on all machines.
        let rest = test.file.as_deref().and_then(|path| test.id.strip_prefix(path));
        let id = match (rest, &file) {
            (Some(rest), Some(file)) => format!("{file}{rest}"),
            (Some(_), None) | (None, _) => test.id.clone(),
        };
        let status = test.status.unwrap_or(Status::Passed);
        let failure = (status == Status::Failed).then(|| FailureText {
            class: bounded(&test.class, 200),
            message: bounded(&stack::without_environments(&test.message), MESSAGE_LIMIT),
            stack: bounded(&stack::without_environments(&test.stack), STACK_LIMIT),
            frames: stack::frames(&test.stack, self),
        });
        TestCase {
            layer: self.layer(file.as_ref(), &id),
            id: TestId(bounded(&id, 1000)),
            kind: test.kind,
            status,
            file,
            line: test.line,
            duration_ms: test.duration_ms,
            failure,
        }
    }
}

/// Cases sorted by id; a test that is reported twice keeps the worse status.
pub fn to_test_cases<'a>(
    tests: impl IntoIterator<Item = &'a ReportedTest>,
    paths: &PathMapper,
) -> Vec<TestCase> {
    let mut cases: Vec<TestCase> = tests.into_iter().map(|test| paths.to_test_case(test)).collect();
    let rank = |case: &TestCase| match case.status {
        Status::Failed => 0,
        Status::Passed => 1,
        Status::Skipped => 2,
    };
    cases.sort_by(|a, b| a.id.cmp(&b.id).then(rank(a).cmp(&rank(b))));
    cases.dedup_by(|later, first| later.id == first.id);
    cases
}

fn held_in(tests: &[ReportedTest]) -> Held {
    count_statuses(tests.iter().map(|test| test.status))
}

fn count_statuses(statuses: impl Iterator<Item = Option<Status>>) -> Held {
    let mut held = Held::default();
    for status in statuses {
        held.tests = held.tests.saturating_add(1);
        held.failed = held.failed.saturating_add(u32::from(status == Some(Status::Failed)));
        held.skipped = held.skipped.saturating_add(u32::from(status == Some(Status::Skipped)));
    }
    held
}

/// A test in the middle of which the process ended.
fn cut_short(id: String) -> ReportedTest {
    ReportedTest {
        id,
        status: Some(Status::Failed),
        message: "the process ended in the middle of the test".to_owned(),
        ..ReportedTest::default()
    }
}

/// Parses JSON of a runtime whose strings need not be Unicode, as those of Python and JavaScript: half of a
/// surrogate pair, such as `\udcff` for a byte that is not UTF-8, is kept as the six characters of its escape.
pub fn parse_json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    static ESCAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let pair = r"d[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}";
        Regex::new(&format!(r"(?i)\\\\|\\u(?:{pair}|(?P<half>d[89a-f][\da-f]{{2}}))")).ok()
    });
    serde_json::from_str(text).or_else(|error| {
        let Some(escapes) = &*ESCAPES else { return Err(error) };
        let mark = |found: &Captures<'_>| match found.name("half") {
            Some(half) => format!(r"\\u{}", half.as_str()),
            None => found[0].to_owned(),
        };
        serde_json::from_str(&escapes.replace_all(text, mark))
    })
}

/// Converts seconds to whole milliseconds; 0 for an invalid duration.
fn milliseconds(seconds: f64) -> u64 {
    let duration = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The first `limit` bytes of a text, cut between characters.
pub fn bounded(text: &str, limit: usize) -> String {
    text.get(..text.floor_char_boundary(limit)).unwrap_or_default().to_owned()
}

/// The last `limit` bytes of a text, cut between characters.
pub fn tail(text: &str, limit: usize) -> &str {
    let start = text.len().saturating_sub(limit);
    text.get(text.ceil_char_boundary(start)..).unwrap_or_default()
}

/// A text without terminal escape sequences.
pub fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            for inner in characters.by_ref() {
                if inner.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            out.push(character);
        }
    }
    out
}
