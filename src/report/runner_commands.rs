//! What the runner of GitHub Actions reads: workflow commands in the log, and files of outputs.
//! Foreign lines are made harmless here, and nowhere else.
//!
//! The runner takes a line for a command if it begins with `::`, after any blanks, or if it
//! contains `##[`.

use crate::domain::check::{Annotation, Level};

use super::markdown::{is_invisible, line};

/// Annotations of one level that the runner shows.
pub(super) const REMARKS: usize = 10;

/// Fewest random characters in a delimiter.
const RANDOM: usize = 16;

/// A foreign line that the runner reads as plain text, wherever it is cut or moved to.
///
/// No word of it begins with `::`, it does not contain `##[`, and what ends a line or moves the
/// cursor becomes a blank. `a::b` and the indentation stay. Applying it twice changes nothing.
pub fn neutralise_commands(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut escape = false;
    for character in line.chars() {
        if escape {
            // Skips the rest of a terminal escape sequence, up to its final letter.
            escape = !character.is_ascii_alphabetic();
            continue;
        }
        if character == '\u{1b}' {
            escape = true;
            continue;
        }
        let character = if (character.is_control() && character != '\t') || is_invisible(character)
        {
            ' '
        } else {
            character
        };
        let splits_command = character == ':' && {
            let before = out.trim_end_matches(':');
            before.len() + 1 == out.len()
                && before.chars().next_back().is_none_or(char::is_whitespace)
        };
        let splits_old_command = character == '[' && out.ends_with("##");
        if splits_command || splits_old_command {
            out.push(' ');
        }
        out.push(character);
    }
    out
}

/// The workflow command that opens a fold in the log.
pub fn group(title: &str) -> String {
    format!("::group::{}", data(&line(title, 200)))
}

/// The workflow command that closes the open fold.
pub const END_GROUP: &str = "::endgroup::";

/// Workflow commands that make the runner mask a secret from here on: as a whole and line by line,
/// because the log is searched line by line. None for a blank secret.
pub fn mask(secret: &str) -> Vec<String> {
    let mut hidden: Vec<&str> = Vec::new();
    for text in std::iter::once(secret).chain(secret.lines()).map(str::trim) {
        if !text.is_empty() && !hidden.contains(&text) {
            hidden.push(text);
        }
    }
    hidden.into_iter().map(|text| format!("::add-mask::{}", data(text))).collect()
}

/// An annotation that the runner shows at a line of a file, and in the list of the run.
pub fn remark(level: Level, place: Option<(&str, u32)>, title: &str, message: &str) -> String {
    let word = match level {
        Level::Notice => "notice",
        Level::Warning => "warning",
        Level::Failure => "error",
    };
    let mut properties = Vec::new();
    if let Some((file, at)) = place {
        properties.push(format!("file={}", property(file)));
        properties.push(format!("line={}", at.max(1)));
    }
    if !title.is_empty() {
        properties.push(format!("title={}", property(&line(title, 200))));
    }
    let blank = if properties.is_empty() { "" } else { " " };
    format!("::{word}{blank}{}::{}", properties.join(","), data(message))
}

/// Annotations for the log, used where no check run can be written, as with the token of a fork.
/// The runner shows ten of each level per step.
pub fn remarks(annotations: &[Annotation]) -> Vec<String> {
    let mut lines = Vec::new();
    for level in [Level::Failure, Level::Warning, Level::Notice] {
        let of_level = annotations.iter().filter(|one| one.level == level).take(REMARKS);
        lines.extend(of_level.map(|one| {
            let place = (one.path.as_str(), one.start_line);
            remark(level, Some(place), &one.title, &one.message)
        }));
    }
    lines
}

/// The message of a workflow command, encoded.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Values in the format of the runner's output file, each between lines of a delimiter that is made
/// of `random`.
///
/// `None` when a value contains the delimiter, or `random` is not at least 16 letters and digits;
/// the caller then draws again.
pub fn assignments(values: &[(&str, String)], random: &str) -> Option<String> {
    let fit = random.len() >= RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let delimiter = format!("regreen_{random}");
    if !fit || values.iter().any(|(_, value)| value.contains(&delimiter)) {
        return None;
    }
    Some(
        values
            .iter()
            .map(|(name, value)| format!("{name}<<{delimiter}\n{value}\n{delimiter}\n"))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_foreign_line_is_no_command() {
        let table = [
            ("::set-env name=A::b", ": :set-env name=A::b"),
            ("  ::error::x", "  : :error::x"),
            ("a\r::error::x", "a : :error::x"),
            ("tests/a.py::test_b", "tests/a.py::test_b"),
            ("std::vec<::std::string>", "std::vec<::std::string>"),
            ("x ::::y", "x : : : :y"),
            ("x ##[error]y", "x ## [error]y"),
            ("\u{1b}[31m::error::x\u{1b}[0m", ": :error::x"),
            ("#\u{200b}#[error]", "# #[error]"),
            ("##\u{1b}[0m[error]", "## [error]"),
            ("\tindented", "\tindented"),
        ];
        for (foreign, expected) in table {
            assert_eq!(neutralise_commands(foreign), expected, "{foreign:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_foreign_is_ever_a_command(text in "[ :#\\[\\]a\\r\\n\\t\u{1b}\u{a0}\u{2028}\u{200b}]{0,24}") {
            let tamed = neutralise_commands(&text);
            prop_assert!(!tamed.contains("##["), "{tamed:?}");
            prop_assert!(!tamed.split_whitespace().any(|word| word.starts_with("::")), "{tamed:?}");
            prop_assert!(!tamed.contains(['\n', '\r', '\u{1b}']), "{tamed:?}");
            prop_assert_eq!(neutralise_commands(&tamed), tamed.clone());
        }

        #[test]
        fn values_come_back_as_they_went_in(values in prop::collection::vec("[a-z<_\\n]{0,20}", 1..4)) {
            let named: Vec<_> = values.iter().map(|value| ("name", value.clone())).collect();
            let random = "0123456789abcdef";
            let text = assignments(&named, random).unwrap();
            let mut lines = text.split('\n');
            for value in values {
                prop_assert_eq!(lines.next(), Some("name<<regreen_0123456789abcdef"));
                let read: Vec<_> =
                    lines.by_ref().take_while(|line| *line != "regreen_0123456789abcdef").collect();
                prop_assert_eq!(read.join("\n"), value);
            }
        }
    }

    #[test]
    fn commands_are_escaped() {
        let table = [
            (group("iteration 1, 85.0 % before"), "::group::iteration 1, 85.0 %25 before"),
            (
                remark(Level::Failure, Some(("a,b:c.py", 0)), "x: y", "50 %\n::error::z"),
                "::error file=a%2Cb%3Ac.py,line=1,title=x%3A y::50 %25%0A::error::z",
            ),
            (remark(Level::Notice, None, "", "hello"), "::notice::hello"),
        ];
        for (command, expected) in table {
            assert_eq!(command, expected);
            assert!(!command.contains('\n'));
        }
        assert_eq!(mask(" \n "), Vec::<String>::new());
        assert_eq!(mask("one"), ["::add-mask::one"]);
        assert_eq!(mask("a1\nb2"), ["::add-mask::a1%0Ab2", "::add-mask::a1", "::add-mask::b2"]);
    }

    #[test]
    fn a_delimiter_that_occurs_is_refused() {
        let value = [("a", "x\nregreen_0123456789abcdef\ny".to_owned())];
        assert_eq!(assignments(&value, "0123456789abcdef"), None);
        assert!(assignments(&value, "0123456789abcdee").is_some());
        assert_eq!(assignments(&value, "short"), None);
        assert_eq!(assignments(&value, "0123456789abcde\n"), None);
    }
}
