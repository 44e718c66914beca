//! Parses JUnit XML of any tool as a stream.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::domain::declared::{Declared, Document, Held};
use crate::domain::test::{CaseKind, Status};

use super::xml::{attribute, attributes, line_at, resolve_reference};
use super::{MESSAGE_LIMIT, Report, ReportedTest, Retried, STACK_LIMIT, Unreadable, bounded};

/// Reads a report. Ids are `class::name`; a `file` attribute goes before them with `::` when no
/// class is named. External entities are never resolved, and unknown ones are kept as text.
/// Fails with [`Unreadable`] when the text is not XML or holds no `testsuite`.
pub fn parse(text: &str) -> Result<Report, Unreadable> {
    let mut reader = Reader::from_str(text);
    let mut parser = Parser::default();
    loop {
        let event = reader.read_event().map_err(|error| Unreadable {
            line: line_at(text, reader.error_position()),
            expected: format!("JUnit XML ({error})"),
        })?;
        match event {
            Event::Start(element) => parser.open_element(&element),
            Event::Empty(element) => {
                parser.open_element(&element);
                parser.close_element(element.local_name().as_ref());
            }
            Event::Text(piece) => parser.collect(&piece.decode().unwrap_or_default()),
            Event::CData(piece) => parser.collect(&piece.decode().unwrap_or_default()),
            Event::GeneralRef(name) if parser.collecting => {
                parser.collect(&resolve_reference(&name));
            }
            Event::End(element) => parser.close_element(element.local_name().as_ref()),
            Event::Eof => {
                return parser.into_report().map_err(|expected| Unreadable {
                    line: u32::try_from(text.lines().count().max(1)).unwrap_or(u32::MAX),
                    expected: expected.to_owned(),
                });
            }
            _ => {}
        }
    }
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
            b"testcase" => {
                self.case = Some(read_case(element));
                if let Some(suite) = self.open.last_mut() {
                    let has = |name: &str| attribute(element, name);
                    suite.counts_assertions |= !suite.has_disabled
                        && has("status").as_deref() == Some("run")
                        && has("result").is_none();
                }
            }
            name => match (&mut self.case, self.open.last()) {
                (Some(case), _) => {
                    self.collecting = read_outcome(name, element, case);
                    self.note_outcome(name);
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

    /// Counts every outcome, as some writers declare several of one test.
    fn note_outcome(&mut self, name: &[u8]) {
        let Some(suite) = self.open.last_mut() else { return };
        match name {
            b"failure" | b"error" | b"flakyFailure" | b"flakyError" | b"rerunFailure"
            | b"rerunError" => suite.held.failed += 1,
            _ => {}
        }
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
        let Some(case) = self.case.take().map(finish) else { return };
        if let Some(suite) = self.open.last_mut() {
            suite.held.tests += 1;
            suite.held.skipped += u32::from(case.status == Some(Status::Skipped));
        }
        self.report.cases.push(case);
    }

    fn add_problem(&mut self, problem: ReportedTest) {
        if let Some(suite) = self.open.last_mut() {
            suite.held.failed += 1;
        }
        self.report.suite_problems.push(problem);
    }

    fn close_suite(&mut self) {
        let Some(last) = self.open.last() else { return };
        let (declared, held) = (last.declared.failed(), last.held.failed);
        if last.is_named && declared > held {
            let mut problem = problem_of(last);
            let noun = if declared == 1 { "failure or error" } else { "failures or errors" };
            problem.message = format!("the suite declares {declared} {noun} and holds {held}");
            self.add_problem(problem);
        }
        let Some(suite) = self.open.pop() else { return };
        merge_retries(&mut self.report.cases, suite.first);
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
    ReportedTest {
        id: if suite.name.is_empty() { unnamed() } else { suite.name.clone() },
        kind: CaseKind::Hook,
        status: Some(Status::Failed),
        ..ReportedTest::default()
    }
}

/// Makes one test of the runs of a test that its suite holds several times: it passed where its last run
/// did, and failed where all runs failed alike. Other tests of one name are several.
fn merge_retries(cases: &mut Vec<ReportedTest>, first: usize) {
    let of_suite = cases.get(first..).unwrap_or_default();
    let mut seen = HashSet::with_capacity(of_suite.len());
    if of_suite.iter().all(|case| seen.insert((&case.id, case.file.as_deref()))) {
        return;
    }
    let mut runs: BTreeMap<(&str, Option<&str>), Vec<usize>> = BTreeMap::new();
    for (at, case) in of_suite.iter().enumerate() {
        runs.entry((&case.id, case.file.as_deref())).or_default().push(first + at);
    }
    let mut superseded = BTreeSet::new();
    let mut merged = Vec::new();
    for runs in runs.into_values() {
        let Some((last, earlier)) = runs.split_last().filter(|(_, earlier)| !earlier.is_empty())
        else {
            continue;
        };
        let failed = |at: &usize| cases.get(*at).filter(|one| one.status == Some(Status::Failed));
        let Some(failure) = earlier.iter().find_map(failed) else { continue };
        let again = failed(last);
        let is_alike = |other: &ReportedTest| {
            (&other.class, &other.message) == (&failure.class, &failure.message)
        };
        let all_alike = earlier.iter().all(|at| failed(at).is_some_and(is_alike));
        if again.is_some_and(|again| all_alike && is_alike(again)) {
            superseded.extend(earlier.iter().copied());
        } else if again.is_none()
            && let Some(passed) = cases.get(*last).filter(|one| one.status != Some(Status::Skipped))
        {
            superseded.extend(earlier.iter().copied());
            let place = (passed.duration_ms, Some(Status::Passed), Retried::Repeated);
            let mut test = failure.clone();
            (test.duration_ms, test.status, test.retried) = place;
            merged.push((*last, test));
        }
    }
    for (at, test) in merged {
        if let Some(case) = cases.get_mut(at) {
            *case = test;
        }
    }
    let mut at = 0;
    cases.retain(|_| {
        at += 1;
        !superseded.contains(&(at - 1))
    });
}

fn read_case(element: &BytesStart<'_>) -> ReportedTest {
    let mut test = ReportedTest::default();
    let (mut class, mut name) = (Cow::default(), Cow::default());
    for (key, value) in attributes(element) {
        match key {
            b"classname" => class = value,
            b"name" => name = value,
            b"file" => test.file = Some(value.into_owned()),
            b"line" => test.line = value.parse().ok(),
            b"time" => test.duration_ms = milliseconds(&value),
            b"status" | b"result" => test.status = test.status.or_else(|| status_of(&value)),
            _ => {}
        }
    }
    test.id = id(test.file.as_deref(), &class, &name);
    test
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
        | "inconclusive" | "notexecuted" | "notrunnable" | "pending" | "untested" => {
            Some(Status::Skipped)
        }
        "failed" | "fail" | "failure" | "error" | "errored" | "broken" | "timeout" | "timedout"
        | "aborted" | "crashed" | "panicked" | "interrupted" | "undefined" => Some(Status::Failed),
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
        b"skipped" | b"disabled" | b"ignored" | b"notrun" | b"inconclusive" => {
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

fn finish(mut case: ReportedTest) -> ReportedTest {
    if case.status == Some(Status::Failed) {
        case.retried = Retried::No;
    }
    if case.status == Some(Status::Failed) && case.message.is_empty() {
        let first = case.stack.lines().find(|line| !line.trim().is_empty());
        case.message = bounded(first.unwrap_or_default().trim(), MESSAGE_LIMIT);
    }
    // Gradle repeats the class in the message.
    let repeated = case.message.strip_prefix(case.class.as_str());
    if let Some(rest) = repeated.and_then(|rest| rest.strip_prefix(": ")) {
        case.message = rest.to_owned();
    }
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::Objection;

    #[test]
    fn every_outcome_is_read() {
        let text = r#"<?xml version="1.0"?>
<testsuites><testsuite name="s" tests="4">
  <testcase classname="a.B" name="ok" time="0.25"/>
  <testcase classname="a.B" name="bad" time="1,002.5" file="a/b.py" line="7">
    <failure message="1 &lt; 2" type="AssertionError">line one &amp; <![CDATA[<two>]]></failure>
  </testcase>
  <testcase classname="a.B" name="boom"><error>Traceback
  last</error></testcase>
  <testcase classname="a.Setup" name=""><error message="b.E: no" type="b.E">b.E: no</error></testcase>
  <testcase name="skip"><skipped/></testcase>
</testsuite></testsuites>"#;
        let tests = parse(text).unwrap().cases;
        let short: Vec<_> =
            tests.iter().map(|t| (t.id.as_str(), t.status, t.duration_ms)).collect();
        assert_eq!(
            short,
            [
                ("a.B::ok", None, 250),
                ("a.B::bad", Some(Status::Failed), 1_002_500),
                ("a.B::boom", Some(Status::Failed), 0),
                ("a.Setup", Some(Status::Failed), 0),
                ("skip", Some(Status::Skipped), 0),
            ]
        );
        assert_eq!(tests[1].message, "1 < 2");
        assert_eq!(tests[1].stack, "line one & <two>");
        assert_eq!(tests[2].message, "Traceback");
        assert_eq!(tests[3].message, "no");
    }

    /// The objections to a report, with its failing results.
    fn objections_to(text: &str) -> (Vec<String>, Vec<String>) {
        let report = parse(text).unwrap();
        let failed = report.results().filter(|test| test.status == Some(Status::Failed));
        let failed = failed.map(|test| format!("{}: {}", test.id, test.message)).collect();
        let clauses = crate::domain::declared::objections(&report.documents, false, None);
        (clauses.iter().map(Objection::clause).collect(), failed)
    }

    #[test]
    fn what_a_suite_declares_is_held_against_what_it_holds() {
        let case = r#"<testcase name="a"/>"#;
        let fails = r#"<testcase name="a"><failure message="no"/></testcase>"#;
        let table: [(&str, String, &[&str], &[&str]); 16] = [
            ("silent", format!("<testsuite>{case}</testsuite>"), &[], &[]),
            ("equal", format!(r#"<testsuite tests="1" failures="0">{case}</testsuite>"#), &[], &[]),
            (
                "missing tests",
                format!(r#"<testsuite tests="9" skipped="0">{case}</testsuite>"#),
                &["the report declares 9 tests and holds 1"],
                &[],
            ),
            (
                "missing in one of two suites",
                format!(
                    r#"<testsuites><testsuite tests="1">{case}</testsuite><testsuite tests="2">{case}</testsuite></testsuites>"#
                ),
                &["the report declares 3 tests and holds 2"],
                &[],
            ),
            (
                "missing in one of two suites, and more in the other",
                format!(
                    r#"<testsuites><testsuite tests="1">{case}{case}{case}</testsuite><testsuite tests="3">{case}</testsuite></testsuites>"#
                ),
                &["the report declares 6 tests and holds 4"],
                &[],
            ),
            (
                "one number as failures and as errors (Mocha)",
                format!(r#"<testsuite name="s" failures="1" errors="1">{fails}</testsuite>"#),
                &[],
                &["a: no"],
            ),
            (
                "the root counts what ran, a suite what was written down (mocha-junit-reporter, --grep)",
                format!(
                    r#"<testsuites tests="1"><testsuite name="s" tests="4">{case}</testsuite></testsuites>"#
                ),
                &[],
                &[],
            ),
            (
                "skipped tests that are left out (behave --no-skipped)",
                format!(r#"<testsuite tests="3" skipped="2">{case}</testsuite>"#),
                &[],
                &[],
            ),
            (
                "assertions, not tests (Catch2, doctest)",
                r#"<testsuite tests="7" failures="0"><testcase name="a" status="run"/></testsuite>"#
                    .to_owned(),
                &[],
                &[],
            ),
            (
                "tests of GoogleTest",
                r#"<testsuites tests="2" disabled="0"><testsuite tests="2" disabled="0"><testcase name="a" status="run"/></testsuite></testsuites>"#
                    .to_owned(),
                &["the report declares 2 tests and holds 1"],
                &[],
            ),
            (
                "an error of the suite",
                format!(
                    r#"<testsuite name="s" errors="1"><error message="no database"/>{case}</testsuite>"#
                ),
                &[],
                &["s: no database"],
            ),
            (
                "an error that the suite only counts",
                format!(r#"<testsuite name="s" errors="1">{case}</testsuite>"#),
                &[],
                &["s: the suite declares 1 failure or error and holds 0"],
            ),
            (
                "an error that only the root counts",
                format!(r#"<testsuites errors="1"><testsuite name="s">{case}</testsuite></testsuites>"#),
                &["the report declares 1 failure and holds 0"],
                &[],
            ),
            (
                "a failure and an error of one test (pytest)",
                r#"<testsuite tests="1" failures="1" errors="1"><testcase name="a"><failure message="no"/></testcase><testcase name="a"><error message="teardown"/></testcase></testsuite>"#
                    .to_owned(),
                &[],
                &["a: no", "a: teardown"],
            ),
            (
                "a failure that is there",
                format!(r#"<testsuite name="s" tests="1" failures="1">{fails}</testsuite>"#),
                &[],
                &["a: no"],
            ),
            (
                "nested suites (PHPUnit)",
                format!(
                    r#"<testsuites><testsuite name="o" tests="2" failures="1"><testsuite name="i" tests="1" failures="1">{fails}</testsuite><testsuite tests="1" failures="0">{case}</testsuite></testsuite></testsuites>"#
                ),
                &[],
                &["a: no"],
            ),
        ];
        for (why, text, clauses, failed) in table {
            let (found, failing) = objections_to(&text);
            assert_eq!(
                (&found[..], &failing[..]),
                (&to_owned(clauses)[..], &to_owned(failed)[..]),
                "{why}"
            );
        }
    }

    fn to_owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_test_that_did_not_run_never_counts_as_passed() {
        let table = [
            (r#"status="run" result="completed""#, "", None),
            (r#"status="notrun" result="suppressed""#, "", Some(Status::Skipped)),
            (r#"status="disabled""#, "", Some(Status::Skipped)),
            (r#"status="Not_Run""#, "", Some(Status::Skipped)),
            (r#"result="Inconclusive""#, "", Some(Status::Skipped)),
            (r#"status="ignored""#, "", Some(Status::Skipped)),
            (r#"status="passed""#, "", None),
            (r#"status="failed""#, "", Some(Status::Failed)),
            ("", "<skipped/>", Some(Status::Skipped)),
            ("", "<disabled/>", Some(Status::Skipped)),
            (r#"status="passed""#, "<skipped/>", Some(Status::Skipped)),
            ("", "<failure/><skipped/>", Some(Status::Failed)),
            ("", "<skipped/><failure/>", Some(Status::Failed)),
        ];
        for (attributes, inside, expected) in table {
            let text = format!(
                r#"<testsuite><testcase name="a" {attributes}>{inside}</testcase></testsuite>"#
            );
            assert_eq!(parse(&text).unwrap().cases[0].status, expected, "{attributes} {inside}");
        }
    }

    #[test]
    fn runs_of_one_test_are_told_from_tests_of_one_name() {
        use Status::{Failed, Passed};
        let fail = |message: &str| {
            format!(r#"<testcase name="a"><failure message="{message}"/></testcase>"#)
        };
        let pass = r#"<testcase name="a"/>"#;
        let flaky = r#"<testcase name="a"><flakyFailure message="no"/></testcase>"#;
        let table = [
            (
                "a retry that passed",
                fail("no") + pass,
                true,
                vec![(Some(Passed), Retried::Repeated)],
            ),
            (
                "in a command that failed",
                fail("no") + pass,
                false,
                vec![(Some(Failed), Retried::No)],
            ),
            (
                "retries that failed alike",
                fail("no") + &fail("no"),
                false,
                vec![(Some(Failed), Retried::No)],
            ),
            (
                "two tests",
                fail("no") + &fail("never"),
                false,
                vec![(Some(Failed), Retried::No), (Some(Failed), Retried::No)],
            ),
            (
                "two tests that pass",
                pass.repeat(2),
                true,
                vec![(None, Retried::No), (None, Retried::No)],
            ),
            (
                "one that fails last",
                pass.to_owned() + &fail("no"),
                true,
                vec![(None, Retried::No), (Some(Failed), Retried::No)],
            ),
            ("marked by Surefire", flaky.to_owned(), false, vec![(None, Retried::Marked)]),
        ];
        for (why, cases, is_success, expected) in table {
            let report =
                parse(&format!("<testsuite>{cases}</testsuite>")).unwrap().ended(is_success);
            let found: Vec<_> = report.cases.iter().map(|one| (one.status, one.retried)).collect();
            assert_eq!(found, expected, "{why}");
        }
        let apart = format!(
            "<testsuites><testsuite>{}</testsuite><testsuite>{pass}</testsuite></testsuites>",
            fail("no")
        );
        assert_eq!(parse(&apart).unwrap().cases.len(), 2, "two suites have two tests");
    }

    #[test]
    fn seconds_are_read_with_the_separators_of_any_writer() {
        let table = [
            ("0.25", 250),
            ("1,204.5", 1_204_500),
            ("1,204", 1_204_000),
            ("0,25", 250),
            ("1.204,5", 1_204_500),
            ("12,345,678.001", 12_345_678_001),
            (" 2 ", 2_000),
            ("", 0),
            ("NaN", 0),
        ];
        for (text, expected) in table {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }

    #[test]
    fn a_case_has_the_same_id_however_it_is_written() {
        let table: [(&str, &[&str]); 9] = [
            (r#" <testcase classname="a.B" name="c" time="1.5"/> x"#, &["a.B::c"]),
            (r#"<testcase name='c "d"' file="a.py"></testcase>"#, &[r#"a.py::c "d""#]),
            ("<testcase name=\"c\" >\n  </testcase>", &["c"]),
            (r#"<testcase name="c"><failure/></testcase>"#, &["c"]),
            (r#"<testcase name="c &amp; d"/>"#, &["c & d"]),
            (r#"<testcase name="c"classname="d"/>"#, &["d::c"]),
            (r#"<testcase x:name="c"/>"#, &["c"]),
            (r#"<testcases name="c"/>"#, &[]),
            ("", &[]),
        ];
        for (text, expected) in table {
            let tests = parse(&format!("<testsuite>{text}</testsuite>")).unwrap().cases;
            let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
            assert_eq!(ids, expected, "{text}");
        }
        for cut in [r#"<testcase name="c"#, r#"<testcase name="c" "#, "<testcase"] {
            assert!(parse(&format!("<testsuite>{cut}")).is_err(), "{cut}");
        }
    }

    #[test]
    fn a_broken_report_names_its_line() {
        let cut = "<testsuite>\n<testcase name=\"a\">\n<failure>";
        assert_eq!(parse(cut).unwrap_err().line, 3);
        assert!(parse("").is_err());
        assert!(parse("<html/>").is_err(), "XML that is no report");
    }

    #[test]
    fn an_entity_bomb_expands_to_nothing() {
        let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>\
                    <testsuite><testcase name=\"a\"><failure>&b;&b;</failure></testcase></testsuite>";
        let tests = parse(bomb).unwrap().cases;
        assert_eq!(tests[0].stack, "??");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            if let Ok(report) = parse(&text) {
                proptest::prop_assert!(report.cases.len() <= text.len());
            }
        }
    }
}
