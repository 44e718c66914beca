//! Texts made of those that documentation shows: their parts, and their lines with other values in them.

use std::collections::BTreeSet;

use super::literal_values::digit_groups;
use super::separated_texts::read_separator;

/// The most texts of one function, lines of one text, and values in the place of one.
const TEXTS: usize = 64;
const LINES: usize = 6;
const VALUES: usize = 24;

/// The longest line, and the longest value that is put into one, in bytes.
const LINE: usize = 48;
const VALUE: usize = 24;

/// What stands around texts in many notations.
const QUOTES: &[&str] = &["'", "\"", "'''", "\"\"\""];

/// Texts like the documented ones, with words among literals and texts of regular expressions.
pub fn documented_texts(
    documented: &[String],
    literals: &[String],
    matching: &[String],
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let whole: Vec<String> = documented.iter().filter_map(|one| read_text(one)).collect();
    for text in &whole {
        if text.contains('\n') {
            found.extend(text.split("\n\n").map(|part| part.trim().to_owned()));
        }
        let is_short = |line: &&str| !line.is_empty() && line.len() <= LINE;
        for line in text.lines().map(str::trim).filter(is_short).take(LINES) {
            found.push(line.to_owned());
            let Some((start, end)) = value_place(line) else { continue };
            let (before, after) = (line.get(..start), line.get(end..));
            let (Some(before), Some(after)) = (before, after) else { continue };
            let value = line.get(start..end).unwrap_or_default();
            let put = |other: String| format!("{before}{other}{after}");
            // Only what is read line by line has several of them.
            if text.contains('\n') || literals.iter().any(|one| one.contains("\\n")) {
                found.push(format!("{line}\n{line}"));
            }
            found.push(put(String::new()));
            found.extend(other_values(line, value, literals, matching).into_iter().map(put));
        }
    }
    let mut written: Vec<String> = Vec::new();
    for text in found.iter().filter(|text| !text.is_empty() && !whole.contains(text)) {
        let text = write_text(text);
        if !written.contains(&text) {
            written.push(text);
        }
    }
    written.truncate(TEXTS);
    written
}

/// Shorter texts in the notation of a documented one, by the signs among some literals at which the code
/// takes it apart: `a=1-2`, `a=1-`, `a=-2` and `a=` for `a=1-2,3-4`.
pub fn shorter_texts(documented: &str, literals: &[String]) -> Vec<String> {
    let Some(text) = read_text(documented) else { return Vec::new() };
    let signs = literals.iter().filter_map(|one| read_separator(one));
    let place = |sign: &str| text.find(sign).map(|at| (at, at + sign.len()));
    let mut places: BTreeSet<(usize, usize)> = signs.filter_map(place).collect();
    let part = |start: usize, end: usize| text.get(start..end).unwrap_or_default();
    let ends = places.iter().rev().flat_map(|(at, end)| [part(0, *at), part(0, *end)]);
    let mut found: Vec<String> = ends.filter(|one| !one.is_empty()).map(write_text).collect();
    places.insert((text.len(), text.len()));
    for ((_, end), ((next, _), (last, _))) in
        places.iter().zip(places.iter().skip(1).zip(places.iter().skip(2)))
    {
        found.push(write_text(&format!("{}{}", part(0, *end), part(*next, *last))));
    }
    found
}

/// What may stand in the place of a value on a line.
fn other_values(line: &str, value: &str, literals: &[String], matching: &[String]) -> Vec<String> {
    let plain = value.trim_matches(['"', '\'']);
    let mut found: Vec<String> =
        QUOTES.iter().map(|quotes| format!("{quotes}{plain}{quotes}")).collect();
    found.extend([format!("[{value}, {value}]"), format!("{{{line}}}")]);
    let is_word = |text: &String| text.len() > 1 && text.chars().all(char::is_alphabetic);
    let words = literals.iter().filter_map(|one| read_text(one)).filter(is_word);
    let texts = matching.iter().filter_map(|one| read_text(one));
    found.extend(words.chain(texts).filter(|one| one.len() <= VALUE));
    found.retain(|one| one != value);
    found.truncate(VALUES);
    found
}

/// Where the last text in quotes or the last number of a line stands.
fn value_place(line: &str) -> Option<(usize, usize)> {
    let quoted = line.rfind('"').and_then(|end| Some((line.get(..end)?.rfind('"')?, end + 1)));
    quoted.or_else(|| digit_groups(line).last().copied())
}

/// The content of a literal; `None` if it holds other escapes than those of line breaks.
fn read_text(literal: &str) -> Option<String> {
    let quotes = ["\"\"\"", "'''", "\"", "'", "`"];
    let inner = |quote: &&str| literal.strip_prefix(*quote)?.strip_suffix(*quote);
    let text = quotes.iter().find_map(inner)?.replace("\\n", "\n");
    (!text.contains('\\')).then_some(text)
}

/// A literal of a text, for Python and JavaScript alike.
fn write_text(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_texts_are_shortened_at_the_signs_of_the_code() {
        let literals = ["'='", "','", "'-'", "'bytes'", "2"].map(str::to_owned);
        let found = shorter_texts("'bytes=5-9,0-1'", &literals);
        let expected = [
            "\"bytes=5-9\"",
            "\"bytes=5-9,\"",
            "\"bytes=5\"",
            "\"bytes=5-\"",
            "\"bytes\"",
            "\"bytes=\"",
            "\"bytes=-9\"",
            "\"bytes=5-,0-1\"",
        ];
        assert_eq!(found, expected);
        assert!(shorter_texts("'5'", &literals).is_empty());
    }

    #[test]
    fn lines_of_documented_texts_hold_other_values() {
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let literals = owned(&["'true'", "'='"]);
        let found = documented_texts(
            &owned(&["\"\"\"\n[a]\nb = \"x\"\n\nc = 3\n\"\"\"", "\"\\d\""]),
            &literals,
            &owned(&["'07:30'"]),
        );
        let expected = [
            r#""[a]\nb = \"x\"""#,
            r#""c = 3""#,
            r#""[a]""#,
            r#""b = \"x\"""#,
            r#""b = \"x\"\nb = \"x\"""#,
            r#""b = ""#,
            r#""b = 'x'""#,
            r#""b = '''x'''""#,
            r#""b = \"\"\"x\"\"\"""#,
            r#""b = [\"x\", \"x\"]""#,
            r#""b = {b = \"x\"}""#,
            r#""b = true""#,
            r#""b = 07:30""#,
            r#""c = 3\nc = 3""#,
            r#""c = ""#,
            r#""c = '3'""#,
            r#""c = \"3\"""#,
            r#""c = '''3'''""#,
            r#""c = \"\"\"3\"\"\"""#,
            r#""c = [3, 3]""#,
            r#""c = {c = 3}""#,
            r#""c = true""#,
            r#""c = 07:30""#,
        ];
        assert_eq!(found, expected);
        let plain = documented_texts(&owned(&["\"a.1.b\""]), &owned(&["2", "'.'"]), &[]);
        assert!(plain.iter().all(|one| !one.contains("\\n")), "{plain:?}");
    }
}
