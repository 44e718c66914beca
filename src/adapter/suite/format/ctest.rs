//! Parses the JUnit XML of CTest, and the cases of GoogleTest in the output of its tests.

use quick_xml::events::BytesStart;

use crate::code::pattern::Pattern;
use crate::domain::declared::{Declared, Document};
use crate::domain::test::{CaseKind, Status};

use super::xml::{Piece, attribute, attributes, ends_before, read_pieces};
use super::{
    MESSAGE_LIMIT, Report, ReportedTest, STACK_LIMIT, Unreadable, bounded, held_in, milliseconds,
    tail,
};

/// One test as CTest reports it.
#[derive(Default)]
struct Case {
    name: String,
    seconds: f64,
    status: String,
    /// Why it failed or did not run.
    reason: String,
    output: String,
}

/// Reads a report. A test whose output has several cases of GoogleTest, or one of another name, is
/// replaced by these; their ids are `test > Suite.Case`.
/// Fails with [`Unreadable`] when the text is not XML or holds no `testsuite`.
pub fn parse(text: &str) -> Result<Report, Unreadable> {
    let mut parser = Parser { report: Report::of(Vec::new()), ..Parser::default() };
    read_pieces(text, "JUnit XML", |piece| match piece {
        Piece::Open(element) => parser.open_element(element),
        Piece::Text(text) => parser.collect(text),
        Piece::Close(name) => parser.close_element(name),
    })?;
    if !parser.seen_suite || parser.depth > 0 {
        return Err(ends_before("the end of a `testsuite` element", text));
    }
    parser.report.documents.push(parser.document);
    Ok(parser.report)
}

#[derive(Default)]
struct Parser {
    report: Report,
    document: Document,
    case: Option<Case>,
    depth: u32,
    seen_suite: bool,
    collecting: bool,
}

impl Parser {
    fn open_element(&mut self, element: &BytesStart<'_>) {
        self.depth += 1;
        match element.local_name().as_ref() {
            b"testsuite" => (self.seen_suite, self.document.declared) = (true, declared(element)),
            b"testcase" => self.case = Some(case(element)),
            b"system-out" => self.collecting = true,
            _ => reason(element, self.case.as_mut()),
        }
    }

    fn collect(&mut self, piece: &str) {
        let Some(case) = self.case.as_mut().filter(|_| self.collecting) else { return };
        case.output.push_str(&bounded(piece, OUTPUT.saturating_sub(case.output.len())));
    }

    fn close_element(&mut self, name: &[u8]) {
        self.depth = self.depth.saturating_sub(1);
        match name {
            b"testcase" => self.close_case(),
            b"system-out" => self.collecting = false,
            _ => {}
        }
    }

    fn close_case(&mut self) {
        let tests = self.case.take().map(reported).unwrap_or_default();
        let inner = held_in(&tests);
        let held = &mut self.document.held;
        held.tests += 1;
        held.failed += inner.failed.min(1);
        held.skipped += inner.skipped.min(1);
        self.report.cases.extend(tests);
    }
}

fn declared(element: &BytesStart<'_>) -> Declared {
    let number = |name: &str| attribute(element, name).and_then(|value| value.parse().ok());
    Declared {
        tests: number("tests"),
        failures: number("failures"),
        skipped: Some(number("skipped").unwrap_or(0) + number("disabled").unwrap_or(0)),
        ..Declared::default()
    }
}

fn case(element: &BytesStart<'_>) -> Case {
    let mut case = Case::default();
    for (key, value) in attributes(element) {
        match key {
            b"name" => case.name = value.into_owned(),
            b"time" => case.seconds = value.parse().unwrap_or_default(),
            b"status" => case.status = value.into_owned(),
            _ => {}
        }
    }
    case
}

fn reason(element: &BytesStart<'_>, case: Option<&mut Case>) {
    let found = attribute(element, "message");
    let is_outcome = matches!(element.local_name().as_ref(), b"failure" | b"skipped" | b"error");
    if let (Some(case), Some(message), true) = (case, found, is_outcome) {
        case.reason = message;
    }
}

/// Bytes of the output of one test that are kept.
const OUTPUT: usize = 8 << 20;

/// Whether a test that did not run was to run: without its program or its fixture, CTest fails.
pub fn is_mishap(reason: &str) -> bool {
    !reason.starts_with("SKIP_") && reason != "Disabled"
}

/// The tests of one entry.
fn reported(case: Case) -> Vec<ReportedTest> {
    let status = match case.status.as_str() {
        "run" => Status::Passed,
        "disabled" => Status::Skipped,
        "notrun" if !is_mishap(&case.reason) => Status::Skipped,
        _ => Status::Failed,
    };
    let inner = cases_of_google_test(&case.output);
    let is_failure_inside = inner.iter().any(|one| one.status == Some(Status::Failed));
    let is_same = matches!(inner.as_slice(), [one] if names_case(&case.name, &one.id));
    // A program that fails although its cases passed fails itself.
    if !inner.is_empty() && !is_same && is_failure_inside == (status == Status::Failed) {
        let named =
            |one: ReportedTest| ReportedTest { id: format!("{} > {}", case.name, one.id), ..one };
        return inner.into_iter().map(named).collect();
    }
    // The cases take the place of their program when it fails no longer besides them.
    let hides_cases = !inner.is_empty() && !is_same && status == Status::Failed;
    let mut test = ReportedTest {
        id: case.name,
        kind: if hides_cases { CaseKind::Unloaded } else { CaseKind::Test },
        status: Some(status),
        duration_ms: milliseconds(case.seconds),
        ..ReportedTest::default()
    };
    if status == Status::Failed {
        let place = inner.into_iter().find(|one| one.status == Some(Status::Failed));
        if let Some(one) = place {
            (test.file, test.line, test.message) = (one.file, one.line, one.message);
        }
        if test.message.is_empty() {
            test.message = message(&case.output, &case.reason);
        }
        tail(&case.output, STACK_LIMIT).clone_into(&mut test.stack);
    }
    vec![test]
}

/// Whether the name that CMake gives a case is that of GoogleTest; it numbers the values of a
/// parameter anew and may put a word in front or behind.
fn names_case(name: &str, case: &str) -> bool {
    let (known, _) = case.rsplit_once('/').unwrap_or((case, ""));
    name.contains(known)
}

/// The last lines of an output that are not empty, behind what CTest says itself.
fn message(output: &str, reason: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join("\n");
    let parts = [reason, last.as_str()].into_iter().filter(|part| !part.is_empty());
    bounded(&parts.collect::<Vec<_>>().join("\n"), MESSAGE_LIMIT)
}

static OUTCOME: Pattern =
    Pattern::new(r"\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:, where .*)? \(\d+ ms\)\s*$");
static PLACE: Pattern = Pattern::new(r"^(\S[^:\n]*):(\d+): Failure\s*$");

/// The cases that a program of GoogleTest printed. One that began and did not end crashed.
fn cases_of_google_test(output: &str) -> Vec<ReportedTest> {
    let mut tests: Vec<ReportedTest> = Vec::new();
    let mut open: Option<(String, Vec<&str>)> = None;
    let finish = |name: String, status: Status, lines: &[&str]| {
        let mut test = ReportedTest { id: name, status: Some(status), ..ReportedTest::default() };
        if status == Status::Failed {
            fill(&mut test, lines);
        }
        test
    };
    for line in output.lines() {
        if let Some(name) = line.strip_prefix("[ RUN      ] ") {
            if let Some((name, lines)) = open.take() {
                tests.push(finish(name, Status::Failed, &lines));
            }
            open = Some((name.trim().to_owned(), Vec::new()));
        } else if let Some(found) = OUTCOME.captures(line).next()
            && open.as_ref().is_some_and(|(name, _)| name == &found[2])
        {
            let status = match &found[1] {
                "OK" => Status::Passed,
                "SKIPPED" => Status::Skipped,
                _ => Status::Failed,
            };
            if let Some((name, lines)) = open.take() {
                tests.push(finish(name, status, &lines));
            }
        } else if let Some((_, lines)) = &mut open {
            lines.push(line);
        }
    }
    if let Some((name, lines)) = open {
        tests.push(finish(name, Status::Failed, &lines));
    }
    tests
}

/// The place and message of the first failure in the output of a case.
fn fill(test: &mut ReportedTest, lines: &[&str]) {
    let place = |line: &&str| {
        let found = PLACE.captures(line).next()?;
        Some((found[1].to_owned(), found[2].parse().ok()?))
    };
    let first = lines.iter().position(|line| place(line).is_some());
    let text = match first {
        Some(at) => {
            (test.file, test.line) = lines
                .get(at)
                .and_then(place)
                .map_or((None, None), |(file, line)| (Some(file), Some(line)));
            let rest = lines.get(at + 1..).unwrap_or_default();
            rest.iter().take_while(|line| place(line).is_none()).copied().collect::<Vec<_>>()
        }
        None if lines.is_empty() => vec!["the program ended in this test"],
        None => lines.to_vec(),
    };
    test.message = bounded(text.join("\n").trim(), MESSAGE_LIMIT);
    test.stack = bounded(&lines.join("\n"), STACK_LIMIT);
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOGLE: &str = "[==========] Running 4 tests\n[ RUN      ] Cart.Ok\nprinted[       OK ] Cart.Ok (0 ms)\n[ RUN      ] Cart.Zero\n/repo/t.cc:3: Failure\nExpected equality of these values:\n  total()\n    Which is: 1\n  0\n/repo/t.cc:4: Failure\nmore\n[  FAILED  ] Cart.Zero (1 ms)\n[ RUN      ] Few/Sum.One/0\n[  SKIPPED ] Few/Sum.One/0 (0 ms)\n[ RUN      ] Cart.Dies\n";

    fn report(status: &str, more: &str, output: &str) -> String {
        format!(
            "<testsuite name=\"x\"><testcase name=\"cart\" time=\"0.5\" status=\"{status}\">{more}<system-out>{output}</system-out></testcase></testsuite>"
        )
    }

    #[test]
    fn the_cases_of_google_test_replace_their_program() {
        let text = report("fail", "<failure message=\"SEGFAULT\"/>", GOOGLE);
        let tests = parse(&text).unwrap().cases;
        let short: Vec<_> =
            tests.iter().map(|one| (one.id.as_str(), one.status.unwrap())).collect();
        assert_eq!(
            short,
            [
                ("cart > Cart.Ok", Status::Passed),
                ("cart > Cart.Zero", Status::Failed),
                ("cart > Few/Sum.One/0", Status::Skipped),
                ("cart > Cart.Dies", Status::Failed),
            ]
        );
        assert_eq!((tests[1].file.as_deref(), tests[1].line), (Some("/repo/t.cc"), Some(3)));
        assert_eq!(
            tests[1].message,
            "Expected equality of these values:\n  total()\n    Which is: 1\n  0"
        );
        assert_eq!(tests[3].message, "the program ended in this test");
    }

    #[test]
    fn a_program_that_fails_although_its_cases_passed_fails_itself() {
        let passed = "[ RUN      ] A.B\n[       OK ] A.B (0 ms)\n[ RUN      ] A.C\n[       OK ] A.C (0 ms)\nleak found\n";
        let tests = parse(&report("fail", "<failure message=\"\"/>", passed)).unwrap().cases;
        assert_eq!(tests.len(), 1);
        assert_eq!((tests[0].id.as_str(), tests[0].status), ("cart", Some(Status::Failed)));
        assert!(tests[0].message.ends_with("leak found"), "{}", tests[0].message);
    }

    #[test]
    fn what_did_not_run_is_skipped_only_where_ctest_does_not_fail() {
        let table = [
            ("run", "", Status::Passed),
            ("disabled", "", Status::Skipped),
            ("notrun", "<skipped message=\"SKIP_RETURN_CODE=77\"/>", Status::Skipped),
            ("notrun", "<skipped message=\"Unable to find executable\"/>", Status::Failed),
            ("fail", "<failure message=\"Timeout\"/>", Status::Failed),
            ("else", "", Status::Failed),
        ];
        for (status, more, expected) in table {
            let tests = parse(&report(status, more, "1 &lt; 2")).unwrap().cases;
            assert_eq!(tests[0].status, Some(expected), "{status} {more}");
            if expected == Status::Failed {
                assert!(tests[0].message.ends_with("1 < 2"), "{}", tests[0].message);
            }
        }
    }

    #[test]
    fn a_cut_report_is_no_report() {
        let text = report("fail", "<failure message=\"\"/>", GOOGLE);
        for end in 0..text.len() {
            assert!(text.get(..end).is_none_or(|cut| parse(cut).is_err()), "{end}");
        }
    }
}
