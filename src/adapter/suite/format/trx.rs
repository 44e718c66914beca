//! Parses TRX, the report of `dotnet test --logger trx`.

use std::collections::BTreeMap;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::domain::test::Status;

use super::{MESSAGE_LIMIT, ReportedTest, STACK_LIMIT, Unreadable, bounded};

/// Reads a report. Ids are `Namespace.Class.Method`, with the arguments of a row behind them; the class
/// comes from the definitions, since NUnit and MSTest report bare names. A result with inner results
/// is the sum of these and left out.
/// Fails with [`Unreadable`] when the text is not XML or no whole `TestRun`.
pub fn parse(text: &str) -> Result<Vec<ReportedTest>, Unreadable> {
    let mut reader = Reader::from_str(text);
    let mut run = Run::default();
    loop {
        let event = reader.read_event().map_err(|error| {
            let end = usize::try_from(reader.error_position()).unwrap_or(text.len());
            Unreadable { line: line_at(text, end), expected: format!("TRX ({error})") }
        })?;
        match event {
            Event::Start(element) => run.start(&element),
            Event::Empty(element) => {
                run.start(&element);
                run.end(element.local_name().as_ref());
            }
            Event::Text(piece) => run.collect(&piece.decode().unwrap_or_default()),
            Event::CData(piece) => run.collect(&piece.decode().unwrap_or_default()),
            Event::GeneralRef(name) => run.collect(&character(&name)),
            Event::End(element) => run.end(element.local_name().as_ref()),
            Event::Eof if run.is_whole => return Ok(run.tests()),
            Event::Eof => {
                let expected = "the end of a `TestRun` element".to_owned();
                return Err(Unreadable { line: line_at(text, text.len()), expected });
            }
            _ => {}
        }
    }
}

fn line_at(text: &str, end: usize) -> u32 {
    let before = text.as_bytes().get(..end.min(text.len())).unwrap_or_default();
    let line = before.split(|byte| *byte == b'\n').count();
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// The character that a reference stands for.
fn character(name: &quick_xml::events::BytesRef<'_>) -> String {
    if let Ok(Some(character)) = name.resolve_char_ref() {
        return character.to_string();
    }
    let known = match name.decode().unwrap_or_default().as_ref() {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        _ => "?",
    };
    known.to_owned()
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
    is_whole: bool,
}

#[derive(Clone, Copy)]
enum TextOf {
    Message,
    Stack,
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
            b"Message" => self.text_of = Some(TextOf::Message),
            b"StackTrace" => self.text_of = Some(TextOf::Stack),
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        match name {
            b"UnitTestResult" => self.finished.extend(self.open.pop()),
            b"Message" | b"StackTrace" => self.text_of = None,
            b"TestRun" => self.is_whole = true,
            _ => {}
        }
    }

    fn collect(&mut self, piece: &str) {
        let (Some(kind), Some(current)) = (self.text_of, self.open.last_mut()) else { return };
        let (text, limit) = match kind {
            TextOf::Message => (&mut current.test.message, MESSAGE_LIMIT),
            TextOf::Stack => (&mut current.test.stack, STACK_LIMIT),
        };
        text.push_str(&bounded(piece, limit.saturating_sub(text.len())));
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

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found =
        element.attributes().flatten().find(|one| one.key.local_name().as_ref() == name.as_bytes());
    Some(found?.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
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
        let tests = parse(REPORT).unwrap();
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
