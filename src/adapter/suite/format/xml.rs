//! What the parsers of XML reports share.

use std::borrow::Cow;

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::Unreadable;

/// What a document holds, in its order. An empty element is opened and closed.
pub enum Piece<'a> {
    Open(&'a BytesStart<'a>),
    Text(&'a str),
    /// The local name of the element that ends.
    Close(&'a [u8]),
}

/// Reads a document piece by piece, of a `format` for errors; resolves no declared entities.
pub fn read_pieces(
    text: &str,
    format: &str,
    mut take: impl FnMut(Piece<'_>),
) -> Result<(), Unreadable> {
    let mut reader = Reader::from_str(text);
    loop {
        let event = reader.read_event().map_err(|error| Unreadable {
            line: line_at(text, reader.error_position()),
            expected: format!("{format} ({error})"),
        })?;
        match event {
            Event::Start(element) | Event::Empty(element)
                if element.local_name().as_ref().is_empty() =>
            {
                return Err(Unreadable {
                    line: line_at(text, reader.buffer_position()),
                    expected: format!("{format} (an element has no name)"),
                });
            }
            Event::Start(element) => take(Piece::Open(&element)),
            Event::Empty(element) => {
                take(Piece::Open(&element));
                take(Piece::Close(element.local_name().as_ref()));
            }
            Event::Text(piece) => take(Piece::Text(&piece.decode().unwrap_or_default())),
            Event::CData(piece) => take(Piece::Text(&piece.decode().unwrap_or_default())),
            Event::GeneralRef(name) => take(Piece::Text(resolve_reference(&name).as_ref())),
            Event::End(element) => take(Piece::Close(element.local_name().as_ref())),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// The error of a document that ends before what is expected.
pub fn ends_before(expected: &str, text: &str) -> Unreadable {
    Unreadable { line: line_at(text, u64::MAX), expected: expected.to_owned() }
}

/// Local names and values of an element's attributes; unreadable ones are skipped.
pub fn attributes<'a>(
    element: &'a BytesStart<'_>,
) -> impl Iterator<Item = (&'a [u8], Cow<'a, str>)> {
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
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
        Some((key, Cow::Owned(value.into_owned())))
    })
}

/// The value of an attribute, if the element has it.
pub fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    attributes(element)
        .find(|(key, _)| *key == name.as_bytes())
        .map(|(_, value)| value.into_owned())
}

/// The characters that a reference stands for.
fn resolve_reference(name: &BytesRef<'_>) -> Cow<'static, str> {
    if let Ok(Some(character)) = name.resolve_char_ref() {
        return character.to_string().into();
    }
    Cow::Borrowed(match name.decode().unwrap_or_default().as_ref() {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        _ => "?",
    })
}

/// The line of a position in a text, from 1.
fn line_at(text: &str, position: u64) -> u32 {
    let end = usize::try_from(position).unwrap_or(text.len()).min(text.len());
    let before = text.as_bytes().get(..end).unwrap_or_default();
    u32::try_from(before.split(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// The name of the first element of a document, if it is XML.
pub fn root_element(text: &str) -> Option<String> {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) | Event::Empty(element) => {
                return Some(String::from_utf8_lossy(element.local_name().as_ref()).into_owned());
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

/// The bytes of a report as text: by its byte order mark, else by the encoding of its XML declaration,
/// else UTF-8. `None` where they are not in that encoding.
pub fn decode_document(bytes: &[u8]) -> Option<String> {
    use encoding_rs::{Encoding, UTF_8};
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let encoding = marked.or_else(|| declared_encoding(bytes)).unwrap_or(UTF_8);
    let (text, has_errors) = encoding.decode_with_bom_removal(bytes);
    (!has_errors).then(|| text.into_owned())
}

/// The encoding that an XML declaration names. Without a mark, UTF-16 is seen by its first character.
fn declared_encoding(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    match bytes {
        [b'<', 0, ..] => return Some(encoding_rs::UTF_16LE),
        [0, b'<', ..] => return Some(encoding_rs::UTF_16BE),
        _ => {}
    }
    let head = bytes.get(..bytes.len().min(200))?;
    let head = String::from_utf8_lossy(head);
    let declaration = head.strip_prefix("<?xml")?.split("?>").next()?;
    let value = declaration.split("encoding").nth(1)?.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|first| ['"', '\''].contains(first))?;
    let label = value.split(quote).nth(1)?;
    // A declaration that can be read byte by byte is not in UTF-16, whatever it says.
    encoding_rs::Encoding::for_label(label.as_bytes())
        .filter(|encoding| encoding.is_ascii_compatible())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_decoded_by_its_mark_or_its_declaration() {
        let utf16 = |text: &str, order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(order).collect()
        };
        let declared = "<?xml version='1.0' encoding='utf-16'?><a>ö</a>";
        let marked = [&[0xff, 0xfe][..], &utf16(declared, u16::to_le_bytes)].concat();
        let table: [(&str, Vec<u8>, Option<&str>); 8] = [
            ("UTF-8", "<a>ö</a>".into(), Some("<a>ö</a>")),
            ("its mark", [&[0xef, 0xbb, 0xbf][..], b"<a/>"].concat(), Some("<a/>")),
            ("UTF-16 with a mark", marked, Some(declared)),
            ("without one", utf16(declared, u16::to_be_bytes), Some(declared)),
            ("declared, and not so", declared.into(), Some(declared)),
            (
                "Latin 1",
                b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xf6</a>".to_vec(),
                Some("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>ö</a>"),
            ),
            ("another one than declared", b"<?xml encoding=\"utf-8\"?>\xf6".to_vec(), None),
            ("undeclared", b"<a>\xf6</a>".to_vec(), None),
        ];
        for (why, bytes, expected) in table {
            assert_eq!(decode_document(&bytes).as_deref(), expected, "{why}");
        }
    }

    #[test]
    fn the_root_tells_reports_from_other_files() {
        let table = [
            (
                "<?xml version=\"1.0\"?><!-- x --><failsafe-summary result=\"null\"/>",
                Some("failsafe-summary"),
            ),
            ("<ns:testsuites/>", Some("testsuites")),
            ("no XML", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(root_element(text).as_deref(), expected, "{text}");
        }
    }
}
