//! Parses JUnit XML of any tool as a stream.

use std::borrow::Cow;

use quick_xml::events::BytesStart;

use crate::domain::declared::{Declared, Document, Held};
use crate::domain::test::{CaseKind, Status};

use super::xml::{Piece, attribute, attributes, ends_before, read_pieces};
use super::{
    MESSAGE_LIMIT, Report, ReportedTest, Retried, STACK_LIMIT, Unreadable, bounded, ctest,
};

mod retries;
#[cfg(test)]
mod tests;

use retries::{RETRY_PROPERTIES, merge_retries};

/// Reads a report. Ids are `class::name`; a `file` attribute goes before them with `::` when no
/// class is named. External entities are never resolved, and unknown ones are kept as text.
/// Fails with [`Unreadable`] when the text is not XML or holds no `testsuite`.
pub fn parse(text: &str) -> Result<Report, Unreadable> {
    let mut parser = Parser::default();
    read_pieces(text, "JUnit XML", |piece| match piece {
        Piece::Open(element) => parser.open_element(element),
        Piece::Text(text) => parser.collect(text),
        Piece::Close(name) => parser.close_element(name),
    })?;
    parser.into_report().map_err(|expected| ends_before(expected, text))
}

/// A `testsuite` or `testsuites` that is open.
#[derive(Default)]
struct Suite {
    name: String,
    file: Option<String>,
    /// Whether it is a `testsuite`, whose own failures belong to it.
    is_named: bool,
    declared: Declared,
    held: Held,
    /// Tests that the suites inside declare and do not hold.
    missing_inside: u32,
    /// Whether its number of tests is one of assertions, as Catch2 and doctest write it.
    counts_assertions: bool,
    /// Whether its writer reports every run of a test that is retried.
    shows_retries: bool,
    has_disabled: bool,
    /// Its first case among those of the report.
    first: usize,
}

impl Suite {
    /// The tests that it declares and does not hold. Where it declares none, those of the suites inside:
    /// what a suite around them counts is what ran, and some writers count more in those inside.
    fn missing_tests(&self) -> u32 {
        let Held { tests, skipped, .. } = self.held;
        let Some(all) = self.declared.tests else { return self.missing_inside };
        if self.counts_assertions {
            return 0;
        }
        let to_run = all.saturating_sub(self.declared.skipped.unwrap_or(0));
        all.saturating_sub(tests).min(to_run.saturating_sub(tests - skipped))
    }
}

#[derive(Default)]
struct Parser {
    report: Report,
    open: Vec<Suite>,
    seen_suite: bool,
    case: Option<ReportedTest>,
    /// Whether the case may fail, such as one that is still to be written.
    is_todo: bool,
    /// Whether its writer says that the case did not run, of which the reason decides.
    did_not_run: bool,
    /// Failure of a suite that is being read.
    problem: Option<ReportedTest>,
    collecting: bool,
}

impl Parser {
    fn open_element(&mut self, element: &BytesStart<'_>) {
        match element.local_name().as_ref() {
            b"testsuite" | b"testsuites" => {
                self.seen_suite = true;
                self.open.push(open_suite(element, self.report.cases.len()));
            }
            b"testcase" => self.open_case(element),
            name => match (&mut self.case, self.open.last_mut()) {
                (Some(case), _) => {
                    if name == b"skipped" {
                        let of = |name| attribute(element, name).unwrap_or_default();
                        let reason = of("message");
                        // Node.js and Catch2.
                        self.is_todo = of("type") == "todo" || reason.contains("!mayfail");
                        if self.did_not_run && !reason.is_empty() && ctest::is_mishap(&reason) {
                            (case.status, case.message) = (Some(Status::Failed), reason);
                        }
                    }
                    self.collecting = read_outcome(name, element, case);
                    self.note_outcome(name);
                }
                (None, Some(suite)) if name == b"property" => {
                    let name = attribute(element, "name").unwrap_or_default();
                    suite.shows_retries |= RETRY_PROPERTIES.iter().any(|part| name.contains(part));
                }
                (None, Some(suite)) if matches!(name, b"failure" | b"error") => {
                    let mut problem = problem_of(suite);
                    self.collecting = read_outcome(name, element, &mut problem);
                    self.problem = Some(problem);
                }
                (None, _) => {}
            },
        }
    }

    fn open_case(&mut self, element: &BytesStart<'_>) {
        let mut test = ReportedTest::default();
        let (mut class, mut name) = (Cow::default(), Cow::default());
        let (mut ran, mut has_result) = (false, false);
        (self.is_todo, self.did_not_run) = (false, false);
        for (key, value) in attributes(element) {
            match key {
                b"classname" => class = value,
                b"name" => name = value,
                b"file" => test.file = Some(value.into_owned()),
                b"line" => test.line = value.parse().ok(),
                b"time" => test.duration_ms = milliseconds(&value),
                b"status" | b"result" => {
                    test.status = test.status.or_else(|| status_of(&value));
                    has_result |= key == b"result";
                    ran |= value == "run";
                    self.did_not_run |= value == "notrun";
                }
                _ => {}
            }
        }
        test.id = id(test.file.as_deref(), &class, &name);
        self.case = Some(test);
        if let Some(suite) = self.open.last_mut() {
            suite.counts_assertions |= !suite.has_disabled && ran && !has_result;
        }
    }

    /// Counts every outcome, as some writers declare several of one test: as failures, and each further run as
    /// a test.
    fn note_outcome(&mut self, name: &[u8]) {
        let Some(suite) = self.open.last_mut() else { return };
        let is_retry =
            matches!(name, b"flakyFailure" | b"flakyError" | b"rerunFailure" | b"rerunError");
        suite.held.tests += u32::from(is_retry);
        suite.held.failed += u32::from(is_retry || matches!(name, b"failure" | b"error"));
    }

    fn close_element(&mut self, name: &[u8]) {
        match name {
            b"testsuite" | b"testsuites" => self.close_suite(),
            b"testcase" => self.close_case(),
            b"failure" | b"error" => {
                self.collecting = false;
                if let Some(problem) = self.problem.take() {
                    self.add_problem(finish(problem));
                }
            }
            _ => {}
        }
    }

    fn close_case(&mut self) {
        let Some(mut case) = self.case.take().map(finish) else { return };
        if self.is_todo {
            case = ReportedTest { message: String::new(), stack: String::new(), ..case };
            case.status = Some(Status::Skipped);
        }
        let suite = self.open.last_mut();
        if let Some(Suite { name, held, .. }) = suite.as_deref()
            && case.status == Some(Status::Failed)
            && case.id == format!("{name}::{name}")
        {
            // Vitest names what fails outside of the tests of a file like the file.
            let is_first = held.tests == 0;
            case.kind = if is_first { CaseKind::Unloaded } else { CaseKind::Hook };
            case.id = if is_first { name.clone() } else { case.id };
        }
        let problem = suite.as_deref().map(problem_of).filter(|_| case.id.is_empty());
        if let Some(suite) = suite {
            suite.held.tests += 1;
            suite.held.skipped += u32::from(case.status == Some(Status::Skipped));
        }
        let is_repeated = case.kind == CaseKind::Prerequisite
            && self.report.cases.last().is_some_and(|last| last.id == case.id);
        match problem {
            // jest-junit writes the error of a file twice, without its text the second time.
            _ if is_repeated => {}
            // A set-up of all suites, or a test in the middle of which the run was given up.
            Some(problem) if case.status != Some(Status::Skipped) => {
                if case.message.is_empty() {
                    "the run ended in the middle of a test that the report does not name"
                        .clone_into(&mut case.message);
                }
                let (message, stack) = (case.message, case.stack);
                self.report.suite_problems.push(ReportedTest { message, stack, ..problem });
            }
            _ => self.report.cases.push(case),
        }
    }

    fn add_problem(&mut self, problem: ReportedTest) {
        if let Some(suite) = self.open.last_mut() {
            suite.held.failed += 1;
        }
        self.report.suite_problems.push(problem);
    }

    fn close_suite(&mut self) {
        let is_of_pytest =
            self.open.iter().any(|one| ["pytest", "pytest tests"].contains(&one.name.as_str()));
        let Some(last) = self.open.last_mut() else { return };
        let (declared, held) = (last.declared.failed(), last.held.failed);
        if last.is_named && declared > held {
            let mut problem = problem_of(last);
            let noun = if declared == 1 { "failure or error" } else { "failures or errors" };
            problem.message = format!("the suite declares {declared} {noun} and holds {held}");
            // It stands for all that are missing.
            last.held.failed = declared;
            self.report.suite_problems.push(problem);
        } else if is_of_pytest {
            // It counts subtests, which are no cases, and counts what it reported at the end.
            last.declared.tests = last.declared.tests.min(Some(last.held.tests));
        }
        let Some(suite) = self.open.pop() else { return };
        let repeated = merge_retries(&mut self.report.cases, &suite);
        if self.report.notices.is_empty() {
            self.report.notices.extend(repeated);
        }
        let Held { tests, failed, skipped } = suite.held;
        let missing = suite.missing_tests();
        if let Some(outer) = self.open.last_mut() {
            outer.held.tests += tests;
            outer.held.failed += failed;
            outer.held.skipped += skipped;
            outer.missing_inside = outer.missing_inside.saturating_add(missing);
            outer.counts_assertions |= suite.counts_assertions;
            // Two suites have two tests of one name.
            outer.first = self.report.cases.len();
            return;
        }
        let all = suite.declared.tests.unwrap_or_else(|| tests.saturating_add(missing));
        let declared = Declared {
            tests: (!suite.counts_assertions).then_some(all),
            skipped: suite.declared.skipped.or(Some(skipped)),
            ..suite.declared
        };
        self.report.documents.push(Document { name: String::new(), declared, held: suite.held });
    }

    fn collect(&mut self, piece: &str) {
        if !self.collecting {
            return;
        }
        let Some(test) = self.problem.as_mut().or(self.case.as_mut()) else { return };
        test.stack.push_str(&bounded(piece, STACK_LIMIT.saturating_sub(test.stack.len())));
    }

    /// The whole report; what is missing to make it one otherwise.
    fn into_report(self) -> Result<Report, &'static str> {
        if self.case.is_some() {
            return Err("the end of an open `testcase`");
        }
        if !self.open.is_empty() {
            return Err("the end of an open `testsuite`");
        }
        if !self.seen_suite {
            return Err("a `testsuite` element");
        }
        Ok(Report { complete: true, ..self.report })
    }
}

fn open_suite(element: &BytesStart<'_>, first: usize) -> Suite {
    let is_named = element.local_name().as_ref() == b"testsuite";
    let mut suite = Suite { is_named, first, ..Suite::default() };
    for (key, value) in attributes(element) {
        let number = || value.trim().parse::<u32>().ok();
        let declared = &mut suite.declared;
        match key {
            b"name" => suite.name = value.into_owned(),
            b"file" | b"filepath" => suite.file = Some(value.into_owned()),
            b"tests" => declared.tests = number(),
            b"failures" => declared.failures = number(),
            b"errors" => declared.errors = number(),
            b"skipped" | b"disabled" | b"skip" | b"ignored" => {
                suite.has_disabled |= key == b"disabled";
                let so_far = declared.skipped.unwrap_or(0);
                declared.skipped =
                    number().map(|more| so_far.saturating_add(more)).or(declared.skipped);
            }
            _ => {}
        }
    }
    suite
}

/// A failure of the suite itself, such as a fixture outside of its tests.
fn problem_of(suite: &Suite) -> ReportedTest {
    let unnamed = || suite.file.clone().unwrap_or_else(|| "the suite".to_owned());
    let id = if suite.name.is_empty() { unnamed() } else { suite.name.clone() };
    ReportedTest::problem(id, String::new())
}

fn id(file: Option<&str>, class: &str, name: &str) -> String {
    let owner = if class.is_empty() { file.unwrap_or_default() } else { class };
    // The failed set-up of a class is reported as a test without a name.
    match (owner.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (false, true) => owner.to_owned(),
        (false, false) => [owner, "::", name].concat(),
    }
}

/// What writers say of a test in an attribute rather than an element; `None` where it passed or an
/// element says how it ended.
fn status_of(word: &str) -> Option<Status> {
    let word: String = word.chars().filter(char::is_ascii_alphabetic).collect();
    match word.to_ascii_lowercase().as_str() {
        // GoogleTest, CTest, NUnit, xUnit.net, Ginkgo, behave.
        "notrun" | "disabled" | "ignored" | "ignore" | "skipped" | "skip" | "suppressed"
        | "inconclusive" | "notexecuted" | "notrunnable" | "pending" => Some(Status::Skipped),
        // To behave, a scenario is untested that was to run.
        "untested" | "failed" | "fail" | "failure" | "error" | "errored" | "broken" | "timeout"
        | "timedout" | "aborted" | "crashed" | "panicked" | "interrupted" | "undefined" => {
            Some(Status::Failed)
        }
        _ => None,
    }
}

/// Parses seconds. Of two separators the last is the decimal point; one comma before three digits
/// separates thousands, as Surefire writes them.
fn milliseconds(seconds: &str) -> u64 {
    let seconds = seconds.trim();
    let comma = seconds.rfind(',').filter(|at| {
        let has_points = seconds.contains('.');
        let is_last = seconds.rfind('.').is_none_or(|point| point < *at);
        is_last && (has_points || seconds.len() - at != 4)
    });
    let point = comma.or_else(|| seconds.rfind('.'));
    let (whole, part) = point.and_then(|at| seconds.split_at_checked(at)).unwrap_or((seconds, ""));
    let digits = |text: &str| {
        text.bytes()
            .filter(u8::is_ascii_digit)
            .map(|b| u64::from(b - b'0'))
            .fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(digit))
    };
    let places = [100, 10, 1];
    let thousandths: u64 = part
        .bytes()
        .skip(1)
        .zip(places)
        .map(|(byte, worth)| if byte.is_ascii_digit() { u64::from(byte - b'0') * worth } else { 0 })
        .sum();
    digits(whole).saturating_mul(1000).saturating_add(thousandths)
}

/// Records what an element inside a case or suite says; returns whether its text is to be collected.
fn read_outcome(name: &[u8], element: &BytesStart<'_>, case: &mut ReportedTest) -> bool {
    match name {
        b"failure" | b"error" => {
            case.status = Some(Status::Failed);
            for (key, value) in attributes(element) {
                match key {
                    b"message" if case.message.is_empty() => {
                        case.message = bounded(&value, MESSAGE_LIMIT);
                    }
                    b"type" if case.class.is_empty() => case.class = bounded(&value, 200),
                    _ => {}
                }
            }
            true
        }
        // JUnit calls a test aborted whose assumption does not hold.
        b"skipped" | b"disabled" | b"ignored" | b"notrun" | b"inconclusive" | b"aborted" => {
            // A status beside it says no more than it does; a failure before it stays one.
            if case.status != Some(Status::Failed) {
                case.status = Some(Status::Skipped);
            }
            false
        }
        b"flakyFailure" | b"flakyError" => {
            case.retried = Retried::Marked;
            false
        }
        _ => false,
    }
}

/// How Mocha names hooks that fail, which stand in the place of the tests around which they run.
const HOOKS: &[&str] =
    &["\"before all\" hook", "\"before each\" hook", "\"after all\" hook", "\"after each\" hook"];

/// What a failing entry is: a file that does not load is reported as a test, too. The tests of jest-junit
/// do not say that they are of it.
fn kind_of(case: &ReportedTest) -> CaseKind {
    if HOOKS.iter().any(|hook| case.id.contains(hook)) {
        CaseKind::Hook
    } else if case.message == "collection failure" {
        CaseKind::Unloaded
    } else if case.id.starts_with("Test suite failed to run::") {
        CaseKind::Prerequisite
    } else {
        CaseKind::Test
    }
}

fn finish(mut case: ReportedTest) -> ReportedTest {
    if case.status == Some(Status::Failed) {
        case.kind = kind_of(&case);
        case.retried = Retried::No;
    }
    if case.status == Some(Status::Failed) && case.message.is_empty() {
        let is_heading = |line: &str| line.is_empty() || line.starts_with("● Test suite failed");
        let first = case.stack.lines().find(|line| !is_heading(line.trim()));
        case.message = bounded(first.unwrap_or("the report gives no reason").trim(), MESSAGE_LIMIT);
    }
    // Gradle repeats the class in the message.
    let repeated = case.message.strip_prefix(case.class.as_str());
    if let Some(rest) = repeated.and_then(|rest| rest.strip_prefix(": ")) {
        case.message = rest.to_owned();
    }
    case
}
