//! The case that nearly every report is made of: an element without children, whose attributes
//! hold nothing to resolve. Anything else is left to the library.

use super::{ReportedTest, id, milliseconds};

/// The case at the beginning of `text` and what stands behind it; `None` unless it is plain.
pub fn case(text: &str) -> Option<(ReportedTest, &str)> {
    let mut rest = text.trim_ascii_start().strip_prefix("<testcase")?;
    let mut test = ReportedTest::default();
    let (mut class, mut name) = ("", "");
    loop {
        let behind = rest.trim_ascii_start();
        if let Some(end) = behind.strip_prefix("/>") {
            rest = end;
            break;
        }
        if let Some(inner) = behind.strip_prefix('>') {
            rest = inner.trim_ascii_start().strip_prefix("</testcase>")?;
            break;
        }
        // Two attributes without a space between them are not well-formed.
        if behind.len() == rest.len() {
            return None;
        }
        let (key, value, behind) = attribute(behind)?;
        match key {
            "classname" => class = value,
            "name" => name = value,
            "file" => test.file = Some(value.to_owned()),
            "line" => test.line = value.parse().ok(),
            "time" => test.duration_ms = milliseconds(value),
            _ if key.contains(':') => return None,
            _ => {}
        }
        rest = behind;
    }
    test.id = id(test.file.as_deref(), class, name);
    Some((test, rest))
}

/// A name, its quoted value, and what stands behind the quote.
fn attribute(text: &str) -> Option<(&str, &str, &str)> {
    let equals =
        text.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte)))?;
    let (key, behind) = text.split_at_checked(equals)?;
    let mut behind = behind.strip_prefix('=')?.chars();
    let quote = behind.next().filter(|quote| matches!(quote, '"' | '\''))?;
    let behind = behind.as_str();
    let stop =
        |byte: &u8| *byte == quote as u8 || matches!(byte, b'&' | b'<' | b'\n' | b'\r' | b'\t');
    let end = behind.as_bytes().iter().position(stop)?;
    let (value, behind) = behind.split_at_checked(end)?;
    Some((key, value, behind.strip_prefix(quote)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_cases_are_taken() {
        let table = [
            (r#" <testcase classname="a.B" name="c" time="1.5"/> x"#, Some("a.B::c")),
            (r#"<testcase name='c "d"' file="a.py"></testcase>"#, Some(r#"a.py::c "d""#)),
            ("<testcase name=\"c\" >\n  </testcase>", Some("c")),
            (r#"<testcase name="c"><failure/></testcase>"#, None),
            (r#"<testcase name="c &amp; d"/>"#, None),
            (r#"<testcase name="c"classname="d"/>"#, None),
            (r#"<testcase x:name="c"/>"#, None),
            (r#"<testcases name="c"/>"#, None),
            (r#"<testcase name="c"#, None),
            (r#"<testcase name="c" "#, None),
            ("<testcase", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(case(text).map(|(test, _)| test.id).as_deref(), expected, "{text}");
        }
    }
}
