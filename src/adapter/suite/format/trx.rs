//! Parses TRX, the report of `dotnet test --logger trx`.

use std::collections::BTreeMap;

use quick_xml::events::BytesStart;

use crate::domain::declared::{Declared, Document};
use crate::domain::test::Status;

use super::xml::{Piece, attribute, ends_before, read_pieces};
use super::{MESSAGE_LIMIT, Report, ReportedTest, STACK_LIMIT, Unreadable, bounded, held_in};

/// Reads a report. Ids are `Namespace.Class.Method`, with the arguments of a row behind them; the class
/// comes from the definitions, since NUnit and MSTest report bare names. A result with inner results
/// is the sum of these and left out.
/// Fails with [`Unreadable`] when the text is not XML or no whole `TestRun`.
pub fn parse(text: &str) -> Result<Report, Unreadable> {
    let mut run = Run::default();
    read_pieces(text, "TRX", |piece| match piece {
        Piece::Open(element) => run.start(element),
        Piece::Text(text) => run.collect(text),
        Piece::Close(name) => run.end(name),
    })?;
    if !run.is_whole {
        return Err(ends_before("the end of a `TestRun` element", text));
    }
    Ok(run.into_report())
}

/// A result and the definition that it refers to.
#[derive(Default)]
struct UnitResult {
    definition: String,
    test: ReportedTest,
    has_inner: bool,
}

#[derive(Default)]
struct Run {
    open: Vec<UnitResult>,
    finished: Vec<UnitResult>,
    /// Classes by the definition of a test.
    classes: BTreeMap<String, String>,
    definition: String,
    /// The element whose text is collected.
    text_of: Option<TextOf>,
    declared: Declared,
    /// What the run says of itself with the outcome `Error`, such as a test host that crashed.
    errors: Vec<String>,
    is_whole: bool,
}

#[derive(Clone, Copy)]
enum TextOf {
    Message,
    Stack,
    Run,
}

impl Run {
    fn start(&mut self, element: &BytesStart<'_>) {
        match element.local_name().as_ref() {
            b"UnitTestResult" => {
                if let Some(outer) = self.open.last_mut() {
                    outer.has_inner = true;
                }
                self.open.push(result(element));
            }
            b"UnitTest" => self.definition = attribute(element, "id").unwrap_or_default(),
            b"TestMethod" => {
                let class = attribute(element, "className").unwrap_or_default();
                // Older adapters add the name of the assembly.
                let class = class.split(',').next().unwrap_or_default().to_owned();
                self.classes.insert(self.definition.clone(), class);
            }
            b"Counters" => {
                let aborted = self.declared.aborted.take();
                self.declared = Declared { aborted, ..counters(element) };
            }
            b"ResultSummary" => {
                let outcome = attribute(element, "outcome").unwrap_or_default();
                if ["Aborted", "Error", "Timeout", "Disconnected"].contains(&outcome.as_str()) {
                    self.declared.aborted = Some(format!("its outcome is {outcome}"));
                }
            }
            b"RunInfo" if attribute(element, "outcome").as_deref() == Some("Error") => {
                self.errors.push(String::new());
            }
            b"Text" if !self.errors.is_empty() => self.text_of = Some(TextOf::Run),
            b"Message" => self.text_of = Some(TextOf::Message),
            b"StackTrace" => self.text_of = Some(TextOf::Stack),
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        match name {
            b"UnitTestResult" => self.finished.extend(self.open.pop()),
            b"Message" | b"StackTrace" | b"Text" => self.text_of = None,
            b"TestRun" => self.is_whole = true,
            _ => {}
        }
    }

    fn collect(&mut self, piece: &str) {
        let current = self.open.last_mut().map(|current| &mut current.test);
        let (text, limit) = match (self.text_of, current, self.errors.last_mut()) {
            (Some(TextOf::Message), Some(test), _) => (&mut test.message, MESSAGE_LIMIT),
            (Some(TextOf::Stack), Some(test), _) => (&mut test.stack, STACK_LIMIT),
            (Some(TextOf::Run), _, Some(error)) => (error, MESSAGE_LIMIT),
            _ => return,
        };
        text.push_str(&bounded(piece, limit.saturating_sub(text.len())));
    }

    fn into_report(mut self) -> Report {
        let (declared, errors) =
            (std::mem::take(&mut self.declared), std::mem::take(&mut self.errors));
        let cases = self.tests();
        let mut held = held_in(&cases);
        held.failed = held.failed.saturating_add(u32::try_from(errors.len()).unwrap_or(u32::MAX));
        let problem = |message: String| {
            ReportedTest::problem("the test run".to_owned(), message.trim().to_owned())
        };
        Report {
            suite_problems: errors.into_iter().map(problem).collect(),
            documents: vec![Document { name: String::new(), declared, held }],
            ..Report::of(cases)
        }
    }

    fn tests(self) -> Vec<ReportedTest> {
        let Self { finished, classes, .. } = self;
        let own = finished.into_iter().filter(|one| !one.has_inner && !one.test.id.is_empty());
        own.map(|UnitResult { definition, mut test, .. }| {
            let class = classes.get(&definition).map_or("", String::as_str);
            if !class.is_empty() && !test.id.starts_with(class) {
                test.id = format!("{class}.{}", test.id);
            }
            if test.status == Some(Status::Failed) {
                describe(&mut test);
            }
            test
        })
        .collect()
    }
}

/// What the summary counts. Rows of one test count as tests of their own in some adapters only, and so
/// are compared by what failed.
fn counters(element: &BytesStart<'_>) -> Declared {
    let number = |name: &str| attribute(element, name).and_then(|value| value.parse().ok());
    let sum = |names: &[&str]| names.iter().filter_map(|name| number(name)).sum();
    Declared {
        tests: number("total"),
        failures: number("failed"),
        errors: Some(sum(&["error", "timeout", "aborted"])),
        skipped: Some(sum(&["notExecuted", "inconclusive", "notRunnable"])),
        ..Declared::default()
    }
}

fn result(element: &BytesStart<'_>) -> UnitResult {
    let status = match attribute(element, "outcome").as_deref() {
        Some("Passed" | "PassedButRunAborted" | "Warning" | "Completed") => Status::Passed,
        Some("NotExecuted" | "Inconclusive" | "NotRunnable" | "Pending") => Status::Skipped,
        // A result without an outcome is an error in this format.
        _ => Status::Failed,
    };
    UnitResult {
        definition: attribute(element, "testId").unwrap_or_default(),
        test: ReportedTest {
            id: attribute(element, "testName").unwrap_or_default(),
            status: Some(status),
            duration_ms: milliseconds(&attribute(element, "duration").unwrap_or_default()),
            ..ReportedTest::default()
        },
        has_inner: false,
    }
}

/// `hh:mm:ss.fffffff` in milliseconds.
fn milliseconds(duration: &str) -> u64 {
    let seconds = duration
        .split(':')
        .try_fold(0.0, |sum: f64, part| Some(sum * 60.0 + part.parse::<f64>().ok()?));
    super::milliseconds(seconds.unwrap_or_default())
}

/// Takes the class of the exception and the place out of the message and the stack.
fn describe(test: &mut ReportedTest) {
    let message = test.message.trim();
    let (head, rest) = message.split_once(" : ").unwrap_or(("", message));
    let is_class =
        head.contains('.') && head.chars().all(|c| c.is_alphanumeric() || "._+`".contains(c));
    test.class = if is_class { head.to_owned() } else { "assertion".to_owned() };
    test.message = if is_class { rest.to_owned() } else { message.to_owned() };
    // The outermost frame with a place is in the test.
    let place = test.stack.lines().rev().find_map(|line| {
        let (_, place) = line.trim_end().rsplit_once(" in ")?;
        let (file, line) = place.rsplit_once(":line ")?;
        Some((file.to_owned(), line.parse().ok()?))
    });
    if let Some((file, line)) = place {
        (test.file, test.line) = (Some(file), Some(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<TestRun id="r" name="ada" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
  <Results>
    <UnitTestResult executionId="1" testId="a" testName="Shop.Tests.CartTests.Adds(n: &quot;x&quot;)" duration="00:00:01.2500000" outcome="Passed" />
    <UnitTestResult executionId="2" testId="b" testName="Zero" duration="00:00:00.0010000" outcome="Failed">
      <Output>
        <StdOut>printed</StdOut>
        <ErrorInfo>
          <Message>System.InvalidOperationException : no &#x26; never</Message>
          <StackTrace>   at Shop.Cart.Total() in /repo/Shop/Cart.cs:line 7
   at Shop.Tests.CartTests.Zero() in /repo/Shop.Tests/CartTests.cs:line 12</StackTrace>
        </ErrorInfo>
      </Output>
    </UnitTestResult>
    <UnitTestResult executionId="3" testId="c" testName="Later" outcome="NotExecuted" />
    <UnitTestResult executionId="4" testId="d" testName="Rows" resultType="DataDrivenTest" outcome="Failed">
      <InnerResults>
        <UnitTestResult executionId="5" testId="d" testName="Rows (1)" outcome="Passed" />
        <UnitTestResult executionId="6" testId="d" testName="Rows (2)" outcome="Timeout" />
      </InnerResults>
    </UnitTestResult>
  </Results>
  <TestDefinitions>
    <UnitTest name="a" id="a"><TestMethod className="Shop.Tests.CartTests" name="Adds" /></UnitTest>
    <UnitTest name="b" id="b"><TestMethod className="Shop.Tests.CartTests, Shop.Tests" name="Zero" /></UnitTest>
    <UnitTest name="c" id="c"><TestMethod className="Shop.Tests.CartTests" name="Later" /></UnitTest>
    <UnitTest name="d" id="d"><TestMethod className="Shop.Tests.RowTests" name="Rows" /></UnitTest>
  </TestDefinitions>
</TestRun>"#;

    #[test]
    fn results_get_their_classes_and_every_outcome_is_read() {
        let tests = parse(REPORT).unwrap().cases;
        let short: Vec<_> =
            tests.iter().map(|one| (one.id.as_str(), one.status.unwrap())).collect();
        assert_eq!(
            short,
            [
                ("Shop.Tests.CartTests.Adds(n: \"x\")", Status::Passed),
                ("Shop.Tests.CartTests.Zero", Status::Failed),
                ("Shop.Tests.CartTests.Later", Status::Skipped),
                ("Shop.Tests.RowTests.Rows (1)", Status::Passed),
                ("Shop.Tests.RowTests.Rows (2)", Status::Failed),
            ]
        );
        assert_eq!(tests[0].duration_ms, 1250);
        let failed = &tests[1];
        assert_eq!(failed.class, "System.InvalidOperationException");
        assert_eq!(failed.message, "no & never");
        assert_eq!(failed.file.as_deref(), Some("/repo/Shop.Tests/CartTests.cs"));
        assert_eq!(failed.line, Some(12));
    }

    #[test]
    fn a_cut_report_is_no_report() {
        for end in (0..REPORT.len()).step_by(7) {
            assert!(parse(REPORT.get(..end).unwrap_or_default()).is_err(), "{end}");
        }
        assert!(parse("<html/>").is_err());
    }
}
