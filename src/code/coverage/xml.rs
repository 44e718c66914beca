//! Streams the elements and attributes of an XML report, for the Cobertura and `JaCoCo` readers.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::BadReport;

/// The start or end of an element.
pub enum Piece<'a> {
    /// An element begins; an empty one ends at once.
    Start(&'a str, &'a dyn Fn(&str) -> Option<String>),
    End(&'a str),
}

/// Calls `act` at the start and end of each element.
pub fn walk(text: &str, act: &mut dyn FnMut(Piece<'_>)) -> Result<(), BadReport> {
    let mut reader = Reader::from_str(text);
    let mut depth = 0_u32;
    loop {
        let event = reader.read_event().map_err(|error| {
            let at = usize::try_from(reader.error_position()).unwrap_or(0);
            let before = text.get(..at).unwrap_or(text);
            BadReport::at(before.matches('\n').count() + 1, format!("XML ({error})"))
        })?;
        match event {
            Event::Start(element) => {
                depth += 1;
                start(&element, act);
            }
            Event::Empty(element) => {
                start(&element, act);
                act(Piece::End(utf8(element.local_name().as_ref())));
            }
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                act(Piece::End(utf8(element.local_name().as_ref())));
            }
            Event::Eof if depth == 0 => return Ok(()),
            Event::Eof => {
                let lines = text.matches('\n').count() + 1;
                return Err(BadReport::at(lines, "the end of the outermost element"));
            }
            _ => {}
        }
    }
}

fn utf8(name: &[u8]) -> &str {
    std::str::from_utf8(name).unwrap_or_default()
}

fn start(element: &BytesStart<'_>, act: &mut dyn FnMut(Piece<'_>)) {
    let attribute = |name: &str| {
        let mut attributes = element.attributes();
        attributes.with_checks(false);
        let found = attributes.flatten().find(|one| one.key.as_ref() == name.as_bytes())?;
        let value = found.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok()?;
        Some(value.into_owned())
    };
    act(Piece::Start(utf8(element.local_name().as_ref()), &attribute));
}
