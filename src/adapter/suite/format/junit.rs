//! Parses JUnit XML of any tool as a stream: 100,000 cases cost little more than their bytes.

use std::borrow::Cow;
use std::num::NonZero;

use memchr::memmem;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::domain::test::Status;

use super::{MESSAGE_LIMIT, ReportedTest, STACK_LIMIT, Unreadable, bounded};

/// Reads a report. Ids are `class::name`; a `file` attribute goes before them with `::` when no
/// class is named. External entities are never resolved, and unknown ones are kept as text.
/// Fails with [`Unreadable`] when the text is not XML or holds no `testsuite`.
pub fn parse(text: &str) -> Result<Vec<ReportedTest>, Unreadable> {
    let parts = parts_of(text, std::thread::available_parallelism().map_or(1, NonZero::get));
    if parts.len() > 1
        && let Some(tests) = parse_parts(&parts)
    {
        return Ok(tests);
    }
    // Parsing the whole text at once also finds the line of the error.
    parse_text(text, Wholeness::Document)
}

/// Whether a text is a whole document, or a part that begins and ends between test cases.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wholeness {
    Document,
    Part,
}

/// Least size of a part; a report smaller than two parts is parsed by one thread.
const PART: usize = 1 << 20;

/// Splits a report between test cases, one part per thread; not if it has comments, CDATA or a
/// document type, whose text may look like a test case.
fn parts_of(text: &str, threads: usize) -> Vec<&str> {
    let count = threads.min(text.len() / PART).max(1);
    if count == 1 || memmem::find(text.as_bytes(), b"<!").is_some() {
        return vec![text];
    }
    let finder = memmem::Finder::new("<testcase");
    let mut parts = Vec::with_capacity(count);
    let mut rest = text;
    for left in (2..=count).rev() {
        let from = rest.len() / left;
        let found = rest.as_bytes().get(from..).and_then(|bytes| finder.find(bytes));
        let Some((part, behind)) = found.and_then(|at| rest.split_at_checked(from + at)) else {
            break;
        };
        parts.push(part);
        rest = behind;
    }
    parts.push(rest);
    parts
}

/// Parses all parts in parallel; `None` when one of them cannot be parsed.
fn parse_parts(parts: &[&str]) -> Option<Vec<ReportedTest>> {
    let (first, others) = parts.split_first()?;
    memmem::find(first.as_bytes(), b"<testsuite")?;
    std::thread::scope(|scope| {
        let read = |part: &str| parse_text(part, Wholeness::Part).ok();
        let running: Vec<_> = others.iter().map(|part| scope.spawn(move || read(part))).collect();
        let mut tests = read(first)?;
        tests.reserve_exact(tests.len() * others.len() + others.len() * 1000);
        for thread in running {
            tests.append(&mut thread.join().ok()??);
        }
        Some(tests)
    })
}

/// Reads a document or a part of one to its end.
fn parse_text(text: &str, wholeness: Wholeness) -> Result<Vec<ReportedTest>, Unreadable> {
    let mut reader = Reader::from_str(text);
    let part = wholeness == Wholeness::Part;
    // Test cases rarely have less than 70 bytes; a growing vector would be copied repeatedly.
    let mut tests = Vec::with_capacity(if part { text.len() / 70 } else { 0 });
    reader.config_mut().check_end_names = !part;
    reader.config_mut().allow_unmatched_ends = part;
    let mut current: Option<ReportedTest> = None;
    let mut collecting = false;
    let mut seen_suite = part;
    let mut open = 0_u32;
    loop {
        let event = reader.read_event().map_err(|error| unreadable(text, &reader, &error))?;
        match event {
            Event::Start(element) => match element.local_name().as_ref() {
                b"testsuite" | b"testsuites" => (seen_suite, open) = (true, open + 1),
                b"testcase" => current = Some(case(&element)),
                name => collecting = outcome(name, &element, current.as_mut()),
            },
            Event::Empty(element) => match element.local_name().as_ref() {
                b"testsuite" | b"testsuites" => seen_suite = true,
                b"testcase" => tests.push(case(&element)),
                name => {
                    outcome(name, &element, current.as_mut());
                }
            },
            Event::Text(piece) if collecting => {
                collect(current.as_mut(), &piece.decode().unwrap_or_default());
            }
            Event::CData(piece) if collecting => {
                collect(current.as_mut(), &piece.decode().unwrap_or_default());
            }
            Event::GeneralRef(name) if collecting => {
                collect(current.as_mut(), entity(&name.decode().unwrap_or_default()));
            }
            Event::End(element) => match element.local_name().as_ref() {
                b"testsuite" | b"testsuites" => open = open.saturating_sub(1),
                b"testcase" => tests.extend(current.take().map(finish)),
                b"failure" | b"error" | b"skipped" => collecting = false,
                _ => {}
            },
            Event::Eof if current.is_some() => {
                return Err(at_end(text, "the end of an open `testcase`"));
            }
            Event::Eof if open > 0 && !part => {
                return Err(at_end(text, "the end of an open `testsuite`"));
            }
            Event::Eof if !seen_suite => return Err(at_end(text, "a `testsuite` element")),
            Event::Eof => return Ok(tests),
            _ => {}
        }
    }
}

fn unreadable(text: &str, reader: &Reader<&[u8]>, error: &quick_xml::Error) -> Unreadable {
    let position = usize::try_from(reader.error_position()).unwrap_or(text.len());
    let before = text.as_bytes().get(..position.min(text.len())).unwrap_or_default();
    let line = before.split(|byte| *byte == b'\n').count();
    Unreadable {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        expected: format!("JUnit XML ({error})"),
    }
}

fn at_end(text: &str, expected: &str) -> Unreadable {
    let line = u32::try_from(text.lines().count().max(1)).unwrap_or(u32::MAX);
    Unreadable { line, expected: expected.to_owned() }
}

fn case(element: &BytesStart<'_>) -> ReportedTest {
    let mut test = ReportedTest::default();
    let (mut class, mut name) = (Cow::default(), Cow::default());
    for (key, value) in attributes(element) {
        match key {
            b"classname" => class = value,
            b"name" => name = value,
            b"file" => test.file = Some(value.into_owned()),
            b"line" => test.line = value.parse().ok(),
            b"time" => test.duration_ms = milliseconds(&value),
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

/// Local names and values of an element's attributes; unreadable ones are skipped.
fn attributes<'a>(element: &'a BytesStart<'_>) -> impl Iterator<Item = (&'a [u8], Cow<'a, str>)> {
    let mut attributes = element.attributes();
    attributes.with_checks(false);
    attributes.flatten().filter_map(|attribute| {
        let key = attribute.key.local_name().into_inner();
        // Most values need no unescaping and are borrowed.
        if let Cow::Borrowed(raw) = attribute.value
            && !raw.iter().any(|byte| matches!(byte, b'&' | b'\n' | b'\r' | b'\t'))
        {
            return Some((key, Cow::Borrowed(std::str::from_utf8(raw).ok()?)));
        }
        let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok()?;
        Some((key, Cow::Owned(value.into_owned())))
    })
}

/// Parses seconds with a decimal point, ignoring the thousands separators of Surefire.
fn milliseconds(seconds: &str) -> u64 {
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    let digits = |text: &str| {
        text.bytes()
            .filter(u8::is_ascii_digit)
            .map(|b| u64::from(b - b'0'))
            .fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(digit))
    };
    let places = [100, 10, 1];
    let thousandths: u64 = part
        .bytes()
        .zip(places)
        .map(|(byte, worth)| if byte.is_ascii_digit() { u64::from(byte - b'0') * worth } else { 0 })
        .sum();
    digits(whole).saturating_mul(1000).saturating_add(thousandths)
}

/// Records an outcome element; returns whether its text is to be collected.
fn outcome(name: &[u8], element: &BytesStart<'_>, case: Option<&mut ReportedTest>) -> bool {
    let Some(case) = case else { return false };
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
        b"skipped" => {
            case.status.get_or_insert(Status::Skipped);
            false
        }
        _ => false,
    }
}

fn collect(case: Option<&mut ReportedTest>, piece: &str) {
    let Some(case) = case else { return };
    case.stack.push_str(&bounded(piece, STACK_LIMIT.saturating_sub(case.stack.len())));
}

fn entity(name: &str) -> &'static str {
    match name {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        "#10" => "\n",
        _ => "?",
    }
}

fn finish(mut case: ReportedTest) -> ReportedTest {
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
        let tests = parse(text).unwrap();
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

    #[test]
    fn a_large_report_is_read_alike_in_parts_and_as_a_whole() {
        let mut text = String::from("<testsuites>");
        for suite in 0..40 {
            text.push_str("<testsuite>");
            for case in 0..1000 {
                let inner = if case % 9 == 0 { "<failure>1 &lt; 2</failure>" } else { "" };
                text.push_str(&format!(
                    "<testcase classname=\"m{suite}\" name=\"t{case}\">{inner}</testcase>\n"
                ));
            }
            text.push_str("</testsuite>");
        }
        text.push_str("</testsuites>");
        for threads in [2, 3, 16] {
            let parts = parts_of(&text, threads);
            assert!(parts.len() > 1 && parts.concat() == text, "{threads}");
            let whole = parse_text(&text, Wholeness::Document).unwrap();
            assert_eq!(parse_parts(&parts), Some(whole));
        }
        let tricky = text.replace("1 &lt; 2", "<![CDATA[<testcase name=\"no\">]]>");
        assert_eq!(parts_of(&tricky, 4).len(), 1, "a case may hide in character data");
        let cut = text.split_at(text.rfind("<testcase").unwrap() + 12).0;
        assert!(parse(cut).is_err(), "a cut report is no report");
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
            let tests = parse(&format!("<testsuite>{text}</testsuite>")).unwrap();
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
        let tests = parse(bomb).unwrap();
        assert_eq!(tests[0].stack, "??");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            if let Ok(tests) = parse(&text) {
                proptest::prop_assert!(tests.len() <= text.len());
            }
        }
    }
}
